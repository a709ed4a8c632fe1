==== check
# the number of keys at which attention does as much as the matrices of a layer, from the shapes alone
d=2048; inner=5632; kv=256
layer=$((2 * d * d + 2 * d * kv + 3 * d * inner)); is $((layer / (2 * d)))
==== answer
10752
==== wrong
12288
==== skeleton
# tokens
