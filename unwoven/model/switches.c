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

/* Rows that are neighbours in the pass and belong to texts of the same kind have their angles together. */
static void long_angles(struct work *w)
{
  const struct model *lm = w->lm;
  const struct row *rows = w->s->rows;
  size_t half = config_rotary(&lm->config) / 2, end;
  for (size_t r = 0; r < w->n; r = end) {
    bool is_long = w->s->stretched[rows[r].sequence];
    for (end = r + 1; end < w->n; end++)
      if (w->s->stretched[rows[end].sequence] != is_long) break;
    if (is_long) w->e->k->angles(w->e, w->position + r, end - r, lm->long_frequency, half,
      (float) rope_attention(&lm->config.rope), w->cosine[0] + r * half, w->sine[0] + r * half);
  }
}

/* A model with a second base for its windows has a second set of angles. They are never
   slowed, so their cosines and sines are multiplied by nothing. */
void work_other_angles(struct work *w)
{
  const struct model *lm = w->lm;
  if (lm->long_frequency != NULL) long_angles(w);
  if (lm->local_frequency == NULL) return;
  w->e->k->angles(w->e, w->position, w->n, lm->local_frequency,
    config_rotary(&lm->config) / 2, 1, w->cosine[1], w->sine[1]);
}

/* The rows that a sequence will have after the pass, if the pass is well formed; the store refuses others
   later, and nothing must have happened by then. */
static size_t length_after(const struct store *s, const struct row *rows, size_t n, uint32_t sequence)
{
  size_t length = store_length(s, sequence), after = length, last = 0;
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence == sequence) {
      after++;
      if (rows[i].position >= last) last = (size_t) rows[i].position + 1;
    }
  return last == after && after <= s->n_positions ? after : length;
}

/* All rows of a sequence once more, some at a time, with the other angles. If it fails in the middle,
   the sequence is shorter than it was, and all that it has is right. */
static bool turn_sequence(struct engine *e, const struct model *lm, struct store *s,
  uint32_t sequence, forward_fn *forward, struct error *why)
{
  enum { AT_ONCE = 256 };
  size_t n = store_length(s, sequence), bytes = n * sizeof (uint32_t);
  uint32_t *token = memory_alloc(s->m, MEMORY_TOKENS, n, sizeof *token, why);
  struct row *rows = memory_alloc(s->m, MEMORY_TOKENS, AT_ONCE, sizeof *rows, why);
  bool ok = token != NULL && rows != NULL;
  if (ok) memcpy(token, store_tokens(s, sequence), bytes), store_crop(s, sequence, 0);
  for (size_t at = 0, here; ok && at < n; at += here) {
    struct pass *p;
    here = n - at < AT_ONCE ? n - at : AT_ONCE;
    for (size_t i = 0; i < here; i++)
      rows[i] = (struct row) { sequence, (uint32_t) (at + i), token[at + i] };
    ok = forward(e, lm, s, rows, here, &p, why);
    pass_close(p);
  }
  memory_free(s->m, token);
  memory_free(s->m, rows);
  return ok;
}

/* Which angles a key has depends on the length of the whole text, as it is after the pass.
   Keys that an earlier pass has turned for the other length are no use; so the text's rows
   are computed anew, and the store holds what it would hold if the whole text had come in
   one pass. A text that was cut back goes the other way. The passes in between are of a text
   that is still shorter, and must not turn it back. */
bool work_turn_anew(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, forward_fn *forward, struct error *why)
{
  if (s->stretched == NULL || s->turning) return true;
  for (size_t i = 0; i < n; i++) {
    uint32_t q = rows[i].sequence;
    size_t length = q < s->n_sequences ? store_length(s, q) : 0;
    if (q >= s->n_sequences || s->n_rows > 0 || rows[i].position != length) continue;
    bool is_long = length_after(s, rows, n, q) > lm->config.rope.original;
    bool was = s->stretched[q];
    s->stretched[q] = is_long;
    if (length == 0 || was == is_long) continue;
    s->turning = true;
    bool ok = turn_sequence(e, lm, s, q, forward, why);
    s->turning = false;
    if (!ok) return false;
  }
  return true;
}

/* A model without norms before the halves of its layers hands the stream itself to the
   matrices. It is copied, since the matrices of one half read it while it waits for what
   they add. */
void work_norm(struct work *w, const struct norm *g, float *y)
{
  const struct buffers *b = w->memory;
  size_t d = w->lm->config.d_model;
  if (w->lm->config.bare_branches) b->copy(b, y, w->x, w->n * d * sizeof *y);
  else w->e->k->normalize(w->e, g, w->x, w->n, d, y);
}

/* Stored by head of keys: its queries, its key, its value. With a single head of keys that
   is all queries, then the key, then the value. */
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

/* Usually all heads share one norm, and each is as long as a head. In a wide one all heads
   of a row are one vector. Where each head has gains of its own, the kernel norms without
   any, and the gains come after it; the result is the same, since a gain is the last factor
   anyway. */
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

/* A number that is none stays none: no comparison is true of it. */
static void limit(float *x, size_t n, float most)
{
  for (size_t i = 0; i < n && most > 0; i++) {
    if (x[i] > most) x[i] = most;
    if (x[i] < -most) x[i] = -most;
  }
}

void work_norm_heads(struct work *w, const struct model_layer *l)
{
  const struct model_config *c = &w->lm->config;
  norm_heads(w, &l->q_norm, w->q, c->n_heads);
  norm_heads(w, &l->k_norm, w->k, c->n_kv_heads);
  limit(w->q, w->n * w->q_width, (float) c->qkv_cap);
  limit(w->k, w->n * w->kv_width, (float) c->qkv_cap);
  limit(w->v, w->n * w->kv_width, (float) c->qkv_cap);
}

/* Some models turn the first numbers of each head only. The kernel knows whole heads; so the
   parts that turn are put side by side, turned, and put back. There is room for them where
   attention will leave its result. */
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

/* 1 up to the length of the first training, and then a step more for each such length: the
   more keys a query meets, the sharper it asks. */
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

/* A number that is none stays none: no comparison is true of it. What is read is never behind what is
   written, so a result may take the place of its operands. */
static void clamped_gate(const struct model_config *c, const float *gate, const float *up,
  size_t step, size_t n, float *y)
{
  float alpha = (float) c->swiglu_alpha, most = (float) c->swiglu_limit;
  for (size_t i = 0; i < n; i++) {
    float g = gate[i * step], u = up[i * step];
    if (g > most) g = most;
    if (u > most) u = most;
    if (u < -most) u = -most;
    y[i] = (u + 1) * (g / (1.0f + num_expf(-(alpha * g))));
  }
}

/* With pairs, inner has gate and up of each number as neighbours, and goes on into the array of ups, which
   comes next in memory. */
void work_gate(struct work *w, bool pairs, size_t n)
{
  const struct model_config *c = &w->lm->config;
  float *gate = w->inner, *up = pairs ? gate + 1 : w->up;
  if (c->swiglu_alpha > 0) clamped_gate(c, gate, up, pairs ? 2 : 1, n, gate);
  else w->e->k->activate(w->e, c->activation, gate, up, n, gate);
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
