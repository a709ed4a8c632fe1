/* cache.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_CACHE_H
#define INCIPIT_CACHE_H
#include "cache/keep.h"

/* <A store that keeps its rows in pages> */

/* a way to keep rows, by its name */
struct kv_format { const char *name; enum weight_type type;
  /* writes n numbers to the row_bytes(type,n) bytes at to */
  void (*encode)(const float *x, size_t n, void *to);
};

/* the most rows it may hold in all its sequences, 0: as many as their contexts have;
   rows a page, a power of two up to 256, 0: 64; the most rows of a sequence in one
   pass, 0: a context; how rows are kept, null: in float32; whether the memory for all
   of them is taken when it is opened; set_window: whether all layers see the last
   window positions, 0: all, and the first sinks, instead of what the model's settings
   say; the longest text, 0: the model's; and which memory, that of the kernels that
   will use it, null: the host's */
struct cache_options { size_t rows, page_rows, pass;
  const struct kv_format *format; bool preallocate;
  bool set_window; uint32_t window, sinks, context;
  const struct buffers *memory; };

/* an empty cache for n_sequences sequences of a model; null and a sentence if memory
   is refused or an option cannot be met. Owned by the caller, and closed by
   store_close */
struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_options *w, struct error *why);

/* pages that there is memory for, and those on some list; rows of one; the bytes of
   both; bytes that were copied because a shared page was written to */
struct cache_state { size_t pages, pages_used, page_rows, bytes, bytes_used,
  bytes_copied; };

/* the state of a cache; all zero for a store of another kind */
struct cache_state cache_look(const struct store *s);
#endif
