==== check
set -e
# p in terms of g, so that rows/needed = 3g/4
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
f=$(grep -v "^#" "$1"); [ -n "$f" ]
for g in 5 20 64; do eval "p=\$(( $f ))"; set -- $($BUILD/ex $p $g); [ $((4 * $2)) = $((3 * g * $3)) ]; done
==== answer
g-1
==== wrong
g/2
==== skeleton
# p in terms of g
