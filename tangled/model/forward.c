/* forward.c -- made from chapters/02-model.w; change it there */

#include <inttypes.h>
#include <string.h>
#include "model/forward.h"
#include "safetensors/tensor_file.h"

/* <The arrays of a pass> */
enum { N_ARRAYS = 11, N_LENT = 4 };

/* where its address goes; numbers a row */
struct pass_array { float **at; size_t width; };
struct work {
  struct engine *e; struct store *s; struct pass *p;
  const struct model *lm; const struct watcher *watch;
  const struct buffers *memory; struct arena *d;
  size_t n, q_width, kv_width, max_seen;
  struct float_modes modes; /* the caller's */
  float *x; /* the residual stream, p->hidden */
  float *normed, *fused, *q, *k, *v, *mixed, *added, *inner, *up; /* [n][...] */
  float *cosine, *sine; /* [n][head_dim/2] */
  float *scratch, *weights; /* for attention */
  uint32_t *first_bad; /* [n], as p->first_bad_layer, in memory */
  void *lent[N_LENT]; int n_lent; /* what is not from the arena */
  float *shown; /* the host's copy of an array for the watcher */
  uint32_t *id, *position;
  struct segment *seen; size_t n_seen; /* at most n */
  size_t done; /* how far the pass is, for progress: of n rows, in proportion to the layers done */
  bool goes_on; /* the pass has not been given up */
};

/* <Allocate an array in the memory of the backend> */
static void *work_array(struct work *w, size_t count, size_t size, struct error *why)
{
  const struct buffers *b = w->memory;
  if (b->is_host)
    return arena_alloc(w->d, MEMORY_ACTIVATIONS, count, size, why);
  void *p = w->d->refused ? NULL
    : b->alloc(b, w->s->m, MEMORY_ACTIVATIONS, count, size, why);
  if (p == NULL) w->d->refused = true;
  else w->lent[w->n_lent++] = p;
  return p;
}

static void work_release(struct work *w)
{
  while (w->n_lent > 0)
    w->memory->release(w->memory, w->s->m, w->lent[--w->n_lent]);
}

/* <Reserve a workspace for linear layers> */
static bool reserve_room(const struct work *w, struct error *why)
{
  const struct kernels *k = w->e->k;
  const struct model_layer *l = &w->lm->layers[0];
  size_t n = w->n, most = k->room(l->qkv, l->n_qkv, n);
  size_t others[] = { k->room(&l->out, 1, n), k->room(l->up, l->n_up, n),
    k->room(&l->down, 1, n) };
  for (int i = 0; i < 3; i++)
    if (others[i] > most) most = others[i];
  return pool_reserve(w->e->pool, most, why);
}

/* <Allocate the arrays of a pass> */
static bool work_alloc(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, half = c->head_dim / 2;
  w->q_width = (size_t) c->n_heads * c->head_dim;
  w->kv_width = (size_t) c->n_kv_heads * c->head_dim;
  bool fused = w->lm->layers[0].n_qkv == 1, gated = w->lm->layers[0].n_up == 2;
  struct pass_array part[N_ARRAYS] = { { &w->normed, c->d_model },
    { &w->fused, fused ? 3 * w->q_width : 0 }, { &w->q, w->q_width },
    { &w->k, w->kv_width }, { &w->v, w->kv_width }, { &w->mixed, w->q_width },
    { &w->added, c->d_model }, { &w->inner, c->d_inner },
    { &w->up, gated ? c->d_inner : 0 }, { &w->cosine, half }, { &w->sine, half } };
  size_t width = 0;
  for (int i = 0; i < N_ARRAYS; i++) width += part[i].width;
  float *rows = work_array(w, n, width * sizeof *rows, why);
  for (int i = 0; i < N_ARRAYS && rows != NULL; i++) {
    *part[i].at = rows;
    rows += n * part[i].width;
  }
  /* <Take what places and attention need> */
    enum memory_class what = MEMORY_ACTIVATIONS;
    w->id = arena_alloc(w->d, what, n, sizeof *w->id, why);
    w->position = arena_alloc(w->d, what, n, sizeof *w->position, why);
    w->seen = arena_alloc(w->d, what, n, sizeof *w->seen, why);
    w->scratch = work_array(w, pool_workers(w->e->pool),
      kernels_scratch(&w->lm->attention, w->max_seen) * sizeof (float), why);
    bool weights = w->watch != NULL && w->watch->weights;
    size_t all = n * c->n_heads, wide = w->max_seen * sizeof (float);
    w->weights = weights ? work_array(w, all, wide, why) : NULL;
    /* <Take what only a pass in other memory needs> */
      w->first_bad = w->p->first_bad_layer;
      if (!w->memory->is_host) {
        size_t shown[] = { c->d_model, c->d_inner, w->q_width, w->kv_width,
          weights ? c->n_heads * w->max_seen : 0 }, most = 0;
        for (int i = 0; i < 5; i++)
          if (shown[i] > most) most = shown[i];
        w->first_bad = work_array(w, n, sizeof *w->first_bad, why);
        if (w->watch != NULL)
          w->shown = arena_alloc(w->d, what, n, most * sizeof (float), why);
      }
  return !w->d->refused && reserve_room(w, why);
}

/* <Show the watcher a stage> */
static void tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width)
{
  const struct buffers *b = w->memory;
  size_t bytes = w->n * width * sizeof *x;
  if (w->watch == NULL) return;
  if (!b->is_host) b->get(b, w->shown, x, bytes);
  float_modes_end(&w->modes);
  w->watch->tap(w->watch->ctx, point, layer, b->is_host ? x : w->shown, w->n, width);
  float_modes_begin(&w->modes);
  if (!b->is_host) b->set(b, x, w->shown, bytes);
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
  uint64_t bytes = weight_row_bytes(lm->embedding.type, d);
  if (lm->config.learned_positions) {
    k->embed(w->e, lm->positions, d, w->position, w->n, w->added);
    k->add(w->e, w->x, w->added, w->n * d);
    bytes += weight_row_bytes(lm->positions.type, d);
  }
  else k->angles(w->e, w->position, w->n, lm->frequency,
    lm->config.head_dim / 2, (float) rope_attention(&lm->config.rope),
    w->cosine, w->sine);
  w->e->c->weight_bytes_read += w->n * bytes;
  tap(w, TAP_EMBEDDING, 0, w->x, d);
}

/* <Multiply, some rows at a time> */
enum { ROWS_AT_ONCE = 64, MADDS_AT_ONCE = 1000000000 };
static size_t rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from)
{
  size_t left = w->n - from, most = 0;
  for (size_t i = 0; i < n; i++) most += list[i].in * list[i].out;
  most = MADDS_AT_ONCE / most;
  if (most < ROWS_AT_ONCE) most = ROWS_AT_ONCE;
  return w->e->progress == NULL || left < most ? left : most;
}

static size_t segments_at_once(const struct work *w, size_t from)
{
  size_t k = from, rows = 0;
  if (w->e->progress == NULL) return w->n_seen - from;
  while (k < w->n_seen && (rows += w->seen[k].n_rows) <= ROWS_AT_ONCE) k++;
  return k - from;
}

static void ask_to_go_on(struct work *w)
{
  w->goes_on = w->goes_on && progress_tell(w->e->progress, w->done, w->n);
}

static void multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y)
{
  for (size_t r = 0, here; r < w->n && w->goes_on; r += here) {
    float *part[3];
    here = rows_at_once(w, list, n, r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    w->e->k->linear(w->e, list, n, x + r * list->in, here, part);
    ask_to_go_on(w);
  }
}

/* <Project to queries, keys and values> */
static void project_qkv(struct work *w, const struct model_layer *l)
{
  if (l->n_qkv == 3) {
    multiply(w, l->qkv, 3, w->normed,
      (float *[]) { w->q, w->k, w->v });
    return;
  }
  multiply(w, l->qkv, 1, w->normed, (float *[]) { w->fused });
  w->e->k->split(w->e, w->fused, w->n, 3, w->q_width,
    (float *[]) { w->q, w->k, w->v });
}

/* <Norm and turn queries and keys> */
static void rotate_qk(struct work *w, const struct model_layer *l)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->head_dim;
  if (l->q_norm.gain.data != NULL) {
    k->normalize(w->e, &l->q_norm, w->q, n * c->n_heads, d, w->q);
    k->normalize(w->e, &l->k_norm, w->k, n * c->n_kv_heads, d, w->k);
  }
  if (c->learned_positions) return;
  k->rotate(w->e, w->q, n, c->n_heads, d / 2, w->cosine, w->sine);
  k->rotate(w->e, w->k, n, c->n_kv_heads, d / 2, w->cosine, w->sine);
}

/* <Let every row attend> */
static void attend_rows(struct work *w, uint32_t i)
{
  struct counters *c = w->e->c;
  /* <Store the layer's keys and values, and show the segments theirs> */
    w->n_seen = store_segments(w->s, i,
      w->e->progress == NULL ? w->n : ROWS_AT_ONCE, w->seen);
    w->e->k->write(w->e, &w->lm->attention, w->seen, w->n_seen, w->s->encode, w->k, w->v);
    uint64_t pairs = 0;
    for (size_t k = 0; k < w->n_seen; k++)
      for (uint32_t r = 0; r < w->seen[k].n_rows; r++) {
        struct kv_range see = segment_range(&w->seen[k], r);
        pairs += see.hi - see.lo + see.sinks;
      }
  struct attention_dims h = w->lm->attention;
  if (w->lm->config.scaled_by_layer) h.scale /= (float) (i + 1);
  struct attention_probe probe = { w->weights, w->max_seen };
  bool weights = w->watch != NULL && w->watch->weights;
  /* <Attend, some rows at a time> */
    for (size_t k = 0, here; k < w->n_seen && w->goes_on; k += here) {
      here = segments_at_once(w, k);
      w->e->k->attend(w->e, &h, w->q, w->seen + k, here, w->scratch, w->mixed,
        weights ? &probe : NULL);
      ask_to_go_on(w);
    }
  /* <Count what the layer's attention has cost> */
    if (i == 0) c->qk_pairs += pairs;
    c->madds_attention += 2 * w->q_width * pairs;
    c->cache_bytes_written += w->n * w->s->row_bytes;
    c->cache_bytes_read += w->s->rows_visible * w->s->row_bytes;
  if (weights)
    tap(w, TAP_WEIGHTS, i, w->weights,
      w->lm->config.n_heads * w->max_seen);
}

/* <Pass through attention> */
static void attention_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  size_t d = w->lm->config.d_model;
  k->normalize(w->e, &l->attn_norm, w->x, w->n, d, w->normed);
  tap(w, TAP_NORM, i, w->normed, d);
  project_qkv(w, l);
  rotate_qk(w, l);
  tap(w, TAP_QUERY, i, w->q, w->q_width);
  tap(w, TAP_KEY, i, w->k, w->kv_width);
  tap(w, TAP_VALUE, i, w->v, w->kv_width);
  attend_rows(w, i);
  tap(w, TAP_MIXED, i, w->mixed, w->q_width);
  multiply(w, &l->out, 1, w->mixed, (float *[]) { w->added });
  tap(w, TAP_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}

/* <Pass through the MLP> */
static void mlp_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  k->normalize(w->e, &l->mlp_norm, w->x, n, d, w->normed);
  tap(w, TAP_MLP_NORM, i, w->normed, d);
  multiply(w, l->up, l->n_up, w->normed,
    (float *[]) { w->inner, w->up });
  k->activate(w->e, c->activation, w->inner, c->gated ? w->up : NULL,
    n * c->d_inner, w->inner);
  tap(w, TAP_INNER, i, w->inner, c->d_inner);
  multiply(w, &l->down, 1, w->inner, (float *[]) { w->added });
  tap(w, TAP_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  tap(w, TAP_LAYER, i, w->x, d);
}

/* <Whole passes> */

/* <Note the rows that are no longer finite> */
static void note_nonfinite(struct work *w, uint32_t behind)
{
  w->e->k->mark_nonfinite(w->e, w->x, w->n, w->lm->config.d_model, behind, PASS_FINITE,
    w->first_bad);
}

/* <Put the rows through all layers> */
static void work_run(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  w->goes_on = true;
  const struct buffers *b = w->memory;
  size_t marks = w->n * sizeof *w->first_bad;
  if (!b->is_host) b->set(b, w->first_bad, w->p->first_bad_layer, marks);
  embed_rows(w, rows);
  note_nonfinite(w, 0);
  for (uint32_t i = 0; i < lm->config.n_layers && w->goes_on; i++) {
    w->done = w->n * i / lm->config.n_layers;
    attention_block(w, &lm->layers[i], i);
    mlp_block(w, &lm->layers[i], i);
    note_nonfinite(w, i + 1);
  }
  if (!b->is_host) b->get(b, w->p->first_bad_layer, w->first_bad, marks);
  c->passes++, c->rows += w->n;
  c->kv_rows_computed += w->n, c->kv_rows_recomputed += w->s->rows_recomputed;
  c->madds_linear += w->n * lm->layer_madds;
  c->weight_bytes_read += lm->layer_bytes;
}

/* <Check the ids, and find the longest view> */
static bool rows_check(const struct model *lm, const struct row *rows, size_t n,
  size_t *max_len, struct error *why)
{
  *max_len = 1;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].token >= lm->config.vocab_size)
      return error_say(why, "the token of row %zu is %" PRIu32 "; wanted:"
        " below %" PRIu32 ", the size of the vocabulary", i, rows[i].token,
        lm->config.vocab_size);
    if (rows[i].position >= *max_len) *max_len = (size_t) rows[i].position + 1;
  }
  return true;
}

/* <Open and close a pass> */
static struct pass *pass_open(struct memory *m, const struct buffers *b, size_t n,
  uint32_t d_model, struct error *why)
{
  struct pass *p = memory_alloc(m, MEMORY_ACTIVATIONS, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  *p = (struct pass) { .m = m, .memory = b, .n = n, .d_model = d_model };
  p->hidden = b->alloc(b, m, MEMORY_ACTIVATIONS, n, d_model * sizeof(float), why);
  if (p->hidden != NULL)
    p->first_bad_layer = memory_alloc(m, MEMORY_ACTIVATIONS, n,
      sizeof *p->first_bad_layer, why);
  for (size_t i = 0; p->first_bad_layer != NULL && i < n; i++) p->first_bad_layer[i]
    = PASS_FINITE;
  if (p->first_bad_layer != NULL) return p;
  pass_close(p);
  return NULL;
}

void pass_close(struct pass *p)
{
  if (p == NULL) return;
  memory_free(p->m, p->first_bad_layer);
  p->memory->release(p->memory, p->m, p->hidden);
  memory_free(p->m, p);
}

/* <Compare the memories of kernels and store> */
static bool same_memory(const struct engine *e, const struct store *s,
  struct error *why)
{
  if (s->memory == e->k->memory) return true;
  return error_say(why, "the store's keys and values are not in the memory of the"
    " kernels %s; wanted: a store that was opened for these kernels", e->k->name);
}

/* <Run a pass before a watcher> */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why)
{
  struct work w = { .e = e, .lm = lm, .s = s, .watch = watch, .n = n,
    .memory = e->k->memory };
  struct arena own = { .m = s->m }, *kept = pool_arena(e->pool, s->m);
  *made = NULL;
  float_modes_begin(&w.modes);
  w.d = kept != NULL ? kept : &own;
  bool ok = kernels_self_test(e->k, why) && kernels_check_types(e->k,
      lm->matrix_types, tensor_file_path(lm->weights), why)
    && same_memory(e, s, why) && rows_check(lm, rows, n, &w.max_seen, why)
    && store_begin(s, rows, n, why);
  if (ok) {
    w.p = pass_open(s->m, w.memory, n, lm->config.d_model, why);
    ok = w.p != NULL && work_alloc(&w, why);
    /* <Do the work, or let it not have been> */
      if (ok) {
        struct counters before = *e->c;
        w.x = w.p->hidden;
        work_run(&w, rows);
        ok = w.goes_on || error_say(why,
          "the pass was given up after %zu of %zu rows", w.done, n);
        if (!ok) *e->c = before;
      }
      if (ok) {
        store_commit(s);
        *made = w.p;
      }
      else {
        store_abort(s);
        pass_close(w.p);
      }
    work_release(&w);
    arena_free(&own);
    if (kept != NULL) arena_reset(kept);
  }
  float_modes_end(&w.modes);
  return ok;
}

/* <Run a pass with nobody watching> */
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why)
{ return model_forward_watched(e, lm, s, rows, n, NULL, made, why); }

/* <Say where a row stopped being finite> */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why)
{
  uint32_t at = p->first_bad_layer[i];
  if (at == PASS_FINITE) return true;
  if (at == 0)
    return error_say(why, "%s: the embedding of row %zu is not finite;"
      " wanted: finite logits", tensor_file_path(lm->weights), i);
  return error_say(why, "%s: row %zu is not finite behind" " layer %" PRIu32
    " of %" PRIu32 "; wanted: finite logits", tensor_file_path(lm->weights), i, at,
    lm->config.n_layers);
}

/* <Make logits of the rows that are wanted> */
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
    e->k->linear(e, &lm->head, 1, x, n, &y);
    if (!b->is_host) b->get(b, logits, y, n * v * sizeof *y);
    float_modes_end(&modes);
  }
  if (!b->is_host) b->release(b, p->m, y);
  b->release(b, p->m, x);
  if (!ok) return false;
  e->c->madds_head += (uint64_t) n * d * lm->config.vocab_size;
  if (!p->head_read) e->c->weight_bytes_read += lm->head_bytes;
  p->head_read = true;
  return true;
}

/* <Evaluate ids from an empty store> */
static bool naive_pass(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, struct pass **p, struct error *why)
{
  *p = NULL;
  if (n > s->n_positions)
    return error_say(why, "the text has %zu tokens;" " wanted: at most %" PRIu32
      ", the model's context", n, s->n_positions);
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
      return error_say(why, "%s: the logit of token" " %" PRIu32
        " behind row %zu is not finite;" " wanted: a number",
        tensor_file_path(lm->weights), v, i);
  e->k->log_softmax(e, logits, 1, vocab, logprob);
  logprob[0] = logprob[next];
  return true;
}

/* <Evaluate a text and add up> */
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
