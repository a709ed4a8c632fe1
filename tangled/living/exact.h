/* exact.h -- fmaf where there is no instruction for it and the rounding mode cannot
   be changed.
   made from workshop/20-living.w; change it there */

#ifndef INCIPIT_EXACT_H
#define INCIPIT_EXACT_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/* <Round to odd> */

/* the sum of two doubles; if it is not exact, that of its neighbours whose last bit
   is odd */
static inline double rounded_to_odd(double product, double c)
{
  double sum = product + c, of_c = sum - product;
  double lost = (product - (sum - of_c)) + (c - of_c);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (fabs(lost) > 0 && (bits & 1) == 0) {
    if ((lost > 0) == (sum > 0)) bits++;
    else bits--;
  }
  memcpy(&sum, &bits, sizeof bits);
  return sum;
}

/* <Multiply and add, rounding once> */

/* a*b+c, rounded once */
static inline float exact_fmaf(float a, float b, float c)
{
  double product = (double) a * b, sum = product + c;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((bits & 0x1fffffff) == 0x10000000 || fabs(sum) < 0x1p-126)
    return (float) rounded_to_odd(product, c);
  return (float) sum;
}
#if defined __wasm_simd128__
/* <Multiply and add four times> */
#include <wasm_simd128.h>

/* the same in four lanes, one after the other */
static v128_t exact_fma_lanes(v128_t a, v128_t b, v128_t c)
  __attribute__((noinline, cold));

/* in each lane by itself */
static v128_t exact_fma_lanes(v128_t a, v128_t b, v128_t c)
{
  float x[4], y[4], z[4];
  wasm_v128_store(x, a);
  wasm_v128_store(y, b);
  wasm_v128_store(z, c);
  for (int j = 0; j < 4; j++) z[j] = exact_fmaf(x[j], y[j], z[j]);
  return wasm_v128_load(z);
}

/* lanes 0 and 1 as doubles */
static inline v128_t first_two(v128_t x)
{ return wasm_f64x2_promote_low_f32x4(x); }

/* lanes 2 and 3 */
static inline v128_t last_two(v128_t x)
{ return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 1)); }

/* a*b+c in four lanes, rounded once */
static inline v128_t exact_fma(v128_t a, v128_t b, v128_t c)
{
  /* <Compute both halves in double> */
  v128_t low = wasm_f64x2_add(wasm_f64x2_mul(first_two(a), first_two(b)), first_two(c));
  v128_t high = wasm_f64x2_add(wasm_f64x2_mul(last_two(a), last_two(b)), last_two(c));
  /* <Give doubtful lanes to the slow way> */
  v128_t words = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
  v128_t tops = wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
  v128_t half = wasm_i32x4_eq(wasm_v128_and(words, wasm_i32x4_const_splat(0x1fffffff)),
    wasm_i32x4_const_splat(0x10000000));
  v128_t tiny = wasm_u32x4_lt(wasm_i32x4_shl(tops, 1),
    wasm_i32x4_const_splat(0x38100000 << 1));
  if (wasm_v128_any_true(wasm_v128_or(half, tiny))) return exact_fma_lanes(a, b, c);
  return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low),
    wasm_f32x4_demote_f64x2_zero(high), 0, 2);
}
#endif
#endif
