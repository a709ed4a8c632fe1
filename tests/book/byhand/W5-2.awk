# a piece as a protocol buffer: tags are field times eight plus form, and the length is the sum of what follows
function bad(s) { print s; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
function hex(s,   i, v) { v = 0; for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
FNR == 1 { next }
{ text = text " " $0 }
/&/ && !/^bytes/ {
  split($0, c, / *& */); n++; k = split(c[1], b, " "); v = hex(b[1]); gsub(/\\cdot */, "*", c[2]); gsub(/ /, "", c[2])
  if (n == 1 || n == 3 || n == 6 || n == 8) {
    field = int(v / 8); form = v % 8
    if (k != 1 || c[2] != v "=8*" field "+" form) bad(c[1] " is " v "=8*" field "+" form ", not " c[2])
    if (!index(c[3], "field " field ",") || form != (n == 6 ? 5 : n == 8 ? 0 : 2)) bad(c[1] ": " c[3])
  } else if (k == 1 && c[2] != v) bad(c[1] " is " v)
  if (n == 2) { says = v; if (c[3] != "the piece has " v " bytes") bad(c[3]) } else if (n > 2) all += k
  if (n == 4) { letters = v; if (c[3] != v " letters") bad(c[3]) }
  if (n == 5 && (c[1] != "61 62" || k != letters || c[3] != "a and b")) bad("letters " c[1])
  if (n == 7 && (c[1] != "00 00 80 bf" || c[3] !~ /^the float -1,/)) bad("float " c[1])
  if (n == 9 && v != 1) bad("type " v)
  part[n] = k
}
END {
  if (n != 9) bad(n " rows")
  if (all != says) bad(all " bytes, and it says " says)
  want("there are " part[3] + part[4] "+" part[5] "+" part[6] + part[7] "+" part[8] + part[9] "=" all " bytes, as it says.")
  want("The piece ab with the score -1 is a field")
  exit wrong != 0
}
