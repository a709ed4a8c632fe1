@i types.w

\chapterquestion{What stands between a call of a kernel and a device that does it later?}
@** A device's queue, and its memory.
\Cref{cuda} has the kernels, and the driver that starts them. Between the two stands one file of C. Suppose we left it out, and |linear| or |normalize| went straight to the driver. Then a token would take over a dozen calls of the driver in each layer. Before many of them we would have to copy a few numbers to the device (ids, positions, the addresses of pages), and copying needs waiting: the host may not touch the numbers again before they have arrived. The arrays of a pass would be allocated on the device, and freed again, \emph{for each token}, and CUDA's function that frees memory waits for everything that still runs.
@^CUDA@>

So nothing happens at once. A call writes down what to do and returns. Small numbers are collected on the way, and memory that is freed is kept for the next pass. All of it goes to the device in one piece when the engine wants numbers back (\cref{fig:devicequeue}).

\fig{devicequeue}{fig:devicequeue}{A pass as the queue sees it. Calls of the host, on the left, only write into the list and into page-locked memory. The first call that wants numbers back sends both.}{Three columns. On the left, calls of the host from top to bottom: send ids, embed, normalize, linear and so on, get logits. Arrows lead from the calls to the middle column, which is in the host's memory: from send to a strip of small numbers, from the kernels to a list of launches. From get, an arrow leads to the right column, the device: there the strip arrives first, as a mirror; then the kernels of the list run one after the other; and the logits come back to the strip.}

This chapter prints the queue. The rest of the device is ordinary C in \.{unwoven/cuda}; \cref{tab:devicefiles} says where to look.

\begin{table}[tbp]
\tabcaption{tab:devicefiles}{The files of \.{unwoven/cuda}.}
\begin{tabular}{@@{}l@@{\quad}p{53mm}@@{}}
\tabhead{file} & \tabhead{is}\\\midrule
\.{device.h} & to the engine: open a device, get its table and its memory\\
\.{table.c} & the functions of that table, which fill launches\\
\.{works.inc} & the list of kernels, and what each is given\\
\.{small.inc}, \.{.h} & small kernels: norms, positions, activations, copies\\
\.{reading.inc}, \.{queries.inc} & loads of stored numbers; which positions a tile sees\\
\.{choose.inc}, \.{bytes.inc} & the choice of a token; tiles of bytes\\
\.{driver\_cuda.inc}, \.{\_host.inc} & the drivers: CUDA, and the host as a device
\end{tabular}
\end{table}

@ Follow a pass of the small model in \cref{cuda}'s program. The host makes \val{cuda.launches} calls that start a kernel, and the driver is called for \val{cuda.lists} lists: one that ends with the marks of the rows that are not finite, one that ends with the logits. Between them, the host waits twice. A file has all of this, and it does not know whether CUDA or the host is behind the driver (\cref{sec:launches}).

@(queue.c@>=
@;
/** The queue of a device, and its memory. Calls collect launches and small numbers; |device_flush|
  sends both, in that order of time: what was asked for first is done first. Small numbers that
  were sent stay where they are until the device has been waited for. A block that is released is
  given to the next request of its size; that request's launches come after those that still use
  it. After the first failure nothing is sent any more, and every question gets the same answer. */
#include <stdio.h>
#include <string.h>
#include "cuda/queue.h"
@<Note a failure@>@;
@<Run the list@>@;
@<Send small numbers@>@;
@<Add a launch to the list@>@;
@<Find a block for a request@>@;
@<Give and take memory of the device@>@;
@<Move bytes to the device and back@>@;
@<Open and close the memory of a device@>@;

@* The list of launches. \label{sec:devicelist}
A launch is plain data: which kernel, how many blocks, and the kernel's arguments, some of which are addresses on the device (\cref{sec:standin}). To call a kernel, \.{unwoven/cuda/table.c} fills one and hands it in.

A list has room for |MOST_LAUNCHES|. When it is full it is run; if that fails, there is no place for another launch, and we drop it. We also leave out a launch without blocks, such as one for no rows, because CUDA refuses it.
@^launch@>

@<Add a launch to the list@>=
void device_launch(struct device *d, const struct launch *l)
{
  if (l->x == 0 || l->y == 0 || l->z == 0) return;
  if (d->n == MOST_LAUNCHES) device_flush(d);
  if (!d->failed) d->list[d->n++] = *l;
}

@ When a program writes text, pass after pass has the same kernels with as many blocks each, and only the arguments differ. For CUDA that is worth knowing, since such a list can be started as one graph (\cref{sec:launches}). So we note the \emph{shape} of a list, everything that a graph cannot change, and compare it with the last |KEPT|, \given{4}, different ones. Our first queue compared with the last list only, and never found anything: a token has two lists in turn, and each drove the other out.
@^CUDA graph@>

@<A list that was run@>=
struct launch_shape { uint32_t work, x, y, z, threads; };
  /* what a graph cannot change */
struct known_list { struct launch_shape *shape; size_t n; };
  /* a list that was run */

@ A list of a new shape takes the place that was given out longest ago. The driver is told the place, and keeps its graph there.

@<Run the list@>=
static struct launch_shape shape_of(const struct launch *l)
{
  return (struct launch_shape) @[{ (uint32_t) l->work, l->x, l->y, l->z, l->threads }@];
}

static bool has_shape(const struct known_list *k, const struct launch *list, size_t n)
{
  for (size_t i = 0; i < n && k->n == n; i++) {
    struct launch_shape s = shape_of(&list[i]);
    if (memcmp(&k->shape[i], &s, sizeof s) != 0) return false;
  }
  return k->n == n;
}

static bool is_known(struct device *d, size_t n, unsigned *place)
{
  for (*place = 0; *place < KEPT; ++*place)
    if (has_shape(&d->known[*place], d->list, n)) return true;
  struct known_list *k = &d->known[*place = d->oldest];
  d->oldest = (d->oldest + 1) % KEPT, k->n = n;
  for (size_t i = 0; i < n; i++) k->shape[i] = shape_of(&d->list[i]);
  return false;
}

@ Running the list is then one call of the driver. With it go the small numbers that have come since the last list, in one copy.

@<Run the list@>=
bool device_flush(struct device *d)
{
  size_t from = d->sent, n = d->n;
  if (d->failed) return false;
  if (n == 0) return true;
  d->sent = d->filled, d->n = 0;
  unsigned place;
  bool known = is_known(d, n, &place);
  d->counts.launches += n, d->counts.lists++;
  d->counts.known += known;
  return d->driver->run(d->state, d->list, n, place, known, d->mirror + from, d->small + from,
    d->filled - from) || failed(d);
}

@* What is sent: small numbers. \label{sec:devicesend}
Which rows of the embedding does the next pass want? The ids are in the host's memory, where a kernel cannot read them. There are many such small things in a pass: ids, positions, frequencies of rotation, the segments of \cref{sec:rowwindows} and the addresses of their pages. If each were copied by a call of its own, the copies could take longer than the kernels.

So they are collected. The host has \given{4} MiB of \emph{page-locked} memory for them, |small|, which the system never moves, so that the device can read it without the processor's help. The device has a block of the same size, the \emph{mirror}. A function that sends something gets the address in the mirror where the bytes \emph{will} be, and writes this address into its launch. Each piece begins at a multiple of sixteen, so that a kernel can load it in words of any size.
@^page-locked memory@>@^mirror, of small numbers@>

@<Send small numbers@>=
void *device_send(struct device *d, const void *from, size_t bytes)
{
  char *to = d->mirror + d->filled;
  if (d->failed || bytes > SMALL_BYTES - d->filled) {
    device_fails(d, "more was sent than had been reserved");
    return d->mirror;
  }
  memcpy(d->small + d->filled, from, bytes);
  d->filled += (bytes + 15) / 16 * 16;
  return to;
}

@ When may the same page-locked memory be used again? Not after the list has been handed over, for the copy may still be under way. We must have waited for the device, and the simplest way to wait is to fetch one byte: it comes after all that was asked for before.

A pass waits anyhow when it fetches its logits. So each pass finds the memory empty, and puts its numbers in the same places as the one before. That has a pleasant effect on graphs: a launch of the next token finds the same addresses in its arguments, and the driver has little to change.

@<Send small numbers@>=
static bool settle(struct device *d)
{
  char last;
  return device_flush(d) && (d->driver->get(d->state, &last, d->mirror, 1) || failed(d));
}

@ What if the memory is full in the middle of a call? Attention sends segments, then tiles, and its launch has addresses of both. If we waited between the two and began again at the front, the tiles would overwrite the segments. Our first version did that. So now a function first \emph{reserves} what it is going to send, in bytes and in pieces. If that does not fit, we wait and start again at the front; and a call that needs more than the whole memory fails, which no pass of a size we know comes near.

@<Send small numbers@>=
void device_reserve(struct device *d, size_t bytes, size_t pieces)
{
  size_t most = bytes + 16 * pieces;
  if (d->filled + most <= SMALL_BYTES) return;
  settle(d);
  d->filled = d->sent = 0;
  if (most > SMALL_BYTES) device_fails(d, "one call has more places to send than there is room for");
}

@* Memory of the device. \label{sec:devicememory}
To the rest of the engine the device's memory is a |struct buffers|, the table of functions that the host's memory has as well (\cref{ground}). It allocates and releases, moves bytes, and says whether all went well. Behind it is a list of blocks.
@^memory, of a device@>

@<A block of memory of the device@>=
struct device_block { void *p; size_t bytes, charged; enum memory_class what;
  struct memory *m; bool used; };
  /* |charged|: how much of it, as which class, to whom; meaningless if it is not used */

@ A pass asks for the same arrays as the pass before it, of the same sizes and in the same order. So a block that is released is not given back to the driver. We keep it for the next request of exactly its size. That saves the waiting that an allocation means on a device; and the arrays get the same addresses in each pass, which is the other half of why the arguments of a graph hardly ever change.

Is it safe to hand out a block that a kernel may still be reading? Yes, as long as the next owner uses it through the same list: the new launches come after the old ones.

@<Find a block for a request@>=
static struct device_block *kept_block(struct device *d, size_t bytes)
{
  for (size_t i = 0; i < d->n_blocks; i++)
    if (!d->block[i].used && d->block[i].bytes == bytes) return &d->block[i];
  return NULL;
}

@ A model and its cache are allocated once, and blocks of odd sizes can pile up beside them when lengths vary. If the driver has no more memory, we wait for the device, return all blocks that nobody uses, and try again.

@<Find a block for a request@>=
static void drop_kept(struct device *d)
{
  if (d->n_blocks > 0) settle(d);
  for (size_t i = 0; i < d->n_blocks; )
    if (d->block[i].used) i++;
    else {
      d->driver->release(d->state, d->block[i].p);
      d->block[i] = d->block[--d->n_blocks];
    }
}

@ We make room in the list before we ask the driver: a block without a place in the list would be lost.

@<Find a block for a request@>=
static struct device_block *new_block(struct device *d, size_t bytes, struct error *why)
{
  struct device_block *list = memory_reserve(d->m, MEMORY_OTHER, d->block, &d->cap,
    d->n_blocks + 1, 16, sizeof *list, why);
  if (list == NULL) return NULL;
  d->block = list;
  void *p = d->driver->alloc(d->state, bytes);
  if (p == NULL) drop_kept(d), p = d->driver->alloc(d->state, bytes);
  if (p == NULL) return NULL;
  d->block[d->n_blocks] = (struct device_block) @[{ .p = p, .bytes = bytes }@];
  return &d->block[d->n_blocks++];
}

@ The \emph{accounts} of \cref{ground} do not see the difference. Bytes are charged to the caller who asks for them, whether the block is new or kept, and discharged when it is released. So a budget that the user has set holds for the device's memory as well.

@<Give and take memory of the device@>=
static void *device_alloc(const struct buffers *b, struct memory *m,
  enum memory_class what, size_t count, size_t size, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (size != 0 && count > SIZE_MAX / 2 / size) {
    error_say(why, "out of memory of %s: %zu times %zu bytes for %s", d->facts.name,
      count, size, memory_class_name(what));
    return NULL;
  }
  size_t bytes = (count * size + 256) / 256 * 256;
  if (!memory_charge(m, what, count * size, why)) return NULL;
  struct error inner = { "" };
  struct device_block *k = kept_block(d, bytes);
  if (k == NULL) k = new_block(d, bytes, &inner);
  if (k != NULL) {
    k->used = true, k->charged = count * size;
    k->what = what, k->m = m;
    return k->p;
  }
  memory_discharge(m, what, count * size);
  if (d->failed) error_say(why, "%s failed: %s", d->facts.name, d->fault);
  else error_say(why, "out of memory of %s: %zu bytes for %s, %llu held by this program of %llu",
    d->facts.name, count * size, memory_class_name(what),
    (unsigned long long) m->all.live, (unsigned long long) d->facts.bytes);
  return NULL;
}

@ Releasing NULL does nothing, as everywhere, and neither does releasing a block twice.

@<Give and take memory of the device@>=
static void device_release(const struct buffers *b, struct memory *m, void *p)
{
  struct device *d = (struct device *) (uintptr_t) b;
  for (size_t i = 0; i < d->n_blocks && p != NULL; i++) {
    if (d->block[i].p != p || !d->block[i].used) continue;
    memory_discharge(m, d->block[i].what, d->block[i].charged);
    d->block[i].used = false;
  }
}

@* Numbers there and back. \label{sec:deviceback}
To copy within the device is a launch like any other, in the list, in its turn; sixteen bytes at a time, if all is at multiples of sixteen.

@<Move bytes to the device and back@>=
static void launch_copy(struct device *d, void *to, const void *from, size_t bytes)
{
  bool wide = ((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0;
  size_t n = wide ? bytes / 16 : bytes, blocks = (n + 255) / 256;
  struct launch l = @[{ .work = WORK_copy_bytes, .y = 1, .z = 1, .threads = 256 }@];
  l.x = blocks > WIDEST ? WIDEST : (uint32_t) blocks;
  l.a.copy = (struct copy_args) @[{ to, from, n, wide, 0 }@];
  device_launch(d, &l);
}

@ To the device there are two ways. Few bytes go the way of the small numbers: they are put into the page-locked memory and copied from the mirror by a kernel, when its turn comes. Many bytes, such as a matrix, would fill that memory. They are copied by the driver at once, after what is in the list.

@<Move bytes to the device and back@>=
static void device_set(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  if (bytes <= 1 << 16) {
    device_reserve(d, bytes, 1);
    launch_copy(d, to, device_send(d, from, bytes), bytes);
  } else if (device_flush(d) && !d->driver->put(d->state, to, from, bytes)) failed(d);
}

@ The other direction is where everything happens. A caller that asks for numbers cannot go on without them: so the list is run, and the driver waits until the bytes have arrived. They come into the page-locked memory of the small numbers, which is free once the list has run, and from there we copy them to the caller, in pieces if need be. Why not directly? To ordinary memory the driver would go such a way round as well, only through memory of its own.

A device that has failed leaves zeros, and never whatever happened to be in the caller's memory. The caller learns of the failure from |working|.

@<Move bytes to the device and back@>=
static void device_get(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  struct device *d = (struct device *) (uintptr_t) b;
  memset(to, 0, bytes);
  for (size_t at = 0, now; at < bytes && device_flush(d); at += now) {
    now = bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES;
    if (d->driver->get(d->state, d->small, (const char *) from + at, now))
      memcpy((char *) to + at, d->small, now);
    else failed(d);
  }
  d->filled = d->sent = 0;
}

@ A copy is a launch. Whether the device works was noted when it failed.

@<Move bytes to the device and back@>=
static void device_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{ launch_copy((struct device *) (uintptr_t) b, to, from, bytes); }

static bool device_working(const struct buffers *b, struct error *why)
{
  struct device *d = (struct device *) (uintptr_t) b;
  return !d->failed || error_say(why, "%s failed: %s", d->facts.name, d->fault);
}

@* Failure. \label{sec:devicefailure}
If nothing happens at once, nothing can fail at once either. A kernel that is launched without an error may be the one that fails, and we learn of it some launches later, when the driver says that it cannot do another thing. So functions of the table return nothing. The device keeps the \emph{first} failure, and later ones are ignored: what fails after it usually fails because of it. When the pass ends it asks |working|, and gets that sentence.

From then on the list stays empty. We had this wrong once: a caller tried pass after pass on a device that had failed, each pass added its launches, and the list grew beyond its end.

@<Note a failure@>=
void device_fails(struct device *d, const char *why)
{
  if (!d->failed) snprintf(d->fault, sizeof d->fault, "%s", why);
  d->failed = true, d->n = 0;
}

static bool failed(struct device *d)
{
  char why[200];
  d->driver->fault(d->state, why);
  device_fails(d, why);
  return false;
}

@* Opening and closing. \label{sec:deviceheader}
Now we can say what a device keeps between two calls.

@<What a device keeps@>=
struct device {
  struct buffers memory; /* first: the kernels find the device by it */
  struct kernels k; /* the table of \.{table.c} */
  const struct device_driver *driver;
  void *state; /* the driver's */
  struct memory *m;
  struct device_facts facts;
  struct launch *list; /* what waits: |n| launches */
  size_t n;
  struct known_list known[KEPT]; /* the last shapes; |oldest| goes next */
  unsigned oldest;
  char *small, *mirror; /* page-locked, and its copy on the device: */
  size_t filled, sent, work_bytes; /* |filled| bytes, of which |sent| have been sent */
  struct device_block *block; /* |n_blocks|, room for |cap| */
  size_t n_blocks, cap;
  char *work; /* the workspace, |work_bytes| */
  void *lent[2 * MOST_PARTS]; /* weights that were sent for one launch */
  size_t n_lent;
  bool failed;
  char fault[200]; /* the first failure */
  struct device_counts counts;
};
  /* a device between two calls */

@ The header is for \.{table.c}, which fills launches, and for the tests.

@(queue.h@>=
@;
/** What a device keeps between two calls, for the files of this folder and for tests. */
#ifndef INCIPIT_CUDA_QUEUE_H
#define INCIPIT_CUDA_QUEUE_H
#include "cuda/device.h"
#include "cuda/launch.h"
enum { SMALL_BYTES = 4 << 20, WORK_BYTES = 64 << 20,
  HOST_WORK_BYTES = 1 << 20 };
  /* of the small numbers; of the workspace; of that of the host as a device */
@<A list that was run@>@;
@<A block of memory of the device@>@;
@<What a device keeps@>@;
@#
void device_reserve(struct device *d, size_t bytes, size_t pieces);
  /* makes room for |bytes| in |pieces| calls of |device_send|; nothing else may be asked before the launches that use them */
void *device_send(struct device *d, const void *from, size_t bytes);
  /* the place on the device at which a copy of |from| will be before the next launch */
void device_launch(struct device *d, const struct launch *l);
  /* adds it to the list */
bool device_flush(struct device *d);
  /* runs the list; false if the device has failed */
bool device_memory_open(struct device *d, struct error *why);
  /* gives |d->memory| its functions, and allocates what |d| needs itself */
void device_memory_close(struct device *d);
  /* frees all blocks */
void device_fails(struct device *d, const char *why);
  /* notes the first failure: nothing is launched any more */
void device_table(struct device *d);
  /* makes |d->k| */
#endif

@ The device needs five pieces of memory for itself. Two are ordinary: the list of launches, and the shapes of the lists it knows. Two are on the device: the mirror, and a workspace for the blocks of attention and for rounded inputs. The fifth is the page-locked memory. If one of them is refused, |device_memory_close| frees those that are there.

@<Open and close the memory of a device@>=
bool device_memory_open(struct device *d, struct error *why)
{
  d->memory = (struct buffers) @[{ .alloc = device_alloc, .release = device_release,@|
    .set = device_set, .get = device_get, .copy = device_copy, .working = device_working }@];
  d->list = memory_alloc(d->m, MEMORY_OTHER, MOST_LAUNCHES, sizeof *d->list, why);
  struct launch_shape *shape = d->list == NULL ? NULL
    : memory_alloc(d->m, MEMORY_OTHER, KEPT * MOST_LAUNCHES, sizeof *shape, why);
  if (shape == NULL) return false;
  for (int i = 0; i < KEPT; i++) d->known[i].shape = shape + i * MOST_LAUNCHES;
  d->mirror = device_alloc(&d->memory, d->m, MEMORY_OTHER, SMALL_BYTES, 1, why);
  d->work = d->mirror == NULL ? NULL
    : device_alloc(&d->memory, d->m, MEMORY_ACTIVATIONS, d->work_bytes, 1, why);
  d->small = d->work == NULL ? NULL : d->driver->alloc_shared(d->state, SMALL_BYTES);
  if (d->small == NULL && d->work != NULL)
    return error_say(why, "out of memory: %d bytes to exchange with %s", SMALL_BYTES, d->facts.name);
  return d->small != NULL;
}

@ Closing waits for the device first, because it may still be writing to the blocks.

@<Open and close the memory of a device@>=
void device_memory_close(struct device *d)
{
  if (d->list != NULL && d->mirror != NULL) settle(d);
  if (d->small != NULL) d->driver->release_shared(d->state, d->small);
  for (size_t i = 0; i < d->n_blocks; i++) {
    struct device_block *b = &d->block[i];
    if (b->used) memory_discharge(b->m, b->what, b->charged);
    d->driver->release(d->state, b->p);
  }
  memory_free(d->m, d->block);
  memory_free(d->m, d->list), memory_free(d->m, d->known[0].shape);
}

@* The check.
Everything in this chapter runs on any machine, since the driver of the host is a driver like CUDA's. The suite \.{check\_device} counts launches and lists, fills the page-locked memory to the brim, asks for long answers, and refuses every request for memory once. It also has a driver that breaks: it does what the host's does until its calls are used up, and then one call fails. The suite tries this with each call of an opening and a pass in turn, and wants the same sentence from that moment on, however often a pass is tried again. It cannot show time. We think that collecting and keeping are worth the trouble, but we have not measured it (\cref{sec:devicemeasured}).
