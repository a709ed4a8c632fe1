# three ways to stop: logarithms, scores, a pool of two, and what each way asks of the best beam
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
function off(a, b, e) { return a - b > e || b - a > e }
function squeeze(s) { gsub(/ /, "", s); sub(/nothing/, "", s); gsub(/stop/, ".", s); return s }
function words(s,   i, w, x) { w = ""; for (i = 1; i <= length(s); i++) { x = substr(s, i, 1); w = w (w == "" ? "" : " ") (x == "." ? "stop" : x) } return w }
FNR == 1 { next }
{ line = $0; gsub(/\\\.\{/, "", line); gsub(/}/, "", line); text = text " " line }
/&/ && !/^text / {
  split($0, c, / *& */); key = squeeze(c[1]); l = log(c[3]); n = length(key)
  if (c[2] != n) bad(key " finishes in step " n)
  if (off(c[4], l, 5.1e-4) || off(c[5], l / n, 5.1e-4)) bad(key ": " l " " l / n)
  line_[++ended] = key; step[key] = c[2]; logs[key] = c[4]; score[key] = c[5]
}
function offer(k,   i, s) { pool[++full] = k; for (i = full; i > 1 && score[pool[i]] > score[pool[i - 1]]; i--) { s = pool[i]; pool[i] = pool[i - 1]; pool[i - 1] = s }
  if (full > 2) full = 2 }
function beam(what,   m) { if (!match(text, what ", which has [0-9.]+[0-9]")) { bad("no beam " what); return 0 } m = substr(text, RSTART, RLENGTH); sub(/.* /, "", m); return log(m) }
END {
  for (i = 1; i <= ended; i++) { offer(line_[i]); first[step[line_[i]]] = pool[1]; second[step[line_[i]]] = pool[2]; size[step[line_[i]]] = full }
  if (ended != 5 || size[1] == 2 || size[2] != 2) bad("the pool is not full behind step 2")
  want("those that finish, with \\lambda=1:"); want("With \\lambda=0 the logarithms")
  want(sprintf("After step 2 the pool is full, with %.3f and %.3f", score[first[2]], score[second[2]]))
  want("true ends here, and returns " words(first[2]))
  b = beam("the best beam, a b")
  want(sprintf("its logarithm is %.3f, and %.3f/2=%.3f is better", b, b, b / 2)); if (!(b / 2 > score[second[2]])) bad("false would end in step 2")
  want(sprintf("Step 3 puts %.3f in and %.3f out", score[first[3]], score[second[2]]))
  b = beam("The best beam is now a a b")
  want(sprintf("and %.3f/3=%.3f is worse than %.3f", b, b / 3, score[second[3]])); if (b / 3 > score[second[3]]) bad("false would go on")
  want("false ends here and returns " words(first[3]))
  want(sprintf("greatest length, %.3f/4=%.3f, and goes on", b, b / 4)); if (!(b / 4 > score[second[3]])) bad("never would end")
  want(sprintf("In step 4 %.3f pushes out %.3f", score[second[4]], score[second[3]])); if (first[4] != first[3]) bad("the best text is another")
  for (k in score) if (k != second[4] && step[k] == 4) want(sprintf("and %.3f does not get in", score[k]))
  top = ""; for (k in logs) if (top == "" || logs[k] > logs[top]) top = k
  want(sprintf("the %s alone has %.3f", words(top), logs[top]))
  exit wrong != 0
}
