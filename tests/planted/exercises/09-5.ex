==== check
# the three comparisons: a beam's sum over the power of the length that counts, against the worst of the pool
is $(awk 'function on(sum, t, lp, worst) { return sum / t ^ lp > worst ? "on" : "stops" }
  BEGIN { print on(-6, 12, 1, -0.2), on(-6, 40, 1, -0.2), on(-6, 12, 0, -5) }')
==== answer
stops on stops
==== wrong
on on stops
==== skeleton
# three words, each on or stops: false; never; length penalty 0
