==== check
# a formula in p and g: the pairs that the loop counts
engine tests/planted/exercises/naive.c
for pg in "1 1" "7 20" "$(pick 2 100) $(pick 2 100)" "$(pick 2 100) $(pick 2 100)"; do
  set -- $pg; p=$1 g=$2; set -- $(run $p $g); computes 1 $4 p=$p g=$g
done
==== answer
((p+g-1)*(p+g)*(p+g+1)-(p-1)*p*(p+1))/6
==== wrong
g*p*(p+1)/2+g*(g+1)*(g+2)/6
==== skeleton
# a formula in p and g: the pairs
