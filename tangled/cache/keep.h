/* keep.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_KEEP_H
#define INCIPIT_KEEP_H
#include "model/store.h"

/* crops sequence to the rows that have the tokens id[0], ..., id[n-1], as far as they
   agree, and says how many rows it has then */
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n);
#endif
