/* forward.c -- one forward pass, and the logits of its rows.
   made from chapters/02-model.w; change it there

   Each step calls kernels through the table of the engine and knows nothing of how
   they work, nor of where the store keeps its rows. What surrounds the steps, checks
   and arrays and watchers, is in pass.c, which never calls back. Counters are
   increased where the cost is paid. */

#include <inttypes.h>
#include <string.h>
#include "model/work.h"
#include "safetensors/tensor_file.h"

/* <Multiply all rows, some at a time> */
static void work_multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y)
{
  for (size_t r = 0, here; r < w->n && w->goes_on; r += here) {
    float *part[3];
    here = work_rows_at_once(w, list, n, r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    kernels_multiply(w->e, list, n, x + r * list->in, here, part);
    work_ask(w);
  }
}

/* <Turn ids into rows> */
static void embed_rows(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  const struct kernels *k = w->e->k;
  size_t d = lm->config.d_model;
  for (size_t i = 0; i < w->n; i++)
    w->id[i] = rows[i].token, w->position[i] = rows[i].position;
  k->embed(w->e, lm->embedding, d, w->id, w->n, w->x);
  work_scale(w, w->x, d, lm->config.embedding_scale);
  uint64_t bytes = weight_row_bytes(lm->embedding.type, d);
  if (lm->config.learned_positions) {
    k->embed(w->e, lm->positions, d, w->position, w->n, w->added);
    k->add(w->e, w->x, w->added, w->n * d);
    bytes += weight_row_bytes(lm->positions.type, d);
  }
  else {
    k->angles(w->e, w->position, w->n, lm->frequency,
      config_rotary(&lm->config) / 2, (float) rope_attention(&lm->config.rope),
      w->cosine[0], w->sine[0]);
    work_other_angles(w);
  }
  w->e->c->weight_bytes_read += w->n * bytes;
  work_tap(w, TAP_EMBEDDING, 0, w->x, d);
}

/* <The first half of a layer: attention> */
static void project_qkv(struct work *w, const struct model_layer *l)
{
  if (l->n_qkv == 3) {
    work_multiply(w, l->qkv, 3, w->normed,
      (float *[]) { w->q, w->k, w->v });
    return;
  }
  work_multiply(w, l->qkv, 1, w->normed, (float *[]) { w->fused });
  work_split(w);
}

static void rotate_qk(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct model_config *c = &w->lm->config;
  if (l->q_norm.gain.data != NULL) work_norm_heads(w, l);
  if (w->lm->neighbours) work_gather_pairs(w);
  if (c->learned_positions) return;
  work_rotate(w, i);
}

static void attend_rows(struct work *w, uint32_t i)
{
  struct counters *c = w->e->c;
  /* <Store the layer's keys and values where its segments say> */
    work_segments(w, i);
    w->e->k->write(w->e, &w->lm->attention, w->seen, w->n_seen, w->s->encode, w->k, w->v);
    uint64_t pairs = 0;
    for (size_t k = 0; k < w->n_seen; k++)
      for (uint32_t r = 0; r < w->seen[k].n_rows; r++) {
        struct kv_range see = segment_range(&w->seen[k], r);
        pairs += see.hi - see.lo + see.sinks;
      }
  struct attention_dims h = w->lm->attention;
  h.sink = w->lm->layers[i].sink;
  if (w->lm->config.scaled_by_layer) h.scale /= (float) (i + 1);
  bool weights = w->watch != NULL && w->watch->weights;
  work_attend(w, &h, weights);
  /* <Count what the layer's attention has cost> */
    if (i == 0) c->qk_pairs += pairs;
    c->madds_attention += 2 * w->q_width * pairs;
    c->cache_bytes_written += w->n * w->s->row_bytes;
    c->cache_bytes_read += w->s->rows_visible * w->s->row_bytes;
  if (weights)
    work_tap(w, TAP_WEIGHTS, i, w->weights,
      w->lm->config.n_heads * w->max_seen);
}

static void attention_block(struct work *w, const struct model_layer *l, uint32_t i)
{
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
  work_multiply(w, &l->out, 1, w->mixed, (float *[]) { w->added });
  work_branch(w, &l->attn_post);
  if (c->parallel && !c->shared_norm) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}

/* <The second half of a layer: the MLP> */
static void mlp_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  if (!c->parallel) work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_MLP_NORM, i, w->normed, d);
  work_multiply(w, l->up, l->n_up, w->normed,
    (float *[]) { w->inner, w->up });
  k->activate(w->e, c->activation, w->inner, c->gated ? w->up : NULL,
    n * c->d_inner, w->inner);
  work_tap(w, TAP_INNER, i, w->inner, c->d_inner);
  work_multiply(w, &l->down, 1, w->inner, (float *[]) { w->added });
  work_branch(w, &l->mlp_post);
  work_tap(w, TAP_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  work_tap(w, TAP_LAYER, i, w->x, d);
}

/* <Put the rows through all layers> */
static bool work_run(struct work *w, const struct row *rows, struct error *why)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  w->goes_on = true;
  embed_rows(w, rows);
  work_mark(w, 0);
  for (uint32_t i = 0; i < lm->config.n_layers && w->goes_on; i++) {
    w->done = w->n * i / lm->config.n_layers;
    attention_block(w, &lm->layers[i], i);
    if (lm->layers[i].experts != NULL) work_experts(w, &lm->layers[i], i);
    else mlp_block(w, &lm->layers[i], i);
    work_mark(w, i + 1);
  }
  if (!w->goes_on)
    return error_say(why,
      "the pass was given up after %zu of %zu rows", w->done, w->n);
  c->passes++, c->rows += w->n;
  c->kv_rows_computed += w->n, c->kv_rows_recomputed += w->s->rows_recomputed;
  c->madds_linear += w->n * lm->layer_madds;
  c->weight_bytes_read += lm->layer_bytes;
  return true;
}

/* <Run a pass> */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why)
{
  struct work w = { .e = e, .lm = lm, .s = s, .watch = watch, .n = n,
    .memory = e->k->memory };
  struct counters before = *e->c;
  bool begun, ok = false;
  *made = NULL;
  if (!work_turn_anew(e, lm, s, rows, n, model_forward, why)) return false;
  float_modes_begin(&w.modes);
  if (work_check(&w, rows, why)) {
    begun = work_open(&w, why) && store_begin(s, rows, n, why);
    ok = work_close(&w, begun && work_run(&w, rows, why), why);
    if (ok) { store_commit(s); *made = w.p; }
    else { if (begun) store_abort(s); pass_close(w.p); *e->c = before; }
  }
  float_modes_end(&w.modes);
  return ok;
}

bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why)
{ return model_forward_watched(e, lm, s, rows, n, NULL, made, why); }

/* <From hidden states to logits> */
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why)
{
  size_t d = p->d_model, v = lm->config.vocab_size;
  const struct buffers *b = p->memory;
  for (size_t i = 0; i < n; i++)
    if (which[i] >= p->n)
      return error_say(why, "logits of row %zu; wanted: a row below %zu",
        which[i], p->n);
  if (n == 0) return true;
  /* <Allocate x for the rows and y for their logits> */
  float *x = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, d * sizeof *x, why);
  float *y = b->is_host ? logits : NULL;
  if (x != NULL && !b->is_host)
    y = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, v * sizeof *y, why);
  bool ok = x != NULL && y != NULL;
  if (ok) {
    struct float_modes modes;
    float_modes_begin(&modes);
    e->k->gather(e, p->hidden, d, which, n, x);
    e->k->normalize(e, &lm->final_norm, x, n, d, x);
    kernels_multiply(e, &lm->head, 1, x, n, &y);
    if (!b->is_host) b->get(b, logits, y, n * v * sizeof *y);
    logits_finish(&lm->config, logits, n * v);
    float_modes_end(&modes);
    ok = b->working(b, why);
  }
  if (!b->is_host) b->release(b, p->m, y);
  b->release(b, p->m, x);
  if (!ok) return false;
  e->c->madds_head += (uint64_t) n * d * lm->config.vocab_size;
  if (!p->head_read) e->c->weight_bytes_read += lm->head_bytes;
  p->head_read = true;
  return true;
}

static bool naive_pass(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, struct pass **p, struct error *why)
{
  *p = NULL;
  if (n > s->n_positions)
    return error_say(why, "the text has %zu tokens; wanted: at most %"
      PRIu32 ", the model's context", n, s->n_positions);
  struct row *rows = memory_alloc(s->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { 0, (uint32_t) i, ids[i] };
  store_clear(s);
  bool ok = model_forward(e, lm, s, rows, n, p, why);
  memory_free(s->m, rows);
  return ok;
}

bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why)
{
  struct pass *p;
  bool ok = naive_pass(e, lm, s, ids, n, &p, why)
    && model_logits(e, lm, p, which, wanted, logits, why);
  pass_close(p);
  return ok;
}

/* <Add up the log-probabilities of a text> */
static bool one_logprob(struct engine *e, const struct model *lm, struct pass *p,
  size_t i, uint32_t next, float *logits, double *logprob, struct error *why)
{
  uint32_t vocab = lm->config.vocab_size;
  if (!pass_is_finite(lm, p, i, why) || !model_logits(e, lm, p, &i, 1, logits, why))
    return false;
  for (uint32_t v = 0; v < vocab; v++)
    if (!(logits[v] - logits[v] == 0))
      return error_say(why, "%s: the logit of token %" PRIu32
        " after row %zu is not finite; wanted: a number",
        tensor_file_path(lm->weights), v, i);
  e->k->log_softmax(e, logits, 1, vocab, logprob);
  logprob[0] = logprob[next];
  return true;
}

bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why)
{
  struct pass *p = NULL;
  size_t vocab = lm->config.vocab_size;
  struct arena d = { .m = s->m };
  float *logits = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *logits, why);
  double *all = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *all, why);
  bool ok = !d.refused && naive_pass(e, lm, s, ids, n, &p, why);
  *sum = 0;
  if (ok) logprob[0] = 0;
  for (size_t i = 0; i + 1 < n && ok; i++) {
    ok = one_logprob(e, lm, p, i, ids[i + 1], logits, all, why);
    if (ok) logprob[i + 1] = all[0], *sum += all[0];
  }
  pass_close(p);
  arena_free(&d);
  return ok;
}
