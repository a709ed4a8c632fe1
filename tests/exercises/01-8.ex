==== check
# merges of five ranked tokens, and a spelling
[ "$(grep -v '^#' "$1" | tr -s ' \n' '  ' | sed 's/^ *//; s/ *$//')" = "4 abb abb" ]
==== answer
4 abb abb
==== wrong
3 abb abb
==== skeleton
# the number of merges, and the tokens of abbabb, with blanks between
