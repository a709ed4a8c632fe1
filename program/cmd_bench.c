/* cmd_bench.c -- incipit bench and incipit perplexity: how fast a model reads and writes, and how
   well it predicts a text. Both print to people as a table and to programs as JSON; bench, whose
   numbers are collected over months and machines, as CSV as well.

   A test of the bench reads n tokens at once (pp512, as the common tools call it) or writes n
   one by one (tg128), perhaps after some that are stored already (tg128 @ d256). It is run once
   for nothing, so that memory has been touched and weights have been read, and then
   --repetitions times. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "phases/phases.h"
#include "command.h"
#include "cuda/device.h"

/* a test, and what came of it: mean and standard deviation of the rates in tokens per second,
   mean seconds, and the work of one run */
struct test {
  bool reads;      /* n at once; else it writes n */
  size_t depth, n;
  char name[64];
  double mean, deviation, seconds;
  struct counters work;
};

static bool run_test(const struct generate_context *g, const struct test *t,
  struct phase *out, struct error *why)
{
  if (t->reads) return phase_read(g, t->depth, t->n, 0, out, why);
  *out = (struct phase) { .seconds = 0 };
  for (size_t i = 0; i < t->n; i++) {
    struct phase one;
    if (!phase_read(g, t->depth + i, 1, 0, &one, why)) return false;
    out->seconds += one.seconds;
    counters_add(&out->work, &one.work);
  }
  return true;
}

/* the rates are kept as sums of themselves and of their squares; with one run there is no
   deviation */
static bool repeat_test(const struct generate_context *g, struct test *t,
  uint64_t times, size_t *rounds, struct error *why)
{
  struct phase one;
  double sum = 0, squares = 0, n = (double) times;
  t->seconds = 0;
  for (uint64_t r = 0; r <= times; r++) {
    if (!run_test(g, t, &one, why)) return false;
    ++*rounds;
    if (r == 0) continue;
    double rate = (double) t->n / one.seconds;
    sum += rate;
    squares += rate * rate;
    t->seconds += one.seconds / n;
  }
  double spread = times < 2 ? 0 : (squares - sum * sum / n) / (n - 1);
  t->mean = sum / n;
  t->deviation = spread > 0 ? sqrt(spread) : 0;
  t->work = one.work;
  return true;
}

enum bench_form { FORM_TABLE, FORM_MD, FORM_CSV, FORM_JSON, FORM_JSONL, N_FORMS };

struct bench_run {
  const struct console *c;
  const struct command_line *w;
  struct session o;
  struct json_writer j;
  enum bench_form form;
  char processor[80];
  size_t rounds, all_rounds; /* done so far; and all that there will be, which counting finds out */
  bool counting;
  struct error why;
};

/* what a test came to: operations and bytes of one run, and the shares of the machine's */
struct bench_shares { uint64_t flop, moved; double madds, bytes; };

/* the processor's name as Linux tells it; a result without it cannot be compared later */
static void find_processor(char name[80])
{
  char line[200];
  FILE *in = fopen("/proc/cpuinfo", "r");
  snprintf(name, 80, "unknown");
  while (in != NULL && fgets(line, sizeof line, in) != NULL) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
    colon += 1 + strspn(colon + 1, " ");
    snprintf(name, 80, "%.*s", (int) strcspn(colon, "\n"), colon);
    break;
  }
  if (in != NULL) fclose(in);
}

static const char *kv_type_of(const struct bench_run *b)
{
  const struct option_value *of = &b->w->of[OPTION_KV_TYPE];
  return of->given ? of->text : "f32";
}

static const char *activations_asked(const struct bench_run *b)
{
  const struct option_value *of = &b->w->of[OPTION_ACTIVATIONS];
  return of->given ? of->text : "default";
}

static const char *weights_of(const struct bench_run *b)
{
  return b->o.prepared != NULL ? "packed" : "mapped";
}

/* the numbers first, in the order of the other forms; then what they were measured with */
static void put_test(struct bench_run *b, const struct test *t, const struct bench_shares *of)
{
  struct json_writer *j = &b->j;
  writer_open(j, '{');
  put_words_as(j, "test", t->name);
  put_double_as(j, "tokens_per_second", t->mean);
  put_double_as(j, "stddev", t->deviation);
  put_count_as(j, "flop", of->flop);
  put_count_as(j, "bytes", of->moved);
  put_double_as(j, "fma_share", of->madds);
  put_double_as(j, "bandwidth_share", of->bytes);
  put_words_as(j, "model", b->o.path);
  put_count_as(j, "threads", pool_workers(b->o.pool));
  put_words_as(j, "kernels", b->o.e.k->name);
  put_words_as(j, "kv_type", kv_type_of(b));
  put_words_as(j, "activations", activations_asked(b));
  put_words_as(j, "weights", weights_of(b));
  put_double_as(j, "load_seconds", b->o.load_seconds);
  put_words_as(j, "build", b->c->build);
  put_words_as(j, "processor", b->processor);
  writer_close(j, '}');
  if (b->form == FORM_JSONL) writer_end(j);
}

/* a text as a field of CSV: in quotation marks, those within it doubled */
static void put_csv_text(FILE *out, const char *text)
{
  putc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') putc('"', out);
    putc(*text, out);
  }
  putc('"', out);
}

static void print_csv(struct bench_run *b, const struct test *t, const struct bench_shares *of)
{
  FILE *out = b->c->out;
  fprintf(out, "%s,%.6g,%.6g,%" PRIu64 ",%" PRIu64 ",%.6g,%.6g,", t->name, t->mean, t->deviation,
    of->flop, of->moved, of->madds, of->bytes);
  put_csv_text(out, b->o.path);
  fprintf(out, ",%u,%s,%s,%s,%s,%.3f,%s,", pool_workers(b->o.pool), b->o.e.k->name, kv_type_of(b),
    activations_asked(b), weights_of(b), b->o.load_seconds, b->c->build);
  put_csv_text(out, b->processor);
  putc('\n', out);
}

/* a text in a table of Markdown, where a bar would end the cell */
static void put_md_text(FILE *out, const char *text)
{
  for (; *text != '\0'; text++) {
    if (*text == '|') putc('\\', out);
    putc(*text, out);
  }
}

/* the table has 83 columns; on a screen with fewer a test is a sentence, folded */
static bool is_narrow(const struct bench_run *b)
{
  return b->c->columns > 0 && b->c->columns < 83;
}

static void print_lines(struct bench_run *b, const struct test *t, const struct bench_shares *of)
{
  char line[300];
  int n = snprintf(line, sizeof line, "%s, threads %u: %.2f +- %.2f tokens/s, %.3f GFLOP, %.1f MB,"
    " FMA %.1f %%, memory %.1f %%\n", t->name, pool_workers(b->o.pool), t->mean, t->deviation,
    (double) of->flop / 1e9, (double) of->moved / 1e6, 100 * of->madds, 100 * of->bytes);
  if (n > 0 && (size_t) n < sizeof line) console_fold(b->c->out, b->c->columns, line, (size_t) n);
}

/* every record says what it was measured with, for it will be read beside those of other days; only
   the table, which is read at once, says it in a line of its own, before all of them */
static void print_test(struct bench_run *b, const struct test *t, const struct bench_shares *of)
{
  FILE *out = b->c->out;
  unsigned threads = pool_workers(b->o.pool);
  double gflop = (double) of->flop / 1e9, mb = (double) of->moved / 1e6;
  switch (b->form) {
  case FORM_TABLE: if (is_narrow(b)) print_lines(b, t, of);
    else fprintf(out, "%-18s %7u %10.2f %8.2f %9.3f %9.1f %7.1f %9.1f\n", t->name,
    threads, t->mean, t->deviation, gflop, mb, 100 * of->madds, 100 * of->bytes);
    break;
  case FORM_MD: fprintf(out, "| %s | %u | %.2f ± %.2f | %.3f | %.1f | %.1f | %.1f | ", t->name,
    threads, t->mean, t->deviation, gflop, mb, 100 * of->madds, 100 * of->bytes);
    put_md_text(out, b->o.path);
    fprintf(out, " | %s | %s | %s | %s | %s | ", b->o.e.k->name, kv_type_of(b), activations_asked(b),
      weights_of(b), b->c->build);
    put_md_text(out, b->processor);
    fputs(" |\n", out);
    break;
  case FORM_CSV: print_csv(b, t, of);
    break;
  case FORM_JSON: case FORM_JSONL: put_test(b, t, of);
    break;
  case N_FORMS: break;
  }
}

/* what stands once above all tests; --output jsonl has nothing there, so that files of several runs
   can be put one after the other */
static void begin_tests(struct bench_run *b)
{
  FILE *out = b->c->out;
  struct folding f;
  b->j.out = out;
  switch (b->form) {
  case FORM_TABLE: folding_begin(&f, b->c);
    fprintf(f.c.out, "%s: %s kernels, cache %s, activations %s, weights %s\nbuild %s on %s\n",
      b->o.path, b->o.e.k->name, kv_type_of(b), activations_asked(b), weights_of(b), b->c->build,
      b->processor);
    folding_end(&f);
    if (!is_narrow(b)) fprintf(out, "%-18s %7s %10s %8s %9s %9s %7s %9s\n", "test", "threads",
    "tokens/s", "+-", "GFLOP", "MB", "FMA %", "memory %");
    break;
  case FORM_MD: fprintf(out, "| test | threads | tokens/s | GFLOP | MB | FMA %% | memory %% | model"
    " | kernels | cache | activations | weights | build | processor |\n"
    "|---|--:|--:|--:|--:|--:|--:|---|---|---|---|---|---|---|\n");
    break;
  case FORM_CSV: fprintf(out, "test,tokens_per_second,stddev,flop,bytes,fma_share,"
    "bandwidth_share,model,threads,kernels,kv_type,activations,weights,load_seconds,build,processor\n");
    break;
  case FORM_JSON: writer_open(&b->j, '[');
    break;
  case FORM_JSONL: case N_FORMS: break;
  }
}

static void rounds_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  const struct bench_run *b = ctx;
  (void) done;
  (void) all;
  snprintf(text, WAITING_WORDS, "%zu of %zu rounds", b->rounds, b->all_rounds);
}

/* The machine is probed before each test, since in the next minute it may be doing something
   else. A multiply-add counts as two operations, as is usual; shares are of 1. */
static bool show_test(struct bench_run *b, struct test *t)
{
  struct generate_context g = { &b->o.e, b->o.lm, b->o.s, b->o.m };
  uint64_t times = b->w->of[OPTION_REPETITIONS].given
    ? b->w->of[OPTION_REPETITIONS].count : 5;
  struct roofline can;
  if (b->counting) {
    b->all_rounds += (size_t) times + 1;
    return true;
  }
  snprintf(t->name, sizeof t->name, "%s%zu", t->reads ? "pp" : "tg", t->n);
  if (t->depth > 0) snprintf(t->name, sizeof t->name, "%s%zu@d%zu",
    t->reads ? "pp" : "tg", t->n, t->depth);
  waiting_begin(&b->o.wait, rounds_words, b);
  bool ok = (b->o.device != NULL ? device_measure(b->o.device, &can.madds, &can.bytes, &b->why)
      : roofline_measure(b->o.m, &b->o.e, &can, &b->why))
    && repeat_test(&g, t, times, &b->rounds, &b->why);
  waiting_end(&b->o.wait);
  if (!ok) return false;
  struct bench_shares of = { .flop = 2 * work_madds(&t->work), .moved = work_bytes(&t->work),
    .madds = (double) work_madds(&t->work) / t->seconds / can.madds,
    .bytes = (double) work_bytes(&t->work) / t->seconds / can.bytes };
  print_test(b, t, &of);
  return console_flush(b->c);
}

static bool choose_form(struct bench_run *b)
{
  const struct option_value *of = &b->w->of[OPTION_OUTPUT];
  static const char *const name[N_FORMS] = { [FORM_TABLE] = "table", [FORM_MD] = "md",
    [FORM_CSV] = "csv", [FORM_JSON] = "json", [FORM_JSONL] = "jsonl" };
  b->form = b->w->of[OPTION_JSON].given ? FORM_JSON : FORM_TABLE;
  if (!of->given) return true;
  for (int i = 0; i < N_FORMS; i++) if (strcmp(of->text, name[i]) == 0) {
    b->form = (enum bench_form) i;
    return true;
  }
  return error_say(&b->why, "--output `%s'; wanted: table, md, csv, json or jsonl",
    of->text);
}

/* a model may have a context of less than the usual number of tokens: what was not asked for
   gives way, what was asked for is refused */
static bool lengths_fit(struct bench_run *b, enum option which, size_t depth)
{
  size_t context = b->o.lm->config.n_positions;
  const char *at = b->w->of[which].text;
  uint64_t n;
  while (at != NULL && options_next_count(&at, &n))
    if (depth > context || n > context - depth)
      return error_say(&b->why, "--%s %" PRIu64 " after %zu tokens;"
        " the context holds %zu", options_option(which).name, n, depth, context);
  return true;
}

/* the tests of one list at one depth; 0 leaves one out */
static bool show_list(struct bench_run *b, enum option which, size_t usual, size_t depth)
{
  struct test t = { .reads = which == OPTION_N_PROMPT, .depth = depth };
  size_t context = b->o.lm->config.n_positions, cap = context > depth ? context - depth : 0;
  const char *at = b->w->of[which].text;
  uint64_t n = usual < cap ? usual : cap;
  bool ok = true;
  if (at == NULL) {
    t.n = (size_t) n;
    return t.n == 0 || show_test(b, &t);
  }
  while (ok && options_next_count(&at, &n)) {
    t.n = (size_t) n;
    ok = t.n == 0 || show_test(b, &t);
  }
  return ok;
}

/* at each depth first what is read, then what is written */
static bool show_depths(struct bench_run *b)
{
  const char *at = b->w->of[OPTION_N_DEPTH].given ? b->w->of[OPTION_N_DEPTH].text : "0";
  uint64_t depth;
  bool ok = true;
  while (ok && options_next_count(&at, &depth))
    ok = show_list(b, OPTION_N_PROMPT, 512, (size_t) depth)
      && show_list(b, OPTION_N_GEN, 128, (size_t) depth);
  return ok;
}

/* what cannot fit is found before anything is measured */
static bool all_fit(struct bench_run *b)
{
  const char *at = b->w->of[OPTION_N_DEPTH].given ? b->w->of[OPTION_N_DEPTH].text : "0";
  uint64_t depth;
  bool ok = true;
  while (ok && options_next_count(&at, &depth))
    ok = lengths_fit(b, OPTION_N_PROMPT, (size_t) depth)
      && lengths_fit(b, OPTION_N_GEN, (size_t) depth);
  return ok;
}

/* the same walk over all lists, without the work */
static void count_rounds(struct bench_run *b)
{
  const char *at = b->w->of[OPTION_THREAD_LIST].given ? b->w->of[OPTION_THREAD_LIST].text : "1";
  uint64_t threads;
  b->counting = true;
  while (options_next_count(&at, &threads)) show_depths(b);
  b->counting = false;
}

/* the pool of the session has the first number of workers; for another it is opened again */
static bool show_tests(struct bench_run *b)
{
  const char *at = b->w->of[OPTION_THREAD_LIST].given ? b->w->of[OPTION_THREAD_LIST].text : "";
  uint64_t threads = pool_workers(b->o.pool);
  if (!all_fit(b)) return false;
  count_rounds(b);
  begin_tests(b);
  bool more = options_next_count(&at, &threads), ok = show_depths(b);
  while (ok && more && options_next_count(&at, &threads)) {
    pool_close(b->o.m, b->o.pool);
    b->o.pool = b->o.e.pool = pool_open(b->o.m, (unsigned) threads, &b->why);
    ok = b->o.pool != NULL && show_depths(b);
  }
  if (ok && b->form == FORM_JSON) {
    writer_close(&b->j, ']');
    writer_end(&b->j);
  }
  return ok;
}

/* An array that is not closed is none: of a bench that fails or is given up nothing is printed in
   that form, so it is collected first. Lines of the other forms stand for themselves. */
static int run_bench(struct bench_run *b)
{
  struct console collects = *b->c;
  const struct console *real = b->c;
  char *text = NULL;
  size_t n = 0;
  if (b->form == FORM_JSON) {
    collects.out = open_memstream(&text, &n);
    if (collects.out == NULL) {
      error_say(&b->why, "no memory for what is to be printed");
      return STATUS_FAILED;
    }
    b->c = &collects;
  }
  bool ok = show_tests(b);
  b->c = real;
  if (b->form == FORM_JSON) {
    fclose(collects.out);
    if (ok) fwrite(text, 1, n, real->out);
    free(text);
  }
  if (ok) return STATUS_DONE;
  return progress_cancelled(&b->o.wait.told) ? STATUS_CANCELLED : STATUS_FAILED;
}

/* what became of a subcommand, in words; a failure without any is one of the output, whose words,
   if a reader who has gone deserves any, are the console's */
static int tell_status(const struct console *c, int status, const struct error *why)
{
  if (status == STATUS_USAGE) return console_usage_error(c, why);
  if (status != STATUS_FAILED) return status;
  return why->text[0] == '\0' ? console_end(c, STATUS_DONE) : console_fail(c, why);
}

int cmd_bench(const struct console *c, const struct command_line *w)
{
  struct bench_run b = { .c = c, .w = w };
  find_processor(b.processor);
  if (!choose_form(&b)) return console_usage_error(c, &b.why);
  int status = session_open(&b.o, c, w, SESSION_NEED_MODEL, &b.why);
  if (status == STATUS_DONE) {
    status = run_bench(&b);
    session_close(&b.o);
  }
  return tell_status(c, status, &b.why);
}

/* The ids of the text, with no special tokens except the one that the model's texts begin with.
   Nothing says which id that is; but if the text with special tokens is the text without them
   after one more, that one is it. */
static bool collect_ids(struct session *o, const struct bytes *read,
  struct ids *list, struct error *why)
{
  struct ids whole = { .n = 0 };
  const char *text = read->n > 0 ? (const char *) read->byte : "";
  bool ok = tokenizer_encode(o->t, o->m, text, read->n, false, false,
      list, why)
    && tokenizer_encode(o->t, o->m, text, read->n, true, false, &whole, why);
  if (ok && whole.n > list->n
      && (list->n == 0 || memcmp(whole.id + 1, list->id,
        list->n * sizeof *list->id) == 0)) {
    ok = ids_push(o->m, list, 0, why);
    if (ok) memcpy(list->id, whole.id, list->n * sizeof *list->id);
  }
  ids_free(o->m, &whole);
  return ok;
}

/* losses are in nats, of which a bit has ln 2; the bytes are those of the file */
static void show_perplexity(const struct console *c, const struct command_line *w,
  const struct perplexity *p, size_t bytes)
{
  double mean = p->loss / (double) p->tokens;
  double bits = p->loss / 0x1.62e42fefa39efp-1 / (double) bytes;
  if (!w->of[OPTION_JSON].given) {
    fprintf(c->out, "%-14s %zu\n%-14s %zu\n%-14s %zu\n", "tokens", p->tokens,
      "bytes", bytes, "windows", p->windows);
    fprintf(c->out, "%-14s %.6f\n%-14s %.4f\n%-14s %.6f\n", "mean loss",
      mean, "perplexity", exp(mean), "bits per byte", bits);
    return;
  }
  struct json_writer j = { c->out, '\0' };
  writer_open(&j, '{');
  put_count_as(&j, "tokens", p->tokens);
  put_count_as(&j, "bytes", bytes);
  put_count_as(&j, "windows", p->windows);
  put_double_as(&j, "mean_loss", mean);
  put_double_as(&j, "perplexity", exp(mean));
  put_double_as(&j, "bits_per_byte", bits);
  writer_close(&j, '}');
  writer_end(&j);
}

/* how many windows of context ids, every stride ids, it takes to read n */
static size_t count_windows(size_t n, size_t context, size_t stride)
{
  return n <= context ? 1 : 1 + (n - context + stride - 1) / stride;
}

/* what has been read so far, as the reader leaves it between two passes */
struct reading { struct perplexity p; size_t windows; };
static void window_words(void *ctx, size_t done, size_t all, char text[WAITING_WORDS])
{
  const struct reading *r = ctx;
  (void) done;
  (void) all;
  size_t n = (size_t) snprintf(text, WAITING_WORDS, "window %zu of %zu", r->p.windows + 1,
    r->windows);
  if (r->p.tokens > 0) snprintf(text + n, WAITING_WORDS - n, ", perplexity %.2f",
    exp(r->p.loss / (double) r->p.tokens));
}

/* the length of a window, and how far apart two are, by the line and the model; a value outside its
   range is wrong usage, as that of generate --ctx-size */
static int choose_windows(const struct command_line *w, const struct session *o, size_t *context,
  size_t *stride, struct error *why)
{
  const struct option_value *of = w->of;
  size_t most = o->lm->config.n_positions;
  *context = of[OPTION_CONTEXT].given ? (size_t) of[OPTION_CONTEXT].count : most;
  *stride = of[OPTION_STRIDE].given ? (size_t) of[OPTION_STRIDE].count : *context;
  if (*context <= most && *stride <= *context) return STATUS_DONE;
  if (*context > most) error_say(why, "--context is %zu; wanted: 1 to %zu, the model's context",
    *context, most);
  else error_say(why, "--stride is %zu; wanted: 1 to %zu, the length of a window", *stride, *context);
  return STATUS_USAGE;
}

/* a text or a window of one token has no token with a predecessor, and is refused */
static bool read_file(const struct console *c, const struct command_line *w, struct session *o,
  const struct bytes *read, size_t context, size_t stride, struct error *why)
{
  struct ids list = { .n = 0 };
  struct reading r = { .windows = 0 };
  struct perplexity *p = &r.p;
  struct generate_context g = { &o->e, o->lm, o->s, o->m };
  bool ok = collect_ids(o, read, &list, why);
  r.windows = count_windows(list.n, context, stride);
  waiting_begin(&o->wait, window_words, &r);
  ok = ok && perplexity_of(&g, list.id, list.n, context, stride, p, why);
  waiting_end(&o->wait);
  if (ok && p->tokens == 0) ok = error_say(why, "%s: no token to score in"
    " %zu tokens in windows of %zu; wanted: 2 tokens in a window, or more",
    w->operand, list.n, context);
  if (ok) show_perplexity(c, w, p, read->n);
  ids_free(o->m, &list);
  return ok;
}

/* the text is read before the model is opened, so that a misspelt name is found out at once */
int cmd_perplexity(const struct console *c, const struct command_line *w)
{
  struct session o;
  struct error why = { .text = "" };
  struct bytes text = { NULL, 0, 0 };
  size_t context, stride;
  int status = prompt_read_text(c, w->operand, &text, &why) ? STATUS_DONE : STATUS_FAILED;
  if (status == STATUS_DONE)
    status = session_open(&o, c, w, SESSION_NEED_MODEL | SESSION_NEED_TOKENIZER, &why);
  if (status == STATUS_DONE) {
    status = choose_windows(w, &o, &context, &stride, &why);
    if (status == STATUS_DONE && !read_file(c, w, &o, &text, context, stride, &why))
      status = progress_cancelled(&o.wait.told) ? STATUS_CANCELLED : STATUS_FAILED;
    session_close(&o);
  }
  bytes_free(c->memory, &text);
  return tell_status(c, status, &why);
}
