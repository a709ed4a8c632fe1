==== check
# tokens a second of a batch of 32 sequences of 4096 tokens: together and each, rounded down
is $(awk 'BEGIN { s = 1e12 / (16060000000 + 32 * 4096 * 131072); printf "%d %d", 32 * s, s }')
==== answer
962 30
==== wrong
1992 62
==== skeleton
# all together, each
