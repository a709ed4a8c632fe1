/* generate and trace: the objects they print, several texts, seeds, stops and what must match. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include "room.h"
#include "cache/cache.h"
#include "families/loader.h"
#include "kernels/kernels.h"

START_TEST(generate_prints_the_promised_object)
{
  struct run r = run("generate 'The cat sat' --json --logprobs 3");
  json_t *o = object_of(&r);
  has_keys(o, "model prompt sequences usage counters timings");
  has_keys(json_object_get(o, "prompt"), "text ids");
  has_keys(json_object_get(o, "usage"), "prompt_tokens completion_tokens total_tokens");
  has_keys(json_object_get(o, "counters"), counter_keys);
  has_keys(json_object_get(o, "timings"),
    "load_ms time_to_first_token_ms time_per_output_token_ms prefill_tokens_per_second "
    "decode_tokens_per_second");
  json_t *s = json_array_get(json_object_get(o, "sequences"), 0);
  has_keys(s, "index ids text finish_reason stop logprobs");
  ck_assert_str_eq(json_string_value(json_object_get(s, "text")), " on the mat. é€😀!");
  ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")), "stop");
  ck_assert_str_eq(json_string_value(json_object_get(s, "stop")), "eos");
  json_t *ids = json_object_get(s, "ids"), *odds = json_object_get(s, "logprobs");
  size_t g = json_array_size(ids);
  ck_assert_uint_eq(json_array_size(odds), g);
  ck_assert_int_eq(json_integer_value(json_array_get(ids, g - 1)),
    0); /* the end token is in the ids, not in the text */
  ck_assert_int_eq(number_at(o, "usage", "total_tokens"), (int64_t) (3 + g));
  for (size_t i = 0; i < g; i++) {
    json_t *x = json_array_get(odds, i), *top = json_object_get(x, "top");
    has_keys(x, "id logprob rank top");
    ck_assert(json_equal(json_object_get(x, "id"), json_array_get(ids, i)));
    ck_assert_uint_eq(json_array_size(top), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(x, "rank")), 1);
    ck_assert(json_equal(
      json_object_get(json_array_get(top, 0), "logprob"), json_object_get(x, "logprob")));
    for (size_t k = 1; k < 3; k++)
      ck_assert(json_real_value(json_object_get(json_array_get(top, k), "logprob"))
        <= json_real_value(json_object_get(json_array_get(top, k - 1), "logprob")));
  }
  int64_t p = 3, n = (int64_t) g;
  ck_assert_int_eq(number_at(o, "counters", "passes"), n);
  ck_assert_int_eq(number_at(o, "counters", "rows"), p + n - 1);
  ck_assert_int_eq(number_at(o, "counters", "kv_rows_recomputed"), 0);
  ck_assert_int_eq(
    number_at(o, "counters", "qk_pairs"), p * (p + 1) / 2 + (n - 1) * p + n * (n - 1) / 2);
  /* the same without the cache: everything is equal but work, times and memory */
  struct run naive = run("generate 'The cat sat' --json --logprobs 3 --no-cache");
  json_t *other = object_of(&naive);
  ck_assert_int_eq(number_at(other, "counters", "rows"), n * p + n * (n - 1) / 2);
  ck_assert_int_eq(
    number_at(other, "counters", "kv_rows_recomputed"), n * p + n * (n - 1) / 2 - (p + n - 1));
  ck_assert(json_equal(json_object_get(o, "sequences"), json_object_get(other, "sequences")));
  json_decref(other), done(&naive);
  json_decref(o), done(&r);
}
END_TEST

START_TEST(jsonl_is_a_line_a_token_and_then_the_object)
{
  struct run r = run("generate 'The cat sat' --jsonl"),
             whole = run("generate 'The cat sat' --json");
  json_t *o = object_of(&whole), *s = json_array_get(json_object_get(o, "sequences"), 0),
         *last = NULL;
  char text[256] = "";
  size_t n = 0;
  for (char *at = r.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    *end = '\0';
    json_decref(last);
    last = json_loads(at, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(last != NULL, "%s", at);
    if (json_object_get(last, "sequences")) continue;
    has_keys(last, "index id text logprob");
    ck_assert(
      json_equal(json_object_get(last, "id"), json_array_get(json_object_get(s, "ids"), n++)));
    strcat(text, json_string_value(json_object_get(last, "text")));
  }
  ck_assert_uint_eq(n, json_array_size(json_object_get(s, "ids")));
  ck_assert_str_eq(text, json_string_value(json_object_get(s, "text")));
  ck_assert(json_equal(json_object_get(last, "sequences"), json_object_get(o, "sequences")));
  ck_assert(json_equal(json_object_get(last, "counters"), json_object_get(o, "counters")));
  json_decref(last), json_decref(o), done(&r), done(&whole);
}
END_TEST

START_TEST(trace_prints_the_grid_of_the_book)
{
  struct run r = run("trace 'The cat sat' -n 4 --json --attention 1.3"),
             t = run("trace 'The cat sat' -n 4");
  json_t *o = object_of(&r);
  has_keys(o, "prompt_ids steps totals");
  ck_assert_int_eq(number_at(o, "totals", "computed"), 18);
  ck_assert_int_eq(number_at(o, "totals", "necessary"), 6);
  ck_assert_int_eq(number_at(o, "totals", "redundant"), 12);
  json_t *steps = json_object_get(o, "steps");
  ck_assert_uint_eq(json_array_size(steps), 4);
  for (size_t i = 0; i < 4; i++) {
    json_t *s = json_array_get(steps, i), *work = json_object_get(s, "work"),
           *seen = json_object_get(s, "attention");
    has_keys(s, "step length work top chosen cache_rows cache_bytes counters attention");
    has_keys(json_object_get(s, "chosen"), "id piece logprob rank why");
    has_keys(json_object_get(s, "counters"), counter_keys);
    has_keys(json_array_get(json_object_get(s, "top"), 0), "id piece logprob");
    ck_assert_int_eq(number_at(s, "counters", "passes"), 1);
    ck_assert_int_eq(number_at(s, "counters", "rows"), (int64_t) (3 + i));
    ck_assert_uint_eq(json_array_size(work), 3 + i);
    for (size_t k = 0; k < 3 + i; k++)
      ck_assert_str_eq(
        json_string_value(json_array_get(work, k)), i > 0 && k < 2 + i ? "redo" : "new");
    double sum = 0;
    for (size_t k = 0; k < json_array_size(seen); k++)
      sum += json_real_value(json_array_get(seen, k));
    ck_assert_uint_eq(json_array_size(seen), 3 + i);
    ck_assert_msg(fabs(sum - 1) < 1e-5, "attention adds up to %g", sum);
  }
  ck_assert(strstr(t.out, "\n  R R R R R C\n") != NULL
    && strstr(t.out, "computed 18 rows: 6 necessary, 12 again\n") != NULL);
  json_decref(o), done(&r), done(&t);
  /* with the cache: one new row a step, the others kept, the same choices */
  r = run("trace 'The cat sat' -n 4 --json --cache --attention 1.3"),
  t = run("trace 'The cat sat' -n 4 --cache");
  o = object_of(&r), steps = json_object_get(o, "steps");
  ck_assert_int_eq(number_at(o, "totals", "computed"), 6);
  ck_assert_int_eq(number_at(o, "totals", "redundant"), 0);
  for (size_t i = 0; i < 4; i++) {
    json_t *s = json_array_get(steps, i), *work = json_object_get(s, "work");
    ck_assert_int_eq(number_at(s, "counters", "rows"), i == 0 ? 3 : 1);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "cache_rows")), (int64_t) (3 + i));
    ck_assert_int_eq(json_integer_value(json_object_get(s, "cache_bytes")) % (int64_t) (3 + i), 0);
    ck_assert_int_gt(json_integer_value(json_object_get(s, "cache_bytes")), 0);
    ck_assert_uint_eq(json_array_size(work), 3 + i);
    for (size_t k = 0; k < 3 + i; k++)
      ck_assert_str_eq(
        json_string_value(json_array_get(work, k)), i > 0 && k < 2 + i ? "cached" : "new");
  }
  ck_assert(strstr(t.out, "\n  - - - - - C\n") != NULL
    && strstr(t.out, "computed 6 rows: 6 necessary, 0 again\n") != NULL);
  json_decref(o), done(&r), done(&t);
  r = run("trace '!' -n 9");
  ck_assert_msg(
    strstr(r.out, "<- stopped") != NULL && strstr(r.out, "step 2") == NULL, "%s", r.out);
  done(&r);
}
END_TEST

/* what a layer's last query sees of each key, by the formula: from the queries and keys that a watcher
   was shown, in double */
struct looked {
  uint32_t layer;
  size_t heads, kv_heads, dim;
  float query[64], key[64][64];
};
static void see_keys(void *ctx, enum tap_point point, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct looked *l = ctx;
  if (layer != l->layer) return;
  if (point == TAP_QUERY) memcpy(l->query, x + (rows - 1) * width, width * sizeof *x);
  if (point == TAP_KEY)
    for (size_t i = 0; i < rows; i++) memcpy(l->key[i], x + i * width, width * sizeof *x);
}
static void weights_by_hand(const uint32_t *id, size_t n, uint32_t layer, size_t head, double *weight)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct counters counters = { .of = { 0 } };
  struct model *lm = model_open(&m, "tests/golden/small", &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  struct store *s = cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, &why);
  struct engine e = { .k = kernels_find("scalar", &why), .pool = pool_open(&m, 1, &why), .c = &counters };
  struct looked l = { .layer = layer, .heads = 4, .kv_heads = 2, .dim = 8 };
  struct watcher watch = { see_keys, &l, true };
  struct row rows[64];
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++) rows[i] = (struct row){ 0, (uint32_t) i, id[i] };
  ck_assert_msg(model_forward_watched(&e, lm, s, rows, n, &watch, &p, &why), "%s", why.text);
  double most = -1e30, sum = 0;
  for (size_t t = 0; t < n; t++) {
    weight[t] = 0;
    for (size_t k = 0; k < l.dim; k++)
      weight[t] += (double) l.query[head * l.dim + k]
        * l.key[t][head * l.kv_heads / l.heads * l.dim + k] / sqrt((double) l.dim);
    if (weight[t] > most) most = weight[t];
  }
  for (size_t t = 0; t < n; t++) sum += weight[t] = exp(weight[t] - most);
  for (size_t t = 0; t < n; t++) weight[t] /= sum;
  pass_close(p), store_close(s), pool_close(&m, e.pool), model_close(&m, lm);
}
/* every number of a trace against another source: the weights against the formula, the cache against
   the sizes of the model, the counters and the candidates against generate */
START_TEST(numbers_of_a_trace_are_those_of_others)
{
  static const char *const head[] = { "0.0", "0.3", "1.1", "1.3" };
  for (int h = 0; h < 4; h++) {
    char line[200];
    double weight[64];
    snprintf(line, sizeof line, "trace 'The cat sat' -n 4 --json --attention %s", head[h]);
    struct run r = run(line);
    snprintf(line, sizeof line, "trace 'The cat sat' -n 4 --cache --attention %s", head[h]);
    struct run t = run(line);
    json_t *o = object_of(&r), *given = json_object_get(o, "prompt_ids");
    uint32_t id[64];
    size_t n = json_array_size(given);
    for (size_t i = 0; i < n; i++) id[i] = (uint32_t) json_integer_value(json_array_get(given, i));
    const char *at = t.out;
    for (size_t i = 0; i < 4; i++) {
      json_t *step = json_array_get(json_object_get(o, "steps"), i),
             *seen = json_object_get(step, "attention");
      weights_by_hand(id, n, (uint32_t) (head[h][0] - '0'), (size_t) (head[h][2] - '0'), weight);
      ck_assert_uint_eq(json_array_size(seen), n);
      at = strstr(at, "  looks at");
      ck_assert(at != NULL);
      at += 10;
      for (size_t k = 0; k < n; k++) {
        double x = json_real_value(json_array_get(seen, k)), shown = strtod(at, (char **) &at);
        ck_assert_msg(fabs(x - weight[k]) < 1e-5 && fabs(shown - weight[k]) < 6e-4,
          "%s: step %zu, position %zu: %g and %g; wanted: %g", head[h], i + 1, k, x, shown, weight[k]);
      }
      id[n++] = (uint32_t) json_integer_value(json_object_get(json_object_get(step, "chosen"), "id"));
    }
    json_decref(o), done(&r), done(&t);
  }
  /* a row of the cache: keys and values, of two heads of eight numbers, in two layers */
  static const struct {
    const char *type;
    int64_t bytes;
  } kept[] = { { "f32", 2 * 2 * 8 * 2 * 4 }, { "f16", 2 * 2 * 8 * 2 * 2 }, { "bf16", 2 * 2 * 8 * 2 * 2 } };
  for (int k = 0; k < 6; k++) {
    char line[200];
    snprintf(line, sizeof line, "trace 'The cat sat' -n 5 --json --kv-type %s %s --chunk 2", kept[k / 2].type,
      k % 2 ? "--cache" : "");
    struct run r = run(line);
    snprintf(line, sizeof line, "generate 'The cat sat' -n 5 --json --logprobs 5 --kv-type %s %s --chunk 2",
      kept[k / 2].type, k % 2 ? "" : "--no-cache");
    struct run g = run(line);
    json_t *o = object_of(&r), *whole, *text = json_array_get((whole = object_of(&g), json_object_get(whole, "sequences")), 0), *step;
    size_t i;
    int64_t sum[11] = { 0 };
    const char *name;
    json_t *value;
    json_array_foreach(json_object_get(o, "steps"), i, step)
    {
      int64_t rows = k % 2 ? (int64_t) (3 + i) : 0;
      ck_assert_int_eq(json_integer_value(json_object_get(step, "cache_rows")), rows);
      ck_assert_int_eq(json_integer_value(json_object_get(step, "cache_bytes")), rows * kept[k / 2].bytes);
      json_t *top = json_object_get(step, "top"), *odds = json_array_get(json_object_get(text, "logprobs"), i);
      for (size_t c = 0; c < 5; c++) {
        json_t *x = json_array_get(top, c), *y = json_array_get(json_object_get(odds, "top"), c);
        ck_assert(json_equal(json_object_get(x, "id"), json_object_get(y, "id"))
          && json_equal(json_object_get(x, "logprob"), json_object_get(y, "logprob")));
        snprintf(line, sizeof line, "tokenize --ids %ld", (long) json_integer_value(json_object_get(x, "id")));
        struct run piece = run(line);
        if (strstr(piece.out, "\xef\xbf\xbd") == NULL && (unsigned char) piece.out[0] < 0x80)
          ck_assert_str_eq(json_string_value(json_object_get(x, "piece")), piece.out);
        done(&piece);
      }
      size_t c = 0;
      json_object_foreach(json_object_get(step, "counters"), name, value) sum[c++] += json_integer_value(value);
      ck_assert_uint_eq(c, 11);
    }
    size_t c = 0;
    json_object_foreach(json_object_get(whole, "counters"), name, value)
      ck_assert_msg(sum[c++] == json_integer_value(value), "%s: %ld; wanted: %ld", name, (long) sum[c - 1],
        (long) json_integer_value(value));
    json_decref(o), json_decref(whole), done(&r), done(&g);
  }
  /* an end token that may not end the text yet is a choice like any other */
  for (int least = 0; least < 6; least++) {
    char line[200];
    snprintf(line, sizeof line, "trace '!' -n 9 --min-tokens %d --logit-bias 0=1e6 --json", least);
    struct run r = run(line);
    json_t *o = object_of(&r), *steps = json_object_get(o, "steps");
    ck_assert_uint_eq(json_array_size(steps), (size_t) least + 1);
    for (int i = 0; i <= least; i++) {
      json_t *chosen = json_object_get(json_array_get(steps, (size_t) i), "chosen");
      ck_assert_int_eq(json_integer_value(json_object_get(chosen, "id")), 0);
      ck_assert_str_eq(json_string_value(json_object_get(chosen, "why")), i < least ? "greedy" : "stopped");
    }
    json_decref(o), done(&r);
  }
}
END_TEST

/* ---- choices: several texts, seeds */
static json_t *texts_of(
  struct run *r, json_t **whole) /* the sequences of an object, which whole keeps */
{
  *whole = object_of(r);
  json_t *list = json_object_get(*whole, "sequences");
  ck_assert_uint_gt(json_array_size(list), 0);
  return list;
}
/* the text of ids as bytes, by way of tokenize --ids; the end token, 0, is not in it */
static struct run bytes_of_ids(json_t *ids)
{
  char line[4096] = "tokenize --ids ";
  for (size_t i = 0, n = 0; i < json_array_size(ids); i++) {
    int64_t id = json_integer_value(json_array_get(ids, i));
    if (id != 0) snprintf(line + strlen(line), 16, "%s%ld", n++ > 0 ? "," : "", (long) id);
  }
  if (line[strlen(line) - 1] == ' ') strcat(line, "''");
  return run(line);
}
START_TEST(texts_of_a_company_are_those_of_each_alone)
{
  struct run r = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --json --logprobs 2"),
             two = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 2 --json"),
             text = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4"),
             seen = run_as(
               "generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --no-echo", ON_TERMINAL, 0),
             lines = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --jsonl"),
             echo = run("generate The --temp 1.5 -n 12 -s 5 --num-sequences 4 --echo"),
             one = run("generate The --temp 1.5 -n 12 -s 5");
  json_t *o, *pair, *all = texts_of(&r, &o), *first = texts_of(&two, &pair), *last = NULL;
  char *at = text.out, *echoed = echo.out, *line = lines.out;
  int64_t tokens = 0, differ = 0;
  ck_assert_uint_eq(json_array_size(all), 4);
  ck_assert_uint_eq(json_array_size(first), 2);
  for (size_t i = 0; i < 4; i++) {
    char in[256], told[1024] = "";
    json_t *s = json_array_get(all, i), *ids = json_object_get(s, "ids");
    snprintf(in, sizeof in,
      "probe generate "
      "<{\"ids\":[262],\"max_tokens\":12,\"params\":{\"temperature\":1.5},\"seed\":5,\"sequence\":%"
      "zu}",
      i);
    struct run p = run(in), b = bytes_of_ids(ids);
    json_t *alone = object_of(&p);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "index")), (int64_t) i);
    ck_assert_msg(json_equal(ids, json_object_get(alone, "ids"))
        && json_equal(json_object_get(s, "text"), json_object_get(alone, "text")),
      "text %zu: %s%s", i, r.out, p.out);
    ck_assert_str_eq(json_string_value(json_object_get(s, "finish_reason")),
      json_string_value(json_object_get(alone, "finish")));
    ck_assert_uint_eq(json_array_size(json_object_get(s, "logprobs")), json_array_size(ids));
    tokens += (int64_t) json_array_size(ids);
    differ += !json_equal(ids, json_object_get(json_array_get(all, 0), "ids"));
    if (i < 2) ck_assert(json_equal(json_object_get(json_array_get(first, i), "ids"), ids));
    /* on paper: the bytes and a line's end, with the prompt before them or not */
    ck_assert_msg(
      memcmp(at, b.out, b.n_out) == 0 && at[b.n_out] == '\n', "text %zu: %s", i, text.out);
    at += b.n_out + 1;
    ck_assert_msg(memcmp(echoed, "The", 3) == 0 && memcmp(echoed + 3, b.out, b.n_out) == 0
        && echoed[3 + b.n_out] == '\n',
      "text %zu: %s", i, echo.out);
    echoed += 3 + b.n_out + 1;
    if (i == 0) ck_assert(one.n_out == b.n_out && memcmp(one.out, b.out, b.n_out) == 0);
    /* in lines: a token each, with the number of its text */
    for (size_t k = 0; k < json_array_size(ids); k++) {
      json_t *t = answer_at(line, 0);
      line = strchr(line, '\n') + 1;
      has_keys(t, "index id text logprob");
      ck_assert_int_eq(json_integer_value(json_object_get(t, "index")), (int64_t) i);
      ck_assert(json_equal(json_object_get(t, "id"), json_array_get(ids, k)));
      ck_assert(json_equal(json_object_get(t, "logprob"),
        json_object_get(json_array_get(json_object_get(s, "logprobs"), k), "logprob")));
      strcat(told, json_string_value(json_object_get(t, "text")));
      json_decref(t);
    }
    const char *whole =
      json_string_value(json_object_get(s, "text")); /* half a character at the end is in no line */
    ck_assert_msg(strncmp(told, whole, strlen(told)) == 0 && strlen(whole) <= strlen(told) + 3,
      "text %zu: %s; wanted: %s", i, told, whole);
    json_decref(alone), done(&p), done(&b);
  }
  ck_assert(*at == '\0' && *echoed == '\0' && seen.n_out == text.n_out
    && memcmp(seen.out, text.out, text.n_out) == 0);
  ck_assert_int_ge(differ, 2);
  ck_assert_int_eq(number_at(o, "usage", "prompt_tokens"), 1);
  ck_assert_int_eq(number_at(o, "usage", "completion_tokens"), tokens);
  ck_assert_int_eq(number_at(o, "usage", "total_tokens"), 1 + tokens);
  ck_assert_int_eq(number_at(o, "counters", "passes"), tokens);
  last = answer_at(line, 0);
  json_t *these = json_object_get(last, "sequences");
  for (size_t i = 0; i < 4; i++)
    ck_assert(json_equal(json_object_get(json_array_get(these, i), "ids"),
      json_object_get(json_array_get(all, i), "ids")));
  ck_assert(json_equal(json_object_get(last, "usage"), json_object_get(o, "usage"))
    && json_equal(json_object_get(last, "counters"), json_object_get(o, "counters")));
  json_decref(o), json_decref(pair), json_decref(last), done(&r), done(&two), done(&text),
    done(&seen), done(&lines), done(&echo), done(&one);
  /* nothing to write three times, and ids where there is no tokenizer */
  r = run("generate The -n 0 --num-sequences 3"),
  text = run("generate The -n 0 --num-sequences 3 --json");
  ck_assert_str_eq(r.out, "\n\n\n");
  all = texts_of(&text, &o);
  ck_assert_uint_eq(json_array_size(all), 3);
  for (size_t i = 0; i < 3; i++)
    ck_assert(json_array_size(json_object_get(json_array_get(all, i), "ids")) == 0
      && strcmp(
           json_string_value(json_object_get(json_array_get(all, i), "finish_reason")), "length")
        == 0);
  json_decref(o), done(&r), done(&text);
  r = run("generate --prompt-ids 1,2 -n 3 --num-sequences 2 -m tests/golden/llama"),
  one = run("generate --prompt-ids 1,2 -n 3 -m tests/golden/llama");
  size_t n = strcspn(r.out, "\n");
  ck_assert_msg(r.n_out == 2 * (n + 1) && memcmp(r.out, r.out + n + 1, n + 1) == 0 && one.n_out == n
      && memcmp(r.out, one.out, n) == 0,
    "%s | %s", r.out, one.out);
  done(&r), done(&one);
}
END_TEST

START_TEST(a_company_cancelled_in_its_second_text)
{
  steps_allowed = 7;
  struct run r = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3 --json");
  ck_assert_int_eq(r.status, 130);
  json_t *o, *all = texts_of(&r, &o);
  ck_assert_uint_eq(json_array_size(all), 2);
  for (size_t i = 0; i < 2; i++) {
    json_t *s = json_array_get(all, i);
    ck_assert_int_eq(json_integer_value(json_object_get(s, "index")), (int64_t) i);
    ck_assert_uint_eq(json_array_size(json_object_get(s, "ids")), i == 0 ? 5 : 2);
    ck_assert_str_eq(
      json_string_value(json_object_get(s, "finish_reason")), i == 0 ? "length" : "cancelled");
    ck_assert(json_is_null(json_object_get(s, "stop")));
  }
  ck_assert_int_eq(number_at(o, "usage", "completion_tokens"), 7);
  steps_allowed = 7;
  struct run lines = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3 --jsonl");
  ck_assert_int_eq(lines.status, 130);
  ck_assert_uint_eq(lines_of(&lines), 8);
  json_t *last = answer_at(lines.out, 7);
  ck_assert(json_equal(json_object_get(last, "sequences"), all));
  steps_allowed = 7;
  struct run text = run("generate The --temp 1 -n 5 --ignore-eos --num-sequences 3"),
             a = bytes_of_ids(json_object_get(json_array_get(all, 0), "ids")),
             b = bytes_of_ids(json_object_get(json_array_get(all, 1), "ids"));
  ck_assert_int_eq(text.status, 130);
  ck_assert_msg(text.n_out == a.n_out + b.n_out + 2 && memcmp(text.out, a.out, a.n_out) == 0
      && memcmp(text.out + a.n_out + 1, b.out, b.n_out) == 0 && text.out[a.n_out] == '\n'
      && text.out[text.n_out - 1] == '\n',
    "%s", text.out);
  steps_allowed = 0;
  json_decref(o), json_decref(last), done(&r), done(&lines), done(&text), done(&a), done(&b);
}
END_TEST

START_TEST(a_seed_that_was_drawn_is_told_and_can_be_had_again)
{
  static const char *const line[] = { "generate The --temp 1 -n 12 --json",
    "generate The --temp 1 -n 12 --num-sequences 3", "trace The --temp 1 -n 6 --json",
    "generate The -n 12 --samplers ''" };
  char seen[8][32];
  for (int i = 0; i < 8; i++) {
    char words[256];
    snprintf(words, sizeof words, "%s --seed random", line[i % 4]);
    struct run r = run(words);
    ck_assert_msg(r.status == 0 && strncmp(r.err, "incipit: --seed ", 16) == 0
        && strchr(r.err, '\n') == r.err + r.n_err - 1,
      "%s", r.err);
    snprintf(seen[i], sizeof seen[i], "%.*s", (int) (r.n_err - 17), r.err + 16);
    ck_assert_msg(
      strspn(seen[i], "0123456789") == strlen(seen[i]) && strtoull(seen[i], NULL, 10) <= INT64_MAX,
      "%s", seen[i]);
    for (int k = 0; k < i; k++)
      ck_assert_msg(strcmp(seen[k], seen[i]) != 0, "the seed %s was drawn twice", seen[i]);
    snprintf(words, sizeof words, "%s --seed %s", line[i % 4], seen[i]);
    struct run again = run(words);
    timings_out(r.out), timings_out(again.out);
    ck_assert_str_eq(r.out, again.out);
    ck_assert_uint_eq(again.n_err, 0);
    done(&r), done(&again);
  }
}
END_TEST

static int times_said(const char *out, const char *words)
{
  int n = 0;
  for (const char *at = out; (at = strstr(at, words)) != NULL; at++) n++;
  return n;
}
/* a search that keeps nothing writes the same texts, and computes each row in every step */
START_TEST(beams_without_a_cache)
{
  static const char *const line[] = { "generate 'The cat' -n 5 --num-beams 3 --num-sequences 3 --json",
    "generate The -n 4 --ignore-eos --num-beams 2 --json",
    "generate 'The cat sat' -n 3 --num-beams 4 --no-repeat-ngram-size 2 --json --chunk 2" };
  for (int i = 0; i < 3; i++) {
    char words[200];
    struct run a = run(line[i]);
    snprintf(words, sizeof words, "%s --no-cache", line[i]);
    struct run b = run(words);
    json_t *x = object_of(&a), *y = object_of(&b);
    ck_assert_msg(json_equal(json_object_get(x, "sequences"), json_object_get(y, "sequences")),
      "%s: %s%s", line[i], a.out, b.out);
    ck_assert_int_eq(number_at(x, "counters", "kv_rows_recomputed"), 0);
    ck_assert_int_gt(
      number_at(y, "counters", "rows"), number_at(x, "counters", "rows"));
    if (i == 1) /* a row, and then 2, 3 and 4 of two beams each */
      ck_assert_int_eq(number_at(y, "counters", "rows"), 1 + 2 * (2 + 3 + 4));
    json_decref(x), json_decref(y), done(&a), done(&b);
  }
}
END_TEST

/* a legend; a row too wide for the terminal in run lengths, and in letters where it fits or nobody
   looks; improbable is not impossible; how many a constraint allowed, on screen and in JSON */
START_TEST(a_trace_fits_the_screen_and_counts_what_was_allowed)
{
  struct run r = run("trace 'The cat sat' -n 3 --ignore-eos");
  ck_assert(strncmp(r.out, "C computed, R computed again, - from the cache\n", 47) == 0
    && strstr(r.out, "\n  R R R R C\n") != NULL);
  done(&r);
  setenv("NO_COLOR", "1", 1);
  static const struct {
    size_t columns;
    const char *option, *row;
  } at[] = { { 80, "", "\n  R R R R C\n" }, { 11, "", "\n  R R R R C\n" },
    { 10, "", "\n  R\xc3\x97" "4 C\n" }, { 10, "--cache", "\n  -\xc3\x97" "4 C\n" },
    { 10, "--cache --chunk 1", "\n  -\xc3\x97" "4 C\n" } };
  for (size_t i = 0; i < 5; i++) {
    char line[200];
    screen_columns = at[i].columns;
    snprintf(line, sizeof line, "trace 'The cat sat' -n 3 --ignore-eos %s", at[i].option);
    r = run_as(line, ON_TERMINAL, 0);
    ck_assert_msg(strstr(r.out, at[i].row) != NULL, "%zu: %s", at[i].columns, r.out);
    done(&r);
  }
  screen_columns = 0;
  unsetenv("NO_COLOR");
  r = run("trace 'The cat sat' -n 1 --top 100");
  ck_assert(strstr(r.out, " <0.0001  ") != NULL && strstr(r.out, " 0.0000") == NULL);
  done(&r);
  r = run("trace The -n 3 --regex 'abc|abd'");
  ck_assert_msg(strstr(r.out, "; allowed 2 of 286\n") && strstr(r.out, "  <- greedy among 2\n")
      && strstr(r.out, "; allowed 1 of 286\n") && strstr(r.out, "  <- forced\n"),
    "%s", r.out);
  done(&r);
  r = run("trace The -n 3 --regex 'abc|abd' --json");
  json_t *o = object_of(&r), *steps = json_object_get(o, "steps");
  static const char *const why[] = { "forced", "forced", "greedy" };
  for (size_t i = 0; i < 3; i++) {
    json_t *c = json_object_get(json_array_get(steps, i), "chosen");
    ck_assert_str_eq(json_string_value(json_object_get(c, "why")), why[i]);
    ck_assert_int_eq(json_integer_value(json_object_get(c, "allowed")), i < 2 ? 1 : 2);
  }
  json_decref(o), done(&r);
  r = run("trace The -n 1 --json"), o = object_of(&r);
  ck_assert(json_object_get(json_object_get(json_array_get(json_object_get(o, "steps"), 0),
    "chosen"), "allowed") == NULL);
  json_decref(o), done(&r);
  r = run("trace The -n 4 --regex 'abc' --temp 1 --seed 3 --json"), o = object_of(&r);
  steps = json_object_get(o, "steps"); /* an end token that alone is allowed is forced */
  json_t *last = json_object_get(json_array_get(steps, 3), "chosen");
  ck_assert_str_eq(json_string_value(json_object_get(last, "why")), "forced");
  json_decref(o), done(&r);
}
END_TEST

START_TEST(a_trace_says_why)
{
  static const struct {
    const char *line, *why;
    bool noise;
  } at[] = { { "The -n 6", "greedy", false }, { "The -n 6 --temp 2 -s 3", "sampled", true },
    { "The -n 6 --temp 2 --top-k 1", "forced", false },
    { "The -n 6 --temp 0 --top-k 9", "greedy", false },
    { "The -n 6 --temp 2 --min-p 1", "forced", false },
    { "The -n 6 --samplers top_k", "sampled", true },
    { "The -n 3 --temp 1 --logit-bias 5=1e6 --top-p 0.5", "forced", false },
    { "'!' -n 6", "stopped", false }, { "'!' -n 6 --temp 0.5 --logit-bias 0=9", "stopped", true },
    { "The -n 6 --temp 3 -s 8 --cache --chunk 1", "sampled", true } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[256], as[64];
    snprintf(line, sizeof line, "trace %s --top 3", at[i].line);
    struct run t = run(line);
    snprintf(line, sizeof line, "trace %s --json --top 3", at[i].line);
    struct run r = run(line);
    /* the same settings, without what only a trace has, to generate */
    snprintf(line, sizeof line, "generate %s --json --logprobs 3", at[i].line);
    char *cache = strstr(line, "--cache ");
    if (cache != NULL) memmove(cache, cache + 8, strlen(cache + 8) + 1);
    struct run g = run(line);
    json_t *o = object_of(&r), *whole, *s = json_array_get(texts_of(&g, &whole), 0),
           *steps = json_object_get(o, "steps"), *odds = json_object_get(s, "logprobs");
    size_t n = json_array_size(steps);
    ck_assert_uint_eq(n, json_array_size(json_object_get(s, "ids")));
    snprintf(as, sizeof as, "  <- %s", at[i].why);
    const char *said = t.out;
    for (size_t k = 0; k < n; k++) {
      json_t *step = json_array_get(steps, k), *x = json_object_get(step, "chosen"),
             *y = json_array_get(odds, k);
      ck_assert_msg(strcmp(json_string_value(json_object_get(x, "why")), at[i].why) == 0,
        "%s: step %zu: %s", at[i].line, k + 1, r.out);
      ck_assert(json_equal(json_object_get(x, "id"), json_object_get(y, "id"))
        && json_equal(json_object_get(x, "logprob"), json_object_get(y, "logprob"))
        && json_equal(json_object_get(x, "rank"), json_object_get(y, "rank")));
      said = strstr(said, as);
      ck_assert_msg(said != NULL, "%s: %s", at[i].line, t.out);
      said += strlen(as);
      if (!at[i].noise) continue;
      /* the noise is that of the generator for seed, token, position and sequence 0 */
      uint64_t rank,
        seed = strstr(at[i].line, "-s ") ? strtoull(strstr(at[i].line, "-s ") + 3, NULL, 10) : 0;
      double noise;
      char ask[256];
      ck_assert_msg(sscanf(said, " at rank %lu with noise %lf", &rank, &noise) == 2, "%s", said);
      ck_assert_int_eq(json_integer_value(json_object_get(x, "rank")), (int64_t) rank);
      snprintf(ask, sizeof ask, "probe philox <{\"key\":[%lu,0],\"counter\":[%ld,%ld,0,0]}", seed,
        (long) json_integer_value(json_object_get(x, "id")),
        (long) json_integer_value(json_object_get(step, "length")));
      struct run p = run(ask);
      json_t *word = object_of(&p), *out = json_object_get(word, "out");
      uint64_t m = (uint64_t) json_integer_value(json_array_get(out, 0)) << 20
        | (uint64_t) json_integer_value(json_array_get(out, 1)) >> 12;
      double g2 = -log(-log(((double) m + 0.5) * 0x1p-52));
      ck_assert_msg(fabs(noise - g2) < 6e-4, "%s: %g; wanted: %g", at[i].line, noise, g2);
      json_decref(word), done(&p);
    }
    ck_assert_int_eq(times_said(t.out, "<- "), (int) n);
    ck_assert_int_eq(times_said(t.out, "with noise"), at[i].noise ? (int) n : 0);
    json_decref(o), json_decref(whole), done(&t), done(&r), done(&g);
  }
  /* several reasons in one trace: sampled, forced where a cut leaves one, and stopped at the end */
  struct run r = run("trace 'The cat' -n 30 --temp 1.5 --top-p 0.9 -s 7 --cache --json");
  json_t *o = object_of(&r), *steps = json_object_get(o, "steps");
  unsigned sampled = 0, forced = 0;
  for (size_t k = 0; k < json_array_size(steps); k++) {
    const char *why = json_string_value(
      json_object_get(json_object_get(json_array_get(steps, k), "chosen"), "why"));
    sampled += strcmp(why, "sampled") == 0, forced += strcmp(why, "forced") == 0;
    if (strcmp(why, "sampled") != 0 && strcmp(why, "forced") != 0)
      ck_assert_msg(strcmp(why, "stopped") == 0 && k + 1 == json_array_size(steps), "%s", why);
  }
  ck_assert_msg(sampled > 0 && forced > 0, "%s", r.out);
  json_decref(o), done(&r);
}
END_TEST

START_TEST(a_sampled_text_is_the_same_in_every_way)
{
  static const char *const how[] = { "--temp 1.5 -s 11",
    "--temp 2 --top-p 0.9 --repeat-penalty 1.3 -s 4",
    "--temp 1 --no-repeat-ngram-size 2 --frequency-penalty 0.5 -s 9 --num-sequences 3",
    "--temp 3 --typical 0.6 --min-p 0.01 --penalty-last-n 4 --presence-penalty 2" };
  static const char *const way[] = { "-t 1", "-t 2", "-t 3", "--no-cache", "--chunk 1",
    "--chunk 2 -t 3", "--no-cache --chunk 1 -t 2", "-c 40" };
  for (size_t i = 0; i < 4; i++) {
    char line[512];
    snprintf(line, sizeof line, "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s",
      how[i]);
    struct run r = run(line);
    json_t *o, *all = texts_of(&r, &o);
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
      snprintf(line, sizeof line,
        "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s %s", how[i], way[k]);
      struct run s = run(line);
      json_t *w, *same = texts_of(&s, &w);
      ck_assert_msg(json_equal(all, same), "%s: %s%s", line, r.out, s.out);
      json_decref(w), done(&s);
    }
    for (size_t k = 0; kernels_at(k) != NULL; k++) {
      setenv("INCIPIT_ISA", kernels_at(k)->name, 1);
      snprintf(line, sizeof line,
        "generate 'The cat sat' -n 20 --ignore-eos --json --logprobs 3 %s", how[i]);
      struct run s = run(line);
      json_t *w, *same = texts_of(&s, &w);
      ck_assert_msg(json_equal(all, same), "%s: %s", kernels_at(k)->name, line);
      json_decref(w), done(&s);
    }
    unsetenv("INCIPIT_ISA");
    json_decref(o), done(&r);
  }
}
END_TEST

/* what must match matches, whatever the dice and the budget; a limit below the shortest match is
 * refused with it; never status 0 without a match */
START_TEST(what_must_match_matches)
{
  unsigned objects = 0, words = 0, minimum = 0;
  for (int seed = 0; seed < 40; seed++)
    for (int n = 1; n < 30; n += 1 + n / 3) {
      char line[400];
      snprintf(line, sizeof line, "generate 'The cat' --temp 2 -s %d -n %d --json-object --json%s",
        seed, n, seed % 2 ? " --ignore-eos" : "");
      struct run r = run(line);
      ck_assert_msg(r.status == (n < 2 ? 2 : 0), "%s: %d %s", line, r.status, r.err);
      if (n < 2)
        minimum += strstr(r.err, "at most 1 tokens") && strstr(r.err, "2 or more");
      else {
        json_t *o = object_of(&r), *s = json_array_get(json_object_get(o, "sequences"), 0),
               *v = json_loads(json_string_value(json_object_get(s, "text")), 0, NULL);
        ck_assert_msg(json_is_object(v), "%s: %s", line, r.out);
        json_decref(v), json_decref(o), objects++;
      }
      done(&r);
      snprintf(line, sizeof line,
        "generate 'The cat' --temp 1.5 -s %d -n %d --regex '(ab|[0-9]{2,4})+z?' --num-sequences 2",
        seed, n + 1);
      r = run(line);
      ck_assert_msg(r.status == 0, "%s: %d %s", line, r.status, r.err);
      for (char *at = r.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1, words++) {
        char *x = at, *begun = at;
        while (x < end && (strncmp(x, "ab", 2) == 0 || (*x >= '0' && *x <= '9')))
          x += *x == 'a' ? 2 : 1;
        if (x > begun && x < end && *x == 'z') x++;
        ck_assert_msg(x == end && x > begun, "%s: %.*s", line, (int) (end - at), at);
        for (char *d = at; d < end; d++)
          ck_assert(!(*d >= '0' && *d <= '9') || (d > at && d[-1] >= '0' && d[-1] <= '9')
            || (d + 1 < end && d[1] >= '0' && d[1] <= '9'));
      }
      done(&r);
    }
  ck_assert_msg(
    objects >= 250 && words >= 500 && minimum == 40, "%u %u %u", objects, words, minimum);
}
END_TEST

/* a second text begins anew: in the middle of no stop string, with no token written, with no end
   that the first one had.  All texts of a greedy company are alike. */
START_TEST(a_second_text_begins_anew)
{
  static const struct {
    const char *words;
    size_t tokens;
    const char *text, *stop;
  } c[] = { { "-n 3 --stop 'mat on'", 3, " on the mat", NULL },
    { "-n 3 --stop 't on'", 3, " on the mat", NULL },
    { "-n 4 --min-tokens 2 --stop ' on'", 4, " on the mat.", NULL },
    { "-n 4 --min-tokens 1 --stop ' the' --stop ' mat'", 2, " on", " the" },
    { "-n 4 --stop 'q' --stop ' mat'", 3, " on the", " mat" },
    { "-n 4 --stop 'mat on' --stop '.' --include-stop", 4, " on the mat.", "." },
    { "-n 3 --stop-on-repetition 1", 3, " on the mat", NULL } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char line[200];
    snprintf(line, sizeof line, "generate 'The cat sat' --num-sequences 3 --json %s", c[i].words);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
    for (size_t k = 0; k < 3; k++) {
      json_t *s = json_array_get(all, k), *stop = json_object_get(s, "stop");
      ck_assert_msg(
        json_array_size(json_object_get(s, "ids")) == c[i].tokens, "%s: %s", line, r.out);
      ck_assert_str_eq(json_string_value(json_object_get(s, "text")), c[i].text);
      const char *found = json_string_value(json_object_get(stop, "string"));
      if (c[i].stop == NULL)
        ck_assert_msg(json_is_null(stop), "%s: %s", line, r.out);
      else
        ck_assert_msg(found != NULL && strcmp(found, c[i].stop) == 0, "%s: %s", line, r.out);
    }
    json_decref(o), done(&r);
  }
  /* sampled, each text of a company is what the protocol gives for its number alone */
  unsigned stopped = 0, other = 0;
  for (int seed = 0; seed < 12; seed++) {
    char line[300];
    static const char *const stop[] = { "t", "o", "e", "a" };
    snprintf(line, sizeof line,
      "generate The --temp 2 -s %d -n 6 --num-sequences 4 --json --stop "
      "'%s'",
      seed, stop[seed % 4]);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
    for (size_t k = 0; k < 4; k++) {
      json_t *s = json_array_get(all, k), *is = json_object_get(s, "stop");
      snprintf(line, sizeof line,
        "probe generate <{\"ids\":[262],\"max_tokens\":6,\"params\":{"
        "\"temperature\":2},\"seed\":%d,\"sequence\":%zu,\"stop\":[\"%s\"]}",
        seed, k, stop[seed % 4]);
      struct run p = run(line);
      json_t *a = object_of(&p), *reason = json_object_get(a, "stop_reason");
      ck_assert_msg(json_equal(json_object_get(s, "ids"), json_object_get(a, "ids")), "%s", line);
      ck_assert(json_equal(json_object_get(s, "text"), json_object_get(a, "text")));
      ck_assert(json_equal(json_object_get(s, "finish_reason"), json_object_get(a, "finish")));
      ck_assert_int_eq(json_is_object(is), json_is_string(reason));
      ck_assert_int_eq(json_is_string(is), json_is_integer(reason));
      stopped += json_is_object(is), other += !json_is_object(is);
      json_decref(a), done(&p);
    }
    json_decref(o), done(&r);
  }
  ck_assert_msg(stopped > 10 && other > 5, "%u stopped, %u not", stopped, other);
  /* and its log-probabilities are its own */
  struct run r = run("generate --prompt-ids 262 --temp 2 -n 6 --num-sequences 3 --json --logprobs "
                     "1");
  json_t *o = object_of(&r), *all = json_object_get(o, "sequences");
  for (size_t k = 0; k < 3; k++) {
    json_t *x = json_array_get(all, k), *ids = json_object_get(x, "ids");
    json_t *odds = json_object_get(x, "logprobs");
    json_array_insert_new(ids, 0, json_integer(262));
    char *list = json_dumps(ids, JSON_COMPACT), line[300];
    snprintf(line, sizeof line, "probe logprob <{\"ids\":%s}", list);
    struct run p = run(line);
    json_t *a = object_of(&p), *want = json_object_get(a, "logprobs");
    for (size_t i = 1; i < json_array_size(ids); i++)
      ck_assert_double_eq_tol(json_number_value(json_array_get(want, i)),
        json_number_value(json_object_get(json_array_get(odds, i - 1), "logprob")), 1e-9);
    free(list), json_decref(a), done(&p);
  }
  json_decref(o), done(&r);
}
END_TEST

/* the likeliest come first, of equals the lower id; the rank of the chosen counts in the same way
 */
START_TEST(of_equal_candidates_the_lower_id_comes_first)
{
  uint64_t seed = suite_seed() + 60;
  for (int round = 0; round < 3000; round++) {
    double logprob[20];
    struct candidate out[24];
    size_t n = 1 + rnd(&seed) % 20, k = rnd(&seed) % (n + 1);
    for (size_t v = 0; v < n; v++)
      logprob[v] = rnd(&seed) % 8 == 0 ? -INFINITY : -(double) (rnd(&seed) % 4);
    uint32_t chosen = (uint32_t) (rnd(&seed) % n);
    prompt_candidates(logprob, n, chosen, out, k);
    for (size_t v = 0; v < n; v++) {
      size_t rank = 1;
      for (size_t w = 0; w < n; w++)
        rank += logprob[w] > logprob[v] || (logprob[w] == logprob[v] && w < v);
      if (v == chosen) ck_assert_msg(out[0].id == v && out[0].rank == rank, "round %d", round);
      if (rank <= k) ck_assert_msg(out[rank].id == v && out[rank].rank == rank, "round %d", round);
      if (rank <= k) ck_assert(memcmp(&out[rank].logprob, &logprob[v], sizeof(double)) == 0);
    }
  }
}
END_TEST

/* the kernels of a device, here run by the host: what is written, the probabilities and the work are the same in every way of
   writing */
START_TEST(a_device_writes_the_same)
{
  static const char *const line[] = { "generate 'The cat sat' --json --logprobs 3",
    "generate 'The cat sat' --json --no-cache -n 5 --chunk 2", "generate The -n 6 --ignore-eos --num-beams 3 --json",
    "generate The -n 9 --ignore-eos --temperature 0.9 --seed 7 --num-sequences 3 --json",
    "generate The -n 9 --ignore-eos --kv-type f16 --window 5 --sinks 1 --json" };
  setenv("INCIPIT_CUDA", "host", 1);
  for (int i = 0; i < 5; i++) {
    char words[200];
    struct run a = run(line[i]);
    snprintf(words, sizeof words, "%s --device cuda:%d", line[i], i % 3);
    struct run b = run(words);
    json_t *x = object_of(&a), *y = object_of(&b);
    ck_assert_msg(json_equal(json_object_get(x, "sequences"), json_object_get(y, "sequences")), "%s: %s%s", line[i],
      a.out, b.out);
    ck_assert_int_eq(number_at(x, "counters", "rows"), number_at(y, "counters", "rows"));
    json_decref(x), json_decref(y), done(&a), done(&b);
  }
  struct run a = run("generate The --device cuda:9");
  ck_assert_msg(a.status == 1 && strstr(a.err, "0, 1 and 2") != NULL, "%s", a.err);
  done(&a);
  unsetenv("INCIPIT_CUDA");
}
END_TEST

int main(void)
{
  room_open("generate");
  Suite *s = suite_create("generate");
  TCase *t = tcase_create("scripts");
  tcase_add_test(t, generate_prints_the_promised_object);
  tcase_add_test(t, jsonl_is_a_line_a_token_and_then_the_object);
  tcase_add_test(t, trace_prints_the_grid_of_the_book);
  tcase_add_test(t, numbers_of_a_trace_are_those_of_others);
  suite_add_tcase(s, t);
  t = tcase_create("choices");
  tcase_add_test(t, texts_of_a_company_are_those_of_each_alone);
  tcase_add_test(t, a_company_cancelled_in_its_second_text);
  tcase_add_test(t, a_seed_that_was_drawn_is_told_and_can_be_had_again);
  tcase_add_test(t, beams_without_a_cache);
  tcase_add_test(t, a_trace_fits_the_screen_and_counts_what_was_allowed);
  tcase_add_test(t, a_trace_says_why);
  tcase_add_test(t, a_sampled_text_is_the_same_in_every_way);
  tcase_add_test(t, a_device_writes_the_same);
  tcase_add_test(t, what_must_match_matches);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_second_text_begins_anew);
  tcase_add_test(t, of_equal_candidates_the_lower_id_comes_first);
  suite_add_tcase(s, t);
  return suite_run(s);
}
