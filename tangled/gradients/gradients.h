/* gradients.h -- made from workshop/10-gradients.w; change it there */

#ifndef INCIPIT_GRADIENTS_H
#define INCIPIT_GRADIENTS_H
#include "ground/ground.h"

/* <What a product is> */

/* c_ij = sum over k of a_ik b_kj in rising order of k by fused multiply-adds, from 0
   or, if add, from what is there; a_ik is a[i*a_row+k*a_step], b_kj is b[k*b_step+j],
   c_ij is c[i*c_row+j] */
struct product {
  const float *a; size_t a_row, a_step;
  const float *b; size_t b_step;
  float *c; size_t c_row;
  size_t rows, terms, cols; bool add;
};

/* products of more than GRADIENTS_SMALL terms are packed, GRADIENTS_KC terms and
   GRADIENTS_MC rows at a time; GRADIENTS_MR rows of a result go together */
enum { GRADIENTS_SMALL = 64, GRADIENTS_KC = 256, GRADIENTS_MC = 48, GRADIENTS_MR = 6 };

/* <What the functions are> */

/* <The numbers of one step> */

/* weights and gradients, the two moments, the running mean of the weights or null;
   the numbers of one step of AdamW */
struct moments { float *w, *g, *first, *second, *mean; const bool *decays;
  float rate, scale, fix1, fix2, keep; };

/* the kernels of the backward pass; all arrays belong to the caller */
struct gradients {
  /* scratch has GRADIENTS_KC*(cols+16+GRADIENTS_MC) floats */
  void (*multiply)(const struct product *p, float *scratch);
  /* the bits of the kernel linear for a matrix [out][in], both multiples of 16;
     scratch has 16*in floats */
  void (*linear)(const float *x, size_t rows, const float *w,
    size_t in, size_t out, float *y, float *scratch);
  /* <Pieces of attention and of the loss> */
    /* scores of one block of at most 256 keys, n of them up to a multiple of 16,
       become exponentials; left[0] is the maximum and left[1] the sum of those seen */
    void (*softmax_block)(float *s, size_t sees, size_t n, float scale,
      float *left);
    /* joins n blocks of one row, GRADIENTS_MC rows apart in left and parts; known is
       the maximum and the sum over all of them */
    void (*join)(const float *left, const float *parts, size_t n,
      size_t h, float *y, float *known);
    /* s becomes weights and g, gradients of weights, gradients of scores; known is
       what join left, y what attention mixed, dy its gradient */
    void (*softmax_backward)(float *s, float *g, size_t sees, size_t n,
      float scale, const float *known, const float *y,
      const float *dy, size_t h);
    /* the loss of one row of logits, which become its gradient times share */
    double (*cross_entropy)(float *z, size_t n, uint32_t right, float share);
  /* <Pieces of norms, gates and steps> */
    /* adds to dx, and returns 1 over the root mean square */
    float (*norm_backward)(const float *x, const float *gain,
      const float *dy, size_t d, float *dx);
    /* adds to dgain for the columns from to to, r is what norm_backward returned */
    void (*gain_backward)(const float *x, const float *dy, const float *r,
      size_t rows, size_t d, size_t from, size_t to, float *dgain);
    /* n is a multiple of 16; dgate and dup are written, not added to */
    void (*swiglu_backward)(const float *gate, const float *up,
      const float *dinner, size_t n, float *dgate, float *dup);
    /* sum of squares */
    double (*square)(const float *g, size_t n);
    /* one step for the weights from from to to; the gradient becomes 0 */
    void (*adam)(const struct moments *a, size_t from, size_t to);
};

/* compiled for any machine; for AVX2, if this is one */
extern const struct gradients gradients_plain, gradients_wide;
#endif
