/* switches.c -- what a pass does for families that are neither GPT-2 nor Llama.

   Each function is a switch, or several that belong together, and does nothing if it is off. What
   multiplies single numbers is a loop here and no kernel: it costs some numbers for each row, where a
   matrix costs thousands, and a loop has the same bits beside every table of kernels. Such loops want the
   host's memory; the settings that need them are refused by the kernels of a device. The order of
   operations is that of the formulas, with a rounding after each. */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/work.h"

/* Zero is no factor: the setting is off. */
void work_scale(const struct work *w, float *x, size_t width, double by)
{
  if (by == 0) return;
  for (size_t i = 0; i < w->n * width; i++) x[i] *= (float) by;
}

/* A model with a second base for its windows has a second set of angles. They are never slowed, so
   their cosines and sines are multiplied by nothing. */
void work_other_angles(struct work *w)
{
  const struct model *lm = w->lm;
  if (lm->local_frequency == NULL) return;
  w->e->k->angles(w->e, w->position, w->n, lm->local_frequency,
    config_rotary(&lm->config) / 2, 1, w->cosine[1], w->sine[1]);
}

/* A model without norms before the halves of its layers hands the stream itself to the matrices. It is
   copied, since the matrices of one half read it while it waits for what they add. */
void work_norm(struct work *w, const struct norm *g, float *y)
{
  const struct buffers *b = w->memory;
  size_t d = w->lm->config.d_model;
  if (w->lm->config.bare_branches) b->copy(b, y, w->x, w->n * d * sizeof *y);
  else w->e->k->normalize(w->e, g, w->x, w->n, d, y);
}

/* Stored by head of keys: its queries, its key, its value. With a single head of keys that is all
   queries, then the key, then the value. */
void work_split(struct work *w)
{
  const struct model_config *c = &w->lm->config;
  size_t d = c->head_dim, queries = c->n_heads / c->n_kv_heads * d;
  const float *x = w->fused;
  if (!c->qkv_grouped) {
    w->e->k->split(w->e, x, w->n, 3, w->q_width, (float *[]) { w->q, w->k, w->v });
    return;
  }
  for (size_t i = 0; i < w->n * c->n_kv_heads; i++, x += queries + 2 * d) {
    memcpy(w->q + i * queries, x, queries * sizeof *x);
    memcpy(w->k + i * d, x + queries, d * sizeof *x);
    memcpy(w->v + i * d, x + queries + d, d * sizeof *x);
  }
}

/* Usually all heads share one norm, and each is as long as a head. In a wide one all heads of a row
   are one vector. Where each head has gains of its own, the kernel norms without any, and the gains
   come after it; the result is the same, since a gain is the last factor anyway. */
static void norm_heads(const struct work *w, const struct norm *g, float *x,
  size_t heads)
{
  const struct model_config *c = &w->lm->config;
  const struct kernels *k = w->e->k;
  size_t n = w->n, d = c->head_dim;
  struct norm bare = *g;
  bare.gain.data = NULL;
  if (c->qk_norm_wide) k->normalize(w->e, g, x, n, heads * d, x);
  else if (!c->qk_norm_each) k->normalize(w->e, g, x, n * heads, d, x);
  else {
    k->normalize(w->e, &bare, x, n * heads, d, x);
    for (size_t i = 0; i < n * heads * d; i++)
      x[i] *= tensor_number(g->gain, i % (heads * d));
  }
}

void work_norm_heads(struct work *w, const struct model_layer *l)
{
  norm_heads(w, &l->q_norm, w->q, w->lm->config.n_heads);
  norm_heads(w, &l->k_norm, w->k, w->lm->config.n_kv_heads);
}

/* Some models turn the first numbers of each head only. The kernel knows whole heads; so the parts that
   turn are put side by side, turned, and put back. There is room for them where attention will leave its
   result. */
static void rotate(const struct work *w, float *x, size_t heads, int which)
{
  const struct model_config *c = &w->lm->config;
  size_t d = c->head_dim, part = config_rotary(c), all = w->n * heads;
  const float *cosine = w->cosine[which], *sine = w->sine[which];
  if (part == d) {
    w->e->k->rotate(w->e, x, w->n, heads, d / 2, cosine, sine);
    return;
  }
  for (size_t i = 0; i < all; i++)
    memcpy(w->mixed + i * part, x + i * d, part * sizeof *x);
  w->e->k->rotate(w->e, w->mixed, w->n, heads, part / 2, cosine, sine);
  for (size_t i = 0; i < all; i++)
    memcpy(x + i * d, w->mixed + i * part, part * sizeof *x);
}

/* 1 up to the length of the first training, and then a step more for each such length: the more keys a
   query meets, the sharper it asks. */
static void grow_queries(const struct work *w)
{
  const struct model_config *c = &w->lm->config;
  for (size_t r = 0; r < w->n && c->query_growth > 0; r++) {
    double lengths = floor((double) w->position[r] / c->rope.original);
    float by = (float) (1 + c->query_growth * num_log(1 + lengths));
    for (size_t i = 0; i < w->q_width; i++) w->q[r * w->q_width + i] *= by;
  }
}

void work_rotate(struct work *w, uint32_t layer)
{
  const struct model_config *c = &w->lm->config;
  int which = config_turns_locally(c, layer);
  if (config_turns(c, layer)) {
    rotate(w, w->q, c->n_heads, which);
    rotate(w, w->k, c->n_kv_heads, which);
  }
  grow_queries(w);
}

/* What a half of a layer adds, before it is added. */
void work_branch(struct work *w, const struct norm *post)
{
  const struct model_config *c = &w->lm->config;
  size_t d = c->d_model;
  if (c->post_norms) w->e->k->normalize(w->e, post, w->added, w->n, d, w->added);
  work_scale(w, w->added, d, c->residual_scale);
}

void logits_finish(const struct model_config *c, float *logits, size_t n)
{
  float by = (float) c->logit_scale, cap = (float) c->logit_cap;
  for (size_t i = 0; i < n && by != 0; i++) logits[i] *= by;
  for (size_t i = 0; i < n && cap != 0; i++) logits[i] = cap * num_tanhf(logits[i] / cap);
}
