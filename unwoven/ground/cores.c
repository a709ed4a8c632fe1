/* cores.c -- how many physical cores the system has.

   Two hardware threads of one core share its multipliers, and for the kernels the second one
   is of no use. Linux says which logical processors are siblings. Those are counted that are
   the first of their kind; where the system says nothing, all. Four processors in sibling
   lists 0,2 and 1,3 are two cores: numbers 0 and 1 are the first in their lists, 2 and 3 are
   not. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>
#include "ground/pool.h"

/* The list rises, so its first number is enough; a processor without a file is its
   own sibling. */
static long first_sibling(long i)
{
  char path[96];
  snprintf(path, sizeof path,
    "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", i);
  FILE *file = fopen(path, "r");
  long sibling = i;
  if (file != NULL) {
    if (fscanf(file, "%ld", &sibling) != 1) sibling = i;
    fclose(file);
  }
  return sibling;
}

/* Two hardware threads share the multipliers of a core, so a processor counts only if
   it is the first of its siblings. */
unsigned pool_cores(void)
{
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned first = 0;
  for (long i = 0; i < online; i++)
    if (first_sibling(i) == i) first++;
  return first > 0 ? first : 1;
}
