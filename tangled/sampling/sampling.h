/* sampling.h -- made from chapters/07-sampling.w; change it there */

#ifndef INCIPIT_SAMPLING_H
#define INCIPIT_SAMPLING_H
#include "loop/generate.h"
#include "sampling/funnel.h"

/* <What a user may set> */

/* the stages that a list may name, in their normal order */
enum sample_stage { SAMPLE_BIAS, SAMPLE_PENALTIES, SAMPLE_NGRAM,
  SAMPLE_TEMPERATURE, SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P,
  SAMPLE_TYPICAL_P, N_SAMPLE_STAGES };

/* penalty_last_n: how many tokens at the end of the history count, -1: all; each
   stage at most once */
struct sampling_params { double temperature; size_t top_k; double top_p, min_p,
  typical_p, repetition_penalty, frequency_penalty, presence_penalty;
  int64_t penalty_last_n; size_t no_repeat_ngram;
  const struct sequence_bias *logit_bias, *bad_words; size_t n_logit_bias, n_bad_words;
  const uint32_t *suppress; size_t n_suppress;
  enum sample_stage stage[N_SAMPLE_STAGES]; size_t n_stages; };

/* what changes nothing: temperature 1, no cut, no penalty, the normal order */
struct sampling_params sampling_default(void);

/* a double; a size_t; an int64_t, where -1 is all */
enum sampling_type { SAMPLING_REAL, SAMPLING_COUNT, SAMPLING_WINDOW };

/* parameter name is at bytes from the beginning of struct sampling_params; at neutral
   its stage does nothing. It goes from low or above_low to high, less what is within
   gap above low; expected says so in words. The command's option, another program's
   name for it, and its value; what it does, and what holds without it; in_search: a
   beam search reads it as well */
struct sampling_option { const char *name; size_t at; enum sampling_type type;
  double neutral, low, high, gap; bool above_low, in_search;
  const char *option, *also, *value, *expected, *words, *otherwise; };

/* the most parameters of a stage */
enum { STAGE_OPTIONS = 4 };

/* a stage: its name in a list, and its parameters */
struct sampling_row { const char *name; struct sampling_option option[STAGE_OPTIONS]; };

/* the row of a stage */
const struct sampling_row *sampling_row(enum sample_stage stage);

/* bias, penalties, ... */
const char *sampling_stage_name(enum sample_stage stage);

/* parameter i of all, in the order of the rows, and its stage unless stage is null;
   null past the last */
const struct sampling_option *sampling_option_at(size_t i, enum sample_stage *stage);

/* sets a parameter to x if it is a real number, or else to n */
void sampling_option_set(struct sampling_params *s, const struct sampling_option *r,
  double x, int64_t n);

/* id[n], of which the first n_prompt <=n were given */
struct history { const uint32_t *id; size_t n, n_prompt; };

/* one stage of a checked s; all may be out after it */
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h);

/* fills the funnel and runs the stages of s; errors: logits that are no numbers, a
   stage after which a score is +infinity or no token is left */
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why);

/* <A rule for what may come> */

/* a rule for the tokens of a text; all zero: none */
struct token_rule {
  /* what may be token number written of a text, counted from 0: (*allowed)[vocab], 0
     for what may not come, valid until the next call; changes no state */
  bool (*allow)(void *ctx, size_t written, const uint8_t **allowed,
    struct error *why);
  /* id has joined the text: the only function that advances the state */
  bool (*take)(void *ctx, uint32_t id, struct error *why);
  /* the state, as a number */
  uint32_t (*save)(const void *ctx);
  /* goes back to a state that save gave */
  void (*restore)(void *ctx, uint32_t state);
  void *ctx; };

/* <Who chooses> */

/* chooses for text number sequence of those that are written with seed; what s
   borrows must outlive it; a rule that is all zero allows everything */
struct sampler { struct funnel f; struct sampling_params s; uint64_t seed;
  uint32_t sequence; struct token_rule rule; };

/* a step_select for struct generate_options; ctx is a struct sampler, whose state
   stays as it is */
bool sampler_choose(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why);

/* the step_accept that belongs to it: id has joined the text; errors: those of the
   rule */
bool sampler_accept(void *ctx, uint32_t id, struct error *why);

/* the state of a sampler: where in the text its rule is; 0 without a rule */
uint32_t sampler_save(const struct sampler *d);

/* goes back to a state that sampler_save gave, in the same text */
void sampler_restore(struct sampler *d, uint32_t state);
#endif
