/* prefix.c -- The index of prefixes: which full pages of a cache have which tokens
   after which others.
   made from chapters/12-serving.w; change it there

   A page is found by its parent and its tokens, and tokens are compared, so what is
   found has the very rows that a pass would compute. An entry holds a reference to
   its pages; nobody writes to a page that has two. The number of an entry is used
   again after it was given up, and a place that remembers one has to compare its
   birth. */

#include <string.h>
#include "serving/prefix.h"

/* <Find a page by its tokens> */
static size_t bucket_of(const struct prefix_index *x, uint32_t parent, const uint32_t *token)
{
  uint64_t h = parent;
  for (size_t i = 0; i < x->page_rows; i++)
    h = (h ^ token[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  return (size_t) (h % x->cap);
}

static uint32_t find_page(const struct prefix_index *x, uint32_t parent,
  const uint32_t *token)
{
  uint32_t i = x->bucket[bucket_of(x, parent, token)];
  while (i != 0 && (x->entry[i].parent != parent
      || memcmp(x->token + i * x->page_rows, token, x->page_rows * sizeof *token) != 0))
    i = x->entry[i].next;
  return i;
}

/* <Adopt the pages of a known beginning> */
size_t prefix_adopt(struct prefix_index *x, uint32_t sequence, const uint32_t *id,
  size_t n, struct prefix_place *last)
{
  size_t pages = 0;
  uint32_t at = 0;
  struct error why;
  for (; x->s != NULL && (pages + 1) * x->page_rows <= n; pages++) {
    const uint32_t *token = id + pages * x->page_rows;
    uint32_t i = find_page(x, at, token);
    if (i == 0 || !cache_adopt(x->s, sequence, &x->entry[i].block, token, &why)) break;
    at = i;
  }
  *last = (struct prefix_place) { at, at == 0 ? 0 : x->entry[at].born };
  for (; at != 0; at = x->entry[at].parent) x->entry[at].used = ++x->clock;
  return pages;
}

/* <Have one more entry> */
static void enter(struct prefix_index *x, uint32_t e)
{
  size_t b = bucket_of(x, x->entry[e].parent, x->token + e * x->page_rows);
  x->entry[e].next = x->bucket[b];
  x->bucket[b] = e;
}

static bool more_entries(struct prefix_index *x)
{
  struct error why;
  size_t cap = x->cap == 0 ? 64 : 2 * x->cap;
  void *entry = memory_resize(x->m, MEMORY_OTHER, x->entry, cap, sizeof *x->entry, &why);
  if (entry != NULL) x->entry = entry;
  void *token = entry == NULL ? NULL : memory_resize(x->m, MEMORY_TOKENS, x->token,
    cap * x->page_rows, sizeof *x->token, &why);
  if (token != NULL) x->token = token;
  void *bucket = token == NULL ? NULL : memory_resize(x->m, MEMORY_OTHER, x->bucket, cap,
    sizeof *x->bucket, &why);
  if (bucket == NULL) return false;
  x->bucket = bucket, x->cap = cap;
  memset(x->bucket, 0, cap * sizeof *x->bucket);
  for (uint32_t i = 1; i < x->n; i++) enter(x, i);
  return true;
}

static uint32_t new_entry(struct prefix_index *x)
{
  uint32_t e = x->free;
  if (e != 0) x->free = x->entry[e].next;
  else if (x->n < x->cap || more_entries(x)) e = (uint32_t) x->n++;
  return e;
}

/* <Add a page> */
struct prefix_place prefix_add(struct prefix_index *x, struct prefix_place after,
  const uint32_t *token, uint32_t sequence, size_t i)
{
  struct cache_block block;
  struct prefix_place none = { 0, 0 };
  if (x->s == NULL || (after.entry != 0 && x->entry[after.entry].born != after.born))
    return none;
  uint32_t e = find_page(x, after.entry, token);
  if (e == 0) {
    if (!cache_block_of(x->s, sequence, i, &block) || (e = new_entry(x)) == 0) return none;
    x->entry[e] = (struct prefix_entry) { .born = ++x->clock, .parent = after.entry,
      .block = block };
    memcpy(x->token + e * x->page_rows, token, x->page_rows * sizeof *token);
    cache_block_hold(x->s, &block);
    x->entry[after.entry].children++;
    enter(x, e);
    x->kept++;
  }
  x->entry[e].used = ++x->clock;
  return (struct prefix_place) { e, x->entry[e].born };
}

/* <Give up a page> */
static void drop_entry(struct prefix_index *x, uint32_t i)
{
  uint32_t *at = &x->bucket[bucket_of(x, x->entry[i].parent, x->token + i * x->page_rows)];
  while (*at != i) at = &x->entry[*at].next;
  *at = x->entry[i].next;
  cache_block_release(x->s, &x->entry[i].block);
  x->entry[x->entry[i].parent].children--;
  x->entry[i].next = x->free;
  x->entry[i].born = 0;
  x->free = i;
  x->kept--;
}

bool prefix_evict(struct prefix_index *x, bool in_use)
{
  uint32_t oldest = 0;
  for (uint32_t i = 1; i < x->n; i++) {
    const struct prefix_entry *e = &x->entry[i];
    if (e->born == 0 || e->children > 0) continue;
    if (!in_use && cache_block_in_use(x->s, &e->block)) continue;
    if (oldest == 0 || e->used < x->entry[oldest].used) oldest = i;
  }
  if (oldest != 0) drop_entry(x, oldest);
  return oldest != 0;
}

size_t prefix_spare(struct prefix_index *x)
{
  size_t n = x->kept;
  uint64_t now = ++x->clock;
  for (uint32_t i = 1; i < x->n; i++) {
    const struct prefix_entry *e = &x->entry[i];
    if (e->born == 0 || !cache_block_in_use(x->s, &e->block)) continue;
    for (uint32_t at = i; at != 0 && x->entry[at].needed != now; at = x->entry[at].parent)
      x->entry[at].needed = now, n--;
  }
  return n;
}
