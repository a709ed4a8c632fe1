Lab 2: a transformer by hand. A change file for chapters/02-model.w in CWEB's form, with one thing more: a word before @x.
"shape" changes what the files are, for the reference as well; "cut" takes away what the student writes, and what it takes away
is the reference's answer.

cut: the embedding
@x
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      y[r * d + i] = tensor_number(table, id[r] * d + i);
}
@y
  /* YOUR CODE: row |r| of |y| becomes line |id[r]| of the table */
  (void) e, (void) table, (void) d, (void) id, (void) rows, (void) y;
}
@z

cut: the residual stream
@x
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}
@y
  /* YOUR CODE: add |x| to |y|, number by number */
  (void) e, (void) y, (void) x, (void) n;
}
@z

cut: the fold
@x
static float fold(float *lane)
{
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
@y
static float fold(float *lane)
{
  /* YOUR CODE: fold the sixteen lanes in half, four times */
  return lane[0];
}
@z

shape: the two sums can be tested
@x
static float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step)
{
@y
float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step)
{
@z

cut: the dot product
@x
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++)
    lane[k % 16] = fmaf(x[k], tensor_number(w, first + k * step), lane[k % 16]);
  return fold(lane);
}
@y
  /* YOUR CODE: sixteen lanes, one |fmaf| for each term, and the fold */
  (void) x, (void) n, (void) w, (void) first, (void) step, (void) fold;
  return 0;
}
@z

shape
@x
static float sum16(const float *x, size_t n)
{
@y
float sum16(const float *x, size_t n)
{
@z

cut: the sum
@x
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++) lane[k % 16] += x[k];
  return fold(lane);
}
@y
  /* YOUR CODE: the same lanes with a plain addition for each term, and the fold */
  (void) x, (void) n;
  return 0;
}
@z

cut: a linear layer
@x
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < w->out; o++) {
        float sum = dot16(x + r * w->in, w->in, w->weight, o * row, step);
        if (w->bias.data != NULL) sum += tensor_number(w->bias, o);
        y[i][r * w->out + o] = sum;
      }
  }
}
@y
  /* YOUR CODE: for each matrix, row and output a |dot16|, and then the bias */
  (void) e, (void) list, (void) n, (void) x, (void) rows, (void) y;
}
@z

cut: norms
@x
  (void) e;
  bool layer = g->kind == NORM_LAYER;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = layer ? sum16(x, d) / (float) d : 0.0f;
    for (size_t i = 0; i < d; i++) y[i] = x[i] - mean;
    struct tensor c = @[{ y, WEIGHT_F32 }@];
    float root = 1.0f / sqrtf(dot16(y, d, c, 0, 1) / (float) d + g->epsilon);
    for (size_t i = 0; i < d; i++) {
      float gain = g->gain.data != NULL ? tensor_number(g->gain, i) : 1.0f;
      if (layer && g->bias.data != NULL)
        y[i] = fmaf(y[i] * root, gain, tensor_number(g->bias, i));
      else y[i] = y[i] * root * gain;
    }
  }
}
@y
  /* YOUR CODE: the two formulas of this section; |x| and |y| may be the same array */
  (void) e, (void) g, (void) x, (void) rows, (void) d, (void) y;
}
@z

cut: the angles of RoPE
@x
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos((double) angle) * scaling;
      s[r * half + i] = (float) num_sin((double) angle) * scaling;
    }
}
@y
  /* YOUR CODE: the angle in float; its cosine and sine by |num_cos| and |num_sin|, rounded to float, times |scaling| */
  (void) e, (void) position, (void) rows, (void) frequency, (void) half, (void) scaling, (void) c, (void) s;
}
@z

cut: the rotation
@x
  (void) e;
  for (size_t r = 0; r < rows; r++, c += half, s += half)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], across = x1 * s[i], along = x1 * c[i];
        x[i] = fmaf(x0, c[i], -across);
        x[half + i] = fmaf(x0, s[i], along);
      }
}
@y
  /* YOUR CODE: all heads of row |r| are rotated by the cosines and sines of row |r| */
  (void) e, (void) x, (void) rows, (void) n_heads, (void) half, (void) c, (void) s;
}
@z

cut: the mask
@x
{@+ return t < r->hi && (t >= r->lo || t < r->sinks);@+ }
@y
{
  /* YOUR CODE: is |t| one of the positions that |r| describes? */
  (void) r, (void) t;
  return false;
}
@z

shape: a block can be tested
@x
static void attend_block(const struct attention_dims *h, const struct kv_view *v,
@y
void attend_block(const struct attention_dims *h, const struct kv_view *v,
@z

cut: the scores of a block
@x
for (uint32_t t = begin; t < begin + 256; t++) {
  if (!is_seen(see, t)) continue;
  kept[t % 256] = dot16(q, h->head_dim, kv_row(v, v->key, t, of), 0, 1) * h->scale;
  if (h->cap > 0) kept[t % 256] = capped(kept[t % 256], h->cap);
  if (kept[t % 256] > left[0]) left[0] = kept[t % 256];
}
@y
/* YOUR CODE: the score of each position that is seen goes to |kept[t % 256]|, the largest of them to |left[0]| */
(void) is_seen, (void) capped, (void) kept, (void) h, (void) v, (void) of, (void) see, (void) q, (void) begin;
@z

cut: the sums of a block
@x
for (size_t i = 0; i < h->head_dim; i++) out[i] = 0;
for (uint32_t t = begin; t < begin + 256; t++) {
  if (!is_seen(see, t)) continue;
  struct tensor value = kv_row(v, v->value, t, of);
  float p = num_expf(kept[t % 256] - left[0]);
  lane[t % 16] += p;
  for (size_t i = 0; i < h->head_dim; i++)
    out[i] = fmaf(p, tensor_number(value, i), out[i]);
  if (weights != NULL) weights[t] = p;
}
@y
/* YOUR CODE: each exponential is added to its |lane|, and times the value to |out|; it is written to |weights| if that is not null */
(void) out, (void) weights;
@z

cut: the blocks of a head
@x
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    float *block = left + n * (d + 2);
    if (!sees_block(see, begin)) continue;
    attend_block(h, v, of, see, q, begin, block, weights);
    m = block[0] > m ? block[0] : m, n++;
  }
@y
  /* YOUR CODE: call |attend_block| for one block after the other, of those in which |sees_block|; the |d + 2| results of each stay in |left|, after
     those of the block before; |n| is how many such blocks there are, and |m| the maximum of all */
  (void) h, (void) v, (void) of, (void) q, (void) n;
@z

cut: joining the blocks
@x
for (size_t i = 0; i < d; i++) y[i] = 0;
for (size_t b = 0; b < n; b++) {
  const float *block = left + b * (d + 2);
  float w = num_expf(block[0] - m);
  l = fmaf(block[1], w, l);
  for (size_t i = 0; i < d; i++) y[i] = fmaf(block[2 + i], w, y[i]);
}
for (size_t i = 0; i < d; i++) y[i] /= l;
@y
/* YOUR CODE: |l| and |y| from the results of the |n| blocks, then the division */
(void) y;
@z

cut: all rows and heads
@x
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  (void) e;
  for (size_t k = 0; k < n; k++)
    for (uint32_t r = 0; r < list[k].n_rows; r++)
      for (size_t head = 0; head < h->n_heads; head++) {
        size_t i = (list[k].first_row + (size_t) r) * h->n_heads + head;
        struct kv_range see = segment_range(&list[k], r);
        float *weights = probe == NULL ? NULL : probe->weights + i * probe->stride;
        if (probe != NULL) memset(weights, 0, probe->stride * sizeof *weights);
        attend_head(h, &list[k].view, head / group, &see, q + i * d,
          head_sink(h, head), scratch, y + i * d, weights);
      }
}
@y
  /* YOUR CODE: |attend_head| for each row of each segment and each head, with the view of the segment, the range of the row and
     the head's |head_sink|.
     With a |probe|, the weights of head |h| in row |r| of the pass are the |stride| numbers from |probe->weights + (r*n_heads + h)*stride|
     on, and are 0 where nothing is seen */
  (void) e, (void) h, (void) q, (void) list, (void) n, (void) scratch, (void) y, (void) probe, (void) attend_head;
}
@z

cut: the activation functions
@x
  if (kind == ACTIVATION_SILU) return x / (1.0f + num_expf(-x));
  if (kind == ACTIVATION_GELU_ERF)
    return 0.5f * x * (1.0f + num_erff(x * 0.70710677f));
  float cube = x * x * x, inner = 0.7978846f * fmaf(0.044715f, cube, x);
  return 0.5f * x * (1.0f + num_tanhf(inner));
}
@y
  /* YOUR CODE: SiLU, the exact GELU as |0.5f * x * (1.0f + num_erff(x * 0.70710677f))|, and the GELU with |num_tanhf|, where
     |0.7978846f| is the root of 2 over pi */
  (void) kind;
  return 0 * x;
}
@z

cut: the activation of an array
@x
  (void) e;
  for (size_t i = 0; i < n; i++)
    y[i] = activation(kind, x[i]) * (up != NULL ? up[i] : 1.0f);
}
@y
  /* YOUR CODE: the function of each number, times the number of |up| if there is one */
  (void) e, (void) kind, (void) x, (void) up, (void) n, (void) y, (void) activation;
}
@z

cut: the sum of a softmax
@x
  double lane[16] = @[{ 0 }@];
  *max = -INFINITY;
  for (size_t i = 0; i < n; i++) *max = (double) x[i] > *max ? (double) x[i] : *max;
  for (size_t i = 0; i < n; i++) lane[i % 16] += num_exp((double) x[i] - *max);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
@y
  /* YOUR CODE: the maximum; then sixteen lanes of |num_exp|, in double, and the fold */
  (void) x, (void) n;
  *max = 0;
  return 1;
}
@z

cut: probabilities and their logarithms
@x
    double max, sum = sum_exp(x, n, &max), log_sum = num_log(sum);
    for (size_t i = 0; i < n; i++) {
      double z = (double) x[i] - max;
      y[i] = logs ? z - log_sum : num_exp(z) / sum;
    }
@y
    /* YOUR CODE: one row: the probabilities of |x|, or if |logs| their logarithms, in double */
    (void) logs, (void) sum_exp;
@z

cut: the exponentials alone
@x
{@+ for (size_t i = 0; i < n; i++) z[i] = num_exp(z[i] - max);@+ }
@y
{
  /* YOUR CODE: in place */
  (void) z, (void) n, (void) max;
}
@z

shape: a header for what the tests call besides the table
@x
@ The plain kernels are one file: those in which each row is alone, attention, and what makes probabilities of the logits.

@(plain.c@>=
/** the plain kernels, which define what the engine computes.

   Every sum is in the order that chapter 2 gives, and every rounding where its formulas have it;
   no other table may differ in a bit. So nothing here is rearranged for speed. The kernels keep
   no state and allocate nothing. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "ground/pool.h"
#include "model/quantization.h"
@;@#
@y
@ The tests of the lab call three functions besides those of the table. They have a header.

@(plain.h@>=
#ifndef INCIPIT_PLAIN_H
#define INCIPIT_PLAIN_H
#include "model/kernel.h"
float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step);
  /* the sum of |x[k]| times number |first+k*step| of |w|, for |n| terms, in sixteen lanes */
float sum16(const float *x, size_t n);
  /* the sum of |n| numbers in sixteen lanes */
void attend_block(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, uint32_t begin, float *left,
  float *weights);
  /* one head of one row over the positions |begin| to |begin+255|, as far as they are seen: |left| gets the maximum of the scores, the sum
     of the exponentials, and |head_dim| numbers, the weighted sum of the values; if |weights| is not null,
     |weights[t]| gets the exponential of each position |t| that is seen */
#endif

@ The plain kernels are one file: those in which each row is alone, attention, and what makes probabilities of the logits.

@(plain.c@>=
/** the plain kernels, which define what the engine computes.

   Every sum is in the order that chapter 2 gives, and every rounding where its formulas have it;
   no other table may differ in a bit. So nothing here is rearranged for speed. The kernels keep
   no state and allocate nothing. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "ground/pool.h"
#include "model/plain.h"
#include "model/quantization.h"
@;@#
@z

cut: the first half of a layer
@x
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t d = c->d_model;
  work_norm(w, &l->attn_norm, w->normed);
  work_tap(w, TAP_NORM, i, w->normed, d);
  project_qkv(w, l);
  rotate_qk(w, l, i);
  work_tap(w, TAP_QUERY, i, w->q, w->q_width);
  work_tap(w, TAP_KEY, i, w->k, w->kv_width);
  work_tap(w, TAP_VALUE, i, w->v, w->kv_width);
  attend_rows(w, i);
  work_tap(w, TAP_MIXED, i, w->mixed, w->q_width);
  work_multiply(w, &l->out, 1, w->mixed, (float *[]) @[{ w->added }@]);
  work_branch(w, &l->attn_post);
  if (c->parallel && !c->shared_norm) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}
@y
  /* YOUR CODE: a norm of the stream |w->x|; queries, keys and values; their rotation; attention, which leaves |w->mixed|; the output
     projection; the addition to the stream. After each step |work_tap| shows the watcher what it has made: |TAP_NORM|,
     |TAP_QUERY|, |TAP_KEY| and |TAP_VALUE|, |TAP_MIXED|, |TAP_ATTENTION| */
  (void) w, (void) l, (void) i, (void) project_qkv, (void) rotate_qk, (void) attend_rows;
}
@z

cut: the second half of a layer
@x
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  if (!c->parallel) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_MLP_NORM, i, w->normed, d);
  work_multiply(w, l->up, l->n_up, w->normed,@|
    (float *[]) @[{ w->inner, w->up }@]);
  k->activate(w->e, c->activation, w->inner, c->gated ? w->up : NULL,
    n * c->d_inner, w->inner);
  work_tap(w, TAP_INNER, i, w->inner, c->d_inner);
  work_multiply(w, &l->down, 1, w->inner, (float *[]) @[{ w->added }@]);
  work_branch(w, &l->mlp_post);
  work_tap(w, TAP_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  work_tap(w, TAP_LAYER, i, w->x, d);
}
@y
  /* YOUR CODE: a norm of the stream; the matrices up, which are |l->n_up|, into |w->inner| and |w->up|; the activation; the matrix down; the
     addition to the stream. The watcher sees |TAP_MLP_NORM|, |TAP_INNER|, |TAP_MLP|, and the stream as |TAP_LAYER| */
  (void) w, (void) l, (void) i;
}
@z
