# a search with two beams: products of a beam's probability and what follows it; which two are best; greedy's product, and the bound on what was dropped
function bad(s) { print "line " FNR ": " s; wrong = 1 }
function want(s) { if (!index(text, s)) { print "not there: " s; wrong = 1 } }
# a text and the first letters of its words
function letters(s) { sub(/^Then/, "", s); gsub(/again/, "a", s); gsub(/birds/, "b", s); gsub(/came/, "c", s); gsub(/ /, "", s); return s }
function words(k,   i, s) { for (i = 1; i <= length(k); i++) s = s (i > 1 ? " " : "") (substr(k, i, 1) == "a" ? "again" : substr(k, i, 1) == "b" ? "birds" : "came"); return s }
function off(a, b) { return a - b > 1e-9 || b - a > 1e-9 }
FNR == 1 { next }
{ text = text " " $0 }
/^As first|probabilities 0/ { if (match($0, /probabilities [0-9.]+, [0-9.]+ and [0-9.]+/)) { split(substr($0, RSTART + 14, RLENGTH - 14), f, /, | and /); for (i = 1; i <= 3; i++) p["", i] = f[i]; sum = f[1] + f[2] + f[3]; if (off(sum, 1)) bad("first step " sum) } }
/&/ && !/^(after|grown from) / {
  n = split($0, c, / *& */)
  if (n != 4) next
  if (index(c[1], "which has")) {
    split(c[1], part, ", which has "); key = letters(part[1])
    score[key] = part[2] + 0; grown++
    for (i = 1; i <= 3; i++) {
      if (off(c[i + 1], part[2] * p[key, i])) bad(c[1] " " c[i + 1] " is not " part[2] * p[key, i])
      grew[key substr("abc", i, 1)] = c[i + 1] + 0
    }
    if (length(key) == 1 && off(part[2], p["", index("abc", key)])) bad("beam " key)
    if (length(key) == 2 && off(part[2], grew[key])) bad("beam " key)
  } else {
    key = letters(c[1]); rows++
    for (i = 1; i <= 3; i++) p[key, i] = c[i + 1] + 0
    if (off(p[key, 1] + p[key, 2] + p[key, 3], 1)) bad("no distribution after " key)
  }
}
function best(length_, but,   k, m) { m = ""; for (k in grew) if (length(k) == length_ && k != but && (m == "" || grew[k] > grew[m])) m = k; return m }
END {
  one = best(2, ""); two = best(2, one); end = best(3, ""); rest = 0
  if (!(one in score) || !(two in score)) bad("the two best after two steps are " one " and " two)
  third = 0; for (k in grew) if (length(k) == 2 && k != one && k != two && grew[k] > third) third = grew[k]
  if (third < p["", 3]) third = p["", 3]
  g = p["", 1] * p["a", 1] * p["aa", 1]
  want(p["", 1] "\\cdot" p["a", 1] "\\cdot" p["aa", 1] "=" g)
  want("With two beams, again has " p["", 1] " and birds has " p["", 2])
  want(sprintf("%s leads with %.2f, before %s with %.2f", words(one), grew[one], words(two), grew[two]))
  want("leader's first word was again; now it is " words(substr(one, 1, 1)))
  want(sprintf("Then %s has %.2f, more than the greedy text's %s", words(end), grew[end], g))
  want(sprintf("had at most %.2f by then", third))
  if (third >= grew[end]) bad("what was dropped could be better")
  exit wrong || rows != 4 || grown != 4
}
