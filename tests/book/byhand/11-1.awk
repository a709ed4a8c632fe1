# eight products with three digits: the sums from left to right, the four lanes, the fold, and how many additions and instructions they take
/&/ {
  n = split($0, cell, "&"); name = cell[1]; gsub(/ /, "", name); lines++
  for (i = 2; i <= n; i++) gsub(/[ \\]/, "", cell[i])
  if (name == "product") for (i = 0; i < 8; i++) { x[i] = cell[i + 2] + 0; exact += x[i] }
  if (name == "sum") for (i = 0; i < 8; i++) { s = three(s + x[i]); same(cell[i + 2] + 0, s) }
  if (name ~ /^sum[0-3]$/) {
    i = substr(name, 4) + 0; lane[i] = three(x[i] + x[i + 4]); want(x[i] "+" x[i + 4] "=" lane[i], cell[2]); at[i, 3] = cell[3]; at[i, 4] = cell[4]
  }
}
/^The exact sum is/ {
  last++; gsub(/[^0-9. ]/, " "); gsub(/\. /, " "); sub(/\.$/, ""); gsub(/ +/, " "); gsub(/^ | $/, "")
  # the lanes begin at 0; a register of w numbers: the products, then for each halving one instruction for every w sums that are left
  want(exact " 0 8 " fold(1) " " 8 / 2 " " fold(2) " " 8 / 4 " " fold(4), $0)
}
END {
  for (i = 0; i < 2; i++) { half[i] = three(lane[i] + lane[i + 2]); want(lane[i] "+" lane[i + 2] "=" half[i], at[i, 3]) }
  one = three(half[0] + half[1]); want(half[0] "+" half[1] "=" one, at[0, 4])
  if (s == one) bad("both ways give " s); exit wrong || lines != 6 || last != 1
}
function fold(w,  n, k) { for (n = 2; n > 0; n /= 2) { k += n > w ? n / w : 1; if (n == 1) break } return k }
function three(v,  e) { e = 1; while (v / e >= 1000) e *= 10; while (v / e < 100) e /= 10; return int(v / e + 0.5 + 1e-9) * e }
function same(a, b) { if (a - b > 1e-9 || b - a > 1e-9) bad("there: " a "   wanted: " b) }
function want(s, at) { if (at != s) bad("there: " at "   wanted: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
