# a gate and its partner
# the numbers of the box in their order; each is computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9.]*[0-9]/)) { N[++n] = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH) } }
function is(i, x,  d) { d = N[i]; d = index(d, ".") ? 10 ^ -(length(d) - index(d, ".")) : 1; if (N[i] - x > 0.501 * d || x - N[i] > 0.501 * d) bad(i, x) }
function same(i, j) { if (N[i] + 0 != N[j] + 0) bad(i, N[j]) }
function bad(i, x) { print "number " i " is " N[i] ", computed " x; wrong = 1 }
END {
  if (n != 20) { print n " numbers"; exit 1 }
  is(1, N[2] / (N[2] + 1)); is(3, log(N[2])); same(6, 3); same(7, 1); is(8, N[6] * N[7]); same(9, 5); same(10, 8); is(11, N[9] * N[10]); same(12, 1); same(13, 8); is(14, 1 - N[1]); is(15, N[12] + N[13] * N[14]); is(16, N[15])
  same(17, 5); same(18, 4); same(19, 16); is(20, N[17] * N[18] * N[19]); exit wrong }
