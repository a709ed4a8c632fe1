==== check
# three characters of the file's alphabet, as the table of the program of appendix Q has them
set -e
want=$($BUILD/bin/tokenizer-json alphabet | awk -F, '$2 == 195 { a = $1 } $2 == 169 { b = $1 } $2 == 288 { c = $1 } END { printf "%02x %02x %02x", a, b, c }')
[ "$(grep -v '^#' "$1")" = "$want" ]
==== answer
c3 a9 20
==== wrong
e9 20
==== skeleton
# three bytes, in hexadecimal
