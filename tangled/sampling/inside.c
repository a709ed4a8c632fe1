/* inside.c -- made from workshop/27-sampling.w; change it there */

#include "sampling/sampling.h"

/* <Find a parameter, and set it> */
const struct sampling_option *sampling_option_at(size_t i, enum sample_stage *stage)
{
  for (int k = 0; k < N_SAMPLE_STAGES; k++) {
    const struct sampling_option *r = sampling_row((enum sample_stage) k)->option;
    for (int j = 0; j < STAGE_OPTIONS && r[j].name != NULL; j++)
      if (i-- == 0) {
        if (stage != NULL) *stage = (enum sample_stage) k;
        return &r[j];
      }
  }
  return NULL;
}

void sampling_option_set(struct sampling_params *s, const struct sampling_option *r,
  double x, int64_t n)
{
  void *at = (char *) s + r->at;
  switch (r->type) {
  case SAMPLING_REAL: *(double *) at = x; break;
  case SAMPLING_COUNT: *(size_t *) at = (size_t) n; break;
  case SAMPLING_WINDOW: *(int64_t *) at = n; break;
  }
}

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
