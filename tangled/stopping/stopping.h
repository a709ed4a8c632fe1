/* stopping.h -- made from chapters/08-stopping.w; change it there */

#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "tokenizer/tokenizer.h"
#include "loop/loop.h"
#include "stopping/stops.h"

/* <What stands between the loop and a reader> */

/* set by the caller, and borrowed: memory, a tokenizer (null: tokens have no bytes),
   the stop strings, and two wishes; the rest begins as zero: text.n bytes of which
   released may be shown, of tokens tokens; found is the stop string before (or
   behind) which the text has been cut, or null */
struct outflow { struct memory *m; const struct tokenizer *t;
  const struct stops *until; bool include_stop; size_t min_tokens;
  struct bytes text; size_t released, tokens; uint32_t state; bool begun;
  const struct stop_string *found; };

/* takes note of a prompt id[n], whose bytes are no part of the text */
bool outflow_prompt(struct outflow *o, const uint32_t *id, size_t n,
  struct error *why);

/* takes the next token; special ones have no bytes. Behind a stop string nothing is
   taken any more; on failure nothing has changed */
bool outflow_id(struct outflow *o, uint32_t id, struct error *why);

/* the same for a token that is n bytes */
bool outflow_bytes(struct outflow *o, const unsigned char *byte, size_t n,
  struct error *why);

/* no token will follow: releases what is held */
void outflow_end(struct outflow *o);

/* returns the text */
void outflow_close(struct outflow *o);

/* <What may end a text> */

/* judge, called with self, says whether a text is to end; borrowed */
struct criterion { const char *name; step_judge *judge; void *self; };

/* list[n], borrowed; the first that said yes, null at the beginning */
struct criteria { const struct criterion *list; size_t n;
  const struct criterion *fired; };

/* a step_judge; self is a struct criteria: yes if one of the list says so; all are
   asked */
bool criteria_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why);

/* what ended a text that the loop left with ended: eos, the name of a criterion, or
   null for the length and for a cancelled text */
const char *criteria_reason(const struct criteria *c, enum finish ended);

/* a step_judge; self is a struct outflow, which takes the last token */
bool outflow_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why);

/* a step_judge; self points to a size_t N: are the last 3N tokens that were written
   the same N tokens three times? 0: never */
bool repetition_judge(void *self, const struct continuation *text,
  bool *enough, struct error *why);
#endif
