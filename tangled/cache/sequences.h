/* sequences.h -- made from chapters/04-cache.w; change it there */

#ifndef INCIPIT_SEQUENCES_H
#define INCIPIT_SEQUENCES_H
#include "model/store.h"

/* what a cache knows of one sequence */
struct kv_sequence {
  size_t length; /* rows of the sequence that count */
  /* [cap]; how many of them are known from earlier passes */
  uint32_t *token; size_t cap, computed;
  size_t first, count; /* its rows in order, during a pass */
};

/* [n_sequences]; [n_rows], during a pass: indices of rows by sequence and position,
   plus one, because 0 says that no row has come there yet */
struct sequence_table { struct kv_sequence *sequence; size_t *order; };

/* <What a table of sequences does> */

/* n_sequences empty sequences */
bool sequences_open(struct sequence_table *t, struct store *s, struct error *why);

/* finds the place of each row of the pass, and sets rows_recomputed; errors: a
   position beyond the context, stored already, after a gap or given twice, and
   memory; then nothing has changed */
bool sequences_begin(struct sequence_table *t, struct store *s, struct error *why);

/* the part of sequences_begin that fills order */
bool sequences_order(struct sequence_table *t, const struct store *s, struct error *why);

/* the rows of the pass count from now on, or are forgotten */
void sequences_end(struct sequence_table *t, struct store *s, bool commit);

/* copies the tokens of from to the empty sequence to */
bool sequences_fork(struct sequence_table *t, struct store *s, uint32_t from, uint32_t to,
  struct error *why);

/* appends n tokens whose rows are stored already */
bool sequences_append(struct sequence_table *t, struct store *s, uint32_t sequence,
  const uint32_t *token, size_t n, struct error *why);

/* frees the table's arrays */
void sequences_close(struct sequence_table *t, struct store *s);

/* what the capacity cap should become, so that wanted fit: twice as much, or what is
   wanted, or max */
size_t store_next_cap(size_t cap, size_t wanted, size_t max);
#endif
