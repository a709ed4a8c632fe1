==== check
# what two rows of logits have in common: the sum of the smaller chances
set -e
cat > $BUILD/ex.c <<'C'
#include <math.h>
#include <stddef.h>
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<'C'
static int near(double a, double b) { return fabs(a - b) < 1e-6; }
int main(void)
{
  const float even[4] = { 3, 3, 3, 3 }, half[4] = { (float) (3 * M_LN2), (float) (2 * M_LN2), (float) M_LN2, (float) M_LN2 };
  const float high[3] = { 1000, 1000, 999 }, low[3] = { -1000, -1000, -1001 }, one[3] = { 2000, 0, 0 }, other[3] = { 0, 0, 2000 };
  return !(near(common(even, half, 4), 0.75) && near(common(half, even, 4), 0.75) && near(common(half, half, 4), 1)
    && near(common(high, low, 3), 1) && near(common(one, other, 3), 0) && near(common(one, one, 3), 1));
}
C
${CC:-cc} -std=gnu11 -w $BUILD/ex.c -o $BUILD/ex -lm
$BUILD/ex
==== answer
static double common(const float *a, const float *b, size_t n)
{
  double high[2] = { a[0], b[0] }, sum[2] = { 0, 0 }, both = 0;
  for (size_t i = 1; i < n; i++) high[0] = fmax(high[0], a[i]), high[1] = fmax(high[1], b[i]);
  for (size_t i = 0; i < n; i++) sum[0] += exp(a[i] - high[0]), sum[1] += exp(b[i] - high[1]);
  for (size_t i = 0; i < n; i++) both += fmin(exp(a[i] - high[0]) / sum[0], exp(b[i] - high[1]) / sum[1]);
  return both;
}
==== wrong
static double common(const float *a, const float *b, size_t n)
{
  double sum[2] = { 0, 0 }, both = 0;
  for (size_t i = 0; i < n; i++) sum[0] += exp(a[i]), sum[1] += exp(b[i]);
  for (size_t i = 0; i < n; i++) both += fmin(exp(a[i]) / sum[0], exp(b[i]) / sum[1]);
  return both;
}
==== skeleton
/* the sum of the smaller of the two chances that two rows of n logits give each token */
static double common(const float *a, const float *b, size_t n)
{
  return 0;
}
