# a sum that is rounded twice: every number is a list of the powers of two in it, so nothing here is rounded but by round()
function bad(t) { print t; wrong = 1 }
# the text between two others, from where the last one ended
function between(from, to,  i, s) {
  if (!(i = index(rest, from))) { bad("not there: " from); return "" }
  rest = substr(rest, i + length(from))
  if (!(i = index(rest, to))) { bad("not there: " to); return "" }
  s = substr(rest, 1, i - 1); rest = substr(rest, i); gsub(/[ _]/, "", s); return s
}
# a list is pairs "factor:power"; canon gives it as binary digits, highest first, or "<0"
function canon(s,  n, t, p, i, e, v, q, out) {
  n = split(s, t, " "); for (i = 1; i <= n; i++) { split(t[i], p, ":"); v[p[2] + 0] += p[1] }
  for (e = -300; e <= 60; e++) if (v[e] + 0) { q = v[e] % 2; if (q < 0) q += 2; v[e + 1] += (v[e] - q) / 2; if (q) out = " 1:" e out }
  if (v[61] < 0) return "<0"
  sub(/^ /, "", out); return out
}
function times(x, y,  n, m, t, u, p, q, i, k, out) {
  n = split(x, t, " "); m = split(y, u, " ")
  for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) { split(t[i], p, ":"); split(u[k], q, ":"); out = out " " p[1] * q[1] ":" p[2] + q[2] }
  return out
}
function minus(x, y) { return canon(x " " times("-1:0", y)) }
function power(x) { return x ~ /^1:-?[0-9]+$/ ? substr(x, 3) + 0 : "none" }
function lowest(x) { match(x, /[^:]*$/); return substr(x, RSTART) + 0 }
function highest(x) { return substr(x, 3) + 0 }
# a sum of terms 1, 2^{-n} and 2^{-n}(...) as a list
function list(s,  sign, one, out, i) {
  while (s != "") {
    sign = 1; if (s ~ /^[-+]/) { if (s ~ /^-/) sign = -1; s = substr(s, 2) }
    if (match(s, /^2\^\{-?[0-9]+\}/)) { one = sign ":" substr(s, 4, RLENGTH - 4); s = substr(s, RLENGTH + 1) }
    else if (match(s, /^[0-9]+/)) { one = sign * substr(s, 1, RLENGTH) ":0"; s = substr(s, RLENGTH + 1) }
    else { bad("no sum of powers: " s); return "" }
    if (s ~ /^\(/) { i = index(s, ")"); one = times(one, list(substr(s, 2, i - 2))); s = substr(s, i + 1) }
    out = out " " one
  }
  return out
}
function value(s) { return canon(list(s)) }
# to so many binary digits, ties to even
function round(x, digits,  n, t, p, i, e, last, kept, half, more, odd) {
  last = highest(x) - digits + 1; n = split(x, t, " ")
  for (i = 1; i <= n; i++) { split(t[i], p, ":"); e = p[2] + 0; if (e >= last) kept = kept " " t[i]; else if (e == last - 1) half = 1; else more = 1; if (e == last) odd = 1 }
  tie = half && !more; return canon(half && (more || odd) ? kept " 1:" last : kept)
}
function same(what, printed, computed) { if (value(printed) != computed) bad(what ": " printed ", computed " computed) }
function isfloat(x) { return x != "<0" && highest(x) - lowest(x) < 24 }
FNR == 1 { next }
!/^byhand/ { text = text " " $0 }
END {
  gsub(/  +/, " ", text); rest = text
  a = value(between("Let a=", ", b=")); b = value(between(", b=", ", c=")); c = value(between(", c=", ". All three are floats"))
  if (!isfloat(a) || !isfloat(b) || !isfloat(c)) bad("no float: " a ", " b ", " c)
  product = canon(times(a, b)); sum = canon(product " " c)
  n = split(between("The product is ", ", and the exact sum"), part, "="); if (n != 2) bad("the product twice")
  for (i = 1; i <= n; i++) same("product", part[i], product)
  same("exact sum", between("the exact sum ", ". Near"), sum)
  s = between("Near ", " a step"); if (!match(s, /^[0-9]+$/)) bad("near what"); same("near", s, "1:" highest(sum))
  step = "1:" highest(sum) - 23; same("step of a float", between("float to float is ", ". So our"), step)
  n = split(sum, t, " "); low = ""; for (i = 1; i <= n; i++) if (substr(t[i], 3) + 0 >= power(step)) low = low " " t[i]
  low = canon(low); high = canon(low " " step); middle = canon(times(low " " high, "1:-1"))
  same("lower candidate", between("candidates are ", " and "), low); same("upper candidate", between(" and ", ", with the middle"), high)
  same("middle", between("the middle at ", ". The sum"), middle)
  gap = minus(middle, sum); if (gap == "<0" || gap == "") bad("the sum is not below the middle")
  same("below the middle by", between("below the middle, if only by ", ": the answer"), gap)
  answer = round(sum, 24); same("the answer", between("the answer is ", ". Now"), answer)
  fine = "1:" highest(sum) - 52; same("step of a double", between("A step there is ", ", and "), fine)
  same("what is lost", between(", and ", " is far less than half"), gap); if (power(gap) > power(fine) - 8) bad("not far less than half of a step")
  double = round(sum, 53); same("the sum in double", between("the sum is rounded to ", ", the middle itself"), double)
  if (double != middle) bad("the double is not the middle")
  again = round(double, 24); if (!tie) bad("no tie")
  same("the even candidate", between("last bit is even: ", ". That is one unit too much"), again)
  if (minus(again, answer) != step) bad("not one unit too much")
  exit wrong
}
