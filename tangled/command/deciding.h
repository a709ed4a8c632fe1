/* deciding.h -- made from workshop/14-command.w; change it there */

/* B.138  deciding.h */

#ifndef INCIPIT_DECIDING_H
#define INCIPIT_DECIDING_H
#include "command/ending.h"
#include "command/prompt.h"

/* B.121  What decides */

struct decisions {
  struct sampler d;
  struct ids id;
  struct biased *biased;
  size_t room;
  uint64_t sequences;
  struct constraint *must;
  struct lexicon *words;
  struct bytes said;
  struct stop_string *stop;
  size_t n_stop;
  struct endings ends;
};
/* a sampler, the lists that its settings point into, how many texts are
 * wanted, what they must match, or null, and the tokens in order for it; the
 * stop strings, one behind the other in said; and what ends a text. It must
 * stay where it is */

void decisions_apply(struct decisions *x, const struct occasion *a,
                     struct settings *want);
/* tells the loop who chooses and who judges */

int decisions_open(struct decisions *x, const struct occasion *a,
                   struct error *why);
/* the settings of the line and of the model; returns an exit status:
 * STATUS_USAGE for an id that the model has not, STATUS_FAILED for memory; x
 * is to be closed in any case */

void decisions_close(struct memory *m, struct decisions *x);
/* returns what was taken */

bool decisions_greedy(const struct decisions *x);
/* is the likeliest token taken, whatever the seed? */

const char *decisions_reason(const struct decisions *x);
/* why the last token was chosen: greedy, sampled, or forced, which is to say
 * that no other was left */

#endif
