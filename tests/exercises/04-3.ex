==== check
set -e
# the smallest g with as many rows saved as computed, p = 100
${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -w -Itangled -Itests tests/exercises/cached.c $BUILD/libincipit.a -o $BUILD/ex $(pkg-config --cflags --libs check) -ljansson -lpcre2-8 -lutf8proc -pthread -lm
mine=$(grep -v "^#" "$1"); [ -n "$mine" ]; g=0; saved=0; did=1
while [ $saved -lt $did ]; do g=$((g + 1)); set -- $($BUILD/ex 100 $g 0) $($BUILD/ex 100 $g 1); did=$5; saved=$(($2 - $5)); done
[ "$mine" = "$g" ]
==== answer
3
==== wrong
2
==== skeleton
# tokens written
