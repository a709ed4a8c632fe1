==== check
# the two phases of many_rows joined into one: in how many of three orders are 40 rows right?
if [ ! -f $ours/joined/tried ]; then
mkdir -p $ours/joined/cuda
for f in $(ls tangled/cuda); do ln -sf "$here/tangled/cuda/$f" $ours/joined/cuda/; done
rm $ours/joined/cuda/kernels.cu
awk '/EACH_THREAD\(t\) fill_tiles/ { sub(/EACH_THREAD\(t\) /, "EACH_THREAD(t) { ") ; print; joined = 1; next }
  joined && /EACH_THREAD\(t\) multiply_tiles/ { sub(/EACH_THREAD\(t\) /, ""); sub(/;$/, "; }"); done = 1 } { print } END { exit !done }' \
  tangled/cuda/kernels.cu > $ours/joined/cuda/kernels.cu
cat > $ours/engine.c <<'C'
#include "cuda/kernels.cu"
#include <stdio.h>
enum { IN = 64, OUT = 40, ROWS = 40 };
static _Alignas(16) float x[IN * ROWS], w[IN * OUT], y[ROWS * OUT];
int main(void)
{
  int right = 0;
  for (int i = 0; i < IN * ROWS; i++) x[i] = 1.0f / (float) (i % 37 + 1);
  for (int i = 0; i < IN * OUT; i++) w[i] = (float) (i % 11) - 4.7f;
  for (unsigned order = 0; order < 3; order++) {
    struct host_state s = { order };
    struct launch l = { .work = WORK_many_f32, .x = 2, .y = 2, .z = 1, .threads = 256 };
    l.a.linear = (struct linear_args) { .of = { { .weight = { w, NULL, DEVICE_F32, IN }, .y = y, .out = OUT } },
      .x = x, .n = 1, .in = IN, .rows = ROWS };
    host_run(&s, &l, 1, 0, false, NULL, NULL, 0);
    int same = 1;
    for (int r = 0; r < ROWS; r++) for (int o = 0; o < OUT; o++) {
      float lane[16] = { 0 };
      for (int k = 0; k < IN; k++) lane[k % 16] = fmaf(x[r * IN + k], w[o * IN + k], lane[k % 16]);
      for (int half = 8; half > 0; half /= 2) for (int j = 0; j < half; j++) lane[j] += lane[j + half];
      same = same && num_bits32(lane[0]) == num_bits32(y[r * OUT + o]);
    }
    right += same;
  }
  printf("%d\n", right);
  return 0;
}
C
compile() { ${CC:-cc} -std=gnu11 -O1 -ffp-contract=off -w $* -Itangled -Iunwoven $ours/engine.c tangled/functions/numbers.c -o $ours/engine -lm; }
compile && [ "$(run)" = 3 ] || no "the kernel as it is fails here"
compile -I$ours/joined && : > $ours/joined/tried
fi
is $(run)
==== answer
0
==== wrong
1
==== skeleton
# orders in which the bits are right
