==== check
# cells and needed cells of the grid for p = 2, g = 5
engine tests/planted/exercises/naive.c
is $(run 2 5 | awk '{ print $2, $3 }')
==== answer
20 6
==== wrong
20 7
==== skeleton
# cells, cells needed
