/* accounts.h -- made from chapters/06-memory.w; change it there */

#ifndef INCIPIT_ACCOUNTS_H
#define INCIPIT_ACCOUNTS_H
#include "model/forward.h"
#include "accounts/formats.h"
#include "accounts/switched.h"

/* <Footprint of the weights> */

/* the most kinds of tensors that a model has */
enum { FOOTPRINT_MAX_TENSORS = 18 };

/* a kind of tensor: the numbers in each of them, and how many times it occurs */
struct tensor_line { const char *name; uint64_t each, times; };

/* lists the kinds of tensors of a model with these settings, in the order of a pass;
   returns the number of kinds */
size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS]);

/* the numbers in all these tensors; the settings must be such that 64 bits can count
   them */
uint64_t footprint_parameters(const struct model_config *c);

/* the bytes, as stored, of all tensors that an open model uses */
uint64_t footprint_weights(const struct model *lm);

/* <Footprint of the cache> */

/* a cache that somebody may open: batch texts of context tokens, whose rows are kept
   in format; page_rows are the rows of a page, pass those of the longest pass; 0
   means 1 */
struct cache_plan { const struct kv_format *format; uint64_t context, batch;
  uint64_t page_rows, pass; };

/* the bytes that one token adds, in all layers */
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f);

/* the most rows that a text needs in layer, in whole pages */
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p);

/* the bytes of the whole cache: what cache_open allocates with preallocate; errors: a
   head is not a multiple of the block; more bytes than 63 bits can count */
bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why);

/* <Footprint of a pass> */

/* the bytes that model_forward allocates for a pass of rows rows, of which the last
   is at position max_len-1; pass_close frees them */
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers);

/* <What fits into a budget> */

/* the longest context that p->batch texts may have so that weights and their cache
   take at most budget bytes; UINT64_MAX if the cache does not grow */
uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);

/* the largest number of texts of p->context tokens; UINT64_MAX if they take no memory */
uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);

/* <Published shapes> */

/* the settings of a published model on which its memory depends */
struct named_shape { const char *name, *family, *source;
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers, n_heads,
    n_kv_heads, head_dim, window; bool tied; uint32_t n_experts, n_chosen, d_expert; };

/* line i of the table; null after the last */
const struct named_shape *named_shape_at(size_t i);

/* the settings of a model by its name in the table; if there is none, false and an
   error that lists the names */
bool named_shape_find(const char *name, struct model_config *c, struct error *why);
#endif
