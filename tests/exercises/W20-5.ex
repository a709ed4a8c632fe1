==== check
set -e
# tokenize --count also says how many bytes a token has
texlua tests/planted.lua "$1"
${CC:-cc} -std=c11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled tangled/checkpoints/probe.c $BUILD/exercise/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
export INCIPIT_MODEL=$PWD/tests/golden/small
[ "$($BUILD/ex tokenize 'The cat sat' --count)" = "3 3.67" ]
[ "$($BUILD/ex tokenize 'zz' --count)" = "2 1.00" ]
[ "$($BUILD/ex tokenize '' --count)" = "0 0.00" ]
[ "$($BUILD/ex tokenize 'The' --json)" = "$($BUILD/incipit tokenize 'The' --json)" ]
==== answer
== tangled/probe/tokenizing.c
-    fprintf(out, "%zu\n", g->list.n);
+    fprintf(out, "%zu %.2f\n", g->list.n, g->list.n > 0 ? (double) g->text.n / (double) g->list.n : 0.0);
==== wrong
== tangled/probe/tokenizing.c
-    fprintf(out, "%zu\n", g->list.n);
+    fprintf(out, "%zu %.2f\n", g->list.n, (double) (g->text.n / (g->list.n > 0 ? g->list.n : 1)));
==== skeleton
== tangled/probe/tokenizing.c
-    fprintf(out, "%zu\n", g->list.n);
+    fprintf(out, "%zu\n", g->list.n);
