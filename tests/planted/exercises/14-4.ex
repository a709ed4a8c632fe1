==== check
# blocks of 256 positions by heads of keys; queries of a group
is $(awk 'BEGIN { print int((10001 + 255) / 256) * 8, 32 / 8 }')
==== answer
320 4
==== wrong
1280 1
==== skeleton
# blocks of threads, and queries of each
