# eight requests in four slots: the lengths, in the order of arrival, give both schedules, the places and their shares
function bad(t) { print t; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
FNR == 1 { next }
{ text = text " " $0 }
/They want/ { t = $0; sub(/.*They want /, "", t); sub(/ tokens.*/, "", t); n = split(t, length_, /, | and /) }
/& / && /[A-H] \([0-9]+\)/ {
  split($0, c, / *& */); name = substr(c[1], 1, 1); w = c[1]; sub(/.*\(/, "", w); sub(/\).*/, "", w)
  k = index("ABCDEFGH", name); if (w + 0 != length_[k] + 0) bad(name " wants " w)
  from[k] = c[2] + 0; to[k] = c[3] + 0; slot = c[4]; gsub(/[ \\]/, "", slot); after[k] = slot; rows++
}
END {
  if (n != 8 || rows != 8) bad(n " requests, " rows " rows")
  for (i = 1; i <= n; i++) sum += length_[i]
  for (i = 1; i <= 4; i++) if (length_[i] > first) first = length_[i] + 0
  for (i = 5; i <= 8; i++) if (length_[i] > second) second = length_[i] + 0
  want("as long as its longest text, " first " steps; the second takes " second ". Together " first + second " steps")
  want("4\\cdot" first + second "=" 4 * (first + second) " places"); want("=" sum " tokens")
  want("written: " int(100 * sum / (4 * (first + second)) + .5) " percent")
  # continuously: the slot that is free first
  for (i = 1; i <= 4; i++) { free[i] = 0; who[i] = "" }
  for (i = 1; i <= n; i++) {
    best = 1; for (k = 2; k <= 4; k++) if (free[k] < free[best]) best = k
    if (from[i] != free[best] + 1 || to[i] != free[best] + length_[i] || after[i] != who[best]) bad(substr("ABCDEFGH", i, 1) ": from " free[best] + 1 " to " free[best] + length_[i] " after " who[best])
    free[best] += length_[i]; who[best] = substr("ABCDEFGH", i, 1)
    if (free[best] > last) { last = free[best]; latest = who[best] }
  }
  want("The last text, " latest ", ends with step " last); want(sum "/" 4 * last " of the places are used: " int(100 * sum / (4 * last) + .5) " percent")
  want("after step " to[6] " instead of step " first + length_[6])
  exit wrong
}
