==== check
set -e
# the smallest vocabulary is written out and counted; the table by its rule
n=$(printf '{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9}' | wc -c)
[ "$(grep -v '^#' "$1")" = "$n $((20 * (2 * (10 * n - 1) + 256)))" ]
==== answer
61 29480
==== wrong
61 29520
==== skeleton
# bytes of the smallest file, bytes of the table
