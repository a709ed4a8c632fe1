@i types.w
@s tap_fn int

\chapterquestion{What does a model compute, and why should it come out the same twice?}
@** The transformer: one forward pass.
\incipit{A}{ model is a} function. Three tokens go in, and a list of numbers comes out, one for
each token of the vocabulary: how likely it is to be the fourth. Nothing else ever
comes out of a language model. Whatever it seems to know or to want has to be said in
that list, one token at a time.
@^language model@>@^next token@>

@ The unit of work is a \emph{row}: one token at one position, on its way through
the layers (\cref{fig:rows}). A row begins as a list of numbers that stands
for its token. Each layer adds something to the list, in two steps. In the first, \emph{attention},
the row looks at the rows to its left and takes over some of what they carry; this is the only
place where rows meet. In the second, the \emph{MLP} (for multi-layer perceptron), it is alone. After the last layer
the row is compared with every token of the vocabulary, and the comparisons are called
\emph{logits}. Rows never look to the right. So a row means the same whatever comes
after it, and all rows of a text can go through the layers side by side.
@^row@>@^residual stream@>@^logit@>

To meet, each row makes three short lists of itself, by three matrices. Its \emph{query} is what it looks for, its
\emph{key} is what it can be found by, and its \emph{value} is what it has to give. The product of a query
and a key tells how much of that key's value is taken over. A layer has several such searches side by side, each with its own
matrices; they are called \emph{heads}. The numbers in the matrices are the model's \emph{weights}, found by training
(\cref{training}); in this chapter they are given.
@^query@>@^key@>@^value@>@^head@>@^weights@>

\fig{rows}{fig:rows}{The transformer as rows. Each rises through all layers, and in each layer it reads
the keys and values of the rows to its left and its own. Only the last row's logits are needed to go on.}{Six columns, one
for each token of The cat sat on the mat. Arrows rise from the tokens through three layers to the logits. In each
layer arcs lead from every column to the columns on its right, never back. The sixth column is red: its arcs
are those of the new row, and above it stands the next token, a full stop. Above the others it says: not needed.}

@ A whole model fits on a page, if its rows have four numbers, its vocabulary four tokens and its
attention two heads of two numbers each. The first two numbers of a row are the token, the
last two the position. We follow the last row, and begin with its attention. Two steps have their reasons later. A \emph{norm} divides a row by the root of the mean of its squares (\cref{sec:layer}). Scores become shares: $e$ is raised
to each of them, less the largest, and the results are divided by their sum (\cref{sec:weights}).

\begin{byhand}{four tokens, two heads, one layer}
\tok{the} is $(1,1)$, \tok{\ cat} $(1,-1)$, \tok{\ sat} $(-1,1)$, \tok{.} $(-1,-1)$; positions
0, 1 and 2 are $(1,1)$, $(1,-1)$ and $(-1,-1)$. After \tok{the}\tok{\ cat}\tok{\ sat}
the last row is $x=(-1,1,-1,-1)$. Its mean square is 1, so its norm changes nothing.
Keys are the rows themselves, head A taking the first half and head B the second; the values
are the first half, for both. The query is $x$ times $-0.8$, $0.4$, $-0.4$ and $0.8$, that is $(0.8,0.4)$ for A and
$(0.4,-0.8)$ for B. The products $q\cdot k$ are multiplied by $1/\sqrt2=0.71$.

\medskip
\begin{tabular}{@@{}llrrrrr@@{}}
\tabhead{head} & \tabhead{key of} & \tabhead{$q\cdot k$} & \tabhead{score} & \tabhead{less max} & \tabhead{exp} & \tabhead{weight}\\
A & \tok{the} & 1.20 & 0.85 & 0.00 & 1.00 & 0.53\\
A & \tok{\ cat} & 0.40 & 0.28 & $-0.57$ & 0.57 & 0.30\\
A & \tok{\ sat} & $-0.40$ & $-0.28$ & $-1.13$ & 0.32 & 0.17\\
B & \tok{the} & $-0.40$ & $-0.28$ & $-1.13$ & 0.32 & 0.17\\
B & \tok{\ cat} & 1.20 & 0.85 & 0.00 & 1.00 & 0.53\\
B & \tok{\ sat} & 0.40 & 0.28 & $-0.57$ & 0.57 & 0.30
\end{tabular}
\medskip

Each head's exponentials sum to 1.89. A looks most at \tok{the}, B at the position before its own.
\end{byhand}

@ So each head has decided where to look, and the row takes over what stands there. What remains is done by the row alone. The mixed
values go through one more matrix; ours is a diagonal of four factors. The MLP here has a single number in
its middle, made by two lists of factors, and a \emph{gate} says how much of it goes through. At the end stands the matrix that
makes logits. It is called the model's \emph{head}, by an old custom, and has nothing to do with the heads of attention.

\begin{byhand}{from the last row to the next token}
The values are mixed with the weights, multiplied by $1$, $0.5$, $-1$ and $0.5$, and added to $x$. Then come a norm, the MLP, and another norm.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
\tabhead{values, mixed} & 0.66 & 0.40 & 0.40 & $-0.06$\\
\tabhead{multiplied} & 0.66 & 0.20 & $-0.40$ & $-0.03$\\
\tabhead{$h$, with $x$ added} & $-0.34$ & 1.20 & $-1.40$ & $-1.03$\\
\tabhead{$n$, normed} & $-0.32$ & 1.12 & $-1.31$ & $-0.96$\\
\tabhead{$h$, after the MLP} & $-1.48$ & 1.20 & $-0.26$ & $-1.03$\\
\tabhead{$n$, normed} & $-1.36$ & 1.10 & $-0.24$ & $-0.94$
\end{tabular}
\medskip

The first norm: mean square 1.14, root 1.07. The MLP's gate is $0.5n_1-n_3=1.15$, its other number is $n_3=-1.31$. With
$e^{-1.15}=0.32$ the gate lets $1.15/1.32=0.87$ through; times $-1.31$ is $-1.14$. It is added to $h_1$ and taken
from $h_3$. The second norm: mean square 1.19, root 1.09. The rows of the model's head ask for $-n_3$, $-n_2-n_4$, $n_4$ and $n_3-n_1$.

\medskip
\begin{tabular}{@@{}lrrrr@@{}}
& \tok{the} & \tok{\ cat} & \tok{\ sat} & \tok{.}\\
\tabhead{logit} & 0.24 & $-0.16$ & $-0.94$ & 1.12\\
\tabhead{less max} & $-0.88$ & $-1.28$ & $-2.06$ & 0.00\\
\tabhead{exp} & 0.41 & 0.28 & 0.13 & 1.00\\
\tabhead{probability} & 0.23 & 0.15 & 0.07 & 0.55
\end{tabular}
\medskip

The sum of the exponentials is 1.82. The likeliest next token is the full stop.
\end{byhand}

@ After so many numbers, a picture. A storyteller has been given the beginning of a tale and must say the next
word, and only that. Before the word comes, the whole tale goes through the teller's head
again; then it is said, it belongs to the tale, and the same begins anew. This
is a good picture of the loop of chapter 3. It breaks in three places, and each of them is a
subject of this book. The unit is not a word but a token, and most tokens are parts
of words. Nobody need go through the tale again: what was worked out for its beginning
cannot change, and may be kept. And the teller does not choose a word but gives
odds on all of them; who rolls the dice is another question, and stands outside of the model.
@^storyteller@>@^self-feeding@>

@ The program of this chapter builds the model of the two boxes, runs it, and finds the same numbers. A longer one, \cref{lab:model}, uses it and a few
others as small to test what the chapter says. It prints the numbers that these pages quote and the points of the figures, and a note in the margin says where.

@c
#include <math.h>
#include <stdio.h>
#include "functions/numbers.h"
#include "model/toy.h"
@;@#
@<Print the attention of one head@>@;
@<Print the way of the last row@>@;
@<Do what the hand did, and print it@>@;
int main(void)
{
  static struct toy toy;
  struct memory m = @[{ .fail_at = 0 }@];
  struct counters c = @[{ .passes = 0 }@];
  struct error why;
  struct engine e = @[{ .k = &kernels_plain, .c = &c }@];
  toy_make(&toy);
  struct store *s = e.k == NULL ? NULL : array_store_open(&m, &toy.lm.config, &why);
  bool ok = s != NULL && print_hand(&e, &toy, s, &why);
  store_close(s);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* The order of summation. \label{sec:order}
A model is mostly sums: of products, thousands of terms each. On paper the order of
the terms does not matter. In a computer it does, because every addition rounds, and
what is lost depends on what has been added before. Programs add in one order with AVX2, whose instructions take eight floats at once, and in
another with AVX-512, which takes sixteen; in one for a single row and another for a batch, because the fast way differs. The logits then differ in
their last bits, now and then two logits change places, and the model writes another sentence. The
user sees a text that depends on who else was using the machine.
@^order of summation@>

\begin{byhand}{three digits, four terms}
A machine keeps three decimal digits. It adds $1.00+0.004+0.004+0.004$ from the left:
$1.00+0.004=1.004$, rounded $1.00$; and so again; the sum is $1.00$. Then it adds the
same four in two pairs, which two adders could do at once: $1.00+0.004$ gives $1.00$, and
$0.004+0.004=0.008$; together $1.008$, rounded $1.01$.

Neither is wrong: each addition was rounded correctly, and the true sum is $1.012$. But they are
two answers, and a program that takes the one way today and the other tomorrow has no answer.
\end{byhand}

@ The cure is to make the order \emph{part of the definition}. When the dot product is not ``the
sum of the products'' but this sum, in this order, rounded at these places, then there is
one right answer, and any faster program can be checked against it with |==|. All that is left to
choose is an order that no machine minds.

We choose sixteen lanes. Term $k$ goes to lane $k\bmod16$; a lane adds its terms from left to right;
at the end the sixteen are folded in half four times, 8 to 8, 4 to 4, 2 to 2, 1 to
1 (\cref{fig:fold}). A machine with registers of sixteen floats has a lane in each place; with
eight it uses two registers, with four it uses four; with one it does one lane
after the other. None has to do more work than it would have done anyhow, and all do the same
additions. Four registers or more also keep the adders busy: one chain of additions would leave
them waiting for each other most of the time.
@^lanes@>@^fold@>

\fig{fold}{fig:fold}{The sum of a row of terms. Each lane adds every sixteenth term, and four folds
bring the sixteen lanes together. The shape is the definition; who computes which part of it, and
when, is free.}{A tree of additions drawn from the top down. A row of sixteen lanes stands at the top, each
with its first three terms. Four rows of arcs lead down: eight lanes are added to the
eight on their left, then four to four, two to two, one to one, and one number is left.}

\begin{aside}{How good is the sum}
Splitting a sum into sixteen also makes it better. Each rounding error is about the size of the partial sum
it happens in, and a term now passes through a sixteenth of the additions. For \val{sum.terms} random terms between 0 and 1, the
chain from left to right is off by \val[1]{sum.chain} last places on average, the sixteen lanes by \val[1]{sum.lanes}.\lab{lab:sums}
\end{aside}

@ Three small decisions complete it, and each has a reason that shows only in a test. The product
is not rounded before it is added: |fmaf(a,b,c)| is $ab+c$ rounded once, every processor worth
using has it, and it cannot be mistaken for anything else, while |a*b+c| may be compiled either
way. Lanes begin with $+0$. And where the number of terms is not a multiple of sixteen, the lanes that have
no more terms are left alone. To fill them up with zeros would be nearly the same, but a sum that has
become $-0$ would turn into $+0$, and zero times an infinite number is no number at all.
@^multiply--add@>

With that the definitions of this chapter can be written down. For vectors $x$ and $w$ of $n$ numbers,
\begin{align*}
a_j&=\hbox{the chain of }\texttt{fmaf}(x_k,w_k,a_j)\hbox{, from }a_j=+0\hbox{ on,}\\
&\qquad\hbox{over rising }k\hbox{ with }k\bmod16=j;\\
\hbox{dot16}(x,w)&=a_0\hbox{ after }a_j\leftarrow a_j+a_{j+s}\;(j<s)\hbox{ for }s=8,4,2,1;
\end{align*}
and sum16 is the same with $+$ in the place of |fmaf|. Weights in a short format are widened first, and
exactly. Where a matrix has a \emph{bias}, a number for each output that is there whatever the input, it is added last.

@ In C the definition is as short as in words. The lanes are an array, and folding them is three loops in one. A weight may be stored in fewer bits than a float; |tensor_number| widens it,
which rounds nothing (\cref{sec:kernels}). The weights of one output are |step| numbers apart, because some files have the matrix by rows and some by columns.

@<The sum of sixteen lanes, plainly@>=
static float fold(float *lane)
{
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
static float dot16(const float *x, size_t n, struct tensor w, size_t first, size_t step)
{
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++)
    lane[k % 16] = fmaf(x[k], tensor_number(w, first + k * step), lane[k % 16]);
  return fold(lane);
}
static float sum16(const float *x, size_t n)
{
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++) lane[k % 16] += x[k];
  return fold(lane);
}

@ A \emph{linear layer} is a matrix product and perhaps a bias: output $o$ of a row $x$ is $\hbox{dot16}(x,w_o)+b_o$. Nine tenths of the work of a model is done in this one loop.
@^linear layer@>

@<A linear layer, plainly@>=
static void linear(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < w->out; o++) {
        float sum = dot16(x + r * w->in, w->in, w->weight, o * row, step);
        if (w->bias.data != NULL) sum += tensor_number(w->bias, o);
        y[i][r * w->out + o] = sum;
      }
  }
}

@* The operations of a layer. \label{sec:layer}
Four operations make a layer, besides the sums of products: norm, position, attention and the curve of the MLP. They are written down
here, with the order of rounding where there is a choice. The functions that compute them are the \emph{kernels} of
\cref{kernels}, written for each kind of processor in its own way, and with the same bits.
@^kernel@>

A \emph{norm} brings the numbers of a row to a common size before they are multiplied. RMSNorm divides by
the root of the mean square; LayerNorm takes away the mean first and then does the same:
\begin{gather*}
y=\Bigl(x\cdot{1\over\sqrt{{1\over d}\,\hbox{dot16}(x,x)+\varepsilon}}\Bigr)\cdot g,\\
y=\texttt{fmaf}(c\cdot r,g,b)\quad\hbox{with}\quad c=x-{1\over d}\,\hbox{sum16}(x).
\end{gather*}
Here $d$ is the number of numbers in a row, and $\varepsilon$ is small and keeps a row of zeros from being divided by zero; $r$ is the
same reciprocal root as above, of $c$ instead of $x$; $g$ is a gain that was learnt, $b$ a bias. LayerNorm needs two
passes over the row. The textbook's single pass, mean of squares minus square of mean, subtracts two large
numbers that are nearly equal.
@^RMSNorm@>@^LayerNorm@>@^cancellation@>

@ Both in one function: RMSNorm is LayerNorm without the mean and without the bias. A gain that is absent is 1.

@<A norm, plainly@>=
static void normalize(const struct engine *e, const struct norm *g, const float *x,
  size_t rows, size_t d, float *y)
{
  (void) e;
  bool layer = g->kind == NORM_LAYER;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = layer ? sum16(x, d) / (float) d : 0.0f;
    for (size_t i = 0; i < d; i++) y[i] = layer ? x[i] - mean : x[i];
    float square = dot16(y, d, (struct tensor) @[{ y, WEIGHT_F32 }@], 0, 1) / (float) d;
    float root = 1.0f / sqrtf(square + g->epsilon);
    for (size_t i = 0; i < d; i++) {
      float gain = g->gain.data != NULL ? tensor_number(g->gain, i) : 1.0f;
      if (layer && g->bias.data != NULL)
        y[i] = fmaf(y[i] * root, gain, tensor_number(g->bias, i));
      else y[i] = y[i] * root * gain;
    }
  }
}

@ Rows have no order until they are given one: a sum over keys is the same in whatever order the keys lie. GPT-2 adds to the row
of a token the row of its position, as the hand calculation did. The Llama family \emph{turns} queries and keys instead: number $i$
and number $i+{1\over2}d$ of a head are taken as a point of the plane and turned by the angle $p\,f_i$, where $p$ is the
position and $f$ a list of frequencies, from 1 down to nearly nothing: some of the points go round like the seconds of a
clock, others like its hours. Two points that are both turned by one angle keep their product. So the dot product of a turned query and a
turned key depends only on the difference of their positions. The angle is rounded to float before anything else is done with
it, as the program that trained these models does. At position ten thousand that makes the angle wrong by
half a thousandth, and \emph{not} making the same error would be worse.
@^rotary embedding@>@^position@>

Each of the two new numbers is a product, rounded, and a multiply--add, rounded: a
rotation has four products, and only two of them can be inside an |fmaf|. Which two had to be
decided. The rule is that number $i$ goes into the |fmaf|: with $c$ and $s$ for cosine and sine it becomes $\texttt{fmaf}(x_i,c,-(x_{i+d/2}\,s))$, and
its partner $\texttt{fmaf}(x_i,s,x_{i+d/2}\,c)$.

@ Angles are the same in every layer and every head, so a pass computes them once; turning the heads of a row with them takes four products a pair.

@<Rotation, plainly@>=
static void angles(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos((double) angle) * scaling;
      s[r * half + i] = (float) num_sin((double) angle) * scaling;
    }
}
static void rotate(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, c += half, s += half)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], across = x1 * s[i], along = x1 * c[i];
        x[i] = fmaf(x0, c[i], -across);
        x[half + i] = fmaf(x0, s[i], along);
      }
}

@ This way of saying where a token stands is called \emph{rotary position embedding} (RoPE). The frequency of pair $i$ among the $h={1\over2}d$ pairs of a head is
$$f_i=\theta^{-i/h},$$
where the \emph{base} $\theta$ is a setting of the model, $10^4$ in the first ones and larger in later ones. A head of 8 numbers has four pairs; with
$\theta=10^4$ they have the frequencies 1, $10^{-1}$, $10^{-2}$ and $10^{-3}$. The first pair has gone round once after seven tokens and tells neighbours apart. The last has hardly moved
at the end of a long page, and tells near from far. The power is our own (\cref{sec:numbers}) and is computed in double; whoever stores a frequency rounds it once.
@^rotary embedding@>@^RoPE@>

@<The frequency of a pair@>=
double rope_frequency(double theta, uint32_t i, uint32_t half)
{
  return num_pow(theta, -(double) i / half);
}

@ A model that is to read longer texts than it was trained on has its pairs slowed down, each in its own measure. There are three ways to do it, and
\cref{sec:wheels} derives them. They change the list of frequencies and nothing in the pass, except that one of them, YaRN, also multiplies all
cosines and sines by a number near 1, the \emph{attention factor}, so that the scores of longer texts come out a little larger. The structure below has the settings of all
four kinds; a model whose file says nothing is of the first kind, and for it only |theta| counts.
@^YaRN@>@^attention factor@>

@(rope.h@>=
#ifndef INCIPIT_ROPE_H
#define INCIPIT_ROPE_H
#include <stdbool.h>
#include <stdint.h>
enum rope_kind { ROPE_PLAIN, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN };
  /* how frequencies are changed for longer texts: not at all, or by one of three methods */
struct rope_config {
  enum rope_kind kind;
  double theta, factor; /* the base; how many times longer texts become */
  uint32_t original; /* positions that the model was first trained on */
  double low_freq_factor, high_freq_factor; /* llama3, in turns */
  double beta_slow, beta_fast; /* yarn, in turns */
  double attention_factor, mscale, mscale_all_dim; /* yarn; 0: none */
  bool truncate;
}; /* Su and others 2021; Chen 2023; Grattafiori 2024; Peng 2023 */
double rope_frequency(double theta, uint32_t i, uint32_t half);
  /* $\theta^{-i/n}$ for $n={}$|half|, the frequency of pair |i|; in double, not yet rounded */
double rope_attention(const struct rope_config *r);
  /* what cosines and sines are multiplied by: 1, or yarn's |attention_factor| */
#endif

@ The file has the two functions. It knows nothing of files of settings, and of the numbers only the power.

@(rope.c@>=
#include "model/rope.h"
#include "functions/numbers.h"
@;@#
@<The frequency of a pair@>@;
double rope_attention(const struct rope_config *r)
{
  return r->attention_factor > 0 ? r->attention_factor : 1;
}

@ In \emph{attention} a query is compared with the key of every position it sees, the scores become weights that sum to 1, and the
output is the sum of the values with these weights:
$$s_t=\hbox{dot16}(q,k_t)\cdot\hbox{scale},\qquad o={\sum_te^{s_t-m}v_t\over\sum_te^{s_t-m}},\qquad m=\max_ts_t.$$
A row sees the positions up to its own; in some models only the last few thousand of them, which is called a \emph{window}.
Each head does this with its own part of the query, and the heads' outputs, one after the other, go through one more matrix
and are added to the row. Keys and values have to be kept for as long as the text goes on, queries do not; many models therefore have fewer
heads of keys and values than of queries, and a group of query heads shares one (\emph{grouped-query attention}).
@^window@>@^grouped-query attention@>

As a definition this is not finished: in which order are ten thousand positions to be added? From left to right is one
chain, and could not be divided among threads. Sixteen lanes would not suit the values, which are vectors themselves.
So the positions are cut into blocks of 256, which is long enough for the joints to cost nothing and short enough to leave work
for every thread. They are counted from the beginning of the sequence, and each block gives three results by itself:
\begin{align*}
m_b&=\max_ts_t,\\
l_b&=\hbox{sum16}(e^{s_t-m_b})\hbox{, position $t$ in lane $t\bmod16$},\\
o_b&=\hbox{the chain of }\texttt{fmaf}(e^{s_t-m_b},v_t,o_b).
\end{align*}
They are joined in rising order with the weights $w_b=e^{m_b-m}$ by $l=\texttt{fmaf}(l_b,w_b,l)$, $o=\texttt{fmaf}(o_b,w_b,o)$; the
output is $o/l$. Since $e^0=1$ exactly, up to 256 positions this is the textbook's softmax and nothing else.
The blocks are at \emph{absolute} positions. If they were counted from the first position that is visible, a window that moves
along with the text would cut them differently at each step, and the same sums would come out in different ways.
@^blocks of 256@>@^attention@>

@ One head of one row, block by block. The positions that a row sees are those up to its own, or with a window the last few (and, if the model keeps them, the first few): |is_seen| knows. A position that is not seen is left out of every sum.

The function leaves $m_b$, $l_b$ and $o_b$ of the block in |left|. |of| is the head of keys and values. The exponentials stay in |kept|, for readers who want to see the weights.

@<One block of attention, plainly@>=
static bool is_seen(const struct kv_range *r, uint32_t t)
{@+ return t < r->hi && (t >= r->lo || t < r->sinks);@+ }
static void attend_block(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, uint32_t begin, float *kept,
  float *left)
{
  float lane[16] = @[{ 0 }@], *out = left + 2;
  left[0] = -INFINITY;
  for (uint32_t t = begin; t < begin + 256; t++) {
    if (!is_seen(see, t)) continue;
    kept[t % 256] = dot16(q, h->head_dim, kv_row(v, v->key, t, of), 0, 1) * h->scale;
    if (kept[t % 256] > left[0]) left[0] = kept[t % 256];
  }
  for (size_t i = 0; i < h->head_dim; i++) out[i] = 0;
  for (uint32_t t = begin; t < begin + 256; t++) {
    if (!is_seen(see, t)) continue;
    struct tensor value = kv_row(v, v->value, t, of);
    float w = kept[t % 256] = num_expf(kept[t % 256] - left[0]);
    lane[t % 16] += w;
    for (size_t i = 0; i < h->head_dim; i++)
      out[i] = fmaf(w, tensor_number(value, i), out[i]);
  }
  left[1] = fold(lane);
}

@ The blocks of a head are joined as the formulas say. A block in which nothing is seen has $m_b=-\infty$ and is left out. If somebody wants to see the weights, they are the exponentials of their block, times $w_b/l$.

@<One head of attention, plainly@>=
static void attend_head(const struct attention_dims *h, const struct kv_view *v,
  size_t of, const struct kv_range *see, const float *q, float *left, float *y,
  float *weights)
{
  size_t d = h->head_dim, n = 0;
  float kept[256], m = -INFINITY, l = 0;
  for (uint32_t begin = 0; begin < see->hi; begin += 256) {
    float *block = left + n * (d + 2);
    attend_block(h, v, of, see, q, begin, kept, block);
    if (block[0] == -INFINITY) continue;
    m = block[0] > m ? block[0] : m, n++;
    for (uint32_t t = begin; weights != NULL && t < begin + 256; t++)
      if (is_seen(see, t)) weights[t] = kept[t % 256];
  }
  for (size_t i = 0; i < d; i++) y[i] = 0;
  for (size_t b = 0; b < n; b++) {
    const float *block = left + b * (d + 2);
    float w = num_expf(block[0] - m);
    l = fmaf(block[1], w, l);
    for (size_t i = 0; i < d; i++) y[i] = fmaf(block[2 + i], w, y[i]);
  }
  for (size_t i = 0; i < d; i++) y[i] /= l;
  @<Turn the exponentials that were kept into weights@>@;
}

@ The blocks come in the same order as above, so the results of the next one are the next in |left|.

@<Turn the exponentials that were kept into weights@>=
const float *block = left;
for (uint32_t begin = 0; weights != NULL && begin < see->hi; begin += 256) {
  bool any = false;
  for (uint32_t t = begin; t < begin + 256; t++) {
    if (!is_seen(see, t)) continue;
    weights[t] = weights[t] * num_expf(block[0] - m) / l;
    any = true;
  }
  if (any) block += d + 2;
}

@ Now the kernel: every row of every segment, every head. Several heads of queries share one head of keys and values where there are fewer of these.

@<Attention, plainly@>=
static void attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  (void) e;
  for (size_t k = 0; k < n; k++)
    for (uint32_t r = 0; r < list[k].n_rows; r++)
      for (size_t head = 0; head < h->n_heads; head++) {
        size_t i = (list[k].first_row + (size_t) r) * h->n_heads + head;
        struct kv_range see = segment_range(&list[k], r);
        float *weights = probe == NULL ? NULL : probe->weights + i * probe->stride;
        if (probe != NULL) memset(weights, 0, probe->stride * sizeof *weights);
        attend_head(h, &list[k].view, head / group, &see, q + i * d, scratch,
          y + i * d, weights);
      }
}

@ The MLP's first matrix makes a longer list of the row, its second a row of the list. Between them every number goes through a
bent curve, or else the two would be no more than one matrix. GPT-2 uses $x\,\Phi(x)$ with the distribution function of the normal
distribution, approximated by a tangent; Llama uses $x/(1+e^{-x})$ and multiplies by a second, straight row $u$.
\begin{gather*}
{1\over2}x\cdot\bigl(1+\tanh(\sqrt{2/\pi}\,(x+0.044715\,x^3))\bigr),\qquad {x\over1+e^{-x}}\cdot u.
\end{gather*}
The order of rounding is as written, from the inside out; the cube is $(x\cdot x)\cdot x$, and one |fmaf| adds it. The exponentials and
tangents are our own (\cref{sec:numbers}): the standard lets a C library return any last bit it likes, and no two of them like the same.
@^GELU@>@^SiLU@>@^SwiGLU@>

@ The curves, one number at a time, and the product with |up| where there is a gate. The third curve is the exact form of GPT-2's, with the error function in place of the tangent.

@<Activations, plainly@>=
static float activation(enum activation_kind kind, float x)
{
  if (kind == ACTIVATION_SILU) return x / (1.0f + num_expf(-x));
  if (kind == ACTIVATION_GELU_ERF)
    return 0.5f * x * (1.0f + num_erff(x * 0.70710677f));
  float cube = x * x * x, inner = 0.7978846f * fmaf(0.044715f, cube, x);
  return 0.5f * x * (1.0f + num_tanhf(inner));
}
static void activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    y[i] = activation(kind, x[i]) * (up != NULL ? up[i] : 1.0f);
}

@ Two operations are left that have no formula: at the beginning of a pass a token becomes its row of the embedding, and after each half of a layer the result is added to what was there.

@<Embedding and residual stream, plainly@>=
static void embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      y[r * d + i] = tensor_number(table, id[r] * d + i);
}
static void add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}

@* Softmax. \label{sec:weights}
Softmax turns any numbers into shares: exponentials, divided by their sum. Only differences count, since a constant added
to all of them cancels; so the largest is subtracted first. Without that, a score of 100 would be infinite in float, whose numbers end
before $e^{89}$, and
infinity over infinity is not a number. With it, the largest exponential is 1, and what is far below vanishes to 0 without harm.
@^softmax@>

A position that is not to be seen is \emph{left out} of both sums. Two other ways are met in programs. To give the score $-\infty$
comes to the same, at the price of work that is thrown away. To compute the weights over all positions and set those of
the future to zero \emph{afterwards} is wrong: the exponentials of the future are then still in the sum that everything was divided by. In
the model of the hand calculation, let the row of \tok{\ cat} see \tok{the} and itself. Head A's weights are \val[2]{mask.out.0}
and \val[2]{mask.out.1}.\lab{lab:modelclaims} With the third row computed along and struck out afterwards they are \val[2]{mask.zeroed.0} and \val[2]{mask.zeroed.1}: what is
left of 1 is \val[2]{mask.left}, and it depends on a token of the future. And zero times a value is not always zero. If the value
is infinite, or not a number, in a row of memory that nobody has written yet, it poisons the sum.
@^mask@>

@ The same function, of the logits at the end of a pass, gives the probabilities of the next token. There it is computed in double: a sum of fifty thousand exponentials in float would be off in the fifth digit. The logarithm of a probability is the difference to the maximum, less the
logarithm of the sum; where the probability is too small for a double, its logarithm is still an ordinary number.
@^log-probability@>@^underflow@>

@<Softmax, plainly@>=
static double sum_exp(const float *x, size_t n, double *max)
{
  double lane[16] = @[{ 0 }@];
  *max = -INFINITY;
  for (size_t i = 0; i < n; i++) *max = (double) x[i] > *max ? (double) x[i] : *max;
  for (size_t i = 0; i < n; i++) lane[i % 16] += num_exp((double) x[i] - *max);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}
static void softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{
  double max;
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double sum = sum_exp(x, n, &max);
    for (size_t i = 0; i < n; i++) y[i] = num_exp((double) x[i] - max) / sum;
  }
}
static void log_softmax(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y)
{
  double max;
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double log_sum = num_log(sum_exp(x, n, &max));
    for (size_t i = 0; i < n; i++) y[i] = (double) x[i] - max - log_sum;
  }
}
static void exp_shifted(double *z, size_t n, double max)
{@+ for (size_t i = 0; i < n; i++) z[i] = num_exp(z[i] - max);@+ }

@ Why is a score divided by $\sqrt{d_k}$, the root of how many numbers a key has? Let the numbers of a query and a key be independent, with
mean 0 and variance 1. Each product $q_ik_i$ has mean 0 and variance $E[q_i^2]\,E[k_i^2]=1$; variances of independent
terms add; so $q\cdot k$ has variance $d_k$, and divided by the root it has variance 1 again. Counted on
\val{variance.samples} random pairs with $d_k=64$: \val[1]{claim.S2-43} before, \val[2]{variance.after} after.
@^scaling of scores@>

And if it is not divided? The scores of 64 keys then spread like normal numbers of standard deviation 8, the
largest stands far above the next, and softmax becomes a choice of one. The mean largest weight is
\val[2]{saturation.scaled} with the division and \val[2]{saturation.plain} without (\cref{fig:saturation}).\lab{lab:saturation} A row that looks at one place
only has a second fault, which shows in training. The derivative of a weight $p$ by its own score is $p(1-p)$; over all keys these sum
to \val[2]{saturation.slope.scaled} with the division and to \val[2]{saturation.slope.plain} without: little is left to learn from.
@^saturation@>

\fig{saturation}{fig:saturation}{The mean largest weight of a softmax over 64 keys, while the keys get longer. Undivided scores make attention
a choice of one; divided by the root of the length they leave it as it was.}{A plot. To the right the numbers in a key, from 1 to
256, on a logarithmic axis; upwards the mean of the largest of 64 weights, from 0 to 1. One curve rises from a tenth to nine tenths,
steepest in the middle. The other is a flat line at a tenth.}

@* The interface of a kernel. \label{sec:kernels}
The handful of operations that a pass is made of are called \emph{kernels}. They stand behind a table of
functions, and the rest of the program never asks which table it is: the plain one, the one for AVX2, or
in chapter 14 the one for a graphics processor. All tables give the same bits.
@^kernel@>

@(kernel.h@>=
#ifndef INCIPIT_KERNEL_H
#define INCIPIT_KERNEL_H
#include "functions/number_type.h"
@<Numbers as a file stores them@>@;
@<What norms and activations are@>@;
@<What attention is given@>@;
@<The table of kernels@>@;
@<What is asked of a table@>@;
#endif

@ Weights stay where they are: in the file, mapped, in the type in which they were published.
A copy in float would cost a model of 16-bit weights three times its size, and the time to
make it. So a kernel is given a place, a type and a layout, and widens at use. The place may be
misaligned, since nothing in a file of tensors keeps a header from having an odd length.

Two layouts are needed, because two families of models store the same matrix differently: Llama as rows of
inputs, one row for each output; GPT-2 as rows of outputs, one for each input.
@^layout@>@^Conv1D@>

@<Numbers as a file stores them@>=
struct tensor { const void *data; enum weight_type type; };
  /* numbers where they lie in the file (or in memory), little-endian, in any
     alignment, owned by somebody else; null |data|: there is no such tensor */
float tensor_number(struct tensor t, size_t i);
  /* number |i| of |t|, of whatever type, as a float; nothing is rounded */
struct matrix { struct tensor weight, bias; size_t in, out; bool transposed; };
  /* a linear layer: |weight| is |[out][in]|, or |[in][out]| if |transposed|
     (GPT-2's Conv1D); |bias| is |[out]| or absent */

@ The types are a table of the workshop (\cref{sec:numbertypes}); the rest of the program knows them by this header.

\printedheader[6,26]{functions/number_type.h}

@ Norms and activations come in the few kinds that the two families use. They are told apart by an
enumeration and not by a function each, so that a model can be described by data.

@<What norms and activations are@>=
enum norm_kind { NORM_RMS, NORM_LAYER };
  /* Zhang and Sennrich 2019; Ba, Kiros and Hinton 2016 */
struct norm { enum norm_kind kind; struct tensor gain, bias; float epsilon; };
  /* |gain| and |bias| are |[d]|; each may be absent; |NORM_RMS| looks at no |bias| */
enum activation_kind { ACTIVATION_SILU, ACTIVATION_GELU_TANH,
  ACTIVATION_GELU_ERF };
  /* Elfwing and others 2017; Hendrycks and Gimpel 2016, approximated and exact */

@ Attention reads keys and values that a store keeps. A \emph{view} tells it where those of one sequence are, in one layer:
where the rows begin, and how far it is from row to row and from head to head. If they are in one block,
that is all. If the store keeps them in pages, as that of chapter 4 does, the view also has the \emph{page table}, a list of addresses; the rest of the program does not need to know which of the two it is.
@^view@>

The rows of a pass that are of one sequence and follow each other, in the pass and in the text, form a \emph{segment}. A prompt is one segment, and a step of eight texts has
eight. One view serves the whole segment. The positions that one of its rows sees, its \emph{range}, follow from the row's own position: all up to that, or with a window only the last few, and in addition
the first few, if they are kept as sinks.
@^segment@>@^range of positions@>

@<What attention is given@>=
struct attention_dims { uint32_t n_heads, n_kv_heads, head_dim; float scale; };
  /* |n_heads| is a multiple of |n_kv_heads|; |scale| multiplies each score */
struct kv_view {
  uintptr_t key, value; /* addresses; with pages, distances from the beginning of a page */
  const char *const *page; /* addresses; null: all rows in one block */
  size_t page_rows, row_bytes, head_bytes;
  enum weight_type type;
  uint32_t sinks;
};
  /* one layer of a sequence. The key of position |t| in head |h| is |head_dim| numbers of |type| at |key +
     h*head_bytes + t*row_bytes| if |page| is null, else at |page[t/page_rows] + key
     + h*head_bytes + t%page_rows*row_bytes|; the values likewise at |value|. All rows see the first |sinks| positions */
struct segment {
  struct kv_view view;
  uint32_t first_row, n_rows, first_position, window;
};
  /* rows |first_row|, |first_row+1|, \dots\ of a pass, |n_rows| of them, which are at |first_position|,
     |first_position+1|, \dots\ of one sequence; |window|: how many positions a row sees, its own among them, 0: all */
typedef void kv_encode(const float *x, size_t n, void *to);
  /* writes |n| numbers in some |weight_type| to the |weight_row_bytes| at |to| */
void kv_encode_f32(const float *x, size_t n, void *to);
  /* a |kv_encode| that leaves them as they are */
struct kv_range { uint32_t lo, hi, sinks; };
  /* positions |lo <= t < hi|, and before them the first |sinks|, which are fewer than |lo| or none */
struct kv_range segment_range(const struct segment *s, uint32_t i);
  /* what row number |i| of a segment sees */
static inline uintptr_t kv_place(const struct kv_view *v, uint32_t t)
{
  return v->page == NULL ? t * v->row_bytes
    : (uintptr_t) v->page[t / v->page_rows] + t % v->page_rows * v->row_bytes;
}
  /* what is added to |key| or |value|, and |head_bytes| for each head before, to find position |t| */
static inline struct tensor kv_row(const struct kv_view *v, uintptr_t part,
  uint32_t t, size_t head)
{
  uintptr_t at = part + kv_place(v, t) + head * v->head_bytes;
  return (struct tensor) @[{ (const void *) at, v->type }@];
}
  /* the numbers of one head at position |t|; |part| is |v->key| or |v->value| */
struct attention_probe { float *weights; size_t stride; };
  /* where attention shall leave its weights: |[rows][n_heads][stride]|, that of
     position |t| at index |t|; positions that a row does not see get 0 */

@ The first argument of every kernel is the engine: the table itself, the workers, and the counters. There
is nothing global, so two engines in one process cannot disturb each other. The engine also has the callback of a caller who wants to be told how far a pass is, and to be able to
give it up (\cref{sec:progress}); the kernels themselves never call it.

@<The table of kernels@>=
struct engine;
struct counters;
struct prepared_weights;
@<Memory of a backend@>@;
struct kernels {
  const char *name;
  const struct buffers *memory; /* what all arrays are in that a pass makes */
  uint32_t matrix_types; /* bit |1 << type| for each type of the matrices of |linear| */
  @<The kernels of a layer@>@;
  @<What is moved and looked for@>@;
  @<The kernels at the two ends@>@;
  @<How a table prepares weights@>@;
  @<Two functions that only the self-test calls@>@;
  @<Two functions that measure the machine@>@;
};
  /* one implementation of all kernels. Arrays are float, row by row, and belong to the caller. Those of a
     pass, and keys and values, are in |memory|; weights, lists of ids, positions and segments, page tables and
     what the kernels at the end make of logits are the host's */
struct engine { const struct kernels *k; void *pool; struct counters *c;
  struct progress *progress; const struct prepared_weights *prepared; };
  /* the first argument of every kernel: the kernels in use, their |struct pool *|
     (null: one thread), the counters, to which the callers of kernels add, the callback that a pass tells
     how far it is (null: none), and the weights that were prepared for these kernels (null: none) */

@ A graphics processor has memory of its own, which our program can neither read nor write: an address in it is only a number to be handed back. So the code of a pass must not
assume that it can look at the arrays that the kernels fill. A table of kernels together with its memory is called a \emph{backend}. The pass asks the backend for arrays, and for copies into them and out of them. For the three tables of
this chapter the memory is the \emph{host's}, the memory of our own program: everything can be read in place, and |is_host| says so. A pass is written for both cases.
@^backend@>@^host memory@>@^buffers@>

@<Memory of a backend@>=
struct buffers {
  bool is_host; /* whether its addresses can be read and written by anyone */
  void *(*alloc)(const struct buffers *b, struct memory *m, enum memory_class what,
    size_t count, size_t size, struct error *why);
    /* as |memory_alloc|, charged to |m|, in this memory; an address within it is found by adding */
  void (*release)(const struct buffers *b, struct memory *m, void *p);
    /* as |memory_free| */
  void (*set)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* from the host into this memory, when all kernels before have used |to| */
  void (*get)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* from this memory to the host, when all kernels before have filled |from| */
  void (*copy)(const struct buffers *b, void *to, const void *from, size_t bytes);
    /* within this memory; the two do not overlap */
};
  /* memory of a backend; a backend that must know more of its memory has this as the first member of its own structure */
extern const struct buffers buffers_host;
  /* the host's memory */

@ The host's memory is allocated and counted as in \cref{ground}, and every copy is a |memcpy|.

@<The host's memory@>=
static void *host_alloc(const struct buffers *b, struct memory *m,
  enum memory_class what, size_t count, size_t size, struct error *why)
{
  (void) b;
  return memory_alloc(m, what, count, size, why);
}
static void host_release(const struct buffers *b, struct memory *m, void *p)
{
  (void) b;
  memory_free(m, p);
}
static void host_copy(const struct buffers *b, void *to, const void *from, size_t bytes)
{
  (void) b;
  memcpy(to, from, bytes);
}
const struct buffers buffers_host = @[{ .is_host = true,@|
  .alloc = host_alloc, .release = host_release,@|
  .set = host_copy, .get = host_copy, .copy = host_copy }@];

@ A row in float32 is stored as it is.

@<The host's memory@>=
void kv_encode_f32(const float *x, size_t n, void *to)
{@+ memcpy(to, x, n * sizeof *x);@+ }

@ A pass does not only compute, it also moves numbers: it cuts a fused product into queries, keys and values, gathers the rows whose logits are wanted, and puts keys and values where the store keeps
them. After each layer it looks for numbers that are not finite. All of this happens in the memory of the backend, so the table has functions for it.

@<What is moved and looked for@>=
void (*split)(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);
  /* |x|, |[rows][n][width]|, into |n| arrays |[rows][width]| */
void (*gather)(const struct engine *e, const float *x, size_t d, const size_t *which,
  size_t n, float *y);
  /* row |which[i]| of |x|, |[any][d]|, to row |i| of |y|, |[n][d]| */
void (*write)(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v);
  /* keys and values of all rows, |[rows][n_kv_heads][head_dim]| each, to their places in the
     views of |n| segments; |encode| writes the views' type */
void (*mark_nonfinite)(const struct engine *e, const float *x, size_t rows, size_t d,
  uint32_t mark, uint32_t none, uint32_t *first);
  /* |first[r]|, if it is |none|, becomes |mark| for each row |r| of |x|, |[rows][d]|, with a number that is not
     finite; |first| is in the backend's memory as well */

@ None of the kernels allocates and none can fail: whatever could be wrong with a shape was
refused when the model was opened, and |room| says beforehand how much workspace |linear| needs. A type may be refused at that time as well. Every table can look up rows of every type; but a matrix product has loops of its own for each type,
and |matrix_types| says for which types a table has them. A model's gains and biases must have one of these types, too. A linear layer is given a list of matrices, because the query,
the key and the value of a row are made from the same numbers, and so are the gate and the
up-projection; one call means one division of the work among the threads.

@<The kernels of a layer@>=
void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |y[m] = x*w|$_m$ for |n| matrices with the same |in|: |x| is |[rows][in]|,
     |y[m]| is |[rows][out]| of |list[m]| and overlaps nothing. The bias is added last */
size_t (*room)(const struct matrix *list, size_t n, size_t rows);
  /* bytes of workspace that each worker of such a |linear| wants, by |pool_reserve|; with less
     it gives the same bits, but may be slower */
void (*normalize)(const struct engine *e, const struct norm *g,
  const float *x, size_t rows, size_t d, float *y);
  /* |x| and |y| are |[rows][d]| and may be the same */
void (*rotate)(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s);
  /* turns the pairs (|i|, |i+half|) of each head of |x|, |[rows][n_heads][2*half]|,
     by the row's angles, in place: the half-split pairing of the Llama checkpoints */
void (*attend)(const struct engine *e, const struct attention_dims *h, const float *q,
  const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe);
  /* |q| and |y| are |[rows][n_heads][head_dim]|, and the |n| segments have all rows once; |scratch| has
     |kernels_scratch| floats for each worker; |probe| may be null (Vaswani and others 2017) */
void (*activate)(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y);
  /* |y[i] = f(x[i])|, times |up[i]| if |up| is not null; |y| may be |x| or |up| */
void (*add)(const struct engine *e, float *y, const float *x, size_t n);
  /* |y[i] += x[i]|: the residual stream */

@ Before the first layer a row is looked up and its angles are computed, once for all layers; after the
last one logits become probabilities. These last are the only kernels whose results are in double: they are added up over texts and compared with
random numbers, and there a float's seventh digit would be seen.

@<The kernels at the two ends@>=
void (*embed)(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y);
  /* row |id[r]| of |table|, |[any][d]|, widened to |y[r]|, |[rows][d]| */
void (*angles)(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s);
  /* cosine and sine, times |scaling|, of position times frequency in float:
     |c| and |s| are |[rows][half]| (Su and others 2021) */
void (*softmax)(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y);
  /* exp(x - max) over its sum, in double, for each row of |x|, |[rows][n]| */
void (*log_softmax)(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y);
  /* (x - max) - log(sum of exp(x - max)), in double, natural logarithms */
void (*exp_shifted)(double *z, size_t n, double max);
  /* |z[i]| becomes exp(z[i] - most), in double, in place */

@ The files of a model were not written for our kernels, and the order of their weights may be a slow one for them. Then a table may ask for a copy in an order of its own. |prepared_bytes| says how many bytes it wants for a matrix, none if the
matrix is best used as it is; |prepare| fills the copy. Copies depend on the table, so they cannot belong to the model, which may be shared by engines with different tables; they belong to the owner of the engine.
No bit of a result changes: a copy holds the same weights, and each sum is formed in the same order.
@^prepared weights@>

@<How a table prepares weights@>=
size_t (*prepared_bytes)(const struct matrix *w);
  /* bytes that the weights of |w| take in the order that is best for |linear|; 0: use them as they are */
void (*prepare)(const struct matrix *w, void *to);
  /* writes them there, aligned to 64 bytes */

@ How fast a machine calculates and how fast it reads, \cref{phases} wants to know, in the same instructions as the kernels.

@<Two functions that measure the machine@>=
uint64_t (*probe_flops)(uint64_t n, float *left);
  /* |n| multiply--adds, or a few more, of numbers that stay in registers; how many
     they were. |*left| depends on all of them, so that none can be left out */
float (*probe_bandwidth)(const float *x, size_t n);
  /* the sum of |x[n]|, in no order that anybody should rely on */

@ Two functions more are in each table, for a test only. The first says what the compiler has made of |a*b+c| in this
very file: two roundings if it obeyed, one if it contracted them into a multiply--add. The second is the multiply--add, as the
kernels use it.
@^contraction@>

@<Two functions that only the self-test calls@>=
float (*mul_add_unfused)(float a, float b, float c);
  /* |a*b+c| as this table was compiled: product and sum rounded */
float (*mul_add_fused)(float a, float b, float c);
  /* the multiply--add of this table's kernels */

@ Before a pass a table is asked whether it can be trusted and whether it can multiply what the model has, and attention says what room it needs.

@<What is asked of a table@>=
extern const struct kernels kernels_plain;
  /* the kernels of this chapter */
void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y);
  /* |split| of all tables whose memory is the host's */
void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y);
  /* |gather| of all tables whose memory is the host's */
void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v);
  /* |write| of all tables whose memory is the host's */
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why);
  /* whether |linear| can multiply matrices of all |types|, bits as in |matrix_types|; a sentence
     about |what| that names the first it cannot, and those it can */
void kernels_list_types(const struct kernels *k, char text[64]);
  /* the names of the types of |matrix_types|, as in \.{F32, F16 or BF16} */
bool kernels_self_test(const struct kernels *k, struct error *why);
  /* false and a sentence if the build contracts |a*b+c| or has no exact |fma|;
     |model_forward| refuses to run then */
size_t kernels_scratch(const struct attention_dims *h, size_t max_len);
  /* floats that one worker of |attend| needs when no row sees more than |max_len|
     positions */

@ The range of a row follows from its position and the window, as in |store_window_start| (\cref{sec:rows}). As long as the window reaches back to
the sinks, there is no hole: the row sees everything from 0.

@<Find the range of a row@>=
struct kv_range segment_range(const struct segment *s, uint32_t i)
{
  uint32_t at = s->first_position + i, lo = 0;
  if (s->window > 0 && at >= s->window) lo = at + 1 - s->window;
  bool hole = s->view.sinks < lo;
  return (struct kv_range) @[{ hole ? lo : 0, at + 1, hole ? s->view.sinks : 0 }@];
}

@ The scratch memory of attention has two numbers and a row for each block, and a range of $n$ positions touches
at most two blocks more than it fills.

@<Room for attention@>=
size_t kernels_scratch(const struct attention_dims *h, size_t max_len)
{@+ return (max_len / 256 + 2) * ((size_t) h->head_dim + 2);@+ }

@ One number of any type is computed without lanes. A block begins with the scale, two bytes, the lower first; then come the small whole numbers.

@<One number of a tensor@>=
static float block_number(enum weight_type type, const unsigned char *block,
  size_t i)
{
  float d = num_from_f16((uint16_t) (block[0] | block[1] << 8));
  if (type == WEIGHT_Q8_0) return (float) (int8_t) block[2 + i] * d;
  unsigned two = block[2 + i % 16];
  return (float) ((int) (i < 16 ? two & 15u : two >> 4) - 8) * d;
}
float tensor_number(struct tensor t, size_t i)
{
  size_t at = i % number_types[t.type].block;
  const unsigned char *p = (const unsigned char *) t.data
    + weight_row_bytes(t.type, i - at);
  float x = 0;
  uint16_t h;
  memcpy(&h, p, sizeof h);
  switch (t.type) {
  case WEIGHT_F32: memcpy(&x, p, sizeof x);@+ break;
  case WEIGHT_F16: return num_from_f16(h);
  case WEIGHT_BF16: return num_from_bf16(h);
  case WEIGHT_Q8_0: case WEIGHT_Q4_0: return block_number(t.type, p, at);
  }
  return x;
}

@ A type that a table cannot multiply is refused, and the sentence lists those that it can: \.{F32, F16 or BF16}.

@<Refuse types that a table cannot multiply@>=
void kernels_list_types(const struct kernels *k, char text[64])
{
  uint32_t left = k->matrix_types;
  size_t n = 0;
  text[0] = '\0';
  for (unsigned t = 0; t < N_WEIGHT_TYPES && n < 64; t++) {
    if ((k->matrix_types >> t & 1) == 0) continue;
    const char *before = n == 0 ? "" : ", ";
    left &= ~(1u << t);
    if (n > 0 && left == 0) before = " or ";
    n += (size_t) snprintf(text + n, 64 - n, "%s%s", before,
      number_types[t].name);
  }
}

@ Of several types that are missing the first is named; there is no use in a longer sentence, since the model cannot be used with these kernels anyway.

@<Refuse types that a table cannot multiply@>=
bool kernels_check_types(const struct kernels *k, uint32_t types,
  const char *what, struct error *why)
{
  char wanted[64];
  uint32_t missing = types & ~k->matrix_types;
  unsigned t = 0;
  if (missing == 0) return true;
  while ((missing >> t & 1) == 0) t++;
  kernels_list_types(k, wanted);
  return error_say(why, "%s: matrices of %s; wanted: %s, which"@|
    " the kernels %s multiply", what, number_types[t].name, wanted, k->name);
}

@ Two entries of a table serve a test of the build only. For it we need three numbers for which one rounding and two make a difference. With $a=1+2^{-12}$ the square is
$1+2^{-11}+2^{-24}$; rounded to a float it loses the last term, exactly a half of the last place, to the even
neighbour. So $a\cdot a-(1+2^{-11})$ is 0 with two roundings and $2^{-24}$ with one.

A build that fails is not broken: it would compute good logits, but others than every other build. Since nobody could
see that from the outside, it refuses to compute any.

@<Refuse a build that rounds otherwise@>=
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  float a = 0x1.001p0f, c = -0x1.002p0f;
  if (k->mul_add_unfused(a, a, c) != 0.0f)
    return error_say(why, "kernels %s: this build contracts a*b+c"@|
      " into one rounding; compile with -ffp-contract=off", k->name);
  if (k->mul_add_fused(a, a, c) != 0x1p-24f)
    return error_say(why, "kernels %s: the multiply-add of this"@|
      " machine rounds twice; wanted: one rounding", k->name);
  return true;
}

@ The code of this section and of the next two is one file, which every table shares.

@(kernel.c@>=
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/kernel.h"
@;@#
@<One number of a tensor@>@;
@<The host's memory@>@;
@<Move rows about@>@;
@<Refuse types that a table cannot multiply@>@;
@<Refuse a build that rounds otherwise@>@;
@<Find the range of a row@>@;
@<Room for attention@>@;

@ Moving numbers about is the same for every table whose memory is the host's, so these functions are shared.

@<Move rows about@>=
void host_split(const struct engine *e, const float *x, size_t rows, size_t n,
  size_t width, float *const *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < n; i++)
      memcpy(y[i] + r * width, x + (r * n + i) * width, width * sizeof *x);
}
void host_gather(const struct engine *e, const float *x, size_t d,
  const size_t *which, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    memcpy(y + i * d, x + which[i] * d, d * sizeof *x);
}
void host_write(const struct engine *e, const struct attention_dims *h,
  const struct segment *list, size_t n, kv_encode *encode, const float *k, const float *v)
{
  size_t d = h->head_dim, width = h->n_kv_heads * d;
  (void) e;
  for (size_t i = 0; i < n; i++)
    for (uint32_t r = 0; r < list[i].n_rows; r++)
      for (size_t g = 0; g < h->n_kv_heads; g++) {
        const struct kv_view *view = &list[i].view;
        size_t from = (list[i].first_row + (size_t) r) * width + g * d;
        uintptr_t at = kv_place(view, list[i].first_position + r)
          + g * view->head_bytes;
        encode(k + from, d, (void *) (view->key + at));
        encode(v + from, d, (void *) (view->value + at));
      }
}

@* The plain table. \label{sec:plain}
The loops of this chapter, together, are a table of kernels. It is called |plain|, it does what the formulas say and nothing to be fast, and it is the judge of all others: \cref{kernels} has
three tables that use the same definitions on the instructions of different processors, and the tests compare each with this one, number by number, with |==|.
@^plain kernels@>

What is left are the entries that have no arithmetic of a model in them. The plain table wants no room and no copies of weights; a row is finite if all its numbers are; its yardsticks are a chain of multiply--adds and a sum.

@<The rest of a table, plainly@>=
static void mark_nonfinite(const struct engine *e, const float *x, size_t rows,
  size_t d, uint32_t mark, uint32_t none, uint32_t *first)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < d; i++)
      if (first[r] == none && !isfinite(x[r * d + i])) first[r] = mark;
}
static size_t no_room(const struct matrix *list, size_t n, size_t rows)
{@+ (void) list, (void) (n + rows);@+ return 0;@+ }
static size_t no_copy(const struct matrix *w)
{@+ (void) w;@+ return 0;@+ }
static void prepare(const struct matrix *w, void *to)
{@+ (void) w, (void) to;@+ }
static float mul_add_unfused(float a, float b, float c)
{@+ return a * b + c;@+ }
static float mul_add_fused(float a, float b, float c)
{@+ return fmaf(a, b, c);@+ }
static uint64_t probe_flops(uint64_t n, float *left)
{
  *left = 0;
  for (uint64_t i = 0; i < n; i++) *left = fmaf(*left, 0.5f, 1.0f);
  return n;
}
static float probe_bandwidth(const float *x, size_t n)
{
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

@ A table says of each kernel by name which function it is. Without the names two of the same type, |softmax| and |log_softmax|, could be
exchanged, and the compiler would see no fault.

@(plain.c@>=
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/kernel.h"
@;@#
@<The sum of sixteen lanes, plainly@>@;
@<A linear layer, plainly@>@;
@<A norm, plainly@>@;
@<Rotation, plainly@>@;
@<One block of attention, plainly@>@;
@<One head of attention, plainly@>@;
@<Attention, plainly@>@;
@<Activations, plainly@>@;
@<Embedding and residual stream, plainly@>@;
@<Softmax, plainly@>@;
@<The rest of a table, plainly@>@;
const struct kernels kernels_plain = @[{ .name = "plain",@|
  .memory = &buffers_host,@|
  .matrix_types = 1u << WEIGHT_F32 | 1u << WEIGHT_F16 | 1u << WEIGHT_BF16,@|
  .split = host_split, .gather = host_gather, .write = host_write,@|
  .mark_nonfinite = mark_nonfinite,@|
  .linear = linear, .room = no_room, .normalize = normalize,@|
  .rotate = rotate, .attend = attend, .activate = activate, .add = add,@|
  .embed = embed, .angles = angles, .softmax = softmax,@|
  .log_softmax = log_softmax, .exp_shifted = exp_shifted,@|
  .prepared_bytes = no_copy, .prepare = prepare,@|
  .mul_add_unfused = mul_add_unfused, .mul_add_fused = mul_add_fused,@|
  .probe_flops = probe_flops, .probe_bandwidth = probe_bandwidth }@];

@* Counting the work. \label{sec:counters}
To run some rows through all layers is a \emph{pass}, and what it costs is counted beside it. The chapters to come argue about cost, and
time is a poor witness: it depends on the machine and on what else the machine is doing. Counts are whole numbers, equal on every
computer, and a formula can be checked against them with |==|. Counters are bumped where the cost is paid, but once for a
call and never once for an element: counting must not cost anything itself.
@^counters@>@^pass@>

The names are a contract: the command prints them. Pairs are those of one head in one layer, since all heads and layers have equally
many.\side{Bytes are counted as they are stored: those have to come from memory, whatever they are widened to.}

@(counters.h@>=
#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>
enum { N_COUNTERS = 11 };
  /* how many counters there are */
struct counters {
  union {
    struct {
      uint64_t passes, rows;
      uint64_t kv_rows_computed, kv_rows_recomputed, qk_pairs;
      uint64_t madds_linear, madds_attention, madds_head;
      uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
    };
    uint64_t of[N_COUNTERS]; /* the same, in order */
  };
};
  /* calls of |model_forward|; tokens at positions put through all layers; positions whose
     keys and values were computed, and those of them that an earlier pass had computed;
     (query, key) pairs of one head of the first layer; multiply--adds of the layers'
     matrices, of attention over all heads and layers, and of the head; stored bytes of
     weights read; bytes of cache read and written */
#endif

@* Settings and weights. \label{sec:modelsettings}
Before anything can be run there must be a model. In memory it is two structures: the \emph{settings}, a page of numbers and switches that say how large the model is and which
of the operations above it uses, and the \emph{weights}, the matrices and lists that training has found. Both come in files, in which every maker of models has his own names
for the same things; how those files are read, checked and refused is the subject of \cref{families}. The pass needs only what the reading fills in.
@^settings@>@^configuration@>@^weights@>

@(model.h@>=
#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "model/rope.h"
#include "model/kernel.h"
@<What the model's maker suggests for sampling@>@;
@<The settings of a model@>@;
@<One layer@>@;
@<The whole model@>@;
#endif

@ The sizes have the names that the book uses for them everywhere, and are listed under their symbols at the beginning. The switches are what tells GPT-2 from Llama and its kin:
LayerNorm or RMSNorm, a learned row for each position or rotations, a gate in the MLP or none, a bias here and there. The
pass asks these switches and never for the name of a family. \emph{Tied} means that embedding and head are one matrix. Which layers have a window is kept in a bit for each, and only if the file lists them;
otherwise it is all layers from |window_from| on.
@^tied weights@>@^window@>

@<The settings of a model@>=
enum { CONFIG_MAX_EOS = 16, CONFIG_MAX_LISTED = 1024 };
  /* the most end tokens that settings may name, and the most layers whose windows may be listed */
struct ignored_field { const char *file, *field, *reason; };
  /* a setting that changes nothing, and why we think so */
struct model_config {
  const char *family; /* \.{"gpt2"}, \.{"llama"}, \dots: its |model_type| */
  uint32_t vocab_size, n_positions; /* tokens; the longest text */
  uint32_t d_model, d_inner, n_layers; /* numbers in a row; in the MLP's longer list */
  uint32_t n_heads, n_kv_heads, head_dim; /* of queries; of keys and values; numbers in each */
  uint32_t window; /* positions that a row sees, itself included; 0: all */
  uint32_t window_from; /* the first layer that has it */
  uint32_t sinks; /* first positions that a row with a window sees besides */
  bool window_used, window_listed;
  uint8_t windowed[CONFIG_MAX_LISTED / 8]; /* if listed, a bit for each layer */
  double norm_eps;
  bool layer_norm, learned_positions, gated; /* else RMSNorm, rotations, plain MLP */
  enum activation_kind activation;
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  bool scaled, scaled_by_layer; /* scores: by $1/\sqrt{d_h}$, and by $1/{}$the layer's number */
  struct rope_config rope;
  uint32_t n_eos, eos[CONFIG_MAX_EOS]; /* the ids that end a text */
  bool has_bos;
  uint32_t bos; /* the id that begins one */
  const char *eos_from; /* the file that gave the end tokens; null: none did */
  struct sampling_defaults sampling;
  struct ignored_field *ignored;
  size_t n_ignored, ignored_cap;
};
  /* the settings of a model; positions, widths and counts are numbers of elements */

@ Two questions are asked of the settings again and again, so they have functions: how far back a layer sees, and whether it can be made to see less.

@<The settings of a model@>=
uint32_t config_window(const struct model_config *c, uint32_t layer);
  /* positions that a row sees in |layer|, itself included; 0: all */
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why);
  /* makes all layers see the last |window| positions, 0: all, and the first |sinks|;
     errors: sinks without a window, or in a model with learned positions (Xiao and
     others 2023) */

@ The maker of a model may leave advice on how to choose tokens. The advice is kept with the settings, and
chapter 7 will follow it; in this chapter only the end tokens matter, which come with it.

@<What the model's maker suggests for sampling@>=
struct sampling_defaults {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
}; /* what is not given has the value that does nothing */

@ Now the weights. A |tensor| is a pointer to numbers and the type that they have in the file; a |matrix| is a tensor of |out| times |in| of them, perhaps with a bias; a
|norm| is the gain of a norm, its kind, its bias and its $\varepsilon$. All three are declared with the kernels that work on them (\cref{sec:kernels}). None has memory of its own: the numbers stay where
they lie, in the mapped file.
@^tensor@>@^matrix@>

A layer has two halves, each with a norm before it. The first projects to queries, keys
and values and, after attention, back; the second goes up to a wider space and down
again. GPT-2 stores the three projections as one matrix; the later families have a
second matrix on the way up, the gate. One structure serves both, with a count of how many of its matrices there are; what a family does not have is left at zero and never asked for.
The shapes are written as C would declare them, inputs last.
@^layer@>

@<One layer@>=
struct model_layer {
  struct norm attn_norm, mlp_norm; /* |[d_model]| each */
  struct norm q_norm, k_norm; /* |[head_dim]| each, if |qk_norm| */
  struct matrix qkv[3]; /* |[n_heads*head_dim][d_model]|, then twice
    |[n_kv_heads*head_dim][d_model]|; if fused, one of |[3*d_model][d_model]| */
  struct matrix out; /* |[d_model][n_heads*head_dim]| */
  struct matrix up[2], down; /* |[d_inner][d_model]| each; |[d_model][d_inner]| */
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate, which is |up[0]| */
};
  /* the weights of one layer, in the order of their use */

@ The whole model adds what comes before the first layer and after the last: the embedding, the positions if they are learned, the last norm and the head. The frequencies of the
rotations are computed once, when a model is opened. The last three
numbers are what a pass costs and reads, for the counters. A model does not change between its opening and its closing, which is why threads may read it without a lock.

@<The whole model@>=
struct tensor_file;
struct model {
  struct model_config config;
  struct tensor_file *weights; /* the files, mapped */
  struct tensor embedding, positions; /* |[vocab_size][d_model]|, |[n_positions][d_model]| */
  struct model_layer *layers; /* |[n_layers]| */
  struct norm final_norm; /* |[d_model]|, before the head */
  struct matrix head; /* |[vocab_size][d_model]|, the embedding itself if tied */
  struct attention_dims attention; /* how many, how wide, and what scores are
    multiplied by */
  float *frequency; /* |[head_dim/2]|, or null with learned positions */
  struct arena copies; /* of tensors whose rows the file has in another order */
  uint64_t layer_madds, layer_bytes, head_bytes;
  uint32_t matrix_types; /* bit |1 << type| for each type of its matrices */
};
  /* a model: its settings and its weights, which belong to the files */

@ How files become a model is told in the workshop. What we may rely on here is what three of its headers promise: that settings are read and checked, that a model is opened
or refused with a sentence, and that the tensors of its files are mapped and named. The names themselves differ from one kind of file to the next, and are in a table.

\printedheader{families/config.h}
\printedheader{families/layout.h}
\printedheader{families/loader.h}
\printedheader{safetensors/tensor_file.h}

@ The window of a layer is asked for by the store, layer by layer.

@<Ask for the window of a layer@>=
uint32_t config_window(const struct model_config *c, uint32_t layer)
{
  bool near = c->window_listed
    ? c->windowed[layer / 8] >> layer % 8 & 1 : layer >= c->window_from;
  return near ? c->window : 0;
}

@ If memory is short you can ask for a window in all layers, in a model that was made without one. The model itself is not changed by that, since others may be reading it: the window belongs to the store in which a text is kept, and the store sets it in a copy of the settings (\cref{sec:pages}). Chapter 6 measures how much is lost by it, and how much of that a few \emph{sinks} save, first positions that stay visible for ever. With sinks a text goes on for as long as anybody likes, and positions are what they are: nothing is renumbered. A table of learned positions ends where it ends, so a model that has one gets none.
@^attention sink@>

@<Ask for the window of a layer@>=
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why)
{
  if (sinks > 0 && window == 0)
    return error_say(why, "%u sinks without a window; wanted: a window, or no"@|
      " sinks", sinks);
  if (sinks > 0 && c->learned_positions)
    return error_say(why, "%u sinks for a model whose positions are learned;"@|
      " wanted: none, or a model that turns its keys", sinks);
  c->window = window, c->sinks = sinks;
  c->window_from = 0, c->window_listed = false;
  return true;
}

@ That is all of the file; to open a model is another matter.

@(model.c@>=
#include "model/model.h"
@;@#
@<Ask for the window of a layer@>@;

@* The key--value store. \label{sec:rows}
A \emph{row} is a token at a position of a sequence. It is the unit in which this book counts work. The naive
loop of the next chapter, the cache, beams, drafts and batches differ only in which rows go through a pass, and in what is kept of them.
@^row@>@^store@>

What is kept are keys and values. A row's query is compared with the keys of all positions up to its own, so in every layer the keys and values of the rows
before must be somewhere. We call that place the \emph{store}. In this chapter it is an array that holds one text. In \cref{cache} it becomes the KV cache, which holds many texts, each a \emph{sequence} with a number of its own, and shares memory among them. The forward pass works with both and cannot tell which it has.
@^sequence@>@^KV cache@>

@(store.h@>=
#ifndef INCIPIT_STORE_H
#define INCIPIT_STORE_H
#include "model/model.h"
struct row {@+ uint32_t sequence, position, token;@+ };
  /* a token at a position (from 0) of a sequence (from 0) */
@<The functions of a kind of store@>@;
@<What all stores have in common@>@;
@<The store as a pass uses it@>@;
@<The store between passes@>@;
@<A store that is an array@>@;
#endif

@ Four rules hold for every store. The positions of a sequence grow from pass to pass without a gap. A pass is accepted whole or refused whole. In every layer the keys and values of all rows are stored before any row of that layer attends. And until the pass has ended, none of its rows counts: a pass that fails in the middle leaves nothing behind.

A store is a state and a table of functions, one for each thing that kinds of store do differently. Most of what a pass asks is answered by a |struct kv_view| (\cref{sec:kernels}): the view says where the keys and values of a sequence are and how far it is from row to row, so no function is called for a single key.

@<The functions of a kind of store@>=
struct store;
struct store_kind {
  bool (*begin)(struct store *s, struct error *why);
    /* finds a place for each of |rows|, or refuses; sets |rows_recomputed| */
  void (*end)(struct store *s, bool commit);
    /* the rows belong to the store from now on, or have never been */
  void (*view)(const struct store *s, uint32_t layer, uint32_t sequence,
    struct kv_view *v);
    /* as |store_view|, without the sinks */
  size_t (*length)(const struct store *s, uint32_t sequence);
  const uint32_t *(*tokens)(const struct store *s, uint32_t sequence);
  void (*crop)(struct store *s, uint32_t sequence, size_t length);
  bool (*fork)(struct store *s, uint32_t from, uint32_t to, struct error *why);
    /* as the functions |store_length|, \dots, |store_fork|; |fork| may be null */
  void (*close)(struct store *s);
    /* frees the store itself and what its kind has allocated */
};
  /* what kinds of store do differently */

@ All stores have a few numbers in common, copied from the model's settings, and the rows of the pass that is going on. A layer's |window| says how many positions a row sees there; a model may be told to keep the first few positions visible as well, the |sinks| of \cref{sec:sinks}. Two numbers are for the counters, because only the store knows them.

@<What all stores have in common@>=
struct store {
  const struct store_kind *kind;
  struct memory *m; /* where passes through this store take their memory */
  const struct buffers *memory; /* where its keys and values are; |store_prepare|: the host's */
  kv_encode *encode; /* writes them in the type in which they are kept; |store_prepare|: float32 */
  uint32_t n_sequences, n_positions; /* the most it holds */
  uint32_t n_layers, n_kv_heads, head_dim; /* of the model */
  uint32_t sinks, *window; /* first positions that are always seen; |[n_layers]|, how
    many a row sees in each layer, 0: all */
  size_t row_bytes; /* keys and values of one row in one layer, as stored */
  const struct row *rows; size_t n_rows; /* of the present pass; 0 between passes */
  size_t rows_visible, rows_recomputed;
};
  /* |rows_visible|: rows of the store that some
     row of the present pass sees in the layer last given to |store_segments|;
     |rows_recomputed|: rows of the pass that an earlier pass had computed, with the same
     tokens up to there, set by |store_begin| */

@ A pass begins, asks layer by layer for the \emph{segments} of its rows, and ends in one of two ways. A segment is a run of consecutive rows of one sequence. They share a view, in which each of them sees one position more than the row before; and since their own keys are stored there too, the same view says where to write.
@^segment@>

@<The store as a pass uses it@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why);
  /* accepts a pass of |n| rows or refuses it: a sequence or position out of
     range, a gap, a position given twice or stored already; |rows| must live
     until the end of the pass */
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list);
  /* the segments of the pass in |layer|, each of at most |most| $\ge1$ rows; returns how many,
     which is at most the number of rows */
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v);
  /* where the keys and values of a sequence are in |layer|, those of the present pass among them */
void store_commit(struct store *s);
  /* ends the pass: its rows belong to the store */
void store_abort(struct store *s);
  /* ends the pass as if it had not been */

@ Between passes a sequence can be measured, cut short, and in some stores copied. To \emph{crop} a sequence is to keep its first rows only; the naive loop crops to nothing before every step.
@^cropping@>

@<The store between passes@>=
size_t store_length(const struct store *s, uint32_t sequence);
  /* the rows that |sequence| has: the position that comes next */
const uint32_t *store_tokens(const struct store *s, uint32_t sequence);
  /* |[store_length]|: their tokens; owned by the store, valid until its next pass */
void store_crop(struct store *s, uint32_t sequence, size_t length);
  /* forgets the rows of |sequence| from position |length| on, but not which tokens
     have been computed; does nothing if there are none. A store that has let go of rows
     which those that stay can see forgets all */
void store_clear(struct store *s);
  /* crops all sequences to nothing */
size_t store_window_start(const struct store *s, uint32_t layer, size_t position);
  /* the first position that a row at |position| sees in |layer|, sinks aside */
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why);
  /* makes the empty sequence |to| equal to |from|, without computing anything;
     errors: a kind of store that cannot, |to| has rows, a number out of range, a pass
     going on, memory; then |to| is empty */
void store_close(struct store *s);
  /* returns the memory; does nothing for null */

@ What can be refused without knowing the kind of store is refused here, so no kind has to ask. The sequences are checked first, because everything else uses them as an index.

@<Begin and end a pass of a store@>=
bool store_begin(struct store *s, const struct row *rows, size_t n,
  struct error *why)
{
  if (n == 0 || s->n_rows > 0)
    return error_say(why, n == 0 ? "the pass has no rows; wanted: 1 or more"
      : "the store is in a pass; wanted: its end");
  for (size_t i = 0; i < n; i++)
    if (rows[i].sequence >= s->n_sequences)
      return error_say(why, "row %zu is of sequence %" PRIu32 "; wanted:"@|
        " below %" PRIu32, i, rows[i].sequence, s->n_sequences);
  s->rows = rows, s->n_rows = n;
  if (s->kind->begin(s, why)) return true;
  s->n_rows = 0;
  return false;
}
static void store_end(struct store *s, bool commit)
{
  s->kind->end(s, commit);
  s->n_rows = 0;
}
void store_commit(struct store *s)@+ {@+ store_end(s, true);@+ }
void store_abort(struct store *s)@+ {@+ store_end(s, false);@+ }

@ Without a window a row sees from position 0 on; with one, the last |window| positions, its own among them. Positions outside the window are left out of the sum, not multiplied by zero.

@<Show a pass what its rows see@>=
size_t store_window_start(const struct store *s, uint32_t layer, size_t position)
{
  size_t window = s->window[layer];
  bool windowed = window > 0 && position >= window;
  return windowed ? position - window + 1 : 0;
}
void store_view(const struct store *s, uint32_t layer, uint32_t sequence,
  struct kv_view *v)
{
  s->kind->view(s, layer, sequence, v);
  v->sinks = s->sinks;
}

@ How many rows of the store does a pass look at, if each counts once however many rows look at it? Every row of the pass sees itself. The first new row of a sequence also sees the rows that were stored before, from the start of its window on, and the sinks; the rows after it see nothing that has not been counted.

@<Show a pass what its rows see@>=
static void count_visible(struct store *s, uint32_t layer)
{
  s->rows_visible = s->n_rows;
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct row *r = &s->rows[i];
    size_t start = store_window_start(s, layer, r->position);
    if (r->position == store_length(s, r->sequence))
      s->rows_visible += r->position - start + (s->sinks < start ? s->sinks : start);
  }
}

@ The segments are found by going through the rows in the order in which they came. A row belongs to the segment of the row before it if it has the same sequence and the next position. Rows that come
in another order make shorter segments and give the same result.

@<Show a pass what its rows see@>=
static bool continues(const struct segment *l, const struct row *before, const struct row *r)
{
  return r->sequence == before->sequence
    && r->position == l->first_position + l->n_rows;
}
size_t store_segments(struct store *s, uint32_t layer, size_t most,
  struct segment *list)
{
  const struct row *r = s->rows;
  size_t n = 0;
  count_visible(s, layer);
  for (size_t i = 0; i < s->n_rows; i++) {
    if (n > 0 && list[n - 1].n_rows < most
        && continues(&list[n - 1], &r[i - 1], &r[i])) {
      list[n - 1].n_rows++;
      continue;
    }
    struct segment *l = &list[n++];
    *l = (struct segment) @[{ .first_row = (uint32_t) i, .n_rows = 1,@|
      .first_position = r[i].position, .window = s->window[layer] }@];
    store_view(s, layer, r[i].sequence, &l->view);
  }
  return n;
}

@ The other functions pass the call on. A fork is refused where it makes no sense in any store.

@<Pass the call on to the kind of store@>=
size_t store_length(const struct store *s, uint32_t sequence)
{@+ return s->kind->length(s, sequence);@+ }
const uint32_t *store_tokens(const struct store *s, uint32_t sequence)
{@+ return s->kind->tokens(s, sequence);@+ }
void store_crop(struct store *s, uint32_t sequence, size_t length)
{@+ s->kind->crop(s, sequence, length);@+ }
void store_clear(struct store *s)
{
  for (uint32_t i = 0; i < s->n_sequences; i++) store_crop(s, i, 0);
}
bool store_fork(struct store *s, uint32_t from, uint32_t to, struct error *why)
{
  if (s->kind->fork == NULL)
    return error_say(why, "this store cannot fork; wanted: a cache");
  uint32_t larger = from > to ? from : to;
  if (larger >= s->n_sequences)
    return error_say(why, "there is no sequence %" PRIu32 "; wanted: below %"
      PRIu32, larger, s->n_sequences);
  size_t length = store_length(s, to);
  if (s->n_rows > 0 || length > 0)
    return error_say(why, s->n_rows > 0 ? "the store is in a pass; wanted:"
      " its end" : "sequence %" PRIu32 " has %zu rows; wanted: none", to, length);
  return s->kind->fork(s, from, to, why);
}

@ Opening a store of any kind begins with the numbers that it needs of the settings, and closing it ends with the windows. The settings themselves are not kept, because they contain lists that belong to the model. |row_bytes| counts a key and a value in float32; a store of smaller numbers says less.

@<Prepare and close a store@>=
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why)
{
  *s = (struct store) @[{ .kind = kind, .m = m, .sinks = c->sinks,@|
    .memory = &buffers_host, .encode = kv_encode_f32,@|
    .n_sequences = n_sequences, .n_positions = c->n_positions,@|
    .n_layers = c->n_layers, .n_kv_heads = c->n_kv_heads,@|
    .head_dim = c->head_dim,@|
    .row_bytes = 2 * sizeof(float) * c->n_kv_heads * c->head_dim }@];
  s->window = memory_alloc(m, MEMORY_OTHER, c->n_layers, sizeof *s->window, why);
  for (uint32_t i = 0; s->window != NULL && i < c->n_layers; i++)
    s->window[i] = config_window(c, i);
  return s->window != NULL;
}
void store_close(struct store *s)
{
  if (s == NULL)@+ return;
  memory_free(s->m, s->window);
  s->kind->close(s);
}

@ Now the store of this chapter. It holds one text of at most |n_positions| tokens, and the memory for all of them is allocated when it is opened: in each layer an array of keys and an array of values, where position |t| is the |t|-th vector.

Besides the keys and values it remembers tokens, even those of rows that have been cropped, because \cref{loop} asks how many rows of a pass had been computed before. So |length| says how many rows count and |computed| how many tokens are remembered, and neither bounds the other: cropping to nothing sets the first to 0 and leaves the second.

@<A store that is an array@>=
bool store_prepare(struct store *s, const struct store_kind *kind,
  struct memory *m, const struct model_config *c, uint32_t n_sequences,
  struct error *why);
  /* fills in the part that all kinds of store have in common */
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why);
  /* an empty store for one text of a model, in float32; null
     if memory is refused. Owned by the caller, and closed by |store_close| */

@ @<The array store@>=
struct array_store {
  struct store common; /* must come first: a |struct store *| points here */
  size_t width; /* of a key: |n_kv_heads * head_dim| */
  float *data; /* |[n_layers][2][n_positions][width]| */
  size_t length, computed; /* rows that count; tokens that are remembered */
  uint32_t *token; /* |[n_positions]| */
};
static void array_view(const struct store *common, uint32_t layer,
  uint32_t sequence, struct kv_view *v)
{
  const struct array_store *s = (const struct array_store *) common;
  size_t part = common->n_positions * s->width;
  const float *keys = s->data + 2 * layer * part;
  (void) sequence; /* there is only one */
  *v = (struct kv_view) @[{ .key = (uintptr_t) keys,@|
    .value = (uintptr_t) (keys + part),@|
    .row_bytes = (uint32_t) (s->width * sizeof(float)),@|
    .head_bytes = common->head_dim * sizeof(float),@|
    .type = WEIGHT_F32 }@];
}

@ A row was computed before if an earlier pass had the same token at its position and at
all positions before it, since keys and values are a function of those. The first token
that differs makes everything after it new, even where the tokens agree again: \tok{\ sat} after \tok{the}\tok{\ cat} and \tok{\ sat} after
\tok{the}\tok{.}\ are different rows. So the comparison stops at the first difference.

@<The array store@>=
static size_t array_known(const struct array_store *s)
{
  const struct store *common = &s->common;
  size_t k = 0;
  while (k < common->n_rows && s->length + k < s->computed
      && s->token[s->length + k] == common->rows[k].token)
    k++;
  return k;
}

@ The rows of a pass must continue the text, one after the other. If the pass succeeds, their tokens are remembered, and tokens beyond a new one are forgotten: they belonged to another text.

@<The array store@>=
static bool array_begin(struct store *common, struct error *why)
{
  const struct array_store *s = (const struct array_store *) common;
  for (size_t i = 0; i < common->n_rows; i++) {
    size_t position = common->rows[i].position, next = s->length + i;
    if (position != next)
      return error_say(why, "row %zu is at position %zu; wanted: position %zu",
        i, position, next);
    if (next >= common->n_positions)
      return error_say(why, "position %zu is beyond the context; wanted: below %"@|
        PRIu32, position, common->n_positions);
  }
  common->rows_recomputed = array_known(s);
  return true;
}
static void array_end(struct store *common, bool commit)
{
  struct array_store *s = (struct array_store *) common;
  if (!commit) return;
  size_t old = array_known(s), n = common->n_rows;
  for (size_t k = old; k < n; k++)
    s->token[s->length + k] = common->rows[k].token;
  s->length += n;
  if (old < n) s->computed = s->length;
}

@ To crop is to say that rows do not count. Their keys and values will be written over before they are read, and the tokens stay for |array_known|.

@<The array store@>=
static size_t array_length(const struct store *common, uint32_t sequence)
{
  (void) sequence;
  return ((const struct array_store *) common)->length;
}
static const uint32_t *array_tokens(const struct store *common, uint32_t sequence)
{
  (void) sequence;
  return ((const struct array_store *) common)->token;
}
static void array_crop(struct store *common, uint32_t sequence, size_t length)
{
  struct array_store *s = (struct array_store *) common;
  (void) sequence;
  if (length < s->length) s->length = length;
}

@ Opening allocates two arrays, and closing frees them. The table leaves |fork| out: with one text there is nothing to copy to.

@<The array store@>=
static void array_close(struct store *common)
{
  struct array_store *s = (struct array_store *) common;
  struct memory *m = common->m;
  memory_free(m, s->data);
  memory_free(m, s->token);
  memory_free(m, s);
}
struct store *array_store_open(struct memory *m, const struct model_config *c,
  struct error *why)
{
  static const struct store_kind kind = @[{@|
    .begin = array_begin, .end = array_end, .view = array_view,@|
    .length = array_length, .tokens = array_tokens, .crop = array_crop,@|
    .close = array_close }@];
  struct array_store *s = memory_alloc(m, MEMORY_OTHER, 1, sizeof *s, why);
  if (s == NULL)@+ return NULL;
  s->width = (size_t) c->n_kv_heads * c->head_dim;
  bool ok = store_prepare(&s->common, &kind, m, c, 1, why);
  size_t n = c->n_positions, parts = (size_t) 2 * c->n_layers;
  if (ok) s->token = memory_alloc(m, MEMORY_TOKENS, n, sizeof *s->token, why);
  if (s->token != NULL)
    s->data = memory_alloc(m, MEMORY_CACHE, n, parts * s->width * sizeof(float), why);
  if (s->data != NULL)@+ return &s->common;
  store_close(&s->common);
  return NULL;
}

@ The file has what is common to all stores first.

@(store.c@>=
#include <inttypes.h>
#include "model/store.h"
@;@#
@<Begin and end a pass of a store@>@;
@<Show a pass what its rows see@>@;
@<Pass the call on to the kind of store@>@;
@<Prepare and close a store@>@;
@<The array store@>@;
@* The forward pass. \label{sec:forward}
Now the model is run. The function that does it takes any list of rows, puts all of them
through all layers, and leaves a \emph{hidden state} for each: the |d_model| numbers from
which the head can make logits. It makes no logits itself, since a step of generation
wants them for one row only, and the head is, in a small model, the largest matrix
of all.
@^pass@>@^hidden state@>

@(forward.h@>=
#ifndef INCIPIT_FORWARD_H
#define INCIPIT_FORWARD_H
#include "model/counters.h"
#include "model/store.h"
@<What a pass leaves behind@>@;
@<A watcher@>@;
@<From rows to hidden states@>@;
@<From hidden states to logits and probabilities@>@;
#endif

@ A pass is alive until it is closed, and takes its memory from the store's. Its hidden
states are those after the last layer, before the last norm: the norm belongs to the head, and is done for the rows that the head is
asked about.

@<What a pass leaves behind@>=
struct pass {
  struct memory *m;@+ const struct buffers *memory;
  size_t n;@+ uint32_t d_model;
  bool head_read; /* the head's weights have been counted for this pass */
  float *hidden; /* |[n][d_model]|, in the order of the rows, in |memory| */
  uint32_t *first_bad_layer; /* |[n]|: the layer, from 1, after which a row first held a
    number that is not finite, 0 if its embedding did, |PASS_FINITE| if none */
};
  /* the hidden states of |n| rows after the last layer */
enum {@+ PASS_FINITE = 0x7fffffff@+ };
  /* no layer: every number of the row is finite */

@ Some chapters want to look into a pass: to draw attention, to print the numbers of a
hand calculation, to see whether a later token has changed an earlier row. A
\emph{watcher} is called at every stage of every layer with the numbers as they are. What
it writes there is what the pass goes on with; that is how chapter 3 leaves out
one query and looks what happens.
@^watcher@>

@<A watcher@>=
enum tap_point { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_KEY, TAP_VALUE,
  TAP_WEIGHTS, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER,
  TAP_MLP, TAP_LAYER };
  /* |[n][d_model]| but for: queries and mixed values |[n][n_heads][head_dim]|, keys
     and values |[n][n_kv_heads][head_dim]|, after rotation; attention weights
     |[n][n_heads][max_seen]|; inner |[n][d_inner]|. |TAP_ATTENTION| and |TAP_MLP| are
     what is added to the residual stream, |TAP_LAYER| is the stream after it */
typedef void tap_fn(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width);
  /* |x| is |[rows][width]|, belongs to the pass, and may be changed */
struct watcher {@+ tap_fn *tap;@+ void *ctx;@+ bool weights;@+ };
  /* |weights|: attention weights are wanted, too */

@ The functions of the chapter take the engine first: the kernels in use, the
pool of workers, and the counters. Then come the model, which none of them changes, and the store, which is all of a text that stays from one pass
to the next.

@<From rows to hidden states@>=
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why);
  /* puts |n| rows through all layers and commits them to the store; |*made| is owned
     by the caller. On failure nothing has been stored and there is no pass. It is a failure, too, if
     |e->progress|, which is asked between the layers and at least every 64 rows, gives the pass up */
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why);
  /* the same, with a watcher; a null |watch| is none */
void pass_close(struct pass *p);
  /* returns the memory of a pass; null is nothing */
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why);
  /* true if the hidden state of row |i| is finite; else a sentence that names the layer */

@ From a hidden state to an answer it is two steps more, and whoever wants only one of them can have that one:
logits of some rows, or the log-probability of a whole text. A row that nobody asks for costs no product with the vocabulary.

@<From hidden states to logits and probabilities@>=
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why);
  /* logits |[n][vocab_size]| of the rows |which[0]|\dots, in that order, each
     below |p->n|; a row may be named twice */
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why);
  /* the naive way: empties the store, runs |n| ids through one pass as sequence 0,
     and gives the logits |[wanted][vocab_size]| of the positions |which| */
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why);
  /* natural logarithms of the probability of each id after those before it,
     |logprob[i]| for |i| from 1 on; |logprob[0]| is 0, and stands for nothing; |*sum|
     adds them in order. A logit that is not finite is an error */

@ A pass needs a dozen arrays, all of them allocated before the first layer and
taken back after the last, so that nothing can be refused in the middle of the work. They come from an \emph{arena} (\cref{sec:memory}). If the engine has workers, their pool keeps
one (\cref{sec:pool}), and the next pass finds the same blocks there. A pass of a small model is over so soon that allocating, zeroing and freeing a
dozen blocks would be noticed. Without workers the arena lasts for this pass, and one call
frees it all.
@^arena@>

These are the arrays. Widths in numbers: a query has |n_heads*head_dim|, a key or a value
|n_kv_heads*head_dim|. No array has a dimension for the layer: each layer writes over what the one before has left, and only the stream |x| goes
through.

@<The arrays of a pass@>=
enum {@+ N_ARRAYS = 11, N_LENT = 4@+ };
struct pass_array {@+ float **at;@+ size_t width;@+ }; /* where its address goes; numbers a row */
struct work {
  struct engine *e;@+ struct store *s;@+ struct pass *p;
  const struct model *lm;@+ const struct watcher *watch;
  const struct buffers *memory;@+ struct arena *d;
  size_t n, q_width, kv_width, max_seen;
  struct float_modes modes; /* the caller's */
  float *x; /* the residual stream, |p->hidden| */
  float *normed, *fused, *q, *k, *v, *mixed, *added, *inner, *up; /* |[n][...]| */
  float *cosine, *sine; /* |[n][head_dim/2]| */
  float *scratch, *weights; /* for attention */
  uint32_t *first_bad; /* |[n]|, as |p->first_bad_layer|, in |memory| */
  void *lent[N_LENT];@+ int n_lent; /* what is not from the arena */
  float *shown; /* the host's copy of an array for the watcher */
  uint32_t *id, *position;
  struct segment *seen;@+ size_t n_seen; /* at most |n| */
  size_t done; /* how far the pass is, for |progress|: of |n| rows, in proportion to the layers done */
  bool goes_on; /* the pass has not been given up */
};

@ The sizes come from the settings, which the shapes of the weights have confirmed; a
product with the number of rows is checked by |memory_alloc|. An array that a kind of model does not use has no numbers, which saves a test.

The arrays that have a line for each row of the pass are neighbours in one block, |rows|. This block is proportional to the number of rows and does not depend on how long the text is.

@<Allocate the arrays of a pass@>=
static bool work_alloc(struct work *w, struct error *why)
{
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, half = c->head_dim / 2;
  w->q_width = (size_t) c->n_heads * c->head_dim;
  w->kv_width = (size_t) c->n_kv_heads * c->head_dim;
  bool fused = w->lm->layers[0].n_qkv == 1, gated = w->lm->layers[0].n_up == 2;
  struct pass_array part[N_ARRAYS] = @[{ { &w->normed, c->d_model },@|
    { &w->fused, fused ? 3 * w->q_width : 0 }, { &w->q, w->q_width },@|
    { &w->k, w->kv_width }, { &w->v, w->kv_width }, { &w->mixed, w->q_width },@|
    { &w->added, c->d_model }, { &w->inner, c->d_inner },@|
    { &w->up, gated ? c->d_inner : 0 }, { &w->cosine, half }, { &w->sine, half } }@];
  size_t width = 0;
  for (int i = 0; i < N_ARRAYS; i++) width += part[i].width;
  float *rows = work_array(w, n, width * sizeof *rows, why);
  for (int i = 0; i < N_ARRAYS && rows != NULL; i++) {
    *part[i].at = rows;
    rows += n * part[i].width;
  }
  @<Take what places and attention need@>@;
  return !w->d->refused && reserve_room(w, why);
}

@ The others go by positions. Attention needs scratch memory for each worker, since several heads are computed at the same time; and if somebody wants to see its
weights, an array that is as wide as the longest range: the one array here that grows with the square of a prompt.

@<Take what places and attention need@>=
  enum memory_class what = MEMORY_ACTIVATIONS;
  w->id = arena_alloc(w->d, what, n, sizeof *w->id, why);
  w->position = arena_alloc(w->d, what, n, sizeof *w->position, why);
  w->seen = arena_alloc(w->d, what, n, sizeof *w->seen, why);
  w->scratch = work_array(w, pool_workers(w->e->pool),
    kernels_scratch(&w->lm->attention, w->max_seen) * sizeof (float), why);
  bool weights = w->watch != NULL && w->watch->weights;
  size_t all = n * c->n_heads, wide = w->max_seen * sizeof (float);
  w->weights = weights ? work_array(w, all, wide, why) : NULL;
  @<Take what only a pass in other memory needs@>@;

@ The arrays that kernels fill are in the backend's memory (\cref{sec:kernels}). If that is the host's, they come from the arena, which may have kept them. Other memory is allocated by the backend
and released at the end of the pass; a backend that wants to keep it for the next one can do so itself.

@<Allocate an array in the memory of the backend@>=
static void *work_array(struct work *w, size_t count, size_t size, struct error *why)
{
  const struct buffers *b = w->memory;
  if (b->is_host)
    return arena_alloc(w->d, MEMORY_ACTIVATIONS, count, size, why);
  void *p = w->d->refused ? NULL
    : b->alloc(b, w->s->m, MEMORY_ACTIVATIONS, count, size, why);
  if (p == NULL)@+ w->d->refused = true;
  else w->lent[w->n_lent++] = p;
  return p;
}
static void work_release(struct work *w)
{
  while (w->n_lent > 0)
    w->memory->release(w->memory, w->s->m, w->lent[--w->n_lent]);
}

@ A pass in other memory needs two more arrays: the marks of rows that are not finite, which are copied to the host at the end, and, if there is a watcher, a place on the host for
what it is shown.

@<Take what only a pass in other memory needs@>=
  w->first_bad = w->p->first_bad_layer;
  if (!w->memory->is_host) {
    size_t shown[] = @[{ c->d_model, c->d_inner, w->q_width, w->kv_width,@|
      weights ? c->n_heads * w->max_seen : 0 }@], most = 0;
    for (int i = 0; i < 5; i++)
      if (shown[i] > most)@+ most = shown[i];
    w->first_bad = work_array(w, n, sizeof *w->first_bad, why);
    if (w->watch != NULL)
      w->shown = arena_alloc(w->d, what, n, most * sizeof (float), why);
  }

@ The kernels say how much workspace the linear layers of a model need (\cref{sec:room}). All layers have matrices of the same shapes, so it is enough to ask for the first.

@<Reserve a workspace for linear layers@>=
static bool reserve_room(const struct work *w, struct error *why)
{
  const struct kernels *k = w->e->k;
  const struct model_layer *l = &w->lm->layers[0];
  size_t n = w->n, most = k->room(l->qkv, l->n_qkv, n);
  size_t others[] = @[{ k->room(&l->out, 1, n), k->room(l->up, l->n_up, n),@|
    k->room(&l->down, 1, n) }@];
  for (int i = 0; i < 3; i++)
    if (others[i] > most) most = others[i];
  return pool_reserve(w->e->pool, most, why);
}

@ The embedding of an id is its row of the table. GPT-2 adds a second table's row, that of
the position; Llama turns queries and keys later, by angles that we compute here once
for all layers. Of the tables only the rows that were looked up are counted as read.

@<Turn ids into rows@>=
static void embed_rows(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  const struct kernels *k = w->e->k;
  size_t d = lm->config.d_model;
  for (size_t i = 0; i < w->n; i++)
    w->id[i] = rows[i].token, w->position[i] = rows[i].position;
  k->embed(w->e, lm->embedding, d, w->id, w->n, w->x);
  uint64_t bytes = weight_row_bytes(lm->embedding.type, d);
  if (lm->config.learned_positions) {
    k->embed(w->e, lm->positions, d, w->position, w->n, w->added);
    k->add(w->e, w->x, w->added, w->n * d);
    bytes += weight_row_bytes(lm->positions.type, d);
  }
  else k->angles(w->e, w->position, w->n, lm->frequency,
    lm->config.head_dim / 2, (float) rope_attention(&lm->config.rope),
    w->cosine, w->sine);
  w->e->c->weight_bytes_read += w->n * bytes;
  tap(w, TAP_EMBEDDING, 0, w->x, d);
}

@ Each step shows the watcher what it has made. Without a watcher this is one comparison, a dozen times a layer. The watcher is the caller's code, and
runs under the caller's floating-point modes; ours are set again after it. If the array is not in the host's memory, the watcher sees a copy, and what it changes there is copied back.

@<Show the watcher a stage@>=
static void tap(struct work *w, enum tap_point point, uint32_t layer, float *x,
  size_t width)
{
  const struct buffers *b = w->memory;
  size_t bytes = w->n * width * sizeof *x;
  if (w->watch == NULL)@+ return;
  if (!b->is_host)@+ b->get(b, w->shown, x, bytes);
  float_modes_end(&w->modes);
  w->watch->tap(w->watch->ctx, point, layer, b->is_host ? x : w->shown, w->n, width);
  float_modes_begin(&w->modes);
  if (!b->is_host)@+ b->set(b, x, w->shown, bytes);
}

@ Nearly all of the time of a pass is spent in products with matrices and in attention, and a person who presses Ctrl-C does not want to wait for all rows of a layer. So if the caller
wants to be asked whether to go on (\cref{sec:progress}), these two take some rows at a time and ask in between. Each row is computed from its own numbers, whichever rows
come with it, so the bits are the same. Otherwise all rows go at once.

How many at a time? A matrix is read again for each group of rows, so the groups should be large. But a group should take no more than some hundredths of a second, so of a large matrix it must not have many rows. We allow as many rows as
need |MADDS_AT_ONCE| multiply--adds, and in any case |ROWS_AT_ONCE|, with which reading the matrix takes a small part of the time.
@^cancellation@>

@<Multiply, some rows at a time@>=
enum { ROWS_AT_ONCE = 64, MADDS_AT_ONCE = 1000000000 };
static size_t rows_at_once(const struct work *w, const struct matrix *list,
  size_t n, size_t from)
{
  size_t left = w->n - from, most = 0;
  for (size_t i = 0; i < n; i++) most += list[i].in * list[i].out;
  most = MADDS_AT_ONCE / most;
  if (most < ROWS_AT_ONCE) most = ROWS_AT_ONCE;
  return w->e->progress == NULL || left < most ? left : most;
}

@ Attention is asked for fewer rows, as each of them looks at many positions.

@<Multiply, some rows at a time@>=
static size_t segments_at_once(const struct work *w, size_t from)
{
  size_t k = from, rows = 0;
  if (w->e->progress == NULL) return w->n_seen - from;
  while (k < w->n_seen && (rows += w->seen[k].n_rows) <= ROWS_AT_ONCE) k++;
  return k - from;
}
static void ask_to_go_on(struct work *w)
{
  w->goes_on = w->goes_on && progress_tell(w->e->progress, w->done, w->n);
}

@ A product of all rows is a loop over groups of them. |list| has at most three matrices, and each has results of its own, so for each the place moves on by as many rows.

@<Multiply, some rows at a time@>=
static void multiply(struct work *w, const struct matrix *list, size_t n,
  const float *x, float *const *y)
{
  for (size_t r = 0, here; r < w->n && w->goes_on; r += here) {
    float *part[3];
    here = rows_at_once(w, list, n, r);
    for (size_t i = 0; i < n; i++) part[i] = y[i] + r * list[i].out;
    w->e->k->linear(w->e, list, n, x + r * list->in, here, part);
    ask_to_go_on(w);
  }
}

@ Queries, keys and values are three products with the same normed rows. One call makes
all three, so that the rows are read once; where the file has them fused, one product is
cut into three.

@<Project to queries, keys and values@>=
static void project_qkv(struct work *w, const struct model_layer *l)
{
  if (l->n_qkv == 3) {
    multiply(w, l->qkv, 3, w->normed,@|
      (float *[]) @[{ w->q, w->k, w->v }@]);
    return;
  }
  multiply(w, l->qkv, 1, w->normed, (float *[]) @[{ w->fused }@]);
  w->e->k->split(w->e, w->fused, w->n, 3, w->q_width,
    (float *[]) @[{ w->q, w->k, w->v }@]);
}

@ Positions enter queries and keys here, if they have not entered with the embedding. The values are not turned: where a row stands shall
decide how much of it is taken over, and not what. The models called Qwen3 norm queries and keys before, head by head; a norm of |head_dim| numbers is the
same function as one of |d_model|.

@<Norm and turn queries and keys@>=
static void rotate_qk(struct work *w, const struct model_layer *l)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->head_dim;
  if (l->q_norm.gain.data != NULL) {
    k->normalize(w->e, &l->q_norm, w->q, n * c->n_heads, d, w->q);
    k->normalize(w->e, &l->k_norm, w->k, n * c->n_kv_heads, d, w->k);
  }
  if (c->learned_positions)@+ return;
  k->rotate(w->e, w->q, n, c->n_heads, d / 2, w->cosine, w->sine);
  k->rotate(w->e, w->k, n, c->n_kv_heads, d / 2, w->cosine, w->sine);
}

@ Attention. All keys and values of the layer are stored first, and only then does the
first row look: a row sees itself, and in a pass of many rows it sees the others of its
sequence in the same pass. That is why a prompt can go through in one pass at all: no row waits for another row's output, only for keys
and values of the same layer, which are made from what the layer below has left.

@<Let every row attend@>=
static void attend_rows(struct work *w, uint32_t i)
{
  struct counters *c = w->e->c;
  @<Store the layer's keys and values, and show the segments theirs@>@;
  struct attention_dims h = w->lm->attention;
  if (w->lm->config.scaled_by_layer) h.scale /= (float) (i + 1);
  struct attention_probe probe = @[{ w->weights, w->max_seen }@];
  bool weights = w->watch != NULL && w->watch->weights;
  @<Attend, some rows at a time@>@;
  @<Count what the layer's attention has cost@>@;
  if (weights)
    tap(w, TAP_WEIGHTS, i, w->weights,
      w->lm->config.n_heads * w->max_seen);
}

@ The keys and values of all rows are stored before the first row attends, so it does not matter which rows attend together. The segments are taken a few at a time if the caller wants to be asked, and then |store_segments| has made none longer than |ROWS_AT_ONCE|.

@<Attend, some rows at a time@>=
  for (size_t k = 0, here; k < w->n_seen && w->goes_on; k += here) {
    here = segments_at_once(w, k);
    w->e->k->attend(w->e, &h, w->q, w->seen + k, here, w->scratch, w->mixed,
      weights ? &probe : NULL);
    ask_to_go_on(w);
  }

@ Segments are asked for again in every layer, because each layer has its keys and values in another place. The ranges of their rows are the same in all layers,
and so is the number of pairs, unless some layers have a window and others have not.

@<Store the layer's keys and values, and show the segments theirs@>=
  w->n_seen = store_segments(w->s, i,
    w->e->progress == NULL ? w->n : ROWS_AT_ONCE, w->seen);
  w->e->k->write(w->e, &w->lm->attention, w->seen, w->n_seen, w->s->encode, w->k, w->v);
  uint64_t pairs = 0;
  for (size_t k = 0; k < w->n_seen; k++)
    for (uint32_t r = 0; r < w->seen[k].n_rows; r++) {
      struct kv_range see = segment_range(&w->seen[k], r);
      pairs += see.hi - see.lo + see.sinks;
    }

@ A pair costs |head_dim| multiply--adds for the product and as many for its share of the value, in each head: |2*q_width| in all. The cache is read
once for each row that somebody sees, not once a pair: the least that any machine has to read.

@<Count what the layer's attention has cost@>=
  if (i == 0)@+ c->qk_pairs += pairs;
  c->madds_attention += 2 * w->q_width * pairs;
  c->cache_bytes_written += w->n * w->s->row_bytes;
  c->cache_bytes_read += w->s->rows_visible * w->s->row_bytes;

@ The first half of a layer: norm, attention, and the way back into the \emph{residual stream}, as the rows on their way are called. What comes back is added
to what was there, and nothing ever overwrites it; so a layer that has nothing to say can leave a row as it is.
@^residual stream@>

@<Pass through attention@>=
static void attention_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  size_t d = w->lm->config.d_model;
  k->normalize(w->e, &l->attn_norm, w->x, w->n, d, w->normed);
  tap(w, TAP_NORM, i, w->normed, d);
  project_qkv(w, l);
  rotate_qk(w, l);
  tap(w, TAP_QUERY, i, w->q, w->q_width);
  tap(w, TAP_KEY, i, w->k, w->kv_width);
  tap(w, TAP_VALUE, i, w->v, w->kv_width);
  attend_rows(w, i);
  tap(w, TAP_MIXED, i, w->mixed, w->q_width);
  multiply(w, &l->out, 1, w->mixed, (float *[]) @[{ w->added }@]);
  tap(w, TAP_ATTENTION, i, w->added, d);
  k->add(w->e, w->x, w->added, w->n * d);
}

@ The second half: norm, up, the bend, down, and into the stream. With a gate, the bend is
applied to the gate, which then multiplies the other product. Here are most of a model's multiply--adds, and nothing in them knows of texts: no row
looks at another, and the store is not asked.

@<Pass through the MLP@>=
static void mlp_block(struct work *w, const struct model_layer *l, uint32_t i)
{
  const struct kernels *k = w->e->k;
  const struct model_config *c = &w->lm->config;
  size_t n = w->n, d = c->d_model;
  k->normalize(w->e, &l->mlp_norm, w->x, n, d, w->normed);
  tap(w, TAP_MLP_NORM, i, w->normed, d);
  multiply(w, l->up, l->n_up, w->normed,@|
    (float *[]) @[{ w->inner, w->up }@]);
  k->activate(w->e, c->activation, w->inner, c->gated ? w->up : NULL,
    n * c->d_inner, w->inner);
  tap(w, TAP_INNER, i, w->inner, c->d_inner);
  multiply(w, &l->down, 1, w->inner, (float *[]) @[{ w->added }@]);
  tap(w, TAP_MLP, i, w->added, d);
  k->add(w->e, w->x, w->added, n * d);
  tap(w, TAP_LAYER, i, w->x, d);
}

@ A weight that is not a number makes everything after it not a number, and the answer is
then an error and not a token. Where it began is cheap to find while the rows are at
hand, and cannot be found afterwards. So after the embedding and after each layer a kernel marks the rows that have just ceased to be finite.

@<Note the rows that are no longer finite@>=
static void note_nonfinite(struct work *w, uint32_t behind)
{
  w->e->k->mark_nonfinite(w->e, w->x, w->n, w->lm->config.d_model, behind, PASS_FINITE,
    w->first_bad);
}

@ So a pass is short: embed, and then for each layer its two halves. The layers' matrices are multiplied once a row and read once a pass. The last two counters say it: one
has |w->n| in it and the other has not, and much of what later chapters gain comes from that. A pass that is given up ends with its layer; what it has counted until then is taken back, as we shall see.

@<Put the rows through all layers@>=
static void work_run(struct work *w, const struct row *rows)
{
  const struct model *lm = w->lm;
  struct counters *c = w->e->c;
  w->goes_on = true;
  const struct buffers *b = w->memory;
  size_t marks = w->n * sizeof *w->first_bad;
  if (!b->is_host)@+ b->set(b, w->first_bad, w->p->first_bad_layer, marks);
  embed_rows(w, rows);
  note_nonfinite(w, 0);
  for (uint32_t i = 0; i < lm->config.n_layers && w->goes_on; i++) {
    w->done = w->n * i / lm->config.n_layers;
    attention_block(w, &lm->layers[i], i);
    mlp_block(w, &lm->layers[i], i);
    note_nonfinite(w, i + 1);
  }
  if (!b->is_host)@+ b->get(b, w->p->first_bad_layer, w->first_bad, marks);
  c->passes++, c->rows += w->n;
  c->kv_rows_computed += w->n, c->kv_rows_recomputed += w->s->rows_recomputed;
  c->madds_linear += w->n * lm->layer_madds;
  c->weight_bytes_read += lm->layer_bytes;
}

@ Before that, the rows are checked: ids against the vocabulary here, positions by the
store. An id is an index into a table of weights, and no earlier check knew the size of the table. The longest range that a row sees decides how much scratch memory attention
needs.

@<Check the ids, and find the longest view@>=
static bool rows_check(const struct model *lm, const struct row *rows, size_t n,
  size_t *max_len, struct error *why)
{
  *max_len = 1;
  for (size_t i = 0; i < n; i++) {
    if (rows[i].token >= lm->config.vocab_size)
      return error_say(why, "the token of row %zu is %" PRIu32 "; wanted:"@|
        " below %" PRIu32 ", the size of the vocabulary", i, rows[i].token,
        lm->config.vocab_size);
    if (rows[i].position >= *max_len) *max_len = (size_t) rows[i].position + 1;
  }
  return true;
}

@ Kernels can read keys and values only in their own memory. So a store has to be opened for the memory of the kernels that will use it.

@<Compare the memories of kernels and store@>=
static bool same_memory(const struct engine *e, const struct store *s,
  struct error *why)
{
  if (s->memory == e->k->memory)@+ return true;
  return error_say(why, "the store's keys and values are not in the memory of the"@|
    " kernels %s; wanted: a store that was opened for these kernels", e->k->name);
}

@ The store admits the rows, the arena is filled, the work is done, the arena is freed or reset. Everything that can fail comes before
the first multiplication. A build in which |a*b+c| is contracted against our orders is refused here, so that no pass is ever computed
with other bits than those of the definition (\cref{sec:kerneltables}). So is a table of kernels that cannot multiply the model's matrices: the model was checked for one table when it was opened, but the engine may have another. The floating-point modes are set here, once for the whole pass, and the caller's are put back at its end (\cref{sec:pool}).

@<Run a pass before a watcher@>=
bool model_forward_watched(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, const struct watcher *watch, struct pass **made,
  struct error *why)
{
  struct work w = @[{ .e = e, .lm = lm, .s = s, .watch = watch, .n = n,@|
    .memory = e->k->memory }@];
  struct arena own = @[{ .m = s->m }@], *kept = pool_arena(e->pool, s->m);
  *made = NULL;
  float_modes_begin(&w.modes);
  w.d = kept != NULL ? kept : &own;
  bool ok = kernels_self_test(e->k, why) && kernels_check_types(e->k,
      lm->matrix_types, tensor_file_path(lm->weights), why)
    && same_memory(e, s, why) && rows_check(lm, rows, n, &w.max_seen, why)
    && store_begin(s, rows, n, why);
  if (ok) {
    w.p = pass_open(s->m, w.memory, n, lm->config.d_model, why);
    ok = w.p != NULL && work_alloc(&w, why);
    @<Do the work, or let it not have been@>@;
    work_release(&w);
    arena_free(&own);
    if (kept != NULL)@+ arena_reset(kept);
  }
  float_modes_end(&w.modes);
  return ok;
}

@ The stream of the layers is the pass's own array of hidden states from the start, so that nothing has to be copied at the end. If the arena could
not be filled, the store is told that there was no pass. The same is done with a pass that was given up: the store forgets its rows, and the counters are set back to
what they were, because they count only rows that the caller has got.

@<Do the work, or let it not have been@>=
  if (ok) {
    struct counters before = *e->c;
    w.x = w.p->hidden;
    work_run(&w, rows);
    ok = w.goes_on || error_say(why,@|
      "the pass was given up after %zu of %zu rows", w.done, n);
    if (!ok) *e->c = before;
  }
  if (ok) {
    store_commit(s);
    *made = w.p;
  }
  else {
    store_abort(s);
    pass_close(w.p);
  }

@ Hardly anyone watches, so the function that everybody calls has no watcher.

@<Run a pass with nobody watching@>=
bool model_forward(struct engine *e, const struct model *lm, struct store *s,
  const struct row *rows, size_t n, struct pass **made, struct error *why)
{@+ return model_forward_watched(e, lm, s, rows, n, NULL, made, why);@+ }

@ The pass itself outlives the arena, because the caller decides later which of its rows shall have logits. It
holds the hidden states, and for each row the layer after which it was no longer finite. Of its three requests each may be refused; what has been granted
by then goes back through |pass_close|, which can do with halves.

@<Open and close a pass@>=
static struct pass *pass_open(struct memory *m, const struct buffers *b, size_t n,
  uint32_t d_model, struct error *why)
{
  struct pass *p = memory_alloc(m, MEMORY_ACTIVATIONS, 1, sizeof *p, why);
  if (p == NULL)@+ return NULL;
  *p = (struct pass) @[{ .m = m, .memory = b, .n = n, .d_model = d_model }@];
  p->hidden = b->alloc(b, m, MEMORY_ACTIVATIONS, n, d_model * sizeof(float), why);
  if (p->hidden != NULL)
    p->first_bad_layer = memory_alloc(m, MEMORY_ACTIVATIONS, n,
      sizeof *p->first_bad_layer, why);
  for (size_t i = 0; p->first_bad_layer != NULL && i < n; i++) p->first_bad_layer[i]
    = PASS_FINITE;
  if (p->first_bad_layer != NULL)@+ return p;
  pass_close(p);
  return NULL;
}

@ A pass knows its sizes, and the memory it came from; so it can be returned by whoever has it last, without store or model at hand.

@<Open and close a pass@>=
void pass_close(struct pass *p)
{
  if (p == NULL)@+ return;
  memory_free(p->m, p->first_bad_layer);
  p->memory->release(p->memory, p->m, p->hidden);
  memory_free(p->m, p);
}

@ Whoever must not go on with such a row asks before. The sentence names the file of the weights and the layer.

@<Say where a row stopped being finite@>=
bool pass_is_finite(const struct model *lm, const struct pass *p, size_t i,
  struct error *why)
{
  uint32_t at = p->first_bad_layer[i];
  if (at == PASS_FINITE)@+ return true;
  if (at == 0)
    return error_say(why, "%s: the embedding of row %zu is not finite;"@|
      " wanted: finite logits", tensor_file_path(lm->weights), i);
  return error_say(why, "%s: row %zu is not finite behind"@| " layer %" PRIu32
    " of %" PRIu32 "; wanted: finite logits", tensor_file_path(lm->weights), i, at,
    lm->config.n_layers);
}

@* Logits. \label{sec:head}
The head norms the rows that are wanted and multiplies each with one row of its matrix for
every id of the vocabulary. Each product is a \emph{logit}. In many models this matrix is the embedding's once more: what a token looks like
when it comes in is what is looked for when it should go out. The rows are gathered first, in the memory of the pass, so that one call of the kernel serves them all; the logits go to the host. The
multiply--adds are counted once a row, the bytes of the matrix once a pass, even if the head is asked again for every single row.
@^logit@>@^head@>@^tied weights@>

@<Make logits of the rows that are wanted@>=
bool model_logits(struct engine *e, const struct model *lm, struct pass *p,
  const size_t *which, size_t n, float *logits, struct error *why)
{
  size_t d = p->d_model, v = lm->config.vocab_size;
  const struct buffers *b = p->memory;
  for (size_t i = 0; i < n; i++)
    if (which[i] >= p->n)
      return error_say(why, "logits of row %zu; wanted: a row below %zu",
        which[i], p->n);
  if (n == 0)@+ return true;
  float *x = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, d * sizeof *x, why);
  float *y = b->is_host ? logits : NULL;
  if (x != NULL && !b->is_host)
    y = b->alloc(b, p->m, MEMORY_ACTIVATIONS, n, v * sizeof *y, why);
  bool ok = x != NULL && y != NULL;
  if (ok)@+ @<Norm the rows |which| and multiply them by the head@>@;
  if (!b->is_host)@+ b->release(b, p->m, y);
  b->release(b, p->m, x);
  if (!ok)@+ return false;
  e->c->madds_head += (uint64_t) n * d * lm->config.vocab_size;
  if (!p->head_read)@+ e->c->weight_bytes_read += lm->head_bytes;
  p->head_read = true;
  return true;
}

@ When the head is asked for logits, the pass is over and the caller's modes are back. So the head sets the standard modes for its own steps.

@<Norm the rows |which| and multiply them by the head@>=
{
  struct float_modes modes;
  float_modes_begin(&modes);
  e->k->gather(e, p->hidden, d, which, n, x);
  e->k->normalize(e, &lm->final_norm, x, n, d, x);
  e->k->linear(e, &lm->head, 1, x, n, &y);
  if (!b->is_host)@+ b->get(b, logits, y, n * v * sizeof *y);
  float_modes_end(&modes);
}

@ The naive way to evaluate a text, and for the next chapter the only one: everything from
the beginning, in one pass. The context is checked before anything is thrown away; a text that is too long leaves the store as it was.

@<Evaluate ids from an empty store@>=
static bool naive_pass(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, struct pass **p, struct error *why)
{
  *p = NULL;
  if (n > s->n_positions)
    return error_say(why, "the text has %zu tokens;"@| " wanted: at most %" PRIu32
      ", the model's context", n, s->n_positions);
  struct row *rows = memory_alloc(s->m, MEMORY_ACTIVATIONS, n, sizeof *rows, why);
  if (rows == NULL)@+ return false;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, ids[i] }@];
  store_clear(s);
  bool ok = model_forward(e, lm, s, rows, n, p, why);
  memory_free(s->m, rows);
  return ok;
}

@ The pass is closed as soon as its logits are out; hidden states are of no use to someone who begins from nothing each time.

@<Evaluate ids from an empty store@>=
bool model_evaluate(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, const size_t *which, size_t wanted,
  float *logits, struct error *why)
{
  struct pass *p;
  bool ok = naive_pass(e, lm, s, ids, n, &p, why)
    && model_logits(e, lm, p, which, wanted, logits, why);
  pass_close(p);
  return ok;
}

@ The probability of a text, given its first token, is the product of the probabilities of
the others, each given all before it; all of them come out of one pass, because row |i|
has seen exactly the tokens up to |i| and predicts the next. Logarithms are added, for
the reason that \cref{sec:chance} gives. A logit that is not finite has no logarithm worth adding.

@<Add up the log-probabilities of a text@>=
static bool one_logprob(struct engine *e, const struct model *lm, struct pass *p,
  size_t i, uint32_t next, float *logits, double *logprob, struct error *why)
{
  uint32_t vocab = lm->config.vocab_size;
  if (!pass_is_finite(lm, p, i, why) || !model_logits(e, lm, p, &i, 1, logits, why))
    return false;
  for (uint32_t v = 0; v < vocab; v++)
    if (!(logits[v] - logits[v] == 0))
      return error_say(why, "%s: the logit of token"@| " %" PRIu32
        " behind row %zu is not finite;"@| " wanted: a number",
        tensor_file_path(lm->weights), v, i);
  e->k->log_softmax(e, logits, 1, vocab, logprob);
  logprob[0] = logprob[next];
  return true;
}

@ The log-softmax needs an array for the whole vocabulary, and so do the logits; both are allocated
once. The head is asked for one row at a time: all logits of a long text would be many times its hidden states, and of each row one number is kept.

@<Evaluate a text and add up@>=
bool model_logprobs(struct engine *e, const struct model *lm, struct store *s,
  const uint32_t *ids, size_t n, double *logprob, double *sum, struct error *why)
{
  struct pass *p = NULL;
  size_t vocab = lm->config.vocab_size;
  struct arena d = @[{ .m = s->m }@];
  float *logits = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *logits, why);
  double *all = arena_alloc(&d, MEMORY_ACTIVATIONS, vocab, sizeof *all, why);
  bool ok = !d.refused && naive_pass(e, lm, s, ids, n, &p, why);
  *sum = 0;
  if (ok)@+ logprob[0] = 0;
  for (size_t i = 0; i + 1 < n && ok; i++) {
    ok = one_logprob(e, lm, p, i, ids[i + 1], logits, all, why);
    if (ok)@+ logprob[i + 1] = all[0], *sum += all[0];
  }
  pass_close(p);
  arena_free(&d);
  return ok;
}

@ The module, from the arrays to the log-probability. All of its functions but seven are private to it. First come the arrays and the steps of a layer; the watcher
stands before them, because each may call it.

@(forward.c@>=
#include <inttypes.h>
#include <string.h>
#include "model/forward.h"
#include "safetensors/tensor_file.h"
@;@#
@<The arrays of a pass@>@;
@<Allocate an array in the memory of the backend@>@;
@<Reserve a workspace for linear layers@>@;
@<Allocate the arrays of a pass@>@;
@<Show the watcher a stage@>@;
@<Turn ids into rows@>@;
@<Multiply, some rows at a time@>@;
@<Project to queries, keys and values@>@;
@<Norm and turn queries and keys@>@;
@<Let every row attend@>@;
@<Pass through attention@>@;
@<Pass through the MLP@>@;
@<Whole passes@>@;

@ And what happens around the layers: the checks, the life of a pass from admission to commitment, and the two
questions that are asked of its last rows.

@<Whole passes@>=
@<Note the rows that are no longer finite@>@;
@<Put the rows through all layers@>@;
@<Check the ids, and find the longest view@>@;
@<Open and close a pass@>@;
@<Compare the memories of kernels and store@>@;
@<Run a pass before a watcher@>@;
@<Run a pass with nobody watching@>@;
@<Say where a row stopped being finite@>@;
@<Make logits of the rows that are wanted@>@;
@<Evaluate ids from an empty store@>@;
@<Add up the log-probabilities of a text@>@;
@<Evaluate a text and add up@>@;

@* The probability of a text. \label{sec:chance}
A model gives the next token. How likely is a whole text? Nothing new is needed: for any numbers of tokens, by the definition of
conditional probability applied again and again,
\begin{equation}\label{eq:chain}
P(t_1t_2\ldots t_n)=P(t_1)\,P(t_2\mid t_1)\,P(t_3\mid t_1t_2)\cdots P(t_n\mid t_1\ldots t_{n-1}).
\end{equation}
Each factor is one entry of one row's softmax, and one pass makes all rows. The first needs a convention, for a
model cannot be asked with nothing in front: we put the token that ends a text before it, since that is what a text follows.
No table could replace this. Six tokens of GPT-2's vocabulary make a number of texts that has \val{claim.S2-15} digits.
@^chain rule@>@^conditional probability@>

Is it a probability? For the four words of the hand calculation every text of four tokens can be written down: $4^4=$ \val{chain.texts} of them, and
their probabilities sum to \val[9]{claim.S1-03}.\lab{lab:chance} The proof is one line: sum over the last token, and the last factor becomes 1; sum over the one before, and so on.
A product of such factors is never larger than the smallest of them, here in \val{claim.S2-20} texts of \val{chain.texts}.

@ For \tok{The}\tok{\ cat}\tok{\ sat}, given the end of another text, the small model that comes with this book says
$$\val[4]{text.factor.1}\times\val[4]{text.factor.2}\times\val[4]{text.factor.3}=\val[7]{text.product},$$
which is below its smallest factor, \val[4]{text.smallest}. The logarithm is the sum \val[3]{text.log}. With long texts the sum is the only way. Five hundred
factors of 0.15 multiply to a number with more than four hundred zeros after the point, and the smallest double has
fewer: the product is \val{under.product}, and its logarithm, added up, a harmless \val[2]{claim.S2-04}.
@^log-probability@>@^underflow@>

@ Equation \eqref{eq:chain} begins at the left because text is written so. The same definition works in any order of the tokens: last
first, or the middle one first, always with what has been fixed to the right of the bar. There are models that do this, and they must be told which place is to be filled.
What left to right has for it is that it needs no telling, and that a prefix stays a prefix while the text grows.
@^order of tokens@>

Not all models of text factor at all. \emph{Masked} models guess what has been covered up, each covered token by itself from all that is visible; the
guesses are no factors of one probability, so such models are good readers and poor writers. \emph{Diffusion} models of text begin with
a text of nothing but masks or noise, and improve all of it at once, a few dozen times. \emph{Consistency} models learn to take many such steps in one, and
\emph{non-autoregressive} translators wrote all words of a sentence at once before that. They pay in other coin: tokens that are chosen
at the same time do not know of each other, and agree only through further passes. This book is about the kind that writes from left to
right, because what you can talk to today is of that kind.
@^masked models@>@^diffusion@>@^consistency models@>@^non-autoregressive models@>

@* Which row chooses the tenth token. \label{sec:tenth}
The logits that choose token 10 come from row 9, counting from 1: the last row that exists. Row 10 is made of token
10, and cannot help to choose it. It is easy to get this wrong by one, because the row of a token and the guess at it are so often
drawn one above the other. A test settles it: put another token in place 10, and see which rows change.
@^off by one@>

On sixteen random tokens,\lab{lab:tenth} in a model with random numbers, \val{tenth.before} of the rows 1 to 9 change and
\val{tenth.after} of the rows 10 to 16. So the guess at token 10 did not move, the guess at token 11 did, and so did all that follow. That is what it means to be given a text: every row is
a function of the tokens up to its own, and of no other. Whether such a model plans is another question, which this does not decide: a row may well carry
numbers that matter only ten tokens later. But it has no access to a token that has not been chosen yet. Row 10 looks at \val{claim.S0-28} keys, one of them its own.

What is compared is the hidden state of each row, after the last layer; whatever a row has been told must be in there.

@* The hand calculation, run. \label{sec:toy}
The model of the hand calculation becomes a |struct model|, as if it had come out of a file. So what runs here is the engine itself and not a copy of it that
was made for the occasion. All its numbers are in one |struct toy|, one after the other, so that another use can fill them at random. The laboratory wants it as well; so it has a header
and a file of its own, which are linked to the two programs and are no part of the library.

@(toy.h@>=
#ifndef INCIPIT_TOY_H
#define INCIPIT_TOY_H
#include "model/forward.h"
@<A model of four words@>@;
#endif

@ The vocabulary has four words, the last of which ends a text. An \emph{album} is what a watcher has kept of one pass.

@<A model of four words@>=
enum {@+ TOY_WORDS = 4, TOY_WIDTH = 4, TOY_PLACES = 16, TOY_STOP = 3@+ };
  /* tokens, numbers in a row, positions; the token that ends a text */
struct toy {
  float token[TOY_WORDS][TOY_WIDTH], place[TOY_PLACES][TOY_WIDTH];
  float query[TOY_WIDTH][TOY_WIDTH], key[TOY_WIDTH][TOY_WIDTH];
  float value[TOY_WIDTH][TOY_WIDTH], joined[TOY_WIDTH][TOY_WIDTH];
  float gate[TOY_WIDTH], up[TOY_WIDTH], down[TOY_WIDTH];
  float asked[TOY_WORDS][TOY_WIDTH];
  struct model_layer only;
  struct model lm;
};
  /* its numbers, and the model around them; |lm| points into the rest, so a toy is not to be moved */
void toy_make(struct toy *y);
  /* fills in the numbers of the box and the model around them */
struct album {
  float x[TAP_LAYER + 1][8 * TOY_PLACES], logits[TOY_WORDS * TOY_PLACES];
  double chance[TOY_WORDS * TOY_PLACES];
};
  /* every stage of a pass, and the logits and probabilities of every row */
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct album *a, struct error *why);
  /* runs |n| tokens in an empty store and keeps what there was to see; errors: those of |model_forward| */
void toy_scores(const struct album *a, int r, int h, float score[3]);
  /* of head |h| in row |r|, for the keys of the first three */

@ Its file makes the model first, and then looks at it.

@(toy.c@>=
#include <string.h>
#include "model/toy.h"
@;@#
@<Fill in the numbers of the box@>@;
@<Put a model around the numbers@>@;
@<Look at the rows on their way@>@;

@ Matrices are stored with a row for each output; those that only multiply each number by a factor
have it in their diagonal. The corners of a square serve twice, as tokens and as positions, and the four positions go round for ever.

@<Fill in the numbers of the box@>=
static void toy_by_hand(struct toy *y)
{
  static const float corner[4][2] = @[{ {1, 1}, {1, -1}, {-1, 1}, {-1, -1} }@];
  static const int place[4] = @[{ 0, 1, 3, 2 }@];
  static const float query[TOY_WIDTH] = @[{ -0.8f, 0.4f, -0.4f, 0.8f }@];
  static const float joined[TOY_WIDTH] = @[{ 1, 0.5f, -1, 0.5f }@];
  static const float asked[TOY_WORDS][TOY_WIDTH] =
    @[{ {0, 0, -1, 0}, {0, -1, 0, -1}, {0, 0, 0, 1}, {-1, 0, 1, 0} }@];
  memset(y, 0, sizeof *y);
  for (int i = 0; i < TOY_WIDTH; i++) {
    memcpy(y->token[i], corner[i], sizeof corner[i]);
    y->query[i][i] = query[i], y->key[i][i] = 1;
    y->value[i][i % 2] = 1, y->joined[i][i] = joined[i];
  }
  for (int p = 0; p < TOY_PLACES; p++)
    memcpy(y->place[p] + 2, corner[place[p % 4]], sizeof corner[0]);
  y->gate[0] = 0.5f, y->gate[2] = -1;
  y->up[2] = 1;
  y->down[0] = 1, y->down[2] = -1;
  memcpy(y->asked, asked, sizeof asked);
}

@ The model around the numbers has RMSNorm without a gain, three matrices that make queries, keys and values, and a gated MLP of one number.
Nothing is copied; each matrix of the model points to its place in the |struct toy|.

@<Put a model around the numbers@>=
static struct matrix around(const float *x, size_t in, size_t out)
{
  return (struct matrix) @[{ .weight = { x, WEIGHT_F32 }, .in = in, .out = out }@];
}
void toy_make(struct toy *y)
{
  struct norm bare = @[{ .kind = NORM_RMS, .epsilon = 0 }@];
  toy_by_hand(y);
  y->only = (struct model_layer) @[{ .attn_norm = bare, .mlp_norm = bare,@|
    .qkv = { around(y->query[0], 4, 4), around(y->key[0], 4, 4),
      around(y->value[0], 4, 4) }, .n_qkv = 3,@|
    .out = around(y->joined[0], 4, 4), .n_up = 2,@|
    .up = { around(y->gate, 4, 1), around(y->up, 4, 1) },@|
    .down = around(y->down, 1, 4) }@];
  @<The settings of four words@>@;
}

@ The settings mix the families, GPT-2's learned positions with Llama's gate, because the hand calculation is easiest so. The
engine doesn't mind: it asks for each thing by itself, and never for the family.

@<The settings of four words@>=
y->lm.config = (struct model_config) @[{ .family = "llama",@|
  .vocab_size = TOY_WORDS, .n_positions = TOY_PLACES, .d_model = TOY_WIDTH,@|
  .d_inner = 1, .n_layers = 1, .n_heads = 2, .n_kv_heads = 2,@|
  .head_dim = 2, .learned_positions = true, .gated = true }@];
y->lm.layers = &y->only, y->lm.final_norm = bare;
y->lm.embedding = (struct tensor) @[{ y->token[0], WEIGHT_F32 }@];
y->lm.positions = (struct tensor) @[{ y->place[0], WEIGHT_F32 }@];
y->lm.head = around(y->asked[0], TOY_WIDTH, TOY_WORDS);
y->lm.attention = (struct attention_dims) @[{ 2, 2, 2, 0.70710678f }@];
y->lm.layer_madds = 4 * TOY_WIDTH * TOY_WIDTH + 3 * TOY_WIDTH;

@ A watcher keeps a copy of every stage, all rows of it. Looking means running a pass with that watcher, and asking the head about every row. A model of four words can afford it.

@<Look at the rows on their way@>=
static void keep_all(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct album *a = ctx;
  (void) layer;
  memcpy(a->x[point], x, rows * width * sizeof *x);
}
bool toy_look(struct engine *e, const struct toy *y, struct store *s,
  const uint32_t *ids, size_t n, struct album *a, struct error *why)
{
  struct row rows[TOY_PLACES];@+ size_t all[TOY_PLACES];
  struct watcher w = @[{ keep_all, a, true }@];
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++)
    all[i] = i, rows[i] = (struct row) @[{ 0, (uint32_t) i, ids[i] }@];
  store_clear(s);
  bool ok = model_forward_watched(e, &y->lm, s, rows, n, &w, &p, why)
    && model_logits(e, &y->lm, p, all, n, a->logits, why);
  if (ok)@+ e->k->softmax(e, a->logits, n, TOY_WORDS, a->chance);
  pass_close(p);
  return ok;
}

@ Scores and exponentials never leave the kernel, so the scores are computed again from the queries and keys that the watcher saw.

@<Look at the rows on their way@>=
void toy_scores(const struct album *a, int r, int h, float score[3])
{
  for (int t = 0; t < 3; t++) {
    const float *q = a->x[TAP_QUERY] + r * TOY_WIDTH + 2 * h;
    const float *k = a->x[TAP_KEY] + t * TOY_WIDTH + 2 * h;
    score[t] = (q[0] * k[0] + q[1] * k[1]) * 0.70710678f;
  }
}

@* The check. \label{sec:modelcheck}
The program prints what the hand has found, line by line, and then what the model says after each row of the prompt, and
after its own first word.

\checkpoint{build/out/model.txt}{what the program of this chapter prints}

@<Print the attention of one head@>=
static void print_line(const char *name, const float *x, int n)
{
  printf("%-24s", name);
  for (int i = 0; i < n; i++)@+ printf("%6.2f", (double) x[i]);
  printf("\n");
}

@ Numbers have two decimals, as the hand has written them. The weights are the kernel's own; that they agree with the exponentials above them is the check.

@<Print the attention of one head@>=
static void print_head(const struct album *a, int h)
{
  float score[3], shrunk[3];
  toy_scores(a, 2, h, score);
  float max = fmaxf(score[0], fmaxf(score[1], score[2]));
  for (int t = 0; t < 3; t++) shrunk[t] = num_expf(score[t] - max);
  print_line(h == 0 ? "head A  scores" : "head B  scores", score, 3);
  print_line("        exponentials", shrunk, 3);
  print_line("        weights", a->x[TAP_WEIGHTS] + (2 * 2 + h) * 3, 3);
}

@ The stages are printed in their order, for the third row. The gate and the second number of the MLP are multiplied inside the
engine, so the two are computed again from what the norm left.

@<Print the way of the last row@>=
static void print_way(const struct toy *y, const struct album *a)
{
  int at = 2 * TOY_WIDTH;
  float middle[3] = @[{ 0, 0, a->x[TAP_INNER][2] }@], h[TOY_WIDTH];
  const float *n = a->x[TAP_MLP_NORM] + at, *added = a->x[TAP_ATTENTION] + at;
  for (int i = 0; i < TOY_WIDTH; i++) {
    middle[0] += y->gate[i] * n[i], middle[1] += y->up[i] * n[i];
    h[i] = a->x[TAP_EMBEDDING][at + i] + added[i];
  }
  print_line("row of sat", a->x[TAP_EMBEDDING] + at, 4);
  print_line("its query", a->x[TAP_QUERY] + at, 4);
  print_head(a, 0);
  print_head(a, 1);
  print_line("mixed values", a->x[TAP_MIXED] + at, 4);
  print_line("added by attention", added, 4);
  print_line("the row", h, 4);
  print_line("normed", n, 4);
  print_line("gate, up, inner", middle, 3);
  print_line("the row", a->x[TAP_LAYER] + at, 4);
  print_line("logits", a->logits + at, 4);
}

@ The text is what the hand was given, and the word that it found. The last four lines have the probabilities of all words after each row; the arrow points to the likeliest, which chapter 3 will call
the greedy choice.

@<Do what the hand did, and print it@>=
static void print_odds(const char *given, const double *chance)
{
  static const char *const word[] = @[{ "the", " cat", " sat", "." }@];
  int best = 0;
  printf("%-24s", given);
  for (int v = 0; v < TOY_WORDS; v++) {
    printf("%6.2f", chance[v]);
    if (chance[v] > chance[best]) best = v;
  }
  printf("  -> %s\n", word[best]);
}
static bool print_hand(struct engine *e, const struct toy *y,
  struct store *s, struct error *why)
{
  static const uint32_t text[4] = @[{ 0, 1, 2, TOY_STOP }@];
  static const char *const given[4] = @[{ "the", "the cat", "the cat sat",@|
    "the cat sat." }@];
  struct album a;
  if (!toy_look(e, y, s, text, 3, &a, why))@+ return false;
  print_way(y, &a);
  if (!toy_look(e, y, s, text, 4, &a, why))@+ return false;
  printf("\n%-24s%6s%6s%6s%6s\n", "behind", "the", " cat", " sat", ".");
  for (int r = 0; r < 4; r++) print_odds(given[r], a.chance + r * TOY_WORDS);
  return true;
}

@* What the tutorials say. \label{sec:modeltutorials}
Five popular explanations agree with each other and mostly with our runs. These are the places where they do not.

\begin{tutorial}{offbyone}{S2-30, S0-09, S2-32}
\quoted{, the hidden state at position 10}
\ourrun the tenth token is chosen from row 9: changing token 10 left \val{claim.S2-30} rows of 9 as they were, row 9 among them.
Row 10 contains the answer. And not all of tokens 1 to 9 were generated: with three given, \val{claim.S2-32}.
\end{tutorial}

\begin{tutorial}{wrong}{S2-24}
\quoted{which captures token-independent frequency preferences}
\ourrun a bias that is the same for all tokens changes \val{claim.S2-24} of the four probabilities: it cancels. What is meant is a bias for each
token, whatever the \emph{context}.
\end{tutorial}

\begin{tutorial}{misleading}{S2-25}
\quoted{measuring how similar the current context representation is to each token's template}
\ourrun a product is no similarity. With the full stop's row of the head doubled, direction unchanged, its logit is \val[1]{claim.S2-25} times as large
and its probability rises from \val[2]{score.before} to \val[2]{score.after}.
\end{tutorial}

@ Four more are true of a part and said of the whole.

\begin{tutorial}{misleading}{S2-22}
\quoted{This vector encodes everything the model "knows" about the context so far.}
\ourrun it is enough for one next token. The row after it reads keys and values of every earlier row in every layer, for GPT-2 small and ten
tokens \val{claim.S2-22} numbers, none of which can be got back from the vector.
\end{tutorial}

\begin{tutorial}{misleading}{S0-26}
\quoted{Inside each step, the expensive operation is attention.}
\ourrun in GPT-2 small the matrices of a layer cost more until a row sees \val{claim.S0-26} positions, and its context has \val{gpt2.context}.
\end{tutorial}

\begin{tutorial}{misleading}{S0-30, S0-10}
\quoted{The result becomes the attention layer's output for position T.}
\ourrun between the pooled values and the output stands a matrix; in the hand calculation it changed \val{claim.S0-30} of four numbers. And a pair of
positions has a weight for each head and layer, \val{claim.S0-10} in GPT-2 small.
\end{tutorial}

\begin{tutorial}{misleading}{S2-17}
\quoted{Each factor in the product corresponds to exactly one step of the generation loop.}
\ourrun three tokens given and four written make seven factors and \val{claim.S2-17} steps: the prompt's come out of the first pass.
\end{tutorial}

@ And three are about what must be so.

\begin{tutorial}{misleading}{S2-29}
\quoted{because the transformer's causal attention mask prevents each position from seeing future tokens}
\ourrun a model without the mask writes one token at a time, too: a token that has not been chosen cannot be read. What the mask gives
is that rows, once made, stay as they are.
\end{tutorial}

\begin{tutorial}{misleading}{S0-01, S3-01, S2-57}
\quoted{Autoregressive generation is how every LLM actually produces text}
\ourrun not every one: \cref{sec:chance} names four kinds that do not. Nor is heads times head size always the width: eight heads of keys with $d_k=128$
make \val{claim.S2-57} numbers in a model of width $2^{13}$.
\end{tutorial}

\begin{tutorial}{rounded}{S2-27, S2-28, S2-45}
\quoted{ensures all values become positive}
\ourrun $e^{-1000}$ is \val{claim.S2-27} in double. The probabilities summed to \val[6]{claim.S2-28}, and a row's
weights, in float, to \val[6]{claim.S2-45}: 1 up to the last places of both.
\end{tutorial}

@* Exercises. \label{sec:modelexercises}
The last three change the engine; the command builds it anew and judges.

\begin{exercises}
\exercise{check}{ex:model.sum}{Add $1.00$, $0.004$, $0.004$, $0.004$, $0.004$ in the machine with three digits, from the left, from the right, and in
two lanes (terms 1, 3, 5 and 2, 4, then the fold).}{\texttt{make exercise-02-1}}{1.00, 1.02 and 1.01: three answers to one sum.}
\exercise{check}{ex:model.swap}{Exchange \tok{the} and \tok{\ cat} in the hand calculation. Which of the heads notices, and what is the probability of the full
stop now, to a hundredth?}{\texttt{make exercise-02-2}}{A looks at tokens and does not notice. B looks at the position before its own, where \tok{the} now stands; its mixed values become
$(0.40,0.66)$, and the full stop gets 0.67.}
\exercise{think}{ex:model.order}{How many orders of factorization does a text of $n$ tokens have, and what do all of them give for the sum over all texts?}{\texttt{make
exercise-02-3}}{$n!$, and each gives 1. For four tokens 24.}
\exercise{think}{ex:model.madds}{A layer has $d=64$, 4 heads for queries and 2 for keys and values, an inner width of 192 with a gate. How many multiply--adds
do its matrices cost for one row, and from how many visible positions on does attention cost more?}{\texttt{make exercise-02-4}}{$d^2+2\cdot d\cdot32+d^2=12{,}288$ for attention's four
matrices and $3\cdot64\cdot192=36{,}864$ for the MLP: 49,152. Attention costs $2\cdot64$ for each position, so from 385 on.}
\exercise{think}{ex:model.lanes}{All terms of a dot product are the same, $x\cdot w$. For which least number of terms, and which $x$ and $w$, does it come out as
$-0$?}{\texttt{make exercise-02-5}}{The lanes begin with $+0$, and $+0+(-0)=+0$; so every lane must have become $-0$, which takes sixteen terms, each a negative product
too small for a float: $x=-2^{-100}$, $w=2^{-100}$.}
\exercise{think}{ex:model.gelu}{The GELU with the tangent approximates the exact one. Where do they differ most, to a tenth, and by how many
times $10^{-4}$?}{\texttt{make exercise-02-8}}{At 2.7, by 5: in the fourth digit of a number that is nearly 2.7 itself.}
\exercise{think}{ex:model.reach}{Every layer of a model has a window of $w$ positions. How far before the last row is the oldest token that it can know
of, in a model of $l$ layers?}{\texttt{make exercise-02-9}}{$l(w-1)$: each layer reaches $w-1$ positions further back than the one above it.}
\exercise{build}{ex:model.window}{Let the store of this chapter show only the last eight positions: change |store_window_start|. Which rows change, and which do not?}{\texttt{make
exercise-02-6}}{Rows 0 to 7 do not change; the others do.}
\exercise{build}{ex:model.noscale}{Leave the scale out of attention where the model is put together. What changes in the golden logits, and in the counters?}{\texttt{make
exercise-02-7}}{All logits after the first row change; the counters count the same.}
\exercise{build}{ex:model.nope}{Let every second layer, from the second on, turn neither queries nor keys. Such models exist. Can they still tell positions
apart?}{\texttt{make exercise-02-10}}{The other layers do it for them, and the mask does a little, too: the first row sees one key, the tenth ten.}
\end{exercises}

