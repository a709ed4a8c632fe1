# a matrix forwards and back, and the difference
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
END {
  if (n != 61) { print n " numbers"; exit 1 }
  is(7, N[1] * N[5]); is(8, N[2] * N[6]); is(9, N[3] * N[5]); is(10, N[4] * N[6]); is(11, N[7] + N[8]); is(12, N[9] - N[10]); is(15, N[11] * N[12]); same(18, 12); same(19, 11)
  same(23, 1); same(24, 18); same(25, 3); same(26, 19); is(27, N[23] * N[24] + N[25] * N[26]); same(29, 2); same(30, 18); same(31, 4); same(32, 19); is(33, N[29] * N[30] - N[31] * N[32])
  same(34, 18); same(35, 5); same(36, 18); same(37, 6); is(38, N[34] * N[35]); is(39, N[36] * N[37]); same(40, 19); same(41, 5); same(42, 19); same(43, 6); is(44, N[40] * N[41]); is(45, N[42] * N[43])
  same(46, 27); is(49, N[48] * N[1] + N[6] * N[2]); is(50, N[48] * N[3] - N[6] * N[4]); is(51, N[49] * N[50]); is(54, N[53] * N[1] + N[6] * N[2]); is(55, N[53] * N[3] - N[6] * N[4]); is(56, N[54] * N[55])
  is(57, N[51] - N[56]); is(58, N[48] - N[53]); same(59, 57); same(60, 58); is(61, N[59] / N[60]); same(61, 27)
  exit wrong }
