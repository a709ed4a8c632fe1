/* the program -- made from workshop/15-library.w; change it there */

#include <stdio.h>
#include <string.h>
#include "library/incipit.h"

/* <What the example works with> */
enum { MOST = 12 };
struct example {
  struct incipit_model *model;
  struct incipit_context *context;
  struct incipit_sampler *sampler;
  struct incipit_stream *stream;
  struct incipit_error why;
  uint32_t sequence;
  float logits[4096];
  bool show;
};

/* <Read ids, and choose what follows> */
static bool choose(struct example *x, const uint32_t *id, size_t n, uint32_t *next)
{
  struct incipit_row row[64];
  struct incipit_error *why = &x->why;
  size_t at, last = n - 1;
  if (!incipit_sequence_length(x->context, x->sequence, &at, why)) return false;
  for (size_t i = 0; i < n; i++) {
    row[i].sequence = x->sequence;
    row[i].position = (uint32_t) (at + i);
    row[i].token = id[i];
  }
  return incipit_forward(x->context, row, n, why)
    && incipit_logits(x->context, &last, 1, x->logits, why)
    && incipit_sampler_apply(x->sampler, x->logits, next, why)
    && incipit_sampler_accept(x->sampler, *next, why);
}

/* <Write until the model is done or twelve tokens are> */
static bool write_text(struct example *x, const char *prompt)
{
  uint32_t id[64], next;
  struct incipit_piece piece;
  struct incipit_report report;
  struct incipit_error *why = &x->why;
  size_t n, written = 0;
  if (!incipit_encode(x->model, prompt, strlen(prompt), true, false, id, 64, &n, why)
      || !incipit_sequence_open(x->context, &x->sequence, why)
      || !incipit_sampler_reset(x->sampler, id, n, 0, why)
      || !choose(x, id, n, &next)) return false;
  if (x->show) printf("%s", prompt);
  for (written = 1; !incipit_is_end(x->model, next); written++) {
    if (!incipit_stream_push(x->stream, next, &piece, why)) return false;
    if (x->show) fwrite(piece.text, 1, piece.n, stdout);
    if (written == MOST) break;
    if (!choose(x, &next, 1, &next)) return false;
  }
  if (!incipit_context_report(x->context, &report, sizeof report, why)) return false;
  if (x->show) printf("\n%zu + %zu tokens, %d rows\n", n, written, (int) report.rows);
  else printf("library.prompt %zu\nlibrary.written %zu\nlibrary.rows %d\n",
    n, written, (int) report.rows);
  return true;
}

int main(int argc, char **argv)
{
  struct example x = { .show = argc < 2 || strcmp(argv[1], "values") != 0 };
  struct incipit_error *why = &x.why;
  bool ok = (x.model = incipit_model_open("models/pocket", NULL, why)) != NULL
    && (x.context = incipit_context_open(x.model, NULL, why)) != NULL
    && (x.sampler = incipit_sampler_open(x.model, NULL, why)) != NULL
    && (x.stream = incipit_stream_open(x.model, NULL, 0, false, why)) != NULL
    && write_text(&x, "The cat sat");
  if (!ok) fprintf(stderr, "code %d: %s\n", why->code, why->text);
  incipit_stream_close(x.stream);
  incipit_sampler_close(x.sampler);
  incipit_context_close(x.context);
  incipit_model_close(x.model);
  return !ok;
}
