# a stream of ids: what was held and what came, what is released, what is held
/[0-9a-f] & / || /^[0-9a-f][0-9a-f][^&]*&/ {
  if ($0 ~ /^bytes/) next
  n = split($0, c, "&"); for (i = 1; i <= 4; i++) gsub(/^ +| +$/, "", c[i])
  all = held (held == "" ? "" : " ") c[1]; if (c[2] != all) bad("together " c[2] ", computed " all)
  k = split(all, b, " "); keep = 0
  for (i = (k > 3 ? k - 2 : 1); i <= k; i++) { need = b[i] == first2 || b[i] ~ /^[cd]/ ? 2 : b[i] ~ /^e/ ? 3 : 0; if (need && k - i + 1 < need) { keep = k - i + 1; break } }
  out = ""; held = ""; for (i = 1; i <= k; i++) if (i <= k - keep) out = out (out == "" ? "" : " ") b[i]; else held = held (held == "" ? "" : " ") b[i]
  if (c[3] != out) bad("released " c[3] ", computed " out); if (c[4] != held) bad("held " c[4] ", computed " held)
  for (i = 1; i <= k - keep; i++) { v = b[i] ~ /^[0-7]/ ? 1 : b[i] ~ /^[cd]/ ? 2 : b[i] ~ /^e/ ? 3 : 0; if (!v) bad(b[i] " begins nothing"); for (j = 1; j < v; j++) if (b[++i] !~ /^[89ab]/) bad(b[i] " goes on with nothing") }
  rows++
}
{ text = text " " $0 }
END { if (!index(text, "below 80 is") || !index(text, "c3 begins one of two bytes, e2 one of three") || !index(text, "80 to bf go on")) bad("the three rules"); if (rows != 4) bad("rows " rows); exit wrong }
function bad(s) { print "line " FNR ": " s; wrong = 1 }
