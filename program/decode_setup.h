/* decode_setup.h -- how tokens are chosen, and what ends a text, from the model's files and the
   command line. */
#ifndef INCIPIT_DECODE_SETUP_H
#define INCIPIT_DECODE_SETUP_H
#include "stop_setup.h"
#include "prompt.h"

/* how tokens are chosen and what ends a text. It must stay where it is: it points to itself */
struct decode_setup {
  struct sampler d;
  struct ids id;              /* the lists that the sampler's settings point into */
  struct sequence_bias *biased;      /* [room] */
  size_t cap;
  uint64_t sequences;         /* how many texts are wanted */
  struct constraint *must;    /* what they must match, or null */
  struct constraint_cursor bond;           /* how far a text has come in it */
  struct lexicon *words;      /* the tokens in order for it */
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

/* is the likeliest token taken, whatever the seed? */
bool decode_setup_greedy(const struct decode_setup *x);

/* how many tokens the constraint allowed when the last one was chosen; the vocabulary without
   a constraint */
size_t decode_setup_allowed(const struct decode_setup *x);

/* why the last token was chosen: greedy, sampled, or forced, which is to say that no other
   was left */
const char *decode_setup_reason(const struct decode_setup *x);
#endif
