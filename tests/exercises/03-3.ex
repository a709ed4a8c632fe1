==== check
set -e
# a formula in p and g for the shell: $((...))
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/naive.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
f=$(grep -v "^#" "$1"); [ -n "$f" ]
for pg in "1 1" "50 100" "7 20" "3 4" "100 13"; do set -- $pg; p=$1; g=$2; eval "v=\$(( $f ))"; set -- $($BUILD/ex $p $g); [ "$v" = "$4" ]; done
==== answer
((p+g-1)*(p+g)*(p+g+1)-(p-1)*p*(p+1))/6
==== wrong
g*p*(p+1)/2+g*(g+1)*(g+2)/6
==== skeleton
# pairs in terms of p and g
