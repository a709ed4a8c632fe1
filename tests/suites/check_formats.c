/* check_formats.c -- a model whose weights are of any type has one answer in each format of activations: the same bits from every
   table of kernels, with any number of workers, in one pass, in chunks or row by row, with prepared weights or as they are. */
#include "blocks.h"
#include "suite.h"
#include <math.h>
#include "cache/cache.h"
#include "functions/numbers.h"
#include "kernels/kernels.h"
#include "kernels/parts.h"
#include "model/forward.h"

enum { D = 256, HEADS = 4, KV = 2, HD = 64, FF = 512, V = 70, LAYERS = 2, N = 9 };
struct rounded {
  struct model lm;
  struct model_layer layer[LAYERS];
  float gain[D], frequency[HD / 2];
  void *taken[64];
  size_t n;
};
static uint64_t seed;
static size_t below(size_t n)
{
  return (size_t) (rnd(&seed) % n);
}
static float around_zero(void)
{
  double s = -2;
  for (int i = 0; i < 4; i++) s += (double) (rnd(&seed) >> 11) * 0x1p-53;
  return (float) s;
}
/* any bytes behind sane scales for types that are only read, rounded numbers for the others */
static struct tensor tensor_of(struct rounded *r, enum weight_type type, size_t in, size_t out)
{
  size_t n = in * out, bytes = weight_row_bytes(type, n);
  unsigned char *p = r->taken[r->n++] = malloc(bytes);
  ck_assert(p != NULL && r->n < 64);
  if (!number_types[type].is_written) {
    for (size_t i = 0; i < bytes; i++) p[i] = (unsigned char) below(256);
    put_scales(type, p, n / number_types[type].block, 0.09f);
    return (struct tensor){ p, type };
  }
  struct error why;
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = around_zero() / sqrtf((float) in);
  ck_assert_msg(weights_encode(type, x, n, p, &why), "%s", why.text);
  free(x);
  return (struct tensor){ p, type };
}
/* type N_WEIGHT_TYPES: each matrix of its own */
static struct matrix matrix_of(struct rounded *r, unsigned type, size_t in, size_t out)
{
  enum weight_type t = (enum weight_type) (type < N_WEIGHT_TYPES ? type : below(N_WEIGHT_TYPES));
  r->lm.matrix_types |= 1u << t;
  struct matrix m = { .weight = tensor_of(r, t, in, out), .in = in, .out = out };
  if (below(2)) m.bias = tensor_of(r, WEIGHT_F32, out, 1);
  return m;
}
static void make(struct rounded *r, unsigned type)
{
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < D; i++) r->gain[i] = 1 + around_zero() / 8;
  struct norm norm = { .kind = NORM_RMS, .gain = { r->gain, WEIGHT_F32 }, .epsilon = 1e-5f };
  uint32_t layers = type < N_WEIGHT_TYPES ? 1 : LAYERS; /* of one type, the second would ask what the first has asked */
  for (uint32_t i = 0; i < layers; i++) {
    struct model_layer *l = &r->layer[i];
    l->attn_norm = l->mlp_norm = norm, l->n_qkv = 3, l->n_up = 2;
    l->qkv[0] = matrix_of(r, type, D, HEADS * HD);
    l->qkv[1] = matrix_of(r, type, D, KV * HD), l->qkv[2] = matrix_of(r, type, D, KV * HD);
    l->out = matrix_of(r, type, HEADS * HD, D);
    l->up[0] = matrix_of(r, type, D, FF), l->up[1] = matrix_of(r, type, D, FF);
    l->down = matrix_of(r, type, FF, D);
  }
  r->lm.config = (struct model_config){ .family = "llama", .vocab_size = V, .n_positions = 64,
    .d_model = D, .d_inner = FF, .n_layers = layers, .n_heads = HEADS, .n_kv_heads = KV, .head_dim = HD,
    .norm_eps = 1e-5, .gated = true };
  r->lm.embedding = tensor_of(r, (enum weight_type) (type % N_WEIGHT_TYPES), D, V);
  r->lm.layers = r->layer, r->lm.final_norm = norm;
  r->lm.head = matrix_of(r, type, D, V);
  r->lm.attention = (struct attention_dims){ HEADS, KV, HD, 1 / sqrtf(HD) };
  for (int i = 0; i < HD / 2; i++) r->frequency[i] = powf(10000, -2.0f * (float) i / HD);
  r->lm.frequency = r->frequency;
}
static void clear(struct rounded *r)
{
  while (r->n > 0) free(r->taken[--r->n]);
}
/* the logits of all N rows, read chunk tokens at a time */
static void read_text(struct engine *e, struct memory *m, const struct rounded *r, uint32_t chunk, float *logits)
{
  struct error why = { "" };
  struct store *s = cache_open(m, &r->lm.config, 1, &(struct cache_options){ .rows = 0 }, &why);
  ck_assert_msg(s != NULL, "%s", why.text);
  for (uint32_t at = 0; at < N; at += chunk) {
    struct row row[N];
    size_t which[N], n = N - at < chunk ? N - at : chunk;
    struct pass *p;
    for (uint32_t i = 0; i < n; i++) row[i] = (struct row){ 0, at + i, (at + i) * 7 % V }, which[i] = i;
    ck_assert_msg(model_forward(e, &r->lm, s, row, n, &p, &why)
        && model_logits(e, &r->lm, p, which, n, logits + at * V, &why), "%s", why.text);
    pass_close(p);
  }
  store_close(s);
}
/* the second pair of functions of AVX-512, which a processor with VNNI would never take; false for other tables */
#if defined __x86_64__
static void (*prepare_floats)(const struct matrix *w, enum activations format, void *to);
static void prepare_either(const struct matrix *w, enum activations format, void *to)
{
  (format == ACTIVATIONS_INT8 ? blocks_avx512.prepare : prepare_floats)(w, format, to);
}
#endif
static bool without_vnni(struct kernels *k)
{
#if defined __x86_64__
  if (strcmp(k->name, "avx512") != 0) return false;
  prepare_floats = k->prepare;
  k->linear_int8 = blocks_avx512.linear, k->prepare = prepare_either;
  return true;
#else
  return k == NULL;
#endif
}
static void one_model(unsigned type)
{
  static struct rounded r;
  static float truth[N * V], logits[N * V], floats[N * V];
  struct memory m = { 0 };
  struct counters c = { 0 };
  size_t tables = 0;
  while (kernels_at(tables) != NULL) tables++;
  make(&r, type);
  for (int a = ACTIVATIONS_DEFAULT; a <= ACTIVATIONS_INT8; a++) {
    struct error why;
    struct engine plain = { .k = &kernels_plain, .c = &c, .activations = (enum activations) a };
    if (!kernels_check_activations(plain.k, plain.activations, r.lm.matrix_types, "it", &why)) {
      struct row row = { 0, 0, 1 }; /* and a pass says so */
      struct pass *p;
      struct store *s = cache_open(&m, &r.lm.config, 1, &(struct cache_options){ .rows = 0 }, &why);
      ck_assert(!model_forward(&plain, &r.lm, s, &row, 1, &p, &why) && strstr(why.text, "activations for matrices of"));
      store_close(s);
      continue;
    }
    read_text(&plain, &m, &r, N, truth);
    for (int i = 0; i < N * V; i++) ck_assert(truth[i] - truth[i] == 0 && fabsf(truth[i]) < 1e3f);
    if (a == ACTIVATIONS_F32) memcpy(floats, truth, sizeof floats);
    if (a > ACTIVATIONS_F32) ck_assert(memcmp(truth, floats, sizeof truth) != 0); /* the format does something */
    /* every table, one to three workers, the text whole, row by row and in chunks, mapped and packed. Of three ways that differ only
       in the number of workers two are gone, by turns from type to type, from format to format and from table to table, so that any
       two of these choices meet in each type, and all three in some. The plain table knows neither workers nor panels (check_paths,
       which goes all ways) */
    for (size_t k = 0; k < 2 * tables; k++)
      for (unsigned way = 0; way < 18; way++) {
        if (k < 2 ? way > 2 && way != 15 : (way % 3 + way / 3 % 3 + way / 9 + k + type + (unsigned) a) % 3 != 0) continue;
        struct kernels table = *kernels_at(k / 2);
        struct engine e = { .k = &table, .c = &c, .activations = (enum activations) a };
        unsigned workers = 1 + way / 3 % 3;
        uint32_t chunk = way % 3 == 0 ? N : way % 3 == 1 ? 1 : 2 + (uint32_t) below(4);
        struct prepared_weights *p = NULL;
        if (k % 2 == 1 && !without_vnni(&table)) break;
        e.pool = pool_open(&m, workers, &why);
        if (way >= 9) p = model_prepare(&m, e.k, e.activations, &r.lm, &why), e.prepared = p;
        ck_assert(e.pool != NULL && (p != NULL) == (way >= 9));
        read_text(&e, &m, &r, chunk, logits);
        ck_assert_msg(memcmp(logits, truth, sizeof truth) == 0, "%s: weights %s, format %d, %u workers, chunks of %u%s",
          e.k->name, type < N_WEIGHT_TYPES ? number_types[type].name : "mixed", a, workers, chunk, p != NULL ? ", prepared" : "");
        prepared_close(&m, p), pool_close(&m, e.pool);
      }
  }
  ck_assert_uint_eq(m.all.live, 0);
  clear(&r);
}
START_TEST(every_type_has_one_answer_in_each_format)
{
  seed = suite_seed() + (unsigned) _i;
  one_model((unsigned) _i);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("formats");
  TCase *t = tcase_create("formats");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, every_type_has_one_answer_in_each_format, 0, N_WEIGHT_TYPES + 3);
  suite_add_tcase(s, t);
  return suite_run(s);
}
