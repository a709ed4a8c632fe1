/* Chapter 9: beam search -- against vectors, golden models, a plain restatement, enumeration, and
 * itself without a cache. */
#define _DEFAULT_SOURCE
#include "suite.h"
#include "tiny.h"
#include <jansson.h>
#include "search/sharing.h"
#include "search/tree.h"
#include "functions/numbers.h"
#include "families/loader.h"
#include "kernels/kernels.h"

/* ---- a table of logits as a source: table[length % P][last token] */
struct table {
  size_t v, p;
  float *z;
  unsigned calls;
};
static bool table_score(
  void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  struct table *t = ctx;
  (void) why, t->calls++;
  for (size_t i = 0; i < n; i++)
    memcpy(logits + i * t->v,
      t->z + (grown[i].n % t->p * t->v + grown[i].id[grown[i].n - 1]) * t->v,
      t->v * sizeof *logits);
  return true;
}
static struct search_source table_source(struct table *t)
{
  return (struct search_source){ t->v, 0, t, table_score };
}
static bool table_search(struct table *t, struct memory *m, const uint32_t *prompt, size_t n,
  const struct search_settings *want, struct search_result *out, struct error *why)
{
  struct search_source from = table_source(t);
  return search_run(&from, m, kernels_find(NULL, NULL), prompt, n, want, out, why);
}

/* ---- vectors */
enum { LONGEST = 64, PROCESSES = 8 };
struct command_line {
  struct search_settings s;
  uint32_t eos[32];
  struct search_processor p[PROCESSES];
};
static size_t request_ids(json_t *list, uint32_t *ids)
{
  for (size_t i = 0; i < json_array_size(list); i++)
    ids[i] = (uint32_t) json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}
static void read_wishes(json_t *o, struct command_line *w)
{
  json_t *early = json_object_get(o, "early_stopping"), *list = json_object_get(o, "processors"),
         *lp = json_object_get(o, "length_penalty");
  json_t *eos =
    json_object_get(o, "eos") ? json_object_get(o, "eos") : json_object_get(o, "eos_token_id");
  *w = (struct command_line){
    .s = { .num_beams = (size_t) json_integer_value(json_object_get(o, "num_beams")),
      .num_return = (size_t) json_integer_value(json_object_get(o, "num_return_sequences")),
      .max_length = (size_t) json_integer_value(json_object_get(o, "max_length")),
      .length_penalty = json_number_value(lp),
      .early = json_is_true(early) ? EARLY_TRUE
        : json_is_string(early)    ? EARLY_NEVER
                                   : EARLY_FALSE,
      .eos = w->eos,
      .process = w->p,
      .n_process = json_array_size(list) }
  };
  w->s.n_eos = json_is_integer(eos) ? 1 : json_array_size(eos);
  if (json_is_integer(eos))
    w->eos[0] = (uint32_t) json_integer_value(eos);
  else
    request_ids(eos, w->eos);
  for (size_t i = 0; i < w->s.n_process; i++) {
    json_t *pair = json_array_get(list, i), *value = json_array_get(pair, 1);
    const char *op = json_string_value(json_array_get(pair, 0));
    w->p[i] = (struct search_processor){ op[0] == 'r' ? PROCESS_REPETITION
        : op[0] == 'n'                                ? PROCESS_NGRAM
                                                      : PROCESS_MIN_NEW,
      json_number_value(value), (size_t) json_number_value(value) };
  }
}
static bool near(double a, double b, double tol)
{
  return fabs(a - b) <= tol * fmax(1, fabs(b));
}
/* the texts of one prompt against sequences[at...] and scores */
static bool same_texts(const struct search_result *r, size_t skip, json_t *sequences,
  json_t *scores, size_t at, double tol)
{
  for (size_t i = 0; i < r->n; i++) {
    uint32_t want[512];
    size_t n = request_ids(json_array_get(sequences, at + i), want);
    size_t mine = r->text[i].n - skip;
    while (
      n > mine && want[n - 1] == r->text[i].id[r->text[i].n - 1] && r->text[i].ended == FINISH_STOP)
      n--; /* the library pads with the end token */
    if (n != mine || memcmp(want, r->text[i].id + skip, n * sizeof *want) != 0) return false;
    if (!near(r->text[i].score, json_number_value(json_array_get(scores, at + i)), tol))
      return false;
  }
  return true;
}
static bool check_case(json_t *o, double tol)
{
  struct table t = { .v = (size_t) json_integer_value(json_object_get(o, "V")),
    .p = (size_t) json_integer_value(json_object_get(o, "P")) };
  struct memory m = { 0 };
  struct error why;
  struct command_line w;
  json_t *expect = json_object_get(o, "expect"), *prompts = json_object_get(o, "prompt"),
         *greedy = json_object_get(expect, "greedy_sequences");
  json_t *sequences =
    expect ? json_object_get(expect, "beam_sequences") : json_object_get(o, "sequences");
  json_t *scores = expect ? json_object_get(expect, "beam_scores") : json_object_get(o, "scores");
  bool nested = json_is_array(json_array_get(prompts, 0)), ok = true;
  t.z = malloc(t.p * t.v * t.v * sizeof *t.z);
  for (size_t i = 0; i < t.p * t.v * t.v; i++)
    t.z[i] = (float) json_number_value(json_array_get(
      json_array_get(json_array_get(json_object_get(o, "table"), i / t.v / t.v), i / t.v % t.v),
      i % t.v));
  read_wishes(o, &w);
  for (size_t k = 0; ok && k < (nested ? json_array_size(prompts) : 1); k++) {
    uint32_t prompt[LONGEST];
    size_t n = request_ids(nested ? json_array_get(prompts, k) : prompts, prompt);
    struct search_result r;
    ok = table_search(&t, &m, prompt, n, &w.s, &r, &why) && r.n == w.s.num_return
      && same_texts(&r, 0, sequences, scores, k * w.s.num_return, tol);
    search_free(&r);
    if (!ok || greedy == NULL || w.s.n_process > 0) continue;
    struct search_settings one = w.s; /* width 1 is greedy */
    one.num_beams = one.num_return = 1, one.early = EARLY_FALSE;
    ok = table_search(&t, &m, prompt, n, &one, &r, &why);
    uint32_t want[LONGEST];
    size_t g = request_ids(json_array_get(greedy, k), want);
    ok = ok && r.text[0].n <= g && memcmp(want, r.text[0].id, r.text[0].n * sizeof *want) == 0;
    search_free(&r);
  }
  free(t.z);
  return ok && m.all.live == 0;
}
START_TEST(vectors_of_the_library)
{
  char buffer[300];
  const char *name = "vectors/beam/hf_beam_toy.json",
             *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  json_t *all = json_load_file(path, 0, NULL), *cases = json_object_get(all, "cases");
  unsigned passed = 0, failed = 0;
  for (size_t i = 0; i < json_array_size(cases); i++)
    if (check_case(json_array_get(cases, i), 1e-5))
      passed++;
    else
      failed++,
        fprintf(stderr, "case %d\n",
          (int) json_integer_value(json_object_get(json_array_get(cases, i), "case")));
  json_decref(all);
  tally(name, passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
  ck_assert_uint_gt(passed, 20);
}
END_TEST
START_TEST(cases_of_our_own)
{
  const char *name = "tests/golden/search/cases.jsonl";
  FILE *f = fopen(name, "r");
  char *line = NULL;
  size_t cap = 0;
  unsigned passed = 0, failed = 0;
  ck_assert(f != NULL);
  while (getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, 0, NULL);
    if (check_case(o, 1e-6))
      passed++;
    else
      failed++, fprintf(stderr, "line %u\n", passed + failed);
    json_decref(o);
  }
  fclose(f), free(line);
  tally(name, passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
  ck_assert_uint_eq(passed, 60);
}
END_TEST

/* ---- a plain restatement: all candidates of a step in one list, sorted; texts copied; beams that
 * are not there yet have -1e9, or are not there */
enum { MAX_V = 12, MAX_B = 9, CANDIDATES = MAX_V * 300 };
struct plain_text {
  double score;
  uint32_t id[LONGEST];
  size_t n;
};
struct plain_candidate {
  double score, logprob;
  size_t flat;
  struct plain_text *from;
};
static int by_score(const void *a, const void *b)
{
  const struct plain_candidate *x = a, *y = b;
  if (x->score != y->score) return x->score < y->score ? 1 : -1;
  return (x->flat > y->flat) - (x->flat < y->flat);
}
static void plain_logs(const struct table *t, const struct search_settings *w, size_t start,
  const struct plain_text *b, double *z)
{
  const float *x = t->z + (b->n % t->p * t->v + b->id[b->n - 1]) * t->v;
  double top = -INFINITY, sum = 0;
  for (size_t i = 0; i < t->v; i++) top = fmax(top, (double) x[i]);
  for (size_t i = 0; i < t->v; i++) sum += x[i] > -INFINITY ? num_exp((double) x[i] - top) : 0;
  for (size_t i = 0; i < t->v; i++) z[i] = (double) x[i] - top - num_log(sum);
  for (size_t k = 0; k < w->n_process; k++) {
    const struct search_processor *p = &w->process[k];
    bool seen[MAX_V] = { false };
    if (p->what == PROCESS_REPETITION)
      for (size_t i = 0; i < b->n; i++) {
        if (!seen[b->id[i]])
          z[b->id[i]] = z[b->id[i]] > 0 ? z[b->id[i]] / p->penalty : z[b->id[i]] * p->penalty;
        seen[b->id[i]] = true;
      }
    if (p->what == PROCESS_NGRAM && p->n > 0)
      for (size_t i = 0; i + p->n <= b->n; i++) {
        bool same = true;
        for (size_t j = 0; j + 1 < p->n; j++)
          same = same && b->id[i + j] == b->id[b->n - (p->n - 1) + j];
        if (same) z[b->id[i + p->n - 1]] = -INFINITY;
      }
    if (p->what == PROCESS_MIN_NEW && b->n - start < p->n)
      for (size_t i = 0; i < w->n_eos; i++) z[w->eos[i]] = -INFINITY;
  }
}
static bool plain_ends(const struct search_settings *w, const struct plain_text *b)
{
  if (b->n == w->max_length) return true;
  for (size_t i = 0; i < w->n_eos; i++)
    if (b->id[b->n - 1] == w->eos[i]) return true;
  return false;
}
static size_t plain_steps;
static size_t plain_search(const struct table *t, const struct search_settings *w,
  const uint32_t *prompt, size_t start, bool ghosts, struct plain_text *pool)
{
  static struct plain_text beam[300], next[300];
  static struct plain_candidate all[CANDIDATES];
  size_t width = w->num_beams, n_beams = ghosts ? width : 1, n_pool = 0;
  for (size_t i = 0; i < n_beams; i++) {
    beam[i] = (struct plain_text){ .score = i == 0 ? 0 : -1e9, .n = start };
    memcpy(beam[i].id, prompt, start * sizeof *prompt);
  }
  for (plain_steps = 1;; plain_steps++) {
    size_t n = 0, kept = 0, length = beam[0].n + 1 - start;
    for (size_t i = 0; i < n_beams; i++) {
      double z[MAX_V];
      plain_logs(t, w, start, &beam[i], z);
      for (size_t v = 0; v < t->v; v++)
        if (z[v] > -INFINITY)
          all[n++] = (struct plain_candidate){ beam[i].score + z[v], z[v], i * t->v + v, &beam[i] };
    }
    qsort(all, n, sizeof *all, by_score);
    size_t max = (w->n_eos + 1 > 2 ? w->n_eos + 1 : 2) * width;
    for (size_t i = 0; i < n && i < max; i++) {
      struct plain_text x = *all[i].from;
      x.score = all[i].score, x.id[x.n++] = (uint32_t) (all[i].flat % t->v);
      if (!plain_ends(w, &x)) {
        if (kept < width) next[kept++] = x;
        continue;
      }
      if (i >= width) continue;
      x.score /= num_pow((double) length, w->length_penalty);
      size_t at = n_pool; /* the place behind all that are not worse; the pool may be one too long
                             for a moment */
      while (at > 0 && pool[at - 1].score < x.score) pool[at] = pool[at - 1], at--;
      pool[at] = x;
      if (n_pool < width) n_pool++;
    }
    memcpy(beam, next, kept * sizeof *next), n_beams = kept;
    if (kept == 0) return n_pool;
    if (n_pool < width) continue;
    size_t far = w->early == EARLY_NEVER && w->length_penalty > 0 ? w->max_length - start : length;
    if (w->early == EARLY_TRUE
      || beam[0].score / num_pow((double) far, w->length_penalty) <= pool[width - 1].score)
      return n_pool;
  }
}
static void random_table(struct table *t, uint64_t *seed)
{
  t->v = 2 + rnd(seed) % (MAX_V - 1), t->p = 1 + rnd(seed) % 3;
  t->z = malloc(t->p * t->v * t->v * sizeof *t->z);
  unsigned kind = rnd(seed) % 4; /* any numbers; few different ones, so that scores are equal; with
                                    some that are out; equal rows */
  for (size_t i = 0; i < t->p * t->v * t->v; i++) {
    t->z[i] = kind == 1 ? (float) (rnd(seed) % 3) : tiny_normal(seed) * 2;
    if (kind == 2 && rnd(seed) % 6 == 0 && i % t->v > 0) t->z[i] = -INFINITY;
    if (kind == 3 && i >= t->v) t->z[i] = t->z[i % t->v];
  }
}
static void random_wishes(
  struct command_line *w, const struct table *t, size_t n_prompt, uint64_t *seed)
{
  static const double lp[] = { -1, -.3, 0, .5, 1, 1.7, 2 };
  *w = (struct command_line){ .s = { .num_beams = 1 + rnd(seed) % MAX_B,
                                .max_length = n_prompt + 1 + rnd(seed) % 12,
                                .length_penalty = lp[rnd(seed) % 7],
                                .early = (enum early_stopping)(rnd(seed) % 3),
                                .eos = w->eos,
                                .n_eos = rnd(seed) % 3,
                                .process = w->p,
                                .n_process = rnd(seed) % 3 ? 0 : rnd(seed) % 4 } };
  w->s.num_return = 1 + rnd(seed) % w->s.num_beams;
  for (size_t i = 0; i < w->s.n_eos; i++) w->eos[i] = (uint32_t) (rnd(seed) % t->v);
  for (size_t i = 0; i < w->s.n_process; i++)
    w->p[i] = (struct search_processor){ (enum search_process)(rnd(seed) % 3),
      .5 + (double) (rnd(seed) % 100) / 50, rnd(seed) % 4 };
}
START_TEST(equal_to_a_plain_restatement)
{
  uint64_t seed = suite_seed() + 77777 * (uint64_t) _i;
  unsigned compared = 0, none = 0, several = 0, ghosts = 0;
  for (int round = 0; round < 2500; round++) {
    uint64_t here = seed;
    struct table t = { 0 };
    struct command_line w;
    struct memory m = { 0 };
    struct error why;
    struct search_result r;
    static struct plain_text pool[300];
    uint32_t prompt[4];
    random_table(&t, &seed);
    size_t n = 1 + rnd(&seed) % 4;
    for (size_t i = 0; i < n; i++) prompt[i] = (uint32_t) (rnd(&seed) % t.v);
    random_wishes(&w, &t, n, &seed);
    bool all = t.v >= w.s.n_eos + w.s.num_beams && w.s.n_process == 0 && round % 2;
    for (size_t i = 0; all && i < t.p * t.v * t.v; i++) all = t.z[i] > -INFINITY;
    ghosts += all;
    size_t want = plain_search(&t, &w.s, prompt, n, all, pool);
    if (want > w.s.num_return) want = w.s.num_return;
    bool ok = table_search(&t, &m, prompt, n, &w.s, &r, &why);
    if (want == 0) {
      none++;
      ck_assert_msg(!ok && strstr(why.text, "all tokens are out") != NULL, "seed %llu",
        (unsigned long long) here);
    } else {
      ck_assert_msg(ok && r.n == want, "seed %llu: %zu texts, not %zu: %s",
        (unsigned long long) here, ok ? r.n : 0, want, ok ? "" : why.text);
      for (size_t i = 0; i < want; i++) {
        ck_assert_msg(r.text[i].n == pool[i].n
            && memcmp(r.text[i].id, pool[i].id, pool[i].n * sizeof *pool[i].id) == 0,
          "seed %llu, text %zu", (unsigned long long) here, i);
        ck_assert_msg(r.text[i].score == pool[i].score, "seed %llu, score %zu: %.17g, not %.17g",
          (unsigned long long) here, i, r.text[i].score, pool[i].score);
        bool eos = false;
        for (size_t k = 0; k < w.s.n_eos; k++) eos |= w.eos[k] == r.text[i].id[r.text[i].n - 1];
        ck_assert_int_eq(r.text[i].ended, eos ? FINISH_STOP : FINISH_LENGTH);
        ck_assert(near(r.text[i].sum,
          r.text[i].score * pow((double) (r.text[i].n - n), w.s.length_penalty), 1e-12));
      }
      compared++, several += want > 1;
      ck_assert_uint_eq(r.steps, t.calls);
      ck_assert_uint_eq(r.steps, plain_steps); /* and not one more than the rule wants */
    }
    search_free(&r);
    ck_assert_uint_eq(m.all.live, 0);
    free(t.z);
  }
  ck_assert_uint_gt(compared, 2000);
  ck_assert_uint_gt(several, 1000);
  ck_assert_uint_gt(ghosts, 150);
  ck_assert_uint_gt(none, 5);
}
END_TEST

/* ---- enough beams throw nothing away: the best of all texts of T tokens */
static void enumerate(const struct table *t, uint32_t *id, size_t n, size_t end, double sum,
  double *best, uint32_t *text)
{
  struct plain_text b = { .n = n };
  struct search_settings none = { .num_beams = 1 };
  double z[MAX_V];
  if (n == end) {
    if (sum > *best) *best = sum, memcpy(text, id, n * sizeof *id);
    return;
  }
  memcpy(b.id, id, n * sizeof *id);
  plain_logs(t, &none, 1, &b, z);
  for (size_t v = 0; v < t->v; v++)
    id[n] = (uint32_t) v, enumerate(t, id, n + 1, end, sum + z[v], best, text);
}
START_TEST(wide_enough_is_exact)
{
  uint64_t seed = suite_seed();
  unsigned narrow_misses = 0;
  for (int round = 0; round < 300; round++) {
    struct table t = { .v = 2 + rnd(&seed) % 3, .p = 3 };
    size_t length = 1 + rnd(&seed) % 5, width = 1;
    for (size_t i = 1; i < length; i++) width *= t.v;
    t.z = malloc(t.p * t.v * t.v * sizeof *t.z);
    for (size_t i = 0; i < t.p * t.v * t.v; i++) t.z[i] = tiny_normal(&seed);
    struct memory m = { 0 };
    struct error why;
    struct search_result r;
    uint32_t id[8] = { 0 }, text[8];
    double best = -INFINITY;
    enumerate(&t, id, 1, 1 + length, 0, &best, text);
    for (int narrow = 0; narrow < 2; narrow++) {
      struct search_settings want = {
        .num_beams = narrow ? 1 : width, .num_return = 1, .max_length = 1 + length
      };
      ck_assert_msg(table_search(&t, &m, id, 1, &want, &r, &why), "%s", why.text);
      if (narrow)
        narrow_misses += memcmp(r.text[0].id, text, (1 + length) * sizeof *text) != 0;
      else
        ck_assert(
          r.text[0].score == best && memcmp(r.text[0].id, text, (1 + length) * sizeof *text) == 0);
      search_free(&r);
    }
    free(t.z);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert_uint_gt(narrow_misses, 30); /* the test could fail */
}
END_TEST

/* ---- a real pass: a tiny random model with a cache, 1 to 3 workers */
struct rig {
  struct memory m;
  struct counters c;
  struct engine e;
  struct tiny t;
  struct store *s, *plain;
  struct pool *pool;
  struct generate_context g;
  struct error why;
};
static void rig_open(
  struct rig *r, uint64_t seed, uint32_t beams, size_t page_rows, unsigned workers, uint32_t window)
{
  memset(r, 0, sizeof *r);
  tiny_make(&r->t, seed);
  if (window > 0) ck_assert(config_set_window(&r->t.lm.config, window, 0, &r->why));
  if (workers > 1) r->pool = pool_open(&r->m, workers, &r->why);
  r->e = (struct engine){ .k = kernels_find(NULL, NULL), .pool = r->pool, .c = &r->c };
  r->plain = array_store_open(&r->m, &r->t.lm.config, &r->why);
  r->s = cache_open(
    &r->m, &r->t.lm.config, beams, &(struct cache_options){ .page_rows = page_rows }, &r->why);
  ck_assert(r->s != NULL);
  r->g = (struct generate_context){ &r->e, &r->t.lm, r->s, &r->m };
}
static void rig_close(struct rig *r)
{
  store_close(r->s), store_close(r->plain), pool_close(&r->m, r->pool);
  ck_assert_uint_eq(r->m.all.live, 0);
  tiny_free(&r->t);
}
/* the source of the module, and each of its answers against a pass over the whole text; the pages
 * copied, reckoned from who descends from whom */
struct doubter {
  struct rig *r;
  struct search_model model;
  struct search_source real;
  size_t page_rows, copied_rows, rows, steps, forks, childless, before, old;
  bool check;
};
static bool doubt(
  void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  struct doubter *d = ctx;
  struct counters c = d->r->c;
  size_t children[32] = { 0 };
  if (!d->real.score(d->real.ctx, grown, n, logits, why)) return false;
  ck_assert_uint_eq(d->r->c.passes - c.passes,
    d->steps == 0 && d->model.chunk > 0 ? (grown->n + d->model.chunk - 1) / d->model.chunk : 1);
  d->rows += d->steps == 0 ? grown->n : n;
  ck_assert_uint_eq(d->r->c.kv_rows_recomputed, 0);
  if (d->steps++ > 0) {
    for (size_t i = 0; i < n; i++) children[grown[i].parent]++;
    for (size_t i = 0; i < d->before; i++) {
      if (children[i] == 0)
        d->childless++;
      else
        d->copied_rows += (children[i] - 1) * ((grown->n - 1) % d->page_rows),
          d->forks += children[i] - 1;
    }
  }
  d->before = n;
  for (size_t i = 0; d->check && i < n; i++) {
    float want[TINY_V];
    size_t last = grown[i].n - 1;
    struct counters keep = d->r->c;
    ck_assert(model_evaluate(
      &d->r->e, &d->r->t.lm, d->r->plain, grown[i].id, grown[i].n, &last, 1, want, why));
    d->r->c = keep;
    ck_assert_msg(
      memcmp(want, logits + i * TINY_V, sizeof want) == 0, "step %zu, beam %zu", d->steps, i);
  }
  return true;
}
START_TEST(sharing_gives_the_bits_of_reading_all_again)
{
  uint64_t seed = suite_seed() + 31 * (uint64_t) _i;
  static const size_t page[] = { 16, 1, 4, 64, 2, 16 };
  size_t forks = 0, childless = 0;
  for (int round = 0; round < 12; round++) {
    struct rig r;
    uint32_t width = 1 + (uint32_t) (rnd(&seed) % 7), prompt[20],
             eos = (uint32_t) (rnd(&seed) % TINY_V);
    rig_open(&r, seed + (uint64_t) round, width, page[_i], 1 + _i % 3, _i == 5 ? 7 : 0);
    size_t n = 1 + rnd(&seed) % 20;
    for (size_t i = 0; i < n; i++) prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
    struct doubter d = { .r = &r, .page_rows = page[_i], .check = true };
    ck_assert_msg(search_model_open(&d.model, &r.g, width, round % 3 ? 0 : 4, &d.real, &r.why),
      "%s", r.why.text);
    struct search_source from = { TINY_V, d.real.max_len, &d, doubt };
    struct search_settings want = { .num_beams = width,
      .num_return = width,
      .max_length = n + 25,
      .length_penalty = 1,
      .eos = &eos,
      .n_eos = rnd(&seed) % 2 };
    struct search_result res;
    ck_assert_msg(search_run(&from, &r.m, r.e.k, prompt, n, &want, &res, &r.why), "%s", r.why.text);
    ck_assert_uint_eq(r.c.rows, d.rows);
    size_t row = 2 * TINY_LAYERS * TINY_KV * TINY_HD * sizeof(float);
    if (_i != 5) ck_assert_uint_eq(cache_look(r.s).bytes_copied, d.copied_rows * row);
    forks += d.forks, childless += d.childless;
    /* the scores are those of the texts, read as wholes */
    for (size_t i = 0; i < res.n; i++) {
      double lp[64], sum, written = 0;
      ck_assert(
        model_logprobs(&r.e, &r.t.lm, r.plain, res.text[i].id, res.text[i].n, lp, &sum, &r.why));
      for (size_t k = n; k < res.text[i].n; k++) written += lp[k];
      ck_assert(near(res.text[i].sum, written, 1e-12));
    }
    search_free(&res), search_model_close(&d.model);
    rig_close(&r);
  }
  ck_assert_uint_gt(forks, 40);
  ck_assert_uint_gt(childless, 40);
}
END_TEST
START_TEST(a_second_search_finds_the_rows_of_the_prompt)
{
  struct rig r;
  uint32_t prompt[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
  rig_open(&r, suite_seed(), 4, 16, 1, 0);
  struct search_settings want = {
    .num_beams = 4, .num_return = 4, .max_length = 18, .length_penalty = 1
  };
  struct search_result res[2];
  uint64_t rows[2];
  for (int k = 0; k < 2; k++) {
    struct search_model model;
    struct search_source from;
    r.c = (struct counters){ 0 };
    ck_assert(search_model_open(&model, &r.g, 4, 0, &from, &r.why));
    ck_assert(search_run(&from, &r.m, r.e.k, prompt, 10, &want, &res[k], &r.why));
    rows[k] = r.c.rows;
    search_model_close(&model);
  }
  ck_assert_uint_lt(rows[1], rows[0]);
  ck_assert_uint_ge(rows[1] + 9, rows[0]);
  for (size_t i = 0; i < 4; i++)
    ck_assert(res[0].text[i].score == res[1].text[i].score
      && memcmp(res[0].text[i].id, res[1].text[i].id, 18 * sizeof(uint32_t)) == 0);
  search_free(&res[0]), search_free(&res[1]);
  rig_close(&r);
}
END_TEST
START_TEST(width_one_is_greedy)
{
  uint64_t seed = suite_seed();
  unsigned stopped = 0;
  for (int round = 0; round < 120; round++) {
    struct rig r;
    uint32_t prompt[6],
      eos[2] = { (uint32_t) (rnd(&seed) % TINY_V), (uint32_t) (rnd(&seed) % TINY_V) };
    static const double lp[] = { -1, 0, .5, 1, 2 };
    rig_open(&r, seed + (uint64_t) round, 1, 16, 1, 0);
    size_t n = 1 + rnd(&seed) % 6, n_eos = rnd(&seed) % 3;
    for (size_t i = 0; i < n; i++) prompt[i] = (uint32_t) (rnd(&seed) % TINY_V);
    struct generate_options loop = {
      .max_new_tokens = 20, .eos = eos, .n_eos = n_eos, .recall = store_match_prefix
    };
    struct continuation c;
    ck_assert(generate(&r.g, prompt, n, &loop, &c, &r.why));
    double penalty = lp[rnd(&seed) % 5];
    enum early_stopping early = (enum early_stopping)(rnd(&seed) % 3);
    if (early == EARLY_NEVER && penalty > 0 && n_eos > 0)
      early = EARLY_FALSE; /* there even one beam may go on past an end */
    struct search_settings want = { .num_beams = 1,
      .num_return = 1,
      .max_length = n + 20,
      .length_penalty = penalty,
      .early = early,
      .eos = eos,
      .n_eos = n_eos };
    struct search_model model;
    struct search_source from;
    struct search_result res;
    ck_assert(search_model_open(&model, &r.g, 1, 0, &from, &r.why));
    ck_assert(search_run(&from, &r.m, r.e.k, prompt, n, &want, &res, &r.why));
    ck_assert_uint_eq(res.text[0].n, c.text.n);
    ck_assert(memcmp(res.text[0].id, c.text.id, c.text.n * sizeof *c.text.id) == 0);
    ck_assert_int_eq(res.text[0].ended, c.ended);
    stopped += c.ended == FINISH_STOP;
    search_free(&res), search_model_close(&model), continuation_free(&r.m, &c);
    rig_close(&r);
  }
  ck_assert_uint_gt(stopped, 10);
}
END_TEST
START_TEST(the_context_is_the_longest_text)
{
  struct rig r;
  uint32_t prompt[TINY_CONTEXT + 1] = { 0 };
  struct search_model model;
  struct search_source from;
  struct search_result res;
  rig_open(&r, suite_seed(), 2, 16, 1, 0);
  struct search_settings want = {
    .num_beams = 2, .num_return = 2, .max_length = TINY_CONTEXT + 50
  };
  for (size_t n = TINY_CONTEXT - 2; n <= TINY_CONTEXT + 1; n++) {
    ck_assert(search_model_open(&model, &r.g, 2, 0, &from, &r.why));
    bool ok = search_run(&from, &r.m, r.e.k, prompt, n, &want, &res, &r.why);
    ck_assert(ok == (n <= TINY_CONTEXT));
    if (ok)
      ck_assert(res.text[0].n == TINY_CONTEXT + 1 && res.text[1].n == TINY_CONTEXT + 1
        && res.text[0].ended == FINISH_LENGTH);
    else
      ck_assert_str_eq(r.why.text, "the prompt has 301 tokens; wanted: at most 300");
    search_free(&res), search_model_close(&model);
  }
  ck_assert(!search_model_open(&model, &r.g, 3, 0, &from, &r.why));
  ck_assert_str_eq(r.why.text, "3 beams in a cache of 2 sequences; wanted: a sequence for each");
  rig_close(&r);
}
END_TEST

/* ---- golden searches of real models */
static const char *const shared_model[] = { "gpt2", "gpt2-f16", "gpt2-hub", "llama-bf16",
  "llama-gqa-tied", "llama-mha", "llama-odd", "llama-odd20", "llama-rope3", "llama-sharded",
  "stories260K", "mistral-swa8", "qwen2", "qwen3" };
static bool golden_line(struct memory *m, struct engine *e, const struct model *lm, json_t *o)
{
  struct error why;
  struct command_line w;
  uint32_t prompt[512];
  size_t n = request_ids(json_object_get(o, "prompt_ids"), prompt);
  read_wishes(o, &w);
  w.s.max_length = n + (size_t) json_integer_value(json_object_get(o, "max_new_tokens"));
  struct store *s = cache_open(
    m, &lm->config, (uint32_t) w.s.num_beams, &(struct cache_options){ .page_rows = 16 }, &why);
  struct generate_context g = { e, lm, s, m };
  struct search_model model;
  struct search_source from;
  struct search_result r;
  bool ok = search_model_open(&model, &g, w.s.num_beams, 0, &from, &why)
    && search_run(&from, m, e->k, prompt, n, &w.s, &r, &why);
  ok = ok && r.n == w.s.num_return
    && same_texts(&r, n, json_object_get(o, "sequences"), json_object_get(o, "sequences_scores"), 0,
      json_number_value(json_object_get(o, "tol")));
  search_free(&r), search_model_close(&model), store_close(s);
  return ok;
}
START_TEST(golden_searches)
{
  char buffer[300], name[200], file[400];
  snprintf(name, sizeof name, "golden/models/%s", shared_model[_i]);
  const char *path = shared_file(buffer, sizeof buffer, name);
  if (path == NULL) return;
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  struct error why;
  struct model *lm = model_open(&m, path, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  snprintf(file, sizeof file, "%s/beam.jsonl", path);
  FILE *f = fopen(file, "r");
  char *line = NULL;
  size_t size = 0;
  unsigned passed = 0, failed = 0;
  while (f != NULL && getline(&line, &size, f) > 0) {
    json_t *o = json_loads(line, 0, NULL);
    if (golden_line(&m, &e, lm, o))
      passed++;
    else
      failed++, fprintf(stderr, "%s: line %u\n", file, passed + failed);
    json_decref(o);
  }
  if (f != NULL) fclose(f);
  free(line);
  model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
  snprintf(file, sizeof file, "%s/beam.jsonl", name);
  tally(file, passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
  ck_assert_uint_gt(passed, 0);
}
END_TEST

/* ---- what is refused */
static const uint32_t nine[] = { 1, 9 };
static const struct search_processor zero_penalty = { PROCESS_REPETITION, 0, 0 },
                                     nan_penalty = { PROCESS_REPETITION, NAN, 0 };
static const struct {
  struct search_settings s;
  size_t n;
  const char *says;
} refused[] = {
  { { .num_beams = 0, .num_return = 1, .max_length = 5 }, 2, "num_beams is 0; wanted: 1 or more" },
  { { .num_beams = 2, .num_return = 0, .max_length = 5 }, 2,
    "num_return_sequences is 0; wanted: 1 to 2, the number of beams" },
  { { .num_beams = 2, .num_return = 3, .max_length = 5 }, 2,
    "num_return_sequences is 3; wanted: 1 to 2, the number of beams" },
  { { .num_beams = 2, .num_return = 1, .max_length = 2 }, 2,
    "max_length is 2, and the prompt has 2 tokens; wanted: more" },
  { { .num_beams = 2, .num_return = 1, .max_length = 1 }, 2,
    "max_length is 1, and the prompt has 2 tokens; wanted: more" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5 }, 0,
    "the prompt has no tokens; wanted: 1 or more" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .length_penalty = NAN }, 2,
    "length_penalty is nan; wanted: a number that leaves 3 to its power finite" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .length_penalty = 1000 }, 2,
    "length_penalty is 1000; wanted: a number that leaves 3 to its power finite" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .length_penalty = -1000 }, 2,
    "length_penalty is -1000; wanted: a number that leaves 3 to its power finite" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .eos = nine, .n_eos = 2 }, 2,
    "eos_token_id is 9; wanted: 0 to 3" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .process = &zero_penalty, .n_process = 1 },
    2, "repetition_penalty is 0; wanted: a number above 0" },
  { { .num_beams = 2, .num_return = 1, .max_length = 5, .process = &nan_penalty, .n_process = 1 },
    2, "repetition_penalty is nan; wanted: a number above 0" },
  { { .num_beams = 2, .num_return = 1, .max_length = SIZE_MAX }, 2,
    "max_length is 18446744073709551615; wanted: less" },
};
START_TEST(refusals_are_sentences)
{
  struct table t = { 4, 1, (float[16]){ 0 }, 0 };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct memory m = { 0 };
    struct error why;
    struct search_result r;
    ck_assert(!table_search(&t, &m, (uint32_t[]){ 1, 2 }, refused[i].n, &refused[i].s, &r, &why));
    ck_assert_str_eq(why.text, refused[i].says);
    ck_assert(r.n == 0 && m.all.live == 0);
    search_free(&r);
  }
  struct memory m = { 0 };
  struct error why;
  struct search_result r;
  struct search_settings fine = { .num_beams = 2, .num_return = 1, .max_length = 5 };
  ck_assert(!table_search(&t, &m, (uint32_t[]){ 1, 4 }, 2, &fine, &r, &why));
  ck_assert_str_eq(why.text, "token 1 of the prompt is id 4; the vocabulary has 4");
  for (int k = 0; k < 2; k++) {
    t.z[5] = k ? NAN : INFINITY;
    ck_assert(!table_search(&t, &m, (uint32_t[]){ 1 }, 1, &fine, &r, &why));
    ck_assert_msg(
      strstr(why.text, k ? "logit 1 is nan" : "logit 1 is inf") != NULL, "%s", why.text);
  }
  t.z[5] = 0; /* every bigram once: with two tokens the text is soon at an end */
  struct table two = { 2, 1, (float[4]){ 0 }, 0 };
  struct search_processor once = { PROCESS_NGRAM, 0, 1 };
  struct search_settings banned = {
    .num_beams = 2, .num_return = 1, .max_length = 9, .process = &once, .n_process = 1
  };
  ck_assert(!table_search(&two, &m, (uint32_t[]){ 1 }, 1, &banned, &r, &why));
  ck_assert_str_eq(
    why.text, "after token 2 of the text all tokens are out for all beams, and no text has ended");
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- watchers: cancelled texts, and who was kept */
struct notes {
  unsigned left, steps;
  struct search_candidate seen[64];
  size_t n;
};
static bool note(void *ctx, const struct search_step *now)
{
  struct notes *x = ctx;
  x->steps++;
  ck_assert_uint_eq(now->number, x->steps);
  x->n = now->n_candidates;
  memcpy(x->seen, now->candidate, x->n * sizeof *x->seen);
  for (size_t i = 0; i < x->n; i++) {
    ck_assert_uint_eq(x->seen[i].rank, i + 1);
    ck_assert(i == 0 || x->seen[i].score <= x->seen[i - 1].score);
    ck_assert(now->active[x->seen[i].parent].score + x->seen[i].logprob == x->seen[i].score);
  }
  return x->steps < x->left;
}
START_TEST(a_watcher_sees_and_cancels)
{
  uint64_t seed = suite_seed();
  struct table t = { 6, 1, NULL, 0 };
  t.z = malloc(36 * sizeof *t.z);
  for (int i = 0; i < 36; i++) t.z[i] = tiny_normal(&seed);
  for (unsigned left = 1; left < 6; left++) {
    struct notes x = { .left = left };
    struct memory m = { 0 };
    struct error why;
    struct search_result r;
    struct search_settings want = {
      .num_beams = 3, .num_return = 3, .max_length = 40, .length_penalty = 1, .see = note, .ctx = &x
    };
    ck_assert(table_search(&t, &m, (uint32_t[]){ 0 }, 1, &want, &r, &why));
    ck_assert_uint_eq(x.steps, left);
    ck_assert_uint_eq(r.n, 3);
    size_t k = 0;
    for (size_t i = 0; i < 3; i++) {
      ck_assert(r.text[i].ended == FINISH_CANCELLED && r.text[i].n == 1 + left);
      while (x.seen[k].outcome != OUTCOME_KEPT) k++;
      ck_assert(r.text[i].sum == x.seen[k].score && r.text[i].id[left] == x.seen[k].token), k++;
    }
    search_free(&r);
    ck_assert_uint_eq(m.all.live, 0);
  }
  free(t.z);
}
END_TEST

/* who has seen enough when the search is over anyway gets the texts that it has found, and none that was
 * still being written */
START_TEST(enough_at_the_last_step_changes_nothing)
{
  uint64_t seed = suite_seed();
  static const uint32_t end = 5;
  float z[36];
  struct table t = { 6, 1, z, 0 };
  for (int round = 0; round < 50; round++) {
    struct memory m = { 0 };
    struct error why;
    struct search_result a, b;
    struct notes x = { .left = 1000 };
    struct search_settings want = { .num_beams = 3, .num_return = 3, .max_length = 12, .length_penalty = 1,
      .early = EARLY_TRUE, .eos = &end, .n_eos = 1, .see = note, .ctx = &x };
    for (int i = 0; i < 36; i++) z[i] = tiny_normal(&seed);
    ck_assert(table_search(&t, &m, (uint32_t[]){ 0 }, 1, &want, &a, &why));
    x = (struct notes){ .left = x.steps };
    ck_assert(table_search(&t, &m, (uint32_t[]){ 0 }, 1, &want, &b, &why));
    ck_assert(x.steps == x.left && a.n == b.n);
    for (size_t i = 0; i < a.n; i++) {
      ck_assert(b.text[i].ended != FINISH_CANCELLED && b.text[i].score == a.text[i].score);
      ck_assert(b.text[i].n == a.text[i].n
        && memcmp(b.text[i].id, a.text[i].id, a.text[i].n * sizeof *a.text[i].id) == 0);
    }
    search_free(&a), search_free(&b);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* ---- token trees */
START_TEST(trees_have_what_might_have_been_written)
{
  struct rig r;
  uint32_t prompt[3] = { 1, 2, 3 };
  rig_open(&r, suite_seed(), 4, 16, 1, 0);
  for (int dice = 0; dice < 2; dice++) { /* a text */
    struct token_tree tree;
    struct sampler sampler = { .s = sampling_default(), .seed = 7 };
    struct continuation c;
    ck_assert(funnel_open(&sampler.f, &r.m, r.e.k, TINY_V, &r.why));
    ck_assert(token_tree_open(&tree, &r.m, &r.e, TINY_V, 3, 1, &r.why));
    tree.sampled = dice;
    struct generate_options want = { .max_new_tokens = 12,
      .on_step = token_tree_step,
      .ctx = &tree,
      .recall = store_match_prefix,
      .select = dice ? sampler_choose : NULL,
      .select_ctx = &sampler };
    ck_assert(generate(&r.g, prompt, 3, &want, &c, &r.why) && tree.ok);
    uint32_t tip = 0;
    size_t path = 0, low = 0;
    double lp[20], sum;
    ck_assert(model_logprobs(&r.e, &r.t.lm, r.plain, c.text.id, c.text.n, lp, &sum, &r.why));
    for (size_t i = 0; i < tree.n; i++) {
      struct tree_node *x = &tree.node[i];
      if (i == 0 || x->number > tree.node[i - 1].number) ck_assert_uint_eq(x->rank, 1);
      if (i > 0 && x->number > tree.node[i - 1].number)
        for (size_t k = 0; k < i; k++)
          if (tree.node[k].chosen && tree.node[k].number == x->number - 1) tip = (uint32_t) k + 1;
      ck_assert_uint_eq(x->parent, tip);
      if (!x->chosen) {
        ck_assert_int_eq(x->reason, REASON_PASSED);
        continue;
      }
      ck_assert_int_eq(x->reason, dice ? REASON_DRAWN : REASON_LIKELIEST);
      ck_assert_uint_eq(x->token, c.text.id[3 + path]);
      ck_assert(near(x->logprob, lp[3 + path], 1e-12));
      path++, low += x->rank > 3;
      if (!dice) ck_assert_uint_eq(x->rank, 1);
    }
    ck_assert_uint_eq(path, 12);
    ck_assert_uint_eq(tree.n, 36 + low);
    if (dice) ck_assert_uint_gt(low, 0);
    token_tree_close(&tree), continuation_free(&r.m, &c), funnel_close(&sampler.f);
  }
  struct token_tree tree; /* a search */
  ck_assert(token_tree_open(&tree, &r.m, &r.e, TINY_V, 0, 4, &r.why));
  struct search_model model;
  struct search_source from;
  struct search_result res;
  struct search_settings want = {
    .num_beams = 4, .num_return = 1, .max_length = 13, .see = token_tree_search, .ctx = &tree
  };
  ck_assert(search_model_open(&model, &r.g, 4, 0, &from, &r.why));
  ck_assert(search_run(&from, &r.m, r.e.k, prompt, 3, &want, &res, &r.why) && tree.ok);
  token_tree_mark(&tree, res.text[0].id + 3, 10);
  size_t chosen = 0, kept = 0, finished = 0;
  double sum = 0;
  for (size_t i = 0; i < tree.n; i++) {
    ck_assert_uint_le(tree.node[i].parent, i);
    kept += tree.node[i].reason == REASON_KEPT, finished += tree.node[i].reason == REASON_FINISHED;
    if (!tree.node[i].chosen) continue;
    ck_assert_uint_eq(tree.node[i].token, res.text[0].id[3 + chosen]);
    ck_assert_int_eq(tree.node[i].reason, chosen == 9 ? REASON_FINISHED : REASON_KEPT);
    chosen++, sum += tree.node[i].logprob;
  }
  ck_assert(chosen == 10 && kept == 36 && finished == 4 && tree.n == 80);
  ck_assert(near(sum, res.text[0].sum, 1e-12));
  for (int k = 0; k < N_REASONS; k++) ck_assert(strlen(tree_reason_name((enum tree_reason) k)) > 3);
  search_free(&res), search_model_close(&model), token_tree_close(&tree);
  rig_close(&r);
}
END_TEST

/* ---- best of n */
START_TEST(the_best_of_several_has_the_best_mean)
{
  uint64_t seed = suite_seed();
  unsigned first = 0, lengths = 0;
  for (int round = 0; round < 40; round++) {
    struct rig r;
    rig_open(&r, seed + (uint64_t) round, 1, 16, 1, 0);
    uint32_t prompt[4] = { 0, 1, 2, 3 }, eos = (uint32_t) (rnd(&seed) % TINY_V);
    struct sampler dice = { .s = sampling_default(), .seed = rnd(&seed) };
    ck_assert(funnel_open(&dice.f, &r.m, r.e.k, TINY_V, &r.why));
    struct generate_options want = {
      .max_new_tokens = 15, .eos = &eos, .n_eos = 1, .recall = store_match_prefix
    };
    struct best_of best;
    ck_assert(best_of_write(&r.g, &dice, prompt, 4, &want, 5, &best, &r.why));
    double max = -INFINITY, logs = 0;
    size_t winner = 9, length = 0;
    for (uint32_t i = 0; i < 5; i++) {
      struct continuation c;
      double lp[40], sum, written = 0;
      dice.sequence = i, want.select = sampler_choose, want.select_ctx = &dice;
      ck_assert(generate(&r.g, prompt, 4, &want, &c, &r.why));
      ck_assert(model_logprobs(&r.e, &r.t.lm, r.plain, c.text.id, c.text.n, lp, &sum, &r.why));
      for (size_t k = 4; k < c.text.n; k++) written += lp[k];
      double mean = written / (double) (c.text.n - 4);
      if (mean > max) max = mean, winner = i, logs = written, length = c.text.n;
      if (best.winner == i)
        ck_assert(c.text.n == best.best.text.n
          && memcmp(c.text.id, best.best.text.id, c.text.n * sizeof(uint32_t)) == 0);
      continuation_free(&r.m, &c);
    }
    ck_assert_uint_eq(best.winner, winner);
    ck_assert(near(best.logprob, logs, 1e-12));
    first += winner == 0, lengths += length < 19;
    best_of_free(&r.m, &best), funnel_close(&dice.f);
    rig_close(&r);
  }
  ck_assert(first < 30 && lengths > 5);
}
END_TEST

/* ---- memory */
START_TEST(every_refused_request_is_survived)
{
  bool whole = false;
  uint64_t k = 0;
  while (!whole) {
    struct memory m = { .fail_at = ++k };
    struct counters c = { 0 };
    struct tiny t;
    struct error why = { "" };
    tiny_make(&t, 3);
    struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
    uint32_t prompt[5] = { 1, 2, 3, 4, 5 };
    struct store *s =
      cache_open(&m, &t.lm.config, 3, &(struct cache_options){ .page_rows = 16 }, &why);
    struct generate_context g = { &e, &t.lm, s, &m };
    struct search_model model;
    struct search_source from;
    struct search_result res;
    struct token_tree tree;
    struct best_of best;
    struct sampler dice = { .s = sampling_default() };
    whole = s != NULL;
    if (whole && (whole = token_tree_open(&tree, &m, &e, TINY_V, 2, 3, &why))) {
      if ((whole = search_model_open(&model, &g, 3, 0, &from, &why))) {
        struct search_settings want = {
          .num_beams = 3, .num_return = 2, .max_length = 30, .see = token_tree_search, .ctx = &tree
        };
        whole = search_run(&from, &m, e.k, prompt, 5, &want, &res, &why);
        if (whole && !tree.ok) {
          whole = false, why = tree.why;
          ck_assert_int_eq(res.text[0].ended, FINISH_CANCELLED);
        }
        search_free(&res), search_model_close(&model);
      }
      token_tree_close(&tree);
    }
    if (whole && (whole = funnel_open(&dice.f, &m, e.k, TINY_V, &why))) {
      whole = best_of_write(&g, &dice, prompt, 5,
        &(struct generate_options){ .max_new_tokens = 6, .recall = store_match_prefix }, 3, &best,
        &why);
      if (whole) best_of_free(&m, &best);
      funnel_close(&dice.f);
    }
    if (!whole)
      ck_assert_msg(strstr(why.text, "memory") != NULL || strstr(why.text, "bytes") != NULL,
        "request %llu: %s", (unsigned long long) k, why.text);
    store_close(s);
    ck_assert_uint_eq(m.all.live, 0);
    tiny_free(&t);
  }
  ck_assert_uint_gt(k, 100);
}
END_TEST

/* ---- a search that is refused memory anywhere hands nothing over, and the next one everything */
START_TEST(what_cannot_be_handed_over_is_not_kept)
{
  uint64_t seed = suite_seed();
  struct table t = { 6, 1, NULL, 0 };
  struct memory m = { 0 };
  struct error why;
  struct search_settings want = {
    .num_beams = 4, .num_return = 3, .max_length = 12, .length_penalty = 1
  };
  t.z = malloc(36 * sizeof *t.z);
  for (int i = 0; i < 36; i++) t.z[i] = tiny_normal(&seed);
  unsigned failures = 0;
  for (uint64_t k = 1, whole = 0; !whole; k++) {
    struct search_result r = { .n = 9 };
    m.fail_at = m.all.requests + k;
    whole = table_search(&t, &m, (uint32_t[]){ 0, 1 }, 2, &want, &r, &why);
    m.fail_at = 0;
    if (!whole) {
      failures++;
      ck_assert_msg(
        r.n == 0 && r.text == NULL && m.all.live == 0, "request %d: %d texts", (int) k, (int) r.n);
      ck_assert(table_search(&t, &m, (uint32_t[]){ 0, 1 }, 2, &want, &r, &why));
    }
    ck_assert(r.n == 3 && r.n_prompt == 2 && r.steps == 10);
    for (size_t i = 0; i < 3; i++)
      ck_assert(r.text[i].n == 12 && r.text[i].id[0] == 0 && r.text[i].id[1] == 1);
    search_free(&r), search_free(&r);
    ck_assert(r.n == 0 && m.all.live == 0);
  }
  ck_assert_uint_gt(failures, 14);
  free(t.z);
}
END_TEST

/* ---- a search in a cache that is refused memory anywhere, or rows: the next one, in the same cache,
   finds what it finds in a cache of its own, and no memory is left over */
static bool search_here(struct rig *r, struct store *s, size_t beams, const uint32_t *prompt, size_t n,
  struct search_result *out)
{
  struct generate_context g = r->g;
  struct search_model model;
  struct search_source from;
  struct search_settings want = { .num_beams = beams, .num_return = beams, .max_length = 14, .length_penalty = 1 };
  g.s = s;
  *out = (struct search_result){ .n = 0 };
  if (!search_model_open(&model, &g, beams, 3, &from, &r->why)) return false;
  bool ok = search_run(&from, &r->m, r->e.k, prompt, n, &want, out, &r->why);
  search_model_close(&model);
  return ok;
}
static void equal_results(const struct search_result *a, const struct search_result *b)
{
  hold(a->n == b->n && a->steps == b->steps && a->n_prompt == b->n_prompt);
  for (size_t i = 0; i < a->n; i++)
    hold(a->text[i].n == b->text[i].n && a->text[i].score == b->text[i].score && a->text[i].sum == b->text[i].sum
      && memcmp(a->text[i].id, b->text[i].id, a->text[i].n * sizeof *a->text[i].id) == 0);
}
START_TEST(a_search_that_is_refused_leaves_the_next_one_alone)
{
  static const uint32_t prompt[2][8] = { { 1, 2, 3, 4, 5, 6, 7 }, { 1, 2, 3, 9 } };
  unsigned failures = 0;
  for (uint64_t k = 1, whole = 0; !whole; k++) {
    struct rig r;
    struct search_result mine = { .n = 3 }, want[2];
    rig_open(&r, 4, 3, 16, 1, 0);
    struct cache_options w = { .page_rows = 2, .rows = 3 * 14 };
    struct store *s = cache_open(&r.m, &r.t.lm.config, 3, &w, &r.why);
    for (int i = 0; i < 2; i++) hold(search_here(&r, r.s, 3, prompt[i], i ? 4 : 7, &want[i]));
    uint64_t live = r.m.all.live - r.m.of[MEMORY_CACHE].live;
    r.m.fail_at = r.m.all.requests + k;
    whole = search_here(&r, s, 3, prompt[0], 7, &mine);
    r.m.fail_at = 0;
    if (whole) equal_results(&mine, &want[0]), search_free(&mine);
    else {
      failures++;
      hold(mine.n == 0 && mine.text == NULL && strstr(r.why.text, "memory") != NULL);
    }
    hold(r.m.all.live - r.m.of[MEMORY_CACHE].live <= live + 3 * 1000); /* tables that have grown */
    for (int i = 1; i >= 0; i--) {
      hold_msg(search_here(&r, s, 3, prompt[i], i ? 4 : 7, &mine), "request %d: %s", (int) k, r.why.text);
      equal_results(&mine, &want[i]), search_free(&mine);
    }
    for (int i = 0; i < 2; i++) search_free(&want[i]);
    store_clear(s);
    hold(cache_look(s).pages_used == 0);
    store_close(s), rig_close(&r);
  }
  ck_assert_uint_gt(failures, 60);
  struct rig r; /* as many rows as the prompt and one beam need: in the middle there are too few */
  struct search_result mine, want;
  rig_open(&r, 4, 3, 16, 1, 0);
  struct cache_options w = { .page_rows = 2, .rows = 14 };
  struct store *s = cache_open(&r.m, &r.t.lm.config, 3, &w, &r.why);
  ck_assert(search_here(&r, r.s, 1, prompt[1], 4, &want));
  ck_assert(!search_here(&r, s, 3, prompt[0], 7, &mine) && strstr(r.why.text, "the cache holds 14 rows") != NULL);
  store_clear(s); /* the rows of the beams have stayed, as after a search that has succeeded */
  ck_assert(mine.n == 0 && cache_look(s).pages_used == 0 && search_here(&r, s, 1, prompt[1], 4, &mine));
  equal_results(&mine, &want), search_free(&mine), search_free(&want);
  store_close(s), rig_close(&r);
}
END_TEST

/* ---- a second search: rows of the first serve where its prompt agrees; no others are kept */
struct spy {
  struct rig *r;
  struct search_source real;
  size_t pages, length[4], rows;
  bool first;
};
static bool look_at_seats(
  void *ctx, const struct search_beam *grown, size_t n, float *logits, struct error *why)
{
  struct spy *x = ctx;
  if (!x->real.score(x->real.ctx, grown, n, logits, why)) return false;
  if (x->first) {
    for (uint32_t q = 0; q < 4; q++) x->length[q] = store_length(x->r->s, q);
    x->pages = cache_look(x->r->s).pages_used, x->rows = x->r->c.rows;
  }
  x->first = false;
  return true;
}
START_TEST(a_second_search_keeps_what_agrees_and_no_more)
{
  uint64_t seed = suite_seed() + 1;
  struct rig r;
  rig_open(&r, seed, 4, 4, 1, 0);
  uint32_t last[40] = { 0 }, prompt[20];
  size_t stored = 0;
  for (int round = 0; round < 60; round++) {
    size_t n = 2 + rnd(&seed) % 16, same = 0, width = 1 + rnd(&seed) % 4;
    for (size_t i = 0; i < n; i++)
      prompt[i] = rnd(&seed) % 8 ? last[i] : (uint32_t) (rnd(&seed) % TINY_V);
    while (same < n - 1 && same < stored && prompt[same] == last[same]) same++;
    struct search_model model;
    struct spy x = { .r = &r, .first = true };
    struct search_settings want = {
      .num_beams = width, .num_return = 1, .max_length = n + 1 + rnd(&seed) % 9
    };
    struct search_result res;
    ck_assert(search_model_open(&model, &r.g, width, rnd(&seed) % 5, &x.real, &r.why));
    struct search_source from = { TINY_V, x.real.max_len, &x, look_at_seats };
    r.c = (struct counters){ 0 };
    /* one that is refused in between: the next may still trust what it finds */
    if (round % 7 == 3) {
      r.m.fail_at = r.m.all.requests + 5 + rnd(&seed) % 40;
      bool ok = search_run(&from, &r.m, r.e.k, prompt, n, &want, &res, &r.why);
      r.m.fail_at = 0;
      search_free(&res), search_model_close(&model);
      ck_assert(search_model_open(&model, &r.g, width, 0, &x.real, &r.why));
      if (!ok) x.first = false;
    }
    bool counted = x.first;
    ck_assert_msg(search_run(&from, &r.m, r.e.k, prompt, n, &want, &res, &r.why), "%s", r.why.text);
    if (counted) {
      ck_assert_uint_eq(x.rows, n - same);
      ck_assert_uint_eq(x.length[0], n);
      for (int q = 1; q < (int) width; q++) ck_assert_uint_eq(x.length[q], 0);
      if (width == 4) ck_assert_uint_eq(x.pages, (n + 3) / 4);
    }
    double lp[64], sum, written = 0;
    ck_assert(
      model_logprobs(&r.e, &r.t.lm, r.plain, res.text[0].id, res.text[0].n, lp, &sum, &r.why));
    for (size_t k = n; k < res.text[0].n; k++) written += lp[k];
    ck_assert(near(res.text[0].sum, written, 1e-12));
    search_free(&res), search_model_close(&model);
    stored = store_length(r.s, 0);
    memcpy(last, store_tokens(r.s, 0), stored * sizeof *last);
  }
  rig_close(&r);
}
END_TEST

/* ---- equals: of two tokens the lower id goes before, and of two texts the earlier */
START_TEST(of_equals_the_first_goes_before)
{
  uint64_t seed = suite_seed() + 2;
  struct memory m = { 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, NULL) };
  for (int round = 0; round < 300; round++) {
    float logits[9];
    size_t branches = 1 + rnd(&seed) % 11;
    for (int i = 0; i < 9; i++) logits[i] = (float) (rnd(&seed) % 3);
    struct token_tree t;
    ck_assert(token_tree_open(&t, &m, &e, 9, branches, 1, &why));
    for (size_t step = 1; step < 3; step++) {
      uint32_t chosen = (uint32_t) (rnd(&seed) % 9);
      size_t first = t.n, tip = t.tip[0], found = 0;
      t.sampled = step == 2;
      ck_assert(
        token_tree_step(&t, &(struct step){ .number = step, .logits = logits, .chosen = chosen }));
      for (size_t i = first; i < t.n; i++) {
        const struct tree_node *x = &t.node[i];
        size_t rank = 1;
        for (uint32_t v = 0; v < 9; v++)
          rank += logits[v] > logits[x->token] || (logits[v] == logits[x->token] && v < x->token);
        ck_assert_uint_eq(x->rank, rank);
        ck_assert(x->number == step && x->parent == tip && x->chosen == (x->token == chosen));
        if (x->chosen) found = i + 1;
        ck_assert_int_eq(x->reason,
          !x->chosen    ? REASON_PASSED
            : step == 2 ? REASON_DRAWN
                        : REASON_LIKELIEST);
        ck_assert(i - first >= branches || x->rank == i - first + 1);
      }
      ck_assert(found > 0 && t.tip[0] == found);
      size_t max = branches < 9 ? branches : 9;
      ck_assert_uint_eq(t.n - first, max + (t.node[found - 1].rank > max));
    }
    token_tree_close(&t);
    ck_assert_uint_eq(m.all.live, 0);
  }
  /* all scores are equal: the texts in the order of their ids, in the list and in the pool */
  struct table flat = { 3, 1, (float[9]){ 0 }, 0 };
  struct search_result r;
  struct search_settings want = {
    .num_beams = 4, .num_return = 4, .max_length = 3, .length_penalty = 1
  };
  ck_assert(table_search(&flat, &m, (uint32_t[]){ 0 }, 1, &want, &r, &why));
  static const uint32_t order[4][2] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 0 } };
  for (size_t i = 0; i < 4; i++)
    ck_assert(memcmp(r.text[i].id + 1, order[i], sizeof order[i]) == 0);
  search_free(&r);
  static const uint32_t zero = 0;
  want.eos = &zero, want.n_eos = 1, want.max_length = 9, want.length_penalty = 0,
  want.num_beams = 2;
  want.num_return = 2;
  ck_assert(table_search(&flat, &m, (uint32_t[]){ 1 }, 1, &want, &r, &why));
  ck_assert(r.text[0].n == 2 && r.text[0].id[1] == 0 && r.text[0].ended == FINISH_STOP);
  ck_assert(r.text[0].score > r.text[1].score);
  search_free(&r);
}
END_TEST

/* ---- a mark goes as far as the text is in the tree; a tree that cannot grow says so */
START_TEST(a_mark_ends_where_the_tree_ends)
{
  struct memory m = { 0 };
  struct error why;
  struct engine e = { .k = kernels_find(NULL, NULL) };
  struct token_tree t;
  float logits[4] = { 3, 2, 1, 0 };
  ck_assert(token_tree_open(&t, &m, &e, 4, 2, 1, &why));
  for (size_t step = 1; step <= 40; step++)
    ck_assert(token_tree_step(
      &t, &(struct step){ .number = step, .logits = logits, .chosen = step % 2 ? 0 : 3 }));
  ck_assert_uint_eq(t.n, 20 * 2 + 20 * 3); /* more than the first room */
  for (size_t i = 0; i < t.n; i++) t.node[i].chosen = false;
  token_tree_mark(&t, (uint32_t[]){ 0, 3, 1, 2 }, 4);
  size_t marked = 0;
  for (size_t i = 0; i < t.n; i++) marked += t.node[i].chosen;
  ck_assert(marked == 3 && t.node[0].chosen && t.node[4].chosen && t.node[6].chosen);
  token_tree_mark(&t, NULL, 0);
  for (uint64_t k = 1; k < 3; k++) { /* a tree that cannot grow says so, and stops the text */
    bool ok = true;
    m.fail_at = m.all.requests + k;
    for (size_t step = 41; ok && step < 500; step++)
      ok = token_tree_step(&t, &(struct step){ .number = step, .logits = logits, .chosen = 1 });
    m.fail_at = 0;
    ck_assert(!ok && !t.ok && strstr(t.why.text, "out of memory") != NULL);
    size_t n = t.n;
    ck_assert(!token_tree_step(&t, &(struct step){ .number = 500, .logits = logits, .chosen = 1 })
      && t.n == n);
    t.ok = true;
  }
  token_tree_close(&t), token_tree_close(&t);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- of several texts with one mean the first wins; a row that is not finite ends a search */
START_TEST(the_first_of_equal_texts_wins)
{
  struct rig r;
  rig_open(&r, suite_seed(), 2, 16, 1, 0);
  uint32_t prompt[3] = { 0, 1, 2 };
  struct sampler dice = { .s = sampling_default() };
  struct best_of best;
  dice.s.temperature = 0; /* all are the likeliest text */
  ck_assert(funnel_open(&dice.f, &r.m, r.e.k, TINY_V, &r.why));
  ck_assert(best_of_write(&r.g, &dice, prompt, 3,
    &(struct generate_options){ .max_new_tokens = 5, .recall = store_match_prefix }, 4, &best,
    &r.why));
  ck_assert(best.winner == 0 && best.best.text.n == 8);
  best_of_free(&r.m, &best);
  dice.s.temperature = 1;
  for (uint64_t k = 1, whole = 0; !whole; k++) { /* refused anywhere, nothing is left to be freed */
    uint64_t tokens = r.m.of[MEMORY_TOKENS].live, desk = r.m.of[MEMORY_ACTIVATIONS].live;
    r.m.fail_at = r.m.all.requests + k;
    whole = best_of_write(
      &r.g, &dice, prompt, 3, &(struct generate_options){ .max_new_tokens = 5 }, 3, &best, &r.why);
    r.m.fail_at = 0;
    if (whole) best_of_free(&r.m, &best);
    ck_assert(
      r.m.of[MEMORY_ACTIVATIONS].live == desk && r.m.of[MEMORY_TOKENS].live <= tokens + 4 * 60);
  }
  funnel_close(&dice.f);
  ((float *) (uintptr_t) r.t.layer[1].down.weight.data)[0] = NAN;
  struct search_model model;
  struct search_source from;
  struct search_result res;
  struct search_settings want = { .num_beams = 2, .num_return = 1, .max_length = 9 };
  ck_assert(search_model_open(&model, &r.g, 2, 0, &from, &r.why));
  ck_assert(!search_run(&from, &r.m, r.e.k, prompt, 3, &want, &res, &r.why));
  ck_assert_str_eq(
    r.why.text, "the model: row 0 is not finite after layer 2 of 3; wanted: finite logits");
  search_free(&res), search_model_close(&model);
  rig_close(&r);
}
END_TEST

/* ---- limits of the wishes, one by one: the last that is granted */
START_TEST(wishes_at_their_limits)
{
  struct error why;
  static const uint32_t three = 3, four = 4;
  static const struct search_processor good = { PROCESS_REPETITION, 1e-300, 0 },
                                       bad = { PROCESS_REPETITION, INFINITY, 0 };
  static const struct {
    struct search_settings s;
    const char *says;
  } at[] = { { { .num_beams = 1, .num_return = 1, .max_length = 3 }, NULL },
    { { .num_beams = 7, .num_return = 7, .max_length = 3 }, NULL },
    { { .num_beams = 7, .num_return = 8, .max_length = 3 },
      "num_return_sequences is 8; wanted: 1 to 7" },
    { { .num_beams = UINT32_MAX, .num_return = 1, .max_length = 3 }, NULL },
    { { .num_beams = (size_t) UINT32_MAX + 1, .num_return = 1, .max_length = 3 },
      "num_beams is 4294967296" },
    { { .num_beams = 1, .num_return = 1, .max_length = 3, .eos = &three, .n_eos = 1 }, NULL },
    { { .num_beams = 1, .num_return = 1, .max_length = 3, .eos = &four, .n_eos = 1 },
      "eos_token_id is 4; wanted: 0 to 3" },
    { { .num_beams = 1, .num_return = 1, .max_length = 3, .process = &good, .n_process = 1 },
      NULL },
    { { .num_beams = 1, .num_return = 1, .max_length = 3, .process = &bad, .n_process = 1 },
      "repetition_penalty is inf" },
    { { .num_beams = 1, .num_return = 1, .max_length = 4, .length_penalty = 1023 }, NULL },
    { { .num_beams = 1, .num_return = 1, .max_length = 4, .length_penalty = 1024 },
      "leaves 2 to its power" },
    { { .num_beams = 1, .num_return = 1, .max_length = 4, .length_penalty = -1074 }, NULL },
    { { .num_beams = 1, .num_return = 1, .max_length = 4, .length_penalty = -1076 },
      "leaves 2 to its power" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    bool ok = search_check(&at[i].s, 4, 2, &why);
    ck_assert_msg(ok == (at[i].says == NULL), "%zu: %s", i, ok ? "granted" : why.text);
    ck_assert_msg(ok || strstr(why.text, at[i].says) != NULL, "%zu: %s", i, why.text);
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("search");
  TCase *edges = tcase_create("edges");
  tcase_set_timeout(edges, 60);
  tcase_add_test(edges, what_cannot_be_handed_over_is_not_kept);
  tcase_add_test(edges, a_search_that_is_refused_leaves_the_next_one_alone);
  tcase_add_test(edges, a_second_search_keeps_what_agrees_and_no_more);
  tcase_add_test(edges, of_equals_the_first_goes_before);
  tcase_add_test(edges, a_mark_ends_where_the_tree_ends);
  tcase_add_test(edges, the_first_of_equal_texts_wins);
  tcase_add_test(edges, wishes_at_their_limits);
  suite_add_tcase(s, edges);
  TCase *t = tcase_create("search");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, vectors_of_the_library);
  tcase_add_test(t, cases_of_our_own);
  tcase_add_loop_test(t, equal_to_a_plain_restatement, 0, 4);
  tcase_add_test(t, wide_enough_is_exact);
  tcase_add_loop_test(t, sharing_gives_the_bits_of_reading_all_again, 0, 6);
  tcase_add_test(t, a_second_search_finds_the_rows_of_the_prompt);
  tcase_add_test(t, width_one_is_greedy);
  tcase_add_test(t, the_context_is_the_longest_text);
  tcase_add_loop_test(t, golden_searches, 0, 14);
  tcase_add_test(t, refusals_are_sentences);
  tcase_add_test(t, a_watcher_sees_and_cancels);
  tcase_add_test(t, enough_at_the_last_step_changes_nothing);
  tcase_add_test(t, trees_have_what_might_have_been_written);
  tcase_add_test(t, the_best_of_several_has_the_best_mean);
  tcase_add_test(t, every_refused_request_is_survived);
  suite_add_tcase(s, t);
  return suite_run(s);
}
