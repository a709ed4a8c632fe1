==== check
# tokens a second behind 8192 and behind 65536, rounded down
is $(awk 'BEGIN { w = 16060000000; printf "%d %d", 1e12 / (w + 8192 * 131072), 1e12 / (w + 65536 * 131072) }')
==== answer
58 40
==== wrong
62 62
==== skeleton
# behind 8192, behind 65536
