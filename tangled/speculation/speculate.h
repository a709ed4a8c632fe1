/* speculate.h -- made from chapters/13-speculation.w; change it there */

#ifndef INCIPIT_SPECULATE_H
#define INCIPIT_SPECULATE_H
#include "loop/generate.h"

/* <Who guesses> */

/* puts at most room ids into guess, which is empty, of each of the n texts; nothing
   else of them is changed */
typedef void guess_tokens(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);

/* of a text in a pass */
enum { MOST_GUESSES = 16 };

/* only the counts are changed here, and they are for others to read */
struct speculation {
  guess_tokens *guess; void *ctx; /* who guesses */
  size_t most; /* guesses of a text in a pass, at most MOST_GUESSES */
  uint64_t guessed, accepted; /* guesses that were read, and those that came true */
  uint64_t came[MOST_GUESSES + 1]; /* texts in passes with guesses, by how many came true */
};

/* as generate_step, with guesses by the struct speculation at ctx, for each text at
   most room; logits has room for 1 + room rows of the vocabulary for each */
bool speculate_step(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n, float *logits, struct error *why);

/* as generate, and writes the same text */
bool speculate(struct speculation *by, const struct generate_context *g,
  const uint32_t *prompt, size_t n, const struct generate_options *want,
  struct continuation *out, struct error *why);
#endif
