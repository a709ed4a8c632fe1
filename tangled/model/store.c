/* store.c -- made from workshop/20-inside.w; change it there */

#include <inttypes.h>
#include "model/store.h"

/* <Begin and end a pass of a store> */
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  if (n == 0 || s->n_rows > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
      : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= s->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"
        " below %" PRIu32, i, rows[i].sequence, s->n_sequences);
  s->rows = rows, s->n_rows = n;
  if (s->kind->begin(s, why)) return true;
  s->n_rows = 0;
  return false;
}

static void store_end(struct store *s, bool commit)
{
  s->kind->end(s, commit);
  s->n_rows = 0;
}

void store_commit(struct store *s) { store_end(s, true); }
void store_abort(struct store *s) { store_end(s, false); }

/* <Show a pass what its rows see> */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool windowed = window > 0 && position >= window;
  return windowed ? position - window + 1 : 0;
}

void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}

static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = s->n_rows;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    size_t start = store_window_start(s, layer, r->position);
    if (r->position == store_length(s, r->sequence))
      s->rows_visible += r->position - start + (s->sinks < start ? s->sinks : start);
  }
}

static bool continues(const struct segment *l, const struct row *before,
  const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}

size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && continues(&list[n - 1], &r[i - 1], &r[i])) {
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

/* <Pass the call on to the kind of store> */
size_t store_length(const struct store *s, uint32_t sequence)
{ return s->kind->length(s, sequence); }
const uint32_t *store_tokens(const struct store *s, uint32_t sequence)
{ return s->kind->tokens(s, sequence); }
void store_crop(struct store *s, uint32_t sequence, size_t length)
{ s->kind->crop(s, sequence, length); }
void store_clear(struct store *s)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) store_crop(s, i, 0);
}

bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why)
{
  if (s->kind->fork == NULL)
    return error_say(why, "this store cannot fork; wanted: a cache");
  uint32_t larger = from > to ? from : to;
  if (larger >= s->n_sequences)
    return error_say(why, "there is no sequence %" PRIu32 "; wanted: below %"
      PRIu32, larger, s->n_sequences);
  size_t length = store_length(s, to);
  if (s->n_rows > 0 || length > 0)
    return error_say(why, s->n_rows > 0 ? "the store is in a pass; wanted:"
      " its end" : "sequence %" PRIu32 " has %zu rows; wanted: none", to, length);
  return s->kind->fork(s, from, to, why);
}

/* <Prepare and close a store> */
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
  s->window = memory_alloc(m, MEMORY_OTHER, c->n_layers, sizeof *s->window, why);
  for (uint32_t i = 0; s->window != NULL && i < c->n_layers; i++)
    s->window[i] = config_window(c, i);
  return s->window != NULL;
}

void store_close(struct store *s)
{
  if (s == NULL) return;
  memory_free(s->m, s->window);
  s->kind->close(s);
}
