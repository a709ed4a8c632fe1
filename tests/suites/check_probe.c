/* The protocol of probe: golden lines, hostile lines, and that it says what generate says. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include "room.h"
#include "accounts/formats.h"

/* shares of a choice are doubles, and the logarithms of two libraries differ in the last place: as
 * near as that they are made the same */
static void agree_on_shares(json_t *wanted, json_t *got)
{
  json_t *w = json_object_get(wanted, "probs"), *g = json_object_get(got, "probs");
  bool near = w != NULL && json_array_size(w) == json_array_size(g);
  for (size_t i = 0; near && i < json_array_size(w); i++) {
    double x = json_number_value(json_array_get(w, i)), y = json_number_value(json_array_get(g, i));
    near = fabs(x - y) <= 1e-13 * fabs(x) + 1e-300;
  }
  if (near) json_object_set(got, "probs", w);
}
START_TEST(cases_that_travel)
{
  FILE *f = fopen("tests/golden/probe/cases.jsonl", "r");
  char *line = NULL;
  size_t cap = 0, n = 0;
  ck_assert(f != NULL);
  while (getline(&line, &cap, f) > 0) {
    json_t *c = json_loads(line, JSON_ALLOW_NUL, NULL);
    char *in = json_dumps(json_object_get(c, "in"), n % 2 ? JSON_ENSURE_ASCII : 0);
    struct run r = probe(json_string_value(json_object_get(c, "kind")), "tests/golden/small", in,
      strlen(in)); /* no line's end: served all the same */
    json_t *a = answer_at(r.out, 0);
    agree_on_shares(json_object_get(c, "out"), a);
    char *wanted = json_dumps(json_object_get(c, "out"), JSON_SORT_KEYS),
         *got = json_dumps(a, JSON_SORT_KEYS); /* as text: -0.0 is not 0.0 */
    ck_assert_msg(
      json_equal(a, json_object_get(c, "out")) && strcmp(wanted, got) == 0, "%s: %s", line, r.out);
    json_decref(a), json_decref(c), free(in), free(wanted), free(got), done(&r);
    n++;
  }
  free(line), fclose(f);
  tally("tests/golden/probe/cases.jsonl", (unsigned) n, 0, 0, "");
}
END_TEST

START_TEST(hostile_lines_get_one_error_each_and_change_nothing)
{
  FILE *f = fopen("tests/golden/probe/hostile.txt", "rb");
  char *line = NULL;
  size_t cap = 0, cases = 0;
  ck_assert(f != NULL);
  for (ssize_t n; (n = getline(&line, &cap, f)) > 0; cases++) {
    char *tab = memchr(line, '\t', (size_t) n);
    *tab = '\0';
    /* the line between two good ones, which must have the same answers */
    const char *good = strcmp(line, "tokenize") == 0                   ? "{\"text\":\"The\"}\n"
      : strcmp(line, "detokenize") == 0 || strcmp(line, "stream") == 0 ? "{\"ids\":[196,262]}\n"
      : strcmp(line, "train-bpe") == 0 ? "{\"text\":\"aab\",\"merges\":2}\n"
      : strcmp(line, "generate") == 0  ? "{\"ids\":[262],\"max_tokens\":2}\n"
      : strcmp(line, "quantize") == 0  ? "{\"type\":\"q8_0\",\"x\":[1,-2.5,0,0,0,0,0,0,0,0,0,0,0,0,"
                                         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3e4]}\n"
      : strcmp(line, "process") == 0 ? "{\"op\":\"repetition_penalty\",\"params\":{\"penalty\":2},"
                                       "\"logits\":[1,-1,\"-inf\"],\"ids\":[1,0,1]}\n"
      : strcmp(line, "sample") == 0
      ? "{\"logits\":[1,2,0.5],\"params\":{\"top_k\":2,\"logit_bias\":{\"2\":5}},\"seed\":7}\n"
      : strcmp(line, "philox") == 0  ? "{\"key\":[1,2],\"counter\":[3,4,5,6]}\n"
      : strcmp(line, "inspect") == 0 ? "{\"file\":\"tests/golden/small/model.safetensors\"}\n"
      : strcmp(line, "speculative") == 0 ? "{\"p\":[0.5,0.3,0.2],\"q\":[0.2,0.7,0.1]}\n"
                                     : "{\"ids\":[262,3]}\n";
    size_t bad = (size_t) n - (size_t) (tab + 1 - line), k = strlen(good);
    char *all = malloc(bad + 2 * k);
    memcpy(all, good, k), memcpy(all + k, tab + 1, bad), memcpy(all + k + bad, good, k);
    struct run r = probe(line, "tests/golden/small", all, bad + 2 * k);
    ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 3, "%s %s: %s%s", line, tab + 1,
      r.out, r.err);
    json_t *a = answer_at(r.out, 0), *b = answer_at(r.out, 1), *c = answer_at(r.out, 2),
           *why = json_object_get(b, "error");
    ck_assert_msg(json_object_size(b) == 1 && json_string_length(why) > 0
        && strchr(json_string_value(why), '\n') == NULL,
      "%s %s: %s", line, tab + 1, r.out);
    bool later = strcmp(line, "beam") == 0 || strcmp(line, "stop") == 0; /* what they are asked is no question of theirs */
    ck_assert_msg(json_equal(a, c) && (json_object_get(a, "error") != NULL) == later, "%s", r.out);
    json_decref(a), json_decref(b), json_decref(c), free(all), done(&r);
  }
  free(line), fclose(f);
  tally("tests/golden/probe/hostile.txt", (unsigned) cases, 0, 0, "");
}
END_TEST

/* lines changed at random: always one object a line, always with the promised keys or the single
 * key error */
START_TEST(lines_changed_at_random)
{
  static const struct {
    const char *kind, *line, *keys;
  } seedling[] = { { "tokenize",
                     "{\"text\":\"The \\u00e9 cat\",\"add_special\":true,\"parse_special\":false}",
                     "ids" },
    { "detokenize", "{\"ids\":[262,270,196,170],\"skip_special\":true}", "hex text" },
    { "stream", "{\"ids\":[241,160,153,129,262]}", "chunks flush" },
    { "train-bpe", "{\"text\":\"aabaab\",\"pattern\":\"[a-z]+\",\"merges\":5}", "merges" },
    { "forward",
      "{\"ids\":[262,270,3],\"rows\":[0,2],\"chunk\":2,\"cache\":true,\"mates\":[[1,2],[3]]}",
      "logits" },
    { "logprob", "{\"ids\":[262,270,3]}", "logprobs sum" },
    { "generate",
      "{\"ids\":[262],\"max_tokens\":4,\"params\":{\"temperature\":0},\"seed\":0,\"stop\":[],"
      "\"eos\":[0,5]}",
      "ids text finish stop_reason" },
    { "generate",
      "{\"ids\":[262,5],\"max_tokens\":3,\"params\":{\"temperature\":0.5,\"top_k\":9,\"penalty_"
      "last_n\":-1,\"logit_bias\":{\"7\":2},\"samplers\":[\"bias\",\"top_k\"]},\"sequence\":3}",
      "ids text finish stop_reason" },
    { "process",
      "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":-1,\"prompt_len\":"
      "1,\"penalty_last_n\":2},\"ids\":[0,2,2],\"logits\":[1,-2.5,\"-inf\",3]}",
      "logits" },
    { "process",
      "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[1,2],\"-inf\"],[[0],1.5]]},\"ids\":[3,1],"
      "\"logits\":[1,-2.5,0,3]}",
      "logits" },
    { "process",
      "{\"op\":\"min_new_tokens\",\"params\":{\"eos\":[0,3],\"min_new_tokens\":2,\"prompt_len\":1},"
      "\"ids\":[3,1],\"logits\":[1,-2.5,0,3]}",
      "logits" },
    { "sample",
      "{\"logits\":[1,2,3.5,\"-inf\"],\"ids\":[1,2],\"prompt_length\":1,\"params\":{\"bad_words\":["
      "[2,1]],\"top_p\":0.9,\"suppress_tokens\":[0]},\"seed\":5,\"position\":9}",
      "kept probs token" },
    { "philox", "{\"key\":[1,2],\"counter\":[3,4,5,4294967295]}", "out" },
    { "speculative", "{\"p\":[0.5,0.25,0.125,0.125],\"q\":[0.25,0.75,0,0]}", "accept residual rate" },
    { "generate", "{\"ids\":[262,270,263],\"max_tokens\":6,\"speculate\":4}", "ids text finish stop_reason" },
    { "inspect", "{\"file\":\"tests/golden/small/model.safetensors\"}", "ok tensors parameters" },
    { "process",
      "{\"op\":\"frequency_presence\",\"params\":{\"frequency\":0.5,\"presence\":-1,\"prompt_len\":"
      "1,\"penalty_last_n\":3},\"ids\":[0,1,1],\"logits\":[1,2.5,-3e4,\"-inf\"]}",
      "logits" },
    { "process",
      "{\"op\":\"sequence_bias\",\"params\":{\"bias\":[[[0,1],2.5],[[2],\"-inf\"]]},\"ids\":[0,2,0]"
      ",\"logits\":[1,2,3]}",
      "logits" },
    { "sample",
      "{\"logits\":[1,2.5,-3,\"-inf\"],\"ids\":[0,1],\"prompt_length\":1,\"params\":{"
      "\"temperature\":0.7,\"top_p\":0.9,\"logit_bias\":{\"1\":-2},\"samplers\":[\"bias\","
      "\"temperature\",\"top_p\"]},\"seed\":12,\"sequence\":1,\"position\":5}",
      "kept probs token" },
    { "philox", "{\"key\":[1,23],\"counter\":[456,7890,4294967295,0]}", "out" },
    { "quantize", "{\"type\":\"f16\",\"x\":[1,-2.5,3e4,0.125,-0.0,65504]}", "hex" },
    { "quantize", "{\"type\":\"q4_0\",\"hex\":\"00b8ff8091a2b3c4d5e6f70819293a4b5c6d\"}", "x" } };
  static const char pool[] = "{}[]\",:0123456789-+.eE\\u \tntrueflasxz\xff\xc3\xa9";
  uint64_t seed = suite_seed();
  for (size_t k = 0; k < sizeof seedling / sizeof *seedling; k++) {
    char *all = malloc(400 * 512), *at = all;
    for (int i = 0; i < 400; i++) {
      char line[512];
      size_t n = strlen(seedling[k].line);
      memcpy(line, seedling[k].line, n);
      for (uint64_t times = rnd(&seed) % 4; times > 0; times--) {
        size_t p = rnd(&seed) % n;
        char c = pool[rnd(&seed) % (sizeof pool - 1)];
        switch (rnd(&seed) % 3) {
        case 0: line[p] = c; break;
        case 1: memmove(line + p + 1, line + p, n - p), line[p] = c, n++; break;
        default: memmove(line + p, line + p + 1, n - p - 1), n--;
        }
      }
      memcpy(at, line, n), at += n, *at++ = '\n';
    }
    struct run r = probe(seedling[k].kind, "tests/golden/small", all, (size_t) (at - all));
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(lines_of(&r), 400);
    char *out = r.out;
    for (int i = 0; i < 400; i++, out = strchr(out, '\n') + 1) {
      json_t *j = answer_at(out, 0);
      if (json_object_get(j, "error") != NULL)
        ck_assert_uint_eq(json_object_size(j), 1);
      else
        has_keys(j, seedling[k].keys);
      json_decref(j);
    }
    free(all), done(&r);
  }
}
END_TEST

START_TEST(forward_says_the_same_in_every_way)
{
  static const char *const model[] = { "tests/golden/small", "tests/golden/gpt2",
    "tests/golden/llama", "tests/golden/mistral", "tests/golden/qwen2", "tests/golden/qwen3",
    "tests/golden/llama-stretched" };
  static const char *const way[] = { "\"chunk\":0", "\"chunk\":1", "\"chunk\":2",
    "\"chunk\":4,\"cache\":true", "\"cache\":false", "\"mates\":[[3]]",
    "\"mates\":[[2,2,2,2,2,2,2],[1],[4,5]],\"chunk\":3", "\"cache\":false,\"mates\":[[1,2,3]]",
    "\"chunk\":999" };
  for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
    char in[4096] = "";
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
      snprintf(in + strlen(in), 200, "{\"ids\":[1,5,3,3,2,7,4],\"rows\":[6,0,3,3],%s}\n", way[k]);
    struct run r = probe("forward", model[i], in, strlen(in));
    size_t n = strcspn(r.out, "\n") + 1;
    ck_assert_msg(r.status == 0 && r.out[2] == 'l' && r.n_out == n * (sizeof way / sizeof *way),
      "%s: %s", model[i], r.err);
    for (size_t k = 1; k < sizeof way / sizeof *way; k++)
      ck_assert_msg(memcmp(r.out, r.out + k * n, n) == 0, "%s: %s", model[i], way[k]);
    for (int t = 1; t <= 3; t++) {
      char threads[8],
        *argv[] = { "incipit", "probe", "forward", "-m", (char *) model[i], "-t", threads, NULL };
      snprintf(threads, sizeof threads, "%d", t);
      struct run again = run_words(7, argv, in, strlen(in), 0, 0, "incipit");
      ck_assert_str_eq(r.out, again.out);
      done(&again);
    }
    done(&r);
  }
}
END_TEST

/* the golden lines of the models, through the protocol: what the module says, the protocol says */
START_TEST(golden_lines_through_the_protocol)
{
  static const char *const model[] = { "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral",
    "qwen2", "qwen3" };
  unsigned n = 0;
  for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
    for (int k = 0; k < 3; k++) {
      static const char *const kind[] = { "forward", "logprob", "greedy" };
      char path[256], dir[128], *line = NULL;
      size_t cap = 0;
      snprintf(dir, sizeof dir, "tests/golden/%s", model[i]);
      snprintf(path, sizeof path, "%s/%s.jsonl", dir, kind[k]);
      FILE *f = fopen(path, "r");
      ck_assert_msg(f != NULL, "%s", path);
      while (getline(&line, &cap, f) > 0) {
        json_t *c = json_loads(line, 0, NULL), *q = json_object();
        json_object_set(q, "ids", json_object_get(c, k == 2 ? "prompt_ids" : "ids"));
        if (k == 0) json_object_set_new(q, "rows", json_string("all"));
        if (k == 2) {
          json_t *eos = json_object_get(c, "eos_token_id");
          json_object_set(q, "max_tokens", json_object_get(c, "max_new_tokens"));
          if (json_is_array(eos))
            json_object_set(q, "eos", eos);
          else
            json_object_set_new(
              q, "eos", json_is_integer(eos) ? json_pack("[O]", eos) : json_array());
        }
        char *in = json_dumps(q, 0);
        struct run r = probe(k == 2 ? "generate" : kind[k], dir, in, strlen(in));
        json_t *a = answer_at(r.out, 0);
        double tol = json_number_value(json_object_get(c, "tol")), worst = 0;
        if (k == 0) {
          json_t *want = json_object_get(c, "logits"), *got = json_object_get(a, "logits");
          ck_assert_uint_eq(json_array_size(want), json_array_size(got));
          for (size_t x = 0; x < json_array_size(want); x++)
            for (size_t y = 0; y < json_array_size(json_array_get(want, x)); y++)
              worst = fmax(worst,
                fabs(json_number_value(json_array_get(json_array_get(want, x), y))
                  - json_number_value(json_array_get(json_array_get(got, x), y))));
        } else if (k == 1) {
          json_t *want = json_object_get(c, "logprobs"), *got = json_object_get(a, "logprobs");
          ck_assert_uint_eq(json_array_size(want), json_array_size(got));
          ck_assert(json_is_null(json_array_get(got, 0)));
          for (size_t x = 1; x < json_array_size(want); x++)
            worst = fmax(worst,
              fabs(json_number_value(json_array_get(want, x))
                - json_number_value(json_array_get(got, x))));
        } else {
          ck_assert_msg(json_equal(json_object_get(a, "ids"), json_object_get(c, "ids")), "%s: %s",
            line, r.out);
          ck_assert_str_eq(json_string_value(json_object_get(a, "text")), "");
        }
        ck_assert_msg(worst <= tol, "%s: off by %g, %g is allowed", path, worst, tol);
        json_decref(a), json_decref(c), json_decref(q), free(in), done(&r);
        n++;
      }
      free(line), fclose(f);
    }
  }
  tally("tests/golden through the protocol", n, 0, 0, "");
}
END_TEST

START_TEST(generate_and_the_protocol_are_one)
{
  struct run g = run("generate 'The cat sat' --json"),
             p = run("probe generate <{\"ids\":[262,270,263],\"max_tokens\":40}"),
             q = run("probe generate <{\"ids\":[262,270,263],\"max_tokens\":40,\"eos\":[]}");
  json_t *a = object_of(&g), *b = object_of(&p), *c = object_of(&q),
         *s = json_array_get(json_object_get(a, "sequences"), 0);
  ck_assert(json_equal(json_object_get(s, "ids"), json_object_get(b, "ids")));
  ck_assert(json_equal(json_object_get(s, "text"), json_object_get(b, "text")));
  ck_assert_str_eq(json_string_value(json_object_get(b, "finish")), "stop");
  ck_assert_int_eq(json_integer_value(json_object_get(b, "stop_reason")), 0);
  ck_assert_str_eq(json_string_value(json_object_get(c, "finish")), "length");
  ck_assert_uint_eq(json_array_size(json_object_get(c, "ids")), 40);
  json_decref(a), json_decref(b), json_decref(c), done(&g), done(&p), done(&q);
  p = run(
    "probe generate <{\"ids\":[262,270,263],\"max_tokens\":9,\"eos\":[260,5]}"); /* any id may end a
                                                                                    text; it is in
                                                                                    the ids, not in
                                                                                    the text */
  ck_assert_str_eq(
    p.out, "{\"ids\":[265,260],\"text\":\" on\",\"finish\":\"stop\",\"stop_reason\":260}\n");
  done(&p);
  p = run("probe generate "
          "<{\"ids\":[262],\"max_tokens\":3,\"params\":{\"temperature\":0.0,\"top_p\":1,"
          "\"samplers\":[\"bias\",\"penalties\",\"ngram\",\"temperature\",\"top_k\",\"top_p\","
          "\"min_p\",\"typical_p\"]},\"seed\":0,\"sequence\":0,\"stop\":[],\"include_stop\":false,"
          "\"min_tokens\":0,\"eos\":null,\"cache\":false,\"chunk\":0,\"speculate\":0}");
  ck_assert_msg(strstr(p.out, "\"text\":\" cat sat on\"") != NULL, "%s", p.out);
  done(&p);
  g = run("tokenize --ids 262,270,0,196"), p = run("probe detokenize <{\"ids\":[262,270,0,196]}");
  ck_assert_str_eq(g.out, "The cat<|endoftext|>\xc3");
  ck_assert_str_eq(p.out,
    "{\"hex\":"
    "\"54686520636174\x33\x63\x37\x63\x36\x35\x36\x65\x36\x34\x36\x66\x36\x36\x37\x34\x36\x35\x37"
    "\x38\x37\x34\x37\x63\x33\x65\x63\x33\",\"text\":\"The cat<|endoftext|>\xef\xbf\xbd\"}\n");
  done(&g), done(&p);
}
END_TEST

/* stop strings through both doors, several, over token boundaries, protected and included; the text
 * streamed is the text of the object */
START_TEST(stops_are_the_same_through_both_doors)
{
  static const char *const stops[][2] = { { "--stop sat", "[\"sat\"]" },
    { "--stop 'at o' --stop t", "[\"at o\",\"t\"]" }, { "--stop '. \\xc3\\xa9'", "[\". é\"]" },
    { "--stop nowhere --stop ' the mat.'", "[\"nowhere\",\" the mat.\"]" } };
  unsigned stopped = 0;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 24; k++) {
      char line[400], ask[400];
      int min = k / 2 % 6;
      snprintf(line, sizeof line, "generate The -n %d %s --min-tokens %d%s", 6 + k / 8 * 20,
        stops[i][0], min, k % 2 ? " --include-stop" : "");
      struct run plain = run(line);
      strcat(line, " --json");
      struct run r = run(line);
      snprintf(ask, sizeof ask,
        "{\"ids\":[262],\"max_tokens\":%d,\"stop\":%s,\"min_tokens\":%d,\"include_stop\":%s,"
        "\"chunk\":%d}",
        6 + k / 8 * 20, stops[i][1], min, k % 2 ? "true" : "false", k % 3);
      struct run p = probe("generate", "tests/golden/small", ask, strlen(ask));
      json_t *a = answer_at(p.out, 0), *o = object_of(&r),
             *s = json_array_get(json_object_get(o, "sequences"), 0),
             *why = json_object_get(s, "stop"), *reason = json_object_get(a, "stop_reason");
      ck_assert_msg(json_equal(json_object_get(s, "ids"), json_object_get(a, "ids"))
          && json_equal(json_object_get(s, "text"), json_object_get(a, "text")),
        "%s | %s: %s%s", line, ask, r.out, p.out);
      if (json_is_string(reason)) {
        ck_assert_msg(json_equal(json_object_get(why, "string"), reason), "%s: %s", line, r.out);
        ck_assert_str_eq(json_string_value(json_object_get(a, "finish")), "stop");
        ck_assert_msg(json_array_size(json_object_get(a, "ids")) > (size_t) min, "%s", p.out);
        stopped++;
      } else
        ck_assert_str_eq(json_string_value(json_object_get(a, "finish")),
          json_is_null(reason) ? "length" : "stop");
      const char *text = json_string_value(json_object_get(s, "text"));
      if (strstr(text, "\xef\xbf\xbd") == NULL)
        ck_assert_msg(strlen(text) == plain.n_out && memcmp(text, plain.out, plain.n_out) == 0,
          "%s: %s", line, plain.out);
      json_decref(a), json_decref(o), done(&p), done(&r), done(&plain);
    }
  ck_assert_uint_gt(stopped, 40);
}
END_TEST

/* the protocol's stop and beam: the words of their answers, on pieces and tables that are small
 * enough to be read */
START_TEST(pieces_and_tables_are_answered)
{
  static const struct {
    const char *kind, *ask, *answer;
  } at[] = {
    { "stop", "{\"pieces\":[\"ab\",\"cd\"],\"stop\":[\"abcd\",\"bc\"]}",
      "{\"deltas\":[\"\",\"a\"],\"text\":\"a\",\"stop_reason\":\"bc\",\"tokens_consumed\":2}" },
    { "stop", "{\"pieces_hex\":[\"c3\",\"a9e2\",\"82\"],\"stop\":[]}",
      "{\"deltas\":[\"\",\"é\",\"\xef\xbf\xbd\"],\"text\":\"é\xef\xbf\xbd\",\"stop_reason\":null,"
      "\"tokens_consumed\":3}" },
    { "stop", "{\"pieces\":[\"x\\n\",\"\\ny\"],\"stop\":[\"\\n\\n\"],\"include_stop\":true}",
      "{\"deltas\":[\"x\\n\",\"\\n\"],\"text\":\"x\\n\\n\",\"stop_reason\":\"\\n\\n\",\"tokens_"
      "consumed\":2}" },
    { "stop", "{\"pieces\":[\"a\",\"b\",\"ab\",\"c\"],\"stop\":[\"ab\"],\"min_tokens\":2}",
      "{\"deltas\":[\"\",\"ab\",\"\"],\"text\":\"ab\",\"stop_reason\":\"ab\",\"tokens_consumed\":"
      "3}" },
    { "stop", "{\"pieces\":[]}",
      "{\"deltas\":[],\"text\":\"\",\"stop_reason\":null,\"tokens_consumed\":0}" },
    { "beam",
      "{\"V\":2,\"P\":1,\"table\":[[[0,0],[0,0]]],\"prompt\":[[0],[1,0]],\"eos\":[],\"max_length\":"
      "3,\"num_beams\":2,\"length_penalty\":0,\"num_return_sequences\":2,\"case\":1,\"pad\":null}",
      NULL }
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char *argv[] = { "incipit", "probe", (char *) at[i].kind, NULL };
    struct run p = run_words(3, argv, at[i].ask, strlen(at[i].ask), 0, 0, "incipit");
    json_t *a = answer_at(p.out, 0),
           *want = at[i].answer == NULL ? NULL : json_loads(at[i].answer, 0, NULL);
    if (want != NULL)
      ck_assert_msg(json_equal(a, want), "%s: %s", at[i].ask, p.out);
    else {
      double half = log(2);
      json_t *x = json_object_get(a, "scores"),
             *all = json_loads("[[0,0,0],[0,0,1],[1,0,0],[1,0,1]]", 0, NULL);
      ck_assert_msg(json_equal(json_object_get(a, "sequences"), all), "%s", p.out);
      for (size_t k = 0; k < 4; k++)
        ck_assert_double_eq_tol(
          json_number_value(json_array_get(x, k)), k < 2 ? -2 * half : -half, 1e-12);
      json_decref(all);
    }
    json_decref(want), json_decref(a), done(&p);
  }
}
END_TEST

/* 27 blocks of numbers as ggml's own functions pack them: the same bytes; what these bytes mean,
 * reckoned here; and that packed is the same bytes once more */
START_TEST(blocks_are_those_of_ggml)
{
  static const struct {
    const char *type;
    size_t bytes;
  } at[] = { { "q8_0", 34 }, { "q4_0", 18 } };
  char buffer[4096];
  unsigned n = 0;
  if (shared_file(buffer, sizeof buffer, "vectors/kvquant/ggml_blocks.json") == NULL) return;
  json_t *all = json_load_file(buffer, 0, NULL), *list = json_object_get(all, "cases");
  ck_assert_uint_eq(json_array_size(list), 27);
  for (size_t i = 0; i < 27 * 2; i++) {
    json_t *c = json_array_get(list, i / 2), *hex = json_object_get(c, at[i % 2].type), *x;
    const char *text = json_string_value(hex);
    json_t *question[3] = { json_pack(
                              "{sssO}", "type", at[i % 2].type, "x", json_object_get(c, "x")),
      json_pack("{sssO}", "type", at[i % 2].type, "hex", hex) },
           *answer[3];
    ck_assert_uint_eq(json_string_length(hex), 2 * at[i % 2].bytes);
    for (int k = 0; k < 3; k++) {
      if (k == 2)
        question[k] =
          json_pack("{sssO}", "type", at[i % 2].type, "x", json_object_get(answer[1], "x"));
      char *in = json_dumps(question[k], 0);
      struct run r = probe("quantize", "tests/golden/small", in, strlen(in));
      ck_assert_msg(r.status == 0 && r.n_err == 0 && lines_of(&r) == 1, "%s", r.err);
      answer[k] = answer_at(r.out, 0);
      has_keys(answer[k], k == 1 ? "x" : "hex");
      ck_assert_msg(k == 1 || json_equal(json_object_get(answer[k], "hex"), hex),
        "%s: %s; wanted: %s", in, r.out, text);
      free(in), done(&r);
    }
    unsigned char byte[34];
    for (size_t k = 0; k < at[i % 2].bytes; k++)
      byte[k] = (unsigned char) strtoul((char[3]){ text[2 * k], text[2 * k + 1] }, NULL, 16);
    int half = byte[0] | byte[1] << 8, power = half >> 10 & 31;
    double scale = ldexp((half & 1023) + (power ? 1024 : 0), (power ? power : 1) - 25)
      * (half & 0x8000 ? -1 : 1);
    ck_assert_uint_eq(json_array_size(x = json_object_get(answer[1], "x")), 32);
    for (size_t k = 0; k < 32; k++) {
      double wanted = scale
        * (i % 2 == 0 ? (int8_t) byte[2 + k] : (byte[2 + k % 16] >> (k < 16 ? 0 : 4) & 15) - 8),
             got = json_real_value(json_array_get(x, k));
      ck_assert_msg((float) got == (float) wanted && signbit(got) == signbit(wanted),
        "%s, number %zu: %g; wanted: %g", text, k, got, wanted);
    }
    for (int k = 0; k < 3; k++) json_decref(question[k]), json_decref(answer[k]);
    n++;
  }
  json_decref(all);
  tally("vectors/kvquant/ggml_blocks.json", n, 0, 0, "");
}
END_TEST

/* ---- the oracle outside */
START_TEST(random_questions_against_the_oracle)
{
  char buffer[4096], script[8192], out[65536];
  if (shared_file(buffer, sizeof buffer, "reference/contract.py") == NULL) return;
  if (system("python3 -c 'import json' >/dev/null 2>&1") != 0) {
    tally("reference/contract.py", 0, 0, 1, "no python3");
    return;
  }
  snprintf(script, sizeof script, "python3 tests/checks/contract.py %s/incipit %lu 2>&1", build_dir(),
    (unsigned long) suite_seed());
  int status = shell(script, out, sizeof out);
  char *last = out;
  for (char *at = out; (at = strchr(at, '\n')) != NULL && at[1] != '\0';) last = ++at;
  ck_assert_msg(status == 0, "%s", out);
  tally("reference/contract.py", (unsigned) atoi(last), 0, 0, "");
}
END_TEST

/* every beam has its own score: those of the protocol, whose second prompt has its own, too; as
   many texts as beams, and one more */
START_TEST(every_beam_has_its_score)
{
  struct run r = run("generate --prompt-ids 262,270 -n 5 --num-beams 4 --num-sequences 4 --json");
  struct run p = run("probe beam -m tests/golden/small <{\"prompt\":[[262,270],[1,2]],\"eos\":[0],"
                     "\"max_length\":7,\"num_beams\":4,\"num_return_sequences\":4}");
  struct run q = run("probe beam -m tests/golden/small <{\"prompt\":[[1,2]],\"eos\":[0],"
                     "\"max_length\":7,\"num_beams\":4,\"num_return_sequences\":4}");
  json_t *o = object_of(&r), *a = object_of(&p), *b = object_of(&q),
         *all = json_object_get(o, "sequences");
  json_t *two = json_object_get(a, "scores"), *one = json_object_get(b, "scores");
  ck_assert_msg(json_array_size(all) == 4 && json_array_size(two) == 8, "%s%s", r.out, p.out);
  for (size_t i = 0; i < 4; i++) {
    json_t *score = json_object_get(json_array_get(all, i), "score"),
           *want = json_array_get(two, i);
    ck_assert_msg(json_equal(score, want), "%zu: %s%s", i, r.out, p.out);
    ck_assert_msg(
      json_equal(json_array_get(two, 4 + i), json_array_get(one, i)), "%zu: %s", i, p.out);
    ck_assert(i == 0 || !json_equal(want, json_array_get(two, i - 1)));
    ck_assert(!json_equal(want, json_array_get(one, i)));
  }
  json_decref(o), json_decref(a), json_decref(b), done(&r), done(&p), done(&q);
  r = run("generate The -n 2 --num-beams 4 --num-sequences 5");
  ck_assert_msg(
    r.status == 2 && strstr(r.err, "is 5; wanted: 1 to 4, the number") != NULL, "%s", r.err);
  done(&r);
}
END_TEST

/* a question, and what its answer says: integers longer than 63 bits are numbers all the same, and
   what looks like one in a text stays as it is; lists and depths just full, and one more */
START_TEST(questions_at_their_limits)
{
  static const struct {
    const char *kind, *in, *says;
  } c[] = { { "sample", "{\"logits\":[9223372036854775807,1]}", "\"token\":0" },
    { "sample", "{\"logits\":[9223372036854775808,1]}", "\"token\":0" },
    { "sample", "{\"logits\":[-9223372036854775809,1]}", "\"token\":1" },
    { "sample", "{\"logits\":[1,9999999999999999999,2]}", "\"token\":1" },
    { "sample", "{\"logits\":[1,12345678901234567890123]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1e0000000000000000000038]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1E+0000000000000000000038]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808,1e-0000000000000000000038]}", "\"token\":0" },
    { "sample", "{\"logits\":[9223372036854775808,1.0000000000000000000001e20]}", "\"token\":1" },
    { "sample", "{\"logits\":[9223372036854775808],\"seed\":9223372036854775808}",
      "\"seed\\\" is" },
    { "sample", "{\"logits\":[1],\"seed\":9223372036854775807}", "\"token\":0" },
    { "process", "{\"op\":\"\\\"9223372036854775808\\\\\",\"logits\":[9223372036854775808]}",
      "`\\\"9223372036854775808\\\\'" },
    { "process", "{\"op\":\"\\\\\\\"9223372036854775808 1\",\"logits\":[9223372036854775808]}",
      "`\\\\\\\"9223372036854775808 1'" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"0\":9}}}", "\"token\":0" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"2\":9}}}", "\"token\":2" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"3\":9}}}",
      "id \\\"3\\\"; wanted: 0 to 2" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"02\":9}}}", "id \\\"02\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"00\":9}}}", "id \\\"00\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"\":9}}}", "id \\\"\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"+1\":9}}}", "id \\\"+1\\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"1 \":9}}}", "id \\\"1 \\\"" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"logit_bias\":{\"18446744073709551617\":9}}}",
      "id \\\"18" },
    { "sample", "{\"logits\":[1,2,3],\"params\":{\"samplers\":[\"bias\",7]}}",
      "\\\"samplers\\\"[1] is no" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,1],\"prompt_length\":2}", "\"token\":" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,1],\"prompt_length\":3}", "is 3; wanted: 0 to 2" },
    { "sample", "{\"logits\":[1,2],\"ids\":[1,2]}", "\\\"ids\\\"[1] is no id" },
    { "sample", "{\"logits\":[1],\"position\":4294967295,\"sequence\":4294967295}", "\"token\":0" },
    { "sample", "{\"logits\":[1],\"position\":4294967296}", "\\\"position\\\" is 4294967296" },
    { "philox", "{\"key\":[4294967295,0],\"counter\":[0,0,0,4294967295]}", "\"out\":[" },
    { "philox", "{\"key\":[1,4294967296],\"counter\":[0,0,0,0]}", "\\\"key\\\"[1] is no word" },
    { "philox", "{\"key\":[1,2],\"counter\":[0,0,0,4294967296]}", "\\\"counter\\\"[3] is no word" },
    { "philox", "{\"key\":[1,2],\"counter\":[0,0,0]}", "has 3 words; wanted: 4" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"FF7b\"}", "\"x\":[65504.0]" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"aAbB\"}", "\"x\":[-0.958" },
    { "quantize", "{\"type\":\"f16\",\"hex\":\"003C\"}", "\"x\":[1.0]" },
    { "quantize", "{\"type\":\"bf16\",\"hex\":\"803F0\"}", "two digits for each" },
    { "quantize", "{\"type\":\"bf16\",\"hex\":\"803f00\"}",
      "3 bytes in BF16; wanted: a multiple "
      "of 2" },
    { "forward", "{\"ids\":[1,2],\"rows\":[2]}",
      "\\\"rows\\\"[0] is no row; wanted: an integer "
      "from 0 to 1" },
    { "forward", "{\"ids\":[1,2],\"rows\":[1,-1]}", "\\\"rows\\\"[1] is no row" },
    { "forward", "{\"ids\":[1],\"mates\":[[2],[]]}", "\\\"mates\\\" has a text without ids" },
    { "forward", "{\"ids\":[],\"mates\":[[2]]}", "\\\"ids\\\" has a text without ids" },
    { "forward", "{\"ids\":[1],\"mates\":[[2],[286]]}",
      "\\\"mates\\\"[0] is no id; wanted: an "
      "integer from 0" },
    { "stop", "{\"pieces\":[\"ab\",\"c\"],\"stop\":[\"q\",\"\"]}", "\\\"stop\\\"[1] is no string" },
    { "stop", "{\"pieces\":[\"ab\",\"ca\"],\"stop\":[\"ax\"]}", "\"deltas\":[\"ab\",\"ca\"]" },
    { "stop", "{\"pieces\":[\"xa\",\"bx\"],\"stop\":[\"q\",\"ab\"]}",
      "\"deltas\":[\"x\",\"\"],\"text\":\"x\"" },
    { "beam",
      "{\"V\":65535,\"P\":1,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "0 sheets" },
    { "beam",
      "{\"V\":65536,\"P\":1,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "\\\"V\\\" is 65536" },
    { "beam",
      "{\"V\":1,\"P\":65536,\"table\":[],\"prompt\":[],\"eos\":[],\"max_length\":1,"
      "\"num_beams\":1}",
      "\\\"P\\\" is 65536" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char *argv[] = { "incipit", "probe", (char *) c[i].kind, NULL };
    struct run r = run_words(3, argv, c[i].in, strlen(c[i].in), 0, 0, "incipit");
    ck_assert_msg(r.status == 0 && strstr(r.out, c[i].says), "%s: %s%s; wanted: %s", c[i].in, r.out,
      r.err, c[i].says);
    done(&r);
  }
  for (int depth = JSONFILE_MAX_DEPTH - 1; depth <= JSONFILE_MAX_DEPTH + 1; depth++) {
    char in[400] = "{\"x\":", *argv[] = { "incipit", "probe", "philox", NULL };
    for (int i = 1; i < depth; i++) strcat(in, i % 2 ? "[" : "{\"y\":");
    if (depth % 2) strcat(in, "1"); /* an object needs a value, a list needs none */
    for (int i = depth - 1; i > 0; i--) strcat(in, i % 2 ? "]" : "}");
    strcat(in, "}");
    struct run r = run_words(3, argv, in, strlen(in), 0, 0, "incipit");
    const char *want =
      depth <= JSONFILE_MAX_DEPTH ? "is no key here" : "this line has 65 brackets in each other";
    ck_assert_msg(strstr(r.out, want) != NULL, "%d: %s %s", depth, in, r.out);
    done(&r);
  }
}
END_TEST

/* lines and streams as long as the rooms that they are read with, and a byte less and more */
START_TEST(lines_as_long_as_a_room)
{
  for (size_t n = 4094; n <= 8194; n += n == 4098 ? 8190 - 4098 : 1) {
    char *text = malloc(n + 40), *argv[] = { "incipit", "tokenize", "-", "--count", NULL };
    for (size_t i = 0; i < n; i++) text[i] = (char) ('!' + i % 7 * 2);
    struct run r = run_words(4, argv, text, n, 0, 0, "incipit");
    ck_assert_uint_eq(strtoul(r.out, NULL, 10), n);
    done(&r);
    size_t head = strlen("{\"text\":\""), body = n - head - 2;
    char *lines = malloc(2 * n + 4), *p = lines;
    for (int k = 0; k < 2; k++) {
      p += sprintf(p, "{\"text\":\"");
      for (size_t i = 0; i < body; i++) *p++ = (char) (k ? 'b' : 'a');
      p += sprintf(p, "\"}\n");
    }
    r = probe("tokenize", "tests/golden/small", lines, (size_t) (p - lines));
    struct run bare = probe("tokenize", "tests/golden/small", lines, (size_t) (p - lines) - 1); /* the last one without its end */
    ck_assert_str_eq(bare.out, r.out);
    done(&bare);
    for (size_t k = 0; k < 2; k++) {
      json_t *a = answer_at(r.out, k), *ids = json_object_get(a, "ids");
      static char all[60000];
      size_t at = 0;
      for (size_t i = 0; i < json_array_size(ids); i++)
        at += (size_t) sprintf(
          all + at, "%s%d", i ? "," : "", (int) json_integer_value(json_array_get(ids, i)));
      char *back[] = { "incipit", "tokenize", "--ids", all, NULL };
      struct run b = run_words(4, back, "", 0, 0, 0, "incipit");
      ck_assert_msg(
        b.n_out == body && strspn(b.out, k ? "b" : "a") == body, "%zu of %zu", b.n_out, body);
      json_decref(a), done(&b);
    }
    free(text), free(lines), done(&r);
  }
}
END_TEST

/* brackets in each other are counted wherever they stand: in the first field of an object, in its last, in a list */
START_TEST(brackets_are_counted_everywhere)
{
  for (int less = 0; less < 2; less++)
    for (int at = 0; at < 3; at++) {
      char text[400], nested[200] = "";
      struct error why = { "" };
      int deep = JSONFILE_MAX_DEPTH - (at == 2 ? 2 : 1) + (less ? 0 : 1);
      memset(nested, '[', (size_t) deep), memset(nested + deep, ']', (size_t) deep), nested[2 * deep] = '\0';
      snprintf(text, sizeof text, at == 0 ? "{\"a\":%s,\"b\":1}" : at == 1 ? "{\"a\":1,\"b\":%s}" : "{\"a\":[0,%s,0]}", nested);
      json_t *o = jsonfile_object(text, strlen(text), &why);
      ck_assert_msg((o != NULL) == (less == 1) && (o != NULL || strstr(why.text, "brackets in each other") != NULL), "%s: %s", text, why.text);
      json_decref(o);
    }
}
END_TEST

int main(void)
{
  room_open("probe");
  Suite *s = suite_create("probe");
  TCase *t = tcase_create("choices");
  tcase_add_test(t, stops_are_the_same_through_both_doors);
  tcase_add_test(t, pieces_and_tables_are_answered);
  suite_add_tcase(s, t);
  t = tcase_create("protocol");
  tcase_add_test(t, cases_that_travel);
  tcase_add_test(t, hostile_lines_get_one_error_each_and_change_nothing);
  tcase_add_test(t, lines_changed_at_random);
  tcase_add_test(t, forward_says_the_same_in_every_way);
  tcase_add_test(t, golden_lines_through_the_protocol);
  tcase_add_test(t, generate_and_the_protocol_are_one);
  tcase_add_test(t, blocks_are_those_of_ggml);
  tcase_add_test(t, random_questions_against_the_oracle);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, every_beam_has_its_score);
  tcase_add_test(t, questions_at_their_limits);
  tcase_add_test(t, lines_as_long_as_a_room);
  tcase_add_test(t, brackets_are_counted_everywhere);
  suite_add_tcase(s, t);
  return suite_run(s);
}
