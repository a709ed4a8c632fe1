==== check
# Ctrl-C while the prompt is being read: tokens and exit status of -n 3, then of -n 1
engine <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <jansson.h>
#include "command.h"
static bool heard;
static void listen_now(void) { heard = true; }     /* the model is loaded, and the prompt comes next */
static bool pressed(void) { return heard; }        /* it was pressed before the first step had ended */
static void run(char *n)
{
  struct memory m = {0};
  char *buffer = NULL; size_t size = 0;
  heard = false;
  FILE *out = open_memstream(&buffer, &size);
  struct console c = {.in = stdin, .out = out, .err = stderr, .in_terminal = true, .program = "incipit",
    .build = "exercise", .memory = &m, .listen = listen_now, .interrupted = pressed,
    .cancelled = pressed};
  char *argv[] = {"incipit", "generate", "The", "--json", "-n", n, NULL};
  int status = command_run(&c, 6, argv);
  fclose(out);
  json_t *all = json_loads(buffer, 0, NULL);
  printf("%d %d\n", (int) json_integer_value(json_object_get(json_object_get(all, "usage"), "completion_tokens")), status);
}
int main(void) { run("3"), run("1"); return 0; }
C
export INCIPIT_MODEL=tests/golden/small
is $(run)
==== answer
0 130
0 130
==== wrong
1 130
1 0
==== skeleton
# two lines: how many tokens, and the exit status
