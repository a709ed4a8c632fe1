/* numbers.c -- made from chapters/02-model.w; change it there */

/* 2.12  numbers.c */

#include <math.h>
#include <string.h>
#include "02-model/numbers.h"

float num_expf(float x)
{
  return (float)exp(x);
}

float num_logf(float x)
{
  return (float)log(x);
}

float num_powf(float x, float y)
{
  return (float)pow(x, y);
}

float num_sinf(float x)
{
  return (float)sin(x);
}

float num_cosf(float x)
{
  return (float)cos(x);
}

float num_tanhf(float x)
{
  return (float)tanh(x);
}

float num_erff(float x)
{
  return (float)erf(x);
}

double num_exp(double x)
{
  return exp(x);
}

double num_log(double x)
{
  return log(x);
}

double num_pow(double x, double y)
{
  return pow(x, y);
}

double num_sin(double x)
{
  return sin(x);
}

double num_cos(double x)
{
  return cos(x);
}

double num_tanh(double x)
{
  return tanh(x);
}

double num_erf(double x)
{
  return erf(x);
}

/* 2.13  Widen and narrow */

float num_from_bf16(uint16_t h)
{
  uint32_t u = (uint32_t) h << 16;
  float x;
  memcpy(&x, &u, 4);
  return x;
}

float num_from_f16(uint16_t h)
{
  uint32_t u = (uint32_t) (h & 0x7fff) << 13;
  float x;
  memcpy(&x, &u, 4);
  x *= 0x1p112f;
  memcpy(&u, &x, 4);
  if ((h & 0x7c00) == 0x7c00)
    u |= 0x7f800000;
  u |= (uint32_t) (h & 0x8000) << 16;
  memcpy(&x, &u, 4);
  return x;
}

uint16_t num_to_bf16(float x)
{
  uint32_t u;
  memcpy(&u, &x, 4);
  if ((u & 0x7fffffff) > 0x7f800000)
    return (uint16_t) (u >> 16 | 0x40);
  return (uint16_t) ((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

uint16_t num_to_f16(float x)
{
  uint32_t u, sign;
  memcpy(&u, &x, 4);
  sign = u >> 16 & 0x8000, u &= 0x7fffffff;
  if (u > 0x7f800000)
    return (uint16_t) (sign | 0x7e00);
  if (u >= 0x477ff000)
    return (uint16_t) (sign | 0x7c00);
  memcpy(&x, &u, 4);
  if (u < 0x38800000) {
    x += 0.5f;
    memcpy(&u, &x, 4);
    return (uint16_t) (sign | (u - 0x3f000000));
  }
  return (uint16_t) (sign | (u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13);
}
