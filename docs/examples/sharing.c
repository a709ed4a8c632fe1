/* sharing.c -- one prompt, two continuations: load, prefill, decode, fork, crop.
   cc sharing.c $(pkg-config --cflags --libs incipit) -o sharing; ./sharing [DIRECTORY] */
#include <incipit.h>
#include <stdio.h>
#include <stdlib.h>
struct run {
  struct incipit_context *c;
  struct incipit_sampler *s;
  float *logits;
  struct incipit_error why;
};
static uint32_t next(struct run *r, uint32_t sequence, const uint32_t *id, size_t n)
{ /* reads n tokens; the likeliest after them */
  struct incipit_row row[8];
  size_t at = 0, last = n - 1;
  uint32_t best = 0;
  bool ok = incipit_sequence_length(r->c, sequence, &at, &r->why);
  for (size_t i = 0; i < n; i++)
    row[i].sequence = sequence, row[i].position = (uint32_t) (at + i), row[i].token = id[i];
  ok = ok && incipit_forward(r->c, row, n, &r->why)
    && incipit_logits(r->c, &last, 1, r->logits, &r->why)
    && incipit_sampler_apply(r->s, r->logits, &best, &r->why);
  if (!ok) exit(puts(r->why.text));
  return best;
}
int main(int argc, char **argv)
{
  static const uint32_t prompt[3] = { 262, 270, 263 }, another = 264;
  struct run r = { NULL, NULL, NULL, { 0, "" } };
  struct incipit_context_options o = { sizeof o, 2, 0, 0, NULL, NULL, 0, 0, NULL };
  struct incipit_report report;
  struct incipit_model *m = incipit_model_open(argc > 1 ? argv[1] : NULL, NULL, &r.why);
  uint32_t one, two;
  size_t n = 0;
  if (m == NULL || (r.c = incipit_context_open(m, &o, &r.why)) == NULL
    || (r.s = incipit_sampler_open(m, NULL, &r.why)) == NULL
    || !incipit_sequence_open(r.c, &one, &r.why))
    return puts(r.why.text);
  r.logits = (float *) malloc(incipit_vocab_size(m) * sizeof *r.logits);
  uint32_t id = next(&r, one, prompt, 3), other;
  for (int i = 0; i < 3; i++) id = next(&r, one, &id, 1);
  if (!incipit_sequence_fork(r.c, one, &two, &r.why)) return puts(r.why.text);
  if (!incipit_sequence_crop(r.c, two, 2, &r.why)) return puts(r.why.text);
  other = next(&r, two, &another, 1); /* back to two rows, and on with another token */
  incipit_sequence_length(r.c, two, &n, &r.why);
  incipit_context_report(r.c, &report, sizeof report, &r.why);
  printf("6 rows, then %u; %u rows, then %u; %u computed\n", (unsigned) id, (unsigned) n,
    (unsigned) other, (unsigned) report.rows);
  free(r.logits), incipit_sampler_close(r.s), incipit_context_close(r.c), incipit_model_close(m);
}
