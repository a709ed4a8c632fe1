/* the program -- made from laboratory/03-loop.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "laboratory/kit.h"
#include "cache/keep.h"
#include "functions/numbers.h"

/* <Run the loop and read the counters> */
struct tally { struct counters did; size_t times[PARROT_CONTEXT], longest;
  bool print; };

/* <Watch one pass go by> */
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

static bool run_loop(struct fixture *lab, size_t p, size_t g, struct tally *t,
  struct error *why)
{
  bool real = t->print || (p >= 3 && p + g < 30);
  struct bench b;
  struct generate_options want = { .on_step = watch_pass, .ctx = t };
  *t = (struct tally) { .print = t->print };
  lab_reset(lab);
  bool ok = bench_open(&b, lab, real ? lab->model : &lab->parrot.lm, 0, NULL, why)
    && bench_recite(&b, lab, p, g, &want, why);
  bench_close(&b);
  t->did = lab->c;
  /* <Compare what was drawn with what was counted> */
  size_t seen = 0;
  for (size_t i = 0; i < t->longest; i++) seen += t->times[i];
  return ok && (seen == t->did.kv_rows_computed
    || error_say(why, "%zu cells drawn, %" PRIu64 " rows counted", seen,
      t->did.kv_rows_computed));
}

/* <Read a quantity off a run> */
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
  default: return reused;
  }
}

static double rows_of(const struct tally *t)
{
  return (double) read_off(t, ROWS);
}

static double waste(const struct tally *t)
{
  return rows_of(t) / (double) read_off(t, NEEDED);
}

/* <Print the cells of a grid and the points of the curves> */
static bool print_cells(struct fixture *lab, size_t p, size_t g,
  struct error *why)
{
  struct tally t = { .print = true };
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

static bool print_growth(struct fixture *lab, struct error *why)
{
  struct tally t = { .print = false };
  printf("g,naive,needed\n");
  for (size_t g = 1; g <= PARROT_CONTEXT / 2; g *= 2) {
    if (!run_loop(lab, 16, g, &t, why)) return false;
    printf("%zu,%" PRIu64 ",%" PRIu64 "\n", g, read_off(&t, ROWS),
      read_off(&t, NEEDED));
  }
  return true;
}

/* <Print the numbers of the table> */
static bool print_run(struct fixture *lab, size_t p, size_t g,
  struct tally *t, struct error *why)
{
  static const char *const name[] = { "naive", "needed", "redone", "pairs" };
  if (!run_loop(lab, p, g, t, why)) return false;
  for (int i = 0; i < 4; i++)
    printf("loop.%s.%zu.%zu %" PRIu64 "\n", name[i], p, g,
      read_off(t, (enum quantity) i));
  printf("loop.waste.%zu.%zu %.6f\n", p, g, waste(t));
  return true;
}

static const size_t quoted[8][2] = { {100, 50}, {500, 200}, {1000, 500},
  {2000, 1000}, {3, 4}, {50, 100}, {1, 100}, {1, 1000} };
static bool print_table(struct fixture *lab, struct error *why)
{
  struct tally t = { .print = false }, twice = t;
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

static double log2_of(double x)
{
  return num_log(x) / num_log(2);
}

static bool print_slopes(struct fixture *lab, struct error *why)
{
  struct tally a = { .print = false }, b = a;
  if (!run_loop(lab, 1, 1000, &a, why) || !run_loop(lab, 1, 2000, &b, why))
    return false;
  print_key("loop.slope.rows", "%.6f", log2_of(rows_of(&b) / rows_of(&a)));
  print_key("loop.slope.pairs", "%.6f",
    log2_of((double) read_off(&b, PAIRS) / (double) read_off(&a, PAIRS)));
  print_key("loop.bound.low", "%.1f", (50 + 1) / 2.0);
  print_key("loop.bound.high", "%d", 50);
  print_key("loop.context", "%d", PARROT_CONTEXT);
  /* <Print what an article concludes from its first line> */
  if (!run_loop(lab, 100, 50, &a, why)) return false;
  print_key("claim.S4-52", "%.4f", waste(&a));
  print_key("claim.S4-28", "%.6f", waste(&a));
  print_key("loop.article.formula", "%.6f", (50 * 100 + 50 * 50 / 2) / 150.0);
  if (!run_loop(lab, 100, 100, &b, why)) return false;
  print_key("claim.S4-43", "%.6f", rows_of(&b) / rows_of(&a));
  if (!run_loop(lab, 100, 500, &b, why)) return false;
  print_key("loop.tenfold.100.50 claim.S4-44", "%.6f", rows_of(&b) / rows_of(&a));
  return true;
}

/* <Print what became of the claims> */
struct claim { size_t p, g, less; enum quantity what; const char *names;
  uint64_t minus, times; };

/* <The claims of chapter 3> */
static const struct claim of_the_drawing[] = {
  { 3, 1, 0, ROWS, "claim.S4-05", 0, 1 },
  { 3, 1, 0, NEEDED, "claim.S4-25", 0, 1 },
  { 3, 2, 1, ROWS, "claim.S4-06", 0, 1 },
  { 3, 3, 0, FIRST, "claim.S4-08", 0, 1 },
  { 3, 3, 0, FIRST, "loop.drawing.again", 1, 1 },
  { 3, 3, 0, LONGEST, "claim.S4-09", 4, 1 },
  { 3, 4, 0, ROWS, "claim.S4-11", 0, 1 },
  { 3, 4, 0, NEEDED, "claim.S4-12 claim.S4-27 claim.S0-32", 0, 1 },
  { 3, 4, 0, NEEDED, "claim.S4-26", 3, 1 },
  { 3, 4, 0, AGAIN, "claim.S4-13", 0, 1 },
  { 3, 4, 0, REUSED, "claim.S4-14", 0, 1 },
  { 3, 4, 0, PAIRS, "claim.S4-04", 0, 1 },
  { 3, 4, 0, LONGEST, "claim.S4-21 claim.S3-50", 0, 1 },
  { 3, 4, 0, PASSES, "claim.S2-17", 0, 1 },
  { 3, 7, 0, PASSES, "claim.S2-32", 1, 1 },
  { 100, 100, 0, FIRST, "claim.S4-55", 0, 1 },
  { 100, 100, 0, FIRST, "claim.S4-56", 1, 1 },
  { 100, 100, 0, ROWS, "claim.S4-57", 0, 1 } };

static const struct claim of_longer_texts[] = {
  { 50, 100, 0, ROWS, "claim.S2-33", 0, 1 },
  { 50, 100, 0, AGAIN, "claim.S2-02", 0, 1 },
  { 50, 100, 0, NEEDED, "claim.S2-12", 0, 1 },
  { 50, 100, 0, LONGEST, "claim.S2-34 claim.S2-47", 0, 1 },
  { 50, 100, 0, PASSES, "claim.S2-89", 0, 1 },
  { 1, 100, 0, ROWS, "claim.S2-38", 0, 1 },
  { 1, 1000, 0, ROWS, "claim.S0-37 claim.S1-57 claim.S2-37", 0, 1 },
  { 1, 1000, 0, PASSES, "claim.S0-21 claim.S1-37", 0, 1 },
  { 1, 1000, 0, LONGEST, "claim.S0-62", 0, 1 },
  { 1, 1000, 0, PAIRS, "claim.S2-36 claim.S1-19 claim.S3-11 claim.S0-58 claim.S2-35", 0, 1 },
  { 8, 21, 20, AGAIN, "claim.S0-12", 0, 6 },
  { 8, 21, 20, ROWS, "claim.S0-20", 0, 6 },
  { 10, 2, 1, ROWS, "loop.step.rows.10", 0, 1 },
  { 50, 1, 0, ROWS, "loop.step.rows.50", 0, 1 },
  { 50, 2, 1, ROWS, "loop.step.rows.51", 0, 1 },
  { 10, 2, 1, AGAIN, "claim.S0-35 claim.S1-18", 0, 1 },
  { 1000, 1, 0, ROWS, "loop.step.rows.1000", 0, 1 },
  { 1000, 1, 0, PAIRS, "claim.S0-36", 0, 1 },
  { PARROT_CONTEXT - 10, 100, 0, PASSES, "claim.S3-37", 0, 1 },
  { 1, 500, 0, PASSES, "claim.S3-03", 0, 1 } };

static bool print_list(struct fixture *lab, const struct claim *c, size_t n_claims,
  struct error *why)
{
  struct tally t = { .print = false }, u = t;
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

static bool print_claims(struct fixture *lab, struct error *why)
{
  struct tally t = { .print = false }, u = t, v = t;
  if (!print_list(lab, of_the_drawing, sizeof of_the_drawing
      / sizeof *of_the_drawing, why)
      || !print_list(lab, of_longer_texts, sizeof of_longer_texts
      / sizeof *of_longer_texts, why)
      || !run_loop(lab, 1, 1000, &t, why) || !run_loop(lab, 1, 100, &u, why)
      || !run_loop(lab, 50, 100, &v, why)) return false;
  print_key("loop.ratio.1000.100", "%.6f", rows_of(&t) / rows_of(&u));
  print_key("claim.S0-23", "%" PRIu64, read_off(&t, LONGEST)
    / read_off(&t, PASSES));
  print_key("claim.S2-41", "%" PRIu64, (read_off(&v, NEEDED) - 50)
    / (read_off(&v, PASSES) - 1));
  return true;
}

static uint64_t by_formula(uint64_t p, uint64_t g)
{
  return g * p + g * (g - 1) / 2;
}

static bool formula_holds(struct fixture *lab, struct tally *t,
  struct error *why)
{
  static const size_t tried[][2] = { {1, 1}, {3, 4}, {7, 5}, {1, 1000},
    {500, 200} };
  for (int i = 0; i < 5; i++) {
    size_t p = tried[i][0], g = tried[i][1];
    if (!run_loop(lab, p, g, t, why)) return false;
    if (read_off(t, ROWS) != by_formula(p, g))
      return error_say(why, "p = %zu, g = %zu: %" PRIu64 " rows, not %" PRIu64,
        p, g, read_off(t, ROWS), by_formula(p, g));
  }
  return true;
}

static bool print_formula(struct fixture *lab, struct error *why)
{
  struct tally t = { .print = false };
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

/* <Replace one token by the second best> */
enum { TALE_LIMIT = 500 };
struct runners_up { uint32_t id[TALE_LIMIT]; size_t vocab; };
static bool note_second(void *ctx, const struct step *now)
{
  struct runners_up *s = ctx;
  uint32_t best = now->chosen == 0;
  for (uint32_t v = 0; v < s->vocab; v++)
    if (v != now->chosen && now->logits[v] > now->logits[best]) best = v;
  s->id[now->number - 1] = best;
  return true;
}

static bool print_slips(struct fixture *lab, struct error *why)
{
  const struct model_config *config = &lab->model->config;
  struct runners_up second = { .vocab = lab->vocab };
  struct generate_options want = { .max_new_tokens = TALE_LIMIT,
    .eos = config->eos, .n_eos = config->n_eos, .on_step = note_second,
    .ctx = &second, .recall = store_match_prefix };
  struct continuation tale;
  if (!generate(&lab->b.g, lab->sentence, 3, &want, &tale, why)) return false;
  size_t end = tale.text.n - 1, later = 0, kept = 0, same = 0, endless = 0;
  uint32_t prompt[TALE_LIMIT + 3];
  bool ok = true;
  want.on_step = NULL;
  for (size_t i = 3; ok && i < end; i++) {
    /* <Write on after the second best token at place i> */
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
  }
  continuation_free(&lab->m, &tale);
  /* <Say what the replacements changed> */
  if (ok) {
    struct tally t = { .print = false };
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
  return ok;
}

/* <Take the time of a pass> */
enum { ROUNDS = 21, LENGTHS = 12 };
static bool time_pass(struct fixture *lab, struct bench *b, size_t n,
  double *seconds, struct error *why)
{
  uint32_t ids[PARROT_CONTEXT];
  for (size_t i = 0; i < n; i++)
    ids[i] = (uint32_t) (1 + i % (lab->model->config.vocab_size - 1));
  double start = timing_seconds();
  bool ok = model_evaluate(&b->e, lab->model, b->s, ids, n, &(size_t) { n - 1 }, 1,
    lab->logits, why);
  *seconds = timing_seconds() - start;
  return ok;
}

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

/* <Fit a line to the times> */
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

int main(int argc, char **argv)
{
  static const struct lab_command words[] = { { "grid", print_grid },
    { "heat", print_heat }, { "growth", print_growth },
    { "clock", print_clock }, { "values", print_table },
    { "values", print_slopes }, { "values", print_claims },
    { "values", print_formula }, { "values", print_slips },
    { "values", print_fit }, { NULL, NULL } };
  return lab_main(argc, argv, words);
}
