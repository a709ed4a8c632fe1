/* batch.c -- requests that come and go: the scheduler of chapter 12 for a caller.

   A batch owns its requests, each in a block of its own, for the scheduler knows them by their addresses. They stand in the
   order of their numbers, so that a number is found by halving; numbers are never given out twice, so that one that was
   taken is not mistaken for another. Slot k of the scheduler is sequence k of the context, and so the context is the
   batch's alone as long as it is open. A request is in one of three states: with the scheduler, ended, or, after it was
   taken, nowhere. What callbacks may call must not move what a pass is using: submitting moves only the list of addresses,
   and a request that is cancelled stays with the scheduler until the pass is over. */

#include <string.h>
#include "library/library.h"
#include "serving/scheduler.h"

/* a request, and what it needs */
struct batch_text {
  struct incipit_batch *b;
  uint64_t number;
  struct incipit_generate_options o; /* the caller's; its lists may be gone, so only callbacks are used */
  struct text_parts parts;
  struct request r;
  size_t read; /* rows of its prompt that on_progress was told */
  struct incipit_error failure; /* code 0: none */
};

/* a batch */
struct incipit_batch {
  struct memory m;
  struct incipit_context *c;
  struct scheduler s;
  struct batch_text **text; size_t n, cap; /* in the order of their numbers */
  uint64_t last; /* the number that was given out last */
};

/* Chapter 12 checks the rows of a pass as well; here the sentence speaks of sequences. */
static bool options_fit(const struct incipit_context *c, const struct incipit_batch_options *o,
  const char *call, struct incipit_error *why)
{
  for (uint32_t i = 0; i < c->n_places; i++)
    if (c->place[i].open) return library_fail(why, INCIPIT_MISUSE, "%s: the context has"
      " an open sequence; wanted: none, for the batch takes them all", call);
  return o->pass_rows == 0 || o->pass_rows >= c->n_places || library_fail(why,
    INCIPIT_MISUSE, "%s: pass_rows is %zu; wanted: one for each of the %u sequences, or"
    " more", call, o->pass_rows, (unsigned) c->n_places);
}

/* The context is held before anything can fail, for incipit_batch_close lets go of it. */
struct incipit_batch *incipit_batch_open(struct incipit_context *c,
  const struct incipit_batch_options *o, struct incipit_error *why)
{
  struct incipit_batch_options mine = { .size = sizeof mine };
  if (!library_idle(c, __func__, why)
      || !library_options(&mine, sizeof mine, o, __func__, why)
      || !options_fit(c, &mine, __func__, why)) return NULL;
  struct incipit_batch *b = library_new(sizeof *b, why);
  if (b == NULL) return NULL;
  b->c = c;
  c->users++, c->batched = true;
  struct generate_context with = library_loop(c);
  struct scheduler_options how = { .pass_rows = mine.pass_rows, .share = !mine.no_sharing };
  struct attempt a = attempt_begin(&c->m);
  if (attempt_end(&a, scheduler_open(&b->s, &with, &how, &a.why), INCIPIT_MISUSE, why))
    return b;
  incipit_batch_close(b);
  return NULL;
}

/* the scheduler lets go of it first, for it has its rows and reads with its sampler */
static void close_text(struct incipit_batch *b, struct batch_text *t)
{
  request_close(&b->s, &t->r);
  library_parts_close(&t->parts);
  memory_free(&b->m, t);
}

/* A batch cannot be closed from one of its callbacks, as its context cannot. */
void incipit_batch_close(struct incipit_batch *b)
{
  if (b == NULL || b->c->busy) return;
  for (size_t i = 0; i < b->n; i++) close_text(b, b->text[i]);
  memory_free(&b->m, b->text);
  scheduler_close(&b->s);
  b->c->batched = false;
  incipit_context_close(b->c);
  library_delete(b);
}

/* A text that a callback has cancelled is told of no more tokens, though the pass may bring one. */
static bool tell_token(void *ctx, const struct step *now)
{
  struct batch_text *t = ctx;
  return t->r.unwanted || library_tell(&t->parts, t->r.q.c.ended, 0, now, &t->o);
}

/* A request without a sampler gets the makers' own, as in incipit_generate. */
static bool open_parts(struct batch_text *t, const struct incipit_prompt *p,
  struct generate_options *want, struct incipit_error *why)
{
  const struct model_config *config = &t->b->c->model->lm->config;
  struct incipit_sampler *usual = NULL;
  if (t->o.sampler == NULL
      && (usual = incipit_sampler_open(t->b->c->model, NULL, why)) == NULL) return false;
  bool ok = library_parts(&t->parts, t->b->c, usual != NULL ? usual : t->o.sampler, 0, p,
    &t->o, config->eos, t->o.ignore_end ? 0 : config->n_eos, want, why);
  incipit_sampler_close(usual);
  return ok;
}

static bool submit(struct batch_text *t, const struct incipit_prompt *p,
  struct incipit_error *why)
{
  struct incipit_batch *b = t->b;
  struct generate_options want;
  if (!open_parts(t, p, &want, why)) return false;
  want.on_step = tell_token, want.ctx = t;
  struct attempt a = attempt_begin(&b->c->m);
  bool ok = scheduler_submit(&b->s, &t->r, p->id, p->n, &want, &a.why);
  return attempt_end(&a, ok, INCIPIT_FULL, why);
}

/* Room in the list comes first, so that after the text is with the scheduler nothing can fail. */
static bool add_text(struct incipit_batch *b, const struct incipit_prompt *p,
  const struct incipit_generate_options *o, struct incipit_error *why)
{
  struct attempt a = attempt_begin(&b->m);
  void *list = memory_reserve(&b->m, MEMORY_OTHER, b->text, &b->cap, b->n + 1, 8,
    sizeof *b->text, &a.why);
  if (list == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  b->text = list;
  struct batch_text *t = memory_alloc(&b->m, MEMORY_OTHER, 1, sizeof *t, &a.why);
  if (t == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  *t = (struct batch_text) { .b = b, .o = *o, .number = b->last + 1 };
  if (!submit(t, p, why)) {
    close_text(b, t);
    return false;
  }
  b->last++;
  b->text[b->n++] = t;
  return true;
}

bool incipit_batch_submit(struct incipit_batch *b, const uint32_t *id, size_t n,
  const struct incipit_generate_options *o, uint64_t *request, struct incipit_error *why)
{
  struct incipit_generate_options mine = { .size = sizeof mine };
  struct incipit_prompt prompt = { id, n };
  if (!library_given(b, __func__, "the batch", why)
      || !library_given(request, __func__, "request", why)
      || !library_alive(b->c, __func__, why)
      || !library_options(&mine, sizeof mine, o, __func__, why)) return false;
  if (mine.sequence != NULL) return library_fail(why, INCIPIT_MISUSE, "%s: a sequence is"
    " given; wanted: none, for the batch has them all", __func__);
  if (!library_agree(b->c, &prompt, 1, &mine, __func__, why)
      || !add_text(b, &prompt, &mine, why)) return false;
  *request = b->last;
  return true;
}

/* The rows of a prompt may be fewer after a preemption; what was told once stays told. A text with a token of its own
   has read all of them, and so has its cache, in which it may have lost them. */
static void tell_progress(struct batch_text *t)
{
  const struct continuation *c = &t->r.q.c;
  const struct incipit_generate_options *o = &t->o;
  size_t rows = t->read;
  if (c->text.n > c->n_prompt) rows = c->n_prompt;
  else if (t->r.state == REQUEST_RUNNING) rows = store_length(t->b->c->s, c->sequence);
  if (o->on_progress == NULL || t->r.unwanted || rows <= t->read) return;
  t->read = rows;
  if (!o->on_progress(o->ctx, rows, c->n_prompt)) scheduler_cancel(&t->b->s, &t->r);
}

/* The context is busy from the pass to the last callback. Texts that a callback submits stand behind the others, so they
   are looked after as well. The step itself cannot fail, since what is wrong is wrong with one text. */
bool incipit_batch_step(struct incipit_batch *b, size_t *left, struct incipit_error *why)
{
  if (!library_given(b, __func__, "the batch", why)
      || !library_at_rest(b->c, __func__, why)) return false;
  struct attempt a = attempt_begin(&b->c->m);
  size_t more = 0;
  b->c->busy = true;
  bool ok = scheduler_step(&b->s, &a.why);
  for (size_t i = 0; i < b->n; i++) {
    struct batch_text *t = b->text[i];
    tell_progress(t);
    if (t->r.q.c.ended == FINISH_ERROR && t->failure.code == INCIPIT_OK)
      library_text_failed(b->c, a.refused, &t->parts, &t->r.q.why, &t->failure);
  }
  b->c->busy = false;
  for (size_t i = 0; i < b->n; i++) more += b->text[i]->r.state != REQUEST_ENDED;
  if (left != NULL) *left = more;
  return attempt_end(&a, ok, INCIPIT_FULL, why);
}

/* where it is in the list, or null and a sentence */
static struct batch_text **find_text(const struct incipit_batch *b, uint64_t request,
  const char *call, struct incipit_error *why)
{
  size_t low = 0, high = b->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (b->text[middle]->number < request) low = middle + 1;
    else high = middle;
  }
  if (low < b->n && b->text[low]->number == request) return &b->text[low];
  library_fail(why, INCIPIT_MISUSE, "%s: no request of this batch has the number %llu;"
    " wanted: one that it gave and that was not taken", call, (unsigned long long) request);
  return NULL;
}

static enum incipit_state state_of(const struct batch_text *t)
{
  if (t->r.state == REQUEST_ENDED) return INCIPIT_ENDED;
  return t->r.state == REQUEST_RUNNING ? INCIPIT_RUNNING : INCIPIT_WAITING;
}

/* a newer program's structure may be longer than ours: the rest becomes 0 */
bool incipit_batch_poll(const struct incipit_batch *b, uint64_t request,
  struct incipit_request *r, size_t size, struct incipit_error *why)
{
  if (!library_given(b, __func__, "the batch", why)
      || !library_size(r, size, sizeof *r, __func__, why)) return false;
  struct batch_text **at = find_text(b, request, __func__, why);
  if (at == NULL) return false;
  const struct batch_text *t = *at;
  memset(r, 0, size);
  *r = (struct incipit_request) { .state = (int) state_of(t),
    .n_ids = t->r.q.c.text.n - t->r.q.c.n_prompt, .rows_found = t->r.found,
    .preempted = t->r.preempted, .failure = t->failure };
  return true;
}

bool incipit_batch_cancel(struct incipit_batch *b, uint64_t request,
  struct incipit_error *why)
{
  if (!library_given(b, __func__, "the batch", why)
      || !library_alive(b->c, __func__, why)) return false;
  struct batch_text **at = find_text(b, request, __func__, why);
  if (at != NULL) scheduler_cancel(&b->s, &(*at)->r);
  return at != NULL;
}

/* The result is made first: if memory is refused, the request is still there. */
struct incipit_result *incipit_batch_take(struct incipit_batch *b, uint64_t request,
  struct incipit_error *why)
{
  if (!library_given(b, __func__, "the batch", why)
      || !library_at_rest(b->c, __func__, why)) return NULL;
  struct batch_text **at = find_text(b, request, __func__, why);
  if (at == NULL) return NULL;
  if ((*at)->r.state != REQUEST_ENDED) {
    library_fail(why, INCIPIT_MISUSE, "%s: request %llu has not ended; wanted: one that"
      " has, or that was cancelled", __func__, (unsigned long long) request);
    return NULL;
  }
  struct incipit_result *result = library_result(&(*at)->parts, &(*at)->r.q.c, why);
  if (result == NULL) return NULL;
  close_text(b, *at);
  b->n--;
  memmove(at, at + 1, (size_t) (b->text + b->n - at) * sizeof *at);
  return result;
}

bool incipit_batch_report(const struct incipit_batch *b, struct incipit_batch_counts *r,
  size_t size, struct incipit_error *why)
{
  if (!library_given(b, __func__, "the batch", why)
      || !library_size(r, size, sizeof *r, __func__, why)) return false;
  const struct scheduler_counts *c = &b->s.counts;
  size_t n[3] = { 0 };
  for (size_t i = 0; i < b->n; i++) n[state_of(b->text[i])]++;
  memset(r, 0, size);
  *r = (struct incipit_batch_counts) { .waiting = n[INCIPIT_WAITING],
    .running = n[INCIPIT_RUNNING], .ended = n[INCIPIT_ENDED], .passes = c->passes,
    .rows = c->rows, .places_used = c->slots_used, .rows_found = c->found,
    .preempted = c->preempted };
  return true;
}
