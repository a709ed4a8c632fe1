/* decode_setup.c -- from the model's files and the command line to a sampler, a constraint, and
   what ends a text.

   The settings come from three places, each of which may overrule the one before: neutral values
   with temperature 0, the makers' generation_config.json, the line. Where everything is silent
   the likeliest token is taken. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "decode_setup.h"

/* The makers' temperature and cuts count only if do_sample is true: libraries that write these
   files write all defaults, so a temperature beside do_sample false is common and means nothing.
   Penalties count in any case. */
static void take_config(struct sampling_params *s,
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
static int take_biases(struct decode_setup *x, const struct invocation *a,
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
static bool settle_seed(struct decode_setup *x, const struct invocation *a,
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

/* a pattern is a part of the line, and a mistake in it is wrong usage; a grammar is a file */
static int read_constraint(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct option_value *of = a->w->of;
  struct memory *m = a->o.m;
  struct bytes rules = { NULL, 0, 0 };
  if (of[OPTION_REGEX].given) {
    const char *text = of[OPTION_REGEX].text;
    x->must = constraint_regex(m, text, strlen(text), why);
    return x->must != NULL ? STATUS_DONE : STATUS_USAGE;
  }
  if (of[OPTION_JSON_OBJECT].given) x->must = constraint_grammar(m,
      "--json-object", constraint_json, strlen(constraint_json), why);
  else if (prompt_read_text(a->c, of[OPTION_GRAMMAR].text, &rules, why)
      && bytes_push(m, &rules, "", 1, why))
    x->must = constraint_grammar(m, of[OPTION_GRAMMAR].text, (const char *) rules.byte,
      rules.n - 1, why);
  bytes_free(m, &rules);
  return x->must != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* The bytes of every token as the decoder makes them in the middle of a text. Special tokens
   have none. All bytes are in one block, which moves as it grows, so lengths are noted first and
   pointers set at the end. */
static bool collect_pieces(const struct invocation *a, struct token_bytes *spelt,
  struct bytes *all, struct error *why)
{
  size_t n = a->o.lm->config.vocab_size, at = 0;
  for (size_t i = 0; i < n; i++) {
    bool begun = true;
    size_t before = all->n;
    if (!tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i, true, &begun,
        all, why)) return false;
    spelt[i].n = all->n - before;
  }
  for (size_t i = 0; i < n; at += spelt[i++].n)
    spelt[i].byte = spelt[i].n > 0 ? all->byte + at : NULL;
  return true;
}

/* Does the decoder drop a blank at the front of the first token? That depends on the decoder and
   on whether the prompt has any text; so one token with a blank is decoded after the prompt, and
   counted. */
static bool loses_blank(const struct invocation *a, const struct token_bytes *spelt,
  bool *strips, struct error *why)
{
  struct bytes text = { NULL, 0, 0 };
  bool ok = true, begun = false;
  const struct ids *p = &a->p.list;
  size_t n = a->o.lm->config.vocab_size, i = 0;
  for (size_t k = 0; ok && k < p->n; k++)
    ok = tokenizer_decode_next(a->o.t, a->o.m, p->id[k], true, &begun,
      &text, why);
  size_t before = text.n;
  while (i < n && (spelt[i].n < 2 || spelt[i].byte[0] != ' ')) i++;
  if (ok && i < n) ok = tokenizer_decode_next(a->o.t, a->o.m, (uint32_t) i,
      true, &begun, &text, why);
  *strips = ok && i < n && text.n - before < spelt[i].n;
  bytes_free(a->o.m, &text);
  return ok;
}

/* opens the constraint, the tokens in order for it, and the bond; a limit too small for any
   match is the line's mistake if the line has set it */
static int bind_text(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  size_t n = a->o.lm->config.vocab_size;
  struct bytes all = { NULL, 0, 0 };
  bool strips, ends = !a->w->of[OPTION_IGNORE_EOS].given;
  if (a->o.t == NULL) {
    error_say(why, "%s: there is no tokenizer that we know; wanted: one, for"
      " what must match is a text", a->o.path);
    return STATUS_FAILED;
  }
  int status = read_constraint(x, a, why);
  if (status != STATUS_DONE) return status;
  struct token_bytes *spelt = memory_alloc(a->o.m, MEMORY_OTHER, n, sizeof *spelt,
    why);
  bool ok = spelt != NULL && collect_pieces(a, spelt, &all, why)
    && loses_blank(a, spelt, &strips, why)
    && (x->words = lexicon_open(a->o.m, spelt, NULL, n, why)) != NULL
    && constraint_bind(x->must, x->words, strips, why);
  bytes_free(a->o.m, &all);
  memory_free(a->o.m, spelt);
  if (!ok) return STATUS_FAILED;
  ok = constraint_cursor_open(&x->bond, a->o.m, x->must, n, a->max_tokens,
    a->o.lm->config.eos, ends ? a->o.lm->config.n_eos : 0, why);
  if (!ok) return a->w->of[OPTION_MAX_NEW_TOKENS].given ? STATUS_USAGE : STATUS_FAILED;
  x->d.rule = (struct token_rule) { .allow = bond_allow, .take = bond_take,
    .save = bond_save, .restore = bond_restore, .ctx = &x->bond };
  return STATUS_DONE;
}

/* The strings of --stop, one after the other without their escapes; pointers are set when the
   block no longer moves. */
static bool take_stops(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct command_line *w = a->w;
  struct memory *m = a->o.m;
  bool plain = w->of[OPTION_NO_ESCAPE].given, ok = true;
  x->stop = memory_alloc(m, MEMORY_OTHER, OPTIONS_MAX_REPEATED, sizeof *x->stop, why);
  for (size_t i = 0; x->stop != NULL && ok && i < w->n_repeated; i++) {
    const char *text = w->repeated[i].text;
    size_t before = x->said.n;
    if (w->repeated[i].which != OPTION_STOP) continue;
    ok = plain ? bytes_push(m, &x->said, text, strlen(text), why)
      : stops_unescape(m, text, &x->said, why);
    x->stop[x->n_stop++].n = x->said.n - before;
  }
  for (size_t i = 0, at = 0; ok && i < x->n_stop; at += x->stop[i++].n)
    x->stop[i].byte = x->said.byte + at;
  return ok && x->stop != NULL;
}

/* stop strings are about a text, so they need a tokenizer */
static bool open_endings(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct option_value *of = a->w->of;
  if (of[OPTION_STOP].given && a->o.t == NULL) return error_say(why,
      "%s: there is no tokenizer that we know; wanted: one, for --stop is"
      " about a text", a->o.path);
  if (!take_stops(x, a, why) || !stop_setup_open(&x->ends, a->o.m, a->o.t,
      x->stop, x->n_stop, &x->bond, why)) return false;
  x->ends.flow.include_stop = of[OPTION_INCLUDE_STOP].given;
  x->ends.flow.min_tokens = (size_t) of[OPTION_MIN_TOKENS].count;
  x->ends.repeat = (size_t) of[OPTION_STOP_ON_REPETITION].count;
  return true;
}

void decode_setup_apply(struct decode_setup *x, const struct invocation *a,
  struct generate_options *want)
{
  want->select = sampler_choose, want->accept = sampler_accept;
  want->select_ctx = &x->d;
  want->stop = criteria_should_stop, want->stop_ctx = &x->ends.all;
  want->min_tokens = (size_t) a->w->of[OPTION_MIN_TOKENS].count;
}

/* generation_config.json is checked here for the first time as settings of a sampler, and the
   sentence names it; the line's own values have been checked before */
int decode_setup_open(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  const struct model_config *config = &a->o.lm->config;
  *x = (struct decode_setup) { .sequences = 1 };
  if (a->w->of[OPTION_NUM_SEQUENCES].given)
    x->sequences = a->w->of[OPTION_NUM_SEQUENCES].count;
  take_config(&x->d.s, &config->sampling);
  if (!take_line(&x->d.s, a->w, why)) return STATUS_USAGE;
  int status = take_biases(x, a, why);
  if (status != STATUS_DONE) return status;
  struct error wrong;
  if (!sampling_check(&x->d.s, config->vocab_size, &wrong)) {
    error_say(why, "%s/generation_config.json: %s", a->o.path, wrong.text);
    return STATUS_FAILED;
  }
  if (!settle_seed(x, a, why) || !funnel_open(&x->d.f, a->o.m, a->o.e.k,
      config->vocab_size, why) || !open_endings(x, a, why))
    return STATUS_FAILED;
  const struct option_value *of = a->w->of;
  return of[OPTION_REGEX].given || of[OPTION_GRAMMAR].given
    || of[OPTION_JSON_OBJECT].given ? bind_text(x, a, why) : STATUS_DONE;
}

/* in the reverse order, whatever was opened */
void decode_setup_close(struct memory *m, struct decode_setup *x)
{
  stop_setup_close(&x->ends);
  memory_free(m, x->stop);
  bytes_free(m, &x->said);
  constraint_cursor_close(&x->bond, m);
  constraint_free(x->must);
  lexicon_close(x->words);
  funnel_close(&x->d.f);
  memory_free(m, x->biased);
  ids_free(m, &x->id);
}

/* a temperature of 0 is greedy only if there is a stage that reads it */
bool decode_setup_greedy(const struct decode_setup *x)
{
  const struct sampling_params *s = &x->d.s;
  for (size_t i = 0; i < s->n_stages; i++)
    if (s->stage[i] == SAMPLE_TEMPERATURE && s->temperature == 0)
      return true;
  return false;
}

/* the mask is that of the last choice until the next one asks for another */
size_t decode_setup_allowed(const struct decode_setup *x)
{
  size_t n = 0;
  if (x->must == NULL) return x->d.f.vocab;
  for (size_t i = 0; i < x->bond.vocab; i++) n += x->bond.allowed[i] != 0;
  return n;
}

const char *decode_setup_reason(const struct decode_setup *x)
{
  if (x->must != NULL && decode_setup_allowed(x) == 1) return "forced";
  if (decode_setup_greedy(x)) return "greedy";
  return x->d.f.n == 1 ? "forced" : "sampled";
}
