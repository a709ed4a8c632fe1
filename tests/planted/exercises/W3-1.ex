==== check
# yarn's attention factor is 0.1 ln s + 1; both query and key are multiplied with it
is $(awk 'BEGIN { f = 0.1 * log(4) + 1; printf "%.3f", f * f }')
==== answer
1.296
==== wrong
1.139
==== skeleton
# a number with three decimals
