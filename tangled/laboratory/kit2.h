/* kit2.h -- made from laboratory/00-kit.w; change it there */

#ifndef INCIPIT_KIT2_H
#define INCIPIT_KIT2_H
#include "laboratory/kit.h"

/* <Rows of logits> */

/* empties s, reads id[n], and puts the rows of its last tokens, at most n, into
   logits[last][vocab_size] */
bool lab_logits(struct fixture *lab, struct store *s, const uint32_t *id,
  size_t n, size_t last, float *logits, struct error *why);

/* the row after a text of *n tokens, in the laboratory's own store */
bool lab_logits_after(struct fixture *lab, const char *text, size_t *n,
  float *logits, struct error *why);

/* the likeliest; of equal ones the first */
size_t best_token(const float *logits, size_t vocab);

/* the largest difference between two numbers in the same place */
double farthest(const float *a, const float *b, size_t n);

/* <Tales> */

/* all three, with their end tokens; the list stays the laboratory's */
bool lab_tales(struct fixture *lab, struct ids *list, struct error *why);

/* the first, without its end token; the list stays the laboratory's */
bool lab_tale(struct fixture *lab, struct ids *list, struct error *why);

/* <Tokens, and pairs of them> */

/* of the n * (length - 1) pairs in text[n][length], how many are different */
size_t distinct_pairs(const uint32_t *text, size_t n, size_t length);

/* 0 of nothing is 0 */
double percent(size_t part, size_t whole);

/* as a field of a table: a comma by its number, the end of a line as a stroke */
void print_token(const struct fixture *lab, uint32_t id);
#endif
