/* memory.h -- memory that is counted: accounts, blocks, arenas.

   A block is allocated for a purpose; each purpose has an account, and one more adds them up.
   Sizes come as two factors, a count and the size of one object: the two are often read from a
   file, and their product may overflow, so that is checked in one place and not by every
   caller. Memory that another allocator hands out, such as that of a graphics processor, is
   entered in the same accounts. */

#ifndef INCIPIT_MEMORY_H
#define INCIPIT_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct error;

/* what a block is for */
enum memory_class { MEMORY_WEIGHTS, MEMORY_CACHE, MEMORY_ACTIVATIONS,
  MEMORY_TOKENS, MEMORY_TRAINING, MEMORY_OTHER, N_MEMORY_CLASSES };

/* bytes requested, refused or not; bytes allocated; those not yet freed; the most
   that were live; then two counts of requests */
struct account { uint64_t requested, allocated, live, peak, requests, refused; };

/* by purpose and together; all zero before the first request. Request number fail_at,
   from 1, is refused; 0: none */
struct memory { struct account of[N_MEMORY_CLASSES], all; uint64_t fail_at; };

/* count objects of size bytes, zeroed, aligned to 64, owned by the caller; null and a
   message if refused or if count*size overflows; a pointer even for 0 bytes */
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why);

/* frees a block; null does nothing */
void memory_free(struct memory *m, void *p);

/* an array p of *cap objects, or null and 0, gets room for wanted >=1: p itself if it
   has that room, otherwise a block of 2*(wanted-1)+first objects that replaces it
   (first >=1); on failure null and a message, p and *cap as they were */
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why);

/* the block p, or null for none, becomes one of count objects, its contents kept and
   the rest zeroed; on failure p is untouched and still owned by the caller */
void *memory_resize(struct memory *m, enum memory_class what, void *p, size_t count,
  size_t size, struct error *why);

/* "weights", "cache", ... */
const char *memory_class_name(enum memory_class what);

/* enters a request for memory that is allocated elsewhere; false and a message if it
   is refused */
bool memory_charge(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why);

/* the same memory is freed, or could not be had after all */
void memory_discharge(struct memory *m, enum memory_class what, uint64_t bytes);

/* blocks that are freed together, charged to m: last is the newest, spare the first
   of those kept for reuse; refused: a request was refused. To begin, set m and leave
   the rest zero */
struct arena { struct memory *m; void *last, *spare; bool refused; };

/* a block as of memory_alloc, or a kept one with any contents; it is neither resized
   nor freed by itself; after a refusal null, without another request */
void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why);

/* takes all blocks back and keeps them for the next allocations: the first is given
   out first, and one that is too small, or for another purpose, is freed and replaced */
void arena_reset(struct arena *a);

/* frees all blocks, kept ones as well */
void arena_free(struct arena *a);
#endif
