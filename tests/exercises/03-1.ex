==== check
set -e
# cells and needed cells of the grid for p = 2, g = 5
sh tests/numbers.sh 2 "$1" || exit 1
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
set -- $(grep -v "^#" "$1") $($BUILD/ex 2 5)
[ "$1 $2" = "$4 $5" ]
==== answer
20 6
==== wrong
20 7
==== skeleton
# cells, cells needed
