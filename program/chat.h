/* chat.h -- a conversation: its turns, and the cache that is kept from one turn to the next. */
#ifndef INCIPIT_CHAT_H
#define INCIPIT_CHAT_H
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
  struct ids eos, end, named, text;
  /* turn[n], each a copy; those below first begin every talk. Before turn i was said the talk had
     length[i] ids */
  struct turn *turn; size_t *length; size_t n, cap, length_cap, first;
  size_t bare, shown; /* bytes of the answer: blanks before it; gone out */
  uint64_t rows_before;
  struct turn_cost cost;
  bool gone; /* the reader of the output has gone, and that has been said */
};

/* opens the model and learns how its talks are set; returns an exit status, and unless that
   is STATUS_DONE a sentence is in t->a.why; to be closed in any case */
int chat_open(struct chat *t, const struct console *c,
  const struct command_line *w);

/* what became of a line or a turn; CHAT_REFUSED: it has had its sentence, and the talk can go on;
   CHAT_BROKEN: it cannot, and a sentence is in t->a.why unless t->gone */
enum chat_result { CHAT_DONE, CHAT_REFUSED, CHAT_BROKEN, CHAT_QUIT };

/* n bytes are said, and the answer goes to the console's out. If the context is full, the oldest
   turns after the system's are dropped, and a sentence says so */
enum chat_result chat_send(struct chat *t, const char *line, size_t n);

/* a copy of n bytes becomes the last turn; errors: memory */
bool chat_push(struct chat *t, enum role who, const void *text, size_t n);

/* takes back the last question and its answer, if there was one; its text, which the caller
   frees with memory_free, and its length; null if nothing has been asked */
char *chat_take_back(struct chat *t, size_t *n);

/* the next turn is the first */
void chat_forget(struct chat *t);

/* how the model is to behave, in place of what it was told; a new talk begins. n == 0: nothing
   is said. On failure, if the template has no place for it, it is told what it was before */
bool chat_system(struct chat *t, const char *text, size_t n, struct error *why);

/* the counters and times of the last turn, on the standard error */
void chat_print_cost(const struct chat *t);

/* returns what was taken */
void chat_close(struct chat *t);

#endif
