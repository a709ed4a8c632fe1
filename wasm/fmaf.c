/* fmaf.c -- fmaf for WebAssembly, in place of the C library's.

   The library's first adds in double and then, where that may have been rounded twice, once more with
   another rounding mode. WebAssembly has one mode, so the second addition is the first again. A
   definition among the objects of a program comes before one in an archive: so everybody gets ours. */

#include "living/exact.h"

float fmaf(float a, float b, float c)
{
  return exact_fmaf(a, b, c);
}
