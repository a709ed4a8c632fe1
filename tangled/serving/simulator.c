/* simulator.c -- A server without a model: texts are lengths, and the clock is the
   roofline.
   made from chapters/12-serving.w; change it there

   Time is in nanoseconds and never runs backwards. Of two events at one time,
   arrivals come before the end of a pass, and both before the next pass begins. The
   same texts give the same passes, in every run and on every machine. */

#include <math.h>
#include "lookups/table.h"
#include "serving/simulated.h"

/* <Count the work of a pass> */
static void count_text(const struct row_costs *k, const struct simulated_text *t,
  struct counters *c)
{
  uint64_t n = t->rows, before = t->stored, seen = n * before + n * (n + 1) / 2;
  c->rows += n;
  c->madds_linear += n * k->layer_madds;
  c->madds_attention += seen * k->pair_madds;
  c->weight_bytes_read += n * k->embedding_bytes;
  c->cache_bytes_read += (before + n) * k->row_bytes;
  c->cache_bytes_written += n * k->row_bytes;
  if (before + n == t->length) c->madds_head += k->head_madds;
}

static struct counters count_pass(const struct simulation *s)
{
  struct counters c = { .passes = 1 };
  for (size_t i = 0; i < s->planned; i++)
    count_text(&s->cost, &s->text[s->plan[i]], &c);
  c.weight_bytes_read += s->cost.layer_bytes;
  if (c.madds_head > 0) c.weight_bytes_read += s->cost.head_bytes;
  return c;
}

/* <Begin a pass> */
static uint64_t begin_pass(struct simulation *s)
{
  if (simulated_plan(s) == 0) return 0;
  struct counters work = count_pass(s);
  if (s->on_pass != NULL) s->on_pass(s->ctx, s, &work);
  if (s->machine.madds == 0) return 1;
  return (uint64_t) ceil(1e9 * work_bound(&s->machine, &work));
}

/* <Serve all texts, event by event> */
static const uint64_t PASS_ENDS = ~(uint64_t) 0;
static bool put_arrivals(struct memory *m, struct heap *agenda, struct simulation *s,
  struct error *why)
{
  for (size_t i = 0; i < s->n; i++)
    if (!heap_push(m, agenda, (struct heap_item) { s->text[i].arrives, i }, why))
      return false;
  return true;
}

bool simulate(struct memory *m, struct simulation *s, struct error *why)
{
  struct heap agenda = { NULL, 0, 0 };
  bool idle = true, ok = simulated_open(m, s, why) && put_arrivals(m, &agenda, s, why);
  s->busy = 0;
  while (ok && agenda.n > 0) {
    struct heap_item now = heap_pop(&agenda);
    if (now.tie == PASS_ENDS) simulated_advance(s, now.key), idle = true;
    else simulated_join(s, (uint32_t) now.tie);
    if (!idle || (agenda.n > 0 && agenda.item[0].key == now.key)) continue;
    uint64_t takes = begin_pass(s);
    if (takes == 0) continue;
    idle = false, s->busy += takes;
    ok = heap_push(m, &agenda, (struct heap_item) { now.key + takes, PASS_ENDS }, why);
  }
  heap_free(m, &agenda);
  simulated_close(m, s);
  return ok;
}
