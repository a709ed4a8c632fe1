/* store.h -- made from chapters/02-model.w; change it there */

/* 2.25  store.h */

#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "A14-families/model.h"

/* 2.26  A row is three numbers */

struct row {
  uint32_t sequence, position, token;
};
/* a token at a position (from 0) of a sequence (from 0) */

/* 2.27  What a store can do */

struct store;
struct store_kind {
  bool (*begin)(struct store * s, const struct row * rows, size_t n,
                struct error * why);
/* as store_begin */

  void (*put)(struct store * s, uint32_t layer, const float *k, const float *v);
/* as store_put */

  void (*show)(const struct store * s, uint32_t layer, size_t i, struct view * v);
/* as store_view */

  void (*end)(struct store * s, bool commit);
/* as store_commit, or as store_abort */

  void (*empty)(struct store * s);
/* as store_empty */

  void (*close)(struct store * s);
/* as store_close, but never for null */

};

/* 2.28  The store as others see it */

struct store {
  const struct store_kind *kind;
  struct memory *m;
/* where passes through this store take their memory */

  uint32_t n_sequences, n_positions;
/* the most it holds */

  size_t row_bytes;
/* keys and values of one row in one layer, as stored */

  size_t seen, recomputed;
};
/* the part that all stores have in common. seen: rows of the store that some
 * row of the present pass sees in the layer that was put last, set by
 * store_put; recomputed: rows of the pass that an earlier pass had computed,
 * with the same tokens up to there, set by store_begin */

/* 2.29  The store as others see it */

bool store_begin(struct store *s, const struct row *rows, size_t n,
                 struct error *why);
/* admits a pass of n rows or refuses it in words: a sequence or position out
 * of range, a gap, a position given twice or stored already; rows must live
 * until the end of the pass */

/* 2.30  The store as others see it */

void store_put(struct store *s, uint32_t layer, const float *k, const float *v);
/* keys and values of all rows of the pass, [n][n_kv_heads*head_dim] each */

void store_view(const struct store *s, uint32_t layer, size_t i, struct view *v);
/* what row number i of the pass sees in layer */

/* 2.31  The store as others see it */

void store_commit(struct store *s);
/* ends the pass: its rows belong to the store */

void store_abort(struct store *s);
/* ends the pass as if it had not been */

void store_empty(struct store *s);
/* forgets all rows, but not which tokens have been computed */

void store_close(struct store *s);
/* returns the memory; null is nothing */

/* 2.33  A store of one block a sequence */

struct store *store_open(struct memory *m, const struct model_config *c,
                         uint32_t n_sequences, struct error *why);
/* a store for n_sequences sequences of a model, in float32, empty; null and
 * a sentence if memory is refused. Owned by the caller */

#endif
