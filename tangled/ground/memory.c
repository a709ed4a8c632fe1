/* memory.c -- Counted memory.
   made from workshop/00-ground.w; change it there

   Every byte is entered in two accounts, that of its purpose and that of all, and it
   is entered before the system is asked, so a program that dies of a request shows
   it. A block carries its size and purpose before its first byte; memory_free needs
   no more. Both lists of an arena run through these headers. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "ground/ground.h"
const char *memory_class_name(enum memory_class what)
{
  static const char *const name[N_MEMORY_CLASSES] = { "weights", "cache",
    "activations", "tokens", "training", "other" };
  return name[what];
}

/* <Enter a request, and say whether it is refused on purpose> */

/* before we know whether the system grants it; fail_at is for tests, which refuse one
   request after the other */
static bool enter_request(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.requests++, m->of[what].requests++;
  m->all.requested += bytes, m->of[what].requested += bytes;
  return m->all.requests == m->fail_at;
}

/* <Enter a refusal> */
static void *enter_refusal(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %" PRIu64 " bytes for %s, %" PRIu64 " held",
    bytes, memory_class_name(what), m->all.live);
  return NULL;
}

/* The product is no number of bytes, so 0 are entered, and the message has the
   factors: the absurd one usually comes from a damaged file. */
static void *enter_overflow(struct memory *m, enum memory_class what, size_t count,
  size_t size, struct error *why)
{
  enter_request(m, what, 0);
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %zu times %zu bytes for %s", count, size,
    memory_class_name(what));
  return NULL;
}

/* <The header of a block> */
enum { ALIGNMENT = 64 };

/* stands ALIGNMENT bytes before the memory that the caller gets; before is the block
   of an arena that was allocated before this one */
struct block { size_t bytes; enum memory_class what; void *before; };
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define HIDE(p, n) ((void) 0)
#define SHOW(p, n) ((void) 0)
#endif

/* Whoever takes a header with block_of hides it again, or frees the block. */
static struct block *block_of(void *p)
{
  struct block *b = (struct block *) (void *) ((char *) p - ALIGNMENT);
  SHOW(b, ALIGNMENT);
  return b;
}

/* <Enter bytes as allocated> */
static void enter_allocated(struct memory *m, enum memory_class what, uint64_t bytes)
{
  struct account *book[2] = { &m->all, &m->of[what] };
  for (int i = 0; i < 2; i++) {
    book[i]->allocated += bytes, book[i]->live += bytes;
    if (book[i]->live > book[i]->peak) book[i]->peak = book[i]->live;
  }
}

/* <Allocate a block> */
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
  /* Both factors may come from a file. The limit leaves room for the header and for
     rounding up. */
  if (size != 0 && count > (SIZE_MAX - 2 * ALIGNMENT + 1) / size)
    return enter_overflow(m, what, count, size, why);
  size_t bytes = count * size, cap = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct block *b = NULL;
  if (!enter_request(m, what, bytes)) b = aligned_alloc(ALIGNMENT, ALIGNMENT + cap);
  if (b == NULL) return enter_refusal(m, what, bytes, why);
  *b = (struct block) { .bytes = bytes, .what = what };
  char *p = (char *) b + ALIGNMENT;
  /* zeroed, so that no result depends on what was here before */
  memset(p, 0, bytes);
  HIDE(b, ALIGNMENT);
  HIDE(p + bytes, cap - bytes);
  enter_allocated(m, what, bytes);
  return p;
}

/* <Enter memory of others> */
bool memory_charge(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  if (enter_request(m, what, bytes)) return enter_refusal(m, what, bytes, why) != NULL;
  enter_allocated(m, what, bytes);
  return true;
}

void memory_discharge(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.live -= bytes;
  m->of[what].live -= bytes;
}

/* <Grow a block, and free it> */

/* Not realloc: while the contents are copied both blocks are live, and the accounts
   should show that peak. */
void *memory_resize(struct memory *m, enum memory_class what, void *p, size_t count,
  size_t size, struct error *why)
{
  void *q = memory_alloc(m, what, count, size, why);
  if (q == NULL || p == NULL) return q;
  struct block *b = block_of(p);
  memcpy(q, p, b->bytes < count * size ? b->bytes : count * size);
  memory_free(m, p);
  return q;
}

void memory_free(struct memory *m, void *p)
{
  if (p == NULL) return;
  struct block *b = block_of(p);
  m->all.live -= b->bytes;
  m->of[b->what].live -= b->bytes;
  SHOW(p, (b->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  free(b);
}

/* <Grow an array by the common rule> */
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why)
{
  if (wanted <= *cap) return p;
  if (wanted > SIZE_MAX / 2 - first)
    return enter_overflow(m, what, wanted, size, why);
  /* Doubling copies each element fewer than two times, however long the array
     becomes. */
  size_t count = 2 * (wanted - 1) + first;
  void *q = memory_resize(m, what, p, count, size, why);
  if (q != NULL) *cap = count;
  return q;
}

/* <Allocate in an arena, and free it> */

/* <Move a block from one list to another> */

/* Both lists of an arena run through the headers; a header that was looked at is
   hidden again. */
static void chain(void **list, void *p)
{
  struct block *b = block_of(p);
  b->before = *list;
  HIDE(b, ALIGNMENT);
  *list = p;
}

static void *unchain(void **list)
{
  void *p = *list;
  struct block *b = block_of(p);
  *list = b->before;
  HIDE(b, ALIGNMENT);
  return p;
}

/* the block at the front, or null if it does not fit, and then it is freed first: an
   arena never holds more blocks than one round asked for */
static void *take_spare(struct arena *a, enum memory_class what,
  size_t count, size_t size)
{
  void *p = unchain(&a->spare);
  struct block *b = block_of(p);
  bool fits = b->what == what && (size == 0 || count <= b->bytes / size);
  HIDE(b, ALIGNMENT);
  if (fits) return p;
  memory_free(a->m, p);
  return NULL;
}

void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
  /* Code that fills an arena tests once, at its end: after a refusal the rest is
     refused without a word, and the first message stands. */
  if (a->refused) return NULL;
  void *p = a->spare == NULL ? NULL : take_spare(a, what, count, size);
  if (p == NULL) p = memory_alloc(a->m, what, count, size, why);
  a->refused = p == NULL;
  if (p != NULL) chain(&a->last, p);
  return p;
}

void arena_free(struct arena *a)
{
  arena_reset(a);
  while (a->spare != NULL) memory_free(a->m, unchain(&a->spare));
}

/* The last block goes first, so the first one ends up at the front, where the first
   request of the next round finds it. */
void arena_reset(struct arena *a)
{
  while (a->last != NULL) chain(&a->spare, unchain(&a->last));
  a->refused = false;
}
