==== check
# p in terms of g, so that rows/needed = 3g/4
engine tests/planted/exercises/naive.c
for g in 5 $(pick 6 40) $(pick 41 90); do
  p=$(formula 1 g=$g) || no "$p"
  [ "$p" -ge 1 ] && [ "$p" -le 200 ] || no "for g=$g the formula gives p=$p"
  set -- $(run $p $g); [ $((4 * $2)) = $((3 * g * $3)) ] || no "for g=$g and p=$p there are $2 rows computed and $3 needed, which is not 3g/4 times as many"
done
==== answer
g-1
==== wrong
g/2
==== skeleton
# a formula in g: p
