==== check
# the scheduler serves them, with the built-in model
engine <<'C'
#include "exercises/serving.h"
int main(void)
{
  static const size_t lengths[8] = { 10, 15, 20, 30, 40, 50, 80, 100 };
  struct request r[8];
  size_t passes = 0, sum = 0, done = 0;
  uint32_t first = 5;
  serve_with(4, (struct cache_options) { .rows = 0 }, (struct scheduler_options) { .share = false });
  for (int i = 0; i < 8; i++) submit(&r[i], &first, 1, lengths[i]);
  while (!scheduler_idle(&d)) {
    size_t now = 0;
    step();
    passes++;
    for (int i = 0; i < 8; i++) now += r[i].state == REQUEST_ENDED;
    sum += (now - done) * passes, done = now;
  }
  printf("%zu %zu\n", passes, sum);
  return 0;
}
C
is $(run)
==== answer
130 420
==== wrong
110 420
==== skeleton
# two numbers: passes, and the sum of the last passes of the eight texts
