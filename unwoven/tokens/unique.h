/* unique.h -- the different pieces of a text, for the trainer. */

#ifndef INCIPIT_UNIQUE_H
#define INCIPIT_UNIQUE_H
#include "lookups/table.h"

/* n bytes inside the text, and how often they are a piece of it */
struct unique_piece { const unsigned char *byte; size_t n;
  uint32_t weight; };

/* n pieces of n_bytes bytes in all; from a piece to its number, plus 1 */
struct unique_pieces { struct unique_piece *piece; size_t n, cap, n_bytes;
  struct name_map number; };

/* cuts n bytes by pattern (null: one piece) and fills an empty u, which points into text; whether
   or not that succeeds, unique_free returns it */
bool unique_collect(struct memory *m, struct unique_pieces *u,
  const unsigned char *text, size_t n, const char *pattern, struct error *why);

/* returns the blocks */
void unique_free(struct memory *m, struct unique_pieces *u);
#endif
