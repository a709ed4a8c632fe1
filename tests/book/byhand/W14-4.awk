# four bytes of ten: each answer is judged by its status, its range and its mark, and what it means and what we do follows
function bad(t) { print t; wrong = 1 }
function number(w,  i) { w = tolower(w); for (i = 1; i <= 12; i++) if (word[i] == w) return i; bad("no number: " w); return 0 }
function mark(s) { return match(s, /"v[0-9]+"/) ? substr(s, RSTART + 2, RLENGTH - 3) : "" }
BEGIN { split("one two three four five six seven eight nine ten eleven twelve", word, " ") }
FNR == 1 { next }
{ text = text " " $0 }
/^A file has / {
  t = $0; sub(/^A file has /, "", t); sub(/ bytes.*/, "", t); size = number(t)
  t = $0; sub(/^[^.]*\. /, "", t); sub(/ had come.*/, "", t); have = number(t)
  ours = mark($0); given++
  if (!index($0, "asks for the bytes from " have " on")) bad("the next run asks from byte " have " on")
}
/^[0-9]+ *[,&]/ {
  n = split($0, c, / *& */); rows++; if (n != 3) bad("not three columns: " $0)
  status = c[1] + 0; m = mark(c[1]); ranged = match(c[1], /[0-9]+-[0-9]+\/[0-9]+/)
  if (ranged) { split(substr(c[1], RSTART, RLENGTH), r, /[-\/]/); if (r[1] != have || r[2] != r[3] - 1) bad("not the rest from byte " have " of " r[3] " bytes: " c[1]) }
  means = "?"; we = "?"
  if (status == 206 && ranged && r[3] != size) { means = "part of another file"; we = "refuse, keep " word[have]; if (r[3] != size - 1) bad("another size than one byte less: " c[1]) }
  else if (status == 206 && ranged && m == ours) { means = "the rest of it"; we = "append " word[r[2] - r[1] + 1] " bytes" }
  else if (status == 206 && ranged && m == ours + 1) { means = "the rest of another"; we = "ask for all" }      # the next version
  else if (status == 200 && c[1] == "200, " word[size] " bytes") { means = "all it has now"; we = "begin with these" }
  else if (status == 416 && !ranged) { means = "no such range"; we = "ask for all" }
  if (c[2] != means || c[3] != we) bad(c[1] ": " c[2] ", " c[3] "; wanted: " means ", " we)
  if (seen[means]++) bad("twice: " means)
}
END {
  if (given != 1 || size <= have) bad("what is given")
  if (rows != 5) bad(rows + 0 " answers")
  if (!index(text, "version is still \"v" ours "\", send the rest")) bad("the condition")
  if (!index(text, "A weak mark, W/\"v" ours "\"")) bad("the weak mark")
  exit wrong
}
