/* ground.h -- made from chapters/00-foundations.w; change it there */

#ifndef INCIPIT_GROUND_H
#define INCIPIT_GROUND_H
#ifdef __FAST_MATH__
_Static_assert(0, "-ffast-math would reorder the sums");
#endif
#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0
_Static_assert(0, "floats in wider registers (x87?)");
#endif
#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* <An error is one message> */

/* why the last call failed: one message in UTF-8, no line break; owned by the caller,
   written only on failure */
struct error { char text[400]; };

/* writes the message, cut to fit; why may be null; always false, so that a function
   can end with return error_say(...) */
bool error_say(struct error *why, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* file: field is found; wanted: wanted, found quoted by the caller */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted);

/* <Memory that is counted> */

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

/* the block p, or null for none, becomes one of count objects, its contents kept and
   the rest zeroed; on failure p is untouched and still owned by the caller */
void *memory_resize(struct memory *m, enum memory_class what, void *p, size_t count,
  size_t size, struct error *why);

/* frees a block; null does nothing */
void memory_free(struct memory *m, void *p);

/* "weights", "cache", ... */
const char *memory_class_name(enum memory_class what);

/* an array p of *cap objects, or null and 0, gets room for wanted >=1: p itself if it
   has that room, otherwise a block of 2*(wanted-1)+first objects that replaces it
   (first >=1); on failure null and a message, p and *cap as they were */
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why);

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

/* <A file that is mapped> */

/* a file as memory, read-only; an empty file has size == 0 */
struct mapping { const unsigned char *bytes; size_t size; };

/* maps the whole regular file path; the message names it */
bool file_map(struct mapping *map, const char *path, struct error *why);

/* ends a mapping; all pointers into it die with it */
void file_unmap(struct mapping *map);
#include "ground/paths.h"

/* <A pool of workers> */
struct pool;

/* one worker's part of a step: worker is 0...workers-1. It allocates nothing, and
   what it writes no other worker reads or writes */
typedef void pool_work(void *ctx, unsigned worker, unsigned workers);

/* a pool of workers >=1, the caller being the first of them; owned by the caller;
   null and a message if threads or memory are refused */
struct pool *pool_open(struct memory *m, unsigned workers, struct error *why);

/* work(ctx, i, workers) for every i, on as many threads; returns when all are done.
   The caller's own part runs under the floating-point modes that the caller has, so
   call float_modes_begin first; the other workers always have the standard ones. A
   null pool is one worker */
void pool_run(struct pool *p, pool_work *work, void *ctx);

/* how many; 1 for a null pool */
unsigned pool_workers(const struct pool *p);

/* ends the threads and frees the memory; null does nothing */
void pool_close(struct memory *m, struct pool *p);

/* physical cores that are online, at least 1 */
unsigned pool_cores(void);

/* an arena charged to m that lasts as long as the pool, for the thread that calls
   pool_run; null for a null pool, for other memory than the pool's, and while the
   arena is in use */
struct arena *pool_arena(struct pool *p, const struct memory *m);

/* from now on each worker has a workspace of at least size bytes; does nothing for a
   null pool. False and a message if memory is refused */
bool pool_reserve(struct pool *p, size_t size, struct error *why);

/* the workspace of a worker, at a multiple of 64, its contents anything; null if
   fewer than size bytes have been reserved */
void *pool_workspace(struct pool *p, unsigned worker, size_t size);

/* the modes of a thread, as they were found: mxcsr on x86-64, rest elsewhere */
struct float_modes { unsigned mxcsr; fenv_t rest; };

/* sets the standard modes, to nearest and nothing flushed; *f has those that were
   found */
void float_modes_begin(struct float_modes *f);

/* puts back the modes that were found */
void float_modes_end(const struct float_modes *f);

/* <Progress, and a way to stop> */

/* how far work has come, in rows or whatever the working function counts: report
   returns false to give up, and is not asked again (cancelled); before and all: if
   the work is a part, what came before it and the whole, else 0. It is the caller's,
   and used by one thread at a time */
struct progress {
  bool (*report)(void *ctx, size_t done, size_t all); void *ctx;
  size_t before, all; bool cancelled;
};

/* done of all are done; false: give up. A null p always goes on */
bool progress_tell(struct progress *p, size_t done, size_t all);

/* whether it was given up; false for null */
bool progress_cancelled(const struct progress *p);
#endif
