/* sampling.h -- made from chapters/sampling.w; change it there */

/* 7.68  sampling.h */

#ifndef INCIPIT_SAMPLING_H
#define INCIPIT_SAMPLING_H
#include "loop/loop.h"
#include "sampling/funnel.h"
#include "constraints/constraint.h"

/* 7.48  What a user may set */

enum sampling_stage { STAGE_BIAS, STAGE_PENALTIES, STAGE_NGRAM,
  STAGE_TEMPERATURE, STAGE_TOP_K, STAGE_TOP_P, STAGE_MIN_P,
  STAGE_TYPICAL_P, N_STAGES
};
/* the stages that a list may name, in their normal order */

struct sampling {
  double temperature;
  size_t top_k;
  double top_p, min_p,
      typical_p, repetition_penalty, frequency_penalty, presence_penalty;
  int64_t penalty_last_n;
  size_t no_repeat_ngram;
  const struct biased *logit_bias, *bad_words;
  size_t n_logit_bias, n_bad_words;
  const uint32_t *suppress;
  size_t n_suppress;
  enum sampling_stage stage[N_STAGES];
  size_t n_stages;
};
/* all lists are borrowed; penalty_last_n: the last so many tokens of the
 * history count, -1: all; each stage at most once */

extern const struct sampling sampling_normal;
/* what changes nothing: temperature 1, no cut, no penalty, the normal order */

/* 7.49  What a user may set */

struct history {
  const uint32_t *id;
  size_t n, n_prompt;
};
/* id[n], of which the first n_prompt <= n were given */

bool sampling_check(const struct sampling *s, size_t vocab, struct error *why);
/* are all numbers that a stage of the list reads in their ranges, all ids
 * below vocab? On failure a sentence that names the setting, the value and
 * the range */

void sampling_stage_run(struct funnel *f, const struct sampling *s,
                        enum sampling_stage stage, struct history h);
/* one stage of a checked s; all may be out behind it */

bool sampling_run(struct funnel *f, const struct sampling *s,
                  const float *logits, struct history h, struct error *why);
/* fills the funnel and lets the stages of s do their work; errors: logits
 * that are no numbers, a stage behind which a score is +infinity or no token
 * is left */

/* 7.50  What a user may set */

struct sampling_real {
  const char *name;
  size_t at;
  enum sampling_stage where;
  double low, high;
  bool above_low;
  const char *wanted;
};
/* setting name of the stage where lies at bytes from the beginning of struct
 * sampling, from low or above_low to high; wanted says so in words */

const struct sampling_real *sampling_real_at(size_t i);
/* number i of the settings that are reals; null behind the last */

bool sampling_real_fits(const struct sampling_real *r, double x);
/* does x lie in the range? */

const char *sampling_stage_name(enum sampling_stage stage);
/* bias, penalties, ... */

bool sampling_stages_parse(struct sampling *s, const char *const *name,
                           size_t n, struct error *why);
/* sets the list of stages; errors: an unknown name, a name given twice */

/* 7.63  What binds a text */

struct bond {
  struct constraint *c;
  uint32_t state;
  uint8_t *allowed;
  size_t vocab, most;
  const uint32_t *eos;
  size_t n_eos;
};
/* what a text of at most most tokens has to match, and where in it we are;
 * allowed[vocab] is its own, c and the ids of the end tokens are borrowed */

bool bond_open(struct bond *b, struct memory *m, struct constraint *c,
               size_t vocab, size_t most, const uint32_t * eos, size_t n_eos,
               struct error *why);
/* binds by a c that knows the tokens; errors: most is less than
 * constraint_minimum, which the sentence names; memory. Nothing is to be
 * closed then */

void bond_close(struct bond *b, struct memory *m);
/* returns the room; one that is all zero has none */

void bond_restart(struct bond *b);
/* for another text, from its beginning */

bool bond_matches(const struct bond *b, bool *yes, struct error *why);
/* does what has been written match? */

bool bond_judge(void *self, const struct continuation *text, bool *enough,
                struct error *why);
/* a step_judge: without end tokens, a text is to end when it matches and
 * nothing may follow; self is a struct sampler */

/* 7.61  Who chooses */

struct sampler {
  struct funnel f;
  struct sampling s;
  uint64_t seed;
  uint32_t sequence;
  struct bond b;
};
/* chooses for text number sequence of those that are written with seed; what
 * s borrows must outlive it; a b that is all zero binds nothing */

bool sampler_choose(void *self, const float *logits,
                    const struct continuation *text, uint32_t * chosen,
                    struct error *why);
/* a step_choose for struct settings; self is a struct sampler */

#endif
