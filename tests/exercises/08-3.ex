==== check
set -e
# the mean length, token by token
x=$(grep -v "^#" "$1")
awk -v x="$x" 'BEGIN { p = 1; for (i = 1; i <= 100; i++) { mean += p; p *= 0.99 } exit !(x != "" && x == sprintf("%.1f", mean)) }'
==== answer
63.4
==== wrong
36.6
==== skeleton
# the mean number of tokens, one digit behind the point
