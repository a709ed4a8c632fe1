/* kit-random.c -- made from laboratory/00-kit.w; change it there */

#include <math.h>
#include <string.h>
#include "laboratory/kit-random.h"

/* <Make a model of random numbers> */
const struct model_config random_model_gpt2 = { .family = "gpt2",
  .vocab_size = 50257, .n_positions = 1024, .d_model = 768,
  .d_inner = 3072, .n_layers = 12, .n_heads = 12, .n_kv_heads = 12,
  .head_dim = 64, .norm_eps = 1e-5, .layer_norm = true,
  .learned_positions = true, .activation = ACTIVATION_GELU_TANH,
  .tied = true };
struct weight_filler { float *next; uint64_t seed; };
static struct tensor fill_next(struct weight_filler *d, size_t n)
{
  struct tensor t = { d->next, WEIGHT_F32 };
  for (size_t i = 0; i < n; i++) {
    d->seed = d->seed * 48271 % 2147483647;
    *d->next++ = 0.04f * ((float) d->seed / 2147483647.0f - 0.5f);
  }
  return t;
}

static struct matrix fill_matrix(struct weight_filler *d, size_t in, size_t out)
{
  struct tensor w = fill_next(d, in * out);
  return (struct matrix) { w, fill_next(d, out), in, out, true };
}

static size_t layer_numbers(const struct model_config *c)
{
  size_t d = c->d_model, f = c->d_inner;
  return 4 * d + 3 * d * d + 3 * d + d * d + d + 2 * d * f + f + d;
}

static void fill_layer(struct weight_filler *d, const struct model_config *c,
  struct model_layer *l)
{
  size_t n = c->d_model, f = c->d_inner;
  float epsilon = (float) c->norm_eps;
  l->attn_norm = (struct norm) { .kind = NORM_LAYER,
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon };
  l->mlp_norm = (struct norm) { .kind = NORM_LAYER,
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon };
  l->qkv[0] = fill_matrix(d, n, 3 * n), l->n_qkv = 1;
  l->out = fill_matrix(d, n, n);
  l->up[0] = fill_matrix(d, n, f), l->n_up = 1;
  l->down = fill_matrix(d, f, n);
}

static void fill_model(struct model *lm, float *block)
{
  struct model_config *c = &lm->config;
  struct weight_filler d = { block, 1 };
  size_t n = c->d_model;
  lm->embedding = fill_next(&d, n * c->vocab_size);
  lm->positions = fill_next(&d, n * c->n_positions);
  for (uint32_t i = 0; i < c->n_layers; i++)
    fill_layer(&d, c, &lm->layers[i]);
  lm->final_norm = (struct norm) { .kind = NORM_LAYER, .gain = fill_next(&d, n),
    .bias = fill_next(&d, n), .epsilon = (float) c->norm_eps };
  lm->head = (struct matrix) { .weight = lm->embedding, .in = n,
    .out = c->vocab_size };
  lm->attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim,
    1 / sqrtf((float) c->head_dim) };
  lm->layer_bytes = c->n_layers * layer_numbers(c) * sizeof (float);
  lm->layer_madds = c->n_layers * (4 * n * n + 2 * n * c->d_inner);
  lm->head_bytes = (uint64_t) n * c->vocab_size * sizeof (float);
}

size_t random_model_numbers(const struct model_config *c)
{
  return (size_t) c->d_model * (c->vocab_size + c->n_positions + 2)
    + c->n_layers * layer_numbers(c);
}

struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why)
{
  struct model *lm = memory_alloc(m, MEMORY_WEIGHTS, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  lm->config = *shape;
  lm->layers = memory_alloc(m, MEMORY_WEIGHTS, shape->n_layers,
    sizeof *lm->layers, why);
  float *block = lm->layers == NULL ? NULL
    : memory_alloc(m, MEMORY_WEIGHTS, random_model_numbers(shape), sizeof *block, why);
  if (block != NULL) fill_model(lm, block);
  if (block != NULL) return lm;
  random_model_close(m, lm);
  return NULL;
}

void random_model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  float *block = NULL;
  memcpy(&block, &lm->embedding.data, sizeof block);
  memory_free(m, block);
  memory_free(m, lm->layers);
  memory_free(m, lm);
}
