/* drafter.c -- Guesses by a smaller model.
   made from chapters/13-speculation.w; change it there

   Its cache follows the texts by their tokens: what it has of a text is compared with
   the text before every pass. While it guesses, its guesses stand at the end of the
   text; when it returns, text and sampler are as they were. */

#include "cache/keep.h"
#include "sampling/sampling.h"
#include "speculation/drafter.h"
#include "speculation/choice.inc"

/* <Find the texts that can be helped> */

/* a text that gets guesses */
struct drafted {
  struct sequence *q; struct sampler *dice; /* null: the likeliest token */
  size_t n; uint32_t state; /* of the text and of the dice, before we guess */
  bool read; size_t row; /* in this round: whether all its rows are read, and which is the last */
};
static bool can_draft(const struct drafter *d, const struct sequence *q)
{
  return q->room > 0 && q->c.text.n + q->room <= d->s->n_positions
    && (q->want->select == NULL || q->want->select == sampler_choose);
}

static size_t find_texts(struct drafter *d, struct sequence *const *list, size_t n,
  struct drafted *all)
{
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    if (!can_draft(d, q)) continue;
    store_match_prefix(d->s, q->c.sequence, q->c.text.id, q->c.text.n - 1);
    struct sampler *dice = q->want->select == NULL ? NULL : q->want->select_ctx;
    all[k++] = (struct drafted) { .q = q, .n = q->c.text.n, .dice = dice,
      .state = dice == NULL ? 0 : sampler_save(dice) };
  }
  return k;
}

/* <Read what the smaller model has not read> */
static size_t rows_to_draft(const struct drafter *d, const struct drafted *t)
{
  size_t left = t->q->c.text.n - store_length(d->s, t->q->c.sequence);
  return left < d->pass_rows ? left : d->pass_rows;
}

static size_t list_rows(const struct drafter *d, struct drafted *const *open, size_t n,
  struct row *rows)
{
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    const struct continuation *c = &open[i]->q->c;
    size_t at = store_length(d->s, c->sequence), end = at + rows_to_draft(d, open[i]);
    for (; at < end; at++)
      rows[k++] = (struct row) { c->sequence, (uint32_t) at, c->text.id[at] };
    open[i]->read = end == c->text.n, open[i]->row = k - 1;
  }
  return k;
}

static struct pass *read_texts(struct drafter *d, struct drafted *const *open, size_t n)
{
  struct pass *p = NULL;
  struct error why;
  size_t total = 0;
  for (size_t i = 0; i < n; i++) total += rows_to_draft(d, open[i]);
  struct row *rows = memory_alloc(d->m, MEMORY_ACTIVATIONS, total, sizeof *rows, &why);
  if (rows != NULL && !model_forward(&d->e, d->lm, d->s, rows,
      list_rows(d, open, n, rows), &p, &why)) p = NULL;
  memory_free(d->m, rows);
  return p;
}

/* <Guess one token for each> */

/* guesses a token of a text; true if another may follow */
static bool guess_one(const struct drafter *d, struct memory *m, struct drafted *t,
  const float *logits)
{
  struct error why;
  struct sequence *q = t->q;
  uint32_t id = likeliest_of(logits, d->lm->config.vocab_size);
  bool ok = (t->dice == NULL || sampler_choose(t->dice, logits, &q->c, &id, &why))
    && (t->dice == NULL || sampler_accept(t->dice, id, &why))
    && ids_push(m, &q->guess, id, &why) && ids_push(m, &q->c.text, id, &why);
  return ok && q->guess.n < q->room && !is_end(q->want, id);
}

static size_t draft_round(struct drafter *d, struct memory *m, struct drafted **open, size_t n,
  size_t *which, float *logits)
{
  struct error why;
  size_t left = 0, scored = 0, vocab = d->lm->config.vocab_size;
  struct pass *p = read_texts(d, open, n);
  if (p == NULL) return 0;
  for (size_t i = 0; i < n; i++)
    if (open[i]->read) open[scored] = open[i], which[scored++] = open[i]->row;
  bool ok = scored > 0 && model_logits(&d->e, d->lm, p, which, scored, logits, &why);
  for (size_t i = 0; ok && i < scored; i++)
    if (guess_one(d, m, open[i], logits + i * vocab)) open[left++] = open[i];
  pass_close(p);
  return left;
}

/* <Guess by rounds> */
static void restore_text(struct drafted *t)
{
  t->q->c.text.n = t->n;
  if (t->dice != NULL) sampler_restore(t->dice, t->state);
}

void guess_by_draft(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n)
{
  struct drafter *d = ctx;
  struct error why;
  struct arena a = { .m = d->m };
  struct drafted *all = arena_alloc(&a, MEMORY_OTHER, n, sizeof *all, &why);
  struct drafted **open = arena_alloc(&a, MEMORY_OTHER, n, sizeof (struct drafted *), &why);
  size_t *which = arena_alloc(&a, MEMORY_OTHER, n, sizeof *which, &why);
  float *logits = arena_alloc(&a, MEMORY_ACTIVATIONS, n, d->lm->config.vocab_size * sizeof *logits, &why);
  size_t k = logits == NULL ? 0 : find_texts(d, list, n, all), left = k;
  for (size_t i = 0; i < k; i++) open[i] = &all[i];
  while (left > 0) left = draft_round(d, g->m, open, left, which, logits);
  for (size_t i = 0; i < k; i++) restore_text(&all[i]);
  arena_free(&a);
}
