==== check
# bytes by which the accounts would be wrong: blocks times header
sh tests/numbers.sh 1 "$1" || exit 1
[ "$(grep -v '^#' "$1" | tr -dc '0-9')" = "$((200 * 8))" ]
==== answer
1600
==== wrong
200
==== skeleton
# one integer, bytes
