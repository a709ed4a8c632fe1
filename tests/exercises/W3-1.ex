==== check
# yarn's attention factor is 0.1 ln s + 1; both query and key are multiplied with it
awk -v a="$(grep -v '^#' "$1" | tr -d ' \n')" 'BEGIN { f = 0.1 * log(4) + 1; exit !(a == sprintf("%.3f", f * f)) }'
==== answer
1.296
==== wrong
1.139
==== skeleton
# a number with three decimals
