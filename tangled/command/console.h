/* console.h -- made from workshop/14-command.w; change it there */

/* B.12  console.h */

#ifndef INCIPIT_CONSOLE_H
#define INCIPIT_CONSOLE_H
#include <stdio.h>
#include "ground/ground.h"

/* B.4  What the program stands on */

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,
  STATUS_CANCELLED = 130, CONSOLE_PATH = 4096
};

/* B.5  What the program stands on */

/* B.6  How a person's lines are read */

enum asked { ASKED_END, ASKED_LINE, ASKED_DROPPED };
/* the input has ended; a line; a line that was begun and, with Ctrl-C, given
 * up */

struct editor;
struct editing {
  struct editor *(*open) (struct memory * m, FILE * in, FILE * out,
                          FILE * err, const char *prompt, struct error * why);
/* between two terminals; null and a sentence on failure; prompt is borrowed */

  enum asked (*ask) (struct editor * e, const char **line, size_t *n);
/* a line of n bytes without its end, good until the next */

  void (*close)(struct editor * e);
/* gives the terminal back */

};

struct console {
  FILE *in, *out, *err;
  bool in_terminal, out_terminal;
  const char *program, *build;
/* the executable's path; the build's id */

  struct memory *memory;
  void (*listen)(void);
/* from now on Ctrl-C is noted and does not kill; what was noted before is
 * forgotten */

  bool (*interrupted)(void);
/* has it been noted? */

  const struct editing *edit;
/* or null: lines are read as they are */

};

/* B.7  What the program stands on */

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
