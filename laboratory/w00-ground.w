@i types.w

\chapterquestion{What do the allocator and the thread pool do in a small case, and what does one step of a pool cost?}
@** The foundations counted and timed. \label{lab:ground}
\incipit{T}{he accounts} of the hand calculation in \cref{ground} are played again here, for the keys of its prose and the points of \cref{fig:ground}. The time of a step is
what \cref{sec:pool} quotes. With |"values"| the program prints the keys, with |"points"| the points of the figure, and with |"pool"| it takes times, which
\texttt{make measure} keeps in \.{figures/data}.

@c
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include "ground/timing.h"
#include "laboratory/kit.h"
@;@#
@<Play the requests of chapter 0@>@;
@<Print the accounts@>@;
@<Take the time of a step@>@;
@<Print what was measured@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "values", print_accounts },@|
    { "values", print_times }, { "points", print_points },@|
    { "pool", print_pool }, { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* The accounts. \label{lab:accountsofground}
The events are those of the box, and the common account is copied after each.

@<Play the requests of chapter 0@>=
enum { EVENTS = 6 };
static void play(struct account after[EVENTS])
{
  static const size_t wanted[EVENTS] = @[{ 60, 40, 80, 0, 50, 30 }@];
  struct memory m = @[{ .fail_at = 4 }@];
  void *block[EVENTS] = @[{ NULL }@];
  for (int i = 0; i < EVENTS; i++) {
    if (wanted[i] > 0)
      block[i] = memory_alloc(&m, MEMORY_OTHER, 1, wanted[i], NULL);
    else {
      memory_free(&m, block[1]);
      block[1] = NULL;
    }
    after[i] = m.all;
  }
  for (int i = 0; i < EVENTS; i++)
    memory_free(&m, block[i]);
}

@ Which request was refused is found by looking for the event at which the count of refusals rises, and not by repeating the number that was given to
|fail_at|: the key should say what happened, not what was meant to. The points have the last event twice, so that the last step of the drawing has a length.

@<Print the accounts@>=
static bool print_accounts(struct fixture *lab, struct error *why)
{
  struct account a[EVENTS];
  play(a);
  for (int i = 0; i < EVENTS; i++) {
    printf("ground.requested.%d %d bytes\n", i + 1, (int) a[i].requested);
    printf("ground.allocated.%d %d bytes\n", i + 1, (int) a[i].allocated);
    printf("ground.live.%d %d bytes\n", i + 1, (int) a[i].live);
    printf("ground.peak.%d %d bytes\n", i + 1, (int) a[i].peak);
    if (i > 0 && a[i].refused > a[i - 1].refused)
      printf("ground.refused.request %d\n", (int) a[i].requests);
  }
  printf("ground.requests %d\n", (int) a[EVENTS - 1].requests);
  (void) lab, (void) why;
  return true;
}
static bool print_points(struct fixture *lab, struct error *why)
{
  struct account a[EVENTS + 1];
  play(a);
  a[EVENTS] = a[EVENTS - 1];
  printf("event,requested,allocated,live,peak\n");
  for (int i = 0; i <= EVENTS; i++)
    printf("%d,%d,%d,%d,%d\n", i + 1, (int) a[i].requested, (int) a[i].allocated,
      (int) a[i].live, (int) a[i].peak);
  (void) lab, (void) why;
  return true;
}

@* The time of a step. \label{lab:poolclock}
A step that does no work costs what the pool costs. It is timed in three ways, each with two workers: one step directly after the other, so that the helper still spins when the next is announced;
a step after a pause of two milliseconds, in which the helper has gone to sleep; and a step with a pool of its own, which is opened before and closed after it. A fourth time is that of \given{2000} looks at a number
that does not change, with the pauses of \cref{sec:poollife}: so long a worker spins before it sleeps.

@<Take the time of a step@>=
enum { WAYS = 4, ROUNDS = 201, STEPS = 100 };
static void no_work(void *ctx, unsigned worker, unsigned workers)
{
  (void) ctx;
  (void) worker;
  (void) workers;
}
static void look(const atomic_uint *number)
{
  for (int i = 0; i < 2000 && atomic_load(number) == 0; i++)
    if (i % 50 == 49) sched_yield();
#if defined __x86_64__
    else __builtin_ia32_pause();
#endif
}
static double step_time(struct memory *m, struct pool *p, int way)
{
  double begin = timing_seconds();
  if (way == 1) {
    while (timing_seconds() - begin < .002) continue;
    begin = timing_seconds();
  }
  if (way == 2) p = pool_open(m, 2, NULL);
  if (way == 3) {
    static const atomic_uint number;
    look(&number);
  }
  int steps = way == 0 ? STEPS : 1;
  for (int i = 0; i < steps && way < 3; i++) pool_run(p, no_work, NULL);
  if (way == 2) pool_close(m, p);
  return (timing_seconds() - begin) / steps;
}

@ The rounds of the four ways take turns, so that a disturbance does not fall on one of them.

@<Take the time of a step@>=
static bool print_pool(struct fixture *lab, struct error *why)
{
  static double x[WAYS][ROUNDS];
  struct pool *p = pool_open(&lab->m, 2, why);
  if (p == NULL) return false;
  for (int i = 0; i < ROUNDS; i++)
    for (int way = 0; way < WAYS; way++)
      x[way][i] = step_time(&lab->m, p, way);
  pool_close(&lab->m, p);
  printf("way,workers,low,median,high\n");
  for (int way = 0; way < WAYS; way++) {
    printf("%d,2", way + 1);
    print_quartiles(x[way], ROUNDS, 1e6, 2);
    printf("\n");
  }
  return true;
}

@ The medians are the keys, in microseconds.

@<Print what was measured@>=
static bool print_times(struct fixture *lab, struct error *why)
{
  double x[5][WAYS];
  if (!data_numbers("ground.pool", 5, WAYS, &x[0][0], why)) return false;
  printf("ground.pool.next %.2f\n", x[3][0]);
  printf("ground.pool.asleep %.1f\n", x[3][1]);
  printf("ground.pool.opened %.0f\n", x[3][2]);
  printf("ground.pool.looks %.0f\n", x[3][3]);
  (void) lab;
  return true;
}
