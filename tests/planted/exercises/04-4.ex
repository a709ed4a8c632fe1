==== check
# a formula in p and k: pairs of the cached loop
engine tests/planted/exercises/cached.c
for pk in "3 4" "10 1" "$(pick 2 80) $(pick 2 80)"; do set -- $pk; p=$1 k=$2; set -- $(run $p $k 1); computes 1 $3 p=$p k=$k; done
==== answer
p*(p+1)/2+(k-1)*p+k*(k-1)/2
==== wrong
p*(p+1)/2+k*p+k*(k-1)/2
==== skeleton
# a formula in p and k: the pairs
