==== check
# bits and distance of an even look of the last of 32 rows
is $(awk 'BEGIN { for (i = 0; i < 32; i++) { d += i / 32; e += log(32) / log(2) / 32 }; printf "%.1f %.1f", e, d }')
==== answer
5.0 15.5
==== wrong
5.0 16.0
==== skeleton
# entropy and mean distance, one decimal each
