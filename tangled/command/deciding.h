/* deciding.h -- made from workshop/14-command.w; change it there */

#ifndef INCIPIT_DECIDING_H
#define INCIPIT_DECIDING_H
#include "command/ending.h"
#include "command/prompt.h"

/* <What decides> */

/* a sampler, the lists that its settings point into, how many texts are wanted, what
   they must match, or null, how far a text has come in it, and the tokens in order
   for it; the stop strings, one behind the other in said; and what ends a text. It
   must stay where it is */
struct decisions { struct sampler d; struct ids id; struct biased *biased;
  size_t room; uint64_t sequences; struct constraint *must;
  struct bond bond; struct lexicon *words; struct bytes said; struct stop_string *stop;
  size_t n_stop; struct endings ends; };

/* tells the loop who chooses and who judges */
void decisions_apply(struct decisions *x, const struct occasion *a,
  struct settings *want);

/* the settings of the line and of the model; returns an exit status: STATUS_USAGE for
   an id that the model has not, STATUS_FAILED for memory; x is to be closed in any
   case */
int decisions_open(struct decisions *x, const struct occasion *a,
  struct error *why);

/* returns what was taken */
void decisions_close(struct memory *m, struct decisions *x);

/* is the likeliest token taken, whatever the seed? */
bool decisions_greedy(const struct decisions *x);

/* why the last token was chosen: greedy, sampled, or forced, which is to say that no
   other was left */
const char *decisions_reason(const struct decisions *x);
#endif
