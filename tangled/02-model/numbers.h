/* numbers.h -- made from chapters/02-model.w; change it there */

/* 2.10  numbers.h */

#ifndef INCIPIT_NUMBERS_H
#define INCIPIT_NUMBERS_H
#include "00-ground/ground.h"

/* 2.11  The functions */

float num_expf(float x);
/* e^x; 1 exactly for 0 */

float num_logf(float x);
/* natural logarithm */

float num_powf(float x, float y);
/* x^y */

float num_sinf(float x);
/* sine of an angle in radians */

float num_cosf(float x);
/* cosine of an angle in radians */

float num_tanhf(float x);
/* hyperbolic tangent */

float num_erff(float x);
/* error function */

double num_exp(double x);
/* e^x; 1 exactly for 0 */

double num_log(double x);
/* natural logarithm */

double num_pow(double x, double y);
/* x^y */

double num_sin(double x);
/* sine of an angle in radians, however large */

double num_cos(double x);
/* cosine of an angle in radians, however large */

double num_tanh(double x);
/* hyperbolic tangent */

double num_erf(double x);
/* error function */

float num_from_f16(uint16_t h);
/* IEEE binary16, widened exactly */

float num_from_bf16(uint16_t h);
/* the upper half of a binary32, widened exactly */

uint16_t num_to_f16(float x);
/* rounded to nearest even; too large becomes infinite */

uint16_t num_to_bf16(float x);
/* rounded to nearest even; too large becomes infinite */

#endif
