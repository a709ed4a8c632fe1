==== check
# five different tokens, the longest of four letters; every cut of every token gives two tokens
lines | awk 'NF == 1 { if (t[$1]++) bad = 1; n++; if (length($1) > most) most = length($1) }
  END { for (w in t) for (k = 1; k < length(w); k++) if (!(substr(w, 1, k) in t) || !(substr(w, k + 1) in t)) bad = 1; exit bad || n != 5 || most != 4 }' || no "they are not five different ones with four letters in the longest, or one has a cut that does not give two of them"
==== answer
a
aa
aaa
aaaa
b
==== wrong
a
b
ab
abb
abba
==== skeleton
# five tokens, one a line
