/* pool.c -- A pool of threads.
   made from workshop/00-ground.w; change it there

   Its steps are counted by two numbers that only rise, and no worker's choice ever
   changes a sum. To carry the engine to a system without threads, rewrite this file. */

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include "ground/ground.h"
#include "ground/tuning.h"

/* <What a pool holds> */
struct generation { atomic_uint number, sleepers; };
struct worker_thread { struct pool *owner; unsigned number; pthread_t thread;
  void *workspace; };
struct pool {
  unsigned workers;
  pid_t process; /* that has the threads */
  struct memory *m;
  struct arena kept;
  size_t workspace_bytes; /* that every worker has */
  struct generation announced, finished; /* steps begun, and steps done by all */
  atomic_uint busy, ending; /* workers that have not done the step; whether to end */
  pool_work *work;
  void *ctx;
  pool_work *shared; /* of pool_share, and its argument; the next part of it */
  void *shared_ctx;
  atomic_uint next;
  pthread_mutex_t lock;
  pthread_cond_t risen;
  struct worker_thread *threads; /* workers of them; number 0, the caller, is unused */
};

/* <Set the standard modes, and put back what was found> */
#if defined __x86_64__
void float_modes_begin(struct float_modes *f)
{
  f->mxcsr = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
}

void float_modes_end(const struct float_modes *f)
{ __builtin_ia32_ldmxcsr(f->mxcsr); }
#else
void float_modes_begin(struct float_modes *f)
{
  fegetenv(&f->rest);
  fesetenv(FE_DFL_ENV);
}

void float_modes_end(const struct float_modes *f)
{ fesetenv(&f->rest); }
#endif

/* <Wait until a generation is over> */

/* With more threads than cores we may spin on the core that the other needs, hence
   the yields. */
static void spin_pause(int i)
{
  if (i % SPIN_YIELD == SPIN_YIELD - 1) sched_yield();
#if defined __x86_64__
  else __builtin_ia32_pause();
#endif
}

static bool is_over(struct generation *g, unsigned seen)
{ return atomic_load(&g->number) != seen; }

/* Spins for a while, since the next step mostly comes within microseconds and waking
   a sleeper takes longer; then sleeps. */
static void generation_wait(struct pool *p, struct generation *g, unsigned seen)
{
  for (int i = 0; i < SPIN_LIMIT; i++) {
    if (is_over(g, seen)) return;
    spin_pause(i);
  }
  /* Count, then look at the number: generation_raise changes the number, then looks
     at the count. */
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&g->sleepers, 1);
  while (!is_over(g, seen)) pthread_cond_wait(&p->risen, &p->lock);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

/* <Raise a generation, and wake those who sleep> */

/* No sleeper can be missed. Sleepers count themselves and then look at the number; we
   raise the number and then look at the count; all four are sequentially consistent.
   So if we see no sleeper, it sees the new number. One that saw the old number holds
   the lock until it sleeps, so the broadcast cannot fall between its look and its
   sleep. The number also carries the work over, and its results back. */
static void generation_raise(struct pool *p, struct generation *g)
{
  atomic_fetch_add(&g->number, 1);
  if (atomic_load(&g->sleepers) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->risen);
  pthread_mutex_unlock(&p->lock);
}

/* <The life of a helper> */
static void *worker_main(void *argument)
{
  struct worker_thread *h = argument;
  struct pool *p = h->owner;
  struct float_modes inherited;
  float_modes_begin(&inherited);
  /* No step begins before all have reported, so counting along misses none and does
     none twice. */
  for (unsigned seen = 0;; seen++) {
    generation_wait(p, &p->announced, seen);
    if (atomic_load(&p->ending) != 0) return NULL;
    p->work(p->ctx, h->number, p->workers);
    if (atomic_fetch_sub(&p->busy, 1) == 1)
      generation_raise(p, &p->finished);
  }
}

/* <Give a step to all workers, and wait for the last> */
void pool_run(struct pool *p, pool_work *work, void *ctx)
{
  unsigned workers = pool_workers(p);
  if (workers == 1) {
    work(ctx, 0, 1);
    return;
  }
  /* All of this before the announcement, which hands it to the helpers. */
  unsigned seen = atomic_load(&p->finished.number);
  p->work = work, p->ctx = ctx;
  atomic_store(&p->busy, workers - 1);
  generation_raise(p, &p->announced);
  work(ctx, 0, workers);
  generation_wait(p, &p->finished, seen);
}

/* Whoever is free takes the next part. Chance decides who computes an output, never
   what it is. */
static void take_parts(void *ctx, unsigned worker, unsigned workers)
{
  struct pool *p = ctx;
  unsigned parts = PARTS_EACH * workers, i;
  (void) worker; /* whoever it is */
  while ((i = atomic_fetch_add(&p->next, 1)) < parts)
    p->shared(p->shared_ctx, i, parts);
}

void pool_share(struct pool *p, pool_work *work, void *ctx)
{
  if (pool_workers(p) == 1) {
    work(ctx, 0, 1);
    return;
  }
  p->shared = work, p->shared_ctx = ctx;
  atomic_store(&p->next, 0);
  pool_run(p, take_parts, p);
}

/* <End the helpers that were started> */
static void end_threads(struct pool *p, unsigned started)
{
  atomic_store(&p->ending, 1);
  generation_raise(p, &p->announced);
  /* A thread on its way out may still look at the lock, so wait before the lock is
     destroyed. */
  for (unsigned i = 1; i < started; i++)
    pthread_join(p->threads[i].thread, NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->risen);
}

/* the one way in which a pool ends, opened whole or in part */
static void pool_end(struct memory *m, struct pool *p, unsigned started)
{
  if (pool_alive(p)) end_threads(p, started);
  for (unsigned k = 0; k < p->workers; k++) memory_free(m, p->threads[k].workspace);
  arena_free(&p->kept);
  memory_free(m, p->threads);
  memory_free(m, p);
}

/* <Start a thread for each helper> */

/* Returns how many workers there are now, the caller among them. 4 MiB, whatever the
   system's habit: a kernel needs a few tens of KiB, but the frames of a compiler that
   does not optimize and guards every array exceed a MiB. */
static unsigned start_threads(struct pool *p, struct error *why)
{
  pthread_attr_t stack;
  pthread_attr_init(&stack);
  pthread_attr_setstacksize(&stack, (size_t) 4 << 20);
  unsigned i = 1;
  for (; i < p->workers; i++) {
    struct worker_thread *h = &p->threads[i];
    h->owner = p, h->number = i;
    int code = pthread_create(&h->thread, &stack, worker_main, h);
    if (code == 0) continue;
    error_say(why, "thread %u of %u: %s", i + 1, p->workers, strerror(code));
    break;
  }
  pthread_attr_destroy(&stack);
  return i;
}

/* <Start the helpers> */
struct pool *pool_open(struct memory *m, unsigned workers, struct error *why)
{
  struct pool *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->process = getpid();
  p->m = p->kept.m = m;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->risen, NULL);
  p->threads = memory_alloc(m, MEMORY_OTHER, workers, sizeof *p->threads, why);
  p->workers = p->threads == NULL ? 0 : workers;
  unsigned started = p->threads == NULL ? 1 : start_threads(p, why);
  if (started == p->workers) return p;
  pool_end(m, p, started);
  return NULL;
}

/* <Close a pool, and count its workers> */

/* After a fork only the thread that forked is there: a step would wait for ever, and
   the lock may look as if a helper slept on it. */
bool pool_alive(const struct pool *p)
{
  return pool_workers(p) == 1 || p->process == getpid();
}

void pool_close(struct memory *m, struct pool *p)
{
  if (p != NULL) pool_end(m, p, p->workers);
}

unsigned pool_workers(const struct pool *p)
{
  return p == NULL ? 1 : p->workers;
}

/* <What a pool keeps between steps> */
struct arena *pool_arena(struct pool *p, const struct memory *m)
{ return p != NULL && p->m == m && p->kept.last == NULL ? &p->kept : NULL; }
bool pool_reserve(struct pool *p, size_t size, struct error *why)
{
  if (p == NULL || size <= p->workspace_bytes) return true;
  for (unsigned i = 0; i < p->workers; i++) {
    /* the larger one first, so that a refusal takes nothing away */
    void *space = memory_alloc(p->m, MEMORY_OTHER, size, 1, why);
    if (space == NULL) return false;
    memory_free(p->m, p->threads[i].workspace);
    p->threads[i].workspace = space;
  }
  p->workspace_bytes = size;
  return true;
}

void *pool_workspace(struct pool *p, unsigned worker, size_t size)
{
  if (p == NULL || size > p->workspace_bytes) return NULL;
  return p->threads[worker].workspace;
}
