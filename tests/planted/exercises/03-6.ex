==== check
# a formula in p, g and w: pairs of the naive loop in a model whose rows see w positions, for p not below w
engine tests/planted/exercises/naive.c
for pgw in "8 5 8" "50 10 1" "$(pick 20 90) $(pick 2 60) $(pick 2 20)" "$(pick 20 90) $(pick 2 60) $(pick 2 20)"; do
  set -- $pgw; p=$1 g=$2 w=$3; set -- $(run $p $g $w); computes 1 $4 p=$p g=$g w=$w
done
==== answer
w*(p*g+g*(g-1)/2)-g*w*(w-1)/2
==== wrong
w*(p*g+g*(g-1)/2)
==== skeleton
# a formula in p, g and w
