# merges learnt from the text in the first line; the numbers of bytes are those that the box gives
FNR > 1 { text = text " " $0 }
/^[0-9]+ & / { row[n_rows++] = $0 }
END {
  # what is given: the text, the numbers of some bytes
  match(text, /The text is [a-z ]*\./); line = substr(text, RSTART + 12, RLENGTH - 13)
  if (match(text, /The space is byte [0-9]+/)) num["_"] = substr(text, RSTART + 18, RLENGTH - 18)
  if (match(text, /c is byte [0-9]+/)) num["c"] = substr(text, RSTART + 10, RLENGTH - 10)
  if (match(text, /s is byte [0-9]+/)) num["s"] = substr(text, RSTART + 10, RLENGTH - 10)
  if (match(text, /is [0-9]+ \+ 1 = [0-9]+/)) { split(substr(text, RSTART + 3, RLENGTH - 3), a, /[ +=]+/); first = a[1]; num["th"] = a[3]; if (a[1] + 1 != a[3]) bad(a[1] " + 1") }
  if (!("_" in num) || !("c" in num) || !("s" in num) || first == "") bad("a byte's number is missing")
  if (!(num["_"] < num["c"] + 0 && num["c"] + 0 < num["s"] + 0 && num["s"] + 0 < first + 0 && first == 256 && num["_"] == 32 && num["c"] == 99 && num["s"] == 115)) bad("the numbers of the bytes")
  # the pieces, letter by letter
  for (i = 1; i <= length(line); i++) { c = substr(line, i, 1); if (c == " ") { n_p++; c = "_" } else if (i == 1) n_p = 1; piece[n_p] = piece[n_p] (piece[n_p] == "" ? "" : " ") c }
  for (k = 0; k < n_rows; k++) {
    split(row[k], col, / *& */); best_pair()
    if (col[1] != k) bad("rank " col[1])
    if (col[2] != best) bad("rank " k ": pair " col[2] ", computed " best)
    if (col[3] != count[best]) bad("rank " k ": count " col[3] ", computed " count[best])
    apply(); shown = ""; for (p = 1; p <= n_p; p++) shown = shown (p > 1 ? " | " : "") piece[p]
    gsub(/ *\| */, " | ", col[4])
    if (col[4] != shown) bad("rank " k ": " col[4] ", computed " shown)
  }
  # the four that are only named
  while (best_pair()) { apply(); rest = rest (rest == "" ? "" : ", ") best }
  if (!index(text, "Four more merges, " rest " in this order")) bad("four more merges: " rest)
  if (k + 4 != made) bad("merges made: " made)
  # that, spelt
  w = "t h a t"; steps = w
  for (;;) { low = -1; n = split(w, x, " "); for (i = 1; i < n; i++) { pr = x[i] " " x[i + 1]; if (pr in rank && (low < 0 || rank[pr] < low)) { low = rank[pr]; which = pr } }
    if (low < 0) break; w = join(w, which); steps = steps ";" w }
  split(steps, s, ";"); if (!index(text, s[1] ".") || !index(text, s[2] ".") || !index(text, s[3] ".")) bad("the steps of that: " steps)
  if (!match(text, /t h has rank [0-9]+ and a t has rank [0-9]+/)) bad("the two ranks are missing")
  split(substr(text, RSTART, RLENGTH), q, " "); if (q[5] != rank["t h"] || q[11] != rank["a t"]) bad("the two ranks " q[5] " " q[11])
  split(w, x, " "); if (!index(text, first + rank[parts[x[1]]] " and " first + rank[parts[x[2]]] ".")) bad("the two ids of that: " first + rank[parts[x[1]]] " " first + rank[parts[x[2]]])
  exit wrong
}
function bad(t) { print t; wrong = 1 }
function id(t) { return t in num ? num[t] + 0 : t in parts ? first + rank[parts[t]] : 1000 }
function best_pair(  p, n, x, i, pr, l, r) {
  split("", count); best = ""
  for (p = 1; p <= n_p; p++) { n = split(piece[p], x, " "); for (i = 1; i < n; i++) count[x[i] " " x[i + 1]]++ }
  for (pr in count) { split(pr, x, " "); l = id(x[1]); r = id(x[2])
    if (best == "" || count[pr] > count[best] || (count[pr] == count[best] && (l < bl || (l == bl && r < br)))) { best = pr; bl = l; br = r } }
  return best != ""
}
function join(t, pr,  x, y, n, i, out) { n = split(t, x, " "); split(pr, y, " ")
  for (i = 1; i <= n; i++) { if (i < n && x[i] == y[1] && x[i + 1] == y[2]) { out = out (out == "" ? "" : " ") x[i] x[i + 1]; i++ } else out = out (out == "" ? "" : " ") x[i] } return out }
function apply(  p, y) { split(best, y, " "); rank[best] = made++; parts[y[1] y[2]] = best; for (p = 1; p <= n_p; p++) piece[p] = join(piece[p], best) }
