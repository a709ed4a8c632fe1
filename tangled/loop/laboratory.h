/* laboratory.h -- made from chapters/loop.w; change it there */

/* 3.52  laboratory.h */

#ifndef INCIPIT_LABORATORY_H
#define INCIPIT_LABORATORY_H
#include "model/forward.h"

/* 3.42  A model that knows one sentence by heart */

enum { WORDS = 7, WIDTH = 8, CONTEXT = 4096 };
extern const char *const parrot_word[WORDS];
/* the sentence, a token each */

struct parrot {
  float unit[WORDS][WIDTH], follows[WORDS][WIDTH], ones[WIDTH];
  float frequency[WIDTH / 2];
  struct model_layer only;
  struct model lm;
};
/* embedding, head, and what the one layer needs; lm points into the rest, so
 * a parrot is not to be moved */

/* 3.48  A laboratory to run the loop in */

struct laboratory {
  struct memory m;
  struct counters c;
  struct kernels idle;
  struct parrot bird;
  struct engine e;
  struct model *pocket;
  uint32_t sentence[WORDS];
};
bool laboratory_open(struct laboratory *lab, struct error *why);
/* makes the parrot, and opens the built-in model and its tokenizer in
 * models/pocket. May be closed also if it fails */

void laboratory_close(struct laboratory *lab);
/* returns what was taken */

double laboratory_seconds(void);
/* the time, in seconds since some moment */

struct quartiles {
  double low, median, high;
};
struct quartiles laboratory_quartiles(double *x, size_t n);
/* sorts n >=1 numbers, and says what stands at the quarters */

#endif
