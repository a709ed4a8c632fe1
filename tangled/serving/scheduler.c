/* scheduler.c -- The scheduler: whose rows are computed in the next pass.
   made from chapters/12-serving.w; change it there

   Between steps each request of the line waits, without rows in the cache, or runs,
   in a slot of its own; the line is in order of arrival, always. Three things are
   promised. The oldest that runs is never preempted, so every text ends. A text that
   is one row away from its next token has this row in every pass. And no decision
   here is seen in a text: a token depends on the rows before it and on its position,
   never on the pass. */

#include "cache/keep.h"
#include "serving/inside.h"

/* <Plan a pass> */

/* the rows that a text in a slot has to read before its next token */
static size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
  size_t n = r->q.c.text.n, stored = store_length(s->g.s, r->q.c.sequence);
  return stored < n ? n - stored : 1;
}

static void plan_text(struct scheduler *s, struct request *r, size_t rows, size_t *n)
{
  r->want.chunk = rows;
  s->list[*n] = &r->q;
  s->demand[*n] = (struct cache_demand) { r->q.c.sequence, rows };
  ++*n;
}

static size_t plan_pass(struct scheduler *s)
{
  size_t n = 0, left = s->w.pass_rows;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING && rows_to_read(s, r) == 1)
      plan_text(s, r, 1, &n), left--;
  for (struct request *r = s->line; r != NULL && left > 0; r = r->next) {
    size_t rows = r->state == REQUEST_RUNNING ? rows_to_read(s, r) : 0;
    if (rows <= 1) continue;
    if (rows > left) rows = left;
    plan_text(s, r, rows, &n), left -= rows;
  }
  return n;
}

static void count_pass(struct scheduler *s, size_t n)
{
  s->counts.passes++;
  s->counts.slots_used += n;
  for (size_t i = 0; i < n; i++) s->counts.rows += s->demand[i].rows;
}

/* <Let requests in> */

/* would all texts in slots, and this one, have pages for what they have to read, and
   one page to grow? */
static bool room_for(struct scheduler *s, const struct request *r)
{
  size_t n = 0;
  for (const struct request *a = s->line; a != NULL; a = a->next)
    if (a == r || a->state == REQUEST_RUNNING)
      s->demand[n++] = (struct cache_demand) { a->q.c.sequence,
        rows_to_read(s, a) + (a == r ? 0 : s->index.page_rows) };
  return cache_fits(s->g.s, s->demand, n);
}

/* gives a slot, and the rows that others have computed; false, and all is as before:
   there is no room */
static bool admit(struct scheduler *s, struct request *r, uint32_t slot, bool alone)
{
  r->q.c.sequence = slot;
  r->indexed = prefix_adopt(&s->index, slot, r->q.c.text.id, r->q.c.text.n, &r->chain);
  while (!room_for(s, r) && prefix_evict(&s->index, false)) continue;
  if (!alone && !room_for(s, r)) {
    store_crop(s->g.s, slot, 0);
    return false;
  }
  size_t all = r->q.c.text.n - 1, has = store_length(s->g.s, slot);
  r->found = has < all ? has : all;
  s->counts.found += r->found;
  s->taken[slot] = true;
  r->state = REQUEST_RUNNING;
  return true;
}

static void let_in(struct scheduler *s)
{
  uint32_t running = 0, slot = 0;
  for (struct request *r = s->line; r != NULL; r = r->next)
    running += r->state == REQUEST_RUNNING;
  bool closed = s->w.in_batches && running > 0;
  for (struct request *r = s->line; r != NULL && !closed && running < s->limit; r = r->next) {
    if (r->state == REQUEST_RUNNING) continue;
    while (s->taken[slot]) slot++;
    if (!admit(s, r, slot, running == 0)) return;
    running++;
  }
}

/* <Leave> */
void request_leave(struct scheduler *s, struct request *r)
{
  struct request **at = &s->line;
  if (r->state == REQUEST_RUNNING) {
    store_crop(s->g.s, r->q.c.sequence, 0);
    s->taken[r->q.c.sequence] = false;
  }
  r->state = REQUEST_ENDED;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
}

/* <Make room> */

/* takes a slot away; the text, and the state of its sampler, stay as they are, and it
   keeps its place in the line */
static void preempt(struct scheduler *s, struct request *r)
{
  store_crop(s->g.s, r->q.c.sequence, 0);
  s->taken[r->q.c.sequence] = false;
  r->state = REQUEST_WAITING;
  r->preempted++;
  s->counts.preempted++;
}

static bool make_room(struct scheduler *s)
{
  struct request *oldest = NULL, *youngest = NULL;
  if (prefix_evict(&s->index, false)) return true;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING) {
      if (oldest == NULL) oldest = r;
      youngest = r;
    }
  if (youngest == oldest) return prefix_evict(&s->index, true);
  preempt(s, youngest);
  return true;
}

static bool pass_refused(struct scheduler *s, size_t n, struct error *why)
{
  struct request *youngest = s->line;
  if (progress_cancelled(s->g.e->progress)) return false;
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (r->state == REQUEST_RUNNING) youngest = r;
  if (n > 1) {
    preempt(s, youngest);
    s->limit = (uint32_t) n - 1;
    return true;
  }
  for (struct request *r = s->line; r != NULL; r = r->next)
    if (&r->q == s->list[0]) youngest = r;
  youngest->q.why = *why;
  youngest->q.c.ended = FINISH_ERROR;
  request_leave(s, youngest);
  return true;
}

/* <Bring new pages to the index> */
static void index_new_pages(struct scheduler *s, struct request *r)
{
  size_t rows = s->index.page_rows, n = store_length(s->g.s, r->q.c.sequence) / rows;
  while (s->index.s != NULL && r->indexed < n) {
    if (r->indexed > 0 && r->chain.entry == 0) return;
    r->chain = prefix_add(&s->index, r->chain, r->q.c.text.id + r->indexed * rows,
      r->q.c.sequence, r->indexed);
    r->indexed++;
  }
}

/* <Take all texts one step further> */
bool scheduler_step(struct scheduler *s, struct error *why)
{
  let_in(s);
  size_t n = plan_pass(s);
  while (n > 0 && !cache_fits(s->g.s, s->demand, n) && make_room(s))
    n = plan_pass(s);
  if (n == 0) return true;
  if (!generate_step(&s->g, s->list, n, s->logits, why))
    return pass_refused(s, n, why);
  count_pass(s, n);
  if (s->limit < s->g.s->n_sequences) s->limit++;
  for (struct request *r = s->line, *next; r != NULL; r = next) {
    next = r->next;
    if (r->state == REQUEST_RUNNING) index_new_pages(s, r);
    if (r->q.c.ended != FINISH_NONE) request_leave(s, r);
  }
  return true;
}
