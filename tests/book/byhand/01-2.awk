# a character's number in hexadecimal, its bits, and the three bytes of UTF-8
{ text = text " " $0 }
/^[01]+ & / { n++; split($0, c, / *& */); free = free c[1]; if (c[2] c[1] != c[3]) bad("byte " c[3]); if (hex(c[3]) != c[4]) bad(c[3] " is " hex(c[3])); size = size " " length(c[1]); mark = mark " " c[2] }
END {
  if (!match(text, /U\+[0-9A-F]+/)) bad("no number"); u = substr(text, RSTART + 2, RLENGTH - 2)
  for (i = 1; i <= length(u); i++) { d = substr(u, i, 1); b = bits(d); all = all b; if (!index(text, d " is " b)) bad(d " is " b) }
  if (all != free) bad("the bits are " all ", in the table " free)
  if (size != " 4 6 6" || mark != " 1110 10 10" || n != 3) bad("the parts:" size mark)
  if (!index(text, "sees only " c2(text))) bad("the second byte")
  exit wrong
}
function c2(t) { match(t, /\| *|$/); return second }
function bad(t) { print t; wrong = 1 }
function bits(d,  v, i, s) { v = index("0123456789ABCDEF", d) - 1; for (i = 8; i >= 1; i /= 2) { s = s (v >= i); if (v >= i) v -= i } return s }
function hex(t,  i, k, v, s) { if (length(t) != 8) return "?"; for (i = 1; i <= 8; i += 4) { v = 0; for (k = i; k < i + 4; k++) v = 2 * v + substr(t, k, 1); s = s substr("0123456789abcdef", v + 1, 1) } if (n == 2) second = s; return s }
