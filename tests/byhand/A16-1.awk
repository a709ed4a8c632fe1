# three sums in one byte: what is believed is what one byte keeps of a sum, what is asked is a difference or a quotient
FNR > 1 { s = $0; while (match(s, /[0-9]+/)) { N[++n] = substr(s, RSTART, RLENGTH) + 0; s = substr(s, RSTART + RLENGTH) } }
function is(i, x) { if (N[i] != x) { print "number " i " is " N[i] ", computed " x; wrong = 1 } }
END {
  for (i = 1; i <= n; i++) list = list " " i ":" N[i]
  if (n != 43) { print n " numbers:" list; exit 1 }
  size = N[3]; top = N[2] + 1
  is(1, 0); is(5, 8); is(6, N[5]); is(7, N[4]); is(8, (N[5] + N[4]) % top); is(9, size); is(10, size); is(11, N[5]); is(12, N[10] - N[11]); is(13, N[4])
  is(16, N[15]); is(17, N[14]); is(18, (N[15] + N[14]) % top); is(19, size); is(20, size); is(21, N[15]); is(22, N[20] - N[21]); is(23, N[14])
  is(27, N[24]); is(28, N[25]); is(29, (N[24] * N[25]) % top); is(29, N[26]); is(30, top - 1); is(31, N[25]); is(32, int((top - 1) / N[25])); is(33, N[24])
  is(34, N[6]); is(35, N[7]); is(36, N[34] + N[35]); is(37, N[16]); is(38, N[17]); is(39, N[37] + N[38]); is(40, N[27]); is(41, N[28]); is(42, N[40] * N[41]); is(43, top)
  exit wrong }
