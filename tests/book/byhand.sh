#!/bin/sh
# byhand.sh [NN-k] -- the boxes Worked by hand, recomputed: tests/book/byhand/NN-k.awk reads box k of chapter NN (or WN, of the workshop), as plain
# text, and computes each number again from the ones before it.  Then every number of the box is changed in turn: a script
# that notices little of that has only looked.  A box without a script is named; with STRICT=1 it fails.
# Plain text: TeX's markup is gone, _ is the visible blank, | stands between the parts of a line, & between columns.
set -u
plain() { # CHAPTER BOX
  awk -v want="$2" '/^\\begin\{byhand\}/ { n++; on = n == want } on { print } /^\\end\{byhand\}/ { on = 0 }' "$1" |
  sed -e 's/\\textvisiblespace\\ /_ /g; s/\\textvisiblespace */_/g; s/\\ /_/g; s/@@/@/g; s/~/ /g' \
      -e 's/\\enspace/|/g; s/\\medskip//; s/\\,/ /g; s/\\\\ *$//; s/\$//g' \
      -e 's/\\[a-z]*{\([^{}]*\)}/\1/g; s/\\[a-z]*{\([^{}]*\)}/\1/g; s/\\dots/.../g; s/  */ /g; s/^ //'
}
bad=0; boxes=0; t=${BUILD:-build}/byhand; mkdir -p "$t"
for row in $(awk '!/^#/ && NF && $1 != "laboratory" { printf "%s/%s.w:%s\n", $1, $3, $1 == "workshop" ? "W" $2 : sprintf("%02d", $2) }' book.list); do
  w=${row%:*} c=${row#*:} k=0
  for line in $(grep -n '^\\begin{byhand}' "$w" | cut -d: -f1); do
    k=$((k + 1)); id=$c-$k; boxes=$((boxes + 1))
    [ -z "${1:-}" ] || [ "$1" = "$id" ] || continue
    plain "$w" "$k" > "$t/$id"
    if [ ! -f "tests/book/byhand/$id.awk" ]; then echo "$id: no script for the box at $w:$line"; [ -z "${STRICT:-}" ] || bad=$((bad + 1)); continue; fi
    if ! awk -f "tests/book/byhand/$id.awk" "$t/$id" > "$t/$id.out" 2>&1; then echo "$id: does not agree"; cat "$t/$id.out"; bad=$((bad + 1)); continue; fi
    numbers=$(sed 1d "$t/$id" | grep -o '[0-9.]*[0-9]' | wc -l); noticed=0; n=0
    while [ $n -lt "$numbers" ]; do
      n=$((n + 1))       # the n-th number gets another last digit
      awk -v at=$n 'FNR == 1 { print; next } { out = ""; s = $0
        while (match(s, /[0-9.]*[0-9]/)) { x = substr(s, RSTART, RLENGTH); if (++i == at) x = substr(x, 1, length(x) - 1) (substr(x, length(x)) + 1) % 10
          out = out substr(s, 1, RSTART - 1) x; s = substr(s, RSTART + RLENGTH) }
        print out s }' "$t/$id" > "$t/$id.changed"
      awk -f "tests/book/byhand/$id.awk" "$t/$id.changed" > /dev/null 2>&1 || noticed=$((noticed + 1))
    done
    echo "$id: agrees; of $numbers numbers in it $noticed are noticed when they change"
    [ $((2 * noticed)) -ge "$numbers" ] || { echo "$id: the script looks at too little"; bad=$((bad + 1)); }
  done
done
echo "$boxes boxes, $bad faults"; [ "$bad" = 0 ]
