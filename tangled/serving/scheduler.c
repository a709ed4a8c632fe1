/* scheduler.c -- The scheduler: whose rows are computed in the next pass.
   made from chapters/12-serving.w; change it there

   Between steps each request of the line waits, without rows in the cache, or runs,
   in a slot of its own; the line is in order of arrival, always, and those that run
   come first. Three things are promised. The oldest that runs is never preempted, so
   every text ends. A text that is one row away from its next token has this row in
   every pass. And no decision here is seen in a text: a token depends on the rows
   before it and on its position, never on the pass. */

#include "cache/keep.h"
#include "serving/inside.h"

/* <Plan a pass> */

/* the rows that a text in a slot has to read before its next token */
static size_t rows_to_read(const struct scheduler *s, const struct request *r)
{
  size_t n = r->q.c.text.n, stored = store_length(s->g.s, r->q.c.sequence);
  return stored < n ? n - stored : 1;
}

/* is r a text, and in a slot? */
static bool is_running(const struct request *r)
{ return r != NULL && r->state == REQUEST_RUNNING; }

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
  for (struct request *r = s->line; is_running(r); r = r->next)
    if (rows_to_read(s, r) == 1) plan_text(s, r, 1, &n), left--;
  for (struct request *r = s->line; is_running(r) && left > 0; r = r->next) {
    size_t rows = rows_to_read(s, r);
    if (rows == 1) continue;
    if (rows > left) rows = left;
    plan_text(s, r, rows, &n), left -= rows;
  }
  return n;
}

static void make_room_for_guesses(struct scheduler *s, size_t n)
{
  size_t left = s->w.pass_rows;
  for (size_t i = 0; i < n; i++) left -= s->demand[i].rows;
  size_t room = left / n < s->w.guesses ? left / n : s->w.guesses;
  for (size_t i = 0; i < n; i++) s->demand[i].rows += room;
  if (room > 0 && !cache_fits(s->g.s, s->demand, n)) room = 0;
  for (size_t i = 0; i < n; i++) s->list[i]->room = room;
}

static void count_pass(struct scheduler *s, size_t n)
{
  s->counts.passes++;
  s->counts.slots_used += n;
  for (size_t i = 0; i < n; i++) s->counts.rows += s->list[i]->count;
  if (s->limit < s->g.s->n_sequences) s->limit++;
}

/* <Take a slot> */
static void take_slot(struct scheduler *s, struct request *r)
{
  size_t all = r->q.c.text.n - 1, has = store_length(s->g.s, r->q.c.sequence);
  if (has > all) has = all;
  if (r->preempted == 0) r->found = has;
  s->counts.found += has;
  s->taken[r->q.c.sequence] = true;
  r->state = REQUEST_RUNNING;
}

/* <Let requests in> */

/* gives a slot, and the rows that others have computed; the n texts in slots have
   written down what they want; false, and all is as before: there is no room */
static bool admit(struct scheduler *s, struct request *r, size_t n)
{
  uint32_t slot = 0;
  while (s->taken[slot]) slot++;
  r->q.c.sequence = slot;
  size_t n_known = r->want.on_row != NULL ? 0 : r->q.c.text.n;
  r->indexed = prefix_adopt(&s->index, slot, r->q.c.text.id, n_known, &r->chain);
  s->demand[n] = (struct cache_demand) { slot, rows_to_read(s, r) };
  size_t lacking = cache_lacks(s->g.s, s->demand, n + 1);
  if (n > 0 && lacking > 0 && lacking > prefix_spare(&s->index)) {
    store_crop(s->g.s, slot, 0);
    return false;
  }
  for (; lacking > 0 && prefix_evict(&s->index, false); lacking--) continue;
  take_slot(s, r);
  return true;
}

static void let_in(struct scheduler *s)
{
  size_t n = 0;
  struct request *r = s->line;
  for (; is_running(r); r = r->next)
    s->demand[n++] = (struct cache_demand) { r->q.c.sequence,
      rows_to_read(s, r) + s->index.page_rows };
  if (s->w.in_batches && n > 0) return;
  for (; r != NULL && n < s->limit && admit(s, r, n); r = r->next)
    s->demand[n++].rows += s->index.page_rows;
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

static struct request *find_youngest(const struct scheduler *s)
{
  struct request *r = s->line;
  while (is_running(r->next)) r = r->next;
  return r;
}

static bool make_room(struct scheduler *s)
{
  if (prefix_evict(&s->index, false)) return true;
  struct request *youngest = find_youngest(s);
  if (youngest == s->line) return prefix_evict(&s->index, true);
  preempt(s, youngest);
  return true;
}

static bool pass_refused(struct scheduler *s, size_t n, struct error *why)
{
  if (progress_cancelled(s->g.e->progress)) return false;
  if (n > 1) {
    preempt(s, find_youngest(s));
    s->limit = (uint32_t) n - 1;
    return true;
  }
  struct request *alone = s->line;
  while (&alone->q != s->list[0]) alone = alone->next;
  alone->q.why = *why;
  alone->q.c.ended = FINISH_ERROR;
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

/* <Look after the texts of a pass> */
static void look_after_texts(struct scheduler *s)
{
  for (struct request *r = s->line, *next; is_running(r) || (r != NULL && r->unwanted); r = next) {
    next = r->next;
    if (is_running(r)) index_new_pages(s, r);
    if (r->unwanted && r->q.c.ended == FINISH_NONE) r->q.c.ended = FINISH_CANCELLED;
    if (r->q.c.ended != FINISH_NONE) request_leave(s, r);
  }
}

/* <Compute the pass> */
static bool compute_pass(struct scheduler *s, size_t n, struct error *why)
{
  const struct scheduler_options *w = &s->w;
  make_room_for_guesses(s, n);
  s->in_pass = true;
  bool ok = w->step == NULL ? generate_step(&s->g, s->list, n, s->logits, why)
    : w->step(w->step_ctx, &s->g, s->list, n, s->logits, why);
  s->in_pass = false;
  return ok;
}

/* <Take all texts one step further> */
bool scheduler_step(struct scheduler *s, struct error *why)
{
  let_in(s);
  size_t n = plan_pass(s);
  while (n > 0 && !cache_fits(s->g.s, s->demand, n) && make_room(s))
    n = plan_pass(s);
  if (n == 0) return true;
  bool ok = compute_pass(s, n, why);
  if (ok) count_pass(s, n);
  else ok = pass_refused(s, n, why);
  look_after_texts(s);
  return ok;
}
