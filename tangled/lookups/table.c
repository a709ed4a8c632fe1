/* table.c -- Two hash tables, from a pair of ids and from a string to a number, and a
   heap.
   made from workshop/16-lookups.w; change it there

   The tables are open: an entry stands at its hash or at the next free slot after it.
   A value of 0 marks a free slot, so callers store numbers from 1 on. No entry is
   ever taken out, and half of the slots are free at least, so a search always meets a
   free slot and ends. Names are borrowed, and must outlive the table. Entries of the
   heap with equal keys leave it by their tie. */

#include <string.h>
#include "lookups/table.h"

/* <Find a pair's slot, or the free one where it belongs> */

/* The multiplier is 2^64 divided by the golden ratio; the upper half of the product
   is mixed best. */
static size_t pair_place(const struct pair_map *p, uint32_t left, uint32_t right)
{
  uint64_t h = ((uint64_t) left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
  size_t i = (size_t) (h >> 32) & (p->cap - 1);
  while (p->slot[i].value != 0
      && (p->slot[i].left != left || p->slot[i].right != right))
    i = (i + 1) & (p->cap - 1);
  return i;
}

uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right)
{
  return p->cap == 0 ? 0 : p->slot[pair_place(p, left, right)].value;
}

/* <Give a table of pairs twice the room> */

/* Every slot depends on cap, so each entry is placed anew. The old table stays until
   the new one is full. */
static bool pair_map_grow(struct memory *m, struct pair_map *p, struct error *why)
{
  struct pair_map larger = { NULL, p->cap == 0 ? 64 : 2 * p->cap, p->used };
  larger.slot = memory_alloc(m, MEMORY_TOKENS, larger.cap, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->cap; i++) {
    const struct pair_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[pair_place(&larger, s->left, s->right)] = *s;
  }
  pair_map_free(m, p);
  *p = larger;
  return true;
}

/* <Enter a pair, and return the table> */
bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left,
  uint32_t right, uint32_t value, struct error *why)
{
  /* at most half full: runs of taken slots stay short, and a search finds a free one */
  if (2 * (p->used + 1) > p->cap && !pair_map_grow(m, p, why)) return false;
  struct pair_slot *s = &p->slot[pair_place(p, left, right)];
  if (s->value == 0) p->used++;
  *s = (struct pair_slot) { left, right, value };
  return true;
}

void pair_map_free(struct memory *m, struct pair_map *p)
{
  memory_free(m, p->slot);
  *p = (struct pair_map) { NULL, 0, 0 };
}

/* <Find a string's slot, or the free one where it belongs> */

/* FNV-1a, whose upper bits are the better ones; they are folded into the lower, which
   we use. */
static size_t name_place(const struct name_map *p, const unsigned char *byte,
  size_t n)
{
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < n; k++) h = (h ^ byte[k]) * UINT64_C(0x100000001b3);
  size_t i = (size_t) (h ^ h >> 32) & (p->cap - 1);
  while (p->slot[i].value != 0 && (p->slot[i].n != n
      || memcmp(p->slot[i].byte, byte, n) != 0))
    i = (i + 1) & (p->cap - 1);
  return i;
}

uint32_t name_map_get(const struct name_map *p, const unsigned char *byte, size_t n)
{
  return p->cap == 0 ? 0 : p->slot[name_place(p, byte, n)].value;
}
#include "lookups/names.inc"

/* <Put an entry into the heap> */

/* The tie makes the order total, so what comes out does not depend on the order of
   going in. */
static bool comes_before(struct heap_item a, struct heap_item b)
{
  return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}

bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why)
{
  struct heap_item *p = memory_reserve(m, MEMORY_TOKENS, h->item, &h->cap, h->n + 1, 32,
    sizeof *p, why);
  if (p == NULL) return false;
  h->item = p;
  size_t i = h->n++;
  /* The entry is written once, at the end: those above it move down a place. */
  for (; i > 0 && comes_before(e, h->item[(i - 1) / 2]); i = (i - 1) / 2)
    h->item[i] = h->item[(i - 1) / 2];
  h->item[i] = e;
  return true;
}

/* <Take the smallest entry out> */
struct heap_item heap_pop(struct heap *h)
{
  struct heap_item top = h->item[0], last = h->item[--h->n];
  size_t i = 0;
  for (;;) {
    size_t next = 2 * i + 1;
    /* the smaller of the two below */
    if (next + 1 < h->n && comes_before(h->item[next + 1], h->item[next])) next++;
    if (next >= h->n || !comes_before(h->item[next], last)) break;
    h->item[i] = h->item[next];
    i = next;
  }
  h->item[i] = last;
  return top;
}

void heap_free(struct memory *m, struct heap *h)
{
  memory_free(m, h->item);
  *h = (struct heap) { NULL, 0, 0 };
}
