# a rotation, its way back, and the products that must agree
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
END {
  if (n != 36) { print n " numbers"; exit 1 }
  c = N[1]; s = N[2]; if (c * c + s * s < 0.999999 || c * c + s * s > 1.000001) bad(1, "no rotation")
  same(5, 3); same(6, 1); same(7, 4); same(8, 2); is(13, -(N[5] * N[6] - N[7] * N[8])); same(9, 3); same(10, 2); same(11, 4); same(12, 1); is(14, N[9] * N[10] + N[11] * N[12])
  same(17, 15); same(18, 1); same(19, 16); same(20, 2); is(25, N[17] * N[18] + N[19] * N[20]); same(21, 16); same(22, 1); same(23, 15); same(24, 2); is(26, N[21] * N[22] - N[23] * N[24])
  same(27, 15); same(28, 13); same(29, 16); same(30, 14); is(31, -N[27] * N[28] + N[29] * N[30]); same(32, 25); same(33, 3); same(34, 26); same(35, 4); is(36, N[32] * N[33] + N[34] * N[35]); same(36, 31)
  exit wrong }
