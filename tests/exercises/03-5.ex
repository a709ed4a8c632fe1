==== check
set -e
# two formulas in p and k, a line each: rows computed, rows needed
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
[ "$(grep -vc "^#" "$1")" = 2 ]
a=$(grep -v "^#" "$1" | sed -n 1p); b=$(grep -v "^#" "$1" | sed -n 2p)
for pk in "3 4" "10 1" "7 30"; do set -- $pk; p=$1; k=$2; eval "x=\$(( $a )); y=\$(( $b ))"; set -- $($BUILD/ex $p $k); [ "$x $y" = "$2 $3" ]; done
==== answer
k*p+k*(k-1)/2
p+k-1
==== wrong
(k-1)*p+(k-1)*(k-2)/2
p+k-2
==== skeleton
# rows computed, then rows needed, in terms of p and k
