==== check
set -e
# rows stored, rows computed, pairs
sh tests/numbers.sh 3 "$1" || exit 1
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/cached.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
set -- $(grep -v "^#" "$1") $($BUILD/ex 12 30 1)
[ "$1 $2 $3" = "$4 $5 $6" ]
==== answer
41 41 861
==== wrong
42 42 903
==== skeleton
# rows in the cache, rows computed, pairs
