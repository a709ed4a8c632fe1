# a file of two tensors: where each part begins, and what the two sums say
function same(name, printed, computed) { if (printed + 0 != computed) { print name " " printed ", computed " computed; wrong = 1 } }
{ all = all $0 " " }
/^[0-9]+ & [0-9]+ & / { split($0, r, / *& */); n++; from[n] = r[1] + 0; size[n] = r[2] + 0; what[n] = r[3] }
END {
  at = 0
  for (i = 1; i <= n; i++) { same("row " i, from[i], at); at += size[i] }
  for (i = 1; i <= n; i++) if (what[i] ~ /^a string of/) { split(what[i], w, " "); same("string", size[i], 8 + w[4]); t = what[i]; sub(/.*: /, "", t); same("letters", w[4], length(t)) }
  same("tensors", substr(what[3], index(what[3], ",") + 2), 2); same("keys", substr(what[4], index(what[4], ",") + 2), 1)
  same("alignment", substr(what[7], index(what[7], ",") + 2), 32); same("type of value", substr(what[6], index(what[6], "value: ") + 7), 4)
  for (i = 1; i <= n; i++) if (what[i] ~ /^how many dimensions/) { k++; d[k] = substr(what[i], index(what[i], ",") + 2) + 0; if (size[i + 1] != 8 * d[k]) { print "dimensions"; wrong = 1 } }
  end = from[18]; data = end; while (data % 32) data++
  same("data", from[19], data); same("zeros", size[18], data - end)
  split(substr(what[10], index(what[10], ": ") + 2), dim, / and /); cols = dim[1] + 0; rows = dim[2] + 0; a = rows * cols * 2; same("a", size[19], a)
  next_ = a; while (next_ % 32) next_++
  same("b begins", substr(what[17], index(what[17], ": ") + 2), next_); same("pad", size[20], next_ - a)
  split(what[15], q, ", "); b = q[2] * 4; same("b", size[21], b)
  same("first", substr(what[12], index(what[12], ": ") + 2), 0); same("F16", substr(what[11], index(what[11], ": ") + 2), 1); same("F32", substr(what[16], index(what[16], ": ") + 2), 0); same("version", substr(what[2], index(what[2], ",") + 2), 3)
  s = substr(all, index(all, "ends at byte ") + 13); same("end", s + 0, end)
  s = substr(all, index(all, "multiple of 32, which is ") + 25); k = s + 0; sub(/^[^0-9]*[0-9]+[^0-9]+/, "", s); same("unit", s + 0, 32); sub(/^[0-9]+=/, "", s); same("data", s + 0, data); same("times", k * 32, data)
  s = substr(all, index(all, "first tensor has ") + 17); same("rows", s + 0, rows); sub(/^.*=/, "", s)
  s = substr(all, index(all, "next multiple of 32 after ") + 26); same("a", s + 0, a); s = substr(s, index(s, "at ") + 3); same("offset", s + 0, next_)
  s = substr(all, index(all, "which is byte ") + 14); same("data", s + 0, data); sub(/^[0-9]+\+/, "", s); same("offset", s + 0, next_); sub(/^[0-9]+=/, "", s); same("b at", s + 0, data + next_)
  s = substr(all, index(all, "file ends at ") + 13); same("b at", s + 0, data + next_); sub(/^[0-9]+\+/, "", s); same("b", s + 0, b); sub(/^[0-9]+=/, "", s); same("size", s + 0, data + next_ + b)
  exit wrong
}
