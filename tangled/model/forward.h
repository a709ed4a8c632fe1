/* forward.h -- made from workshop/20-inside.w; change it there */

#ifndef INCIPIT_FORWARD_H
#define INCIPIT_FORWARD_H
#include "model/counters.h"
#include "model/store.h"

/* <What a pass leaves behind> */

/* the hidden states of n rows after the last layer; first_bad_layer: the layer, from
   1, after which a row first held a number that is not finite, 0 if its embedding
   did, PASS_FINITE if none */
struct pass {
  struct memory *m; const struct buffers *memory;
  size_t n; uint32_t d_model;
  bool head_read; /* the head's weights have been counted for this pass */
  float *hidden; /* [n][d_model], in the order of the rows, in memory */
  uint32_t *first_bad_layer; /* [n] */
};

/* no layer: every number of the row is finite */
enum { PASS_FINITE = 0x7fffffff };

/* <A watcher> */

/* [n][d_model] but for: queries and mixed values [n][n_heads][head_dim], keys and
   values [n][n_kv_heads][head_dim], after rotation; attention weights
   [n][n_heads][max_seen]; inner [n][d_inner]. TAP_ATTENTION and TAP_MLP are what is
   added to the residual stream, TAP_LAYER is the stream after it */
enum tap_point { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_KEY, TAP_VALUE,
  TAP_WEIGHTS, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER,
  TAP_MLP, TAP_LAYER };

/* x is [rows][width], belongs to the pass, and may be changed */
typedef void tap_fn(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width);

/* weights: attention weights are wanted, too */
struct watcher { tap_fn *tap; void *ctx; bool weights; };

/* <From rows to hidden states> */

/* puts n rows through all layers and commits them to the store; *made is owned by the
   caller. On failure nothing has been stored and there is no pass. It is a failure,
   too, if e->progress, which is asked between the layers and at least every 64 rows,
   gives the pass up */
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);

/* the same, with a watcher; a null watch is none */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why);

/* returns the memory of a pass; null is nothing */
void pass_close(struct pass *p);

/* true if the hidden state of row i is finite; else a sentence that names the layer */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why);

/* <From hidden states to logits and probabilities> */

/* logits [n][vocab_size] of the rows which[0]..., in that order, each below p->n; a
   row may be named twice */
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why);

/* the naive way: empties the store, runs n ids through one pass as sequence 0, and
   gives the logits [wanted][vocab_size] of the positions which */
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why);

/* natural logarithms of the probability of each id after those before it, logprob[i]
   for i from 1 on; logprob[0] is 0, and stands for nothing; *sum adds them in order.
   A logit that is not finite is an error */
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why);
#endif
