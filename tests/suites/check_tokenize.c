/* tokenize and inspect: their objects, special tokens, characters at the edge of text. */
#define _GNU_SOURCE
#include <jansson.h>
#include <sys/stat.h>
#include <math.h>
#include "room.h"

START_TEST(tokenize_and_inspect_print_the_promised_objects)
{
  struct run r = run("tokenize 'The cat é' --json"), i = run("inspect tests/golden/small --json"),
             f = run("inspect tests/golden/small/model.safetensors --json");
  json_t *o = object_of(&r);
  has_keys(o, "ids pieces bytes");
  ck_assert_int_eq(json_integer_value(json_object_get(o, "bytes")), 10);
  ck_assert_str_eq(json_string_value(json_array_get(json_object_get(o, "pieces"), 1)), " cat");
  json_decref(o);
  o = object_of(&i);
  has_keys(o, "architecture parameters parts context config tensors tokenizer ignored_fields "
              "unknown_fields");
  has_keys(json_object_get(o, "tokenizer"), "kind vocab_size special");
  has_keys(json_array_get(json_object_get(json_object_get(o, "tokenizer"), "special"), 0),
    "id text role from");
  json_t *tensors = json_object_get(o, "tensors");
  int64_t elements = 0;
  for (size_t k = 0; k < json_array_size(tensors); k++) {
    json_t *t = json_array_get(tensors, k), *shape = json_object_get(t, "shape");
    has_keys(t, "name type shape bytes");
    int64_t n = 1;
    for (size_t d = 0; d < json_array_size(shape); d++)
      n *= json_integer_value(json_array_get(shape, d));
    ck_assert_int_eq(json_integer_value(json_object_get(t, "bytes")), 2 * n);
    elements += n;
  }
  ck_assert_int_eq(json_integer_value(json_object_get(o, "parameters")), elements);
  ck_assert_int_eq(json_integer_value(json_object_get(o, "context")), 64);
  ck_assert_uint_gt(json_array_size(json_object_get(o, "ignored_fields")), 0);
  has_keys(json_array_get(json_object_get(o, "ignored_fields"), 0), "file field reason");
  json_t *g = object_of(&f);
  has_keys(g, "architecture parameters parts context config tensors tokenizer ignored_fields "
              "unknown_fields");
  ck_assert(json_equal(json_object_get(g, "tensors"), tensors)
    && json_equal(json_object_get(g, "parameters"), json_object_get(o, "parameters")));
  json_decref(g), json_decref(o), done(&r), done(&i), done(&f);
}
END_TEST

/* of four experts a token uses two; an expert has three matrices of 16 by 4, and there are two layers. A model without experts says
   nothing of it */
START_TEST(inspect_says_what_a_token_uses)
{
  for (int sparse = 0; sparse < 2; sparse++) {
    struct run j = run(sparse ? "inspect tests/golden/gguf/qwen2_moe.gguf --json" : "inspect tests/golden/gguf/phi.gguf --json");
    struct run t = run(sparse ? "inspect tests/golden/gguf/qwen2_moe.gguf" : "inspect tests/golden/gguf/phi.gguf");
    json_t *o = object_of(&j), *used = json_object_get(o, "active_parameters");
    char said[60];
    ck_assert((used != NULL) == sparse);
    if (sparse) ck_assert_int_eq(json_integer_value(json_object_get(o, "parameters")) - json_integer_value(used), 2 * 3 * 16 * 4 * 2);
    snprintf(said, sizeof said, "\nof these, a token uses: %d\n", (int) json_integer_value(used));
    ck_assert_msg((strstr(t.out, said) != NULL) == sparse && t.status == 0, "%s", t.out);
    json_decref(o), done(&j), done(&t);
  }
}
END_TEST

/* the settings as they are shown, in both forms, against what the files say, read by hand */
START_TEST(inspect_shows_what_the_files_say)
{
  static const char *const names = "vocab_size n_positions d_model d_inner n_layers n_heads n_kv_heads head_dim window"
    " window_layers norm_eps scaled scaled_by_layer layer_norm learned_positions gated qkv_bias out_bias mlp_bias"
    " qk_norm tied rope_linear rope_llama3 rope_yarn rope_theta rope_factor rope_attention do_sample";
  static const struct {
    const char *model;
    double value[28];
  } at[] = {
    { "small", { 286, 64, 32, 48, 2, 4, 2, 8, 0, 0, 1e-5, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 10000, 0, 1, 0 } },
    { "gpt2-unscaled", { 17, 10, 12, 48, 3, 3, 3, 4, 0, 0, 1e-5, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0 } },
    { "qwen3-layers", { 16, 14, 12, 16, 3, 2, 2, 6, 4, 2, 1e-6, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1000, 4, 1, 0 } },
    { "llama-stretched", { 21, 24, 12, 19, 2, 3, 1, 8, 0, 0, 1e-6, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 500, 4, 1, 0 } },
    { "qwen2-yarn", { 18, 24, 16, 20, 3, 2, 1, 8, 3, 2, 1e-6, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1000000, 8,
                      (1 + 0.15 * 2.0794415416798357) / (1 + 0.05 * 2.0794415416798357), 0 } } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    char line[200], name[40], want[200];
    snprintf(line, sizeof line, "inspect tests/golden/%s --json", at[i].model);
    struct run r = run(line);
    line[strlen(line) - 7] = '\0';
    struct run t = run(line);
    json_t *o = object_of(&r), *config = json_object_get(o, "config"), *tensors = json_object_get(o, "tensors");
    ck_assert_uint_eq(json_object_size(config), 28);
    const char *next = names, *lines = t.out;
    for (int k = 0; k < 28; k++, next += strspn(next, " ")) {
      size_t n = strcspn(next, " ");
      snprintf(name, sizeof name, "%.*s", (int) n, next), next += n;
      json_t *x = json_object_get(config, name);
      double value = json_is_boolean(x) ? json_is_true(x) : json_number_value(x);
      ck_assert_msg(x != NULL && fabs(value - at[i].value[k]) <= 1e-6 * fabs(at[i].value[k]), "%s: %s is %g; wanted: %g",
        at[i].model, name, value, at[i].value[k]);
      snprintf(want, sizeof want, "\n  %-20s ", name); /* and the same on the screen, in the same order */
      lines = strstr(lines, want);
      ck_assert_msg(lines != NULL, "%s: %s is not in its place", at[i].model, name);
      lines += strlen(want);
      if (json_is_boolean(x)) ck_assert(strncmp(lines, json_is_true(x) ? "true\n" : "false\n", 5) == 0);
      else ck_assert(strtod(lines, NULL) == json_number_value(x));
    }
    snprintf(want, sizeof want, "\nparameters: %ld\n", (long) json_integer_value(json_object_get(o, "parameters")));
    ck_assert(strstr(t.out, want) != NULL);
    snprintf(want, sizeof want, "\ntensors: %zu\n", json_array_size(tensors));
    ck_assert(strstr(t.out, want) != NULL);
    for (size_t k = 0; k < json_array_size(tensors); k++) {
      json_t *x = json_array_get(tensors, k), *shape = json_object_get(x, "shape");
      int n = snprintf(want, sizeof want, "\n  %s %s [%ld", json_string_value(json_object_get(x, "name")),
        json_string_value(json_object_get(x, "type")), (long) json_integer_value(json_array_get(shape, 0)));
      if (json_array_size(shape) > 1)
        n += snprintf(want + n, sizeof want - (size_t) n, ", %ld", (long) json_integer_value(json_array_get(shape, 1)));
      snprintf(want + n, sizeof want - (size_t) n, "] %ld bytes\n", (long) json_integer_value(json_object_get(x, "bytes")));
      ck_assert_msg(strstr(t.out, want) != NULL, "%s: %s lacks %s", at[i].model, t.out, want);
    }
    json_t *tokenizer = json_object_get(o, "tokenizer");
    snprintf(want, sizeof want, "\ntokenizer: %s, %ld ids; special tokens:\n",
      json_string_value(json_object_get(tokenizer, "kind")),
      (long) json_integer_value(json_object_get(tokenizer, "vocab_size")));
    ck_assert_msg(strstr(t.out, want) != NULL, "%s lacks %s", t.out, want);
    if (i == 0) ck_assert(strstr(t.out, ", 286 ids;") != NULL);
    json_decref(o), done(&r), done(&t);
  }
}
END_TEST

/* every character in quotation marks, for the eye and for JSON: control characters are escaped,
   those just before and just behind them are not */
START_TEST(characters_at_the_edge_of_text)
{
  for (uint32_t c = 1; c < 0x3000; c++) {
    unsigned char b[4];
    size_t n = 0, size;
    char *got, want[40] = "\"";
    if (c < 0x80)
      b[n++] = (unsigned char) c;
    else if (c < 0x800)
      b[n++] = (unsigned char) (0xc0 | c >> 6);
    else
      b[n++] = (unsigned char) (0xe0 | c >> 12), b[n++] = (unsigned char) (0x80 | (c >> 6 & 63));
    if (c >= 0x80) b[n++] = (unsigned char) (0x80 | (c & 63));
    FILE *f = open_memstream(&got, &size);
    prompt_quote_piece(f, b, n), fclose(f);
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    if (c == '\n' || c == '\t')
      strcat(want, c == '\n' ? "\\n" : "\\t");
    else if (c == '"' || c == '\\')
      sprintf(want, "\"\\%c", (char) c);
    else
      for (size_t i = 0; i < n; i++) sprintf(want + strlen(want), control ? "\\x%02x" : "%c", b[i]);
    strcat(want, "\"");
    ck_assert_msg(strcmp(got, want) == 0, "U+%04X: %s; wanted: %s", c, got, want);
    free(got);
  }
  char text[130] = "";
  for (int c = 1; c < 128; c++) text[c - 1] = (char) c;
  char *argv[] = { "incipit", "tokenize", text, "--json", NULL };
  struct run r = run_words(4, argv, "", 0, 0, 0, "incipit");
  json_t *o = object_of(&r), *pieces = json_object_get(o, "pieces");
  char back[130] = "";
  for (size_t i = 0; i < json_array_size(pieces); i++)
    strcat(back, json_string_value(json_array_get(pieces, i)));
  ck_assert_str_eq(back, text);
  for (size_t i = 0; i + 1 < r.n_out; i++)
    ck_assert_msg((unsigned char) r.out[i] >= 0x20 && r.out[i] != 0x7f, "%s", r.out);
  ck_assert(strstr(r.out, "\\u007f") && strstr(r.out, "\\u001f") && strstr(r.out, "\\u0001"));
  json_decref(o), done(&r);
}
END_TEST

/* what a model's files say of tokens that begin and end, each once and in its role; a window that
   every layer has is counted for each */
START_TEST(special_tokens_are_listed_once)
{
  make_begun();
  static const struct {
    const char *model, *eos, *list;
  } c[] = { { "begun", "0",
              "0 eos generation_config.json|284 bos tokenizer.json|285 special "
              "tokenizer.json|" },
    { "closed", "0",
      "0 eos generation_config.json|284 bos tokenizer.json|285 special "
      "tokenizer.json|" },
    { "begun", "[0,285]",
      "0 eos generation_config.json|285 eos generation_config.json|"
      "284 bos tokenizer.json|" },
    { "begun", "[285,284]",
      "285 eos generation_config.json|284 eos generation_config.json|"
      "284 bos tokenizer.json|0 special tokenizer.json|" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char line[200], list[400] = "";
    set_field(c[i].model, "generation_config.json", "eos_token_id", c[i].eos);
    snprintf(line, sizeof line, "inspect @/%s --json", c[i].model);
    struct run r = run(line);
    json_t *o = object_of(&r), *all = json_object_get(json_object_get(o, "tokenizer"), "special"),
           *x;
    size_t k;
    json_array_foreach(all, k, x) snprintf(list + strlen(list), 80, "%d %s %s|",
      (int) json_integer_value(json_object_get(x, "id")),
      json_string_value(json_object_get(x, "role")), json_string_value(json_object_get(x, "from")));
    ck_assert_str_eq(list, c[i].list);
    json_decref(o), done(&r);
  }
  static const struct {
    const char *model;
    int64_t layers;
  } w[] = { { "mistral", 2 }, { "qwen3-layers", 2 }, { "llama", 0 } };
  for (size_t i = 0; i < 3; i++) {
    char line[100];
    snprintf(line, sizeof line, "inspect tests/golden/%s --json", w[i].model);
    struct run r = run(line);
    json_t *o = object_of(&r);
    ck_assert_int_eq(number_at(o, "config", "window_layers"), w[i].layers);
    json_decref(o), done(&r);
  }
}
END_TEST

/* a text that has just as many pairs as are asked for, one more and one less */
START_TEST(a_text_with_just_enough_pairs)
{
  char path[8192], line[9000], said[200];
  spill_file("empty", "pairs", "abababab cdcdcdcd", 0);
  size_t has = 0;
  for (int step = 0; step < 4; step++) {
    size_t asked = step == 0 ? 40 : has + 2 - (size_t) step;
    snprintf(line, sizeof line, "tokenize --train %s --vocab-size %zu --out @/learnt",
      place(path, "empty", "pairs"), 257 + asked);
    struct run r = run(line);
    if (step == 0) has = strtoul(strstr(r.err, "of them ") + 8, NULL, 10);
    size_t n = asked < has ? asked : has;
    snprintf(said, sizeof said, ": %zu ids, of them %zu merges%s\n", 257 + n, n,
      asked > has ? "; the text has no more pairs" : "");
    ck_assert_msg(has > 3 && has < 40 && strstr(r.err, said) != NULL, "%zu: %s; wanted: %s", asked,
      r.err, said);
    done(&r);
  }
  unlink(place(path, "empty", "pairs"));
}
END_TEST

/* what cannot be written is said before anything is learnt, and stays what it is; so does the text */
START_TEST(a_vocabulary_replaces_only_a_file)
{
  char path[8192], text[8192], line[20000];
  struct stat st;
  spill_file("empty", "pairs", "abababab cdcdcdcd", 0);
  snprintf(line, sizeof line, "mkdir -p %s; mkfifo %s/tokenizer.json", place(path, "learnt-pipe", ""), place(text, "learnt-pipe", ""));
  ck_assert_int_eq(system(line), 0);
  snprintf(line, sizeof line, "tokenize --train %s --vocab-size 260 --out @/learnt-pipe", place(text, "empty", "pairs"));
  struct run r = run(line);
  ck_assert_msg(r.status == 1 && strstr(r.err, "tokenizer.json: this is a pipe; wanted: a regular file") != NULL, "%s", r.err);
  done(&r);
  ck_assert(lstat(place(path, "learnt-pipe", "tokenizer.json"), &st) == 0 && S_ISFIFO(st.st_mode) && unlink(path) == 0);
  ck_assert_int_eq(link(text, path), 0);
  r = run(line);
  ck_assert_msg(r.status == 1 && strstr(r.err, "tokenizer.json: is the text to learn from; wanted: another folder") != NULL, "%s", r.err);
  done(&r);
  ck_assert(stat(text, &st) == 0 && st.st_size == 17 && unlink(path) == 0 && unlink(text) == 0);
  ck_assert_int_eq(rmdir(place(path, "learnt-pipe", "")), 0); /* nothing is left in it */
}
END_TEST

/* a vocabulary that loses the first blank of a text loses it where a text begins, and not behind a
   prompt: so what must match is written as it is, in as few tokens as that takes */
START_TEST(a_first_blank_is_lost_only_at_the_beginning)
{
  static const char tokenizer[] =
    "{\"added_tokens\":[{\"id\":0,\"content\":\"<e>\","
    "\"special\":true}],"
    "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"
    "\"content\":\"\xe2\x96\x81\"},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
    "\"pattern\":{\"String\":"
    "\"\xe2\x96\x81\"},\"content\":\" \"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" "
    "\","
    "\"start\":1,\"stop\":0}]},\"model\":{\"type\":\"BPE\",\"vocab\":{\"<e>\":0,\"a\":1,\"b\":2,"
    "\"\xe2\x96\x81\":3,\"ab\":4,\"\xe2\x96\x81"
    "ab\":5},\"merges\":[[\"a\",\"b\"],"
    "[\"\xe2\x96\x81\","
    "\"ab\"]]}}                                                        ";
  static const struct {
    const char *prompt, *must;
    int tokens;
    const char *text;
  } c[] = { { "a", " ab", 1, " ab" }, { "a", "ab", 1, "ab" }, { "''", "ab", 1, "ab" },
    { "''", " ab", 4, "" }, { "' '", " ab", 1, " ab" }, { "a", "  ab", 2, "  ab" } };
  variant("strips", NULL), spill_file("strips", "tokenizer.json", tokenizer, 0);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++)
    for (int n = c[i].tokens - 1; n < 4; n++) {
      char line[200];
      snprintf(line, sizeof line, "generate -m @/strips -p %s --regex '%s' -n %d", c[i].prompt,
        c[i].must, n);
      struct run r = run(line);
      if (n < c[i].tokens)
        ck_assert_msg(r.status != 0 && r.n_out == 0, "%s: %s", line, r.out);
      else
        ck_assert_msg(
          r.status == 0 && strcmp(r.out, c[i].text) == 0, "%s: %s%s", line, r.out, r.err);
      done(&r);
    }
  /* and a second text begins as the first did */
  struct run r = run("generate -m @/strips -p '' -n 2 --logit-bias 5=1000 --num-sequences 3");
  ck_assert_msg(strcmp(r.out, "ab ab\nab ab\nab ab\n") == 0, "%s%s", r.out, r.err);
  done(&r);
}
END_TEST

int main(void)
{
  room_open("tokenize");
  Suite *s = suite_create("tokenize");
  TCase *t = tcase_create("scripts");
  tcase_add_test(t, tokenize_and_inspect_print_the_promised_objects);
  tcase_add_test(t, inspect_shows_what_the_files_say);
  tcase_add_test(t, inspect_says_what_a_token_uses);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, characters_at_the_edge_of_text);
  tcase_add_test(t, special_tokens_are_listed_once);
  tcase_add_test(t, a_text_with_just_enough_pairs);
  tcase_add_test(t, a_vocabulary_replaces_only_a_file);
  tcase_add_test(t, a_first_blank_is_lost_only_at_the_beginning);
  suite_add_tcase(s, t);
  return suite_run(s);
}
