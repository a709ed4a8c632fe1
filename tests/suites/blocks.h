/* blocks.h -- scales for blocks whose other bytes are any: what a test writes where a type keeps them. */
#ifndef INCIPIT_BLOCKS_H
#define INCIPIT_BLOCKS_H
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "functions/number_type.h"

/* the largest small scale that the bytes of a block may be */
static inline float most_scale(enum weight_type type)
{
  switch (number_types[type].scales) {
  case SCALE_ALONE: case SCALE_POWER: return 1;
  case SCALES_PACKED: return 63;
  case SCALES_BYTES: return 128;
  case SCALES_NIBBLES: return 15;
  case SCALES_SIXES: case SCALES_APART: return 32;
  }
  return 1;
}
/* the power of two next to d, if the type has no other scales */
static inline void put_scale(enum weight_type type, void *block, float d, float min)
{
  const struct number_type *t = &number_types[type];
  unsigned char *p = (unsigned char *) block + t->d_at;
  uint16_t h = num_to_f16(d), m = num_to_f16(min);
  int e = 0;
  if (t->scales == SCALE_POWER) frexpf(d, &e), p[0] = (unsigned char) (d == 0 ? 0 : e < -127 ? 0 : e > 127 ? 254 : e + 127);
  else memcpy(p, &h, 2);
  if (t->has_min) memcpy(p + 2, &m, 2);
}
/* blocks whose numbers are between -size and size, or nearly so */
static inline void put_scales(enum weight_type type, void *blocks, size_t n, float size)
{
  float top = most_scale(type), d = size / (top * (float) number_types[type].largest);
  for (size_t i = 0; i < n; i++)
    put_scale(type, (char *) blocks + i * number_types[type].bytes, d, size / 2 / top);
}
#endif
