/* parts.h -- what the files of a table know of each other.

   A table of kernels is compiled in five files, because its bodies are inlined into each other once for every
   type of weights, and a compiler holds all of a file in memory at once. Each file gives the others one
   constant structure of functions; their types are those of struct kernels.

   A table has up to three ways through a linear layer, by the form of the inputs: floats, blocks of bytes,
   pairs of bfloat16. With AVX-512 the bytes are compiled twice, without VNNI and with it, and pairs exist
   only with AVX512-BF16; which of them the processor can run is asked when they are called (entries.inc). */

#ifndef INCIPIT_PARTS_H
#define INCIPIT_PARTS_H
#include "functions/numbers.h"
#include "kernels/kernels.h"

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
  floats_neon, floats_simd128;

/* for inputs that are rounded to bytes; vnni is another avx512 */
extern const struct linear_kernels blocks_scalar, blocks_avx2, blocks_avx512,
  blocks_vnni, blocks_neon, blocks_simd128;

/* for inputs that are rounded to bfloat16 */
extern const struct linear_kernels pairs_avx512;

/* floats from the scores of one head to those of the next: a block of positions, and a whole register behind its last */
enum { SCORES = 256 + 16 };

/* the heads of one row that a worker takes together; heads_room.inc says how much room they need. Arrays: away[n], bytes from the
   beginning of a row to the head's part of it; score[n][SCORES]; left[n][most][2 + head_dim], the results of the blocks of positions */
struct heads_unit { const struct attention_dims *h; const struct kv_view *v;
  size_t first, n, most; /* the first of n heads; blocks that each may have */
  const float *q; float *y, *score, *left; size_t *away; };

/* attention of one row, all heads together */
struct heads_kernels { void (*attend)(const struct heads_unit *u,
  struct kv_range seen); };

/* what each table has for that */
extern const struct heads_kernels heads_scalar, heads_avx2, heads_avx512,
  heads_neon, heads_simd128;

/* attention of a pass, and the room that a worker needs for it */
struct attention_kernels {
  void (*attend)(const struct engine *e, const struct attention_dims *h,
    const float *q, const struct segment *list, size_t n, float *scratch,
    float *y, const struct attention_probe *probe);
  size_t (*room)(const struct attention_dims *h, size_t rows, size_t max_len);
};

/* what each table has for that */
extern const struct attention_kernels attention_scalar, attention_avx2,
  attention_avx512, attention_neon, attention_simd128;

/* the tables that are made of all this; kernels_at says which of them this build and this processor have */
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512,
  kernels_neon, kernels_simd128;

#endif
