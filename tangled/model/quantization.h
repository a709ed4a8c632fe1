/* quantization.h -- made from chapters/10-quantization.w; change it there */

#ifndef INCIPIT_QUANTIZATION_H
#define INCIPIT_QUANTIZATION_H
#include "model/kernel.h"

/* <What a block stands for> */

/* a number of a block is q*d + m, with a whole number q */
struct block_scale { float d, m; };

/* whether m is anything but 0 in this type */
bool block_has_min(enum weight_type type);

/* the whole number q of number i of a block */
int block_whole(enum weight_type type,
  const unsigned char *block, size_t i);

/* the scale and the minimum of number i; equal for group neighbours */
struct block_scale block_scale_of(enum weight_type type,
  const unsigned char *block, size_t i);

/* number i of a block: q*d, which is exact, or q*d + m, rounded once */
float block_number(enum weight_type type,
  const unsigned char *block, size_t i);

/* <Writing weights> */

/* writes n numbers, whole blocks, to the weight_row_bytes at to, rounded as ggml
   does; errors: a number that is not finite, a scale beyond binary16, a type that is
   only read. In F16 and BF16 a number that is too large becomes infinite */
bool weights_encode(enum weight_type type, const float *x, size_t n, void *to,
  struct error *why);

/* one block of Q4_K or Q6_K, with the scales that err least as far as a search finds
   them; false: a scale beyond binary16 */
bool superblock_encode(enum weight_type type, const float *x, unsigned char *to);

/* the types that weights_encode writes, bit 1 << type for each */
uint32_t weights_written(void);

/* <Products with inputs of fewer bits> */

/* 32 numbers, each near q[i]*d; sum has the sums of both halves of q */
struct int8_block { float d; int32_t sum[2]; int8_t q[WEIGHT_BLOCK]; };

/* 32 floats rounded to bytes, tiny ones as well: the largest in magnitude becomes 127
   or -127, the others the nearest integer, a half to the even one. If all are 0, so
   are d and q. If one is infinite or NaN, d is, and all q are 0 */
void quantize_int8(const float *x, struct int8_block *to);

/* linear_int8 of the plain table */
void plain_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);

/* linear_bf16 of the plain table */
void plain_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
#endif
