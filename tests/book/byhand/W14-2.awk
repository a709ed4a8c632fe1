# a format of three significant bits; what a number owns; the shortest decimal in it
function step(x,  s) { for (s = 1; 8 * s <= x; s *= 2) ; return s / 1 }       # numbers of four to seven steps
function above(x,  s) { s = 1; while (8 * s <= x) s *= 2; return x + s }
function below(x,  s) { s = 1; while (8 * s <= x) s *= 2; return x == 4 * s ? x - s / 2 : x - s }
function nearest(x, digits,  p) { p = 1; while (x >= p * 10 ^ digits) p *= 10; return int(x / p + .5) * p }
/[0-9] & [0-9]/ {
  split($0, c, / *& */); x = c[1]; rows++; lo = (below(x) + x) / 2; hi = (above(x) + x) / 2; one = nearest(x, 1); two = nearest(x, 2)
  if (c[2] != below(x)) bad("below " x ": " below(x)); if (c[3] != above(x)) bad("above " x ": " above(x))
  if (c[4] != lo " to " hi) bad(x " owns " lo " to " hi)
  inside = one >= lo && one <= hi
  if (c[5] != (inside ? one "" : one " is outside")) bad(x " in one digit: " one)
  if (c[6] != (inside ? "" : two "")) bad(x " in two digits: " two)
  if (!inside && (two < lo || two > hi)) bad(two " is outside")
  shortest[x] = inside ? one : two
}
{ text = text " " $0 }
END {
  list = "8"; for (x = 8; x < 40; ) { x = above(x); list = list "," x } if (!index(text, list ",")) bad("the list: " list)
  for (x in shortest) { e = int(log(shortest[x]) / log(10) + 1e-9); m = shortest[x] / 10 ^ e; printed[x] = m "e" e }
  if (!match(text, /So [0-9]+ is printed as [0-9.e]+, and [0-9]+ as [0-9.]+e[0-9]/)) bad("what is printed"); else { s = substr(text, RSTART, RLENGTH); split(s, w, /[ ,]+/); if (printed[w[2]] != w[6] || printed[w[8]] != w[10]) bad("printed " w[2] " " printed[w[2]] ", " w[8] " " printed[w[8]]); if (!index(text, "gets " w[2] " and " w[8] " back")) bad("back") }
  if (!index(text, "in the list, 16, owns")) bad("the power of two")
  exit wrong || rows < 5 }
function bad(s) { print s; wrong = 1 }
