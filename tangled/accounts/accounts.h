/* accounts.h -- made from chapters/06-memory.w; change it there */

#ifndef INCIPIT_ACCOUNTS_H
#define INCIPIT_ACCOUNTS_H
#include "model/forward.h"
#include "accounts/formats.h"

/* <What is there once> */

/* the most kinds of tensors that a model has */
enum { FOOTPRINT_MAX_TENSORS = 16 };

/* a kind of tensor: each has so many numbers, and there are so many times */
struct tensor_line { const char *name; uint64_t each, times; };

/* the kinds of tensors that a model of these settings has, in the order of a pass;
   returns how many kinds */
size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS]);

/* how many numbers these are together; settings with which they are more than 64 bits
   can count are nobody's, and not looked for */
uint64_t footprint_parameters(const struct model_config *c);

/* the bytes, as stored, of all tensors that an open model uses */
uint64_t footprint_weights(const struct model *lm);

/* <What each token leaves> */

/* how rows are kept; tokens of a text; texts; rows of a page and rows of the longest
   pass, where 0 is taken for 1 */
struct cache_plan { const struct kv_format *format; uint64_t context, batch;
  uint64_t page_rows, pass; };

/* the bytes that one token leaves in all layers */
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f);

/* the rows that a text needs in layer at most, in whole pages */
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p);

/* the bytes of the whole cache: what a cache_open takes that is told to take all
   preallocate; errors: blocks that do not fit a head; more than 63 bits can count */
bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why);

/* <What a pass borrows> */

/* the bytes that model_forward takes and returns for a pass of rows rows, the last of
   which is at position max_len-1 */
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers);

/* <Whether it fits> */

/* the longest context that p->batch texts may have, so that weights and their cache
   take budget bytes at most; UINT64_MAX if the cache does not grow */
uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);

/* how many texts of p->context tokens; UINT64_MAX if they take nothing */
uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget);

/* <Models that everybody names> */

/* the settings of a published model by which its memory is reckoned */
struct named_shape { const char *name, *family, *source;
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers, n_heads,
    n_kv_heads, head_dim, window; bool tied; };

/* line number i of the table; null after the last */
const struct named_shape *named_shape_at(size_t i);

/* the settings of a model by its name in the table; false and a sentence that lists
   the names */
bool named_shape_find(const char *name, struct model_config *c, struct error *why);
#endif
