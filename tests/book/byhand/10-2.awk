# eight weights in a table of sixteen numbers and in floats of four bits: each line from those before it, and the sums of the errors
/^For the curve we take/ {
  n = split(numbers($0), all, " "); d = all[1]; for (i = 2; i <= 17; i++) curve[i - 1] = all[i] + 0
  half = all[18]; for (i = 19; i <= 26; i++) { float[i - 18] = all[i] + 0; float[i - 10] = -all[i] }
  if (n != 26) bad("numbers in the first lines: " n)
  if (curve[1] != -127 || curve[16] != 113) bad("the ends of the curve")
  split("-127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113", k, " "); for (i = 1; i <= 16; i++) same(curve[i], k[i])
  split("0 1 2 3 4 6 8 12", f, " "); for (i = 1; i <= 8; i++) same(float[i], f[i])
}
/&/ {
  split($0, cell, "&"); line++
  if (line == 2 && numbers(cell[1]) != d || line == 5 && numbers(cell[1]) != half) bad("the scale of a line")
  for (i = 1; i <= 8; i++) {
    y = cell[i + 1]; gsub(/[ \\]/, "", y); gsub(/[$]/, "", y); v = y + 0
    if (line == 1) { w[i] = v; plain += size(v - equal(v)) }
    if (line == 2) same(v, w[i] / d)
    if (line == 3) { same(v, nearest(curve, w[i] / d)); c[i] = v; off += size(v * d - w[i]) }
    if (line == 4) same(y, even(c[i] * d - w[i], 2))
    if (line == 5) same(y, even(w[i] / half, 1))
    if (line == 6) { same(v, nearest(float, w[i] / half)); c[i] = v; rough += size(v * half - w[i]) }
    if (line == 7) same(y, even(c[i] * half - w[i], 2))
  }
}
/^All errors, taken as positive/ { split(numbers($0), t, " "); last++
  same(t[1], even(off, 2)); same(t[2], even(rough, 2)); same(t[3], even(plain, 2)) }
END { exit wrong || line != 7 || last != 1 }
function equal(v,  q) { q = v / 0.2; q = q < 0 ? -int(-q + 0.5) : int(q + 0.5); return q * 0.2 }
function nearest(table, z,  i, b) { b = table[1]; for (i = 2; i <= 16; i++) if (size(table[i] - z) < size(b - z)) b = table[i]; return b }
function size(v) { return v < 0 ? -v : v }
function even(v, n) { v = sprintf("%." n "f", v < 0 ? v - 1e-9 : v + 1e-9); return v + 0 == 0 ? substr(v, v ~ /^-/ ? 2 : 1) : v }
function same(a, b) { if (size(a - b) > 1e-9) bad("there: " a "   wanted: " b) }
function numbers(s) { gsub(/[^-0-9.]+/, " ", s); gsub(/\.( |$)/, " ", s); gsub(/ - /, " ", s); gsub(/^ | $/, "", s); gsub(/  +/, " ", s); return s }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
