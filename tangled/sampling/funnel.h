/* funnel.h -- made from chapters/07-sampling.w; change it there */

#ifndef INCIPIT_FUNNEL_H
#define INCIPIT_FUNNEL_H
#include "sampling/draws.h"
#include "model/kernel.h"

/* <The tokens that are left, and their logits> */

/* an id, and what it is sorted by */
struct sort_item { uint64_t key; uint32_t id; };

/* n tokens are left, candidates[n], by falling score if sorted, or else by rising id;
   score[vocab] are the scores, -infinity where a token is out; overflow: a stage has
   made one that is +infinity or a NaN. allowed is borrowed, and null unless there is
   a mask: then a token with 0 in allowed[vocab] is out from the beginning */
struct funnel { struct arena buffers; const struct kernels *k;
  size_t vocab, n; double *score; uint32_t *candidates; bool sorted, overflow;
  const uint8_t *allowed; double *weight; /* weight[i] belongs to candidates[i] */
  struct sort_item *sort_buf, *sort_spare; /* for sorting */
  uint32_t *count; /* of each token in a history; all zero between two calls */
  uint64_t bits, noises; /* how often a draw took random bits, and made noise of them */ };

/* allocates the buffers for vocab >=1 tokens; m and k are borrowed and must outlive
   it; on failure there is nothing to close, but it does no harm */
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why);

/* frees the buffers */
void funnel_close(struct funnel *f);

/* begins anew with logits[vocab]; those that are -infinity are out; errors: NaN,
   +infinity, or no finite logit */
bool funnel_fill(struct funnel *f, const float *logits, struct error *why);

/* <What may be added to a logit> */

/* bias for the last of n >=1 ids where the others end the text; -infinity takes it
   out */
struct sequence_bias { const uint32_t *id; size_t n; double bias; };

/* <The stages, one by one> */

/* score/t; for 0 the likeliest alone is left, unchanged */
void funnel_temperature(struct funnel *f, double t);

/* exactly k by falling score, then rising id; 0: all */
void funnel_top_k(struct funnel *f, size_t k);

/* the shortest prefix in that order with a share of at least p, one or more; 1: all */
void funnel_top_p(struct funnel *f, double p);

/* all that are at least m times as likely as the best */
void funnel_min_p(struct funnel *f, double m);

/* by rising distance of the information from its mean, the shortest prefix with a
   share of at least p; 1: all */
void funnel_typical_p(struct funnel *f, double p);

/* each distinct id of seen[n]: score/r if score > 0, else score*r; r > 0 */
void funnel_repetition_penalty(struct funnel *f, double r,
  const uint32_t *seen, size_t n);

/* score - (c*frequency + presence) for an id that stands c >=1 times in written[n] */
void funnel_frequency_presence(struct funnel *f, double frequency,
  double presence, const uint32_t *written, size_t n);

/* takes out what would complete an n-gram that id[length] has; 0: nothing */
void funnel_no_repeat_ngram(struct funnel *f, size_t n,
  const uint32_t *id, size_t length);

/* adds each of list[n] whose ids but the last are the end of id[length] */
void funnel_sequence_bias(struct funnel *f, const struct sequence_bias *list,
  size_t n, const uint32_t *id, size_t length);

/* takes the ids id[n] out */
void funnel_suppress(struct funnel *f, const uint32_t *id, size_t n);

/* scores become log-probabilities among the tokens that are left */
void funnel_log_softmax(struct funnel *f);

/* candidates[n] by falling score, and in weight[n] their probabilities */
void funnel_distribution(struct funnel *f);

/* the id with the greatest score + g, of equal ones the lowest, where g is
   gumbel_noise; n >=1; leaves weight undefined (Gumbel 1954, Maddison and others
   2014) */
uint32_t funnel_choose(struct funnel *f, uint64_t seed, uint32_t sequence,
  uint32_t position);
#endif
