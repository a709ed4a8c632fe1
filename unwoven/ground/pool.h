/* pool.h -- threads that do a step together.

   A pool is opened, runs steps, and is closed; between steps it keeps a workspace for each
   worker, an array too large for a stack, and an arena for the caller, which runs the same
   steps again and again and needs the same arrays each time. What a worker may do in a step is
   the contract of pool_work: the bits of every result rest on it. How many workers? As many as
   the processor has cores; more would only take turns. The floating-point modes belong to a
   thread, so they are kept in the caller's variable: one register on x86-64, C's own structure
   elsewhere. */

#ifndef INCIPIT_POOL_H
#define INCIPIT_POOL_H
#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
struct arena;
struct error;
struct memory;

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

/* as pool_run, but the step is cut into more parts than there are workers, and each
   worker takes another part when it has done one: work(ctx, i, parts), which uses no
   workspace */
void pool_share(struct pool *p, pool_work *work, void *ctx);

/* ends the threads and frees the memory; null does nothing */
void pool_close(struct memory *m, struct pool *p);

/* are its threads there? False in a process that was forked after pool_open: there a
   pool of several workers can only be closed. True for a null pool */
bool pool_alive(const struct pool *p);

/* how many; 1 for a null pool */
unsigned pool_workers(const struct pool *p);

/* physical cores that are online, at least 1 */
unsigned pool_cores(void);

/* an arena charged to m that lasts as long as the pool, for the thread that calls
   pool_run; null for a null pool, for other memory than the pool's, and while the
   arena is in use */
struct arena *pool_arena(struct pool *p, const struct memory *m);

/* from now on each worker has a workspace of at least size bytes; does nothing for a
   null pool. False and a message if memory is refused, and then each has what it had */
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
#endif
