# a test before a sum, a join before a sum, and a loop that is left before its turn ends
function bad(t) { print t; wrong = 1 }
function has(t) { if (!index(text, t)) bad("not there: " t) }
{ gsub(/\\textasciitilde/, "~"); gsub(/_/, " "); gsub(/  +/, " "); text = text " " $0 }
/ is even / { # a + b is even
  if (!match($0, /[0-9]+ [+] [0-9]+ is even/)) bad("no sum with a test"); split(substr($0, RSTART, RLENGTH), e, " "); a = e[1]; b = e[3]
  even = b % 2 == 0; split("zero One Two Three Four Five Six Seven Eight Nine", word, " "); tests = 1
  s = "binds tighter than a sum: " a "+(" b " is even). " word[b + 1] " is " (even ? "even; true" : "odd; false") " is " even + 0 "; so " a + even " is printed."
  if (!index($0, s)) bad("computed: " s)
}
/ ~ / { # 'text' ~ a + b: the join first, and then a text and a number
  if (!match($0, /'[a-z]+' ~ [0-9]+ [+] [0-9]+/)) bad("no join with a sum"); split(substr($0, RSTART, RLENGTH), e, " "); left = e[1]; sub(/'$/, "", left); left = left e[3] "'"; joins = 1
  s = "binds tighter than the plus: " left " plus " e[5] ". " (left ~ /^'/ ? "A text and a number have no sum, and the template fails." : left + e[5] " is printed.")
  if (!index($0, s)) bad("computed: " s)
}
/ a loop over / { # the note that there was an item is made at the end of a turn
  match($0, /loop over [a-z]+ items/); split(substr($0, RSTART, RLENGTH), e, " "); items = e[3] == "one" ? 1 : e[3] == "two" ? 2 : e[3] == "three" ? 3 : 0; if (!items) bad("no items")
  idle = 1; for (turn = 1; turn <= items; turn++) { if (index($0, "whose body is a break")) break; idle = 0 }
  match($0, /whose else says [a-z]+/); says = substr($0, RSTART + 16, RLENGTH - 16); loops = 1
  s = (turn == 1 ? "the first turn never comes to its end: " : "") (idle ? says : "nothing") " is printed."
  if (!index($0, s)) bad("computed: " s)
}
END { has("Jinja notes at the end of a turn that there was one"); if (tests + joins + loops != 3) bad("not three templates"); exit wrong }
