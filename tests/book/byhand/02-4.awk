# a router's logits, the chosen, their exponentials to three digits, their shares to two, and what the layer adds with shares as they are and divided by their sum
function want(s) { if (!index(all, s)) { print "not there: " s; wrong = 1 } }
function two(x) { return sprintf("%.2f", x + (x < 0 ? -1e-9 : 1e-9)) }
function whole_or_three(x) { return x == 1 ? "1" : sprintf("%.3f", x) }
function between(a, b,    s) { if (!index(all, a)) { print "no " a; wrong = 1; return "" } s = substr(all, index(all, a) + length(a)); return substr(s, 1, index(s, b) - 1) }
function pairs(s, out,    n) { n = 0; while (match(s, /\([-0-9.,]+\)/)) { out[++n] = substr(s, RSTART + 1, RLENGTH - 2); s = substr(s, RSTART + RLENGTH) } return n }
function added(u, v) { return "(" two(u * f[1] + v * g[1]) "," two(u * f[2] + v * g[2]) ")" }
function list(a,    i, s) { s = a[0]; for (i = 1; i < n; i++) s = s (i == n - 1 ? " and " : ", ") a[i]; return s }
FNR > 1 { all = all $0 " " }
END {
  gsub(/ +/, " ", all)
  if (pairs(between("The row is y=", " and the router"), p) != 1) exit 1
  split(p[1], y, ","); n = pairs(between("the router's rows are ", " So the logits"), p); if (n != 4) exit 1
  for (e = 0; e < n; e++) { split(p[e + 1], r, ","); logit[e] = r[1] * y[1] + r[2] * y[2]; logits = logits (e ? "," : "") logit[e] }
  best = 0; for (e = 1; e < n; e++) if (logit[e] > logit[best]) best = e
  next_best = -1; for (e = 0; e < n; e++) if (e != best && (next_best < 0 || logit[e] > logit[next_best])) next_best = e
  want("So the logits are " logits ", and experts " best " and " next_best " are chosen.")
  for (e = 0; e < n; e++) { less[e] = logit[e] "-" logit[best]; ex[e] = whole_or_three(exp(logit[e] - logit[best])); sum += ex[e] }
  # the largest one is named first, the others by their numbers
  k = 0; a[k] = less[best]; b[k++] = ex[best]
  for (e = 0; e < n; e++) if (e != best) { a[k] = less[e]; b[k++] = ex[e] }
  for (e = 0; e < n; e++) share[e] = two(ex[e] / sum)
  want("The exponentials of " list(a) " are " list(b) ", with the sum " whole_or_three(sum) "; the shares of the chosen are " share[best] " and " share[next_best] ".")
  low = best < next_best ? best : next_best; high = best + next_best - low
  if (pairs(between("Expert ", ", so the layer"), p) != 2) exit 1
  split(p[1], f, ","); split(p[2], g, ",")
  want("Expert " low " answers (" p[1] "), expert " high " answers (" p[2] "), so the layer adds w_" low "\\cdot(" p[1] ")+w_" high "\\cdot(" p[2] ").")
  want("& w_" low " & w_" high " & added")
  u = share[low]; v = share[high]; whole = two(u + v)
  want("shares as they are & " u " & " v " & " added(u, v) " ")
  u = two(u / whole); v = two(v / whole)
  want("divided by their sum, " whole " & " u " & " v " & " added(u, v) " ")
  exit wrong != 0
}
