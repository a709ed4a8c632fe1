==== check
# the scheduler is asked: somebody who guesses nothing looks how much room there is
engine <<'C'
#include "exercises/serving.h"
#include "speculation/speculate.h"
static void look(void *ctx, const struct generate_context *g, struct sequence *const *list, size_t n)
{
  *(size_t *) ctx = list[0]->room;
  (void) g, (void) n;
}
int main(void)
{
  static struct request r[11];
  static uint32_t id[200];
  size_t room = 0, texts[3] = { 6, 10, 6 };
  struct speculation by = { .guess = look, .ctx = &room, .most = 4 };
  for (uint32_t i = 0; i < 200; i++) id[i] = i + 1;
  for (int k = 0; k < 3; k++) {
    serve_with(11, (struct cache_options) { .rows = 0 }, (struct scheduler_options) { .pass_rows = 32, .guesses = 4, .step = speculate_step, .step_ctx = &by });
    for (size_t i = 0; i < texts[k]; i++) submit(&r[i], id + i, 1, 100);
    for (int i = 0; i < 20; i++) step();
    if (k == 2) submit(&r[6], id, 10, 100), step();   /* ten rows, and the six have one each */
    printf("%zu ", room);
  }
  printf("\n");
  return 0;
}
C
is $(run)
==== answer
4 2 2
==== wrong
4 2 4
==== skeleton
# three numbers
