==== check
# the rows that a pass with these four prompts has; the rectangle is four times the longest
is "$(echo 5 120 30 77 | awk '{ for (i = 1; i <= NF; i++) { sum += $i; if ($i > most) most = $i }; print NF * most, sum }')"
==== answer
480 232
==== wrong
308 232
==== skeleton
# two numbers: rows with padding, rows of a ragged batch
