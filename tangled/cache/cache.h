/* cache.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_CACHE_H
#define INCIPIT_CACHE_H
#include "cache/keep.h"

/* <A store that keeps its rows in pages> */

/* a way to keep rows, by its name */
struct kv_format { const char *name; enum weight_type type;
  /* writes n numbers to the weight_row_bytes(type,n) bytes at to */
  void (*encode)(const float *x, size_t n, void *to);
};

/* what a cache is to be like; zero is the usual choice everywhere */
struct cache_options {
  size_t rows; /* the most in all sequences; 0: all their contexts */
  size_t page_rows; /* of a page: a power of two up to 256; 0: 64 */
  size_t pass; /* the most rows of a sequence in one pass; 0: a context */
  const struct kv_format *format; /* of the rows; null: float32 */
  bool preallocate; /* take the memory for all rows on opening */
  bool set_window; /* window and sinks replace the model's settings */
  /* a row sees the last window rows, 0: all, and the first sinks */
  uint32_t window, sinks;
  uint32_t context; /* the longest text; 0: the model's */
  const struct buffers *memory; /* where pages are; null: the host's */
};

/* an empty cache for n_sequences sequences of a model; null and a message if memory
   is refused or an option cannot be met. Owned by the caller, and closed by
   store_close */
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why);

/* what a cache holds */
struct cache_state {
  size_t pages, pages_used; /* in memory, and in some table */
  size_t page_rows; /* rows of a page */
  size_t bytes, bytes_used; /* of all pages, and of those in some table */
  size_t bytes_copied; /* because a shared page was written to */
};

/* the state of a cache; all zero for a store of another kind */
struct cache_state cache_look(const struct store *s);
#endif
