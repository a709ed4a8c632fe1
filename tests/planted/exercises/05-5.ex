==== check
# a formula in p, g, a and b: the times of g - 1 rows, added one by one
for t in "3 4 10 1" "5 1 9 9" "$(pick 2 100) $(pick 2 50) $(pick 1 99) $(pick 1 9)"; do
  set -- $t; sum=0; i=1
  while [ $i -lt $2 ]; do sum=$((sum + $3 + $4 * ($1 + i - 1))); i=$((i + 1)); done
  computes 1 $sum p=$1 g=$2 a=$3 b=$4
done
==== answer
(g-1)*(a+b*p)+b*(g-1)*(g-2)/2
==== wrong
(g-1)*(a+b*p)+b*g*(g-1)/2
==== skeleton
# a formula in p, g, a and b
