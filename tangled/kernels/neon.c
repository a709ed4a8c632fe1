/* neon.c -- made from chapters/11-simd.w; change it there */

#include "kernels/kernels.h"
#include "functions/numbers.h"
#if defined __aarch64__
#include <arm_neon.h>
#define NAME "neon"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 12
#include "kernels/lanes.inc"

/* <Multiply-add and the rest, for NEON> */
INLINE vec fused(vec a, vec b, vec c)
{ return vfmaq_f32(c, a, b); }
INLINE vec spread(float x)
{ return vdupq_n_f32(x); }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  uint16x4_t short_ones = vld1_u16(h);
  if (type == WEIGHT_F16)
    return vcvt_f32_f16(vreinterpret_f16_u16(short_ones));
  return vreinterpretq_f32_u32(vshll_n_u16(short_ones, 16));
}

INLINE vec i8_to_f32(const int8_t *small)
{
  vec v = { 0 };
  for (int j = 0; j < WIDTH; j++) v[j] = (float) small[j];
  return v;
}

/* <Choose lanes and fold them, in plain C> */
INLINE vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}

INLINE vec load_first(const void *p, int n)
{
  vec v = { 0 };
  memcpy(&v, p, (size_t) n * sizeof (float));
  return v;
}

/* <Fold sixteen lanes in an array> */
INLINE float fold_array(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

INLINE vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}
#include "kernels/bodies.inc"
const struct kernels kernels_neon =
  /* <The functions of a table> */
  { .name = NAME, .memory = &buffers_host,
  .matrix_types = WEIGHTS_ALL, .int8_types = WEIGHTS_IN_BLOCKS,
  .bf16_types = 1u << WEIGHT_BF16,
  .linear_int8 = linear_int8, .linear_bf16 = plain_linear_bf16,
  .split = host_split, .gather = host_gather, .write = host_write,
  .mark_nonfinite = mark_nonfinite,
  .linear = linear, .room = room_of_all, .attention_room = attention_room,
  .normalize = normalize, .rotate = rotate,
  .attend = attend, .activate = activate, .add = add,
  .embed = embed, .angles = angles, .softmax = softmax,
  .log_softmax = log_softmax, .exp_shifted = exp_shifted,
  .prepared_bytes = prepared_bytes_of_all, .prepare = prepare_all,
  .mul_add_unfused = mul_add_unfused, .mul_add_fused = mul_add_fused,
  .probe_flops = probe_flops, .probe_bandwidth = probe_bandwidth };
#endif
