==== check
# two formulas in p and k, a line each: rows computed, rows needed
engine tests/planted/exercises/naive.c
[ "$(lines | wc -l)" = 2 ] || no "wanted: two formulas, a line each"
for pk in "3 4" "10 1" "$(pick 2 80) $(pick 2 80)"; do
  set -- $pk; p=$1 k=$2; set -- $(run $p $k); computes 1 $2 p=$p k=$k; computes 2 $3 p=$p k=$k
done
==== answer
k*p+k*(k-1)/2
p+k-1
==== wrong
(k-1)*p+(k-1)*(k-2)/2
p+k-2
==== skeleton
# two lines, formulas in p and k: rows computed, then rows needed
