# softmax of three logarithms, the mixture, the slopes of the scores
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
function frac(i, x) { if (N[i] / N[i + 1] - x > 1e-9 || x - N[i] / N[i + 1] > 1e-9) bad(i, x) }
END {
  if (n != 53) { print n " numbers"; exit 1 }
  same(4, 1); same(5, 2); if (N[3] != 0) bad(3, 0); is(6, 1); is(7, N[4] + N[5] + N[6]); for (k = 0; k < 3; k++) frac(8 + 2 * k, N[4 + k] / N[7])
  for (k = 0; k < 3; k++) { same(17 + 3 * k, 14 + k); frac(18 + 3 * k, N[4 + k] / N[7]); m += N[17 + 3 * k] * N[18 + 3 * k] / N[19 + 3 * k] }
  is(26, m); same(28, 26)
  for (k = 0; k < 3; k++) { i = 29 + 6 * k; frac(i, N[4 + k] / N[7]); same(i + 2, 14 + k); same(i + 3, 26); d = N[i] / N[i + 1] * (N[i + 2] - N[i + 3]); frac(i + 4, d < 0 ? -d : d); sum += d; j = 47 + 2 * k; frac(j, d < 0 ? -d : d) }
  is(53, sum); exit wrong || N[27] != 1 }
