/* toy.h -- the model of chapter 2's hand calculation, as if it had come out of a file.

   So what runs is the engine itself and not a copy of it that was made for the occasion. All its
   numbers are in one structure, one after the other, so that an experiment can fill them at
   random. It is linked to the programs of chapters and of the laboratory, and is no part of the
   library. */

#ifndef INCIPIT_TOY_H
#define INCIPIT_TOY_H
#include "model/forward.h"

/* tokens, numbers in a row, positions; the token that ends a text */
enum { TOY_WORDS = 4, TOY_WIDTH = 4, TOY_PLACES = 16, TOY_STOP = 3 };

/* its numbers, and the model around them; lm points into the rest, so a toy is not to
   be moved */
struct toy {
  float token[TOY_WORDS][TOY_WIDTH], place[TOY_PLACES][TOY_WIDTH];
  float query[TOY_WIDTH][TOY_WIDTH], key[TOY_WIDTH][TOY_WIDTH];
  float value[TOY_WIDTH][TOY_WIDTH], joined[TOY_WIDTH][TOY_WIDTH];
  float gate[TOY_WIDTH], up[TOY_WIDTH], down[TOY_WIDTH];
  float asked[TOY_WORDS][TOY_WIDTH];
  struct model_layer only;
  struct model lm;
};

/* fills in the numbers of the box and the model around them */
void toy_make(struct toy *y);

/* every stage of a pass, and the logits and probabilities of every row */
struct toy_trace {
  float x[TAP_LAYER + 1][8 * TOY_PLACES], logits[TOY_WORDS * TOY_PLACES];
  double chance[TOY_WORDS * TOY_PLACES];
};

/* runs n tokens in an empty store and keeps what there was to see; errors: those of
   model_forward */
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct toy_trace *a, struct error *why);

/* of head h in row r, for the keys of the first three */
void toy_scores(const struct toy_trace *a, int r, int h, float score[3]);

/* prints what the hand has computed, and what the model says after each row */
bool toy_print(struct engine *e, const struct toy *y, struct store *s,
  struct error *why);
#endif
