==== check
# a name for which the exchange of two letters makes the difference
w=$(words); echo "$w" | grep -q '^--[a-z-]*$' || no "wanted: an option of generate, such as --jsno"
now=$($build/incipit generate "$w" x 2>&1 | sed -n 's/.*the nearest is --//p'); [ -n "$now" ] || no "the program proposes no name for it"
plain=$($build/incipit generate --help | sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' | awk -v a="${w#--}" '
  function slips(a, b,  i, j, d, x) { for (i = 0; i <= length(a); i++) for (j = 0; j <= length(b); j++) {
    x = i == 0 ? j : j == 0 ? i : d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1))
    if (i > 0 && d[i - 1, j] + 1 < x) x = d[i - 1, j] + 1
    if (j > 0 && d[i, j - 1] + 1 < x) x = d[i, j - 1] + 1
    d[i, j] = x } return d[length(a), length(b)] }
  { s = slips(a, $1); if (NR == 1 || s < best) { best = s; name = $1 } } END { print name }')
[ "$now" != "$plain" ] || no "without the exchange of letters the same name is proposed, $now"
==== answer
--jsnol
==== wrong
--ehco
==== skeleton
# an option of generate, misspelt
