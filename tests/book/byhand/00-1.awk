# parts of a sum: each is added in steps of a float of 24 bits, then their sums, from left to right; the same in pairs
function bad(t) { print t; wrong = 1 }
function round(x,  s, q, r) { s = 1; while (x >= 2 ^ 24 * s) s *= 2; q = int(x / s); r = x - q * s; if (2 * r > s || (2 * r == s && q % 2)) q++; return q * s }
function add(list,  a, i, k, t) { k = split(list, a, /, */); t = a[1] + 0; for (i = 2; i <= k; i++) t = round(t + a[i]); return t }
function plain(t) { gsub(/{,}/, ",", t); while (match(t, /[0-9],[0-9][0-9][0-9]/)) t = substr(t, 1, RSTART) substr(t, RSTART + 2); return t }
{ $0 = plain($0); if (match($0, /M=[0-9]+/)) M = substr($0, RSTART + 2, RLENGTH - 2); text = text " " $0 }
/^[0-9]+ & / {
  gsub(/M/, M); split($0, c, / *& */); n = split(c[2], part, /[ |_]*and[ |_]*/); sums = ""; whole = ""
  if (n != c[1]) bad(c[1] " workers, " n " parts")
  for (i = 1; i <= n; i++) { sums = sums (i > 1 ? ", " : "") add(part[i]); whole = whole (i > 1 ? ", " : "") part[i]; k = split(part[i], one, /, */); if (k != 6 / n) bad("a part of " k) }
  gsub(/[ _]/, "", whole); if (rows++ == 0) first = whole; else if (whole != first) bad("other numbers: " whole)
  gsub(/ +$/, "", c[3]); if (c[3] != sums) bad("sums of parts " sums ", not " c[3])
  if (c[4] + 0 != add(sums)) bad("sum " add(sums) ", not " c[4]); pairs = c[4] + 0
}
END {
  k = split(first, one, ","); for (i = 1; i <= k; i++) exact += one[i]
  if (rows != 3) bad("not three rows")
  if (!index(text, "The exact sum is " exact)) bad("exact sum " exact)
  if (!index(text, "he sums of the pairs are M, 6 and 6, and the sum is " pairs)) bad("the pairs")
  if (!index(text, "The first addition gives " M + one[2])) bad("the first addition")
  if (!index(text, "keeps 24 binary digits")) bad("digits of a float")
  if (!index(text, "67 million and 134 million") || int(2 ^ 26 / 1e6) != 67 || int(2 ^ 27 / 1e6) != 134) bad("the range")
  exit wrong
}
