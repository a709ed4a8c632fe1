/* laboratory.h -- made from chapters/03-loop.w; change it there */

#ifndef INCIPIT_LABORATORY_H
#define INCIPIT_LABORATORY_H
#include "loop/parrot.h"
enum { WORDS = PARROT_WORDS, CONTEXT = PARROT_CONTEXT };

/* <A laboratory to run the loop in> */
struct laboratory {
  struct memory m;
  struct counters c;
  struct kernels idle;
  struct parrot bird;
  struct engine e;
  struct model *pocket;
  uint32_t sentence[PARROT_WORDS];
};

/* makes the parrot, and opens the built-in model and its tokenizer in models/pocket.
   May be closed also if it fails */
bool laboratory_open(struct laboratory *lab, struct error *why);

/* returns what was taken */
void laboratory_close(struct laboratory *lab);
#endif
