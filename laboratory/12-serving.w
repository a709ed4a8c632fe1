@i types.w
@s size_t int
@s lab_print int
@s request int
@s scheduler int
@s scheduler_options int

\chapterquestion{How much of a machine do other people's texts fill, and in which order should they come?}
@** Experiments on serving many.
\incipit{E}{ight requests} with the lengths of the hand calculation are served in several ways, and the slots are watched, pass by pass. What comes out depends on the lengths and on the order, not on the words; so all requests have prompts of one token, and no end token counts.

@c
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serving/scheduler.h"
#include "laboratory/kit2.h"
@;@#
@<Serve lengths, and watch the slots@>@;
@<Count what each way costs@>@;
@<Draw the slots@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_ways },@|
    { "slots", draw_slots }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Slots. \label{lab:slots}
A watch has the number of each request, its length, and, for every pass, which request was in which slot.

@<Serve lengths, and watch the slots@>=
enum { WAITING_TEXTS = 8, SEATS = 4, MOST_PASSES = 400 };
static const size_t lengths[WAITING_TEXTS] = @[{ 10, 100, 20, 30, 50, 15, 80, 40 }@];
struct watch { size_t order[WAITING_TEXTS];@+ int seat[MOST_PASSES][SEATS];
  size_t passes, joined, used;@+ size_t ended[WAITING_TEXTS]; };
  /* |seat| is the number of a request, or $-1$; |joined|: requests that got a slot while others kept
    theirs; |used|: slots with a text, over all passes; |ended|: the pass after which a request had its text */

@ We look before and after each step. A request that runs after the step, or has ended in it, had a row in the pass.

@<Serve lengths, and watch the slots@>=
static bool watch_step(struct watch *w, struct request *r, struct scheduler *s,
  struct error *why)
{
  bool ran[WAITING_TEXTS], others = false, newcomer = false;
  for (size_t i = 0; i < WAITING_TEXTS; i++) ran[i] = r[i].state == REQUEST_RUNNING;
  if (!scheduler_step(s, why)) return false;
  for (size_t k = 0; k < SEATS; k++) w->seat[w->passes][k] = -1;
  for (size_t i = 0; i < WAITING_TEXTS; i++) {
    if (r[i].state == REQUEST_WAITING || w->ended[i] > 0) continue;
    w->seat[w->passes][r[i].q.c.sequence] = (int) w->order[i], w->used++;
    if (r[i].state == REQUEST_ENDED) w->ended[i] = w->passes + 1;
    others = others || ran[i];
    newcomer = newcomer || !ran[i];
  }
  w->joined += others && newcomer;
  w->passes++;
  return true;
}
static bool watch_all(struct fixture *lab, struct watch *w, bool in_batches,
  struct error *why)
{
  struct request r[WAITING_TEXTS];
  struct scheduler s;
  struct scheduler_options how = @[{ .in_batches = in_batches }@];
  struct store *cache = cache_open(&lab->m, &lab->model->config, SEATS,@|
    &(struct cache_options) @[{ .rows = 0 }@], why);
  struct generate_context g = @[{ &lab->e, lab->model, cache, &lab->m }@];
  bool open = cache != NULL && scheduler_open(&s, &g, &how, why), ok = open;
  uint32_t first = lab->sentence[0];
  memset(r, 0, sizeof r);
  for (size_t i = 0; ok && i < WAITING_TEXTS; i++) {
    struct generate_options want = @[{ .max_new_tokens = lengths[w->order[i]] }@];
    ok = scheduler_submit(&s, &r[i], &first, 1, &want, why);
  }
  while (ok && !scheduler_idle(&s) && w->passes < MOST_PASSES) ok = watch_step(w, r, &s, why);
  for (size_t i = 0; open && i < WAITING_TEXTS; i++) request_close(&s, &r[i]);
  if (open) scheduler_close(&s);
  store_close(cache);
  return ok;
}

@ Three ways: in batches, as they come, and the longest first. The last is for comparison: nobody knows beforehand how long a text will be. Its passes are as few as they can be, since no text can be split, and the longest has \given{100} tokens.

@<Count what each way costs@>=
static int by_length(const void *a, const void *b)
{
  size_t x = lengths[*(const size_t *) a], y = lengths[*(const size_t *) b];
  return x < y ? 1 : x > y ? -1 : 0;
}
static bool one_way(struct fixture *lab, struct watch *w, bool in_batches, bool longest,
  struct error *why)
{
  memset(w, 0, sizeof *w);
  for (size_t i = 0; i < WAITING_TEXTS; i++) w->order[i] = i;
  if (longest) qsort(w->order, WAITING_TEXTS, sizeof *w->order, by_length);
  return watch_all(lab, w, in_batches, why);
}
static bool print_way(struct fixture *lab, const char *name, bool in_batches,
  bool longest, struct error *why)
{
  struct watch *w = lab_take(lab, 1, sizeof *w, why);
  double wait = 0;
  if (w == NULL || !one_way(lab, w, in_batches, longest, why)) return false;
  for (size_t i = 0; i < WAITING_TEXTS; i++) wait += (double) w->ended[i];
  print_key(label_of("serving.passes.%s", name).text, "%zu", w->passes);
  print_key(label_of("serving.used.%s", name).text, "%.4f",@|
    (double) w->used / (double) (SEATS * w->passes));
  print_key(label_of("serving.wait.%s", name).text, "%.3f", wait / WAITING_TEXTS);
  print_key(label_of("serving.joined.%s", name).text, "%zu", w->joined);
  return true;
}
static bool print_ways(struct fixture *lab, struct error *why)
{
  return print_way(lab, "static", true, false, why)
    && print_way(lab, "continuous", false, false, why)
    && print_way(lab, "longest", false, true, why);
}

@ The figure needs a line for each stretch of passes in which a slot had the same request, in both ways.

@<Draw the slots@>=
static void draw_seats(const struct watch *w, const char *way)
{
  for (size_t k = 0; k < SEATS; k++)
    for (size_t i = 0, from = 0; i < w->passes; i++)
      if (i + 1 == w->passes || w->seat[i + 1][k] != w->seat[i][k]) {
        if (w->seat[i][k] >= 0) printf("%s,%zu,%d,%zu,%zu\n", way, k, w->seat[i][k], from, i + 1);
        from = i + 1;
      }
}
static bool draw_slots(struct fixture *lab, struct error *why)
{
  struct watch *w = lab_take(lab, 1, sizeof *w, why);
  printf("way,slot,request,from,to\n");
  if (w == NULL || !one_way(lab, w, true, false, why)) return false;
  draw_seats(w, "static");
  if (!one_way(lab, w, false, false, why)) return false;
  draw_seats(w, "continuous");
  return true;
}
