@i types.w
@s pthread_attr_t int
@s locale_t int
@s mode_t int

\chapterquestion{How are the promises of chapter 0 kept when memory runs out, when a file is not what it seems, and when a thread comes late?}
@** Inside the foundations: allocator, mapped files, thread pool.
\incipit{C}{hapter 0 says} what the module \emph{ground} promises. Here are its headers, whole, and its functions.
They are short, and each has one difficulty that is not visible from outside: how a message is cut without breaking a character, how a block knows its own size, how a
pool of threads waits without missing its signal. You can use the module without reading this chapter. If you want to carry the engine to a system that is not
POSIX, this is the chapter to change, and it should be almost the only one.

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

The second rule copies fewer than two elements for each that is written, and it always will. The first copies sixteen for each here, and twice as many for each in an array twice as long.
\end{byhand}

@ The first line asks the
system for its POSIX names, which \.{-std=c11} hides. It is the only module of the engine that
needs so many of the system's headers.
@^POSIX@>

@(ground.c@>=
@;
/** Errors, counted memory, mapped files, and a pool of threads: all that the engine asks of the
  system. Every byte is entered in two accounts, that of its purpose and that of all, and it is
  entered before the system is asked, so a program that dies of a request shows it. A block carries
  its size and purpose before its first byte; |memory_free| needs no more. The pool's steps are
  counted by two numbers that only rise, and no worker's choice ever changes a sum. An error is one
  line, written by the function that fails. To carry the engine to a system that is not POSIX,
  change this file. */
#define _DEFAULT_SOURCE /* |madvise| */
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
@<Errors, memory and files@>@;
@<Workers@>@;

@ The first half needs nothing but the C library and the file system. Errors come first, because the allocator reports its failures through them.

@<Errors, memory and files@>=
@<Cut a long message between two characters@>@;
@<Write the message, and return false@>@;
@<Write the four parts in their order@>@;
@<Name the purposes@>@;
@<Enter a request, and say whether it is refused on purpose@>@;
@<Enter a refusal@>@;
@<The header of a block@>@;
@<Enter bytes as allocated@>@;
@<Allocate a block@>@;
@<Enter memory of others@>@;
@<Grow a block, and free it@>@;
@<Grow an array by the common rule@>@;
@<Allocate in an arena, and free it@>@;
@<Map what has been opened@>@;
@<Map a regular file@>@;
@<Join a directory and a name@>@;

@ The second half is the pool, from the modes of a thread up to the number of cores, and the question whether to go on. On a system without threads this half would be rewritten, with
a |pool_run| that does all parts one after the other. The bits would be the same, since it does not matter which thread does a part (\cref{sec:pool}).

@<Workers@>=
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
@<Count the physical cores@>@;
@<Ask whether to go on@>@;

@* Writing a message. \label{sec:messages}
A control character in the name of a file or a field
would break the promise of \emph{one line}, or steer the reader's terminal. So it is replaced by a question mark. The same holds for the second set of control characters, which UTF-8 writes as
|0xc2| and a byte below |0xa0|. A message that does not fit is cut at the end of a character, not in the middle of one.
@^control characters@>

@<Write the message, and return false@>=
bool error_say(struct error *why, const char *format, ...)
{
  if (why == NULL) return false;
  /*- Under a foreign locale, 2.5 would be printed with a comma. uselocale is the thread's;
    setlocale would change it for the whole process. */
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
  locale_t before = plain != (locale_t) 0 ? uselocale(plain) : (locale_t) 0;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  if (plain != (locale_t) 0) uselocale(before), freelocale(plain);
  /*- one line, and nothing that steers a terminal: control characters, also the second set, which
    UTF-8 writes as c2 80 to c2 9f */
  if (n < 0) why->text[0] = '\0';
  if (n >= (int) sizeof why->text) cut_at_character(why->text);
  for (unsigned char *c = (unsigned char *) why->text; *c != '\0'; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
    else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
  return false;
}

@ A program may have asked for the customs of its country (its \emph{locale}), and then |printf| puts a comma into two and a half in many of them. Our sentences quote numbers as one would type them, so they are written under the plain customs of C. That setting belongs to the thread, which gets its own back.
@^locale@>

@ The bytes |10xxxxxx| continue a UTF-8 character. We step back over them, at most three because no character has more, and over the
byte that begins the character to which they belong. A character that was complete at the end goes as well. To keep it we would have to count, and
one letter of a message that is cut anyway is not worth a loop.
@^UTF-8@>

@<Cut a long message between two characters@>=
static void cut_at_character(char *words)
{
  size_t n = strlen(words), k = 0;
  while (k < n && k < 3 && ((unsigned char) words[n - 1 - k] & 0xc0) == 0x80) k++;
  if (k < n && (unsigned char) words[n - 1 - k] >= 0xc0) words[n - 1 - k] = '\0';
}
  /*- Goes back over at most three continuation bytes, then over the byte that begins the
    character. A character that was complete goes as well; to keep it, we would have to count. */

@ The function for the four parts is one line. It is there so that all such messages have their parts in the same order, and so that a test can look in each of them for the file, the field, what was found and what was wanted.

@<Write the four parts in their order@>=
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted)
{
  return error_say(why, "%s: %s is %s; wanted: %s", file, field, found,
    wanted);
}

@* The headers: memory, buffers. \label{sec:memoryheader}
Chapter 0 shows the parts of these headers that every later chapter needs. Here they are whole, in groups. First come the accounts. A block is allocated for a purpose; each purpose has
an account, and one more adds them up.
@^account@>

@<What is counted@>=
enum memory_class {@+ MEMORY_WEIGHTS, MEMORY_CACHE, MEMORY_ACTIVATIONS,
  MEMORY_TOKENS, MEMORY_TRAINING, MEMORY_OTHER, N_MEMORY_CLASSES@+ };
  /* what a block is for */
struct account {@+ uint64_t requested, allocated, live, peak, requests, refused;@+ };
  /* bytes requested, refused or not; bytes allocated; those not yet freed; the most
     that were |live|; then two counts of requests */
struct memory {@+ struct account of[N_MEMORY_CLASSES], all;@+ uint64_t fail_at;@+ };
  /* by purpose and together; all zero before the first request. Request number
     |fail_at|, from 1, is refused; 0: none */

@ These take a block, enlarge an array by the common rule, and free. Sizes come as two factors, a count and the size of one object: the two are
often read from a file, and their product may overflow. So it is checked in one place and not by every caller.

@<Blocks and arrays@>=
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why);
  /* |count| objects of |size| bytes, zeroed, aligned to 64, owned by the caller; null and a message
     if refused or if |count*size| overflows; a pointer even for 0 bytes */
void memory_free(struct memory *m, void *p);
  /* frees a block; null does nothing */
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why);
  /* an array |p| of |*cap| objects, or null and 0, gets room for |wanted| $\ge 1$: |p| itself if it has
     that room, otherwise a block of |2*(wanted-1)+first| objects that replaces it (|first| $\ge 1$);
     on failure null and a message, |p| and |*cap| as they were */

@ A size that is not to grow by the common rule is set with |memory_resize|; the cache of chapter 4 does that, which must not exceed the context. The names of the purposes are for messages and tables.

@<Blocks and arrays@>=
void *memory_resize(struct memory *m, enum memory_class what, void *p, size_t count,
  size_t size, struct error *why);
  /* the block |p|, or null for none, becomes one of |count| objects, its contents kept and
     the rest zeroed; on failure |p| is untouched and still owned by the caller */
const char *memory_class_name(enum memory_class what);
  /* \.{"weights"}, \.{"cache"}, \dots */

@ Memory that another allocator hands out, such as that of a graphics processor, is entered in the same accounts.
@^account@>

@<Blocks and arrays@>=
bool memory_charge(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why);
  /* enters a request for memory that is allocated elsewhere; false and a message if it is refused */
void memory_discharge(struct memory *m, enum memory_class what, uint64_t bytes);
  /* the same memory is freed, or could not be had after all */

@ An arena stands for many blocks that are freed together, and may give the same blocks out again.
@^arena@>

@<Arenas@>=
struct arena {@+ struct memory *m;@+ void *last, *spare;@+ bool refused;@+ };
  /* blocks that are freed together, charged to |m|: |last| is the newest, |spare|
     the first of those kept for reuse; |refused|: a request was refused. To begin, set |m| and leave the rest zero */
void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why);
  /* a block as of |memory_alloc|, or a kept one with any contents; it is neither
     resized nor freed by itself; after a refusal null, without another request */
void arena_reset(struct arena *a);
  /* takes all blocks back and keeps them for the next allocations: the first is given out first,
     and one that is too small, or for another purpose, is freed and replaced */
void arena_free(struct arena *a);
  /* frees all blocks, kept ones as well */

@ None of these needs to know what is inside a |struct error|.

@(memory.h@>=
#ifndef INCIPIT_MEMORY_H
#define INCIPIT_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct error;
@<What is counted@>@;
@<Blocks and arrays@>@;
@<Arenas@>@;
#endif

@* The allocator. \label{sec:allocator}
A request is entered in two accounts, that of its purpose and the common one, and it is entered
before we know whether the system will grant it. Otherwise the account of a program that ran out of memory would show everything but the request that it died of.
A product that overflows is not a number of bytes; it is entered as a request for 0. The comparison at the end is for tests, which
refuse the first request, then the second, and so on.
@^account@>@^allocator@>

@<Enter a request, and say whether it is refused on purpose@>=
static bool enter_request(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.requests++, m->of[what].requests++;
  m->all.requested += bytes, m->of[what].requested += bytes;
  return m->all.requests == m->fail_at;
}
  /*- before we know whether the system grants it; fail_at is for tests, which refuse one request
    after the other */

@ A refusal is entered in the same two accounts, and put into words: the purpose, the size of the request, and what is held already.

@<Enter a refusal@>=
static void *enter_refusal(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %" PRIu64 " bytes"@| " for %s, %" PRIu64 " held",
    bytes, memory_class_name(what), m->all.live);
  return NULL;
}

@ A product too large for |size_t| is refused at once. Its message shows the two factors, because their product is the one number
that cannot be printed, and because the absurd factor usually comes from a damaged file.

@<Enter a refusal@>=
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

@ Every block carries its size and its purpose in front of it. That is why |memory_free| needs neither. The header is as large as the alignment, so that the memory after it is aligned as the block is: to 64 bytes, a cache line and a whole AVX-512
register. Under AddressSanitizer only the allocator may touch the header: a write just before a block is then reported, as a write
just after it is.
@^AddressSanitizer@>@^alignment@>@^header of a block@>

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

@ The product |count*size| is checked before it is formed, because both factors may come
from a file. Blocks are zeroed so that no result depends on what was in them before. The size is rounded up to a multiple of the alignment, as |aligned_alloc| demands, and has room for the header;
that is why the limit is |SIZE_MAX-127|. The accounts show
the size that was requested, not the size that it was rounded to.

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

@ Allocated bytes are live until they are freed; a new maximum of |live| is a peak.
The common account and that of the purpose are kept by the same four lines.

@<Enter bytes as allocated@>=
static void enter_allocated(struct memory *m, enum memory_class what, uint64_t bytes)
{
  struct account *book[2] = @[{ &m->all, &m->of[what] }@];
  for (int i = 0; i < 2; i++) {
    book[i]->allocated += bytes, book[i]->live += bytes;
    if (book[i]->live > book[i]->peak) book[i]->peak = book[i]->live;
  }
}

@ What is allocated elsewhere has no block here, so its size and purpose are the caller's to remember.

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
say so. |realloc| may avoid that moment, and hides it when it cannot; we want the worst case in the accounts. If the new block is refused, the old
one has not been touched, so a caller whose array cannot grow still has the array.

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

@ Arrays that are filled one element at a time grow by the second rule of the hand calculation: an array that is full gets a block for twice its elements and |first| more. Why does that cost fewer
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

@ The names of the purposes appear in messages, in \.{--stats}, and in the tables of
chapter 6. They are in the order of the enumeration, and the array has exactly as many places as there
are purposes.

@<Name the purposes@>=
const char *memory_class_name(enum memory_class what)
{
  static const char *const name[N_MEMORY_CLASSES] = @[{ "weights", "cache",
    "activations", "tokens", "training", "other" }@];
  return name[what];
}

@* Arenas. \label{sec:arenas}
An arena remembers the block that was allocated last, and each block remembers in its header the one before. So one loop finds them all, even
if the sixth was refused. After a first refusal all further requests fail without a message, and the message is that of the first. So the code that fills an arena is a list of
allocations without a test between them; it tests once, at its end, whether any was |refused|.
@^arena@>

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

@ Every pass through a model allocates the same list of blocks. When the list is repeated, it can be given the same blocks each time; then the system is not asked for memory, and
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

@* Mapping a file. \label{sec:mapping}
A directory can be opened too, and only the attempt to map it fails, with a message
about devices. So we look at what we have opened before we map it. A pipe has no size, and is refused for the same
reason; |O_NONBLOCK| keeps us from waiting for another program to write into it, and has no effect on a file. An empty file is not an error here. It cannot be mapped, but it
can be described: no bytes, at an address that is valid. The reader of the format will say what is missing.

@<Map a regular file@>=
bool file_map(struct mapping *map, const char *path, struct error *why)
{
  *map = (struct mapping) @[{ (const unsigned char *) "", 0 }@];
  /*- A pipe must not make us wait for its writer. A directory can be opened, too, and would fail
    only in mmap, with words about devices; so we look first. */
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return error_say(why, "%s: cannot be opened: %s", path, strerror(errno));
  struct stat about;
  bool ok = fstat(file, &about) == 0;
  if (!ok) error_say(why, "%s: %s", path, strerror(errno));
  if (ok && !S_ISREG(about.st_mode))
    ok = error_found(why, path, "this", S_ISDIR(about.st_mode)
      ? "a directory" : "not a regular file", "a file");
  /*- An empty file cannot be mapped, and is no error here: no bytes, at a valid address. The
    mapping keeps the file, so it can be closed. */
  if (ok && about.st_size > 0)
    ok = map_open_file(map, path, file, (size_t) about.st_size, why);
  close(file);
  return ok;
}

@ The descriptor can be closed at once, because the mapping keeps the file. If another program shortens
the file while we look at it, reading past its new end raises a signal and not an error code.
A library may not catch signals that belong to its caller, so the \emph{command} does
that (\cref{command}). Ending a mapping twice is harmless, since the first time leaves it empty.
@^signal@>

@<Map what has been opened@>=
static bool map_open_file(struct mapping *map, const char *path, int file,
  size_t size, struct error *why)
{
  void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (p == MAP_FAILED)
    return error_say(why, "%s: cannot be mapped: %s", path, strerror(errno));
  *map = (struct mapping) @[{ p, size }@];
  return true;
}
@#
void file_unmap(struct mapping *map)
{
  if (map->size > 0) munmap((void *) (uintptr_t) map->bytes, map->size);
  *map = (struct mapping) @[{ (const unsigned char *) "", 0 }@];
}

@ A program that has made a copy of a part of a file will not read that part again, and can return its memory without ending the mapping. The system counts in whole pages, so those at the two ends are kept: other bytes of them may be in use. Bytes that are not in the mapping are left alone, because from memory that no file stands behind they would be lost. A refusal costs nothing but the memory, and is passed over.

@<Map what has been opened@>=
void file_release(const struct mapping *map, const void *from, size_t n)
{
  uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), a = (uintptr_t) from;
  uintptr_t base = (uintptr_t) map->bytes;
  if (a < base || a - base > map->size || n > map->size - (a - base)) return;
  uintptr_t end = (a + n) / page * page;
  a = (a + page - 1) / page * page;
  if (a < end) madvise((void *) a, end - a, MADV_DONTNEED);
}
  /*- Only whole pages, and only of the mapping: other bytes of the pages at the ends may be in
    use, and memory that no file stands behind would be lost. */

@ A model is a directory, and each reader of a format knows the names of its files. Three functions make a path of the two. They have a header of their own, which |ground.h| includes.
@^path@>

@(paths.h@>=
#ifndef INCIPIT_PATHS_H
#define INCIPIT_PATHS_H
#include <stdbool.h>
struct error;
enum {@+ PATH_CAP = 4096@+ };
  /* bytes that a path may have, with the zero at its end */
bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why);
  /* |path| is |folder|, a slash and |name|; error: a path too long, which is left cut */
bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why);
  /* |path| is |name| in the directory of |file|, or |name| as it is if there is no slash in |file| */
bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode);
  /* |path_join|, and whether the file may be accessed in a |mode| of |access|: |F_OK| if it is there */
#endif

@ Linux takes paths of |PATH_CAP| bytes, with the zero at the end. A longer one
is refused and not cut, since a path that was cut may name another file. |path_find| asks the system whether a file is there, and does not try to open it: a file that is
there and cannot be read deserves a message of its own.

@<Join a directory and a name@>=
static bool path_fits(const char *path, int n, struct error *why)
{
  return (n >= 0 && n < PATH_CAP) || error_say(why,
    "%.200s: the path has %d bytes; wanted: fewer than %d", path, n, (int) PATH_CAP);
}
  /*- A path that was cut might name another file, so one that is too long is refused. */
bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why)
{
  return path_fits(path, snprintf(path, PATH_CAP, "%s/%s", folder, name), why);
}
@#
bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why)
{
  const char *slash = strrchr(file, '/');
  int n = slash == NULL ? 0 : (int) (slash + 1 - file);
  return path_fits(path, snprintf(path, PATH_CAP, "%.*s%s", n, file, name), why);
}
@#
bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode)
{
  return path_join(path, folder, name, NULL) && access(path, mode) == 0;
}

@* A file that appears when it is whole. \label{sec:newfile}
Half a file is worse than none: it has the right name, and it is found months later. So a program that makes a file writes it under another name in the same folder and renames it at the end, which the system does in one step. Until then an older file of that name is as it was, and if anything fails, the new one is removed.
@^rename@>

Renaming has a danger that writing does not have: it replaces \emph{whatever} has the name. If that is \.{/dev/null}, and the program runs as root, the device is gone, and half of the system's programs with it. An earlier version of this program did just that. If it is a symbolic link, the link is gone, and the file to which it led, which was meant, has its old content. So before anything is written we look at what is there. A regular file may be replaced, and so may nothing. A link is followed, even if there is no file yet at its end. A directory, a device, a pipe or a socket is refused with a sentence. All writers of this book open their files here.
@^symbolic link@>@^device file@>

@(new_file.h@>=
#ifndef INCIPIT_NEW_FILE_H
#define INCIPIT_NEW_FILE_H
#include <stdio.h>
#include "ground/ground.h"
struct new_file {
  FILE *f; /* to be written to; null when it is closed */
  const char *path; /* as it was given, for messages; borrowed */
  char to[PATH_CAP], part[PATH_CAP]; /* the name that it will have, and its name until then; a stream has none */
};
  /* a file that is being made */
bool new_file_open(struct new_file *n, const char *path, bool stream,
  struct error *why);
  /* begins the file |path|, in place of a regular file or of none; |stream|: if |path| leads to a pipe or
     a device of characters, such as a terminal, that is opened and written to; false and a sentence, and nothing is held */
bool new_file_stored(struct new_file *n, struct error *why);
  /* closes what has been written, so that |n->part| can be read; error: not all of it could be stored */
bool new_file_end(struct new_file *n, bool ok, struct error *why);
  /* if |ok|, the file gets its name; else, or if that fails, it is removed, and the older one stays.
     Whether it has its name */
bool path_same(const char *a, const char *b);
  /* whether both paths lead to one file, under whatever names */
#endif

@ Two paths lead to the same file if their device and their number there are the same. The names prove nothing: there are links of both kinds, and \.{./a} is \.{a}. A program that replaces a file has to ask this about every file that it is still reading.

@<Compare two paths@>=
bool path_same(const char *a, const char *b)
{
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0
    && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
  /*- Names prove nothing: there are links of both kinds, and ./a is a. */

@ Only the last name of a path has to be followed by us; the system follows all others. A link that is relative counts from its own directory. Linux gives up after \given{40} links, and so do we.

@<Follow the links of a path@>=
static bool follow_links(struct new_file *n, struct error *why)
{
  char link[PATH_CAP], from[PATH_CAP];
  if (!path_beside(n->to, "", n->path, why)) return false;
  for (int i = 0; i < 40; i++) {
    ssize_t length = readlink(n->to, link, sizeof link - 1);
    if (length < 0) return true;
    link[length] = '\0';
    strcpy(from, *link == '/' ? "" : n->to);
    if (!path_beside(n->to, from, link, why)) return false;
  }
  return error_say(why, "%s: cannot be written: %s", n->path, strerror(ELOOP));
}
  /*- The system follows all names of a path but the last, which rename would replace. 40 links:
    Linux gives up there. */

@ The name in between is short, because the final one may already be as long as a name may be. It must be free: |"x"| lets the opening fail if it is not, and another process, or a thread of ours, takes the next number.

@<Begin a file beside its place@>=
static FILE *open_beside(struct new_file *n)
{
  char name[64];
  for (unsigned i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "incipit-%ld-%u.part", (long) getpid(), i);
    if (!path_beside(n->part, n->to, name, NULL)) errno = ENAMETOOLONG;
    else {
      FILE *f = fopen(n->part, "wbx");
      if (f != NULL) return f;
    }
    if (errno != EEXIST) break;
  }
  n->part[0] = '\0';
  return NULL;
}
  /*- The name is short because the final one may already be as long as a name may be; "x" lets the
    opening fail if another process has it. */

@ Some links are not what they say. The link \.{/dev/stdout} leads to an open file, which may have been renamed or removed since, and its text is then a name that leads elsewhere. So the place that we have found must be the file that the system finds.

A file that may not be written to is not replaced either, though its directory would allow it. The permissions of an older file pass on to the new one, if the file system has any.

@<Look for the place of a new file@>=
static const char *kind_of(mode_t mode)
{
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}
static bool open_in_place(struct new_file *n, const struct stat *old,
  struct error *why)
{
  if (old != NULL && !S_ISREG(old->st_mode))
    return error_found(why, n->path, "this", kind_of(old->st_mode),@|
      "a regular file, which is replaced, or a name that is free");
  if (!follow_links(n, why)) return false;
  /*- /dev/stdout is a link whose text may lead elsewhere by now: what we found must be what the
    system finds. A file that may not be written to is not replaced, though its directory would
    allow it. */
  errno = ENOENT;
  if (n->to[0] != '\0' && (old == NULL || (path_same(n->path, n->to)
      && access(n->to, W_OK) == 0))) n->f = open_beside(n);
  if (n->f != NULL && old != NULL) fchmod(fileno(n->f), old->st_mode & 0777);
  return n->f != NULL
    || error_say(why, "%s: cannot be written: %s", n->path, strerror(errno));
}

@ What is written to a stream is read at once by somebody else: nothing can be held back there, and nothing is replaced. A disk is a device too, but of blocks, and never a stream.

@<Begin, close and keep a new file@>=
bool new_file_open(struct new_file *n, const char *path, bool stream,
  struct error *why)
{
  struct stat old;
  bool there = stat(path, &old) == 0;
  *n = (struct new_file) @[{ .path = path }@];
  /*- What goes to a stream is read at once, so nothing is held back or replaced there. A disk is a
    device, but of blocks, and refused. */
  if (!(there && stream && (S_ISCHR(old.st_mode) || S_ISFIFO(old.st_mode))))
    return open_in_place(n, there ? &old : NULL, why);
  n->f = fopen(path, "wb");
  return n->f != NULL
    || error_say(why, "%s: cannot be written: %s", path, strerror(errno));
}

@ Whether everything could be written is known only when the file is closed: a full disk may not be noticed before that.

@<Begin, close and keep a new file@>=
bool new_file_stored(struct new_file *n, struct error *why)
{
  FILE *f = n->f;
  if (f == NULL) return true;
  n->f = NULL;
  /*- A full disk may be noticed only here. Not every failure sets errno. */
  errno = 0;
  bool ok = fflush(f) == 0 && !ferror(f);
  int number = errno;
  ok = fclose(f) == 0 && ok;
  if (number == 0) number = errno != 0 ? errno : EIO;
  return ok || error_say(why, "%s: cannot be written: %s", n->path, strerror(number));
}
@#
bool new_file_end(struct new_file *n, bool ok, struct error *why)
{
  ok = new_file_stored(n, ok ? why : NULL) && ok;
  if (n->part[0] == '\0') return ok;
  if (ok && rename(n->part, n->to) != 0)
    ok = error_say(why, "%s: cannot be written: %s", n->path, strerror(errno));
  if (!ok) unlink(n->part);
  n->part[0] = '\0';
  return ok;
}

@ The order of these pieces is that of the questions: which file is meant, where is it, and may it be replaced?

@(new_file.c@>=
@;
/** A file that appears under its name only when it is whole. It is written beside its place and
  renamed at the end, so a failure leaves the older file as it was. |rename| replaces whatever has
  the name, a device as well: nothing but a regular file, or no file, may be replaced, and that is
  asked before anything is written. A symbolic link is followed, never replaced. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/new_file.h"
@;@#
@<Compare two paths@>@;
@<Follow the links of a path@>@;
@<Begin a file beside its place@>@;
@<Look for the place of a new file@>@;
@<Begin, close and keep a new file@>@;

@* Bytes and ids. \label{sec:bytesandids}
The growing arrays of bytes and ids have a header and a file of their own. The arrays come first in the header; a struct of zeros is an empty one.

@<Growing arrays of bytes and ids@>=
struct bytes {@+ unsigned char *byte;@+ size_t n, cap;@+ };
  /* |n| bytes in a block of |cap|, for tokens; all zero is empty */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why);
  /* appends |n| bytes (|more| not inside |b|); on failure |b| is as it was */
void bytes_free(struct memory *m, struct bytes *b);
  /* frees the block and empties the array */
struct ids {@+ uint32_t *id;@+ size_t n, cap;@+ };
  /* a growing array of ids, like |struct bytes|; all zero is empty */
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why);
  /* appends one id; on failure the array is as it was */
void ids_free(struct memory *m, struct ids *list);
  /* frees the block and empties the array */

@ Files of several formats write a byte as two hexadecimal digits, so the functions that read them are here as well.

@(buffers.h@>=
#ifndef INCIPIT_BUFFERS_H
#define INCIPIT_BUFFERS_H
#include "ground/ground.h"
@<Growing arrays of bytes and ids@>@;
int hex_digit(unsigned char c);
  /* the value of a hexadecimal digit, capital or not; $-1$ for any other byte */
int hex_byte(const void *two);
  /* the value of two; $-1$ if one is not a digit; the second is not read if the first is not a digit */
#endif

@ Of the C library they need |memcpy| and nothing more.

@(buffers.c@>=
@;
/** Growing arrays of bytes and of ids, and bytes in hexadecimal. All zero is an empty array. A
  failure to grow leaves the array as it was; freeing twice does nothing. */
#include <string.h>
#include "ground/buffers.h"
@<Append bytes, and free them@>@;
@<Append an id, and free the array@>@;
@<Read hexadecimal digits@>@;

@ The capacity of both grows by the rule of the hand calculation. Appending no bytes allocates none. The sum |b->n + n| of two lengths of things that lie in memory cannot wrap around; that of a length that a caller has made up can, and is refused as the longest that there is.
If the larger block is refused, the old one and everything in it is still there.

@<Append bytes, and free them@>=
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why)
{
  if (n == 0) return true;
  size_t all = n <= SIZE_MAX - b->n ? b->n + n : SIZE_MAX; /* which is refused */
  unsigned char *p = memory_reserve(m, MEMORY_TOKENS, b->byte, &b->cap, all, 34, 1,
    why);
  if (p == NULL) return false;
  b->byte = p;
  memcpy(p + b->n, more, n);
  b->n += n;
  return true;
}

@ An empty array may be freed, and freed twice: freeing NULL does nothing. So a function that fails half-way can free
all its arrays without asking which of them it had begun.

@<Append bytes, and free them@>=
void bytes_free(struct memory *m, struct bytes *b)
{
  memory_free(m, b->byte);
  *b = (struct bytes) @[{ NULL, 0, 0 }@];
}

@ Ids come one by one, since
the encoder of chapter~1 finds them one by one. It pushes an id for every byte of a text, so whether there is room is tested here, without a call. An array can be used again for the next text by setting its |n| to zero; its block stays.

@<Append an id, and free the array@>=
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why)
{
  /*- tested here, not in a call: the encoder pushes an id for every byte of a text */
  if (list->n == list->cap) {
    uint32_t *p = memory_reserve(m, MEMORY_TOKENS, list->id, &list->cap,
      list->n + 1, 32,
      sizeof *p, why);
    if (p == NULL) return false;
    list->id = p;
  }
  list->id[list->n++] = id;
  return true;
}
@#
void ids_free(struct memory *m, struct ids *list)
{
  memory_free(m, list->id);
  *list = (struct ids) @[{ NULL, 0, 0 }@];
}

@ The functions of C that read numbers would be of no help with hexadecimal digits: they also accept a blank or a sign at the beginning of a number.

@<Read hexadecimal digits@>=
int hex_digit(unsigned char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
  /*- not strtoul, which would take a blank or a sign */
@#
int hex_byte(const void *two)
{
  const unsigned char *c = two;
  int high = hex_digit(c[0]), low = high < 0 ? -1 : hex_digit(c[1]);
  return low < 0 ? -1 : 16 * high + low;
}

@* The header of a thread pool. \label{sec:poolheader}
A pool is opened, runs steps, and is closed. What a worker may do in a step is the contract of |pool_work|: the bits of every result rest on it.

@<Run steps@>=
struct pool;
typedef void pool_work(void *ctx, unsigned worker, unsigned workers);
  /* one worker's part of a step: |worker| is $0\ldots{}$|workers-1|. It allocates
     nothing, and what it writes no other worker reads or writes */
struct pool *pool_open(struct memory *m, unsigned workers, struct error *why);
  /* a pool of |workers| $\ge 1$, the caller being the first of them; owned by
     the caller; null and a message if threads or memory are refused */
void pool_run(struct pool *p, pool_work *work, void *ctx);
  /* |work(ctx, i, workers)| for every |i|, on as many threads; returns when all are done. The
     caller's own part runs under the floating-point modes that the caller has, so call
     |float_modes_begin| first; the other workers always have the standard ones. A null pool is one worker */
void pool_share(struct pool *p, pool_work *work, void *ctx);
  /* as |pool_run|, but the step is cut into more parts than there are workers, and each worker takes
     another part when it has done one: |work(ctx, i, parts)|, which uses no workspace */
void pool_close(struct memory *m, struct pool *p);
  /* ends the threads and frees the memory; null does nothing */
bool pool_alive(const struct pool *p);
  /* are its threads there? False in a process that was forked after |pool_open|: there a pool of several
     workers can only be closed. True for a null pool */

@ How many workers should there be? As many as the processor has cores. More would only take turns.

@<Run steps@>=
unsigned pool_workers(const struct pool *p);
  /* how many; 1 for a null pool */
unsigned pool_cores(void);
  /* physical cores that are online, at least 1 */

@ A pool also keeps memory between steps: a \emph{workspace} for each worker, which is an array too large for a stack, and an arena for the caller, which
runs the same list of steps again and again and needs the same arrays each time.
@^workspace@>

@<Keep memory between steps@>=
struct arena *pool_arena(struct pool *p, const struct memory *m);
  /* an arena charged to |m| that lasts as long as the pool, for the thread that calls |pool_run|; null
     for a null pool, for other memory than the pool's, and while the arena is in use */
bool pool_reserve(struct pool *p, size_t size, struct error *why);
  /* from now on each worker has a workspace of at least |size| bytes; does nothing for a null
     pool. False and a message if memory is refused, and then each has what it had */
void *pool_workspace(struct pool *p, unsigned worker, size_t size);
  /* the workspace of a worker, at a multiple of 64, its contents anything; null if fewer than
     |size| bytes have been reserved */

@ The floating-point modes belong to a thread, so they are kept in the caller's variable. On x86-64 they are one register; elsewhere C's own structure holds them.

@<Set the floating-point modes@>=
struct float_modes {@+ unsigned mxcsr;@+ fenv_t rest;@+ };
  /* the modes of a thread, as they were found: |mxcsr| on x86-64, |rest| elsewhere */
void float_modes_begin(struct float_modes *f);
  /* sets the standard modes, to nearest and nothing flushed; |*f| has those that were found */
void float_modes_end(const struct float_modes *f);
  /* puts back the modes that were found */

@ The three groups are the header.

@(pool.h@>=
#ifndef INCIPIT_POOL_H
#define INCIPIT_POOL_H
#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
struct arena;
struct error;
struct memory;
@<Run steps@>@;
@<Keep memory between steps@>@;
@<Set the floating-point modes@>@;
#endif

@ Some numbers of this engine follow from nothing. They were chosen by the clock, and another machine might choose others: how long to spin, how far ahead to ask for memory, from how many rows on to pack. No bit of a result depends on them. All are in one header, so that \.{make tune} can put others in their places and time them side by side; \cref{sec:tuning} prints it and tells what came out.

@(tuning.h@>=
#ifndef INCIPIT_TUNING_H
#define INCIPIT_TUNING_H
#ifndef WORTH_DIVIDING
#define WORTH_DIVIDING 65536 /* multiply--adds that are shared among workers */
#endif
@<Chosen by the clock@>@;
  /* numbers on which no bit of a result depends, only how soon it is there */
#endif

@ Where a number is a choice between two ways, 1 takes the way that the comment names.

@<Chosen by the clock@>=
enum {
  SPIN_LIMIT = 2000, /* looks of a worker before it sleeps */
  SPIN_YIELD = 50, /* it yields every so many looks */
  PARTS_EACH = 4, /* parts for each worker, where any may take the next */
  HINT = 2, /* the cache into which memory is asked: 2 the second, 3 the first */
  STEPS = 8, /* of a loop over sixteens, written out */
  ROWS_AHEAD = 512, /* bytes, where one row is multiplied */
  FOURS_BYTES = 1024, /* of the longest rows that are taken by fours */
  FOURS_FLOATS = 1, /* floats by fours whatever their length, with AVX2 */
  PANEL_AHEAD = 12, /* steps of a panel, where one row is multiplied */
  PACK_AHEAD = 64, /* inputs of an output that is being packed */
  INPUTS_AHEAD = 24, /* inputs of a matrix stored by inputs */
  LATE = 128, /* rows whose tiles ask for the next strip */
  MANY_ROWS = 4, /* from which on tiles are computed */
  PACKED_ROWS = 6, /* from which on weights are packed for them */
  LYING_INPUTS = 768, /* most inputs of a matrix that many rows take as it lies */
  LYING_OUTS = 64, /* of its outputs at a time */
  MOST_ROWS = 516, /* that are packed at a time */
  UNROLL = 8, /* terms of a lane in one visit, stored by inputs */
  SPAN = 256, /* outputs at a time, stored by inputs */
  STRIPS_AHEAD = 3, /* half strips of blocks */
  LOOSE_SCALES = 1, /* scales of Q4\_0 one by one, with AVX-512 */
  STORED_MOST = 4, /* rows that multiply blocks as they lie */
  INT8_MANY = 96, /* rows that use a panel of blocks */
  INT8_FRESH = 8, /* units in a panel that was just filled */
  INT8_READY = 32, /* units at a time of one that was prepared */
  KEYS_AHEAD = 16, /* positions, where a head goes alone */
  TOGETHER = 8, /* positions that each head takes in its turn */
  PAGED_AHEAD = 4096, /* bytes, where the rows of a head are together */
  QUERIES = 48, /* that share the keys of a block */
  MANY_QUERIES = 4, /* from which on they do */
  NARROW_HEADS = 1 /* heads of 8 numbers are left to AVX2 */
};

@* The life of a thread pool. \label{sec:poollife}
A \emph{helper} is a worker that is a thread of ours; it knows its pool and its number. A step has two ends. The caller announces it, and
all helpers wait for that; the last helper reports that all are done, and the caller waits for that. Each end is a \emph{generation counter}: a number that only ever rises by
one. A thread that waits remembers the number that it saw last, and waits until the counter shows another. Such a wait cannot come too late, as waiting for a signal can: a thread that arrives after the announcement
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

@ A thread that waits first looks at the number again and again for a short while, which is called \emph{spinning}, because
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

@ A null pool is a pool of one, and closing it does nothing. So a program without
threads has nothing to write.

A server may open a pool and then |fork|. The child has a copy of the pool's memory, but of the threads it has only the one that called |fork|: a step that was announced there would wait for ever. So the pool remembers its process. A child that wants to use the pool can ask, and if it closes the pool, nobody is waited for, and the lock is left as it is, since it may look as if a helper slept on it.
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

@ A pool also keeps memory between steps. The workspaces are blocks, one for each worker. A larger one is taken before the old one is freed, so that a refusal takes nothing away. The arena is charged to the |struct memory| of the pool. A caller with another one gets no arena, since what it uses must be counted in its own.
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

@ Two hardware threads of one core share its multipliers, and for our kernels the second
one is of no use. Linux says which logical processors are siblings. We count those that
are the first of their kind; where the system says nothing we count all. Four processors in sibling lists |0,2| and |1,3| are two cores: numbers 0 and 1
are the first in their lists, 2 and 3 are not.
@^cores@>

@<Count the physical cores@>=
@<Name the first of a processor's siblings@>@;
/*- Two hardware threads share the multipliers of a core, so a processor counts only if it is the
  first of its siblings. */
unsigned pool_cores(void)
{
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned first = 0;
  for (long i = 0; i < online; i++)
    if (first_sibling(i) == i) first++;
  return first > 0 ? first : 1;
}

@ The system writes the list as text in a file for each processor, in rising order, so the first number is enough. A processor without such a file is its own first sibling, and counts.

@<Name the first of a processor's siblings@>=
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
  /*- The list rises, so its first number is enough; a processor without a file is its own sibling.
    */

@* Progress and the clock. \label{sec:asking}
Chapter 0 says why long work asks its caller whether to go on (\cref{sec:progress}). The caller fills in the function and what the function wants to know; the rest is kept by |progress_tell|.

@(progress.h@>=
#ifndef INCIPIT_PROGRESS_H
#define INCIPIT_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
struct progress {
  bool (*report)(void *ctx, size_t done, size_t all);@+ void *ctx;
  size_t before, all;@+ bool cancelled;
};
  /* how far work has come, in rows or whatever the working function counts: |report| returns false to give up,
     and is not asked again (|cancelled|); |before| and |all|: if the work is a part, what came before it and the
     whole, else 0. It is the caller's, and used by one thread at a time */
bool progress_tell(struct progress *p, size_t done, size_t all);
  /* |done| of |all| are done; false: give up. A null |p| always goes on */
bool progress_cancelled(const struct progress *p);
  /* whether it was given up; false for null */
#endif

@ A refusal is remembered. Work is nested, a layer in a pass and a pass in a prefill; a caller who has said no to one of them must not be asked again by the others, and perhaps say yes to one.
If work is cut into parts, such as a prefill in chunks, |before| and |all| say where the part belongs.

@<Ask whether to go on@>=
bool progress_tell(struct progress *p, size_t done, size_t all)
{
  if (p == NULL) return true;
  /*- A refusal is remembered: work is nested, and who said no to a part is not asked again by the
    whole. */
  if (p->all > 0) all = p->all;
  if (!p->cancelled) p->cancelled = !p->report(p->ctx, p->before + done, all);
  return !p->cancelled;
}
bool progress_cancelled(const struct progress *p)
{
  return p != NULL && p->cancelled;
}

@ The stopwatch has a header of its own. The clock on the wall will not do: people and the network set it, forwards and backwards. POSIX has another, which only goes forward.
We time the same work several times, and report the median. What disturbs a measurement makes it longer, now and then a great deal longer; that moves the mean by its share of the excess and
the median by one place. The quartiles say how quiet the machine was.
@^clock@>@^median@>@^quartiles@>

@(timing.h@>=
#ifndef INCIPIT_TIMING_H
#define INCIPIT_TIMING_H
#include <stddef.h>
double timing_seconds(void);
  /* of a clock that never goes back, from some moment on */
struct quartiles { double low, median, high; };
  /* the lower quartile, the median and the upper quartile */
struct quartiles timing_quartiles(double *x, size_t n);
  /* sorts |n| $\ge1$ numbers, and says which stand at the quarters */
size_t timing_last_cache(void);
  /* the bytes of the processor's third-level cache, 0 if the system does not say */
#endif

@ Its one system call is POSIX's, and has to be asked for.

@(timing.c@>=
@;
/** A clock that never goes back, and the quartiles of what it measured. The median is reported
  because disturbances only ever make a measurement longer. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "ground/timing.h"
@<Read the clock, and sort what it said@>@;
@<Ask for the size of the last-level cache@>@;

@ A sorted array has its quartiles at the quarters.
@^quartiles@>

@<Read the clock, and sort what it said@>=
double timing_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}
  /*- not the clock on the wall, which people and the network set */
static int by_size(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
struct quartiles timing_quartiles(double *x, size_t n)
{
  qsort(x, n, sizeof *x, by_size);
  return (struct quartiles) @[{ x[n / 4], x[n / 2], x[n * 3 / 4] }@];
}

@ To measure memory one must read more than a cache can hold. Linux says in a file how large a cache is; |index3| is the third level, as far as one core reaches it. (Some processors have several of them, and the sum on their data sheets is of no use to a core.) Elsewhere the answer is 0.
@^cache, of the processor@>

@<Ask for the size of the last-level cache@>=
size_t timing_last_cache(void)
{
  size_t kib = 0;
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (f != NULL) {
    if (fscanf(f, "%zuK", &kib) != 1) kib = 0;
    fclose(f);
  }
  return kib << 10;
}
  /*- index3 is the third level as far as one core reaches it, not the sum on the data sheet. */

@* Module dependencies. \label{sec:modules}
The C of this book is divided into \emph{modules}. A module is a folder with one or more headers, which document what others may use, and the files that
implement them. One web makes one module; some have a second web in the workshop, as \emph{ground} has its functions here, and some have files in \.{unwoven}, which no chapter prints. \Cref{fig:modules} shows which module includes which.
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
