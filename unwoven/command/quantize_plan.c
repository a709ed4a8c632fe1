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
   blocks at all becomes F16: both as in llama.cpp's files. A router is small, and what it
   decides cannot be half wrong: it stays as it is. */
static enum weight_type type_for(enum weight_type asked, enum tensor_role role,
  size_t row)
{
  bool ends = role == TENSOR_EMBEDDING || role == TENSOR_HEAD;
  if (role == TENSOR_POSITIONS || role == TENSOR_ROUTER) return WEIGHT_F32;
  if (ends && number_types[asked].bits < 8) asked = WEIGHT_Q8_0;
  if (number_types[asked].block > WEIGHT_BLOCK && row % number_types[asked].block != 0)
    asked = number_types[asked].bits < 5 ? WEIGHT_Q5_0 : WEIGHT_Q8_0;
  return row % number_types[asked].block == 0 ? asked : WEIGHT_F16;
}

/* A layer has no more tensors than this, so the list grows by a layer at a time. */
enum { MAX_PER_LAYER = 24 };

/* A tensor that the model does not have is no failure: the switches of its family left it out. One that
   files of the format do not have is. A norm that both halves share has the second of its names. */
static bool plan(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const char *what, struct planned p)
{
  if (p.from.data == NULL) return true;
  if (w->layout->of[role].pattern == NULL) {
    const char *found = "a tensor";
    if (role == TENSOR_Q_NORM) found = "a norm of queries";
    if (role == TENSOR_GATE) found = "an MLP beside experts";
    if (role == TENSOR_ROPE_FACTORS) found = "a stretching of positions with divisors";
    return error_found(w->why, tensor_file_path(w->lm->weights), "the model's part", found,
      "one that GGUF files of this kind can have");
  }
  struct planned *list = memory_reserve(w->m, MEMORY_OTHER, w->list, &w->cap,
    w->n + 1, MAX_PER_LAYER, sizeof *list, w->why);
  char name[160];
  if (list == NULL) return false;
  w->list = list;
  if (!w->lm->config.shared_norm || !layout_also(w->layout, role, "", layer, what, name))
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

/* What was planned for a matrix, for its bias: a vector with as many numbers as the matrix has outputs. */
static void plan_bias(struct planned *p, struct tensor bias)
{
  p->from = bias;
  p->in = 1;
  p->is_vector = true;
  p->transposed = false;
}

/* Slices of one tensor are written as the tensor that they are slices of. If that one is stored by head
   of keys, its rows are put in order. */
static bool plan_slices(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const struct matrix *list, size_t n)
{
  const struct model_config *c = &w->lm->config;
  struct matrix all = list[0];
  bool by_head = role == TENSOR_QKV && n == 1 && c->qkv_grouped;
  for (size_t i = 1; i < n; i++) all.out += list[i].out;
  struct planned p = { .from = all.weight, .in = all.in, .out = all.out,
    .transposed = all.transposed };
  if (by_head) p.head = c->head_dim, p.shared = c->n_heads / c->n_kv_heads;
  if (!plan(w, role, layer, "weight", p)) return false;
  plan_bias(&p, all.bias);
  return plan(w, role, layer, "bias", p);
}

/* Where each head has gains of its own, they are a stack of vectors. */
static bool plan_head_norm(struct quantize_plan *w, enum tensor_role role, uint32_t layer,
  const struct norm *g, size_t heads)
{
  const struct model_config *c = &w->lm->config;
  size_t n = c->qk_norm_wide || c->qk_norm_each ? heads * c->head_dim : c->head_dim;
  return plan(w, role, layer, "weight", (struct planned) { .from = g->gain, .in = 1, .out = n,
      .is_vector = true, .stack = c->qk_norm_each ? heads : 0 })
    && plan_vector(w, role, layer, "bias", g->bias, n);
}

static bool plan_qkv(struct quantize_plan *w, uint32_t i, const struct model_layer *l)
{
  static const enum tensor_role three[] = { TENSOR_Q, TENSOR_K, TENSOR_V };
  const struct model_config *c = &w->lm->config;
  bool ok = true;
  if (w->layout->sliced) ok = plan_slices(w, TENSOR_QKV, i, l->qkv, l->n_qkv);
  else for (size_t j = 0; ok && j < l->n_qkv; j++)
    ok = plan_matrix(w, l->n_qkv == 1 ? TENSOR_QKV : three[j], i, &l->qkv[j]);
  return ok && plan_head_norm(w, TENSOR_Q_NORM, i, &l->q_norm, c->n_heads)
    && plan_head_norm(w, TENSOR_K_NORM, i, &l->k_norm, c->n_kv_heads);
}

/* The third kind goes down; of the others there may be one matrix for both. */
static const struct matrix *expert_part(const struct expert_mlp *x, int part)
{
  if (part == 2) return &x->down;
  return expert_ups(x) == 1 ? x->up : &x->up[part];
}

static bool alternates(const struct planned *p)
{ return p->experts != NULL && p->part < 2 && expert_ups(&p->experts->expert[0]) == 1; }

/* The matrices of all experts are three stacks. The shared expert has matrices of its own, and the number
   by which a row takes it is a vector. */
static bool plan_experts(struct quantize_plan *w, uint32_t i, const struct mixture *x)
{
  static const enum tensor_role role[] = { TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP, TENSOR_EXPERT_DOWN };
  const struct model_config *c = &w->lm->config;
  bool ok = plan_matrix(w, TENSOR_ROUTER, i, &x->router);
  for (int k = 0; ok && k < 3; k++) {
    const struct matrix *a = expert_part(&x->expert[0], k);
    struct planned p = { .from = a->weight, .in = a->in, .stack = c->n_experts, .experts = x, .part = k,
      .out = (k == 2 ? c->d_model : c->d_expert) * (size_t) c->n_experts, .transposed = a->transposed };
    ok = plan(w, role[k], i, "weight", p);
    plan_bias(&p, a->bias);
    ok = ok && plan(w, role[k], i, "bias", p);
  }
  return ok && plan_matrix(w, TENSOR_SHARED_GATE, i, &x->shared.up[0])
    && plan_matrix(w, TENSOR_SHARED_UP, i, &x->shared.up[1])
    && plan_matrix(w, TENSOR_SHARED_DOWN, i, &x->shared.down)
    && plan_vector(w, TENSOR_SHARED, i, "weight", x->shared_gate.weight, c->d_model);
}

static bool plan_layer(struct quantize_plan *w, uint32_t i, const struct model_layer *l)
{
  const struct model_config *c = &w->lm->config;
  bool ok = plan_norm(w, TENSOR_ATTN_NORM, i, &l->attn_norm, c->d_model)
    && plan_qkv(w, i, l) && plan_vector(w, TENSOR_SINKS, i, "weight", l->sink, c->n_heads)
    && plan_matrix(w, TENSOR_OUT, i, &l->out)
    && plan_norm(w, TENSOR_ATTN_POST, i, &l->attn_post, c->d_model)
    && plan_norm(w, TENSOR_MLP_NORM, i, &l->mlp_norm, c->d_model);
  if (ok && l->experts != NULL) return plan_experts(w, i, l->experts);
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

/* In a head of a Llama, row 2i of the file is row i of the directory, and row 2i + 1 is row i + h, where h
   is half of the head. */
static size_t pair_of(const struct planned *p, size_t i)
{
  size_t d = 2 * p->half, k = i % d;
  return i - k + k % 2 * p->half + k / 2;
}

/* The file has all queries, then all keys, then all values. */
static size_t by_head_of(const struct planned *p, size_t i)
{
  size_t d = p->head, queries = p->shared * d, each = queries + 2 * d;
  size_t n = p->out / each;
  if (i < n * queries) return i / queries * each + i % queries;
  i -= n * queries;
  size_t which = i / (n * d), at = i % (n * d);
  return at / d * each + queries + which * d + at % d;
}

struct tensor quantize_row(const struct planned *p, size_t i, size_t *row)
{
  *row = i;
  if (p->half > 0) *row = pair_of(p, i);
  else if (p->head > 0) *row = by_head_of(p, i);
  if (p->experts == NULL) return p->from;
  size_t each = p->out / p->stack;
  const struct matrix *a = expert_part(&p->experts->expert[i / each], p->part);
  *row = alternates(p) ? 2 * (i % each) + (size_t) p->part : i % each;
  return p->is_vector ? a->bias : a->weight;
}

size_t quantize_columns(const struct planned *p)
{ return p->experts == NULL ? p->out : expert_part(&p->experts->expert[0], p->part)->out; }

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
