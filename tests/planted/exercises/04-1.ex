==== check
# rows stored, rows computed, pairs
engine tests/planted/exercises/cached.c
is $(run 12 30 1)
==== answer
41 41 861
==== wrong
42 42 903
==== skeleton
# rows in the cache, rows computed, pairs
