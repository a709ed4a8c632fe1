# four weights at distances 0, 1, 2, 3: they sum to one; the products add up to the mean distance; logarithms to the entropy
{ text = text " " $0 }
END {
  gsub(/\\times/, "*", text); gsub(/\\[a-z]+/, " ", text); gsub(/[^0-9.*+=a-zA-Z,]/, " ", text)
  n = split("", p); s = text
  if (!match(s, /itself with [0-9.]+/)) exit 1
  p[0] = substr(s, RSTART + 12, RLENGTH - 12) + 0
  match(s, /back with [0-9., ]+ and +[0-9.]+/); t = substr(s, RSTART + 10, RLENGTH - 10); gsub(/,|and/, " ", t); split(t, q, / +/)
  for (i = 1; i <= 3; i++) p[i] = q[i] + 0
  sum = p[0] + p[1] + p[2] + p[3]; bad = sum != 1
  k = 0; m = 0; e = 0
  rest = text; step = 0
  while (match(rest, /[0-9.]+ *\* *[0-9.]+/)) {
    split(substr(rest, RSTART, RLENGTH), f, / *\* */); rest = substr(rest, RSTART + RLENGTH)
    if (step < 4) { if (f[1] + 0 != step || f[2] + 0 != p[step]) bad = 1; m += f[1] * f[2] }
    else { if (f[1] + 0 != p[step - 4] || 2 ^ (-f[2]) != f[1] + 0) bad = 1; e += f[1] * f[2] }
    step++
  }
  if (step != 8) bad = 1
  match(text, /= *[0-9.]+ *tokens/); if (substr(text, RSTART + 1) + 0 != m) bad = 1
  match(text, /= *[0-9.]+ *bits/); if (substr(text, RSTART + 1) + 0 != e) bad = 1
  match(text, /than the +[0-9]+ bits/); t = substr(text, RSTART, RLENGTH); gsub(/[^0-9]/, "", t); if (2 ^ t != 4) bad = 1
  exit bad
}
