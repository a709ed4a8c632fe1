/* rope.h -- made from workshop/03-models.w; change it there */

/* N.66  rope.h */

#ifndef INCIPIT_ROPE_H
#define INCIPIT_ROPE_H
#include <stdbool.h>
#include <stdint.h>
enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN };
struct rope_config {
  enum rope_kind kind;
  double theta, factor;
  uint32_t original;
/* positions that the model was first trained on */

  double low_freq_factor, high_freq_factor;
/* llama3, in turns */

  double beta_slow, beta_fast;
/* yarn, in turns */

  double attention_factor, mscale, mscale_all_dim;
/* yarn; 0: not given */

  bool truncate;
};
/* Su and others 2021; Chen 2023; Grattafiori 2024; Peng 2023 */

/* N.67  What is asked of the wheels */

double rope_frequency(const struct rope_config *r, uint32_t i, uint32_t half);
/* frequency of wheel i of half, slowed as r says; in double, not yet rounded */

double rope_attention(const struct rope_config *r);
/* what cosines and sines are multiplied by: 1 for all kinds but yarn */

#endif
