/* slopes.h -- made from workshop/10-gradients.w; change it there */

/* L.6  slopes.h */

#ifndef INCIPIT_SLOPES_H
#define INCIPIT_SLOPES_H
#include "ground/ground.h"

/* L.7  What a product is */

struct product {
  const float *a;
  size_t a_row, a_step;
  const float *b;
  size_t b_step;
  float *c;
  size_t c_row;
  size_t rows, terms, cols;
  bool add;
};
/* c_ij=_k a_ikb_kj in rising order of k by fused multiply--adds, from 0 or,
 * if add, from what is there; a_ik is a[i*a_row+k*a_step], b_kj is
 * b[k*b_step+j], c_ij is c[i*c_row+j] */

/* L.8  What a product is */

enum { SHALLOW = 64, DEPTH = 256, STRIP = 48, TILE = 6 };
/* products of more than SHALLOW terms are packed, DEPTH terms and STRIP rows
 * at a time; TILE rows of a result go together */

/* L.9  What the pieces are */

/* L.52  The numbers of one step */

struct moments {
  float *w, *g, *first, *second, *mean;
  const bool *decays;
  float rate, scale, fix1, fix2, keep;
};
/* weights and gradients, the two moments, the running mean of the weights or
 * null; the numbers of one step of AdamW */

struct slopes {
  void (*multiply)(const struct product * p, float *desk);
/* desk has DEPTH*(cols+16+STRIP) floats */

  void (*linear)(const float *x, size_t rows, const float *w,
                 size_t in, size_t out, float *y, float *desk);
/* the bits of the kernel linear for a matrix [out][in], both multiples of
 * 16; desk has 16*in floats */

/* L.10  Pieces of attention and of the loss */

  void (*weigh)(float *s, size_t sees, size_t n, float scale, float *left);
/* scores of one block of at most 256 keys, n of them up to a multiple of 16,
 * become exponentials; left[0] is the maximum and left[1] the sum of those
 * seen */

  void (*join)(const float *left, const float *parts, size_t n,
               size_t h, float *y, float *known);
/* joins n blocks of one row, STRIP rows apart in left and parts; known is
 * the maximum and the sum over all of them */

  void (*weigh_back)(float *s, float *g, size_t sees, size_t n,
                     float scale, const float *known, const float *y,
                     const float *dy, size_t h);
/* s becomes weights and g, gradients of weights, gradients of scores; known
 * is what join left, y what attention mixed, dy its gradient */

  double (*judge)(float *z, size_t n, uint32_t right, float share);
/* the loss of one row of logits, which become its gradient times share */

/* L.11  Pieces of norms, gates and steps */

  float (*norm_back)(const float *x, const float *gain,
                     const float *dy, size_t d, float *dx);
/* adds to dx, and returns 1 over the root mean square */

  void (*gain_back)(const float *x, const float *dy, const float *r,
                    size_t rows, size_t d, size_t from, size_t to, float *dgain);
/* adds to dgain for the columns from to to, r is what norm_back returned */

  void (*gate_back)(const float *gate, const float *up,
                    const float *dinner, size_t n, float *dgate, float *dup);
/* n is a multiple of 16; dgate and dup are written, not added to */

  double (*square)(const float *g, size_t n);
/* sum of squares */

  void (*adam)(const struct moments * a, size_t from, size_t to);
/* one step for the weights from from to to; the gradient becomes 0 */

};
extern const struct slopes slopes_plain, slopes_wide;
/* compiled for any machine; for AVX2, if this is one */

#endif
