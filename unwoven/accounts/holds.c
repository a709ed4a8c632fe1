/* holds.c -- whether numbers can be packed in a format.

   Some cannot: an infinite number makes the scale of its block infinite, a very large one makes it
   overflow binary16, and a NaN is packed as 0. Inside a pass nobody has to ask. A row with a number
   that is not finite is recorded after the layer that produced it, and an infinite scale makes
   every row that attends to it non-finite, and so recorded as well. Other callers can ask first.
   (In binary16 itself a large number rounds to infinity, and that is allowed.) */

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
    if (x[i] - x[i] != 0) /* false of finite numbers only */
      return error_say(why, "number %zu is not finite; wanted: finite numbers", i);
    /* its block would have a scale of at least this; 0x7c00 are the bits of the exponent, all set
       in an infinite binary16 */
    if (t->largest > 0
        && (num_to_f16(fabsf(x[i]) / t->largest) & 0x7c00) == 0x7c00)
      return error_say(why, "number %zu, %g, gives its block a scale beyond binary16;"
        " wanted: a smaller number", i, (double) x[i]);
  }
  return true;
}
