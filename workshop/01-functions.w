@i types.w
@s NUM_INLINE inline
@s NUM_CALLED inline
@s NUM_PRIVATE static
@s NUM_TABLE static

\chapterquestion{Why not call \texttt{expf} of the C library?}
@** exp, log, pow, sin, tanh, erf: the same bits everywhere. \label{sec:numbers}
\incipit{T}{he C library} has an |expf|, and so has every other C library, and they differ: the
standard leaves the last bit to the library, and each takes that liberty. A
softmax that calls |expf| gives other probabilities on another system, and the promise of one answer is broken
where you would never look.

So we build the seven functions that a model needs, from operations whose
last bit is \emph{not} left to anybody. Addition, multiplication, division, square root,
and the fused multiply--add are each defined by IEEE 754 as the exact result, rounded
once. A fixed sequence of them has one outcome on every machine that follows the
standard, whether its compiler is gcc or clang, one number at a time or sixteen.
@^IEEE 754@>

\begin{byhand}{$e^2$ with a pencil}
Powers of two are easy; so take as many of them as there are. With $\ln2=0.69$ we have $2/0.69=2.90$, which is nearest
to 3. What is left is $2-3\cdot0.69=2-2.07=-0.07$. For such a small number $e^r$ is nearly
$1+r+r^2/2=1-0.07+0.00=0.93$. Eight times that is 7.44, and the truth is 7.39.

Nearly all of the error comes from $0.69$: with one more digit of $\ln2$, 0.693, the rest is $-0.079$, and the result 7.39. The function of
\cref{sec:exp} does the same, with more digits and a longer polynomial.
\end{byhand}

@ The program prints some values of the functions with their bits, which must be the same on any machine. With |"values"| it prints how far each
function is from the truth, which was measured once (\cref{sec:ulp}).

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
@;@#
@<Print some values of the functions@>@;
@<Print the errors that were measured@>@;
int main(int argc, char **argv)
{
  if (argc > 1) return strcmp(argv[1], "values") == 0 ? print_errors() : 1;
  return print_functions();
}

@ Each function once, at a place where a library may well give another last digit: a large angle, a power with both arguments far from 1, the middle
of a curve.

@<Print some values of the functions@>=
static void print_value(const char *name, float y)
{
  printf("%-16s %12.6f  %08x\n", name, (double) y, num_bits32(y));
}
static int print_functions(void)
{
  print_value("expf(2)", num_expf(2));
  print_value("logf(7)", num_logf(7));
  print_value("powf(10000, 0.3)", num_powf(10000, 0.3f));
  print_value("sinf(12345)", num_sinf(12345));
  print_value("cosf(12345)", num_cosf(12345));
  print_value("tanhf(0.7)", num_tanhf(0.7f));
  print_value("erff(0.7)", num_erff(0.7f));
  return 0;
}

@ The header has what is called from everywhere.

@(numbers.h@>=
#ifndef INCIPIT_NUMBERS_H
#define INCIPIT_NUMBERS_H
#include <float.h>
#include <math.h>
#include <string.h>
#include "ground/ground.h"
@<Where these functions run@>@;
@<See a number as its bits, and bits as a number@>@;
@<Functions that are compiled into the loops that use them@>@;
@<Functions that are called@>@;
#endif

@ The same text is compiled once more for a graphics processor (\cref{sec:devicefunctions}), whose compiler wants a word before each function that runs there.
On the host three of the four words are C's own, or none.

@<Where these functions run@>=
#ifdef __CUDACC__
#define NUM_INLINE static __device__ inline
#define NUM_CALLED static __device__ __attribute__((unused))
#define NUM_PRIVATE static __device__
#define NUM_TABLE static __device__ const
#else
#define NUM_INLINE static inline __attribute__((always_inline))
#define NUM_CALLED
#define NUM_PRIVATE static
#define NUM_TABLE static const
#endif

@ Some functions are in the header itself, because a call for each element would cost
more than the element: the loops of \cref{sec:bodies} run over sixteen neighbours, and a
compiler can do the sixteen at once only if it sees what is done. For the same reason
they have no branches. The others are called now and then, and live in |numbers.c|.

@<Functions that are compiled into the loops that use them@>=
@<The exponential in float@>@;
@<The exponential in double@>@;
@<The hyperbolic tangent in float@>@;
@<The error function in float@>@;
@<Widen the two short formats@>@;

@ These are called. How large their errors are, we measure in \cref{sec:ulp}.

@<Functions that are called@>=
NUM_CALLED float num_logf(float x);
  /* natural logarithm; $-\infty$ for 0, not a number below */
NUM_CALLED float num_powf(float x, float y);
  /* $x^y$ with the special cases of C's annex F */
NUM_CALLED float num_sinf(float x);
  /* sine of an angle in radians, however large */
NUM_CALLED float num_cosf(float x);
  /* cosine of an angle in radians, however large */
NUM_CALLED double num_log(double x);
  /* natural logarithm; $-\infty$ for 0, not a number below */
NUM_CALLED double num_pow(double x, double y);
  /* $x^y$ with the special cases of C's annex F */
NUM_CALLED double num_sin(double x);
  /* sine of an angle in radians, however large */
NUM_CALLED double num_cos(double x);
  /* cosine of an angle in radians, however large */
NUM_CALLED double num_tanh(double x);
  /* hyperbolic tangent */
NUM_CALLED double num_erf(double x);
  /* error function */
NUM_CALLED uint16_t num_to_f16(float x);
  /* IEEE binary16, rounded to nearest even; infinite from 65520 on */
NUM_CALLED uint16_t num_to_bf16(float x);
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

@ The same for the other width. A union would do as well; a cast of the pointer would not, for a compiler may assume that a |float| and
a |uint32_t| never share a place.

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
so that its largest error is as small as that of any such polynomial (Remez's exchange \cited{Remez 1934}).
@^Remez@>@^exponential@>

Three details carry the weight. The integer $n$ comes without a conversion: adding
$3\cdot2^{22}$ pushes everything after the binary point out of the word, rounded, and $n$
is left in the low bits. The product $n\ln2$ is taken off in two pieces, because one float is too short for $\ln2$; |fmaf| rounds
each difference only once. And for $x=0$ all of it is zero except the 1,
so that $e^0=1$ exactly; the rule of blocks in \cref{sec:attention} rests on that.

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
function ends in 0 and in infinity by itself. A comparison with a NaN is false, so a NaN passes both clamps and comes out as it went in. The
coefficients are near $1/2!,1/3!,\ldots$, as they must be, but not equal to them: a
Taylor polynomial is best at 0, and we want the worst place to be good.

@<Let |q| be the polynomial of the exponential at |r|@>=
float q = 0.00019907638f;
q = fmaf(q, r, 0.001393369f);
q = fmaf(q, r, 0.008333286f);
q = fmaf(q, r, 0.041666463f);
q = fmaf(q, r, 0.16666667f);
q = fmaf(q, r, 0.5f);

@ It remains to multiply by $2^n$. That number itself is infinite for $n=\given{128}$, and too small for a full exponent below $n=-\given{126}$. So we
multiply by two halves of the power, each harmless. The first
product is exact, and only the second may round, into the range of the denormals. Each half needs the bias of the exponent field, which is \given{127}, and what is cut in half must not be negative; so |k| is $n+2\cdot(\given{127}+23)$, and 23 comes off
each half again. If $x$ is a NaN, |k| is nonsense; it is unsigned, so C defines what happens to it, and the product is a NaN whatever it is.
@^denormals@>

@<Return |y| times two to the |n|, in two steps@>=
uint32_t k = num_bits32(pushed) - 0x4b400000u + 300u;
uint32_t half = k >> 1, rest = k - half;
return y * num_float((half - 23u) << 23) * num_float((rest - 23u) << 23);

@ In double we do the same, with a longer polynomial, a bias of $2^{10}-1$ and 77 for 23. The function takes its argument as the sum of a number and a tiny one, because the power function will have such a sum.

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
{@+ return num_exp_of_sum(x, 0.0);@+ }
  /* $e^x$; 1 exactly for 0 */

@ Degree 10 leaves an error of $2^{-61}$, less than a hundredth of what the rounding of the result loses.

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
Both belong to the activations (\cref{sec:mlp}), both are odd, and both run
from $-1$ to 1. The first follows from the exponential:
$$\tanh x={e^{2x}-1\over e^{2x}+1}={t\over t+2},\qquad t=e^{2x}-1.$$
For small $x$ the subtraction in $t$ would cancel nearly everything. It need not be
done: with $e^{2x}=2^n(1+p)$ we have $t=(2^n-1)+2^np$, and for $n=0$ that is $p$ itself,
which the polynomial gave us before the 1 was added.

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
are computed and one is chosen, because of sixteen lanes some will need the first and
some the second. We choose with a mask: a compiler that sees a conditional expression may compute only one of them, behind a branch.
@^error function@>

@<The error function in float@>=
NUM_INLINE float num_erff(float x)
{
  float a = num_float(num_bits32(x) & 0x7fffffffu), z = a * a;
  @<Let |small| be the polynomial for arguments below 1@>@;
  a = a > 4.0f ? 4.0f : a;
  @<Let |g| be the exponent for arguments above 1@>@;
  float large = 1.0f - num_expf(-g);
  uint32_t below = num_bits32(x) << 1 < 0x7f000000u ? 0xffffffffu : 0u;
  uint32_t y = (num_bits32(small) & below) | (num_bits32(large) & ~below);
  return num_float((y & 0x7fffffffu) | (num_bits32(x) & 0x80000000u));
}
  /* the error function; odd, to the bit */

@ Seven coefficients of $P$, in powers of $z=x^2$: with one less the
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

@ From 4 on the result is 1 in float, and so the argument is held at 4. An error of $g$ matters less where $e^{-g}$ is small, and the fit was weighted accordingly.

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
NUM_CALLED double num_tanh(double x)
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
  /*- t is e^2x - 1, and is never made by subtracting from e^2x, which would cancel for small x: it
    is put together from 2^n - 1 and 2^n p. Beyond 40 the quotient is 1 in any case. */
@<The error function in double@>@;

@ For double, $g$ would have to be much longer. A change of
variable is cheaper: $e^{x^2}(1-\hbox{erf}\,x)(1+2x)$ hardly varies, and as a function of
$u=(x-3)/(x+3)$ it is nearly a polynomial already.

@<The error function in double@>=
NUM_CALLED double num_erf(double x)
{
  double a = fabs(x);
  if (!(a < 6.0)) return x != x ? x : copysign(1.0, x);
  if (a < 1.0) return fma(x, series(x * x, near_zero, 13), x);
  double u = (a - 3.0) / (a + 3.0);
  double tail = num_exp(-a * a) * series(u, far_out, 15) / fma(2.0, a, 1.0);
  return copysign(1.0 - tail, x);
}
  /*- Near zero a polynomial of its own keeps all digits of a small result; beyond 6 the result is
    1. Between, the polynomial is fitted to what hardly varies, not to the tail itself. */

@ This loop evaluates all polynomials that are not inlined, highest power
first, so that the large terms are added last (\emph{Horner's rule}).
@^Horner's rule@>

@<Evaluate a polynomial@>=
NUM_PRIVATE double series(double z, const double *c, int n)
{
  double y = c[n - 1];
  for (int i = n - 2; i >= 0; i--) y = fma(y, z, c[i]);
  return y;
}
  /*- From the highest power down, so that the large coefficients come last; one fma a step, in this
    order on every machine. */

@ And these are the coefficients for the error function, lowest power first.

@<Coefficients of the error function@>=
NUM_TABLE double near_zero[13] = @[{ 0.1283791670955126,@|
  -0.3761263890318375, 0.11283791670954885, -0.026866170645077875,@|
  0.005223977624828431, -0.0008548326981425542, 0.0001205533113295582,@|
  -1.4925595772180906e-05, 1.64610084778027e-06, -1.6350396222864617e-07,@|
  1.466032872274226e-08, -1.137495573607015e-09, 5.960685338520971e-11 }@];
NUM_TABLE double far_out[15] = @[{ 1.2530080582697296, -0.1356211061245808,@|
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
where $s$ is never above \given{0.1716}. The trick of the next section shifts the scale by
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
NUM_CALLED double num_log(double x)
{
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  if (x != x || x == INFINITY) return x;
  @<Split |x| into |m| and a power of two, |k|@>@;
  @<Let |s + low| be the quotient for |m|@>@;
  double z = s * s, a = k * 0.6931471805598903, b = 2 * s;
  double sum = a + b, rest = (a - sum) + b;
  rest += fma(s * z, series(z, artanh, 8), 2 * low);
  return sum + fma(k, 5.497923018708371e-14, rest);
}
  /*- Added from the large to the small, and the first sum keeps its remainder. The first part of ln
    2 ends with so many zeros that its product with k is exact; the last line has the rest of it. */

@ Eight terms are fitted for the logarithm, and eight more for the power, which treats the term
$2s^3/3$ apart.

@<Coefficients of the logarithm@>=
NUM_TABLE double artanh[8] = @[{ 0.6666666666666666, 0.4000000000000089,@|
  0.28571428570794766, 0.22222222393604002, 0.18181795448247662,@|
  0.15386249682350017, 0.13268516254636384, 0.1308921949868944 }@];
NUM_TABLE double beyond[8] = @[{ 0.4, 0.2857142857142938,@|
  0.22222222221648177, 0.18181818337034797, 0.15384594796273687,@|
  0.13334813318194078, 0.11706014853795696, 0.11725409813239257 }@];

@ A power is $e^{y\ln x}$, and that is where a good logarithm is not good enough: the
error of $y\ln x$ becomes the \emph{relative} error of the result. With a result near
$10^{\given{300}}$ the exponent is about \given{700}, ten bits in front of the point, and ten bits are
missing after it. So for the power the logarithm is computed as the sum of two
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
tells us, and an exponential. Beyond \given{800} in size the result is 0 or infinite whatever the
last bits are; cutting there keeps an infinite product from meeting its own remainder.

@<The power of a positive number@>=
NUM_PRIVATE double positive_power(double x, double y)
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
  /*- An error in the logarithm is multiplied by y and becomes a relative error of the result: so
    the logarithm is a sum of two doubles here, high + rest. Beyond 800 the answer is known, and
    an infinite product must not meet its own remainder. */

@ What remains are the special cases, and C's annex F lists them. Anything to the power
0 is 1, even what is not a number; so is 1 to any power. A negative number has a power
only if the exponent is a whole number, and then the sign depends on whether that is
odd: a number is whole if rounding leaves it alone, and even if that holds for its half.

@<The power in double@>=
NUM_CALLED double num_pow(double x, double y)
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
  /*- The special cases are those of C's annex F, in its order: x^0 is 1 even if x is not a number. */

@* Sine and cosine. \label{sec:sin}
A position of \given{ten thousand} and a frequency of 1 make an angle of \given{ten thousand} radians,
and its sine depends on what is left after taking away some \given{sixteen hundred} turns. The
larger the angle, the more digits of $\pi$ are needed to know what is left. Most
libraries have three methods, for three sizes of angle. We have one that is right for
all of them, and not the fastest: per pass a model needs as many angles as it has rows,
times half a head.
@^Payne and Hanek@>@^angle@>

We want the quotient $x\cdot{2\over\pi}$, modulo 4: its whole part is the quadrant, its
fraction the place in it. Write $x=M\cdot2^e$ with a whole number $M$ below $2^{53}$; then the quotient is $4M\cdot(2^{e-2}\cdot{2\over\pi})$. The whole part of what is in parentheses adds a multiple of 4, and can be forgotten; of its fraction the first \given{192}
bits are enough (\cited[Payne and Hanek 1983]{Payne 1983}). So we look at no more than a window of $2/\pi$.

@<The digits of two over pi@>=
NUM_TABLE uint32_t two_over_pi[40] = @[{ 0, 0,@|
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,@|
  0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,@|
  0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,@|
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,@|
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,@|
  0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,@|
  0x56033046, 0xfc7b6bab }@];

@ The window is six words, cut at a bit and not at a word. Two zero words stand before
the digits, for angles so small that the window begins before the point. The product
with $M$, in two halves, is the multiplication that you learned at school, with digits of
thirty-two bits; what would come before the window is not computed at all.

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
already there is nothing to take away. A negative angle is reduced as if it were positive; then its rest changes sign, and its quadrants
are counted backwards.

@<Reduce |x| to |y + low| in a quadrant@>=
NUM_PRIVATE unsigned reduce(double x, double *y, double *low)
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
  /*- One method for angles of all sizes, after Payne and Hanek: of two over pi only the bits are
    multiplied that matter for this exponent. Whole turns are dropped before they are computed. A
    negative angle is reduced as a positive one and turned back. */

@ Within a quadrant two polynomials are left, in $z=y^2$. The small part |low| enters by
the first term of Taylor's series: $\sin(y+l)\approx\sin y+l\cos y$, and the cosine
correspondingly. In the cosine $1-z/2$ is rounded, and what was lost is put back.

@<Sine and cosine within a quadrant@>=
NUM_PRIVATE double sine(double y, double low)
{
  double z = y * y, p = series(z, sine_terms, 7);
  return y + fma(y * z, p, fma(-0.5 * z, low, low));
}
NUM_PRIVATE double cosine(double y, double low)
{
  double z = y * y, p = series(z, cosine_terms, 7);
  double head = fma(-0.5, z, 1.0), lost = fma(-0.5, z, 1.0 - head);
  return head + (lost + fma(z * z, p, -y * low));
}
  /*- 1 - z/2 is rounded, and what that lost is added again; low enters by the first term of
    Taylor's series, as in sine. */

@ Their coefficients; the first of each is $-1/3!$ and $1/4!$ to the last place.

@<Coefficients of sine and cosine@>=
NUM_TABLE double sine_terms[7] = @[{ -0.16666666666666666,@|
  0.008333333333333331, -0.00019841269841265044, 2.755731921932218e-06,@|
  -2.5052106226493628e-08, 1.605853066848744e-10,@|
  -7.586640759739923e-13 }@];
NUM_TABLE double cosine_terms[7] = @[{ 0.041666666666666664,@|
  -0.0013888888888888887, 2.4801587301584635e-05, -2.755731922139329e-07,@|
  2.0876755787742277e-09, -1.1470460355137536e-11,@|
  4.745840351316594e-14 }@];

@ The quadrant says which of the two it is, and with which sign. For an infinite angle
there is no answer; it is caught before the reduction, which would find one. And an angle
so small that it is its own sine is returned as it came, with the sign of its zero.

@<Sine and cosine in double@>=
NUM_PRIVATE double turned(double x, unsigned turn)
{
  double y, low;
  if (!(fabs(x) < INFINITY)) return x - x;
  unsigned quadrant = (reduce(x, &y, &low) + turn) % 4;
  double value = quadrant % 2 == 0 ? sine(y, low) : cosine(y, low);
  return quadrant >= 2 ? -value : value;
}
  /*- Infinity is caught first, because the reduction would find an answer for it. */
NUM_CALLED double num_sin(double x)
{@+ return fabs(x) < 0x1p-27 ? x : turned(x, 0);@+ }
NUM_CALLED double num_cos(double x)
{@+ return turned(x, 1);@+ }

@ In float, these functions and the logarithm and the power are rounded from double.
That is slower than it need be, and right in nearly all cases to the last bit: a
double has 29 bits more than a float, and only the last one or two of them may be wrong.

@<Those in float that are rounded from double@>=
NUM_CALLED float num_logf(float x)
{@+ return (float) num_log((double) x);@+ }
NUM_CALLED float num_powf(float x, float y)
{@+ return (float) num_pow((double) x, (double) y);@+ }
NUM_CALLED float num_sinf(float x)
{@+ return (float) num_sin((double) x);@+ }
NUM_CALLED float num_cosf(float x)
{@+ return (float) num_cos((double) x);@+ }

@* Short formats. \label{sec:formats}
Weights are published in 16 bits: as binary16, with 5 bits of exponent and 10 of
fraction, or as bfloat16, which is the upper half of a float. Both are widened exactly at
use, so that a model means the same numbers whatever it is stored in. For bfloat16 that is a shift.
For binary16 the fields are moved into place, and a multiplication by
$2^{\given{112}}$ repairs the exponent, of denormals too, whose fraction it normalizes on the
way. What it cannot repair is infinity; so the top exponent is set by hand.
@^binary16@>@^bfloat16@>

@<Widen the two short formats@>=
NUM_INLINE float num_from_bf16(uint16_t h)
{@+ return num_float((uint32_t) h << 16);@+ }
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
A NaN must not lose the bits that make it one.

@<Narrow to the two short formats@>=
NUM_CALLED uint16_t num_to_bf16(float x)
{
  uint32_t u = num_bits32(x);
  if (x != x) return (uint16_t) (u >> 16 | 0x40u);
  return (uint16_t) ((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
  /*- To the nearest, from the middle to the even neighbour: a carry runs into the exponent, where
    it belongs. What is not a number keeps a bit that says so, which cutting might lose. */
@<Narrow to binary16@>@;

@ For binary16 the same, after the exponent has been moved down by \given{112}. Below $2^{-14}$
its numbers are multiples of $2^{-24}$, which is the last place of a float between 1/2 and 1:
so adding 1/2 makes the processor do the rounding.

@<Narrow to binary16@>=
NUM_CALLED uint16_t num_to_f16(float x)
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
  /*- As above, with the exponent moved. Below the normal range the numbers are multiples of 2^-24,
    the last place of a float between 1/2 and 1: so adding 1/2 rounds there. */

@* Types of numbers. \label{sec:numbertypes}
Files store their numbers in many types. Each type is one row of a table, and nothing else in the program knows how many bytes a number takes. If you add a type, you add its row,
and the compiler lists the few places that must learn to compute with it.

Three of the types that we compute with give each number its own place. The others share: 32 numbers have one scale in common, or \given{256} have two, and each of them keeps only a few bits. In such a \emph{block} no number has an address of its own, so
sizes are counted by the row. A type without blocks counts as one whose blocks have one number. Attention reads rows that are kept in the first two types of blocks (\cref{sec:rowformats}); matrices come in all of them (\cref{model/quantization}).
@^block, of a format@>@^number type@>

@<Types of numbers@>=
enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16,@|
  WEIGHT_Q8_0, WEIGHT_Q4_0, WEIGHT_Q4_1, WEIGHT_Q5_0, WEIGHT_Q5_1,@|
  WEIGHT_Q4_K, WEIGHT_Q6_K, WEIGHT_Q2_K, WEIGHT_Q3_K, WEIGHT_Q5_K,@|
  WEIGHT_IQ4_NL, WEIGHT_IQ4_XS, WEIGHT_MXFP4 };
  /* the types with which we compute: first those without blocks, IEEE binary32, IEEE binary16, the upper half of a binary32; then
     the types in blocks, laid out as ggml does */
enum { WEIGHT_BLOCK = 32, WEIGHT_SUPER_BLOCK = 256 };
  /* numbers in a block; in one whose scales have scales */
#define UNEQUAL_BLOCKS @[case WEIGHT_IQ4_NL: case WEIGHT_IQ4_XS: case WEIGHT_MXFP4@]
#define OTHER_BLOCKS @[case WEIGHT_Q4_1: case WEIGHT_Q5_0: case WEIGHT_Q5_1: case WEIGHT_Q4_K: case WEIGHT_Q6_K: case WEIGHT_Q2_K: case WEIGHT_Q3_K: case WEIGHT_Q5_K: UNEQUAL_BLOCKS@]
  /* in a |switch|, the cases of all types in blocks but Q8\_0 and Q4\_0, in which rows of a cache are kept as well. It is for the places that treat all
     these types alike: a new one is added here and to none of them, and as long as it is missing
     here, the compiler stops at each of them */

@ Every type of every file has a name, a size, and perhaps a number in GGUF files (\cref{gguf}).

@<Types of numbers@>=
enum { NOT_IN_GGUF = 255 };
  /* in place of a type's number in GGUF files: it has none */
enum block_scales { SCALE_ALONE, SCALES_PACKED, SCALES_BYTES, SCALES_NIBBLES,@|
  SCALES_SIXES, SCALES_APART, SCALE_POWER };
  /* what a block has besides its scale $d$: nothing; for each group a scale and a minimum of six bits; a signed
     byte; a scale and a minimum of four bits; six bits less 32, in two layouts; nothing, $d$ being a power of two, in a byte */
enum block_steps { STEPS_EQUAL, STEPS_CURVE, STEPS_FLOAT };
  /* what the bits of a number mean: themselves, or one of sixteen whole numbers */
static const int8_t block_steps[][16] = @[{ [STEPS_CURVE] =@|
  { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 },@|
  [STEPS_FLOAT] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 } }@];
  /* which whole numbers */
struct number_type {
  const char *name;
  uint16_t block; /* numbers in a block */
  uint8_t bytes; /* and its bytes */
  uint8_t gguf; /* its number in GGUF files, as ggml has it */
  bool safetensors; /* whether files of that format have it */
  @<What is known of a type with which we compute@>@;
};
  /* a row of the table */

@ Of the types with which we compute we know more. In a block a number is $qd$ or $qd+m$, with a scale $d$ and perhaps a minimum $m$, and what is stored is $q$ plus an offset that makes it positive. The kernels read these facts as constants, so a question about a type costs nothing while the program runs. A fact that a new row leaves out is 0, and the suite of the kernels checks that the facts of each row agree (|every_row_agrees_with_itself|).

@<What is known of a type with which we compute@>=
const char *word; /* what a user calls it */
bool is_written; /* whether we write files with such matrices */
uint8_t file; /* then the |general.file_type| of such a GGUF file */
uint8_t bits; /* of a number; in a block, of what is stored for $q$ */
uint8_t largest; /* the $q$ that the largest number of a block becomes */
uint8_t offset; /* what is stored, or multiplied instead of $q$, is so much more */
uint8_t group; /* neighbours with one scale */
uint8_t span; /* neighbours whose bits share bytes */
bool has_min;
enum block_scales scales;
enum block_steps steps;
uint8_t d_at; /* the byte where $d$ is, in binary16; after it $m$, if any */
uint8_t scales_at; /* where sixteen bytes begin that have all scales but $d$ and $m$, if these are not at the beginning */
uint8_t low_at, high_at; /* where the low bits or the whole bytes of the numbers begin, and where the high bits */

@ The first rows are those of |enum weight_type|, in its order. The others are types that occur in files, for tables of ids or for masks: we list them, and compute with none of them. Some of them
are smaller than a byte: two numbers of four bits share one byte, and four numbers of six bits share three. The table is in the header, because a kernel looks up a type that is a constant, and the compiler can then make the answer a constant as well.

@<Types of numbers@>=
static const struct number_type number_types[] = @[{@|
  @<Types with which we compute@>@;
  @<Types that occur in files only@>@; }@];
  /* types of numbers by their number: first those of |enum weight_type| */
enum { N_NUMBER_TYPES = sizeof number_types / sizeof number_types[0],@|
  N_WEIGHT_TYPES = WEIGHT_MXFP4 + 1, N_LISTED_TYPES = 28 };
  /* the rows of the table, how many of them are of |enum weight_type|, and how many are not */
_Static_assert(N_NUMBER_TYPES == N_WEIGHT_TYPES + N_LISTED_TYPES,@|
  "each weight type has a row, before those that are only listed");
enum { WEIGHTS_ALL = (1 << N_WEIGHT_TYPES) - 1,@|
  WEIGHTS_IN_BLOCKS = WEIGHTS_ALL & -(1 << WEIGHT_Q8_0),@|
  WEIGHTS_ONE_BY_ONE = WEIGHTS_ALL ^ WEIGHTS_IN_BLOCKS };
  /* sets of types, bit |1 << type| for each: those with which we compute, those in blocks, the others */
static inline size_t weight_row_bytes(unsigned type, size_t n)
{
  return n / number_types[type].block * number_types[type].bytes;
}
  /* bytes of |n| numbers in a row, a multiple of the type's |block| */

@ Here they are. \Cref{model/quantization} explains what the blocks mean. (Q8\_0 stores signed bytes, so it has no offset. The numbers of MXFP4 are signed as well, but so small that the kernels add \given{12} to them and have what they like best, small numbers without a sign.)

@<Types with which we compute@>=
[WEIGHT_F32] = @[{"F32", 1, 4, 0, true, "f32", true, 0, .bits = 32}@],@|
[WEIGHT_F16] = @[{"F16", 1, 2, 1, true, "f16", true, 1, .bits = 16}@],@|
[WEIGHT_BF16] = @[{"BF16", 1, 2, 30, true, "bf16", true, 32, .bits = 16}@],@|
[WEIGHT_Q8_0] = @[{"Q8_0", WEIGHT_BLOCK, 34, 8, false, "q8_0", true, 7,@|
  .bits = 8, .largest = 127, .group = 32, .span = 32, .low_at = 2}@],@|
[WEIGHT_Q4_0] = @[{"Q4_0", WEIGHT_BLOCK, 18, 2, false, "q4_0", true, 2,@|
  .bits = 4, .largest = 8, .offset = 8, .group = 32, .span = 32, .low_at = 2}@],@|
[WEIGHT_Q4_1] = @[{"Q4_1", WEIGHT_BLOCK, 20, 3, false, "q4_1", true, 3,@|
  .bits = 4, .largest = 15, .group = 32, .span = 32, .has_min = true, .low_at = 4}@],@|
[WEIGHT_Q5_0] = @[{"Q5_0", WEIGHT_BLOCK, 22, 6, false, "q5_0", true, 8,@|
  .bits = 5, .largest = 16, .offset = 16, .group = 32, .span = 32,@|
  .low_at = 6, .high_at = 2}@],@|
[WEIGHT_Q5_1] = @[{"Q5_1", WEIGHT_BLOCK, 24, 7, false, "q5_1", true, 9,@|
  .bits = 5, .largest = 31, .group = 32, .span = 32, .has_min = true,@|
  .low_at = 8, .high_at = 4}@],@|
[WEIGHT_Q4_K] = @[{"Q4_K", WEIGHT_SUPER_BLOCK, 144, 12, false, "q4_k", true, 14,@|
  .bits = 4, .largest = 15, .group = 32, .span = 64, .has_min = true,@|
  .scales = SCALES_PACKED, .low_at = 16}@],@|
[WEIGHT_Q6_K] = @[{"Q6_K", WEIGHT_SUPER_BLOCK, 210, 14, false, "q6_k", true, 18,@|
  .bits = 6, .largest = 32, .offset = 32, .group = 16, .span = 128,@|
  .scales = SCALES_BYTES, .d_at = 208, .scales_at = 192, .high_at = 128}@],@|
[WEIGHT_Q2_K] = @[{"Q2_K", WEIGHT_SUPER_BLOCK, 84, 10, false, "q2_k",@|
  .bits = 2, .largest = 3, .group = 16, .span = 128, .has_min = true,@|
  .scales = SCALES_NIBBLES, .d_at = 80, .low_at = 16}@],@|
[WEIGHT_Q3_K] = @[{"Q3_K", WEIGHT_SUPER_BLOCK, 110, 11, false, "q3_k",@|
  .bits = 3, .largest = 4, .offset = 4, .group = 16, .span = 128,@|
  .scales = SCALES_SIXES, .d_at = 108, .scales_at = 92, .low_at = 32}@],@|
[WEIGHT_Q5_K] = @[{"Q5_K", WEIGHT_SUPER_BLOCK, 176, 13, false, "q5_k",@|
  .bits = 5, .largest = 31, .group = 32, .span = 64, .has_min = true,@|
  .scales = SCALES_PACKED, .low_at = 48, .high_at = 16}@],@|
[WEIGHT_IQ4_NL] = @[{"IQ4_NL", WEIGHT_BLOCK, 18, 20, false, "iq4_nl",@|
  .bits = 4, .largest = 127, .group = 32, .span = 32, .steps = STEPS_CURVE, .low_at = 2}@],@|
[WEIGHT_IQ4_XS] = @[{"IQ4_XS", WEIGHT_SUPER_BLOCK, 136, 23, false, "iq4_xs",@|
  .bits = 4, .largest = 127, .group = 32, .span = 32, .steps = STEPS_CURVE,@|
  .scales = SCALES_APART, .low_at = 8}@],@|
[WEIGHT_MXFP4] = @[{"MXFP4", WEIGHT_BLOCK, 17, 39, false, "mxfp4",@|
  .bits = 4, .largest = 12, .offset = 12, .group = 32, .span = 32, .steps = STEPS_FLOAT,@|
  .scales = SCALE_POWER, .low_at = 1},@]

@ These are only listed, so that the program can print the name and the size of every tensor in a file of \texttt{llama.cpp}.

@<Types that occur in files only@>=
@[{.name = "F64", 1, 8, 28, true}@],@|
@[{.name = "BOOL", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "U8", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "I8", 1, 1, 24, true}@],@|
@[{.name = "U16", 1, 2, NOT_IN_GGUF, true}@],@|
@[{.name = "I16", 1, 2, 25, true}@],@|
@[{.name = "U32", 1, 4, NOT_IN_GGUF, true}@],@|
@[{.name = "I32", 1, 4, 26, true}@],@|
@[{.name = "U64", 1, 8, NOT_IN_GGUF, true}@],@|
@[{.name = "I64", 1, 8, 27, true}@],@|
@[{.name = "C64", 1, 8, NOT_IN_GGUF, true}@],@|
@[{.name = "F4", 2, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "F6_E2M3", 4, 3, NOT_IN_GGUF, true}@],@|
@[{.name = "F6_E3M2", 4, 3, NOT_IN_GGUF, true}@],@|
@[{.name = "F8_E5M2", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "F8_E4M3", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "F8_E8M0", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "F8_E5M2FNUZ", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "F8_E4M3FNUZ", 1, 1, NOT_IN_GGUF, true}@],@|
@[{.name = "IQ2_XXS", 256, 66, 16, false}@],@|
@[{.name = "IQ2_XS", 256, 74, 17, false}@],@|
@[{.name = "IQ3_XXS", 256, 98, 18, false}@],@|
@[{.name = "IQ1_S", 256, 50, 19, false}@],@|
@[{.name = "IQ3_S", 256, 110, 21, false}@],@|
@[{.name = "IQ2_S", 256, 82, 22, false}@],@|
@[{.name = "IQ1_M", 256, 56, 29, false}@],@|
@[{.name = "TQ1_0", 256, 54, 34, false}@],@|
@[{.name = "TQ2_0", 256, 66, 35, false}@]

@ The table has a header of its own: a program that lists the tensors of a file needs nothing else of this book's arithmetic.

@(number_type.h@>=
#ifndef INCIPIT_NUMBER_TYPE_H
#define INCIPIT_NUMBER_TYPE_H
#include "ground/ground.h"
@<Types of numbers@>@;
#endif

@* The check. \label{sec:functioncheck}
On every machine this must come out.

\checkpoint{build/out/functions.txt}{one value of each function, with its bits}

@* Errors in units of the last place. \label{sec:ulp}
A float has $2^{32}$ values, few enough to try them all. \texttt{make ulp} does so for every function of one float, against the C library in double, and where
that is too near to decide, against numbers of 64 bits and more (MPFR). Functions of a double, and the power, got \given{four million} random arguments each. An error is told in
units of the last place (\cref{tab:ulp}): \given{0.5} is the best there can be, since every result must be rounded.
@^units of the last place@>

\begin{table}[tp]
\tabcaption{tab:ulp}{The largest error found, in units of the last place of the result.}
\centering\small
\begin{tabular*}{\textwidth}{@@{\extracolsep{\fill}}lrlr@@{}}
\toprule
\tabhead{in float} & \tabhead{error} & \tabhead{in double} & \tabhead{error}\\
\midrule
|num_expf| & \val[4]{ulp.expf} & |num_exp| & \val[4]{ulp.exp}\\
|num_logf| & \val[4]{ulp.logf} & |num_log| & \val[4]{ulp.log}\\
|num_sinf| & \val[4]{ulp.sinf} & |num_sin| & \val[4]{ulp.sin}\\
|num_cosf| & \val[4]{ulp.cosf} & |num_cos| & \val[4]{ulp.cos}\\
|num_tanhf| & \val[4]{ulp.tanhf} & |num_tanh| & \val[4]{ulp.tanh}\\
|num_erff| & \val[4]{ulp.erff} & |num_erf| & \val[4]{ulp.erf}\\
|num_powf| & \val[4]{ulp.powf} & |num_pow| & \val[4]{ulp.pow}\\
\bottomrule
\end{tabular*}
\end{table}

@ The errors stand in a committed file, one line a function: its name, how many arguments, the worst error and where. Without the file there are no keys,
and a book that quotes them does not build.

@<Print the errors that were measured@>=
static int print_errors(void)
{
  FILE *f = fopen("figures/data/functions.ulp.csv", "r");
  char words[300], name[32];
  double error;
  if (f == NULL) return 1;
  while (fgets(words, sizeof words, f) != NULL)
    if (sscanf(words, "%31[a-z],%*[^,],%lf", name, &error) == 2)
      printf("ulp.%s %.4f\n", name, error);
  fclose(f);
  return 0;
}

@ The tables of coefficients come first, then each function after those that it calls.

@(numbers.c@>=
@;
/** Functions of numbers whose bits are the same on every machine. The C library's exp, log, sin
  and their kin differ between systems in the last bit; these do not. They use nothing but
  operations that IEEE 754 rounds in one way, fma among them, in a fixed order: change no order,
  and let no compiler contract or reorder (see ground.h). What is used in loops over many numbers
  is inline in numbers.h; here is what is called. Functions of float are computed in double and
  rounded once. */
#include "functions/numbers.h"
@;@#
@<Coefficients of the error function@>@;
@<Coefficients of the logarithm@>@;
@<Coefficients of sine and cosine@>@;
@<The digits of two over pi@>@;
@<Evaluate a polynomial@>@;
@<Tangent and error function in double@>@;
@<The logarithm in double@>@;
@<The power of a positive number@>@;
@<The power in double@>@;
@<Reduce |x| to |y + low| in a quadrant@>@;
@<Sine and cosine within a quadrant@>@;
@<Sine and cosine in double@>@;
@<Those in float that are rounded from double@>@;
@<Narrow to the two short formats@>@;

