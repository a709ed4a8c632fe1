==== check
# sections of 512 inputs, steps of 16
is $(awk 'BEGIN { for (k = 0; k < 1300; k += 512) { n = 1300 - k; if (n > 512) n = 512; printf "%d ", int((n + 15) / 16) } }')
==== answer
32 32 18
==== wrong
32 32 17
==== skeleton
# steps of each section
