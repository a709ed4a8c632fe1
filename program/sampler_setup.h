/* sampler_setup.h -- how tokens are chosen, from the model's files and the command line. */
#ifndef INCIPIT_SAMPLER_SETUP_H
#define INCIPIT_SAMPLER_SETUP_H
#include "sampling/sampling.h"
#include "prompt.h"

/* a sampler, and the lists that its settings point into */
struct sampler_setup {
  struct sampler d;
  struct ids id;
  struct sequence_bias *biased;      /* [cap] */
  size_t cap;
};

/* the settings of a model alone: greedy, unless its makers want it to draw */
void sampler_setup_defaults(struct sampling_params *s, const struct sampling_defaults *makers);

/* the settings of the line and of the model; returns an exit status: STATUS_USAGE for an id that
   the model does not have, STATUS_FAILED for memory; x is to be closed in any case */
int sampler_setup_open(struct sampler_setup *x, const struct invocation *a, struct error *why);

/* returns what was taken */
void sampler_setup_close(struct memory *m, struct sampler_setup *x);

/* is the likeliest token taken, whatever the seed? */
bool sampler_setup_greedy(const struct sampler_setup *x);
#endif
