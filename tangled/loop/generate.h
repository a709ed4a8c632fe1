/* generate.h -- made from chapters/03-loop.w; change it there */

#ifndef INCIPIT_GENERATE_H
#define INCIPIT_GENERATE_H
#include "ground/buffers.h"
#include "model/forward.h"

/* <What it takes to generate> */

/* what a pass needs; all four are borrowed. e->c counts the work */
struct generate_context { struct engine *e; const struct model *lm;
  struct store *s; struct memory *m; };

/* why a text ended: not yet; an end token or a stop criterion; its length or the
   context's; the caller; an error of this text */
enum finish_reason { FINISH_NONE, FINISH_STOP, FINISH_LENGTH,
  FINISH_CANCELLED, FINISH_ERROR };

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

/* says whether the text, whose last token is the newest, is to end with it; *enough
   is false before; false and a message if it cannot tell */
typedef bool step_stop(void *ctx, const struct continuation *text,
  bool *enough, struct error *why);

/* chooses what follows the text by logits[vocab_size], all finite; *chosen is the
   likeliest before; false and a message if it cannot. Choosing changes nothing that a
   later choice depends on */
typedef bool step_select(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);

/* is told that id has joined the text; false and a message if it may not */
typedef bool step_accept(void *ctx, uint32_t id, struct error *why);

/* makes the store forget what does not belong to the text id[n], and says how many of
   its rows are left */
typedef size_t step_recall(struct store *s, uint32_t sequence,
  const uint32_t *id, size_t n);

/* the most new tokens; the ids that end a text; the watcher and its ctx; the number
   of the sequence in the store; what keeps rows; the most rows of a sequence in a
   pass, 0 for any number; the sampler, two functions and their ctx; the stop
   criterion and its ctx; up to how many new tokens an end token does not count. Any
   function may be null */
struct generate_options { size_t max_new_tokens;
  const uint32_t *eos; size_t n_eos;
  step_watch *on_step; void *ctx; uint32_t sequence;
  step_recall *recall; size_t chunk;
  step_select *select; step_accept *accept; void *select_ctx;
  step_stop *stop; void *stop_ctx; size_t min_tokens; };

/* a text that is being written, and its options, borrowed. The rest is the step's: it
   reads count rows from position first on, and is still reading if that is not all;
   the counters before it; why it failed, after FINISH_ERROR */
struct sequence { struct continuation c;
  const struct generate_options *want; size_t first, count;
  bool reading; struct counters before; struct error why; };

/* begins a text after the n >=1 ids of the prompt, as sequence want->sequence of the
   store; errors: an empty prompt, an id out of range, a prompt longer than the
   context, memory. On failure q is empty */
bool sequence_open(struct sequence *q, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct error *why);

/* frees the text; the store keeps its rows */
void sequence_close(struct memory *m, struct sequence *q);

/* takes n sequences, each with its own number in the store, one step further in one
   pass; logits has room for [n][vocab_size]. Errors: those of model_forward and
   model_logits; then all sequences are as they were. What is wrong with one text ends
   this sequence, with FINISH_ERROR */
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
