/* Chapter 2, second half: weights files, settings, the store, the pass, the head. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include "02-model/forward.h"
#include "02-model/numbers.h"

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

static const char *const own_model[] = {"gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral", "qwen2", "qwen3"};
enum { OWN = 7 };
START_TEST(golden_models_that_travel_with_the_project)
{
  char name[200];
  snprintf(name, sizeof name, "tests/golden/%s", own_model[_i]);
  ck_assert_uint_eq(golden_model(name, name), 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("model");
  TCase *t = tcase_create("golden");
  tcase_add_loop_test(t, golden_logits_logprobs_and_greedy_ids, 0, 15);
  tcase_add_loop_test(t, golden_models_that_travel_with_the_project, 0, OWN);
  suite_add_tcase(s, t);
  return suite_run(s);
}
