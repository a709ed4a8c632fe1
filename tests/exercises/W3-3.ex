==== check
# a field named author: read over, whatever it holds; a field named authors is refused as before, and a used field is still used
set -e
texlua tests/planted.lua "$1"
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
for k in author authors; do mkdir $d/$k; sed "1,/{/s/{/{ \"$k\": \"somebody\",/" tests/golden/llama/config.json > $d/$k/config.json; done
mkdir $d/used; sed 's/"num_hidden_layers": *[0-9]*/"num_hidden_layers": "two"/' $d/author/config.json > $d/used/config.json
cat > $BUILD/ex.c <<'C2'
#include <string.h>
#include "families/config.h"
int main(int argc, char **argv)
{
  struct memory m = {0}; struct error why; struct model_config c;
  memset(&c, 0, sizeof c);
  if (!config_open(&c, &m, argv[1], &why)) return 1;
  config_close(&m, &c);
  for (int k = 2; k < 4; k++) {
    memset(&c, 0, sizeof c);
    if (config_open(&c, &m, argv[k], &why) || strstr(why.text, k == 2 ? "authors" : "num_hidden_layers") == NULL) return 1;
  }
  return m.all.live != 0;
}
C2
${CC:-cc} -std=c11 -w -I$BUILD/exercise/tangled $BUILD/ex.c $BUILD/exercise/libmodules.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -pthread -lm
$BUILD/ex $d/author $d/authors $d/used
==== answer
== tangled/families/config.c
-{"is_llama_config", "says what model_type says"},
+{"is_llama_config", "says what model_type says"},
+{"author", "says who wrote the file"},
==== wrong
== tangled/families/config.c
-{"is_llama_config", "says what model_type says"},
+{"is_llama_config", "says what model_type says"},
+{"author", "says who wrote the file"},
== tangled/families/config.c
-      if (strcmp(h->name, name) == 0)
+      if (strncmp(h->name, name, strlen(h->name)) == 0)
==== skeleton
== tangled/families/config.c
-{"is_llama_config", "says what model_type says"},
+{"is_llama_config", "says what model_type says"},
