/* living.h -- The engine for a page: one prompt, and all texts that were begun after
   it.
   made from workshop/20-living.w; change it there */

#ifndef INCIPIT_LIVING_H
#define INCIPIT_LIVING_H
#include "cache/cache.h"
#include "model/forward.h"
#include "sampling/sampling.h"
#include "search/tree.h"
#include "tokenizer/tokenizer.h"

/* <Limits of a page> */

/* tokens that are read; rows of a page of the cache; texts whose rows are kept;
   places; beams */
enum { LIVING_CONTEXT = 512, LIVING_PAGE = 4, LIVING_TEXTS = 32,
  LIVING_NODES = 1024, LIVING_MOST_BEAMS = 16 };

/* <What a text was read for> */

/* logits[vocab_size], null: it was not read; look[n_layers][n_heads][n], the weights
   of the last row; rows of the pass; whether the cache was on; hashes of these
   logits, and of all on the way */
struct living_read { float *logits, *look; size_t rows;
  bool cached; uint64_t hash, chain; struct counters before, after; };

/* <A place in a text> */

/* the token id after parent, as the last of n; whether it ends a text; its
   log-probability and rank among all tokens, and why it was chosen; node 0 is the
   prompt */
struct living_node { uint32_t parent, id; size_t n; bool stop;
  double logprob; size_t rank; const char *why; struct living_read read; };

/* <All that a page has> */

/* a sequence of the cache has the rows of the text that ends at tip; when it was used
   last */
struct living_text { uint32_t tip; bool taken; uint64_t used; };

/* what the page has set */
struct living_wish { bool cache; size_t max_tokens; uint64_t seed;
  struct sampling_params s; };

/* node[n], of which now is the present one; its rows are in sequence at; path has the
   ids of the text that was walked last */
struct living { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s;
  struct ids prompt; struct living_node *node; size_t n; uint32_t now;
  struct living_text text[LIVING_TEXTS]; uint32_t at; uint64_t clock;
  uint32_t path[LIVING_CONTEXT + 1]; double *logprob;
  struct living_wish wish; struct sampler d;
  struct search_result found; struct token_tree grown; uint64_t search_madds;
  struct bytes room, out; float *cell; int32_t shape[7]; struct error why; };

/* <What a page can ask> */

/* opens g->lm and g->t: from files, or from what is built in */
bool living_material(struct living *g);

/* opens the rest, with an empty prompt; *g is zero but for the material */
bool living_begin(struct living *g);

/* returns all memory */
void living_end(struct living *g);

/* another prompt, an empty one being the token that begins a text; on failure the old
   one stays */
bool living_restart(struct living *g, const char *text, size_t n);

/* one token more: *wanted, or for null what the sampler chooses */
bool living_next(struct living *g, const uint32_t *wanted);

/* goes back by a token, which is forgotten unless others were written after it */
bool living_drop(struct living *g);

/* makes node the present one */
bool living_go(struct living *g, uint32_t node);

/* whether the present text has ended */
bool living_over(const struct living *g);

/* what the text up to node has cost */
struct counters living_base(const struct living *g, uint32_t node);

/* puts its ids into g->path; how many */
size_t living_walk(struct living *g, uint32_t node);

/* a beam search from the present text, in a cache of its own */
bool living_search(struct living *g, size_t width, size_t steps);

/* does what a JSON object of n bytes says */
bool living_set(struct living *g, const char *text, size_t n);

/* g->out becomes the present text as JSON, with a zero byte at its end */
bool living_put_state(struct living *g);

/* the same for all places */
bool living_put_tree(struct living *g);

/* and for the stages of the sampler at a place that was read */
bool living_put_stages(struct living *g, uint32_t node);

/* the key and then the value of all heads; null: there is no such row in the cache */
const float *living_cell(struct living *g, uint32_t layer, uint32_t position);
#endif
