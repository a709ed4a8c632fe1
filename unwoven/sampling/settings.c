/* settings.c -- the check of a sampler's parameters, once, before the first token.

   The stages trust their parameters, since they run for every token.  What would make a formula
   meaningless is refused here: a number outside the range of its row, an id that would index past the end of the
   logits, an empty sequence (it would match everywhere, and has no last id to bias), a stage named
   twice (top-p twice keeps a share of a share).  Inside its range every value is allowed, even an unwise one. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "sampling/settings.h"

/* The temperature has a gap between 0 and 1e-5.  A NaN is always refused: every comparison with it
   is false, so we ask whether the value is inside the range, not whether it is outside. */
bool sampling_option_fits(const struct sampling_option *r, double x)
{
  bool in_gap = x > r->low && !(x >= r->low + r->gap);
  return x <= r->high && (r->above_low ? x > r->low : x >= r->low) && !in_gap;
}

static bool check_option(const struct sampling_params *s,
  const struct sampling_option *r, struct error *why)
{
  const void *at = (const char *) s + r->at;
  double x = 0;
  switch (r->type) {
  case SAMPLING_REAL: x = *(const double *) at; break;
  case SAMPLING_COUNT: x = (double) *(const size_t *) at; break;
  case SAMPLING_WINDOW: x = (double) *(const int64_t *) at; break;
  }
  return sampling_option_fits(r, x)
    || error_say(why, r->type == SAMPLING_REAL ? "%s is %g; wanted: %s"
      : "%s is %.0f; wanted: %s", r->name, x, r->expected);
}

void sampling_stage_names(char *list, size_t size)
{
  size_t n = 0;
  for (int i = 0; i < N_SAMPLE_STAGES && n < size; i++)
    n += (size_t) snprintf(list + n, size - n, "%s%s", i > 0 ? ", " : "",
      sampling_stage_name((enum sample_stage) i));
}

bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why)
{
  char all[20 * N_SAMPLE_STAGES];
  s->n_stages = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned found = 0;
    while (found < N_SAMPLE_STAGES
        && strcmp(name[i], sampling_stage_name((enum sample_stage) found)) != 0)
      found++;
    if (found == N_SAMPLE_STAGES) {
      sampling_stage_names(all, sizeof all);
      return error_say(why, "samplers has `%s'; wanted: %s", name[i], all);
    }
    for (size_t j = 0; j < s->n_stages; j++)
      if (s->stage[j] == found) return error_say(why,
          "samplers has `%s' twice; wanted: once at most", name[i]);
    s->stage[s->n_stages++] = (enum sample_stage) found;
  }
  return true;
}

static bool check_ids(const char *name, const uint32_t *id, size_t n,
  size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++)
    if (id[i] >= vocab) return error_say(why,
        "%s has id %" PRIu32 "; wanted: 0 to %zu", name, id[i], vocab - 1);
  return true;
}

static bool check_biased(const char *name, const struct sequence_bias *list,
  size_t n, size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0) return error_say(why,
        "%s has an empty sequence; wanted: 1 id or more", name);
    if (!(list[i].bias < INFINITY)) return error_say(why,
        "%s has a bias of %g; wanted: a number or -inf", name, list[i].bias);
    if (!check_ids(name, list[i].id, list[i].n, vocab, why)) return false;
  }
  return true;
}

/* a stage that is not in the list never reads its numbers, so they may have any value */
static bool runs(const struct sampling_params *s, enum sample_stage stage)
{
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == stage) return true;
  return false;
}

bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why)
{
  const struct sampling_option *r;
  enum sample_stage stage;
  for (size_t i = 0; (r = sampling_option_at(i, &stage)) != NULL; i++)
    if (runs(s, stage) && !check_option(s, r, why)) return false;
  return check_biased("logit_bias", s->logit_bias, s->n_logit_bias,
      vocab, why)
    && check_biased("bad_words", s->bad_words, s->n_bad_words, vocab, why)
    && check_ids("suppress_tokens", s->suppress, s->n_suppress, vocab, why);
}
