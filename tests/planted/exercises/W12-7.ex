==== check
# the rule of dataset_row on three lengths: dropped of text 5, number of the next row's first text, yes or no
is $(awk 'BEGIN { n = 10; split("2 6 3", len, " "); text = 4; for (first = 1; at < n; first = 0) { if (!first || text % 2) at++; k = len[text - 3]; used = at + k > n ? (at < n ? n - at : 0) : k; if (text == 5) lost = k - used; at += used; text++ } print lost, text, (text % 2 ? "yes" : "no") }')
==== answer
0 7 yes
==== wrong
0 6 no
==== skeleton
# tokens of text 5 that are dropped, the number of the next first text, yes or no
