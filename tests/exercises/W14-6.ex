==== check
set -e
# an option more: --no-hints, for generate alone
no() { if "$@" > /dev/null 2>&1; then exit 1; fi; }        # a ! would not end the script
texlua tests/planted.lua "$1"
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -I$BUILD/exercise/tangled -I$BUILD/exercise/program program/main.c $BUILD/exercise/libprogram.a $BUILD/exercise/libincipit.a -o $BUILD/ex -ljansson -lpcre2-8 -lutf8proc -ledit -pthread -lm
export INCIPIT_MODEL=$PWD/tests/golden/small
[ -n "$($BUILD/ex generate The -n 1 --top-k 3 2>&1 > /dev/null)" ]
[ -z "$($BUILD/ex generate The -n 1 --top-k 3 --no-hints 2>&1 > /dev/null)" ]
[ "$($BUILD/ex generate The -n 3 --no-hints)" = "$($BUILD/incipit generate The -n 3)" ]
$BUILD/ex generate --help | grep -q -e '--no-hints '
$BUILD/ex help --man | grep -q 'no.-hints'
[ "$($BUILD/ex help --completion | grep -c -e '--no-hints')" = 1 ]
$BUILD/ex generate --no-hnits 2>&1 | grep -q 'the nearest is --no-hints'
no $BUILD/ex generate The --no-hints=yes
no $BUILD/ex trace The --no-hints                           # trace gives no hints, so it has nothing to leave out
[ "$($BUILD/ex tokenize The --json)" = "$($BUILD/incipit tokenize The --json)" ]
==== answer
== program/options.h
-OPTION_HELP, N_OPTIONS
+OPTION_NO_HINTS, OPTION_HELP, N_OPTIONS
== program/options.c
-  [OPTION_HELP] =
+  [OPTION_NO_HINTS] =
+      { .name = "no-hints", .where = G, .words = "give no hints", .default_text = "they are given" },
+  [OPTION_HELP] =
== program/cmd_generate.c
-  give_hints(a, decode_setup_greedy(&g->how));
+  if (!of[OPTION_NO_HINTS].given) give_hints(a, decode_setup_greedy(&g->how));
==== wrong is the answer but
-+      { .name = "no-hints", .where = G, .words = "give no hints", .default_text = "they are given" },
++      { .name = "no-hints", .where = G | R, .words = "give no hints", .default_text = "they are given" },
==== skeleton
== program/options.h
-OPTION_HELP, N_OPTIONS
+OPTION_NO_HINTS, OPTION_HELP, N_OPTIONS
