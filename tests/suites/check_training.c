/* check_training.c -- workshop 12: the corpus, the network and its way back, the run */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "suite.h"
#include "corpus/corpus.h"
#include "training/publish.h"
#include "training/training.h"
#include "gradients/gradients.h"
#include "model/forward.h"
#include "families/loader.h"
#include "functions/numbers.h"
#include "safetensors/tensor_file.h"
#include "kernels/kernels.h"

static struct memory m;
static struct error why;

/* ---- a small network with uneven weights */
struct lab {
  struct model_shape shape;
  struct pool *pool;
  struct network *net;
  size_t n;
  float *w, *gradient;
};

static void lab_open(
  struct lab *l, const struct model_shape *s, size_t rows, const char *kernels, unsigned workers)
{
  uint64_t seed = 7;
  l->shape = *s;
  l->pool = pool_open(&m, workers, &why);
  l->net = network_open(&m, s, rows, kernels_find(kernels, &why), l->pool, &why);
  ck_assert_msg(l->net != NULL, "%s", why.text);
  l->n = network_count(l->net);
  l->w = calloc(l->n, sizeof *l->w), l->gradient = calloc(l->n, sizeof *l->w);
  const struct parameter *p;
  for (size_t i = 0; (p = network_parameter(l->net, i)) != NULL; i++)
    for (size_t k = 0; k < p->rows * p->cols; k++) {
      double x = 0;
      for (int j = 0; j < 12; j++) x += (double) (rnd(&seed) >> 40) / (1 << 24) - 0.5;
      l->w[p->offset + k] = (float) (p->rows == 1 ? 1 + 0.3 * x : 0.25 * x);
    }
}
static void lab_close(struct lab *l)
{
  free(l->w), free(l->gradient);
  network_close(&m, l->net);
  pool_close(&m, l->pool);
}
static void random_ids(uint32_t *ids, uint32_t *targets, size_t n, uint32_t vocab)
{
  uint64_t seed = 11;
  for (size_t i = 0; i < n; i++)
    ids[i] = (uint32_t) (rnd(&seed) % vocab), targets[i] = (uint32_t) (rnd(&seed) % vocab);
}
static double lab_loss(struct lab *l, const struct batch *b, double *each)
{
  double sum = 0;
  ck_assert_msg(network_forward(l->net, l->w, b, &why), "%s", why.text);
  network_loss(l->net, b, each);
  for (size_t i = 0; i < b->sequences * b->length; i++) sum += each[i];
  return sum * (double) b->share;
}

static const struct model_shape small = { 2, 32, 4, 2, 16, 48, 50, 600 };
enum { LONG = 300, ROWS = 2 * LONG };
static uint32_t ids[ROWS], targets[ROWS];
static double losses[ROWS], others[ROWS];

/* ---- every tensor's gradient against a reference of the loss in double, by central differences */
static double dot(const double *a, const double *b, size_t n)
{
  double z = 0;
  for (size_t i = 0; i < n; i++) z += a[i] * b[i];
  return z;
}
static double ref_loss(const struct model_shape *s, const double *w, struct network *net,
  const uint32_t *id, const uint32_t *target, size_t n)
{
  size_t d = s->d_model, h = s->head_dim, q = s->n_heads * h, kv = s->n_kv_heads * h,
         f = s->d_inner, group = s->n_heads / s->n_kv_heads;
  double *x = calloc(n * d, 8), *y = calloc(n * d, 8), *Q = calloc(n * q, 8),
         *K = calloc(n * kv, 8), *V = calloc(n * kv, 8), *o = calloc(n * q, 8), *g = calloc(f, 8),
         total = 0;
  size_t t = 1;
#define T(k) (w + network_parameter(net, t + (k))->offset)
#define NORM(gain)                                                                                 \
  for (size_t i = 0; i < n; i++) {                                                                 \
    double z = 0;                                                                                  \
    for (size_t c = 0; c < d; c++) z += x[i * d + c] * x[i * d + c];                               \
    z = 1 / sqrt(z / (double) d + 1e-5);                                                           \
    for (size_t c = 0; c < d; c++) y[i * d + c] = x[i * d + c] * z * (gain)[c];                    \
  }
#define DOT(a, b, k) dot(a, b, k)
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < d; c++) x[i * d + c] = w[id[i] * d + c];
  for (uint32_t l = 0; l < s->n_layers; l++, t += 9) {
    NORM(T(0));
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < q; j++) Q[i * q + j] = DOT(T(1) + j * d, y + i * d, d);
      for (size_t j = 0; j < kv; j++)
        K[i * kv + j] = DOT(T(2) + j * d, y + i * d, d),
                   V[i * kv + j] = DOT(T(3) + j * d, y + i * d, d);
      for (size_t a = 0; a < s->n_heads + s->n_kv_heads; a++) {
        double *z = a < s->n_heads ? Q + i * q + a * h : K + i * kv + (a - s->n_heads) * h;
        for (size_t c = 0; c < h / 2; c++) {
          double th = (double) i * pow(10000, -2 * (double) c / (double) h), p = z[c],
                 r = z[c + h / 2];
          z[c] = p * cos(th) - r * sin(th), z[c + h / 2] = p * sin(th) + r * cos(th);
        }
      }
    }
    for (size_t i = 0; i < n; i++)
      for (size_t a = 0; a < s->n_heads; a++) {
        double sum = 0, e[LONG], out[64] = { 0 };
        for (size_t u = 0; u <= i; u++) {
          e[u] = exp(DOT(Q + i * q + a * h, K + u * kv + a / group * h, h) / sqrt((double) h));
          sum += e[u];
        }
        for (size_t u = 0; u <= i; u++)
          for (size_t c = 0; c < h; c++) out[c] += e[u] / sum * V[u * kv + a / group * h + c];
        memcpy(o + i * q + a * h, out, h * 8);
      }
    for (size_t i = 0; i < n; i++)
      for (size_t c = 0; c < d; c++) x[i * d + c] += DOT(T(4) + c * q, o + i * q, q);
    NORM(T(5));
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < f; j++) {
        double z = DOT(T(6) + j * d, y + i * d, d);
        g[j] = z / (1 + exp(-z)) * DOT(T(7) + j * d, y + i * d, d);
      }
      for (size_t c = 0; c < d; c++) x[i * d + c] += DOT(T(8) + c * f, g, f);
    }
  }
  NORM(T(0));
  for (size_t i = 0; i < n; i++) {
    double z = 0;
    for (size_t v = 0; v < s->vocab_size; v++) z += exp(DOT(w + v * d, y + i * d, d));
    total += log(z) - DOT(w + target[i] * d, y + i * d, d);
  }
  free(x), free(y), free(Q), free(K), free(V), free(o), free(g);
  return total;
}
START_TEST(every_gradient)
{
  struct lab l;
  enum { N = 9 };
  lab_open(&l, &small, ROWS, NULL, 2);
  random_ids(ids, targets, ROWS, small.vocab_size);
  struct batch b = { ids, targets, 1, N, 1.0f };
  double *w = calloc(l.n, sizeof *w), one = lab_loss(&l, &b, losses);
  network_backward(l.net, l.w, &b, l.gradient);
  for (size_t i = 0; i < l.n; i++) w[i] = (double) l.w[i];
  ck_assert_double_eq_tol(ref_loss(&small, w, l.net, ids, targets, N), one, 1e-4);
  const struct parameter *p;
  unsigned good = 0;
  for (size_t i = 0; (p = network_parameter(l.net, i)) != NULL; i++) {
    double off = 0, size = 0;
    uint64_t seed = i;
    for (int k = 0; k < 8;
         k++) { /* eight numbers of the tensor, those of tokens that occur first */
      size_t at = p->offset + (i == 0 && k < 4 ? ids[k] * p->cols : 0)
        + rnd(&seed) % (i == 0 && k < 4 ? p->cols : p->rows * p->cols);
      double h = 1e-5, old = w[at], up, down;
      w[at] = old + h, up = ref_loss(&small, w, l.net, ids, targets, N);
      w[at] = old - h, down = ref_loss(&small, w, l.net, ids, targets, N);
      w[at] = old;
      double slope = (up - down) / (2 * h);
      off += (slope - (double) l.gradient[at]) * (slope - (double) l.gradient[at]),
        size += slope * slope;
    }
    ck_assert_msg(size > 0, "%s: no slope", p->name);
    ck_assert_msg(
      sqrt(off / size) < 2e-5, "%s: %g of its gradient is wrong", p->name, sqrt(off / size));
    good++;
  }
  tally("tests/suites/check_training.c (gradients by name)", good, 0, 0, "");
  free(w);
  lab_close(&l);
}
END_TEST

/* ---- the same bits for 1, 2, 3 workers and every table of kernels */
START_TEST(same_bits)
{
  struct batch b = { ids, targets, 2, LONG, 1.0f / ROWS };
  float *first = NULL;
  random_ids(ids, targets, ROWS, small.vocab_size);
  for (unsigned k = 0; kernels_at(k) != NULL; k++)
    for (unsigned workers = 1; workers <= 3; workers++) {
      struct lab l;
      lab_open(&l, &small, ROWS, kernels_at(k)->name, workers);
      lab_loss(&l, &b, first == NULL ? losses : others);
      network_backward(l.net, l.w, &b, l.gradient);
      if (first == NULL)
        memcpy(first = calloc(l.n, sizeof *first), l.gradient, l.n * sizeof *first);
      else {
        ck_assert(memcmp(first, l.gradient, l.n * sizeof *first) == 0);
        ck_assert(memcmp(losses, others, sizeof losses) == 0);
      }
      lab_close(&l);
    }
  free(first);
}
END_TEST

/* ---- one pass over a text, or one for each of its beginnings: the same losses */
START_TEST(teacher_forcing)
{
  struct lab l;
  lab_open(&l, &small, ROWS, NULL, 2);
  random_ids(ids, targets, ROWS, small.vocab_size);
  struct batch b = { ids, targets, 1, LONG, 1.0f };
  lab_loss(&l, &b, losses);
  for (size_t n = 1; n <= LONG; n += n < 40 ? 1 : 37) {
    b.length = n;
    lab_loss(&l, &b, others);
    ck_assert(others[n - 1] == losses[n - 1]);
  }
  lab_close(&l);
}
END_TEST

/* ---- its logits are the engine's, bit for bit */
static void write_and_compare(struct lab *l, size_t n)
{
  char folder[] = "/tmp/incipit-XXXXXX";
  ck_assert(mkdtemp(folder) != NULL);
  publish_round_weights(l->w, l->n);
  /* a pipe in the place of one of the files is refused, and stays */
  char pipe[64];
  struct stat st;
  snprintf(pipe, sizeof pipe, "%s/config.json", folder);
  ck_assert_int_eq(mkfifo(pipe, 0600), 0);
  ck_assert(!publish_model(&m, folder, &l->shape, l->net, l->w, NULL, 0, &why));
  ck_assert_msg(strstr(why.text, "config.json: this is a pipe") != NULL, "%s", why.text);
  ck_assert(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode) && unlink(pipe) == 0);
  ck_assert_msg(publish_model(&m, folder, &l->shape, l->net, l->w, NULL, 0, &why), "%s", why.text);
  struct model *lm = model_open(&m, folder, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, &why), .pool = l->pool, .c = &c };
  struct store *s = array_store_open(&m, &lm->config, &why);
  size_t which[LONG], v = l->shape.vocab_size;
  for (size_t i = 0; i < n; i++) which[i] = i;
  float *logits = calloc(n * v, sizeof *logits);
  ck_assert_msg(model_evaluate(&e, lm, s, ids, n, which, n, logits, &why), "%s", why.text);
  struct batch b = { ids, targets, 1, n, 1.0f };
  ck_assert(network_forward(l->net, l->w, &b, &why));
  ck_assert(memcmp(logits, network_logits(l->net), n * v * sizeof *logits) == 0);
  free(logits);
  store_close(s);
  model_close(&m, lm);
  const char *file[] = { "config.json", "generation_config.json", "model.safetensors" };
  char path[64];
  for (int i = 0; i < 3; i++)
    snprintf(path, sizeof path, "%s/%s", folder, file[i]), ck_assert(unlink(path) == 0);
  rmdir(folder);
}
START_TEST(engine_logits)
{
  struct lab l;
  lab_open(&l, &small, ROWS, NULL, 2);
  random_ids(ids, targets, ROWS, small.vocab_size);
  write_and_compare(&l, LONG);
  lab_close(&l);
  struct model_shape s = training_plan_draft.form;
  lab_open(&l, &s, ROWS, NULL, 1);
  random_ids(ids, targets, ROWS, s.vocab_size);
  write_and_compare(&l, 67);
  lab_close(&l);
}
END_TEST

/* ---- the corpus: chances that add up, texts that are what their choices say, no silent choice */
START_TEST(corpus)
{
  static struct passage a, b;
  struct grammar *g = grammar_open(&m, "models/corpus.grammar", &why);
  ck_assert_msg(g != NULL, "%s", why.text);
  uint64_t seed = suite_seed();
  unsigned tried = 0, sorts[N_TEXT_SORTS] = { 0 };
  for (uint64_t i = 0; i < 3000; i++) {
    uint16_t taken[PASSAGE_CHOICES];
    double bits = 0;
    ck_assert_msg(grammar_write(g, SEED_HELD_OUT, i, &a, &why), "%s", why.text);
    sorts[a.sort]++;
    ck_assert(a.length == strlen(a.words) && strstr(a.words, "<|") == NULL
          && strpbrk(a.words, "[]{}|;~") == NULL
        ? true
        : a.sort == TEXT_CODE);
    for (size_t k = 0; k < a.n_choices; k++) {
      taken[k] = a.choices[k].taken;
      ck_assert(a.choices[k].weight > 0 && a.choices[k].weight <= a.choices[k].total);
      bits -= log2((double) a.choices[k].weight / a.choices[k].total);
    }
    ck_assert_double_eq_tol(bits, a.bits, 1e-9 * (1 + bits));
    ck_assert(grammar_replay(g, taken, a.n_choices, &b, &why));
    ck_assert_msg(b.length == a.length && memcmp(a.words, b.words, a.length) == 0,
      "text %d is not what its choices say", (int) i);
    size_t k = rnd(&seed) % a.n_choices, count = 0, length;
    uint32_t weight;
    while (grammar_table(g, a.choices[k].drawn, count, &length, &weight) != NULL) count++;
    taken[k] = (uint16_t) (rnd(&seed) % count);
    ck_assert(grammar_replay(g, taken, a.n_choices, &b, &why));
    if (taken[k] == a.choices[k].taken || b.choices[k].taken != taken[k]) continue;
    tried++;
    ck_assert_msg(b.length != a.length || memcmp(a.words, b.words, a.length) != 0,
      "a silent choice in text %d", (int) i);
  }
  ck_assert(tried > 1000);
  for (int s = 0; s < N_TEXT_SORTS; s++) ck_assert(sorts[s] > 100);
  grammar_close(&m, g);
}
END_TEST

/* ---- grammars of a few lines: what the notation says, which lines are refused, what shows only
 * while writing */
static char grammar_path[] = "/tmp/incipit-XXXXXX";
static struct grammar *grammar_of(struct memory *books, const char *words, size_t n)
{
  strcpy(grammar_path, "/tmp/incipit-XXXXXX");
  int file = mkstemp(grammar_path);
  ck_assert(file >= 0 && write(file, words, n) == (ssize_t) n && close(file) == 0);
  why.text[0] = '\0';
  struct grammar *g = grammar_open(books, grammar_path, &why);
  ck_assert(unlink(grammar_path) == 0);
  return g;
}
static const struct {
  const char *grammar, *text;
} said[] = {
  { "table text\n1 |a cat", "a cat" },
  { "# a comment [with {brackets\n\ntable text\n   9999 |  two before\n\n# and the end\n",
    "  two before" },
  { "table text\n  1 |one line\n    + goes on\n    |    and a second\n    |\n    |, a fourth",
    "one line goes on\n    and a second\n\n, a fourth" },
  { "table text\n  1 |[b][b].\ntable b\n  1 |quickly |\n", "quickly quickly ." },
  { "table text\n  1 |[b].\ntable b\n  7 |\n", "." },
  { "table text\n  1 |[b].\ntable b\n  7 ||\n", "." },
  { "table text\n  1 |[[[b]]] {{x}} [k=b]{k}\ntable b\n  1 |x\n", "[x] {x} x" },
  { "table text\n  1 |[k:b], {k.1}, {K.2}, {K}, [^b], [K:c], {k.1}\ntable b\n  1 "
    "|ant;bee;cow\ntable c\n  1 |dog;eel",
    "ant, bee, Cow, Ant, Ant, Dog, eel" },
  { "table text\n  1 |[k:b] [l.{k}] [^l.{k}] [m:l.{k.1}]{M.1}\ntable b\n  1 |x;y.1\ntable l.x\n  1 "
    "|ex\ntable l.y.1\n  1 |why;z\n",
    "x ex Ex whyZ" },
  { "table text\n  1 |[k=b][b-k][l=b-k][b-l][b-l]\ntable b\n  1 |x;1\n  1 |y;2\n", NULL },
  { "table b once\n  1 |x\n  1 |y\n  1 |z\ntable text\n  1 |[k=b][l=b][b-k-l][m:c]\ntable c\n  1 "
    "|[n:d]{n}\ntable d\n 3 |u",
    NULL },
};
START_TEST(what_the_notation_says)
{
  static struct passage a;
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    struct memory books = { 0 };
    struct grammar *g = grammar_of(&books, said[i].grammar, strlen(said[i].grammar));
    ck_assert_msg(g != NULL, "grammar %zu: %s", i, why.text);
    for (uint64_t n = 0; n < 50; n++) {
      ck_assert_msg(grammar_write(g, 1, n, &a, &why), "grammar %zu: %s", i, why.text);
      ck_assert(a.length == strlen(a.words) && a.sort == 0 && a.bits >= 0);
      if (said[i].text != NULL)
        ck_assert_msg(strcmp(a.words, said[i].text) == 0, "grammar %zu: %s", i, a.words);
      else if (i == 9)
        ck_assert_msg(a.n_choices == 6 && a.bits == 1
            && (strcmp(a.words, "yxx") == 0 || strcmp(a.words, "xyy") == 0),
          "%s", a.words);
      else
        ck_assert(a.n_choices == 6 && a.bits > 2.58 && a.bits < 2.59 && a.length == 3
          && strcmp(a.words + 1, "uu") == 0);
    }
    grammar_close(&books, g);
    ck_assert_uint_eq(books.all.live, 0);
  }
}
END_TEST
static const struct {
  const char *grammar;
  unsigned line;
  const char *wanted;
} hostile[] = {
  { "tabel text\n1 |a", 1, "\"tabel text\"; wanted: a table; a weight and a bar" },
  { "table text\n1 |a\ntable\n", 3, "wanted: a table" },
  { "table \n1 |a", 1, "no blank at the end" },
  { "table Text\n1 |a", 1, "table NAME" },
  { "table text twice\n1 |a", 1, "table NAME, or table NAME once" },
  { "table text once once\n1 |a", 1, "table NAME, or table NAME once" },
  { "table te-xt\n1 |a", 1, "table NAME" },
  { "table text\n1 |a\ntable b\n1 |b\ntable text\n1 |c", 5,
    "\"text\"; wanted: a name that no table above has" },
  { "table text\ntable b\n1 |a", 2, "an alternative for the table above" },
  { "table text\n1 |a\n\ntable b\n", 4, "an alternative for the table above" },
  { "1 |a\n", 1, "a table before the first alternative" },
  { "  |a\n", 1, "a table before the first alternative" },
  { "table text\n  |a\n", 2, "an alternative to go on with" },
  { "table text\n1 |a\ntable b\n  +a\n1 |b", 4, "an alternative to go on with" },
  { "table text\n0 |a\n", 2, "a weight from 1 to 9999" },
  { "table text\n10000 |a\n", 2, "a weight from 1 to 9999" },
  { "table text\n99999999999999999999999 |a\n", 2, "a weight from 1 to 9999" },
  { "table text\n-1 |a\n", 2, "a weight and a bar" },
  { "table text\n1.5 |a\n", 2, "a weight and a bar" },
  { "table text\n1\n", 2, "a weight and a bar" },
  { "table text\n1 a\n", 2, "a weight and a bar" },
  { "table text\n1 +a\n", 2, "a weight and a bar" },
  { "table text\n1 |a|b\n", 2, "a text without a bar" },
  { "table text\n1 |a||\n", 2, "a text without a bar" },
  { "table text\n1 |a \n", 2, "no blank at the end" },
  { "table text\n1 |a\n  \n", 3, "no blank at the end" },
  { "table text\n1 |a\r\n", 2, "byte 0x0d" },
  { "table text\n1 |\ta\n", 2, "byte 0x09" },
  { "table text\n1 |caf\xc3\xa9\n", 2, "byte 0xc3" },
  { "# \x7f\n", 1, "byte 0x7f" },
  { "table text\n1 |a\n1 |[text\n", 3, "\"[text\"; wanted: a slot" },
  { "table text\n1 |[te\n  +xt]\n", 2, "wanted: a slot" },
  { "table text\n1 |[]\n", 2, "wanted: a slot" },
  { "table text\n1 |[a[text]]\n", 2, "wanted: a slot" },
  { "table text\n1 |a [txet] b\n", 2, "\"[txet] b\"; wanted: a slot" },
  { "table text\n1 |[k:text-k][k:]\n", 2, "\"[k:]\"; wanted: a slot" },
  { "table text\n1 |[:text]\n", 2, "wanted: a slot" },
  { "table text\n1 |[^k:text]\n", 2, "wanted: a slot" },
  { "table text\n1 |[^text]\n1 |[^^text]\n", 3, "wanted: a slot" },
  { "table text\n1 |[eight888:text]\n", 2, "wanted: a slot" },
  { "table text\n1 "
    "|[text-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\n",
    2, "wanted: a slot" },
  { "table text\n1 |[text.{k]\n", 2, "wanted: a slot" },
  { "table text\n1 |[text.k}]\n", 2, "wanted: a slot" },
  { "table text\n1 |[text.{{k}}]\n", 2, "wanted: a slot" },
  { "table text\n1 |a ] b\n", 2, "\"] b\"; wanted: an opening bracket before it" },
  { "table text\n1 |a } b\n", 2, "an opening bracket before it" },
  { "table text\n1 |{k\n", 2, "{key}" },
  { "table text\n1 |{}\n", 2, "{key}" },
  { "table text\n1 |{k.}\n", 2, "{key}" },
  { "table text\n1 |{k.x}\n", 2, "{key}" },
  { "table text\n1 |{k.12}\n", 2, "{key}" },
  { "table text\n1 |{k k}\n", 2, "{key}" },
  { "table text\n1 |{eight888}\n", 2, "{key}" },
  { "", 0, "the table text is missing" },
  { "\n\n# nothing\n", 0, "the table text is missing" },
  { "table texts\n1 |a\n", 0, "the table text is missing" },
  { "table text\n1 |a\n1 |b\n1 |c\n1 |d\n1 |e\n1 |f\n", 0, "the table text is too long" },
};
START_TEST(hostile_lines_are_refused)
{
  static char big[1 << 21];
  for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
    struct memory books = { 0 };
    char place[40];
    ck_assert_msg(grammar_of(&books, hostile[i].grammar, strlen(hostile[i].grammar)) == NULL,
      "%s is a grammar", hostile[i].grammar);
    snprintf(place, sizeof place, hostile[i].line > 0 ? "%s: line %u" : "%s: the table text",
      grammar_path, hostile[i].line);
    ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0
        && strstr(why.text, hostile[i].wanted) != NULL && strchr(why.text, '\n') == NULL,
      "%s: says %s", hostile[i].grammar, why.text);
    ck_assert_uint_eq(books.all.live, 0);
  }
  struct memory books = { 0 };
  ck_assert(grammar_of(&books, "table text\n1 |a\0b", 17) == NULL
    && strstr(why.text, "line 2, column 5 is byte 0x00") != NULL);
  ck_assert(grammar_open(&books, "/tmp/no such grammar", &why) == NULL
    && strstr(why.text, "/tmp/no such grammar") != NULL);
  ck_assert(grammar_open(&books, "/tmp/no such grammar", NULL) == NULL);
  /* as many as there may be, and one more: bytes, tables, alternatives */
  memset(big, '#', sizeof big);
  for (size_t i = 99; i < sizeof big; i += 100) big[i] = '\n';
  memcpy(big, "table text\n1 |a\n", 16);
  struct grammar *g = grammar_of(&books, big, 1 << 20);
  ck_assert_msg(g != NULL, "%s", why.text);
  grammar_close(&books, g);
  ck_assert(grammar_of(&books, big, (1 << 20) + 1) == NULL
    && strstr(why.text, "at most a mebibyte") != NULL);
  for (int what = 0; what < 2; what++)
    for (int more = 0; more < 2; more++) {
      size_t n =
        (size_t) sprintf(big, what ? "table text\n9999 |[b]\ntable b\n" : "table text\n1 |a\n");
      for (int i = 0; i < (what ? 64 : 255) + more; i++)
        n += (size_t) sprintf(big + n, what ? "9999 |x%d\n" : "table t%d\n1 |a\n", i);
      g = grammar_of(&books, big, n);
      ck_assert_msg((g == NULL) == more, "%s", why.text);
      if (more)
        ck_assert(strstr(why.text, what ? "line 68" : "line 513") != NULL
          && strstr(why.text, what ? "at most 64" : "at most 256") != NULL);
      grammar_close(&books, g);
    }
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST
static const struct {
  const char *grammar, *named;
} slips[] = {
  { "table text\n1 |{k}\n", "\"k\"" },
  { "table text\n1 |[k:b]{k.2}\ntable b\n1 |x;y", "\"k.2\"" },
  { "table text\n1 |[k:b][t.{k}]\ntable b\n1 |x\ntable t.y\n1 |a", "\"t.{k}\"" },
  { "table text\n1 |[b-k]\ntable b\n1 |x", "\"-k\"" },
  { "table text\n1 |[b-]\ntable b\n1 |x", "\"-\"" },
  { "table text\n1 |[k:b][b-k]\ntable b\n1 |x;1\n2 |x;2", "\"b\"" },
  { "table text\n1 |[b][b]\ntable b once\n1 |x", "\"b\"" },
  { "table text\n1 |[text]\n", "\"text\"" },
  { "table text\n1 |xxxxxxxxxx[text]\n", "\"" },
  { "table text\n1 |[k:b]\ntable b\n1 |0123456789012345678901234567890123456789\n "
    "+0123456789012345678901234567890123456789\n +0123456789012345678901234567890123456789\n"
    " +01234567890123456789012345678901234567890",
    "\"k:b\"" },
  { "table text\n1 |[k:b][{k}:b]\ntable b\n1 |12345678", "\"{k}:b\"" },
  { "table text\n1 |[k:b][t{k}{k}{k}{k}{k}{k}{k}{k}]\ntable b\n1 |12345678", "\"t{k}{k}" },
};
/* a die of many sides is thrown again outside of the largest multiple of them below 2^32: texts in which
   that happens, found by throwing here */
static uint32_t thrown(uint64_t *dice, uint32_t n, unsigned *again)
{
  for (;; ++*again) {
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9), z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z = (z ^ z >> 31) >> 32;
    if (z < (UINT64_C(1) << 32) - (UINT64_C(1) << 32) % n) return (uint32_t) (z % n);
  }
}
START_TEST(every_side_of_a_die_is_as_likely)
{
  static struct passage a;
  struct memory books = { 0 };
  char words[3000] = "table text\n1 |[b]\ntable b\n";
  for (int i = 0; i < 64; i++) sprintf(words + strlen(words), "9999 |x%d\n", i);
  struct grammar *g = grammar_of(&books, words, strlen(words));
  ck_assert_msg(g != NULL, "%s", why.text);
  unsigned met = 0;
  for (uint64_t i = 0; i < 200000; i++) {
    uint64_t dice = (UINT64_C(3) << 40 ^ i) * UINT64_C(0x2545f4914f6cdd1d);
    unsigned again = 0;
    char side[8];
    dice ^= dice >> 29;
    thrown(&dice, 1, &again);
    snprintf(side, sizeof side, "x%u", (unsigned) (thrown(&dice, 64 * 9999, &again) / 9999));
    met += again > 0;
    if (again == 0 && i > 100) continue;
    ck_assert(grammar_write(g, 3, i, &a, &why));
    ck_assert_msg(strcmp(a.words, side) == 0, "text %d: %s; wanted: %s", (int) i, a.words, side);
    /* what was chosen is told: of which table, with which weight of which sum */
    ck_assert(a.n_choices == 2 && a.choices[1].weight == 9999 && a.choices[1].total == 64 * 9999
      && a.choices[0].weight == 1 && a.choices[0].total == 1 && a.choices[1].taken == atoi(side + 1));
  }
  ck_assert_uint_gt(met, 3);
  grammar_close(&books, g);
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST
/* what was written can be written again by its choices, as far as they may be taken; who asks is shown the
   tables by name, each alternative with its weight; of a long line forty letters are quoted */
START_TEST(tables_are_shown_and_texts_replayed)
{
  static struct passage a;
  struct memory books = { 0 };
  static const char words[] = "table text\n1 |[ka:b][kb:b]{ka}{kb}{Ka}\ntable b once\n3 |x;1\n5 |yy;2\n";
  struct grammar *g = grammar_of(&books, words, strlen(words));
  ck_assert_msg(g != NULL, "%s", why.text);
  static const uint16_t taken[][3] = { { 0, 0, 1 }, { 0, 1, 0 }, { 0, 0, 0 }, { 0, 1, 1 }, { 0, 7, 0 } };
  static const char *const text[] = { "xyyxyyX", "yyxyyxYy", "xyyxyyX", "yyxyyxYy", NULL };
  for (size_t i = 0; i < 5; i++) {
    ck_assert(grammar_replay(g, taken[i], 3, &a, &why) && a.n_choices == 3);
    ck_assert_msg(text[i] == NULL || strcmp(a.words, text[i]) == 0, "%zu: %s", i, a.words);
    ck_assert(a.choices[2].taken == 1 - a.choices[1].taken && a.choices[2].weight == a.choices[2].total);
  }
  static const struct { const char *name; size_t n; const char *words[2]; uint32_t weight[2]; } table[] = {
    { "b", 2, { "x;1", "yy;2" }, { 3, 5 } }, { "text", 1, { "[ka:b][kb:b]{ka}{kb}{Ka}", NULL }, { 1, 0 } } };
  ck_assert_uint_eq(grammar_tables(g), 2);
  for (size_t k = 0; k < 2; k++) {
    size_t length;
    uint32_t weight;
    const char *s = grammar_table(g, k, SIZE_MAX, &length, &weight);
    ck_assert(length == strlen(table[k].name) && memcmp(s, table[k].name, length) == 0);
    for (size_t i = 0; i <= table[k].n + 1; i++) {
      s = grammar_table(g, k, i, &length, &weight);
      ck_assert((s == NULL) == (i >= table[k].n));
      if (s != NULL) ck_assert(length == strlen(table[k].words[i]) && weight == table[k].weight[i]
        && memcmp(s, table[k].words[i], length) == 0);
    }
  }
  grammar_close(&books, g);
  for (int n = 39; n < 43; n++) {
    char line[80] = "", wanted[120];
    for (int i = 0; i < n; i++) line[i] = (char) ('A' + i % 26);
    ck_assert(grammar_of(&books, line, (size_t) n) == NULL);
    snprintf(wanted, sizeof wanted, "line 1 is \"%.40s\"%s; wanted: a table", line, n > 40 ? "..." : "");
    ck_assert_msg(strstr(why.text, wanted) != NULL, "%s; wanted: %s", why.text, wanted);
  }
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST
START_TEST(slips_are_found_while_writing)
{
  static struct passage a;
  struct memory books = { 0 };
  struct grammar *g;
  for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
    g = grammar_of(&books, slips[i].grammar, strlen(slips[i].grammar));
    ck_assert_msg(g != NULL, "%s", why.text);
    ck_assert(!grammar_write(g, 1, 1, &a, &why) && a.sort == 0);
    ck_assert_msg(strncmp(why.text, "the grammar: ", 13) == 0
        && strstr(why.text, slips[i].named) != NULL && strchr(why.text, '\n') == NULL,
      "%s", why.text);
    grammar_close(&books, g);
  }
  /* 64 keys are remembered, 65 are not; a text of 8,191 bytes is written, one of 8,192 is not */
  static char big[1 << 15];
  for (int more = 0; more < 2; more++) {
    size_t n = (size_t) sprintf(big, "table b\n1 |x\ntable text\n1 |");
    for (int i = 0; i < 64 + more; i++) n += (size_t) sprintf(big + n, "[k%d:b]", i);
    g = grammar_of(&books, big, n);
    ck_assert(g != NULL && grammar_write(g, 1, 1, &a, &why) == !more);
    grammar_close(&books, g);
    n = (size_t) sprintf(big, "table text\n1 |");
    memset(big + n, 'x', MAX_PASSAGE_LEN);
    g = grammar_of(&books, big, n + MAX_PASSAGE_LEN - 1 + (size_t) more);
    ck_assert(g != NULL && grammar_write(g, 1, 1, &a, &why) == !more
      && (more || a.length == MAX_PASSAGE_LEN - 1));
    grammar_close(&books, g);
  }
  ck_assert_uint_eq(books.all.live, 0);
}
END_TEST

/* the grammar itself, damaged: refused with a line, or a grammar that writes or says why not */
START_TEST(damaged_grammars)
{
  static struct passage a;
  static char copy[1 << 17];
  static const char signs[] = "[]{}|+:=-^;.#\n 019akT\t";
  struct mapping map;
  uint64_t seed = suite_seed();
  unsigned refused = 0, opened = 0, wrote = 0;
  ck_assert(file_map(&map, "models/corpus.grammar", &why) && map.size < sizeof copy - 8);
  for (int round = 0; round < 600; round++) {
    struct memory books = { 0 };
    size_t n = map.size;
    memcpy(copy, map.bytes, n);
    for (uint64_t k = 1 + rnd(&seed) % 3; k > 0; k--) {
      size_t at = rnd(&seed) % n;
      char c = signs[rnd(&seed) % (sizeof signs - 1)];
      switch (rnd(&seed) % 3) {
      case 0: copy[at] = c; break;
      case 1:
        memmove(copy + at + 1, copy + at, n - at);
        copy[at] = c, n++;
        break;
      default: memmove(copy + at, copy + at + 1, n - at - 1); n--;
      }
    }
    if (round % 10 == 0) n = rnd(&seed) % n;
    struct grammar *g = grammar_of(&books, copy, n);
    if (g == NULL) {
      refused++;
      ck_assert_msg(
        strstr(why.text, ": line ") != NULL || strstr(why.text, ": the table text") != NULL, "%s",
        why.text);
    } else
      opened++;
    for (uint64_t i = 0; g != NULL && i < 20; i++)
      wrote += grammar_write(g, 1, rnd(&seed), &a, &why);
    grammar_close(&books, g);
    ck_assert_uint_eq(books.all.live, 0);
  }
  ck_assert_msg(refused > 100 && opened > 100 && wrote > 10 * opened,
    "%u refused, %u opened, %u texts", refused, opened, wrote);
  file_unmap(&map);
}
END_TEST

/* ---- a whole run's surroundings */
struct world {
  struct grammar *g;
  struct bpe_merge *merges;
  size_t n;
  struct tokenizer *words;
  struct dataset *source;
  struct pool *pool;
};
static void world_open(struct world *w, unsigned workers)
{
  w->g = grammar_open(&m, "models/corpus.grammar", &why);
  ck_assert(dataset_merges(&m, w->g, &w->merges, &w->n, &why));
  ck_assert_uint_eq(w->n, DATASET_MERGES);
  w->words = tokenizer_from_merges(&m, w->merges, w->n, &why);
  w->source = dataset_open(&m, w->g, w->words, SEED_TRAINING, &why);
  w->pool = pool_open(&m, workers, &why);
  ck_assert(w->words != NULL && w->source != NULL && w->pool != NULL);
}
static void world_close(struct world *w)
{
  pool_close(&m, w->pool);
  dataset_close(&m, w->source);
  tokenizer_close(&m, w->words);
  bpe_forget(&m, w->merges);
  grammar_close(&m, w->g);
}

/* ---- rows: a text's own tokens, end-of-text between texts, the first of odd number begun with it
 */
START_TEST(rows)
{
  static struct passage a;
  static uint32_t row[2049];
  struct world w;
  world_open(&w, 1);
  uint64_t text = 0;
  for (int r = 0; r < 40; r++) {
    size_t n = r % 2 ? 2049 : 513, at = 0;
    ck_assert(dataset_at(w.source) == text);
    ck_assert(dataset_row(w.source, row, n, &why));
    for (bool first = true; at < n; first = false, text++) {
      struct ids one = { 0 };
      ck_assert(grammar_write(w.g, SEED_TRAINING, text, &a, &why));
      ck_assert(tokenizer_encode(w.words, &m, a.words, a.length, false, false, &one, &why));
      if (!first || text % 2 == 1) ck_assert_uint_eq(row[at++], 0);
      for (size_t i = 0; i < one.n && at < n; i++) ck_assert_uint_eq(row[at++], one.id[i]);
      ids_free(&m, &one);
    }
  }
  world_close(&w);
}
END_TEST

/* ---- a run that is interrupted, saved, and loaded into another trainer ends in the same bits */
START_TEST(resumed)
{
  char path[] = "/tmp/incipit-XXXXXX";
  ck_assert(mkstemp(path) >= 0);
  struct training_plan p = training_plan_draft;
  p.phase[0].tokens = 3 * 1024, p.phase[1].tokens = 2048, p.phase[2].tokens = 2 * 8192,
  p.phase[3].tokens = 6144;
  struct world w;
  struct training_progress a, b;
  world_open(&w, 2);
  const struct kernels *k = kernels_find(NULL, &why);
  struct trainer *t = trainer_open(&m, &p, k, w.pool, w.source, &why), *u;
  size_t n = network_count(trainer_network(t));
  ck_assert_uint_eq(training_plan_steps(&p), 7);
  for (int i = 0; i < 7; i++) ck_assert(trainer_step(t, &a, &why));
  dataset_seek(w.source, 0);
  u = trainer_open(&m, &p, k, NULL, w.source, &why);
  for (int i = 0; i < 6; i++) {
    ck_assert(trainer_step(u, &b, &why));
    ck_assert_msg(trainer_save(u, path, &why), "%s", why.text);
    trainer_close(&m, u);
    dataset_seek(w.source, 999);
    u = trainer_open(&m, &p, k, NULL, w.source, &why);
    ck_assert_msg(trainer_load(u, path, &b, &why), "%s", why.text);
    ck_assert_uint_eq(b.step, (unsigned) i + 1);
  }
  ck_assert(trainer_step(u, &b, &why));
  ck_assert(memcmp(&a, &b, sizeof a) == 0);
  ck_assert(memcmp(trainer_weights(t), trainer_weights(u), n * sizeof(float)) == 0);
  ck_assert(a.tokens == 3 * 1024 + 2048 + 2 * 8192 + 6144);
  struct stat whole;
  ck_assert(stat(path, &whole) == 0 && truncate(path, whole.st_size - 4) == 0);
  ck_assert(!trainer_load(u, path, &b, &why)
    && memcmp(trainer_weights(t), trainer_weights(u), n * sizeof(float)) == 0);
  ck_assert(truncate(path, 100) == 0 && !trainer_load(u, path, &b, &why));
  ck_assert(strstr(why.text, "no state of this run") != NULL);
  trainer_close(&m, t), trainer_close(&m, u);
  world_close(&w);
  unlink(path);
}
END_TEST

/* ---- the first hundred losses of the run that made the committed file */
START_TEST(first_hundred)
{
  const struct training_plan *plans[] = { &training_plan_model, &training_plan_draft };
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  int steps[] = { 2, 2 };
#else
  int steps[] = { 100, 20 };
#endif
  for (int k = 0; k < 2; k++) {
    char path[80], line[120], mine[120];
    snprintf(path, sizeof path, "%s/training.csv", plans[k]->directory);
    FILE *f = fopen(path, "r");
    if (f == NULL) {
      tally(path, 0, 0, 1, "not trained yet");
      continue;
    }
    struct world w;
    struct training_progress p;
    world_open(&w, pool_cores());
    struct trainer *t =
      trainer_open(&m, plans[k], kernels_find(NULL, &why), w.pool, w.source, &why);
    ck_assert(fgets(line, sizeof line, f) != NULL);
    for (int i = 0; i < steps[k]; i++) {
      ck_assert(trainer_step(t, &p, &why) && fgets(line, sizeof line, f) != NULL);
      snprintf(mine, sizeof mine, "%llu,%llu,%.9g,%.9g\n", (unsigned long long) p.step,
        (unsigned long long) p.tokens, (double) p.loss, (double) p.rate);
      ck_assert_str_eq(mine, line);
    }
    fclose(f);
    tally(path, (unsigned) steps[k], 0, 0, "");
    trainer_close(&m, t);
    world_close(&w);
  }
}
END_TEST

/* ---- every allocation may fail: no leak, a sentence, no crash */
START_TEST(refused_memory)
{
  struct model_shape s = small;
  for (uint64_t at = 1;; at++) {
    struct memory books = { .fail_at = at };
    struct network *net = network_open(&books, &s, 64, kernels_find(NULL, &why), NULL, &why);
    bool opened = net != NULL;
    network_close(&books, net);
    ck_assert_uint_eq(books.all.live, 0);
    if (opened) {
      ck_assert(at > 3);
      break;
    }
  }
  struct training_plan p = training_plan_draft;
  p.form = s, p.form.vocab_size = 2048;
  for (uint64_t at = 1;; at++) {
    struct memory books = { .fail_at = at };
    struct trainer *t = trainer_open(&books, &p, kernels_find(NULL, &why), NULL, NULL, &why);
    bool opened = t != NULL;
    trainer_close(&books, t);
    ck_assert_uint_eq(books.all.live, 0);
    if (opened) break;
  }
  for (uint64_t at = 1;; at++) {
    struct memory books = { .fail_at = at };
    struct grammar *g = grammar_open(&books, "models/corpus.grammar", &why);
    bool opened = g != NULL;
    grammar_close(&books, g);
    ck_assert_uint_eq(books.all.live, 0);
    if (opened) break;
  }
}
END_TEST

/* ---- the committed files: their sums, and what transformers makes of them */
START_TEST(files)
{
  ck_assert(system("cd models && sha256sum --quiet -c SHA256SUMS") == 0);
  struct model *lm = model_open(&m, "models/pocket", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  struct tokenizer *words = tokenizer_open(&m, "models/pocket", &why);
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, &why), .c = &c };
  struct store *s = array_store_open(&m, &lm->config, &why);
  static char line[4096];
  float *logits = calloc(lm->config.vocab_size, sizeof *logits);
  FILE *f = fopen("tests/golden/pocket/transformers.tsv", "r");
  ck_assert(f != NULL);
  unsigned good = 0;
  while (fgets(line, sizeof line, f) != NULL) {
    if (line[0] == '#') continue;
    char *prompt = strtok(line, "\t"), *tokens = strtok(NULL, "\t"), *pairs = strtok(NULL, "\t");
    struct ids mine = { 0 };
    ck_assert(tokenizer_encode(words, &m, prompt, strlen(prompt), true, true, &mine, &why));
    for (size_t i = 0; i < mine.n; i++) ck_assert_uint_eq(strtoul(tokens, &tokens, 10), mine.id[i]);
    ck_assert(*tokens == '\0');
    size_t last = mine.n - 1;
    ck_assert_msg(
      model_evaluate(&e, lm, s, mine.id, mine.n, &last, 1, logits, &why), "%s", why.text);
    for (char *p = strtok(pairs, " "); p != NULL; p = strtok(NULL, " ")) {
      char *z = strchr(p, ':');
      ck_assert_double_eq_tol((double) logits[atoi(p)], atof(z + 1), 2e-4);
    }
    ids_free(&m, &mine);
    good++;
  }
  tally("tests/golden/pocket/transformers.tsv", good, 0, 0, "");
  fclose(f);
  free(logits);
  store_close(s);
  tokenizer_close(&m, words);
  model_close(&m, lm);
}
END_TEST

/* the tales that chapter 6 reads are texts of the grammar that nobody was trained on, word for word
 */
START_TEST(tales_are_held_out)
{
  static struct passage a;
  static const uint64_t number[] = { 217, 247, 497 };
  struct grammar *g = grammar_open(&m, "models/corpus.grammar", &why);
  struct mapping map;
  size_t at = 0;
  ck_assert_msg(g != NULL && file_map(&map, "models/pocket/tales.txt", &why), "%s", why.text);
  for (int i = 0; i < 3; i++) {
    ck_assert(grammar_write(g, SEED_HELD_OUT, number[i], &a, &why));
    ck_assert(at + a.length + 13 <= map.size && memcmp(map.bytes + at, a.words, a.length) == 0
      && memcmp(map.bytes + at + a.length, "<|endoftext|>", 13) == 0);
    at += a.length + 13;
  }
  ck_assert_uint_eq(at, map.size);
  file_unmap(&map), grammar_close(&m, g);
}
END_TEST

/* ---- the pieces of the way back against their formulas in double; any length, and no more */
static float draw(uint64_t *seed)
{
  return (float) ((double) (int64_t) rnd(seed) / 9.3e18);
}
static bool close_to(double a, double b, double scale)
{
  return fabs(a - b) <= 3e-6 * (fabs(b) + scale);
}
static const struct gradients *slopes_at(int i)
{
#if defined __x86_64__
  if (i == 1 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return NULL;
  return i == 1 ? &gradients_wide : i == 0 ? &gradients_plain : NULL;
#else
  return i == 0 ? &gradients_plain : NULL;
#endif
}
START_TEST(pieces_of_any_length)
{
  enum { MOST = 150 };
  uint64_t seed = suite_seed();
  for (int k = 0; slopes_at(k) != NULL; k++)
    for (size_t n = 1; n <= MOST; n++) {
      const struct gradients *s = slopes_at(k);
      float g[MOST + 16], z[MOST + 16], want[MOST];
      double sum = 0, top = -INFINITY, all = 0;
      for (size_t i = 0; i < MOST + 16; i++) g[i] = draw(&seed), z[i] = 9 * draw(&seed);
      if (n % 5 == 0) z[n - 1] = 300; /* far above the others: nothing overflows */
      for (size_t i = 0; i < n; i++) sum += (double) g[i] * (double) g[i];
      ck_assert_msg(fabs(s->square(g, n) - sum) <= 1e-13 * sum, "table %d: squares of %zu", k, n);
      for (size_t i = 0; i < n; i++) top = fmax(top, (double) z[i]);
      for (size_t i = 0; i < n; i++) all += exp((double) z[i] - top);
      float beyond = z[n], share = 0.25f;
      /* often the last */
      uint32_t right = n % 3 == 0 ? (uint32_t) n - 1 : (uint32_t) (rnd(&seed) % n);
      double loss = log(all) + top - (double) z[right];
      for (size_t i = 0; i < n; i++)
        want[i] = (float) ((exp((double) z[i] - top) / all - (i == right)) * (double) share);
      ck_assert_msg(
        close_to(s->cross_entropy(z, n, right, share), loss, 1), "table %d: loss of %zu", k, n);
      for (size_t i = 0; i < n; i++)
        if (!close_to((double) z[i], (double) want[i], 1))
          ck_abort_msg("table %d: logit %zu of %zu", k, i, n);
      ck_assert(z[n] == beyond);
    }
}
END_TEST
/* one step of AdamW over a piece of the weights: its last few move, too, and no others */
START_TEST(a_step_moves_its_piece_and_no_more)
{
  enum { MOST = 210 };
  uint64_t seed = suite_seed() + 1;
  for (int k = 0; slopes_at(k) != NULL; k++)
    for (int round = 0; round < 150; round++) {
      float w[MOST], g[MOST], first[MOST], second[MOST], mean[MOST], old[5][MOST];
      bool decays[MOST], averaged = round % 2;
      for (size_t i = 0; i < MOST; i++) {
        w[i] = draw(&seed), g[i] = draw(&seed), first[i] = draw(&seed),
        second[i] = fabsf(draw(&seed));
        mean[i] = draw(&seed), decays[i] = rnd(&seed) % 2;
      }
      memcpy(old[0], w, sizeof w), memcpy(old[1], g, sizeof g), memcpy(old[2], first, sizeof first);
      memcpy(old[3], second, sizeof second), memcpy(old[4], mean, sizeof mean);
      size_t from = rnd(&seed) % 3 * 64, to = from + rnd(&seed) % (MOST - from + 1);
      struct moments a = { w, g, first, second, averaged ? mean : NULL, decays, 0.01f, 0.5f, 2, 3,
        0.75f };
      slopes_at(k)->adam(&a, from, to);
      for (size_t i = 0; i < MOST; i++) {
        bool same =
          w[i] == old[0][i] && g[i] == old[1][i] && first[i] == old[2][i] && second[i] == old[3][i];
        if (i < from || i >= to) {
          if (!same || mean[i] != old[4][i])
            ck_abort_msg("table %d, %zu to %zu: %zu moved", k, from, to, i);
          continue;
        }
        double slope = (double) old[1][i] * 0.5, one = 0.9 * (double) old[2][i] + 0.1 * slope;
        double two = 0.95 * (double) old[3][i] + 0.05 * slope * slope;
        double move = one * 2 / (sqrt(two * 3) + 1e-8) + (decays[i] ? 0.1 : 0) * (double) old[0][i];
        double to_be = (double) old[0][i] - 0.01 * move;
        double average = 0.75 * (double) old[4][i] + 0.25 * to_be;
        if (g[i] != 0 || !close_to((double) first[i], one, 1)
          || !close_to((double) second[i], two, 1) || !close_to((double) w[i], to_be, 1)
          || !close_to((double) mean[i], averaged ? average : (double) old[4][i], 1))
          ck_abort_msg("table %d, %zu to %zu: weight %zu", k, from, to, i);
      }
    }
}
END_TEST
/* scores to weights, blocks to one row, and back; keys that are not seen weigh nothing */
START_TEST(attention_and_its_way_back)
{
  uint64_t seed = suite_seed() + 2;
  for (int k = 0; slopes_at(k) != NULL; k++)
    for (int round = 0; round < 120; round++) {
      enum { H = 32, KEYS = 48 };
      const struct gradients *t = slopes_at(k);
      size_t sees = 1 + rnd(&seed) % KEYS, n = (sees + 15) / 16 * 16, blocks = 1 + rnd(&seed) % 3;
      static float left[2 * GRADIENTS_MC * 3], parts[3 * GRADIENTS_MC * H];
      float s[KEYS], weight[KEYS], y[H], known[2], scale = 0.5f;
      double top = -INFINITY, all = 0;
      for (size_t i = 0; i < n; i++) s[i] = 6 * draw(&seed);
      for (size_t i = 0; i < sees; i++) top = fmax(top, 0.5 * (double) s[i]);
      for (size_t i = 0; i < sees; i++) all += exp(0.5 * (double) s[i] - top);
      memcpy(weight, s, sizeof weight);
      t->softmax_block(weight, sees, n, scale, left);
      ck_assert(close_to((double) left[0], top, 1) && close_to((double) left[1], all, 1));
      for (size_t i = 0; i < n; i++)
        if (!close_to((double) weight[i], i < sees ? exp(0.5 * (double) s[i] - top) : 0, 1))
          ck_abort_msg("table %d: weight %zu of %zu", k, i, sees);
      float none[KEYS]; /* scores that have all overflowed weigh nothing, as in the engine */
      for (size_t i = 0; i < n; i++) none[i] = -INFINITY;
      t->softmax_block(none, sees, n, scale, left);
      ck_assert(left[0] == -FLT_MAX && left[1] == 0);
      for (size_t i = 0; i < n; i++) ck_assert(none[i] == 0);
      double peak = -INFINITY, l = 0, mixed[H] = { 0 }, dot_y = 0;
      for (size_t b = 0; b < blocks; b++) { /* the highest block first, in the middle or last */
        left[2 * b * GRADIENTS_MC] = 5 * draw(&seed),
                     left[2 * b * GRADIENTS_MC + 1] = 1 + fabsf(draw(&seed));
        for (size_t c = 0; c < H; c++) parts[b * GRADIENTS_MC * H + c] = draw(&seed);
        peak = fmax(peak, (double) left[2 * b * GRADIENTS_MC]);
      }
      for (size_t b = 0; b < blocks; b++)
        l +=
          (double) left[2 * b * GRADIENTS_MC + 1] * exp((double) left[2 * b * GRADIENTS_MC] - peak);
      for (size_t b = 0; b < blocks; b++)
        for (size_t c = 0; c < H; c++)
          mixed[c] += (double) parts[b * GRADIENTS_MC * H + c]
            * exp((double) left[2 * b * GRADIENTS_MC] - peak) / l;
      t->join(left, parts, blocks, H, y, known);
      ck_assert(close_to((double) known[0], peak, 1) && close_to((double) known[1], l, 1));
      for (size_t c = 0; c < H; c++) ck_assert(close_to((double) y[c], mixed[c], 1));
      float back[KEYS], slope[KEYS], dy[H], old[KEYS];
      for (size_t c = 0; c < H; c++) dy[c] = draw(&seed), dot_y += (double) y[c] * (double) dy[c];
      for (size_t i = 0; i < n; i++) old[i] = slope[i] = draw(&seed);
      memcpy(back, s, sizeof back), known[0] = (float) top, known[1] = (float) all;
      t->softmax_backward(back, slope, sees, n, scale, known, y, dy, H);
      for (size_t i = 0; i < n; i++) {
        double p = i < sees ? exp(0.5 * (double) s[i] - top) / all : 0;
        if (!close_to((double) back[i], p, 1)
          || !close_to((double) slope[i], p * ((double) old[i] - dot_y) * 0.5, 1))
          ck_abort_msg("table %d: slope %zu of %zu", k, i, sees);
      }
    }
}
END_TEST
/* products of any shape, packed or not, added or not; the last rows and columns, and no more */
START_TEST(products_of_any_shape)
{
  uint64_t seed = suite_seed() + 3;
  for (int k = 0; slopes_at(k) != NULL; k++)
    for (int round = 0; round < 120; round++) {
      size_t high = 1 + rnd(&seed) % (round % 4 ? 20 : 110), cols = 1 + rnd(&seed) % 40,
             row = cols + rnd(&seed) % 3;
      size_t terms = 1 + rnd(&seed) % (round % 3 ? 70 : 600);
      bool turned = rnd(&seed) % 2, add = rnd(&seed) % 2;
      float *a = calloc(high * terms, sizeof *a), *b = calloc(terms * cols, sizeof *b);
      float *c = calloc(high * row, sizeof *c),
            *scratch = calloc(GRADIENTS_KC * (cols + 16 + GRADIENTS_MC), sizeof *scratch);
      float *old = calloc(high * row, sizeof *old);
      for (size_t i = 0; i < high * terms; i++) a[i] = draw(&seed);
      for (size_t i = 0; i < terms * cols; i++) b[i] = draw(&seed);
      for (size_t i = 0; i < high * row; i++) c[i] = old[i] = draw(&seed);
      struct product p = { a, turned ? 1 : terms, turned ? high : 1, b, cols, c, row, high, terms,
        cols, add };
      slopes_at(k)->multiply(&p, scratch);
      for (size_t i = 0; i < high; i++)
        for (size_t j = 0; j < row; j++) {
          float sum = add || j >= cols ? old[i * row + j] : 0;
          for (size_t t = 0; t < terms && j < cols; t++)
            sum = fmaf(a[i * p.a_row + t * p.a_step], b[t * cols + j], sum);
          if (c[i * row + j] != sum)
            ck_abort_msg("table %d: [%zu][%zu][%zu] at %zu, %zu", k, high, terms, cols, i, j);
        }
      free(a), free(b), free(c), free(scratch), free(old);
    }
}
END_TEST

/* ---- a state that is not of this run, by mark, size or length, is refused and changes nothing */
static void one_state(const char *path, size_t at, uint64_t value, long longer)
{
  FILE *f = fopen(path, "r+b");
  fseek(f, (long) at, SEEK_SET), fwrite(&value, 8, 1, f), fseek(f, 0, SEEK_END);
  long n = ftell(f);
  fclose(f);
  ck_assert(truncate(path, n + longer) == 0);
}
START_TEST(a_state_of_another_run_is_refused)
{
  char path[] = "/tmp/incipit-XXXXXX", copy[60], half[60];
  close(mkstemp(path));
  snprintf(copy, sizeof copy, "%s.copy", path), snprintf(half, sizeof half, "%s.new", path);
  struct training_plan p = training_plan_draft;
  p.form = (struct model_shape){ 1, 32, 4, 2, 16, 48, 2048, 600 };
  for (int i = 0; i < TRAINING_PHASES; i++)
    p.phase[i].tokens = 64, p.phase[i].sequences = 1, p.phase[i].length = 32, p.phase[i].passes = 2;
  p.phase[1].tokens = 65, p.phase[2].tokens = 63;
  ck_assert_uint_eq(training_plan_steps(&p), 1 + 2 + 1 + 1);
  /* a step that is begun is a step */
  ck_assert_uint_eq(training_plan_tokens(&p), 64 + 65 + 63 + 64);
  struct world w;
  struct training_progress a = { .step = 77 }, b;
  world_open(&w, 1);
  struct trainer *t = trainer_open(&m, &p, kernels_find(NULL, &why), NULL, w.source, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  size_t n = network_count(trainer_network(t)), bytes = n * sizeof(float);
  float *before = malloc(bytes);
  ck_assert(trainer_step(t, &a, &why) && a.step == 1 && a.tokens == 64);
  ck_assert(trainer_save(t, path, &why));
  uint64_t text = dataset_at(w.source);
  ck_assert(trainer_step(t, &a, &why) && trainer_save(t, copy, &why));
  memcpy(before, trainer_weights(t), bytes);
  static const struct {
    size_t at;
    uint64_t add;
    long longer;
  } bad[] = { { 0, 1, 0 }, { 8, 1, 0 }, { 8, UINT64_MAX, 0 }, { 0, 0, 4 }, { 0, 0, -4 },
    { 0, 0, 1 }, { 0, 0, -1 } };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t there;
    char name[70];
    FILE *f = fopen(path, "rb");
    fseek(f, (long) bad[i].at, SEEK_SET), ck_assert(fread(&there, 8, 1, f) == 1), fclose(f);
    snprintf(name, sizeof name, "cp %.28s %.28s.x", path, path), ck_assert(system(name) == 0);
    snprintf(name, sizeof name, "%.28s.x", path);
    one_state(name, bad[i].at, there + bad[i].add, bad[i].longer);
    uint64_t now = dataset_at(w.source);
    b = (struct training_progress){ .step = 55 };
    ck_assert_msg(!trainer_load(t, name, &b, &why), "state %zu", i);
    ck_assert_ptr_nonnull(strstr(why.text, "no state of this run; wanted: one of"));
    ck_assert(memcmp(before, trainer_weights(t), bytes) == 0 && dataset_at(w.source) == now
      && b.step == 55);
    ck_assert(trainer_save(t, name, &why)); /* nor has anything changed that is saved */
    char cmp[100];
    snprintf(cmp, sizeof cmp, "cmp -s %.28s %.28s", name, copy), ck_assert(system(cmp) == 0);
    unlink(name);
  }
  ck_assert(!trainer_load(t, "/tmp", &b, &why) && !trainer_load(t, half, &b, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "cannot be opened"));
  ck_assert(
    !trainer_save(t, "/tmp/nobody/here", &why) && strstr(why.text, "cannot be written") != NULL);
  /* a pipe stays a pipe, and a link a link, which leads to the state */
  struct stat st;
  ck_assert_int_eq(mkfifo(half, 0600), 0);
  ck_assert(!trainer_save(t, half, &why) && strstr(why.text, "this is a pipe; wanted: a regular file") != NULL);
  ck_assert(lstat(half, &st) == 0 && S_ISFIFO(st.st_mode) && unlink(half) == 0 && symlink(copy, half) == 0);
  ck_assert(unlink(copy) == 0 && trainer_save(t, half, &why));
  ck_assert(lstat(half, &st) == 0 && S_ISLNK(st.st_mode) && lstat(copy, &st) == 0 && S_ISREG(st.st_mode));
  ck_assert_int_eq(unlink(half), 0);
  ck_assert_msg(trainer_load(t, path, &b, &why), "%s", why.text);
  ck_assert(b.step == 1 && b.tokens == 64 && dataset_at(w.source) == text);
  struct training_progress again;
  ck_assert(trainer_step(t, &again, &why) && memcmp(&again, &a, sizeof a) == 0);
  ck_assert(memcmp(before, trainer_weights(t), bytes) == 0);
  trainer_close(&m, t), world_close(&w), free(before);
  unlink(path), unlink(copy);
}
END_TEST

/* ---- a run follows its plan: each step's rows, loss, gradient, rate, moments and weights are worked out
   here, from the state that was saved before it */
struct state_read {
  float *w, *first, *second, *mean;
};
static void read_state(const struct trainer *t, const char *path, size_t n, struct state_read *s)
{
  float **list[] = { &s->w, &s->first, &s->second, &s->mean };
  ck_assert_msg(trainer_save(t, path, &why), "%s", why.text);
  FILE *f = fopen(path, "rb");
  ck_assert(f != NULL && fseek(f, -(long) (4 * n * sizeof(float)), SEEK_END) == 0);
  for (int i = 0; i < 4; i++) {
    *list[i] = malloc(n * sizeof(float));
    ck_assert_uint_eq(fread(*list[i], sizeof(float), n, f), n);
  }
  fclose(f);
}
static void forget_state(struct state_read *s)
{
  free(s->w), free(s->first), free(s->second), free(s->mean);
}
static bool about(double a, double b)
{
  return fabs(a - b) <= 2e-5 * (fabs(b) + 1e-3);
}
START_TEST(a_run_follows_its_plan)
{
  char path[] = "/tmp/incipit-XXXXXX";
  close(mkstemp(path));
  struct training_plan p = training_plan_draft;
  p.form = (struct model_shape){ 1, 32, 4, 2, 16, 48, 2048, 600 };
  static const struct training_phase phase[] = { { 200, 1, 32, 2, 0.02f, 0.005f, 3, false },
    { 128, 2, 64, 1, 0.004f, 0, 1, false }, { 100, 1, 16, 3, 0.003f, 0.001f, 2, true },
    { 96, 1, 48, 1, 0.002f, 0, 1, true } };
  static const unsigned steps[] = { 4, 1, 3, 2 };
  memcpy(p.phase, phase, sizeof phase);
  struct world w;
  struct training_progress now;
  world_open(&w, 2);
  struct trainer *t = trainer_open(&m, &p, kernels_find(NULL, &why), w.pool, w.source, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  struct network *net = trainer_network(t);
  size_t n = network_count(net), all = 0, tokens = 0, averaged = 0;
  const struct parameter *x;
  double power1 = 1, power2 = 1;
  bool *decays = calloc(n, 1), shortened = false;
  struct state_read old, new;
  read_state(t, path, n, &old);
  for (size_t i = 0; (x = network_parameter(net, i)) != NULL; i++) { /* how the weights begin */
    double square = 0, size = i == 0 ? 0.02 : 0.5 / sqrt((double) x->cols);
    if (strstr(x->name, "o_proj") != NULL || strstr(x->name, "down_proj") != NULL) size /= sqrt(2.0);
    for (size_t k = x->offset; k < x->offset + x->rows * x->cols; k++) {
      square += (double) old.w[k] * (double) old.w[k];
      if (x->rows == 1 && old.w[k] != 1) ck_abort_msg("%s", x->name);
      decays[k] = x->rows > 1;
    }
    square = sqrt(square / (double) (x->rows * x->cols));
    ck_assert_msg(x->rows == 1 || fabs(square / size - 1) < 0.12, "%s: %g", x->name, square);
  }
  for (unsigned k = 0; k < TRAINING_PHASES; k++)
    for (unsigned step = 0; step < steps[k]; step++) {
      const struct training_phase *s = &p.phase[k];
      size_t length = s->length, count = s->sequences * length;
      uint32_t *row = calloc(length + 1, 4), *in = calloc(count, 4), *out = calloc(count, 4);
      float *g = calloc(n, sizeof *g);
      double *loss = calloc(count, sizeof *loss), sum = 0, square = 0;
      uint64_t at = dataset_at(w.source);
      for (unsigned pass = 0; pass < s->passes; pass++) {
        for (unsigned i = 0; i < s->sequences; i++) {
          ck_assert(dataset_row(w.source, row, length + 1, &why));
          memcpy(in + i * length, row, 4 * length), memcpy(out + i * length, row + 1, 4 * length);
        }
        struct batch b = { in, out, s->sequences, length, 1.0f / (float) (count * s->passes) };
        ck_assert_msg(network_forward(net, old.w, &b, &why), "%s", why.text);
        network_loss(net, &b, loss), network_backward(net, old.w, &b, g);
        for (size_t i = 0; i < count; i++) sum += loss[i];
      }
      uint64_t behind = dataset_at(w.source);
      dataset_seek(w.source, at);
      ck_assert(trainer_step(t, &now, &why));
      read_state(t, path, n, &new);
      double rise = fmin(1, (step + 1.0) / s->warm_up), gone = (double) step / steps[k];
      double rate = ((double) s->from + gone * ((double) s->to - (double) s->from)) * rise;
      tokens += count * s->passes, all++, averaged += s->averaged;
      ck_assert(now.step == all && now.tokens == tokens && dataset_at(w.source) == behind);
      ck_assert_msg(about((double) now.loss, sum / (double) (count * s->passes)), "loss of step %zu", all);
      ck_assert_msg(about((double) now.rate, rate), "rate of step %zu: %g; wanted: %g", all, (double) now.rate, rate);
      for (size_t i = 0; i < n; i++) square += (double) g[i] * (double) g[i];
      double scale = square > 1 ? 1 / sqrt(square) : 1;
      shortened = shortened || square > 1.1;
      power1 *= 0.9, power2 *= 0.95;
      double keep = fmin(0.99, ((double) averaged - 1) / ((double) averaged + 3));
      for (size_t i = 0; i < n; i++) {
        double slope = (double) g[i] * scale, one = 0.9 * (double) old.first[i] + 0.1 * slope,
          two = 0.95 * (double) old.second[i] + 0.05 * slope * slope;
        /* the rest from what the step has: a moment near nothing is not known to many digits */
        double move = (double) new.first[i] / (1 - power1)
            / (sqrt((double) new.second[i] / (1 - power2)) + 1e-8) + (decays[i] ? 0.1 : 0) * (double) old.w[i];
        double mean = s->averaged ? keep * (double) old.mean[i] + (1 - keep) * (double) new.w[i] : (double) old.mean[i];
        if (!about((double) new.first[i], one) || !about((double) new.second[i], two)
            || fabs((double) new.w[i] - ((double) old.w[i] - rate * move)) > 1e-6
            || fabs((double) new.mean[i] - mean) > 1e-6)
          ck_abort_msg("step %zu: weight %zu", all, i);
      }
      ck_assert(memcmp(trainer_weights(t), averaged > 0 ? new.mean : new.w, n * sizeof(float)) == 0);
      forget_state(&old), old = new;
      free(row), free(in), free(out), free(g), free(loss);
    }
  ck_assert(shortened && training_plan_steps(&p) == all);
  forget_state(&old), free(decays);
  trainer_close(&m, t), world_close(&w);
  unlink(path);
}
END_TEST
/* after many steps the mean remembers 0.99 of what it was, to the bit */
START_TEST(a_long_mean_forgets)
{
  char path[] = "/tmp/incipit-XXXXXX";
  close(mkstemp(path));
  struct training_plan p = training_plan_draft;
  p.form = (struct model_shape){ 1, 16, 1, 1, 16, 16, 2048, 600 };
  for (int i = 0; i < TRAINING_PHASES; i++)
    p.phase[i] = (struct training_phase){ i == 0 ? 8 * 404 : 8, 1, 8, 1, 1e-3f, 1e-3f, 1, true };
  struct world w;
  struct training_progress now;
  world_open(&w, 1);
  struct trainer *t = trainer_open(&m, &p, kernels_find(NULL, &why), NULL, w.source, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  size_t n = network_count(trainer_network(t));
  for (int k = 1; k <= 403; k++) {
    struct state_read old, new;
    if (k == 395 || k == 403) read_state(t, path, n, &old);
    if (!trainer_step(t, &now, &why)) ck_abort_msg("%s", why.text);
    if (k != 395 && k != 403) continue;
    read_state(t, path, n, &new);
    float keep = k == 395 ? 394.0f / 398.0f : 0.99f;
    for (size_t i = 0; i < n; i++)
      if (new.mean[i] != fmaf(keep, old.mean[i] - new.w[i], new.w[i])) ck_abort_msg("step %d: %zu", k, i);
    forget_state(&old), forget_state(&new);
  }
  trainer_close(&m, t), world_close(&w);
  unlink(path);
}
END_TEST
/* the gradient of a batch is added to what is there */
START_TEST(gradients_add_up)
{
  static uint32_t in[2][20], out[2][20];
  double loss[20];
  struct lab l;
  lab_open(&l, &small, 20, NULL, 2);
  float *both = calloc(l.n, sizeof *both), *one[2];
  for (int k = 0; k < 2; k++) {
    uint64_t seed = 5 + (uint64_t) k;
    for (int i = 0; i < 20; i++) in[k][i] = (uint32_t) (rnd(&seed) % 50), out[k][i] = (uint32_t) (rnd(&seed) % 50);
    one[k] = calloc(l.n, sizeof *both);
    struct batch b = { in[k], out[k], 1, 20, 0.05f };
    for (int sum = 0; sum < 2; sum++) {
      lab_loss(&l, &b, loss);
      network_backward(l.net, l.w, &b, sum ? both : one[k]);
    }
  }
  for (size_t i = 0; i < l.n; i++)
    if (fabs((double) both[i] - (double) one[0][i] - (double) one[1][i]) > 1e-6 * (1 + fabs((double) both[i])))
      ck_abort_msg("weight %zu: %g, %g and %g", i, (double) both[i], (double) one[0][i], (double) one[1][i]);
  free(both), free(one[0]), free(one[1]);
  lab_close(&l);
}
END_TEST
/* a width that is no multiple, and a text longer than the context, are refused */
START_TEST(shapes_that_cannot_be_trained)
{
  for (int k = 0; k < 4; k++) {
    struct model_shape s = small;
    if (k == 1) s.d_model += 8;
    if (k == 2) s.d_inner += 8;
    if (k == 3) s.head_dim += 8;
    struct network *net = network_open(&m, &s, 1200, kernels_find(NULL, &why), NULL, &why);
    ck_assert_msg((net != NULL) == (k == 0), "shape %d", k);
    if (k > 0) ck_assert_ptr_nonnull(strstr(why.text, "wanted: multiples of 16"));
    for (size_t n = s.n_positions; net != NULL && n < s.n_positions + 2; n++) {
      uint32_t *list = calloc(n, sizeof *list);
      float *weights = calloc(network_count(net), sizeof *weights);
      struct batch b = { list, list, 1, n, 1 };
      ck_assert(network_forward(net, weights, &b, &why) == (n == s.n_positions));
      free(list), free(weights);
    }
    network_close(&m, net);
  }
}
END_TEST
/* what is published is what was learnt, to the nearest of sixteen bits, in files that others read; a full disk is
   a failure, of a state as well, and what was there is left */
static void disk_of(rlim_t bytes)
{
  struct rlimit most = { bytes, RLIM_INFINITY };
  signal(SIGXFSZ, SIG_IGN);
  ck_assert(setrlimit(RLIMIT_FSIZE, &most) == 0);
}
START_TEST(what_is_published_can_be_read)
{
  char dir[] = "/tmp/incipit-XXXXXX", path[100], other[100];
  static const char *const name[] = { "model.safetensors", "config.json", "generation_config.json" };
  ck_assert_ptr_nonnull(mkdtemp(dir));
  struct model_shape s = small;
  s.n_positions = 77;
  for (int odd = 0; odd < 8; odd++) { /* headers of any length are filled up */
    s.vocab_size = 50 + (uint32_t) (odd > 3 ? 1000 : 0) + (uint32_t) odd;
    struct lab l;
    lab_open(&l, &s, 16, NULL, 1);
    l.w[0] = 1.0f + 0x1p-11f, l.w[1] = 1.0f + 3 * 0x1p-11f, l.w[2] = 0x1p-25f, l.w[3] = 1e-9f; /* ties go to even */
    ck_assert_msg(publish_model(&m, dir, &s, l.net, l.w, NULL, 0, &why), "%s", why.text);
    size_t file = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name[0]);
    FILE *f = fopen(path, "rb");
    uint64_t header;
    ck_assert(f != NULL && fread(&header, 8, 1, f) == 1 && fseek(f, 0, SEEK_END) == 0);
    file = (size_t) ftell(f), fclose(f);
    ck_assert(header % 8 == 0 && file == 8 + header + 2 * l.n);
    for (int bare = 0; bare < 2; bare++) { /* with generation_config.json and without */
      snprintf(other, sizeof other, "%s/%s", dir, name[2]);
      if (bare) unlink(other);
      else { /* which says by itself where a text ends */
        char line[200] = "";
        ck_assert((f = fopen(other, "r")) != NULL && fread(line, 1, sizeof line - 1, f) > 0 && fclose(f) == 0);
        ck_assert(strstr(line, "\"eos_token_id\": 0") != NULL && strstr(line, "\"bos_token_id\": 0") != NULL);
      }
      struct model *lm = model_open(&m, dir, &why);
      ck_assert_msg(lm != NULL, "%s", why.text);
      const struct model_config *c = &lm->config;
      ck_assert(c->n_eos == 1 && c->eos[0] == 0 && c->has_bos && c->bos == 0 && c->tied && c->norm_eps == 1e-5
        && c->rope.theta == 10000 && c->vocab_size == s.vocab_size && c->d_model == s.d_model
        && c->d_inner == s.d_inner && c->n_layers == s.n_layers && c->n_heads == s.n_heads
        && c->n_kv_heads == s.n_kv_heads && c->head_dim == s.head_dim && c->n_positions == s.n_positions);
      const struct parameter *p;
      for (size_t i = 0; (p = network_parameter(l.net, i)) != NULL; i++) {
        const struct tensor_entry *e = tensor_file_find(lm->weights, p->name);
        ck_assert_msg(e != NULL && e->elements == p->rows * p->cols, "%s", p->name);
        for (size_t k = 0; k < e->elements; k++)
          if (tensor_number((struct tensor){ e->data, WEIGHT_F16 }, k) != num_from_f16(num_to_f16(l.w[p->offset + k])))
            ck_abort_msg("%s: number %zu", p->name, k);
      }
      model_close(&m, lm);
    }
    lab_close(&l);
  }
  struct lab l;
  s.vocab_size = 50;
  lab_open(&l, &s, 16, NULL, 1);
  disk_of(1000);
  ck_assert(!publish_model(&m, dir, &s, l.net, l.w, NULL, 0, &why));
  ck_assert_msg(strstr(why.text, name[0]) != NULL, "%s", why.text);
  disk_of(RLIM_INFINITY);
  lab_close(&l);
  /* the state of a run */
  struct training_plan p = training_plan_draft;
  p.form = (struct model_shape){ 1, 32, 4, 2, 16, 48, 2048, 600 };
  struct trainer *t = trainer_open(&m, &p, kernels_find(NULL, &why), NULL, NULL, &why);
  snprintf(path, sizeof path, "%s/%s", dir, name[1]);
  struct mapping before, after;
  ck_assert(file_map(&before, path, &why));
  disk_of(1000);
  ck_assert(!trainer_save(t, path, &why) && strstr(why.text, name[1]) != NULL);
  disk_of(RLIM_INFINITY);
  ck_assert(file_map(&after, path, &why) && before.size == after.size
    && memcmp(before.bytes, after.bytes, after.size) == 0);
  file_unmap(&before), file_unmap(&after);
  trainer_close(&m, t);
  char clean[60];
  snprintf(clean, sizeof clean, "rm -rf %s", dir), ck_assert(system(clean) == 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("training");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_test(edges, pieces_of_any_length);
  tcase_add_test(edges, a_step_moves_its_piece_and_no_more);
  tcase_add_test(edges, attention_and_its_way_back);
  tcase_add_test(edges, products_of_any_shape);
  tcase_add_test(edges, a_state_of_another_run_is_refused);
  tcase_add_test(edges, a_run_follows_its_plan);
  tcase_add_test(edges, a_long_mean_forgets);
  tcase_add_test(edges, gradients_add_up);
  tcase_add_test(edges, shapes_that_cannot_be_trained);
  tcase_add_test(edges, what_is_published_can_be_read);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("network");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, every_gradient);
  tcase_add_test(t, same_bits);
  tcase_add_test(t, teacher_forcing);
  tcase_add_test(t, engine_logits);
  suite_add_tcase(s, t);
  t = tcase_create("grammar");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, what_the_notation_says);
  tcase_add_test(t, hostile_lines_are_refused);
  tcase_add_test(t, every_side_of_a_die_is_as_likely);
  tcase_add_test(t, tables_are_shown_and_texts_replayed);
  tcase_add_test(t, slips_are_found_while_writing);
  tcase_add_test(t, damaged_grammars);
  suite_add_tcase(s, t);
  t = tcase_create("run");
  tcase_set_timeout(t, 900);
  tcase_add_test(t, tales_are_held_out);
  tcase_add_test(t, corpus);
  tcase_add_test(t, rows);
  tcase_add_test(t, resumed);
  tcase_add_test(t, refused_memory);
  tcase_add_test(t, files);
  tcase_add_test(t, first_hundred);
  suite_add_tcase(s, t);
  return suite_run(s);
}
