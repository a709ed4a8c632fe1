/* console.h -- made from chapters/A2-command.w; change it there */

/* B.11  console.h */

#ifndef INCIPIT_CONSOLE_H
#define INCIPIT_CONSOLE_H
#include <stdio.h>
#include "00-ground/ground.h"

/* B.4  What the program stands on */

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,
  STATUS_CANCELLED = 130, CONSOLE_PATH = 4096
};

/* B.5  What the program stands on */

struct console {
  FILE *in, *out, *err;
  bool in_terminal, out_terminal;
  const char *program, *build;
/* the executable's path; the build's id */

  struct memory *memory;
  void (*listen)(void);
/* from now on Ctrl-C is noted and does not kill */

  bool (*interrupted)(void);
/* has it been noted? */

};

/* B.6  What the program stands on */

int console_fail(const struct console *c, const struct error *why);
/* writes the sentence to c->err; returns STATUS_FAILED */

int console_misuse(const struct console *c, const struct error *why);
/* writes the sentence to c->err; returns STATUS_USAGE */

int console_end(const struct console *c, int status);
/* empties c->out. If that fails the status becomes STATUS_FAILED, with a
 * sentence unless the reader has closed the pipe */

double console_seconds(void);
/* of a clock that never goes back, from some moment on */

#endif
