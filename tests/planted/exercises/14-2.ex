==== check
# thread 13 of a warp: eight threads to an output, two lanes of sixteen each
is $(awk 'BEGIN { t = 13; for (k = 0; k < 64; k++) if (int(k % 16 / 2) == t % 8) s += k; print int(t / 8), s }')
==== answer
1 276
==== wrong
0 276
==== skeleton
# the output, and the sum of the numbers of its inputs
