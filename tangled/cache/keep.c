/* keep.c -- made from chapters/04-cache.w; change it there */

#include "cache/keep.h"

size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n)
{
  const struct kv_sequence *q = &s->batch.sequence[sequence];
  size_t k = 0;
  while (k < n && k < q->length && q->token[k] == id[k]) k++;
  store_crop(s, sequence, k);
  return q->length;
}
