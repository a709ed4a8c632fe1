/* blocks.h -- made from workshop/32-blocks.w; change it there */

#ifndef INCIPIT_BLOCKS_H
#define INCIPIT_BLOCKS_H
#include "kernels/kernels.h"

/* two functions that belong together */
struct block_kernels {
  /* linear_int8 of a table */
  void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  /* panels of a matrix in blocks, for this linear alone */
  void (*prepare)(const struct matrix *w, enum activations format, void *to);
};

/* of one table: the second needs the instructions AVX512-VNNI */
extern const struct block_kernels blocks_avx512, blocks_vnni;
#endif
