==== check
set -e
# a tokenizer.json of at most 200 bytes in which "the" is one id, and comes back
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cp "$1" $d/tokenizer.json; [ "$(tr -d ' \n' < "$1" | wc -c)" -le 200 ]
ids=$(echo '{"text": "the"}' | $BUILD/incipit probe tokenize --vocab $d | sed 's/.*\(\[.*\]\).*/\1/')
case $ids in *,*|'[]'|'') exit 1 ;; esac
echo "{\"ids\": $ids}" | $BUILD/incipit probe detokenize --vocab $d | grep -q '"746865"'
==== answer
{"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "th": 3, "the": 4}, "merges": ["t h", "th e"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}}
==== wrong
{"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "the": 3}, "merges": ["t h", "th e"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}}
==== skeleton
{"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}}
