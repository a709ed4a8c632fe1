==== check
# the turns of the wheel counted out: every 'and' that was said costs a half, and so does the one full stop
is $(awk 'BEGIN { lead = log(0.8 / 0.2); for (said = 0; lead - 0.5 * (said - 1) > 0; said++); printf "%d %d", said, 2 * said + 1 }')
==== answer
4 9
==== wrong
3 7
==== skeleton
# how often it says "and"; the number of the token that is another one
