==== check
# an even head over texts of 41 and 81 rows, mean of all rows
is $(awk 'BEGIN { for (n = 41; n <= 81; n += 40) { s = 0; for (i = 0; i < n; i++) for (k = 0; k <= i; k++) s += k / (i + 1); printf "%d%s", s / n + 0.5, n == 41 ? " " : "" } }')
==== answer
10 20
==== wrong
20 40
==== skeleton
# two integers
