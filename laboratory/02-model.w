@i types.w
@s tap_fn int
@s toy int

\chapterquestion{Are the claims of chapter 2 true of a model that fits on a page?}
@** Experiments on the forward pass. \label{lab:model}
\incipit{A}{ model} of four words can be asked everything. All the texts of four tokens that it could write are \val{chain.texts}, and we can go through them. We can strike out a position too late, double a row of a
matrix, or put another token in the tenth place, and see what changes. Where chance is wanted, as for long sums and large scores, the numbers are random, and the same on every machine (\cref{lab:random}).

With |"saturation"| the program prints the points of \cref{fig:saturation}, with |"touched"| those of \cref{fig:touched}, and with |"values"| the keys that the prose quotes.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "laboratory/kit.h"
#include "functions/numbers.h"
#include "model/experts.h"
#include "model/toy.h"
@;@#
@<Count what follows from the shapes@>@;
@<How large the stream becomes@>@;
@<What two passes cost@>@;
@<How far off are the two orders of a sum@>@;
@<What large scores do to a softmax@>@;
@<How many experts do some rows choose@>@;
@<The chance of a text@>@;
@<Change the tenth token@>@;
@<What became of the claims@>@;
int main(int argc, char **argv)
{
  static const struct lab_command words[] = @[{ { "saturation",@|
    print_saturation }, { "values", print_sums }, { "values", print_weights },@|
    { "values", print_text }, { "values", print_toy },@|
    { "values", print_sizes }, { "values", print_stream },@|
    { "values", print_costs }, { "values", print_experts },@|
    { "touched", print_touched }, { NULL, NULL } }@];
  return lab_main(argc, argv, words);
}

@* Shapes. \label{lab:sizes}
The table of shapes is arithmetic on the settings of three models: those of the built-in one as they were read, and the published ones of GPT-2 small and Llama 3 8B. A matrix has as many parameters as multiply--adds; biases and
norms have parameters only.

@<Count what follows from the shapes@>=
static uint64_t matrices_of(const struct model_config *c, uint64_t *mlp)
{
  uint64_t d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t kv = (uint64_t) c->n_kv_heads * c->head_dim;
  *mlp = (c->gated ? 3 : 2) * d * c->d_inner;
  return d * (q + 2 * kv) + q * d + *mlp;
}
static uint64_t others_of(const struct model_config *c)
{
  uint64_t d = c->d_model, qkv = (uint64_t) (c->n_heads + 2 * c->n_kv_heads)
    * c->head_dim;
  uint64_t norms = c->layer_norm ? 4 * d : 2 * d;
  return norms + (c->qkv_bias ? qkv : 0) + (c->out_bias ? d : 0)
    + (c->mlp_bias ? c->d_inner + d : 0);
}

@ One model prints its shape, and what follows. The embedding and the head are one matrix in a model that is \emph{tied}.

@<Count what follows from the shapes@>=
static void print_size(const char *name, const struct model_config *c)
{
  uint64_t mlp, d = c->d_model, layer = matrices_of(c, &mlp), L = c->n_layers;
  uint64_t head = d * c->vocab_size, places = c->n_positions * d;
  uint64_t all = (c->tied ? 1 : 2) * head + (c->learned_positions ? places : 0)
    + L * (layer + others_of(c)) + (c->layer_norm ? 2 : 1) * d;
  struct { const char *what; uint64_t n; } key[] = @[{@|
    {"layers", L}, {"width", d}, {"heads", c->n_heads}, {"kv", c->n_kv_heads},@|
    {"head", c->head_dim}, {"inner", c->d_inner}, {"vocabulary", c->vocab_size},@|
    {"context", c->n_positions}, {"parameters", all},@|
    {"flops", 2 * (L * layer + head)},@|
    {"pair", 4 * L * c->n_heads * c->head_dim} }@];
  for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
    print_key(label_of("sizes.%s.%s", name, key[i].what).text, "%" PRIu64, key[i].n);
  print_key(label_of("sizes.%s.mlp", name).text, "%.4f",
    100 * (double) (L * mlp) / (double) all);
}

@ The three models. What the arithmetic says of the built-in model must be what its tensors have.

@<Count what follows from the shapes@>=
static bool print_sizes(struct fixture *lab, struct error *why)
{
  static const struct model_config gpt2 = @[{ .n_layers = 12, .d_model = 768,@|
    .n_heads = 12, .n_kv_heads = 12, .head_dim = 64, .d_inner = 3072,@|
    .vocab_size = 50257, .n_positions = 1024, .layer_norm = true,@|
    .learned_positions = true, .qkv_bias = true, .out_bias = true,@|
    .mlp_bias = true, .tied = true }@];
  static const struct model_config llama3 = @[{ .n_layers = 32, .d_model = 4096,@|
    .n_heads = 32, .n_kv_heads = 8, .head_dim = 128, .d_inner = 14336,@|
    .vocab_size = 128256, .n_positions = 8192, .gated = true }@];
  uint64_t mlp;
  if (matrices_of(&lab->model->config, &mlp) != lab->model->layer_madds
      / lab->model->config.n_layers)
    return error_say(why, "the built-in model has another shape");
  print_size("pocket", &lab->model->config);
  print_size("gpt2", &gpt2);
  print_size("llama3", &llama3);
  return true;
}

@* The residual stream grows. \label{lab:stream}
A watcher adds up the squares of the stream after the embedding and after the last layer, while the built-in model reads a text.

@<How large the stream becomes@>=
struct grown { double first, last;@+ uint32_t layers; };
static double root_mean_square(const float *x, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double) x[i] * (double) x[i];
  return sqrt(sum / (double) n);
}
static void measure_stream(void *ctx, enum tap_point point, uint32_t layer,
  float *x, size_t rows, size_t width)
{
  struct grown *g = ctx;
  if (point == TAP_EMBEDDING) g->first = root_mean_square(x, rows * width);
  if (point == TAP_LAYER && layer + 1 == g->layers)
    g->last = root_mean_square(x, rows * width);
}

@ The text is the beginning of a story, as the model was trained on; a row of the pass is a token of it.

@<How large the stream becomes@>=
static bool print_stream(struct fixture *lab, struct error *why)
{
  enum {@+ MOST = 64@+ };
  struct grown g = @[{ .layers = lab->model->config.n_layers }@];
  struct watcher look = @[{ .tap = measure_stream, .ctx = &g }@];
  struct ids ids = @[{ .n = 0 }@];
  struct row rows[MOST];
  struct pass *p = NULL;
  bool ok = lab_encode(lab, "Once upon a time, in a small kingdom, there lived "
    "a kind girl named Elena.", &ids, why);
  for (size_t i = 0; i < ids.n && i < MOST; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, ids.id[i] }@];
  store_clear(lab->b.s);
  ok = ok && model_forward_watched(&lab->e, lab->model, lab->b.s, rows,
    ids.n < MOST ? ids.n : MOST, &look, &p, why);
  pass_close(p);
  ids_free(&lab->m, &ids);
  print_key("stream.first", "%.6f", g.first);
  print_key("stream.last", "%.6f", g.last);
  return ok;
}

@* What two passes cost. \label{lab:passcost}
Two passes from an empty store, of the first tokens of the sentence of the laboratory, repeated; each asks for the logits of its last row.

@<What two passes cost@>=
static bool print_cost(struct fixture *lab, uint32_t n, struct error *why)
{
  struct row rows[100];
  struct pass *p = NULL;
  size_t last = n - 1;
  for (uint32_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, i, lab->sentence[i % PARROT_WORDS] }@];
  store_clear(lab->b.s);
  lab_reset(lab);
  bool ok = model_forward(&lab->e, lab->model, lab->b.s, rows, n, &p, why)
    && model_logits(&lab->e, lab->model, p, &last, 1, lab->logits, why);
  pass_close(p);
  const struct counters *c = &lab->c;
  uint64_t all = 2 * (c->madds_linear + c->madds_attention + c->madds_head);
  struct { const char *what; uint64_t n; } key[] = @[{@|
    {"rows", c->rows}, {"linear", 2 * c->madds_linear},@|
    {"attention", 2 * c->madds_attention}, {"head", 2 * c->madds_head},@|
    {"bytes", c->weight_bytes_read}, {"written", c->cache_bytes_written} }@];
  for (size_t i = 0; ok && i < sizeof key / sizeof key[0]; i++)
    print_key(label_of("cost.%u.%s", n, key[i].what).text, "%" PRIu64, key[i].n);
  print_key(label_of("cost.%u.intensity", n).text, "%.4f",
    (double) all / (double) c->weight_bytes_read);
  return ok;
}
static bool print_costs(struct fixture *lab, struct error *why)
{
  return print_cost(lab, 1, why) && print_cost(lab, 100, why);
}

@* The order of a sum. \label{lab:sums}
The same terms, between 0 and 1, are added in both orders, a \given{hundred} times over, and what comes out is compared with
the truth. The sums come to half the number of terms, some \given{five thousand}. They lie between $2^{12}$ and $2^{13}$, where the last of a float's 24
bits is worth $2^{-11}$.

@<How far off are the two orders of a sum@>=
static bool print_sums(struct fixture *lab, struct error *why)
{
  enum {@+ TERMS = 10000, TIMES = 100@+ };
  uint64_t seed = 1;
  double off[2] = @[{ 0, 0 }@], place = 0x1p-11;
  (void) lab, (void) why;
  for (int i = 0; i < TIMES; i++) {
    @<Add one set of terms in both orders@>@;
    off[0] += fabs((double) chain - truth) / TIMES;
    off[1] += fabs((double) lane[0] - truth) / TIMES;
  }
  print_key("sum.terms", "%d", TERMS);
  print_key("sum.chain", "%.6f", off[0] / place);
  print_key("sum.lanes", "%.6f", off[1] / place);
  return true;
}

@ The truth is the sum in double. It is rounded as well, but in the 53rd bit, and what both sums miss by is found in the 24th;
a judge need not be perfect, only much better than those who are judged.

@<Add one set of terms in both orders@>=
float chain = 0, lane[16] = @[{ 0 }@];
double truth = 0;
for (int k = 0; k < TERMS; k++) {
  float x = (float) random_uniform(&seed);
  truth += (double) x;
  chain += x, lane[k % 16] += x;
}
for (int s = 8; s > 0; s /= 2)
  for (int j = 0; j < s; j++)@+ lane[j] += lane[j + s];

@* How softmax saturates. \label{lab:saturation}
The experiment draws scores of a given deviation for one query and 64 keys, as often as it is told, and asks the softmax of the
kernels, which computes in double. The seed is fixed: every deviation is tried with the same scores but for their size, or else the curve would
tremble from point to point.

@<What large scores do to a softmax@>=
struct softened {@+ double largest, slope;@+ };
static struct softened soften(const struct engine *e, double deviation, int times)
{
  enum {@+ KEYS = 64@+ };
  struct softened mean = @[{ 0, 0 }@];
  uint64_t seed = 7;
  for (int i = 0; i < times; i++) {
    float score[KEYS];@+ double p[KEYS], max = 0;
    for (int t = 0; t < KEYS; t++)
      score[t] = (float) (deviation * random_normal(&seed));
    e->k->softmax(e, score, 1, KEYS, p);
    for (int t = 0; t < KEYS; t++)
      max = fmax(max, p[t]), mean.slope += p[t] * (1 - p[t]) / times;
    mean.largest += max / times;
  }
  return mean;
}

@ The figure has two curves: scores of variance $d$ as they come, whose deviation is $\sqrt d$, and the same divided by $\sqrt d$.

@<What large scores do to a softmax@>=
static bool print_saturation(struct fixture *lab, struct error *why)
{
  (void) why;
  printf("d,plain,divided\n");
  for (int d = 1; d <= 256; d *= 2)
    printf("%d,%.6f,%.6f\n", d, soften(&lab->e, sqrt(d), 1000).largest,
      soften(&lab->e, 1, 1000).largest);
  return true;
}

@ That $q\cdot k$ has variance $d_k$ was proved from independence, and is counted all the same: the
count says that the right thing was proved. Products have mean 0, so the variance is the mean of their squares.

@<What large scores do to a softmax@>=
static void print_variance(void)
{
  enum {@+ SAMPLES = 20000, D = 64@+ };
  uint64_t seed = 3;@+ double square = 0;
  for (int i = 0; i < SAMPLES; i++) {
    double dot = 0;
    for (int k = 0; k < D; k++) dot += random_normal(&seed) * random_normal(&seed);
    square += dot * dot / SAMPLES;
  }
  print_key("variance.samples", "%d", SAMPLES);
  print_key("claim.S2-43", "%.6f", square);
  print_key("variance.after", "%.6f", square / D);
}

@ Then we see what the two do to shares: deviation 8, as it is for 64 numbers undivided, against deviation 1.

@<What large scores do to a softmax@>=
static bool print_weights(struct fixture *lab, struct error *why)
{
  struct softened plain = soften(&lab->e, 8, 2000);
  struct softened divided = soften(&lab->e, 1, 2000);
  (void) why;
  print_variance();
  print_key("saturation.plain claim.S2-44", "%.6f", plain.largest);
  print_key("saturation.scaled", "%.6f", divided.largest);
  print_key("saturation.slope.plain", "%.6f", plain.slope);
  print_key("saturation.slope.scaled", "%.6f", divided.slope);
  return true;
}

@* How many experts some rows choose. \label{lab:experts}
Each row gets random logits for \given{128} experts, and chooses eight of them with the engine's own function. We count the different ones, and take the mean of \given{hundred} tries. The formula beside it is arithmetic: of $n$ rows none chooses a given expert with the probability $(1-k/E)^n$.

@<How many experts do some rows choose@>=
enum {@+ EXPERTS = 128, CHOSEN = 8, TRIES = 100@+ };
static double expected_experts(int rows)
{@+ return EXPERTS * (1 - pow(1 - (double) CHOSEN / EXPERTS, rows));@+ }
static double counted_experts(const struct engine *e, int rows)
{
  const struct model_config c = @[{ .n_experts = EXPERTS, .n_chosen = CHOSEN }@];
  uint64_t seed = 11;
  int met = 0;
  for (int i = 0; i < TRIES; i++) {
    bool touched[EXPERTS] = @[{ false }@];
    for (int r = 0; r < rows; r++) {
      float logit[EXPERTS];@+ double share[EXPERTS];
      struct expert_choice own[CHOSEN];
      for (int k = 0; k < EXPERTS; k++)@+ logit[k] = (float) random_normal(&seed);
      e->k->softmax(e, logit, 1, EXPERTS, share);
      experts_choose(&c, logit, share, own);
      for (int k = 0; k < CHOSEN; k++)
        met += !touched[own[k].expert], touched[own[k].expert] = true;
    }
  }
  return (double) met / TRIES;
}

@ The figure has a point for each doubling of the rows, and the prose some of the numbers.

@<How many experts do some rows choose@>=
static bool print_touched(struct fixture *lab, struct error *why)
{
  (void) why;
  printf("rows,expected,counted\n");
  for (int n = 1; n <= 256; n *= 2)
    printf("%d,%.6f,%.6f\n", n, expected_experts(n), counted_experts(&lab->e, n));
  return true;
}
static bool print_experts(struct fixture *lab, struct error *why)
{
  (void) why;
  for (int n = 4; n <= 64; n *= 4) {
    print_key(label_of("experts.%u.expected", (unsigned) n).text, "%.6f", expected_experts(n));
    print_key(label_of("experts.%u.counted", (unsigned) n).text, "%.6f",
      counted_experts(&lab->e, n));
  }
  return true;
}

@* The probability of a text. \label{lab:chance}
All texts of four tokens are tried, by |model_logprobs|, with the full stop as the end of the text before. The digits of |code| to the base 4 are the text.

@<The chance of a text@>=
static bool print_chain(struct bench *b, struct error *why)
{
  double sum = 0;@+ int below = 0;
  for (uint32_t code = 0; code < 256; code++) {
    uint32_t ids[5] = @[{ TOY_STOP, code / 64, code / 16 % 4, code / 4 % 4,@|
      code % 4 }@];
    double l[5], all, min = 1;
    if (!model_logprobs(&b->e, b->g.lm, b->s, ids, 5, l, &all, why)) return false;
    for (int i = 1; i < 5; i++) min = fmin(min, num_exp(l[i]));
    sum += num_exp(all), below += num_exp(all) <= min;
  }
  print_key("chain.texts", "%d", 256);
  print_key("claim.S1-03 claim.S2-16", "%.9f", sum);
  print_key("claim.S2-20", "%d", below);
  return true;
}

@ The long product is done in double as a naive program would do it, so that the zero that is printed is one that really came out.

@<The chance of a text@>=
static void print_underflow(void)
{
  double product = 1, logarithm = 0;
  for (int i = 0; i < 500; i++) product *= 0.15, logarithm += num_log(0.15);
  print_key("under.product", "%g", product);
  print_key("claim.S2-04", "%.6f", logarithm);
  print_key("claim.S2-15", "%d", 1 + (int) (6 * num_log(50257) / num_log(10)));
}

@ The chance of the sentence is asked of the built-in model. Its ids come from the tokenizer of chapter 1, and must be three; in front of them comes the id that ends a text, which the
model's settings name.

@<The chance of a text@>=
static bool print_text(struct fixture *lab, struct error *why)
{
  const struct model *lm = lab->model;
  struct ids ids = @[{ .n = 0 }@];
  struct bench b = @[{ .m = NULL }@];
  double l[4], all, min = 1, product = 1;
  bool ok = ids_push(&lab->m, &ids, lm->config.eos[0], why)
    && lab_encode(lab, "The cat sat", &ids, why) && (ids.n == 4
      || error_say(why, "The cat sat has %zu tokens; wanted: 3", ids.n - 1))
    && bench_open(&b, lab, lm, 0, NULL, why)
    && model_logprobs(&b.e, lm, b.s, ids.id, 4, l, &all, why);
  bench_close(&b);
  ids_free(&lab->m, &ids);
  if (!ok)@+ return false;
  for (int i = 1; i < 4; i++) {
    printf("text.factor.%d %.9f\n", i, num_exp(l[i]));
    min = fmin(min, num_exp(l[i]));
    product *= num_exp(l[i]);
  }
  print_key("text.product", "%.12f", num_exp(all));
  print_key("text.multiplied", "%.12f", product);
  print_key("text.smallest", "%.9f", min);
  print_key("text.log", "%.6f", all);
  print_underflow();
  return true;
}

@* Which row chooses the tenth token. \label{lab:tenth}
A test settles it: the numbers of the toy are drawn at random, sixteen random tokens run through it, and again with another token in the tenth place. The hidden states of the rows
after the last layer are compared as bytes: a row that came out nearly the same would be a row that had changed.

@<Change the tenth token@>=
static bool rows_of(struct bench *b, const uint32_t *ids, float *hidden,
  struct error *why)
{
  struct row rows[TOY_PLACES];@+ struct pass *p;
  for (uint32_t i = 0; i < TOY_PLACES; i++)
    rows[i] = (struct row) @[{ 0, i, ids[i] }@];
  store_clear(b->s);
  if (!model_forward(&b->e, b->g.lm, b->s, rows, TOY_PLACES, &p, why)) return false;
  memcpy(hidden, p->hidden, sizeof(float) * TOY_PLACES * TOY_WIDTH);
  pass_close(p);
  return true;
}

@ All the numbers of a |struct toy| come before its layer, so they can be filled as one array.

@<Change the tenth token@>=
static bool print_tenth(struct bench *b, struct toy *y, struct error *why)
{
  enum {@+ NUMBERS = TOY_PLACES * TOY_WIDTH@+ };
  uint32_t ids[TOY_PLACES];
  float before[NUMBERS], after[NUMBERS], *x = (void *) y;
  uint64_t seed = 10, model = 5;@+ int changed[2] = @[{ 0, 0 }@];
  for (size_t i = 0; i < offsetof(struct toy, only) / sizeof *x; i++)
    x[i] = (float) random_normal(&model);
  for (int i = 0; i < TOY_PLACES; i++)
    ids[i] = (uint32_t) (random_bits(&seed) % TOY_WORDS);
  bool ok = rows_of(b, ids, before, why);
  ids[9] = (ids[9] + 1) % TOY_WORDS;
  ok = ok && rows_of(b, ids, after, why);
  toy_make(y);
  for (int i = 0; ok && i < TOY_PLACES; i++)
    changed[i >= 9] += memcmp(before + i * TOY_WIDTH, after + i * TOY_WIDTH,
      TOY_WIDTH * sizeof(float)) != 0;
  print_key("tenth.before", "%d", changed[0]);
  print_key("tenth.after claim.S0-02 claim.S2-13", "%d", changed[1]);
  print_key("claim.S2-30 claim.S0-09", "%d", 9 - changed[0]);
  return ok;
}

@* What became of the claims. \label{lab:modelclaims}
The keys of \cref{sec:weights} are taken from the trace of the toy: the row of \tok{\ cat} and head A, with two positions, and with the third computed
along and struck out. The end counts what the matrix after the heads has changed.

@<What became of the claims@>=
static const uint32_t text[10] = @[{ 0, 1, 2, TOY_STOP, 0, 1, 2, TOY_STOP, 0, 1 }@];
static void print_mask(struct bench *b, const struct toy_trace *a)
{
  float score[3];@+ double p[3];@+ int differ = 0;
  const float *w = a->x[TAP_WEIGHTS] + 2 * 3;
  const float *mixed = a->x[TAP_MIXED] + 2 * TOY_WIDTH;
  const float *joined = a->x[TAP_ATTENTION] + 2 * TOY_WIDTH;
  toy_scores(a, 1, 0, score);
  print_key("mask.out.0", "%.6f", (double) w[0]);
  print_key("mask.out.1", "%.6f", (double) w[1]);
  print_key("claim.S4-16", "%.6f", (double) w[2]);
  print_key("claim.S2-45", "%.6f", (double) (w[0] + w[1] + w[2]));
  b->e.k->softmax(&b->e, score, 1, 3, p);
  print_key("mask.zeroed.0", "%.6f", p[0]);
  print_key("mask.zeroed.1", "%.6f", p[1]);
  print_key("mask.left", "%.6f", p[0] + p[1]);
  for (int i = 0; i < TOY_WIDTH; i++)@+ differ += mixed[i] != joined[i];
  print_key("claim.S0-30", "%d", differ);
}

@ Two more claims are about logits. A constant is added to all of them, and it is counted how many probabilities moved; and it is counted how many
pairs of tokens are in one order by logit and in another by probability.

@<What became of the claims@>=
static void print_raised(struct bench *b, const struct toy_trace *a)
{
  const float *z = a->logits + 2 * TOY_WORDS;@+ float raised[TOY_WORDS];
  const double *q = a->chance + 2 * TOY_WORDS;
  double p[TOY_WORDS], sum = 0;
  int moved = 0, unordered = 0;
  for (int v = 0; v < TOY_WORDS; v++)@+ raised[v] = z[v] + 3;
  b->e.k->softmax(&b->e, raised, 1, TOY_WORDS, p);
  for (int v = 0; v < TOY_WORDS; v++) {
    sum += q[v], moved += fabs(p[v] - q[v]) > 1e-6;
    for (int u = 0; u < TOY_WORDS; u++)
      unordered += (z[u] > z[v]) != (q[u] > q[v]);
  }
  print_key("claim.S0-22 claim.S2-28", "%.9f", sum);
  print_key("claim.S2-24", "%d", moved);
  print_key("claim.S2-26", "%d", unordered);
  print_key("claim.S2-27", "%g", num_exp(-1000));
}

@ The full stop's row of the model's head is doubled, which changes its length and not its direction. The model is put right again afterwards.

@<What became of the claims@>=
static bool print_doubled(struct bench *b, struct toy *y, const struct toy_trace *a,
  struct error *why)
{
  struct toy_trace c;
  const size_t at = 2 * TOY_WORDS + TOY_STOP;
  for (int i = 0; i < TOY_WIDTH; i++)@+ y->asked[TOY_STOP][i] *= 2;
  bool ok = toy_look(&b->e, y, b->s, text, 3, &c, why);
  toy_make(y);
  if (!ok)@+ return false;
  print_key("claim.S2-25", "%.6f", (double) (c.logits[at] / a->logits[at]));
  print_key("score.before", "%.6f", a->chance[at]);
  print_key("score.after", "%.6f", c.chance[at]);
  return true;
}

@ Passes of eight, nine and ten rows are made: the differences of their counts are the keys that the ninth and the tenth row saw.

@<What became of the claims@>=
static bool print_pairs(struct fixture *lab, struct bench *b,
  const struct toy *y, struct error *why)
{
  struct toy_trace a;@+ uint64_t pairs[3];
  for (size_t i = 0; i < 3; i++) {
    lab_reset(lab);
    if (!toy_look(&b->e, y, b->s, text, 8 + i, &a, why))@+ return false;
    pairs[i] = lab->c.qk_pairs;
  }
  print_key("claim.S2-31", "%" PRIu64, pairs[1] - pairs[0]);
  print_key("claim.S0-28", "%" PRIu64, pairs[2] - pairs[1]);
  return true;
}

@ All of this is done with one toy, on one bench.

@<What became of the claims@>=
static bool print_toy(struct fixture *lab, struct error *why)
{
  static struct toy y;
  struct toy_trace a;
  struct bench b;
  toy_make(&y);
  bool ok = bench_open(&b, lab, &y.lm, 0, NULL, why)
    && toy_look(&b.e, &y, b.s, text, 3, &a, why);
  if (ok) print_mask(&b, &a), print_raised(&b, &a);
  ok = ok && print_doubled(&b, &y, &a, why) && print_pairs(lab, &b, &y, why)
    && print_chain(&b, why) && print_tenth(&b, &y, why);
  bench_close(&b);
  return ok;
}

@* Claims of the tutorials. \label{lab:modeltutorials}
The chapter has three claims of the tutorials; the others about the forward pass are here.

\begin{claimed}{S2-24}
a bias that is the same for all tokens changes \val{claim.S2-24} of the four probabilities: it cancels. What is meant is a bias for each
token, whatever the \emph{context}.
\end{claimed}

\begin{claimed}{S2-25}
a product is no similarity. With the full stop's row of the head doubled, direction unchanged, its logit is \val[1]{claim.S2-25} times as large
and its probability rises from \val[2]{score.before} to \val[2]{score.after}.
\end{claimed}

\begin{claimed}{S2-22}
it is enough for one next token. The row after it reads keys and values of every earlier row in every layer, for GPT-2 small and ten
tokens \val{claim.S2-22} numbers, none of which can be got back from the vector.
\end{claimed}

\begin{claimed}{S0-30}
between the pooled values and the output stands a matrix; in the hand calculation it changed \val{claim.S0-30} of four numbers.
\end{claimed}

\begin{claimed}{S2-17}
three tokens given and four written make seven factors and \val{claim.S2-17} steps: the prompt's come out of the first pass.
\end{claimed}

\begin{claimed}{S2-57}
heads times head size is not always the width: eight heads of keys with $d_k=\given{128}$
make \val{claim.S2-57} numbers in a model of width $2^{13}$.
\end{claimed}

\begin{claimed}{S2-27, S2-28, S2-45}
$e^{-\given{1000}}$ is \val{claim.S2-27} in double. The probabilities summed to \val[6]{claim.S2-28}, and a row's
weights, in float, to \val[6]{claim.S2-45}: 1 up to the last places of both.
\end{claimed}

