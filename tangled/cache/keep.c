/* keep.c -- made from chapters/04-cache.w; change it there */

/* What a text may take over from the rows of an earlier one. It asks any kind of
   store, never a page: so the array of chapter 2 serves as well. */
#include "cache/keep.h"

size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n)
{
  const uint32_t *token = store_tokens(s, sequence);
  size_t k = 0, length = store_length(s, sequence);
  while (k < n && k < length && token[k] == id[k]) k++;
  /* a store with a window may have to drop more than it was asked to, so the length
     is asked for again */
  store_crop(s, sequence, k);
  return store_length(s, sequence);
}
