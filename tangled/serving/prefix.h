/* prefix.h -- made from chapters/12-serving.w; change it there */

#ifndef INCIPIT_PREFIX_H
#define INCIPIT_PREFIX_H
#include "cache/share.h"

/* <The pages that are known by their tokens> */

/* an entry, and when it was made: an entry's number may be used again; zero: the root */
struct prefix_place { uint32_t entry; uint64_t born; };

/* a full page, which is known by its tokens and by what comes before it */
struct prefix_entry {
  uint64_t born; /* 0: it is free */
  uint32_t parent; /* the entry of the page before it; 0: it is a first page */
  uint32_t next; /* in the same bucket, or in the list of free entries */
  uint32_t children; /* entries whose parent it is */
  uint64_t used; /* when it was last adopted or made */
  uint64_t needed; /* when it was last found above a page in use */
  struct cache_block block; /* holds a reference to each of its pages */
};

/* the tree of all pages that are known */
struct prefix_index {
  struct store *s; /* a cache; null if nothing is to be shared */
  struct memory *m;
  size_t page_rows, n, cap; /* entries from 1 to n-1 have been used; entry 0 is the root */
  struct prefix_entry *entry; /* [cap] */
  uint32_t *token; /* [cap] pages */
  uint32_t *bucket; /* [cap]: the first entry of each, 0: none */
  uint32_t free; /* the first free entry, 0: none */
  size_t kept; /* entries in use */
  uint64_t clock;
};

/* an empty index of the pages of s, or, if that is null, one that finds nothing */
bool prefix_open(struct prefix_index *x, struct store *s, struct memory *m,
  struct error *why);

/* gives the empty sequence all pages that are known to begin the text id[n]; returns
   how many, and where the last one is */
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last);

/* the place of page i of the sequence, which has token[page_rows] and comes after
   another; zero if it cannot be had */
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i);

/* gives up the entry without children that was used longest ago, among all if in_use,
   else among those whose page no text uses; false: there is none */
bool prefix_evict(struct prefix_index *x, bool in_use);

/* how many pages prefix_evict would give up, one after the other, of those that no
   text uses */
size_t prefix_spare(struct prefix_index *x);

/* gives up all entries, and the memory */
void prefix_close(struct prefix_index *x);
#endif
