/* the program -- made from chapters/03-loop.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "ground/timing.h"
#include "loop/laboratory.h"
#include "loop/loop.h"

/* <Run the loop and read the counters> */
struct tally { struct counters did; size_t times[CONTEXT], longest; bool print; };

/* <Watch one pass go by> */
static bool watch_pass(void *self, const struct step *now)
{
  struct tally *t = self;
  t->longest = now->length;
  for (size_t i = 0; i < now->length; i++) {
    t->times[i]++;
    if (t->print)
      printf("%zu,%zu,%zu\n", now->number, i, t->times[i]);
  }
  return true;
}

static bool run_loop(struct laboratory *lab, bool real, size_t p, size_t g,
  struct tally *t, struct error *why)
{
  const struct model *lm = real ? lab->pocket : &lab->bird.lm;
  struct store *st = store_open(&lab->m, &lm->config, 1, why);
  if (st == NULL) return false;
  struct engine e = lab->e;
  if (!real) e.k = &lab->idle;
  lab->c = (struct counters) { .passes = 0 };
  *t = (struct tally) { .print = t->print };
  /* <Generate g tokens after the first p of the sentence> */
  uint32_t prompt[CONTEXT];
  for (size_t i = 0; i < p; i++)
    prompt[i] = real ? lab->sentence[i % WORDS] : (uint32_t) (i % WORDS);
  struct generator maker = { &e, lm, st, &lab->m };
  struct settings want = { .max_new_tokens = g, .see = watch_pass,
    .self = t };
  struct continuation c;
  bool ok = generate(&maker, prompt, p, &want, &c, why);
  for (size_t i = p; ok && i < c.text.n && (!real || i < WORDS); i++)
    ok = c.text.id[i] == (real ? lab->sentence[i] : i % WORDS)
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(&lab->m, &c);
  t->did = lab->c;
  store_close(st);
  /* <Compare what was drawn with what was counted> */
  size_t seen = 0;
  for (size_t i = 0; i < t->longest; i++) seen += t->times[i];
  return ok && (seen == t->did.kv_rows_computed
    || error_say(why, "%zu cells drawn, %" PRIu64 " rows counted", seen,
      t->did.kv_rows_computed));
}

static size_t rows_of(const struct tally *t)
{
  return (size_t) t->did.kv_rows_computed;
}

static size_t needed(const struct tally *t)
{
  return (size_t) (t->did.kv_rows_computed - t->did.kv_rows_recomputed);
}

static double waste(const struct tally *t)
{
  return (double) rows_of(t) / (double) needed(t);
}

/* <Draw the four passes as the hand drew them> */
static bool print_passes(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  size_t rows = 0, again = 0;
  for (size_t g = 1; g <= 4; g++) {
    if (!run_loop(lab, true, 3, g, &t, why)) return false;
    rows = rows_of(&t) - rows, again = t.did.kv_rows_recomputed - again;
    /* <Draw a pass of rows rows, again of them computed before> */
    printf("pass %zu  ", g);
    for (size_t i = 0; i < rows; i++)
      printf("%s", i < again ? " REDO" : "  NEW");
    printf("%*s -> %s\n", (int) (5 * (6 - rows)), "", parrot_word[2 + g]);
    rows = rows_of(&t), again = (size_t) t.did.kv_rows_recomputed;
  }
  printf("%zu computed = %zu necessary + %zu redundant;", rows, needed(&t),
    again);
  printf(" %" PRIu64 " pairs\n\n", t.did.qk_pairs);
  return true;
}

/* <Count the four cases that are quoted everywhere> */
static const size_t quoted[4][2] =
  { {100, 50}, {500, 200}, {1000, 500}, {2000, 1000} };

static bool print_table(struct laboratory *lab, struct error *why)
{
  printf("     p      g   computed   needed     waste\n");
  struct tally t = { .print = false };
  for (int i = 0; i < 4; i++) {
    if (!run_loop(lab, false, quoted[i][0], quoted[i][1], &t, why))
      return false;
    printf("%6zu %6zu %10zu %8zu", quoted[i][0], quoted[i][1], rows_of(&t),
      needed(&t));
    printf(" %8.2fx\n", waste(&t));
  }
  return true;
}

/* <Print the cells of a grid and the points of the curves> */
static bool print_cells(struct laboratory *lab, size_t p, size_t g,
  struct error *why)
{
  struct tally t = { .print = true };
  printf("step,position,times\n");
  return run_loop(lab, true, p, g, &t, why);
}

static bool print_growth(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  printf("g,naive,needed\n");
  for (size_t g = 1; g <= CONTEXT / 2; g *= 2) {
    if (!run_loop(lab, false, 16, g, &t, why)) return false;
    printf("%zu,%zu,%zu\n", g, rows_of(&t), needed(&t));
  }
  return true;
}

/* <Print every number that the prose quotes> */

/* <Measure the exponents> */
static bool print_slopes(struct laboratory *lab, struct error *why)
{
  struct tally a = { .print = false }, b = a;
  if (!run_loop(lab, false, 1, 1000, &a, why)
      || !run_loop(lab, false, 1, 2000, &b, why)) return false;
  double rows = (double) rows_of(&b) / (double) rows_of(&a);
  double pairs = (double) b.did.qk_pairs / (double) a.did.qk_pairs;
  printf("loop.slope.rows %.6f\n", num_log(rows) / num_log(2));
  printf("loop.slope.pairs %.6f\n", num_log(pairs) / num_log(2));
  printf("loop.bound.low %.1f\nloop.bound.high %d\n", (50 + 1) / 2.0, 50);
  return run_loop(lab, false, 100, 50, &a, why)
    && run_loop(lab, false, 100, 500, &b, why)
    && printf("loop.tenfold.100.50 %.6f\n", (double) rows_of(&b)
      / (double) rows_of(&a)) > 0;
}

/* <Print the table's numbers as keys> */
static bool print_run(struct laboratory *lab, size_t p, size_t g,
  struct tally *t, struct error *why)
{
  if (!run_loop(lab, g < 10, p, g, t, why)) return false;
  printf("loop.naive.%zu.%zu %zu\n", p, g, rows_of(t));
  printf("loop.needed.%zu.%zu %zu\n", p, g, needed(t));
  printf("loop.redone.%zu.%zu %" PRIu64 "\n", p, g, t->did.kv_rows_recomputed);
  printf("loop.pairs.%zu.%zu %" PRIu64 "\n", p, g, t->did.qk_pairs);
  printf("loop.waste.%zu.%zu %.6f\n", p, g, waste(t));
  return true;
}

static bool print_keys(struct laboratory *lab, struct error *why)
{
  static const size_t more[][2] = { {3, 4}, {50, 100}, {1, 100},
    {1, 1000} };
  struct tally t = { .print = false }, twice = t;
  for (int i = 0; i < 4; i++)
    if (!print_run(lab, more[i][0], more[i][1], &t, why)) return false;
  for (int i = 0; i < 4; i++) {
    size_t p = quoted[i][0], g = quoted[i][1];
    /* <Print a line of the table, and what doubling does to it> */
    if (!print_run(lab, p, g, &t, why)
        || !run_loop(lab, false, p, 2 * g, &twice, why)) return false;
    printf("loop.p.%d %zu\nloop.g.%d %zu\n", i + 1, p, i + 1, g);
    printf("loop.double.%zu.%zu %.6f\n", p, g, (double) rows_of(&twice)
      / (double) rows_of(&t));
    printf("loop.article.table.%d %.6f\n", i + 1, (double) rows_of(&t)
      / (double) (p + g));
  }
  return print_slopes(lab, why);
}

/* <Print what became of the claims> */
static bool claims_of_the_drawing(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  if (!run_loop(lab, true, 3, 3, &t, why)) return false;
  printf("claim.S4-08 %zu\n", t.times[0]);
  printf("claim.S4-09 %zu\n", t.longest - 4);
  if (!run_loop(lab, true, 3, 4, &t, why)) return false;
  /* <Print the claims about the whole drawing> */
  size_t reused = 0;
  for (size_t i = 0; i < t.longest; i++) reused += t.times[i] > 1;
  printf("claim.S4-11 %zu\nclaim.S4-12 %zu\n", rows_of(&t), needed(&t));
  printf("claim.S4-13 %" PRIu64 "\n", t.did.kv_rows_recomputed);
  printf("claim.S4-14 %zu\nclaim.S4-27 %zu\n", reused, needed(&t));
  printf("claim.S4-04 %" PRIu64 "\n", t.did.qk_pairs);
  if (!run_loop(lab, false, 100, 100, &t, why)) return false;
  printf("claim.S4-55 %zu\nclaim.S4-56 %zu\n", t.times[0], t.times[0] - 1);
  printf("claim.S4-57 %zu\n", rows_of(&t));
  return true;
}

/* <Print what follows when the answer gets longer> */
static bool claims_of_growth(struct laboratory *lab, size_t p, size_t g,
  const struct tally *t, struct error *why)
{
  struct tally more = { .print = false };
  double top = (double) (g * p + g * g / 2), rows = (double) rows_of(t);
  printf("claim.S4-52 %.4f\nclaim.S4-28 %.6f\n", waste(t), waste(t));
  printf("loop.article.formula %.6f\n", top / (double) (p + g));
  if (!run_loop(lab, false, p, 2 * g, &more, why)) return false;
  printf("claim.S4-43 %.6f\n", (double) rows_of(&more) / rows);
  if (!run_loop(lab, false, p, 10 * g, &more, why)) return false;
  printf("claim.S4-44 %.6f\n", (double) rows_of(&more) / rows);
  return true;
}

static bool claims_of_the_table(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  for (int i = 0; i < 4; i++) {
    size_t p = quoted[i][0], g = quoted[i][1];
    if (!run_loop(lab, false, p, g, &t, why)) return false;
    printf("claim.S4-%d %zu\n", 29 + 3 * i, rows_of(&t));
    printf("claim.S4-%d %zu\n", 30 + 3 * i, needed(&t));
    printf("claim.S4-%d %.4f\n", 31 + 3 * i, waste(&t));
    if (i == 0 && !claims_of_growth(lab, p, g, &t, why)) return false;
  }
  printf("claim.S4-48 %d\n", 96 * 96);
  return true;
}

/* <Print what holds for the long drawing> */
static bool claims_of_the_handbook(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  if (!run_loop(lab, false, 50, 100, &t, why)) return false;
  printf("claim.S2-02 %" PRIu64 "\n", t.did.kv_rows_recomputed);
  printf("claim.S2-34 %zu\nclaim.S2-12 %zu\n", t.longest, needed(&t));
  printf("claim.S2-47 %zu\nclaim.S2-89 %" PRIu64 "\n", t.longest,
    t.did.passes);
  printf("claim.S2-41 %zu\n", (needed(&t) - 50) / (t.did.passes - 1));
  return true;
}

/* <Print what holds of the six layers of a drawing> */
static bool claims_of_layers(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false }, u = t;
  if (!run_loop(lab, true, 8, 20, &u, why)
      || !run_loop(lab, true, 8, 21, &t, why)) return false;
  printf("claim.S0-12 %" PRIu64 "\n", 6 * (t.did.kv_rows_recomputed
    - u.did.kv_rows_recomputed));
  printf("claim.S0-20 %zu\n", 6 * (rows_of(&t) - rows_of(&u)));
  return true;
}

static bool claims_that_hold(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false }, u = t;
  for (size_t g = 1; g <= 4; g++) {
    u = t;
    if (!run_loop(lab, true, 3, g, &t, why)) return false;
    if (g == 1) printf("claim.S4-05 %zu\nclaim.S4-25 %zu\n", rows_of(&t),
      needed(&t));
    if (g == 2) printf("claim.S4-06 %zu\n", rows_of(&t) - rows_of(&u));
  }
  printf("claim.S4-21 %zu\nclaim.S3-50 %zu\n", t.longest, t.longest);
  printf("claim.S4-26 %zu\nclaim.S0-32 %zu\n", needed(&t) - 3, needed(&t));
  printf("claim.S2-17 %" PRIu64 "\n", t.did.passes);
  return claims_of_the_handbook(lab, why) && claims_of_layers(lab, why);
}

static uint64_t by_formula(uint64_t p, uint64_t g)
{
  return g * p + g * (g - 1) / 2;
}

/* <Hold the formula against five runs> */
static bool formula_holds(struct laboratory *lab, struct tally *t,
  struct error *why)
{
  static const size_t tried[][2] = { {1, 1}, {3, 4}, {7, 5}, {1, 1000},
    {500, 200} };
  for (int i = 0; i < 5; i++) {
    size_t p = tried[i][0], g = tried[i][1];
    if (!run_loop(lab, false, p, g, t, why)) return false;
    if (rows_of(t) != by_formula(p, g))
      return error_say(why, "p = %zu, g = %zu: %zu rows, not %" PRIu64, p, g,
        rows_of(t), by_formula(p, g));
  }
  return true;
}

/* <Print what only the formula can reach> */
static bool claims_by_formula(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false };
  if (!formula_holds(lab, &t, why)) return false;
  printf("claim.S4-22 %zu\nclaim.S4-23 %zu\n", rows_of(&t), rows_of(&t));
  printf("loop.formula.100000 %" PRIu64 "\n", by_formula(1, 100000));
  printf("claim.S0-25 %" PRIu64 "\n", by_formula(1, 1000000));
  printf("claim.S4-41 %.4f\n", waste(&t) - 1);
  printf("claim.S4-53 %.4f\nclaim.S4-58 %.4f\n",
    (double) by_formula(100, 10000) / (100 + 10000 - 1),
    (double) by_formula(10000, 100) / (10000 + 100 - 1));
  printf("claim.S4-42 %.4f\n", (double) by_formula(500, 2000)
    / (double) by_formula(500, 1000));
  return true;
}

static void claims_of_the_steps(const struct tally *t)
{
  printf("claim.S0-21 %" PRIu64 "\n", t->did.passes);
  printf("claim.S1-37 %" PRIu64 "\n", t->did.passes);
  printf("claim.S0-23 %" PRIu64 "\n", t->longest / t->did.passes);
  printf("claim.S0-62 %zu\nclaim.S2-36 %" PRIu64 "\n", t->longest,
    t->did.qk_pairs);
  printf("claim.S1-19 %" PRIu64 "\nclaim.S3-11 %" PRIu64 "\n",
    t->did.qk_pairs, t->did.qk_pairs);
  printf("claim.S0-58 %" PRIu64 "\nclaim.S2-35 %" PRIu64 "\n",
    t->did.qk_pairs, t->did.qk_pairs);
}

/* <Print what single steps and unusual lengths say> */
static bool claims_of_single_steps(struct laboratory *lab, struct tally *t,
  struct error *why)
{
  struct tally u = { .print = false };
  if (!run_loop(lab, false, 50, 100, t, why)) return false;
  printf("claim.S2-33 %zu\n", rows_of(t));
  if (!run_loop(lab, false, 1000, 1, t, why)) return false;
  printf("loop.step.rows.1000 %zu\n", rows_of(t));
  printf("claim.S0-36 %" PRIu64 "\n", t->did.qk_pairs);
  if (!run_loop(lab, true, 10, 1, t, why)
      || !run_loop(lab, true, 10, 2, &u, why)) return false;
  printf("loop.step.rows.10 %zu\n", rows_of(&u) - rows_of(t));
  uint64_t again = u.did.kv_rows_recomputed - t->did.kv_rows_recomputed;
  printf("claim.S0-35 %" PRIu64 "\nclaim.S1-18 %" PRIu64 "\n", again, again);
  return true;
}

static bool claims_of_lengths(struct laboratory *lab, struct tally *t,
  struct error *why)
{
  if (!run_loop(lab, true, 3, 7, t, why)) return false;
  printf("claim.S2-32 %" PRIu64 "\n", t->did.passes - 1);
  if (!run_loop(lab, false, CONTEXT - 10, 100, t, why)) return false;
  printf("claim.S3-37 %" PRIu64 "\nloop.context %d\n", t->did.passes, CONTEXT);
  if (!run_loop(lab, false, 1, 500, t, why)) return false;
  printf("claim.S3-03 %" PRIu64 "\n", t->did.passes);
  return true;
}

static bool print_claims(struct laboratory *lab, struct error *why)
{
  struct tally t = { .print = false }, u = t;
  if (!claims_of_the_drawing(lab, why) || !claims_of_the_table(lab, why)
      || !run_loop(lab, false, 1, 1000, &t, why)
      || !run_loop(lab, false, 1, 100, &u, why)) return false;
  printf("claim.S0-37 %zu\nclaim.S1-57 %zu\n", rows_of(&t), rows_of(&t));
  printf("claim.S2-37 %zu\nclaim.S2-38 %zu\n", rows_of(&t), rows_of(&u));
  printf("loop.ratio.1000.100 %.6f\n", (double) rows_of(&t)
    / (double) rows_of(&u));
  claims_of_the_steps(&t);
  return claims_of_single_steps(lab, &t, why)
    && claims_of_lengths(lab, &t, why)
    && claims_that_hold(lab, why) && claims_by_formula(lab, why);
}

/* <Take the time of a pass> */
enum { ROUNDS = 21, LENGTHS = 12 };
static bool time_pass(struct engine *e, const struct model *lm,
  struct store *st, size_t n, float *logits, double *seconds, struct error *why)
{
  uint32_t ids[CONTEXT];
  for (size_t i = 0; i < n; i++)
    ids[i] = (uint32_t) (1 + i % (lm->config.vocab_size - 1));
  double start = timing_seconds();
  bool ok = evaluate(e, lm, st, ids, n, &(size_t) { n - 1 }, 1, logits, why);
  *seconds = timing_seconds() - start;
  return ok;
}

/* <Print median and quartiles of each length> */
static void print_quartiles(double taken[LENGTHS][ROUNDS])
{
  printf("rows,low,median,high\n");
  for (size_t i = 0; i < LENGTHS; i++) {
    struct quartiles q = timing_quartiles(taken[i], ROUNDS);
    printf("%zu,%.2f,%.2f,%.2f\n", 64 * (i + 1), 1e6 * q.low,
      1e6 * q.median, 1e6 * q.high);
  }
}

static bool time_rounds(struct engine *e, const struct model *lm,
  struct store *st, double taken[LENGTHS][ROUNDS], float *logits,
  struct error *why)
{
  for (int r = -1; r < ROUNDS; r++)
    for (size_t i = 0; i < LENGTHS; i++) {
      double seconds;
      if (!time_pass(e, lm, st, 64 * (i + 1), logits, &seconds, why))
        return false;
      if (r >= 0) taken[i][r] = seconds;
    }
  print_quartiles(taken);
  return true;
}

static bool print_clock(struct laboratory *lab, struct error *why)
{
  double taken[LENGTHS][ROUNDS];
  struct model *lm = lab->pocket;
  struct store *st = store_open(&lab->m, &lm->config, 1, why);
  size_t wide = lm->config.vocab_size;
  float *logits = memory_take(&lab->m, FOR_ACTIVATIONS, wide, sizeof *logits,
    why);
  bool ok = st != NULL && logits != NULL
    && time_rounds(&lab->e, lm, st, taken, logits, why);
  memory_give(&lab->m, FOR_ACTIVATIONS, logits, wide, sizeof *logits);
  store_close(st);
  return ok;
}

/* <Fit a line to the times> */
static bool read_clock(double *x, double *y, int *m, struct error *why)
{
  static const char *const path = "figures/data/loop.clock.csv";
  FILE *f = fopen(path, "r");
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  char line[512];
  double n, low, median, high;
  for (*m = 0; *m < LENGTHS && fgets(line, sizeof line, f) != NULL;)
    if (sscanf(line, "%lf,%lf,%lf,%lf", &n, &low, &median, &high) == 4)
      x[*m] = (n + 1) / 2, y[(*m)++] = median / n;
  fclose(f);
  return *m >= 3 || error_say(why, "%s: %d lines of times, 3 wanted", path, *m);
}

static bool print_fit(struct error *why)
{
  double x[LENGTHS], y[LENGTHS], sx = 0, sy = 0, sxy = 0, sxx = 0, worst = 0;
  int m = 0;
  if (!read_clock(x, y, &m, why)) return false;
  for (int i = 0; i < m; i++)
    sx += x[i], sy += y[i], sxy += x[i] * y[i], sxx += x[i] * x[i];
  double b = (m * sxy - sx * sy) / (m * sxx - sx * sx), a = (sy - b * sx) / m;
  for (int i = 0; i < m; i++) {
    double off = fabs(y[i] / (a + b * x[i]) - 1);
    worst = off > worst ? off : worst;
  }
  /* <Print the line, and the share of attention> */
  printf("loop.clock.row %.4f\nloop.clock.pair %.4f\n", a, 1000 * b);
  printf("loop.clock.texts %d\nloop.clock.error %.4f\n", m, 100 * worst);
  printf("loop.clock.shortest %.0f\nloop.clock.longest %.0f\n", 2 * x[0] - 1,
    2 * x[m - 1] - 1);
  printf("loop.clock.share.short %.2f\n", 100 * b * x[0] / (a + b * x[0]));
  printf("loop.clock.share %.2f\n", 100 * b * x[m - 1] / (a + b * x[m - 1]));
  return true;
}

/* <Do what the command line says> */
static bool print_what(struct laboratory *lab, const char *what,
  struct error *why)
{
  if (strcmp(what, "grid") == 0) return print_cells(lab, 3, 4, why);
  if (strcmp(what, "heat") == 0) return print_cells(lab, 50, 100, why);
  if (strcmp(what, "growth") == 0) return print_growth(lab, why);
  if (strcmp(what, "clock") == 0) return print_clock(lab, why);
  if (strcmp(what, "values") == 0)
    return print_keys(lab, why) && print_claims(lab, why) && print_fit(why);
  return print_passes(lab, why) && print_table(lab, why);
}

/* <Open the laboratory, print, and close it> */
int main(int argc, char **argv)
{
  struct laboratory lab;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why) && print_what(&lab, what, &why);
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
