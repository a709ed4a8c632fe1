==== check
# tokens expected, divided by the time, for every number of guesses
is $(awk 'function best(a,  g, most, t, x) { t = 0; for (g = 0; g < 50; g++) { t += a ^ g; x = t / (1 + .15 * g); if (x > most) { most = x; at = g } } return at }
  BEGIN { print best(.8), best(.4) }')
==== answer
5 1
==== wrong
4 1
==== skeleton
# two numbers: guesses if eight of ten come true, guesses if four do
