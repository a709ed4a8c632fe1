/* machine.c -- how fast this machine calculates and reads: the medians of some rounds of probes.

   A round (roofline_round, chapter 5) takes as long as its work, and the work is chosen here: few
   milliseconds of multiply-adds for each worker, and a block of memory that no cache can keep. The
   block has four times the bytes of the last-level cache, as the system reports it, and never
   fewer than 256 MiB; so what one round leaves in the cache is gone before the next one asks for
   it. */

#include "ground/timing.h"
#include "phases/measure.h"

enum { PROBES = 15, SPINS = 1 << 20, SWEPT = 1 << 26 };
  /* SWEPT: the fewest floats that are read, 256 MiB of them */

/* How many multiply-adds take four milliseconds? That is long for any clock, and short for a
   person. It is measured and not assumed: a processor without a fused multiply-add needs very much
   longer for each. */
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
  /* written once before it is read: the system would map the same empty page everywhere */
  for (size_t i = 0; block != NULL && i < swept; i++) block[i] = 1;
  for (int r = 0; block != NULL && r < PROBES; r++)
    roofline_round(e, &p, &madds[r], &bytes[r]);
  if (block != NULL) *out = (struct roofline) {
    timing_quartiles(madds, PROBES).median,
    timing_quartiles(bytes, PROBES).median };
  memory_free(m, block);
  memory_free(m, of);
  return block != NULL;
}
