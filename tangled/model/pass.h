/* pass.h -- what a forward pass leaves behind, and what it shows on its way to a
   caller who watches it.
   made from chapters/02-model.w; change it there

   A pass belongs to its caller, who closes it; its memory is that of the store it
   went through, but it needs neither store nor model to be closed. */

#ifndef INCIPIT_PASS_H
#define INCIPIT_PASS_H
#include "model/kernel.h"

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
   added to the residual stream, TAP_LAYER is the stream after it. TAP_EXPERTS: the
   experts' weights, [n][n_experts], 0 for one that is not chosen */
enum tap_point { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_KEY, TAP_VALUE,
  TAP_WEIGHTS, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER,
  TAP_MLP, TAP_LAYER, TAP_EXPERTS };

/* x is [rows][width], belongs to the pass, and may be changed */
typedef void tap_fn(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width);

/* weights: the caller wants attention weights as well */
struct watcher { tap_fn *tap; void *ctx; bool weights; };
#endif
