==== check
# the scheduler reads them: two texts decode, and two prompts come
engine <<'C'
#include "exercises/serving.h"
int main(void)
{
  static const size_t n[4] = { 1, 1, 40, 30 };
  struct request r[4];
  uint32_t id[40];
  size_t first[2] = { 0, 0 };
  serve_with(4, (struct cache_options) { .rows = 0 }, (struct scheduler_options) { .pass_rows = 16 });
  for (uint32_t i = 0; i < 40; i++) id[i] = i + 1;
  for (int i = 0; i < 4; i++) {
    submit(&r[i], id, n[i], 50);
    if (i == 1) step();
  }
  for (size_t pass = 1; first[0] == 0 || first[1] == 0; pass++) {
    step();
    for (int i = 0; i < 2; i++) if (first[i] == 0 && r[2 + i].q.c.text.n > n[2 + i]) first[i] = pass;
  }
  printf("%zu %zu\n", first[0], first[1]);
  return 0;
}
C
is $(run)
==== answer
3 6
==== wrong
3 5
==== skeleton
# two numbers: the passes after which the first prompt and the second have their first tokens
