/* store.c -- made from chapters/02-model.w; change it there */

/* 2.53  store.c */

#include <inttypes.h>
#include <string.h>
#include "02-model/store.h"

/* 2.34  What the plain store holds */

struct strand {
  float *block;
  size_t room, length;
  uint32_t *token;
  size_t computed;
  size_t first, count;
};

/* 2.35  What the plain store holds */

struct plain_store {
  struct store common;
  size_t width, n_layers;
  struct model_config config;
  struct strand *sequence;
  const struct row *rows;
  size_t n, *order;
};

/* 2.32  Pass the call on to the kind of store */

bool store_begin(struct store *s, const struct row *rows, size_t n,
                 struct error *why)
{
  return s->kind->begin(s, rows, n, why);
}

void store_put(struct store *s, uint32_t layer, const float *k, const float *v)
{
  s->kind->put(s, layer, k, v);
}

void store_view(const struct store *s, uint32_t layer, size_t i, struct view *v)
{
  s->kind->show(s, layer, i, v);
}

void store_commit(struct store *s)
{
  s->kind->end(s, true);
}

void store_abort(struct store *s)
{
  s->kind->end(s, false);
}

void store_empty(struct store *s)
{
  s->kind->empty(s);
}

void store_close(struct store *s)
{
  if (s != NULL)
    s->kind->close(s);
}

/* 2.38  Find a place for every row */

static bool plain_order(struct plain_store *s, struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->common.n_sequences; q++)
    s->sequence[q].first = first, first += s->sequence[q].count;
  for (size_t i = 0; i < s->n; i++) {
    const struct row *r = &s->rows[i];
    const struct strand *q = &s->sequence[r->sequence];
    const char *wrong = NULL;

/* 2.39  Find out what is wrong with the row's position */

    if (r->position >= s->common.n_positions)
      wrong = "beyond the context";
    else if (r->position < q->length)
      wrong = "stored already";
    else if (r->position >= q->length + q->count)
      wrong = "behind a gap";
    else if (s->order[q->first + r->position - q->length] != 0)
      wrong = "given twice";

    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"
                       " wanted: from %zu on, below %u," " each once", r->position,
                       r->sequence, wrong, q->length, s->common.n_positions);
    s->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

/* 2.41  Give a sequence a larger block */

static bool sequence_grow(struct plain_store *s, struct strand *q, size_t room,
                          struct error *why)
{
  struct memory *m = s->common.m;
  size_t parts = 2 * s->n_layers, span = s->width * sizeof(float);
  float *block = memory_take(m, FOR_CACHE, room, parts * span, why);
  uint32_t *token = block == NULL ? NULL : memory_grow(m, FOR_TOKENS, q->token,
                                                       q->room, room, sizeof *token,
                                                       why);
  if (token == NULL) {
    memory_give(m, FOR_CACHE, block, room, parts * span);
    return false;
  }

/* 2.42  Move each layer's rows to their new place */

  for (size_t i = 0; i < parts && q->length > 0; i++)
    memcpy(block + i * room * s->width, q->block + i * q->room * s->width,
           q->length * span);

  memory_give(m, FOR_CACHE, q->block, q->room, parts * span);
  q->block = block, q->token = token, q->room = room;
  return true;
}

/* 2.40  Make room for the rows of the pass */

static bool plain_grow(struct plain_store *s, struct error *why)
{
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    struct strand *q = &s->sequence[i];
    size_t wanted = q->length + q->count, room = 2 * q->room;
    if (wanted <= q->room)
      continue;
    if (room > s->common.n_positions)
      room = s->common.n_positions;
    if (room < wanted)
      room = wanted;
    if (!sequence_grow(s, q, room, why))
      return false;
  }
  return true;
}

/* 2.43  Count the rows of a sequence that were computed before */

static uint32_t token_at(const struct plain_store *s, const struct strand *q,
                         size_t k)
{
  return s->rows[s->order[q->first + k] - 1].token;
}

static size_t known(const struct plain_store *s, const struct strand *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
         && q->token[q->length + k] == token_at(s, q, k))
    k++;
  return k;
}

/* 2.44  Count the rows that are seen, and those computed before */

static size_t lowest(const struct plain_store *s, uint32_t layer, size_t position)
{
  size_t window = config_window(&s->config, layer);
  bool short_sighted = window > 0 && position >= window;
  return short_sighted ? position - window + 1 : 0;
}

/* 2.45  Count the rows that are seen, and those computed before */

static void plain_measure(struct plain_store *s, uint32_t layer)
{
  s->common.seen = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    const struct strand *q = &s->sequence[i];
    if (q->count > 0)
      s->common.seen += q->length + q->count - lowest(s, layer, q->length);
  }
}

static void plain_compare(struct plain_store *s)
{
  s->common.recomputed = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    s->common.recomputed += known(s, &s->sequence[i]);
}

/* 2.48  End a pass, empty the store */

static void plain_end(struct store *common, bool commit)
{
  struct plain_store *s = (struct plain_store *)common;
  for (uint32_t i = 0; i < common->n_sequences; i++) {
    struct strand *q = &s->sequence[i];
    size_t old = commit ? known(s, q) : 0, end = q->length + q->count;
    for (size_t k = old; k < q->count && commit; k++)
      q->token[q->length + k] = token_at(s, q, k);
    if (commit && (old < q->count || q->computed < end))
      q->computed = end;
    if (commit)
      q->length = end;
    q->count = 0;
  }
  memory_give(common->m, FOR_ACTIVATIONS, s->order, s->n, sizeof *s->order);
  s->order = NULL, s->n = 0;
}

/* 2.49  End a pass, empty the store */

static void plain_empty(struct store *common)
{
  struct plain_store *s = (struct plain_store *)common;
  for (uint32_t i = 0; i < common->n_sequences; i++)
    s->sequence[i].length = 0;
}

/* 2.36  Admit a pass, or refuse it */

static bool plain_begin(struct store *common, const struct row *rows, size_t n,
                        struct error *why)
{
  struct plain_store *s = (struct plain_store *)common;

/* 2.37  Refuse what cannot be a pass of this store */

  if (n == 0 || s->n > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
                     : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= common->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"
                       " below %" PRIu32, i, rows[i].sequence, common->n_sequences);

  s->order = memory_take(common->m, FOR_ACTIVATIONS, n, sizeof *s->order, why);
  if (s->order == NULL)
    return false;
  s->rows = rows, s->n = n;
  for (size_t i = 0; i < n; i++)
    s->sequence[rows[i].sequence].count++;
  bool ok = plain_order(s, why) && plain_grow(s, why);
  if (ok)
    plain_compare(s);
  else
    plain_end(common, false);
  return ok;
}

/* 2.46  Store the keys and values of a layer */

static void plain_put(struct store *common, uint32_t layer, const float *k,
                      const float *v)
{
  struct plain_store *s = (struct plain_store *)common;
  size_t span = s->width * sizeof(float);
  for (size_t i = 0; i < s->n; i++) {
    const struct strand *q = &s->sequence[s->rows[i].sequence];
    size_t t = s->rows[i].position;
    float *place = q->block + (2 * layer * q->room + t) * s->width;
    memcpy(place, k + i * s->width, span);
    memcpy(place + q->room * s->width, v + i * s->width, span);
  }
  plain_measure(s, layer);
}

/* 2.47  Show what a row sees */

static void plain_view(const struct store *common, uint32_t layer, size_t i,
                       struct view *v)
{
  const struct plain_store *s = (const struct plain_store *)common;
  const struct strand *q = &s->sequence[s->rows[i].sequence];
  uint32_t position = s->rows[i].position;
  const float *keys = q->block + 2 * layer * q->room * s->width;
  *v = (struct view) {.base_k = keys,.base_v = keys + q->room * s->width,
    .row_bytes = s->width * sizeof(float),.type = WEIGHT_F32,
    .lo = (uint32_t) lowest(s, layer, position),.hi = position + 1
  };
}

/* 2.52  Close a plain store */

static void plain_close(struct store *common)
{
  struct plain_store *s = (struct plain_store *)common;
  struct memory *m = common->m;
  for (uint32_t i = 0; i < common->n_sequences; i++) {
    struct strand *q = &s->sequence[i];
    memory_give(m, FOR_CACHE, q->block, q->room,
                2 * s->n_layers * s->width * sizeof(float));
    memory_give(m, FOR_TOKENS, q->token, q->room, sizeof *q->token);
  }
  memory_give(m, FOR_OTHER, s->sequence, common->n_sequences, sizeof *s->sequence);
  memory_give(m, FOR_OTHER, s, 1, sizeof *s);
}

/* 2.50  Open a plain store */

struct store *store_open(struct memory *m, const struct model_config *c,
                         uint32_t n_sequences, struct error *why)
{
  static const struct store_kind kind = { plain_begin, plain_put, plain_view,
    plain_end, plain_empty, plain_close
  };
  struct plain_store *s = memory_take(m, FOR_OTHER, 1, sizeof *s, why);
  if (s == NULL)
    return NULL;
  s->sequence = memory_take(m, FOR_OTHER, n_sequences, sizeof *s->sequence, why);
  if (s->sequence == NULL) {
    memory_give(m, FOR_OTHER, s, 1, sizeof *s);
    return NULL;
  }

/* 2.51  Note what the store needs to know of the model */

  s->width = (size_t)c->n_kv_heads * c->head_dim;
  s->n_layers = c->n_layers, s->config = *c;
  s->common = (struct store) {.kind = &kind,.m = m,
    .n_sequences = n_sequences,.n_positions = c->n_positions,
    .row_bytes = 2 * s->width * sizeof(float)
  };

  return &s->common;
}
