/* check_paths.c -- promise P2 as one grid. A text has one array of logits for each model, type of weights, format of activations and
   type of cache, whatever the path: the table of kernels, 1 to 3 threads, the text in one pass, in chunks or row by row, the weights
   where their file is mapped or packed in panels. Every logit of every cell is compared with ==.
   check_formats.c has every type of blocks at few positions; here the weights are files, heads are grouped, widths are odd, both
   families are there, the text goes on beyond the first block of attention, and one row is enough work to be divided. */
#define _GNU_SOURCE
#include <math.h>
#include <sys/stat.h>
#include "blocks.h"
#include "choices.h"
#include "variants.h"
#include "accounts/formats.h"
#include "functions/numbers.h"
#include "gguf/writing.h"
#include "kernels/parts.h"
#include "library/incipit.h"
#include "model/quantization.h"
#include "command/quantize.h"

/* ---- models, written to files with random weights */
struct shape {
  const char *family;
  uint32_t d, heads, kv, hd, ff, v, layers;
  uint32_t tail, n; /* the text has n tokens; slow tables read those from tail on, after rows that a fast one has read */
};
/* each family with odd widths, with blocks of 32, and with blocks of 256. In each, one row by the matrices of any one step is more
   than 65536 multiply-adds: the kernels divide it among the workers */
enum { DIVIDED = 65536, ODD = 0, SMALL_BLOCKS = 1, LARGE_BLOCKS = 2, MOST_N = 262, MOST_V = 300 };
static const struct shape shapes[2][3] = {
  { { "llama", 250, 6, 2, 44, 270, 263, 2, 253, MOST_N }, { "llama", 288, 9, 3, 32, 320, 233, 2, 253, MOST_N },
    { "llama", 256, 8, 2, 32, 512, 261, 2, 253, MOST_N } },
  { { "gpt2", 264, 6, 6, 44, 280, 263, 1, 0, 13 }, { "gpt2", 288, 9, 9, 32, 320, 233, 1, 0, 13 },
    { "gpt2", 256, 4, 4, 64, 512, 261, 1, 0, 13 } } };
static const enum weight_type types[] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q4_0, WEIGHT_Q4_K };
enum { N_TYPES = sizeof types / sizeof *types };
static const struct shape *shape_for(int family, enum weight_type type)
{
  unsigned block = number_types[type].block;
  return &shapes[family][block == 1 ? ODD : block == WEIGHT_BLOCK ? SMALL_BLOCKS : LARGE_BLOCKS];
}

static uint64_t seed;
static uint32_t ids[MOST_N];
static float around_zero(void)
{
  double s = -2;
  for (int i = 0; i < 4; i++) s += (double) (rnd(&seed) >> 11) * 0x1p-53;
  return (float) s;
}
/* numbers around middle; a type that is only read gets any bytes behind sane scales */
static unsigned char *weights_of(enum weight_type type, size_t n, float scale, float middle)
{
  size_t bytes = weight_row_bytes(type, n);
  unsigned char *p = malloc(bytes);
  if (!number_types[type].is_written) {
    for (size_t i = 0; i < bytes; i++) p[i] = (unsigned char) rnd(&seed);
    put_scales(type, p, n / number_types[type].block, 0.09f);
    return p;
  }
  struct error why;
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = middle + scale * around_zero();
  ck_assert_msg(weights_encode(type, x, n, p, &why), "%s", why.text);
  free(x);
  return p;
}
struct sheet {
  char name[160];
  enum weight_type type;
  uint32_t rank;
  uint64_t shape[2];
  unsigned char *byte;
  size_t n;
};
struct draft {
  const struct tensor_layout *layout;
  struct sheet sheet[64];
  size_t n;
};
static void draft_add(struct draft *d, enum tensor_role role, uint32_t layer, const char *what, enum weight_type type,
  uint64_t out, uint64_t in, float scale, float middle)
{
  struct sheet *s = &d->sheet[d->n++];
  bool turned = d->layout->of[role].transposed && in > 0;
  ck_assert_uint_le(d->n, 64);
  layout_name(d->layout, role, d->layout->prefix == NULL ? "" : d->layout->prefix, layer, what, s->name);
  s->type = type, s->rank = in > 0 ? 2 : 1, s->shape[0] = turned ? in : out, s->shape[1] = turned ? out : in;
  size_t count = (size_t) (in > 0 ? in * out : out);
  s->byte = weights_of(type, count, scale, middle), s->n = weight_row_bytes(type, count);
}
static void draft_norm(struct draft *d, enum tensor_role role, uint32_t layer, const struct shape *a, bool bias)
{
  draft_add(d, role, layer, "weight", WEIGHT_F32, a->d, 0, .1f, 1);
  if (bias) draft_add(d, role, layer, "bias", WEIGHT_F32, a->d, 0, .1f, 0);
}
static void draft_matrix(struct draft *d, enum tensor_role role, uint32_t layer, enum weight_type type, size_t in, size_t out,
  bool bias)
{
  draft_add(d, role, layer, "weight", type, out, in, 2 / sqrtf((float) in), 0);
  if (bias) draft_add(d, role, layer, "bias", WEIGHT_F32, out, 0, .1f, 0);
}
static void draft_make(struct draft *d, const struct shape *a, enum weight_type type, const char *format)
{
  bool gpt = strcmp(a->family, "gpt2") == 0;
  size_t q = (size_t) a->heads * a->hd, kv = (size_t) a->kv * a->hd;
  d->n = 0, d->layout = layout_find(format, a->family);
  draft_add(d, TENSOR_EMBEDDING, 0, "weight", type, a->v, a->d, 1, 0);
  if (gpt) draft_add(d, TENSOR_POSITIONS, 0, "weight", type, a->n, a->d, 1, 0);
  draft_norm(d, TENSOR_FINAL_NORM, 0, a, gpt);
  if (!gpt) draft_matrix(d, TENSOR_HEAD, 0, type, a->d, a->v, false);
  for (uint32_t i = 0; i < a->layers; i++) {
    draft_norm(d, TENSOR_ATTN_NORM, i, a, gpt), draft_norm(d, TENSOR_MLP_NORM, i, a, gpt);
    if (gpt) draft_matrix(d, TENSOR_QKV, i, type, a->d, 3 * q, true);
    else {
      draft_matrix(d, TENSOR_Q, i, type, a->d, q, false);
      draft_matrix(d, TENSOR_K, i, type, a->d, kv, false), draft_matrix(d, TENSOR_V, i, type, a->d, kv, false);
      draft_matrix(d, TENSOR_GATE, i, type, a->d, a->ff, false);
    }
    draft_matrix(d, TENSOR_OUT, i, type, q, a->d, gpt), draft_matrix(d, TENSOR_UP, i, type, a->d, a->ff, gpt);
    draft_matrix(d, TENSOR_DOWN, i, type, a->ff, a->d, gpt);
  }
}
static void write_gguf(const struct draft *d, const struct shape *a, const char *path)
{
  struct memory m = { 0 };
  struct error why;
  struct gguf_draft g = { .m = &m, .ok = true, .why = &why };
  bool gpt = strcmp(a->family, "gpt2") == 0;
  char key[80];
#define KEY(name) (snprintf(key, sizeof key, "%s.%s", a->family, name), key)
  gguf_add_text(&g, "general.architecture", a->family, strlen(a->family));
  gguf_add_count(&g, KEY("context_length"), a->n), gguf_add_count(&g, KEY("embedding_length"), a->d);
  gguf_add_count(&g, KEY("block_count"), a->layers), gguf_add_count(&g, KEY("feed_forward_length"), a->ff);
  gguf_add_count(&g, KEY("attention.head_count"), a->heads), gguf_add_count(&g, KEY("attention.head_count_kv"), a->kv);
  gguf_add_count(&g, KEY("attention.key_length"), a->hd);
  gguf_add_real(&g, KEY(gpt ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"), 1e-5);
#undef KEY
  for (size_t i = 0; i < d->n; i++) gguf_add_tensor(&g, d->sheet[i].name, d->sheet[i].type, d->sheet[i].rank, d->sheet[i].shape);
  FILE *f = fopen(path, "wb");
  ck_assert_msg(f != NULL && gguf_write_draft(&g, f), "%s: %s", path, why.text);
  for (size_t i = 0; i < d->n; i++) fwrite(d->sheet[i].byte, 1, d->sheet[i].n, f), gguf_write_padding(f, d->sheet[i].n);
  ck_assert_int_eq(fclose(f), 0);
  gguf_draft_free(&g);
  ck_assert_uint_eq(m.all.live, 0);
}
/* the numbers begin at an odd byte: no kernel may count on more */
static void write_directory(const struct draft *d, const struct shape *a, const char *dir)
{
  static const char *const llama = "\"model_type\":\"llama\",\"hidden_size\":%u,\"num_attention_heads\":%u,\"num_key_value_heads\":%u,"
    "\"head_dim\":%u,\"intermediate_size\":%u,\"vocab_size\":%u,\"num_hidden_layers\":%u,\"max_position_embeddings\":%u,"
    "\"hidden_act\":\"silu\",\"rms_norm_eps\":1e-5,\"rope_theta\":10000.0,\"attention_bias\":false,\"mlp_bias\":false,"
    "\"tie_word_embeddings\":false,\"bos_token_id\":1,\"eos_token_id\":2";
  static const char *const gpt2 = "\"model_type\":\"gpt2\",\"n_embd\":%u,\"n_head\":%u,\"n_inner\":%u,\"vocab_size\":%u,"
    "\"n_layer\":%u,\"n_positions\":%u,\"n_ctx\":%u,\"activation_function\":\"gelu_new\",\"layer_norm_epsilon\":1e-5,"
    "\"bos_token_id\":1,\"eos_token_id\":2";
  static char text[16384];
  char path[400];
  size_t n = 0, at = 0;
  mkdir(dir, 0777);
  variant_path(path, dir, "config.json");
  FILE *f = fopen(path, "w");
  fputc('{', f);
  if (strcmp(a->family, "llama") == 0)
    fprintf(f, llama, a->d, a->heads, a->kv, a->hd, a->ff, a->v, a->layers, a->n);
  else fprintf(f, gpt2, a->d, a->heads, a->ff, a->v, a->layers, a->n, a->n);
  fputc('}', f);
  ck_assert_int_eq(fclose(f), 0);
  for (size_t i = 0; i < d->n; i++, at += d->sheet[i - 1].n) {
    const struct sheet *s = &d->sheet[i];
    n += (size_t) snprintf(text + n, sizeof text - n, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%u", i > 0 ? "," : "{", s->name,
      number_types[s->type].name, (unsigned) s->shape[0]);
    if (s->rank > 1) n += (size_t) snprintf(text + n, sizeof text - n, ",%u", (unsigned) s->shape[1]);
    n += (size_t) snprintf(text + n, sizeof text - n, "],\"data_offsets\":[%zu,%zu]}", at, at + s->n);
  }
  text[n++] = '}';
  while (n % 8 != 3) text[n++] = ' ';
  ck_assert_uint_lt(n, sizeof text);
  uint64_t length = n;
  variant_path(path, dir, "model.safetensors"), f = fopen(path, "wb");
  fwrite(&length, 8, 1, f), fwrite(text, 1, n, f);
  for (size_t i = 0; i < d->n; i++) fwrite(d->sheet[i].byte, 1, d->sheet[i].n, f);
  ck_assert_int_eq(fclose(f), 0);
}

/* ---- tables of kernels: AVX-512 has a second pair of functions for int8, and one for bf16, and a processor takes one by itself */
struct table {
  char name[32];
  struct kernels k;
  bool in_c; /* all of it is plain C, which is slow */
  bool pairs; /* its product of bf16 is not that of the plain table */
};
static struct table tables[8];
static size_t n_tables;
static bool fastest_has_pairs;
static void table_add(const char *name, const struct kernels *k)
{
  struct table *t = &tables[n_tables++];
  snprintf(t->name, sizeof t->name, "%s", name);
  t->k = *k, t->pairs = false, t->in_c = strcmp(name, "plain") == 0 || strcmp(name, "scalar") == 0;
}
#if defined __x86_64__
static void (*prepare_by_processor)(const struct matrix *w, enum activations format, void *to);
static size_t (*bytes_by_processor)(const struct matrix *w, enum activations format);
static void prepare_without(const struct matrix *w, enum activations format, void *to)
{
  (format == ACTIVATIONS_INT8 ? blocks_avx512.prepare : prepare_by_processor)(w, format, to);
}
static size_t bytes_without(const struct matrix *w, enum activations format)
{
  return format == ACTIVATIONS_BF16 ? 0 : bytes_by_processor(w, format);
}
#endif
static void find_tables(void)
{
  n_tables = 0;
  for (size_t i = 0; kernels_at(i) != NULL; i++) table_add(kernels_at(i)->name, kernels_at(i));
#if defined __x86_64__
  const struct kernels *k = kernels_find("avx512", NULL);
  bool vnni = __builtin_cpu_supports("avx512vnni"), pairs = __builtin_cpu_supports("avx512bf16");
  if (k == NULL || !(vnni || pairs)) return;
  struct table *t = &tables[n_tables - 1];
  snprintf(t->name, sizeof t->name, "avx512%s%s", vnni ? " with vnni" : "", pairs ? " with bf16" : "");
  t->pairs = fastest_has_pairs = pairs;
  table_add("avx512", k), t++;
  prepare_by_processor = k->prepare, bytes_by_processor = k->prepared_bytes;
  t->k.linear_int8 = blocks_avx512.linear, t->k.linear_bf16 = plain_linear_bf16;
  t->k.prepare = prepare_without, t->k.prepared_bytes = bytes_without;
#endif
}
static void tell_tables(void)
{
  static const char *const wanted[] = { "plain", "scalar",
#if defined __x86_64__
    "avx2", "avx512"
#elif defined __aarch64__
    "neon"
#endif
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (kernels_find(wanted[i], NULL) == NULL) printf("NOT RUN: kernels %s, which this machine lacks\n", wanted[i]);
#if defined __x86_64__
  if (!__builtin_cpu_supports("avx512vnni")) printf("NOT RUN: int8 products of AVX512-VNNI, which this machine lacks\n");
  if (!__builtin_cpu_supports("avx512bf16")) printf("NOT RUN: bf16 products of AVX512-BF16, which this machine lacks\n");
#endif
  printf("seed %llu\n", (unsigned long long) suite_seed());
}

/* ---- one reading of the text, and one cell of the grid */
enum pieces { WHOLE, CHUNKED, SINGLE };
static const char *const piece_name[] = { "whole", "chunked", "single rows" };
static uint32_t piece(enum pieces p, size_t number, uint32_t left)
{
  static const uint32_t chunk[] = { 4, 5, 1, 3, 37, 13, 97 };
  uint32_t n = p == WHOLE ? left : p == SINGLE ? 1 : chunk[number % (sizeof chunk / sizeof *chunk)];
  return n < left ? n : left;
}
static void read_text(struct engine *e, const struct model *lm, struct store *s, uint32_t sequence, uint32_t from, uint32_t to,
  enum pieces p, float *logits)
{
  struct error why = { "" };
  size_t number = 0, v = lm->config.vocab_size;
  for (uint32_t at = from, n; at < to; at += n) {
    struct row row[MOST_N];
    size_t which[MOST_N];
    struct pass *pass;
    n = piece(p, number++, to - at);
    for (uint32_t i = 0; i < n; i++) row[i] = (struct row){ sequence, at + i, ids[at + i] % (uint32_t) v }, which[i] = i;
    ck_assert_msg(model_forward(e, lm, s, row, n, &pass, &why) && model_logits(e, lm, pass, which, n, logits + at * v, &why), "%s",
      why.text);
    pass_close(pass);
  }
}
struct grid {
  struct memory m;
  struct counters c;
  struct model *lm;
  const struct shape *a;
  enum weight_type type;
  enum activations format;
  const struct kv_format *kv;
  struct store *s; /* sequence 0: the tokens up to tail; sequence 1: of a cell */
  struct pool *pool[4];
  float truth[MOST_N * MOST_V], found[MOST_N * MOST_V];
  unsigned cells, rows;
};
static struct grid g;
static const char *format_name(enum activations f)
{
  return f == ACTIVATIONS_INT8 ? "int8" : f == ACTIVATIONS_BF16 ? "bf16" : "f32";
}
static void compare(uint32_t from, uint32_t to, const char *table, unsigned threads, enum pieces p, bool packed)
{
  size_t v = g.lm->config.vocab_size;
  for (size_t i = from * v; i < to * v; i++)
    if (memcmp(&g.found[i], &g.truth[i], sizeof *g.found) != 0)
      ck_abort_msg("%s %s, activations %s, cache %s: %s, %u threads, %s, %s: position %zu, logit %zu: %a, not %a; seed %llu",
        g.a->family, number_types[g.type].name, format_name(g.format), g.kv == NULL ? "f32" : g.kv->name, table, threads,
        piece_name[p], packed ? "packed" : "mapped", i / v, i % v, (double) g.found[i], (double) g.truth[i],
        (unsigned long long) suite_seed());
}
/* the text, or its end after the rows of sequence 0, along one path */
static void cell(const struct table *t, const struct prepared_weights *p, unsigned threads, enum pieces how, bool all)
{
  struct error why;
  struct engine e = { .k = &t->k, .pool = g.pool[threads], .c = &g.c, .prepared = p, .activations = g.format };
  uint32_t from = all ? 0 : g.a->tail;
  store_crop(g.s, 1, 0);
  if (from > 0) ck_assert(store_fork(g.s, 0, 1, &why));
  memset(g.found, 0, sizeof g.found);
  read_text(&e, g.lm, g.s, 1, from, g.a->n, how, g.found);
  compare(from, g.a->n, t->name, threads, how, p != NULL);
  g.cells++, g.rows += g.a->n - from;
}
/* the reference: table scalar, one thread without a pool, row by row, mapped; at first positions and at last ones. The rows between
   are read by the fastest table in one pass, and by every path that reads all against it. Where nothing has a fast product of bf16,
   they are read with float activations: any rows will do before the last ones, if they are the same for all paths */
static void find_truth(void)
{
  struct engine scalar = { .k = kernels_find("scalar", NULL), .c = &g.c, .activations = g.format };
  struct engine fast = { .k = kernels_find(NULL, NULL), .pool = g.pool[1], .c = &g.c, .activations = g.format };
  struct error why;
  bool quick = g.format != ACTIVATIONS_BF16 || fastest_has_pairs;
  store_crop(g.s, 0, 0), store_crop(g.s, 1, 0);
  if (g.a->tail > 0) {
    if (!quick) fast.activations = ACTIVATIONS_F32;
    read_text(&fast, g.lm, g.s, 0, 0, g.a->tail, WHOLE, g.truth);
    if (quick) read_text(&scalar, g.lm, g.s, 1, 0, 3, SINGLE, g.found), compare(0, 3, "scalar", 1, SINGLE, false);
    store_crop(g.s, 1, 0);
    ck_assert(store_fork(g.s, 0, 1, &why));
  }
  read_text(&scalar, g.lm, g.s, 1, g.a->tail, g.a->n, SINGLE, g.truth);
  size_t v = g.lm->config.vocab_size;
  for (size_t i = 0; i < g.a->n * v; i++)
    hold_msg(g.truth[i] - g.truth[i] == 0 && fabsf(g.truth[i]) < 1e3f, "a logit is %g", (double) g.truth[i]);
  hold(memcmp(g.truth + (g.a->n - 1) * v, g.truth + (g.a->n - 2) * v, v * sizeof *g.truth) != 0);
}
/* Does this cell read all of the text, or its end? Fast tables read all of it along all paths, if a product is fast, too: numbers of
   Q4_K are taken one by one where activations are floats, and bf16 has a fast product only in one table. What is slow reads all of
   it along one path; where that would take seconds, the end is enough */
static bool reads_all(const struct table *t, unsigned threads, enum pieces how, bool packed)
{
  bool large_blocks = number_types[g.type].block > WEIGHT_BLOCK && g.format == ACTIVATIONS_F32;
  bool plain_pairs = g.format == ACTIVATIONS_BF16 && !t->pairs;
  if (!t->in_c && !large_blocks && !plain_pairs && g.kv == NULL && LESS == 1) return true;
  if (threads != 3 || how != WHOLE || packed || plain_pairs) return false;
  return !t->in_c || g.format == ACTIVATIONS_INT8 || (g.type == WEIGHT_F32 && LESS == 1);
}
/* all paths in one format of activations; table plain knows neither threads nor panels */
static void one_format(void)
{
  unsigned empty = 0;
  g.cells = g.rows = 0;
  find_truth();
  for (size_t i = 0; i < n_tables; i++) {
    struct table *t = &tables[i];
    bool plain = strcmp(t->name, "plain") == 0;
    for (int packed = 0; packed < 2; packed++) {
      struct error why;
      struct prepared_weights *p = NULL;
      if (packed) p = model_prepare(&g.m, &t->k, g.format, g.lm, &why), ck_assert_msg(p != NULL, "%s", why.text);
      if (packed && p->n == 0) {
        empty++, prepared_close(&g.m, p);
        continue;
      }
      for (unsigned threads = 1; threads <= (plain ? 1 : 3); threads++)
        for (int how = WHOLE; how <= SINGLE; how++)
          cell(t, p, threads, (enum pieces) how, reads_all(t, threads, (enum pieces) how, packed));
      prepared_close(&g.m, p);
    }
  }
  printf("%s %s, activations %s, cache %s: %u cells, %u rows%s\n", g.a->family, number_types[g.type].name, format_name(g.format),
    g.kv == NULL ? "f32" : g.kv->name, g.cells, g.rows, empty == n_tables ? "; no table packs these" : "");
}
static void grid_open(int family, enum weight_type type, const struct kv_format *kv, char dir[200])
{
  static struct draft d;
  char path[400];
  struct error why;
  const char *t = getenv("TMPDIR"), *format = number_types[type].safetensors ? "safetensors" : "gguf";
  memset(&g, 0, sizeof g);
  seed = suite_seed() + (uint64_t) (family * 100 + (int) type);
  for (int i = 0; i < MOST_N; i++) ids[i] = (uint32_t) (rnd(&seed) >> 40);
  g.a = shape_for(family, type), g.type = type, g.kv = kv;
  snprintf(dir, 200, "%.150s/incipit-paths-XXXXXX", t != NULL ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  draft_make(&d, g.a, type, format);
  snprintf(path, sizeof path, "%s%s", dir, strcmp(format, "gguf") == 0 ? "/model.gguf" : "");
  if (strcmp(format, "gguf") == 0) write_gguf(&d, g.a, path);
  else write_directory(&d, g.a, path);
  while (d.n > 0) free(d.sheet[--d.n].byte);
  g.lm = model_open(&g.m, path, &why);
  ck_assert_msg(g.lm != NULL, "%s", why.text);
  const struct model_layer *l = g.lm->layers;
  size_t qkv = 0, up = 0;
  for (size_t i = 0; i < l->n_qkv; i++) qkv += l->qkv[i].in * l->qkv[i].out;
  for (size_t i = 0; i < l->n_up; i++) up += l->up[i].in * l->up[i].out;
  ck_assert(qkv >= DIVIDED && up >= DIVIDED && l->out.in * l->out.out >= DIVIDED && l->down.in * l->down.out >= DIVIDED
    && g.lm->head.in * g.lm->head.out >= DIVIDED && g.a->v <= MOST_V);
  ck_assert(l->out.transposed == (family == 1 && number_types[type].safetensors));
  for (unsigned i = 1; i <= 3; i++) ck_assert_ptr_nonnull(g.pool[i] = pool_open(&g.m, i, &why));
  g.s = cache_open(&g.m, &g.lm->config, 2, &(struct cache_options){ .page_rows = 16, .format = kv }, &why);
  ck_assert_msg(g.s != NULL, "%s", why.text);
}
static void grid_close(const char *dir)
{
  store_close(g.s);
  model_close(&g.m, g.lm);
  for (unsigned i = 1; i <= 3; i++) pool_close(&g.m, g.pool[i]);
  ck_assert_uint_eq(g.m.all.live, 0);
  variant_drop(dir);
}
START_TEST(every_path_gives_the_same_bits)
{
  static float floats[MOST_N * MOST_V];
  char dir[200];
  struct error why;
  enum weight_type type = types[_i % N_TYPES];
  grid_open(_i / N_TYPES, type, NULL, dir);
  for (int f = ACTIVATIONS_F32; f <= ACTIVATIONS_INT8; f++) {
    g.format = (enum activations) f;
    if (!kernels_check_activations(&kernels_plain, g.format, g.lm->matrix_types, "it", &why)) continue;
    one_format();
    if (f == ACTIVATIONS_F32) memcpy(floats, g.truth, sizeof floats);
    else ck_assert(memcmp(g.truth, floats, sizeof floats) != 0); /* a format of activations is one: it does something */
  }
  grid_close(dir);
}
END_TEST

/* the same with keys and values kept in every other type */
START_TEST(every_path_reads_a_small_cache_alike)
{
  char dir[200];
  ck_assert_ptr_nonnull(format_at((size_t) _i));
  grid_open(0, WEIGHT_Q8_0, format_at((size_t) _i), dir);
  g.format = ACTIVATIONS_INT8;
  one_format();
  grid_close(dir);
}
END_TEST

/* the same from outside: a context for each path, of a model that is opened packed or not, from its directory or quantized */
enum { OUTSIDE_ROWS = 9, OUTSIDE_V = 2048 };
static void from_outside(struct incipit_model *m, const char *kernels, uint32_t threads, enum pieces how, float *logits)
{
  struct incipit_error why;
  struct incipit_context_options o = { .size = sizeof o, .threads = threads, .kernels = kernels };
  struct incipit_context *c = incipit_context_open(m, &o, &why);
  uint32_t s;
  ck_assert_msg(c != NULL && incipit_sequence_open(c, &s, &why), "%s", why.text);
  size_t number = 0;
  for (uint32_t at = 0, n; at < OUTSIDE_ROWS; at += n) {
    struct incipit_row row[OUTSIDE_ROWS];
    size_t which[OUTSIDE_ROWS];
    n = piece(how, number++, OUTSIDE_ROWS - at);
    for (uint32_t i = 0; i < n; i++) row[i] = (struct incipit_row){ s, at + i, ids[at + i] % OUTSIDE_V }, which[i] = i;
    ck_assert_msg(incipit_forward(c, row, n, &why) && incipit_logits(c, which, n, logits + at * OUTSIDE_V, &why), "%s", why.text);
  }
  incipit_context_close(c);
}
START_TEST(the_library_has_the_same_paths)
{
  static const enum weight_type type[] = { WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q4_0 };
  static float truth[OUTSIDE_ROWS * OUTSIDE_V], found[OUTSIDE_ROWS * OUTSIDE_V];
  const char *from = "models/pocket", *t = getenv("TMPDIR");
  char dir[200], path[400];
  unsigned cells = 0;
  struct error why;
  struct memory books = { 0 };
  snprintf(dir, sizeof dir, "%.150s/incipit-paths-XXXXXX", t != NULL ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  variant_path(path, dir, "model.gguf");
  struct quantize_options q = { .from = from, .to = path, .type = type[_i] };
  struct quantize_result done;
  if (type[_i] != WEIGHT_F16) ck_assert_msg(quantize_file(&books, &q, &done, &why), "%s", why.text), from = path;
  seed = suite_seed() + 1000;
  for (int i = 0; i < OUTSIDE_ROWS; i++) ids[i] = (uint32_t) (rnd(&seed) >> 40);
  for (int packed = 0; packed < 2; packed++) {
    struct incipit_error e;
    struct incipit_model_options o = { .size = sizeof o, .packed = packed };
    struct incipit_model *m = incipit_model_open(from, &o, &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    ck_assert_uint_eq(incipit_vocab_size(m), OUTSIDE_V);
    if (!packed) from_outside(m, "scalar", 1, SINGLE, truth);
    for (size_t i = packed ? n_tables : 0; i <= n_tables; i++) { /* a packed model is one for the fastest table, the default */
      if (i < n_tables && kernels_at(i) == NULL) continue;
      const char *kernels = i == n_tables ? NULL : kernels_at(i)->name;
      bool plain = kernels != NULL && strcmp(kernels, "plain") == 0;
      for (uint32_t threads = 1; threads <= (plain ? 1 : 3); threads++)
        for (int how = WHOLE; how <= (plain ? WHOLE : SINGLE); how++, cells++) {
          from_outside(m, kernels, threads, (enum pieces) how, found);
          for (size_t k = 0; k < OUTSIDE_ROWS * OUTSIDE_V; k++)
            if (memcmp(&found[k], &truth[k], sizeof *found) != 0)
              ck_abort_msg("library, %s: %s, %u threads, %s, %s: position %zu, logit %zu: %a, not %a; seed %llu",
                number_types[type[_i]].name, kernels == NULL ? "the default" : kernels, threads, piece_name[how],
                packed ? "packed" : "mapped", k / OUTSIDE_V, k % OUTSIDE_V, (double) found[k], (double) truth[k],
                (unsigned long long) suite_seed());
        }
    }
    incipit_model_close(m);
  }
  ck_assert_uint_eq(books.all.live, 0);
  variant_drop(dir);
  printf("library %s: %u cells\n", number_types[type[_i]].name, cells);
}
END_TEST

int main(void)
{
  find_tables();
  tell_tables();
  fflush(stdout);
  Suite *s = suite_create("paths");
  TCase *t = tcase_create("paths");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, every_path_gives_the_same_bits, 0, 2 * N_TYPES);
  tcase_add_loop_test(t, every_path_reads_a_small_cache_alike, 1, N_FORMATS);
  tcase_add_loop_test(t, the_library_has_the_same_paths, 0, 4);
  suite_add_tcase(s, t);
  return suite_run(s);
}
