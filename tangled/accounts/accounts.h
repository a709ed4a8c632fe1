/* accounts.h -- made from chapters/06-memory.w; change it there */

/* 6.3  accounts.h */

#ifndef INCIPIT_ACCOUNTS_H
#define INCIPIT_ACCOUNTS_H
#include "model/forward.h"
#include "accounts/formats.h"

/* 6.4  What is there once */

enum { TENSOR_LINES = 16 };
struct tensor_line {
  const char *name;
  uint64_t each, times;
};
size_t bill_tensors(const struct model_config *c,
                    struct tensor_line line[TENSOR_LINES]);
/* the kinds of tensors that a model of these settings has, in the order of a
 * pass; returns how many kinds */

uint64_t bill_parameters(const struct model_config *c);
/* how many numbers these are together; settings with which they are more
 * than 64 bits can count are nobody's, and not looked for */

uint64_t bill_weights(const struct model *lm);
/* the bytes, as stored, of all tensors that an open model uses */

/* 6.13  What each token leaves */

struct plan {
  const struct row_format *format;
  uint64_t context, batch;
  uint64_t page_rows, pass;
};
/* how rows are kept; tokens of a text; texts; rows of a page and rows of the
 * longest pass, where 0 is taken for 1 */

uint64_t bill_token(const struct model_config *c, const struct row_format *f);
/* the bytes that one token leaves in all layers */

uint64_t bill_rows(const struct model_config *c, uint32_t layer,
                   const struct plan *p);
/* the rows that a text needs in layer at most, in whole pages */

bool bill_cache(const struct model_config *c, const struct plan *p,
                uint64_t * bytes, struct error *why);
/* the bytes of the whole cache: what a cache_open takes that is told to take
 * all at_once; errors: blocks that do not fit a head; more than 63 bits can
 * count */

/* 6.22  What a pass borrows */

uint64_t bill_pass(const struct model_config *c, uint64_t rows,
                   uint64_t longest, unsigned workers);
/* the bytes that forward takes and returns for a pass of rows rows, the last
 * of which is at position longest-1 */

/* 6.25  What a pass borrows */

uint64_t bill_vocabulary(uint64_t ids, uint64_t merges);
/* the bytes of the four tables of a byte-level vocabulary whose ids come in
 * rising order */

/* 6.27  Whether it fits */

uint64_t bill_max_context(const struct model_config *c, const struct plan *p,
                          uint64_t weights, uint64_t budget);
/* the longest context that p->batch texts may have, so that weights and
 * their cache take budget bytes at most; UINT64_MAX if the cache does not
 * grow */

uint64_t bill_max_batch(const struct model_config *c, const struct plan *p,
                        uint64_t weights, uint64_t budget);
/* how many texts of p->context tokens; UINT64_MAX if they take nothing */

/* 6.18  Models that everybody names */

struct named_shape {
  const char *name, *family, *source;
  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers, n_heads,
      n_kv_heads, head_dim, window;
  bool tied;
};
const struct named_shape *shape_at(size_t i);
/* line number i of the table; null behind the last */

bool shape_find(const char *name, struct model_config *c, struct error *why);
/* the settings of a model by its name in the table; false and a sentence
 * that lists the names */

#endif
