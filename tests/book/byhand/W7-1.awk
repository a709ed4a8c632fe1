# ids: each line adds what it has; the cache has all that was read but the newest id
function ok(name, found, want) { if (found != want) { print "line " FNR ": " name " " found ", computed " want; wrong = 1 } }
/&/ && !/^what/ {
  split($0, f, / *& */); n = f[2]; sub(/.*=/, "", n)
  if (f[2] ~ /=/) { split(f[2], e, /[+=]/); ok("sum", e[3], e[1] + e[2]) }
  if (match(f[1], /[0-9]+ words/)) { w = substr(f[1], RSTART) + 0; said += w; words = words (words == "" ? "" : "+") w }
  if (/question/) { ok("frame", e[1], 5); ok("words", e[2], w) }
  if (/the answer,/) { ok("words", e[1], w); ok("mark", e[2], 1); answer = n; before = all }
  if (/asks/) ok("asks", n, 3)
  if (/line's end/) ok("line", n, 1)
  all += n; ok("so far", f[3], all); rows++
}
/^The prompt/ {
  t = $0; gsub(/[^0-9+=-]+/, " ", t); split(t, v, " ")
  # 27 4 10+5-1=14 27-14=13 27 2+4+3=9 18
  ok("prompt", v[1], all); ok("cache", v[3], before "+" answer "-1=" (before + answer - 1))
  ok("computed", v[4], all "-" (before + answer - 1) "=" (all - (before + answer - 1)))
  ok("prompt", v[5], all); ok("said", v[6], words "=" said); ok("manners", v[7], all - said); seen = 1
}
END { if (rows != 6 || !seen) { print "rows " rows; wrong = 1 } exit wrong }
