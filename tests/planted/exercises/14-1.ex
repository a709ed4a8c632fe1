==== check
# bytes under way: bandwidth times waiting time; 16-byte loads for each of 132 multiprocessors, rounded up
is $(awk 'BEGIN { b = 3000e9 * 600e-9; l = b / 132 / 16; n = int(l); if (n < l) n++; printf "%d %d\n", b + .5, n }')
==== answer
1800000 853
==== wrong
1800000 852
==== skeleton
# bytes under way, and 16-byte loads for each multiprocessor
