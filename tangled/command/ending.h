/* ending.h -- made from workshop/14-command.w; change it there */

#ifndef INCIPIT_ENDING_H
#define INCIPIT_ENDING_H
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "constraints/bond.h"

/* <What ends a text> */

/* stop strings, what has been said so far, and the list: a string, so many tokens
   three times in a row, a text that can't go on */
struct endings { struct stops until; struct outflow flow; size_t repeat;
  struct criterion list[3]; struct criteria all; };

/* the list for stop[n], borrowed like the rest; t and b may be null; what else the
   outflow may be told, and repeat, is zero and may be set; on failure there is
   nothing to close, but it does no harm. x must stay where it is */
bool endings_open(struct endings *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,
  struct bond *b, struct error *why);

/* returns what was taken */
void endings_close(struct endings *x);

/* a new text behind the prompt id[n] */
bool endings_begin(struct endings *x, const uint32_t *id, size_t n,
  struct error *why);
#endif
