# products of bytes: what a sum of sixteen bits may hold, for weights of 8, 6, 5 and 4 bits
function same(name, printed, computed) { if (printed + 0 != computed) { print name " " printed ", computed " computed; wrong = 1 } }
{ all = all $0 " "; n = split($0, c, /[ \\]*&[ \\]*/); for (i = 1; i <= n; i++) gsub(/[^-0-9a-z ]/, "", c[i]) }
c[1] ~ /^weight/ && n == 5 { for (i = 2; i <= 5; i++) w[i] = c[i] + 0 }
c[1] ~ /^input/ { for (i = 2; i <= 5; i++) x[i] = c[i] + 0 }
c[1] ~ /^product/ { for (i = 2; i <= 5; i++) { p[i] = c[i] + 0; same("product", p[i], w[i] * x[i]) } }
c[1] ~ /^sum of two/ { big = c[3] + 0; same("sum", big, p[2] + p[3]); same("sum", c[5], p[4] + p[5]) }
c[1] ~ /^[4568] *$/ && n == 6 {
  lines++; b = c[1] + 0; same("weight", c[2], b == 8 ? 128 : 2 ^ b - 1); same("product", c[3], c[2] * 127); same("two", c[4], 2 * c[3])
  same("how many", c[5], b == 8 ? 1 : 2 ^ (7 - b)); same("together", c[6], c[5] * c[4])
  if (c[6] > 32767 || c[6] + c[4] <= 32767) { print "limit"; wrong = 1 }
  last = c[4]; many = c[5]
}
END {
  s = substr(all, index(all, "bits ends at ") + 13); same("limit", s + 0, 2 ^ 15 - 1); s = substr(all, index(all, "in place of ") + 12); same("too large", s + 0, big)
  sub(/^[0-9]+ the processor gives us /, "", s); same("limit", s + 0, 32767); s = substr(all, index(all, "is at most ") + 11); same("eight bits", s + 0, 128)
  s = substr(all, index(all, "in the last it makes ") + 21); same("one more", s + 0, many + 1); sub(/^[0-9]+[^0-9]+/, "", s); same("of two", s + 0, last)
  sub(/^[0-9]+=/, "", s); same("too large", s + 0, (many + 1) * last); s = substr(all, index(all, "A number of ") + 12); same("bits", s + 0, 16)
  if (big <= 32767 || lines != 4) { print "lines"; wrong = 1 }
  exit wrong
}
