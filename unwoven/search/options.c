/* options.c -- what a caller wants of a search is checked before anything is computed, once.

   After these checks a search can count on: at least one beam, no more texts wanted than beams,
   room for at least one token, end tokens and prompt within the vocabulary, a number of candidates
   that does not overflow, and a power of the length that a score can be divided by. Each refusal is
   a sentence. */

#include <inttypes.h>
#include <math.h>
#include "search/inside.h"
#include "functions/numbers.h"

/* Of a processor only the penalty needs a check: a ban or minimum of 0 does nothing, and one that
   is longer than the text is never reached. */
static bool check_process(const struct search_processor *p,
  struct error *why)
{
  if (p->what == PROCESS_REPETITION
      && !(p->penalty > 0 && p->penalty < INFINITY))
    return error_say(why, "repetition_penalty is %g; wanted: a number above 0",
      p->penalty);
  return true;
}

bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why)
{
  if (s->num_beams == 0 || s->num_beams > UINT32_MAX)
    return error_say(why, "num_beams is %zu; wanted: 1 or more", s->num_beams);
  if (s->num_return == 0 || s->num_return > s->num_beams)
    return error_say(why, "num_return_sequences is %zu; wanted: 1 to %zu, the number"
      " of beams", s->num_return, s->num_beams);
  if (s->max_length <= n_prompt)
    return error_say(why, "max_length is %zu, and the prompt has %zu tokens;"
      " wanted: more", s->max_length, n_prompt);
  for (size_t i = 0; i < s->n_eos; i++)
    if (s->eos[i] >= vocab)
      return error_say(why, "eos_token_id is %" PRIu32 "; wanted: 0 to %zu",
        s->eos[i], vocab - 1);
  /* the number of candidates is a product of two sizes that a caller may have chosen */
  if (s->n_eos + 1 > SIZE_MAX / s->num_beams)
    return error_say(why, "%zu beams and %zu end tokens; wanted: fewer",
      s->num_beams, s->n_eos);
  /* A score will be divided by the length raised to the length penalty. For a text of 96 tokens
     and an exponent of 1000 that power is larger than any double; then all scores would be the
     same zero, and nothing could be ranked. */
  double power = num_pow((double) (s->max_length - n_prompt), s->length_penalty);
  if (!(power > 0 && power < INFINITY))
    return error_say(why, "length_penalty is %g; wanted: a number that leaves"
      " %zu to its power finite", s->length_penalty, s->max_length - n_prompt);
  for (size_t i = 0; i < s->n_process; i++)
    if (!check_process(&s->process[i], why)) return false;
  return true;
}

/* A prompt must have a token, leave room for another, and consist of ids of the vocabulary. */
bool search_check_prompt(const struct search *s, const uint32_t *prompt,
  struct error *why)
{
  const struct search_source *from = s->from;
  if (s->n_prompt == 0)
    return error_say(why, "the prompt has no tokens; wanted: 1 or more");
  if (from->max_len > 0 && s->n_prompt >= from->max_len)
    return error_say(why, "the prompt has %zu tokens; wanted: at most %zu",
      s->n_prompt, from->max_len - 1);
  for (size_t i = 0; i < s->n_prompt; i++)
    if (prompt[i] >= from->vocab)
      return error_say(why, "token %zu of the prompt is id %" PRIu32
        "; the vocabulary has %zu", i, prompt[i], from->vocab);
  return true;
}
