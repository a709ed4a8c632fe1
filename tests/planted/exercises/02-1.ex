==== check
# three digits: each addition rounded; from the left, from the right, in two lanes
is $(awk 'function r(v,  p) { p = 2 - int(log(v) / log(10) + 1e-12); return int(v * 10 ^ p + .5) / 10 ^ p }
  BEGIN {
    t[1] = 1; for (i = 2; i <= 5; i++) t[i] = .004
    left = t[1]; for (i = 2; i <= 5; i++) left = r(left + t[i])
    right = t[5]; for (i = 4; i >= 1; i--) right = right + t[i] < .1 ? right + t[i] : r(right + t[i])     # sums that small are exact
    lane[0] = t[1]; lane[1] = t[2]; for (i = 3; i <= 5; i++) { k = 1 - i % 2; lane[k] = lane[k] + t[i] < .1 ? lane[k] + t[i] : r(lane[k] + t[i]) }
    printf "%.2f %.2f %.2f", left, right, r(lane[0] + lane[1])
  }')
==== answer
1.00 1.02 1.01
==== wrong
1.00 1.02 1.02
==== skeleton
# from the left, from the right, in two lanes
