/* prepared.c -- weights copied into the order that a table's kernels want.

   Ownership: each copy is a block of its own in the memory of the kernels (which may be a device's), owned by
   struct prepared_weights; the weights stay the model's and must outlive the copies, because a copy is found
   by the address of its weights. Invariant: once open, the list is sorted by address and never changes, so
   any number of threads may look things up. */

#include <stdlib.h>

#include "kernels/kernels.h"

#include "model/experts.h"

#include "safetensors/tensor_file.h"

static int by_weight(const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct prepared_matrix *) a)->weight;
  uintptr_t y = (uintptr_t) ((const struct prepared_matrix *) b)->weight;
  return (x > y) - (x < y);
}

/* Copies made for another table or other activations are as good as none. */
const void *prepared_find(const struct engine *e, const struct matrix *w)
{
  struct prepared_matrix key = { w->weight.data, NULL };
  if (e->prepared == NULL || e->prepared->k != e->k
      || e->prepared->activations != e->activations) return NULL;
  const struct prepared_matrix *found = bsearch(&key, e->prepared->of,
    e->prepared->n, sizeof key, by_weight);
  return found == NULL ? NULL : found->copy;
}

/* An embedding that is the output projection as well is copied once. */
static bool is_prepared(const struct prepared_weights *p, const void *weight)
{
  for (size_t i = 0; i < p->n; i++)
    if (p->of[i].weight == weight) return true;
  return false;
}

/* Memory that we cannot write gets a matrix that was prepared in ours. */
static void *prepared_copy(struct memory *m, const struct kernels *k,
  const struct matrix *w, enum activations format, size_t bytes, struct error *why)
{
  const struct buffers *b = k->memory;
  void *copy = b->alloc(b, m, MEMORY_WEIGHTS, bytes, 1, why);
  void *ready = copy;
  if (copy != NULL && !b->is_host) ready = memory_alloc(m, MEMORY_OTHER, bytes, 1, why);
  if (ready != NULL) k->prepare(w, format, ready);
  if (ready == copy) return copy;
  if (ready != NULL) b->set(b, copy, ready, bytes);
  else b->release(b, m, copy);
  memory_free(m, ready);
  return ready == NULL ? NULL : copy;
}

/* After a matrix has been copied, its pages of the file are given back before the next one is read: so the
   process never holds both forms of more than one matrix, and a packed model takes the memory of a mapped
   one. If memory runs out, the copies made so far are freed. */
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
    /* 0: the table multiplies this matrix as it lies */
    if (bytes == 0 || is_prepared(p, list[i]->weight.data)) continue;
    void *copy = prepared_copy(m, k, list[i], format, bytes, why);
    ok = copy != NULL;
    if (!ok) break;
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
  const struct buffers *b = p->k->memory;
  for (size_t i = 0; i < p->n; i++) b->release(b, m, p->of[i].copy);
  memory_free(m, p->of);
  memory_free(m, p);
}

/* The matrices of a model. Memory that is not the host's needs everything else as well (all): the embedding,
   biases, the gains of norms. These are listed as matrices of a single output. */
struct listing { struct matrix *of; size_t n; };
static void list_tensor(struct listing *s, struct tensor t, size_t in, size_t out)
{
  if (t.data != NULL)
    s->of[s->n++] = (struct matrix) { .weight = t, .in = in, .out = out };
}

static void list_matrix(struct listing *s, const struct matrix *w, bool all)
{
  s->of[s->n++] = *w;
  if (all) list_tensor(s, w->bias, w->out, 1);
}

/* Experts that no row will ever choose are prepared as well: nobody knows which these are. */
static void list_expert(struct listing *s, const struct expert_mlp *x, bool all)
{
  for (size_t k = 0; k < expert_ups(x); k++) list_matrix(s, &x->up[k], all);
  list_matrix(s, &x->down, all);
}

static void list_experts(struct listing *s, const struct model_config *c, const struct mixture *x,
  bool all)
{
  list_matrix(s, &x->router, all);
  for (uint32_t e = 0; e < c->n_experts; e++) list_expert(s, &x->expert[e], all);
  if (c->d_shared == 0) return;
  list_matrix(s, &x->shared_gate, all);
  list_expert(s, &x->shared, all);
}

static void list_norm(struct listing *s, const struct norm *g, size_t d)
{
  list_tensor(s, g->gain, d, 1);
  list_tensor(s, g->bias, d, 1);
}

static void list_model(struct listing *s, const struct model *lm, bool all)
{
  size_t d = lm->config.d_model, head = lm->config.head_dim;
  bool wide = lm->config.qk_norm_wide || lm->config.qk_norm_each;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    const struct model_layer *l = &lm->layers[i];
    for (size_t j = 0; j < l->n_qkv; j++) list_matrix(s, &l->qkv[j], all);
    for (size_t j = 0; j < l->n_up; j++) list_matrix(s, &l->up[j], all);
    list_matrix(s, &l->out, all);
    if (l->experts != NULL) list_experts(s, &lm->config, l->experts, all);
    else list_matrix(s, &l->down, all);
    if (!all) continue;
    list_norm(s, &l->attn_norm, d), list_norm(s, &l->mlp_norm, d);
    list_norm(s, &l->attn_post, d), list_norm(s, &l->mlp_post, d);
    list_norm(s, &l->q_norm, wide ? head * lm->config.n_heads : head);
    list_norm(s, &l->k_norm, wide ? head * lm->config.n_kv_heads : head);
  }
  list_matrix(s, &lm->head, all);
  if (!all) return;
  list_norm(s, &lm->final_norm, d);
  list_tensor(s, lm->embedding, d, lm->config.vocab_size);
  list_tensor(s, lm->positions, d, lm->config.n_positions);
}

/* A layer has at most seven matrices with a bias each, and six norms of two tensors; or in place of an MLP a
   router, experts of three, and one that is shared; the six others are the
   output projection with its bias, the last norm and the two embeddings. */
struct prepared_weights *model_prepare(struct memory *m, const struct kernels *k,
  enum activations asked, const struct model *lm, struct error *why)
{
  size_t layer = 7 * 2 + 6 * 2 + (3 * (size_t) lm->config.n_experts + 1 + 4) * 2;
  size_t most = (size_t) lm->config.n_layers * layer + 6;
  struct listing s = { .of = memory_alloc(m, MEMORY_OTHER, most, sizeof *s.of, why) };
  const struct matrix **list = s.of == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, most, sizeof *list, why);
  struct prepared_weights *p = NULL;
  if (list != NULL) {
    list_model(&s, lm, !k->memory->is_host);
    for (size_t i = 0; i < s.n; i++) list[i] = &s.of[i];
    p = prepared_open(m, k, asked, lm->weights, list, s.n, why);
  }
  memory_free(m, list);
  memory_free(m, s.of);
  return p;
}
