/* tune.c -- times every number of ground/tuning.h beside others in its place: `tune list` prints what bench/tune.sh is to
   compile, a line "NAME VALUE PART" each; `tune FOLDER THREADS ROUNDS [NAME]...` loads FOLDER/NAME-VALUE.so and default.so, lets
   them do the same work turn about in this process, compares their bits, and prints, as CSV, the time of the number that is in
   the header over that of the other: above 1 the other is faster.  Standard error says what it would choose here.
   One thread is timed by its own clock, several by the clock on the wall. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "ground/pool.h"
#include "ground/tuning.h"
#include "kernels/kernels.h"

/* what is timed: a linear layer, the attention of some rows, or empty steps of a pool */
enum { LINEAR, ATTENTION, STEPS_ALONE };
static const struct work {
  const char *name;
  int kind;
  enum weight_type type;
  size_t in, out, rows; /* of attention: a head's numbers, positions */
  bool transposed, prepared, int8, alone, by_heads; /* alone: without a pool */
} works[] = {
  { "one.f32", LINEAR, WEIGHT_F32, 768, 768, 1 },
  { "one.f32.2048", LINEAR, WEIGHT_F32, 2048, 2048, 1 },
  { "one.bf16", LINEAR, WEIGHT_BF16, 768, 768, 1 },
  { "one.f32.288", LINEAR, WEIGHT_F32, 288, 288, 1 },
  { "one.f32.packed", LINEAR, WEIGHT_F32, 768, 768, 1, .prepared = true },
  { "one.f32.across", LINEAR, WEIGHT_F32, 768, 768, 1, .transposed = true },
  { "three.f32.2048", LINEAR, WEIGHT_F32, 2048, 2048, 3 },
  { "four.bf16.2048", LINEAR, WEIGHT_BF16, 2048, 2048, 4 },
  { "three.f32.packed", LINEAR, WEIGHT_F32, 2048, 768, 3, .prepared = true },
  { "five.f32.2048", LINEAR, WEIGHT_F32, 2048, 768, 5 },
  { "five.bf16", LINEAR, WEIGHT_BF16, 2048, 768, 5 },
  { "seven.f32.2048", LINEAR, WEIGHT_F32, 2048, 768, 7 },
  { "some.f32", LINEAR, WEIGHT_F32, 768, 768, 64 },
  { "many.f32", LINEAR, WEIGHT_F32, 768, 2048, 512 },
  { "many.f32.1024", LINEAR, WEIGHT_F32, 1024, 1024, 512 },
  { "many.f32.2048", LINEAR, WEIGHT_F32, 2048, 768, 512 },
  { "many.bf16", LINEAR, WEIGHT_BF16, 768, 2048, 512 },
  { "many.f32.across", LINEAR, WEIGHT_F32, 768, 2048, 512, .transposed = true },
  { "one.q8_0", LINEAR, WEIGHT_Q8_0, 768, 768, 1, .int8 = true },
  { "one.q8_0.2048", LINEAR, WEIGHT_Q8_0, 2048, 2048, 1, .int8 = true },
  { "one.q4_0", LINEAR, WEIGHT_Q4_0, 2048, 2048, 1, .int8 = true },
  { "one.q4_k", LINEAR, WEIGHT_Q4_K, 2048, 2048, 1, .int8 = true },
  { "four.q8_0", LINEAR, WEIGHT_Q8_0, 2048, 2048, 4, .int8 = true },
  { "five.q8_0", LINEAR, WEIGHT_Q8_0, 2048, 2048, 5, .int8 = true },
  { "six.q8_0", LINEAR, WEIGHT_Q8_0, 2048, 2048, 6, .int8 = true },
  { "four.q4_0", LINEAR, WEIGHT_Q4_0, 2048, 2048, 4, .int8 = true },
  { "five.q4_0", LINEAR, WEIGHT_Q4_0, 2048, 2048, 5, .int8 = true },
  { "six.q4_0", LINEAR, WEIGHT_Q4_0, 2048, 2048, 6, .int8 = true },
  { "eight.q8_0", LINEAR, WEIGHT_Q8_0, 2048, 2048, 8, .int8 = true },
  { "many.q8_0", LINEAR, WEIGHT_Q8_0, 2048, 2048, 512, .int8 = true },
  { "many.q8_0.packed", LINEAR, WEIGHT_Q8_0, 2048, 2048, 512, .int8 = true, .prepared = true },
  { "heads.f32", ATTENTION, WEIGHT_F32, 64, 2048, 1 },
  { "paged.f32", ATTENTION, WEIGHT_F32, 64, 2048, 1, .by_heads = true },
  { "alone.f32", ATTENTION, WEIGHT_F32, 64, 2048, 1, .alone = true },
  { "heads.f16", ATTENTION, WEIGHT_F16, 64, 2048, 1 },
  { "prompt.f32", ATTENTION, WEIGHT_F32, 64, 512, 512 },
  { "heads.small", ATTENTION, WEIGHT_F32, 8, 256, 1 },
  { "prompt.small", ATTENTION, WEIGHT_F32, 8, 256, 64 },
  { "steps", STEPS_ALONE },
};
enum { WORKS = sizeof works / sizeof *works, OTHERS = 4, MOST_ROUNDS = 99 };

/* each number of the header: the part of the sources that has it, others to be tried, and the works that it can change */
static const struct choice {
  const char *name, *part;
  int here, other[OTHERS];
  const char *on;
} choices[] = {
#define CHOICE(name, part, on, ...) { #name, part, name, { __VA_ARGS__ }, on }
  CHOICE(HINT, "whole", "heads.f32 heads.f16 paged.f32 five.f32.2048 many.f32.2048 many.bf16 one.f32 one.f32.2048 one.bf16 one.f32.packed one.q8_0 one.q8_0.2048 one.q4_0 one.q4_k four.q8_0", 3),
  CHOICE(ROWS_AHEAD, "linear", "one.f32 one.f32.2048 one.bf16", 256, 1024, 2048, 6144),
  CHOICE(STRIPS_AHEAD, "blocks", "one.q8_0 one.q8_0.2048 one.q4_0 one.q4_k four.q8_0", 2, 4, 6),
  CHOICE(LOOSE_SCALES, "blocks", "one.q4_0 six.q4_0", 0),
  CHOICE(STEPS, "linear", "one.f32 one.bf16 many.f32.2048", 4, 16),
  CHOICE(FOURS_BYTES, "linear", "one.f32.288 one.bf16", 512, 2048),
  CHOICE(FOURS_FLOATS, "linear", "one.f32 one.f32.2048", 0),
  CHOICE(PANEL_AHEAD, "linear", "one.f32.packed", 6, 24, 48),
  CHOICE(PACK_AHEAD, "linear", "many.f32.2048 many.bf16 seven.f32.2048", 32, 128),
  CHOICE(INPUTS_AHEAD, "linear", "many.f32.across", 12, 48),
  CHOICE(LATE, "linear", "many.f32.2048 many.bf16", 64, 256),
  CHOICE(MANY_ROWS, "linear", "three.f32.2048 three.f32.packed", 4),
  CHOICE(PACKED_ROWS, "linear", "five.f32.2048 five.bf16 seven.f32.2048", 4, 6),
  CHOICE(FEW_AHEAD, "linear", "three.f32.2048 four.bf16.2048 five.f32.2048 five.bf16", 8, 24),
  CHOICE(FEW_INPUTS, "linear", "three.f32.2048 four.bf16.2048 five.f32.2048 five.bf16", 2048, 8192),
  CHOICE(LYING_INPUTS, "linear", "many.f32 many.f32.1024 many.f32.2048 some.f32", 0, 4000),
  CHOICE(LYING_OUTS, "linear", "many.f32 some.f32", 32, 128),
  CHOICE(MOST_ROWS, "linear", "many.f32.2048 many.bf16", 132, 264),
  CHOICE(UNROLL, "linear", "one.f32.across", 2, 4),
  CHOICE(SPAN, "linear", "one.f32.across", 128, 512),
  CHOICE(STORED_MOST, "blocks", "four.q8_0 five.q8_0 six.q8_0 four.q4_0 five.q4_0 six.q4_0", 4, 12),
  CHOICE(INT8_MANY, "blocks", "many.q8_0", 48, 192),
  CHOICE(INT8_FRESH, "blocks", "many.q8_0 eight.q8_0", 4, 16),
  CHOICE(INT8_READY, "blocks", "many.q8_0.packed", 16, 64),
  CHOICE(KEYS_AHEAD, "attention", "alone.f32", 8, 32),
  CHOICE(TOGETHER, "attention", "heads.f32 heads.f16 heads.small", 4, 16),
  CHOICE(PAGED_AHEAD, "attention", "paged.f32", 1024, 8192),
  CHOICE(QUERIES, "attention", "prompt.f32", 24, 96),
  CHOICE(MANY_QUERIES, "attention", "prompt.small", 8),
  CHOICE(NARROW_HEADS, "attention", "heads.small prompt.small", 0),
  CHOICE(WORTH_DIVIDING, "linear", "one.f32.288", 16384, 262144),
  CHOICE(PARTS_EACH, "pool", "one.f32 one.q4_0", 1, 8),
  CHOICE(SPIN_LIMIT, "pool", "steps one.f32.288", 500, 8000),
  CHOICE(SPIN_YIELD, "pool", "steps", 20, 200),
};
enum { CHOICES = sizeof choices / sizeof *choices };

static unsigned threads = 1;
static double now(void)
{
  struct timespec t;
  clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}
static uint32_t drawn = 1;
static float draw(void) { return drawn = drawn * 1664525 + 1013904223, (float) (int32_t) drawn / 2147483648.0f; }
static void *plenty(size_t n)
{
  enum { HUGE_PAGE = 2 << 20 };
  char *p = mmap(NULL, n + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) perror("tune"), exit(1);
  p += -(uintptr_t) p % HUGE_PAGE;
  madvise(p, n, MADV_HUGEPAGE);
  return p;
}
static void die(const char *what) { fprintf(stderr, "tune: %s\n", what), exit(1); }

/* one compiled copy of the kernels and of the pool */
struct variant {
  char value[16];
  struct engine e;
  struct prepared_weights ready;
  __typeof__(&pool_run) run;
  float *y;
  double took[MOST_ROUNDS];
};
static void open_variant(struct variant *v, const char *folder, const char *name, const char *value)
{
  static struct memory m;
  char path[500];
  snprintf(path, sizeof path, "%s/%s%s%s.so", folder, name, value[0] ? "-" : "", value);
  void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (so == NULL) die(dlerror());
  snprintf(v->value, sizeof v->value, "%s", value);
  __typeof__(&kernels_find) find = dlsym(so, "kernels_find");
  __typeof__(&pool_open) open = dlsym(so, "pool_open");
  __typeof__(&pool_reserve) reserve = dlsym(so, "pool_reserve");
  v->run = dlsym(so, "pool_run");
  v->e = (struct engine) { .k = find(getenv("TABLE"), NULL), .pool = open(&m, threads, NULL) };
  if (v->e.pool == NULL || !reserve(v->e.pool, 32 << 20, NULL)) die("no pool");
}

/* weights, more of them than any cache holds, inputs, and the same matrices prepared */
enum { ALL = 160 << 20, MOST_OUT = 4 << 20 };
static char *weights, *panels;
static float *inputs, *scratch;
static struct prepared_matrix copies[4096];
static void fill(enum weight_type type)
{
  size_t bytes = number_types[type].bytes;
  static int before = -1;
  if (before == (int) type) return;
  before = (int) type;
  for (size_t i = 0; i + bytes <= ALL; i += bytes) {
    float x = draw();
    uint32_t u;
    memcpy(&u, &x, 4);
    if (type == WEIGHT_F32) memcpy(weights + i, &x, 4);
    else if (type == WEIGHT_BF16) weights[i] = (char) (u >> 16), weights[i + 1] = (char) (u >> 24);
    else if (type == WEIGHT_F16) weights[i] = (char) u, weights[i + 1] = (char) (0x30 | (u >> 8 & 0x83));
    else {
      for (size_t j = 0; j < bytes; j++) draw(), weights[i + j] = (char) (drawn >> 24);
      weights[i] = 0, weights[i + 1] = 0x2c;
      if (type == WEIGHT_Q4_K) weights[i + 2] = 0, weights[i + 3] = 0x2c;
    }
  }
}
static size_t matrices(const struct work *w)
{
  size_t bytes = weight_row_bytes(w->type, w->in) * w->out, n = ALL / bytes, some = 400000000 / (w->in * w->out * w->rows) + 1;
  return w->rows > 8 && some < n ? some : n;
}
static void do_linear(const struct work *w, struct variant *v)
{
  struct matrix m = { .weight = { weights, w->type }, .in = w->in, .out = w->out, .transposed = w->transposed };
  size_t bytes = weight_row_bytes(w->type, w->in) * w->out;
  for (size_t i = matrices(w); i-- > 0;) {
    m.weight.data = weights + i * bytes;
    (w->int8 ? v->e.k->linear_int8 : v->e.k->linear)(&v->e, &m, 1, inputs, w->rows, &v->y);
  }
}
static void prepare_for(const struct work *w, struct variant *v)
{
  struct matrix m = { .weight = { weights, w->type }, .in = w->in, .out = w->out };
  size_t bytes = weight_row_bytes(w->type, w->in) * w->out, n = matrices(w), each;
  enum activations format = w->int8 ? ACTIVATIONS_INT8 : ACTIVATIONS_F32;
  v->e.activations = format, v->e.prepared = NULL;
  if (!w->prepared) return;
  if (panels == NULL) panels = plenty(2 * (size_t) ALL);
  each = v->e.k->prepared_bytes(&m, format);
  v->ready = (struct prepared_weights) { v->e.k, format, n, copies };
  for (size_t i = 0; i < n; i++) {
    m.weight.data = weights + i * bytes;
    copies[i] = (struct prepared_matrix) { m.weight.data, panels + i * each };
    v->e.k->prepare(&m, format, copies[i].copy);
  }
  v->e.prepared = &v->ready;
}
/* twelve heads, the rows of the cache one after the other; as many layers as memory has, or fewer where many rows look */
static void do_attention(const struct work *w, struct variant *v)
{
  size_t heads = 12, d = w->in, row = weight_row_bytes(w->type, heads * d), layers = ALL / (2 * w->out * row);
  struct attention_dims h = { .n_heads = (uint32_t) heads, .n_kv_heads = (uint32_t) heads, .head_dim = (uint32_t) d, .scale = 0.1f };
  struct engine e = v->e;
  if (w->alone) e.pool = NULL;
  struct segment s = { .view = { .row_bytes = row, .head_bytes = weight_row_bytes(w->type, d), .type = w->type },
    .n_rows = (uint32_t) w->rows, .first_position = (uint32_t) (w->out - w->rows) };
  if (w->by_heads) s.view.row_bytes = row / heads, s.view.head_bytes = w->out * s.view.row_bytes;
  if (w->rows > 1 && layers > 4) layers = 4;
  if (layers > 300) layers = 300;
  for (size_t i = 0; i < layers; i++) {
    s.view.key = (uintptr_t) weights + i * 2 * w->out * row, s.view.value = s.view.key + w->out * row;
    v->e.k->attend(&e, &h, inputs, &s, 1, scratch, v->y, NULL);
  }
}
static void nothing(void *ctx, unsigned worker, unsigned workers) { (void) ctx, (void) worker, (void) workers; }
static void do_steps(struct variant *v)
{
  for (int i = 0; i < 20000; i++) v->run(v->e.pool, nothing, NULL);
}
static void do_work(const struct work *w, struct variant *v)
{
  if (w->kind == LINEAR) do_linear(w, v);
  else if (w->kind == ATTENTION) do_attention(w, v);
  else do_steps(v);
}

static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
/* all values of a choice do a work, turn about; prints a line for each but the first, and returns its median in gain */
static void time_work(const struct choice *c, const struct work *w, struct variant *v, int n, int rounds, double *gain)
{
  if (w->kind == STEPS_ALONE && threads == 1) return;
  if (w->kind != STEPS_ALONE) fill(w->type);
  size_t outs = w->rows * (w->kind == LINEAR ? w->out : 12 * w->in);
  for (int i = 0; i < n; i++) {
    if (w->kind == LINEAR) prepare_for(w, &v[i]);
    memset(v[i].y, 0, outs * sizeof(float));
    do_work(w, &v[i]);
    if (memcmp(v[i].y, v[0].y, outs * sizeof(float)) != 0) die("two of the copies differ in their bits");
  }
  for (int r = 0; r < rounds; r++)
    for (int k = 0; k < n; k++) {
      int i = (k + r) % n;
      double t = now();
      do_work(w, &v[i]);
      v[i].took[r] = now() - t;
    }
  for (int i = 1; i < n; i++) {
    double ratio[MOST_ROUNDS];
    for (int r = 0; r < rounds; r++) ratio[r] = v[0].took[r] / v[i].took[r];
    qsort(ratio, (size_t) rounds, sizeof *ratio, smaller);
    gain[i] = ratio[rounds / 2];
    for (const char *p = c->name; *p != 0; p++) putchar(*p + ('A' <= *p && *p <= 'Z' ? 'a' - 'A' : 0));
    printf(".%s.%s,%u,%.3f,%.3f,%.3f\n", v[i].value, w->name, threads, ratio[rounds / 4], gain[i],
      ratio[rounds - 1 - rounds / 4]);
    fflush(stdout);
  }
}
static bool listed(const char *list, const char *name)
{
  size_t n = strlen(name);
  for (const char *p = list; (p = strstr(p, name)) != NULL; p++)
    if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0)) return true;
  return false;
}
/* another value is chosen if it loses in no work more than a clock's noise, and gains more than that in one */
static void time_choice(const struct choice *c, const char *folder, int rounds)
{
  static struct variant v[OTHERS + 1];
  static float *y[OTHERS + 1];
  double least[OTHERS + 1], most[OTHERS + 1], gain[OTHERS + 1] = { 0 };
  int n = 1, best = 0;
  char value[16];
  open_variant(&v[0], folder, "default", "");
  for (int i = 0; i < OTHERS && (i == 0 || c->other[i] != 0); i++, n++) {
    snprintf(value, sizeof value, "%d", c->other[i]);
    open_variant(&v[n], folder, c->name, value);
  }
  for (int i = 0; i < n; i++) {
    if (y[i] == NULL) y[i] = plenty(sizeof(float) * MOST_OUT);
    v[i].y = y[i], least[i] = 9, most[i] = 0;
  }
  for (size_t i = 0; i < WORKS; i++) {
    if (!listed(c->on, works[i].name)) continue;
    time_work(c, &works[i], v, n, rounds, gain);
    for (int k = 1; k < n; k++) {
      if (gain[k] < least[k]) least[k] = gain[k];
      if (gain[k] > most[k]) most[k] = gain[k];
    }
  }
  for (int k = 1; k < n; k++)
    if (least[k] < 9 && least[k] > 0.97 && most[k] > 1.03 && (best == 0 || most[k] > most[best])) best = k;
  fprintf(stderr, best == 0 ? "%s: %d stays\n" : "%s: %d, but here %s\n", c->name, c->here, v[best].value);
}

int main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    for (size_t i = 0; i < CHOICES; i++)
      for (int k = 0; k < OTHERS && (k == 0 || choices[i].other[k] != 0); k++)
        printf("%s %d %s\n", choices[i].name, choices[i].other[k], choices[i].part);
    return 0;
  }
  if (argc < 4) die("wanted: list, or FOLDER THREADS ROUNDS [NAME]...");
  threads = (unsigned) atoi(argv[2]);
  int rounds = atoi(argv[3]);
  if (threads < 1 || rounds < 1 || rounds > MOST_ROUNDS) die("wanted: threads, and 1 to 99 rounds");
  weights = plenty(ALL), inputs = plenty(sizeof(float) * MOST_OUT), scratch = plenty(256 << 20);
  for (size_t i = 0; i < MOST_OUT; i++) inputs[i] = draw();
  for (size_t i = 0; i < CHOICES; i++) {
    bool asked = argc == 4;
    for (int a = 4; a < argc; a++) asked |= strcmp(argv[a], choices[i].name) == 0;
    if (asked) time_choice(&choices[i], argv[1], rounds);
  }
  return 0;
}
