/* chat.h -- made from workshop/22-chat.w; change it there */

/* U.27  chat.h */

#ifndef INCIPIT_CHAT_H
#define INCIPIT_CHAT_H
#include "command/subcommands.h"
#include "templates/conversations.h"

/* U.3  A talk, and what it costs */

struct turn_cost {
  size_t given, written;
  uint64_t read, rows;
  double began, first, last;
};
/* of the last turn: ids that the prompt had, ids of the answer; rows of the
 * pass that read, and of all; moments, in seconds */

struct talk {
  struct occasion a;
  const struct chat_template *by;
  struct decisions how;
  struct ids eos, end, text;
/* what ends an answer; the template's own; the talk so far */

  struct turn *turn;
  size_t n, room, first;
/* turn[n], each a copy; those below first begin every talk */

  size_t bare, shown;
/* bytes of the answer: blanks before it; gone out */

  uint64_t rows_before;
  struct turn_cost cost;
  bool gone;
/* nobody reads the output any more, and that was told */

};

/* U.4  A talk, and what it costs */

int talk_open(struct talk *t, const struct console *c, const struct wishes *w);
/* opens the model and learns how its talks are set; returns an exit status,
 * and unless that is STATUS_DONE a sentence is in t->a.why; to be closed in
 * any case */

bool talk_say(struct talk *t, const char *line, size_t n);
/* n bytes are said, and the answer goes to the console's out. What does not
 * fit is refused there with a sentence, and is no failure; false, with a
 * sentence in t->a.why unless t->gone, if the talk cannot go on */

void talk_forget(struct talk *t);
/* the next turn is the first */

void talk_close(struct talk *t);
/* returns what was taken */

int run_chat(const struct console *c, const struct wishes *w);
/* the subcommand; returns an exit status */

#endif
