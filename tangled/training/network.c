/* network.c -- made from workshop/12-training.w; change it there */

/* A Llama as a network that can be trained: forward with everything kept, loss,
   backward. All memory is taken on opening; a pass takes none and so can fail only by
   its arguments. The forward pass gives the bits that the engine gives for the same
   weights, so a trained model is the model that is run. Workers divide rows, columns
   or heads of keys, and never the terms of a sum: results do not depend on their
   number. Gradients are added to what is there; adam sets them to 0. dx is the
   gradient of the residual stream, which goes backward through all layers and is only
   ever added to. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "training/network.h"
#include "functions/numbers.h"

/* <What a network holds> */
struct trace {
  float *x, *normed, *q, *k, *v, *mixed, *middle, *normed2, *gate, *up,
    *inner;
  float *known;
};

struct network {
  struct model_shape form;
  size_t max_rows, n_parameters, n_tensors, q_width, kv_width, widest;
  const struct gradients *back;
  struct counters tally;
  struct engine team, lone;
  struct attention_dims dims;
  struct arena blocks; /* these three, and positions */
  struct parameter *tensors;
  struct trace *traces;
  float *buffer; size_t buffer_size;
  /* <Buffers of a network> */
  uint32_t *positions;
  float *frequency, *cosine, *sine, *minus;
  float *last, *h, *logits;
  float *dx, *dy, *dmixed, *dq, *dk, *dv, *dgate, *dup, *dinner, *scales;
  float *scratch; size_t scratch_size;
};

/* <Tensors by name> */
enum network_part { PART_NORM1, PART_Q, PART_K, PART_V, PART_O, PART_NORM2,
  PART_GATE, PART_UP,
  PART_DOWN, N_PARTS };
static const char *const part_name[N_PARTS] = { "input_layernorm",
  "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj",
  "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj",
    "mlp.down_proj" };

static void add_tensor(struct network *net, const char *name,
  size_t rows, size_t cols)
{
  struct parameter *p = &net->tensors[net->n_tensors++];
  snprintf(p->name, sizeof p->name, "%s", name);
  p->offset = net->n_parameters;
  p->rows = rows, p->cols = cols;
  net->n_parameters += rows * cols;
}

/* The order is that of the offsets, and so of the file that is published. weight
   relies on it: the embedding, then N_PARTS tensors for each layer, then the last
   norm. */
static void list_tensors(struct network *net)
{
  const struct model_shape *s = &net->form;
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width, f =
    s->d_inner;
  size_t rows[N_PARTS] = { 1, q, kv, kv, d, 1, f, f, d };
  size_t cols[N_PARTS] = { d, d, d, d, q, d, d, d, f };
  char name[64];
  add_tensor(net, "model.embed_tokens.weight", s->vocab_size, d);
  for (uint32_t l = 0; l < s->n_layers; l++)
    for (int p = 0; p < N_PARTS; p++) {
      snprintf(name, sizeof name, "model.layers.%u.%s.weight",
        (unsigned) l,
        part_name[p]);
      add_tensor(net, name, rows[p], cols[p]);
    }
  add_tensor(net, "model.norm.weight", 1, d);
}

/* <The scratch of a worker> */
struct attention_scratch {
  float *k, *v, *kt, *vt, *dk, *dv, *s, *g, *q, *dy, *dq, *parts,
    *left, *pack;
  size_t ld;
};

/* Measures with scratch null and lays out otherwise: one list of sizes for both, so
   they cannot disagree. */
static size_t lay_bench(const struct network *net, struct attention_scratch *t,
  float *scratch)
{
  size_t n = (net->max_rows + 15) / 16 * 16, h =
    net->form.head_dim, at = 0;
  size_t blocks = n / 256 + 2;
  t->ld = n + 16;
  float **buffer[] = { &t->k, &t->v, &t->kt, &t->vt, &t->dk, &t->dv,
    &t->s, &t->g, &t->q,
    &t->dy, &t->dq, &t->parts, &t->left };
  size_t size[] = { n * h, n * h, t->ld * h, t->ld * h, n * h, n * h,
    GRADIENTS_MC * t->ld,
    GRADIENTS_MC * t->ld, GRADIENTS_MC * h, GRADIENTS_MC * h, GRADIENTS_MC * h,
    blocks * GRADIENTS_MC * h,
    blocks * GRADIENTS_MC * 2 };
  for (size_t i = 0; i < sizeof buffer / sizeof buffer[0]; i++) {
    *buffer[i] = scratch == NULL ? NULL : scratch + at;
    at += size[i];
  }
  t->pack = scratch == NULL ? NULL : scratch + at;
  return at;
}

/* what is left after attention's buffers is for packing, by the widest matrix */
static size_t scratch_floats(const struct network *net)
{
  const struct model_shape *s = &net->form;
  struct attention_scratch t;
  size_t widest = s->d_model > s->d_inner ? s->d_model : s->d_inner;
  if (net->q_width > widest) widest = net->q_width;
  if (s->head_dim > widest) widest = s->head_dim;
  return lay_bench(net, &t, NULL) + GRADIENTS_KC * (widest + 16 + GRADIENTS_MC);
}

/* <Lay out the buffers> */

/* as lay_bench: without a buffer it only counts; each piece begins at a multiple of
   16 floats */
static float *cut(struct network *net, size_t *at, size_t n)
{
  float *p = net->buffer == NULL ? NULL : net->buffer + *at;
  *at += (n + 15) / 16 * 16;
  return p;
}

/* what the way back needs of a layer: its inputs, and maximum and sum of each row's
   softmax instead of the weights */
static void lay_out_layer(struct network *net, struct trace *t,
  size_t *at)
{
  const struct model_shape *s = &net->form;
  size_t n = net->max_rows, d = n * s->d_model, f = n * s->d_inner;
  t->x = cut(net, at, d), t->normed = cut(net, at, d);
  t->q = cut(net, at, n * net->q_width);
  t->k = cut(net, at, n * net->kv_width);
  t->v = cut(net, at, n * net->kv_width);
  t->mixed = cut(net, at, n * net->q_width);
  t->middle = cut(net, at, d), t->normed2 = cut(net, at, d);
  t->gate = cut(net, at, f), t->up = cut(net, at, f);
  t->inner = cut(net, at, f);
  t->known = cut(net, at, 2 * n * s->n_heads);
}

/* called twice, to count and to cut; the gradients are shared by all layers, for only
   one layer at a time goes back */
static size_t lay_out(struct network *net)
{
  const struct model_shape *s = &net->form;
  size_t n = net->max_rows, d = n * s->d_model;
  size_t f = n * s->d_inner, at = 0, q = n * net->q_width;
  size_t kv = n * net->kv_width, half = s->head_dim / 2;
  for (uint32_t l = 0; l < s->n_layers; l++)
    lay_out_layer(net, &net->traces[l], &at);
  /* <Cut the buffers that all layers share> */
  net->last = cut(net, &at, d), net->h = cut(net, &at, d);
  net->logits = cut(net, &at, n * s->vocab_size), net->scales =
    cut(net, &at, n);
  net->dx = cut(net, &at, d), net->dy = cut(net, &at, d);
  net->dmixed = cut(net, &at, q), net->dq = cut(net, &at, q);
  net->dk = cut(net, &at, kv), net->dv = cut(net, &at, kv);
  net->dgate = cut(net, &at, f), net->dup = cut(net, &at, f);
  net->dinner = cut(net, &at, f);
  net->frequency = cut(net, &at, half), net->cosine =
    cut(net, &at, n * half);
  net->sine = cut(net, &at, n * half), net->minus =
    cut(net, &at, n * half);
  net->scratch_size = scratch_floats(net);
  net->scratch = cut(net, &at, net->scratch_size
    * pool_workers(net->team.pool));
  return at;
}

/* <Open and close a network> */
static bool prepare(struct network *net, struct error *why)
{
  const struct model_shape *s = &net->form;
  /* <Take the three small blocks> */
  net->tensors = arena_alloc(&net->blocks, MEMORY_TRAINING,
    2 + N_PARTS * (size_t) s->n_layers,
    sizeof *net->tensors, why);
  net->traces = arena_alloc(&net->blocks, MEMORY_TRAINING, s->n_layers,
    sizeof *net->traces, why);
  net->positions = arena_alloc(&net->blocks, MEMORY_TRAINING, net->max_rows,
    sizeof(uint32_t), why);
  if (net->blocks.refused) return false;
  list_tensors(net);
  net->buffer_size = lay_out(net);
  net->buffer = arena_alloc(&net->blocks, MEMORY_TRAINING, net->buffer_size,
    sizeof(float), why);
  if (net->buffer == NULL) return false;
  lay_out(net);
  /* <Find the frequencies of the rotations> */
  size_t half = s->head_dim / 2;
  for (size_t i = 0; i < half; i++)
    net->frequency[i] = (float) num_pow(10000.0,
      -(double) i / (double) half);
  return true;
}

/* The bodies of gradients.h work in sixteens, so other widths are refused here and
   nowhere else. The gradients are those that go with the kernels: wide ones need
   AVX2. */
struct network *network_open(struct memory *m, const struct model_shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *pool, struct error *why)
{
  if (s->d_model % 16 != 0 || s->d_inner % 16 != 0
    || s->head_dim % 16 != 0) {
    error_say(why, "the trainer: widths %u, %u and %u; wanted: multiples of 16",
      (unsigned) s->d_model,
      (unsigned) s->d_inner, (unsigned) s->head_dim);
    return NULL;
  }
  struct network *net = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *net, why);
  if (net == NULL) return NULL;
  /* <Fill in what follows from the shape> */
  net->form = *s;
  net->max_rows = max_rows;
  net->blocks.m = m;
  net->q_width = (size_t) s->n_heads * s->head_dim;
  net->kv_width = (size_t) s->n_kv_heads * s->head_dim;
  net->team = (struct engine) { .k = k, .pool = pool, .c = &net->tally };
  net->lone = (struct engine) { .k = k, .c = &net->tally };
  net->dims = (struct attention_dims) { s->n_heads, s->n_kv_heads, s->head_dim,
    (float) (1 / sqrt((double) s->head_dim)) };
  /* <Choose pieces that go with the kernels> */
  net->back = &gradients_plain;
#if defined __x86_64__
  if (strncmp(k->name, "avx", 3) == 0) net->back = &gradients_wide;
#endif
  if (prepare(net, why)) return net;
  network_close(m, net);
  return NULL;
}

void network_close(struct memory *m, struct network *net)
{
  if (net == NULL) return;
  arena_free(&net->blocks);
  memory_free(m, net);
}

size_t network_count(const struct network *net)
{
  return net->n_parameters;
}

const struct parameter *network_parameter(const struct network *net,
  size_t i)
{
  return i < net->n_tensors ? &net->tensors[i] : NULL;
}

const float *network_logits(const struct network *net)
{
  return net->logits;
}

const struct gradients *network_gradients(const struct network *net)
{
  return net->back;
}

/* <One pass of a network> */
struct network_run {
  struct network *net; const float *w; float *gradient;
  const struct batch *b; size_t rows;
};

static const float *weight(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->w + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

static float *gradient_of(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->gradient + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

struct weight_job { struct network *net; const float *w, *x;
  size_t in, out, rows; float *y; };

/* shares are multiples of a tile's rows, so that only the last worker has rows that
   go one by one */
static void linear_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct weight_job *j = ctx;
  struct attention_scratch t;
  size_t from = j->rows / GRADIENTS_MR * worker / workers * GRADIENTS_MR;
  size_t to = worker + 1 == workers ? j->rows
    : j->rows / GRADIENTS_MR * (worker + 1) / workers * GRADIENTS_MR;
  lay_bench(j->net, &t, j->net->scratch + worker * j->net->scratch_size);
  if (from < to) j->net->back->linear(j->x + from * j->in, to - from,
    j->w, j->in,
    j->out, j->y + from * j->out, t.pack);
}

/* The two ways have the same bits; the vocabulary is the only width that may be no
   multiple of 16. */
static void apply(const struct network_run *r, const float *w, size_t in,
  size_t out,
  const float *x, float *y)
{
  struct network *net = r->net;
  if (out % 16 == 0) {
    pool_run(net->team.pool, linear_part,
      &(struct weight_job) { net, w, x, in, out, r->rows, y });
    return;
  }
  struct matrix one = { .weight = { w, WEIGHT_F32 }, .in =
    in, .out = out };
  net->team.k->linear(&net->team, &one, 1, x, r->rows, &y);
}

static void norm_rows(const struct network_run *r, const float *gain,
  const float *x, float *y)
{
  struct norm n = { .kind = NORM_RMS, .gain =
    { gain, WEIGHT_F32 },
    .epsilon = 1e-5f };
  r->net->team.k->normalize(&r->net->team, &n, x, r->rows,
    r->net->form.d_model, y);
}

/* <Attention, a strip of queries at a time> */

/* forward and backward */
struct attention { const struct network_run *r; struct trace *t; };

struct head_group { const struct network_run *r; struct trace *t;
struct attention_scratch on;
  size_t first, length, padded, kv; };

static void gather(const float *from, size_t stride, size_t rows,
  size_t h, float *to)
{
  for (size_t i = 0; i < rows; i++)
    memcpy(to + i * h, from + i * stride, h * sizeof *to);
}

/* A unit is one text and one head of keys, with all heads of queries that share it:
   then only one worker writes its gradients. The rows up to the next multiple of 16
   are zero, since products go in sixteens. */
static void take_group(struct head_group *a, size_t unit)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, n_kv = net->form.n_kv_heads, w =
    net->kv_width;
  a->length = a->r->b->length, a->padded = (a->length + 15) / 16 * 16;
  a->first = unit / n_kv * a->length, a->kv = unit % n_kv;
  gather(a->t->k + a->first * w + a->kv * h, w, a->length, h, a->on.k);
  gather(a->t->v + a->first * w + a->kv * h, w, a->length, h, a->on.v);
  size_t rest = (a->padded - a->length) * h * sizeof(float);
  memset(a->on.k + a->length * h, 0, rest);
  memset(a->on.v + a->length * h, 0, rest);
}

/* A strip of queries against all keys up to its last row, in blocks of 256 as the
   kernels have them. Blocks that a row does not see at all are zeros and are not
   joined. */
static void attend_strip(struct head_group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, rows = a->length - t0;
  if (rows > GRADIENTS_MC) rows = GRADIENTS_MC;
  size_t n = (t0 + rows + 15) / 16 * 16, at =
    (a->first + t0) * net->q_width + head * h;
  gather(a->t->q + at, net->q_width, rows, h, a->on.q);
  struct matrix keys = { .weight = { a->on.k, WEIGHT_F32 }, .in =
    h, .out = n };
  net->lone.k->linear(&net->lone, &keys, 1, a->on.q, rows, &a->on.s);
  for (size_t b = 0; b * 256 < n; b++) {
    size_t wide = n - 256 * b < 256 ? n - 256 * b : 256;
    for (size_t i = 0; i < rows; i++) {
      float *s = a->on.s + i * n + 256 * b;
      size_t sees = t0 + i + 1 < 256 * b ? 0 : t0 + i + 1 - 256 * b;
      if (sees > 0) net->back->softmax_block(s, sees < wide ? sees : wide, wide,
        net->dims.scale, a->on.left + 2 * (b * GRADIENTS_MC + i));
      else memset(s, 0, wide * sizeof *s);
    }
    net->back->multiply(&(struct product)
      { .a = a->on.s + 256 * b, .a_row = n,
      .a_step = 1, .b = a->on.v + 256 * b * h, .b_step = h, .c = a->on.parts
      + b * GRADIENTS_MC * h, .c_row = h, .rows = rows, .terms = wide, .cols =
        h }, a->on.pack);
  }
  /* <Join the blocks of every row of the strip> */
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->join(a->on.left + 2 * i, a->on.parts + i * h,
      (t0 + i) / 256 + 1, h,
      a->t->mixed + row * net->q_width + head * h,
      a->t->known + 2 * (row * net->form.n_heads + head));
  }
}

/* every workers-th unit: texts are equally long, so the shares are nearly equal */
static void attend_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct attention *job = ctx;
  struct network *net = job->r->net;
  struct head_group a = { .r = job->r, .t = job->t };
  size_t n_kv = net->form.n_kv_heads, sharing = net->form.n_heads / n_kv;
  lay_bench(net, &a.on, net->scratch + worker * net->scratch_size);
  for (size_t u = worker; u < job->r->b->sequences * n_kv; u += workers) {
    take_group(&a, u);
    for (size_t h = a.kv * sharing; h < (a.kv + 1) * sharing; h++)
      for (size_t t0 = 0; t0 < a.length;
      t0 += GRADIENTS_MC) attend_strip(&a, h, t0);
  }
}

/* <Through attention, keeping the rows> */

/* as chapter 2's, but each step writes to a buffer of its own, since the way back
   reads them all */
static void forward_attention(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct model_shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, half = s->head_dim / 2;
  norm_rows(r, weight(r, l, PART_NORM1), t->x, t->normed);
  apply(r, weight(r, l, PART_Q), d, net->q_width, t->normed, t->q);
  apply(r, weight(r, l, PART_K), d, net->kv_width, t->normed, t->k);
  apply(r, weight(r, l, PART_V), d, net->kv_width, t->normed, t->v);
  k->rotate(&net->team, t->q, r->rows, s->n_heads, half, net->cosine,
    net->sine);
  k->rotate(&net->team, t->k, r->rows, s->n_kv_heads, half,
    net->cosine, net->sine);
  pool_run(net->team.pool, attend_part,
    &(struct attention) { r, t });
  apply(r, weight(r, l, PART_O), net->q_width, d, t->mixed, t->middle);
  k->add(&net->team, t->middle, t->x, r->rows * d);
}

/* <Through the gated unit, keeping the rows> */

/* y is the input of the next layer, or last: so no row is copied between layers */
static void forward_mlp(const struct network_run *r, uint32_t l, float *y)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  norm_rows(r, weight(r, l, PART_NORM2), t->middle, t->normed2);
  apply(r, weight(r, l, PART_GATE), d, f, t->normed2, t->gate);
  apply(r, weight(r, l, PART_UP), d, f, t->normed2, t->up);
  k->activate(&net->team, ACTIVATION_SILU, t->gate, t->up,
    r->rows * f, t->inner);
  apply(r, weight(r, l, PART_DOWN), f, d, t->inner, y);
  k->add(&net->team, y, t->middle, r->rows * d);
}

/* <A whole pass, kept> */

/* Rounding and subnormal numbers are as in the engine, whatever the caller has set.
   The embedding is tied: w begins with the matrix that is also the output's. */
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why)
{
  const struct model_shape *s = &net->form;
  const struct kernels *k = net->team.k;
  struct network_run r = { .net = net, .w = w, .b = b, .rows =
    b->sequences * b->length };
  size_t half = s->head_dim / 2;
  if (r.rows > net->max_rows || b->length > s->n_positions)
    return error_say(why, "the trainer: a pass of %zu rows of %zu; wanted: at most %zu",
      b->sequences, b->length, net->max_rows);
  struct float_modes modes;
  float_modes_begin(&modes);
  /* <Give the rows their positions and their embeddings> */
  for (size_t i = 0; i < r.rows; i++)
    net->positions[i] = (uint32_t) (i % b->length);
  k->angles(&net->team, net->positions, r.rows, net->frequency, half,
    1, net->cosine, net->sine);
  k->embed(&net->team, (struct tensor) { w, WEIGHT_F32 },
    s->d_model, b->inputs, r.rows, net->traces[0].x);
  for (uint32_t l = 0; l < s->n_layers; l++) {
    forward_attention(&r, l);
    forward_mlp(&r, l, l + 1 < s->n_layers ? net->traces[l + 1].x
      : net->last);
  }
  norm_rows(&r, w + net->tensors[net->n_tensors - 1].offset, net->last,
    net->h);
  apply(&r, w, s->d_model, s->vocab_size, net->h, net->logits);
  float_modes_end(&modes);
  return true;
}

/* <Compute the losses of the rows> */
struct loss_job { const struct network_run *r; double *losses; };

static void loss_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct loss_job *j = ctx;
  const struct network *net = j->r->net;
  size_t v = net->form.vocab_size, to =
    j->r->rows * (worker + 1) / workers;
  for (size_t i = j->r->rows * worker / workers; i < to; i++)
    j->losses[i] = net->back->cross_entropy(net->logits + i * v, v,
      j->r->b->targets[i],
      j->r->b->share);
}

/* turns the logits into their gradients, in place: afterwards network_logits are no
   logits */
void network_loss(struct network *net, const struct batch *b,
  double *losses)
{
  struct network_run r = { .net = net, .b = b, .rows =
    b->sequences * b->length };
  struct float_modes modes;
  float_modes_begin(&modes);
  pool_run(net->team.pool, loss_part,
    &(struct loss_job) { &r, losses });
  float_modes_end(&modes);
}

/* <Products on all workers> */
struct spread_product { struct network *net; struct product p; };

/* rows of the result are divided, by tiles; each number is one worker's sum */
static void product_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct spread_product *job = ctx;
  struct product p = job->p;
  struct attention_scratch t;
  size_t from = p.rows / GRADIENTS_MR * worker / workers * GRADIENTS_MR;
  size_t to = p.rows / GRADIENTS_MR * (worker + 1) / workers * GRADIENTS_MR;
  if (worker + 1 == workers) to = p.rows;
  if (from == to) return;
  float *scratch = job->net->scratch + worker * job->net->scratch_size;
  lay_bench(job->net, &t, scratch);
  p.a += from * p.a_row, p.c += from * p.c_row;
  p.rows = to - from;
  job->net->back->multiply(&p, t.pack);
}

/* dX = dY W: a sum over the outputs */
static void hand_down(const struct network_run *r, const float *w,
  size_t in, size_t out,
  const float *dy, float *dx, bool add)
{
  struct spread_product job = { r->net,
    { .a = dy, .a_row = out, .a_step = 1, .b = w,
    .b_step = in, .c = dx, .c_row = in, .rows = r->rows, .terms =
      out, .cols = in,
    .add = add } };
  pool_run(r->net->team.pool, product_part, &job);
}

/* dW is dY transposed times X, and always added: a sum over all rows of the pass */
static void matrix_gradient(const struct network_run *r, const float *x,
  size_t in,
  const float *dy, size_t out, float *grad)
{
  struct spread_product job = { r->net,
    { .a = dy, .a_row = 1, .a_step = out, .b = x,
    .b_step = in, .c = grad, .c_row = in, .rows = out, .terms =
      r->rows, .cols = in,
    .add = true } };
  pool_run(r->net->team.pool, product_part, &job);
}

/* <Norms and gates on all workers> */
struct norm_job { const struct network_run *r; const float *gain, *x, *dy;
float *dx, *dgain; };

/* rows first, since the gradient of the gain needs the factor of every row */
static void norm_rows_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct norm_job *j = ctx;
  const struct network *net = j->r->net;
  size_t d = net->form.d_model, to = j->r->rows * (worker + 1) / workers;
  for (size_t i = j->r->rows * worker / workers; i < to; i++)
    net->scales[i] = net->back->norm_backward(j->x + i * d, j->gain,
      j->dy + i * d, d,
      j->dx + i * d);
}

static void norm_gain_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct norm_job *j = ctx;
  const struct network *net = j->r->net;
  size_t d = net->form.d_model;
  net->back->gain_backward(j->x, j->dy, net->scales, j->r->rows, d,
    d / 16 * worker / workers * 16, d / 16 * (worker + 1) / workers
      * 16, j->dgain);
}

static void norm_down(const struct network_run *r, const float *gain,
  const float *x,
  const float *dy, float *dx, float *dgain)
{
  struct norm_job j = { r, gain, x, dy, dx, dgain };
  pool_run(r->net->team.pool, norm_rows_part, &j);
  pool_run(r->net->team.pool, norm_gain_part, &j);
}

static void gate_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct attention *j = ctx;
  const struct network *net = j->r->net;
  size_t n = j->r->rows * net->form.d_inner / 16;
  size_t from = n * worker / workers * 16, to =
    n * (worker + 1) / workers * 16;
  net->back->swiglu_backward(j->t->gate + from, j->t->up + from,
    net->dinner + from,
    to - from, net->dgate + from, net->dup + from);
}

/* <Attention on the way back> */
static void turn(const float *from, size_t rows, size_t cols,
  float *to, size_t ld)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < cols; c++) to[c * ld + i] = from[i * cols + c];
}

/* computes the scores again and, beside them, the gradients of the weights; both are
   then turned in place, into weights and gradients of scores */
static void scores_back(struct head_group *a, size_t head, size_t t0,
  size_t rows, size_t n)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, ld = a->on.ld;
  struct product p = { .a = a->on.q, .a_row = h, .a_step = 1, .b =
    a->on.kt,
    .b_step = ld, .c = a->on.s, .c_row = ld, .rows = rows, .terms =
      h, .cols = n };
  net->back->multiply(&p, a->on.pack);
  p.a = a->on.dy, p.b = a->on.vt;
  p.c = a->on.g;
  net->back->multiply(&p, a->on.pack);
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->softmax_backward(a->on.s + i * ld, a->on.g + i * ld,
      t0 + i + 1, n,
      net->dims.scale, a->t->known + 2
        * (row * net->form.n_heads + head),
      a->t->mixed + row * net->q_width + head * h, a->on.dy + i * h, h);
  }
}

/* dq belongs to the strip alone; dK and dV are added strip by strip, head by head,
   always in the same order */
static void strip_back(struct head_group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, w = net->q_width, ld = a->on.ld;
  size_t rows = a->length - t0 < GRADIENTS_MC ? a->length - t0 : GRADIENTS_MC;
  size_t keys = t0 + rows, n = (keys + 15) / 16 * 16;
  size_t at = (a->first + t0) * w + head * h;
  gather(a->t->q + at, w, rows, h, a->on.q);
  gather(net->dmixed + at, w, rows, h, a->on.dy);
  scores_back(a, head, t0, rows, n);
  /* <Find dq, and add to dK and dV> */
  struct product q = { .a = a->on.g, .a_row = ld, .a_step = 1,
    .b = a->on.k, .b_step = h, .c = net->dq + at, .c_row = w,
    .rows = rows, .terms = keys, .cols = h };
  net->back->multiply(&q, a->on.pack);
  struct product k = { .a = a->on.g, .a_row = 1, .a_step = ld,
    .b = a->on.q, .b_step = h, .c = a->on.dk, .c_row = h,
    .rows = keys, .terms = rows, .cols = h, .add = true };
  net->back->multiply(&k, a->on.pack);
  k.a = a->on.s, k.b = a->on.dy;
  k.c = a->on.dv;
  net->back->multiply(&k, a->on.pack);
}

/* Keys and values are turned once for all strips: the products then read along
   memory. */
static void attend_back_part(void *ctx, unsigned worker,
  unsigned workers)
{
  const struct attention *job = ctx;
  struct network *net = job->r->net;
  struct head_group a = { .r = job->r, .t = job->t };
  size_t h = net->form.head_dim, n_kv = net->form.n_kv_heads, w =
    net->kv_width;
  size_t sharing = net->form.n_heads / n_kv;
  lay_bench(net, &a.on, net->scratch + worker * net->scratch_size);
  for (size_t u = worker; u < job->r->b->sequences * n_kv; u += workers) {
    take_group(&a, u);
    turn(a.on.k, a.padded, h, a.on.kt, a.on.ld);
    turn(a.on.v, a.padded, h, a.on.vt, a.on.ld);
    memset(a.on.dk, 0, a.padded * h * sizeof(float));
    memset(a.on.dv, 0, a.padded * h * sizeof(float));
    for (size_t head = a.kv * sharing; head < (a.kv + 1) * sharing; head++)
      for (size_t t0 = 0; t0 < a.length;
      t0 += GRADIENTS_MC) strip_back(&a, head, t0);
    /* <Hand out the gradients of the group's keys and values> */
    for (size_t i = 0; i < a.length; i++) {
      size_t at = (a.first + i) * w + a.kv * h;
      memcpy(net->dk + at, a.on.dk + i * h, h * sizeof(float));
      memcpy(net->dv + at, a.on.dv + i * h, h * sizeof(float));
    }
  }
}

/* <Back through the gated unit> */

/* each step of forward_mlp from the last to the first; dx passes around as the
   residual does */
static void backward_mlp(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  matrix_gradient(r, t->inner, f, net->dx, d, gradient_of(r, l, PART_DOWN));
  hand_down(r, weight(r, l, PART_DOWN), f, d, net->dx, net->dinner,
    false);
  pool_run(net->team.pool, gate_part, &(struct attention) { r, t });
  matrix_gradient(r, t->normed2, d, net->dgate, f, gradient_of(r, l, PART_GATE));
  matrix_gradient(r, t->normed2, d, net->dup, f, gradient_of(r, l, PART_UP));
  hand_down(r, weight(r, l, PART_GATE), d, f, net->dgate, net->dy, false);
  hand_down(r, weight(r, l, PART_UP), d, f, net->dup, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM2), t->middle, net->dy, net->dx,
    gradient_of(r, l, PART_NORM2));
}

/* <Back through attention> */

/* a rotation is undone by the opposite angle, whose sine is minus */
static void backward_attention(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct model_shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width;
  size_t half = s->head_dim / 2;
  matrix_gradient(r, t->mixed, q, net->dx, d, gradient_of(r, l, PART_O));
  hand_down(r, weight(r, l, PART_O), q, d, net->dx, net->dmixed, false);
  pool_run(net->team.pool, attend_back_part,
    &(struct attention) { r, t });
  k->rotate(&net->team, net->dq, r->rows, s->n_heads, half,
    net->cosine, net->minus);
  k->rotate(&net->team, net->dk, r->rows, s->n_kv_heads, half,
    net->cosine, net->minus);
  /* <Back through queries, keys and values> */
  matrix_gradient(r, t->normed, d, net->dq, q, gradient_of(r, l, PART_Q));
  matrix_gradient(r, t->normed, d, net->dk, kv, gradient_of(r, l, PART_K));
  matrix_gradient(r, t->normed, d, net->dv, kv, gradient_of(r, l, PART_V));
  hand_down(r, weight(r, l, PART_Q), d, q, net->dq, net->dy, false);
  hand_down(r, weight(r, l, PART_K), d, kv, net->dk, net->dy, true);
  hand_down(r, weight(r, l, PART_V), d, kv, net->dv, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM1), t->x, net->dy, net->dx,
    gradient_of(r, l, PART_NORM1));
}

/* <The whole way back> */

/* Workers divide columns: a token may come in many rows, and its gradient is added in
   their order. */
static void embed_back(void *ctx, unsigned worker, unsigned workers)
{
  const struct network_run *r = ctx;
  size_t d = r->net->form.d_model, from = d * worker / workers;
  size_t to = d * (worker + 1) / workers;
  for (size_t i = 0; i < r->rows; i++)
    for (size_t k = from; k < to; k++)
      r->gradient[r->b->inputs[i] * d + k] += r->net->dx[i * d + k];
}

/* The tied matrix gets its gradient twice, here as the output's and at the end as the
   embedding's. */
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient)
{
  const struct model_shape *s = &net->form;
  struct network_run r = { net, w, gradient, b, b->sequences * b->length };
  size_t d = s->d_model, norm = net->tensors[net->n_tensors - 1].offset;
  struct float_modes modes;
  float_modes_begin(&modes);
  for (size_t i = 0; i < r.rows * s->head_dim / 2; i++)
    net->minus[i] = -net->sine[i];
  matrix_gradient(&r, net->h, d, net->logits, s->vocab_size, gradient);
  hand_down(&r, w, d, s->vocab_size, net->logits, net->dy, false);
  memset(net->dx, 0, r.rows * d * sizeof *net->dx);
  norm_down(&r, w + norm, net->last, net->dy, net->dx, gradient + norm);
  for (uint32_t l = s->n_layers; l-- > 0;) {
    backward_mlp(&r, l);
    backward_attention(&r, l);
  }
  pool_run(net->team.pool, embed_back, &r);
  float_modes_end(&modes);
}
