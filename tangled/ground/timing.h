/* timing.h -- made from workshop/00-ground.w; change it there */

#ifndef INCIPIT_TIMING_H
#define INCIPIT_TIMING_H
#include <stddef.h>

/* of a clock that never goes back, from some moment on */
double timing_seconds(void);

/* the lower quartile, the median and the upper quartile */
struct quartiles { double low, median, high; };

/* sorts n >=1 numbers, and says which stand at the quarters */
struct quartiles timing_quartiles(double *x, size_t n);

/* the bytes of the processor's third-level cache, 0 if the system does not say */
size_t timing_last_cache(void);
#endif
