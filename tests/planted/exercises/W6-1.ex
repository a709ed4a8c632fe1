==== check
# three characters of the file's alphabet, as the table of the program of appendix Q has them
is $($build/bin/tokenizer-json alphabet | awk -F, '$2 == 195 { a = $1 } $2 == 169 { b = $1 } $2 == 288 { c = $1 } END { printf "%02x %02x %02x", a, b, c }')
==== answer
c3 a9 20
==== wrong
e9 20
==== skeleton
# three bytes, in hexadecimal
