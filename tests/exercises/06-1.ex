==== check
set -e
# bytes a token leaves in f16, and in q8_0
cat > $BUILD/ex.c <<"C"
#include <inttypes.h>
#include <stdio.h>
#include "accounts/accounts.h"
int main(void)
{
  struct error why;
  struct model_config c = {.n_layers = 26, .n_heads = 8, .n_kv_heads = 4, .head_dim = 256};
  printf("%" PRIu64 " %" PRIu64 "\n", footprint_token(&c, format_find("f16", &why)), footprint_token(&c, format_find("q8_0", &why)));
  return 0;
}
C
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests $BUILD/ex.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
right=$($BUILD/ex)
set -- $(grep -v "^#" "$1") $right
[ $# = 4 ] && [ "$1 $2" = "$3 $4" ]
==== answer
106496 56576
==== wrong
106496 53248
==== skeleton
# bytes in f16, in q8_0
