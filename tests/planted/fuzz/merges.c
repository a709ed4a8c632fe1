/* merges.c -- merges, learnt or given, and a text: our encoder against the sentence by which
 * merging is defined, and every text back. */
#include "fuzz.h"
#include "tokens/bpe.h"

enum { MAX_TEXT = 200, MAX_MERGES = 40 };
/* of all pairs that have a rule, the one of the earliest rule, and of its places the leftmost;
 * until there is none.  Of two rules for one pair the later counts */
static size_t naive(const struct bpe *b, uint32_t *id, size_t n)
{
  for (;;) {
    size_t best = SIZE_MAX, place = 0;
    for (size_t i = 0; i + 1 < n; i++) {
      size_t r = b->n;
      while (r > 0 && (b->rule[r - 1].left != id[i] || b->rule[r - 1].right != id[i + 1])) r--;
      if (r > 0 && r - 1 < best) best = r - 1, place = i;
    }
    if (best == SIZE_MAX) return n;
    id[place] = b->rule[best].made;
    memmove(id + place + 1, id + place + 2, (n - place - 2) * sizeof *id), n--;
  }
}
static void compare(struct memory *m, const struct bpe *b, const struct bpe_merge *merge,
  const uint8_t *text, size_t n)
{
  struct bpe_work work = { .cap = 0 };
  struct ids list = { NULL, 0, 0 };
  struct bytes back = { NULL, 0, 0 };
  struct error why;
  uint32_t want[MAX_TEXT];
  for (size_t i = 0; i < n; i++) want[i] = b->byte_id[text[i]];
  size_t n_want = naive(b, want, n);
  /* all letters but the last first, with the same workspace: it must grow by one */
  must(n < 2 || bpe_encode(b, m, &work, text, n - 1, &list, &why));
  list.n = 0;
  must(n == 0 || bpe_encode(b, m, &work, text, n, &list, &why));
  must(list.n == n_want && (n_want == 0 || memcmp(list.id, want, n_want * sizeof *want) == 0));
  for (size_t i = 0; i < list.n; i++) must(bpe_spell(m, merge, list.id[i], &back, &why));
  must(back.n == n && (n == 0 || memcmp(back.byte, text, n) == 0));
  bpe_work_free(m, &work), ids_free(m, &list), bytes_free(m, &back);
}

FUZZ(merges)
{
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct bpe given = { .n = 0 }, learnt = { .n = 0 };
  struct bpe_merge merge[MAX_MERGES], *found;
  size_t n = 0, asked = size > 0 ? data[0] % 16 : 0, made;
  const uint8_t *part;
  size_t n_part = next_part(&data, &size, &part);
  for (size_t at = 0; at + 1 < n_part && n < MAX_MERGES;
       at += 2, n++) /* two bytes a merge; high ones mean what earlier merges made */
    for (int k = 0; k < 2; k++) {
      uint32_t id = part[at + (size_t) k];
      id = id >= 0xc0 && n > 0 ? 256 + (id - 0xc0) % (uint32_t) n : id;
      *(k ? &merge[n].right : &merge[n].left) = id;
    }
  if (size > MAX_TEXT) size = MAX_TEXT;
  must(bpe_learnt(&m, &given, merge, n, &why));
  compare(&m, &given, merge, data, size);
  must(bpe_train(&m, (const char *) data, size, NULL, asked, &found, &made, &why) && made <= asked);
  must(bpe_learnt(&m, &learnt, found, made, &why));
  compare(&m, &learnt, found, data, size);
  bpe_free(&m, &given), bpe_free(&m, &learnt), bpe_forget(&m, found);
  must(m.all.live == 0);
  return 0;
}
