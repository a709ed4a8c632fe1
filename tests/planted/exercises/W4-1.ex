==== check
# three added tokens and five letters; the ids of <a>b<a>c as the tokens that they are, with | between them
d=$work
cat > $d/tokenizer.json <<'J'
{"model": {"type": "BPE", "vocab": {"<": 0, ">": 1, "a": 2, "b": 3, "c": 4}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"},
 "added_tokens": [{"id": 5, "content": "<a>"}, {"id": 6, "content": "<a>b"}, {"id": 7, "content": "b<a>c"}]}
J
got=$(echo '{"text": "<a>b<a>c"}' | $build/incipit probe tokenize --vocab $d | sed 's/.*\[//; s/\].*//; s/ //g' | awk -F, 'BEGIN { split("< > a b c <a> <a>b b<a>c", w, " ") } { for (i = 1; i <= NF; i++) printf "%s%s", (i > 1 ? "|" : ""), w[$i + 1] }')
is "$got"
==== answer
<a>b|<a>|c
==== wrong
<a>|b<a>c
==== skeleton
# the tokens of <a>b<a>c, with | between them
