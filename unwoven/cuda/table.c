/* table.c -- a device as a table of kernels: each function turns its arguments into a launch;
   and opening a device, asking it how fast it is, choosing a token there.

   Hidden states, keys and values are on the device already: x, y and the like are its addresses
   and are never read here. Weights are looked for among the copies that were prepared when the
   model was opened. Small lists (ids, positions, pages, tiles) go through device_send; a
   function reserves all it will send before it sends the first (queue.h), and may have to wait
   there. Otherwise only opening, choosing and measuring wait for the device. A failure is noted
   in the device, and the pass learns of it when it asks buffers.working. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cuda/queue.h"
#include "ground/timing.h"

/* The kernels have their own names for the types, since their file does not see our headers.
   They must be the same numbers. */
_Static_assert((int) DEVICE_F32 == (int) WEIGHT_F32 && (int) DEVICE_F16 == (int) WEIGHT_F16
  && (int) DEVICE_BF16 == (int) WEIGHT_BF16 && (int) DEVICE_Q8_0 == (int) WEIGHT_Q8_0
  && (int) DEVICE_Q4_0 == (int) WEIGHT_Q4_0, "types of numbers");

/* the types of matrices that a device reads, bit 1 << type for each; a model that has others is
   refused before its first pass */
enum { DEVICE_WEIGHTS = 1 << WEIGHT_F32 | 1 << WEIGHT_F16 | 1 << WEIGHT_BF16
  | 1 << WEIGHT_Q8_0 };
_Static_assert((int) WORK_few_q8_1 == (int) WORK_few_f32_1 + 4 * (int) WEIGHT_Q8_0
  && (int) WORK_many_q8 == (int) WORK_many_f32 + (int) WEIGHT_Q8_0, "the order of kernels");
_Static_assert((int) DEVICE_SILU == (int) ACTIVATION_SILU
  && (int) DEVICE_GELU_TANH == (int) ACTIVATION_GELU_TANH, "activations");

/* ---- launches */

/* The device is found by its memory, which is its first member. */
static struct device *device_of(const struct engine *e)
{ return (struct device *) (uintptr_t) e->k->memory; }
/* Zeroed first, so that two launches with equal arguments are equal bytes: a graph is told only
   of those that differ. */
static struct launch launch_of(enum kernel_work work, size_t x, size_t y, unsigned threads)
{
  struct launch l;
  memset(&l, 0, sizeof l);
  l.work = work, l.threads = threads;
  l.x = (uint32_t) x, l.y = (uint32_t) y;
  l.z = 1;
  return l;
}

/* One element for each thread, or some, a grid apart (ELEMENTS_OF). */
static struct launch launch_each(enum kernel_work work, size_t n)
{
  size_t blocks = (n + 255) / 256;
  return launch_of(work, blocks > WIDEST ? WIDEST : blocks, 1, 256);
}

/* ---- weights

   A matrix is stored on the device by outputs, whatever order its file has, each row padded with
   zeros to a multiple of 16 numbers, so that two neighbours always come in one load. A row of
   Q8_0 has first all its bytes and then its scales, since a block of 34 bytes would be at odd
   addresses. */

static size_t stride_of(const struct matrix *w)
{
  size_t row = w->in + (w->weight.type == WEIGHT_Q8_0 ? w->in / 16 : 0);
  return (row + 15) / 16 * 16;
}

static size_t row_bytes_of(const struct matrix *w)
{
  enum weight_type type = w->weight.type;
  if (type == WEIGHT_Q8_0) return stride_of(w);
  return stride_of(w) * (type == WEIGHT_F32 ? 4 : 2);
}

static size_t device_prepared_bytes(const struct matrix *w, enum activations format)
{
  (void) format;
  bool is_read = (DEVICE_WEIGHTS >> w->weight.type & 1) != 0;
  return is_read ? w->out * row_bytes_of(w) : 0;
}

/* to: zeroed, as what memory_alloc gives; the padding stays zero */
static void arrange_row(const struct matrix *w, size_t o, char *to)
{
  size_t one = w->weight.type == WEIGHT_F32 ? 4 : 2, step = w->transposed ? w->out : 1;
  const char *from = (const char *) w->weight.data;
  if (w->weight.type == WEIGHT_Q8_0) {
    from += weight_row_bytes(WEIGHT_Q8_0, o * w->in);
    for (size_t b = 0; b < w->in / 32; b++, from += 34)
      memcpy(to + w->in + 2 * b, from, 2), memcpy(to + 32 * b, from + 2, 32);
    return;
  }
  from += (w->transposed ? o : o * w->in) * one;
  for (size_t k = 0; k < w->in; k++) memcpy(to + k * one, from + k * step * one, one);
}

static void arrange(const struct matrix *w, enum activations format, void *to)
{
  (void) format;
  for (size_t o = 0; o < w->out; o++) arrange_row(w, o, (char *) to + o * row_bytes_of(w));
}

/* What a kernel is given of a tensor follows from its shape and its place. */
static struct stored_rows stored_at(const struct matrix *w, const void *at)
{
  const void *scale = (const char *) at + w->in;
  return (struct stored_rows) { at, w->weight.type == WEIGHT_Q8_0 ? scale : NULL,
    (uint32_t) w->weight.type, (uint32_t) stride_of(w) };
}

/* Weights that were not prepared are sent for one launch. The blocks are given back as soon as
   it is in the list, so lent never holds more than one launch can need: a matrix and a bias for
   each part. Tests call kernels like that; an engine that does is slow, but not wrong. */
static void *send_for_now(struct device *d, const struct matrix *w)
{
  size_t bytes = device_prepared_bytes(w, ACTIVATIONS_DEFAULT);
  struct error why = { "" };
  if (bytes == 0) return device_fails(d, "a tensor of a type that it cannot read"), NULL;
  char *ready = memory_alloc(d->m, MEMORY_OTHER, bytes, 1, &why);
  void *p = ready == NULL ? NULL
    : d->memory.alloc(&d->memory, d->m, MEMORY_WEIGHTS, bytes, 1, &why);
  if (p != NULL) {
    arrange(w, ACTIVATIONS_DEFAULT, ready);
    d->memory.set(&d->memory, p, ready, bytes);
    d->lent[d->n_lent++] = p;
  } else device_fails(d, why.text);
  memory_free(d->m, ready);
  return p;
}

/* A block goes back as soon as the launch is in the list: it is used again only by what comes
   after. */
static void take_back(struct device *d)
{
  while (d->n_lent > 0) d->memory.release(&d->memory, d->m, d->lent[--d->n_lent]);
}

static struct stored_rows tensor_here(const struct engine *e, const struct matrix *w)
{
  if (w->weight.data == NULL) return (struct stored_rows) { .data = NULL };
  const void *at = prepared_find(e, w);
  if (at == NULL) at = send_for_now(device_of(e), w);
  return at == NULL ? (struct stored_rows) { .data = NULL } : stored_at(w, at);
}

static struct stored_rows vector_here(const struct engine *e, struct tensor t, size_t n)
{
  struct matrix w = { .weight = t, .in = n, .out = 1 };
  return tensor_here(e, &w);
}

/* ---- linear layers */


/* the kernels; outputs a block with few rows; rows and outputs a block with many */
struct shape { enum kernel_work few, many; unsigned outputs, tall, wide; };

/* Matrices of one type go into one launch, one after the other in the grid's first direction.
   With few rows there is a kernel for each power of two up to 8, and more rows take several rows
   of blocks; the kernels for many rows have one of each type. The tensor core has one kernel for
   all of the few, since it takes sixteen rows anyway. */
static void launch_linear(struct device *d, struct linear_args *a, const struct shape *s)
{
  bool few = a->rows <= 16;
  unsigned power = 0;
  while (power < 3 && 1u << power < a->rows) power++;
  unsigned per = few ? s->outputs : s->wide;
  size_t y = few ? (a->rows + (1u << power) - 1) >> power : (a->rows + s->tall - 1) / s->tall;
  enum kernel_work work = few ? s->few + power : s->many;
  if (s->few == WORK_halves_few && few) work = s->few, y = 1;
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    a->of[i].first = blocks;
    blocks += (a->of[i].out + per - 1) / per;
  }
  struct launch l = launch_of(work, blocks, y, few ? 128 : 256);
  l.a.linear = *a;
  device_launch(d, &l);
  take_back(d);
}

/* The parts of a launch are matrices that stand side by side in the list and have the same type;
   returns how many. */
static size_t gather_parts(const struct engine *e, const struct matrix *list, size_t n,
  float *const *y, struct linear_args *a)
{
  size_t i = 0;
  memset(a->of, 0, sizeof a->of);
  for (; i < n && i < MOST_PARTS && list[i].weight.type == list[0].weight.type; i++) {
    a->of[i].weight = tensor_here(e, &list[i]);
    a->of[i].bias = vector_here(e, list[i].bias, list[i].out);
    a->of[i].y = y[i], a->of[i].out = (uint32_t) list[i].out;
  }
  a->n = (uint32_t) i, a->in = (uint32_t) list[0].in;
  return i;
}

static void device_linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  for (size_t i = 0, done; i < n; i += done) {
    struct linear_args a = { .x = x, .rows = (uint32_t) rows };
    done = gather_parts(e, list + i, n - i, y + i, &a);
    enum weight_type type = list[i].weight.type;
    struct shape s = { WORK_few_f32_1 + 4 * (unsigned) type, WORK_many_f32 + (unsigned) type,
      16, 32, 32 };
    launch_linear(device_of(e), &a, &s);
  }
}

/* ---- linear layers with rounded inputs */

/* One slice of rows that were rounded, by all matrices of the list: the results go where the
   slice's rows are. */
static void launch_slice(const struct engine *e, const struct matrix *list, size_t n, size_t row,
  struct linear_args *a, const struct shape *s, float *const *y)
{
  for (size_t i = 0, done; i < n; i += done) {
    done = gather_parts(e, list + i, n - i, y + i, a);
    for (size_t j = 0; j < done; j++) a->of[j].y += row * a->of[j].out;
    launch_linear(device_of(e), a, s);
  }
}

/* The rounded inputs of as many rows at a time as the workspace has room for: most. */
static void device_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct device *d = device_of(e);
  struct shape s = { WORK_halves_few, WORK_halves_many, 8, 128, 64 };
  size_t in = list[0].in, words = (in + 15) / 16 * 8, most = d->work_bytes / (4 * words);
  if (most == 0) device_fails(d, "a row of inputs is larger than the workspace");
  for (size_t r = 0, now; r < rows && most > 0; r += now) {
    now = rows - r < most ? rows - r : most;
    struct launch l = launch_each(WORK_halves_of_rows, now * words);
    l.a.halves = (struct halves_args) { x + r * in, (uint32_t *) (void *) d->work,
      (uint32_t) now, (uint32_t) in, (uint32_t) words, 0 };
    device_launch(d, &l);
    struct linear_args a = { .h = (uint16_t *) (void *) d->work, .rows = (uint32_t) now };
    launch_slice(e, list, n, r, &a, &s, y);
  }
}

/* The workspace has the bytes of all rows, and their scales after them. */
static void round_inputs(struct device *d, struct linear_args *a)
{
  size_t n = (size_t) a->rows * a->in;
  struct launch l = launch_each(WORK_bytes_of_rows, n / 32);
  a->q = (int8_t *) d->work, a->d = (float *) (void *) (d->work + (n + 255) / 256 * 256);
  l.a.bytes = (struct bytes_args) { a->x, (int8_t *) d->work,
    (float *) (void *) (d->work + (n + 255) / 256 * 256), n / 32 };
  device_launch(d, &l);
}

static void device_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  struct device *d = device_of(e);
  struct shape s = { WORK_bytes_1, WORK_bytes_many, 16, 64, 64 };
  size_t most = (d->work_bytes - 256) / (list[0].in + list[0].in / 8);
  if (most == 0) device_fails(d, "a row of inputs is larger than the workspace");
  for (size_t r = 0, now; r < rows && most > 0; r += now) {
    struct linear_args a = { .x = x + r * list[0].in };
    now = rows - r < most ? rows - r : most;
    a.rows = (uint32_t) now, a.in = (uint32_t) list[0].in;
    round_inputs(d, &a);
    launch_slice(e, list, n, r, &a, &s, y);
  }
}

/* ---- functions that have no choice to make */

static void device_normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  struct launch l = launch_of(WORK_normalize_rows, rows, 1, 256);
  l.a.norm = (struct norm_args) { .x = x, .y = y, .gain = vector_here(e, g->gain, d),
    .bias = vector_here(e, g->bias, d), .d = (uint32_t) d,
    .centred = g->kind == NORM_LAYER, .epsilon = g->epsilon };
  device_launch(device_of(e), &l);
  take_back(device_of(e));
}

static void device_angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  struct device *d = device_of(e);
  struct launch l = launch_each(WORK_make_angles, rows * half);
  device_reserve(d, rows * sizeof *position + half * sizeof *frequency, 2);
  l.a.angles = (struct angles_args) {
    .position = device_send(d, position, rows * sizeof *position),
    .frequency = device_send(d, frequency, half * sizeof *frequency),
    .cosine = c, .sine = s, .rows = (uint32_t) rows, .half = (uint32_t) half,
    .scaling = scaling };
  device_launch(d, &l);
}

static void device_rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  struct launch l = launch_each(WORK_rotate_rows, rows * n_heads * half);
  l.a.angles = (struct angles_args) { .x = x, .cosine = (float *) (uintptr_t) c,
    .sine = (float *) (uintptr_t) s, .rows = (uint32_t) rows, .half = (uint32_t) half,
    .n_heads = (uint32_t) n_heads };
  device_launch(device_of(e), &l);
}

static void device_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct launch l = launch_each(WORK_activate_rows, n);
  l.a.activate = (struct activate_args) { x, up, y, n, (uint32_t) kind, 0 };
  device_launch(device_of(e), &l);
}

static void device_add(const struct engine *e, float *y, const float *x, size_t n)
{
  struct launch l = launch_each(WORK_add_rows, n);
  l.a.add = (struct add_args) { y, x, n };
  device_launch(device_of(e), &l);
}

/* ---- segments and tiles

   The addresses of a segment's pages are sent with it, or, where a sequence is cut into several
   segments, with the last of them. Positions that a window has left have pages no more; the
   kernels do not look at their entries. */

static size_t pages_of(const struct segment *s)
{
  size_t rows = (size_t) s->first_position + s->n_rows;
  return s->view.page == NULL ? 0 : (rows + s->view.page_rows - 1) / s->view.page_rows;
}

static bool shares_pages(const struct segment *list, size_t n, size_t i)
{
  return i + 1 < n && list[i].view.page == list[i + 1].view.page
    && pages_of(&list[i]) <= pages_of(&list[i + 1]);
}

/* For everything that an attention or a write sends: at most one list of tiles for each slice. */
static void reserve_segments(struct device *d, const struct segment *list, size_t n,
  size_t tiles, size_t slices)
{
  size_t bytes = n * sizeof (struct device_segment) + tiles * sizeof (struct query_tile);
  for (size_t i = 0; i < n; i++)
    if (!shares_pages(list, n, i)) bytes += 8 * pages_of(&list[i]);
  device_reserve(d, bytes, n + slices + 1);
}

/* Sent after their pages, whose addresses on the device are in them; from last to first, so that
   a segment that shares its pages finds them sent already. */
static const struct device_segment *send_segments(struct device *d,
  const struct segment *list, size_t n)
{
  struct error why = { "" };
  struct device_segment *all = memory_alloc(d->m, MEMORY_OTHER, n, sizeof *all, &why);
  if (all == NULL) return device_fails(d, why.text), NULL;
  for (size_t i = n; i-- > 0; ) {
    const struct kv_view *v = &list[i].view;
    all[i] = (struct device_segment) { v->key, v->value, v->row_bytes, v->head_bytes, NULL,
      (uint32_t) v->page_rows, (uint32_t) v->type, v->sinks, list[i].first_row,
      list[i].n_rows, list[i].first_position, list[i].window, 0 };
    _Static_assert(sizeof (uint64_t) == sizeof *v->page, "addresses of 64 bits");
    if (v->page == NULL) continue;
    all[i].page = shares_pages(list, n, i) ? all[i + 1].page
      : device_send(d, v->page, 8 * pages_of(&list[i]));
  }
  const struct device_segment *there = device_send(d, all, n * sizeof *all);
  memory_free(d->m, all);
  return there;
}

/* The tiles of the rows from r0 to r1 of the pass: most rows of a segment, for heads heads of
   each group. With tile null it only counts. */
static size_t cut_tiles(const struct segment *list, size_t n, uint32_t r0, uint32_t r1,
  uint32_t most, uint32_t group, uint32_t heads, struct query_tile *tile)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t from = list[i].first_row > r0 ? list[i].first_row : r0;
    uint32_t end = list[i].first_row + list[i].n_rows;
    end = end < r1 ? end : r1;
    for (uint32_t r = from; r < end; r += most)
      for (uint32_t h = 0; h < group; h += heads, count++)
        if (tile != NULL)
          tile[count] = (struct query_tile) { (uint32_t) i, r - list[i].first_row,
            end - r < most ? end - r : most, h };
  }
  return count;
}

static const struct query_tile *send_tiles(struct device *d, const struct segment *list, size_t n,
  uint32_t r0, uint32_t r1, uint32_t most, uint32_t group, uint32_t heads, size_t *count)
{
  struct error why = { "" };
  *count = cut_tiles(list, n, r0, r1, most, group, heads, NULL);
  struct query_tile *all = memory_alloc(d->m, MEMORY_OTHER, *count, sizeof *all, &why);
  if (all == NULL) return device_fails(d, why.text), NULL;
  cut_tiles(list, n, r0, r1, most, group, heads, all);
  const struct query_tile *there = device_send(d, all, *count * sizeof *all);
  memory_free(d->m, all);
  return there;
}

/* ---- attention */

/* A store has all its rows at addresses that suit their numbers; a caller of the kernels may
   have others. */
static bool all_even(const struct segment *list, size_t n)
{
  uintptr_t all = 0, odd = n > 0 && list[0].view.type == WEIGHT_F32 ? 4 : 2;
  for (size_t i = 0; i < n; i++) {
    const struct kv_view *v = &list[i].view;
    all |= v->key | v->value | v->row_bytes | v->head_bytes;
    for (size_t k = 0; v->page != NULL && k < pages_of(&list[i]); k++)
      all |= (uintptr_t) v->page[k];
  }
  return all % odd == 0;
}

/* What the blocks of a row leave is in the workspace until they are joined, so a long prompt is
   done in slices of rows. The first of them need not be the first row of the pass: an engine
   that reports its progress asks for some rows at a time. CUDA allows 65535 tiles in the third
   direction of a grid; MOST_ROWS stays well below. */
enum { MOST_ROWS = 8192 };
static void attend_slice(const struct engine *e, const struct segment *list, size_t n,
  struct attend_args *a, uint32_t r0, uint32_t r1)
{
  struct device *d = device_of(e);
  uint32_t group = a->n_heads / a->n_kv_heads;
  size_t tiles;
  a->heads = group < 16 ? group : 16, a->first_row = r0;
  a->tile = send_tiles(d, list, n, r0, r1, 16 / a->heads, group, a->heads, &tiles);
  struct launch l = launch_of(WORK_attend_blocks, a->blocks, a->n_kv_heads, 256);
  l.z = (uint32_t) tiles, l.a.attend = *a;
  device_launch(d, &l);
  l = launch_of(WORK_join_blocks, r1 - r0, a->n_heads, 128);
  l.a.attend = *a;
  device_launch(d, &l);
}

static void device_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  struct device *d = device_of(e);
  uint32_t rows = 0, most = 1, first = n > 0 ? list[0].first_row : 0;
  (void) scratch;
  for (size_t i = 0; i < n; i++) {
    if (list[i].first_row < first) first = list[i].first_row;
    uint32_t end = list[i].first_position + list[i].n_rows;
    most = end > most ? end : most, rows += list[i].n_rows;
  }
  if (probe != NULL && probe->stride > most) most = (uint32_t) probe->stride;
  size_t blocks = (most + 255) / 256, group = h->n_heads / h->n_kv_heads;
  size_t slice = d->work_bytes / (h->n_heads * blocks * (h->head_dim + 2) * sizeof (float));
  if (slice > MOST_ROWS / ((group + 15) / 16)) slice = MOST_ROWS / ((group + 15) / 16);
  if (slice == 0) device_fails(d, "a row's blocks of attention are larger than the workspace");
  if (d->failed) return;
  reserve_segments(d, list, n, rows * ((group + 15) / 16), rows / slice + 1);
  struct attend_args a = { .q = q, .left = (float *) (void *) d->work,
    .segment = send_segments(d, list, n), .y = y,
    .weights = probe != NULL ? probe->weights : NULL,
    .stride = probe != NULL ? probe->stride : 0, .n_heads = h->n_heads,
    .n_kv_heads = h->n_kv_heads, .head_dim = h->head_dim,
    .blocks = (uint32_t) blocks, .scale = h->scale, .even = all_even(list, n),
    .suits = ((uintptr_t) q | h->head_dim * sizeof *q) % 16 == 0 };
  size_t end = (size_t) first + rows;
  for (size_t r = first; r < end; r += slice)
    attend_slice(e, list, n, &a, (uint32_t) r, (uint32_t) (r + slice < end ? r + slice : end));
}

/* ---- rows and marks */

/* An embedding is a matrix whose rows are looked up. How many it has is not known here, and
   matters only for weights that were not prepared. */
static void device_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  size_t known = 0;
  for (size_t i = 0; i < rows; i++) known = id[i] >= known ? (size_t) id[i] + 1 : known;
  struct matrix w = { .weight = table, .in = d, .out = known };
  struct launch l = launch_each(WORK_embed_rows, rows * d);
  l.a.move = (struct move_args) { .y = y, .n = rows, .width = d,
    .table = tensor_here(e, &w) };
  device_reserve(device_of(e), rows * sizeof *id, 1);
  l.a.move.id = device_send(device_of(e), id, rows * sizeof *id);
  device_launch(device_of(e), &l);
  take_back(device_of(e));
}

/* The kernel has room for MOST_PARTS addresses; more would be written beyond the launch. */
static void device_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y)
{
  struct launch l = launch_each(WORK_split_rows, rows * n * width);
  if (n > MOST_PARTS) { device_fails(device_of(e), "rows in more parts than a launch takes"); return; }
  l.a.split = (struct split_args) { .x = x, .rows = rows, .n = n, .width = width };
  for (size_t i = 0; i < n; i++) l.a.split.y[i] = y[i];
  device_launch(device_of(e), &l);
}

static void device_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y)
{
  struct device *on = device_of(e);
  struct launch l = launch_each(WORK_gather_rows, n * d);
  device_reserve(on, n * sizeof *which, 1);
  l.a.move = (struct move_args) { .x = x, .y = y, .n = n, .width = d,
    .which = device_send(on, which, n * sizeof *which) };
  _Static_assert(sizeof *which == 8, "sizes of 64 bits");
  device_launch(on, &l);
}

/* One row a tile. The formats are those of the device's kernel, so the host's encode is not
   asked. */
static void device_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v)
{
  struct device *d = device_of(e);
  struct launch l;
  size_t tiles, rows = 0;
  (void) encode;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  reserve_segments(d, list, n, rows, 1);
  const struct device_segment *segment = send_segments(d, list, n);
  const struct query_tile *tile = send_tiles(d, list, n, 0, UINT32_MAX, 1, 1, 1, &tiles);
  l = launch_of(WORK_write_rows, tiles, 1, 128);
  l.a.write = (struct write_args) { segment, tile, k, v, h->n_kv_heads, h->head_dim };
  device_launch(d, &l);
}

static void device_mark(const struct engine *e, const float *x, size_t rows, size_t d,
  uint32_t mark, uint32_t none, uint32_t *first)
{
  struct launch l = launch_of(WORK_mark_rows, rows, 1, 128);
  l.a.mark = (struct mark_args) { x, first, (uint32_t) d, mark, none, 0 };
  device_launch(device_of(e), &l);
}

/* ---- the choice of a token */

/* 64 blocks choose, each in its share of the vocabulary, and one thread chooses among the 64.
   The sampler refuses logits that are NaN or infinite, and so does this function: to the kernel
   such a logit is the best of all. */
bool device_choose(const struct device *at, const float *logits, uint32_t n,
  double temperature, uint64_t seed, uint32_t sequence, uint32_t position, uint32_t *id,
  struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) at;
  struct best_token best = { 0, 0, 0 };
  struct launch l = launch_of(WORK_choose_parts, 64, 1, 256);
  l.a.choose = (struct choose_args) { logits, (struct best_token *) (void *) d->work, seed,
    temperature, n, 64, sequence, position };
  device_launch(d, &l);
  l.work = WORK_choose_token;
  l.x = 1, l.threads = 32;
  device_launch(d, &l);
  d->memory.get(&d->memory, &best, d->work, sizeof best);
  *id = best.id;
  if (!d->memory.working(&d->memory, why)) return false;
  if (best.score == -INFINITY)
    return error_say(why, "all %u logits are -inf; wanted: a token to choose", n);
  return best.score < INFINITY || error_say(why, "logit %u is nan or infinite;"
    " wanted: a number, or -inf for a token that is out", best.id);
}

/* ---- how fast is it?

   The yardsticks of chapter 5's roofline: a copy of many bytes, ten times, and a kernel that
   only multiplies. The host as a device gets less to do. */

static double round_of(struct device *d, char *half, size_t bytes, uint32_t n)
{
  struct launch l = launch_of(WORK_multiply_only, n > 0 ? WIDEST : 0, 1, 256);
  double began;
  char one;
  l.a.probe = (struct probe_args) { (float *) (void *) half, n, 0 };
  d->memory.get(&d->memory, &one, half, 1);
  began = timing_seconds();
  for (int i = 0; i < 10 && n == 0; i++) d->memory.copy(&d->memory, half + bytes, half, bytes);
  device_launch(d, &l);
  d->memory.get(&d->memory, &one, half, 1);
  return timing_seconds() - began;
}

/* The best of five: what else runs on the machine can only make a round slower. */
bool device_measure(const struct device *at, double *madds, double *bytes, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) at;
  bool real = d->driver != &driver_host;
  size_t half = (size_t) (real ? 256 : 4) << 20;
  uint32_t n = real ? 4096 : 4;
  double copied = 1e9, multiplied = 1e9;
  char *p = d->memory.alloc(&d->memory, d->m, MEMORY_OTHER, 2, half, why);
  if (p == NULL) return false;
  for (int i = 0; i < 5; i++) {
    double a = round_of(d, p, half, 0), b = round_of(d, p, half, n);
    copied = a < copied ? a : copied, multiplied = b < multiplied ? b : multiplied;
  }
  d->memory.release(&d->memory, d->m, p);
  *bytes = 10 * 2 * (double) half / copied;
  *madds = 8.0 * n * WIDEST * 256 / multiplied;
  return d->memory.working(&d->memory, why);
}

static double ten_launches(struct device *d, const struct launch *l, char *done)
{
  double best = 1e9;
  for (int i = 0; i < 6; i++) { /* the first warms up */
    d->memory.get(&d->memory, done, d->work, 1);
    double began = timing_seconds();
    for (int j = 0; j < 10; j++) device_launch(d, l);
    d->memory.get(&d->memory, done, d->work, 1);
    double took = (timing_seconds() - began) / 10;
    if (i > 0 && took < best) best = took;
  }
  return best;
}

/* The four steps are the only kernels that no pass calls; a block has 128 threads in each, and
   sharing of them have an output. */
bool device_step(const struct device *at, unsigned step, const uint16_t *w,
  const float *x, uint32_t in, uint32_t out, float *y, double *seconds, struct error *why)
{
  static const enum kernel_work work[] = { WORK_step_outputs, WORK_step_lanes,
    WORK_step_pairs, WORK_few_bf16_1 };
  static const unsigned sharing[] = { 1, 16, 8, 8 };
  if (step > 3 || in % 16 != 0)
    return error_say(why, "step %u with %u inputs; wanted: 0 to 3, a multiple of 16", step, in);
  struct device *d = (struct device *) (uintptr_t) at;
  struct buffers *b = &d->memory;
  size_t weights = ((size_t) in * out * 2 + 255) / 256 * 256;
  size_t inputs = ((size_t) in * 4 + 255) / 256 * 256;
  unsigned each = 128 / sharing[step]; /* of a block */
  struct launch l = launch_of(work[step], (out + each - 1) / each, 1, 128);
  char done, *p = b->alloc(b, d->m, MEMORY_OTHER, weights + inputs + (size_t) out * 4, 1, why);
  if (p == NULL) return false;
  b->set(b, p, w, (size_t) in * out * 2), b->set(b, p + weights, x, (size_t) in * 4);
  l.a.linear = (struct linear_args) { .x = (float *) (void *) (p + weights), .n = 1, .in = in, .rows = 1 };
  l.a.linear.of[0].weight = (struct stored_rows) { p, NULL, DEVICE_BF16, in };
  l.a.linear.of[0].y = (float *) (void *) (p + weights + inputs), l.a.linear.of[0].out = out;
  *seconds = ten_launches(d, &l, &done);
  b->get(b, y, p + weights + inputs, (size_t) out * 4);
  b->release(b, d->m, p);
  return b->working(b, why);
}

/* ---- the table, opening, closing */

/* What a device does not do itself, the distributions of the sampler, is done on the host by its
   fastest table. The two tests of rounding are the host's as well; the device is asked once,
   when it is opened. */
void device_table(struct device *d)
{
  struct kernels *k = &d->k;
  *k = *kernels_find(NULL, NULL);
  k->name = "cuda", k->memory = &d->memory;
  k->matrix_types = DEVICE_WEIGHTS;
  k->int8_types = 1u << WEIGHT_Q8_0, k->bf16_types = 1u << WEIGHT_BF16;
  k->linear = device_linear, k->linear_int8 = device_linear_int8;
  k->linear_bf16 = device_linear_bf16, k->normalize = device_normalize;
  k->rotate = device_rotate, k->angles = device_angles;
  k->attend = device_attend, k->activate = device_activate;
  k->add = device_add, k->embed = device_embed;
  k->split = device_split, k->gather = device_gather;
  k->write = device_write;
  k->mark_nonfinite = device_mark, k->room = plain_room;
  k->attention_room = plain_attention_room;
  k->prepared_bytes = device_prepared_bytes, k->prepare = arrange;
}

/* The name has a number after a colon, or means the first device. */
static const struct device_driver *driver_of(const char *name, unsigned *number, struct error *why)
{
  char rest;
  *number = 0;
  bool host = strncmp(name, "host", 4) == 0, cuda = strncmp(name, "cuda", 4) == 0;
  if ((!host && !cuda) || (name[4] != '\0'
      && (name[4] != ':' || name[5] < '0' || name[5] > '9'
        || sscanf(name + 5, "%9u%c", number, &rest) != 1)))
    return error_say(why, "device `%s'; wanted: cuda or cuda:n", name), (void *) NULL;
  if (host) return &driver_host;
#ifdef INCIPIT_CUDA
  return &driver_cuda;
#else
  return error_say(why, "device `%s': this program was built without CUDA; wanted: one built by"
    " `make CUDA=1', which needs nvcc of the CUDA toolkit", name), (void *) NULL;
#endif
}

/* a*a + c is 0 with two roundings and 2^-24 with one. The kernels must round each where the text
   says so. */
static bool rounds_rightly(struct device *d, struct error *why)
{
  struct launch l = launch_of(WORK_check_rounding, 1, 1, 32);
  float left[2];
  l.a.round = (struct round_args) { (float *) (void *) d->work, 0x1.001p0f, -0x1.002p0f };
  device_launch(d, &l);
  d->memory.get(&d->memory, left, d->work, sizeof left);
  if (!d->memory.working(&d->memory, why)) return false;
  if (left[0] == 0.0f && left[1] == 0x1p-24f) return true;
  return error_say(why, "%s: its kernels round otherwise than the processor (%a and %a);"
    " wanted: kernels compiled with -fmad=false", d->facts.name, (double) left[0],
    (double) left[1]);
}

/* counts is cleared last: what opening launched is not the caller's. */
struct device *device_open(struct memory *m, const char *name, struct error *why)
{
  unsigned number;
  char fault[200] = "";
  const struct device_driver *driver = driver_of(name, &number, why);
  struct device *d = driver == NULL ? NULL : memory_alloc(m, MEMORY_OTHER, 1, sizeof *d, why);
  if (d == NULL) return NULL;
  d->driver = driver, d->m = m;
  d->work_bytes = driver == &driver_host ? HOST_WORK_BYTES : WORK_BYTES;
  d->state = driver->open(number, &d->facts, fault);
  if (d->state == NULL) error_say(why, "device `%s': %s", name, fault);
  if (d->state == NULL || !device_memory_open(d, why)) return device_close(d), (void *) NULL;
  device_table(d);
  if (!rounds_rightly(d, why)) return device_close(d), (void *) NULL;
  d->counts = (struct device_counts) { 0, 0, 0 };
  return d;
}

void device_close(struct device *d)
{
  if (d == NULL) return;
  if (d->state != NULL) device_memory_close(d), d->driver->close(d->state);
  memory_free(d->m, d);
}

const struct kernels *device_kernels(const struct device *d)
{ return &d->k; }
const struct buffers *device_memory(const struct device *d)
{ return &d->memory; }
const char *device_name(const struct device *d)
{ return d->facts.name; }
struct device_counts device_count(const struct device *d)
{ return d->counts; }
void device_room(const struct device *d, uint64_t *bytes, uint64_t *free)
{ *bytes = d->facts.bytes, *free = d->facts.free; }
