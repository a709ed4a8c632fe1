# a pass reads one position more than the last; rows, new rows, and the sums below the table
FNR == 1 { FS = " *& *" }
/^[0-9], writes/ {
  n = split($2, at, " ")
  for (i = 1; i <= n; i++) { if (at[i] != i - 1) bad("position " at[i]); times[i - 1]++ }
  if ($1 + 0 != ++pass) bad("pass " $1)
  if ($3 != n) bad("rows " $3)
  if ($4 != n - before) bad("new " $4)
  if (before && n != before + 1) bad("a pass of " n)
  before = n; rows = rows (rows ? "+" : "") n; total += n; fresh = fresh (fresh ? "+" : "") $4; new += $4
}
{ text = text " " $0 }
END {
  for (i = 0; i < before; i++) { extra = extra (i ? "+" : "") times[i] - 1; again += times[i] - 1 }
  want(rows "=" total); want(fresh "=" new); want(total "-" new "=" again); want(extra "=" again)
  exit wrong || pass != 4
}
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
