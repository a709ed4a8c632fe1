==== check
set -e
# two formulas in p and c for the shell, a line each: tokens written when the loop runs until the context c is full, and rows computed
[ "$(grep -vc "^#" "$1")" = 2 ]
a=$(grep -v "^#" "$1" | sed -n 1p); b=$(grep -v "^#" "$1" | sed -n 2p)
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
for pc in "1 10" "10 10" "7 40" "33 100"; do set -- $pc; p=$1; c=$2; eval "x=\$(( $a )); y=\$(( $b ))"; set -- $($BUILD/ex $p 1000 0 $c); [ "$x $y" = "$5 $2" ]; done
==== answer
c-p+1
c*(c+1)/2-p*(p-1)/2
==== wrong
c-p
c*(c+1)/2-p*(p+1)/2
==== skeleton
# tokens written, then rows computed, in terms of p and c
