/* rules.c -- made from workshop/23-tokens.w; change it there */

#include "tokens/bpe.h"

/* <Append a rule> */
bool bpe_add_ranked(struct memory *m, struct bpe *b,
  struct bpe_rule rule, struct error *why)
{
  struct bpe_rule *p = memory_reserve(m, MEMORY_TOKENS, b->rule, &b->cap,
    b->n + 1, 256, sizeof *p, why);
  if (p == NULL) return false;
  b->rule = p;
  b->rule[b->n] = rule;
  if (!pair_map_put(m, &b->place, rule.left, rule.right,
    (uint32_t) b->n + 1, why)) return false;
  b->n++;
  return true;
}

bool bpe_add(struct memory *m, struct bpe *b, uint32_t left,
  uint32_t right, uint32_t made, struct error *why)
{
  return bpe_add_ranked(m, b, (struct bpe_rule) { left, right,
    made, (uint32_t) b->n }, why);
}

/* <Free rules, workspaces and merges> */
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
