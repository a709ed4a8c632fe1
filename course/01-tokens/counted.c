/* counted.c -- the table of pairs and the heap of the library, which count here how often they are asked, and a cut of a text into
   pieces that needs no regular expressions: before every space.  Part of the lab; there is nothing to write in it. */

#include <string.h>
#include "lookups/table.h"
#include "tokens/unique.h"

static uint64_t lookups, entries; /* since counted_begin */
void counted_begin(void);
uint64_t counted_lookups(void);
uint64_t counted_entries(void);
void counted_begin(void) { lookups = entries = 0; }
uint64_t counted_lookups(void) { return lookups; }
uint64_t counted_entries(void) { return entries; }

/* <Find a pair's slot, or the free one where it belongs> */
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
  lookups++;
  return p->cap == 0 ? 0 : p->slot[pair_place(p, left, right)].value;
}

/* <Give a table of pairs twice the room> */
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
  lookups++;
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

/* <Give a table of names twice the room> */
static bool name_map_grow(struct memory *m, struct name_map *p, struct error *why)
{
  struct name_map larger = { NULL, p->cap == 0 ? 64 : 2 * p->cap, p->used };
  larger.slot = memory_alloc(m, MEMORY_TOKENS, larger.cap, sizeof *larger.slot, why);
  if (larger.slot == NULL) return false;
  for (size_t i = 0; i < p->cap; i++) {
    const struct name_slot *s = &p->slot[i];
    if (s->value != 0) larger.slot[name_place(&larger, s->byte, s->n)] = *s;
  }
  name_map_free(m, p);
  *p = larger;
  return true;
}

/* <Enter a name, and return the table> */
bool name_map_put(struct memory *m, struct name_map *p, const unsigned char *byte,
  size_t n, uint32_t value, struct error *why)
{
  if (2 * (p->used + 1) > p->cap && !name_map_grow(m, p, why)) return false;
  struct name_slot *s = &p->slot[name_place(p, byte, n)];
  if (s->value == 0) p->used++;
  *s = (struct name_slot) { byte, n, value };
  return true;
}

void name_map_free(struct memory *m, struct name_map *p)
{
  memory_free(m, p->slot);
  *p = (struct name_map) { NULL, 0, 0 };
}

/* <Put an entry into the heap> */
static bool comes_before(struct heap_item a, struct heap_item b)
{
  return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}

bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why)
{
  struct heap_item *p = memory_reserve(m, MEMORY_TOKENS, h->item, &h->cap, h->n + 1, 32,
    sizeof *p, why);
  if (p == NULL) return false;
  entries++;
  h->item = p;
  size_t i = h->n++;
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

/* one piece in the list of the different ones */
static bool enter_piece(struct memory *m, struct unique_pieces *u, const unsigned char *byte, size_t n, struct error *why)
{
  uint32_t known = name_map_get(&u->number, byte, n);
  if (known != 0) {
    u->piece[known - 1].weight++;
    return true;
  }
  struct unique_piece *p = memory_reserve(m, MEMORY_TOKENS, u->piece, &u->cap, u->n + 1, 64, sizeof *p, why);
  if (p == NULL) return false;
  u->piece = p;
  u->piece[u->n++] = (struct unique_piece) { byte, n, 1 };
  u->n_bytes += n;
  return name_map_put(m, &u->number, byte, n, (uint32_t) u->n, why);
}

/* cuts before every space, whatever the pattern is; without one, the text is one piece */
bool unique_collect(struct memory *m, struct unique_pieces *u, const unsigned char *text, size_t n, const char *pattern,
  struct error *why)
{
  for (size_t at = 0, end; at < n; at = end) {
    end = at + 1;
    while (end < n && (pattern == NULL || text[end] != ' ')) end++;
    if (!enter_piece(m, u, text + at, end - at, why)) return false;
  }
  return true;
}

void unique_free(struct memory *m, struct unique_pieces *u)
{
  name_map_free(m, &u->number);
  memory_free(m, u->piece);
}
