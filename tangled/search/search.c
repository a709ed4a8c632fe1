/* search.c -- made from chapters/09-search.w; change it there */

/* Beam search over any source of logits. Between steps: active has at most num_beams
   unfinished texts and hypotheses at most as many finished ones, both in falling
   order of score. Equal scores keep the order in which they came, so a search gives
   the same texts on every machine. The ids of active beams are in text[turn]; those
   of the next are written to text[turn^1], so a parent may have several children. All
   memory is taken before the first step, so a step can fail only for what the source
   says or gives. */
#include <string.h>
#include "search/inside.h"
#include "functions/numbers.h"

/* <Put a candidate where it belongs, if anywhere> */

/* Insertion into a short sorted list. The comparison is strict: of two equal
   candidates the one that came first stays first. */
static void rank_candidate(struct search *s, struct search_candidate c)
{
  size_t i = s->n_list;
  if (i == s->max_candidates && !(c.score > s->list[i - 1].score)) return;
  if (i < s->max_candidates) s->n_list++;
  else i--;
  for (; i > 0 && c.score > s->list[i - 1].score; i--)
    s->list[i] = s->list[i - 1];
  s->list[i] = c;
}

/* <Score what may follow a beam> */

/* in the caller's order, on log-probabilities: a penalty applied before the softmax
   would give another result */
static void process_all(struct search *s, const struct search_beam *grown)
{
  const struct search_settings *w = s->want;
  for (size_t i = 0; i < w->n_process; i++) {
    const struct search_processor *p = &w->process[i];
    if (p->what == PROCESS_REPETITION)
      funnel_repetition_penalty(&s->f, p->penalty, grown->id, grown->n);
    if (p->what == PROCESS_NGRAM)
      funnel_no_repeat_ngram(&s->f, p->n, grown->id, grown->n);
    if (p->what == PROCESS_MIN_NEW && grown->n - s->n_prompt < p->n)
      funnel_suppress(&s->f, w->eos, w->n_eos);
  }
}

/* All tokens that are left are offered, and the list keeps the best of all beams: no
   beam has a quota. */
static bool grow_beam(struct search *s, size_t beam, struct error *why)
{
  const struct search_beam *b = &s->active[beam];
  if (!funnel_fill(&s->f, s->logits + beam * s->f.vocab, why)) return false;
  funnel_log_softmax(&s->f);
  process_all(s, b);
  for (size_t i = 0; i < s->f.n; i++) {
    uint32_t id = s->f.candidates[i];
    double z = s->f.score[id];
    rank_candidate(s, (struct search_candidate) { .parent = beam,
      .token = id, .logprob = z, .score = b->score + z });
  }
  return true;
}

/* <Grow all beams by every token> */

/* one pass for all beams; the ranks are given when the list is complete */
static bool grow_beams(struct search *s, struct error *why)
{
  s->n_list = 0;
  if (!s->from->score(s->from->ctx, s->active, s->n_active, s->logits, why))
    return false;
  for (size_t i = 0; i < s->n_active; i++)
    if (!grow_beam(s, i, why)) return false;
  for (size_t i = 0; i < s->n_list; i++) s->list[i].rank = i + 1;
  return true;
}

/* <The score of a finished text> */

/* the length penalty of transformers: the prompt does not count, and an end token
   does */
static double final_score(const struct search *s, double sum, size_t written)
{
  return sum / num_pow((double) written, s->want->length_penalty);
}

/* <Offer a text a place among the finished> */

/* The block of ids of the text that is pushed out, or an unused one, goes to the new
   text: entries move, their blocks of memory are only handed on. token is the one
   that ended the text, or null for a text that was broken off. */
static void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish_reason ended)
{
  size_t n = b->n + (token != NULL), i = s->n_hypotheses;
  double score = final_score(s, sum, n - s->n_prompt);
  if (i == s->want->num_beams && !(score > s->hypotheses[i - 1].score)) return;
  if (i < s->want->num_beams) s->n_hypotheses++;
  else i--;
  uint32_t *id = s->hypotheses[i].id;
  for (; i > 0 && score > s->hypotheses[i - 1].score; i--)
    s->hypotheses[i] = s->hypotheses[i - 1];
  memcpy(id, b->id, b->n * sizeof *id);
  if (token != NULL) id[b->n] = *token;
  s->hypotheses[i] = (struct search_text) { id, n, sum, score, ended };
}

/* <Make a beam of a candidate> */

/* the text is copied to the other half, since its parent may have more children */
static void keep_candidate(struct search *s, struct search_candidate *c)
{
  const struct search_beam *b = &s->active[c->parent];
  uint32_t *id = s->text[s->turn ^ 1] + s->n_next * s->limit;
  memcpy(id, b->id, b->n * sizeof *id);
  id[b->n] = c->token;
  s->next[s->n_next++] = (struct search_beam) { id, b->n + 1, c->parent,
    c->score };
  c->outcome = OUTCOME_KEPT;
}

/* <Decide what becomes of the candidates> */

/* an end token counts as such even if it is also the last that there is room for */
static bool ends(const struct search *s, const struct search_candidate *c,
  enum finish_reason *how)
{
  const struct search_settings *w = s->want;
  *how = s->active[c->parent].n + 1 == s->limit ? FINISH_LENGTH : FINISH_NONE;
  for (size_t i = 0; i < w->n_eos; i++)
    if (w->eos[i] == c->token) *how = FINISH_STOP;
  return *how != FINISH_NONE;
}

/* Of the candidates that end a text only those among the best num_beams may finish;
   others are dropped. There are enough candidates to fill all beams even if each beam
   offers every end token. */
static void decide(struct search *s)
{
  size_t width = s->want->num_beams;
  enum finish_reason how;
  s->n_next = 0;
  for (size_t i = 0; i < s->n_list; i++) {
    struct search_candidate *c = &s->list[i];
    if (ends(s, c, &how)) {
      if (i >= width) continue;
      finish_text(s, &s->active[c->parent], &c->token, c->score, how);
      c->outcome = OUTCOME_FINISHED;
    }
    else if (s->n_next < width) keep_candidate(s, c);
  }
}

/* <Is the search over?> */

/* The search may stop when no active beam can still beat the worst finished text.
   With a positive length penalty a longer text divides its sum by more, so the best
   that EARLY_NEVER can hope for is the greatest length; the default looks at the
   present length, as transformers does. */
static bool search_is_done(const struct search *s)
{
  const struct search_settings *w = s->want;
  if (s->n_next == 0) return true;
  if (s->n_hypotheses < w->num_beams) return false;
  if (w->early == EARLY_TRUE) return true;
  size_t written = s->next[0].n - s->n_prompt;
  if (w->early == EARLY_NEVER && w->length_penalty > 0)
    written = s->limit - s->n_prompt;
  return !(final_score(s, s->next[0].score, written)
    > s->hypotheses[w->num_beams - 1].score);
}

/* <End all beams where they are> */

/* a caller who stops a search gets the unfinished texts, if they are good enough */
static void cancel(struct search *s, const struct search_beam *beam, size_t n)
{
  for (size_t i = 0; i < n; i++)
    finish_text(s, &beam[i], NULL, beam[i].score, FINISH_CANCELLED);
}

/* <Search step by step> */

/* A step that was cancelled inside the source has made no candidates, so the beams of
   the step before are ended; before the first step there are none, and the search
   fails. The two lists of beams change places, and with them the halves of text. */
static bool search_steps(struct search *s, struct error *why)
{
  const struct search_settings *w = s->want;
  for (bool over = false; !over; ) {
    if (!grow_beams(s, why)) {
      if (s->number == 0 || !progress_cancelled(s->from->progress)) return false;
      cancel(s, s->active, s->n_active);
      break;
    }
    decide(s);
    s->number++;
    over = search_is_done(s);
    /* <Let the watcher see the step> */
    if (w->see != NULL && !w->see(w->ctx, &(struct search_step) {
        s->number, s->active, s->n_active, s->list, s->n_list, s->hypotheses,
        s->n_hypotheses }) && !over) {
      cancel(s, s->next, s->n_next);
      over = true;
    }
    if (s->n_next > 0) {
      struct search_beam *old = s->active;
      s->active = s->next, s->n_active = s->n_next;
      s->next = old, s->turn ^= 1;
    }
  }
  return s->n_hypotheses > 0 || error_say(why, "after token %zu of the text all"
    " tokens are out for all beams, and no text has ended", s->active[0].n);
}

/* <Search, and hand the best over> */

/* Two candidates for each beam are enough with one end token: at most one of each
   beam's best can be it. With more end tokens there are as many more. */
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why)
{
  struct search s = { .from = from, .want = want, .m = m, .lists.m = m,
    .n_prompt = n_prompt, .limit = want->max_length };
  *out = (struct search_result) { .m = m, .n_prompt = n_prompt };
  if (!search_check_prompt(&s, prompt, why)
      || !search_check(want, from->vocab, n_prompt, why)) return false;
  /* <Set the limits of the search> */
  if (from->max_len > 0 && s.limit > from->max_len) s.limit = from->max_len;
  s.max_candidates = (want->n_eos > 1 ? 1 + want->n_eos : 2) * want->num_beams;
  if (s.limit > SIZE_MAX / sizeof (uint32_t)) return error_say(why,
      "max_length is %zu; wanted: less", s.limit);
  bool ok = search_take(&s, k, why);
  if (ok) {
    /* <Make the prompt the only beam> */
    memcpy(s.text[0], prompt, n_prompt * sizeof *prompt);
    s.active[0] = (struct search_beam) { .id = s.text[0], .n = n_prompt };
    s.n_active = 1;
    for (size_t i = 0; i < want->num_beams; i++)
      s.hypotheses[i].id = s.pooled + i * s.limit;
    ok = search_steps(&s, why) && search_export(&s, out, why);
  }
  search_give(&s);
  return ok;
}
