/* decode_setup.h -- how tokens are chosen, and what ends a text, from the model's files and the
   command line. */
#ifndef INCIPIT_DECODE_SETUP_H
#define INCIPIT_DECODE_SETUP_H
#include "constraint_setup.h"
#include "sampler_setup.h"
#include "stop_setup.h"

/* how tokens are chosen and what ends a text. It must stay where it is: it points to itself */
struct decode_setup {
  struct sampler_setup choice;
  struct constraint_setup match;
  uint64_t sequences;         /* how many texts are wanted */
  struct bytes said;          /* the stop strings, one after the other */
  struct stop_string *stop;   /* [n_stop], places in said */
  size_t n_stop;
  struct stop_setup ends;
};

/* tells the loop who chooses and who judges */
void decode_setup_apply(struct decode_setup *x, const struct invocation *a,
  struct generate_options *want);

/* the settings of the line and of the model; returns an exit status: STATUS_USAGE for an id that
   the model does not have, STATUS_FAILED for memory; x is to be closed in any case */
int decode_setup_open(struct decode_setup *x, const struct invocation *a,
  struct error *why);

/* returns what was taken */
void decode_setup_close(struct memory *m, struct decode_setup *x);

/* how many tokens the constraint allowed when the last one was chosen; the vocabulary without
   a constraint */
size_t decode_setup_allowed(const struct decode_setup *x);

/* why the last token was chosen: greedy, sampled, or forced, which is to say that no other
   was left */
const char *decode_setup_reason(const struct decode_setup *x);
#endif
