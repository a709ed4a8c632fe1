/* laboratory.h -- made from chapters/03-loop.w; change it there */

#ifndef INCIPIT_LABORATORY_H
#define INCIPIT_LABORATORY_H
#include "model/forward.h"

/* <A model that knows one sentence by heart> */
enum { WORDS = 7, WIDTH = 8, CONTEXT = 4096 };

/* the sentence, a token each */
extern const char *const parrot_word[WORDS];

/* embedding, head, and what the one layer needs; lm points into the rest, so a parrot
   is not to be moved */
struct parrot {
  float unit[WORDS][WIDTH], follows[WORDS][WIDTH], ones[WIDTH];
  float frequency[WIDTH / 2];
  struct model_layer only;
  struct model lm;
};

/* <A laboratory to run the loop in> */
struct laboratory {
  struct memory m;
  struct counters c;
  struct kernels idle;
  struct parrot bird;
  struct engine e;
  struct model *pocket;
  uint32_t sentence[WORDS];
};

/* makes the parrot, and opens the built-in model and its tokenizer in models/pocket.
   May be closed also if it fails */
bool laboratory_open(struct laboratory *lab, struct error *why);

/* returns what was taken */
void laboratory_close(struct laboratory *lab);
#endif
