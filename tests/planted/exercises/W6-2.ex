==== check
# a tokenizer.json of at most 200 bytes in which "the" is one id, and comes back
d=$work
cp "$answer" $d/tokenizer.json; [ "$(tr -d ' \n' < "$answer" | wc -c)" -le 200 ] || no "it has more than 200 bytes"
ids=$(echo '{"text": "the"}' | $build/incipit probe tokenize --vocab $d | sed 's/.*\(\[.*\]\).*/\1/')
case $ids in *,*|'[]'|'') no "the text is not one id, or the file is refused" ;; esac
echo "{\"ids\": $ids}" | $build/incipit probe detokenize --vocab $d | grep -q '"746865"' || no "the id does not give the text back"
==== answer
{"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "th": 3, "the": 4}, "merges": ["t h", "th e"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}}
==== wrong
{"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "the": 3}, "merges": ["t h", "th e"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}}
==== skeleton
{"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}}
