/* pages.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_PAGES_H
#define INCIPIT_PAGES_H
#include "cache/cache.h"
#include "cache/sequences.h"

/* <What the cache holds> */

/* a page of the pool */
struct page_info {
  uint32_t refs; /* how many tables it is in */
  uint32_t writers; /* how many of them write to it in this pass */
  uint32_t free_next; /* an entry of the stack of free pages */
  bool slab; /* does a block of the allocator begin with it? */
  char *data; /* [n_layers][2][heads][page_rows][head_bytes] */
};

/* the block table of a sequence */
struct page_list {
  uint32_t *page; const char **data; /* [cap]: numbers, and addresses */
  size_t n, cap; /* entries, and how many there is room for */
  size_t first; /* entries before it have been released, except sinks' */
  size_t held; /* first before the present pass */
};

/* the pool and the block tables of some layers */
struct layer_group {
  uint32_t layer, n_layers; /* its first layer; how many it has */
  /* [cap], of which n_free are free; at most max_pages */
  struct page_info *page; size_t cap, n_free, max_pages;
  struct page_list *sequence; /* [n_sequences] */
};

/* the most groups of a model */
enum { MAX_GROUPS = 2 };

/* a store that keeps its rows in pages */
struct cache {
  struct store common; /* must come first: a struct store * points here */
  struct sequence_table table;
  struct kv_format format;
  /* head_bytes: a key or a value of one head in one row */
  size_t heads, head_bytes, page_rows, sink_pages, copied;
  uint32_t *slot_in_group; /* [n_layers]: the index of a layer in its group */
  size_t n_groups;
  struct layer_group group[MAX_GROUPS];
};

/* how many pages rows rows take, even if they do not fill the last one */
static inline size_t pages_for(const struct cache *s, size_t rows)
{ return rows / s->page_rows + (rows % s->page_rows != 0); }

/* the keys of one layer in a page, or its values */
static inline size_t part_bytes(const struct cache *s)
{ return s->heads * s->page_rows * s->head_bytes; }

/* a whole page of a group */
static inline size_t page_bytes(const struct cache *s, const struct layer_group *f)
{ return 2 * f->n_layers * part_bytes(s); }
#endif
