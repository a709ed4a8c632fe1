==== check
set -e
# a formula in p and k: pairs of the cached loop
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/cached.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
a=$(grep -v "^#" "$1"); [ -n "$a" ]
for pk in "3 4" "10 1" "7 30"; do set -- $pk; p=$1; k=$2; eval "x=\$(( $a ))"; set -- $($BUILD/ex $p $k 1); [ "$x" = "$3" ]; done
==== answer
p*(p+1)/2+(k-1)*p+k*(k-1)/2
==== wrong
p*(p+1)/2+k*p+k*(k-1)/2
==== skeleton
# pairs, in terms of p and k
