==== check
set -e
# the second line rows_read of a talk that was begun twice
unset INCIPIT_MODEL
rows=$(printf 'Hello!\n/new\nHello!\n' | $BUILD/incipit chat --stats 2>&1 > /dev/null | awk '$1 == "rows_read" && ++n == 2 { print $2 }')
[ "$(grep -v '^#' "$1")" = "$rows" ]
==== answer
# how many rows are read for the second Hello!
1
==== wrong
# how many rows are read for the second Hello!
0
==== skeleton
# how many rows are read for the second Hello!
