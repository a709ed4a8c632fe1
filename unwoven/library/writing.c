/* writing.c -- whole texts, one or many. A run is all texts of one call: each begins when there
   is a place for it, and in every step all texts that have begun take part in one pass. A
   text's ids depend on nothing but its prompt, its options and its number, so many together are
   what they would be one by one. While result[i] is null, text i has not ended. On failure
   nothing is left: results are freed and places given back, but a sequence that the caller gave
   keeps what was computed. */

#include <string.h>
#include "library/library.h"
#include "cache/keep.h"

/* a text that is being written */
struct text_run {
  struct run *g; size_t number; /* among the prompts, from 0 */
  uint32_t place; /* in the cache, from began on */
  bool began, owns; /* it has a place; the place is returned at the end */
  struct sequence q; /* of chapter 3: the text so far, and how it ended */
  struct generate_options want;
  struct text_parts parts;
};

/* all texts of one call */
struct run {
  struct incipit_context *c;
  const char *call; /* for sentences */
  struct incipit_generate_options o;
  const struct incipit_prompt *prompt;
  const uint32_t *end;
  size_t n, n_end, n_done; /* texts, end tokens, and texts that have ended */
  size_t read, here, all; /* rows of prompts: so far, in this pass, and in all */
  struct progress told; /* by the passes, if the caller wants to know */
  struct incipit_sampler *sampler; /* that is copied */
  struct text_run *text; /* [n] */
  struct sequence **live; size_t n_live; /* those that a step is for */
  float *logits; /* [places][vocab_size] */
  struct incipit_result **result; /* [n], null while a text is being written */
};

/* A result has a struct memory of its own, so that it outlives the context. What the caller
   gets is shown; the three blocks that it points to are freed together. */
struct kept_result { struct memory m; struct arena blocks;
  struct incipit_result shown; };

/* Everything is copied: a result outlives the context. The three blocks are allocated one after
   the other without a test in between; the arena remembers whether one of them was refused.
   Closing goes from the part that is shown to the whole around it. */
static struct incipit_result *make_result(const struct ids *text, size_t n_prompt,
  const struct text_stream *f, int finish, struct incipit_error *why)
{
  struct kept_result *r = library_new(sizeof *r, why);
  if (r == NULL) return NULL;
  struct attempt a = attempt_begin(&r->m);
  struct arena *b = &r->blocks;
  size_t n = text->n - n_prompt, stop_n = f->found == NULL ? 0 : f->found->n + 1;
  b->m = &r->m;
  uint32_t *id = arena_alloc(b, MEMORY_OTHER, n, sizeof *id, &a.why);
  char *bytes = arena_alloc(b, MEMORY_OTHER, f->text.n + 1, 1, &a.why);
  char *stop = arena_alloc(b, MEMORY_OTHER, stop_n, 1, &a.why);
  r->shown = (struct incipit_result) { bytes, f->text.n, id, n, finish,
    f->found == NULL ? NULL : stop };
  if (!attempt_end(&a, !b->refused, INCIPIT_MEMORY, why)) {
    incipit_result_close(&r->shown);
    return NULL;
  }
  if (n > 0) memcpy(id, text->id + n_prompt, n * sizeof *id);
  if (f->text.n > 0) memcpy(bytes, f->text.byte, f->text.n);
  if (stop_n > 0) memcpy(stop, f->found->byte, stop_n);
  return &r->shown;
}

/* The whole structure is found by the offset of the field that the caller has. */
void incipit_result_close(struct incipit_result *shown)
{
  if (shown == NULL) return;
  struct kept_result *r = (struct kept_result *) ((char *) shown
    - offsetof(struct kept_result, shown));
  arena_free(&r->blocks);
  library_delete(r);
}

/* The place is free for the next text. Called twice for a text that ended well: what is gone is
   null by then. */
static void leave_text(struct run *g, struct text_run *t)
{
  if (t->owns) library_return_place(g->c, t->place);
  t->owns = false;
  sequence_close(&g->c->m, &t->q);
  library_parts_close(&t->parts);
}

void library_parts_close(struct text_parts *t)
{
  incipit_sampler_close(t->sampler);
  incipit_stream_close(t->stream);
  t->sampler = NULL;
  t->stream = NULL;
}

/* A text ends by an end token, by one of two criteria, or by its length. One without a reason
   was stopped by the caller. */
static enum incipit_finish finish_of(const struct text_parts *t, enum finish_reason ended)
{
  const char *reason = criteria_reason(&t->ends, ended);
  if (ended == FINISH_LENGTH) return INCIPIT_FINISH_LENGTH;
  if (ended == FINISH_ERROR) return INCIPIT_FINISH_FAILED;
  if (reason == NULL) return INCIPIT_FINISH_CANCELLED;
  if (strcmp(reason, "string") == 0) return INCIPIT_FINISH_STOP;
  return strcmp(reason, "match") == 0 ? INCIPIT_FINISH_MATCH : INCIPIT_FINISH_END;
}

/* The stream is ended once more, because a text that a callback has cut short may still have
   bytes in it that were held. */
struct incipit_result *library_result(struct text_parts *t,
  const struct continuation *text, struct incipit_error *why)
{
  text_stream_end(&t->stream->flow);
  return make_result(&text->text, text->n_prompt, &t->stream->flow,
    (int) finish_of(t, text->ended), why);
}

static bool end_text(struct run *g, size_t i, struct incipit_error *why)
{
  struct text_run *t = &g->text[i];
  g->result[i] = library_result(&t->parts, &t->q.c, why);
  leave_text(g, t);
  g->n_done++;
  return g->result[i] != NULL;
}

/* Memory may have been refused in any of four books; each of them is asked. */
bool library_text_failed(const struct incipit_context *c, uint64_t refused,
  const struct text_parts *t, const struct error *said, struct incipit_error *why)
{
  const struct incipit_constraint *k = t->sampler->constraint;
  bool memory = c->m.all.refused > refused
    || t->sampler->m.all.refused + t->stream->m.all.refused > 0
    || (k != NULL && k->m.all.refused > 0);
  return library_fail(why, memory ? INCIPIT_MEMORY : INCIPIT_NO_CHOICE, "%s", said->text);
}

/* The loop calls its watcher after every token, when it is already known whether the text ends
   with it. So the last call of on_token can bring what the stream still held, and the pieces
   together are the text of the result. If the callback itself ends the text, there is no later
   call, and what was held is in the result only. */
bool library_tell(struct text_parts *t, enum finish_reason ended, size_t i,
  const struct step *now, const struct incipit_generate_options *o)
{
  struct incipit_piece piece;
  if (ended != FINISH_NONE) text_stream_end(&t->stream->flow);
  library_show(t->stream, &piece);
  struct incipit_token token = { i, now->number, now->chosen, piece.text, piece.n };
  return o->on_token == NULL || o->on_token(o->ctx, &token);
}

static bool tell_token(void *ctx, const struct step *now)
{
  struct text_run *t = ctx;
  return library_tell(&t->parts, t->q.c.ended, t->number, now, &t->g->o);
}

/* If the caller has given a sequence, its rows are kept as far as they agree with the prompt,
   except for the prompt's last one, which must be computed because its logits are wanted. */
static bool find_place(struct run *g, struct text_run *t, struct incipit_error *why)
{
  if (g->o.sequence == NULL) {
    t->began = t->owns = library_take_place(g->c, &t->place);
    return true;
  }
  t->began = library_sequence(g->c, g->o.sequence[t->number], g->call,
    &t->place, why);
  return t->began;
}

static void fill_options(struct text_parts *t, const struct incipit_generate_options *o,
  size_t most, const uint32_t *end, size_t n_end, struct generate_options *want)
{
  t->list[0] = (struct criterion) { "string", text_stream_should_stop,
    &t->stream->flow };
  t->list[1] = (struct criterion) { "match", constraint_cursor_should_stop,
    &t->sampler->cursor };
  t->ends = (struct criteria) { .list = t->list, .n = 2 };
  *want = (struct generate_options) { .max_new_tokens = most,
    .eos = end, .n_eos = n_end, .min_tokens = o->min_new_tokens,
    .select = sampler_choose, .accept = sampler_accept,
    .select_ctx = &t->sampler->d,
    .stop = criteria_should_stop, .stop_ctx = &t->ends };
}

/* Each text has a sampler and a stream of its own. Its index is added to the sampler's
   sequence, so that texts after the same prompt get different noise. */
bool library_parts(struct text_parts *t, const struct incipit_context *c,
  const struct incipit_sampler *from, size_t i, const struct incipit_prompt *prompt,
  const struct incipit_generate_options *o, const uint32_t *end, size_t n_end,
  struct generate_options *want, struct incipit_error *why)
{
  size_t most = c->model->lm->config.n_positions - prompt->n + 1;
  if (o->max_new_tokens > 0 && o->max_new_tokens < most) most = o->max_new_tokens;
  t->sampler = incipit_sampler_copy(from, why);
  if (t->sampler == NULL) return false;
  t->stream = incipit_stream_open(c->model, o->stop, o->n_stop, o->include_stop, why);
  if (t->stream == NULL) return false;
  t->stream->flow.min_tokens = o->min_new_tokens;
  t->sampler->d.sequence += (uint32_t) i;
  fill_options(t, o, most, end, n_end, want);
  return incipit_stream_reset(t->stream, prompt->id, prompt->n, why)
    && library_begin(t->sampler, prompt->id, prompt->n, most, end, n_end, why);
}

/* If there is no place yet, the text is left for a later step. The rows that a given sequence
   has already need not be read, so they are taken off the number that on_progress is told. */
static bool begin_text(struct run *g, size_t i, struct incipit_error *why)
{
  struct text_run *t = &g->text[i];
  const struct incipit_prompt *p = &g->prompt[i];
  t->g = g, t->number = i;
  if (!find_place(g, t, why)) return false;
  if (!t->began) return true;
  if (!library_parts(&t->parts, g->c, g->sampler, i, p, &g->o, g->end, g->n_end,
      &t->want, why)) return false;
  t->want.on_step = tell_token, t->want.ctx = t;
  t->want.sequence = t->place, t->want.recall = store_match_prefix;
  t->want.chunk = g->o.chunk > 0 ? g->o.chunk : 256;
  struct generate_context with = library_loop(g->c);
  struct attempt a = attempt_begin(&g->c->m);
  bool ok = sequence_open(&t->q, &with, p->id, p->n, &t->want, &a.why);
  if (ok) g->all -= store_match_prefix(g->c->s, t->place, p->id, p->n - 1);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}

/* All faults of a request are found before the first row is computed, so that a program does
   not wait minutes for an error. */
static bool prompts_agree(const struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n, const char *call,
  struct incipit_error *why)
{
  size_t context = c->model->lm->config.n_positions;
  for (size_t i = 0; i < n; i++) {
    const struct incipit_prompt *p = &prompt[i];
    if (p->n == 0) return library_fail(why, INCIPIT_MISUSE, "%s: prompt %zu has no"
      " tokens; wanted: 1 or more", call, i);
    if (!library_ids(c->model, p->id, p->n, call, why)) return false;
    if (p->n > context) return library_fail(why, INCIPIT_FULL, "%s: prompt %zu has"
      " %zu tokens; the context holds %zu", call, i, p->n, context);
  }
  return true;
}

/* Two texts in one sequence would write over each other's rows, so each prompt must have a
   sequence of its own. */
static bool sequences_agree(const struct incipit_context *c, const uint32_t *of, size_t n,
  const char *call, struct incipit_error *why)
{
  uint32_t place;
  for (size_t i = 0; of != NULL && i < n; i++) {
    if (!library_sequence(c, of[i], call, &place, why)) return false;
    for (size_t k = 0; k < i; k++)
      if (of[k] == of[i]) return library_fail(why, INCIPIT_MISUSE, "%s: prompts %zu"
        " and %zu have the same sequence; wanted: one for each", call, k, i);
  }
  return true;
}

/* A sampler of another model would expect logits of another length. */
bool library_agree(const struct incipit_context *c, const struct incipit_prompt *prompt,
  size_t n, const struct incipit_generate_options *o, const char *call,
  struct incipit_error *why)
{
  const struct incipit_model *m = c->model;
  if (!prompts_agree(c, prompt, n, call, why)
      || !sequences_agree(c, o->sequence, n, call, why)) return false;
  if (o->n_stop > 0 && !library_spells(m, call, why)) return false;
  if (!library_strings(o->stop, o->n_stop, call, "stop", why)) return false;
  return o->sampler == NULL || o->sampler->model == m
    || library_fail(why, INCIPIT_MISUSE, "%s: the sampler was opened with another"
      " model; wanted: the context's", call);
}

/* A pass may take seconds, so the caller is asked during the pass whether to go on: between the
   layers, within attention every 64 rows, and within a large product whenever a block of rows
   is done. While a text has no token of its own yet, all its rows in the pass are rows of its
   prompt. What the pass reports may include rows of other texts, so we report at most the
   number of these rows. */
static bool tell_progress(void *ctx, size_t done, size_t all)
{
  struct run *g = ctx;
  size_t rows = done - g->told.before;
  (void) all; /* of the pass */
  g->here = 0;
  for (size_t i = 0; i < g->n_live; i++) {
    const struct sequence *q = g->live[i];
    if (q->c.text.n == q->c.n_prompt) g->here += q->count;
  }
  if (rows > g->here) rows = g->here;
  return g->here == 0 || g->o.on_progress(g->o.ctx, g->read + rows, g->all);
}

/* A text that finds no place waits, unless none at all is being written: then nobody
   will ever return one. */
static bool begin_waiting(struct run *g, struct incipit_error *why)
{
  g->n_live = 0;
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (!t->began && !begin_text(g, i, why)) return false;
    if (t->began && g->result[i] == NULL) g->live[g->n_live++] = &t->q;
  }
  return g->n_live > 0 || library_fail(why, INCIPIT_FULL, "%s: all %u"
    " sequences of the context are open; wanted: one that is closed", g->call,
    (unsigned) g->c->n_places);
}

/* If a step fails for one text, that text has a sentence of its own, and the others could go
   on. But a call that fails and still returns some texts would be hard to use, so the whole
   call fails. */
static bool collect(struct run *g, const struct attempt *step,
  struct incipit_error *why)
{
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (!t->began || g->result[i] != NULL || t->q.c.ended == FINISH_NONE) continue;
    if (t->q.c.ended == FINISH_ERROR)
      return library_text_failed(g->c, step->refused, &t->parts, &t->q.why, why);
    if (!end_text(g, i, why)) return false;
  }
  return true;
}

/* If on_progress returns false, all texts end as they are. Those that had not begun yet get an
   empty stream, from which an empty result is made. */
static bool cancel_all(struct run *g, struct incipit_error *why)
{
  for (size_t i = 0; i < g->n; i++) {
    struct text_run *t = &g->text[i];
    if (g->result[i] != NULL) continue;
    if (t->q.c.ended == FINISH_NONE) t->q.c.ended = FINISH_CANCELLED;
    if (t->parts.stream == NULL)
      t->parts.stream = incipit_stream_open(g->c->model, NULL, 0, false, why);
    if (t->parts.stream == NULL || !end_text(g, i, why)) return false;
  }
  return true;
}

/* A pass that the caller has cancelled returns false like one that failed, and has stored
   nothing. progress_cancelled tells the two apart and is asked before success: after a
   cancelled pass the call itself succeeds. The callback after a pass is called only if the pass
   read rows of a prompt. */
static bool run_step(struct run *g, struct incipit_error *why)
{
  if (!begin_waiting(g, why)) return false;
  struct generate_context with = library_loop(g->c);
  struct attempt a = attempt_begin(&g->c->m);
  g->here = 0;
  bool ok = generate_step(&with, g->live, g->n_live, g->logits, &a.why);
  if (progress_cancelled(&g->told)) return cancel_all(g, why);
  if (!attempt_end(&a, ok, INCIPIT_FULL, why)) return false;
  g->read += g->here;
  bool more = g->here == 0 || g->o.on_progress(g->o.ctx, g->read, g->all);
  return collect(g, &a, why) && (more || cancel_all(g, why));
}

/* Everything that a run needs is allocated before its first step and freed after its last.
   Logits for as many texts as there are places, however many texts wait. */
static bool open_run(struct run *g, struct incipit_error *why)
{
  struct memory *m = &g->c->m;
  struct attempt a = attempt_begin(m);
  size_t places = g->n < g->c->n_places ? g->n : g->c->n_places;
  size_t vocab = g->c->model->lm->config.vocab_size;
  g->text = memory_alloc(m, MEMORY_OTHER, g->n, sizeof *g->text, &a.why);
  g->live = memory_alloc(m, MEMORY_OTHER, places, sizeof *g->live, &a.why);
  g->logits = memory_alloc(m, MEMORY_ACTIVATIONS, places, vocab * sizeof *g->logits,
    &a.why);
  bool ok = g->text != NULL && g->live != NULL && g->logits != NULL;
  if (!attempt_end(&a, ok, INCIPIT_MEMORY, why)) return false;
  g->sampler = g->o.sampler != NULL ? incipit_sampler_copy(g->o.sampler, why)
    : incipit_sampler_open(g->c->model, NULL, why);
  return g->sampler != NULL;
}

/* After a failure there may be results of texts that had ended before; they are closed, since
   the caller gets all results or none. May follow any failure of open_run, so lists may be
   null. */
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
  memory_free(m, g->live);
  memory_free(m, g->logits);
  g->c->e.progress = NULL;
  g->c->busy = false;
}

/* The order of the checks matters: the prompts are checked against the model of the context, so
   the context comes first. Results are null before anything is checked, since on failure the
   caller may close them all. The context is busy from the first step to the last. */
bool library_generate(const struct writing_request *q, struct incipit_result **result,
  struct incipit_error *why)
{
  struct run g = { .c = q->c, .call = q->call, .prompt = q->prompt,
    .n = q->n, .end = q->end,
    .result = result };
  for (size_t i = 0; result != NULL && i < g.n; i++) result[i] = NULL;
  if (!library_idle(q->c, q->call, why)
      || !library_given(q->prompt, q->call, "the list of prompts", why)
      || !library_given(result, q->call, "the room for results", why)) return false;
  if (!library_options(&g.o, sizeof g.o, q->o, q->call, why)
      || !library_agree(g.c, g.prompt, g.n, &g.o, q->call, why)) return false;
  g.n_end = g.o.ignore_end ? 0 : q->n_end;
  for (size_t i = 0; i < g.n; i++) g.all += g.prompt[i].n;
  g.told = (struct progress) { .report = tell_progress, .ctx = &g };
  g.c->busy = true;
  if (g.o.on_progress != NULL) g.c->e.progress = &g.told;
  bool ok = open_run(&g, why);
  while (ok && g.n_done < g.n) ok = run_step(&g, why);
  close_run(&g, ok);
  return ok;
}

/* The two public functions differ only in the number of prompts. If the context is NULL, the
   end tokens are left out, and library_generate says what is missing. */
static struct writing_request request_of(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, const char *call)
{
  struct writing_request q = { .c = c, .prompt = prompt, .n = n, .o = o, .call = call };
  if (c != NULL) q.end = c->model->lm->config.eos;
  if (c != NULL) q.n_end = c->model->lm->config.n_eos;
  return q;
}

bool incipit_generate_many(struct incipit_context *c,
  const struct incipit_prompt *prompt, size_t n,
  const struct incipit_generate_options *o, struct incipit_result **result,
  struct incipit_error *why)
{
  struct writing_request q = request_of(c, prompt, n, o, __func__);
  return library_generate(&q, result, why);
}

struct incipit_result *incipit_generate(struct incipit_context *c, const uint32_t *id,
  size_t n, const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct incipit_prompt prompt = { id, n };
  struct incipit_result *result = NULL;
  struct writing_request q = request_of(c, &prompt, 1, o, __func__);
  library_generate(&q, &result, why);
  return result;
}
