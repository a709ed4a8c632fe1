/* tree.c -- a tree of guesses, each branch of which is a sequence of the store.

   Rows of the text are shared by all branches; what a branch writes goes to pages of its own. So no kernel has to know of trees,
   and the newest token of the text is read once in each branch. */

#include "speculation/tree.h"

/* what a branch has from the pass before, or from an attempt that failed half-way, is emptied first */
static bool fork_branches(struct store *s, const struct guess_tree *t, struct error *why)
{
  bool ok = true;
  for (uint32_t b = 1; b < t->n; b++) store_crop(s, t->first + b, 0);
  for (uint32_t b = 1; ok && b < t->n; b++) ok = store_fork(s, t->first, t->first + b, why);
  return ok;
}

bool tree_read(const struct generate_context *g, const struct guess_tree *t,
  const struct ids *text, float *logits, struct error *why)
{
  size_t rows = 1 + t->depth, n = t->n * rows, k = 0;
  struct pass *p = NULL;
  struct row *row = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *row, why);
  size_t *which = row == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *which, why);
  bool ok = which != NULL && fork_branches(g->s, t, why);
  for (uint32_t b = 0; ok && b < t->n; b++)
    for (size_t i = 0; i < rows; i++, k++) {
      uint32_t id = i == 0 ? text->id[text->n - 1] : t->guess[b * t->depth + i - 1];
      row[k] = (struct row) { t->first + b, (uint32_t) (text->n - 1 + i), id };
      which[k] = k;
    }
  ok = ok && model_forward(g->e, g->lm, g->s, row, n, &p, why)
    && model_logits(g->e, g->lm, p, which, n, logits, why);
  pass_close(p);
  memory_free(g->m, row), memory_free(g->m, which);
  if (!ok) store_crop(g->s, t->first, text->n - 1); /* the pass may have been stored, and only its logits refused */
  return ok;
}

bool tree_keep(struct store *s, const struct guess_tree *t, uint32_t branch,
  size_t length, struct error *why)
{
  bool ok = true;
  if (branch > 0) { /* the text keeps its number in the store, and takes over the rows */
    store_crop(s, t->first, 0);
    ok = store_fork(s, t->first + branch, t->first, why);
  }
  store_crop(s, t->first, length);
  for (uint32_t b = 1; b < t->n; b++) store_crop(s, t->first + b, 0);
  return ok;
}
