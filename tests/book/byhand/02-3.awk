# sums of three decimal digits, from the left and in pairs
{ text = text " " $0 }
function three(x) { return x + 0 >= 1 ? sprintf("%.2f", x) : sprintf("%.3f", x) }
function want(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
END {
  if (!match(text, /adds [0-9.+]+/)) exit 1
  n = split(substr(text, RSTART + 5, RLENGTH - 5), t, "+"); sum = t[1]
  for (i = 2; i <= n; i++) { if (i == 2) want(sum "+" t[i] "=" sprintf("%.3f", sum + t[i]) ", rounded " three(sum + t[i])); sum = three(sum + t[i]); exact += t[i] }
  want("the sum is " sum "."); a = three(t[1] + t[2]); b = three(t[3] + t[4])
  want(t[1] "+" t[2] " gives " a); want(t[3] "+" t[4] "=" b); want("together " sprintf("%.3f", a + b) ", rounded " three(a + b) ".")
  want("the true sum is " sprintf("%.3f", exact + t[1]))
  exit wrong
}
