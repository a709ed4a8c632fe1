==== check
set -e
# texts of 100 tokens in rows of 500, where the last text is cut at random: the share that is dropped, by trying
sh tests/numbers.sh 1 "$1" || exit 1
awk -v file="$1" 'BEGIN { srand(7); for (r = 0; r < 200000; r++) { cut = 100 * rand(); lost += cut; seen += 500 } want = lost / (lost + seen)
  while ((getline l < file) > 0) if (l !~ /^#/) { n++; x = l + 0 } exit !(n == 1 && (x - want) ^ 2 < 1e-5) }'
==== answer
0.0909
==== wrong
0.1
==== skeleton
# a share, as a decimal number
