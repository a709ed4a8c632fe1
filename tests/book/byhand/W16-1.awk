# a heap: numbers put in one after another, then the top taken out
/^[0-9] & / { split($0, c, / *& */); x[n++] = c[1]; for (i = n - 1; i > 0 && x[int((i - 1) / 2)] > x[i]; i = int((i - 1) / 2)) { t = x[i]; x[i] = x[int((i - 1) / 2)]; x[int((i - 1) / 2)] = t }
  if (shown() != c[2]) bad("in " c[1] ": " c[2] ", computed " shown()); given = given (given == "" ? "" : ", ") c[1] }
{ text = text " " $0 }
END {
  if (!index(text, "Put in " given ",")) bad("the numbers are " given)
  for (k = 0; n > 0; k++) { out = out (k ? ", " : "") x[0]; t = x[--n]; x[0] = t
    for (i = 0; (j = 2 * i + 1) < n; i = j) { if (j + 1 < n && x[j + 1] < x[j]) j++; if (x[j] >= x[i]) break; t = x[i]; x[i] = x[j]; x[j] = t }
    if (k == 0 && !index(text, "the array is " shown() ".")) bad("after the first: " shown()) }
  if (!index(text, "gives " out ".")) bad("out: " out)
  exit wrong
}
function shown(  i, s) { for (i = 0; i < n; i++) s = s (i ? " " : "") x[i]; return s }
function bad(t) { print t; wrong = 1 }
