/* measure.h -- made from chapters/05-phases.w; change it there */

#ifndef INCIPIT_MEASURE_H
#define INCIPIT_MEASURE_H
#include "phases/phases.h"

/* one worker: its multiply-adds, and a result, so that no compiler leaves them out */
struct probe_part { uint64_t done; float left; };

/* block[swept], of[workers]; each worker does spins multiply-adds, or a few more */
struct roofline_probe { const struct kernels *k; const float *block;
  size_t swept; struct probe_part *of; uint64_t spins; };

/* one round: multiply-adds and bytes a second of all workers together */
void roofline_round(const struct engine *e, struct roofline_probe *p,
  double *madds, double *bytes);
#endif
