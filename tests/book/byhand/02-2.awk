# the mixed values on their way to the probabilities: each number from those before it, to two digits
function near(name, printed, computed) { computed = computed < 0 ? -int(-computed * 100 + .5 + 1e-7) / 100 : int(computed * 100 + .5 + 1e-7) / 100
  if (printed == "" || printed - computed > 1e-6 || computed - printed > 1e-6) { print name " " printed ", computed " computed; wrong = 1 } seen++ }
function behind(what,    s) { s = all; if (!index(s, what)) { print "no " what; wrong = 1; return 0 } s = substr(s, index(s, what) + length(what)); gsub(/^[^-0-9]*/, "", s); return s + 0 }
{ all = all $0 " " }
/ & / && !/the & / { n = split($0, f, / *& */); v++; for (i = 1; i <= 4; i++) m[v, i] = f[i + 1] + 0 }
END {
  split("1 0.5 -1 0.5", given, " ")
  s = all; sub(/.*multiplied by /, "", s); sub(/, and added.*/, "", s); gsub(/ and /, ", ", s); split(s, factor, /, */)
  for (i = 1; i <= 4; i++) {
    near("multiplied", m[2, i], m[1, i] * factor[i])
    x = m[3, i] - m[2, i]; near("x", x < 0 ? -x : x, 1)
  }
  for (k = 0; k < 2; k++) {
    row = k == 0 ? 3 : 5; s = substr(all, index(all, k == 0 ? "The first norm" : "The second norm"))
    sub(/^[^0-9]*/, "", s); square = s + 0; sub(/^[0-9.]+, root /, "", s); root = s + 0
    near("square", square, (m[row, 1] ^ 2 + m[row, 2] ^ 2 + m[row, 3] ^ 2 + m[row, 4] ^ 2) / 4); near("root", root, sqrt(square))
    for (i = 1; i <= 4; i++) near("normed", m[row + 1, i], m[row, i] / root)
  }
  gate = behind("n_1-n_3="); near("gate", gate, behind("gate is ") * m[4, 1] - m[4, 3])
  other = behind("number is n_3="); near("other", other, m[4, 3])
  s = substr(all, index(all, "e^{-") + 4); near("again", s + 0, gate); sub(/^[0-9.]+}=/, "", s); e = s + 0; near("exp", e, exp(-gate))
  s = substr(all, index(all, "lets ") + 5); near("above", s + 0, gate); sub(/^[0-9.]+\//, "", s); under = s + 0; near("below", under, 1 + e)
  sub(/^[0-9.]+=/, "", s); through = s + 0; near("through", through, gate / under)
  s = substr(all, index(all, "through; times ") + 15); near("times", s + 0, other); sub(/^[-0-9.]+ is /, "", s); inner = s + 0; near("inner", inner, through * other)
  split("1 0 -1 0", sign, " ")
  for (i = 1; i <= 4; i++) near("h", m[5, i], m[3, i] + sign[i] * inner)
  ask[1] = -m[6, 3]; ask[2] = -m[6, 2] - m[6, 4]; ask[3] = m[6, 4]; ask[4] = m[6, 3] - m[6, 1]
  most = -9; for (i = 1; i <= 4; i++) { near("logit", m[7, i], ask[i]); if (m[7, i] > most) most = m[7, i] }
  for (i = 1; i <= 4; i++) { near("less", m[8, i], m[7, i] - most); near("exp", m[9, i], exp(m[8, i])); sum += m[9, i] }
  all9 = behind("exponentials is "); near("sum", all9, sum)
  for (i = 1; i <= 4; i++) near("probability", m[10, i], m[9, i] / all9)
  exit wrong || v != 10
}
