/* text_session.h -- made from chapters/08-stopping.w; change it there */

#ifndef INCIPIT_TEXT_SESSION_H
#define INCIPIT_TEXT_SESSION_H
#include "stopping/stopping.h"

/* <One text on request> */

/* up to max tokens after prompt; two stop strings or fewer; the same repetition
   tokens three times; an end after token number cancel; a signal after number raise;
   a context smaller than the model's */
struct text_request { const char *prompt, *stop[2], *script; size_t max,
  min_tokens, repetition, cancel, raise; uint32_t context; bool ignore_eos; };

/* set by the caller, and borrowed: all up to own, a criterion of the caller's or
   none; see is called after each token; the rest is the newest text, which begins as
   zero */
struct text_session { struct generate_context g; struct model *lm;
  struct tokenizer *t; step_recall *recall; step_select *select;
  void *select_ctx; step_watch *see; void *see_ctx; struct criterion own;
  const struct text_request *r; struct continuation text; struct ids script;
  struct stop_string list[2]; struct stops until; struct text_stream flow;
  size_t steps; const char *reason; };

/* drops the newest text, and builds stop strings, an empty text stream and the script
   for *r */
bool text_session_prepare(struct text_session *u,
  const struct text_request *r, struct error *why);

/* prepares, and writes after n ids; reason says what ended the text; it is an error
   if a person has cut it short */
bool text_session_write(struct text_session *u, const struct text_request *r,
  const uint32_t *prompt, size_t n, struct error *why);

/* the same after the text r->prompt */
bool text_session_answer(struct text_session *u, const struct text_request *r,
  struct error *why);

/* returns the newest text */
void text_session_clear(struct text_session *u);
#endif
