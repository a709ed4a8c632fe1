==== check
# rows in the cache of all layers: with windows, and without
is $(awk 'BEGIN { for (i = 1; i <= 18; i++) { with += i % 6 == 0 ? 4096 : 512; without += 4096 } print with, without }')
==== answer
19968 73728
==== wrong
20480 73728
==== skeleton
# two numbers: with windows, without
