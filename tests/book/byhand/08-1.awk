# a text byte by byte: for each line the longest end of the text with which a stop string begins, what is held, and what can go; then the sums below
/^A text is to end at/ { split($0, w, /[ ,.]+/); for (i = 1; w[i] != ""; i++) if (w[i] == "at" && w[i - 1] ~ /end|or/) stop[++stops] = w[i + 1] }
/&/ && !/tabular/ && !/byte/ {
  split($0, at, / *& */); byte = at[1]; text = text byte; rows++
  if (at[2] != text) bad("the text is " text)
  end = ""; found = ""
  for (i = 1; i <= stops; i++) for (k = 1; k <= length(stop[i]) && k <= length(text); k++)
    if (substr(text, length(text) - k + 1) == substr(stop[i], 1, k)) { if (k == length(stop[i])) found = stop[i]; else if (k > length(end)) end = substr(stop[i], 1, k) }
  if (found != "") { if (at[3] != found || at[4] at[5] != "") bad(found " is complete"); ended = found; whole = text; next }
  if (at[3] != end) bad("its end is " end)
  if (at[4] + 0 != length(end) || at[4] == "") bad(length(end) " are held")
  sub(/ *$/, "", at[5]); fresh = substr(text, shown + 1, length(text) - length(end) - shown)
  if (at[5] != fresh) bad(fresh " is released"); shown = length(text) - length(end)
}
/\// || /=/ { after = after " " $0 }
{ all = all " " $0 }
END {
  if (!index(all, (length(whole)) "-" length(ended) "=" (length(whole) - length(ended)) " bytes, " substr(whole, 1, length(whole) - length(ended)) ".")) bad("what is left")
  if (!index(all, "With the sixth byte " ended " is complete") || rows != 6) bad("where it ends")
  if (shown != length(whole) - length(ended)) bad("not all of it was released")
  exit wrong || stops != 2
}
function bad(s) { print "line " FNR ": " s; wrong = 1 }
