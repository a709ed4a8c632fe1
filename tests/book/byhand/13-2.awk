# the classical rule for three tokens: accepted, what comes out so, what is missing, and the distribution that is drawn from then
function bad(t) { print t; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
function value(s) { if (split(s, f, "/") == 2) return f[1] / f[2]; return s + 0 }
function near(x, y) { return (x - y) ^ 2 < 1e-18 }
function row(name, of,  i) { for (i = 1; i <= n; i++) if (!near(value(at[i + 1]), of[i])) bad(name ", token " i " is " at[i + 1] ", computed " of[i]); rows++ }
FNR == 1 { next }
{ text = text " " $0 }
/&/ && !/tabular/ {
  sub(/\\midrule/, ""); sub(/\\\\.*$/, ""); k = split($0, at, / *& */)
  if (at[1] ~ /^p/) { n = 3; for (i = 1; i <= n; i++) sum += p[i] = at[i + 1]; if (!near(sum, 1)) bad("p adds up to " sum); rows++ }
  else if (at[1] ~ /^q/) { for (i = 1; i <= n; i++) all += q[i] = at[i + 1]; if (!near(all, 1)) bad("q adds up to " all); rows++ }
  else if (at[1] ~ /^accept/) { for (i = 1; i <= n; i++) a[i] = p[i] < q[i] ? p[i] / q[i] : 1; row("accept", a) }
  else if (at[1] ~ /^comes out/) { for (i = 1; i <= n; i++) rate += out[i] = q[i] * a[i]; row("comes out", out); if (!index($0, "together " rate)) bad("together " rate) }
  else if (at[1] ~ /^is still/) { for (i = 1; i <= n; i++) missing += m[i] = p[i] - out[i]; row("missing", m); if (!index($0, "together " missing) && !index($0, "the rest of p: " missing)) bad("missing: " missing) }
  else if (at[1] ~ /^so draw/) { for (i = 1; i <= n; i++) r[i] = m[i] / missing; row("draw", r); if (!index($0, "divided by " missing)) bad("divided by " missing) }
}
END {
  if (rows != 6) bad(rows " rows")
  for (i = 1; i <= n; i++) if (p[i] < q[i]) { often++; b = i }
  if (often != 1) bad("more than one is guessed too often")
  want(substr("ABC", b, 1) " is guessed too often, " q[b] " of the time where we want it " p[b] " of the time")
  split("one two three four five six seven", word, " ")
  want("only " word[10 * p[b] + .5 - .5] " of " word[10 * q[b]] " " substr("ABC", b, 1) "'s")
  want("In the other cases, " missing " of all")
  exit wrong
}
