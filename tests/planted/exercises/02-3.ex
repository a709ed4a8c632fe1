==== check
# two formulas: the number of orders of n tokens, counted; and the sum over all texts, by a random table of two tokens from three words
for n in 1 2 $(pick 3 5) $(pick 6 8); do
  computes 1 $(awk -v n=$n 'function count(k,  c, i) { if (k == 0) return 1; for (i = 0; i < k; i++) c += count(k - 1); return c } BEGIN { print count(n) }') n=$n
done
sum=$(awk -v seed=$(pick 1 1000) 'BEGIN { srand(seed)
  for (a = 1; a <= 3; a++) for (b = 1; b <= 3; b++) all += p[a, b] = rand()
  for (a = 1; a <= 3; a++) for (b = 1; b <= 3; b++) { column = (p[1, b] + p[2, b] + p[3, b]) / all; total += column * (p[a, b] / all / column) }   # the second word first
  printf "%.6f", total }')
computes 2 ${sum%.000000} n=$n
==== answer
n!
1
==== wrong
n*n
1
==== skeleton
# two lines: a formula in n (n! is allowed), how many orders; and the sum
