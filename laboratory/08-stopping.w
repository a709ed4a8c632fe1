@i types.w
@s size_t int
@s step_watch int
@s sig_atomic_t int
@s lab_print int

\chapterquestion{When does a text end, what does a reader see of it, and what can no ending mend?}
@** Experiments on stopping and streaming. \label{lab:stopping}
\incipit{T}{he chapter} makes claims of three kinds. Some are about the automaton that looks for stop strings: that it takes few steps, that it
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
@<One text on request@>@;
@<Prepare a text, and clear it away@>@;
@<Watch a text, or recite one@>@;
@<Write one text@>@;
@<Begin a session@>@;
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
    { "values", print_times }, { "details", print_gaps },@|
    { "values", print_pads }, { "values", print_mask },@|
    { "values", print_cuts }, { "tree", draw_tree }, { "hold", draw_hold },@|
    { "running", draw_running }, { "clock", print_clock }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* A session of decoding. \label{lab:desk}
Nearly every experiment lets the model write until something ends the text. A \emph{request} says what is wanted: at most two stop strings, a number of tokens, and so on; a member that is zero asks for nothing. With a |script| the text is not the model's: the script is recited, so that any text can be shown. A \emph{session} holds what is needed for writing, and the newest text. It is the program of \cref{sec:ends} with more to turn: a sampler, a function that is called after each token, and texts that go on where others were cancelled.

@<One text on request@>=
struct text_request { const char *prompt, *stop[2], *script;@+ size_t max,@|
  min_tokens, repetition, cancel, raise;@+ uint32_t context;@+ bool ignore_eos; };
  /* up to |max| tokens after |prompt|; two stop strings or fewer; the same
     |repetition| tokens three times; an end after token number |cancel|; a signal
     after number |raise|; a context smaller than the model's */
struct text_session { struct generate_context g;@+ struct model *lm;
  struct tokenizer *t;@+ step_recall *recall;@+ step_select *select;
  void *select_ctx;@+ step_watch *see;@+ void *see_ctx;@+ struct criterion own;
  const struct text_request *r;@+ struct continuation text;@+ struct ids script;
  struct stop_string list[2];@+ struct stops until;@+ struct text_stream flow;
  size_t steps;@+ const char *reason; };
  /* set by the caller, and borrowed: all up to |own|, a criterion of the caller's or none; |see| is
     called after each token; the rest is the newest text, which begins as zero */

@ The strings and the script can be prepared without writing: some experiments feed the text stream bytes of their own.

@<Prepare a text, and clear it away@>=
static void text_session_clear(struct text_session *u)
{
  continuation_free(u->g.m, &u->text);
  text_stream_close(&u->flow);
  stops_close(&u->until);
  ids_free(u->g.m, &u->script);
}
static bool text_session_prepare(struct text_session *u,
  const struct text_request *r, struct error *why)
{
  size_t n = 0;
  text_session_clear(u);
  for (; n < 2 && r->stop[n] != NULL; n++)
    u->list[n] = (struct stop_string) @[{@|
      (const unsigned char *) r->stop[n], strlen(r->stop[n]) }@];
  u->r = r;
  u->steps = 0, u->reason = NULL;
  u->flow = (struct text_stream) @[{ .m = u->g.m, .t = u->t,@|
    .until = &u->until, .min_tokens = r->min_tokens }@];
  return stops_open(&u->until, u->g.m, u->list, n, why)@|
    && (r->script == NULL || tokenizer_encode(u->t, u->g.m, r->script,@|
      strlen(r->script), false, false, &u->script, why));
}

@ The watcher counts, calls the experiment's own function, and cancels.

@<Watch a text, or recite one@>=
static volatile sig_atomic_t interrupted;
static void note_signal(int number)
{
  interrupted = number;
}
static bool watch(void *ctx, const struct step *now)
{
  struct text_session *u = ctx;
  u->steps++;
  if (u->see != NULL && !u->see(u->see_ctx, now)) return false;
  if (u->steps == u->r->raise) raise(SIGINT);
  return u->steps != u->r->cancel && interrupted == 0;
}
static bool recite(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  const struct text_session *u = ctx;
  (void) logits, (void) why;
  *chosen = u->script.id[text->text.n - text->n_prompt];
  return true;
}

@ For a text with a shorter context a store is opened with a copy of the settings in which that one number is smaller.

@<Watch a text, or recite one@>=
static struct store *open_shorter(const struct text_session *u,
  uint32_t context, struct error *why)
{
  struct model_config config = u->lm->config;
  config.n_positions = context;
  return array_store_open(u->g.m, &config, why);
}

@ A criterion that is not wanted stays in the list, and never says yes. A script ends with its last token.

@<Write one text@>=
static bool text_session_write(struct text_session *u, const struct text_request *r,
  const uint32_t *prompt, size_t n, struct error *why)
{
  const struct model_config *config = &u->lm->config;
  size_t repetition = r->repetition;
  struct criterion list[] = @[{@|
    {"string", text_stream_should_stop, &u->flow},@|
    {"repetition", repetition_should_stop, &repetition}, u->own }@];
  struct criteria any = @[{ list, u->own.should_stop == NULL ? 2 : 3, NULL }@];
  if (!text_session_prepare(u, r, why)) return false;
  bool scripted = u->script.n > 0;
  struct generate_options want = @[{ .eos = config->eos,@|
    .n_eos = r->ignore_eos ? 0 : config->n_eos, .min_tokens = r->min_tokens,@|
    .max_new_tokens = scripted ? u->script.n : r->max,@|
    .select = scripted ? recite : u->select,@|
    .select_ctx = scripted ? u : u->select_ctx, .recall = u->recall,@|
    .stop = criteria_should_stop, .stop_ctx = &any,@|
    .on_step = watch, .ctx = u }@];
  @<Generate, and find the reason@>@;
}

@ A text that a person has cut short must not pass for a whole one, so that is an error, and the program prints no number; the test of the chapter presses Ctrl-C. At any other time Ctrl-C ends the program, as usual.

@<Generate, and find the reason@>=
struct generate_context g = u->g;
if (r->context > 0 && (g.s = open_shorter(u, r->context, why)) == NULL)
  return false;
void (*usual)(int) = signal(SIGINT, note_signal);
interrupted = 0;
bool ok = text_stream_prompt(&u->flow, prompt, n, why)@|
  && generate(&g, prompt, n, &want, &u->text, why);
signal(SIGINT, usual);
if (g.s != u->g.s) store_close(g.s);
text_stream_end(&u->flow);
u->reason = criteria_reason(&any, u->text.ended);
if (u->reason == NULL) u->reason =@|
  u->text.ended == FINISH_CANCELLED ? "cancelled" : "length";
return ok && (interrupted == 0 || r->raise > 0@|
  || error_say(why, "the text was interrupted"));

@ Mostly the prompt is a text.

@<Write one text@>=
static bool text_session_answer(struct text_session *u, const struct text_request *r,
  struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  bool ok = tokenizer_encode(u->t, u->g.m, r->prompt, strlen(r->prompt),@|
      false, false, &list, why)@|
    && text_session_write(u, r, list.id, list.n, why);
  ids_free(u->g.m, &list);
  return ok;
}

@ The experiments have the laboratory's model and its sampler, so that temperature and seed can be changed from one text to the next.

@<Begin a session@>=
static struct text_session session(struct fixture *lab, double temperature)
{
  lab->dice.s.temperature = temperature, lab->dice.seed = 0;
  return (struct text_session) @[{ .g = lab->b.g, .lm = lab->model,@|
    .t = lab->t, .recall = store_match_prefix,@|
    .select = sampler_choose, .select_ctx = &lab->dice }@];
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
Six of the texts in the chapter's box are written again, to be counted. A reason counts if it is the one that the text was asked for. The owl's answer is written once more, without a string: the pieces of its tokens are put together until the string is there, and that is where the text with the string had to end; 0 stands for never.

@<Count how texts ended@>=
static bool complete_at(const struct text_session *u, const char *string, size_t *n,
  struct error *why)
{
  struct bytes all = @[{ NULL, 0, 0 }@];
  bool ok = true;
  *n = 0;
  for (size_t i = u->text.n_prompt; ok && *n == 0 && i < u->text.text.n; i++) {
    all.n -= all.n > 0;
    ok = tokenizer_decode(u->t, u->g.m, u->text.text.id + i, 1, false, &all, why)@|
      && bytes_push(u->g.m, &all, "", 1, why);
    if (ok && strstr((const char *) all.byte, string) != NULL)
      *n = i + 1 - u->text.n_prompt;
  }
  bytes_free(u->g.m, &all);
  return ok;
}
#define OWL "User: Where does the owl live?\nAssistant:"
#define SUN "The cat sat in the sun. The clock said"
static bool print_ends(struct fixture *lab, struct error *why)
{
  static const struct text_request request[7] = @[{@|
    {"The dog", .max = 400},@|
    {"The dog", .max = 20},@|
    {OWL, {"\n\n"}, .max = 400},@|
    {OWL, {"\n\n", "User:"}, .max = 400},@|
    {SUN, .max = 400, .repetition = 2},@|
    {"The dog", .max = 400, .context = 24},@|
    {OWL, .max = 400} }@];
  static const char *const reason[] = @[{ "eos", "length", "string" }@];
  struct text_session u = session(lab, 0);
  size_t n[7], reasons = 0, complete, short_prompt = 0;
  for (int i = 0; i < 7; i++) {
    if (!text_session_answer(&u, &request[i], why)) return false;
    n[i] = u.steps;
    if (request[i].context > 0) short_prompt = u.text.n_prompt;
    if (i < 3) reasons += strcmp(u.reason, reason[i]) == 0;
  }
  if (!complete_at(&u, "\n\n", &complete, why)) return false;
  print_key("claim.S1-50", "%zu", reasons);
  print_key("stop.owl.complete", "%zu", complete);
  print_key("claim.S2-70", "%zu", n[2]);
  print_key("claim.S2-72", "%zu", n[3]);
  print_key("claim.S3-43", "%zu", n[4]);
  print_key("stop.context.written", "%zu", n[5]);
  print_key("stop.context.prompt", "%zu", short_prompt);
  text_session_clear(&u);
  return true;
}

@ The items of a list are counted where it was recited; and of the owl's talk, the tokens that were shown whole, with nothing waiting after them. Of the others some waited, and some were never shown, because they ended after the place where the text was cut: so of each token it is noted where it ended. The three numbers add up to that of the tokens, since a token cannot be two of these things.

@<Count how texts ended@>=
enum { NOTED = 64 };
struct at_once { struct text_session *u; size_t tokens, whole, end[NOTED]; };
static bool note_whole(void *ctx, const struct step *now)
{
  struct at_once *x = ctx;
  const struct text_stream *flow = &x->u->flow;
  (void) now;
  if (x->tokens == NOTED) return false;
  x->end[x->tokens++] = flow->text.n
    + (flow->found != NULL ? flow->found->n : 0);
  x->whole += flow->released == flow->text.n && flow->found == NULL;
  return true;
}
static bool print_items(struct fixture *lab, struct error *why)
{
  static const struct text_request list = @[{ .prompt = "A list:\n", .stop = {"4."},@|
    .script = "1. apples\n2. pears\n3. plums\n4. nuts\n5. apples\n6. plums" }@];
  static const struct text_request owl = @[{ OWL, {"\n\n", "User:"}, .max = 400}@];
  struct text_session u = session(lab, 0);
  struct at_once x = @[{ .u = &u }@];
  size_t lines = 0, never = 0;
  if (!text_session_answer(&u, &list, why)) return false;
  for (size_t i = 0; i < u.flow.text.n; i++)
    lines += u.flow.text.byte[i] == '\n';
  u.see = note_whole, u.see_ctx = &x;
  if (!text_session_answer(&u, &owl, why)) return false;
  for (size_t i = 0; i < x.tokens; i++) never += x.end[i] > u.flow.text.n;
  print_key("claim.S2-71", "%zu", lines);
  print_key("stop.shown.tokens", "%zu", x.tokens);
  print_key("stop.shown.at.once claim.S3-18", "%zu", x.whole);
  print_key("stop.shown.string", "%zu", never);
  print_key("stop.shown.waited", "%zu", x.tokens - x.whole - never);
  text_session_clear(&u);
  return true;
}

@ Going on from a cancelled text is to generate with the text as the prompt: once greedily, and once with sampling. The seed is the same, and the positions are.

@<Go on from where it was cancelled@>=
static bool go_on(struct fixture *lab, double temperature, const char *key,
  struct error *why)
{
  enum { WHOLE = 40, PART = 7, ROOM = WHOLE + 16 };
  struct text_request r = @[{ .prompt = "The dog", .max = WHOLE,@|
    .ignore_eos = true }@];
  struct text_session u = session(lab, temperature);
  uint32_t whole[ROOM], part[ROOM];
  size_t same = 0;
  lab->dice.seed = 3;
  if (!text_session_answer(&u, &r, why)) return false;
  size_t n = u.text.text.n, cut = u.text.n_prompt + PART;
  memcpy(whole, u.text.text.id, n * sizeof *whole);
  r.cancel = PART;
  if (!text_session_answer(&u, &r, why)) return false;
  memcpy(part, u.text.text.id, cut * sizeof *part);
  r.cancel = 0, r.max = WHOLE - PART;
  if (!text_session_write(&u, &r, part, cut, why)) return false;
  if (u.text.text.n != n)
    return error_say(why, "the text has another length");
  for (size_t i = cut; i < n; i++) same += u.text.text.id[i] == whole[i];
  print_key(key, "%zu", same);
  text_session_clear(&u);
  return true;
}
static bool print_resumed(struct fixture *lab, struct error *why)
{
  return go_on(lab, 0, "stop.resumed", why)
    && go_on(lab, 1, "stop.resumed.drawn", why);
}

@* End tokens of stories and conversations. \label{lab:endtoken}
A coin is a model with two tokens, the first of which is the end, and the sampler draws from it. A probability of $\frac9{10}$ is tossed for once in each of many texts; $\frac1{\given{100}}$ until it ends, or for \given{500} tokens.

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

@ The talks end only with an end token, or at a length that none of them reaches. A watcher notes the probability of the end, where it was selected and where it was not, and whether a token was drawn whose probability was below one percent, which \cref{sec:limits} needs.

@<Let many talks end@>=
enum { TALKS = 48, LONGEST = 400, CAP = 64 };
struct survey { struct fixture *lab; struct text_session u; size_t length[TALKS],
  written, rare, inside, cut, cut_inside, clean; bool slipped;
  double most, mean, chosen; };
  /* of each talk its |length|; tokens |written|, and |rare| ones among them; the end's probability
     where it was not chosen (|inside| places) and where it was; talks that are |cut| after |CAP|
     tokens, and within a sentence; talks without a rare token up to there */
static bool note_end(void *ctx, const struct step *now)
{
  struct survey *x = ctx;
  struct fixture *lab = x->lab;
  uint32_t eos = lab->model->config.eos[0];
  lab->e.k->log_softmax(&lab->e, now->logits, 1, lab->vocab, lab->logprob);
  double p = num_exp(lab->logprob[eos]);
  bool slip = num_exp(lab->logprob[now->chosen]) < 0.01;
  x->written++, x->rare += slip;
  x->slipped = x->slipped || slip;
  if (now->chosen == eos) x->chosen += p;
  else {
    x->inside++, x->mean += p;
    if (p > x->most) x->most = p;
  }
  if (x->u.steps == CAP && now->chosen != eos)
    @<See whether a length would cut here@>@;
  return true;
}

@ A length cuts if the text would have gone on, that is, if the token was not the end. It cuts within a sentence if the last byte is neither a line end nor one of the signs that end a sentence; where it is a quotation mark, the one before it decides, since \emph{ball,"} is not the end of anything.

@<See whether a length would cut here@>=
{
  const unsigned char *byte = x->u.flow.text.byte;
  size_t n = x->u.flow.text.n;
  if (n > 0 && byte[n - 1] == '"') n--;
  x->cut++, x->clean += !x->slipped;
  x->cut_inside += n > 0 && memchr(".!?\n", byte[n - 1], 4) == NULL;
}

@ All of them begin with the word that begins a talk.

@<Let many talks end@>=
static bool hold_survey(struct fixture *lab, struct survey *x,
  struct error *why)
{
  const struct text_request r = @[{ .prompt = "User:", .max = LONGEST }@];
  *x = (struct survey) @[{ .lab = lab, .u = session(lab, 1) }@];
  x->u.see = note_end, x->u.see_ctx = x;
  for (size_t i = 0; i < TALKS; i++) {
    x->slipped = false, lab->dice.seed = i;
    if (!text_session_answer(&x->u, &r, why)) return false;
    x->length[i] = x->u.steps;
  }
  text_session_clear(&x->u);
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
struct shown { struct text_session *u; size_t before, tokens; };
static bool note_token(void *ctx, const struct step *now)
{
  struct shown *x = ctx;
  const struct text_stream *flow = &x->u->flow;
  size_t n, held = flow->text.n - flow->released;
  size_t half = utf8_held(flow->text.byte, flow->text.n);
  size_t all = flow->text.n + (flow->found != NULL ? flow->found->n : 0);
  const unsigned char *byte = tokenizer_text(x->u->t, now->chosen, &n);
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
  static const struct text_request r = @[{ .prompt = "A list:\n",@|
    .stop = {"\n\n", "User:"}, .script = "A caf\xc3\xa9.\n"@|
    "Useful: 5 "@| "\xe2\x82\xac.\n\nUser:" }@];
  struct text_session u = session(lab, 0);
  struct shown x = @[{ .u = &u }@];
  u.see = note_token, u.see_ctx = &x;
  printf("token,before,released,length,half,piece\n");
  bool ok = text_session_answer(&u, &r, why);
  text_session_clear(&u);
  return ok;
}

@ Does it matter how a text is cut into tokens? Two short texts are cut in every way: the bits of a number say after which bytes. The first ends at the first string of the list, and the second at the second. Whatever is shown on the way must be a beginning of what is left at the end. If one of the ways gave something else, no number would be printed at all.

@<Cut two phrases in every way@>=
static const struct text_request two = @[{ .stop = { "\n\n", "User:" } }@];
static bool same_for_cut(struct text_session *u, const char *text, uint32_t cuts,
  const char *left, int which, struct error *why)
{
  size_t n = strlen(text), max = strlen(left);
  bool ok = true;
  text_stream_close(&u->flow);
  u->flow = (struct text_stream) @[{ .m = u->g.m, .until = &u->until }@];
  for (size_t at = 0, to; ok && at < n && u->flow.found == NULL; at = to) {
    for (to = at + 1; to < n && (cuts >> (to - 1) & 1) == 0; ) to++;
    ok = text_stream_bytes(&u->flow, (const unsigned char *) text + at, to - at,
      why) && ((u->flow.released <= max
        && memcmp(u->flow.text.byte, left, u->flow.released) == 0)
        || error_say(why, "cut %" PRIu32 " shows too much", cuts));
  }
  return ok && ((u->flow.found == &u->list[which]
    && u->flow.text.n == max && u->flow.released == max)
    || error_say(why, "cut %" PRIu32 " ends elsewhere", cuts));
}
static bool print_cuts(struct fixture *lab, struct error *why)
{
  static const char *const text[2][2] = @[{ {"one.\nTwo.\n\nUser:",@|
    "one.\nTwo."}, {"\xe2\x82\xac 5.\nUse User: no", "\xe2\x82\xac 5.\nUse "}@|
    }@];
  struct text_session u = session(lab, 0);
  uint32_t ways = 0;
  bool ok = text_session_prepare(&u, &two, why);
  for (int i = 0; i < 2; i++) {
    uint32_t all = (uint32_t) 1 << (strlen(text[i][0]) - 1);
    for (uint32_t cuts = 0; ok && cuts < all; cuts++, ways++)
      ok = same_for_cut(&u, text[i][0], cuts, text[i][1], i, why);
  }
  text_session_clear(&u);
  if (ok) print_key("claim.S3-42", "%" PRIu32, ways);
  return ok;
}

@ For \cref{tab:held} the strings must not end the texts. So all tokens are protected by |min_tokens|; what is held is the same. No end token is obeyed either, and a text that has come to its end begins another one. The end token itself has no bytes, so it counts as silent under every rule. The three rules hold what may be claimed, what is unsent, and as many bytes as the longest string has, less one.

@<Compare three ways to hold back@>=
enum { RULES = 3, RULE_TALKS = 12, RULE_LONG = 100 };
struct rules { struct text_session *u; size_t longest, tokens, released[RULES],
  held[RULES], silent[RULES]; };
  /* how much is |released| of this text; over all texts, how many bytes were |held|, and how
     often nothing was shown */
static bool note_rules(void *ctx, const struct step *now)
{
  struct rules *x = ctx;
  const struct text_stream *flow = &x->u->flow;
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
    struct text_session u = session(lab, 1);
    struct rules x = @[{ .u = &u, .longest = strlen(second[i]) }@];
    struct text_request r = @[{ .prompt = "User:", .ignore_eos = true,@|
      .stop = { "\n\n", second[i] }, .max = RULE_LONG,@|
      .min_tokens = RULE_LONG }@];
    u.see = note_rules, u.see_ctx = &x;
    for (; lab->dice.seed < RULE_TALKS; lab->dice.seed++) {
      memset(x.released, 0, sizeof x.released);
      if (!text_session_answer(&u, &r, why)) return false;
    }
    text_session_clear(&u);
    for (int j = 0; j < RULES; j++)
      printf("stop.rule.%s.%s %.3f\nstop.rule.%s.%s.silent %.3f\n", list[i],
        rule[j], (double) x.held[j] / (double) x.tokens, list[i], rule[j],@|
        (double) x.silent[j] / (double) x.tokens);
    if (i == 0) print_key("stop.rule.tokens", "%zu", x.tokens);
  }
  return true;
}

@* Cost. \label{lab:stopcost}
We count the steps of a walk from outside: where a step leads to a state that is not one byte deeper than the one before, we follow the failure links until one fits. We try two lists on the tales: our two short strings, and a list made to be hard, six bytes from each of many
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
  struct text_session u = session(lab, 0);
  struct stops s = @[{ .m = &lab->m }@];
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  for (size_t i = 0; i < HARD; i++)
    list[i] = (struct stop_string) @[{ map.bytes + 97 * i, 6 }@];
  bool ok = text_session_prepare(&u, &two, why)
    && stops_open(&s, &lab->m, list, HARD, why);
  if (ok) {
    size_t few = walks(&u.until, &map);
    print_key("stop.walk.bytes", "%zu", map.size);
    print_key("stop.walk.two", "%zu", few);
    print_key("claim.S2-101", "%.5f", (double) few / (double) map.size);
    print_key("stop.walk.strings", "%d", HARD);
    print_key("stop.walk.hard", "%.4f",@|
      (double) walks(&s, &map) / (double) map.size);
  }
  stops_close(&s);
  text_session_clear(&u);
  file_unmap(&map);
  return ok;
}

@ The times of \cref{fig:search} are those of a token of four bytes, at four lengths of the text. The text is the tales, over and over; neither string is in them.

\fig{search}{fig:search}{The time that looking for two stop strings takes for each token, over the length of the text: by the automaton, and by searching the whole text again with |strstr|. Medians, measured once, on the machine that the data file names.}{Both axes are logarithmic. The line of the machine is level, at some tens of nanoseconds. The line of the search begins near it and rises in proportion to the length, to some microseconds for the longest text.}

One token alone is too short for the clock, and so is a search. So $2^6$ searches are timed, each beginning a byte later than the one before, so that a compiler cannot find out that they are all the same; and then, from the same length on, the next $2^9$ tokens, divided.

@<Take the time of the search@>=
enum { TURNS = 41, SIZES = 4, TOKEN = 4, AHEAD = 512, AGAIN = 64 };
struct times { double step[SIZES][TURNS], scan[SIZES][TURNS]; };
static bool push_tokens(struct text_session *u, const unsigned char *text, size_t from,
  size_t to, struct error *why)
{
  for (; from < to; from++)
    if (!text_stream_bytes(&u->flow, text + TOKEN * from, TOKEN, why)) return false;
  return true;
}
static bool time_at(struct text_session *u, const unsigned char *text, size_t token,
  double *scan, double *step, struct error *why)
{
  if (!bytes_push(u->g.m, &u->flow.text, "", 1, why)) return false;
  const char *whole = (char *) u->flow.text.byte;
  bool none = true;
  double began = timing_seconds();
  for (size_t j = 0; j < AGAIN; j++)
    none = none && strstr(whole + j, "\n\n") == NULL
      && strstr(whole + j, "User:") == NULL;
  *scan = 1e9 * (timing_seconds() - began) / AGAIN;
  if (!none) return error_say(why, "a stop string" " is in the tales");
  u->flow.text.n--;
  began = timing_seconds();
  bool ok = push_tokens(u, text, token, token + AHEAD, why);
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
  struct text_session u = session(lab, 0);
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  for (size_t i = 0; i < ALL; i++) text[i] = map.bytes[i % map.size];
  file_unmap(&map);
  for (int turn = 0; turn < TURNS; turn++) {
    if (!text_session_prepare(&u, &two, why)) return false;
    for (size_t i = 0, at = 0; i < SIZES; i++, at += AHEAD) {
      size_t token = (size_t) AHEAD << 2 * i;
      if (!push_tokens(&u, text, at, token, why)
          || !time_at(&u, text, at = token, &x.scan[i][turn],
            &x.step[i][turn], why)) return false;
    }
  }
  printf("tokens,low,median,high,"@| "scanlow,scan,scanhigh\n");
  for (size_t i = 0; i < SIZES; i++) {
    printf("%d", AHEAD << 2 * i);
    print_quartiles(x.step[i], TURNS, 1, 1);
    print_quartiles(x.scan[i], TURNS, 1, 1);
    printf("\n");
  }
  text_session_clear(&u);
  return true;
}

@ The keys are read from the file that was written then; and the time of a pass from the seventh line of the file of \cref{cache}.

@<Take the time of the search@>=
enum { AT, STEP = 2, SCAN = 5, PASSES = 52, LAST = SIZES - 1 };
static bool print_times(struct fixture *lab, struct error *why)
{
  double t[6][SIZES], pass[3][PASSES], one;
  (void) lab;
  if (!data_numbers("stopping.clock", 6, SIZES, t[0], why)
      || !data_numbers("cache.clock", 3, PASSES, pass[0], why)) return false;
  one = pass[2][6];
  print_key("stop.clock.first", "%.1f", t[STEP][0]);
  print_key("stop.clock.last", "%.1f", t[STEP][LAST]);
  print_key("stop.clock.tokens", "%.0f", t[AT][LAST]);
  print_key("stop.clock.first.tokens", "%.0f", t[AT][0]);
  print_key("stop.clock.scan.first", "%.1f", t[SCAN][0]);
  print_key("stop.clock.scan.last", "%.3f", 1e-3 * t[SCAN][LAST]);
  print_key("stop.clock.scan.percent", "%.2f", 0.1 * t[SCAN][LAST] / one);
  print_key("stop.clock.percent", "%.3f", 0.1 * t[STEP][LAST] / one);
  print_key("stop.clock.pass", "%.1f", one);
  print_key("stop.clock.pass.tokens", "%.0f", pass[AT][6]);
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
  e->k->log_softmax(e, x->logits, last, x->lab->vocab,
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
  size_t v = x->lab->vocab;
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
  size_t n = AFTER * (size_t) lab->vocab;
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
static bool compare_pads(struct fixture *lab, struct text_session *u,
  const struct ids *list,
  uint32_t pad, const char *name, float *logits, struct error *why)
{
  struct store *s = lab->b.s;
  size_t n = list->n, v = lab->vocab, same = 0;
  uint32_t id[2 * PADS + PROMPT], *bare = id + PADS, plain[PADDED];
  static const struct text_request r = @[{ .max = PADDED,@|
    .ignore_eos = true }@];
  if (n > PROMPT) return error_say(why, "the prompt is too long");
  for (size_t i = 0; i < PADS; i++) id[i] = bare[n + i] = pad;
  memcpy(bare, list->id, n * sizeof *bare);
  if (!lab_logits(lab, s, bare, n, 1, logits, why)
      || !lab_logits(lab, s, id, PADS + n, 1, logits + v, why)
      || !lab_logits(lab, s, bare, n + PADS, 1, logits + 2 * v, why)
      || !text_session_write(u, &r, bare, n, why)) return false;
  memcpy(plain, u->text.text.id + n, sizeof plain);
  if (!text_session_write(u, &r, id, PADS + n, why)) return false;
  while (same < PADDED && u->text.text.id[PADS + n + same] == plain[same])
    same++;
  printf("stop.pad.%s.left %.3f\nstop.pad.%s.right %.3f\n"
    "stop.pad.%s.same %zu\n", name, farthest(logits, logits + v, v), name,@|
    farthest(logits, logits + 2 * v, v), name, same);
  if (same < PADDED) print_key("stop.pad.parts claim.S2-99", "%zu", same + 1);
  return true;
}
static bool print_pads(struct fixture *lab, struct error *why)
{
  struct text_session u = session(lab, 0);
  struct ids list = @[{ .n = 0 }@];
  float *logits = lab_take(lab, 3 * (size_t) lab->vocab, 4,
    why);
  uint32_t point = 0;
  bool ok = logits != NULL && lab_encode(lab, OWL, &list, why)@|
    && tokenizer_find(lab->t, ".", 1, &point)@|
    && compare_pads(lab, &u, &list, lab->model->config.eos[0], "end",
      logits, why)@|
    && compare_pads(lab, &u, &list, point, "other", logits, why);
  text_session_clear(&u);
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
  uint8_t *allowed = lab_take(lab, f->vocab, 1, why);
  if (allowed == NULL || !lab_logits_after(lab, OWL, &n, lab->logits, why)
      || !funnel_fill(f, lab->logits, why)) return false;
  for (uint32_t i = 0; i < f->vocab; i++) allowed[i] = all_digits(lab, i);
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    digits += allowed[f->candidates[i]] != 0 ? f->weight[i] : 0;
  f->allowed = allowed;
  bool ok = funnel_fill(f, lab->logits, why);
  f->allowed = NULL;
  for (uint64_t seed = 0; ok && seed < DRAWS; seed++)
    others += !all_digits(lab, funnel_choose(f, seed, 0, 0));
  print_key("stop.mask.draws", "%d", DRAWS);
  print_key("stop.mask.digits", "%.3f", 1e6 * digits);
  print_key("claim.S2-104", "%zu", others);
  return ok;
}

@* Claims of the tutorials. \label{lab:stopclaims}
The chapter has two boxes. These are the other claims on stopping, with what the runs say.

\begin{claimed}{S3-43}
these are two things, as the sentence says. A penalty changes the scores and ends nothing: with each of the penalties of \cref{sec:loops} the text had all its \val{sampling.loop.long} tokens. Counting repetitions ended the ticking of the clock after \val{claim.S3-43}, and changed no score.
\end{claimed}

A text ends by an end token, by its length, or by the caller's strings (S1-50): these are \val[word]{claim.S1-50} reasons, each was seen and reported, and there are more. An end token need not have come after any number of tokens (S2-68); how likely that is, \cref{sec:endtoken} says. A text stopped as soon as the string was complete (S2-70): the owl's, after token \val{claim.S2-70}. A list can be stopped after its third item (S2-71), if \emph{4.} stands nowhere else in it. Several criteria are combined (S2-72): the first that says yes ends the text, with both strings at token
\val{claim.S2-72}. The strings \emph{User:} and two line ends work, also when they come in pieces (S3-42), in \val{claim.S3-42} ways to cut them. Each token is said to arrive as it is computed (S3-18): \val{claim.S3-18} of \val{stop.shown.tokens} did, \val[word]{stop.shown.waited} had to wait for the next, and \val[word]{stop.shown.string} were the stop string. Texts end in the middle of a sentence (S3-41), \val{claim.S3-41} of the talks at a length of \val{stop.cap}. Looking for strings costs something (S2-101), \val[2]{stop.clock.percent} percent of a pass. And masking guarantees the form (S2-104), as far as the text goes (\cref{sec:maskends}).
