/* counters.h -- made from chapters/02-model.w; change it there */

#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>

/* how many counters there are */
enum { N_COUNTERS = 11 };

/* calls of model_forward; tokens at positions put through all layers; positions whose
   keys and values were computed, and those of them that an earlier pass had computed;
   (query, key) pairs of one head of the first layer; multiply-adds of the layers'
   matrices, of attention over all heads and layers, and of the head; stored bytes of
   weights read; bytes of cache read and written */
struct counters {
  union {
    struct {
      uint64_t passes, rows;
      uint64_t kv_rows_computed, kv_rows_recomputed, qk_pairs;
      uint64_t madds_linear, madds_attention, madds_head;
      uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
    };
    uint64_t of[N_COUNTERS]; /* the same, in order */
  };
};
#endif
