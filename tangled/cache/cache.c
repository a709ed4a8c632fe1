/* cache.c -- made from chapters/04-cache.w; change it there */

#include <inttypes.h>
#include <string.h>
#include "cache/cache.h"

/* <What the cache holds> */

/* lists that it is on, and those that will take a copy in this pass; a spare page */
struct sheet { uint32_t readers, leaving, spare; };

/* [room]; the pages of sinks and those from first to n are really there */
struct page_list { uint32_t *page; size_t n, room, first; };
struct shelf {
  uint32_t layer, n_layers; /* one that stands here, and how many do */
  char *pool; /* [n_layers][2][room][heads][page_rows][head_bytes] */
  struct sheet *page; size_t room, n_spare, most; /* [room]; the most pages */
  struct page_list *sequence; /* [n_sequences] */
};

enum { SHELVES = 2 };
struct cache {
  struct store common; /* must come first: a struct store * points here */
  struct row_format how;
  /* head_bytes: a key or a value of one head in one row */
  size_t heads, head_bytes, page_rows, sink_pages, copied;
  uint32_t *turn; /* [n_layers]: the how many-th of its shelf a layer is */
  size_t n_shelves;
  struct shelf shelves[SHELVES];
};
static const struct shelf *shelf_of(const struct cache *s, uint32_t layer)
{
  const struct shelf *f = s->shelves;
  uint32_t window = config_window(&s->common.config, layer);
  while (window != config_window(&s->common.config, f->layer)) f++;
  return f;
}

static size_t pages_for(const struct cache *s, size_t rows)
{ return (rows + s->page_rows - 1) / s->page_rows; }
static size_t part_bytes(const struct cache *s)
{ return s->heads * s->page_rows * s->head_bytes; }
static size_t page_bytes(const struct cache *s, const struct shelf *f)
{ return 2 * f->n_layers * part_bytes(s); }
static char *place(const struct cache *s, const struct shelf *f, size_t part,
  size_t page, size_t head, size_t row)
{
  return f->pool + (part * f->room + page) * part_bytes(s)
    + (head * s->page_rows + row) * s->head_bytes;
}

/* <Give the pool more pages> */
static bool pool_grow(struct cache *s, struct shelf *f, size_t wanted,
  struct error *why)
{
  struct memory *m = s->common.m;
  size_t room = store_room(f->room, wanted, f->most);
  size_t parts = 2 * f->n_layers, old = f->room, bytes = page_bytes(s, f);
  char *pool = memory_alloc(m, FOR_CACHE, room, bytes, why);
  struct sheet *page = pool == NULL ? NULL
    : memory_resize(m, FOR_OTHER, f->page, room, sizeof *page, why);
  if (page == NULL) {
    memory_free(m, pool);
    return false;
  }
  for (size_t i = 0; i < parts && old > 0; i++)
    memcpy(pool + i * part_bytes(s) * room, place(s, f, i, 0, 0, 0),
      part_bytes(s) * old);
  memory_free(m, f->pool);
  f->pool = pool, f->page = page, f->room = room;
  for (size_t i = room; i > old; i--)
    page[f->n_spare++].spare = (uint32_t) i - 1;
  return true;
}

/* <Make a list longer> */
static bool list_reserve(struct cache *s, struct page_list *l, size_t n,
  struct error *why)
{
  if (n <= l->room) return true;
  size_t room = store_room(l->room, n, pages_for(s, s->common.n_positions));
  uint32_t *page = memory_resize(s->common.m, FOR_OTHER, l->page, room, sizeof *page,
    why);
  if (page == NULL) return false;
  l->page = page, l->room = room;
  return true;
}

static bool list_grow(struct cache *s, struct shelf *f, uint32_t sequence,
  struct error *why)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  return list_reserve(s, &f->sequence[sequence],
    pages_for(s, q->length + q->count), why);
}

/* <Leave the pages behind the last row> */
static void leave_page(struct shelf *f, uint32_t page)
{
  if (--f->page[page].readers == 0) f->page[f->n_spare++].spare = page;
}

static void shelf_cropped(struct cache *s, struct shelf *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, s->common.roll.sequence[sequence].length);
  while (l->n > n) {
    l->n--;
    if (l->n >= l->first || l->n < s->sink_pages) leave_page(f, l->page[l->n]);
  }
  if (n < l->first) l->first = s->sink_pages;
}

static void cache_cropped(struct store *common, uint32_t sequence)
{
  struct cache *s = (struct cache *) common;
  struct strand *q = &common->roll.sequence[sequence];
  for (size_t k = 0; k < s->n_shelves; k++) {
    const struct shelf *f = &s->shelves[k];
    size_t first = f->sequence[sequence].first;
    if (first > s->sink_pages && first * s->page_rows
        > store_lowest(common, f->layer, q->length)) q->length = 0;
  }
  for (size_t k = 0; k < s->n_shelves; k++)
    shelf_cropped(s, &s->shelves[k], sequence);
}

/* <Leave the pages that no row will see again> */
static void leave_behind(struct cache *s, struct shelf *f, uint32_t sequence)
{
  struct page_list *l = &f->sequence[sequence];
  size_t length = s->common.roll.sequence[sequence].length;
  size_t seen = store_lowest(&s->common, f->layer, length) / s->page_rows;
  while (l->first < seen) leave_page(f, l->page[l->first++]);
}

/* <Count the pages that a sequence wants> */
static bool must_copy(const struct cache *s, const struct shelf *f,
  uint32_t sequence)
{
  size_t length = s->common.roll.sequence[sequence].length;
  if (length % s->page_rows == 0) return false;
  const struct sheet *last
    = &f->page[f->sequence[sequence].page[length / s->page_rows]];
  return last->readers - last->leaving > 1;
}

static size_t pages_wanted(struct cache *s, struct shelf *f, uint32_t sequence)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  const struct page_list *l = &f->sequence[sequence];
  size_t n = pages_for(s, q->length + q->count);
  if (q->count == 0) return 0;
  bool copy = must_copy(s, f, sequence);
  if (copy) f->page[l->page[q->length / s->page_rows]].leaving++;
  return (n > l->n ? n - l->n : 0) + copy;
}

/* <Count the pages that all sequences want> */
static size_t all_pages_wanted(struct cache *s, struct shelf *f)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++) {
    if (s->common.roll.sequence[i].count > 0) leave_behind(s, f, i);
    wanted += pages_wanted(s, f, i);
  }
  for (size_t i = 0; i < f->room; i++) f->page[i].leaving = 0;
  return wanted;
}

/* <Take the pages that a sequence wants> */
static uint32_t take_page(struct shelf *f)
{
  uint32_t n = f->page[--f->n_spare].spare;
  f->page[n].readers = 1;
  return n;
}

/* <Give a sequence a page of its own> */
static void copy_page(struct cache *s, struct shelf *f, struct page_list *l,
  size_t length)
{
  uint32_t *mine = &l->page[length / s->page_rows], old = *mine;
  size_t bytes = length % s->page_rows * s->head_bytes;
  f->page[old].readers--;
  *mine = take_page(f);
  for (size_t part = 0; part < 2 * f->n_layers; part++)
    for (size_t h = 0; h < s->heads; h++) {
      memcpy(place(s, f, part, *mine, h, 0), place(s, f, part, old, h, 0),
        bytes);
      s->copied += bytes;
    }
}

static void turn_pages(struct cache *s, struct shelf *f, uint32_t sequence)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  struct page_list *l = &f->sequence[sequence];
  if (q->count == 0) return;
  if (must_copy(s, f, sequence)) copy_page(s, f, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    l->page[l->n++] = take_page(f);
}

/* <Have pages for the rows of the pass> */
static bool shelf_admit(struct cache *s, struct shelf *f, struct error *why)
{
  size_t wanted = all_pages_wanted(s, f), used = f->room - f->n_spare;
  if (wanted > f->most - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"
      " taken; wanted: room for %zu more, in pages of %zu",
      f->most * s->page_rows, used * s->page_rows, wanted * s->page_rows,
      s->page_rows);
  if (wanted > f->n_spare && !pool_grow(s, f, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    if (!list_grow(s, f, i, why)) return false;
  return true;
}

static bool cache_admit(struct store *common, struct error *why)
{
  struct cache *s = (struct cache *) common;
  for (size_t k = 0; k < s->n_shelves; k++)
    if (!shelf_admit(s, &s->shelves[k], why)) return false;
  for (size_t k = 0; k < s->n_shelves; k++)
    for (uint32_t i = 0; i < common->n_sequences; i++)
      turn_pages(s, &s->shelves[k], i);
  return true;
}

/* <Store rows in pages, and show them> */
static void cache_put(struct store *common, uint32_t layer, const float *k,
  const float *v)
{
  struct cache *s = (struct cache *) common;
  const struct shelf *f = shelf_of(s, layer);
  size_t part = 2 * s->turn[layer], d = common->config.head_dim;
  for (size_t i = 0; i < common->roll.n; i++) {
    const struct row *r = &common->roll.rows[i];
    uint32_t page = f->sequence[r->sequence].page[r->position / s->page_rows];
    size_t row = r->position % s->page_rows;
    for (size_t h = 0; h < s->heads; h++) {
      size_t from = (i * s->heads + h) * d;
      s->how.pack(k + from, d, place(s, f, part, page, h, row));
      s->how.pack(v + from, d, place(s, f, part + 1, page, h, row));
    }
  }
}

static void cache_show(const struct store *common, uint32_t layer, size_t i,
  struct view *v)
{
  const struct cache *s = (const struct cache *) common;
  const struct shelf *f = shelf_of(s, layer);
  const struct page_list *l = &f->sequence[common->roll.rows[i].sequence];
  size_t part = 2 * s->turn[layer];
  *v = (struct view) { .base_k = place(s, f, part, 0, 0, 0),
    .base_v = place(s, f, part + 1, 0, 0, 0), .page = l->page,
    .page_rows = s->page_rows, .page_bytes = part_bytes(s),
    .row_bytes = s->head_bytes, .head_bytes = s->page_rows * s->head_bytes,
    .type = s->how.type };
}

/* <Fork a sequence> */
static bool shelf_fork(struct cache *s, struct shelf *f, uint32_t from,
  uint32_t to, struct error *why)
{
  struct page_list *a = &f->sequence[from], *b = &f->sequence[to];
  size_t n = pages_for(s, store_length(&s->common, from));
  while (b->n > 0) leave_page(f, b->page[--b->n]);
  if (!list_reserve(s, b, n, why)) return false;
  for (; b->n < n; b->n++) {
    b->page[b->n] = a->page[b->n];
    if (b->n >= a->first || b->n < s->sink_pages)
      f->page[a->page[b->n]].readers++;
  }
  b->first = a->first;
  return true;
}

bool cache_fork(struct store *common, uint32_t from, uint32_t to,
  struct error *why)
{
  struct cache *s = (struct cache *) common;
  if (!store_follow(common, from, to, why)) return false;
  for (size_t k = 0; k < s->n_shelves; k++)
    if (!shelf_fork(s, &s->shelves[k], from, to, why)) {
      store_crop(common, to, 0);
      return false;
    }
  return true;
}

struct cache_state cache_look(const struct store *common)
{
  const struct cache *s = (const struct cache *) common;
  struct cache_state all = { .page_rows = s->page_rows,
    .bytes_copied = s->copied };
  for (size_t k = 0; k < s->n_shelves; k++) {
    const struct shelf *f = &s->shelves[k];
    size_t used = f->room - f->n_spare;
    all.pages += f->room, all.pages_used += used;
    all.bytes += f->room * page_bytes(s, f);
    all.bytes_used += used * page_bytes(s, f);
  }
  return all;
}

/* <Open and close a cache> */
static void cache_close(struct store *common)
{
  struct cache *s = (struct cache *) common;
  struct memory *m = common->m;
  for (size_t k = 0; k < s->n_shelves; k++) {
    struct shelf *f = &s->shelves[k];
    for (uint32_t i = 0; f->sequence != NULL && i < common->n_sequences; i++)
      memory_free(m, f->sequence[i].page);
    memory_free(m, f->sequence);
    memory_free(m, f->pool);
    memory_free(m, f->page);
  }
  memory_free(m, s->turn);
  memory_free(m, s);
}

static bool put_on_shelves(struct cache *s, struct error *why)
{
  struct store *common = &s->common;
  const struct model_config *c = &common->config;
  s->turn = memory_alloc(common->m, FOR_OTHER, c->n_layers, sizeof *s->turn,
    why);
  for (uint32_t i = 0; s->turn != NULL && i < c->n_layers; i++) {
    size_t k = 0;
    while (k < s->n_shelves && config_window(c, s->shelves[k].layer)
      != config_window(c, i)) k++;
    if (k == s->n_shelves) s->shelves[s->n_shelves++].layer = i;
    s->turn[i] = s->shelves[k].n_layers++;
  }
  for (size_t k = 0; s->turn != NULL && k < s->n_shelves; k++) {
    struct page_list *l = memory_alloc(common->m, FOR_OTHER,
      common->n_sequences, sizeof *l, why);
    if (l == NULL) return false;
    s->shelves[k].sequence = l;
    for (uint32_t i = 0; i < common->n_sequences; i++)
      l[i].first = s->sink_pages;
  }
  return s->turn != NULL;
}

static bool shelf_grant(struct cache *s, struct shelf *f,
  const struct cache_wishes *w, struct error *why)
{
  size_t context = s->common.n_positions, each = pages_for(s, context);
  size_t window = config_window(&s->common.config, f->layer);
  size_t ring = window - 1 + (w->pass == 0 ? context : w->pass);
  size_t ring_pages = pages_for(s, ring - 1) + 1 + s->sink_pages;
  if (window > 0 && ring_pages < each) each = ring_pages;
  f->most = s->common.n_sequences * each;
  if (w->rows > 0 && (window == 0 || pages_for(s, w->rows) < f->most))
    f->most = pages_for(s, w->rows);
  if (f->most > UINT32_MAX)
    return error_say(why, "a cache of %zu pages; wanted: at most %"
      PRIu32, f->most, UINT32_MAX);
  return !w->at_once || pool_grow(s, f, f->most, why);
}

static void keep_floats(const float *x, size_t n, void *to)
{ memcpy(to, x, n * sizeof *x); }
static bool grant(struct cache *s, const struct cache_wishes *w,
  struct error *why)
{
  static const struct row_format floats = { "f32", WEIGHT_F32,
    keep_floats };
  const struct model_config *c = &s->common.config;
  s->how = w->format == NULL ? floats : *w->format;
  s->page_rows = w->page_rows == 0 ? 64 : w->page_rows;
  if (s->page_rows > 256 || (s->page_rows & (s->page_rows - 1)) != 0)
    return error_say(why, "a page of %zu rows; wanted: a power of two up to"
      " 256", s->page_rows);
  if (s->how.type >= BLOCKS_Q8_0 && c->head_dim % BLOCK_NUMBERS != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a"
      " multiple of %d", s->how.name, c->head_dim, BLOCK_NUMBERS);
  s->heads = c->n_kv_heads, s->head_bytes = row_bytes(s->how.type, c->head_dim);
  s->common.row_bytes = 2 * s->heads * s->head_bytes;
  s->sink_pages = pages_for(s, c->sinks);
  return true;
}

struct store *cache_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, const struct cache_wishes *w, struct error *why)
{
  static const struct store_kind kind = { cache_admit, cache_put, cache_show,
    cache_cropped, cache_close };
  struct cache *s = memory_alloc(m, FOR_OTHER, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  if (!store_prepare(&s->common, &kind, m, c, n_sequences, why)) {
    memory_free(m, s);
    return NULL;
  }
  bool ok = grant(s, w, why) && put_on_shelves(s, why);
  for (size_t k = 0; ok && k < s->n_shelves; k++)
    ok = shelf_grant(s, &s->shelves[k], w, why);
  if (ok) return &s->common;
  store_close(&s->common);
  return NULL;
}
