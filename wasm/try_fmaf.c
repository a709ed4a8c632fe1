/* try_fmaf.c -- fmaf as this program has it, and the multiply-add of four lanes, against integers.

   The checks compile it for WebAssembly with the engine's fmaf, and once with the C library's, which must fail. */

#include <stdio.h>
#include "../tests/suites/fused.h"
#include "living/exact.h"

enum { DRAWN = 1 << 20 };

static unsigned long wrong, done;

static void tell(const char *who, const float t[3], float got, float want)
{
  if (wrong++ < 4) printf("%s(%a, %a, %a) is %a; wanted: %a\n", who, (double) t[0], (double) t[1], (double) t[2],
    (double) got, (double) want);
}

static void four(const float t[4][3])
{
  float want[4];
  for (int i = 0; i < 4; i++) {
    float got = fmaf(t[i][0], t[i][1], t[i][2]);
    want[i] = fused_exactly(t[i][0], t[i][1], t[i][2]);
    if (!fused_same(got, want[i])) tell("fmaf", t[i], got, want[i]);
  }
#if defined __wasm_simd128__
  float x[4];
  wasm_v128_store(x, exact_fma(wasm_f32x4_make(t[0][0], t[1][0], t[2][0], t[3][0]),
    wasm_f32x4_make(t[0][1], t[1][1], t[2][1], t[3][1]), wasm_f32x4_make(t[0][2], t[1][2], t[2][2], t[3][2])));
  for (int i = 0; i < 4; i++)
    if (!fused_same(x[i], want[i])) tell("four lanes", t[i], x[i], want[i]);
#endif
  done += 4;
}

int main(void)
{
  float t[4][3];
  uint64_t seed = 20260101;
  for (int k = 0; k < 4; k++) memcpy(t[k], fused_known[k % 3], sizeof t[k]);
  four(t);
  for (int f = 0; f < N_FUSED_FAMILIES; f++) {
    unsigned long before = wrong;
    for (int i = 0; i < DRAWN; i += 4) {
      for (int k = 0; k < 4; k++) fused_triple((enum fused_family) f, &seed, t[k]);
      four(t);
    }
    printf("%s: %lu wrong\n", fused_family_name[f], wrong - before);
  }
  printf("%lu triples, %lu wrong\n", done, wrong);
  return wrong > 0;
}
