/* serve_engine.c -- one thread computes passes for all jobs, with the scheduler of chapter 12.

   Jobs stand in a line, in the order in which they came. The engine opens their choices one after the other and gives them to
   the scheduler, never more than there are slots: so what a choice needs (a text, an outflow, a cursor) is taken when its turn
   comes, and a queue of thousands costs no more than their prompts. After each pass it notes under the lock what was written,
   and wakes those who listen. Buffers of the sampler are needed by one choice at a time and are shared by all.

   A job that nobody listens to any more is cancelled: its choices leave the scheduler before the next pass, and their pages
   are free. A choice that fails ends alone. When all choices of a job are over the engine lets go of it (done) and never
   looks at it again; it is freed when HTTP has let go of it as well. */

#include <stdlib.h>
#include <string.h>
#include "cache/cache.h"
#include "ground/timing.h"
#include "constraint_setup.h"
#include "serve.h"

struct serve_engine {
  struct serve_model *s;
  struct serve_limits w;
  struct scheduler line;
  struct funnel f;
  double *logprob; /* [vocab] */
  struct serve_choice **active; /* [slots]: those that the scheduler has */
  size_t n_active;
  double looked; /* when look was last brought up to date */
  pthread_t thread;
  bool started;
  /* under the lock */
  pthread_mutex_t lock;
  pthread_cond_t news;
  struct serve_job *first; /* not done, in the order in which they came */
  size_t n_jobs; /* not yet freed */
  uint64_t tickets;
  bool stop, asked; /* somebody wants something of the engine */
  struct serve_counts counts;
  struct serve_look look;
  size_t *slot_rows; /* [slots], as of look */
  uint64_t *slot_ticket;
};

void serve_lock(struct serve_engine *e) { pthread_mutex_lock(&e->lock); }
void serve_unlock(struct serve_engine *e) { pthread_mutex_unlock(&e->lock); }
struct prefix_index *serve_prefixes(struct serve_engine *e) { return &e->line.index; }

/* upper ends of the buckets, in seconds */
static const double bucket_end[SERVE_BUCKETS] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60 };

double serve_bucket_end(size_t i) { return bucket_end[i]; }

static void note_time(struct serve_times *t, double seconds)
{
  size_t i = 0;
  while (i < SERVE_BUCKETS && seconds > bucket_end[i]) i++;
  if (i < SERVE_BUCKETS) t->bucket[i]++;
  t->count++;
  t->sum += seconds;
}

/* ---- what the loop tells us of a choice, under its pass */

/* log-probabilities are of the logits that the choice was made from, before any temperature or penalty */
static void note_candidates(struct serve_engine *e, const float *logits, uint32_t chosen, struct candidate *out, size_t k)
{
  struct session *o = e->s->o;
  size_t vocab = o->lm->config.vocab_size;
  o->e.k->log_softmax(&o->e, logits, 1, vocab, e->logprob);
  prompt_candidates(e->logprob, vocab, chosen, out, k);
}

/* room for one more token; under the lock, because a reader may look at the arrays */
static bool make_room(struct serve_choice *c)
{
  struct serve_job *j = c->job;
  size_t width = 1 + j->k;
  void *p = memory_reserve(&j->m, MEMORY_OTHER, c->token, &c->token_cap, c->n + 1, 32, sizeof *c->token, &c->r.q.why);
  if (p == NULL) return false;
  c->token = p;
  if (!j->logprobs) return true;
  p = memory_reserve(&j->m, MEMORY_OTHER, c->noted, &c->noted_cap, c->n + 1, 16, width * sizeof *c->noted, &c->r.q.why);
  if (p == NULL) return false;
  c->noted = p;
  return true;
}

/* the bytes that the outflow has released since */
static bool take_text(struct serve_choice *c)
{
  const struct text_stream *o = &c->ends.flow;
  return o->released <= c->text.n
    || bytes_push(&c->job->m, &c->text, o->text.byte + c->text.n, o->released - c->text.n, &c->r.q.why);
}

/* A job that lacks the memory for what it has been told of is cancelled, and its choice says why. */
static bool see_token(void *ctx, const struct step *now)
{
  struct serve_choice *c = ctx;
  struct serve_engine *e = c->job->engine;
  struct serve_job *j = c->job;
  struct candidate noted[1 + 20];
  if (j->logprobs) note_candidates(e, now->logits, now->chosen, noted, j->k);
  serve_lock(e);
  bool ok = make_room(c) && take_text(c);
  if (ok) {
    c->last = timing_seconds();
    if (c->n == 0) c->first = c->last;
    if (j->logprobs) memcpy(c->noted + c->n * (1 + j->k), noted, (1 + j->k) * sizeof *noted);
    c->token[c->n++] = (struct serve_token) { now->chosen, c->text.n };
    e->counts.written_tokens++;
  }
  serve_unlock(e);
  return ok;
}

/* rows that are computed once more after a preemption have been noted before */
static bool see_row(void *ctx, size_t position, const float *logits)
{
  struct serve_choice *c = ctx;
  struct serve_prompt *p = c->prompt;
  size_t k = c->job->k;
  if (position + 1 != p->scored) return true;
  note_candidates(c->job->engine, logits, p->list.id[position + 1], p->noted + (1 + k) * p->scored, k);
  p->scored++;
  return true;
}

/* ---- a choice begins and ends */

static bool wants_score(const struct serve_choice *c)
{
  return c->prompt->noted != NULL && c->number == 0;
}

/* In a talk what ends an answer is the template's mark as well; but where the answer must match something, a newline that is
   the mark of one template may be a part of it. */
static void set_ends(struct serve_choice *c, struct serve_model *s)
{
  const struct model_config *config = &s->o->lm->config;
  bool talk = c->job->chat && c->prompt->must == NULL;
  c->want.eos = talk ? s->ends.id : config->eos;
  c->want.n_eos = talk ? s->ends.n : config->n_eos;
  if (c->job->ignore_eos) c->want.n_eos = 0;
}

static bool open_choice(struct serve_engine *e, struct serve_choice *c, struct error *why)
{
  struct serve_job *j = c->job;
  struct session *o = e->s->o;
  const struct model_config *config = &o->lm->config;
  size_t most = e->s->context - c->prompt->list.n + 1, limit = j->max_tokens < most ? j->max_tokens : most;
  c->want = (struct generate_options) { .max_new_tokens = limit, .on_step = see_token, .ctx = c,
    .on_row = wants_score(c) ? see_row : NULL, .select = sampler_choose, .accept = sampler_accept, .select_ctx = &c->d,
    .stop = criteria_should_stop, .stop_ctx = &c->ends.all, .min_tokens = j->min_tokens };
  set_ends(c, e->s);
  c->d = (struct sampler) { .f = e->f, .s = j->s, .seed = j->seed, .sequence = c->number };
  c->opened = true;
  if (!stop_setup_open(&c->ends, &j->m, o->t, j->stop, j->n_stop, &c->cursor, why)) return false;
  if (j->chat && c->prompt->must == NULL) c->ends.named = &e->s->named;
  c->ends.flow.include_stop = j->include_stop, c->ends.flow.min_tokens = j->min_tokens;
  if (c->prompt->must != NULL) {
    if (!constraint_cursor_open(&c->cursor, &j->m, c->prompt->must, config->vocab_size, limit, config->eos,
        j->ignore_eos ? 0 : config->n_eos, why)) return false;
    c->d.rule = constraint_setup_rule(&c->cursor);
  }
  return stop_setup_begin(&c->ends, c->prompt->list.id, c->prompt->list.n, why)
    && scheduler_submit(&e->line, &c->r, c->prompt->list.id, c->prompt->list.n, &c->want, why);
}

/* A text that had to match and does not would be a fault of this program. */
static void check_match(struct serve_choice *c)
{
  bool yes = true;
  if (c->r.q.c.ended != FINISH_STOP && c->r.q.c.ended != FINISH_LENGTH) return;
  if (!constraint_cursor_matches(&c->cursor, &yes, &c->r.q.why)
      || (!yes && !error_say(&c->r.q.why, "the text does not match what it must"))) c->r.q.c.ended = FINISH_ERROR;
}

/* Under the lock: the choice is over, and all that it had of the engine is given back. */
static void close_choice(struct serve_engine *e, struct serve_choice *c)
{
  struct serve_job *j = c->job;
  if (c->opened && c->r.q.c.ended == FINISH_NONE && !j->cancelled) c->r.q.c.ended = FINISH_ERROR;
  if (c->opened) {
    if (c->prompt->must != NULL && c->cursor.c != NULL) check_match(c);
    text_stream_end(&c->ends.flow);
    if (!take_text(c)) c->r.q.c.ended = FINISH_ERROR;
  }
  c->ended = c->r.q.c.ended, c->why = c->r.q.why;
  if (c->number == 0 && c->prompt->cached == 0) c->prompt->cached = c->r.found;
  request_close(&e->line, &c->r);
  if (c->opened) {
    stop_setup_close(&c->ends);
    constraint_cursor_close(&c->cursor, &j->m);
  }
  if (c->n > 1) note_time(&e->counts.per_token, (c->last - c->first) / (double) (c->n - 1));
  c->over = true;
  j->over++;
}

/* ---- jobs */

/* a choice that could not note its tokens was given up in the middle (cancelled), and that is an error, too */
static enum serve_outcome outcome_of(const struct serve_job *j)
{
  enum serve_outcome what = SERVE_STOP;
  for (size_t i = 0; i < j->n; i++) {
    if (j->choice[i].ended != FINISH_STOP && j->choice[i].ended != FINISH_LENGTH) return SERVE_ERROR;
    if (j->choice[i].ended == FINISH_LENGTH) what = SERVE_LENGTH;
  }
  return what;
}

static void free_job(struct serve_engine *e, struct serve_job *j)
{
  e->n_jobs--;
  serve_job_close(j);
}

/* Under the lock: all choices are over. What became of it is known only when its listener has got it, or has left. */
static void finish_job(struct serve_engine *e, struct serve_job *j)
{
  struct serve_job **at = &e->first;
  while (*at != j) at = &(*at)->next;
  *at = j->next;
  j->done = true;
  if (!j->cancelled) {
    for (size_t i = 0; i < j->n_prompts; i++) {
      e->counts.prompt_tokens += j->prompt[i].list.n;
      e->counts.cached_tokens += j->prompt[i].cached;
    }
    note_time(&e->counts.request, timing_seconds() - j->came);
  }
  if (j->left) free_job(e, j);
  else j->wake(j->listener);
}

void serve_leave(struct serve_engine *e, struct serve_job *j, bool sent)
{
  serve_lock(e);
  j->listener = NULL;
  j->left = true;
  e->counts.outcome[sent && j->done && !j->cancelled ? outcome_of(j) : SERVE_CANCELLED]++;
  if (j->done) free_job(e, j);
  else {
    j->cancelled = e->asked = true;
    pthread_cond_signal(&e->news);
  }
  serve_unlock(e);
}

void serve_count_outcome(struct serve_engine *e, enum serve_outcome what)
{
  serve_lock(e);
  e->counts.outcome[what]++;
  serve_unlock(e);
}

bool serve_is_idle(struct serve_engine *e)
{
  serve_lock(e);
  bool idle = e->n_jobs == 0;
  serve_unlock(e);
  return idle;
}

void serve_cut(struct serve_engine *e)
{
  serve_lock(e);
  for (struct serve_job *j = e->first; j != NULL; j = j->next) j->cancelled = true;
  e->asked = true;
  pthread_cond_signal(&e->news);
  serve_unlock(e);
}

/* how many jobs have had no slot */
static size_t count_waiting(const struct serve_engine *e)
{
  size_t n = 0;
  for (const struct serve_job *j = e->first; j != NULL; j = j->next) n += !j->running;
  return n;
}

/* A slot that is free is a place, too: with an empty queue a request is taken if it need not wait. */
bool serve_submit(struct serve_engine *e, struct serve_job *j, struct serve_refusal *r)
{
  serve_lock(e);
  size_t waiting = count_waiting(e), taken = e->n_active < e->w.slots ? e->n_active : e->w.slots;
  bool ok = waiting < e->w.queue + (e->w.slots - taken);
  if (ok) {
    struct serve_job **end = &e->first;
    while (*end != NULL) end = &(*end)->next;
    *end = j;
    j->engine = e;
    j->ticket = ++e->tickets;
    e->n_jobs++;
    e->asked = true;
    pthread_cond_signal(&e->news);
  }
  serve_unlock(e);
  return ok || serve_refuse(r, 429, "queue_full", "", "%zu requests are waiting already; wanted: another try, later", waiting);
}

/* ---- the thread */

/* What there is, for those who ask: it is looked for between passes, and when something has ended, not for each question. */
static void look_around(struct serve_engine *e)
{
  struct serve_look *l = &e->look;
  struct store *s = e->s->o->s;
  struct cache_state now = cache_look(s);
  const struct prefix_index *x = &e->line.index;
  *l = (struct serve_look) { .slots = e->w.slots, .page_rows = now.page_rows, .pages = e->w.pages, .done = e->line.counts,
    .guessed = e->s->o->guess.by.guessed, .accepted = e->s->o->guess.by.accepted };
  for (uint32_t i = 1; i < x->n; i++) l->pages_cached += x->entry[i].born != 0 && !cache_block_in_use(s, &x->entry[i].block);
  l->pages_used = now.pages_used > l->pages_cached ? now.pages_used - l->pages_cached : 0;
  for (const struct serve_job *j = e->first; j != NULL; j = j->next) {
    l->running += j->running;
    l->waiting += !j->running;
  }
  memset(e->slot_rows, 0, e->w.slots * sizeof *e->slot_rows);
  memset(e->slot_ticket, 0, e->w.slots * sizeof *e->slot_ticket);
  for (size_t i = 0; i < e->n_active; i++) {
    const struct request *r = &e->active[i]->r;
    if (r->state != REQUEST_RUNNING) continue;
    e->slot_rows[r->q.c.sequence] = store_length(s, r->q.c.sequence);
    e->slot_ticket[r->q.c.sequence] = e->active[i]->job->ticket;
  }
  e->looked = timing_seconds();
}

/* Under the lock: choices of cancelled jobs leave, and those that were not begun never begin. A job that is finished may be
   gone with its choices, so nobody may look at them then. */
static void drop_cancelled(struct serve_engine *e)
{
  size_t n = 0;
  for (struct serve_job *j = e->first; j != NULL; j = j->next)
    for (size_t i = 0; j->cancelled && i < j->n; i++)
      if (!j->choice[i].over) close_choice(e, &j->choice[i]);
  for (size_t i = 0; i < e->n_active; i++)
    if (!e->active[i]->over) e->active[n++] = e->active[i];
  e->n_active = n;
  for (struct serve_job *j = e->first, *next; j != NULL; j = next) {
    next = j->next;
    if (j->cancelled) finish_job(e, j);
  }
}

/* the next choice that has not been begun, in order */
static struct serve_choice *next_choice(struct serve_engine *e)
{
  for (struct serve_job *j = e->first; j != NULL; j = j->next)
    if (j->started < j->n) return &j->choice[j->started++];
  return NULL;
}

/* Under the lock, which it gives up while a choice is opened: that may take a moment. */
static void begin_choices(struct serve_engine *e)
{
  struct serve_choice *c;
  while (e->n_active < e->w.slots && (c = next_choice(e)) != NULL) {
    struct error why;
    e->active[e->n_active++] = c;
    serve_unlock(e);
    bool ok = open_choice(e, c, &why);
    serve_lock(e);
    if (ok) continue;
    c->r.q.why = why;
    c->r.q.c.ended = FINISH_ERROR;
  }
}

/* Under the lock, after a pass: who has had a slot, who is over, who has something to read. */
static void settle(struct serve_engine *e)
{
  size_t n = 0;
  for (size_t i = 0; i < e->n_active; i++) {
    struct serve_choice *c = e->active[i];
    struct serve_job *j = c->job;
    if (c->r.state != REQUEST_WAITING && !j->running) j->running = true;
    if (c->n > 0 && !j->timed) {
      j->timed = true;
      note_time(&e->counts.first, c->first - j->came);
    }
    if (c->r.state == REQUEST_ENDED) close_choice(e, c);
    else e->active[n++] = c;
    if (j->stream && j->listener != NULL) j->wake(j->listener);
    if (j->over == j->n) finish_job(e, j);
  }
  bool fewer = n < e->n_active;
  e->n_active = n;
  if (fewer || timing_seconds() - e->looked > 0.02) look_around(e);
}

static bool has_work(const struct serve_engine *e)
{
  return e->first != NULL;
}

/* Memory that was refused in the middle of a pass is the scheduler's affair; that it cannot go on at all would be a fault, and
   the answer to everybody. */
static void *work(void *ctx)
{
  struct serve_engine *e = ctx;
  struct error why;
  serve_lock(e);
  for (;;) {
    e->asked = false;
    drop_cancelled(e);
    if (!has_work(e)) look_around(e);
    if (e->stop && !has_work(e)) break;
    if (!has_work(e)) {
      if (!e->asked) pthread_cond_wait(&e->news, &e->lock);
      continue;
    }
    begin_choices(e);
    serve_unlock(e);
    bool ok = scheduler_step(&e->line, &why);
    serve_lock(e);
    for (size_t i = 0; !ok && i < e->n_active; i++) {
      e->active[i]->r.q.why = why;
      scheduler_cancel(&e->line, &e->active[i]->r);
      e->active[i]->r.q.c.ended = FINISH_ERROR;
    }
    settle(e);
  }
  serve_unlock(e);
  return NULL;
}

void serve_engine_look(struct serve_engine *e, struct serve_counts *c, struct serve_look *l, size_t *slot_rows, uint64_t *slot_ticket)
{
  serve_lock(e);
  *c = e->counts, *l = e->look;
  l->running = l->waiting = 0;
  for (const struct serve_job *j = e->first; j != NULL; j = j->next)
    if (!j->cancelled) l->running += j->running, l->waiting += !j->running;
  if (slot_rows != NULL) memcpy(slot_rows, e->slot_rows, e->w.slots * sizeof *slot_rows);
  if (slot_ticket != NULL) memcpy(slot_ticket, e->slot_ticket, e->w.slots * sizeof *slot_ticket);
  serve_unlock(e);
}

static bool open_parts(struct serve_engine *e, struct error *why)
{
  struct session *o = e->s->o;
  struct memory *m = o->m;
  struct generate_context g = { &o->e, o->lm, o->s, m };
  struct speculation *by = &o->guess.by;
  struct scheduler_options w = { .pass_rows = e->w.pass_rows, .share = e->w.share, .guesses = by->most,
    .step = by->most > 0 ? speculate_step : NULL, .step_ctx = by };
  uint32_t vocab = o->lm->config.vocab_size;
  if (!scheduler_open(&e->line, &g, &w, why)) return false;
  e->logprob = memory_alloc(m, MEMORY_OTHER, vocab, sizeof *e->logprob, why);
  e->active = memory_alloc(m, MEMORY_OTHER, e->w.slots, sizeof (struct serve_choice *), why);
  e->slot_rows = memory_alloc(m, MEMORY_OTHER, e->w.slots, sizeof *e->slot_rows, why);
  e->slot_ticket = memory_alloc(m, MEMORY_OTHER, e->w.slots, sizeof *e->slot_ticket, why);
  return e->logprob != NULL && e->active != NULL && e->slot_rows != NULL && e->slot_ticket != NULL
    && funnel_open(&e->f, m, o->e.k, vocab, why);
}

struct serve_engine *serve_engine_open(struct serve_model *s, const struct serve_limits *w, struct error *why)
{
  struct serve_engine *e = memory_alloc(s->o->m, MEMORY_OTHER, 1, sizeof *e, why);
  if (e == NULL) return NULL;
  e->s = s, e->w = *w;
  pthread_mutex_init(&e->lock, NULL);
  pthread_cond_init(&e->news, NULL);
  if (open_parts(e, why)) {
    look_around(e);
    return e;
  }
  serve_engine_close(e);
  return NULL;
}

bool serve_engine_start(struct serve_engine *e, struct error *why)
{
  e->started = pthread_create(&e->thread, NULL, work, e) == 0;
  return e->started || error_say(why, "a thread cannot be started");
}

void serve_engine_stop(struct serve_engine *e)
{
  if (!e->started) return;
  serve_lock(e);
  e->stop = true;
  pthread_cond_signal(&e->news);
  serve_unlock(e);
  pthread_join(e->thread, NULL);
  e->started = false;
}

void serve_engine_close(struct serve_engine *e)
{
  if (e == NULL) return;
  struct memory *m = e->s->o->m;
  serve_engine_stop(e);
  if (e->line.g.m != NULL) scheduler_close(&e->line);
  funnel_close(&e->f);
  memory_free(m, e->logprob), memory_free(m, e->active);
  memory_free(m, e->slot_rows), memory_free(m, e->slot_ticket);
  pthread_cond_destroy(&e->news);
  pthread_mutex_destroy(&e->lock);
  memory_free(m, e);
}
