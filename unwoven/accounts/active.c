/* active.c -- how many of a model's numbers one row uses.

   With experts these are not all: of each layer's a row uses those that it has chosen. */

#include "accounts/accounts.h"

uint64_t footprint_active(const struct model_config *c)
{
  uint64_t rest = c->n_experts - c->n_chosen;
  return footprint_parameters(c)
    - rest * 3 * c->d_model * c->d_expert * config_sparse_layers(c);
}
