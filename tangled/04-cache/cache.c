/* cache.c -- made from chapters/04-cache.w; change it there */

/* 4.55  cache.c */

#include <inttypes.h>
#include <string.h>
#include "04-cache/cache.h"

/* 4.38  What the cache holds */

struct sheet {
  uint32_t readers, leaving, spare;
};

struct page_list {
  uint32_t *page;
  size_t n, room;
};
struct cache {
  struct store common;
  size_t heads, head_bytes, page_rows, most;

  char *pool;
  struct sheet *page;
  size_t room, n_spare;

  struct page_list *sequence;
  size_t copied;
};

/* 4.39  What the cache holds */

static size_t pages_for(const struct cache *s, size_t rows)
{
  return (rows + s->page_rows - 1) / s->page_rows;
}

static size_t part_bytes(const struct cache *s)
{
  return s->heads * s->page_rows * s->head_bytes;
}

static char *place(const struct cache *s, size_t part, size_t page,
                   size_t head, size_t row)
{
  return s->pool + (part * s->room + page) * part_bytes(s)
      + (head * s->page_rows + row) * s->head_bytes;
}

/* 4.46  Give the pool more pages */

static bool pool_grow(struct cache *s, size_t wanted, struct error *why)
{
  struct memory *m = s->common.m;
  size_t room = store_room(s->room, wanted, s->most);
  size_t parts = 2 * s->common.config.n_layers, old = s->room;
  size_t bytes = parts * part_bytes(s);
  char *pool = memory_take(m, FOR_CACHE, room, bytes, why);
  struct sheet *page = pool == NULL ? NULL
      : memory_grow(m, FOR_OTHER, s->page, old, room, sizeof *page, why);
  if (page == NULL) {
    memory_give(m, FOR_CACHE, pool, room, bytes);
    return false;
  }
  for (size_t i = 0; i < parts && old > 0; i++)
    memcpy(pool + i * part_bytes(s) * room, place(s, i, 0, 0, 0),
           part_bytes(s) * old);
  memory_give(m, FOR_CACHE, s->pool, old, bytes);
  s->pool = pool, s->page = page, s->room = room;
  for (size_t i = room; i > old; i--)
    page[s->n_spare++].spare = (uint32_t) i - 1;
  return true;
}

/* 4.47  Make a list longer */

static bool list_reserve(struct cache *s, struct page_list *l, size_t n,
                         struct error *why)
{
  if (n <= l->room)
    return true;
  size_t room = store_room(l->room, n, s->most);
  uint32_t *page = memory_grow(s->common.m, FOR_OTHER, l->page, l->room, room,
                               sizeof *page, why);
  if (page == NULL)
    return false;
  l->page = page, l->room = room;
  return true;
}

static bool list_grow(struct cache *s, uint32_t sequence, struct error *why)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  return list_reserve(s, &s->sequence[sequence],
                      pages_for(s, q->length + q->count), why);
}

/* 4.41  Count the pages that a sequence wants */

static bool must_copy(const struct cache *s, uint32_t sequence)
{
  size_t length = s->common.roll.sequence[sequence].length;
  if (length % s->page_rows == 0)
    return false;
  const struct sheet *last
      = &s->page[s->sequence[sequence].page[length / s->page_rows]];
  return last->readers - last->leaving > 1;
}

static size_t pages_wanted(struct cache *s, uint32_t sequence)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  const struct page_list *l = &s->sequence[sequence];
  size_t n = pages_for(s, q->length + q->count);
  if (q->count == 0)
    return 0;
  bool copy = must_copy(s, sequence);
  if (copy)
    s->page[l->page[q->length / s->page_rows]].leaving++;
  return (n > l->n ? n - l->n : 0) + copy;
}

/* 4.42  Count the pages that all sequences want */

static size_t all_pages_wanted(struct cache *s)
{
  size_t wanted = 0;
  for (uint32_t i = 0; i < s->common.n_sequences; i++)
    wanted += pages_wanted(s, i);
  for (size_t i = 0; i < s->room; i++)
    s->page[i].leaving = 0;
  return wanted;
}

/* 4.43  Take the pages that a sequence wants */

static uint32_t take_page(struct cache *s)
{
  uint32_t n = s->page[--s->n_spare].spare;
  s->page[n].readers = 1;
  return n;
}

/* 4.44  Give a sequence a page of its own */

static void copy_page(struct cache *s, struct page_list *l, size_t length)
{
  uint32_t *mine = &l->page[length / s->page_rows], old = *mine;
  size_t bytes = length % s->page_rows * s->head_bytes;
  s->page[old].readers--;
  *mine = take_page(s);
  for (size_t part = 0; part < 2 * s->common.config.n_layers; part++)
    for (size_t h = 0; h < s->heads; h++) {
      memcpy(place(s, part, *mine, h, 0), place(s, part, old, h, 0), bytes);
      s->copied += bytes;
    }
}

static void turn_pages(struct cache *s, uint32_t sequence)
{
  const struct strand *q = &s->common.roll.sequence[sequence];
  struct page_list *l = &s->sequence[sequence];
  if (q->count == 0)
    return;
  if (must_copy(s, sequence))
    copy_page(s, l, q->length);
  while (l->n < pages_for(s, q->length + q->count))
    l->page[l->n++] = take_page(s);
}

/* 4.40  Have pages for the rows of the pass */

static bool cache_admit(struct store *common, struct error *why)
{
  struct cache *s = (struct cache *)common;
  size_t wanted = all_pages_wanted(s);
  size_t used = s->room - s->n_spare;
  if (wanted > s->most - used)
    return error_say(why, "the cache holds %zu rows, of which %zu are"
                     " taken; wanted: room for %zu more, in pages of %zu",
                     s->most * s->page_rows, used * s->page_rows,
                     wanted * s->page_rows, s->page_rows);
  if (wanted > s->n_spare && !pool_grow(s, used + wanted, why))
    return false;
  for (uint32_t i = 0; i < common->n_sequences; i++)
    if (!list_grow(s, i, why))
      return false;
  for (uint32_t i = 0; i < common->n_sequences; i++)
    turn_pages(s, i);
  return true;
}

/* 4.45  Leave the pages behind the last row */

static void cache_cropped(struct store *common, uint32_t sequence)
{
  struct cache *s = (struct cache *)common;
  struct page_list *l = &s->sequence[sequence];
  size_t n = pages_for(s, common->roll.sequence[sequence].length);
  while (l->n > n) {
    uint32_t page = l->page[--l->n];
    if (--s->page[page].readers == 0)
      s->page[s->n_spare++].spare = page;
  }
}

/* 4.48  Store rows in pages, and show them */

static void cache_put(struct store *common, uint32_t layer, const float *k,
                      const float *v)
{
  struct cache *s = (struct cache *)common;
  for (size_t i = 0; i < common->roll.n; i++) {
    const struct row *r = &common->roll.rows[i];
    uint32_t page = s->sequence[r->sequence].page[r->position / s->page_rows];
    size_t row = r->position % s->page_rows, d = common->config.head_dim;
    for (size_t h = 0; h < s->heads; h++) {
      size_t from = (i * s->heads + h) * d;
      memcpy(place(s, 2 * layer, page, h, row), k + from, s->head_bytes);
      memcpy(place(s, 2 * layer + 1, page, h, row), v + from, s->head_bytes);
    }
  }
}

/* 4.49  Store rows in pages, and show them */

static void cache_show(const struct store *common, uint32_t layer, size_t i,
                       struct view *v)
{
  const struct cache *s = (const struct cache *)common;
  const struct page_list *l = &s->sequence[common->roll.rows[i].sequence];
  *v = (struct view) {.base_k = place(s, 2 * layer, 0, 0, 0),
    .base_v = place(s, 2 * layer + 1, 0, 0, 0),.page = l->page,
    .page_rows = s->page_rows,.page_bytes = part_bytes(s),
    .row_bytes = s->head_bytes,.head_bytes = s->page_rows * s->head_bytes,
    .type = WEIGHT_F32
  };
}

/* 4.50  Fork a sequence */

bool cache_fork(struct store *common, uint32_t from, uint32_t to, struct error *why)
{
  struct cache *s = (struct cache *)common;
  if (!store_follow(common, from, to, why))
    return false;
  struct page_list *a = &s->sequence[from], *b = &s->sequence[to];
  size_t n = pages_for(s, store_length(common, from));
  if (!list_reserve(s, b, n, why)) {
    store_crop(common, to, 0);
    return false;
  }
  for (size_t i = 0; i < n; i++)
    s->page[a->page[i]].readers++, b->page[i] = a->page[i];
  b->n = n;
  return true;
}

/* 4.51  Fork a sequence */

struct cache_state cache_look(const struct store *common)
{
  const struct cache *s = (const struct cache *)common;
  return (struct cache_state) { s->room, s->room - s->n_spare,
    s->page_rows, 2 * s->common.config.n_layers * part_bytes(s),
    s->copied
  };
}

/* 4.52  Open and close a cache */

static void cache_close(struct store *common)
{
  struct cache *s = (struct cache *)common;
  struct memory *m = common->m;
  size_t bytes = 2 * common->config.n_layers * part_bytes(s);
  for (uint32_t i = 0; s->sequence != NULL && i < common->n_sequences; i++)
    memory_give(m, FOR_OTHER, s->sequence[i].page, s->sequence[i].room,
                sizeof(uint32_t));
  memory_give(m, FOR_OTHER, s->sequence, s->sequence == NULL ? 0
              : common->n_sequences, sizeof *s->sequence);
  memory_give(m, FOR_CACHE, s->pool, s->room, bytes);
  memory_give(m, FOR_OTHER, s->page, s->room, sizeof *s->page);
  memory_give(m, FOR_OTHER, s, 1, sizeof *s);
}

/* 4.53  Open and close a cache */

static bool grant(struct cache *s, const struct cache_wishes *w, struct error *why)
{
  size_t rows = w->page_rows == 0 ? 64 : w->page_rows;
  if (rows < 16 || rows > 256 || (rows & (rows - 1)) != 0)
    return error_say(why, "a page of %zu rows; wanted: a power of two from"
                     " 16 to 256", rows);
  s->page_rows = rows;
  s->most = w->rows > 0 ? pages_for(s, w->rows)
      : s->common.n_sequences * pages_for(s, s->common.n_positions);
  if (s->most > UINT32_MAX)
    return error_say(why, "a cache of %zu pages; wanted: at most %"
                     PRIu32, s->most, UINT32_MAX);
  return !w->at_once || pool_grow(s, s->most, why);
}

/* 4.54  Open and close a cache */

struct store *cache_open(struct memory *m, const struct model_config *c,
                         uint32_t n_sequences, const struct cache_wishes *w,
                         struct error *why)
{
  static const struct store_kind kind = { cache_admit, cache_put, cache_show,
    cache_cropped, cache_close
  };
  struct cache *s = memory_take(m, FOR_OTHER, 1, sizeof *s, why);
  if (s == NULL)
    return NULL;
  if (!store_prepare(&s->common, &kind, m, c, n_sequences, why)) {
    memory_give(m, FOR_OTHER, s, 1, sizeof *s);
    return NULL;
  }
  s->heads = c->n_kv_heads, s->head_bytes = c->head_dim * sizeof(float);
  s->sequence = memory_take(m, FOR_OTHER, n_sequences, sizeof *s->sequence, why);
  if (s->sequence != NULL && grant(s, w, why))
    return &s->common;
  store_close(&s->common);
  return NULL;
}
