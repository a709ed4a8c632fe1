@i types.w

\chapterquestion{What must be true of the machine before one number in this book can be believed?}
@** Foundations: errors, counted memory, mapped files, threads.
\incipit{E}{very chapter after} this one adds floating-point numbers, asks for
memory, reads files that strangers wrote, and divides its work among threads. You have done all four before, so where is the trouble? It is that each of
them can go wrong without a word. Add the same numbers in another order, and you may get another sum. A request for memory can fail in the
middle of a text. A file can end before its own header says it does. Two threads can write to the same place.

In this chapter you see what the book promises about the four, and the functions by which the other chapters keep the promises: how to use
them, and why they are so. Their C is in the workshop, in \cref{ground/body}; you do not need it to read on.
None of this is about language models. If you are in a hurry, do the two hand calculations, and come back when a later chapter
says |memory_alloc| or |pool_run|.

@* One answer, bit for bit. \label{sec:arithmetic}
Give our engine one model and one text, and it computes one list of scores: the same 32 bits in every score, with one thread or with eight, with a cache or without, on
an old processor or a new one. That is the promise of \emph{one answer}. Why are we not content with nearly equal scores? For two reasons. When two tokens are nearly
tied, the last bit of a score decides between them, and after a different token the whole rest of the text is different. And a test with a tolerance finds no mistake that is smaller than the tolerance; ours compare with |==|.

You do not get equal bits for nothing, because floating-point addition is not associative. See what three workers make of six numbers:
@^floating point@>

\begin{byhand}{one sum, three workers}
A |float| keeps 24 binary digits. Between 67 million and 134 million they suffice for every eighth integer, and a sum is rounded to the
nearest of these. We add $M=100{,}000{,}000$ and five threes. The first addition gives 100,000,003, which is rounded to
$M$ again, and each of the others ends in the same way. Now let each worker add an equal part of the list, and then add their results from left to right.

\medskip
\begin{tabular}{@@{}clll@@{}}
\tabhead{workers} & \tabhead{parts} & \tabhead{their sums} & \tabhead{sum}\\
1 & $M$, 3, 3, 3, 3, 3 & $M$ & 100,000,000\\
2 & $M$, 3, 3 \enspace and\enspace\ 3, 3, 3 & $M$, 9 & 100,000,008\\
3 & $M$, 3 \enspace and\enspace\ 3, 3 \enspace and\enspace\ 3, 3 & $M$, 6, 6 & 100,000,016
\end{tabular}
\medskip

The exact sum is 100,000,015. We cannot avoid rounding, but the number of workers must not decide how we round. The cure: cut the list
into pairs, however many workers there are, and let them share the pairs as they like. The sums of the pairs are $M$, 6 and 6, and the sum is 100,000,016, always.
\end{byhand}

@ This is the rule of the whole engine: \emph{which numbers are added, and in which order, depends on the problem and never on the workers.} \Cref{sec:order} fixes the order for
every sum in a model. Most steps compute many sums, one per row of a matrix. We divide the rows among the workers and never a row, so each sum is computed by one worker from start to finish.
Only one sum grows with the text, in attention; it is cut into blocks of \given{256} positions, whatever the number of threads (\cref{sec:blocks}). Does the rule cost speed? It need not: the fixed order keeps many sums side by side, as the vector instructions of a processor do.

Three things besides our own code can change a sum. First, a compiler may reorder it if it is given \.{-ffast-math}, or keep intermediate results in
wider registers. |ground.h|, which every
file of this book includes, refuses to be compiled in either case. Second, a compiler may contract a product and a sum
into one operation with one rounding where we wrote two. The preprocessor cannot see that. So every build forbids it on the command line, as you can see under each checkpoint, and the \emph{kernels}, the small functions in which all the multiplying is done, test themselves for it before they are used (\cref{sec:kerneltable}).
Third, each thread has modes of rounding, which other code may have changed; we come to them in \cref{sec:pool}.
@^fast math@>

The rest of the header is a table of contents of this chapter. It includes longer headers, which the
workshop prints whole; here we show those lines of them that you will meet again.

@(ground.h@>=
#ifndef INCIPIT_GROUND_H
#define INCIPIT_GROUND_H
#ifdef __FAST_MATH__
_Static_assert(0, "-ffast-math would reorder the sums");
#endif
#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0
_Static_assert(0, "floats in wider registers (x87?)");
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
@<An error is one message@>@;
#include "ground/memory.h"
@<A file that is mapped@>@;
#include "ground/paths.h"
#include "ground/pool.h"
#include "ground/progress.h"
#endif

@* Printed numbers. \label{sec:keys}
How does a number get into this book? Every chapter has a program. Run it without an argument, and it prints what is in the box \emph{Checkpoint} of its chapter. Run it with the argument
\.{values}, and it prints lines of a key, a number and perhaps a unit:
$$\hbox{\texttt{ground.peak.6 180 bytes}}$$
Where you read that number in the text, our source has the key, here \texttt{\char92val\char123ground.peak.6\char125}. The build
compiles the program, runs it and sets the number: \val{ground.peak.6}. So if we change the program, the sentence changes with it, and a key that no program prints stops the build. Figures are drawn in the same way. What takes more
measuring than fits into a short program comes from a program of the laboratory. Times differ from
run to run; they come from a file that was measured once and names the machine. A number that we chose, such as the threes above, is simply typed.
@^keys, of printed numbers@>@^numbers, printed@>

Here is the program of this chapter. Each of its parts comes where it explains something.

@c
#include <stdio.h>
#include "ground/ground.h"
@<Print a message of every kind@>@;
@<Make the requests of the hand calculation@>@;
@<Add the numbers with several workers@>@;
@#
int main(void)
{
  print_messages();@+ print_account();@+ return print_sums();
}

@* Error messages. \label{sec:errors}
When you read an error message, you have made a mistake, or somebody has given you a file with a mistake in it.
What do you need to know? Which file, which field of it, what was found there, and what would
have been right. A number to look up tells you none of these. So an error in this book is a
message of one line, and it is written by the function that fails, since no other function
knows the four things at the same time.
@^error@>

@<An error is one message@>=
struct error {@+ char text[400];@+ };
  /* why the last call failed: one message in UTF-8, no line break;
     owned by the caller, written only on failure */
bool error_say(struct error *why, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
  /* writes the message, cut to fit; |why| may be null; always |false|,
     so that a function can end with |return error_say(...)| */
bool error_found(struct error *why, const char *file, const char *field,
  const char *found, const char *wanted);
  /* \.{file: field is found; wanted: wanted}, |found| quoted by the caller */

@ A function that can fail takes a |struct error *| as its last argument and returns |false| or NULL when it has failed. Its caller passes the pointer on and fails in its turn, until
|main| prints the message, once: a library does not know where its user's messages should go. Since |error_say| is always |false|, a failure is one line, such as |return error_say(why, "no room")|.

Most messages have the four parts, and |error_found| always puts them in the same order. If you have read one, you can read the next, and a test can look for the four parts in each. Our program provokes two failures, and writes a third message itself:

@<Print a message of every kind@>=
static void print_messages(void)
{
  struct memory m = @[{ .fail_at = 1 }@];@+ struct error why;@+ struct mapping map;
  memory_alloc(&m, MEMORY_CACHE, 3, 1024, &why);
  printf("%s\n", why.text);
  if (!file_map(&map, "no-such-model", &why)) printf("%s\n", why.text);
  error_found(&why, "config.json", "n_layers", "-2", "1 or more");
  printf("%s\n", why.text);
}

@ These are the messages.

\checkpoint[2,4]{build/out/ground.txt}{the messages}

Why does the first name the purpose of the memory? Because ``out of memory'' does not tell you what to make smaller: a cache shrinks with the context, weights do not. It
also says how much is held already, so you can see whether the last request was the large one.

@* Counted memory. \label{sec:memory}
In chapter 6 we claim to know, to the byte, what a model's memory costs. Such a claim
needs a witness who was there when each byte was handed out, and |malloc| keeps no account. So all memory of the
engine comes from an allocator of our own, which keeps one for each purpose, and chapter 6 compares its formulas with the accounts. You can keep such an account with a pencil.\sidefig{ground}{fig:ground}{Bytes after each of the six events. \emph{Requested} and \emph{allocated} only rise, and
part where a request is refused; \emph{live} falls when a block is freed; the
\emph{peak}, the broad line, remembers the highest that \emph{live} has been.}{A step plot of bytes over six events.
The lines requested and allocated rise together to \val{ground.requested.4}, and part at event five,
where requested goes on to \val{ground.requested.5} and allocated stays; they end at
\val{ground.requested.6} and \val{ground.allocated.6}. Live reaches \val{ground.live.3} at event
three, falls to \val{ground.live.4} and ends at \val{ground.live.6}. The peak stays at
\val{ground.peak.6}.}
@^memory@>@^account@>

\begin{byhand}{five requests, one refused}
Keep four numbers: the bytes \emph{requested}, the bytes \emph{allocated}, those that are \emph{live} (allocated and not freed), and the \emph{peak} of the live.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
\tabhead{event} & \tabhead{requested} & \tabhead{allocated} & \tabhead{live} & \tabhead{peak}\\
allocate 60 & 60 & 60 & 60 & 60\\
allocate 40 & 100 & 100 & 100 & 100\\
allocate 80 & 180 & 180 & 180 & 180\\
free 40 & 180 & 180 & 140 & 180\\
allocate 50, refused & 230 & 180 & 140 & 180\\
allocate 30 & 260 & 210 & 170 & 180
\end{tabular}
\medskip

The peak is the largest number in the column \emph{live}: the memory that your machine must have for the program to run. The program prints the last line; \cref{fig:ground}\lab{lab:accountsofground} draws the columns.
\end{byhand}

@ In C you declare a |struct memory|, allocate from it, look into it, and free what you got. And |fail_at|? It says which request is refused although it has done nothing wrong. You never want that, except in a test:
a test refuses the first request, then the second, and so on, until a run goes through, and checks each time that nothing leaks or crashes.

@<Make the requests of the hand calculation@>=
static void print_account(void)
{
  struct memory m = @[{ .fail_at = 4 }@];
  char *a = memory_alloc(&m, MEMORY_OTHER, 60, sizeof *a, NULL);
  char *b = memory_alloc(&m, MEMORY_OTHER, 40, sizeof *b, NULL);
  char *c = memory_alloc(&m, MEMORY_OTHER, 80, sizeof *c, NULL);
  memory_free(&m, b);
  char *d = memory_alloc(&m, MEMORY_OTHER, 50, sizeof *d, NULL);
  char *e = memory_alloc(&m, MEMORY_OTHER, 30, sizeof *e, NULL);
  printf("requested %d, allocated %d, ",@| (int) m.all.requested, (int) m.all.allocated);
  printf("live %d, peak %d\n", (int) m.all.live, (int) m.all.peak);
  memory_free(&m, a), memory_free(&m, c);
  memory_free(&m, d), memory_free(&m, e);
}

@ The accounts count what \emph{we} request. They leave out the rounding of a block to 64 bytes, the C library's own headers, the
stacks of threads, mapped files, and what other libraries take for themselves. We want to know
how much a \emph{model} needs, and the answer must not change with the C library. Does counting cost time? A few additions a request; and a pass through a model makes all its requests before its first layer (\cref{sec:forward}).\side{Each |struct memory| belongs to one thread at a time, and the workers of a pool never allocate. So the accounts need no
lock. Threads that write texts at the same time have one each; models and tokenizers, which they may share, allocate nothing while they are read.}

Two patterns of use have functions of their own. The first is an array that grows while you fill it. |memory_reserve| doubles it when it is full, so on average each element is
copied fewer than two times, however long the array becomes (\cref{sec:allocator}). The second is a group of blocks that are freed
together: a pass through a model needs more than a dozen arrays from its beginning to its end. They come from an
\emph{arena} (\cref{sec:memoryheader}). You allocate one after the other without testing; a single test at the end tells whether any of them failed, and one call frees them all or keeps them for the next pass.
@^growing array@>@^arena@>

\printedheader[memory_alloc, memory_free, memory_reserve]{ground/memory.h}

@ Two such arrays grow in nearly every chapter: \label{sec:buffers} a text is an array of bytes, and a model reads an array of \emph{ids}, the numbers of chapter~1. A struct of zeros is an empty array. |struct ids| is like |struct bytes|, with |id| in the place of |byte|, and |ids_push| appends one id.

\printedheader[bytes, bytes_push, ids, ids_push]{ground/buffers.h}

@* Memory-mapped files. \label{sec:files}
How do you read a file of weights that fills half of your memory? If you copy it into a block, it is there twice for a while, once in the system's disk cache and once in your block.
So we \emph{map} it: we read the file as if it were memory, in place, and the system fetches what we look at.
What we never look at need not be read from the disk, and two programs that map the same model share its pages. What we do not do is believe the file. A
mapping says how many bytes there are; whether they mean anything, the reader of
that format has to find out: it checks every number before it uses it. A length that is believed too early leads a pointer
out of the file.\side{One danger stays. If another program shortens the file while we look at it, reading past the new end raises a signal and not an error. A library may not catch the signals
of its caller; the command does, and prints a message (\cref{command}).}
@^memory mapping@>

@<A file that is mapped@>=
struct mapping {@+ const unsigned char *bytes;@+ size_t size;@+ };
  /* a file as memory, read-only; an empty file has |size == 0| */
bool file_map(struct mapping *map, const char *path, struct error *why);
  /* maps the whole regular file |path|; the message names it */
void file_unmap(struct mapping *map);
  /* ends a mapping; all pointers into it die with it */
void file_release(const struct mapping *map, const void *from, size_t n);
  /* gives back the memory of |n| bytes, if they are in |map|; whoever reads them again waits for the file */

@* A thread pool. \label{sec:pool}
A text goes through a model in large steps, a handful in each of its layers, and each step can be divided among
threads. The first idea is to start the threads when a step begins and to join them when it ends. We timed that: starting a thread takes longer than many of the steps (the numbers are below). So a \emph{thread pool} starts them
once, and they wait. One call gives a step to all of them, each does the part
that its number says, and the call returns when the last one is done. You say how many; the command takes one per physical core.
@^threads@>@^thread pool@>

Here are the two ways to add six numbers. In the first, worker $w$ of $W$ has the numbers from $6w/W$ up to $6(w+1)/W$. In the second we deal out the three pairs to the workers like cards.
Each worker writes only to places of |part| that are its own. A step is one call of |pool_run|; when it returns, the caller adds what is in |part|, from left to right.

@<Add the numbers with several workers@>=
static const float x[6] = @[{ 100000000, 3, 3, 3, 3, 3 }@];
static void add_share(void *ctx, unsigned worker, unsigned workers)
{
  float *part = ctx;@+ unsigned end = 6 * (worker + 1) / workers;
  for (unsigned i = 6 * worker / workers; i < end; i++) part[worker] += x[i];
}
static void add_pairs(void *ctx, unsigned worker, unsigned workers)
{
  float *part = ctx;
  for (unsigned k = worker; k < 3; k += workers)
    part[k] = x[2 * k] + x[2 * k + 1];
}

@ The program does both with one, two and three workers.

@<Add the numbers with several workers@>=
static int print_sums(void)
{
  struct memory m = @[{ .fail_at = 0 }@];@+ struct error why;
  for (unsigned workers = 1; workers <= 3; workers++) {
    float share[3] = @[{ 0 }@], pair[3] = @[{ 0 }@];
    struct pool *p = pool_open(&m, workers, &why);
    if (p == NULL) return printf("%s\n", why.text), 1;
    pool_run(p, add_share, share);@+ pool_run(p, add_pairs, pair);
    pool_close(&m, p);
    printf("workers %u: shares %.0f, pairs %.0f\n",@| workers,
      share[0] + share[1] + share[2], pair[0] + pair[1] + pair[2]);
  }
  return 0;
}

@ It prints the three sums of the hand calculation, and beside them the one that does not change:

\checkpoint[5,8]{build/out/ground.txt}{an account and three sums}

You will find no sum in this book that is divided by the number of workers. A step is cut into parts before it begins. Whichever worker takes a part, it does the same sums in the same order
and writes them to the same place, which no other part reads or writes. So the threads decide when a result is there, but not what it is.

@ On the two cores of our machine, an AMD EPYC,\lab{lab:poolclock} a step without work takes \val[1]{ground.pool.next} microseconds if it directly follows another, and \val[0]{ground.pool.asleep} after a pause, in which the second thread has
gone to sleep. If we start a new thread for each step, it takes \val[0]{ground.pool.opened}. Compare that with \val[3]{phases.ms.pocket.1.0.1} milliseconds, in which one core puts a token through the whole built-in model (\cref{phases}). \Cref{sec:poollife} has the C of the pool and its one difficult place, a wake-up that could be lost.\side{Why not OpenMP? Its runtime has state that belongs to the whole process, and our engine
is a library in another's program. And it may combine the sums of threads in any order, which is what we have just ruled out.}
@^OpenMP@>

One thing more can change a sum. The floating-point unit has modes, which belong to each thread: how to round, whether to flush very small numbers to
zero. A library that was linked with \.{-Ofast} may have changed them without telling you. So we set the standard modes, at the start of each pass through a model and when a worker is born. At the end of the pass we put back those that we found, since the caller's thread is not ours.
@^rounding mode@>

\printedheader[pool_work, pool_open, pool_run]{ground/pool.h}

@* Progress and cancellation. \label{sec:progress}
Some calls take long, such as reading a whole book as a prompt. While you wait, you want to know how far the work has come, and perhaps to give it up. So the working function
asks its caller now and then: \emph{this much is done; shall I go on?} The caller supplies the function that answers, a \emph{callback} (|struct progress|, \cref{sec:asking}).
Why not stop the thread from outside? Its locks would stay locked and its memory would be lost. A function that is told to give up puts everything in order first: a pass that is given up has
stored nothing (\cref{sec:forward}), and a text keeps what was written before.
@^progress@>@^cancellation@>@^callback@>

@* Exercises. \label{sec:groundexercises}
The command \texttt{make exercise-00-1} puts a skeleton of the first answer into a file, and judges
the file when you call it again.

\begin{exercises}
\exercise{check}{ex:ground.peak}{In the second hand calculation, let the fourth event free the
80 instead of the 40. Which of the four final numbers change?}{\texttt{make exercise-00-1}}{%
Only \emph{live}, which ends at \given{130}: the peak was reached before.}
\exercise{check}{ex:ground.six}{In the first hand calculation, give six workers one number each. What is the sum now, and is it the best of the four?}{\texttt{make exercise-00-2}}{\given{100,000,000}, as with
one worker: the caller adds the same six numbers from left to right. So more workers make a sum different, and not always better: with three it was 1 off, with six it is 15 off.}
\exercise{think}{ex:ground.runs}{A program makes \given{200} requests if all are granted, and stops at the first that is not. We run it with |fail_at| 1, 2, 3
and so on, until a run goes through. How many runs is that, and how many requests?}{\texttt{make exercise-00-3}}{\given{201} runs, the last of which is refused
nothing, and $1+2+\cdots+\given{200}+\given{200}$ requests, which is \given{20,300}. \Cref{loop} will meet this sum again.}
\exercise{check}{ex:ground.part}{Write the function that a step needs first: which of $n$ rows are worker $w$'s? The parts are to follow one another, none may have
two rows more than another, and $n$ may be as large as a |size_t| can be.}{\texttt{make exercise-00-4}}{With $q$ and $r$, quotient and remainder of $n$ by the number of workers,
the first $r$ workers get $q+1$ rows and the others $q$. The pretty $nw/W$ of this chapter's program overflows.}
\end{exercises}
