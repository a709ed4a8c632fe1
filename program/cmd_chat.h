/* cmd_chat.h -- a conversation: its turns, and the cache that is kept from one turn to the next. */
#ifndef INCIPIT_CMD_CHAT_H
#define INCIPIT_CMD_CHAT_H
#include "decode_setup.h"
#include "templates/conversations.h"

/* of the last turn: ids that the prompt had, ids of the answer; rows of the pass that read,
   and of all; moments, in seconds */
struct turn_cost { size_t given, written; uint64_t read, rows;
  double began, first, last; };

/* a talk with a model. It must stay where it is: it points to itself */
struct chat {
  struct invocation a;
  const struct chat_template *by;
  struct decode_setup how;
  /* what ends an answer; the template's own; the talk so far */
  struct ids eos, end, text;
  /* turn[n], each a copy; those below first begin every talk */
  struct turn *turn; size_t n, cap, first;
  size_t bare, shown; /* bytes of the answer: blanks before it; gone out */
  uint64_t rows_before;
  struct turn_cost cost;
  bool gone; /* the reader of the output has gone, and that has been said */
};

/* opens the model and learns how its talks are set; returns an exit status, and unless that
   is STATUS_DONE a sentence is in t->a.why; to be closed in any case */
int chat_open(struct chat *t, const struct console *c,
  const struct command_line *w);

/* n bytes are said, and the answer goes to the console's out. What does not fit is refused
   there with a sentence, and is no failure; false, with a sentence in t->a.why unless
   t->gone, if the talk cannot go on */
bool chat_send(struct chat *t, const char *line, size_t n);

/* the next turn is the first */
void chat_forget(struct chat *t);

/* returns what was taken */
void chat_close(struct chat *t);

#endif
