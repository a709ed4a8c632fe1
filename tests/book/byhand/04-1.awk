# a pass reads the positions that are not stored; rows, what is stored then, the sums below the table, and how often a row is read again
FNR == 1 { FS = " *& *" }
/^[0-9], writes/ {
  n = split($2, at, " ")
  for (i = 1; i <= n; i++) if (at[i] != stored + i - 1) bad("position " at[i])
  if ($1 + 0 != ++pass) bad("pass " $1)
  if ($3 != n) bad("rows " $3)
  for (i = 0; i < stored; i++) times[i]++
  stored += n
  if ($4 != stored) bad("stored " $4)
  rows = rows (rows ? "+" : "") n; list = list (list ? ", " : "") stored; first = first ? first : n
}
{ text = text " " $0 }
END {
  gsub(/ and finally /, ", ", text)
  want(rows "=" stored); want(list " rows"); want(first "+" pass "=" stored + 1)
  for (i = 0; i < stored; i++) { again += times[i] > 0; by[i] = times[i] + 0 }
  name[3] = "three"; name[2] = "two"; name[1] = "one"; name[0] = "none"
  want("Rows 0, 1 and 2 by " name[by[2]] " passes"); want("row 3 by " name[by[3]]); want("row 4 by " name[by[4]]); want("row 5 by " name[by[5]]); want(again " rows")
  exit wrong || pass != 4
}
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s " in " text; wrong = 1 } }
