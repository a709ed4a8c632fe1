# eight weights on sixteen steps: the step, each line of the table from the one before it, the sums, and the product that comes out
/^The weight of largest magnitude/ { at = numbers($0); given = at }
/&/ {
  n = split($0, cell, "&"); line++
  for (i = 1; i <= 8; i++) {
    y = cell[i + 1]; gsub(/[ \\]/, "", y); v = y + 0
    if (line == 1) { w[i] = v; if (size(v) > size(most)) most = v }
    if (line == 2) { d = most / -8; part[i] = v; same(v, w[i] / d) }
    if (line == 3) { q[i] = v; same(v, part[i] < 0 ? -int(-part[i] + 0.5) : int(part[i] + 0.5)) }
    if (line == 4) { back[i] = v; same(v, q[i] * d) }
    if (line == 5) { e[i] = v; same(v, back[i] - w[i]) }
    if (line == 6) x[i] = v
    if (line == 7) { same(v, w[i] * x[i]); sum += v }
    if (line == 8) { same(v, e[i] * x[i]); off += v; all += size(v) }
  }
}
/^The exact products sum/ { want(even(sum) " " even(all) " " even(off) " " even(sum) even(off) "=" even(sum + off), numbers($0)); last++
  if (!(1 - size(off) / all > 0.8)) bad("more than four fifths: " 1 - size(off) / all) }
END {
  want(even(most) " -8 " even(most) "/-8=" even(most / -8) " " even(most / -8), given)
  exit wrong || line != 8 || last != 1
}
function size(v) { return v < 0 ? -v : v }
function even(v) { return sprintf("%.2f", v) }
function same(a, b) { if (size(a - b) > 1e-9) bad("there: " a "   wanted: " b) }
function numbers(s) {
  sub(/\\\\$/, "", s); gsub(/\\div/, "/", s); gsub(/\. /, " ", s); sub(/\.$/, "", s)
  gsub(/[^-0-9.*\/+=]+/, " ", s); gsub(/^ | $/, "", s); gsub(/ ?= ?/, "=", s); gsub(/ ?\/ ?/, "/", s); return s
}
function want(s, at) { if (at != s) bad("there: " at "   wanted: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
