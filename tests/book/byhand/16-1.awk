# three rows: theirs in the rule, ours beside it, the verdict; and the text says the same numbers
function bad(w) { print "line " FNR ": " w; wrong = 1 }
{ all = all " " $0 }
/^S4-/ {
  split($0, f, / *& */); n = split(f[2], w, / /)
  theirs = w[n]; about = w[n - 1] != "="; ours = f[3]; verdict = f[4]; rows++
  digits = length(theirs); r = sprintf("%." digits "g", ours) + 0
  v = ours + 0 == theirs + 0 ? "holds" : about && r == theirs ? "holds, rounded" : (ours - theirs) ^ 2 == 1 ? "off by one" : "wrong"
  if (v != verdict) bad(verdict ", computed " v)
  if (rows == 1) first = theirs
  if (rows == 2) { second = theirs; counted = ours }
  if (rows == 3) { third = theirs; exact = ours }
}
END {
  gsub(/,/, "", all)
  if (rows != 3) bad("rows")
  if (!match(all, /for [0-9]+ tokens after a prompt of [0-9]+ /)) bad("no lengths")
  split(substr(all, RSTART, RLENGTH), t, " "); g = t[2]; p = t[8]
  naive = g * p + g * (g - 1) / 2
  if (naive != first || index(all, "computes " naive " rows") == 0) bad("rows " naive)
  if (p + g != second || index(all, "that " p + g " of them are needed") == 0) bad("needed " p + g)
  if (p + g - 1 != counted) bad("counted " p + g - 1)
  if (index(all, "is " naive / (p + g) ". Its last") == 0) bad("factor " naive / (p + g))
  if (index(all, "gives a factor of " third ".") == 0) bad("the last line")
  if (index(all, second "-" counted "=" second - counted ":") == 0) bad("difference")
  if (index(all, exact " rounded to three digits is " third) == 0) bad("rounded")
  if (sprintf("%.4f", (1000 * 2000 + 1000 * 999 / 2) / 2999) != exact) bad("the factor of 2000 and 1000")
  if (index(all, naive "/" counted "=" sprintf("%.4f", naive / counted)) == 0) bad("the factor of the first line")
  exit wrong
}
