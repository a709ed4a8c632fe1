# a thousand bytes: what a row, a token and the cache take, and how many tokens fit; every line is reckoned from the first
/^A model has/ {
  n = split(numbers($0), g, " "); if (n != 7) bad("given: " numbers($0))
  layers = g[1]; queries = g[2]; heads = g[3]; dim = g[4]; bytes = g[5]; weights = g[6]; all = g[7]
  row = 2 * heads * dim * bytes; token = layers * row; left = all - weights; many = queries / heads * token
  given++
}
/&/ { # each line of the table, words taken away
  at = numbers($0); line++
  if (line == 1) want("2*" heads "*" dim "*" bytes "=" row)
  if (line == 2) want(layers "*" row "=" token)
  if (line == 3) want(all "-" weights "=" left)
  if (line == 4) want(left "/" token "=" left / token " " int(left / token))
  if (line == 5) want(queries " " left "/" many "=" left / many " " int(left / many))
  if (line == 6) {
    split(at, x, " "); w = x[1]; n = int((left - w * row) / (row * (layers - 1)))
    want(w " " n "*" row "+" w "*" row "=" (layers - 1) * n * row + w * row " " n)
    if (!(n > w && w > 0 && (layers - 1) * n * row + w * row == left)) bad("the window does not fill the rest")
  }
}
END { exit wrong || given != 1 || line != 6 }
# the numbers and signs of a line, in order
function numbers(s) {
  sub(/\\\\$/, "", s); gsub(/\\cdot/, "*", s); gsub(/\\div/, "/", s); gsub(/\. /, " ", s); sub(/\.$/, "", s)
  gsub(/[^-0-9.*\/+=]+/, " ", s); gsub(/^ | $/, "", s); return s
}
function want(s) { if (at != s) bad("there: " at "   wanted: " s) }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
