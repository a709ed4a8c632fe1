/* measure.c -- made from workshop/24-phases.w; change it there */

#include "ground/timing.h"
#include "phases/phases.h"

/* <Probe the machine> */

/* SWEPT: the fewest floats that are read, 256 MiB of them */
enum { PROBES = 15, SPINS = 1 << 20, SWEPT = 1 << 26 };
struct probe_part { uint64_t done; float left; };

/* block[swept], of[workers] */
struct roofline_probe { const struct kernels *k; const float *block;
  size_t swept; struct probe_part *of; uint64_t spins; };
static uint64_t spins_of(const struct kernels *k)
{
  float left;
  double start = timing_seconds();
  k->probe_flops(SPINS, &left);
  double took = timing_seconds() - start;
  if (took > 0.004) return SPINS;
  if (took < 4e-5) took = 4e-5; /* a clock that has not moved */
  return (uint64_t) (0.004 / took * SPINS);
}

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

bool roofline_measure(struct memory *m, const struct engine *e,
  struct roofline *out, struct error *why)
{
  double madds[PROBES], bytes[PROBES];
  unsigned workers = pool_workers(e->pool);
  size_t swept = timing_last_cache();
  if (swept < SWEPT) swept = SWEPT; /* four times the bytes are as many floats */
  struct probe_part *of = memory_alloc(m, MEMORY_OTHER, workers, sizeof *of, why);
  float *block = of == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, swept, sizeof *block, why);
  struct roofline_probe p = { e->k, block, swept, of, spins_of(e->k) };
  for (size_t i = 0; block != NULL && i < swept; i++) block[i] = 1;
  for (int r = 0; block != NULL && r < PROBES; r++)
    /* <Take the time of one round of probes> */
    {
      double start = timing_seconds(), done = 0;
      pool_run(e->pool, measure_flops, &p);
      double middle = timing_seconds();
      pool_run(e->pool, measure_bandwidth, &p);
      double end = timing_seconds();
      for (unsigned i = 0; i < workers; i++) done += (double) of[i].done;
      madds[r] = done / (middle - start);
      bytes[r] = (double) (p.swept * sizeof *p.block) / (end - middle);
    }
  if (block != NULL) *out = (struct roofline) {
    timing_quartiles(madds, PROBES).median,
    timing_quartiles(bytes, PROBES).median };
  memory_free(m, block);
  memory_free(m, of);
  return block != NULL;
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
