/* experts.c -- the second half of a layer that has experts in the place of its MLP.
   made from chapters/02-model.w; change it there

   The answers of a row's experts are added in rising order of the experts' numbers;
   nothing depends on which other rows are in the pass. */

#include <string.h>
#include "functions/numbers.h"
#include "model/experts.h"
#include "model/work.h"

/* <Choose the experts of a row> */
static void keep_best(const float *logit, uint32_t n, uint32_t k, struct expert_choice *best)
{
  uint32_t held = 0;
  for (uint32_t e = 0; e < n; e++) {
    uint32_t at = held;
    while (at > 0 && logit[e] > logit[best[at - 1].expert]) at--;
    if (at == k) continue;
    if (held < k) held++;
    for (uint32_t i = held - 1; i > at; i--) best[i] = best[i - 1];
    best[at].expert = e;
  }
}

static void order_by_number(struct expert_choice *list, uint32_t k)
{
  for (uint32_t i = 1; i < k; i++) {
    struct expert_choice one = list[i];
    uint32_t at = i;
    for ( ; at > 0 && list[at - 1].expert > one.expert; at--) list[at] = list[at - 1];
    list[at] = one;
  }
}

void experts_choose(const struct model_config *c, const float *logit, const double *share,
  struct expert_choice *own)
{
  double sum = 0;
  keep_best(logit, c->n_experts, c->n_chosen, own);
  order_by_number(own, c->n_chosen);
  for (uint32_t i = 0; i < c->n_chosen; i++) sum += share[own[i].expert];
  for (uint32_t i = 0; i < c->n_chosen; i++)
    own[i].weight = (float) (share[own[i].expert] / (c->chosen_normed ? sum : 1));
}

/* <Route all rows> */
static void multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  for (size_t r = 0, here; r < rows && w->goes_on; r += here) {
    float *part[2];
    here = work_rows_at_once(w, list, n, w->n - rows + r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    kernels_multiply(w->e, list, n, x + r * list->in, here, part);
    work_ask(w);
  }
}

static void route(struct work *w, const struct mixture *x)
{
  const struct model_config *c = &w->lm->config;
  double share[EXPERTS_MOST];
  multiply(w, &x->router, 1, w->normed, w->n, &w->router);
  for (size_t r = 0; r < w->n && w->goes_on; r++) {
    float *logit = w->router + r * c->n_experts;
    struct expert_choice *own = w->chosen + r * c->n_chosen;
    w->e->k->softmax(w->e, logit, 1, c->n_experts, share);
    experts_choose(c, logit, share, own);
    memset(logit, 0, c->n_experts * sizeof *logit);
    for (uint32_t i = 0; i < c->n_chosen; i++)
      own[i].at = (uint32_t) r, logit[own[i].expert] = own[i].weight;
  }
}

/* <Gather the choices by expert> */
static void gather_by_expert(struct work *w, size_t from[EXPERTS_MOST + 2])
{
  size_t n = w->lm->config.n_experts, all = w->n * w->lm->config.n_chosen;
  memset(from, 0, (n + 2) * sizeof *from);
  for (size_t i = 0; i < all; i++) from[w->chosen[i].expert + 2]++;
  for (size_t e = 1; e < n + 2; e++) from[e] += from[e - 1];
  for (size_t i = 0; i < all; i++)
    w->by_expert[from[w->chosen[i].expert + 1]++] = w->chosen[i];
}

/* <Compute the rows of the experts> */
static void run_expert(struct work *w, const struct expert_mlp *x, const float *in, size_t rows)
{
  size_t ups = expert_ups(x);
  multiply(w, x->up, ups, in, rows, (float *[]) { w->inner, w->up });
  work_gate(w, ups == 1, rows * x->down.in);
  multiply(w, &x->down, 1, w->inner, rows, &w->answered);
}

static void add_answer(const struct work *w, size_t r, float weight, size_t answer)
{
  size_t d = w->lm->config.d_model;
  float *to = w->added + r * d, *from = w->answered + answer * d;
  for (size_t j = 0; j < d; j++) to[j] += weight * from[j];
}

static uint64_t bytes_of(const struct matrix *m)
{
  return (uint64_t) m->out * weight_row_bytes(m->weight.type, m->in)
    + (m->bias.data == NULL ? 0 : weight_row_bytes(m->bias.type, m->out));
}

static void run_chosen(struct work *w, const struct mixture *x)
{
  size_t d = w->lm->config.d_model, from[EXPERTS_MOST + 2];
  gather_by_expert(w, from);
  for (uint32_t e = 0; e < w->lm->config.n_experts && w->goes_on; e++) {
    const struct expert_mlp *one = &x->expert[e];
    const struct expert_choice *list = w->by_expert + from[e];
    size_t rows = from[e + 1] - from[e];
    if (rows == 0) continue;
    for (size_t i = 0; i < rows; i++)
      memcpy(w->gathered + i * d, w->normed + list[i].at * d, d * sizeof (float));
    run_expert(w, one, w->gathered, rows);
    for (size_t i = 0; i < rows; i++) add_answer(w, list[i].at, list[i].weight, i);
    w->e->c->weight_bytes_read += bytes_of(&one->up[0]) + bytes_of(&one->up[1])
      + bytes_of(&one->down);
  }
}

static void run_shared(struct work *w, const struct mixture *x)
{
  run_expert(w, &x->shared, w->normed, w->n);
  multiply(w, &x->shared_gate, 1, w->normed, w->n, &w->router);
  for (size_t r = 0; r < w->n && w->goes_on; r++)
    add_answer(w, r, 1.0f / (1.0f + num_expf(-w->router[r])), r);
}

void work_experts(struct work *w, const struct model_layer *l, uint32_t layer)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  work_norm(w, &l->mlp_norm, w->normed);
  work_tap(w, TAP_MLP_NORM, layer, w->normed, d);
  route(w, l->experts);
  work_tap(w, TAP_EXPERTS, layer, w->router, c->n_experts);
  memset(w->added, 0, n * d * sizeof *w->added);
  if (w->goes_on) run_chosen(w, l->experts);
  if (c->d_shared > 0 && w->goes_on) run_shared(w, l->experts);
  work_branch(w, &l->mlp_post);
  work_tap(w, TAP_MLP, layer, w->added, d);
  w->e->k->add(w->e, w->x, w->added, n * d);
  work_tap(w, TAP_LAYER, layer, w->x, d);
}
