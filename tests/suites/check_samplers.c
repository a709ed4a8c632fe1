/* Chapter 7: the numbers of other programs, through the protocol, which is tried by it, too. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include "loop/generate.h"
#include "choices.h"
#include "runs.h"

static struct run ask_refusing(const char *kind, const char *line, uint64_t fail_at)
{
  struct run r = probe_refused(kind, SMALL, line, strlen(line), fail_at);
  ck_assert_msg(fail_at > 0 || r.n_err == 0, "%s", r.err);
  return r;
}
static json_t *ask(const char *kind, const char *model, json_t *question) /* takes the question */
{
  char *in = json_dumps(question, 0);
  struct run r = probe(kind, model, in, strlen(in));
  json_t *a = json_loads(r.out, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
  ck_assert_msg(r.status == 0 && r.n_err == 0 && json_is_object(a), "%s: %s%s", in, r.out, r.err);
  free(in), done(&r), json_decref(question);
  return a;
}
static double real_of(json_t *v)
{
  const char *s = json_string_value(v);
  return s == NULL           ? json_number_value(v)
    : strcmp(s, "-inf") == 0 ? -INFINITY
    : strcmp(s, "inf") == 0  ? INFINITY
                             : NAN;
}
static size_t floats_of(json_t *list, float *x)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    x[i] = (float) real_of(json_array_get(list, i));
  return json_array_size(list);
}
static bool like(double a, double b)
{
  return a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-5 * fmax(1, fabs(b)));
}
static bool all_like(json_t *got, json_t *want)
{
  bool ok = json_array_size(got) == json_array_size(want);
  for (size_t i = 0; ok && i < json_array_size(want); i++)
    ok = like(real_of(json_array_get(got, i)), real_of(json_array_get(want, i)));
  return ok;
}
/* why an answer may differ from that of another program: what the contract says, and how often in
 * this file */
struct reason {
  const char *sentence;
  unsigned n;
};
static void table(
  const char *file, unsigned cases, unsigned agree, const struct reason *r, size_t n)
{
  unsigned otherwise = 0;
  for (size_t i = 0; i < n; i++) otherwise += r[i].n;
  printf("%s\t%u cases\t%u agree\t%u decided otherwise\n", file, cases, agree, otherwise);
  tally(file, agree + otherwise, cases - agree - otherwise, 0, "");
  for (size_t i = 0; i < n; i++) {
    char label[300];
    if (r[i].n == 0) continue;
    snprintf(label, sizeof label, "  decided otherwise: %s", r[i].sentence);
    printf("\t%u\t%s\n", r[i].n, r[i].sentence);
    tally(label, r[i].n, 0, 0, "");
  }
  ck_assert_uint_eq(agree + otherwise, cases);
}

START_TEST(processors_of_hugging_face)
{
  static const char *const theirs[] = { "epsilon_cutoff", "eta_cutoff", "top_h", "forced_eos",
    "exp_decay_length_penalty" };
  struct reason why[] = {
    { "other ops of hf_logits_processors.jsonl are not ours: an unknown op, hence an error", 0 },
    { "NaN or +inf anywhere, or no finite logit at all, on entry is an error", 0 },
    { "top_k: exactly k: falling z, ties by rising id", 0 }, { "top_p: 1: all", 0 },
    { "the other ids of a sequence in sequence_bias or bad_words may be all of ids", 0 }
  };
  char buffer[400], *line = NULL;
  size_t size = 0;
  unsigned cases = 0, agree = 0;
  const char *file = "vectors/sampling/hf_logits_processors.jsonl";
  if (shared_file(buffer, sizeof buffer, file) == NULL) return;
  FILE *f = fopen(buffer, "r");
  for (; getline(&line, &size, f) > 0; cases++) {
    json_t *c = json_loads(line, 0, NULL), *logits = json_object_get(c, "logits"),
           *params = json_object_get(c, "params"), *want = json_object_get(c, "expect");
    const char *op = json_string_value(json_object_get(c, "op"));
    json_t *a = ask("process", SMALL,
             json_pack("{sO sO sO sO}", "op", json_object_get(c, "op"), "params", params, "ids",
               json_object_get(c, "ids"), "logits", logits)),
           *got = json_object_get(a, "logits");
    bool foreign = false, number = true, some = false, error = json_object_get(a, "error") != NULL;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
      foreign = foreign || strcmp(op, theirs[i]) == 0;
    size_t v = json_array_size(logits), stay = 0, fewer = 0;
    for (size_t i = 0; i < v; i++) {
      double z = real_of(json_array_get(logits, i));
      number = number && z < INFINITY;
      some = some || z > -INFINITY;
    }
    for (size_t i = 0; i < v && got != NULL; i++) {
      bool mine = real_of(json_array_get(got, i)) > -INFINITY,
           his = real_of(json_array_get(want, i)) > -INFINITY;
      stay += mine, fewer += mine && !his;
    }
    if (foreign && error)
      why[0].n++;
    else if ((!number || !some) && error)
      why[1].n++;
    else if (all_like(got, want))
      agree++;
    else if (strcmp(op, "top_k") == 0
      && stay == (size_t) json_integer_value(json_object_get(params, "top_k")) && fewer == 0)
      why[2].n++;
    else if (strcmp(op, "top_p") == 0 && json_number_value(json_object_get(params, "top_p")) == 1
      && all_like(got, logits))
      why[3].n++;
    else if (strcmp(op, "bad_words") == 0
      && fewer == 0) { /* a sequence whose others are the whole text, which the library skips */
      json_t *bad = json_object_get(params, "bad");
      size_t whole = 0, more = 0;
      for (size_t i = 0; i < json_array_size(bad); i++)
        whole +=
          json_array_size(json_array_get(bad, i)) == json_array_size(json_object_get(c, "ids")) + 1;
      for (size_t i = 0; i < v; i++)
        more += real_of(json_array_get(got, i)) == -INFINITY
          && real_of(json_array_get(want, i)) > -INFINITY;
      if (more == 1 && whole >= 1)
        why[4].n++;
      else
        fprintf(stderr, "%s", line);
    } else
      fprintf(stderr, "%s", line);
    json_decref(a), json_decref(c);
  }
  free(line), fclose(f);
  table(file, cases, agree, why, 5);
}
END_TEST
static double number_of(json_t *c, const char *key, double normal)
{
  json_t *v = json_object_get(c, key);
  return v == NULL ? normal : json_number_value(v);
}
static int smaller(const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}
static bool same_set(
  const double *a, const double *b, size_t n) /* of probabilities, in any order */
{
  double x[64], y[64];
  bool ok = n <= 64;
  memcpy(x, a, n * sizeof *x), memcpy(y, b, n * sizeof *y);
  qsort(x, n, sizeof *x, smaller), qsort(y, n, sizeof *y, smaller);
  for (size_t i = 0; ok && i < n; i++) ok = fabs(x[i] - y[i]) <= 1e-5;
  return ok;
}
/* token i has the logit ln i; what must be left, in whole numbers: k tokens; the fewest whose sum
 * is p of the sum; those that are m of the best */
static bool queue_agrees(json_t *c)
{
  static float logits[10000];
  size_t v = (size_t) json_integer_value(json_object_get(c, "n_vocab")), low = 1;
  const char *order = json_string_value(json_object_get(c, "order"));
  struct sampling_params s = sampling_default();
  s.top_k = (size_t) json_integer_value(json_object_get(c, "top_k")),
  s.top_p = number_of(c, "top_p", 1), s.min_p = number_of(c, "min_p", 0);
  s.n_stages = 0;
  for (size_t i = 0; i < v; i++) logits[i] = (float) log((double) i);
  for (const char *o = order; *o; o++) {
    size_t all = 0, sum = 0;
    s.stage[s.n_stages++] = *o == 'k' ? SAMPLE_TOP_K : *o == 'p' ? SAMPLE_TOP_P : SAMPLE_MIN_P;
    for (size_t i = low; i < v; i++) all += i;
    if (*o == 'k') low = s.top_k > 0 && v - low > s.top_k ? v - s.top_k : low;
    if (*o == 'p') {
      size_t i = v;
      do sum += --i;
      while (i > low && (double) sum < s.top_p * (double) all);
      low = i;
    }
    if (*o == 'm')
      while ((double) low < s.min_p * (double) (v - 1)) low++;
  }
  struct result r;
  result_of(&r, logits, v, &s, nothing);
  bool ok = r.ok && r.f.n == v - low;
  if (r.ok) funnel_distribution(&r.f);
  for (size_t i = 0; ok && i < r.f.n; i++) ok = r.f.candidates[i] == v - 1 - i;
  result_drop(&r);
  return ok;
}
START_TEST(samplers_of_llama_cpp)
{
  struct reason why[] = {
    { "other samplers of llama_cpp_samplers.json are not ours: an unknown op, hence an error", 0 },
    { "min_p: outside [0,1]: error", 0 }
  };
  char buffer[400];
  const char *file = "vectors/sampling/llama_cpp_samplers.json";
  if (shared_file(buffer, sizeof buffer, file) == NULL) return;
  json_t *all = json_load_file(buffer, 0, NULL), *c;
  size_t i;
  unsigned cases = 0, agree = 0;
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    const char *op = json_string_value(json_object_get(c, "op"));
    json_t *probs = json_object_get(c, "probs"), *expected = json_object_get(c, "expected"),
           *last = json_object_get(c, "last_tokens");
    struct sampling_params s = sampling_default();
    float logits[16];
    double want[16];
    uint32_t ids[16];
    size_t v = json_array_size(probs), n = 0;
    cases++;
    if (strcmp(op, "sampler_queue") == 0) {
      if (queue_agrees(c)) agree++;
      continue;
    }
    if (strcmp(op, "temp") == 0)
      s.temperature = number_of(c, "temp", 1);
    else if (strcmp(op, "top_k") == 0)
      s.top_k = (size_t) json_integer_value(json_object_get(c, "k"));
    else if (strcmp(op, "top_p") == 0)
      s.top_p = number_of(c, "p", 1);
    else if (strcmp(op, "min_p") == 0)
      s.min_p = number_of(c, "p", 0);
    else if (strcmp(op, "typical") == 0)
      s.typical_p = number_of(c, "p", 1);
    else if (strcmp(op, "penalties") == 0)
      s.repetition_penalty = number_of(c, "repeat_penalty", 1),
      s.frequency_penalty = number_of(c, "alpha_frequency", 0),
      s.presence_penalty = number_of(c, "alpha_presence", 0);
    else {
      json_t *a = ask("process", SMALL,
        json_pack("{sO s{} s[f]}", "op", json_object_get(c, "op"), "params", "logits", 1.0));
      if (json_object_get(a, "error") != NULL) why[0].n++;
      json_decref(a);
      continue;
    }
    for (size_t k = 0; k < v; k++)
      logits[k] = (float) log(json_number_value(json_array_get(probs, k)));
    for (size_t k = 0; k < json_array_size(last); k++)
      ids[k] = (uint32_t) json_integer_value(json_array_get(last, k));
    double sum =
      0; /* of its typical tokens the file has the old probabilities, which do not sum to 1 */
    for (size_t k = 0; k < json_array_size(expected); k++) {
      sum += want[n] = json_number_value(json_array_get(expected, k));
      n += want[n] > 0 || strcmp(op, "penalties") == 0;
    }
    for (size_t k = 0; k < n; k++) want[k] /= sum;
    struct result r;
    result_of(&r, logits, v, &s, (struct history){ ids, json_array_size(last), 0 });
    if (!r.ok && strcmp(op, "min_p") == 0 && s.min_p > 1)
      why[1].n++;
    else if (r.ok) {
      funnel_distribution(&r.f);
      if (r.f.n == n && same_set(r.f.weight, want, n))
        agree++;
      else
        fprintf(stderr, "%s: case %zu\n", file, i);
    }
    result_drop(&r);
  }
  json_decref(all);
  table(file, cases, agree, why, 2);
}
END_TEST

static size_t ids_in(json_t *list, uint32_t *id)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    id[i] = (uint32_t) json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}
START_TEST(penalties_of_vllm_and_llama_cpp)
{
  char buffer[400];
  const char *file = "vectors/sampling/penalties_vllm_llamacpp.json";
  if (shared_file(buffer, sizeof buffer, file) == NULL) return;
  json_t *all = json_load_file(buffer, 0, NULL), *c;
  size_t i;
  unsigned cases = 0, agree[2] = { 0, 0 };
  json_array_foreach(json_object_get(all, "cases"), i, c)
  {
    float logits[64];
    uint32_t ids[128];
    size_t v = floats_of(json_object_get(c, "logits"), logits),
           prompt = ids_in(json_object_get(c, "prompt"), ids),
           n = prompt + ids_in(json_object_get(c, "output"), ids + prompt);
    cases++;
    for (int k = 0; k < 2;
         k++) { /* vLLM: all, and what was written; llama.cpp: one window over both */
      struct sampling_params s = sampling_default();
      s.repetition_penalty = number_of(c, "repetition_penalty", 1),
      s.frequency_penalty = number_of(c, "frequency_penalty", 0),
      s.presence_penalty = number_of(c, "presence_penalty", 0);
      if (k == 1) s.penalty_last_n = json_integer_value(json_object_get(c, "llama_cpp_last_n"));
      json_t *want = json_object_get(c, k == 0 ? "expect_vllm_openai" : "expect_llama_cpp");
      struct result r;
      bool ok = json_array_size(want) == v;
      result_of(&r, logits, v, &s, (struct history){ ids, n, k == 0 ? prompt : 0 });
      for (size_t j = 0; ok && j < v; j++)
        ok = r.ok && like(r.f.score[j], real_of(json_array_get(want, j)));
      agree[k] += ok;
      result_drop(&r);
    }
  }
  json_decref(all);
  table("vectors/sampling/penalties_vllm_llamacpp.json: vLLM", cases, agree[0], NULL, 0);
  table("vectors/sampling/penalties_vllm_llamacpp.json: llama.cpp, no prompt and a window", cases,
    agree[1], NULL, 0);
}
END_TEST

/* three programs, three orders: each is a list of names */
START_TEST(orders_of_three_programs)
{
  static const struct {
    const char *key;
    bool ngram;
    size_t n;
    const char *name[N_SAMPLE_STAGES];
  } at[] = { { "hf", true, 7,
               { "penalties", "ngram", "temperature", "top_k", "top_p", "min_p", "typical_p" } },
    { "llama_cpp_order_without_ngram", false, 6,
      { "penalties", "top_k", "typical_p", "top_p", "min_p", "temperature" } },
    { "vllm_order_without_ngram_typical", false, 5,
      { "penalties", "temperature", "min_p", "top_k", "top_p" } } };
  char buffer[400];
  const char *file = "vectors/sampling/pipeline_orders.json";
  if (shared_file(buffer, sizeof buffer, file) == NULL) return;
  json_t *all = json_load_file(buffer, 0, NULL), *c;
  for (size_t k = 0; k < 3; k++) {
    unsigned cases = 0, agree = 0;
    size_t i;
    json_array_foreach(json_object_get(all, "cases"), i, c)
    {
      json_t *p = json_object_get(c, "params"), *want = json_object_get(c, at[k].key);
      if (!json_is_array(want)) continue; /* the file has not every order of every case */
      struct sampling_params s = sampling_default();
      struct error why;
      float logits[256];
      uint32_t ids[64];
      size_t v = floats_of(json_object_get(c, "logits"), logits),
             n = ids_in(json_object_get(c, "ids"), ids);
      ck_assert(sampling_stages_parse(&s, at[k].name, at[k].n, &why));
      s.temperature = number_of(p, "temperature", 1), s.top_k = (size_t) number_of(p, "top_k", 0),
      s.top_p = number_of(p, "top_p", 1), s.min_p = number_of(p, "min_p", 0),
      s.typical_p = number_of(p, "typical_p", 1);
      s.repetition_penalty = number_of(p, "repetition_penalty", 1),
      s.no_repeat_ngram = (size_t) number_of(p, "no_repeat_ngram_size", 0);
      struct result r;
      double probs[256] = { 0 };
      bool ok = json_array_size(want) == v;
      result_of(&r, logits, v, &s, (struct history){ ids, n, n });
      if (r.ok) {
        funnel_distribution(&r.f);
        for (size_t j = 0; j < r.f.n; j++) probs[r.f.candidates[j]] = r.f.weight[j];
      }
      for (size_t j = 0; ok && j < v; j++)
        ok = r.ok && fabs(probs[j] - real_of(json_array_get(want, j))) <= 1e-5;
      cases++, agree += ok;
      if (!ok)
        fprintf(stderr, "%s: case %zu in the order %s: %s\n", file, i, at[k].key, r.why.text);
      result_drop(&r);
    }
    char label[120];
    snprintf(label, sizeof label, "%s: %s", file, at[k].key);
    table(label, cases, agree, NULL, 0);
  }
  json_decref(all);
}
END_TEST

START_TEST(ties_bounds_and_edges)
{
  char buffer[400];
  const char *file = "vectors/sampling/ties_and_bounds.json";
  if (shared_file(buffer, sizeof buffer, file) != NULL) {
    json_t *all = json_load_file(buffer, 0, NULL), *c;
    size_t i;
    unsigned cases = 0, agree = 0;
    struct reason why[] = { { "double from the float32 logits on: the logarithm of a half is no "
                              "float, so that a half is not reached exactly",
      0 } };
    json_array_foreach(json_object_get(all, "cases"), i, c)
    {
      json_t *probs = json_object_get(c, "probs"),
             *logits = probs != NULL ? json_array() : json_incref(json_object_get(c, "logits")), *x,
             *keep = json_object_get(c, "keep"), *list;
      const char *op = json_string_value(json_object_get(c, "op"));
      size_t k;
      json_array_foreach(probs, k, x)
        json_array_append_new(logits, json_real(log(json_number_value(x))));
      if (keep == NULL) keep = json_object_get(c, "suggest");
      json_t *params = strcmp(op, "top_k") == 0
        ? json_pack("{sO}", "top_k", json_object_get(c, "k"))
        : strcmp(op, "greedy") == 0 ? json_pack("{si}", "temperature", 0)
                                    : json_pack("{sO}", op, json_object_get(c, "p"));
      json_t *a = ask("sample", SMALL, json_pack("{so so}", "logits", logits, "params", params));
      list = keep == NULL ? json_pack("[O]", json_object_get(c, "pick")) : json_incref(keep);
      if (json_equal(json_object_get(a, "kept"), list))
        agree++;
      else if (strcmp(op, "min_p") == 0
        && number_of(c, "p", 0) == .5) { /* and a little below it is reached */
        json_t *b = ask("sample", SMALL,
          json_pack("{so s{sf}}", "logits",
            json_pack("[ffff]", log(.5), log(.25), log(.15), log(.1)), "params", "min_p",
            .5 - 1e-7));
        if (json_equal(json_object_get(b, "kept"), list)) why[0].n++;
        json_decref(b);
      } else
        fprintf(stderr, "%s: case %zu\n", file, i);
      cases++, json_decref(a), json_decref(list);
    }
    json_decref(all);
    table(file, cases, agree, why, 1);
  }
  /* the inputs that belong to these names stand as notes beside the processors' cases */
  static const struct {
    const char *name;
    size_t n;
    float z[6];
    int argmax;
  } edge[] = { { "all_equal", 6, { 0 }, 0 },
    { "all_neg_inf", 4, { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, -1 },
    { "one_finite", 4, { -INFINITY, -INFINITY, 1, -INFINITY }, 2 },
    { "nan_one", 3, { 1, NAN, 2 }, -1 }, { "pos_inf", 3, { 1, INFINITY, 2 }, -1 },
    { "huge", 4, { 1e30f, -1e30f, 0, 1e30f }, 0 }, { "neg_zero", 4, { -0.0f, 0, -1, 1 }, 3 },
    { "tiny_p", 4, { 0, -200, -1, -100 }, 0 } };
  struct reason why[] = { { "NaN or +inf anywhere, or no finite logit at all, on entry is an error",
    0 } };
  unsigned agree = 0;
  json_t *all =
    shared_file(buffer, sizeof buffer, "vectors/sampling/torch_edge_argmax_multinomial.json")
      != NULL
    ? json_load_file(buffer, 0, NULL)
    : NULL;
  for (size_t i = 0; i < 8; i++) {
    struct result r;
    struct sampling_params s = sampling_default();
    s.temperature = 0;
    result_of(&r, edge[i].z, edge[i].n, &s, nothing);
    ck_assert_int_eq(r.ok, edge[i].argmax >= 0);
    if (!r.ok)
      why[0].n++;
    else {
      ck_assert_uint_eq(r.f.n, 1);
      ck_assert_int_eq((int) funnel_choose(&r.f, 1, 2, 3), edge[i].argmax);
    }
    if (all != NULL) {
      json_t *c = json_array_get(all, i);
      ck_assert_str_eq(json_string_value(json_object_get(c, "case")), edge[i].name);
      agree += r.ok && json_integer_value(json_object_get(c, "argmax")) == edge[i].argmax;
    }
    result_drop(&r);
  }
  if (all != NULL) table("vectors/sampling/torch_edge_argmax_multinomial.json", 8, agree, why, 1);
  json_decref(all);
}
END_TEST

START_TEST(known_answers_of_philox)
{
  /* three answers that the authors publish, so that some are here always */
  static const uint32_t known[][10] = { { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                          0x9b00dbd8 },
    { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
      0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
    { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
      0x94fdcceb, 0x5001e420, 0x24126ea1 } };
  char buffer[400], line[500];
  const char *file = "vectors/rng/random123_kat_vectors.txt";
  uint32_t out[4];
  for (size_t i = 0; i < 3; i++) {
    philox4x32(known[i] + 4, known[i], out);
    ck_assert_int_eq(memcmp(out, known[i] + 6, sizeof out), 0);
  }
  uint64_t seed = suite_seed();
  for (int i = 0; i < 100000; i++) {
    uint32_t in[6], again[4];
    for (int k = 0; k < 6; k++) in[k] = (uint32_t) rnd(&seed);
    philox4x32(in + 4, in, out), plain_philox(in + 4, in, again);
    ck_assert_int_eq(memcmp(out, again, sizeof out), 0);
    if (i % 100 == 0) { /* sixteen at a time */
      uint32_t id[16], pair[6] = { 0, in[3], in[2], 0, in[1], in[0] };
      uint64_t bits[16];
      for (int k = 0; k < 16; k++) id[k] = k % 5 == 4 ? id[k - 1] : (uint32_t) rnd(&seed) >> rnd(&seed) % 32;
      philox_bits((uint64_t) in[0] << 32 | in[1], in[2], in[3], id, bits);
      for (int k = 0; k < 16; k++) {
        pair[0] = id[k], plain_philox(pair + 4, pair, again);
        ck_assert(bits[k] == ((uint64_t) again[0] << 20 | again[1] >> 12));
      }
    }
    double a = gumbel_noise((uint64_t) in[0] << 32 | in[1], in[2], in[3], in[4]),
           b = plain_noise((uint64_t) in[0] << 32 | in[1], in[2], in[3], in[4]);
    ck_assert_msg(fabs(a - b) <= 1e-14 * fmax(1, fabs(b)), "%.17g; wanted: %.17g", a, b);
    ck_assert(a > -3.7 && a < 36.8);
  }
  if (shared_file(buffer, sizeof buffer, file) == NULL) return;
  struct reason others[] = { { "the one generator is Philox4x32-10: other generators and other "
                               "numbers of rounds are not asked",
    0 } };
  unsigned cases = 0, agree = 0;
  FILE *f = fopen(buffer, "r");
  while (fgets(line, sizeof line, f) != NULL) {
    uint32_t w[10];
    if (line[0] == '#' || line[0] == '\n') continue;
    cases++;
    if (sscanf(line, "philox4x32 10 %x %x %x %x %x %x %x %x %x %x", w, w + 1, w + 2, w + 3, w + 4,
          w + 5, w + 6, w + 7, w + 8, w + 9)
      != 10) {
      others[0].n++;
      continue;
    }
    json_t *a = ask("philox", SMALL,
             json_pack("{s[II] s[IIII]}", "key", (json_int_t) w[4], (json_int_t) w[5], "counter",
               (json_int_t) w[0], (json_int_t) w[1], (json_int_t) w[2], (json_int_t) w[3])),
           *got = json_object_get(a, "out");
    bool ok = json_array_size(got) == 4;
    for (size_t i = 0; ok && i < 4; i++)
      ok = json_integer_value(json_array_get(got, i)) == (json_int_t) w[6 + i];
    agree += ok, json_decref(a);
  }
  fclose(f);
  ck_assert_uint_eq(agree, 3);
  table(file, cases, agree, others, 1);
}
END_TEST

/* greedy texts with penalties, by Hugging Face's generate, through the whole loop */
START_TEST(greedy_with_penalties)
{
  static const char *const model[] = { "gpt2", "gpt2-f16", "gpt2-hub", "llama-bf16",
    "llama-gqa-tied", "llama-mha", "llama-odd", "llama-odd20", "llama-rope3", "llama-sharded",
    "mistral-swa8", "qwen2", "qwen3", "stories260K" };
  for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
    char file[120], buffer[400], dir[400], *line = NULL;
    size_t size = 0;
    unsigned cases = 0, agree = 0;
    snprintf(file, sizeof file, "golden/models/%s/greedy_penalty.jsonl", model[i]);
    if (shared_file(buffer, sizeof buffer, file) == NULL) continue;
    snprintf(dir, sizeof dir, "%s", buffer);
    *strrchr(dir, '/') = '\0';
    FILE *f = fopen(buffer, "r");
    for (; getline(&line, &size, f) > 0; cases++) {
      json_t *c = json_loads(line, 0, NULL), *eos = json_object_get(c, "eos_token_id");
      json_t *a = ask("generate", dir,
        json_pack("{sO sO s{sO sO} so}", "ids", json_object_get(c, "prompt_ids"), "max_tokens",
          json_object_get(c, "max_new_tokens"), "params", "repetition_penalty",
          json_object_get(c, "repetition_penalty"), "no_repeat_ngram",
          json_object_get(c, "no_repeat_ngram_size"), "eos",
          json_is_array(eos)       ? json_incref(eos)
            : json_is_integer(eos) ? json_pack("[O]", eos)
                                   : json_array()));
      if (json_equal(json_object_get(a, "ids"), json_object_get(c, "ids")))
        agree++;
      else
        fprintf(stderr, "%s: %s", file, line);
      json_decref(a), json_decref(c);
    }
    free(line), fclose(f);
    table(file, cases, agree, NULL, 0);
  }
}
END_TEST

/* a case for every stage, always here: what goes in, what is left, in the protocol's own words */
START_TEST(a_case_for_every_stage)
{
  static const struct {
    const char *kind, *in, *out;
  } at[] = {
    { "process",
      "{\"op\":\"temperature\",\"params\":{\"temperature\":0.5},\"logits\":[1,\"-inf\",-2]}",
      "{\"logits\":[2.0,\"-inf\",-4.0]}" },
    { "process", "{\"op\":\"temperature\",\"params\":{\"temperature\":0},\"logits\":[1,5,5,2]}",
      "{\"logits\":[\"-inf\",5.0,\"-inf\",\"-inf\"]}" },
    { "process", "{\"op\":\"top_k\",\"params\":{\"top_k\":2},\"logits\":[1,3,3,3,2]}",
      "{\"logits\":[\"-inf\",3.0,3.0,\"-inf\",\"-inf\"]}" },
    { "process", "{\"op\":\"top_p\",\"params\":{\"top_p\":0.5},\"logits\":[0,0,0,0]}",
      "{\"logits\":[0.0,0.0,\"-inf\",\"-inf\"]}" },
    { "process", "{\"op\":\"top_p\",\"params\":{\"top_p\":0},\"logits\":[0,1,1]}",
      "{\"logits\":[\"-inf\",1.0,\"-inf\"]}" },
    { "process", "{\"op\":\"min_p\",\"params\":{\"min_p\":1},\"logits\":[0,1,1]}",
      "{\"logits\":[\"-inf\",1.0,1.0]}" },
    { "process",
      "{\"op\":\"typical_p\",\"params\":{\"typical_p\":0.5},\"logits\":[4,1,1,1,1,1,1,1,1,1,1,1,1,"
      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}",
      "{\"logits\":[\"-inf\",1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1."
      "0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,\"-inf\",\"-inf\",\"-inf\",\"-inf\",\"-inf\"]}" },
    { "process",
      "{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2},\"ids\":[0,1,0,2],\"logits\":[1,-"
      "1,0,3]}",
      "{\"logits\":[0.5,-2.0,0.0,3.0]}" },
    { "process",
      "{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2,\"penalty_last_n\":1},\"ids\":[0,1]"
      ",\"logits\":[1,1]}",
      "{\"logits\":[1.0,0.5]}" },
    { "process",
      "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":0.25,\"prompt_"
      "len\":1},\"ids\":[0,1,1],\"logits\":[1,2,3]}",
      "{\"logits\":[1.0,0.75,3.0]}" },
    { "process",
      "{\"op\":\"no_repeat_ngram\",\"params\":{\"n\":2},\"ids\":[1,2,1],\"logits\":[0,0,0]}",
      "{\"logits\":[0.0,0.0,\"-inf\"]}" },
    { "process",
      "{\"op\":\"logit_bias\",\"params\":{\"bias\":{\"1\":2.5,\"0\":\"-inf\"}},\"logits\":[1,1]}",
      "{\"logits\":[\"-inf\",3.5]}" },
    { "process",
      "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[2,1],1],[[0,1],4],[[1],0.5]]},\"ids\":[0,"
      "2],\"logits\":[0,0,0]}",
      "{\"logits\":[0.0,1.5,0.0]}" },
    { "process",
      "{\"op\":\"bad_words\",\"params\":{\"bad\":[[1],[0,2],[2]],\"eos\":[2]},\"ids\":[1],"
      "\"logits\":[0,0,0]}",
      "{\"logits\":[0.0,\"-inf\",0.0]}" },
    { "process", "{\"op\":\"suppress_tokens\",\"params\":{\"tokens\":[0,0]},\"logits\":[7,8]}",
      "{\"logits\":[\"-inf\",8.0]}" },
    { "process", "{\"op\":\"suppress_tokens\",\"params\":{\"tokens\":[0,1]},\"logits\":[7,8]}",
      "{\"logits\":[\"-inf\",\"-inf\"]}" },
    { "process",
      "{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[0],\"logits\":[0,"
      "0]}",
      "{\"logits\":[0.0,\"-inf\"]}" },
    { "process",
      "{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":1},\"ids\":[0],\"logits\":[0,"
      "0]}",
      "{\"logits\":[0.0,0.0]}" },
    { "process",
      "{\"op\":\"min_new_tokens\",\"params\":{\"eos\":[1],\"min_new_tokens\":1,\"prompt_len\":1},"
      "\"ids\":[0],\"logits\":[0,0]}",
      "{\"logits\":[0.0,\"-inf\"]}" },
    { "process", "{\"op\":\"log_softmax\",\"logits\":[1,1,\"-inf\"]}",
      "{\"logits\":[-0.6931472,-0.6931472,\"-inf\"]}" },
    { "sample", "{\"logits\":[1,3,3,2],\"params\":{\"top_k\":2}}",
      "{\"kept\":[1,2],\"probs\":[0.5,0.5],\"token\":1}" },
    { "sample",
      "{\"logits\":[1,3,3,2],\"params\":{\"top_k\":2},\"seed\":0,\"sequence\":0,\"position\":0}",
      "{\"kept\":[1,2],\"probs\":[0.5,0.5],\"token\":1}" },
    { "sample",
      "{\"logits\":[0,0,0,0],\"seed\":9223372036854775807,\"sequence\":4294967295,\"position\":"
      "4294967295}",
      "?" },
    { "sample",
      "{\"logits\":[1,3,3,2],\"ids\":[0,0,0],\"prompt_length\":1,\"params\":{\"top_k\":2},\"seed\":"
      "1}",
      "{\"kept\":[1,2],\"probs\":[0.5,0.5],\"token\":2}" }, /* the position is 3 */
    { "sample",
      "{\"logits\":[1,3,3,2],\"ids\":[1,1,1],\"params\":{\"top_k\":2,\"frequency_penalty\":1},"
      "\"seed\":1}",
      "{\"kept\":[1,2],\"probs\":[0.5,0.5],\"token\":2}" }, /* all of it is the prompt */
    { "sample", "{\"logits\":[5],\"params\":{\"top_p\":0.1}}",
      "{\"kept\":[0],\"probs\":[1.0],\"token\":0}" },
    { "philox", "{\"key\":[0,0],\"counter\":[0,0,0,0]}",
      "{\"out\":[1713891541,3781805453,3159862348,2600524760]}" }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct run r = ask_refusing(at[i].kind, at[i].in, 0);
    char want[1000];
    snprintf(want, sizeof want, "%s\n", at[i].out);
    if (at[i].out[0] == '?')
      ck_assert_msg(
        strstr(r.out, "\"kept\":[0,1,2,3],\"probs\":[0.25,0.25,0.25,0.25]") != NULL, "%s", r.out);
    else
      ck_assert_msg(strcmp(r.out, want) == 0, "%s: %s", at[i].in, r.out);
    done(&r);
  }
}
END_TEST
/* the protocol's generate is sample on forward, token by token, with penalties too */
/* a stage can be asked for by its name or by that of its first parameter; bias and penalties are
 * several operations each */
START_TEST(every_stage_is_an_operation)
{
  for (int i = 0; i < N_SAMPLE_STAGES; i++) {
    const struct sampling_row *row = sampling_row((enum sample_stage) i);
    const char *name[] = { row->name, row->option[0].name };
    bool known = i == SAMPLE_BIAS || i == SAMPLE_PENALTIES;
    for (int k = 0; k < 2 && !known; k++) {
      json_t *a = ask("process", SMALL,
        json_pack("{ss s{} s[ff]}", "op", name[k], "params", "logits", 1.0, 2.0));
      const char *error = json_string_value(json_object_get(a, "error"));
      known = error == NULL || strncmp(error, "\"op\" is", 7) != 0;
      json_decref(a);
    }
    ck_assert_msg(known, "the stage %s is no operation: program/probe_sample.c", row->name);
  }
}
END_TEST

START_TEST(generate_is_sample_on_forward)
{
  static const char *const params[] = { "{\"temperature\":1.1,\"top_p\":0.9}",
    "{\"temperature\":0.7,\"repetition_penalty\":1.3,\"frequency_penalty\":0.4,\"presence_"
    "penalty\":0.2,\"penalty_last_n\":4}",
    "{\"no_repeat_ngram\":2,\"logit_bias\":{\"3\":2.5,\"270\":\"-inf\"},\"bad_words\":[[262,5],[9]]"
    ",\"suppress_tokens\":[7]}",
    "{\"temperature\":2,\"samplers\":[\"top_k\",\"typical_p\",\"temperature\"],\"top_k\":50,"
    "\"typical_p\":0.8}" };
  for (int k = 0; k < 4; k++) {
    json_t *p = json_loads(params[k], 0, NULL), *ids = json_pack("[iii]", 262, 270, 263);
    json_t *a = ask("generate", SMALL,
             json_pack("{sO si sO sI si s[]}", "ids", ids, "max_tokens", 12, "params", p, "seed",
               (json_int_t) 1234567890123, "sequence", 3, "eos")),
           *got = json_object_get(a, "ids");
    ck_assert_uint_eq(json_array_size(got), 12);
    if (json_object_get(p, "temperature") == NULL)
      json_object_set_new(p, "temperature", json_integer(0));
    for (size_t i = 0; i < 12; i++) {
      json_t *b = ask("forward", SMALL, json_pack("{sO}", "ids", ids));
      json_t *c = ask("sample", SMALL,
        json_pack("{sO sO si sO sI si}", "logits", json_array_get(json_object_get(b, "logits"), 0),
          "ids", ids, "prompt_length", 3, "params", p, "seed", (json_int_t) 1234567890123,
          "sequence", 3));
      ck_assert_msg(json_equal(json_object_get(c, "token"), json_array_get(got, i)),
        "%s, token %zu", params[k], i);
      json_array_append(ids, json_array_get(got, i));
      json_decref(b), json_decref(c);
    }
    json_decref(a), json_decref(p), json_decref(ids);
  }
}
END_TEST
static const struct {
  const char *kind, *line;
} question[] = { { "process",
                   "{\"op\":\"bad_words\",\"params\":{\"bad\":[[1],[0,2],[2]],\"eos\":[2]},\"ids\":"
                   "[1,0],\"logits\":[0,0,0]}" },
  { "process",
    "{\"op\":\"logit_bias\",\"params\":{\"bias\":{\"1\":2.5,\"0\":\"-inf\"}},\"logits\":[1,1]}" },
  { "process",
    "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[2,1],1],[[0,1],4],[[1],0.5]]},\"ids\":[0,2],"
    "\"logits\":[0,0,0]}" },
  { "process",
    "{\"op\":\"min_length\",\"params\":{\"eos\":[1],\"min_length\":2},\"ids\":[0],\"logits\":[0,0]"
    "}" },
  { "process",
    "{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2,\"penalty_last_n\":1},\"ids\":[0,1],"
    "\"logits\":[1,1]}" },
  { "process", "{\"op\":\"suppress_tokens\",\"params\":{\"tokens\":[0]},\"logits\":[1,1]}" },
  { "process", "{\"op\":\"top_k\",\"params\":{\"top_k\":1},\"logits\":[1,2]}" },
  { "process",
    "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":0.25,\"prompt_len\":"
    "1,\"penalty_last_n\":2},\"ids\":[0,1,1],\"logits\":[1,2,3]}" },
  { "sample",
    "{\"logits\":[1,3,3,2],\"ids\":[0,1,1],\"prompt_length\":1,\"params\":{\"top_k\":3,"
    "\"repetition_penalty\":1.5,\"frequency_penalty\":0.1,\"logit_bias\":{\"2\":0.5},\"bad_words\":"
    "[[1,2],[0]],\"suppress_tokens\":[3],\"samplers\":[\"bias\",\"penalties\",\"top_k\"]},\"seed\":"
    "3}" },
  { "philox", "{\"key\":[1,2],\"counter\":[1,2,3,4]}" },
  { "generate",
    "{\"ids\":[262],\"max_tokens\":2,\"params\":{\"temperature\":0.9,\"top_k\":9,\"bad_words\":[[5,"
    "6]],\"logit_bias\":{\"3\":1}}}" } };
START_TEST(questions_survive_every_refusal)
{
  unsigned tried = 0;
  for (size_t i = 0; i < sizeof question / sizeof *question; i++) {
    struct run good = ask_refusing(question[i].kind, question[i].line, 0);
    ck_assert_msg(strstr(good.out, "error") == NULL, "%s", good.out);
    for (uint64_t k = 1; k <= good.m.all.requests; k++, tried++) {
      struct run r = ask_refusing(question[i].kind, question[i].line, k);
      bool refused = r.status == 1 && r.n_out == 0,
           answered = r.status == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0
        && strchr(r.out, '\n') == r.out + r.n_out - 1;
      ck_assert_msg(refused || answered || (r.status == 0 && strcmp(r.out, good.out) == 0),
        "%s, request %lu: %s", question[i].line, (unsigned long) k, r.out);
      done(&r);
    }
    done(&good);
  }
  ck_assert_uint_gt(tried, 200);
}
END_TEST
/* the reader of JSON stands outside the accounts; of what it is refused it must not make another
 * question */
START_TEST(questions_survive_a_reader_without_memory)
{
  json_set_alloc_funcs(jansson_take, jansson_give);
  for (size_t i = 0; i + 1 < sizeof question / sizeof *question; i++) {
    jansson_asked = jansson_out = jansson_refused = 0;
    struct run good = ask_refusing(question[i].kind, question[i].line, 0);
    uint64_t n = jansson_asked;
    ck_assert_msg(
      jansson_out == 0 && n > 0, "%lu blocks are still out", (unsigned long) jansson_out);
    for (uint64_t k = 1; k <= n; k++) {
      if (n > 1000 && k > 40 && k < n - 150) continue; /* the model's own files */
      jansson_asked = 0, jansson_refused = k;
      struct run r = ask_refusing(question[i].kind, question[i].line, UINT64_MAX);
      bool same = r.status == 0 && strcmp(r.out, good.out) == 0, refused = r.status == 1,
           answered = r.status == 0 && strncmp(r.out, "{\"error\":\"", 10) == 0;
      ck_assert_msg(same || refused || answered, "%s, request %lu of %lu: %s", question[i].line,
        (unsigned long) k, (unsigned long) n, r.out);
      ck_assert_msg(jansson_out == 0, "%s, request %lu: %lu blocks are still out", question[i].line,
        (unsigned long) k, (unsigned long) jansson_out);
      done(&r);
    }
    done(&good);
  }
  json_set_alloc_funcs(malloc, free);
}
END_TEST

int main(void)
{
  unsetenv("INCIPIT_ISA"), unsetenv("OMP_NUM_THREADS");
  Suite *s = suite_create("samplers");
  TCase *t = tcase_create("words");
  tcase_add_test(t, a_case_for_every_stage);
  tcase_add_test(t, every_stage_is_an_operation);
  suite_add_tcase(s, t);
  t = tcase_create("others");
  tcase_add_test(t, processors_of_hugging_face);
  tcase_add_test(t, samplers_of_llama_cpp);
  tcase_add_test(t, penalties_of_vllm_and_llama_cpp);
  tcase_add_test(t, orders_of_three_programs);
  tcase_add_test(t, ties_bounds_and_edges);
  tcase_add_test(t, known_answers_of_philox);
  tcase_add_test(t, greedy_with_penalties);
  suite_add_tcase(s, t);
  t = tcase_create("chance");
  tcase_add_test(t, generate_is_sample_on_forward);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_add_test(t, questions_survive_every_refusal);
  tcase_add_test(t, questions_survive_a_reader_without_memory);
  suite_add_tcase(s, t);
  return suite_run(s);
}
