/* writing.c -- made from workshop/15-library.w; change it there */

#include <string.h>
#include "library/library.h"
#include "cache/keep.h"

/* <The inside of a run> */

/* a text that is being written */
struct written {
  uint32_t place; /* in the cache, from began on */
  bool began, owns; /* it has a place; the place is returned at the end */
  struct ids text; /* the prompt, and what has been written */
  size_t n_prompt, most; /* at most so many new tokens */
  size_t last; /* number of its last row in the pass, or NO_ROW */
  struct incipit_sampler *sampler;
  struct incipit_stream *stream;
};

/* all texts of one call */
struct run {
  struct incipit_context *c;
  struct incipit_generate_options o;
  const struct incipit_prompt *prompt;
  const uint32_t *end;
  size_t n, n_end, n_done, read, all; /* texts; rows of prompts, so far and in all */
  struct incipit_sampler *sampler; /* that is copied */
  struct written *text; /* [n] */
  struct row *rows; size_t n_rows, cap;
  size_t *which; /* [n]; rows of the pass that want logits */
  float *logits; /* [n][vocab_size] */
  struct incipit_result **result; /* [n], null while a text is being written */
};

/* <The inside of a result> */

/* what the caller gets is shown */
struct result { struct memory m; struct arena blocks; struct incipit_result shown; };

/* <Make a result, and return it> */
static struct incipit_result *make_result(const struct written *t,
  enum incipit_finish finish, struct incipit_error *why)
{
  struct result *r = library_new(sizeof *r, why);
  if (r == NULL) return NULL;
  struct attempt a = attempt_begin(&r->m);
  const struct text_stream *f = &t->stream->flow;
  struct arena *b = &r->blocks;
  size_t n = t->text.n - t->n_prompt, stop_n = f->found == NULL ? 0 : f->found->n + 1;
  b->m = &r->m;
  uint32_t *id = arena_alloc(b, MEMORY_OTHER, n, sizeof *id, &a.why);
  char *text = arena_alloc(b, MEMORY_OTHER, f->text.n + 1, 1, &a.why);
  char *stop = arena_alloc(b, MEMORY_OTHER, stop_n, 1, &a.why);
  r->shown = (struct incipit_result) { text, f->text.n, id, n, (int) finish,
    f->found == NULL ? NULL : stop };
  if (!attempt_end(&a, !b->refused, INCIPIT_MEMORY, why)) {
    incipit_result_close(&r->shown);
    return NULL;
  }
  if (n > 0) memcpy(id, t->text.id + t->n_prompt, n * sizeof *id);
  if (f->text.n > 0) memcpy(text, f->text.byte, f->text.n);
  if (stop_n > 0) memcpy(stop, f->found->byte, stop_n);
  return &r->shown;
}

void incipit_result_close(struct incipit_result *shown)
{
  if (shown == NULL) return;
  struct result *r = (struct result *) ((char *) shown
    - offsetof(struct result, shown));
  arena_free(&r->blocks);
  library_delete(r);
}

/* <End a text> */
static void leave_text(struct run *g, struct written *t)
{
  if (t->owns) library_leave_place(g->c, t->place);
  t->owns = false;
  incipit_sampler_close(t->sampler);
  incipit_stream_close(t->stream);
  ids_free(&g->c->m, &t->text);
  t->sampler = NULL;
  t->stream = NULL;
}

static bool end_text(struct run *g, size_t i, enum incipit_finish finish,
  struct incipit_error *why)
{
  g->result[i] = make_result(&g->text[i], finish, why);
  leave_text(g, &g->text[i]);
  g->n_done++;
  return g->result[i] != NULL;
}

/* <Begin the next text of a run> */
static bool find_place(struct run *g, struct written *t, size_t i,
  struct incipit_error *why)
{
  if (g->o.sequence == NULL) {
    t->began = t->owns = library_take_place(g->c, &t->place);
    return true;
  }
  t->began = library_sequence(g->c, g->o.sequence[i], "incipit_generate", &t->place,
    why);
  return t->began;
}

static bool open_parts(struct run *g, struct written *t, size_t i,
  struct incipit_error *why)
{
  const struct incipit_prompt *p = &g->prompt[i];
  t->sampler = incipit_sampler_copy(g->sampler, why);
  if (t->sampler == NULL) return false;
  t->stream = incipit_stream_open(g->c->model, g->o.stop, g->o.n_stop,
    g->o.include_stop, why);
  if (t->stream == NULL) return false;
  t->stream->flow.min_tokens = g->o.min_new_tokens;
  t->sampler->d.sequence += (uint32_t) i;
  return incipit_stream_reset(t->stream, p->id, p->n, why)
    && library_begin(t->sampler, p->id, p->n, t->most, g->end, g->n_end, why);
}

static bool begin_text(struct run *g, size_t i, struct incipit_error *why)
{
  struct written *t = &g->text[i];
  const struct incipit_prompt *p = &g->prompt[i];
  if (!find_place(g, t, i, why)) return false;
  if (!t->began) return true;
  size_t context = g->c->model->lm->config.n_positions;
  t->n_prompt = p->n, t->most = context - p->n + 1;
  if (g->o.max_new_tokens > 0 && g->o.max_new_tokens < t->most)
    t->most = g->o.max_new_tokens;
  struct attempt a = attempt_begin(&g->c->m);
  bool ok = true;
  for (size_t k = 0; ok && k < p->n; k++)
    ok = ids_push(&g->c->m, &t->text, p->id[k], &a.why);
  g->all -= store_match_prefix(g->c->s, t->place, p->id, p->n - 1);
  return attempt_end(&a, ok, INCIPIT_MEMORY, why) && open_parts(g, t, i, why);
}

/* <Give rows to the pass> */
enum { CHUNK = 256 };
#define NO_ROW SIZE_MAX
static bool is_live(const struct run *g, size_t i)
{ return g->text[i].began && g->result[i] == NULL; }
static bool add_rows(struct run *g, struct written *t, struct error *why)
{
  size_t first = store_length(g->c->s, t->place), n = t->text.n - first;
  size_t most = g->o.chunk > 0 ? g->o.chunk : CHUNK;
  size_t here = n > most ? most : n;
  struct row *rows = memory_reserve(&g->c->m, MEMORY_OTHER, g->rows, &g->cap,
    g->n_rows + here, 64, sizeof *rows, why);
  if (rows == NULL) return false;
  g->rows = rows;
  for (size_t k = 0; k < here; k++)
    rows[g->n_rows++] = (struct row) { t->place, (uint32_t) (first + k),
      t->text.id[first + k] };
  t->last = here == n ? g->n_rows - 1 : NO_ROW;
  if (t->text.n == t->n_prompt) g->read += here;
  return true;
}

static bool compute_round(struct run *g, struct incipit_error *why)
{
  struct incipit_context *c = g->c;
  struct attempt a = attempt_begin(&c->m);
  bool ok = true;
  g->n_rows = 0;
  for (size_t i = 0; ok && i < g->n; i++)
    if (is_live(g, i)) ok = add_rows(g, &g->text[i], &a.why);
  pass_close(c->last);
  c->last = NULL;
  ok = ok && model_forward(&c->e, c->model->lm, c->s, g->rows, g->n_rows, &c->last,
    &a.why);
  return attempt_end(&a, ok, INCIPIT_FULL, why);
}

/* <Score what may follow> */
static bool score_round(struct run *g, struct incipit_error *why)
{
  struct incipit_context *c = g->c;
  struct attempt a = attempt_begin(&c->m);
  size_t n = 0;
  bool ok = true;
  for (size_t i = 0; ok && i < g->n; i++) {
    const struct written *t = &g->text[i];
    if (!is_live(g, i) || t->last == NO_ROW) continue;
    g->which[n++] = t->last;
    ok = pass_is_finite(c->model->lm, c->last, t->last, &a.why);
  }
  ok = ok && model_logits(&c->e, c->model->lm, c->last, g->which, n, g->logits,
    &a.why);
  return attempt_end(&a, ok, INCIPIT_NO_CHOICE, why);
}

/* <Take one token of a text> */
static bool is_end(const struct run *g, const struct written *t, uint32_t id)
{
  bool found = false;
  if (t->text.n - t->n_prompt <= g->o.min_new_tokens) return false;
  for (size_t i = 0; i < g->n_end; i++) found = found || g->end[i] == id;
  return found;
}

static bool ends_here(struct run *g, const struct written *t, uint32_t id,
  enum incipit_finish *finish, bool *ends, struct error *why)
{
  *ends = is_end(g, t, id);
  *finish = INCIPIT_FINISH_END;
  if (*ends) return true;
  *ends = t->stream->flow.found != NULL;
  *finish = INCIPIT_FINISH_STOP;
  if (*ends) return true;
  *finish = INCIPIT_FINISH_MATCH;
  if (!constraint_cursor_should_stop(&t->sampler->cursor, &t->sampler->text, ends, why))
    return false;
  if (*ends) return true;
  *finish = INCIPIT_FINISH_LENGTH;
  *ends = t->text.n - t->n_prompt == t->most;
  return true;
}

static bool choose_token(struct run *g, struct written *t, const float *logits,
  uint32_t *id, struct incipit_piece *piece, struct incipit_error *why)
{
  struct attempt a = attempt_begin(&g->c->m);
  *piece = (struct incipit_piece) { "", 0, NULL };
  return incipit_sampler_apply(t->sampler, logits, id, why)
    && incipit_sampler_accept(t->sampler, *id, why)
    && attempt_end(&a, ids_push(&g->c->m, &t->text, *id, &a.why), INCIPIT_MEMORY, why)
    && (is_end(g, t, *id) || incipit_stream_push(t->stream, *id, piece, why));
}

static bool take_token(struct run *g, size_t i, const float *logits,
  struct incipit_error *why)
{
  struct written *t = &g->text[i];
  struct incipit_piece piece;
  enum incipit_finish finish;
  uint32_t id;
  bool ends;
  if (!choose_token(g, t, logits, &id, &piece, why)) return false;
  struct attempt a = attempt_with(t->sampler);
  if (!attempt_end(&a, ends_here(g, t, id, &finish, &ends, &a.why),
      INCIPIT_NO_CHOICE, why)) return false;
  if (ends) {
    t->stream->shown -= piece.n;
    incipit_stream_end(t->stream, &piece, NULL);
  }
  struct incipit_token now = { i, t->text.n - t->n_prompt, id, piece.text, piece.n };
  bool more = g->o.on_token == NULL || g->o.on_token(g->o.ctx, &now);
  if (!more && !ends) {
    text_stream_end(&t->stream->flow);
    return end_text(g, i, INCIPIT_FINISH_CANCELLED, why);
  }
  return !ends || end_text(g, i, finish, why);
}

/* <Check a request> */
static bool prompts_agree(const struct run *g, const char *call,
  struct incipit_error *why)
{
  size_t context = g->c->model->lm->config.n_positions;
  for (size_t i = 0; i < g->n; i++) {
    const struct incipit_prompt *p = &g->prompt[i];
    if (p->n == 0) return library_fail(why, INCIPIT_MISUSE, "%s: prompt %zu has no"
      " tokens; wanted: 1 or more", call, i);
    if (!library_ids(g->c->model, p->id, p->n, call, why)) return false;
    if (p->n > context) return library_fail(why, INCIPIT_FULL, "%s: prompt %zu has"
      " %zu tokens; the context holds %zu", call, i, p->n, context);
  }
  return true;
}

static bool sequences_agree(const struct run *g, const char *call,
  struct incipit_error *why)
{
  const uint32_t *of = g->o.sequence;
  uint32_t place;
  for (size_t i = 0; of != NULL && i < g->n; i++) {
    if (!library_sequence(g->c, of[i], call, &place, why)) return false;
    for (size_t k = 0; k < i; k++)
      if (of[k] == of[i]) return library_fail(why, INCIPIT_MISUSE, "%s: prompts %zu"
        " and %zu have the same sequence; wanted: one for each", call, k, i);
  }
  return true;
}

static bool request_agrees(const struct run *g, const char *call,
  struct incipit_error *why)
{
  const struct incipit_model *m = g->c->model;
  if (!prompts_agree(g, call, why) || !sequences_agree(g, call, why)) return false;
  if (g->o.n_stop > 0 && !library_spells(m, call, why)) return false;
  return g->o.sampler == NULL || g->o.sampler->model == m
    || library_fail(why, INCIPIT_MISUSE, "%s: the sampler was opened with another"
      " model; wanted: the context's", call);
}

/* <Write all texts, round after round> */
static bool cancel_all(struct run *g, struct incipit_error *why)
{
  bool ok = true;
  for (size_t i = 0; ok && i < g->n; i++) {
    struct written *t = &g->text[i];
    if (g->result[i] != NULL) continue;
    if (t->stream == NULL)
      t->stream = incipit_stream_open(g->c->model, NULL, 0, false, why);
    if (t->stream != NULL) text_stream_end(&t->stream->flow);
    ok = t->stream != NULL && end_text(g, i, INCIPIT_FINISH_CANCELLED, why);
  }
  return ok;
}

static bool begin_waiting(struct run *g, struct incipit_error *why)
{
  size_t live = 0;
  for (size_t i = 0; i < g->n; i++) {
    if (!g->text[i].began && !begin_text(g, i, why)) return false;
    if (is_live(g, i)) live++;
  }
  return live > 0 || library_fail(why, INCIPIT_FULL, "incipit_generate: all %u"
    " sequences of the context are open; wanted: one that is closed",
    (unsigned) g->c->n_places);
}

static bool run_round(struct run *g, struct incipit_error *why)
{
  size_t before = g->read, n = 0, vocab = g->c->model->lm->config.vocab_size;
  if (!begin_waiting(g, why) || !compute_round(g, why)) return false;
  if (g->read > before && g->o.on_progress != NULL
      && !g->o.on_progress(g->o.ctx, g->read, g->all)) return cancel_all(g, why);
  if (!score_round(g, why)) return false;
  for (size_t i = 0; i < g->n; i++)
    if (is_live(g, i) && g->text[i].last != NO_ROW
        && !take_token(g, i, g->logits + n++ * vocab, why)) return false;
  return true;
}

static bool open_run(struct run *g, struct incipit_error *why)
{
  struct memory *m = &g->c->m;
  struct attempt a = attempt_begin(m);
  size_t places = g->n < g->c->n_places ? g->n : g->c->n_places;
  size_t vocab = g->c->model->lm->config.vocab_size;
  g->text = memory_alloc(m, MEMORY_OTHER, g->n, sizeof *g->text, &a.why);
  g->which = memory_alloc(m, MEMORY_OTHER, places, sizeof *g->which, &a.why);
  g->logits = memory_alloc(m, MEMORY_ACTIVATIONS, places, vocab * sizeof *g->logits,
    &a.why);
  bool ok = g->text != NULL && g->which != NULL && g->logits != NULL;
  if (!attempt_end(&a, ok, INCIPIT_MEMORY, why)) return false;
  g->sampler = g->o.sampler != NULL ? incipit_sampler_copy(g->o.sampler, why)
    : incipit_sampler_open(g->c->model, NULL, why);
  return g->sampler != NULL;
}

static void close_run(struct run *g, bool ok)
{
  struct memory *m = &g->c->m;
  for (size_t i = 0; i < g->n; i++) {
    if (g->text != NULL) leave_text(g, &g->text[i]);
    if (ok) continue;
    incipit_result_close(g->result[i]);
    g->result[i] = NULL;
  }
  incipit_sampler_close(g->sampler);
  memory_free(m, g->text);
  memory_free(m, g->which);
  memory_free(m, g->logits);
  memory_free(m, g->rows);
  g->c->busy = false;
}

bool library_generate(const struct request *q, struct incipit_result **result,
  struct incipit_error *why)
{
  struct run g = { .c = q->c, .prompt = q->prompt, .n = q->n, .end = q->end,
    .result = result };
  if (!library_idle(q->c, q->call, why)
      || !library_given(q->prompt, q->call, "the list of prompts", why)
      || !library_given(result, q->call, "the room for results", why)) return false;
  for (size_t i = 0; i < g.n; i++) result[i] = NULL;
  if (!library_options(&g.o, sizeof g.o, q->o, q->call, why)
      || !request_agrees(&g, q->call, why)) return false;
  g.n_end = g.o.ignore_end ? 0 : q->n_end;
  for (size_t i = 0; i < g.n; i++) g.all += g.prompt[i].n;
  g.c->busy = true;
  bool ok = open_run(&g, why);
  while (ok && g.n_done < g.n) ok = run_round(&g, why);
  close_run(&g, ok);
  return ok;
}

/* <Write one text, or many> */
static struct request request_of(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, const char *call)
{
  struct request q = { .c = c, .prompt = prompt, .n = n, .o = o, .call = call };
  if (c != NULL) q.end = c->model->lm->config.eos;
  if (c != NULL) q.n_end = c->model->lm->config.n_eos;
  return q;
}

bool incipit_generate_many(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, struct incipit_result **result,
  struct incipit_error *why)
{
  struct request q = request_of(c, prompt, n, o, __func__);
  return library_generate(&q, result, why);
}

struct incipit_result *incipit_generate(struct incipit_context *c, const uint32_t *id,
  size_t n, const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct incipit_prompt prompt = { id, n };
  struct incipit_result *result = NULL;
  struct request q = request_of(c, &prompt, 1, o, __func__);
  library_generate(&q, &result, why);
  return result;
}
