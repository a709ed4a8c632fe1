/* prepared.c -- made from workshop/35-kernels-packed.w; change it there */

#include <stdlib.h>
#include "kernels/kernels.h"
#include "safetensors/tensor_file.h"

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
  enum activations asked, const struct tensor_file *source,
  const struct matrix *const *list, size_t n, struct error *why)
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
    tensor_file_release(source, list[i]->weight.data, weight_row_bytes(
      list[i]->weight.type, list[i]->in * list[i]->out));
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
  struct prepared_weights *p = prepared_open(m, k, asked, lm->weights, list, n, why);
  memory_free(m, list);
  return p;
}
