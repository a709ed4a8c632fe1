/* keep.c -- made from chapters/04-cache.w; change it there */

#include "cache/keep.h"

size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n)
{
  const uint32_t *token = store_tokens(s, sequence);
  size_t k = 0, length = store_length(s, sequence);
  while (k < n && k < length && token[k] == id[k]) k++;
  store_crop(s, sequence, k);
  return store_length(s, sequence);
}
