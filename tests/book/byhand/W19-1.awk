# a stream that is taken more slowly than it is written: rate, bytes of an event, bytes taken a second, seconds, tokens
FNR == 1 { next }
{ s = $0; while (match(s, /[0-9.]*[0-9]/)) { v[++n] = substr(s, RSTART, RLENGTH) + 0; s = substr(s, RSTART + RLENGTH) } }
END {
  r = v[1]; e = v[2]; t = v[3]; sec = v[4]; all = v[5]
  k = split(sec " " r * sec " " r * sec " " e " " r * sec * e " " sec " " t " " sec * t " " r * sec * e - sec * t " " \
    all " " r " " all / r " " all " " e " " all * e " " all / r " " t " " all / r * t " " all * e - all / r * t, w, " ")
  if (n != 5 + k) { print n " numbers; wanted: " 5 + k; exit 1 }
  for (i = 1; i <= k; i++) if (v[5 + i] != w[i]) { print "number " 5 + i " is " v[5 + i] ", computed " w[i]; wrong = 1 }
  exit wrong || r != 50 || e != 180 || t != 3000 || sec != 10 || all != 800 }
