# softmax of logarithms, the loss, its gradient by the logits, and by the rows of the head
{ text = text " " $0 }
END {
  gsub(/tfrac/, "frac", text); gsub(/\\left|\\right/, "", text); gsub(/_/, " ", text); gsub(/, +/, ",", text); gsub(/ +/, " ", text)
  h = after("h=("); nh = split(h, hh, ","); nz = split(after("z=("), z, ",")
  for (i = 1; i <= nz; i++) { e[i] = z[i] ~ /ln/ ? substr(z[i], 4) : z[i] == 0 ? 1 : bad("logit " z[i]); sum += e[i]; es = es (i == 1 ? "" : i == nz ? " and " : ",") e[i] }
  if (!index(text, "The exponentials are " es ",")) bad("the exponentials " es)
  np = split(after("p=("), p, ","); for (i = 1; i <= np; i++) near(value(p[i]), e[i] / sum, "p" i)
  if (match(text, /-\\ln\\frac[0-9][0-9]=\\ln[0-9]/)) { s = substr(text, RSTART, RLENGTH); f = substr(s, 5, 7); y = 0; for (i = 1; i <= np; i++) if (p[i] == f) y = i
    if (y != 2) bad("the token that came: " f); near(1 / value(f), substr(s, length(s)) + 0, "the loss") } else bad("no loss")
  k = index(text, "dz=("); rest = substr(text, k); nd = split(after("dz=("), d, ","); for (i = 1; i <= nd; i++) { m = split(d[i], q, /-1/); near(value(q[1]) - (d[i] ~ /-1$/), e[i] / sum - (i == y), "dz" i) }
  rest = substr(rest, index(rest, ")=(") + 3); rest = substr(rest, 1, index(rest, ")") - 1); nd = split(rest, d, ",")
  for (i = 1; i <= nd; i++) { dz[i] = value(d[i]); near(dz[i], e[i] / sum - (i == y), "dz" i); total += dz[i] }
  near(total, 0, "the sum of dz"); if (!match(text, /add up to 0/)) bad("add up to 0")
  split("first row gets (;the second (;the third (", where, ";")
  for (i = 1; i <= 3; i++) { ng = split(after(where[i]), g, ","); for (j = 1; j <= nh; j++) near(value(g[j]), dz[i] * hh[j], "row " i) }
  exit wrong || nz != 3 || np != 3 || nd != 3 || nh != 2 }
function after(s,  k, t) { k = index(text, s); if (!k) { bad("not there: " s); return "" } t = substr(text, k + length(s)); return substr(t, 1, index(t, ")") - 1) }
function value(s,  sign, a) { gsub(/ /, "", s); sign = s ~ /^-/ ? -1 : 1; sub(/^-/, "", s); if (s ~ /frac[0-9][0-9]$/) { a = substr(s, length(s) - 1); return sign * substr(a, 1, 1) / substr(a, 2, 1) } return sign * s }
function near(x, y, what) { if (x - y > 1e-9 || y - x > 1e-9) bad(what ": " x ", computed " y) }
function bad(s) { print s; wrong = 1 }
