==== check
set -e
# p = g = 100: passes, passes minus one, rows, rows needed
sh tests/numbers.sh 4 "$1" || exit 1
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
set -- $(grep -v "^#" "$1") $($BUILD/ex 100 100)
[ "$1 $2 $3 $4" = "$5 $(($5 - 1)) $6 $7" ]
==== answer
100 99 14950 199
==== wrong
100 100 15000 200
==== skeleton
# computed, for nothing, rows, rows needed
