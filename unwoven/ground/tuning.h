/* tuning.h -- numbers that were chosen by the clock. No bit of a result depends on them.

   Another machine might choose others: how long to spin, how far ahead to ask for memory, from
   how many rows on to pack. All are here, so that make tune can put others in their places and
   time them side by side. Where a number is a choice between two ways, 1 takes the way that
   the comment names. */

#ifndef INCIPIT_TUNING_H
#define INCIPIT_TUNING_H
#ifndef WORTH_DIVIDING
#define WORTH_DIVIDING 65536 /* multiply-adds that are shared among workers */
#endif

/* numbers on which no bit of a result depends, only how soon it is there */
enum {
  SPIN_LIMIT = 2000, /* looks of a worker before it sleeps */
  SPIN_YIELD = 50, /* it yields every so many looks */
  PARTS_EACH = 4, /* parts for each worker, where any may take the next */
  HINT = 2, /* the cache into which memory is asked: 2 the second, 3 the first */
  STEPS = 8, /* of a loop over sixteens, written out */
  ROWS_AHEAD = 512, /* bytes, where one row is multiplied */
  FOURS_BYTES = 1024, /* of the longest rows that are taken by fours */
  FOURS_FLOATS = 1, /* floats by fours whatever their length, with AVX2 */
  PANEL_AHEAD = 12, /* steps of a panel, where one row is multiplied */
  PACK_AHEAD = 64, /* inputs of an output that is being packed */
  INPUTS_AHEAD = 24, /* inputs of a matrix stored by inputs */
  FEW_AHEAD = 12, /* outputs, where a few rows are multiplied */
  FEW_INPUTS = 4096, /* of all of these rows, in one piece */
  LATE = 128, /* rows whose tiles ask for the next strip */
  MANY_ROWS = 2, /* from which on tiles are computed */
  PACKED_ROWS = 9, /* from which on weights are packed for them */
  LYING_INPUTS = 768, /* most inputs of a matrix that many rows take as it lies */
  LYING_OUTS = 64, /* of its outputs at a time */
  MOST_ROWS = 516, /* that are packed at a time */
  UNROLL = 8, /* terms of a lane in one visit, stored by inputs */
  SPAN = 256, /* outputs at a time, stored by inputs */
  STRIPS_AHEAD = 3, /* half strips of blocks */
  LOOSE_SCALES = 1, /* scales of blocks of four bits one by one, with AVX-512 */
  STORED_MOST = 8, /* rows that multiply blocks as they lie */
  INT8_MANY = 96, /* rows that use a panel of blocks */
  INT8_FRESH = 8, /* units in a panel that was just filled */
  INT8_READY = 32, /* units at a time of one that was prepared */
  KEYS_AHEAD = 16, /* positions, where a head goes alone */
  TOGETHER = 8, /* positions that each head takes in its turn */
  PAGED_AHEAD = 4096, /* bytes, where the rows of a head are together */
  QUERIES = 48, /* that share the keys of a block */
  MANY_QUERIES = 4, /* from which on they do */
  NARROW_HEADS = 1 /* heads of 8 numbers are left to AVX2 */
};
#endif
