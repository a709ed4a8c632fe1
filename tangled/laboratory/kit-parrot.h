/* kit-parrot.h -- made from laboratory/00-kit.w; change it there */

#ifndef INCIPIT_KIT_PARROT_H
#define INCIPIT_KIT_PARROT_H
#include "model/forward.h"

/* <A model that knows one sentence by heart> */

/* tokens it knows, numbers in a row, positions */
enum { PARROT_WORDS = 7, PARROT_WIDTH = 8, PARROT_CONTEXT = 4096 };

/* the sentence, a token each */
extern const char *const parrot_word[PARROT_WORDS];

/* embedding, head, and what the one layer needs; lm points into the rest, so a parrot
   is not to be moved */
struct parrot {
  float unit[PARROT_WORDS][PARROT_WIDTH],
    follows[PARROT_WORDS][PARROT_WIDTH], ones[PARROT_WIDTH];
  float frequency[PARROT_WIDTH / 2];
  struct model_layer only;
  struct model lm;
};

/* fills it in; nothing is allocated */
void parrot_make(struct parrot *p);

/* a copy of best that leaves out what the parrot does not need */
void parrot_kernels(struct kernels *idle, const struct kernels *best);
#endif
