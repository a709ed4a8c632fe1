==== check
# the smallest g with as many rows saved as computed, p = 100
engine tests/planted/exercises/cached.c
g=0; saved=0; did=1
while [ $saved -lt $did ]; do g=$((g + 1)); set -- $(run 100 $g 0) $(run 100 $g 1); did=$5; saved=$(($2 - $5)); done
is $g
==== answer
3
==== wrong
2
==== skeleton
# tokens written
