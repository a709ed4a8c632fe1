==== check
# the two exponents, and whether they explain what the program measured: 29 binary digits more in the losses
near 0.01 $(awk 'BEGIN { print 1 / 3, 2 / 3 }')
$build/bin/laboratory/gradients values | awk -v b="$(words | awk '{ print $2 }')" '$1 == "slopes.digits.double" { d = $2 } $1 == "slopes.digits.single" { s = $2 } END { want = b * 29 * log(2) / log(10); exit !(d - s > want - 0.5 && d - s < want + 0.5) }' || no "it does not explain the digits that were measured"
==== answer
0.3333 0.6667
==== wrong
0.5 0.5
==== skeleton
# the exponent of u in the best step, the exponent of u in the best error
