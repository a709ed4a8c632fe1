/* waiting.h -- what a person sees who waits, and how Ctrl-C reaches a pass. */
#ifndef INCIPIT_WAITING_H
#define INCIPIT_WAITING_H
#include "console.h"
#include "options.h"

/* bytes for the words of a line, with the zero */
enum { WAITING_WORDS = 78 };

/* the words for done of all; an empty string shows nothing */
typedef void waiting_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS]);

/* one wait after the other: told is given to the engine, and asks the console whether to go on;
   what is shown, by words(ctx, ...), stands on one line of the standard error */
struct waiting {
  struct progress told;
  const struct console *c;
  bool seen; /* the standard error is a terminal, and --quiet was not given */
  waiting_words *words;
  void *ctx;
  double began, shown; /* moments */
  size_t width; /* letters that stand on the line */
};

/* prepares w for the console; it must stay where it is, since told points to it */
void waiting_open(struct waiting *w, const struct console *c, const struct command_line *line);

/* a new wait begins: what was shown is taken away, what was given up is forgotten. Null words
   show nothing */
void waiting_begin(struct waiting *w, waiting_words *words, void *ctx);

/* something begins that cannot tell how far it is, and that takes long enough: the words are shown at
   once, until waiting_end */
void waiting_say(struct waiting *w, const char *words);

/* takes the line away, if there is one; something else is about to be shown, or the wait is over */
void waiting_end(struct waiting *w);

/* a look from outside a pass: shows done of all, and tells whether to go on */
bool waiting_tell(struct waiting *w, size_t done, size_t all);
#endif
