/* unigram.c -- Unigram: of all ways to cut a text into pieces the one with the best
   sum of scores, found by Viterbi's algorithm.
   made from workshop/04-tokenizer.w; change it there

   Sums are those of the programs that made the files, rounding and ties included. A
   range of the sorted pieces stands for the node of a tree. */

#include "tokenizer/inside.h"

/* <Take the better way> */
static double sum(const struct unigram *u, double a, double b)
{
  return u->floats ? (double) ((float) a + (float) b) : a + b;
}

static void reach(struct unigram_node *to, uint32_t from, uint32_t id,
  double score)
{
  /* strictly better: of equal ways the first that was met, which begins further left */
  if (to->from != BPE_NONE && score <= to->score) return;
  *to = (struct unigram_node) { score, from, 0, id };
}

/* <Find the pieces that begin here> */
struct range { size_t from, to; };

static int byte_at(const struct tokenizer *t, size_t k, size_t at)
{
  struct span s = t->vocab[t->unigram.sorted[k]].piece;
  return at < s.n ? t->string_pool.byte[s.at + at] : -1;
}

/* A piece that has ended comes before all others, so its next byte counts as -1. */
static size_t first_from(const struct tokenizer *t, struct range r,
  size_t at, int byte)
{
  while (r.from < r.to) {
    size_t middle = r.from + (r.to - r.from) / 2;
    if (byte_at(t, middle, at) < byte) r.from = middle + 1;
    else r.to = middle;
  }
  return r.from;
}

/* <Find the best way to each place> */
static void reach_from(const struct tokenizer *t, struct unigram_node *node,
  const unsigned char *text, size_t n, size_t at)
{
  const struct unigram *u = &t->unigram;
  enum utf8_state state;
  size_t one = utf8_next(text + at, n - at, &state), k = 0;
  struct range r = { 0, u->n };
  bool single = false;
  while (at + k < n) {
    size_t from = first_from(t, r, k, text[at + k]);
    r.to = first_from(t, r, k, text[at + k] + 1);
    r.from = from, k++;
    if (r.from == r.to) break;
    uint32_t id = u->sorted[r.from];
    if (t->vocab[id].piece.n != k) continue;
    reach(node + at + k, (uint32_t) at, id,
      sum(u, node[at].score, u->score[id]));
    single = single || k == one;
  }
  if (!single) reach(node + at + one, (uint32_t) at, BPE_NONE,
    sum(u, node[at].score, u->unknown));
}

static double best_way(const struct tokenizer *t,
  struct unigram_node *node, const unsigned char *text, size_t n,
  double score)
{
  enum utf8_state state;
  for (size_t i = 0; i <= n; i++) node[i].from = BPE_NONE;
  node[0].score = score;
  for (size_t at = 0; at < n; at += utf8_next(text + at, n - at, &state))
    reach_from(t, node, text, n, at);
  for (uint32_t at = (uint32_t) n; at > 0; at = node[at].from)
    node[node[at].from].to = at;
  return node[n].score;
}
#include "tokenizer/unspelt.inc"

/* <Cut a text in the best way> */
static bool make_nodes(struct memory *m, struct unigram_work *w,
  size_t n, struct error *why)
{
  if (n >= BPE_NONE) return error_say(why,
    "a piece of %zu letters is too long", n);
  struct unigram_node *p = memory_reserve(m, MEMORY_TOKENS, w->node,
    &w->cap, n + 1, 256, sizeof *p, why);
  if (p != NULL) w->node = p;
  return p != NULL;
}

bool unigram_encode(const struct tokenizer *t, struct memory *m,
  struct unigram_work *w, const unsigned char *text, size_t n,
  struct ids *out, struct error *why)
{
  double score = 0;
  struct unspelt row = { text, 0 };
  for (size_t at = 0, end; at < n; at = end) {
    for (end = at + 1; end < n && !(t->splits_at_spaces
      && tokenizer_word_begins(text, end, n)); end++) ;
    if (!make_nodes(m, w, end - at, why)) return false;
    score = best_way(t, w->node, text + at, end - at, score);
    if (!push_way(t, m, w->node, text + at, end - at, &row, out,
      why)) return false;
  }
  return push_row(t, m, &row, out, why);
}
