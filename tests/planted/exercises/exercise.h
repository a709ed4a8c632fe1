/* exercise.h -- begins the part test of an exercise whose answer is code.  The test says what the code did, line by line, with
   inputs that are drawn anew each time (course/kit.h).  It is compiled twice: with the reader's code, and with OURS and without it,
   when it says what is right.  OF(x, y) is x in the first and y in the second. */
#ifndef INCIPIT_EXERCISE_H
#define INCIPIT_EXERCISE_H
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kit.h"
#ifdef OURS
#define OF(theirs, ours) (ours)
#else
#define OF(theirs, ours) (theirs)
#endif

/* a seed for a generator of a test's own */
static inline uint64_t fresh(void)
{
  uint64_t high = draw(UINT32_MAX);
  return high << 32 | draw(UINT32_MAX);
}

static inline uint64_t hash_of(const void *p, size_t n)
{
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *) p)[i]) * UINT64_C(1099511628211);
  return h;
}
#endif
