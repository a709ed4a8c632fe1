/* timing.h -- a clock that never goes back, and the quartiles of what it measured.

   The clock on the wall will not do: people and the network set it. The same work is timed
   several times, and the median reported: what disturbs a measurement makes it longer, now and
   then a great deal longer; that moves the mean by its share of the excess and the median by
   one place. The quartiles say how quiet the machine was. */

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
