/* settings.h -- the check of a sampler's parameters, for whoever takes them from outside */
#ifndef INCIPIT_SAMPLER_SETTINGS_H
#define INCIPIT_SAMPLER_SETTINGS_H
#include "sampling/sampling.h"

/* is x in the range? */
bool sampling_option_fits(const struct sampling_option *r, double x);

/* the names of all stages, with commas between them */
void sampling_stage_names(char *list, size_t size);

/* sets the list of stages; errors: an unknown name, a name given twice */
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why);

/* are all numbers that a stage of the list reads in range, and all ids below vocab?
   If not, the message names the parameter, the value and the range */
bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why);
#endif
