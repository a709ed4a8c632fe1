/* quantize_plan.c -- which tensors a quantized file has, in which order, and of which type.

   Not all are rounded. A vector of gains or biases is as long as a single row of a matrix, and
   rounding it saves nothing. What the model has under one name the file has under another; the layout
   of the format says which, and readers look tensors up by name, so their order is ours: that of the
   calculation. A head that is tied is not listed: readers take the embedding. */

#include <stdio.h>
#include <string.h>
#include "command/quantize_plan.h"
#include "families/rope_scaling.h"
#include "safetensors/tensor_file.h"

/* Learned positions are added to the residual stream once and never multiplied: they stay
   floats. The embedding has the largest error of all matrices, and the head makes the
   logits: with fewer than eight bits these two stay in Q8_0. Rows that are no whole
   superblocks get the next larger type of short blocks, and a matrix whose rows are no whole
   blocks at all becomes F16: both as in llama.cpp's files. */
static enum weight_type type_for(enum weight_type asked, enum tensor_role role,
  size_t row)
{
  bool ends = role == TENSOR_EMBEDDING || role == TENSOR_HEAD;
  if (role == TENSOR_POSITIONS) return WEIGHT_F32;
  if (ends && number_types[asked].bits < 8) asked = WEIGHT_Q8_0;
  if (number_types[asked].block > WEIGHT_BLOCK && row % number_types[asked].block != 0)
    asked = number_types[asked].bits < 5 ? WEIGHT_Q5_0 : WEIGHT_Q8_0;
  return row % number_types[asked].block == 0 ? asked : WEIGHT_F16;
}

/* A layer has no more tensors than this, so the list grows by a layer at a time. */
enum { MAX_PER_LAYER = 24 };

/* A tensor that the model does not have is no failure: the switches of its family left it out. */
static bool plan(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const char *what, struct planned p)
{
  if (p.from.data == NULL) return true;
  struct planned *list = memory_reserve(w->m, MEMORY_OTHER, w->list, &w->cap,
    w->n + 1, MAX_PER_LAYER, sizeof *list, w->why);
  char name[160];
  if (list == NULL) return false;
  w->list = list;
  layout_name(w->layout, role, "", layer, what, name);
  snprintf(p.name, sizeof p.name, "%.63s", name);
  p.type = p.is_vector ? WEIGHT_F32 : type_for(w->type, role, p.in);
  if (w->layout->of[role].permuted && !w->lm->neighbours)
    p.half = w->lm->config.head_dim / 2;
  w->list[w->n++] = p;
  return true;
}

static bool plan_vector(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const char *what, struct tensor from, size_t n)
{
  return plan(w, role, layer, what, (struct planned) { .from = from, .in = 1,
    .out = n, .is_vector = true });
}

static bool plan_matrix(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const struct matrix *a)
{
  return plan(w, role, layer, "weight", (struct planned) { .from = a->weight,
    .in = a->in, .out = a->out, .transposed = a->transposed })
    && plan_vector(w, role, layer, "bias", a->bias, a->out);
}

static bool plan_norm(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const struct norm *g, size_t n)
{
  return plan_vector(w, role, layer, "weight", g->gain, n)
    && plan_vector(w, role, layer, "bias", g->bias, n);
}

/* Slices of one tensor are written as the tensor that they are slices of. */
static bool plan_slices(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const struct matrix *list, size_t n)
{
  struct matrix all = list[0];
  for (size_t i = 1; i < n; i++) all.out += list[i].out;
  return plan_matrix(w, role, layer, &all);
}

static bool plan_qkv(struct quantize_plan *w, uint32_t i, const struct model_layer *l)
{
  static const enum tensor_role three[] = { TENSOR_Q, TENSOR_K, TENSOR_V };
  const struct model_config *c = &w->lm->config;
  size_t d = c->head_dim, wide = c->qk_norm_wide ? 1 : 0;
  bool ok = true;
  if (w->layout->sliced) ok = plan_slices(w, TENSOR_QKV, i, l->qkv, l->n_qkv);
  else for (size_t j = 0; ok && j < l->n_qkv; j++)
    ok = plan_matrix(w, l->n_qkv == 1 ? TENSOR_QKV : three[j], i, &l->qkv[j]);
  return ok && plan_norm(w, TENSOR_Q_NORM, i, &l->q_norm, wide ? c->n_heads * d : d)
    && plan_norm(w, TENSOR_K_NORM, i, &l->k_norm, wide ? c->n_kv_heads * d : d);
}

static bool plan_layer(struct quantize_plan *w, uint32_t i, const struct model_layer *l)
{
  const struct model_config *c = &w->lm->config;
  bool ok = plan_norm(w, TENSOR_ATTN_NORM, i, &l->attn_norm, c->d_model)
    && plan_qkv(w, i, l) && plan_matrix(w, TENSOR_OUT, i, &l->out)
    && plan_norm(w, TENSOR_ATTN_POST, i, &l->attn_post, c->d_model)
    && plan_norm(w, TENSOR_MLP_NORM, i, &l->mlp_norm, c->d_model);
  if (ok && w->layout->gate_above) ok = plan_slices(w, TENSOR_UP, i, l->up, l->n_up);
  else for (size_t j = 0; ok && j < l->n_up; j++)
    ok = plan_matrix(w, j + 1 == l->n_up ? TENSOR_UP : TENSOR_GATE, i, &l->up[j]);
  return ok && plan_matrix(w, TENSOR_DOWN, i, &l->down)
    && plan_norm(w, TENSOR_MLP_POST, i, &l->mlp_post, c->d_model);
}

static bool plan_model(struct quantize_plan *w, struct tensor factors)
{
  const struct model *lm = w->lm;
  const struct model_config *c = &lm->config;
  struct matrix ends[2] = { { .weight = lm->embedding, .in = c->d_model,
    .out = c->vocab_size }, { .weight = lm->positions, .in = c->d_model,
    .out = c->n_positions } };
  bool ok = plan_matrix(w, TENSOR_EMBEDDING, 0, &ends[0])
    && plan_matrix(w, TENSOR_POSITIONS, 0, &ends[1])
    && plan_vector(w, TENSOR_ROPE_FACTORS, 0, "weight", factors, config_rotary(c) / 2);
  for (uint32_t i = 0; ok && i < c->n_layers; i++)
    ok = plan_layer(w, i, &lm->layers[i]);
  return ok && plan_norm(w, TENSOR_FINAL_NORM, 0, &lm->final_norm, c->d_model)
    && (c->tied || plan_matrix(w, TENSOR_HEAD, 0, &lm->head));
}

/* The way in which a Llama 3 stretches positions has no keys in the format. Its files have a tensor
   with a divisor for each frequency instead. Divisors are rounded to float, and so a frequency may
   differ in its last bit from that of the directory; no other number of a file in F32 does. A model
   that comes from a file has the tensor already. */
static bool make_factors(struct quantize_plan *w, struct tensor *factors)
{
  const struct model_config *c = &w->lm->config;
  const struct tensor_entry *t = tensor_file_find(w->lm->weights,
    "rope_freqs.weight");
  uint32_t half = config_rotary(c) / 2;
  *factors = (struct tensor) { t == NULL ? NULL : t->data, WEIGHT_F32 };
  if (t != NULL) factors->type = (enum weight_type) t->type;
  if (c->rope.kind != ROPE_LLAMA3 || c->learned_positions) return true;
  w->made = memory_alloc(w->m, MEMORY_OTHER, half, sizeof *w->made, w->why);
  for (uint32_t i = 0; i < half && w->made != NULL; i++)
    w->made[i] = (float) (rope_frequency(c->rope.theta, i, half)
      / rope_scaled_frequency(&c->rope, i, half));
  *factors = (struct tensor) { w->made, WEIGHT_F32 };
  return w->made != NULL;
}

bool quantize_plan_make(struct quantize_plan *w)
{
  struct tensor factors;
  return make_factors(w, &factors) && plan_model(w, factors);
}

void quantize_plan_free(struct quantize_plan *w)
{
  memory_free(w->m, w->list);
  memory_free(w->m, w->made);
}
