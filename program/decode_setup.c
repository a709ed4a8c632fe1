/* decode_setup.c -- all that decides about a text, from the model's files and the command line: who
   chooses a token (sampler_setup.c), what the text must match (constraint_setup.c), and what ends
   it (stop_setup.c; the strings of --stop are taken from the line here).

   The three are opened together because they point to each other: the sampler obeys the rule of
   the constraint, and the list of stops asks how far the constraint has come. So a decode_setup
   stays where it was opened, and all of it is closed together. */

#include <string.h>
#include "decode_setup.h"

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
      x->stop, x->n_stop, &x->match.bond, why)) return false;
  x->ends.flow.include_stop = of[OPTION_INCLUDE_STOP].given;
  x->ends.flow.min_tokens = (size_t) of[OPTION_MIN_TOKENS].count;
  x->ends.repeat = (size_t) of[OPTION_STOP_ON_REPETITION].count;
  return true;
}

void decode_setup_apply(struct decode_setup *x, const struct invocation *a,
  struct generate_options *want)
{
  want->select = sampler_choose, want->accept = sampler_accept;
  want->select_ctx = &x->choice.d;
  want->stop = criteria_should_stop, want->stop_ctx = &x->ends.all;
  want->min_tokens = (size_t) a->w->of[OPTION_MIN_TOKENS].count;
}

/* The stops get the cursor before there is a constraint: they keep its address, and a cursor without a
   constraint ends no text. What is cheap comes first, since the constraint reads the whole
   vocabulary. */
int decode_setup_open(struct decode_setup *x, const struct invocation *a,
  struct error *why)
{
  *x = (struct decode_setup) { .sequences = 1 };
  if (a->w->of[OPTION_NUM_SEQUENCES].given)
    x->sequences = a->w->of[OPTION_NUM_SEQUENCES].count;
  int status = sampler_setup_open(&x->choice, a, why);
  if (status != STATUS_DONE) return status;
  if (!open_endings(x, a, why)) return STATUS_FAILED;
  return constraint_setup_open(&x->match, a, &x->choice.d.rule, why);
}

/* in the reverse order, whatever was opened */
void decode_setup_close(struct memory *m, struct decode_setup *x)
{
  stop_setup_close(&x->ends);
  memory_free(m, x->stop);
  bytes_free(m, &x->said);
  constraint_setup_close(m, &x->match);
  sampler_setup_close(m, &x->choice);
}

size_t decode_setup_allowed(const struct decode_setup *x)
{
  return x->match.must == NULL ? x->choice.d.f.vocab : constraint_setup_allowed(&x->match);
}

const char *decode_setup_reason(const struct decode_setup *x)
{
  if (x->match.must != NULL && decode_setup_allowed(x) == 1) return "forced";
  if (sampler_setup_greedy(&x->choice)) return "greedy";
  return x->choice.d.f.n == 1 ? "forced" : "sampled";
}
