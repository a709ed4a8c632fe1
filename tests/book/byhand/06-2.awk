# a block of four numbers in four bits: the scale, the five lines of the table, and what the last sentence says of the errors
/^To be short, a block of four/ {
  n = split(numbers($0), g, " "); if (n != 6) bad("given: " numbers($0))
  most = 0
  for (i = 1; i <= 4; i++) { x[i] = g[i]; if (size(x[i]) > size(most)) most = x[i] }
  d = most / -8
  at = g[5] " " g[6]; want(most " " most "/-8=" d)
  given++
}
/&/ {
  at = numbers($0); line++; s = line == 2 || line == 1 ? "" : line == 3 ? "8.5 " : line == 4 ? "15 " : "8 "
  for (i = 1; i <= 4; i++) {
    if (line == 1) y = x[i]
    if (line == 2) y = q[i] = x[i] / d
    if (line == 3) y = raised[i] = even(q[i] + 8.5)
    if (line == 4) { uncut[i] = int(raised[i]); y = code[i] = uncut[i] > 15 ? 15 : uncut[i] < 0 ? 0 : uncut[i] }
    if (line == 5) y = back[i] = (code[i] - 8) * d
    s = s even(y) (i < 4 ? " " : "")
  }
  want(s)
}
/^Rounding is off/ {
  for (i = 1; i <= 4; i++) {
    off = size(back[i] - x[i])
    if (uncut[i] > 15) { cut++; which = i; far = off; if (off <= d / 2 + 1e-9) bad(x[i] " has been cut and is off by no more than half a step") }
    else if (off > d / 2 + 1e-9) bad(x[i] " is off by " off)
  }
  at = numbers($0); want(even(d / 2) " " x[which] " " uncut[which] " " even(far))
  if (cut != 1) bad(cut + 0 " numbers are cut off")
  last++
}
END { exit wrong || given != 1 || line != 5 || last != 1 }
# the numbers and signs of a line, in order
function numbers(s) {
  sub(/\\\\$/, "", s); gsub(/\\cdot/, "*", s); gsub(/\\div/, "/", s); gsub(/\(-8\)/, "-8", s); gsub(/[,.] /, " ", s); sub(/\.$/, "", s)
  gsub(/[^-0-9.*\/+=]+/, " ", s); gsub(/ =/, " ", s); gsub(/  +/, " ", s); gsub(/^ | $/, "", s); return s
}
function even(v) { v = sprintf("%.6g", v); return v + 0 }      # what a double does to tenths is left out
function size(v) { return v < 0 ? -v : v }
function want(s) { if (at != s) bad("there: " at "   wanted: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
