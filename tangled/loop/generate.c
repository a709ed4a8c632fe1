/* generate.c -- made from chapters/03-loop.w; change it there */

#include <math.h>
#include "loop/rows.h"
#include "safetensors/tensor_file.h"

/* <Forget, read and score> */
static size_t plan_rows(const struct generate_context *g, struct sequence *q)
{
  const struct generate_options *want = q->want;
  size_t n = q->c.text.n;
  q->count = 0;
  if (q->c.ended != FINISH_NONE) return 0;
  if (!q->reading) q->first = 0, q->before = *g->e->c;
  if (want->recall == NULL) store_crop(g->s, q->c.sequence, q->first);
  else q->first = want->recall(g->s, q->c.sequence, q->c.text.id, n - 1);
  size_t left = n - q->first;
  q->reading = want->chunk > 0 && left > want->chunk;
  if (q->reading) q->guess.n = 0;
  q->count = q->reading ? want->chunk : left + q->guess.n;
  return q->count;
}

static bool may_choose(const struct sequence *q)
{ return q->count > 0 && !q->reading && q->c.ended == FINISH_NONE; }

static size_t make_rows(const struct sequence *q, struct row *rows)
{
  size_t n = q->c.text.n;
  for (size_t i = 0, at = q->first; i < q->count; i++, at++)
    rows[i] = (struct row) { .sequence = q->c.sequence,
      .position = (uint32_t) at,
      .token = at < n ? q->c.text.id[at] : q->guess.id[at - n] };
  return q->count;
}

static bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why)
{
  if (pass_is_finite(lm, p, last, NULL)) return true;
  while (first < last && pass_is_finite(lm, p, first, NULL)) first++;
  return pass_is_finite(lm, p, first, why);
}

static size_t find_last_rows(const struct model *lm, struct sequence *const *list,
  size_t n, const struct pass *p, size_t *last)
{
  size_t k = 0, end = 0;
  for (size_t i = 0; i < n; i++) {
    struct sequence *q = list[i];
    size_t begin = end;
    end += q->count, q->first += q->count;
    if (!may_choose(q)) continue;
    size_t own = end - q->guess.n - 1;
    if (!finite_until(lm, p, begin, own, &q->why)) {
      q->c.ended = FINISH_ERROR;
      continue;
    }
    q->guess.n = 0, last[k++] = own;
    for (size_t r = own + 1; r < end && pass_is_finite(lm, p, r, NULL); r++)
      q->guess.n++, last[k++] = r;
  }
  return k;
}

static void tell_of_text(struct progress *p, const struct sequence *q)
{
  if (p == NULL) return;
  p->before = q == NULL ? 0 : q->first;
  p->all = q == NULL ? 0 : q->c.text.n + q->guess.n;
}

static bool read_and_score(const struct generate_context *g,
  struct sequence *const *list, size_t n, size_t total, float *logits,
  struct error *why)
{
  struct pass *p = NULL;
  size_t k = 0;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, total, sizeof *rows, why);
  size_t *last = rows == NULL ? NULL
    : memory_alloc(g->m, MEMORY_ACTIVATIONS, total, sizeof *last, why);
  for (size_t i = 0; last != NULL && i < n; i++)
    k += make_rows(list[i], rows + k);
  if (n == 1) tell_of_text(g->e->progress, list[0]);
  bool ok = last != NULL
    && model_forward(g->e, g->lm, g->s, rows, total, &p, why);
  tell_of_text(g->e->progress, NULL);
  if (ok) tell_of_rows(g, list, n, p);
  if (ok) k = find_last_rows(g->lm, list, n, p, last);
  ok = ok && (k == 0 || model_logits(g->e, g->lm, p, last, k, logits, why));
  pass_close(p);
  memory_free(g->m, last);
  memory_free(g->m, rows);
  return ok;
}

/* <Select a token, append it, and stop or go on> */
static bool is_one_of(uint32_t id, const uint32_t *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (list[i] == id) return true;
  return false;
}

static bool stop_or_go_on(const struct generate_context *g, struct sequence *q,
  struct step *now)
{
  const struct generate_options *want = q->want;
  struct continuation *c = &q->c;
  size_t written = c->text.n - c->n_prompt;
  now->after = *g->e->c;
  bool enough = written > want->min_tokens
    && is_one_of(now->chosen, want->eos, want->n_eos);
  if (!enough && want->stop != NULL
      && !want->stop(want->stop_ctx, c, &enough, &q->why))
    return false;
  if (enough) c->ended = FINISH_STOP;
  else if (written == want->max_new_tokens || c->text.n > g->s->n_positions)
    c->ended = FINISH_LENGTH;
  if (want->on_step != NULL && !want->on_step(want->ctx, now)
      && c->ended == FINISH_NONE)
    c->ended = FINISH_CANCELLED;
  return true;
}

static bool select_token(const struct model *lm, const struct generate_options *want,
  const float *logits, const struct continuation *c, uint32_t *chosen,
  struct error *why)
{
  size_t best = 0;
  for (size_t v = 0; v < lm->config.vocab_size; v++) {
    if (!isfinite(logits[v]))
      return error_say(why, "%s: logit %zu is not finite after the last layer; wanted: a number",
        tensor_file_path(lm->weights), v);
    if (logits[v] > logits[best]) best = v;
  }
  *chosen = (uint32_t) best;
  return want->select == NULL
    || want->select(want->select_ctx, logits, c, chosen, why);
}

static void take_token(const struct generate_context *g, struct sequence *q,
  const float *logits)
{
  struct continuation *c = &q->c;
  const struct generate_options *want = q->want;
  struct step now = { .number = c->text.n - c->n_prompt + 1,
    .length = c->text.n, .logits = logits, .before = q->before };
  if (want->max_new_tokens == 0) {
    c->ended = FINISH_LENGTH;
    return;
  }
  bool ok = select_token(g->lm, want, logits, c, &now.chosen, &q->why)
    && ids_push(g->m, &c->text, now.chosen, &q->why)
    && (want->accept == NULL
      || want->accept(want->select_ctx, now.chosen, &q->why))
    && stop_or_go_on(g, q, &now);
  if (!ok) c->ended = FINISH_ERROR;
  q->before = *g->e->c;
}

static float *take_tokens(const struct generate_context *g, struct sequence *q,
  float *logits)
{
  const struct ids *text = &q->c.text;
  size_t n = q->guess.n, right = 0, vocab = g->lm->config.vocab_size;
  take_token(g, q, logits);
  while (right < n && q->c.ended == FINISH_NONE
      && text->id[text->n - 1] == q->guess.id[right]) {
    right++;
    take_token(g, q, logits + right * vocab);
  }
  q->guess.n = 0, q->right = right;
  return logits + (n + 1) * vocab;
}

/* <Take every sequence one step further> */
bool generate_step(const struct generate_context *g, struct sequence *const *list,
  size_t n, float *logits, struct error *why)
{
  size_t rows = 0;
  for (size_t i = 0; i < n; i++)
    rows += plan_rows(g, list[i]);                /* 1. forget */
  if (rows > 0 && !read_and_score(g, list, n, rows, logits, why))
    return false;                                 /* 2. and 3. */
  for (size_t i = 0; i < n; i++)
    if (may_choose(list[i]))
      logits = take_tokens(g, list[i], logits);   /* 4., 5. and 6. */
  return true;
}

/* <Write a text from its prompt to its end> */
static bool given_up(const struct generate_context *g, struct continuation *c)
{
  bool cancelled = progress_cancelled(g->e->progress);
  if (cancelled) c->ended = FINISH_CANCELLED;
  return cancelled;
}

bool generate(const struct generate_context *g, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct continuation *out, struct error *why)
{
  struct sequence q, *one = &q;
  bool ok = sequence_open(&q, g, prompt, n, want, why);
  float *logits = !ok ? NULL : memory_alloc(g->m, MEMORY_ACTIVATIONS,
    g->lm->config.vocab_size, sizeof *logits, why);
  ok = logits != NULL;
  while (ok && q.c.ended == FINISH_NONE)
    ok = generate_step(g, &one, 1, logits, why) || given_up(g, &q.c);
  if (q.c.ended == FINISH_ERROR) ok = error_say(why, "%s", q.why.text);
  memory_free(g->m, logits);
  if (!ok) sequence_close(g->m, &q);
  *out = q.c;
  return ok;
}

/* <Read a list of rows, a chunk at a time> */
bool model_read(const struct generate_context *g, const struct row *rows, size_t n,
  size_t chunk, struct pass **last, struct error *why)
{
  struct progress none = { .all = 0 };
  struct progress *p = g->e->progress != NULL ? g->e->progress : &none;
  bool ok = true;
  *last = NULL;
  p->all = n;
  for (size_t i = 0, here; ok && i < n; i += here) {
    here = chunk > 0 && n - i > chunk ? chunk : n - i;
    p->before = i;
    pass_close(*last);
    ok = model_forward(g->e, g->lm, g->s, rows + i, here, last, why);
  }
  p->before = p->all = 0;
  return ok;
}
