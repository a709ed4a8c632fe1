==== check
# tokens a second after 8192 and after 65536 tokens of context, rounded down
is $(awk 'BEGIN { w = 16060000000; printf "%d %d", 1e12 / (w + 8192 * 131072), 1e12 / (w + 65536 * 131072) }')
==== answer
58 40
==== wrong
62 62
==== skeleton
# after 8192, after 65536
