/* the program -- made from laboratory/w00-ground.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include "ground/timing.h"
#include "laboratory/kit.h"

/* <Play the requests of chapter 0> */
enum { EVENTS = 6 };
static void play(struct account after[EVENTS])
{
  static const size_t wanted[EVENTS] = { 60, 40, 80, 0, 50, 30 };
  struct memory m = { .fail_at = 4 };
  void *block[EVENTS] = { NULL };
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

/* <Print the accounts> */
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

/* <Take the time of a step> */
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

/* <Print what was measured> */
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

int main(int argc, char **argv)
{
  static const struct lab_command words[] = { { "values", print_accounts },
    { "values", print_times }, { "points", print_points },
    { "pool", print_pool }, { NULL, NULL } };
  return lab_main(argc, argv, words);
}
