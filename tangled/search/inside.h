/* inside.h -- made from chapters/09-search.w; change it there */

#ifndef INCIPIT_SEARCH_INSIDE_H
#define INCIPIT_SEARCH_INSIDE_H
#include "sampling/funnel.h"
#include "search/search.h"

/* <What a search keeps> */

/* a search while it runs; want and from are borrowed */
struct search { const struct search_source *from;
  const struct search_settings *want; struct memory *m;
  /* limit: the most tokens of a text; max_candidates: the most candidates; number:
     steps so far */
  size_t n_prompt, limit, max_candidates, number;
  struct funnel f;
  struct arena lists; /* what follows, but for the numbers */
  float *logits; /* [num_beams][vocab] */
  struct search_beam *active, *next; /* [num_beams]: those that grow, those kept */
  size_t n_active, n_next;
  uint32_t *text[2]; /* [num_beams][limit]: the ids of both lists of beams */
  unsigned turn; /* text[turn] has those of active */
  struct search_candidate *list; /* [max_candidates], by rank */
  size_t n_list;
  uint32_t *pooled; /* [num_beams][limit]: the ids of the pool */
  struct search_text *hypotheses; /* [num_beams], best first */
  size_t n_hypotheses; };

/* <The frame of a search> */

/* can a search begin with it? On failure a sentence that says why not */
bool search_check_prompt(const struct search *s, const uint32_t *prompt,
  struct error *why);

/* allocates all that a search keeps; what it has is freed by search_give, even on
   failure */
bool search_take(struct search *s, const struct kernels *k,
  struct error *why);

/* frees it */
void search_give(struct search *s);

/* copies the best of the pool to the caller; on failure out is empty */
bool search_export(struct search *s, struct search_result *out,
  struct error *why);
#endif
