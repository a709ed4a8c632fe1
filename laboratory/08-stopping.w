@i types.w
@s size_t int
@s step_watch int
@s sig_atomic_t int
@s lab_print int

\chapterquestion{When does a text end, what does a reader see of it, and what can no ending mend?}
@** Experiments on stopping and streaming. \label{lab:stopping}
\incipit{T}{he chapter} makes claims of three kinds. Some are about the machine that looks for stop strings: that it takes few steps, that it
does not care how a text is cut into tokens, that it holds less than others do. Some are about how the built-in model ends its texts, for which many are written and counted. And
some are about what an end cannot do: a text that went wrong early stays wrong. Most of the experiments let the model write until something ends it, so that comes first.

@ The program answers all keys, the data of three figures, and a clock.

@c
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "stopping/stopping.h"
#include "laboratory/kit2.h"
@;@#
@<Write a text until something ends it@>@;
@<Draw the tree of the calculation@>@;
@<Count how texts ended@>@;
@<Go on from where it was cancelled@>@;
@<Toss for the end@>@;
@<Let many talks end@>@;
@<Draw what is held@>@;
@<Cut two phrases in every way@>@;
@<Compare three ways to hold back@>@;
@<Count the walks@>@;
@<Take the time of the search@>@;
@<Ask once more with what follows@>@;
@<Pad a prompt@>@;
@<Mask what must not come@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_ends },@|
    { "values", print_items }, { "values", print_coin },@|
    { "values", print_survey }, { "values", print_rules },@|
    { "values", print_resumed }, { "values", print_walks },@|
    { "values", print_times }, { "values", print_gaps },@|
    { "values", print_pads }, { "values", print_mask },@|
    { "values", print_cuts }, { "tree", draw_tree }, { "hold", draw_hold },@|
    { "running", draw_running }, { "clock", print_clock }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* A session of decoding. \label{lab:desk}
A \emph{wish} says what is to be written and how it may end; a member that is zero asks for nothing. A script is recited instead of the model's own text, since there are things that the model would never write. Everything else is then as
always: the passes, the cache, the criteria and the watcher. On the \emph{desk} lies what has become of the newest text, until the next is written, so that it can be looked at.

@<Write a text until something ends it@>=
struct wish { const char *prompt, *stop[2], *script; size_t most, min_tokens,
  triple, cancel; uint32_t context; bool eos; double temperature;
  uint64_t seed; };
  /* up to |most| tokens after |prompt|; two stop strings or fewer; the same |triple| tokens
     three times; a smaller context; an end after token number |cancel| */
struct desk { struct fixture *lab; const struct wish *w; struct ids script;
  struct continuation text; struct stop_string list[2]; struct stops until;
  struct text_stream flow; const char *reason; size_t steps;
  step_watch *look; void *looking; };
  /* |reason| is null if a criterion was not the reason; |look|, if it is not null, is called
     after each token */

@ Nobody may take a text that a person has cut short for a whole one. If Ctrl-C is pressed while the model writes, there is an error, and the program prints no number. At any other time Ctrl-C ends the program, as it does everywhere. The test of the chapter presses it.

@<Write a text until something ends it@>=
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}
static bool watch_desk(void *ctx, const struct step *now)
{
  struct desk *k = ctx;
  if (k->look != NULL && !k->look(k->looking, now)) return false;
  return ++k->steps != k->w->cancel && interrupted == 0;
}
static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct desk *k = ctx;
  (void) logits, (void) why;
  *chosen = k->script.id[text->text.n - text->n_prompt];
  return true;
}

@ A wish becomes a list of criteria and the loop's settings. A criterion that is not wished for stays in the list and says no: without stop strings, or with a count of 0, there is nothing that it could say yes to. A script ends with its last token.

@<Write a text until something ends it@>=
static bool write_wish(struct desk *k, const uint32_t *prompt, size_t n,
  struct error *why)
{
  const struct wish *w = k->w;
  struct model_config *config = &k->lab->model->config;
  struct sampler *dice = &k->lab->dice;
  size_t triple = w->triple;
  struct criterion list[] = @[{ {"string", text_stream_should_stop, &k->flow},@|
    {"repetition", repetition_should_stop, &triple} }@];
  struct criteria judges = @[{ list, 2, NULL }@];
  struct generate_options want = @[{ .recall = store_match_prefix,@|
    .max_new_tokens = k->script.n > 0 ? k->script.n : w->most,@|
    .eos = config->eos, .n_eos = w->eos ? config->n_eos : 0,@|
    .min_tokens = w->min_tokens, .on_step = watch_desk, .ctx = k,@|
    .select = k->script.n > 0 ? recite : sampler_choose,@|
    .select_ctx = k->script.n > 0 ? (void *) k : dice,@|
    .stop = criteria_should_stop, .stop_ctx = &judges }@];
  uint32_t context = config->n_positions;
  if (w->context > 0) config->n_positions = w->context;
  dice->s.temperature = w->temperature, dice->seed = w->seed;
  k->steps = 0, interrupted = 0;
  void (*usual)(int) = signal(SIGINT, note_signal);
  bool ok = text_stream_prompt(&k->flow, prompt, n, why)
    && generate(&k->lab->b.g, prompt, n, &want, &k->text, why);
  signal(SIGINT, usual);
  config->n_positions = context;
  text_stream_end(&k->flow);
  k->reason = ok ? criteria_reason(&judges, k->text.ended) : NULL;
  return ok
    && (interrupted == 0 || error_say(why, "the text was interrupted"));
}

@ Before that the stop strings are built, and whatever lay on the desk is cleared away.

@<Write a text until something ends it@>=
static void clear_desk(struct desk *k)
{
  continuation_free(&k->lab->m, &k->text);
  text_stream_close(&k->flow);
  stops_close(&k->until);
  ids_free(&k->lab->m, &k->script);
}
static bool set_desk(struct desk *k, const char *const stop[2],
  size_t min_tokens, struct error *why)
{
  size_t n = 0;
  clear_desk(k);
  for (; n < 2 && stop[n] != NULL; n++)
    k->list[n] = (struct stop_string) @[{ (const unsigned char *) stop[n],@|
      strlen(stop[n]) }@];
  k->flow = (struct text_stream) @[{ .m = &k->lab->m, .t = k->lab->t,@|
    .until = &k->until, .min_tokens = min_tokens }@];
  return stops_open(&k->until, &k->lab->m, k->list, n, why);
}
static bool write_ids(struct desk *k, const struct wish *w,
  const uint32_t *prompt, size_t n, struct error *why)
{
  k->w = w;
  return set_desk(k, w->stop, w->min_tokens, why)@|
    && (w->script == NULL || lab_encode(k->lab, w->script, &k->script, why))@|
    && write_wish(k, prompt, n, why);
}
static bool write_text(struct desk *k, const struct wish *w,
  struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  bool ok = lab_encode(k->lab, w->prompt, &list, why)
    && write_ids(k, w, list.id, list.n, why);
  ids_free(&k->lab->m, &list);
  return ok;
}

@* The automaton of the stop strings. \label{lab:stoptree}
Walking down each string of the calculation from the root passes all nodes, and those that have a higher number than any before are new.

@<Draw the tree of the calculation@>=
static bool draw_tree(struct fixture *lab, struct error *why)
{
  static const struct stop_string list[2] = @[{@|
    { (const unsigned char *) "anno", 4 },@|
    { (const unsigned char *) "nah", 3 } }@];
  struct stops s;
  uint32_t last = 0;
  if (!stops_open(&s, &lab->m, list, 2, why)) return false;
  printf("id,parent,failure,"@| "hold,whole,text\n");
  for (size_t i = 0; i < 2; i++)
    for (uint32_t at = 0, up = 0, j = 0; j < list[i].n; up = at) {
      at = stops_step(&s, at, list[i].byte[j++]);
      if (at <= last) continue;
      last = at;
      const struct stops_node *x = &s.node[at];
      printf("%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", at, up, x->failure);
      printf("%" PRIu32 ",%d,%.*s\n", x->hold, x->depth == list[i].n,@|
        (int) j, list[i].byte);
    }
  stops_close(&s);
  return true;
}

@* Why texts ended. \label{lab:ends}
Six of the texts in the chapter's box are written again, to be counted. A reason counts if it is the one that the wish was made for.

@<Count how texts ended@>=
#define OWL "User: Where does the owl live?\nAssistant:"
#define SUN "The cat sat in the sun. The clock said"
static bool print_ends(struct fixture *lab, struct error *why)
{
  static const struct wish wish[] = @[{@|
    {"The dog", .most = 400, .eos = true},@|
    {"The dog", .most = 20, .eos = true},@|
    {OWL, {"\n\n"}, .most = 400, .eos = true},@|
    {OWL, {"\n\n", "User:"}, .most = 400, .eos = true},@|
    {SUN, .most = 400, .triple = 2},@|
    {"The dog", .most = 400, .eos = true, .context = 24} }@];
  static const char *const reason[] = @[{ "eos", NULL, "string" }@];
  struct desk k = @[{ .lab = lab }@];
  size_t n[6], reasons = 0;
  for (int i = 0; i < 6; i++) {
    if (!write_text(&k, &wish[i], why)) return false;
    n[i] = k.steps;
    if (i < 3) reasons += reason[i] == NULL
      ? k.reason == NULL && k.text.ended == FINISH_LENGTH && n[i] == 20
      : k.reason != NULL && strcmp(k.reason, reason[i]) == 0;
  }
  print_key("claim.S1-50", "%zu", reasons);
  print_key("claim.S2-70", "%zu", n[2]);
  print_key("claim.S2-72", "%zu", n[3]);
  print_key("claim.S3-43", "%zu", n[4]);
  print_key("stop.context.written", "%zu", n[5]);
  print_key("stop.context.prompt", "%zu", k.text.n_prompt);
  clear_desk(&k);
  return true;
}

@ The items of a list are counted where it was recited; and of the owl's talk, the tokens that were shown whole, with nothing waiting after them. Of the others some waited, and some were never shown, because they ended after the place where the text was cut: so of each token it is noted where it ended. The three numbers add up to that of the tokens, since a token cannot be two of these things.

@<Count how texts ended@>=
enum { NOTED = 64 };
struct at_once { struct desk *k; size_t tokens, whole, end[NOTED]; };
static bool note_whole(void *ctx, const struct step *now)
{
  struct at_once *x = ctx;
  const struct text_stream *flow = &x->k->flow;
  (void) now;
  if (x->tokens == NOTED) return false;
  x->end[x->tokens++] = flow->text.n
    + (flow->found != NULL ? flow->found->n : 0);
  x->whole += flow->released == flow->text.n && flow->found == NULL;
  return true;
}
static bool print_items(struct fixture *lab, struct error *why)
{
  static const struct wish list = @[{ .prompt = "A list:\n", .stop = {"4."},@|
    .script = "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums" }@];
  static const struct wish owl = @[{ OWL, {"\n\n", "User:"}, .most = 400,@|
    .eos = true }@];
  struct desk k = @[{ .lab = lab }@];
  struct at_once x = @[{ .k = &k }@];
  size_t lines = 0, never = 0;
  if (!write_text(&k, &list, why)) return false;
  for (size_t i = 0; i < k.flow.text.n; i++)
    lines += k.flow.text.byte[i] == '\n';
  k.look = note_whole, k.looking = &x;
  if (!write_text(&k, &owl, why)) return false;
  for (size_t i = 0; i < x.tokens; i++) never += x.end[i] > k.flow.text.n;
  print_key("claim.S2-71", "%zu", lines);
  print_key("stop.shown.tokens", "%zu", x.tokens);
  print_key("stop.shown.at.once claim.S3-18", "%zu", x.whole);
  print_key("stop.shown.string", "%zu", never);
  print_key("stop.shown.waited", "%zu", x.tokens - x.whole - never);
  clear_desk(&k);
  return true;
}

@ Going on from a cancelled text is to generate with the text as the prompt: once greedily, and once with sampling. The seed is the same, and the positions are.

@<Go on from where it was cancelled@>=
static bool go_on(struct desk *k, double temperature, const char *key,
  struct error *why)
{
  enum { WHOLE = 40, PART = 7, ROOM = WHOLE + 16 };
  struct wish w = @[{ .prompt = "The dog", .most = WHOLE, .seed = 3,@|
    .temperature = temperature }@];
  uint32_t whole[ROOM], part[ROOM];
  size_t same = 0;
  if (!write_text(k, &w, why)) return false;
  size_t n = k->text.text.n, cut = k->text.n_prompt + PART;
  memcpy(whole, k->text.text.id, n * sizeof *whole);
  w.cancel = PART;
  if (!write_text(k, &w, why)) return false;
  memcpy(part, k->text.text.id, cut * sizeof *part);
  w.cancel = 0, w.most = WHOLE - PART;
  if (!write_ids(k, &w, part, cut, why)) return false;
  if (k->text.text.n != n)
    return error_say(why, "the text has another length");
  for (size_t i = cut; i < n; i++) same += k->text.text.id[i] == whole[i];
  print_key(key, "%zu", same);
  return true;
}
static bool print_resumed(struct fixture *lab, struct error *why)
{
  struct desk k = @[{ .lab = lab }@];
  bool ok = go_on(&k, 0, "stop.resumed", why)
    && go_on(&k, 1, "stop.resumed.drawn", why);
  clear_desk(&k);
  return ok;
}

@* End tokens of stories and conversations. \label{lab:endtoken}
A coin is a model with two tokens, the first of which is the end, and the sampler draws from it. A probability of $\frac9{10}$ is tossed for once in each of many texts; $\frac1{100}$ until it ends, or for 500 tokens.

@<Toss for the end@>=
static bool coin_open(struct fixture *lab, double e, struct funnel *f,
  struct error *why)
{
  float logits[2] = @[{ (float) num_log(e), (float) num_log(1 - e) }@];
  return funnel_open(f, &lab->m, lab->e.k, 2, why)
    && funnel_fill(f, logits, why);
}
static size_t toss(struct funnel *f, uint64_t number, size_t max)
{
  size_t n = 0;
  while (n < max && funnel_choose(f, number, 0, (uint32_t) n) != 0) n++;
  return n;
}
static bool print_coin(struct fixture *lab, struct error *why)
{
  enum { TRIALS = 100000, COINS = 20000 };
  struct funnel likely, rare;
  size_t on = 0, left = 0;
  if (!coin_open(lab, 0.9, &likely, why) || !coin_open(lab, 0.01, &rare, why))
    return false;
  for (uint64_t i = 0; i < TRIALS; i++) on += toss(&likely, i, 1);
  for (uint64_t i = 0; i < COINS; i++) left += toss(&rare, i, 500) == 500;
  funnel_close(&likely);
  funnel_close(&rare);
  print_key("stop.coin.trials", "%d", TRIALS);
  print_key("claim.S3-39", "%.4f", (double) on / TRIALS);
  print_key("stop.coin.texts", "%d", COINS);
  print_key("stop.coin.left", "%zu", left);
  print_key("stop.coin.left.expected", "%.1f", COINS * num_pow(0.99, 500));
  print_key("claim.S2-68", "%.5f", num_pow(0.99, 500));
  return true;
}

@ The talks are written with an end token as the only end, but for a length that none of them reaches. A watcher notes what the model thought of the end, where it was chosen and where it was not, and whether a token was drawn that the model gave less than one in $10^2$; that is wanted in \cref{sec:limits}.

@<Let many talks end@>=
enum { TALKS = 48, LONGEST = 400, CAP = 64 };
struct survey { struct desk k; double *logprob; size_t length[TALKS],
  written, rare, inside, cut, cut_inside, clean; bool slipped;
  double most, mean, chosen; };
  /* of each talk its |length|; tokens |written|, and |rare| ones among them; the end's probability
     where it was not chosen (|inside| places) and where it was; talks that are |cut| after |CAP|
     tokens, and within a sentence; talks without a rare token up to there */
static bool note_end(void *ctx, const struct step *now)
{
  struct survey *x = ctx;
  struct fixture *lab = x->k.lab;
  uint32_t eos = lab->model->config.eos[0];
  lab->e.k->log_softmax(&lab->e, now->logits, 1,
    lab->model->config.vocab_size, x->logprob);
  double p = num_exp(x->logprob[eos]);
  bool slip = num_exp(x->logprob[now->chosen]) < 0.01;
  x->written++, x->rare += slip;
  x->slipped = x->slipped || slip;
  if (now->chosen == eos) x->chosen += p;
  else {
    x->inside++, x->mean += p;
    if (p > x->most) x->most = p;
  }
  if (x->k.steps + 1 == CAP && now->chosen != eos)
    @<See whether a length would cut here@>@;
  return true;
}

@ A length cuts if the text would have gone on, that is, if the token was not the end. It cuts within a sentence if the last byte is neither a line end nor one of the signs that end a sentence; where it is a quotation mark, the one before it decides, since \emph{ball,"} is not the end of anything.

@<See whether a length would cut here@>=
{
  const unsigned char *byte = x->k.flow.text.byte;
  size_t n = x->k.flow.text.n;
  if (n > 0 && byte[n - 1] == '"') n--;
  x->cut++, x->clean += !x->slipped;
  x->cut_inside += n > 0 && memchr(".!?\n", byte[n - 1], 4) == NULL;
}

@ All of them begin with the word that begins a talk.

@<Let many talks end@>=
static bool hold_survey(struct fixture *lab, struct survey *x,
  struct error *why)
{
  struct wish w = @[{ .prompt = "User:", .most = LONGEST, .eos = true,@|
    .temperature = 1 }@];
  *x = (struct survey) @[{ .k = @[{ .lab = lab, .look = note_end,@|
    .looking = x }@] }@];
  x->logprob = lab_take(lab, lab->model->config.vocab_size, 8, why);
  if (x->logprob == NULL) return false;
  for (; w.seed < TALKS; w.seed++) {
    x->slipped = false;
    if (!write_text(&x->k, &w, why)) return false;
    x->length[w.seed] = x->k.steps;
  }
  clear_desk(&x->k);
  return true;
}

@ For the figure: of the talks and of as many tossed texts as make the points quiet, the share that is still running. A text that ends after $n$ tokens was running after each smaller number of them. (The points of one coin hang together, since it is the same texts that are counted at each; where few are left, they stray together.) Each coin has two columns, what was tossed and what was to be expected.

@<Let many talks end@>=
static bool draw_running(struct fixture *lab, struct error *why)
{
  enum { COINS = 40000, FAR = 300, CURVES = 4 };
  static const double e[CURVES] = @[{ 0.1, 0.03, 0.01, 0.003 }@];
  static size_t running[CURVES + 1][FAR + 1];
  struct survey x;
  if (!hold_survey(lab, &x, why)) return false;
  for (int c = 0; c < CURVES; c++) {
    struct funnel f;
    if (!coin_open(lab, e[c], &f, why)) return false;
    for (uint64_t i = 0; i < COINS; i++)
      for (size_t n = toss(&f, i, FAR), j = 0; j <= n; j++) running[c][j]++;
    funnel_close(&f);
  }
  for (size_t i = 0; i < TALKS; i++)
    for (size_t j = 0; j < x.length[i] && j <= FAR; j++) running[CURVES][j]++;
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

@ The prose has the extremes. The probability of the end where it did not come is a mean of small numbers, and is given in millionths. How many talks should have no rare token is \eqref{eq:running}, with the rate of such tokens for $e$.

@<Let many talks end@>=
static bool print_survey(struct fixture *lab, struct error *why)
{
  struct survey x;
  if (!hold_survey(lab, &x, why)) return false;
  size_t min = LONGEST, max = 0;
  for (size_t i = 0; i < TALKS; i++) {
    min = x.length[i] < min ? x.length[i] : min;
    max = x.length[i] > max ? x.length[i] : max;
  }
  double r = (double) x.rare / (double) x.written;
  print_key("stop.talks", "%d", TALKS);
  print_key("stop.talks.shortest", "%zu", min);
  print_key("stop.talks.longest", "%zu", max);
  print_key("stop.eos.places", "%zu", x.inside);
  print_key("stop.eos.most", "%.4f", x.most);
  print_key("stop.eos.mean", "%.3f", 1e6 * x.mean / (double) x.inside);
  print_key("stop.eos.chosen", "%.4f", x.chosen / TALKS);
  print_key("stop.cap", "%d", CAP);
  print_key("stop.cut", "%zu", x.cut);
  print_key("stop.cut.inside claim.S3-41", "%zu", x.cut_inside);
  print_key("stop.rare", "%zu", x.rare);
  print_key("stop.written", "%zu", x.written);
  print_key("stop.rare.rate", "%.4f", r);
  print_key("stop.clean", "%zu", x.clean);
  print_key("stop.clean.expected", "%.1f",@|
    (double) x.cut * num_pow(1 - r, CAP));
  return true;
}

@* Held bytes. \label{lab:shown}
The text of \cref{fig:hold} is recited. The figure wants to know where things begin and end, and why a byte is held: because a stop string may have begun, or because half a character has come.

@<Draw what is held@>=
struct shown { struct desk *k; size_t before, tokens; };
static bool note_token(void *ctx, const struct step *now)
{
  struct shown *x = ctx;
  const struct text_stream *flow = &x->k->flow;
  size_t n, held = flow->text.n - flow->released;
  size_t half = utf8_held(flow->text.byte, flow->text.n);
  size_t all = flow->text.n + (flow->found != NULL ? flow->found->n : 0);
  const unsigned char *byte = tokenizer_text(x->k->lab->t, now->chosen, &n);
  printf("%zu,%zu,%zu,%zu,%zu,", ++x->tokens, x->before, flow->released, all,
    held > half ? 0 : half);
  for (size_t i = 0; i < n; i++)
    if (byte[i] == '\n') printf("\\n");
    else printf(byte[i] < 0x80 ? "%c" : "\\x%02X", byte[i]);
  printf("\n");
  x->before = flow->released;
  return true;
}
static bool draw_hold(struct fixture *lab, struct error *why)
{
  static const struct wish w = @[{ .prompt = "A list:\n",@|
    .stop = {"\n\n", "User:"}, .script = "A caf\xc3\xa9.\n"@|
    "Useful: 5 "@| "\xe2\x82\xac.\n\nUser:" }@];
  struct desk k = @[{ .lab = lab, .look = note_token }@];
  struct shown x = @[{ .k = &k }@];
  k.looking = &x;
  printf("token,before,released,length,half,piece\n");
  bool ok = write_text(&k, &w, why);
  clear_desk(&k);
  return ok;
}

@ Does it matter how a text is cut into tokens? Two short texts are cut in every way: the bits of a number say after which bytes. The first ends at the first string of the list, and the second at the second. Whatever is shown on the way must be a beginning of what is left at the end. If one of the ways gave something else, no number would be printed at all.

@<Cut two phrases in every way@>=
static const char *const two[2] = @[{ "\n\n", "User:" }@];
static bool same_for_cut(struct desk *k, const char *text, uint32_t cuts,
  const char *left, int which, struct error *why)
{
  size_t n = strlen(text), max = strlen(left);
  bool ok = true;
  text_stream_close(&k->flow);
  k->flow = (struct text_stream) @[{ .m = &k->lab->m, .until = &k->until }@];
  for (size_t at = 0, to; ok && at < n && k->flow.found == NULL; at = to) {
    for (to = at + 1; to < n && (cuts >> (to - 1) & 1) == 0; ) to++;
    ok = text_stream_bytes(&k->flow, (const unsigned char *) text + at, to - at,
      why) && ((k->flow.released <= max
        && memcmp(k->flow.text.byte, left, k->flow.released) == 0)
        || error_say(why, "cut %" PRIu32 " shows too much", cuts));
  }
  return ok && ((k->flow.found == &k->list[which]
    && k->flow.text.n == max && k->flow.released == max)
    || error_say(why, "cut %" PRIu32 " ends elsewhere", cuts));
}
static bool print_cuts(struct fixture *lab, struct error *why)
{
  static const char *const text[2][2] = @[{ {"one.\nTwo.\n\nUser:",@|
    "one.\nTwo."}, {"\xe2\x82\xac 5.\nUse User: no", "\xe2\x82\xac 5.\nUse "}@|
    }@];
  struct desk k = @[{ .lab = lab }@];
  uint32_t ways = 0;
  bool ok = set_desk(&k, two, 0, why);
  for (int i = 0; i < 2; i++) {
    uint32_t all = (uint32_t) 1 << (strlen(text[i][0]) - 1);
    for (uint32_t cuts = 0; ok && cuts < all; cuts++, ways++)
      ok = same_for_cut(&k, text[i][0], cuts, text[i][1], i, why);
  }
  clear_desk(&k);
  if (ok) print_key("claim.S3-42", "%" PRIu32, ways);
  return ok;
}

@ For \cref{tab:held} the strings must not end the texts. So all tokens are protected by |min_tokens|; what is held is the same. No end token is obeyed either, and a text that has come to its end begins another one. The end token itself has no bytes, so it counts as silent under every rule. The three rules hold what may be claimed, what is unsent, and as many bytes as the longest string has, less one.

@<Compare three ways to hold back@>=
enum { RULES = 3, RULE_TALKS = 12, RULE_LONG = 100 };
struct rules { struct desk *k; size_t longest, tokens, released[RULES],
  held[RULES], silent[RULES]; };
  /* how much is |released| of this text; over all texts, how many bytes were |held|, and how
     often nothing was shown */
static bool note_rules(void *ctx, const struct step *now)
{
  struct rules *x = ctx;
  const struct text_stream *flow = &x->k->flow;
  size_t n = flow->text.n, last = x->longest - 1;
  size_t after[RULES] = @[{ flow->released, flow->released < n@|
    ? x->released[1] : n, n > last ? n - last : 0 }@];
  (void) now;
  x->tokens++;
  for (int i = 0; i < RULES; i++) {
    x->held[i] += n - after[i];
    x->silent[i] += after[i] == x->released[i];
    x->released[i] = after[i];
  }
  return true;
}

@ Both lists see the same talks: no string ends any of them, and the draws depend on the seed and the position.

@<Compare three ways to hold back@>=
static bool print_rules(struct fixture *lab, struct error *why)
{
  static const char *const rule[RULES] = @[{ "ours", "unsent", "fixed" }@];
  static const char *const second[2] = @[{ "User:",
    "\nAssistant: Goodbye!" }@], *const list[2] = @[{ "short", "long" }@];
  for (int i = 0; i < 2; i++) {
    struct desk k = @[{ .lab = lab, .look = note_rules }@];
    struct rules x = @[{ .k = &k, .longest = strlen(second[i]) }@];
    struct wish w = @[{ .prompt = "User:", .stop = { "\n\n", second[i] },@|
      .most = RULE_LONG, .min_tokens = RULE_LONG, .temperature = 1 }@];
    for (k.looking = &x; w.seed < RULE_TALKS; w.seed++) {
      memset(x.released, 0, sizeof x.released);
      if (!write_text(&k, &w, why)) return false;
    }
    clear_desk(&k);
    for (int j = 0; j < RULES; j++)
      printf("stop.rule.%s.%s %.3f\nstop.rule.%s.%s.silent %.3f\n", list[i],
        rule[j], (double) x.held[j] / (double) x.tokens, list[i], rule[j],@|
        (double) x.silent[j] / (double) x.tokens);
    if (i == 0) print_key("stop.rule.tokens", "%zu", x.tokens);
  }
  return true;
}

@* Cost. \label{lab:stopcost}
A walk is counted from outside: where the step came to a state that is not one byte deeper than the old one, the failures are followed until one is that fits. Two lists are tried on the tales: the two short strings, and a list that was made to be hard, six bytes from every so many
places, so that each string is begun over and over and hardly ever completed.

@<Count the walks@>=
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
static bool print_walks(struct fixture *lab, struct error *why)
{
  enum { HARD = 64 };
  struct stop_string list[HARD];
  struct desk k = @[{ .lab = lab }@];
  struct stops s = @[{ .m = &lab->m }@];
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  for (size_t i = 0; i < HARD; i++)
    list[i] = (struct stop_string) @[{ map.bytes + 97 * i, 6 }@];
  bool ok = set_desk(&k, two, 0, why) && stops_open(&s, &lab->m, list, HARD, why);
  if (ok) {
    size_t few = walks(&k.until, &map);
    print_key("stop.walk.bytes", "%zu", map.size);
    print_key("stop.walk.two", "%zu", few);
    print_key("claim.S2-101", "%.5f", (double) few / (double) map.size);
    print_key("stop.walk.strings", "%d", HARD);
    print_key("stop.walk.hard", "%.4f",@|
      (double) walks(&s, &map) / (double) map.size);
  }
  stops_close(&s);
  clear_desk(&k);
  file_unmap(&map);
  return ok;
}

@ The times are those of a token of four bytes, at four lengths of the text. The text is the tales, over and over; neither string is in them.

One token alone is too short for the clock, and so is a search. So $2^6$ searches are timed, each beginning a byte later than the one before, for fear that a compiler finds out that they are all the same; and then, from the same length on, the next $2^9$ tokens, divided.

@<Take the time of the search@>=
enum { TURNS = 41, SIZES = 4, TOKEN = 4, AHEAD = 512, AGAIN = 64 };
struct times { double step[SIZES][TURNS], scan[SIZES][TURNS]; };
static bool push_tokens(struct desk *k, const unsigned char *text, size_t from,
  size_t to, struct error *why)
{
  for (; from < to; from++)
    if (!text_stream_bytes(&k->flow, text + TOKEN * from, TOKEN, why)) return false;
  return true;
}
static bool time_at(struct desk *k, const unsigned char *text, size_t token,
  double *scan, double *step, struct error *why)
{
  if (!bytes_push(&k->lab->m, &k->flow.text, "", 1, why)) return false;
  const char *whole = (char *) k->flow.text.byte;
  bool none = true;
  double began = timing_seconds();
  for (size_t j = 0; j < AGAIN; j++)
    none = none && strstr(whole + j, "\n\n") == NULL
      && strstr(whole + j, "User:") == NULL;
  *scan = 1e9 * (timing_seconds() - began) / AGAIN;
  if (!none) return error_say(why, "a stop string" " is in the tales");
  k->flow.text.n--;
  began = timing_seconds();
  bool ok = push_tokens(k, text, token, token + AHEAD, why);
  *step = 1e9 * (timing_seconds() - began) / AHEAD;
  return ok;
}

@ The text stream is begun anew for each turn and grows from one length to the next. A table of medians and quartiles is printed when the word |"clock"| is given, and never by the build.

@<Take the time of the search@>=
static bool print_clock(struct fixture *lab, struct error *why)
{
  enum { ALL = TOKEN * ((AHEAD << 2 * (SIZES - 1)) + 2 * AHEAD) };
  static unsigned char text[ALL];
  static struct times x;
  struct desk k = @[{ .lab = lab }@];
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  for (size_t i = 0; i < ALL; i++) text[i] = map.bytes[i % map.size];
  file_unmap(&map);
  for (int turn = 0; turn < TURNS; turn++) {
    if (!set_desk(&k, two, 0, why)) return false;
    for (size_t i = 0, at = 0; i < SIZES; i++, at += AHEAD) {
      size_t token = (size_t) AHEAD << 2 * i;
      if (!push_tokens(&k, text, at, token, why)
          || !time_at(&k, text, at = token, &x.scan[i][turn],
            &x.step[i][turn], why)) return false;
    }
  }
  printf("tokens,low,median,high," "scanlow,scan,scanhigh\n");
  for (size_t i = 0; i < SIZES; i++) {
    printf("%d", AHEAD << 2 * i);
    print_quartiles(x.step[i], TURNS, 1, 1);
    print_quartiles(x.scan[i], TURNS, 1, 1);
    printf("\n");
  }
  clear_desk(&k);
  return true;
}

@ The keys are read from the file that was written then; and the time of a pass from the seventh line of the file of \cref{cache}.

@<Take the time of the search@>=
struct table { double row[7][6]; size_t n, cap; };
static bool take_row(void *ctx, const char *line)
{
  struct table *t = ctx;
  double *x = t->row[t->n];
  bool numbers = t->n < t->cap && sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf",@|
    x, x + 1, x + 2, x + 3, x + 4, x + 5) >= 3;
  t->n += numbers;
  return numbers;
}
static bool print_times(struct fixture *lab, struct error *why)
{
  struct table clock = @[{ .cap = SIZES }@], cache = @[{ .cap = 7 }@];
  (void) lab;
  if (!data_read("stopping.clock", take_row, &clock, SIZES, why)
      || !data_read("cache.clock", take_row, &cache, 7, why)) return false;
  const double *first = clock.row[0], *last = clock.row[SIZES - 1];
  const double *pass = cache.row[6];
  print_key("stop.clock.first", "%.1f", first[2]);
  print_key("stop.clock.last", "%.1f", last[2]);
  print_key("stop.clock.tokens", "%.0f", last[0]);
  print_key("stop.clock.first.tokens", "%.0f", first[0]);
  print_key("stop.clock.scan.first", "%.1f", first[5]);
  print_key("stop.clock.scan.last", "%.3f", 1e-3 * last[5]);
  print_key("stop.clock.scan.percent", "%.2f", 0.1 * last[5] / pass[2]);
  print_key("stop.clock.percent", "%.3f", 0.1 * last[2] / pass[2]);
  print_key("stop.clock.pass", "%.1f", pass[2]);
  print_key("stop.clock.pass.tokens", "%.0f", pass[0]);
  return true;
}

@* A token chosen by what follows it. \label{lab:limits}
At a place of the tale the model is asked for the likeliest tokens; then each of these is put there, the true tokens after it, and the pass is asked for the log-probability of everything from the gap on. Of each choice we keep three sums: its own log-probability, that of the best pair that it begins, and that
of the gap and the tokens after it.

@<Ask once more with what follows@>=
enum { CHOICES = 4, AFTER = 8, PLACES = 60, EVERY = 4, SOONEST = 12 };
struct gap { struct fixture *lab; struct ids tale; float *logits;
  double *logprob; uint32_t choice[CHOICES]; double alone[CHOICES],
  pair[CHOICES], together[CHOICES]; };
static bool read_last(struct gap *x, size_t n, size_t last, struct error *why)
{
  struct engine *e = &x->lab->e;
  if (!lab_logits(x->lab, x->lab->b.s, x->tale.id, n, last, x->logits, why))
    return false;
  e->k->log_softmax(e, x->logits, last, x->lab->model->config.vocab_size,
    x->logprob);
  return true;
}
static uint32_t best_of(const double *score, size_t n)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < n; i++) if (score[i] > score[best]) best = i;
  return best;
}

@ The likeliest come first. There are four; so the list is searched four times. After the token in the gap stand the true ones; the last of them need not be read.

@<Ask once more with what follows@>=
static bool ask(struct gap *x, size_t at, struct error *why)
{
  size_t v = x->lab->model->config.vocab_size;
  uint32_t truth = x->tale.id[at];
  if (!read_last(x, at, 1, why)) return false;
  for (int c = 0; c < CHOICES; c++) {
    uint32_t best = x->choice[c] = best_of(x->logprob, v);
    x->alone[c] = x->logprob[best], x->logprob[best] = -INFINITY;
  }
  bool ok = true;
  for (int c = 0; ok && c < CHOICES; c++) {
    x->tale.id[at] = x->choice[c];
    ok = read_last(x, at + AFTER, AFTER, why);
    x->pair[c] = x->alone[c] + x->logprob[best_of(x->logprob, v)];
    x->together[c] = x->alone[c];
    for (size_t i = 0; i < AFTER; i++)
      x->together[c] += x->logprob[i * v + x->tale.id[at + 1 + i]];
  }
  x->tale.id[at] = truth;
  return ok;
}

@ Then it is counted how often the likeliest choice was right alone and together with what follows, and how often it did not begin the likeliest pair. The tale is the first of those that lie beside the model.

@<Ask once more with what follows@>=
static bool print_gaps(struct fixture *lab, struct error *why)
{
  struct gap x = @[{ .lab = lab }@];
  size_t n = AFTER * (size_t) lab->model->config.vocab_size;
  size_t left = 0, both = 0, other = 0;
  x.logits = lab_take(lab, n, 4, why), x.logprob = lab_take(lab, n, 8, why);
  bool ok = x.logits != NULL && x.logprob != NULL
    && lab_tale(lab, &x.tale, why)@|
    && (x.tale.n > SOONEST + EVERY * PLACES + AFTER
      || error_say(why, "the tale is too short"));
  for (size_t at = SOONEST; ok && at < SOONEST + EVERY * PLACES; at += EVERY) {
    ok = ask(&x, at, why);
    left += x.choice[0] == x.tale.id[at];
    both += x.choice[best_of(x.together, CHOICES)] == x.tale.id[at];
    other += best_of(x.pair, CHOICES) != 0;
  }
  ids_free(&lab->m, &x.tale);
  if (!ok) return false;
  print_key("stop.gap.places", "%d", PLACES);
  print_key("stop.gap.after", "%d", AFTER);
  print_key("stop.gap.choices", "%d", CHOICES);
  print_key("stop.gap.left", "%zu", left);
  print_key("stop.gap.both", "%zu", both);
  print_key("stop.pair.other", "%zu", other);
  return true;
}

@* Padding. \label{lab:padding}
The prompt is read without pads, with pads on its left, and with pads on its right; the pad is the end token, or a full stop. We print how far the logits after the prompt are apart, and at which token the greedy texts part, if they do. The prompt is the owl's, of which a talk is to come.

@<Pad a prompt@>=
enum { PADS = 4, PADDED = 60, PROMPT = 32 };
static bool compare_pads(struct desk *k, const struct ids *list,
  uint32_t pad, const char *name, float *logits, struct error *why)
{
  struct fixture *lab = k->lab;
  struct store *s = lab->b.s;
  size_t n = list->n, v = lab->model->config.vocab_size, same = 0;
  uint32_t id[2 * PADS + PROMPT], *bare = id + PADS, plain[PADDED];
  static const struct wish w = @[{ .most = PADDED }@];
  if (n > PROMPT) return error_say(why, "the prompt is too long");
  for (size_t i = 0; i < PADS; i++) id[i] = bare[n + i] = pad;
  memcpy(bare, list->id, n * sizeof *bare);
  if (!lab_logits(lab, s, bare, n, 1, logits, why)
      || !lab_logits(lab, s, id, PADS + n, 1, logits + v, why)
      || !lab_logits(lab, s, bare, n + PADS, 1, logits + 2 * v, why)
      || !write_ids(k, &w, bare, n, why)) return false;
  memcpy(plain, k->text.text.id + n, sizeof plain);
  if (!write_ids(k, &w, id, PADS + n, why)) return false;
  while (same < PADDED && k->text.text.id[PADS + n + same] == plain[same])
    same++;
  printf("stop.pad.%s.left %.3f\nstop.pad.%s.right %.3f\n"
    "stop.pad.%s.same %zu\n", name, farthest(logits, logits + v, v), name,@|
    farthest(logits, logits + 2 * v, v), name, same);
  if (same < PADDED) print_key("stop.pad.parts claim.S2-99", "%zu", same + 1);
  return true;
}
static bool print_pads(struct fixture *lab, struct error *why)
{
  struct desk k = @[{ .lab = lab }@];
  struct ids list = @[{ .n = 0 }@];
  float *logits = lab_take(lab, 3 * (size_t) lab->model->config.vocab_size, 4,
    why);
  uint32_t point = 0;
  bool ok = logits != NULL && lab_encode(lab, OWL, &list, why)@|
    && tokenizer_find(lab->t, ".", 1, &point)@|
    && compare_pads(&k, &list, lab->model->config.eos[0], "end", logits, why)@|
    && compare_pads(&k, &list, point, "other", logits, why);
  clear_desk(&k);
  ids_free(&lab->m, &list);
  return ok;
}

@* Masked end tokens. \label{lab:maskends}
After the owl's question everything but digits is struck out. What the model gives to the digits is added up before; then we draw, and count the tokens that are not made of digits.

@<Mask what must not come@>=
static bool all_digits(struct fixture *lab, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(lab->t, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] < '0' || byte[i] > '9') return false;
  return n > 0;
}
static bool print_mask(struct fixture *lab, struct error *why)
{
  enum { DRAWS = 1000 };
  struct funnel *f = &lab->dice.f;
  size_t n, others = 0;
  double digits = 0;
  float *logits = lab_take(lab, f->vocab, 4, why);
  uint8_t *allowed = lab_take(lab, f->vocab, 1, why);
  if (logits == NULL || allowed == NULL
      || !lab_logits_after(lab, OWL, &n, logits, why)
      || !funnel_fill(f, logits, why)) return false;
  for (uint32_t i = 0; i < f->vocab; i++) allowed[i] = all_digits(lab, i);
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    digits += allowed[f->candidates[i]] != 0 ? f->weight[i] : 0;
  f->allowed = allowed;
  bool ok = funnel_fill(f, logits, why);
  f->allowed = NULL;
  for (uint64_t seed = 0; ok && seed < DRAWS; seed++)
    others += !all_digits(lab, funnel_choose(f, seed, 0, 0));
  print_key("stop.mask.draws", "%d", DRAWS);
  print_key("stop.mask.digits", "%.3f", 1e6 * digits);
  print_key("claim.S2-104", "%zu", others);
  return ok;
}
