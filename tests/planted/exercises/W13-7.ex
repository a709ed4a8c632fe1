==== check
# mean distance and entropy of one look
is $(awk 'BEGIN { printf "%.2f %.2f", 0.5 * 1 + 0.25 * 3 + 0.25 * 5, 0.5 * log(2) / log(2) + 2 * 0.25 * log(4) / log(2) }')
==== answer
2.50 1.50
==== wrong
2.50 2.00
==== skeleton
# mean distance and entropy, two decimals each
