@i types.w
@s cache_options int
@s cache_state int
@s step_watch int

\chapterquestion{How do we know that the cache changes the time and nothing else?}
@** Experiments on the cache. \label{lab:cache}
\incipit{E}{very experiment} of this chapter is a comparison. The loop writes a text and forgets after each step; it writes the text again and
remembers; and then the rows, the pairs, the time, or the bits of the logits are compared. Two smaller programs ask what goes wrong if a row is
stored too late, and how the rows should be laid out in memory.

The word |"values"| prints the keys of the prose, |"plates"| and |"growth"| the points of two figures. The words |"clock"| and |"layouts"| take times, which are
kept in files.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "laboratory/kit2.h"
#include "kernels/kernels.h"
@;@#
@<Run the loop, and note what each step has done@>@;
@<Write the text twice, and compare@>@;
@<Print the points of the figures@>@;
@<Let rows overlook themselves@>@;
@<Turn half of a text back@>@;
@<Print the sums of a case, both ways@>@;
@<Print what became of the claims@>@;
@<Run the moving picture@>@;
@<Take the time of every step@>@;
@<Read what the clock said@>@;
@<Take the time of attention@>@;
@<Read what attention took@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "plates", print_plates },@|
    { "growth", print_growth }, { "clock", print_clock },@|
    { "layouts", print_layouts }, { "values", print_late },@|
    { "values", print_parting }, { "values", print_shift },@|
    { "values", print_cases },@|
    { "values", print_claims }, { "values", print_picture },@|
    { "values", print_ticks }, { "values", print_layout_keys },@|
    { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* Cached and recomputed, compared. \label{lab:cachetwice}
A \emph{course} is what a run has left behind: for each step its rows, its pairs, and how many rows were stored after it, and if somebody wants to compare them, all logits. The settings are
in the course as well, because a run may change its mind: after step |turn| the option |recall| is switched on or off.

@<Run the loop, and note what each step has done@>=
enum { STEPS = 1024 };
struct course {
  uint64_t rows[STEPS], pairs[STEPS];@+ size_t stored[STEPS], steps, turn;
  struct counters all;@+ struct generate_options want;@+ struct store *s;
  float *logits;@+ size_t vocab; /* |[steps][vocab]|, or null */
};
static bool note_step(void *ctx, const struct step *now)
{
  struct course *c = ctx;
  size_t i = c->steps++;
  c->rows[i] = now->after.rows - now->before.rows;
  c->pairs[i] = now->after.qk_pairs - now->before.qk_pairs;
  c->stored[i] = store_length(c->s, 0);
  if (c->logits != NULL) memcpy(c->logits + i * c->vocab, now->logits,
    c->vocab * sizeof *now->logits);
  if (now->number == c->turn) c->want.recall =
    c->want.recall == NULL ? store_match_prefix : NULL;
  return true;
}

@ A run has a cache of its own, and its counters begin at zero. As in chapter 3, short texts are written by the built-in model and long ones by the parrot; here those after
a prompt of three are the short ones. Before the cache is closed one thing is asserted: after $p$ tokens given and $g$ written
there are $p+g-1$ rows in it, with memory or without.

@<Run the loop, and note what each step has done@>=
static bool run(struct fixture *lab, bool keep, size_t p, size_t g,
  struct course *c, struct error *why)
{
  struct bench b;
  const struct model *lm = p == 3 ? lab->model : &lab->parrot.lm;
  bool ok = bench_open(&b, lab, lm, 0, &(struct cache_options) @[{
    .rows = PARROT_CONTEXT }@], why);
  c->want = (struct generate_options) @[{ .on_step = note_step, .ctx = c,
    .recall = keep ? store_match_prefix : NULL }@];
  c->steps = 0;
  c->s = b.s, c->vocab = lm->config.vocab_size;
  lab_reset(lab);
  ok = ok && bench_recite(&b, lab, p, g, &c->want, why)
    && (store_length(b.s, 0) == p + g - 1 || error_say(why,
      "%zu rows are stored, not %zu", store_length(b.s, 0), p + g - 1));
  c->all = lab->c;
  bench_close(&b);
  return ok;
}
static bool both_ways(struct fixture *lab, size_t p, size_t g,
  struct course two[2], struct error *why)
{
  two[0].turn = two[1].turn = 0, two[0].logits = two[1].logits = NULL;
  return run(lab, false, p, g, &two[0], why)
    && run(lab, true, p, g, &two[1], why);
}

@ To compare logits means to compare their bits: there is no tolerance, since there is no
rounding that could differ. A row that goes through the layers alone is added up in the same order as in company (\cref{sec:order}). The two runs may not differ in one of the
logits, at any step.

@<Write the text twice, and compare@>=
static bool write_twice(struct fixture *lab, struct course two[2],
  size_t *differ, struct error *why)
{
  size_t n = 4 * lab->model->config.vocab_size;
  for (int keep = 0; keep < 2; keep++) {
    struct course *c = &two[keep];
    c->turn = 0, c->logits = lab_take(lab, n, sizeof *c->logits, why);
    if (c->logits == NULL || !run(lab, keep, 3, 4, c, why)) return false;
  }
  *differ = 0;
  for (size_t i = 0; i < n; i++)
    *differ += memcmp(&two[0].logits[i], &two[1].logits[i], sizeof (float)) != 0;
  return true;
}

@* The contents of the cache. \label{lab:plates}
To look at what is stored one must ask like a row: a pass is begun with the row that would come next, its view is taken, and the pass is aborted, as if it had not been. The view says where the keys are.

@<Print the points of the figures@>=
static void print_plate(const struct store *s, size_t step, uint32_t layer,
  size_t old)
{
  struct kv_view v;
  store_view(s, layer, 0, &v);
  for (uint32_t t = 0; t < s->rows[0].position; t++)
    for (uint32_t h = 0; h < s->n_kv_heads; h++) {
      const float *key = (const void *) (v.page[t / v.page_rows] + v.key
        + h * v.head_bytes + t % v.page_rows * v.row_bytes);
      for (uint32_t c = 0; c < s->head_dim; c++)
        printf("%zu,%u,%u,%d,%u,%.3f\n", step, layer, t, t >= old,@|
          h * s->head_dim + c, (double) key[c]);
    }
}

@ The first pass has three rows and each of the others one; |old| is the number of rows that were there before.

@<Print the points of the figures@>=
static bool print_plates(struct fixture *lab, struct error *why)
{
  struct store *s = lab->b.s;
  printf("step,layer,position,fresh,cell,key\n");
  for (size_t step = 1; step <= 4; step++) {
    size_t old = store_length(s, 0);
    if (!bench_feed(&lab->b, lab, 0, step == 1 ? 3 : 1, why)) return false;
    struct row next = @[{ 0, (uint32_t) store_length(s, 0), 0 }@];
    if (!store_begin(s, &next, 1, why)) return false;
    for (uint32_t i = 0; i < s->n_layers; i++)
      print_plate(s, step, i, old);
    store_abort(s);
  }
  return true;
}

@ The points of \cref{fig:cachegrowth} are the sums of both loops, for texts that begin with one token and are doubled from point to point.

@<Print the points of the figures@>=
static bool print_growth(struct fixture *lab, struct error *why)
{
  struct course two[2];
  printf("g,rows,pairs,keptrows,keptpairs\n");
  for (size_t g = 1; g <= STEPS; g *= 2) {
    if (!both_ways(lab, 1, g, two, why)) return false;
    printf("%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", g,
      two[0].all.rows, two[0].all.qk_pairs, two[1].all.rows,
      two[1].all.qk_pairs);
  }
  return true;
}

@* What a late store would change. \label{lab:late}
The kernels are a table, so one of them can be exchanged: |late_attend| shortens what each row sees by the row itself and then calls the true one. (The very first row of a text must see itself, for there is no other; and the rows of a prompt are left alone.) A bench
that is |late| has a copy of the table with the other kernel in it.

@<Let rows overlook themselves@>=
static void late_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  const struct kernels *true_ones = kernels_find(NULL, NULL);
  struct segment shorter = *list;
  bool alone = n == 1 && list->n_rows == 1;
  if (shorter.first_position > 0) shorter.first_position--;
  true_ones->attend(e, h, q, alone ? &shorter : list, n, scratch, y, probe);
}
static bool open_late(struct fixture *lab, bool late, struct bench *b,
  struct kernels *k, struct error *why)
{
  *k = *lab->e.k;
  if (late) k->attend = late_attend;
  bool ok = bench_open(b, lab, lab->model, 0, &(struct cache_options) @[{
    .rows = 0 }@], why);
  b->e.k = k;
  return ok;
}

@ The prompt is read as it should be; then one row is read by either rule, and the logits after it are what is compared.

@<Let rows overlook themselves@>=
static bool read_fourth(struct fixture *lab, bool late, float *logits,
  struct error *why)
{
  struct bench b;@+ struct kernels k;
  struct row row = @[{ 0, 3, lab->sentence[3] }@];
  struct pass *p = NULL;
  bool ok = open_late(lab, late, &b, &k, why) && bench_feed(&b, lab, 0, 3, why)
    && model_forward(&b.e, lab->model, b.s, &row, 1, &p, why)
    && model_logits(&b.e, lab->model, p, &(size_t) @[{ 0 }@], 1, logits, why);
  pass_close(p);
  bench_close(&b);
  return ok;
}

@ What is printed is the largest difference; the smallest and the largest of the logits as they should be, for comparison; and the probability of the next token of the sentence, by either rule.

@<Let rows overlook themselves@>=
static bool print_late(struct fixture *lab, struct error *why)
{
  size_t n = lab->model->config.vocab_size, differ = 0, next = lab->sentence[4];
  double max = 0, low = INFINITY, high = -INFINITY, sum[2] = @[{ 0, 0 }@];
  float *z = lab_take(lab, 2 * n, sizeof *z, why);
  if (z == NULL || !read_fourth(lab, false, z, why)
      || !read_fourth(lab, true, z + n, why)) return false;
  for (size_t i = 0; i < n; i++) {
    double right = (double) z[i], wrong = (double) z[n + i];
    differ += right != wrong, max = fmax(max, fabs(right - wrong));
    low = fmin(low, right), high = fmax(high, right);
    sum[0] += exp(right), sum[1] += exp(wrong);
  }
  print_key("cache.late.differ", "%zu", differ);
  print_key("cache.late.of", "%zu", n);
  print_key("cache.late.most claim.S1-13 claim.S3-10", "%.6f", max);
  print_key("cache.late.low", "%.4f", low);
  print_key("cache.late.high", "%.4f", high);
  print_key("cache.late.right", "%.6f", exp((double) z[next]) / sum[0]);
  print_key("cache.late.wrong", "%.6f", exp((double) z[n + next]) / sum[1]);
  return true;
}

@ To see where the texts part, both are written. The prompt has more than one row in its pass and is read as it should be; the rows after it come singly, and look late. Tokens are counted from 1, as in the tables.

@<Let rows overlook themselves@>=
static bool print_parting(struct fixture *lab, struct error *why)
{
  struct continuation text[2] = @[{ { .n_prompt = 0 } }@];
  struct generate_options want = @[{ .max_new_tokens = 50,
    .recall = store_match_prefix }@];
  bool ok = true;
  for (int late = 0; ok && late < 2; late++) {
    struct bench b;@+ struct kernels k;
    ok = open_late(lab, late, &b, &k, why)
      && generate(&b.g, lab->sentence, 2, &want, &text[late], why);
    bench_close(&b);
  }
  size_t n = 0;
  while (ok && n < text[0].text.n && n < text[1].text.n
    && text[0].text.id[n] == text[1].text.id[n]) n++;
  if (ok) print_key("cache.late.parts", "%zu", n + 1);
  for (int i = 0; i < 2; i++) continuation_free(&lab->m, &text[i]);
  return ok;
}

@* What a moved half remembers. \label{lab:shift}
If the first half of a text is dropped and the keys of the second are turned back, the scores of a new row are those that it would have with the keys and the query where they are, because rotation leaves a score a function of the distance alone. So to see what the new row finds we need not move anything: |shifted_attend| gives it a window of the last half of the text. Only a pass of one row is changed; the rows before it are read as usual, with all of the text.

@<Turn half of a text back@>=
enum { HALVES = 512 };
static void shifted_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  const struct kernels *true_ones = kernels_find(NULL, NULL);
  struct segment half = *list;
  bool alone = n == 1 && list->n_rows == 1;
  half.window = (list->first_position + 1) / 2;
  true_ones->attend(e, h, q, alone ? &half : list, n, scratch, y, probe);
}

@ The row is the last of |n| tokens of the tale. It is read after the whole text, with half of it in view; or after the second half alone, from position 0.

@<Turn half of a text back@>=
static bool read_half(struct fixture *lab, bool moved, const uint32_t *id,
  size_t n, float *logits, struct error *why)
{
  struct bench b;@+ struct kernels k = *lab->e.k;
  struct row row[HALVES];
  struct pass *p = NULL;
  size_t from = moved ? 0 : n / 2, last = n - 1 - from;
  k.attend = moved ? shifted_attend : k.attend;
  for (size_t i = from; i < n; i++)
    row[i - from] = (struct row) @[{ 0, (uint32_t) (i - from), id[i] }@];
  bool ok = bench_open(&b, lab, lab->model, 0, &(struct cache_options) @[{
    .rows = 0 }@], why);
  b.e.k = &k;
  ok = ok && model_forward(&b.e, lab->model, b.s, row, last, &p, why);
  pass_close(p), p = NULL;
  ok = ok && model_forward(&b.e, lab->model, b.s, row + last, 1, &p, why)
    && model_logits(&b.e, lab->model, p, &(size_t) @[{ 0 }@], 1, logits, why);
  pass_close(p);
  bench_close(&b);
  return ok;
}

@ Texts of 16, 32, 48 tokens and so on are read both ways, as far as the first tale goes. What is printed is how many there are, for how many of them the likeliest token differs, and the mean of the largest error of a logit.

@<Turn half of a text back@>=
static size_t likeliest(const float *z, size_t n)
{
  size_t best = 0;
  for (size_t i = 1; i < n; i++)
    if (z[i] > z[best]) best = i;
  return best;
}
static bool print_shift(struct fixture *lab, struct error *why)
{
  size_t v = lab->model->config.vocab_size, cases = 0, changed = 0;
  double sum = 0;
  struct ids tale = @[{ .n = 0 }@];
  float *z = lab_take(lab, 2 * v, sizeof *z, why);
  bool ok = z != NULL && lab_tale(lab, &tale, why);
  for (size_t n = 16; ok && n <= tale.n && n <= HALVES; n += 16, cases++) {
    ok = read_half(lab, true, tale.id, n, z, why)
      && read_half(lab, false, tale.id, n, z + v, why);
    double max = 0;
    for (size_t i = 0; i < v; i++)
      max = fmax(max, fabs((double) z[i] - (double) z[v + i]));
    sum += max, changed += likeliest(z, v) != likeliest(z + v, v);
  }
  print_key("cache.shift.cases", "%zu", cases);
  print_key("cache.shift.changed", "%zu", changed);
  print_key("cache.shift.mean", "%.4f", sum / (double) cases);
  return ok;
}

@* Sums of the counters. \label{lab:cachesums}
Four cases are run both ways. Each sum is printed under a name, by which the prose asks for it: the quantity, the word \.{naive} where nothing was kept, then $p$ and $g$.

@<Print the sums of a case, both ways@>=
static bool print_cases(struct fixture *lab, struct error *why)
{
  static const size_t some[][2] = @[{ {3, 4}, {50, 100}, {1, 100}, {1, 1000} }@];
  struct course two[2];
  for (int i = 0; i < 4; i++) {
    size_t p = some[i][0], g = some[i][1];
    if (!both_ways(lab, p, g, two, why)) return false;
    for (int keep = 0; keep < 2; keep++) {
      const char *naive = keep ? "" : "naive.";
      printf("cache.%srows.%zu.%zu %" PRIu64 "\n", naive, p, g,
        two[keep].all.rows);
      printf("cache.%spairs.%zu.%zu %" PRIu64 "\n", naive, p, g,
        two[keep].all.qk_pairs);
    }
    @<Print what the rows of a case have cost@>@;
  }
  return true;
}

@ The price has three numbers: the rows that were not computed, the bytes that were kept for that in GPT-2 small's shape with numbers of two bytes, and the quotient.

@<Print what the rows of a case have cost@>=
enum { BYTES = 2 * 12 * 12 * 64 * 2 };
uint64_t saved = two[0].all.rows - two[1].all.rows;
uint64_t bytes = BYTES * two[1].stored[two[1].steps - 1];
printf("cache.saved.%zu.%zu %" PRIu64 "\ncache.price.%zu.%zu %.4f\n", p, g,
  saved, p, g, (double) bytes / (double) saved);
if (p == 50) {
  print_key("cache.gpt2.row", "%d", BYTES);
  print_key("cache.gpt2.bytes claim.S2-54 claim.S4-50", "%" PRIu64, bytes);
}

@* What became of the claims. \label{lab:cacheclaims}
What the sources say about single steps is compared with the run of the hand calculation. How many rows are read again is counted from what was stored before the last pass: whatever was there, the pass looked at.

@<Print what became of the claims@>=
static bool claims_of_the_steps(struct fixture *lab, struct error *why)
{
  struct course two[2];
  const struct course *c = &two[1];
  size_t differ;
  if (!write_twice(lab, two, &differ, why)) return false;
  print_key("claim.S0-03 claim.S0-51 claim.S1-56 claim.S2-98", "%zu", differ);
  print_key("claim.S0-11 claim.S1-08", "%zu", c->stored[0]);
  print_key("claim.S1-21", "%zu", c->stored[2]);
  print_key("claim.S1-09", "%zu", c->steps);
  print_key("claim.S0-50", "%zu", c->stored[3]);
  print_key("claim.S0-34 claim.S1-12 claim.S1-20 claim.S2-48 claim.S2-53"
    " claim.S3-09", "%" PRIu64, c->rows[1]);
  print_key("claim.S1-14 claim.S2-49", "%zu", c->stored[1] - c->stored[0]);
  return true;
}

@ A text of \given{1000} tokens gives the orders of growth; and at two places of it a source is off by one: how many rows are there when the token with a certain number is written?

@<Print what became of the claims@>=
static bool claims_of_growth(struct fixture *lab, struct error *why)
{
  struct course two[2];
  const struct course *c = &two[1];
  if (!both_ways(lab, 1, 1000, two, why)) return false;
  print_key("claim.S0-04 claim.S0-54 claim.S0-61 claim.S1-22 claim.S2-03"
    " claim.S2-94 claim.S3-12", "%" PRIu64, c->all.qk_pairs);
  print_key("claim.S0-52 claim.S1-23", "%" PRIu64, c->pairs[999]);
  print_key("claim.S2-51", "%.4f", (double) two[0].all.qk_pairs
    / (double) c->all.qk_pairs);
  print_key("claim.S3-08", "%zu", c->stored[498]);
  print_key("claim.S0-31", "%zu", c->stored[8]);
  print_key("claim.S2-50", "%" PRIu64, c->pairs[10]);
  print_key("cache.before", "%zu", c->stored[9]);
  print_key("claim.S2-52", "%zu", c->stored[10]);
  print_key("claim.S0-09", "%zu", c->stored[9] - 1);
  print_key("claim.S0-33", "%" PRIu64, c->all.cache_bytes_written
    / c->stored[999]);
  print_key("claim.S0-18 claim.S0-40 claim.S2-58", "%zu", c->stored[999]
    / c->stored[99]);
  return true;
}

@ The rest are cases of their own: a factor that grows with the text, an order of magnitude, and the blocks of the moving picture.

@<Print what became of the claims@>=
static bool print_claims(struct fixture *lab, struct error *why)
{
  struct course two[2];
  if (!claims_of_the_steps(lab, why) || !claims_of_growth(lab, why)
      || !both_ways(lab, 1, 100, two, why)) return false;
  print_key("claim.S0-38", "%.4f", (double) two[0].all.rows
    / (double) two[1].all.rows);
  if (!both_ways(lab, 50, 100, two, why)) return false;
  print_key("claim.S4-49", "%" PRIu64, two[1].all.rows);
  if (!both_ways(lab, 8, 20, two, why)) return false;
  print_key("claim.S0-08 claim.S0-13", "%" PRIu64, 6 * two[1].all.rows);
  print_key("claim.S0-06", "%" PRIu64, 6 * two[0].all.rows);
  return true;
}

@* The counter of the moving picture. \label{lab:picture}
One of the sources is a moving picture. Six layers, a prompt of seven or eight tokens, a counter named COMPUTE, and a switch between two modes. Let it write twenty tokens, it says, turn the cache off, and the counter jumps ``from about 120 to over 2400''. What does COMPUTE count? The page does not say. We ran it, with six for each row that is computed, as one
block is drawn for each layer, and tried what else one might mean by ``after 20 tokens''.

\medskip
\noindent\begin{tabular*}{\textwidth}{@@{}l@@{\extracolsep{\fill}}rrrr@@{}}
& \multicolumn2{c}{prompt of 7} & \multicolumn2{c}{prompt of 8}\\
\tabhead{what is counted} & \tabhead{cached} & \tabhead{not} & \tabhead{cached} & \tabhead{not}\\
rows that 20 steps read & \val{demo.7.rows} & \val{demo.7.naive} & \val{demo.8.rows} & \val{demo.8.naive}\\
and one pass more, of the 20th token & \val{demo.7.drawn} & \val{demo.7.naivedrawn} & \val{demo.8.drawn} & \val{demo.8.naivedrawn}\\
prompt token by token, 20 steps & \val{demo.7.rows} & \val{demo.7.fed} & \val{demo.8.rows} & \val{demo.8.fed}\\
and one pass more, of the 20th token & \val{demo.7.drawn} & \val{demo.7.feddrawn} & \val{demo.8.drawn} & \val{demo.8.feddrawn}\\
rows of written tokens only & \val{demo.written} & --- & \val{demo.written} & ---
\end{tabular*}
\medskip

@ No line has both numbers. (In the last one the other is no number at all: without the cache there is no pass that has rows of written tokens only.) ``About 120'' is the last line, rows of the twenty tokens that were written without those of the prompt; ``over 2400'' is what a prompt of eight costs if it is fed token by token, \val{demo.8.feddrawn}, prompt included. If the counter just goes on after the switch, it passes \given{2400} in the \val{demo.7.passes}th step after it for either prompt, at \val{demo.7.passed} and \val{demo.8.passed}. And $6\cdot20^2$ is \given{2400} exactly, which is perhaps where it came from.

The runs are the parrot's, which does not mind how many layers we multiply by.

@ We count six for each row, once for a prompt that is read in one pass and once for a prompt that is fed token by token. The row of the
twentieth token is computed in step 21, if there is one; so the second line of the table, and the fourth, take a run of 21 steps.

@<Run the moving picture@>=
static bool blocks_of(struct fixture *lab, bool keep, size_t p, size_t g,
  uint64_t *blocks, struct error *why)
{
  struct course c;
  c.turn = 0, c.logits = NULL;
  if (!run(lab, keep, p, g, &c, why)) return false;
  *blocks = 6 * c.all.rows;
  return true;
}
static bool count_blocks(struct fixture *lab, size_t p, struct error *why)
{
  static const char *const name[] = @[{ "rows", "naive", "fed" }@];
  for (size_t more = 0; more < 2; more++) {
    uint64_t n[3];
    if (!blocks_of(lab, true, p, 20 + more, &n[0], why)
        || !blocks_of(lab, false, p, 20 + more, &n[1], why)
        || !blocks_of(lab, false, 1, p + 19 + more, &n[2], why)) return false;
    for (int i = 0; i < 3; i++) printf("demo.%zu.%s%s %" PRIu64 "\n", p,
      more && i == 0 ? "" : name[i], more ? "drawn" : "", n[i]);
  }
  return true;
}

@ The switch is thrown after step 20 of a run with memory, and the steps are counted until the sum of all passes \given{2400}. The rows of written tokens are those of a long run without those of
its first step.

@<Run the moving picture@>=
static bool throw_switch(struct fixture *lab, size_t p, struct error *why)
{
  struct course c;
  uint64_t sum = 0;
  size_t step = 0;
  c.turn = 20, c.logits = NULL;
  if (!run(lab, true, p, 40, &c, why)) return false;
  while (step < 40 && 6 * sum <= 2400) sum += c.rows[step++];
  printf("demo.%zu.passes %zu\ndemo.%zu.passed %" PRIu64 "\n", p, step - 20, p,
    6 * sum);
  return true;
}
static bool print_picture(struct fixture *lab, struct error *why)
{
  uint64_t all, prompt;
  if (!blocks_of(lab, true, 8, 21, &all, why)
      || !blocks_of(lab, true, 8, 1, &prompt, why)) return false;
  print_key("demo.written", "%" PRIu64, all - prompt);
  return count_blocks(lab, 7, why) && count_blocks(lab, 8, why)
    && throw_switch(lab, 7, why) && throw_switch(lab, 8, why);
}

@* Times. \label{lab:cacheclock}
The watcher of this run looks at the clock and at nothing else. The memory for the whole context is taken before the clock runs, so that no step has to wait for a larger pool; and the text is the loop's own, from the first word of the sentence on, as far as the model takes it. What it says is of no interest here.

@<Take the time of every step@>=
enum { ROUNDS = 3, TIMED = 1000 };
struct stopwatch { double last, *taken; };
static bool stop_watch(void *ctx, const struct step *now)
{
  struct stopwatch *w = ctx;
  double t = timing_seconds();
  w->taken[now->number - 1] = t - w->last;
  w->last = t;
  return true;
}
static bool time_steps(struct fixture *lab, bool keep, double *taken,
  struct error *why)
{
  struct bench b;
  bool ok = bench_open(&b, lab, lab->model, 0, &(struct cache_options) @[{
    .preallocate = true }@], why);
  struct stopwatch w = @[{ timing_seconds(), taken }@];
  struct generate_options want = @[{ .max_new_tokens = TIMED, .on_step = stop_watch,@|
    .ctx = &w, .recall = keep ? store_match_prefix : NULL }@];
  ok = ok && bench_write(&b, lab->sentence, 1, &want, why);
  bench_close(&b);
  return ok;
}

@ What is printed is the median of each step, for the first, the 30th and every 20th; and the sum of all medians up to there, our estimate of the time that a text of this length takes.

@<Take the time of every step@>=
static void print_medians(const double *taken)
{
  double sum[2] = @[{ 0, 0 }@], step[2];
  printf("tokens,naive,cached,naivesum,cachedsum\n");
  for (int i = 0; i < TIMED; i++) {
    for (int keep = 0; keep < 2; keep++) {
      double one[ROUNDS];
      for (int r = 0; r < ROUNDS; r++) one[r] = taken[(2 * r + keep) * TIMED + i];
      step[keep] = 1e6 * timing_quartiles(one, ROUNDS).median;
      sum[keep] += step[keep];
    }
    if (i == 0 || i % 20 == 19 || i == 29) printf(
      "%d,%.2f,%.2f,%.0f,%.0f\n", i + 1, step[0], step[1], sum[0], sum[1]);
  }
}

@ The two ways take turns, so that a slow minute of the machine falls on both. A naive run takes minutes and a cached one less than a second, and so three rounds must do.

@<Take the time of every step@>=
static bool print_clock(struct fixture *lab, struct error *why)
{
  double *taken = lab_take(lab, 2 * ROUNDS * TIMED, sizeof *taken, why);
  if (taken == NULL) return false;
  for (int r = 0; r < 2 * ROUNDS; r++)
    if (!time_steps(lab, r % 2 == 1, taken + r * TIMED, why)) return false;
  print_medians(taken);
  return true;
}

@ The sentences about the times are made of the file. Its lines are read into an array, and \eqref{eq:cachedstep} is fitted to the cached steps. (The first step is left out: it opens the machine's caches.)

@<Read what the clock said@>=
enum { TICKS = 52 };
enum clock_column { AT, NAIVE, CACHED, NAIVE_SUM, CACHED_SUM, CLOCK_COLUMNS };

@ The sums of both loops are compared at the lengths that the sources name: a short answer, a long one, and the \given{1000} tokens that they like to end with. The fourth line of the file is that of 40 tokens.

@<Read what the clock said@>=
static bool print_ticks(struct fixture *lab, struct error *why)
{
  double t[CLOCK_COLUMNS][TICKS];
  (void) lab;
  if (!data_numbers("cache.clock", CLOCK_COLUMNS, TICKS, t[0], why))
    return false;
  struct fit l = fit_line(t[AT] + 1, t[CACHED] + 1, TICKS - 1);
  print_key("cache.clock.row", "%.4f", l.start);
  print_key("cache.clock.key", "%.4f", 1000 * l.slope);
  print_key("cache.clock.error", "%.4f", 100 * l.mean_error);
  print_key("cache.clock.rounds", "%d", ROUNDS);
  print_key("cache.clock.rows", "%.4f", (1 + TIMED) / 2.0);
  for (int i = 0; i < TICKS; i++) {
    int at = (int) t[AT][i];
    double ratio = t[NAIVE_SUM][i] / t[CACHED_SUM][i];
    if (at != 30 && at != 100 && at != 300 && at != 500 && at != 1000) continue;
    printf("cache.clock.naive.%d %.6f\ncache.clock.kept.%d %.6f\n", at,
      t[NAIVE_SUM][i] / 1e6, at, t[CACHED_SUM][i] / 1e6);
    printf("cache.clock.ratio.%d %.4f\n", at, ratio);
    @<Print what the clock says about claims@>@;
  }
  return true;
}

@ Six claims are about the clock.

@<Print what the clock says about claims@>=
if (at == 30)
  print_key("claim.S0-59 claim.S2-63 claim.S2-64", "%.4f", ratio);
if (at == 1000) {
  print_key("claim.S2-66", "%.4f", ratio);
  print_key("claim.S2-39", "%.4f", t[NAIVE_SUM][i] / 1e6);
  print_key("claim.S0-53", "%.4f", t[CACHED][i] / t[CACHED][3]);
  print_key("cache.clock.step.1000", "%.6f", t[CACHED][i] / 1e3);
}

@* Layouts of the rows. \label{lab:layouts}
Attention is timed by itself: one new row in GPT-2 small's shape, one layer of 12 heads of 64, in eight layouts. Without pages a head has all its rows together, as if they were one page. The rows are random numbers.

@<Take the time of attention@>=
enum { TRIES = 21, HEADS = 12, HEAD = 64, ROW = HEADS * HEAD, LONGEST = 4096 };
static const struct layout { const char *name;@+ size_t page_rows;
  bool by_head; } layouts[] = @[{ { "rows", 0, false },@|
  { "rows16", 16, false }, { "rows64", 64, false },@|
  { "rows256", 256, false },@|
  { "heads", 0, true }, { "heads16", 16, true },@|
  { "heads64", 64, true }, { "heads256", 256, true } }@];
enum { LAYOUTS = sizeof layouts / sizeof *layouts };
static const struct attention_dims small = @[{ HEADS, HEADS, HEAD, 0.125f, .cap = 0 }@];
struct attention { float *pool, *scratch, q[ROW], y[ROW];
  const char *page[LONGEST / 16]; };

@ One call looks at the positions $0\ldots n-1$. The values come after all the keys.

@<Take the time of attention@>=
static double time_layout(const struct engine *e, struct attention *a,
  const struct layout *l, size_t n)
{
  size_t rows = l->page_rows > 0 ? l->page_rows : n, one = HEAD * sizeof(float);
  uintptr_t key = l->page_rows > 0 ? 0 : (uintptr_t) a->pool;
  struct kv_view v = @[{ .key = key, .value = key + LONGEST * ROW * sizeof(float),@|
    .page = l->page_rows > 0 ? a->page : NULL, .page_rows = (uint32_t) rows,@|
    .row_bytes = (uint32_t) (l->by_head ? one : HEADS * one),@|
    .head_bytes = l->by_head ? rows * one : one, .type = WEIGHT_F32 }@];
  struct segment last = @[{ .view = v, .n_rows = 1, .first_position = (uint32_t) n - 1 }@];
  double start = timing_seconds();
  e->k->attend(e, &small, a->q, &last, 1, a->scratch, a->y, NULL);
  return timing_seconds() - start;
}

@ The table of pages is shuffled, since after some forks and crops the pages of a sequence may be anywhere.

@<Take the time of attention@>=
static void shuffle_pages(struct attention *a, const struct layout *l, size_t n)
{
  uint64_t seed = 1;
  size_t pages = l->page_rows == 0 ? 0 : n / l->page_rows;
  for (size_t i = 0; i < pages; i++)
    a->page[i] = (const char *) (a->pool + i * l->page_rows * ROW);
  for (size_t i = pages; i > 1; i--) {
    const char **x = &a->page[i - 1], **y = &a->page[random_bits(&seed) % i];
    const char *old = *x;
    *x = *y, *y = old;
  }
}

@ All layouts take turns in every round, so that a slow moment falls on each.

@<Take the time of attention@>=
static void time_all(const struct engine *e, struct attention *a, size_t n)
{
  double taken[LAYOUTS][TRIES];
  for (int r = -1; r < TRIES; r++)
    for (size_t i = 0; i < LAYOUTS; i++) {
      shuffle_pages(a, &layouts[i], n);
      double seconds = time_layout(e, a, &layouts[i], n);
      if (r >= 0) taken[i][r] = seconds;
    }
  for (size_t i = 0; i < LAYOUTS; i++) {
    printf("%s,%zu", layouts[i].name, n);
    print_quartiles(taken[i], TRIES, 1e6, 2);
    printf("\n");
  }
}

@ The pool is as large as the longest case needs, and filled once.

@<Take the time of attention@>=
static bool print_layouts(struct fixture *lab, struct error *why)
{
  static struct attention a;
  uint64_t seed = 1;
  a.pool = lab_take(lab, 2 * LONGEST * ROW, sizeof *a.pool, why);
  a.scratch = lab_take(lab, kernels_scratch(&small, LONGEST), sizeof *a.scratch, why);
  if (a.pool == NULL || a.scratch == NULL) return false;
  for (size_t i = 0; i < 2 * LONGEST * ROW; i++)
    a.pool[i] = (float) random_uniform(&seed) - 0.5f;
  memcpy(a.q, a.pool, sizeof a.q);
  printf("layout,positions,low,median,high\n");
  for (size_t n = 256; n <= LONGEST; n *= 4) time_all(&lab->e, &a, n);
  return true;
}

@ \Cref{tab:layouts} is made of the file that the measurement left. Its last lines are those of the longest text, in the order of the layouts; the fifth is that of the heads in one block, with which the others are compared.

@<Read what attention took@>=
struct medians { double last[LAYOUTS];@+ int n; };
static bool take_layout(void *ctx, const char *line)
{
  struct medians *m = ctx;
  char name[32];
  int positions;
  double low, median, high;
  if (sscanf(line, "%31[a-z0-9],%d,%lf,%lf,%lf", name, &positions, &low,@|
      &median, &high) < 5) return false;
  printf("layout.%s.%d %.4f\n", name, positions, median);
  m->last[m->n++ % LAYOUTS] = median;
  return true;
}
static bool print_layout_keys(struct fixture *lab, struct error *why)
{
  struct medians m = @[{ .n = 0 }@];
  (void) lab;
  if (!data_read("cache.layouts", take_layout, &m, 3 * LAYOUTS, why))
    return false;
  print_key("layout.stride", "%zu", ROW * sizeof (float));
  print_key("layout.order", "%.4f", m.last[0] / m.last[4]);
  for (int i = 5; i < LAYOUTS; i++) printf("layout.cost%zu %.4f\n",
    layouts[i].page_rows, 100 * (m.last[i] / m.last[4] - 1));
  return true;
}

@* Claims of the tutorials. \label{lab:cachetutorials}
Three boxes are in \cref{sec:cachetutorials}. These are the others.

\begin{claimed}{S0-11}
when the first token has been written after a prompt of three, the text has four and the cache \val{claim.S0-11}. A token's keys and values are made when it is \emph{read}, one step later.
\end{claimed}

\begin{claimed}{S0-09}
when the eleventh token is to be written, the query is that of position \val{claim.S0-09}, the last token there is, and it looks at itself as well. The empty slot has no query.
\end{claimed}

@ What becomes linear is said in \cref{sec:counting}. These say otherwise, the first of them in an article that says it rightly further down.

\begin{claimed}{S0-04, S2-03, S2-94}
rows go from quadratic to linear, pairs from cubic to quadratic: \val{claim.S0-04} are left.
\end{claimed}

\begin{claimed}{S0-13, S0-06}
we tried five ways of counting (\cref{lab:picture}), and no single one gives both numbers. Six blocks for each row computed, for example,
give \val{claim.S0-13} with the cache and \val{claim.S0-06} without, after a prompt of eight.
\end{claimed}

@ And these are about what the cache is.

\begin{claimed}{S0-51}
it depends on the function. A row is a function of the tokens up to it, and its keys and values are memoized: when a text was written twice,
\val{claim.S0-51} logits differed. That is why a cache may be shared. The result of the whole model, the logits, is not kept.
\end{claimed}

\begin{claimed}{S1-56}
the source prints the first sentence as a misconception of others, and for the time it is one: \given{1000} tokens take \val[0]{cache.clock.ratio.1000} times as long
without the cache. Only the text does not depend on it: with the cache and without it \val{claim.S1-56} logits differ.
\end{claimed}

@ Right, or right if one knows what is meant:
\begin{itemize}
\item $g$ tokens take a prefill and $g-1$ steps, here \val{claim.S1-09} passes for four tokens (S1-09). Each step computes \val{claim.S0-34} row (S0-34, S1-12, S1-20, S2-48, S2-53, S3-09), with a single line of scores (S2-50), and adds \val{claim.S1-14} position to the cache, from ten to \val{claim.S2-52} (S1-14, S2-49, S2-52). Of the six rows of the case by hand \val{claim.S1-21} are read again (S1-21).
\item A prompt of 50 tokens and \given{100} written ones take \val{claim.S4-49} rows (S4-49) and, in GPT-2 small's shape, \val{claim.S2-54} bytes: memory is traded for computation (S2-54). Ten times as many tokens take \val{claim.S0-18} times the memory (S0-18, S0-40, S2-58).
\item At \given{1000} tokens a step compares \val{claim.S1-23} pairs, and the whole text \val{claim.S0-54}. That is linear for each step and quadratic for the text (S0-52, S0-54, S0-61).
\item The last step takes \val[1]{claim.S0-53} times as long as an early one (S0-53). A short text of 30 tokens gains a factor of \val[1]{claim.S2-63}, and one of \given{1000} tokens a factor of \val[0]{claim.S2-66} (S0-38, S0-59, S2-63, S2-64, S2-66).
\item The output is the same: the number of logits that differ is \val{claim.S0-03} (S0-03, S2-98).
\end{itemize}
