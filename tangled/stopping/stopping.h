/* stopping.h -- made from chapters/stopping.w; change it there */

/* 8.33  stopping.h */

#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "loop/loop.h"
#include "stopping/stops.h"

/* 8.20  What stands between the loop and a reader */

struct outflow {
  struct memory *m;
  const struct tokenizer *t;
  const struct stops *until;
  bool include_stop;
  size_t min_tokens;
  struct bytes text;
  size_t released, tokens;
  uint32_t state;
  bool begun;
  const struct stop_string *found;
};
/* set by the caller, and borrowed: memory, a tokenizer (null: tokens have no
 * bytes), the stop strings, and two wishes; the rest begins as zero: text.n
 * bytes of which released may be shown, of tokens tokens; found is the stop
 * string before (or behind) which the text has been cut, or null */

bool outflow_prompt(struct outflow *o, const uint32_t * id, size_t n,
                    struct error *why);
/* takes note of a prompt id[n], whose bytes are no part of the text */

bool outflow_id(struct outflow *o, uint32_t id, struct error *why);
/* takes the next token; special ones have no bytes. Behind a stop string
 * nothing is taken any more; on failure nothing has changed */

bool outflow_bytes(struct outflow *o, const unsigned char *byte, size_t n,
                   struct error *why);
/* the same for a token that is n bytes */

void outflow_end(struct outflow *o);
/* no token will follow: releases what is held */

void outflow_close(struct outflow *o);
/* returns the text */

/* 8.27  What may end a text */

struct criterion {
  const char *name;
  step_judge *judge;
  void *self;
};
/* judge, called with self, says whether a text is to end; borrowed */

struct criteria {
  const struct criterion *list;
  size_t n;
  const struct criterion *fired;
};
/* list[n], borrowed; the first that said yes, null at the beginning */

bool criteria_judge(void *self, const struct continuation *text,
                    bool *enough, struct error *why);
/* a step_judge; self is a struct criteria: yes if one of the list says so;
 * all are asked */

const char *criteria_reason(const struct criteria *c, enum finish ended);
/* what ended a text that the loop left with ended: eos, the name of a
 * criterion, or null for the length and for a cancelled text */

/* 8.30  What may end a text */

bool outflow_judge(void *self, const struct continuation *text,
                   bool *enough, struct error *why);
/* a step_judge; self is a struct outflow, which takes the last token */

bool repetition_judge(void *self, const struct continuation *text,
                      bool *enough, struct error *why);
/* a step_judge; self points to a size_t N: are the last 3N tokens that were
 * written the same N tokens three times? 0: never */

#endif
