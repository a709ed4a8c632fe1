/* kernels.c -- made from workshop/34-kernels-body.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/parts.h"

/* <The tables of this build> */
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
#endif
#endif
  return i < n ? found[i] : NULL;
}

/* <Find a table by its name> */
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
