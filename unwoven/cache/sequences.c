/* sequences.c -- the table of a cache's sequences: how long each is, and of which tokens.

   It knows nothing of pages, for these facts are the same wherever a store keeps its rows; the
   store is handed to each function because it has the rows of the pass, the sizes and the memory.
   Between passes every count is 0 and order is null. A pass sets them in sequences_begin,
   and sequences_end clears them, whether the pass has succeeded or not. Which row goes where is
   found in order.c (chapter 4). token[] may hold more than length tokens: up to
   computed they are those of rows that were cropped, kept so that recomputing them is noticed. */

#include <string.h>
#include "cache/sequences.h"

/* the token of row k of the pass, counted within its sequence; entries of order are indices plus
   one */
static uint32_t token_at(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q, size_t k)
{ return s->rows[t->order[q->first + k] - 1].token; }
/* How many rows of the pass have been computed before: the same token at the same position, after
   the same tokens. From the first that differs on, all are new. */
static size_t known(const struct sequence_table *t, const struct store *s,
  const struct kv_sequence *q)
{
  size_t k = 0;
  while (k < q->count && q->length + k < q->computed
      && q->token[q->length + k] == token_at(t, s, q, k))
    k++;
  return k;
}

/* If the pass has succeeded, its tokens are remembered, and what had been computed beyond a new
   token is forgotten: it belonged to another text. If it has not, only the counts go back. Safe
   after a sequences_begin that failed half-way, when order is not filled: nothing reads it then. */
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

/* A text that comes in token by token should not be copied once for every token; so arrays double,
   but never beyond max, since no text is longer than the context. */
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

/* A refusal has to leave everything as it was. So until all checks are through nothing changes
   except the counts, which sequences_end sets back. The rows' positions are checked before any
   token array grows: a position beyond the context must not ask for memory first. */
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why)
{
  t->order = memory_alloc(s->m, MEMORY_ACTIVATIONS, s->n_rows, sizeof *t->order, why);
  if (t->order == NULL) return false;
  for (size_t i = 0; i < s->n_rows; i++) t->sequence[s->rows[i].sequence].count++;
  bool ok = sequences_order(t, s, why);
  s->rows_recomputed = 0;
  for (uint32_t i = 0; ok && i < s->n_sequences; i++) {
    struct kv_sequence *q = &t->sequence[i];
    ok = reserve_tokens(q, s, q->length + q->count, why);
    if (ok) s->rows_recomputed += known(t, s, q);
  }
  if (!ok) sequences_end(t, s, false);
  return ok;
}

bool sequences_open(struct sequence_table *t, struct store *s, struct error *why)
{
  t->sequence = memory_alloc(s->m, MEMORY_OTHER, s->n_sequences,
    sizeof *t->sequence, why);
  return t->sequence != NULL;
}

/* only the tokens that count are copied; the rows themselves are the store's to share */
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

/* The rows are stored already, in pages that the caller gives to the sequence. */
bool sequences_append(struct sequence_table *t, struct store *s, uint32_t sequence,
  const uint32_t *token, size_t n, struct error *why)
{
  struct kv_sequence *q = &t->sequence[sequence];
  if (!reserve_tokens(q, s, q->length + n, why)) return false;
  memcpy(q->token + q->length, token, n * sizeof *token);
  q->length += n, q->computed = q->length;
  return true;
}

void sequences_close(struct sequence_table *t, struct store *s)
{
  for (uint32_t i = 0; t->sequence != NULL && i < s->n_sequences; i++)
    memory_free(s->m, t->sequence[i].token);
  memory_free(s->m, t->sequence);
}
