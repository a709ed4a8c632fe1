==== check
# the standard error of a share, and how many texts halve it
is $(awk 'BEGIN { n = 1600; e = sqrt(0.8 * 0.2 / n); m = n; while (sqrt(0.8 * 0.2 / m) > e / 2 + 1e-12) m++; printf "%.2f %d", e, m }')
==== answer
0.01 6400
==== wrong
0.01 3200
==== skeleton
# one number with two decimals, one integer
