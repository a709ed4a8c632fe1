/* formats.h -- made from chapters/06-memory.w; change it there */

#ifndef INCIPIT_FORMATS_H
#define INCIPIT_FORMATS_H
#include "cache/cache.h"

/* <Formats of a row> */

/* the number of formats in which a row can be kept */
enum { N_FORMATS = 5 };

/* f32, f16, bf16, q8_0, q4_0: the bytes are those of ggml; null after the last */
const struct kv_format *format_at(size_t i);

/* the one of that name; if there is none, null and an error that lists them */
const struct kv_format *format_find(const char *name, struct error *why);

/* the n numbers that a row of this type stands for, exactly */
void format_decode(enum weight_type type, const void *from, size_t n, float *x);

/* whether x can be encoded: its numbers are finite, the scale of each block fits
   binary16, and blocks are whole */
bool format_can_hold(const struct kv_format *f, const float *x, size_t n,
  struct error *why);
#endif
