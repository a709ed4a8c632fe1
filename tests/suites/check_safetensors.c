/* Files of tensors, and of JSON beside them: their format, their limits, which file is blamed. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <jansson.h>
#include "variants.h"
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/tensor_format.h"

/* ---- files of tensors */
START_TEST(vectors_of_the_format)
{
  char buffer[300], line[300];
  const char *list = shared_file(buffer, sizeof buffer, "vectors/safetensors/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char name[100], verdict[100], path[600];
    sscanf(line, "%99s %99s", name, verdict);
    snprintf(
      path, sizeof path, "%.*s/%s.safetensors", (int) (strrchr(list, '/') - list), list, name);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    bool right =
      (w != NULL) == (strcmp(verdict, "ok") == 0) && (w != NULL || strstr(why.text, name) != NULL);
    tensor_file_close(&m, w);
    if (right && m.all.live == 0 && m.all.peak < (64u << 20))
      passed++;
    else
      failed++;
  }
  fclose(f);
  tally("vectors/safetensors/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST
static const struct {
  const char *header;
  size_t data;
  bool ok;
  uint64_t tensors, parameters;
  const char *words;
} header_case[] = {
  { "{}", 0, true, 0, 0, "" },
  { " \t\r\n{ } ", 0, true, 0, 0, "" },
  { "", 0, false, 0, 0, "wanted: {" },
  { "{", 0, false, 0, 0, ", or }" },
  { "[]", 0, false, 0, 0, "wanted: {" },
  { "{}~", 0, false, 0, 0, "white space" },
  { "~{}", 0, false, 0, 0, "wanted: {" },
  { "{}x", 0, false, 0, 0, "white space" },
  { "{} {}", 0, false, 0, 0, "white space" },
  { "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, true, 1, 1, "" },
  { "{\"a\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[0,0]}}", 0, true, 1, 0, "" },
  { "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1, false, 0, 0,
    "as many bytes" },
  { "{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2, true, 1, 4, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,4]}}", 4, false, 0, 0,
    "as many bytes" },
  { "{\"a\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, true, 1, 4, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\","
    "\"shape\":[1],\"data_offsets\":[1,2]}}",
    2, false, 0, 0, "given twice" },
  { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0,
    0, "duplicate" },
  { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0, false, 0, 0, "duplicate" },
  { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, false, 0, 0, "twice" },
  { "{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, true, 0, 0, "" },
  { "{\"__metadata__\":[]}", 0, false, 0, 0, "object of strings" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},}", 1, false, 0, 0,
    "strict JSON" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}", 1, false, 0, 0, ", or }" },
  { "{\"a\" {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, false, 0, 0,
    "\"name\": value" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, false, 0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, false,
    0, 0, "2^64" },
  { "{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, false,
    0, 0, "as many bytes" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, false, 0, 0, "rising" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, false, 0, 0,
    "two data_offsets" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", 8, false, 0, 0,
    "within the file" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 9, false, 0, 0,
    "the last offset" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\","
    "\"shape\":[2],\"data_offsets\":[1,3]}}",
    3, false, 0, 0, "no overlap" },
  { "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"e\":{\"dtype\":\"U8\","
    "\"shape\":[0],\"data_offsets\":[1,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":["
    "0,1]}}",
    2, true, 3, 2, "" },
  { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
    true, 1, 1, "" },
  { "{\"a\":3}", 0, false, 0, 0, "two data_offsets" },
  { "{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, false, 0, 0,
    "u0000" },
};
START_TEST(headers_are_believed_only_when_they_add_up)
{
  char path[300];
  const char *t = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/incipit-header-%d", t ? t : "/tmp", (int) getpid());
  for (size_t i = 0; i < sizeof header_case / sizeof header_case[0]; i++) {
    unsigned char file[1024] = { 0 };
    uint64_t n = strlen(header_case[i].header), p = 0;
    memcpy(file, &n, 8);
    memcpy(file + 8, header_case[i].header, n);
    for (size_t k = 8; k < 8 + n; k++)
      if (file[k] == '~') file[k] = 0; /* ~ stands for a zero byte */
    spill(path, file, 8 + n + header_case[i].data);
    struct memory m = { 0 };
    struct error why = { "" };
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    ck_assert_msg((w != NULL) == header_case[i].ok && (w || strstr(why.text, header_case[i].words)),
      "%s: %s", header_case[i].header, why.text);
    for (size_t k = 0; w && k < tensor_file_count(w); k++) {
      p += tensor_file_at(w, k)->elements;
      ck_assert_ptr_eq(tensor_file_find(w, tensor_file_at(w, k)->name), tensor_file_at(w, k));
    }
    if (w)
      ck_assert(tensor_file_count(w) == header_case[i].tensors && p == header_case[i].parameters);
    if (w) ck_assert_ptr_null(tensor_file_find(w, "nobody"));
    tensor_file_close(&m, w);
    ck_assert_uint_eq(m.all.live, 0);
  }
  remove(path);
  tally("headers of tensor files", sizeof header_case / sizeof header_case[0], 0, 0, "");
}
END_TEST
START_TEST(directories_to_refuse)
{
  char buffer[300], line[600];
  const char *list = shared_file(buffer, sizeof buffer, "golden/refuse/EXPECTED.tsv");
  if (list == NULL) return;
  FILE *f = fopen(list, "r");
  unsigned passed = 0, failed = 0;
  ck_assert(fgets(line, sizeof line, f) != NULL);
  while (fgets(line, sizeof line, f)) {
    char path[600], *verdict = strchr(line, '\t');
    *verdict++ = 0;
    if (strcmp(line, "tokenizer-ids-over") == 0 || strcmp(line, "arch-olmo2") == 0)
      continue; /* one is for the chapters on tokens and the command; the other is a family that we have now */
    snprintf(path, sizeof path, "%.*s/%.100s", (int) (strrchr(list, '/') - list), list, line);
    struct memory m = { 0 };
    struct error why = { "" };
    struct model *lm = model_open(&m, path, &why);
    bool right = (lm == NULL) == (strncmp(verdict, "must refuse", 11) == 0)
      && (lm || strchr(why.text, ';') != NULL);
    model_close(&m, lm);
    if (right && m.all.live == 0)
      passed++;
    else
      failed++;
  }
  fclose(f);
  tally("golden/refuse/EXPECTED.tsv", passed, failed, 0, "");
  ck_assert_uint_eq(failed, 0);
}
END_TEST

/* ---- files of tensors: a byte less, exactly as many, a byte more; and which file is blamed */
static char shelf[100];
static void shelf_open(void)
{
  const char *t = getenv("TMPDIR");
  snprintf(shelf, sizeof shelf, "%.60s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(shelf));
}
static const char *shelf_put(const char *name, const char *header, size_t length, size_t data)
{
  static char path[400];
  static unsigned char file[70000];
  uint64_t n = length;
  memset(file, 0, sizeof file);
  memcpy(file, &n, 8), memcpy(file + 8, header, strlen(header));
  variant_path(path, shelf, name);
  spill(path, file, 8 + strlen(header) + data);
  return path;
}
static void shelf_says(const char *path, const char *words)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  ck_assert_msg((w != NULL) == (words == NULL), "%s: %s", path, w ? "accepted" : why.text);
  ck_assert_msg(w || strstr(why.text, words) != NULL, "%s; wanted: %s", why.text, words);
  tensor_file_close(&m, w);
  ck_assert_uint_eq(m.all.live, 0);
}
#define U8(name, from, to, n)                                                                      \
  "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" #n "],"                                             \
  "\"data_offsets\":[" #from "," #to "]}"
START_TEST(tensor_files_at_their_limits)
{
  static const char one[] = "{" U8("a", 0, 3, 3) "}",
                    hole[] = "{" U8("a", 0, 3, 3) "," U8("b", 4, 6, 2) "}";
  shelf_open();
  shelf_says(shelf_put("x", one, sizeof one - 1, 3), NULL);
  shelf_says(shelf_put("x", one, sizeof one - 1, 2),
    "/x: a is 3 bytes at byte 0; wanted: within the file, before byte 2");
  shelf_says(
    shelf_put("x", one, sizeof one - 1, 4), "/x: the data are 4 bytes; wanted: 3, the last offset");
  shelf_says(shelf_put("x", "{}", 2, 0), NULL);
  shelf_says(shelf_put("x", "{}", 3, 0), "the header is longer than the file");
  shelf_says(shelf_put("x", "{}", 3, 1), "the header is followed by something");
  shelf_says(shelf_put("x", "{}  \t\r\n", 7, 0), NULL); /* padded with blanks, but not with zeros */
  shelf_says(shelf_put("x", "{} ", 5, 2), "the header is followed by something");
  shelf_says(shelf_put("x", "{\"a\":", 7, 2), "the header is a byte of zero; wanted: strict JSON");
  shelf_says(shelf_put("x", "", 0, 0), "the header is no object; wanted: {");
  shelf_says(shelf_put("x", "{}", SIZE_MAX, 9), "the header is longer than the file");
  shelf_says(shelf_put("x", "{}", 100000001, 9), "the header is longer than the file");
  char *path = (char *) (uintptr_t) shelf_put("x", "", 0, 0);
  ck_assert(truncate(path, 7) == 0),
    shelf_says(path, "the header is missing; wanted: 8 bytes of length");
  ck_assert(truncate(path, 0) == 0),
    shelf_says(path, "the header is missing; wanted: 8 bytes of length");
  shelf_says(shelf_put("x", hole, sizeof hole - 1, 6),
    "/x: b is 2 bytes at byte 4; wanted: byte 3, no hole, no overlap");
  static const char over[] = "{" U8("b", 2, 6, 4) "," U8("a", 0, 3, 3) "}";
  shelf_says(
    shelf_put("x", over, sizeof over - 1, 6), "/x: b is 4 bytes at byte 2; wanted: byte 3");
  static const char same[] = "{" U8("b", 0, 3, 3) "," U8("a", 0, 0, 0) "," U8("c", 3, 3, 0) "}";
  /* what is empty lies before and behind */
  shelf_says(shelf_put("x", same, sizeof same - 1, 3), NULL);
  static const char twice[] =
    "{\"__metadata__\":{\"a\":\"b\"}," U8("a", 0, 3, 3) ",\"__metadata__\":{}}";
  shelf_says(shelf_put("x", twice, sizeof twice - 1, 3), "__metadata__ twice");
  unlink(path), rmdir(shelf);
}
END_TEST
/* a header whose metadata, an entry or a name has n letters x in it */
static const char *shelf_long(const char *before, size_t n, const char *after)
{
  static char path[400];
  uint64_t a = strlen(before), b = strlen(after), all = a + n + b;
  char *text = calloc(all + 11, 1);
  memcpy(text, &all, 8), memcpy(text + 8, before, a), memset(text + 8 + a, 'x', n), memcpy(text + 8 + a + n, after, b);
  variant_path(path, shelf, "x"), spill(path, text, all + 11);
  free(text);
  return path;
}
START_TEST(long_values_of_a_header)
{
  static const char tensor[] = U8("a", 0, 3, 3) "}";
  const struct { const char *before, *after, *field; size_t own, max; } at[] = {
    { "{\"__metadata__\":{\"a\":\"", "\"},", "__metadata__", 8, 4 << 20 },
    { "{\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"more\":\"", "\"},", "b",
      strlen("{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"more\":\"\"}"), 1 << 16 },
    { "{\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", "a name in the header", 2, 1 << 16 } };
  char after[200], words[200];
  shelf_open();
  const char *path = NULL;
  for (size_t i = 0; i < 3; i++) {
    snprintf(after, sizeof after, "%s%s", at[i].after, tensor);
    shelf_says(path = shelf_long(at[i].before, at[i].max - at[i].own, after), NULL);
    snprintf(words, sizeof words, "/x: %s is longer than that; wanted: at most %zu bytes", at[i].field, at[i].max);
    shelf_says(shelf_long(at[i].before, at[i].max - at[i].own + 1, after), words);
    shelf_says(shelf_long(at[i].before, 2 * at[i].max, after), words);
    /* and what is cut short is not long */
    shelf_says(shelf_long(at[i].before, 100, ""), "the header is premature end of input; wanted: strict JSON");
  }
  unlink(path), rmdir(shelf);
}
END_TEST
START_TEST(the_file_that_is_wrong_is_named)
{
  static const char a[] = "{" U8("a", 0, 3, 3) "}", b[] = "{" U8("b", 0, 3, 3) "}",
                    ab[] = "{" U8("a", 0, 3, 3) "," U8("b", 3, 6, 3) "}";
  static const struct {
    const char *map, *one, *two, *words;
  } at[] = { { "\"a\":\"one\",\"b\":\"two\"", a, b, NULL },
    { "\"a\":\"one\",\"b\":\"one\"", ab, b, NULL },
    { "\"a\":\"two\",\"b\":\"one\"", a, b,
      "index.json: a is two; wanted: the file that has this tensor" },
    { "\"a\":\"one\",\"b\":\"two\"", a, a, ": a is given twice; wanted: each name once" },
    { "\"a\":\"one\"", ab, b, "index.json: weight_map has 1 tensors; wanted: 2, as in the files" },
    { "\"a\":\"one\",\"b\":\"\"", a, b, "index.json: b is \"\"; wanted: the name of a file" },
    { "\"a\":\"one\",\"b\":\".hidden\"", a, b,
      "index.json: b is \".hidden\"; wanted: the name of a file" },
    { "\"a\":\"one\",\"b\":\"three\"", a, b, "/three: cannot be opened" },
    { "\"a\":\"one\",\"b\":\"two\"", a, "{", "/two: the header is cut short or out of order" } };
  char text[400], path[400];
  shelf_open();
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    shelf_put("one", at[i].one, strlen(at[i].one), strcmp(at[i].one, ab) ? 3 : 6);
    shelf_put("two", at[i].two, strlen(at[i].two), *at[i].two && at[i].two[1] ? 3 : 0);
    snprintf(text, sizeof text, "{\"metadata\":{},\"weight_map\":{%s}}", at[i].map);
    variant_path(path, shelf, ".hidden"), spill(path, a, 0);
    variant_path(path, shelf, "model.safetensors.index.json"), spill(path, text, strlen(text));
    shelf_says(shelf, at[i].words);
    if (i == 3) { /* the second of the two files, not the index */
      struct memory m = { 0 };
      struct error why;
      ck_assert(tensor_file_open(&m, shelf, &why) == NULL && strstr(why.text, "index") == NULL);
    }
  }
  /* a whole file goes before an index, whatever that says */
  shelf_put("model.safetensors", b, sizeof b - 1, 3);
  struct memory m = { 0 };
  struct tensor_file *w = tensor_file_open(&m, shelf, NULL);
  ck_assert(w != NULL && tensor_file_count(w) == 1 && strcmp(tensor_file_at(w, 0)->name, "b") == 0);
  tensor_file_close(&m, w);
  variant_drop(shelf);
}
END_TEST
/* a reader of another format needs what is in tensor_format.h, and nothing else */
START_TEST(any_reader_can_fill_a_list)
{
  static const struct tensor_format mine = { .name = "mine" };
  struct memory m = { 0 };
  struct error why = { "" };
  shelf_open();
  shelf_put("numbers", "12345678", 8, 0);
  struct tensor_file *w = memory_alloc(&m, MEMORY_OTHER, 1, sizeof *w, &why);
  w->m = &m, w->format = &mine;
  struct shard *s = tensor_file_map(w, shelf, "numbers", &why);
  ck_assert(s != NULL && s->map.size == 16);
  ck_assert_ptr_null(tensor_file_map(w, shelf, "nothing", &why));
  ck_assert_ptr_nonnull(strstr(why.text, "/nothing"));
  const char *path = w->shards[0].path;
  const unsigned char *bytes = w->shards[0].map.bytes;
  static const char *const name[] = { "c", "a", "b" };
  for (size_t i = 0; i < 3; i++) {
    struct tensor_entry *t = tensor_file_add(w, path, name[i], i, &why);
    ck_assert(t != NULL && t->rank == i && t->name != name[i]);
    t->type = WEIGHT_Q8_0, t->data = bytes + i;
  }
  ck_assert(tensor_file_sort(w, &why) && tensor_file_count(w) == 3);
  for (size_t i = 0; i < 3; i++) {
    const struct tensor_entry *t = tensor_file_find(w, name[i]);
    ck_assert(t != NULL && t->data == bytes + i && t->number == (i + 2) % 3);
    ck_assert(tensor_file_at(w, t->number) == t && strcmp(t->file, path) == 0);
  }
  ck_assert_str_eq(tensor_file_format(w), "mine");
  ck_assert(tensor_file_add(w, path, "a", 0, &why) != NULL && !tensor_file_sort(w, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "/numbers: a is given twice"));
  tensor_file_close(&m, w);
  ck_assert_uint_eq(m.all.live, 0);
  variant_drop(shelf);
}
END_TEST
START_TEST(excerpts_and_lengths_of_settings)
{
  char buffer[64], text[80], want[90], path[400];
  struct error why;
  for (size_t n = 40; n < 75; n++) { /* sixty bytes are quoted whole, more are cut */
    memset(text, 'x', n), text[n] = '\0';
    json_t *value = json_string(text);
    snprintf(want, sizeof want, "\"%s\"", text);
    const char *got = jsonfile_excerpt(value, buffer);
    if (n + 2 <= 60)
      ck_assert_str_eq(got, want);
    else
      ck_assert(strlen(got) <= 60 && strcmp(got + strlen(got) - 4, "...\"") == 0);
    json_decref(value);
    value = json_array(); /* of many short values as many as there is room for */
    for (size_t i = 0; i < n / 2; i++) json_array_append_new(value, json_integer(7));
    got = jsonfile_excerpt(value, buffer);
    ck_assert_uint_eq(strlen(got), n / 2 * 2 + 1 <= 60 ? n / 2 * 2 + 1 : 59);
    ck_assert(strncmp(got, "[7,7,7,7", 8) == 0);
    ck_assert(n / 2 < 30 || strcmp(got + 56, "...") == 0);
    json_decref(value);
  }
  ck_assert_str_eq(jsonfile_excerpt(NULL, buffer), "missing");
  for (size_t n = 0; n < 70; n++) { /* a text that is long is quoted by its beginning, whatever is in it */
    static const char *const odd[] = { "x", "7", "\"", "\n", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "1.5," };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
      char all[500] = "", *whole;
      for (size_t i = 0; i < n; i++) strcat(all, i % 3 == 2 ? "y" : odd[k]);
      json_t *of = json_string(all);
      whole = json_dumps(of, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
      const char *got = jsonfile_excerpt(of, buffer);
      size_t cut = strlen(got) - 4;
      if (strlen(whole) <= 60) ck_assert_str_eq(got, whole);
      else {
        ck_assert_msg(strcmp(got + cut, "...\"") == 0 && strncmp(got, whole, cut) == 0 && cut <= 56
          && cut >= 56 - 12, "%s of %s", got, whole);
        for (size_t i = 0; i < cut; i += whole[i] != '\\' ? 1 : whole[i + 1] != 'u' ? 2 : 6)
          ck_assert_msg(cut - i >= (whole[i] != '\\' ? 1 : whole[i + 1] != 'u' ? 2 : 6), "%s", got);
        if (k == 6) ck_assert(strncmp(got + cut - 6, "\\uD83D", 6) != 0);
      }
      free(whole), json_decref(of);
      char part[EXCERPT_MAX + 4];
      for (size_t most = 1; most <= EXCERPT_MAX; most += 7) { /* and so is one that is no JSON */
        text_excerpt(all, strlen(all), most, part);
        cut = strlen(all) <= most ? strlen(all) : strlen(part) - 3;
        ck_assert(strncmp(part, all, cut) == 0 && cut <= most && (cut == strlen(all)
          || (strcmp(part + cut, "...") == 0 && cut + 4 > most && (all[cut] & 0xc0) != 0x80)));
      }
    }
  }
  shelf_open(), variant_path(path, shelf, "x");
  spill(path, "[1, 2]    ", 10);
  json_t *value = jsonfile_read(path, 10, &why);
  ck_assert(json_array_size(value) == 2), json_decref(value);
  ck_assert_ptr_null(jsonfile_read(path, 9, &why));
  ck_assert_ptr_nonnull(strstr(why.text, "/x: this has 10 bytes; wanted: at most 9 of JSON"));
  /* a byte of zero is no JSON, wherever it is */
  static const struct { const char *text; size_t n; } zero[] = { { "[1,2]\0", 6 }, { "[1,2]\n\0\n", 8 }, { "\0[1,2]", 6 },
    { "[1,\0002]", 6 }, { "\0", 1 } };
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
    spill(path, zero[i].text, zero[i].n);
    ck_assert_ptr_null(jsonfile_read(path, 10, &why));
    ck_assert_msg(strstr(why.text, i == 1 ? "/x: line 2: a byte of zero; wanted: strict JSON"
      : "/x: line 1: a byte of zero; wanted: strict JSON") != NULL, "%s", why.text);
  }
  spill(path, "[1,\n\n2", 7);
  ck_assert(jsonfile_read(path, 10, &why) == NULL && strstr(why.text, "/x: line 3: ") != NULL);
  unlink(path), rmdir(shelf);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("safetensors");
  TCase *t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, tensor_files_at_their_limits);
  tcase_add_test(t, long_values_of_a_header);
  tcase_add_test(t, the_file_that_is_wrong_is_named);
  tcase_add_test(t, any_reader_can_fill_a_list);
  tcase_add_test(t, excerpts_and_lengths_of_settings);
  suite_add_tcase(s, t);
  t = tcase_create("files");
  tcase_add_test(t, vectors_of_the_format);
  tcase_add_test(t, headers_are_believed_only_when_they_add_up);
  tcase_add_test(t, directories_to_refuse);
  suite_add_tcase(s, t);
  return suite_run(s);
}
