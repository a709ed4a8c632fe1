# one round of Philox-4x32 with small words: two products, their halves, and three exclusive ors
{ gsub(/_/, " "); text = text " " $0 }
END {
  split(between("The counter is (", ")"), c, /, */); split(between("the key (", ")"), k, /, */)
  a = hex("D2511F53") * c[1]; b = hex("CD9E8D57") * c[3]
  ah = int(a / 4294967296); al = a - ah * 4294967296; bh = int(b / 4294967296); bl = b - bh * 4294967296
  need("D2511F53\\cdot" c[1] "= " ah " " tohex(al)); need("CD9E8D57\\cdot" c[3] "=" b ",")
  need("(" bh "\\oplus" c[2] "\\oplus" k[1] ", " bl ", " ah "\\oplus" c[4] "\\oplus" k[2] ", " tohex(al) ")")
  first = xor(xor(bh, c[2]), k[1]); third = xor(xor(ah, c[4]), k[2])
  need("=(" first ", " bl ", " third ", " tohex(al) ")"); need("the " first " and the " third " are multiplied")
  exit wrong
}
function between(a, b,  s) { s = substr(text, index(text, a) + length(a)); return substr(s, 1, index(s, b) - 1) }
function hex(s,  i, x) { for (i = 1; i <= length(s); i++) x = 16 * x + index("0123456789ABCDEF", substr(s, i, 1)) - 1; return x }
function tohex(x,  s, i) { for (i = 0; i < 8; i++) { s = substr("0123456789ABCDEF", x % 16 + 1, 1) s; x = int(x / 16) } return s }
function xor(a, b,  x, v) { for (v = 1; a > 0 || b > 0; v *= 2) { if (a % 2 != b % 2) x += v; a = int(a / 2); b = int(b / 2) } return x + 0 }
function need(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
