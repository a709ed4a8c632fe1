==== check
# learnt from "banana bandana": the rank of the first tie, the number of merges
digest 84e796b170435182225dc298ced276b3
==== answer
1 7
==== wrong
2 8
==== skeleton
# the rank of the first merge that a tie decides, and the number of merges, with a blank between
