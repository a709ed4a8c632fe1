@i types.w
@s perplexity int
@s machine int
@s phase int

\chapterquestion{How fast is it on my machine, with my model? And how good?}
@** What measures.
\incipit{T}{wo subcommands measure}: \texttt{bench} how fast a model reads and writes, and \texttt{perplexity} how well it predicts. Both are thin; what they measure with is chapter 5's. They print the
same numbers to people, as a table, and to programs, as JSON; and \texttt{bench}, whose numbers are collected over months and machines, as CSV, too.

@ The functions of the subcommands are declared in one header.

@(measures.h@>=
#ifndef INCIPIT_MEASURES_H
#define INCIPIT_MEASURES_H
#include "A2-command/subcommands.h"
int run_bench(const struct console *c, const struct wishes *w);
  /* takes the time of both phases; returns an exit status */
int run_perplexity(const struct console *c, const struct wishes *w);
  /* reads a file, and says how well it was predicted; returns an exit status */
#endif

@* The bench. \label{sec:bench}
A bench is a list of tests: $n$ tokens read at once, which the common tools write as \texttt{pp512}, or $n$ tokens written one by one, \texttt{tg128}, perhaps behind a number that is stored already, \texttt{tg128 @@ d256}. A test is run once for nothing, so that memory has been touched and weights have been read, and then as often as was asked. Of the rates of these runs the mean is printed, and the standard deviation.
@^bench@>

@<A test of the bench@>=
struct test { bool reads; size_t depth, n; char name[64]; double mean,
  deviation, seconds; struct counters work; };
  /* |seconds| and |work| of one run, in the mean */
static bool run_test(const struct generator *g, const struct test *t,
  struct phase *out, struct error *why)
{
  if (t->reads)@+ return phase_read(g, t->depth, t->n, 0, out, why);
  *out = (struct phase) @[{ .seconds = 0 }@];
  for (size_t i = 0; i < t->n; i++) {
    struct phase one;
    if (!phase_read(g, t->depth + i, 1, 0, &one, why)) return false;
    out->seconds += one.seconds;
    counters_add(&out->work, &one.work);
  }
  return true;
}

@ The rates are kept as sums of themselves and of their squares. With one run there is no deviation.

@<A test of the bench@>=
static bool repeat_test(const struct generator *g, struct test *t,
  uint64_t times, struct error *why)
{
  struct phase one;
  double sum = 0, squares = 0, n = (double) times;
  t->seconds = 0;
  for (uint64_t r = 0; r <= times; r++) {
    if (!run_test(g, t, &one, why)) return false;
    if (r == 0) continue;
    double rate = (double) t->n / one.seconds;
    sum += rate, squares += rate * rate, t->seconds += one.seconds / n;
  }
  double spread = times < 2 ? 0 : (squares - sum * sum / n) / (n - 1);
  t->mean = sum / n, t->deviation = spread > 0 ? sqrt(spread) : 0;
  t->work = one.work;
  return true;
}

@ What share of the machine that is, the machine says itself, and at once: it is probed before each test, since in the next minute it may be doing something else.

@<Run the tests, and show each@>=
struct bench { const struct console *c; const struct wishes *w;
  struct outfit o; struct json_out j; char form; struct error why; };
  /* |form|: |'t'|, |'c'| or |'j'| */
static bool show_test(struct bench *b, struct test *t)
{
  struct generator g = @[{ &b->o.e, b->o.lm, b->o.s, b->o.m }@];
  uint64_t times = b->w->of[OPTION_REPETITIONS].given
    ? b->w->of[OPTION_REPETITIONS].count : 5;
  struct machine can;
  snprintf(t->name, sizeof t->name, "%s%zu", t->reads ? "pp" : "tg", t->n);
  if (t->depth > 0) snprintf(t->name, sizeof t->name, "%s%zu @@ d%zu",
    t->reads ? "pp" : "tg", t->n, t->depth);
  if (!machine_probe(b->o.m, &b->o.e, &can, &b->why)
    || !repeat_test(&g, t, times, &b->why)) return false;
  double madds = (double) work_madds(&t->work) / t->seconds / can.madds;
  double bytes = (double) work_bytes(&t->work) / t->seconds / can.bytes;
  uint64_t flop = 2 * work_madds(&t->work), moved = work_bytes(&t->work);
  @<Show a test in the form that was asked for@>@;
  return true;
}

@ Operations are counted as is usual in this trade, two for a multiply--add. Shares are of one: a half is 0.5, or 50 percent in the table.

@<Show a test in the form that was asked for@>=
FILE *out = b->c->out;
if (b->form == 't') fprintf(out, "%-18s %10.2f %8.2f %9.3f %9.1f %7.1f %9.1f"@|
  "\n", t->name, t->mean, t->deviation, (double) flop / 1e9,@|
  (double) moved / 1e6, 100 * madds, 100 * bytes);
else if (b->form == 'c') fprintf(out, "%s,%.6g,%.6g,%" PRIu64 ",%" PRIu64
  ",%.6g,%.6g\n", t->name, t->mean, t->deviation, flop, moved, madds, bytes);
else {
  put_open(&b->j, '{');
  put_key(&b->j, "test"), put_words(&b->j, t->name);
  put_key(&b->j, "tokens_per_second"), put_double(&b->j, t->mean);
  put_key(&b->j, "stddev"), put_double(&b->j, t->deviation);
  put_key(&b->j, "flop"), put_count(&b->j, flop);
  put_key(&b->j, "bytes"), put_count(&b->j, moved);
  put_key(&b->j, "fma_share"), put_double(&b->j, madds);
  put_key(&b->j, "bandwidth_share"), put_double(&b->j, bytes);
  put_close(&b->j, '}');
}

@ The form is a word with three values.

@<Run the tests, and show each@>=
static bool choose_form(struct bench *b)
{
  const struct option_value *of = &b->w->of[OPTION_OUTPUT];
  static const char *const form[] = @[{ "table", "csv", "json" }@];
  b->form = b->w->of[OPTION_JSON].given ? 'j' : 't';
  if (!of->given)@+ return true;
  for (int i = 0; i < 3; i++) if (strcmp(of->text, form[i]) == 0) {
    b->form = form[i][0];
    return true;
  }
  return error_say(&b->why, "--output `%s'; wanted: table, csv or json",
    of->text);
}

@ A model may have a context of less than the usual 512 tokens. What was not asked for gives way; what was asked for is refused, with both numbers.

@<Run the tests, and show each@>=
static bool choose_length(struct bench *b, enum option which, size_t usual,
  size_t depth, size_t *n)
{
  size_t context = b->o.lm->config.n_positions;
  size_t room = context > depth ? context - depth : 0;
  const struct option_value *of = &b->w->of[which];
  *n = of->given ? (size_t) of->count : usual < room ? usual : room;
  return *n <= room || error_say(&b->why, "--%s %zu behind %zu tokens;"@|
    " the context holds %zu", option_at(which)->name, *n, depth, context);
}

@ Both tests, with a line above them in those forms that have one.

@<Run the tests, and show each@>=
static bool show_tests(struct bench *b)
{
  struct test read = @[{ .reads = true }@], write = @[{ .reads = false }@];
  size_t depth = (size_t) b->w->of[OPTION_N_DEPTH].count;
  read.depth = write.depth = depth;
  b->j.out = b->c->out;
  if (!choose_length(b, OPTION_N_PROMPT, 512, depth, &read.n)
    || !choose_length(b, OPTION_N_GEN, 128, depth, &write.n)) return false;
  if (b->form == 't') fprintf(b->c->out, "%-18s %10s %8s %9s %9s %7s %9s\n",
    "test", "tokens/s", "+-", "GFLOP", "MB", "FMA %", "memory %");
  if (b->form == 'c') fprintf(b->c->out, "test,tokens_per_second,stddev,"@|
    "flop,bytes,fma_share,bandwidth_share\n");
  if (b->form == 'j') put_open(&b->j, '[');
  bool ok = (read.n == 0 || show_test(b, &read))
    && (write.n == 0 || show_test(b, &write));
  if (ok && b->form == 'j') put_close(&b->j, ']'), put_end(&b->j);
  return ok;
}

@ A wrong form is wrong usage, and all else is a failure.

@<Run the tests, and show each@>=
int run_bench(const struct console *c, const struct wishes *w)
{
  struct bench b = @[{ .c = c, .w = w }@];
  if (!choose_form(&b)) return console_misuse(c, &b.why);
  bool ok = outfit_open(&b.o, c, w, NEED_MODEL, &b.why);
  if (ok) {
    ok = show_tests(&b);
    outfit_close(&b.o);
  }
  return ok ? STATUS_DONE : console_fail(c, &b.why);
}

@* Perplexity. \label{sec:perplexitycommand}
The file becomes ids: those of its text, with no special tokens except the one that the model's texts begin with, if its tokenizer says that they do. Nobody tells which id that is. But if the text with special tokens is the text without them behind one more, that one is it.

@<Make ids of the file@>=
static bool gather_ids(struct outfit *o, const struct mapping *map,
  struct ids *list, struct error *why)
{
  struct ids whole = @[{ .n = 0 }@];
  const char *text = (const char *) map->bytes;
  bool ok = tokenizer_encode(o->t, o->m, text, map->size, false, false,@|
      list, why)
    && tokenizer_encode(o->t, o->m, text, map->size, true, false, &whole, why);
  if (ok && whole.n > list->n
      && (list->n == 0 || memcmp(whole.id + 1, list->id,@|
        list->n * sizeof *list->id) == 0)) {
    ok = ids_push(o->m, list, 0, why);
    if (ok) memcpy(list->id, whole.id, list->n * sizeof *list->id);
  }
  ids_free(o->m, &whole);
  return ok;
}

@ Losses are in nats, the unit of the natural logarithm; a bit has $\ln2$ of them. The bytes are those of the file.

@<Show how well it was predicted@>=
static void show_perplexity(const struct console *c, const struct wishes *w,
  const struct perplexity *p, size_t bytes)
{
  double mean = p->loss / (double) p->tokens;
  double bits = p->loss / 0x1.62e42fefa39efp-1 / (double) bytes;
  if (!w->of[OPTION_JSON].given) {
    fprintf(c->out, "%-14s %zu\n%-14s %zu\n%-14s %zu\n", "tokens", p->tokens,@|
      "bytes", bytes, "windows", p->windows);
    fprintf(c->out, "%-14s %.6f\n%-14s %.4f\n%-14s %.6f\n", "mean loss",
      mean, "perplexity", exp(mean), "bits per byte", bits);
    return;
  }
  struct json_out j = @[{ c->out, '\0' }@];
  put_open(&j, '{');
  put_key(&j, "tokens"), put_count(&j, p->tokens);
  put_key(&j, "bytes"), put_count(&j, bytes);
  put_key(&j, "windows"), put_count(&j, p->windows);
  put_key(&j, "mean_loss"), put_double(&j, mean);
  put_key(&j, "perplexity"), put_double(&j, exp(mean));
  put_key(&j, "bits_per_byte"), put_double(&j, bits);
  put_close(&j, '}'), put_end(&j);
}

@ A text of one token has no token with a predecessor, and a mean of nothing is nothing: it is refused. So is a window of one token.

@<Read the file in windows@>=
static bool read_file(const struct console *c, const struct wishes *w,
  struct outfit *o, const struct mapping *map, struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  struct perplexity p;
  struct generator g = @[{ &o->e, o->lm, o->s, o->m }@];
  const struct option_value *of = w->of;
  size_t context = of[OPTION_CONTEXT].given
    ? (size_t) of[OPTION_CONTEXT].count : o->lm->config.n_positions;
  size_t stride = of[OPTION_STRIDE].given
    ? (size_t) of[OPTION_STRIDE].count : context;
  bool ok = gather_ids(o, map, &list, why)
    && perplexity_of(&g, list.id, list.n, context, stride, &p, why);
  if (ok && p.tokens == 0) ok = error_say(why, "%s: no token to score in"@|
    " %zu tokens in windows of %zu; wanted: 2 tokens in a window, or more",
    w->operand, list.n, context);
  if (ok) show_perplexity(c, w, &p, map->size);
  ids_free(o->m, &list);
  return ok;
}

@ The file is mapped before the model is opened, so that a name with a slip in it is found out at once.

@<Read the file in windows@>=
int run_perplexity(const struct console *c, const struct wishes *w)
{
  struct outfit o;
  struct error why;
  struct mapping map;
  if (!file_map(&map, w->operand, &why)) return console_fail(c, &why);
  bool ok = outfit_open(&o, c, w, NEED_MODEL | NEED_TOKENIZER, &why);
  if (ok) {
    ok = read_file(c, w, &o, &map, &why);
    outfit_close(&o);
  }
  file_unmap(&map);
  return ok ? STATUS_DONE : console_fail(c, &why);
}

@* The module. \label{sec:measuresmodule}
One file has both.

@(measuring.c@>=
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "05-phases/phases.h"
#include "A18-measures/measures.h"
@;@#
@<A test of the bench@>@;
@<Run the tests, and show each@>@;
@<Make ids of the file@>@;
@<Show how well it was predicted@>@;
@<Read the file in windows@>@;

@ The program of this appendix does what the prose says: it prints how many lines of options the measuring subcommands have.

@c
#include <stdio.h>
#include <string.h>
#include "A2-command/options.h"
@;@#
int main(int argc, char **argv)
{
  int n = 0;
  for (int i = 0; i < N_OPTIONS; i++)
    n += (option_at((enum option) i)->where
      & (1u << SUB_BENCH | 1u << SUB_PERPLEXITY)) != 0;
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    printf("measures.options %d\n", n);
  else printf("bench and perplexity take %d options\n", n);
  return 0;
}
