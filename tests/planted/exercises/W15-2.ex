==== check
# the number of a sequence whose place was given out before, and the code of a row that has the old number
engine <<'C'
#include <stdio.h>
#include "library/incipit.h"
int main(void)
{
  struct incipit_context_options o = {.size = sizeof o, .n_sequences = 3, .threads = 1};
  struct incipit_error why = {0};
  struct incipit_model *m = incipit_model_open("models/pocket", NULL, &why);
  struct incipit_context *c = incipit_context_open(m, &o, &why);
  uint32_t s[3], again;
  for (int i = 0; i < 3; i++)
    if (!incipit_sequence_open(c, &s[i], &why)) return 1;
  if (!incipit_sequence_close(c, s[1], &why) || !incipit_sequence_open(c, &again, &why)) return 1;
  struct incipit_row row = {s[1], 0, 5};
  if (incipit_forward(c, &row, 1, &why)) return 1;
  printf("%u %d\n", (unsigned) again, why.code);
  incipit_context_close(c);
  incipit_model_close(m);
  return 0;
}
C
is $(run)
==== answer
# the number, the code
131073 1
==== wrong
# the number, the code
65538 1
==== skeleton
# the number, the code
