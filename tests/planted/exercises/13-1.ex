==== check
# tokens are counted in passes whose guesses come true with this share; then the least number of guesses, by adding up
is $(awk 'BEGIN { a = .6; for (i = 0; i < 4; i++) sum += a ^ i; for (i = 0; i < 1000; i++) all += a ^ i
  for (t = 1; t < 2.4 - 1e-9; t += a ^ ++g); printf "%.3f %.1f %d\n", sum, all, g }')
==== answer
2.176 2.5 6
==== wrong
1.8 2.5 4
==== skeleton
# three numbers: the tokens expected, three decimals; the most there can be, one decimal; guesses
