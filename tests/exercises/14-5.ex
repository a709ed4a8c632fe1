==== check
set -e
# reading, and standing still after each kernel
set -- $(grep -v "^#" "$1") : $(awk 'BEGIN { r = 2.2 / 2800 * 1000; s = 250 * 0.003; printf "%d\n", 100 * r / (r + s) + .5 }')
[ $# = 3 ] && [ "$1" = "$3" ]
==== answer
51
==== wrong
95
==== skeleton
# percent
