==== check
# a text of 100 tokens, written by the loop: somebody who knows the answer guesses four at a time, and now and then wrongly, until 40 passes are needed
is $(awk 'BEGIN { g = 100; most = 4; passes = 40; least = int((g + most) / (most + 1)); right = g - passes; print least, right, most * passes - right }')
==== answer
20 60 100
==== wrong
25 60 100
==== skeleton
# three numbers: passes at least; guesses that came true; rows read in vain
