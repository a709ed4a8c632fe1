/* self_test.c -- does this build round where the definitions say? It asks the table
   of kernels and not the compiler, because each table is compiled with options of its
   own.
   made from chapters/02-model.w; change it there */

#include "model/kernel.h"

bool kernels_self_test(const struct kernels *k, struct error *why)
{
  float a = 0x1.001p0f, c = -0x1.002p0f;
  struct float_modes modes;
  float_modes_begin(&modes);
  float two = k->mul_add_unfused(a, a, c), one = k->mul_add_fused(a, a, c);
  float_modes_end(&modes);
  if (two != 0.0f)
    return error_say(why, "kernels %s: this build contracts a*b+c"
      " into one rounding; compile with -ffp-contract=off", k->name);
  if (one != 0x1p-24f)
    return error_say(why, "kernels %s: the multiply-add of this"
      " machine rounds twice; wanted: one rounding", k->name);
  return true;
}
