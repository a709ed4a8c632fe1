/* lexicon.c -- a vocabulary in order: the pieces as a tree of bytes in an array.

   First the usable pieces are copied, one after the other, so the caller may free its own.
   They are sorted as in a dictionary. The sorted pieces already determine the tree: a piece
   shares its first few letters with the one before it, and all its other letters are new.
   One pass counts these, so that the array has the right size, and a second writes them. A
   lexicon is only read from then on and may serve several threads. */

#include <stdlib.h>
#include <string.h>
#include "constraints/inside.h"

/* of a token; depths have 24 bits */
enum { MAX_PIECE = 1 << 24 };

/* Tokens that cannot be used have no bytes here, and so are in no place of the tree. The
   sums are checked before anything is taken. */
static bool copy_pieces(struct lexicon *l, const struct token_bytes *spelt,
  const bool *usable, struct error *why)
{
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > MAX_PIECE || l->n_bytes > UINT32_MAX / 2) return error_say(why,
      "token %zu has %zu bytes, and those before it %zu; a token may have %d, and all before it %u",
      i, n, l->n_bytes, MAX_PIECE,
      (unsigned) (UINT32_MAX / 2));
    l->n_bytes += n, l->n_ids += n > 0;
    if (n > l->max_len) l->max_len = n;
  }
  l->from = memory_alloc(l->m, MEMORY_TOKENS, l->vocab_size + 1, sizeof *l->from,
    why);
  l->text = memory_alloc(l->m, MEMORY_TOKENS, l->n_bytes, 1, why);
  if (l->from == NULL || l->text == NULL) return false;
  for (size_t i = 0; i < l->vocab_size; i++) {
    size_t n = usable == NULL || usable[i] ? spelt[i].n : 0;
    if (n > 0) memcpy(l->text + l->from[i], spelt[i].byte, n);
    if (n == 1) l->single[spelt[i].byte[0]] = true;
    l->from[i + 1] = l->from[i] + n;
  }
  return true;
}

struct spelling { const uint8_t *byte; size_t n; uint32_t id; };

/* Among equal pieces the smaller id comes first, so that the order does not depend on the
   sorting algorithm. */
static int as_in_a_dictionary(const void *a, const void *b)
{
  const struct spelling *x = a, *y = b;
  int c = memcmp(x->byte, y->byte, x->n < y->n ? x->n : y->n);
  if (c != 0) return c;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->id < y->id ? -1 : 1;
}

/* only pieces that are usable and have bytes */
static struct spelling *sort_pieces(const struct lexicon *l, struct error *why)
{
  struct spelling *sorted = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *sorted,
    why);
  size_t k = 0;
  for (size_t i = 0; sorted != NULL && i < l->vocab_size; i++)
    if (l->from[i + 1] > l->from[i])
      sorted[k++] = (struct spelling) { l->text + l->from[i],
        l->from[i + 1] - l->from[i], (uint32_t) i };
  if (sorted != NULL) qsort(sorted, k, sizeof *sorted, as_in_a_dictionary);
  return sorted;
}

static size_t in_common(const struct spelling *sorted, size_t i)
{
  size_t k = 0, n;
  if (i == 0) return 0;
  n = sorted[i].n < sorted[i - 1].n ? sorted[i].n : sorted[i - 1].n;
  while (k < n && sorted[i].byte[k] == sorted[i - 1].byte[k]) k++;
  return k;
}

/* A piece that is the same as the one before it adds nothing. */
static size_t count_nodes(const struct spelling *sorted, size_t n)
{
  size_t all = 0;
  for (size_t i = 0; i < n; i++) all += sorted[i].n - in_common(sorted, i);
  return all;
}

/* The letters of the present piece are open. When the next piece no longer shares a letter,
   this letter is closed, and its skip is the place where the next one will be. So open
   says, for each depth, which letter is open there. Two tokens that are spelt alike get the
   number of one piece, and are allowed or forbidden together. */
static void grow_nodes(struct lexicon *l, const struct spelling *sorted,
  uint32_t *open)
{
  size_t made = 0, depth = 0, words = 0;
  for (size_t i = 0; i < l->n_ids; i++) {
    size_t k = in_common(sorted, i);
    words += k < sorted[i].n;
    while (depth > k) l->node[open[--depth]].skip = (uint32_t) made;
    for (; depth < sorted[i].n; depth++) {
      open[depth] = (uint32_t) made;
      l->node[made++] = (struct lexicon_node) { 0, (uint32_t) words - 1,
        (unsigned) depth & 0xffffff, sorted[i].byte[depth] };
    }
    l->token[i] = (struct lexicon_id) { sorted[i].id, (uint32_t) words - 1 };
  }
  while (depth > 0) l->node[open[--depth]].skip = (uint32_t) made;
  l->n_words = words;
}

static bool make_nodes(struct lexicon *l, struct spelling *sorted,
  struct error *why)
{
  l->n_nodes = count_nodes(sorted, l->n_ids);
  l->node = memory_alloc(l->m, MEMORY_TOKENS, l->n_nodes, sizeof *l->node, why);
  l->token = memory_alloc(l->m, MEMORY_TOKENS, l->n_ids, sizeof *l->token, why);
  uint32_t *open = memory_alloc(l->m, MEMORY_TOKENS, l->max_len, sizeof *open, why);
  bool ok = l->node != NULL && l->token != NULL && open != NULL;
  if (ok) grow_nodes(l, sorted, open);
  memory_free(l->m, open);
  return ok;
}

/* Ids have 32 bits, enough for any vocabulary, but a caller might pass a larger size. If a
   step fails, lexicon_close frees what the earlier ones allocated. */
struct lexicon *lexicon_open(struct memory *m, const struct token_bytes *spelt,
  const bool *usable, size_t vocab_size, struct error *why)
{
  if (vocab_size >= UINT32_MAX)
    return error_say(why, "%zu tokens are too many", vocab_size), NULL;
  struct lexicon *l = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *l, why);
  if (l == NULL) return NULL;
  l->m = m;
  l->vocab_size = vocab_size;
  l->max_len = 1;
  struct spelling *sorted = NULL;
  bool ok = copy_pieces(l, spelt, usable, why)
    && (sorted = sort_pieces(l, why)) != NULL && make_nodes(l, sorted, why);
  memory_free(m, sorted);
  if (ok) return l;
  lexicon_close(l);
  return NULL;
}

void lexicon_close(struct lexicon *l)
{
  if (l == NULL) return;
  memory_free(l->m, l->from);
  memory_free(l->m, l->text);
  memory_free(l->m, l->node);
  memory_free(l->m, l->token);
  memory_free(l->m, l);
}
