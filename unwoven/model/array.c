/* array.c -- the simplest store: one text, in one array.

   Each layer has an array of keys and an array of values, in which position t has number t. All
   is allocated when the store is opened, for as many positions as the model has. There are two
   lengths: length rows count, and computed >= length tokens are remembered, even those of cropped
   rows, because the loop of chapter 3 asks how many rows of a pass have been computed before. It
   cannot fork: with one text there is nothing to copy to. */

#include <inttypes.h>
#include "model/store.h"

struct array_store {
  struct store common; /* must come first: a struct store * points here */
  size_t width; /* of a key: n_kv_heads * head_dim */
  float *data; /* [n_layers][2][n_positions][width] */
  size_t length, computed; /* rows that count; tokens that are remembered */
  uint32_t *token; /* [n_positions] */
};

static void array_view(const struct store *common, uint32_t layer,
  uint32_t sequence, struct kv_view *v)
{
  const struct array_store *s = (const struct array_store *) common;
  size_t part = common->n_positions * s->width;
  const float *keys = s->data + 2 * layer * part;
  (void) sequence; /* there is only one */
  *v = (struct kv_view) { .key = (uintptr_t) keys,
    .value = (uintptr_t) (keys + part),
    .row_bytes = (uint32_t) (s->width * sizeof(float)),
    .head_bytes = common->head_dim * sizeof(float),
    .type = WEIGHT_F32 };
}

/* A row has been computed before if an earlier pass had the same token at its position and at all
   positions before it, since its keys and values depend on all of those. So the comparison stops
   at the first token that differs, even if later tokens agree again. */
static size_t array_known(const struct array_store *s)
{
  const struct store *common = &s->common;
  size_t k = 0;
  while (k < common->n_rows && s->length + k < s->computed
      && s->token[s->length + k] == common->rows[k].token)
    k++;
  return k;
}

/* The rows of a pass must continue the text, one after the other. */
static bool array_begin(struct store *common, struct error *why)
{
  const struct array_store *s = (const struct array_store *) common;
  for (size_t i = 0; i < common->n_rows; i++) {
    size_t position = common->rows[i].position, next = s->length + i;
    if (position != next)
      return error_say(why, "row %zu is at position %zu; wanted: position %zu",
        i, position, next);
    if (next >= common->n_positions)
      return error_say(why, "position %zu is beyond the context; wanted: below %"
        PRIu32, position, common->n_positions);
  }
  common->rows_recomputed = array_known(s);
  return true;
}

/* If the pass succeeds its tokens are remembered, and tokens beyond a new one are forgotten: they
   belonged to another text. */
static void array_end(struct store *common, bool commit)
{
  struct array_store *s = (struct array_store *) common;
  if (!commit) return;
  size_t old = array_known(s), n = common->n_rows;
  for (size_t k = old; k < n; k++)
    s->token[s->length + k] = common->rows[k].token;
  s->length += n;
  if (old < n) s->computed = s->length;
}

static size_t array_length(const struct store *common, uint32_t sequence)
{
  (void) sequence;
  return ((const struct array_store *) common)->length;
}

static const uint32_t *array_tokens(const struct store *common, uint32_t sequence)
{
  (void) sequence;
  return ((const struct array_store *) common)->token;
}

/* A cropped row no longer counts. Its keys and values will be overwritten before they are read
   again; its token stays for array_known. */
static void array_crop(struct store *common, uint32_t sequence, size_t length)
{
  struct array_store *s = (struct array_store *) common;
  (void) sequence;
  if (length < s->length) s->length = length;
}

static void array_close(struct store *common)
{
  struct array_store *s = (struct array_store *) common;
  struct memory *m = common->m;
  memory_free(m, s->data);
  memory_free(m, s->token);
  memory_free(m, s);
}

static const struct store_kind array_kind = {
  .begin = array_begin, .end = array_end, .view = array_view,
  .length = array_length, .tokens = array_tokens, .crop = array_crop,
  .close = array_close };

/* If one of the arrays is refused, closing the store frees the other. */
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why)
{
  struct array_store *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  s->width = (size_t) c->n_kv_heads * c->head_dim;
  bool ok = store_prepare(&s->common, &array_kind, m, c, 1, why);
  size_t n = c->n_positions, parts = (size_t) 2 * c->n_layers;
  if (ok) s->token = memory_alloc(m, MEMORY_TOKENS, n, sizeof *s->token, why);
  if (s->token != NULL)
    s->data = memory_alloc(m, MEMORY_CACHE, n, parts * s->width * sizeof(float), why);
  if (s->data != NULL) return &s->common;
  store_close(&s->common);
  return NULL;
}
