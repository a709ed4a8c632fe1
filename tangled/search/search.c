/* search.c -- made from chapters/09-search.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "sampling/funnel.h"
#include "search/search.h"
#include "functions/numbers.h"

/* <What a search keeps> */
struct search { const struct search_source *from;
  const struct search_settings *want; struct memory *m;
  /* limit: the most tokens of a text; most: the most candidates; number: steps so far */
  size_t n_prompt, limit, most, number;
  struct funnel f;
  float *logits; /* [num_beams][vocab] */
  struct search_beam *grown, *next; /* [num_beams]: those that grow, those kept */
  size_t n_grown, n_next;
  uint32_t *text[2]; /* [num_beams][limit]: the ids of both lists of beams */
  unsigned turn; /* text[turn] has those of grown */
  struct search_candidate *list; /* [most], by rank */
  size_t n_list;
  uint32_t *pooled; /* [num_beams][limit]: the ids of the pool */
  struct search_text *pool; /* [num_beams], best first */
  size_t n_pool; };

/* <Check the wishes> */
static bool check_process(const struct search_processor *p,
  struct error *why)
{
  if (p->what == PROCESS_REPETITION
      && !(p->penalty > 0 && p->penalty < INFINITY))
    return error_say(why, "repetition_penalty" " is %g; wanted: a"
      " number above 0", p->penalty);
  return true;
}

bool search_check(const struct search_settings *s, size_t vocab,
  size_t n_prompt, struct error *why)
{
  if (s->num_beams == 0 || s->num_beams > UINT32_MAX) return error_say(why,
      "num_beams is %zu;" " wanted: 1 or more", s->num_beams);
  if (s->num_return == 0 || s->num_return > s->num_beams)
    return error_say(why, "num_return_sequences" " is %zu; wanted: 1"
      " to %zu, the number" " of beams", s->num_return, s->num_beams);
  if (s->max_length <= n_prompt) return error_say(why,
      "max_length is %zu," " and the prompt has" " %zu tokens;"
      " wanted: more", s->max_length, n_prompt);
  /* <Check the ids that end a text, and the power> */
  for (size_t i = 0; i < s->n_eos; i++)
    if (s->eos[i] >= vocab) return error_say(why, "eos_token_id is %" PRIu32
        "; wanted: 0 to %zu", s->eos[i], vocab - 1);
  if (s->n_eos + 1 > SIZE_MAX / s->num_beams) return error_say(why,
      "%zu beams and %zu" " end tokens;" " wanted: fewer", s->num_beams,
      s->n_eos);
  double power = num_pow((double) (s->max_length - n_prompt),
    s->length_penalty);
  if (!(power > 0 && power < INFINITY)) return error_say(why,
      "length_penalty is" " %g; wanted: a" " number that leaves" " %zu to its power"
      " finite", s->length_penalty, s->max_length - n_prompt);
  for (size_t i = 0; i < s->n_process; i++)
    if (!check_process(&s->process[i], why)) return false;
  return true;
}

/* <Put a candidate where it belongs, if anywhere> */
static void rank_candidate(struct search *s, struct search_candidate c)
{
  size_t i = s->n_list;
  if (i == s->most && !(c.score > s->list[i - 1].score)) return;
  if (i < s->most) s->n_list++;
  else i--;
  for (; i > 0 && c.score > s->list[i - 1].score; i--)
    s->list[i] = s->list[i - 1];
  s->list[i] = c;
}

/* <Score what may follow a beam> */
static void process_all(struct search *s, const struct search_beam *grown)
{
  const struct search_settings *w = s->want;
  for (size_t i = 0; i < w->n_process; i++) {
    const struct search_processor *p = &w->process[i];
    if (p->what == PROCESS_REPETITION)
      stage_repetition_penalty(&s->f, p->penalty, grown->id, grown->n);
    if (p->what == PROCESS_NGRAM)
      stage_no_repeat_ngram(&s->f, p->n, grown->id, grown->n);
    if (p->what == PROCESS_MIN_NEW && grown->n - s->n_prompt < p->n)
      stage_suppress(&s->f, w->eos, w->n_eos);
  }
}

static bool grow_beam(struct search *s, size_t beam, struct error *why)
{
  const struct search_beam *b = &s->grown[beam];
  if (!funnel_fill(&s->f, s->logits + beam * s->f.vocab, why)) return false;
  stage_log_softmax(&s->f);
  process_all(s, b);
  for (size_t i = 0; i < s->f.n; i++) {
    uint32_t id = s->f.left[i];
    double z = s->f.z[id];
    rank_candidate(s, (struct search_candidate) { .parent = beam,
      .token = id, .logprob = z, .score = b->score + z });
  }
  return true;
}

/* <Grow all beams by every token> */
static bool grow_beams(struct search *s, struct error *why)
{
  s->n_list = 0;
  if (!s->from->score(s->from->self, s->grown, s->n_grown, s->logits, why))
    return false;
  for (size_t i = 0; i < s->n_grown; i++)
    if (!grow_beam(s, i, why)) return false;
  for (size_t i = 0; i < s->n_list; i++) s->list[i].rank = i + 1;
  return true;
}

/* <The score of a finished text> */
static double final_score(const struct search *s, double sum, size_t written)
{
  return sum / num_pow((double) written, s->want->length_penalty);
}

/* <Offer a text a place among the finished> */
static void finish_text(struct search *s, const struct search_beam *b,
  const uint32_t *token, double sum, enum finish ended)
{
  size_t n = b->n + (token != NULL), i = s->n_pool;
  double score = final_score(s, sum, n - s->n_prompt);
  if (i == s->want->num_beams && !(score > s->pool[i - 1].score)) return;
  if (i < s->want->num_beams) s->n_pool++;
  else i--;
  uint32_t *id = s->pool[i].id;
  for (; i > 0 && score > s->pool[i - 1].score; i--)
    s->pool[i] = s->pool[i - 1];
  memcpy(id, b->id, b->n * sizeof *id);
  if (token != NULL) id[b->n] = *token;
  s->pool[i] = (struct search_text) { id, n, sum, score, ended };
}

/* <Make a beam of a candidate> */
static void keep_candidate(struct search *s, struct search_candidate *c)
{
  const struct search_beam *b = &s->grown[c->parent];
  uint32_t *id = s->text[s->turn ^ 1] + s->n_next * s->limit;
  memcpy(id, b->id, b->n * sizeof *id);
  id[b->n] = c->token;
  s->next[s->n_next++] = (struct search_beam) { id, b->n + 1, c->parent,
    c->score };
  c->fate = FATE_KEPT;
}

/* <Decide what becomes of the candidates> */
static bool ends(const struct search *s, const struct search_candidate *c,
  enum finish *how)
{
  const struct search_settings *w = s->want;
  *how = s->grown[c->parent].n + 1 == s->limit ? FINISH_LENGTH : FINISH_NOT;
  for (size_t i = 0; i < w->n_eos; i++)
    if (w->eos[i] == c->token) *how = FINISH_STOP;
  return *how != FINISH_NOT;
}

static void decide(struct search *s)
{
  size_t width = s->want->num_beams;
  enum finish how;
  s->n_next = 0;
  for (size_t i = 0; i < s->n_list; i++) {
    struct search_candidate *c = &s->list[i];
    if (ends(s, c, &how)) {
      if (i >= width) continue;
      finish_text(s, &s->grown[c->parent], &c->token, c->score, how);
      c->fate = FATE_FINISHED;
    }
    else if (s->n_next < width) keep_candidate(s, c);
  }
}

/* <Is the search over?> */
static bool is_over(const struct search *s)
{
  const struct search_settings *w = s->want;
  if (s->n_next == 0) return true;
  if (s->n_pool < w->num_beams) return false;
  if (w->early == EARLY_TRUE) return true;
  size_t written = s->next[0].n - s->n_prompt;
  if (w->early == EARLY_NEVER && w->length_penalty > 0)
    written = s->limit - s->n_prompt;
  return !(final_score(s, s->next[0].score, written)
    > s->pool[w->num_beams - 1].score);
}

/* <End all beams where they are> */
static void cancel(struct search *s)
{
  for (size_t i = 0; i < s->n_next; i++)
    finish_text(s, &s->next[i], NULL, s->next[i].score, FINISH_CANCELLED);
}

/* <Search step by step> */
static bool search_steps(struct search *s, struct error *why)
{
  const struct search_settings *w = s->want;
  for (bool over = false; !over; ) {
    if (!grow_beams(s, why)) return false;
    decide(s);
    s->number++;
    over = is_over(s);
    if (w->see != NULL && !w->see(w->self, &(struct search_step) {
        s->number, s->grown, s->n_grown, s->list, s->n_list, s->pool,
        s->n_pool }) && !over) {
      cancel(s);
      over = true;
    }
    /* <Let the beams that were kept be those that grow> */
    if (s->n_next > 0) {
      struct search_beam *old = s->grown;
      s->grown = s->next, s->n_grown = s->n_next;
      s->next = old, s->turn ^= 1;
    }
  }
  return s->n_pool > 0 || error_say(why, "behind token %zu of" " the text all"
    " tokens are out for" " all beams, and no" " text has ended", s->grown[0].n);
}

/* <Take and return what a search keeps> */
static bool search_take(struct search *s, const struct kernels *k,
  struct error *why)
{
  struct memory *m = s->m;
  size_t width = s->want->num_beams, each = s->limit * sizeof (uint32_t);
  if (!funnel_open(&s->f, m, k, s->from->vocab, why)) return false;
  s->logits = memory_alloc(m, FOR_ACTIVATIONS, width,
    s->from->vocab * sizeof (float), why);
  s->grown = memory_alloc(m, FOR_OTHER, width, sizeof *s->grown, why);
  s->next = memory_alloc(m, FOR_OTHER, width, sizeof *s->next, why);
  s->text[0] = memory_alloc(m, FOR_TOKENS, width, each, why);
  s->text[1] = memory_alloc(m, FOR_TOKENS, width, each, why);
  s->list = memory_alloc(m, FOR_OTHER, s->most, sizeof *s->list, why);
  s->pooled = memory_alloc(m, FOR_TOKENS, width, each, why);
  s->pool = memory_alloc(m, FOR_OTHER, width, sizeof *s->pool, why);
  return s->logits != NULL && s->grown != NULL && s->next != NULL
    && s->text[0] != NULL && s->text[1] != NULL && s->list != NULL
    && s->pooled != NULL && s->pool != NULL;
}

static void search_give(struct search *s)
{
  struct memory *m = s->m;
  memory_free(m, s->pool);
  memory_free(m, s->pooled);
  memory_free(m, s->list);
  memory_free(m, s->text[1]);
  memory_free(m, s->text[0]);
  memory_free(m, s->next);
  memory_free(m, s->grown);
  memory_free(m, s->logits);
  if (s->f.m != NULL) funnel_close(&s->f);
}

/* <Begin with the prompt> */
static bool search_begin(struct search *s, const uint32_t *prompt,
  struct error *why)
{
  const struct search_source *from = s->from;
  if (s->n_prompt == 0) return error_say(why,
      "the prompt has no" " tokens; wanted: 1" " or more");
  if (from->longest > 0 && s->n_prompt >= from->longest)
    return error_say(why, "the prompt has %zu" " tokens; wanted: at" " most %zu",
      s->n_prompt, from->longest - 1);
  for (size_t i = 0; i < s->n_prompt; i++)
    if (prompt[i] >= from->vocab) return error_say(why,
        "token %zu of the" " prompt is id %" PRIu32 "; the vocabulary has" " %zu",
        i, prompt[i], from->vocab);
  return true;
}

/* <Hand the best of the pool over> */
static bool hand_over(struct search *s, struct search_result *out,
  struct error *why)
{
  size_t n = s->n_pool < s->want->num_return ? s->n_pool : s->want->num_return;
  out->steps = s->number;
  out->text = memory_alloc(s->m, FOR_TOKENS, n, sizeof *out->text, why);
  bool ok = out->text != NULL;
  if (ok) out->n = n;
  for (size_t i = 0; ok && i < n; i++) {
    struct search_text *t = &out->text[i];
    *t = s->pool[i];
    t->id = memory_alloc(s->m, FOR_TOKENS, t->n, sizeof *t->id, why);
    ok = t->id != NULL;
    if (ok) memcpy(t->id, s->pool[i].id, t->n * sizeof *t->id);
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

/* <Search, and hand the best over> */
bool search_run(const struct search_source *from, struct memory *m,
  const struct kernels *k, const uint32_t *prompt, size_t n_prompt,
  const struct search_settings *want, struct search_result *out,
  struct error *why)
{
  struct search s = { .from = from, .want = want, .m = m,
    .n_prompt = n_prompt, .limit = want->max_length };
  *out = (struct search_result) { .m = m, .n_prompt = n_prompt };
  if (!search_begin(&s, prompt, why)
      || !search_check(want, from->vocab, n_prompt, why)) return false;
  if (from->longest > 0 && s.limit > from->longest) s.limit = from->longest;
  s.most = (want->n_eos > 1 ? 1 + want->n_eos : 2) * want->num_beams;
  if (s.limit > SIZE_MAX / sizeof (uint32_t)) return error_say(why,
      "max_length is %zu;" " wanted: less", s.limit);
  bool ok = search_take(&s, k, why);
  if (ok) {
    /* <Let the prompt be the only beam> */
    memcpy(s.text[0], prompt, n_prompt * sizeof *prompt);
    s.grown[0] = (struct search_beam) { .id = s.text[0], .n = n_prompt };
    s.n_grown = 1;
    for (size_t i = 0; i < want->num_beams; i++)
      s.pool[i].id = s.pooled + i * s.limit;
    ok = search_steps(&s, why) && hand_over(&s, out, why);
  }
  search_give(&s);
  return ok;
}
