/* network.c -- A Llama as a network that can be trained: forward with everything
   kept, loss, backward.
   made from workshop/12-training.w; change it there

   All memory is taken on opening; a pass takes none and so can fail only by its
   arguments. The forward pass gives the bits that the engine gives for the same
   weights, so a trained model is the model that is run. Workers divide rows, columns
   or heads of keys, and never the terms of a sum: results do not depend on their
   number. Gradients are added to what is there; adam sets them to 0. dx is the
   gradient of the residual stream, which goes backward through all layers and is only
   ever added to. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "training/network.h"
#include "functions/numbers.h"

/* <What a network holds> */
struct trace {
  float *x, *normed, *q, *k, *v, *mixed, *middle, *normed2, *gate, *up,
    *inner;
  float *known;
};

struct network {
  struct model_shape form;
  size_t max_rows, n_parameters, n_tensors, q_width, kv_width, widest;
  const struct gradients *back;
  struct counters tally;
  struct engine team, lone;
  struct attention_dims dims;
  struct arena blocks; /* these three, and positions */
  struct parameter *tensors;
  struct trace *traces;
  float *buffer; size_t buffer_size;
  /* <Buffers of a network> */
  uint32_t *positions;
  float *frequency, *cosine, *sine, *minus;
  float *last, *h, *logits;
  float *dx, *dy, *dmixed, *dq, *dk, *dv, *dgate, *dup, *dinner, *scales;
  float *scratch; size_t scratch_size;
};

#include "training/buffers.inc"

/* <One pass of a network> */
struct network_run {
  struct network *net; const float *w; float *gradient;
  const struct batch *b; size_t rows;
};

/* a job for a whole layer, forward and backward */
struct attention { const struct network_run *r; struct trace *t; };

static const float *weight(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->w + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

static float *gradient_of(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->gradient + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

#include "training/shares.inc"

/* <Attention, a strip of queries at a time> */

/* A strip of queries against all keys up to its last row, in blocks of 256 as the
   kernels have them. Blocks that a row does not see at all are zeros and are not
   joined. */
static void attend_strip(struct head_group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, rows = a->length - t0;
  if (rows > GRADIENTS_MC) rows = GRADIENTS_MC;
  size_t n = (t0 + rows + 15) / 16 * 16, at =
    (a->first + t0) * net->q_width + head * h;
  gather(a->t->q + at, net->q_width, rows, h, a->on.q);
  struct matrix keys = { .weight = { a->on.k, WEIGHT_F32 }, .in =
    h, .out = n };
  net->lone.k->linear(&net->lone, &keys, 1, a->on.q, rows, &a->on.s);
  for (size_t b = 0; b * 256 < n; b++) {
    size_t wide = n - 256 * b < 256 ? n - 256 * b : 256;
    for (size_t i = 0; i < rows; i++) {
      float *s = a->on.s + i * n + 256 * b;
      size_t sees = t0 + i + 1 < 256 * b ? 0 : t0 + i + 1 - 256 * b;
      if (sees > 0) net->back->softmax_block(s, sees < wide ? sees : wide, wide,
        net->dims.scale, a->on.left + 2 * (b * GRADIENTS_MC + i));
      else memset(s, 0, wide * sizeof *s);
    }
    net->back->multiply(&(struct product)
      { .a = a->on.s + 256 * b, .a_row = n,
      .a_step = 1, .b = a->on.v + 256 * b * h, .b_step = h, .c = a->on.parts
      + b * GRADIENTS_MC * h, .c_row = h, .rows = rows, .terms = wide, .cols =
        h }, a->on.pack);
  }
  /* <Join the blocks of every row of the strip> */
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->join(a->on.left + 2 * i, a->on.parts + i * h,
      (t0 + i) / 256 + 1, h,
      a->t->mixed + row * net->q_width + head * h,
      a->t->known + 2 * (row * net->form.n_heads + head));
  }
}

/* <Attention on the way back> */

/* computes the scores again and, beside them, the gradients of the weights; both are
   then turned in place, into weights and gradients of scores */
static void scores_back(struct head_group *a, size_t head, size_t t0,
  size_t rows, size_t n)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, ld = a->on.ld;
  struct product p = { .a = a->on.q, .a_row = h, .a_step = 1, .b =
    a->on.kt,
    .b_step = ld, .c = a->on.s, .c_row = ld, .rows = rows, .terms =
      h, .cols = n };
  net->back->multiply(&p, a->on.pack);
  p.a = a->on.dy, p.b = a->on.vt;
  p.c = a->on.g;
  net->back->multiply(&p, a->on.pack);
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->softmax_backward(a->on.s + i * ld, a->on.g + i * ld,
      t0 + i + 1, n,
      net->dims.scale, a->t->known + 2
        * (row * net->form.n_heads + head),
      a->t->mixed + row * net->q_width + head * h, a->on.dy + i * h, h);
  }
}

/* dq belongs to the strip alone; dK and dV are added strip by strip, head by head,
   always in the same order */
static void strip_back(struct head_group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, w = net->q_width, ld = a->on.ld;
  size_t rows = a->length - t0 < GRADIENTS_MC ? a->length - t0 : GRADIENTS_MC;
  size_t keys = t0 + rows, n = (keys + 15) / 16 * 16;
  size_t at = (a->first + t0) * w + head * h;
  gather(a->t->q + at, w, rows, h, a->on.q);
  gather(net->dmixed + at, w, rows, h, a->on.dy);
  scores_back(a, head, t0, rows, n);
  /* <Find dq, and add to dK and dV> */
  struct product q = { .a = a->on.g, .a_row = ld, .a_step = 1,
    .b = a->on.k, .b_step = h, .c = net->dq + at, .c_row = w,
    .rows = rows, .terms = keys, .cols = h };
  net->back->multiply(&q, a->on.pack);
  struct product k = { .a = a->on.g, .a_row = 1, .a_step = ld,
    .b = a->on.q, .b_step = h, .c = a->on.dk, .c_row = h,
    .rows = keys, .terms = rows, .cols = h, .add = true };
  net->back->multiply(&k, a->on.pack);
  k.a = a->on.s, k.b = a->on.dy;
  k.c = a->on.dv;
  net->back->multiply(&k, a->on.pack);
}

#include "training/groups.inc"

/* <Through attention, keeping the rows> */

/* as chapter 2's, but each step writes to a buffer of its own, since the way back
   reads them all */
static void forward_attention(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct model_shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, half = s->head_dim / 2;
  norm_rows(r, weight(r, l, PART_NORM1), t->x, t->normed);
  apply(r, weight(r, l, PART_Q), d, net->q_width, t->normed, t->q);
  apply(r, weight(r, l, PART_K), d, net->kv_width, t->normed, t->k);
  apply(r, weight(r, l, PART_V), d, net->kv_width, t->normed, t->v);
  k->rotate(&net->team, t->q, r->rows, s->n_heads, half, net->cosine,
    net->sine);
  k->rotate(&net->team, t->k, r->rows, s->n_kv_heads, half,
    net->cosine, net->sine);
  pool_run(net->team.pool, attend_part,
    &(struct attention) { r, t });
  apply(r, weight(r, l, PART_O), net->q_width, d, t->mixed, t->middle);
  k->add(&net->team, t->middle, t->x, r->rows * d);
}

/* <Through the gated unit, keeping the rows> */

/* y is the input of the next layer, or last: so no row is copied between layers */
static void forward_mlp(const struct network_run *r, uint32_t l, float *y)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  norm_rows(r, weight(r, l, PART_NORM2), t->middle, t->normed2);
  apply(r, weight(r, l, PART_GATE), d, f, t->normed2, t->gate);
  apply(r, weight(r, l, PART_UP), d, f, t->normed2, t->up);
  k->activate(&net->team, ACTIVATION_SILU, t->gate, t->up,
    r->rows * f, t->inner);
  apply(r, weight(r, l, PART_DOWN), f, d, t->inner, y);
  k->add(&net->team, y, t->middle, r->rows * d);
}

/* <A whole pass, kept> */

/* Rounding and subnormal numbers are as in the engine, whatever the caller has set.
   The embedding is tied: w begins with the matrix that is also the output's. */
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why)
{
  const struct model_shape *s = &net->form;
  const struct kernels *k = net->team.k;
  struct network_run r = { .net = net, .w = w, .b = b, .rows =
    b->sequences * b->length };
  size_t half = s->head_dim / 2;
  if (r.rows > net->max_rows || b->length > s->n_positions)
    return error_say(why, "the trainer: a pass of %zu rows of %zu; wanted: at most %zu",
      b->sequences, b->length, net->max_rows);
  struct float_modes modes;
  float_modes_begin(&modes);
  /* <Give the rows their positions and their embeddings> */
  for (size_t i = 0; i < r.rows; i++)
    net->positions[i] = (uint32_t) (i % b->length);
  k->angles(&net->team, net->positions, r.rows, net->frequency, half,
    1, net->cosine, net->sine);
  k->embed(&net->team, (struct tensor) { w, WEIGHT_F32 },
    s->d_model, b->inputs, r.rows, net->traces[0].x);
  for (uint32_t l = 0; l < s->n_layers; l++) {
    forward_attention(&r, l);
    forward_mlp(&r, l, l + 1 < s->n_layers ? net->traces[l + 1].x
      : net->last);
  }
  norm_rows(&r, w + net->tensors[net->n_tensors - 1].offset, net->last,
    net->h);
  apply(&r, w, s->d_model, s->vocab_size, net->h, net->logits);
  float_modes_end(&modes);
  return true;
}

/* <Products on all workers> */

/* dX = dY W: a sum over the outputs */
static void hand_down(const struct network_run *r, const float *w,
  size_t in, size_t out,
  const float *dy, float *dx, bool add)
{
  struct spread_product job = { r->net,
    { .a = dy, .a_row = out, .a_step = 1, .b = w,
    .b_step = in, .c = dx, .c_row = in, .rows = r->rows, .terms =
      out, .cols = in,
    .add = add } };
  pool_run(r->net->team.pool, product_part, &job);
}

/* dW is dY transposed times X, and always added: a sum over all rows of the pass */
static void matrix_gradient(const struct network_run *r, const float *x,
  size_t in,
  const float *dy, size_t out, float *grad)
{
  struct spread_product job = { r->net,
    { .a = dy, .a_row = 1, .a_step = out, .b = x,
    .b_step = in, .c = grad, .c_row = in, .rows = out, .terms =
      r->rows, .cols = in,
    .add = true } };
  pool_run(r->net->team.pool, product_part, &job);
}

/* <Back through the gated unit> */

/* each step of forward_mlp from the last to the first; dx passes around as the
   residual does */
static void backward_mlp(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  matrix_gradient(r, t->inner, f, net->dx, d, gradient_of(r, l, PART_DOWN));
  hand_down(r, weight(r, l, PART_DOWN), f, d, net->dx, net->dinner,
    false);
  pool_run(net->team.pool, gate_part, &(struct attention) { r, t });
  matrix_gradient(r, t->normed2, d, net->dgate, f, gradient_of(r, l, PART_GATE));
  matrix_gradient(r, t->normed2, d, net->dup, f, gradient_of(r, l, PART_UP));
  hand_down(r, weight(r, l, PART_GATE), d, f, net->dgate, net->dy, false);
  hand_down(r, weight(r, l, PART_UP), d, f, net->dup, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM2), t->middle, net->dy, net->dx,
    gradient_of(r, l, PART_NORM2));
}

/* <Back through attention> */

/* a rotation is undone by the opposite angle, whose sine is minus */
static void backward_attention(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct model_shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width;
  size_t half = s->head_dim / 2;
  matrix_gradient(r, t->mixed, q, net->dx, d, gradient_of(r, l, PART_O));
  hand_down(r, weight(r, l, PART_O), q, d, net->dx, net->dmixed, false);
  pool_run(net->team.pool, attend_back_part,
    &(struct attention) { r, t });
  k->rotate(&net->team, net->dq, r->rows, s->n_heads, half,
    net->cosine, net->minus);
  k->rotate(&net->team, net->dk, r->rows, s->n_kv_heads, half,
    net->cosine, net->minus);
  /* <Back through queries, keys and values> */
  matrix_gradient(r, t->normed, d, net->dq, q, gradient_of(r, l, PART_Q));
  matrix_gradient(r, t->normed, d, net->dk, kv, gradient_of(r, l, PART_K));
  matrix_gradient(r, t->normed, d, net->dv, kv, gradient_of(r, l, PART_V));
  hand_down(r, weight(r, l, PART_Q), d, q, net->dq, net->dy, false);
  hand_down(r, weight(r, l, PART_K), d, kv, net->dk, net->dy, true);
  hand_down(r, weight(r, l, PART_V), d, kv, net->dv, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM1), t->x, net->dy, net->dx,
    gradient_of(r, l, PART_NORM1));
}

/* <The whole way back> */

/* Workers divide columns: a token may come in many rows, and its gradient is added in
   their order. */
static void embed_back(void *ctx, unsigned worker, unsigned workers)
{
  const struct network_run *r = ctx;
  size_t d = r->net->form.d_model, from = d * worker / workers;
  size_t to = d * (worker + 1) / workers;
  for (size_t i = 0; i < r->rows; i++)
    for (size_t k = from; k < to; k++)
      r->gradient[r->b->inputs[i] * d + k] += r->net->dx[i * d + k];
}

/* The tied matrix gets its gradient twice, here as the output's and at the end as the
   embedding's. */
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient)
{
  const struct model_shape *s = &net->form;
  struct network_run r = { net, w, gradient, b, b->sequences * b->length };
  size_t d = s->d_model, norm = net->tensors[net->n_tensors - 1].offset;
  struct float_modes modes;
  float_modes_begin(&modes);
  for (size_t i = 0; i < r.rows * s->head_dim / 2; i++)
    net->minus[i] = -net->sine[i];
  matrix_gradient(&r, net->h, d, net->logits, s->vocab_size, gradient);
  hand_down(&r, w, d, s->vocab_size, net->logits, net->dy, false);
  memset(net->dx, 0, r.rows * d * sizeof *net->dx);
  norm_down(&r, w + norm, net->last, net->dy, net->dx, gradient + norm);
  for (uint32_t l = s->n_layers; l-- > 0;) {
    backward_mlp(&r, l);
    backward_attention(&r, l);
  }
  pool_run(net->team.pool, embed_back, &r);
  float_modes_end(&modes);
}
