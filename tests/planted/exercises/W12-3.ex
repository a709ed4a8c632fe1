==== check
# the words, and the proof: a trainer with 1, 2, 3 workers ends in the same bits (the suite has it as same_bits)
digest a7e17267d150daa939b7e5d6d68dde60
grep -q 'enum { BLOCKS = 64 }' tangled/training/training.c
==== answer
rows
gradient
blocks
==== wrong
columns
gradient
blocks
==== skeleton
# over what does the sum of gain_backward run: rows or columns?
# the square of what is summed in parts? (one word)
# what is fixed, whoever sums: workers or blocks?
