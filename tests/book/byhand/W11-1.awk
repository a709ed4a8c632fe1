# three choices: each chance comes from the weights, each bit from its chance, the sum and the product from both
function near(name, printed, computed) { if (printed - computed > .0005001 || computed - printed > .0005001) { print name " " printed ", computed " computed; wrong = 1 } }
function lb(x) { return log(x) / log(2) }
{ gsub(/\\/, "") }
/ with weight [0-9]+ or / { w[1] = substr($0, index($0, "with weight ") + 12) + 0 }
/ & .* & / { split($0, c, / *& */); p = c[3] ~ /frac/ ? substr(c[3], 5, 1) / substr(c[3], 6, 1) : c[3] + 0; if (c[4] ~ /^[0-9]/) { near("bits of " c[1], c[4] + 0, lb(1 / p)); chance[++n] = p; bits[n] = c[4] + 0 } }
{ all = all $0 " " }
END {
  s = all; sub(/.*_dog with weight /, "", s); w[2] = s + 0; near("animal", chance[1], w[1] / (w[1] + w[2]))
  match(all, /[0-9.]+\+[0-9.]+\+[0-9.]+=[0-9.]+/); s = substr(all, RSTART, RLENGTH); split(s, f, /[+=]/)
  for (i = 1; i <= 3; i++) near("term", f[i], bits[i])
  near("sum", f[4], bits[1] + bits[2] + bits[3])
  if (!match(all, /frac[0-9][0-9]cdotfrac[0-9][0-9]=frac[0-9][0-9]=2\^\{-[0-9.]+/)) { print "no product"; exit 1 }
  s = substr(all, RSTART, RLENGTH); split(s, f, /cdot|=|frac/)
  q = substr(s, 5, 1) / substr(s, 6, 1) * substr(s, 15, 1) / substr(s, 16, 1); sub(/^[^=]*=frac/, "", s); near("product", substr(s, 1, 1) / substr(s, 2, 1), q)
  if (q != chance[1] * chance[2]) { print "the factors are not the chances"; wrong = 1 }
  sub(/.*\{-/, "", s); near("exponent", s + 0, lb(1 / q))
  if (!match(all, /pays frac[0-9][0-9]cdot[0-9.]+\+frac[0-9][0-9]cdot[0-9]=[0-9.]+/)) { print "no mean"; exit 1 }
  s = substr(all, RSTART + 9, RLENGTH - 9); near("often", substr(s, 1, 1) / substr(s, 2, 1), chance[1]); t = substr(s, 7); near("bits", t + 0, bits[1])
  sub(/^[0-9.]+\+frac/, "", t); near("seldom", substr(t, 1, 1) / substr(t, 2, 1), 1 - chance[1]); u = substr(t, 7); near("bits of the other", u + 0, lb(1 / (1 - chance[1])))
  sub(/.*=/, "", u); near("mean", u + 0, chance[1] * bits[1] + (1 - chance[1]) * lb(1 / (1 - chance[1])))
  exit wrong
}
