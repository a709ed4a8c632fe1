/* store.h -- where keys and values are kept from one pass to the next, and what a
   pass asks of such a place.
   made from chapters/02-model.w; change it there

   Four rules hold for every kind of store. The positions of a sequence grow from pass
   to pass without a gap. A pass is accepted whole or refused whole. In every layer
   the keys and values of all rows are stored before any row of that layer attends.
   Until the pass has ended none of its rows counts: a pass that fails in the middle
   leaves nothing. */

#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "model/model.h"

/* a token at a position (from 0) of a sequence (from 0) */
struct row { uint32_t sequence, position, token; };

/* <What a kind of store does in its own way> */
struct store;

/* what kinds of store do differently */
struct store_kind {
  /* finds a place for each of rows, or refuses; sets rows_recomputed */
  bool (*begin)(struct store *s, struct error *why);
  /* the rows belong to the store from now on, or have never been */
  void (*end)(struct store *s, bool commit);
  /* as store_view, without the sinks */
  void (*view)(const struct store *s, uint32_t layer, uint32_t sequence,
    struct kv_view *v);
  size_t (*length)(const struct store *s, uint32_t sequence);
  const uint32_t *(*tokens)(const struct store *s, uint32_t sequence);
  void (*crop)(struct store *s, uint32_t sequence, size_t length);
  /* as the functions store_length, ..., store_fork; fork may be null */
  bool (*fork)(struct store *s, uint32_t from, uint32_t to, struct error *why);
  /* frees the store itself and what its kind has allocated */
  void (*close)(struct store *s);
};

/* <What all stores have in common> */

/* rows_visible: rows of the store that some row of the present pass sees in the layer
   last given to store_segments; rows_recomputed: rows of the pass that an earlier
   pass had computed, with the same tokens up to there, set by store_begin */
struct store {
  const struct store_kind *kind;
  struct memory *m; /* where passes through this store take their memory */
  const struct buffers *memory; /* where its keys and values are; store_prepare: the host's */
  kv_encode *encode; /* writes them in the type in which they are kept; store_prepare: float32 */
  uint32_t n_sequences, n_positions; /* the most it holds */
  uint32_t n_layers, n_kv_heads, head_dim; /* of the model */
  uint32_t sinks, *window; /* first positions that are always seen; [n_layers], how
                              many a row sees in each layer, 0: all */
  size_t row_bytes; /* keys and values of one row in one layer, as stored */
  const struct row *rows; size_t n_rows; /* of the present pass; 0 between passes */
  bool *stretched, turning; /* [n_sequences], whether the keys are turned as in long texts;
                               whether they are being turned anew; null but for models with long_frequency */
  size_t rows_visible, rows_recomputed;
};

/* <What a pass asks of a store> */

/* accepts a pass of n rows or refuses it: a sequence or position out of range, a gap,
   a position given twice or stored already; rows must live until the end of the pass */
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);

/* the segments of the pass in layer, each of at most most >=1 rows; returns how many,
   which is at most the number of rows */
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list);

/* where the keys and values of a sequence are in layer, those of the present pass
   among them */
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v);

/* ends the pass: its rows belong to the store */
void store_commit(struct store *s);

/* ends the pass as if it had not been */
void store_abort(struct store *s);

/* <What its owner asks> */

/* the rows that sequence has: the position that comes next */
size_t store_length(const struct store *s, uint32_t sequence);

/* [store_length]: their tokens; owned by the store, valid until its next pass */
const uint32_t *store_tokens(const struct store *s, uint32_t sequence);

/* forgets the rows of sequence from position length on, but not which tokens have
   been computed. Cropping to the present length or more removes no row. If a window
   has let go of rows that the next row would need, the whole sequence is forgotten */
void store_crop(struct store *s, uint32_t sequence, size_t length);

/* crops all sequences to nothing */
void store_clear(struct store *s);

/* the first position that a row at position sees in layer, sinks aside */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position);

/* makes the empty sequence to equal to from, without computing anything; errors: a
   kind of store that cannot, to has rows, a number out of range, a pass going on,
   memory; then to is empty */
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why);

/* returns the memory; does nothing for null */
void store_close(struct store *s);

/* fills in the part that all kinds of store have in common */
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why);

/* an empty store for one text of a model, in float32; null if memory is refused.
   Owned by the caller, and closed by store_close */
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why);
#endif
