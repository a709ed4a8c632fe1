==== check
# how two numbers of the toy format (three significant bits) are printed
numbers 2
lines | tr ',;' '  ' | awk '
function toy(x,  best, e, k, v) { best = 1; for (e = 0; e < 12; e++) for (k = 4; k < 8; k++) { v = k * 2 ^ e; if ((v - x) ^ 2 < (best - x) ^ 2) best = v } return best }
function shortest(x,  d, e, m, v, s, near) {
  for (d = 1; d < 4; d++) { near = ""
    for (m = 10 ^ (d - 1); m < 10 ^ d; m++) for (e = 0; e < 4; e++) { v = m * 10 ^ (e - d + 1); if (v >= 1 && toy(v) == x && (near == "" || (v - x) ^ 2 < (near - x) ^ 2)) near = v }
    if (near != "") return near } }
{ for (i = 1; i <= NF; i++) if (++n == 1) a = $i; else b = $i }
END { exit !(n == 2 && a + 0 == shortest(448) && b + 0 == shortest(512) && a ~ /^[0-9](\.[0-9])?e[0-9]$/ && b ~ /^[0-9]e[0-9]$/) }' || no "one of them is not the shortest that is read back as this number, as 1.1e2 is written"
==== answer
4.5e2
5e2
==== wrong
4e2
5e2
==== skeleton
# 448, then 512, as 1.1e2 is written
