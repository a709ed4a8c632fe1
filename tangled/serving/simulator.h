/* simulator.h -- made from chapters/12-serving.w; change it there */

#ifndef INCIPIT_SIMULATOR_H
#define INCIPIT_SIMULATOR_H
#include "phases/phases.h"
#include "serving/scheduler.h"

/* <A server without a model> */

/* the caller fills in when it comes, and both lengths */
struct simulated_text {
  uint64_t arrives; /* nanoseconds */
  size_t prompt, wants; /* tokens, at least one of each */
  uint64_t first, last; /* when it had its first new token, and its last */
  size_t length, stored, rows; /* tokens so far; rows in the cache; rows in the next pass */
  bool running; /* it has a slot */
  size_t preempted;
  uint32_t next; /* the text behind it in the line */
};

/* what the passes of a model cost, over all layers */
struct row_costs {
  uint64_t layer_madds, pair_madds, head_madds; /* of a row; of a row and a position that it sees; of the logits of a row */
  uint64_t layer_bytes, head_bytes; /* of the weights */
  uint64_t embedding_bytes, row_bytes; /* of a token's embedding; of its keys and values */
};

/* the caller fills in what stands before line; text has the answers afterwards */
struct simulation {
  size_t slots, pages, page_rows, pass_rows;
  bool in_batches;
  struct row_costs cost;
  struct roofline machine; /* zero: each pass takes one nanosecond */
  void (*on_pass)(void *ctx, const struct simulation *s, const struct counters *work);
  void *ctx; /* is told of each pass before it is computed; may be null */
  struct simulated_text *text; /* [n], borrowed */
  size_t n;
  uint32_t line, end; /* of those who have come, in their order */
  uint32_t *plan; /* [slots]: the texts with rows in the next pass */
  size_t planned, running, free_pages;
  uint64_t busy; /* nanoseconds in which a pass was computed */
  struct scheduler_counts counts;
};

/* those of a model whose cache has so many bytes for a row of one layer, if no layer
   has a window */
struct row_costs row_costs_of(const struct model *lm, size_t row_bytes);

/* serves all texts; errors: memory, a text without a token, or one that fills more
   than all pages */
bool simulate(struct memory *m, struct simulation *s, struct error *why);
#endif
