==== check
# two scores under a length penalty; the answer may be off by half a hundredth
numbers 1
awk -v x="$(words)" 'BEGIN { a = -3 / 2 ^ (x - .006); b = -5 / 5 ^ (x - .006); c = -3 / 2 ^ (x + .006); d = -5 / 5 ^ (x + .006); exit !((a > b) != (c > d)) }' || no "the order of the texts does not change there"
==== answer
0.56
==== wrong
0.6
==== skeleton
# two decimals
