/* parts.h -- made from workshop/34-kernels-body.w; change it there */

#ifndef INCIPIT_PARTS_H
#define INCIPIT_PARTS_H
#include "functions/numbers.h"
#include "kernels/kernels.h"

/* <A way through a linear layer> */

/* four functions of a table for inputs in one format */
struct linear_kernels {
  void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
    const float *x, size_t rows, float *const *y);
  size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  size_t (*prepared_bytes)(const struct matrix *w, enum activations format);
  void (*prepare)(const struct matrix *w, enum activations format, void *to);
};

/* for inputs that are floats */
extern const struct linear_kernels floats_scalar, floats_avx2, floats_avx512,
  floats_neon;

/* for inputs that are rounded to bytes */
extern const struct linear_kernels blocks_scalar, blocks_avx2, blocks_avx512,
  blocks_vnni, blocks_neon;

/* for inputs that are rounded to bfloat16 */
extern const struct linear_kernels pairs_avx512;

/* <The parts of attention> */

/* floats between the scores of two heads */
enum { SCORES = 256 + 16 };

/* away[n], score[n][SCORES], left[n][most][2 + head_dim] */
struct heads_unit { const struct attention_dims *h; const struct kv_view *v;
  size_t n, most; /* heads; blocks that each may have */
  const float *q; float *y, *score, *left; size_t *away; };

/* attention of one row, all heads together */
struct heads_kernels { void (*attend)(const struct heads_unit *u,
  struct kv_range seen); };

/* the file that has it for each head */
extern const struct heads_kernels heads_scalar, heads_avx2, heads_avx512,
  heads_neon;

/* two functions of a table */
struct attention_kernels {
  void (*attend)(const struct engine *e, const struct attention_dims *h,
    const float *q, const struct segment *list, size_t n, float *scratch,
    float *y, const struct attention_probe *probe);
  size_t (*room)(const struct attention_dims *h, size_t rows, size_t max_len);
};

/* the file that has them for each head */
extern const struct attention_kernels attention_scalar, attention_avx2,
  attention_avx512, attention_neon;

/* the tables that are made of all this */
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512,
  kernels_neon;
#endif
