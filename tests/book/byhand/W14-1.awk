# slips from one word to another: wrong, too many, missing, exchanged
FNR == 1 { next }
/^& nothing/ { n = split($0, h, / *& */); for (j = 3; j <= n; j++) a[j - 2] = h[j]; n -= 2 }
/^(nothing|[a-z]) & [0-9]/ {
  split($0, c, / *& */); if (c[1] != "nothing") b[++i] = c[1]; else i = 0
  for (j = 0; j <= n; j++) {
    v = i == 0 ? j : j == 0 ? i : min(min(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + (a[j] != b[i]))
    if (i > 1 && j > 1 && a[j] == b[i - 1] && a[j - 1] == b[i]) v = min(v, d[i - 2, j - 2] + 1)
    if (c[j + 2] != v) bad(c[1] ", column " j ": " c[j + 2] ", computed " v)
    d[i, j] = v } rows++ }
{ text = text " " $0 }
END { for (j = 1; j <= n; j++) up = up a[j]; for (k = 1; k <= i; k++) left = left b[k]
  if (!index(text, "--" left ".") && !index(text, "--" up ".")) bad("the words " up " and " left)
  if (!index(text, "how the " d[3, 3] " between os and so comes about: " d[1, 1] "+1.")) bad("the exchange")
  exit wrong || rows != 5 || d[4, 4] != 1 }
function min(x, y) { return x < y ? x : y }
function bad(s) { print s; wrong = 1 }
