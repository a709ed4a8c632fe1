/* console.h -- what a subcommand is given of the world: three streams and what is known about
   who is at the other end of them. None of them names stdout or asks who is listening, so a test
   can put blocks of memory in the place of the streams and functions of its own in the place of
   the keyboard. */
#ifndef INCIPIT_CONSOLE_H
#define INCIPIT_CONSOLE_H
#include <stdio.h>
#include "ground/ground.h"

/* exit statuses, and the longest path with its zero byte */
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2,
  STATUS_CANCELLED = 130 };

/* the input has ended; a line; a line that was begun and, with Ctrl-C, given up */
enum asked { ASKED_END, ASKED_LINE, ASKED_DROPPED };
struct editor;

/* how lines are read that a person types and may edit */
struct editing {
  /* between two terminals; null and a sentence on failure; prompt is borrowed */
  struct editor *(*open)(struct memory *m, FILE *in, FILE *out,
    FILE *err, const char *prompt, struct error *why);
  /* a line of n bytes without its end, good until the next */
  enum asked (*ask)(struct editor *e, const char **line, size_t *n);
  /* gives the terminal back */
  void (*close)(struct editor *e);
};

/* what main has found out about the world; all of it is borrowed */
struct console {
  FILE *in, *out, *err;
  bool in_terminal, out_terminal, err_terminal;
  size_t columns, err_columns; /* of the terminal that out, or err, is, if it is known; else 0 */
  bool colour;    /* out is a terminal that understands colours, and nobody minds */
  /* the executable's path; the build's id */
  const char *program, *build;
  struct memory *memory;
  /* from now on Ctrl-C is noted and does not kill; what was noted before is forgotten */
  void (*listen)(void);
  void (*hold)(void); /* the same, for the signal that asks a program to end, too; may be null */
  void (*leave)(int status); /* ends the program at once, with this status; may be null */
  bool (*interrupted)(void); /* has it been noted? Asked after every step */
  /* the same, asked many times within a step, where to be told late is to wait; null: never */
  bool (*cancelled)(void);
  const struct editing *edit; /* or null: lines are read as they are */
};

/* text on a screen of so many columns (0: as it is). A line that is too long is broken where blanks are,
   at two or more rather than at one; what goes on is indented under it. A word that is longer than
   the screen is left to the terminal */
void console_fold(FILE *out, size_t columns, const char *text, size_t n);

/* a console whose output is collected, to be folded when it is whole */
struct folding { struct console c; const struct console *real; char *text; size_t n; };

/* from here on f->c stands for the real console; if that is no terminal, or there is no memory, it
   is the same */
void folding_begin(struct folding *f, const struct console *real);

/* what was collected goes out */
void folding_end(struct folding *f);

/* writes the sentence to c->err; returns STATUS_FAILED */
int console_fail(const struct console *c, const struct error *why);

/* writes the sentence to c->err; returns STATUS_USAGE */
int console_usage_error(const struct console *c, const struct error *why);

/* the first line of --stats on c->err: how many tokens were given, and written */
void console_tokens(const struct console *c, size_t given, size_t written);

/* a line of --stats on c->err: a name as in --json, a number, its unit; with no decimals a zero
   is left out */
void console_stat(const struct console *c, const char *name, double value, int decimals,
  const char *unit);

/* empties c->out, at once after something was written there: a signal that interrupted a write is
   no failure. False if the bytes cannot be written */
bool console_flush(const struct console *c);

/* empties c->out. If that fails the status becomes STATUS_FAILED, with a sentence unless the
   reader has closed the pipe */
int console_end(const struct console *c, int status);
#endif
