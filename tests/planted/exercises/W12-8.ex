==== check
# texts of 100 tokens in rows of 500, where the last text is cut at random: the share that is dropped, by trying
near 0.003 $(awk 'BEGIN { srand(7); for (r = 0; r < 200000; r++) { cut = 100 * rand(); lost += cut; seen += 500 } print lost / (lost + seen) }')
==== answer
0.0909
==== wrong
0.1
==== skeleton
# a share, as a decimal number
