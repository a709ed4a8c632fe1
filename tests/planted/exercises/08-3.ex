==== check
# the mean length, token by token
is $(awk 'BEGIN { p = 1; for (i = 1; i <= 100; i++) { mean += p; p *= 0.99 } printf "%.1f", mean }')
==== answer
63.4
==== wrong
36.6
==== skeleton
# the mean number of tokens, one decimal
