/* sequences.c -- made from workshop/21-cache.w; change it there */

#include <string.h>
#include "cache/sequences.h"

/* <Count the rows of a sequence that were computed before> */
static uint32_t token_at(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q, size_t k)
{ return s->rows[t->order[q->first + k] - 1].token; }
static size_t known(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
      && q->token[q->length + k] == token_at(t, s, q, k))
    k++;
  return k;
}

/* <End a pass of the sequences> */
void sequences_end(struct sequence_table *t, struct store *s, bool commit)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) {
    struct kv_sequence *q = &t->sequence[i];
    size_t old = commit ? known(t, s, q) : 0, end = q->length + q->count;
    for (size_t k = old; k < q->count && commit; k++)
      q->token[q->length + k] = token_at(t, s, q, k);
    if (commit && old < q->count) q->computed = end;
    if (commit) q->length = end;
    q->count = 0;
  }
  memory_free(s->m, t->order);
  t->order = NULL;
}

/* <Find a place for every row> */
static bool order_rows(struct sequence_table *t, const struct store *s,
  struct error *why)
{
  size_t first = 0;
  for (uint32_t q = 0; q < s->n_sequences; q++)
    t->sequence[q].first = first, first += t->sequence[q].count;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    const struct kv_sequence *q = &t->sequence[r->sequence];
    const char *wrong = NULL;
    /* <Find out what is wrong with the row's position> */
    if (r->position >= s->n_positions) wrong = "beyond the context";
    else if (r->position < q->length) wrong = "stored already";
    else if (r->position >= q->length + q->count) wrong = "after a gap";
    else if (t->order[q->first + r->position - q->length] != 0)
      wrong = "given twice";
    if (wrong != NULL)
      return error_say(why, "position %u of sequence %u is %s;"
        " wanted: from %zu on, below %u, each once", r->position,
        r->sequence, wrong, q->length, s->n_positions);
    t->order[q->first + r->position - q->length] = i + 1;
  }
  return true;
}

/* <Grow the token arrays> */
size_t store_next_cap(size_t cap, size_t wanted, size_t max)
{
  size_t twice = cap <= max / 2 ? 2 * cap : max;
  return twice < wanted ? wanted : twice;
}

static bool reserve_tokens(struct kv_sequence *q, const struct store *s, size_t wanted,
  struct error *why)
{
  if (wanted <= q->cap) return true;
  size_t cap = store_next_cap(q->cap, wanted, s->n_positions);
  uint32_t *token = memory_resize(s->m, MEMORY_TOKENS, q->token, cap, sizeof *token,
    why);
  if (token == NULL) return false;
  q->token = token, q->cap = cap;
  return true;
}

/* <Begin a pass of the sequences> */
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why)
{
  t->order = memory_alloc(s->m, MEMORY_ACTIVATIONS, s->n_rows, sizeof *t->order, why);
  if (t->order == NULL) return false;
  for (size_t i = 0; i < s->n_rows; i++) t->sequence[s->rows[i].sequence].count++;
  bool ok = order_rows(t, s, why);
  s->rows_recomputed = 0;
  for (uint32_t i = 0; ok && i < s->n_sequences; i++) {
    struct kv_sequence *q = &t->sequence[i];
    ok = reserve_tokens(q, s, q->length + q->count, why);
    if (ok) s->rows_recomputed += known(t, s, q);
  }
  if (!ok) sequences_end(t, s, false);
  return ok;
}

/* <Open, fork and close the sequences> */
bool sequences_open(struct sequence_table *t, struct store *s, struct error *why)
{
  t->sequence = memory_alloc(s->m, MEMORY_OTHER, s->n_sequences,
    sizeof *t->sequence, why);
  return t->sequence != NULL;
}

bool sequences_fork(struct sequence_table *t, struct store *s,
  uint32_t from, uint32_t to,
  struct error *why)
{
  const struct kv_sequence *a = &t->sequence[from];
  struct kv_sequence *b = &t->sequence[to];
  if (!reserve_tokens(b, s, a->length, why)) return false;
  if (a->length > 0)
    memcpy(b->token, a->token, a->length * sizeof *a->token);
  b->length = b->computed = a->length;
  return true;
}

void sequences_close(struct sequence_table *t, struct store *s)
{
  for (uint32_t i = 0; t->sequence != NULL && i < s->n_sequences; i++)
    memory_free(s->m, t->sequence[i].token);
  memory_free(s->m, t->sequence);
}
