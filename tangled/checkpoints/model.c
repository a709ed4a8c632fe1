/* the program -- made from chapters/02-model.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "families/loader.h"
#include "functions/numbers.h"

/* <Random numbers that are the same everywhere> */
static uint64_t stirred(uint64_t *seed)
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static double uniform(uint64_t *seed)
{ return ((double) (stirred(seed) >> 11) + 0.5) * 0x1p-53; }
static double normal(uint64_t *seed)
{
  double u = uniform(seed), v = uniform(seed);
  return sqrt(-2 * num_log(u)) * num_cos(6.283185307179586 * v);
}

/* <How far off are the two orders of a sum> */
static void print_sums(void)
{
  enum { TERMS = 10000, TIMES = 100 };
  uint64_t seed = 1;
  double off[2] = { 0, 0 }, place = 0x1p-11;
  for (int i = 0; i < TIMES; i++) {
    /* <Add one set of terms in both orders> */
    float chain = 0, lane[16] = { 0 };
    double truth = 0;
    for (int k = 0; k < TERMS; k++) {
      float x = (float) uniform(&seed);
      truth += (double) x, chain += x, lane[k % 16] += x;
    }
    for (int s = 8; s > 0; s /= 2)
      for (int j = 0; j < s; j++) lane[j] += lane[j + s];
    off[0] += fabs((double) chain - truth) / TIMES;
    off[1] += fabs((double) lane[0] - truth) / TIMES;
  }
  printf("sum.terms %d\nsum.chain %.6f\nsum.lanes %.6f\n", TERMS,
    off[0] / place, off[1] / place);
}

/* <What large scores do to a softmax> */
struct softened { double largest, slope; };
static struct softened soften(const struct engine *e, double deviation, int times)
{
  enum { KEYS = 64 };
  struct softened mean = { 0, 0 };
  uint64_t seed = 7;
  for (int i = 0; i < times; i++) {
    float score[KEYS]; double p[KEYS], most = 0;
    for (int t = 0; t < KEYS; t++)
      score[t] = (float) (deviation * normal(&seed));
    e->k->softmax(e, score, 1, KEYS, p);
    for (int t = 0; t < KEYS; t++) {
      if (p[t] > most) most = p[t];
      mean.slope += p[t] * (1 - p[t]) / times;
    }
    mean.largest += most / times;
  }
  return mean;
}

static void print_saturation(const struct engine *e)
{
  printf("d,plain,divided\n");
  for (int d = 1; d <= 256; d *= 2)
    printf("%d,%.6f,%.6f\n", d, soften(e, sqrt(d), 1000).largest,
      soften(e, 1, 1000).largest);
}

static void print_variance(void)
{
  enum { SAMPLES = 20000, D = 64 };
  uint64_t seed = 3; double square = 0;
  for (int i = 0; i < SAMPLES; i++) {
    double dot = 0;
    for (int k = 0; k < D; k++) dot += normal(&seed) * normal(&seed);
    square += dot * dot / SAMPLES;
  }
  printf("variance.samples %d\nclaim.S2-43 %.6f\n", SAMPLES, square);
  printf("variance.after %.6f\n", square / D);
}

static void print_weights(const struct engine *e)
{
  struct softened plain = soften(e, 8, 2000), divided = soften(e, 1, 2000);
  printf("saturation.plain %.6f\nclaim.S2-44 %.6f\n", plain.largest,
    plain.largest);
  printf("saturation.scaled %.6f\n", divided.largest);
  printf("saturation.slope.plain %.6f\n", plain.slope);
  printf("saturation.slope.scaled %.6f\n", divided.slope);
}

/* <A model of four words, and a bench to run it on> */
enum { WORDS = 4, WIDTH = 4, PLACES = 16, STOP = 3 };
static const char *const word[WORDS] = { "the", " cat", " sat", "." };
static const uint32_t text[4] = { 0, 1, 2, STOP };
struct toy {
  float token[WORDS][WIDTH], place[PLACES][WIDTH];
  float query[WIDTH][WIDTH], key[WIDTH][WIDTH], value[WIDTH][WIDTH];
  float joined[WIDTH][WIDTH], gate[WIDTH], up[WIDTH], down[WIDTH];
  float asked[WORDS][WIDTH];
  struct model_layer only;
  struct model lm;
};

static void toy_by_hand(struct toy *y)
{
  static const float corner[4][2] = { {1, 1}, {1, -1}, {-1, 1}, {-1, -1} };
  static const int place[4] = { 0, 1, 3, 2 };
  static const float query[WIDTH] = { -0.8f, 0.4f, -0.4f, 0.8f };
  static const float joined[WIDTH] = { 1, 0.5f, -1, 0.5f };
  static const float asked[WORDS][WIDTH] =
    { {0, 0, -1, 0}, {0, -1, 0, -1}, {0, 0, 0, 1}, {-1, 0, 1, 0} };
  for (int i = 0; i < WIDTH; i++) {
    memcpy(y->token[i], corner[i], sizeof corner[i]);
    y->query[i][i] = query[i], y->key[i][i] = 1;
    y->value[i][i % 2] = 1, y->joined[i][i] = joined[i];
  }
  for (int p = 0; p < PLACES; p++)
    memcpy(y->place[p] + 2, corner[place[p % 4]], sizeof corner[0]);
  y->gate[0] = 0.5f, y->gate[2] = -1, y->up[2] = 1;
  y->down[0] = 1, y->down[2] = -1;
  memcpy(y->asked, asked, sizeof asked);
}

static struct matrix around(const float *x, size_t in, size_t out)
{
  return (struct matrix) { .weight = { x, WEIGHT_F32 }, .in = in, .out = out };
}

static void toy_frame(struct toy *y)
{
  struct normalizer norm = { .kind = NORM_RMS, .epsilon = 0 };
  y->only = (struct model_layer) { .before_attention = norm, .before_mlp = norm,
    .qkv = { around(y->query[0], 4, 4), around(y->key[0], 4, 4),
      around(y->value[0], 4, 4) }, .n_qkv = 3,
    .out = around(y->joined[0], 4, 4), .n_up = 2,
    .up = { around(y->gate, 4, 1), around(y->up, 4, 1) },
    .down = around(y->down, 1, 4) };
  /* <The settings of four words> */
    y->lm.config = (struct model_config) { .family = "llama",
      .vocab_size = WORDS, .n_positions = PLACES, .d_model = WIDTH,
      .d_inner = 1, .n_layers = 1, .n_heads = 2, .n_kv_heads = 2,
      .head_dim = 2, .learned_positions = true, .gated = true };
    y->lm.layers = &y->only, y->lm.last = norm;
    y->lm.embedding = (struct tensor) { y->token[0], WEIGHT_F32 };
    y->lm.positions = (struct tensor) { y->place[0], WEIGHT_F32 };
    y->lm.head = around(y->asked[0], WIDTH, WORDS);
    y->lm.attention = (struct heads) { 2, 2, 2, 0.70710678f };
    y->lm.layer_madds = 4 * WIDTH * WIDTH + 3 * WIDTH;
}

static void toy_make(struct toy *y, uint64_t seed)
{
  float *x = (void *) y;
  memset(y, 0, sizeof *y);
  if (seed == 0) toy_by_hand(y);
  for (size_t i = 0; i < offsetof(struct toy, only) / sizeof *x && seed > 0; i++)
    x[i] = (float) normal(&seed);
  toy_frame(y);
}

struct bench {
  struct memory m; struct counters c; struct engine e;
  struct toy small; struct store *s;
};
static bool bench_open(struct bench *b, struct error *why)
{
  *b = (struct bench) { .s = NULL };
  toy_make(&b->small, 0);
  b->e = (struct engine) { .k = kernels_find(NULL, why), .c = &b->c };
  if (b->e.k != NULL) b->s = store_open(&b->m, &b->small.lm.config, 1, why);
  return b->s != NULL;
}

static void bench_close(struct bench *b) { store_close(b->s); }

/* <Look at one row on its way> */
struct album {
  float x[STAGE_LAYER + 1][8 * PLACES], logits[WORDS * PLACES];
  double chance[WORDS * PLACES];
};
static void keep_all(void *what, enum watch_stage stage, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct album *a = what;
  (void) layer;
  memcpy(a->x[stage], x, rows * width * sizeof *x);
}

static bool look_at(struct bench *b, const uint32_t *ids, size_t n, struct album *a,
  struct error *why)
{
  struct row rows[PLACES]; size_t all[PLACES];
  struct watcher w = { keep_all, a, true };
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++)
    all[i] = i, rows[i] = (struct row) { 0, (uint32_t) i, ids[i] };
  store_empty(b->s);
  bool ok = forward_watched(&b->e, &b->small.lm, b->s, rows, n, &w, &p, why)
    && head(&b->e, &b->small.lm, p, all, n, a->logits, why);
  if (ok) b->e.k->softmax(&b->e, a->logits, n, WORDS, a->chance);
  pass_close(p);
  return ok;
}

/* <The chance of a text> */
static bool print_chain(struct bench *b, struct error *why)
{
  double sum = 0; int below = 0;
  for (uint32_t code = 0; code < 256; code++) {
    uint32_t ids[5] = { STOP, code / 64, code / 16 % 4, code / 4 % 4, code % 4 };
    double l[5], all, least = 1;
    if (!logprobs(&b->e, &b->small.lm, b->s, ids, 5, l, &all, why)) return false;
    for (int i = 1; i < 5; i++)
      if (num_exp(l[i]) < least) least = num_exp(l[i]);
    sum += num_exp(all), below += num_exp(all) <= least;
  }
  printf("chain.texts %d\nclaim.S1-03 %.9f\n", 256, sum);
  printf("claim.S2-16 %.9f\nclaim.S2-20 %d\n", sum, below);
  return true;
}

static void print_underflow(void)
{
  double product = 1, logarithm = 0;
  for (int i = 0; i < 500; i++) product *= 0.15, logarithm += num_log(0.15);
  printf("under.product %g\nclaim.S2-04 %.6f\n", product, logarithm);
  printf("claim.S2-15 %d\n", 1 + (int) (6 * num_log(50257) / num_log(10)));
}

static bool print_factors(struct bench *b, const struct model *lm, const uint32_t *ids,
  struct error *why)
{
  double l[4], all, least = 1;
  struct store *s = store_open(&b->m, &lm->config, 1, why);
  bool ok = s != NULL && logprobs(&b->e, lm, s, ids, 4, l, &all, why);
  store_close(s);
  if (!ok) return false;
  for (int i = 1; i < 4; i++) {
    printf("text.factor.%d %.9f\n", i, num_exp(l[i]));
    if (num_exp(l[i]) < least) least = num_exp(l[i]);
  }
  printf("text.product %.12f\ntext.smallest %.9f\n", num_exp(all), least);
  printf("text.log %.6f\n", all);
  return true;
}

static bool print_text(struct bench *b, struct error *why)
{
  static const uint32_t words[4] = { STOP, 0, 1, 2 };
  const char *pocket = "models/pocket";
  struct error none;
  struct model *lm = model_open(&b->m, pocket, &none);
  struct tokenizer *t = tokenizer_open(&b->m, pocket, &none);
  struct ids ids = { .n = 0 };
  bool there = lm != NULL && t != NULL && lm->config.n_eos > 0;
  bool ok = there ? ids_push(&b->m, &ids, lm->config.eos[0], why)
    && tokenizer_encode(t, &b->m, "The cat sat", 11, false, false, &ids, why)
    && (ids.n == 4 || error_say(why, "The cat sat has %zu tokens; wanted: 3",
      ids.n - 1)) && print_factors(b, lm, ids.id, why)
    : print_factors(b, &b->small.lm, words, why);
  ids_free(&b->m, &ids);
  tokenizer_close(&b->m, t);
  model_close(&b->m, lm);
  return ok;
}

/* <Change the tenth token> */
static bool rows_of(struct bench *b, const uint32_t *ids, float *hidden,
  struct error *why)
{
  struct row rows[PLACES]; struct pass *p;
  for (uint32_t i = 0; i < PLACES; i++) rows[i] = (struct row) { 0, i, ids[i] };
  store_empty(b->s);
  if (!forward(&b->e, &b->small.lm, b->s, rows, PLACES, &p, why)) return false;
  memcpy(hidden, p->hidden, sizeof(float) * PLACES * WIDTH);
  pass_close(p);
  return true;
}

static bool print_tenth(struct bench *b, struct error *why)
{
  uint32_t ids[PLACES];
  float before[PLACES * WIDTH], after[PLACES * WIDTH];
  uint64_t seed = 10; int changed[2] = { 0, 0 };
  for (int i = 0; i < PLACES; i++) ids[i] = (uint32_t) (stirred(&seed) % WORDS);
  toy_make(&b->small, 5);
  bool ok = rows_of(b, ids, before, why);
  ids[9] = (ids[9] + 1) % WORDS;
  ok = ok && rows_of(b, ids, after, why);
  for (int i = 0; ok && i < PLACES; i++)
    changed[i >= 9] += memcmp(before + i * WIDTH, after + i * WIDTH,
      WIDTH * sizeof(float)) != 0;
  printf("tenth.before %d\ntenth.after %d\n", changed[0], changed[1]);
  printf("claim.S0-02 %d\nclaim.S2-13 %d\n", changed[1], changed[1]);
  printf("claim.S2-30 %d\nclaim.S0-09 %d\n", 9 - changed[0], 9 - changed[0]);
  toy_make(&b->small, 0);
  return ok;
}

/* <Do what the hand did, and print it> */

/* <Print the attention of one head> */
static void print_line(const char *name, const float *x, int n)
{
  printf("%-24s", name);
  for (int i = 0; i < n; i++) printf("%6.2f", (double) x[i]);
  printf("\n");
}

static void scores_of(const struct album *a, int r, int h, float score[3])
{
  for (int t = 0; t < 3; t++) {
    const float *q = a->x[STAGE_QUERY] + r * WIDTH + 2 * h;
    const float *k = a->x[STAGE_KEY] + t * WIDTH + 2 * h;
    score[t] = (q[0] * k[0] + q[1] * k[1]) * 0.70710678f;
  }
}

static void print_head(const struct album *a, int h)
{
  float score[3], shrunk[3];
  scores_of(a, 2, h, score);
  float most = fmaxf(score[0], fmaxf(score[1], score[2]));
  for (int t = 0; t < 3; t++) shrunk[t] = num_expf(score[t] - most);
  print_line(h == 0 ? "head A  scores" : "head B  scores", score, 3);
  print_line("        exponentials", shrunk, 3);
  print_line("        weights", a->x[STAGE_WEIGHTS] + (2 * 2 + h) * 3, 3);
}

/* <Print the way of the last row> */
static void print_way(const struct toy *y, const struct album *a)
{
  int at = 2 * WIDTH;
  float middle[3] = { 0, 0, a->x[STAGE_INNER][2] }, h[WIDTH];
  const float *n = a->x[STAGE_MLP_NORM] + at, *added = a->x[STAGE_ATTENTION] + at;
  for (int i = 0; i < WIDTH; i++) {
    middle[0] += y->gate[i] * n[i], middle[1] += y->up[i] * n[i];
    h[i] = a->x[STAGE_EMBEDDING][at + i] + added[i];
  }
  print_line("row of sat", a->x[STAGE_EMBEDDING] + at, 4);
  print_line("its query", a->x[STAGE_QUERY] + at, 4);
  print_head(a, 0);
  print_head(a, 1);
  print_line("mixed values", a->x[STAGE_MIXED] + at, 4);
  print_line("added by attention", added, 4);
  print_line("the row", h, 4);
  print_line("normed", n, 4);
  print_line("gate, up, inner", middle, 3);
  print_line("the row", a->x[STAGE_LAYER] + at, 4);
  print_line("logits", a->logits + at, 4);
}

static bool print_hand(struct bench *b, struct error *why)
{
  struct album a;
  if (!look_at(b, text, 3, &a, why)) return false;
  print_way(&b->small, &a);
  if (!look_at(b, text, 4, &a, why)) return false;
  printf("\n%-24s", "behind");
  for (int v = 0; v < WORDS; v++) printf("%6s", word[v]);
  printf("\n");
  for (int r = 0; r < 4; r++) {
    printf("%-24s", r == 0 ? "the" : r == 1 ? "the cat" : r == 2
      ? "the cat sat" : "the cat sat.");
    /* <Print the odds on all words behind row r, and the likeliest> */
    int best = 0;
    for (int v = 0; v < WORDS; v++) {
      printf("%6.2f", a.chance[r * WORDS + v]);
      if (a.chance[r * WORDS + v] > a.chance[r * WORDS + best]) best = v;
    }
    printf("  -> %s\n", word[best]);
  }
  return true;
}

/* <What became of the claims> */

/* <Print what became of a mask> */
static bool print_mask(struct bench *b, struct error *why)
{
  struct album a;
  float score[3]; double p[3];
  if (!look_at(b, text, 3, &a, why)) return false;
  scores_of(&a, 1, 0, score);
  const float *w = a.x[STAGE_WEIGHTS] + 2 * 3;
  printf("mask.out.0 %.6f\nmask.out.1 %.6f\n", (double) w[0], (double) w[1]);
  printf("claim.S4-16 %.6f\n", (double) w[2]);
  printf("claim.S2-45 %.6f\n", (double) (w[0] + w[1] + w[2]));
  b->e.k->softmax(&b->e, score, 1, 3, p);
  printf("mask.zeroed.0 %.6f\nmask.zeroed.1 %.6f\n", p[0], p[1]);
  printf("mask.left %.6f\n", p[0] + p[1]);
  const float *mixed = a.x[STAGE_MIXED] + 2 * WIDTH;
  const float *joined = a.x[STAGE_ATTENTION] + 2 * WIDTH;
  int differ = 0;
  for (int i = 0; i < WIDTH; i++) differ += mixed[i] != joined[i];
  printf("claim.S0-30 %d\n", differ);
  return true;
}

static bool print_raised(struct bench *b, struct error *why)
{
  struct album a; float raised[WORDS];
  double p[WORDS], sum = 0;
  int moved = 0, unordered = 0;
  if (!look_at(b, text, 3, &a, why)) return false;
  const float *z = a.logits + 2 * WORDS;
  const double *q = a.chance + 2 * WORDS;
  for (int v = 0; v < WORDS; v++) raised[v] = z[v] + 3;
  b->e.k->softmax(&b->e, raised, 1, WORDS, p);
  for (int v = 0; v < WORDS; v++) {
    sum += q[v], moved += fabs(p[v] - q[v]) > 1e-6;
    for (int u = 0; u < WORDS; u++) unordered += (z[u] > z[v]) != (q[u] > q[v]);
  }
  printf("claim.S0-22 %.9f\nclaim.S2-28 %.9f\n", sum, sum);
  printf("claim.S2-24 %d\nclaim.S2-26 %d\n", moved, unordered);
  printf("claim.S2-27 %g\n", num_exp(-1000));
  return true;
}

static bool print_doubled(struct bench *b, struct error *why)
{
  struct album a, c;
  const size_t at = 2 * WORDS + STOP;
  if (!look_at(b, text, 3, &a, why)) return false;
  for (int i = 0; i < WIDTH; i++) b->small.asked[STOP][i] *= 2;
  bool ok = look_at(b, text, 3, &c, why);
  toy_make(&b->small, 0);
  if (!ok) return false;
  printf("claim.S2-25 %.6f\n", (double) (c.logits[at] / a.logits[at]));
  printf("score.before %.6f\nscore.after %.6f\n", a.chance[at], c.chance[at]);
  return true;
}

static bool print_pairs(struct bench *b, struct error *why)
{
  static const uint32_t ids[10] = { 0, 1, 2, STOP, 0, 1, 2, STOP, 0, 1 };
  struct album a; uint64_t pairs[3];
  for (size_t i = 0; i < 3; i++) {
    b->c = (struct counters) { .passes = 0 };
    if (!look_at(b, ids, 8 + i, &a, why)) return false;
    pairs[i] = b->c.qk_pairs;
  }
  printf("claim.S2-31 %" PRIu64 "\n", pairs[1] - pairs[0]);
  printf("claim.S0-28 %" PRIu64 "\n", pairs[2] - pairs[1]);
  printf("claim.S2-17 %d\nclaim.S2-32 %d\n", 4, 10 - 1 - 3);
  printf("claim.S2-22 %d\n", 10 * 2 * 12 * 768);
  return true;
}

static bool print_values(struct bench *b, struct error *why)
{
  print_sums(); print_variance(); print_weights(&b->e);
  print_underflow();
  return print_mask(b, why) && print_raised(b, why)
    && print_doubled(b, why) && print_pairs(b, why)
    && print_chain(b, why) && print_text(b, why) && print_tenth(b, why);
}

/* <Print what is asked for> */
int main(int argc, char **argv)
{
  struct bench b; struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = bench_open(&b, &why);
  if (ok && strcmp(what, "saturation") == 0) print_saturation(&b.e);
  else if (ok && strcmp(what, "values") == 0) ok = print_values(&b, &why);
  else if (ok) ok = print_hand(&b, &why);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  bench_close(&b);
  return !ok;
}
