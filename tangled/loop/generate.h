/* generate.h -- made from chapters/03-loop.w; change it there */

#ifndef INCIPIT_GENERATE_H
#define INCIPIT_GENERATE_H
#include "ground/buffers.h"
#include "model/forward.h"

/* <What it takes to generate> */

/* what a pass needs; all four are borrowed. e->c counts the work */
struct generate_context { struct engine *e; const struct model *lm;
  struct store *s; struct memory *m; };

/* why a text ended */
enum finish_reason {
  FINISH_NONE, /* it has not ended */
  FINISH_STOP, /* an end token came, or a stop criterion said so */
  FINISH_LENGTH, /* max_new_tokens are written, or the context is full */
  FINISH_CANCELLED, /* the caller wants no more of it */
  FINISH_ERROR /* something is wrong with this text */
};

/* text.id[n_prompt] is the first token written; sequence: its number in the store */
struct continuation { struct ids text; size_t n_prompt;
  enum finish_reason ended; uint32_t sequence; };

/* frees the text */
void continuation_free(struct memory *m, struct continuation *c);

/* step number (from 1) read length tokens; logits[vocab_size] lives until the watcher
   returns */
struct step { size_t number, length; const float *logits;
  uint32_t chosen; struct counters before, after; };

/* called after every step; false cancels */
typedef bool step_watch(void *ctx, const struct step *now);

/* called for each row of the prompt but the last, with the logits of what may follow
   it; by rising position, and anew for rows that had to be computed again; false:
   there is no memory for it, and the text ends with an error */
typedef bool step_row(void *ctx, size_t position, const float *logits);

/* says whether the text, whose last token is the newest, is to end with it; *enough
   is false before the call; false and a message if it cannot tell */
typedef bool step_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);

/* chooses what follows the text by logits[vocab_size], all finite; *chosen is the
   likeliest before the call; false and a message if it cannot. Choosing changes
   nothing that a later choice depends on */
typedef bool step_select(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);

/* is told that id has joined the text; false and a message if it may not */
typedef bool step_accept(void *ctx, uint32_t id, struct error *why);

/* makes the store forget what does not belong to the text id[n], and says how many of
   its rows are left */
typedef size_t step_recall(struct store *s, uint32_t sequence,
  const uint32_t *id, size_t n);

/* what a caller wants of one text; any function may be null */
struct generate_options {
  size_t max_new_tokens;
  const uint32_t *eos; size_t n_eos; /* the end tokens */
  step_watch *on_step; void *ctx; /* the watcher */
  step_row *on_row; /* the watcher's eye on the prompt; ctx as well */
  uint32_t sequence; /* the text's number in the store */
  step_recall *recall; /* keeps rows */
  size_t chunk; /* the most rows of the text in a pass; 0: any number */
  step_select *select; step_accept *accept; /* the sampler, */
  void *select_ctx; /* and what both are called with */
  step_stop *stop; void *stop_ctx; /* the stop criterion */
  size_t min_tokens; /* up to this many, an end token does not count */
};

/* a text that is being written */
struct sequence {
  struct continuation c; /* the text so far */
  const struct generate_options *want; /* borrowed */
  size_t first, count; /* the next pass reads count rows from first on */
  bool reading; /* and leaves some for the pass after it */
  struct ids guess; /* what the next pass is to read behind the text */
  size_t room, right; /* for how many there is room, and how many came true */
  struct counters before; /* when the round began */
  struct error why; /* after FINISH_ERROR */
};

/* begins a text after the n >=1 ids of the prompt, as sequence want->sequence of the
   store; errors: an empty prompt, an id out of range, a prompt longer than the
   context, memory. On failure q is empty */
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why);

/* frees the text; the store keeps its rows */
void sequence_close(struct memory *m, struct sequence *q);

/* takes n sequences, each with its own number in the store, one step further in one
   pass; logits has room for vocab_size numbers for each of them and for each guess.
   Errors: those of model_forward and model_logits; then no text is longer, and the
   step may be tried again. What is wrong with one text ends this sequence, with
   FINISH_ERROR */
bool generate_step(const struct generate_context *g, struct sequence *const *list,
  size_t n, float *logits, struct error *why);

/* writes after the n >=1 ids of the prompt until something ends the text; errors:
   those of sequence_open, of generate_step and of the text. On failure out is empty */
bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why);

/* puts n >=1 rows through the model and its store in passes of at most chunk rows, 0
   for one pass; *last is the last one, owned by the caller, null on failure */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why);
#endif
