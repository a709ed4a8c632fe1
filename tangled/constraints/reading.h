/* reading.h -- made from workshop/09-constraints.w; change it there */

#ifndef INCIPIT_READING_H
#define INCIPIT_READING_H
#include "ground/ground.h"

/* <Shapes> */

/* characters lo to hi, both included */
struct code_range { uint32_t lo, hi; };

/* what struct shape says of each */
enum shape_kind { SHAPE_EMPTY, SHAPE_SET, SHAPE_BOTH, SHAPE_EITHER,
  SHAPE_TIMES, SHAPE_CALL };

/* SET: b ranges from number a on; BOTH: a, then b; EITHER: one of the two; TIMES: a,
   least to most times; CALL: rule a */
struct shape { enum shape_kind kind; uint32_t a, b, least, most; };
#define NO_SHAPE UINT32_MAX
#define FOREVER UINT32_MAX
#define LAST_POINT 0x10ffff

/* <A list that grows> */

/* n elements in a block for room; all zero is empty; whoever uses it knows their size */
struct list { void *block; size_t n, room; };

/* a new element of size bytes at the end, zeroed; null and a sentence if memory is
   refused: the list is as it was */
void *list_more(struct memory *m, struct list *l, size_t size,
  struct error *why);

/* returns the block and empties the list */
void list_free(struct memory *m, struct list *l);

/* <A reader> */

/* limits: nesting, repetition counts, bytes of a pattern or grammar */
enum { DEPTH_MOST = 100, TIMES_MOST = 1000, TEXT_MOST = 1 << 20 };

/* byte at of n is next; lines: complaints name lines, not bytes */
struct reader { struct memory *m; const char *name; const unsigned char *text;
  size_t n, at, depth; bool lines; struct list shapes, ranges;
  struct error *why; };

/* looks at the whole text first: false and a sentence if it is not UTF-8, or too
   long; text must outlive the reader */
bool reader_begin(struct reader *r, struct memory *m, const char *name,
  const char *text, size_t n, struct error *why);

/* returns the lists */
void reader_end(struct reader *r);

/* says what is wrong at byte at; always NO_SHAPE */
uint32_t reader_refuse(struct reader *r, size_t at, const char *what);

/* its number, or NO_SHAPE */
uint32_t reader_shape(struct reader *r, struct shape s);

/* BOTH or EITHER; NO_SHAPE if either is that */
uint32_t reader_join(struct reader *r, enum shape_kind kind, uint32_t a,
  uint32_t b);

/* the character that stands here; the text goes on behind it */
uint32_t reader_point(struct reader *r);

/* a character given by its number, in hexadecimal digits; false and a sentence if it
   is none */
bool reader_hex(struct reader *r, size_t least, size_t most,
  uint32_t *point);

/* shape s, repeated as what stands here says: nothing, or ?, *, +, or a count in
   braces */
uint32_t reader_times(struct reader *r, uint32_t s);

/* one range more */
bool reader_range(struct reader *r, uint32_t lo, uint32_t hi);

/* the set of all ranges from number from on, or of all other characters */
uint32_t reader_set(struct reader *r, size_t from, bool negated);
#endif
