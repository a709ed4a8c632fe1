# a search with an end: products, the ranks they give, who stays, who finishes, and whose end ranks too low
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
function off(a, b, e) { return a - b > e || b - a > e }
function squeeze(s) { gsub(/ /, "", s); sub(/nothing/, "", s); gsub(/stop/, ".", s); return s }
function words(s,   i, w, x) { w = ""; for (i = 1; i <= length(s); i++) { x = substr(s, i, 1); w = w (w == "" ? "" : " ") (x == "." ? "stop" : x) } return w }
BEGIN { name[1] = "a"; name[2] = "b"; name[3] = "." }
FNR == 1 { next }
{ text = text " " $0 }
/&/ && !/^(after|grown from) / {
  n = split($0, c, / *& */)
  if (index(c[1], "which has")) {
    split(c[1], part, ", which has "); key = squeeze(part[1]); last = key == "" ? "" : substr(key, length(key))
    if (off(part[2], key == "" ? 1 : grew[key], 1e-9)) bad(part[1] " has " grew[key])
    grown++; wide[key] = 1
    for (i = 1; i <= 3; i++) { grew[key name[i]] = part[2] * p[last, i]; if (off(c[i + 1], grew[key name[i]], 1e-9)) bad($0 ": " grew[key name[i]]) }
  } else {
    key = squeeze(c[1]); rows++
    for (i = 1; i <= 3; i++) p[key, i] = c[i + 1] + 0
    if (off(p[key, 1] + p[key, 2] + p[key, 3], 1, 1e-9)) bad("no distribution behind " c[1])
  }
}
function ranked(t,   k, best) { # the texts of t tokens by falling product: rank[1], ...
  delete taken; n_rank = 0
  for (;;) { best = ""
    for (k in grew) if (length(k) == t && !(k in taken) && (best == "" || grew[k] > grew[best])) best = k
    if (best == "") return
    taken[best] = 1; rank[++n_rank] = best }
}
END {
  for (t = 1; t <= 4; t++) {
    ranked(t); kept = 0; said = ""
    for (i = 1; i <= 4 && i <= n_rank; i++) { k = rank[i]; ends = t == 4 || index(k, ".")
      if (ends && i <= 2) said = said (t == 4 ? "" : (said == "" ? "" : ", ") (length(k) == 1 ? "the " : "") words(k) " finishes")
      else if (ends && index(k, ".")) low[t] = words(k) " has rank " i
      else if (!ends && kept < 2) { kept++; said = said (said == "" ? "" : ", ") words(k) " is kept"; if (!(k in wide)) bad(k " is kept and has not grown") } }
    if (t < 4) want("Step " t ": " said)
    if (t in low) want(low[t])
  }
  want("those of rank 1 and 2 may finish"); want("Step " t - 1 " is the last, and all texts end")
  want(words(rank[1]) " finishes, and so does " words(rank[2]) ", by its length")
  if (rows != 3 || grown != 7) bad("lines are missing")
  exit wrong != 0
}
