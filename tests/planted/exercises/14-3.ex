==== check
# the busiest of 32 banks: sixteen words of row 0 and sixteen of row 8, with two strides
is $(awk 'BEGIN { for (s = 32; s <= 34; s += 2) { m = 0; delete b; for (i = 0; i < 32; i++) { a = (i < 16 ? i : 8 * s + i - 16) % 32; if (++b[a] > m) m = b[a] } printf "%d ", m } }')
==== answer
2 1
==== wrong
1 1
==== skeleton
# words of the busiest bank with rows 32 words apart, and 34 apart
