/* kit2.c -- made from laboratory/00-kit.w; change it there */

#include <math.h>
#include <stdio.h>
#include "laboratory/kit2.h"

/* <Read a text, and compare rows> */
bool lab_logits(struct fixture *lab, struct store *s, const uint32_t *id,
  size_t n, size_t last, float *logits, struct error *why)
{
  size_t *which = memory_alloc(&lab->m, MEMORY_OTHER, last, sizeof *which, why);
  if (which == NULL) return false;
  for (size_t i = 0; i < last; i++) which[i] = n - last + i;
  bool ok = model_evaluate(&lab->e, lab->model, s, id, n, which, last, logits, why);
  memory_free(&lab->m, which);
  return ok;
}

bool lab_logits_after(struct fixture *lab, const char *text, size_t *n,
  float *logits, struct error *why)
{
  struct ids list = { .n = 0 };
  bool ok = lab_encode(lab, text, &list, why)
    && lab_logits(lab, lab->b.s, list.id, list.n, 1, logits, why);
  *n = list.n;
  ids_free(&lab->m, &list);
  return ok;
}

size_t best_token(const float *logits, size_t vocab)
{
  size_t best = 0;
  for (size_t i = 1; i < vocab; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}

double farthest(const float *a, const float *b, size_t n)
{
  double max = 0;
  for (size_t i = 0; i < n; i++)
    max = fmax(max, fabs((double) a[i] - (double) b[i]));
  return max;
}

/* <Take one of the tales> */
bool lab_tales(struct fixture *lab, struct ids *list, struct error *why)
{
  bool ok = lab->tales.n > 0
    || lab_encode_file(lab, "models/pocket/tales.txt", &lab->tales, why);
  *list = lab->tales;
  return ok;
}

bool lab_tale(struct fixture *lab, struct ids *list, struct error *why)
{
  size_t n = 0;
  if (!lab_tales(lab, list, why)) return false;
  while (n < list->n && list->id[n] != lab->model->config.eos[0]) n++;
  list->n = n;
  return true;
}

/* <Count pairs, and print tokens> */
size_t distinct_pairs(const uint32_t *text, size_t n, size_t length)
{
  size_t fresh = 0, pairs = n * (length - 1);
  for (size_t i = 0, k; i < pairs; i++) {
    const uint32_t *a = text + i / (length - 1) * length + i % (length - 1);
    for (k = 0; k < i; k++) {
      const uint32_t *b = text + k / (length - 1) * length + k % (length - 1);
      if (a[0] == b[0] && a[1] == b[1]) break;
    }
    fresh += k == i;
  }
  return fresh;
}

double percent(size_t part, size_t whole)
{
  return whole == 0 ? 0 : 100 * (double) part / (double) whole;
}

void print_token(const struct fixture *lab, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(lab->t, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] == ',') printf("\\char44 "); /* a comma ends a field */
    else putchar(byte[i] == '\n' ? '/' : byte[i]);
}
