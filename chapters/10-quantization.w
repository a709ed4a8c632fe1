@i types.w
@s block_scale int
@s int8_block int
@s matrix int

\chapterquestion{Why may a weight lose three quarters of its bits, and the text hardly change?}
@** Quantization: float16 to four bits.
\incipit{A}{ weight is} a number that training has found by small steps, and its last digits are accidents. In \cref{accounts} we kept a cache in fewer bits. Now we do it to the weights, and later in the chapter to the numbers that they multiply. With weights it matters more. A pass of one row waits for them to arrive from memory (\cref{phases}), so a model of half the bytes can write nearly twice as fast, and a model of a quarter of the bytes fits into a machine that could not hold it before. What does it cost? Throw away twelve of sixteen bits, so that the weights are off by \val[0]{types.q4_0.weights} percent of their typical size, and you would expect nonsense. We tried it.\lab{lab:quanttales}\label{sec:quanttale}

\checkpoint{build/out/laboratory/quantization.txt}{how the built-in model goes on after \emph{The dog}, always with its likeliest token: as it was published, and with its matrices and its embedding in fewer bits}

With eight bits not a word changes. With four bits the second sentence is another, and so is the rest; but it is a tale, and no worse than the first.
@^quantization@>@^weights@>

@ To see why that works, take eight weights and eight inputs. Round the weights to sixteen values, for which four bits suffice, and multiply, as every linear layer does.

\begin{byhand}{eight weights in four bits}
The weight of largest magnitude is $-1.60$. It becomes $-8$, so the step is $-1.60\div(-8)=0.20$. Every weight is divided by the step and rounded to the nearest integer $q$; it then stands for $0.20q$.

\medskip
\begin{tabular}{@@{}l@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{}}
weight & $0.72$ & $-1.60$ & $0.34$ & $0.08$ & $-0.46$ & $1.12$ & $0.86$ & $-0.24$\\
divided & $3.6$ & $-8.0$ & $1.7$ & $0.4$ & $-2.3$ & $5.6$ & $4.3$ & $-1.2$\\
$q$ & $4$ & $-8$ & $2$ & $0$ & $-2$ & $6$ & $4$ & $-1$\\
back & $0.80$ & $-1.60$ & $0.40$ & $0.00$ & $-0.40$ & $1.20$ & $0.80$ & $-0.20$\\
error & $0.08$ & $0.00$ & $0.06$ & $-0.08$ & $0.06$ & $0.08$ & $-0.06$ & $0.04$\\
input & $1.0$ & $0.5$ & $-1.0$ & $2.0$ & $1.0$ & $-0.5$ & $1.0$ & $2.0$\\
product & $0.72$ & $-0.80$ & $-0.34$ & $0.16$ & $-0.46$ & $-0.56$ & $0.86$ & $-0.48$\\
its error & $0.08$ & $0.00$ & $-0.06$ & $-0.16$ & $0.06$ & $-0.04$ & $-0.06$ & $0.08$
\end{tabular}
\medskip

The exact products sum to $-0.90$. The errors, all taken as positive, sum to $0.54$. With their signs they sum to $-0.10$: more than four fifths of the error has cancelled. The product of the rounded weights is $-0.90-0.10=-1.00$.
\end{byhand}

@ The error of the sum is much smaller than the sum of the errors, since half of them point the other way. So is that the reason, and is a longer sum safer still? Not so fast. The products themselves have signs and cancel as well. Which of the two shrinks more? \label{sec:whyitworks}
Let the weights have mean 0 and standard deviation $\sigma$, and the errors mean 0 and standard deviation $\sigma_e$, all independent. Variances of independent terms add, so for inputs $x_1$, $x_2$, \dots\ the expected squares of the two sums are
$$
  E\Bigl[\Bigl(\sum_iw_ix_i\Bigr)^2\Bigr]=\sigma^2\sum_ix_i^2,\qquad
  E\Bigl[\Bigl(\sum_ie_ix_i\Bigr)^2\Bigr]=\sigma_e^2\sum_ix_i^2 .
$$
Neither: both grow in the same way, and the inputs cancel in the quotient. We call $\sigma_e/\sigma$ the \emph{relative error} of the weights. So length neither helps nor hurts, and this is the first half of the answer: \emph{a dot product has the relative error of its weights, however many terms it has}.

How large is $\sigma_e/\sigma$? Rounding to steps of $d$ leaves an error anywhere between $-d/2$ and $d/2$, which has the standard deviation $d/\sqrt{12}$. In a group of 32 normally distributed weights the largest is \val[2]{normal.largest}$\,\sigma$ on average, so with 8 steps on the longer side $d=\val[2]{normal.step}\,\sigma$, and the error is \val[1]{normal.error.4} percent. Each bit more halves it; with \given{127} steps it is \val[2]{normal.error.8} percent. The query matrices of the built-in model have \val[1]{tensor.Q4_0.query} and \val[2]{tensor.Q8_0.query} percent.\lab{lab:tensors}
@^rounding error@>

The second half of the answer is the model. An error of a few percent in what a layer adds to the residual stream is like a small change of the text before it, and the model has learned to continue many texts that differ a little. At the end only the order of the logits counts, and in most places of a text the leading token leads by far. So we expect little change in easy places and some where two tokens are nearly equal. \Cref{sec:quantloss} counts them.

@ We define formats for weights and inputs, and the products with them; each is a few lines of plain C. As always the definition says in which order the terms are added and where they are rounded, so that the fast kernels of \cref{kernels} can have the same bits. Sixteen bits come first, then blocks of eight, five and four bits, then the blocks of \given{256} that most files use, then steps that are not equal, and at last the inputs.

@* Sixteen bits: float16 and bfloat16. \label{sec:halves}
A |float| of 32 bits has a sign, 8 bits of exponent, and 23 of fraction. How would you make it half as long? You can save in the fraction or in the exponent, and both have been done. \emph{float16} (binary16 of IEEE 754, \texttt{f16}) has 5 bits of exponent and 10 of fraction. \emph{bfloat16} (\texttt{bf16}) is the upper half of a |float|: it keeps all 8 bits of exponent, and 7 of the fraction \cited{Kalamkar 2019}.
With 10 bits a number is rounded by at most one part in \given{2048}, with 7 by at most one in \given{256}. For float16 that ends below $2^{-14}$, where its exponent can go no lower and the fraction loses one bit after the other; and the largest finite number of float16 is \given{65504}. bfloat16 goes as far as |float| in both directions. In training, where gradients may be tiny or huge, that range was worth more than three bits, so most models of today are trained and published in bfloat16.
@^float16@>@^bfloat16@>

Both lengths are exactly half: GPT-2 small has \val{weights.gpt2.whole} bytes of weights in |float| and \val{weights.gpt2.half} in either of the two. When they are used, they are widened to |float|, which loses nothing. So the only error is that of rounding once, when the file was written. In the built-in model, whose weights are published in float16, the relative error of bfloat16 is \val[2]{types.bf16.weights} percent; in stories260K, which was published in |float|, that of float16 is \val[2]{stories.f16.weights} percent.\lab{lab:published}

\begin{claimed}{S2-82}
Of the \val{stories.rows} tokens of its own stories, stories260K with weights in float16 would have chosen \val[word]{claim.S2-82} otherwise, and its perplexity grows by \val[3]{stories.f16.percent} percent.
\end{claimed}

@* A scale for every block. \label{sec:blockscale}
Let's go below sixteen bits. With eight there is hardly room for an exponent in every number, and with four there is none. So neighbours share one. A \emph{block} is a group of 32 neighbours in a row of a matrix with a common \emph{scale} $d$; each of the numbers keeps only an integer $q$ and stands for $qd$. Why 32, and not the whole row? The scale costs 16 bits a block, and a long block spreads them over more numbers. But one large weight sets the scale of the whole block, and takes away the bits of all its neighbours (\cref{fig:quantlengths}).\lab{lab:lengths}
@^block, of a format@>@^scale@>

\fig{quantlengths}{fig:quantlengths}{The relative error of the built-in model's weights in four bits, for blocks of 4 to \given{128} numbers. The upper line is for the same weights after one in a \given{thousand} was made twenty times as large, as happens in large models.}{A plot. To the right the numbers in a block, from 4 to \given{128} on a logarithmic axis; upwards the relative error in percent. The lower line rises gently from \val[1]{lengths.8} percent at 8 numbers to \val[1]{lengths.128} at \given{128}. The upper line starts with it and rises to \val[1]{lengths.spoilt.128} percent.}

We tried it. In blocks of 32 the relative error of the attention and |up| matrices is \val[1]{lengths.32} percent, and in blocks of \given{128} it is \val[1]{lengths.128}. The shorter blocks gain little for four times as many scales. But make a few weights large, and the longer blocks err by \val[1]{lengths.spoilt.128} percent and those of 32 only by \val[1]{lengths.spoilt.32}. Large models do have such weights and, even more, such inputs: \cited[Dettmers and others (2022)]{Dettmers 2022} found a few columns with numbers twenty times as large as the rest, which they call \emph{outliers}, and everything depended on them. So we want short blocks. With 32 numbers a scale of 16 bits adds half a bit to each.
@^outlier@>

@ The formats are those of ggml, the library under llama.cpp; a quantized model in a GGUF file is in one of them or in a relative. \Cref{tab:weighttypes} has all the types with which our engine computes. Their names are |enum weight_type|, and |number_types| has the length of a block and its bytes (\cref{sec:numbertypes}). The digit after \texttt{q} is the number of bits. A name that ends in \texttt{\_0} has a scale, one that ends in \texttt{\_1} also a minimum, and one that ends in \texttt{\_k} scales of scales (\cref{sec:kquants}). The last three in the table have steps that are not equal (\cref{sec:unequal}). In a file block follows block without a gap, so one of 34 bytes is seldom aligned. Our kernels read such bytes where they are; only for many rows at once they first copy the weights into another order (\cref{kernels}).
@^ggml@>

\begin{table}
\tabcaption{tab:weighttypes}{The types of weights: numbers in a block and its bytes, bits for each number with everything that the block has, and the size of GPT-2 small if all of its weights were of that type, in MB. The integers $s$ and $t$ belong to a group inside the block (\cref{sec:kquants}); $v$ and $f$ are tables of sixteen numbers (\cref{sec:unequal}).}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrl@@{}}
\tabhead{type} & \tabhead{numbers} & \tabhead{bytes} & \tabhead{bits} & \tabhead{MB} & \tabhead{a number is}\\\midrule
\texttt{f32} & 1 & 4 & \val[1]{weights.bits.F32} & \val[1]{weights.gpt2.F32.mb} & itself\\
\texttt{f16}, \texttt{bf16} & 1 & 2 & \val[1]{weights.bits.F16} & \val[1]{weights.gpt2.F16.mb} & rounded\\
\texttt{q8\_0} & 32 & 34 & \val[1]{weights.bits.Q8_0} & \val[1]{weights.gpt2.Q8_0.mb} & $qd$, $-\given{127}\le q\le127$\\
\texttt{q5\_1} & 32 & 24 & \val[1]{weights.bits.Q5_1} & \val[1]{weights.gpt2.Q5_1.mb} & $qd+m$, $0\le q\le31$\\
\texttt{q5\_0} & 32 & 22 & \val[1]{weights.bits.Q5_0} & \val[1]{weights.gpt2.Q5_0.mb} & $qd$, $-16\le q\le15$\\
\texttt{q4\_1} & 32 & 20 & \val[1]{weights.bits.Q4_1} & \val[1]{weights.gpt2.Q4_1.mb} & $qd+m$, $0\le q\le15$\\
\texttt{q4\_0} & 32 & 18 & \val[1]{weights.bits.Q4_0} & \val[1]{weights.gpt2.Q4_0.mb} & $qd$, $-8\le q\le7$\\
\texttt{q6\_k} & \given{256} & \given{210} & \val[2]{weights.bits.Q6_K} & \val[1]{weights.gpt2.Q6_K.mb} & $qsd$, $-32\le q\le31$\\
\texttt{q5\_k} & \given{256} & \given{176} & \val[1]{weights.bits.Q5_K} & \val[1]{weights.gpt2.Q5_K.mb} & $qsd-td_{\min}$, $0\le q\le31$\\
\texttt{q4\_k} & \given{256} & \given{144} & \val[1]{weights.bits.Q4_K} & \val[1]{weights.gpt2.Q4_K.mb} & $qsd-td_{\min}$, $0\le q\le15$\\
\texttt{q3\_k} & \given{256} & \given{110} & \val[2]{weights.bits.Q3_K} & \val[1]{weights.gpt2.Q3_K.mb} & $qsd$, $-4\le q\le3$\\
\texttt{q2\_k} & \given{256} & \given{84} & \val[2]{weights.bits.Q2_K} & \val[1]{weights.gpt2.Q2_K.mb} & $qsd-td_{\min}$, $0\le q\le3$\\
\texttt{iq4\_nl} & 32 & 18 & \val[1]{weights.bits.IQ4_NL} & \val[1]{weights.gpt2.IQ4_NL.mb} & $v_qd$\\
\texttt{iq4\_xs} & \given{256} & \given{136} & \val[2]{weights.bits.IQ4_XS} & \val[1]{weights.gpt2.IQ4_XS.mb} & $v_qsd$\\
\texttt{mxfp4} & 32 & 17 & \val[2]{weights.bits.MXFP4} & \val[1]{weights.gpt2.MXFP4.mb} & $f_q\cdot2^e$
\end{tabular*}
\end{table}

\begin{claimed}{S2-81}
Numbers of four bits need \val[1]{claim.S2-81} times less memory than numbers of 32, and not eight times less: the scales count as well.
\end{claimed}

@ The header has three parts: what a block stands for, how weights are written, and the products with inputs of fewer bits.

@(quantization.h@>=
#ifndef INCIPIT_QUANTIZATION_H
#define INCIPIT_QUANTIZATION_H
#include "model/kernel.h"
@<What a block stands for@>@;
@<Writing weights@>@;
@<Products with inputs of fewer bits@>@;
#endif

@ We begin with writing, because you did just that by hand. One function writes all types. It refuses numbers that are NaN or infinite, a scale beyond float16, a row that is not whole blocks, and the types that we only read.

@<Writing weights@>=
bool weights_encode(enum weight_type type, const float *x, size_t n, void *to,
  struct error *why);
  /* writes |n| numbers, whole blocks, to the |weight_row_bytes| at |to|, rounded as ggml does; errors: a number that
     is not finite, a scale beyond binary16, a type that is only read. In F16 and BF16 a number that is
     too large becomes infinite */
bool superblock_encode(enum weight_type type, const float *x, unsigned char *to);
  /* one block of Q4\_K or Q6\_K, with the scales that err least as far as a search finds them; false: a scale beyond binary16 */
uint32_t weights_written(void);
  /* the types that |weights_encode| writes, bit |1 << type| for each */

@ A scale is stored as a float16, the lower byte first. The function says whether it is finite. The other function turns a float into an integer between two limits, which in C must be checked first: to convert a float that does not fit is undefined. A float that is infinite or NaN, which is possible as we shall see, becomes 0.

@<Round a block of weights@>=
static bool put_half(float x, unsigned char *to)
{
  uint16_t h = num_to_f16(x);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
  return (h & 0x7c00) != 0x7c00;
}
static int whole_within(float x, int low, int high)
{
  if (x - x != 0) return 0;
  if (x < (float) low) return low;
  return x > (float) high ? high : (int) x;
}

@ In \texttt{q8\_0} the largest magnitude becomes \given{127}. The numbers are multiplied by the reciprocal of the scale and rounded to the nearest integer, halves away from 0. Which scale do we take the reciprocal of, the one that was computed or the one that is stored, which is rounded to float16? The stored one would be a little better (try it in exercise 7). But ggml takes the computed one. If we didn't, our files would differ from everybody else's, and with them the text that a model writes. Here the formats of others are the definition. In a block of numbers below about $10^{-37}$ the reciprocal may be infinite. Then ggml's result is undefined in C; on x86 it comes out as 0, and 0 is what we store. It does not matter: the scale of such a block is 0 in float16.

@<Round a block of weights@>=
static bool encode_q8_0(const float *x, unsigned char *to)
{
  float most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
  float d = most / 127, times = d != 0 ? 1 / d : 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    to[2 + i] = (unsigned char) whole_within(roundf(x[i] * times), -128, 127);
  return put_half(d, to);
}

@* A minimum for every block. \label{sec:blockmin}
Four bits have sixteen values. How do you lay them over a block? There are two ways (\cref{fig:quantblock}).\lab{lab:block} \emph{Symmetric quantization} lays them around 0, from $-8$ to 7, and gives the longer side to the number of largest magnitude, whatever its sign: then $d$ may be negative. If another number on the opposite side is nearly as large, it would need an 8 and is cut off at 7. \emph{Asymmetric quantization} lays them from the smallest number of the block to the largest: $d=(\max-\min)/15$, and $m=\min$ is stored as well. Nothing is cut off, and blocks whose numbers are not balanced around 0 get smaller steps; but the minimum costs another half bit, and 0 is no longer represented exactly.
@^asymmetric quantization@>@^symmetric quantization@>

\fig{quantblock}{fig:quantblock}{The first 32 weights of the built-in model's first query matrix in four bits. Lines are the sixteen values of the block: above, symmetric (q4\_0); below, from the minimum to the maximum (q4\_1). A stroke joins each weight, a dot, with the value that it becomes. The third weight is nearly as large as the last but one, with the opposite sign; in the upper panel it is cut off.}{Two panels, one above the other, each with sixteen horizontal lines and 32 dots. In the upper one the lines are spaced evenly, one of them at zero, and the lowest dot lies below the lowest line. In the lower one the lines reach exactly from the lowest dot to the highest. Short vertical strokes join the dots with the nearest lines.}

@<Round a block of weights@>=
static struct block_scale symmetric_scale(const float *x, int top)
{
  float most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++)
    if (fabsf(x[i]) > fabsf(most)) most = x[i];
  return (struct block_scale) @[{ most / (float) -(top / 2 + 1), 0 }@];
}
static struct block_scale min_max_scale(const float *x, int top)
{
  float low = x[0], high = x[0];
  for (int i = 1; i < WEIGHT_BLOCK; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  return (struct block_scale) @[{ (high - low) / (float) top, low }@];
}

@ With a scale and a minimum the rest is the same for four types. A number becomes $(x-m)/d$; in the symmetric types 8 or 16 is added, so that what is stored is never negative. Adding a half and truncating rounds to the nearest integer. The low four bits of number $i$ and number $i+16$ share byte $i$, so that a kernel gets sixteen neighbours out of sixteen bytes with one mask. The fifth bits of all 32 numbers, if there are any, are four bytes of their own before them.

@<Round a block of weights@>=
static bool encode_nibbles(enum weight_type type, const float *x, unsigned char *to)
{
  const struct number_type *t = &number_types[type];
  bool min = t->has_min, five = t->bits == 5;
  int top = (1 << t->bits) - 1;
  struct block_scale s = min ? min_max_scale(x, top)@|
    : symmetric_scale(x, top);
  float times = s.d != 0 ? 1 / s.d : 0;
  float shift = (float) t->offset + 0.5f;
  unsigned char *q = to + t->low_at, *high = to + t->high_at;
  memset(q, 0, WEIGHT_BLOCK / 2);
  if (five)@+ memset(high, 0, WEIGHT_BLOCK / 8);
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    float z = (x[i] - s.m) * times;
    int whole = whole_within(z + shift, 0, top);
    q[i % 16] |= (unsigned char) ((whole & 15) << i / 16 * 4);
    if (five)@+ high[i / 8] |= (unsigned char) (whole >> 4 << i % 8);
  }
  bool fits = put_half(s.d, to);
  if (min && !put_half(s.m, to + 2)) fits = false;
  return fits;
}

@ A |switch| over the types has no |default|, here as everywhere: a type that is added to the enumeration without a case of its own stops the compiler.

@<Round one block, of whatever type@>=
static bool encode_block(enum weight_type type, const float *x, unsigned char *to)
{
  uint16_t h;
  switch (type) {
  case WEIGHT_F32: memcpy(to, x, sizeof *x);@+ break;
  case WEIGHT_F16: h = num_to_f16(*x);@+ memcpy(to, &h, sizeof h);@+ break;
  case WEIGHT_BF16: h = num_to_bf16(*x);@+ memcpy(to, &h, sizeof h);@+ break;
  case WEIGHT_Q8_0: return encode_q8_0(x, to);
  case WEIGHT_Q4_0: case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return encode_nibbles(type, x, to);
  case WEIGHT_Q4_K: case WEIGHT_Q6_K: return superblock_encode(type, x, to);
  case WEIGHT_Q2_K: case WEIGHT_Q3_K: case WEIGHT_Q5_K:
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4: return false;
  }
  return true;
}

@ The function for all blocks of a row checks what it is given, since its caller may have it from a file. And how do we know that we round as ggml does? A script lets another implementation encode thousands of random blocks, and notes a hash of the result. A test encodes the same blocks and wants the same hash (|blocks_are_those_of_others|).

@<Write weights@>=
uint32_t weights_written(void)
{
  uint32_t types = 0;
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++)
    types |= (uint32_t) number_types[t].is_written << t;
  return types;
}
bool weights_encode(enum weight_type type, const float *x, size_t n, void *to,
  struct error *why)
{
  const struct number_type *t = &number_types[type];
  char wanted[TYPES_TEXT];
  if (!t->is_written) {
    kernels_list_types(weights_written(), wanted);
    return error_say(why, "%s is read and not"@/
      " written; wanted: %s", t->name, wanted);
  }
  if (n % t->block != 0)
    return error_say(why, "%zu numbers in %s;"@/
      " wanted: a multiple of %d", n, t->name, t->block);
  for (size_t i = 0; i < n; i++)
    if (x[i] - x[i] != 0)
      return error_say(why, "number %zu is not"@/
        " finite; wanted: finite"@/
        " numbers", i);
  @<Write block after block, or fail@>@;
  return true;
}

@ If the scale of a block is too large, the message names the block by its numbers.

@<Write block after block, or fail@>=
for (size_t i = 0; i < n; i += t->block) {
  unsigned char *at = (unsigned char *) to + weight_row_bytes(type, i);
  if (!encode_block(type, x + i, at))
    return error_say(why, "numbers %zu to %zu,"@/
      " the first of them %g,"@/
      " need a scale beyond"@/
      " binary16 in %s; wanted:"@/
      " smaller numbers",
      i, i + t->block - 1, (double) x[i], t->name);
}

@* What a block stands for. \label{sec:blocknumbers}
In all types of blocks a number is $q\,d+m$, with an integer $q$ of its own (or one that its bits choose from a table), and $d$ and $m$ that it shares with its neighbours. So to read a block we need two functions, one for the integer and one for what is shared. The plain kernels know blocks only through these two. The fast ones of \cref{kernels} unpack blocks themselves, and tests compare them with these.

@<What a block stands for@>=
struct block_scale { float d, m; };
  /* a number of a block is |q*d + m|, with a whole number |q| */
bool block_has_min(enum weight_type type);
  /* whether |m| is anything but 0 in this type */
int block_whole(enum weight_type type,@|
  const unsigned char *block, size_t i);
  /* the whole number |q| of number |i| of a block */
struct block_scale block_scale_of(enum weight_type type,
  const unsigned char *block, size_t i);
  /* the scale and the minimum of number |i|; equal for |group| neighbours */
float block_number(enum weight_type type,@|
  const unsigned char *block, size_t i);
  /* number |i| of a block: |q*d|, which is exact, or |q*d + m|, rounded once */

@ The integers of the five types with blocks of 32 and equal steps are taken apart just as they were put together. Where their bytes begin, and what offset they have, is in the row of the type (\cref{sec:numbertypes}).

@<The whole numbers of a block@>=
static int nibble(const unsigned char *q, size_t i)
{@+ return i < 16 ? q[i] & 15 : q[i - 16] >> 4;@+ }
static int fifth_bit(const unsigned char *high, size_t i)
{@+ return (high[i / 8] >> i % 8 & 1) << 4;@+ }
@<Whole numbers in a block of 256@>@;
int block_whole(enum weight_type type, const unsigned char *block, size_t i)
{
  const struct number_type *t = &number_types[type];
  const unsigned char *low = block + t->low_at, *high = block + t->high_at;
  switch (type) {
  case WEIGHT_Q8_0: return (int8_t) low[i];
  case WEIGHT_Q4_0: case WEIGHT_Q4_1: return nibble(low, i) - t->offset;
  case WEIGHT_Q5_0: case WEIGHT_Q5_1:
    return (nibble(low, i) | fifth_bit(high, i)) - t->offset;
  case WEIGHT_Q4_K: return whole_of_q4_k(low, i);
  case WEIGHT_Q6_K: return whole_of_q6_k(low, high, i) - t->offset;
  case WEIGHT_Q2_K: return two_bits(low, i);
  case WEIGHT_Q3_K: return (two_bits(low, i) | one_bit(high, i) << 2) - t->offset;
  case WEIGHT_Q5_K: return whole_of_q4_k(low, i) | one_bit(high, i) << 4;
  case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4:
    return block_steps[t->steps][nibble(low + i / 32 * 16, i % 32)];
  case WEIGHT_F32: case WEIGHT_F16: case WEIGHT_BF16: break;
  }
  return 0;
}

@ Is a number in a block exact as a |float|? The scale has 11 significant bits, and $q$ has 8 at most, so their product has 19 and fits into the 24 of a |float|. (In \texttt{q6\_k}, which comes next, the scale is itself a product and has 18, but $q$ has only 6.) Where there is a minimum, the sum may need more, and |fmaf| rounds it once. So with float inputs a weight in a block is a float like any other, and the dot product of \cref{model} works with it as it is.

@<The numbers of a block@>=
float block_number(enum weight_type type, const unsigned char *block, size_t i)
{
  struct block_scale s = block_scale_of(type, block, i);
  float q = (float) block_whole(type, block, i);
  return block_has_min(type) ? fmaf(q, s.d, s.m) : q * s.d;
}

@* K-quants: scales of scales. \label{sec:kquants}
A scale of 16 bits for 32 numbers is more exact than it needs to be: it is right to one part in \given{2048}, while the numbers that it multiplies are off by several percent. What do we do with numbers that are too exact? We quantize them as well. That is the idea of the \emph{K-quants}, which most files of four bits use today. A \emph{superblock} has \given{256} numbers; it has one scale in float16, and each of its groups of 32 or 16 numbers has a small integer by which that scale is multiplied (\cref{fig:kblocks}).
@^K-quants@>@^superblock@>

\fig{kblocks}{fig:kblocks}{The bytes of a superblock of \given{256} numbers, drawn to scale. In q4\_k eight groups of 32 share two float16 numbers, $d$ for their scales and $d_{\min}$ for their minima. In q6\_k sixteen groups of 16 share $d$.}{Two bars. q4\_k has \given{144} bytes: two for d, two for dmin, 12 for eight scales and eight minima of six bits, and \given{128} for nibbles. q6\_k has \given{210}: \given{128} for the low four bits, 64 for the high two, 16 for scales and two for d.}

\texttt{q4\_k} is asymmetric. A group of 32 has a scale $s$ and a minimum $t$ of six bits each, and a number is $q\,sd-t\,d_{\min}$. That makes \val[1]{weights.bits.Q4_K} bits, as many as \texttt{q4\_0} has without any minimum. \texttt{q6\_k} is symmetric, with groups of 16, whose scales are signed bytes.

The others are made of the same parts. \texttt{q5\_k} is \texttt{q4\_k} with a fifth bit for each number, in 32 bytes of its own. \texttt{q3\_k} is symmetric like \texttt{q6\_k}, but a scale has six bits, and \given{32} is subtracted from it. \texttt{q2\_k} gives each number two bits, four values; its groups of 16 have a scale and a minimum of four bits each, which share a byte. Such groups are expensive: of the \val[2]{weights.bits.Q2_K} bits that a number takes in this type, more than half a bit is for scales and minima.

Files that are called ``Q4\_K\_M'' have most matrices in \texttt{q4\_k} and a few, which were found to be more sensitive, in \texttt{q6\_k}; ``Q5\_K\_M'' and ``Q3\_K\_M'' are mixtures of the same kind. To write such types well is an art. llama.cpp searches for the scales with the smallest error, and an error counts the more, the larger the inputs of its column were on sample texts: the file of these factors is called an \emph{importance matrix} (imatrix). We search too, for two of the types (\cref{sec:ksearch}), and another engine would not find the same scales.
@^importance matrix@>

@ In a superblock the integers are stored in an order that suits a kernel with registers of 32 bytes: of 64 numbers in \texttt{q4\_k} the first 32 are the low halves of 32 bytes, and the others the high halves of the same bytes. In \texttt{q6\_k} each half of the block, \given{128} numbers, is divided into four parts of 32. They share 64 bytes for their low four bits and 32 bytes for their high two. Where a number has two bits, in \texttt{q2\_k} and \texttt{q3\_k}, the four parts share their 32 bytes in the same way. \texttt{q3\_k} and \texttt{q5\_k} have one bit more for each of the \given{256} numbers: it takes 32 bytes, whose lowest bits belong to the first 32 numbers, the next bits to the next 32, and so on.

@<Whole numbers in a block of 256@>=
static int whole_of_q4_k(const unsigned char *q, size_t i)
{
  int two = q[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? two & 15 : two >> 4;
}
static int whole_of_q6_k(const unsigned char *low, const unsigned char *high, size_t i)
{
  size_t half = i / 128, part = i % 128 / 32, at = i % 32;
  int four = low[64 * half + 32 * (part % 2) + at], two = high[32 * half + at];
  four = part < 2 ? four & 15 : four >> 4;
  return four | (two >> 2 * part & 3) << 4;
}
static int two_bits(const unsigned char *q, size_t i)
{@+ return q[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;@+ }
static int one_bit(const unsigned char *high, size_t i)
{@+ return high[i % 32] >> i / 32 & 1;@+ }

@ The eight scales and eight minima of \texttt{q4\_k} have six bits each, 96 in all, in twelve bytes. The first four scales are the low six bits of bytes 0 to 3, and the first four minima those of bytes 4 to 7. The last four have their low four bits in bytes 8 to 11, scales below and minima above, and their high two bits are what was left over in the first eight bytes. The products with $d$ and $d_{\min}$ are exact again, with 17 bits. The sign of the minimum is changed here, so that a number is $q\,d+m$ in this type as well.

@<Scales in a block of 256@>=
static struct block_scale packed_scale(const unsigned char *block, size_t j)
{
  const unsigned char *six = block + 4;
  int d = six[j] & 63, m = six[j + 4] & 63;
  if (j >= 4) {
    d = (six[j + 4] & 15) | six[j - 4] >> 6 << 4;
    m = six[j + 4] >> 4 | six[j] >> 6 << 4;
  }
  return (struct block_scale) @[{ half_at(block) * (float) d,@|
    -(half_at(block + 2) * (float) m) }@];
}

@ In \texttt{q2\_k} there is nothing to piece together. \texttt{q3\_k} has sixteen scales of six bits in twelve bytes. Byte $j$ of the first eight holds the low four bits of scale $j$ and of scale $j+8$. The last four bytes hold the high two bits: byte $8+j$ those of scales $j$, $j+4$, $j+8$ and $j+12$. One type of \cref{sec:unequal}, \texttt{iq4\_xs}, has eight scales of six bits, and another layout: the high bits of all eight are in two bytes after $d$, the low ones in the four bytes after those. Why two layouts for the same six bits? They were made in different years.

@<Scales in a block of 256@>=
static struct block_scale nibble_scale(const unsigned char *d, unsigned char both)
{
  return (struct block_scale) @[{ half_at(d) * (float) (both & 15),@|
    -(half_at(d + 2) * (float) (both >> 4)) }@];
}
static float six_apart(const unsigned char *six, size_t j, bool q3_k)
{
  int low = q3_k ? six[j % 8] >> j / 8 * 4 : six[4 + j / 2] >> j % 2 * 4;
  int high = q3_k ? six[8 + j % 4] >> j / 4 * 2 : six[2 + j / 4] >> j % 4 * 2;
  return (float) ((low & 15) + (high & 3) * 16 - 32);
}

@ One function finds the scale of a number in any type. There are seven kinds of scales, and again the row of the type says which of them it has. The last two kinds come in the next section.

@<The scales of a block@>=
static float half_at(const unsigned char *p)
{@+ return num_from_f16((uint16_t) (p[0] | p[1] << 8));@+ }
@<Scales in a block of 256@>@;
bool block_has_min(enum weight_type type)
{@+ return number_types[type].has_min;@+ }
struct block_scale block_scale_of(enum weight_type type,
  const unsigned char *block, size_t i)
{
  const struct number_type *t = &number_types[type];
  const unsigned char *d = block + t->d_at, *small = block + t->scales_at;
  struct block_scale s = @[{ half_at(d), 0 }@];
  switch (t->scales) {
  case SCALE_ALONE: if (t->has_min) s.m = half_at(d + 2);@+ break;
  case SCALES_PACKED: return packed_scale(small, i / t->group);
  case SCALES_BYTES: s.d *= (float) (int8_t) small[i / t->group];@+ break;
  case SCALES_NIBBLES: return nibble_scale(d, small[i / t->group]);
  case SCALES_SIXES: s.d *= six_apart(small + 4, i / t->group, true);@+ break;
  case SCALES_APART: s.d *= six_apart(small, i / t->group, false);@+ break;
  case SCALE_POWER: s.d = num_float(d[0] > 1 ? (d[0] - 1u) << 23 : (d[0] + 1u) << 21);
  }
  return s;
}

@* Steps that are not equal. \label{sec:unequal}
So far the sixteen values of four bits were equally far apart. Is that a good use of them? Look at the weights of a block (\cref{fig:quantsteps}).\lab{lab:steps} Most are small. A few are large, and these set the scale; so the outer values wait for weights that seldom come, while the inner ones serve a crowd. We would like more values in the middle and fewer outside. Nothing stops us: the four bits need not \emph{be} the number. They can be its place in a table of sixteen numbers.
@^steps, of a quantizer@>

\fig{quantsteps}{fig:quantsteps}{The weights of the built-in model in fractions of the largest in their block of 32, and the sixteen values of three types of four bits, each scaled so that its largest is 1. The curve has most of its values where most weights are; the float has them even nearer to 0, and two of them are 0.}{A histogram over the range from -1 to 1, highest around 0 and falling to both sides, with a small rise at both ends where the largest weights of the blocks are. Below it three rows of sixteen ticks: equal distances in the first; a little closer in the middle in the second; in the third very close around 0, and far apart at the ends.}

\texttt{iq4\_nl} has such a table, one for all models (\emph{nl} for nonlinear). Its values are integers from $-\given{127}$ to \given{113}, between which the steps grow from 11 near 0 to 24 at the upper end. A block looks like one of \texttt{q4\_0}: a scale in float16 and 32 places. \texttt{iq4\_xs} has the same table in superblocks, whose eight groups have scales of six bits; that saves a quarter of a bit. You meet both in files that were made for small memories, and llama.cpp also takes \texttt{iq4\_nl} for rows that are not whole superblocks.
@^IQ4@>

\texttt{mxfp4} answers the same question with a float. What is a float if not steps that grow? Its four bits are a sign, two of exponent and one of fraction, and mean
$$0,\quad\textstyle{1\over2},\quad1,\quad1{1\over2},\quad2,\quad3,\quad4,\quad6$$
or their negatives; $-0$ wastes one of the sixteen. The scale of a block is a power of two and needs no fraction: one byte is enough. It is a standard of several makers of processors \cited{Rouhani 2023}, some of which multiply such numbers as they are, and large models have been trained in it. ggml stores it as integers: the values are doubled and the scale is halved.
@^MXFP4@>

@ Take the eight weights of the beginning again.

\begin{byhand}{the same eight weights in steps that are not equal}
For the curve we take $d=0.0125$. Each weight is divided by $d$, and becomes the nearest of the table's numbers, which are $-127$, $-104$, $-83$, $-65$, $-49$, $-35$, $-22$, $-10$, 1, 13, 25, 38, 53, 69, 89 and 113. For the float the halved scale is $0.125$, and the numbers are 0, 1, 2, 3, 4, 6, 8, 12 and their negatives.

\medskip
{\footnotesize\begin{tabular}{@@{}l@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{\,\,}r@@{}}
weight & $0.72$ & $-1.60$ & $0.34$ & $0.08$ & $-0.46$ & $1.12$ & $0.86$ & $-0.24$\\
by $0.0125$ & $57.6$ & $-128$ & $27.2$ & $6.4$ & $-36.8$ & $89.6$ & $68.8$ & $-19.2$\\
in the table & $53$ & $-127$ & $25$ & $1$ & $-35$ & $89$ & $69$ & $-22$\\
error, curve & $-0.06$ & $0.01$ & $-0.03$ & $-0.07$ & $0.02$ & $-0.01$ & $0.00$ & $-0.04$\\
by $0.125$ & $5.8$ & $-12.8$ & $2.7$ & $0.6$ & $-3.7$ & $9.0$ & $6.9$ & $-1.9$\\
a float & $6$ & $-12$ & $3$ & $1$ & $-4$ & $8$ & $6$ & $-2$\\
error, float & $0.03$ & $0.10$ & $0.04$ & $0.05$ & $-0.04$ & $-0.12$ & $-0.11$ & $-0.01$
\end{tabular}}
\medskip

All errors, taken as positive and not rounded, sum to $0.23$ on the curve and to $0.49$ in the float; in the equal steps of the first box it was $0.46$. The curve gains at every weight but one. The float is fine where weights are small and coarse where they are large.
\end{byhand}

@ Is it worth it? We rounded all matrices of the built-in model's layers, in blocks of 32, and for each block looked for the best scale that the type allows. The relative error is \val[1]{steps.equal} percent in equal steps, \val[1]{steps.curve} percent on the curve and \val[1]{steps.float} percent in the float. So the curve gains a tenth, and takes not one bit more. The float loses. Its steps are finer in the middle than these weights want, but that costs little: with a scale like the others' its error would be \val[1]{steps.float.fine} percent. The rest is the price of a scale that can only be a power of two. MXFP4 was made to be multiplied fast, and not to err little.

@ Reading costs a look into the table. The products with $d$ are exact, as before: the scale of a group in \texttt{iq4\_xs} is 11 bits times 5, a number of the table has 7, and together that is 23 of the 24 bits of a |float|. And the power of two? The byte is the exponent of a |float|; one less halves the scale. Only the bytes 0 and 1 need care: their scales, $2^{-\given{128}}$ and $2^{-\given{127}}$, are too small for a normal |float|, so the line for |SCALE_POWER| in the code above writes the bits of the subnormal numbers. The tables themselves, |block_steps|, are in \cref{sec:numbertypes}, where the kernels find them too.

@* Writing K-quants: a search for scales. \label{sec:ksearch}
There is one way to read a block, but many ways to write one, since the format does not say which scale is the best. In the small types we take the obvious scale, as ggml does. In a superblock nothing is obvious: the scales are rounded themselves, and the integers may win back what a scale has lost. So we ask for the smallest sum of squared errors, and search. Each weight counts alike. By \cref{sec:whyitworks} that is right as long as we know nothing of the inputs; with sample texts you can do better (\cref{sec:kquants}).
@^K-quants, writing@>

Suppose that somebody gave us the integers of a group. Which $s$ and $t$ bring $q_is-t$ as near to the weights $x_i$ as can be? That is a straight line through points: \emph{least squares}. With sums over the $n$ numbers of the group, the derivatives by $s$ and $t$ are 0 for
$$
  s={n\sum q_ix_i-\sum q_i\sum x_i\over n\sum q_i^2-(\sum q_i)^2},\qquad t={s\sum q_i-\sum x_i\over n}.
$$
And if somebody gave us $s$ and $t$, we would round each weight to its nearest value. Neither of the two steps can make the error larger, so we take them in turn until nothing changes. (Lloyd's method for the levels of a quantizer does the same \cited{Lloyd 1982}.)
@^least squares@>

In \texttt{q4\_k} the minimum that is subtracted has no sign. If the formula gives a negative $t$, as it may where all weights are positive, we take $t=0$ and $s=\sum q_ix_i/\sum q_i^2$, as in a symmetric type.

@<One step nearer@>=
struct neighbours { const float *x; size_t n; int low, high; bool has_min; };
struct fit { double s, t, off; };
static double nearest_whole(const struct neighbours *g, double z)
{
  /*- the sum has no bits left for a fraction */
  z = (z + 0x1.8p52) - 0x1.8p52;
  z = z > g->low ? z : g->low;
  return z < g->high ? z : g->high;
}

@ Both halves of a step go through the group once. The first says how far the rounded weights are off with a scale; the second rounds them and collects the sums of the formula.

@<One step nearer@>=
static double off_of(const struct neighbours *g, double s, double t)
{
  double off = 0, times = s == 0 ? 0 : 1 / s;
  for (size_t i = 0; i < g->n; i++) {
    double x = (double) g->x[i], q = nearest_whole(g, (x + t) * times);
    off += (q * s - t - x) * (q * s - t - x);
  }
  return off;
}
static struct fit step_nearer(const struct neighbours *g, double s, double t)
{
  double n = (double) g->n, q1 = 0, q2 = 0, x1 = 0, qx = 0, times = s == 0 ? 0 : 1 / s;
  for (size_t i = 0; i < g->n; i++) {
    double x = (double) g->x[i], q = nearest_whole(g, (x + t) * times);
    q1 += q, x1 += x;
    q2 += q * q, qx += q * x;
  }
  double under = n * q2 - q1 * q1;
  struct fit f = @[{ q2 > 0 ? qx / q2 : 0, 0, 0 }@];
  if (g->has_min && under > 0) {
    double slope = (n * qx - q1 * x1) / under, below = (slope * q1 - x1) / n;
    if (below > 0) f.s = slope, f.t = below;
  }
  f.off = off_of(g, f.s, f.t);
  return f;
}

@ Where do we begin? The steps lead to a nearby minimum of the error, and not always to the lowest. So we begin at eleven places: at the scale that just covers the group, and at five smaller and five larger ones, up to \given{15} percent away. Smaller scales cut off the largest weights and give the others finer steps.

@<Search the scales of a group@>=
static struct fit search_group(const struct neighbours *g)
{
  double low = 0, high = 0;
  struct fit best = @[{ 0, 0, off_of(g, 0, 0) }@];
  for (size_t i = 0; i < g->n; i++)
    low = fmin(low, (double) g->x[i]), high = fmax(high, (double) g->x[i]);
  double cover = (high > -low ? high : low) / g->low;
  if (g->has_min) cover = (high - low) / g->high;
  for (int k = -5; k <= 5 && cover != 0; k++) {
    struct fit f = @[{ cover * (1 + 0.03 * k), g->has_min ? -low : 0, HUGE_VAL }@], next;
    while ((next = step_nearer(g, f.s, f.t)).off < f.off) f = next;
    if (f.off < best.off) best = f;
  }
  return best;
}

@ Now the scales of all groups are known, as real numbers, and become small integers. The largest gets the largest integer. For the others we try the nearest integer and its two neighbours, with every one of the three for the minimum, and keep what errs least. The integers of the weights are rounded anew each time, so they make up for what the scales have lost.

@<Round the scales of a superblock@>=
enum { MOST_GROUPS = 16 };
struct superblock { struct neighbours of[MOST_GROUPS]; struct fit fit[MOST_GROUPS];
  size_t n; int least, most; int s[MOST_GROUPS], t[MOST_GROUPS]; float d, m; double off; };
static void round_scales(struct superblock *b, size_t g)
{
  double d = (double) b->d, m = (double) b->m, off, best = HUGE_VAL;
  double s = d == 0 ? 0 : floor(b->fit[g].s / d + 0.5);
  double t = m == 0 ? 0 : floor(b->fit[g].t / m + 0.5);
  for (int i = 0; i < 9; i++) {
    double u = fmin(fmax(s + i % 3 - 1, b->least), b->most);
    double v = m == 0 ? 0 : fmin(fmax(t + i / 3 - 1, 0), b->most);
    off = off_of(&b->of[g], u * d, v * m);
    if (!(off < best)) continue;
    best = off;
    b->s[g] = (int) u, b->t[g] = (int) v;
  }
  b->off += best;
}
static void round_all(struct superblock *b)
{
  b->off = 0;
  for (size_t g = 0; g < b->n; g++) round_scales(b, g);
}

@ And $d$ and $d_{\min}$ themselves? When all integers are known they can be fitted as well, by least squares over the superblock: a number is $u\,d-v\,d_{\min}$ with $u=qs$ and $v=t$, where $s$ and $t$ are now the small integers of its group. The two equations are those above with other sums. We take the new pair if it errs less once it is rounded to float16 and all integers are chosen anew.

@<Fit the scale of the scales@>=
static void fit_superblock(const struct superblock *b, double *d, double *m)
{
  double uu = 0, uv = 0, vv = 0, ux = 0, vx = 0;
  for (size_t g = 0; g < b->n; g++) {
    const struct neighbours *of = &b->of[g];
    double s = b->s[g] * (double) b->d, t = b->t[g] * (double) b->m;
    for (size_t i = 0; i < of->n && s != 0; i++) {
      double x = (double) of->x[i], u = nearest_whole(of, (x + t) / s) * b->s[g];
      double v = b->t[g];
      uu += u * u, uv += u * v;
      vv += v * v;
      ux += u * x, vx += v * x;
    }
  }
  double under = uv * uv - uu * vv;
  *m = under != 0 ? (uu * vx - uv * ux) / under : 0;
  *d = uu > 0 ? (ux + uv * *m) / uu : 0;
}

@ We do this at most three times. A pair that does not err less ends the search, and so does a NaN or a number too large for float16. (|x - x| is 0 for every other number.)

@<Fit the scale of the scales@>=
static void improve(struct superblock *b)
{
  for (int i = 0; i < 3; i++) {
    struct superblock next = *b;
    double d, m;
    fit_superblock(b, &d, &m);
    next.d = num_from_f16(num_to_f16((float) d));
    next.m = num_from_f16(num_to_f16((float) m));
    if (next.m < 0 || next.m - next.m != 0 || next.d - next.d != 0) return;
    round_all(&next);
    if (!(next.off < b->off)) return;
    *b = next;
  }
}

@ Now we have all the parts. The row of the type tells us how many groups there are and which values their numbers may have; the kind of its scales tells us the range of the small integers. If $d$ or $d_{\min}$ is too large for float16 the block cannot be written, and the caller is told.

@<Write a superblock@>=
static void search_superblock(enum weight_type type, const float *x, struct superblock *b)
{
  const struct number_type *t = &number_types[type];
  bool bytes = t->scales == SCALES_BYTES;
  double s = 0, m = 0;
  *b = (struct superblock) @[{ .n = t->block / t->group, .least = bytes ? -128 : 0,@|
    .most = bytes ? 127 : 63 }@];
  for (size_t g = 0; g < b->n; g++) {
    b->of[g] = (struct neighbours) @[{ x + g * t->group, t->group, -t->offset,@|
      (1 << t->bits) - 1 - t->offset, t->has_min }@];
    b->fit[g] = search_group(&b->of[g]);
    if (fabs(b->fit[g].s) > fabs(s)) s = b->fit[g].s;
    m = fmax(m, b->fit[g].t);
  }
  b->d = num_from_f16(num_to_f16((float) (s / b->most)));
  b->m = num_from_f16(num_to_f16((float) (m / b->most)));
  if (b->d - b->d != 0 || b->m - b->m != 0) return;
  round_all(b);
  improve(b);
}

@ When the search is over, we round the weights once more, by the scales as the file will have them, and pack the integers.

@<Write a superblock@>=
static int whole_at(const struct superblock *b, size_t i)
{
  size_t n = b->of[0].n, g = i / n;
  double s = b->s[g] * (double) b->d, t = b->t[g] * (double) b->m;
  return s == 0 ? 0 : (int) nearest_whole(&b->of[g], ((double) b->of[g].x[i % n] + t) / s);
}
@<Pack a superblock@>@;
bool superblock_encode(enum weight_type type, const float *x, unsigned char *to)
{
  const struct number_type *t = &number_types[type];
  struct superblock b;
  search_superblock(type, x, &b);
  if (b.d - b.d != 0 || b.m - b.m != 0) return false;
  memset(to, 0, t->bytes);
  put_half(b.d, to + t->d_at);
  if (t->has_min) put_half(b.m, to + t->d_at + 2);
  if (t->scales == SCALES_BYTES) pack_q6_k(&b, to);
  else pack_q4_k(&b, to);
  return true;
}

@ How good is the search? We gave the matrices of the built-in model to it and to \texttt{llama-quantize}, without sample texts (\cref{tab:ksearch}).\lab{lab:ksearch} In the types for which we search, ours err a little less. That is no triumph: llama.cpp gives the error of a large weight more importance than that of a small one, and we measure exactly what we have made small. The table says more about the types. \texttt{q4\_k} errs \val[1]{search.gain} percent less than \texttt{q4\_0} with the same number of bits; and of the types that we only read, \texttt{q5\_k} has about half the error of \texttt{q4\_k}, and below four bits each bit less about doubles it.

\begin{table}
\tabcaption{tab:ksearch}{Relative errors of the built-in model's matrices in percent, as \texttt{llama-quantize} writes them and as we do. As rows of \given{128} numbers are no superblocks, the numbers of a matrix are taken as they follow each other. A dash: we only read this type.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrr@@{}}
\tabhead{type} & \tabhead{bits} & \tabhead{llama-quantize} & \tabhead{ours}\\\midrule
\texttt{q6\_k} & \val[2]{weights.bits.Q6_K} & \val[2]{search.q6_k.llama} & \val[2]{search.q6_k.incipit}\\
\texttt{q5\_k} & \val[1]{weights.bits.Q5_K} & \val[2]{search.q5_k.llama} & --\\
\texttt{q4\_1} & \val[1]{weights.bits.Q4_1} & \val[2]{search.q4_1.llama} & \val[2]{search.q4_1.incipit}\\
\texttt{q4\_0} & \val[1]{weights.bits.Q4_0} & \val[2]{search.q4_0.llama} & \val[2]{search.q4_0.incipit}\\
\texttt{q4\_k} & \val[1]{weights.bits.Q4_K} & \val[2]{search.q4_k.llama} & \val[2]{search.q4_k.incipit}\\
\texttt{iq4\_nl} & \val[1]{weights.bits.IQ4_NL} & \val[2]{search.iq4_nl.llama} & --\\
\texttt{iq4\_xs} & \val[2]{weights.bits.IQ4_XS} & \val[2]{search.iq4_xs.llama} & --\\
\texttt{q3\_k} & \val[2]{weights.bits.Q3_K} & \val[2]{search.q3_k.llama} & --\\
\texttt{q2\_k} & \val[2]{weights.bits.Q2_K} & \val[2]{search.q2_k.llama} & --
\end{tabular*}
\end{table}

@ Packing is what the functions of \cref{sec:kquants} undo.

@<Pack a superblock@>=
static void put_half(float x, unsigned char *to)
{
  uint16_t h = num_to_f16(x);
  to[0] = (unsigned char) h, to[1] = (unsigned char) (h >> 8);
}
static void pack_q4_k(const struct superblock *b, unsigned char *to)
{
  unsigned char *six = to + 4, *q = to + 16;
  for (size_t j = 0; j < 4; j++) {
    six[j] = (unsigned char) (b->s[j] | b->s[j + 4] >> 4 << 6);
    six[j + 4] = (unsigned char) (b->t[j] | b->t[j + 4] >> 4 << 6);
    six[j + 8] = (unsigned char) ((b->s[j + 4] & 15) | (b->t[j + 4] & 15) << 4);
  }
  for (size_t i = 0; i < WEIGHT_SUPER_BLOCK; i++)
    q[i / 64 * 32 + i % 32] |= (unsigned char) (whole_at(b, i) << i % 64 / 32 * 4);
}
static void pack_q6_k(const struct superblock *b, unsigned char *to)
{
  for (size_t g = 0; g < b->n; g++) to[192 + g] = (unsigned char) b->s[g];
  for (size_t i = 0; i < WEIGHT_SUPER_BLOCK; i++) {
    size_t half = i / 128, part = i % 128 / 32, at = i % 32;
    int q = whole_at(b, i) + 32;
    to[64 * half + 32 * (part % 2) + at] |= (unsigned char) ((q & 15) << part / 2 * 4);
    to[128 + 32 * half + at] |= (unsigned char) (q >> 4 << 2 * part);
  }
}

@ The search has a file of its own.

@(superblocks.c@>=
/** A search for the scales of a superblock: least squares for given whole numbers, the nearest whole
  numbers for given scales, in turn, from several beginnings. All sums are in double, in a fixed order,
  so every machine writes the same bytes. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"
@;@#
@<One step nearer@>@;
@<Search the scales of a group@>@;
@<Round the scales of a superblock@>@;
@<Fit the scale of the scales@>@;
@<Write a superblock@>@;

@* Inputs of eight bits. \label{sec:int8}
The weights take less memory now, but every product still begins by making a float of an integer. That is slow when many rows are multiplied, for then the processor computes more than it reads. Processors have instructions that multiply 64 pairs of \emph{bytes} and add the products to sums of 32 bits, four times as many operations as in |float|. For them the inputs must be bytes as well. So we quantize the inputs of a linear layer, its \emph{activations}, while the model runs: \emph{int8 activations}.
@^int8@>@^activations, int8@>

Let 32 inputs stand for $p_ie$, with bytes $p_i$ and a scale $e$, and the 32 weights of a block for $q_id+m$. Then
\begin{equation}\label{eq:blockproduct}
  \sum_i(q_id+m)\,p_ie=de\sum_iq_ip_i+me\sum_ip_i .
\end{equation}
Both sums have only integers in them: they are exact in any order. Floats come in once a block, not once a number. The second sum does not depend on the weights at all: it is computed once for a block of inputs, whatever the number of outputs.

@ Inputs have outliers even more than weights do, as we saw, so they get a scale for every 32 numbers as well. These are a rounded block, and the two products of this chapter.

@<Products with inputs of fewer bits@>=
struct int8_block { float d;@+ int32_t sum[2];@+ int8_t q[WEIGHT_BLOCK]; };
  /* 32 numbers, each near |q[i]*d|; |sum| has the sums of both halves of |q| */
void quantize_int8(const float *x, struct int8_block *to);
  /* 32 floats rounded to bytes, tiny ones as well: the largest in magnitude becomes 127 or $-127$, the others the nearest
     integer, a half to the even one. If all are 0, so are |d| and |q|. If one is infinite or NaN, |d| is, and all |q| are 0 */
void plain_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |linear_int8| of the plain table */
void plain_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |linear_bf16| of the plain table */

@ Inputs are not stored in a file, so here we are free, and we choose what is exact and fast. The scale stays a |float|. (llama.cpp rounds it to float16 if the weights have blocks of 32. So with int8 inputs its logits differ from ours in the last digits, and both are right.) Numbers are multiplied by $\given{127}/\max\vert x\vert$, one rounding, and rounded to the nearest integer, a half to the even one, as the processor's own conversion does. What if an input is infinite or NaN? Rounding must not hide it. The obvious loop for the maximum would: comparisons with NaN are false, so it passes the NaN over. We compare the bits of the magnitudes as integers instead. There every NaN is above infinity, and infinity is above all numbers. Then the scale is not finite, and neither is any product with it.

And if all inputs are tiny? Below $\given{127}/$|FLT_MAX|, less than $10^{-36}$, the quotient $\given{127}/\max\vert x\vert$ overflows, and every number of the block would become \given{127} or $-\given{127}$. So a block whose largest number is below $2^{-64}$ is first multiplied by $2^{64}$. That is exact, and leaves each product $x\cdot127/\max\vert x\vert$ as it was. The scale stays as small as it is: a subnormal one has fewer digits, and one below $2^{-\given{150}}$ becomes 0, as the inputs nearly were.
@^NaN@>@^subnormal number@>

@<Round a block of inputs@>=
void quantize_int8(const float *x, struct int8_block *to)
{
  uint32_t most = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    uint32_t bits = num_bits32(x[i]) & 0x7fffffff;
    if (bits > most) most = bits;
  }
  float max = num_float(most), up = max < 0x1p-64f ? 0x1p64f : 1;
  float times = max == 0 ? 0 : 127 / (max * up);
  to->d = max / 127, to->sum[0] = to->sum[1] = 0;
  for (int i = 0; i < WEIGHT_BLOCK; i++) {
    float z = rintf(x[i] * up * times);
    if (z != z) z = 0;
    if (z > 127) z = 127;
    if (z < -127) z = -127;
    to->q[i] = (int8_t) z, to->sum[i / 16] += to->q[i];
  }
}

@ Equation \eqref{eq:blockproduct} becomes two multiply--adds to a running sum, |acc|, in the order of the equation; the product of the two scales is rounded once. \emph{This is the definition}: one chain over rising blocks, from $+0$ on. In \texttt{q6\_k}, \texttt{q3\_k} and \texttt{q2\_k} a scale is shared by 16 numbers only, so there the step is taken twice, and a minimum meets the sum of 16 inputs. The sum of 32 products of bytes is at most $32\cdot127\cdot128$, which a |float| holds exactly. Unlike the dot product of floats, this definition has no lanes: with one multiply--add for 32 numbers the chain is short, and kernels find their parallel work in many outputs.

@<Add the product of 32 inputs@>=
static float add_product(enum weight_type type, const unsigned char *block,
  size_t at, const struct int8_block *x, float acc)
{
  size_t group = number_types[type].group;
  for (size_t g = 0; g < WEIGHT_BLOCK; g += group) {
    struct block_scale s = block_scale_of(type, block, at + g);
    int32_t sum = 0, in = x->sum[g / 16];
    if (group == WEIGHT_BLOCK) in += x->sum[1];
    for (size_t i = g; i < g + group; i++)
      sum += x->q[i] * block_whole(type, block, at + i);
    acc = fmaf((float) sum, s.d * x->d, acc);
    if (block_has_min(type)) acc = fmaf((float) in, s.m * x->d, acc);
  }
  return acc;
}

@ Where do we keep the rounded inputs of a row? Nowhere: we round a block, multiply it with the blocks of all outputs, and then round the next. The running sums are in the place of the results. |k / block * block| is the first number of the weights' block, which may be longer than that of the inputs.

@<A linear layer with inputs of eight bits@>=
static void row_int8(const struct matrix *w, const float *x, float *y)
{
  size_t block = number_types[w->weight.type].block;
  size_t row = weight_row_bytes(w->weight.type, w->in);
  for (size_t o = 0; o < w->out; o++) y[o] = 0;
  for (size_t k = 0; k < w->in; k += WEIGHT_BLOCK) {
    struct int8_block in;
    quantize_int8(x + k, &in);
    const unsigned char *p = (const unsigned char *) w->weight.data
      + weight_row_bytes(w->weight.type, k / block * block);
    for (size_t o = 0; o < w->out; o++)
      y[o] = add_product(w->weight.type, p + o * row, k % block, &in, y[o]);
  }
}

@ As in every linear layer of this book the bias comes last.

@<Add the bias of a row@>=
static void add_bias(const struct matrix *w, float *y)
{
  for (size_t o = 0; o < w->out && w->bias.data != NULL; o++)
    y[o] += tensor_number(w->bias, o);
}

@ The kernel does this for every row and every matrix of its list. It is one more entry of the table of kernels (\cref{sec:kernels}), beside |linear|, which multiplies the same weights with float inputs.

@<A linear layer with inputs of eight bits@>=
void plain_linear_int8(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < rows; r++) {
      float *out = y[i] + r * list[i].out;
      row_int8(&list[i], x + r * list[i].in, out);
      add_bias(&list[i], out);
    }
}

@* Inputs in bfloat16. \label{sec:dotbf}
Newer processors also have an instruction for pairs of bfloat16 numbers, \texttt{VDPBF16PS}: for each of sixteen lanes it takes two inputs and two weights, and adds both products to a float, at twice the speed of |float|. It fits weights that are stored in bfloat16 anyway, if the inputs are rounded to it. The results are not those of float inputs, so this format is only used if you ask for it.
@^bfloat16@>@^VDPBF16PS@>

To get the same bits on a machine without the instruction, we need to know exactly what it does. It takes the pair's second product first; each of the two is a multiply--add with one rounding; and numbers too small for the normal range of |float| count as zero, before and after. With $j=i\bmod16$, and all inputs and results \emph{flushed} in this sense, the dot product is
$$
  a_j\leftarrow\texttt{fma}(x_{2i+1},w_{2i+1},a_j),\qquad a_j\leftarrow\texttt{fma}(x_{2i},w_{2i},a_j)
$$
for rising $i$, and then the fold of \cref{sec:order}. We compared this with the instruction itself, on many millions of random numbers and on the edge that comes next, and found no bit that differs.
@^flush to zero@>

@ Flushing has a catch at the edge. When is a result too small? The processor decides after rounding, but as if exponents had no lower end. Just below the smallest normal number, $2^{-\given{126}}$, such a rounding has steps of $2^{-\given{150}}$; a |float| in memory has only steps of $2^{-\given{149}}$ there. So a sum between $2^{-\given{126}}-2^{-\given{150}}$ and $2^{-\given{126}}-2^{-\given{151}}$ rounds to $2^{-\given{126}}$ in memory, and to something smaller in the processor, which flushes it. The exact sum tells which: where it matters it fits into a |double|.

@<Multiply and add, and flush what is small@>=
static float flushed(float x)
{@+ return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;@+ }
static float fma_flushed(float x, float w, float c)
{
  float a = flushed(x), b = flushed(w), sum = fmaf(a, b, c);
  if (fabsf(sum) == 0x1p-126f
    && fabs((double) a * (double) b + (double) c) < 0x1.ffffffp-127)
    return copysignf(0, sum);
  return flushed(sum);
}

@ The loop over |i| goes down from the odd number of a pair to the even one. If the number of inputs is odd, the last pair lacks its second number, and that step is skipped.

@<A linear layer with inputs of sixteen bits@>=
static float dotbf(const float *x, size_t n, struct tensor w, size_t first,
  size_t step)
{
  float lane[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k += 2) {
    float *a = &lane[k / 2 % 16];
    for (size_t i = k + 2 < n ? k + 2 : n; i-- > k; )
      *a = fma_flushed(num_from_bf16(num_to_bf16(x[i])),
        tensor_number(w, first + i * step), *a);
  }
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) lane[j] += lane[j + half];
  return lane[0];
}

@ The loop is the definition, not a way to be fast; the kernel that uses the instruction is in \cref{sec:pairs11}. Apart from the dot product the layer is that of \cref{sec:order}; like it, it also takes matrices that are stored by inputs.

@<A linear layer with inputs of sixteen bits@>=
void plain_linear_bf16(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    const struct matrix *w = &list[i];
    size_t row = w->transposed ? 1 : w->in, step = w->transposed ? w->out : 1;
    for (size_t r = 0; r < rows; r++) {
      float *out = y[i] + r * w->out;
      for (size_t o = 0; o < w->out; o++)
        out[o] = dotbf(x + r * w->in, w->in, w->weight, o * row, step);
      add_bias(w, out);
    }
  }
}

@ Which product does a matrix get? By default its inputs stay floats, unless it is in blocks, and then they become bytes. The option \texttt{{-}{-}activations} asks for one of three formats: \texttt{f32} is possible with all types, \texttt{bf16} with weights in bfloat16 only, \texttt{int8} with blocks only. A model may mix types, and often a file with blocks has its embedding or a few matrices in float16. So the format is decided for each matrix: one that has no product with the format asked for takes its default. If the format fits no matrix of the model, the option would do nothing, and so it is refused (\cref{sec:refused}). Norms, attention and the residual stream stay in |float|.
@^activations, format of@>

Everything that was promised in \cref{model} holds for these formats as well: the logits do not depend on the cache, the chunks of a prompt, the other rows of a pass, the threads, or the kernels. A block of inputs belongs to one row, so no row can disturb the rounding of another. In engines that quantize all rows of a pass with one scale that is not so, and there a text may depend on its neighbours.

@ Reading a block needs nothing else of the model. So it has a file of its own, which the plain kernels use.

@(blocks.c@>=
/** A number of a block, whatever its type. Whole numbers and scales are exact; the only rounding is one
  multiply-add, where a type has a minimum. Nothing else of the model is used. */
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"
@;@#
@<The whole numbers of a block@>@;
@<The scales of a block@>@;
@<The numbers of a block@>@;

@ Rounding and multiplying are in a second file, which uses the plain kernels.

@(quantization.c@>=
/** Weights and inputs rounded to few bits, and linear layers with such inputs: the definition that every
  fast kernel is compared with. A block is rounded by itself, so no row disturbs another. */
#include <math.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/quantization.h"
@;@#
@<Round a block of weights@>@;
@<Round one block, of whatever type@>@;
@<Write weights@>@;
@<Round a block of inputs@>@;
@<Add the product of 32 inputs@>@;
@<Add the bias of a row@>@;
@<A linear layer with inputs of eight bits@>@;
@<Multiply and add, and flush what is small@>@;
@<A linear layer with inputs of sixteen bits@>@;

@* What is lost: logits, tokens, perplexity. \label{sec:quantloss}
Now we measure. We round all matrices of the built-in model, and its embedding, to each of the types, let the rounded model read the three tales of \cref{sec:forgetting}, and compare each of the \val{types.rows} rows with that of the exact model (\cref{tab:quantloss}).\lab{lab:types} The error of a row is that of its worst logit. A token has changed if another one leads.
@^perplexity@>

\begin{table}
\tabcaption{tab:quantloss}{The built-in model with rounded weights: bits for each weight, relative error of the weights, and over all rows the mean of the largest error of a logit, the rows whose likeliest token has changed, and the change of the perplexity from \val[4]{types.f32.perplexity}. Inputs are floats, but in the lines marked otherwise.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrrr@@{}}
\tabhead{weights} & \tabhead{bits} & \tabhead{error, \%} & \tabhead{logits} & \tabhead{changed} & \tabhead{perplexity, \%}\\\midrule
\texttt{bf16} & \val[1]{types.bf16.bits} & \val[2]{types.bf16.weights} & \val[3]{types.bf16.mean} & \val{types.bf16.changed} & \val[3]{types.bf16.percent}\\
\quad inputs \texttt{bf16} & & & \val[3]{types.bf16.bf16.mean} & \val{types.bf16.bf16.changed} & \val[3]{types.bf16.bf16.percent}\\
\texttt{q8\_0} & \val[1]{types.q8_0.bits} & \val[2]{types.q8_0.weights} & \val[3]{types.q8_0.mean} & \val{types.q8_0.changed} & \val[3]{types.q8_0.percent}\\
\quad inputs \texttt{int8} & & & \val[3]{types.q8_0.int8.mean} & \val{types.q8_0.int8.changed} & \val[3]{types.q8_0.int8.percent}\\
\texttt{q5\_1} & \val[1]{types.q5_1.bits} & \val[2]{types.q5_1.weights} & \val[3]{types.q5_1.mean} & \val{types.q5_1.changed} & \val[3]{types.q5_1.percent}\\
\texttt{q5\_0} & \val[1]{types.q5_0.bits} & \val[2]{types.q5_0.weights} & \val[3]{types.q5_0.mean} & \val{types.q5_0.changed} & \val[3]{types.q5_0.percent}\\
\texttt{q4\_1} & \val[1]{types.q4_1.bits} & \val[2]{types.q4_1.weights} & \val[3]{types.q4_1.mean} & \val{types.q4_1.changed} & \val[3]{types.q4_1.percent}\\
\texttt{q4\_0} & \val[1]{types.q4_0.bits} & \val[2]{types.q4_0.weights} & \val[3]{types.q4_0.mean} & \val{types.q4_0.changed} & \val[3]{types.q4_0.percent}\\
\quad inputs \texttt{int8} & & & \val[3]{types.q4_0.int8.mean} & \val{types.q4_0.int8.changed} & \val[3]{types.q4_0.int8.percent}
\end{tabular*}
\end{table}

@ The error of the logits follows that of the weights down the table (\cref{fig:quanterror}), as \cref{sec:whyitworks} predicts: from eight bits on each bit less about doubles it. With eight bits \val[word]{types.q8_0.changed} rows of \val{types.rows} choose another token, with four bits \val{types.q4_0.changed}, one in \val[0]{types.q4_0.every}. The perplexity hardly moves: with four bits it is \val[2]{types.q4_0.percent} percent larger, which sounds like nothing. It averages over all tokens, and for most of them, we think, the choice was clear. It should not be your only measure.
Nor does it rank the types: \texttt{q4\_1} errs less than \texttt{q4\_0} and changes fewer tokens, yet in this text its perplexity is the larger one. Counts of changed tokens do not rank close types: \texttt{q5\_1} errs less than \texttt{q5\_0} and changes \val{types.q5_1.changed} rows instead of \val{types.q5_0.changed}. For neighbours in the table trust the error of the logits, or measure on more text.

One changed token in \val[0]{types.q4_0.every} does not mean a mistake here and there in a text that is otherwise the old one. In the tale of \cref{sec:quanttale} the likeliest token changed at one place, \emph{looked} for \emph{thought}; from there on the model read another text, and went on with that.

\fig{quanterror}{fig:quanterror}{The mean largest error of a logit in the built-in model against the bits of a weight, with float inputs (dots) and with inputs in fewer bits (circles).}{A plot with a logarithmic vertical axis. Dots fall from \val[1]{types.q4_0.mean} at four and a half bits to \val[2]{types.q8_0.mean} at eight and a half and \val[2]{types.bf16.mean} at sixteen, nearly on a line from four to eight bits. The circles lie on the dots at four and five bits, and half as high again above them at eight and at sixteen.}

Why do \texttt{q4\_k}, \texttt{q6\_k} and their relatives have no line, the types of most files? Their blocks need rows of a multiple of \given{256} numbers, and those of the built-in model have \given{128} and \given{384}. (\Cref{tab:ksearch} has the errors of its weights alone.) A finer measure than ours is the \emph{Kullback--Leibler divergence} (KLD) of each row's probabilities from those of the exact model; llama.cpp's tool for perplexity prints it.
@^Kullback--Leibler divergence@>

@ What do int8 inputs cost? With weights of four bits they add nothing that you could see: the weights' own error is more than ten times as large as that of the inputs. With weights of eight bits both errors are about equal; being independent, they add like the sides of a right triangle, and the error of the logits grows from \val[3]{types.q8_0.mean} to \val[3]{types.q8_0.int8.mean}, about by the factor $\sqrt2$.

The kinds of matrices do not differ much.\lab{lab:tensors} In \texttt{q4\_0} the relative error is between \val[1]{tensor.Q4_0.out} percent in the output projections and \val[1]{tensor.Q4_0.down} in the matrices |down|. The embedding stands out with \val[1]{tensor.Q4_0.embedding} percent. Its rows are single tokens, some of which have a few large numbers. That is why files with four bits usually keep the embedding and the head in six or eight.

@ A published model loses more. We let stories260K read eight of its own stories, as in \cref{sec:lossy}.\lab{lab:published}\label{sec:quantstories} Its matrices |down| have rows of \given{172} numbers, no multiple of 32, so they stay in |float|, and on the whole a weight has \val[1]{stories.q4_0.bits} bits, not \val[1]{types.q4_0.bits}. All the same its perplexity is \val[1]{stories.q4_0.percent} percent larger with four bits, and \val[1]{stories.q4_0.changed.percent} percent of its tokens change.
Why does it lose so much more? Its weights are off by no more (\val[1]{stories.q4_0.weights} percent), and its logits by not much more (\val[2]{stories.q4_0.mean}). But its stories leave more open: the exact model's perplexity is \val[2]{stories.f32.perplexity} on them, \val[2]{types.f32.perplexity} on our tales. So at many more places, we think, several tokens are nearly equal, and a small error decides. Large models lose less than small ones, as \cited[Frantar and others (2023)]{Frantar 2023} measured.

\begin{claimed}{S2-84}
The perplexity of stories260K grows by \val[1]{claim.S2-84} percent. With eight bits, weights and inputs, it grows by \val[2]{claim.S2-83} percent, and \val[1]{stories.q8_0.int8.changed.percent} percent of the tokens change: that degradation may be called minimal (S2-83).
\end{claimed}

@* Other ways to quantize. \label{sec:otherways}
All this is rounding to nearest, which looks at one weight at a time. Better methods look at what the weights do. \cited[Frantar and others (2023)]{Frantar 2023} round the columns of a matrix one after the other, and after each they change the columns that are left so that the outputs of the layer, on sample texts, stay where they were; they call it GPTQ. You can also train a model with its rounding in place, \emph{quantization-aware training}, so that the weights learn to live with it. Weights that were rounded in either way can be stored in the blocks of this chapter, and then our engine reads them like any others. Most files of GPTQ have a layout of their own, which it does not read.
@^GPTQ@>@^quantization-aware training@>

Three more tricks move the difficulty elsewhere. A column of weights can be multiplied by a number, if the inputs of that column are divided by it. AWQ, \emph{activation-aware weight quantization} \cited{Lin 2023}, makes those columns larger whose inputs are large, so that they are rounded more finely; SmoothQuant \cited{Xiao 2022} goes the other way: it makes the outliers of the inputs smaller, and the weights carry what is left, so that both fit into bytes. QuaRot \cited{Ashkboos 2024} multiplies weights and inputs by the same rotation: their products stay as they are, and an outlier is spread over all columns.
@^AWQ@>@^SmoothQuant@>@^QuaRot@>

And there is another answer to the question of where the exponent goes. Recent graphics processors compute with floats of eight bits (FP8: a sign, four or five bits of exponent, three or two of fraction) and of four (a sign, two bits of exponent, one of fraction). Four bits need a shared scale here as well: MXFP4 \cited{Rouhani 2023} has one for 32 numbers, a power of two in one byte, so \given{4.25} bits in all; NVFP4 has one in FP8 for every 16, so \given{4.5}. These are blocks with steps that are not equal, as in \cref{sec:unequal}. Of all of them our engine reads MXFP4.
@^FP8@>@^MXFP4@>@^NVFP4@>

@* From a directory to a file: which type to take. \label{sec:quantfiles}
You have a model in a directory and want it smaller. The command

\medskip\noindent\texttt{incipit quantize -m DIR -{}-type q8\_0 -{}-out FILE.gguf}

\medskip\noindent
writes one GGUF file with everything that is needed to run it: weights, settings, vocabulary and the chat template (\cref{gguf}). Every subcommand takes the file in the place of the directory, and so does llama.cpp: from the built-in model both write the same greedy text, and the tensors are byte for byte those of its own \texttt{llama-quantize}, if that is told to give each tensor the type that we give it (\cref{sec:quantplan}), and the type has no superblocks. The file appears under its name only when it is whole.
@^GGUF@>@^quantize@>

What becomes smaller? The matrices. Gains, biases and learned positions stay floats, being few, and with fewer than eight bits the embedding and the head are kept in \texttt{q8\_0}. So with few bits a small model shrinks less than its type promises. \Cref{tab:quantfiles} has the files of stories260K. The vocabulary is in them as well; and the rows of its matrices |down| are not whole blocks, so those matrices are stored in \texttt{f16}.\lab{lab:files} The perplexities are not those of \cref{sec:quantstories}: these eight stories are others, each complete; and there all that fits into blocks was rounded to the one type, the embedding too, and the rest stayed |float|.

\begin{table}
\tabcaption{tab:quantfiles}{stories260K as a file in each type: its bytes, in percent of those of \texttt{f32}, its perplexity on eight complete stories that it wrote, and by how many percent that is larger. Inputs are floats for the first three types and int8 for the others.}
\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
\tabhead{type} & \tabhead{bytes} & \tabhead{\%} & \tabhead{perplexity} & \tabhead{more, \%}\\\midrule
\texttt{f32} & \val{files.f32.bytes} & \val[0]{files.f32.share} & \val[3]{files.f32.perplexity} & \val[2]{files.f32.percent}\\
\texttt{f16} & \val{files.f16.bytes} & \val[0]{files.f16.share} & \val[3]{files.f16.perplexity} & \val[2]{files.f16.percent}\\
\texttt{bf16} & \val{files.bf16.bytes} & \val[0]{files.bf16.share} & \val[3]{files.bf16.perplexity} & \val[2]{files.bf16.percent}\\
\texttt{q8\_0} & \val{files.q8_0.bytes} & \val[0]{files.q8_0.share} & \val[3]{files.q8_0.perplexity} & \val[2]{files.q8_0.percent}\\
\texttt{q5\_1} & \val{files.q5_1.bytes} & \val[0]{files.q5_1.share} & \val[3]{files.q5_1.perplexity} & \val[2]{files.q5_1.percent}\\
\texttt{q5\_0} & \val{files.q5_0.bytes} & \val[0]{files.q5_0.share} & \val[3]{files.q5_0.perplexity} & \val[2]{files.q5_0.percent}\\
\texttt{q4\_1} & \val{files.q4_1.bytes} & \val[0]{files.q4_1.share} & \val[3]{files.q4_1.perplexity} & \val[2]{files.q4_1.percent}\\
\texttt{q4\_0} & \val{files.q4_0.bytes} & \val[0]{files.q4_0.share} & \val[3]{files.q4_0.perplexity} & \val[2]{files.q4_0.percent}
\end{tabular*}
\end{table}

@ So which type should you take? Take \texttt{q8\_0} if the file fits into memory with room for the cache. A large model becomes little more than half of \texttt{f16}, so it is at most nearly twice as fast where decoding waits for memory (\cref{phases}); in \cref{tab:peers} our \given{110}\,M model decodes half again as fast in \texttt{q8\_0} as in \texttt{bf16}. The perplexity here is only \val[2]{files.q8_0.percent} percent larger, which you will not notice in a text. Keep \texttt{f16} or \texttt{bf16} only if you want to go on converting the file, since rounding twice adds the errors (the command refuses to do it), or if you compare engines bit for bit. Of the two, take the one in which the model was published, which loses nothing.

If \texttt{q8\_0} does not fit, take \texttt{q5\_1}, which costs \val[1]{files.q5_1.percent} percent here. Take four bits if a larger model fits in no other way: of two models with the same number of bits altogether, the one with more parameters in four bits was nearly always the better in the many experiments of \cited[Dettmers and Zettlemoyer (2023)]{Dettmers 2023}. Then take \texttt{q4\_k} if the rows of your model are multiples of \given{256} numbers, as those of most large models are: it has the bits of \texttt{q4\_0} and errs less (\cref{tab:ksearch}). Otherwise \texttt{q4\_1} is the better of the other two. \texttt{q4\_k\_m}, from another quantizer, gives more bits to the tensors that need them (\cref{sec:kquants}), and should be better still. A small model suffers most: this one loses \val[1]{files.q4_0.percent} percent with \texttt{q4\_0}. Measure yours on a text of your own: \texttt{incipit perplexity TEXT -m FILE.gguf}, before and after.

@* The check. \label{sec:quantcheck}
The program does what you did by hand. Its block has 32 numbers, of which it fills eight; the others are 0. The step is stored in float16 and is not quite \given{0.2}, but in two decimals all is as in the box. The last line multiplies the same weights with the inputs rounded to bytes.

\checkpoint{build/out/model-quantization.txt}{eight weights in four bits, and their product with eight inputs}

@ We get the exact product from the plain |linear| with float weights, and the other two from the plain kernels with weights in a block.

@c
#include <stdio.h>
#include <string.h>
#include "model/quantization.h"
@;@#
@<Multiply with one row of weights@>@;
@<Print a line of eight numbers@>@;
int main(int argc, char **argv)
{
  static const float w[WEIGHT_BLOCK] = @[{ 0.72f, -1.60f, 0.34f, 0.08f, -0.46f,@|
    1.12f, 0.86f, -0.24f }@];
  static const float x[WEIGHT_BLOCK] = @[{ 1, 0.5f, -1, 2, 1, -0.5f, 1, 2 }@];
  float back[WEIGHT_BLOCK], off[WEIGHT_BLOCK];
  unsigned char block[18];
  struct error why;
  if (argc > 1) return strcmp(argv[1], "values") != 0;
  if (!weights_encode(WEIGHT_Q4_0, w, WEIGHT_BLOCK, block, &why)) return 1;
  @<Read the block, and print all of it@>@;
  return 0;
}

@ The integers are printed as they are.

@<Read the block, and print all of it@>=
for (size_t i = 0; i < 8; i++) {
  back[i] = block_number(WEIGHT_Q4_0, block, i);
  off[i] = back[i] - w[i];
}
print_line("weight", w);
printf("q       ");
for (size_t i = 0; i < 8; i++)@+ printf("%6d", block_whole(WEIGHT_Q4_0, block, i));
printf("\n");
print_line("back", back);
print_line("error", off);
print_line("input", x);
printf("exact product     %8.2f\n", product(w, WEIGHT_F32, x, kernels_plain.linear));
printf("with four bits    %8.2f\n", product(block, WEIGHT_Q4_0, x,@|
  kernels_plain.linear));
printf("with int8 inputs  %8.2f\n", product(block, WEIGHT_Q4_0, x,@|
  kernels_plain.linear_int8));

@ A matrix with one output is a dot product.

@<Multiply with one row of weights@>=
typedef void linear_kernel(const struct engine *e, const struct matrix *list,@|
  size_t n, const float *x, size_t rows, float *const *y);
@#
static double product(const void *w, enum weight_type type, const float *x,
  linear_kernel *multiply)
{
  struct engine e = @[{ .k = &kernels_plain }@];
  struct matrix m = @[{ .weight = { w, type }, .in = WEIGHT_BLOCK, .out = 1 }@];
  float y, *to = &y;
  multiply(&e, &m, 1, x, 1, &to);
  return (double) y;
}

@ A number that rounds to zero is printed without a sign.

@<Print a line of eight numbers@>=
static void print_line(const char *name, const float *x)
{
  printf("%-8s", name);
  for (int i = 0; i < 8; i++) {
    double z = (double) x[i];
    printf("%6.2f", z > -0.005 && z < 0.005 ? 0.0 : z);
  }
  printf("\n");
}

@* Exercises. \label{sec:quantexercises}
The command beside an exercise judges your answer. Exercises 7 and 8 change the engine; the command builds it anew.

\begin{exercises}
\exercise{check}{ex:quant.bytes}{A matrix has \given{4096} inputs and \given{11008} outputs. How many bytes does it take in \texttt{q4\_0}, in \texttt{q4\_1} and in \texttt{q6\_k}?}{\texttt{make exercise-10-1}}{$\given{4096}\cdot11008=\given{45\,088\,768}$ numbers; a block of 32 takes 18 or 20 bytes, one of \given{256} takes \given{210}.}
\exercise{check}{ex:quant.code}{A block in \texttt{q4\_0} has the largest magnitude at $\given{3.2}$ and another number at $-\given{3.1}$. What is $d$, what integer does each become, from $-8$ to 7, and what does $-\given{3.1}$ stand for afterwards? (Take $d$ as exact.)}{\texttt{make exercise-10-2}}{$d=-\given{0.4}$. $\given{3.2}$ becomes $-8$. $-\given{3.1}/-\given{0.4}=\given{7.75}$ would become 8 and is cut off at 7, which stands for $-\given{2.8}$.}
\exercise{think}{ex:quant.min}{The same two numbers in a block of \texttt{q4\_1} whose other numbers are between them: what are $d$ and $m$, and what does $0$ become and stand for?}{\texttt{make exercise-10-3}}{$m=-\given{3.1}$ and $d=\given{6.3}/15=\given{0.42}$. $0$ becomes $\lfloor3.1/\given{0.42}+{1\over2}\rfloor=7$, which stands for $-\given{0.16}$.}
\exercise{think}{ex:quant.error}{Weights are evenly spread between $-1$ and 1, and a block is long, so that its largest is 1. What is the relative error in percent with 4 bits, symmetric, and what with 8? Give two decimals.}{\texttt{make exercise-10-4}}{The step is $1/8$ or $1/\given{127}$, the error $d/\sqrt{12}$, and the standard deviation of the weights $1/\sqrt3$: together $d/2$, that is \given{6.25} and \given{0.39} percent. (With four bits those between $\given{7.5}$ and 8 steps on the short side are cut off, which adds a little.)}
\exercise{think}{ex:quant.zero}{For how many of the types of \cref{tab:weighttypes} does a weight of exactly 0 always stay 0, whatever else is in its block?}{\texttt{make exercise-10-5}}{For those without a minimum whose numbers include 0: \texttt{f32}, \texttt{f16}, \texttt{bf16}, \texttt{q8\_0}, \texttt{q5\_0}, \texttt{q4\_0}, \texttt{q6\_k}, \texttt{q3\_k} and \texttt{mxfp4}, nine of them. The curve of \texttt{iq4\_nl} has no 0: its two values next to it are $-10$ and 1.}
\exercise{think}{ex:quant.sum}{How large can the sum of integers of a block be in magnitude, for \texttt{q8\_0} weights and int8 inputs, if weights may be $-\given{128}$ (a file of another program can have them)? How many such sums can be added before a |float| is no longer exact?}{\texttt{make exercise-10-6}}{$32\cdot128\cdot127=\given{520\,192}$. A |float| is exact up to $2^{24}=\given{16\,777\,216}$, which is 32 of them.}
\exercise{check}{ex:quant.q8}{In \texttt{q8\_0}, divide by the scale as it is stored, rounded to float16, and not by the one that was computed. Change |encode_q8_0|. The mean squared error must fall, if only by a little.}{\texttt{make exercise-10-7}}{|num_from_f16(num_to_f16(d))| in the place of |d| where |times| is computed.}
\exercise{think}{ex:quant.best}{Choose the scale of \texttt{q4\_0} better: try scales around the usual one, and keep the one with the smallest sum of squared errors. The mean squared error must fall by six percent at least. Change |encode_nibbles| for |WEIGHT_Q4_0|.}{\texttt{make exercise-10-8}}{A loop over divisors from $-7$ to $-9$ in small steps; each is tried on the whole block, and the last encoding is done with the best. Dividing by a little less than 8 cuts off more and makes the steps smaller.}
\exercise{think}{ex:quant.fit}{A group of \texttt{q4\_k} had three weights only, $\given{0.1}$, $\given{0.5}$ and $\given{1.0}$, and their integers were 0, 1 and 3. Which $s$ and $t$ does |step_nearer| find? Give two decimals. (Mind the sign of $t$.)}{\texttt{make exercise-10-9}}{The line through the points has the slope $(3\cdot\given{3.5}-4\cdot\given{1.6})/(3\cdot10-4^2)=\given{0.29}$ and meets the axis at $\given{0.14}$, so $t$ would be $-\given{0.14}$. A minimum that is subtracted cannot be negative: $t=0$ and $s=\given{3.5}/10=\given{0.35}$.}
\exercise{think}{ex:quant.sixbits}{How many bytes would a superblock of \texttt{q3\_k} have if its scales had four bits and not six, and how many bits would a number take? Give four decimals.}{\texttt{make exercise-10-10}}{Sixteen scales save two bits each, 4 bytes: \given{106} bytes, and $\given{106}\cdot8/\given{256}=\given{3.3125}$ bits.}
\end{exercises}
