==== check
# stopped by its length, which is the same place
unset INCIPIT_MODEL
is $(printf 'Hello!\nWhat does the fox say?\n' | $build/incipit chat --stats -n 3 2>&1 > /dev/null | awk '$1 == "rows_read" && ++n == 2 { print $2 }')
==== answer
# how many rows are read for the second question behind an answer that was stopped after three tokens
14
==== wrong
# how many rows are read for the second question behind an answer that was stopped after three tokens
13
==== skeleton
# how many rows are read for the second question behind an answer that was stopped after three tokens
