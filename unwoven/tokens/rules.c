/* rules.c -- the rules of an encoder are entered one by one and freed together.

   The encoder reads an array of rules and a table that leads from a pair to the place of its rule,
   plus 1. The two agree at all times: a rule is counted only after the table has its place. An
   older rule for the same pair stays in the array, where nothing leads to it any more: some
   published lists name a pair twice, and the libraries that read them let the later line win. */

#include "tokens/bpe.h"

bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why)
{
  struct bpe_rule *p = memory_reserve(m, MEMORY_TOKENS, b->rule, &b->cap,
    b->n + 1, 256, sizeof *p, why);
  if (p == NULL) return false;
  b->rule = p;
  b->rule[b->n] = rule; /* written before the table is asked to grow, and counted after */
  if (!pair_map_put(m, &b->place, rule.left, rule.right,
    (uint32_t) b->n + 1, why)) return false;
  b->n++;
  return true;
}

/* The rank of a rule is its place in the list, but in files whose tokens have numbers of their
   own: those call bpe_add_ranked. */
bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why)
{
  return bpe_add_ranked(m, b, (struct bpe_rule) { left, right,
    made, (uint32_t) b->n }, why);
}

/* Rules, workspaces and lists of merges live for different times, so each is freed by itself. */
void bpe_free(struct memory *m, struct bpe *b)
{
  pair_map_free(m, &b->place);
  memory_free(m, b->rule);
  b->rule = NULL, b->n = b->cap = 0;
}

void bpe_work_free(struct memory *m, struct bpe_work *w)
{
  heap_free(m, &w->queue);
  ids_free(m, &w->piece);
  memory_free(m, w->node);
  w->node = NULL, w->cap = 0;
}

void bpe_forget(struct memory *m, struct bpe_merge *merge)
{
  memory_free(m, merge);
}
