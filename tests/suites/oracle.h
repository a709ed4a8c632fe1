/* oracle.h -- the definitions of design P2.1-P2.7, restated with plain loops.  Includes no header
 * of tangled/. */
#ifndef INCIPIT_ORACLE_H
#define INCIPIT_ORACLE_H
#include <stddef.h>
#include <stdint.h>
enum { ORACLE_F32, ORACLE_F16, ORACLE_BF16, ORACLE_Q8_0, ORACLE_Q4_0, ORACLE_Q4_1, ORACLE_Q5_0,
  ORACLE_Q5_1, ORACLE_Q4_K, ORACLE_Q6_K, ORACLE_Q2_K, ORACLE_Q3_K, ORACLE_Q5_K, ORACLE_IQ4_NL, ORACLE_IQ4_XS,
  ORACLE_MXFP4, N_ORACLE_TYPES };
float oracle_number(const void *data, int type, size_t i);
void oracle_linear(const void *w, int type, int transposed, const void *bias, int bias_type,
  size_t in, size_t out, const float *x, size_t rows, float *y);
/* P2.2 and P2.3: the same with inputs rounded to bfloat16, or to bytes by blocks of 32 */
void oracle_linear_bf16(const void *w, int transposed, const void *bias, int bias_type, size_t in,
  size_t out, const float *x, size_t rows, float *y);
void oracle_linear_int8(const void *w, int type, const void *bias, int bias_type, size_t in,
  size_t out, const float *x, size_t rows, float *y);
void oracle_rmsnorm(
  const float *x, size_t rows, size_t d, const void *gain, int type, float epsilon, float *y);
void oracle_layernorm(const float *x, size_t rows, size_t d, const void *gain, const void *bias,
  int type, float epsilon, float *y);
void oracle_rope(float *x, size_t rows, size_t heads, size_t half, const uint32_t *position,
  const float *frequency, float scaling);
/* k and v: [positions][n_kv][d] of the stored type, one after the other; a row sees [0, sinks) and
 * [lo, hi); sink, one score a head that belongs to no position, may be null; so may weights:
 * [rows][heads][stride] */
void oracle_attention(const float *q, size_t rows, size_t heads, size_t n_kv, size_t d, float scale,
  const void *k, const void *v, int type, const uint32_t *lo, const uint32_t *hi,
  const uint32_t *sinks, const float *sink, float *y, float *weights, size_t stride);
void oracle_gelu_tanh(const float *x, size_t n, float *y);
void oracle_gelu_erf(const float *x, size_t n, float *y);
void oracle_silu(const float *x, size_t n, float *y);
void oracle_log_softmax(const float *x, size_t n, double *y);
void oracle_softmax(const float *x, size_t n, double *y);
/* the functions of P2.7 restated: same operations, one after the other */
float oracle_expf(float x);
float oracle_tanhf(float x);
float oracle_erff(float x);
double oracle_exp(double x);
double oracle_log(double x);
#endif
