/* formats.c -- made from chapters/06-memory.w; change it there */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "accounts/formats.h"

/* <Encode a block> */
static void put_scale(float d, unsigned char *to)
{
  uint16_t h = num_to_f16(d);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
}

static int within(float x, int low, int high)
{
  if (x != x) return 0;
  if (x < (float) low) return low;
  return x > (float) high ? high : (int) x;
}

static void encode_block8(const float *x, unsigned char *to)
{
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > max) max = fabsf(x[i]);
  float d = max / 127, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    to[2 + i] = (unsigned char) within(roundf(x[i] * times), -128, 127);
}

static void encode_block4(const float *x, unsigned char *to)
{
  float max = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > fabsf(max)) max = x[i];
  float d = max / -8, times = d != 0 ? 1 / d : 0;
  put_scale(d, to);
  for (int i = 0; i < WEIGHT_BLOCK / 2; i++) {
    float low = x[i] * times, high = x[i + WEIGHT_BLOCK / 2] * times;
    to[2 + i] = (unsigned char) (within(low + 8.5f, 0, 15)
      | within(high + 8.5f, 0, 15) << 4);
  }
}

/* <Encode a row> */
static void encode_f32(const float *x, size_t n, void *to)
{ memcpy(to, x, n * sizeof *x); }
static void encode_f16(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i++) {
    uint16_t h = num_to_f16(x[i]);
    memcpy((char *) to + 2 * i, &h, 2);
  }
}

static void encode_bf16(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i++) {
    uint16_t h = num_to_bf16(x[i]);
    memcpy((char *) to + 2 * i, &h, 2);
  }
}

static void encode_q8_0(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i += WEIGHT_BLOCK)
    encode_block8(x + i, (unsigned char *) to + weight_row_bytes(WEIGHT_Q8_0, i));
}

static void encode_q4_0(const float *x, size_t n, void *to)
{
  for (size_t i = 0; i < n; i += WEIGHT_BLOCK)
    encode_block4(x + i, (unsigned char *) to + weight_row_bytes(WEIGHT_Q4_0, i));
}

/* <Decode a row> */
void format_decode(enum weight_type type, const void *from, size_t n, float *x)
{
  struct tensor row = { from, type };
  for (size_t i = 0; i < n; i++) x[i] = tensor_number(row, i);
}

/* <Find a format> */
const struct kv_format *format_at(size_t i)
{
  static const struct kv_format list[N_FORMATS] = {
    { "f32", WEIGHT_F32, encode_f32 }, { "f16", WEIGHT_F16, encode_f16 },
    { "bf16", WEIGHT_BF16, encode_bf16 },
    { "q8_0", WEIGHT_Q8_0, encode_q8_0 },
    { "q4_0", WEIGHT_Q4_0, encode_q4_0 } };
  return i < N_FORMATS ? &list[i] : NULL;
}

const struct kv_format *format_find(const char *name, struct error *why)
{
  for (size_t i = 0; i < N_FORMATS; i++)
    if (strcmp(format_at(i)->name, name) == 0) return format_at(i);
  error_say(why, "no format is called `%s'; wanted: f32, f16, bf16, q8_0 or q4_0", name);
  return NULL;
}
