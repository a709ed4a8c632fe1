/* rope.h -- rotary positions: the frequencies, and how longer texts slow them down.

   A model that is to read longer texts than it was trained on has its rotations slowed down.
   There are three ways to do it, which chapter W3 derives. They change the frequencies and
   nothing in the pass, except that YaRN also multiplies all cosines and sines by a number near 1,
   so that the scores of longer texts come out a little larger. A model whose file says nothing is
   of the first kind, and for it only theta counts. */

#ifndef INCIPIT_ROPE_H
#define INCIPIT_ROPE_H
#include <stdbool.h>
#include <stdint.h>

/* how frequencies are changed for longer texts: not at all, or by one of three
   methods, or by two lists of divisors, for short texts and for long ones */
enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN, ROPE_LONG };

/* the most divisors that a model may list, one for each pair; and which list is which */
enum { ROPE_MAX_DIVISORS = 256, ROPE_SHORT_TEXTS = 0, ROPE_LONG_TEXTS = 1 };

/* Su and others 2021; Chen 2023; Grattafiori 2024; Peng 2023 */
struct rope_config {
  enum rope_kind kind;
  double theta, factor; /* the base; how many times longer texts become */
  double local_theta; /* the base of layers with a window, never stretched; 0: the same */
  uint32_t original; /* positions that the model was first trained on */
  double low_freq_factor, high_freq_factor; /* llama3, in turns */
  double beta_slow, beta_fast; /* yarn, in turns */
  double attention_factor, mscale, mscale_all_dim; /* yarn; 0: none */
  bool truncate;
  uint32_t n_divisors[2]; /* of longrope: for texts up to original positions, and for longer ones */
  double divisor[2][ROPE_MAX_DIVISORS];
};

/* theta^(-i/n) for n = half, the frequency of pair i; in double, not yet rounded */
double rope_frequency(double theta, uint32_t i, uint32_t half);

/* what cosines and sines are multiplied by: 1, or yarn's attention_factor */
double rope_attention(const struct rope_config *r);
#endif
