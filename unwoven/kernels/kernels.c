/* kernels.c -- which tables there are, and which one to take.

   A program that is compiled by hand with ONLY_PLAIN has the plain table alone, and needs only this file and
   prepared.c of the module: all tables give the same bits, and nobody should have to wait for their
   compilation. No name and no number of a table is written down elsewhere. */

#include <stdio.h>

#include <stdlib.h>

#include <string.h>

#include "kernels/parts.h"

/* The slowest first. The list is made anew at each call: to keep it would take a global variable, and the
   question which thread writes it first. On a processor of another kind there are only the two in plain C,
   which the compiler may make faster by itself. */
const struct kernels *kernels_at(size_t i)
{
  const struct kernels *found[4] = { &kernels_plain };
  size_t n = 1;
#if !defined ONLY_PLAIN
  found[n++] = &kernels_scalar;
#if defined __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f")
    && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl");
  if (avx2) found[n++] = &kernels_avx2;
  if (avx512) found[n++] = &kernels_avx512;
#elif defined __aarch64__
  found[n++] = &kernels_neon;
#elif defined INCIPIT_SIMD128
  found[n++] = &kernels_simd128;
#endif
#endif
  return i < n ? found[i] : NULL;
}

/* Without a name, the last of the list, which is the fastest. A caller that asks for one that is not there is
   told which are. */
const struct kernels *kernels_find(const char *name, struct error *why)
{
  char there[200] = "";
  size_t n = 0;
  const struct kernels *k = NULL;
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    k = kernels_at(i);
    if (name != NULL && strcmp(name, k->name) == 0) return k;
    n += (size_t) snprintf(there + n, sizeof there - n, i > 0 ? ", %s" : "%s", k->name);
    if (n >= sizeof there) n = sizeof there - 1;
  }
  if (name == NULL) return k;
  error_say(why, "kernels: %s is not among those that this machine can run; wanted: one of %s",
    name, there);
  return NULL;
}
