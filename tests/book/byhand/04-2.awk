# two means of values, weighted by exponentials: with the row itself and without it
{ text = text " " $0 }
END {
  gsub(/\\cdot/, "*", text); gsub(/\\div/, "/", text)
  n = 0; rest = text
  if (!match(text, /values 3 and 6/) || !match(text, /with the value 8/)) { print "the values"; exit 1 }
  while (match(rest, /\([0-9*+]+\)\/\([0-9+]+\)=[0-9]+\/[0-9]+=[0-9.]+/)) {
    line = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH); n++
    split(line, part, "="); split(part[1], top, /\)\/\(/); gsub(/[()]/, "", top[1]); gsub(/[()]/, "", top[2])
    k = split(top[1], term, "+"); sum = 0; under = ""
    for (i = 1; i <= k; i++) { split(term[i], f, "*"); sum += f[1] * f[2]; under = under (i > 1 ? "+" : "") f[1]; e[n, i] = f[1]; v[n, i] = f[2] }
    if (under != top[2]) { print "below the line: " top[2]; bad = 1 }
    m = split(top[2], u, "+"); all = 0; for (i = 1; i <= m; i++) all += u[i]
    split(part[2], q, "/"); if (q[1] != sum || q[2] != all) { print "quotient: " part[2]; bad = 1 }
    if (part[3] * all != sum) { print "result: " part[3]; bad = 1 }
    result[n] = part[3]; terms[n] = k
  }
  if (n != 2 || terms[1] != 3 || terms[2] != 2) { print n " lines"; exit 1 }
  for (i = 1; i <= 2; i++) if (e[1, i] != e[2, i] || v[1, i] != v[2, i]) bad = 1
  if (v[1, 1] != 3 || v[1, 2] != 6 || v[1, 3] != 8) bad = 1
  if (!match(text, "e.s is 1 for the first row, 2 for the second, and 3 for itself") || e[1, 1] != 1 || e[1, 2] != 2 || e[1, 3] != 3) { print "exponentials"; bad = 1 }
  if (!match(text, "has found " result[2] " where it should have found " result[1])) { print "the sentence"; bad = 1 }
  exit bad
}
