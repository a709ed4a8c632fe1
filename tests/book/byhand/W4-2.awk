# the ways to cut a word and their sums, and the best way to each place: all of them from the scores of the pieces
function bad(s) { print s; wrong = 1 }
function want(s) { if (!index(all, s)) bad("not there: " s) }
function piece(i, j) { return substr(word, i + 1, j - i) }
function from(i) { return i ? "from place " i : "from the beginning" }
function to(i, j) { return best[i] + score[piece(i, j)] }
function arc(i, j) { return from(i) " by " piece(i, j) ", " (i ? best[i] score[piece(i, j)] "=" : "") to(i, j) }
function ways(at, cut, terms, total,    j) {
  if (at == n) { possible++; if (terms != "none") { sum[cut] = total; term[cut] = terms; fit++ } return }
  for (j = at + 1; j <= n; j++)
    if (terms != "none" && piece(at, j) in score) ways(j, cut (at ? " " : "") piece(at, j), terms score[piece(at, j)], total + score[piece(at, j)])
    else ways(j, cut, "none", 0)
}
FNR == 1 { word = substr($0, index($0, "{") + 1); word = substr(word, 1, index(word, ",") - 1); n = length(word); next }
{ gsub(/\\tok /, ""); all = all $0 " " }
/&/ { rows++; split($0, f, / *& */); cut[rows] = f[1]; expression[rows] = f[2]; value[rows] = f[3] }
END {
  gsub(/ +/, " ", all); split("one two three four five six seven eight", t, " "); for (i = 1; i <= 8; i++) in_words[i] = t[i]
  s = all; sub(/.*have scores: /, "", s); sub(/\. Four letters.*/, "", s); gsub(/ and /, ", ", s)
  pieces = split(s, t, /, /); for (i = 1; i <= pieces; i++) { split(t[i], f, " "); score[f[1]] = f[2] }
  if (pieces != 5 || n != 4) { bad("five pieces, four letters"); exit 1 }
  ways(0, "", "", 0)
  want("Four letters have " in_words[possible] " ways to be cut, " in_words[fit] " of which use only these pieces")
  if (rows != fit) bad(rows " rows")
  for (i = 1; i <= rows; i++) {
    if (!(cut[i] in sum)) { bad("no way or twice: " cut[i]); continue }
    if (expression[i] != term[cut[i]]) bad(cut[i] ": " expression[i] ", wanted " term[cut[i]])
    if (value[i] != sum[cut[i]] "") bad(cut[i] ": " value[i] ", computed " sum[cut[i]])
    if (top == "" || sum[cut[i]] > most) { top = cut[i]; most = sum[cut[i]] }
    delete sum[cut[i]]
  }
  best[0] = 0; want("Place 0 costs nothing.")
  for (j = 1; j <= n; j++) {
    for (i = 0; i < j; i++) if (piece(i, j) in score) { arcs[j]++; if (!(j in best) || to(i, j) > best[j]) { best[j] = to(i, j); back[j] = i } }
  }
  if (arcs[1] != 1 || arcs[2] != 2 || arcs[3] != 3 || arcs[4] != 2) bad("other arcs")
  want("Place 1 is reached by " piece(0, 1) ": " to(0, 1) ".")
  want("Place 2 is reached by " piece(1, 2) " from place 1, " to(1, 2) ", or by " piece(0, 2) " from the beginning, " to(0, 2) ": the second is better")
  if (to(0, 2) <= to(1, 2)) bad("the second is not better")
  want("Place 3 is reached " arc(0, 3) "; " arc(1, 3) "; " arc(2, 3) ". A tie!")
  if (to(2, 3) != to(0, 3) || best[3] != to(0, 3)) bad("no tie")
  want("Place 4 is reached from place 3 by " piece(3, 4) ", " to(3, 4) ", or from place 2 by " piece(2, 4) ", " to(2, 4) ".")
  if (best[n] != most) bad("the best of the table is " most ", of the places " best[n])
  i = back[n]; want("place " n " was reached from " i ", and " i " from " back[i] ". The best way is " top ".")
  if (back[i] != 0 || top != piece(0, i) " " piece(i, n)) bad("another best way")
  exit wrong != 0
}
