/* probe_speculate.c -- the kind speculative: when a guess is accepted, and what replaces it (chapter 13). */

#include <math.h>
#include "speculation/acceptance.h"
#include "probe.h"

/* a distribution of the question; *x is the caller's, who frees it in any case */
static bool read_shares(struct probe_request *q, const char *key, double **x, size_t *n)
{
  json_t *list = json_object_get(q->in, key);
  *n = json_array_size(list);
  *x = memory_alloc(q->o->m, MEMORY_OTHER, *n + 1, sizeof **x, q->why);
  if (*x == NULL) return false;
  for (size_t i = 0; i < *n; i++) {
    json_t *one = json_array_get(list, i);
    (*x)[i] = json_number_value(one);
    if (!json_is_number(one) || !isfinite((*x)[i]) || (*x)[i] < 0)
      return error_say(q->why, "\"%s\"[%zu] is no probability; wanted: a number from 0 on", key, i);
  }
  double sum = sum_carefully(*x, *n);
  return fabs(sum - 1) <= 1e-6 || error_say(q->why, "the sum of \"%s\" is %.9g; wanted: 1", key, sum);
}

static void put_reals(struct probe_request *q, const char *key, const double *x, size_t n)
{
  put_open_as(&q->out, key, '[');
  for (size_t i = 0; i < n; i++) writer_double(&q->out, x[i]);
  writer_close(&q->out, ']');
}

static void put_acceptance(struct probe_request *q, const double *accept, const double *residual, double missing, double rate, size_t n)
{
  put_reals(q, "accept", accept, n);
  if (missing > 0) put_reals(q, "residual", residual, n);
  else put_word_as(&q->out, "residual", "null");
  put_double_as(&q->out, "rate", rate);
}

bool probe_speculative(struct probe_request *q)
{
  struct memory *m = q->o->m;
  double *p = NULL, *other = NULL, *accept = NULL, *residual = NULL, rate;
  size_t n, k;
  bool ok = read_shares(q, "p", &p, &n) && read_shares(q, "q", &other, &k)
    && (n == k || error_say(q->why, "\"p\" has %zu numbers and \"q\" has %zu; wanted: as many", n, k));
  if (ok) accept = memory_alloc(m, MEMORY_OTHER, n, sizeof *accept, q->why);
  if (accept != NULL) residual = memory_alloc(m, MEMORY_OTHER, n, sizeof *residual, q->why);
  if (residual != NULL) {
    double missing = acceptance_of(p, other, n, accept, residual, &rate);
    put_acceptance(q, accept, residual, missing, rate, n);
  }
  memory_free(m, p), memory_free(m, other);
  memory_free(m, accept), memory_free(m, residual);
  return residual != NULL;
}
