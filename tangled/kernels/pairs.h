/* pairs.h -- made from workshop/34-kernels-body.w; change it there */

#ifndef INCIPIT_PAIRS_H
#define INCIPIT_PAIRS_H
#include "kernels/kernels.h"

/* functions that belong together */
struct pair_kernels {
  /* linear_bf16 of a table */
  void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  /* bytes of workspace that linear wants */
  size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  /* of the panels of w, 0 if it has none */
  size_t (*prepared_bytes)(const struct matrix *w);
  /* panels of a matrix that has some */
  void (*prepare)(const struct matrix *w, void *to);
};

/* for the table of AVX-512, if the processor has AVX512-BF16 */
extern const struct pair_kernels pairs_avx512;
#endif
