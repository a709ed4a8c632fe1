==== check
set -e
# the two exponents, and whether they explain what the program measured: 29 binary digits more in the losses
sh tests/numbers.sh 2 "$1" || exit 1
awk '!/^#/ && NF == 2 { n++; a = $1; b = $2 } END { exit !(n == 1 && (a - 1 / 3) ^ 2 < 1e-4 && (b - 2 / 3) ^ 2 < 1e-4) }' "$1"
$BUILD/bin/laboratory/gradients values | awk -v b="$(awk '!/^#/ { print $2 }' "$1")" '$1 == "slopes.digits.double" { d = $2 } $1 == "slopes.digits.single" { s = $2 } END { want = b * 29 * log(2) / log(10); exit !(d - s > want - 0.5 && d - s < want + 0.5) }'
==== answer
0.3333 0.6667
==== wrong
0.5 0.5
==== skeleton
# the exponent of u in the best step, the exponent of u in the best error
