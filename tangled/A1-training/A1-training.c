/* A1-training.c -- made from chapters/A1-training.w; change it there */

/* A.2 */

#include <stdio.h>
#include <string.h>
#include "A1-training/corpus.h"

/* A.90  Print one text of each sort with its bits */

static struct passage piece;

static int print_samples(void)
{
  struct memory m = {.refuse_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, &why);
  bool seen[N_SORTS] = { false };
  unsigned left = g == NULL ? 0 : 2;
  for (uint64_t n = 0; left > 0; n++) {
    if (!grammar_write(g, SEED_HELD_OUT, n, &piece, &why))
      break;
    if (seen[piece.sort] || piece.length > 300 || piece.sort < 2)
      continue;
    seen[piece.sort] = true, left--;
    printf("%.60s\n%.1f bits\n", piece.words, piece.bits);
  }
  grammar_close(&m, g);
  return 0;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0)
    return 0;
  return print_samples();
}
