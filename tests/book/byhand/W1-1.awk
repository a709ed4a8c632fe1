# e^2 by a power of two and a short polynomial
function near(name, printed, computed, unit) { if (printed - computed > unit / 2 + 1e-9 || computed - printed > unit / 2 + 1e-9) { print name " " printed ", computed " computed; wrong = 1 } }
{ all = all $0 " " }
END {
  s = substr(all, index(all, "ln2=") + 4); ln2 = s + 0; near("ln 2", ln2, log(2), .01)
  s = substr(all, index(all, "we have ") + 8); x = s + 0; sub(/^[0-9.]+\//, "", s); near("again", s + 0, ln2, .001); sub(/^[0-9.]+=/, "", s); q = s + 0; near("quotient", q, x / ln2, .01)
  s = substr(all, index(all, "nearest to ") + 11); n = s + 0; near("n", n, int(q + .5), .1)
  s = substr(all, index(all, "left is ") + 8); near("x", s + 0, x, .1); sub(/^[0-9]+-/, "", s); near("n", s + 0, n, .1); sub(/^[0-9]+[^0-9]+/, "", s); near("ln2", s + 0, ln2, .001)
  sub(/^[0-9.]+=[0-9]+-/, "", s); p = s + 0; near("product", p, n * ln2, .001); sub(/^[0-9.]+=/, "", s); r = s + 0; near("rest", r, x - p, .001)
  s = substr(all, index(all, "r^2/2=1") + 7); near("r", s + 0, r, .001); sub(/^-[0-9.]+\+/, "", s); near("square", s + 0, r * r / 2, .01); sub(/^[0-9.]+=/, "", s); y = s + 0; near("sum", y, 1 + r + r * r / 2, .01)
  s = substr(all, index(all, "times that is ") + 14); near("result", s + 0, y * 2 ^ n, .01); sub(/.*truth is /, "", s); near("truth", s + 0, exp(x), .01)
  s = substr(all, index(all, "ln2, ") + 5); better = s + 0; near("a digit more", better, log(2), .001)
  s = substr(all, index(all, "the rest is ") + 12); r = s + 0; near("rest", r, x - n * better, .001); sub(/.*result /, "", s); near("result", s + 0, 2 ^ n * (1 + r + r * r / 2), .01)
  exit wrong
}
