/* blocks.c -- A number of a block, whatever its type.
   made from chapters/10-quantization.w; change it there

   Whole numbers and scales are exact; the only rounding is one multiply-add, where a
   type has a minimum. Nothing else of the model is used. */

#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"

/* <The whole numbers of a block> */
static int nibble(const unsigned char *q, size_t i)
{ return i < 16 ? q[i] & 15 : q[i - 16] >> 4; }
static int fifth_bit(const unsigned char *high, size_t i)
{ return (high[i / 8] >> i % 8 & 1) << 4; }

/* <Whole numbers in a block of 256> */
static int whole_of_q4_k(const unsigned char *q, size_t i)
{
  int two = q[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? two & 15 : two >> 4;
}

static int whole_of_q6_k(const unsigned char *low, const unsigned char *high, size_t i)
{
  size_t half = i / 128, part = i % 128 / 32, at = i % 32;
  int four = low[64 * half + 32 * (part % 2) + at], two = high[32 * half + at];
  four = part < 2 ? four & 15 : four >> 4;
  return four | (two >> 2 * part & 3) << 4;
}

static int two_bits(const unsigned char *q, size_t i)
{ return q[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3; }
static int one_bit(const unsigned char *high, size_t i)
{ return high[i % 32] >> i / 32 & 1; }
int block_whole(enum weight_type type, const unsigned char *block, size_t i)
{
  const struct number_type *t = &number_types[type];
  const unsigned char *low = block + t->low_at, *high = block + t->high_at;
  switch (type) {
  case WEIGHT_Q8_0: return (int8_t) low[i];
  case WEIGHT_Q4_0: case WEIGHT_Q4_1: return nibble(low, i) - t->offset;
  case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return (nibble(low, i) | fifth_bit(high, i)) - t->offset;
  case WEIGHT_Q4_K: return whole_of_q4_k(low, i);
  case WEIGHT_Q6_K: return whole_of_q6_k(low, high, i) - t->offset;
  case WEIGHT_Q2_K: return two_bits(low, i);
  case WEIGHT_Q3_K: return (two_bits(low, i) | one_bit(high, i) << 2) - t->offset;
  case WEIGHT_Q5_K: return whole_of_q4_k(low, i) | one_bit(high, i) << 4;
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4:
    return block_steps[t->steps][nibble(low + i / 32 * 16, i % 32)];
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break;
  }
  return 0;
}

/* <The scales of a block> */
static float half_at(const unsigned char *p)
{ return num_from_f16((uint16_t) (p[0] | p[1] << 8)); }

/* <Scales in a block of 256> */
static struct block_scale packed_scale(const unsigned char *block, size_t j)
{
  const unsigned char *six = block + 4;
  int d = six[j] & 63, m = six[j + 4] & 63;
  if (j >= 4) {
    d = (six[j + 4] & 15) | six[j - 4] >> 6 << 4;
    m = six[j + 4] >> 4 | six[j] >> 6 << 4;
  }
  return (struct block_scale) { half_at(block) * (float) d,
    -(half_at(block + 2) * (float) m) };
}

static struct block_scale nibble_scale(const unsigned char *d, unsigned char both)
{
  return (struct block_scale) { half_at(d) * (float) (both & 15),
    -(half_at(d + 2) * (float) (both >> 4)) };
}

static float six_apart(const unsigned char *six, size_t j, bool q3_k)
{
  int low = q3_k ? six[j % 8] >> j / 8 * 4 : six[4 + j / 2] >> j % 2 * 4;
  int high = q3_k ? six[8 + j % 4] >> j / 4 * 2 : six[2 + j / 4] >> j % 4 * 2;
  return (float) ((low & 15) + (high & 3) * 16 - 32);
}

bool block_has_min(enum weight_type type)
{ return number_types[type].has_min; }
struct block_scale block_scale_of(enum weight_type type,
  const unsigned char *block, size_t i)
{
  const struct number_type *t = &number_types[type];
  const unsigned char *d = block + t->d_at, *small = block + t->scales_at;
  struct block_scale s = { half_at(d), 0 };
  switch (t->scales) {
  case SCALE_ALONE: if (t->has_min) s.m = half_at(d + 2); break;
  case SCALES_PACKED: return packed_scale(small, i / t->group);
  case SCALES_BYTES: s.d *= (float) (int8_t) small[i / t->group]; break;
  case SCALES_NIBBLES: return nibble_scale(d, small[i / t->group]);
  case SCALES_SIXES: s.d *= six_apart(small + 4, i / t->group, true); break;
  case SCALES_APART: s.d *= six_apart(small, i / t->group, false); break;
  case SCALE_POWER: s.d = num_float(d[0] > 1 ? (d[0] - 1u) << 23 : (d[0] + 1u) << 21);
  }
  return s;
}

/* <The numbers of a block> */
float block_number(enum weight_type type, const unsigned char *block, size_t i)
{
  struct block_scale s = block_scale_of(type, block, i);
  float q = (float) block_whole(type, block, i);
  return block_has_min(type) ? fmaf(q, s.d, s.m) : q * s.d;
}
