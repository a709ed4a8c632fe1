@i types.w
@s size_t int
@s lab_print int

\chapterquestion{What do the settings of a sampler do to a text, and how would one know?}
@** Experiments on sampling. \label{lab:sampling}
\incipit{A}{setting} of a sampler is easy to compute and hard to judge. It changes one distribution, and from there on everything: the token, the text after it, and what the model thinks of
that text. So the experiments come in two kinds. Some need one row of logits and thousands of draws from it. The others let the built-in model write, and note at every step what it would have thought
without any setting.

@ The program answers all keys, the data of five figures, a box, and a clock.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "laboratory/kit2.h"
#include "sampling/settings.h"
@;@#
@<Write a text, and note what the model thought@>@;
@<Follow one distribution@>@;
@<Heat one distribution@>@;
@<Count what happens at the fork@>@;
@<Go both ways@>@;
@<Test the draws against their probabilities@>@;
@<Write several texts, and compare them@>@;
@<Look for a circle@>@;
@<Choose, and note which stage acted@>@;
@<Break the circle@>@;
@<Let a toy go round@>@;
@<Predict from the tale, and from one's own text@>@;
@<Add up in another order@>@;
@<Change the order of the stages@>@;
@<Fill a large vocabulary@>@;
@<Put some claims to the test@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_fork },@|
    { "values", print_heat }, { "values", print_orders },@|
    { "values", print_strategies }, { "values", print_measures },@|
    { "values", print_toy }, { "values", print_exposure },@|
    { "values", print_other_order },@|
    { "values", print_two_kernels }, { "values", print_half_order },@|
    { "values", print_work },@|
    { "values", print_extremes }, { "values", print_cycles },@|
    { "values", print_arithmetic }, { "values", print_chi },@|
    { "values", print_clock_keys }, { "", show_texts }, { "funnel", draw_funnel },@|
    { "heat", draw_heat }, { "fork", draw_fork }, { "loop", draw_circles },@|
    { "exposure", draw_exposure }, { "clock", print_clock }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Texts and their log-probabilities. \label{lab:opinion}
A text is written by chapter 3's loop with chapter 4's cache. A watcher notes the model's own opinion at every step, before any setting: how likely it found the token that was chosen, and how
undecided it was. The first is the logarithm of a probability, the second the \emph{entropy}, the mean of minus that logarithm over all tokens.
@^entropy@>

@<Write a text, and note what the model thought@>=
enum { LONG = 48, ROUND = 240 };
struct session { struct fixture *lab; step_select *choose; void *chooser;
  double nats, entropy, trail[ROUND]; size_t steps; };
  /* the newest text is the laboratory's; |nats| and |entropy| are sums over its
     |steps|, and |trail| has the first of the sums of surprise */
static bool note_opinion(void *ctx, const struct step *now)
{
  struct session *u = ctx;
  struct fixture *lab = u->lab;
  double *logprob = lab->logprob;
  lab->e.k->log_softmax(&lab->e, now->logits, 1, lab->vocab, logprob);
  u->nats += logprob[now->chosen];
  for (size_t i = 0; i < lab->vocab; i++)
    u->entropy -= num_exp(logprob[i]) * logprob[i];
  if (u->steps < ROUND) u->trail[u->steps] = -u->nats;
  u->steps++;
  return true;
}
static struct session session_of(struct fixture *lab)
{
  return (struct session) @[{ .lab = lab, .choose = sampler_choose,@|
    .chooser = &lab->dice }@];
}

@ A text is written under settings, and afterwards the settings are normal again. No end token is named: a text goes on after its end, because what is to be measured needs texts of equal length. The prompt is mostly given in words.

@<Write a text, and note what the model thought@>=
static bool write_ids(struct session *u, const uint32_t *prompt, size_t n,
  size_t max, const struct sampling_params *s, uint64_t seed, struct error *why)
{
  struct generate_options want = @[{ .max_new_tokens = max, .on_step = note_opinion,@|
    .ctx = u, .recall = store_match_prefix, .select = u->choose,
      .select_ctx = u->chooser }@];
  struct fixture *lab = u->lab;
  lab->dice.s = *s, lab->dice.seed = seed;
  u->nats = u->entropy = 0;
  u->steps = 0;
  continuation_free(&lab->m, &lab->text);
  bool ok = generate(&lab->b.g, prompt, n, &want, &lab->text, why);
  lab->dice.s = sampling_default();
  return ok;
}
static bool write_on(struct session *u, const char *prompt, size_t max,
  const struct sampling_params *s, uint64_t seed, struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  bool ok = lab_encode(u->lab, prompt, &list, why)
    && write_ids(u, list.id, list.n, max, s, seed, why);
  ids_free(&u->lab->m, &list);
  return ok;
}

@ Greedy decoding is a setting like any other. Most texts go on after a good harvest.

@<Write a text, and note what the model thought@>=
static const char *const harvest =
  "The harvest of the kingdom was very good.";
static struct sampling_params at_temperature(double t)
{
  struct sampling_params s = sampling_default();
  s.temperature = t;
  return s;
}

@* One distribution through all stages. \label{lab:funnelseen}
The figure and the box of \cref{sec:funnelseen} follow the same distribution under the same settings, which give every stage something to do. The box has the number of tokens that are left; the figure has the
probability of each of the first few tokens at every stage, so those are kept in a table, a column for each stage. The last column has the choice.

@<Follow one distribution@>=
enum { SHOWN = 14, COLUMNS = N_SAMPLE_STAGES + 2 };
struct columns { uint32_t id[SHOWN]; double p[SHOWN][COLUMNS]; };
static void note_column(struct funnel *f, struct columns *x, size_t column)
{
  funnel_distribution(f);
  for (size_t i = 0; column == 0 && i < SHOWN; i++) x->id[i] = f->candidates[i];
  for (size_t i = 0; i < SHOWN; i++)
    for (size_t j = 0; j < f->n; j++)
      if (f->candidates[j] == x->id[i]) x->p[i][column] = f->weight[j];
}
static bool follow(struct fixture *lab, const struct ids *text,
  float *logits, struct columns *x, struct error *why)
{
  struct funnel *f = &lab->dice.f;
  struct sampling_params s = sampling_default();
  struct history h = @[{ text->id, text->n, text->n }@];
  uint32_t liked;
  if (!tokenizer_find(lab->t, " pancakes", 9, &liked))
    return error_say(why, "the built-in model has no pancakes");
  struct sequence_bias bias = @[{ &liked, 1, 1.0 }@];
  s.logit_bias = &bias, s.n_logit_bias = 1;
  s.repetition_penalty = 1.3, s.no_repeat_ngram = 2;
  s.temperature = 0.8, s.top_k = 8;
  s.top_p = 0.95, s.min_p = 0.2;
  s.typical_p = 0.9;
  if (!lab_logits(lab, lab->b.s, text->id, text->n, 1, logits, why)
      || !funnel_fill(f, logits, why)) return false;
  note_column(f, x, 0);
  for (size_t i = 0; i < N_SAMPLE_STAGES; i++) {
    sampling_stage_run(f, &s, s.stage[i], h);
    note_column(f, x, 1 + i);
  }
  uint32_t id = funnel_choose(f, 1, 0, (uint32_t) text->n);
  for (size_t i = 0; i < SHOWN; i++) x->p[i][COLUMNS - 1] = x->id[i] == id;
  return true;
}

@ The lines of the figure are the tokens that were the likeliest at the beginning.

@<Follow one distribution@>=
static bool draw_funnel(struct fixture *lab, struct error *why)
{
  struct columns x = @[{ .p = @[{{0}}@] }@];
  struct ids text = @[{ .n = 0 }@];
  bool ok = lab_encode(lab, "The dog thought about soup. The mouse had milk."@|
      " The cat thought about", &text, why)
    && follow(lab, &text, lab->logits, &x, why);
  ids_free(&lab->m, &text);
  if (!ok) return false;
  printf("token,model");
  for (int i = 0; i < N_SAMPLE_STAGES; i++)
    printf(",%s", sampling_stage_name((enum sample_stage) i));
  printf(",drawn\n");
  for (size_t i = 0; i < SHOWN; i++) {
    print_token(lab, x.id[i]);
    for (size_t k = 0; k < COLUMNS; k++) printf(",%.6f", x.p[i][k]);
    printf("\n");
  }
  return true;
}

@* Temperature. \label{lab:heat}
The table of one distribution needs no text, only logits. They are put into the funnel, divided by the temperature, and asked for their entropy; the best token must be the one that it was.

@<Heat one distribution@>=
static bool heat(struct fixture *lab, const float *logits, double t,
  double *bits, struct error *why)
{
  struct funnel *f = &lab->dice.f;
  double h = 0;
  if (!funnel_fill(f, logits, why)) return false;
  funnel_temperature(f, t);
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->weight[i] > 0) h -= f->weight[i] * num_log(f->weight[i]);
  *bits = h / num_log(2);
  return f->candidates[0] == best_token(logits, f->vocab)
    || error_say(why, "at temperature %g another token is the best", t);
}
static bool print_heat(struct fixture *lab, struct error *why)
{
  static const struct { const char *name; double t; } at[] = @[{@|
    {"0.1", 0.1}, {"0.5", 0.5}, {"1", 1}, {"2", 2}, {"100", 100} }@];
  size_t n;
  double bits;
  if (!lab_logits_after(lab, harvest, &n, lab->logits, why)) return false;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    if (!heat(lab, lab->logits, at[i].t, &bits, why)) return false;
    printf("sampling.heat.%s %.4f\n", at[i].name, bits);
  }
  print_key("sampling.heat.most", "%.4f",@|
    num_log((double) lab->vocab) / num_log(2));
  return true;
}

@* Two continuations of one beginning. \label{lab:fork}
At the fork the pass through the model is made once, and then drawn from many times, since a draw depends on the seed and not on when it is made. Of all draws we count how many took each of the two likeliest
ways, and of pairs of draws how many agreed. Two draws agree with the probability $\sum p_i^2$: the first takes $i$ with $p_i$, and the second takes it, too, with $p_i$ again.

@<Count what happens at the fork@>=
struct crossing { size_t draws, took[2], same, pairs; double p[2], square;
  uint32_t way[2]; };
static void draw_many(struct funnel *f, size_t length, struct crossing *x)
{
  uint32_t before = 0;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++) x->square += f->weight[i] * f->weight[i];
  for (int k = 0; k < 2; k++) x->p[k] = f->weight[k], x->way[k] = f->candidates[k];
  for (uint64_t seed = 0; seed < x->draws; seed++) {
    uint32_t id = funnel_choose(f, seed, 0, (uint32_t) length);
    for (int k = 0; k < 2; k++) x->took[k] += id == x->way[k];
    if (seed % 2 == 1) x->pairs++, x->same += id == before;
    before = id;
  }
}

@ How good is a share that was found in |n| texts? The experiment of |n| texts is made \given{400} times over, with other seeds each time, and the differences from the true share are squared and averaged.

@<Count what happens at the fork@>=
static void print_error(struct funnel *f, const struct crossing *x, size_t n,
  size_t length)
{
  double p = x->p[0], sum = 0;
  for (uint64_t round = 0; round < 400; round++) {
    size_t found = 0;
    for (uint64_t i = 0; i < n; i++)
      found += funnel_choose(f, 1000000 + round * n + i, 0,
        (uint32_t) length) == x->way[0];
    double off = (double) found / (double) n - p;
    sum += off * off;
  }
  printf("sampling.error.expected.%zu %.4f\nsampling.error.found.%zu %.4f\n",
    n, sqrt(p * (1 - p) / (double) n), n, sqrt(sum / 400));
}

@ A tie has to be made: a bias lifts the second way to the first, exactly, since the difference of two floats is a double without rounding. Then we draw at a temperature that is almost zero, and look whom greedy decoding takes.

@<Count what happens at the fork@>=
static bool print_tie(struct funnel *f, const float *logits,
  const struct crossing *x, struct error *why)
{
  double gap = (double) logits[x->way[0]] - (double) logits[x->way[1]];
  struct sequence_bias lift = @[{ &x->way[1], 1, gap }@];
  size_t first = 0, draws = 2000;
  for (int greedy = 0; greedy < 2; greedy++) {
    if (!funnel_fill(f, logits, why)) return false;
    funnel_sequence_bias(f, &lift, 1, NULL, 0);
    funnel_temperature(f, greedy ? 0 : 0.001);
    for (uint64_t seed = 0; !greedy && seed < draws; seed++)
      first += funnel_choose(f, seed, 0, 9) == x->way[0];
  }
  print_key("sampling.tie.cold", "%.3f", (double) first / (double) draws);
  print_key("sampling.tie.draws", "%zu", draws);
  print_key("claim.S3-21", "%d", f->candidates[0]
    == (x->way[0] < x->way[1] ? x->way[0] : x->way[1]));
  return true;
}

@ The numbers with two times 15 percent are those of the tutorial's example.

@<Count what happens at the fork@>=
static bool print_fork(struct fixture *lab, struct error *why)
{
  struct crossing x = @[{ .draws = 20000 }@];
  struct funnel *f = &lab->dice.f;
  size_t n;
  if (!lab_logits_after(lab, harvest, &n, lab->logits, why)
      || !funnel_fill(f, lab->logits, why)) return false;
  draw_many(f, n, &x);
  print_key("sampling.fork.at", "%zu", n + 1);
  print_key("sampling.fork.draws", "%zu", x.draws);
  for (int k = 0; k < 2; k++)
    printf("sampling.fork.p.%d %.3f\nsampling.fork.took.%d %.3f\n", k + 1,
      x.p[k], k + 1, (double) x.took[k] / (double) x.draws);
  print_key("sampling.fork.either", "%.4f", x.p[0] + x.p[1]);
  print_key("sampling.fork.both", "%.4f", 2 * x.p[0] * x.p[1]);
  print_key("sampling.agree.expected", "%.4f", x.square);
  print_key("sampling.agree.found", "%.4f",@|
    (double) x.same / (double) x.pairs);
  print_key("sampling.fork.wanted", "%.2f", 0.15 + 0.15);
  print_key("claim.S3-47", "%.3f", 2 * 0.15 * 0.15);
  print_error(f, &x, 1, n), print_error(f, &x, 100, n);
  return print_tie(f, lab->logits, &x, why);
}

@ For the figure each of the two ways is gone for a few steps: the word is put after the prompt, and the model goes on greedily. A piece is the last field of its line, so it may be a comma.

@<Go both ways@>=
static void print_pieces(struct session *u, int way, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(u->lab->t, u->lab->text.text.id[i], &n);
    printf("%d,%zu,%.*s\n", way, i, (int) n, (const char *) byte);
  }
}
static bool draw_fork(struct fixture *lab, struct error *why)
{
  static const char *const way[] = @[{ " Additionally", " However" }@];
  struct sampling_params greedy = at_temperature(0);
  struct session u = session_of(lab);
  printf("way,place,piece\n");
  for (int k = 0; k < 2; k++) {
    char prompt[80];
    snprintf(prompt, sizeof prompt, "%s%s", harvest, way[k]);
    if (!write_on(&u, prompt, 4, &greedy, 0, why)) return false;
    size_t n = lab->text.n_prompt - 1;
    if (k == 0) print_pieces(&u, 0, 0, n);
    print_pieces(&u, 1 + k, n, lab->text.text.n);
  }
  return true;
}

@* The draws against their probabilities. \label{lab:chi}
Does the race draw each token with its probability? The four tokens of the chapter's example are drawn \given{40,000} times, each time with another seed at the same place, and the counts are compared with what they should be. Pearson's statistic adds up the squares of the differences, each divided by its expectation.
@^chi-squared test@>

@<Test the draws against their probabilities@>=
static bool print_chi(struct fixture *lab, struct error *why)
{
  static const double p[4] = @[{ 0.4, 0.3, 0.2, 0.1 }@];
  enum { DRAWS = 40000 };
  size_t found[4] = @[{ 0 }@];
  float logits[4];
  double square = 0;
  struct funnel f;
  for (int i = 0; i < 4; i++) logits[i] = (float) num_log(p[i]);
  if (!funnel_open(&f, &lab->m, lab->e.k, 4, why)) return false;
  bool ok = funnel_fill(&f, logits, why);
  for (uint64_t seed = 0; ok && seed < DRAWS; seed++)
    found[funnel_choose(&f, seed, 0, 0)]++;
  funnel_close(&f);
  if (!ok) return false;
  print_key("sampling.chi.draws", "%d", DRAWS);
  for (int i = 0; i < 4; i++) {
    double off = (double) found[i] - p[i] * DRAWS;
    printf("sampling.chi.%d %zu\n", i + 1, found[i]);
    square += off * off / (p[i] * DRAWS);
  }
  print_key("sampling.chi.square", "%.3f", square);
  return true;
}

@* Texts of several seeds. \label{lab:several}
For each setting eight texts are written, of 48 tokens each, from the same prompt and with seeds from 0 on. Distinct-2 is the number of different pairs of neighbouring tokens in all eight, divided by the number of pairs: 1 if no pair comes twice. It says how
various the texts are, and nothing about whether they are any good. What the model thought of them is averaged over all their tokens.
@^distinct-n@>

@<Write several texts, and compare them@>=
enum { TEXTS = 8 };
struct habit { double distinct, entropy, logprob; size_t different; };
  /* distinct-2; entropy and log-probability of a token in bits; how many texts differ from
     all before them */
static bool write_several(struct session *u, const struct sampling_params *s,
  struct habit *h, struct error *why)
{
  uint32_t text[TEXTS][LONG];
  *h = (struct habit) @[{ .distinct = 0 }@];
  for (size_t i = 0, j; i < TEXTS; i++) {
    if (!write_on(u, harvest, LONG, s, i, why)) return false;
    memcpy(text[i], u->lab->text.text.id + u->lab->text.n_prompt, sizeof text[i]);
    h->entropy += u->entropy / (TEXTS * LONG);
    h->logprob += u->nats / (TEXTS * LONG);
    for (j = 0; memcmp(text[i], text[j], sizeof text[i]) != 0; ) j++;
    h->different += j == i;
  }
  h->distinct = (double) distinct_pairs(text[0], TEXTS, LONG)
    / (double) (TEXTS * (LONG - 1));
  h->entropy /= num_log(2), h->logprob /= num_log(2);
  return true;
}

@ \Cref{fig:warmth} has ten temperatures, \cref{tab:strategies} six strategies.

@<Write several texts, and compare them@>=
static bool draw_heat(struct fixture *lab, struct error *why)
{
  struct session u = session_of(lab);
  printf("t,entropy,distinct,logprob\n");
  for (int i = 1; i <= 10; i++) {
    struct sampling_params s = at_temperature(i / 5.0);
    struct habit h;
    if (!write_several(&u, &s, &h, why)) return false;
    printf("%.1f,%.4f,%.4f,%.4f\n", s.temperature, h.entropy,
      h.distinct, h.logprob);
  }
  return true;
}
static const struct { const char *name; double t; size_t k; double p; }
  strategy[] = @[{ {"greedy", 0, 0, 1}, {"near", 0.2, 0, 1},@|
    {"plain", 1, 0, 1}, {"hotter", 1.5, 0, 1}, {"topk", 1, 3, 1},@|
    {"nucleus", 1, 0, 0.7} }@];
enum { N_STRATEGIES = sizeof strategy / sizeof strategy[0] };
static bool print_strategies(struct fixture *lab, struct error *why)
{
  struct session u = session_of(lab);
  for (size_t i = 0; i < N_STRATEGIES; i++) {
    const char *name = strategy[i].name;
    struct sampling_params s = at_temperature(strategy[i].t);
    struct habit h;
    s.top_k = strategy[i].k, s.top_p = strategy[i].p;
    if (!write_several(&u, &s, &h, why)) return false;
    printf("sampling.%s.different %zu\nsampling.%s.distinct %.3f\n"
      "sampling.%s.entropy %.3f\nsampling.%s.logprob %.3f\n", name,@|
      h.different, name, h.distinct, name, h.entropy, name, h.logprob);
  }
  print_key("sampling.texts", "%d", TEXTS);
  print_key("sampling.long", "%d", LONG);
  return true;
}

@ The box of \cref{sec:several} has the beginning of one text of each strategy, all with the same seed. The end of a line is shown as a stroke.

@<Write several texts, and compare them@>=
static bool show_texts(struct fixture *lab, struct error *why)
{
  struct session u = session_of(lab);
  for (size_t i = 0; i < N_STRATEGIES; i++) {
    struct bytes text = @[{ NULL, 0, 0 }@];
    struct sampling_params s = at_temperature(strategy[i].t);
    s.top_k = strategy[i].k, s.top_p = strategy[i].p;
    bool ok = write_on(&u, harvest, 14, &s, 2, why)@|
      && tokenizer_decode(lab->t, &lab->m, lab->text.text.id
        + lab->text.n_prompt, 14, true, &text, why);
    for (size_t j = 0; j < text.n; j++)
      if (text.byte[j] == '\n') text.byte[j] = '/';
    if (ok) printf("%-8s%.*s\n", strategy[i].name,@|
      (int) (text.n < 50 ? text.n : 50), (const char *) text.byte);
    bytes_free(&lab->m, &text);
    if (!ok) return false;
  }
  return true;
}

@* Repetition. \label{lab:circles}
A text goes in a circle if its last so many tokens are the same as those before them and those before these: three times in a row. The length of the circle is not known; so all lengths are tried, the shortest first, and the comparison goes backwards from the end, where it mostly fails at once.

@<Look for a circle@>=
static size_t circle(const uint32_t *id, size_t n)
{
  for (size_t period = 1; period <= n / 3; period++) {
    size_t i = n - 1;
    while (i >= n - 2 * period && id[i] == id[i - period]) i--;
    if (i < n - 2 * period) return period;
  }
  return 0;
}

@ If a measure has broken the circle, which stage acted? To know it, the best token is looked at before the stages, which is what the loop has put into |*chosen|, and after each of them; the first stage after which it is another has acted. The loop asks a chooser for every token; this one runs the stages one by one before it lets the sampler choose.

A token is still the best if none that is left has a higher score, or an equal one and a lower id.

@<Choose, and note which stage acted@>=
struct witness { struct sampler *dice; size_t acted, steps, first; };
static bool is_best(const struct funnel *f, uint32_t id)
{
  for (size_t i = 0; i < f->n; i++) {
    uint32_t other = f->candidates[i];
    if (f->score[other] > f->score[id]
      || (f->score[other] == f->score[id] && other < id))
      return false;
  }
  return f->score[id] > -INFINITY;
}
static bool choose_watched(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct witness *x = ctx;
  struct funnel *f = &x->dice->f;
  struct history h = @[{ text->text.id, text->text.n, text->n_prompt }@];
  if (!funnel_fill(f, logits, why)) return false;
  x->steps++;
  for (size_t i = 0; i < x->dice->s.n_stages; i++) {
    sampling_stage_run(f, &x->dice->s, x->dice->s.stage[i], h);
    if (f->n == 0) return error_say(why, "no token is left");
    if (is_best(f, *chosen)) continue;
    if (x->first == 0) x->first = x->steps;
    x->acted++;
    break;
  }
  return sampler_choose(x->dice, logits, text, chosen, why);
}

@ The measures to be tried are the settings below; each is used alone, and greedily, but for the last.

@<Break the circle@>=
static const struct { const char *name; double r, frequency, presence;
  size_t ngram; double t; } measure[] = @[{@|
  {"none", 1, 0, 0, 0, 0}, {"presence", 1, 0, 1, 0, 0},@|
  {"frequency", 1, 0.5, 0, 0, 0}, {"repetition", 1.1, 0, 0, 0, 0},@|
  {"strong", 1.5, 0, 0, 0, 0}, {"ngram", 1, 0, 0, 4, 0},@|
  {"warmth", 1, 0, 0, 0, 1} }@];
enum { N_MEASURES = sizeof measure / sizeof measure[0] };
static bool try_measure(struct session *u, int i, struct witness *x,
  struct error *why)
{
  struct sampling_params s = at_temperature(measure[i].t);
  s.repetition_penalty = measure[i].r, s.no_repeat_ngram = measure[i].ngram;
  s.frequency_penalty = measure[i].frequency;
  s.presence_penalty = measure[i].presence;
  *x = (struct witness) @[{ .dice = &u->lab->dice }@];
  u->choose = choose_watched, u->chooser = x;
  return write_on(u, harvest, ROUND, &s, 0, why);
}

@ What is reported of each: the length of the circle in which the text ends, 0 if in none; the first step at which a stage acted, and how often; and what the text cost, in the model's opinion of its tokens. A measure that breaks the circle by making the model say what it does not believe has a price.

@<Break the circle@>=
static bool print_measures(struct fixture *lab, struct error *why)
{
  struct session u = session_of(lab);
  struct witness x;
  for (int i = 0; i < N_MEASURES; i++) {
    const char *name = measure[i].name;
    if (!try_measure(&u, i, &x, why)) return false;
    printf("sampling.loop.%s.circle %zu\nsampling.loop.%s.first %zu\n"
      "sampling.loop.%s.acted %zu\nsampling.loop.%s.logprob %.3f\n", name,@|
      circle(lab->text.text.id, lab->text.text.n), name, x.first, name, x.acted,@|
      name, u.nats / (double) u.steps / num_log(2));
  }
  print_key("sampling.loop.long", "%d", ROUND);
  return true;
}

@ For the figure the surprise of all tokens so far is added up, in bits: in a circle the same surprises come again, and the line is the same again.

@<Break the circle@>=
static bool draw_circles(struct fixture *lab, struct error *why)
{
  static double bits[N_MEASURES][ROUND];
  struct session u = session_of(lab);
  struct witness x;
  for (int i = 0; i < N_MEASURES; i++) {
    if (!try_measure(&u, i, &x, why)) return false;
    memcpy(bits[i], u.trail, sizeof bits[i]);
  }
  printf("step");
  for (int i = 0; i < N_MEASURES; i++) printf(",%s", measure[i].name);
  for (size_t k = 0; k < ROUND; k++) {
    printf("\n%zu", k + 1);
    for (int i = 0; i < N_MEASURES; i++)
      printf(",%.3f", bits[i][k] / num_log(2));
  }
  printf("\n");
  return true;
}

@* A toy that repeats itself. \label{lab:toyloop}
A model of three tokens whose logits never change needs no loop and no model: the stages run on its logits, the likeliest token that is left is appended, and so on until no token is left or the text is long enough. Of each setting we print how many tokens were
written, how many of them were not the first, and the circle at the end.

@<Let a toy go round@>=
enum { TOY = 60 };
static size_t run_toy(struct funnel *f, const struct sampling_params *s,
  uint32_t *id)
{
  static const float logits[3] = @[{ 5, 3, 2.5f }@];
  size_t n = 0;
  struct error why;
  while (n < TOY && sampling_run(f, s, logits,
      (struct history) @[{ id, n, 0 }@], &why)) {
    funnel_temperature(f, 0);
    id[n++] = f->candidates[0];
  }
  return n;
}
static bool print_toy(struct fixture *lab, struct error *why)
{
  static const struct { const char *name; double r, frequency, presence;
    size_t ngram; } toy[] = @[{ {"presence1", 1, 0, 1, 0},@|
    {"presence2", 1, 0, 2.5, 0}, {"repetition1", 1.2, 0, 0, 0},@|
    {"repetition2", 2, 0, 0, 0}, {"frequency", 1, 0.5, 0, 0},@|
    {"ngram", 1, 0, 0, 2} }@];
  struct funnel f;
  if (!funnel_open(&f, &lab->m, lab->e.k, 3, why)) return false;
  for (size_t i = 0; i < sizeof toy / sizeof *toy; i++) {
    const char *name = toy[i].name;
    uint32_t id[TOY];
    struct sampling_params s = sampling_default();
    s.repetition_penalty = toy[i].r, s.presence_penalty = toy[i].presence;
    s.frequency_penalty = toy[i].frequency, s.no_repeat_ngram = toy[i].ngram;
    size_t n = run_toy(&f, &s, id), others = 0;
    for (size_t k = 0; k < n; k++) others += id[k] != 0;
    printf("sampling.toy.%s.length %zu\nsampling.toy.%s.others %zu\n"
      "sampling.toy.%s.circle %zu\n", name, n, name, others, name,
      circle(id, n));
  }
  funnel_close(&f);
  return true;
}

@* A model that reads its own text. \label{lab:exposure}
At a place of a tale the true text is cut off, and the model writes on greedily. Each of its tokens is compared with the true one in the same place. For comparison the model is also given the true text at each place: that is what it was trained for. All rows of the tale are read
in one pass, and each says what it expects next. Both kinds of prediction are counted, place by place, from every fifth token on.

@<Predict from the tale, and from one's own text@>=
enum { AHEAD = 16 };
struct forced { size_t tries, right[AHEAD], given[AHEAD]; };
static bool run_ahead(struct session *u, const struct ids *tale,
  struct forced *x, struct error *why)
{
  struct sampling_params greedy = at_temperature(0);
  float *logits = lab_take(u->lab, tale->n * u->lab->vocab, sizeof *logits, why);
  if (logits == NULL || !lab_logits(u->lab, u->lab->b.s, tale->id, tale->n,
      tale->n, logits, why)) return false;
  for (size_t at = 10; at + AHEAD <= tale->n; at += 5) {
    if (!write_ids(u, tale->id, at, AHEAD, &greedy, 0, why)) return false;
    for (size_t i = 0; i < AHEAD; i++) {
      uint32_t truth = tale->id[at + i];
      x->right[i] += u->lab->text.text.id[at + i] == truth;
      x->given[i] += best_token(logits + (at + i - 1) * u->lab->vocab, u->lab->vocab)
        == truth;
    }
    x->tries++;
  }
  return true;
}
static bool measure_exposure(struct fixture *lab, struct forced *x,
  struct error *why)
{
  struct ids tale;
  struct session u = session_of(lab);
  *x = (struct forced) @[{ .tries = 0 }@];
  return lab_tale(lab, &tale, why) && run_ahead(&u, &tale, x, why);
}

@ The prose has the first place and the last; the figure has them all.

@<Predict from the tale, and from one's own text@>=
static bool draw_exposure(struct fixture *lab, struct error *why)
{
  struct forced x;
  if (!measure_exposure(lab, &x, why)) return false;
  printf("place,forced,free\n");
  for (size_t i = 0; i < AHEAD; i++)
    printf("%zu,%.4f,%.4f\n", i + 1, (double) x.given[i] / (double) x.tries,
      (double) x.right[i] / (double) x.tries);
  return true;
}
static bool print_exposure(struct fixture *lab, struct error *why)
{
  struct forced x;
  if (!measure_exposure(lab, &x, why)) return false;
  double n = (double) x.tries;
  print_key("sampling.exposure.tries", "%zu", x.tries);
  print_key("sampling.exposure.places", "%d", AHEAD);
  print_key("sampling.forced.1", "%.3f", (double) x.given[0] / n);
  print_key("sampling.forced.last", "%.3f", (double) x.given[AHEAD - 1] / n);
  print_key("sampling.free.1", "%.3f", (double) x.right[0] / n);
  print_key("sampling.free.last", "%.3f", (double) x.right[AHEAD - 1] / n);
  return true;
}

@* Another order of summation. \label{lab:otherorder}
The table of kernels gets another |linear|, which is what anybody would write first: for each output a sum that grows from left to right. The weights may be of any type and in either order. The built-in model has no biases, so nothing is missing here; its attention, norms and curves stay as they are.

@<Add up in another order@>=
static void plain_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++) {
    const struct matrix *w = &list[m];
    for (size_t i = 0; i < rows * w->out; i++) {
      size_t row = i / w->out, o = i % w->out;
      float sum = 0;
      for (size_t k = 0; k < w->in; k++)
        sum += x[row * w->in + k] * tensor_number(w->weight,
          w->transposed ? k * w->out + o : o * w->in + k);
      y[m][i] = sum;
    }
  }
}

@ Row by row the two lists of logits are compared: the numbers, bit by bit; the likeliest token; and those that many seeds draw from each of the two distributions.

@<Add up in another order@>=
enum { OTHER_ROWS = 96, SEEDS = 200 };
struct otherwise { size_t differ, flips, drawn; double most; };
static bool compare_rows(struct funnel *f, const float *a, const float *b,
  uint32_t position, struct otherwise *x, struct error *why)
{
  uint32_t first[SEEDS];
  x->most = fmax(x->most, farthest(a, b, f->vocab));
  x->flips += best_token(a, f->vocab) != best_token(b, f->vocab);
  for (size_t i = 0; i < f->vocab; i++) x->differ += a[i] != b[i];
  if (!funnel_fill(f, a, why)) return false;
  for (uint64_t i = 0; i < SEEDS; i++)
    first[i] = funnel_choose(f, i, 0, position);
  if (!funnel_fill(f, b, why)) return false;
  for (uint64_t i = 0; i < SEEDS; i++)
    x->drawn += funnel_choose(f, i, 0, position) != first[i];
  return true;
}

@ For the second reading the laboratory's engine has other kernels. The beginning of the tale is enough. The greatest difference is given in millionths, as it is that small.

@<Add up in another order@>=
static bool print_other_order(struct fixture *lab, struct error *why)
{
  struct otherwise x = @[{ .most = 0 }@];
  struct ids tale;
  struct kernels other = *lab->e.k;
  const struct kernels *usual = lab->e.k;
  size_t v = lab->model->config.vocab_size, n = OTHER_ROWS * v;
  float *a = lab_take(lab, 2 * n, sizeof *a, why), *b = a + n;
  bool ok = a != NULL && lab_tale(lab, &tale, why) && lab_logits(lab,
    lab->b.s, tale.id, OTHER_ROWS, OTHER_ROWS, a, why);
  other.linear = plain_linear, lab->e.k = &other;
  ok = ok && lab_logits(lab, lab->b.s, tale.id, OTHER_ROWS, OTHER_ROWS, b, why);
  lab->e.k = usual;
  for (uint32_t i = 0; ok && i < OTHER_ROWS; i++)
    ok = compare_rows(&lab->dice.f, a + i * v, b + i * v, i, &x, why);
  if (!ok) return false;
  print_key("sampling.order.entries", "%zu", n);
  print_key("sampling.order.differ claim.S3-49", "%.3f",@|
    (double) x.differ / (double) n);
  print_key("sampling.order.most", "%.1f", 1e6 * x.most);
  print_key("sampling.order.places", "%d", OTHER_ROWS);
  print_key("sampling.order.flips", "%zu", x.flips);
  print_key("sampling.order.draws", "%d", OTHER_ROWS * SEEDS);
  print_key("sampling.order.drawn", "%zu", x.drawn);
  return true;
}

@* One kernel for a row, another for many. \label{lab:twokernels}
Most engines have two kernels for a product with a matrix: one for a single row, which is made for reading weights fast, and one for many rows, which is made for multiplying. Each adds in the order that suits it. So the same token's logits depend on how many tokens were in its pass. We give our engine such a pair: a row alone keeps the order of the book, and many rows are added from left to right.

@<Add up in another order@>=
static void paired_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  if (rows == 1) kernels_plain.linear(e, list, n, x, rows, y);
  else plain_linear(e, list, n, x, rows, y);
}
static bool read_singly(struct fixture *lab, const uint32_t *id, size_t n,
  float *logits, struct error *why)
{
  bool ok = true;
  store_clear(lab->b.s);
  for (uint32_t i = 0; ok && i < n; i++) {
    struct pass *p = NULL;
    const struct row row = @[{ 0, i, id[i] }@];
    ok = model_forward(&lab->e, lab->model, lab->b.s, &row, 1, &p, why)
      && model_logits(&lab->e, lab->model, p, &(size_t) @[{ 0 }@], 1,@|
        logits + i * lab->model->config.vocab_size, why);
    pass_close(p);
  }
  return ok;
}

@ The beginning of the tale is read twice with these kernels: in one pass, as a loop without a cache reads it, and row by row, as a loop with a cache does.

@<Add up in another order@>=
static bool print_two_kernels(struct fixture *lab, struct error *why)
{
  struct otherwise x = @[{ .most = 0 }@];
  struct ids tale;
  struct kernels pair = *lab->e.k;
  const struct kernels *usual = lab->e.k;
  size_t v = lab->model->config.vocab_size, n = OTHER_ROWS * v;
  float *a = lab_take(lab, 2 * n, sizeof *a, why), *b = a + n;
  pair.linear = paired_linear, lab->e.k = &pair;
  bool ok = a != NULL && lab_tale(lab, &tale, why)@|
    && lab_logits(lab, lab->b.s, tale.id, OTHER_ROWS, OTHER_ROWS, a, why)
    && read_singly(lab, tale.id, OTHER_ROWS, b, why);
  lab->e.k = usual;
  for (uint32_t i = 0; ok && i < OTHER_ROWS; i++)
    ok = compare_rows(&lab->dice.f, a + i * v, b + i * v, i, &x, why);
  if (!ok) return false;
  print_key("sampling.pair.entries", "%zu", n);
  print_key("sampling.pair.differ", "%zu", x.differ);
  print_key("sampling.pair.flips", "%zu", x.flips);
  print_key("sampling.pair.draws", "%d", OTHER_ROWS * SEEDS);
  print_key("sampling.pair.drawn", "%zu", x.drawn);
  return true;
}

@* Activations in two bytes. \label{lab:halforder}
Those experiments keep every intermediate number in four bytes. Accelerators mostly keep two: the result of a product with a matrix is rounded to bfloat16, which has eight bits for the digits. Then a sum that differs in its last bit is rounded, now and then, to the other of two neighbours, and those are a part in $2^8$ apart. So we round, too, and read a text twice: once with the book's order of lanes, and once with sums that grow from left to right.

@<Add up in another order@>=
static void round_to_halves(const struct matrix *list, size_t n, size_t rows,
  float *const *y)
{
  for (size_t m = 0; m < n; m++)
    for (size_t i = 0; i < rows * list[m].out; i++)
      y[m][i] = num_from_bf16(num_to_bf16(y[m][i]));
}
static void lanes_in_halves(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  kernels_plain.linear(e, list, n, x, rows, y);
  round_to_halves(list, n, rows, y);
}
static void line_in_halves(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  plain_linear(e, list, n, x, rows, y);
  round_to_halves(list, n, rows, y);
}

@ The tales are read twice, and each place is a decision of greedy decoding: where the likeliest token is another one, a text that came this far would go on differently.

@<Add up in another order@>=
enum { HALF_PLACES = 600 };
static bool read_in_halves(struct fixture *lab, const struct kernels *k,
  const uint32_t *id, float *logits, struct error *why)
{
  const struct kernels *usual = lab->e.k;
  lab->e.k = k;
  bool ok = lab_logits(lab, lab->b.s, id, HALF_PLACES, HALF_PLACES, logits, why);
  lab->e.k = usual;
  return ok;
}
static bool print_half_order(struct fixture *lab, struct error *why)
{
  struct ids tales;
  struct kernels lanes = *lab->e.k, line = lanes;
  size_t flips = 0, differ = 0, v = lab->vocab, n = HALF_PLACES * v;
  float *a = lab_take(lab, 2 * n, sizeof *a, why), *b = a + n;
  lanes.linear = lanes_in_halves, line.linear = line_in_halves;
  if (a == NULL || !lab_tales(lab, &tales, why)
      || !read_in_halves(lab, &lanes, tales.id, a, why)
      || !read_in_halves(lab, &line, tales.id, b, why)) return false;
  for (size_t i = 0; i < HALF_PLACES; i++)
    flips += best_token(a + i * v, v) != best_token(b + i * v, v);
  for (size_t i = 0; i < n; i++) differ += a[i] != b[i];
  print_key("sampling.half.places", "%d", HALF_PLACES);
  print_key("sampling.half.differ", "%.3f", (double) differ / (double) n);
  print_key("sampling.half.flips", "%zu", flips);
  return true;
}

@* The order of the stages. \label{lab:stageorder}
Settings are drawn by the generator of chapter 7: a temperature always, each of the three cuts with an even chance, and all from four words of random bits. Each set of settings is applied in our order and in that of llama.cpp, which divides by the temperature last.

@<Change the order of the stages@>=
static const char *const llama_order[] = @[{ "bias", "penalties", "ngram",@|
  "top_k", "typical_p", "top_p", "min_p", "temperature" }@];
static struct sampling_params drawn_settings(uint32_t number)
{
  uint32_t key[2] = @[{ 7, 0 }@], counter[4] = @[{ number, 0, 0, 7 }@], out[4];
  philox4x32(key, counter, out);
  struct sampling_params s = at_temperature(0.5 + (out[0] % 16) / 10.0);
  if (out[1] % 2 == 1) s.top_k = 1 + out[1] / 2 % 40;
  if (out[2] % 2 == 1) s.top_p = 0.5 + (out[2] / 2 % 10) / 20.0;
  if (out[3] % 2 == 1) s.min_p = (out[3] / 2 % 10) / 40.0;
  return s;
}
static bool both_orders(struct funnel *f, struct sampling_params s,
  const float *logits, size_t left[2], struct error *why)
{
  struct history none = @[{ NULL, 0, 0 }@];
  for (int k = 0; k < 2; k++) {
    if (!sampling_run(f, &s, logits, none, why)) return false;
    left[k] = f->n;
    if (!sampling_stages_parse(&s, llama_order,@|
        sizeof llama_order / sizeof *llama_order, why)) return false;
  }
  return true;
}

@ Two sets of tokens are the same if they are as many: both are the beginning of the same order. One set of settings is to be looked at: a temperature of 2, and a nucleus of nine tenths, at the fork. How wide a nucleus is, is the model's affair and not the setting's; so the same nine tenths are also taken at a place where the model is sure.

@<Change the order of the stages@>=
static bool print_orders(struct fixture *lab, struct error *why)
{
  struct funnel *f = &lab->dice.f;
  size_t n, differ = 0, sets = 1000, left[2];
  if (!lab_logits_after(lab, harvest, &n, lab->logits, why)) return false;
  for (uint32_t number = 0; number < sets; number++) {
    if (!both_orders(f, drawn_settings(number), lab->logits, left, why))
      return false;
    differ += left[0] != left[1];
  }
  struct sampling_params s = at_temperature(2);
  s.top_p = 0.9;
  if (!both_orders(f, s, lab->logits, left, why)
      || !lab_logits_after(lab, "The cat sat on", &n, lab->logits, why)
      || !funnel_fill(f, lab->logits, why)) return false;
  funnel_top_p(f, 0.9);
  print_key("sampling.orders.sets", "%zu", sets);
  print_key("sampling.orders.differ", "%zu", differ);
  print_key("sampling.order.before", "%zu", left[0]);
  print_key("sampling.order.after", "%zu", left[1]);
  print_key("sampling.sure", "%zu", f->n);
  return true;
}

@* Cost. \label{lab:samplingcost}
The cost of a choice does not depend on a model, only on the size of the vocabulary and the shape of the distribution. So as many scores as Llama 3 has tokens are drawn from a normal distribution. There are five loads, as settings of the sampler: the one that draws nothing, the one that
cuts nothing, one as recommendations go, and two whose cut has to look at the whole vocabulary.

@<Fill a large vocabulary@>=
enum { LARGE = 128256, TURNS = 41 };
static float large[LARGE];
static void fill_large(void)
{
  for (uint32_t i = 0; i < LARGE; i++) {
    uint32_t key[2] = @[{ 8, 0 }@], counter[4] = @[{ i, 0, 0, 8 }@], w[4];
    philox4x32(key, counter, w);
    double radius = sqrt(-2 * num_log((w[0] + 0.5) * 0x1p-32));
    double angle = (w[1] + 0.5) * 0x1p-32 * 6.283185307179586;
    large[i] = (float) (3 * radius * num_cos(angle));
  }
}
static const struct { const char *name; double t; size_t k;
  double p, m, typical; } load[] = @[{ {"greedy", 0, 0, 1, 0, 1},@|
  {"plain", 1, 0, 1, 0, 1}, {"usual", 0.8, 40, 0.95, 0.05, 1},@|
  {"nucleus", 1, 0, 0.9, 0, 1}, {"typical", 1, 0, 1, 0, 0.9} }@];
enum { N_LOADS = sizeof load / sizeof load[0] };
static bool carry(struct funnel *f, int i, uint64_t seed, struct error *why)
{
  struct sampling_params s = at_temperature(load[i].t);
  s.top_k = load[i].k, s.top_p = load[i].p;
  s.min_p = load[i].m, s.typical_p = load[i].typical;
  if (!sampling_run(f, &s, large, (struct history) @[{ NULL, 0, 0 }@], why))
    return false;
  funnel_choose(f, seed, 0, 0);
  return true;
}

@ What is counted is the same on every machine, and so these numbers are keys.

@<Fill a large vocabulary@>=
static bool print_work(struct fixture *lab, struct error *why)
{
  struct funnel f;
  size_t before = lab->m.all.live;
  if (!funnel_open(&f, &lab->m, lab->e.k, LARGE, why)) return false;
  print_key("sampling.large", "%d", LARGE);
  print_key("sampling.room", "%zu bytes", lab->m.all.live - before);
  fill_large();
  bool ok = true;
  for (int i = 1; ok && i < N_LOADS; i++) {
    f.bits = f.noises = 0;
    ok = carry(&f, i, 0, why);
    if (ok) printf("sampling.%s.left %zu\nsampling.%s.bits %" PRIu64
      "\nsampling.%s.noises %" PRIu64 "\n", load[i].name, f.n, load[i].name,
      f.bits, load[i].name, f.noises);
  }
  funnel_close(&f);
  return ok;
}

@ The times are not the same on every machine. They are measured on demand, and \cref{fig:samplerclock} shows the file of the last measurement: five settings, on one core, from the list of logits to the token.

\fig{samplerclock}{fig:samplerclock}{What a choice among \val{sampling.large} tokens takes on one core. With nothing cut, half of the time goes into random bits; with a nucleus, most goes into sorting. The usual settings cut to a few dozen tokens before anything expensive is done. Measured once, on the machine that the file of the numbers names.}{Five bars: greedy, the usual settings, a nucleus, typical sampling, and nothing cut. All are below five milliseconds.}

@<Fill a large vocabulary@>=
static bool print_clock(struct fixture *lab, struct error *why)
{
  struct funnel f;
  if (!funnel_open(&f, &lab->m, lab->e.k, LARGE, why)) return false;
  fill_large();
  printf("setting,tokens,low,median,high\n");
  bool ok = true;
  for (int i = 0; ok && i < N_LOADS; i++) {
    double seconds[TURNS];
    for (int k = 0; ok && k < TURNS; k++) {
      double began = timing_seconds();
      ok = carry(&f, i, (uint64_t) k, why);
      seconds[k] = timing_seconds() - began;
    }
    printf("%s,%d", load[i].name, LARGE);
    print_quartiles(seconds, TURNS, 1e3, 3);
    printf("\n");
  }
  funnel_close(&f);
  return ok;
}

@ The prose quotes the medians of that file, so they are keys.

@<Fill a large vocabulary@>=
static bool take_clock(void *ctx, const char *line)
{
  char name[16];
  double low, median;
  (void) ctx;
  if (sscanf(line, "%15[a-z],%*u,%lf,%lf", name, &low, &median) != 3) return false;
  printf("sampling.clock.%s %.3f\n", name, median);
  return true;
}
static bool print_clock_keys(struct fixture *lab, struct error *why)
{
  (void) lab;
  return data_read("sampling.clock", take_clock, NULL, N_LOADS, why);
}

@* What became of the claims. \label{lab:samplingclaims}
Some small things remain. The extremes should agree: the best one token at any temperature is greedy decoding's, whatever the seed. And a share that a sum reaches exactly: four tokens of a quarter each are cut at a half. The rule ``exceeds'' is applied by hand, since the module does not have it.

@<Put some claims to the test@>=
static bool print_extremes(struct fixture *lab, struct error *why)
{
  static const float even[4] = @[{ 0, 0, 0, 0 }@];
  struct sampling_params greedy = at_temperature(0), one = sampling_default();
  uint32_t text[LONG];
  size_t same = 0, exceed = 1;
  struct session u = session_of(lab);
  struct funnel f;
  one.top_k = 1;
  bool ok = write_on(&u, harvest, LONG, &greedy, 0, why);
  if (ok) memcpy(text, lab->text.text.id + lab->text.n_prompt, sizeof text);
  ok = ok && write_on(&u, harvest, LONG, &one, 5, why);
  for (size_t i = 0; ok && i < LONG; i++)
    same += lab->text.text.id[lab->text.n_prompt + i] == text[i];
  if (!ok || !funnel_open(&f, &lab->m, lab->e.k, 4, why)) return false;
  ok = funnel_fill(&f, even, why);
  funnel_top_p(&f, 0.5);
  while (!(0.25 * (double) exceed > 0.5)) exceed++;
  print_key("sampling.k1.same claim.S1-29 claim.S3-44 claim.S1-27 claim.S3-22",
    "%zu", same);
  print_key("sampling.reach", "%zu", f.n);
  print_key("claim.S1-30", "%zu", exceed);
  funnel_close(&f);
  return ok;
}

@ Does greedy decoding always come into a circle? In random tables of four tokens the next token is a function of the last three, so there are only 64 states, and the 65th is one that has been seen. The program goes so far and no farther, and counts the tables in which it was so: how many went round, how long the circle is in the mean, and the longest.

@<Put some claims to the test@>=
enum { TABLES = 500, STATES = 64 };
static size_t find_circle(uint32_t table)
{
  size_t seen[STATES] = @[{ 0 }@], state = 0, step = 1;
  for (; step <= STATES && seen[state] == 0; step++) {
    uint32_t key[2] = @[{ 9, 0 }@], out[4];
    uint32_t counter[4] = @[{ (uint32_t) state, table, 0, 9 }@];
    philox4x32(key, counter, out);
    seen[state] = step;
    state = (state * 4 + out[0] % 4) % STATES;
  }
  return seen[state] == 0 ? 0 : step - seen[state];
}
static bool print_cycles(struct fixture *lab, struct error *why)
{
  size_t total = 0, max_len = 0, circles = 0;
  (void) lab, (void) why;
  for (uint32_t table = 0; table < TABLES; table++) {
    size_t length = find_circle(table);
    total += length, circles += length > 0;
    max_len = length > max_len ? length : max_len;
  }
  print_key("claim.S1-28 claim.S3-23", "%zu", circles);
  print_key("sampling.cycle.tables", "%d", TABLES);
  print_key("sampling.cycle.mean", "%.2f", (double) total / TABLES);
  print_key("sampling.cycle.longest", "%zu", max_len);
  return true;
}

@ The rest is arithmetic on numbers that the tutorials give.

@<Put some claims to the test@>=
static bool print_arithmetic(struct fixture *lab, struct error *why)
{
  (void) lab, (void) why;
  print_key("claim.S1-40", "%.4f", 0.01 / (0.01 + 0.1));
  print_key("sampling.agree.90", "%.6f", num_pow(0.9, 100));
  print_key("claim.S3-46", "%.3f", num_pow(0.99, 100));
  print_key("sampling.error.one", "%.2f", sqrt(0.25));
  print_key("claim.S3-48", "%.2f", sqrt(0.25 / 100));
  print_key("sampling.drift.100", "%.3f", num_pow(0.99, 100));
  print_key("claim.S3-51", "%.4f", num_pow(0.99, 500));
  return true;
}

@* Claims of the tutorials. \label{lab:samplingtutorials}
The chapter has two boxes. These are the other claims on sampling, with what the runs say.

\begin{tutorial}{untested}{S2-97}
\quoted{Use 0.0-0.3 for factual tasks, 0.7-1.0 for creative tasks.}
No run here can say which tasks are factual. One remark: a temperature of 0 is no small temperature. It is a branch of the program, since the formula divides by it; at a tie the two differ (\val[3]{sampling.tie.cold} of the draws at $10^{-3}$, all or none at 0), and some programs refuse it.
\end{tutorial}

\begin{claimed}{S3-45}
it may: at the fork two draws agree in \val[3]{sampling.agree.found} of the pairs, and where the model is sure nearly always. With the same seed they agree in all of them.
\end{claimed}

\begin{claimed}{S2-103}
in the text of \cref{sec:loops} each of them does. None is certain to: in the toy of \cref{sec:toyloop} both presence penalties and both repetition penalties end in the circle that they began with, the frequency penalty in one of \val[word]{sampling.toy.frequency.circle}, and n-gram blocking after \val[word]{sampling.toy.ngram.length} tokens with nothing left to say.
\end{claimed}

@ The others, in one paragraph each. Greedy decoding gives the same text for the same prompt in our engine (S1-27, S2-08, S2-100, S3-22), and not in all; one source says rightly ``assuming identical infrastructure'' (S3-49), and \cref{sec:otherorder} has put numbers to the assumption. It repeats itself (S1-28, S3-23): of random tables, \val{sampling.cycle.tables} of them, in which the next of four tokens depends on the last three, all end in a circle, of \val[1]{sampling.cycle.mean} tokens on the average and \val{sampling.cycle.longest} at most, as they must, with 64 states. That greedy decoding is temperature 0 (S3-21) is a convention, and a good one.

Top-k keeps $k$ (S1-29); a nucleus adapts to the distribution, which a fixed $k$ does not (S1-31, S2-105): at the fork $p=\given{0.9}$ keeps \val{sampling.order.after} tokens, and after \tok{The}\tok{\ cat}\tok{\ sat}\tok{\ on} it keeps \val{sampling.sure} (\cref{sec:tails}). A temperature below 1 sharpens and one above 1 flattens (S1-32, S2-87, S2-88, S2-96, S3-24, S3-25); the entropies are in \cref{sec:heat}. Every choice above temperature 0 involves chance (S3-44), except where one token is left: top-k with $k=1$ repeats the greedy text. One different choice can change everything that follows (S3-46): if two texts agree at each step with the probability $\frac9{10}$, they agree for \given{100} steps with \val[6]{sampling.agree.90}, and with \given{0.99} still only with \val[3]{claim.S3-46}.

One output is no evaluation (S3-48): where half of the answers are right, the standard error is \val[2]{sampling.error.one} with one text and \val[2]{claim.S3-48} with \given{100}. Errors of a model's own go on from errors (S1-40), and with an error of one percent a token a text of \given{100} tokens is free of them with \val[3]{sampling.drift.100}, one five times as long with \val[4]{claim.S3-51} (S3-51), if they come independently, which they do not: that is exposure bias.
Which strategy most chatbots use (S3-26), and that beams are commoner in translation (S1-34), no program can decide.
