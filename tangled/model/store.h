/* store.h -- made from chapters/02-model.w; change it there */

#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "model/model.h"

/* <A row is three numbers> */

/* a token at a position (from 0) of a sequence (from 0) */
struct row { uint32_t sequence, position, token; };

/* <Who is in a store> */

/* what a store knows of a sequence */
struct kv_sequence {
  size_t length; /* rows of the sequence that count */
  /* [cap]; positions whose tokens are known from earlier passes */
  uint32_t *token; size_t cap, computed;
  size_t first, count; /* its rows in order, while a pass is on */
};

/* order: row numbers by sequence and position, plus one, because 0 must be free to
   say that nobody stands there yet */
struct kv_batch { struct kv_sequence *sequence;
  const struct row *rows; /* of the present pass */
  size_t n, *order; };

/* <What a store can do> */
struct store;

/* the functions that make a kind of store */
struct store_kind {
  /* makes room for the rows of the pass, which are in batch */
  bool (*reserve)(struct store *s, struct error *why);
  /* as store_view, without the sinks */
  void (*view)(const struct store *s, uint32_t layer, uint32_t sequence,
    struct kv_view *v);
  /* the sequence has been cropped, and may be cropped further; null if nothing is to
     be done */
  void (*truncated)(struct store *s, uint32_t sequence);
  /* as store_fork, which has copied the tokens already; null: this kind cannot fork */
  bool (*fork)(struct store *s, uint32_t from, uint32_t to, struct error *why);
  /* as store_close, but never for null, and the batch is closed already */
  void (*close)(struct store *s);
};

/* <The store as others see it> */

/* the part that all stores have in common. rows_visible: rows of the store that some
   row of the present pass sees in the layer last given to store_segments;
   rows_recomputed: rows of the pass that an earlier pass had computed, with the same
   tokens up to there, set by store_begin */
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
  size_t rows_visible, rows_recomputed;
  struct kv_batch batch;
};

/* admits a pass of n rows or refuses it in words: a sequence or position out of
   range, a gap, a position given twice or stored already; rows must live until the
   end of the pass */
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);

/* ends the pass: its rows belong to the store */
void store_commit(struct store *s);

/* ends the pass as if it had not been */
void store_abort(struct store *s);

/* where the keys and values of a sequence are in layer, those of the present pass
   among them */
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v);

/* the segments of the pass in layer, each of at most most >=1 rows; returns how many,
   which is at most the number of rows */
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list);

/* the rows that sequence has: the position that comes next */
size_t store_length(const struct store *s, uint32_t sequence);

/* forgets the rows of sequence from position length on, but not which tokens have
   been computed; nothing if there are none. A store that has let go of rows which
   those that stay can see forgets all */
void store_crop(struct store *s, uint32_t sequence, size_t length);

/* the first position that a row at position sees in layer, sinks aside */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position);

/* crops all sequences to nothing */
void store_clear(struct store *s);

/* makes the empty sequence to equal to from, without computing anything; errors: a
   kind of store that cannot, to has rows, a number out of range, a pass going on,
   memory; then to is empty */
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why);

/* returns the memory; null is nothing */
void store_close(struct store *s);

/* <A store of one block a sequence> */

/* for those who make a kind of store: fills in the part that all have in common, with
   a batch of n_sequences empty sequences */
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why);

/* what cap should become, so that wanted fit: twice as much, or what is wanted, or
   max */
size_t store_next_cap(size_t cap, size_t wanted, size_t max);

/* a store for n_sequences sequences of a model, in float32, empty; null and a
   sentence if memory is refused. Owned by the caller */
struct store *store_open(struct memory *m, const struct model_config *c,
  uint32_t n_sequences, struct error *why);
#endif
