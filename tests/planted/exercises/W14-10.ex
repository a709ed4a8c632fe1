==== check
# the second line rows_read of a talk that was begun twice
unset INCIPIT_MODEL
is $(printf 'Hello!\n/new\nHello!\n' | $build/incipit chat --stats 2>&1 > /dev/null | awk '$1 == "rows_read" && ++n == 2 { print $2 }')
==== answer
# how many rows are read for the second Hello!
1
==== wrong
# how many rows are read for the second Hello!
0
==== skeleton
# how many rows are read for the second Hello!
