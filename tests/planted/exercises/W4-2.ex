==== check
# a formula in n: the largest number of ids for n characters, in Llama 2's form; a text that reaches it, and texts that stay below
ids() { echo "{\"text\": \"$1\"}" | $build/incipit probe tokenize --vocab tests/golden/tokenizers/pieces | sed 's/.*\[//; s/\].*//; s/[^,]//g' | awk '{ print length($0) + 1 }'; }
many() { awk -v n="$1" -v c="$(echo "$2" | sed 's/\\/\\\\/g')" 'BEGIN { while (n-- > 0) printf "%s", c }'; }
for n in 1 2 $(pick 3 9) $(pick 10 30); do
  computes 1 $(ids "$(many $n '\ud83d\udc08')") n=$n
  for c in a e 9 '\u00e9' '\u4e2d' '\u20ac'; do [ "$(ids "$(many $n "$c")")" -le $((4 * n + 1)) ] || no "our own bound is passed"; done
done
==== answer
4*n+1
==== wrong
4*n
==== skeleton
# a formula in n
