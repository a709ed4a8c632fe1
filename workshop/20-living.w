@i types.w
@s vec int
@s v128_t int
@s each while
@s INLINE inline
@s ALONE inline
@s HELPER inline

\chapterquestion{A page shows what the engine does. How do we know that it is the engine?}
@** The engine in the browser.
Suppose you want to \emph{watch} a cache grow: a page in a browser, a token at a time, with a switch that turns the cache off. The usual way is to write the page's arithmetic once more, in JavaScript. It would be a second engine, with other sums in another order; sooner or later it would write another word than the first one, and nobody could say which of the two the book is about.
@^browser@>

So the page gets \emph{this} engine. A compiler that makes machine code can also make WebAssembly, the code of a small machine that every browser contains \cited{Haas 2017}. It has integers, floats and doubles that are added and multiplied as IEEE~754 says, and registers of \given{128} bits. That is nearly all an engine needs. Then a page can be held to the rule of this book: the same bits. What you see there is what the command computes, number for number, and a test compares the two.
@^WebAssembly@>

We thought that this would be a matter of flags for the compiler. Nearly all of it was. But four sums in \given{40 million} came out wrong, by one unit, and this chapter begins with them.

@ Our program needs no browser. It adds a sum in three ways, of which one goes wrong (\cref{sec:roundodd}), and then what a page would do: it writes a text, turns the cache off in the middle, goes back, and writes another token where it was (\cref{sec:branches}). Called with |"values"|, it prints what the book quotes.

@c
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/loader.h"
#include "living/exact.h"
#include "living/living.h"
@;@#
@<Add in three ways@>@;
@<Write, go back, and branch@>@;
@<Print what was measured@>@;
@#
int main(int argc, char **argv)
{
  bool values = argc > 1 && strcmp(argv[1], "values") == 0;
  if (values && !print_measured()) return 1;
  if (!values) add_in_three_ways();
  return branch(values) ? 0 : 1;
}

@* A machine without rounding modes. \label{sec:roundodd}
Kernels multiply and add with one rounding, \emph{fused} (\cref{kernels}). WebAssembly has no such instruction\footnote{Not in the part of it that means the same everywhere. Its \emph{relaxed SIMD} instructions may round once or twice, as the host likes: that is a page whose numbers depend on the visitor's processor.}, and C has a function for this case: |fmaf|. For floats it looks easy. The product of two floats has at most 48 bits, and a double has room for 53. So the product is \emph{exact} in double, we add |c| in double, and round the sum to float.
@^fused multiply--add@>@^relaxed SIMD@>

Where is the trap? The sum is rounded twice, once to double and once to float. Usually that does no harm. But suppose the exact sum lies a hair below the middle between two floats. The first rounding may move it \emph{onto} the middle, and the second then sees a tie and goes to the even neighbour, which may be the wrong one.
@^double rounding@>

\begin{byhand}{a sum that is rounded twice}
Let $a=1+2^{-23}$, $b=2^{-24}(1-2^{-23})$, $c=1+2^{-23}$. All three are floats. The product is $2^{-24}(1-2^{-46})=2^{-24}-2^{-70}$, and the exact sum
$$1+2^{-23}+2^{-24}-2^{-70}.$$
Near $1$ a step from float to float is $2^{-23}$. So our two candidates are $1+2^{-23}$ and $1+2^{-22}$, with the middle at $1+2^{-23}+2^{-24}$. The sum lies below the middle, if only by $2^{-70}$: the answer is $1+2^{-23}$.

Now in double. A step there is $2^{-52}$, and $2^{-70}$ is far less than half of it. So the sum is rounded to $1+2^{-23}+2^{-24}$, the middle itself. A tie goes to the candidate whose last bit is even: $1+2^{-22}$. That is one unit too much.
\end{byhand}

@ \fig{rounding}{fig:rounding}{The sum of the box between its two candidates. The hair between sum and middle is drawn far too wide. Rounded to double, the sum moves onto the middle (second line) or, if it is rounded to odd, away from it (third).}{Three copies of a line from $1+2^{-23}$ on the left to $1+2^{-22}$ on the right, with a mark in the middle. On the first a point lies a little left of the middle, and an arrow leads from it to the left end. On the second the point first jumps onto the middle, and then an arrow leads from there to the right end. On the third the point first moves a little to the left, and then an arrow leads to the left end.}
\Cref{fig:rounding} shows where the sum goes, in each of three ways. The program does it; the last line is |fmaf| of the machine on which this book was made, which has the instruction.

\checkpoint[1,6]{build/out/living.txt}{one sum, added in three ways}

A C library knows the trap, and repairs it in such a case: it sets the processor's rounding mode to ``towards zero'', adds once more, and sees whether anything was lost. WebAssembly has one mode only. There the second addition gives what the first gave, the library concludes that nothing was lost, and moves its result the wrong way. Of \val{living.fused.triples} triples that we chose to be hard, the library for WebAssembly gets \val{living.libc.wrong} wrong. (Of random ones, hardly any: the author of a library could test for a day and see nothing.)
@^rounding mode@>

What helps is an old trick, \emph{rounding to odd} \cited{Boldo 2008}. Round the first time by a rule of its own: if the sum does not fit, take of its two neighbours in double the one whose last bit is \emph{odd}. Can such a number ever lie on the middle between two floats? No: a middle has zeros behind its twenty-fifth bit, so as a double it is even. A sum just below the middle stays below it, and the second rounding goes where it should. The last bit of the double has become a note that something was lost.
@^rounding to odd@>

@<Add in three ways@>=
static void add_in_three_ways(void)
{
  const float a = 0x1.000002p+0f, b = 0x1.fffffcp-25f, c = 0x1.000002p+0f;
  double twice = (double) a * b + c, odd = rounded_to_odd((double) a * b, c);
  printf("a * b + c: 1 + 2^-23 + 2^-24 - 2^-70 exactly\n");
  printf("  in double       %-20a then %a\n", twice, (double) (float) twice);
  printf("  rounded to odd  %-20a then %a\n", odd, (double) (float) odd);
  printf("  exact_fmaf      %-20s      %a\n", "", (double) exact_fmaf(a, b, c));
  printf("  this machine    %-20s      %a\n\n", "", (double) fmaf(a, b, c));
}

@ The header needs only a C compiler, so the suite tries it here, with integers of \given{128} bits as the judge.

@(exact.h@>=
/** |fmaf| where there is no instruction for it and the rounding mode cannot be changed. */
#ifndef INCIPIT_EXACT_H
#define INCIPIT_EXACT_H
#include <math.h>
#include <stdint.h>
#include <string.h>
@<Round to odd@>@;
@<Multiply and add, rounding once@>@;
#if defined __wasm_simd128__
@<Multiply and add four times@>@;
#endif
#endif

@ How do we learn what an addition has lost? With five more additions, each of which is exact \cited{Knuth 1997}: subtract from the sum what was added, and compare what is left with the summands. If the loss is not zero and the sum is even, we want its odd neighbour, on the side of the loss. Doubles of one sign are ordered like the integers that their bits are, so the neighbour is one more or one less.

@<Round to odd@>=
static inline double rounded_to_odd(double product, double c)
{
  double sum = product + c, of_c = sum - product;
  double lost = (product - (sum - of_c)) + (c - of_c);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (fabs(lost) > 0 && (bits & 1) == 0) {
    if ((lost > 0) == (sum > 0)) bits++;
    else bits--;
  }
  memcpy(&sum, &bits, sizeof bits);
  return sum;
}
  /* the sum of two doubles; if it is not exact, that of its neighbours whose last bit is odd */

@ That makes ten operations where an instruction would do. But the trap needs a sum \emph{on} the middle: its last 29 bits in double are then a one and 28 zeros. For all others, rounding twice is rounding once, so only they take the long way. There is a second kind. Below $2^{-\given{126}}$ floats are \emph{subnormal numbers}: they keep fewer than 24 bits, the middle is at another place for each exponent, and we do not look for it. All of them take the long way.
@^subnormal number@>

@<Multiply and add, rounding once@>=
static inline float exact_fmaf(float a, float b, float c)
{
  double product = (double) a * b, sum = product + c;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((bits & 0x1fffffff) == 0x10000000 || fabs(sum) < 0x1p-126)
    return (float) rounded_to_odd(product, c);
  return (float) sum;
}
  /* |a*b+c|, rounded once */

@* Four lanes. \label{sec:simd128}
The table of kernels for WebAssembly is a table like the others (\cref{tab:wasmfiles}): a head of forty lines, and the bodies that all tables share. What WebAssembly calls SIMD128 are registers of four floats or two doubles. So four multiply--adds need two registers of doubles, are rounded to floats, and joined.
@^SIMD128@>

\begin{table}[tbp]
\tabcaption{tab:wasmfiles}{The files of \.{wasm}: all that a browser needs besides the engine.}
\begin{tabular}{@@{}l@@{\quad}l@@{}}
\tabhead{file} & \tabhead{is}\\\midrule
\.{simd128*.c} & the table of kernels, in five files as every table\\
\.{fmaf.c} & |fmaf|, by the header of this chapter\\
\.{snapshot.c} & writes model, tokenizer and kinds of characters as C\\
\.{material.c} & puts a model together again from that\\
\.{split.c} & cuts texts, in place of PCRE2\\
\.{include} & threads, for a machine that has one\\
\.{exports.c} & what a page calls\\
\.{engine.mjs} & calls it, from node or from a page
\end{tabular}
\end{table}

@<Multiply and add four times@>=
#include <wasm_simd128.h>
@;@#
static v128_t exact_fma_lanes(v128_t a, v128_t b, v128_t c)@|
  @[__attribute__((noinline, cold))@];
  /* the same in four lanes, one after the other */
@#
static v128_t exact_fma_lanes(v128_t a, v128_t b, v128_t c)
{
  float x[4], y[4], z[4];
  wasm_v128_store(x, a);
  wasm_v128_store(y, b);
  wasm_v128_store(z, c);
  for (int j = 0; j < 4; j++) z[j] = exact_fmaf(x[j], y[j], z[j]);
  return wasm_v128_load(z);
}
  /* in each lane by itself */
@#
static inline v128_t first_two(v128_t x)
{@+ return wasm_f64x2_promote_low_f32x4(x);@+ }
  /* lanes 0 and 1 as doubles */
static inline v128_t last_two(v128_t x)
{@+ return wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 1));@+ }
  /* lanes 2 and 3 */
@#
static inline v128_t exact_fma(v128_t a, v128_t b, v128_t c)
{
  @<Compute both halves in double@>@;
  @<Give doubtful lanes to the slow way@>@;
  return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low),@|
    wasm_f32x4_demote_f64x2_zero(high), 0, 2);
}
  /* |a*b+c| in four lanes, rounded once */

@ The names of instructions say which numbers they take and make: promote two floats to doubles, demote two doubles to floats.

@<Compute both halves in double@>=
v128_t low = wasm_f64x2_add(wasm_f64x2_mul(first_two(a), first_two(b)), first_two(c));
v128_t high = wasm_f64x2_add(wasm_f64x2_mul(last_two(a), last_two(b)), last_two(c));

@ We ask for all four lanes at once whether one of them needs the long way. One register collects the lower words of the doubles, and we compare them with the pattern of the middle. Another collects the upper words: if such a word, without its sign, is less than that of $2^{-\given{126}}$, the number is subnormal as a float. While the built-in model writes, both are rare. So the long way is a function that is not inlined, and goes lane by lane.

@<Give doubtful lanes to the slow way@>=
v128_t words = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
v128_t tops = wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
v128_t half = wasm_i32x4_eq(wasm_v128_and(words, wasm_i32x4_const_splat(0x1fffffff)),@|
  wasm_i32x4_const_splat(0x10000000));
v128_t tiny = wasm_u32x4_lt(wasm_i32x4_shl(tops, 1),@|
  wasm_i32x4_const_splat(0x38100000 << 1));
if (wasm_v128_any_true(wasm_v128_or(half, tiny))) return exact_fma_lanes(a, b, c);

@ Now the head. |FUSED_IS_CALLED| says that |fused| is a function of its own here, as in plain C: inlined into all unrolled loops, its twenty instructions made the object three times as large, and not a bit faster.

@(simd128.inc@>=
/** The head for WebAssembly, whose registers have four lanes. */
#include <wasm_simd128.h>
#include "living/exact.h"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#define FUSED_IS_CALLED
#define HELPER static ALONE
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for WebAssembly@>@;

@ We count on four floats being a |v128_t|; the compiler's vectors can be converted by a cast.

@<Multiply--add and the rest, for WebAssembly@>=
static ALONE vec fused(vec a, vec b, vec c)
{@+ return (vec) exact_fma((v128_t) a, (v128_t) b, (v128_t) c);@+ }
INLINE vec spread(float x)
{@+ return (vec) wasm_f32x4_splat(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  v128_t u = wasm_u32x4_load16x4(h);
  if (type != WEIGHT_F16) return (vec) wasm_i32x4_shl(u, 16);
  @<Widen four numbers of binary16@>@;
}
INLINE vec i8_to_f32(const int8_t *small)
{
  v128_t x = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(small));
  return (vec) wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(x));
}
@<Choose lanes and fold them, four at a time@>@;

@ There is no instruction for binary16 either. We set the sign aside and move exponent and mantissa to where a float has them. Then the exponent is too small by \given{112}. A multiplication by $2^{\given{112}}$ repairs it, and it is exact even for subnormal numbers. Only the largest exponent must stay the largest: infinities and NaNs get it by hand.
@^binary16@>

@<Widen four numbers of binary16@>=
v128_t rest = wasm_i32x4_shl(wasm_v128_and(u, wasm_i32x4_const_splat(0x7fff)), 13);
v128_t sign = wasm_i32x4_shl(wasm_v128_and(u, wasm_i32x4_const_splat(0x8000)), 16);
v128_t top = wasm_i32x4_ge(rest, wasm_i32x4_const_splat(0x7c00 << 13));
v128_t number = wasm_f32x4_mul(rest, wasm_f32x4_const_splat(0x1p112f));
v128_t other = wasm_v128_or(rest, wasm_i32x4_const_splat(0x7f800000));
return (vec) wasm_v128_or(wasm_v128_bitselect(other, number, top), sign);

@ What remains is plain C, the same as for NEON; the compiler finds the instructions.

@<Choose lanes and fold them, four at a time@>=
HELPER vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}
HELPER vec load_first(const void *p, int n)
{
  vec v = @[{ 0 }@];
  memcpy(&v, p, (size_t) n * sizeof(float));
  return v;
}
HELPER vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}

@* What stays outside. \label{sec:wasmoutside}
The engine reads JSON with one library, cuts texts by a pattern with a second, and asks a third for the normal form of a text. All three can be compiled for WebAssembly. But they are larger than our kernels, their sources would have to be fetched to build a page, and the page would carry a parser of JSON to read one file that never changes.

So that file is read \emph{before}. A program, \.{snapshot.c}, opens the built-in model here, with the engine's own readers, and writes down what it has got: the settings, the merges, and the weights, byte for byte. That becomes part of the WebAssembly. No file is opened in a browser, and nothing is fetched. The snapshot refuses a model that the page's side could not put together again: one with biases, say, or with a normal form.
@^snapshot@>

And the pattern? You may type any prompt, in any script, and its tokens must be exactly those of the command. GPT-2's pattern asks only three things of a character: is it a letter, a number, white space? The snapshot puts these questions to PCRE2, for each of the \given{1\,112\,064} characters that there can be, and writes a table. Then a page of C (\.{split.c}) does what the pattern says. You should not believe that, of course. A test gives every character, in eight surroundings, and texts at random to both cutters: \val{living.split.texts} texts, of which \val{living.split.wrong} are cut otherwise.
@^pattern@>

That leaves two things: a header in which starting a second thread fails (the engine then has one worker, and knows it), and the name of a file for messages. Compressed, all of the engine takes \val{living.bytes.engine}; the weights, which are packed tightly already, \val{living.bytes.weights}.

@* A text that branches. \label{sec:branches}
Now to what a page does. It has one prompt. Someone steps forward, goes back, clicks on a token and asks for another in its place, turns the cache off, and looks at numbers. Each of these is a call of C, and each must be honest: a step that is shown as computed was computed, and a page of the cache that two branches are said to share is one piece of memory.

@(living.h@>=
@;
/** The engine for a page: one prompt, and all texts that were begun after it. */
#ifndef INCIPIT_LIVING_H
#define INCIPIT_LIVING_H
#include "cache/cache.h"
#include "model/forward.h"
#include "sampling/sampling.h"
#include "search/tree.h"
#include "tokenizer/tokenizer.h"
@<Limits of a page@>@;
@<What a text was read for@>@;
@<A place in a text@>@;
@<All that a page has@>@;
@<What a page can ask@>@;
#endif

@ The memory of a page in a browser has limits. A pass that recomputes everything and shows all attention weights needs memory that grows with the square of its length, so texts are shorter here than the model would allow. The pages of the cache have only four rows, on purpose: with the usual \given{64}, two branches of a short text would never share a whole one.

@<Limits of a page@>=
enum { LIVING_CONTEXT = 512, LIVING_PAGE = 4, LIVING_TEXTS = 32,
  LIVING_NODES = 1024, LIVING_MOST_BEAMS = 16 };
  /* tokens that are read; rows of a page of the cache; texts whose rows are kept; places; beams */

@ When a text is read, the page keeps the result: the logits of its last row, and the attention weights of that row in each layer and head. The counters before and after tell what the step has cost. We also keep a hash of the logits, so that two programs can compare theirs in one line.

@<What a text was read for@>=
struct living_read { float *logits, *look; size_t rows;
  bool cached; uint64_t hash, chain; struct counters before, after; };
  /* |logits[vocab_size]|, null: it was not read; |look[n_layers][n_heads][n]|, the weights of the last row;
    rows of the pass; whether the cache was on; hashes of these logits, and of all on the way */

@ A place in a text is a token and the text before it. Places form a tree, whose root is the prompt: that is the token tree of \cref{search}, but one that grows as you click. A place knows its token, and why it was chosen, and, once its text has been read, the result.
@^token tree@>

@<A place in a text@>=
struct living_node { uint32_t parent, id; size_t n; bool stop;
  double logprob; size_t rank; const char *why; struct living_read read; };
  /* the token |id| after |parent|, as the last of |n|; whether it ends a text; its log-probability
    and rank among all tokens, and why it was chosen; node 0 is the prompt */

@ The rows are in the store of pages of \cref{cache}, with a sequence for each text that you have visited lately, at most |LIVING_TEXTS|. If there are more branches, the text that was used longest ago loses its rows. If you go back to it, they are computed again, and counted again.

@<All that a page has@>=
struct living_text { uint32_t tip; bool taken; uint64_t used; };
  /* a sequence of the cache has the rows of the text that ends at |tip|; when it was used last */
struct living_wish { bool cache; size_t max_tokens; uint64_t seed;
  struct sampling_params s; };
  /* what the page has set */
struct living { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s;
  struct ids prompt; struct living_node *node; size_t n; uint32_t now;
  struct living_text text[LIVING_TEXTS]; uint32_t at; uint64_t clock;
  uint32_t path[LIVING_CONTEXT + 1]; double *logprob;
  struct living_wish wish; struct sampler d;
  struct search_result found; struct token_tree grown; uint64_t search_madds;
  struct bytes room, out; float *cell; int32_t shape[7]; struct error why; };
  /* |node[n]|, of which |now| is the present one; its rows are in sequence |at|; |path| has the ids of
    the text that was walked last */

@ What is behind these names is ordinary C in \.{unwoven/living}: opening, settings, the search, the answers in JSON, and the steps themselves. Of the steps we print only what could go wrong without anyone seeing it.

@<What a page can ask@>=
bool living_material(struct living *g);
  /* opens |g->lm| and |g->t|: from files, or from what is built in */
bool living_begin(struct living *g);
  /* opens the rest, with an empty prompt; |*g| is zero but for the material */
void living_end(struct living *g);
  /* returns all memory */
bool living_restart(struct living *g, const char *text, size_t n);
  /* another prompt, an empty one being the token that begins a text; on failure the old one stays */
bool living_next(struct living *g, const uint32_t *wanted);
  /* one token more: |*wanted|, or for null what the sampler chooses */
bool living_drop(struct living *g);
  /* goes back by a token, which is forgotten unless others were written after it */
bool living_go(struct living *g, uint32_t node);
  /* makes |node| the present one */
bool living_over(const struct living *g);
  /* whether the present text has ended */
struct counters living_base(const struct living *g, uint32_t node);
  /* what the text up to |node| has cost */
size_t living_walk(struct living *g, uint32_t node);
  /* puts its ids into |g->path|; how many */
bool living_search(struct living *g, size_t width, size_t steps);
  /* a beam search from the present text, in a cache of its own */
bool living_set(struct living *g, const char *text, size_t n);
  /* does what a JSON object of |n| bytes says */
bool living_put_state(struct living *g);
  /* |g->out| becomes the present text as JSON, with a zero byte at its end */
bool living_put_tree(struct living *g);
  /* the same for all places */
bool living_put_stages(struct living *g, uint32_t node);
  /* and for the stages of the sampler at a place that was read */
const float *living_cell(struct living *g, uint32_t layer, uint32_t position);
  /* the key and then the value of all heads; null: there is no such row in the cache */

@ One rule keeps the steps honest. Before a sequence is used, its tokens are compared with those of the text, by |store_match_prefix| of \cref{cache}. A mistake in keeping the books can make a step slower. It cannot show a row that belongs to another text.

The switch that the page is about is one |if|. With the cache, the rows that belong to the text stay, and mostly a single one is computed. Without it we empty the sequence and compute all rows:

\printedfunction{living/steps.c}{make_rows}
The pass that computes these rows is watched (\cref{sec:forward}): we keep the attention weights of its last row. The counters before it and after it are the step's cost, and a text costs what its parent's step left in them. So each of two branches counts their common beginning. If a step fails, the place stays unread, as if nothing had happened.

@ Going back is harder than it looks. After a crop the store still remembers which tokens it had computed, because it counts repeated work (\cref{sec:sequences}). If we only cropped and wrote the token again, it would count that row as repeated. But the step was undone, and its costs with it, so nothing has been computed twice. A forked sequence remembers no more than the rows it was given. So we fork into a spare sequence, crop that, and fork it back: no row is copied, and what was cropped is forgotten.
@^crop@>

\printedfunction{living/steps.c}{take_rows}
The same function gives you a place that you click on. If a sequence has its rows already, we take it. If not, another text may have the same beginning, and then the place shares its rows, and the pages with them.

@ All motion is made of these. To go forward we read if need be, choose with the sampler of \cref{sampling}, and move: to the place where this token led before, if it was chosen here already, or else to a new one. If you go to the middle of a text and step from there, the logits are known, and choosing again computes nothing.

\printedfunction{living/steps.c}{living_next}
The page shows |why|, the reason: one candidate was the likeliest, one was left, or one was drawn. To go back we forget the token, if nothing was written after it, and the step that wrote it, unless other tokens were written at the same place. So the next step computes the same again, and counts the same.

@ The program tries all of it: five tokens with the cache, three without, two steps back, and then another token after the third.

@<Write, go back, and branch@>=
static bool steps(struct living *g, int n)
{
  bool ok = true;
  for (; ok && n > 0; n--) ok = living_next(g, NULL);
  return ok;
}
@#
static void tell(const struct living *g, uint32_t node)
{
  const struct living_node *k = &g->node[node];
  const struct living_read *r = &g->node[k->parent].read;
  size_t n;
  const unsigned char *piece = tokenizer_text(g->t, k->id, &n);
  if (node == 0) return;
  tell(g, k->parent);
  printf("  %zu: %2zu rows, %2" PRIu64 " again, %8" PRIu64 " multiply-adds, %s:%.*s\n",@|
    k->n - g->prompt.n, r->rows,@|
    r->after.kv_rows_recomputed - r->before.kv_rows_recomputed,@|
    r->after.madds_linear - r->before.madds_linear, k->why, (int) n, piece);
}

@ The steps are printed from the first on, so a place prints its parent before itself. The token that we ask for is the id of \tok{\ quiet}.

@<Write, go back, and branch@>=
static bool branch(bool values)
{
  static const char on[] = "{\"prompt\":\"Once upon a time\",\"cache\":true}";
  static const char off[] = "{\"cache\":false}", again[] = "{\"cache\":true}";
  struct living g = @[{ .now = 0 }@];
  uint32_t other = 417;
  bool ok = living_material(&g) && living_begin(&g) && living_set(&g, on, strlen(on))
    && steps(&g, 5) && living_set(&g, off, strlen(off)) && steps(&g, 3);
  if (ok && !values) tell(&g, g.now);
  ok = ok && living_drop(&g) && living_drop(&g) && living_set(&g, again, strlen(again))@|
    && living_go(&g, 3) && living_next(&g, &other) && steps(&g, 2);
  if (ok && !values) printf("another token after the third:\n");
  if (ok && !values) tell(&g, g.now);
  if (ok && values) @<Print the limits@>@;
  if (!ok) fprintf(stderr, "%s\n", g.why.text);
  living_end(&g);
  tokenizer_close(&g.m, g.t), model_close(&g.m, g.lm);
  return ok && g.m.all.live == 0;
}

@ Some limits of a page are quoted elsewhere, so the program prints them.

@<Print the limits@>=
printf("living.context %d\nliving.texts %d\n", LIVING_CONTEXT, LIVING_TEXTS);

@ Here is the text, and then the branch. Each line has the number of a step, the rows that were computed for it, how many of them had been computed before, the multiply--adds, and the token with the reason why it was chosen:

\checkpoint[8,22]{build/out/living.txt}{five steps with the cache, three without; then a branch}

With the cache every step after the first computes one row. Without it the steps grow, and all but one of their rows are repeated. The branch has three steps in common with the text, and shows them as they were.

@* The same bits. \label{sec:wasmsame}
Is the page the engine? \texttt{make check-wasm} compiles the same C twice, for this machine and for WebAssembly, and lets both do what a script says: three prompts, \given{64} steps each, with the cache and without; then drawn tokens, penalties, a switch in the middle, steps back, forks, beams, and settings that are refused. That gives \val{living.checked.answers} answers, and in each of them all that a page can be told: ids, pieces, log-probabilities, counters, hashes of logits and of attention. \val{living.checked.numbers} numbers are compared, with |==|.

The command is a third witness. For the first \val{living.checked.steps} steps the numbers of a page are also those of \texttt{incipit trace --json}: same fields, same integers, and of one head of attention each weight. All this is done in node, in Chromium without a window, and, where there is one, in a runtime that shares no code with a browser. And the page itself is asked for the numbers by which the ledger judges what a tutorial says about its moving picture\lab{lab:demonstration}.
@^Chromium@>

How do we know that the exact |fmaf| is exact? We compare it with sums of integers, for \val{living.fused.triples} triples of eight kinds: \val{living.fused.wrong} are wrong. Planted faults show that these tests notice something (\texttt{make wasm-mutants}). And the file itself is made twice, in two folders, and must have the same bytes.

@ \fig{livingclock}{fig:livingclock}{Time of a step by the rows of its text, with the cache and without, for the engine in node (``page'') and for the same C compiled for the machine itself (``here''), on one core. Both axes are logarithmic.}{Four curves over six lengths of text, each twice the one before. Without the cache the time of a page grows in proportion to the rows, from tens to hundreds of milliseconds, and crosses the line of four tokens a second just before the last length but one. The machine itself is far below that, on a curve that rises as steeply. With the cache both are nearly level: a page at a few milliseconds, the machine at a tenth or two of one.}
What does it cost? In node, on one core of a machine that a file of data names (\.{living.csv}), a token takes \val{living.measured.token} of a processor, so about \val{living.measured.tokens} are written in a second. That is faster than anyone can look. A row that is computed again takes \val{living.measured.row}. So how long may a text become until a page that recomputes everything can no longer keep up, at four tokens a second? \val{living.measured.rows_four} rows. Then the page must fall behind, and show that it does. It is what \cref{loop} says about recomputing, and here you can watch it.

Beside the engine that the command uses, a page is slow (\cref{fig:livingclock}): at \given{32} rows it takes \val{living.clock.32.slower} times as long. A fused instruction has become some twenty, and a register of the machine's vectors a quarter of one. We could have a page that is much faster and nearly right. But then this chapter would have no test.

@<Print what was measured@>=
static bool print_clock(void)
{
  FILE *f = fopen("figures/data/living.clock.csv", "r");
  char line[200];
  double rows, kept, naive, here[2];
  if (f == NULL) return false;
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &rows, &kept, &naive, here, here + 1)
        == 5)
      printf("living.clock.%.0f.slower %.0f\n", rows, naive / here[1]);
  fclose(f);
  return true;
}
@#
static bool print_measured(void)
{
  FILE *f = fopen("figures/data/living.csv", "r");
  char line[200], key[60], number[30], unit[20];
  if (f == NULL) return false;
  while (fgets(line, sizeof line, f) != NULL) {
    int n = sscanf(line, "%59[a-z._],%29[0-9.],%19[a-z]", key, number, unit);
    if (n >= 2) printf("%s %s %s\n", key, number, n == 3 ? unit : "");
  }
  fclose(f);
  return print_clock();
}

@* Exercises. \label{sec:livingexercises}
Each exercise names the command that checks your answer.

\begin{exercises}
\exercise{check}{ex:livingtie}{In the case by hand, let $c$ be $1$. How many units of $2^{-23}$ above $1$ is the result if the sum is rounded once, and how many if it is rounded twice? Why does the trap not spring? (Two numbers.)}{\texttt{make exercise-W20-1}}{$0$ and $0$. The exact sum is $1+2^{-24}-2^{-70}$, below the middle between $1$ and $1+2^{-23}$. In double it becomes the middle, and the tie goes to the even neighbour; but now that is $1$, where the sum belongs. The C library, which concludes that nothing was lost and moves its result, is wrong here as well.}
\exercise{think}{ex:livingodd}{How many bits more than its result does the number in between need, so that rounding first to odd and then to the nearest is always right? And how many bits may the result have if the number in between is a float? (Two numbers.)}{\texttt{make exercise-W20-2}}{\given{2}, and so 22. The middle between two results of $n$ bits has $n+1$ bits. With one bit more in between, it can be reached: it ends in a one. With two, its last bit is zero, and a number that was rounded to odd never is a middle, and never crosses one.}
\exercise{check}{ex:livingrows}{How many rows has the text of the box cost, up to its eighth step? How many would it have cost with the cache off from the first? (Two numbers.)}{\texttt{make exercise-W20-3}}{38: the prompt's 4, four times 1, and then 9, 10 and 11. Without the cache 60, which is $4+5+\cdots+11$.}
\end{exercises}
