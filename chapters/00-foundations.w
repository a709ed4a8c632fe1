@i types.w

\chapterquestion{What must be true of the machine before one number in this book can be believed?}
@** Foundations: errors, counted memory, mapped files, threads.
\incipit{E}{very chapter after} this one adds up floating-point numbers, asks for
memory, reads files that strangers wrote, and shares its work among threads. Each of
these can go wrong without a word. A sum can come out differently because somebody
else's library changed a switch in the processor; a request for memory can fail in the
middle of a sentence; a file can end where its header promised more. So before we
write a single token we build the floor to stand on: errors that are sentences, memory
that is counted, files that are mapped but not believed, rows that grow, a pool of workers whose
arithmetic is the same on every day, and a stopwatch.
@^error@>@^memory@>

None of it is about language models, and it is short. A reader in a hurry may read the
hand calculation, look at \cref{fig:ground}, and come back when a later chapter
says |memory_alloc| or |pool_run|.

\begin{byhand}{five requests, one refused}
A program asks for 60, 40 and 80 bytes, gives the 40 back, asks for 50 and is refused,
asks for 30. Four numbers are kept: bytes \emph{asked} for, \emph{given}, \emph{held}
(given and not returned) and the \emph{peak} of what was held.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
\tabhead{event} & \tabhead{asked} & \tabhead{given} & \tabhead{held} & \tabhead{peak}\\
take 60 & 60 & 60 & 60 & 60\\
take 40 & 100 & 100 & 100 & 100\\
take 80 & 180 & 180 & 180 & 180\\
return 40 & 180 & 180 & 140 & 180\\
take 50, refused & 230 & 180 & 140 & 180\\
take 30 & 260 & 210 & 170 & 180
\end{tabular}
\medskip

The peak is not the sum of anything: it is a moment, and here it is over before the end.
\end{byhand}

@ The program of this chapter, \.{checkpoints/ground.c}, does what the hand has just done, and then provokes some
failures to see what they say. With the argument |"values"| it prints its
numbers under their keys, from which the prose of this book takes every number that it
quotes; with |"ledger"| it prints the points of \cref{fig:ground}. Every chapter has such a program. Without an
argument it prints what is in the chapter's \emph{Checkpoint} box, so that a reader who runs it sees the page again. Where a chapter has more to measure than
fits into a short program, its keys and points come from a program of the laboratory.

@c
#include <stdio.h>
#include <string.h>
#include "ground/ground.h"
@<Play the five requests of the hand calculation@>@;
@<Print the account after every event@>@;
@<Let every kind of failure speak@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "ledger") == 0) return print_ledger();
  print_requests();
  print_failures();
  return 0;
}

@* Floating-point settings. \label{sec:arithmetic}
Chapter 2 promises that the scores a model gives have the same 32 bits on every path through the engine.
That promise is void if the compiler may reorder sums, or keep intermediate results in
wider registers. Take three numbers on a machine with two decimal digits: $(10+.4)+.4=10$, for each sum is rounded down,
but $10+(.4+.4)=11$. Both dangers are visible to the preprocessor, and |ground.h|, which every
file of this book includes, refuses to be compiled under either. A third danger the preprocessor cannot see:
a product and a sum contracted into one operation with one rounding where we wrote two. The command line of every build
forbids it, and the kernels, the small functions in which all the multiplying is done, test themselves for it before they are used (\cref{kernels}).
@^floating point@>@^fast math@>

@<Refuse a compiler that would change the bits@>=
#ifdef __FAST_MATH__
_Static_assert(0, "compile without -ffast-math: it reorders the sums");
#endif
#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0
_Static_assert(0, "this target computes floats in wider registers (x87?)");
#endif

@ The header is a table of contents for the chapter: one line for each of the things it
builds (only the growing rows and the stopwatch have headers of their own), and before them the refusal, so that no file of ours can slip past it. It includes three headers of the C library and none of the system's:
what needs POSIX is hidden in |ground.c|, and a program that includes |ground.h| is plain C.

@(ground.h@>=
#ifndef INCIPIT_GROUND_H
#define INCIPIT_GROUND_H
#include <fenv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
@<Refuse a compiler that would change the bits@>@;
@<An error is one sentence@>@;
@<Memory that is counted@>@;
@<A file that is mapped@>@;
@<A pool of workers@>@;
@<Progress, and a way to stop@>@;
#endif

@* Error messages. \label{sec:errors}
Whoever reads an error message has made a mistake, or has been handed somebody else's.
They need to know which file, which field of it, what was found there, and what would
have been right; they do not need a number to look up. So an error in this book is a
sentence, and the function that fails is the one that writes it, because nobody else
knows those four things at the same time.

@<An error is one sentence@>=
struct error { char text[400]; };
  /* why the last call failed: one sentence in UTF-8, no line break;
     owned by the caller, written only on failure */
bool error_say(struct error *why, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
  /* writes the sentence, cut to fit; |why| may be null; always |false|,
     so that a function can end with |return error_say(...)| */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted);
  /* \.{file: field is found; wanted: wanted}, |found| quoted by the caller */

@ That |error_say| returns |false| saves two lines at every place where something can
fail, and there are very many of those. A control character in a file's name or field
would break the promise of \emph{one line}, or steer the reader's terminal, so it goes out as a question mark, also one of the second set, which UTF-8 writes as |0xc2| and a byte below |0xa0|; what
does not fit is cut at the end of a character, not in the middle of one.

@<Write the sentence, and say no@>=
bool error_say(struct error *why, const char *format, ...)
{
  if (why == NULL) return false;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(why->text, sizeof why->text, format, list);
  va_end(list);
  if (n < 0) why->text[0] = '\0';
  if (n >= (int) sizeof why->text) cut_at_character(why->text);
  for (unsigned char *c = (unsigned char *) why->text; *c != '\0'; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
    else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?';
  return false;
}

@ The bytes |10xxxxxx| continue a UTF-8 character. We step back over them, at most three as no character has more, and over the
byte that began the character they belong to. A character that was complete at the end goes too; to keep it we would have to count, and
one letter of a sentence that is cut anyway is not worth a loop.

@<Cut a long sentence between two characters@>=
static void cut_at_character(char *words)
{
  size_t n = strlen(words), k = 0;
  while (k < n && k < 3 && ((unsigned char) words[n - 1 - k] & 0xc0) == 0x80) k++;
  if (k < n && (unsigned char) words[n - 1 - k] >= 0xc0) words[n - 1 - k] = '\0';
}

@ Most failures have the same four parts, so there is a function for them, and all such
messages come out in the same order. A reader who has seen one can read the next; and a test can look in any of them for the file,
the field, what was found and what was wanted, and does.

@<Write the four parts in their order@>=
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted)
{
  return error_say(why, "%s: %s is %s; wanted: %s", file, field, found,
    wanted);
}

@* Counted allocation. \label{sec:memory}
Chapter 6 will claim to know, to the byte, what a model's memory costs. A claim like
that needs a witness who was there when each byte was handed out. So all memory of the
engine is taken through one object that keeps the books, separately for each purpose,
and the formula of chapter 6 will be compared with the books, not with another formula.
The books count what \emph{we} ask for. Not in them are the rounding of a block to 64 bytes, the C library's own headers, the
stacks of threads, mapped files, and what three libraries take for themselves: jansson and utf8proc stand outside altogether, and
PCRE2 is lent our allocator in chapter 1.
@^accounts@>

@<Memory that is counted@>=
enum memory_class { MEMORY_WEIGHTS, MEMORY_CACHE, MEMORY_ACTIVATIONS,
  MEMORY_TOKENS, MEMORY_TRAINING, MEMORY_OTHER, N_MEMORY_CLASSES };
  /* what a block is for */
struct account { uint64_t requested, allocated, live, peak, requests, refused; };
  /* bytes requested (refused requests too), bytes allocated, bytes allocated and not
     yet freed, the largest that |live| has been; then two counts of requests */
struct memory { struct account of[N_MEMORY_CLASSES], all; uint64_t fail_at; };
  /* the books, by purpose and together; all zero is an empty book. Request
     number |fail_at| (from 1, over all purposes; 0: none) is refused */

@ Every block carries its size and its purpose in front of it, so that the caller who frees it need
not know them.\side{Each |struct memory| belongs to one thread at a time, and the workers of a pool never allocate. So the books need no
lock. Threads that write texts at the same time have one each; models and tokenizers, which they may share, allocate nothing while they are read.} The books count what was requested, not the few bytes of this header: they answer
the question how much a \emph{model} needs, and the same model must give the same answer under another allocator.
@^header of a block@>

@<Memory that is counted@>=
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why);
  /* |count| objects of |size| bytes, zeroed, aligned to 64, owned by the caller; null and a sentence
     if refused or if |count*size| overflows; 0 bytes give a pointer, too */
void *memory_resize(struct memory *m, enum memory_class what, void *p, size_t count,
  size_t size, struct error *why);
  /* the block |p|, or null for none, becomes one of |count| objects, its contents kept and
     the rest zeroed; on failure |p| is untouched and still owned by the caller */
void *memory_reserve(struct memory *m, enum memory_class what, void *p, size_t *cap,
  size_t wanted, size_t first, size_t size, struct error *why);
  /* an array |p| of |*cap| objects, or null and 0, gets room for |wanted| $\ge 1$: |p| itself if it has
     that room, otherwise a block of |2*(wanted-1)+first| objects that replaces it (|first| $\ge 1$ is the
     capacity of the first block); on failure null and a sentence, |p| and |*cap| as they were */
void memory_free(struct memory *m, void *p);
  /* frees a block of one of these three; null does nothing */
struct arena { struct memory *m; void *last, *spare; bool refused; };
  /* blocks that are freed together, charged to |m|; |last| is the one allocated last, |spare|
     the first of those that |arena_reset| has kept. It begins with |m| alone; |refused|: one of the blocks was */
void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why);
  /* a block as |memory_alloc| gives it, or a kept one, whose contents are anything; it is neither
     resized nor freed by itself; after a refusal null, without another request */
void arena_reset(struct arena *a);
  /* takes all blocks back and keeps them for the next allocations: the first is given out first,
     and one that is too small, or for another purpose, is freed and replaced */
void arena_free(struct arena *a);
  /* frees all blocks, those that are kept as well; an arena that is all zero has none */
const char *memory_class_name(enum memory_class what);
  /* \.{"weights"}, \.{"cache"}, \dots */

@ A request is entered in two accounts, that of its purpose and the common one. The
entry is made before we know whether the system will grant it: \emph{asked} counts
wishes. Otherwise the books of a program that ran out of memory would show everything but the request it died of. (A product that overflows is no number of bytes; it is entered as a request for none.) The last test is for tests: chapter after chapter will refuse the first
request, then the second, and so on, and see that nothing leaks and nothing crashes.

@<Enter a request, and tell whether it shall be refused on purpose@>=
static bool enter_request(struct memory *m, enum memory_class what, uint64_t bytes)
{
  m->all.requests++, m->of[what].requests++;
  m->all.requested += bytes, m->of[what].requested += bytes;
  return m->all.requests == m->fail_at;
}

@ A refusal is entered as well, and put in words. The sentence names the purpose, since
``out of memory'' tells a user nothing about what to make smaller: a cache shrinks with the context, weights do not. It says how much is held already, so that
the user can see whether the last request was the large one.

@<Enter a refusal@>=
static void *enter_refusal(struct memory *m, enum memory_class what, uint64_t bytes,
  struct error *why)
{
  m->all.refused++, m->of[what].refused++;
  error_say(why, "out of memory: %" PRIu64 " bytes"@| " for %s, %" PRIu64 " held",
    bytes, memory_class_name(what), m->all.live);
  return NULL;
}

@ A product too large for |size_t| is refused without asking anybody. Its sentence shows the two factors, because their product is the one number
that cannot be printed; and the factor that is absurd is usually one that a broken file has brought along.

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

@ The header is as large as the alignment, so that what follows it is aligned as the block is: 64 bytes, a cache line and a whole AVX-512
register. Under AddressSanitizer the header may not be touched by anybody but the allocator: a write just before a block is then reported, as a write
behind its end is.
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
static struct block *block_of(void *p)
{
  struct block *b = (struct block *) (void *) ((char *) p - ALIGNMENT);
  SHOW(b, ALIGNMENT);
  return b;
}

@ The product |count*size| is checked before it is formed, because both factors may come
from a file. Blocks are zeroed so that nothing depends on what was in them before. The size is rounded up to a multiple of the alignment, as |aligned_alloc| demands, and has room for the header;
that is why the limit is |SIZE_MAX-127|. The books enter
what was asked for, not what it was rounded to.

@<Take a block@>=
void *memory_alloc(struct memory *m, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
  if (size != 0 && count > (SIZE_MAX - 2 * ALIGNMENT + 1) / size)
    return enter_overflow(m, what, count, size, why);
  size_t bytes = count * size, cap = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct block *b = NULL;
  if (!enter_request(m, what, bytes)) b = aligned_alloc(ALIGNMENT, ALIGNMENT + cap);
  if (b == NULL) return enter_refusal(m, what, bytes, why);
  *b = (struct block) @[{ .bytes = bytes, .what = what }@];
  char *p = (char *) b + ALIGNMENT;
  memset(p, 0, bytes);
  HIDE(b, ALIGNMENT);
  HIDE(p + bytes, cap - bytes);
  @<Enter |bytes| as given@>@;
  return p;
}

@ What is given counts as held until it comes back; a new height of |live| is a peak.
The common account and the purpose's own are kept by the same four lines.

@<Enter |bytes| as given@>=
struct account *book[2] = @[{ &m->all, &m->of[what] }@];
for (int i = 0; i < 2; i++) {
  book[i]->allocated += bytes, book[i]->live += bytes;
  if (book[i]->live > book[i]->peak) book[i]->peak = book[i]->live;
}

@ Growing means allocating, copying, and freeing. For a moment both blocks are held, and the books
say so. |realloc| may avoid that moment; when it does not, it hides it, and we want the worst case in the books. If the new block is refused, the old
one has not been touched: a caller who loses the race for memory still has what it had.

@<Grow a block, and return it@>=
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

@ Most arrays of the engine are filled an element at a time, and nobody knows in advance how long they will be. They all grow by one
rule: an array that is full gets a block for twice its elements and |first| more. Take |first|$=32$. The capacities are $32$, $96$, $224$, $480$, $992$, and then
$2016$. When 1000 elements have been written, $32+96+224+480+992=1824$ have been copied, fewer than two for each. That is so in general. Let
the last copy have been of $c$ elements. The one before it was of at most half as many, the one before that of at most a quarter; all together they are fewer than $2c$,
and the array, which has grown since, is longer than $c$. If we added $32$ places each time, the same elements would cost $32+64+\cdots+992=15872$ copies, and an array
twice as long twice as many for each element.
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
  size_t count = 2 * (wanted - 1) + first;
  void *q = memory_resize(m, what, p, count, size, why);
  if (q != NULL) *cap = count;
  return q;
}

@ A pass through a model needs a dozen arrays, a search eight: all allocated at the beginning and freed at the end. Such a group comes from an
\emph{arena}. It remembers the block that was allocated last, and each block remembers in its header the one before, so that one loop finds them all, even
if the sixth was refused. After a first refusal all further ones are silent, and the sentence is that of the first. So the code that fills an arena is a list of
allocations without a test between them; it asks once, at its end, whether anything was |refused|.
@^arena@>

@<Allocate in an arena, and free it@>=
@<Move a block from one chain to another@>@;
void *arena_alloc(struct arena *a, enum memory_class what, size_t count, size_t size,
  struct error *why)
{
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

@ Every pass through a model allocates the same list of blocks. If the list is repeated, it can be given the same blocks each time; then nothing is asked of the system, and
nothing is zeroed. |arena_reset| moves the blocks to a second chain, |spare|, the last one first. So the first block ends up at the front of the chain, where the first
allocation of the next round finds it. If that allocation wants more than last time, the small block is freed before the large one is allocated. So the arena
never holds more blocks than one round has asked for.

@<Allocate in an arena, and free it@>=
void arena_reset(struct arena *a)
{
  while (a->last != NULL) chain(&a->spare, unchain(&a->last));
  a->refused = false;
}

@ Both chains run through the headers of the blocks. |take_spare| takes the block at the front, or frees it if it does not fit; |arena_alloc| then allocates a new one.

@<Move a block from one chain to another@>=
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
static void *take_spare(struct arena *a, enum memory_class what, size_t count, size_t size)
{
  void *p = unchain(&a->spare);
  struct block *b = block_of(p);
  bool fits = b->what == what && (size == 0 || count <= b->bytes / size);
  HIDE(b, ALIGNMENT);
  if (fits) return p;
  memory_free(a->m, p);
  return NULL;
}

@ The names of the purposes appear in messages, in \.{--stats}, and in the tables of
chapter 6. They stand in the order of the enumeration, and a purpose without a name would be a hole in it: the array has room for exactly as many as there
are purposes.

@<Name the purposes@>=
const char *memory_class_name(enum memory_class what)
{
  static const char *const name[N_MEMORY_CLASSES] = @[{ "weights", "cache",
    "activations", "tokens", "training", "other" }@];
  return name[what];
}

@* Memory-mapped files. \label{sec:files}
A checkpoint may be larger than we would like to copy, and reading it twice is waste.
We ask the system to let the file \emph{be} memory, read-only, and look at it in place:
pages that nobody reads never leave the disk. What we do not do is believe it. A
mapping says how many bytes there are; whether they mean anything is for the reader of
that format to find out, number by number, before it follows one: a length that is believed too early is a pointer
to somewhere else.
@^mapping@>

@<A file that is mapped@>=
struct mapping { const unsigned char *bytes; size_t size; };
  /* a file as memory, read-only; an empty file has |size == 0| */
bool file_map(struct mapping *map, const char *path, struct error *why);
  /* maps the whole regular file |path|; the sentence names it */
void file_unmap(struct mapping *map);
  /* ends a mapping; all pointers into it die with it */
enum { PATH_CAP = 4096 };
  /* bytes that a path may have, with the zero at its end */
bool path_join(char path[PATH_CAP], const char *folder, const char *name,
  struct error *why);
  /* |path| is |folder|, a slash and |name|; error: a path too long, which is left cut */
bool path_beside(char path[PATH_CAP], const char *file, const char *name,
  struct error *why);
  /* |path| is |name| in the directory of |file|, or |name| as it is if there is no slash in |file| */
bool path_find(char path[PATH_CAP], const char *folder, const char *name, int mode);
  /* |path_join|, and whether the file may be accessed in a |mode| of |access|: |F_OK| if it is there */

@ A directory can be opened too, and only the attempt to map it fails, with a message
about devices. So we look at what we have opened before we map it. A pipe has no size, and is refused for the same
reason; |O_NONBLOCK| keeps us from waiting for somebody to write into it, and means nothing to a file. An empty file is not an error here. It cannot be mapped, but it
can be described: no bytes, at an address that may be read from as often as one has bytes to read. Its reader will say what is missing.

@<Map a regular file@>=
bool file_map(struct mapping *map, const char *path, struct error *why)
{
  *map = (struct mapping) @[{ (const unsigned char *) "", 0 }@];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return error_say(why, "%s: cannot be opened: %s", path, strerror(errno));
  struct stat about;
  bool ok = fstat(file, &about) == 0;
  if (!ok) error_say(why, "%s: %s", path, strerror(errno));
  if (ok && !S_ISREG(about.st_mode))
    ok = error_found(why, path, "this", S_ISDIR(about.st_mode)
      ? "a directory" : "not a regular file", "a file");
  if (ok && about.st_size > 0)
    ok = map_open_file(map, path, file, (size_t) about.st_size, why);
  close(file);
  return ok;
}

@ The descriptor can be closed at once; the mapping keeps the file. If somebody shortens
the file while we look at it, reading past its new end is a signal, not an error code.
A library may not catch signals that belong to its caller, so the \emph{command} does
that (\cref{command}). To end a mapping twice is harmless, since the first time leaves it empty.

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

@ A model is a directory, and each reader knows the names of its files. Linux takes paths of |PATH_CAP| bytes, with the zero at the end. A longer one
is refused and not cut, since a path that was cut may name another file. Whether a file is there is asked of the system and not found out by opening it: a file that is
there and cannot be read deserves a sentence of its own.
@^path@>

@<Join a directory and a name@>=
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

@* Growing arrays. \label{sec:buffers}
A text is a row of bytes, and what a model reads is a row of numbers, the \emph{ids} of chapter~1. Both become longer while we work on them,
and nobody knows in advance how long. So we build a pair of \emph{growing arrays} on the counted memory,
one of bytes and one of ids. Each knows how many elements it has and how many there is
room for. All zero is the empty row, so nothing has to be opened, and a structure of several rows
begins its life as |@[{0}@]|. Every function that may need memory takes two arguments
for it: the memory, in front, and in the end the place for a sentence that says why not.
@^growing array@>

@<Rows of bytes and ids that grow@>=
struct bytes { unsigned char *byte; size_t n, cap; };
  /* |n| bytes in a block of |cap|, for tokens; all zero is empty */
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why);
  /* appends |n| bytes (|more| not inside |b|); on failure |b| is as
     it was */
void bytes_free(struct memory *m, struct bytes *b);
  /* returns the block and empties the row */
struct ids { uint32_t *id; size_t n, cap; };
  /* a row of ids that grows, like |struct bytes|; all zero is
     empty */
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why);
  /* appends one id; on failure the row is as it was */
void ids_free(struct memory *m, struct ids *list);
  /* returns the block and empties the row */

@ The capacity grows by the rule of \cref{sec:memory}, whatever the number of bytes that come at once. Appending none allocates none. The sum cannot wrap around, since both lengths are of things that lie in memory.
If there is no more room to be had, the old block and everything in it is still there.

@<Append bytes, and free them@>=
bool bytes_push(struct memory *m, struct bytes *b, const void *more,
  size_t n, struct error *why)
{
  if (n == 0) return true;
  unsigned char *p = memory_reserve(m, MEMORY_TOKENS, b->byte, &b->cap, b->n + n, 34, 1,
    why);
  if (p == NULL) return false;
  b->byte = p;
  memcpy(p + b->n, more, n);
  b->n += n;
  return true;
}

@ An empty row may be freed, and freed twice: freeing NULL does nothing. So a function that fails half-way can free
all its rows without asking which of them it had begun.

@<Append bytes, and free them@>=
void bytes_free(struct memory *m, struct bytes *b)
{
  memory_free(m, b->byte);
  *b = (struct bytes) @[{ NULL, 0, 0 }@];
}

@ The row of ids grows as that of bytes does; only here the elements come one by one, since
the encoder of chapter~1 finds them one by one. It pushes an id for every byte of a text, so whether there is a place is asked here, without a call. A row can be used again for the next text by setting its |n| to zero; its room stays.

@<Append an id, and free the row@>=
bool ids_push(struct memory *m, struct ids *list, uint32_t id,
  struct error *why)
{
  if (list->n == list->cap) {
    uint32_t *p = memory_reserve(m, MEMORY_TOKENS, list->id, &list->cap, list->n + 1, 32,
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

@ Bytes that cannot be typed are written as two hexadecimal digits each: in a stop string, in a grammar, in a vocabulary.

@<Rows of bytes and ids that grow@>=
int hex_digit(unsigned char c);
  /* the value of a hexadecimal digit, capital or not; $-1$ if it is none */
int hex_byte(const void *two);
  /* the value of two digits; $-1$ if one is none; after a first that is none nothing is read */

@ The functions of C that read numbers are of no help here: they would also take a blank, or a sign, for the beginning of a number.

@<Read hexadecimal digits@>=
int hex_digit(unsigned char c)
{
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
@#
int hex_byte(const void *two)
{
  const unsigned char *c = two;
  int high = hex_digit(c[0]), low = high < 0 ? -1 : hex_digit(c[1]);
  return low < 0 ? -1 : 16 * high + low;
}

@ The two rows have a header and a file of their own. A module that keeps a list of ids, as chapter 3's loop does, includes this header and needs to see no tokenizer.

@(buffers.h@>=
#ifndef INCIPIT_BUFFERS_H
#define INCIPIT_BUFFERS_H
#include "ground/ground.h"
@<Rows of bytes and ids that grow@>@;
#endif

@ The body needs |memcpy| and nothing more.

@(buffers.c@>=
#include <string.h>
#include "ground/buffers.h"
@<Append bytes, and free them@>@;
@<Append an id, and free the row@>@;
@<Read hexadecimal digits@>@;

@* A thread pool. \label{sec:pool}
To send a text through a model takes a few dozen large steps, each of which can be divided among
threads. Starting threads for each step would cost more than the step. So they are
started once and wait. A step is given to all of them with one call; each does the part
that its number says; the call returns when the last one is done. Which part is whose depends on the number alone, never on who is
faster, and no two write to the same place. So the threads can change when a result is there, but not what it is.
@^threads@>

@<A pool of workers@>=
struct pool;
typedef void pool_work(void *ctx, unsigned worker, unsigned workers);
  /* one worker's part of a step: |worker| is $0\ldots{}$|workers-1|. It allocates
     nothing, and what it writes no other worker reads or writes */
struct pool *pool_open(struct memory *m, unsigned workers, struct error *why);
  /* a pool of |workers| $\ge 1$, the caller being the first of them; owned by
     the caller; null and a sentence if threads or memory are refused */
void pool_run(struct pool *p, pool_work *work, void *ctx);
  /* |work(ctx, i, workers)| for every |i|, on as many threads; returns when all are done. The
     caller's own part runs under the floating-point modes that the caller has, so call
     |float_modes_begin| first; the other workers always have the standard ones. A null pool is one worker */
unsigned pool_workers(const struct pool *p);
  /* how many; 1 for a null pool */
struct arena *pool_arena(struct pool *p, const struct memory *m);
  /* an arena charged to |m| that lasts as long as the pool, for the one thread that calls |pool_run|; null
     for a null pool, for one that is charged to other memory, and while the arena is in use */
bool pool_reserve(struct pool *p, size_t size, struct error *why);
  /* from now on each worker has a workspace of at least |size| bytes; does nothing for a null
     pool. False and a sentence if memory is refused */
void *pool_workspace(struct pool *p, unsigned worker, size_t size);
  /* the workspace of a worker, at a multiple of 64, its contents anything; null if fewer than
     |size| bytes have been reserved */
void pool_close(struct memory *m, struct pool *p);
  /* ends the threads and returns the memory */
unsigned pool_cores(void);
  /* physical cores that are online, at least 1 */

@ A helper is a worker that is a thread of ours; it knows its pool and its number. A step has two ends. The caller announces it, for
which all helpers wait; and the last helper reports that all are done, for which the caller waits. Each is a \emph{generation counter}: a number that only ever rises by
one. A thread that waits remembers the number that it saw last, and waits until the counter shows another. Such a wait cannot come too late, as waiting for a signal can: a thread that arrives after the announcement
finds the new number, and goes on at once.
@^barrier@>@^generation counter@>

@<What a pool holds@>=
struct generation { atomic_uint number, sleepers; };
struct worker_thread { struct pool *owner; unsigned number; pthread_t thread;
  void *workspace; };
struct pool {
  unsigned workers;
  struct memory *m;
  struct arena kept;
  size_t workspace_bytes; /* that every worker has */
  struct generation announced, finished; /* steps begun, and steps done by all */
  atomic_uint busy, ending; /* workers that have not done the step; whether to end */
  pool_work *work;
  void *ctx;
  pthread_mutex_t lock;
  pthread_cond_t risen;
  struct worker_thread *threads; /* |workers| of them; number 0, the caller, is unused */
};

@ A thread that waits first looks at the number again and again for a short while, which is called \emph{spinning}, because
the next step of a pass usually comes within microseconds, and waking a sleeping thread takes
longer than that. But it must go to sleep in the end: a program that waits for its user would otherwise keep every core busy. Between two looks
it pauses. On x86 there is an instruction for that, which leaves the core to its other hardware thread for some tens of cycles, and keeps the processor from
guessing a value that has not come yet.

If there are more threads than cores, we may be spinning on the very core that the thread we wait for needs. So every so many looks the thread \emph{yields}: it lets the system run whatever
else is ready. On an idle machine nothing is, and it goes on at once. Without the yields, four workers on two cores would spend most of their time looking.
@^spinning@>@^yielding@>

@<Wait until a generation is over@>=
enum { SPIN_LIMIT = 2000, SPIN_YIELD = 50 };
  /* looks at a number before a worker sleeps; every so many it yields */
static void spin_pause(int i)
{
  if (i % SPIN_YIELD == SPIN_YIELD - 1) sched_yield();
#if defined __x86_64__
  else __builtin_ia32_pause();
#endif
}
@#
static bool is_over(struct generation *g, unsigned seen)
{@+ return atomic_load(&g->number) != seen;@+ }
static void generation_wait(struct pool *p, struct generation *g, unsigned seen)
{
  for (int i = 0; i < SPIN_LIMIT; i++) {
    if (is_over(g, seen)) return;
    spin_pause(i);
  }
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&g->sleepers, 1);
  while (!is_over(g, seen)) pthread_cond_wait(&p->risen, &p->lock);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

@ The other side raises the number, and takes the lock only if a thread sleeps. Could it miss one? A thread that goes to sleep first counts itself in |sleepers| and then looks at the
number; here we first raise the number and then look at |sleepers|. These four are atomic operations of the strictest kind, \emph{sequentially consistent}, which all threads see in one order. So if we
see no sleeper, that thread sees the new number, and does not sleep. If it has seen the old number, it holds the lock until the moment at which it
sleeps, so the signal cannot fall between its look and its sleep. The atomic operations also carry the work to the helpers and its results back: what a thread wrote
before it raised a number, another can read after it has seen the new number.
@^sequential consistency@>

@<Raise a generation, and wake those who sleep@>=
static void generation_raise(struct pool *p, struct generation *g)
{
  atomic_fetch_add(&g->number, 1);
  if (atomic_load(&g->sleepers) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->risen);
  pthread_mutex_unlock(&p->lock);
}

@ The floating-point unit has modes: how to round, whether to flush small numbers to
zero. They belong to each thread, and a library linked with \.{-Ofast} by somebody else
may have changed them behind our back. A result must not depend on that. So a function that computes sets the standard modes first, and afterwards puts back those that it
found, since the caller's thread is not ours. This is done once for a whole pass through a model and not for each of its
steps: in a small model many a step takes less time than saving the modes and putting them back.
@^rounding mode@>@^denormals@>

@<A pool of workers@>=
struct float_modes { unsigned mxcsr; fenv_t rest; };
  /* the modes of a thread, as they were found: |mxcsr| on x86-64, |rest| elsewhere */
void float_modes_begin(struct float_modes *f);
  /* sets the standard modes for the calling thread: to nearest, nothing flushed; |*f| has those that were found */
void float_modes_end(const struct float_modes *f);
  /* puts back the modes that were found */

@ C has functions for the modes, |fegetenv| and |fesetenv|, but on x86-64 they also save and load the state of the old x87 unit. No |float| and no |double| of ours is computed there; all that counts is one
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
number that it saw last is a variable of its own, and no new step begins before all have reported, so a step can
neither be missed nor done twice. To report, a helper takes one from |busy|; the one that brings it to zero announces that the step is finished.

@<The life of a helper@>=
static void *worker_main(void *argument)
{
  struct worker_thread *h = argument;
  struct pool *p = h->owner;
  struct float_modes inherited;
  float_modes_begin(&inherited);
  for (unsigned seen = 0;; seen++) {
    generation_wait(p, &p->announced, seen);
    if (atomic_load(&p->ending) != 0) return NULL;
    p->work(p->ctx, h->number, p->workers);
    if (atomic_fetch_sub(&p->busy, 1) == 1)
      generation_raise(p, &p->finished);
  }
}

@ The caller announces the step, does part 0 itself, and then waits until the others are done. |busy| is set before the step is announced;
in the other order a quick helper could report before it was counted. With one worker nothing is announced.

@<Give a step to all workers, and wait for the last@>=
void pool_run(struct pool *p, pool_work *work, void *ctx)
{
  unsigned workers = pool_workers(p);
  if (workers == 1) {
    work(ctx, 0, 1);
    return;
  }
  unsigned seen = atomic_load(&p->finished.number);
  p->work = work, p->ctx = ctx;
  atomic_store(&p->busy, workers - 1);
  generation_raise(p, &p->announced);
  work(ctx, 0, workers);
  generation_wait(p, &p->finished, seen);
}

@ A pool of one has no helpers; it is allowed, and has a block all the same. The workers are known by their numbers from the moment the pool is there, so the
lock and the condition must be ready before the first thread starts.

@<Start the helpers@>=
struct pool *pool_open(struct memory *m, unsigned workers, struct error *why)
{
  struct pool *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  struct worker_thread *h = memory_alloc(m, MEMORY_OTHER, workers, sizeof *h, why);
  if (h == NULL) {
    memory_free(m, p);
    return NULL;
  }
  p->threads = h, p->workers = workers;
  p->m = p->kept.m = m;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->risen, NULL);
  @<Start a thread for each helper, or end those that were started@>@;
  return p;
}

@ Opening can fail half-way: the third thread may be refused after two were started.
Then those two are told to end, and everything goes back. |end_threads| takes the number that
were started, so it serves here and in |pool_close|. How large a stack a thread gets would otherwise depend on the system: eight
megabytes with one C library, an eighth of one with another. So we ask for one megabyte. No kernel needs more than a few tens of kilobytes of it, since large arrays are in memory that is
counted (\cref{sec:room}); the rest is for builds that surround every array with guards.
@^stack@>

@<Start a thread for each helper, or end those that were started@>=
pthread_attr_t stack;
pthread_attr_init(&stack);
pthread_attr_setstacksize(&stack, (size_t) 1 << 20);
for (unsigned i = 1; i < workers; i++) {
  h[i] = (struct worker_thread) @[{ .owner = p, .number = i }@];
  int code = pthread_create(&h[i].thread, &stack, worker_main, &h[i]);
  if (code == 0) continue;
  pthread_attr_destroy(&stack);
  error_say(why, "thread %u of %u: %s", i + 1, workers, strerror(code));
  end_threads(p, i);
  @<Return the pool's memory, which was for |workers|@>@;
  return NULL;
}
pthread_attr_destroy(&stack);

@ To end the helpers is to announce one more step, with |ending| set, and to wait until
each thread is gone. Only those with a number below |started| exist. We wait because a thread that is still on its way out may still look at the lock, and the lock
is about to be returned.

@<End the helpers that were started@>=
static void end_threads(struct pool *p, unsigned started)
{
  atomic_store(&p->ending, 1);
  generation_raise(p, &p->announced);
  for (unsigned i = 1; i < started; i++)
    pthread_join(p->threads[i].thread, NULL);
}

@ The helpers' block must be returned before the pool that points to it. Both users of this
section have said how many |workers| it was taken for.

@<Return the pool's memory, which was for |workers|@>=
pthread_mutex_destroy(&p->lock);
pthread_cond_destroy(&p->risen);
for (unsigned k = 0; k < workers; k++) memory_free(m, h[k].workspace);
arena_free(&p->kept);
memory_free(m, p->threads);
memory_free(m, p);

@ A null pool is a pool of one, and closing it is nothing; so a program that never asked
for threads has nothing to write.

@<Close a pool, and count its workers@>=
void pool_close(struct memory *m, struct pool *p)
{
  if (p == NULL) return;
  unsigned workers = p->workers;
  struct worker_thread *h = p->threads;
  end_threads(p, workers);
  @<Return the pool's memory, which was for |workers|@>@;
}
@#
unsigned pool_workers(const struct pool *p)
{
  return p == NULL ? 1 : p->workers;
}

@ A pool also keeps memory between steps, of two kinds. While a step is done, each worker may need an array of its own that is too large for a stack: its \emph{workspace}. And the
caller, who runs the same list of steps again and again, needs the same arrays for them each time, and keeps them in an arena. Both would otherwise be allocated, zeroed and freed in
each pass. The arena is charged to the |struct memory| of the pool. A caller with another one gets no arena, since what it uses must be counted in its own.
@^workspace@>

@<What a pool keeps between steps@>=
struct arena *pool_arena(struct pool *p, const struct memory *m)
{@+ return p != NULL && p->m == m && p->kept.last == NULL ? &p->kept : NULL;@+ }
bool pool_reserve(struct pool *p, size_t size, struct error *why)
{
  if (p == NULL || size <= p->workspace_bytes) return true;
  p->workspace_bytes = 0;
  for (unsigned i = 0; i < p->workers; i++) {
    void **block = &p->threads[i].workspace;
    memory_free(p->m, *block);
    *block = memory_alloc(p->m, MEMORY_OTHER, size, 1, why);
    if (*block == NULL) return false;
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
one is of no use. Linux says which logical processors are siblings; we count those that
are the first of their kind, and where the system says nothing we take what it offers. Four processors in sibling lists |0,2| and |1,3| are two cores: numbers 0 and 1
are the first in their lists, 2 and 3 are not.
@^cores@>

@<Count the physical cores@>=
@<Name the first of a processor's siblings@>@;
unsigned pool_cores(void)
{
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned first = 0;
  for (long i = 0; i < online; i++)
    if (first_sibling(i) == i) first++;
  return first > 0 ? first : 1;
}

@ The system writes the list as text in a file for each processor, in rising order, so the first number is enough. A processor about which nothing is
written is its own first sibling, and counts.

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

@* Progress and cancellation. \label{sec:progress}
Some calls take long: reading a whole book as a prompt, opening a model of many files. The person who waits wants to know how far the work has come, and may want to give it up. Both needs are met by one question that
the working function asks its caller now and then: \emph{this much is done; shall I go on?} So the caller supplies one function for both, a \emph{callback}. Without a callback nothing is asked.
@^progress@>@^cancellation@>

Why not let the caller's thread stop the work from outside? Because a thread that is stopped holds locks and memory that nobody can return. Work that is asked can leave everything in order: a pass that is given up has
stored nothing (\cref{sec:forward}), and the text of a generation keeps what was written before. An alternative is a flag that the work reads. That would do for giving up, but would not tell anyone how far the work has come.

@<Progress, and a way to stop@>=
struct progress {
  bool (*report)(void *ctx, size_t done, size_t all); /* false: give up */
  void *ctx;
  size_t before, all; /* if the work is a part: what came before it, and the whole; else 0 */
  bool cancelled; /* |report| has returned false once, and is not asked again */
};
  /* how far work has come, and whether it goes on; rows, tensors or whatever the function that takes it counts. It is
     the caller's, and used by one thread at a time */
bool progress_tell(struct progress *p, size_t done, size_t all);
  /* reports that |done| of |all| are done; false: give up. A null |p| always goes on */
bool progress_cancelled(const struct progress *p);
  /* whether it was given up; false for null */

@ A refusal is remembered. Work is nested, a layer in a pass and a pass in a prefill; a caller who has said no to one of them must not be asked again by the others, and perhaps say yes to one.
If work is cut into parts, such as a prefill in chunks, |before| and |all| say where the part belongs.

@<Ask whether to go on@>=
bool progress_tell(struct progress *p, size_t done, size_t all)
{
  if (p == NULL) return true;
  if (p->all > 0) all = p->all;
  if (!p->cancelled) p->cancelled = !p->report(p->ctx, p->before + done, all);
  return !p->cancelled;
}
bool progress_cancelled(const struct progress *p)
{
  return p != NULL && p->cancelled;
}

@* A stopwatch. \label{sec:stopwatch}
Counts are exact, but from chapter 3 on we shall also want to know how long a pass takes, and the command tells its user how many tokens it writes in a second.
Both need a clock. The clock on the wall will not do: it is set, forwards and backwards, by people and by the
network, and a step that took less than no time is no measurement. POSIX has another, which starts at some moment of its own choosing and
only ever goes forward; every duration in this book is the difference of two of its readings. No result depends on them: times are for the eyes of the reader, and
a number that this book quotes is read from a file of measurements, never from the clock.
@^clock@>@^time@>

@<A stopwatch@>=
double timing_seconds(void);
  /* of a clock that never goes back, from some moment on */
struct quartiles { double low, median, high; };
  /* the lower quartile, the median and the upper quartile */
struct quartiles timing_quartiles(double *x, size_t n);
  /* sorts |n| $\ge1$ numbers, and says what stands at the quarters */

@ Why the median, and not the mean? What disturbs a measurement makes it longer, now and then a great deal longer, and never shorter. One bad round moves the
mean by its share of the excess, however large that is, and the median by one place. The quartiles say how quiet the machine was.
@^median@>@^quartiles@>

@<Read the clock, and order what it said@>=
double timing_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}
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

@ The stopwatch needs nothing else of this chapter, not even a memory or an error, and few files need it; so it has a header and a file of its own.

@(timing.h@>=
#ifndef INCIPIT_TIMING_H
#define INCIPIT_TIMING_H
#include <stddef.h>
@<A stopwatch@>@;
#endif

@ Its one system call is POSIX's, and has to be asked for.

@(timing.c@>=
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>
#include "ground/timing.h"
@<Read the clock, and order what it said@>@;

@* Module dependencies. \label{sec:modules}
The C of this book is divided into \emph{modules}. A module is a folder with one or more headers, which document what others may use, and the files that
implement them; each web makes one. \Cref{fig:modules} shows which module includes which, and it is drawn from the headers themselves.
Follow the lines down from any module and you have collected all that it needs: to compile chapter~3 and nothing else, copy the folders below \emph{loop}.
@^module@>@^dependence, of modules@>

No line leads upwards. That is not luck: a table, \.{book.list}, has a row for each module with what it needs, a tool compares the table with every
\.{\#include}, and an include that the table does not allow stops the build. A module of the main line uses the workshop
only through headers that the main line prints, so that nobody who reads the chapters in order meets a function without having seen what it promises.

\widefig{modules}{fig:modules}{The modules by what they include; a line is left out where a longer way says the same. Filled: the main line, chapter by chapter. Open: the workshop.}{A
graph in rows. The module ground is at the bottom; tokens and kernels stand low, model above kernels, then cache and loop, then phases, sampling and stopping, and search near the
top. All lines lead downwards; the main line is filled and joined by heavier lines, the workshop's modules are open boxes beside it.}

@* The module. \label{sec:module}
These are the pieces of |ground.c| in the order that C wants. The first line asks the
system for its POSIX names, which \.{-std=c11} hides. It is the only module in the book that
asks for so many of the system's headers, and meant to be: whoever brings the engine to another system begins, and should almost end, here.

@(ground.c@>=
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
@<Errors, memory and files@>@;
@<Workers@>@;

@ The first half needs nothing but the C library and the file system. Errors come first, because memory speaks through them, and memory before files only because
the chapter has them so.

@<Errors, memory and files@>=
@<Cut a long sentence between two characters@>@;
@<Write the sentence, and say no@>@;
@<Write the four parts in their order@>@;
@<Name the purposes@>@;
@<Enter a request, and tell whether it shall be refused on purpose@>@;
@<Enter a refusal@>@;
@<The header of a block@>@;
@<Take a block@>@;
@<Grow a block, and return it@>@;
@<Grow an array by the common rule@>@;
@<Allocate in an arena, and free it@>@;
@<Map what has been opened@>@;
@<Map a regular file@>@;
@<Join a directory and a name@>@;

@ The second half is the pool, from the modes of a thread up to the count of cores, and the question whether to go on. On a system without threads it is this half that would be rewritten, with
a |pool_run| that does all parts one after the other, and the bits would be the same, since who does a part does not matter (\cref{sec:pool}).

@<Workers@>=
@<What a pool holds@>@;
@<Set the standard modes, and put back what was found@>@;
@<Wait until a generation is over@>@;
@<Raise a generation, and wake those who sleep@>@;
@<The life of a helper@>@;
@<Give a step to all workers, and wait for the last@>@;
@<End the helpers that were started@>@;
@<Start the helpers@>@;
@<Close a pool, and count its workers@>@;
@<What a pool keeps between steps@>@;
@<Count the physical cores@>@;
@<Ask whether to go on@>@;

@* The check. \label{sec:groundcheck}
Six events, and the books after each. The request that is refused is refused on purpose: it is the fifth event, but
request number \val{ground.refused.request}, and |fail_at| says so.

\checkpoint{build/out/ground.txt}{what the program of this chapter prints}

@<Play the five requests of the hand calculation@>=
enum { EVENTS = 6 };
static const struct event { const char *what; size_t take, give; } event[EVENTS] =
  @[{ {"take 60", 60, 0}, {"take 40", 40, 0}, {"take 80", 80, 0},@|
    {"return 40", 0, 40}, {"take 50, refused", 50, 0}, {"take 30", 30, 0} }@];

@ After each event the common account is copied. What is left in the end is returned without being looked at: a refused block is null, and the one that was returned has been made
so, and to return null is nothing.

@<Play the five requests of the hand calculation@>=
static void play(struct account after[EVENTS])
{
  struct memory m = @[{ .fail_at = 4 }@];
  void *block[EVENTS] = @[{ NULL }@];
  for (int i = 0; i < EVENTS; i++) {
    if (event[i].give > 0) {
      memory_free(&m, block[1]);
      block[1] = NULL;
    }
    else block[i] = memory_alloc(&m, MEMORY_OTHER, 1, event[i].take, NULL);
    after[i] = m.all;
  }
  for (int i = 0; i < EVENTS; i++)
    memory_free(&m, block[i]);
}

@ The same array of six accounts is printed three times: as the table of the checkpoint,
as keys for the prose, and as the points of the figure. All three come from one function that plays the events, so box, sentence and drawing cannot
disagree.

@<Print the account after every event@>=
static void print_requests(void)
{
  struct account a[EVENTS];
  play(a);
  printf("%-18s%7s%7s%7s%7s\n", "event", "asked", "given", "held", "peak");
  for (int i = 0; i < EVENTS; i++)
    printf("%-18s%7d%7d%7d%7d\n", event[i].what, (int) a[i].requested,
      (int) a[i].allocated, (int) a[i].live, (int) a[i].peak);
}
@<Print the account as keys and as points@>@;

@ A key names the chapter's module, the quantity, and its parameters. The build stops at
a key that no program prints. Which request was refused is found by looking for the event at which the count of refusals rises, and not by repeating the number that was given to
|fail_at|: the key should say what happened, not what was meant to.

@<Print the account as keys and as points@>=
static int print_values(void)
{
  struct account a[EVENTS];
  play(a);
  for (int i = 0; i < EVENTS; i++) {
    printf("ground.asked.%d %d bytes\n", i + 1, (int) a[i].requested);
    printf("ground.given.%d %d bytes\n", i + 1, (int) a[i].allocated);
    printf("ground.held.%d %d bytes\n", i + 1, (int) a[i].live);
    printf("ground.peak.%d %d bytes\n", i + 1, (int) a[i].peak);
    if (a[i].refused > (i > 0 ? a[i - 1].refused : 0))
      printf("ground.refused.request %d\n", (int) a[i].requests);
  }
  printf("ground.requests %d\n", (int) a[EVENTS - 1].requests);
  return 0;
}

@ The points have the last event twice, so that the last step of the drawing has a length.

@<Print the account as keys and as points@>=
static int print_ledger(void)
{
  struct account a[EVENTS];
  play(a);
  printf("event,asked,given,held,peak\n");
  for (int i = 0; i <= EVENTS; i++) {
    const struct account *b = &a[i < EVENTS ? i : EVENTS - 1];
    printf("%d,%d,%d,%d,%d\n", i + 1, (int) b->requested, (int) b->allocated,
      (int) b->live, (int) b->peak);
  }
  return 0;
}

@ Of the \val{ground.requests} requests one was refused, so \val{ground.asked.6} were asked
for and \val{ground.given.6} given; \val{ground.held.6} are held at the end, and the peak of
\val{ground.peak.6} was reached before the first block came back. \Cref{fig:ground} draws
the four columns.

\fig{ground}{fig:ground}{The six events. \emph{Asked} and \emph{given} only rise, and
part where a request is refused; \emph{held} falls when a block comes back; the
\emph{peak}, the broad line, remembers the highest it has been.}{A step plot of bytes over six events.
The lines asked and given rise together to \val{ground.asked.4}, and part at event five,
where asked goes on to \val{ground.asked.5} and given stays; they end at
\val{ground.asked.6} and \val{ground.given.6}. Held reaches \val{ground.held.3} at event
three, falls to \val{ground.held.4} and ends at \val{ground.held.6}. The peak stays at
\val{ground.peak.6}.}

Then four failures are provoked, and a fifth sentence is written by hand, to show the four parts in their order. Each has a
file or a purpose in it, and a number or a reason. They are printed like everything else and compared at every check, because a message is part of what a program promises.

@<Let every kind of failure speak@>=
static void print_failures(void)
{
  struct memory m = @[{ .fail_at = 1 }@];
  struct error why;
  struct mapping map;
  memory_alloc(&m, MEMORY_CACHE, 3, 1024, &why);
  printf("%s\n", why.text);
  memory_alloc(&m, MEMORY_WEIGHTS, SIZE_MAX / 2, 3, &why);
  printf("%s\n", why.text);
  if (!file_map(&map, "no-such-model", &why)) printf("%s\n", why.text);
  if (!file_map(&map, "tangled", &why)) printf("%s\n", why.text);
  error_found(&why, "config.json", "n_layers", "-2", "1 or more");
  printf("%s\n", why.text);
}

@* Exercises. \label{sec:groundexercises}
The allocator is small enough to be changed in an evening and read in an hour. The command beside each exercise
runs the answer against the books.

\begin{exercises}
\exercise{check}{ex:ground.peak}{In the hand calculation, let the fourth event return the
80 instead of the 40. Which of the four final numbers change?}{\texttt{make exercise-00-1}}{%
Only \emph{held}, which ends at 130: the peak was reached before.}
\exercise{check}{ex:ground.grow}{A block of 10 objects of 8 bytes is all that is held. It grows to 20 objects, and then to
40. What are \emph{asked}, \emph{given}, \emph{held} and \emph{peak} then?}{\texttt{make exercise-00-2}}{560, 560, 320 and 480.
While a block grows the old one and the new one are both held: growing to twice the size needs half as much again as is held in the end.}
\exercise{think}{ex:ground.header}{The C library's own allocator writes a header of its
own before each block, at least 8 bytes in glibc. How far would the books be wrong for a
model that takes 200 blocks, since we do not count those?}{\texttt{make exercise-00-3}}{By at least
1,600 bytes, whatever the blocks hold; the books would also differ between C libraries, and
a formula could not be equal to them.}
\exercise{think}{ex:ground.cut}{An error is to be said whose sentence is 200 euro signs, of three bytes each. How many are left of it, and
could there be more?}{\texttt{make exercise-00-4}}{132. The sentence has room for 399 bytes, which would be 133 whole characters; but who looks
only at the end of what was cut cannot know that nothing of the last one is missing, and takes it away.}
\exercise{think}{ex:ground.runs}{A program makes 200 requests if all are granted, and stops at the first that is not. We run it with |fail_at| 1, 2, 3
and so on, until a run goes through. How many runs are that, and how many requests all together?}{\texttt{make exercise-00-5}}{201 runs, the last of which is refused
nothing, and $1+2+\cdots+200+200$ requests, which is 20,300. \Cref{loop} will meet this sum again.}
\exercise{build}{ex:ground.limit}{Give |struct memory| a |limit|: requests that
would bring |live| above it are refused. Which function changes,
and by how many lines?}{\texttt{make exercise-00-6}}{Only |enter_request|, by one line: a request
is now also refused if there is a limit and |live|, with the bytes asked for, would exceed it.}
\exercise{build}{ex:ground.part}{Write the function that a step needs first: which of $n$ rows are worker $w$'s? The parts shall follow one another, none may have
two rows more than another, and $n$ may be as large as a |size_t| can be.}{\texttt{make exercise-00-7}}{With $q$ and $r$, quotient and remainder of $n$ by the number of workers,
the first $r$ workers get $q+1$ rows and the others $q$. The pretty $nw/W$ overflows.}
\end{exercises}
