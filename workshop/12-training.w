@i types.w
@s pool_work int

\chapterquestion{Where do the numbers in a model's weights come from, and how would we know if one of them were wrong?}
@** Training the built-in model.
\incipit{E}{very other chapter} takes the weights as given. This one makes them. Our texts come from the grammar of \cref{corpus}. Since every choice in them has a
known probability, we know how well
\emph{any} model could possibly do. We cut the texts into tokens, let a small model
guess each next token, and move each of its weights a little in the direction that would
have made the guess better, many times over. The result is the model
that the command uses when it is given no other.
@^training@>

We take nothing from outside: no corpus, no library for gradients, and no random numbers
but our own. So the whole run can be repeated, and it ends in the same bytes.

\begin{byhand}{one guess, and how to make it better}
A model with three tokens in its vocabulary sees one token and guesses the next. Its hidden state is
$h=(1,2)$, and the head turns it into the logits $z=(\ln3,\ln2,0)$. The exponentials are 3, 2 and 1, so
the probabilities are $p=(\frac12,\frac13,\frac16)$. The next token turns out to be the second. The loss is
$-\ln\frac13=\ln3$.

\medskip
How does the loss change with each logit? Write $L=\ln(e^{z_1}+e^{z_2}+e^{z_3})-z_2$ and differentiate:
$\partial L/\partial z_i=p_i$, minus 1 for the token that came,
$$dz=\left(\tfrac12,\ \tfrac13-1,\ \tfrac16\right)=\left(\tfrac12,\,-\tfrac23,\,\tfrac16\right).$$
The three add up to 0: what one token gains the others lose. Each row of the head was multiplied by
$h$, so its gradient is $dz_i\,h$: the first row gets $(\frac12,1)$, the second
$(-\frac23,-\frac43)$, the third $(\frac16,\frac13)$. A small step \emph{against} the gradient raises
the logit of the token that came and lowers the others, the likelier ones more than the rest.
\end{byhand}

@ The box differentiates the last operation of a pass. \Cref{gradients} does the same for matrices, attention, norms and gates, each
with its formula, and derives the update of the weights. Here we join its functions into a whole training run, from texts to a checkpoint. \Cref{sec:examination} examines what the finished model can do.

The program of this chapter repeats the hand calculation, checks the gradients of a small network against finite differences, and compares one pass with many. The program that trains is
in the laboratory (\cref{lab:run}).

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "training/network.h"
@;@#
@<Draw by lot@>@;
@<What the checkpoint shows@>@;
@<Main@>@;

@ With the argument |"values"| it prints the numbers that the prose quotes; without an argument, the checkpoint.
@<Main@>=
int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "values") == 0) return print_values();
  return print_checkpoint();
}

@* Stored activations. \label{sec:network}
The pass of chapter~2 throws its intermediate rows away, because nothing needs them again.
A training pass must keep these \emph{activations}: the gradient of a weight is a product of the gradient that comes back
from the layer above and the number that went into the operation from below.

@(network.h@>=
#ifndef INCIPIT_NETWORK_H
#define INCIPIT_NETWORK_H
#include "model/counters.h"
#include "kernels/kernels.h"
#include "gradients/gradients.h"
@<The network from outside@>@;
#endif

@ For the trainer a model is a shape and one array of numbers. A |struct model_shape| has the widths of a model; each |struct parameter| says where
in the array of all weights one tensor lies. A |struct batch| is what a pass reads: rows of tokens, and beside each token the
one that really came next.
@<The network from outside@>=
struct model_shape { uint32_t n_layers, d_model, n_heads, n_kv_heads,
  head_dim, d_inner,
  vocab_size, n_positions; };
  /* a decoder of the Llama type with a tied embedding; |d_model|,
     |d_inner| and |head_dim| are multiples of 16 */
struct parameter { char name[64]; size_t offset, rows, cols; };
  /* one tensor among the weights, named as in Hugging Face's layout; |rows| is
     1 for a gain */
struct batch { const uint32_t *inputs, *targets; size_t sequences, length;
float share; };
  /* |inputs| and |targets| are |[sequences][length]|; each loss counts
     |share| */
@<A network, opened and looked at@>@;
@<A network, used@>@;

@ Opening takes all the memory that passes will need. The weights are \emph{not} in it: they belong to the caller, who may hold several sets
of them, as the check of the gradients does, and hand each to the same network.
@<A network, opened and looked at@>=
struct network;
struct network *network_open(struct memory *m, const struct model_shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *pool, struct error *why);
  /* buffers for passes of |max_rows| rows; owned by the caller, who keeps
     |pool| */
const struct gradients *network_gradients(const struct network *net);
  /* the operations it works with */
void network_close(struct memory *m, struct network *net);
  /* frees its memory; null is allowed */
size_t network_count(const struct network *net);
  /* the number of weights in all */
const struct parameter *network_parameter(const struct network *net,
  size_t i);
    /* tensor |i|, or null after the last */

@ A network is used in three steps. They are separate calls, because tests and evaluations stop after the first or
the second, and because the logits can be read only until they are overwritten by their gradients.
@<A network, used@>=
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why);
  /* a pass that keeps its rows */
const float *network_logits(const struct network *net);
  /* |[rows][vocab_size]| of the last forward pass, until its loss is computed */
void network_loss(struct network *net, const struct batch *b,
  double *losses);
  /* the loss of every row, |[rows]|; the logits become their gradients */
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient);
  /* adds the gradient of the sum of all losses, times |share|, to
     |gradient|, laid out like the weights */

@ The tensors have the names that they will have in the file, so that other programs find them, and stand in the order
of the forward pass. Only the first and the last tensor are ever found by their place.
@<Tensors by name@>=
enum network_part { PART_NORM1, PART_Q, PART_K, PART_V, PART_O, PART_NORM2,
  PART_GATE, PART_UP,
  PART_DOWN, N_PARTS };
static const char *const part_name[N_PARTS] = @[{ "input_layernorm",
  "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj",
  "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj",
    "mlp.down_proj" }@];

@ A tensor is a name and a place in one long array of weights. Gradients, moments and averages are
arrays of the same length, so an operation on all weights is one loop that knows nothing of tensors, and four calls of
|fwrite| save the state of a run.
@<Tensors by name@>=
static void add_tensor(struct network *net, const char *name,
  size_t rows, size_t cols)
{
  struct parameter *p = &net->tensors[net->n_tensors++];
  snprintf(p->name, sizeof p->name, "%s", name);
  p->offset = net->n_parameters;
  p->rows = rows, p->cols = cols;
  net->n_parameters += rows * cols;
}

@ The shapes follow from the widths. Matrices have one row for each output, as in the file, so
none has to be transposed when it is written. The embedding comes first and is the head as well; the last gain is at the end,
where |network_backward| looks for it.
@<Tensors by name@>=
/* The order is that of the offsets, and so of the file that is published. |weight| relies on
   it: the embedding, then |N_PARTS| tensors for each layer, then the last norm. */
static void list_tensors(struct network *net)
{
  const struct model_shape *s = &net->form;
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width, f =
    s->d_inner;
  size_t rows[N_PARTS] = @[{ 1, q, kv, kv, d, 1, f, f, d }@];
  size_t cols[N_PARTS] = @[{ d, d, d, d, q, d, d, d, f }@];
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

@ A layer keeps these rows for the backward pass. The norms need the residual stream before the layer and in its middle. The matrices need their inputs: the two normed streams,
the output of attention, and the product of the gate and its partner. Attention needs queries, keys and values after the rotation, and the gated unit needs gate and
partner themselves. \Cref{fig:wayback} shows which operation asks for which. For our model that is \val{train.kept.rows} floats for each token and layer.

The attention weights are not among them. In a row of \val{train.length} tokens there are on average \val{train.kept.weights} of them for
each token and layer. We keep only a maximum and a sum for each head, \val{train.kept.known} floats, and recompute a weight from them when it
is needed.
@<What a network holds@>=
struct trace {
  float *x, *normed, *q, *k, *v, *mixed, *middle, *normed2, *gate, *up,
    *inner;
  float *known;
};

@ A network has two engines. |team| has the pool, and its kernels divide their rows among the workers. |lone| has no pool: a
worker that is already computing its share of a job uses it to call a kernel for that share alone.
@<What a network holds@>=
struct network {
  struct model_shape form;
  size_t max_rows, n_parameters, n_tensors, q_width, kv_width, widest;
  const struct gradients *back;
  struct counters tally;
  struct engine team, lone;
  struct attention_dims dims;
  struct arena blocks; /* these three, and |positions| */
  struct parameter *tensors;
  struct trace *traces;
  float *buffer; size_t buffer_size;
  @<Buffers of a network@>@;
};

@ The layers use the rest of the memory in turn: the cosines and sines of the positions, the sines negated, the
logits, the gradients that travel back, and scratch for each worker. A name that begins with |d| is a gradient: |dq| is that of |q|.
@<Buffers of a network@>=
uint32_t *positions;
float *frequency, *cosine, *sine, *minus;
float *last, *h, *logits;
float *dx, *dy, *dmixed, *dq, *dk, *dv, *dgate, *dup, *dinner, *scales;
float *scratch; size_t scratch_size;

@ One block of memory holds all buffers. The same function measures it, when there is no block
yet, and divides it.
@<Lay out the buffers@>=
/* as |lay_bench|: without a buffer it only counts; each piece begins at a multiple of 16 floats */
static float *cut(struct network *net, size_t *at, size_t n)
{
  float *p = net->buffer == NULL ? NULL : net->buffer + *at;
  *at += (n + 15) / 16 * 16;
  return p;
}

@ Next come the rows of one layer. They take by far the largest part of a trainer's memory, and every layer has its own, so we do
not keep anything that can be recomputed cheaply.
@<Lay out the buffers@>=
/* what the way back needs of a layer: its inputs, and maximum and sum of each row's softmax
   instead of the weights */
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

@ The buffers after those of the layers are needed only once, since the backward pass works on one layer at a time. A worker's scratch is large enough for attention
and for any product.
@<Lay out the buffers@>=
/* called twice, to count and to cut; the gradients are shared by all layers, for only one layer
   at a time goes back */
static size_t lay_out(struct network *net)
{
  const struct model_shape *s = &net->form;
  size_t n = net->max_rows, d = n * s->d_model;
  size_t f = n * s->d_inner, at = 0, q = n * net->q_width;
  size_t kv = n * net->kv_width, half = s->head_dim / 2;
  for (uint32_t l = 0; l < s->n_layers; l++)
    lay_out_layer(net, &net->traces[l], &at);
  @<Cut the buffers that all layers share@>@;
  return at;
}

@ The logits are the largest single buffer of our model: a row has as many of them as the vocabulary has tokens.
@<Cut the buffers that all layers share@>=
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

@ Tensors, traces and positions have blocks of their own. All floats are cut from a single
block, which is measured first and then allocated. If an allocation fails, the caller closes the network and so frees the others.
@<Open and close a network@>=
static bool prepare(struct network *net, struct error *why)
{
  const struct model_shape *s = &net->form;
  @<Take the three small blocks@>@;
  net->buffer_size = lay_out(net);
  net->buffer = arena_alloc(&net->blocks, MEMORY_TRAINING, net->buffer_size,
    sizeof(float), why);
  if (net->buffer == NULL) return false;
  lay_out(net);
  @<Find the frequencies of the rotations@>@;
  return true;
}

@ There is an embedding, then nine tensors for each layer, and a last gain.
@<Take the three small blocks@>=
net->tensors = arena_alloc(&net->blocks, MEMORY_TRAINING,
  2 + N_PARTS * (size_t) s->n_layers,
  sizeof *net->tensors, why);
net->traces = arena_alloc(&net->blocks, MEMORY_TRAINING, s->n_layers,
  sizeof *net->traces, why);
net->positions = arena_alloc(&net->blocks, MEMORY_TRAINING, net->max_rows,
  sizeof(uint32_t), why);
if (net->blocks.refused) return false;
list_tensors(net);

@ The frequencies are the default ones of \cref{sec:layer}, the same that a program will compute when it reads the settings we write.
@<Find the frequencies of the rotations@>=
size_t half = s->head_dim / 2;
for (size_t i = 0; i < half; i++)
  net->frequency[i] = (float) num_pow(10000.0,
    -(double) i / (double) half);

@ The widths must be multiples of sixteen, because every loop over a row goes in steps of
sixteen. Any other shape is refused when the network is opened, so no loop has to handle a remainder.
@<Open and close a network@>=
/* The bodies of gradients.h work in sixteens, so other widths are refused here and nowhere
   else. The gradients are those that go with the kernels: wide ones need AVX2. */
struct network *network_open(struct memory *m, const struct model_shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *pool, struct error *why)
{
  if (s->d_model % 16 != 0 || s->d_inner % 16 != 0
    || s->head_dim % 16 != 0) {
    error_say(why, "the trainer: widths %u, %u and %u;"@|
      " wanted: multiples of 16", (unsigned) s->d_model,
      (unsigned) s->d_inner, (unsigned) s->head_dim);
    return NULL;
  }
  struct network *net = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *net, why);
  if (net == NULL) return NULL;
  @<Fill in what follows from the shape@>@;
  @<Choose pieces that go with the kernels@>@;
  if (prepare(net, why)) return net;
  network_close(m, net);
  return NULL;
}

@ The last number in |dims| is the factor by which scores are multiplied, one over the root of a head's width.
@<Fill in what follows from the shape@>=
net->form = *s;
net->max_rows = max_rows;
net->blocks.m = m;
net->q_width = (size_t) s->n_heads * s->head_dim;
net->kv_width = (size_t) s->n_kv_heads * s->head_dim;
net->team = (struct engine) @[{ .k = k, .pool = pool, .c = &net->tally }@];
net->lone = (struct engine) @[{ .k = k, .c = &net->tally }@];
net->dims = (struct attention_dims) @[{ s->n_heads, s->n_kv_heads, s->head_dim,
  (float) (1 / sqrt((double) s->head_dim)) }@];

@ The engine has already found out what this machine can do. If its kernels are those in plain C, because the machine has no wide registers or because the user asked for them, the
backward pass does without as well.
@<Choose pieces that go with the kernels@>=
net->back = &gradients_plain;
#if defined __x86_64__
if (strncmp(k->name, "avx", 3) == 0) net->back = &gradients_wide;
#endif

@ Closing frees the blocks, and then the network itself.
@<Open and close a network@>=
void network_close(struct memory *m, struct network *net)
{
  if (net == NULL) return;
  arena_free(&net->blocks);
  memory_free(m, net);
}

@ Other modules may read the tensors, the logits and the table of operations; only the network changes them. The list of tensors ends with null, so a loop over it needs no
count.
@<Open and close a network@>=
size_t network_count(const struct network *net)
{
  return net->n_parameters;
}
@#
const struct parameter *network_parameter(const struct network *net,
  size_t i)
{
  return i < net->n_tensors ? &net->tensors[i] : NULL;
}
@#
const float *network_logits(const struct network *net)
{
  return net->logits;
}
@#
const struct gradients *network_gradients(const struct network *net)
{
  return net->back;
}

@* Forward, with the engine's own kernels. \label{sec:keeping}
The forward pass of training is the pass of chapter 2, except that it stores its results in other places. It must compute the same bits. Weights that were fitted to one
function are not quite right for another, and the engine's losses would then differ a little from the trainer's for no visible reason. So we use the engine's kernels where
they are fast enough for hundreds of rows; elsewhere we compute the same sums, only in another order of work.

A job of the pool is a function and one pointer, so we put everything that belongs to one call of the network into a small struct and hand its address to each job.

@<One pass of a network@>=
struct network_run {
  struct network *net; const float *w; float *gradient;
  const struct batch *b; size_t rows;
};
@#
static const float *weight(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->w + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

@ The gradient is laid out like the weights, so the gradient of a tensor is found in the same
way.
@<One pass of a network@>=
static float *gradient_of(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->gradient + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

@ A linear layer goes through |linear| of \cref{sec:manyrows}. Each worker takes a multiple of six rows, as long as there are enough, because six rows are
a tile. The division does not change any bits, because no row enters the sums of another.
@<One pass of a network@>=
struct weight_job { struct network *net; const float *w, *x;
  size_t in, out, rows; float *y; };
@#
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
  /* shares are multiples of a tile's rows, so that only the last worker has rows that go one by
     one */

@ The vocabulary of a test need not be a multiple of sixteen; if it is not, we call the engine's kernel. Both
compute the same bits; the network of \cref{sec:trainingcheck} has such a vocabulary.
@<One pass of a network@>=
/* The two ways have the same bits; the vocabulary is the only width that may be no multiple of
   16. */
static void apply(const struct network_run *r, const float *w, size_t in,
  size_t out,
  const float *x, float *y)
{
  struct network *net = r->net;
  if (out % 16 == 0) {
    pool_run(net->team.pool, linear_part,
      &(struct weight_job) @[{ net, w, x, in, out, r->rows, y }@]);
    return;
  }
  struct matrix one = @[{ .weight = { w, WEIGHT_F32 }, .in =
    in, .out = out }@];
  net->team.k->linear(&net->team, &one, 1, x, r->rows, &y);
}

@ The norm is the engine's. Its $\epsilon$ must be the same in three places: here, in the settings that we write, and in the backward pass. If the first two
differed, the test that compares our logits with the engine's would notice; if the third did, the gradient check would.
@<One pass of a network@>=
static void norm_rows(const struct network_run *r, const float *gain,
  const float *x, float *y)
{
  struct norm n = @[{ .kind = NORM_RMS, .gain =
    { gain, WEIGHT_F32 },
    .epsilon = 1e-5f }@];
  r->net->team.k->normalize(&r->net->team, &n, x, r->rows,
    r->net->form.d_model, y);
}

@ The first half of a layer is, line by line, that of chapter 2: norm, three projections, rotation,
attention, projection, addition. Only the destinations differ. The engine overwrites its rows; here each row has a place of its own, where it
stays until the backward pass has used it.
@<Through attention, keeping the rows@>=
/* as chapter 2's, but each step writes to a buffer of its own, since the way back reads them
   all */
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
    &(struct attention) @[{ r, t }@]);
  apply(r, weight(r, l, PART_O), net->q_width, d, t->mixed, t->middle);
  k->add(&net->team, t->middle, t->x, r->rows * d);
}

@ Then comes the second half. The backward pass needs the gate before its activation function, the partner beside it,
and their product, which is the input of the last matrix; so we keep all three.
@<Through the gated unit, keeping the rows@>=
/* |y| is the input of the next layer, or |last|: so no row is copied between layers */
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

@ Like the engine's, the trainer's passes run under the standard floating-point modes, which each pass sets once. A layer writes its output straight to where the next layer keeps its input; the last layer writes to a buffer of its own.
The kernel |add| adds its second row to its first. Ours begins with the other row than the engine's, but the sum of two numbers
does not depend on their order, so the bits are the same.
@<A whole pass, kept@>=
/* Rounding and subnormal numbers are as in the engine, whatever the caller has set. The
   embedding is tied: |w| begins with the matrix that is also the output's. */
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why)
{
  const struct model_shape *s = &net->form;
  const struct kernels *k = net->team.k;
  struct network_run r = @[{ .net = net, .w = w, .b = b, .rows =
    b->sequences * b->length }@];
  size_t half = s->head_dim / 2;
  if (r.rows > net->max_rows || b->length > s->n_positions)
    return error_say(why, "the trainer: a pass of %zu rows of %zu;"@|
      " wanted: at most %zu",
      b->sequences, b->length, net->max_rows);
  struct float_modes modes;
  float_modes_begin(&modes);
  @<Give the rows their positions and their embeddings@>@;
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

@ A pass holds several sequences one after the other, and each begins again at position 0. Their rows have no influence on each other, except in the sums of the gradients.
@<Give the rows their positions and their embeddings@>=
for (size_t i = 0; i < r.rows; i++)
  net->positions[i] = (uint32_t) (i % b->length);
k->angles(&net->team, net->positions, r.rows, net->frequency, half,
  1, net->cosine, net->sine);
k->embed(&net->team, (struct tensor) @[{ w, WEIGHT_F32 }@],
  s->d_model, b->inputs, r.rows, net->traces[0].x);

@ Attention is the one place where the kernel of chapter 2 is too slow for us: it takes its
rows one at a time, because the engine mostly has only one. Here there are many
rows, which all use the same keys. So a worker takes a \emph{strip} of 48 queries of one head and computes attention over all keys that they see
in two matrix products: queries with keys give scores, weights with values give the mixture. Each score, each exponential and each sum keeps
its terms and their order, so the bits are those of the kernel. We compute the scores above the diagonal as well and throw them away, fewer than 64 for each query; that
is cheaper than a product with a ragged edge.

For this a worker has scratch memory. It holds the keys and values of one head, row after row (|k|, |v|), the same transposed (|kt|, |vt|),
their gradients, a strip of scores (|s|) and of their gradients (|g|), and a strip of queries with the gradients that reach them.
@<The scratch of a worker@>=
struct attention_scratch {
  float *k, *v, *kt, *vt, *dk, *dv, *s, *g, *q, *dy, *dq, *parts,
    *left, *pack;
  size_t ld;
};

@ One function measures the scratch and divides it, as for the network's buffers. A row of the transposed keys is
sixteen floats longer than the number of keys: with a power of two, all rows would fall into the same
sets of the cache.
@<The scratch of a worker@>=
/* Measures with |scratch| null and lays out otherwise: one list of sizes for both, so they
   cannot disagree. */
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

@ After the scratch for attention comes the buffer where products are packed. A product packs whole rows of its second matrix, so the widest matrix of the model
decides the size.
@<The scratch of a worker@>=
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

@ The unit of work is a \emph{group}: one sequence, one head of keys and values, and the heads of queries that share it. It goes to one worker as a whole. So keys
are copied and transposed once for all of its queries, and in the backward pass no other worker adds to their gradients.
@<Attention, a strip of queries at a time@>=
struct attention { const struct network_run *r; struct trace *t; };
  /* forward and backward */
@#
struct head_group { const struct network_run *r; struct trace *t;
struct attention_scratch on;
  size_t first, length, padded, kv; };
@#
static void gather(const float *from, size_t stride, size_t rows,
  size_t h, float *to)
{
  for (size_t i = 0; i < rows; i++)
    memcpy(to + i * h, from + i * stride, h * sizeof *to);
}

@ Keys and values of one head are copied out of their rows, which also hold the other heads'. They are padded to a multiple of sixteen with
zeros. The padding gets the weight 0, but if a NaN were left there from an earlier use, 0 times it would still be a NaN.
@<Attention, a strip of queries at a time@>=
/* A unit is one text and one head of keys, with all heads of queries that share it: then only
   one worker writes its gradients. The rows up to the next multiple of 16 are zero, since
   products go in sixteens. */
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

@ One call of the kernel |linear|, through |lone|, computes the scores of a strip, with the keys as its weights: a score \emph{is} the engine's dot product,
with the same lanes. Then, for each block of keys, softmax gives the weights of the whole strip and a product mixes the values; finally the blocks of each row are joined.
@<Attention, a strip of queries at a time@>=
/* A strip of queries against all keys up to its last row, in blocks of 256 as the kernels have
   them. Blocks that a row does not see at all are zeros and are not joined. */
static void attend_strip(struct head_group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, rows = a->length - t0;
  if (rows > GRADIENTS_MC) rows = GRADIENTS_MC;
  size_t n = (t0 + rows + 15) / 16 * 16, at =
    (a->first + t0) * net->q_width + head * h;
  gather(a->t->q + at, net->q_width, rows, h, a->on.q);
  struct matrix keys = @[{ .weight = { a->on.k, WEIGHT_F32 }, .in =
    h, .out = n }@];
  net->lone.k->linear(&net->lone, &keys, 1, a->on.q, rows, &a->on.s);
  for (size_t b = 0; b * 256 < n; b++) @<Weigh a block of the strip,
    and mix its values@>@;
  @<Join the blocks of every row of the strip@>@;
}

@ Query $t$ sees the keys 0 to $t$, which are in the blocks 0 to $t/\given{256}$; later blocks are left out. The result goes to the head's place in the row, the maximum
and the sum to where the backward pass will look for them.
@<Join the blocks of every row of the strip@>=
for (size_t i = 0; i < rows; i++) {
  size_t row = a->first + t0 + i;
  net->back->join(a->on.left + 2 * i, a->on.parts + i * h,
    (t0 + i) / 256 + 1, h,
    a->t->mixed + row * net->q_width + head * h,
    a->t->known + 2 * (row * net->form.n_heads + head));
}

@ A block holds \given{256} keys, as in the engine. A query that sees no key of the block has zeros
for its weights there. Then one product mixes the values for the whole strip. The zeros do not change a sum, and the terms are added in the order of the keys, as
in the kernel.
@<Weigh a block of the strip, and mix its values@>=
{
  size_t wide = n - 256 * b < 256 ? n - 256 * b : 256;
  for (size_t i = 0; i < rows; i++) {
    float *s = a->on.s + i * n + 256 * b;
    size_t sees = t0 + i + 1 < 256 * b ? 0 : t0 + i + 1 - 256 * b;
    if (sees > 0) net->back->softmax_block(s, sees < wide ? sees : wide, wide,
      net->dims.scale, a->on.left + 2 * (b * GRADIENTS_MC + i));
    else memset(s, 0, wide * sizeof *s);
  }
  net->back->multiply(&(struct product)
    @[{ .a = a->on.s + 256 * b, .a_row = n,
    .a_step = 1, .b = a->on.v + 256 * b * h, .b_step = h, .c = a->on.parts
    + b * GRADIENTS_MC * h, .c_row = h, .rows = rows, .terms = wide, .cols =
      h }@], a->on.pack);
}

@ Groups are independent of each other, so they are dealt out to the
workers in turn, like cards. Two sequences with two heads of keys make four groups, one long sequence makes two. If there are more workers than groups, some
workers wait here.
@<Attention, a strip of queries at a time@>=
/* every |workers|-th unit: texts are equally long, so the shares are nearly equal */
static void attend_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct attention *job = ctx;
  struct network *net = job->r->net;
  struct head_group a = @[{ .r = job->r, .t = job->t }@];
  size_t n_kv = net->form.n_kv_heads, sharing = net->form.n_heads / n_kv;
  lay_bench(net, &a.on, net->scratch + worker * net->scratch_size);
  for (size_t u = worker; u < job->r->b->sequences * n_kv; u += workers) {
    take_group(&a, u);
    for (size_t h = a.kv * sharing; h < (a.kv + 1) * sharing; h++)
      for (size_t t0 = 0; t0 < a.length;
      t0 += GRADIENTS_MC) attend_strip(&a, h, t0);
  }
}

@* Backward, by hand. \label{sec:backward}
\emph{Teacher forcing} makes training affordable. All tokens of a row are known, so one
pass gives the model's guess at every position at once, and we compare each guess with the token that
really came. Causal attention makes sure that no position sees its answer: the losses of one pass
are exactly those of a separate pass over each beginning of the row. The tests compare them with
|==|.
@^teacher forcing@>

Everything else is the chain rule, applied from the last line of the pass to the first. \Cref{gradients} has derived the gradients for each operation. What is left
is to go through a layer from its last line to its first, and to give each operation the gradient of its output (\cref{fig:wayback}). The residual stream makes that simple: $y=x+f(x)$
passes $dy$ on unchanged and adds what comes back through $f$. So one array, |dx|, travels through the whole model, and each branch adds to it.
@^residual stream@>

\fig{wayback}{fig:wayback}{A layer, forward and backward. The black arrow is the forward pass; beside each operation are the rows that it keeps. The red arrow is the backward pass: each operation reads
rows that were kept, and returns the gradients of its inputs. The gradients after a semicolon are those of weights.}{Four columns, with an arrow down beside the first and an arrow up beside the last. The
second names the eleven operations of a layer from the norm at the top to the second addition at the bottom; the first, the rows that each keeps; the third, the rows that each reads in the backward pass; the
fourth, the gradients that it returns.}

The losses come first, row by row; in the same step each row of logits is overwritten by its gradients.

@<Compute the losses of the rows@>=
struct loss_job { const struct network_run *r; double *losses; };
@#
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

@ The loss is a step of its own, so that a caller can read the logits before they are gone, and
so that an evaluation can stop here.
@<Compute the losses of the rows@>=
/* turns the logits into their gradients, in place: afterwards |network_logits| are no logits */
void network_loss(struct network *net, const struct batch *b,
  double *losses)
{
  struct network_run r = @[{ .net = net, .b = b, .rows =
    b->sequences * b->length }@];
  struct float_modes modes;
  float_modes_begin(&modes);
  pool_run(net->team.pool, loss_part,
    &(struct loss_job) @[{ &r, losses }@]);
  float_modes_end(&modes);
}

@ When all workers share a product, the rows of the result are divided among them, never the terms of a sum. A sum over all tokens stays one chain of additions on one worker. The
rows left over after the last multiple of six go to the last worker.
@<Products on all workers@>=
struct spread_product { struct network *net; struct product p; };
@#
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
  /* rows of the result are divided, by tiles; each number is one worker's sum */

@ There are two such products, those of \eqref{eq:matrixback}. The gradient of a matrix's input is $dX=dY\,W$: the rows are tokens and the terms are outputs. If several matrices
read the same rows, as those for queries, keys and values do, |add| sums their gradients.
@<Products on all workers@>=
/* $dX=dY\,W$: a sum over the outputs */
static void hand_down(const struct network_run *r, const float *w,
  size_t in, size_t out,
  const float *dy, float *dx, bool add)
{
  struct spread_product job = { r->net,
    @[{ .a = dy, .a_row = out, .a_step = 1, .b = w,
    .b_step = in, .c = dx, .c_row = in, .rows = r->rows, .terms =
      out, .cols = in,
    .add = add }@] };
  pool_run(r->net->team.pool, product_part, &job);
}

@ The gradient of the matrix itself is $dW=dY^{\mathsf T}X$: the rows are outputs and the terms are tokens. It is always added to what is there, because a step may consist of several passes,
and because the embedding gets a second part at the very end.
@<Products on all workers@>=
/* $dW$ is $dY$ transposed times $X$, and always added: a sum over all rows of the pass */
static void matrix_gradient(const struct network_run *r, const float *x,
  size_t in,
  const float *dy, size_t out, float *grad)
{
  struct spread_product job = { r->net,
    @[{ .a = dy, .a_row = 1, .a_step = out, .b = x,
    .b_step = in, .c = grad, .c_row = in, .rows = out, .terms =
      r->rows, .cols = in,
    .add = true }@] };
  pool_run(r->net->team.pool, product_part, &job);
}

@ A norm takes two jobs in the backward pass. The gradient of a row needs that row only, so the first job is divided by rows. The gradient of a gain is a sum over all rows, so the second is divided by
columns. The first job also stores one over the root mean square of each row, and the second may begin only when all of these are there.
@<Norms and gates on all workers@>=
struct norm_job { const struct network_run *r; const float *gain, *x, *dy;
float *dx, *dgain; };
@#
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
  /* rows first, since the gradient of the gain needs the factor of every row */

@ The columns are divided in units of sixteen, since |gain_backward| takes sixteen in one step.
@<Norms and gates on all workers@>=
static void norm_gain_part(void *ctx, unsigned worker, unsigned workers)
{
  const struct norm_job *j = ctx;
  const struct network *net = j->r->net;
  size_t d = net->form.d_model;
  net->back->gain_backward(j->x, j->dy, net->scales, j->r->rows, d,
    d / 16 * worker / workers * 16, d / 16 * (worker + 1) / workers
      * 16, j->dgain);
}
@#
static void norm_down(const struct network_run *r, const float *gain,
  const float *x,
  const float *dy, float *dx, float *dgain)
{
  struct norm_job j = { r, gain, x, dy, dx, dgain };
  pool_run(r->net->team.pool, norm_rows_part, &j);
  pool_run(r->net->team.pool, norm_gain_part, &j);
}

@ The gated unit treats each number on its own, whatever row it is in. So all of the layer's numbers are one long list, divided in units of sixteen.
@<Norms and gates on all workers@>=
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

@ A product runs along the columns of its second matrix, and here the columns must be keys; so keys and values are transposed, once for each group. The rows of the copy are |ld| floats long, as
the layout of the scratch prescribes.
@<Attention on the way back@>=
static void turn(const float *from, size_t rows, size_t cols,
  float *to, size_t ld)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < cols; c++) to[c * ld + i] = from[i * cols + c];
}

@ For a strip of queries we recompute the scores, and beside them the gradients of the weights, $g_t=dy\cdot v_t$: two products of the same form, one with the keys and one with the
values. Then |softmax_backward| turns each row of the two into weights and gradients of scores. The scores need not have the bits of the forward pass: nothing is
compared with them, and the different rounding moves a gradient by less than its own error.
@<Attention on the way back@>=
/* computes the scores again and, beside them, the gradients of the weights; both are then turned in place, into
   weights and gradients of scores */
static void scores_back(struct head_group *a, size_t head, size_t t0,
  size_t rows, size_t n)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, ld = a->on.ld;
  struct product p = @[{ .a = a->on.q, .a_row = h, .a_step = 1, .b =
    a->on.kt,
    .b_step = ld, .c = a->on.s, .c_row = ld, .rows = rows, .terms =
      h, .cols = n }@];
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

@ Three more products follow. A score is $q\cdot k$, so with $g$ the gradients of the scores, $dq=g\,K$ and $dK=g^{\mathsf T}q$; a mixture is $\sum_tp_tv_t$, so
$dV=p^{\mathsf T}dy$. It is the rule for matrices again: the gradient of each factor is the gradient of the product times the other factor. The last two are sums over all queries that see a key, so they are added up
strip by strip, in rising order.
@<Attention on the way back@>=
/* dq belongs to the strip alone; dK and dV are added strip by strip, head by head, always in
   the same order */
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
  @<Find $dq$, and add to $dK$ and $dV$@>@;
}

@ The third product has the form of the second, with other factors: weights in place of the gradients of the scores, and the gradients of the mixture in place of the queries.
@<Find $dq$, and add to $dK$ and $dV$@>=
struct product q = @[{ .a = a->on.g, .a_row = ld, .a_step = 1,
  .b = a->on.k, .b_step = h, .c = net->dq + at, .c_row = w,
  .rows = rows, .terms = keys, .cols = h }@];
net->back->multiply(&q, a->on.pack);
struct product k = @[{ .a = a->on.g, .a_row = 1, .a_step = ld,
  .b = a->on.q, .b_step = h, .c = a->on.dk, .c_row = h,
  .rows = keys, .terms = rows, .cols = h, .add = true }@];
net->back->multiply(&k, a->on.pack);
k.a = a->on.s, k.b = a->on.dy;
k.c = a->on.dv;
net->back->multiply(&k, a->on.pack);

@ The group's heads share keys and values, and therefore add to the same gradients, head after
head. One worker does the whole group. Two would have to keep a fixed order, and waiting for each other would cost as much time as the second one saves.
@<Attention on the way back@>=
/* Keys and values are turned once for all strips: the products then read along memory. */
static void attend_back_part(void *ctx, unsigned worker,
  unsigned workers)
{
  const struct attention *job = ctx;
  struct network *net = job->r->net;
  struct head_group a = @[{ .r = job->r, .t = job->t }@];
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
    @<Hand out the gradients of the group's keys and values@>@;
  }
}

@ The gradients are copied back into rows in which all heads are side by side, as the rotation and the
projection need them. No two groups write to the same place.
@<Hand out the gradients of the group's keys and values@>=
for (size_t i = 0; i < a.length; i++) {
  size_t at = (a.first + i) * w + a.kv * h;
  memcpy(net->dk + at, a.on.dk + i * h, h * sizeof(float));
  memcpy(net->dv + at, a.on.dv + i * h, h * sizeof(float));
}

@ Here is the second half of a layer, backwards. Read it beside |forward_mlp|: the last line there is the first one here,
and each matrix appears twice, once for its own gradient and once for that of its input. |dx| is at first the gradient of the layer's output and, after the last line, that of the stream in the middle of the layer.
@<Back through the gated unit@>=
/* each step of |forward_mlp| from the last to the first; |dx| passes around as the residual
   does */
static void backward_mlp(const struct network_run *r, uint32_t l)
{
  struct network *net = r->net;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  matrix_gradient(r, t->inner, f, net->dx, d, gradient_of(r, l, PART_DOWN));
  hand_down(r, weight(r, l, PART_DOWN), f, d, net->dx, net->dinner,
    false);
  pool_run(net->team.pool, gate_part, &(struct attention) @[{ r, t }@]);
  matrix_gradient(r, t->normed2, d, net->dgate, f, gradient_of(r, l, PART_GATE));
  matrix_gradient(r, t->normed2, d, net->dup, f, gradient_of(r, l, PART_UP));
  hand_down(r, weight(r, l, PART_GATE), d, f, net->dgate, net->dy, false);
  hand_down(r, weight(r, l, PART_UP), d, f, net->dup, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM2), t->middle, net->dy, net->dx,
    gradient_of(r, l, PART_NORM2));
}

@ Then the first half, backwards. |attend_back_part| computes the gradients of rotated queries and keys; the engine's own kernel,
with the sines negated, rotates them back. Values were never rotated. The three matrices read the same normed rows, so the gradients of their inputs are summed in |dy|: the first call
writes, the other two add.
@<Back through attention@>=
/* a rotation is undone by the opposite angle, whose sine is |minus| */
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
    &(struct attention) @[{ r, t }@]);
  k->rotate(&net->team, net->dq, r->rows, s->n_heads, half,
    net->cosine, net->minus);
  k->rotate(&net->team, net->dk, r->rows, s->n_kv_heads, half,
    net->cosine, net->minus);
  @<Back through queries, keys and values@>@;
  norm_down(r, weight(r, l, PART_NORM1), t->x, net->dy, net->dx,
    gradient_of(r, l, PART_NORM1));
}

@ This takes three gradients of matrices, and one sum of the gradients of their inputs. We also test the tests: in one of the faulty versions that they must detect, the sum for the keys is missing.
@<Back through queries, keys and values@>=
matrix_gradient(r, t->normed, d, net->dq, q, gradient_of(r, l, PART_Q));
matrix_gradient(r, t->normed, d, net->dk, kv, gradient_of(r, l, PART_K));
matrix_gradient(r, t->normed, d, net->dv, kv, gradient_of(r, l, PART_V));
hand_down(r, weight(r, l, PART_Q), d, q, net->dq, net->dy, false);
hand_down(r, weight(r, l, PART_K), d, kv, net->dk, net->dy, true);
hand_down(r, weight(r, l, PART_V), d, kv, net->dv, net->dy, true);

@ At the bottom each token's row of the embedding gets the gradient of its position, and a token that
occurs twice gets both. Two workers must never add to the same number, and tokens may repeat anywhere in the rows; so the workers divide the columns, and each goes
through all rows.
@<The whole way back@>=
/* Workers divide columns: a token may come in many rows, and its gradient is added in their
   order. */
static void embed_back(void *ctx, unsigned worker, unsigned workers)
{
  const struct network_run *r = ctx;
  size_t d = r->net->form.d_model, from = d * worker / workers;
  size_t to = d * (worker + 1) / workers;
  for (size_t i = 0; i < r->rows; i++)
    for (size_t k = from; k < to; k++)
      r->gradient[r->b->inputs[i] * d + k] += r->net->dx[i * d + k];
}

@ The backward pass begins at the head, which is the embedding matrix used a second time. The gradient of that matrix therefore has two parts of very different kinds. As the head, it gets a gradient for every token of the vocabulary at every position,
mostly a small push downwards; as the embedding, only for the tokens that are in the rows. Since the two are tied, the parts are added.
@<The whole way back@>=
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

@ The module follows a pass: first the memory, then the way forward, the loss, and the way back.
@(network.c@>=
/* A Llama as a network that can be trained: forward with everything kept, loss, backward. All
   memory is taken on opening; a pass takes none and so can fail only by its arguments. The
   forward pass gives the bits that the engine gives for the same weights, so a trained model is
   the model that is run. Workers divide rows, columns or heads of keys, and never the terms of
   a sum: results do not depend on their number. Gradients are added to what is there; |adam|
   sets them to 0. |dx| is the gradient of the residual stream, which goes backward through all
   layers and is only ever added to. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "training/network.h"
#include "functions/numbers.h"
@;@#
@<What a network holds@>@;
@<Tensors by name@>@;
@<The scratch of a worker@>@;
@<Lay out the buffers@>@;
@<Open and close a network@>@;
@<One pass of a network@>@;
@<Attention, a strip of queries at a time@>@;
@<Through attention, keeping the rows@>@;
@<Through the gated unit, keeping the rows@>@;
@<A whole pass, kept@>@;
@<Compute the losses of the rows@>@;
@<Products on all workers@>@;
@<Norms and gates on all workers@>@;
@<Attention on the way back@>@;
@<Back through the gated unit@>@;
@<Back through attention@>@;
@<The whole way back@>@;

@* Packing texts into training rows. \label{sec:trainrows}
The grammar of \cref{corpus} writes as many texts as we want, short and long. The trainer wants rows of tokens that all have one length: \given{512}, \given{256} or
\given{2\,048}. Two things are still missing: a tokenizer, which is learnt from the same grammar, and a rule that packs texts into rows. A model learns
everything that its rows show, including what they show by accident, so the rule is worth a page.
@^packing, of texts@>

\begin{byhand}{four texts, a row of eight}
Texts 0, 1, 2 and 3 have 3, 2, 4 and 5 tokens. Between two texts comes an end-of-text, E. Text 0 gives 3 tokens; E and text 1 make
it $3+1+2=6$, another E $6+1=7$, and of text 2 there is room for $8-7=1$ token. The other $4-1=3$ are dropped.

\medskip
The next row begins with text 3. Its number is odd, so an E comes before it: $1+5=6$ tokens, and the row continues with E and text 4. In the first row $3+2+4=9$ tokens
of text were used up, and $9-3=6$ of them were seen.
\end{byhand}

@ The module knows nothing of models. Given a grammar, it learns the merges, once; given a tokenizer as well, it makes as many rows as are wanted.

@(rows.h@>=
#ifndef INCIPIT_ROWS_H
#define INCIPIT_ROWS_H
#include "corpus/corpus.h"
#include "tokenizer/tokenizer.h"
@<What gives rows of tokens@>@;
#endif

@ The tokenizer is made before the model. Chapter 1's trainer learns it from texts of the same grammar; \val{rows.merges} merges, the \given{256} bytes and
end-of-text make the vocabulary of the plan.
@<What gives rows of tokens@>=
enum { DATASET_TOKENIZER_TEXTS = 20000, DATASET_MERGES = 1791 };
  /* texts from which the vocabulary is learnt; merges to learn */
bool dataset_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why);
  /* learns |DATASET_MERGES| merges from the texts of |SEED_TOKENIZER|; freed by
     |bpe_forget| */

@ A run reads rows of tokens. Each text is written when it is needed, and no text is used twice. So every training loss
is the loss on a new text, and a model would gain nothing by memorizing the old ones.
@<What gives rows of tokens@>=
struct dataset;
struct dataset *dataset_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why);
  /* the texts of |seed| as rows of tokens; owned by the caller, who keeps |g| and
     |t| */
void dataset_close(struct memory *m, struct dataset *s);
  /* returns its memory; closing null does nothing */
bool dataset_row(struct dataset *s, uint32_t *row, size_t n,
  struct error *why);
  /* the next row of |n| tokens, which begins with a new text */
uint64_t dataset_at(const struct dataset *s);
  /* the number of the next text */
void dataset_seek(struct dataset *s, uint64_t at);
  /* continues with text |at| */

@ The tokenizer learns from texts of its own seed. No text of the training or of the evaluation took part in choosing
the merges: a tokenizer that had seen the texts of the evaluation would cut them into unfairly few tokens.
@<The merges of the built-in model@>=
/* the texts one after the other, with nothing between them */
static char *tokenizer_texts(struct memory *m, const struct grammar *g,
  size_t cap,
  size_t *length, struct error *why)
{
  struct passage *p = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *p, why);
  char *all = p == NULL ? NULL : memory_alloc(m, MEMORY_TRAINING, cap, 1,
    why);
  bool ok = all != NULL;
  *length = 0;
  for (size_t i = 0; ok && i < DATASET_TOKENIZER_TEXTS; i++) {
    @<Write text |i| after the others@>@;
  }
  memory_free(m, p);
  if (!ok) memory_free(m, all);
  return ok ? all : NULL;
}

@ The texts of one seed are numbered, and each can be written without those before it. If the texts of some future grammar do not fit, an error says so.
@<Write text |i| after the others@>=
ok = grammar_write(g, SEED_TOKENIZER, i, p, why);
if (ok && p->length > cap - *length)
  ok = error_say(why, "the trainer: %zu bytes of text do not fit",
    cap);
if (ok)
  memcpy(all + *length, p->words, p->length), *length += p->length;

@ The buffer has half a kilobyte for each text on average, ten megabytes for all of them. Chapter 1's trainer reads them in a second. Then the
buffer is freed, and only the merges are kept.
@<The merges of the built-in model@>=
bool dataset_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why)
{
  size_t length, cap = DATASET_TOKENIZER_TEXTS * (size_t) 512;
  char *all = tokenizer_texts(m, g, cap, &length, why);
  if (all == NULL) return false;
  bool ok = bpe_train(m, all, length, split_gpt2, DATASET_MERGES, out, n, why);
  memory_free(m, all);
  return ok;
}

@ A row begins where a text begins, and continues with the next texts, separated by end-of-text tokens,
until it is full. If the number of its first text is odd, an end-of-text precedes it. So the model learns to begin both with an end-of-text and
without one, and a user may give a prompt either way.
@^end token@>
@<Rows of tokens@>=
struct dataset { struct memory *m; const struct grammar *g;
struct tokenizer *t;
  uint64_t seed, at; struct passage *piece; struct ids list; };

@ The rest of the last text is dropped. If the next row continued it, we would waste nothing, but the model would learn to mention names
that it was never given. As it is, no text refers to anything that is missing from its row.
@<Rows of tokens@>=
/* Between texts comes an end-of-text, id 0. Before the first text of a row it comes for every
   other text only: the model must learn both beginnings. */
bool dataset_row(struct dataset *s, uint32_t *row, size_t n,
  struct error *why)
{
  size_t at = 0;
  for (bool first = true; at < n; first = false) {
    if (!grammar_write(s->g, s->seed, s->at, s->piece, why)) return false;
    s->list.n = 0;
    if (!tokenizer_encode(s->t, s->m, s->piece->words,
      s->piece->length, false, false,
      &s->list, why)) return false;
    if (!first || (s->at & 1) != 0) row[at++] = 0;
    for (size_t i = 0; i < s->list.n && at < n;
    i++) row[at++] = s->list.id[i];
    s->at++;
  }
  return true;
}

@ A data set holds the text that it is writing and the tokens of that text. Its position is one number, that
of the next text, and a saved state needs to record nothing else of it.
@<Rows of tokens@>=
struct dataset *dataset_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why)
{
  struct dataset *s = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  *s = (struct dataset) @[{ .m = m, .g = g, .t = t, .seed = seed }@];
  s->piece = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *s->piece, why);
  if (s->piece != NULL) return s;
  dataset_close(m, s);
  return NULL;
}

@ The grammar and the tokenizer belong to the caller, who closes them.
@<Rows of tokens@>=
void dataset_close(struct memory *m, struct dataset *s)
{
  if (s == NULL) return;
  ids_free(m, &s->list);
  memory_free(m, s->piece);
  memory_free(m, s);
}
@#
uint64_t dataset_at(const struct dataset *s)
{
  return s->at;
}
@#
void dataset_seek(struct dataset *s, uint64_t at)
{
  s->at = at;
}

@ The module makes the merges once and then row after row.
@(rows.c@>=
/* From the grammar to rows of tokens. Everything follows from a seed and |at|, the number of
   the next text: a run that is continued gets the rows that it would have got. A row ends where
   it is full, and the rest of its last text is dropped; so a row always
   begins with the beginning of a text, or with the mark before it. */
#include <string.h>
#include "training/rows.h"
@;@#
@<The merges of the built-in model@>@;
@<Rows of tokens@>@;

@ \Cref{fig:pack} shows eight rows of a run.\lab{lab:runrows} Each holds a few whole texts and the beginning of one more, whose rest is dropped. In
\val{rows.counted} rows of \val{rows.length} tokens, with \val[1]{rows.texts} texts each, \val[1]{rows.dropped} per cent of the written tokens are dropped; in the
longer rows of the second phase it is about a quarter of that. The price is acceptable, since the grammar never runs out of texts.

\fig{pack}{fig:pack}{Eight rows as the trainer gets them. A line is a text, a gap is an end-of-text. The part of a text beyond the end of the row is
written but never read.}{Eight lines one above the other, each cut into a few pieces of different length. At a vertical line near the right all rows end; after it
each continues for a little in another colour.}

\checkpoint{build/out/laboratory/run.txt}{what the rows of the training are made of}

@* Plan and steps. \label{sec:plan}
A run carries out a plan, step by step. It gets its rows of tokens from the data set of
\cref{sec:trainrows}, one after the other, and knows nothing else about them.

@(training.h@>=
#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "training/rows.h"
#include "training/network.h"
@<A plan for a training run@>@;
@<A training run from outside@>@;
#endif

@ A plan is data, not code. To train another model, you write another plan. The two of this
project are constants, because their runs must be repeatable: a learning rate that could be set on the command line would one day be set differently.
@<A plan for a training run@>=
struct training_phase { uint64_t tokens; uint32_t sequences, length, passes;
  float from, to; uint32_t warm_up; bool averaged; };
  /* |tokens| tokens, in steps of |passes| times |sequences| rows of |length|
     tokens; the rate falls in a straight line from |from| to |to|,
       after rising over
     |warm_up| steps; a running mean of the weights is kept if |averaged| */
enum { TRAINING_PHASES = 4 };
  /* the most phases of a plan */
struct training_plan { const char *name, *directory; struct model_shape form;
  struct training_phase phase[TRAINING_PHASES]; uint64_t seed; };
  /* a model, how it is trained, and the seed of its first weights */
extern const struct training_plan training_plan_model, training_plan_draft;
  /* the built-in model, and its small sibling */
uint64_t training_plan_steps(const struct training_plan *p);
  /* steps of all phases */
uint64_t training_plan_tokens(const struct training_plan *p);
  /* tokens of all phases, as planned */

@ A run can be stopped after any step and resumed, on this machine or on another. The
saved state is everything that the next step depends on, and nothing else. That is stricter than it sounds. If a step depended on a half-used row, on a seed taken from the clock, or on a
gradient not yet applied, the resumed run would be a different one.
@<A training run from outside@>=
struct trainer;
struct training_progress { uint64_t step, tokens; float loss, rate; };
  /* what has been done, the mean loss of the last step in nats, its rate */
struct trainer *trainer_open(struct memory *m, const struct training_plan *p,
  const struct kernels *k, struct pool *pool, struct dataset *s,
    struct error *why);
  /* a run before its first step; owned by the caller, who keeps the rest */
void trainer_close(struct memory *m, struct trainer *t);
  /* frees its memory; null is allowed */
bool trainer_step(struct trainer *t, struct training_progress *done,
  struct error *why);
  /* one step */

@ Between two steps a run may be saved, resumed, or inspected.
@<A training run from outside@>=
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why);
  /* writes the whole state to a file */
bool trainer_load(struct trainer *t, const char *path,
  struct training_progress *done,
  struct error *why);
  /* takes the state from a file; a run that continues from it ends in the
     same bits */
const float *trainer_weights(const struct trainer *t);
  /* the running mean if there is one, else the weights */
struct network *trainer_network(const struct trainer *t);
  /* the network of the run */

@ The plan of the built-in model has four phases. First come rows of \given{512} tokens, two to a step, which
is cheap and makes many small steps; then rows as long as the context, since positions that were
never trained fail badly; then two \emph{calm} phases, as we call them: one of large steps of many tokens, at a low and falling rate, with an average of
the weights, and a still calmer one of short rows. These two hardly lower the loss. We added them
to make single probabilities more accurate: a model can be
excellent on average and still prefer one of two equally likely continuations, only because of the texts in its last few
steps. A larger step is a mean over more texts, so it has less noise; at a lower rate the weights follow that noise less far; and the average of the last weights \cited{Polyak 1992}
cancels most of the rest. The rows of the last phase are short because a user's prompt is
at the beginning of a row, and a long row has only one beginning.
@^averaged weights@>

The numbers themselves, rates, lengths and shares, were found by trying small runs before the large one. We know of no way to derive them.
The second plan is that of the \emph{sibling}, a smaller model with the same vocabulary: it has two layers instead of six, and is trained on a fifth of the tokens. It can propose tokens for the
large one to check, and \cref{sec:trainanswers} asks how often the two agree.
@<Plans@>=
const struct training_plan training_plan_model = { "pocket", "models/pocket",
  @[{ 6, 128, 4, 2, 32, 384, 2048, 2048 }@],
  @[{ { 7000000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 2000000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 2000000, 1, 2048, 6, 1e-3f, 0, 20, true },@|
    { 3000000, 16, 256, 3, 3e-4f, 0, 10, true } }@], 1 };
const struct training_plan training_plan_draft = { "draft", "models/draft",
  @[{ 2, 128, 4, 2, 32, 384, 2048, 2048 }@],
  @[{ { 1600000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 400000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 300000, 1, 2048, 4, 1e-3f, 0, 10, true },@|
    { 400000, 8, 256, 3, 3e-4f, 0, 10, true } }@], 2 };

@ If the tokens of a phase are not a multiple of those of a step, the phase takes one step more. The rate falls with the share of the steps that are done, so we must know their number
before the first.
@<Plans@>=
static uint64_t phase_steps(const struct training_phase *s)
{
  uint64_t each_step = (uint64_t) s->sequences * s->length * s->passes;
  return (s->tokens + each_step - 1) / each_step;
}
@#
uint64_t training_plan_steps(const struct training_plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < TRAINING_PHASES; i++) n += phase_steps(&p->phase[i]);
  return n;
}

@ Tokens are counted as planned, not rounded up to whole steps; the number only serves to show how far a run has come.
@<Plans@>=
uint64_t training_plan_tokens(const struct training_plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < TRAINING_PHASES; i++) n += p->phase[i].tokens;
  return n;
}

@ The part of a run that must survive an interruption is collected in |state|, a struct without
pointers, which can be written as it is. Four arrays of floats are saved with it: the weights, the two moments and the mean. The gradient is not, because it is 0
between steps. |power1| and |power2| are $\beta_1^t$ and $\beta_2^t$ of \cref{sec:adam}, kept in double and multiplied at each step; to compute the power anew we would need a function that gives the same bits on every machine.
@<What a run holds@>=
enum { BLOCKS = 64 };
struct trainer {
  const struct training_plan *p; struct pool *pool; struct dataset *feed;
  struct network *net; struct arena buffers;
  size_t n, max_rows;
  float *w, *gradient, *first, *second, *mean; bool *decays;
  uint32_t *row, *inputs, *targets; double *losses;
  struct state { uint64_t mark, n, step, step_of_phase, tokens,
    averaged, at;
    uint64_t phase; double power1, power2; } now;
  struct moments move; double part_square[BLOCKS];
};

@ The first weights are drawn from an approximately normal distribution. A uniform number between $-\frac12$ and $\frac12$ has the variance
$\int x^2\,dx=\frac1{12}$, so the sum of twelve of them has variance 1; its distribution is bell-shaped, and computing it needs neither logarithm nor cosine. The generator is SplitMix64, three lines that give the same
bits on every machine.
@<Draw the first weights@>=
/* Nearly a bell curve: twelve uniform numbers, as whole ones, whose sum has no rounding. */
static float noise(uint64_t *dice)
{
  int32_t sum = 0;
  for (int i = 0; i < 12; i++) {
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    sum += (int32_t) (z >> 48) - 32768;
  }
  return (float) sum / 65536;
}

@ The size of the first weights decides how well the first steps go. If $n$ inputs have variance 1 and the weights variance $\sigma^2$, an output has variance $n\sigma^2$; so the weights of a matrix get
a size in proportion to $1/\sqrt n$, here $\given{0.5}/\sqrt n$, so that the numbers neither explode nor vanish on their way through the layers. The matrices that add to the residual stream begin smaller still. There are two of them in each of the $L$ layers, and
with a factor of $1/\sqrt{2L}$ the stream does not grow with the number of layers. Gains begin at 1 and do not decay; the embedding begins small, so that the first guesses are nearly uniform.
@^first weights@>
@<Draw the first weights@>=
/* The matrices that write into the residual stream begin smaller, by the root of their number,
   or the stream would grow with the layers. Gains begin at 1 and do not decay. */
static void draw_weights(struct trainer *t)
{
  uint64_t dice = t->p->seed << 32;
  const struct parameter *p;
  for (size_t i = 0; (p = network_parameter(t->net, i)) != NULL; i++) {
    bool last = strstr(p->name, "o_proj") != NULL
      || strstr(p->name, "down_proj") != NULL;
    float layers = last ? 2 * (float) t->p->form.n_layers : 1;
    float size = i == 0 ? 0.02f : 0.5f / sqrtf((float) p->cols * layers);
    for (size_t k = p->offset; k < p->offset + p->rows * p->cols; k++) {
      t->w[k] = p->rows == 1 ? 1 : size * noise(&dice);
      t->decays[k] = p->rows > 1;
    }
  }
}

@ A run needs five arrays of floats as long as the weights, three rows of tokens, and a loss for every row. With
the network's own memory that is all. A run that has begun allocates nothing more, so it cannot run out of memory.
@<Open and close a training run@>=
static bool alloc_buffers(struct trainer *t, struct error *why)
{
  float **buffer[] = { &t->w, &t->gradient, &t->first, &t->second,
    &t->mean };
  uint32_t **row[] = { &t->row, &t->inputs, &t->targets };
  struct arena *a = &t->buffers;
  for (int i = 0; i < 5; i++) *buffer[i] = arena_alloc(a, MEMORY_TRAINING,
    t->n, sizeof(float), why);
  for (int i = 0; i < 3; i++) *row[i] = arena_alloc(a, MEMORY_TRAINING,
    t->max_rows + 1, sizeof(uint32_t), why);
  t->losses = arena_alloc(a, MEMORY_TRAINING, t->max_rows,
    sizeof *t->losses, why);
  t->decays = arena_alloc(a, MEMORY_TRAINING, t->n, sizeof *t->decays, why);
  return !a->refused;
}

@ The largest pass of the plan decides for how many rows we need room. If an allocation
fails, the memory that was taken before is freed.
@<Open and close a training run@>=
struct trainer *trainer_open(struct memory *m, const struct training_plan *p,
  const struct kernels *k, struct pool *pool, struct dataset *s,
    struct error *why)
{
  struct trainer *t = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  t->p = p;
  t->pool = pool;
  t->feed = s;
  t->buffers.m = m;
  t->now = (struct state) @[{ .mark = STATE_MARK, .power1 = 1, .power2 =
    1 }@];
  @<Find the largest pass of the plan@>@;
  t->net = network_open(m, &p->form, t->max_rows, k, pool, why);
  if (t->net != NULL) t->now.n = t->n = network_count(t->net);
  if (t->net != NULL && alloc_buffers(t, why)) {
    draw_weights(t);
    return t;
  }
  trainer_close(m, t);
  return NULL;
}

@ The passes of a step run one after the other, so only the largest single pass counts.
@<Find the largest pass of the plan@>=
for (int i = 0; i < TRAINING_PHASES; i++) {
  size_t rows = (size_t) p->phase[i].sequences * p->phase[i].length;
  if (rows > t->max_rows) t->max_rows = rows;
}

@ The same lines close a trainer of which only a part was opened, since freeing null does nothing.
@<Open and close a training run@>=
void trainer_close(struct memory *m, struct trainer *t)
{
  if (t == NULL) return;
  arena_free(&t->buffers);
  network_close(m, t->net);
  memory_free(m, t);
}

@ The length of the gradient is a sum over all weights, and the only sum of a step that several workers share. It is cut into the same 64 blocks for any number of workers, and one worker
adds the results of the blocks in order. The update of the weights has no sums at all.
@<A step of training@>=
/* a fixed number of blocks, whatever the workers: their sums are then added in order */
static void square_part(void *ctx, unsigned worker, unsigned workers)
{
  struct trainer *t = ctx;
  for (size_t b = worker; b < BLOCKS; b += workers) {
    size_t from = t->n * b / BLOCKS, to = t->n * (b + 1) / BLOCKS;
    t->part_square[b] = network_gradients(t->net)->square(t->gradient
      + from, to - from);
  }
}
@#
static void adam_part(void *ctx, unsigned worker, unsigned workers)
{
  struct trainer *t = ctx;
  network_gradients(t->net)->adam(&t->move,
    t->n / 64 * worker / workers * 64,
    worker + 1 == workers ? t->n : t->n / 64 * (worker + 1) / workers
      * 64);
}
  /* shares of whole cache lines, in multiples of 64 weights */

@ A pass takes rows from the data set, sets each token's target to the token after it, and goes forward, computes the loss, and goes
backward. Each row is fetched with one token more than the pass reads, since the last position needs a target as well. Every loss has the same share in the gradient, so a step of four passes is the same as a single pass over four times the
rows, in a quarter of the memory.
@<A step of training@>=
/* one pass; |share| divides by the rows of all passes of the step, so that gradients only have
   to be added */
static bool learn_from_rows(struct trainer *t, const struct training_phase *s,
  double *sum,
  struct error *why)
{
  size_t n = s->length;
  for (uint32_t i = 0; i < s->sequences; i++) {
    if (!dataset_row(t->feed, t->row, n + 1, why)) return false;
    memcpy(t->inputs + i * n, t->row, n * sizeof *t->inputs);
    memcpy(t->targets + i * n, t->row + 1, n * sizeof *t->inputs);
  }
  struct batch b = { t->inputs, t->targets, s->sequences, n,
    1.0f / (float) (s->sequences * n * s->passes) };
  if (!network_forward(t->net, t->w, &b, why)) return false;
  network_loss(t->net, &b, t->losses);
  network_backward(t->net, t->w, &b, t->gradient);
  for (size_t i = 0; i < s->sequences * n; i++) *sum += t->losses[i];
  t->now.tokens += s->sequences * n;
  return true;
}

@ Then the weights are updated. A gradient longer than 1 is shortened to 1 \cited{Pascanu 2013}. This \emph{gradient clipping} keeps one unusual text from undoing what many
others have taught.
@<A step of training@>=
/* The gradient is scaled down to norm 1 if its norm is larger. |power1| and |power2| correct the
   moments for their beginning at 0. */
static void move_weights(struct trainer *t, const struct training_phase *s)
{
  struct state *now = &t->now;
  double square = 0;
  pool_run(t->pool, square_part, t);
  for (int b = 0; b < BLOCKS; b++) square += t->part_square[b];
  @<Find the rate of this step@>@;
  now->power1 *= (double) 0.9f, now->power2 *= (double) 0.95f;
  @<Find the memory of the running mean@>@;
  t->move = (struct moments) { t->w, t->gradient, t->first, t->second,
    s->averaged ? t->mean : NULL, t->decays, rate,
    square > 1 ? (float) (1 / sqrt(square))
      : 1, (float) (1 / (1 - now->power1)),
    (float) (1 / (1 - now->power2)), keep < 0.99f ? keep : 0.99f };
  pool_run(t->pool, adam_part, t);
}

@ Over a phase the \emph{learning rate} falls in a straight line. At the beginning of the phase a second line, the \emph{warm-up}, raises it from nearly 0: the first updates of AdamW have full size however small the gradients
(\cref{sec:adam}), and a few of them in a direction set by one chance text would have to be undone later.
@^AdamW@>@^learning rate@>
@<Find the rate of this step@>=
float gone = (float) now->step_of_phase / (float) phase_steps(s);
float rise = (float) (now->step_of_phase + 1) / (float) s->warm_up;
float rate = fmaf(gone, s->to - s->from, s->from)
  * (rise < 1 ? rise : 1);

@ The running mean of the weights gradually forgets: at each step it keeps a share of itself and takes the rest from the weights. After $n$ steps the share is $(n-1)/(n+3)$. It is 0 at the first step, so that nothing of
the empty mean remains; later the mean reaches back over about a quarter of the steps. The share is never more than 99 per cent, so the mean never reaches back over more than about a \given{hundred} steps.
@<Find the memory of the running mean@>=
if (s->averaged) now->averaged++;
float keep = (float) (now->averaged - 1) / (float) (now->averaged + 3);

@ A step is the number of passes that the plan gives, and one update of the weights. When a phase is over, the
next begins with its own rate, but keeps the moments, which already record how large each weight's gradients are.
@<A step of training@>=
/* |at| is noted when the weights have moved, so a state never has rows that it has not learnt
   from. */
bool trainer_step(struct trainer *t, struct training_progress *done,
  struct error *why)
{
  const struct training_phase *s = &t->p->phase[t->now.phase];
  double sum = 0;
  for (uint32_t pass = 0; pass < s->passes; pass++)
    if (!learn_from_rows(t, s, &sum, why)) return false;
  struct float_modes modes;
  float_modes_begin(&modes);
  move_weights(t, s);
  float_modes_end(&modes);
  t->now.at = dataset_at(t->feed);
  t->now.step++, t->now.step_of_phase++;
  if (t->now.step_of_phase == phase_steps(s)
    && t->now.phase + 1 < TRAINING_PHASES)
    t->now.phase++, t->now.step_of_phase = 0;
  double rows = (double) s->sequences * s->length * s->passes;
  *done = (struct training_progress) { t->now.step, t->now.tokens,
    (float) (sum / rows),
    t->move.rate };
  return true;
}

@ The state is written to a second file, which then replaces the old one under its name (\cref{sec:newfile}). So there is a complete state under that name at any moment, even if the process is
killed. The file is a copy of this machine's memory, not a format for other programs; \cref{sec:publish} writes one.
@<Save and load a run@>=
/* to a new file that then takes the old one's place: an interrupted save loses nothing. Errors
   of |fwrite| are found by |new_file_end|. */
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why)
{
  struct new_file to;
  if (!new_file_open(&to, path, false, why)) return false;
  fwrite(&t->now, sizeof t->now, 1, to.f);
  const float *buffer[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; i < 4; i++) fwrite(buffer[i], sizeof(float), t->n, to.f);
  return new_file_end(&to, true, why);
}

@ Loading trusts nothing: the mark, the number of weights and the length of the file must be right before anything is taken from it. If the file is refused, the caller begins a new run with the
weights that were drawn; so a truncated file must not have replaced half of them.
@<Save and load a run@>=
/* without it a file with something after its numbers would pass */
static bool length_is(FILE *f, size_t n)
{
  long at = ftell(f);
  bool ok = fseek(f, 0, SEEK_END) == 0 && ftell(f) == (long) n;
  return fseek(f, at, SEEK_SET) == 0 && ok;
}

@ The struct is first read into a local variable, and becomes that of the run when everything else has been read. The data set returns to the text where it was.
@<Save and load a run@>=
/* After a failure the weights may be half read, and the trainer is of no use: only closing it
   makes sense. */
bool trainer_load(struct trainer *t, const char *path,
  struct training_progress *done,
  struct error *why)
{
  FILE *f = fopen(path, "rb");
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  struct state now;
  bool ok = fread(&now, sizeof now, 1, f) == 1
    && now.mark == STATE_MARK && now.n == t->n
    && length_is(f, sizeof now + 4 * t->n * sizeof(float));
  float *buffer[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; ok && i < 4; i++) ok =
    fread(buffer[i], sizeof(float), t->n, f) == t->n;
  fclose(f);
  if (!ok) return error_say(why, "%s: no state of this run;"@|
    " wanted: one of %zu weights", path, t->n);
  t->now = now;
  dataset_seek(t->feed, now.at);
  *done = (struct training_progress) @[{ .step = now.step, .tokens = now.tokens }@];
  return true;
}

@ The result of a run is the running mean, once there is one. In its first phases a run has only the weights of the last step, so a caller that asks
then gets those.
@<Save and load a run@>=
const float *trainer_weights(const struct trainer *t)
{
  return t->now.averaged > 0 ? t->mean : t->w;
}
@#
struct network *trainer_network(const struct trainer *t)
{
  return t->net;
}

@ Here is the module. A saved state begins with a mark, a number with which hardly any other file begins.
@(training.c@>=
/* A run carries out a plan, one step at a time, and nothing in it depends on a clock or on the
   number of workers. |now| has all that a run knows besides four lists of numbers, and is saved
   as it is in memory: a state is for the same machine and the same build. The gradient is zero
   between steps. What the plan says of step |n| is computed from |n|, so a run that was
   interrupted goes on bit for bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ground/new_file.h"
#include "training/training.h"
@;@#
#define STATE_MARK UINT64_C(0x31746970696e63)
@<Plans@>@;
@<What a run holds@>@;
@<Draw the first weights@>@;
@<Open and close a training run@>@;
@<A step of training@>@;
@<Save and load a run@>@;

@* Saving the checkpoint. \label{sec:publish}
At the end the weights are rounded once, to sixteen bits, and written with the settings and the
tokenizer in Hugging Face's layout, so that any program that knows it can read them. From
then on the rounded numbers \emph{are} the model. Widening them again changes nothing, so no
later chapter has to speak of two models that differ a little.
@^checkpoint@>

@(publish.h@>=
#ifndef INCIPIT_PUBLISH_H
#define INCIPIT_PUBLISH_H
#include "training/training.h"
void publish_round_weights(float *w, size_t n);
  /* each to the nearest number that sixteen bits can hold, IEEE binary16 */
bool publish_model(struct memory *m, const char *directory,
  const struct model_shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why);
  /* writes a directory that |model_open| and |tokenizer_open| read: weights in
     binary16, a tokenizer of |n| merges unless |merge| is null;
     the directory must
     exist */
#endif

@ Rounding is a function of its own, so that a test can give the trainer's network and the engine the same numbers and compare their logits with |==|. Sixteen bits keep eleven binary digits of a
weight, and halve the file.
@<Round to sixteen bits@>=
/* to what the file will have, so that the model is judged as it will be read */
void publish_round_weights(float *w, size_t n)
{
  for (size_t i = 0; i < n; i++) w[i] = num_from_f16(num_to_f16(w[i]));
}

@ A file is opened in a directory; if that fails, the error message names it.
@<Open a file of a directory@>=
static bool open_in(struct new_file *to, const char *directory, const char *name,
  char path[PATH_CAP], struct error *why)
{
  return path_join(path, directory, name, why)
    && new_file_open(to, path, false, why);
}

@ The header of a safetensors file is a line of JSON that gives for each tensor its type, its
shape and where its bytes begin and end. It is padded with blanks so that the numbers after
it begin at a multiple of eight. A gain has one dimension, as in all published files; one of shape $1\times d$ would be refused by most programs, ours among them.
@<Write the weights@>=
/* The header ends in blanks so that the numbers begin at a multiple of 8, as the format wants
   it. */
static size_t header_write(const struct network *net, char *to,
  size_t cap)
{
  const struct parameter *p;
  int n = snprintf(to, cap, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; (p = network_parameter(net, i)) != NULL; i++) {
    char dims[48];
    if (p->rows == 1) snprintf(dims, sizeof dims, "%zu", p->cols);
    else snprintf(dims, sizeof dims, "%zu,%zu", p->rows, p->cols);
    n += snprintf(to + n, cap - (size_t) n,
      ",\"%s\":{\"dtype\":\"F16\",\"shape\":"@|
      "[%s],\"data_offsets\":[%zu,%zu]}", p->name, dims, 2 * p->offset,
      2 * (p->offset + p->rows * p->cols));
  }
  n += snprintf(to + n, cap - (size_t) n, "}");
  while (n % 8 != 0) to[n++] = ' ';
  return (size_t) n;
}

@ The file begins with eight bytes for the length of the header; then come the header and the numbers in the order of the tensors. Bytes are written one by one, least significant first, which is the file's order whatever
the machine's may be.
@<Write the weights@>=
static bool weights_write(struct memory *m, const char *directory,
  const struct network *net, const float *w, struct error *why)
{
  char path[PATH_CAP];
  size_t cap = 65536, n = network_count(net);
  struct new_file to;
  char *header = memory_alloc(m, MEMORY_TRAINING, cap, 1, why);
  bool ok = header != NULL
    && open_in(&to, directory, "model.safetensors", path, why);
  if (ok) {
    FILE *f = to.f;
    size_t size = header_write(net, header, cap - 8);
    for (int i = 0; i < 8; i++) fputc((int) (size >> 8 * i & 0xff), f);
    fwrite(header, 1, size, f);
    for (size_t i = 0; i < n; i++) {
      uint16_t h = num_to_f16(w[i]);
      fputc(h & 0xff, f), fputc(h >> 8, f);
    }
    ok = new_file_end(&to, true, why);
  }
  memory_free(m, header);
  return ok;
}

@ The settings are those of versions 4 and 5 of the library transformers, and only the necessary ones. First comes the shape, which differs from model to model.
@<Write the settings@>=
static void shape_write(FILE *f, const struct model_shape *s)
{
  fprintf(f, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n"@|
    "  \"model_type\": \"llama\",\n  \"vocab_size\": %u,\n"@|
    "  \"hidden_size\": %u,\n  \"intermediate_size\": %u,\n"@|
    "  \"num_hidden_layers\": %u,\n  \"num_attention_heads\": %u,\n"@|
    "  \"num_key_value_heads\": %u,\n  \"head_dim\": %u,\n"@|
    "  \"max_position_embeddings\": %u,\n", s->vocab_size,
    s->d_model, s->d_inner, s->n_layers, s->n_heads, s->n_kv_heads,
    s->head_dim, s->n_positions);
}

@ Then come the settings that are fixed in this trainer. Most of them are defaults in some program, but a program that assumes another $\epsilon$ or another base of the rotations would silently compute
another model. The token that ends a text is given in two files, because some programs look for it in the one and some in the other.
@<Write the settings@>=
static bool settings_write(const char *directory, const struct model_shape *s,
  struct error *why)
{
  char path[PATH_CAP];
  struct new_file to;
  if (!open_in(&to, directory, "config.json", path, why)) return false;
  shape_write(to.f, s);
  fprintf(to.f, "  \"hidden_act\": \"silu\",\n  \"rms_norm_eps\": 1e-05,\n"@|
    "  \"rope_theta\": 10000.0,\n  \"rope_scaling\": null,\n"@|
    "  \"attention_bias\": false,\n  \"mlp_bias\": false,\n"@|
    "  \"tie_word_embeddings\": true,\n  \"bos_token_id\": 0,\n"@|
    "  \"eos_token_id\": 0,\n  \"torch_dtype\": \"float16\"\n}\n");
  if (!new_file_end(&to, true, why)
    || !open_in(&to, directory, "generation_config.json", path, why)) return false;
  fprintf(to.f, "{\n  \"bos_token_id\": 0,\n  \"eos_token_id\": 0\n}\n");
  return new_file_end(&to, true, why);
}

@ Three files and the tokenizer make a model. The test that compares the network with the engine writes a directory without a
tokenizer, since it works with ids; for this |merge| may be null.
@<Write a model's directory@>=
bool publish_model(struct memory *m, const char *directory,
  const struct model_shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why)
{
  char path[PATH_CAP];
  if (!weights_write(m, directory, net, w, why)
    || !settings_write(directory, s, why)) return false;
  return merge == NULL || (path_join(path, directory, "tokenizer.json", why)
    && tokenizer_write(m, path, merge, n, why));
}

@ Writing is a module of its own, because other programs write small models with it.
@(publish.c@>=
/* Weights, settings and tokenizer of a model, written in Hugging Face's layout. The same
   weights give the same bytes: the order is that of the tensors, numbers are little-endian
   whatever the machine, and there is no date. Each file is written beside its place and then
   takes it. */
#include <stdio.h>
#include "training/publish.h"
#include "functions/numbers.h"
#include "ground/new_file.h"
@;@#
@<Round to sixteen bits@>@;
@<Open a file of a directory@>@;
@<Write the weights@>@;
@<Write the settings@>@;
@<Write a model's directory@>@;

@* The run. \label{sec:run}
A run calls |trainer_step| until its plan is carried out. It writes a line to the log for each step, with nine digits of the loss, which are enough to
tell any two floats apart, and saves its state every two minutes. For the built-in model a run takes about an hour on two cores, nearly all of it in the products of
\cref{sec:slopematrix,sec:manyrows}. The program is in the laboratory;\lab{lab:runtrain} \texttt{make model} calls it twice, for the model and for its smaller sibling, and compares the files with their checksums. For a plan of your own, write a constant beside the two of \cref{sec:plan} and add a word to that program.

A run that was interrupted continues from its last saved state. The log may have lines for later steps; these are cut off, and the steps, when they are repeated, give the same lines. The
tokenizer is learnt again in every run, which takes a second. So a run needs nothing but its seeds.

At the end the weights are rounded and written (\cref{sec:publish}), and the log is copied beside them, so that you can look up how the model was trained. The tests repeat the first
\given{hundred} steps, and require the same lines to the last digit.

\Cref{fig:trainloss} is the log of the run that made the built-in model. It read
\val{train.tokens}~million tokens in \val{train.steps} steps. (The log is in nats, because its logarithms are natural; the figure divides by $\ln2$ and shows bits.) The curve has the shape familiar from all
training runs: first the model learns which tokens are frequent, within a few steps; then which token
follows which; then, for a long time, how a text depends on what was said earlier. Since every text is new, there is no difference
here between the loss in training and the loss on held-out texts, and the distance between the curve
and the dashed line is exactly what the model has not learnt.
@^loss@>

\fig{trainloss}{fig:trainloss}{The loss of the run, in means of fifty steps, and the entropy of the
source. The thin lines mark where the rows become longer and where the two calm phases begin; the peak at the first of them is
the cost of positions that were never trained.}{A curve
that falls from above four bits steeply to about one bit within the first fifth, then slowly
towards a dashed horizontal line at about six tenths of a bit, with one sharp peak half-way, and
lies close above the line at the end.}

@* The check. \label{sec:trainingcheck}
If the gradient of one tensor is wrong, the loss still falls, only more slowly, and the mistake is easily missed. \Cref{gradients} has checked each operation alone; but a correct operation can be given the wrong rows. So
we compare every tensor's gradient with what it claims to be: the change of the loss when the weights
of that tensor move a little in some direction, divided by the distance. \Cref{tab:gradients}
does this for a network of two layers with a random direction.

The network computes in floats, and \cref{fig:steps} has shown what that does to differences: we cannot expect more than three or four digits. That is enough to catch a wrong sign. The tests of this project are
sharper. They use a loss computed in double, check each tensor by name, and detect each of the mistakes that we planted in the backward pass.
@^gradient check@>

@<What the checkpoint shows@>=
static const struct model_shape tiny = @[{ 2, 32, 2, 1, 16, 48, 40, 64 }@];
enum { TINY_ROWS = 16 };
struct lab { struct memory m; struct error why; struct network *net;
  size_t n; float *w, *grad; double losses[TINY_ROWS];
  uint32_t inputs[TINY_ROWS], targets[TINY_ROWS]; };

@ The small network has the parts of the large one: more than one layer, and heads of queries that share one of keys. Its vocabulary is not a multiple of sixteen, so that this case is checked as well. A mistake that appears only in the
second layer would escape a check with one.
@<What the checkpoint shows@>=
static bool lab_open(struct lab *l)
{
  uint64_t dice = 5;
  l->net = network_open(&l->m, &tiny, TINY_ROWS,
    kernels_find(NULL, &l->why), NULL, &l->why);
  if (l->net == NULL) return false;
  l->n = network_count(l->net);
  l->w = memory_alloc(&l->m, MEMORY_TRAINING, l->n, sizeof(float), &l->why);
  l->grad = memory_alloc(&l->m, MEMORY_TRAINING, l->n, sizeof(float), &l->why);
  if (l->w == NULL || l->grad == NULL) return false;
  for (size_t i = 0; i < l->n; i++) l->w[i] = 0.5f * lot(&dice);
  for (size_t i = 0; i < TINY_ROWS; i++) {
    l->inputs[i] = (uint32_t) (7 * i % 40);
    l->targets[i] = (uint32_t) (11 * i % 40);
  }
  return true;
}

@ Directions and weights are drawn from sixteen numbers, none of them 0. We do not need a normal distribution to
catch a mistake, and these numbers are exact in a float.
@<Draw by lot@>=
static float lot(uint64_t *dice)
{
  *dice = *dice * UINT64_C(6364136223846793005)
    + UINT64_C(1442695040888963407);
  return (float) (int32_t) (*dice >> 60) / 8 - 0.9375f;
}

@ The loss of the small network is summed over its rows in double, as each row's loss is a double already. With a smaller number of |rows| we get the loss of the text's beginning.
@<What the checkpoint shows@>=
static double lab_loss(struct lab *l, size_t rows)
{
  struct batch b = @[{ l->inputs, l->targets, 1, rows, 1.0f }@];
  double sum = 0;
  if (!network_forward(l->net, l->w, &b, &l->why)) return 0;
  network_loss(l->net, &b, l->losses);
  for (size_t i = 0; i < rows; i++) sum += l->losses[i];
  return sum;
}
@#
static void lab_close(struct lab *l)
{
  memory_free(&l->m, l->w);
  memory_free(&l->m, l->grad);
  network_close(&l->m, l->net);
}

@ For one tensor we draw a direction, compute the loss a little before and a little after, and take the gradient along the
direction, which is their dot product. One direction tests all numbers of the tensor at once, at the price of two passes. It would be a strange coincidence if two mistakes cancelled
in a random direction.
@<What the checkpoint shows@>=
static void differ(struct lab *l, const struct parameter *p,
  double *far, double *back)
{
  uint64_t dice = 3 + p->offset;
  size_t n = p->rows * p->cols;
  float old[40 * 48], way[40 * 48], step = 0x1p-9f;
  double loss[2];
  memcpy(old, l->w + p->offset, n * sizeof *old);
  *back = 0;
  for (size_t i = 0; i < n; i++) {
    way[i] = lot(&dice);
    *back += (double) way[i] * (double) l->grad[p->offset + i];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++)
      l->w[p->offset + i] = old[i] + (side == 0 ? -step : step) * way[i];
    loss[side] = lab_loss(l, TINY_ROWS);
  }
  memcpy(l->w + p->offset, old, n * sizeof *old);
  *far = (loss[1] - loss[0]) / (2 * (double) step);
}

@ One backward pass computes the gradient of every tensor; then we move the tensors one after the other. The checkpoint shows the largest disagreement, as a share of the
gradient.

@<What the checkpoint shows@>=
static double gradients(struct lab *l, bool aloud)
{
  double worst = 0, far, back;
  struct batch b = @[{ l->inputs, l->targets, 1, TINY_ROWS, 1.0f }@];
  const struct parameter *p;
  memset(l->grad, 0, l->n * sizeof *l->grad);
  lab_loss(l, TINY_ROWS);
  network_backward(l->net, l->w, &b, l->grad);
  for (size_t i = 0; (p = network_parameter(l->net, i)) != NULL; i++) {
    differ(l, p, &far, &back);
    double off = (far - back) / (back == 0 ? 1 : back);
    if (off < 0) off = -off;
    worst = off > worst ? off : worst;
    if (!aloud || strstr(p->name, "layers.1") != NULL) continue;
    printf("grad.%zu.far %.4f\n", i < 10 ? i : (size_t) 10, far);
    printf("grad.%zu.back %.4f\n", i < 10 ? i : (size_t) 10, back);
  }
  return worst;
}

@ One pass gives the losses of all positions. Separate passes over
longer and longer beginnings give them one by one. From the second position on, we count the losses that are the same to the last
bit.
@<What the checkpoint shows@>=
static int forced(struct lab *l)
{
  double all[TINY_ROWS];
  int same = 0;
  lab_loss(l, TINY_ROWS);
  memcpy(all, l->losses, sizeof all);
  for (size_t n = 2; n <= TINY_ROWS; n++) {
    lab_loss(l, n);
    same += l->losses[n - 1] == all[n - 1];
  }
  return same;
}

@ One of the tutorials makes the same claim.

\begin{claimed}{S1-38, S1-51}
one pass gives the same \val{claim.S1-38} losses as \val{claim.S1-51} separate passes, to
the last bit. The mask makes it right; knowing the text makes it possible.
\end{claimed}

@ The hand calculation from the beginning of the chapter is repeated by the same function that computes the losses of the built-in model.
@<What the checkpoint shows@>=
static double by_hand(float z[3])
{
  z[0] = num_logf(3), z[1] = num_logf(2);
  z[2] = 0;
  return gradients_plain.cross_entropy(z, 3, 1, 1.0f);
}

@ The checkpoint shows all three: the hand calculation, the differences and the passes.

\checkpoint{build/out/training.txt}{one guess, every gradient, one pass for many}

@<What the checkpoint shows@>=
static int print_checkpoint(void)
{
  static struct lab l;
  float z[3];
  double loss = by_hand(z);
  printf("by hand: loss %.6f, gradient %.6f %.6f %.6f\n", loss, (double) z[0],
    (double) z[1], (double) z[2]);
  if (!lab_open(&l)) return 1;
  printf("gradients of 20 tensors, worst: %.4f of itself\n",
    gradients(&l, false));
  printf("one pass against 15: %d losses the same\n", forced(&l));
  lab_close(&l);
  return 0;
}

@ With |"values"| the same results are printed as keys and numbers.
@<What the checkpoint shows@>=
static int print_values(void)
{
  static struct lab l;
  if (!lab_open(&l)) return 1;
  double worst = gradients(&l, true);
  printf("grad.worst %.4f\n", worst);
  printf("claim.S1-38 %d\nclaim.S1-51 %d\n", forced(&l), forced(&l));
  lab_close(&l);
  return 0;
}

@* Exercises. \label{sec:trainingexercises}
The command beside an exercise checks your answer with the trainer's own code.

\begin{exercises}
\exercise{check}{ex:train.hand}{The logits are $(\ln2,\ln2,\ln4)$ and the third token comes. What is the loss, and
what is the gradient of each logit?}{\texttt{make exercise-W12-1}}{The probabilities are $\frac14,\frac14,\frac12$; the loss is
$\ln2$, the gradient $(\frac14,\frac14,-\frac12)$.}
\exercise{check}{ex:train.bits}{A table has alternatives of the weights 4, 2, 1 and 1. How many bits does its choice cost on
average?}{\texttt{make exercise-W12-2}}{$\frac12\cdot1+\frac14\cdot2+2\cdot\frac18\cdot3=\given{1.75}$.}
\exercise{think}{ex:train.order}{A worker may divide the rows of a product, but not its terms. Why does |gain_backward| divide the
columns and not the rows? Name the one place in a training step where a sum \emph{is} divided, and say why that does not
matter.}{\texttt{make exercise-W12-3}}{Its sum runs over the rows. The sum for the square of the gradient's length is divided into 64 blocks, the same for any number of
workers; their results are added in order.}
\exercise{think}{ex:train.tied}{The embedding is tied to the head. Is the gradient of a token's row 0 if the token occurs nowhere in the rows of
a step?}{\texttt{make exercise-W12-4}}{No. As an input it gets nothing, but as an output it was a candidate at every position, and it is
pushed down wherever it had some probability.}
\exercise{think}{ex:train.grammar}{Write a table, in the notation of \.{models/corpus.grammar}, that adds ``The cat sat on the mat.'' with any number of further cats in between: ``The
cat and the cat sat on the mat.'', where each further cat comes with a probability of one half. What is the entropy of the choice, in
bits?}{\texttt{make exercise-W12-5}}{A table that calls itself, with two alternatives of the same weight: one bit for each cat but the
first and one for stopping, $\sum_{k\ge1}k2^{-k}=2$ bits on average.}
\exercise{check}{ex:train.gelu}{Replace the gated unit by one without a gate, $a=u\,\sigma(u)$. Write its backward
pass, $du$ from $da$.}{\texttt{make exercise-W12-6}}{$du=da\,\sigma(u)\bigl(1+u(1-\sigma(u))\bigr)$: |swiglu_backward| with a gate that is its own
partner, without the other half.}
\exercise{check}{ex:rows.pack}{Texts 4, 5 and 6 have 2, 6 and 3 tokens, and a row has ten. How many tokens of text 5 are dropped, with which text does the next row begin, and does an
end-of-text precede it?}{\texttt{make exercise-W12-7}}{The number 4 is even, so no end-of-text comes first: $2+1+6=9$; another end-of-text makes ten. So nothing of text 5 is dropped, and
nothing of text 6 is seen. But text 6 was written and counts as used, so the next row begins with text 7, whose number is odd.}
\exercise{think}{ex:rows.share}{Texts of a fixed length $t$ are packed into much longer rows of $n$ tokens. The place in the last text where a row ends is practically random. Roughly which share of the written
tokens is dropped, for $t=\given{100}$ and $n=\given{500}$? (Ignore the end-of-texts.)}{\texttt{make exercise-W12-8}}{Half a text a row on average: $\frac t2$ of $n+\frac t2$, which is $\frac{50}{\given{550}}$, one part in eleven.}
\end{exercises}
