# packing by hand: lengths of four texts, a row of eight; the numbers in their order, each computed again from earlier ones
FNR > 1 { s = $0; while (match(s, /[0-9]+/)) { N[++n] = substr(s, RSTART, RLENGTH) + 0; s = substr(s, RSTART + RLENGTH) } }
function is(i, x) { if (N[i] != x) { print "number " i " is " N[i] ", computed " x; wrong = 1 } }
END {
  for (i = 1; i <= n; i++) list = list " " i ":" N[i]
  if (n != 37) { print n " numbers:" list; exit 1 }
  for (i = 1; i <= 4; i++) is(i, i - 1)
  is(9, 0); is(10, N[5]); is(11, 1); is(12, N[5]); is(14, N[6]); is(15, N[12] + N[13] + N[14]); is(16, N[15]); is(17, 1); is(18, N[16] + N[17]); is(19, 2); is(21, N[18]); is(22, N[20] - N[21])
  is(23, N[7]); is(24, N[22]); is(25, N[23] - N[24]); is(26, 3); is(28, N[8]); is(29, N[27] + N[28]); is(30, 4)
  is(31, N[5]); is(32, N[6]); is(33, N[7]); is(34, N[31] + N[32] + N[33]); is(35, N[34]); is(36, N[25]); is(37, N[35] - N[36])
  exit wrong || N[13] != 1 || N[27] != 1 }
