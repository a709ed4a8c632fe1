==== check
# bits too many in a text, and two to their power
is $(awk 'BEGIN { printf "%d", 2 ^ (0.6 * 0.05 * 200) + 0.5 }')
==== answer
64
==== wrong
6
==== skeleton
# one integer
