/* parameters.c -- the parameters of all stages, for whoever wants all of them.

   The rows of chapter 7 hold up to STAGE_OPTIONS parameters each.  The options of the command, the keys of
   the protocol and the checks do not care where one row ends, so they count from 0.  A parameter
   is set by its place and its type, whatever it is called. */

#include "sampling/sampling.h"

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

/* the stages in the order of their rows, each with the value at which it changes nothing */
struct sampling_params sampling_default(void)
{
  struct sampling_params s = { .n_stages = N_SAMPLE_STAGES };
  const struct sampling_option *r;
  for (int i = 0; i < N_SAMPLE_STAGES; i++) s.stage[i] = (enum sample_stage) i;
  for (size_t i = 0; (r = sampling_option_at(i, NULL)) != NULL; i++)
    sampling_option_set(&s, r, r->neutral, (int64_t) r->neutral);
  return s;
}
