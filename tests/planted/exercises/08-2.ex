==== check
# the smallest length after which at most one text in a thousand is still running
is $(awk 'BEGIN { left = 1; for (k = 0; left > 0.001; k++) left *= 0.98; print k }')
==== answer
342
==== wrong
50
==== skeleton
# a number of tokens
