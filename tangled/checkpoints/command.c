/* the program -- made from workshop/14-command.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "chat.h"
#include "command.h"

/* <Make a console of files> */
static void listen_to_nobody(void)
{
}

static bool never(void)
{
  return false;
}

static struct console console_of(struct memory *m, FILE *out, FILE *err)
{
  struct console c = { .in = stdin, .out = out, .err = err,
    .in_terminal = true, .program = "incipit", .build = "none",
    .memory = m, .listen = listen_to_nobody, .interrupted = never };
  return c;
}

/* <Run a line, and show its three results> */
static void show_stream(FILE *from, const char *name)
{
  char line[256];
  rewind(from);
  while (fgets(line, sizeof line, from) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    printf("  %s  %s\n", name, line);
  }
  fclose(from);
}

static bool run_line(int argc, char **argv)
{
  struct memory m = { .fail_at = 0 };
  FILE *out = tmpfile(), *err = tmpfile();
  if (out == NULL || err == NULL) return false;
  struct console c = console_of(&m, out, err);
  int status = command_run(&c, argc, argv);
  printf("$");
  for (int i = 0; i < argc; i++)
    printf(strchr(argv[i], ' ') != NULL ? " \"%s\"" : " %s", argv[i]);
  printf("\n");
  show_stream(out, "out");
  show_stream(err, "err");
  printf("  status %d\n", status);
  return m.all.live == 0;
}

static bool run_lines(void)
{
  static char *line[][6] = {
    { "incipit", "generate", "-mmodels/pocket", "The cat sat", "-n4" },
    { "incipit", "generate", "-f", "/nowhere" },
    { "incipit", "generate", "--josn" },
    { "incipit", "tokenize", "--ids" },
    { "incipit", "trace", "--top=0" },
    { "incipit", "generat", "--json" } };
  for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
    int n = 0;
    while (n < 6 && line[i][n] != NULL) n++;
    if (!run_line(n, line[i])) return false;
  }
  return true;
}
#include "command/digits.inc"

/* <Have a conversation, and count its rows> */
static const char *const said[] = { "Hello!",
  "What does the fox say?", "Where does the cat sleep?",
  "Thank you!" };
enum { SAID = sizeof said / sizeof *said };
static bool say_all(struct chat *t, bool keys)
{
  uint64_t kept = 0, again = 0;
  for (size_t i = 0; i < SAID; i++) {
    const struct turn_cost *k = &t->cost;
    if (!keys) printf("> %s\n", said[i]);
    if (chat_send(t, said[i], strlen(said[i])) != CHAT_DONE) return false;
    if (!keys) printf("  [%zu ids and %zu; %" PRIu64 " rows read, %"
      PRIu64 " in all]\n", k->given, k->written, k->read, k->rows);
    kept += k->rows, again += k->rows - k->read + k->given;
    if (keys) printf("chat.ids.%zu %zu\nchat.read.%zu %" PRIu64 "\n",
      i + 1, k->given, i + 1, k->read);
  }
  if (keys) printf("chat.rows.kept %" PRIu64 "\nchat.rows.again %"
    PRIu64 "\n", kept, again);
  return true;
}

static bool converse(bool keys)
{
  char *line[] = { "incipit", "chat", "-m", "models/pocket",
    "--template", "pocket", "-t", "1", "-n", "24", NULL };
  struct memory m = { .fail_at = 0 };
  struct command_line w;
  struct error why;
  struct chat t;
  FILE *out = keys ? tmpfile() : stdout;
  if (out == NULL || !options_parse(&w, 10, line, &why)) return false;
  struct console c = console_of(&m, out, stderr);
  bool ok = chat_open(&t, &c, &w) == STATUS_DONE && say_all(&t, keys);
  chat_close(&t);
  return ok && m.all.live == 0;
}

int main(int argc, char **argv)
{
  if (argc < 2) return run_lines() && converse(false) ? 0 : 1;
  if (strcmp(argv[1], "digits") == 0) {
    printf("digits,numbers\n");
    print_digits("%d,%u\n");
    return 0;
  }
  printf("command.status.cancelled %d\n", (int) STATUS_CANCELLED);
  printf("json.digits.numbers %d\n", DIGIT_DRAWS);
  print_digits("json.digits.%d %u\n");
  return converse(true) ? 0 : 1;
}
