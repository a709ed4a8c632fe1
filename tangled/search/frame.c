/* frame.c -- made from workshop/25-search.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "search/inside.h"
#include "functions/numbers.h"

/* <Check the options> */
static bool check_process(const struct search_processor *p,
  struct error *why)
{
  if (p->what == PROCESS_REPETITION
      && !(p->penalty > 0 && p->penalty < INFINITY))
    return error_say(why, "repetition_penalty is %g; wanted: a number above 0", p->penalty);
  return true;
}

bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why)
{
  if (s->num_beams == 0 || s->num_beams > UINT32_MAX) return error_say(why,
      "num_beams is %zu; wanted: 1 or more", s->num_beams);
  if (s->num_return == 0 || s->num_return > s->num_beams)
    return error_say(why, "num_return_sequences is %zu; wanted: 1"
      " to %zu, the number of beams", s->num_return, s->num_beams);
  if (s->max_length <= n_prompt) return error_say(why,
      "max_length is %zu, and the prompt has %zu tokens; wanted: more", s->max_length, n_prompt);
  /* <Check the ids that end a text, and the power> */
  for (size_t i = 0; i < s->n_eos; i++)
    if (s->eos[i] >= vocab) return error_say(why, "eos_token_id is %" PRIu32
        "; wanted: 0 to %zu", s->eos[i], vocab - 1);
  if (s->n_eos + 1 > SIZE_MAX / s->num_beams) return error_say(why,
      "%zu beams and %zu end tokens; wanted: fewer", s->num_beams,
      s->n_eos);
  double power = num_pow((double) (s->max_length - n_prompt),
    s->length_penalty);
  if (!(power > 0 && power < INFINITY)) return error_say(why,
      "length_penalty is %g; wanted: a number that leaves %zu to its power finite",
      s->length_penalty, s->max_length - n_prompt);
  for (size_t i = 0; i < s->n_process; i++)
    if (!check_process(&s->process[i], why)) return false;
  return true;
}

/* <Check the prompt> */
bool search_check_prompt(const struct search *s, const uint32_t *prompt,
  struct error *why)
{
  const struct search_source *from = s->from;
  if (s->n_prompt == 0) return error_say(why,
      "the prompt has no tokens; wanted: 1 or more");
  if (from->max_len > 0 && s->n_prompt >= from->max_len)
    return error_say(why, "the prompt has %zu tokens; wanted: at most %zu",
      s->n_prompt, from->max_len - 1);
  for (size_t i = 0; i < s->n_prompt; i++)
    if (prompt[i] >= from->vocab) return error_say(why,
        "token %zu of the prompt is id %" PRIu32 "; the vocabulary has %zu",
        i, prompt[i], from->vocab);
  return true;
}

/* <Take and return what a search keeps> */
bool search_take(struct search *s, const struct kernels *k,
  struct error *why)
{
  struct arena *a = &s->lists;
  size_t width = s->want->num_beams, each = s->limit * sizeof (uint32_t);
  if (!funnel_open(&s->f, s->m, k, s->from->vocab, why)) return false;
  s->logits = arena_alloc(a, MEMORY_ACTIVATIONS, width,
    s->from->vocab * sizeof (float), why);
  s->active = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->active, why);
  s->next = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->next, why);
  s->text[0] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->text[1] = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->list = arena_alloc(a, MEMORY_OTHER, s->max_candidates, sizeof *s->list, why);
  s->pooled = arena_alloc(a, MEMORY_TOKENS, width, each, why);
  s->hypotheses = arena_alloc(a, MEMORY_OTHER, width, sizeof *s->hypotheses, why);
  return !a->refused;
}

void search_give(struct search *s)
{
  arena_free(&s->lists);
  funnel_close(&s->f);
}

/* <Hand the best of the pool over> */
bool search_export(struct search *s, struct search_result *out,
  struct error *why)
{
  size_t n = s->n_hypotheses < s->want->num_return ? s->n_hypotheses
    : s->want->num_return;
  out->steps = s->number;
  out->text = memory_alloc(s->m, MEMORY_TOKENS, n, sizeof *out->text, why);
  bool ok = out->text != NULL;
  if (ok) out->n = n;
  for (size_t i = 0; ok && i < n; i++) {
    struct search_text *t = &out->text[i];
    *t = s->hypotheses[i];
    t->id = memory_alloc(s->m, MEMORY_TOKENS, t->n, sizeof *t->id, why);
    ok = t->id != NULL;
    if (ok) memcpy(t->id, s->hypotheses[i].id, t->n * sizeof *t->id);
  }
  if (!ok) search_free(out);
  return ok;
}

void search_free(struct search_result *r)
{
  for (size_t i = 0; i < r->n; i++)
    memory_free(r->m, r->text[i].id);
  memory_free(r->m, r->text);
  *r = (struct search_result) { .m = r->m };
}
