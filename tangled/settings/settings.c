/* settings.c -- made from workshop/18-settings.w; change it there */

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "settings/settings.h"

/* <Settings that are real numbers> */
#define OPTION(field, stage, low, high, above, wanted) { #field, \
  offsetof(struct sampling_params, field), stage, low, high, above, wanted }
static const struct sampling_option sampling_options[] = {
  OPTION(temperature, SAMPLE_TEMPERATURE, 0, 1e4, false,
    "0, or 0.00001 to 10000"),
  OPTION(top_p, SAMPLE_TOP_P, 0, 1, false, "0 to 1"),
  OPTION(min_p, SAMPLE_MIN_P, 0, 1, false, "0 to 1"),
  OPTION(typical_p, SAMPLE_TYPICAL_P, 0, 1, true, "above 0, up to 1"),
  OPTION(repetition_penalty, SAMPLE_PENALTIES, 0, DBL_MAX, true,
    "a number above 0"),
  OPTION(frequency_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,
    "a finite number"),
  OPTION(presence_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,
    "a finite number")
};
enum { N_SAMPLING_OPTIONS = sizeof sampling_options / sizeof sampling_options[0] };

const struct sampling_option *sampling_option_at(size_t i)
{
  return i < N_SAMPLING_OPTIONS ? &sampling_options[i] : NULL;
}

bool sampling_option_fits(const struct sampling_option *r, double x)
{
  bool hole = r->at == offsetof(struct sampling_params, temperature)
    && x > 0 && !(x >= 1e-5);
  return x <= r->high && (r->above_low ? x > r->low : x >= r->low) && !hole;
}

/* <Read a list of stages> */
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why)
{
  s->n_stages = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned found = 0;
    while (found < N_SAMPLE_STAGES
        && strcmp(name[i], sampling_stage_name((enum sample_stage) found)) != 0)
      found++;
    if (found == N_SAMPLE_STAGES) return error_say(why, "samplers has `%s'; wanted: bias,"
        " penalties, ngram, temperature, top_k, top_p, min_p, typical_p", name[i]);
    for (size_t j = 0; j < s->n_stages; j++)
      if (s->stage[j] == found) return error_say(why,
          "samplers has `%s' twice; wanted: once at most", name[i]);
    s->stage[s->n_stages++] = (enum sample_stage) found;
  }
  return true;
}

/* <Check ids in the settings> */
static bool check_ids(const char *name, const uint32_t *id, size_t n,
  size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++)
    if (id[i] >= vocab) return error_say(why, "%s has id %" PRIu32
        "; wanted: 0 to %zu", name, id[i], vocab - 1);
  return true;
}

static bool check_biased(const char *name, const struct sequence_bias *list,
  size_t n, size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0) return error_say(why,
        "%s has an empty sequence; wanted: 1 id or more", name);
    if (!(list[i].bias < INFINITY)) return error_say(why,
        "%s has a bias of %g; wanted: a number or -inf", name,
        list[i].bias);
    if (!check_ids(name, list[i].id, list[i].n, vocab, why)) return false;
  }
  return true;
}

/* <Check the settings> */
static bool runs(const struct sampling_params *s, enum sample_stage stage)
{
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == stage) return true;
  return false;
}

bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why)
{
  for (const struct sampling_option *r = sampling_options; r < sampling_options
    + N_SAMPLING_OPTIONS; r++) {
    double x;
    memcpy(&x, (const char *) s + r->at, sizeof x);
    if (runs(s, r->where) && !sampling_option_fits(r, x))
      return error_say(why, "%s is %g; wanted: %s", r->name, x, r->expected);
  }
  if (runs(s, SAMPLE_PENALTIES) && s->penalty_last_n < -1)
    return error_say(why, "penalty_last_n is %"
      PRId64 "; wanted: -1 for all, or a number of tokens",
      s->penalty_last_n);
  return check_biased("logit_bias", s->logit_bias, s->n_logit_bias,
      vocab, why)
    && check_biased("bad_words", s->bad_words, s->n_bad_words, vocab, why)
    && check_ids("suppress_tokens", s->suppress, s->n_suppress, vocab, why);
}
