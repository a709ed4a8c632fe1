==== check
set -e
# the tables are put in the place of the grammar's root; 20,000 texts are written and their bits averaged
grep -v '^#' "$1" > $BUILD/ex.txt
[ "$(wc -l < $BUILD/ex.txt)" = 3 ]
mkdir -p $BUILD/ex.d/corpus
{ printf 'static const char *const root[] = { "text: [cats]",\n'; sed -n 1,2p $BUILD/ex.txt | sed 's/"/\\"/g; s/.*/  "&",/'; echo '  NULL };'; } > $BUILD/ex.root
awk -v root="$BUILD/ex.root" '/static const char \*const root\[\]/ { while ((getline l < root) > 0) print l; skip = 1 } !skip { print } skip && /^};/ { skip = 0 }' tangled/corpus/corpus.c > $BUILD/ex.d/corpus.c
cat > $BUILD/ex.d/main.c <<"C"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"
static struct passage p;
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; double bits = 0, n = 20000; int three = 0;
  struct grammar *g = grammar_open(&m, &why); (void) argc;
  if (!g) return 1;
  for (uint64_t i = 0; i < 20000; i++) {
    if (!grammar_write(g, 3, i, &p, &why)) return 1;
    bits += p.bits, three += strcmp(p.words, "The cat and the cat and the cat sat on the mat.") == 0;
  }
  return !(fabs(bits / n - 2) < 0.05 && fabs(three / n - 0.125) < 0.01 && fabs(atof(argv[1]) - 2) < 1e-9);
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled $BUILD/ex.d/*.c $BUILD/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex "$(sed -n 3p $BUILD/ex.txt)"
==== answer
cats: The cat[andcat] sat on the mat.
andcat: %1 | and the cat[andcat]
2
==== wrong
cats: The cat[andcat] sat on the mat.
andcat: %2 | and the cat[andcat]
2
==== skeleton
# two tables in the notation of the appendix, then the entropy in bits on a line of its own
