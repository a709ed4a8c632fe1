# tokens with ranks, all the pairs that spell one, and two words joined by the lowest rank, of several the leftmost
function bad(s) { print s; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
function join_once(  i, k, at) { # the cheapest pair of part[1..n]; 0 if none spells a token
  at = 0
  for (i = 1; i < n; i++) { k = part[i] part[i + 1]; if (k in rank && (!at || rank[k] < rank[part[at] part[at + 1]])) at = i }
  if (at) { first = part[at] " " part[at + 1]; part[at] = part[at] part[at + 1]; for (i = at + 1; i < n; i++) part[i] = part[i + 1]; n-- }
  return at }
function shown(  i, s) { for (i = 1; i <= n; i++) s = s (i > 1 ? " " : "") part[i]; return s }
function letters(w) { for (n = 0; n < length(w); n++) part[n + 1] = substr(w, n + 1, 1) }
FNR == 1 { next }
{ line = $0; gsub(/\\[a-z]+ /, "", line); sub(/^ +/, "", line); text = text " " line }
/&/ && !/^pair/ { split(line, c, / *& */); table[c[1]] = c[2] " " c[3]; rows++ }
END {
  given = substr(text, index(text, "The tokens are ")); given = substr(given, 1, index(given, ";"))
  while (match(given, /[ab]+ with rank [0-9]+/)) { split(substr(given, RSTART, RLENGTH), c, / with rank /); rank[c[1]] = c[2] + 0; given = substr(given, RSTART + RLENGTH) }
  known["a"]; known["b"]; for (t in rank) known[t]
  for (t in rank) { cuts = ""
    for (i = 1; i < length(t); i++) { l = substr(t, 1, i); r = substr(t, i + 1)
      if (l in known && r in known) { pairs++; if (table[l " " r] != t " " rank[t]) bad(l " " r " makes " t " with rank " rank[t]) } } }
  if (pairs != rows || pairs != 4) bad(pairs " pairs, " rows " in the table")
  letters("abaa"); join_once(); want("Encode abaa. The pair " first " has rank " rank["ab"] ": " shown() "."); join_once(); want("only " first " spells a token: " shown() ", two tokens")
  if (n != 2 || join_once()) bad("abaa is not two tokens")
  letters("baa"); join_once(); want("In baa the only pair that spells a token is " first ": " shown() ","); if (join_once()) bad("baa goes on")
  if (rank["ab"] > rank["ba"] || rank["ab"] > rank["aba"]) bad("rank of ab")
  want("the text must have been a b a, and there rank " rank["ab"] " has already joined the b to the a on its left")
  exit wrong != 0
}
