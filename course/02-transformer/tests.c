/* tests.c -- lab 2: the plain kernels on small random arrays, and whole models with random weights */
#include "kit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions/numbers.h"
#include "model/plain.h"
#include "model/rope.h"
#include "model/toy.h"

static const struct kernels *const k = &kernels_plain;
static struct memory memory;
static struct counters counters;
static struct engine engine;
static struct error why;

static const enum weight_type plain_type[] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16 };
static const char *const type_name[] = { "F32", "F16", "BF16" };

enum { MOST = 20000 };

/* drawn numbers of a type, as a file might have them; lasts until the end of the test, which begins with `used = 0' */
static _Alignas(64) unsigned char room[16 * MOST];
static size_t used;
static struct tensor numbers(enum weight_type type, size_t n, float by, float around)
{
  unsigned char *at = room + used;
  size_t bytes = type == WEIGHT_F32 ? 4 : 2;
  used += (n * bytes + 63) / 64 * 64;
  if (used > sizeof room) abort();
  for (size_t i = 0; i < n; i++) {
    float x = around + by * draw_float();
    uint16_t h = type == WEIGHT_F16 ? num_to_f16(x) : num_to_bf16(x);
    memcpy(at + i * bytes, type == WEIGHT_F32 ? (const void *) &x : (const void *) &h, bytes);
  }
  return (struct tensor) { at, type };
}
static const float *floats(size_t n, float by)
{ return numbers(WEIGHT_F32, n, by, 0).data; }

static void begin(void)
{
  used = 0;
  memset(&counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  engine = (struct engine) { .k = k, .c = &counters };
}

static void say_all(const char *what, const float *x, size_t n)
{
  char name[100];
  for (size_t i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%s[%zu]", what, i);
    say_bits(name, x[i]);
  }
}

static void tell_all(const char *what, const float *x, size_t n)
{
  char text[200];
  size_t at = 0;
  text[0] = '\0';
  for (size_t i = 0; i < n && i < 6; i++) at += (size_t) snprintf(text + at, sizeof text - at, " %.9g", (double) x[i]);
  tell("%s%s%s", what, text, n > 6 ? " ..." : "");
}

/* ---- the order of summation */

static void order(unsigned size)
{
  enum { TERMS = 220 };
  float x[TERMS];
  begin();
  size_t n = size <= 20 ? size : 21 + draw(200), first = draw(4), step = 1 + draw(3);
  int type = size <= 4 ? 0 : (int) draw(3);
  if (size <= 2) first = 0, step = 1;
  tell("%zu terms of %s, the first weight is number %zu, step %zu", n, type_name[type], first, step);
  struct tensor w = numbers(plain_type[type], first + n * step + 40, 1, 0);
  for (size_t i = 0; i < n; i++) x[i] = draw_float() * (size % 5 == 4 && i % 7 == 0 ? 1000 : 1);
  if (size <= 4) {
    float widened[4];
    for (size_t i = 0; i < n; i++) widened[i] = tensor_number(w, first + i * step);
    tell_all("x", x, n), tell_all("w", widened, n);
  }
  say_bits("dot16", dot16(x, n, w, first, step));
  say_bits("sum16", sum16(x, n));
  if (size % 4 != 0) return;
  /* products too small for a float, after which there is nothing that may be read */
  float tiny[96], infinite[96];
  for (size_t i = 0; i < 96; i++) tiny[i] = -0x1p-100f, infinite[i] = i < n ? 0x1p-100f : INFINITY;
  if (n > 64) n = 64;
  for (size_t i = n; i < 96; i++) infinite[i] = INFINITY;
  tell("%zu times -2^-100 * 2^-100", n);
  say_bits("tiny", dot16(tiny, n, (struct tensor) { infinite, WEIGHT_F32 }, 0, 1));
}

/* ---- embedding and addition */

static void embedding(unsigned size)
{
  uint32_t id[6];
  float y[6 * 20 + 1], x[6 * 20 + 1];
  begin();
  size_t rows = 1 + (size - 1) % 6, d = size == 1 ? 1 : 1 + draw(20), words = 1 + draw(30);
  int type = (int) draw(3);
  struct tensor table = numbers(plain_type[type], words * d, 1, 0);
  for (size_t r = 0; r < rows; r++) id[r] = draw((uint32_t) words);
  for (size_t i = 0; i <= rows * d; i++) y[i] = 7, x[i] = draw_float();
  tell("%zu rows of a table %zu by %zu of %s, the first with id %u", rows, words, d, type_name[type], id[0]);
  k->embed(&engine, table, d, id, rows, y);
  say_all("embedded", y, rows * d + 1);
  for (size_t i = 0; i < rows * d; i++) y[i] = draw_float();
  k->add(&engine, y, x, rows * d);
  say_all("added", y, rows * d + 1);
}

/* ---- linear layers */

static void linear(unsigned size)
{
  struct matrix list[3];
  float y[3][4 * 9 + 1], *at[3];
  begin();
  size_t n = 1 + size / 4 % 3, rows = size == 1 ? 1 : 1 + draw(4), in = size < 4 ? size : 1 + draw(40);
  for (size_t i = 0; i < n; i++) {
    size_t out = size == 1 ? 1 : 1 + draw(9);
    bool bias = size > 2 && draw(2), transposed = size > 3 && draw(2);
    int type = size < 6 ? 0 : (int) draw(3);
    list[i] = (struct matrix) { .in = in, .out = out, .transposed = transposed,
      .weight = numbers(plain_type[type], in * out, 1, 0) };
    if (bias) list[i].bias = numbers(plain_type[draw(3)], out, 1, 0);
    tell("matrix %zu: %zu in, %zu out, %s%s%s", i, in, out, type_name[type], transposed ? ", transposed" : "", bias ? ", with a bias" : "");
    at[i] = y[i];
    for (size_t o = 0; o < 4 * 9 + 1; o++) y[i][o] = 7;
  }
  const float *x = floats(rows * in, 1);
  tell("%zu rows", rows);
  k->linear(&engine, list, n, x, rows, at);
  for (size_t i = 0; i < n; i++) say_all("y", y[i], rows * list[i].out + 1);
}

/* ---- norms */

static void norms(unsigned size)
{
  float x[4 * 70], y[4 * 70 + 1];
  begin();
  size_t rows = 1 + draw(3), d = size <= 6 ? (size + 1) / 2 : 1 + draw(70);
  bool layer = size % 2 == 0, inplace = draw(2), gain = size > 2 && draw(4) > 0, bias = size > 4 && draw(2);
  struct norm g = { .kind = layer ? NORM_LAYER : NORM_RMS, .epsilon = size % 3 == 0 ? 1e-5f : 1e-2f };
  float around = size % 5 == 0 ? 1000 : 0;
  if (gain) g.gain = numbers(plain_type[draw(3)], d, 1, 0);
  if (bias) g.bias = numbers(plain_type[draw(3)], d, 1, 0);
  static const float minus[] = { -1, -1 };
  if (size == 4) g.gain = (struct tensor) { minus, WEIGHT_F32 }; /* a LayerNorm without a bias, of rows that are equal numbers: -0 */
  for (size_t i = 0; i < rows * d; i++) x[i] = size == 4 ? 1 : around + draw_float() * (float) (1 + size % 4);
  for (size_t i = 0; i <= rows * d; i++) y[i] = i < rows * d && inplace ? x[i] : 7;
  tell("%s of %zu rows of %zu%s%s%s, epsilon %g", layer ? "LayerNorm" : "RMSNorm", rows, d, gain || size == 4 ? ", a gain" : "", bias ? ", a bias" : "",
    inplace ? ", in place" : "", (double) g.epsilon);
  if (d <= 3) tell_all("first row", x, d);
  k->normalize(&engine, &g, inplace ? y : x, rows, d, y);
  say_all("y", y, rows * d + 1);
}

/* ---- RoPE */

static void rope(unsigned size)
{
  enum { ROWS = 3, HEADS = 3, HALF = 5 };
  float c[ROWS * HALF + 1], s[ROWS * HALF + 1], x[ROWS * HEADS * 2 * HALF + 1], frequency[HALF];
  uint32_t position[ROWS];
  begin();
  size_t rows = size == 1 ? 1 : 1 + draw(ROWS), heads = size == 1 ? 1 : 1 + draw(HEADS), half = size == 1 ? 1 : 1 + draw(HALF);
  float scaling = size % 4 == 3 ? 1 + draw_float() / 4 : 1;
  for (size_t r = 0; r < rows; r++) position[r] = size < 4 ? size + (unsigned) r : draw(size % 5 == 0 ? 200000 : 3000);
  for (size_t i = 0; i < half; i++) frequency[i] = (float) rope_frequency(size % 2 ? 10000 : 500000, (uint32_t) i, (uint32_t) half);
  for (size_t i = 0; i < ROWS * HALF + 1; i++) c[i] = s[i] = 7;
  tell("%zu rows, the first at position %u; %zu heads of %zu numbers, scaling %g", rows, position[0], heads, 2 * half, (double) scaling);
  k->angles(&engine, position, rows, frequency, half, scaling, c, s);
  say_all("cosine", c, rows * half + 1), say_all("sine", s, rows * half + 1);
  /* cosines and sines of the test's own, so that a fault in the angles is no fault of the rotation */
  for (size_t i = 0; i < rows * half; i++) c[i] = draw_float(), s[i] = draw_float();
  for (size_t i = 0; i < rows * heads * 2 * half; i++) x[i] = draw_float();
  x[rows * heads * 2 * half] = 7;
  if (size <= 2) tell("rotation by a cosine of %.9g and a sine of %.9g", (double) c[0], (double) s[0]), tell_all("x", x, heads * 2 * half);
  k->rotate(&engine, x, rows, heads, half, c, s);
  say_all("rotated", x, rows * heads * 2 * half + 1);
}

/* ---- attention */

/* keys and values of a sequence: [positions][heads][d], in one block or in pages */
struct text { struct kv_view view; const char *page[60]; };
static void text_make(struct text *t, const struct attention_dims *h, size_t positions, bool pages, enum weight_type type, float by)
{
  size_t width = (size_t) h->n_kv_heads * h->head_dim, bytes = type == WEIGHT_F32 ? 4 : 2, page_rows = 16 + draw(8);
  struct kv_view v = { .row_bytes = width * bytes, .head_bytes = h->head_dim * bytes, .type = type };
  if (!pages) {
    v.key = (uintptr_t) numbers(type, positions * width, by, 0).data;
    v.value = (uintptr_t) numbers(type, positions * width, 1, 0).data;
  }
  else {
    size_t n = (positions + page_rows - 1) / page_rows;
    for (size_t i = n; i-- > 0; ) {
      t->page[i] = numbers(type, page_rows * width, by, 0).data;
      if (i == n - 1) v.value = 0;
      numbers(type, page_rows * width, 1, 0);
    }
    v.value = (page_rows * width * bytes + 63) / 64 * 64;
    v.page = t->page, v.page_rows = page_rows;
  }
  t->view = v;
}

static void say_weights(const float *w, uint32_t first, uint32_t after)
{
  for (uint32_t t = first; t < after; t++) {
    char name[40];
    if (w[t] == -1) continue; /* not written */
    snprintf(name, sizeof name, "weight of position %u", t);
    say_bits(name, w[t]);
  }
}

static void block(unsigned size)
{
  struct text text;
  float left[10], weights[700];
  begin();
  struct attention_dims h = { .n_heads = 2, .n_kv_heads = size < 4 ? 1 : 1 + draw(2), .head_dim = size == 1 ? 1 : 1 + draw(6), .scale = .7f };
  uint32_t begin_at = size % 5 == 4 ? 256 : 0, length = begin_at + (size < 8 ? size : 1 + draw(size % 3 == 0 ? 250 : 40));
  struct kv_range see = { .hi = length };
  if (size > 4 && draw(2)) see.lo = draw(length);
  if (see.lo > 0 && draw(2)) see.sinks = draw(see.lo < 4 ? see.lo : 4);
  text_make(&text, &h, length + 8, size % 6 == 5, plain_type[size < 6 ? 0 : draw(3)], 2);
  const float *q = floats(h.head_dim, 2);
  size_t head = draw(h.n_kv_heads);
  for (size_t t = 0; t < 700; t++) weights[t] = -1;
  for (size_t i = 0; i < 10; i++) left[i] = 7;
  tell("block from %u, positions %u to %u and the first %u are seen, head %zu of %u, of %u numbers", begin_at, see.lo, see.hi - 1, see.sinks,
    head, h.n_kv_heads, h.head_dim);
  attend_block(&h, &text.view, head, &see, q, begin_at, left, size % 2 ? weights : NULL);
  say_bits("maximum", left[0]), say_bits("sum", left[1]);
  say_all("values", left + 2, h.head_dim);
  say_bits("after the results", left[2 + h.head_dim]);
  if (size % 2) say_weights(weights, begin_at, begin_at + 256);
}

/* n segments of one text each through attend; what comes out, and with a probe the weights of the last row */
static void pass(const struct attention_dims *h, struct segment *list, size_t n, bool probe)
{
  enum { ROWS = 12, WIDE = 900 };
  static float q[ROWS * 40], y[ROWS * 40 + 1], scratch[6 * 12 + 100], weights[ROWS * 8 * WIDE];
  struct attention_probe to = { weights, WIDE };
  size_t rows = 0, d = h->head_dim;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  if (rows > ROWS || h->n_heads > 8 || h->n_heads * d > 40) abort();
  for (size_t i = 0; i < rows * h->n_heads * d; i++) q[i] = 2 * draw_float(), y[i] = 7;
  y[rows * h->n_heads * d] = 7;
  for (size_t i = 0; i < ROWS * 8 * WIDE; i++) weights[i] = 5;
  k->attend(&engine, h, q, list, n, scratch, y, probe ? &to : NULL);
  say_all("y", y, rows * h->n_heads * d + 1);
  if (!probe) return;
  for (size_t r = rows > 2 ? rows - 2 : 0; r < rows; r++)
    for (size_t head = 0; head < h->n_heads; head++) {
      char name[100];
      const float *w = weights + (r * h->n_heads + head) * WIDE;
      for (size_t t = 0; t < WIDE; t++) {
        if (t > 40 && t % 97 != 0 && w[t] == 0) continue;
        snprintf(name, sizeof name, "weight of row %zu, head %zu, position %zu", r, head, t);
        if (t < 4 || t % 8 == 0 || w[t] > .01f) say_bits(name, w[t]);
      }
    }
}

static void heads(unsigned size)
{
  struct text text[3];
  struct segment list[3];
  begin();
  struct attention_dims h = { .n_kv_heads = size == 1 ? 1 : 1 + draw(2), .head_dim = size == 1 ? 2 : 1 + draw(5), .scale = .6f };
  h.n_heads = h.n_kv_heads * (size == 1 ? 1 : 1 + draw(4));
  size_t n = size < 4 ? 1 : 1 + draw(3), row = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t rows = size == 1 ? 1 : 1 + draw(4), before = size == 1 ? 0 : draw(20);
    uint32_t window = size > 6 && draw(2) ? 1 + draw(8) : 0;
    text_make(&text[i], &h, rows + before, size % 7 == 6, plain_type[size < 6 ? 0 : draw(3)], 2);
    list[i] = (struct segment) { text[i].view, (uint32_t) row, rows, before, window };
    if (window > 0) list[i].view.sinks = draw(3);
    tell("segment %zu: %u rows from position %u, window %u, sinks %u", i, rows, before, window, list[i].view.sinks);
    row += rows;
  }
  if (n > 1 && size % 2) { /* segments may come in any order */
    struct segment s = list[0];
    list[0] = list[n - 1], list[n - 1] = s;
  }
  tell("%u heads, %u of keys and values, of %u numbers", h.n_heads, h.n_kv_heads, h.head_dim);
  pass(&h, list, n, size % 3 == 2);
}

static void blocks(unsigned size)
{
  struct text text;
  struct segment s;
  begin();
  struct attention_dims h = { .n_heads = 2, .n_kv_heads = 1 + size % 2, .head_dim = 1 + draw(4), .scale = 1 };
  uint32_t rows = 1 + draw(2), before = size == 1 ? 256 : 200 + draw(600), window = size % 3 == 2 ? 1 + draw(500) : 0;
  text_make(&text, &h, rows + before, size % 4 == 3, plain_type[draw(3)], size % 2 ? 1 : 12);
  s = (struct segment) { text.view, 0, rows, before, window };
  if (window > 0) s.view.sinks = draw(5);
  tell("%u rows from position %u, window %u, sinks %u", rows, before, window, s.view.sinks);
  pass(&h, &s, 1, size % 2 == 0);
}

/* ---- activations */

static void activations(unsigned size)
{
  static const float some[] = { 0, -0.0f, 1, -1, 100, -100, 0.5f, -3, 2.7f, 20 };
  static const char *const name[] = { "SiLU", "GELU with tanh", "GELU with erf" };
  float x[40], up[41];
  begin();
  enum activation_kind kind = (enum activation_kind) ((size - 1) % 3);
  size_t n = size < 4 ? 1 : 1 + draw(40), into = draw(3);
  bool gate = size > 3 && draw(2);
  float y[41];
  for (size_t i = 0; i < n; i++) x[i] = size > 3 && size % 4 == 0 ? some[draw(10)] : (float) (1 + draw(6)) * draw_float(), up[i] = draw_float();
  for (size_t i = 0; i < 41; i++) y[i] = 7;
  float *to = into == 1 ? x : into == 2 && gate ? up : y;
  tell("%s of %zu numbers, the first %.9g%s%s", name[kind], n, (double) x[0], gate ? ", times another array" : "",
    to == x ? ", into the first array" : to == up ? ", into the other array" : "");
  k->activate(&engine, kind, x, gate ? up : NULL, n, to);
  say_all("y", to, n);
  if (to == y) say_bits("after the last", y[n]);
}

/* ---- softmax */

static void say_doubles(const char *what, const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++) say("%s[%zu] %a (%.6g)", what, i, x[i], x[i]);
}

static void softmax(unsigned size)
{
  float x[3 * 60];
  double y[3 * 60 + 1];
  begin();
  size_t rows = size < 3 ? 1 : 1 + draw(3), n = size < 5 ? size : 1 + draw(60);
  float by = size % 4 == 0 ? 50 : 4, around = size % 5 == 0 ? 900 : size % 5 == 1 ? -900 : 0;
  for (size_t i = 0; i < rows * n; i++) x[i] = around + by * draw_float();
  if (size % 6 == 5)
    for (size_t r = 0; r < rows; r++)
      for (size_t i = 1; i < n; i += 1 + draw(4)) x[r * n + i] = -INFINITY;
  tell("%zu rows of %zu", rows, n);
  tell_all("x", x, n);
  for (size_t i = 0; i <= rows * n; i++) y[i] = 7;
  k->softmax(&engine, x, rows, n, y);
  say_doubles("probability", y, rows * n + 1);
  for (size_t i = 0; i <= rows * n; i++) y[i] = 7;
  k->log_softmax(&engine, x, rows, n, y);
  say_doubles("logarithm", y, rows * n + 1);
  for (size_t i = 0; i <= n; i++) y[i] = 3 * (double) draw_float();
  k->exp_shifted(y, n, 2.5);
  say_doubles("exponential", y, n + 1);
}

/* ---- models */

static const char *const stage[] = { "embedding", "norm", "query", "key", "value", "weights", "mixed", "attention", "mlp_norm", "inner",
  "mlp", "layer" };
enum { STAGES = TAP_LAYER + 1, LAYERS = 2, SEEN = 800 };

/* what the watcher has seen; if `change' is a stage, that of the first layer is changed */
struct seen { float x[LAYERS][STAGES][SEEN]; size_t n[LAYERS][STAGES]; int change; };
static void keep(void *ctx, enum tap_point point, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct seen *a = ctx;
  size_t n = rows * width < SEEN ? rows * width : SEEN;
  memcpy(a->x[layer][point], x, n * sizeof *x);
  a->n[layer][point] = n;
  for (size_t i = 0; i < rows * width && (int) point == a->change && layer == 0; i++) x[i] *= i % 3 == 0 ? -.5f : 1.25f;
}

/* a row after the other through the model, most at a time; every stage, and the logits of all rows */
static void look(const struct model *lm, const uint32_t *ids, size_t n, size_t most, int change, bool weights)
{
  static struct seen seen;
  static float logits[16 * 20];
  static double chance[16 * 20];
  struct watcher w = { keep, &seen, weights };
  struct store *s = array_store_open(&memory, &lm->config, &why);
  size_t done = 0;
  while (s != NULL && done < n) {
    struct row rows[16];
    size_t which[16], now = n - done < most ? n - done : most;
    struct pass *p = NULL;
    memset(&seen, 0, sizeof seen);
    seen.change = change;
    for (size_t i = 0; i < now; i++) which[i] = i, rows[i] = (struct row) { 0, (uint32_t) (done + i), ids[done + i] };
    bool ok = model_forward_watched(&engine, lm, s, rows, now, &w, &p, &why)
      && model_logits(&engine, lm, p, which, now, logits, &why);
    say("pass of %zu %s", now, ok ? "yes" : "no");
    for (uint32_t l = 0; l < lm->config.n_layers && ok; l++)
      for (int at = 0; at < STAGES; at++) {
        char name[40];
        size_t many = seen.n[l][at], from = many > 40 ? many - 40 : 0;
        snprintf(name, sizeof name, "layer %u %s", l + 1, stage[at]);
        say("layer %u %s has %zu", l + 1, stage[at], many);
        say_all(name, seen.x[l][at] + from, many - from);
      }
    if (ok) {
      say_all("logit", logits, now * lm->config.vocab_size);
      k->softmax(&engine, logits, 1, lm->config.vocab_size, chance);
      say_doubles("probability", chance, lm->config.vocab_size);
    }
    pass_close(p);
    if (!ok) break;
    done += now;
  }
  store_close(s);
  say("bytes left %llu", (unsigned long long) memory.all.live);
}

static void shake(float *x, size_t n, float by)
{
  for (size_t i = 0; i < n; i++) x[i] += by * draw_float();
}

static void hand(unsigned size)
{
  static struct toy toy;
  uint32_t ids[8] = { 0, 1, 2 };
  size_t n = 3;
  begin();
  toy_make(&toy);
  if (size > 1) {
    shake(toy.token[0], TOY_WORDS * TOY_WIDTH, .6f), shake(toy.place[0], TOY_PLACES * TOY_WIDTH, .6f);
    shake(toy.query[0], TOY_WIDTH * TOY_WIDTH, .5f), shake(toy.key[0], TOY_WIDTH * TOY_WIDTH, .5f);
    shake(toy.value[0], TOY_WIDTH * TOY_WIDTH, .5f), shake(toy.joined[0], TOY_WIDTH * TOY_WIDTH, .5f);
    shake(toy.gate, TOY_WIDTH, 1), shake(toy.up, TOY_WIDTH, 1), shake(toy.down, TOY_WIDTH, 1);
    shake(toy.asked[0], TOY_WORDS * TOY_WIDTH, .5f);
    n = 1 + draw(8);
    for (size_t i = 0; i < n; i++) ids[i] = draw(TOY_WORDS);
  }
  tell(size == 1 ? "the model of the hand calculation, after three tokens" : "the model of four words with other weights, %zu tokens", n);
  look(&toy.lm, ids, n, 8, -1, size % 2);
}

/* a model of a family with drawn weights */
struct small { struct model lm; struct model_layer layer[LAYERS]; float frequency[8]; };
static struct norm a_norm(bool layer, size_t d)
{
  struct norm g = { .kind = layer ? NORM_LAYER : NORM_RMS, .epsilon = 1e-5f, .gain = numbers(WEIGHT_F32, d, .5f, 1) };
  if (layer) g.bias = numbers(WEIGHT_F32, d, .3f, 0);
  return g;
}
static struct matrix a_matrix(size_t in, size_t out, bool bias, bool transposed, enum weight_type type)
{
  struct matrix w = { .in = in, .out = out, .transposed = transposed, .weight = numbers(type, in * out, .6f, 0) };
  if (bias) w.bias = numbers(type, out, .5f, 0);
  return w;
}
static void small_make(struct small *m, int family, enum weight_type type)
{
  bool old = family == 0;
  uint32_t d = 6, kv = old ? 2 : 1 + draw(2), group = old ? 1 : 2, half = old ? 1 + draw(2) : 1 + draw(3), inner = 7 + draw(4);
  memset(m, 0, sizeof *m);
  struct model_config *c = &m->lm.config;
  *c = (struct model_config) { .family = old ? "gpt2" : family == 1 ? "llama" : "qwen3", .vocab_size = 11, .n_positions = 16, .d_model = d,
    .d_inner = inner, .n_layers = LAYERS, .n_heads = kv * group, .n_kv_heads = kv, .head_dim = 2 * half, .layer_norm = old,
    .learned_positions = old, .gated = !old, .qkv_bias = old, .out_bias = old, .mlp_bias = old, .qk_norm = family == 2, .tied = old,
    .scaled = true, .scaled_by_layer = old && draw(2), .norm_eps = 1e-5,
    .activation = old ? (draw(2) ? ACTIVATION_GELU_TANH : ACTIVATION_GELU_ERF) : ACTIVATION_SILU };
  size_t wide = 2 * half * c->n_heads, narrow = 2 * half * kv;
  if (old) d = c->d_model = (uint32_t) wide; /* as in every fused matrix */
  for (int i = 0; i < LAYERS; i++) {
    struct model_layer *l = &m->layer[i];
    l->attn_norm = a_norm(old, d), l->mlp_norm = a_norm(old, d);
    l->n_qkv = old ? 1 : 3, l->n_up = old ? 1 : 2;
    if (old) l->qkv[0] = a_matrix(d, 3 * wide, true, true, type);
    else l->qkv[0] = a_matrix(d, wide, false, false, type), l->qkv[1] = a_matrix(d, narrow, false, false, type),
      l->qkv[2] = a_matrix(d, narrow, false, false, type);
    if (family == 2) l->q_norm = a_norm(false, 2 * half), l->k_norm = a_norm(false, 2 * half);
    l->out = a_matrix(wide, d, old, old, type);
    for (size_t u = 0; u < l->n_up; u++) l->up[u] = a_matrix(d, inner, old, old, type);
    l->down = a_matrix(inner, d, old, old, type);
  }
  m->lm.layers = m->layer, m->lm.final_norm = a_norm(old, d);
  m->lm.embedding = numbers(type, c->vocab_size * d, 1, 0);
  if (old) m->lm.positions = numbers(type, c->n_positions * d, .5f, 0);
  m->lm.head = (struct matrix) { .weight = m->lm.embedding, .in = d, .out = c->vocab_size };
  if (!old) m->lm.head = a_matrix(d, c->vocab_size, false, false, type);
  m->lm.attention = (struct attention_dims) { c->n_heads, kv, 2 * half, 1 / sqrtf(2 * (float) half), .cap = 0 };
  for (uint32_t i = 0; i < half; i++) m->frequency[i] = (float) rope_frequency(100, i, half);
  m->lm.frequency = old ? NULL : m->frequency;
  m->lm.matrix_types = 1u << type;
}

static void families(unsigned size)
{
  static struct small m;
  static const char *const name[] = { "LayerNorm, learned positions, fused projections, GELU", "RMSNorm, RoPE, fewer heads of keys, SwiGLU",
    "norms of queries and keys, RoPE, SwiGLU" };
  static const int changed[] = { TAP_EMBEDDING, TAP_NORM, TAP_QUERY, TAP_VALUE, TAP_MIXED, TAP_ATTENTION, TAP_MLP_NORM, TAP_INNER, TAP_MLP,
    TAP_LAYER };
  uint32_t ids[16];
  int family = (int) ((size - 1) % 3), type = (int) draw(3);
  begin();
  small_make(&m, family, plain_type[type]);
  if (family > 0 && draw(2) && !config_set_window(&m.lm.config, 1 + draw(6), draw(2), &why)) say("no window");
  size_t n = size < 4 ? size : 1 + draw(16), most = size % 2 ? 16 : 1 + draw(5);
  int change = size > 6 && size % 2 == 0 ? changed[size / 2 % 10] : -1;
  for (size_t i = 0; i < n; i++) ids[i] = draw(11);
  tell("%s; %zu tokens, %zu a pass; window %u", name[family], n, most, m.lm.config.window);
  if (change >= 0) tell("the watcher changes the stage %s of layer 1", stage[change]);
  look(&m.lm, ids, n, most, change, false);
}

const struct lab_test lab_tests[] = { { "order", 60, order }, { "embedding", 24, embedding }, { "linear", 30, linear }, { "norms", 40, norms },
  { "rope", 30, rope }, { "activations", 40, activations }, { "block", 40, block }, { "heads", 40, heads }, { "blocks", 24, blocks },
  { "softmax", 40, softmax }, { "hand", 16, hand }, { "families", 30, families }, { NULL, 0, NULL } };
