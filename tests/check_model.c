/* Chapter 2, second half: weights files, settings, the store, the pass, the head. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include "model/forward.h"
#include "kernels/numbers.h"
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
static bool rig_open(struct rig *r, const char *path, const struct kernels *k, unsigned workers, uint32_t sequences)
{
  memset(r, 0, sizeof *r);
  if (workers > 1) r->pool = pool_open(&r->m, workers, &r->why);
  r->e = (struct engine) { k ? k : kernels_find(NULL, NULL), r->pool, &r->c };
  r->lm = model_open(&r->m, path, &r->why);
  if (r->lm) r->s = store_open(&r->m, &r->lm->config, sequences, &r->why);
  return r->s != NULL;
}
static void rig_close(struct rig *r)
{
  store_close(r->s);
  model_close(&r->m, r->lm);
  pool_close(&r->m, r->pool);
  ck_assert_uint_eq(r->m.all.held, 0);
}
static size_t ids_of(json_t *list, uint32_t *ids)
{
  for (size_t i = 0; i < json_array_size(list); i++) ids[i] = (uint32_t) json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}
static uint32_t best(const float *x, size_t n)
{
  uint32_t b = 0;
  for (uint32_t i = 1; i < n; i++) if (x[i] > x[b]) b = i;
  return b;
}

/* ---- golden lines: forward, logprob, greedy, as the manifest beside them says */
enum { CONTEXT = 512 };
static bool line_forward(struct rig *r, json_t *o)
{
  uint32_t ids[CONTEXT];
  size_t which[CONTEXT], n = ids_of(json_object_get(o, "ids"), ids), v = r->lm->config.vocab_size;
  for (size_t i = 0; i < n; i++) which[i] = i;
  float *logits = malloc(n * v * sizeof *logits);
  bool ok = evaluate(&r->e, r->lm, r->s, ids, n, which, n, logits, &r->why);
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
  size_t n = ids_of(json_object_get(o, "ids"), ids);
  json_t *want = json_object_get(o, "logprobs");
  if (!logprobs(&r->e, r->lm, r->s, ids, n, lp, &sum, &r->why)) return false;
  double tol = json_number_value(json_object_get(o, "tol"));
  bool ok = fabs(sum - json_number_value(json_object_get(o, "sum"))) <= json_number_value(json_object_get(o, "sum_tol"));
  for (size_t i = 1; i < n && ok; i++) ok = fabs(lp[i] - json_number_value(json_array_get(want, i))) <= tol;
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
  size_t n = ids_of(json_object_get(o, "prompt_ids"), ids), start = n, v = r->lm->config.vocab_size;
  size_t expected = ids_of(json_object_get(o, "ids"), want);
  size_t most = (size_t) json_integer_value(json_object_get(o, "max_new_tokens"));
  float *logits = malloc(v * sizeof *logits);
  bool ok = true, ended = false;
  while (ok && !ended && n - start < most) {
    size_t last = n - 1;
    ok = evaluate(&r->e, r->lm, r->s, ids, n, &last, 1, logits, &r->why);
    ids[n++] = best(logits, v);
    ended = is_end(json_object_get(o, "eos_token_id"), ids[n - 1]);
  }
  free(logits);
  return ok && n - start == expected && memcmp(ids + start, want, expected * sizeof *want) == 0;
}
static unsigned golden_file(struct rig *r, const char *path, const char *name, bool (*check)(struct rig *, json_t *))
{
  FILE *f = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  unsigned passed = 0, failed = 0;
  while (f != NULL && getline(&line, &room, f) > 0) {
    json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
    if (o != NULL && check(r, o)) passed++;
    else failed++;
    json_decref(o);
  }
  if (f != NULL) fclose(f);
  free(line);
  tally(name, passed, failed, 0, "");
  return failed;
}
static const struct { const char *name; bool (*check)(struct rig *, json_t *); } golden[] = {
  {"forward.jsonl", line_forward}, {"logprob.jsonl", line_logprob}, {"greedy.jsonl", line_greedy}};
static unsigned golden_model(const char *path, const char *name)
{
  struct rig r;
  unsigned failed = 0;
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.words);
  for (int i = 0; i < 3; i++) {
    char file[600], key[300];
    snprintf(file, sizeof file, "%s/%s", path, golden[i].name);
    snprintf(key, sizeof key, "%s/%s", name, golden[i].name);
    failed += golden_file(&r, file, key, golden[i].check);
  }
  rig_close(&r);
  return failed;
}
static const char *const shared_model[] = {"gpt2", "gpt2-f16", "gpt2-hub", "gpt-nano-sort", "llama-bf16", "llama-gqa-tied",
  "llama-mha", "llama-odd", "llama-odd20", "llama-rope3", "llama-sharded", "stories260K", "mistral-swa8", "qwen2", "qwen3"};
START_TEST(golden_logits_logprobs_and_greedy_ids)
{
  char room[300], name[200];
  snprintf(name, sizeof name, "golden/models/%s", shared_model[_i]);
  const char *path = shared_file(room, sizeof room, name);
  if (path == NULL) return;
  ck_assert_uint_eq(golden_model(path, name), 0);
}
END_TEST

static const char *const own_model[] = {"gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral", "qwen2", "qwen3",
  "gpt2-unscaled", "llama-linear", "llama-yarn", "qwen2-yarn", "qwen3-layers"};
enum { OWN = 12 };
START_TEST(golden_models_that_travel_with_the_project)
{
  char name[200];
  snprintf(name, sizeof name, "tests/golden/%s", own_model[_i]);
  ck_assert_uint_eq(golden_model(name, name), 0);
}
END_TEST


/* ---- variants of a small model: a copy of its directory in which one thing is changed */
struct blob { char *name; json_t *entry; unsigned char *bytes; size_t n; };
static void variant_path(char *room, const char *dir, const char *file) { snprintf(room, 400, "%.190s/%.200s", dir, file); }
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
/* sets a field (dotted for one level) of a JSON file to a value written as JSON; null text deletes it */
static void variant_json(const char *dir, const char *file, const char *field, const char *value)
{
  char path[400], outer[100];
  variant_path(path, dir, file);
  json_t *o = json_load_file(path, 0, NULL), *in = o;
  if (o == NULL) in = o = json_object();
  snprintf(outer, sizeof outer, "%s", field);
  char *dot = strchr(outer, '.');
  if (dot && dot != outer && json_is_object(json_object_get(o, (*dot = 0, outer)))) in = json_object_get(o, outer), field += dot - outer + 1;
  if (value) json_object_set_new(in, field, json_loads(value, JSON_DECODE_ANY, NULL));
  else json_object_del(in, field);
  ck_assert_int_eq(json_dump_file(o, path, JSON_INDENT(1)), 0);
  json_decref(o);
}
/* rewrites model.safetensors with one tensor changed: `what' is drop, rename X, type X, shape [..] (its bytes cut or padded), shift */
static void variant_tensor(const char *dir, const char *name, const char *what)
{
  char path[400];
  size_t n, header, at = 0;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n), *out = calloc(1, 2 * n + 4096), *data = calloc(1, 2 * n + 4096);
  uint64_t length;
  memcpy(&length, b, 8);
  header = (size_t) length;
  json_t *o = json_loadb((char *) b + 8, header, 0, NULL), *made = json_object();
  for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
    const char *key = json_object_iter_key(i);
    json_t *e = json_deep_copy(json_object_iter_value(i));
    if (strcmp(key, "__metadata__") == 0) { json_decref(e); continue; }
    json_t *two = json_object_get(e, "data_offsets");
    size_t a = (size_t) json_integer_value(json_array_get(two, 0)), z = (size_t) json_integer_value(json_array_get(two, 1));
    size_t bytes = z - a;
    const char *to = key;
    if (name && strcmp(key, name) == 0) {
      if (strcmp(what, "drop") == 0) { json_decref(e); continue; }
      if (strncmp(what, "rename ", 7) == 0) to = what + 7;
      if (strncmp(what, "type ", 5) == 0) json_object_set_new(e, "dtype", json_string(what + 5));
      if (strncmp(what, "shape ", 6) == 0) {
        json_t *shape = json_loads(what + 6, 0, NULL);
        bytes = 4;
        for (size_t k = 0; k < json_array_size(shape); k++) bytes *= (size_t) json_integer_value(json_array_get(shape, k));
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
/* runs texts of SEQ sequences in chunks of random size and order, all at once; logits[s] is [len][vocab] */
static void run_ragged(struct rig *r, uint64_t *seed, uint32_t (*text)[CONTEXT], const size_t *len, float **logits, bool whole)
{
  size_t done[SEQ] = {0}, v = r->lm->config.vocab_size;
  store_empty(r->s);
  for (;;) {
    struct row rows[SEQ * CONTEXT];
    size_t n = 0;
    for (uint32_t q = 0; q < SEQ; q++) {
      size_t left = len[q] - done[q], take = whole ? left : rnd(seed) % (left + 1);
      for (size_t i = 0; i < take; i++, done[q]++) rows[n++] = (struct row) {q, (uint32_t) done[q], text[q][done[q]]};
    }
    if (n == 0 && done[0] + done[1] + done[2] == len[0] + len[1] + len[2]) return;
    if (n == 0) continue;
    shuffle(seed, rows, n);
    struct pass *p;
    ck_assert_msg(forward(&r->e, r->lm, r->s, rows, n, &p, &r->why), "%s", r->why.words);
    for (size_t i = 0; i < n; i++)
      ck_assert(head(&r->e, r->lm, p, &i, 1, logits[rows[i].sequence] + rows[i].position * v, &r->why));
    pass_close(p);
  }
}
static void equality(const char *path, size_t longest, int rounds)
{
  struct rig base, r;
  uint64_t seed = suite_seed() + longest;
  ck_assert_msg(rig_open(&base, path, kernels_find("scalar", NULL), 1, 1), "%s", base.why.words);
  size_t v = base.lm->config.vocab_size, most = base.lm->config.n_positions;
  if (most > longest) most = longest;
  uint32_t text[SEQ][CONTEXT];
  size_t len[SEQ] = {most, 1 + rnd(&seed) % most, 1 + rnd(&seed) % most};
  float *want[SEQ], *got[SEQ];
  for (int q = 0; q < SEQ; q++) {
    want[q] = calloc(len[q] * v, sizeof **want), got[q] = calloc(len[q] * v, sizeof **got);
    for (size_t i = 0; i < len[q]; i++) text[q][i] = (uint32_t) (rnd(&seed) % v);
    for (size_t i = 0; i < len[q]; i++) /* each row as the last of a pass over its own prefix */
      if (most < 64 || i % 37 == 0 || i + 1 == len[q])
        ck_assert(evaluate(&base.e, base.lm, base.s, text[q], i + 1, &i, 1, want[q] + i * v, &base.why));
  }
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    for (unsigned workers = 1; workers <= 3; workers++) {
      ck_assert(rig_open(&r, path, kernels_at(k), workers, SEQ));
      for (int round = 0; round < rounds; round++) {
        run_ragged(&r, &seed, text, len, got, round == 0);
        for (int q = 0; q < SEQ; q++)
          for (size_t i = 0; i < len[q]; i++)
            if (most < 64 || i % 37 == 0 || i + 1 == len[q])
              ck_assert_msg(memcmp(want[q] + i * v, got[q] + i * v, v * sizeof **want) == 0,
                "%s: %s, %u workers, sequence %d row %zu differs", path, kernels_at(k)->name, workers, q, i);
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
  static const char *const base[] = {"llama", "mistral"};
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
  static const struct { struct row rows[3]; size_t n; const char *words; } bad[] = {
    {{{0, 0, 1}}, 0, "no rows"}, {{{7, 0, 1}}, 1, "sequence 7"}, {{{0, 2, 1}}, 1, "behind a gap"},
    {{{0, 0, 1}, {0, 0, 1}}, 2, "given twice"}, {{{0, 0, 1}, {0, 2, 1}, {1, 0, 1}}, 3, "behind a gap"},
    {{{0, 16, 1}}, 1, "beyond the context"}, {{{0, 0, 24}}, 1, "is 24; wanted: below 24"},
    {{{0, 4294967295u, 1}}, 1, "beyond the context"}};
  struct rig r;
  ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 3));
  struct pass *p;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ck_assert(!forward(&r.e, r.lm, r.s, bad[i].rows, bad[i].n, &p, &r.why));
    ck_assert_msg(strstr(r.why.words, bad[i].words) != NULL, "%s", r.why.words);
    ck_assert_uint_eq(r.c.passes, 0);
  }
  struct row one[16];
  for (uint32_t i = 0; i < 16; i++) one[i] = (struct row) {1, i, 3};
  ck_assert(forward(&r.e, r.lm, r.s, one, 15, &p, &r.why));
  pass_close(p);
  ck_assert(!forward(&r.e, r.lm, r.s, one + 14, 1, &p, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.words, "stored already"));
  ck_assert(forward(&r.e, r.lm, r.s, one + 15, 1, &p, &r.why));
  size_t beyond = 1;
  float logits[24];
  ck_assert(!head(&r.e, r.lm, p, &beyond, 1, logits, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.words, "row 1; wanted: a row below 1"));
  pass_close(p);
  uint32_t ids[17] = {0};
  ck_assert(!evaluate(&r.e, r.lm, r.s, ids, 17, NULL, 0, NULL, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.words, "17 tokens; wanted: at most 16"));
  rig_close(&r);
}
END_TEST

/* ---- counters against tallies kept here, one by one, on random schedules */
struct book { uint32_t now[SEQ][64], ever[SEQ][64]; size_t n_now[SEQ], n_ever[SEQ]; struct counters c; };
static void tally_pass(struct book *b, const struct model_config *c, const struct row *rows, size_t n, uint64_t layer_bytes, uint64_t madds, unsigned size)
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
      bool seen[64] = {false};
      uint32_t window = config_window(c, l);
      for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t <= rows[i].position && rows[i].sequence == q; t++)
          if (window == 0 || t + window > rows[i].position)
            seen[t] = true, b->c.qk_pairs += l == 0, b->c.madds_attention += 2ull * c->head_dim * c->n_heads;
      for (size_t t = 0; t < 64; t++) b->c.cache_bytes_read += seen[t] ? 8ull * c->n_kv_heads * c->head_dim : 0;
    }
    for (size_t t = 0; t < b->n_now[q]; t++) longer = longer && b->ever[q][t] == b->now[q][t];
    if (b->n_now[q] == before[q]) continue;
    memcpy(b->ever[q], b->now[q], b->n_now[q] * sizeof(uint32_t));
    if (!longer) b->n_ever[q] = b->n_now[q];
  }
  b->c.cache_bytes_written += 8ull * n * c->n_kv_heads * c->head_dim * c->n_layers;
  b->c.passes++, b->c.weight_bytes_read += layer_bytes;
}
static void layer_sums(const struct model *lm, uint64_t *bytes, uint64_t *madds, uint64_t *head_bytes)
{
  *bytes = *madds = *head_bytes = 0;
  for (size_t i = 0; i < weights_count(lm->weights); i++) {
    const struct stored *t = weights_at(lm->weights, i);
    bool layer = strstr(t->name, "layers.") || strstr(t->name, "h.0.") || strstr(t->name, "h.1.") || strstr(t->name, "h.2.");
    size_t k = strlen(t->name);
    if (k > 10 && strcmp(t->name + k - 10, ".attn.bias") == 0) continue;
    if (layer) *bytes += t->bytes;
    if (layer && t->rank == 2) *madds += t->elements;
    if (strcmp(t->name, "lm_head.weight") == 0) *head_bytes = t->bytes;
    if (lm->config.tied && (strstr(t->name, "wte") || strstr(t->name, "embed_tokens"))) *head_bytes = t->bytes;
  }
}
START_TEST(counters_are_tallies)
{
  char path[200];
  uint64_t seed = suite_seed() + (uint64_t) _i, layer_bytes, madds, head_bytes;
  struct rig r;
  struct book b = {0};
  snprintf(path, sizeof path, "tests/golden/%s", own_model[_i]);
  ck_assert(rig_open(&r, path, NULL, 1, SEQ));
  const struct model_config *c = &r.lm->config;
  layer_sums(r.lm, &layer_bytes, &madds, &head_bytes);
  float *logits = malloc(64 * c->vocab_size * sizeof *logits);
  for (int step = 0; step < 60; step++) {
    struct row rows[200];
    size_t n = 0, which[4], wanted = rnd(&seed) % 4;
    if (rnd(&seed) % 3 == 0) store_empty(r.s), memset(b.n_now, 0, sizeof b.n_now);
    for (uint32_t q = 0; q < SEQ; q++) {
      size_t left = c->n_positions - b.n_now[q], take = left ? rnd(&seed) % (left < 5 ? left + 1 : 6) : 0;
      for (size_t i = 0; i < take; i++) { /* few different tokens, so that texts often agree */
        rows[n] = (struct row) {q, (uint32_t) (b.n_now[q] + i), (uint32_t) (rnd(&seed) % 8 == 0)};
        n++;
      }
    }
    if (n == 0) continue;
    shuffle(&seed, rows, n);
    if (rnd(&seed) % 5 == 0) { /* a pass that is refused memory counts nothing */
      struct pass *none;
      r.m.refuse_at = r.m.all.requests + 1 + rnd(&seed) % 12;
      bool ok = forward(&r.e, r.lm, r.s, rows, n, &none, &r.why);
      r.m.refuse_at = 0;
      ck_assert(!ok);
    }
    struct pass *p;
    ck_assert_msg(forward(&r.e, r.lm, r.s, rows, n, &p, &r.why), "%s", r.why.words);
    tally_pass(&b, c, rows, n, layer_bytes, madds, (unsigned) weight_bytes(r.lm->embedding.type));
    for (size_t i = 0; i < wanted; i++) which[i] = rnd(&seed) % n;
    for (int twice = 0; twice < 2; twice++) {
      ck_assert(head(&r.e, r.lm, p, which, wanted, logits, &r.why));
      b.c.madds_head += (uint64_t) wanted * c->d_model * c->vocab_size;
    }
    if (wanted > 0) b.c.weight_bytes_read += head_bytes;
    pass_close(p);
    ck_assert_msg(memcmp(&b.c, &r.c, sizeof r.c) == 0, "step %d: recomputed %d %d pairs %d %d read %d %d weights %d %d", step,
      (int) b.c.kv_rows_recomputed, (int) r.c.kv_rows_recomputed, (int) b.c.qk_pairs, (int) r.c.qk_pairs,
      (int) b.c.cache_bytes_read, (int) r.c.cache_bytes_read, (int) b.c.weight_bytes_read, (int) r.c.weight_bytes_read);
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
    struct memory m = {.refuse_at = at};
    struct error why = {""};
    struct counters c = {0};
    struct engine e = {kernels_find(NULL, NULL), NULL, &c};
    uint32_t ids[6] = {1, 2, 3, 4, 5, 6};
    double lp[6], sum;
    struct store *s = NULL;
    struct model *lm = model_open(&m, path, &why);
    if (lm) s = store_open(&m, &lm->config, 2, &why);
    bool ok = s != NULL && logprobs(&e, lm, s, ids, 3, lp, &sum, &why) && logprobs(&e, lm, s, ids, 6, lp, &sum, &why);
    store_close(s);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.held, 0);
    if (m.all.refused == 0) { ck_assert(ok); break; }
    ck_assert_msg(!ok && strstr(why.words, "out of memory") != NULL, "request %d: %s", (int) at, why.words);
    refused++;
  }
  ck_assert_uint_gt(refused, 40);
}
END_TEST

/* ---- files that must be refused, by the words of the refusal: file, field, found, wanted */
static const struct defect { const char *base, *file, *field, *edit; const char *words[4]; } defect[] = {
  {"gpt2", "config.json", "n_embd", "\"12\"", {"config.json", "n_embd", "\"12\"", "an integer from 1"}},
  {"gpt2", "config.json", "n_embd", "12.0", {"config.json", "n_embd", "12.0", "an integer from 1"}},
  {"gpt2", "config.json", "n_embd", NULL, {"config.json", "n_embd", "missing", "a value"}},
  {"gpt2", "config.json", "n_embd", "null", {"config.json", "n_embd", "null", "a value"}},
  {"gpt2", "config.json", "n_embd", "0", {"config.json", "n_embd", "0", "an integer from 1"}},
  {"gpt2", "config.json", "n_layer", "true", {"config.json", "n_layer", "true", "an integer from 1"}},
  {"gpt2", "config.json", "n_layer", "-1", {"config.json", "n_layer", "-1", "an integer from 1"}},
  {"gpt2", "config.json", "n_layer", "2147483647", {"model.safetensors", "this", "2147483647 layers", "no more layers than"}},
  {"gpt2", "config.json", "n_layer", "3", {"model.safetensors", "h.2.ln_1.weight", "missing", "[12]"}},
  {"gpt2", "config.json", "n_layer", "1", {"model.safetensors", "h.1.attn.c_attn.bias", "without use", "config.json calls for"}},
  {"gpt2", "config.json", "n_head", "5", {"config.json", "n_head", "5", "a divisor of the width"}},
  {"gpt2", "config.json", "n_positions", "13", {"config.json", "n_ctx", "12", "the same as n_positions"}},
  {"gpt2", "config.json", "vocab_size", "4611686018427387904", {"config.json", "vocab_size", "4611686018427387904", "to 2147483647"}},
  {"gpt2", "config.json", "vocab_size", "21", {"model.safetensors", "wte.weight", "[20, 12]", "[21, 12]"}},
  {"gpt2", "config.json", "activation_function", "\"relu\"", {"config.json", "activation_function", "\"relu\"", "gelu_new"}},
  {"gpt2", "config.json", "layer_norm_epsilon", "-1e-5", {"config.json", "layer_norm_epsilon", "-1", "a number from 0 to 1"}},
  {"gpt2", "config.json", "scale_attn_weights", "0", {"config.json", "scale_attn_weights", "0", "true or false"}},
  {"gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "2", {"config.json", "scale_attn_by_inverse_layer_idx", "2", "true or false"}},
  {"gpt2", "config.json", "logits_scaling", "8.0", {"config.json", "logits_scaling", "8.0", "no such factor"}},
  {"gpt2", "config.json", "sliding_window", "4", {"config.json", "sliding_window", "4", "knows"}},
  {"llama", "config.json", "logit_scale", "0.0625", {"config.json", "logit_scale", "0.0625", "no such factor"}},
  {"llama", "config.json", "residual_multiplier", "0.22", {"config.json", "residual_multiplier", "0.22", "no such factor"}},
  {"llama", "config.json", "embedding_multiplier", "12", {"config.json", "embedding_multiplier", "12", "no such factor"}},
  {"llama", "config.json", "partial_rotary_factor", "0.5", {"config.json", "partial_rotary_factor", "0.5", "no such factor"}},
  {"llama", "config.json", "attention_multiplier", "0.015625", {"config.json", "attention_multiplier", "0.015625", "knows"}},
  {"llama", "config.json", "attn_logit_softcapping", "50.0", {"config.json", "attn_logit_softcapping", "50.0", "knows"}},
  {"llama", "config.json", "final_logit_softcapping", "30.0", {"config.json", "final_logit_softcapping", "30.0", "knows"}},
  {"llama", "config.json", "clip_qkv", "8.0", {"config.json", "clip_qkv", "8.0", "knows"}},
  {"llama", "config.json", "max_window_layers", "1", {"config.json", "max_window_layers", "1", "knows"}},
  {"llama", "config.json", "layer_types", "[\"full_attention\"]", {"config.json", "layer_types", "[\"full_attention\"]", "a word for each layer"}},
  {"llama", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]", {"config.json", "layer_types", "sliding", "there is no window"}},
  {"gpt2", "config.json", "tie_word_embeddings", "1", {"config.json", "tie_word_embeddings", "1", "true or false"}},
  {"gpt2", "config.json", "tie_word_embeddings", "false", {"model.safetensors", "lm_head.weight", "missing", "[20, 12]"}},
  {"gpt2", "config.json", "add_cross_attention", "true", {"config.json", "add_cross_attention", "true", "knows"}},
  {"gpt2", "config.json", "some_future_switch", "0.5", {"config.json", "some_future_switch", "0.5", "knows"}},
  {"gpt2", "config.json", "eos_token_id", "-1", {"config.json", "eos_token_id", "-1", "an id or a list of ids"}},
  {"gpt2", "config.json", "eos_token_id", "[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]", {"config.json", "eos_token_id", "[1,2,3", "at most 16 ids"}},
  {"gpt2", "config.json", "bos_token_id", "\"a\"", {"config.json", "bos_token_id", "\"a\"", "an integer from 0"}},
  {"gpt2", "config.json", "architectures", "[\"GPT2ForSequenceClassification\"]", {"config.json", "architectures", "GPT2ForSequenceC", "GPT2LMHeadModel"}},
  {"gpt2", "config.json", "model_type", "\"opt\"", {"config.json", "model_type", "\"opt\"", "gpt2, llama"}},
  {"gpt2", "config.json", "model_type", NULL, {"config.json", "model_type", "missing", "gpt2, llama"}},
  {"gpt2", "generation_config.json", "top_p", "1.5", {"generation_config.json", "top_p", "1.5", "a number from 0 to 1"}},
  {"gpt2", "generation_config.json", "do_sample", "1", {"generation_config.json", "do_sample", "1", "true or false"}},
  {"gpt2", "generation_config.json", "suppress_tokens", "[3]", {"generation_config.json", "suppress_tokens", "[3]", "knows"}},
  {"llama", "config.json", "num_key_value_heads", "3", {"config.json", "num_attention_heads", "4", "a multiple of num_key_value_heads"}},
  {"llama", "config.json", "num_key_value_heads", "4", {"model-0000", "self_attn.k_proj.weight", "[8, 16]", "[16, 16]"}},
  {"llama", "config.json", "head_dim", "3", {"config.json", "head_dim", "3", "an even number"}},
  {"llama", "config.json", "hidden_act", "\"relu\"", {"config.json", "hidden_act", "\"relu\"", "silu"}},
  {"llama", "config.json", "attention_bias", "true", {"model.safetensors.index.json", "self_attn.q_proj.bias", "missing", "[16]"}},
  {"llama", "config.json", "rope_scaling", "{\"type\":\"dynamic\",\"factor\":2}", {"config.json", "rope_scaling", "\"dynamic\"", "linear, llama3 or yarn"}},
  {"llama", "config.json", "rope_scaling", "{\"rope_type\":\"longrope\",\"short_factor\":[1]}", {"config.json", "rope_scaling", "\"longrope\"", "linear, llama3 or yarn"}},
  {"llama", "config.json", "rope_scaling", "{\"type\":\"default\",\"factor\":3}", {"config.json", "factor", "3", "knows"}},
  {"llama-linear", "config.json", "rope_scaling.factor", "0.5", {"config.json", "factor", "0.5", "a number from 1"}},
  {"llama-linear", "config.json", "rope_scaling.original_max_position_embeddings", "8", {"config.json", "original_max_position_embeddings", "8", "knows"}},
  {"llama-linear", "config.json", "rope_scaling.partial_rotary_factor", "0.25", {"config.json", "partial_rotary_factor", "0.25", "no such factor"}},
  {"llama-yarn", "config.json", "rope_parameters.beta_slow", "2.0", {"config.json", "rope_parameters", "\"beta_slow\":2.0", "beta_fast above beta_slow"}},
  {"llama-yarn", "config.json", "rope_parameters.rope_theta", "1", {"config.json", "rope_parameters", "\"beta_fast\":1.0", "a rope_theta above 1"}},
  {"llama-yarn", "config.json", "rope_parameters.attention_factor", "\"1\"", {"config.json", "attention_factor", "\"1\"", "a number from"}},
  {"llama-yarn", "config.json", "rope_parameters.mscale", "-1", {"config.json", "mscale", "-1", "a number from 0"}},
  {"llama-yarn", "config.json", "rope_parameters.truncate", "1", {"config.json", "truncate", "1", "true or false"}},
  {"llama-yarn", "config.json", "rope_parameters.high_freq_factor", "4", {"config.json", "high_freq_factor", "4", "knows"}},
  {"llama", "config.json", "rope_scaling", "7", {"config.json", "rope_scaling", "7", "an object or null"}},
  {"llama", "config.json", "rope_theta", "0", {"config.json", "rope_theta", "0", "a number from 1"}},
  {"llama", "config.json", "rope_parameters", "{\"rope_type\":\"default\",\"rope_theta\":500}", {"config.json", "rope_theta", "10000", "rope_parameters"}},
  {"llama", "config.json", "quantization_config", "{\"bits\":4}", {"config.json", "quantization_config", "{\"bits\":4}", "knows"}},
  {"llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"../x\"", {"index.json", "lm_head.weight", "../x", "same directory"}},
  {"llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"/etc/passwd\"", {"index.json", "lm_head.weight", "/etc/passwd", "same directory"}},
  {"llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "3", {"index.json", "lm_head.weight", "3", "same directory"}},
  {"llama", "model.safetensors.index.json", "weight_map.lm_head.weight", NULL, {"index.json", "weight_map", "20 tensors", "21"}},
  {"llama", "model.safetensors.index.json", "weight_map.nobody", "\"model-00001-of-00002.safetensors\"", {"index.json", "nobody", "model-00001", "the file that has"}},
  {"llama", "model.safetensors.index.json", "weight_map", "[]", {"index.json", "weight_map", "[]", "an object"}},
  {"llama-stretched", "config.json", "rope_parameters.factor", NULL, {"config.json", "factor", "missing", "a value"}},
  {"llama-stretched", "config.json", "rope_parameters.factor", "\"4\"", {"config.json", "factor", "\"4\"", "a number from 1"}},
  {"llama-stretched", "config.json", "rope_parameters.high_freq_factor", "1.0", {"config.json", "rope_parameters", "high_freq", "above low_freq_factor"}},
  {"llama-stretched", "config.json", "rope_parameters.beta_fast", "32", {"config.json", "beta_fast", "32", "knows"}},
  {"mistral", "config.json", "sliding_window", "0", {"config.json", "sliding_window", "0", "an integer from 1"}},
  {"mistral", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]", {"config.json", "layer_types", "full", "sliding_attention"}},
  {"mistral", "config.json", "num_key_value_heads", NULL, {"config.json", "num_key_value_heads", "missing", "a value"}},
  {"mistral", "config.json", "use_sliding_window", "true", {"config.json", "use_sliding_window", "true", "knows"}},
  {"qwen2", "config.json", "use_sliding_window", "1", {"config.json", "use_sliding_window", "1", "true or false"}},
  {"qwen2", "config.json", "max_window_layers", "-1", {"config.json", "max_window_layers", "-1", "an integer from 0"}},
  {"qwen3-layers", "config.json", "layer_types", "[\"full_attention\",\"full_attention\",\"chunked_attention\"]", {"config.json", "layer_types", "[", "full_attention or sliding_attention"}},
  {"qwen3-layers", "config.json", "layer_types", "7", {"config.json", "layer_types", "7", "a word for each layer"}},
  {"qwen3-layers", "config.json", "use_sliding_window", "false", {"config.json", "layer_types", "[\"sliding_attention\"", "there is no window"}},
  {"qwen2", "config.json", "max_position_embeddings", "-16", {"config.json", "max_position_embeddings", "-16", "an integer"}},
};
static const struct { const char *name, *edit; const char *words[4]; } tensor_defect[] = {
  {"transformer.h.1.ln_2.bias", "drop", {"model.safetensors", "h.1.ln_2.bias", "missing", "[12]"}},
  {"transformer.h.1.ln_2.bias", "shape [11]", {"model.safetensors", "h.1.ln_2.bias", "[11]", "[12]"}},
  {"transformer.h.1.ln_2.bias", "shape [1,12]", {"model.safetensors", "h.1.ln_2.bias", "[1, 12]", "[12]"}},
  {"transformer.h.1.ln_2.bias", "type I32", {"model.safetensors", "h.1.ln_2.bias", "I32", "F32, F16 or BF16"}},
  {"transformer.h.1.ln_2.bias", "type F23", {"model.safetensors", "h.1.ln_2.bias", "F23", "a type of the format"}},
  {"transformer.h.1.ln_2.bias", "type F64", {"model.safetensors", "h.1.ln_2.bias", "[", "as many bytes"}},
  {"transformer.wpe.weight", "shape [10,12]", {"model.safetensors", "wpe.weight", "[10, 12]", "[12, 12]"}},
  {"transformer.h.0.attn.c_attn.weight", "shape [36,12]", {"model.safetensors", "attn.c_attn.weight", "[36, 12]", "[12, 36]"}},
  {"transformer.ln_f.bias", "rename transformer.ln_f.offset", {"model.safetensors", "ln_f.bias", "missing", "[12]"}},
};
static char messages[128][400];
static int n_messages;
static void remember_message(const char *dir, const char *words)
{
  const char *at = strstr(words, dir);
  snprintf(messages[n_messages], 400, "%s", at ? at + strlen(dir) : words);
  for (int i = 0; i < n_messages; i++)
    ck_assert_msg(strcmp(messages[i], messages[n_messages]) != 0, "two defects, one message: %s", words);
  n_messages++;
}
static void expect_refusal(const char *dir, const char *const *words)
{
  struct memory m = {0};
  struct error why = {""};
  ck_assert_ptr_null(model_open(&m, dir, &why));
  ck_assert_uint_eq(m.all.held, 0);
  for (int i = 0; i < 4; i++) ck_assert_msg(strstr(why.words, words[i]) != NULL, "\"%s\" is not in: %s", words[i], why.words);
  remember_message(dir, why.words);
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

/* ---- what a directory answers: logits, context, ends; to see whether a change of a field is noticed */
static bool answer(const char *dir, float *logits, size_t *n, struct model_config *c)
{
  struct rig r;
  bool ok = rig_open(&r, dir, NULL, 1, 1);
  if (ok) {
    uint32_t ids[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    size_t last = 7;
    *n = r.lm->config.vocab_size;
    ok = evaluate(&r.e, r.lm, r.s, ids, 8, &last, 1, logits, &r.why);
    *c = r.lm->config;
    c->ignored = NULL, c->n_ignored = c->ignored_room = 0;
  }
  store_close(r.s), model_close(&r.m, r.lm);
  return ok;
}
static const struct { const char *base, *file, *field, *value; } used[] = {
  {"gpt2", "config.json", "layer_norm_epsilon", "0.01"}, {"gpt2", "config.json", "n_head", "4"}, {"gpt2", "config.json", "eos_token_id", "3"},
  {"gpt2", "config.json", "bos_token_id", "3"}, {"llama", "config.json", "rms_norm_eps", "0.01"}, {"llama", "config.json", "rope_theta", "500"},
  {"llama", "config.json", "num_attention_heads", "2"}, {"llama", "config.json", "max_position_embeddings", "17"}, {"llama", "config.json", "rope_scaling",
  "{\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,\"original_max_position_embeddings\":12}"},
  {"llama", "config.json", "head_dim", "8"}, {"llama", "config.json", "hidden_size", "8"}, {"llama", "config.json", "intermediate_size", "23"},
  {"llama-stretched", "config.json", "rope_parameters.factor", "5"}, {"llama-stretched", "config.json", "rope_parameters.low_freq_factor", "1.5"},
  {"llama-stretched", "config.json", "rope_parameters.high_freq_factor", "3.5"}, {"llama-stretched", "config.json", "rope_parameters.rope_theta", "600"},
  {"llama-stretched", "config.json", "rope_parameters.original_max_position_embeddings", "14"}, {"llama-stretched", "config.json", "mlp_bias", "false"},
  {"llama-stretched", "config.json", "rope_parameters", "{\"rope_type\":\"default\",\"rope_theta\":500}"}, {"llama-stretched", "config.json", "attention_bias", "false"},
  {"llama-stretched", "config.json", "tie_word_embeddings", "false"}, {"mistral", "config.json", "sliding_window", "4"}, {"mistral", "config.json", "sliding_window", "null"},
  {"mistral", "config.json", "num_key_value_heads", "2"}, {"qwen2", "config.json", "rope_theta", "10000"}, {"qwen3", "config.json", "rms_norm_eps", "0.1"},
  {"gpt2", "generation_config.json", "eos_token_id", "[4,5]"}, {"gpt2", "generation_config.json", "do_sample", "true"},
  {"gpt2", "generation_config.json", "temperature", "0.7"}, {"gpt2", "generation_config.json", "top_k", "5"}, {"gpt2", "generation_config.json", "top_p", "0.9"},
  {"gpt2", "generation_config.json", "min_p", "0.1"}, {"gpt2", "generation_config.json", "typical_p", "0.9"},
  {"gpt2", "generation_config.json", "repetition_penalty", "1.1"}, {"gpt2", "generation_config.json", "no_repeat_ngram_size", "3"},
  {"gpt2", "generation_config.json", "bos_token_id", "4"},
  {"gpt2", "config.json", "activation_function", "\"gelu\""}, {"gpt2", "config.json", "scale_attn_weights", "false"},
  {"gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "true"}, {"gpt2-unscaled", "config.json", "scale_attn_weights", "true"},
  {"gpt2-unscaled", "config.json", "scale_attn_by_inverse_layer_idx", "false"}, {"gpt2-unscaled", "config.json", "activation_function", "\"gelu_new\""},
  {"llama", "config.json", "hidden_act", "\"gelu_pytorch_tanh\""}, {"llama", "config.json", "hidden_act", "\"gelu\""},
  {"llama-linear", "config.json", "rope_scaling.factor", "2"}, {"llama-linear", "config.json", "rope_scaling", "null"},
  {"llama-yarn", "config.json", "rope_parameters.factor", "5"}, {"llama-yarn", "config.json", "rope_parameters.beta_fast", "6"},
  {"llama-yarn", "config.json", "rope_parameters.beta_slow", "0.01"}, {"llama-yarn", "config.json", "rope_parameters.original_max_position_embeddings", "8"},
  {"llama-yarn", "config.json", "rope_parameters.truncate", "false"}, {"llama-yarn", "config.json", "rope_parameters.attention_factor", "1.0"},
  {"llama-yarn", "config.json", "rope_parameters.rope_type", "\"linear\""}, {"llama-yarn", "config.json", "rope_parameters.rope_theta", "90"},
  {"qwen2-yarn", "config.json", "rope_scaling.mscale", "1.6"}, {"qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "0.6"},
  {"qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "null"}, {"qwen2-yarn", "config.json", "rope_scaling.truncate", "true"},
  {"qwen2-yarn", "config.json", "sliding_window", "4"}, {"qwen2-yarn", "config.json", "sliding_window", "null"},
  {"qwen2-yarn", "config.json", "use_sliding_window", "false"}, {"qwen2-yarn", "config.json", "max_window_layers", "2"},
  {"qwen2-yarn", "config.json", "max_window_layers", "null"}, {"qwen2-yarn", "config.json", "layer_types", "[\"sliding_attention\",\"full_attention\",\"full_attention\"]"},
  {"qwen3-layers", "config.json", "layer_types", "[\"sliding_attention\",\"sliding_attention\",\"full_attention\"]"},
  {"qwen3-layers", "config.json", "layer_types", "null"}, {"qwen3-layers", "config.json", "sliding_window", "3"},
  {"qwen3-layers", "config.json", "attention_bias", "false"},
  {"llama-yarn", "config.json", "rope_parameters.truncate", "null"}, {"llama", "config.json", "is_causal", "false"}, {"gpt2", "config.json", "is_causal", "null"},
  {"qwen3", "config.json", "is_causal", "\"\""},
};
START_TEST(used_fields_change_the_answer_or_are_refused)
{
  char dir[200];
  unsigned n = 0;
  for (size_t i = 0; i < sizeof used / sizeof used[0]; i++, n++) {
    float a[64] = {0}, b[64] = {0};
    size_t na, nb = 0;
    struct model_config ca, cb;
    memset(&ca, 0, sizeof ca), memset(&cb, 0, sizeof cb);
    variant_make(dir, used[i].base);
    if (strcmp(used[i].field, "eos_token_id") == 0 && strcmp(used[i].file, "config.json") == 0) variant_json(dir, "generation_config.json", "eos_token_id", NULL);
    ck_assert(answer(dir, a, &na, &ca));
    variant_json(dir, used[i].file, used[i].field, used[i].value);
    bool ok = answer(dir, b, &nb, &cb);
    bool logits = ok && (na != nb || memcmp(a, b, na * sizeof *a) != 0);
    bool ends = ok && (ca.n_eos != cb.n_eos || memcmp(ca.eos, cb.eos, sizeof ca.eos) != 0 || ca.bos != cb.bos || ca.n_positions != cb.n_positions);
    bool advice = ok && memcmp(&ca.sampling, &cb.sampling, sizeof ca.sampling) != 0;
    ck_assert_msg(!ok || logits || ends || advice, "%s %s changes nothing", used[i].base, used[i].field);
    variant_drop(dir);
  }
  tally("used fields altered", n, 0, 0, "");
}
END_TEST
START_TEST(yarn_takes_null_for_no)
{
  char dir[200];
  float a[64] = {0}, b[64] = {0};
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
  static const struct { const char *field, *value; } harmless[] = {
    {"transformers_version", "\"9\""}, {"_name_or_path", "\"x\""}, {"_commit_hash", "\"x\""}, {"torch_dtype", "\"float16\""}, {"dtype", "\"bfloat16\""},
    {"is_llama_config", "true"}, {"transformers.js_config", "{\"a\":1}"}, {"task_specific_params", "{\"a\":1}"}, {"reorder_and_upcast_attn", "true"},
    {"pretraining_tp", "2"}, {"use_cache", "false"}, {"pad_token_id", "-1"}, {"output_attentions", "true"},
    {"output_hidden_states", "true"}, {"return_dict", "true"}, {"initializer_range", "3"}, {"attn_pdrop", "0.9"}, {"embd_pdrop", "0.9"},
    {"resid_pdrop", "0.9"}, {"attention_dropout", "0.9"}, {"gradient_checkpointing", "true"}, {"summary_activation", "\"tanh\""},
    {"summary_first_dropout", "0.5"}, {"summary_proj_to_labels", "true"}, {"summary_type", "\"first\""}, {"summary_use_proj", "true"},
    {"id2label", "{\"0\":\"a\"}"}, {"label2id", "{\"a\":0}"}, {"num_labels", "7"}, {"some_future_flag", "null"}, {"torchscript", "false"},
    {"auto_map", "{}"}, {"pruned_heads", "[]"}, {"note", "\"\""}, {"max_sequence_length", "7"}, {"max_length", "20"}, {"_attn_implementation_autoset", "true"}, {"chunk_size_feed_forward", "0"},
    {"unsloth_fixed", "true"}, {"unsloth_version", "\"2025\""}, {"n_special", "0"}, {"predict_special_tokens", "true"}, {"output_past", "true"}, {"_num_labels", "3"}, {"attn_logit_softcapping", "null"}, {"final_logit_softcapping", "null"}, {"clip_qkv", "null"}};
  static const struct { const char *base, *field, *value; bool listed; } elsewhere[] = {
    {"qwen2", "sliding_window", "4", false}, {"qwen2", "max_window_layers", "1", false}, {"qwen2", "layer_types", "[\"full_attention\",\"full_attention\"]", false},
    {"mistral", "layer_types", "[\"sliding_attention\",\"sliding_attention\"]", false}, {"qwen3-layers", "max_window_layers", "0", false},
    {"llama", "is_causal", "true", false}, {"gpt2", "logits_scaling", "1.0", false}, {"llama", "logit_scale", "1", false}, {"llama", "residual_multiplier", "1.0", false},
    {"llama", "embedding_multiplier", "1", false}, {"llama", "partial_rotary_factor", "1.0", false}, {"llama-yarn", "rope_parameters.partial_rotary_factor", "1.0", false},
    {"llama-yarn", "rope_parameters.finetuned", "true", true}, {"llama-yarn", "rope_parameters.mscale", "2.0", true}, {"llama-yarn", "rope_parameters.mscale_all_dim", "2.0", true},
    {"llama-yarn", "rope_parameters.factor", "null", false}, {"llama-yarn", "rope_parameters.type", "\"yarn\"", false}, {"llama", "rope_parameters", "{\"rope_theta\":10000}", false}};
  char dir[200];
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
    for (int llama = 0; llama < 2; llama++) {
      float a[64] = {0}, b[64] = {0};
      size_t na, nb;
      struct model_config ca, cb;
      variant_make(dir, llama ? "llama" : "gpt2");
      ck_assert(answer(dir, a, &na, &ca));
      variant_json(dir, "config.json", harmless[i].field, harmless[i].value);
      ck_assert_msg(answer(dir, b, &nb, &cb), "%s is refused", harmless[i].field);
      ck_assert(na == nb && memcmp(a, b, na * sizeof *a) == 0);
      struct memory m = {0};
      ck_assert(config_open(&ca, &m, dir, NULL));
      bool listed = false;
      for (size_t k = 0; k < ca.n_ignored; k++)
        listed = listed || (strcmp(ca.ignored[k].field, harmless[i].field) == 0 && ca.ignored[k].reason[0] != '\0');
      ck_assert_msg(listed, "%s is not listed", harmless[i].field);
      config_close(&m, &ca);
      variant_drop(dir);
    }
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) { /* fields that some model has, with a value that asks for nothing more */
    float a[64] = {0}, b[64] = {0};
    size_t na, nb;
    struct model_config c;
    struct memory m = {0};
    variant_make(dir, elsewhere[i].base);
    ck_assert(answer(dir, a, &na, &c));
    variant_json(dir, "config.json", elsewhere[i].field, elsewhere[i].value);
    ck_assert_msg(answer(dir, b, &nb, &c) && na == nb && memcmp(a, b, na * sizeof *a) == 0, "%s %s", elsewhere[i].base, elsewhere[i].field);
    ck_assert(config_open(&c, &m, dir, NULL));
    bool listed = false;
    const char *dot = strchr(elsewhere[i].field, '.'), *name = dot ? dot + 1 : elsewhere[i].field;
    for (size_t k = 0; k < c.n_ignored; k++) listed = listed || strcmp(c.ignored[k].field, name) == 0;
    ck_assert_msg(listed == elsewhere[i].listed, "%s", elsewhere[i].field);
    config_close(&m, &c);
    variant_drop(dir);
  }
  tally("harmless fields altered", (unsigned) (sizeof harmless / sizeof harmless[0] + sizeof elsewhere / sizeof elsewhere[0]), 0, 0, "");
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
    struct memory m = {0};
    struct error why = {""};
    struct model_config c;
    if (strchr(want, ' ') == NULL) {
      ck_assert_msg(!config_open(&c, &m, path, &why), "%s is accepted", line);
      ck_assert_msg(strstr(why.words, want) != NULL, "%s is not in: %s", want, why.words);
      refused++;
    }
    else {
      ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.words);
      uint32_t windows = 0;
      for (uint32_t i = 0; i < c.n_layers; i++) windows += config_window(&c, i) > 0;
      snprintf(got, sizeof got, "%s %u %u %u %u %u %u %d %d", c.family, c.n_layers, c.n_heads, c.n_kv_heads, c.head_dim, c.window, windows, (int) c.rope.kind, c.tied);
      ck_assert_msg(strcmp(got, want) == 0, "%s: %s, wanted %s", line, got, want);
      ck_assert_uint_gt(c.n_ignored, 2);
      config_close(&m, &c);
    }
    ck_assert_uint_eq(m.all.held, 0);
    n++;
  }
  fclose(f);
  ck_assert_uint_ge(refused, 7);
  tally("published settings", n, 0, 0, "");
}
END_TEST
/* ---- mistral without a word about its window has the one of its first model, as in the library; qwen's list of layers decides */
START_TEST(silence_means_what_the_library_means)
{
  char dir[200];
  struct memory m = {0};
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
  ck_assert(config_open(&c, &m, dir, NULL) && c.rope.factor == 1 && c.rope.original == 32 && c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.truncate);
  ck_assert(rope_attention(&c.rope) == 1);
  config_close(&m, &c);
  variant_drop(dir);
}
END_TEST

/* ---- files of tensors */
START_TEST(vectors_of_the_format)
{
  char room[300], line[300];
  const char *list = shared_file(room, sizeof room, "vectors/safetensors/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char name[100], verdict[100], path[600];
    sscanf(line, "%99s %99s", name, verdict);
    snprintf(path, sizeof path, "%.*s/%s.safetensors", (int) (strrchr(list, '/') - list), list, name);
    struct memory m = {0};
    struct error why = {""};
    struct archive *w = weights_open(&m, path, &why);
    bool right = (w != NULL) == (strcmp(verdict, "ok") == 0) && (w != NULL || strstr(why.words, name) != NULL);
    weights_close(&m, w);
    if (right && m.all.held == 0 && m.all.peak < (64u << 20)) passed++;
    else failed++;
  }
  fclose(f);
  tally("vectors/safetensors/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST
static const struct { const char *header; size_t data; bool ok; uint64_t tensors, parameters; const char *words; } header_case[] = {
  {"{}", 0, true, 0, 0, ""}, {" \t\r\n{ } ", 0, true, 0, 0, ""}, {"", 0, false, 0, 0, "wanted: {"}, {"{", 0, false, 0, 0, ", or }"},
  {"[]", 0, false, 0, 0, "wanted: {"}, {"{}~", 0, false, 0, 0, "white space"}, {"~{}", 0, false, 0, 0, "wanted: {"}, {"{}x", 0, false, 0, 0, "white space"}, {"{} {}", 0, false, 0, 0, "white space"},
  {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, true, 1, 1, ""},
  {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[0,0]}}", 0, true, 1, 0, ""},
  {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "as many bytes"},
  {"{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2, true, 1, 4, ""},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,4]}}", 4, false, 0, 0, "as many bytes"},
  {"{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, true, 1, 4, ""},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, false, 0, 0, "given twice"},
  {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "duplicate"},
  {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0, false, 0, 0, "duplicate"}, {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, false, 0, 0, "twice"},
  {"{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, true, 0, 0, ""}, {"{\"__metadata__\":[]}", 0, false, 0, 0, "object of strings"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},}", 1, false, 0, 0, "strict JSON"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}", 1, false, 0, 0, ", or }"},
  {"{\"a\" {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "\"name\": value"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, false, 0, 0, "2^64"},
  {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, false, 0, 0, "as many bytes"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, false, 0, 0, "rising"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, false, 0, 0, "two data_offsets"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", 8, false, 0, 0, "within the file"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 9, false, 0, 0, "the last offset"},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3, false, 0, 0, "no overlap"},
  {"{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"e\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
    2, true, 3, 2, ""},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1, true, 1, 1, ""},
  {"{\"a\":3}", 0, false, 0, 0, "two data_offsets"}, {"{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, false, 0, 0, "u0000"},
};
START_TEST(headers_are_believed_only_when_they_add_up)
{
  char path[300];
  const char *t = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/incipit-header-%d", t ? t : "/tmp", (int) getpid());
  for (size_t i = 0; i < sizeof header_case / sizeof header_case[0]; i++) {
    unsigned char file[1024] = {0};
    uint64_t n = strlen(header_case[i].header), p = 0;
    memcpy(file, &n, 8);
    memcpy(file + 8, header_case[i].header, n);
    for (size_t k = 8; k < 8 + n; k++) if (file[k] == '~') file[k] = 0;    /* ~ stands for a zero byte */
    spill(path, file, 8 + n + header_case[i].data);
    struct memory m = {0};
    struct error why = {""};
    struct archive *w = weights_open(&m, path, &why);
    ck_assert_msg((w != NULL) == header_case[i].ok && (w || strstr(why.words, header_case[i].words)), "%s: %s", header_case[i].header, why.words);
    for (size_t k = 0; w && k < weights_count(w); k++) {
      p += weights_at(w, k)->elements;
      ck_assert_ptr_eq(weights_find(w, weights_at(w, k)->name), weights_at(w, k));
    }
    if (w) ck_assert(weights_count(w) == header_case[i].tensors && p == header_case[i].parameters);
    if (w) ck_assert_ptr_null(weights_find(w, "nobody"));
    weights_close(&m, w);
    ck_assert_uint_eq(m.all.held, 0);
  }
  remove(path);
  tally("headers of tensor files", sizeof header_case / sizeof header_case[0], 0, 0, "");
}
END_TEST
START_TEST(directories_to_refuse)
{
  char room[300], line[600];
  const char *list = shared_file(room, sizeof room, "golden/refuse/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char path[600], *verdict = strchr(line, '\t');
    *verdict++ = 0;
    if (strcmp(line, "tokenizer-ids-over") == 0) continue; /* for the chapters on tokens and the command */
    snprintf(path, sizeof path, "%.*s/%.100s", (int) (strrchr(list, '/') - list), list, line);
    struct memory m = {0};
    struct error why = {""};
    struct model *lm = model_open(&m, path, &why);
    bool right = (lm == NULL) == (strncmp(verdict, "must refuse", 11) == 0) && (lm || strchr(why.words, ';') != NULL);
    model_close(&m, lm);
    if (right && m.all.held == 0) passed++;
    else failed++;
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
  variant_make(dir, "qwen3"); /* a head beside a tied embedding: equal is harmless, different is an error */
  variant_json(dir, "config.json", "tie_word_embeddings", "true");
  const char *const words[4] = {"model.safetensors", "lm_head.weight", "not the embedding", "equal"};
  expect_refusal(dir, words);
  variant_tensor(dir, "lm_head.weight", "drop");
  ck_assert(answer(dir, b, &n, &c));
  variant_drop(dir);
}
END_TEST
START_TEST(a_number_that_is_none_is_named)
{
  char room[300];
  const char *path = shared_file(room, sizeof room, "golden/refuse/nan-weights");
  if (path == NULL) return;
  struct rig r;
  ck_assert(rig_open(&r, path, NULL, 1, 1));
  uint32_t good[3] = {1, 2, 3}, bad[3] = {1, 7, 3};
  double lp[3], sum;
  size_t last = 2;
  float logits[264];
  ck_assert(logprobs(&r.e, r.lm, r.s, good, 3, lp, &sum, &r.why));
  ck_assert(!logprobs(&r.e, r.lm, r.s, bad, 3, lp, &sum, &r.why));
  ck_assert_ptr_nonnull(strstr(r.why.words, "the embedding of row 1 is not finite"));
  ck_assert(evaluate(&r.e, r.lm, r.s, bad, 3, &last, 1, logits, &r.why));
  ck_assert(logits[0] != logits[0]);
  rig_close(&r);
  tally("golden/refuse/nan-weights", 1, 0, 0, "");
}
END_TEST

/* ---- a watcher sees what the pass computes, and its hand is felt */
struct seen { unsigned count[12]; float weights, first; uint32_t longest; bool spoil; };
static void see(void *what, enum watch_stage stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct seen *s = what;
  s->count[stage]++;
  if (stage == STAGE_WEIGHTS) for (size_t i = 0; i < width; i++) s->weights += x[(rows - 1) * width + i];
  if (stage == STAGE_MIXED && layer == 0 && s->spoil) for (size_t i = 0; i < width; i++) x[i] = 0;
}
START_TEST(a_watcher_sees_and_may_change)
{
  struct rig r;
  struct seen s = {0}, t = {.spoil = true};
  struct watcher watch = {see, &s, true};
  struct row rows[5];
  struct pass *p;
  float a[24], b[24];
  size_t last = 4;
  ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 1));
  for (uint32_t i = 0; i < 5; i++) rows[i] = (struct row) {0, i, i};
  ck_assert(forward_watched(&r.e, r.lm, r.s, rows, 5, &watch, &p, &r.why));
  ck_assert(head(&r.e, r.lm, p, &last, 1, a, &r.why));
  pass_close(p);
  for (int i = 0; i < 12; i++) ck_assert_uint_eq(s.count[i], i == STAGE_EMBEDDING ? 1 : 2);
  ck_assert(fabsf(s.weights - 8) < 1e-5f); /* two layers of four heads, each row of weights sums to 1 */
  store_empty(r.s);
  watch.what = &t;
  ck_assert(forward_watched(&r.e, r.lm, r.s, rows, 5, &watch, &p, &r.why));
  ck_assert(head(&r.e, r.lm, p, &last, 1, b, &r.why));
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
      uint32_t ids[3] = {5, a, b};
      double lp[3], s;
      ck_assert(logprobs(&r.e, r.lm, r.s, ids, 3, lp, &s, &r.why));
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
      struct engine e = {kernels_at(k), NULL, NULL};
      double sum = 0, carry = 0;
      for (int i = 0; i < V; i++) x[i] = (float) scale * ((float) (rnd(&seed) >> 40) * 0x1p-23f - 1);
      e.k->softmax(&e, x, 1, V, y);
      e.k->log_softmax(&e, x, 1, V, z);
      for (int i = 0; i < V; i++) { /* summed with compensation, so that the test adds no error of its own */
        double w = y[i] - carry, s = sum + w;
        carry = (s - sum) - w, sum = s;
        ck_assert(fabs(log(y[i]) - z[i]) < 1e-12 * fabs(z[i]));
      }
      ck_assert_msg(fabs(sum - 1) <= 1e-14, "%g", sum - 1);
    }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("model");
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
