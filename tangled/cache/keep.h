/* keep.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_KEEP_H
#define INCIPIT_KEEP_H
#include "model/store.h"

/* keeps the rows of sequence whose tokens are id[0], ..., id[n-1], as far as they
   agree from the first on; crops the others; returns how many rows are kept */
size_t store_match_prefix(struct store *s, uint32_t sequence, const uint32_t *id,
  size_t n);
#endif
