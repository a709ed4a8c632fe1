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
but our own. You can repeat the whole run, and it ends in the same bytes.

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
#include "training/tiny.inc"
@;@#
@<Compare the gradients with differences@>@;
@<Compare one pass with many@>@;
@;@#
#include "training/shown.inc"

@* Stored activations. \label{sec:network}
In the box we needed $h$ twice: once to compute the logits, and then again, when the gradient of the head was $dz_i\,h$. The pass of chapter~2 could not have done that. It overwrites its rows as soon as the next
operation has read them, because nothing needs them again. A training pass must keep these \emph{activations}: the gradient of a weight is a product of the gradient that comes back
from the layer above and the number that went into the operation from below.
@^activations@>

@(network.h@>=
#ifndef INCIPIT_NETWORK_H
#define INCIPIT_NETWORK_H
#include "model/counters.h"
#include "kernels/kernels.h"
#include "gradients/gradients.h"
@<The network from outside@>@;
#endif

@ For the trainer a model is a shape and one array of numbers. A |struct model_shape| has the widths of a model; each |struct parameter| says where
in the array of all weights one tensor is. A |struct batch| is what a pass reads: rows of tokens, and beside each token the
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

@ Opening takes all the memory that passes will need. The weights are \emph{not} in it: they belong to the caller, who may have several sets
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

@ Why one array? Gradients, moments and averages are arrays of the same length, so an operation on all weights is one loop that knows nothing of tensors, and four calls of
|fwrite| save the state of a run. A tensor is no more than a name and a place in the array. The names are those of the file, so that other programs find them: the embedding, nine tensors for each layer, and a last gain.

Which rows must a layer keep? Go through it and ask each operation what its gradient needs (\cref{fig:wayback}). The norms need the residual stream before the layer and in its middle. The matrices need their inputs: the two normed streams,
the output of attention, and the product of the gate and its partner. Attention needs queries, keys and values after the rotation, and the gated unit needs gate and
partner themselves. For our model that is \val{train.kept.rows} floats for each token and layer. It is by far the largest part of a trainer's memory.

One thing we do not keep. In a row of \val{train.length} tokens there are on average \val{train.kept.weights} attention weights for
each token and layer, and twice as many in a row of twice the length. We keep only a maximum and a sum for each head, \val{train.kept.known} floats, and recompute a weight from them when it
is needed. This costs a second product of queries and keys; FlashAttention makes the same trade \cited{Dao 2022}.
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
logits, the gradients that travel back, and scratch for each worker. A name that begins with |d| is a gradient: |dq| is that of |q|. How the buffers are measured and cut from one block, and how a network is opened and closed, is in
\.{unwoven/training/buffers.inc}. It refuses widths that are not multiples of sixteen, so no loop of this chapter has to handle a remainder.
@<Buffers of a network@>=
uint32_t *positions;
float *frequency, *cosine, *sine, *minus;
float *last, *h, *logits;
float *dx, *dy, *dmixed, *dq, *dk, *dv, *dgate, *dup, *dinner, *scales;
float *scratch; size_t scratch_size;

@* Forward, with the engine's own kernels. \label{sec:keeping}
Could we train with one set of functions and run with another? They would differ in the last bits, and weights that were fitted to one
function are not quite right for another. The engine's losses would be a little higher than the trainer's, for no visible reason, and we would never know whether the reason is a mistake. So the forward pass of training is the pass of chapter 2, bit for bit, and only stores its results in other places. It calls the engine's kernels where
they are fast enough for hundreds of rows; elsewhere we compute the same sums, only in another order of work.

A job of the pool is a function and one pointer. We put everything that belongs to one call of the network into a small struct and hand its address to each job. The gradients have the layout of the weights: where we find a tensor in one array, we find its gradient in the other.

@<One pass of a network@>=
struct network_run {
  struct network *net; const float *w; float *gradient;
  const struct batch *b; size_t rows;
};
@#
struct attention { const struct network_run *r; struct trace *t; };
  /* a job for a whole layer, forward and backward */
@#
static const float *weight(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->w + r->net->tensors[1 + layer * N_PARTS + p].offset;
}
@#
static float *gradient_of(const struct network_run *r, uint32_t layer,
  enum network_part p)
{
  return r->gradient + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

@ Dividing the work needs one rule, and it is the rule of the whole chapter: \emph{workers divide rows, columns or heads, and never the terms of a sum}. Each number is added up by one worker from beginning to end. The result of a training run then does not depend on the number of workers, and a laptop and a server end in the same bytes. |apply|, which multiplies all rows with a matrix, gives each worker a multiple of six rows, because six rows are a tile (\cref{sec:manyrows}); |norm_rows| is the engine's norm. These and other short functions that hand out work are in \.{unwoven/training/shares.inc}.

The first half of a layer is, line by line, that of chapter 2: norm, three projections, rotation,
attention, projection, addition. The engine overwrites its rows; here each row gets a place of its own, where it
stays until the backward pass has used it.
@<Through attention, keeping the rows@>=
/*- as chapter 2's, but each step writes to a buffer of its own, since the way back reads them
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
/*- y is the input of the next layer, or last: so no row is copied between layers */
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

@ A layer writes its output straight to where the next layer keeps its input; the last layer writes to a buffer of its own. No row is copied between layers.
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

@ A pass reads several sequences one after the other, and each begins again at position 0. Their rows have no influence on each other, except in the sums of the gradients.
@<Give the rows their positions and their embeddings@>=
for (size_t i = 0; i < r.rows; i++)
  net->positions[i] = (uint32_t) (i % b->length);
k->angles(&net->team, net->positions, r.rows, net->frequency, half,
  1, net->cosine, net->sine);
k->embed(&net->team, (struct tensor) @[{ w, WEIGHT_F32 }@],
  s->d_model, b->inputs, r.rows, net->traces[0].x);

@ Attention is the one place where the kernel of chapter 2 is too slow for us. It takes its
rows one at a time, because the engine mostly has only one. Here there are many
rows, which all use the same keys. We give a worker a \emph{strip} of 48 queries of one head, and it computes attention over all keys that they see
in two matrix products: queries with keys give scores, weights with values give the mixture. We compute the scores above the diagonal as well and throw them away, fewer than 64 for each query; that
is cheaper than a product with a ragged edge.

Are these still the bits of the kernel? A score is the engine's dot product, with the same lanes, since one call of the kernel |linear| computes the scores with the keys as its weights. Softmax takes the keys in the kernel's blocks of \given{256}. A query that sees no key of a block has zeros
for its weights there, and zeros do not change a sum. And each sum adds its terms in the order of the keys, as in the kernel.
@<Attention, a strip of queries at a time@>=
/*- A strip of queries against all keys up to its last row, in blocks of 256 as the kernels have
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

@ This is what happens to a block: softmax row by row, then one product that mixes the values for the whole strip.
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

@ The unit of work is a \emph{group}: one sequence, one head of keys and values, and the heads of queries that share it. It goes to one worker as a whole. So keys
are copied and transposed once for all of its queries, and in the backward pass no other worker adds to their gradients. Groups are dealt out in turn, like cards (\.{unwoven/training/groups.inc}). Two sequences with two heads of keys make four groups, one long sequence makes two; if there are more workers than groups, some workers wait.

@* Backward, by hand. \label{sec:backward}
A row of \given{512} tokens asks as many questions: what comes after the first token, what after the first two, and so on. Do we need a pass for each? We do not, and that makes training affordable. All tokens of the row are known, so one
pass gives the model's guess at every position at once, and we compare each guess with the token that
really came. This is called \emph{teacher forcing}. Causal attention makes sure that no position sees its answer: the losses of one pass
are exactly those of a separate pass over each beginning of the row. The tests compare them with
|==|.
@^teacher forcing@>

The loss of a guess is the \emph{cross-entropy} that the box has computed: minus the logarithm of the probability of the token that came. |network_loss| finds it for every row and overwrites each row of logits with its gradients in the same step.
@^cross-entropy@>

Everything else is the chain rule, applied from the last line of the pass to the first. \Cref{gradients} has derived the gradients for each operation. What is left
is to go through a layer from its last line to its first, and to give each operation the gradient of its output (\cref{fig:wayback}). The residual stream makes that simple: $y=x+f(x)$
passes $dy$ on unchanged and adds what comes back through $f$. So one array, |dx|, travels through the whole model, and each branch adds to it.
@^residual stream@>

\fig{wayback}{fig:wayback}{A layer, forward and backward. The black arrow is the forward pass; beside each operation are the rows that it keeps. The red arrow is the backward pass: each operation reads
rows that were kept, and returns the gradients of its inputs. The gradients after a semicolon are those of weights.}{Four columns, with an arrow down beside the first and an arrow up beside the last. The
second names the eleven operations of a layer from the norm at the top to the second addition at the bottom; the first, the rows that each keeps; the third, the rows that each reads in the backward pass; the
fourth, the gradients that it returns.}

A matrix takes two products in the backward pass, those of \eqref{eq:matrixback}. The gradient of its input is $dX=dY\,W$: the rows are tokens and the terms are outputs. If several matrices
read the same rows, as those for queries, keys and values do, |add| sums their gradients.
@<Products on all workers@>=
/*- dX = dY W: a sum over the outputs */
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
/*- dW is dY transposed times X, and always added: a sum over all rows of the pass */
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

@ Here is the second half of a layer, backwards. Read it beside |forward_mlp|: the last line there is the first one here,
and each matrix appears twice, once for its own gradient and once for that of its input. |dx| is at first the gradient of the layer's output and, after the last line, that of the stream in the middle of the layer.
@<Back through the gated unit@>=
/*- each step of forward_mlp from the last to the first; dx passes around as the residual
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
/*- a rotation is undone by the opposite angle, whose sine is minus */
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

@ If you forget one of the three sums, the model still learns. We plant that fault, for the keys, to see whether the tests find it.
@<Back through queries, keys and values@>=
matrix_gradient(r, t->normed, d, net->dq, q, gradient_of(r, l, PART_Q));
matrix_gradient(r, t->normed, d, net->dk, kv, gradient_of(r, l, PART_K));
matrix_gradient(r, t->normed, d, net->dv, kv, gradient_of(r, l, PART_V));
hand_down(r, weight(r, l, PART_Q), d, q, net->dq, net->dy, false);
hand_down(r, weight(r, l, PART_K), d, kv, net->dk, net->dy, true);
hand_down(r, weight(r, l, PART_V), d, kv, net->dv, net->dy, true);

@ Attention goes back strip by strip as well. We recompute the scores of a strip of queries, and beside them the gradients of the weights, $g_t=dy\cdot v_t$: two products of the same form, one with the keys and one with the
values. Then |softmax_backward| turns each row of the two into weights and gradients of scores. The scores need not have the bits of the forward pass: nothing is
compared with them, and the different rounding moves a gradient by less than its own error.
@<Attention on the way back@>=
/*- computes the scores again and, beside them, the gradients of the weights; both are then turned in place, into
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
/*- dq belongs to the strip alone; dK and dV are added strip by strip, head by head, always in
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

@ At the bottom each token's row of the embedding gets the gradient of its position, and a token that
occurs twice gets both. Two workers must never add to the same number, and tokens may repeat anywhere in the rows; so the workers divide the columns, and each goes
through all rows.
@<The whole way back@>=
/*- Workers divide columns: a token may come in many rows, and its gradient is added in their
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
/*- The tied matrix gets its gradient twice, here as the output's and at the end as the
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
/** A Llama as a network that can be trained: forward with everything kept, loss, backward. All
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
@#
#include "training/buffers.inc"
@#
@<One pass of a network@>@;
@#
#include "training/shares.inc"
@#
@<Attention, a strip of queries at a time@>@;
@<Attention on the way back@>@;
@#
#include "training/groups.inc"
@#
@<Through attention, keeping the rows@>@;
@<Through the gated unit, keeping the rows@>@;
@<A whole pass, kept@>@;
@<Products on all workers@>@;
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

@ A row begins where a text begins, and continues with the next texts, separated by end-of-text tokens,
until it is full. If the number of its first text is odd, an end-of-text precedes it. The model learns to begin both with an end-of-text and
without one, and you may give it a prompt either way. The rest of the last text is dropped. If the next row continued it, we would waste nothing, but the model would learn to mention names
that it was never given. As it is, no text refers to anything that is missing from its row.
@^end token@>

\printedfunction{training/rows.c}{dataset_row}

Each text is written when it is needed, and no text is used twice. Every training loss
is the loss on a new text, and a model would gain nothing by memorizing the old ones.

The tokenizer is made before the model. Chapter 1's trainer learns it from texts of the same grammar; \val{rows.merges} merges, the \given{256} bytes and
end-of-text make the vocabulary of the plan. These texts have a seed of their own: a tokenizer that had seen the texts of the evaluation would cut them into unfairly few tokens.

\Cref{fig:pack} shows eight rows of a run.\lab{lab:runrows} Each has a few whole texts and the beginning of one more, whose rest is dropped. In
\val{rows.counted} rows of \val{rows.length} tokens, with \val[1]{rows.texts} texts each, \val[1]{rows.dropped} per cent of the written tokens are dropped; in the
longer rows of the second phase it is about a quarter of that. The price is acceptable, since the grammar never runs out of texts.

\fig{pack}{fig:pack}{Eight rows as the trainer gets them. A line is a text, a gap is an end-of-text. The part of a text beyond the end of the row is
written but never read.}{Eight lines one above the other, each cut into a few pieces of different length. At a vertical line near the right all rows end; after it
each continues for a little in another colour.}

\checkpoint{build/out/laboratory/run.txt}{what the rows of the training are made of}

@* Plan and steps. \label{sec:plan}
We have a network and rows of tokens. What is missing is the decision how many rows to read, how long they are, and how fast the weights move. That is a \emph{plan}, and a run carries it out step by step.

@(training.h@>=
#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "training/rows.h"
#include "training/network.h"
@<A plan for a training run@>@;
@<A training run from outside@>@;
#endif

@ A plan is data, not code. To train another model, you write another plan. Our two are constants, because their runs must be repeatable: a learning rate that you could set on the command line would one day be set differently.
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
never trained fail badly. Then come two phases that we call \emph{calm}: their steps are large, their rate is low, and they end in an average of
the weights. They hardly lower the loss. We added them
because a model can be
excellent on average and still prefer one of two equally likely continuations, only because of the texts in its last few
steps. A larger step is a mean over more texts, so it has less noise; at a lower rate the weights follow that noise less far; and the average of the last weights \cited{Polyak 1992}
cancels most of the rest. The last phase has short rows, because a user's prompt is
at the beginning of a row, and a long row has only one beginning.
@^averaged weights@>

The numbers themselves, rates, lengths and shares, were found by trying small runs before the large one. We know of no way to derive them.
The second plan is that of the \emph{sibling}, a smaller model with the same vocabulary: it has two layers instead of six, of half the width, and is trained on two fifths of the tokens. It can propose tokens for the
large one to check, and \cref{sec:trainanswers} asks how often the two agree.
@<Plans@>=
const struct training_plan training_plan_model = { "pocket", "models/pocket",
  @[{ 6, 128, 4, 2, 32, 384, 2048, 2048 }@],
  @[{ { 7000000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 2000000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 2000000, 1, 2048, 6, 1e-3f, 0, 20, true },@|
    { 3000000, 16, 256, 3, 3e-4f, 0, 10, true } }@], 1 };
const struct training_plan training_plan_draft = { "draft", "models/draft",
  @[{ 2, 64, 2, 1, 32, 192, 2048, 2048 }@],
  @[{ { 3200000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 800000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 600000, 1, 2048, 4, 1e-3f, 0, 10, true },@|
    { 800000, 8, 256, 3, 3e-4f, 0, 10, true } }@], 2 };

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

@ How large should the first weights be? Try it with one matrix. If $n$ inputs have variance 1 and the weights variance $\sigma^2$, an output has variance $n\sigma^2$. With $\sigma=1$ and \given{100} inputs the output is ten times as large as the input, and after six such layers the numbers are $10^6$ times too large; with a $\sigma$ that is too small they vanish. We therefore give the weights of a matrix
a size in proportion to $1/\sqrt n$, here $\given{0.5}/\sqrt n$. The matrices that add to the residual stream begin smaller still. There are two of them in each of the $L$ layers, and
with a factor of $1/\sqrt{2L}$ the stream does not grow with the number of layers. Gains begin at 1 and do not decay; the embedding begins small, so that the first guesses are nearly uniform.
@^first weights@>
@<Draw the first weights@>=
/*- The matrices that write into the residual stream begin smaller, by the root of their number,
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

@ Now a step. A pass takes rows from the data set, sets each token's target to the token after it, and goes forward, computes the loss, and goes
backward. Each row is fetched with one token more than the pass reads, since the last position needs a target as well. Every loss has the same share in the gradient, so a step of four passes is the same as a single pass over four times the
rows, in a quarter of the memory.
@<A step of training@>=
/*- one pass; share divides by the rows of all passes of the step, so that gradients only have
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

@ Then the weights are updated. If the norm of the gradient is above 1, all of it is scaled down to norm 1 \cited{Pascanu 2013}. This \emph{gradient clipping} keeps one unusual text from undoing what many
others have taught. The norm of the gradient is a sum over all weights, and the only sum of a step that several workers share. It is cut into the same 64 blocks for any number of workers, and one worker
adds the results of the blocks in order. The update of the weights has no sums at all.
@^gradient clipping@>
@<A step of training@>=
/*- a fixed number of blocks, whatever the workers: their sums are then added in order */
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

@ The norm, the rate and the share of the mean are the same for all weights. We find them first; then every worker moves its weights.
@<A step of training@>=
/*- The gradient is scaled down to norm 1 if its norm is larger. power1 and power2 correct the
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

@ Here is the module. A saved state begins with a mark, a number with which hardly any other file begins. Opening a run, saving its state to a new file that replaces the old one (\cref{sec:newfile}), and loading it, with the mark, the number of weights and the length of the file checked before anything is taken, are in \.{unwoven/training/run.inc}.
@(training.c@>=
/** A run carries out a plan, one step at a time, and nothing in it depends on a clock or on the
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
@#
#include "training/run.inc"
@#
@<A step of training@>@;

@* Saving the checkpoint. \label{sec:publish}
At the end the weights are rounded once, to sixteen bits, and written with the settings and the
tokenizer in Hugging Face's layout, so that any program that knows it can read them. From
then on the rounded numbers \emph{are} the model. Widening them again changes nothing, so no
later chapter has to speak of two models that differ a little.
@^checkpoint@>

Writing such a directory is a matter of care, not of ideas, and is done in \.{unwoven/training/publish.c}. Three details are easy to get wrong. A gain has one dimension in the file; a gain of the shape $1\times d$ is the same numbers, and most programs would refuse it, ours among them. The $\epsilon$ of the norms and the base of the rotations are written although many programs have them as defaults: a program with other defaults would silently compute another model. And the token that ends a text is given in two files, because some programs look for it in the one and some in the other.

@* The run. \label{sec:run}
A run calls |trainer_step| until its plan is carried out. It writes a line to the log for each step, with nine digits of the loss, which are enough to
tell any two floats apart, and saves its state every two minutes. For the built-in model a run takes about an hour on two cores, nearly all of it in the products of
\cref{sec:slopematrix,sec:manyrows}. The program is in the laboratory;\lab{lab:runtrain} \texttt{make model} calls it twice, for the model and for its smaller sibling, and compares the files with their checksums. For a plan of your own, write a constant beside the two of \cref{sec:plan} and add a word to that program.

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

A run that was interrupted continues from its last saved state. The log may have lines for later steps; these are cut off, and the steps, when they are repeated, give the same lines. The
tokenizer is learnt again in every run, which takes a second. So a run needs nothing but its seeds.

At the end the weights are rounded and written (\cref{sec:publish}), and the log is copied beside them, so that you can look up how the model was trained. The tests repeat the first
\given{hundred} steps, and require the same lines to the last digit.

@* The check. \label{sec:trainingcheck}
If the gradient of one tensor is wrong, the loss still falls, only more slowly, and the mistake is easily missed. \Cref{gradients} has checked each operation alone; but a correct operation can be given the wrong rows. So
we compare every tensor's gradient with what it claims to be: the change of the loss when the weights
of that tensor move a little in some direction, divided by the distance. \Cref{tab:gradients}
does this for a network of two layers with a random direction.

The network computes in floats, and \cref{fig:steps} has shown what that does to differences: we cannot expect more than three or four digits. That is enough to catch a wrong sign. The tests of this project are
sharper. They use a loss computed in double, check each tensor by name, and detect each of the mistakes that we planted in the backward pass.
@^gradient check@>

The small network is plain C, in \.{unwoven/training/tiny.inc}. It has the parts of the large one: more than one layer, because a mistake may appear only in the second, and heads of queries that share one of keys. A |struct lab| holds the network, its weights |w| and their gradients |grad|; |lab_loss| adds its losses in double, and |lot| draws one of sixteen numbers that are exact in a float.

@ For one tensor we draw a direction, compute the loss a little before and a little after, and take the gradient along the
direction, which is their dot product. One direction tests all numbers of the tensor at once, at the price of two passes. It would be a strange coincidence if two mistakes cancelled
in a random direction.

@<Compare the gradients with differences@>=
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

@<Compare the gradients with differences@>=
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

@<Compare one pass with many@>=
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

@ The checkpoint shows the hand calculation, repeated by the function that computes the losses of the built-in model, then the differences and the passes (\.{unwoven/training/shown.inc}).

\checkpoint{build/out/training.txt}{one guess, every gradient, one pass for many}

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
