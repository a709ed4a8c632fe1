/* pass.c -- what goes with a forward pass besides its arithmetic: checks, arrays, watchers.

   Every array is allocated before the first layer and freed after the last, so that memory cannot
   be refused in the middle of the work. A pass is checked, opened, and closed whether it succeeded
   or not; pass_close and work_close accept what is half open. The steps of a layer are in
   forward.c (chapter 2), which calls these functions and is never called by them. */

#include <inttypes.h>
#include <string.h>
#include "model/experts.h"
#include "model/work.h"
#include "safetensors/tensor_file.h"

/* -- a pass outlives its work, because the caller decides later which rows shall have logits -- */

/* Of the three requests each may be refused; what has been granted by then goes back through
   pass_close. */
static struct pass *pass_open(struct memory *m, const struct buffers *b, size_t n,
  uint32_t d_model, struct error *why)
{
  struct pass *p = memory_alloc(m, MEMORY_ACTIVATIONS, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  *p = (struct pass) { .m = m, .memory = b, .n = n, .d_model = d_model };
  p->hidden = b->alloc(b, m, MEMORY_ACTIVATIONS, n, d_model * sizeof(float), why);
  if (p->hidden != NULL)
    p->first_bad_layer = memory_alloc(m, MEMORY_ACTIVATIONS, n,
      sizeof *p->first_bad_layer, why);
  for (size_t i = 0; p->first_bad_layer != NULL && i < n; i++) p->first_bad_layer[i]
    = PASS_FINITE;
  if (p->first_bad_layer != NULL) return p;
  pass_close(p);
  return NULL;
}

/* A pass knows its sizes and the memory it came from, so it can be closed without store or model at
   hand. */
void pass_close(struct pass *p)
{
  if (p == NULL) return;
  memory_free(p->m, p->first_bad_layer);
  p->memory->release(p->memory, p->m, p->hidden);
  memory_free(p->m, p);
}

/* A caller that cannot use a row that is not finite asks before. */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why)
{
  uint32_t at = p->first_bad_layer[i];
  if (at == PASS_FINITE) return true;
  if (at == 0)
    return error_say(why, "%s: the embedding of row %zu is not finite; wanted: finite logits",
      tensor_file_path(lm->weights), i);
  return error_say(why, "%s: row %zu is not finite after layer %" PRIu32
    " of %" PRIu32 "; wanted: finite logits", tensor_file_path(lm->weights), i, at,
    lm->config.n_layers);
}

/* -- checks -- */

/* An id is an index into a table of weights, and no earlier check knew the size of the table;
   positions are checked by the store. The longest range that a row sees decides how much scratch
   memory attention needs. It is at most the context: a row beyond that is going to be refused by
   the store, and must not ask for memory before. */
static bool rows_check(const struct model *lm, const struct row *rows, size_t n,
  size_t context, size_t *max_len, struct error *why)
{
  *max_len = 1;
  if (n == 0) return error_say(why, "the pass has no rows; wanted: 1 or more");
  for (size_t i = 0; i < n; i++) {
    if (rows[i].token >= lm->config.vocab_size)
      return error_say(why, "the token of row %zu is %" PRIu32 "; wanted:"
        " below %" PRIu32 ", the size of the vocabulary", i, rows[i].token,
        lm->config.vocab_size);
    if (rows[i].position >= *max_len) *max_len = (size_t) rows[i].position + 1;
  }
  if (*max_len > context) *max_len = context;
  return true;
}

/* Kernels can read keys and values only in their own memory, so a store has to be opened for the
   memory of the kernels that will use it. */
static bool same_memory(const struct engine *e, const struct store *s,
  struct error *why)
{
  if (s->memory == e->k->memory) return true;
  return error_say(why, "the store's keys and values are not in the memory of the"
    " kernels %s; wanted: a store that was opened for these kernels", e->k->name);
}

/* A build in which a*b+c is contracted is refused here, so that no pass is ever computed with other
   bits than those of the definition. So is a table that cannot multiply the model's matrices: the
   model was checked for one table when it was opened, but the engine may have another. */
bool work_check(struct work *w, const struct row *rows, struct error *why)
{
  const struct kernels *k = w->e->k;
  return kernels_self_test(k, why)
    && kernels_check_settings(k, &w->lm->config,
      tensor_file_path(w->lm->weights), why)
    && kernels_check_types(k,
      w->lm->matrix_types, tensor_file_path(w->lm->weights), why)
    && kernels_check_activations(k, w->e->activations, w->lm->matrix_types,
      tensor_file_path(w->lm->weights), why)
    && same_memory(w->e, w->s, why)
    && rows_check(w->lm, rows, w->n, w->s->n_positions, &w->max_seen, why);
}

/* -- the arrays -- */

/* The arrays that kernels fill are in the memory of the backend. If that is the host, they come
   from the arena, which may have kept them. Other memory is allocated by the backend and released
   at the end of the pass; a backend that wants to keep it for the next one can do so itself. */
static void *work_array(struct work *w, size_t count, size_t size, struct error *why)
{
  const struct buffers *b = w->memory;
  if (b->is_host)
    return arena_alloc(w->d, MEMORY_ACTIVATIONS, count, size, why);
  void *p = w->d->refused ? NULL
    : b->alloc(b, w->s->m, MEMORY_ACTIVATIONS, count, size, why);
  if (p == NULL) w->d->refused = true;
  else w->lent[w->n_lent++] = p;
  return p;
}

static void work_release(struct work *w)
{
  while (w->n_lent > 0)
    w->memory->release(w->memory, w->s->m, w->lent[--w->n_lent]);
}

/* Workspace is reserved for the largest of what a layer multiplies. */
static size_t larger(size_t a, size_t b)
{ return a > b ? a : b; }
static size_t mlp_room(const struct kernels *k, const struct matrix *up, size_t n_up,
  const struct matrix *down, size_t n)
{ return larger(k->room(up, n_up, n), k->room(down, 1, n)); }

/* The rows of an expert are at most all. */
static size_t experts_room(const struct kernels *k, const struct mixture *x, size_t n)
{
  const struct expert_mlp *one = &x->expert[0], *shared = &x->shared;
  size_t most = larger(k->room(&x->router, 1, n), mlp_room(k, one->up, expert_ups(one), &one->down, n));
  if (x->shared_gate.weight.data == NULL) return most;
  most = larger(most, k->room(&x->shared_gate, 1, n));
  return larger(most, mlp_room(k, shared->up, 2, &shared->down, n));
}

/* All layers have matrices of the same shapes, so it is enough to ask for the first; but a model with
   experts may have layers of two kinds. */
static bool reserve_room(const struct work *w, struct error *why)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  const struct model_layer *l = &w->lm->layers[0];
  size_t n = w->n, most = larger(k->room(l->qkv, l->n_qkv, n), k->room(&l->out, 1, n));
  most = larger(most, k->attention_room(&w->lm->attention, n, w->max_seen));
  for (uint32_t i = 0; i < (c->n_experts > 0 ? c->n_layers : 1); i++, l++)
    most = larger(most, l->experts != NULL ? experts_room(k, l->experts, n)
      : mlp_room(k, l->up, l->n_up, &l->down, n));
  return pool_reserve(w->e->pool, most, why);
}

/* The other arrays are not as wide as a row. Attention needs scratch memory for each worker, since
   several heads are computed at the same time; and if a watcher wants to see the weights, an array
   as wide as the longest range: the one array here that grows with the square of a prompt. */
static void arrays_open_rest(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  enum memory_class what = MEMORY_ACTIVATIONS;
  size_t n = w->n, wide = w->max_seen * sizeof (float);
  w->id = arena_alloc(w->d, what, n, sizeof *w->id, why);
  w->position = arena_alloc(w->d, what, n, sizeof *w->position, why);
  w->seen = arena_alloc(w->d, what, n, sizeof *w->seen, why);
  w->scratch = work_array(w, pool_workers(w->e->pool),
    kernels_scratch(&w->lm->attention, w->max_seen) * sizeof (float), why);
  if (w->lm->neighbours && !w->memory->is_host)
    w->spare = arena_alloc(w->d, what, n * w->q_width + c->head_dim, sizeof (float), why);
  if (c->n_experts > 0) {
    w->chosen = arena_alloc(w->d, what, n * c->n_chosen, 2 * sizeof *w->chosen, why);
    w->by_expert = w->chosen == NULL ? NULL : w->chosen + n * c->n_chosen;
  }
  w->weights = NULL;
  if (w->watch != NULL && w->watch->weights)
    w->weights = work_array(w, n * c->n_heads, wide, why);
}

/* A pass in other memory needs two more: the marks of rows that are not finite, which are copied to
   the host at the end, and, if there is a watcher, an array on the host for what it is shown. */
static void arrays_open_lent(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  w->first_bad = w->p->first_bad_layer;
  if (w->memory->is_host) return;
  bool weights = w->watch != NULL && w->watch->weights;
  size_t shown[] = { c->d_model, c->d_inner, w->q_width, w->kv_width,
    weights ? c->n_heads * w->max_seen : 0 }, most = 0;
  for (int i = 0; i < 5; i++)
    if (shown[i] > most) most = shown[i];
  w->first_bad = work_array(w, w->n, sizeof *w->first_bad, why);
  if (w->watch != NULL)
    w->shown = arena_alloc(w->d, MEMORY_ACTIVATIONS, w->n, most * sizeof (float), why);
}

/* The sizes come from the settings, which the shapes of the weights have confirmed; a product with
   the number of rows is checked by memory_alloc. An array that a kind of model does not use has no
   numbers. The arrays that have a vector for each row are neighbours in one block, which is
   proportional to the number of rows and does not depend on how long the text is. */
enum { N_ARRAYS = 16 };

/* where its address goes; numbers a row */
struct pass_array { float **at; size_t width; };
static bool arrays_open(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, half = config_rotary(c) / 2;
  w->q_width = (size_t) c->n_heads * c->head_dim;
  w->kv_width = (size_t) c->n_kv_heads * c->head_dim;
  size_t local = w->lm->local_frequency == NULL ? 0 : half;
  size_t inner = config_widest(c), chosen = c->n_experts > 0 ? c->d_model : 0;
  bool fused = w->lm->layers[0].n_qkv == 1, gated = c->gated;
  struct pass_array part[N_ARRAYS] = { { &w->normed, c->d_model },
    { &w->fused, fused ? 3 * w->q_width : 0 }, { &w->q, w->q_width },
    { &w->k, w->kv_width }, { &w->v, w->kv_width }, { &w->mixed, w->q_width },
    { &w->added, c->d_model }, { &w->inner, inner },
    { &w->up, gated ? inner : 0 }, { &w->router, c->n_experts },
    { &w->gathered, chosen }, { &w->answered, chosen }, { &w->cosine[0], half }, { &w->sine[0], half },
    { &w->cosine[1], local }, { &w->sine[1], local } };
  size_t width = 0;
  for (int i = 0; i < N_ARRAYS; i++) width += part[i].width;
  float *rows = work_array(w, n, width * sizeof *rows, why);
  for (int i = 0; i < N_ARRAYS && rows != NULL; i++) {
    *part[i].at = rows;
    rows += n * part[i].width;
  }
  arrays_open_rest(w, why);
  arrays_open_lent(w, why);
  return !w->d->refused && reserve_room(w, why);
}

/* If the engine has workers, their pool keeps an arena, and the next pass finds the same blocks
   there: a pass of a small model is over so soon that allocating, zeroing and freeing would be
   noticed. Without workers the arena lasts for this pass. The stream of the layers is the pass's
   own array of hidden states from the start, so that nothing has to be copied at the end. */
bool work_open(struct work *w, struct error *why)
{
  const struct buffers *b = w->memory;
  struct arena *kept = pool_arena(w->e->pool, w->s->m);
  w->own = (struct arena) { .m = w->s->m };
  w->d = kept != NULL ? kept : &w->own;
  w->p = pass_open(w->s->m, b, w->n, w->lm->config.d_model, why);
  if (w->p == NULL || !arrays_open(w, why)) return false;
  w->x = w->p->hidden;
  if (!b->is_host)
    b->set(b, w->first_bad, w->p->first_bad_layer, w->n * sizeof *w->first_bad);
  return true;
}

bool work_close(struct work *w, bool done, struct error *why)
{
  const struct buffers *b = w->memory;
  size_t marks = w->n * sizeof *w->first_bad;
  if (done && !b->is_host) b->get(b, w->p->first_bad_layer, w->first_bad, marks);
  work_release(w);
  arena_free(&w->own);
  if (w->d != &w->own) arena_reset(w->d);
  return done && b->working(b, why);
}

/* -- what a pass shows, and what is left of it -- */

/* Without a watcher this is one comparison, a dozen times a layer. The watcher is the caller's
   code and runs under the caller's floating-point modes; ours are set again after it. If the array
   is not in the host's memory the watcher sees a copy, and what it changes there is copied back. */
void work_tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width)
{
  const struct buffers *b = w->memory;
  size_t bytes = w->n * width * sizeof *x;
  if (w->watch == NULL) return;
  if (!b->is_host) b->get(b, w->shown, x, bytes);
  float_modes_end(&w->modes);
  w->watch->tap(w->watch->ctx, point, layer, b->is_host ? x : w->shown, w->n, width);
  float_modes_begin(&w->modes);
  if (!b->is_host) b->set(b, x, w->shown, bytes);
}

/* A weight that is not a number makes everything after it not a number, and the answer is then an
   error and not a token. Where it began is cheap to find while the rows are at hand, and cannot be
   found afterwards. */
void work_mark(struct work *w, uint32_t layer)
{
  w->e->k->mark_nonfinite(w->e, w->x, w->n, w->lm->config.d_model, layer, PASS_FINITE,
    w->first_bad);
}

/* -- some rows at a time: nearly all of the time of a pass is spent in products with matrices and in
   attention, and a person who presses Ctrl-C does not want to wait for all rows of a layer. Each
   row is computed from its own numbers, whichever rows come with it, so the bits are the same. -- */

/* A matrix is read again for each group of rows, so the groups should be large. But a group should
   take no more than some hundredths of a second, so of a large matrix it must not have many rows. We
   allow as many rows as need MADDS_AT_ONCE multiply-adds, and in any case ROWS_AT_ONCE, with which
   reading the matrix takes a small part of the time. */
enum { ROWS_AT_ONCE = 64, MADDS_AT_ONCE = 1000000000 };
size_t work_rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from)
{
  size_t left = w->n - from, most = 0;
  for (size_t i = 0; i < n; i++) most += list[i].in * list[i].out;
  most = MADDS_AT_ONCE / most;
  if (most < ROWS_AT_ONCE) most = ROWS_AT_ONCE;
  return w->e->progress == NULL || left < most ? left : most;
}

/* Attention is asked for fewer rows, as each of them looks at many positions. */
static size_t segments_at_once(const struct work *w, size_t from)
{
  size_t k = from, rows = 0;
  if (w->e->progress == NULL) return w->n_seen - from;
  while (k < w->n_seen && (rows += w->seen[k].n_rows) <= ROWS_AT_ONCE) k++;
  return k - from;
}

void work_ask(struct work *w)
{
  w->goes_on = w->goes_on && progress_tell(w->e->progress, w->done, w->n);
}

/* A rotation turns numbers i and i+half of a head together; in some files the rows of the matrices
   are in another order, so that the two numbers come out as neighbours. We could put the rows in
   order when the model is opened; an earlier version did, and copied a tenth of the weights before
   the first token. It is cheaper to put the results in order, which are some numbers for each row of
   a pass. No sum changes, since each number is the same product wherever it is stored. */
static void gather_heads(float *x, size_t heads, size_t d, size_t half, float *one)
{
  for (size_t h = 0; h < heads; h++, x += d) {
    for (size_t i = 0; i < half; i++)
      one[i] = x[2 * i], one[half + i] = x[2 * i + 1];
    memcpy(x, one, 2 * half * sizeof *x);
  }
}

/* If the memory is not the host's, the numbers make a journey to the host and back; a backend for
   which that is too slow can have a kernel for it. On the host a head is put in order where attention
   will have its scratch, which has room for one. */
static void gather_rows(struct work *w, float *x, size_t heads)
{
  const struct buffers *b = w->memory;
  size_t d = w->lm->config.head_dim, bytes = heads * d * sizeof *x;
  float *at = b->is_host ? x : w->spare + d, *one = b->is_host ? w->scratch : w->spare;
  if (!b->is_host) b->get(b, at, x, bytes);
  gather_heads(at, heads, d, config_rotary(&w->lm->config) / 2, one);
  if (!b->is_host) b->set(b, x, at, bytes);
}

void work_gather_pairs(struct work *w)
{
  gather_rows(w, w->q, w->n * w->lm->config.n_heads);
  gather_rows(w, w->k, w->n * w->lm->config.n_kv_heads);
}

/* The keys and values of all rows are stored before the first row attends, so it does not matter
   which rows attend together. If the caller wants to be asked, no segment is longer than a group. */
void work_segments(struct work *w, uint32_t layer)
{
  w->n_seen = store_segments(w->s, layer,
    w->e->progress == NULL ? w->n : ROWS_AT_ONCE, w->seen);
}

void work_attend(struct work *w, const struct attention_dims *h, bool weights)
{
  struct attention_probe probe = { w->weights, w->max_seen };
  for (size_t k = 0, here; k < w->n_seen && w->goes_on; k += here) {
    here = segments_at_once(w, k);
    w->e->k->attend(w->e, h, w->q, w->seen + k, here, w->scratch, w->mixed,
      weights ? &probe : NULL);
    work_ask(w);
  }
}
