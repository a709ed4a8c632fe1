==== check
# a grammar of these tables is written to a file; 20,000 texts of it are written and their bits averaged
lines > $work/tables
{ printf 'table text\n   1 |[cats]\n'; sed '$d' $work/tables; } > $work/grammar
[ "$(grep -c '^table' $work/grammar)" = 3 ] || no "wanted: two tables, and the entropy"
engine <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"
static struct passage p;
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; double bits = 0, n = 20000; int three = 0;
  struct grammar *g = grammar_open(&m, argv[2], &why); (void) argc;
  if (!g) return puts(why.text), 1;
  for (uint64_t i = 0; i < 20000; i++) {
    if (!grammar_write(g, 3, i, &p, &why)) return 1;
    bits += p.bits, three += strcmp(p.words, "The cat and the cat and the cat sat on the mat.") == 0;
  }
  return !(fabs(bits / n - 2) < 0.05 && fabs(three / n - 0.125) < 0.01 && fabs(atof(argv[1]) - 2) < 1e-9);
}
C
run "$(sed -n '$p' $work/tables)" $work/grammar || no "its texts are not those of the exercise, or its entropy is another"
==== answer
table cats
   1 |The cat[andcat] sat on the mat.
table andcat
   1 |
   1 | and the cat[andcat]
2
==== wrong
table cats
   1 |The cat[andcat] sat on the mat.
table andcat
   2 |
   1 | and the cat[andcat]
2
==== skeleton
# two tables, cats and the one that it needs, in the notation of models/corpus.grammar; then the entropy in bits on a line of its own
