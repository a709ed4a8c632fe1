==== check
# the scale is the largest divided by 7, whatever its sign; no number is off by more than half a step and what the scale has lost
planted
says_like_ours
==== test
#include "exercise.h"
#include "suite.h"
#include "functions/numbers.h"
#include "accounts/formats.h"
enum { SIZES = 200 };
static void test(unsigned size)
{
  struct error why; const struct kv_format *f = format_find("q4_0", &why);
  unsigned char block[18]; float x[WEIGHT_BLOCK], y[WEIGHT_BLOCK], largest = 0, by = ldexpf(1, (int) draw(16) - 8); double most = 0, scale;
  for (int i = 0; i < WEIGHT_BLOCK; i++) x[i] = size == 1 ? 0 : by * draw_float(), largest = fmaxf(largest, fabsf(x[i]));
  tell("the largest is %g", largest);
  f->encode(x, WEIGHT_BLOCK, block);
  format_decode(f->type, block, WEIGHT_BLOCK, y);
  scale = num_from_f16((uint16_t) (block[0] | block[1] << 8));
  for (int i = 0; i < WEIGHT_BLOCK; i++) most = fmax(most, fabs((double) y[i] - (double) x[i]));
  double right = num_from_f16(num_to_f16(largest / 7));
  (void) right;
  say("scale: %.9g", OF(scale, right));
  say_most("off", OF(most, largest / 14 * 1.0001 + 7 * fabs(right - (double) largest / 7)), 1);
}
==== answer
== tangled/accounts/formats.c
-  float d = max / -8, times = d != 0 ? 1 / d : 0;
+  float d = fabsf(max) / 7, times = d != 0 ? 1 / d : 0;
==== wrong
== tangled/accounts/formats.c
-  float d = max / -8, times = d != 0 ? 1 / d : 0;
+  float d = fabsf(max) / 8, times = d != 0 ? 1 / d : 0;
==== skeleton
# a function in tangled/accounts/formats.c writes the blocks of q4_0.  Write == FILE, then - lines and + lines
