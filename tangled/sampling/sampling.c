/* sampling.c -- made from chapters/07-sampling.w; change it there */

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include "ground/pool.h"
#include "sampling/sampling.h"

/* <The stages, a row for each> */
#define FIELD(field) .name = #field, .at = offsetof(struct sampling_params, field)
static const struct sampling_row rows[] = {
  [SAMPLE_BIAS] = { .name = "bias" },
  /* <The row of the penalties> */
  [SAMPLE_PENALTIES] = { .name = "penalties", .option = {
    { FIELD(repetition_penalty), .neutral = 1, .above_low = true,
      .high = DBL_MAX, .option = "repetition-penalty",
      .also = "repeat-penalty", .value = "R",
      .expected = "a number above 0", .in_search = true,
      .words = "divide the scores of what the text has by R, or multiply",
      .otherwise = "the model's, or 1" },
    { FIELD(frequency_penalty), .low = -DBL_MAX, .high = DBL_MAX,
      .option = "frequency-penalty", .value = "A",
      .expected = "a finite number",
      .words = "subtract A for each time a token was written", .otherwise = "0" },
    { FIELD(presence_penalty), .low = -DBL_MAX, .high = DBL_MAX,
      .option = "presence-penalty", .value = "A",
      .expected = "a finite number",
      .words = "subtract A if a token was written",
      .otherwise = "0" },
    { FIELD(penalty_last_n), .type = SAMPLING_WINDOW, .neutral = -1, .low = -1,
      .high = DBL_MAX, .option = "penalty-last-n",
      .also = "repeat-last-n", .value = "N",
      .expected = "-1 for all, or a number of tokens",
      .words = "penalties look at the last N tokens; -1: all", .otherwise = "-1" } } },
  [SAMPLE_NGRAM] = { .name = "ngram", .option = {
    { FIELD(no_repeat_ngram), .type = SAMPLING_COUNT, .high = DBL_MAX,
      .option = "no-repeat-ngram-size", .value = "N",
      .expected = "an integer from 0 on", .in_search = true,
      .words = "no N tokens in a row come twice; 0: off",
      .otherwise = "the model's, or 0" } } },
  [SAMPLE_TEMPERATURE] = { .name = "temperature", .option = {
    { FIELD(temperature), .neutral = 1, .high = 1e4, .gap = 1e-5,
      .option = "temperature", .also = "temp", .value = "T",
      .expected = "0, or 0.00001 to 10000",
      .words = "divide the scores by T; 0: the likeliest token",
      .otherwise = "the model's, or 0" } } },
  /* <The rows of the cuts> */
  [SAMPLE_TOP_K] = { .name = "top_k", .option = {
    { FIELD(top_k), .type = SAMPLING_COUNT, .high = DBL_MAX,
      .option = "top-k", .value = "K",
      .expected = "an integer from 0 on",
      .words = "only the K likeliest; 0: all",
      .otherwise = "the model's, or 0" } } },
  [SAMPLE_TOP_P] = { .name = "top_p", .option = {
    { FIELD(top_p), .neutral = 1, .high = 1,
      .option = "top-p", .value = "P", .expected = "0 to 1",
      .words = "only the fewest with a share of P",
      .otherwise = "the model's, or 1" } } },
  [SAMPLE_MIN_P] = { .name = "min_p", .option = {
    { FIELD(min_p), .high = 1,
      .option = "min-p", .value = "M", .expected = "0 to 1",
      .words = "only those M times as likely as the best",
      .otherwise = "the model's, or 0" } } },
  [SAMPLE_TYPICAL_P] = { .name = "typical_p", .option = {
    { FIELD(typical_p), .neutral = 1, .above_low = true, .high = 1,
      .option = "typical-p", .also = "typical", .value = "P",
      .expected = "above 0, up to 1",
      .words = "only the most typical with a share of P",
      .otherwise = "the model's, or 1" } } }
};
_Static_assert(sizeof rows / sizeof *rows == N_SAMPLE_STAGES, "a stage without a row");

const struct sampling_row *sampling_row(enum sample_stage stage)
{
  return &rows[stage];
}

const char *sampling_stage_name(enum sample_stage stage)
{
  return rows[stage].name;
}

/* <Run one stage> */
void sampling_stage_run(struct funnel *f, const struct sampling_params *s,
  enum sample_stage stage, struct history h)
{
  switch (stage) {
  case SAMPLE_BIAS:
    funnel_sequence_bias(f, s->logit_bias, s->n_logit_bias, h.id, h.n);
    funnel_suppress(f, s->suppress, s->n_suppress);
    funnel_sequence_bias(f, s->bad_words, s->n_bad_words, h.id, h.n);
    break;
  case SAMPLE_PENALTIES: {
    size_t from = s->penalty_last_n >= 0
      && (uint64_t) s->penalty_last_n < h.n
      ? h.n - (size_t) s->penalty_last_n : 0;
    size_t later = from > h.n_prompt ? from : h.n_prompt;
    if (from < h.n) funnel_repetition_penalty(f, s->repetition_penalty,
      h.id + from, h.n - from);
    if (later < h.n) funnel_frequency_presence(f, s->frequency_penalty,
      s->presence_penalty, h.id + later, h.n - later);
  } break;
  case SAMPLE_NGRAM: funnel_no_repeat_ngram(f, s->no_repeat_ngram, h.id, h.n); break;
  case SAMPLE_TEMPERATURE: funnel_temperature(f, s->temperature); break;
  case SAMPLE_TOP_K: funnel_top_k(f, s->top_k); break;
  case SAMPLE_TOP_P: funnel_top_p(f, s->top_p); break;
  case SAMPLE_MIN_P: funnel_min_p(f, s->min_p); break;
  case SAMPLE_TYPICAL_P: funnel_typical_p(f, s->typical_p); break;
  case N_SAMPLE_STAGES: break;
  }
}

/* <Run all stages> */
bool sampling_run(struct funnel *f, const struct sampling_params *s,
  const float *logits, struct history h, struct error *why)
{
  if (!funnel_fill(f, logits, why)) return false;
  for (size_t i = 0; i < s->n_stages; i++) {
    sampling_stage_run(f, s, s->stage[i], h);
    const char *name = rows[s->stage[i]].name;
    for (size_t j = 0; f->overflow && j < f->n; j++)
      if (!(f->score[f->candidates[j]] < INFINITY))
        return error_say(why, "after the stage %s the score of id %" PRIu32
          " is infinite; wanted: a number", name, f->candidates[j]);
    if (f->n == 0) return error_say(why, "after the stage %s no token is left", name);
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
