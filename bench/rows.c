/* rows.c [TABLE [THREADS [ROUNDS [LAYERS [PART]...]]]] -- what a pass of a few rows takes beside a pass of one row, on random weights in the
   shape of TinyLlama 1.1B, more of them than any cache holds: passes through LAYERS of its layers (6), with the logits of all rows, after 64
   other rows; or, with 0 layers, its three kinds of matrices alone.  Some rows and a single one take turns; printed are, as CSV, the
   quotients of their times, median and quartiles, and on standard error the milliseconds of the single row.  One thread is timed by its
   own clock, several by the clock on the wall.  A part is a type of weights and a way to keep them, as f32.mapped or q4_k.packed; without
   any, all are timed. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "ground/pool.h"
#include "kernels/kernels.h"
#include "model/forward.h"

enum { D = 2048, INNER = 5632, HEADS = 32, KV_HEADS = 4, HEAD = D / HEADS, VOCAB = 32000, BEFORE = 64, MOST = 8, ROUNDS = 99, MATRICES = 256 << 20 };
static unsigned threads = 1;
static int rounds = 15;
static double now(void)
{
  struct timespec t;
  clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}
static void die(const char *what) { fprintf(stderr, "rows: %s\n", what), exit(1); }
static void *plenty(size_t n)
{
  enum { HUGE_PAGE = 2 << 20 };
  char *p = mmap(NULL, n + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) die("no memory");
  p += -(uintptr_t) p % HUGE_PAGE;
  madvise(p, n, MADV_HUGEPAGE);
  return p;
}
/* random weights of about 0.02, whatever the type; what is not a scale is random bits */
static uint64_t drawn = 1;
static uint64_t draw(void) { return drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17, drawn; }
static void fill(char *w, size_t n, enum weight_type type)
{
  size_t bytes = number_types[type].bytes, at = number_types[type].d_at;
  for (size_t i = 0; i + 8 <= n; i += 8) {
    uint64_t u = draw();
    if (type == WEIGHT_F32) u = (u & 0x80ffffff80ffffffu) | 0x3c0000003c000000u;
    if (type == WEIGHT_BF16) u = (u & 0x80ff80ff80ff80ffu) | 0x3c003c003c003c00u;
    memcpy(w + i, &u, 8);
  }
  for (size_t i = 0; number_types[type].block > 1 && i + bytes <= n; i += bytes) {
    w[i + at] = 0, w[i + at + 1] = 0x0c;
    if (type == WEIGHT_Q4_K) w[i + 2] = 0, w[i + 3] = 0x0c;
  }
}

/* the engine of the parts, which all have the same pool */
static struct memory memory;
static struct engine e;
static struct counters counted;
static float *inputs, *outputs[2];

static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
/* one and m rows, turn about */
static void time_rows(const char *part, const char *what, void (*work)(void *, size_t), void *of)
{
  static const size_t some[] = { 1, 2, 3, 4, 6, 8 };
  double ratio[ROUNDS], single[ROUNDS];
  work(of, 1);
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    work(of, some[i]);
    for (int r = 0; r < rounds; r++) {
      double t[3] = { now() };
      work(of, r % 2 ? 1 : some[i]);
      t[1] = now();
      work(of, r % 2 ? some[i] : 1);
      t[2] = now();
      single[r] = t[1 + !(r % 2)] - t[!(r % 2)], ratio[r] = (t[1 + r % 2] - t[r % 2]) / single[r];
    }
    qsort(ratio, (size_t) rounds, sizeof *ratio, smaller), qsort(single, (size_t) rounds, sizeof *single, smaller);
    printf("%s.%s.%zu,%u,%.3f,%.3f,%.3f\n", what, part, some[i], threads, ratio[rounds / 4], ratio[rounds / 2],
      ratio[rounds - 1 - rounds / 4]);
    fflush(stdout), fprintf(stderr, "%.3f ms\n", 1e3 * single[rounds / 2]);
  }
}

/* ---- matrices alone: as many of a shape as fill the block */
struct matrices { struct matrix m; size_t n, bytes; };
static void do_linear(void *of, size_t rows)
{
  const struct matrices *a = of;
  struct matrix m = a->m;
  for (size_t i = 0; i < a->n; i++) {
    m.weight.data = (const char *) a->m.weight.data + i * a->bytes;
    kernels_multiply(&e, &m, 1, inputs, rows, outputs);
  }
}
static void time_matrices(const char *part, char *weights, enum weight_type type, size_t in, size_t out, bool packed)
{
  struct matrices a = { { .weight = { weights, type }, .in = in, .out = out }, .bytes = weight_row_bytes(type, in * out) };
  char what[40];
  a.n = MATRICES / a.bytes;
  struct matrix *each = calloc(a.n, sizeof *each);
  const struct matrix **list = calloc(a.n, sizeof *list);
  for (size_t i = 0; i < a.n; i++) each[i] = a.m, each[i].weight.data = weights + i * a.bytes, list[i] = &each[i];
  struct prepared_weights *p = packed ? prepared_open(&memory, e.k, ACTIVATIONS_DEFAULT, NULL, list, a.n, NULL) : NULL;
  if (packed && p == NULL) die("no memory for panels");
  e.prepared = p;
  snprintf(what, sizeof what, "%zux%zu", in, out);
  time_rows(part, what, do_linear, &a);
  e.prepared = NULL, prepared_close(&memory, p), free(each), free(list);
}

/* ---- passes */
struct passes { struct model lm; struct store *s; char *next; float *logits; };
static struct matrix next_matrix(struct passes *p, enum weight_type type, size_t in, size_t out)
{
  struct matrix m = { .weight = { p->next, type }, .in = in, .out = out };
  p->next += weight_row_bytes(type, in * out);
  return m;
}
static void make_model(struct passes *p, enum weight_type type, uint32_t layers)
{
  static float gain[D], frequency[HEAD / 2];
  struct model *lm = &p->lm;
  for (int i = 0; i < D; i++) gain[i] = 1;
  for (int i = 0; i < HEAD / 2; i++) frequency[i] = (float) pow(10000, -2.0 * i / HEAD);
  lm->config = (struct model_config) { .family = "llama", .vocab_size = VOCAB, .n_positions = 128, .d_model = D, .d_inner = INNER,
    .n_layers = layers, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .head_dim = HEAD, .norm_eps = 1e-5, .gated = true,
    .activation = ACTIVATION_SILU };
  size_t kv = KV_HEADS * HEAD, numbers = (size_t) layers * (2 * D * D + 2 * kv * D + 3 * (size_t) D * INNER) + 2 * (size_t) VOCAB * D;
  size_t bytes = weight_row_bytes(type, numbers);
  char *w = p->next = plenty(bytes);
  fill(w, bytes, type);
  struct norm norm = { .kind = NORM_RMS, .gain = { gain, WEIGHT_F32 }, .epsilon = 1e-5f };
  lm->embedding = next_matrix(p, type, D, VOCAB).weight;
  lm->layers = calloc(layers, sizeof *lm->layers);
  for (uint32_t i = 0; i < layers; i++) {
    struct model_layer *l = &lm->layers[i];
    l->attn_norm = l->mlp_norm = norm, l->n_qkv = 3, l->n_up = 2;
    l->qkv[0] = next_matrix(p, type, D, D), l->qkv[1] = next_matrix(p, type, D, kv), l->qkv[2] = next_matrix(p, type, D, kv);
    l->out = next_matrix(p, type, D, D);
    l->up[0] = next_matrix(p, type, D, INNER), l->up[1] = next_matrix(p, type, D, INNER), l->down = next_matrix(p, type, INNER, D);
  }
  lm->final_norm = norm, lm->head = next_matrix(p, type, D, VOCAB), lm->frequency = frequency;
  lm->attention = (struct attention_dims) { HEADS, KV_HEADS, HEAD, 1 / sqrtf((float) HEAD), .cap = 0 };
  lm->matrix_types = 1u << type;
}
static void do_pass(void *of, size_t rows)
{
  struct passes *p = of;
  struct row row[BEFORE];
  size_t which[BEFORE];
  struct pass *pass;
  struct error why;
  uint32_t from = (uint32_t) store_length(p->s, 0);
  for (size_t i = 0; i < rows; i++) row[i] = (struct row) { 0, from + (uint32_t) i, 7 + (uint32_t) i * 100 }, which[i] = i;
  if (!model_forward(&e, &p->lm, p->s, row, rows, &pass, &why) || !model_logits(&e, &p->lm, pass, which, rows, p->logits, &why)) die(why.text);
  pass_close(pass);
  store_crop(p->s, 0, BEFORE);
}
static void time_passes(const char *part, enum weight_type type, uint32_t layers, bool packed)
{
  struct passes p = { .logits = malloc((size_t) BEFORE * VOCAB * sizeof (float)) };
  struct error why;
  make_model(&p, type, layers);
  char *w = (char *) (uintptr_t) p.lm.embedding.data;
  if ((p.s = array_store_open(&memory, &p.lm.config, &why)) == NULL) die(why.text);
  struct prepared_weights *ready = packed ? model_prepare(&memory, e.k, ACTIVATIONS_DEFAULT, &p.lm, &why) : NULL;
  if (packed && ready == NULL) die(why.text);
  e.prepared = ready;
  do_pass(&p, BEFORE);
  time_rows(part, "pass", do_pass, &p);
  e.prepared = NULL, prepared_close(&memory, ready), store_close(p.s);
  munmap(w, (size_t) (p.next - w)), free(p.lm.layers), free(p.logits);
}

/* what the machine can do, in thousand millions a second: multiply-adds, and bytes read from the weights */
static void print_probe(const char *name, double *rate)
{
  qsort(rate, (size_t) rounds, sizeof *rate, smaller);
  printf("probe.%s,%u,%.3f,%.3f,%.3f\n", name, threads, rate[rounds / 4] / 1e9, rate[rounds / 2] / 1e9,
    rate[rounds - 1 - rounds / 4] / 1e9);
}
static void time_probes(void)
{
  enum { READ = 64 << 20 };
  float *x = plenty(4 * (size_t) READ), left;
  double madds[ROUNDS], bytes[ROUNDS];
  for (size_t i = 0; i < READ; i++) x[i] = 1;
  for (int r = 0; r < rounds; r++) {
    double t = now(), n = (double) e.k->probe_flops(1 << 26, &left);
    madds[r] = n / (now() - t), t = now();
    left += e.k->probe_bandwidth(x, READ);
    bytes[r] = 4.0 * READ / (now() - t);
  }
  print_probe("madds", madds), print_probe("bytes", bytes);
  munmap(x, 4 * (size_t) READ);
}

int main(int argc, char **argv)
{
  static const enum weight_type types[] = { WEIGHT_F32, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q4_K };
  static const char *const names[] = { "f32", "bf16", "q8_0", "q4_k" };
  uint32_t layers = argc > 4 ? (uint32_t) atoi(argv[4]) : 6;
  struct error why;
  e.k = kernels_find(argc > 1 && argv[1][0] ? argv[1] : NULL, &why), e.c = &counted;
  threads = argc > 2 ? (unsigned) atoi(argv[2]) : 1, rounds = argc > 3 ? atoi(argv[3]) : 15;
  if (e.k == NULL) die(why.text);
  if (threads < 1 || rounds < 1 || rounds > ROUNDS) die("wanted: threads, and 1 to 99 rounds");
  if ((e.pool = pool_open(&memory, threads, &why)) == NULL || !pool_reserve(e.pool, 16 << 20, &why)) die(why.text);
  inputs = plenty(MOST * (size_t) VOCAB * 4), outputs[0] = plenty(MOST * (size_t) VOCAB * 4);
  for (size_t i = 0; i < MOST * (size_t) VOCAB; i++) inputs[i] = (float) (int32_t) draw() * 0x1p-31f;
  char *weights = layers > 0 ? NULL : plenty(MATRICES);
  printf("work,threads,low,ratio,high\n");
  if (threads == 1) time_probes();
  for (size_t i = 0; i < 4; i++)
    for (int packed = 0; packed < 2; packed++) {
      char part[20];
      snprintf(part, sizeof part, "%s.%s", names[i], packed ? "packed" : "mapped");
      bool asked = argc <= 5;
      for (int a = 5; a < argc; a++) asked |= strcmp(argv[a], part) == 0;
      if (!asked) continue;
      if (layers > 0) time_passes(part, types[i], layers, packed);
      if (layers > 0) continue;
      fill(weights, MATRICES, types[i]);
      time_matrices(part, weights, types[i], D, D, packed);
      time_matrices(part, weights, types[i], D, INNER, packed);
      time_matrices(part, weights, types[i], INNER, D, packed);
    }
  return 0;
}
