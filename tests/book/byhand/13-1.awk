# a pass of four rows: a guess is right if the row before it chooses that token; what a pass brings at least and at most
function bad(t) { print t; wrong = 1 }
function want(s) { if (!index(text, s)) bad("not there: " s) }
FNR == 1 { next }
{ text = text " " $0 }
/^The text ends in/ {
  t = $0; sub(/.*would go on with /, "", t); sub(/, if we.*/, "", t); n = split(t, model, " ")
  t = $0; sub(/.*guesses /, "", t); sub(/\..*/, "", t); guesses = split(t, guess, " ")
  t = $0; sub(/.*ends in /, "", t); sub(/,.*/, "", t); guess[0] = t
}
/^[0-9]+ *&/ {
  split($0, at, / *& */); rows++
  if (at[1] != rows) bad("row " at[1] " is row " rows)
  if (at[2] != guess[rows - 1]) bad("row " rows " has the token " at[2] ", guessed was " guess[rows - 1])
  if (!ended && at[3] != model[rows]) bad("row " rows " chooses " at[3] ", the model writes " model[rows])
  if (!ended) { written = written (written == "" ? "" : " ") at[3]; tokens++ }
  if (!ended && at[3] == guess[rows]) { right++; if (at[4] !~ "go on with row " rows + 1) bad("after row " rows ": " at[4]) }
  else if (!ended) { ended = rows; if (at[4] !~ guess[rows] ".*wrong, and here we stop") bad("row " rows " is wrong: " at[4]) }
  else if (at[4] !~ /does not exist/) bad("row " rows ": " at[4])
}
END {
  split("one two three four five six", word, " ")
  if (rows != guesses + 1) bad(rows " rows for " guesses " guesses")
  want("The pass reads " word[rows] " rows"); want("grows by " written ": " word[tokens] " tokens from one pass")
  want(toupper(substr(word[right], 1, 1)) substr(word[right], 2) " of them had been guessed")
  want("If all " word[guesses] " guesses are wrong, row 1 still chooses"); want("If all are right, row " guesses + 1 " chooses one more"); want("the pass brings " word[guesses + 1])
  exit wrong
}
