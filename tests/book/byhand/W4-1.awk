# a blank and a letter: blocks are put before the text and written for blanks, in both orders
function bad(s) { print s; wrong = 1 }
function put(s) { return "#" s }
function put_if_none(s) { return substr(s, 1, 1) == "#" ? s : "#" s }
function blocks(s) { gsub(/_/, "#", s); return s }
function is(row, s) { gsub(/\\textunderscore */, "#", row); gsub(/ /, "", row); if (row != s) bad("wanted " s ", found " row) }
FNR == 1 { next }
{ text = text " " $0 }
/&/ { n++; split($0, c, / *& */); cell[n] = c[2]; size[n] = c[3] + 0; name[n] = c[1] }
END {
  if (!index(text, "The text is a blank and an a.")) bad("another text")
  if (n != 4 || name[1] !~ /^put, in any case/ || name[2] !~ /^blanks/ || name[3] !~ /^blanks/ || name[4] !~ /^put, unless/) bad("other rows")
  x = put("_a"); is(cell[1], x); x = blocks(x); is(cell[2], x); if (length(x) != size[2]) bad(size[2] " letters")
  y = blocks("_a"); is(cell[3], y); y = put_if_none(y); is(cell[4], y); if (length(y) != size[4]) bad(size[4] " letters")
  if (gsub(/#/, "#", x) != 2 || !index(text, "we get two blocks and a letter")) bad("two blocks")
  if (gsub(/#/, "#", y) != 1 || !index(text, "we get one block and a letter")) bad("one block")
  if (length(x) - length(y) != 1 || !index(text, "gives one token fewer")) bad("one token")
  exit wrong != 0
}
