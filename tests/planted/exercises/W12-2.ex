==== check
# the table "says" begins with the weights 6, 4, 2, 2, 1, 1; here we ask for 4, 2, 1, 1
near 0.001 $(awk 'BEGIN { h = 0; split("4 2 1 1", w, " "); for (i in w) h -= w[i] / 8 * log(w[i] / 8) / log(2); print h }')
==== answer
1.75
==== wrong
2
==== skeleton
# bits
