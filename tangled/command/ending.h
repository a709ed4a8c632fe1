/* ending.h -- made from workshop/14-command.w; change it there */

/* B.119  ending.h */

#ifndef INCIPIT_ENDING_H
#define INCIPIT_ENDING_H
#include "sampling/sampling.h"
#include "stopping/stopping.h"

/* B.116  What ends a text */

struct endings {
  struct stops until;
  struct outflow flow;
  size_t repeat;
  struct criterion list[3];
  struct criteria all;
};
/* stop strings, what has been said so far, and the list: a string, so many
 * tokens three times in a row, a text that can't go on */

bool endings_open(struct endings *x, struct memory *m,
                  const struct tokenizer *t, const struct stop_string *stop,
                  size_t n, struct sampler *d, struct error *why);
/* the list for stop[n], borrowed like the rest; t may be null; what else the
 * outflow may be told, and repeat, is zero and may be set; on failure there
 * is nothing to close, but it does no harm. x must stay where it is */

void endings_close(struct endings *x);
/* returns what was taken */

bool endings_begin(struct endings *x, const uint32_t * id, size_t n,
                   struct error *why);
/* a new text behind the prompt id[n] */

#endif
