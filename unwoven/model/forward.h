/* forward.h -- a forward pass: from rows to hidden states, and from those to logits.

   The functions take the engine first. Then come the model, which none of them changes, and the
   store, which is all of a text that stays from one pass to the next. A caller may want only the
   first step, so logits are a second one: a row that is not asked for costs no product with the
   vocabulary. */

#ifndef INCIPIT_FORWARD_H
#define INCIPIT_FORWARD_H
#include "model/counters.h"
#include "model/pass.h"
#include "model/store.h"

/* puts n rows through all layers and commits them to the store; *made is owned by the
   caller. On failure nothing has been stored and there is no pass. It is a failure,
   too, if e->progress, which is asked between the layers and within them every 64 rows or more,
   gives the pass up */
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);

/* the same, with a watcher; a null watch is none */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why);

/* returns the memory of a pass; does nothing for null */
void pass_close(struct pass *p);

/* true if the hidden state of row i is finite; else a sentence that names the layer */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why);

/* logits [n][vocab_size] of the rows which[0]..., in that order, each below p->n; a
   row may be named twice */
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why);

/* the naive way: empties the store, runs n ids through one pass as sequence 0, and
   gives the logits [wanted][vocab_size] of the positions which */
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why);

/* natural logarithms of the probability of each id after those before it, logprob[i]
   for i from 1 on; logprob[0] is 0, and stands for nothing; *sum adds them in order.
   A logit that is not finite is an error */
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why);
#endif
