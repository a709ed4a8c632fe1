==== check
set -e
# the table "says" begins with the weights 6, 4, 2, 2, 1, 1; here we ask for 4, 2, 1, 1
sh tests/numbers.sh 1 "$1" || exit 1
awk '!/^#/ { n++; x = $1 } END { h = 0; split("4 2 1 1", w, " "); for (i in w) h -= w[i] / 8 * log(w[i] / 8) / log(2); exit !(n == 1 && (x - h) ^ 2 < 1e-6) }' "$1"
==== answer
1.75
==== wrong
2
==== skeleton
# bits
