# the word of the file: each character's number is Unicode's, and the alphabet's three blocks say which byte it is
function bad(s) { print s; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
function byte_of(c) { return c < 256 ? c : c <= 256 + 32 ? c - 256 : c <= 256 + 32 + 34 ? c - 256 - 33 + 127 : 173 }
BEGIN { code["Ġ"] = 288; code["c"] = 99; code["a"] = 97; code["f"] = 102; code["Ã"] = 195; code["©"] = 169; letters = split("Ġ c a f Ã ©", order, " ") }
FNR == 1 { next }
{ line = $0; text = text " " line }
/&/ && !/^character/ {
  split(line, c, / *& */); n++
  if (c[1] != order[n]) bad("row " n " is " c[1])
  k = code[c[1]]; b = byte_of(k)
  if (c[2] != k) bad(c[1] " is " k)
  if (c[3] != (b == k ? "itself" : "moved, " k "-256")) bad(c[1] " " c[3])
  if (c[4] != b) bad(c[1] " is byte " b)
  if (c[5] != sprintf("%02x", b)) bad(c[1] " in hexadecimal")
  word = word (n > 1 ? " " : "") sprintf("%02x", b)
}
END {
  if (n != letters) bad(n " rows")
  first = 32 - 0 + 1; second = 160 - 127 + 1
  want("0 to 32, which are " first " bytes; 127 to 160, which are " second "; and 173, the soft hyphen.")
  want("the characters from 256 on, in order")
  if (word !~ /^20 .* c3 a9$/) bad(word)
  want("The first byte is a blank, and c3 a9 is an e with an accent in UTF-8.")
  want("begins at 256+" first "=" 256 + first ", so byte 127 is character " 256 + first)
  want("and byte 173 comes after both blocks, at " 256 + first "+" second "=" 256 + first + second ".")
  exit wrong != 0
}
