/* counters.h -- what passes have cost, in whole numbers.
   made from chapters/02-model.w; change it there

   A counter is increased by whoever pays the cost, once for a call and never once for
   an element. A pass that fails sets all of them back. */

#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>

/* how many counters there are */
enum { N_COUNTERS = 11 };

/* what passes have cost */
struct counters {
  union {
    struct {
      uint64_t passes, rows; /* calls of model_forward; rows in them */
      uint64_t kv_rows_computed; /* rows whose keys and values were computed, */
      uint64_t kv_rows_recomputed; /* and those that an earlier pass had computed */
      uint64_t qk_pairs; /* of one head of the first layer */
      uint64_t madds_linear, madds_attention, madds_head; /* multiply-adds */
      uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
    };
    uint64_t of[N_COUNTERS]; /* the same, in order */
  };
};
#endif
