@i types.w
@s size_t int

\chapterquestion{A temperature of a million, a token that is not in the vocabulary, a stage that is named twice: where does the program notice them?}
@** Checking the parameters of a sampler.
\incipit{T}{he stages} of \cref{sampling} trust their parameters. They run for every token of a text, so they do not check what can be checked once, before the first. This short module is that check: the range of each real number, the ids of all lists, and the names in a list of stages. The command, the protocol of the tests and the library call it before a text begins.
@^sampling parameters@>

@* Options with a range. \label{sec:settingranges}
Seven of the parameters are real numbers, and each has a range. The command reads them from its arguments, the protocol from an object, and both need the name, the place and the range, and a message when the value is out of range. One table has all of this.

@<Parameters and their ranges@>=
struct sampling_option {@+ const char *name;@+ size_t at;
  enum sample_stage where;@+ double low, high;@+ bool above_low;
  const char *expected;@+ };
  /* parameter |name| of the stage |where| is |at| bytes from the beginning of |struct sampling_params|,
     from |low| or |above_low| to |high|; |expected| says so in words */
const struct sampling_option *sampling_option_at(size_t i);
  /* parameter |i| of those that are real numbers; null past the last */
bool sampling_option_fits(const struct sampling_option *r, double x);
  /* is |x| in the range? */
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why);
  /* sets the list of stages; errors: an unknown name, a name given twice */
bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why);
  /* are all numbers that a stage of the list reads in range, and all ids below |vocab|? If not, the message names the parameter, the value and the range */

@ Outside its range, a parameter makes its formula meaningless. Inside it, every value is allowed, even an unwise one.

@<Settings that are real numbers@>=
#define OPTION(field, stage, low, high, above, wanted) @[{ #field,@| \
  offsetof(struct sampling_params, field), stage, low, high, above, wanted }@]
static const struct sampling_option sampling_options[] = @[{@/
  OPTION(temperature, SAMPLE_TEMPERATURE, 0, 1e4, false,@|
    "0, or 0.00001 to 10000"),@/
  OPTION(top_p, SAMPLE_TOP_P, 0, 1, false, "0 to 1"),@/
  OPTION(min_p, SAMPLE_MIN_P, 0, 1, false, "0 to 1"),@/
  OPTION(typical_p, SAMPLE_TYPICAL_P, 0, 1, true, "above 0, up to 1"),@/
  OPTION(repetition_penalty, SAMPLE_PENALTIES, 0, DBL_MAX, true,@|
    "a number above 0"),@/
  OPTION(frequency_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,@|
    "a finite number"),@/
  OPTION(presence_penalty, SAMPLE_PENALTIES, -DBL_MAX, DBL_MAX, false,@|
    "a finite number")
}@];
enum {@+ N_SAMPLING_OPTIONS = sizeof sampling_options / sizeof sampling_options[0]@+ };

@ The range of the temperature has a gap between 0 and $10^{-5}$. A NaN is always refused: every comparison with it is false, so we ask whether the value is inside the range, not whether it is outside.

@<Settings that are real numbers@>=
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

@* Lists of stages. \label{sec:settingstages}
A stage that is not in the list does not run. A name that occurs twice is an error: applying top-p twice keeps a share of a share, and dividing by the temperature twice divides by $T^2$. A user who repeats a name wants neither.

@<Read a list of stages@>=
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why)
{
  s->n_stages = 0;
  for (size_t i = 0; i < n; i++) {
    unsigned found = 0;
    while (found < N_SAMPLE_STAGES@|
        && strcmp(name[i], sampling_stage_name((enum sample_stage) found)) != 0)
      found++;
    if (found == N_SAMPLE_STAGES)@+ return error_say(why, "samplers has `%s';"@|
        " wanted: bias,"@|
        " penalties, ngram,"@| " temperature, top_k,"@|
        " top_p, min_p,"@| " typical_p", name[i]);
    for (size_t j = 0; j < s->n_stages; j++)
      if (s->stage[j] == found)@+ return error_say(why,
          "samplers has `%s'"@|
          " twice; wanted:"@| " once at most", name[i]);
    s->stage[s->n_stages++] = (enum sample_stage) found;
  }
  return true;
}

@* The check. \label{sec:settingcheck}
The check goes through the table, and then through the lists. If a stage is not in the list, its number is never read and may have any value.

@<Check the settings@>=
static bool runs(const struct sampling_params *s, enum sample_stage stage)
{
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == stage)@+ return true;
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
  if (runs(s, SAMPLE_PENALTIES) && s->penalty_last_n < -1)@+
    return error_say(why, "penalty_last_n is %"@|
      PRId64 "; wanted: -1 for"@|
      " all, or a number of"@| " tokens",
      s->penalty_last_n);
  return check_biased("logit_bias", s->logit_bias, s->n_logit_bias,@|
      vocab, why)
    && check_biased("bad_words", s->bad_words, s->n_bad_words, vocab, why)
    && check_ids("suppress_tokens", s->suppress, s->n_suppress, vocab, why);
}

@ An id that is not in the vocabulary would index past the end of the logits. An empty sequence would match everywhere, and has no last id to which a bias could be added.

@<Check ids in the settings@>=
static bool check_ids(const char *name, const uint32_t *id, size_t n,
  size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++)
    if (id[i] >= vocab)@+ return error_say(why, "%s has id %" PRIu32@|
        "; wanted: 0 to %zu", name, id[i], vocab - 1);
  return true;
}
static bool check_biased(const char *name, const struct sequence_bias *list,
  size_t n, size_t vocab, struct error *why)
{
  for (size_t i = 0; i < n; i++) {
    if (list[i].n == 0)@+ return error_say(why,
        "%s has an empty"@| " sequence; wanted:"@| " 1 id or more", name);
    if (!(list[i].bias < INFINITY))@+ return error_say(why,
        "%s has a bias of %g;"@| " wanted: a number or"@| " -inf", name,
        list[i].bias);
    if (!check_ids(name, list[i].id, list[i].n, vocab, why))@+ return false;
  }
  return true;
}

@ The header includes the sampler's, which declares the parameters.

@(settings.h@>=
#ifndef INCIPIT_SAMPLER_SETTINGS_H
#define INCIPIT_SAMPLER_SETTINGS_H
#include "sampling/sampling.h"
@<Parameters and their ranges@>@;
#endif

@ The parts of the file are in the order of this chapter.

@(settings.c@>=
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "settings/settings.h"
@;@#
@<Settings that are real numbers@>@;
@<Read a list of stages@>@;
@<Check ids in the settings@>@;
@<Check the settings@>@;
