/* Tokenizers, learnt here or read from their files: golden cases, small descriptions, whole and
   broken, and memory that is refused. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <utf8proc.h>
#include "tokens.h"
#include "tokenizer/tokenizer_internal.h"
#include "tokenizer-json/dialects.h"

/* one tokenizer in several threads at once, each with a book of its own: the ids are those of one
 * thread, and no thread takes memory from the tokenizer's book */
enum { CUTTERS = 4, CUTS = 400 };
struct cutter {
  const struct tokenizer *t;
  uint64_t seed, sum;
  struct memory m;
  pthread_t thread;
  bool ok;
};
static void *cut_texts(void *ctx)
{
  struct cutter *c = ctx;
  static const char *const word[] = { "The cat", " sat", "\n\n", " 1234", "  ", "'ll", "\xc3\xa9t",
    "\xe2\x82\xac", "\xff", "User:", "<|endoftext|>" };
  c->ok = true, c->sum = 0;
  for (int i = 0; i < CUTS; i++) {
    char text[400] = "";
    struct ids out = { .n = 0 };
    for (size_t k = rnd(&c->seed) % 30; k > 0; k--) strcat(text, word[rnd(&c->seed) % 11]);
    c->ok = c->ok && tokenizer_encode(c->t, &c->m, text, strlen(text), true, true, &out, NULL);
    for (size_t k = 0; k < out.n; k++) c->sum = (c->sum ^ out.id[k]) * 0x100000001b3;
    ids_free(&c->m, &out);
  }
  return NULL;
}
START_TEST(one_tokenizer_serves_several_threads)
{
  static struct cutter alone[CUTTERS], together[CUTTERS];
  struct tokenizer *t = tokenizer_open(&M, "models/pocket", NULL);
  ck_assert_ptr_nonnull(t);
  uint64_t requests = M.all.requests;
  for (int i = 0; i < CUTTERS; i++) {
    alone[i] = (struct cutter){ .t = t, .seed = 17 + (uint64_t) i }, together[i] = alone[i];
    cut_texts(&alone[i]);
  }
  for (int i = 0; i < CUTTERS; i++)
    ck_assert_int_eq(pthread_create(&together[i].thread, NULL, cut_texts, &together[i]), 0);
  for (int i = 0; i < CUTTERS; i++) {
    ck_assert_int_eq(pthread_join(together[i].thread, NULL), 0);
    ck_assert(alone[i].ok && together[i].ok && alone[i].sum == together[i].sum);
    ck_assert(together[i].m.all.live == 0 && together[i].m.all.requests == alone[i].m.all.requests);
  }
  ck_assert_uint_eq(M.all.requests, requests);
  tokenizer_close(&M, t);
}
END_TEST

START_TEST(golden_tokenizers)
{
  static const char *const name[] = { "gpt2", "llama3", "small-added", "small-llama3", "qwen3",
    "llama2-legacy", "llama2-metaspace", "mistral-v3" };
  for (size_t i = 0; i < 8; i++) {
    static const char *const file[] = { "cases.jsonl", "stream.jsonl" };
    char where[200], buffer[400];
    snprintf(where, sizeof where, "golden/tokenizers/%s", name[i]);
    const char *path = shared_file(buffer, sizeof buffer, where);
    if (path == NULL) continue;
    struct error why;
    struct tokenizer *t = tokenizer_open(&M, path, &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    for (int k = 0; k < 2; k++) {
      char cases[500], label[300];
      snprintf(cases, sizeof cases, "%s/%s", path, file[k]);
      snprintf(label, sizeof label, "%s/%s", where, file[k]);
      unsigned failed = 0, good = golden(t, cases, &failed);
      tally(label, good, failed, 0, "");
      ck_assert_msg(failed == 0, "%s: %u failed", label, failed);
    }
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* small vocabularies of our own, which travel with the project: answers of Hugging Face's library
   for the file that our trainer wrote, for a file of Llama 3's kind made of it, and for the two
   files of GPT-2's time under both pairs of names; and vocabularies that begin with characters, in
   Llama 2's form, in Mistral's, and as SentencePiece keeps them */
START_TEST(travelling_tokenizers)
{
  static const char *const from[][2] = { { "plain", "plain" }, { "llama", "llama" },
    { "two-files", "plain" }, { "other-names", "plain" }, { "pieces", "pieces" },
    { "spaces", "spaces" }, { "pieces-model", "pieces-model" }, { "unigram", "unigram" },
    { "unigram-model", "unigram-model" } };
  size_t n, n_then, n_now;
  char *text = slurp("tests/golden/tokenizers/text.txt", &n), now[] = "/tmp/incipit-learnt-XXXXXX";
  struct bpe_merge *merge;
  struct error why;
  ck_assert(bpe_train(&M, text, n, split_gpt2, 400, &merge, &n_now, &why));
  ck_assert_uint_eq(n_now, 400);
  close(mkstemp(now));
  if (!tokenizer_write(&M, now, merge, n_now, &why)) ck_abort_msg("%s", why.text);
  char *a = slurp("tests/golden/tokenizers/plain/tokenizer.json", &n_then), *b = slurp(now, &n_now);
  ck_assert_msg(n_then == n_now && memcmp(a, b, n_now) == 0, "the page is not learnt as it was");
  unlink(now);
  bpe_forget(&M, merge);
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    char path[300], label[300];
    snprintf(path, sizeof path, "tests/golden/tokenizers/%s", from[i][0]);
    struct tokenizer *t = tokenizer_open(&M, path, &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    for (int k = 0; k < (i < 4 ? 2 : 1); k++) {
      snprintf(path, sizeof path, "tests/golden/tokenizers/%s/%s.jsonl", from[i][1],
        k ? "stream" : "cases");
      snprintf(
        label, sizeof label, "tests/golden/tokenizers/%s: %s", from[i][0], k ? "streams" : "cases");
      unsigned failed = 0, good = golden(t, path, &failed);
      tally(label, good, failed, 0, "");
      ck_assert_msg(failed == 0, "%s: %u failed", label, failed);
    }
    tokenizer_close(&M, t);
  }
  free(text), free(a), free(b);
  at_peace();
}
END_TEST

static struct tokenizer *must(const char *text);
/* stages of all kinds, put into one of these files: what Hugging Face's library makes of a text */
START_TEST(stages_as_they_are_found)
{
  FILE *f = fopen("tests/golden/tokenizers/stages.jsonl", "r");
  char *row = NULL;
  size_t cap = 0, lines = 0;
  ck_assert_ptr_nonnull(f);
  while (getline(&row, &cap, f) > 0) {
    char path[300];
    json_t *line = json_loads(row, JSON_ALLOW_NUL, NULL), *change = json_object_get(line, "change"), *each;
    size_t k;
    snprintf(path, sizeof path, "tests/golden/tokenizers/%s/tokenizer.json", json_string_value(json_object_get(line, "base")));
    json_t *file = load(path);
    ck_assert(json_object_update(file, change) == 0);
    char *text = json_dumps(file, 0);
    struct tokenizer *t = must(text);
    bool add = json_is_true(json_object_get(line, "add_special"));
    json_array_foreach(json_object_get(line, "cases"), k, each)
    {
      json_t *said = json_array_get(each, 0), *ids = json_array();
      struct ids got = { 0 };
      struct error why = { "" };
      if (!tokenizer_encode(t, &M, json_string_value(said), json_string_length(said), add, false, &got, &why)) ck_abort_msg("%s", why.text);
      for (size_t i = 0; i < got.n; i++) json_array_append_new(ids, json_integer(got.id[i]));
      if (!json_equal(ids, json_array_get(each, 1)))
        ck_abort_msg("%s: %s, ours %s", json_dumps(change, 0), json_dumps(each, JSON_ENSURE_ASCII), json_dumps(ids, 0));
      ids_free(&M, &got), json_decref(ids);
    }
    tokenizer_close(&M, t), free(text), json_decref(file), json_decref(line), lines++;
  }
  free(row), fclose(f);
  ck_assert_uint_ge(lines, 40);
  tally("tests/golden/tokenizers/stages.jsonl", (unsigned) lines, 0, 0, "");
  at_peace();
}
END_TEST

/* the same vocabulary from its one file and from its two files, under both pairs of names */
START_TEST(gpt2_from_its_own_files)
{
  char buffer[400], dir[] = "/tmp/incipit-tokens-XXXXXX", a[4200], b[500];
  const char *own = shared_file(buffer, sizeof buffer, "data/gpt2");
  if (own == NULL) return;
  ck_assert_ptr_nonnull(mkdtemp(dir));
  char full[4096];
  ck_assert_ptr_nonnull(realpath(own, full));
  for (int k = 0; k < 2; k++) {
    snprintf(a, sizeof a, "%s/%s", full, k ? "vocab.bpe" : "encoder.json");
    snprintf(b, sizeof b, "%s/%s", dir, k ? "merges.txt" : "vocab.json");
    ck_assert_int_eq(symlink(a, b), 0);
  }
  struct error why;
  struct tokenizer *t = tokenizer_open(&M, own, &why), *u = tokenizer_open(&M, dir, &why);
  ck_assert_ptr_nonnull(t);
  ck_assert_ptr_nonnull(u);
  char path[600];
  const char *cases = shared_file(path, sizeof path, "golden/tokenizers/gpt2/cases.jsonl");
  unsigned failed = 0;
  if (cases) {
    unsigned good = golden(t, cases, &failed) + golden(u, cases, &failed);
    tally("data/gpt2 (encoder.json, vocab.json)", good, failed, 0, "");
    ck_assert_uint_eq(failed, 0);
  }
  ck_assert_uint_eq(tokenizer_vocab_size(t), 50257);
  uint32_t id;
  ck_assert(
    tokenizer_find(t, "<|endoftext|>", 13, &id) && id == 50256 && tokenizer_is_special(t, id));
  ck_assert(!tokenizer_bos(t, &id));
  tokenizer_close(&M, t);
  /* add_bos_token of tokenizer_config.json, as there is no post-processor */
  snprintf(b, sizeof b, "%s/tokenizer_config.json", dir);
  FILE *f = fopen(b, "w");
  fputs("{\"add_bos_token\": true, \"bos_token\": {\"content\": \"<|endoftext|>\"}}", f);
  fclose(f);
  t = tokenizer_open(&M, dir, &why);
  ck_assert_ptr_nonnull(t);
  struct ids out = { 0 };
  ck_assert(tokenizer_encode(t, &M, "a", 1, true, false, &out, NULL));
  ck_assert(out.n == 2 && out.id[0] == 50256 && out.id[1] == 64);
  ck_assert(tokenizer_bos(t, &id) && id == 50256);
  ids_free(&M, &out);
  tokenizer_close(&M, t);
  tokenizer_close(&M, u);
  for (int k = 0; k < 3; k++) {
    snprintf(b, sizeof b, "%s/%s", dir,
      k == 0     ? "merges.txt"
        : k == 1 ? "vocab.json"
                 : "tokenizer_config.json");
    unlink(b);
  }
  rmdir(dir);
  at_peace();
}
END_TEST

static const char lines[] =
  "The cat sat on the mat. The rat sat on the cat.\nIt's 10 o'clock; na\xc3\xafve \xe2\x82\xac 5 "
  "\xf0\x9f\x98\x80!\n\n  and so on and so on";

START_TEST(any_bytes_come_back)
{
  struct bpe_merge *merge;
  size_t n;
  uint64_t seed = suite_seed();
  ck_assert(bpe_train(&M, lines, strlen(lines), split_gpt2, 60, &merge, &n, NULL));
  struct tokenizer *t = tokenizer_from_merges(&M, merge, n, NULL);
  for (int round = 0; round < 4000; round++) {
    char text[120];
    size_t length = rnd(&seed) % 120;
    for (size_t i = 0; i < length; i++)
      text[i] = rnd(&seed) % 3 ? lines[rnd(&seed) % (sizeof lines - 1)] : (char) rnd(&seed);
    if (round % 2)
      for (size_t i = 0, from = rnd(&seed) % 40; i < length; i++)
        text[i] = lines[(from + i) % (sizeof lines - 1)];
    struct ids out = { 0 };
    struct bytes back = { 0 }, chunks = { 0 };
    struct stream s = { .n = 0 };
    ck_assert(tokenizer_encode(t, &M, text, length, round % 3 == 0, round % 5 == 0, &out, NULL));
    ck_assert(tokenizer_decode(t, &M, out.id, out.n, false, &back, NULL));
    for (size_t i = 0; i < out.n; i++) {
      size_t k;
      const unsigned char *b = tokenizer_text(t, out.id[i], &k);
      ck_assert(stream_feed(&M, &s, b, k, &chunks, NULL));
    }
    ck_assert(stream_flush(&M, &s, &chunks, NULL));
    ck_assert_uint_eq(back.n, length);
    ck_assert_uint_eq(chunks.n, length);
    if (length) {
      ck_assert_mem_eq(back.byte, text, length);
      ck_assert_mem_eq(chunks.byte, text, length);
    }
    ids_free(&M, &out);
    bytes_free(&M, &back);
    bytes_free(&M, &chunks);
  }
  tokenizer_close(&M, t);
  bpe_forget(&M, merge);
  at_peace();
}
END_TEST

/* what was learnt, in memory and through a file, is the same tokenizer */
START_TEST(a_written_tokenizer_is_the_one_in_memory)
{
  struct bpe_merge *merge;
  size_t n;
  char path[] = "/tmp/incipit-tokenizer-XXXXXX";
  close(mkstemp(path));
  ck_assert(bpe_train(&M, lines, strlen(lines), split_gpt2, 60, &merge, &n, NULL));
  struct error why;
  if (!tokenizer_write(&M, path, merge, n, &why)) ck_abort_msg("%s", why.text);
  struct tokenizer *t = tokenizer_from_merges(&M, merge, n, NULL),
                   *u = tokenizer_open(&M, path, &why);
  if (u == NULL) ck_abort_msg("%s", why.text);
  ck_assert_uint_eq(tokenizer_vocab_size(t), 257 + n);
  ck_assert_uint_eq(tokenizer_vocab_size(u), 257 + n);
  for (uint32_t id = 0; id < 257 + n; id++) {
    size_t a, b;
    const unsigned char *x = tokenizer_text(t, id, &a), *y = tokenizer_text(u, id, &b);
    ck_assert_uint_eq(a, b);
    ck_assert_mem_eq(x, y, a);
    if (id >= 1 && id <= 256) ck_assert(a == 1 && x[0] == id - 1);
    uint32_t found;
    ck_assert(tokenizer_find(u, (const char *) y, b, &found) && found == id);
    ck_assert_int_eq(tokenizer_is_special(u, id), id == 0);
  }
  static const char *const text[] = { lines, "<|endoftext|>The cat<|endoftext|>", "", "   ",
    "tab\there" };
  for (size_t k = 0; k < 5; k++)
    for (int special = 0; special < 2; special++) {
      struct ids a = { 0 }, b = { 0 };
      ck_assert(tokenizer_encode(t, &M, text[k], strlen(text[k]), true, special, &a, NULL));
      ck_assert(tokenizer_encode(u, &M, text[k], strlen(text[k]), true, special, &b, NULL));
      ck_assert_uint_eq(a.n, b.n);
      if (a.n) ck_assert_mem_eq(a.id, b.id, a.n * sizeof *a.id);
      if (k == 1) ck_assert_int_eq(a.id[0] == 0, special);
      ids_free(&M, &a);
      ids_free(&M, &b);
    }
  ck_assert(!tokenizer_write(&M, "/no/such/folder/t.json", merge, n, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "/no/such/folder/t.json"));
  tokenizer_close(&M, t);
  tokenizer_close(&M, u);
  bpe_forget(&M, merge);
  unlink(path);
  at_peace();
}
END_TEST

/* ---- small descriptions, whole and broken ----------------------------------------------- */

#define VOCAB_EXTRA "\"ab\": 256, \"\\u0120a\": 257, \"abab\": 258"
static char description[40000];
/* a description whose vocabulary is the bytes and three words; the parts may be replaced */
static const char *describe(const char *model_keys, const char *vocab_more, const char *merges,
  const char *added, const char *norm, const char *pre, const char *post, const char *dec,
  const char *more)
{
  char *p = description;
  const char *version = "\"1.0\"";
  if (strcmp(more, "VERSION 2.0") == 0) version = "\"2.0\"", more = "";
  if (strcmp(more, "VERSION 1") == 0) version = "1", more = "";
  p += sprintf(p,
    "{\"version\": %s, \"truncation\": null, \"padding\": null, %s \"added_tokens\": %s, "
    "\"normalizer\": %s, \"pre_tokenizer\": %s, "
    "\"post_processor\": %s, \"decoder\": %s, \"model\": {\"type\": \"BPE\", %s \"vocab\": {",
    version, more, added, norm, pre, post, dec, model_keys);
  for (int b = 0, next = 256; b < 256; b++) {
    bool seen = (b > 32 && b < 127) || (b > 160 && b < 256 && b != 173);
    p += sprintf(p, "\"\\u%04x\": %d, ", seen ? b : next++, b);
  }
  sprintf(p, "%s}, \"merges\": %s}}", vocab_more, merges);
  return description;
}
#define MODEL "\"dropout\": null, \"unk_token\": null, \"ignore_merges\": false,"
#define MERGES "[\"a b\", [\"\\u0120\", \"a\"], \"ab ab\"]"
#define NONE "[]"
#define PRE "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": true}"
#define DEC "{\"type\": \"ByteLevel\"}"

static char file_name[64];
static enum tokenizer_found try_text(const char *text, struct tokenizer **t, struct error *why)
{
  strcpy(file_name, "/tmp/incipit-json-XXXXXX");
  int f = mkstemp(file_name);
  ck_assert_int_eq(write(f, text, strlen(text)), (ssize_t) strlen(text));
  close(f);
  why->text[0] = 0;
  enum tokenizer_found found = tokenizer_try(&M, file_name, t, why);
  unlink(file_name);
  return found;
}
static struct tokenizer *must(const char *text)
{
  struct error why;
  struct tokenizer *t;
  if (try_text(text, &t, &why) != TOKENIZER_OPEN) ck_abort_msg("%s", why.text);
  return t;
}
static void expect(
  struct tokenizer *t, const char *text, bool special, bool parse, const char *want)
{
  struct ids out = { 0 };
  char got[400] = "";
  struct error why;
  if (!tokenizer_encode(t, &M, text, strlen(text), special, parse, &out, &why))
    ck_abort_msg("%s", why.text);
  for (size_t i = 0; i < out.n; i++) sprintf(got + strlen(got), "%s%u", i ? " " : "", out.id[i]);
  ck_assert_str_eq(got, want);
  ids_free(&M, &out);
}

START_TEST(a_small_description_does_what_it_says)
{
  struct tokenizer *t =
    must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, ""));
  expect(t, "abab a", false, false, "258 257");
  expect(t, "aba", true, true, "256 97");
  ck_assert_str_eq(tokenizer_kind(t), "byte-level BPE");
  tokenizer_close(&M, t);
  t = must(describe("\"ignore_merges\": true,", VOCAB_EXTRA ", \"bab\": 259", MERGES, NONE, "null",
    PRE, "null", DEC, ""));
  expect(t, "bab babx", false, false, "259 32 98 256 120");
  tokenizer_close(&M, t);
  t = must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null", "{\"type\": \"ByteLevel\"}", "null",
    DEC, "")); /* both defaults: true */
  expect(t, "a", false, false, "257");
  expect(t, " a", false, false, "257");
  expect(t, "", false, false, "");
  tokenizer_close(&M, t);
  t = must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", \"individual_digits\": "
    "true},"
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}]}",
    "null", DEC, ""));
  expect(t, "ab12ab", false, false, "256 49 50 256");
  tokenizer_close(&M, t);
  static const char *const how[][3] = { { "Isolated", "false", "256 120 256" },
    { "Removed", "false", "256 256" }, { "Removed", "true", "120" } };
  for (int k = 0; k < 3; k++) {
    char pre[400];
    sprintf(pre,
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
      "{\"String\": \"x\"}, \"behavior\": \"%s\", \"invert\": %s}, "
      "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}]}",
      how[k][0], how[k][1]);
    t = must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null", pre, "null", DEC, ""));
    expect(t, "abxab", false, false, how[k][2]);
    tokenizer_close(&M, t);
  }
  /* NFC, and an added token that is looked for in it */
  t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"e\\u0301\", \"normalized\": true, \"special\": false}]",
    "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}]}", PRE, "null", DEC, ""));
  expect(t,
    "a\xc3\xa9"
    "b",
    false, false, "97 300 98");
  expect(t,
    "ae\xcc\x81"
    "b",
    false, false, "97 300 98");
  expect(t, "o\xcc\x88", false, false, "195 182");
  tokenizer_close(&M, t);
  /* templates around templates */
  t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"<s>\", \"special\": true}, {\"id\": 301, \"content\": \"</s>\", "
    "\"special\": true}]",
    "null", PRE,
    "{\"type\": \"Sequence\", \"processors\": [{\"type\": \"ByteLevel\"}, {\"type\": "
    "\"TemplateProcessing\", \"single\": [{\"SpecialToken\": "
    "{\"id\": \"s\"}}, {\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"s\": {\"id\": "
    "\"s\", \"ids\": [300, 300]}}}, {\"type\": \"TemplateProcessing\", "
    "\"single\": [{\"SpecialToken\": {\"id\": \"e\"}}, {\"Sequence\": {\"id\": \"A\"}}, "
    "{\"SpecialToken\": {\"id\": \"e\"}}], "
    "\"special_tokens\": {\"e\": {\"id\": \"e\", \"ids\": [301]}}}]}",
    DEC, ""));
  expect(t, "ab<s>", true, true, "301 300 300 256 300 301");
  expect(t, "ab", false, true, "256");
  expect(t, "<s>", true, false, "301 300 300 60 115 62 301");
  struct bytes out = { 0 };
  uint32_t some[] = { 300, 256, 999999, 301, 310 };
  ck_assert(tokenizer_decode(t, &M, some, 5, false, &out, NULL));
  ck_assert(out.n == 9 && memcmp(out.byte, "<s>ab</s>", 9) == 0);
  out.n = 0;
  ck_assert(tokenizer_decode(t, &M, some, 5, true, &out, NULL));
  ck_assert(out.n == 2 && memcmp(out.byte, "ab", 2) == 0);
  bytes_free(&M, &out);
  ck_assert_uint_eq(tokenizer_added_count(t), 2);
  ck_assert(tokenizer_added_at(t, 1).id == 301 && tokenizer_added_at(t, 1).special
    && tokenizer_added_at(t, 1).n == 4);
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* to the makers' library a character that is younger than its table of scripts has none: it goes with what is
   before it, and is lost where nothing is */
START_TEST(younger_characters_have_no_script)
{
  struct tokenizer *t = must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"UnicodeScripts\"}, {\"type\": \"ByteLevel\", "
    "\"add_prefix_space\": false, \"use_regex\": false}]}", "null", DEC, ""));
  expect(t, "\xf0\x9f\x98\x80", false, false, "240 159 152 128");
  expect(t, "\xf0\x9f\xa5\xb0", false, false, "");
  expect(t, "\xf0\x9f\xa5\xb0x\xf0\x9f\xa5\xb0y", false, false, "120 240 159 165 176 121");
  expect(t, "\xe4\xb6\xb6x", false, false, "120"); /* an ideograph of version 13 */
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* a pattern that two libraries read differently is refused; what published files say is not */
START_TEST(a_pattern_has_one_reading)
{
  static const char *const two[] = { "a{,3}", "[a-z&&c]", "[^a&&[b]]", "[&&[b]]", "[a&&[b]c]", "[a[b[c]]]",
    "[a[^b]]", "[a-[b]]", "[a[-b]]", "[a[b-]]", "[a[b]-c]", "[a[]b]]", "[a[b", "[a[\\b]]", "[[:punct:]]", "[]a]", "[^]a]", "[a\\W]", "[\\b]", "[\\H]", "\\v", "\\X", "\\R", "\\K", "\\G", "x(?i)y", "\\p{Alpha}",
    "\\1", "(?m:.)", "(?i)ss", "(?i:ss)", "(?i:Ff)", "(?i:x|st)", "(?i:\xc3\x9f)",
    "(?i:[\xc3\x9f])", "(?:(?i:(?:fi)))", "\\p{^Greek}", "\\x41", "\\pL", "(?#x)",
    "(*ACCEPT)", "(?i:\\x{df})", "(?i:s\\x{73})", "a\\", "{", "\\u0041" },
                           *const one[] = {
                             "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,"
                             "3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
                             "'(?i:[sdmt]|ll|ve|re)|\\p{L}++",
                             "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}"
                             "\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                             "(?<=x)y|(?<!x)z|(?>ab|a)c|(?=d)", "\\x{1f600}|\\p{^Lu}\\P{Nd}",
                             "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+",
                             "[\xe4\xb8\x80-\xe9\xbe\xa5]+", "(?i:a)(?:ss)", "\\$\\^\\{\\.",
                             "a{2}b{1,}c{1,3}", "\\p{N}{1,3}+", "a{2}?", "[a-z&&[aeiou]]", "[a[bc]]", "[^a[bc]d[e]]", "[[:alpha:]]", "[[a[:digit:]]]", "\\b\\B", "^x$", "\\A\\h\\H\\z\\Z", "(?i)ta?e", "\\p{Han}", "\\d\\D\\s\\S\\t\\f", "\\w+|[^\\w\\s]+", "\\W\\w[\\w-]"
                           };
  for (size_t i = 0; i < sizeof two / sizeof *two + sizeof one / sizeof *one; i++) {
    bool good = i >= sizeof two / sizeof *two;
    const char *p = good ? one[i - sizeof two / sizeof *two] : two[i];
    json_t *v = json_string(p);
    char *quoted = json_dumps(v, JSON_ENCODE_ANY), pre[1200];
    struct tokenizer *t;
    struct error why = { "" };
    for (int k = 0; k < 2; k++) {
      snprintf(pre, sizeof pre,
        k ? "{\"type\": \"Replace\", \"pattern\": {\"Regex\": %s}, \"content\": \"x\"}"
          : "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
            "{\"Regex\": %s}, "
            "\"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
            "\"use_regex\": false}]}",
        quoted);
      enum tokenizer_found found = try_text(describe(MODEL, VOCAB_EXTRA, MERGES, NONE,
                                              k ? pre : "null", k ? PRE : pre, "null", DEC, ""),
        &t, &why);
      if (found != (good ? TOKENIZER_OPEN : TOKENIZER_REFUSED)) ck_abort_msg("%s: %s", p, why.text);
      if (!good) ck_assert_msg(strstr(why.text, "Oniguruma") != NULL, "%s: %s", p, why.text);
      if (!good) { /* it says where, and quotes what is there */
        const char *at = strstr(why.text, ": `"), *end = at ? strstr(at, "' at byte ") : NULL;
        ck_assert_msg(end != NULL, "%s: %s", p, why.text);
        size_t from = strtoull(end + 10, NULL, 10) - 1, shown = (size_t) (end - at) - 3;
        if (shown >= 3 && memcmp(end - 3, "...", 3) == 0) shown -= 3;
        ck_assert_msg(from < strlen(p) && shown > 0 && shown <= 16
          && (strstr(p, "\xc3") != NULL || strncmp(p + from, at + 3, shown) == 0), "%s: %s", p, why.text);
      }
      tokenizer_close(&M, t);
    }
    free(quoted), json_decref(v);
  }
  at_peace();
}
END_TEST

/* \w is what the library of those files calls a word's letter: alphabetic, marks, decimal digits, what
   joins words, and six signs more.  utf8proc knows the categories; of alphabetic characters those
   are missing there that are letters in circles and boxes. */
START_TEST(a_letter_of_a_word_is_that_of_the_files)
{
  static const char *const pattern[] = { "\\w", "\\W", "[\\w]", "[^\\w]", "[^\\w-]" };
  for (int k = 0; k < 5; k++) {
    struct error why = { "" };
    struct splitter *s = splitter_open(&M, pattern[k], strlen(pattern[k]), false, &why);
    struct splitter *new = splitter_open(&M, "\\p{Cn}", 6, false, &why);
    struct split_work work = { .m = &M };
    size_t letters = 0;
    ck_assert_msg(s != NULL, "%s", why.text);
    for (int32_t c = 1; c < 0x110000; c++) {
      if (c >= 0xd800 && c < 0xe000) continue;
      utf8proc_category_t kind = utf8proc_category(c);
      if (kind == UTF8PROC_CATEGORY_CN) continue; /* the two may know different editions of Unicode */
      unsigned char byte[4];
      struct pieces p;
      struct text_piece piece;
      size_t n = (size_t) utf8proc_encode_char(c, byte);
      pieces_begin(&p, new, &work, byte, n);
      ck_assert(pieces_next(&p, &piece, &why));
      if (piece.match) continue;
      pieces_begin(&p, s, &work, byte, n);
      ck_assert(pieces_next(&p, &piece, &why) && piece.n == n);
      bool letter = (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL)
        || kind == UTF8PROC_CATEGORY_PC || c == 0xb2 || c == 0xb3 || c == 0xb9
        || (c >= 0xbc && c <= 0xbe) || (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149)
        || (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
      ck_assert_msg(piece.match == ((k % 2 == 0 && k < 4 ? letter : !letter) && !(k == 4 && c == '-')),
        "%s U+%04X", pattern[k], (unsigned) c);
      letters += letter;
    }
    ck_assert_uint_gt(letters, 130000);
    split_work_free(&work), splitter_close(s), splitter_close(new);
  }
  at_peace();
}
END_TEST

/* where a line begins, and where no word begins or ends: there matches begin, and nowhere else */
START_TEST(places_are_those_of_the_files)
{
  static const struct {
    const char *pattern, *text, *matches; /* M where a byte is in a match */
  } at[] = { { "^x", "x\nxx", "M.M." }, { "^x", "ax\nax", "....." }, { "\\B!", "a!!", "..M" }, { "\\Bb", "bab", "..M" },
    /* a letter that scripts share is of none; a script has its own letters, and no others */
    { "\\p{Katakana}", "\u30fc\u30ab", "...MMM" }, { "\\P{Han}", "a\u6f22", "M..." },
    /* a + repeats what was counted, and a ? makes it optional */
    { "a{1,2}+b", "aaab", "MMMM" }, { "a{2}?b", "ab", ".M" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct error why = { "" };
    struct bytes here = { 0 };
    char said[DIALECTS_CAP] = "";
    size_t where = 0;
    ck_assert(dialects_translate(&M, at[i].pattern, strlen(at[i].pattern), &here, said, &where, &why) && said[0] == '\0');
    struct splitter *s = splitter_open(&M, (const char *) here.byte, here.n, false, &why);
    struct split_work work = { .m = &M };
    struct pieces p;
    struct text_piece piece;
    ck_assert_msg(s != NULL, "%s", why.text);
    pieces_begin(&p, s, &work, (const unsigned char *) at[i].text, strlen(at[i].text));
    for (size_t k = 0; k < strlen(at[i].text); k += piece.n) {
      ck_assert(pieces_next(&p, &piece, &why) && piece.n > 0);
      for (size_t b = 0; b < piece.n; b++)
        ck_assert_msg(piece.match == (at[i].matches[k + b] == 'M'), "%s, byte %zu", at[i].pattern, k + b);
    }
    split_work_free(&work), splitter_close(s), bytes_free(&M, &here);
  }
  at_peace();
}
END_TEST

/* what T makes of TEXT is what utf8proc makes of it */
static bool same_normal_form(struct tokenizer *t, const unsigned char *text, size_t n)
{
  utf8proc_uint8_t *want = NULL;
  utf8proc_ssize_t length =
    utf8proc_map(text, (utf8proc_ssize_t) n, &want, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  struct bytes got = { 0 };
  hold(length >= 0 && tokenizer_normalize(t, &M, text, n, true, &got, NULL));
  bool same = got.n == (size_t) length && memcmp(got.byte, want, got.n) == 0;
  free(want);
  bytes_free(&M, &got);
  return same;
}
/* utf8proc's own function, which is slow on long runs of marks, is the oracle of ours on short ones
 */
START_TEST(the_normal_form_is_the_normal_form)
{
  static const uint32_t few[] = { 'a', 'e', 0xe9, 0x300, 0x301, 0x323, 0x327, 0x345, 0x344, 0x1e69,
    0x1f82, 0x390, 0xf71, 0xf72, 0xf73, 0xf74, 0x1100, 0x1161, 0x11a8, 0xac00, 0xac01, 0x4e00,
    0xf900, 0x2126, 0x212b, 0x1d15e, 0x9bc, 0x9c7, 0x9d7, 0x5b0, 0x5b4, 0xfb2c, 0x1f408, 0x200d,
    0x3099, 0x304b, ' ', 0x0, 0x10ffff, 0x2f81a };
  struct tokenizer *t =
    must(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"NFC\"}", PRE, "null", DEC, ""));
  uint64_t seed = suite_seed() + 31;
  for (int round = 0; round < 60000; round++) {
    unsigned char text[200];
    size_t n = 0;
    for (uint64_t k = 1 + rnd(&seed) % (round % 10 == 0 ? 40 : 8); k > 0; k--) {
      uint32_t c = rnd(&seed) % 4 ? few[rnd(&seed) % (sizeof few / sizeof *few)]
                                  : (uint32_t) (rnd(&seed) % 0x3100);
      n += (size_t) utf8proc_encode_char((utf8proc_int32_t) c, text + n);
    }
    hold_msg(same_normal_form(t, text, n), "round %d: another normal form", round);
  }
  /* every character there is, with marks and itself behind it */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  enum { STEP = 17 };
#else
  enum { STEP = 1 };
#endif
  for (uint32_t c = 1; c < 0x110000; c += STEP) {
    if (c >= 0xd800 && c < 0xe000) c = 0xe000; /* no characters */
    const uint32_t point[] = { c, 0x323, c, 0x301, 'a', c };
    unsigned char text[30];
    size_t n = 0;
    for (int k = 0; k < 6; k++)
      n += (size_t) utf8proc_encode_char((utf8proc_int32_t) point[k], text + n);
    hold_msg(same_normal_form(t, text, n), "U+%04X: another normal form", c);
  }
  enum { MARKS = 1 << 18 };
  char *text = malloc(2 * MARKS + 1);
  text[0] = 'a';
  for (int how = 0; how < 2; how++) {
    for (size_t i = 0; i < MARKS; i++)
      memcpy(text + 1 + 2 * i, (how ? i < MARKS / 2 : i % 2) ? "\xcc\x81" : "\xcc\xa3", 2);
    struct bytes got = { 0 };
    double start = seconds();
    ck_assert(tokenizer_normalize(t, &M, (unsigned char *) text, 2 * MARKS + 1, true, &got, NULL));
    IN_TIME(seconds() - start);
    ck_assert_uint_gt(got.n, MARKS);
    bytes_free(&M, &got);
  }
  free(text);
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* white space that two tokens claim, a letter that is the unknown token, a block where the text
 * begins; Hugging Face's answers */
START_TEST(corners_of_other_libraries)
{
  struct tokenizer *t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \" \", \"lstrip\": true, \"rstrip\": true, \"special\": false}]",
    "null", PRE, "null", DEC, ""));
  expect(t, "  ", false, true, "300");
  expect(t, "   a", false, true, "300 97");
  expect(t, "a  b c", false, true, "97 300 98 300 99");
  tokenizer_close(&M, t);
  t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \" \", \"rstrip\": true, \"special\": false}]", "null", PRE,
    "null", DEC, ""));
  expect(t, "a   b", false, true, "97 300 300 300 98");
  size_t n = 1 << 18;
  char *text = malloc(n);
  memset(text, ' ', n);
  struct ids out = { 0 };
  double start = seconds();
  ck_assert(tokenizer_encode(t, &M, text, n, false, true, &out, NULL));
  IN_TIME(seconds() - start);
  ck_assert_uint_eq(out.n, n);
  ids_free(&M, &out), free(text);
  tokenizer_close(&M, t);
  static const char letters[] =
    "{\"decoder\": {\"type\": \"Fuse\"}, \"pre_tokenizer\": %s, \"normalizer\": %s, \"model\": "
    "{\"type\": \"BPE\", \"unk_token\": \".\", \"fuse_unk\": true, \"vocab\": {\".\": 0, \"a\": 1, "
    "\"\xe2\x96\x81\": 2}, \"merges\": []}}";
  char buffer[900];
  snprintf(buffer, sizeof buffer, letters, "null", "null");
  t = must(buffer);
  static const char *const say[][2] = { { ".y", "0 0" }, { "y.", "0 0" }, { "yy", "0" },
    { "..y", "0 0 0" }, { "yay", "0 1 0" }, { "yy.yy", "0 0 0" } };
  for (size_t i = 0; i < sizeof say / sizeof *say; i++)
    expect(t, say[i][0], false, false, say[i][1]);
  tokenizer_close(&M, t);
  /* a normalizer that takes letters away, and a block where the whole text begins; and two fields
   * that contradict each other */
  struct error why;
  /* some bytes are words: a character whose bytes are all there does not end a row of unknown ones, which comes after it */
  t = must("{\"decoder\": {\"type\": \"Fuse\"}, \"model\": {\"type\": \"BPE\", \"unk_token\": \".\", "
    "\"byte_fallback\": true, \"fuse_unk\": true, \"vocab\": {\".\": 0, \"<0x41>\": 1, \"c\": 2}, \"merges\": []}}");
  static const char *const hole[][2] = { { "A", "1" }, { "B", "0" }, { "BA", "1 0" }, { "BAB", "1 0" }, { "BAcB", "1 0 2 0" }, { "AcA", "1 2 1" } };
  for (size_t i = 0; i < sizeof hole / sizeof *hole; i++) expect(t, hole[i][0], false, false, hole[i][1]);
  tokenizer_close(&M, t);
  static const char *const wrong[][3] = {
    { "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"first\"}",
      "{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"\"}",
      "after a Replace" },
    { "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"first\"}", "{\"type\": \"Nmt\"}", "after a Replace" },
    { "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": "
      "\"always\", \"add_prefix_space\": false}",
      "null", "never, as add_prefix_space is false" }
  };
  for (int k = 0; k < 3; k++) {
    snprintf(buffer, sizeof buffer, letters, wrong[k][0], wrong[k][1]);
    ck_assert_int_eq(try_text(buffer, &t, &why), TOKENIZER_REFUSED);
    ck_assert_msg(strstr(why.text, wrong[k][2]) != NULL
        && strstr(why.text, "pre_tokenizer.prepend_scheme") != NULL,
      "%s", why.text);
  }
  at_peace();
}
END_TEST

/* what a file leaves out, and what only follows: digits are cut in rows, and a blank that was put before a text is taken away again */
START_TEST(what_follows_is_done)
{
#define FEW "\"model\": {\"type\": \"BPE\", \"vocab\": {\"1\": 0, \"2\": 1, \"12\": 2, \"\xe2\x96\x81\": 3, \"a\": 4, \"\xe2\x96\x81" "a\": 5}, " \
  "\"merges\": [[\"1\", \"2\"], [\"\xe2\x96\x81\", \"a\"]]}"
#define BLANKS(scheme) "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"" scheme "\"}"
  static const struct { const char *file, *text, *ids, *back; } of[] = {
    { "{\"decoder\": {\"type\": \"Fuse\"}, \"pre_tokenizer\": {\"type\": \"Digits\"}, " FEW "}", "12", "2", "12" },
    { "{\"decoder\": {\"type\": \"Fuse\"}, \"pre_tokenizer\": {\"type\": \"Digits\", \"individual_digits\": true}, " FEW "}", "12", "0 1", "12" },
    { "{\"decoder\": " BLANKS("first") ", \"pre_tokenizer\": " BLANKS("first") ", " FEW "}", "a a", "5 5", "a a" },
    { "{\"decoder\": " BLANKS("always") ", \"pre_tokenizer\": " BLANKS("always") ", " FEW "}", "a a", "5 5", "a a" },
    { "{\"decoder\": " BLANKS("never") ", \"pre_tokenizer\": " BLANKS("never") ", " FEW "}", " a", "5", " a" } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    struct tokenizer *t = must(of[i].file);
    struct ids got = { 0 };
    struct bytes back = { 0 };
    struct error why;
    expect(t, of[i].text, false, false, of[i].ids);
    ck_assert(tokenizer_encode(t, &M, of[i].text, strlen(of[i].text), false, false, &got, &why));
    ck_assert(tokenizer_decode(t, &M, got.id, got.n, false, &back, &why));
    ck_assert_msg(back.n == strlen(of[i].back) && memcmp(back.byte, of[i].back, back.n) == 0, "%zu: \"%.*s\"", i, (int) back.n, back.byte);
    ids_free(&M, &got), bytes_free(&M, &back), tokenizer_close(&M, t);
  }
  struct tokenizer *none;
  struct error why;
  ck_assert_int_eq(try_text("{\"decoder\": {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}, " FEW "}", &none, &why), TOKENIZER_REFUSED);
  ck_assert_msg(strstr(why.text, "wanted: Strip after Fuse") != NULL, "%s", why.text);
  at_peace();
}
END_TEST

/* a double array of one number, and a string of 256 letters */
#define LETTERS_256 \
  "BAAAAAAAAABhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" \
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh" \
  "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" \
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhAA=="
START_TEST(every_defect_has_its_own_sentence)
{
  static const struct {
    const char *model, *vocab, *merges, *added, *norm, *pre, *post, *dec, *more, *says[3];
  } bad[] = {
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "\"surprise\": 1,",
      { "surprise", "1", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "VERSION 2.0", { "version", "\"2.0\"", "\"1.0\"" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "VERSION 1", { "version", "is 1;", "\"1.0\"" } },
    { MODEL "\"mystery\": 7,", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "",
      { "model.mystery", "7", "know" } },
    { MODEL "\"type dropout\": 7,", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "",
      { "model.type dropout", "7", "know" } },
    { "\"dropout\": 0.5,", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "",
      { "model.dropout", "point", "null" } },
    { "\"end_of_word_suffix\": \"</w>\",", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "",
      { "model.end_of_word_suffix", "</w>", "null" } },
    { "\"continuing_subword_prefix\": \"##\",", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC,
      "", { "model.continuing_subword_prefix", "##", "null" } },
    { "\"ignore_merges\": 1,", VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "",
      { "model.ignore_merges", "1", "true or false" } },
    { MODEL, "\"ab\": -3", "[]", NONE, "null", PRE, "null", DEC, "",
      { "model.vocab.ab", "-3", "integer" } },
    { MODEL, "\"ab\": 3.5", "[]", NONE, "null", PRE, "null", DEC, "",
      { "model.vocab.ab", "point", "integer" } },
    { MODEL, "\"ab\": 99999999999", "[]", NONE, "null", PRE, "null", DEC, "",
      { "model.vocab.ab", "99999999999", "integer" } },
    { MODEL, "\"ab\": 97", "[]", NONE, "null", PRE, "null", DEC, "",
      { "model.vocab.ab", "97", "no other" } },
    { MODEL, VOCAB_EXTRA, "[\"a b\", \"b a\"]", NONE, "null", PRE, "null", DEC, "",
      { "model.merges[1]", "\"b\" and \"a\"", "two words" } },
    { MODEL, VOCAB_EXTRA, "[[\"a\", \"b\", \"c\"]]", NONE, "null", PRE, "null", DEC, "",
      { "model.merges[0]", "list", "two words" } },
    { MODEL, VOCAB_EXTRA, "[\" \"]", NONE, "null", PRE, "null", DEC, "",
      { "model.merges[0]", "\"\" and \"\"", "two words" } },
    { MODEL, VOCAB_EXTRA, "[\"ab\"]", NONE, "null", PRE, "null", DEC, "",
      { "model.merges[0]", "\"ab\"", "two words" } },
    { MODEL, VOCAB_EXTRA, "[\"a b c\"]", NONE, "null", PRE, "null", DEC, "",
      { "model.merges[0]", "\"a b c\"", "two words" } },
    { MODEL, VOCAB_EXTRA, "{}", NONE, "null", PRE, "null", DEC, "",
      { "model.merges", "object", "list" } },
    { MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 97, \"content\": \"<s>\"}]", "null", PRE, "null", DEC,
      "", { "added_tokens[0].id", "97", "no word" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AAAA\"}", PRE, "null", DEC,
      "", { "normalizer.precompiled_charsmap", "3 bytes with the size 0", "double array" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"BgAAAAECAwQFBmEA\"}", PRE, "null", DEC,
      "", { "normalizer.precompiled_charsmap", "12 bytes with the size 6", "double array" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"" LETTERS_256 "\"}", PRE, "null", DEC,
      "", { "normalizer.precompiled_charsmap", "257 bytes of other strings", "at most 255 bytes long" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"x\"}", PRE, "null", DEC,
      "", { "normalizer.precompiled_charsmap", "something else", "base64" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"BAAAAAAAAABhYg==\"}", PRE, "null", DEC,
      "", { "normalizer.precompiled_charsmap", "2 bytes of other strings", "a zero after each" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"Strip\", \"strip_left\": 1}", PRE, "null", DEC,
      "", { "normalizer.strip_left", "1", "true or false" } },
    { MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 300, \"content\": \"\"}]", "null", PRE, "null", DEC,
      "", { "added_tokens[0].content", "\"\"", "some text" } },
    { MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 300, \"content\": \"x\", \"lstrip\": \"yes\"}]",
      "null", PRE, "null", DEC, "", { "added_tokens[0].lstrip", "yes", "true or false" } },
    { MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 300, \"content\": \"x\", \"sparkle\": true}]", "null",
      PRE, "null", DEC, "", { "added_tokens[0].sparkle", "true", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 4194304, \"content\": \"x\"}]", "null", PRE, "null",
      DEC, "", { "added_tokens[0].id", "4194304", "integer" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"BertNormalizer\"}", PRE, "null", DEC, "",
      { "normalizer.type", "BertNormalizer", "NFC" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE,
      "{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"ByteLevel\"}]}",
      PRE, "null", DEC, "", { "normalizer.normalizers[1].type", "ByteLevel", "NFC" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\"}, {\"type\": "
      "\"CharDelimiterSplit\"}, " PRE "]}",
      "null", DEC, "", { "pre_tokenizer.pretokenizers[1].type", "CharDelimiterSplit", "Split" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [" PRE ", {\"type\": \"Metaspace\"}]}", "null", DEC,
      "", { "pre_tokenizer.pretokenizers[1].type", "Metaspace", "only cuts, after ByteLevel" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [" PRE ", " PRE "]}", "null", DEC,
      "", { "pre_tokenizer.pretokenizers[1].type", "ByteLevel", "only cuts, after ByteLevel" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
      "\"\\\\w+\\\\K\"}, \"behavior\": \"Isolated\"}, " PRE "]}",
      "null", DEC, "",
      { "pre_tokenizer.pretokenizers[0].pattern", "\\K, which the two read otherwise: `\\K' at byte 4", "Oniguruma" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
      "\"a(\"}, \"behavior\": \"Isolated\"}, " PRE "]}",
      "null", DEC, "", { "pre_tokenizer.pretokenizers[0].pattern", "byte 2", "a pattern" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
      "\"a\"}, \"behavior\": \"MergedWithAll\"}, " PRE "]}",
      "null", DEC, "",
      { "pre_tokenizer.pretokenizers[0].behavior", "MergedWithAll", "Isolated" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "{\"type\": \"PairProcessing\"}", DEC, "",
      { "post_processor.type", "PairProcessing", "TemplateProcessing" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "{\"type\": \"RobertaProcessing\", \"cls\": [\"a\", 97], \"sep\": [\"b\"]}", DEC, "",
      { "post_processor.sep", "list", "a token's text and its id" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "{\"type\": \"BertProcessing\", \"cls\": [\"a\", 300], \"sep\": [\"b\", 98]}", DEC, "",
      { "post_processor.cls", "300", "the id of a token" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE,
      "{\"type\": \"TemplateProcessing\", \"single\": []}", DEC, "",
      { "post_processor.single", "without", "once" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE,
      "{\"type\": \"TemplateProcessing\", \"single\": [{\"Sequence\": {\"id\": \"A\"}}, "
      "{\"Sequence\": {\"id\": \"A\"}}]}",
      DEC, "", { "post_processor.single", "twice", "once" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE,
      "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"q\"}}, "
      "{\"Sequence\": {\"id\": \"A\"}}]}",
      DEC, "", { "post_processor.single[0]", "\"q\"", "special_tokens" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE,
      "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"q\"}}, "
      "{\"Sequence\": {\"id\": \"A\"}}], \"special_tokens\": {\"q\": {\"ids\": [777]}}}",
      DEC, "", { "post_processor.single[0]", "777", "id of a token" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", "{\"type\": \"WordPiece\"}", "",
      { "decoder.type", "WordPiece", "ByteLevel" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", "null", "",
      { "decoder.type", "missing", "ByteLevel" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "{\"type\": \"NFC\", \"form\": 1}", PRE, "null", DEC, "",
      { "normalizer.form", "1", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null",
      "{\"type\": \"Sequence\", \"pretokenizers\": [" PRE "], \"order\": 1}", "null", DEC, "",
      { "pre_tokenizer.order", "1", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "{\"type\": \"ByteLevel\", \"bytes\": 1}", DEC,
      "", { "post_processor.bytes", "1", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null",
      "{\"type\": \"ByteLevel\", \"bytes\": 1}", "", { "decoder.bytes", "1", "know" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null",
      "{\"type\": \"Sequence\", \"decoders\": []}", "",
      { "decoder", "an object", "ByteLevel in it" } },
    { MODEL, VOCAB_EXTRA, MERGES, NONE, "null", PRE, "null", DEC, "\"\\u0061dded\": {\"x\": 1},",
      { "added", "object", "know" } },
  };
  size_t many = sizeof bad / sizeof *bad;
  char seen[64][400];
  for (size_t i = 0; i < many; i++) {
    struct tokenizer *t;
    struct error why;
    enum tokenizer_found found =
      try_text(describe(bad[i].model, bad[i].vocab, bad[i].merges, bad[i].added, bad[i].norm,
                 bad[i].pre, bad[i].post, bad[i].dec, bad[i].more),
        &t, &why);
    ck_assert_msg(found == TOKENIZER_REFUSED, "defect %zu is not refused", i);
    ck_assert_ptr_null(t);
    for (int k = 0; k < 3; k++)
      ck_assert_msg(strstr(why.text, bad[i].says[k]) != NULL, "defect %zu: no '%s' in: %s", i,
        bad[i].says[k], why.text);
    ck_assert_ptr_nonnull(strstr(why.text, file_name));
    strcpy(seen[i], why.text + strlen(file_name));
    for (size_t k = 0; k < i; k++) ck_assert_str_ne(seen[k], seen[i]);
  }
  struct tokenizer *t;
  struct error why;
  static const char *const broken[][2] = { { "", "an empty file" }, { "{", "line 1" }, { "[]", "an object" },
    { "{\"model\": 3}", "model" }, { "{\"a\": 1, \"a\": 2}", "duplicate" } };
  for (size_t i = 0; i < 5; i++) {
    ck_assert_int_eq(try_text(broken[i][0], &t, &why), TOKENIZER_REFUSED);
    ck_assert_msg(strstr(why.text, broken[i][1]) != NULL, "%s", why.text);
  }
  /* a byte without a token: with unk_token refused when it is read, without it when it is needed */
  const char *lean =
    "{\"decoder\": " DEC ", \"pre_tokenizer\": " PRE
    ", \"model\": {\"type\": \"BPE\", %s \"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": []}}";
  char text[400];
  sprintf(text, lean, "\"unk_token\": \"a\",");
  ck_assert_int_eq(try_text(text, &t, &why), TOKENIZER_REFUSED);
  ck_assert_ptr_nonnull(strstr(why.text, "model.unk_token"));
  sprintf(text, lean, "");
  t = must(text);
  struct ids out = { 0 };
  ck_assert(!tokenizer_encode(t, &M, "abc", 3, false, false, &out, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "0x63"));
  ck_assert_uint_eq(out.n, 0);
  ids_free(&M, &out);
  tokenizer_close(&M, t);
  tally("tests/suites/check_tokenizer.c: defects", (unsigned) many + 7, 0, 0, "");
  at_peace();
}
END_TEST

/* two settings are about batches of texts: a text is neither cut nor filled up, and whoever asks is
 * told */
START_TEST(settings_for_batches_are_told)
{
  static const char *const set[][2] = { { "{\"max_length\": 5, \"strategy\": \"LongestFirst\"}",
                                          "null" },
    { "null", "{\"length\": 20}" }, { "null", "null" } };
  for (int i = 0; i < 3; i++) {
    char text[600];
    snprintf(text, sizeof text,
      "{\"truncation\": %s, \"padding\": %s, \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, "
      "\"merges\": []}, \"pre_tokenizer\": " PRE ", \"decoder\": " DEC "}",
      set[i][0], set[i][1]);
    struct tokenizer *t = must(text);
    struct ids out = { 0 };
    ck_assert(tokenizer_encode(t, &M, "aaaaaaaa", 8, true, false, &out, NULL));
    ck_assert_uint_eq(out.n, 8);
    ck_assert(i == 0 ? strcmp(tokenizer_ignores(t, 0), "truncation") == 0
                     : tokenizer_ignores(t, 0) == NULL);
    ck_assert(
      i == 1 ? strcmp(tokenizer_ignores(t, 1), "padding") == 0 : tokenizer_ignores(t, 1) == NULL);
    ids_free(&M, &out);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

START_TEST(another_kind_is_told_apart)
{
  struct tokenizer *t;
  struct error why;
  static const char *const other[] = { "{\"model\": {\"type\": \"WordPiece\", \"vocab\": []}}",
    "{\"model\": {\"type\": \"WordPiece\", \"vocab\": {}}}",
    "{\"model\": {\"type\": \"WordLevel\", \"vocab\": {}}, \"pre_tokenizer\": null}" };
  for (size_t i = 0; i < 3; i++) {
    ck_assert_int_eq(try_text(other[i], &t, &why), TOKENIZER_OTHER_KIND);
    ck_assert_ptr_null(t);
    ck_assert_uint_gt(strlen(why.text), 20);
  }
  char dir[] = "/tmp/incipit-empty-XXXXXX", model[100];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(tokenizer_try(&M, dir, &t, &why), TOKENIZER_ABSENT);
  ck_assert_ptr_nonnull(strstr(why.text, dir));
  snprintf(model, sizeof model, "%s/tokenizer.model", dir);
  fclose(fopen(model, "w"));
  ck_assert_int_eq(
    tokenizer_try(&M, dir, &t, &why), TOKENIZER_REFUSED); /* an empty file is no model */
  FILE *f = fopen(model, "wb");
  fwrite("\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02\x12\x02\x18\x03", 1, 20,
    f); /* one piece, and no other words */
  fclose(f);
  ck_assert_int_eq(tokenizer_try(&M, dir, &t, &why), TOKENIZER_OTHER_KIND);
  ck_assert_ptr_nonnull(strstr(why.text, "words"));
  unlink(model);
  rmdir(dir);
  ck_assert_int_eq(tokenizer_try(&M, dir, &t, &why), TOKENIZER_REFUSED);
  ck_assert_ptr_null(tokenizer_open(&M, dir, NULL));
  tokenizer_close(&M, NULL);
  at_peace();
}
END_TEST

START_TEST(added_tokens_with_their_marks)
{
  struct tokenizer *t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"<m>\", \"lstrip\": true, \"special\": true}, {\"id\": 301, "
    "\"content\": \"<r>\", \"rstrip\": true, \"special\": true},"
    "{\"id\": 302, \"content\": \"cat\", \"single_word\": true}, {\"id\": 303, \"content\": "
    "\"<t>\"}, {\"id\": 304, \"content\": \"<t>x\"}]",
    "null", PRE, "null", DEC, ""));
  expect(t, "a \t<m> a", false, true, "97 300 257");
  expect(t,
    "a<r> \xe3\x80\x80"
    "a",
    false, true, "97 301 97");
  expect(t, "<r> <m>", false, true, "301 300");
  expect(t, "cat", false, false, "302");
  expect(t, "cats", false, false, "99 97 116 115");
  expect(t, "a cat!", false, false, "97 32 302 33");
  expect(t,
    "\xe2\x93\x90"
    "cat",
    false, false, "226 147 144 99 97 116"); /* a circled letter is a letter */
  expect(t,
    "\xc3\xa9"
    "cat",
    false, false, "195 169 99 97 116");
  expect(t, "<t>x<t>", false, false, "304 303");
  expect(t, "<m>", false, false, "60 109 62");
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* ---- memory that is refused ------------------------------------------------------------- */

static bool whole_life(struct memory *m, const char *path, struct error *why)
{
  struct bpe_merge *merge = NULL;
  size_t n = 0;
  struct tokenizer *t = NULL, *u = NULL;
  struct ids out = { 0 };
  struct bytes back = { 0 };
  struct stream s = { .n = 0 };
  bool ok = bpe_train(m, lines, strlen(lines), split_gpt2, 40, &merge, &n, why);
  ok = ok && tokenizer_write(m, path, merge, n, why);
  ok = ok && (t = tokenizer_from_merges(m, merge, n, why)) != NULL;
  ok = ok && (u = tokenizer_open(m, path, why)) != NULL;
  ok = ok && tokenizer_encode(t, m, lines, strlen(lines), true, true, &out, why);
  size_t n_before = out.n;
  if (ok && !tokenizer_encode(u, m, lines, strlen(lines), true, true, &out, why)) {
    ok = false;
    ck_assert_uint_eq(out.n, n_before);
  }
  ok = ok && tokenizer_decode(u, m, out.id, out.n, false, &back, why);
  if (ok) {
    struct bytes shown = { 0 };
    ok = utf8_lossy(m, back.byte, back.n, &shown, why);
    bytes_free(m, &shown);
  }
  ok = ok && stream_feed(m, &s, (const unsigned char *) "a\xe2", 2, &back, why)
    && stream_flush(m, &s, &back, why);
  ids_free(m, &out);
  bytes_free(m, &back);
  tokenizer_close(m, t);
  tokenizer_close(m, u);
  bpe_forget(m, merge);
  return ok;
}

START_TEST(every_refusal_is_survived)
{
  char path[] = "/tmp/incipit-refuse-XXXXXX";
  close(mkstemp(path));
  struct error why;
  struct memory m = { 0 };
  ck_assert(whole_life(&m, path, &why));
  ck_assert_uint_eq(m.all.live, 0);
  ck_assert_uint_eq(m.of[MEMORY_TOKENS].requested, m.all.requested);
  uint64_t requests = m.all.requests;
  ck_assert_uint_gt(requests, 100);
  unsigned failures = 0;
  for (uint64_t k = 1; k <= requests; k++) {
    struct memory bad = { .fail_at = k };
    why.text[0] = 0;
    if (!whole_life(&bad, path, &why)) {
      failures++;
      ck_assert_uint_gt(strlen(why.text), 5);
    }
    ck_assert_msg(bad.all.live == 0, "request %d of %d: %d bytes lost", (int) k, (int) requests,
      (int) bad.all.live);
  }
  ck_assert_uint_gt(
    failures, requests / 2); /* PCRE2 does without its compiled code; all others must be said */
  /* the added tokens, the normal form, the blank before a text */
  const char *text = describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"e\\u0301\", \"normalized\": true}]", "{\"type\": \"NFC\"}",
    "{\"type\": \"ByteLevel\"}",
    "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"s\"}}, "
    "{\"Sequence\": {\"id\": \"A\"}}], "
    "\"special_tokens\": {\"s\": {\"ids\": [300]}}}",
    DEC, "");
  FILE *f = fopen(path, "w");
  fputs(text, f);
  fclose(f);
  for (uint64_t k = 1;; k++) {
    struct memory bad = { .fail_at = k };
    struct tokenizer *t = tokenizer_open(&bad, path, &why);
    struct ids out = { 0 };
    if (t != NULL) tokenizer_encode(t, &bad, "ae\xcc\x81 b", 6, true, true, &out, &why);
    ids_free(&bad, &out);
    tokenizer_close(&bad, t);
    ck_assert_uint_eq(bad.all.live, 0);
    if (bad.all.requests < k) break;
  }
  unlink(path);
}
END_TEST

/* jansson and utf8proc take their memory from the system, outside our books; so the system's own
   functions are wrapped here, and refuse the k-th request, whoever makes it */
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WRAPPED 1
static bool armed;
static long asked, refused_at;
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool refused_now(void)
{
  return armed && ++asked == refused_at;
}
void *malloc(size_t n)
{
  return refused_now() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
  return refused_now() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
  return refused_now() ? NULL : __libc_realloc(p, n);
}
#endif

START_TEST(the_systems_memory_may_be_refused)
{
#ifdef WRAPPED
  const char *text = describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"e\\u0301\", \"normalized\": true}]", "{\"type\": \"NFC\"}", PRE,
    "null", DEC, "");
  char path[] = "/tmp/incipit-system-XXXXXX", out_path[] = "/tmp/incipit-system-XXXXXX";
  close(mkstemp(path)), close(mkstemp(out_path));
  FILE *f = fopen(path, "w");
  fputs(text, f);
  fclose(f);
  static const struct bpe_merge merge[] = { { 97, 98 }, { 256, 99 } };
  unsigned failures = 0, sentences = 0, rounds = 0;
  for (refused_at = 1;; refused_at++, rounds++) {
    struct error why = { "" };
    struct memory m = { 0 };
    struct ids out = { 0 };
    bool ok = true;
    asked = 0, armed = true;
    struct tokenizer *t = tokenizer_open(&m, path, &why);
    if (t == NULL)
      ok = false;
    else {
      if (!tokenizer_encode(t, &m, "ae\xcc\x81 b", 6, true, true, &out, &why)) ok = false;
      if (ok && !tokenizer_write(&m, out_path, merge, 2, &why)) ok = false;
    }
    armed = false;
    ids_free(&m, &out);
    tokenizer_close(&m, t);
    hold(m.all.live == 0);
    if (!ok) failures++, sentences += why.text[0] != 0;
    if (asked < refused_at) break;
  }
  ck_assert_uint_gt(rounds, 500);
  ck_assert_uint_gt(failures, rounds / 2);
  ck_assert_uint_eq(failures, sentences);
  unlink(path), unlink(out_path);
#endif
}
END_TEST

START_TEST(versions_of_unicode_are_told)
{
  char a[24], b[24];
  tokenizer_unicode(a, b);
  ck_assert_int_ge(atoi(a), 14);
  ck_assert_int_ge(atoi(b), 12);
  ck_assert_ptr_nonnull(strchr(a, '.'));
}
END_TEST

/* a step that fails in the middle leaves the list as it was, and the next step is right:
   a letter that nothing spells, a byte, and every request for memory */
static const char few_letters[] =
  "{\"decoder\": {\"type\": \"Fuse\"}, \"model\": {\"type\": "
  "\"BPE\", "
  "\"byte_fallback\": true, \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"<0xC3>\": 3}, "
  "\"merges\": [\"a b\"]}}";
START_TEST(a_failed_encoding_leaves_nothing)
{
  static const struct {
    const char *text, *words;
  } bad[] = { { "abz", "the character U+007A" }, { "aby\xc3\xa9z", "U+0079" },
    { "ab\xff", "byte 0xff" },
    { "a\xc3\xff\xfe"
      "b",
      "byte 0xff" },
    { "\xc3"
      "a\xe2"
      "b",
      "byte 0xe2" } };
  struct tokenizer *t = must(few_letters);
  struct ids out = { 0 };
  struct error why = { "" };
  ck_assert(tokenizer_encode(t, &M, "aab", 3, true, false, &out, &why) && out.n == 2);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    for (int inside = 0; inside < 2; inside++) {
      size_t n = strlen(bad[i].text);
      bool ok = inside ? tokenizer_encode_inside(t, &M, bad[i].text, n, &out, &why)
                       : tokenizer_encode(t, &M, bad[i].text, n, true, false, &out, &why);
      ck_assert_msg(!ok && strstr(why.text, bad[i].words) != NULL, "%zu: %s", i, why.text);
      ck_assert_msg(out.n == 2 && out.id[0] == 0 && out.id[1] == 2, "%zu left %zu", i, out.n);
      expect(t, "ab\xc3", false, false, "2 3");
    }
  ids_free(&M, &out);
  /* the same with memory that is refused, for encoding and for decoding */
  char text[3000];
  for (size_t i = 0; i < sizeof text; i++) text[i] = "ab"[i * i % 7 % 2];
  bool done = false;
  for (uint64_t k = 1; !done; k++)
    for (int inside = 0; inside < 2; inside++) {
      struct memory m = { 0 };
      struct bytes back = { 0 };
      ck_assert(ids_push(&m, &out, 2, NULL) && bytes_push(&m, &back, "?", 1, NULL));
      m.fail_at = m.all.requests + k;
      bool ok = inside ? tokenizer_encode_inside(t, &m, text, sizeof text, &out, NULL)
                       : tokenizer_encode(t, &m, text, sizeof text, true, false, &out, NULL);
      ck_assert(ok || (out.n == 1 && out.id[0] == 2));
      done = ok && tokenizer_decode(t, &m, out.id + 1, out.n - 1, false, &back, NULL);
      ck_assert(done ? back.n == sizeof text + 1 : back.n == 1 && back.byte[0] == '?');
      ids_free(&m, &out), bytes_free(&m, &back);
      ck_assert_uint_eq(m.all.live, 0);
    }
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* what a word is, by Unicode's definition: letters, marks, digits and joiners, one by one; a token
   that must be a whole word has none beside it */
#define ADDED(marks) "[{\"id\": 300, \"content\": \"TT\", \"special\": false, " marks "}]"
static char *around(char buffer[40], uint32_t c, bool before)
{
  utf8proc_uint8_t one[5] = { 0 };
  utf8proc_encode_char((utf8proc_int32_t) c, one);
  sprintf(buffer, "%s%s", before ? (char *) one : "TT", before ? "TT" : (char *) one);
  return buffer;
}
static bool has_id(struct tokenizer *t, const char *text, uint32_t id)
{
  struct ids out = { 0 };
  bool found = false;
  ck_assert(tokenizer_encode(t, &M, text, strlen(text), false, false, &out, NULL));
  for (size_t i = 0; i < out.n; i++) found = found || out.id[i] == id;
  ids_free(&M, &out);
  return found;
}
START_TEST(a_word_ends_where_unicode_says)
{
  static const uint32_t inside[] = { 'a', 'Z', '0', '9', '_', 0xaa, 0xe9, 0x1c5, 0x2b0, 0x301,
    0x5d0, 0x660, 0x903, 0x200c, 0x200d, 0x203f, 0x2040, 0x20dd, 0x2160, 0x24b6, 0x24e9, 0x4e00,
    0xff3f, 0x1f130, 0x1f149, 0x1f150, 0x1f169, 0x1f170, 0x1f189, 0x20000 };
  static const uint32_t outside[] = { '-', '.', ' ', '$', '@', '[', '`', 0xb2, 0xbd, 0x200b, 0x200e,
    0x2013, 0x2081, 0x2460, 0x24b5, 0x24ea, 0x1f12f, 0x1f14a, 0x1f14f, 0x1f16a, 0x1f16f, 0x1f18a,
    0x1f600 };
  struct tokenizer *t = must(describe(
    MODEL, VOCAB_EXTRA, MERGES, ADDED("\"single_word\": true"), "null", PRE, "null", DEC, ""));
  enum { IN = sizeof inside / sizeof *inside, OUT = sizeof outside / sizeof *outside };
  char buffer[40];
  for (size_t i = 0; i < IN + OUT; i++)
    for (int before = 0; before < 2; before++) {
      uint32_t c = i < IN ? inside[i] : outside[i - IN];
      bool found = has_id(t, around(buffer, c, before), 300);
      ck_assert_msg(found == (i >= IN), "U+%04X %s", c, before ? "before" : "behind");
    }
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* the white space that a token takes with it: these twenty-five characters and no others, also
   right behind another token */
START_TEST(a_token_takes_white_space)
{
  static const uint32_t white[] = { 9, 10, 11, 12, 13, 32, 0x85, 0xa0, 0x1680, 0x2000, 0x2001,
    0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f,
    0x205f, 0x3000 };
  static const char *const left[][2] = { { "TT TT", "300 300" }, { "TTTT", "300 300" },
    { " TT  TTa", "300 300 97" }, { "TT a", "300 257" } };
  static const char *const right[][2] = { { "TT TT", "300 300" }, { "TT  TT ", "300 300" },
    { " TT", "32 300" }, { "TT aTT", "300 97 300" } };
  for (int k = 0; k < 2; k++) {
    struct tokenizer *t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
      k ? ADDED("\"rstrip\": true") : ADDED("\"lstrip\": true"), "null", PRE, "null", DEC, ""));
    char buffer[40];
    size_t w = 0;
    for (uint32_t c = 1; c < 0x3100; c++) {
      struct ids out = { 0 };
      around(buffer, c, !k);
      ck_assert(tokenizer_encode(t, &M, buffer, strlen(buffer), false, false, &out, NULL));
      bool taken = w < sizeof white / sizeof *white && white[w] == c;
      w += taken;
      if ((out.n == 1) != taken) ck_abort_msg("U+%04X: %zu ids", c, out.n);
      ids_free(&M, &out);
    }
    for (int i = 0; i < 4; i++)
      expect(t, (k ? right : left)[i][0], false, false, (k ? right : left)[i][1]);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* what stands behind something else is no beginning: broken bytes, an added token, another piece; nor
   is a text inside another */
START_TEST(only_the_beginning_begins)
{
  static const char letters[] =
    "{\"decoder\": {\"type\": \"Fuse\"}, \"added_tokens\": [{\"id\": 9, \"content\": \"<m>\"}, "
    "{\"id\": 10, \"content\": \"<s>\", \"special\": true}], "
    "\"pre_tokenizer\": %s, \"model\": {\"type\": \"BPE\", \"unk_token\": \".\", \"vocab\": "
    "{\"a\": 0, \"b\": 1, \"\xe2\x96\x81\": 2, \".\": 3}, \"merges\": []}}";
  static const char meta[] = "{\"type\": \"Metaspace\", \"replacement\": \"\xe2\x96\x81\", "
    "\"prepend_scheme\": \"%s\"%s}";
  static const char cut[] = "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", "
    "\"pattern\": {\"String\": \"b\"}, \"behavior\": \"Isolated\"}, %s]}";
  static const char *const say[][5] = { /* first, always, never; first behind a cut; first inside */
    { "ab", "2 0 1", "2 0 1", "0 1", "2 0 1" },
    { "a b", "2 0 2 1", "2 0 2 1", "0 2 1", "2 0 2 1" },
    { "a\xff" "b", "2 0 3 1", "2 0 3 2 1", "0 3 1", "2 0 3 1" },
    { "\xff" "b", "3 1", "3 2 1", "3 1", "3 1" },
    { "a\xff\xfe" "b\xff" "a", "2 0 3 3 1 3 0", "2 0 3 3 2 1 3 2 0", "0 3 3 1 3 0", "2 0 3 3 1 3 0" },
    { "a<m>b", "2 0 9 1", "2 0 9 2 1", "0 9 1", "2 0 9 1" },
    { "<m>b<m>a", "9 1 9 0", "9 2 1 9 2 0", "9 1 9 0", "9 1 9 0" },
    { "<m>", "9", "9", "9", "9" }, { "", "", "", "", "" } };
  for (int k = 0; k < 4; k++) {
    char one[200], whole[400], text[1200];
    snprintf(one, sizeof one, meta, k == 1 ? "always" : k == 2 ? "never" : "first",
      k == 3 ? ", \"split\": false" : "");
    snprintf(whole, sizeof whole, k == 3 ? cut : "%s", one);
    snprintf(text, sizeof text, letters, whole);
    struct tokenizer *t = must(text);
    for (size_t i = 0; i < sizeof say / sizeof *say; i++) {
      struct ids out = { 0 };
      expect(t, say[i][0], false, true, say[i][k + 1]);
      ck_assert(tokenizer_encode_inside(t, &M, say[i][0], strlen(say[i][0]), &out, NULL));
      /* inside, first is never */
      size_t want = strlen(say[i][k == 1 ? 2 : 3]);
      ck_assert_msg(out.n == (want + 1) / 2, "%d, %s: %zu ids inside", k, say[i][0], out.n);
      ids_free(&M, &out);
    }
    struct ids out = { 0 }; /* and has no special tokens: only letters */
    ck_assert(tokenizer_encode_inside(t, &M, "<s>", 3, &out, NULL) && out.n > 0);
    for (size_t i = 0; i < out.n; i++) ck_assert_uint_ne(out.id[i], 10);
    ids_free(&M, &out);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* what a file leaves out, or says is null, has the value that the library gives it: a special token is
   looked for in the text as it comes, another one in its normal form; and takes nothing with it */
START_TEST(what_a_file_leaves_out)
{
  for (int null = 0; null < 2; null++) {
    char added[700];
    const char *none = null ? ", \"lstrip\": null, \"rstrip\": null, \"single_word\": null, \"normalized\": null" : "";
    snprintf(added, sizeof added, "[{\"id\": 300, \"content\": \"<Q>\", \"special\": true%s}, "
      "{\"id\": 301, \"content\": \"[Q]\"%s%s}]", none, none, null ? ", \"special\": null" : "");
    struct tokenizer *t = must(describe(null ? "\"ignore_merges\": null," : "",
      VOCAB_EXTRA ", \"bab\": 259", MERGES, added,
      "{\"type\": \"Replace\", \"pattern\": {\"String\": \"Q\"}, \"content\": \"q\"}", PRE, "null", DEC, ""));
    expect(t, "<Q>", false, true, "300");
    expect(t, "<q>", false, true, "60 113 62");
    expect(t, "[Q]", false, false, "301");
    expect(t, "[q]", false, false, "301");
    expect(t, "Q", false, true, "113");
    expect(t, "a <Q> a", false, true, "97 32 300 257");
    expect(t, "a [Q] a", false, true, "97 32 301 257");
    expect(t, "x<Q>x[Q]x", false, true, "120 300 120 301 120");
    expect(t, "<Q>", false, false, "60 113 62"); /* what a user types is no special token */
    expect(t, "bab", false, false, "98 256");    /* and a piece is not looked up whole */
    ck_assert(tokenizer_is_special(t, 300) && !tokenizer_is_special(t, 301) && !tokenizer_is_special(t, 97));
    tokenizer_close(&M, t);
  }
  static const char letters[] = "{\"decoder\": {\"type\": \"Fuse\"}, \"model\": {\"type\": \"BPE\", "
    "\"unk_token\": \".\"%s, \"vocab\": {\".\": 0, \"a\": 1%s}, \"merges\": []}}";
  char bytes[256 * 16] = "", text[256 * 16 + 300];
  for (int b = 0; b < 256; b++) sprintf(bytes + strlen(bytes), ", \"<0x%02X>\": %d", b, 2 + b);
  for (int k = 0; k < 3; k++) { /* unknown letters stand alone, and are not spelt in bytes */
    snprintf(text, sizeof text, letters, k == 1 ? ", \"fuse_unk\": null, \"byte_fallback\": null"
      : k == 2 ? ", \"fuse_unk\": true, \"byte_fallback\": false" : "", bytes);
    struct tokenizer *t = must(text);
    expect(t, "xya", false, false, k == 2 ? "0 1" : "0 0 1");
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* special tokens are skipped, one or many; the first of those before a text begins it; tables have the room
   that was said for so many ids and merges at most, and say how many letters they have room for */
START_TEST(what_is_skipped_and_what_is_counted)
{
  static const struct bpe_merge merge[] = { { 97, 98 } };
  struct error why = { "" };
  struct tokenizer *t = tokenizer_from_merges(&M, merge, 1, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  static const uint32_t id[] = { 0, 98, 0, 257, 0 };
  struct bytes out = { 0 };
  for (int skip = 0; skip < 2; skip++, out.n = 0) {
    const char *want = skip ? "aab" : "<|endoftext|>a<|endoftext|>ab<|endoftext|>";
    ck_assert(tokenizer_decode(t, &M, id, 5, skip, &out, &why));
    ck_assert(out.n == strlen(want) && memcmp(out.byte, want, out.n) == 0);
  }
  bytes_free(&M, &out);
  for (int k = 0; k < 2; k++) {
    struct tokenizer_tables now = tokenizer_tables(t);
    ck_assert_uint_eq(now.ids, k ? 302 : 258);
    ck_assert_uint_eq(now.merges, k ? 3 : 1);
    ck_assert_uint_le(now.bytes, tokenizer_bytes(now.ids, now.merges));
    ck_assert_uint_eq(now.letters, t->string_pool.cap);
    tokenizer_close(&M, t);
    if (k == 1) break;
    t = must(describe(MODEL, VOCAB_EXTRA, MERGES, "[{\"id\": 300, \"content\": \"<s>\", \"special\": true}, "
      "{\"id\": 301, \"content\": \"<t>\", \"special\": true}]", "null", PRE,
      "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"t\"}}, {\"SpecialToken\": "
      "{\"id\": \"s\"}}, {\"Sequence\": {\"id\": \"A\"}}, {\"SpecialToken\": {\"id\": \"s\"}}], "
      "\"special_tokens\": {\"s\": {\"id\": \"s\", \"ids\": [300]}, \"t\": {\"id\": \"t\", \"ids\": [301]}}}", DEC, ""));
    uint32_t begin;
    ck_assert(tokenizer_bos(t, &begin) && begin == 301);
    expect(t, "ab", true, false, "301 300 256 300");
    expect(t, "", true, false, "301 300 300");
  }
  at_peace();
}
END_TEST

/* two tokens with one text, and one that begins like another; a merge that makes itself */
START_TEST(of_two_tokens_with_one_text_the_first_counts)
{
  struct tokenizer *t = must(describe(MODEL, VOCAB_EXTRA, MERGES,
    "[{\"id\": 300, \"content\": \"TT\"}, "
    "{\"id\": 301, \"content\": \"TT\"}, {\"id\": 302, \"content\": \"TTT\"}]",
    "null", PRE, "null", DEC, ""));
  expect(t, "TTxTTTxTTTT", false, false, "300 120 302 120 302 84");
  uint32_t id;
  ck_assert(tokenizer_find(t, "TT", 2, &id) && id == 300);
  ck_assert(tokenizer_find(t, "TTT", 3, &id) && id == 302);
  tokenizer_close(&M, t);
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t own = 255; own < 258; own++) {
      const struct bpe_merge merge[] = { { k ? own : 97, k ? 97 : own } };
      struct error why = { "" };
      t = tokenizer_from_merges(&M, merge, 1, &why);
      ck_assert_msg((t != NULL) == (own < 256), "%u: %s", own, why.text);
      if (t == NULL) ck_assert_str_eq(why.text, "merge 0 joins ids that are not made yet");
      tokenizer_close(&M, t);
    }
  at_peace();
}
END_TEST

/* ids in a file are at most as large as the file is long: the largest, and one more */
START_TEST(an_id_is_smaller_than_its_file)
{
  char added[100], wanted[100];
  snprintf(added, sizeof added, "[{\"id\": 9999, \"content\": \"<x>\"}]");
  size_t n = strlen(describe(MODEL, VOCAB_EXTRA, MERGES, added, "null", PRE, "null", DEC, ""));
  ck_assert(n > 1000 && n < 9999);
  for (size_t id = n - 1; id <= n + 1; id++) {
    struct tokenizer *t;
    struct error why = { "" };
    snprintf(added, sizeof added, "[{\"id\": %zu, \"content\": \"<x>\"}]", id);
    describe(MODEL, VOCAB_EXTRA, MERGES, added, "null", PRE, "null", DEC, "");
    enum tokenizer_found found = try_text(description, &t, &why);
    snprintf(wanted, sizeof wanted, "added_tokens[0].id is %zu; wanted: an integer from 0 to %zu",
      id, n - 1);
    ck_assert_msg(found == (id < n ? TOKENIZER_OPEN : TOKENIZER_REFUSED), "%zu: %s", id, why.text);
    ck_assert_msg(id < n || strstr(why.text, wanted) != NULL, "%s", why.text);
    if (t != NULL) ck_assert_uint_eq(tokenizer_vocab_size(t), id + 1);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* a list of merges, line by line: only a first line may tell a version; ends of lines of both
   kinds; the line that is wrong is the one that is named, and its file */
START_TEST(lines_of_merges)
{
  static const struct {
    const char *lines, *ids, *words;
  } c[] = { { "#version: 0.2\na b\nab ab\n", "4", NULL }, { "a b\nab ab", "4", NULL },
    { "#version: 0.2\r\na b\r\nab ab\r\n", "4", NULL }, { "\n\na b\n\nab ab\n\n", "4", NULL },
    { "a b\n#version c\n", "3 3", NULL }, { "", "0 1 0 1", NULL },
    { "#version c\na b\n", "3 3", NULL }, { "a b\n#version: 0.2\n", NULL, "line 2 is" },
    { "#versio c\na b\n", NULL, "line 1 is" }, { "a b\nab  ab\n", NULL, "line 2 is" },
    { "#version: 0.2\n\na b\nb a\n", NULL, "line 4 is \"b\" and \"a\"; wanted: two words" },
    { "a b\nab\n", NULL, "line 2 is without a blank" },
    { "a b\r\n\xff b\r\n", NULL, "line 2 is not UTF-8" }, { "a b\n b\n", NULL, "line 2 is" },
    { "a b\na \n", NULL, "line 2 is" } };
  char dir[] = "/tmp/incipit-lines-XXXXXX", path[100], merges[100];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/vocab.json", dir);
  snprintf(merges, sizeof merges, "%s/merges.txt", dir);
  FILE *f = fopen(path, "w");
  fputs("{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"abab\":4,\"#version\":5,\"#versionc\":6}       ", f);
  fclose(f);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct error why = { "" };
    f = fopen(merges, "w");
    fputs(c[i].lines, f);
    fclose(f);
    struct tokenizer *t = tokenizer_open(&M, dir, &why);
    ck_assert_msg((t != NULL) == (c[i].ids != NULL), "%zu: %s", i, why.text);
    if (t != NULL)
      expect(t, "abab", false, false, c[i].ids);
    else
      ck_assert_msg(strstr(why.text, c[i].words) != NULL && strstr(why.text, merges) == why.text,
        "%zu: %s", i, why.text);
    tokenizer_close(&M, t);
  }
  unlink(path), unlink(merges), rmdir(dir);
  at_peace();
}
END_TEST

/* a message quotes whole characters, names the field that is wrong, and not the one beside it */
START_TEST(a_message_names_the_field_that_is_wrong)
{
  char deep[2][300] = { "", "" }, pre[900], quoted[120] = "";
  for (int k = 0; k < 60; k++) strcat(deep[0], "("), strcat(deep[1], "(");
  strcat(deep[0], "a"), strcat(deep[1], "(a)");
  for (int k = 0; k < 60; k++) strcat(deep[0], ")"), strcat(deep[1], ")");
  const struct {
    const char *regex, *words;
  } c[] = { { deep[0], NULL }, { deep[1], "groups in groups in groups" }, { "\\p{Lu}", NULL },
    { "\\p{^Lu}", NULL }, { "\\p{L}", NULL }, { "\\p{Lux}", "a property with a long name" },
    { "\\p{^Lux}", "a property with a long name" } };
  struct tokenizer *t;
  struct error why;
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    char *p = pre
      + sprintf(pre,
        "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
        "\"Split\", "
        "\"pattern\": {\"Regex\": \"");
    for (const char *r = c[i].regex; *r; r++) p += sprintf(p, *r == '\\' ? "\\\\" : "%c", *r);
    sprintf(p, "\"}, \"behavior\": \"Isolated\"}, " PRE "]}");
    try_text(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, "null", pre, "null", DEC, ""), &t, &why);
    ck_assert_msg((t != NULL) == (c[i].words == NULL), "%s: %s", c[i].regex, why.text);
    ck_assert_msg(t != NULL || strstr(why.text, c[i].words) != NULL, "%s", why.text);
    tokenizer_close(&M, t);
  }
  /* 59 letters and a character of two bytes: neither half of it is quoted */
  for (int k = 0; k < 59; k++) strcat(quoted, "x");
  for (int whole = 0; whole < 2; whole++) {
    sprintf(pre, "{\"type\": \"%s\xc3\xa9%s\"}", quoted + whole, quoted);
    try_text(describe(MODEL, VOCAB_EXTRA, MERGES, NONE, pre, PRE, "null", DEC, ""), &t, &why);
    char *end = strstr(why.text, "\"; wanted: NFC");
    bool all;
    ck_assert_msg(t == NULL && end != NULL, "%s", why.text);
    ck_assert(strncmp(end - 3, "...", 3) == 0 && end[-4] == (whole ? '\xa9' : 'x'));
    ck_assert(
      utf8_run((unsigned char *) why.text, strlen(why.text), &all) == strlen(why.text) && all);
  }
  /* the blanks that a decoder may take: one at the beginning, none at the end */
  static const struct {
    int start, stop;
    const char *words;
  } strip[] = { { 0, 0, NULL }, { 1, 0, NULL }, { 2, 0, "decoder.start is 2; wanted: 0 or 1" },
    { 1, 1, "decoder.stop is 1; wanted: 0" }, { -1, 0, "decoder.start is -1" },
    { 0, -1, "decoder.stop is -1" } };
  for (size_t i = 0; i < sizeof strip / sizeof *strip; i++) {
    sprintf(pre,
      "{\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Fuse\"}, "
      "{\"type\": "
      "\"Strip\", \"content\": \" \", \"start\": %d, \"stop\": %d}]}, \"model\": {\"type\": "
      "\"BPE\", "
      "\"vocab\": {\"a\": 0}, \"merges\": []}}",
      strip[i].start, strip[i].stop);
    try_text(pre, &t, &why);
    ck_assert_msg((t != NULL) == (strip[i].words == NULL), "%zu: %s", i, why.text);
    const char *dot = t == NULL ? strrchr(strip[i].words, '.') + 1 : "";
    ck_assert_msg(strstr(why.text, dot) != NULL, "%s", why.text);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* the file beside: which of its four fields is wrong; and what cannot be put in its place is gone
 */
START_TEST(a_file_beside_is_named_or_removed)
{
  static const struct {
    const char *config, *words;
  } c[] = { { "{\"add_bos_token\": true, \"bos_token\": \"q\"}", ": bos_token is \"q\"" },
    { "{\"add_eos_token\": true, \"eos_token\": \"q\", \"bos_token\": \"a\"}",
      ": eos_token is \"q\"" },
    { "{\"add_bos_token\": 1}", ": add_bos_token is 1" },
    { "{\"add_bos_token\": true, \"bos_token\": \"a\", \"add_eos_token\": 2}",
      ": add_eos_token is 2" },
    { "{\"add_eos_token\": true}", ": eos_token is missing" } };
  char dir[] = "/tmp/incipit-beside-XXXXXX", path[100], config[100], beside[110];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/tokenizer.json", dir);
  snprintf(config, sizeof config, "%s/tokenizer_config.json", dir);
  FILE *f = fopen(path, "w");
  fputs(few_letters, f);
  fclose(f);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct error why = { "" };
    f = fopen(config, "w");
    fputs(c[i].config, f);
    fclose(f);
    ck_assert_ptr_null(tokenizer_open(&M, dir, &why));
    ck_assert_msg(
      strstr(why.text, c[i].words) != NULL && strstr(why.text, config) == why.text, "%s", why.text);
  }
  unlink(config), unlink(path);
  /* a folder has the name: the new file cannot move there */
  static const struct bpe_merge merge[] = { { 97, 98 } };
  struct error why = { "" };
  ck_assert_int_eq(mkdir(path, 0700), 0);
  ck_assert(!tokenizer_write(&M, path, merge, 1, &why));
  ck_assert_msg(strstr(why.text, path) && strstr(why.text, "this is a directory; wanted: a regular file"), "%s", why.text);
  ck_assert_int_eq(rmdir(path), 0);
  /* a link stays, and its file is replaced; nothing is left beside it */
  snprintf(beside, sizeof beside, "%s/other.json", dir);
  ck_assert_int_eq(symlink("other.json", path), 0);
  ck_assert(tokenizer_write(&M, path, merge, 1, &why));
  struct stat st;
  ck_assert(lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && lstat(beside, &st) == 0 && S_ISREG(st.st_mode));
  ck_assert(unlink(path) == 0 && unlink(beside) == 0 && rmdir(dir) == 0);
  at_peace();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("tokenizer");
  TCase *t = tcase_create("tokens");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, golden_tokenizers);
  tcase_add_test(t, one_tokenizer_serves_several_threads);
  tcase_add_test(t, travelling_tokenizers);
  tcase_add_test(t, stages_as_they_are_found);
  tcase_add_test(t, gpt2_from_its_own_files);
  tcase_add_test(t, any_bytes_come_back);
  tcase_add_test(t, a_written_tokenizer_is_the_one_in_memory);
  tcase_add_test(t, a_small_description_does_what_it_says);
  tcase_add_test(t, younger_characters_have_no_script);
  tcase_add_test(t, a_pattern_has_one_reading);
  tcase_add_test(t, a_letter_of_a_word_is_that_of_the_files);
  tcase_add_test(t, places_are_those_of_the_files);
  tcase_add_test(t, the_normal_form_is_the_normal_form);
  tcase_add_test(t, corners_of_other_libraries);
  tcase_add_test(t, every_defect_has_its_own_sentence);
  tcase_add_test(t, what_follows_is_done);
  tcase_add_test(t, settings_for_batches_are_told);
  tcase_add_test(t, another_kind_is_told_apart);
  tcase_add_test(t, added_tokens_with_their_marks);
  tcase_add_test(t, every_refusal_is_survived);
  tcase_add_test(t, the_systems_memory_may_be_refused);
  tcase_add_test(t, versions_of_unicode_are_told);
  suite_add_tcase(s, t);
  t = tcase_create("edges");
  tcase_add_test(t, a_failed_encoding_leaves_nothing);
  tcase_add_test(t, a_word_ends_where_unicode_says);
  tcase_add_test(t, a_token_takes_white_space);
  tcase_add_test(t, of_two_tokens_with_one_text_the_first_counts);
  tcase_add_test(t, only_the_beginning_begins);
  tcase_add_test(t, what_a_file_leaves_out);
  tcase_add_test(t, what_is_skipped_and_what_is_counted);
  tcase_add_test(t, an_id_is_smaller_than_its_file);
  tcase_add_test(t, lines_of_merges);
  tcase_add_test(t, a_message_names_the_field_that_is_wrong);
  tcase_add_test(t, a_file_beside_is_named_or_removed);
  suite_add_tcase(s, t);
  return suite_run(s);
}
