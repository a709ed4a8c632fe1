/* attention.h -- what attention is given: where keys and values are, and which of
   them a row sees.
   made from chapters/02-model.w; change it there

   A view belongs to the store that filled it in, and is good for one layer of one
   pass. Segments are made anew in each layer, because each layer has its keys and
   values in another place. */

#ifndef INCIPIT_ATTENTION_H
#define INCIPIT_ATTENTION_H
#include <math.h>
#include "model/tensor.h"

/* <Where keys and values are> */

/* one layer of a sequence. The key of position t in head h is head_dim numbers of
   type at key + h*head_bytes + t*row_bytes if page is null, else at page[t/page_rows]
   + key + h*head_bytes + t%page_rows*row_bytes; the values likewise at value. All
   rows see the first sinks positions */
struct kv_view {
  uintptr_t key, value; /* addresses; with pages, distances from the beginning of a page */
  const char *const *page; /* addresses; null: all rows in one block */
  size_t page_rows, row_bytes, head_bytes;
  enum weight_type type;
  uint32_t sinks;
};

/* what is added to key or value, and head_bytes for each head before, to find
   position t */
static inline uintptr_t kv_place(const struct kv_view *v, uint32_t t)
{
  return v->page == NULL ? t * v->row_bytes
    : (uintptr_t) v->page[t / v->page_rows] + t % v->page_rows * v->row_bytes;
}

/* the numbers of one head at position t; part is v->key or v->value */
static inline struct tensor kv_row(const struct kv_view *v, uintptr_t part,
  uint32_t t, size_t head)
{
  uintptr_t at = part + kv_place(v, t) + head * v->head_bytes;
  return (struct tensor) { (const void *) at, v->type };
}

/* <Which positions a row sees> */

/* positions lo <= t < hi, and the first sinks positions, which end before lo; 0: none */
struct kv_range { uint32_t lo, hi, sinks; };

/* rows first_row, first_row+1, ... of a pass, n_rows of them, which are at
   first_position, first_position+1, ... of one sequence; window: how many positions a
   row sees, its own among them, 0: all */
struct segment {
  struct kv_view view;
  uint32_t first_row, n_rows, first_position, window;
};

/* what row number i of a segment sees */
struct kv_range segment_range(const struct segment *s, uint32_t i);

/* the score of a head of queries that belongs to no position */
static inline float head_sink(const struct attention_dims *h, size_t head)
{ return h->sink.data == NULL ? -INFINITY : tensor_number(h->sink, head); }

/* where attention leaves its weights: [rows][n_heads][stride], that of position t at
   index t; positions that a row does not see get 0 */
struct attention_probe { float *weights; size_t stride; };
#endif
