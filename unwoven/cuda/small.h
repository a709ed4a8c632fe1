/* small.h -- what the kernels of small.inc are given.

   Plain data, whose pointers are addresses of the device. A launch is compared with others byte
   by byte: so what would be padding has a name, zero, and the table sets it to 0. Included by
   launch.h, never alone. */

#ifndef INCIPIT_CUDA_SMALL_H
#define INCIPIT_CUDA_SMALL_H

/* those of enum activation_kind */
enum { DEVICE_SILU, DEVICE_GELU_TANH, DEVICE_GELU_ERF };

/* a block of threads for each row of d */
struct norm_args { const float *x; float *y; struct stored_rows gain, bias; uint32_t d, centred;
  float epsilon; uint32_t zero; };

/* x: [rows][n_heads][2*half], in place */
struct angles_args { const uint32_t *position; const float *frequency; float *x, *cosine, *sine;
  uint32_t rows, half, n_heads; float scaling; };

/* up may be null */
struct activate_args { const float *x, *up; float *y; size_t n; uint32_t kind, zero; };

/* row id[i] of table, or row which[i] of x, to row i of y */
struct move_args { const float *x; float *y; const uint32_t *id; const uint64_t *which;
  struct stored_rows table; size_t n, width; };

/* x: [rows][n][width] */
struct split_args { const float *x; float *y[MOST_PARTS]; size_t rows, n, width; };

/* n bytes within the device, or n times sixteen if wide */
struct copy_args { void *to; const void *from; size_t n; uint32_t wide, zero; };

/* a block of threads for each row of d */
struct mark_args { const float *x; uint32_t *first; uint32_t d, mark, none, zero; };

/* n blocks of 32 */
struct bytes_args { const float *x; int8_t *q; float *d; size_t n; };

/* x: [rows][in]; h: [rows][words], two numbers each */
struct halves_args { const float *x; uint32_t *h; uint32_t rows, in, words, zero; };

/* left[0]: a*a + c as it is compiled; left[1]: the multiply-add of the kernels */
struct round_args { float *left; float a, c; };

/* 8*n multiply-adds a thread */
struct probe_args { float *left; uint32_t n, zero; };

/* a block of threads for each tile, which is one row */
struct write_args { const struct device_segment *segment; const struct query_tile *tile;
  const float *k, *v; uint32_t n_kv_heads, head_dim; };
#endif
