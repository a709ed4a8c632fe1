/* active.c -- how many of a model's numbers one row uses.

   With experts these are not all: of each layer's a row uses those that it has chosen. */

#include "accounts/accounts.h"

uint64_t footprint_active(const struct model_config *c)
{
  uint64_t rest = c->n_experts - c->n_chosen, d = c->d_model, f = c->d_expert;
  uint64_t each = 3 * d * f + (c->mlp_bias ? 2 * f + d : 0);
  return footprint_parameters(c) - rest * each * config_sparse_layers(c);
}
