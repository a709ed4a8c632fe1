/* ground.c -- Errors, counted memory, mapped files, and a pool of threads: all that
   the engine asks of the system.
   made from workshop/00-ground.w; change it there

   Every byte is entered in two accounts, that of its purpose and that of all, and it
   is entered before the system is asked, so a program that dies of a request shows
   it. A block carries its size and purpose before its first byte; memory_free needs
   no more. The pool's steps are counted by two numbers that only rise, and no
   worker's choice ever changes a sum. An error is one line, written by the function
   that fails. To carry the engine to a system that is not POSIX, change this file. */

#define _DEFAULT_SOURCE /* madvise */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/ground.h"
#include "ground/tuning.h"

/* <Errors, memory and files> */

/* <Cut a long message between two characters> */

/* Goes back over at most three continuation bytes, then over the byte that begins the
   character. A character that was complete goes as well; to keep it, we would have to
   count. */
static void cut_at_character(char *words)
{
  size_t n = strlen(words), k = 0;
  while (k < n && k < 3 && ((unsigned char) words[n - 1 - k] & 0xc0) == 0x80) k++;
  if (k < n && (unsigned char) words[n - 1 - k] >= 0xc0) words[n - 1 - k] = '\0';
}

/* <Write the message, and return false> */
bool error_say(struct error *why, const char *format, ...)
{
  if (why == NULL) return false;
  /* Under a foreign locale, 2.5 would be printed with a comma. uselocale is the
     thread's; setlocale would change it for the whole process. */
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
  locale_t before = plain != (locale_t) 0 ? uselocale(plain) : (locale_t) 0;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  if (plain != (locale_t) 0) uselocale(before), freelocale(plain);
  /* one line, and nothing that steers a terminal: control characters, also the second
     set, which UTF-8 writes as c2 80 to c2 9f */
  if (n < 0) why->text[0] = '\0';
  if (n >= (int) sizeof why->text) cut_at_character(why->text);
  for (unsigned char *c = (unsigned char *) why->text; *c != '\0'; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
    else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
  return false;
}

/* <Write the four parts in their order> */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted)
{
  return error_say(why, "%s: %s is %s; wanted: %s", file, field, found,
    wanted);
}

/* <Name the purposes> */
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

/* <Map what has been opened> */
static bool map_open_file(struct mapping *map, const char *path, int file,
  size_t size, struct error *why)
{
  void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (p == MAP_FAILED)
    return error_say(why, "%s: cannot be mapped: %s", path, strerror(errno));
  *map = (struct mapping) { p, size };
  return true;
}

void file_unmap(struct mapping *map)
{
  if (map->size > 0) munmap((void *) (uintptr_t) map->bytes, map->size);
  *map = (struct mapping) { (const unsigned char *) "", 0 };
}

/* Only whole pages, and only of the mapping: other bytes of the pages at the ends may
   be in use, and memory that no file stands behind would be lost. */
void file_release(const struct mapping *map, const void *from, size_t n)
{
  uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), a = (uintptr_t) from;
  uintptr_t base = (uintptr_t) map->bytes;
  if (a < base || a - base > map->size || n > map->size - (a - base)) return;
  uintptr_t end = (a + n) / page * page;
  a = (a + page - 1) / page * page;
  if (a < end) madvise((void *) a, end - a, MADV_DONTNEED);
}

/* <Map a regular file> */
bool file_map(struct mapping *map, const char *path, struct error *why)
{
  *map = (struct mapping) { (const unsigned char *) "", 0 };
  /* A pipe must not make us wait for its writer. A directory can be opened, too, and
     would fail only in mmap, with words about devices; so we look first. */
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return error_say(why, "%s: cannot be opened: %s", path, strerror(errno));
  struct stat about;
  bool ok = fstat(file, &about) == 0;
  if (!ok) error_say(why, "%s: %s", path, strerror(errno));
  if (ok && !S_ISREG(about.st_mode))
    ok = error_found(why, path, "this", S_ISDIR(about.st_mode)
      ? "a directory" : "not a regular file", "a file");
  /* An empty file cannot be mapped, and is no error here: no bytes, at a valid
     address. The mapping keeps the file, so it can be closed. */
  if (ok && about.st_size > 0)
    ok = map_open_file(map, path, file, (size_t) about.st_size, why);
  close(file);
  return ok;
}

/* <Join a directory and a name> */

/* A path that was cut might name another file, so one that is too long is refused. */
static bool path_fits(const char *path, int n, struct error *why)
{
  return (n >= 0 && n < PATH_CAP) || error_say(why,
    "%.200s: the path has %d bytes; wanted: fewer than %d", path, n, (int) PATH_CAP);
}

bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why)
{
  return path_fits(path, snprintf(path, PATH_CAP, "%s/%s", folder, name), why);
}

bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why)
{
  const char *slash = strrchr(file, '/');
  int n = slash == NULL ? 0 : (int) (slash + 1 - file);
  return path_fits(path, snprintf(path, PATH_CAP, "%.*s%s", n, file, name), why);
}

bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode)
{
  return path_join(path, folder, name, NULL) && access(path, mode) == 0;
}

/* <Workers> */

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

/* <Count the physical cores> */

/* <Name the first of a processor's siblings> */

/* The list rises, so its first number is enough; a processor without a file is its
   own sibling. */
static long first_sibling(long i)
{
  char path[96];
  snprintf(path, sizeof path,
    "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", i);
  FILE *file = fopen(path, "r");
  long sibling = i;
  if (file != NULL) {
    if (fscanf(file, "%ld", &sibling) != 1) sibling = i;
    fclose(file);
  }
  return sibling;
}

/* Two hardware threads share the multipliers of a core, so a processor counts only if
   it is the first of its siblings. */
unsigned pool_cores(void)
{
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned first = 0;
  for (long i = 0; i < online; i++)
    if (first_sibling(i) == i) first++;
  return first > 0 ? first : 1;
}

/* <Ask whether to go on> */
bool progress_tell(struct progress *p, size_t done, size_t all)
{
  if (p == NULL) return true;
  /* A refusal is remembered: work is nested, and who said no to a part is not asked
     again by the whole. */
  if (p->all > 0) all = p->all;
  if (!p->cancelled) p->cancelled = !p->report(p->ctx, p->before + done, all);
  return !p->cancelled;
}

bool progress_cancelled(const struct progress *p)
{
  return p != NULL && p->cancelled;
}
