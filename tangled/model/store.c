/* store.c -- made from chapters/02-model.w; change it there */

#include <inttypes.h>
#include <string.h>
#include "model/store.h"

/* <Count the rows of a sequence that were computed before> */
static uint32_t token_at(const struct kv_batch *r, const struct kv_sequence *q,
  size_t k)
{ return r->rows[r->order[q->first + k] - 1].token; }
static size_t known(const struct kv_batch *r, const struct kv_sequence *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
      && q->token[q->length + k] == token_at(r, q, k))
    k++;
  return k;
}

/* <End the batch> */
static void batch_end(struct store *s, bool commit)
{
  struct kv_batch *r = &s->batch;
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    struct kv_sequence *q = &r->sequence[i];
    size_t old = commit ? known(r, q) : 0, end = q->length + q->count;
    for (size_t k = old; k < q->count && commit; k++)
      q->token[q->length + k] = token_at(r, q, k);
    if (commit && (old < q->count || q->computed < end)) q->computed = end;
    if (commit) q->length = end;
    q->count = 0;
  }
  memory_free(s->m, r->order);
  r->order = NULL, r->n = 0;
}

/* <Find a place for every row> */
static bool batch_order(struct store *s, struct error *why)
{
  struct kv_batch *batch = &s->batch;
  size_t first = 0;
  for (uint32_t q = 0; q < s->n_sequences; q++)
    batch->sequence[q].first = first, first += batch->sequence[q].count;
  for (size_t i = 0; i < batch->n; i++) {
    const struct row *r = &batch->rows[i];
    const struct kv_sequence *q = &batch->sequence[r->sequence];
    const char *wrong = NULL;
    /* <Find out what is wrong with the row's position> */
    if (r->position >= s->n_positions) wrong = "beyond the context";
    else if (r->position < q->length) wrong = "stored already";
    else if (r->position >= q->length + q->count) wrong = "behind a gap";
    else if (batch->order[q->first + r->position - q->length] != 0)
      wrong = "given twice";
    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"
        " wanted: from %zu on, below %u," " each once", r->position,
        r->sequence, wrong, q->length, s->n_positions);
    batch->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

/* <Make room for the tokens of the pass> */
size_t store_next_cap(size_t cap, size_t wanted, size_t max)
{
  size_t twice = cap <= max / 2 ? 2 * cap : max;
  return twice < wanted ? wanted : twice;
}

static bool batch_grow(struct store *s, struct error *why)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    struct kv_sequence *q = &s->batch.sequence[i];
    size_t wanted = q->length + q->count;
    if (wanted <= q->cap) continue;
    size_t cap = store_next_cap(q->cap, wanted, s->n_positions);
    uint32_t *token = memory_resize(s->m, MEMORY_TOKENS, q->token, cap, sizeof *token,
      why);
    if (token == NULL) return false;
    q->token = token, q->cap = cap;
  }
  return true;
}

/* <Begin the batch> */
static bool batch_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  struct kv_batch *r = &s->batch;
  /* <Refuse what cannot be a pass of this store> */
  if (n == 0 || r->n > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
      : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= s->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"
        " below %" PRIu32, i, rows[i].sequence, s->n_sequences);
  r->order = memory_alloc(s->m, MEMORY_ACTIVATIONS, n, sizeof *r->order, why);
  if (r->order == NULL) return false;
  r->rows = rows, r->n = n;
  for (size_t i = 0; i < n; i++) r->sequence[rows[i].sequence].count++;
  bool ok = batch_order(s, why) && batch_grow(s, why);
  s->rows_recomputed = 0;
  for (uint32_t i = 0; ok && i < s->n_sequences; i++)
    s->rows_recomputed += known(r, &r->sequence[i]);
  if (!ok) batch_end(s, false);
  return ok;
}

/* <Open and close the batch> */
static void batch_close(struct store *s)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    struct kv_sequence *q = &s->batch.sequence[i];
    memory_free(s->m, q->token);
  }
  memory_free(s->m, s->window);
  memory_free(s->m, s->batch.sequence);
}

bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why)
{
  *s = (struct store) { .kind = kind, .m = m, .sinks = c->sinks,
    .memory = &buffers_host, .encode = kv_encode_f32,
    .n_sequences = n_sequences, .n_positions = c->n_positions,
    .n_layers = c->n_layers, .n_kv_heads = c->n_kv_heads,
    .head_dim = c->head_dim,
    .row_bytes = 2 * sizeof(float) * c->n_kv_heads * c->head_dim };
  s->batch.sequence = memory_alloc(m, MEMORY_OTHER, n_sequences,
    sizeof *s->batch.sequence, why);
  if (s->batch.sequence == NULL) return false;
  s->window = memory_alloc(m, MEMORY_OTHER, c->n_layers, sizeof *s->window, why);
  if (s->window == NULL) batch_close(s);
  else for (uint32_t i = 0; i < c->n_layers; i++)
    s->window[i] = config_window(c, i);
  return s->window != NULL;
}

/* <Count the rows of the store that are seen> */
static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = 0;
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    const struct kv_sequence *q = &s->batch.sequence[i];
    size_t lo = store_window_start(s, layer, q->length), sinks = s->sinks;
    if (q->count > 0)
      s->rows_visible += q->length + q->count - lo + (sinks < lo ? sinks : lo);
  }
}

/* <Count the rows that are seen> */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool short_sighted = window > 0 && position >= window;
  return short_sighted ? position - window + 1 : 0;
}

void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}

static bool goes_on(const struct segment *l, const struct row *before, const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}

size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->batch.rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->batch.n; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && goes_on(&list[n - 1], &r[i - 1], &r[i])) {
      list[n - 1].n_rows++;
      continue;
    }
    struct segment *l = &list[n++];
    *l = (struct segment) { .first_row = (uint32_t) i, .n_rows = 1,
      .first_position = r[i].position, .window = s->window[layer] };
    store_view(s, layer, r[i].sequence, &l->view);
  }
  return n;
}

/* <Say how long a sequence is, and make it shorter> */
size_t store_length(const struct store *s, uint32_t sequence)
{ return s->batch.sequence[sequence].length; }
void store_crop(struct store *s, uint32_t sequence, size_t length)
{
  struct kv_sequence *q = &s->batch.sequence[sequence];
  if (length < q->length) q->length = length;
  if (s->kind->truncated != NULL) s->kind->truncated(s, sequence);
}

void store_clear(struct store *s)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) store_crop(s, i, 0);
}

/* <Fork a sequence of a store> */
static bool copy_tokens(struct store *s, uint32_t from, uint32_t to,
  struct error *why)
{
  uint32_t larger = from > to ? from : to;
  if (larger >= s->n_sequences)
    return error_say(why, "there is no sequence %" PRIu32 "; wanted: below %"
      PRIu32, larger, s->n_sequences);
  struct kv_sequence *a = &s->batch.sequence[from], *b = &s->batch.sequence[to];
  if (s->batch.n > 0 || b->length > 0)
    return error_say(why, s->batch.n > 0 ? "the store is in a pass; wanted:"
      " its end" : "sequence %" PRIu32 " has %zu rows; wanted: none", to,
      b->length);
  if (a->length > b->cap) {
    uint32_t *token = memory_resize(s->m, MEMORY_TOKENS, b->token, a->length,
      sizeof *token, why);
    if (token == NULL) return false;
    b->token = token, b->cap = a->length;
  }
  if (a->length > 0)
    memcpy(b->token, a->token, a->length * sizeof *a->token);
  b->length = b->computed = a->length;
  return true;
}

bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why)
{
  if (s->kind->fork == NULL)
    return error_say(why, "this store cannot fork; wanted: a cache");
  if (!copy_tokens(s, from, to, why)) return false;
  if (s->kind->fork(s, from, to, why)) return true;
  store_crop(s, to, 0);
  return false;
}

/* <Pass the call on to the kind of store> */
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  if (!batch_begin(s, rows, n, why)) return false;
  if (s->kind->reserve(s, why)) return true;
  batch_end(s, false);
  return false;
}

void store_commit(struct store *s) { batch_end(s, true); }
void store_abort(struct store *s) { batch_end(s, false); }
void store_close(struct store *s)
{
  if (s == NULL) return;
  batch_close(s);
  s->kind->close(s);
}

/* <What the plain store holds> */

/* [n_layers][2][cap][width] */
struct plain_block { float *data; size_t cap; };
struct plain_store {
  struct store common; /* must come first: a struct store * points here */
  size_t width;
  struct plain_block *sequence;
};

/* <Give a sequence a larger block> */
static bool plain_grow(struct plain_store *s, struct plain_block *b,
  size_t length, size_t cap, struct error *why)
{
  struct memory *m = s->common.m;
  size_t parts = 2 * s->common.n_layers, span = s->width * sizeof(float);
  float *data = memory_alloc(m, MEMORY_CACHE, cap, parts * span, why);
  if (data == NULL) return false;
  /* <Move each layer's rows to their new place> */
  for (size_t i = 0; i < parts && length > 0; i++)
    memcpy(data + i * cap * s->width, b->data + i * b->cap * s->width,
      length * span);
  memory_free(m, b->data);
  *b = (struct plain_block) { data, cap };
  return true;
}

/* <Make room for the rows of the pass> */
static bool plain_reserve(struct store *common, struct error *why)
{
  struct plain_store *s = (struct plain_store *) common;
  for (uint32_t i = 0; i < common->n_sequences; i++) {
    const struct kv_sequence *q = &common->batch.sequence[i];
    size_t wanted = q->length + q->count, cap = s->sequence[i].cap;
    if (wanted > cap && !plain_grow(s, &s->sequence[i], q->length,
      store_next_cap(cap, wanted, common->n_positions), why)) return false;
  }
  return true;
}

/* <Show what a row sees> */
static void plain_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  const struct plain_store *s = (const struct plain_store *) common;
  const struct plain_block *b = &s->sequence[sequence];
  const float *keys = b->data + 2 * layer * b->cap * s->width;
  *v = (struct kv_view) { .key = (uintptr_t) keys,
    .value = (uintptr_t) (keys + b->cap * s->width),
    .row_bytes = (uint32_t) (s->width * sizeof(float)),
    .head_bytes = common->head_dim * sizeof(float),
    .type = WEIGHT_F32 };
}

/* <Close a plain store> */
static void plain_close(struct store *common)
{
  struct plain_store *s = (struct plain_store *) common;
  struct memory *m = common->m;
  for (uint32_t i = 0; i < common->n_sequences; i++)
    memory_free(m, s->sequence[i].data);
  memory_free(m, s->sequence);
  memory_free(m, s);
}

/* <Open a plain store> */
struct store *store_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, struct error *why)
{
  static const struct store_kind kind = {
    .reserve = plain_reserve, .view = plain_view, .close = plain_close };
  struct plain_store *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  s->width = (size_t) c->n_kv_heads * c->head_dim;
  bool ok = store_prepare(&s->common, &kind, m, c, n_sequences, why);
  if (ok) s->sequence = memory_alloc(m, MEMORY_OTHER, n_sequences,
    sizeof *s->sequence, why);
  if (s->sequence != NULL) return &s->common;
  if (ok) batch_close(&s->common);
  memory_free(m, s);
  return NULL;
}
