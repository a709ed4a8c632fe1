# copies of an array that grows: 32 more each time, and twice as many and 32 more
function bad(t) { print t; wrong = 1 }
{ text = text " " $0 }
/^room in the block/ { n = split($0, room, / *& */); for (i = 2; i <= n; i++) if (room[i] + 0 != (i == 2 ? 32 : 2 * want + 32)) bad("room " room[i]); else want = room[i] + 0 }
/^copied into the next/ { split($0, copied, / *& */); for (i = 2; i < n; i++) if (copied[i] + 0 != room[i] + 0) bad("copied " copied[i]) }
/^copied so far/ { split($0, all, / *& */); for (i = 2; i < n; i++) { sum += copied[i]; if (all[i] + 0 != sum) bad("so far " all[i] ", computed " sum) } }
END {
  if (n != 7) bad("not six blocks")
  if (!match(text, /until [0-9]+/)) bad("how many?"); most = substr(text, RSTART + 6, RLENGTH - 6) + 0
  if (room[n - 1] + 0 >= most || room[n] + 0 < most) bad("room for " most)
  for (last = 32; last < most; last += 32) linear += last
  if (!index(text, "32+64+\\cdots+" last - 32 "=" linear)) bad("32 more each time: " last - 32 ", " linear)
  if (!index(text, "64, 96 and so on up to " last " elements")) bad("the last block has " last)
  if (sum >= 2 * most) bad("fewer than two")
  if (int(linear / most + .5) != 16) bad("sixteen")
  exit wrong
}
