# a machine that fetches a weight a tick and does four multiply-adds in it; rows, ticks to fetch, ticks to multiply, the larger, a row's part
FNR == 1 { FS = " *& *" }
/2 *\\cdot *3=6|2·3=6|weights/ { if (match($0, /=[0-9]+/)) weights = substr($0, RSTART + 1, RLENGTH - 1) + 0 }
/^[0-9]+ *&/ {
  rows = $1 + 0; ++n
  if (rows != 2 ^ (n - 1)) bad("rows " rows)
  if ($2 + 0 != 6) bad("fetch " $2)
  split($3, d, /\\div|=|÷/)
  todo = 6 * rows
  if (n == 1 || n > 1) { if (d[1] + 0 != todo || d[2] + 0 != 4 || d[3] + 0 != todo / 4) bad("multiply " $3) }
  slow = todo / 4 > 6 ? todo / 4 : 6
  if ($4 + 0 != slow) bad("more " $4)
  if ($5 + 0 != slow / rows) bad("a row " $5)
  each[rows] = slow / rows
}
{ text = text " " $0 }
END {
  want("Four rows take as long as one"); want("a row costs " each[4] " ticks"); want("at 4 rows")
  if (6 / 4 * 4 != 6) bad("balance")
  exit wrong || n != 4
}
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s " in " text; wrong = 1 } }
