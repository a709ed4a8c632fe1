/* The words of a kernel (chapter 14) for threads that really wait.  Each thread of a block has a stack of its own, a fiber, and runs
   until it must wait: at the end of EACH_THREAD for its block, at the end of EACH_LANE for its warp only.  So a warp may run far ahead
   of another, which the loops of the host cannot do.  Device host:0 lets the first thread go on that can, host:1 the last, host:2 any.
   What stops the program: a thread that waits for others which do not come, or come to another place.  With ThreadSanitizer two threads
   that use the same number without a barrier between them are found in whatever order they come.  One block at a time, one test at a
   time: what is here is static. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#if defined __SANITIZE_THREAD__ || defined TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#define UNSEEN __attribute__((no_sanitize("thread")))
#else
#define UNSEEN
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) ((void) (fiber))
#define __tsan_get_current_fiber() NULL
#define __tsan_switch_to_fiber(fiber, flags) ((void) (fiber))
#define __tsan_acquire(at) ((void) (at))
#define __tsan_release(at) ((void) (at))
#define __tsan_switch_to_fiber_no_sync 1
#endif
/* A fiber that does not run is its stack pointer.  swapcontext asks the system for the mask of signals at every switch, which takes longer
   than most threads run between two waits; no fiber has a mask of its own, so what a function must keep is enough: six registers, and
   the modes of floating point. */
#if defined __x86_64__
typedef struct { void *stack; } fiber_place;
void fiber_switch(fiber_place *from, const fiber_place *to);
__asm__(".text\n.type fiber_switch,@function\nfiber_switch:\n"
  "\tpush %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\tsub $8, %rsp\n\tstmxcsr (%rsp)\n\tfnstcw 4(%rsp)\n"
  "\tmov %rsp, (%rdi)\n\tmov (%rsi), %rsp\n"
  "\tldmxcsr (%rsp)\n\tfldcw 4(%rsp)\n\tadd $8, %rsp\n\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret\n"
  ".size fiber_switch,.-fiber_switch\n");
UNSEEN static void fiber_start(fiber_place *at, char *stack, size_t size, void (*run)(void))
{
  uintptr_t *top = (uintptr_t *) (void *) (stack + size);
  for (int i = 1; i <= 10; i++) top[-i] = 0;
  top[-2] = (uintptr_t) run; /* where fiber_switch returns to, with the stack as a call leaves it */
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(*(uint32_t *) &top[-9]), "=m"(((uint16_t *) &top[-9])[2]));
  at->stack = &top[-9];
}
#else
#include <ucontext.h>
typedef ucontext_t fiber_place;
static void fiber_switch(fiber_place *from, const fiber_place *to) { swapcontext(from, to); }
static void fiber_start(fiber_place *at, char *stack, size_t size, void (*run)(void))
{
  getcontext(at);
  at->uc_stack.ss_sp = stack, at->uc_stack.ss_size = size, at->uc_link = NULL;
  makecontext(at, run, 0);
}
#endif
enum { MOST_THREADS = 256, WARP = 32, WARPS = MOST_THREADS / WARP, STACK = 1 << 18 };
struct fiber { fiber_place at; char *stack; void *tsan; int line; };
/* where threads wait for each other, and how many have come; |turn|: which of two points of synchronization it is, since a fast
   thread may be one ahead */
struct meeting { unsigned came, turn; char sync[2]; };
static struct {
  fiber_place main;
  void *tsan;
  struct fiber f[MOST_THREADS];
  unsigned now, left, filled;
  uint32_t all[WARPS], can[WARPS]; /* the threads of each warp, and those that wait for nobody */
  struct meeting warp[WARPS], block;
  const void *fill[32];
  void (*run)(const struct launch *, const struct block_place);
  const struct launch *l;
  struct block_place place;
  uint64_t random;
  char begun, ended; /* of a block */
} fibers;

UNSEEN static void fibers_stop(const char *what, int line)
{
  const struct block_place p = fibers.place;
  fprintf(stderr, "kernel %d, block %u %u %u, thread %u, line %d: %s\n", (int) fibers.l->work, p.x, p.y, p.z, fibers.now, line, what);
  abort();
}

/* the thread that goes on now: of those that can the first, the last, or any */
UNSEEN static unsigned fibers_next(void)
{
  unsigned w = WARPS, from = 0;
  fibers.random = fibers.random * 6364136223846793005u + 1442695040888963407u;
  if (fibers.place.order == 2) from = (unsigned) (fibers.random >> 60);
  for (unsigned i = 0; i < WARPS && w == WARPS; i++) {
    unsigned k = fibers.place.order == 1 ? WARPS - 1 - i : (i + from) % WARPS;
    if (fibers.can[k] != 0) w = k;
  }
  if (w == WARPS) fibers_stop("its threads wait for others that have ended or wait elsewhere", fibers.f[fibers.now].line);
  uint32_t can = fibers.can[w];
  if (fibers.place.order == 1) return w * WARP + 31 - (unsigned) __builtin_clz(can);
  from = fibers.place.order == 2 ? (unsigned) (fibers.random >> 33 & 31) : 0;
  uint32_t later = can >> from << from;
  return w * WARP + (unsigned) __builtin_ctz(later != 0 ? later : can);
}

UNSEEN static void fiber_go(fiber_place *from)
{
  unsigned last = fibers.now;
  fiber_place *to = &fibers.main;
  void *tsan = fibers.tsan;
  if (fibers.left > 0) {
    fibers.now = fibers_next();
    to = &fibers.f[fibers.now].at, tsan = fibers.f[fibers.now].tsan;
    if (from != &fibers.main && fibers.now == last) return;
  }
  (void) tsan;
  __tsan_switch_to_fiber(tsan, __tsan_switch_to_fiber_no_sync);
  fiber_switch(from, to);
}

/* the last one to come lets all go on */
UNSEEN static void fiber_meet(struct meeting *m, unsigned first, unsigned n, int line)
{
  unsigned now = fibers.now;
  char *sync = &m->sync[m->turn];
  fibers.f[now].line = line, fibers.can[now / WARP] &= ~(1u << now % WARP);
  __tsan_release(sync);
  if (++m->came == n) {
    for (unsigned i = first; i < first + n; i++)
      if (fibers.f[i].line != line) fibers_stop("its threads wait in different places", line);
    for (unsigned w = first / WARP; w * WARP < first + n; w++) fibers.can[w] = fibers.all[w];
    m->came = 0, m->turn = 1 - m->turn;
  }
  fiber_go(&fibers.f[now].at);
  __tsan_acquire(sync);
}
UNSEEN static void wait_block(int line)
{ fiber_meet(&fibers.block, 0, fibers.place.threads, line); }
UNSEEN static void wait_warp(int line)
{
  unsigned w = fibers.now / WARP;
  fiber_meet(&fibers.warp[w], w * WARP, (unsigned) __builtin_popcount(fibers.all[w]), line);
}

/* shared memory begins with what the first thread that comes to its declaration puts there */
UNSEEN static void fibers_fill(void *p, size_t bytes)
{
  for (unsigned i = 0; i < fibers.filled; i++)
    if (fibers.fill[i] == p) return;
  fibers.fill[fibers.filled++] = p;
  for (size_t i = 0; i < bytes; i++) ((volatile unsigned char *) p)[i] = 0xff;
}

UNSEEN static void fiber_run(void)
{
  __tsan_acquire(&fibers.begun);
  fibers.run(fibers.l, fibers.place);
  __tsan_release(&fibers.ended);
  unsigned now = fibers.now;
  fibers.f[now].line = 0, fibers.can[now / WARP] &= ~(1u << now % WARP), fibers.left--;
  fiber_go(&fibers.f[now].at);
}

UNSEEN static void fiber_begin(unsigned i)
{
  struct fiber *f = &fibers.f[i];
  if (f->stack == NULL) f->stack = malloc(STACK), f->tsan = __tsan_create_fiber(0);
  fiber_start(&f->at, f->stack, STACK, fiber_run);
  f->line = 0, fibers.all[i / WARP] |= 1u << i % WARP;
}

UNSEEN static void begin_block(void (*run)(const struct launch *, const struct block_place), const struct launch *l,
  const struct block_place place)
{
  fibers.run = run, fibers.l = l, fibers.place = place, fibers.left = place.threads, fibers.filled = 0;
  fibers.tsan = __tsan_get_current_fiber();
  memset(fibers.warp, 0, sizeof fibers.warp), memset(&fibers.block, 0, sizeof fibers.block);
  memset(fibers.all, 0, sizeof fibers.all);
  for (unsigned i = 0; i < place.threads; i++) fiber_begin(i);
  memcpy(fibers.can, fibers.all, sizeof fibers.can);
  __tsan_release(&fibers.begun);
  fiber_go(&fibers.main);
  __tsan_acquire(&fibers.ended);
}

#define INLINE static inline
#define KERNEL static
#define AT_ONCE(threads, blocks)
#define GRID const struct block_place at,
#define HERE(at) ((void) at)
#define EACH_THREAD(t) for (unsigned t = fibers.now, go_on = 1; go_on; go_on = 0, wait_block(__LINE__))
#define EACH_LANE(t) for (unsigned t = fibers.now, go_on = 1; go_on; go_on = 0, wait_warp(__LINE__))
#define PRIVATE(type, name, n) static type name[MOST_THREADS][n]
#define MINE(name) name[t]
#define FROM_LANE(name, i, lane) name[(t & ~31u) + (lane)][i]
#define SHARED(type, name, n) static type name[n]; fibers_fill(name, sizeof name)
#define UNROLL(n)
