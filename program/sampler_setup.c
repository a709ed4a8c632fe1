/* sampler_setup.c -- from the model's files and the command line to a sampler.

   The settings come from three places, each of which may overrule the one before: neutral values
   with temperature 0, the makers' generation_config.json, the line. Where everything is silent
   the likeliest token is taken. When sampler_setup_open has succeeded, every setting is within its
   range and every id is one of the model's, whichever file or option it came from; so the sampler
   checks nothing while it draws. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "sampler_setup.h"

/* The makers' temperature and cuts count only if do_sample is true: libraries that write these
   files write all defaults, so a temperature beside do_sample false is common and means nothing.
   Penalties count in any case. */
void sampler_setup_defaults(struct sampling_params *s,
  const struct sampling_defaults *makers)
{
  *s = sampling_default();
  s->temperature = 0;
  s->repetition_penalty = makers->repetition_penalty;
  s->no_repeat_ngram = makers->no_repeat_ngram_size;
  if (!makers->do_sample) return;
  s->temperature = makers->temperature, s->top_k = makers->top_k;
  s->top_p = makers->top_p, s->min_p = makers->min_p;
  s->typical_p = makers->typical_p;
}

/* the values were checked when the line was read, and are within their ranges */
static bool take_line(struct sampling_params *s, const struct command_line *w,
  struct error *why)
{
  const struct option_value *of = w->of;
  for (int i = 0; i < N_OPTIONS; i++) {
    const struct sampling_option *r = option_setting((enum option) i, NULL);
    if (r != NULL && of[i].given) sampling_option_set(s, r, of[i].real, (int64_t) of[i].count);
  }
  return !of[OPTION_SAMPLERS].given
    || options_parse_samplers(of[OPTION_SAMPLERS].text, s, why);
}

/* Pairs of an id and a number, several in one option or the option several times. Only here is
   it known which ids there are. Both lists may move as they grow, so no pointer between them is
   set before they are complete. */
static int take_biases(struct sampler_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct command_line *w = a->w;
  size_t n = 0;
  for (size_t i = 0; i < w->n_repeated; i++) {
    if (w->repeated[i].which != OPTION_LOGIT_BIAS) continue;
    const char *at = w->repeated[i].text;
    struct bias_pair pair;
    while (options_next_bias(&at, &pair)) {
      if (pair.id >= a->o.vocab_size) {
        error_say(why, "--logit-bias has id %" PRIu64 "; wanted: 0 to %"
          PRIu32, pair.id, a->o.vocab_size - 1);
        return STATUS_USAGE;
      }
      /* grow both lists by the pair */
      void *p = memory_reserve(a->o.m, MEMORY_OTHER, x->biased, &x->cap, n + 1, 8,
        sizeof *x->biased, why);
      if (p == NULL) return STATUS_FAILED;
      x->biased = p;
      if (!ids_push(a->o.m, &x->id, (uint32_t) pair.id, why))
        return STATUS_FAILED;
      x->biased[n++] = (struct sequence_bias) { NULL, 1, pair.bias };
    }
  }
  /* nothing moves any more */
  for (size_t i = 0; i < n; i++) x->biased[i].id = &x->id.id[i];
  x->d.s.logit_bias = x->biased, x->d.s.n_logit_bias = n;
  return STATUS_DONE;
}

/* --seed random draws a seed from the system and says it on the standard error, so that a text
   that the user likes can be repeated. It has 63 bits, as --seed reads them. */
static bool settle_seed(struct sampler_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct option_value *seed = &a->w->of[OPTION_SEED];
  x->d.seed = seed->count;
  if (!seed->given || strcmp(seed->text, "random") != 0) return true;
  FILE *chance = fopen("/dev/urandom", "rb");
  size_t n = chance == NULL ? 0 : fread(&x->d.seed, sizeof x->d.seed, 1,
    chance);
  if (chance != NULL) fclose(chance);
  if (n != 1) return error_say(why, "--seed random: /dev/urandom cannot be"
      " read: %s", strerror(errno));
  x->d.seed >>= 1;
  fprintf(a->c->err, "incipit: --seed %" PRIu64 "\n", x->d.seed);
  return true;
}

/* generation_config.json is checked here for the first time as settings of a sampler, and the
   sentence names it; the line's own values have been checked before. The seed comes
   after them, because one that is drawn is said at once. */
int sampler_setup_open(struct sampler_setup *x, const struct invocation *a, struct error *why)
{
  const struct model_config *config = &a->o.lm->config;
  *x = (struct sampler_setup) { .cap = 0 };
  sampler_setup_defaults(&x->d.s, &config->sampling);
  if (!take_line(&x->d.s, a->w, why)) return STATUS_USAGE;
  int status = take_biases(x, a, why);
  if (status != STATUS_DONE) return status;
  struct error wrong;
  if (!sampling_check(&x->d.s, config->vocab_size, &wrong)) {
    error_say(why, "%s/generation_config.json: %s", a->o.path, wrong.text);
    return STATUS_FAILED;
  }
  bool ok = settle_seed(x, a, why)
    && funnel_open(&x->d.f, a->o.m, a->o.e.k, config->vocab_size, why);
  return ok ? STATUS_DONE : STATUS_FAILED;
}

void sampler_setup_close(struct memory *m, struct sampler_setup *x)
{
  funnel_close(&x->d.f);
  memory_free(m, x->biased);
  ids_free(m, &x->id);
}

/* a temperature of 0 is greedy only if there is a stage that reads it */
bool sampler_setup_greedy(const struct sampler_setup *x)
{
  const struct sampling_params *s = &x->d.s;
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == SAMPLE_TEMPERATURE && s->temperature == 0)
      return true;
  return false;
}
