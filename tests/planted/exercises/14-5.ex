==== check
# reading, and standing still after each kernel
is $(awk 'BEGIN { r = 2.2 / 2800 * 1000; s = 250 * 0.003; printf "%d\n", 100 * r / (r + s) + .5 }')
==== answer
51
==== wrong
95
==== skeleton
# percent
