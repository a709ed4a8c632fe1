/* lookup.c -- Guesses that are copied from the text itself.
   made from chapters/13-speculation.w; change it there */

#include "speculation/lookup.h"

/* <Look up what came before> */
static size_t agree(const uint32_t *id, size_t n, size_t end, size_t longest)
{
  size_t k = 0;
  while (k < longest && k < end && id[end - 1 - k] == id[n - 1 - k]) k++;
  return k;
}

/* the place after the last of the longest pieces of id[n] that equal its end, or 0 */
static size_t find_again(const struct lookup *l, const uint32_t *id, size_t n)
{
  size_t best = 0, place = 0;
  for (size_t end = n - 1; end > 0 && best < l->longest; end--) {
    size_t k = agree(id, n, end, l->longest);
    if (k > best) best = k, place = end;
  }
  return best < l->shortest ? 0 : place;
}

void guess_by_lookup(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  const struct lookup *l = ctx;
  struct error why;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    const struct ids *text = &q->c.text;
    size_t at = q->room == 0 ? 0 : find_again(l, text->id, text->n);
    for (; at > 0 && q->guess.n < q->room; at++) {
      uint32_t id = at < text->n ? text->id[at] : q->guess.id[at - text->n];
      if (!ids_push(g->m, &q->guess, id, &why)) break;
    }
  }
}
