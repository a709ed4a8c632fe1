# the machine of (ha)+!, walked letter by letter with each piece from each state; the tokens to the end; what may come with two left, and with one
FNR == 1 { FS = " *& *" }
BEGIN { to["0h"] = 1; to["1a"] = 2; to["2h"] = 1; to["2!"] = 3 }
/^state & / { n = split($0, head, / *& */); for (i = 2; i < n; i++) names = names (names == "" ? "" : ", ") head[i] }
/^[0-9] & / {
  s = $1 + 0; rows++
  for (i = 2; i < n; i++) { next_[s, i] = run(s, head[i]); if ($i != next_[s, i]) bad("state " s ", " head[i] ": " next_[s, i]) }
  last[s] = $n
}
{ text = text " " $0 }
END {
  want("pieces of the vocabulary are " names "."); want("has four states")
  for (s = 0; s < 4; s++) cost[s] = s == 3 ? 0 : 99
  for (k = 0; k < 4; k++) for (s = 0; s < 4; s++) for (i = 2; i < n; i++) if (next_[s, i] != "-" && cost[next_[s, i]] + 1 < cost[s]) cost[s] = cost[next_[s, i]] + 1
  for (s = 0; s < 4; s++) if (cost[s] != last[s]) bad("state " s " needs " cost[s])
  want("State 3 is the end."); want("From states " 1 " and " 2 " one token leads there")
  if (cost[1] != 1 || cost[2] != 1) bad("one token")
  want("from state 0 none does, but some lead to 1 or 2, so the least is " cost[0] " tokens"); want("A limit of " cost[0] - 1 " is refused")
  want("state 0 allows " may(0, 2) ", and state 1 allows " may(1, 2) "."); want("state 1 allows only " may(1, 1) ", and state 2 only " may(2, 1) ".")
  exit wrong || rows != 4
}
function run(s, p,   k, c) { for (k = 1; k <= length(p); k++) { c = s substr(p, k, 1); if (!(c in to)) return "-"; s = to[c] } return s }
function may(s, left,   i, list, m, x, t) { for (i = 2; i < n; i++) if (next_[s, i] != "-" && cost[next_[s, i]] < left) x[++m] = head[i]
  for (i = 1; i <= m; i++) t = t (i == 1 ? "" : i == m ? " and " : ", ") x[i]; return t }
function bad(t) { print t; wrong = 1 }
function want(t) { if (!index(text, t)) { print "not there: " t " in " text; wrong = 1 } }
