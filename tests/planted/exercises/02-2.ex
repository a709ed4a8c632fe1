==== check
# the hand calculation with "the" and " cat" exchanged: the head that notices, and the probability of the full stop
[ "$(words | wc -w)" = 2 ] || no "wanted: a head and a probability"
right=$(awk 'function norm(  s, i) { for (i = 1; i <= 4; i++) s += x[i] ^ 2 / 4; for (i = 1; i <= 4; i++) n[i] = x[i] / sqrt(s) }
  BEGIN {
    split("1 -1 1 1 -1 1", corner, " "); split("1 1 1 -1 -1 -1", place, " "); split(".8 .4 .4 -.8", q, " "); split("-1 1 -1 -1", x, " "); split("1 .5 -1 .5", f, " ")
    for (h = 1; h <= 2; h++) {
      sum = a = b = 0
      for (t = 1; t <= 3; t++) {
        k1 = h == 1 ? corner[2 * t - 1] : place[2 * t - 1]; k2 = h == 1 ? corner[2 * t] : place[2 * t]
        w = exp((q[2 * h - 1] * k1 + q[2 * h] * k2) / sqrt(2)); sum += w; a += w * corner[2 * t - 1]; b += w * corner[2 * t]
      }
      o[2 * h - 1] = a / sum; o[2 * h] = b / sum
    }
    for (i = 1; i <= 4; i++) x[i] += f[i] * o[i]
    norm(); g = .5 * n[1] - n[3]; inner = g / (1 + exp(-g)) * n[3]; x[1] += inner; x[3] -= inner; norm()
    z[1] = -n[3]; z[2] = -n[2] - n[4]; z[3] = n[4]; z[4] = n[3] - n[1]; sum = 0
    for (v = 1; v <= 4; v++) sum += exp(z[v])
    print exp(z[4]) / sum
  }')
near 0.008 B $right
==== answer
B 0.67
==== wrong
A 0.55
==== skeleton
# the head that notices, A or B, and the probability
