==== check
# the sum of the smaller of two chances
is $(awk 'BEGIN { split("0.5 0.25 0.125 0.125", p, " "); for (i = 1; i <= 4; i++) s += p[i] < 0.25 ? p[i] : 0.25; printf "%.2f", s }')
==== answer
0.75
==== wrong
1.00
==== skeleton
# one number with two decimals
