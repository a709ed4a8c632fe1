/* values.h -- the numbers that programs print, by their keys.

   A program of the laboratory prints one key and one number on each line. The list of these numbers
   does not copy the text: it points into it, and the blank after each key has become the zero byte
   that ends the key. So the text must live as long as the list. */

#ifndef INCIPIT_LEDGER_VALUES_H
#define INCIPIT_LEDGER_VALUES_H
#include "ground/ground.h"

/* a key and its number */
struct run_value { const char *key; double x; };

/* all numbers of some runs; all zero is an empty list */
struct run_values { struct run_value *list; size_t n, cap; };

/* adds the lines KEY NUMBER of text, which is cut up and must live as long as the list; errors: a
   key with two numbers, memory */
bool run_values_take(struct run_values *v, struct memory *m, char *text,
  struct error *why);

/* the number of the key key[n]; false if it was not printed */
bool run_values_find(const struct run_values *v, const char *key, size_t n,
  double *x);

/* returns the list, not the text */
void run_values_free(struct run_values *v, struct memory *m);
#endif
