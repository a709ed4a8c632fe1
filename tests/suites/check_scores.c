/* Workshop 5: scores and ranks -- SentencePiece models and rank files, against the programs that
   they come from, against the definition, and against files that are wrong. */
#define _DEFAULT_SOURCE
#include "tokens.h"
#include <math.h>
#include "sentencepiece/sentencepiece.h"

/* ---- a message of SentencePiece, written ------------------------------------------------ */

static void put(struct bytes *b, unsigned c)
{
  unsigned char x = (unsigned char) c;
  ck_assert(bytes_push(&M, b, &x, 1, NULL));
}
static void put_number(struct bytes *b, uint64_t v)
{
  while (v > 127) put(b, 128 | (v & 127)), v >>= 7;
  put(b, (unsigned) v);
}
static void put_row(struct bytes *b, unsigned field, const void *p, size_t n)
{
  put_number(b, field << 3 | 2), put_number(b, n);
  ck_assert(bytes_push(&M, b, p, n, NULL));
}
static void put_flag(struct bytes *b, unsigned field, uint64_t v)
{
  put_number(b, field << 3), put_number(b, v);
}
static void put_piece(struct bytes *b, const char *words, size_t n, float score, unsigned type)
{
  struct bytes p = { 0 };
  put_row(&p, 1, words, n);
  put_number(&p, 2 << 3 | 5);
  ck_assert(bytes_push(&M, &p, &score, 4, NULL));
  put_flag(&p, 3, type);
  put_row(b, 1, p.byte, p.n);
  bytes_free(&M, &p);
}
struct how {
  uint64_t model, fallback, dummy, thin, escape, unknown;
  const char *name, *map;
};
static const struct how plain = { 2, 1, 1, 0, 1, 0, "identity", "" };
static void put_specs(struct bytes *b, const struct how *h)
{
  struct bytes p = { 0 };
  put_flag(&p, 3, h->model), put_flag(&p, 35, h->fallback), put_flag(&p, 40, h->unknown),
    put_flag(&p, 4, 8000);
  put_row(b, 2, p.byte, p.n);
  p.n = 0;
  put_row(&p, 1, h->name, strlen(h->name));
  if (h->map[0]) put_row(&p, 2, h->map, strlen(h->map));
  put_flag(&p, 3, h->dummy), put_flag(&p, 4, h->thin), put_flag(&p, 5, h->escape);
  put_row(b, 3, p.byte, p.n);
  bytes_free(&M, &p);
}
static const char *file_with(const void *p, size_t n)
{
  static char path[64];
  snprintf(path, sizeof path, "/tmp/incipit-scores-%d", (int) getpid());
  FILE *f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  if (n > 0) ck_assert_uint_eq(fwrite(p, 1, n, f), n);
  fclose(f);
  return path;
}
static struct tokenizer *open_bytes(const struct bytes *b, struct error *why)
{
  const char *path = file_with(b->byte, b->n);
  struct tokenizer *t = tokenizer_open(&M, path, why);
  unlink(path);
  return t;
}

/* appends to a string, of which there is room for all that these tests append */
static void append(char *to, const char *more, size_t n)
{
  size_t at = strlen(to);
  for (size_t i = 0; i < n && more[i]; i++) to[at++] = more[i];
  to[at] = 0;
}

/* ---- the programs that they come from ---------------------------------------------------- */

static bool encodes_to(struct tokenizer *t, json_t *text, json_t *ids, bool add)
{
  struct ids got = { 0 };
  bool ok = tokenizer_encode(
              t, &M, json_string_value(text), json_string_length(text), add, false, &got, NULL)
    && got.n == json_array_size(ids);
  for (size_t i = 0; ok && i < got.n; i++)
    ok = got.id[i] == json_integer_value(json_array_get(ids, i));
  ids_free(&M, &got);
  return ok;
}
/* does decoding give this string, with one U+FFFD for every maximal subpart? */
static bool decodes_to(struct tokenizer *t, json_t *ids, json_t *text)
{
  size_t n = json_array_size(ids);
  uint32_t *id = calloc(n + 1, sizeof *id);
  for (size_t i = 0; i < n; i++) id[i] = (uint32_t) json_integer_value(json_array_get(ids, i));
  struct bytes raw = { 0 }, lossy = { 0 };
  ck_assert(tokenizer_decode(t, &M, id, n, false, &raw, NULL));
  for (size_t at = 0, step; at < raw.n; at += step) {
    enum utf8_state state;
    step = utf8_next(raw.byte + at, raw.n - at, &state);
    bool whole = state == UTF8_WHOLE;
    ck_assert(bytes_push(&M, &lossy, whole ? raw.byte + at : (const unsigned char *) "\xef\xbf\xbd",
      whole ? step : 3, NULL));
  }
  bool same = lossy.n == json_string_length(text)
    && (lossy.n == 0 || memcmp(lossy.byte, json_string_value(text), lossy.n) == 0);
  bytes_free(&M, &raw);
  bytes_free(&M, &lossy);
  free(id);
  return same;
}

START_TEST(sentencepiece_itself)
{
  static const char *const file[] = { "vectors/sentencepiece/bpe_bf.json",
    "vectors/sentencepiece/bpe_unk.json" };
  for (int k = 0; k < 2; k++) {
    char buffer[400];
    if (shared_file(buffer, sizeof buffer, file[k]) == NULL) continue;
    json_t *all = load(buffer), *v, *vocab = json_object_get(all, "vocab");
    struct bytes b = { 0 };
    struct error why = { "" };
    size_t i;
    json_array_foreach(vocab, i, v)
    {
      json_t *w = json_array_get(v, 0);
      const char *type = json_string_value(json_array_get(v, 2));
      put_piece(&b, json_string_value(w), json_string_length(w),
        (float) json_number_value(json_array_get(v, 1)),
        strcmp(type, "normal") == 0      ? 1
          : strcmp(type, "unk") == 0     ? 2
          : strcmp(type, "control") == 0 ? 3
          : strcmp(type, "byte") == 0    ? 6
                                         : 4);
    }
    struct how h = plain;
    if (k == 1) h.name = "nmt_nfkc", h.map = "a map of characters", h.thin = 1, h.fallback = 0;
    put_specs(&b, &h);
    struct tokenizer *t = open_bytes(&b, &why);
    bytes_free(&M, &b);
    if (k == 1) { /* letters are changed by a map: refused by name */
      ck_assert_ptr_null(t);
      ck_assert_ptr_nonnull(strstr(why.text, "nmt_nfkc"));
      ck_assert_ptr_nonnull(strstr(why.text, "precompiled_charsmap"));
      tally(file[k], 1, 0, 0, "");
      json_decref(all);
      continue;
    }
    if (t == NULL) ck_abort_msg("%s", why.text);
    ck_assert_str_eq(tokenizer_kind(t), "SentencePiece BPE");
    unsigned good = 0, bad = 0;
    json_array_foreach(json_object_get(all, "encode"), i, v)
    {
      bool ok = encodes_to(t, json_object_get(v, "text"), json_object_get(v, "ids"), false)
        && decodes_to(t, json_object_get(v, "ids"), json_object_get(v, "decoded"));
      if (ok)
        good++;
      else if (bad++ < 5)
        fprintf(stderr, "%s: case %zu\n", file[k], i);
    }
    json_array_foreach(json_object_get(all, "decode_random"), i,
      v) if (decodes_to(t, json_object_get(v, "ids"), json_object_get(v, "decoded"))) good++;
    else if (bad++ < 5) fprintf(stderr, "%s: random ids %zu\n", file[k], i);
    tally(file[k], good, bad, 0, "");
    ck_assert_uint_eq(bad, 0);
    tokenizer_close(&M, t);
    json_decref(all);
  }
  at_peace();
}
END_TEST

START_TEST(tiktoken_itself)
{
  static const char *const name[3] = { "gpt2", "cl100k_base", "o200k_base" },
                           *const ranks[3] = { "r50k_base", "cl100k_base", "o200k_base" };
  char buffer[400];
  if (shared_file(buffer, sizeof buffer, "vectors/tiktoken/tiktoken_vectors.json") == NULL) return;
  json_t *all = load(buffer), *v;
  for (int k = 0; k < 3; k++) {
    char file[100];
    struct error why = { "" };
    snprintf(file, sizeof file, "data/tiktoken/%s.tiktoken", ranks[k]);
    struct tokenizer *t = tokenizer_open(&M, shared_file(buffer, sizeof buffer, file), &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    unsigned good = 0, bad = 0;
    size_t i;
    json_array_foreach(json_object_get(all, "cases"), i, v)
    {
      if (encodes_to(t, json_object_get(v, "text"), json_object_get(v, name[k]), false))
        good++;
      else if (bad++ < 5)
        fprintf(stderr, "%s: case %zu\n", name[k], i);
    }
    json_array_foreach(json_object_get(all, "quoted_from_tiktoken_tests"), i, v)
    {
      if (strcmp(json_string_value(json_object_get(v, "encoding")), name[k]) != 0) continue;
      if (encodes_to(t, json_object_get(v, "text"), json_object_get(v, "ids"), false))
        good++;
      else if (bad++ < 5)
        fprintf(stderr, "%s: quoted %zu\n", name[k], i);
    }
    char label[120];
    snprintf(label, sizeof label, "vectors/tiktoken: %s", name[k]);
    tally(label, good, bad, 0, "");
    ck_assert_uint_eq(bad, 0);
    static const struct {
      const char *text;
      uint32_t id[3];
    } special[] = { { "<|endoftext|>", { 50256, 100257, 199999 } },
      { "<|endofprompt|>", { 0, 100276, 200018 } }, { "<|fim_suffix|>", { 0, 100260, 0 } } };
    for (int s = 0; s < 3; s++) {
      uint32_t id;
      bool found = tokenizer_find(t, special[s].text, strlen(special[s].text), &id);
      ck_assert_int_eq(found, special[s].id[k] != 0);
      if (found) {
        ck_assert_uint_eq(id, special[s].id[k]);
        ck_assert(tokenizer_is_special(t, id));
      }
    }
    tokenizer_close(&M, t);
  }
  json_decref(all);
  at_peace();
}
END_TEST

/* what other libraries' tests expect of published vocabularies.  Two of our sentences differ from
   theirs: no clean-up of blanks before punctuation when decoding; and the texts of special tokens
   in their cases are parsed */
START_TEST(cases_of_other_libraries)
{
  static const char *const from[][2] = { { "Xenova__llama-tokenizer",
                                           "golden/tokenizers/llama2-legacy" },
    { "Xenova__llama-tokenizer", "data/llama2/tokenizer.model" },
    { "Xenova__gpt-4", "data/tiktoken/cl100k_base.tiktoken" },
    { "openai-community__gpt2", "golden/tokenizers/gpt2" } };
  for (size_t k = 0; k < 4; k++) {
    char buffer[400], file[120], label[200];
    struct error why = { "" };
    snprintf(file, sizeof file, "vectors/tokenizer_hf/%s.json", from[k][0]);
    snprintf(label, sizeof label, "%s with %s", file, from[k][1]);
    if (shared_file(buffer, sizeof buffer, file) == NULL) continue;
    json_t *all = load(buffer), *v;
    struct tokenizer *t = tokenizer_open(&M, shared_file(buffer, sizeof buffer, from[k][1]), &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    unsigned good = 0, bad = 0, otherwise = 0;
    size_t i;
    json_array_foreach(json_object_get(all, "cases"), i, v)
    {
      json_t *text = json_object_get(v, "text"), *ids = json_object_get(v, "ids"),
             *decoded = json_object_get(v, "decoded");
      struct ids got = { 0 };
      bool ok = tokenizer_encode(
                  t, &M, json_string_value(text), json_string_length(text), true, true, &got, NULL)
        && got.n == json_array_size(ids);
      for (size_t q = 0; ok && q < got.n; q++)
        ok = got.id[q] == json_integer_value(json_array_get(ids, q));
      ids_free(&M, &got);
      if (ok && !decodes_to(t, ids, decoded)) otherwise++;
      if (ok)
        good++;
      else if (bad++ < 5)
        fprintf(stderr, "%s: %s\n", label, json_string_value(json_object_get(v, "name")));
    }
    tally(label, good, bad, 0, "");
    ck_assert_uint_eq(bad, 0);
    ck_assert_uint_le(otherwise, 1); /* the one case of clean-up */
    snprintf(label, sizeof label, "  %s: one decoded otherwise: no clean-up of spaces", from[k][1]);
    if (otherwise > 0) tally(label, otherwise, 0, 0, "");
    tokenizer_close(&M, t);
    json_decref(all);
  }
  at_peace();
}
END_TEST

/* texts and ids that llama.cpp's tests have for GPT-2 */
START_TEST(cases_of_llama_cpp)
{
  char buffer[400];
  static const char mark[] = "\n__ggml_vocab_test__\n";
  if (shared_file(buffer, sizeof buffer, "vectors/tokenizer_gguf/ggml-vocab-gpt-2.gguf.inp")
    == NULL)
    return;
  size_t n, n_out;
  char *text = slurp(buffer, &n),
       *out = slurp(
         shared_file(buffer, sizeof buffer, "vectors/tokenizer_gguf/ggml-vocab-gpt-2.gguf.out"),
         &n_out),
       *line = out, *at = text;
  struct error why = { "" };
  struct tokenizer *t =
    tokenizer_open(&M, shared_file(buffer, sizeof buffer, "golden/tokenizers/gpt2"), &why);
  ck_assert_ptr_nonnull(t);
  unsigned good = 0, bad = 0;
  for (char *end; at < text + n; at = end + strlen(mark)) {
    end = strstr(at, mark);
    if (end == NULL) end = text + n;
    struct ids got = { 0 };
    ck_assert(tokenizer_encode(t, &M, at, (size_t) (end - at), false, false, &got, NULL));
    char *stop = strchr(line, '\n');
    ck_assert_ptr_nonnull(stop);
    bool ok = true;
    size_t i = 0;
    for (char *p = line, *next; p < stop; p = next, i++) {
      unsigned long id = strtoul(p, &next, 10);
      if (next == p || next > stop) break;
      ok = ok && i < got.n && got.id[i] == id;
    }
    if (ok && i == got.n)
      good++;
    else if (bad++ < 5)
      fprintf(stderr, "llama.cpp: case %u\n", good + bad);
    ids_free(&M, &got);
    line = stop + 1;
  }
  tally("vectors/tokenizer_gguf/ggml-vocab-gpt-2.gguf.inp", good, bad, 0, "");
  ck_assert_uint_eq(bad, 0);
  free(text);
  free(out);
  tokenizer_close(&M, t);
  at_peace();
}
END_TEST

/* Llama 2's model of SentencePiece and the tokenizer.json that was made of it say the same; so, but
   for texts that begin with a blank or a block, do Mistral's two files */
START_TEST(models_and_their_descriptions)
{
  static const char *const from[][2] = { { "golden/tokenizers/llama2-legacy",
                                           "data/llama2/tokenizer.model" },
    { "golden/tokenizers/mistral-v3", "data/mistral/mistral_instruct_tokenizer_240323.model.v3" } };
  for (size_t k = 0; k < 2; k++) {
    char buffer[400], label[200];
    struct error why = { "" };
    if (shared_file(buffer, sizeof buffer, from[k][0]) == NULL) continue;
    struct tokenizer *t = tokenizer_open(&M, buffer, &why),
                     *u = tokenizer_open(&M, shared_file(label, sizeof label, from[k][1]), &why);
    if (t == NULL || u == NULL) ck_abort_msg("%s", why.text);
    ck_assert_uint_eq(tokenizer_vocab_size(t), tokenizer_vocab_size(u));
    char path[500];
    snprintf(path, sizeof path, "%s/cases.jsonl", buffer);
    FILE *f = fopen(path, "r");
    char *row = NULL;
    size_t size = 0;
    unsigned good = 0, bad = 0;
    while (getline(&row, &size, f) > 0) {
      json_t *c = json_loads(row, JSON_ALLOW_NUL, NULL), *text = json_object_get(c, "text");
      const char *s = json_string_value(text);
      if (text != NULL && (k == 0 || (s[0] != ' ' && strncmp(s, "\xe2\x96\x81", 3) != 0))
        && !json_is_true(json_object_get(c, "parse_special")) && strstr(s, "[REF") == NULL
        && strstr(s, "<s>") == NULL && strstr(s, "</s>") == NULL && strstr(s, "<unk>") == NULL) {
        if (encodes_to(
              u, text, json_object_get(c, "ids"), json_is_true(json_object_get(c, "add_special"))))
          good++;
        else if (bad++ < 5)
          fprintf(stderr, "%s: %.200s\n", from[k][1], row);
      }
      json_decref(c);
    }
    fclose(f);
    free(row);
    tally(from[k][1], good, bad, 0, "");
    ck_assert_uint_eq(bad, 0);
    ck_assert_uint_gt(good, 300);
    tokenizer_close(&M, t);
    tokenizer_close(&M, u);
  }
  at_peace();
}
END_TEST

/* ---- the definition ---------------------------------------------------------------------- */

/* SentencePiece's rule, taken literally: of neighbours that together spell a normal piece, join
   those of the highest score, of several the leftmost; user-defined pieces are taken out first,
   longest first; what has no piece falls into bytes */
struct naive_piece {
  char words[24];
  float score;
  unsigned type;
};
static size_t naive(
  const struct naive_piece *v, size_t n_v, const char *text, bool fallback, uint32_t *out)
{
  struct {
    char words[64];
    bool frozen;
  } row[200];
  size_t n = 0, made = 0;
  for (const char *c = text; *c;) {
    size_t best = 0, length;
    for (size_t i = 0; i < n_v; i++) {
      size_t l = strlen(v[i].words);
      if (v[i].type == 4 && l > best && strncmp(c, v[i].words, l) == 0) best = l;
    }
    enum utf8_state state;
    length = best > 0 ? best : utf8_next((const unsigned char *) c, strlen(c), &state);
    row[n].frozen = best > 0;
    memcpy(row[n].words, c, length), row[n++].words[length] = 0;
    c += length;
  }
  for (;;) {
    size_t at = SIZE_MAX;
    float top = -INFINITY;
    for (size_t i = 0; i + 1 < n; i++) {
      char both[130];
      if (row[i].frozen || row[i + 1].frozen) continue;
      both[0] = 0, append(both, row[i].words, 64), append(both, row[i + 1].words, 64);
      for (size_t k = 0; k < n_v; k++)
        if (v[k].type == 1 && strcmp(v[k].words, both) == 0 && v[k].score > top)
          top = v[k].score, at = i;
    }
    if (at == SIZE_MAX) break;
    append(row[at].words, row[at + 1].words, 64);
    memmove(row + at + 1, row + at + 2, (n - at - 2) * sizeof *row);
    n--;
  }
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (k < n_v
      && !(
        (row[i].frozen ? v[k].type == 4 : v[k].type == 1) && strcmp(v[k].words, row[i].words) == 0))
      k++;
    if (k < n_v)
      out[made++] = (uint32_t) k;
    else if (fallback)
      for (const char *c = row[i].words; *c; c++) out[made++] = 1 + (unsigned char) *c;
    else if (made == 0 || out[made - 1] != 0)
      out[made++] = 0;
  }
  return made;
}

static size_t random_pieces(struct naive_piece *v, bool fallback, uint64_t *seed)
{
  static const char *const letter[] = { "\xe2\x96\x81", "a", "b", "\xc3\xa9" };
  size_t n = 0, letters = 2 + rnd(seed) % 3;
  v[n++] = (struct naive_piece){ "<unk>", 0, 2 };
  for (unsigned b = 0; b < 256 && fallback; b++, n++) {
    v[n] = (struct naive_piece){ "", 0, 6 };
    snprintf(v[n].words, 24, "<0x%02X>", b);
  }
  for (size_t i = 0; i < letters; i++, n++) {
    v[n] = (struct naive_piece){ "", -100 - (float) (rnd(seed) % 3), 1 };
    strcpy(v[n].words, letter[i]);
  }
  size_t pieces = rnd(seed) % 14;
  for (size_t k = 0; k < pieces; k++) {
    char words[24] = "";
    size_t parts = 2 + rnd(seed) % 3;
    for (size_t q = 0; q < parts; q++) strcat(words, letter[rnd(seed) % letters]);
    bool there = false;
    for (size_t i = 0; i < n; i++) there = there || strcmp(v[i].words, words) == 0;
    if (there) continue;
    v[n] = (struct naive_piece){ "", -(float) (rnd(seed) % 6),
      rnd(seed) % 8 == 0 ? 4 : 1 }; /* equal scores are frequent */
    strcpy(v[n++].words, words);
  }
  return n;
}

START_TEST(pieces_are_the_definition)
{
  uint64_t seed = suite_seed() + 7;
  static struct naive_piece v[300];
  unsigned apart = 0, joined = 0, frozen = 0;
  for (int round = 0; round < 3000; round++) {
    bool fallback = rnd(&seed) & 1, dummy = rnd(&seed) & 1;
    size_t n_v = random_pieces(v, fallback, &seed);
    struct bytes b = { 0 };
    for (size_t i = 0; i < n_v; i++)
      put_piece(&b, v[i].words, strlen(v[i].words), v[i].score, v[i].type);
    struct how h = plain;
    h.fallback = fallback, h.dummy = dummy;
    put_specs(&b, &h);
    struct error why = { "" };
    struct tokenizer *t = open_bytes(&b, &why);
    if (t == NULL)
      ck_abort_msg("seed %llu, round %d: %s", (unsigned long long) suite_seed(), round, why.text);
    apart += t->splits_at_spaces, joined += !t->splits_at_spaces, frozen += t->any_frozen;
    for (int texts = 0; texts < 6; texts++) {
      static const char *const part[] = { " ", "a", "b", "\xc3\xa9", "ab", "x" };
      char text[120] = "", shaped[400] = "";
      size_t parts = rnd(&seed) % 24;
      for (size_t i = 0; i < parts; i++) strcat(text, part[rnd(&seed) % 6]);
      if (dummy && text[0]) strcat(shaped, "\xe2\x96\x81");
      for (const char *c = text; *c; c++)
        append(shaped, *c == ' ' ? "\xe2\x96\x81" : c, *c == ' ' ? 3 : 1);
      uint32_t want[500];
      size_t n = naive(v, n_v, shaped, fallback, want);
      struct ids got = { 0 };
      ck_assert(tokenizer_encode(t, &M, text, strlen(text), false, false, &got, &why));
      ck_assert_msg(got.n == n && (n == 0 || memcmp(got.id, want, n * sizeof *want) == 0),
        "seed %llu, round %d: '%s'", (unsigned long long) suite_seed(), round, text);
      ids_free(&M, &got);
    }
    bytes_free(&M, &b);
    tokenizer_close(&M, t);
  }
  ck_assert_uint_gt(apart, 100); /* both ways were gone, and frozen pieces were there */
  ck_assert_uint_gt(joined, 100);
  ck_assert_uint_gt(frozen, 100);
  at_peace();
}
END_TEST

/* tiktoken's rule on random ranks: neighbours that spell a token of the lowest rank, leftmost first
 */
START_TEST(ranks_are_the_definition)
{
  uint64_t seed = suite_seed() + 8;
  for (int round = 0; round < 3000; round++) {
    char word[40][12];
    size_t n_w = 2;
    strcpy(word[0], "a"), strcpy(word[1], "b");
    for (size_t k = rnd(&seed) % 16; k > 0; k--) {
      char w[12] = "";
      for (size_t q = 2 + rnd(&seed) % 4; q > 0; q--) strcat(w, rnd(&seed) & 1 ? "a" : "b");
      bool there = false;
      for (size_t i = 0; i < n_w; i++) there = there || strcmp(word[i], w) == 0;
      if (!there) strcpy(word[n_w++], w);
    }
    struct tokenizer *t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
    uint32_t rank[40];
    for (uint32_t i = 0; i < n_w; i++) {
      struct vocab_entry *k = tokenizer_vocab_at(&M, t, i, NULL);
      ck_assert(tokenizer_intern(&M, t, word[i], strlen(word[i]), &k->piece, NULL));
      rank[i] = i;
    }
    ck_assert(tokenizer_index_vocab(&M, t, NULL) && tiktoken_pairs_from_ranks(&M, t, rank, NULL)
      && tokenizer_index_added(&M, t, NULL));
    char text[80] = "", row[80][80];
    for (size_t q = rnd(&seed) % 70; q > 0; q--) strcat(text, rnd(&seed) & 1 ? "a" : "b");
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) row[i][0] = text[i], row[i][1] = 0;
    for (;;) {
      size_t best = SIZE_MAX, at = 0;
      for (size_t i = 0; i + 1 < n; i++) {
        char both[160];
        both[0] = 0, append(both, row[i], 80), append(both, row[i + 1], 80);
        for (size_t k = 0; k < n_w; k++)
          if (strcmp(word[k], both) == 0 && k < best) best = k, at = i;
      }
      if (best == SIZE_MAX) break;
      append(row[at], row[at + 1], 80);
      memmove(row + at + 1, row + at + 2, (n - at - 2) * sizeof *row);
      n--;
    }
    struct ids got = { 0 };
    ck_assert(tokenizer_encode(t, &M, text, strlen(text), false, false, &got, NULL));
    ck_assert_uint_eq(got.n, n);
    for (size_t i = 0; i < n; i++) ck_assert_str_eq(word[got.id[i]], row[i]);
    ids_free(&M, &got);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* ---- long, wrong, cut short --------------------------------------------------------------- */

START_TEST(a_megabyte_of_one_thing)
{
  static const char *const from[] = { "data/llama2/tokenizer.model", "golden/tokenizers/mistral-v3",
    "data/tiktoken/cl100k_base.tiktoken", "golden/tokenizers/qwen3" };
  static const char *const unit[] = { " ", "a", "\n", "\xf0\x9f\xa6\x99", "\xe2\x96\x81", "ab " };
  for (size_t k = 0; k < 4; k++) {
    char buffer[400];
    if (shared_file(buffer, sizeof buffer, from[k]) == NULL) continue;
    struct error why = { "" };
    struct tokenizer *t = tokenizer_open(&M, buffer, &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
      size_t step = strlen(unit[u]), n = (1 << 20) / step * step;
      char *text = malloc(n);
      for (size_t i = 0; i < n; i++) text[i] = unit[u][i % step];
      struct ids out = { 0 };
      struct bytes back = { 0 };
      double start = seconds();
      if (!tokenizer_encode(t, &M, text, n, false, false, &out, &why))
        ck_abort_msg("%s: %s", from[k], why.text);
      IN_TIME(seconds() - start);
      ck_assert(tokenizer_decode(t, &M, out.id, out.n, false, &back, NULL));
      if (u != 4) { /* a block comes back as a blank */
        size_t lost = k == 1
          && unit[u][0] == ' '; /* the newer form puts no block where one is, and takes one away */
        ck_assert_uint_eq(back.n, n - lost);
        ck_assert_mem_eq(back.byte, text + lost, n - lost);
      }
      ids_free(&M, &out);
      bytes_free(&M, &back);
      free(text);
    }
    tokenizer_close(&M, t);
    snprintf(buffer, sizeof buffer, "a megabyte of one thing: %s", from[k]);
    tally(buffer, 6, 0, 0, "");
  }
  at_peace();
}
END_TEST

/* a small model with every type of piece, for the tests that break it */
static void small_model(struct bytes *b)
{
  put_piece(b, "<unk>", 5, 0, 2), put_piece(b, "<s>", 3, 0, 3), put_piece(b, "</s>", 4, 0, 3);
  put_piece(b, "\xe2\x96\x81", 3, -9, 1), put_piece(b, "a", 1, -8, 1), put_piece(b, "b", 1, -7, 1);
  put_piece(b, "ab", 2, -1, 1),
    put_piece(b,
      "\xe2\x96\x81"
      "ab",
      5, -2, 1),
    put_piece(b, "a\xe2\x96\x81", 4, 0, 4);
  put_piece(b, "<0x0A>", 6, 0, 6);
  put_specs(b, &plain);
}

START_TEST(special_pieces_and_brackets)
{
  struct bytes b = { 0 };
  struct error why = { "" };
  small_model(&b);
  struct tokenizer *t = open_bytes(&b, &why);
  if (t == NULL) ck_abort_msg("%s", why.text);
  static const struct {
    const char *text;
    bool add, parse;
    size_t n;
    uint32_t id[8];
    const char *back;
  } c[] = { { "ab", false, false, 1, { 7 }, "ab" }, { "ab", true, false, 2, { 1, 7 }, "<s> ab" },
    { " ab", false, false, 2, { 3, 7 }, " ab" }, { "<s>", false, true, 1, { 1 }, "<s>" },
    { "b</s>ab", false, true, 4, { 3, 5, 2, 7 }, "b</s> ab" },
    { "\n", false, false, 2, { 3, 9 }, "\n" }, { "ba b", false, false, 4, { 3, 5, 8, 5 }, "ba b" },
    { "x", false, false, 2, { 3, 0 }, "<unk>" },
    { "xyab", false, false, 3, { 3, 0, 6 }, "<unk>ab" } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct ids got = { 0 };
    struct bytes back = { 0 };
    ck_assert(
      tokenizer_encode(t, &M, c[i].text, strlen(c[i].text), c[i].add, c[i].parse, &got, &why));
    ck_assert_msg(got.n == c[i].n, "'%s' has %zu ids", c[i].text, got.n);
    for (size_t k = 0; k < got.n; k++) ck_assert_uint_eq(got.id[k], c[i].id[k]);
    ck_assert(tokenizer_decode(t, &M, got.id, got.n, false, &back, &why));
    ck_assert_uint_eq(back.n, strlen(c[i].back));
    ck_assert_mem_eq(back.byte, c[i].back, back.n);
    ids_free(&M, &got);
    bytes_free(&M, &back);
  }
  uint32_t id;
  ck_assert(tokenizer_bos(t, &id) && id == 1);
  tokenizer_close(&M, t);
  bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* what a second file says about the brackets */
START_TEST(a_second_file_decides)
{
  static const struct {
    const char *config;
    size_t n;
    uint32_t first, last;
  } c[] = { { "{}", 2, 1, 7 }, { "{\"add_bos_token\": false}", 1, 7, 7 },
    { "{\"add_eos_token\": true}", 3, 1, 2 }, { "{\"bos_token\": \"</s>\"}", 2, 2, 7 },
    { "{\"add_eos_token\": true, \"eos_token\": {\"content\": \"<s>\"}}", 3, 1, 1 } };
  char dir[] = "/tmp/incipit-pieces-XXXXXX", path[100], config[100];
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/tokenizer.model", dir);
  snprintf(config, sizeof config, "%s/tokenizer_config.json", dir);
  struct bytes b = { 0 };
  small_model(&b);
  FILE *f = fopen(path, "wb");
  fwrite(b.byte, 1, b.n, f);
  fclose(f);
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    f = fopen(config, "w");
    fputs(c[i].config, f);
    fclose(f);
    struct error why = { "" };
    struct tokenizer *t = tokenizer_open(&M, dir, &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    struct ids got = { 0 };
    ck_assert(tokenizer_encode(t, &M, "ab", 2, true, false, &got, &why));
    ck_assert_uint_eq(got.n, c[i].n);
    ck_assert_uint_eq(got.id[0], c[i].first);
    ck_assert_uint_eq(got.id[got.n - 1], c[i].last);
    ids_free(&M, &got);
    tokenizer_close(&M, t);
  }
  unlink(path), unlink(config), rmdir(dir);
  bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* blanks: thinned out or not, a block put or not, blocks written or not -- against the rule in
 * three lines */
START_TEST(blanks_as_the_model_says)
{
  static const char *const text[] = { "", " ", "  ", "ab", " ab", "ab ", "a  b", "  a   b  ",
    "   " };
  for (unsigned k = 0; k < 8; k++) {
    struct how h = plain;
    h.thin = k & 1, h.dummy = k >> 1 & 1, h.escape = k >> 2, h.fallback = 0;
    struct bytes b = { 0 };
    struct error why = { "" };
    const char *blank = h.escape ? "\xe2\x96\x81" : " ";
    put_piece(&b, "<unk>", 5, 0, 2), put_piece(&b, blank, strlen(blank), -1, 1),
      put_piece(&b, "a", 1, -2, 1), put_piece(&b, "b", 1, -3, 1);
    put_specs(&b, &h);
    struct tokenizer *t = open_bytes(&b, &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
      char s[40] = "";
      for (const char *c = text[i]; *c; c++)
        if (!(h.thin && *c == ' ' && (s[0] == 0 || s[strlen(s) - 1] == ' '))) strncat(s, c, 1);
      if (h.thin && s[0] && s[strlen(s) - 1] == ' ') s[strlen(s) - 1] = 0;
      if (h.dummy && s[0]) {
        memmove(s + 1, s, strlen(s) + 1);
        s[0] = ' ';
      }
      struct ids got = { 0 };
      struct bytes back = { 0 };
      ck_assert(tokenizer_encode(t, &M, text[i], strlen(text[i]), false, false, &got, &why));
      ck_assert_msg(got.n == strlen(s), "thin %u, put %u, '%s'", k & 1, k >> 1 & 1, text[i]);
      for (size_t q = 0; q < got.n; q++)
        ck_assert_uint_eq(got.id[q], s[q] == ' ' ? 1u : s[q] == 'a' ? 2u : 3u);
      ck_assert(tokenizer_decode(t, &M, got.id, got.n, false, &back, &why));
      size_t drop = (h.dummy || h.thin) && s[0] == ' ';
      ck_assert_uint_eq(back.n, strlen(s) - drop);
      if (back.n) ck_assert_mem_eq(back.byte, s + drop, back.n);
      ids_free(&M, &got);
      bytes_free(&M, &back);
    }
    tokenizer_close(&M, t);
    bytes_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* SentencePiece takes blocks at the end for blanks where it thins blanks out; and with a piece of
 * the user's that has a blank the order matters */
START_TEST(thinned_out_with_blocks)
{
  static const char *const say[][2] = { { "a\xe2\x96\x81", "1 2" }, { "a ", "1 2" },
    { "\xe2\x96\x81"
      "a",
      "1 1 2" },
    { "\xe2\x96\x81", "" }, { "a \xe2\x96\x81 ", "1 2" },
    { "\xe2\x96\x81\xe2\x96\x81 a", "1 1 1 1 2" } };
  for (int k = 0; k < 3; k++) {
    struct how h = plain;
    struct bytes b = { 0 };
    struct error why = { "" };
    h.thin = k < 2, h.fallback = 0;
    put_piece(&b, "<unk>", 5, 0, 2), put_piece(&b, "\xe2\x96\x81", 3, -1, 1),
      put_piece(&b, "a", 1, -2, 1);
    if (k > 0) put_piece(&b, "\xe2\x96\x81\xe2\x96\x81", 6, 0, 4);
    put_specs(&b, &h);
    struct tokenizer *t = open_bytes(&b, &why);
    if (k == 1)
      ck_assert_msg(
        t == NULL && strstr(why.text, "remove_extra_whitespaces") != NULL, "%s", why.text);
    else if (t == NULL)
      ck_abort_msg("%s", why.text);
    for (size_t i = 0; k == 0 && i < sizeof say / sizeof *say; i++) {
      struct ids got = { 0 };
      char ids[100] = "";
      ck_assert(tokenizer_encode(t, &M, say[i][0], strlen(say[i][0]), false, false, &got, &why));
      for (size_t q = 0; q < got.n; q++)
        sprintf(ids + strlen(ids), "%s%u", q ? " " : "", got.id[q]);
      ck_assert_str_eq(ids, say[i][1]);
      ids_free(&M, &got);
    }
    tokenizer_close(&M, t);
    bytes_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* every way to be wrong has a sentence of its own, which names the file and the field */
START_TEST(wrong_models_are_refused_in_words)
{
  static const struct {
    const char *what, *found;
  } want[] = { { "trainer_spec.model_type", "words" },
    { "trainer_spec.model_type", "characters" },
    { "normalizer_spec.precompiled_charsmap", "nmt_nfkc" },
    { "trainer_spec.unk_id", "another piece" }, { "piece 10", "a piece that is not used" },
    { "piece 10", "an unknown type" }, { "piece 10", "something else" },
    { "piece 10", "a word for the second time" }, { "piece 10", "a letter that is no piece" },
    { "trainer_spec.treat_whitespace_as_suffix", "true" },
    { "denormalizer_spec.precompiled_charsmap", "some rules" }, { "byte", "no field" },
    { "byte", "no field" } };
  char said[13][300], place[60] = "";
  for (size_t k = 0; k < 13; k++) {
    struct bytes b = { 0 };
    struct error why = { "" };
    struct how h = plain;
    small_model(&b);
    if (k == 0)
      h.model = 3;
    else if (k == 1)
      h.model = 4;
    else if (k == 2)
      h.name = "nmt_nfkc", h.map = "x";
    else if (k == 3)
      h.unknown = 4;
    if (k == 4) put_piece(&b, "q", 1, 0, 5);
    if (k == 5) put_piece(&b, "q", 1, 0, 7);
    if (k == 6) put_piece(&b, "\xff", 1, 0, 1);
    if (k == 7) put_piece(&b, "ab", 2, 0, 1);
    if (k == 8) put_piece(&b, "aq", 2, 0, 1);
    if (k < 4) put_specs(&b, &h); /* the later of two fields counts */
    struct bytes p = { 0 };
    if (k == 9) put_flag(&p, 24, 1), put_row(&b, 2, p.byte, p.n);
    if (k == 10) put_row(&p, 2, "x", 1), put_row(&b, 5, p.byte, p.n);
    if (k == 11) put(&b, 10), put(&b, 100);
    if (k == 12) { /* one byte more than there is */
      snprintf(place, sizeof place, "byte %zu of %zu", b.n, b.n + 3);
      put(&b, 15 << 3 | 2), put(&b, 2), put(&b, 'x');
    }
    bytes_free(&M, &p);
    struct tokenizer *t = open_bytes(&b, &why);
    ck_assert_msg(t == NULL, "defect %zu was not seen", k);
    ck_assert_msg(strstr(why.text, want[k].what) && strstr(why.text, want[k].found)
        && strstr(why.text, "/tmp/incipit-scores") && strstr(why.text, "wanted"),
      "%s", why.text);
    ck_assert_msg(strstr(why.text, place) != NULL, "no '%s' in: %s", place, why.text);
    snprintf(said[k], sizeof said[k], "%s", why.text);
    for (size_t i = 0; i < k; i++) ck_assert_str_ne(said[i], said[k]);
    bytes_free(&M, &b);
    at_peace();
  }
  static const char *const line[][2] = { { "IQ== 0\nIg==\n", "line 2" },
    { "IQ== 0\nIg== 0\n", "a rank that no other word has" }, { "IQ== 0\nI*== 1\n", "line 2" },
    { "IQ== 0\nIg== 1x\n", "line 2" }, { "IQ== 0\nIg== 99999999\n", "line 2" },
    { "IQ== 0\nIg== 1\n", "2 lines" }, { "IQ== 0\nIQ= 1\n", "line 2" } };
  for (size_t k = 0; k < sizeof line / sizeof *line; k++) {
    struct error why = { "" };
    const char *path = file_with(line[k][0], strlen(line[k][0]));
    ck_assert_ptr_null(tokenizer_open(&M, path, &why));
    ck_assert_msg(
      strstr(why.text, line[k][1]) != NULL && strstr(why.text, path) != NULL, "%s", why.text);
    at_peace();
  }
  /* GPT-2's number of ranks, and the one of them that belongs to the end of the text is a word's */
  static const char six[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  struct bytes b = { 0 };
  for (unsigned i = 0; i < 50256; i++) {
    char row[32];
    int n = snprintf(row, sizeof row, "%c%c%c= %u\n", six[i >> 10], six[i >> 4 & 63],
      six[(i & 15) << 2], i == 700 ? 50256 : i);
    if (i < 256) n = snprintf(row, sizeof row, "%c%c== %u\n", six[i >> 2], six[(i & 3) << 4], i);
    ck_assert(bytes_push(&M, &b, row, (size_t) n, NULL));
  }
  struct error why = { "" };
  const char *path = file_with((const char *) b.byte, b.n);
  ck_assert_ptr_null(tokenizer_open(&M, path, &why));
  ck_assert_msg(
    strstr(why.text, path) && strstr(why.text, "rank 50256 is a word's; wanted: <|endoftext|>"),
    "%s", why.text);
  bytes_free(&M, &b);
  at_peace();
  tally("tests/suites/check_scores.c: defects", 21, 0, 0, "");
}
END_TEST

/* cut at every byte and flipped in every byte: refused in words, or a tokenizer that encodes and
   decodes; never more memory than the file justifies */
START_TEST(broken_models_do_no_harm)
{
  struct bytes b = { 0 };
  small_model(&b);
  unsigned refused = 0, open = 0;
  static const unsigned char mask[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255 };
  for (size_t k = 0; k < b.n * 10; k++) {
    struct tokenizer *t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
    unsigned char *copy = malloc(b.n);
    memcpy(copy, b.byte, b.n);
    size_t n = k % 10 == 9 ? k / 10 : b.n;
    if (k % 10 < 9) copy[k / 10] ^= mask[k % 10];
    uint32_t begin, end;
    bool ours;
    struct error why = { "" };
    unsigned char *tight = malloc(n + 1); /* the byte behind the last is not ours, says ASan */
    tight = realloc(tight, n ? n : 1);
    memcpy(tight, copy, n);
    if (sentencepiece_read(&M, t, "broken", tight, n, &begin, &end, &ours, &why)) {
      struct ids got = { 0 };
      struct bytes back = { 0 };
      open++;
      if (tokenizer_encode(t, &M, "ab a\nb\xc3\xa9 \xff", 10, true, true, &got, &why))
        ck_assert(tokenizer_decode(t, &M, got.id, got.n, false, &back, NULL));
      ids_free(&M, &got);
      bytes_free(&M, &back);
    } else
      refused++, ck_assert_msg(strncmp(why.text, "broken", 6) == 0, "%s", why.text);
    ck_assert_uint_lt(M.all.peak, 1 << 20);
    tokenizer_close(&M, t);
    free(copy);
    free(tight);
  }
  ck_assert_uint_gt(refused, 500);
  ck_assert_uint_gt(open, 100);
  bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* every request for memory refused once, in reading and in encoding */
START_TEST(every_refusal_of_memory_is_survived)
{
  struct bytes b = { 0 };
  small_model(&b);
  uint64_t last = 0;
  bool whole = false;
  for (uint64_t k = 1; !whole; k++) {
    struct memory m = { .fail_at = k };
    struct error why = { "" };
    struct tokenizer *t = memory_alloc(&m, MEMORY_TOKENS, 1, sizeof *t, &why);
    uint32_t begin, end;
    bool ours;
    struct ids got = { 0 };
    struct bytes back = { 0 };
    whole = t != NULL && sentencepiece_read(&m, t, "model", b.byte, b.n, &begin, &end, &ours, &why)
      && tokenizer_encode(t, &m, "ab a\nb\xc3\xa9 <s>", 13, true, true, &got, &why)
      && tokenizer_decode(t, &m, got.id, got.n, false, &back, &why);
    if (!whole) ck_assert_uint_gt(strlen(why.text), 5);
    ids_free(&m, &got);
    bytes_free(&m, &back);
    tokenizer_close(&m, t);
    ck_assert_uint_eq(m.all.live, 0);
    last = k;
  }
  ck_assert_uint_gt(last, 12);
  bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* ---- the edges: the limit and one beyond it, ties, the second of two ----------------------- */

/* words in base64, good and bad; ends of lines of both kinds; the largest rank, and one more */
START_TEST(lines_of_ranks)
{
  static const struct {
    const char *line;
    bool good;
  } word[] = { { "QQ==", true }, { "QUI=", true }, { "QUJD", true }, { "////", true },
    { "++8=", true }, { "====", false }, { "Q===", false }, { "QQ=", false }, { "QQ", false },
    { "Q", false }, { "=Q==", false }, { "QQ=A", false }, { "QQ==QQ==", false },
    { "QQ====", false }, { "", false }, { "QUJD====", false }, { "QQ-=", false },
    { "QQ\t=", false } };
  /* fourteen bytes, so that 13 is the largest rank */
  static const struct {
    const char *text, *words;
  } whole[] = { { "IQ== 0\nQQ== 13", "2 lines" }, { "IQ== 0\nQQ== 14", "line 2" },
    { "IQ== 0\nQQ== 15", "line 2" }, { "IQ== 0\nQQ== 18446744073709551617", "line 2" },
    { "IQ== 0\nQQ== -1", "line 2" }, { "IQ== 0\nQQ== ", "line 2" }, { "IQ== 0\nQQ==\t1", "line 2" },
    { "IQ== 0\nQQ==  1", "line 2" }, { "IQ== 0\nQQ== 1 ", "line 2" },
    { "IQ== 0\nQQ== 0", "a rank that no other word has" }, { "IQ== 0\n\nQQ== 1", "line 2" },
    { "IQ== 0\r\nQQ== 1\r\n", "2 lines" }, { "IQ== 0\nQQ== 1\r\r\n", "line 2" },
    { "IQ== 0\r\nIQ== 1", "2 lines" } };
  enum { WORDS = sizeof word / sizeof *word, WHOLE = sizeof whole / sizeof *whole };
  for (size_t i = 0; i < WORDS + WHOLE; i++) {
    char text[100];
    struct error why = { "" };
    const char *want = i >= WORDS ? whole[i - WORDS].words : word[i].good ? "2 lines" : "line 2";
    if (i < WORDS)
      sprintf(text, "IQ== 0\n%s 1\n", word[i].line);
    else
      strcpy(text, whole[i - WORDS].text);
    const char *path = file_with(text, strlen(text));
    ck_assert_ptr_null(tokenizer_open(&M, path, &why));
    ck_assert_msg(strstr(why.text, want) && strstr(why.text, path), "%s: %s", text, why.text);
    unlink(path);
    at_peace();
  }
}
END_TEST

/* a score must be a number, of any size; a type from 1 to 6 but 5; letters, of whole characters */
START_TEST(pieces_at_the_edge)
{
  static const struct {
    const char *words;
    float score;
    unsigned type;
    bool good;
  } c[] = { { "q", 0, 1, true }, { "q", -0.0f, 1, true }, { "q", 3e38f, 1, true },
    { "q", -INFINITY, 1, true }, { "q", INFINITY, 1, true }, { "q", NAN, 1, false },
    { "q", -NAN, 1, false }, { "q", NAN, 3, false }, { "q", 0, 0, false }, { "q", 0, 3, true },
    { "q", 0, 4, true }, { "q", 0, 5, false }, { "<0x41>", 0, 6, true }, { "q", 0, 7, false },
    { "", 0, 1, false }, { "\xc3", 0, 3, false }, { "q\xe2\x96", 0, 3, false },
    { "\xe2\x96\x81q", 0, 3, true }, { "q\xff", 0, 4, false } };
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    struct bytes b = { 0 };
    struct error why = { "" };
    small_model(&b);
    put_piece(&b, c[i].words, strlen(c[i].words), c[i].score, c[i].type);
    struct tokenizer *t = open_bytes(&b, &why);
    ck_assert_msg((t != NULL) == c[i].good, "piece %zu: %s", i, why.text);
    if (t == NULL)
      ck_assert_msg(strstr(why.text, "piece 10") != NULL, "%s", why.text);
    else
      ck_assert_uint_eq(tokenizer_vocab_size(t), 11);
    tokenizer_close(&M, t), bytes_free(&M, &b);
    at_peace();
  }
}
END_TEST

static void expect_ids(struct tokenizer *t, const char *text, bool add, const char *want)
{
  struct ids got = { 0 };
  char ids[200] = "";
  ck_assert(tokenizer_encode(t, &M, text, strlen(text), add, false, &got, NULL));
  for (size_t q = 0; q < got.n; q++) sprintf(ids + strlen(ids), "%s%u", q ? " " : "", got.id[q]);
  ck_assert_msg(strcmp(ids, want) == 0, "%s: %s; wanted: %s", text, ids, want);
  ids_free(&M, &got);
}

/* of pairs with one score the leftmost is joined, whichever piece comes first in the file */
START_TEST(equal_scores_are_joined_from_the_left)
{
  for (int later = 0; later < 2; later++) {
    struct bytes b = { 0 };
    struct how h = plain;
    h.dummy = 0;
    put_piece(&b, "<unk>", 5, 0, 2), put_piece(&b, "a", 1, -9, 1), put_piece(&b, "b", 1, -9, 1);
    put_piece(&b, "c", 1, -9, 1), put_piece(&b, "<0x0A>", 6, 0, 6);
    put_piece(&b, later ? "ab" : "bc", 2, -1, 1), put_piece(&b, later ? "bc" : "ab", 2, -1, 1);
    put_piece(&b, "ca", 2, -1, 1);
    put_specs(&b, &h);
    struct tokenizer *t = open_bytes(&b, NULL);
    ck_assert_ptr_nonnull(t);
    expect_ids(t, "abc", false, later ? "5 3" : "6 3");
    expect_ids(t, "bcab", false, later ? "6 5" : "5 6");
    expect_ids(t, "cabc", false, later ? "7 6" : "7 5");
    expect_ids(t, "aabcc", false, later ? "1 5 3 3" : "1 6 3 3");
    tokenizer_close(&M, t), bytes_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* the pieces that begin and end a text: the last piece may, one behind it is none */
START_TEST(a_beginning_behind_the_last_piece_is_none)
{
  for (uint64_t first = 9; first < 12; first++)
    for (uint64_t last = 9; last < 12; last++) {
      struct bytes b = { 0 }, p = { 0 };
      uint32_t begin, end;
      bool ours;
      small_model(&b);
      put_flag(&p, 41, first), put_flag(&p, 42, last), put_row(&b, 2, p.byte, p.n);
      struct tokenizer *t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
      ck_assert(sentencepiece_read(&M, t, "model", b.byte, b.n, &begin, &end, &ours, NULL) && ours);
      ck_assert_uint_eq(begin, first == 9 ? 10 : 0);
      ck_assert_uint_eq(end, last == 9 ? 10 : 0);
      tokenizer_close(&M, t), bytes_free(&M, &b), bytes_free(&M, &p);
    }
  at_peace();
}
END_TEST

/* what a model leaves out: it is no BPE, piece 1 begins and piece 2 ends a text, piece 0 is unknown, a
   blank is put before a text, blanks are thinned out and written as blocks, and letters have no bytes; a
   piece that says no more than its letters is a normal one, with the score 0 */
START_TEST(what_a_model_leaves_out)
{
  static const char *const letters[] = { "\xe2\x96\x81", "a", "b" };
  struct bytes b = { 0 }, p = { 0 };
  struct error why = { "" };
  uint32_t begin, end;
  bool ours;
  put_piece(&b, "<unk>", 5, 0, 2), put_piece(&b, "<s>", 3, 0, 3), put_piece(&b, "</s>", 4, 0, 3);
  for (int i = 0; i < 3; i++, p.n = 0)
    put_row(&p, 1, letters[i], strlen(letters[i])), put_row(&b, 1, p.byte, p.n);
  put_piece(&b, "ba", 2, -1, 1), put_piece(&b, "\xe2\x96\x81" "a", 4, -2, 1);
  put_row(&p, 1, "ab", 2), put_row(&b, 1, p.byte, p.n), p.n = 0; /* 0 is more than the other two */
  put_piece(&b, "<0x0A>", 6, 0, 6);
  struct tokenizer *t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
  ck_assert(sentencepiece_read(&M, t, "model", b.byte, b.n, &begin, &end, &ours, &why) && ours);
  ck_assert_str_eq(tokenizer_kind(t), "SentencePiece Unigram");
  ck_assert(begin == 2 && end == 3);
  tokenizer_close(&M, t);
  for (uint64_t k = 0; k < 6; k++) { /* the learners by their numbers */
    static const char *const learner[] = { "another number", "Unigram", "BPE", "words", "characters", "another number" };
    size_t n = b.n;
    p.n = 0, put_flag(&p, 3, k), put_row(&b, 2, p.byte, p.n);
    t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
    ck_assert(sentencepiece_read(&M, t, "model", b.byte, b.n, &begin, &end, &ours, &why) == (k == 1 || k == 2));
    char said[100];
    snprintf(said, sizeof said, "trainer_spec.model_type is %s; wanted: BPE", learner[k]);
    ck_assert_msg(k == 1 || k == 2 || strstr(why.text, said) != NULL, "%s", why.text);
    tokenizer_close(&M, t);
    b.n = n;
  }
  p.n = 0, put_flag(&p, 3, 2), put_row(&b, 2, p.byte, p.n);
  t = memory_alloc(&M, MEMORY_TOKENS, 1, sizeof *t, NULL);
  ck_assert_msg(sentencepiece_read(&M, t, "model", b.byte, b.n, &begin, &end, &ours, &why), "%s", why.text);
  ck_assert(ours && begin == 2 && end == 3);
  expect_ids(t, "ab", false, "3 8");
  expect_ids(t, "  a   bab  ", false, "7 3 5 8");
  expect_ids(t, "   ", false, ""), expect_ids(t, "", false, "");
  expect_ids(t, "\n", false, "3 0");
  expect_ids(t, "xx", false, "3 0");
  ck_assert(tokenizer_is_special(t, 0) && tokenizer_is_special(t, 1) && !tokenizer_is_special(t, 3));
  tokenizer_close(&M, t), bytes_free(&M, &b), bytes_free(&M, &p);
  at_peace();
}
END_TEST

/* rank files of four lengths, each with its pattern and its special tokens: where a contraction is in
   capitals, and where a capital follows a small letter, they cut differently */
START_TEST(families_of_ranks)
{
  static const char six[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const struct { unsigned lines; const char *special[6]; uint32_t id[6]; const char *big, *mixed; } of[] = {
    { 50256, { "<|endoftext|>" }, { 50256 }, "39 76 76", "301" },
    { 50280, { "<|endoftext|>" }, { 50256 }, "39 76 76", "301" },
    { 100256, { "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endofprompt|>" },
      { 100257, 100258, 100259, 100260, 100276 }, "300", "301" },
    { 199998, { "<|endoftext|>", "<|endofprompt|>" }, { 199999, 200018 }, "300", "97 66 99" },
  };
  for (size_t k = 0; k < 4; k++) {
    struct bytes b = { 0 };
    struct error why = { "" };
    for (unsigned i = 0; i < of[k].lines; i++) {
      char row[40];
      unsigned rank = of[k].lines == 50280 && i >= 50256 ? i + 1 : i;
      unsigned word = i == 300 ? 0x274c4c : i == 301 ? 0x614263 : i; /* 'LL and aBc */
      int n = i < 256 ? snprintf(row, sizeof row, "%c%c== %u\n", six[i >> 2], six[(i & 3) << 4], i)
        : snprintf(row, sizeof row, "%c%c%c%c %u\n", six[word >> 18], six[word >> 12 & 63], six[word >> 6 & 63],
            six[word & 63], rank);
      if (!bytes_push(&M, &b, row, (size_t) n, NULL)) ck_abort_msg("memory");
    }
    const char *path = file_with(b.byte, b.n);
    struct tokenizer *t = tokenizer_open(&M, path, &why);
    unlink(path);
    ck_assert_msg(t != NULL, "%u ranks: %s", of[k].lines, why.text);
    expect_ids(t, "'LL", false, of[k].big);
    expect_ids(t, "aBc", false, of[k].mixed);
    for (int i = 0; i < 6 && of[k].special[i] != NULL; i++) {
      uint32_t id;
      ck_assert(tokenizer_find(t, of[k].special[i], strlen(of[k].special[i]), &id));
      ck_assert(id == of[k].id[i] && tokenizer_is_special(t, id));
    }
    tokenizer_close(&M, t), bytes_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* a blank is taken off where a text begins, also behind special tokens that are skipped; every block of a piece is
   a blank */
START_TEST(the_blank_of_the_beginning)
{
  struct bytes b = { 0 }, back = { 0 };
  struct error why = { "" };
  small_model(&b);
  put_piece(&b, "\xe2\x96\x81\xe2\x96\x81" "b\xe2\x96\x81", 10, 0, 4);
  struct tokenizer *t = open_bytes(&b, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  static const struct { uint32_t id[4]; size_t n; const char *skipped, *whole; } of[] = {
    { { 1, 7, 7 }, 3, "ab ab", "<s> ab ab" }, { { 7, 1, 7 }, 3, "ab ab", "ab<s> ab" },
    { { 1, 2, 10, 5 }, 4, " b b", "<s></s>  b b" }, { { 10 }, 1, " b ", " b " }, { { 1 }, 1, "", "<s>" } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (int skip = 0; skip < 2; skip++, back.n = 0) {
      const char *want = skip ? of[i].skipped : of[i].whole;
      ck_assert(tokenizer_decode(t, &M, of[i].id, of[i].n, skip, &back, &why));
      ck_assert_msg(back.n == strlen(want) && (back.n == 0 || memcmp(back.byte, want, back.n) == 0), "%zu: '%.*s'", i,
        (int) back.n, (char *) back.byte);
    }
  tokenizer_close(&M, t), bytes_free(&M, &b), bytes_free(&M, &back);
  at_peace();
}
END_TEST

/* fields that nobody here knows are read over, whatever form they have: a number, eight bytes, a row,
   four bytes; as far as the message has them */
START_TEST(unknown_fields_are_read_over)
{
  static const struct { unsigned form; size_t n; const char *byte; } of[] = { { 0, 1, "\x07" },
    { 0, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" }, { 1, 8, "\xff\x0b\xff\x0b\xff\x0b\xff\x0b" },
    { 2, 4, "\x03" "abc" }, { 5, 4, "\xff\x0b\xff\x0b" } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    for (size_t less = 0; less < 2; less++)
      for (int inside = 0; inside < 2; inside++) { /* of the message, and of what it says on learning */
        struct bytes b = { 0 }, p = { 0 };
        struct error why = { "" };
        small_model(&b);
        put_number(&p, 99 << 3 | of[i].form);
        for (size_t k = 0; k + less < of[i].n; k++) put(&p, (unsigned char) of[i].byte[k]);
        if (inside) put_row(&b, 2, p.byte, p.n);
        else for (size_t k = 0; k < p.n; k++) put(&b, p.byte[k]);
        struct tokenizer *t = open_bytes(&b, &why);
        ck_assert_msg((t != NULL) == (less == 0), "form %u: %s", of[i].form, why.text);
        if (t != NULL) expect_ids(t, "ab", false, "7");
        tokenizer_close(&M, t), bytes_free(&M, &b), bytes_free(&M, &p);
      }
  at_peace();
}
END_TEST

/* unknown letters in a row are one token; a piece of the user's between them makes them two, and
   what is behind it begins anew */
START_TEST(unknown_letters_meet_a_piece_of_the_user)
{
  struct bytes b = { 0 };
  struct how h = plain;
  h.dummy = 0, h.fallback = 0;
  put_piece(&b, "<unk>", 5, 0, 2), put_piece(&b, "a", 1, -1, 1), put_piece(&b, "UU", 2, 0, 4);
  put_specs(&b, &h);
  struct tokenizer *t = open_bytes(&b, NULL);
  ck_assert_ptr_nonnull(t);
  static const char *const say[][2] = { { "xx", "0" }, { "xax", "0 1 0" }, { "xUUx", "0 2 0" },
    { "xUUax", "0 2 1 0" }, { "xxUUaaxx", "0 2 1 1 0" }, { "UUx", "2 0" }, { "xUUUUx", "0 2 2 0" },
    { "aUUx", "1 2 0" }, { "xUUxxax", "0 2 0 1 0" } };
  for (size_t i = 0; i < sizeof say / sizeof *say; i++) expect_ids(t, say[i][0], false, say[i][1]);
  tokenizer_close(&M, t), bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* a piece that names a byte is that byte, in capital letters, with nothing behind it; an id that is
   one too large has no text and is nothing special */
START_TEST(names_of_bytes_and_the_last_id)
{
  static const char *const name[] = { "<0x41>", "<0x4a>", "<0x4A>", "<0x4A>x", "<0x4A!", "<0x4>",
    "<0xFF>", "<0x0G>", "<0x4A", "x<0x4A>" };
  static const char *const text[] = { "A", "<0x4a>", "J", "<0x4A>x", "<0x4A!", "<0x4>", "\xff",
    "<0x0G>", "<0x4A", "x<0x4A>" };
  struct bytes b = { 0 };
  put_piece(&b, "<unk>", 5, 0, 2);
  for (int i = 0; i < 10; i++)
    put_piece(&b, name[i], strlen(name[i]), 0, strlen(text[i]) == 1 ? 6 : 4);
  put_piece(&b, "</s>", 4, 0, 3), put_specs(&b, &plain);
  struct error why = { "" };
  struct tokenizer *t = open_bytes(&b, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  size_t n, last = tokenizer_vocab_size(t);
  for (uint32_t i = 0; i < 10; i++) {
    const unsigned char *c = tokenizer_text(t, i + 1, &n);
    ck_assert_msg(
      n == strlen(text[i]) && memcmp(c, text[i], n) == 0, "%s: %.*s", name[i], (int) n, c);
  }
  ck_assert_uint_eq(last, 12);
  ck_assert(tokenizer_is_special(t, 11) && !tokenizer_is_special(t, 12));
  ck_assert(!tokenizer_is_special(t, UINT32_MAX));
  static const struct {
    uint32_t id;
    size_t n;
  } c[] = { { 11, 4 }, { 12, 0 }, { UINT32_MAX, 0 } };
  for (int i = 0; i < 3; i++) {
    tokenizer_text(t, c[i].id, &n);
    ck_assert_uint_eq(n, c[i].n);
  }
  tokenizer_close(&M, t), bytes_free(&M, &b);
  at_peace();
}
END_TEST

/* rules with a name are refused by it, of which forty letters are told */
START_TEST(forty_letters_of_a_name)
{
  for (int n = 38; n < 43; n++) {
    char name[50] = "", said[120];
    for (int k = 0; k < n; k++) name[k] = (char) ('A' + k);
    struct bytes b = { 0 };
    struct error why = { "" };
    struct how h = plain;
    h.name = name, h.map = "x";
    small_model(&b), put_specs(&b, &h);
    ck_assert_ptr_null(open_bytes(&b, &why));
    snprintf(said, sizeof said, " is the rules %.40s, 1 bytes with the size 0; wanted: the size of a double array", name);
    ck_assert_msg(strstr(why.text, said) != NULL, "%s; wanted: %s", why.text, said);
    bytes_free(&M, &b);
  }
  at_peace();
}
END_TEST

/* pieces, their types, an encoding: numbers as put_specs takes them; the ids of a text, as a string */
struct way_piece { const char *text; float score; unsigned type; };
static const char *ids_of(struct tokenizer *t, const char *text)
{
  static char said[200];
  struct ids got = { 0 };
  struct error why = { "" };
  said[0] = 0;
  if (!tokenizer_encode(t, &M, text, strlen(text), false, false, &got, &why)) ck_abort_msg("%s", why.text);
  for (size_t i = 0; i < got.n; i++) sprintf(said + strlen(said), "%s%u", i ? " " : "", got.id[i]);
  ids_free(&M, &got);
  return said;
}
static struct tokenizer *ways(const struct way_piece *p, size_t n, const struct how *h, const void *map, size_t n_map)
{
  struct bytes b = { 0 }, spec = { 0 };
  struct error why = { "" };
  put_piece(&b, "<unk>", 5, 0, 2);
  for (size_t i = 0; i < n; i++) put_piece(&b, p[i].text, strlen(p[i].text), p[i].score, p[i].type);
  put_specs(&b, h);
  if (n_map > 0) put_row(&spec, 2, map, n_map), put_row(&b, 3, spec.byte, spec.n); /* the last of the fields counts */
  struct tokenizer *t = open_bytes(&b, &why);
  if (t == NULL) ck_abort_msg("%s", why.text);
  bytes_free(&M, &b), bytes_free(&M, &spec);
  return t;
}
START_TEST(the_best_of_all_ways)
{
  struct how h = { 1, 0, 0, 0, 0, 0, "identity", "" };
  static const struct way_piece tie[] = { { "a", -1, 1 }, { "b", -1, 1 }, { "ab", -1, 1 }, { "ba", -1, 1 }, { "bb", -5, 5 } };
  struct tokenizer *t = ways(tie, 5, &h, NULL, 0);
  ck_assert_str_eq(tokenizer_kind(t), "SentencePiece Unigram");
  ck_assert_str_eq(ids_of(t, "aba"), "1 4"); /* that which begins further left */
  ck_assert_str_eq(ids_of(t, "bb"), "2 2"); /* a piece that is not used */
  ck_assert_str_eq(ids_of(t, "xya<unk>"), "0 1 0"); /* one for a row of them */
  ck_assert_str_eq(ids_of(t, "x"), "0");
  ck_assert_str_eq(ids_of(t, ""), "");
  tokenizer_close(&M, t);
  static const struct way_piece two[] = { { "ab", -5, 1 }, { "bc", -1, 1 } };
  t = ways(two, 2, &h, NULL, 0);
  ck_assert_str_eq(ids_of(t, "abc"), "0 2"); /* a piece begins with the first letter, and yet it may be unknown */
  tokenizer_close(&M, t);
  static const struct way_piece dear[] = { { "abc", -16, 1 }, { "bc", 3, 1 } };
  t = ways(dear, 2, &h, NULL, 0);
  ck_assert_str_eq(ids_of(t, "abc"), "1"); /* an unknown character costs ten more than the worst piece */
  tokenizer_close(&M, t);
  /* sums in single precision, and carried over the words; as the library has it */
  h.escape = 1;
  static const struct way_piece single[] = { { "\xe2\x96\x81", -.2f, 1 }, { "a", -.5f, 1 }, { "b", -1.3f, 1 }, { "\xe2\x96\x81" "a", -5.8f, 1 },
    { "ab", -2.3f, 1 }, { "ba", -4.4f, 1 }, { "aab", -3.5f, 1 }, { "abb", -6.9f, 1 }, { "bba", -3.1f, 1 } };
  t = ways(single, 9, &h, NULL, 0);
  ck_assert_str_eq(ids_of(t, "  abbabbbbba"), "1 1 2 3 3 2 3 3 3 9");
  tokenizer_close(&M, t);
  static const struct way_piece carried[] = { { "\xe2\x96\x81", -1.9f, 1 }, { "a", -5.1f, 1 }, { "b", -4, 1 }, { "\xe2\x96\x81" "a", -4.8f, 1 },
    { "ab", -5.8f, 1 }, { "ba", -.4f, 1 }, { "aab", -3, 1 }, { "abb", -1.3f, 1 }, { "bba", -3.3f, 1 } };
  t = ways(carried, 9, &h, NULL, 0);
  ck_assert(t->splits_at_spaces);
  ck_assert_str_eq(ids_of(t, " baba abba"), "1 6 6 1 5 6");
  tokenizer_close(&M, t);
  /* what the user has defined has the score of its length */
  h.escape = 0;
  for (int k = 0; k < 2; k++) {
    const struct way_piece user[] = { { "x", -1, 1 }, { "xcc", k ? -.85f : -.95f, 1 }, { "cc", -9, 4 }, { "q", -20, 1 } };
    t = ways(user, 4, &h, NULL, 0);
    ck_assert_str_eq(ids_of(t, "xcc"), k ? "2" : "1 3");
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* a map by hand: A becomes a, and AB an x; and maps that lead nowhere */
START_TEST(maps_of_characters)
{
  enum { UNITS = 0x42 };
  struct how h = { 1, 0, 0, 0, 0, 0, "x", "" };
  static const struct way_piece words[] = { { "a", -1, 1 }, { "x", -1, 1 }, { "A", -1, 1 }, { "B", -1, 1 }, { "\xc3\xa9", -1, 1 } };
  static const struct way_piece user[] = { { "a", -1, 1 }, { "x", -1, 1 }, { "A", -1, 4 }, { "B", -1, 1 } };
  for (int k = 0; k < 6; k++) {
    uint32_t unit[UNITS] = { [0] = 1 << 10, [0x40] = 'A' | 256 | 1 << 10, [0x41] = 1u << 31, [3] = 'B' | 256 | 1 << 10, [2] = 1u << 31 | 2 };
    static const char *const want[][2] = { { "1", "2" }, { "3", "3 4" }, { "3", "3 4" }, { "3", "2" }, { "3", "2" }, { "1", "5" } };
    char map[4 + 4 * UNITS + 6] = { 4 * UNITS & 255, 4 * UNITS >> 8 };
    memcpy(map + 4 + 4 * UNITS, k == 4 ? "\xc3\xa9\0" : "a\0x", 4); /* the fourth byte is a zero */
    if (k == 5) memcpy(map + 4 + 4 * UNITS, "a\0\xc3\xa9", 5);
    if (k == 2) unit[0] = UINT32_MAX; /* beyond the array */
    if (k == 3) unit[0x41] = 1u << 31 | 99; /* beyond the strings */
    if (k == 4) unit[0x41] = 1u << 31 | 1, unit[2] = 1u << 31 | 3; /* inside a character; an empty string */
    memcpy(map + 4, unit, sizeof unit);
    struct tokenizer *t = k == 1 ? ways(user, 4, &h, map, sizeof map - 2) : ways(words, 5, &h, map, sizeof map - (k == 5 ? 0 : 2));
    ck_assert_str_eq(ids_of(t, "A"), want[k][0]);
    ck_assert_str_eq(ids_of(t, "AB"), k == 4 ? "" : want[k][1]);
    tokenizer_close(&M, t);
  }
  at_peace();
}
END_TEST

/* the same in a tokenizer.json: bytes for a row of characters, or a word, the later of two twins, and the doubles of the library that
   wrote the file, which are not always the nearest */
START_TEST(scores_of_a_tokenizer_json)
{
#define UNIGRAM(more, words) "{\"model\": {\"type\": \"Unigram\", " more "\"vocab\": [" words "]}, \"decoder\": {\"type\": \"Fuse\"}}"
  static const struct { const char *file, *text, *want; } rows[] = {
    { UNIGRAM("\"unk_id\": 0, ", "[\"<unk>\", 0], [\"a\", -1], [\"a\", -2], [\"b\", -1.5]"), "ab", "2 3" },
    { UNIGRAM("\"unk_id\": 0, ", "[\"<unk>\", 0], [\"a\", -1]"), "x<unk>ya", "0 1" },
    { "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0], [\"<abc>\", -1], [\"x\", -2]]}, \"added_tokens\": ["
      "{\"id\": 3, \"content\": \"<ab\", \"special\": false}, {\"id\": 9, \"content\": \"<abc>\", \"special\": false}], \"decoder\": {\"type\": \"Fuse\"}}",
      "x<ab<abc>x", "2 3 1 2" }, /* an added token has the id of the word that it is, and not of one that begins so */
    { UNIGRAM("\"unk_id\": 0, \"byte_fallback\": true, ", "[\"<unk>\", 0], [\"a\", -1], [\"<0x78>\", -2], [\"<0xC3>\", -2], [\"<0xA9>\", -2]"), "xa\xc3\xa9xay", "2 1 3 4 2 1 0" },
    { UNIGRAM("\"unk_id\": 0, \"byte_fallback\": true, ", "[\"<unk>\", 0], [\"a\", -1], [\"<0x78>\", -2]"), "xa<unk>", "2 1 0" },
    { UNIGRAM("\"unk_id\": 0, \"byte_fallback\": true, ", "[\"<unk>\", 0], [\"a\", -1], [\"<0x3C>\", -2], [\"<0x75>\", -2], [\"<0x6E>\", -2], [\"<0x6B>\", -2], [\"<0x3E>\", -2]"), "<unk>a<<unk>", "0 1 2 2 3 4 5 6" },
    { UNIGRAM("\"unk_id\": 0, ", "[\"<unk>\", 0], [\"p\", -7.4170516574302185], [\"a\", -6.308418999463573], [\"b\", -6.308418999463573], [\"aa\", -2.4960775125637444], [\"ab\", -2.4960775125637444]"), "paab", "1 4 3" } };
  struct error why = { "" };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct tokenizer *t = tokenizer_open(&M, file_with(rows[i].file, strlen(rows[i].file)), &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    ck_assert_str_eq(ids_of(t, rows[i].text), rows[i].want);
    tokenizer_close(&M, t);
  }
  static const char *const wrong[][2] = { { UNIGRAM("", "[\"a\", -1]"), "the vocabulary cannot spell the character U+0078" },
    { UNIGRAM("\"unk_id\": 5, ", "[\"a\", -1]"), "model.unk_id is 5; wanted: the number of a word" },
    { UNIGRAM("", ""), "model.vocab is a list; wanted: a list of words, each with a score" },
    { UNIGRAM("", "[\"a\", -1], [\"b\"]"), "model.vocab[1] is a list; wanted: a word and a score" },
    { UNIGRAM("\"dropout\": 0.1, ", "[\"a\", -1]"), "model.dropout is a number with a point" } };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct ids got = { 0 };
    struct tokenizer *t = tokenizer_open(&M, file_with(wrong[i][0], strlen(wrong[i][0])), &why);
    ck_assert(t == NULL ? i > 0 : i == 0 && !tokenizer_encode(t, &M, "x", 1, false, false, &got, &why));
    ck_assert_msg(strstr(why.text, wrong[i][1]) != NULL, "%s", why.text);
    ids_free(&M, &got), tokenizer_close(&M, t);
  }
  unlink(file_with("", 0));
  at_peace();
}
END_TEST

/* files of ranks that name their maker by the number of lines: two bytes and a third in each word; a text begins with a token in Llama's
   and is composed in Qwen's */
START_TEST(ranks_of_llama_and_qwen)
{
  static const struct { size_t lines; const char *special, *more; uint32_t id, more_id; bool begins, composes; } kind[] = {
    { 128000, "<|eot_id|>", "<|reserved_special_token_247|>", 128009, 128255, true, false },
    { 151643, "<|im_start|>", "<|extra_204|>", 151644, 151850, false, true }, { 200000, "<|eot|>", "<|python_start|>", 200008, 200016, true, false } };
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t k = 0; k < 3; k++) {
    char *file = malloc(20 * kind[k].lines), *at = file;
    for (size_t i = 0; i < kind[k].lines; i++) /* the bytes first, then other words of three bytes */
      at += i < 256 ? sprintf(at, "%c%c== %zu\n", letter[i >> 2], letter[(i & 3) << 4], i)
        : sprintf(at, "%c%c%c%c %zu\n", letter[i >> 18 & 63], letter[i >> 12 & 63], letter[i >> 6 & 63], letter[i & 63], i);
    struct error why = { "" };
    struct tokenizer *t = tokenizer_open(&M, file_with(file, (size_t) (at - file)), &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    uint32_t id = 0;
    ck_assert(tokenizer_find(t, kind[k].special, strlen(kind[k].special), &id) && id == kind[k].id && tokenizer_is_special(t, id));
    ck_assert(tokenizer_find(t, kind[k].more, strlen(kind[k].more), &id) && id == kind[k].more_id);
    ck_assert(tokenizer_bos(t, &id) == kind[k].begins);
    ck_assert(!kind[k].begins || id == kind[k].lines);
    ck_assert_str_eq(ids_of(t, "e\xcc\x81"), kind[k].composes ? "195 169" : "101 204 129");
    tokenizer_close(&M, t), free(file);
  }
  unlink(file_with("", 0));
  at_peace();
}
END_TEST

/* Mistral's own form, with and without its list of special tokens */
#define TEKKEN(special, size, words) "{\"config\": {\"pattern\": \"\\\\p{L}+|.\", \"default_vocab_size\": " size ", \"default_num_special_tokens\": 3, \"version\": \"v3\"}, " special "\"vocab\": [" words "]}"
#define WORD(rank, bytes) "{\"rank\": " rank ", \"token_bytes\": \"" bytes "\", \"token_str\": null}"
#define FOUR WORD("0", "YQ==") ", " WORD("1", "Yg==") ", " WORD("2", "YWI=") ", " WORD("3", "YWJi")
START_TEST(mistrals_own_form)
{
  struct error why = { "" };
  for (int k = 0; k < 3; k++) {
    static const char *const file[] = { TEKKEN("", "7", FOUR), TEKKEN("\"special_tokens\": [{\"rank\": 0, \"token_str\": \"<u>\", \"is_control\": true}, {\"rank\": 1, \"token_str\": \"<s>\"}], ", "7", FOUR), TEKKEN("", "6", FOUR) };
    struct tokenizer *t = tokenizer_open(&M, file_with(file[k], strlen(file[k])), &why);
    if (t == NULL) ck_abort_msg("%s", why.text);
    uint32_t id = 9;
    size_t n;
    ck_assert(tokenizer_bos(t, &id) && id == 1 && tokenizer_is_special(t, 2) && tokenizer_vocab_size(t) == (k == 2 ? 6 : 7));
    ck_assert(tokenizer_find(t, k == 1 ? "<SPECIAL_2>" : "</s>", k == 1 ? 11 : 4, &id) && id == 2);
    ck_assert(memcmp(tokenizer_text(t, 0, &n), k == 1 ? "<u>" : "<unk>", 3) == 0);
    ck_assert_str_eq(ids_of(t, "abba"), k == 2 ? "5 4 3" : "6 3");
    tokenizer_close(&M, t);
  }
  static const char *const wrong[][2] = { { TEKKEN("", "8", FOUR), "vocab is a list; wanted: a list of all words but the special ones" },
    { TEKKEN("", "3", FOUR), "vocab is a list" }, { TEKKEN("", "7", WORD("0", "YQ==") ", " WORD("2", "Yg==") ", " WORD("1", "YWI=") ", " WORD("3", "YWJi")), "vocab[1] is an object; wanted: token_bytes in base64" },
    { TEKKEN("", "5", WORD("0", "YQ==") ", " WORD("1", "?")), "vocab[1]" }, { TEKKEN("", "5", WORD("0", "YQ==") ", " WORD("1", "YQ==")), "a word for the second time" },
    { TEKKEN("\"special_tokens\": [{\"rank\": 1, \"token_str\": \"<u>\"}], ", "7", FOUR), "special_tokens[0] is an object; wanted: a token_str" },
    { "{\"config\": {\"pattern\": 1}, \"vocab\": []}", "config.pattern is 1; wanted: a pattern" },
    { "{\"config\": {\"pattern\": \"a\"}, \"vocab\": []}", "config.default_vocab_size is missing" } };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ck_assert_ptr_null(tokenizer_open(&M, file_with(wrong[i][0], strlen(wrong[i][0])), &why));
    ck_assert_msg(strstr(why.text, wrong[i][1]) != NULL, "%s", why.text);
  }
  unlink(file_with("", 0));
  at_peace();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("scores");
  TCase *c = tcase_create("scores");
  tcase_add_test(c, sentencepiece_itself);
  tcase_add_test(c, tiktoken_itself);
  tcase_add_test(c, cases_of_other_libraries);
  tcase_add_test(c, cases_of_llama_cpp);
  tcase_add_test(c, models_and_their_descriptions);
  tcase_add_test(c, pieces_are_the_definition);
  tcase_add_test(c, ranks_are_the_definition);
  tcase_add_test(c, a_megabyte_of_one_thing);
  tcase_add_test(c, special_pieces_and_brackets);
  tcase_add_test(c, a_second_file_decides);
  tcase_add_test(c, blanks_as_the_model_says);
  tcase_add_test(c, thinned_out_with_blocks);
  tcase_add_test(c, wrong_models_are_refused_in_words);
  tcase_add_test(c, broken_models_do_no_harm);
  tcase_add_test(c, every_refusal_of_memory_is_survived);
  suite_add_tcase(s, c);
  c = tcase_create("edges");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, lines_of_ranks);
  tcase_add_test(c, pieces_at_the_edge);
  tcase_add_test(c, equal_scores_are_joined_from_the_left);
  tcase_add_test(c, a_beginning_behind_the_last_piece_is_none);
  tcase_add_test(c, what_a_model_leaves_out);
  tcase_add_test(c, unknown_fields_are_read_over);
  tcase_add_test(c, families_of_ranks);
  tcase_add_test(c, the_blank_of_the_beginning);
  tcase_add_test(c, unknown_letters_meet_a_piece_of_the_user);
  tcase_add_test(c, names_of_bytes_and_the_last_id);
  tcase_add_test(c, forty_letters_of_a_name);
  tcase_add_test(c, the_best_of_all_ways);
  tcase_add_test(c, maps_of_characters);
  tcase_add_test(c, scores_of_a_tokenizer_json);
  tcase_add_test(c, ranks_of_llama_and_qwen);
  tcase_add_test(c, mistrals_own_form);
  suite_add_tcase(s, c);
  return suite_run(s);
}
