/* contexts.c -- contexts: a cache, its sequences, workers, and the latest pass. A sequence's
   number is its place and, in the upper half, how often the place has been given out, from 1 to
   UINT16_MAX and then from 1 again: so a closed sequence's number fits nothing, and 0 is never
   a number. busy is true while a text is written: a callback that calls the context again is
   refused instead of spoiling the pass. What changes a context asks library_idle first. */

#include <string.h>
#include "library/library.h"
#include "accounts/accounts.h"
#include "cache/cache.h"
#include "safetensors/tensor_file.h"

static uint32_t name_of(const struct incipit_context *c, uint32_t place)
{ return (uint32_t) c->place[place].times << 16 | place; }

/* the place is written to even if the answer is no; no caller uses it then */
bool library_sequence(const struct incipit_context *c, uint32_t sequence,
  const char *call, uint32_t *place, struct incipit_error *why)
{
  *place = sequence & 0xffff;
  if (*place >= c->n_places || sequence >> 16 == 0)
    return library_fail(why, INCIPIT_MISUSE, "%s: no sequence of this context has"
      " the number %u; wanted: one that it gave", call, (unsigned) sequence);
  return (c->place[*place].open && name_of(c, *place) == sequence)
    || library_fail(why, INCIPIT_MISUSE, "%s: sequence %u is closed; wanted: an open one",
      call, (unsigned) sequence);
}

/* After a fork the workers' threads are in the other process, and waiting for them
   would never end. */
bool library_alive(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  return pool_alive(c->e.pool) || library_fail(why, INCIPIT_MISUSE, "%s: the context"
    " was opened before a fork, and its threads are in the other process; wanted: a"
    " context that was opened in this one, or one of 1 thread", call);
}

bool library_at_rest(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  if (!library_given(c, call, "the context", why)) return false;
  if (c->busy) return library_fail(why, INCIPIT_MISUSE, "%s: the context is writing a"
    " text; wanted: a call from outside its callbacks", call);
  return library_alive(c, call, why);
}

/* A batch plans passes by what the cache holds, and by what it has put there itself. */
bool library_idle(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  return library_at_rest(c, call, why) && (!c->batched || library_fail(why,
    INCIPIT_MISUSE, "%s: the context has an open batch; wanted: one without", call));
}

/* The first free place. There are few places, and looking through a few dozen of them takes no
   time beside a pass. The counter skips 0 when it wraps. */
bool library_take_place(struct incipit_context *c, uint32_t *place)
{
  for (*place = 0; *place < c->n_places; ++*place) {
    struct kv_place *p = &c->place[*place];
    if (p->open) continue;
    p->open = true;
    if (++p->times == 0) p->times = 1;
    return true;
  }
  return false;
}

/* The rows are forgotten at once, so that their pages are free for other sequences. */
void library_leave_place(struct incipit_context *c, uint32_t place)
{
  store_crop(c->s, place, 0);
  c->place[place].open = false;
}

/* For a place whose number nobody has seen, because a fork was refused or the place was only
   for a text: its number has not been used up. */
void library_return_place(struct incipit_context *c, uint32_t place)
{
  library_leave_place(c, place);
  c->place[place].times--;
}

struct generate_context library_loop(struct incipit_context *c)
{
  struct generate_context with = { &c->e, c->model->lm, c->s, &c->m };
  return with;
}

/* The lower half of a sequence's number has room for so many places. The limit for threads is
   far beyond any use; it is there for a number that was never set. */
static bool options_fit(const struct incipit_context_options *o, const char *call,
  struct incipit_error *why)
{
  if (o->n_sequences > 65535) return library_fail(why, INCIPIT_MISUSE,
    "%s: n_sequences is %u; wanted: at most 65535", call, (unsigned) o->n_sequences);
  return o->threads <= 1024 || library_fail(why, INCIPIT_MISUSE, "%s: threads is"
    " %u; wanted: at most 1024, or 0 for the cores", call, (unsigned) o->threads);
}

/* A window belongs to the context and not to the model, which other contexts may be using; it
   is an option of the cache, as are the format of keys and values and the number of rows. The
   format of activations is the engine's. From the cheap to the expensive, and the workers last:
   a thread is only started when nothing else can fail. */
static bool open_cache(struct incipit_context *c,
  const struct incipit_context_options *o, struct error *why)
{
  struct cache_options want = { .rows = o->rows, .window = o->window,
    .sinks = o->sinks, .set_window = o->window > 0 || o->sinks > 0 };
  if (o->kv_type != NULL && (want.format = format_find(o->kv_type, why)) == NULL)
    return false;
  c->e.k = kernels_find(o->kernels, why);
  if (c->e.k == NULL || !kernels_self_test(c->e.k, why)) return false;
  if (o->activations != NULL
      && !activations_find(o->activations, &c->e.activations, why)) return false;
  if (!kernels_check_activations(c->e.k, c->e.activations,
      c->model->lm->matrix_types, tensor_file_path(c->model->lm->weights), why))
    return false;
  c->e.c = &c->counters, c->e.prepared = c->model->prepared;
  c->n_places = o->n_sequences > 0 ? o->n_sequences : 1;
  c->place = memory_alloc(&c->m, MEMORY_OTHER, c->n_places, sizeof *c->place, why);
  return c->place != NULL
    && (c->s = cache_open(&c->m, &c->model->lm->config, c->n_places, &want,
      why)) != NULL
    && (c->e.pool = pool_open(&c->m, o->threads > 0 ? o->threads : pool_cores(),
      why)) != NULL;
}

/* The context becomes a user of its model as soon as it has a pointer to it, so
   incipit_context_close, which lets go of the model, is right at any later point of the
   opening. */
struct incipit_context *incipit_context_open(struct incipit_model *m,
  const struct incipit_context_options *o, struct incipit_error *why)
{
  struct incipit_context_options mine = { .size = sizeof mine };
  if (!library_given(m, __func__, "the model", why)
      || !library_options(&mine, sizeof mine, o, __func__, why)
      || !options_fit(&mine, __func__, why)) return NULL;
  struct incipit_context *c = library_new(sizeof *c, why);
  if (c == NULL) return NULL;
  c->users = 1, c->model = m;
  library_hold(m);
  struct attempt a = attempt_begin(&c->m);
  if (attempt_end(&a, open_cache(c, &mine, &a.why), INCIPIT_INPUT, why)) return c;
  incipit_context_close(c);
  return NULL;
}

/* From its own callback a context cannot be closed: after the callback's return the loop would
   use memory that was freed. A chat keeps the context as a user. The order is that of need: the
   pass and the workers use the store. */
void incipit_context_close(struct incipit_context *c)
{
  if (c == NULL || c->busy || --c->users > 0) return;
  pass_close(c->last);
  pool_close(&c->m, c->e.pool);
  store_close(c->s);
  memory_free(&c->m, c->place);
  incipit_model_close(c->model);
  library_delete(c);
}

/* From four places: the model's files, the cache, the context's struct memory, and the
   counters. A newer program's structure may be longer than ours: the rest becomes 0. */
bool incipit_context_report(const struct incipit_context *c,
  struct incipit_report *r, size_t size, struct incipit_error *why)
{
  if (!library_given(c, __func__, "the context", why)
      || !library_size(r, size, sizeof *r, __func__, why)) return false;
  struct cache_state state = cache_look(c->s);
  struct incipit_report mine = {
    .weight_bytes = footprint_weights(c->model->lm),
    .cache_bytes = state.bytes, .cache_bytes_used = state.bytes_used,
    .live_bytes = c->m.all.live, .peak_bytes = c->m.all.peak,
    .passes = c->counters.passes, .rows = c->counters.rows,
    .rows_recomputed = c->counters.kv_rows_recomputed };
  memset(r, 0, size);
  memcpy(r, &mine, sizeof mine);
  return true;
}

static bool no_place(const struct incipit_context *c, const char *call,
  struct incipit_error *why)
{
  return library_fail(why, INCIPIT_FULL, "%s: all %u sequences of the context are"
    " open; wanted: one that is closed", call, (unsigned) c->n_places);
}

bool incipit_sequence_open(struct incipit_context *c, uint32_t *sequence,
  struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_given(sequence, __func__, "sequence", why)) return false;
  if (!library_take_place(c, &place)) return no_place(c, __func__, why);
  *sequence = name_of(c, place);
  return true;
}

/* Closing a sequence twice is a misuse like any other: its number is no longer that of an open
   one. */
bool incipit_sequence_close(struct incipit_context *c, uint32_t sequence,
  struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  library_leave_place(c, place);
  return true;
}

/* Changes nothing, so it is allowed at any time, even from a callback. */
bool incipit_sequence_length(const struct incipit_context *c, uint32_t sequence,
  size_t *length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_given(c, __func__, "the context", why)
      || !library_given(length, __func__, "length", why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  *length = store_length(c->s, place);
  return true;
}

/* Takes a place first; if the cache cannot share its pages, the place goes back as if it had
   never been taken. */
bool incipit_sequence_fork(struct incipit_context *c, uint32_t from, uint32_t *to,
  struct incipit_error *why)
{
  uint32_t old, place;
  if (!library_idle(c, __func__, why) || !library_given(to, __func__, "to", why)
      || !library_sequence(c, from, __func__, &old, why)) return false;
  if (!library_take_place(c, &place)) return no_place(c, __func__, why);
  struct attempt a = attempt_begin(&c->m);
  bool ok = store_fork(c->s, old, place, &a.why);
  if (ok) *to = name_of(c, place);
  else library_return_place(c, place);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}

/* A length beyond the end is refused, because there are no rows that it could mean. */
bool incipit_sequence_crop(struct incipit_context *c, uint32_t sequence,
  size_t length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_sequence(c, sequence, __func__, &place, why)) return false;
  size_t has = store_length(c->s, place);
  if (length > has) return library_fail(why, INCIPIT_MISUSE, "%s: the sequence has"
    " %zu rows; wanted: a length of at most that, and not %zu", __func__, has, length);
  store_crop(c->s, place, length);
  return true;
}

bool incipit_sequence_keep(struct incipit_context *c, uint32_t sequence,
  const uint32_t *id, size_t n, size_t *length, struct incipit_error *why)
{
  uint32_t place;
  if (!library_idle(c, __func__, why)
      || !library_given(length, __func__, "length", why)
      || !library_sequence(c, sequence, __func__, &place, why)
      || !library_ids(c->model, id, n, __func__, why)) return false;
  *length = store_match_prefix(c->s, place, id, n);
  return true;
}

/* We check the rows ourselves, although the store would do so too: its sentences speak of
   places, and the caller knows the numbers of sequences. After these checks the store can
   refuse a pass only because it is full or because memory is refused, so the code is known. The
   store would take rows in any order; a caller who gives them in another has most likely
   miscounted, so they must be in order here. next counts on as rows are taken. */
static bool take_row(struct incipit_context *c, const struct incipit_row *from,
  size_t i, struct row *to, struct incipit_error *why)
{
  static const char *const call = "incipit_forward";
  if (!library_sequence(c, from->sequence, call, &to->sequence, why)
      || !library_ids(c->model, &from->token, 1, call, why)) return false;
  size_t next = c->place[to->sequence].next++, has = c->model->lm->config.n_positions;
  to->position = from->position, to->token = from->token;
  if (from->position != next) return library_fail(why, INCIPIT_MISUSE, "%s: row %zu"
    " is at position %u of sequence %u; wanted: %zu, the next", call, i,
    (unsigned) from->position, (unsigned) from->sequence, next);
  return next < has || library_fail(why, INCIPIT_FULL, "%s: row %zu is at position"
    " %zu; the context holds %zu", call, i, next, has);
}

static bool take_rows(struct incipit_context *c, const struct incipit_row *rows,
  size_t n, struct row *to, struct incipit_error *why)
{
  for (uint32_t i = 0; i < c->n_places; i++)
    c->place[i].next = store_length(c->s, i);
  for (size_t i = 0; i < n; i++)
    if (!take_row(c, &rows[i], i, &to[i], why)) return false;
  return true;
}

/* The old pass stays until the new one is there: after a failure incipit_logits still
   has the last good one. */
bool incipit_forward(struct incipit_context *c, const struct incipit_row *rows,
  size_t n, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why)
      || !library_given(rows, __func__, "the list of rows", why)) return false;
  if (n == 0) return library_fail(why, INCIPIT_MISUSE,
    "%s: there are no rows; wanted: 1 or more", __func__);
  struct attempt a = attempt_begin(&c->m);
  struct row *mine = memory_alloc(&c->m, MEMORY_OTHER, n, sizeof *mine, &a.why);
  if (mine == NULL) return attempt_end(&a, false, INCIPIT_MEMORY, why);
  struct pass *made;
  bool taken = take_rows(c, rows, n, mine, why);
  bool ok = taken && model_forward(&c->e, c->model->lm, c->s, mine, n, &made, &a.why);
  if (ok) {
    pass_close(c->last);
    c->last = made;
  }
  memory_free(&c->m, mine);
  return taken && attempt_end(&a, ok, INCIPIT_FULL, why);
}

/* If the hidden state of a row is not finite, its logits would be of no use. Row by row, such a
   row is refused before any logits are computed, and the sentence names the layer after which
   it happened. */
bool incipit_logits(struct incipit_context *c, const size_t *which, size_t n,
  float *logits, struct incipit_error *why)
{
  if (!library_idle(c, __func__, why)
      || !library_given(which, __func__, "the list of rows", why)
      || !library_given(logits, __func__, "the room for logits", why)) return false;
  if (c->last == NULL) return library_fail(why, INCIPIT_MISUSE, "%s: there is no"
    " pass; wanted: a call of incipit_forward that succeeded", __func__);
  struct attempt a = attempt_begin(&c->m);
  for (size_t i = 0; i < n; i++) {
    if (which[i] >= c->last->n) return library_fail(why, INCIPIT_MISUSE, "%s: row %zu"
      " of the pass; wanted: below %zu", __func__, which[i], c->last->n);
    if (!pass_is_finite(c->model->lm, c->last, which[i], &a.why))
      return attempt_end(&a, false, INCIPIT_NO_CHOICE, why);
  }
  bool ok = model_logits(&c->e, c->model->lm, c->last, which, n, logits, &a.why);
  return attempt_end(&a, ok, INCIPIT_MISUSE, why);
}
