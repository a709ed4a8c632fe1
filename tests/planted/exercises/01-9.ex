==== check
# SentencePiece's rule, taken literally, on the whole text and on the text cut before the block: do they differ?
lines | awk '
  function spell(s,  n, i, best, at, row) {
    n = length(s); for (i = 1; i <= n; i++) row[i] = substr(s, i, 1)
    for (;;) {
      at = 0
      for (i = 1; i < n; i++) if ((row[i] row[i + 1]) in score && (at == 0 || score[row[i] row[i + 1]] > best)) { best = score[row[i] row[i + 1]]; at = i }
      if (at == 0) { s = ""; for (i = 1; i <= n; i++) s = s " " row[i]; return s }
      row[at] = row[at] row[at + 1]; for (i = at + 1; i < n; i++) row[i] = row[i + 1]; n--
    }
  }
  function stop(words) { print words; bad = 1; exit }
  NR == 1 { text = $1; if (NF != 1 || text !~ /^[^_]_.$/) stop("wanted: first a text of three letters, the block (_) after a letter") }
  NR > 1 { if (NF != 2 || $2 !~ /^-?[0-9.]+$/) stop("wanted: a token and its score"); score[$1] = $2 + 0 }
  END {
    if (bad) exit 1
    if (text == "") stop("there is no answer in the file yet")
    for (i = 1; i <= 3; i++) if (!(substr(text, i, 1) in score)) { print "every letter of the text must be a token"; exit 1 }
    if (spell(text) == spell(substr(text, 1, 1)) spell(substr(text, 2))) { print "cut and uncut, the text is spelt alike"; exit 1 }
  }' || exit 1
==== answer
a_b
a -4
b -5
_ -6
a_ -1
==== wrong
a_b
a -4
b -5
_ -6
_b -1
==== skeleton
# one line: the text, of three letters with _ for the block; then a line for each token with its score
a_b
a -1
b -2
_ -3
