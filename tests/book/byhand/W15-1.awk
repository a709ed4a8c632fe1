# a text that is streamed: rows of each pass and so far, and what a program reads that keeps nothing
function ok(name, found, want) { if (found != want) { print "line " FNR ": " name " " found ", computed " want; wrong = 1 } }
/^A prompt has/ { match($0, /has [0-9]+/); ids = substr($0, RSTART + 4, RLENGTH - 4) + 0; match($0, /taken [0-9]+/); new = substr($0, RSTART + 6, RLENGTH - 6) + 0 }
/&/ && !/^what/ {
  split($0, f, / *& */)
  ok("rows", f[2], rows == 0 ? ids : 1)
  all += f[2]; ok("so far", f[3] + 0, all); rows++
}
/So [0-9]+ rows/ {
  t = $0; gsub(/[^0-9+=-]+/, " ", t); sub(/^ /, "", t); split(t, v, " ")
  ok("computed", v[1], all); ok("sum", v[2], ids "+" new "-1"); ok("that", v[1], ids + new - 1); seen = 1
}
/^\+?[0-9]+\+[0-9]+\+[0-9]+=/ || /4\+5/ {
  t = $0; match(t, /[0-9]+\+[0-9+]+=[0-9]+/); e = substr(t, RSTART, RLENGTH); split(e, h, "="); k = split(h[1], p, "+"); s = 0
  for (i = 1; i <= k; i++) { ok("pass " i, p[i], ids + i - 1); s += p[i] }
  ok("passes", k, new); ok("naive", h[2], s); naive = 1
}
END { if (rows != new || !seen || !naive) { print "rows " rows " seen " seen " naive " naive; wrong = 1 } exit wrong }
