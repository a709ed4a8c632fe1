/* timing.c -- made from workshop/00-ground.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "ground/timing.h"

/* <Read the clock, and sort what it said> */
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

/* <Ask for the size of the last-level cache> */
size_t timing_last_cache(void)
{
  long size = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  size = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return size > 0 ? (size_t) size : 0;
}
