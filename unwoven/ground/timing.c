/* timing.c -- a clock that never goes back, and the quartiles of what it measured.

   The median is reported because disturbances only ever make a measurement longer. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "ground/timing.h"

/* not the clock on the wall, which people and the network set */
double timing_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

struct quartiles timing_quartiles(double *x, size_t n)
{
  qsort(x, n, sizeof *x, by_size);
  return (struct quartiles) { x[n / 4], x[n / 2], x[n * 3 / 4] };
}

/* index3 is the third level as far as one core reaches it, not the sum on the data
   sheet. */
size_t timing_last_cache(void)
{
  size_t kib = 0;
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (f != NULL) {
    if (fscanf(f, "%zuK", &kib) != 1) kib = 0;
    fclose(f);
  }
  return kib << 10;
}
