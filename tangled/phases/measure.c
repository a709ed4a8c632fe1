/* measure.c -- made from chapters/05-phases.w; change it there */

#include "ground/timing.h"
#include "phases/measure.h"

/* <Take one round of probes> */
static void measure_flops(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  (void) workers;
  p->of[worker].done = p->k->probe_flops(p->spins, &p->of[worker].left);
}

static void measure_bandwidth(void *ctx, unsigned worker, unsigned workers)
{
  struct roofline_probe *p = ctx;
  size_t share = p->swept / workers, from = share * worker;
  size_t to = worker + 1 == workers ? p->swept : from + share;
  p->of[worker].left = p->k->probe_bandwidth(p->block + from, to - from);
}

void roofline_round(const struct engine *e, struct roofline_probe *p,
  double *madds, double *bytes)
{
  double start = timing_seconds(), done = 0;
  pool_run(e->pool, measure_flops, p);
  double middle = timing_seconds();
  pool_run(e->pool, measure_bandwidth, p);
  double end = timing_seconds();
  for (unsigned i = 0; i < pool_workers(e->pool); i++) done += (double) p->of[i].done;
  *madds = done / (middle - start);
  *bytes = (double) (p->swept * sizeof *p->block) / (end - middle);
}

/* <Take the time of a pass> */
static bool read_on(const struct generate_context *g, size_t from, size_t n,
  size_t chunk, float *logits, struct error *why)
{
  struct pass *p = NULL;
  struct row *rows = memory_alloc(g->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL) return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) { 0, (uint32_t) (from + i),
      (uint32_t) ((from + i) * 31 % g->lm->config.vocab_size) };
  bool ok = model_read(g, rows, n, chunk, &p, why);
  if (ok && logits != NULL)
    ok = model_logits(g->e, g->lm, p, &(size_t) { p->n - 1 }, 1, logits, why);
  pass_close(p);
  memory_free(g->m, rows);
  return ok;
}

bool phase_read(const struct generate_context *g, size_t depth, size_t n,
  size_t chunk, struct phase *out, struct error *why)
{
  size_t v = g->lm->config.vocab_size, have;
  store_crop(g->s, 0, depth);
  have = store_length(g->s, 0);
  if (have < depth && !read_on(g, have, depth - have, 256, NULL, why))
    return false;
  float *logits = memory_alloc(g->m, MEMORY_ACTIVATIONS, v, sizeof *logits, why);
  if (logits == NULL) return false;
  struct counters before = *g->e->c;
  double start = timing_seconds();
  bool ok = read_on(g, depth, n, chunk, logits, why);
  out->seconds = timing_seconds() - start;
  out->work = counters_since(&before, g->e->c);
  memory_free(g->m, logits);
  return ok;
}
