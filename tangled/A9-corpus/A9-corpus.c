/* A9-corpus.c -- made from chapters/A9-corpus.w; change it there */

/* I.2 */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "A9-corpus/corpus.h"

/* I.95  Print two texts with their bits */

static struct passage piece;

static int print_samples(void)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, &why);
  int left = g == NULL ? 0 : 2;
  for (uint64_t n = 0; left > 0; n++) {
    if (!grammar_write(g, SEED_HELD_OUT, n, &piece, &why))
      return 1;
    if (piece.sort != CHRONICLE || piece.length > 130)
      continue;
    const char *stop = strstr(piece.words, ". ");
    printf("%.*s\n%s\n%.1f bits in %zu choices\n", (int)(stop + 1 - piece.words),
           piece.words, stop + 2, piece.bits, piece.n_choices);
    left--;
  }
  grammar_close(&m, g);
  return g == NULL;
}

/* I.96  Print two texts with their bits */

static int print_values(void)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, &why);
  size_t n = 0, length;
  uint32_t weight;
  if (g == NULL)
    return 1;
  for (size_t t = 0; t < grammar_tables(g); t++)
    for (size_t i = 0; grammar_table(g, t, i, &length, &weight) != NULL; i++)
      n++;
  printf("corpus.tables %zu\ncorpus.alternatives %zu\n", grammar_tables(g), n);
  grammar_close(&m, g);
  return 0;
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    return print_values();
  return print_samples();
}
