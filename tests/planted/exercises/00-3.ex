==== check
# a program of 200 requests, run once for every request that can be refused, and once with none: runs and requests, counted
engine <<'C'
#include <stdio.h>
#include "ground/ground.h"
static uint64_t requests;
static int run(uint64_t fail_at)                                  /* stops at the first refusal, like everything here */
{
  struct memory m = { .fail_at = fail_at };
  void *p[200];
  int n = 0;
  while (n < 200 && (p[n] = memory_alloc(&m, MEMORY_OTHER, 1, 1, NULL)) != NULL) n++;
  requests += m.all.requests;
  for (int i = 0; i < n; i++) memory_free(&m, p[i]);
  return m.all.refused == 0;
}
int main(void)
{
  int runs = 1;
  while (!run((uint64_t) runs)) runs++;
  printf("%d %d\n", runs, (int) requests);
}
C
is $(run)
==== answer
201 20300
==== wrong
200 40000
==== skeleton
# runs and requests, two integers in a line
