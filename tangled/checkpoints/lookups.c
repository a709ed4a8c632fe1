/* lookups.c -- made from workshop/23-lookups.w; change it there */

/* E.2 */

#include <stdio.h>
#include <string.h>
#include "lookups/table.h"
enum { PAIRS = 1000 };

/* E.3  Put five numbers into a heap, and take them out */

static void print_entries(const struct heap *h)
{
  for (size_t i = 0; i < h->n; i++)
    printf(" %d", (int)h->e[i].first);
  printf("\n");
}

/* E.4  Put five numbers into a heap, and take them out */

static bool print_heap(struct memory *m)
{
  static const uint64_t five[] = { 5, 2, 8, 1, 4 };
  struct heap h = { NULL, 0, 0 };
  bool ok = true;
  for (size_t i = 0; ok && i < 5; i++) {
    ok = heap_push(m, &h, (struct entry) { five[i], 0 }, NULL);
    printf("in %d: ", (int)five[i]);
    print_entries(&h);
  }
  while (ok && h.n > 0) {
    printf("out %d:", (int)heap_pop(&h).first);
    print_entries(&h);
  }
  heap_free(m, &h);
  return ok;
}

/* E.5  Fill a table, and find its longest crowd */

static bool fill_table(struct memory *m, size_t *room, size_t *crowd)
{
  struct pair_map p = { NULL, 0, 0 };
  bool ok = true;
  size_t run = 0;
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_put(m, &p, i, i + 1, i, NULL);
  for (uint32_t i = 1; ok && i <= PAIRS; i++)
    ok = pair_map_get(&p, i, i + 1) == i && pair_map_get(&p, i + 1, i) == 0;
  *crowd = 0, *room = p.room;
  for (size_t i = 0; i < p.room; i++) {
    run = p.slot[i].value != 0 ? run + 1 : 0;
    if (run > *crowd)
      *crowd = run;
  }
  pair_map_free(m, &p);
  return ok;
}

int main(int argc, char **argv)
{
  struct memory m = {.refuse_at = 0 };
  size_t room, crowd;
  if (!fill_table(&m, &room, &crowd))
    return 1;
  if (argc > 1 && strcmp(argv[1], "values") == 0) {
    printf("lookups.pairs %d\nlookups.slots %zu\n", PAIRS, room);
    printf("lookups.crowd %zu\n", crowd);
    return 0;
  }
  if (!print_heap(&m))
    return 1;
  printf("%d pairs in %zu slots, at most %zu in a row\n", PAIRS, room, crowd);
  return 0;
}
