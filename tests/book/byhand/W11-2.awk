# a hero in four choices: the four weights and sums of the text are the four fractions, and the fractions make the last
{ gsub(/\\/, ""); all = all $0 " " }
END {
  s = all; while (match(s, /weight [0-9]+ of [0-9]+/)) { split(substr(s, RSTART, RLENGTH), f, " "); w[++n] = f[2] "/" f[4]; s = substr(s, RSTART + RLENGTH) }
  s = all; sub(/.*chance is */, "", s); split(s, side, "=")
  while (match(side[1], /frac[0-9][0-9]|frac[0-9]\{[0-9]+\}/)) { t = substr(side[1], RSTART + 4, RLENGTH - 4); a[++k] = substr(t, 1, 1); t = substr(t, 2); gsub(/[{}]/, "", t); b[k] = t; side[1] = substr(side[1], RSTART + RLENGTH) }
  top = bottom = 1
  for (i = 1; i <= k; i++) { if (w[i] != a[i] "/" b[i]) { print "choice " i " is " w[i] ", the fraction " a[i] "/" b[i]; wrong = 1 } top *= a[i]; bottom *= b[i] }
  if (n != 4 || k != 4) { print n " choices, " k " fractions"; wrong = 1 }
  t = side[2]; sub(/^frac/, "", t); p = substr(t, 1, 1); q = substr(t, 2); gsub(/[^0-9]/, "", q)
  if (p * bottom != q * top) { print "product " p "/" q ", computed " top "/" bottom; wrong = 1 }
  exit wrong
}
