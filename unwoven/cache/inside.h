/* inside.h -- what the two halves of the cache call in each other, and nobody else includes.

   cache.c (chapter 4) is about pages: reserving, sharing, copying, releasing them. open.c opens
   and closes a cache and makes a store of it; it calls cache.c and is never called by it. */

#ifndef INCIPIT_CACHE_INSIDE_H
#define INCIPIT_CACHE_INSIDE_H
#include "cache/pages.h"

/* lets the pool of a group have wanted pages or more; errors: memory, and then the
   pool is as it was */
bool pages_grow(struct cache *s, struct layer_group *f, size_t wanted,
  struct error *why);

/* lets a block table have room for n entries; errors: memory */
bool list_reserve(struct cache *s, struct page_list *l, size_t n, struct error *why);

/* gives up one reference to a page, and frees the page with the last */
void page_release(struct layer_group *f, uint32_t page);

/* gets pages for all rows of the pass; errors: the cache is full, and memory */
bool cache_reserve(struct cache *s, struct error *why);

/* tells where the keys and values of a sequence are in one layer */
void cache_view(const struct store *common, uint32_t layer, uint32_t sequence,
  struct kv_view *v);

/* keeps the first length rows, or none if rows that the next row sees are gone */
void cache_crop(struct store *common, uint32_t sequence, size_t length);

/* gives the empty sequence to the rows of from; errors: memory */
bool cache_fork(struct store *common, uint32_t from, uint32_t to, struct error *why);

/* frees a cache, even one that is only half open */
void cache_close(struct store *common);

/* the table of these functions: a store is a cache if its kind is this */
extern const struct store_kind cache_kind;
#endif
