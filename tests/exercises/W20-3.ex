==== check
set -e
# lines of --jsonl with an empty text
n=$($BUILD/incipit generate --prompt-ids 33 --jsonl -m tests/golden/small | grep -c '"text":"",')
[ "$(grep -v '^#' "$1")" = "$n" ]
==== answer
7
==== wrong
6
==== skeleton
# how many lines
