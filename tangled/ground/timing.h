/* timing.h -- made from chapters/00-foundations.w; change it there */

#ifndef INCIPIT_TIMING_H
#define INCIPIT_TIMING_H
#include <stddef.h>

/* <A stopwatch> */

/* of a clock that never goes back, from some moment on */
double timing_seconds(void);
struct quartiles { double low, median, high; };

/* sorts n >=1 numbers, and says what stands at the quarters */
struct quartiles timing_quartiles(double *x, size_t n);
#endif
