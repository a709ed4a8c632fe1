/* Chapter 2, second half: weights files, settings, the store, the pass, the head. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "families/rope_scaling.h"
#include "safetensors/jsonfile.h"
#include "tiny.h"
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include "model/forward.h"
#include "functions/numbers.h"
#include "families/loader.h"
#include "safetensors/safetensors.h"

/* ---- a model with its engine and store, opened together */
struct rig {
  struct memory m;
  struct error why;
  struct model *lm;
  struct store *s;
  struct counters c;
  struct pool *pool;
  struct engine e;
};
static bool rig_open(
  struct rig *r, const char *path, const struct kernels *k, unsigned workers, uint32_t sequences)
{
  memset(r, 0, sizeof *r);
  if (workers > 1) r->pool = pool_open(&r->m, workers, &r->why);
  r->e = (struct engine){ k ? k : kernels_find(NULL, NULL), r->pool, &r->c };
  r->lm = model_open(&r->m, path, &r->why);
  if (r->lm) r->s = store_open(&r->m, &r->lm->config, sequences, &r->why);
  return r->s != NULL;
}
static void rig_close(struct rig *r)
{
  store_close(r->s);
  model_close(&r->m, r->lm);
  pool_close(&r->m, r->pool);
  ck_assert_uint_eq(r->m.all.live, 0);
}
static size_t request_ids(json_t *list, uint32_t *ids)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    ids[i] = (uint32_t) json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}
static uint32_t best(const float *x, size_t n)
{
  uint32_t b = 0;
  for (uint32_t i = 1; i < n; i++)
    if (x[i] > x[b]) b = i;
  return b;
}

/* ---- golden lines: forward, logprob, greedy, as the manifest beside them says */
enum { CONTEXT = 512 };
static bool line_forward(struct rig *r, json_t *o)
{
  uint32_t ids[CONTEXT];
  size_t which[CONTEXT], n = request_ids(json_object_get(o, "ids"), ids),
                         v = r->lm->config.vocab_size;
  for (size_t i = 0; i < n; i++) which[i] = i;
  float *logits = malloc(n * v * sizeof *logits);
  bool ok = model_evaluate(&r->e, r->lm, r->s, ids, n, which, n, logits, &r->why);
  double tol = json_number_value(json_object_get(o, "tol"));
  json_t *rows = json_object_get(o, "logits");
  ok = ok && json_array_size(rows) == n;
  for (size_t i = 0; i < n && ok; i++) {
    json_t *row = json_array_get(rows, i);
    ok = json_array_size(row) == v;
    for (size_t k = 0; k < v && ok; k++)
      ok = fabs((double) logits[i * v + k] - json_number_value(json_array_get(row, k))) <= tol;
  }
  free(logits);
  return ok;
}
static bool line_logprob(struct rig *r, json_t *o)
{
  uint32_t ids[CONTEXT];
  double lp[CONTEXT], sum;
  size_t n = request_ids(json_object_get(o, "ids"), ids);
  json_t *want = json_object_get(o, "logprobs");
  if (!model_logprobs(&r->e, r->lm, r->s, ids, n, lp, &sum, &r->why)) return false;
  double tol = json_number_value(json_object_get(o, "tol"));
  bool ok = fabs(sum - json_number_value(json_object_get(o, "sum")))
    <= json_number_value(json_object_get(o, "sum_tol"));
  for (size_t i = 1; i < n && ok; i++)
    ok = fabs(lp[i] - json_number_value(json_array_get(want, i))) <= tol;
  return ok && json_array_size(want) == n;
}
static bool is_end(json_t *eos, uint32_t id)
{
  if (json_is_integer(eos)) return json_integer_value(eos) == (json_int_t) id;
  for (size_t i = 0; i < json_array_size(eos); i++)
    if (json_integer_value(json_array_get(eos, i)) == (json_int_t) id) return true;
  return false;
}
static bool line_greedy(struct rig *r, json_t *o)
{
  uint32_t ids[2 * CONTEXT], want[CONTEXT];
  size_t n = request_ids(json_object_get(o, "prompt_ids"), ids), start = n,
         v = r->lm->config.vocab_size;
  size_t expected = request_ids(json_object_get(o, "ids"), want);
  size_t max = (size_t) json_integer_value(json_object_get(o, "max_new_tokens"));
  float *logits = malloc(v * sizeof *logits);
  bool ok = true, ended = false;
  while (ok && !ended && n - start < max) {
    size_t last = n - 1;
    ok = model_evaluate(&r->e, r->lm, r->s, ids, n, &last, 1, logits, &r->why);
    ids[n++] = best(logits, v);
    ended = is_end(json_object_get(o, "eos_token_id"), ids[n - 1]);
  }
  free(logits);
  return ok && n - start == expected && memcmp(ids + start, want, expected * sizeof *want) == 0;
}
static unsigned golden_file(
  struct rig *r, const char *path, const char *name, bool (*check)(struct rig *, json_t *))
{
  FILE *f = fopen(path, "r");
  char *line = NULL;
  size_t cap = 0;
  unsigned passed = 0, failed = 0;
  while (f != NULL && getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
    if (o != NULL && check(r, o))
      passed++;
    else
      failed++;
    json_decref(o);
  }
  if (f != NULL) fclose(f);
  free(line);
  tally(name, passed, failed, 0, "");
  return failed;
}
static const struct {
  const char *name;
  bool (*check)(struct rig *, json_t *);
} golden[] = { { "forward.jsonl", line_forward }, { "logprob.jsonl", line_logprob },
  { "greedy.jsonl", line_greedy } };
static unsigned golden_model(const char *path, const char *name)
{
  struct rig r;
  unsigned failed = 0;
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.text);
  for (int i = 0; i < 3; i++) {
    char file[600], key[300];
    snprintf(file, sizeof file, "%s/%s", path, golden[i].name);
    snprintf(key, sizeof key, "%s/%s", name, golden[i].name);
    failed += golden_file(&r, file, key, golden[i].check);
  }
  rig_close(&r);
  return failed;
}
static const char *const shared_model[] = { "gpt2", "gpt2-f16", "gpt2-hub", "gpt-nano-sort",
  "llama-bf16", "llama-gqa-tied", "llama-mha", "llama-odd", "llama-odd20", "llama-rope3",
  "llama-sharded", "stories260K", "mistral-swa8", "qwen2", "qwen3" };
START_TEST(golden_logits_logprobs_and_greedy_ids)
{
  char buffer[300], name[200];
  snprintf(name, sizeof name, "golden/models/%s", shared_model[_i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  ck_assert_uint_eq(golden_model(path, name), 0);
}
END_TEST

static const char *const own_model[] = { "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral",
  "qwen2", "qwen3", "gpt2-unscaled", "llama-linear", "llama-yarn", "qwen2-yarn", "qwen3-layers" };
enum { OWN = 12 };
START_TEST(golden_models_that_travel_with_the_project)
{
  char name[200];
  snprintf(name, sizeof name, "tests/golden/%s", own_model[_i]);
  ck_assert_uint_eq(golden_model(name, name), 0);
}
END_TEST

/* ---- variants of a small model: a copy of its directory in which one thing is changed */
struct blob {
  char *name;
  json_t *entry;
  unsigned char *bytes;
  size_t n;
};
static void variant_path(char *buffer, const char *dir, const char *file)
{
  snprintf(buffer, 400, "%.190s/%.200s", dir, file);
}
static unsigned char *slurp(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  fseek(f, 0, SEEK_END);
  *n = (size_t) ftell(f);
  rewind(f);
  unsigned char *b = malloc(*n + 1);
  ck_assert_uint_eq(fread(b, 1, *n, f), *n);
  fclose(f);
  b[*n] = 0;
  return b;
}
static void spill(const char *path, const void *b, size_t n)
{
  FILE *f = fopen(path, "wb");
  ck_assert(f != NULL && fwrite(b, 1, n, f) == n);
  fclose(f);
}
static void variant_make(char dir[200], const char *base)
{
  char from[400], to[400], source[200];
  const char *t = getenv("TMPDIR");
  snprintf(dir, 200, "%s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(source, sizeof source, "tests/golden/%s", base);
  DIR *d = opendir(source);
  ck_assert_ptr_nonnull(d);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    if (e->d_name[0] == '.' || strstr(e->d_name, ".jsonl")) continue;
    variant_path(from, source, e->d_name), variant_path(to, dir, e->d_name);
    size_t n;
    unsigned char *b = slurp(from, &n);
    spill(to, b, n);
    free(b);
  }
  closedir(d);
}
static void variant_drop(const char *dir)
{
  char path[400];
  DIR *d = opendir(dir);
  for (struct dirent *e = readdir(d); e; e = readdir(d)) {
    variant_path(path, dir, e->d_name);
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) remove(path);
  }
  closedir(d);
  rmdir(dir);
}
/* sets a field (dotted for one level) of a JSON file to a value written as JSON; null text deletes
 * it */
static void variant_json(const char *dir, const char *file, const char *field, const char *value)
{
  char path[400], outer[100];
  variant_path(path, dir, file);
  json_t *o = json_load_file(path, 0, NULL), *in = o;
  if (o == NULL) in = o = json_object();
  snprintf(outer, sizeof outer, "%s", field);
  char *dot = strchr(outer, '.');
  if (dot && dot != outer && json_is_object(json_object_get(o, (*dot = 0, outer))))
    in = json_object_get(o, outer), field += dot - outer + 1;
  if (value)
    json_object_set_new(in, field, json_loads(value, JSON_DECODE_ANY, NULL));
  else
    json_object_del(in, field);
  ck_assert_int_eq(json_dump_file(o, path, JSON_INDENT(1)), 0);
  json_decref(o);
}
/* rewrites model.safetensors with one tensor changed: `what' is drop, rename X, type X, shape [..]
 * (its bytes cut or padded), shift */
static void variant_tensor(const char *dir, const char *name, const char *what)
{
  char path[400];
  size_t n, header, at = 0;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n), *out = calloc(1, 2 * n + 4096),
                *data = calloc(1, 2 * n + 4096);
  uint64_t length;
  memcpy(&length, b, 8);
  header = (size_t) length;
  json_t *o = json_loadb((char *) b + 8, header, 0, NULL), *made = json_object();
  for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
    const char *key = json_object_iter_key(i);
    json_t *e = json_deep_copy(json_object_iter_value(i));
    if (strcmp(key, "__metadata__") == 0) {
      json_decref(e);
      continue;
    }
    json_t *two = json_object_get(e, "data_offsets");
    size_t a = (size_t) json_integer_value(json_array_get(two, 0)),
           z = (size_t) json_integer_value(json_array_get(two, 1));
    size_t bytes = z - a;
    const char *to = key;
    if (name && strcmp(key, name) == 0) {
      if (strcmp(what, "drop") == 0) {
        json_decref(e);
        continue;
      }
      if (strncmp(what, "rename ", 7) == 0) to = what + 7;
      if (strncmp(what, "type ", 5) == 0) json_object_set_new(e, "dtype", json_string(what + 5));
      if (strncmp(what, "shape ", 6) == 0) {
        json_t *shape = json_loads(what + 6, 0, NULL);
        bytes = 4;
        for (size_t k = 0; k < json_array_size(shape); k++)
          bytes *= (size_t) json_integer_value(json_array_get(shape, k));
        json_object_set_new(e, "shape", shape);
      }
    }
    memcpy(data + at, b + 8 + header + a, bytes < z - a ? bytes : z - a);
    json_object_set_new(e, "data_offsets", json_pack("[i,i]", (int) at, (int) (at + bytes)));
    at += bytes;
    json_object_set_new(made, to, e);
  }
  char *text = json_dumps(made, JSON_COMPACT);
  size_t used = strlen(text);
  size_t pad = 8 - used % 8; /* with shift, the data begin at an odd address */
  if (strcmp(what, "shift") == 0 && (used + pad) % 2 == 0) pad++;
  length = used + pad;
  memcpy(out, &length, 8);
  memcpy(out + 8, text, used);
  memset(out + 8 + used, ' ', pad);
  memcpy(out + 8 + length, data, at);
  spill(path, out, 8 + length + at);
  free(text), free(out), free(data), free(b);
  json_decref(o), json_decref(made);
}

/* ---- P2: the logits of a row depend on nothing but its own text */
enum { SEQ = 3 };
static void shuffle(uint64_t *seed, struct row *r, size_t n)
{
  for (size_t i = n; i > 1; i--) {
    size_t k = rnd(seed) % i;
    struct row t = r[i - 1];
    r[i - 1] = r[k], r[k] = t;
  }
}
/* runs texts of SEQ sequences in chunks of random size and order, all at once; logits[s] is
 * [len][vocab] */
static void run_ragged(struct rig *r, uint64_t *seed, uint32_t (*text)[CONTEXT], const size_t *len,
  float **logits, bool whole)
{
  size_t done[SEQ] = { 0 }, v = r->lm->config.vocab_size;
  store_clear(r->s);
  for (;;) {
    struct row rows[SEQ * CONTEXT];
    size_t n = 0;
    for (uint32_t q = 0; q < SEQ; q++) {
      size_t left = len[q] - done[q], take = whole ? left : rnd(seed) % (left + 1);
      for (size_t i = 0; i < take; i++, done[q]++)
        rows[n++] = (struct row){ q, (uint32_t) done[q], text[q][done[q]] };
    }
    if (n == 0 && done[0] + done[1] + done[2] == len[0] + len[1] + len[2]) return;
    if (n == 0) continue;
    shuffle(seed, rows, n);
    struct pass *p;
    ck_assert_msg(model_forward(&r->e, r->lm, r->s, rows, n, &p, &r->why), "%s", r->why.text);
    for (size_t i = 0; i < n; i++)
      ck_assert(model_logits(
        &r->e, r->lm, p, &i, 1, logits[rows[i].sequence] + rows[i].position * v, &r->why));
    pass_close(p);
  }
}
static void equality(const char *path, size_t max_len, int rounds)
{
  struct rig base, r;
  uint64_t seed = suite_seed() + max_len;
  ck_assert_msg(rig_open(&base, path, kernels_find("scalar", NULL), 1, 1), "%s", base.why.text);
  size_t v = base.lm->config.vocab_size, max = base.lm->config.n_positions;
  if (max > max_len) max = max_len;
  uint32_t text[SEQ][CONTEXT];
  size_t len[SEQ] = { max, 1 + rnd(&seed) % max, 1 + rnd(&seed) % max };
  float *want[SEQ], *got[SEQ];
  for (int q = 0; q < SEQ; q++) {
    want[q] = calloc(len[q] * v, sizeof **want), got[q] = calloc(len[q] * v, sizeof **got);
    for (size_t i = 0; i < len[q]; i++) text[q][i] = (uint32_t) (rnd(&seed) % v);
    for (size_t i = 0; i < len[q]; i++) /* each row as the last of a pass over its own prefix */
      if (max < 64 || i % 37 == 0 || i + 1 == len[q])
        ck_assert(model_evaluate(
          &base.e, base.lm, base.s, text[q], i + 1, &i, 1, want[q] + i * v, &base.why));
  }
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    for (unsigned workers = 1; workers <= 3; workers++) {
      ck_assert(rig_open(&r, path, kernels_at(k), workers, SEQ));
      for (int round = 0; round < rounds; round++) {
        run_ragged(&r, &seed, text, len, got, round == 0);
        for (int q = 0; q < SEQ; q++)
          for (size_t i = 0; i < len[q]; i++)
            if (max < 64 || i % 37 == 0 || i + 1 == len[q])
              ck_assert_msg(memcmp(want[q] + i * v, got[q] + i * v, v * sizeof **want) == 0,
                "%s: %s, %u workers, sequence %d row %zu differs", path, kernels_at(k)->name,
                workers, q, i);
      }
      rig_close(&r);
    }
  for (int q = 0; q < SEQ; q++) free(want[q]), free(got[q]);
  rig_close(&base);
}
START_TEST(one_answer_for_every_schedule)
{
  char path[200];
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  equality(path, 24, 4);
}
END_TEST
START_TEST(one_answer_beyond_a_block_of_attention)
{
  static const char *const base[] = { "llama", "mistral" };
  char dir[200];
  variant_make(dir, base[_i]);
  variant_json(dir, "config.json", "max_position_embeddings", "600");
  if (_i == 1) variant_json(dir, "config.json", "sliding_window", "290");
  equality(dir, 510, 2);
  variant_drop(dir);
}
END_TEST

/* ---- the store refuses in words, and nothing has happened then */
START_TEST(store_refuses_in_words)
{
  static const struct {
    struct row rows[3];
    size_t n;
    const char *words;
  } bad[] = { { { { 0, 0, 1 } }, 0, "no rows" }, { { { 7, 0, 1 } }, 1, "sequence 7" },
    { { { 0, 2, 1 } }, 1, "behind a gap" }, { { { 0, 0, 1 }, { 0, 0, 1 } }, 2, "given twice" },
    { { { 0, 0, 1 }, { 0, 2, 1 }, { 1, 0, 1 } }, 3, "behind a gap" },
    { { { 0, 16, 1 } }, 1, "beyond the context" },
    { { { 0, 0, 24 } }, 1, "is 24; wanted: below 24" },
    { { { 0, 4294967295u, 1 } }, 1, "beyond the context" } };
  struct rig r;
  ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 3));
  struct pass *p;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ck_assert(!model_forward(&r.e, r.lm, r.s, bad[i].rows, bad[i].n, &p, &r.why));
    ck_assert_msg(strstr(r.why.text, bad[i].words) != NULL, "%s", r.why.text);
    ck_assert_uint_eq(r.c.passes, 0);
  }
  struct row one[16];
  for (uint32_t i = 0; i < 16; i++) one[i] = (struct row){ 1, i, 3 };
  ck_assert(model_forward(&r.e, r.lm, r.s, one, 15, &p, &r.why));
  pass_close(p);
  ck_assert(!model_forward(&r.e, r.lm, r.s, one + 14, 1, &p, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.text, "stored already"));
  ck_assert(model_forward(&r.e, r.lm, r.s, one + 15, 1, &p, &r.why));
  size_t beyond = 1;
  float logits[24];
  ck_assert(!model_logits(&r.e, r.lm, p, &beyond, 1, logits, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.text, "row 1; wanted: a row below 1"));
  pass_close(p);
  uint32_t ids[17] = { 0 };
  ck_assert(!model_evaluate(&r.e, r.lm, r.s, ids, 17, NULL, 0, NULL, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.text, "17 tokens; wanted: at most 16"));
  rig_close(&r);
}
END_TEST

/* ---- counters against tallies kept here, one by one, on random schedules */
struct book {
  uint32_t now[SEQ][64], ever[SEQ][64];
  size_t n_now[SEQ], n_ever[SEQ];
  struct counters c;
};
static void tally_pass(struct book *b, const struct model_config *c, const struct row *rows,
  size_t n, uint64_t layer_bytes, uint64_t madds, unsigned size)
{
  size_t before[SEQ];
  memcpy(before, b->n_now, sizeof before);
  for (size_t t = 0; t < 64; t++) /* in order of positions */
    for (size_t i = 0; i < n; i++) {
      uint32_t q = rows[i].sequence;
      if (rows[i].position != t) continue;
      bool same = t < b->n_ever[q];
      for (size_t k = 0; k < t && same; k++) same = b->ever[q][k] == b->now[q][k];
      if (same && b->ever[q][t] == rows[i].token) b->c.kv_rows_recomputed++;
      b->now[q][t] = rows[i].token, b->n_now[q] = t + 1;
      b->c.rows++, b->c.kv_rows_computed++, b->c.madds_linear += madds;
      b->c.weight_bytes_read += size * c->d_model * (c->learned_positions ? 2 : 1);
    }
  for (uint32_t q = 0; q < SEQ; q++) {
    bool longer = b->n_ever[q] > b->n_now[q];
    for (uint32_t l = 0; l < c->n_layers; l++) {
      bool seen[64] = { false };
      uint32_t window = config_window(c, l);
      for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t <= rows[i].position && rows[i].sequence == q; t++)
          if (window == 0 || t + window > rows[i].position)
            seen[t] = true, b->c.qk_pairs += l == 0,
            b->c.madds_attention += 2ull * c->head_dim * c->n_heads;
      for (size_t t = 0; t < 64; t++)
        b->c.cache_bytes_read += seen[t] ? 8ull * c->n_kv_heads * c->head_dim : 0;
    }
    for (size_t t = 0; t < b->n_now[q]; t++) longer = longer && b->ever[q][t] == b->now[q][t];
    if (b->n_now[q] == before[q]) continue;
    memcpy(b->ever[q], b->now[q], b->n_now[q] * sizeof(uint32_t));
    if (!longer) b->n_ever[q] = b->n_now[q];
  }
  b->c.cache_bytes_written += 8ull * n * c->n_kv_heads * c->head_dim * c->n_layers;
  b->c.passes++, b->c.weight_bytes_read += layer_bytes;
}
static void layer_sums(
  const struct model *lm, uint64_t *bytes, uint64_t *madds, uint64_t *head_bytes)
{
  *bytes = *madds = *head_bytes = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++) {
    const struct tensor_entry *t = tensor_file_at(lm->weights, i);
    bool layer = strstr(t->name, "layers.") || strstr(t->name, "h.0.") || strstr(t->name, "h.1.")
      || strstr(t->name, "h.2.");
    size_t k = strlen(t->name);
    if (k > 10 && strcmp(t->name + k - 10, ".attn.bias") == 0) continue;
    if (layer) *bytes += t->bytes;
    if (layer && t->rank == 2) *madds += t->elements;
    if (strcmp(t->name, "lm_head.weight") == 0) *head_bytes = t->bytes;
    if (lm->config.tied && (strstr(t->name, "wte") || strstr(t->name, "embed_tokens")))
      *head_bytes = t->bytes;
  }
}
START_TEST(counters_are_tallies)
{
  char path[200];
  uint64_t seed = suite_seed() + (uint64_t) _i, layer_bytes, madds, head_bytes;
  struct rig r;
  struct book b = { 0 };
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  ck_assert(rig_open(&r, path, NULL, 1, SEQ));
  const struct model_config *c = &r.lm->config;
  layer_sums(r.lm, &layer_bytes, &madds, &head_bytes);
  float *logits = malloc(64 * c->vocab_size * sizeof *logits);
  for (int step = 0; step < 60; step++) {
    struct row rows[200];
    size_t n = 0, which[4], wanted = rnd(&seed) % 4;
    if (rnd(&seed) % 3 == 0) store_clear(r.s), memset(b.n_now, 0, sizeof b.n_now);
    for (uint32_t q = 0; q < SEQ; q++) {
      size_t left = c->n_positions - b.n_now[q],
             take = left ? rnd(&seed) % (left < 5 ? left + 1 : 6) : 0;
      for (size_t i = 0; i < take; i++) { /* few different tokens, so that texts often agree */
        rows[n] = (struct row){ q, (uint32_t) (b.n_now[q] + i), (uint32_t) (rnd(&seed) % 8 == 0) };
        n++;
      }
    }
    if (n == 0) continue;
    shuffle(&seed, rows, n);
    if (rnd(&seed) % 5 == 0) { /* a pass that is refused memory counts nothing */
      struct pass *none;
      r.m.fail_at = r.m.all.requests + 1 + rnd(&seed) % 12;
      bool ok = model_forward(&r.e, r.lm, r.s, rows, n, &none, &r.why);
      r.m.fail_at = 0;
      ck_assert(!ok);
    }
    struct pass *p;
    ck_assert_msg(model_forward(&r.e, r.lm, r.s, rows, n, &p, &r.why), "%s", r.why.text);
    tally_pass(
      &b, c, rows, n, layer_bytes, madds, (unsigned) weight_type_bytes(r.lm->embedding.type));
    for (size_t i = 0; i < wanted; i++) which[i] = rnd(&seed) % n;
    for (int twice = 0; twice < 2; twice++) {
      ck_assert(model_logits(&r.e, r.lm, p, which, wanted, logits, &r.why));
      b.c.madds_head += (uint64_t) wanted * c->d_model * c->vocab_size;
    }
    if (wanted > 0) b.c.weight_bytes_read += head_bytes;
    pass_close(p);
    ck_assert_msg(memcmp(&b.c, &r.c, sizeof r.c) == 0,
      "step %d: recomputed %d %d pairs %d %d read %d %d weights %d %d", step,
      (int) b.c.kv_rows_recomputed, (int) r.c.kv_rows_recomputed, (int) b.c.qk_pairs,
      (int) r.c.qk_pairs, (int) b.c.cache_bytes_read, (int) r.c.cache_bytes_read,
      (int) b.c.weight_bytes_read, (int) r.c.weight_bytes_read);
  }
  ck_assert_uint_gt(b.c.kv_rows_recomputed, 20);
  free(logits);
  rig_close(&r);
}
END_TEST

/* ---- every request for memory refused once */
START_TEST(every_refused_request_is_survived)
{
  char path[200];
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  unsigned refused = 0;
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct counters c = { 0 };
    struct engine e = { kernels_find(NULL, NULL), NULL, &c };
    uint32_t ids[6] = { 1, 2, 3, 4, 5, 6 };
    double lp[6], sum;
    struct store *s = NULL;
    struct model *lm = model_open(&m, path, &why);
    if (lm) s = store_open(&m, &lm->config, 2, &why);
    bool ok = s != NULL && model_logprobs(&e, lm, s, ids, 3, lp, &sum, &why)
      && model_logprobs(&e, lm, s, ids, 6, lp, &sum, &why);
    store_close(s);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
    if (m.all.refused == 0) {
      ck_assert(ok);
      break;
    }
    ck_assert_msg(
      !ok && strstr(why.text, "out of memory") != NULL, "request %d: %s", (int) at, why.text);
    refused++;
  }
  ck_assert_uint_gt(refused, 40);
}
END_TEST

/* ---- files that must be refused, by the words of the refusal: file, field, found, wanted */
static const struct defect {
  const char *base, *file, *field, *edit;
  const char *words[4];
} defect[] = {
  { "gpt2", "config.json", "n_embd", "\"12\"",
    { "config.json", "n_embd", "\"12\"", "an integer from 1" } },
  { "gpt2", "config.json", "n_embd", "12.0",
    { "config.json", "n_embd", "12.0", "an integer from 1" } },
  { "gpt2", "config.json", "n_embd", NULL, { "config.json", "n_embd", "missing", "a value" } },
  { "gpt2", "config.json", "n_embd", "null", { "config.json", "n_embd", "null", "a value" } },
  { "gpt2", "config.json", "n_embd", "0", { "config.json", "n_embd", "0", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "true",
    { "config.json", "n_layer", "true", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "-1",
    { "config.json", "n_layer", "-1", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "2147483647",
    { "model.safetensors", "this", "2147483647 layers", "no more layers than" } },
  { "gpt2", "config.json", "n_layer", "3",
    { "model.safetensors", "h.2.ln_1.weight", "missing", "[12]" } },
  { "gpt2", "config.json", "n_layer", "1",
    { "model.safetensors", "h.1.attn.c_attn.bias", "without use", "config.json calls for" } },
  { "gpt2", "config.json", "n_head", "5",
    { "config.json", "n_head", "5", "a divisor of the width" } },
  { "gpt2", "config.json", "n_positions", "13",
    { "config.json", "n_ctx", "12", "the same as n_positions" } },
  { "gpt2", "config.json", "vocab_size", "4611686018427387904",
    { "config.json", "vocab_size", "4611686018427387904", "to 2147483647" } },
  { "gpt2", "config.json", "vocab_size", "21",
    { "model.safetensors", "wte.weight", "[20, 12]", "[21, 12]" } },
  { "gpt2", "config.json", "activation_function", "\"relu\"",
    { "config.json", "activation_function", "\"relu\"", "gelu_new" } },
  { "gpt2", "config.json", "layer_norm_epsilon", "-1e-5",
    { "config.json", "layer_norm_epsilon", "-1", "a number from 0 to 1" } },
  { "gpt2", "config.json", "scale_attn_weights", "0",
    { "config.json", "scale_attn_weights", "0", "true or false" } },
  { "gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "2",
    { "config.json", "scale_attn_by_inverse_layer_idx", "2", "true or false" } },
  { "gpt2", "config.json", "logits_scaling", "8.0",
    { "config.json", "logits_scaling", "8.0", "no such factor" } },
  { "gpt2", "config.json", "sliding_window", "4",
    { "config.json", "sliding_window", "4", "knows" } },
  { "llama", "config.json", "logit_scale", "0.0625",
    { "config.json", "logit_scale", "0.0625", "no such factor" } },
  { "llama", "config.json", "residual_multiplier", "0.22",
    { "config.json", "residual_multiplier", "0.22", "no such factor" } },
  { "llama", "config.json", "embedding_multiplier", "12",
    { "config.json", "embedding_multiplier", "12", "no such factor" } },
  { "llama", "config.json", "partial_rotary_factor", "0.5",
    { "config.json", "partial_rotary_factor", "0.5", "no such factor" } },
  { "llama", "config.json", "attention_multiplier", "0.015625",
    { "config.json", "attention_multiplier", "0.015625", "knows" } },
  { "llama", "config.json", "attn_logit_softcapping", "50.0",
    { "config.json", "attn_logit_softcapping", "50.0", "knows" } },
  { "llama", "config.json", "final_logit_softcapping", "30.0",
    { "config.json", "final_logit_softcapping", "30.0", "knows" } },
  { "llama", "config.json", "clip_qkv", "8.0", { "config.json", "clip_qkv", "8.0", "knows" } },
  { "llama", "config.json", "max_window_layers", "1",
    { "config.json", "max_window_layers", "1", "knows" } },
  { "llama", "config.json", "layer_types", "[\"full_attention\"]",
    { "config.json", "layer_types", "[\"full_attention\"]", "a word for each layer" } },
  { "llama", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]",
    { "config.json", "layer_types", "sliding", "there is no window" } },
  { "gpt2", "config.json", "tie_word_embeddings", "1",
    { "config.json", "tie_word_embeddings", "1", "true or false" } },
  { "gpt2", "config.json", "tie_word_embeddings", "false",
    { "model.safetensors", "lm_head.weight", "missing", "[20, 12]" } },
  { "gpt2", "config.json", "add_cross_attention", "true",
    { "config.json", "add_cross_attention", "true", "knows" } },
  { "gpt2", "config.json", "some_future_switch", "0.5",
    { "config.json", "some_future_switch", "0.5", "knows" } },
  { "gpt2", "config.json", "eos_token_id", "-1",
    { "config.json", "eos_token_id", "-1", "an id or a list of ids" } },
  { "gpt2", "config.json", "eos_token_id", "[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]",
    { "config.json", "eos_token_id", "[1,2,3", "at most 16 ids" } },
  { "gpt2", "config.json", "bos_token_id", "\"a\"",
    { "config.json", "bos_token_id", "\"a\"", "an integer from 0" } },
  { "gpt2", "config.json", "architectures", "[\"GPT2ForSequenceClassification\"]",
    { "config.json", "architectures", "GPT2ForSequenceC", "GPT2LMHeadModel" } },
  { "gpt2", "config.json", "model_type", "\"opt\"",
    { "config.json", "model_type", "\"opt\"", "gpt2, llama" } },
  { "gpt2", "config.json", "model_type", NULL,
    { "config.json", "model_type", "missing", "gpt2, llama" } },
  { "gpt2", "generation_config.json", "top_p", "1.5",
    { "generation_config.json", "top_p", "1.5", "a number from 0 to 1" } },
  { "gpt2", "generation_config.json", "do_sample", "1",
    { "generation_config.json", "do_sample", "1", "true or false" } },
  { "gpt2", "generation_config.json", "suppress_tokens", "[3]",
    { "generation_config.json", "suppress_tokens", "[3]", "knows" } },
  { "llama", "config.json", "num_key_value_heads", "3",
    { "config.json", "num_attention_heads", "4", "a multiple of num_key_value_heads" } },
  { "llama", "config.json", "num_key_value_heads", "4",
    { "model-0000", "self_attn.k_proj.weight", "[8, 16]", "[16, 16]" } },
  { "llama", "config.json", "head_dim", "3", { "config.json", "head_dim", "3", "an even number" } },
  { "llama", "config.json", "hidden_act", "\"relu\"",
    { "config.json", "hidden_act", "\"relu\"", "silu" } },
  { "llama", "config.json", "attention_bias", "true",
    { "model.safetensors.index.json", "self_attn.q_proj.bias", "missing", "[16]" } },
  { "llama", "config.json", "rope_scaling", "{\"type\":\"dynamic\",\"factor\":2}",
    { "config.json", "rope_scaling", "\"dynamic\"", "linear, llama3 or yarn" } },
  { "llama", "config.json", "rope_scaling", "{\"rope_type\":\"longrope\",\"short_factor\":[1]}",
    { "config.json", "rope_scaling", "\"longrope\"", "linear, llama3 or yarn" } },
  { "llama", "config.json", "rope_scaling", "{\"type\":\"default\",\"factor\":3}",
    { "config.json", "factor", "3", "knows" } },
  { "llama-linear", "config.json", "rope_scaling.factor", "0.5",
    { "config.json", "factor", "0.5", "a number from 1" } },
  { "llama-linear", "config.json", "rope_scaling.original_max_position_embeddings", "8",
    { "config.json", "original_max_position_embeddings", "8", "knows" } },
  { "llama-linear", "config.json", "rope_scaling.partial_rotary_factor", "0.25",
    { "config.json", "partial_rotary_factor", "0.25", "no such factor" } },
  { "llama-yarn", "config.json", "rope_parameters.beta_slow", "2.0",
    { "config.json", "rope_parameters", "\"beta_slow\":2.0", "beta_fast above beta_slow" } },
  { "llama-yarn", "config.json", "rope_parameters.rope_theta", "1",
    { "config.json", "rope_parameters", "\"beta_fast\":1.0", "a rope_theta above 1" } },
  { "llama-yarn", "config.json", "rope_parameters.attention_factor", "\"1\"",
    { "config.json", "attention_factor", "\"1\"", "a number from" } },
  { "llama-yarn", "config.json", "rope_parameters.mscale", "-1",
    { "config.json", "mscale", "-1", "a number from 0" } },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "1",
    { "config.json", "truncate", "1", "true or false" } },
  { "llama-yarn", "config.json", "rope_parameters.high_freq_factor", "4",
    { "config.json", "high_freq_factor", "4", "knows" } },
  { "llama", "config.json", "rope_scaling", "7",
    { "config.json", "rope_scaling", "7", "an object or null" } },
  { "llama", "config.json", "rope_theta", "0",
    { "config.json", "rope_theta", "0", "a number from 1" } },
  { "llama", "config.json", "rope_parameters", "{\"rope_type\":\"default\",\"rope_theta\":500}",
    { "config.json", "rope_theta", "10000", "rope_parameters" } },
  { "llama", "config.json", "quantization_config", "{\"bits\":4}",
    { "config.json", "quantization_config", "{\"bits\":4}", "knows" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"../x\"",
    { "index.json", "lm_head.weight", "../x", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"/etc/passwd\"",
    { "index.json", "lm_head.weight", "/etc/passwd", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "3",
    { "index.json", "lm_head.weight", "3", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", NULL,
    { "index.json", "weight_map", "20 tensors", "21" } },
  { "llama", "model.safetensors.index.json", "weight_map.nobody",
    "\"model-00001-of-00002.safetensors\"",
    { "index.json", "nobody", "model-00001", "the file that has" } },
  { "llama", "model.safetensors.index.json", "weight_map", "[]",
    { "index.json", "weight_map", "[]", "an object" } },
  { "llama-stretched", "config.json", "rope_parameters.factor", NULL,
    { "config.json", "factor", "missing", "a value" } },
  { "llama-stretched", "config.json", "rope_parameters.factor", "\"4\"",
    { "config.json", "factor", "\"4\"", "a number from 1" } },
  { "llama-stretched", "config.json", "rope_parameters.high_freq_factor", "1.0",
    { "config.json", "rope_parameters", "high_freq", "above low_freq_factor" } },
  { "llama-stretched", "config.json", "rope_parameters.beta_fast", "32",
    { "config.json", "beta_fast", "32", "knows" } },
  { "mistral", "config.json", "sliding_window", "0",
    { "config.json", "sliding_window", "0", "an integer from 1" } },
  { "mistral", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]",
    { "config.json", "layer_types", "full", "sliding_attention" } },
  { "mistral", "config.json", "num_key_value_heads", NULL,
    { "config.json", "num_key_value_heads", "missing", "a value" } },
  { "mistral", "config.json", "use_sliding_window", "true",
    { "config.json", "use_sliding_window", "true", "knows" } },
  { "qwen2", "config.json", "use_sliding_window", "1",
    { "config.json", "use_sliding_window", "1", "true or false" } },
  { "qwen2", "config.json", "max_window_layers", "-1",
    { "config.json", "max_window_layers", "-1", "an integer from 0" } },
  { "qwen3-layers", "config.json", "layer_types",
    "[\"full_attention\",\"full_attention\",\"chunked_attention\"]",
    { "config.json", "layer_types", "[", "full_attention or sliding_attention" } },
  { "qwen3-layers", "config.json", "layer_types", "7",
    { "config.json", "layer_types", "7", "a word for each layer" } },
  { "qwen3-layers", "config.json", "use_sliding_window", "false",
    { "config.json", "layer_types", "[\"sliding_attention\"", "there is no window" } },
  { "qwen2", "config.json", "max_position_embeddings", "-16",
    { "config.json", "max_position_embeddings", "-16", "an integer" } },
};
static const struct {
  const char *name, *edit;
  const char *words[4];
} tensor_defect[] = {
  { "transformer.h.1.ln_2.bias", "drop",
    { "model.safetensors", "h.1.ln_2.bias", "missing", "[12]" } },
  { "transformer.h.1.ln_2.bias", "shape [11]",
    { "model.safetensors", "h.1.ln_2.bias", "[11]", "[12]" } },
  { "transformer.h.1.ln_2.bias", "shape [1,12]",
    { "model.safetensors", "h.1.ln_2.bias", "[1, 12]", "[12]" } },
  { "transformer.h.1.ln_2.bias", "type I32",
    { "model.safetensors", "h.1.ln_2.bias", "I32", "F32, F16 or BF16" } },
  { "transformer.h.1.ln_2.bias", "type F23",
    { "model.safetensors", "h.1.ln_2.bias", "F23", "a type of the format" } },
  { "transformer.h.1.ln_2.bias", "type F64",
    { "model.safetensors", "h.1.ln_2.bias", "[", "as many bytes" } },
  { "transformer.wpe.weight", "shape [10,12]",
    { "model.safetensors", "wpe.weight", "[10, 12]", "[12, 12]" } },
  { "transformer.h.0.attn.c_attn.weight", "shape [36,12]",
    { "model.safetensors", "attn.c_attn.weight", "[36, 12]", "[12, 36]" } },
  { "transformer.ln_f.bias", "rename transformer.ln_f.offset",
    { "model.safetensors", "ln_f.bias", "missing", "[12]" } },
};
static char messages[128][400];
static int n_messages;
static void remember_message(const char *dir, const char *words)
{
  const char *at = strstr(words, dir);
  snprintf(messages[n_messages], 400, "%s", at ? at + strlen(dir) : words);
  for (int i = 0; i < n_messages; i++)
    ck_assert_msg(
      strcmp(messages[i], messages[n_messages]) != 0, "two defects, one message: %s", words);
  n_messages++;
}
static void expect_refusal(const char *dir, const char *const *words)
{
  struct memory m = { 0 };
  struct error why = { "" };
  ck_assert_ptr_null(model_open(&m, dir, &why));
  ck_assert_uint_eq(m.all.live, 0);
  for (int i = 0; i < 4; i++)
    ck_assert_msg(strstr(why.text, words[i]) != NULL, "\"%s\" is not in: %s", words[i], why.text);
  remember_message(dir, why.text);
}
START_TEST(refusals_name_file_field_found_wanted)
{
  char dir[200];
  unsigned n = 0;
  for (size_t i = 0; i < sizeof defect / sizeof defect[0]; i++, n++) {
    variant_make(dir, defect[i].base);
    variant_json(dir, defect[i].file, defect[i].field, defect[i].edit);
    expect_refusal(dir, defect[i].words);
    variant_drop(dir);
  }
  for (size_t i = 0; i < sizeof tensor_defect / sizeof tensor_defect[0]; i++, n++) {
    variant_make(dir, "gpt2");
    variant_tensor(dir, tensor_defect[i].name, tensor_defect[i].edit);
    expect_refusal(dir, tensor_defect[i].words);
    variant_drop(dir);
  }
  tally("refusals of directories", n, 0, 0, "");
}
END_TEST

/* ---- what a directory answers: logits, context, ends; to see whether a change of a field is
 * noticed */
static bool answer(const char *dir, float *logits, size_t *n, struct model_config *c)
{
  struct rig r;
  bool ok = rig_open(&r, dir, NULL, 1, 1);
  if (ok) {
    uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    size_t last = 7;
    *n = r.lm->config.vocab_size;
    ok = model_evaluate(&r.e, r.lm, r.s, ids, 8, &last, 1, logits, &r.why);
    *c = r.lm->config;
    c->ignored = NULL, c->n_ignored = c->ignored_cap = 0;
  }
  store_close(r.s), model_close(&r.m, r.lm);
  return ok;
}
static const struct {
  const char *base, *file, *field, *value;
} used[] = {
  { "gpt2", "config.json", "layer_norm_epsilon", "0.01" },
  { "gpt2", "config.json", "n_head", "4" },
  { "gpt2", "config.json", "eos_token_id", "3" },
  { "gpt2", "config.json", "bos_token_id", "3" },
  { "llama", "config.json", "rms_norm_eps", "0.01" },
  { "llama", "config.json", "rope_theta", "500" },
  { "llama", "config.json", "num_attention_heads", "2" },
  { "llama", "config.json", "max_position_embeddings", "17" },
  { "llama", "config.json", "rope_scaling",
    "{\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,\"original_max_"
    "position_embeddings\":12}" },
  { "llama", "config.json", "head_dim", "8" },
  { "llama", "config.json", "hidden_size", "8" },
  { "llama", "config.json", "intermediate_size", "23" },
  { "llama-stretched", "config.json", "rope_parameters.factor", "5" },
  { "llama-stretched", "config.json", "rope_parameters.low_freq_factor", "1.5" },
  { "llama-stretched", "config.json", "rope_parameters.high_freq_factor", "3.5" },
  { "llama-stretched", "config.json", "rope_parameters.rope_theta", "600" },
  { "llama-stretched", "config.json", "rope_parameters.original_max_position_embeddings", "14" },
  { "llama-stretched", "config.json", "mlp_bias", "false" },
  { "llama-stretched", "config.json", "rope_parameters",
    "{\"rope_type\":\"default\",\"rope_theta\":500}" },
  { "llama-stretched", "config.json", "attention_bias", "false" },
  { "llama-stretched", "config.json", "tie_word_embeddings", "false" },
  { "mistral", "config.json", "sliding_window", "4" },
  { "mistral", "config.json", "sliding_window", "null" },
  { "mistral", "config.json", "num_key_value_heads", "2" },
  { "qwen2", "config.json", "rope_theta", "10000" },
  { "qwen3", "config.json", "rms_norm_eps", "0.1" },
  { "gpt2", "generation_config.json", "eos_token_id", "[4,5]" },
  { "gpt2", "generation_config.json", "do_sample", "true" },
  { "gpt2", "generation_config.json", "temperature", "0.7" },
  { "gpt2", "generation_config.json", "top_k", "5" },
  { "gpt2", "generation_config.json", "top_p", "0.9" },
  { "gpt2", "generation_config.json", "min_p", "0.1" },
  { "gpt2", "generation_config.json", "typical_p", "0.9" },
  { "gpt2", "generation_config.json", "repetition_penalty", "1.1" },
  { "gpt2", "generation_config.json", "no_repeat_ngram_size", "3" },
  { "gpt2", "generation_config.json", "bos_token_id", "4" },
  { "gpt2", "config.json", "activation_function", "\"gelu\"" },
  { "gpt2", "config.json", "scale_attn_weights", "false" },
  { "gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "true" },
  { "gpt2-unscaled", "config.json", "scale_attn_weights", "true" },
  { "gpt2-unscaled", "config.json", "scale_attn_by_inverse_layer_idx", "false" },
  { "gpt2-unscaled", "config.json", "activation_function", "\"gelu_new\"" },
  { "llama", "config.json", "hidden_act", "\"gelu_pytorch_tanh\"" },
  { "llama", "config.json", "hidden_act", "\"gelu\"" },
  { "llama-linear", "config.json", "rope_scaling.factor", "2" },
  { "llama-linear", "config.json", "rope_scaling", "null" },
  { "llama-yarn", "config.json", "rope_parameters.factor", "5" },
  { "llama-yarn", "config.json", "rope_parameters.beta_fast", "6" },
  { "llama-yarn", "config.json", "rope_parameters.beta_slow", "0.01" },
  { "llama-yarn", "config.json", "rope_parameters.original_max_position_embeddings", "8" },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "false" },
  { "llama-yarn", "config.json", "rope_parameters.attention_factor", "1.0" },
  { "llama-yarn", "config.json", "rope_parameters.rope_type", "\"linear\"" },
  { "llama-yarn", "config.json", "rope_parameters.rope_theta", "90" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale", "1.6" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "0.6" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "null" },
  { "qwen2-yarn", "config.json", "rope_scaling.truncate", "true" },
  { "qwen2-yarn", "config.json", "sliding_window", "4" },
  { "qwen2-yarn", "config.json", "sliding_window", "null" },
  { "qwen2-yarn", "config.json", "use_sliding_window", "false" },
  { "qwen2-yarn", "config.json", "max_window_layers", "2" },
  { "qwen2-yarn", "config.json", "max_window_layers", "null" },
  { "qwen2-yarn", "config.json", "layer_types",
    "[\"sliding_attention\",\"full_attention\",\"full_attention\"]" },
  { "qwen3-layers", "config.json", "layer_types",
    "[\"sliding_attention\",\"sliding_attention\",\"full_attention\"]" },
  { "qwen3-layers", "config.json", "layer_types", "null" },
  { "qwen3-layers", "config.json", "sliding_window", "3" },
  { "qwen3-layers", "config.json", "attention_bias", "false" },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "null" },
  { "llama", "config.json", "is_causal", "false" },
  { "gpt2", "config.json", "is_causal", "null" },
  { "qwen3", "config.json", "is_causal", "\"\"" },
};
START_TEST(used_fields_change_the_answer_or_are_refused)
{
  char dir[200];
  unsigned n = 0;
  for (size_t i = 0; i < sizeof used / sizeof used[0]; i++, n++) {
    float a[64] = { 0 }, b[64] = { 0 };
    size_t na, nb = 0;
    struct model_config ca, cb;
    memset(&ca, 0, sizeof ca), memset(&cb, 0, sizeof cb);
    variant_make(dir, used[i].base);
    if (strcmp(used[i].field, "eos_token_id") == 0 && strcmp(used[i].file, "config.json") == 0)
      variant_json(dir, "generation_config.json", "eos_token_id", NULL);
    ck_assert(answer(dir, a, &na, &ca));
    variant_json(dir, used[i].file, used[i].field, used[i].value);
    bool ok = answer(dir, b, &nb, &cb);
    bool logits = ok && (na != nb || memcmp(a, b, na * sizeof *a) != 0);
    bool ends = ok
      && (ca.n_eos != cb.n_eos || memcmp(ca.eos, cb.eos, sizeof ca.eos) != 0 || ca.bos != cb.bos
        || ca.n_positions != cb.n_positions);
    bool advice = ok && memcmp(&ca.sampling, &cb.sampling, sizeof ca.sampling) != 0;
    ck_assert_msg(
      !ok || logits || ends || advice, "%s %s changes nothing", used[i].base, used[i].field);
    variant_drop(dir);
  }
  tally("used fields altered", n, 0, 0, "");
}
END_TEST
START_TEST(yarn_takes_null_for_no)
{
  char dir[200];
  float a[64] = { 0 }, b[64] = { 0 };
  size_t n[2];
  struct model_config c;
  for (int k = 0; k < 2; k++) {
    variant_make(dir, "llama-yarn");
    variant_json(dir, "config.json", "rope_parameters.truncate", k ? "null" : "false");
    ck_assert(answer(dir, k ? b : a, &n[k], &c));
    variant_drop(dir);
  }
  ck_assert(n[0] == n[1] && memcmp(a, b, n[0] * sizeof *a) == 0);
  variant_make(dir, "llama-yarn");
  variant_json(dir, "config.json", "rope_parameters.truncate", "0");
  ck_assert(!answer(dir, b, &n[1], &c));
  variant_drop(dir);
}
END_TEST
START_TEST(harmless_fields_change_nothing)
{
  static const struct {
    const char *field, *value;
  } harmless[] = { { "transformers_version", "\"9\"" }, { "_name_or_path", "\"x\"" },
    { "_commit_hash", "\"x\"" }, { "torch_dtype", "\"float16\"" }, { "dtype", "\"bfloat16\"" },
    { "is_llama_config", "true" }, { "transformers.js_config", "{\"a\":1}" },
    { "task_specific_params", "{\"a\":1}" }, { "reorder_and_upcast_attn", "true" },
    { "pretraining_tp", "2" }, { "use_cache", "false" }, { "pad_token_id", "-1" },
    { "output_attentions", "true" }, { "output_hidden_states", "true" }, { "return_dict", "true" },
    { "initializer_range", "3" }, { "attn_pdrop", "0.9" }, { "embd_pdrop", "0.9" },
    { "resid_pdrop", "0.9" }, { "attention_dropout", "0.9" }, { "gradient_checkpointing", "true" },
    { "summary_activation", "\"tanh\"" }, { "summary_first_dropout", "0.5" },
    { "summary_proj_to_labels", "true" }, { "summary_type", "\"first\"" },
    { "summary_use_proj", "true" }, { "id2label", "{\"0\":\"a\"}" }, { "label2id", "{\"a\":0}" },
    { "num_labels", "7" }, { "some_future_flag", "null" }, { "torchscript", "false" },
    { "auto_map", "{}" }, { "pruned_heads", "[]" }, { "note", "\"\"" },
    { "max_sequence_length", "7" }, { "max_length", "20" },
    { "_attn_implementation_autoset", "true" }, { "chunk_size_feed_forward", "0" },
    { "unsloth_fixed", "true" }, { "unsloth_version", "\"2025\"" }, { "n_special", "0" },
    { "predict_special_tokens", "true" }, { "output_past", "true" }, { "_num_labels", "3" },
    { "attn_logit_softcapping", "null" }, { "final_logit_softcapping", "null" },
    { "clip_qkv", "null" } };
  static const struct {
    const char *base, *field, *value;
    bool listed;
  } elsewhere[] = { { "qwen2", "sliding_window", "4", false },
    { "qwen2", "max_window_layers", "1", false },
    { "qwen2", "layer_types", "[\"full_attention\",\"full_attention\"]", false },
    { "mistral", "layer_types", "[\"sliding_attention\",\"sliding_attention\"]", false },
    { "qwen3-layers", "max_window_layers", "0", false }, { "llama", "is_causal", "true", false },
    { "gpt2", "logits_scaling", "1.0", false }, { "llama", "logit_scale", "1", false },
    { "llama", "residual_multiplier", "1.0", false },
    { "llama", "embedding_multiplier", "1", false },
    { "llama", "partial_rotary_factor", "1.0", false },
    { "llama-yarn", "rope_parameters.partial_rotary_factor", "1.0", false },
    { "llama-yarn", "rope_parameters.finetuned", "true", true },
    { "llama-yarn", "rope_parameters.mscale", "2.0", true },
    { "llama-yarn", "rope_parameters.mscale_all_dim", "2.0", true },
    { "llama-yarn", "rope_parameters.factor", "null", false },
    { "llama-yarn", "rope_parameters.type", "\"yarn\"", false },
    { "llama", "rope_parameters", "{\"rope_theta\":10000}", false } };
  char dir[200];
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
    for (int llama = 0; llama < 2; llama++) {
      float a[64] = { 0 }, b[64] = { 0 };
      size_t na, nb;
      struct model_config ca, cb;
      variant_make(dir, llama ? "llama" : "gpt2");
      ck_assert(answer(dir, a, &na, &ca));
      variant_json(dir, "config.json", harmless[i].field, harmless[i].value);
      ck_assert_msg(answer(dir, b, &nb, &cb), "%s is refused", harmless[i].field);
      ck_assert(na == nb && memcmp(a, b, na * sizeof *a) == 0);
      struct memory m = { 0 };
      ck_assert(config_open(&ca, &m, dir, NULL));
      bool listed = false;
      for (size_t k = 0; k < ca.n_ignored; k++)
        listed = listed
          || (strcmp(ca.ignored[k].field, harmless[i].field) == 0
            && ca.ignored[k].reason[0] != '\0');
      ck_assert_msg(listed, "%s is not listed", harmless[i].field);
      config_close(&m, &ca);
      variant_drop(dir);
    }
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0];
       i++) { /* fields that some model has, with a value that asks for nothing more */
    float a[64] = { 0 }, b[64] = { 0 };
    size_t na, nb;
    struct model_config c;
    struct memory m = { 0 };
    variant_make(dir, elsewhere[i].base);
    ck_assert(answer(dir, a, &na, &c));
    variant_json(dir, "config.json", elsewhere[i].field, elsewhere[i].value);
    ck_assert_msg(answer(dir, b, &nb, &c) && na == nb && memcmp(a, b, na * sizeof *a) == 0, "%s %s",
      elsewhere[i].base, elsewhere[i].field);
    ck_assert(config_open(&c, &m, dir, NULL));
    bool listed = false;
    const char *dot = strchr(elsewhere[i].field, '.'), *name = dot ? dot + 1 : elsewhere[i].field;
    for (size_t k = 0; k < c.n_ignored; k++)
      listed = listed || strcmp(c.ignored[k].field, name) == 0;
    ck_assert_msg(listed == elsewhere[i].listed, "%s", elsewhere[i].field);
    config_close(&m, &c);
    variant_drop(dir);
  }
  tally("harmless fields altered",
    (unsigned) (sizeof harmless / sizeof harmless[0] + sizeof elsewhere / sizeof elsewhere[0]), 0,
    0, "");
}
END_TEST

/* ---- the settings of published checkpoints, without their weights */
START_TEST(published_settings_are_understood)
{
  char line[300], path[400], got[200];
  FILE *f = fopen("tests/golden/configs/LIST.tsv", "r");
  ck_assert_ptr_nonnull(f);
  unsigned n = 0, refused = 0;
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#') continue;
    char *want = strchr(line, '\t');
    *want++ = 0, want[strcspn(want, "\n")] = 0;
    snprintf(path, sizeof path, "tests/golden/configs/%s", line);
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    if (strchr(want, ' ') == NULL) {
      ck_assert_msg(!config_open(&c, &m, path, &why), "%s is accepted", line);
      ck_assert_msg(strstr(why.text, want) != NULL, "%s is not in: %s", want, why.text);
      refused++;
    } else {
      ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
      uint32_t windows = 0;
      for (uint32_t i = 0; i < c.n_layers; i++) windows += config_window(&c, i) > 0;
      snprintf(got, sizeof got, "%s %u %u %u %u %u %u %d %d", c.family, c.n_layers, c.n_heads,
        c.n_kv_heads, c.head_dim, c.window, windows, (int) c.rope.kind, c.tied);
      ck_assert_msg(strcmp(got, want) == 0, "%s: %s, wanted %s", line, got, want);
      ck_assert_uint_gt(c.n_ignored, 2);
      config_close(&m, &c);
    }
    ck_assert_uint_eq(m.all.live, 0);
    n++;
  }
  fclose(f);
  ck_assert_uint_ge(refused, 7);
  tally("published settings", n, 0, 0, "");
}
END_TEST
/* ---- mistral without a word about its window has the one of its first model, as in the library;
 * qwen's list of layers decides */
START_TEST(silence_means_what_the_library_means)
{
  char dir[200];
  struct memory m = { 0 };
  struct model_config c;
  variant_make(dir, "mistral");
  variant_json(dir, "config.json", "sliding_window", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.window == 4096 && config_window(&c, 1) == 4096);
  config_close(&m, &c);
  variant_drop(dir);
  variant_make(dir, "qwen3");
  variant_json(dir, "config.json", "head_dim", NULL);
  variant_json(dir, "config.json", "use_sliding_window", "true");
  variant_json(dir, "config.json", "sliding_window", "5");
  variant_json(dir, "config.json", "num_hidden_layers", "40");
  variant_json(dir, "config.json", "max_window_layers", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.head_dim == 128 && c.activation == ACTIVATION_SILU);
  for (uint32_t i = 0; i < 40; i++) ck_assert_uint_eq(config_window(&c, i), i >= 28 ? 5 : 0);
  config_close(&m, &c);
  variant_drop(dir);
  variant_make(dir, "llama-yarn");
  variant_json(dir, "config.json", "rope_parameters.beta_fast", NULL);
  variant_json(dir, "config.json", "rope_parameters.beta_slow", NULL);
  variant_json(dir, "config.json", "rope_parameters.factor", NULL);
  variant_json(dir, "config.json", "rope_parameters.original_max_position_embeddings", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.rope.factor == 1 && c.rope.original == 32
    && c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.truncate);
  ck_assert(rope_attention(&c.rope) == 1);
  config_close(&m, &c);
  variant_drop(dir);
}
END_TEST

/* ---- files of tensors */
START_TEST(vectors_of_the_format)
{
  char buffer[300], line[300];
  const char *list = shared_file(buffer, sizeof buffer, "vectors/safetensors/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char name[100], verdict[100], path[600];
    sscanf(line, "%99s %99s", name, verdict);
    snprintf(
      path, sizeof path, "%.*s/%s.safetensors", (int) (strrchr(list, '/') - list), list, name);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    bool right =
      (w != NULL) == (strcmp(verdict, "ok") == 0) && (w != NULL || strstr(why.text, name) != NULL);
    tensor_file_close(&m, w);
    if (right && m.all.live == 0 && m.all.peak < (64u << 20))
      passed++;
    else
      failed++;
  }
  fclose(f);
  tally("vectors/safetensors/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST
static const struct {
  const char *header;
  size_t data;
  bool ok;
  uint64_t tensors, parameters;
  const char *words;
} header_case[] = {
  { "{}", 0, true, 0, 0, "" },
  { " \t\r\n{ } ", 0, true, 0, 0, "" },
  { "", 0, false, 0, 0, "wanted: {" },
  { "{", 0, false, 0, 0, ", or }" },
  { "[]", 0, false, 0, 0, "wanted: {" },
  { "{}~", 0, false, 0, 0, "white space" },
  { "~{}", 0, false, 0, 0, "wanted: {" },
  { "{}x", 0, false, 0, 0, "white space" },
  { "{} {}", 0, false, 0, 0, "white space" },
  { "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, true, 1, 1, "" },
  { "{\"a\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[0,0]}}", 0, true, 1, 0, "" },
  { "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, false, 0, 0,
    "as many bytes" },
  { "{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2, true, 1, 4, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,4]}}", 4, false, 0, 0,
    "as many bytes" },
  { "{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, true, 1, 4, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\","
    "\"shape\":[1],\"data_offsets\":[1,2]}}",
    2, false, 0, 0, "given twice" },
  { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0,
    0, "duplicate" },
  { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0, false, 0, 0, "duplicate" },
  { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, false, 0, 0, "twice" },
  { "{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, true, 0, 0, "" },
  { "{\"__metadata__\":[]}", 0, false, 0, 0, "object of strings" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},}", 1, false, 0, 0,
    "strict JSON" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}", 1, false, 0, 0, ", or }" },
  { "{\"a\" {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0, 0,
    "\"name\": value" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, false,
    0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, false,
    0, 0, "as many bytes" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, false, 0, 0, "rising" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, false, 0, 0,
    "two data_offsets" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", 8, false, 0, 0,
    "within the file" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 9, false, 0, 0,
    "the last offset" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\","
    "\"shape\":[2],\"data_offsets\":[1,3]}}",
    3, false, 0, 0, "no overlap" },
  { "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"e\":{\"dtype\":\"U8\","
    "\"shape\":[0],\"data_offsets\":[1,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":["
    "0,1]}}",
    2, true, 3, 2, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
    true, 1, 1, "" },
  { "{\"a\":3}", 0, false, 0, 0, "two data_offsets" },
  { "{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, false, 0, 0,
    "u0000" },
};
START_TEST(headers_are_believed_only_when_they_add_up)
{
  char path[300];
  const char *t = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/incipit-header-%d", t ? t : "/tmp", (int) getpid());
  for (size_t i = 0; i < sizeof header_case / sizeof header_case[0]; i++) {
    unsigned char file[1024] = { 0 };
    uint64_t n = strlen(header_case[i].header), p = 0;
    memcpy(file, &n, 8);
    memcpy(file + 8, header_case[i].header, n);
    for (size_t k = 8; k < 8 + n; k++)
      if (file[k] == '~') file[k] = 0; /* ~ stands for a zero byte */
    spill(path, file, 8 + n + header_case[i].data);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    ck_assert_msg((w != NULL) == header_case[i].ok && (w || strstr(why.text, header_case[i].words)),
      "%s: %s", header_case[i].header, why.text);
    for (size_t k = 0; w && k < tensor_file_count(w); k++) {
      p += tensor_file_at(w, k)->elements;
      ck_assert_ptr_eq(tensor_file_find(w, tensor_file_at(w, k)->name), tensor_file_at(w, k));
    }
    if (w)
      ck_assert(tensor_file_count(w) == header_case[i].tensors && p == header_case[i].parameters);
    if (w) ck_assert_ptr_null(tensor_file_find(w, "nobody"));
    tensor_file_close(&m, w);
    ck_assert_uint_eq(m.all.live, 0);
  }
  remove(path);
  tally("headers of tensor files", sizeof header_case / sizeof header_case[0], 0, 0, "");
}
END_TEST
START_TEST(directories_to_refuse)
{
  char buffer[300], line[600];
  const char *list = shared_file(buffer, sizeof buffer, "golden/refuse/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char path[600], *verdict = strchr(line, '\t');
    *verdict++ = 0;
    if (strcmp(line, "tokenizer-ids-over") == 0)
      continue; /* for the chapters on tokens and the command */
    snprintf(path, sizeof path, "%.*s/%.100s", (int) (strrchr(list, '/') - list), list, line);
    struct memory m = { 0 };
    struct error why = { "" };
    struct model *lm = model_open(&m, path, &why);
    bool right = (lm == NULL) == (strncmp(verdict, "must refuse", 11) == 0)
      && (lm || strchr(why.text, ';') != NULL);
    model_close(&m, lm);
    if (right && m.all.live == 0)
      passed++;
    else
      failed++;
  }
  fclose(f);
  tally("golden/refuse/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST
START_TEST(tensors_may_lie_anywhere_and_be_stored_twice)
{
  char dir[200];
  float a[64], b[64];
  size_t n;
  struct model_config c;
  ck_assert(answer("tests/golden/gpt2", a, &n, &c));
  variant_make(dir, "gpt2"); /* data not aligned to their type */
  variant_tensor(dir, NULL, "shift");
  ck_assert(answer(dir, b, &n, &c) && memcmp(a, b, n * sizeof *a) == 0);
  variant_drop(dir);
  ck_assert(answer("tests/golden/qwen3", a, &n, &c));
  variant_make(
    dir, "qwen3"); /* a head beside a tied embedding: equal is harmless, different is an error */
  variant_json(dir, "config.json", "tie_word_embeddings", "true");
  const char *const words[4] = { "model.safetensors", "lm_head.weight", "not the embedding",
    "equal" };
  expect_refusal(dir, words);
  variant_tensor(dir, "lm_head.weight", "drop");
  ck_assert(answer(dir, b, &n, &c));
  variant_drop(dir);
}
END_TEST
START_TEST(a_number_that_is_none_is_named)
{
  char buffer[300];
  const char *path = shared_file(buffer, sizeof buffer, "golden/refuse/nan-weights");
  if (path == NULL) return;
  struct rig r;
  ck_assert(rig_open(&r, path, NULL, 1, 1));
  uint32_t good[3] = { 1, 2, 3 }, bad[3] = { 1, 7, 3 };
  double lp[3], sum;
  size_t last = 2;
  float logits[264];
  ck_assert(model_logprobs(&r.e, r.lm, r.s, good, 3, lp, &sum, &r.why));
  ck_assert(!model_logprobs(&r.e, r.lm, r.s, bad, 3, lp, &sum, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.text, "the embedding of row 1 is not finite"));
  ck_assert(model_evaluate(&r.e, r.lm, r.s, bad, 3, &last, 1, logits, &r.why));
  ck_assert(logits[0] != logits[0]);
  rig_close(&r);
  tally("golden/refuse/nan-weights", 1, 0, 0, "");
}
END_TEST

/* ---- a watcher sees what the pass computes, and its hand is felt */
struct seen {
  unsigned count[12];
  float weights, first;
  uint32_t longest;
  bool spoil;
};
static void see(
  void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct seen *s = ctx;
  s->count[stage]++;
  if (stage == TAP_WEIGHTS)
    for (size_t i = 0; i < width; i++) s->weights += x[(rows - 1) * width + i];
  if (stage == TAP_MIXED && layer == 0 && s->spoil)
    for (size_t i = 0; i < width; i++) x[i] = 0;
}
START_TEST(a_watcher_sees_and_may_change)
{
  struct rig r;
  struct seen s = { 0 }, t = { .spoil = true };
  struct watcher watch = { see, &s, true };
  struct row rows[5];
  struct pass *p;
  float a[24], b[24];
  size_t last = 4;
  ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 1));
  for (uint32_t i = 0; i < 5; i++) rows[i] = (struct row){ 0, i, i };
  ck_assert(model_forward_watched(&r.e, r.lm, r.s, rows, 5, &watch, &p, &r.why));
  ck_assert(model_logits(&r.e, r.lm, p, &last, 1, a, &r.why));
  pass_close(p);
  for (int i = 0; i < 12; i++) ck_assert_uint_eq(s.count[i], i == TAP_EMBEDDING ? 1 : 2);
  ck_assert(
    fabsf(s.weights - 8) < 1e-5f); /* two layers of four heads, each row of weights sums to 1 */
  store_clear(r.s);
  watch.ctx = &t;
  ck_assert(model_forward_watched(&r.e, r.lm, r.s, rows, 5, &watch, &p, &r.why));
  ck_assert(model_logits(&r.e, r.lm, p, &last, 1, b, &r.why));
  pass_close(p);
  ck_assert(memcmp(a, b, sizeof a) != 0);
  rig_close(&r);
}
END_TEST

/* ---- probabilities */
START_TEST(probabilities_of_all_texts_add_up_to_one)
{
  char dir[200];
  struct rig r;
  variant_make(dir, "llama");
  ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 1));
  variant_drop(dir);
  double sum = 0;
  size_t v = r.lm->config.vocab_size;
  for (uint32_t a = 0; a < v; a++)
    for (uint32_t b = 0; b < v; b++) {
      uint32_t ids[3] = { 5, a, b };
      double lp[3], s;
      ck_assert(model_logprobs(&r.e, r.lm, r.s, ids, 3, lp, &s, &r.why));
      sum += exp(s);
    }
  ck_assert(fabs(sum - 1) < 1e-12);
  rig_close(&r);
}
END_TEST
START_TEST(softmax_of_a_vocabulary_adds_up_to_one)
{
  enum { V = 50257 };
  uint64_t seed = suite_seed();
  static float x[V];
  static double y[V], z[V];
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    for (int scale = 1; scale <= 100; scale *= 10) {
      struct engine e = { kernels_at(k), NULL, NULL };
      double sum = 0, carry = 0;
      for (int i = 0; i < V; i++)
        x[i] = (float) scale * ((float) (rnd(&seed) >> 40) * 0x1p-23f - 1);
      e.k->softmax(&e, x, 1, V, y);
      e.k->log_softmax(&e, x, 1, V, z);
      for (int i = 0; i < V;
           i++) { /* summed with compensation, so that the test adds no error of its own */
        double w = y[i] - carry, s = sum + w;
        carry = (s - sum) - w, sum = s;
        ck_assert(fabs(log(y[i]) - z[i]) < 1e-12 * fabs(z[i]));
      }
      ck_assert_msg(fabs(sum - 1) <= 1e-14, "%g", sum - 1);
    }
}
END_TEST

/* ---- what is not finite is named: the row, and the layer where it began or the logit's token */
static void not_finite(struct tiny *t, float *where, float x, const char *words)
{
  static const uint32_t ids[4] = { 1, 2, 7, 3 };
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct error why = { "" };
  struct store *s = store_open(&m, &t->lm.config, 1, &why);
  double good[4], lp[4], sum, again, old = (double) *where;
  ck_assert_msg(model_logprobs(&e, &t->lm, s, ids, 4, good, &sum, &why), "%s", why.text);
  ck_assert(fabs(sum - (good[1] + good[2] + good[3])) < 1e-12 && good[0] == 0);
  *where = x;
  bool ok = model_logprobs(&e, &t->lm, s, ids, 4, lp, &again, &why);
  ck_assert_msg(!ok && strcmp(why.text, words) == 0, "%s; wanted: %s", ok ? "" : why.text, words);
  *where = (float) old;
  ck_assert(model_logprobs(&e, &t->lm, s, ids, 4, lp, &again, &why));
  ck_assert(again == sum && memcmp(lp, good, sizeof lp) == 0);
  store_close(s);
  ck_assert_uint_eq(m.all.live, 0);
}
START_TEST(the_first_number_that_is_none_is_blamed)
{
  static const float odd[3] = { INFINITY, -INFINITY, NAN };
  struct tiny t;
  char words[200];
  tiny_make(&t, suite_seed());
  for (int i = 0; i < 3; i++) {
    float *table = (float *) (uintptr_t) t.lm.embedding.data;
    not_finite(&t, table + 7 * TINY_D + 3, odd[i],
      "the model: the embedding of row 2 is not finite; wanted: finite logits");
    not_finite(&t, table + 1 * TINY_D + 11, odd[i],
      "the model: the embedding of row 0 is not finite; wanted: finite logits");
    for (uint32_t l = 0; l < TINY_LAYERS; l++) {
      float *down = (float *) (uintptr_t) t.layer[l].down.weight.data;
      snprintf(words, sizeof words,
        "the model: row 0 is not finite behind layer %u of 3; wanted: finite logits", l + 1);
      not_finite(&t, down + 5 * TINY_FF, odd[i], words);
    }
    for (uint32_t v = 0; v < TINY_V; v += TINY_V - 1) { /* the first id, and the last */
      float *head = (float *) (uintptr_t) t.lm.head.weight.data;
      snprintf(words, sizeof words,
        "the model: the logit of token %u behind row 0 is not finite; wanted: a number", v);
      not_finite(&t, head + v * TINY_D + 4, odd[i], words);
    }
  }
  tiny_free(&t);
}
END_TEST
/* each row has its own layer: the one where it was spoilt first, whatever happens to it later */
START_TEST(every_row_says_where_it_was_spoilt)
{
  struct tiny t;
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct error why;
  tiny_make(&t, suite_seed() + 1);
  ((float *) (uintptr_t) t.lm.embedding.data)[5 * TINY_D] = NAN;
  ((float *) (uintptr_t) t.layer[1].down.weight.data)[0] = INFINITY;
  struct store *s = store_open(&m, &t.lm.config, 2, &why);
  struct row rows[5] = { { 0, 0, 1 }, { 1, 0, 5 }, { 0, 1, 5 }, { 1, 1, 1 }, { 0, 2, 1 } };
  static const char *const words[5] = { "row 0 is not finite behind layer 2 of 3",
    "the embedding of row 1 is", "the embedding of row 2 is",
    "row 3 is not finite behind layer 1 of 3", "row 4 is not finite behind layer 1 of 3" };
  struct pass *p;
  ck_assert(model_forward(&e, &t.lm, s, rows, 5, &p, &why));
  for (size_t i = 0; i < 5; i++) {
    ck_assert(!pass_is_finite(&t.lm, p, i, &why));
    ck_assert_msg(strstr(why.text, words[i]) != NULL, "%s; wanted: %s", why.text, words[i]);
  }
  pass_close(p), store_close(s), tiny_free(&t);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- a pass that is refused has not been: no pass, no rows, no counts; the next one is right */
START_TEST(a_refused_pass_has_not_been)
{
  static const struct {
    struct row rows[3];
    const char *words;
  } bad[] = { { { { 0, 4, 1 }, { 0, 5, 19 }, { 1, 0, 1 } },
                "the token of row 1 is 19; wanted: below 19, the size" },
    { { { 0, 4, 1 }, { 1, 0, 1 }, { 2, 0, 1 } }, "row 2 is of sequence 2; wanted: below 2" },
    { { { 0, 4, 1 }, { 0, 3, 1 }, { 1, 0, 1 } },
      "position 3 of sequence 0 is stored already; wanted: from 4 on" },
    { { { 0, 4, 1 }, { 1, 1, 1 }, { 0, 5, 1 } },
      "position 1 of sequence 1 is behind a gap; wanted: from 0 on" },
    { { { 0, 4, 1 }, { 1, 0, 1 }, { 0, 4, 1 } },
      "position 4 of sequence 0 is given twice; wanted: from 4 on" },
    { { { 0, 4, 1 }, { 0, 300, 1 }, { 0, 5, 1 } },
      "beyond the context; wanted: from 4 on, below 300, each once" } };
  struct tiny t;
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { kernels_find(NULL, NULL), NULL, &c };
  struct error why;
  tiny_make(&t, suite_seed() + 2);
  struct store *s = store_open(&m, &t.lm.config, 2, &why);
  struct row rows[4] = { { 0, 0, 3 }, { 0, 1, 1 }, { 0, 2, 4 }, { 0, 3, 1 } },
             more[3] = { { 0, 4, 9 }, { 1, 0, 9 }, { 0, 5, 9 } };
  struct pass *p, *q;
  float want[TINY_V], got[TINY_V];
  size_t last = 3, three = 3, beyond = 4;
  ck_assert(model_forward(&e, &t.lm, s, rows, 4, &p, &why));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct counters before = c;
    q = p;
    ck_assert(!model_forward(&e, &t.lm, s, bad[i].rows, 3, &q, &why));
    ck_assert_msg(strstr(why.text, bad[i].words) != NULL, "%s; wanted: %s", why.text, bad[i].words);
    ck_assert(q == NULL && memcmp(&before, &c, sizeof c) == 0);
    ck_assert(store_length(s, 0) == 4 && store_length(s, 1) == 0);
  }
  for (uint64_t k = 1, whole = 0; !whole; k++) { /* nor if there is no memory */
    struct counters before = c;
    uint64_t held = m.of[MEMORY_ACTIVATIONS].live;
    q = p, m.fail_at = m.all.requests + k;
    whole = model_forward(&e, &t.lm, s, more, 3, &q, &why);
    m.fail_at = 0;
    if (whole) break;
    ck_assert(q == NULL && memcmp(&before, &c, sizeof c) == 0 && store_length(s, 0) == 4);
    ck_assert_uint_eq(m.of[MEMORY_ACTIVATIONS].live, held);
  }
  pass_close(q);
  /* rows of logits: the last, one beyond, and which of two is named; nothing is counted for it */
  struct counters before = c;
  ck_assert(!model_logits(&e, &t.lm, p, (size_t[]){ 0, 4 }, 2, want, &why));
  ck_assert_str_eq(why.text, "logits of row 4; wanted: a row below 4");
  ck_assert(!model_logits(&e, &t.lm, p, (size_t[]){ 7, 4 }, 2, want, &why));
  ck_assert_str_eq(why.text, "logits of row 7; wanted: a row below 4");
  ck_assert(
    !model_logits(&e, &t.lm, p, &beyond, 1, want, &why) && memcmp(&before, &c, sizeof c) == 0);
  ck_assert(model_logits(&e, &t.lm, p, NULL, 0, NULL, &why) && memcmp(&before, &c, sizeof c) == 0);
  ck_assert(model_logits(&e, &t.lm, p, &last, 1, want, &why));
  pass_close(p), store_close(s);
  /* the whole context is read, and one token more is not */
  uint32_t ids[TINY_CONTEXT + 1] = { 3, 1, 4, 1 };
  s = store_open(&m, &t.lm.config, 1, &why);
  ck_assert(!model_evaluate(&e, &t.lm, s, ids, TINY_CONTEXT + 1, &three, 1, got, &why));
  ck_assert_str_eq(why.text, "the text has 301 tokens; wanted: at most 300, the model's context");
  ck_assert(model_evaluate(&e, &t.lm, s, ids, TINY_CONTEXT, &three, 1, got, &why));
  ck_assert(memcmp(got, want, sizeof got) == 0);
  store_close(s), tiny_free(&t);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- settings at their limits: read from a text, without weights */
#define QWEN                                                                                       \
  "\"model_type\": \"qwen2\", \"vocab_size\": 9, \"hidden_size\": 8, "                             \
  "\"intermediate_size\": 8, "                                                                     \
  "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"max_position_embeddings\": 64"
static bool settings_of(
  struct model_config *c, struct memory *m, struct error *why, const char *text, const char *advice)
{
  char dir[100], path[400];
  const char *t = getenv("TMPDIR");
  snprintf(dir, sizeof dir, "%.60s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  variant_path(path, dir, "config.json"), spill(path, text, strlen(text));
  variant_path(path, dir, "generation_config.json");
  if (advice != NULL) spill(path, advice, strlen(advice));
  bool ok = config_open(c, m, dir, why);
  variant_drop(dir);
  return ok;
}
static void settings_say(const char *text, const char *advice, const char *words)
{
  struct memory m = { 0 };
  struct model_config c;
  struct error why = { "" };
  bool ok = settings_of(&c, &m, &why, text, advice);
  ck_assert_msg(ok == (words == NULL), "%s: %s", text, ok ? "accepted" : why.text);
  ck_assert_msg(ok || strstr(why.text, words) != NULL, "%s; wanted: %s", why.text, words);
  if (ok) config_close(&m, &c);
  ck_assert(c.family == NULL && c.ignored == NULL && m.all.live == 0);
}
START_TEST(a_list_of_layers_has_a_word_for_each)
{
  static char text[40000];
  static const struct {
    unsigned layers, words;
    bool ok;
  } list[] = { { 2, 2, true }, { 2, 1, false }, { 2, 3, false }, { 1, 1, true },
    { 1024, 1024, true }, { 1025, 1025, false }, { 9, 9, true }, { 1024, 1023, false } };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    for (int near = 0; near < 2; near++) {
      size_t n = (size_t) sprintf(text,
        "{" QWEN ", \"num_hidden_layers\": %u, \"sliding_window\": 4, "
        "\"use_sliding_window\": %s, \"layer_types\": [",
        list[i].layers, near ? "true" : "false");
      for (unsigned k = 0; k < list[i].words; k++)
        n += (size_t) sprintf(
          text + n, "%s\"%s_attention\"", k ? "," : "", near && k % 3 != 1 ? "sliding" : "full");
      sprintf(text + n, "]}");
      settings_say(text, NULL, list[i].ok ? NULL : "a word for each layer");
      if (!list[i].ok) continue;
      struct memory m = { 0 };
      struct model_config c;
      ck_assert(settings_of(&c, &m, NULL, text, NULL));
      for (uint32_t k = 0; k < list[i].layers; k++)
        if (config_window(&c, k) != (near && k % 3 != 1 ? 4 : 0)) ck_abort_msg("layer %u", k);
      config_close(&m, &c);
    }
}
END_TEST
START_TEST(two_places_for_one_setting_agree_or_are_refused)
{
#define TWO "{" QWEN ", \"num_hidden_layers\": 2, "
#define LINEAR(x) "{\"rope_type\": \"linear\", \"factor\": " x "}"
  settings_say(
    TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": " LINEAR("2.0") "}", NULL, NULL);
  settings_say(TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": " LINEAR("4.0") "}",
    NULL, "{\"rope_type\":\"linear\",\"factor\":2.0}; wanted: the same as rope_parameters");
  settings_say(TWO "\"rope_scaling\": null, \"rope_parameters\": " LINEAR("4.0") "}", NULL, NULL);
  settings_say(TWO "\"rope_scaling\": " LINEAR("4.0") ", \"rope_parameters\": null}", NULL, NULL);
  settings_say(
    TWO "\"rope_scaling\": {\"rope_type\": \"x\"}}", NULL, "rope_scaling is {\"rope_type\":\"x\"}");
  settings_say(
    TWO "\"rope_parameters\": {\"rope_type\": \"x\"}}", NULL, "rope_parameters is {\"rope_type\"");
  settings_say(
    TWO "\"rope_parameters\": 7}", NULL, "rope_parameters is 7; wanted: an object or null");
  settings_say(
    TWO "\"rope_scaling\": 7, \"rope_parameters\": " LINEAR("2.0") "}", NULL, "rope_scaling is 7");
  settings_say(
    TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": \"x\"}", NULL, "rope_");
  settings_say(
    TWO "\"rope_theta\": 500, \"rope_parameters\": {\"rope_theta\": 500.0}}", NULL, NULL);
  settings_say(TWO "\"rope_theta\": null, \"rope_parameters\": {\"rope_theta\": 7}}", NULL, NULL);
  settings_say(TWO "\"rope_theta\": 500, \"rope_parameters\": {\"rope_theta\": 501}}", NULL,
    "rope_theta is 500; wanted: the one in rope_parameters");
  struct memory m = { 0 };
  struct model_config c;
  ck_assert(settings_of(&c, &m, NULL, TWO "\"rope_parameters\": {\"rope_theta\": 7}}", NULL));
  ck_assert_double_eq(c.rope.theta, 7);
  config_close(&m, &c);
  ck_assert(settings_of(&c, &m, NULL, TWO "\"rope_theta\": 8}", NULL) && c.rope.theta == 8);
  config_close(&m, &c);
  /* ends: sixteen, and not one more; those of generation_config.json count, and are said so */
#define SIXTEEN "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,2147483647"
  settings_say(
    TWO "\"eos_token_id\": [" SIXTEEN ",3]}", NULL, "config.json: eos_token_id is [1,2,3");
  settings_say(
    TWO "\"eos_token_id\": 2147483648}", NULL, "eos_token_id is 2147483648; wanted: an id");
  settings_say(TWO "\"eos_token_id\": 3}", "{\"eos_token_id\": [3, true]}",
    "generation_config.json: eos_token_id is [3,true]; wanted: an id or a list of ids");
  ck_assert(
    settings_of(&c, &m, NULL, TWO "\"eos_token_id\": [" SIXTEEN "], \"bos_token_id\": 0}", NULL));
  ck_assert(c.n_eos == 16 && c.eos[15] == 2147483647 && c.has_bos && c.bos == 0);
  ck_assert_str_eq(c.eos_from, "config.json");
  config_close(&m, &c);
  ck_assert(
    settings_of(&c, &m, NULL, TWO "\"eos_token_id\": [" SIXTEEN "]}", "{\"eos_token_id\": 5}"));
  ck_assert(c.n_eos == 1 && c.eos[0] == 5 && !c.has_bos);
  ck_assert_str_eq(c.eos_from, "generation_config.json");
  config_close(&m, &c);
}
END_TEST
/* numbers exactly at their limits, and one beyond */
START_TEST(settings_at_their_limits)
{
  static const struct {
    const char *field;
    bool advice;
    const char *in[4], *out[3];
  } at[] = { { "num_hidden_layers", false, { "1", "2147483647" }, { "0", "2147483648", "1e3" } },
    { "vocab_size", false, { "1", "2147483647" }, { "0", "2147483648" } },
    { "bos_token_id", false, { "0", "2147483647" }, { "-1", "2147483648" } },
    { "max_window_layers", false, { "0", "2147483647" }, { "-1", "2147483648" } },
    { "rms_norm_eps", false, { "0", "1", "1e-300" }, { "1.0000000000000002", "-1e-300" } },
    { "rope_theta", false, { "1", "1e18" }, { "0.9999999999999999", "1.0000000000000002e18" } },
    { "temperature", true, { "0", "10000" }, { "-1e-300", "10000.000000000002" } },
    { "top_p", true, { "0", "1" }, { "1.0000000000000002", "-1" } },
    { "min_p", true, { "0", "1" }, { "2", "-1" } },
    { "typical_p", true, { "1e-9", "1" }, { "0", "0.9e-9", "1.0000000000000002" } },
    { "repetition_penalty", true, { "1e-9", "1e9" }, { "0", "1.0000000000000002e9" } },
    { "top_k", true, { "0", "2147483647" }, { "-1", "2147483648", "3.0" } } };
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
    for (int k = 0; k < 7; k++) {
      const char *value = k < 4 ? at[i].in[k] : at[i].out[k - 4];
      char text[600], advice[200], words[200], layers[40] = ", \"num_hidden_layers\": 2";
      if (value == NULL) continue;
      if (i == 0) layers[0] = '\0';
      snprintf(advice, sizeof advice, "{\"%s\": %s}", at[i].field, value);
      snprintf(text, sizeof text, at[i].advice ? "{" QWEN "%s}" : "{" QWEN "%s, \"%s\": %s}",
        layers, at[i].field, value);
      if (i == 1)
        snprintf(text, sizeof text, "{%s, \"num_hidden_layers\": 2, \"vocab_size\": %s}",
          strstr(QWEN, "\"hidden_size\""), value);
      if (i == 1)
        memmove(text + 26, text + 1, strlen(text)),
          memcpy(text, "{\"model_type\": \"qwen2\",   ", 26);
      snprintf(words, sizeof words, "%s: %s is ",
        at[i].advice ? "generation_config.json" : "/config.json", at[i].field);
      settings_say(text, at[i].advice ? advice : NULL, k < 4 ? NULL : words);
    }
}
END_TEST

/* ---- the stretchings again, as their papers write them, in the libm's functions */
static double one_frequency(const struct rope_config *r, double i, double half)
{
  double f = pow(r->theta, -i / half), dim = 2 * half, ramp;
  switch (r->kind) {
  case ROPE_PLAIN: return f;
  case ROPE_LINEAR: return f / r->factor;
  case ROPE_LLAMA3: {
    double wave = 2 * M_PI / f, low = r->original / r->low_freq_factor,
           high = r->original / r->high_freq_factor;
    if (wave < high) return f;
    if (wave > low) return f / r->factor;
    double span = r->high_freq_factor - r->low_freq_factor;
    double smooth = (r->original / wave - r->low_freq_factor) / span;
    return (1 - smooth) * f / r->factor + smooth * f;
  }
  default: {
    double low = dim * log(r->original / (r->beta_fast * 2 * M_PI)) / (2 * log(r->theta));
    double high = dim * log(r->original / (r->beta_slow * 2 * M_PI)) / (2 * log(r->theta));
    if (r->truncate) low = floor(low), high = ceil(high);
    low = fmax(low, 0), high = fmin(high, dim - 1);
    if (low == high) high += 0.001;
    ramp = fmin(1, fmax(0, (i - low) / (high - low)));
    return f / r->factor * ramp + f * (1 - ramp);
  }
  }
}
START_TEST(wheels_turn_as_the_papers_say)
{
  uint64_t seed = suite_seed() + 3;
  unsigned beyond = 0, below = 0, flat = 0;
  for (int round = 0; round < 4000; round++) {
    static const double theta[] = { 1.5, 100, 10000, 500000, 1e6, 1e9 };
    struct rope_config r = { .kind = (enum rope_kind)(round % 4),
      .theta = theta[rnd(&seed) % 6],
      .factor = 1 + (double) (rnd(&seed) % 300) / 10,
      .low_freq_factor = .25 * (double) (1 + rnd(&seed) % 8),
      .original = (uint32_t) (1 + rnd(&seed) % (round % 3 ? 9000 : 40)),
      .truncate = rnd(&seed) % 2 };
    r.high_freq_factor = r.low_freq_factor + .5 * (double) (1 + rnd(&seed) % 8);
    r.beta_slow = .01 * (double) (1 + rnd(&seed) % 300);
    r.beta_fast = r.beta_slow + (double) (1 + rnd(&seed) % 40);
    uint32_t half = 1 + (uint32_t) (rnd(&seed) % 70);
    double end = half * log(r.original / (r.beta_slow * 2 * M_PI)) / log(r.theta);
    beyond += end > half && end < 2 * half - 1, below += end<0, flat += end> 2 * half;
    for (uint32_t i = 0; i < half; i++) {
      double got = rope_scaled_frequency(&r, i, half), want = one_frequency(&r, i, half);
      if (!(fabs(got - want) <= 1e-12 * want))
        ck_abort_msg("round %d, wheel %u of %u: %.17g, %.17g", round, i, half, got, want);
    }
  }
  ck_assert(beyond > 50 && below > 20 && flat > 50);
  struct rope_config r = { .kind = ROPE_YARN, .factor = 4, .attention_factor = 0 };
  ck_assert_double_eq_tol(rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15);
  r.mscale = 2;
  ck_assert_double_eq_tol(
    rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15); /* one of the two is none */
  r.mscale_all_dim = .5;
  ck_assert_double_eq_tol(rope_scaled_attention(&r), (.2 * log(4) + 1) / (.05 * log(4) + 1), 1e-15);
  r.mscale = 0;
  ck_assert_double_eq_tol(rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15);
  r.attention_factor = 3, r.mscale = 2;
  ck_assert_double_eq(rope_scaled_attention(&r), 3);
  r.attention_factor = 0, r.factor = 1;
  ck_assert_double_eq(rope_scaled_attention(&r), 1);
  r.kind = ROPE_LLAMA3, r.attention_factor = 3;
  ck_assert_double_eq(rope_scaled_attention(&r), 1);
}
END_TEST

/* ---- files of tensors: a byte less, exactly as many, a byte more; and which file is blamed */
static char shelf[100];
static void shelf_open(void)
{
  const char *t = getenv("TMPDIR");
  snprintf(shelf, sizeof shelf, "%.60s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(shelf));
}
static const char *shelf_put(const char *name, const char *header, size_t length, size_t data)
{
  static char path[400];
  static unsigned char file[70000];
  uint64_t n = length;
  memset(file, 0, sizeof file);
  memcpy(file, &n, 8), memcpy(file + 8, header, strlen(header));
  variant_path(path, shelf, name);
  spill(path, file, 8 + strlen(header) + data);
  return path;
}
static void shelf_says(const char *path, const char *words)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  ck_assert_msg((w != NULL) == (words == NULL), "%s: %s", path, w ? "accepted" : why.text);
  ck_assert_msg(w || strstr(why.text, words) != NULL, "%s; wanted: %s", why.text, words);
  tensor_file_close(&m, w);
  ck_assert_uint_eq(m.all.live, 0);
}
#define U8(name, from, to, n)                                                                      \
  "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" #n "],"                                             \
  "\"data_offsets\":[" #from "," #to "]}"
START_TEST(tensor_files_at_their_limits)
{
  static const char one[] = "{" U8("a", 0, 3, 3) "}",
                    hole[] = "{" U8("a", 0, 3, 3) "," U8("b", 4, 6, 2) "}";
  shelf_open();
  shelf_says(shelf_put("x", one, sizeof one - 1, 3), NULL);
  shelf_says(shelf_put("x", one, sizeof one - 1, 2),
    "/x: a is 3 bytes at byte 0; wanted: within the file, before byte 2");
  shelf_says(
    shelf_put("x", one, sizeof one - 1, 4), "/x: the data are 4 bytes; wanted: 3, the last offset");
  shelf_says(shelf_put("x", "{}", 2, 0), NULL);
  shelf_says(shelf_put("x", "{}", 3, 0), "the header is longer than the file");
  shelf_says(shelf_put("x", "{}", 3, 1), "the header is followed by something");
  shelf_says(shelf_put("x", "", 0, 0), "the header is no object; wanted: {");
  shelf_says(shelf_put("x", "{}", SIZE_MAX, 9), "the header is longer than the file");
  shelf_says(shelf_put("x", "{}", 100000001, 9), "the header is longer than the file");
  char *path = (char *) (uintptr_t) shelf_put("x", "", 0, 0);
  ck_assert(truncate(path, 7) == 0),
    shelf_says(path, "the header is missing; wanted: 8 bytes of length");
  ck_assert(truncate(path, 0) == 0),
    shelf_says(path, "the header is missing; wanted: 8 bytes of length");
  shelf_says(shelf_put("x", hole, sizeof hole - 1, 6),
    "/x: b is 2 bytes at byte 4; wanted: byte 3, no hole, no overlap");
  static const char over[] = "{" U8("b", 2, 6, 4) "," U8("a", 0, 3, 3) "}";
  shelf_says(
    shelf_put("x", over, sizeof over - 1, 6), "/x: b is 4 bytes at byte 2; wanted: byte 3");
  static const char same[] = "{" U8("b", 0, 3, 3) "," U8("a", 0, 0, 0) "," U8("c", 3, 3, 0) "}";
  /* what is empty lies before and behind */
  shelf_says(shelf_put("x", same, sizeof same - 1, 3), NULL);
  static const char twice[] =
    "{\"__metadata__\":{\"a\":\"b\"}," U8("a", 0, 3, 3) ",\"__metadata__\":{}}";
  shelf_says(shelf_put("x", twice, sizeof twice - 1, 3), "__metadata__ twice");
  unlink(path), rmdir(shelf);
}
END_TEST
START_TEST(the_file_that_is_wrong_is_named)
{
  static const char a[] = "{" U8("a", 0, 3, 3) "}", b[] = "{" U8("b", 0, 3, 3) "}",
                    ab[] = "{" U8("a", 0, 3, 3) "," U8("b", 3, 6, 3) "}";
  static const struct {
    const char *map, *one, *two, *words;
  } at[] = { { "\"a\":\"one\",\"b\":\"two\"", a, b, NULL },
    { "\"a\":\"one\",\"b\":\"one\"", ab, b, NULL },
    { "\"a\":\"two\",\"b\":\"one\"", a, b,
      "index.json: a is two; wanted: the file that has this tensor" },
    { "\"a\":\"one\",\"b\":\"two\"", a, a, ": a is given twice; wanted: each name once" },
    { "\"a\":\"one\"", ab, b, "index.json: weight_map has 1 tensors; wanted: 2, as in the files" },
    { "\"a\":\"one\",\"b\":\"\"", a, b, "index.json: b is \"\"; wanted: the name of a file" },
    { "\"a\":\"one\",\"b\":\".hidden\"", a, b,
      "index.json: b is \".hidden\"; wanted: the name of a file" },
    { "\"a\":\"one\",\"b\":\"three\"", a, b, "/three: cannot be opened" },
    { "\"a\":\"one\",\"b\":\"two\"", a, "{", "/two: the header is cut short or out of order" } };
  char text[400], path[400];
  shelf_open();
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    shelf_put("one", at[i].one, strlen(at[i].one), strcmp(at[i].one, ab) ? 3 : 6);
    shelf_put("two", at[i].two, strlen(at[i].two), *at[i].two && at[i].two[1] ? 3 : 0);
    snprintf(text, sizeof text, "{\"metadata\":{},\"weight_map\":{%s}}", at[i].map);
    variant_path(path, shelf, ".hidden"), spill(path, a, 0);
    variant_path(path, shelf, "model.safetensors.index.json"), spill(path, text, strlen(text));
    shelf_says(shelf, at[i].words);
    if (i == 3) { /* the second of the two files, not the index */
      struct memory m = { 0 };
      struct error why;
      ck_assert(tensor_file_open(&m, shelf, &why) == NULL && strstr(why.text, "index") == NULL);
    }
  }
  /* a whole file goes before an index, whatever that says */
  shelf_put("model.safetensors", b, sizeof b - 1, 3);
  struct memory m = { 0 };
  struct tensor_file *w = tensor_file_open(&m, shelf, NULL);
  ck_assert(w != NULL && tensor_file_count(w) == 1 && strcmp(tensor_file_at(w, 0)->name, "b") == 0);
  tensor_file_close(&m, w);
  variant_drop(shelf);
}
END_TEST
START_TEST(excerpts_and_lengths_of_settings)
{
  char buffer[64], text[80], want[90], path[400];
  struct error why;
  for (size_t n = 40; n < 75; n++) { /* sixty bytes are quoted whole, more are cut */
    memset(text, 'x', n), text[n] = '\0';
    json_t *value = json_string(text);
    snprintf(want, sizeof want, "\"%s\"", text);
    const char *got = jsonfile_excerpt(value, buffer);
    if (n + 2 <= 60)
      ck_assert_str_eq(got, want);
    else
      ck_assert(strlen(got) < 60 && strcmp(got + strlen(got) - 3, "...") == 0);
    json_decref(value);
    value = json_array(); /* of many short values as many as there is room for */
    for (size_t i = 0; i < n / 2; i++) json_array_append_new(value, json_integer(7));
    got = jsonfile_excerpt(value, buffer);
    ck_assert_uint_eq(strlen(got), n / 2 * 2 + 1 <= 60 ? n / 2 * 2 + 1 : 59);
    ck_assert(strncmp(got, "[7,7,7,7", 8) == 0);
    ck_assert(n / 2 < 30 || strcmp(got + 56, "...") == 0);
    json_decref(value);
  }
  ck_assert_str_eq(jsonfile_excerpt(NULL, buffer), "missing");
  shelf_open(), variant_path(path, shelf, "x");
  spill(path, "[1, 2]    ", 10);
  json_t *value = jsonfile_read(path, 10, &why);
  ck_assert(json_array_size(value) == 2), json_decref(value);
  ck_assert_ptr_null(jsonfile_read(path, 9, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "/x: this has 10 bytes; wanted: at most 9 of JSON"));
  spill(path, "[1,\n\n2", 7);
  ck_assert(jsonfile_read(path, 10, &why) == NULL && strstr(why.text, "/x: line 3: ") != NULL);
  unlink(path), rmdir(shelf);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("model");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_test(edges, the_first_number_that_is_none_is_blamed);
  tcase_add_test(edges, every_row_says_where_it_was_spoilt);
  tcase_add_test(edges, a_refused_pass_has_not_been);
  tcase_add_test(edges, a_list_of_layers_has_a_word_for_each);
  tcase_add_test(edges, two_places_for_one_setting_agree_or_are_refused);
  tcase_add_test(edges, settings_at_their_limits);
  tcase_add_test(edges, wheels_turn_as_the_papers_say);
  tcase_add_test(edges, tensor_files_at_their_limits);
  tcase_add_test(edges, the_file_that_is_wrong_is_named);
  tcase_add_test(edges, excerpts_and_lengths_of_settings);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("golden");
  tcase_add_loop_test(t, golden_logits_logprobs_and_greedy_ids, 0, 15);
  tcase_add_loop_test(t, golden_models_that_travel_with_the_project, 0, OWN);
  suite_add_tcase(s, t);
  t = tcase_create("pass");
  tcase_add_loop_test(t, one_answer_for_every_schedule, 0, OWN);
  tcase_add_loop_test(t, one_answer_beyond_a_block_of_attention, 0, 2);
  tcase_add_test(t, store_refuses_in_words);
  tcase_add_loop_test(t, counters_are_tallies, 0, OWN);
  tcase_add_loop_test(t, every_refused_request_is_survived, 0, OWN);
  tcase_add_test(t, a_watcher_sees_and_may_change);
  tcase_add_test(t, probabilities_of_all_texts_add_up_to_one);
  tcase_add_test(t, softmax_of_a_vocabulary_adds_up_to_one);
  suite_add_tcase(s, t);
  t = tcase_create("files");
  tcase_add_test(t, refusals_name_file_field_found_wanted);
  tcase_add_test(t, used_fields_change_the_answer_or_are_refused);
  tcase_add_test(t, yarn_takes_null_for_no);
  tcase_add_test(t, harmless_fields_change_nothing);
  tcase_add_test(t, published_settings_are_understood);
  tcase_add_test(t, silence_means_what_the_library_means);
  tcase_add_test(t, vectors_of_the_format);
  tcase_add_test(t, headers_are_believed_only_when_they_add_up);
  tcase_add_test(t, directories_to_refuse);
  tcase_add_test(t, tensors_may_lie_anywhere_and_be_stored_twice);
  tcase_add_test(t, a_number_that_is_none_is_named);
  suite_add_tcase(s, t);
  return suite_run(s);
}
