/* inside.c -- made from workshop/27-sampling.w; change it there */

#include "sampling/sampling.h"

/* <Allocate and free the buffers> */
bool funnel_open(struct funnel *f, struct memory *m,
  const struct kernels *k, size_t vocab, struct error *why)
{
  *f = (struct funnel) { .buffers.m = m, .k = k, .vocab = vocab };
  struct arena *a = &f->buffers;
  f->score = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->weight = arena_alloc(a, MEMORY_OTHER, vocab, 8, why);
  f->candidates = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->count = arena_alloc(a, MEMORY_OTHER, vocab, 4, why);
  f->sort_buf = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  f->sort_spare = arena_alloc(a, MEMORY_OTHER, vocab, 16, why);
  if (!a->refused) return true;
  funnel_close(f);
  return false;
}

void funnel_close(struct funnel *f)
{
  arena_free(&f->buffers);
  *f = (struct funnel) { .vocab = 0 };
}

/* <Accept, save and restore> */
bool sampler_accept(void *ctx, uint32_t id, struct error *why)
{
  const struct sampler *d = ctx;
  return d->rule.take == NULL || d->rule.take(d->rule.ctx, id, why);
}

uint32_t sampler_save(const struct sampler *d)
{
  return d->rule.save == NULL ? 0 : d->rule.save(d->rule.ctx);
}

void sampler_restore(struct sampler *d, uint32_t state)
{
  if (d->rule.restore != NULL) d->rule.restore(d->rule.ctx, state);
}
