/* sampling.c -- made from chapters/07-sampling.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "ground/pool.h"
#include "sampling/sampling.h"

/* <The stages and their names> */
const struct sampling_params sampling_default = { .temperature = 1, .top_p = 1,
  .typical_p = 1, .repetition_penalty = 1, .penalty_last_n = -1,
  .stage = { SAMPLE_BIAS, SAMPLE_PENALTIES, SAMPLE_NGRAM, SAMPLE_TEMPERATURE,
    SAMPLE_TOP_K, SAMPLE_TOP_P, SAMPLE_MIN_P, SAMPLE_TYPICAL_P },
  .n_stages = N_SAMPLE_STAGES };
static const char *const stage_name[] = { "bias", "penalties",
  "ngram", "temperature", "top_k", "top_p", "min_p", "typical_p" };
_Static_assert(sizeof stage_name / sizeof *stage_name == N_SAMPLE_STAGES,
  "a stage without a name");
const char *sampling_stage_name(enum sample_stage stage)
{
  return stage_name[stage];
}

/* <Run one stage> */
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h)
{
  if (stage == SAMPLE_BIAS) {
    funnel_sequence_bias(f, s->logit_bias, s->n_logit_bias, h.id, h.n);
    funnel_suppress(f, s->suppress, s->n_suppress);
    funnel_sequence_bias(f, s->bad_words, s->n_bad_words, h.id, h.n);
  }
  if (stage == SAMPLE_PENALTIES) {
    size_t from = s->penalty_last_n >= 0
      && (uint64_t) s->penalty_last_n < h.n
      ? h.n - (size_t) s->penalty_last_n : 0;
    size_t later = from > h.n_prompt ? from : h.n_prompt;
    if (from < h.n) funnel_repetition_penalty(f, s->repetition_penalty,
      h.id + from, h.n - from);
    if (later < h.n) funnel_frequency_presence(f, s->frequency_penalty,
      s->presence_penalty, h.id + later, h.n - later);
  }
  if (stage == SAMPLE_NGRAM)
    funnel_no_repeat_ngram(f, s->no_repeat_ngram, h.id, h.n);
  if (stage == SAMPLE_TEMPERATURE) funnel_temperature(f, s->temperature);
  if (stage == SAMPLE_TOP_K) funnel_top_k(f, s->top_k);
  if (stage == SAMPLE_TOP_P) funnel_top_p(f, s->top_p);
  if (stage == SAMPLE_MIN_P) funnel_min_p(f, s->min_p);
  if (stage == SAMPLE_TYPICAL_P) funnel_typical_p(f, s->typical_p);
}

/* <Run all stages> */
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why)
{
  if (!funnel_fill(f, logits, why)) return false;
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(f, s, s->stage[i], h);
    const char *name = stage_name[s->stage[i]];
    for (size_t j = 0; f->overflow && j < f->n; j++)
      if (!(f->score[f->candidates[j]] < INFINITY))
        return error_say(why, "after the stage %s"
          " the score of id %" PRIu32 " is infinite; wanted: a number", name, f->candidates[j]);
    if (f->n == 0) return error_say(why,
        "after the stage %s no token is left", name);
  }
  return true;
}

/* <Choose a token for the loop> */
bool sampler_choose(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct sampler *d = ctx;
  struct history h = { text->text.id, text->text.n, text->n_prompt };
  d->f.allowed = NULL;
  if (d->rule.allow != NULL && !d->rule.allow(d->rule.ctx,
    h.n - h.n_prompt, &d->f.allowed, why)) return false;
  struct float_modes modes;
  float_modes_begin(&modes);
  bool ok = sampling_run(&d->f, &d->s, logits, h, why);
  if (ok) *chosen = funnel_choose(&d->f, d->seed, d->sequence,
    (uint32_t) text->text.n);
  float_modes_end(&modes);
  return ok;
}
