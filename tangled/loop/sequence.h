/* sequence.h -- made from workshop/28-loop.w; change it there */

#ifndef INCIPIT_SEQUENCE_H
#define INCIPIT_SEQUENCE_H
#include "loop/generate.h"

/* are the hidden states of row last finite? If not, the message names the first row
   of the text, from first on, of which this is not so */
bool finite_until(const struct model *lm, const struct pass *p,
  size_t first, size_t last, struct error *why);

/* lets progress be counted over the text of q, null: over a pass; p may be null */
void tell_of_text(struct progress *p, const struct sequence *q);
#endif
