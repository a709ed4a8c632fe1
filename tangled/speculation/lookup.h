/* lookup.h -- made from chapters/13-speculation.w; change it there */

#ifndef INCIPIT_LOOKUP_H
#define INCIPIT_LOOKUP_H
#include "speculation/speculate.h"

/* how many tokens have to agree, 1<=shortest<=longest, and after how many we look no
   further */
struct lookup { size_t shortest, longest; };

/* a guess_tokens; ctx is a struct lookup */
void guess_by_lookup(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
#endif
