/* probe.c -- lines of the protocol: the first letter chooses the kind, the rest is what comes in.
 * One line out for every line in. */
#include "fuzz.h"
#include "command.h"

static void nobody(void)
{
}
static bool never(void)
{
  return false;
}
FUZZ(probe)
{
  static const char *const kind[] = { "tokenize", "detokenize", "stream", "train-bpe", "forward",
    "logprob", "generate", "inspect", "quantize", "process", "sample", "philox" };
  if (size == 0) return 0;
  int chosen = data[0] == 'Q' ? 8
    : data[0] == 'P'          ? 9
    : data[0] == 'S'          ? 10
    : data[0] == 'R'          ? 11
                     : data[0] % 8; /* the last came later, and old inputs keep their meaning */
  struct memory m = { .fail_at = 0 };
  char *out = NULL,
       *argv[] = { "incipit", "probe", (char *) kind[chosen], "-t", "1", "-m", "tests/golden/small",
         NULL };
  size_t n_out = 0, lines = 0, answers = 0;
  if (chosen == 3 || chosen >= 7) argv[3] = NULL;
  data++, size--;
  FILE *in = size > 0 ? fmemopen((void *) data, size, "r") : fopen("/dev/null", "r"),
       *to = open_memstream(&out, &n_out), *err = fopen("/dev/null", "w");
  struct console c = { .in = in,
    .out = to,
    .err = err,
    .program = "incipit",
    .build = "fuzz",
    .memory = &m,
    .listen = nobody,
    .interrupted = never };
  int status = command_run(&c, argv[3] ? 7 : 3, argv);
  fclose(in), fclose(to), fclose(err);
  must(status == 0 && m.all.live == 0);
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  lines += size > 0 && data[size - 1] != '\n';
  for (size_t i = 0; i < n_out; i++) answers += out[i] == '\n';
  must(lines == answers);
  for (char *at = out; at < out + n_out; at = strchr(at, '\n') + 1) must(at[0] == '{');
  free(out);
  return 0;
}
