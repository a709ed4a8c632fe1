@i types.w
@s step_watch int
@s step_select int
@s step_stop int
@s quantity int

\chapterquestion{How do we know how often a row was computed?}
@** Experiments on the naive loop. \label{lab:loop}
\incipit{T}{wo witnesses} watch the loop while it writes. The counters sit in the model, beside the work that they count. A watcher is called by the loop after
each step and knows nothing but the length of the text; from that alone it keeps its own list of what must have been computed. Every count that
chapter 3 quotes comes from a run in which both agreed.

The program answers six words. Three of them print points for figures: |"grid"|, |"heat"| and |"growth"|. The word |"values"| prints the keys
that the prose quotes, and |"clock"| takes times. As a clock never gives the same answer twice, |"clock"| is no part of the build; \texttt{make measure} runs
it and keeps what it said.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "laboratory/kit.h"
#include "cache/keep.h"
#include "functions/numbers.h"
@;@#
@<Run the loop and read the counters@>@;
@<Read a quantity off a run@>@;
@<Print the cells of a grid and the points of the curves@>@;
@<Print the numbers of the table@>@;
@<Print what became of the claims@>@;
@<Replace one token by the second best@>@;
@<Take the time of a pass@>@;
@<Fit a line to the times@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "grid", print_grid },@|
    { "heat", print_heat }, { "growth", print_growth },@|
    { "clock", print_clock }, { "values", print_table },@|
    { "values", print_slopes }, { "values", print_claims },@|
    { "values", print_formula }, { "values", print_slips },@|
    { "values", print_fit }, { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* Running and counting. \label{lab:loopcount}
One function runs the loop for $p$ tokens given and $g$ to write, in an empty store, with all counters
at zero. Short texts are written by the built-in model, so that the grids are those of a model that has learnt to write. Long texts are left to the parrot of
\cref{lab:parrot}, whose passes cost next to nothing; it needs the same rows, and the counters cannot tell the two apart. (The parrot also
takes prompts of one or two tokens, after which the built-in model might prefer another sentence.)

@<Run the loop and read the counters@>=
struct tally { struct counters did;@+ size_t times[PARROT_CONTEXT], longest;
  bool print; };
@<Watch one pass go by@>@;
static bool run_loop(struct fixture *lab, size_t p, size_t g, struct tally *t,
  struct error *why)
{
  bool real = t->print || (p >= 3 && p + g < 30);
  struct bench b;
  struct generate_options want = @[{ .on_step = watch_pass, .ctx = t }@];
  *t = (struct tally) @[{ .print = t->print }@];
  lab_reset(lab);
  bool ok = bench_open(&b, lab, real ? lab->model : &lab->parrot.lm, 0, NULL, why)
    && bench_recite(&b, lab, p, g, &want, why);
  bench_close(&b);
  t->did = lab->c;
  @<Compare what was drawn with what was counted@>@;
}

@ The watcher keeps a list of how often each position was computed. That is what \cref{fig:grid} has in its cells, and it takes no
more than the length of each step, since a pass of this loop reads everything from position 0. It never cancels.

@<Watch one pass go by@>=
static bool watch_pass(void *ctx, const struct step *now)
{
  struct tally *t = ctx;
  t->longest = now->length;
  for (size_t i = 0; i < now->length; i++) {
    t->times[i]++;
    if (t->print) printf("%zu,%zu,%zu\n", now->number, i, t->times[i]);
  }
  return true;
}

@ Here the two witnesses meet. If they disagree, nothing is printed.

@<Compare what was drawn with what was counted@>=
size_t seen = 0;
for (size_t i = 0; i < t->longest; i++) seen += t->times[i];
return ok && (seen == t->did.kv_rows_computed
  || error_say(why, "%zu cells drawn, %" PRIu64 " rows counted", seen,
    t->did.kv_rows_computed));

@ A run is asked for one quantity at a time. Rows \emph{needed} does not mean $p+g-1$; it means the rows that no earlier pass had
computed, as the store saw it. That the two are equal is a finding, and the tests find it again. A row is \emph{reused} if it was computed more than once, since a
loop that kept it could have used it again; the row of the last token read is not.

@<Read a quantity off a run@>=
enum quantity { ROWS, NEEDED, AGAIN, PAIRS, PASSES, LONGEST, FIRST, REUSED };
static uint64_t read_off(const struct tally *t, enum quantity what)
{
  const struct counters *c = &t->did;
  uint64_t reused = 0;
  for (size_t i = 0; i < t->longest; i++) reused += t->times[i] > 1;
  switch (what) {
  case ROWS: return c->kv_rows_computed;
  case NEEDED: return c->kv_rows_computed - c->kv_rows_recomputed;
  case AGAIN: return c->kv_rows_recomputed;
  case PAIRS: return c->qk_pairs;
  case PASSES: return c->passes;
  case LONGEST: return t->longest;
  case FIRST: return t->times[0];
  case REUSED: break;
  }
  return reused;
}

@ Much of what is printed is a quotient: of rows and rows needed in one run, or of the rows of two runs.

@<Read a quantity off a run@>=
static double rows_of(const struct tally *t)
{
  return (double) read_off(t, ROWS);
}
static double waste(const struct tally *t)
{
  return rows_of(t) / (double) read_off(t, NEEDED);
}

@* Table and curves of the computed rows. \label{lab:loopgrid}
The cells of \cref{fig:grid,fig:heat} are printed by the watcher while the loop runs. In both figures it is the built-in model that writes, so the amber of
\cref{fig:heat} is work that was really done, and done again.

@<Print the cells of a grid and the points of the curves@>=
static bool print_cells(struct fixture *lab, size_t p, size_t g,
  struct error *why)
{
  struct tally t = @[{ .print = true }@];
  printf("step,position,times\n");
  return run_loop(lab, p, g, &t, why);
}
static bool print_grid(struct fixture *lab, struct error *why)
{
  return print_cells(lab, 3, 4, why);
}
static bool print_heat(struct fixture *lab, struct error *why)
{
  return print_cells(lab, 50, 100, why);
}

@ The points of \cref{fig:growth} are printed after each run. Lengths are doubled from point to point, so that they are at equal distances on
logarithmic paper.

@<Print the cells of a grid and the points of the curves@>=
static bool print_growth(struct fixture *lab, struct error *why)
{
  struct tally t = @[{ .print = false }@];
  printf("g,naive,needed\n");
  for (size_t g = 1; g <= PARROT_CONTEXT / 2; g *= 2) {
    if (!run_loop(lab, 16, g, &t, why)) return false;
    printf("%zu,%" PRIu64 ",%" PRIu64 "\n", g, read_off(&t, ROWS),
      read_off(&t, NEEDED));
  }
  return true;
}

@* Growth of work with length. \label{lab:looptable}
A key has the quantity, then $p$ and $g$. One function prints the keys of one run, so that a number of the table and the same number in a sentence cannot
come from two places.

@<Print the numbers of the table@>=
static bool print_run(struct fixture *lab, size_t p, size_t g,
  struct tally *t, struct error *why)
{
  static const char *const name[] = @[{ "naive", "needed", "redone", "pairs" }@];
  if (!run_loop(lab, p, g, t, why)) return false;
  for (int i = 0; i < 4; i++)
    printf("loop.%s.%zu.%zu %" PRIu64 "\n", name[i], p, g,
      read_off(t, (enum quantity) i));
  printf("loop.waste.%zu.%zu %.6f\n", p, g, waste(t));
  return true;
}

@ Eight runs have keys: the four of the table, which are quoted everywhere, and four more that the prose needs.
To each line of the table belongs a run that is twice as long, as ``twice as many tokens'' is to be checked and not believed; and the quotient that the
article prints, which has $p+g$ below the line, so that a reader can see where its numbers come from. Three numbers of each line are claims of that article, numbered from
S4-29 on.

@<Print the numbers of the table@>=
static const size_t quoted[8][2] = @[{ {100, 50}, {500, 200}, {1000, 500},@|
  {2000, 1000}, {3, 4}, {50, 100}, {1, 100}, {1, 1000} }@];
static bool print_table(struct fixture *lab, struct error *why)
{
  struct tally t = @[{ .print = false }@], twice = t;
  for (int i = 0; i < 8; i++) {
    size_t p = quoted[i][0], g = quoted[i][1];
    if (!print_run(lab, p, g, &t, why)) return false;
    if (i >= 4) continue;
    if (!run_loop(lab, p, 2 * g, &twice, why)) return false;
    printf("loop.p.%d %zu\nloop.g.%d %zu\n", i + 1, p, i + 1, g);
    printf("loop.double.%zu.%zu %.6f\n", p, g, rows_of(&twice) / rows_of(&t));
    printf("loop.article.table.%d %.6f\n", i + 1, rows_of(&t) / (double) (p + g));
    printf("claim.S4-%d %.0f\nclaim.S4-%d %" PRIu64 "\n", 29 + 3 * i,
      rows_of(&t), 30 + 3 * i, read_off(&t, NEEDED));
    printf("claim.S4-%d %.4f\n", 31 + 3 * i, waste(&t));
  }
  return true;
}

@ The exponents are slopes on logarithmic paper. If a count grows as $g^a$, twice the tokens make it $2^a$ times as large, and $a$ is the logarithm of the
quotient divided by that of 2. We take it from \given{1000} tokens to twice as many, after a
prompt of one, where \eqref{eq:naive} and \eqref{eq:pairs} have almost lost their lower powers: almost, and so the slopes fall short of 2 and 3 in the
third decimal.

@<Print the numbers of the table@>=
static double log2_of(double x)
{
  return num_log(x) / num_log(2);
}
static bool print_slopes(struct fixture *lab, struct error *why)
{
  struct tally a = @[{ .print = false }@], b = a;
  if (!run_loop(lab, 1, 1000, &a, why) || !run_loop(lab, 1, 2000, &b, why))
    return false;
  print_key("loop.slope.rows", "%.6f", log2_of(rows_of(&b) / rows_of(&a)));
  print_key("loop.slope.pairs", "%.6f",
    log2_of((double) read_off(&b, PAIRS) / (double) read_off(&a, PAIRS)));
  print_key("loop.bound.low", "%.1f", (50 + 1) / 2.0);
  print_key("loop.bound.high", "%d", 50);
  print_key("loop.context", "%d", PARROT_CONTEXT);
  @<Print what an article concludes from its first line@>@;
}

@ What the article concludes from its table it concludes from the first line: how large the waste is, and what twice and ten times as many tokens would
cost. Its formula has $g^2/2$ where the sum has $g(g-1)/2$; it is worked out as it was printed.

@<Print what an article concludes from its first line@>=
if (!run_loop(lab, 100, 50, &a, why)) return false;
print_key("claim.S4-52", "%.4f", waste(&a));
print_key("claim.S4-28", "%.6f", waste(&a));
print_key("loop.article.formula", "%.6f", (50 * 100 + 50 * 50 / 2) / 150.0);
if (!run_loop(lab, 100, 100, &b, why)) return false;
print_key("claim.S4-43", "%.6f", rows_of(&b) / rows_of(&a));
if (!run_loop(lab, 100, 500, &b, why)) return false;
print_key("loop.tenfold.100.50 claim.S4-44", "%.6f", rows_of(&b) / rows_of(&a));
return true;

@* What became of the claims. \label{lab:loopclaims}
A claim's key is its number in the list of claims; its value is what our run says. The boxes of \cref{sec:looptutorials} and \cref{lab:looptutorials} quote these keys; where a tutorial is right there is no
box, but a key all the same. Almost all of them are one quantity of one run. So they are a table: which run, what to read off it, and the names of
the claims. Some ask about a single step, which is the difference of two runs: then |less| is the number of tokens of the shorter one. Some leave out the
tokens of the prompt, and some count layers as well.

@<Print what became of the claims@>=
struct claim { size_t p, g, less;@+ enum quantity what;@+ const char *names;
  uint64_t minus, times; };
@<The claims of chapter 3@>@;

@ First the drawing of three tokens given and four to write, step by step, and a text of \given{100} tokens. The claims |S4-08| and |S4-09| ask how often token 0 was computed
after three steps, and how many tokens there are that the first pass had not read.

@<The claims of chapter 3@>=
static const struct claim of_the_drawing[] = @[{
  { 3, 1, 0, ROWS, "claim.S4-05", 0, 1 },@|
  { 3, 1, 0, NEEDED, "claim.S4-25", 0, 1 },@|
  { 3, 2, 1, ROWS, "claim.S4-06", 0, 1 },@|
  { 3, 3, 0, FIRST, "claim.S4-08", 0, 1 },@|
  { 3, 3, 0, FIRST, "loop.drawing.again", 1, 1 },@|
  { 3, 2, 0, FIRST, "loop.drawing.again.2", 1, 1 },@|
  { 3, 2, 0, FIRST, "loop.drawing.first.2", 0, 1 },@|
  { 3, 4, 0, FIRST, "loop.drawing.again.4", 1, 1 },@|
  { 3, 4, 0, FIRST, "loop.drawing.first.4", 0, 1 },@|
  { 3, 3, 0, LONGEST, "claim.S4-09", 4, 1 },@|
  { 3, 4, 0, ROWS, "claim.S4-11", 0, 1 },@|
  { 3, 4, 0, NEEDED, "claim.S4-12 claim.S4-27 claim.S0-32", 0, 1 },@|
  { 3, 4, 0, NEEDED, "claim.S4-26", 3, 1 },@|
  { 3, 4, 0, AGAIN, "claim.S4-13", 0, 1 },@|
  { 3, 4, 0, REUSED, "claim.S4-14", 0, 1 },@|
  { 3, 4, 0, PAIRS, "claim.S4-04", 0, 1 },@|
  { 3, 4, 0, LONGEST, "claim.S4-21 claim.S3-50", 0, 1 },@|
  { 3, 4, 0, PASSES, "claim.S2-17", 0, 1 },@|
  { 3, 7, 0, PASSES, "claim.S2-32", 1, 1 },@|
  { 100, 100, 0, FIRST, "claim.S4-55", 0, 1 },@|
  { 100, 100, 0, FIRST, "claim.S4-56", 1, 1 },@|
  { 100, 100, 0, ROWS, "claim.S4-57", 0, 1 } }@];

@ Then come longer texts. The source of 50 and \given{100} tokens says how many rows are computed again, how long the longest pass is, and that there are as many passes as
tokens. Texts that begin with one token are the favourite of those who want a round number. A third source draws blocks, one
for a row in each of six layers, and counts those of step 21. The second step after a prompt of ten is the place to see what is
computed \emph{again}: the newest row is not. The last two are a text that is to be longer than the context, and an answer of \given{500} tokens.

@<The claims of chapter 3@>=
static const struct claim of_longer_texts[] = @[{
  { 50, 100, 0, ROWS, "claim.S2-33", 0, 1 },@|
  { 50, 100, 0, AGAIN, "claim.S2-02", 0, 1 },@|
  { 50, 100, 0, NEEDED, "claim.S2-12", 0, 1 },@|
  { 50, 100, 0, LONGEST, "claim.S2-34 claim.S2-47", 0, 1 },@|
  { 50, 100, 0, PASSES, "claim.S2-89", 0, 1 },@|
  { 1, 100, 0, ROWS, "claim.S2-38", 0, 1 },@|
  { 1, 1000, 0, ROWS, "claim.S0-37 claim.S1-57 claim.S2-37", 0, 1 },@|
  { 1, 1000, 0, PASSES, "claim.S0-21 claim.S1-37", 0, 1 },@|
  { 1, 1000, 0, LONGEST, "claim.S0-62", 0, 1 },@|
  { 1, 1000, 0, PAIRS, "claim.S2-36 claim.S1-19 claim.S3-11 claim.S0-58 claim.S2-35", 0, 1 },@|
  { 8, 21, 20, AGAIN, "claim.S0-12", 0, 6 },@|
  { 8, 21, 20, ROWS, "claim.S0-20", 0, 6 },@|
  { 10, 2, 1, ROWS, "loop.step.rows.10", 0, 1 },@|
  { 50, 1, 0, ROWS, "loop.step.rows.50", 0, 1 },@|
  { 50, 2, 1, ROWS, "loop.step.rows.51", 0, 1 },@|
  { 10, 2, 1, AGAIN, "claim.S0-35 claim.S1-18", 0, 1 },@|
  { 1000, 1, 0, ROWS, "loop.step.rows.1000", 0, 1 },@|
  { 1000, 1, 0, PAIRS, "claim.S0-36", 0, 1 },@|
  { PARROT_CONTEXT - 10, 100, 0, PASSES, "claim.S3-37", 0, 1 },@|
  { 1, 500, 0, PASSES, "claim.S3-03", 0, 1 } }@];

@ The loop is run once for neighbours in the table that ask for the same run.

@<Print what became of the claims@>=
static bool print_list(struct fixture *lab, const struct claim *c, size_t n_claims,
  struct error *why)
{
  struct tally t = @[{ .print = false }@], u = t;
  for (size_t i = 0; i < n_claims; i++, c++) {
    bool same = i > 0 && c[-1].p == c->p && c[-1].g == c->g;
    if (!same && !run_loop(lab, c->p, c->g, &t, why)) return false;
    uint64_t n = read_off(&t, c->what);
    if (c->less > 0) {
      if (!run_loop(lab, c->p, c->less, &u, why)) return false;
      n -= read_off(&u, c->what);
    }
    print_key(c->names, "%" PRIu64, c->times * (n - c->minus));
  }
  return true;
}

@ Three claims are quotients: rows of a long and a short text, the tokens that one pass is said to bring, and the new rows of each pass after the first.

@<Print what became of the claims@>=
static bool print_claims(struct fixture *lab, struct error *why)
{
  struct tally t = @[{ .print = false }@], u = t, v = t;
  if (!print_list(lab, of_the_drawing, sizeof of_the_drawing
      / sizeof *of_the_drawing, why)@|
      || !print_list(lab, of_longer_texts, sizeof of_longer_texts
      / sizeof *of_longer_texts, why)@|
      || !run_loop(lab, 1, 1000, &t, why) || !run_loop(lab, 1, 100, &u, why)
      || !run_loop(lab, 50, 100, &v, why)) return false;
  print_key("loop.ratio.1000.100", "%.6f", rows_of(&t) / rows_of(&u));
  print_key("claim.S0-23", "%" PRIu64, read_off(&t, LONGEST)
    / read_off(&t, PASSES));
  print_key("claim.S2-41", "%" PRIu64, (read_off(&v, NEEDED) - 50)
    / (read_off(&v, PASSES) - 1));
  return true;
}

@ For what is too long to run there is \eqref{eq:naive}. A formula may be used instead of a run only after it
has been compared with runs. The five are chosen to be unlike each other: the smallest there is, the drawing, one whose prompt is longer than its answer,
one where the square does all the work, and the second line of the table. If one of them differs, nothing is printed.

@<Print what became of the claims@>=
static uint64_t by_formula(uint64_t p, uint64_t g)
{
  return g * p + g * (g - 1) / 2;
}
static bool formula_holds(struct fixture *lab, struct tally *t,
  struct error *why)
{
  static const size_t tried[][2] = @[{ {1, 1}, {3, 4}, {7, 5}, {1, 1000},@|
    {500, 200} }@];
  for (int i = 0; i < 5; i++) {
    size_t p = tried[i][0], g = tried[i][1];
    if (!run_loop(lab, p, g, t, why)) return false;
    if (read_off(t, ROWS) != by_formula(p, g))
      return error_say(why, "p = %zu, g = %zu: %" PRIu64 " rows, not %" PRIu64,
        p, g, read_off(t, ROWS), by_formula(p, g));
  }
  return true;
}

@ Three claims are read at once from the last of the five. Then come the numbers for which no run would end: a text of \given{1\,000\,000}
tokens, and two of \given{10\,000} and \given{100}, in either order.

@<Print what became of the claims@>=
static bool print_formula(struct fixture *lab, struct error *why)
{
  struct tally t = @[{ .print = false }@];
  if (!formula_holds(lab, &t, why)) return false;
  print_key("claim.S4-22 claim.S4-23", "%.0f", rows_of(&t));
  print_key("claim.S4-41", "%.4f", waste(&t) - 1);
  print_key("loop.formula.100000", "%" PRIu64, by_formula(1, 100000));
  print_key("claim.S0-25", "%" PRIu64, by_formula(1, 1000000));
  print_key("claim.S4-53", "%.4f",
    (double) by_formula(100, 10000) / (100 + 10000 - 1));
  print_key("claim.S4-58", "%.4f",
    (double) by_formula(10000, 100) / (10000 + 100 - 1));
  print_key("claim.S4-42", "%.4f",
    (double) by_formula(500, 2000) / (double) by_formula(500, 1000));
  return true;
}

@* One token replaced. \label{lab:loopslips}
How much depends on a single token? The built-in model writes its tale after \tok{The}\tok{\ cat}\tok{\ sat} greedily, and a watcher notes the second best token of every step.
Then each token of the tale but the last, which ends it, is replaced in its turn by the second best, and the loop writes on from there.

@<Replace one token by the second best@>=
enum { TALE_LIMIT = 500 };
struct runners_up { uint32_t id[TALE_LIMIT];@+ size_t vocab; };
static bool note_second(void *ctx, const struct step *now)
{
  struct runners_up *s = ctx;
  uint32_t best = now->chosen == 0;
  for (uint32_t v = 0; v < s->vocab; v++)
    if (v != now->chosen && now->logits[v] > now->logits[best]) best = v;
  s->id[now->number - 1] = best;
  return true;
}

@ All texts are written with the cache, which changes no token (\cref{cache}) and saves most of the time: what two texts have in common is read once. A text that has not ended after
\given{500} tokens is given up.

@<Replace one token by the second best@>=
static bool print_slips(struct fixture *lab, struct error *why)
{
  const struct model_config *config = &lab->model->config;
  struct runners_up second = @[{ .vocab = lab->vocab }@];
  struct generate_options want = @[{ .max_new_tokens = TALE_LIMIT,@|
    .eos = config->eos, .n_eos = config->n_eos, .on_step = note_second,@|
    .ctx = &second, .recall = store_match_prefix }@];
  struct continuation tale;
  if (!generate(&lab->b.g, lab->sentence, 3, &want, &tale, why)) return false;
  size_t end = tale.text.n - 1, later = 0, kept = 0, same = 0, endless = 0;
  uint32_t prompt[TALE_LIMIT + 3];
  bool ok = true;
  want.on_step = NULL;
  for (size_t i = 3; ok && i < end; i++) {
    @<Write on after the second best token at place |i|@>@;
  }
  continuation_free(&lab->m, &tale);
  @<Say what the replacements changed@>@;
  return ok;
}

@ A later token counts as kept if it stands at the same place in both texts; a text counts as the same if all its later tokens are kept and it ends where the tale does.

@<Write on after the second best token at place |i|@>=
struct continuation other;
memcpy(prompt, tale.text.id, i * sizeof *prompt);
prompt[i] = second.id[i - 3];
if (!(ok = generate(&lab->b.g, prompt, i + 1, &want, &other, why))) break;
size_t here = 0;
for (size_t k = i + 1; k <= end && k < other.text.n; k++)
  here += other.text.id[k] == tale.text.id[k];
later += end - i, kept += here;
same += here == end - i && other.text.n == tale.text.n;
endless += other.ended != FINISH_STOP;
continuation_free(&lab->m, &other);

@ The tale of the chapter's checkpoint is counted as well, since the prose says how many rows it took.

@<Say what the replacements changed@>=
if (ok) {
  struct tally t = @[{ .print = false }@];
  print_key("loop.tale.written", "%zu", end + 1 - 3);
  print_key("loop.slip.places", "%zu", end - 3);
  print_key("loop.slip.same", "%zu", same);
  print_key("loop.slip.endless", "%zu", endless);
  print_key("loop.slip.other", "%zu", end - 3 - same - endless);
  print_key("loop.slip.kept", "%.4f", 100 * (double) kept / (double) later);
  ok = run_loop(lab, 3, end + 1 - 3, &t, why);
  print_key("loop.tale.rows", "%.0f", rows_of(&t));
  print_key("loop.tale.needed", "%" PRIu64, read_off(&t, NEEDED));
}

@* Times. \label{lab:loopclock}
What is timed is |model_evaluate| of \cref{model}: it empties the store, runs the rows, and asks the last one for its logits. That is a round of our loop, without
the choice, which takes no time. The ids of the text follow each other, since the work does not depend on which they are. The clock is that of
\cref{sec:asking}.

@<Take the time of a pass@>=
enum { ROUNDS = 21, LENGTHS = 12 };
static bool time_pass(struct fixture *lab, struct bench *b, size_t n,
  double *seconds, struct error *why)
{
  uint32_t ids[PARROT_CONTEXT];
  for (size_t i = 0; i < n; i++)
    ids[i] = (uint32_t) (1 + i % (lab->model->config.vocab_size - 1));
  double start = timing_seconds();
  bool ok = model_evaluate(&b->e, lab->model, b->s, ids, n, &(size_t) @[{ n - 1 }@], 1,
    lab->logits, why);
  *seconds = timing_seconds() - start;
  return ok;
}

@ Each length is timed in every round, and not all rounds of one length before the next begins: so a disturbance that lasts a few seconds
falls on all lengths alike and cannot bend the line. Round $-1$ lets the machine fetch its pages and fill its caches; its times are not kept.

The times are microseconds for a whole pass, on one thread. More threads would share the products of a pass and leave the
waiting between them unshared; the line of \eqref{eq:clock} has no term for that.

@<Take the time of a pass@>=
static bool print_clock(struct fixture *lab, struct error *why)
{
  double taken[LENGTHS][ROUNDS], seconds;
  struct bench b;
  bool ok = bench_open(&b, lab, lab->model, 0, NULL, why);
  for (int r = -1; r < ROUNDS; r++)
    for (size_t i = 0; ok && i < LENGTHS; i++) {
      ok = time_pass(lab, &b, 64 * (i + 1), &seconds, why);
      if (r >= 0) taken[i][r] = seconds;
    }
  bench_close(&b);
  if (!ok) return false;
  printf("rows,low,median,high\n");
  for (size_t i = 0; i < LENGTHS; i++) {
    printf("%zu", 64 * (i + 1));
    print_quartiles(taken[i], ROUNDS, 1e6, 2);
    printf("\n");
  }
  return true;
}

@ What the prose says about the times is computed from the file; so it is the same wherever the book is built, and a
reader who measures again changes figure and sentences together. The points are the quotients of \eqref{eq:clock}: $x=(n+1)/2$, the mean number of keys
that a row looks at, and $y=t(n)/n$, of the median, the third column.

How well the line fits is said by the point that is farthest from it, in proportion: a mean would let eleven good points hide a bad one.
Of a row's time $a+bx$ the part $bx$ went into looking; its share is printed for the shortest pass and for the longest. (From $x$ the length comes back as
$2x-1$.) The longest pass is quoted in milliseconds.

@<Fit a line to the times@>=
static bool print_fit(struct fixture *lab, struct error *why)
{
  double t[3][LENGTHS], *x = t[0], *y = t[2];
  (void) lab;
  if (!data_numbers("loop.clock", 3, LENGTHS, t[0], why)) return false;
  double step = y[LENGTHS - 1] / 1000;
  for (size_t i = 0; i < LENGTHS; i++)
    y[i] /= x[i], x[i] = (x[i] + 1) / 2;
  struct fit l = fit_line(x, y, LENGTHS);
  double low = x[0], high = x[LENGTHS - 1];
  print_key("loop.clock.row", "%.4f", l.start);
  print_key("loop.clock.pair", "%.4f", 1000 * l.slope);
  print_key("loop.clock.texts", "%d", LENGTHS);
  print_key("loop.clock.error", "%.4f", 100 * l.worst_error);
  print_key("loop.clock.shortest", "%.0f", 2 * low - 1);
  print_key("loop.clock.longest", "%.0f", 2 * high - 1);
  print_key("loop.clock.step", "%.2f", step);
  print_key("loop.clock.share.short", "%.2f",
    100 * l.slope * low / (l.start + l.slope * low));
  print_key("loop.clock.share", "%.2f",
    100 * l.slope * high / (l.start + l.slope * high));
  return true;
}

@* Claims of the tutorials. \label{lab:looptutorials}
These were judged with the numbers above. Where several sources say the same thing in other words, one is quoted and all are named.

\begin{claimed}{S4-08}
in step 3 of the drawing this is computation number \val{claim.S4-08} of row 0. The first computation was needed, so it is the second recomputation.
\end{claimed}

\begin{claimed}{S4-56, S4-03}
a row that is ``recomputed once per step'' is recomputed \val{claim.S4-56} times in \given{100} steps: the first time is none. And of the four tokens that
the article announces as ``on the mat'' (S4-03), the quoted text has \val{claim.S4-03}; the fourth is a full stop.
\end{claimed}

\begin{claimed}{S4-14}
\val{claim.S4-14}: the row of the last token read is never read again.
\end{claimed}

\begin{claimed}{S4-28}
the equals sign fails twice: the sum has $g(g-1)/2$ in it, and the rows needed are $p+g-1$. In the
first line the printed formula gives \val[2]{loop.article.formula}; with the exact numerator over the article's
$p+g$ it is \val[1]{loop.article.table.1}, the number in its table; the counters say \val[2]{claim.S4-28}. The other
lines of the table are \val[2]{loop.article.table.2}, \val[2]{loop.article.table.3} and \val[2]{loop.article.table.4}
with the decimals cut off.
\end{claimed}

\begin{claimed}{S4-43, S4-44}
\val[2]{claim.S4-43} times as much in the article's first line, and \val[1]{claim.S4-44} where it says \given{100}.
\end{claimed}

\begin{claimed}{S4-48}
the product is right, \val{claim.S4-48}. But layers and heads multiply what was computed and what was
needed alike: a quotient of counts does not change. In the second line of the table it stays \val[2]{loop.waste.500.200}.
\end{claimed}

\begin{claimed}{S4-52}
which requests are typical is not ours to say. The article's own table begins at \val[1]{loop.article.table.1}.
\end{claimed}

\begin{claimed}{S4-53, S4-58}
the factor lies between $(g+1)/2$ and $g$: the
redundant \emph{work} grows with the square of the answer, the \emph{factor} only in proportion to it:
\val[0]{claim.S4-53} after a prompt of \given{100} tokens and \given{10\,000} written. And with a longer prompt it does not grow beyond $g$: for \given{10\,000}
tokens given and \given{100} written it is \val[1]{claim.S4-58}.
\end{claimed}

\begin{claimed}{S0-36}
one step over \given{1000} tokens computes \val{loop.step.rows.1000} rows, but \val{claim.S0-36} pairs. (That the whole loop
from one token to \given{1000} computes as many \emph{rows} is no accident: both are the sum of the numbers up to \given{1000}.)
\end{claimed}

\begin{claimed}{S2-37, S2-38}
\val{claim.S2-37} rows; the sum printed just above it says so too. For \given{100} tokens \val{claim.S2-38}, and
so ten times the tokens cost \val[2]{loop.ratio.1000.100} times the rows.
\end{claimed}

\begin{claimed}{S3-03}
\val{claim.S3-03} passes, and in this chapter's loop each is complete. That it need not be is chapter 4. But
the loop does not end by itself: in the pseudo-code nothing sets the variable it waits for, and a full stop is not an end token.
\end{claimed}

\begin{claimed}{S2-17, S2-32}
``The cat sat on the mat.'' has seven factors and is written in \val{claim.S2-17} steps: the factors of the prompt
are no steps, and what was given was not generated.
\end{claimed}

\begin{claimed}{S0-20}
with the drawing's six layers and a prompt of eight, step 21 computes \val{claim.S0-20} blocks without the cache and the first 48: there it climbs, by six a step. With the cache every step computes six,
and only the pairs of attention climb. So we think that a word is missing, such as ``slowly''.
\end{claimed}

\begin{claimed}{S3-37}
asked for \given{100} tokens ten short of its context of \val{loop.context}, our model writes \val{claim.S3-37}. The last is never read,
and after it there is no position for another.
\end{claimed}

\begin{claimed}{S4-41}
\val[2]{loop.waste.500.200} times \emph{as much}, so \val[2]{claim.S4-41} times more, of rows. A row of a long pass costs
more than a row of a short one, so this is no ratio of times.
\end{claimed}

\begin{claimed}{S0-35, S1-18}
after a prompt of \given{50} and one token written, the next pass computes \val{loop.step.rows.51} rows. To be exact, the newest is computed for the first time.
\end{claimed}
