/* state.c -- what a sampler remembers between two tokens: nothing but what its rule does.

   A choice depends on logits, parameters, seed and place alone (promise: the same call gives the same
   token), so only the rule of a constraint has a state; a sampler without a rule has none, and the number
   that stands for it is 0. */

#include "sampling/sampling.h"

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
