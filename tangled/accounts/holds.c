/* holds.c -- made from workshop/29-memory.w; change it there */

#include <math.h>
#include "functions/numbers.h"
#include "accounts/formats.h"

bool format_can_hold(const struct kv_format *f, const float *x, size_t n,
  struct error *why)
{
  const struct number_type *t = &number_types[f->type];
  if (n % t->block != 0)
    return error_say(why, "%zu numbers in %s; wanted: a multiple of %d", n,
      f->name, t->block);
  for (size_t i = 0; i < n; i++) {
    if (x[i] - x[i] != 0)
      return error_say(why, "number %zu is not finite; wanted: finite numbers", i);
    if (t->largest > 0
        && (num_to_f16(fabsf(x[i]) / t->largest) & 0x7c00) == 0x7c00)
      return error_say(why, "number %zu, %g, gives its block a scale beyond binary16;"
        " wanted: a smaller number", i, (double) x[i]);
  }
  return true;
}
