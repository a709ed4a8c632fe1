==== check
# a script that reads the file of answers: the keys that failed, one a line, and exit status 1 if there are any
set -e
head='key,figure,wanted,verdict'
try() { printf '%s\n' "$head" "$1" > $BUILD/ex.csv; got=$(sh "$answer" $BUILD/ex.csv) && status=0 || status=$?; [ "$got" = "$2" ] && [ $status = $3 ]; }
answer=$1
try 'bits.all,0.6,"0.75, give or take 0.25",PASS' '' 0
try 'bits.all,0.4,"0.75, give or take 0.25",FAIL' bits.all 1
try 'share.tale,0.2,"",' '' 0
try "$(printf 'a,1,"at least 2",FAIL\nFAIL,3,"at least 2",PASS\nc,1,"at most 0, and no FAIL",PASS\nd,nan,"at least 0",FAIL')" "$(printf 'a\nd')" 1
got=$(sh "$answer" models/pocket/check.csv) && [ "$got" = '' ]
==== answer
awk -F, '$NF == "FAIL" { print $1; bad = 1 } END { exit bad }' "$1"
==== wrong
awk -F, '$4 == "FAIL" { print $1; bad = 1 } END { exit bad }' "$1"
==== skeleton
cat "$1" > /dev/null
