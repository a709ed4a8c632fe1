/* switched.c -- what the formulas for a model's memory leave to its switches.

   A line of the list that comes out as nothing is left out, as chapter 6 does it. Differences may be
   negative; they are added modulo 2^64, and so the sums are right. */

#include <string.h>
#include "accounts/accounts.h"
#include "model/experts.h"

/* the numbers of a norm over a row, and of one over a head */
static uint64_t norm_of(const struct model_config *c, uint64_t d)
{ return c->layer_norm && !c->unbiased_norm ? 2 * d : d; }

/* the d_model-wide norms of a layer */
static uint64_t norms_of_layer(const struct model_config *c)
{
  uint64_t before = c->shared_norm ? 1 : 2;
  if (c->bare_branches) before = 0;
  return before + (c->post_norms ? 2 : 0);
}

/* If the norms of queries and keys differ in size, the two count as one. */
static void mend_head_norms(const struct model_config *c, struct tensor_line *l)
{
  uint64_t heads = (uint64_t) c->n_heads + c->n_kv_heads;
  bool wide = c->qk_norm_wide || c->qk_norm_each;
  l->each = wide ? heads * c->head_dim : norm_of(c, c->head_dim);
  if (wide) l->times = c->n_layers;
}

/* The gate, up and down of an expert have as many numbers each. The gate of a shared expert is a vector, and
   counts as one of its kind. With biases the matrices of an expert are of two sizes, and count together. */
static size_t enter_experts(const struct model_config *c, struct tensor_line *line, size_t n)
{
  uint64_t layers = config_sparse_layers(c), d = c->d_model, f = c->d_expert;
  uint64_t one = c->mlp_bias ? 3 * d * f + 2 * f + d : d * f;
  const struct tensor_line list[] = { { "router", (d + c->mlp_bias) * c->n_experts, layers },
    { "experts", one, (c->mlp_bias ? 1 : 3) * c->n_experts * layers },
    { "shared expert", d * c->d_shared, 3 * layers },
    { "shared expert's gate", c->d_shared > 0 ? d : 0, layers } };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (list[i].each > 0 && list[i].times > 0) line[n++] = list[i];
  return n;
}

size_t footprint_switched_tensors(const struct model_config *c, struct tensor_line *line, size_t n)
{
  struct tensor_line given[FOOTPRINT_MAX_TENSORS];
  size_t left = 0, dense = c->n_layers - config_sparse_layers(c);
  memcpy(given, line, n * sizeof *line);
  for (size_t i = 0; i < n; i++) {
    struct tensor_line l = given[i];
    if (strcmp(l.name, "up and gate") == 0) l.times = c->gated ? 2 * dense : dense;
    if (strcmp(l.name, "down") == 0) l.times = dense;
    if (strcmp(l.name, "norms") == 0)
      l.each = norm_of(c, c->d_model), l.times = norms_of_layer(c) * c->n_layers;
    if (strcmp(l.name, "last norm") == 0) l.each = norm_of(c, c->d_model);
    if (strcmp(l.name, "QK-norms") == 0) mend_head_norms(c, &l);
    if (strcmp(l.name, "output projection") == 0 && c->head_sinks)
      line[left++] = (struct tensor_line) { "sinks", c->n_heads, c->n_layers };
    if (l.each > 0 && l.times > 0) line[left++] = l;
    if (strcmp(l.name, "output projection") == 0) left = enter_experts(c, line, left);
  }
  if (c->head_bias)
    line[left++] = (struct tensor_line) { "bias of the head", c->vocab_size, 1 };
  return left;
}

/* The copy of a gain is a float, whatever its type is in the file. */
uint64_t footprint_switched_weights(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t more = lm->expert_bytes, d = c->d_model;
  if (lm->own_gains)
    more += weight_row_bytes(lm->gain_type, d) - weight_row_bytes(WEIGHT_F32, d);
  if (c->layer_norm && c->unbiased_norm)
    more -= weight_row_bytes(lm->final_norm.bias.type, d);
  if (c->head_bias) more += weight_row_bytes(lm->head.bias.type, c->vocab_size);
  return more;
}

uint64_t footprint_switched_row(const struct model_config *c)
{
  uint64_t usual = 2 * (c->head_dim / 2), angles = 2 * (config_rotary(c) / 2);
  if (c->rope.local_theta > 0) angles *= 2;
  uint64_t numbers = angles - usual;
  numbers += (c->gated ? 2 : 1) * ((uint64_t) config_widest(c) - c->d_inner);
  if (c->n_experts > 0) numbers += c->n_experts + 2 * (uint64_t) c->d_model;
  return sizeof (float) * numbers + 2 * sizeof (struct expert_choice) * c->n_chosen;
}
