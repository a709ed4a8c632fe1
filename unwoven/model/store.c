/* store.c -- what all kinds of store have in common.

   What can be refused without knowing the kind is refused here, so no kind has to ask. Between
   passes n_rows is 0; a pass sets it in store_begin, and both ends of a pass clear it. What the
   rows of a pass see of a store is in segments.c (chapter 2). */

#include <inttypes.h>
#include "model/store.h"

/* The sequences are checked first, because everything else uses them as an index. */
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

/* -- calls that go on to the kind -- */

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

/* Refused here is what makes no sense in any store. */
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
  if (s->stretched != NULL) s->stretched[to] = s->stretched[from];
  return s->kind->fork(s, from, to, why);
}

/* The settings themselves are not kept, because they contain lists that belong to the model.
   row_bytes counts a key and a value in float32; a store of smaller numbers says less. */
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
  if (s->window != NULL && c->rope.kind == ROPE_LONG)
    s->stretched = memory_alloc(m, MEMORY_OTHER, n_sequences, sizeof *s->stretched, why);
  return s->window != NULL && (c->rope.kind != ROPE_LONG || s->stretched != NULL);
}

void store_close(struct store *s)
{
  if (s == NULL) return;
  memory_free(s->m, s->window);
  memory_free(s->m, s->stretched);
  s->kind->close(s);
}
