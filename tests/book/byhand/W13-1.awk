# what two guesses have in common: each p and q sums to one, the pairs are theirs, each minimum is one, and so is the sum
function near(name, a, b) { if (a - b > 1e-9 || b - a > 1e-9) { print name " " a ", computed " b; wrong = 1 } }
{ gsub(/\\/, ""); all = all $0 " " }
function list(letter, out,  s, k, f, t) { s = all; sub(".*" letter "=\\(", "", s); sub(/\).*/, "", s); k = split(s, f, ","); t = 0; for (; n < k; n++); for (i = 1; i <= k; i++) { out[i] = f[i] + 0; t += out[i] } near("sum of " letter, t, 1) }
END {
  list("p", p); list("q", q); s = all; total = 0
  while (match(s, /min\([0-9.]+,[0-9.]+\)/)) { split(substr(s, RSTART + 4, RLENGTH - 5), f, ","); k++; near("p" k, f[1] + 0, p[k]); near("q" k, f[2] + 0, q[k])
    m[k] = f[1] + 0 < f[2] + 0 ? f[1] + 0 : f[2] + 0; total += m[k]; s = substr(s, RSTART + RLENGTH) }
  if (k != n) { print k " minima of " n; wrong = 1 }
  sub(/^=/, "", s); split(s, side, "="); c = split(side[1], f, "+"); for (i = 1; i <= c; i++) near("minimum " i, f[i] + 0, m[i])
  if (c != k) wrong = 1
  near("in common", side[2] + 0, total)
  exit wrong
}
