==== check
# by what the scores are multiplied too much, and the share of a key 8 above 1000 others with right scores and with wrong ones
is $(awk 'BEGIN { f = 1 / sqrt(64); printf "%.3f %.3f %.3f", f, exp(8) / (exp(8) + 1000), exp(8 * f) / (exp(8 * f) + 1000) }')
==== answer
0.125 0.749 0.003
==== wrong
8.000 0.749 0.003
==== skeleton
# three numbers with three decimals: the factor, the share with right scores, the share with wrong ones
