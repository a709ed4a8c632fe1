# three sums in one byte: what is believed is what one byte keeps of a sum, what is asked is a difference or a quotient
FNR > 1 { s = $0; while (match(s, /[0-9]+/)) { N[++n] = substr(s, RSTART, RLENGTH) + 0; s = substr(s, RSTART + RLENGTH) } }
function is(i, x) { if (N[i] != x) { print "number " i " is " N[i] ", computed " x; wrong = 1 } }
END {
  for (i = 1; i <= n; i++) list = list " " i ":" N[i]
  if (n != 41) { print n " numbers:" list; exit 1 }
  size = N[3]; top = N[2] + 1
  is(1, 0); is(4, 8); is(6, N[4]); is(7, N[5]); is(8, (N[4] + N[5]) % top); is(9, size); is(10, N[4]); is(11, size - N[4]); is(12, N[5])
  is(15, N[14]); is(16, N[13]); is(17, (N[14] + N[13]) % top); is(18, size); is(19, N[14]); is(20, size - N[14]); is(21, N[13])
  is(25, N[22]); is(26, N[23]); is(27, (N[22] * N[23]) % top); is(27, N[24]); is(28, top - 1); is(29, N[23]); is(30, int((top - 1) / N[23])); is(31, N[22])
  is(32, N[4]); is(33, N[5]); is(34, N[4] + N[5]); is(35, N[14]); is(36, N[13]); is(37, N[35] + N[36]); is(38, N[22]); is(39, N[23]); is(40, N[38] * N[39]); is(41, top)
  exit wrong || N[11] >= N[12] || N[20] >= N[21] || N[30] >= N[31] }
