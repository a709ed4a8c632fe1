==== check
set -e
# tokens a second of a batch of 32 sequences of 4096 tokens: together and each, rounded down
sh tests/numbers.sh 2 "$1" || exit 1
set -- $(grep -v "^#" "$1")
[ "$1 $2" = "$(awk 'BEGIN { s = 1e12 / (16060000000 + 32 * 4096 * 131072); printf "%d %d", 32 * s, s }')" ]
==== answer
962 30
==== wrong
1992 62
==== skeleton
# all together, each
