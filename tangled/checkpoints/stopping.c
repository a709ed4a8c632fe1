/* the program -- made from chapters/08-stopping.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "ground/timing.h"
#include "loop/laboratory.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "stopping/stopping.h"
#include "functions/numbers.h"

/* <The whole program> */

/* <Print the tree of the calculation> */
static bool print_tree(struct memory *m, struct error *why)
{
  static const struct stop_string list[2] = {
    { (const unsigned char *) "anno", 4 },
    { (const unsigned char *) "nah", 3 } };
  struct stops s;
  uint32_t last = 0;
  if (!stops_open(&s, m, list, 2, why)) return false;
  printf("id,parent,failure," "hold,whole,text\n");
  for (size_t i = 0; i < 2; i++)
    for (uint32_t at = 0, up = 0, j = 0; j < list[i].n; up = at) {
      at = stops_step(&s, at, list[i].byte[j++]);
      if (at <= last) continue;
      last = at;
      const struct stops_node *x = &s.node[at];
      printf("%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", at, up, x->failure);
      printf("%" PRIu32 ",%d,%.*s\n", x->hold, x->depth == list[i].n,
        (int) j, list[i].byte);
    }
  stops_close(&s);
  return true;
}

/* <Write a text until something ends it> */

/* up to most tokens behind prompt; two stop strings or fewer; the same triple tokens
   three times, so many sentences, a shorter context, or cancelled behind token number
   cancel, by a signal or without: 0 for none of it; if eos, an end token ends it; if
   there is a script, its tokens are written instead of the model's */
struct wish { const char *name, *prompt, *stop[2];
  size_t most, min_tokens, triple, sentences, cancel, context;
  bool eos, by_signal; double temperature; uint64_t seed;
  const struct ids *script; };

/* the newest text, as ids and as bytes, and the reason why it ended, null if a
   criterion was not the reason; look, if it is not null, is called behind each token */
struct desk { struct laboratory *lab; struct tokenizer *t; struct store *s;
  struct sampler d; const struct wish *w; struct continuation text;
  struct stop_string list[2]; struct stops until; struct outflow flow;
  const char *reason; step_watch *look; void *looking; size_t steps; };

static bool enough_sentences(void *self, const struct continuation *text,
  bool *enough, struct error *why)
{
  const struct desk *k = self;
  size_t seen = 0;
  (void) text, (void) why;
  for (size_t i = 0; i < k->flow.text.n; i++)
    seen += k->flow.text.byte[i] == '.';
  *enough = k->w->sentences > 0 && seen >= k->w->sentences;
  return true;
}

static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}

static bool watch_desk(void *self, const struct step *now)
{
  struct desk *k = self;
  k->steps++;
  if (k->look != NULL && !k->look(k->looking, now)) return false;
  bool last = k->w->cancel > 0 && k->steps >= k->w->cancel;
  if (last && k->w->by_signal) raise(SIGINT);
  return !last && interrupted == 0;
}

static bool write_interruptibly(struct desk *k, const struct generator *g,
  const uint32_t *prompt, size_t n, const struct settings *want,
  struct error *why)
{
  interrupted = 0;
  void (*usual)(int) = signal(SIGINT, note_signal);
  bool ok = generate(g, prompt, n, want, &k->text, why);
  signal(SIGINT, usual);
  return ok && (interrupted == 0 || k->w->by_signal
    || error_say(why, "the text was interrupted"));
}

static bool recite(void *self, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct desk *k = self;
  size_t at = text->text.n - text->n_prompt;
  (void) logits;
  if (at >= k->w->script->n)
    return error_say(why, "the script has only %zu tokens", at);
  *chosen = k->w->script->id[at];
  return true;
}

static struct settings settings_for(struct desk *k, struct criteria *judges)
{
  const struct wish *w = k->w;
  const struct model_config *config = &k->lab->pocket->config;
  k->d.s = sampling_normal, k->d.s.temperature = w->temperature;
  k->d.seed = w->seed, k->steps = 0;
  return (struct settings) { .max_new_tokens = w->most, .recall = store_keep,
    .eos = config->eos, .n_eos = w->eos ? config->n_eos : 0,
    .min_tokens = w->min_tokens, .see = watch_desk, .self = k,
    .choose = w->script != NULL ? recite : sampler_choose,
    .chooser = w->script != NULL ? (void *) k : &k->d,
    .judge = criteria_judge, .judging = judges };
}

static bool run_wish(struct desk *k, const uint32_t *prompt, size_t n,
  struct error *why)
{
  size_t triple = k->w->triple;
  struct criterion list[] = { {"string", outflow_judge, &k->flow},
    {"repetition", repetition_judge, &triple},
    {"callback", enough_sentences, k} };
  struct criteria judges = { list, 3, NULL };
  struct generator maker = { &k->lab->e, k->lab->pocket, k->s,
    &k->lab->m };
  struct settings want = settings_for(k, &judges);
  uint32_t context = k->lab->pocket->config.n_positions;
  if (k->w->context > 0)
    k->lab->pocket->config.n_positions = (uint32_t) k->w->context;
  bool ok = outflow_prompt(&k->flow, prompt, n, why)
    && write_interruptibly(k, &maker, prompt, n, &want, why);
  k->lab->pocket->config.n_positions = context;
  outflow_end(&k->flow);
  k->reason = ok ? criteria_reason(&judges, k->text.ended) : NULL;
  return ok;
}

static void clear_desk(struct desk *k)
{
  continuation_free(&k->lab->m, &k->text);
  outflow_close(&k->flow);
  stops_close(&k->until);
}

static bool write_ids(struct desk *k, const struct wish *w,
  const uint32_t *prompt, size_t n, struct error *why)
{
  size_t strings = 0;
  for (; strings < 2 && w->stop[strings] != NULL; strings++)
    k->list[strings] = (struct stop_string) {
      (const unsigned char *) w->stop[strings], strlen(w->stop[strings]) };
  clear_desk(k);
  k->w = w;
  k->flow = (struct outflow) { .m = &k->lab->m, .t = k->t,
    .until = &k->until, .min_tokens = w->min_tokens };
  return stops_open(&k->until, &k->lab->m, k->list, strings, why)
    && run_wish(k, prompt, n, why);
}

static bool encode(struct desk *k, const char *text, struct ids *list,
  struct error *why)
{
  return tokenizer_encode(k->t, &k->lab->m, text, strlen(text), false, false,
    list, why);
}

static bool write_text(struct desk *k, const struct wish *w,
  struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  bool ok = encode(k, w->prompt, &list, why)
    && write_ids(k, w, list.id, list.n, why);
  ids_free(&k->lab->m, &list);
  return ok;
}

/* <Wish for every kind of end> */
#define OWL "User: Where does the owl live?\nAssistant:"
#define SUN "The cat sat in the sun. The clock said"
static const struct wish wishes[] = {
  {"end token", "The dog", .most = 400, .eos = true},
  {"the same, not before 100", "The dog", .most = 400, .eos = true,
    .min_tokens = 99},
  {"length 20", "The dog", .most = 20, .eos = true},
  {"context 24", "The dog", .most = 400, .eos = true, .context = 24},
  {"two line ends", OWL, {"\n\n"}, .most = 400, .eos = true},
  {"these, or User:", OWL, {"\n\n", "User:"}, .most = 400, .eos = true},
  {"4.", "A list:\n", {"4."}, .most = 20},
  {"2 tokens, three times", SUN, .most = 400, .triple = 2},
  {"three sentences", "The dog", .most = 400, .sentences = 3},
  {"cancelled by a callback", "The dog", .most = 400, .cancel = 7},
  {"cancelled by a signal", "The dog", .most = 400, .cancel = 7,
    .by_signal = true} };
enum { N_WISHES = sizeof wishes / sizeof *wishes, LISTED = 6 };

static const char *reason_of(const struct desk *k)
{
  return k->reason != NULL ? k->reason
    : k->text.ended == FINISH_CANCELLED ? "cancelled" : "length";
}

static bool show_end(struct desk *k, const struct wish *w, struct error *why)
{
  if (!write_text(k, w, why)) return false;
  size_t n = k->flow.text.n, tail = n < 22 ? n : 22;
  printf("%-24s%4zu  %-11s", w->name, k->text.text.n - k->text.n_prompt,
    reason_of(k));
  for (size_t i = n - tail; i < n; i++)
    putchar(k->flow.text.byte[i] == '\n' ? '/' : k->flow.text.byte[i]);
  printf("\n");
  return true;
}

static const char *const shopping = "1. apples\n2. pears\n"
  "3. plums\n4. nuts\n5. apples\n6. plums";
static bool show_ends(struct desk *k, struct error *why)
{
  struct ids items = { NULL, 0, 0 };
  const struct model_config *config = &k->lab->pocket->config;
  size_t n;
  const unsigned char *byte = tokenizer_text(k->t, config->eos[0], &n);
  printf("end token %" PRIu32 ", %.*s, says %s\n", config->eos[0], (int) n,
    (const char *) byte, config->eos_from);
  bool ok = encode(k, shopping, &items, why);
  for (int i = 0; ok && i < N_WISHES; i++) {
    struct wish w = wishes[i];
    if (i == LISTED) w.script = &items;
    ok = show_end(k, &w, why);
    k->w = NULL;
  }
  ids_free(&k->lab->m, &items);
  return ok;
}

/* <Show what is released and what is held> */
struct shown { struct desk *k; size_t before, tokens; bool points; };
static int print_bytes(const unsigned char *byte, size_t n)
{
  int width = 0;
  for (size_t i = 0; i < n; i++)
    width += byte[i] == '\n' ? printf("\\n") : byte[i] < 0x80
      ? printf("%c", byte[i]) : printf("\\x%02X", (unsigned) byte[i]);
  return width;
}

static bool show_token(void *self, const struct step *now)
{
  struct shown *x = self;
  const struct outflow *flow = &x->k->flow;
  size_t n, held = flow->text.n - flow->released;
  const unsigned char *byte = tokenizer_text(x->k->t, now->chosen, &n);
  const unsigned char *from = flow->text.byte + x->before;
  x->tokens++;
  if (x->points) {
    size_t half = utf8_held(flow->text.byte, flow->text.n);
    size_t all = flow->text.n + (flow->found != NULL ? flow->found->n : 0);
    printf("%zu,%zu,%zu,%zu,%zu,", x->tokens, x->before, flow->released, all,
      held > half ? 0 : half);
    print_bytes(byte, n);
    printf("\n");
  }
  else {
    printf("%3zu  \"", x->tokens);
    int wide = print_bytes(byte, n);
    printf("\"%*s\"", 13 - wide, "shows ");
    wide = print_bytes(from, flow->released - x->before);
    printf("\"%*s", held > 0 ? 24 - wide : 0, held > 0 ? "holds \"" : "");
    print_bytes(flow->text.byte + flow->released, held);
    printf("%s%s\n", held > 0 ? "\"" : "",
      flow->found != NULL ? " and ends" : "");
  }
  x->before = flow->released;
  return true;
}

static const char *const useful = "A caf\xc3\xa9.\n"
  "Useful: 5 " "\xe2\x82\xac.\n\nUser:";
static bool print_hold(struct desk *k, bool points, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct shown x = { .k = k, .points = points };
  struct wish w = { .prompt = "A list:\n", .stop = { "\n\n", "User:" },
    .most = 40, .script = &list };
  if (points) printf("token,before,released,length,half,piece\n");
  k->look = show_token, k->looking = &x;
  bool ok = encode(k, useful, &list, why) && write_text(k, &w, why);
  k->look = NULL, k->w = NULL;
  ids_free(&k->lab->m, &list);
  return ok;
}

/* <Toss for the end> */
static bool coin_open(struct desk *k, double e, struct funnel *f,
  struct error *why)
{
  float logits[2] = { (float) num_log(e), (float) num_log(1 - e) };
  if (!funnel_open(f, &k->lab->m, k->lab->e.k, 2, why)) return false;
  return funnel_fill(f, logits, why);
}

static size_t toss(struct funnel *f, uint64_t number, size_t most)
{
  size_t n = 0;
  while (n < most && funnel_choose(f, number, 0, (uint32_t) n) != 0) n++;
  return n;
}

static bool print_coin(struct desk *k, struct error *why)
{
  enum { TRIALS = 100000, COINS = 20000 };
  struct funnel likely, rare = { .n = 0 };
  size_t on = 0, left = 0;
  bool ok = coin_open(k, 0.9, &likely, why)
    && coin_open(k, 0.01, &rare, why);
  for (uint64_t i = 0; ok && i < TRIALS; i++) on += toss(&likely, i, 1);
  for (uint64_t i = 0; ok && i < COINS; i++)
    left += toss(&rare, i, 500) == 500;
  funnel_close(&likely);
  if (rare.m != NULL) funnel_close(&rare);
  printf("stop.coin.trials %d\n", TRIALS);
  printf("claim.S3-39 %.4f\n", (double) on / TRIALS);
  printf("stop.coin.texts %d\n", COINS);
  printf("stop.coin.left %zu\n", left);
  printf("stop.coin.left.expected %.1f\n", COINS * num_pow(0.99, 500));
  printf("claim.S2-68 %.5f\n", num_pow(0.99, 500));
  return ok;
}

/* <Let many talks end> */
enum { TALKS = 48, LONGEST = 400, CAP = 64 };

/* of each talk its length; tokens written, and rare ones among them; the end's
   probability where it was not chosen (inside places) and where it was; talks that
   are cut behind CAP tokens, and within a sentence; talks without a rare token up to
   there */
struct survey { struct desk *k; double *logprob; size_t length[TALKS],
  at, written, rare, inside, cut, cut_inside, clean; bool slipped;
  double most, mean, chosen; };
static bool note_end(void *self, const struct step *now)
{
  struct survey *x = self;
  struct laboratory *lab = x->k->lab;
  uint32_t eos = lab->pocket->config.eos[0];
  lab->e.k->log_softmax(&lab->e, now->logits, 1,
    lab->pocket->config.vocab_size, x->logprob);
  double p = num_exp(x->logprob[eos]);
  bool slip = num_exp(x->logprob[now->chosen]) < 0.01;
  x->written++, x->at++;
  x->rare += slip, x->slipped = x->slipped || slip;
  if (now->chosen == eos) x->chosen += p;
  else x->inside++, x->mean += p, x->most = p > x->most ? p : x->most;
  if (x->at == CAP && now->chosen != eos)
    /* <See whether a length would cut here> */
    {
      const unsigned char *byte = x->k->flow.text.byte;
      size_t n = x->k->flow.text.n;
      if (n > 0 && byte[n - 1] == '"') n--;
      x->cut++, x->clean += !x->slipped;
      x->cut_inside += n > 0 && memchr(".!?\n", byte[n - 1], 4) == NULL;
    }
  return true;
}

static bool hold_survey(struct desk *k, struct survey *x, struct error *why)
{
  size_t v = k->lab->pocket->config.vocab_size;
  *x = (struct survey) { .k = k };
  x->logprob = memory_take(&k->lab->m, FOR_OTHER, v, 8, why);
  bool ok = x->logprob != NULL;
  k->look = note_end, k->looking = x;
  for (uint64_t seed = 0; ok && seed < TALKS; seed++) {
    struct wish w = { .prompt = "User:", .most = LONGEST, .eos = true,
      .temperature = 1, .seed = seed };
    x->at = 0, x->slipped = false;
    ok = write_text(k, &w, why);
    x->length[seed] = x->at;
  }
  k->look = NULL;
  memory_give(&k->lab->m, FOR_OTHER, x->logprob, v, 8);
  return ok;
}

static bool print_running(struct desk *k, struct error *why)
{
  enum { COINS = 40000, FAR = 300, CURVES = 4 };
  static const double e[CURVES] = { 0.1, 0.03, 0.01, 0.003 };
  static size_t running[CURVES + 1][FAR + 1];
  struct survey x;
  if (!hold_survey(k, &x, why)) return false;
  /* <Toss every coin until it ends, over and over> */
  for (int c = 0; c < CURVES; c++) {
    struct funnel f;
    bool ok = coin_open(k, e[c], &f, why);
    for (uint64_t i = 0; ok && i < COINS; i++)
      for (size_t n = toss(&f, i, FAR), j = 0; j <= n; j++) running[c][j]++;
    funnel_close(&f);
    if (!ok) return false;
  }
  for (size_t i = 0; i < TALKS; i++)
    for (size_t j = 0; j < x.length[i] && j <= FAR; j++) running[CURVES][j]++;
  /* <Print a line for every fifth number of tokens> */
  printf("tokens,a,aa,b,bb,c,cc,d,dd,talks\n");
  for (size_t n = 0; n <= FAR; n += 5) {
    printf("%zu", n);
    for (int c = 0; c < CURVES; c++)
      printf(",%.5f,%.5f", (double) running[c][n] / COINS,
        num_pow(1 - e[c], (double) n));
    printf(",%.5f\n", (double) running[CURVES][n] / TALKS);
  }
  return true;
}

static bool print_survey(struct desk *k, struct error *why)
{
  struct survey x;
  if (!hold_survey(k, &x, why)) return false;
  size_t least = LONGEST, most = 0;
  for (size_t i = 0; i < TALKS; i++) {
    least = x.length[i] < least ? x.length[i] : least;
    most = x.length[i] > most ? x.length[i] : most;
  }
  printf("stop.talks %d\n", TALKS);
  printf("stop.talks.shortest %zu\n", least);
  printf("stop.talks.longest %zu\n", most);
  /* <Print what the model thought of the end> */
  printf("stop.eos.places %zu\n", x.inside);
  printf("stop.eos.most %.4f\n", x.most);
  printf("stop.eos.mean %.3f\n", 1e6 * x.mean / (double) x.inside);
  printf("stop.eos.chosen %.4f\n", x.chosen / TALKS);
  /* <Print what a length would have cut> */
  double r = (double) x.rare / (double) x.written;
  printf("stop.cap %d\n", CAP);
  printf("stop.cut %zu\n", x.cut);
  printf("stop.cut.inside %zu\n", x.cut_inside);
  printf("claim.S3-41 %zu\n", x.cut_inside);
  printf("stop.rare %zu\n", x.rare);
  printf("stop.written %zu\n", x.written);
  printf("stop.rare.rate %.4f\n", r);
  printf("stop.clean %zu\n", x.clean);
  printf("stop.clean.expected %.1f\n",
    (double) x.cut * num_pow(1 - r, CAP));
  return true;
}

/* <Cut two phrases in every way> */
static bool same_for_cut(struct desk *k, const char *text, uint32_t cuts,
  const char *left, int which, struct error *why)
{
  size_t n = strlen(text), most = strlen(left);
  bool ok = true;
  outflow_close(&k->flow);
  k->flow = (struct outflow) { .m = &k->lab->m, .until = &k->until };
  for (size_t at = 0, to; ok && at < n && k->flow.found == NULL; at = to) {
    for (to = at + 1; to < n && (cuts >> (to - 1) & 1) == 0; ) to++;
    ok = outflow_bytes(&k->flow, (const unsigned char *) text + at, to - at,
      why) && ((k->flow.released <= most
        && memcmp(k->flow.text.byte, left, k->flow.released) == 0)
        || error_say(why, "cut %" PRIu32 " shows too much", cuts));
  }
  return ok && ((k->flow.found == &k->list[which]
    && k->flow.text.n == most && k->flow.released == most)
    || error_say(why, "cut %" PRIu32 " ends elsewhere", cuts));
}

static bool print_cuts(struct desk *k, struct error *why)
{
  static const char *const text[2][2] = { {"one.\nTwo.\n\nUser:",
    "one.\nTwo."}, {"\xe2\x82\xac 5.\nUse User: no", "\xe2\x82\xac 5.\nUse "}
    };
  uint32_t ways = 0;
  clear_desk(k);
  k->list[0] = (struct stop_string) { (const unsigned char *) "\n\n", 2 };
  k->list[1] = (struct stop_string) { (const unsigned char *) "User:", 5 };
  bool ok = stops_open(&k->until, &k->lab->m, k->list, 2, why);
  for (int i = 0; i < 2; i++) {
    uint32_t all = (uint32_t) 1 << (strlen(text[i][0]) - 1);
    for (uint32_t cuts = 0; ok && cuts < all; cuts++, ways++)
      ok = same_for_cut(k, text[i][0], cuts, text[i][1], i, why);
  }
  if (ok) printf("claim.S3-42 %" PRIu32 "\n", ways);
  return ok;
}

/* <Compare three ways to hold back> */
enum { RULES = 3, RULE_TALKS = 12, RULE_LONG = 100 };

/* by what may be claimed; by what is unsent; by the longest string: how much is
   released of this text, and over all texts how many bytes were held, and how often
   nothing was shown */
struct rules { struct desk *k; size_t longest, tokens, released[RULES],
  held[RULES], silent[RULES]; };
static bool note_rules(void *self, const struct step *now)
{
  struct rules *x = self;
  const struct outflow *flow = &x->k->flow;
  size_t n = flow->text.n, last = x->longest - 1;
  bool begun = flow->released < n;
  size_t after[RULES] = { flow->released, begun ? x->released[1] : n,
    n > last ? n - last : 0 };
  (void) now;
  x->tokens++;
  for (int i = 0; i < RULES; i++) {
    x->held[i] += n - after[i];
    x->silent[i] += after[i] == x->released[i];
    x->released[i] = after[i];
  }
  return true;
}

static bool print_rules(struct desk *k, struct error *why)
{
  static const char *const rule[RULES] = { "ours", "unsent", "fixed" };
  static const char *const second[2] = { "User:",
    "\nAssistant: Goodbye!" };
  for (int i = 0; i < 2; i++) {
    struct rules x = { .k = k, .longest = strlen(second[i]) };
    struct wish w = { .prompt = "User:", .stop = { "\n\n", second[i] },
      .most = RULE_LONG, .min_tokens = RULE_LONG, .temperature = 1 };
    k->look = note_rules, k->looking = &x;
    bool ok = true;
    for (w.seed = 0; ok && w.seed < RULE_TALKS; w.seed++) {
      memset(x.released, 0, sizeof x.released);
      ok = write_text(k, &w, why);
    }
    k->look = NULL, k->w = NULL;
    if (!ok) return false;
    /* <Print what each rule holds> */
    for (int j = 0; j < RULES; j++) {
      const char *list = i == 0 ? "short" : "long";
      printf("stop.rule.%s.%s %.3f\n", list, rule[j],
        (double) x.held[j] / (double) x.tokens);
      printf("stop.rule.%s.%s.silent %.3f\n", list, rule[j],
        (double) x.silent[j] / (double) x.tokens);
    }
    if (i == 0) printf("stop.rule.tokens %zu\n", x.tokens);
  }
  return true;
}

/* <Go on from where it was cancelled> */
static bool go_on(struct desk *k, double temperature, size_t *same,
  struct error *why)
{
  enum { WHOLE = 40, PART = 7 };
  struct wish w = { .prompt = "The dog", .most = WHOLE, .seed = 3,
    .temperature = temperature };
  uint32_t whole[WHOLE + 16], part[WHOLE + 16];
  if (!write_text(k, &w, why)) return false;
  size_t n = k->text.text.n, prompt = k->text.n_prompt;
  memcpy(whole, k->text.text.id, n * sizeof *whole);
  w.cancel = PART;
  if (!write_text(k, &w, why)) return false;
  memcpy(part, k->text.text.id, k->text.text.n * sizeof *part);
  w.cancel = 0, w.most = WHOLE - PART;
  if (!write_ids(k, &w, part, prompt + PART, why)) return false;
  for (size_t i = prompt + PART; i < n; i++)
    *same += k->text.text.id[i] == whole[i];
  return k->text.text.n == n
    || error_say(why, "the text has another length");
}

static bool print_resumed(struct desk *k, struct error *why)
{
  size_t greedy = 0, drawn = 0;
  if (!go_on(k, 0, &greedy, why) || !go_on(k, 1, &drawn, why)) return false;
  printf("stop.resumed %zu\n", greedy);
  printf("stop.resumed.drawn %zu\n", drawn);
  return true;
}

/* <Mask what must not come> */
static bool all_digits(struct desk *k, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(k->t, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] < '0' || byte[i] > '9') return false;
  return n > 0;
}

static bool draw_masked(struct desk *k, const float *logits,
  uint8_t *allowed, struct error *why)
{
  enum { DRAWS = 1000 };
  struct funnel *f = &k->d.f;
  size_t others = 0;
  double digits = 0;
  if (!funnel_fill(f, logits, why)) return false;
  for (uint32_t i = 0; i < f->vocab; i++) allowed[i] = all_digits(k, i);
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    digits += allowed[f->left[i]] != 0 ? f->w[i] : 0;
  f->allowed = allowed;
  bool ok = funnel_fill(f, logits, why);
  f->allowed = NULL;
  if (!ok) return false;
  for (uint64_t seed = 0; seed < DRAWS; seed++)
    others += !all_digits(k, funnel_choose(f, seed, 0, 0));
  printf("stop.mask.draws %d\n", DRAWS);
  printf("stop.mask.digits %.3f\n", 1e6 * digits);
  printf("claim.S2-104 %zu\n", others);
  return true;
}

static bool print_mask(struct desk *k, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct memory *m = &k->lab->m;
  size_t v = k->lab->pocket->config.vocab_size, last;
  float *logits = memory_take(m, FOR_OTHER, v, 4, why);
  uint8_t *allowed = memory_take(m, FOR_OTHER, v, 1, why);
  bool ok = logits != NULL && allowed != NULL && encode(k, OWL, &list, why);
  last = list.n - 1;
  store_empty(k->s);
  ok = ok && evaluate(&k->lab->e, k->lab->pocket, k->s, list.id, list.n,
    &last, 1, logits, why) && draw_masked(k, logits, allowed, why);
  ids_free(m, &list);
  memory_give(m, FOR_OTHER, allowed, v, 1);
  memory_give(m, FOR_OTHER, logits, v, 4);
  return ok;
}

/* <Count the walks> */
static size_t walks(const struct stops *s, const struct mapping *map)
{
  uint32_t state = 0;
  size_t n = 0;
  for (size_t i = 0; i < map->size; i++) {
    uint32_t next = stops_step(s, state, map->bytes[i]);
    uint32_t at = state, deep = s->node[next].depth;
    for (; at != 0 && s->node[at].depth + 1 != deep; n++)
      at = s->node[at].failure;
    state = next;
  }
  return n;
}

static bool print_walks(struct desk *k, struct error *why)
{
  enum { HARD = 64 };
  struct stop_string list[HARD] = { {(const unsigned char *) "\n\n", 2},
    {(const unsigned char *) "User:", 5} };
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  bool ok = true;
  for (size_t n = 2; ok && n <= HARD; n += HARD - 2) {
    struct stops s;
    for (size_t i = 0; n == HARD && i < n; i++)
      list[i] = (struct stop_string) { map.bytes + 97 * i, 6 };
    ok = stops_open(&s, &k->lab->m, list, n, why);
    if (!ok) break;
    double each = (double) walks(&s, &map) / (double) map.size;
    if (n == 2) printf("stop.walk.bytes %zu\n" "stop.walk.two %zu\n"
        "claim.S2-101 %.5f\n", map.size, walks(&s, &map), each);
    else printf("stop.walk.strings %zu\n" "stop.walk.hard %.4f\n", n,
        each);
    stops_close(&s);
  }
  file_unmap(&map);
  return ok;
}

/* <Take the time of the search> */
enum { TURNS = 41, SIZES = 4, TOKEN = 4, AHEAD = 512, AGAIN = 64 };
struct times { double step[SIZES][TURNS], scan[SIZES][TURNS]; };
static bool time_round(struct desk *k, const char *text, struct times *x,
  int turn, struct error *why)
{
  bool ok = true;
  outflow_close(&k->flow);
  k->flow = (struct outflow) { .m = &k->lab->m, .until = &k->until };
  for (size_t token = 0, i = 0; ok && i < SIZES; token++) {
    if (token == (size_t) AHEAD << 2 * i)
      /* <Time the search of the whole, and then so many tokens> */
      {
        if (!bytes_push(&k->lab->m, &k->flow.text, "", 1, why)) return false;
        const char *whole = (char *) k->flow.text.byte;
        bool none = true;
        double began = timing_seconds();
        for (size_t j = 0; j < AGAIN; j++)
          none = none && strstr(whole + j, "\n\n") == NULL
            && strstr(whole + j, "User:") == NULL;
        x->scan[i][turn] = 1e9 * (timing_seconds() - began) / AGAIN;
        if (!none) return error_say(why, "a stop string" " is in the tales");
        k->flow.text.n--;
        began = timing_seconds();
        for (size_t j = 0; ok && j < AHEAD; j++, token++)
          ok = outflow_bytes(&k->flow, (const unsigned char *) text
            + TOKEN * token, TOKEN, why);
        x->step[i++][turn] = 1e9 * (timing_seconds() - began) / AHEAD;
      }
    ok = ok && outflow_bytes(&k->flow,
      (const unsigned char *) text + TOKEN * token, TOKEN, why);
  }
  return ok;
}

static bool print_clock(struct desk *k, struct error *why)
{
  enum { ALL = TOKEN * ((AHEAD << 2 * (SIZES - 1)) + 2 * AHEAD) };
  static char text[ALL];
  static struct times x;
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  for (size_t i = 0; i < ALL; i++)
    text[i] = (char) map.bytes[i % map.size];
  file_unmap(&map);
  clear_desk(k);
  k->list[0] = (struct stop_string) { (const unsigned char *) "\n\n", 2 };
  k->list[1] = (struct stop_string) { (const unsigned char *) "User:", 5 };
  if (!stops_open(&k->until, &k->lab->m, k->list, 2, why)) return false;
  for (int turn = 0; turn < TURNS; turn++)
    if (!time_round(k, text, &x, turn, why)) return false;
  printf("tokens,low,median,high," "scanlow,scan,scanhigh\n");
  for (size_t i = 0; i < SIZES; i++) {
    struct quartiles a = timing_quartiles(x.step[i], TURNS);
    struct quartiles b = timing_quartiles(x.scan[i], TURNS);
    printf("%d,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n", AHEAD << 2 * i, a.low,
      a.median, a.high, b.low, b.median, b.high);
  }
  return true;
}

static bool read_lines(const char *path, double *row, size_t n, size_t want,
  struct error *why)
{
  FILE *f = fopen(path, "r");
  char line[512];
  size_t found = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL && found < want) {
    double x[6];
    int got = sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", x, x + 1, x + 2,
      x + 3, x + 4, x + 5);
    if (got >= 3) memcpy(row + n * found++, x, n * sizeof *x);
  }
  fclose(f);
  return found == want || error_say(why, "%s: %zu lines, %zu wanted", path,
    found, want);
}

static bool print_times(struct error *why)
{
  double x[SIZES][6], pass[7][3];
  if (!read_lines("figures/data/stopping.clock.csv", x[0], 6, SIZES, why)
      || !read_lines("figures/data/cache.clock.csv", pass[0], 3, 7, why))
    return false;
  printf("stop.clock.first %.1f\n", x[0][2]);
  printf("stop.clock.last %.1f\n", x[SIZES - 1][2]);
  printf("stop.clock.tokens %.0f\n", x[SIZES - 1][0]);
  printf("stop.clock.first.tokens %.0f\n", x[0][0]);
  printf("stop.clock.scan.first %.1f\n", x[0][5]);
  printf("stop.clock.scan.last %.3f\n", 1e-3 * x[SIZES - 1][5]);
  printf("stop.clock.scan.percent %.2f\n", 0.1 * x[SIZES - 1][5] / pass[6][2]);
  printf("stop.clock.percent %.3f\n", 0.1 * x[SIZES - 1][2] / pass[6][2]);
  printf("stop.clock.pass %.1f\n", pass[6][2]);
  printf("stop.clock.pass.tokens %.0f\n", pass[6][0]);
  return true;
}

/* <Ask once more with what follows> */
enum { CHOICES = 4, AFTER = 8, PLACES = 60, EVERY = 4, SOONEST = 12 };

/* the tokens of a tale; of each choice for a gap, its log-probability, that of the
   best pair it begins, and that of the gap and the AFTER tokens behind it; how often
   the likeliest was right alone, with what both sides say, and did not begin the
   likeliest pair; room for AFTER rows of the vocabulary */
struct gap { struct desk *k; struct ids tale; float *logits;
  double *logprob; uint32_t choice[CHOICES]; double alone[CHOICES],
  pair[CHOICES], together[CHOICES]; size_t left, both, other; };
static bool read_rows_of(struct gap *x, const uint32_t *id, size_t n,
  size_t last, struct error *why)
{
  struct laboratory *lab = x->k->lab;
  size_t which[AFTER], v = lab->pocket->config.vocab_size;
  for (size_t i = 0; i < last; i++) which[i] = n - last + i;
  store_empty(x->k->s);
  if (!evaluate(&lab->e, lab->pocket, x->k->s, id, n, which, last,
      x->logits, why)) return false;
  lab->e.k->log_softmax(&lab->e, x->logits, last, v, x->logprob);
  return true;
}

static bool ask_before(struct gap *x, size_t at, struct error *why)
{
  size_t v = x->k->lab->pocket->config.vocab_size;
  if (!read_rows_of(x, x->tale.id, at, 1, why)) return false;
  for (int c = 0; c < CHOICES; c++) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < v; i++)
      if (x->logprob[i] > x->logprob[best]) best = i;
    x->choice[c] = best, x->alone[c] = x->logprob[best];
    x->logprob[best] = -INFINITY;
  }
  return true;
}

static bool ask_behind(struct gap *x, size_t at, int c, struct error *why)
{
  size_t v = x->k->lab->pocket->config.vocab_size;
  uint32_t truth = x->tale.id[at];
  x->tale.id[at] = x->choice[c];
  bool ok = read_rows_of(x, x->tale.id, at + AFTER, AFTER, why);
  x->tale.id[at] = truth;
  if (!ok) return false;
  x->pair[c] = x->together[c] = x->alone[c];
  double next = -INFINITY;
  for (size_t i = 0; i < v; i++)
    next = x->logprob[i] > next ? x->logprob[i] : next;
  x->pair[c] += next;
  for (size_t i = 0; i < AFTER; i++)
    x->together[c] += x->logprob[i * v + x->tale.id[at + 1 + i]];
  return true;
}

static int best_of(const double *score)
{
  int best = 0;
  for (int c = 1; c < CHOICES; c++)
    if (score[c] > score[best]) best = c;
  return best;
}

static bool try_gaps(struct gap *x, struct error *why)
{
  for (size_t i = 0; i < PLACES; i++) {
    size_t at = SOONEST + EVERY * i;
    if (at + AFTER >= x->tale.n)
      return error_say(why, "the tale is too short");
    bool ok = ask_before(x, at, why);
    for (int c = 0; ok && c < CHOICES; c++) ok = ask_behind(x, at, c, why);
    if (!ok) return false;
    x->left += x->choice[0] == x->tale.id[at];
    x->both += x->choice[best_of(x->together)] == x->tale.id[at];
    x->other += best_of(x->pair) != 0;
  }
  return true;
}

static bool print_gaps(struct desk *k, struct error *why)
{
  struct gap x = { .k = k };
  struct memory *m = &k->lab->m;
  struct mapping map;
  size_t n = AFTER * (size_t) k->lab->pocket->config.vocab_size, end = 0;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  while (end < map.size && map.bytes[end] != '<') end++;
  bool ok = tokenizer_encode(k->t, m, (const char *) map.bytes, end, false,
    false, &x.tale, why);
  file_unmap(&map);
  x.logits = ok ? memory_take(m, FOR_OTHER, n, 4, why) : NULL;
  x.logprob = x.logits != NULL ? memory_take(m, FOR_OTHER, n, 8, why) : NULL;
  ok = x.logprob != NULL && try_gaps(&x, why);
  memory_give(m, FOR_OTHER, x.logprob, n, 8);
  memory_give(m, FOR_OTHER, x.logits, n, 4);
  ids_free(m, &x.tale);
  if (ok) printf("stop.gap.places %d\n" "stop.gap.after %d\n"
      "stop.gap.choices %d\n" "stop.gap.left %zu\n"
      "stop.gap.both %zu\n" "stop.pair.other %zu\n", PLACES, AFTER,
      CHOICES, x.left, x.both, x.other);
  return ok;
}

/* <Pad a prompt> */
enum { PADS = 4, PADDED = 60 };
static bool logits_of(struct desk *k, const uint32_t *id, size_t n,
  float *logits, struct error *why)
{
  size_t last = n - 1;
  store_empty(k->s);
  return evaluate(&k->lab->e, k->lab->pocket, k->s, id, n, &last, 1, logits,
    why);
}

static double farthest(const float *a, const float *b, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, fabs((double) a[i] - (double) b[i]));
  return most;
}

static bool compare_pads(struct desk *k, const struct ids *list,
  uint32_t pad, const char *name, float *logits, struct error *why)
{
  size_t n = list->n, v = k->lab->pocket->config.vocab_size, same = 0;
  uint32_t id[2 * PADS + 32], plain[PADDED];
  struct wish w = { .prompt = "", .most = PADDED };
  if (n > 32) return error_say(why, "the prompt is too long");
  for (size_t i = 0; i < n + 2 * PADS; i++)
    id[i] = i < PADS || i >= PADS + n ? pad : list->id[i - PADS];
  if (!logits_of(k, id + PADS, n, logits, why)
      || !logits_of(k, id, PADS + n, logits + v, why)
      || !logits_of(k, id + PADS, n + PADS, logits + 2 * v, why)
      || !write_ids(k, &w, id + PADS, n, why)) return false;
  memcpy(plain, k->text.text.id + n, sizeof plain);
  if (!write_ids(k, &w, id, PADS + n, why)) return false;
  while (same < PADDED && k->text.text.id[PADS + n + same] == plain[same])
    same++;
  /* <Print how far the padded prompt leads away> */
  printf("stop.pad.%s.left %.3f\n", name,
    farthest(logits, logits + v, v));
  printf("stop.pad.%s.right %.3f\n", name,
    farthest(logits, logits + 2 * v, v));
  printf("stop.pad.%s.same %zu\n", name, same);
  if (same < PADDED) printf("stop.pad.parts %zu\n" "claim.S2-99 %zu\n",
      same + 1, same + 1);
  return true;
}

static bool print_pads(struct desk *k, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  size_t n = 3 * (size_t) k->lab->pocket->config.vocab_size;
  float *logits = memory_take(&k->lab->m, FOR_OTHER, n, 4, why);
  uint32_t point = 0;
  bool ok = logits != NULL && encode(k, OWL, &list, why)
    && tokenizer_find(k->t, ".", 1, &point)
    && compare_pads(k, &list, k->lab->pocket->config.eos[0], "end", logits,
      why) && compare_pads(k, &list, point, "other", logits, why);
  ids_free(&k->lab->m, &list);
  memory_give(&k->lab->m, FOR_OTHER, logits, n, 4);
  return ok;
}

/* <Open and close a desk> */
static bool desk_open(struct desk *k, struct laboratory *lab,
  struct error *why)
{
  static const struct cache_wishes room = { .rows = 1024 };
  *k = (struct desk) { .lab = lab };
  k->t = tokenizer_open(&lab->m, "models/pocket", why);
  k->s = k->t == NULL ? NULL
    : cache_open(&lab->m, &lab->pocket->config, 1, &room, why);
  return k->s != NULL && funnel_open(&k->d.f, &lab->m, lab->e.k,
    lab->pocket->config.vocab_size, why);
}

static void desk_close(struct desk *k)
{
  clear_desk(k);
  if (k->d.f.m != NULL) funnel_close(&k->d.f);
  store_close(k->s);
  tokenizer_close(&k->lab->m, k->t);
}

/* <Print every number that the prose quotes> */
static bool tokens_of(struct desk *k, const char *name, size_t *n,
  struct error *why)
{
  for (int i = 0; i < N_WISHES; i++)
    if (strcmp(wishes[i].name, name) == 0) {
      bool ok = write_text(k, &wishes[i], why);
      *n = k->text.text.n - k->text.n_prompt;
      return ok;
    }
  return error_say(why, "there is no wish `%s'", name);
}

static bool print_ends(struct desk *k, struct error *why)
{
  size_t end, length, alone, both, circle, context;
  if (!tokens_of(k, "end token", &end, why)) return false;
  size_t reasons = strcmp(reason_of(k), "eos") == 0;
  if (!tokens_of(k, "length 20", &length, why)) return false;
  reasons += strcmp(reason_of(k), "length") == 0 && length == 20;
  if (!tokens_of(k, "two line ends", &alone, why)) return false;
  reasons += strcmp(reason_of(k), "string") == 0;
  if (!tokens_of(k, "these, or User:", &both, why)
      || !tokens_of(k, "2 tokens, three times", &circle, why)
      || !tokens_of(k, "context 24", &context, why)) return false;
  printf("claim.S1-50 %zu\n" "claim.S2-70 %zu\n" "claim.S2-72 %zu\n"
    "claim.S3-43 %zu\n", reasons, alone, both, circle);
  printf("stop.context.written %zu\n", context);
  printf("stop.context.prompt %zu\n", k->text.n_prompt);
  return true;
}

enum { NOTED = 64 };
struct at_once { struct desk *k; size_t tokens, whole, end[NOTED]; };
static bool note_whole(void *self, const struct step *now)
{
  struct at_once *x = self;
  const struct outflow *flow = &x->k->flow;
  (void) now;
  if (x->tokens == NOTED) return false;
  x->end[x->tokens++] = flow->text.n
    + (flow->found != NULL ? flow->found->n : 0);
  x->whole += flow->released == flow->text.n && flow->found == NULL;
  return true;
}

static bool print_items(struct desk *k, struct error *why)
{
  struct ids items = { NULL, 0, 0 };
  struct wish list = wishes[LISTED];
  struct at_once x = { .k = k };
  size_t lines = 0;
  list.script = &items;
  bool ok = encode(k, shopping, &items, why)
    && write_text(k, &list, why);
  for (size_t i = 0; i < k->flow.text.n; i++)
    lines += k->flow.text.byte[i] == '\n';
  ids_free(&k->lab->m, &items);
  k->look = note_whole, k->looking = &x;
  ok = ok && write_text(k, &wishes[LISTED - 1], why);
  k->look = NULL;
  if (!ok) return false;
  /* <Print how the tokens came to the reader> */
  size_t never = 0;
  for (size_t i = 0; i < x.tokens; i++) never += x.end[i] > k->flow.text.n;
  printf("claim.S2-71 %zu\n" "stop.shown.tokens %zu\n"
    "stop.shown.at.once %zu\n" "claim.S3-18 %zu\n", lines, x.tokens,
    x.whole, x.whole);
  printf("stop.shown.string %zu\n" "stop.shown.waited %zu\n", never,
    x.tokens - x.whole - never);
  return true;
}

static bool print_keys(struct desk *k, struct error *why)
{
  return print_ends(k, why) && print_items(k, why) && print_coin(k, why)
    && print_survey(k, why) && print_rules(k, why)
    && print_resumed(k, why) && print_walks(k, why) && print_times(why)
    && print_gaps(k, why) && print_pads(k, why) && print_mask(k, why)
    && print_cuts(k, why);
}

/* <Do what the command line says> */
static bool print_what(struct desk *k, const char *what, struct error *why)
{
  if (strcmp(what, "tree") == 0) return print_tree(&k->lab->m, why);
  if (strcmp(what, "hold") == 0) return print_hold(k, true, why);
  if (strcmp(what, "running") == 0) return print_running(k, why);
  if (strcmp(what, "clock") == 0) return print_clock(k, why);
  if (strcmp(what, "values") == 0) return print_keys(k, why);
  return show_ends(k, why) && print_hold(k, false, why);
}

/* <Run the whole program> */
int main(int argc, char **argv)
{
  struct laboratory lab;
  struct desk k;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why);
  if (ok) {
    ok = desk_open(&k, &lab, &why) && print_what(&k, what, &why);
    desk_close(&k);
  }
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
