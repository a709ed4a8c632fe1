==== check
set -e
# a formula in p, g, a and b
f=$(grep -v "^#" "$1"); [ -n "$f" ]
for t in "3 4 10 1" "100 50 7 2" "5 1 9 9" "20 2 3 8"; do
  set -- $t; p=$1; g=$2; a=$3; b=$4; sum=0; i=1
  while [ $i -lt $g ]; do sum=$((sum + a + b * (p + i - 1))); i=$((i + 1)); done
  eval "x=\$(( $f ))"; [ "$x" = "$sum" ]
done
==== answer
(g-1)*(a+b*p)+b*(g-1)*(g-2)/2
==== wrong
(g-1)*(a+b*p)+b*g*(g-1)/2
==== skeleton
# in terms of p, g, a and b
