@i types.w
@s pthread_attr_t int

\chapterquestion{How are the promises of chapter 0 kept when memory runs out, when a file is not what it seems, and when a thread comes late?}
@** Inside the foundations: allocator, mapped files, thread pool.
\incipit{C}{hapter 0 makes} promises: every byte is counted, every failure is one sentence, and a pool of threads never changes a sum. In this chapter we keep them.
The functions are short, and each has one difficulty that you cannot see from outside. How does a block know its own size? How does a
thread wait without missing its signal? Why did an earlier version of our program, run as root, delete \.{/dev/null}?

You can use the module without reading this chapter. But if you want to carry the engine to a system that is not
POSIX, this is the place to change.
@^POSIX@>

\begin{byhand}{a thousand elements, one at a time}
An array is filled one element at a time, and we do not know in advance how long it will be. When it is full, it gets a larger block, and what it holds is copied there.
How many elements are copied until 1000 have been written?

\medskip
\emph{32 more each time.} The blocks have room for 32, 64, 96 and so on up to 1024 elements. The copies are $32+64+\cdots+992=15872$.

\medskip
\emph{Twice as many, and 32 more.}

\medskip
\begin{tabular}{@@{}lrrrrrr@@{}}
room in the block & 32 & 96 & 224 & 480 & 992 & 2016\\
copied into the next & 32 & 96 & 224 & 480 & 992 & \\
copied so far & 32 & 128 & 352 & 832 & 1824 &
\end{tabular}
\medskip

The second rule copies fewer than two elements for each that is written, and it always will. The first copies nearly sixteen for each here, and twice as many for each in an array twice as long.
\end{byhand}

@* The allocator. \label{sec:allocator}
How much memory does a cache take, and how much did it take at its worst moment? The system cannot tell us: it knows the program and not the purposes. So we count ourselves. Every request is entered in two accounts, that of its purpose and one of all.
@^account@>@^allocator@>

\printedheader[memory_class..memory]{ground/memory.h}

A request is entered
before we know whether the system will grant it. Otherwise the account of a program that ran out of memory would show everything but the request that it died of.
The comparison at the end is for tests, which
refuse the first request, then the second, and so on, until a run succeeds. So every path after a refusal is taken at least once.

@<Enter a request, and say whether it is refused on purpose@>=
static bool enter_request(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.requests++, m->of[what].requests++;
  m->all.requested += bytes, m->of[what].requested += bytes;
  return m->all.requests == m->fail_at;
}
  /*- before we know whether the system grants it; fail_at is for tests, which refuse one request
    after the other */

@ A refusal is entered in the same two accounts, and put into words: the purpose, the size of the request, and what is held already. If the product of count and size is too large for |size_t|, it is entered as a request for 0 bytes, and the message shows the two factors: the absurd one usually comes from a damaged file.

@<Enter a refusal@>=
static void *enter_refusal(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %" PRIu64 " bytes"@| " for %s, %" PRIu64 " held",
    bytes, memory_class_name(what), m->all.live);
  return NULL;
}
@#
static void *enter_overflow(struct memory *m, enum memory_class what, size_t count,
  size_t size, struct error *why)
{
  enter_request(m, what, 0);
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %zu times %zu bytes for %s", count, size,
    memory_class_name(what));
  return NULL;
}
  /*- The product is no number of bytes, so 0 are entered, and the message has the factors: the
    absurd one usually comes from a damaged file. */

@ To free a block we need its size and its purpose. Should the caller remember both? Some day a caller would pass the wrong ones, and the accounts would drift. So every block carries them in front of it, in a \emph{header} (\cref{fig:blockheader}).
@^header of a block@>

\fig{blockheader}{fig:blockheader}{A block for the cache, as an example. The header is what |memory_free| reads; the caller never sees it. Below, what the request changes in the accounts.}{A long bar in three parts: a header of 64 bytes, which has the number of bytes, the purpose, cache, and a pointer to the block before it in an arena; the bytes for the caller, which begin at a multiple of 64; and those by which the size was rounded up. Below it two rows of numbers, the account of the cache and that of all: requested, allocated and live grow by the bytes of the request, the peak if there is more than ever, requests by one, refused not at all.}

The header is as large as the alignment, 64 bytes, a cache line and a whole AVX-512
register. So the memory after it is aligned as the block is. When we test with AddressSanitizer, only the allocator may touch the header: a write just before a block is then reported, as a write
just after it is.
@^AddressSanitizer@>@^alignment@>

@<The header of a block@>=
enum { ALIGNMENT = 64 };
struct block { size_t bytes; enum memory_class what; void *before; };
  /* stands |ALIGNMENT| bytes before the memory that the caller gets; |before| is the block
     of an arena that was allocated before this one */
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define HIDE(p, n) ((void) 0)
#define SHOW(p, n) ((void) 0)
#endif
@#
/*- Whoever takes a header with block_of hides it again, or frees the block. */
static struct block *block_of(void *p)
{
  struct block *b = (struct block *) (void *) ((char *) p - ALIGNMENT);
  SHOW(b, ALIGNMENT);
  return b;
}

@ Now we can allocate. The product |count*size| is checked before it is formed. Blocks are zeroed, so that no result depends on what was in them before. The size is rounded up to a multiple of the alignment, as |aligned_alloc| demands, and the header is added;
that is why the limit is |SIZE_MAX-127|. The accounts show the size that was requested.

@<Allocate a block@>=
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
  /*- Both factors may come from a file. The limit leaves room for the header and for rounding up.
    */
  if (size != 0 && count > (SIZE_MAX - 2 * ALIGNMENT + 1) / size)
    return enter_overflow(m, what, count, size, why);
  size_t bytes = count * size, cap = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct block *b = NULL;
  if (!enter_request(m, what, bytes)) b = aligned_alloc(ALIGNMENT, ALIGNMENT + cap);
  if (b == NULL) return enter_refusal(m, what, bytes, why);
  *b = (struct block) @[{ .bytes = bytes, .what = what }@];
  char *p = (char *) b + ALIGNMENT;
  /*- zeroed, so that no result depends on what was here before */
  memset(p, 0, bytes);
  HIDE(b, ALIGNMENT);
  HIDE(p + bytes, cap - bytes);
  enter_allocated(m, what, bytes);
  return p;
}

@ Bytes are \emph{live} until they are freed; a new maximum of |live| is a peak.

@<Enter bytes as allocated@>=
static void enter_allocated(struct memory *m, enum memory_class what, uint64_t bytes)
{
  struct account *book[2] = @[{ &m->all, &m->of[what] }@];
  for (int i = 0; i < 2; i++) {
    book[i]->allocated += bytes, book[i]->live += bytes;
    if (book[i]->live > book[i]->peak) book[i]->peak = book[i]->live;
  }
}

@ A graphics processor has an allocator of its own, and its memory must be in the same accounts. There is no block here, so the caller remembers size and purpose.

@<Enter memory of others@>=
bool memory_charge(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  if (enter_request(m, what, bytes)) return enter_refusal(m, what, bytes, why) != NULL;
  enter_allocated(m, what, bytes);
  return true;
}
@#
void memory_discharge(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.live -= bytes;
  m->of[what].live -= bytes;
}

@ Growing means allocating, copying, and freeing. For a moment both blocks are live, and the accounts
say so. Why not |realloc|? It may avoid that moment, and hides it when it cannot; we want the worst case in the accounts. And if the new block is refused, the old
one has not been touched: a caller whose array cannot grow still has the array. Sizes that must not grow by a common rule are set with this function; the cache of \cref{cache} does that, which must not exceed the context.

@<Grow a block, and free it@>=
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
  /*- Not realloc: while the contents are copied both blocks are live, and the accounts should show
    that peak. */
@#
void memory_free(struct memory *m, void *p)
{
  if (p == NULL) return;
  struct block *b = block_of(p);
  m->all.live -= b->bytes;
  m->of[b->what].live -= b->bytes;
  SHOW(p, (b->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  free(b);
}

@ Arrays that are filled one element at a time grow by the second rule of the hand calculation: a full array gets a block for twice its elements and |first| more. Why does that cost fewer
than two copies for each element? Let
the last copy have been of $c$ elements. The one before it was of at most half as many, the one before that of at most a quarter. All together they are fewer than $2c$,
and the array, which has grown since, is longer than $c$.
@^growing array@>

The new block is the function's value. We do not take the address of the caller's pointer, although that would save the caller a line: the address of a
|uint32_t *| is not that of a |void *|, and a compiler may assume that writing through the second leaves the first as it was. The capacity has the same type in every array, so its address can be passed.

@<Grow an array by the common rule@>=
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why)
{
  if (wanted <= *cap) return p;
  if (wanted > SIZE_MAX / 2 - first)
    return enter_overflow(m, what, wanted, size, why);
  /*- Doubling copies each element fewer than two times, however long the array becomes. */
  size_t count = 2 * (wanted - 1) + first;
  void *q = memory_resize(m, what, p, count, size, why);
  if (q != NULL) *cap = count;
  return q;
}

@* Arenas. \label{sec:arenas}
A pass through a model needs a dozen arrays at its beginning and none of them afterwards. Suppose the sixth is refused: then five must be freed, and the code that does this grows with every array. An \emph{arena} remembers the block that was allocated last, and each block remembers in its header the one before. So one loop finds them all. \label{sec:memoryheader}
@^arena@>

\printedheader[arena..arena_free]{ground/memory.h}

After a first refusal all further requests fail without a message, and the message is that of the first. So the code that fills an arena is a list of
allocations without a test between them; it tests once, at its end, whether any was |refused|.

@<Allocate in an arena, and free it@>=
@<Move a block from one list to another@>@;
void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
  /*- Code that fills an arena tests once, at its end: after a refusal the rest is refused without
    a word, and the first message stands. */
  if (a->refused) return NULL;
  void *p = a->spare == NULL ? NULL : take_spare(a, what, count, size);
  if (p == NULL) p = memory_alloc(a->m, what, count, size, why);
  a->refused = p == NULL;
  if (p != NULL) chain(&a->last, p);
  return p;
}
@#
void arena_free(struct arena *a)
{
  arena_reset(a);
  while (a->spare != NULL) memory_free(a->m, unchain(&a->spare));
}

@ The next pass allocates the same list of blocks again. It can be given the same ones: then the system is not asked for memory, and
no block is zeroed. |arena_reset| moves the blocks to a second list, |spare|, the last one first. So the first block ends up at the front of that list, where the first
allocation of the next round finds it. If that allocation wants more than last time, the small block is freed before the large one is allocated. So the arena
never holds more blocks than one round has asked for.

@<Allocate in an arena, and free it@>=
void arena_reset(struct arena *a)
{
  while (a->last != NULL) chain(&a->spare, unchain(&a->last));
  a->refused = false;
}
  /*- The last block goes first, so the first one ends up at the front, where the first request of
    the next round finds it. */

@ Both lists run through the headers of the blocks. |take_spare| takes the block at the front, or frees it if it does not fit; |arena_alloc| then allocates a new one.

@<Move a block from one list to another@>=
static void chain(void **list, void *p)
{
  struct block *b = block_of(p);
  b->before = *list;
  HIDE(b, ALIGNMENT);
  *list = p;
}
  /*- Both lists of an arena run through the headers; a header that was looked at is hidden again.
    */
static void *unchain(void **list)
{
  void *p = *list;
  struct block *b = block_of(p);
  *list = b->before;
  HIDE(b, ALIGNMENT);
  return p;
}
/*- the block at the front, or null if it does not fit, and then it is freed first: an arena never
  holds more blocks than one round asked for */
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

@ The file begins with the purposes, and has the allocator before the arenas that use it.

@(memory.c@>=
@;
/** Counted memory. Every byte is entered in two accounts, that of its purpose and that of all, and it is
  entered before the system is asked, so a program that dies of a request shows it. A block carries
  its size and purpose before its first byte; |memory_free| needs no more. Both lists of an arena run
  through these headers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "ground/ground.h"
const char *memory_class_name(enum memory_class what)
{
  static const char *const name[N_MEMORY_CLASSES] = @[{ "weights", "cache",
    "activations", "tokens", "training", "other" }@];
  return name[what];
}
@<Enter a request, and say whether it is refused on purpose@>@;
@<Enter a refusal@>@;
@<The header of a block@>@;
@<Enter bytes as allocated@>@;
@<Allocate a block@>@;
@<Enter memory of others@>@;
@<Grow a block, and free it@>@;
@<Grow an array by the common rule@>@;
@<Allocate in an arena, and free it@>@;

@* One line: messages. \label{sec:messages}
An error is one line of text. Two things can spoil it. A file may have a control character in the name of a field; printed as it is, it would break the line, or clear your terminal. And a message may be too long, and then a careless cut goes through the middle of a character.
@^control characters@>

\printedfunction{ground/errors.c}{error_say}

So control characters become question marks, and a message that does not fit is cut after a whole character. There is a third trap, which you meet only abroad. A program may have asked for the customs of its country (its \emph{locale}), and then |printf| writes two and a half with a comma. Our sentences quote numbers as you would type them, so the thread gets the plain customs of C for this one message, and then its own back.
@^locale@>

@* Mapped files, paths, and files that appear when they are whole. \label{sec:mapping}
Reading a model means mapping its files into memory. Before we map a path we look at what we have opened: a directory can be opened too, and only the attempt to map it fails, with a message
about devices. A pipe would make us wait for another program. An empty file is not an error here; it cannot be mapped, but it
can be described, as no bytes at a valid address, and the reader of the format will say what is missing (\.{unwoven/ground/files.c}).
@^memory mapping@>@^path@>

Writing is more dangerous. \label{sec:newfile} Half a file is worse than none: it has the right name, and it is found months later. So a program that makes a file writes it under another name in the same folder and renames it at the end, which the system does in one step. Until then an older file of that name is as it was, and if anything fails, the new one is removed.
@^rename@>

But renaming replaces \emph{whatever} has the name. If that is \.{/dev/null}, and the program runs as root, the device is gone, and half of the system's programs with it. An earlier version of this program did just that. If it is a symbolic link, the link is gone, and the file to which it led, which was meant, has its old content. So before anything is written we look at what is there:
@^symbolic link@>@^device file@>

\printedfunction{ground/new_file.c}{open_in_place}

A regular file may be replaced, and so may nothing. A link is followed, even if there is no file yet at its end. A directory, a device, a pipe or a socket is refused with a sentence. Why is |path_same| asked once more, after the links have been followed? Some links are not what they say: the file to which \.{/dev/stdout} leads may have been renamed since it was opened.

@ Three small things are left. \label{sec:bytesandids} Chapter 1 fills growing arrays of bytes and of ids (\.{ground/buffers.h}). Long work asks its caller now and then whether to go on (\.{ground/progress.h}), \label{sec:asking} and remembers a refusal: layers are computed within a pass, and a caller who said no to a layer must not be asked again by the pass.

And there is a clock. The clock on the wall will not do, since people and the network set it. POSIX has another, which only goes forward. We time the same work several times and report the median and the two \emph{quartiles}; these say how quiet the machine was. Why not the mean? A disturbance can only make a run longer, sometimes ten times as long. If that happens to one run in nine, the mean doubles, and the median moves by one place.
@^clock@>@^median@>@^quartiles@>

@* The life of a thread pool. \label{sec:poollife}
Starting a thread takes longer than most steps of a pass, so a pool starts its threads once and lets them wait. This is all that the rest of the engine calls: \label{sec:poolheader}

\printedheader[pool_work..pool_close]{ground/pool.h}

A \emph{helper} is a worker that is a thread of ours. A step has two ends. The caller announces it, and
all helpers wait for that; the last helper reports that all are done, and the caller waits for that. How does one thread wait for another? The textbook's answer is a \emph{condition variable}: the one waits for a signal, the other sends it. But a signal that is sent before the other waits is lost, and then it waits for ever.
@^condition variable@>

So each end is a \emph{generation counter}: a number that only ever rises by
one. A thread that waits remembers the number that it saw last, and waits until the counter shows another. Such a wait cannot come too late: a thread that arrives after the announcement
finds the new number, and goes on at once.
@^generation counter@>

@<What a pool holds@>=
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
  pool_work *shared; /* of |pool_share|, and its argument; the next part of it */
  void *shared_ctx;
  atomic_uint next;
  pthread_mutex_t lock;
  pthread_cond_t risen;
  struct worker_thread *threads; /* |workers| of them; number 0, the caller, is unused */
};

@ A thread that waits first looks at the number again and again for a short while. This is called \emph{spinning}. Why not sleep at once? Because
the next step of a pass usually comes within microseconds, and waking a sleeping thread takes
longer than that. But in the end it must go to sleep: a program that waits for its user would otherwise keep every core busy. Between two looks
it pauses. On x86 there is an instruction for that, which leaves the core to its other hardware thread for some tens of cycles, and keeps the processor from
guessing a value that has not come yet. How long to spin? On our machine waking a sleeper costs \val[0]{ground.pool.asleep} microseconds, and |SPIN_LIMIT| looks take \val[0]{ground.pool.looks}. So a thread that spins in vain, and then
sleeps and is woken, pays a few times what it would have paid for sleeping at once, and never more; and a step that comes in time costs \val[1]{ground.pool.next}.\lab{lab:poolclock}

If there are more threads than cores, we may be spinning on the very core that the other thread needs. So every |SPIN_YIELD| looks the thread \emph{yields}: it lets the system run whatever
else is ready. On an idle machine no other thread is, and it goes on at once. Without the yields, four workers on two cores would spend most of their time looking.
@^spinning@>@^yielding@>

@<Wait until a generation is over@>=
static void spin_pause(int i)
{
  if (i % SPIN_YIELD == SPIN_YIELD - 1) sched_yield();
#if defined __x86_64__
  else __builtin_ia32_pause();
#endif
}
  /*- With more threads than cores we may spin on the core that the other needs, hence the yields.
    */
@#
static bool is_over(struct generation *g, unsigned seen)
{@+ return atomic_load(&g->number) != seen;@+ }
/*- Spins for a while, since the next step mostly comes within microseconds and waking a sleeper
  takes longer; then sleeps. */
static void generation_wait(struct pool *p, struct generation *g, unsigned seen)
{
  for (int i = 0; i < SPIN_LIMIT; i++) {
    if (is_over(g, seen)) return;
    spin_pause(i);
  }
  /*- Count, then look at the number: generation_raise changes the number, then looks at the count.
    */
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&g->sleepers, 1);
  while (!is_over(g, seen)) pthread_cond_wait(&p->risen, &p->lock);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

@ The other side raises the number, and takes the lock only if a thread sleeps. Could it miss a sleeper? This is the \emph{lost wake-up}, a fault that no test finds by trying, so here is the argument. A thread that goes to sleep first counts itself in |sleepers| and then looks at the
number; here we first raise the number and then look at |sleepers|. These four are atomic operations of the strictest kind, \emph{sequentially consistent}, which all threads see in one order. So if we
see no sleeper, that thread sees the new number, and does not sleep. If it has seen the old number, it holds the lock until the moment at which it
sleeps, so the signal cannot fall between its look and its sleep. The atomic operations also carry the work to the helpers and its results back: what a thread wrote
before it raised a number, another can read after it has seen the new number.
@^lost wake-up@>

@<Raise a generation, and wake those who sleep@>=
static void generation_raise(struct pool *p, struct generation *g)
{
  atomic_fetch_add(&g->number, 1);
  if (atomic_load(&g->sleepers) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->risen);
  pthread_mutex_unlock(&p->lock);
}
  /*- No sleeper can be missed. Sleepers count themselves and then look at the number; we raise the
    number and then look at the count; all four are sequentially consistent. So if we see no
    sleeper, it sees the new number. One that saw the old number holds the lock until it sleeps, so
    the broadcast cannot fall between its look and its sleep. The number also carries the work
    over, and its results back. */

@ C has functions for the floating-point modes, |fegetenv| and |fesetenv|, but on x86-64 they also save and load the state of the old x87 unit, which computes none of our numbers. What counts is one
register, MXCSR, whose standard value is \.{1f80}: nothing flushed, nearest, no traps. Reading and writing it takes a small part of the time that the functions take. A test
sets every mode wrong and compares the results.\side{There is a pragma that should tell the compiler of this, |FENV_ACCESS|; neither gcc nor clang needs it here, because a kernel is called
through a pointer, and they do not know what it computes.}
@^MXCSR@>

@<Set the standard modes, and put back what was found@>=
#if defined __x86_64__
void float_modes_begin(struct float_modes *f)
{
  f->mxcsr = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
}
void float_modes_end(const struct float_modes *f)
{@+ __builtin_ia32_ldmxcsr(f->mxcsr);@+ }
#else
void float_modes_begin(struct float_modes *f)
{
  fegetenv(&f->rest);
  fesetenv(FE_DFL_ENV);
}
void float_modes_end(const struct float_modes *f)
{@+ fesetenv(&f->rest);@+ }
#endif

@ A helper sets the standard modes once, and no other code changes them, since the thread is ours. Then it waits for a step that it has not done, does its part, reports, and waits again. The
number that it saw last is a variable of its own, and no new step begins before all have reported. So a step can
neither be missed nor done twice. To report, a helper takes one from |busy|; the one that brings it to zero announces that the step is finished.

@<The life of a helper@>=
static void *worker_main(void *argument)
{
  struct worker_thread *h = argument;
  struct pool *p = h->owner;
  struct float_modes inherited;
  float_modes_begin(&inherited);
  /*- No step begins before all have reported, so counting along misses none and does none twice.
    */
  for (unsigned seen = 0;; seen++) {
    generation_wait(p, &p->announced, seen);
    if (atomic_load(&p->ending) != 0) return NULL;
    p->work(p->ctx, h->number, p->workers);
    if (atomic_fetch_sub(&p->busy, 1) == 1)
      generation_raise(p, &p->finished);
  }
}

@ The caller announces the step, does part 0 itself, and then waits until the others are done. |busy| is set before the step is announced;
in the other order a quick helper could report before it was counted. With one worker there is no announcement.

@<Give a step to all workers, and wait for the last@>=
void pool_run(struct pool *p, pool_work *work, void *ctx)
{
  unsigned workers = pool_workers(p);
  if (workers == 1) {
    work(ctx, 0, 1);
    return;
  }
  /*- All of this before the announcement, which hands it to the helpers. */
  unsigned seen = atomic_load(&p->finished.number);
  p->work = work, p->ctx = ctx;
  atomic_store(&p->busy, workers - 1);
  generation_raise(p, &p->announced);
  work(ctx, 0, workers);
  generation_wait(p, &p->finished, seen);
}

@ Equal parts take equal time only if nothing else runs on the machine. If another program, or the host of a virtual machine, takes a core away for a while, all workers wait for the part of that one. So the large products of single rows are cut into more parts, and whoever is free takes the next (\emph{load balancing}). Which worker computes an output depends on chance then; what it computes does not.
@^load balancing@>

@<Give a step to all workers, and wait for the last@>=
static void take_parts(void *ctx, unsigned worker, unsigned workers)
{
  struct pool *p = ctx;
  unsigned parts = PARTS_EACH * workers, i;
  (void) worker; /* whoever it is */
  while ((i = atomic_fetch_add(&p->next, 1)) < parts)
    p->shared(p->shared_ctx, i, parts);
}
  /*- Whoever is free takes the next part. Chance decides who computes an output, never what it is.
    */
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

@ A pool of one has no helpers; it is allowed, and has a block all the same. The
lock and the condition must be ready before the first thread starts.
Opening can fail half-way: the third thread may be refused after two were started.
So |pool_open| counts those that exist, with the caller, and a pool that is not complete is closed as any other, by |pool_end|.

@<Start the helpers@>=
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

@ How large a stack a thread gets would otherwise depend on the system: eight
megabytes with one C library, an eighth of one with another. So we ask for four megabytes, of which only what is used takes memory. No kernel needs more than a few tens of kilobytes, since large arrays are in memory that is
counted (\cref{sec:room}). But a compiler that does not optimize and surrounds every array with guards makes frames of more than a megabyte of the same kernels.
@^stack@>

@<Start a thread for each helper@>=
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
  /*- Returns how many workers there are now, the caller among them. 4 MiB, whatever the system's habit: a kernel needs a few tens
      of KiB, but the frames of a compiler that does not optimize and guards every array exceed a MiB. */

@ The helpers end when one more step is announced with |ending| set. Only those with a number below |started| exist. We wait for each of them, because a thread that is still on its way out may still look at the lock, and the lock
is about to be destroyed.

@<End the helpers that were started@>=
static void end_threads(struct pool *p, unsigned started)
{
  atomic_store(&p->ending, 1);
  generation_raise(p, &p->announced);
  /*- A thread on its way out may still look at the lock, so wait before the lock is destroyed. */
  for (unsigned i = 1; i < started; i++)
    pthread_join(p->threads[i].thread, NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->risen);
}

@ Then the memory is freed: the workspaces, the arena, the helpers' block, and last the pool that points to it.

@<End the helpers that were started@>=
static void pool_end(struct memory *m, struct pool *p, unsigned started)
{
  if (pool_alive(p)) end_threads(p, started);
  for (unsigned k = 0; k < p->workers; k++) memory_free(m, p->threads[k].workspace);
  arena_free(&p->kept);
  memory_free(m, p->threads);
  memory_free(m, p);
}
  /*- the one way in which a pool ends, opened whole or in part */

@ A null pool is a pool of one, and closing it does nothing.

A server may open a pool and then |fork|. The child has a copy of the pool's memory, but of the threads it has only the one that called |fork|: a step that was announced there would wait for ever. So the pool remembers its process. A child that wants to use the pool can ask, and if it closes the pool, it waits for no thread and leaves the lock alone, which may look as if a helper slept on it.
@^fork, of a process@>

@<Close a pool, and count its workers@>=
bool pool_alive(const struct pool *p)
{
  return pool_workers(p) == 1 || p->process == getpid();
}
  /*- After a fork only the thread that forked is there: a step would wait for ever, and the lock
    may look as if a helper slept on it. */
@#
void pool_close(struct memory *m, struct pool *p)
{
  if (p != NULL) pool_end(m, p, p->workers);
}
@#
unsigned pool_workers(const struct pool *p)
{
  return p == NULL ? 1 : p->workers;
}

@ A pool also keeps memory between steps: for each worker a \emph{workspace}, an array too large for a stack, and an arena for the caller. A larger workspace is taken before the old one is freed, so that a refusal takes nothing away. The arena is charged to the |struct memory| of the pool. A caller with another one gets no arena, since what it uses must be counted in its own.
@^workspace@>

@<What a pool keeps between steps@>=
struct arena *pool_arena(struct pool *p, const struct memory *m)
{@+ return p != NULL && p->m == m && p->kept.last == NULL ? &p->kept : NULL;@+ }
bool pool_reserve(struct pool *p, size_t size, struct error *why)
{
  if (p == NULL || size <= p->workspace_bytes) return true;
  for (unsigned i = 0; i < p->workers; i++) {
    /*- the larger one first, so that a refusal takes nothing away */
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

@ How many workers should there be? As many as there are cores. But Linux counts a core twice if it has two hardware threads; they share its multipliers, so our kernels gain nothing from the second. So \.{unwoven/ground/cores.c} asks which logical processors are siblings, and counts the first of each family.
@^cores@>

On a system without threads this file would be rewritten, with
a |pool_run| that does all parts one after the other. The bits would be the same, since it does not matter which thread does a part (\cref{sec:pool}).

@(pool.c@>=
@;
/** A pool of threads. Its steps are
  counted by two numbers that only rise, and no worker's choice ever changes a sum. To carry the engine to a system without threads,
  rewrite this file. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include "ground/ground.h"
#include "ground/tuning.h"
@<What a pool holds@>@;
@<Set the standard modes, and put back what was found@>@;
@<Wait until a generation is over@>@;
@<Raise a generation, and wake those who sleep@>@;
@<The life of a helper@>@;
@<Give a step to all workers, and wait for the last@>@;
@<End the helpers that were started@>@;
@<Start a thread for each helper@>@;
@<Start the helpers@>@;
@<Close a pool, and count its workers@>@;
@<What a pool keeps between steps@>@;

@ |SPIN_LIMIT|, |SPIN_YIELD| and |PARTS_EACH| follow from nothing. We chose them by the clock, and on another machine we might choose others; no bit of a result depends on them. All such numbers are in one header, \.{ground/tuning.h}, so that \.{make tune} can put others in their places and time them side by side; \cref{sec:tuning} tells what came out.

@* Module dependencies. \label{sec:modules}
The C of this book is divided into \emph{modules}. A module is a folder with one or more headers, which document what others may use, and the files that
implement them. One web makes one module; some have a second web in the workshop, as \emph{ground} has its functions here, and most have files in \.{unwoven}, ordinary C that no chapter prints whole. \Cref{fig:modules} shows which module includes which.
Follow the lines down from any module, and you have all that it needs: to compile chapter~3 and nothing else, copy the folders below \emph{loop}.
@^module@>@^dependence, of modules@>

No line leads upwards. A table, \.{book.list}, has a row for each module with what it needs; a tool compares the table with every
\.{\#include}, and an include that the table does not allow stops the build. The chapters use the workshop
only through headers that they print. So if you read them in order, you meet no function without having seen what it promises.

\widefig{modules}{fig:modules}{The modules by what they include; a line is left out where a longer way says the same. Filled: the chapters. Open: the workshop.}{A
graph in rows. The module ground is at the bottom; tokens and kernels stand low, model above kernels, then cache and loop, then phases, sampling and stopping, and search near the
top. All lines lead downwards; the chapters' modules are filled and joined by heavier lines, the workshop's modules are open boxes beside them.}

@* Exercises. \label{sec:insideexercises}
The allocator is small enough to be changed in an evening and read in an hour.

\begin{exercises}
\exercise{check}{ex:ground.grow}{A block of 10 objects of 8 bytes is all that is live. It grows to 20 objects, and then to
40. What are \emph{requested}, \emph{allocated}, \emph{live} and \emph{peak} then?}{\texttt{make exercise-W0-1}}{\given{560}, \given{560}, \given{320} and \given{480}.
While a block grows the old one and the new one are both live: growing to twice the size needs half as much again as is live in the end.}
\exercise{think}{ex:ground.header}{The C library's own allocator writes a header of its
own before each block, at least 8 bytes in glibc. How far would the accounts be wrong for a
model that takes \given{200} blocks, since we do not count those?}{\texttt{make exercise-W0-2}}{By at least
\given{1,600} bytes, whatever the blocks hold. The accounts would also differ between C libraries, and
a formula could not be equal to them.}
\exercise{think}{ex:ground.cut}{The message of an error is \given{200} euro signs, of three bytes each. How many are left of it, and
could there be more?}{\texttt{make exercise-W0-3}}{\given{132}. The message has room for \given{399} bytes, which would be \given{133} whole characters. But |cut_at_character| looks
only at the end of what was cut, so it cannot know that nothing of the last character is missing, and takes it away.}
\exercise{check}{ex:ground.limit}{Give |struct memory| a |limit|: requests that
would bring |live| above it are refused. Which function changes,
and by how many lines?}{\texttt{make exercise-W0-4}}{Only |enter_request|, by one line: a request
is now also refused if there is a limit and |live|, with the bytes asked for, would exceed it.}
\end{exercises}
