@i types.w
@s perplexity int
@s machine int
@s phase int
@s plan int
@s reckoning int
@s named_shape int

\chapterquestion{How fast is it on my machine, with my model? How good? And does it fit?}
@** bench, perplexity, memory.
\incipit{T}{hree subcommands measure}: \texttt{bench} how fast a model reads and writes, \texttt{perplexity} how well it predicts, and \texttt{memory} what it takes. All are thin; what they measure with is chapter 5's and chapter 6's. They print the
same numbers to people, as a table, and to programs, as JSON; and \texttt{bench}, whose numbers are collected over months and machines, as CSV, too.

@ The functions of the subcommands are declared in one header.

@(measures.h@>=
#ifndef INCIPIT_MEASURES_H
#define INCIPIT_MEASURES_H
#include "command/subcommands.h"
int run_bench(const struct console *c, const struct wishes *w);
  /* takes the time of both phases; returns an exit status */
int run_perplexity(const struct console *c, const struct wishes *w);
  /* reads a file, and says how well it was predicted; returns an exit status */
int run_memory(const struct console *c, const struct wishes *w);
  /* says what a model takes, and what fits; returns an exit status */
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

@* Memory. \label{sec:memorycommand}
The third says what a model takes before anybody has it: \texttt{incipit memory} of a model on disk, of one of the shapes of chapter 6 by its name, or of a few numbers. Three sources, then, of one list of settings; and with it, what cannot be known from the numbers: nobody can tell from heads and layers alone how many weights there are.
@^memory account@>

@<A question about memory@>=
struct reckoning { const struct console *c; const struct wishes *w;
  struct outfit o; bool open, whole; /* a model is open; its weights are known */
  const char *name; struct model_config settings; struct plan asked;
  uint64_t parameters, weights, cache, budget; bool has_context, has_budget;
  struct error why; };

@ The numbers that may be given, and where each of them belongs. Those that are given beside a shape override it.

@<A question about memory@>=
static const struct number_row { enum option option; size_t at; } numbers[] =
  @[{ { OPTION_LAYERS, offsetof(struct model_config, n_layers) },@|
  { OPTION_HEADS, offsetof(struct model_config, n_heads) },@|
  { OPTION_KV_HEADS, offsetof(struct model_config, n_kv_heads) },@|
  { OPTION_HEAD_DIM, offsetof(struct model_config, head_dim) },@|
  { OPTION_D_MODEL, offsetof(struct model_config, d_model) },@|
  { OPTION_D_INNER, offsetof(struct model_config, d_inner) },@|
  { OPTION_VOCAB_SIZE, offsetof(struct model_config, vocab_size) } }@];
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

@ Whether any of them was given decides what the question is about; that they are then put into the settings, one after the other, needs only the place of each in the structure.

@<A question about memory@>=
static bool numbers_given(const struct wishes *w)
{
  bool any = false;
  for (int i = 0; i < N_NUMBERS; i++) any = any || w->of[numbers[i].option].given;
  return any;
}
static void take_numbers(struct reckoning *r)
{
  for (int i = 0; i < N_NUMBERS; i++) {
    const struct option_value *of = &r->w->of[numbers[i].option];
    uint32_t *to = (uint32_t *) (void *) ((char *) &r->settings
      + numbers[i].at);
    if (of->given) *to = (uint32_t) of->count;
  }
}

@ Without a name the least that must be given are layers, heads, and the size of a head; as many heads of keys and values as of queries are assumed if nobody says otherwise. What is wrong here is wrong usage, and has the status of it.

@<Choose the settings@>=
static int heads_divide(struct reckoning *r)
{
  const struct model_config *c = &r->settings;
  if (c->n_heads % c->n_kv_heads == 0) return STATUS_DONE;
  error_say(&r->why, "%u heads of queries for %u of keys and values; wanted: a"@|
    " multiple", c->n_heads, c->n_kv_heads);
  return STATUS_USAGE;
}

@ Of bare numbers three are needed, and the first that is missing is named.

@<Choose the settings@>=
static int settings_from_numbers(struct reckoning *r)
{
  static const enum option least[] = @[{ OPTION_LAYERS, OPTION_HEADS,@|
    OPTION_HEAD_DIM }@];
  for (int i = 0; i < 3; i++)
    if (!r->w->of[least[i]].given) {
      error_say(&r->why, "--%s is missing; wanted: --layers, --heads and"@|
        " --head-dim, or --shape, or --model", option_at(least[i])->name);
      return STATUS_USAGE;
    }
  r->name = "a model of these numbers";
  take_numbers(r);
  if (!r->w->of[OPTION_KV_HEADS].given)
    r->settings.n_kv_heads = r->settings.n_heads;
  return heads_divide(r);
}

@ A shape has all numbers, and those that were given replace its own. A model on disk has them in its files; nothing may be given beside it, since its weights are what they are.

@<Choose the settings@>=
static int settings_from_shape(struct reckoning *r)
{
  r->name = r->w->of[OPTION_SHAPE].text;
  if (!shape_find(r->name, &r->settings, &r->why)) return STATUS_USAGE;
  take_numbers(r);
  r->whole = true;
  r->asked.context = r->settings.n_positions, r->has_context = true;
  return heads_divide(r);
}
static int settings_from_model(struct reckoning *r)
{
  if (!outfit_open(&r->o, r->c, r->w, NEED_MODEL, &r->why))
    return STATUS_FAILED;
  r->open = r->whole = r->has_context = true;
  r->name = r->o.path, r->settings = r->o.lm->config;
  r->asked.context = r->settings.n_positions;
  return STATUS_DONE;
}

@ A window that is asked for replaces that of a shape, as it does for a model. Weights of a shape have two bytes a number, and so have the rows of its cache, unless something else is asked for; a model on disk has what is on disk, and its cache is kept in |f32|.

@<Choose the settings@>=
static int choose_settings(struct reckoning *r)
{
  const struct option_value *of = r->w->of;
  int status = numbers_given(r->w) && !of[OPTION_SHAPE].given
    ? settings_from_numbers(r) : of[OPTION_SHAPE].given
    ? settings_from_shape(r) : settings_from_model(r);
  if (status != STATUS_DONE) return status;
  if (of[OPTION_WINDOW].given && !config_set_window(&r->settings,@|
    (uint32_t) of[OPTION_WINDOW].count, (uint32_t) of[OPTION_SINKS].count,@|
    &r->why)) return STATUS_FAILED;
  r->asked.format = of[OPTION_KV_TYPE].given
    ? format_find(of[OPTION_KV_TYPE].text, NULL) : format_at(r->open ? 0 : 1);
  if (of[OPTION_CONTEXT].given)
    r->asked.context = of[OPTION_CONTEXT].count, r->has_context = true;
  r->asked.batch = of[OPTION_BATCH].given ? of[OPTION_BATCH].count : 1;
  return STATUS_DONE;
}

@ A budget is a number and a unit. \texttt{24GB} are $24\cdot10^9$ bytes and \texttt{24GiB} are $24\cdot2^{30}$; the letters may be small, there may be a blank before them, and without any the number is one of bytes. Whoever writes \texttt{24G} has not said which he means, and is asked.

@<Read a budget@>=
static bool read_budget(const char *text, uint64_t *bytes, struct error *why)
{
  static const char *const unit[] = @[{ "", "B", "kB", "MB", "GB", "TB",@|
    "KiB", "MiB", "GiB", "TiB" }@];
  static const double size[] = @[{ 1, 1, 1e3, 1e6, 1e9, 1e12, 0x1p10, 0x1p20,@|
    0x1p30, 0x1p40 }@];
  char *end;
  double x = strtod(text, &end);
  bool plain = end > text && strspn(text, "0123456789.e+") == (size_t) (end
    - text);
  end += *end == ' ';
  for (int i = 0; plain && i < 10; i++)
    if (strcasecmp(end, unit[i]) == 0 && x * size[i] < 0x1p62) {
      *bytes = (uint64_t) (x * size[i]);
      return true;
    }
  return error_say(why, "--budget `%s'; wanted: a number and a unit, as 24GB or"@|
    " 22.5GiB", text);
}

@ With the settings the reckoning is chapter 6's. A model that is on disk can be held to it: the cache that was reckoned is asked of the allocator, in pages of one row, if it is no more than a quarter of a GiB, within the context, and so can be asked for in passing; and what the allocator says it gave must be the same number.

@<Reckon@>=
static bool ask_allocator(struct reckoning *r)
{
  struct memory *m = r->o.m;
  struct cache_wishes how = @[{ .rows = r->asked.context * r->asked.batch,@|
    .page_rows = 1, .pass = 1, .format = r->asked.format, .at_once = true }@];
  if (!r->open || r->cache == 0 || r->cache > (uint64_t) 1 << 28
    || r->asked.context > r->settings.n_positions) return true;
  uint64_t before = m->of[FOR_CACHE].held;
  struct store *s = cache_open(m, &r->settings, (uint32_t) r->asked.batch,@|
    &how, &r->why);
  uint64_t given = m->of[FOR_CACHE].held - before;
  store_close(s);
  return s != NULL && (given == r->cache || error_say(&r->why, "the cache was"@|
    " reckoned at %" PRIu64 " bytes, and the allocator gave %" PRIu64,@|
    r->cache, given));
}

@ The reckoning itself asks chapter 6 for the weights and for the cache. The sum of both must be a number that every reader of JSON can read.

@<Reckon@>=
static bool reckon(struct reckoning *r)
{
  if (r->whole) r->parameters = bill_parameters(&r->settings);
  r->weights = r->open ? bill_weights(r->o.lm) : 2 * r->parameters;
  if (!bill_cache(&r->settings, &r->asked, &r->cache, &r->why)) return false;
  if (r->cache > INT64_MAX - r->weights)
    return error_say(&r->why, "weights and cache have more bytes than 63 bits"@|
      " can count; wanted: a smaller context or batch");
  return ask_allocator(r);
}

@ What is printed for programs: nine numbers, and null for those that are not determined. The largest context is not determined if there is no budget, or if the weights are not known, or if any context fits because all layers have a window.

@<Show the account@>=
static void put_maybe(struct json_out *j, const char *key, bool known,
  uint64_t n)
{
  put_key(j, key);
  if (known && n != UINT64_MAX) put_count(j, n);
  else put_word(j, "null");
}

@ The keys come in the order of the printed account: weights, cache, sum, limits. A reader in any language may rely on all nine being there.

@<Show the account@>=
static void put_account(const struct reckoning *r)
{
  struct json_out j = @[{ r->c->out, '\0' }@];
  bool bound = r->has_budget && r->whole, sum = r->whole && r->has_context;
  put_open(&j, '{');
  put_maybe(&j, "parameters", r->whole, r->parameters);
  put_maybe(&j, "weights_bytes", r->whole, r->weights);
  put_maybe(&j, "kv_bytes_per_token", true, bill_token(&r->settings,
    r->asked.format));
  put_maybe(&j, "context", r->has_context, r->asked.context);
  put_maybe(&j, "batch", true, r->asked.batch);
  put_maybe(&j, "kv_bytes", r->has_context, r->cache);
  put_maybe(&j, "total_bytes", sum, r->weights + r->cache);
  put_maybe(&j, "max_context", bound, bill_max_context(&r->settings, &r->asked,@|
    r->weights, r->budget));
  put_maybe(&j, "max_batch", bound && r->has_context, bill_max_batch(
    &r->settings, &r->asked, r->weights, r->budget));
  put_close(&j, '}'), put_end(&j);
}

@ For people each amount is printed three times, in bytes and in both kinds of thousands, each with the unit that leaves a number of one to three digits in front of the point.

@<Show the account@>=
static void print_amount(FILE *out, const char *what, uint64_t bytes)
{
  static const char *const unit[] = @[{ "B", "k", "M", "G", "T", "P", "E" }@];
  double ten = (double) bytes, two = ten;
  int a = 0, b = 0;
  while (ten >= 1000 && a < 6) ten /= 1000, a++;
  while (two >= 1024 && b < 6) two /= 1024, b++;
  fprintf(out, "%-26s %19" PRIu64, what, bytes);
  if (a > 0) fprintf(out, " %9.3f %sB", ten, unit[a]);
  if (b > 0) fprintf(out, " %9.3f %siB", two, b == 1 ? "K" : unit[b]);
  fputc('\n', out);
}

@ A bar of sixty places shows the budget, or what is needed if that is more, and who takes it. A part that is there but too small for a place gets one nevertheless.

@<Show the account@>=
static void print_bar(const struct reckoning *r)
{
  enum { PLACES = 60 };
  uint64_t sum = r->weights + r->cache;
  uint64_t all = r->has_budget && r->budget > sum ? r->budget : sum;
  int to_weights = (int) ((double) r->weights / (double) all * PLACES + 0.5);
  int to_cache = (int) ((double) sum / (double) all * PLACES + 0.5);
  if (all == 0) return;
  if (to_weights == 0) to_weights = 1;
  if (to_cache <= to_weights && r->cache > 0) to_cache = to_weights + 1;
  if (to_cache > PLACES) to_cache = PLACES, to_weights = to_weights < PLACES
    ? to_weights : PLACES - 1;
  fputc('[', r->c->out);
  for (int i = 0; i < PLACES; i++) fputc(i < to_weights ? '#' : i < to_cache
    ? '=' : '.', r->c->out);
  fprintf(r->c->out, "]\n# weights  = cache%s\n",@|
    r->has_budget ? "  . free" : "");
}

@ What fits is said in a sentence. If it does not fit, so is that.

@<Show the account@>=
static void print_limit(FILE *out, uint64_t n, const char *what)
{
  if (n == UINT64_MAX) fprintf(out, "any number of %s", what);
  else fprintf(out, "%" PRIu64 " %s", n, what);
}

@ Both limits are printed, whatever was asked: how long a text may be if there are as many as now, and how many there may be if they are as long as now.

@<Show the account@>=
static void print_fit(const struct reckoning *r)
{
  FILE *out = r->c->out;
  uint64_t sum = r->weights + r->cache;
  print_amount(out, "budget", r->budget);
  if (sum > r->budget) print_amount(out, "too much by", sum - r->budget);
  fprintf(out, "%" PRIu64 " text%s: at most ", r->asked.batch,@|
    r->asked.batch == 1 ? "" : "s");
  print_limit(out, bill_max_context(&r->settings, &r->asked, r->weights,@|
    r->budget), "tokens each");
  fprintf(out, "\n%" PRIu64 " tokens: at most ", r->asked.context);
  print_limit(out, bill_max_batch(&r->settings, &r->asked, r->weights,@|
    r->budget), "texts");
  fputc('\n', out);
}

@ The account for people, from the heads down to the bar.

@<Show the account@>=
static void print_account(const struct reckoning *r)
{
  FILE *out = r->c->out;
  const struct model_config *m = &r->settings;
  char words[64];
  fprintf(out, "%s: %u layers, %u heads, %u of keys and values, %u numbers"@|
    " each\n", r->name, m->n_layers, m->n_heads, m->n_kv_heads, m->head_dim);
  if (r->whole) {
    fprintf(out, "%-26s %19" PRIu64 "\n", "weights", r->parameters);
    print_amount(out, r->open ? "as stored" : "in two bytes each", r->weights);
  }
  else fprintf(out, "%-26s %19s\n", "weights", "not known");
  snprintf(words, sizeof words, "cache, a token in %s", r->asked.format->name);
  print_amount(out, words, bill_token(m, r->asked.format));
  if (!r->has_context) return;
  snprintf(words, sizeof words, "%" PRIu64 " tokens, %" PRIu64 " text%s",@|
    r->asked.context, r->asked.batch, r->asked.batch == 1 ? "" : "s");
  print_amount(out, words, r->cache);
  if (!r->whole) return;
  print_amount(out, "together", r->weights + r->cache);
  if (r->has_budget) print_fit(r);
  print_bar(r);
}

@ The list of shapes has the numbers of each and where they are from; for a program the same in one object.

@<Show the account@>=
static void put_shapes(const struct reckoning *r)
{
  struct json_out j = @[{ r->c->out, '\0' }@];
  put_open(&j, '{'), put_key(&j, "shapes"), put_open(&j, '[');
  for (size_t i = 0; shape_at(i) != NULL; i++) {
    const struct named_shape *s = shape_at(i);
    put_open(&j, '{');
    put_key(&j, "name"), put_words(&j, s->name);
    put_key(&j, "layers"), put_count(&j, s->n_layers);
    put_key(&j, "heads"), put_count(&j, s->n_heads);
    put_key(&j, "kv_heads"), put_count(&j, s->n_kv_heads);
    put_key(&j, "head_dim"), put_count(&j, s->head_dim);
    put_key(&j, "d_model"), put_count(&j, s->d_model);
    put_key(&j, "d_inner"), put_count(&j, s->d_inner);
    put_key(&j, "vocab_size"), put_count(&j, s->vocab_size);
    put_key(&j, "context"), put_count(&j, s->n_positions);
    put_key(&j, "window"), put_count(&j, s->window);
    put_key(&j, "source"), put_words(&j, s->source);
    put_close(&j, '}');
  }
  put_close(&j, ']'), put_close(&j, '}'), put_end(&j);
}

@ For people it is a table, as wide as its longest line of source.

@<Show the account@>=
static void list_shapes(const struct reckoning *r)
{
  FILE *out = r->c->out;
  fprintf(out, "%-12s %6s %5s %8s %8s %7s %7s %6s %7s %6s  %s\n", "shape",@|
    "layers", "heads", "kv-heads", "head-dim", "d-model", "d-inner", "vocab",@|
    "context", "window", "source");
  for (size_t i = 0; shape_at(i) != NULL; i++) {
    const struct named_shape *s = shape_at(i);
    fprintf(out, "%-12s %6u %5u %8u %8u %7u %7u %6u %7u %6u  %s\n", s->name,@|
      s->n_layers, s->n_heads, s->n_kv_heads, s->head_dim, s->d_model,@|
      s->d_inner, s->vocab_size, s->n_positions, s->window, s->source);
  }
}

@ A question is answered in this order: what is it about, what does it come to, and in which form is it shown.

@<Answer what was asked about memory@>=
int run_memory(const struct console *c, const struct wishes *w)
{
  struct reckoning r = @[{ .c = c, .w = w }@];
  const struct option_value *shape = &w->of[OPTION_SHAPE];
  const struct option_value *budget = &w->of[OPTION_BUDGET];
  if (shape->given && strcmp(shape->text, "list") == 0) {
    if (w->of[OPTION_JSON].given) put_shapes(&r);
    else list_shapes(&r);
    return STATUS_DONE;
  }
  r.has_budget = budget->given;
  if (budget->given && !read_budget(budget->text, &r.budget, &r.why))
    return console_misuse(c, &r.why);
  int status = choose_settings(&r);
  if (status == STATUS_DONE && !reckon(&r)) status = STATUS_FAILED;
  if (status == STATUS_DONE && w->of[OPTION_JSON].given) put_account(&r);
  else if (status == STATUS_DONE) print_account(&r);
  if (r.open) outfit_close(&r.o);
  if (status == STATUS_FAILED) console_fail(c, &r.why);
  if (status == STATUS_USAGE) console_misuse(c, &r.why);
  return status;
}

@ This part has a file of its own.

@(reckoning.c@>=
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "accounts/accounts.h"
#include "measures/measures.h"
@;@#
@<A question about memory@>@;
@<Choose the settings@>@;
@<Read a budget@>@;
@<Reckon@>@;
@<Show the account@>@;
@<Answer what was asked about memory@>@;

@* The module. \label{sec:measuresmodule}
One file has what takes time.

@(measuring.c@>=
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "phases/phases.h"
#include "measures/measures.h"
@;@#
@<A test of the bench@>@;
@<Run the tests, and show each@>@;
@<Make ids of the file@>@;
@<Show how well it was predicted@>@;
@<Read the file in windows@>@;

@ The program of this chapter does what the prose says: it prints how many lines of options the measuring subcommands have.

@c
#include <stdio.h>
#include <string.h>
#include "command/options.h"
@;@#
int main(int argc, char **argv)
{
  int n = 0;
  for (int i = 0; i < N_OPTIONS; i++)
    n += (option_at((enum option) i)->where
      & (1u << SUB_BENCH | 1u << SUB_PERPLEXITY | 1u << SUB_MEMORY)) != 0;
  if (argc > 1 && strcmp(argv[1], "values") == 0)
    printf("measures.options %d\n", n);
  else printf("bench, perplexity and memory take %d options\n", n);
  return 0;
}
