/* Chapter 2: golden models, the store, the pass, the head. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <fenv.h>
#include <math.h>
#include "variants.h"
#include "tiny.h"
#include "safetensors/tensor_file.h"
#include "kernels/kernels.h"
#include "model/experts.h"
#include "cache/cache.h"

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
  /* a sum may err as much as one of its terms: in another engine its errors may have cancelled by chance */
  double tol = json_number_value(json_object_get(o, "tol")), sum_tol = json_number_value(json_object_get(o, "sum_tol"));
  bool ok = fabs(sum - json_number_value(json_object_get(o, "sum"))) <= fmax(tol, sum_tol);
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
  r.e.activations = ACTIVATIONS_F32; /* blocks would be multiplied with rounded rows, and no formula has these */
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

/* ---- the families of the workshop's chapter on settings: one model each, made by others */
static const char *const family_model[] = { "smollm3", "granite", "ministral", "ministral3", "seed-oss", "ernie4_5",
  "olmo2", "gemma", "gemma2", "gemma3", "exaone4", "exaone4-nowindow", "pythia", "falcon-7b", "falcon-new", "phi2",
  "stablelm", "stablelm-parallel", "cohere", "cohere2", "phi3", "phi3-longrope",
  "mixtral", "qwen3-moe", "olmoe", "qwen2-moe", "gpt-oss" };
enum { FAMILY_MODELS = sizeof family_model / sizeof *family_model };
START_TEST(golden_families)
{
  char buffer[300], name[200];
  snprintf(name, sizeof name, "golden/families/models/%s", family_model[_i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  ck_assert_uint_eq(golden_model(path, name), 0);
}
END_TEST

/* the experts that a router chooses, and their weights: beside the list of whoever made the model, and by hand */
struct seen_experts { float *of[16]; size_t width; };
static void see_experts(void *ctx, enum tap_point point, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct seen_experts *s = ctx;
  if (point != TAP_EXPERTS) return;
  s->width = width, s->of[layer] = malloc(rows * width * sizeof *x);
  memcpy(s->of[layer], x, rows * width * sizeof *x);
}
static unsigned experts_agree(const struct seen_experts *s, json_t *o)
{
  json_t *chosen = json_object_get(o, "experts"), *weights = json_object_get(o, "weights");
  const float *x = s->of[json_integer_value(json_object_get(o, "layer"))];
  unsigned rows = 0;
  ck_assert(x != NULL);
  for (size_t r = 0; r < json_array_size(chosen); r++, rows++, x += s->width) {
    json_t *list = json_array_get(chosen, r), *w = json_array_get(weights, r);
    unsigned n = 0;
    for (size_t e = 0; e < s->width; e++) n += x[e] != 0;
    ck_assert_uint_eq(n, json_array_size(list));
    for (size_t i = 0; i < n; i++)
      ck_assert(fabs((double) x[json_integer_value(json_array_get(list, i))]
        - json_number_value(json_array_get(w, i))) < 1e-5);
  }
  return rows;
}
START_TEST(golden_experts_are_chosen)
{
  char buffer[300], name[200], file[600];
  snprintf(name, sizeof name, "golden/families/models/%s", family_model[FAMILY_MODELS - 5 + _i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  struct rig r;
  uint32_t ids[4][CONTEXT];
  size_t n[4], n_cases = 0;
  unsigned rows = 0;
  char *line = NULL;
  size_t cap = 0;
  ck_assert(rig_open(&r, path, NULL, 1, 1));
  snprintf(file, sizeof file, "%s/forward.jsonl", path);
  FILE *f = fopen(file, "r");
  while (n_cases < 4 && getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
    n[n_cases] = request_ids(json_object_get(o, "ids"), ids[n_cases]), n_cases++;
    json_decref(o);
  }
  fclose(f);
  snprintf(file, sizeof file, "%s/experts.jsonl", path);
  f = fopen(file, "r");
  for (size_t k = 0; k < n_cases; k++) {
    struct seen_experts s = { .width = 0 };
    struct pass *p;
    struct row list[CONTEXT];
    for (size_t i = 0; i < n[k]; i++) list[i] = (struct row){ 0, (uint32_t) i, ids[k][i] };
    store_clear(r.s);
    ck_assert(model_forward_watched(&r.e, r.lm, r.s, list, n[k], &(struct watcher){ see_experts, &s, false }, &p, &r.why));
    for (uint32_t i = 0; i < config_sparse_layers(&r.lm->config); i++) {
      ck_assert(getline(&line, &cap, f) > 0);
      json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
      ck_assert_uint_eq((size_t) json_integer_value(json_object_get(o, "case")), k);
      rows += experts_agree(&s, o);
      json_decref(o);
    }
    for (int i = 0; i < 16; i++) free(s.of[i]);
    pass_close(p);
  }
  snprintf(file, sizeof file, "%s: rows and layers whose experts are those of another program", name);
  tally(file, rows, 0, 0, "");
  fclose(f), free(line), rig_close(&r);
}
END_TEST
START_TEST(equal_logits_choose_the_lower_number)
{
  const struct model_config c = { .n_experts = 6, .n_chosen = 3 }, normed = { .n_experts = 6, .n_chosen = 3, .chosen_normed = true };
  const float logit[6] = { 1, 4, 2, 4, 2, 2 };
  const double share[6] = { 0.0625, 0.25, 0.125, 0.25, 0.125, 0.125 };
  struct expert_choice own[3];
  experts_choose(&c, logit, share, own); /* 1 and 3, and of the three equal ones the first */
  ck_assert(own[0].expert == 1 && own[1].expert == 2 && own[2].expert == 3);
  ck_assert(own[0].weight == 0.25f && own[1].weight == 0.125f && own[2].weight == 0.25f);
  experts_choose(&normed, logit, share, own);
  ck_assert(own[0].weight == 0.4f && own[1].weight == 0.2f && own[2].weight == 0.4f);
  const float none[6] = { NAN, NAN, NAN, NAN, NAN, NAN };
  experts_choose(&c, none, share, own); /* as many as ever, all different */
  ck_assert(own[0].expert < own[1].expert && own[1].expert < own[2].expert && own[2].expert < 6);
}
END_TEST

static const char *const own_model[] = { "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral",
  "qwen2", "qwen3", "gpt2-unscaled", "llama-linear", "llama-yarn", "qwen2-yarn", "qwen3-layers",
  "families/smollm3", "families/granite", "families/ministral", "families/ministral3", "families/seed_oss", "families/ernie4_5", "families/olmo2", "families/gemma",
  "families/gemma2", "families/gemma3", "families/exaone4", "families/pythia", "families/falcon", "families/falcon-old",
  "families/phi", "families/stablelm", "families/cohere", "families/cohere2", "families/phi3",
  "families/mixtral", "families/qwen3_moe", "families/olmoe", "families/qwen2_moe",
  "families/gpt_oss", "families/gpt_oss-mxfp4" };
enum { OWN = sizeof own_model / sizeof *own_model };
START_TEST(golden_models_that_travel_with_the_project)
{
  char name[200];
  snprintf(name, sizeof name, "tests/golden/%s", own_model[_i]);
  ck_assert_uint_eq(golden_model(name, name), 0);
}
END_TEST

/* the GGUF file of a model with experts in blocks, written with the names and shapes that llama.cpp has: what the directory has as pairs
   it has apart, and the bits are the same, with whichever kernels */
START_TEST(a_gguf_file_of_pairs_has_the_directory_s_bits)
{
  enum { N = 16 };
  uint32_t ids[N];
  size_t which[N], n_tables = 0;
  uint64_t seed = suite_seed();
  for (uint32_t i = 0; i < N; i++) ids[i] = (uint32_t) (rnd(&seed) % 18), which[i] = i;
  float want[N * 18], got[N * 18];
  for (; kernels_at(n_tables) != NULL; n_tables++)
    for (int rounded = 0; rounded < 2; rounded++) {
      struct rig a, b;
      ck_assert_msg(rig_open(&a, "tests/golden/families/gpt_oss-mxfp4", kernels_find("plain", NULL), 1, 1), "%s", a.why.text);
      ck_assert_msg(rig_open(&b, "tests/golden/families/gpt_oss.gguf", kernels_at(n_tables), 1, 1), "%s", b.why.text);
      a.e.activations = b.e.activations = rounded ? ACTIVATIONS_INT8 : ACTIVATIONS_F32;
      ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, N, which, N, want, &a.why));
      ck_assert(model_evaluate(&b.e, b.lm, b.s, ids, N, which, N, got, &b.why));
      ck_assert_msg(memcmp(want, got, sizeof want) == 0, "%s", kernels_at(n_tables)->name);
      rig_close(&a), rig_close(&b);
    }
  ck_assert(n_tables > 1);
}
END_TEST

/* ---- longrope: which angles a text has depends on its whole length, however it has come to it */
START_TEST(golden_longrope)
{
  ck_assert_uint_eq(golden_model("tests/golden/families/phi3-long", "tests/golden/families/phi3-long"), 0);
}
END_TEST
START_TEST(a_long_text_is_turned_anew)
{
  enum { MOST = 24, TEXTS = 3 };
  struct rig base, r;
  uint64_t seed = suite_seed() + (uint64_t) _i;
  unsigned grown = 0, shrunk = 0, forked = 0;
  const char *path = "tests/golden/families/phi3-long";
  ck_assert(rig_open(&base, path, kernels_find("plain", NULL), 1, 1) && rig_open(&r, path, NULL, 1, 1));
  store_close(r.s);
  r.s = cache_open(&r.m, &r.lm->config, TEXTS, &(struct cache_options){ .page_rows = 4 }, &r.why);
  ck_assert(r.s != NULL && r.lm->config.rope.original == 8);
  size_t v = r.lm->config.vocab_size;
  uint32_t text[TEXTS][MOST];
  float *want = malloc(v * sizeof *want), *got = malloc(v * sizeof *got);
  for (int step = 0; step < 400; step++) {
    struct row rows[TEXTS * 6];
    size_t n = 0, last[TEXTS];
    for (uint32_t q = 0; q < TEXTS; q++) { /* cut back, forked, or left as it is; and then some rows more */
      size_t length = store_length(r.s, q);
      if (rnd(&seed) % 4 == 0 && length > 0) {
        size_t to = rnd(&seed) % length;
        shrunk += length > 8 && to > 0 && to < 8;
        store_crop(r.s, q, to);
      }
      uint32_t from = (q + 1) % TEXTS;
      if (rnd(&seed) % 9 == 0 && store_length(r.s, from) > 0) {
        store_crop(r.s, q, 0);
        ck_assert(store_fork(r.s, from, q, &r.why));
        memcpy(text[q], text[from], sizeof text[q]), forked++;
      }
      length = store_length(r.s, q), last[q] = SIZE_MAX;
      for (size_t k = rnd(&seed) % 6; k > 0 && length < MOST; k--, length++) {
        text[q][length] = (uint32_t) (rnd(&seed) % v), last[q] = n;
        rows[n++] = (struct row){ q, (uint32_t) length, text[q][length] };
      }
      grown += store_length(r.s, q) > 0 && store_length(r.s, q) <= 8 && length > 8;
    }
    if (n == 0) continue;
    struct pass *p;
    struct row bad = { 0, MOST + 3, 0 }; /* a pass that is refused turns nothing */
    ck_assert(!model_forward(&r.e, r.lm, r.s, &bad, 1, &p, &r.why));
    ck_assert_msg(model_forward(&r.e, r.lm, r.s, rows, n, &p, &r.why), "%s", r.why.text);
    for (uint32_t q = 0; q < TEXTS; q++) {
      size_t length = store_length(r.s, q), at = length - 1;
      if (last[q] == SIZE_MAX) continue;
      ck_assert(model_evaluate(&base.e, base.lm, base.s, text[q], length, &at, 1, want, &base.why));
      ck_assert(model_logits(&r.e, r.lm, p, &last[q], 1, got, &r.why));
      ck_assert_msg(memcmp(want, got, v * sizeof *got) == 0, "step %d, text %u of %zu", step, q, length);
    }
    pass_close(p);
  }
  ck_assert(grown > 20 && shrunk > 5 && forked > 20);
  free(want), free(got);
  rig_close(&base), rig_close(&r);
}
END_TEST

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
START_TEST(one_answer_of_a_family_for_every_schedule)
{
  char buffer[300], name[200];
  snprintf(name, sizeof name, "golden/families/models/%s", family_model[_i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  /* a text of a longrope model is long or short as a whole: see the tests of longrope */
  if (path != NULL && strstr(name, "longrope") == NULL) equality(path, 24, 1);
}
END_TEST
START_TEST(one_answer_beyond_a_block_of_attention)
{
  static const char *const base[] = { "llama", "mistral", "families/gpt_oss" };
  char dir[200];
  variant_make(dir, base[_i]);
  variant_json(dir, "config.json", "max_position_embeddings", "600");
  if (_i >= 1) variant_json(dir, "config.json", "sliding_window", "290");
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
    { { { 0, 2, 1 } }, 1, "after a gap" }, { { { 0, 0, 1 }, { 0, 0, 1 } }, 2, "given twice" },
    { { { 0, 0, 1 }, { 0, 2, 1 }, { 1, 0, 1 } }, 3, "after a gap" },
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
    bool ignored = k > 10 && strcmp(t->name + k - 10, ".attn.bias") == 0;
    for (size_t j = 0; j < lm->config.n_ignored; j++)
      ignored = ignored || strcmp(lm->config.ignored[j].field, t->name) == 0;
    if (ignored) continue;
    const char *expert = strstr(t->name, ".experts."); /* a row has n_chosen of them, say the first; their bytes are counted apart */
    if (layer && expert == NULL) *bytes += t->bytes;
    if (expert != NULL && (expert[9] < '0' || expert[9] > '9')) { /* a tensor of all experts: numbers, pairs of them in a byte, or what is not multiplied */
      uint64_t one = t->elements / lm->config.n_experts;
      bool beside = strstr(expert, "_bias") != NULL || strstr(expert, "_scales") != NULL;
      *madds += beside ? 0 : (strstr(expert, "_blocks") != NULL ? 2 : 1) * one * lm->config.n_chosen;
    }
    else if (layer && t->rank == 2 && !strstr(t->name, "norm")
      && (expert == NULL || strtoul(expert + 9, NULL, 10) < lm->config.n_chosen)) *madds += t->elements;
    if (strncmp(t->name, "lm_head.", 8) == 0 || strcmp(t->name, "embed_out.weight") == 0) *head_bytes += t->bytes;
    if (lm->config.tied && (strstr(t->name, "wte") || strstr(t->name, "embed")))
      *head_bytes = t->bytes;
  }
}
static uint64_t expert_size(const struct model *lm)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    if (strstr(tensor_file_at(lm->weights, i)->name, ".experts.") != NULL) sum += tensor_file_at(lm->weights, i)->bytes;
  return sum == 0 ? 0 : sum / lm->config.n_experts / config_sparse_layers(&lm->config);
}
/* experts that some row of a pass has chosen, in all layers, and the bytes of one */
static void see_touched(void *ctx, enum tap_point point, uint32_t layer, float *x, size_t rows, size_t width)
{
  uint64_t *touched = ctx;
  (void) layer;
  for (size_t e = 0; e < width && point == TAP_EXPERTS; e++) {
    bool met = false;
    for (size_t r = 0; r < rows; r++) met = met || x[r * width + e] != 0;
    *touched += met;
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
      r.m.fail_at = r.m.all.requests + 1 + rnd(&seed) % 9;
      bool ok = model_forward(&r.e, r.lm, r.s, rows, n, &none, &r.why);
      r.m.fail_at = 0;
      ck_assert(!ok);
    }
    struct pass *p;
    uint64_t touched = 0, expert = expert_size(r.lm);
    ck_assert_msg(model_forward_watched(&r.e, r.lm, r.s, rows, n, &(struct watcher){ see_touched, &touched, false },
      &p, &r.why), "%s", r.why.text);
    b.c.weight_bytes_read += touched * expert;
    tally_pass(
      &b, c, rows, n, layer_bytes, madds, (unsigned) weight_row_bytes(r.lm->embedding.type, 1));
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
    struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
    uint32_t ids[6] = { 1, 2, 3, 4, 5, 6 };
    double lp[6], sum;
    struct store *s = NULL;
    struct model *lm = model_open(&m, path, &why);
    if (lm) s = _i % 2 ? array_store_open(&m, &lm->config, &why)
        : cache_open(&m, &lm->config, 2, &(struct cache_options){ .rows = 0 }, &why);
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

/* ---- the floating-point modes are those of the definition in a pass, and the caller's again
   wherever the caller's code runs */
struct moody {
  int mode;
  unsigned taps;
};
static void look_at_modes(
  void *ctx, enum tap_point stage, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct moody *s = ctx;
  (void) stage, (void) layer, (void) x, (void) rows, (void) width;
  s->taps++;
  volatile float one = 1, little = 0x1p-30f;
  ck_assert_int_eq(one + little > 1, s->mode == FE_UPWARD);
}
START_TEST(modes_of_the_caller_do_not_reach_a_pass)
{
  static const int mode[2] = { FE_TONEAREST, FE_UPWARD };
  static const uint32_t ids[6] = { 1, 2, 3, 4, 5, 6 };
  float logits[2][264];
  double lp[2][6], sum[2];
  size_t last = 5;
  for (int i = 0; i < 2; i++) {
    struct rig r;
    struct moody s = { mode[i], 0 };
    struct watcher watch = { look_at_modes, &s, false };
    struct row rows[6];
    struct pass *p;
    ck_assert(rig_open(&r, "tests/golden/llama", NULL, 1, 1));
    for (uint32_t j = 0; j < 6; j++) rows[j] = (struct row){ 0, j, ids[j] };
    fesetround(mode[i]);
    ck_assert(model_forward_watched(&r.e, r.lm, r.s, rows, 6, &watch, &p, &r.why));
    ck_assert(model_logits(&r.e, r.lm, p, &last, 1, logits[i], &r.why));
    ck_assert(model_logprobs(&r.e, r.lm, r.s, ids, 6, lp[i], &sum[i], &r.why));
    look_at_modes(&s, TAP_LAYER, 0, NULL, 0, 0);
    fesetround(FE_TONEAREST);
    ck_assert_uint_eq(s.taps, 1 + 2 * 10 + 1);
    pass_close(p);
    rig_close(&r);
  }
  ck_assert(memcmp(logits[0], logits[1], 24 * sizeof(float)) == 0);
  ck_assert(memcmp(lp[0], lp[1], sizeof lp[0]) == 0);
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
      struct engine e = { .k = kernels_at(k) };
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
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct error why = { "" };
  struct store *s = array_store_open(&m, &t->lm.config, &why);
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
        "the model: row 0 is not finite after layer %u of 3; wanted: finite logits", l + 1);
      not_finite(&t, down + 5 * TINY_FF, odd[i], words);
    }
    for (uint32_t v = 0; v < TINY_V; v += TINY_V - 1) { /* the first id, and the last */
      float *head = (float *) (uintptr_t) t.lm.head.weight.data;
      snprintf(words, sizeof words,
        "the model: the logit of token %u after row 0 is not finite; wanted: a number", v);
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
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct error why;
  tiny_make(&t, suite_seed() + 1);
  ((float *) (uintptr_t) t.lm.embedding.data)[5 * TINY_D] = NAN;
  ((float *) (uintptr_t) t.layer[1].down.weight.data)[0] = INFINITY;
  struct store *s = cache_open(&m, &t.lm.config, 2, &(struct cache_options){ .rows = 0 }, &why);
  struct row rows[5] = { { 0, 0, 1 }, { 1, 0, 5 }, { 0, 1, 5 }, { 1, 1, 1 }, { 0, 2, 1 } };
  static const char *const words[5] = { "row 0 is not finite after layer 2 of 3",
    "the embedding of row 1 is", "the embedding of row 2 is",
    "row 3 is not finite after layer 1 of 3", "row 4 is not finite after layer 1 of 3" };
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
      "position 1 of sequence 1 is after a gap; wanted: from 0 on" },
    { { { 0, 4, 1 }, { 1, 0, 1 }, { 0, 4, 1 } },
      "position 4 of sequence 0 is given twice; wanted: from 4 on" },
    { { { 0, 4, 1 }, { 0, 300, 1 }, { 0, 5, 1 } },
      "beyond the context; wanted: from 4 on, below 300, each once" } };
  struct tiny t;
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct error why;
  tiny_make(&t, suite_seed() + 2);
  struct store *s = cache_open(&m, &t.lm.config, 2, &(struct cache_options){ .rows = 0 }, &why);
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
  s = array_store_open(&m, &t.lm.config, &why);
  ck_assert(!model_evaluate(&e, &t.lm, s, ids, TINY_CONTEXT + 1, &three, 1, got, &why));
  ck_assert_str_eq(why.text, "the text has 301 tokens; wanted: at most 300, the model's context");
  ck_assert(model_evaluate(&e, &t.lm, s, ids, TINY_CONTEXT, &three, 1, got, &why));
  ck_assert(memcmp(got, want, sizeof got) == 0);
  store_close(s), tiny_free(&t);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- a store that is an array takes the rows of its one text in order, and says which row is not */
START_TEST(an_array_takes_rows_in_order)
{
  static const struct {
    struct row rows[2];
    const char *words;
  } bad[] = { { { { 0, 2, 1 }, { 0, 4, 1 } }, "row 1 is at position 4; wanted: position 3" },
    { { { 0, 1, 1 }, { 0, 2, 1 } }, "row 0 is at position 1; wanted: position 2" },
    { { { 0, 2, 1 }, { 0, 2, 1 } }, "row 1 is at position 2; wanted: position 3" },
    { { { 0, 3, 1 }, { 0, 2, 1 } }, "row 0 is at position 3; wanted: position 2" },
    { { { 0, 2, 1 }, { 1, 0, 1 } }, "row 1 is of sequence 1; wanted: below 1" } };
  struct tiny t;
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct error why;
  struct pass *p;
  struct row rows[TINY_CONTEXT + 1];
  tiny_make(&t, suite_seed() + 3);
  struct store *s = array_store_open(&m, &t.lm.config, &why);
  for (uint32_t i = 0; i <= TINY_CONTEXT; i++) rows[i] = (struct row){ 0, i, i % TINY_V };
  ck_assert(model_forward(&e, &t.lm, s, rows, 2, &p, &why));
  pass_close(p);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ck_assert(!model_forward(&e, &t.lm, s, bad[i].rows, 2, &p, &why));
    ck_assert_msg(strstr(why.text, bad[i].words) != NULL, "%s; wanted: %s", why.text, bad[i].words);
    ck_assert_uint_eq(store_length(s, 0), 2);
  }
  ck_assert(!store_fork(s, 0, 0, &why) && strstr(why.text, "cannot fork") != NULL);
  ck_assert(!model_forward(&e, &t.lm, s, rows + 2, TINY_CONTEXT - 1, &p, &why));
  ck_assert_str_eq(why.text, "position 300 is beyond the context; wanted: below 300");
  ck_assert(model_forward(&e, &t.lm, s, rows + 2, TINY_CONTEXT - 2, &p, &why));
  struct store *fresh = array_store_open(&m, &t.lm.config, &why); /* two passes or one: the same bits */
  struct pass *whole;
  ck_assert(model_forward(&e, &t.lm, fresh, rows, TINY_CONTEXT, &whole, &why));
  ck_assert(memcmp(p->hidden, whole->hidden + 2 * TINY_D, (TINY_CONTEXT - 2) * TINY_D * sizeof(float)) == 0);
  pass_close(whole), store_close(fresh);
  pass_close(p);
  ck_assert_uint_eq(store_length(s, 0), TINY_CONTEXT);
  for (uint32_t i = 0; i < TINY_CONTEXT; i++) ck_assert_uint_eq(store_tokens(s, 0)[i], rows[i].token);
  store_close(s), tiny_free(&t);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("model");
  TCase *t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, the_first_number_that_is_none_is_blamed);
  tcase_add_test(t, every_row_says_where_it_was_spoilt);
  tcase_add_test(t, a_refused_pass_has_not_been);
  tcase_add_test(t, an_array_takes_rows_in_order);
  suite_add_tcase(s, t);
  t = tcase_create("golden");
  tcase_add_loop_test(t, golden_logits_logprobs_and_greedy_ids, 0, 15);
  tcase_add_loop_test(t, golden_models_that_travel_with_the_project, 0, OWN);
  tcase_add_loop_test(t, golden_families, 0, FAMILY_MODELS);
  tcase_add_test(t, a_gguf_file_of_pairs_has_the_directory_s_bits);
  tcase_add_loop_test(t, golden_experts_are_chosen, 0, 5);
  tcase_add_test(t, equal_logits_choose_the_lower_number);
  tcase_add_test(t, golden_longrope);
  tcase_add_loop_test(t, a_long_text_is_turned_anew, 0, 3);
  suite_add_tcase(s, t);
  t = tcase_create("pass");
  tcase_add_loop_test(t, one_answer_for_every_schedule, 0, OWN);
  tcase_add_loop_test(t, one_answer_of_a_family_for_every_schedule, 0, FAMILY_MODELS);
  tcase_add_loop_test(t, one_answer_beyond_a_block_of_attention, 0, 3);
  tcase_add_test(t, store_refuses_in_words);
  tcase_add_loop_test(t, counters_are_tallies, 0, OWN);
  tcase_add_loop_test(t, every_refused_request_is_survived, 0, OWN);
  tcase_add_test(t, a_watcher_sees_and_may_change);
  tcase_add_test(t, modes_of_the_caller_do_not_reach_a_pass);
  tcase_add_test(t, probabilities_of_all_texts_add_up_to_one);
  tcase_add_test(t, softmax_of_a_vocabulary_adds_up_to_one);
  suite_add_tcase(s, t);
  t = tcase_create("files");
  tcase_add_test(t, a_number_that_is_none_is_named);
  suite_add_tcase(s, t);
  return suite_run(s);
}
