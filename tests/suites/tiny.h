/* tiny.h -- a small model with random weights, built in memory, for tests that need a real pass but
   no file. Llama-like: RMSNorm, rotations, two query heads to each pair of key heads, a gate. */
#ifndef INCIPIT_TINY_H
#define INCIPIT_TINY_H
#include <math.h>
#include "model/forward.h"
#include "suite.h"
#include "kernels/kernels.h"
#include "cache/cache.h"

enum {
  TINY_LAYERS = 3,
  TINY_V = 19,
  TINY_D = 12,
  TINY_HEADS = 4,
  TINY_KV = 2,
  TINY_HD = 6,
  TINY_FF = 20,
  TINY_CONTEXT = 300
};
struct tiny {
  struct model lm;
  struct model_layer layer[TINY_LAYERS];
  float frequency[TINY_HD / 2];
  float *numbers;
  size_t used, cap;
};

static inline float tiny_normal(
  uint64_t *seed) /* a sum of twelve uniforms: near enough to normal */
{
  double s = -6;
  for (int i = 0; i < 12; i++) s += (double) (rnd(seed) >> 11) * 0x1p-53;
  return (float) s;
}
static inline struct tensor tiny_tensor(
  struct tiny *t, size_t n, float scale, float shift, uint64_t *seed)
{
  float *x = t->numbers + t->used;
  t->used += n;
  if (t->used > t->cap) abort();
  for (size_t i = 0; i < n; i++) x[i] = shift + scale * tiny_normal(seed);
  return (struct tensor){ x, WEIGHT_F32 };
}
static inline struct matrix tiny_matrix(struct tiny *t, size_t in, size_t out, uint64_t *seed)
{
  return (struct matrix){
    .weight = tiny_tensor(t, in * out, 1.5f / sqrtf((float) in), 0, seed), .in = in, .out = out
  };
}
static inline struct norm tiny_norm(struct tiny *t, uint64_t *seed)
{
  return (struct norm){
    .kind = NORM_RMS, .gain = tiny_tensor(t, TINY_D, .2f, 1, seed), .epsilon = 1e-5f
  };
}
static inline void tiny_make(struct tiny *t, uint64_t seed)
{
  memset(t, 0, sizeof *t);
  t->cap = 20000, t->numbers = malloc(t->cap * sizeof *t->numbers);
  size_t q = TINY_HEADS * TINY_HD, kv = TINY_KV * TINY_HD;
  for (int i = 0; i < TINY_LAYERS; i++) {
    struct model_layer *l = &t->layer[i];
    l->attn_norm = tiny_norm(t, &seed), l->mlp_norm = tiny_norm(t, &seed);
    l->qkv[0] = tiny_matrix(t, TINY_D, q, &seed), l->qkv[1] = tiny_matrix(t, TINY_D, kv, &seed),
    l->qkv[2] = tiny_matrix(t, TINY_D, kv, &seed);
    l->out = tiny_matrix(t, q, TINY_D, &seed);
    l->up[0] = tiny_matrix(t, TINY_D, TINY_FF, &seed),
    l->up[1] = tiny_matrix(t, TINY_D, TINY_FF, &seed),
    l->down = tiny_matrix(t, TINY_FF, TINY_D, &seed);
    l->n_qkv = 3, l->n_up = 2;
  }
  t->lm.config = (struct model_config){ .family = "llama",
    .vocab_size = TINY_V,
    .n_positions = TINY_CONTEXT,
    .d_model = TINY_D,
    .d_inner = TINY_FF,
    .n_layers = TINY_LAYERS,
    .n_heads = TINY_HEADS,
    .n_kv_heads = TINY_KV,
    .head_dim = TINY_HD,
    .norm_eps = 1e-5,
    .gated = true };
  t->lm.embedding = tiny_tensor(t, TINY_V * TINY_D, 1, 0, &seed);
  t->lm.layers = t->layer, t->lm.final_norm = tiny_norm(t, &seed);
  t->lm.head = tiny_matrix(t, TINY_D, TINY_V, &seed);
  t->lm.attention = (struct attention_dims){ TINY_HEADS, TINY_KV, TINY_HD, 1 / sqrtf(TINY_HD) };
  for (int i = 0; i < TINY_HD / 2; i++) t->frequency[i] = powf(10000, -2.0f * (float) i / TINY_HD);
  t->lm.frequency = t->frequency;
  t->lm.layer_madds = TINY_LAYERS * (TINY_D * (q + 2 * kv) + q * TINY_D + 3 * TINY_D * TINY_FF);
}
static inline void tiny_free(struct tiny *t)
{
  free(t->numbers);
}

/* the model with an engine that counts, and a store that holds N sequences */
struct tiny_rig {
  struct memory m;
  struct counters c;
  struct engine e;
  struct tiny t;
  struct store *s;
  struct error why;
};
static inline void tiny_open(struct tiny_rig *r, uint64_t seed, uint32_t n)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, seed);
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &r->c };
  r->s = cache_open(&r->m, &r->t.lm.config, n, &(struct cache_options){ .rows = 0 }, &r->why);
}
/* who is asked, and gives up at question number give_up, 0: never; of one whole, what was told must
   rise */
struct asker {
  struct progress told;
  size_t asks, give_up, done, all;
};
static inline bool asker_report(void *ctx, size_t done, size_t all)
{
  struct asker *a = ctx;
  hold_msg(all != a->all || done >= a->done, "%zu of %zu after %zu", done, all, a->done);
  hold(done <= all);
  a->done = done, a->all = all;
  return ++a->asks != a->give_up;
}
static inline void asker_open(struct asker *a, size_t give_up)
{
  *a = (struct asker){ .told = { .report = asker_report, .ctx = a }, .give_up = give_up };
}
static inline void tiny_close(struct tiny_rig *r)
{
  store_close(r->s);
  ck_assert_uint_eq(r->m.all.live, 0);
  tiny_free(&r->t);
}
#endif
