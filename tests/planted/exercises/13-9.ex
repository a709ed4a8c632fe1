==== check
# all ways that a pass can go, added up: seven guesses in a row; two first guesses with two more behind each; four first guesses
is $(awk 'BEGIN { split(".4 .3 .1 .05", first, " ")
  for (i = 0; i < 8; i++) chain += .4 ^ i
  two = 1 + (first[1] + first[2]) * (1 + .4 + .4 ^ 2); four = 1
  for (i = 1; i <= 4; i++) four += first[i]
  printf "%.2f %.2f %.2f\n", chain, two, four }')
==== answer
1.67 2.09 1.85
==== wrong
1.67 2.25 1.85
==== skeleton
# three numbers, two decimals: tokens of a pass with the chain, with two branches, with four
