/* kernels.c -- made from chapters/11-simd.w; change it there */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "kernels/kernels.h"

/* <The tables of this build> */
extern const struct kernels kernels_scalar, kernels_avx2, kernels_avx512,
  kernels_neon;

const struct kernels *kernels_at(size_t i)
{
  const struct kernels *found[4] = { &kernels_plain, &kernels_scalar };
  size_t n = 2;
#if defined __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f")
    && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
    && __builtin_cpu_supports("avx512vl");
  if (avx2) found[n++] = &kernels_avx2;
  if (avx512) found[n++] = &kernels_avx512;
#elif defined __aarch64__
  found[n++] = &kernels_neon;
#endif
  return i < n ? found[i] : NULL;
}

/* <Find a table by its name> */
const struct kernels *kernels_find(const char *name, struct error *why)
{
  char there[200] = "";
  size_t n = 0;
  const struct kernels *k = NULL;
  for (size_t i = 0; kernels_at(i) != NULL; i++) {
    k = kernels_at(i);
    if (name != NULL && strcmp(name, k->name) == 0) return k;
    n += (size_t) snprintf(there + n, sizeof there - n, i > 0 ? ", %s" : "%s", k->name);
    if (n >= sizeof there) n = sizeof there - 1;
  }
  if (name == NULL) return k;
  error_say(why, "kernels: %s is not among those that this machine can"
    " run; wanted: one of %s", name, there);
  return NULL;
}

/* <Prepare weights, and find them> */
static int by_weight(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct prepared_matrix *) a)->weight;
  uintptr_t y = (uintptr_t) ((const struct prepared_matrix *) b)->weight;
  return (x > y) - (x < y);
}

const void *prepared_find(const struct engine *e, const struct matrix *w)
{
  struct prepared_matrix key = { w->weight.data, NULL };
  if (e->prepared == NULL || e->prepared->k != e->k
      || e->prepared->activations != e->activations) return NULL;
  const struct prepared_matrix *found = bsearch(&key, e->prepared->of,
    e->prepared->n, sizeof key, by_weight);
  return found == NULL ? NULL : found->copy;
}

struct prepared_weights *prepared_open(struct memory *m, const struct kernels *k,
  enum activations asked, const struct matrix *const *list, size_t n,
  struct error *why)
{
  struct prepared_weights *p = memory_alloc(m, MEMORY_OTHER, 1, sizeof *p, why);
  if (p == NULL) return NULL;
  p->k = k, p->activations = asked;
  p->of = memory_alloc(m, MEMORY_OTHER, n, sizeof *p->of, why);
  bool ok = p->of != NULL;
  for (size_t i = 0; i < n && ok; i++) {
    enum activations format = activations_of(asked, list[i]->weight.type);
    size_t bytes = k->prepared_bytes(list[i], format);
    if (bytes == 0) continue;
    void *copy = memory_alloc(m, MEMORY_WEIGHTS, bytes, 1, why);
    ok = copy != NULL;
    if (!ok) break;
    k->prepare(list[i], format, copy);
    p->of[p->n++] = (struct prepared_matrix) { list[i]->weight.data, copy };
  }
  if (ok) qsort(p->of, p->n, sizeof *p->of, by_weight);
  if (ok) return p;
  prepared_close(m, p);
  return NULL;
}

void prepared_close(struct memory *m, struct prepared_weights *p)
{
  if (p == NULL) return;
  for (size_t i = 0; i < p->n; i++) memory_free(m, p->of[i].copy);
  memory_free(m, p->of);
  memory_free(m, p);
}

/* <Prepare a model's matrices> */
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why)
{
  size_t n = 0, most = (size_t) lm->config.n_layers * 7 + 1;
  const struct matrix **list = memory_alloc(m, MEMORY_OTHER, most, sizeof *list,
    why);
  if (list == NULL) return NULL;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    const struct model_layer *l = &lm->layers[i];
    for (size_t j = 0; j < l->n_qkv; j++) list[n++] = &l->qkv[j];
    for (size_t j = 0; j < l->n_up; j++) list[n++] = &l->up[j];
    list[n++] = &l->out, list[n++] = &l->down;
  }
  list[n++] = &lm->head;
  struct prepared_weights *p = prepared_open(m, k, asked, list, n, why);
  memory_free(m, list);
  return p;
}
