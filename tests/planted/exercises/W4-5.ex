==== check
# a formula in n: how many pieces n letters a become, if a, aa and aaa have the same score
d=$work
cat > $d/tokenizer.json <<'J'
{"model": {"type": "Unigram", "vocab": [["a", -2.5], ["aa", -2.5], ["aaa", -2.5]]}, "decoder": {"type": "Fuse"}}
J
for n in 1 2 3 $(pick 4 9) $(pick 10 40); do
  computes 1 $(awk -v n=$n 'BEGIN { printf "{\"text\": \""; while (n-- > 0) printf "a"; print "\"}" }' | $build/incipit probe tokenize --vocab $d | sed 's/.*\[//; s/\].*//; s/[^,]//g' | awk '{ print length($0) + 1 }') n=$n
done
==== answer
(n+2-(n+2)%3)/3
==== wrong
(n-n%3)/3
==== skeleton
# a formula in n
