/* drafter.h -- made from chapters/13-speculation.w; change it there */

#ifndef INCIPIT_DRAFTER_H
#define INCIPIT_DRAFTER_H
#include "model/forward.h"
#include "speculation/speculate.h"

/* <A smaller model, and its cache> */

/* a smaller model, and its cache */
struct drafter {
  struct engine e; struct counters c; /* it counts for itself */
  const struct model *lm; /* borrowed */
  struct store *s; /* with a sequence for each of ours */
  struct memory *m;
  size_t pass_rows; /* the most rows of a text in a pass */
};

/* lm, which is borrowed as m is, guesses for up to n_sequences texts, with the
   kernels and the pool of e. It must stay where it is. On failure there is nothing to
   close */
bool drafter_open(struct drafter *d, const struct engine *e, const struct model *lm,
  struct memory *m, uint32_t n_sequences, struct error *why);

/* returns the cache */
void drafter_close(struct drafter *d);

/* a guess_tokens; ctx is a struct drafter of a model with the same vocabulary. Texts
   whose choices are those of no sampler that we know, or that are longer than its
   context, get no guesses */
void guess_by_draft(void *ctx, const struct generate_context *g,
  struct sequence *const *list, size_t n);
#endif
