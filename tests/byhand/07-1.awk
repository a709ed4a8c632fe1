# four tokens, five ways: the probabilities of the first line squared, sharpened, and cut in four ways; then the sums of the last paragraph
BEGIN { split("on in by to", word, " ") }
{ gsub(/\\frac12/, "1/2"); text = text " " $0 }
/^A model gives/ { n = split(digits($0), given, " ") }
/&/ && !/tabular/ {
  cells = split($0, at, / *& */); what = at[1]; line++
  if (what ~ /^as it is/) { for (i = 1; i <= n; i++) { p[i] = at[i + 1] + 0; if (p[i] != given[i]) bad("given " at[i + 1]) } rows++ }
  else if (what ~ /^squared/) { for (i = 1; i <= n; i++) { sq[i] = p[i] * p[i]; squares += sq[i]; want(i, sq[i]) } rows++ }
  else if (what ~ /^temperature/) {
    split(digits(what), t, " "); if (t[1] != 1 || t[2] != 2) bad("squares belong to another temperature")
    for (i = 1; i <= n; i++) want(i, sq[i] / squares); rows++
  }
  else if (what ~ /^the best/) { k = digits(what) + 0; keep(k); best = total; rows++ }
  else if (what ~ /^until .* reached/) { share = digits(what) + 0; for (s = k = 0; s < share - 1e-9; s += p[++k]); keep(k); reached = total; many = k; rows++ }
  else if (what ~ /^until .* exceeded/) { if (digits(what) + 0 != share) bad("another share"); for (s = k = 0; s < share + 1e-9; s += p[++k]); keep(k); rows++ }
  else if (what ~ /^at least half/) { for (k = 0; k < n && p[k + 1] >= p[1] / 2 - 1e-9; k++); keep(k); last = word[k]; rows++ }
  else if (line > 1) bad("which way is that: " what)
}
END {
  need("the second line has the sum " two(squares)); need("have the sum " two(best)); need(two(p[1]) "/" two(best) "=" two(p[1] / best))
  need("The first " (many == 3 ? "three" : "?") " have " two(reached)); need("they reach " share ", but do not exceed it")
  need("Half the best is " two(p[1] / 2) ", which " last " reaches"); if (p[k] != p[1] / 2) bad("it is more than reached")
  exit wrong || n != 4 || rows != 7 || line != 8
}
function keep(k,  i) {
  total = 0
  for (i = 1; i <= k; i++) total += p[i]
  for (i = 1; i <= n; i++) { if (i <= k) want(i, p[i] / total); else if (digits(at[i + 1]) != "") bad(word[i] " is out") }
}
function digits(s) { gsub(/[^0-9.]+/, " ", s); gsub(/\. |[. ]+$/, " ", s); gsub(/^ +| +$/, "", s); return s }
function two(x) { return sprintf("%.2f", x) }
function want(i, x) { if (at[i + 1] != two(x)) bad(what ", " word[i] " is " at[i + 1] ", computed " two(x)) }
function need(s) { if (!index(text, s)) bad("not there: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
