/* sharing.c -- made from chapters/09-search.w; change it there */

/* A model as the source of a search, and best of n. Each beam has a sequence of the
   store, its slot, and slot[i] is the slot of beam i in the last pass. No two beams
   have the same. A parent's slot goes to its first child, and only further children
   fork: so a beam without children costs nothing, and forks never need more sequences
   than there are beams. Rows are made for what a slot lacks, which is one token for
   each beam, or the whole prompt. */
#include <inttypes.h>
#include <string.h>
#include "search/sharing.h"

/* <Assign slots to the children> */
enum { NO_SLOT = 0x7fffffff };

/* linear, twice over few beams: cheaper than a table */
static bool is_taken(const struct search_model *s, size_t n, uint32_t slot)
{
  for (size_t i = 0; i < n; i++)
    if (s->slot[i] == slot) return true;
  return false;
}

/* The order matters. Slots that no child has are emptied before anything forks,
   because a fork needs an empty sequence, and the pages that they release may be
   needed. A slot that was given to a first child has not been written to yet, so its
   siblings can fork from it. */
static bool assign_slots(struct search_model *s,
  const struct search_beam *grown, size_t n, struct error *why)
{
  memcpy(s->prev_slot, s->slot, s->n * sizeof *s->prev_slot);
  /* <Give each parent's slot to its first child> */
  for (size_t i = 0; i < n; i++) {
    size_t first = 0;
    while (grown[first].parent != grown[i].parent) first++;
    s->slot[i] = first == i ? s->prev_slot[grown[i].parent] : NO_SLOT;
  }
  for (uint32_t q = 0; q < s->max_beams; q++)
    if (!is_taken(s, n, q)) store_crop(s->g.s, q, 0);
  /* <Fork the other children into empty slots> */
  for (size_t i = 0; i < n; i++) {
    if (s->slot[i] != NO_SLOT) continue;
    uint32_t q = 0;
    while (is_taken(s, n, q)) q++;
    s->slot[i] = q;
    if (!store_fork(s->g.s, s->prev_slot[grown[i].parent], q, why)) return false;
  }
  return true;
}

/* <Assign a slot to the prompt> */

/* The first sequence may have rows of an earlier search with the same prompt. The
   last token is always read again, since its logits are wanted. */
static void assign_prompt_slots(struct search_model *s, const struct search_beam *only)
{
  for (uint32_t q = 1; q < s->max_beams; q++) store_crop(s->g.s, q, 0);
  store_match_prefix(s->g.s, 0, only->id, only->n - 1);
  s->slot[0] = 0;
}

/* <Make the rows that the beams lack> */

/* which[i] is the last row of beam i, whose logits are wanted */
static struct row *rows_lacking(struct search_model *s,
  const struct search_beam *grown, size_t n, size_t *all, struct error *why)
{
  *all = 0;
  for (size_t i = 0; i < n; i++)
    *all += grown[i].n - store_length(s->g.s, s->slot[i]);
  struct row *list = memory_alloc(s->g.m, MEMORY_ACTIVATIONS, *all, sizeof *list,
    why);
  size_t at = 0;
  for (size_t i = 0; list != NULL && i < n; i++) {
    for (size_t t = store_length(s->g.s, s->slot[i]); t < grown[i].n; t++)
      list[at++] = (struct row) { s->slot[i], (uint32_t) t,
        grown[i].id[t] };
    s->which[i] = at - 1;
  }
  return list;
}

/* <Score all beams in one pass> */

/* A prompt is read in chunks, and only the last chunk's rows are in p. A row that is
   not finite is reported before its logits are computed, with its layer. */
static bool pass_and_head(struct search_model *s, const struct row *list,
  size_t all, size_t n, float *logits, struct error *why)
{
  struct generate_context *g = &s->g;
  struct pass *p = NULL;
  bool ok = model_read(g, list, all, n == 1 ? s->chunk : 0, &p, why);
  if (ok && n == 1) s->which[0] = p->n - 1;
  for (size_t i = 0; ok && i < n; i++)
    ok = pass_is_finite(g->lm, p, s->which[i], why);
  ok = ok && model_logits(g->e, g->lm, p, s->which, n, logits, why);
  pass_close(p);
  return ok;
}

/* n is 0 before the first step, when nobody has a slot */
static bool score_beams(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  struct search_model *s = ctx;
  size_t all;
  if (s->n == 0) assign_prompt_slots(s, grown);
  else if (!assign_slots(s, grown, n, why)) return false;
  s->n = n;
  struct row *list = rows_lacking(s, grown, n, &all, why);
  bool ok = list != NULL && pass_and_head(s, list, all, n, logits, why);
  memory_free(s->g.m, list);
  return ok;
}

/* <Open and close a model as a source> */

/* A text may have one token more than the context has positions: the last needs no
   row. */
bool search_model_open(struct search_model *s, const struct generate_context *g,
  size_t num_beams, size_t chunk, struct search_source *from,
  struct error *why)
{
  *s = (struct search_model) { .g = *g, .chunk = chunk,
    .max_beams = num_beams };
  *from = (struct search_source) { g->lm->config.vocab_size,
    (size_t) g->s->n_positions + 1, s, score_beams,
    g->e->progress };
  if (num_beams > g->s->n_sequences) return error_say(why, "%zu beams in a"
      " cache of %" PRIu32 " sequences; wanted: a sequence for each",
      num_beams, g->s->n_sequences);
  s->slot = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->slot, why);
  s->prev_slot = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->prev_slot, why);
  s->which = memory_alloc(g->m, MEMORY_OTHER, num_beams, sizeof *s->which, why);
  if (s->slot != NULL && s->prev_slot != NULL && s->which != NULL) return true;
  search_model_close(s);
  return false;
}

void search_model_close(struct search_model *s)
{
  memory_free(s->g.m, s->which);
  memory_free(s->g.m, s->prev_slot);
  memory_free(s->g.m, s->slot);
  *s = (struct search_model) { .g = s->g };
}

/* <Add up what was chosen> */
struct listener { const struct engine *e; size_t vocab;
  double *scratch, sum; };

/* log-probabilities of the model itself, before any stage of the sampler: only they
   can be compared between texts */
static bool listen(void *ctx, const struct step *now)
{
  struct listener *l = ctx;
  l->e->k->log_softmax(l->e, now->logits, 1, l->vocab, l->scratch);
  l->sum += l->scratch[now->chosen];
  return true;
}

/* <Write one, and compare> */
static double per_token(double sum, const struct continuation *c)
{
  size_t written = c->text.n - c->n_prompt;
  return written == 0 ? 0 : sum / (double) written;
}

/* Each text has a stream of random numbers of its own, its sequence. The first text
   wins until there is a better one; the loser is freed at once, so two texts are in
   memory and not n. */
static bool best_of_try(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t i, size_t n, struct listener *l, struct best_of *out,
  struct error *why)
{
  struct generate_options mine = *want;
  struct continuation text;
  mine.select = sampler_choose, mine.accept = sampler_accept;
  mine.select_ctx = sampler;
  mine.on_step = listen, mine.ctx = l;
  sampler->sequence = (uint32_t) i, l->sum = 0;
  if (!generate(g, prompt, n_prompt, &mine, &text, why)) return false;
  bool better = out->winner == n || per_token(l->sum, &text)
    > per_token(out->logprob, &out->best);
  continuation_free(g->m, better ? &out->best : &text);
  if (better) *out = (struct best_of) { text, l->sum, i };
  return true;
}

/* <Write several texts, and keep the best> */

/* on failure nothing is left for the caller to free */
bool best_of_write(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t n, struct best_of *out, struct error *why)
{
  struct listener l = { .e = g->e, .vocab = g->lm->config.vocab_size };
  *out = (struct best_of) { .winner = n };
  l.scratch = memory_alloc(g->m, MEMORY_ACTIVATIONS, l.vocab, sizeof *l.scratch, why);
  bool ok = l.scratch != NULL;
  for (size_t i = 0; ok && i < n; i++)
    ok = best_of_try(g, sampler, prompt, n_prompt, want, i, n, &l, out, why);
  memory_free(g->m, l.scratch);
  if (!ok) best_of_free(g->m, out);
  return ok;
}

void best_of_free(struct memory *m, struct best_of *b)
{
  continuation_free(m, &b->best);
}
