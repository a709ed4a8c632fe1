==== check
set -e
# two scores under a length penalty; the answer may be off by half a hundredth
sh tests/numbers.sh 1 "$1" || exit 1
mine=$(grep -v "^#" "$1"); [ -n "$mine" ]
awk -v x="$mine" 'BEGIN { a = -3 / 2 ^ (x - .006); b = -5 / 5 ^ (x - .006); c = -3 / 2 ^ (x + .006); d = -5 / 5 ^ (x + .006); exit !((a > b) != (c > d)) }'
==== answer
0.56
==== wrong
0.6
==== skeleton
# two decimals
