/* merges.c -- the merges that chapter 1's trainer has learnt become a tokenizer.

   Id 0 is the end of a text, so all of the trainer's ids move up by one. The file that
   tokenizer_write writes describes exactly this tokenizer, and a test compares the two: change
   both or none. */

#include <string.h>
#include "tokenizer/inside.h"

/* A token's bytes are those of its two halves. Each half must have a smaller id than the
   token: a list that our trainer has learnt always satisfies this, any other may not. */
static bool spell_merges(struct memory *m, struct tokenizer *t,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  for (uint32_t i = 0; i < 256 + n; i++) {
    struct vocab_entry *k = tokenizer_vocab_at(m, t, i + 1, why);
    if (k == NULL) return false;
    size_t at = t->string_pool.n;
    /* a list that was not learnt by bpe_train could go in circles */
    if (i >= 256 && (merge[i - 256].left >= i
      || merge[i - 256].right >= i)) return error_say(why,
      "merge %u joins ids that are not made yet", i - 256);
    if (!bpe_spell(m, merge, i, &t->string_pool, why)) return false;
    if (t->string_pool.n > UINT32_MAX)
      return error_say(why,
        "a vocabulary of more than 4 GiB of letters");
    k->piece = (struct span) { (uint32_t) at,
      (uint32_t) (t->string_pool.n - at) };
    k->text = k->piece;
    if (i >= 256 && !bpe_add(m, &t->rules, merge[i - 256].left + 1,
      merge[i - 256].right + 1, i + 1, why)) return false;
  }
  return true;
}

static const char end_of_text[] = "<|endoftext|>";

/* tokenizer_write describes exactly this tokenizer: change both or none. */
static bool finish_merges(struct memory *m, struct tokenizer *t,
  struct error *why)
{
  struct added_token x = { .id = 0, .special = true };
  t->kind = "byte-level BPE";
  return tokenizer_add_split(m, t, split_gpt2, strlen(split_gpt2), why)
    && tokenizer_intern(m, t, end_of_text, strlen(end_of_text), &x.text,
    why) && tokenizer_index_vocab(m, t, why) && tokenizer_add_token(m, t, &x, why)
    && tokenizer_index_added(m, t, why);
}

struct tokenizer *tokenizer_from_merges(struct memory *m,
  const struct bpe_merge *merge, size_t n, struct error *why)
{
  struct tokenizer *t = memory_alloc(m, MEMORY_TOKENS, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  if (n <= TOKENIZER_MAX_ID - 257 ? spell_merges(m, t, merge, n, why)
      && finish_merges(m, t, why) : error_say(why,
      "%zu merges are too many", n))
    return t;
  tokenizer_close(m, t);
  return NULL;
}
