/* chat.c -- made from workshop/22-chat.w; change it there */

/* U.2 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "chat/chat.h"

/* U.38  What is said in the program's talk */

static const char *const said[] = { "Hello!",
  "What does the fox say?", "Where does the cat sleep?",
  "Thank you!"
};
enum { SAID = sizeof said / sizeof *said };
static void to_nobody(void)
{
}

static bool never(void)
{
  return false;
}

/* U.39  Say it, and add up the rows */

static bool say_all(struct talk *t, bool values)
{
  uint64_t kept = 0, again = 0;
  for (size_t i = 0; i < SAID; i++) {
    const struct turn_cost *k = &t->cost;
    if (!values)
      printf("> %s\n", said[i]);
    if (!talk_say(t, said[i], strlen(said[i])))
      return false;
    if (!values)
      printf("  [%zu ids and %zu; %" PRIu64 " rows read, %"
             PRIu64 " in all]\n", k->given, k->written, k->read, k->rows);
    kept += k->rows, again += k->rows - k->read + k->given;
    if (values)
      printf("chat.ids.%zu %zu\nchat.read.%zu %" PRIu64 "\n",
             i + 1, k->given, i + 1, k->read);
  }
  if (values)
    printf("chat.rows.kept %" PRIu64 "\nchat.rows.again %"
           PRIu64 "\n", kept, again);
  return true;
}

int main(int argc, char **argv)
{
  char *line[] = { argv[0], "chat", "-m", "models/pocket",
    "--template", "pocket", "-t", "1", "-n", "24", NULL
  };
  struct memory m = {.refuse_at = 0 };
  struct wishes w;
  struct error why;
  struct talk t;
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  FILE *out = values ? tmpfile() : stdout;
  struct console c = {.in = stdin,.out = out,.err = stderr,
    .program = argv[0],.memory = &m,.listen = to_nobody,
    .interrupted = never
  };
  if (out == NULL)
    return perror("a temporary file"), 1;
  bool ok = options_parse(&w, 10, line, &why);
  if (!ok)
    return fprintf(stderr, "%s\n", why.words), 1;
  ok = talk_open(&t, &c, &w) == STATUS_DONE && say_all(&t, values);
  if (!ok)
    fprintf(stderr, "%s\n", t.a.why.words);
  talk_close(&t);
  return !ok || m.all.held != 0;
}
