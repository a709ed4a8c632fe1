/* acceptance.h -- made from chapters/13-speculation.w; change it there */

#ifndef INCIPIT_ACCEPTANCE_H
#define INCIPIT_ACCEPTANCE_H
#include <stddef.h>

/* compensated */
double sum_carefully(const double *x, size_t n);

/* for a model's probabilities p[n] and a drafter's q[n]: with which probability each
   guess is accepted, how often one is, and from which distribution a refused one is
   replaced; returns the sum by which residual was divided: if 0, nothing is ever
   refused, and residual is all zeros */
double acceptance_of(const double *p, const double *q, size_t n, double *accept,
  double *residual, double *rate);

/* how often two choices by funnel_choose agree that have the same noise */
double coupled_rate(const double *p, const double *q, size_t n);
#endif
