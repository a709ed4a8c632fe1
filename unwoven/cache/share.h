/* share.h -- pages of a cache that belong to nobody in particular, for chapter 12's index of prefixes. */
#ifndef INCIPIT_CACHE_SHARE_H
#define INCIPIT_CACHE_SHARE_H
#include "cache/cache.h"

/* layers with different windows have pages of their own; there are never more kinds */
enum { CACHE_GROUPS = 2 };

/* the pages that hold the same rows in all layers */
struct cache_block { uint32_t page[CACHE_GROUPS]; };

/* block number i (from 0) of a sequence, all of whose rows are stored; false if some of its pages have
   left their window. The store s must be a cache, here and below */
bool cache_block_of(const struct store *s, uint32_t sequence, size_t i, struct cache_block *b);

/* the pages stay in memory until they are released, whatever becomes of the sequence */
void cache_block_hold(struct store *s, const struct cache_block *b);

/* gives up what cache_block_hold took: a page that is in no block table is free then */
void cache_block_release(struct store *s, const struct cache_block *b);

/* the bytes of a block: keys and values of its rows, in all layers, as they are stored */
size_t cache_block_bytes(const struct store *s);

/* writes them to to[cache_block_bytes] */
void cache_block_get(const struct store *s, const struct cache_block *b, void *to);

/* a new block with the bytes at from, held by the caller; false if there is no page left, or no memory */
bool cache_block_make(struct store *s, const void *from, struct cache_block *b);

/* is one of the pages in a block table, or held by somebody else? */
bool cache_block_in_use(const struct store *s, const struct cache_block *b);

/* appends the rows of a block, whose tokens are token[page_rows], to a sequence whose rows fill its pages;
   nothing is computed or copied. Errors: memory, and then the sequence is as it was */
bool cache_adopt(struct store *s, uint32_t sequence, const struct cache_block *b,
  const uint32_t *token, struct error *why);

/* rows that a sequence is to get */
struct cache_demand { uint32_t sequence; size_t rows; };

/* how many pages a pass with these rows, each sequence at most once, would lack; 0: it finds them all */
size_t cache_lacks(const struct store *s, const struct cache_demand *want, size_t n);

/* is that 0? */
bool cache_fits(const struct store *s, const struct cache_demand *want, size_t n);

/* could a cache with nothing else in it hold a text of that many rows, of which a pass reads at most some? If not, *has
   is for how many rows there are pages */
bool cache_could_hold(const struct store *s, size_t rows, size_t pass, size_t *has);
#endif
