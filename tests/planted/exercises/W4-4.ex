==== check
# seven pieces with scores; the pieces of banana, with | between them
d=$work
cat > $d/tokenizer.json <<'J'
{"model": {"type": "Unigram", "vocab": [["b", -3], ["a", -2], ["n", -2], ["an", -3], ["na", -3.2], ["ana", -4.5], ["ban", -6]]}, "decoder": {"type": "Fuse"}}
J
got=$(echo '{"text": "banana"}' | $build/incipit probe tokenize --vocab $d | sed 's/.*\[//; s/\].*//; s/ //g' | awk -F, 'BEGIN { split("b a n an na ana ban", w, " ") } { for (i = 1; i <= NF; i++) printf "%s%s", (i > 1 ? "|" : ""), w[$i + 1] }')
is "$got"
==== answer
ban|ana
==== wrong
b|an|ana
==== skeleton
# the pieces of banana, with | between them
