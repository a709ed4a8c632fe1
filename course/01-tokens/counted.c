/* counted.c -- the table of pairs and the heap of the library, with a count of how often they are asked, and a cut of a text into
   pieces that needs no regular expressions: before every space.  Part of the lab; there is nothing to write in it. */

#include "kit.h"
#include "lookups/table.h"
#include "tokens/unique.h"

enum { LOOKUPS, ENTRIES }; /* tests.c has them as well */

/* in this lab's library the functions of table.h that are counted have these names */
uint32_t uncounted_pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right);
bool uncounted_pair_map_put(struct memory *m, struct pair_map *p, uint32_t left, uint32_t right, uint32_t value, struct error *why);
bool uncounted_heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why);

uint32_t pair_map_get(const struct pair_map *p, uint32_t left, uint32_t right)
{
  count_more(LOOKUPS, 1);
  return uncounted_pair_map_get(p, left, right);
}

bool pair_map_put(struct memory *m, struct pair_map *p, uint32_t left, uint32_t right, uint32_t value, struct error *why)
{
  count_more(LOOKUPS, 1);
  return uncounted_pair_map_put(m, p, left, right, value, why);
}

bool heap_push(struct memory *m, struct heap *h, struct heap_item e, struct error *why)
{
  bool entered = uncounted_heap_push(m, h, e, why);
  if (entered) count_more(ENTRIES, 1);
  return entered;
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
