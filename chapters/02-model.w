@i types.w
@s lanes int
@s NUM_INLINE inline
@s wide int

% ==== the opening of the chapter belongs to the second half (02-model-b.part) ====
\chapterquestion{What does a model compute, and in which order does it add?}
@** The model.
\incipit{A}{ model is a} function from rows of tokens to rows of numbers.

@c
#include <stdio.h>
#include <string.h>
#include "02-model/kernels.h"
@;@#
int main(void)
{
  printf("kernels: %s\n", kernels_find("scalar", NULL)->name);
  return 0;
}

@* Kernels. \label{sec:kernels}
% ==== end of the opening ====
The interface, one line for each thing that a pass does.

@(counters.h@>=
#ifndef INCIPIT_COUNTERS_H
#define INCIPIT_COUNTERS_H
#include <stdint.h>
@<What is counted@>@;
#endif

@ Counters are bumped where the cost is paid, once a call and never once an element; so
counting costs nothing that could be measured.

@<What is counted@>=
struct counters {
  uint64_t passes, rows;
  uint64_t kv_rows_computed, kv_rows_recomputed, qk_pairs;
  uint64_t madds_linear, madds_attention, madds_head;
  uint64_t weight_bytes_read, cache_bytes_read, cache_bytes_written;
};
  /* calls of |forward|; tokens at positions put through all layers; positions whose
     keys and values were computed, and those of them that an earlier pass had computed;
     (query, key) pairs of one head of the first layer; multiply--adds of the layers'
     matrices, of attention over all heads and layers, and of the head; stored bytes of
     weights read; bytes of cache read and written */

@ The header of the kernels.

@(kernels.h@>=
#ifndef INCIPIT_KERNELS_H
#define INCIPIT_KERNELS_H
#include "00-ground/ground.h"
#include "02-model/counters.h"
@<Numbers as a file stores them@>@;
@<What the kernels work on@>@;
@<The table of kernels@>@;
@<How a table is found and tested@>@;
#endif

@ Weights come in three types.

@<Numbers as a file stores them@>=
enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16 };
  /* IEEE binary32, IEEE binary16, the upper half of a binary32 */
size_t weight_bytes(enum weight_type type);
  /* bytes of one number: 4, 2, 2 */
struct tensor { const void *data; enum weight_type type; };
  /* numbers where they lie in the file (or in memory), little-endian, in any
     alignment, owned by somebody else; null |data|: there is no such tensor */
struct matrix { struct tensor weight, bias; size_t in, out; bool transposed; };
  /* a linear layer: |weight| is |[out][in]|, or |[in][out]| if |transposed|
     (GPT-2's Conv1D); |bias| is |[out]| or absent */

@ What a norm, a row's view of the store, and attention need to know.

@<What the kernels work on@>=
enum norm_kind { NORM_RMS, NORM_LAYER };
  /* Zhang and Sennrich 2019; Ba, Kiros and Hinton 2016 */
struct normalizer { enum norm_kind kind; struct tensor gain, bias; float epsilon; };
  /* |gain| and |bias| are |[d]|; each may be absent; NORM\_RMS looks at no |bias| */
enum activation_kind { ACTIVATION_GELU_TANH, ACTIVATION_GELU_ERF,
  ACTIVATION_SILU };
  /* Hendrycks and Gimpel 2016, approximated and exact; Elfwing and others 2017 */
struct heads { uint32_t n_heads, n_kv_heads, head_dim; float scale; };
  /* |n_heads| is a multiple of |n_kv_heads|; |scale| multiplies each score */
struct view {
  const void *base_k, *base_v;
  const uint32_t *page;
  size_t page_rows, row_bytes;
  enum weight_type type;
  uint32_t lo, hi;
};
  /* what one row sees of one layer of a sequence: positions |lo <= t < hi|. The
     keys of position |t| are |[n_kv_heads][head_dim]| numbers of |type| at |base_k +
     r*row_bytes|, where |r == t| if |page| is null, else |r == page[t/page_rows]*page_rows
     + t%page_rows|; the values likewise at |base_v| */
struct capture { float *weights; size_t stride; };
  /* where attention shall leave its weights: |[rows][n_heads][stride]|, that of
     position |t| at index |t|; positions that a row does not see get 0 */

@ Here is the table.

@<The table of kernels@>=
struct engine;
struct kernels {
  const char *name;
  @<The kernels, one by one@>@;
};
struct engine { const struct kernels *k; void *self; struct counters *c; };
  /* the first argument of every kernel: the kernels in use, their |struct pool *|
     (null: one thread), and the counters, which the callers of kernels bump */

@ What each does. None allocates; none fails.

@<The kernels, one by one@>=
void (*linear)(const struct engine *e, const struct matrix *list, size_t n,
  const float *x, size_t rows, float *const *y);
  /* |y[m] = x*w|$_m$ for |n| matrices with the same |in|: |x| is |[rows][in]|,
     |y[m]| is |[rows][out]| of |list[m]| and overlaps nothing. The bias is added last */
void (*normalize)(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y);
  /* |x| and |y| are |[rows][d]| and may be the same */
void (*angles)(const struct engine *e, const uint32_t *position, size_t rows,
  const float *frequency, size_t half, float scaling, float *c, float *s);
  /* $\cos$ and $\sin$, times |scaling|, of position times frequency in float32:
     |c| and |s| are |[rows][half]| (Su and others 2021) */
void (*rotate)(const struct engine *e, float *x, size_t rows, size_t n_heads,
  size_t half, const float *c, const float *s);
  /* turns the pairs (|i|, |i+half|) of each head of |x|, |[rows][n_heads][2*half]|,
     by the row's angles, in place: the half-split pairing of the Llama checkpoints */
void (*attend)(const struct engine *e, const struct heads *h, const float *q,
  const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep);
  /* |q| and |y| are |[rows][n_heads][head_dim]|, |seen| is |[rows]|; |room| has
     |kernels_room| floats for each worker; |keep| may be null (Vaswani and others 2017) */
void (*activate)(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y);
  /* |y[i]| $=f($|x[i]|$)$, times |up[i]| if |up| is not null; |y| may be |x| or |up| */
void (*add)(const struct engine *e, float *y, const float *x, size_t n);
  /* |y[i] += x[i]|: the residual stream */
void (*embed)(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y);
  /* row |id[r]| of |table|, |[...][d]|, widened to |y[r]|, |[rows][d]| */
void (*softmax)(const struct engine *e, const float *x, size_t rows, size_t n,
  double *y);
  /* $e^{x-\max}$ over its sum, in double, for each row of |x|, |[rows][n]| */
void (*log_softmax)(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y);
  /* $(x-\max)-\ln\sum e^{x-\max}$, in double, natural logarithms */

@ Which tables there are depends on the processor.

@<How a table is found and tested@>=
const struct kernels *kernels_find(const char *name, struct error *why);
  /* the table called |name|, \.{scalar}, \.{avx2} or \.{avx512}, or for null the
     fastest that this processor can run; null and a sentence that lists those it can */
const struct kernels *kernels_at(size_t i);
  /* table number |i| of those that this build has and this processor can run,
     the slowest first; null behind the last */
bool kernels_self_test(const struct kernels *k, struct error *why);
  /* false and a sentence if the build contracts $a\times b+c$ or has no exact |fma|;
     |forward| refuses to run then */
size_t kernels_room(const struct heads *h, size_t longest);
  /* floats that one worker of |attend| needs when no row sees more than |longest|
     positions */

@* Functions of our own. \label{sec:numbers}
The C library has an |expf|, and so has every other C library, and they differ: the
standard leaves the last bit to the library, and each has taken it at its word. A
softmax that calls them gives other logits on another system, and promise P2 is gone
over something that nobody would ever look for.

So the seven functions that a model needs are built here, from operations of which the
last bit is \emph{not} left to anybody. Addition, multiplication, division, square root,
and the fused multiply--add are each defined by IEEE 754 as the exact result, rounded
once. A fixed sequence of them has one outcome on every machine that follows the
standard, whether its compiler is gcc or clang, one number at a time or sixteen.
@^IEEE 754@>@^libm@>

@(numbers.h@>=
#ifndef INCIPIT_NUMBERS_H
#define INCIPIT_NUMBERS_H
#include <math.h>
#include <string.h>
#include "00-ground/ground.h"
#define NUM_INLINE static inline __attribute__((always_inline))
@;@#
@<See a number as its bits, and bits as a number@>@;
@<Functions that are compiled into the loops that use them@>@;
@<Functions that are called@>@;
#endif

@ Some of them stand in the header itself, because a call for each element would cost
more than the element: the loops of \cref{sec:bodies} run over sixteen neighbours, and a
compiler can do the sixteen at once only if it sees what is done. For the same reason
these have no branches. The others are called now and then, and live in |numbers.c|.

@<Functions that are compiled into the loops that use them@>=
@<The exponential in float@>@;
@<The exponential in double@>@;
@<The hyperbolic tangent in float@>@;
@<The error function in float@>@;
@<Widen the two short formats@>@;

@ The list of those that are called. |num_sin| and |num_cos| take any angle. What the errors
are is told in \cref{sec:ulp}, where they have been measured.

@<Functions that are called@>=
float num_logf(float x);
  /* natural logarithm; $-\infty$ for 0, not a number below */
float num_powf(float x, float y);
  /* $x^y$ with the special cases of C's annex F */
float num_sinf(float x);
  /* sine of an angle in radians, however large */
float num_cosf(float x);
  /* cosine of an angle in radians, however large */
double num_log(double x);
  /* natural logarithm; $-\infty$ for 0, not a number below */
double num_pow(double x, double y);
  /* $x^y$ with the special cases of C's annex F */
double num_sin(double x);
  /* sine of an angle in radians, however large */
double num_cos(double x);
  /* cosine of an angle in radians, however large */
double num_tanh(double x);
  /* hyperbolic tangent */
double num_erf(double x);
  /* error function */
uint16_t num_to_f16(float x);
  /* IEEE binary16, rounded to nearest even; infinite from 65520 on */
uint16_t num_to_bf16(float x);
  /* the upper half of a binary32, rounded to nearest even */

@ A floating-point number is a sign, an exponent and a fraction side by side in one word,
so a power of two can be made, or taken off, with a shift. |memcpy| is the way in which C
lets us look; no compiler leaves a call there.

@<See a number as its bits, and bits as a number@>=
NUM_INLINE uint32_t num_bits32(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
  /* the 32 bits of |x| */
NUM_INLINE float num_float(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
  /* the number with the bits |u| */
@<The same two for double@>@;

@ The two bodies once more, since C has no way to say ``and the same for the other
width'' that would be shorter than saying it.

@<The same two for double@>=
NUM_INLINE uint64_t num_bits64(double x)
{
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
  /* the 64 bits of |x| */
NUM_INLINE double num_double(uint64_t u)
{
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}
  /* the number with the bits |u| */

@* The exponential. \label{sec:exp}
Whole powers of two cost nothing, so we take as many as there are: $e^x=2^n e^r$, where
$n$ is the integer nearest to $x/\ln 2$ and $r=x-n\ln 2$ is at most ${1\over2}\ln2$ in
size. On that short interval $e^r=1+r+r^2q(r)$ with a polynomial $q$ of degree 5, fitted
so that its largest error is as small as that of any such polynomial (Remez's exchange).
@^Remez@>@^exponential@>

Three details carry the weight. The integer $n$ comes without a conversion: adding
$3\cdot2^{22}$ pushes everything behind the binary point out of the word, rounded, and $n$
is left in the low bits. The product $n\ln2$ is taken off in two pieces, |fmaf| keeping
each difference exact but for one rounding. And for $x=0$ all of it is zero except the 1,
so that $e^0=1$ exactly: on that rests the rule of blocks in \cref{sec:attention}.

@<The exponential in float@>=
NUM_INLINE float num_expf(float x)
{
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float pushed = fmaf(x, 1.442695f, 12582912.0f);
  float n = pushed - 12582912.0f;
  float r = fmaf(n, -0.6931472f, x);
  r = fmaf(n, 1.9046542e-9f, r);
  @<Let |q| be the polynomial of the exponential at |r|@>@;
  float y = 1.0f + fmaf(r * r, q, r);
  @<Return |y| times two to the |n|, in two steps@>@;
}
  /* $e^x$; 0 below about $-104$, infinite above about 88.7 */

@ Without the two clamps at its head, $n$ could outgrow the exponent field; with them the
function ends in 0 and in infinity by itself. A comparison with something that is not a
number is false, so that passes both clamps, and comes out as it went in. The
coefficients are near $1/2!,1/3!,\ldots$, as they must be, but not equal to them: a
Taylor polynomial is best at 0, and we want the worst place to be good.

@<Let |q| be the polynomial of the exponential at |r|@>=
float q = 0.00019907638f;
q = fmaf(q, r, 0.001393369f);
q = fmaf(q, r, 0.008333286f);
q = fmaf(q, r, 0.041666463f);
q = fmaf(q, r, 0.16666667f);
q = fmaf(q, r, 0.5f);

@ A result below $2^{-126}$ has no full exponent of its own, and $2^n$ itself would be no
number at all for $n=128$. So the power is applied as two halves, each harmless. The first
product is exact; if the second must round, into the range of the denormals, it rounds
once. All arithmetic on the exponents is unsigned, where C defines what happens to
nonsense: the nonsense made of something that was not a number is multiplied away.
@^denormals@>

@<Return |y| times two to the |n|, in two steps@>=
uint32_t k = num_bits32(pushed) - 0x4b400000u + 300u;
uint32_t half = k >> 1, rest = k - half;
return y * num_float((half - 23u) << 23) * num_float((rest - 23u) << 23);

@ In double the same, with a longer polynomial. It takes its argument as a sum of two
numbers, of which the second is tiny, because the power function will have such a sum.

@<The exponential in double@>=
NUM_INLINE double num_exp_of_sum(double x, double tiny)
{
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double pushed = fma(x, 1.4426950408889634, 6755399441055744.0);
  double n = pushed - 6755399441055744.0;
  double r = fma(n, -0.6931471805599453, x);
  r = fma(n, -2.3190468138462996e-17, r) + tiny;
  @<Let |q| be the longer polynomial at |r|@>@;
  double y = 1.0 + fma(r * r, q, r);
  uint64_t k = num_bits64(pushed) - 0x4338000000000000u + 2200u;
  uint64_t half = k >> 1, rest = k - half;
  return y * num_double((half - 77u) << 52) * num_double((rest - 77u) << 52);
}
  /* $e^{x+t}$ for a $t$ much smaller than the last place of 1 */
NUM_INLINE double num_exp(double x)
{
  return num_exp_of_sum(x, 0.0);
}
  /* $e^x$; 1 exactly for 0 */

@ Degree 10 leaves an error of $2^{-62}$, a few hundredths of what the additions lose.

@<Let |q| be the longer polynomial at |r|@>=
double q = 2.0921625276615325e-09;
q = fma(q, r, 2.5105260922590062e-08);
q = fma(q, r, 2.755725280625021e-07);
q = fma(q, r, 2.755725529422524e-06);
q = fma(q, r, 2.480158734744942e-05);
q = fma(q, r, 0.00019841269874904636);
q = fma(q, r, 0.0013888888888874352);
q = fma(q, r, 0.008333333333326112);
q = fma(q, r, 0.041666666666666685);
q = fma(q, r, 0.1666666666666667);
q = fma(q, r, 0.5);

@* Hyperbolic tangent and error function. \label{sec:tanh}
Both belong to the activations (\cref{sec:activations}), both are odd, and both run
from $-1$ to 1. The first follows from the exponential:
$$\tanh x={e^{2x}-1\over e^{2x}+1}={t\over t+2},\qquad t=e^{2x}-1.$$
For small $x$ the subtraction in $t$ would cancel nearly everything. It need not be
done: with $e^{2x}=2^n(1+p)$ we have $t=(2^n-1)+2^np$, and for $n=0$ that is $p$ itself,
which the polynomial gave us before the 1 was added.
@^cancellation@>

@<The hyperbolic tangent in float@>=
NUM_INLINE float num_tanhf(float x)
{
  float a = num_float(num_bits32(x) & 0x7fffffffu) * 2.0f;
  a = a > 20.0f ? 20.0f : a;
  float pushed = fmaf(a, 1.442695f, 12582912.0f);
  float n = pushed - 12582912.0f;
  float r = fmaf(n, -0.6931472f, a);
  r = fmaf(n, 1.9046542e-9f, r);
  @<Let |q| be the polynomial of the exponential at |r|@>@;
  float p = fmaf(r * r, q, r);
  float power = num_float((num_bits32(pushed) - 0x4b400000u + 127u) << 23);
  float t = fmaf(power, p, power - 1.0f);
  float y = t / (t + 2.0f);
  return num_float(num_bits32(y) | (num_bits32(x) & 0x80000000u));
}
  /* hyperbolic tangent; odd, to the bit */

@ The error function is ${2\over\sqrt\pi}\int_0^x e^{-t^2}dt$. Below 1 in size it is $x+x\,P(x^2)$;
above, $1-e^{-g(x)}$, where the polynomial $g$ was fitted to $-\ln(1-\hbox{erf}\,x)$. Both
are computed and one is chosen, because in sixteen lanes some would want the one and
some the other, and choosing costs less than parting.
@^error function@>

@<The error function in float@>=
NUM_INLINE float num_erff(float x)
{
  float a = num_float(num_bits32(x) & 0x7fffffffu), z = a * a;
  @<Let |small| be the polynomial for arguments below 1@>@;
  a = a > 4.0f ? 4.0f : a;
  @<Let |g| be the exponent for arguments above 1@>@;
  float large = 1.0f - num_expf(-g);
  float y = a < 1.0f ? small : large;
  y = x != x ? x : y;
  return num_float((num_bits32(y) & 0x7fffffffu)
    | (num_bits32(x) & 0x80000000u));
}
  /* the error function; odd, to the bit */

@ Six coefficients of $P$, in powers of $z=x^2$, and then a seventh: with one less the
polynomial's own error would show beside that of the rounding.

@<Let |small| be the polynomial for arguments below 1@>=
float s = 7.889119e-05f;
s = fmaf(s, z, -0.0008020846f);
s = fmaf(s, z, 0.0051895365f);
s = fmaf(s, z, -0.026854446f);
s = fmaf(s, z, 0.112836f);
s = fmaf(s, z, -0.37612626f);
s = fmaf(s, z, 0.12837917f);
float small = fmaf(a, s, a);

@ From 4 on the result is 1 in float, and so the argument is held at 4. The smaller $e^{-g}$
is, the less its error matters, and the fit was weighted accordingly.

@<Let |g| be the exponent for arguments above 1@>=
float g = 2.168610e-05f;
g = fmaf(g, a, -0.00044132717f);
g = fmaf(g, a, 0.0042045144f);
g = fmaf(g, a, -0.025208123f);
g = fmaf(g, a, 0.10841836f);
g = fmaf(g, a, 0.6332201f);
g = fmaf(g, a, 1.1295784f);
g = fmaf(g, a, -0.00018801549f);

@ In double the two are called seldom, and their bodies may have branches. The tangent
takes the same way as in float.

@<Tangent and error function in double@>=
double num_tanh(double x)
{
  double a = fabs(x) * 2.0;
  if (a > 40.0) a = 40.0;
  double pushed = fma(a, 1.4426950408889634, 6755399441055744.0);
  double n = pushed - 6755399441055744.0;
  double r = fma(n, -0.6931471805599453, a);
  r = fma(n, -2.3190468138462996e-17, r);
  @<Let |q| be the longer polynomial at |r|@>@;
  double p = fma(r * r, q, r);
  uint64_t k = num_bits64(pushed) - 0x4338000000000000u;
  double power = num_double((k + 1023u) << 52);
  double t = fma(power, p, power - 1.0);
  return copysign(t / (t + 2.0), x);
}
@<The error function in double@>@;

@ The error function in double would need a polynomial $g$ of degree 20. A change of
variable is cheaper: $e^{x^2}(1-\hbox{erf}\,x)(1+2x)$ hardly varies, and as a function of
$u=(x-3)/(x+3)$ it is nearly a polynomial already.

@<The error function in double@>=
double num_erf(double x)
{
  double a = fabs(x);
  if (!(a < 6.0)) return x != x ? x : copysign(1.0, x);
  if (a < 1.0) return fma(x, series(x * x, near_zero, 13), x);
  double u = (a - 3.0) / (a + 3.0);
  double tail = num_exp(-a * a) * series(u, far_out, 15) / fma(2.0, a, 1.0);
  return copysign(1.0 - tail, x);
}

@ All polynomials that are not inlined are evaluated by this one loop, highest power
first, so that the large coefficients are added last.
@^Horner@>

@<Evaluate a polynomial@>=
static double series(double z, const double *c, int n)
{
  double y = c[n - 1];
  for (int i = n - 2; i >= 0; i--) y = fma(y, z, c[i]);
  return y;
}

@ And these are the coefficients for the error function, lowest power first.

@<Coefficients of the error function@>=
static const double near_zero[13] = @[{ 0.1283791670955126,@|
  -0.3761263890318375, 0.11283791670954885, -0.026866170645077875,@|
  0.005223977624828431, -0.0008548326981425542, 0.0001205533113295582,@|
  -1.4925595772180906e-05, 1.64610084778027e-06, -1.6350396222864617e-07,@|
  1.466032872274226e-08, -1.137495573607015e-09, 5.960685338520971e-11 }@];
static const double far_out[15] = @[{ 1.2530080582697296, -0.1356211061245808,@|
  -0.04756229435348483, 0.12964515870168167, -0.11927366342599195,@|
  0.06830802735463042, -0.023770513726954084, 0.0025294041906958912,@|
  0.0018887579716481701, -0.0007796153229701539, -0.00010480741267096996,@|
  0.00012497748414954833, 2.9325597703315207e-06, -2.4882027595308854e-05,@|
  -6.512716156202709e-06 }@];

@* Logarithm and power. \label{sec:log}
The bits of a positive number almost are its logarithm already: the exponent is the
whole part. We take $x=2^km$ with $m$ between $\sqrt{1/2}$ and $\sqrt2$, and with
$s=(m-1)/(m+1)$ need
$$\ln m=2\,\hbox{artanh}\,s=2s+{2\over3}s^3+{2\over5}s^5+\cdots,$$
where $s$ is never above 0.1716. The trick of the next section shifts the scale by
$\sqrt{1/2}$ before it cuts, so that exponent and fraction fall apart at the right
place. Denormals are first multiplied into the normal range.
@^logarithm@>

@<Split |x| into |m| and a power of two, |k|@>=
double k = 0;
if (x < 0x1p-1022) x *= 0x1p54, k = -54;
uint64_t u = num_bits64(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
k += (double) (u >> 52) - 1023;
double m = num_double((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);

@ The quotient $s$ is rounded, and in the leading term $2s$ that would be felt. So we keep
what was lost: |fma| gives the remainder of the division exactly, and what the sum $m+1$
has dropped is known, too; |low| is the rest of $s$ that the word |s| could not hold.

@<Let |s + low| be the quotient for |m|@>=
double f = m - 1.0, d = m + 1.0, dropped = m - (d - 1.0);
double s = f / d;
double low = fma(-s, dropped, fma(-s, d, f)) / d;

@ The parts are added from the large to the small, and the first sum keeps its
remainder as well. The upper part of $\ln 2$ has so many zeros at its end that its
product with |k| is exact.

@<The logarithm in double@>=
double num_log(double x)
{
  if (!(x > 0)) return x == 0 ? -INFINITY : x != x ? x : NAN;
  if (x == INFINITY) return x;
  @<Split |x| into |m| and a power of two, |k|@>@;
  @<Let |s + low| be the quotient for |m|@>@;
  double z = s * s, a = k * 0.6931471805598903, b = 2 * s;
  double sum = a + b, rest = (a - sum) + b;
  rest += fma(s * z, series(z, artanh, 8), 2 * low);
  return sum + fma(k, 5.497923018708371e-14, rest);
}

@ Eight terms are fitted for the logarithm, and eight more for the power, which treats the term
$2s^3/3$ apart.

@<Coefficients of the logarithm@>=
static const double artanh[8] = @[{ 0.6666666666666666, 0.4000000000000089,@|
  0.28571428570794766, 0.22222222393604002, 0.18181795448247662,@|
  0.15386249682350017, 0.13268516254636384, 0.1308921949868944 }@];
static const double beyond[8] = @[{ 0.4, 0.2857142857142938,@|
  0.22222222221648177, 0.18181818337034797, 0.15384594796273687,@|
  0.13334813318194078, 0.11706014853795696, 0.11725409813239257 }@];

@ A power is $e^{y\ln x}$, and that is where a good logarithm is not good enough: the
error of $y\ln x$ becomes the \emph{relative} error of the result. With a result near
$10^{300}$ the exponent is about 700, ten bits in front of the point, and ten bits are
missing behind it. So for the power the logarithm is computed as the sum of two
doubles, |high + rest|, with the first two terms of the series kept in that form;
the last two lines make |high| as near to the whole as a double can be.
@^power@>@^double-double@>

@<The logarithm of |x| as |high + rest|@>=
@<Split |x| into |m| and a power of two, |k|@>@;
@<Let |s + low| be the quotient for |m|@>@;
double z = s * s, z_low = fma(2 * s, low, fma(s, s, -z));
double c = z * s, c_low = fma(z, s, -c) + fma(z_low, s, z * low);
double third = 0.6666666666666666, t = c * third;
double t_low = fma(c, third, -t) + fma(c, 3.700743415417188e-17, c_low * third);
double a = k * 0.6931471805598903, b = 2 * s;
double ab = a + b, ab_low = (a - ab) + b;
double abt = ab + t, rest = (ab - abt) + t;
rest += ab_low + (t_low + 2 * low);
rest += fma(c * z, series(z, beyond, 8), k * 5.497923018708371e-14);
double high = abt + rest;
rest = (abt - high) + rest;

@ With that the power of a positive number is a product, whose own rounding error |fma|
tells us, and an exponential. Beyond 800 in size the result is 0 or infinite whatever the
last bits are; cutting there keeps an infinite product from meeting its own remainder.

@<The power of a positive number@>=
static double positive_power(double x, double y)
{
  if (x == 1.0) return 1.0;
  if (x == 0.0 || x == INFINITY || fabs(y) == INFINITY)
    return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  @<The logarithm of |x| as |high + rest|@>@;
  double p = y * high;
  if (p > 800.0) return INFINITY;
  if (p < -800.0) return 0.0;
  return num_exp_of_sum(p, fma(y, high, -p) + y * rest);
}

@ What remains are the special cases, and C's annex F lists them. Anything to the power
0 is 1, even what is not a number; so is 1 to any power. A negative number has a power
only if the exponent is a whole number, and then the sign depends on whether that is
odd: a number is whole if rounding leaves it alone, and even if that holds for its half.

@<The power in double@>=
double num_pow(double x, double y)
{
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  bool negative = num_bits64(x) >> 63 != 0, whole = y == rint(y);
  bool odd = whole && y / 2 != rint(y / 2);
  if (negative && x != 0.0 && x != -INFINITY && !whole && fabs(y) != INFINITY)
    return NAN;
  double magnitude = positive_power(fabs(x), y);
  return negative && odd ? -magnitude : magnitude;
}

@* Sine and cosine. \label{sec:sin}
A position of ten thousand and a frequency of 1 make an angle of ten thousand radians,
and its sine depends on what is left after taking away some fifteen hundred turns. The
larger the angle, the more digits of $\pi$ are needed to know what is left. Most
libraries have three methods, for three sizes of angle. We have one that is right for
all of them, and not the fastest: per pass a model needs as many angles as it has rows,
times half a head.
@^Payne and Hanek@>@^angle@>

The quotient wanted is $x\cdot{2\over\pi}$, modulo 4: its whole part is the quadrant, its
fraction the place in it. Write $x=M\cdot2^e$ with a whole number $M$ below $2^{53}$. Multiplied
by $2^{e-2}$, the binary fraction $2/\pi$ falls apart into a whole number, whose product
with $4M$ is a multiple of 4 and can be forgotten, and a fraction, of which the first 192
bits are enough (Payne and Hanek 1983). So no more than a window of $2/\pi$ is looked at.

@<The digits of two over pi@>=
static const uint32_t two_over_pi[40] = @[{ 0, 0,@|
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,@|
  0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,@|
  0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,@|
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,@|
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,@|
  0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,@|
  0x56033046, 0xfc7b6bab }@];

@ The window is six words, cut at a bit and not at a word. Two zero words stand before
the digits, for angles so small that the window begins before the point. The product
with $M$, in two halves, is the multiplication that one learns at school, with digits of
thirty-two bits; what would stand in front of the window is not computed at all.
@^long multiplication@>

@<Multiply the window of two over pi by |M|@>=
uint64_t u = num_bits64(x);
uint64_t M = (u & 0xfffffffffffffu) | 0x10000000000000u;
unsigned skip = (unsigned) (u >> 52 & 0x7ff) - 1075 - 2 + 64;
uint32_t w[6], r[6];
for (unsigned i = 0; i < 6; i++) {
  const uint32_t *d = &two_over_pi[skip / 32 + i];
  w[i] = (uint32_t) (((uint64_t) d[0] << 32 | d[1]) >> (32 - skip % 32));
}
uint64_t carry = 0;
for (int i = 5; i >= 0; i--, carry >>= 32)
  carry += (M & 0xffffffff) * w[i], r[i] = (uint32_t) carry;
carry = 0;
for (int i = 5; i > 0; i--, carry >>= 32)
  carry += (M >> 32) * w[i] + r[i - 1], r[i - 1] = (uint32_t) carry;

@ The first two bits of the product are the quadrant. The rest becomes a signed fraction
between $-1/2$ and $1/2$, by going on to the next quadrant where it is above: then the
angle left over is within $\pi/4$ of zero. Four words of it are turned into the sum of
two doubles, small words first, so that even a fraction that begins with thirty zeros
keeps all of its digits.

@<Take the quadrant off, and let |g + g_low| be the rest@>=
unsigned quadrant = r[0] >> 30;
for (int i = 0; i < 5; i++) r[i] = r[i] << 2 | r[i + 1] >> 30;
double first = (double) r[0];
if (r[0] >> 31 != 0) quadrant++, first -= 0x1p32;
first *= 0x1p-32;
double second = (double) r[1] * 0x1p-64, third = (double) r[2] * 0x1p-96;
double fourth = (double) r[3] * 0x1p-128;
double g = ((fourth + third) + second) + first;
double g_low = ((first - g) + second) + third + fourth;

@ The angle is that fraction times $\pi/2$, again as a sum of two. For angles that are small
already there is nothing to take away.

@<Reduce |x| to |y + low| in a quadrant@>=
static unsigned reduce(double x, double *y, double *low)
{
  *y = x, *low = 0;
  if (fabs(x) <= 0.7853981633974483) return 0;
  double sign = x < 0 ? -1.0 : 1.0;
  x = fabs(x);
  @<Multiply the window of two over pi by |M|@>@;
  @<Take the quadrant off, and let |g + g_low| be the rest@>@;
  double p = g * 1.5707963267948966;
  double p_low = fma(g, 1.5707963267948966, -p)
    + fma(g, 6.123233995736766e-17, g_low * 1.5707963267948966);
  *y = sign * p, *low = sign * p_low;
  return sign < 0 ? 4 - quadrant % 4 : quadrant;
}

@ Within a quadrant two polynomials are left, in $z=y^2$. The small part |low| enters by
the first term of Taylor's series: $\sin(y+l)\approx\sin y+l\cos y$, and the cosine
correspondingly. In the cosine $1-z/2$ is rounded, and what was lost is put back.

@<Sine and cosine within a quadrant@>=
static double sine(double y, double low)
{
  double z = y * y, p = series(z, sine_terms, 7);
  return y + fma(y * z, p, fma(-0.5 * z, low, low));
}
static double cosine(double y, double low)
{
  double z = y * y, p = series(z, cosine_terms, 7);
  double head = fma(-0.5, z, 1.0), lost = fma(-0.5, z, 1.0 - head);
  return head + (lost + fma(z * z, p, -y * low));
}

@ Their coefficients; the first of each is $-1/3!$ and $1/4!$ to the last place.

@<Coefficients of sine and cosine@>=
static const double sine_terms[7] = @[{ -0.16666666666666666,@|
  0.008333333333333331, -0.00019841269841265044, 2.755731921932218e-06,@|
  -2.5052106226493628e-08, 1.605853066848744e-10,@|
  -7.586640759739923e-13 }@];
static const double cosine_terms[7] = @[{ 0.041666666666666664,@|
  -0.0013888888888888887, 2.4801587301584635e-05, -2.755731922139329e-07,@|
  2.0876755787742277e-09, -1.1470460355137536e-11,@|
  4.745840351316594e-14 }@];

@ The quadrant says which of the two it is, and with which sign. For an infinite angle
there is no answer; it is caught before the reduction, which would find one.

@<Sine and cosine in double@>=
static double turned(double x, unsigned turn)
{
  double y, low;
  if (!(fabs(x) < INFINITY)) return x - x;
  unsigned quadrant = (reduce(x, &y, &low) + turn) % 4;
  double value = quadrant % 2 == 0 ? sine(y, low) : cosine(y, low);
  return quadrant >= 2 ? -value : value;
}
double num_sin(double x)
{
  return turned(x, 0);
}
double num_cos(double x)
{
  return turned(x, 1);
}

@ In float, these functions and the logarithm and the power are rounded from double.
That is slower than it need be, and right in nearly all cases to the last bit: the
double's error is in the thirtieth bit behind the float's last.

@<Those in float that are rounded from double@>=
float num_logf(float x)
{
  return (float) num_log((double) x);
}
float num_powf(float x, float y)
{
  return (float) num_pow((double) x, (double) y);
}
float num_sinf(float x)
{
  return (float) num_sin((double) x);
}
float num_cosf(float x)
{
  return (float) num_cos((double) x);
}

@* Short formats. \label{sec:formats}
Weights are published in 16 bits: as binary16, with 5 bits of exponent and 10 of
fraction, or as bfloat16, which is the upper half of a float. Both are widened exactly at
use, so that a model means the same numbers whatever it is stored in. For bfloat16 that is a shift.
For binary16 the fields are moved into place, and a multiplication by
$2^{112}$ repairs the exponent, of denormals too, whose fraction it normalizes on the
way. What it cannot repair is infinity; so the top exponent is set by hand.
@^binary16@>@^bfloat16@>

@<Widen the two short formats@>=
NUM_INLINE float num_from_bf16(uint16_t h)
{
  return num_float((uint32_t) h << 16);
}
  /* the upper half of a binary32, widened exactly */
NUM_INLINE float num_from_f16(uint16_t h)
{
  uint32_t u = (h & 0x7fffu) << 13;
  uint32_t top = u >= 0x0f800000u ? 0x7f800000u : 0u;
  uint32_t v = num_bits32(num_float(u) * 0x1p112f) | top;
  return num_float(v | (h & 0x8000u) << 16);
}
  /* IEEE binary16, widened exactly */

@ Narrowing must round, to the nearest, and from the middle to the even neighbour. To a
number seen as bits we add just less than half of what will be cut off, and one more
if the last bit that stays is odd; a carry runs into the exponent, where it belongs.
A result that is not a number must not lose the bits that say so.

@<Narrow to the two short formats@>=
uint16_t num_to_bf16(float x)
{
  uint32_t u = num_bits32(x);
  if (x != x) return (uint16_t) (u >> 16 | 0x40u);
  return (uint16_t) ((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
@<Narrow to binary16@>@;

@ For binary16 the same, after the exponent has been moved down by 112. Below $2^{-14}$
its numbers are multiples of $2^{-24}$, which is the last place of a float between 1/2 and 1:
so adding 1/2 makes the processor do the rounding.

@<Narrow to binary16@>=
uint16_t num_to_f16(float x)
{
  uint32_t u = num_bits32(x), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (x != x) return (uint16_t) (sign | 0x7e00u);
  if (u >= 0x477ff000u) return (uint16_t) (sign | 0x7c00u);
  if (u < 0x38800000u)
    return (uint16_t) (sign | (num_bits32(num_float(u) + 0.5f) - 0x3f000000u));
  u = u - 0x38000000u + 0xfffu + (u >> 13 & 1u);
  return (uint16_t) (sign | u >> 13);
}

@ This is |numbers.c|: the tables of coefficients, and what is called.

@(numbers.c@>=
#include "02-model/numbers.h"
@;@#
@<Coefficients of the error function@>@;
@<Coefficients of the logarithm@>@;
@<Coefficients of sine and cosine@>@;
@<The digits of two over pi@>@;
@<Evaluate a polynomial@>@;
@<Functions of |numbers.c|, in order@>@;

@ Each after what it uses.

@<Functions of |numbers.c|, in order@>=
@<Tangent and error function in double@>@;
@<The logarithm in double@>@;
@<The power of a positive number@>@;
@<The power in double@>@;
@<Reduce |x| to |y + low| in a quadrant@>@;
@<Sine and cosine within a quadrant@>@;
@<Sine and cosine in double@>@;
@<Those in float that are rounded from double@>@;
@<Narrow to the two short formats@>@;

@ Plain for now.

@(kernels.c@>=
#include <math.h>
#include <string.h>
#include "02-model/kernels.h"
#include "02-model/numbers.h"
@;@#
static float get(struct tensor t, size_t i)
{
  uint16_t h;
  float f;
  if (t.type == WEIGHT_F32) {
    memcpy(&f, (const char *) t.data + 4 * i, 4);
    return f;
  }
  memcpy(&h, (const char *) t.data + 2 * i, 2);
  return t.type == WEIGHT_F16 ? num_from_f16(h) : num_from_bf16(h);
}
size_t weight_bytes(enum weight_type type)
{
  return type == WEIGHT_F32 ? 4 : 2;
}
static float fold(float acc[16])
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) acc[j] += acc[j + s];
  return acc[0];
}
static float dot(const float *x, const float *y, size_t n)
{
  float acc[16] = @[{ 0 }@];
  for (size_t k = 0; k < n; k++) acc[k % 16] = fmaf(x[k], y[k], acc[k % 16]);
  return fold(acc);
}
@<Plain linear and norm@>@;
@<Plain rope@>@;
@<Plain attention@>@;
@<Plain others@>@;
@<Plain table@>@;

@ Plain for now.

@<Plain linear and norm@>=
static void plain_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++)
    for (size_t r = 0; r < rows; r++)
      for (size_t o = 0; o < list[m].out; o++) {
        const struct matrix *w = &list[m];
        float acc[16] = @[{ 0 }@];
        for (size_t k = 0; k < w->in; k++) {
          float f = get(w->weight, w->transposed ? k * w->out + o
            : o * w->in + k);
          acc[k % 16] = fmaf(x[r * w->in + k], f, acc[k % 16]);
        }
        float sum = fold(acc);
        if (w->bias.data != NULL) sum += get(w->bias, o);
        y[m][r * w->out + o] = sum;
      }
}
static void plain_normalize(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += d, y += d) {
    float mean = 0;
    if (g->kind == NORM_LAYER) {
      float acc[16] = @[{ 0 }@];
      for (size_t k = 0; k < d; k++) acc[k % 16] += x[k];
      mean = fold(acc) / (float) d;
    }
    for (size_t k = 0; k < d; k++)
      y[k] = g->kind == NORM_LAYER ? x[k] - mean : x[k];
    float scale = 1 / sqrtf(dot(y, y, d) / (float) d + g->epsilon);
    for (size_t k = 0; k < d; k++) {
      y[k] *= scale;
      bool bias = g->kind == NORM_LAYER && g->bias.data != NULL;
      float gain = g->gain.data != NULL ? get(g->gain, k) : 1;
      y[k] = bias ? fmaf(y[k], gain, get(g->bias, k)) : y[k] * gain;
    }
  }
}

@ Plain for now.

@<Plain rope@>=
static void plain_angles(const struct engine *e, const uint32_t *position,
  size_t rows, const float *frequency, size_t half, float scaling, float *c,
  float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < half; i++) {
      float angle = (float) position[r] * frequency[i];
      c[r * half + i] = (float) num_cos(angle) * scaling;
      s[r * half + i] = (float) num_sin(angle) * scaling;
    }
}
static void plain_rotate(const struct engine *e, float *x, size_t rows,
  size_t n_heads, size_t half, const float *c, const float *s)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < n_heads; h++, x += 2 * half)
      for (size_t i = 0; i < half; i++) {
        float x0 = x[i], x1 = x[half + i], cc = c[r * half + i];
        float ss = s[r * half + i], a = x1 * ss, b = x1 * cc;
        x[i] = fmaf(x0, cc, -a);
        x[half + i] = fmaf(x0, ss, b);
      }
}

@ Plain for now.

@<Plain attention@>=
static struct tensor kv_row(const struct view *v, const void *base, uint32_t t)
{
  size_t r = t;
  if (v->page != NULL)
    r = v->page[t / v->page_rows] * v->page_rows + t % v->page_rows;
  return (struct tensor) @[{ (const char *) base + r * v->row_bytes, v->type }@];
}
static void plain_head(const struct heads *h, const float *q,
  const struct view *v, size_t kv, float *y, float *keep)
{
  size_t d = h->head_dim;
  float m = -INFINITY, l = 0;
  for (size_t c = 0; c < d; c++) y[c] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t b = v->lo / 256; b * 256 < v->hi; b++) {
      uint32_t t0 = b * 256 > v->lo ? b * 256 : v->lo;
      uint32_t t1 = b * 256 + 256 < v->hi ? b * 256 + 256 : v->hi;
      float s[256], mb = -INFINITY, acc[16] = @[{ 0 }@];
      for (uint32_t t = t0; t < t1; t++) {
        float a[16] = @[{ 0 }@];
        struct tensor k = kv_row(v, v->base_k, t);
        for (size_t c = 0; c < d; c++)
          a[c % 16] = fmaf(q[c], get(k, kv * d + c), a[c % 16]);
        s[t % 256] = fold(a) * h->scale;
        if (s[t % 256] > mb) mb = s[t % 256];
      }
      if (mb > m) m = mb;
      if (pass == 0) continue;
      float w = num_expf(mb - m);
      for (uint32_t t = t0; t < t1; t++) {
        s[t % 256] = num_expf(s[t % 256] - mb);
        acc[t % 16] += s[t % 256];
        if (keep != NULL) keep[t] = s[t % 256] * w;
      }
      l = fmaf(fold(acc), w, l);
      for (size_t c = 0; c < d; c++) {
        float o = 0;
        for (uint32_t t = t0; t < t1; t++)
          o = fmaf(s[t % 256], get(kv_row(v, v->base_v, t), kv * d + c), o);
        y[c] = fmaf(o, w, y[c]);
      }
    }
  for (size_t c = 0; c < d; c++) y[c] /= l;
  if (keep != NULL)
    for (uint32_t t = v->lo; t < v->hi; t++) keep[t] /= l;
}
static void plain_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  (void) e, (void) room;
  size_t d = h->head_dim, group = h->n_heads / h->n_kv_heads;
  for (size_t i = 0; i < rows * h->n_heads; i++) {
    float *kept = keep == NULL ? NULL : keep->weights + i * keep->stride;
    if (kept != NULL) memset(kept, 0, keep->stride * sizeof *kept);
    plain_head(h, q + i * d, &seen[i / h->n_heads], i % h->n_heads / group,
      y + i * d, kept);
  }
}

@ Plain for now.

@<Plain others@>=
static void plain_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  (void) e;
  for (size_t i = 0; i < n; i++) {
    float z = x[i], cube = z * z * z, f;
    if (kind == ACTIVATION_SILU) f = z / (1 + num_expf(-z));
    else if (kind == ACTIVATION_GELU_ERF)
      f = 0.5f * z * (1 + num_erff(z * 0.70710678f));
    else f = 0.5f * z * (1 + num_tanhf(0.79788456f
      * fmaf(0.044715f, cube, z)));
    y[i] = up == NULL ? f : f * up[i];
  }
}
static void plain_add(const struct engine *e, float *y, const float *x, size_t n)
{
  (void) e;
  for (size_t i = 0; i < n; i++) y[i] += x[i];
}
static void plain_embed(const struct engine *e, struct tensor table, size_t d,
  const uint32_t *id, size_t rows, float *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < d; c++) y[r * d + c] = get(table, id[r] * d + c);
}
static double sum_exp(const float *x, size_t n, double m)
{
  double acc[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i++) acc[i % 16] += num_exp((double) x[i] - m);
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) acc[j] += acc[j + s];
  return acc[0];
}
static void plain_softmax(const struct engine *e, const float *x, size_t rows,
  size_t n, double *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double) x[0];
    for (size_t i = 0; i < n; i++) if ((double) x[i] > m) m = (double) x[i];
    double sum = sum_exp(x, n, m);
    for (size_t i = 0; i < n; i++) y[i] = num_exp((double) x[i] - m) / sum;
  }
}
static void plain_log_softmax(const struct engine *e, const float *x,
  size_t rows, size_t n, double *y)
{
  (void) e;
  for (size_t r = 0; r < rows; r++, x += n, y += n) {
    double m = (double) x[0];
    for (size_t i = 0; i < n; i++) if ((double) x[i] > m) m = (double) x[i];
    double logsum = num_log(sum_exp(x, n, m));
    for (size_t i = 0; i < n; i++) y[i] = ((double) x[i] - m) - logsum;
  }
}

@ Plain for now.

@<Plain table@>=
static const struct kernels plain = @[{ "scalar", plain_linear, plain_normalize,
  plain_angles, plain_rotate, plain_attend, plain_activate, plain_add,
  plain_embed, plain_softmax, plain_log_softmax }@];
const struct kernels *kernels_at(size_t i)
{
  return i == 0 ? &plain : NULL;
}
const struct kernels *kernels_find(const char *name, struct error *why)
{
  if (name == NULL || strcmp(name, "scalar") == 0) return &plain;
  error_say(why, "no kernels called %s; there are: scalar", name);
  return NULL;
}
bool kernels_self_test(const struct kernels *k, struct error *why)
{
  (void) k, (void) why;
  return true;
}
size_t kernels_room(const struct heads *h, size_t longest)
{
  return (longest / 256 + 2) * ((size_t) h->head_dim + 16);
}
