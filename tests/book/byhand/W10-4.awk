# a norm, its way back, and the slope along the row
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
END {
  if (n != 49) { print n " numbers"; exit 1 }
  is(6, N[1] ^ 2); is(7, N[2] ^ 2); is(9, (N[6] + N[7]) / N[8]); is(12, 1 / sqrt(N[9])); is(12, N[10] / N[11]); same(15, 3); same(16, 13); same(17, 4); same(18, 14); is(19, N[15] * N[16]); is(20, N[17] * N[18])
  is(21, N[19] * N[1]); is(22, N[20] * N[2]); is(24, (N[21] + N[22]) / N[23]); same(26, 24); same(27, 9); is(28, N[26] / N[27])
  same(29, 12); same(30, 19); is(31, N[28] * N[1]); same(32, 12); same(33, 20); is(34, N[28] * N[2]); is(35, N[29] * (N[30] - N[31])); is(36, -N[32] * (N[33] - N[34]))
  same(37, 35); same(38, 1); same(39, 36); same(40, 2); is(41, N[37] * N[38] - N[39] * N[40]); same(42, 13); same(43, 1); same(44, 12); is(45, N[42] * N[43] * N[44]); same(46, 14); same(47, 2); same(48, 12); is(49, N[46] * N[47] * N[48])
  exit wrong || N[5] != 0 }
