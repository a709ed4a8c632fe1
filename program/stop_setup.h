/* stop_setup.h -- what ends a text, in one list for the loop; the probe makes such a list as
   well. */
#ifndef INCIPIT_STOP_SETUP_H
#define INCIPIT_STOP_SETUP_H
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "constraints/bond.h"

/* stop strings, what has been said so far, and the list of criteria: a stop string, the same
   repeat tokens three times in a row, a constraint that allows nothing more. named, if not null, and borrowed: special tokens
   whose names are text here, where others have none */
struct stop_setup {
  const struct ids *named;
  struct stops until;
  struct text_stream flow;
  size_t repeat;
  struct criterion list[3];
  struct criteria all;
};

/* the list for stop[n], borrowed like the rest; t and b may be null; what else the outflow may be
   told, and repeat, is zero and may be set; on failure there is nothing to close, but it
   does no harm. x must stay where it is */
bool stop_setup_open(struct stop_setup *x, struct memory *m,
  const struct tokenizer *t, const struct stop_string *stop, size_t n,
  struct constraint_cursor *b, struct error *why);

/* returns what was taken */
void stop_setup_close(struct stop_setup *x);

/* begins a new text after the prompt id[n] */
bool stop_setup_begin(struct stop_setup *x, const uint32_t *id, size_t n,
  struct error *why);
#endif
