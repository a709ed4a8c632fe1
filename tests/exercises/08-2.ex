==== check
set -e
# the smallest length behind which at most one text in a thousand is still running
n=$(grep -v "^#" "$1")
awk -v n="$n" 'BEGIN { left = 1; for (k = 0; left > 0.001; k++) left *= 0.98; exit !(n != "" && n == k) }'
==== answer
342
==== wrong
50
==== skeleton
# a number of tokens
