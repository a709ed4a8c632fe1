/* settings.h -- made from workshop/18-settings.w; change it there */

#ifndef INCIPIT_SAMPLER_SETTINGS_H
#define INCIPIT_SAMPLER_SETTINGS_H
#include "sampling/sampling.h"

/* <Parameters and their ranges> */

/* parameter name of the stage where is at bytes from the beginning of struct
   sampling_params, from low or above_low to high; expected says so in words */
struct sampling_option { const char *name; size_t at;
  enum sample_stage where; double low, high; bool above_low;
  const char *expected; };

/* parameter i of those that are real numbers; null past the last */
const struct sampling_option *sampling_option_at(size_t i);

/* is x in the range? */
bool sampling_option_fits(const struct sampling_option *r, double x);

/* sets the list of stages; errors: an unknown name, a name given twice */
bool sampling_stages_parse(struct sampling_params *s, const char *const *name,
  size_t n, struct error *why);

/* are all numbers that a stage of the list reads in range, and all ids below vocab?
   If not, the message names the parameter, the value and the range */
bool sampling_check(const struct sampling_params *s, size_t vocab,
  struct error *why);
#endif
