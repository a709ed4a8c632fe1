/* the program -- made from chapters/00-foundations.w; change it there */

#include <stdio.h>
#include "ground/ground.h"

/* <Print a message of every kind> */
static void print_messages(void)
{
  struct memory m = { .fail_at = 1 }; struct error why; struct mapping map;
  memory_alloc(&m, MEMORY_CACHE, 3, 1024, &why);
  printf("%s\n", why.text);
  if (!file_map(&map, "no-such-model", &why)) printf("%s\n", why.text);
  error_found(&why, "config.json", "n_layers", "-2", "1 or more");
  printf("%s\n", why.text);
}

/* <Make the requests of the hand calculation> */
static void print_account(void)
{
  struct memory m = { .fail_at = 4 };
  char *a = memory_alloc(&m, MEMORY_OTHER, 60, sizeof *a, NULL);
  char *b = memory_alloc(&m, MEMORY_OTHER, 40, sizeof *b, NULL);
  char *c = memory_alloc(&m, MEMORY_OTHER, 80, sizeof *c, NULL);
  memory_free(&m, b);
  char *d = memory_alloc(&m, MEMORY_OTHER, 50, sizeof *d, NULL);
  char *e = memory_alloc(&m, MEMORY_OTHER, 30, sizeof *e, NULL);
  printf("requested %d, allocated %d, ", (int) m.all.requested, (int) m.all.allocated);
  printf("live %d, peak %d\n", (int) m.all.live, (int) m.all.peak);
  memory_free(&m, a), memory_free(&m, c);
  memory_free(&m, d), memory_free(&m, e);
}

/* <Add the numbers with several workers> */
static const float x[6] = { 100000000, 3, 3, 3, 3, 3 };
static void add_share(void *ctx, unsigned worker, unsigned workers)
{
  float *part = ctx; unsigned end = 6 * (worker + 1) / workers;
  for (unsigned i = 6 * worker / workers; i < end; i++) part[worker] += x[i];
}

static void add_pairs(void *ctx, unsigned worker, unsigned workers)
{
  float *part = ctx;
  for (unsigned k = worker; k < 3; k += workers)
    part[k] = x[2 * k] + x[2 * k + 1];
}

static int print_sums(void)
{
  struct memory m = { .fail_at = 0 }; struct error why;
  for (unsigned workers = 1; workers <= 3; workers++) {
    float share[3] = { 0 }, pair[3] = { 0 };
    struct pool *p = pool_open(&m, workers, &why);
    if (p == NULL) return printf("%s\n", why.text), 1;
    pool_run(p, add_share, share); pool_run(p, add_pairs, pair);
    pool_close(&m, p);
    printf("workers %u: shares %.0f, pairs %.0f\n", workers,
      share[0] + share[1] + share[2], pair[0] + pair[1] + pair[2]);
  }
  return 0;
}

int main(void)
{
  print_messages(); print_account(); return print_sums();
}
