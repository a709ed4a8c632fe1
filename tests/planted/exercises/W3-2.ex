==== check
# wheels of Llama 3.2 1B: left alone, divided by the factor, in between
is $(awk 'BEGIN { pi = 3.14159265358979
  for (i = 0; i < 32; i++) { l = 2 * pi * 500000 ^ (2 * i / 64); if (l < 8192 / 4) f++; else if (l > 8192 / 1) s++; else b++ }
  print f, s, b }')
==== answer
15 14 3
==== wrong
14 14 4
==== skeleton
# three numbers: left alone, divided, between
