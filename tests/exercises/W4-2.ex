==== check
set -e
# a formula in n for the shell: the largest number of ids for n characters, in Llama 2's form; a text that reaches it, and texts that stay below
f=$(grep -v '^#' "$1"); [ -n "$f" ]
ids() { echo "{\"text\": \"$1\"}" | $BUILD/incipit probe tokenize --vocab tests/golden/tokenizers/pieces | sed 's/.*\[//; s/\].*//; s/[^,]//g' | awk '{ print length($0) + 1 }'; }
cats=; most=0
for n in 1 2 3 4 5 6 7 8 9 10; do
  cats="$cats\\ud83d\\udc08"; [ "$(ids "$cats")" = "$(($f))" ]
  for c in a e 9 '\u00e9' '\u4e2d' '\u20ac'; do t=; i=0; while [ $i -lt $n ]; do t="$t$c"; i=$((i + 1)); done; [ "$(ids "$t")" -le "$(($f))" ]; done
done
==== answer
4*n+1
==== wrong
4*n
==== skeleton
# a formula in n, as the shell computes
