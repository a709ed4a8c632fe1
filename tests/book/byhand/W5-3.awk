# a walk through a double array: a place, its offset and a byte give the next place; where a key ends, place and offset give its string
function bad(t) { print t; wrong = 1 }
function hex(s,  i, d, v) { for (i = 1; i <= length(s); i++) { d = index("0123456789abcdef", tolower(substr(s, i, 1))); if (!d) bad("not hexadecimal: " s); v = 16 * v + d - 1 } return v + 0 }
function either(a, b,  bit, v) { for (bit = 1; bit <= a || bit <= b; bit *= 2) if (int(a / bit) % 2 != int(b / bit) % 2) v += bit; return v + 0 }
function is(name, printed, computed) { if (printed !~ /^[0-9a-f]+$/ || hex(printed) != computed) bad(name " " printed ", computed " sprintf("%x", computed)) }
function fresh(place) { if (place in seen) bad("a place twice: " place); seen[place] = 1 }
{ gsub(/\\texttt */, ""); gsub(/\\oplus/, " ^ "); text = text " " $0 }
/The map has/ { # the entries, the strings and the root
  s = $0; while (match(s, /[A-Z]+ becomes [a-z]/)) { split(substr(s, RSTART, RLENGTH), e, " "); map[e[1]] = e[3]; entries++; s = substr(s, RSTART + RLENGTH) }
  s = $0; sub(/.*The strings are /, "", s); sub(/[.].*/, "", s); bytes = split(s, string, /, /)
  if (!match($0, /The root, unit [0-9]+, has the offset [0-9a-f]+/)) bad("no root")
  split(substr($0, RSTART, RLENGTH), e, /[, ]+/); is("root", e[4], 0); node = 0; offset = hex(e[8]); fresh(node)
}
/^(byte|value) / { if (split($0, c, / *& */) != 4) bad("not four columns") }
/^byte / { # byte X, code & node ^ offset ^ code = place & label code, offset offset, end & see place ^ offset
  split(c[1], e, /[, ]+/); byte = index("ABCDEFGHIJKLMNOPQRSTUVWXYZ", e[2]) + 64; key = key e[2]; is("byte " e[2], e[3], byte)
  if (split(c[2], f, / *[\^=] */) != 4) bad("no place"); is("node", f[1], node); is("its offset", f[2], offset); is("byte", f[3], byte)
  node = either(either(node, offset), byte); is("place", f[4], node); fresh(node)
  split(c[3], e, /[, ]+/); is(e[1], e[2], byte); offset = hex(e[4]); if (e[1] != "label" || e[3] != "offset" || (e[5] == "end") != (key in map)) bad("the unit of " key)
  sub(/^see /, "", c[4]); split(c[4], f, / *\^ */); is("see", f[1], node); is("see, offset", f[2], offset); bits++
}
/^value / { # value & place & where the string begins & string where: letter
  is("place of the value", c[2], either(node, offset)); fresh(either(node, offset)); value = 0
  for (i = 1; i < bytes; i++) if (string[i] == map[key] && (i == 1 || string[i - 1] == "a zero") && string[i + 1] == "a zero") value = i
  if (!value) bad("no string " map[key]); else is("value", c[3], value - 1)
  split(c[4], e, /[: ]+/); is("string", e[2], value - 1); if (e[1] != "string" || e[3] != map[key]) bad("the string of " key " is " map[key]); values++
}
END {
  split("one two three four five six seven", word, " ")
  if (!entries || bits != length(key) || values != entries || !index(text, "The map has " word[entries] " entries")) bad("entries: " entries ", values: " values)
  if (!index(text, "in a text " key "? ") || !index(text, "takes the longest key, so the answer is " map[key] ".")) bad("the longest key is " key)
  for (i in seen) units++; if (!index(text, "the same " word[units] " numbers")) bad("units: " units)
  exit wrong
}
