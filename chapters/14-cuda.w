@i types.w
@s EACH_THREAD while
@s EACH_LANE while
@s KERNEL static
@s INLINE inline
@s UNROLL if
@s GRID const


\chapterquestion{My graphics card multiplies a thousand times faster than my processor. Why does it write only fifty times faster, and what must I do so that it writes the same text?}
@** CUDA: the same bits on a graphics processor.
\incipit{A}{ graphics processor} (GPU) runs thousands of threads at once, and its memory is many times as fast as your computer's. Can it run our forward pass, and get the same bits? It can. The pass remains the one of \cref{model}: the same calls in the same order, behind the same table of kernels. What changes is where the numbers are, who does the sums, and how the work is sent there. (\emph{CUDA} is NVIDIA's dialect of C++ for such a device, and nvcc the compiler; the \emph{compute capability} is the version of the hardware, and \emph{PTX} an intermediate code that the driver translates for the device at hand.)
@^graphics processor (GPU)@>@^CUDA@>

@ How long must a token take at least?

\begin{byhand}{a token's time on a processor and on a device}
A model of $1.1\cdot10^9$ weights in bfloat16 is $2.2$\,GB, and writing one token reads all of it once and multiplies each weight once. How long do the bytes take, and how long the products?

\medskip
\begin{tabular}{@@{}l@@{\quad}r@@{\quad}r@@{\quad}r@@{\quad}r@@{}}
 & memory & bytes & products/s & products\\
processor & $20$ GB/s & $110$ ms & $10^{11}$ & $11$ ms\\
device & $2000$ GB/s & $1.1$ ms & $10^{14}$ & $0.011$ ms
\end{tabular}
\medskip

On both, the arithmetic is done long before the bytes have come. The device multiplies a thousand times faster, and then it waits for its memory: it writes faster by the quotient of the memories, $2000/20=100$. And if it stands still for $5\,\mu$s after each of $200$ kernels, another $1$ ms passes, and the quotient is $110/2.1=52$.
\end{byhand}

@ So we have two tasks. Within a kernel, enough loads must be under way that the memory never waits (\cref{sec:devicerow}). Between kernels there must be no gap (\cref{sec:launches}). Reading a prompt is another matter: with many rows the arithmetic counts again (\cref{sec:devicetiles}), and for it these devices have special units, which round in a way of their own (\cref{sec:tensorcores}).

We chose the numbers in the box. Those of a device can only be measured on a device, and we had none. We compiled the kernels of this chapter, and read the machine code that the compiler made of them. But what ran, and what every check below checks, is the same source text on the host, thread by thread (\cref{sec:standin}). Nothing here has run on a graphics processor. Where a table should have a speed, it says that it is not yet measured, and \cref{sec:devicemeasured} says how you can measure it.

@ Our program puts the model of four words (\cref{sec:toy}) through the kernels of this chapter and through the plain ones, and counts the logits whose bits differ. The host stands in for the device, and runs its threads in three different orders.

@c
#include <stdio.h>
#include <string.h>
#include "cache/cache.h"
#include "cuda/device.h"
#include "model/forward.h"
#include "model/toy.h"
@;@#
enum { READ = 5 };
@<Put five words through a table@>@;
@<Compare a device with the plain table@>@;
int main(int argc, char **argv)
{
  struct memory m = @[{ .all.live = 0 }@];
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  for (unsigned order = 0; order < (values ? 1 : 3); order++)
    if (!compare_device(&m, order, values)) return 1;
  return m.all.live > 0 || (argc > 1 && !values);
}

@ How much of this does a caller see? A single option: the cache must be in the memory of the kernels. Everything else in this function is the same for the plain table, and the program calls it with both.

@<Put five words through a table@>=
static bool logits_of(struct memory *m, const struct kernels *k, float *logits,
  struct error *why)
{
  static struct toy y;
  struct counters c = @[{ .passes = 0 }@];
  struct engine e = @[{ .k = k, .c = &c }@];
  struct cache_options o = @[{ .page_rows = 2, .memory = k->memory }@];
  struct row rows[READ];
  size_t all[READ];
  struct pass *p = NULL;
  toy_make(&y);
  for (uint32_t i = 0; i < READ; i++)
    rows[i] = (struct row) @[{ 0, i, i * 3 % TOY_WORDS }@], all[i] = i;
  struct store *s = cache_open(m, &y.lm.config, 1, &o, why);
  bool ok = s != NULL && model_forward(&e, &y.lm, s, rows, READ, &p, why)
    && model_logits(&e, &y.lm, p, all, READ, logits, why);
  pass_close(p);
  store_close(s);
  return ok;
}

@ A \emph{launch} starts a kernel. A pass is a list of launches, and its logits are another one; the device counts lists and launches.

@<Compare a device with the plain table@>=
static bool compare_device(struct memory *m, unsigned order, bool values)
{
  static const char *const name[] = { "forwards", "backwards", "in steps" };
  float plain[READ * TOY_WORDS], there[READ * TOY_WORDS];
  char which[] = "host:0";
  struct error why;
  struct device_counts n = @[{ 0, 0, 0 }@];
  int differ = 0;
  which[5] = (char) ('0' + order);
  struct device *d = device_open(m, which, &why);
  bool ok = d != NULL && logits_of(m, &kernels_plain, plain, &why)
    && logits_of(m, device_kernels(d), there, &why);
  if (!ok) printf("%s\n", why.text);
  else n = device_count(d);
  for (int i = 0; i < READ * TOY_WORDS && ok; i++)
    differ += memcmp(&plain[i], &there[i], sizeof plain[i]) != 0;
  if (ok && values) printf("cuda.launches %d\ncuda.lists %d\n", (int) n.launches, (int) n.lists);
  else if (ok)
    printf("threads %-10s %2d of %d logits differ\n", name[order], differ, READ * TOY_WORDS);
  device_close(d);
  return ok && differ == 0;
}

@* Blocks, threads and barriers: one kernel for two machines. \label{sec:standin}
On a device, a \emph{kernel} is a function that many threads run at once. They come in \emph{blocks}. A block has up to \given{1024} threads, which share a small fast memory, called \emph{shared memory}, and can wait for one another at a \emph{barrier}. In the hardware, \given{32} threads of a block form a \emph{warp}: an instruction is fetched once for all of them, and a thread can read a register of another thread of its warp. (The threads of a warp once went through their instructions in step. Since \given{2017} NVIDIA no longer promises that. A warp has a barrier of its own, and a thread that needs the others waits for them there.) Different blocks know nothing of each other. They run in any order, on as many \emph{multiprocessors} as the device has. A multiprocessor holds as many blocks at once as its registers and its shared memory allow; the share of its places for warps that are taken is called the kernel's \emph{occupancy}.
@^block of threads@>@^warp@>@^multiprocessor@>@^shared memory@>@^occupancy@>

That is nearly C, and you would like to run it as C too, to test it where there is no device. Let's try the obvious way, and call the function once for each thread, one after the other. It works until the first barrier. There a thread would have to stop in the middle of a function until all the others have caught up, and a function in C cannot do that.

So we cut each kernel at its barriers, into \emph{phases}. A phase begins with |EACH_THREAD(t)|, and then says what each thread |t| does until the next barrier. On the device this is a loop of a single turn, with the barrier at its end. On the host it is a loop over all threads of the block. Let |s| be an array of shared memory. |EACH_THREAD(t) s[t] = x[t];| and then |EACH_THREAD(t) y[t] = s[n - 1 - t];| turn the |n| numbers of a block around. In one phase thread 0 would read the last number before it is there. In two it cannot: the host ends its first loop before it begins the second, and a device's threads wait for one another at the barrier. With a dozen such words, which mean one thing on the device and another on the host, our kernels are written in a small subset of both C and CUDA.
@^phase of a kernel@>

@(machine.inc@>=
@;
/** The words of a kernel: a kernel is written once, in phases, and means the same to nvcc and to a C
  compiler. Between two barriers no thread may read what another writes in shared memory; the last
  thing in a phase is its barrier, so what one phase writes the next may read. All threads of a block
  go through the same phases: nothing returns from the middle of a kernel unless all do. With
  |KERNEL_WORDS| a test gives words of its own. */
#include "cuda/launch.h"
#ifdef __CUDACC__
@<The words of a kernel on the device@>@;
#elif defined KERNEL_WORDS
#include KERNEL_WORDS
#else
@<The words of a kernel on the host@>@;
#endif

@ Each thread has variables of its own. If they live from one phase to the next, the host must keep those of all threads: |PRIVATE(float, sum, 4)| declares them, and |MINE(sum)[i]| is the element |i| of the thread |t| of the phase. |SHARED| declares an array in the block's shared memory. |FROM_LANE| reads element |i| of another thread, whose number in the warp is |lane|; no thread may write its own in the same phase. |EACH_LANE| is a phase after which only the warp waits. (CUDA calls a thread of a warp its lane, hence these names. Elsewhere in this book a lane is one of the sixteen sums.)

A |KERNEL| is what can be launched, and |INLINE| a function that becomes part of it. A kernel has to know which block it is: |HERE(at)| declares |at| and reads it from the device's registers; on the host it comes as a first argument, for which |GRID| makes room. (On the device |GRID| says that the argument is only read, where it is. Otherwise the compiler may make a copy in memory for each thread.) |UNROLL(n)| asks the device's compiler to write the next loop out |n| times; for the host it is nothing. |AT_ONCE| says how many threads a kernel's blocks have, and how many of these blocks must find room on a multiprocessor at the same time; that bounds the registers that a thread may have.

@<The words of a kernel on the device@>=
#pragma nv_diag_suppress 177 /* a phase need not look at its |t| */
#define INLINE static __device__ __forceinline__
#define KERNEL static __global__
#define AT_ONCE(threads, blocks) @,@, __launch_bounds__(threads, blocks)
#define GRID __grid_constant__
#define HERE(at) const struct block_place at \
    = @[{ blockIdx.x, blockIdx.y, blockIdx.z, blockDim.x, 0 }@]
#define @,EACH_THREAD(t) @,@, for (unsigned t = threadIdx.x, go_on = 1; go_on;@| \
    go_on = 0, __syncthreads())
#define @,EACH_LANE(t) @,@, for (unsigned t = threadIdx.x, go_on = 1; go_on;@| \
    go_on = 0, __syncwarp())
#define PRIVATE(type, name, n) @,@, type @,@, name[n]
#define MINE(name) @,@, name
#define FROM_LANE(name, i, lane) @,@, __shfl_sync(0xffffffffu, name[i], (int) (lane))
#define SHARED(type, name, n) @,@, __shared__ type @,@, name[n]
#define PRAGMA(text) @,@, _Pragma(#text)
#define @,UNROLL(n) @,@, PRAGMA(unroll @,@, n)

@ On the host a block is a function call, and its threads are a loop. That is dangerously tidy: on the device it is a matter of chance which thread comes first, and a kernel whose result depends on it is wrong, even if a tidy loop never shows it. So the host can change the order: |thread_at| gives the threads forwards, backwards, or with a stride, as the launch says. If two phases that need a barrier between them are written as one, the result then usually changes with the order. Shared memory begins with bytes that are NaN as floats and beyond all bounds as integers, so that what was never written is likely to show as well.

@<The words of a kernel on the host@>=
#include <math.h>
#include <string.h>
enum { MOST_THREADS = 256 };
static inline unsigned thread_at(const struct block_place *at, unsigned turn)
{
  if (at->order == 0 || turn >= at->threads) return turn;
  return at->order == 1 ? at->threads - 1 - turn : turn * 7 % at->threads;
}

@ The other words are those of the device, with a loop for a barrier and an array for a register. Here |EACH_LANE| is |EACH_THREAD|: the host's loop cannot tell a barrier of the warp from one of the block. A second stand-in, which only the tests have, can (\cref{sec:devicecheck}); it comes with other words, and |begin_block| is where it takes over.

@<The words of a kernel on the host@>=
#define INLINE static inline
#define KERNEL static
#define AT_ONCE(threads, blocks)
#define GRID const struct block_place at,
#define HERE(at) ((void) at)
#define @,EACH_THREAD(t) @,@, for (unsigned turn = 0, t = 0; turn < at.threads@| \
    && (t = thread_at(&at, turn), true); turn++)
#define @,EACH_LANE(t) @,@, EACH_THREAD(t)
#define PRIVATE(type, name, n) @,@, type @,@, name[MOST_THREADS][n]
#define MINE(name) @,@, name[t]
#define FROM_LANE(name, i, lane) @,@, name[(t & ~31u) + (lane)][i]
#define SHARED(type, name, n) @,@, type @,@, name[n]; memset(name, 0xff, sizeof name)
#define @,UNROLL(n)
static inline void begin_block(void (*run)(const struct launch *, struct block_place),@|
  const struct launch *l, struct block_place at)
{ run(l, at); }

@ We keep a launch as plain data: which kernel, how many blocks in three directions, threads a block, and the kernel's arguments. A block learns its |struct block_place|.

@(launch.h@>=
@;
/** Launches as plain data, and what drives a device. Included by kernels and by the host: nothing of
  CUDA, and nothing of the engine. Launches are compared byte by byte, so what would be padding in the
  arguments has a name, |zero|, and is 0. Addresses are the device's. */
#ifndef INCIPIT_CUDA_LAUNCH_H
#define INCIPIT_CUDA_LAUNCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct block_place { unsigned x, y, z, threads, order; };
  /* a block: its number in three directions, how many threads it has, and, on the host, in what order they come */
enum device_type { DEVICE_F32, DEVICE_F16, DEVICE_BF16, DEVICE_Q8_0, DEVICE_Q4_0 };
  /* the types of numbers with which a device computes: those of |enum weight_type| */
struct stored_rows { const void *data; const uint16_t *scale; uint32_t type, stride; };
  /* rows of numbers on the device, |stride| apart; |scale|: in Q8\_0, that of the first 32 numbers of the first row. Null |data|: there is no such tensor */
@<What each kernel is given@>@;
@<A launch@>@;
@<What a device says of itself@>@;
@<What drives a device@>@;
#endif

@ The smallest kernel adds to the residual stream. The blocks of a launch are its \emph{grid}. Here there are as many as the elements need, one to a thread, but at most |WIDEST|; if that is not enough, each thread does several elements, a whole grid apart. |ELEMENTS_OF| is this loop.

@<The kernel that adds@>=
#define ELEMENTS_OF(i, n) \
  (size_t i = (size_t) at.x * at.threads + t; i < n; i += (size_t) WIDEST * at.threads)
KERNEL void add_rows(GRID const struct add_args a)
{
  HERE(at);
  EACH_THREAD(t)
    for @[ELEMENTS_OF(i, a.n)@] a.y[i] += a.x[i];
}

@* One row: a matrix--vector product. \label{sec:devicerow}
Writing a token multiplies each matrix with a single row. The bytes of the weights are the price, so we read each weight once, and we must have asked for the next ones while the first are still coming. How many must we ask for in advance? Suppose that a load takes \given{600} nanoseconds. Meanwhile a memory of \given{3350} GB/s, that of an H100 by its data sheet, could have sent \given{2\,010\,000} bytes, which is \given{15227} for each of its \given{132} multiprocessors. That many bytes must be under way all the time, or the memory waits. This is \emph{Little's law}: bytes under way are bandwidth times waiting time.
@^Little's law@>

@ How do we divide a matrix among threads? Several ways give the same bits, since an output is always the sum of sixteen lanes (\cref{sec:order}). They differ in what a load brings. The plainest is |step_outputs|: each thread has an output and all of its lanes, as a loop on a processor would. The 32 threads of a warp then load from 32 rows at once, two bytes in each if the weights are \emph{halves}, our word for floats of 16 bits, bfloat16 or float16. But memory delivers pieces of \given{32} bytes, called \emph{sectors}. So sixteen times as much comes as was asked for, and the rest must wait in the caches, the multiprocessor's own (L1) or the one that all share (L2), for its turn. A load is \emph{coalesced} if the threads of a warp ask for neighbouring bytes, so that few sectors serve all of them. This one is not.
@^sector, of memory@>@^coalesced load@>

@<Two plainer kernels for one row@>=
INLINE float half_weight(const struct linear_args *a, unsigned o, uint32_t k)
{
  const struct stored_rows *s = &a->of[0].weight;
  return num_from_bf16(((const uint16_t *) s->data)[(size_t) o * s->stride + k]);
}

KERNEL void step_outputs(GRID const struct linear_args a)
{
  HERE(at);
  EACH_THREAD(t) {
    unsigned o = at.x * FEW_THREADS + t;
    float lane[16] = { 0 };
    /*- the phase goes on to its barrier: no thread returns */
    if (o >= a.of[0].out) continue;
    for (uint32_t k = 0; k < a.in; k += 16) {
      UNROLL(16)
      for (uint32_t j = 0; j < 16; j++)
        lane[j] = fmaf(a.x[k + j], half_weight(&a, o, k + j), lane[j]);
    }
    for (unsigned apart = 8; apart > 0; apart /= 2)
      for (unsigned j = 0; j < apart; j++) lane[j] += lane[j + apart];
    a.of[0].y[o] = lane[0];
  }
}

@ So let neighbouring threads read neighbouring weights. In the second, |step_lanes|, sixteen threads share an output and have a lane each. A warp reads from two rows, from each exactly the \given{32} bytes of a sector. Now nothing is loaded in vain; but each load of a thread brings two bytes, and many small loads must be under way to fill the memory's time.

@<Two plainer kernels for one row@>=
KERNEL void step_lanes(GRID const struct linear_args a)
{
  HERE(at);
  @[PRIVATE(float, lane, 1)@];
  @[PRIVATE(float, other, 1)@];
  EACH_LANE(t) {
    unsigned o = at.x * (FEW_THREADS / 16) + t / 16;
    MINE(lane)[0] = 0;
    for (uint32_t k = t % 16; k < a.in && o < a.of[0].out; k += 16)
      MINE(lane)[0] = fmaf(a.x[k], half_weight(&a, o, k), MINE(lane)[0]);
  }
  for (unsigned apart = 8; apart > 0; apart /= 2) {
    EACH_LANE(t)
      MINE(other)[0] = FROM_LANE(lane, 0, (t & 31u) ^ apart);
    EACH_LANE(t)
      MINE(lane)[0] += MINE(other)[0];
  }
  EACH_LANE(t) {
    unsigned o = at.x * (FEW_THREADS / 16) + t / 16;
    if (t % 16 == 0 && o < a.of[0].out) a.of[0].y[o] = MINE(lane)[0];
  }
}

@ Wider loads, then. In the third, eight threads share an output, and each has two neighbouring lanes, each of them a chain over every sixteenth weight; so the eight read 64 bytes of floats, or 32 of halves, in one piece (\.{unwoven/cuda/reading.inc} has the functions that load and convert). Four outputs make a warp (\cref{fig:devicelanes}). A load is twice as wide as before, but there are half as many threads, and the code is a loop: load, multiply, load again. By the estimate this is a step back. The compiler writes the loop of |step_lanes| out four times, and a thread there has four loads under way; here the barrier in the loop leaves it one. Wider loads do not help a thread that waits for each.

That gives us the idea. The fourth, which this engine uses, differs from the third in one thing: a thread sends off \given{32} loads before it multiplies. And for up to eight rows of inputs, each weight that was read is used for all of them.
@^lane@>

\Cref{tab:devicesteps} has what can be known without a device. In the machine code, which \.{nvdisasm} prints, we counted how many loads a thread sends off before it uses the first (\.{bench/loads.py}). With that, and with the number of threads, Little's law gives an estimate. It is rough. \given{600} nanoseconds is our assumption, and the hardware may overlap more loads than these. Above all it is the estimate for the best moment, when all loads of a round are under way. While a thread multiplies what has come, it has none, so the mean is lower, and \given{100}\,\% would not mean that the memory never waits. A matrix of \given{2048} outputs is small for such a device, and its threads do not fill the multiprocessors; in a larger one all four do better, for there more threads wait at the same time.

\begin{table}[tbp]
\tabcaption{tab:devicesteps}{Four kernels for one row by a matrix of halves with \given{2048} outputs: threads for an output; sectors of a warp's load; loads of a thread that follow each other in the machine code for compute capability \given{9.0}; bytes under way at most in each of \given{132} multiprocessors, and the share of the bandwidth of \given{3350} GB/s that this amounts to at that moment if a load takes \given{600} nanoseconds; and the rate of the weights as a share of the rate at which the device copies, in a large matrix.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrrr@@{}}
\tabhead{kernel} & \tabhead{threads} & \tabhead{sectors} & \tabhead{loads} & \tabhead{bytes} & \tabhead{estimate} & \tabhead{seen}\\\midrule
\.{step\_outputs} & \directlua{incipit.step("step_outputs", 1, 2)} & \measured{cuda.step.1}\\
\.{step\_lanes} & \directlua{incipit.step("step_lanes", 16, 2)} & \measured{cuda.step.2}\\
\.{step\_pairs} & \directlua{incipit.step("step_pairs", 8, 4)} & \measured{cuda.step.3}\\
\.{few\_bf16\_1} & \directlua{incipit.step("few_bf16_1", 8, 4)} & \measured{cuda.step.4}
\end{tabular*}
\end{table}

\fig{devicelanes}{fig:devicelanes}{Who reads what: the first weights of four outputs, and the threads of a warp. A thread has two lanes of one output, in every row of inputs.}{Four rows of boxes, one for each output. Each row is divided into groups of sixteen weights. Pairs of neighbouring weights in a group have the number of a thread, 0 to 7 in the first row, 8 to 15 in the second, and so on; the next group of sixteen begins again with the same threads.}

@ Now the thread that sends off its loads first. Its two lanes are |2*j| and |2*j+1|, and it does |rows| rows of inputs, a constant in each kernel. It fetches the weights of |AHEAD| steps, \given{32}, before it multiplies the first of them. Fetching and multiplying are a phase each, and the barrier between them is not for the threads but for the compiler. In the machine code for the compute capability \given{9.0} nothing waits there. But without it the compiler moves the loads of some kernels back to their multiplications, to save registers, and then few are under way at once. Near the end of a row, a load that has nothing left to fetch fetches some weights a second time, and we do not use them.

@<The lanes of a thread@>=
enum { AHEAD = 32 };
INLINE void fetch_steps(const struct linear_args *a, const struct matrix_part *m, int type,
  uint32_t ahead, unsigned o, uint32_t k, float *w)
{
  uint32_t first = k + 1 < a->in ? k : 0;
  o = o < m->out ? o : 0;
  UNROLL(32)
  for (uint32_t i = 0; i < ahead; i++)
    two_at(&m->weight, type, o, k + 16 * i + 1 < a->in ? k + 16 * i : first, w + 2 * i);
}

@ What if a row's length is no multiple of sixteen? You would fill it up with zeros. But to add a product with 0 could turn $-0$ into $0$, and we want every bit. So the chain ends where the row does.

@<The lanes of a thread@>=
INLINE void add_steps(const struct linear_args *a, int rows, uint32_t ahead, uint32_t k, bool whole,
  uint32_t from, const float *w, float *lane)
{
  UNROLL(32)
  for (uint32_t i = 0; i < ahead; i++) {
    /*- not filled up with zeros: to add a product with 0 could turn -0 into 0 */
    if (!whole && k + 16 * i + 1 >= a->in) continue;
    UNROLL(8)
    for (int r = 0; r < rows; r++) {
      const float *x = a->x + (size_t) row_within(a, from + (uint32_t) r) * a->in + k + 16 * i;
      lane[2 * r] = fmaf(x[0], w[2 * i], lane[2 * r]);
      lane[2 * r + 1] = fmaf(x[1], w[2 * i + 1], lane[2 * r + 1]);
    }
  }
}

INLINE void add_last(const struct linear_args *a, const struct matrix_part *m, int rows,
  unsigned o, unsigned j, uint32_t from, float *lane)
{
  if (o >= m->out || a->in % 2 == 0 || (a->in - 1) % 16 != 2 * j) return;
  for (int r = 0; r < rows; r++)
    lane[2 * r] = fmaf(a->x[(size_t) row_within(a, from + (uint32_t) r) * a->in
      + a->in - 1], number_at(&m->weight, o, a->in - 1), lane[2 * r]);
}

@ The kernel itself is short now. A block has sixteen outputs, each with its eight threads, and goes through the inputs by rounds of |ahead| steps. All rounds but perhaps the last are whole. |add_steps| is told so by a constant, and the compiler makes a copy of it that never asks whether the row ends.

@<Few rows by a matrix@>=
enum { FEW_THREADS = 128, FEW_OUTPUTS = FEW_THREADS / 8, FEW_ROWS = 8 };
INLINE void few_rows(const struct linear_args *a, struct block_place at, int type, int rows,
  uint32_t ahead)
{
  const struct matrix_part *m = part_of(a, &at.x);
  uint32_t from = at.y * (uint32_t) rows;
  @[PRIVATE(float, lane, 2 * FEW_ROWS)@];
  @[PRIVATE(float, other, 2 * FEW_ROWS)@];
  @[PRIVATE(float, w, 2 * AHEAD)@];
  EACH_LANE(t)
    for (int i = 0; i < 2 * rows; i++) MINE(lane)[i] = 0;
  for (uint32_t k0 = 0; k0 < a->in; k0 += 16 * ahead) {
    /*- a phase of its own, or the compiler moves the loads back to their multiplications */
    EACH_LANE(t)
      fetch_steps(a, m, type, ahead, at.x * FEW_OUTPUTS + t / 8, k0 + t % 8 * 2, MINE(w));
    EACH_LANE(t)
      if (k0 + 16 * ahead <= a->in)
        add_steps(a, rows, ahead, k0 + t % 8 * 2, true, from, MINE(w), MINE(lane));
      else add_steps(a, rows, ahead, k0 + t % 8 * 2, false, from, MINE(w), MINE(lane));
  }
  EACH_LANE(t)
    add_last(a, m, rows, at.x * FEW_OUTPUTS + t / 8, t % 8, from, MINE(lane));
  @<Fold the lanes of eight threads, and store@>@;
}

@ The fold adds lane $i+8$ to lane $i$, then $i+4$, $i+2$, $i+1$. For the first three a thread reads the lane of the thread whose number differs in bit 4, 2 or 1; the last is its own second lane. All threads add in each step, though we store only one sum of each output: the others would have nothing else to do, and an addition gives the same bits with its two sides exchanged.
@^fold@>

@<Fold the lanes of eight threads, and store@>=
/*- all threads add, though one of eight stores: an addition has the same bits either way round */
for (unsigned apart = 4; apart > 0; apart /= 2) {
  EACH_LANE(t)
    for (int i = 0; i < 2 * rows; i++)
      MINE(other)[i] = FROM_LANE(lane, i, (t & 31u) ^ apart);
  EACH_LANE(t)
    for (int i = 0; i < 2 * rows; i++) MINE(lane)[i] += MINE(other)[i];
}
EACH_LANE(t) {
  unsigned o = at.x * FEW_OUTPUTS + t / 8;
  if (t % 8 != 0 || o >= m->out) continue;
  for (int r = 0; r < rows; r++)
    put_output(a, m, from + (uint32_t) r, o, MINE(lane)[2 * r] + MINE(lane)[2 * r + 1]);
}

@ A launch takes up to three matrices, because queries, keys and values have the same input: three small matrices one after the other would each leave part of the device idle. The blocks of the second matrix follow those of the first.

@<Which matrix, which row, and where a sum goes@>=
INLINE const struct matrix_part *part_of(const struct linear_args *a, unsigned *x)
{
  uint32_t i = 0;
  while (i + 1 < a->n && *x >= a->of[i + 1].first) i++;
  *x -= a->of[i].first;
  return &a->of[i];
}

INLINE uint32_t row_within(const struct linear_args *a, uint32_t r)
{ return r < a->rows ? r : a->rows - 1; }

INLINE void put_output(const struct linear_args *a, const struct matrix_part *m, uint32_t r,
  unsigned o, float sum)
{
  if (r >= a->rows || o >= m->out) return;
  if (m->bias.data != NULL) sum += number_at(&m->bias, 0, o);
  m->y[(size_t) r * m->out + o] = sum;
}

@ These are the arguments: what each matrix of the launch has, and what all of them have in common.

@<What each kernel is given@>=
enum { MOST_PARTS = 3 };
  /* matrices of a launch */
struct matrix_part { struct stored_rows weight, bias; float *y; uint32_t out, first; };
  /* a matrix of |out| rows; the number of its first block */
struct linear_args { struct matrix_part of[MOST_PARTS]; const float *x; const int8_t *q;
  const float *d; const uint16_t *h; uint32_t n, in, rows, zero; };
  /* |x|: [rows][in]; |q| and |d|: the same rounded to bytes, and the scale of each 32; |h|: the same
     rounded to bfloat16, [rows][in, up to a multiple of sixteen, with zeros] */
struct add_args { float *y; const float *x; size_t n; };
  /* |y += x| */
enum { WIDEST = 2048 };
  /* the most blocks of a kernel that does one element, or some, in each thread */
@<What attention on a device is given@>@;
@<What the choice of a token is given@>@;
#include "cuda/small.h"

@ A kernel has one type and one number of rows. C has no templates, so a macro writes them all out. |step_pairs|, the third line of \cref{tab:devicesteps}, is the same function with one load ahead instead of \given{32}.

@<The kernels for few rows@>=
#define FEW(name, type, rows) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); few_rows(&a, at, type, rows, AHEAD); }
#define FEW_OF(name, type) @,@, \
  FEW(name##_1, type, 1) FEW(name##_2, type, 2) \
  FEW(name##_4, type, 4) FEW(name##_8, type, 8)
FEW_OF(few_f32, DEVICE_F32)@;
FEW_OF(few_f16, DEVICE_F16)@;
FEW_OF(few_bf16, DEVICE_BF16)@;
FEW_OF(few_q8, DEVICE_Q8_0)@;
KERNEL void step_pairs(GRID const struct linear_args a)
{
  HERE(at);
  few_rows(&a, at, DEVICE_BF16, 1, 1); 
}

@* Many rows: tiles. \label{sec:devicetiles}
When are rows many? The roofline of \cref{sec:roofline} can be drawn before anything has run, from the numbers of a data sheet (\cref{fig:deviceroof}). A row of inputs does half a multiply--add for each byte of halves. The slope meets the level of float at \given{20} rows and that of tensor cores (\cref{sec:tensorcores}) at about \given{300}; below, memory decides, and above, the arithmetic. We call up to \given{16} rows few, and the kernels of the last section take them in groups of up to eight. Whether \given{16} is the right number only a device can say.
@^roofline@>

\fig{deviceroof}{fig:deviceroof}{The work of a pass below the bounds of a device, an H100 SXM by its data sheet: rows of a layer with \given{2048} inputs and \given{5632} outputs in bfloat16 (dots), a row of float weights, and attention with eight queries to a head of keys in float (diamonds). No point is measured.}{Logarithmic axes, multiply-adds for each byte against multiply-adds a second. A slope bends to the level of float; dashed, it goes on to the level of tensor cores. Dots for 1, 8, 64, \given{512} and \given{2048} rows climb along the slope; the first two are below the level of float, the next lies between the levels, the last two at the upper one.}

@ With many rows each weight is used often, so we want it to come from memory once and from somewhere fast after that. As in \cref{sec:linear}, a thread could keep the sums of some rows and some outputs, here eight by eight. But a sum is sixteen lanes, and 64 sums of sixteen are more than a thread has registers for. So each thread takes one lane of each sum, and sixteen threads share the tile: |lane| is |t%16|. The block has sixteen such tiles, four by four, 32 rows by 32 outputs, and reads its inputs and weights into shared memory \given{32} at a time, where eight weights and eight inputs serve 64 multiply--adds.
@^tile@>

@<Sizes of tiles@>=
enum { TILE = 32, DEPTH = 32, TILE_STRIDE = 34, MANY_THREADS = 256 };

@ The kernel fills the two tiles, multiplies them, and goes on to the next inputs. Both phases end with a barrier: no thread may multiply before all have filled, or fill while others still multiply.

@<Many rows by a matrix@>=
INLINE void many_rows(const struct linear_args *a, struct block_place at, int type)
{
  const struct matrix_part *m = part_of(a, &at.x);
  @[SHARED(float, xs, TILE * TILE_STRIDE)@];
  @[SHARED(float, ws, TILE * TILE_STRIDE)@];
  @[PRIVATE(float, sum, 64)@];
  @[PRIVATE(float, other, 1)@];
  EACH_THREAD(t) {
    UNROLL(64)
    for (int i = 0; i < 64; i++) MINE(sum)[i] = 0;
  }
  for (uint32_t k0 = 0; k0 < a->in; k0 += DEPTH) {
    /*- no thread multiplies before all have filled, or fills while others still multiply */
    EACH_THREAD(t) fill_tiles(a, m, type, &at, k0, t, xs, ws);
    EACH_THREAD(t) multiply_tiles(a->in - k0, t, xs, ws, MINE(sum));
  }
  @<Fold the lanes of sixteen threads, and store@>@;
}

@ Each of the \given{256} threads brings four inputs and four weights. All eight loads come first and all stores after them, since a store waits for its load. In shared memory, rows and outputs beyond the last are zeros, whose sums are never stored.

@<Tiles in shared memory@>=
INLINE void fill_tiles(const struct linear_args *a, const struct matrix_part *m, int type,
  const struct block_place *at, uint32_t k0, unsigned t, float *xs, float *ws)
{
  float x[4], w[4];
  unsigned row = t / DEPTH, k = t % DEPTH;
  bool within = k0 + k < a->in;
  struct stored_rows s = m->weight;
  s.type = (uint32_t) type;
  UNROLL(4)
  for (unsigned i = 0; i < 4; i++) {
    uint32_t r = at->y * TILE + row + 8 * i, o = at->x * TILE + row + 8 * i;
    x[i] = within && r < a->rows ? a->x[(size_t) r * a->in + k0 + k] : 0;
    w[i] = within && o < m->out ? number_at(&s, o, k0 + k) : 0;
  }
  UNROLL(4)
  for (unsigned i = 0; i < 4; i++) {
    xs[(row + 8 * i) * TILE_STRIDE + k] = x[i];
    ws[(row + 8 * i) * TILE_STRIDE + k] = w[i];
  }
}

@ A thread multiplies its lane of eight rows by that of eight outputs: sixteen words from shared memory for 64 multiply--adds. Shared memory consists of \given{32} \emph{banks}; word $i$ is in bank $i\bmod32$, and a bank sends one word at a time. The stride of \given{34} keeps the two tiles of a warp in different banks: with 32, all 32 threads would ask 16 banks, which is called a \emph{bank conflict}.
@^bank conflict@>

@<Tiles in shared memory@>=
INLINE void multiply_tiles(uint32_t left, unsigned t, const float *xs, const float *ws,
  float *sum)
{
  unsigned lane = t % 16, row = t / 64 * 8, out = t / 16 % 4 * 8;
  for (unsigned k = lane; k < DEPTH && k < left; k += 16) {
    float x[8], w[8];
    UNROLL(8)
    for (unsigned i = 0; i < 8; i++)
      x[i] = xs[(row + i) * TILE_STRIDE + k], w[i] = ws[(out + i) * TILE_STRIDE + k];
    UNROLL(64)
    for (int i = 0; i < 64; i++) sum[i] = fmaf(x[i / 8], w[i % 8], sum[i]);
  }
}

@ The lanes of sum |i| are in sixteen threads, half a warp. They fold it together, and thread |i%16| of them stores it.

@<Fold the lanes of sixteen threads, and store@>=
UNROLL(64)
for (int i = 0; i < 64; i++) {
  UNROLL(4)
  for (unsigned apart = 8; apart > 0; apart /= 2) {
    EACH_LANE(t) MINE(other)[0] = FROM_LANE(sum, i, (t & 31u) ^ apart);
    EACH_LANE(t) MINE(sum)[i] += MINE(other)[0];
  }
  EACH_LANE(t)
    if (t % 16 == (unsigned) i % 16)
      put_output(a, m, at.y * TILE + t / 64 * 8 + (unsigned) i / 8,@|
        at.x * TILE + t / 16 % 4 * 8 + (unsigned) i % 8, MINE(sum)[i]);
}

@ As with few rows, there is a kernel for each type.

@<The kernels for many rows@>=
#define MANY(name, type) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); many_rows(&a, at, type); }
MANY(many_f32, DEVICE_F32)@;
MANY(many_f16, DEVICE_F16)@;
MANY(many_bf16, DEVICE_BF16)@;
MANY(many_q8, DEVICE_Q8_0)@;

@* int8 products: four in one instruction. \label{sec:devicebytes}
With \.{--activations int8}, weights in Q8\_0 meet inputs that are rounded to bytes, as in \cref{sec:int8}. The sum of a block's 32 products is an integer, exact in any order; |dot_word| takes four products at a time, for which the device has an instruction, \.{dp4a}. What has an order is the chain over the blocks. (With many rows, tiles of bytes are multiplied as tiles of floats are; \.{bytes.inc} has that kernel.) Thread |j| of the eight that share an output computes the blocks $j$, $j+8$, \dots, up to four of them at a time; then the eight sums of a round are added by all eight threads, each for itself, in rising order.
@^dp4a@>

@<Few rows of bytes by a matrix@>=
INLINE void few_bytes(const struct linear_args *a, struct block_place at, int rows)
{
  const struct matrix_part *m = part_of(a, &at.x);
  uint32_t from = at.y * (uint32_t) rows, blocks = a->in / 32;
  const int rounds = rows > 4 ? 1 : rows > 2 ? 2 : 4;
  @[PRIVATE(float, product, 2 * FEW_ROWS)@];
  @[PRIVATE(float, sum, FEW_ROWS)@];
  EACH_LANE(t)
    for (int r = 0; r < rows; r++) MINE(sum)[r] = 0;
  for (uint32_t b0 = 0; b0 < blocks; b0 += 8 * (uint32_t) rounds) {
    EACH_LANE(t) {
      UNROLL(8)
      for (int i = 0; i < rounds * rows; i++)
        block_product(a, m, at.x * FEW_OUTPUTS + t / 8, b0 + (uint32_t) (i / rows) * 8 + t % 8,@|
          row_within(a, from + (uint32_t) (i % rows)), MINE(product) + 2 * i);
    }
    /*- the chain over the blocks has one order: every thread adds all eight products, in that of the blocks */
    @<Add the products of each round in rising order@>@;
  }
  EACH_LANE(t)
    for (int r = 0; r < rows && t % 8 == 0; r++)
      put_output(a, m, from + (uint32_t) r, at.x * FEW_OUTPUTS + t / 8, MINE(sum)[r]);
}

@ The eight threads of an output have numbers that differ in the last three bits. Each of them reads all eight products, in the order of the blocks.

@<Add the products of each round in rising order@>=
EACH_LANE(t) {
  UNROLL(8)
  for (int i = 0; i < rounds * rows; i++) {
    UNROLL(8)
    for (uint32_t b = 0; b < 8; b++) {
      float whole = FROM_LANE(product, 2 * i, (t & 24u) + b);
      float scale = FROM_LANE(product, 2 * i + 1, (t & 24u) + b);
      if (b0 + (uint32_t) (i / rows) * 8 + b < blocks)
        MINE(sum)[i % rows] = fmaf(whole, scale, MINE(sum)[i % rows]);
    }
  }
}

@ Of each block a thread leaves two numbers: the sum of its 32 products, an integer, which it converts to a float, and the product of the two scales. An output beyond the last leaves zeros, whose sum is not stored; a block beyond the last is not added.

@<One block of products@>=
INLINE int dot_word(uint32_t x, uint32_t w, int sum)
{
#ifdef __CUDACC__
  return __dp4a((int) x, (int) w, sum);
#else
  for (int i = 0; i < 32; i += 8) sum += (int8_t) (x >> i) * (int8_t) (w >> i);
  return sum;
#endif
}

INLINE void block_product(const struct linear_args *a, const struct matrix_part *m, unsigned o,
  uint32_t b, uint32_t r, float to[2])
{
  to[0] = to[1] = 0;
  if (o >= m->out || b >= a->in / 32) return;
  size_t i = (size_t) o * m->weight.stride + b * 32, k = (size_t) r * a->in + b * 32;
  int sum = 0;
  UNROLL(2)
  for (size_t j = 0; j < 32; j += 16) {
    struct four_words x = load_four(a->q + k + j);
    struct four_words w = load_four((const int8_t *) m->weight.data + i + j);
    UNROLL(4)
    for (int n = 0; n < 4; n++) sum = dot_word(x.word[n], w.word[n], sum);
  }
  to[0] = (float) sum;
  to[1] = half_number(m->weight.scale[(size_t) o * (m->weight.stride / 2) + b])@|
    * a->d[k / 32];
}

@ There is a kernel for each number of rows, and one for many.

@<The kernels for bytes@>=
#define FEW_BYTES(name, rows) \
  KERNEL void name(GRID const struct linear_args a) \
  { HERE(at); few_bytes(&a, at, rows); }
FEW_BYTES(bytes_1, 1)@;
FEW_BYTES(bytes_2, 2)@;
FEW_BYTES(bytes_4, 4)@;
FEW_BYTES(bytes_8, 8)@;
KERNEL void bytes_many(GRID const struct linear_args a)
{
  HERE(at);
  many_bytes(&a, at); 
}

@* Tensor cores. \label{sec:tensorcores}
For 16-bit numbers the device has units that multiply whole small matrices. With the instruction \.{mma} a warp hands over sixteen rows of sixteen inputs, the weights of eight outputs for these inputs, and \given{128} sums, and gets the sums back with all \given{2048} products added. How the unit rounds inside is not published. It does not add in sixteen lanes, so these kernels give other bits than \cref{model}. You get them only if you ask for inputs of sixteen bits, with \.{--activations bf16}, and our tests compare them with the plain table within a tolerance.

There are faster ways to use the unit. \.{ldmatrix} fills a warp's registers from shared memory in one instruction; \.{cp.async}, and on an H100 the TMA unit (\emph{tensor memory accelerator}), bring tiles into shared memory past the registers; and the H100's \.{wgmma} lets four warps multiply together, straight from there. Newer units also take numbers of eight bits (FP8) and of four with a common scale (MXFP4, \cref{sec:otherways}). We use \.{mma} and plain loads, because every device since the A100 has them and the host can stand in for them. Do not expect the speed of NVIDIA's own library from this.
@^tensor core@>@^mma@>@^TMA@>@^wgmma@>

@ What remains of our promise, that a row has the same bits in any company? We assume that the unit computes each element from its own row, its own output and its old sum, whatever else is in the matrix, and in the same way at every place of it. Then one row and many rows that send the same numbers through the unit in the same order get the same bits. No device has confirmed this for us; on one, the test \.{a\_tensor\_core\_does\_not\_see\_the\_company} of \.{check\_device} tries it. We fix the order: \emph{sections} of \given{512} inputs, in each the unit's steps of sixteen in rising order, beginning with 0; and the sections are added in rising order.

The unit also says which thread holds what: thread $t$ of the warp, with $g=t/4$ and $q=t\bmod4$, has the inputs $2q$, $2q+1$, $2q+8$, $2q+9$ of the rows $g$ and $g+8$, the weights of output $g$ for the same inputs, and the sums of the rows $g$ and $g+8$ for the outputs $2q$ and $2q+1$.

@<Multiply on a tensor core@>=
#ifdef __CUDACC__
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#define MULTIPLY_16(x, i, w, j, sum, k) \
  asm volatile(MMA "{%0,%1,%2,%3}, {%4,%5,%6,%7}, "@| \
    "{%8,%9}, {%0,%1,%2,%3};"@| \
    : "+f"(sum[k]), "+f"(sum[k + 1]),@| \
      "+f"(sum[k + 2]), "+f"(sum[k + 3])@| \
    : "r"(x[i]), "r"(x[i + 1]),@| \
      "r"(x[i + 2]), "r"(x[i + 3]),@| \
      "r"(w[j]), "r"(w[j + 1]))
#else
@<A stand-in for a tensor core@>@;
#endif

@ The stand-in adds sixteen exact products to the sum in double precision, in a fixed order, and rounds the result to float. That is our choice, and no model of how the unit rounds. It reads what the other threads of the warp hold: those of the same row have $t/4$ in common, and output |o| is with the threads $4o$ to $4o+3$.

@<A stand-in for a tensor core@>=
static double two_products(uint32_t x, uint32_t w)
{
  double low = (double) num_from_bf16((uint16_t) x) * (double) num_from_bf16((uint16_t) w);
  return low + (double) num_from_bf16((uint16_t) (x >> 16))
    * (double) num_from_bf16((uint16_t) (w >> 16));
}
#define HELD(name, thread, i) @,@, name[(t & ~31u) + (thread)][i]
#define MULTIPLY_16(x, i, w, j, sum, k) \
  for (unsigned e = 0; e < 4; e++) { \
    double all = (double) sum[t][(k) + e]; \
    for (unsigned q = 0; q < 4; q++) { \
      unsigned of_x = (t & 28u) + q, of_w = (t % 4 * 2 + e % 2) * 4 + q; \
      all += two_products(HELD(x, of_x, (i) + e / 2), HELD(w, of_w, j)); \
      all += two_products(HELD(x, of_x, (i) + e / 2 + 2), HELD(w, of_w, (j) + 1)); \
    } \
    sum[t][(k) + e] = (float) all; \
  }

@ The unit wants sixteen rows. If there is one, the other fifteen places hold copies of it, whose sums are dropped. That wastes most of the unit, and does not matter: what counts here is that the weights arrive. Four warps take four sections of the same eight outputs, and then thread |t| adds the four sums of row |t/8| and output |t%8| in order.

@<Sizes of tiles@>=
enum { SECTION = 512, HALF_ROWS = 16, HALF_OUTPUTS = 8, FRAGMENTS = 8 };

@ After a round the four sums of every output lie in shared memory, and each thread adds those of one output to its total. The first sum of all begins the total: to add it to 0 could turn $-0$ into $0$.

@<Few rows of halves by a matrix@>=
INLINE void few_halves(const struct linear_args *a, struct block_place at)
{
  const struct matrix_part *m = part_of(a, &at.x);
  @[SHARED(float, part, 4 * HALF_ROWS * HALF_OUTPUTS)@];
  @[PRIVATE(uint32_t, x, 4 * FRAGMENTS)@];
  @[PRIVATE(uint32_t, w, 2 * FRAGMENTS)@];
  @[PRIVATE(float, sum, 4)@];
  @[PRIVATE(float, total, 1)@];
  for (uint32_t k0 = 0; k0 < a->in; k0 += 4 * SECTION) {
    @<Multiply the section of each warp@>@;
    EACH_THREAD(t) put_fragment(part + t / 32 * 128, HALF_OUTPUTS, t, MINE(sum));
    EACH_THREAD(t)
      for (uint32_t i = 0; i < 4 && k0 + i * SECTION < a->in; i++)
        MINE(total)[0] = k0 + i == 0 ? part[t] : MINE(total)[0] + part[i * 128 + t];
  }
  EACH_THREAD(t)
    put_output(a, m, at.y * HALF_ROWS + t / HALF_OUTPUTS,@|
      at.x * HALF_OUTPUTS + t % HALF_OUTPUTS, MINE(total)[0]);
}

@ In its section a warp loads the fragments of eight steps before it multiplies the first, for the reason that |few_rows| has: loads that are under way together. No warp looks at inputs beyond the last, so a section that ends early has fewer steps, in this kernel as in the next one.

@<Multiply the section of each warp@>=
EACH_LANE(t)
  for (int i = 0; i < 4; i++) MINE(sum)[i] = 0;
for (uint32_t k = 0; k < SECTION; k += 16 * FRAGMENTS) {
  EACH_LANE(t) {
    UNROLL(8)
    for (uint32_t i = 0; i < FRAGMENTS; i++)
      load_fragments(a, m, &at, k0 + t / 32 * SECTION + k + 16 * i, t,@|
        MINE(x) + 4 * i, MINE(w) + 2 * i);
  }
  EACH_LANE(t) {
    UNROLL(8)
    for (uint32_t i = 0; i < FRAGMENTS; i++)
      if (k0 + t / 32 * SECTION + k + 16 * i < a->in)
        MULTIPLY_16(x, 4 * i, w, 2 * i, sum, 0);
  }
}

@ An earlier kernel has rounded the inputs to bfloat16, so that one load brings two of them. Rows of inputs and of weights are padded with zeros to a multiple of sixteen. In the place of rows and outputs beyond the last we fetch the last, and do not store what becomes of it.

@<The fragments of a thread@>=
INLINE const uint16_t *half_inputs(const struct linear_args *a, uint32_t r)
{ return a->h + (size_t) row_within(a, r) * ((a->in + 15) / 16 * 16); }

INLINE const uint16_t *half_weights(const struct matrix_part *m, uint32_t o)
{
  return (const uint16_t *) m->weight.data
    + (size_t) (o < m->out ? o : m->out - 1) * m->weight.stride;
}

INLINE void load_fragments(const struct linear_args *a, const struct matrix_part *m,
  const struct block_place *at, uint32_t k, unsigned t, uint32_t *x, uint32_t *w)
{
  unsigned g = t % 32 / 4, q = t % 4;
  uint32_t r = at->y * HALF_ROWS + g;
  k = (k < a->in ? k : 0) + 2 * q;
  const uint16_t *x0 = half_inputs(a, r) + k, *x8 = half_inputs(a, r + 8) + k;
  const uint16_t *w0 = half_weights(m, at->x * HALF_OUTPUTS + g) + k;
  x[0] = load_word(x0), x[1] = load_word(x8);
  x[2] = load_word(x0 + 8), x[3] = load_word(x8 + 8);
  w[0] = load_word(w0), w[1] = load_word(w0 + 8);
}

INLINE void put_fragment(float *to, unsigned stride, unsigned t, const float *sum)
{
  unsigned g = t % 32 / 4, q = t % 4;
  to[g * stride + 2 * q] = sum[0], to[g * stride + 2 * q + 1] = sum[1];
  to[(g + 8) * stride + 2 * q] = sum[2], to[(g + 8) * stride + 2 * q + 1] = sum[3];
}

@ With many rows a block of threads has \given{128} rows by 64 outputs, and each of its eight warps 32 by 32 of them: two fragments of rows meet four of outputs. Inputs and weights are in shared memory, \given{32} numbers of each row at a time; a stride of five times four words leaves the 32 threads of a warp 32 different banks when they read fragments. (When they fill the tiles, with 16 bytes a thread, two rows that are stored together still share four banks.)

@<Sizes of tiles@>=
enum { X_ROWS = 128, W_ROWS = 64, HALF_STRIDE = 5 };

@ A tile of \given{32} inputs is two steps of the unit. While the unit multiplies one tile, the next is being loaded into registers. There is room for two tiles in shared memory, and they are used in turn: so one barrier for a tile is enough. A warp that fills a place again has passed the barrier of the tile in between, and every warp reached that barrier only after it had finished with the place.

@<Many rows of halves by a matrix@>=
INLINE void many_halves(const struct linear_args *a, struct block_place at)
{
  const struct matrix_part *m = part_of(a, &at.x);
  @[SHARED(struct four_words, xs, 2 * X_ROWS * HALF_STRIDE)@];
  @[SHARED(struct four_words, ws, 2 * W_ROWS * HALF_STRIDE)@];
  @[PRIVATE(struct four_words, next, 3)@];
  @[PRIVATE(uint32_t, x, 8)@];
  @[PRIVATE(uint32_t, w, 8)@];
  @[PRIVATE(float, sum, 32)@];
  @[PRIVATE(float, total, 32)@];
  EACH_LANE(t) fetch_halves(a, m, &at, 0, t, MINE(next));
  for (uint32_t k0 = 0; k0 < a->in; k0 += 32) {
    struct four_words *const x0 = xs + k0 / 32 % 2 * X_ROWS * HALF_STRIDE;
    struct four_words *const w0 = ws + k0 / 32 % 2 * W_ROWS * HALF_STRIDE;
    if (k0 % SECTION == 0) @<End a section, and begin the next@>@;
    /*- two places in turn: a warp that fills this one again has passed the barrier of the tile in between */
    EACH_THREAD(t) put_halves(MINE(next), t, x0, w0);
    EACH_LANE(t) fetch_halves(a, m, &at, k0 + 32, t, MINE(next));
    @<Multiply the two steps of a tile@>@;
  }
  @<Add the last section, and store@>@;
}

@ The second step of the last tile may lie beyond the end. Then we leave it out, as in the kernel for few rows.

@<Multiply the two steps of a tile@>=
for (uint32_t k = 0; k < 32; k += 16) {
  EACH_LANE(t) take_fragments(x0->word, w0->word, k / 2, t, MINE(x), MINE(w));
  EACH_LANE(t) {
    if (k0 + k >= a->in) continue;
    UNROLL(8)
    for (unsigned i = 0; i < 8; i++) MULTIPLY_16(x, i / 4 * 4, w, i % 4 * 2, sum, 4 * i);
  }
}

@ The total begins as the first section's sum, to which no zero is added.

@<End a section, and begin the next@>=
EACH_LANE(t) {
  UNROLL(32)
  for (int i = 0; i < 32; i++) {
    if (k0 == SECTION) MINE(total)[i] = MINE(sum)[i];
    else if (k0 > 0) MINE(total)[i] += MINE(sum)[i];
    MINE(sum)[i] = 0;
  }
}

@ Element |i| of a thread's 32 belongs to fragment |i/4|. Its row and output follow from the layout above.

@<Add the last section, and store@>=
EACH_THREAD(t) {
  unsigned g = t % 32 / 4, q = t % 4;
  UNROLL(32)
  for (unsigned i = 0; i < 32; i++) {
    float last = MINE(sum)[i];
    if (a->in > SECTION) last = MINE(total)[i] + last;
    put_output(a, m, at.y * X_ROWS + t / 64 * 32 + i / 16 * 16 + i % 4 / 2 * 8 + g,@|
      at.x * W_ROWS + t / 32 % 2 * 32 + i / 4 % 4 * 8 + 2 * q + i % 2, last);
  }
}

@ A word of shared memory is two neighbouring inputs, as a fragment wants them, and one load brings four words. Each thread makes three such loads: from two rows of inputs, and from one output's weights.

@<Tiles of halves in shared memory@>=
INLINE void fetch_halves(const struct linear_args *a, const struct matrix_part *m,
  const struct block_place *at, uint32_t k0, unsigned t, struct four_words next[3])
{
  uint32_t k = k0 + t % 4 * 8;
  if (k >= (a->in + 15) / 16 * 16) k = 0;
  next[0] = load_four(half_inputs(a, at->y * X_ROWS + t / 4) + k);
  next[1] = load_four(half_inputs(a, at->y * X_ROWS + 64 + t / 4) + k);
  next[2] = load_four(half_weights(m, at->x * W_ROWS + t / 4) + k);
}

INLINE void put_halves(const struct four_words next[3], unsigned t, struct four_words *xs,
  struct four_words *ws)
{
  xs[t / 4 * HALF_STRIDE + t % 4] = next[0];
  xs[(64 + t / 4) * HALF_STRIDE + t % 4] = next[1];
  ws[t / 4 * HALF_STRIDE + t % 4] = next[2];
}

@ The fragments of a step: eight words of inputs and eight of weights.

@<Tiles of halves in shared memory@>=
INLINE void take_fragments(const uint32_t *xs, const uint32_t *ws, uint32_t word,
  unsigned t, uint32_t *x, uint32_t *w)
{
  unsigned g = t % 32 / 4, q = t % 4;
  xs += (t / 64 * 32 + g) * 4 * HALF_STRIDE + word + q;
  ws += (t / 32 % 2 * 32 + g) * 4 * HALF_STRIDE + word + q;
  UNROLL(8)
  for (unsigned i = 0; i < 8; i++) {
    x[i] = xs[(i / 4 * 16 + i % 2 * 8) * 4 * HALF_STRIDE + i % 4 / 2 * 4];
    w[i] = ws[i / 2 * 8 * 4 * HALF_STRIDE + i % 2 * 4];
  }
}

@ For halves there is one kernel of each kind.

@<The kernels for halves@>=
KERNEL void halves_few(GRID const struct linear_args a)
{
  HERE(at);
  few_halves(&a, at); 
}
KERNEL void halves_many(GRID const struct linear_args a)
{
  HERE(at);
  many_halves(&a, at); 
}

@* Attention over a long cache. \label{sec:deviceattention}
Attention is defined by blocks of \given{256} positions (\cref{sec:blocks}): each has its maximum, its sum and its weighted values, and the blocks are joined in rising order. That divides the work for the device as well: a block of threads takes one block of positions, one head of keys and values, and up to sixteen queries that look at it: the heads of a group, and of a prompt several rows. Nothing that it does depends on the other blocks, so all can run at once. \Cref{fig:deviceblocks} shows this for one token. A context of \given{32768} positions has \given{128} of them for each head of keys: with eight heads \given{1024} blocks of threads for a single token, several for each multiprocessor. (\emph{Flash decoding} is the name of this division in the literature.)
@^attention@>@^flash decoding@>

\fig{deviceblocks}{fig:deviceblocks}{Attention of one row over \given{1700} positions with four heads of keys and values: each box is a block of threads, which reads its keys and values once for all queries of the group. A second kernel joins the boxes of each head from left to right.}{Four rows of seven boxes; the rows are heads and the boxes are blocks of \given{256} positions. The last box of each row is filled to two thirds. An arrow leads from each row to a box with the word join.}

@ The kernel must know where the keys and values of a segment are, and which rows it is meant to do. All of it is plain data, with addresses of the device.

@<What attention on a device is given@>=
struct device_segment { uint64_t key, value, row_bytes, head_bytes; const uint64_t *page;
  uint32_t page_rows, type, sinks, first_row, n_rows, first_position, window, zero; };
  /* a |struct segment| with addresses of the device; |page|: those of its pages, or null */
struct query_tile { uint32_t segment, row, rows, head; };
  /* |rows| rows of a segment from |row| on; |head|: the first query head of each group */
struct attend_args { const float *q; float *left; const struct device_segment *segment;
  const struct query_tile *tile; float *weights; float *y; size_t stride;
  uint32_t n_heads, n_kv_heads, head_dim, heads, blocks, first_row; float scale;
  uint32_t even, suits, zero; };
  /* |heads|: query heads a tile; |left|: [rows from |first_row|][n\_heads][blocks][head\_dim + 2], maximum,
     sum and weighted values of each block; |weights|: null, or what |attention_probe| has; |y|: the result; |even|: 0 if
     a number of the cache may be at an address that does not suit it; |suits|: all queries are at multiples of sixteen bytes */

@ The phases are those of \cref{sec:blocks}: places, scores, maxima, exponentials and their lanes, values. A block that no row of the tile sees leaves $-\infty$, and zeros if the weights are wanted.

@<Sizes of tiles@>=
enum { ATTEND_THREADS = 256, QUERIES = 16 };

@ What about occupancy? Two of these blocks should be on a multiprocessor at once, so that one can add up values while the other waits for its keys. A multiprocessor has \given{65536} registers: with \given{256} threads in a block that is \given{128} for each thread, and |AT_ONCE| asks for no more. The compiler manages with \loads{attend_blocks}{registers}, and no variable goes to memory. (Left to itself it takes more, and only one block fits. And before we wrote the loop over the queries out four times, it kept the loop's counter in memory.) So each thread has a load of sixteen bytes of its key under way, and the multiprocessor \given{8192}, about half of what Little's law wants. More loads would need more registers.

@<One block of positions for a tile of queries@>=
KERNEL @/@[AT_ONCE(ATTEND_THREADS, 2)@] void attend_blocks(GRID const struct attend_args a)
{
  HERE(at);
  const struct query_tile *tile = &a.tile[at.z];
  const struct device_segment *s = &a.segment[tile->segment];
  @[SHARED(uint64_t, place, 256)@];
  @[SHARED(uint64_t, from, QUERIES)@];
  @[SHARED(float, score, QUERIES * 256)@];
  @[SHARED(float, most, QUERIES * 16)@];
  @[SHARED(float, lane, QUERIES * 16)@];
  @<Leave a block that no row of the tile reaches@>@;
  EACH_THREAD(t) {
    place[t] = place_seen(s, tile, at.x * 256 + t);
    if (t < QUERIES)
      from[t] = query_place(&a, s, tile, &at, query_is(&a, tile, t) ? t : 0) * a.head_dim;
  }
  UNROLL(4)
  for (unsigned i = 0; i < QUERIES; i += 4)
    if (query_is(&a, tile, i)) EACH_THREAD(t)
      score_four(&a, from + i, s->key + place[t] + at.y * s->head_bytes, s->type,@|
        score + i * 256 + t);
  EACH_THREAD(t) most[t] = most_of_sixteen(&a, s, tile, &at, score, t);
  EACH_THREAD(t) exponentials(&a, s, tile, &at, most + t / 16 * 16, score + t / 16 * 256, t, lane);
  EACH_THREAD(t) leave_sums(&a, s, tile, &at, most, lane, t);
  @<Add the values, in a copy of the code for each type@>@;
}

@ Blocks of positions that come after the last row of the tile, half of them in a prompt, end at once. Whether a block does is the same for all its threads, so none of them waits at a barrier for another that has left.

@<Leave a block that no row of the tile reaches@>=
/*- after the last row of the tile: all threads of the block leave together */
if (a.weights == NULL && at.x * 256 >= s->first_position + tile->row + tile->rows) {
  EACH_THREAD(t)
    if (t < QUERIES && query_is(&a, tile, t)) left_of(&a, s, tile, &at, t)[0] = -INFINITY;
  return;
}

@ The loads of the values are on their way together only where the compiler knows their type and that each is at an address that suits it. So there is a copy for each of the usual cases, and one that asks for every number, for the rest.

@<Add the values, in a copy of the code for each type@>=
#define VALUES(type, even) @,@, add_values(&a, s, tile, &at, type, even, place, score, t)
EACH_THREAD(t) {
  if (s->type == DEVICE_F32 && a.even) VALUES(DEVICE_F32, true);
  else if (s->type == DEVICE_F16 && a.even) VALUES(DEVICE_F16, true);
  else if (s->type == DEVICE_BF16 && a.even) VALUES(DEVICE_BF16, true);
  else if (s->type == DEVICE_Q8_0) VALUES(DEVICE_Q8_0, false);
  else VALUES(s->type, false);
}

@ A tile knows which positions its rows see, and where they are (\.{queries.inc}). A position that no row sees may no longer exist. In its place the tile gives another one: what is fetched there is not used, but no load waits for a decision.

Thread |t| has position |t| of the block. It reads its key sixteen numbers at a time, and each sixteen serve four queries, whose places in |a->q| are in |from|. A score is the sum of sixteen lanes, which this thread has all to itself: \given{64} registers for four queries.

@<The scores of four queries@>=
INLINE void score_four(const struct attend_args *a, const uint64_t *from, uint64_t key,
  uint32_t type, float *score)
{
  float lane[4][16];
  for (int i = 0; i < 64; i++) lane[i / 16][i % 16] = 0;
  UNROLL(1)
  for (uint32_t k = 0; k < a->head_dim; k += 16) {
    bool sixteen = a->suits && k + 16 <= a->head_dim;
    if (sixteen) @<Multiply sixteen numbers of a key@>@;
    else @<Multiply what is left of a key, number by number@>@;
  }
  UNROLL(4)
  for (int i = 0; i < 4; i++) score[i * 256] = fold_sixteen(lane[i]) * a->scale;
}

@ Eight numbers of the key meet eight of each query. (All sixteen at once would need sixteen registers more.)

@<Multiply sixteen numbers of a key@>=
{
  UNROLL(2)
  for (uint32_t half = 0; half < 16; half += 8) {
    float x[8], y[8];
    cached_eight(key, type, k + half, x);
    UNROLL(4)
    for (int i = 0; i < 4; i++) {
      eight_floats(a->q + from[i] + k + half, y);
      UNROLL(8)
      for (uint32_t j = 0; j < 8; j++)
        lane[i][half + j] = fmaf(y[j], x[j], lane[i][half + j]);
    }
  }
}

@ If a head's length is no multiple of sixteen, some numbers are left over. Small models have such heads, and for those we do not care about speed.

@<Multiply what is left of a key, number by number@>=
{
  UNROLL(16)
  for (uint32_t j = 0; j < 16; j++) {
    if (k + j >= a->head_dim) continue;
    float x = cached_number(key, type, false, k + j);
    UNROLL(4)
    for (int i = 0; i < 4; i++)
      lane[i][j] = fmaf(a->q[from[i] + k + j], x, lane[i][j]);
  }
}

@ Then sixteen threads share a query. Lane |j| has the positions $j$, $j+16$, \dots, as \cref{sec:blocks} wants for the sum of the exponentials. For the maximum any order would do. A tile may have fewer queries than sixteen, and each of them sees its own range: the kernel has multiplied positions that a query does not see, and leaves them out from here on.

@<The maximum and the exponentials@>=
INLINE float most_of_sixteen(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *score, unsigned t)
{
  float most = -FLT_MAX;
  unsigned i = t / 16;
  for (unsigned k = t % 16; k < 256; k += 16) {
    bool seen = query_is(a, tile, i) && is_seen(s, query_row(a, tile, i), at->x * 256 + k);
    if (seen && score[i * 256 + k] > most) most = score[i * 256 + k];
  }
  return most;
}

INLINE float most_of(const float *most)
{
  float all = -INFINITY;
  for (int i = 0; i < 16; i++) all = most[i] > all ? most[i] : all;
  return all;
}

@ In the sum of the exponentials a position that is not seen adds 0, which changes no sum of positive numbers. Its mark is $-1$ in place of the exponential, and $-0$ among the weights; no exponential is either.

@<The maximum and the exponentials@>=
#define NOT_SEEN -1.0f
INLINE void exponentials(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *most, float *score, unsigned t, float *lane)
{
  unsigned i = t / 16;
  float m = most_of(most), sum = 0;
  for (unsigned k = t % 16; k < 256; k += 16) {
    uint32_t p = at->x * 256 + k;
    bool seen = query_is(a, tile, i) && is_seen(s, query_row(a, tile, i), p);
    float e = seen ? num_expf(score[k] - m) : 0;
    /*- no exponential is negative, so -1 can mean that the query does not see the position */
    score[k] = seen ? e : NOT_SEEN;
    sum += e;
    if (a->weights != NULL && query_is(a, tile, i) && p < a->stride)
      a->weights[query_place(a, s, tile, at, i) * a->stride + p] = seen ? e : -0.0f;
  }
  lane[t] = sum;
}

@ The first sixteen threads leave the maxima and the sums, each for one query. A maximum is at least |-FLT_MAX| (\cref{sec:blocks}); so $-\infty$ can mark a block in which the query sees nothing.

@<What a block leaves@>=
INLINE float *left_of(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, unsigned i)
{
  size_t place = query_place(a, s, tile, at, i) - (size_t) a->first_row * a->n_heads;
  return a->left + place * a->blocks * (a->head_dim + 2) + at->x * (a->head_dim + 2);
}

INLINE void leave_sums(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, const float *most, float *lane,
  unsigned t)
{
  if (t >= QUERIES || !query_is(a, tile, t)) return;
  float *left = left_of(a, s, tile, at, t);
  /*- a maximum is at least -FLT_MAX, so -infinity can mark a block in which nothing is seen */
  left[0] = sees_block(s, query_row(a, tile, t), at->x * 256) ? most_of(most + t * 16) : -INFINITY;
  left[1] = fold_sixteen(lane + t * 16);
}

@ For each query and each of the |head_dim| numbers of its result, one thread adds exponential times value over the \given{256} positions, in rising order. It takes sixteen positions at a time, so that \loads{attend_blocks}{loads} loads are on their way before the first is used, and each value serves four queries.

@<The values of a block@>=
INLINE void add_sixteen(const struct device_segment *s, uint32_t type, bool even, uint64_t base,
  const uint64_t *place, const float *score, uint32_t k, float out[4])
{
  float v[16];
  UNROLL(16)
  for (int i = 0; i < 16; i++)
    v[i] = cached_number(s->value + base + place[i], type, even, k);
  UNROLL(16)
  for (int i = 0; i < 16; i++) {
    UNROLL(4)
    for (int q = 0; q < 4; q++) {
      float e = score[q * 256 + i];
      if (e >= 0) out[q] = fmaf(e, v[i], out[q]);
    }
  }
}

@ Neighbouring threads have neighbouring numbers of the result, so that a warp reads a row of values in one piece. What they add is left in the place that the second kernel reads; the maximum and the sum come before it there.

@<The values of a block@>=
INLINE void add_values(const struct attend_args *a, const struct device_segment *s,
  const struct query_tile *tile, const struct block_place *at, uint32_t type, bool even,
  const uint64_t *place, const float *score, unsigned t)
{
  for (uint32_t item = t; item < a->head_dim * QUERIES / 4; item += ATTEND_THREADS) {
    unsigned first = item / a->head_dim * 4, k = item % a->head_dim;
    float out[4] = { 0, 0, 0, 0 };
    if (!query_is(a, tile, first)) return;
    UNROLL(1)
    for (uint32_t p = 0; p < 256; p += 16)
      add_sixteen(s, type, even, at->y * s->head_bytes, place + p,@|
        score + first * 256 + p, k, out);
    for (unsigned i = 0; i < 4; i++)
      if (query_is(a, tile, first + i))
        left_of(a, s, tile, at, first + i)[2 + k] = out[i];
  }
}

@ A second kernel joins the blocks of each row and head. With $m_b$, $l_b$ and $o_b$ the maximum, the sum and the weighted values of block $b$, and $m$ the greatest $m_b$, the result is $\sum_b e^{m_b-m}o_b\big/\sum_b e^{m_b-m}l_b$. The kernel writes the factor $e^{m_b-m}$ in the place of $m_b$. A block in which the row sees no position is left out, as in the plain kernel.

@<Join the blocks of a row@>=
KERNEL void join_blocks(GRID const struct attend_args a)
{
  HERE(at);
  @[SHARED(float, most, 128)@];
  size_t d = a.head_dim, each = d + 2, place = (size_t) at.x * a.n_heads + at.y;
  float *left = a.left + place * a.blocks * each;
  place += (size_t) a.first_row * a.n_heads;
  EACH_THREAD(t) {
    float m = -INFINITY;
    for (size_t b = t; b < a.blocks; b += at.threads)
      m = left[b * each] > m ? left[b * each] : m;
    most[t] = m;
  }
  EACH_THREAD(t) {
    float m = -INFINITY;
    for (unsigned i = 0; i < at.threads; i++) m = most[i] > m ? most[i] : m;
    /*- the factor of a block takes the place of its maximum */
    for (size_t b = t; b < a.blocks; b += at.threads)
      left[b * each] = left[b * each] != -INFINITY ? num_expf(left[b * each] - m) : NOT_SEEN;
  }
  EACH_THREAD(t) @<Add the blocks for the numbers of a thread@>@;
}

@ Every thread computes the denominator for itself, which saves a barrier, and then its own numbers of the result. If the caller wants the weights, they are divided here as well.

@<Add the blocks for the numbers of a thread@>=
{
  float l = 0;
  UNROLL(8)
  for (uint32_t b = 0; b < a.blocks; b++)
    l = left[b * each] < 0 ? l : fmaf(left[b * each + 1], left[b * each], l);
  for (size_t i = t; i < d; i += at.threads) {
    float y = 0;
    UNROLL(8)
    for (uint32_t b = 0; b < a.blocks; b++) {
      float v = left[b * each + 2 + i];
      y = left[b * each] < 0 ? y : fmaf(v, left[b * each], y);
    }
    a.y[place * d + i] = y / l;
  }
  for (size_t p = t; a.weights != NULL && p < a.stride; p += at.threads) {
    float *w = &a.weights[place * a.stride + p];
    *w = num_bits32(*w) == 0x80000000u ? 0 : *w * left[p / 256 * each] / l;
  }
}

@* Launches and CUDA graphs. \label{sec:launches}
A layer is over a dozen kernels, and for one row most of them have next to nothing to do. If the host launches them one by one, that could take longer than running them. So a call only writes its launch down. A pass becomes a list of launches (\.{works.inc} has the names of the kernels), and the list is run when the host needs numbers: the marks, which say in which layer a row has stopped being finite, or the logits. So the host waits twice for each token. Could we fetch the marks with the logits and wait once? Then |model_forward| would have stored the rows of a pass, and said that all went well, before it knew. We preferred the truth to the microseconds. The pass of the program above, a single layer and the logits of five rows, is \val{cuda.launches} launches in \val{cuda.lists} lists; many of them copy weights to the device, since this small program has not prepared its model.
@^launch@>

@<A launch@>=
#include "cuda/works.inc"
enum kernel_work { @[WORKS(WORK_NAME)@] N_WORKS };
  /* the kernels, by their names */
union work_args { struct linear_args linear; struct add_args add; struct attend_args attend;
  struct norm_args norm; struct angles_args angles; struct activate_args activate;
  struct move_args move; struct split_args split; struct copy_args copy;
  struct mark_args mark; struct bytes_args bytes; struct halves_args halves; struct write_args write;
  struct choose_args choose; struct probe_args probe; struct round_args round; };
  /* what each is given */
enum { MOST_LAUNCHES = 4096, KEPT = 4 };
  /* in a list; lists whose shape is remembered */
struct launch { enum kernel_work work; uint32_t x, y, z, threads; union work_args a; };
  /* a kernel, how many blocks in each direction, threads a block, and its arguments */

@ Small numbers that the host sends, ids, positions and addresses of pages, are collected as well, in memory that the device can copy quickly. The device has a mirror of it, and kernels get addresses in the mirror. One copy then brings all of them before the first launch (\cref{sec:devicesend}).

What must a machine be able to do to be our device? Allocate memory, copy to it and from it, and run a list. We call the functions that do this a \emph{driver}. There are two, CUDA's and the host's, and the queue and the table above them work with either. A driver must keep three promises. What it was asked for first, it does first (CUDA calls such a queue a \emph{stream}, and we have one). |run| may return before anything has run, but |get| waits for all that was asked for before it. And memory comes zeroed, so that no result can depend on what was there.

@<What drives a device@>=
struct device_driver {
  const char *name;
  void *(*open)(unsigned number, struct device_facts *facts, char why[200]);
    /* the state of device |number|; null and a sentence */
  void (*close)(void *state);
  void *(*alloc)(void *state, size_t bytes); /* zeroed, aligned to 256; null: refused */
  void (*release)(void *state, void *p);
  void *(*alloc_shared)(void *state, size_t bytes); /* of the host, page-locked: quickly copied */
  void (*release_shared)(void *state, void *p);
  bool (*put)(void *state, void *to, const void *from, size_t bytes);
    /* to the device, and waits for it */
  bool (*get)(void *state, void *to, const void *from, size_t bytes);
    /* to the host, and waits for it */
  bool (*run)(void *state, const struct launch *list, size_t n, unsigned place, bool known,
    void *to, const void *from, size_t bytes);
    /* copies from the host's page-locked memory, and then launches the list; does not wait. |known|: the last list in |place|, below |KEPT|, had the same kernels with as many blocks */
  void (*fault)(void *state, char why[200]); /* what the last false was about */
};
  /* one kind of device */
extern const struct device_driver driver_host;
  /* the host as a device: number |n| has its threads in order |n| */
#ifdef INCIPIT_CUDA
extern const struct device_driver driver_cuda;
  /* the devices of CUDA */
#endif

@ Before a program puts a model on a device, it wants to know whether there is room.

@<What a device says of itself@>=
struct device_facts { char name[100]; uint64_t bytes, free; uint32_t multiprocessors,
  major, minor; };
  /* a device as it describes itself: memory, free memory, and its version of the hardware */

@ When a program writes text, pass after pass sends the same two lists: one that ends with the marks, and a short one that ends with the logits. The kernels are the same and in the same memory; only what the mirror contains has changed. CUDA can take such a list whole, as a \emph{graph}, and start it with a single call; the next kernel begins when the last block of the one before it has ended, without the host. The queue remembers the shapes of the last \given{4} different lists (\cref{sec:devicelist}). The first time, a list is launched kernel by kernel. If another has the same kernels with as many blocks, the driver makes a graph of it, and from then on puts only those arguments into it that have changed. Every \given{256} tokens attention has one block more: then the first list is launched singly once more, and another graph is made.
@^CUDA graph@>

The driver of CUDA is \.{unwoven/cuda/driver\_cuda.inc}, about \given{200} lines that call CUDA's library. That of the host is \.{driver\_host.inc} beside it. Its |run| is a loop over the list, over the blocks of each launch, forwards if the caller asked for order 0 and backwards if not, and, within the kernel, over the threads of a block.

@* Sampling on the device: Gumbel-max. \label{sec:devicechoice}
The sampler of \cref{sampling} adds noise to each score and takes the greatest sum, the \emph{Gumbel-max} trick (\cref{sec:gumbel}). The random bits come from the counter-based generator Philox. The noise of a token depends on seed, sequence, position and id, and on nothing else: any thread can make it, in any order. So if nothing but a temperature has been set, we can choose where the logits are, and sixteen bytes come back instead of \given{513\,024}, the logits of a vocabulary of \given{128256}. The functions are the ones of \cref{functions}, compiled for the device from the same text; if its operations round as the processor's do (\cref{sec:devicefunctions}), the noise has the same bits.

Is it worth it? The command does not ask for it: \.{generate} brings the logits to the host, where a sampler can do everything that it may be asked for. The copy is limited by the bus between the two memories, and the logits come into page-locked memory, which the bus can fill by itself. At \given{25} GB/s these logits take \given{21} microseconds; a pass over the \given{2.2} GB of a model with \given{1.1 billion} weights in bfloat16 takes at least \given{657}, at the \given{3.35} TB/s of the data sheet. The copy is therefore about three percent of the shortest possible pass.
But the device also waits while the host chooses, and on the processor of \cref{sec:samplingcost} a choice among as many tokens takes \val[1]{sampling.clock.plain} milliseconds if nothing is cut: longer than that pass. How long a pass really takes, and how much \.{device\_choose} saves, we have not measured. A program that needs nothing but a temperature can call it (\.{choose.inc} has the kernels).
@^Gumbel-max@>@^Philox@>

@<What the choice of a token is given@>=
struct best_token { double score; uint32_t id, zero; };
  /* the greatest sum of some tokens, and whose it is */
struct choose_args { const float *logits; struct best_token *part; uint64_t seed; double temperature;
  uint32_t n, parts, sequence, position; };
  /* |temperature| 0: the likeliest; |part|: the best of each block; the first becomes the best of all */

@* The file for two compilers. \label{sec:devicefunctions}
One text has all kernels. If nvcc compiles it, the driver of CUDA follows; if a C compiler does, the host's. (nvcc must be that of CUDA 12 or later.)

There is one trap. Of its own accord nvcc turns a product and a sum that stand apart in the text into one multiply--add, which rounds once and not twice, and the bits are others. The option \.{-fmad=false} forbids it. But options get lost. So when a device is opened, a small kernel computes a multiply--add that is written as one, and a product and a sum that are written apart; a device that rounds otherwise than the processor is refused with a sentence that shows its two results. 

What can a device not do? It works alone: we do not divide a model among several (\emph{tensor parallelism}). It reads matrices in float, float16, bfloat16 and Q8\_0. A model whose matrices have another type, such as Q4\_0 or Q4\_K, is refused before the first pass, with the names of the types that the device reads. And a switch of a model that the device's kernels did not know would silently be left out, and the text would look right. So the table of settings (\cref{sec:settingrows}) says of each setting whether a device computes it, and a model that needs another is refused by the name of the setting.
@^tensor parallelism@>

@(kernels.cu@>=
@;
/** All kernels of a device, for nvcc and for a C compiler. It is one text for both, because
  the host must run what the device runs. Every kernel adds in the order of the plain kernels, so it gives
  their bits; but for those that use a tensor core. The compiler must not contract a product and a sum:
  \.{-fmad=false}. The order of the included files is that of use. */
#ifdef __CUDACC__
#define INCIPIT_CUDA
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "functions/numbers.c"
#include <stdio.h>
#else
#include "functions/numbers.h"
#endif
#include "cuda/machine.inc"
#include "cuda/reading.inc"
@<The kernels of linear layers@>@;
#include "cuda/small.inc"
#include "cuda/queries.inc"
@<The kernels of attention@>@;
#include "cuda/choose.inc"
#ifdef __CUDACC__
#include "cuda/driver_cuda.inc"
#else
#include "cuda/driver_host.inc"
#endif

@ In each group a function comes after those that it calls.

@<The kernels of linear layers@>=
@<Sizes of tiles@>@;
@<The kernel that adds@>@;
@<Which matrix, which row, and where a sum goes@>@;
@<The lanes of a thread@>@;
@<Few rows by a matrix@>@;
@<Two plainer kernels for one row@>@;
@<The kernels for few rows@>@;
@<Tiles in shared memory@>@;
@<Many rows by a matrix@>@;
@<The kernels for many rows@>@;
@<One block of products@>@;
@<Few rows of bytes by a matrix@>@;
#include "cuda/bytes.inc"
@<The kernels for bytes@>@;
@<Multiply on a tensor core@>@;
@<The fragments of a thread@>@;
@<Few rows of halves by a matrix@>@;
@<Tiles of halves in shared memory@>@;
@<Many rows of halves by a matrix@>@;
@<The kernels for halves@>@;

@ Attention goes from a position to a block of them, and then to the join.

@<The kernels of attention@>=
@<The scores of four queries@>@;
@<The maximum and the exponentials@>@;
@<What a block leaves@>@;
@<The values of a block@>@;
@<One block of positions for a tile of queries@>@;
@<Join the blocks of a row@>@;

@ The host's driver is the same file, compiled as C.

@(host.c@>=
@;
/** The host as a device: the kernels, compiled as C. |_GNU_SOURCE| is for |sysconf|. */
#define _GNU_SOURCE
#include "cuda/kernels.cu"

@* The check. \label{sec:devicecheck}
The program needs no graphics processor, and prints the same on every machine.

\checkpoint{build/out/cuda.txt}{what the program of this chapter prints}

The suite \.{check\_device} does more of the same. It compares passes of ten small models, in all formats of the cache, with forks and crops, with the host's fastest kernels; matrices of random shapes, for few rows and for many, with the plain ones. It wants a row to have its bits in any company on the tensor core's stand-in; it compares the choice of a token; and it refuses every request for memory once. The suite of \cref{kernels}'s kernels, \.{check\_kernels}, has the device among its tables. Where there is a device, \.{INCIPIT\_TEST\_DEVICE=cuda} runs the first on it.

@ The host's loops cannot show faults of concurrency. So \.{check\_warps} runs the same suite once more with other words for the kernels (\.{tests/suites/fibers.h}). There each thread of a block has a stack of its own, and runs until it must wait for its warp or its block. The first thread that can go on does, or the last, or any: so one warp runs as far ahead of the others as the barriers let it. A thread that waits for others which never come is an error. A barrier of the warp in the place of one of the block, which both loops above pass, is found in this way.

And because a fault that needs the right moment may not have come, the kernels are compiled once more with ThreadSanitizer, which is told of every barrier (\.{tests/checks/races.sh}). It looks for two threads that use the same number, one of them to write it, without a barrier between them, whatever the order in which they came. In a shortened run of the suite it finds none. To be sure that it can, the script weakens one barrier and wants the fault to be found.

None of this shows what the hardware does: how a tensor core rounds, whether a device's operations round as they should, and how long anything takes.

@* What has not been measured. \label{sec:devicemeasured}
We wrote this edition on machines without a graphics processor. The kernels are compiled for the compute capabilities \given{8.0} (A100) and \given{9.0} (H100), and as PTX, from which the driver makes code for later ones; older devices are not supported. A warning is an error, and so is anything that a thread keeps in memory because it does not fit into its registers: a register that is spilled, or an array whose index the compiler does not know. nvcc warns only of the first. In an earlier |attend_blocks| it was the second, and we had not noticed: each number of a key went through memory before the next was loaded. Now \.{bench/loads.py} looks for both.

\Cref{tab:devicegoals} has goals, which are guesses that we made before any run. \.{make bench-cuda} measures its lines and those of \cref{tab:devicesteps} on your device, beside a kernel that only copies. The first goal is high. For a model of about as many weights on an H100, \cited[Spector and others (2025)]{Spector 2025} found two much used engines at no more than \given{50}\,\% of the bandwidth, reached \given{78}\,\% with a pass that is a single kernel, and give \given{1.3} microseconds as the price of a launch even within a graph. A layer of ours is over a dozen launches. If each costs a microsecond, the first two goals cannot be reached without making them fewer.

What would you try first, then? Three things, we think. Fuse: a norm, a rotation or an activation can be done by the matrix kernel that needs its result, which would leave four or five launches a layer; and let a kernel begin to fetch its weights before the one in front of it has ended, which CUDA calls \emph{programmatic dependent launch} (PDL). Fetch weights into shared memory, some stages ahead, with \.{cp.async} or the TMA unit: then bytes under way no longer cost registers, and nothing drains between two rounds. And avoid a tail: \given{2048} outputs are \given{128} blocks of |few_rows|, and four of \given{132} multiprocessors get none. None of the three changes the order of a sum, so the bits would stay.
@^programmatic dependent launch (PDL)@>

\begin{table}[tbp]
\tabcaption{tab:devicegoals}{What a device should reach, as a share of the rate at which it copies its own memory or, in the line of the prompt, of its maker's own matrix product.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rr@@{}}
\tabhead{work} & \tabhead{goal} & \tabhead{seen}\\\midrule
one token, $\given{1.1}\cdot10^9$ weights in bfloat16 & \given{85}\,\% & \measured{cuda.decode.large}\\
one token, $\given{110}\cdot10^6$ weights in bfloat16 & \given{60}\,\% & \measured{cuda.decode.small}\\
one token after \given{32768} others & \given{70}\,\% & \measured{cuda.decode.deep}\\
a prompt of \given{2048} tokens, bfloat16 inputs & \given{60}\,\% & \measured{cuda.prefill}\\
the same text as on the processor & yes & \measured{cuda.text}\\
the same bits alone and in a batch of \given{64} & yes & \measured{cuda.batch}\\
the same bits in \given{1000} runs & yes & \measured{cuda.runs}
\end{tabular*}
\end{table}

@* Exercises. \label{sec:cudaexercises}
The command beside an exercise judges your answer. You need no graphics processor for any of them.

\begin{exercises}
\exercise{check}{ex:cuda.little}{A memory delivers \given{3000} GB a second, and a load takes \given{600} nanoseconds. How many bytes must be under way? A device has \given{132} multiprocessors: how many 16-byte loads is that for each, rounded up?}{\texttt{make exercise-14-1}}{$\given{3000}\cdot600=\given{1\,800\,000}$ bytes, and $\given{1\,800\,000}/\given{132}/16=\given{852.3}$, so \given{853}.}
\exercise{check}{ex:cuda.lanes}{Thread 13 of a warp takes part in |few_rows| with a single row of \given{64} inputs. Which output of the warp does it work for, counted from 0, and which inputs does it multiply? Give the output and the sum of the numbers of those inputs.}{\texttt{make exercise-14-2}}{Output $13/8=1$, and its lanes are $2\cdot5=10$ and 11: inputs 10, 11, 26, 27, 42, 43, 58, 59, whose sum is \given{276}.}
\exercise{think}{ex:cuda.banks}{Shared memory has 32 banks, and word $i$ is in bank $i\bmod32$. Sixteen threads read row 0 of a tile from column 0 on, sixteen others row 8. How many words does the busiest bank have to send if the rows are 32 words apart, and how many if they are 34 apart?}{\texttt{make exercise-14-3}}{$8\cdot32\bmod32=0$: both rows begin in bank 0, and 16 banks send two words each. $8\cdot34\bmod32=16$: all banks send one.}
\exercise{think}{ex:cuda.blocks}{A model has \given{32} heads of queries and \given{8} of keys and values, and one token is written after \given{10000} others. How many blocks of threads does |attend_blocks| have, and how many queries does each serve?}{\texttt{make exercise-14-4}}{It sees $\given{10001}$ positions, which are 40 blocks of \given{256}; times 8 heads: \given{320}. Each serves the 4 queries of its group.}
\exercise{think}{ex:cuda.gap}{A step of decoding is \given{250} kernels, which read \given{2.2} GB at \given{2800} GB/s. After each the device stands still for \given{3} microseconds. Which share of the bandwidth is left? Give whole percent.}{\texttt{make exercise-14-5}}{$\given{2200}/\given{2800}=\given{0.786}$ ms of reading and $\given{0.750}$ ms of standing still: 51 percent.}
\exercise{think}{ex:cuda.sections}{In |few_halves| and |many_halves| a row of \given{1300} inputs is cut into sections. How many steps of the tensor core has each? Give the numbers in order.}{\texttt{make exercise-14-6}}{Two sections of \given{512} have 32 steps each; the last has $\given{1300}-\given{1024}=\given{276}$ inputs and 18 steps.}
\exercise{think}{ex:cuda.barrier}{Suppose you join the two phases of |many_rows| into one, so that each thread fills its part of the tiles and then multiplies at once. In how many of the host's three orders do \given{40} rows still have their bits? The command makes the change and tries it.}{\texttt{make exercise-14-7}}{In none: a thread multiplies numbers that others have not written yet, whatever the order, since only the last thread finds the tiles full.}
\exercise{think}{ex:cuda.kernel}{Write a kernel in phases that adds the \given{256} numbers of a block of threads as sixteen lanes with the fold, and leaves the sum in |y[0]|: the skeleton has its head. It must give the same bits with the threads in any order.}{\texttt{make exercise-14-8}}{Sixteen threads add every sixteenth number in one phase, into shared memory; in the next, one thread folds.}
\end{exercises}
