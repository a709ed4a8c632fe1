==== check
# the mean distance and the entropy of a row's look at n rows, the last of which is itself
set -e
cat > $BUILD/ex.c <<'C'
#include <math.h>
#include <stddef.h>
C
cat "$1" >> $BUILD/ex.c
cat >> $BUILD/ex.c <<'C'
static int near(double a, double b) { return fabs(a - b) < 1e-6; }
static int looks(const float *p, size_t n, double distance, double bits)
{
  double d = -1, e = -1;
  look(p, n, &d, &e);
  return near(d, distance) && near(e, bits);
}
int main(void)
{
  const float book[4] = { 0.125f, 0.125f, 0.5f, 0.25f }, back[3] = { 1, 0, 0 }, self[1] = { 1 }, two[5] = { 0, 0.5f, 0, 0, 0.5f };
  return !(looks(book, 4, 1.125, 1.75) && looks(back, 3, 2, 0) && looks(self, 1, 0, 0) && looks(two, 5, 1.5, 1));
}
C
${CC:-cc} -std=gnu11 -w $BUILD/ex.c -o $BUILD/ex -lm
$BUILD/ex
==== answer
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
  for (size_t k = 0; k < n; k++) {
    *distance += p[k] * (double) (n - 1 - k);
    if (p[k] > 0) *bits -= p[k] * log2(p[k]);
  }
}
==== wrong
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
  for (size_t k = 0; k < n; k++) {
    *distance += p[k] * (double) (n - 1 - k);
    *bits -= p[k] * log2(p[k]);
  }
}
==== skeleton
/* mean distance, in tokens, and entropy, in bits, of the weights p that row n-1 gives to the rows 0...n-1 */
static void look(const float *p, size_t n, double *distance, double *bits)
{
  *distance = 0, *bits = 0;
}
