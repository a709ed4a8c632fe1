==== check
set -e
# a formula in p, g and w for the shell: pairs of the naive loop in a model whose rows see w positions, for p not below w
f=$(grep -v "^#" "$1"); [ -n "$f" ]
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libmodules.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
for pgw in "8 5 8" "20 31 4" "9 1 3" "50 10 1" "30 40 17"; do set -- $pgw; p=$1; g=$2; w=$3; eval "v=\$(( $f ))"; set -- $($BUILD/ex $p $g $w); [ "$v" = "$4" ]; done
==== answer
w*(p*g+g*(g-1)/2)-g*w*(w-1)/2
==== wrong
w*(p*g+g*(g-1)/2)
==== skeleton
# in terms of p, g and w
