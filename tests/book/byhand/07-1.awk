# four tokens, five ways: the probabilities of the first line squared, sharpened, and cut in four ways; then the sums of the last paragraph
BEGIN { split("on in by to", word, " ") }
{ gsub(/\\frac12/, "1/2"); text = text " " $0 }
/^A model gives/ { n = split(digits($0), given, " ") }
/&/ && !/tabular/ {
  split($0, at, / *& */); what = at[1]; line++
  for (i = 1; i <= n; i++) kept[i] = 0
  if (what ~ /^the model/) { for (i = 1; i <= n; i++) { p[i] = at[i + 1] + 0; if (p[i] != given[i]) bad("given " at[i + 1]) } rows++ }
  else if (what ~ /^squared/) { for (i = 1; i <= n; i++) { sq[i] = p[i] * p[i]; squares += sq[i]; want(i, sq[i]) } rows++ }
  else if (what ~ /^temperature/) {
    split(digits(what), t, " "); if (t[1] != 1 || t[2] != 2) bad("squares belong to another temperature")
    for (i = 1; i <= n; i++) want(i, sq[i] / squares); rows++
  }
  else if (what ~ /^top-k/) { k = digits(what) + 0; for (i = 1; i <= k; i++) kept[i] = 1; cut(); best = total; rows++ }
  else if (what ~ /^top-p/) { share = digits(what) + 0; for (s = k = 0; s < share - 1e-9; s += p[++k]) { kept[k + 1] = 1; less = s } cut(); reached = total; many = k; rows++ }
  else if (what ~ /^min-p/) { least = digits(what) + 0; for (i = 1; i <= n; i++) kept[i] = p[i] >= least * p[1] - 1e-9; cut(); rows++ }
  else if (what ~ /^typical/) {
    share = digits(what) + 0
    h = 0; for (i = 1; i <= n; i++) h -= p[i] * log(p[i])
    for (s = 0; s < share - 1e-9; s += p[near]) {
      near = 0
      for (i = 1; i <= n; i++) if (!kept[i] && (near == 0 || off(i) < off(near))) near = i
      kept[near] = 1
    }
    cut(); rows++
  }
  else if (line > 1) bad("which way is that: " what)
}
END {
  need("The squares add up to " two(squares)); need("the best two, with the sum " two(best)); need(two(p[1]) "/" two(best) "=" two(p[1] / best))
  need((many == 3 ? "two have " : "?") two(less) ", three have " two(reached)); need("at least " least " times as likely")
  need("the threshold is " two(least * p[1]))
  exit wrong || n != 4 || rows != 7 || line != 8
}
function off(i,  d) { d = -log(p[i]) - h; return d < 0 ? -d : d }
function cut(  i) {
  total = 0; for (i = 1; i <= n; i++) if (kept[i]) total += p[i]
  for (i = 1; i <= n; i++) { if (kept[i]) want(i, p[i] / total); else if (digits(at[i + 1]) != "") bad(word[i] " is out") }
}
function digits(s) { gsub(/[^0-9.]+/, " ", s); gsub(/\. |[. ]+$/, " ", s); gsub(/^ +| +$/, "", s); return s }
function two(x) { return sprintf("%.2f", x) }
function want(i, x) { if (at[i + 1] != two(x)) bad(what ", " word[i] " is " at[i + 1] ", computed " two(x)) }
function need(s) { if (!index(text, s)) bad("not there: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
