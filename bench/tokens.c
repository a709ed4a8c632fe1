/* tokens.c TOKENIZER FILE [ROUNDS] -- how fast a text becomes ids, on one thread: megabytes (10^6)
   a second, median of rounds. No word cache exists; the whole text is one call.  Prints one CSV
   line: seconds to open, bytes, ids, seconds, MB/s. */
#include <stdio.h>
#include <stdlib.h>
#include "ground/timing.h"
#include "tokenizer/tokenizer.h"
#include "ground/ground.h"

static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  if (argc < 3) return fprintf(stderr, "usage: tokens TOKENIZER FILE [ROUNDS]\n"), 2;
  struct memory m = { 0 };
  struct error why = { "" };
  struct mapping text;
  enum { MOST = 101 };
  int rounds = argc > 3 ? atoi(argv[3]) : 5;
  if (rounds < 1 || rounds > MOST) rounds = 5;
  double begin = timing_seconds(), took[MOST];
  struct tokenizer *t = tokenizer_open(&m, argv[1], &why);
  double open = timing_seconds() - begin;
  if (t == NULL || !file_map(&text, argv[2], &why))
    return fprintf(stderr, "tokens: %s\n", why.text), 1;
  struct ids out = { NULL, 0, 0 };
  for (int r = 0; r < rounds; r++) {
    out.n = 0;
    begin = timing_seconds();
    if (!tokenizer_encode(t, &m, (const char *) text.bytes, text.size, false, false, &out, &why))
      return fprintf(stderr, "tokens: %s\n", why.text), 1;
    took[r] = timing_seconds() - begin;
  }
  qsort(took, (size_t) rounds, sizeof *took, smaller);
  double s = took[rounds / 2];
  printf("incipit,%s,%.3f,%zu,%zu,%.4f,%.2f\n", argv[1], open, text.size, out.n, s,
    (double) text.size / 1e6 / s);
  ids_free(&m, &out);
  file_unmap(&text);
  tokenizer_close(&m, t);
  return m.all.live == 0 ? 0 : 1;
}
