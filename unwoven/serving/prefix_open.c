/* prefix_open.c -- an index of prefixes opens, with its root, and closes. */

#include <string.h>
#include "serving/prefix.h"

/* Entry 0 is the root: it has no page, and its number says that there is no entry. It needs no memory, for nobody
   looks at it before the first page is entered, but for its children, so the arrays are made at once. */
bool prefix_open(struct prefix_index *x, struct store *s, struct memory *m, struct error *why)
{
  *x = (struct prefix_index) { .s = s, .m = m, .n = 1, .cap = 64 };
  if (s == NULL) return true;
  x->page_rows = cache_look(s).page_rows;
  if ((x->entry = memory_alloc(m, MEMORY_OTHER, x->cap, sizeof *x->entry, why)) != NULL
      && (x->token = memory_alloc(m, MEMORY_TOKENS, x->cap * x->page_rows, sizeof *x->token, why)) != NULL
      && (x->bucket = memory_alloc(m, MEMORY_OTHER, x->cap, sizeof *x->bucket, why)) != NULL) return true;
  prefix_close(x);
  return false;
}

/* in no order: nobody will look for a child any more */
void prefix_close(struct prefix_index *x)
{
  for (size_t i = 1; x->bucket != NULL && i < x->n; i++)
    if (x->entry[i].born != 0) cache_block_release(x->s, &x->entry[i].block);
  memory_free(x->m, x->entry), memory_free(x->m, x->token);
  memory_free(x->m, x->bucket);
  *x = (struct prefix_index) { .s = NULL };
}
