==== check
# rows of two texts after one prompt: forked, and read twice; counted by the library
engine <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "library/incipit.h"
static struct incipit_context *c;
static void read_rows(uint32_t sequence, size_t n)
{
  struct incipit_row row[32]; size_t at; float *x = malloc(100000 * sizeof *x);
  if (!incipit_sequence_length(c, sequence, &at, NULL)) exit(1);
  for (size_t i = 0; i < n; i++) row[i] = (struct incipit_row) {sequence, (uint32_t) (at + i), 5};
  size_t last = n - 1;
  if (!incipit_forward(c, row, n, NULL) || !incipit_logits(c, &last, 1, x, NULL)) exit(1);
  free(x);
}
/* p ids, then g tokens in each of two sequences, which are forked after the prompt or not */
static void both(struct incipit_model *m, size_t p, size_t g, bool fork)
{
  struct incipit_context_options o = {.size = sizeof o, .n_sequences = 2, .threads = 1};
  struct incipit_report r; uint32_t s[2];
  if ((c = incipit_context_open(m, &o, NULL)) == NULL || !incipit_sequence_open(c, &s[0], NULL)) exit(1);
  read_rows(s[0], p);
  if (fork ? !incipit_sequence_fork(c, s[0], &s[1], NULL) : !incipit_sequence_open(c, &s[1], NULL)) exit(1);
  if (!fork) read_rows(s[1], p);
  for (size_t i = 1; i < g; i++) read_rows(s[0], 1), read_rows(s[1], 1);
  if (!incipit_context_report(c, &r, sizeof r, NULL)) exit(1);
  printf("%d\n", (int) r.rows);
  incipit_context_close(c);
}
int main(void)
{
  struct incipit_model *m = incipit_model_open("models/pocket", NULL, NULL);
  if (m == NULL) return 1;
  both(m, 20, 6, true), both(m, 20, 6, false);
  incipit_model_close(m);
  return 0;
}
C
is $(run)
==== answer
# rows with a fork, rows without
30 50
==== wrong
# rows with a fork, rows without
32 52
==== skeleton
# rows with a fork, rows without
