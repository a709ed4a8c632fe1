/* prefix_file.c -- an index of prefixes is written to a file, and read from one.

   The file has a head, then entries, the most recently used first, and a sum of all bytes before it. An entry is the number
   of its parent in the file (from 1; 0: it is a first page), the page's tokens, and the bytes of its rows as the cache has
   them. A parent comes before its children, as it counts as used when they are. Everything is as it lies in memory: the file is
   for the machine that wrote it, and the head says so with a number whose bytes have an order.

   What is read is not believed: the length must be that of the head's numbers, the sum must agree, parents must come before
   their children. A file that another engine wrote in the same form would pass, so the key must say which engine it was. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "ground/new_file.h"
#include "serving/prefix_file.h"

static const char magic[24] = "incipit prefix pages 1\n";

/* no padding: all fields are multiples of eight bytes */
struct head {
  char magic[24];
  unsigned char key[PREFIX_KEY];
  uint64_t order, page_rows, block_bytes, n;
};

/* FNV-1a, eight bytes at a time and the rest one by one: a disk that forgets is found, not somebody who forges */
static uint64_t sum_on(uint64_t h, const void *bytes, size_t n)
{
  const unsigned char *c = bytes;
  for (; n >= 8; n -= 8, c += 8) {
    uint64_t word;
    memcpy(&word, c, 8);
    h = (h ^ word) * UINT64_C(1099511628211), h ^= h >> 32;
  }
  for (; n > 0; n--, c++) h = (h ^ *c) * UINT64_C(1099511628211);
  return h;
}
static const uint64_t sum_begin = UINT64_C(14695981039346656037);

/* an entry, when it or one after it was used, and how many pages come before it: sorted by the one and then by the other, a
   parent comes before its children */
struct rank { uint64_t used; uint32_t depth, entry; };
static int later_first(const void *a, const void *b)
{
  const struct rank *x = a, *y = b;
  if (x->used != y->used) return x->used < y->used ? 1 : -1;
  return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* all entries in order; of[entry] before the sorting, so that a page can tell those before it when it was used */
static struct rank *ranked(const struct prefix_index *x, struct error *why)
{
  size_t k = 0;
  struct rank *of = memory_alloc(x->m, MEMORY_OTHER, x->n, sizeof *of, why);
  for (uint32_t i = 1; of != NULL && i < x->n; i++)
    for (uint32_t at = x->entry[i].born != 0 ? i : 0; at != 0; at = x->entry[at].parent) {
      if (of[at].used < x->entry[i].used) of[at].used = x->entry[i].used;
      of[i].depth++;
    }
  for (uint32_t i = 1; of != NULL && i < x->n; i++)
    if (x->entry[i].born != 0) of[i].entry = i, of[k++] = of[i];
  if (of != NULL) qsort(of, k, sizeof *of, later_first);
  return of;
}

/* a file that is being written, and the sum so far */
struct out { struct new_file file; uint64_t sum; bool ok; };
static void put(struct out *o, const void *bytes, size_t n)
{
  o->ok = o->ok && fwrite(bytes, 1, n, o->file.f) == n;
  o->sum = sum_on(o->sum, bytes, n);
}

/* number[entry] is the entry's place in the file, from 1, as soon as it has one */
static void put_entry(struct out *o, const struct prefix_index *x, uint32_t entry, const uint64_t *number, void *rows)
{
  put(o, &number[x->entry[entry].parent], sizeof *number);
  put(o, x->token + entry * x->page_rows, x->page_rows * sizeof *x->token);
  cache_block_get(x->s, &x->entry[entry].block, rows);
  put(o, rows, cache_block_bytes(x->s));
}

bool prefix_save(const struct prefix_index *x, const char *path, const unsigned char key[PREFIX_KEY], struct error *why)
{
  struct head h = { .order = 1, .page_rows = x->page_rows, .block_bytes = cache_block_bytes(x->s), .n = x->kept };
  struct out o = { .sum = sum_begin, .ok = true };
  struct rank *list = ranked(x, why);
  uint64_t *number = list == NULL ? NULL : memory_alloc(x->m, MEMORY_OTHER, x->n, sizeof *number, why);
  void *rows = number == NULL ? NULL : memory_alloc(x->m, MEMORY_OTHER, h.block_bytes, 1, why);
  memcpy(h.magic, magic, sizeof h.magic), memcpy(h.key, key, sizeof h.key);
  bool ok = rows != NULL && new_file_open(&o.file, path, false, why);
  if (ok) {
    put(&o, &h, sizeof h);
    for (size_t i = 0; i < x->kept; i++) {
      number[list[i].entry] = i + 1;
      put_entry(&o, x, list[i].entry, number, rows);
    }
    uint64_t sum = o.sum;
    put(&o, &sum, sizeof sum);
    if (!o.ok) error_say(why, "%.300s: not all of it could be written", path);
    ok = new_file_end(&o.file, o.ok, why) && o.ok;
  }
  memory_free(x->m, rows), memory_free(x->m, number);
  memory_free(x->m, list);
  return ok;
}

/* is the file what its head says, and ours? */
static bool head_fits(const struct prefix_index *x, const struct mapping *map, struct head *h, const char *path,
  const unsigned char key[PREFIX_KEY], struct error *why)
{
  uint64_t sum, each = 0;
  if (map->size < sizeof *h + sizeof sum) return error_say(why, "%.300s: %zu bytes; wanted: a file of prefix pages", path, map->size);
  memcpy(h, map->bytes, sizeof *h);
  if (memcmp(h->magic, magic, sizeof magic) != 0 || h->order != 1)
    return error_say(why, "%.300s: it is no file of prefix pages, or another machine's", path);
  if (memcmp(h->key, key, PREFIX_KEY) != 0)
    return error_say(why, "%.300s: its pages are of another model, other settings or another version", path);
  if (h->page_rows != x->page_rows || h->block_bytes != cache_block_bytes(x->s))
    return error_say(why, "%.300s: pages of %" PRIu64 " rows and %" PRIu64 " bytes; wanted: %zu and %zu", path, h->page_rows,
      h->block_bytes, x->page_rows, cache_block_bytes(x->s));
  each = sizeof (uint64_t) + h->page_rows * sizeof (uint32_t) + h->block_bytes;
  if (h->n > (map->size - sizeof *h - sizeof sum) / each || map->size != sizeof *h + h->n * each + sizeof sum)
    return error_say(why, "%.300s: %zu bytes for %" PRIu64 " pages: it is cut off or damaged", path, map->size, h->n);
  memcpy(&sum, map->bytes + map->size - sizeof sum, sizeof sum);
  return sum == sum_on(sum_begin, map->bytes, map->size - sizeof sum)
    || error_say(why, "%.300s: its sum is another one: it is damaged", path);
}

/* The rows get a page of their own, which the first sequence shows to the index as if it had computed it. */
static bool enter_page(struct prefix_index *x, struct prefix_place after, const uint32_t *token, const void *rows,
  struct prefix_place *place)
{
  struct cache_block b;
  struct error why;
  if (!cache_block_make(x->s, rows, &b)) return false;
  if (cache_adopt(x->s, 0, &b, token, &why)) *place = prefix_add(x, after, token, 0, 0);
  store_crop(x->s, 0, 0);
  cache_block_release(x->s, &b);
  return place->entry != 0;
}

/* A child of an entry that found no page has none either. At the end the clock is set as it was: the first is the latest. */
static bool take_entries(struct prefix_index *x, const struct head *h, const char *at, const char *path, struct error *why)
{
  struct prefix_place *place = memory_alloc(x->m, MEMORY_OTHER, (size_t) h->n + 1, sizeof *place, why);
  uint32_t *token = place == NULL ? NULL : memory_alloc(x->m, MEMORY_OTHER, x->page_rows, sizeof *token, why);
  bool ok = token != NULL;
  for (uint64_t i = 1; ok && i <= h->n; i++) {
    uint64_t parent;
    memcpy(&parent, at, sizeof parent);
    memcpy(token, at + sizeof parent, x->page_rows * sizeof *token);
    at += sizeof parent + x->page_rows * sizeof *token;
    if (parent >= i) ok = error_say(why, "%.300s: page %" PRIu64 " comes after page %" PRIu64 ": it is damaged", path, i, parent);
    else if (parent == 0 || place[parent].entry != 0) enter_page(x, place[parent], token, at, &place[i]);
    at += h->block_bytes;
  }
  for (uint64_t i = h->n; ok && i > 0; i--)
    if (place[i].entry != 0) x->entry[place[i].entry].used = ++x->clock;
  memory_free(x->m, token), memory_free(x->m, place);
  return ok;
}

bool prefix_load(struct prefix_index *x, const char *path, const unsigned char key[PREFIX_KEY], struct error *why)
{
  struct mapping map;
  struct head h;
  if (!file_map(&map, path, why)) return false;
  bool ok = head_fits(x, &map, &h, path, key, why) && take_entries(x, &h, (const char *) map.bytes + sizeof h, path, why);
  while (!ok && prefix_evict(x, true)) continue;
  file_unmap(&map);
  return ok;
}
