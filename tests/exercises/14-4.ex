==== check
set -e
# blocks of 256 positions by heads of keys; queries of a group
set -- $(grep -v "^#" "$1") : $(awk 'BEGIN { print int((10001 + 255) / 256) * 8, 32 / 8 }')
[ $# = 5 ] && [ "$1" = "$4" ] && [ "$2" = "$5" ]
==== answer
320 4
==== wrong
1280 1
==== skeleton
# blocks of threads, and queries of each
