/* try_clock.c -- try_clock ROWS...: how long a step of a page takes on this machine after a text of so many rows, with
   the cache and without, as lines of ROWS,KEPT,NAIVE in milliseconds of a processor.  measure.mjs does the same with
   the engine for WebAssembly.  Each time is the least of several steps, for whatever disturbs makes it longer. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "exports.h"

enum { KEPT = 9, NAIVE = 3, ROUNDS = 3 };

static void set(const char *json)
{
  size_t n = strlen(json);
  memcpy(page_room((int32_t) n), json, n);
  if (!page_set((int32_t) n)) exit(1);
}

/* one step, and back, so that the next is as long */
static double step(void)
{
  clock_t began = clock();
  if (page_step() != 0) exit(1);
  double ms = 1e3 * (double) (clock() - began) / CLOCKS_PER_SEC;
  page_back();
  return ms;
}

static double least(int steps)
{
  double best = step();
  while (--steps > 0) {
    double ms = step();
    if (ms < best) best = ms;
  }
  return best;
}

int main(int argc, char **argv)
{
  if (!page_open()) return 1;
  for (int i = 1; i < argc; i++) {
    double kept = 1e9, naive = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
      set("{\"prompt\":\"Once upon a time\",\"cache\":true,\"temperature\":0}");
      for (int n = 4; n < atoi(argv[i]); n++) if (page_step() != 0) return 1;
      double k = least(KEPT), n;
      set("{\"cache\":false}");
      n = least(NAIVE);
      if (k < kept) kept = k;
      if (n < naive) naive = n;
    }
    printf("%s,%.3f,%.3f\n", argv[i], kept, naive);
  }
  return 0;
}
