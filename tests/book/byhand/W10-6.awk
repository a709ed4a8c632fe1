# two steps of AdamW
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
END {
  if (n != 56) { print n " numbers"; exit 1 }
  is(9, 1 - N[2]); same(10, 8); is(11, N[9] * N[10]); is(12, 1 - N[4]); is(13, N[8] ^ 2); is(14, N[12] * N[13]); same(15, 9); same(16, 12); is(17, N[11] / N[15]); is(18, N[14] / N[16]); same(19, 17); is(20, sqrt(N[18])); is(21, N[19] / N[20])
  same(22, 7); same(23, 6); is(24, N[22] * N[23]); same(25, 6); same(26, 5); is(27, N[21] + N[24]); is(28, N[25] - N[26] * N[27])
  same(30, 2); same(31, 11); same(32, 9); same(33, 29); is(34, N[30] * N[31] + N[32] * N[33]); same(35, 4); same(36, 14); same(37, 12); is(38, N[29] ^ 2); is(39, N[35] * N[36] + N[37] * N[38])
  is(41, N[2] ^ 2); is(42, N[40] - N[41]); is(44, N[4] ^ 2); is(45, N[43] - N[44]); is(46, N[34] / N[42]); is(47, N[39] / N[45]); is(48, sqrt(N[47])); same(49, 46); same(50, 48); is(51, N[49] / N[50])
  is(52, N[7] * N[28]); same(53, 28); same(54, 5); is(55, N[51] + N[52]); is(56, N[53] - N[54] * N[55]); exit wrong }
