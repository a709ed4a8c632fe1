/* stopping.h -- made from chapters/08-stopping.w; change it there */

#ifndef INCIPIT_STOPPING_H
#define INCIPIT_STOPPING_H
#include "tokenizer/tokenizer.h"
#include "loop/generate.h"
#include "stopping/stops.h"

/* <What stands between the loop and a reader> */

/* set by the caller, and borrowed: memory, a tokenizer (null: tokens have no bytes),
   the stop strings, and two options; the rest begins as zero: text.n bytes of which
   released may be shown, of tokens tokens; found is the stop string before (or after)
   which the text has been cut, or null */
struct text_stream { struct memory *m; const struct tokenizer *t;
  const struct stops *until; bool include_stop; size_t min_tokens;
  struct bytes text; size_t released, tokens; uint32_t state; bool begun;
  const struct stop_string *found; };

/* takes note of a prompt id[n], whose bytes are no part of the text */
bool text_stream_prompt(struct text_stream *o, const uint32_t *id, size_t n,
  struct error *why);

/* takes the next token; special ones have no bytes. After a stop string nothing is
   taken any more; on failure nothing has changed */
bool text_stream_id(struct text_stream *o, uint32_t id, struct error *why);

/* the same for a token that is n bytes */
bool text_stream_bytes(struct text_stream *o, const unsigned char *byte, size_t n,
  struct error *why);

/* no token will follow: releases what is held */
void text_stream_end(struct text_stream *o);

/* returns the text */
void text_stream_close(struct text_stream *o);

/* how far a text stream has come: everything that a token changes, but the bytes */
struct text_stream_state { size_t n, released, tokens; uint32_t state;
  bool begun; const struct stop_string *found; };

/* where it is now */
struct text_stream_state text_stream_save(const struct text_stream *o);

/* goes back to where it was when *to was saved, as if no token had come since; the
   stream has not been closed or given a prompt in between */
void text_stream_restore(struct text_stream *o,
  const struct text_stream_state *to);

/* <What may end a text> */

/* should_stop, called with ctx, says whether a text is to end; borrowed */
struct criterion { const char *name; step_stop *should_stop; void *ctx; };

/* list[n], borrowed; the first that said yes, null at the beginning: the only state
   of the list itself, to be copied by a caller who goes back */
struct criteria { const struct criterion *list; size_t n;
  const struct criterion *fired; };

/* a step_stop; ctx is a struct criteria: yes if one of the list says so; all are
   asked */
bool criteria_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);

/* what ended a text that the loop left with ended: eos, the name of a criterion, or
   null for the length and for a cancelled text */
const char *criteria_reason(const struct criteria *c, enum finish_reason ended);

/* a step_stop; ctx is a struct text_stream, which takes the last token */
bool text_stream_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);

/* a step_stop; ctx points to a size_t N: are the last 3N tokens that were written the
   same N tokens three times? 0: never */
bool repetition_should_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);
#endif
