/* tests.c -- lab 10: the same text under two heads, "fast", which is AVX2 where the processor has it, and "counted".  What is said is
   the same for registers of four and of eight lanes.  Numbers end where the memory ends: a byte too many that is read or written is a
   signal */
#define _DEFAULT_SOURCE
#include "kit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "functions/numbers.h"
#include "kernels/lanes.h"

/* ---- counted loads, and weights in disguise */

static uint64_t counted[LANES_EVENTS], weight_loads;
static const unsigned char *hidden;
static size_t hidden_bytes;
static uint64_t hidden_by;

static unsigned char disguise(size_t i)
{
  uint64_t z = (hidden_by + i / 8) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9u;
  return (unsigned char) (z >> 8 * (i % 8));
}

void lanes_take(void *to, const void *from, size_t bytes)
{
  const unsigned char *p = from;
  unsigned char *q = to;
  counted[LANES_LOAD]++;
  memcpy(to, from, bytes);
  if (hidden == NULL || p < hidden || p + bytes > hidden + hidden_bytes) return;
  weight_loads++;
  for (size_t i = 0; i < bytes; i++) q[i] ^= disguise((size_t) (p - hidden) + i);
}

void lanes_count(enum lanes_event what)
{ counted[what]++; }

/* from here on these bytes are only what lanes_take says */
static void hide(void *data, size_t bytes)
{
  unsigned char *p = data;
  memset(counted, 0, sizeof counted), weight_loads = 0;
  hidden = p, hidden_bytes = bytes, hidden_by = (uint64_t) draw(1u << 30) << 30 | draw(1u << 30);
  for (size_t i = 0; i < bytes; i++) p[i] ^= disguise(i);
}

/* ---- memory that ends where its numbers end */

enum { PLACES = 6, PLACE = 1 << 20, PAGE_BYTES = 1 << 16 };
static void *ending(unsigned place, size_t bytes)
{
  static char *begin[PLACES];
  if (begin[place] == NULL) {
    begin[place] = mmap(NULL, PLACE + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin[place] == MAP_FAILED || mprotect(begin[place] + PLACE, PAGE_BYTES, PROT_NONE) != 0) abort();
  }
  if (bytes > PLACE) abort();
  size_t near = bytes + 8192 < PLACE ? bytes + 8192 : PLACE;
  memset(begin[place] + PLACE - near, 0xff, near); /* numbers that nobody should see are NaN */
  return begin[place] + PLACE - bytes;
}

/* ---- numbers */

enum kind { NEAR, WIDE, BELOW, SPECIAL, KINDS };
static const char *const kind_names[KINDS] = { "numbers from -1 to 1", "numbers of all sizes", "products that underflow to -0",
  "some infinite, some -0" };

static float input(enum kind kind)
{
  static const float special[] = { INFINITY, -INFINITY, -0.0f, 0, 0, 1, -1, 3e38f };
  switch (kind) {
  case WIDE: return ldexpf(draw_float(), (int) draw(41) - 20);
  case BELOW: return 0x1p-149f;
  case SPECIAL: if (draw(8) == 0) return special[draw(8)]; break;
  case NEAR: case KINDS: break;
  }
  return draw_float();
}
static float weight(enum kind kind)
{ return kind == BELOW ? -(1 + (float) draw(8)) / 64 : kind == WIDE ? ldexpf(draw_float(), (int) draw(9) - 4) : draw_float(); }

static size_t bytes_of(enum weight_type type, size_t n)
{ return weight_row_bytes(type, n); }

static void put_weights(void *to, enum weight_type type, size_t n, enum kind kind)
{
  char *p = to;
  for (size_t i = 0; i < n; i++) {
    float x = weight(kind);
    uint16_t h = type == WEIGHT_F16 ? num_to_f16(x) : num_to_bf16(x);
    if (type == WEIGHT_F32) memcpy(p + 4 * i, &x, 4);
    else memcpy(p + 2 * i, &h, 2);
  }
}
static const float *put_inputs(unsigned place, size_t n, enum kind kind)
{
  float *x = ending(place, n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = input(kind);
  return x;
}
static enum weight_type any_type(unsigned size)
{ return size <= 3 ? WEIGHT_F32 : (enum weight_type) draw(3); }
static enum kind any_kind(unsigned size)
{ return size <= 3 ? NEAR : (enum kind) draw(KINDS); }
static const char *type_name(enum weight_type type)
{ return type == WEIGHT_F32 ? "float32" : type == WEIGHT_F16 ? "float16" : "bfloat16"; }

static const struct lanes *head(unsigned i)
{ return i == 0 ? &lanes_counted : lanes_real(); }
static const char *const label[] = { "counted", "fast" };

/* a row of results: each with its bits if they are few */
static size_t few_enough = 24;
static void say_row(const char *which, size_t row, const float *y, size_t n)
{
  char name[60];
  uint64_t all = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) {
    snprintf(name, sizeof name, "%s: row %zu, output %zu", which, row, i);
    if (n <= few_enough) say_bits(name, y[i]);
    all = (all ^ (y[i] != y[i] ? 0x7fc00000u : num_bits32(y[i]))) * 0x100000001b3u;
  }
  if (n > few_enough) say("%s: row %zu, all bits of %zu outputs %016llx", which, row, n, (unsigned long long) all);
}

/* ---- the dot product */

static void fold(unsigned size)
{
  enum kind kind = size <= 16 ? NEAR : any_kind(size);
  float lane[16] = { 0 }, again[16];
  unsigned first = draw(16);
  for (unsigned i = 0; i < 16 && i < size; i++) lane[(first + 5 * i) % 16] = kind == BELOW ? -0.0f : input(kind);
  tell("%u lanes that are not 0 from lane %u on, %s", size < 16 ? size : 16, first, kind_names[kind]);
  for (unsigned i = 0; i < 2; i++) {
    char name[40];
    memcpy(again, lane, sizeof lane);
    snprintf(name, sizeof name, "%s: the sum", label[i]);
    say_bits(name, head(i)->fold(again));
  }
}

static void tail(unsigned size)
{
  size_t rest = size == 1 ? 1 : size <= 16 ? size - 1 : draw(16), at = size <= 2 ? 0 : 16 * draw(4), n = at + rest;
  enum weight_type type = any_type(size);
  enum kind kind = any_kind(size);
  const float *x = put_inputs(0, n, kind);
  struct tensor w = { ending(1, bytes_of(type, n)), type };
  float before[16], lane[16];
  put_weights((void *) (uintptr_t) w.data, type, n, kind);
  for (unsigned j = 0; j < 16; j++) before[j] = size <= 2 ? 0 : size % 2 == 0 ? -0.0f : draw_float();
  tell("%zu terms from term %zu on, weights of %s, lanes were %s; %s", rest, at, type_name(type),
    size <= 2 ? "0" : size % 2 == 0 ? "-0" : "numbers", kind_names[kind]);
  for (unsigned i = 0; i < 2; i++) {
    memcpy(lane, before, sizeof lane);
    head(i)->rest(x, w, at, rest, lane);
    for (unsigned j = 0; j < 16; j++) {
      char name[40];
      snprintf(name, sizeof name, "%s: lane %u", label[i], j);
      say_bits(name, lane[j]);
    }
  }
}

static void product(unsigned size)
{
  size_t n = size <= 50 ? size : 50 + draw(400);
  enum weight_type type = any_type(size);
  enum kind kind = any_kind(size);
  const float *x = put_inputs(0, n, kind);
  struct tensor w = { ending(1, bytes_of(type, n)), type };
  put_weights((void *) (uintptr_t) w.data, type, n, kind);
  tell("%zu terms, weights of %s, %s", n, type_name(type), kind_names[kind]);
  for (unsigned i = 0; i < 2; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s: the product", label[i]);
    say_bits(name, head(i)->dot(x, w, n));
  }
}

/* ---- few rows */

static void side_by_side(unsigned size)
{
  enum { MOST = 8 };
  size_t n = size <= 40 ? size : draw(200), there = size == 1 ? 1 : 1 + draw(MOST);
  enum weight_type type = any_type(size);
  enum kind kind = any_kind(size);
  size_t stride = bytes_of(type, n) + (size <= 2 ? 0 : 4 * draw(6));
  const float *x = put_inputs(0, n, kind);
  char *rows = ending(1, (there - 1) * stride + bytes_of(type, n));
  float sum[MOST];
  for (size_t r = 0; r < there; r++) put_weights(rows + r * stride, type, n, kind);
  tell("%zu rows of %zu numbers, %s, %zu bytes apart; %s", there, n, type_name(type), stride, kind_names[kind]);
  for (unsigned i = 0; i < 2; i++) {
    size_t width = (size_t) head(i)->width;
    for (size_t r = 0; r < there; r += width)
      head(i)->dots(x, rows + r * stride, stride, there - r < width ? there - r : width, type, n, sum + r);
    say_row(label[i], 0, sum, there);
  }
}

/* a layer with random weights; memory ends where the weights end, and where the inputs, the bias and the outputs do */
struct layer { struct matrix m; size_t rows, from, to; const float *x; float *y; };
static void layer_make(struct layer *l, size_t in, size_t out, size_t rows, enum weight_type type, enum kind kind, bool bias)
{
  void *w = ending(1, bytes_of(type, in * out)), *b = ending(2, bytes_of(type, out));
  l->x = put_inputs(0, rows * in, kind);
  put_weights(w, type, in * out, kind), put_weights(b, type, out, kind);
  l->m = (struct matrix) { .weight = { w, type }, .in = in, .out = out };
  if (bias) l->m.bias = (struct tensor) { b, type };
  l->rows = rows, l->from = 0, l->to = out;
}
static void tell_layer(const struct layer *l, enum kind kind)
{
  tell("%zu inputs, outputs %zu to %zu of %zu, %zu rows, weights of %s, %s bias; %s", l->m.in, l->from, l->to, l->m.out, l->rows,
    type_name(l->m.weight.type), l->m.bias.data != NULL ? "a" : "no", kind_names[kind]);
}

/* all outputs, also those that nobody asked for: they keep what they were */
static void say_layer(const char *which, struct layer *l)
{
  for (size_t r = 0; r < l->rows; r++) say_row(which, r, l->y + r * l->m.out, l->m.out);
}
static void before(struct layer *l)
{
  l->y = ending(3, l->rows * l->m.out * sizeof *l->y);
  for (size_t i = 0; i < l->rows * l->m.out; i++) l->y[i] = -777;
}
static void run_few(const struct lanes *h, struct layer *l)
{
  before(l);
  h->few(&l->m, l->x, l->rows, l->from, l->to, l->y);
}
static void run_many(const struct lanes *h, struct layer *l)
{
  size_t panel = (l->m.in + 15) / 16 * 16, tall = h->tile_rows;
  before(l);
  float *x = ending(4, (l->rows + tall) * panel * sizeof *x), *room = ending(5, h->panel_outputs * panel * sizeof *room);
  h->pack_rows(l->x, l->rows, l->m.in, x);
  h->many(&l->m, x, l->rows, l->from, l->to, room, l->y);
}
static void part_of(struct layer *l)
{
  l->from = draw((uint32_t) l->m.out), l->to = l->from + 1 + draw((uint32_t) (l->m.out - l->from));
}

static void few(unsigned size)
{
  struct layer l;
  enum kind kind = any_kind(size);
  layer_make(&l, size == 1 ? 1 : 1 + draw(size < 10 ? 20 : 90), size == 1 ? 1 : 1 + draw(size < 10 ? 12 : 40), size <= 2 ? 1 : 1 + draw(3),
    any_type(size), kind, size > 2 && draw(2) == 0);
  if (size > 6 && size % 3 == 0) part_of(&l);
  tell_layer(&l, kind);
  for (unsigned i = 0; i < 2; i++) run_few(head(i), &l), say_layer(label[i], &l);
}

static double per_multiply(const struct lanes *h, double madds, bool spreads)
{
  say("multiply-adds of registers %llu", (unsigned long long) counted[LANES_FUSED]);
  return (double) (counted[LANES_LOAD] + (spreads ? counted[LANES_SPREAD] : 0)) * h->width / madds;
}

static void few_loads(unsigned size)
{
  struct layer l;
  const struct lanes *h = &lanes_counted;
  size_t in = 16 * (1 + draw(12)), out = (size_t) h->width * (size == 1 ? 1 : 1 + draw(8));
  layer_make(&l, in, out, size == 1 ? 1 : 1 + draw(3), size == 1 ? WEIGHT_F32 : (enum weight_type) draw(3), NEAR, false);
  hide((void *) (uintptr_t) l.m.weight.data, bytes_of(l.m.weight.type, in * out));
  tell_layer(&l, NEAR);
  tell("at most 1.3 loads for each multiply-add");
  run_few(h, &l);
  say_most("loads-for-each", per_multiply(h, (double) (in * out * l.rows), false), 1.04);
  say_layer(label[0], &l);
  hidden = NULL;
}

/* ---- panels and tiles */

static void places(unsigned size)
{
  size_t n = size <= 40 ? size : 40 + draw(500);
  const struct lanes *h = lanes_real();
  char line[1000];
  tell("%zu inputs", n);
  for (size_t t = 0; t < 16; t++)
    say("turned(%zu) is %zu, lane_steps(%zu, %zu) is %zu", t, h->turned(t), n, t, h->steps(n, t));
  for (size_t k = 0; k < n; k += 16) {
    int at = snprintf(line, sizeof line, "places of inputs %zu and so on:", k);
    for (size_t j = k; j < n && j < k + 16; j++) at += snprintf(line + at, sizeof line - (size_t) at, " %zu", h->place(n, j));
    say("%s", line);
  }
}

/* tiles on panels that the head itself has packed: as many as MOST outputs take */
enum { MOST_OUTPUTS = 16 };
struct tiles { float *x, *panel[MOST_OUTPUTS], sum[MOST_OUTPUTS][6 * MOST_OUTPUTS]; size_t wide, n; };
static void tiles_make(struct tiles *t, const struct lanes *h, const struct layer *l)
{
  size_t third = h->tile_rows / 3, tall = (l->rows + third - 1) / third * third, steps = (l->m.in + 15) / 16 * 16;
  t->wide = h->panel_outputs, t->n = (l->m.out + t->wide - 1) / t->wide;
  t->x = ending(4, steps * tall * sizeof *t->x);
  h->pack_rows(l->x, l->rows, l->m.in, t->x);
  float *panel = ending(5, t->n * steps * t->wide * sizeof *panel);
  for (size_t i = 0; i < t->n; i++, panel += steps * t->wide) {
    size_t outs = l->m.out - i * t->wide;
    t->panel[i] = panel;
    h->pack_strip(&l->m, i * t->wide, outs < t->wide ? outs : t->wide, panel);
  }
  memset(t->sum, 0xff, sizeof t->sum);
}
static void tiles_run(struct tiles *t, const struct lanes *h, const struct layer *l)
{
  for (size_t i = 0; i < t->n; i++) h->tile(l->rows, t->x, t->panel[i], l->m.in, t->sum[i]);
}
static void say_tiles(const char *which, const struct tiles *t, const struct layer *l)
{
  float y[MOST_OUTPUTS];
  for (size_t r = 0; r < l->rows; r++) {
    for (size_t o = 0; o < l->m.out; o++) y[o] = t->sum[o / t->wide][r * t->wide + o % t->wide];
    say_row(which, r, y, l->m.out);
  }
}

static void tile(unsigned size)
{
  static struct tiles t;
  struct layer l;
  enum kind kind = any_kind(size);
  size_t n = size <= 35 ? size : 1 + draw(200);
  layer_make(&l, n, size == 1 ? 1 : 1 + draw(MOST_OUTPUTS), size == 1 ? 2 : 1 + draw(6), any_type(size), kind, false);
  tell_layer(&l, kind);
  for (unsigned i = 0; i < 2; i++) {
    tiles_make(&t, head(i), &l), tiles_run(&t, head(i), &l);
    say_tiles(label[i], &t, &l);
  }
}

static void many(unsigned size)
{
  struct layer l;
  enum kind kind = any_kind(size);
  layer_make(&l, size == 1 ? 1 : 1 + draw(size < 10 ? 20 : 70), size == 1 ? 1 : 1 + draw(size < 10 ? 20 : 60),
    size == 1 ? 1 : 1 + draw(size < 10 ? 7 : 30), any_type(size), kind, size > 2 && draw(2) == 0);
  if (size > 6 && size % 3 == 0) part_of(&l);
  tell_layer(&l, kind);
  for (unsigned i = 0; i < 2; i++) run_many(head(i), &l), say_layer(label[i], &l);
}

/* every remainder of inputs, of outputs and of rows; for each way through a matrix */
static void ends(unsigned size)
{
  struct layer l;
  enum kind kind = (enum kind) (size % KINDS);
  layer_make(&l, 16 * (size % 3) + 1 + (7 * size) % 16, 1 + (5 * size) % 34, 1 + size % 13, (enum weight_type) (size / 4 % 3), kind, size % 7 == 3);
  if (size % 5 == 4) part_of(&l);
  tell_layer(&l, kind);
  few_enough = 4;
  for (unsigned i = 0; i < 2; i++) {
    run_few(head(i), &l), say_layer(label[i], &l);
    run_many(head(i), &l), say_layer(label[i], &l);
  }
}

static void tile_loads(unsigned size)
{
  struct layer l;
  const struct lanes *h = &lanes_counted;
  size_t in = 16 * (1 + draw(9)), out = h->panel_outputs * (size == 1 ? 1 : 1 + draw(5)), rows = h->tile_rows * (size == 1 ? 1 : 1 + draw(6));
  layer_make(&l, in, out, rows, size == 1 ? WEIGHT_F32 : (enum weight_type) draw(3), NEAR, false);
  hide((void *) (uintptr_t) l.m.weight.data, bytes_of(l.m.weight.type, in * out));
  tell_layer(&l, NEAR);
  tell("each weight is loaded from the matrix once; in a tile, two registers of weights and an input of each row for twelve multiply-adds");
  run_many(h, &l);
  say_most("loads-of-registers-of-the-matrix", (double) weight_loads * h->width / (double) (in * out), 1);
  say_most("loads-for-each", per_multiply(h, (double) (in * out * rows), true), 1.05);
  say_layer(label[0], &l);
  hidden = NULL;
}

/* ---- the share of the probe */

/* with AVX2, sums that stay in registers reach 0.6 to 0.85 of the probe, sums in memory 0.3, one sum at a time 0.2, plain C 0.04 */
#define FLOOR(h) ((h) == &lanes_counted ? 0.1 : 0.4)

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* short slices by turns, the best of each: whatever else the machine does, some slice of each was not disturbed.  An input changes before
   each run, and a sum of each run is kept, so that no run can be left out */
static void share(unsigned size)
{
  enum { SLICES = 500, TIMES = 4 };
  static struct tiles t;
  struct layer l;
  const struct lanes *h = lanes_real();
  double best_tile = 1e9, best_probe = 1e9;
  uint64_t all = 0xcbf29ce484222325u;
  volatile float kept = 0;
  layer_make(&l, size == 1 ? 256 : 256 + 16 * draw(16), MOST_OUTPUTS, 6, WEIGHT_F32, NEAR, false);
  tell_layer(&l, NEAR);
  tell("tiles of floats, head %s; a probe of multiply-adds takes turns with them; at least %.2f of it", h->name, FLOOR(h));
  tiles_make(&t, h, &l);
  size_t steps = l.rows * l.m.out * l.m.in / (12 * (size_t) h->width);
  for (unsigned i = 0; i < SLICES; i++) {
    double a = seconds();
    kept += h->probe(TIMES * steps);
    double b = seconds();
    for (unsigned k = 0; k < TIMES; k++) {
      unsigned row = (i + k) % 6, o = (i * TIMES + k) % MOST_OUTPUTS;
      t.x[(i * TIMES + k) * 7 % (6 * (unsigned) l.m.in)] = (float) (i % 64) / 64;
      tiles_run(&t, h, &l);
      all = (all ^ num_bits32(t.sum[o / t.wide][row * t.wide + o % t.wide])) * 0x100000001b3u;
    }
    double c = seconds();
    if (b - a < best_probe) best_probe = b - a;
    if (c - b < best_tile) best_tile = c - b;
  }
  say_tiles(label[1], &t, &l);
  say("sums of all runs %016llx", (unsigned long long) all);
  say_least("share-of-the-probe", best_probe / best_tile, FLOOR(h));
}

const struct lab_test lab_tests[] = { { "fold", 40, fold }, { "tail", 60, tail }, { "product", 70, product },
  { "side_by_side", 60, side_by_side }, { "few", 50, few }, { "few_loads", 12, few_loads }, { "places", 50, places }, { "tile", 60, tile },
  { "many", 40, many }, { "ends", 160, ends }, { "tile_loads", 10, tile_loads }, { "share", 2, share }, { NULL, 0, NULL } };
