/* sharing.h -- made from chapters/09-search.w; change it there */

#ifndef INCIPIT_SHARING_H
#define INCIPIT_SHARING_H
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "search/search.h"

/* <Beams that share a cache> */

/* slot[max_beams] are the sequences of the n beams of the last step;
   prev_slot[max_beams] and which[max_beams] are scratch */
struct search_model { struct generate_context g;
  size_t chunk, max_beams, n, *which;
  uint32_t *slot, *prev_slot; };

/* makes from a source for one search: g->s must be a cache with num_beams sequences
   or more, whose rows may serve if sequence 0 begins like the prompt, and else are
   dropped; the prompt is read in passes of chunk rows, 0: in one. s and what g
   borrows must outlive from */
bool search_model_open(struct search_model *s, const struct generate_context *g,
  size_t num_beams, size_t chunk, struct search_source *from,
  struct error *why);

/* returns what was taken; the rows stay in the cache */
void search_model_close(struct search_model *s);

/* <The best of several texts> */

/* the best text; the sum of its log-probabilities, and its number among the others */
struct best_of { struct continuation best; double logprob;
  size_t winner; };

/* writes n >=1 texts, number i with sampler->sequence == i, and gives the one with
   the highest log-probability per token, of equal ones the first; want's sampler and
   watcher are not asked. Errors: those of generate. On failure out is empty */
bool best_of_write(const struct generate_context *g, struct sampler *sampler,
  const uint32_t *prompt, size_t n_prompt, const struct generate_options *want,
  size_t n, struct best_of *out, struct error *why);

/* returns the text */
void best_of_free(struct memory *m, struct best_of *b);
#endif
