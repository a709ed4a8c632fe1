/* superblocks.c -- A search for the scales of a superblock: least squares for given
   whole numbers, the nearest whole numbers for given scales, in turn, from several
   beginnings.
   made from chapters/10-quantization.w; change it there

   All sums are in double, in a fixed order, so every machine writes the same bytes. */

#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"

/* <One step nearer> */
struct neighbours { const float *x; size_t n; int low, high; bool has_min; };
struct fit { double s, t, off; };
static double nearest_whole(const struct neighbours *g, double z)
{
  /* the sum has no bits left for a fraction */
  z = (z + 0x1.8p52) - 0x1.8p52;
  z = z > g->low ? z : g->low;
  return z < g->high ? z : g->high;
}

static double off_of(const struct neighbours *g, double s, double t)
{
  double off = 0, times = s == 0 ? 0 : 1 / s;
  for (size_t i = 0; i < g->n; i++) {
    double x = (double) g->x[i], q = nearest_whole(g, (x + t) * times);
    off += (q * s - t - x) * (q * s - t - x);
  }
  return off;
}

static struct fit step_nearer(const struct neighbours *g, double s, double t)
{
  double n = (double) g->n, q1 = 0, q2 = 0, x1 = 0, qx = 0, times = s == 0 ? 0 : 1 / s;
  for (size_t i = 0; i < g->n; i++) {
    double x = (double) g->x[i], q = nearest_whole(g, (x + t) * times);
    q1 += q, x1 += x;
    q2 += q * q, qx += q * x;
  }
  double under = n * q2 - q1 * q1;
  struct fit f = { q2 > 0 ? qx / q2 : 0, 0, 0 };
  if (g->has_min && under > 0) {
    double slope = (n * qx - q1 * x1) / under, below = (slope * q1 - x1) / n;
    if (below > 0) f.s = slope, f.t = below;
  }
  f.off = off_of(g, f.s, f.t);
  return f;
}

/* <Search the scales of a group> */
static struct fit search_group(const struct neighbours *g)
{
  double low = 0, high = 0;
  struct fit best = { 0, 0, off_of(g, 0, 0) };
  for (size_t i = 0; i < g->n; i++)
    low = fmin(low, (double) g->x[i]), high = fmax(high, (double) g->x[i]);
  double cover = (high > -low ? high : low) / g->low;
  if (g->has_min) cover = (high - low) / g->high;
  for (int k = -5; k <= 5 && cover != 0; k++) {
    struct fit f = { cover * (1 + 0.03 * k), g->has_min ? -low : 0, HUGE_VAL }, next;
    while ((next = step_nearer(g, f.s, f.t)).off < f.off) f = next;
    if (f.off < best.off) best = f;
  }
  return best;
}

/* <Round the scales of a superblock> */
enum { MOST_GROUPS = 16 };
struct superblock { struct neighbours of[MOST_GROUPS]; struct fit fit[MOST_GROUPS];
  size_t n; int least, most; int s[MOST_GROUPS], t[MOST_GROUPS]; float d, m; double off; };
static void round_scales(struct superblock *b, size_t g)
{
  double d = (double) b->d, m = (double) b->m, off, best = HUGE_VAL;
  double s = d == 0 ? 0 : floor(b->fit[g].s / d + 0.5);
  double t = m == 0 ? 0 : floor(b->fit[g].t / m + 0.5);
  for (int i = 0; i < 9; i++) {
    double u = fmin(fmax(s + i % 3 - 1, b->least), b->most);
    double v = m == 0 ? 0 : fmin(fmax(t + i / 3 - 1, 0), b->most);
    off = off_of(&b->of[g], u * d, v * m);
    if (!(off < best)) continue;
    best = off;
    b->s[g] = (int) u, b->t[g] = (int) v;
  }
  b->off += best;
}

static void round_all(struct superblock *b)
{
  b->off = 0;
  for (size_t g = 0; g < b->n; g++) round_scales(b, g);
}

/* <Fit the scale of the scales> */
static void fit_superblock(const struct superblock *b, double *d, double *m)
{
  double uu = 0, uv = 0, vv = 0, ux = 0, vx = 0;
  for (size_t g = 0; g < b->n; g++) {
    const struct neighbours *of = &b->of[g];
    double s = b->s[g] * (double) b->d, t = b->t[g] * (double) b->m;
    for (size_t i = 0; i < of->n && s != 0; i++) {
      double x = (double) of->x[i], u = nearest_whole(of, (x + t) / s) * b->s[g];
      double v = b->t[g];
      uu += u * u, uv += u * v;
      vv += v * v;
      ux += u * x, vx += v * x;
    }
  }
  double under = uv * uv - uu * vv;
  *m = under != 0 ? (uu * vx - uv * ux) / under : 0;
  *d = uu > 0 ? (ux + uv * *m) / uu : 0;
}

static void improve(struct superblock *b)
{
  for (int i = 0; i < 3; i++) {
    struct superblock next = *b;
    double d, m;
    fit_superblock(b, &d, &m);
    next.d = num_from_f16(num_to_f16((float) d));
    next.m = num_from_f16(num_to_f16((float) m));
    if (next.m < 0 || next.m - next.m != 0 || next.d - next.d != 0) return;
    round_all(&next);
    if (!(next.off < b->off)) return;
    *b = next;
  }
}

/* <Write a superblock> */
static void search_superblock(enum weight_type type, const float *x, struct superblock *b)
{
  const struct number_type *t = &number_types[type];
  bool bytes = t->scales == SCALES_BYTES;
  double s = 0, m = 0;
  *b = (struct superblock) { .n = t->block / t->group, .least = bytes ? -128 : 0,
    .most = bytes ? 127 : 63 };
  for (size_t g = 0; g < b->n; g++) {
    b->of[g] = (struct neighbours) { x + g * t->group, t->group, -t->offset,
      (1 << t->bits) - 1 - t->offset, t->has_min };
    b->fit[g] = search_group(&b->of[g]);
    if (fabs(b->fit[g].s) > fabs(s)) s = b->fit[g].s;
    m = fmax(m, b->fit[g].t);
  }
  b->d = num_from_f16(num_to_f16((float) (s / b->most)));
  b->m = num_from_f16(num_to_f16((float) (m / b->most)));
  if (b->d - b->d != 0 || b->m - b->m != 0) return;
  round_all(b);
  improve(b);
}

static int whole_at(const struct superblock *b, size_t i)
{
  size_t n = b->of[0].n, g = i / n;
  double s = b->s[g] * (double) b->d, t = b->t[g] * (double) b->m;
  return s == 0 ? 0 : (int) nearest_whole(&b->of[g], ((double) b->of[g].x[i % n] + t) / s);
}

/* <Pack a superblock> */
static void put_half(float x, unsigned char *to)
{
  uint16_t h = num_to_f16(x);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
}

static void pack_q4_k(const struct superblock *b, unsigned char *to)
{
  unsigned char *six = to + 4, *q = to + 16;
  for (size_t j = 0; j < 4; j++) {
    six[j] = (unsigned char) (b->s[j] | b->s[j + 4] >> 4 << 6);
    six[j + 4] = (unsigned char) (b->t[j] | b->t[j + 4] >> 4 << 6);
    six[j + 8] = (unsigned char) ((b->s[j + 4] & 15) | (b->t[j + 4] & 15) << 4);
  }
  for (size_t i = 0; i < WEIGHT_SUPER_BLOCK; i++)
    q[i / 64 * 32 + i % 32] |= (unsigned char) (whole_at(b, i) << i % 64 / 32 * 4);
}

static void pack_q6_k(const struct superblock *b, unsigned char *to)
{
  for (size_t g = 0; g < b->n; g++) to[192 + g] = (unsigned char) b->s[g];
  for (size_t i = 0; i < WEIGHT_SUPER_BLOCK; i++) {
    size_t half = i / 128, part = i % 128 / 32, at = i % 32;
    int q = whole_at(b, i) + 32;
    to[64 * half + 32 * (part % 2) + at] |= (unsigned char) ((q & 15) << part / 2 * 4);
    to[128 + 32 * half + at] |= (unsigned char) (q >> 4 << 2 * part);
  }
}

bool superblock_encode(enum weight_type type, const float *x, unsigned char *to)
{
  const struct number_type *t = &number_types[type];
  struct superblock b;
  search_superblock(type, x, &b);
  if (b.d - b.d != 0 || b.m - b.m != 0) return false;
  memset(to, 0, t->bytes);
  put_half(b.d, to + t->d_at);
  if (t->has_min) put_half(b.m, to + t->d_at + 2);
  if (t->scales == SCALES_BYTES) pack_q6_k(&b, to);
  else pack_q4_k(&b, to);
  return true;
}
