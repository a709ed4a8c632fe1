==== check
# bytes made until the answer is complete, less the bytes taken by then
is "$(awk 'BEGIN { tokens = 1200; seconds = tokens / 50; print tokens * 180 - seconds * 3000 }')"
==== answer
144000
==== wrong
216000
==== skeleton
# a number of bytes
