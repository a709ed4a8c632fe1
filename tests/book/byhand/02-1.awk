# rows of tokens and positions, a query, scores, exponentials, weights: each number from those before it, to two digits
function near(name, printed, computed) { computed = computed < 0 ? -int(-computed * 100 + .5 + 1e-7) / 100 : int(computed * 100 + .5 + 1e-7) / 100
  if (printed == "" || printed - computed > 1e-6 || computed - printed > 1e-6) { print name " " printed ", computed " computed; wrong = 1 } seen++ }
function pairs(s, out,    n, m) { n = 0; while (match(s, /\([-0-9.,]+\)/)) { m = substr(s, RSTART + 1, RLENGTH - 2); out[++n] = m; s = substr(s, RSTART + RLENGTH) } return n }
{ all = all $0 " " }
/^[AB] & / { n = split($0, f, / *& */); rows++; for (i = 3; i <= 7; i++) cell[rows, i] = f[i]; head[rows] = f[1] }
END {
  n = pairs(all, p)
  for (i = 1; i <= 4; i++) { split(p[i], t, ","); token[i, 1] = t[1]; token[i, 2] = t[2] }
  for (i = 1; i <= 3; i++) { split(p[4 + i], t, ","); place[i, 1] = t[1]; place[i, 2] = t[2] }
  split(p[8], x, ","); split(p[9], a, ","); split(p[10], b, ",")
  for (i = 1; i <= 2; i++) { if (x[i] != token[3, i] || x[i + 2] != place[3, i]) wrong = 1; near("corner", token[4, i], -1) }
  near("square", (x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 + x[4] ^ 2) / 4, 1)
  s = all; sub(/.*number by number, times /, "", s); sub(/, that is.*/, "", s); gsub(/ and /, ", ", s); split(s, factor, /, */)
  for (i = 1; i <= 2; i++) { near("A", a[i], x[i] * factor[i]); near("B", b[i], x[i + 2] * factor[i + 2]) }
  s = all; sub(/.*sqrt2=/, "", s); scale = s + 0; near("scale", scale, 1 / sqrt(2))
  s = all; sub(/.*exponentials sum to /, "", s); total = s + 0
  for (h = 0; h < 2; h++) {
    most = -9; sum = 0
    for (r = 3 * h + 1; r <= 3 * h + 3; r++) {
      k = r - 3 * h
      near("q.k", cell[r, 3], h == 0 ? a[1] * token[k, 1] + a[2] * token[k, 2] : b[1] * place[k, 1] + b[2] * place[k, 2])
      near("score", cell[r, 4], cell[r, 3] * scale)
      if (cell[r, 4] + 0 > most) most = cell[r, 4]
    }
    for (r = 3 * h + 1; r <= 3 * h + 3; r++) { near("less", cell[r, 5], cell[r, 4] - most); near("exp", cell[r, 6], exp(cell[r, 5])); sum += cell[r, 6] }
    near("sum", total, sum)
    for (r = 3 * h + 1; r <= 3 * h + 3; r++) near("weight", cell[r, 7], cell[r, 6] / total)
  }
  exit wrong || rows != 6 || n < 10
}
