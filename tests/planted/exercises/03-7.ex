==== check
# two formulas in p and c, a line each: tokens written when the loop runs until the context c is full, and rows computed
engine tests/planted/exercises/naive.c
[ "$(lines | wc -l)" = 2 ] || no "wanted: two formulas, a line each"
for pc in "1 10" "10 10" "$(pick 2 40) $(pick 41 120)"; do
  set -- $pc; p=$1 c=$2; set -- $(run $p 1000 0 $c); computes 1 $5 p=$p c=$c; computes 2 $2 p=$p c=$c
done
==== answer
c-p+1
c*(c+1)/2-p*(p-1)/2
==== wrong
c-p
c*(c+1)/2-p*(p+1)/2
==== skeleton
# two lines, formulas in p and c: tokens written, then rows computed
