==== check
# p = g = 100: passes, passes minus one, rows, rows needed
engine tests/planted/exercises/naive.c
is $(run 100 100 | awk '{ print $1, $1 - 1, $2, $3 }')
==== answer
100 99 14950 199
==== wrong
100 100 15000 200
==== skeleton
# computed, for nothing, rows, rows needed
