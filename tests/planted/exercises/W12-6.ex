==== check
# against differences of u sigma(u)
wrapped
says_like_ours
==== head
#include <math.h>
#include <stdio.h>
==== tail
float ex_back(float u, float da) { return back(u, da); }
==== test
#include "exercise.h"
float ex_back(float u, float da);
enum { SIZES = 30 };
static double f(double u) { return u / (1 + exp(-u)); }
static void test(unsigned size)
{
  float u = 6 * draw_float(), da = 2 * draw_float();
  tell("u is %g, da is %g", u, da);
  say_near("du", OF((double) ex_back(u, da), (f(u + 1e-5) - f(u - 1e-5)) / 2e-5 * da));
}
==== answer
float back(float u, float da) { float s = 1 / (1 + expf(-u)); return da * s * (1 + u * (1 - s)); }
==== wrong
float back(float u, float da) { float s = 1 / (1 + expf(-u)); return da * s * (1 - s); }
==== skeleton
/* float back(float u, float da): the gradient du of a = u sigma(u) */
float back(float u, float da) { return da; }
