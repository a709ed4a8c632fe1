/* reading.h -- made from workshop/09-constraints.w; change it there */

/* S.28  reading.h */

#ifndef INCIPIT_READING_H
#define INCIPIT_READING_H
#include "ground/ground.h"

/* S.8  Shapes */

struct code_range {
  uint32_t lo, hi;
};
/* characters lo to hi, both included */

enum shape_kind { SHAPE_EMPTY, SHAPE_SET, SHAPE_BOTH, SHAPE_EITHER,
  SHAPE_TIMES, SHAPE_CALL
};
struct shape {
  enum shape_kind kind;
  uint32_t a, b, least, most;
};
/* SET: b ranges from number a on; BOTH: a, then b; EITHER: one of the two;
 * TIMES: a, least to most times; CALL: rule a */

#define NO_SHAPE UINT32_MAX
#define FOREVER UINT32_MAX
#define LAST_POINT 0x10ffff

/* S.9  A list that grows */

struct list {
  void *block;
  size_t n, room;
};
/* n elements in a block for room; all zero is empty; whoever uses it knows
 * their size */

void *list_more(struct memory *m, struct list *l, size_t size, struct error *why);
/* a new element of size bytes at the end, zeroed; null and a sentence if
 * memory is refused: the list is as it was */

void list_free(struct memory *m, struct list *l, size_t size);
/* returns the block and empties the list */

/* S.12  A reader */

enum { DEPTH_MOST = 100, TIMES_MOST = 1000, TEXT_MOST = 1 << 20 };
struct reader {
  struct memory *m;
  const char *name;
  const unsigned char *text;
  size_t n, at, depth;
  bool lines;
  struct list shapes, ranges;
  struct error *why;
};
/* byte at of n is next; lines: complaints name lines, not bytes */

bool reader_begin(struct reader *r, struct memory *m, const char *name,
                  const char *text, size_t n, struct error *why);
/* looks at the whole text first: false and a sentence if it is not UTF-8, or
 * too long; text must outlive the reader */

void reader_end(struct reader *r);
/* returns the lists */

uint32_t reader_refuse(struct reader *r, size_t at, const char *what);
/* says what is wrong at byte at; always NO_SHAPE */

uint32_t reader_shape(struct reader *r, struct shape s);
/* its number, or NO_SHAPE */

uint32_t reader_join(struct reader *r, enum shape_kind kind, uint32_t a,
                     uint32_t b);
/* BOTH or EITHER; NO_SHAPE if either is that */

/* S.18  A reader */

uint32_t reader_point(struct reader *r);
/* the character that stands here; the text goes on behind it */

bool reader_hex(struct reader *r, size_t least, size_t most, uint32_t * point);
/* a character given by its number, in hexadecimal digits; false and a
 * sentence if it is none */

uint32_t reader_times(struct reader *r, uint32_t s);
/* shape s, repeated as what stands here says: nothing, or ?, *, +, or a
 * count in braces */

bool reader_range(struct reader *r, uint32_t lo, uint32_t hi);
/* one range more */

uint32_t reader_set(struct reader *r, size_t from, bool negated);
/* the set of all ranges from number from on, or of all other characters */

#endif
