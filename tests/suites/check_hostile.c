/* Files that are wrong on purpose.  Each is refused with a sentence that names the file, or does no
   harm; none costs more than it justifies.  What one turned bit does is tested in tests/suites/siege.c;
   here are the defects that somebody has to think of. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "suite.h"
#include "tokenizer/tokenizer.h"
#include "model/forward.h"
#include "families/loader.h"
#include "safetensors/tensor_file.h"
#include "kernels/kernels.h"
#include "cache/cache.h"

static char room[300]; /* a folder, made anew for each test */
static const char *const all_files[] = { "config.json", "generation_config.json",
  "model.safetensors.index.json", "model-00001-of-00002.safetensors",
  "model-00002-of-00002.safetensors", "model.safetensors", "tokenizer.json",
  "tokenizer_config.json", "vocab.json", "merges.txt", "outside", ".hidden.safetensors" };
static char *in_room(char path[600], const char *file)
{
  snprintf(path, 600, "%s/%s", room, file);
  return path;
}
static unsigned char *slurp(const char *path, size_t *n)
{
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  fseek(f, 0, SEEK_END);
  *n = (size_t) ftell(f);
  rewind(f);
  unsigned char *b = calloc(*n + 1, 1);
  ck_assert_uint_eq(fread(b, 1, *n, f), *n);
  fclose(f);
  return b;
}
static void spill(const char *path, const void *b, size_t n)
{
  unlink(path);
  FILE *f = fopen(path, "wb");
  ck_assert(f != NULL && fwrite(b, 1, n, f) == n);
  fclose(f);
}
static void room_make(const char *from)
{
  char source[600], to[600];
  snprintf(room, sizeof room, "%s/incipit-hostile-XXXXXX",
    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(room));
  for (size_t i = 0; i < sizeof all_files / sizeof *all_files; i++) {
    snprintf(source, sizeof source, "tests/golden/%s/%s", from, all_files[i]);
    if (access(source, R_OK) != 0) continue;
    size_t n;
    unsigned char *b = slurp(source, &n);
    spill(in_room(to, all_files[i]), b, n);
    free(b);
  }
}
static void room_drop(void)
{
  char path[600];
  for (size_t i = 0; i < sizeof all_files / sizeof *all_files; i++)
    unlink(in_room(path, all_files[i])), rmdir(path);
  ck_assert_int_eq(rmdir(room), 0);
}
static size_t room_size(void)
{
  size_t sum = 0;
  struct stat about;
  char path[600];
  for (size_t i = 0; i < sizeof all_files / sizeof *all_files; i++)
    if (stat(in_room(path, all_files[i]), &about) == 0 && S_ISREG(about.st_mode))
      sum += (size_t) about.st_size;
  return sum;
}
/* opens what the room holds, and puts it to work; false and a sentence, or true */
static bool open_all(struct error *why, bool words)
{
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find("scalar", NULL), .c = &c };
  uint32_t ids[2] = { 1, 2 };
  double lp[2], sum;
  struct timespec a, b;
  why->text[0] = '\0';
  clock_gettime(CLOCK_MONOTONIC, &a);
  bool ok;
  if (words) {
    struct tokenizer *t;
    ok = tokenizer_try(&m, room, &t, why) == TOKENIZER_OPEN;
    tokenizer_close(&m, t);
  } else {
    struct model *lm = model_open(&m, room, why);
    struct store *s = lm != NULL ? cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, why) : NULL;
    ok = s != NULL && model_logprobs(&e, lm, s, ids, 2, lp, &sum, why);
    store_close(s);
    model_close(&m, lm);
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  ck_assert_uint_eq(m.all.live, 0);
  ck_assert_msg(m.all.peak <= 64 * room_size() + (1 << 20), "%lu bytes for files of %zu: %s",
    (unsigned long) m.all.peak, room_size(), why->text);
  ck_assert_msg(ok || strlen(why->text) > 20, "no sentence");
  for (const char *w = why->text; *w; w++) ck_assert((unsigned char) *w >= 0x20);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  ck_assert_msg((double) (b.tv_sec - a.tv_sec) + 1e-9 * (double) (b.tv_nsec - a.tv_nsec) < 5,
    "it took too long: %s", why->text);
#endif
  return ok;
}

/* ---- JSON that is none, in every file of JSON: what stands behind its first brace, and whether an
 * index, of which we need one member only, may have it */
static char *repeated(const char *begin, const char *part, size_t n, const char *end)
{
  char *t = malloc(strlen(begin) + n * strlen(part) + strlen(end) + 1), *at = stpcpy(t, begin);
  for (size_t i = 0; i < n; i++) at = stpcpy(at, part);
  strcpy(at, end);
  return t;
}
START_TEST(json_that_is_none_is_refused_in_every_file)
{
  static const char *const file[] = { "config.json", "generation_config.json",
    "model.safetensors.index.json", "model.safetensors", "tokenizer.json",
    "tokenizer_config.json" };
  struct {
    char *text;
    bool harmless;
  } defect[] = { { strdup("\"zzz\":1,\"zzz\":2,"), false }, { strdup("\"zzz\":\"\xff\","), false },
    { strdup("\"zzz\":\"\xed\xa0\x80\","), false }, { strdup("\"zzz\":\"\\ud800\","), false },
    { strdup("\"zzz\":1e999,"), false }, { strdup("\"zzz\":99999999999999999999999,"), false },
    { strdup("\"zzz\":nan,"), false }, { strdup("\"zzz\":01,"), false },
    { strdup("zzz:1,"), false }, { strdup(","), false }, { strdup("\"zzz\":1 // no\n,"), false },
    { strdup("\"zzz\":'x',"), false }, { strdup("\"zzz\":\"a\nb\","), false },
    { strdup("\"\\u0000\":1,"), false }, { repeated("\"zzz\":", "[", 100000, ","), false },
    { repeated("\"zzz\":", "{\"a\":", 50000, ","), false },
    { repeated("\"zzz\":", "[", 1000, "1"), false },
    { repeated("\"zzz\":\"", "a", 3 << 20, "\","), true },
    { repeated("\"zzz\":", "9", 5000, ","), false } };
  unsigned n = 0;
  for (size_t f = 0; f < sizeof file / sizeof *file; f++) {
    bool words = strncmp(file[f], "tokenizer", 9) == 0,
         header = strcmp(file[f], "model.safetensors") == 0;
    room_make(f < 3 ? "llama" : "small");
    char path[600];
    struct error why;
    size_t size;
    if (strcmp(file[f], "tokenizer_config.json") == 0)
      spill(in_room(path, file[f]), "{\"add_bos_token\": false}", 24);
    ck_assert_msg(open_all(&why, words), "%s", why.text);
    unsigned char *b = slurp(in_room(path, file[f]), &size), *changed = malloc(size + (8 << 20));
    for (size_t d = 0; d <= sizeof defect / sizeof *defect + 3; d++) {
      size_t skip = header ? 8 : 0, brace = skip + 1, at, length;
      if (d < sizeof defect / sizeof *defect) {
        length = strlen(defect[d].text);
        memcpy(changed, b, brace), memcpy(changed + brace, defect[d].text, length),
          memcpy(changed + brace + length, b + brace, size - brace);
        at = size + length;
      } /* cut in the middle; nothing; null; something behind the end */
      else if (d == sizeof defect / sizeof *defect)
        memcpy(changed, b, at = skip + (size - skip) / 2);
      else if (d == sizeof defect / sizeof *defect + 1)
        memcpy(changed, b, at = skip);
      else if (d == sizeof defect / sizeof *defect + 2)
        memcpy(changed, b, skip), memcpy(changed + skip, "null", 4), at = skip + 4;
      else
        memcpy(changed, b, skip), memcpy(changed + skip, "{}{}", 4), at = skip + 4;
      if (header) {
        uint64_t h;
        memcpy(&h, b, 8);
        h = d < sizeof defect / sizeof *defect ? h + length : at - 8;
        memcpy(changed, &h, 8);
      }
      spill(path, changed, at);
      bool ok = open_all(&why, words),
           may = d < sizeof defect / sizeof *defect && defect[d].harmless && (f == 2 || f == 5);
      ck_assert_msg(!ok || may, "%s: defect %zu is not refused", file[f], d);
      ck_assert_msg(
        ok || strstr(why.text, file[f]) != NULL, "%s: defect %zu: %s", file[f], d, why.text);
      n++;
    }
    free(b), free(changed);
    room_drop();
  }
  for (size_t d = 0; d < sizeof defect / sizeof *defect; d++) free(defect[d].text);
  tally("JSON that is none", n, 0, 0, "");
}
END_TEST

/* ---- a name may not lead out of the directory; a link may, and only to a file */
static void index_says(const char *file)
{
  char path[600], quoted[700];
  size_t n;
  unsigned char *b = slurp("tests/golden/llama/model.safetensors.index.json", &n);
  json_t *j = json_loadb((char *) b, n, 0, NULL);
  json_object_set_new(json_object_get(j, "weight_map"), "lm_head.weight", json_string(file));
  snprintf(quoted, sizeof quoted, "%s", file);
  ck_assert_int_eq(json_dump_file(j, in_room(path, "model.safetensors.index.json"), 0), 0);
  json_decref(j), free(b);
}
START_TEST(names_stay_in_the_directory)
{
  static const char *const out[] = { "../outside.safetensors", "shards/../../outside.safetensors",
    "/etc/passwd", "./model-00001-of-00002.safetensors", "..", ".", "", ".hidden.safetensors",
    "a/b", "model-00002-of-00002.safetensors/", "\x1b[2J/x" };
  struct error why;
  char path[600], to[600];
  room_make("llama");
  size_t n = sizeof out / sizeof *out;
  for (size_t i = 0; i < n; i++) {
    index_says(out[i]);
    ck_assert(!open_all(&why, false));
    ck_assert_msg(strstr(why.text, "model.safetensors.index.json: lm_head.weight is ") != NULL
        && strstr(why.text, "in the same directory") != NULL,
      "%s", why.text);
  }
  index_says("model-00003-of-00002.safetensors");
  ck_assert(!open_all(&why, false)
    && strstr(why.text, "model-00003-of-00002.safetensors: cannot be opened") != NULL);
  index_says("model-00001-of-00002.safetensors");
  ck_assert_msg(open_all(&why, false), "%s", why.text);
  /* a link to a file elsewhere is followed, as the caches of Hugging Face are made of links; one to
   * a folder, a pipe, a device, to nothing or to itself is refused */
  in_room(path, "model-00002-of-00002.safetensors"), snprintf(to, sizeof to, "%s-elsewhere", room);
  ck_assert(rename(path, to) == 0 && symlink(to, path) == 0);
  ck_assert_msg(open_all(&why, false), "%s", why.text);
  static const char *const bad[][2] = { { "/tmp", "a directory" },
    { "/dev/zero", "not a regular file" }, { "/nowhere/at/all", "No such file" },
    { "model-00002-of-00002.safetensors", "cannot be opened" }, { "", "not a regular file" } };
  for (size_t i = 0; i < 5; i++) {
    unlink(path);
    ck_assert_int_eq(bad[i][0][0] ? symlink(bad[i][0], path) : mkfifo(path, 0600), 0);
    ck_assert(!open_all(&why, false));
    ck_assert_msg(strstr(why.text, "model-00002-of-00002.safetensors") != NULL
        && strstr(why.text, bad[i][1]) != NULL,
      "%s", why.text);
  }
  unlink(to);
  room_drop();
  tally("names that lead out", (unsigned) n + 8, 0, 0, "");
}
END_TEST

/* ---- a kilobyte that claims a gigabyte */
static void set_field(const char *file, const char *field, const char *value)
{
  char path[600];
  json_t *j = json_load_file(in_room(path, file), 0, NULL);
  ck_assert_ptr_nonnull(j);
  json_object_set_new(j, field, json_loads(value, JSON_DECODE_ANY, NULL));
  ck_assert_int_eq(json_dump_file(j, path, JSON_INDENT(1)), 0);
  json_decref(j);
}
START_TEST(claims_cost_nothing)
{
  /* a size, and the words of the refusal; null: harmless, for nothing is as large as it */
  static const struct {
    const char *field, *value, *words;
  } claim[] = { { "max_position_embeddings", "2147483647", NULL },
    { "max_position_embeddings", "2147483648", "max_position_embeddings" },
    { "vocab_size", "2147483647", "[2147483647, 16]" },
    { "hidden_size", "2147483647", "a divisor of the width" },
    { "hidden_size", "2147483644", "an even number" },
    { "hidden_size", "2147483640", "[24, 2147483640]" },
    { "intermediate_size", "2147483647", "2147483647" },
    { "num_hidden_layers", "2147483647", "no more layers" },
    { "num_attention_heads", "2147483647", "2147483647" },
    { "head_dim", "2147483646", "[8589934584, 16]" },
    { "num_key_value_heads", "1073741824", "multiple" },
    { "vocab_size", "4611686018427387904", "an integer from 1" },
    { "vocab_size", "-1", "an integer from 1" }, { "vocab_size", "0", "an integer from 1" },
    { "hidden_size", "1e9", "an integer from 1" },
    { "num_hidden_layers", "0", "an integer from 1" }, { "eos_token_id", "2147483647", NULL },
    { "eos_token_id", "4294967296", "an id or a list" }, { "bos_token_id", "2147483647", NULL },
    { "rope_theta", "1e300", "rope_theta" }, { "rms_norm_eps", "-1e-5", "rms_norm_eps" } };
  struct error why;
  size_t n = sizeof claim / sizeof *claim;
  for (size_t i = 0; i < n; i++) {
    room_make("llama");
    set_field("config.json", claim[i].field, claim[i].value);
    bool ok = open_all(&why, false);
    ck_assert_msg(
      ok == (claim[i].words == NULL) && (ok || strstr(why.text, claim[i].words) != NULL),
      "%s %s: %s", claim[i].field, claim[i].value, ok ? "not refused" : why.text);
    room_drop();
  }
  /* a length, 0 for the right one, a header, and bytes behind it */
  static const struct {
    uint64_t length;
    const char *header;
    size_t data;
  } file[] = { { UINT64_MAX, "{}", 0 }, { UINT64_MAX - 7, "{}", 0 }, { 1ull << 63, "{}", 0 },
    { 100000000, "{}", 0 }, { 100000001, "{}", 0 }, { 3, "{}", 0 },
    { 0, "{\"a\":{\"dtype\":\"F32\",\"shape\":[1073741824],\"data_offsets\":[0,4294967296]}}", 0 },
    { 0, "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}",
      0 },
    { 0, "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0 },
    { 0, "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,9223372036854775807],\"data_offsets\":[0,8]}}",
      0 },
    { 0,
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[9223372036854775799,"
      "9223372036854775807]}}",
      0 },
    { 0, "{\"a\":{\"dtype\":\"U8\",\"shape\":[18446744073709551615],\"data_offsets\":[0,0]}}", 0 },
    { 0, "{\"a\":{\"dtype\":\"U8\",\"shape\":[6148914691236517207,3],\"data_offsets\":[0,5]}}", 5 },
    { 0, "{\"a\":{\"dtype\":\"U8\",\"shape\":[3,6148914691236517207],\"data_offsets\":[0,5]}}",
      5 }, /* 2^64 + 5 */
    { 0, "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387906],\"data_offsets\":[0,8]}}",
      8 } };
  for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
    unsigned char b[400] = { 0 };
    char path[600];
    uint64_t length = file[i].length ? file[i].length : strlen(file[i].header);
    memcpy(b, &length, 8), strcpy((char *) b + 8, file[i].header);
    room_make("small");
    spill(in_room(path, "model.safetensors"), b, 8 + strlen(file[i].header) + file[i].data);
    struct memory m = { 0 };
    ck_assert_ptr_null(tensor_file_open(&m, path, &why));
    ck_assert_msg(
      file[i].length == 0 || strstr(why.text, "the header is longer than the file") != NULL, "%s",
      why.text);
    ck_assert_msg(
      strstr(why.text, "model.safetensors: ") != NULL && strstr(why.text, "; wanted: ") != NULL,
      "%s", why.text);
    room_drop();
  }
  static const char *const id[] = { "4194303", "4194304", "2147483648", "9223372036854775807",
    "-1" };
  for (size_t i = 0; i < 5; i++) {
    char added[200];
    room_make("small");
    snprintf(added, sizeof added, "[{\"id\": %s, \"content\": \"zzz\"}]", id[i]);
    set_field("tokenizer.json", "added_tokens", added);
    ck_assert(!open_all(&why, true));
    ck_assert_msg(
      strstr(why.text, "tokenizer.json: added_tokens[0].id is ") != NULL, "%s", why.text);
    room_drop();
  }
  tally("claims of size", (unsigned) (n + sizeof file / sizeof *file + 5), 0, 0, "");
}
END_TEST
START_TEST(too_many_tensors_are_refused)
{
  for (unsigned many = 262144; many <= 262145;
       many++) { /* each as short as can be: less than 2^26 bytes above the file's own */
    char path[600], *text = malloc(64 * (size_t) many), *at = text + 8;
    struct memory m = { 0 };
    struct error why;
    *at++ = '{';
    for (unsigned i = 0; i < many; i++)
      at += sprintf(at, "%s\"%u\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
        i > 0 ? "," : "", i);
    *at++ = '}';
    uint64_t length = (uint64_t) (at - text) - 8;
    memcpy(text, &length, 8);
    room_make("small");
    spill(in_room(path, "model.safetensors"), text, (size_t) (at - text));
    free(text);
    struct tensor_file *w = tensor_file_open(&m, path, &why);
    ck_assert((w != NULL) == (many == 262144) && m.all.peak < 8 + length + (1u << 26));
    ck_assert_msg(w != NULL
        || strstr(why.text, "model.safetensors: 262144 is one more; wanted: at most 262144 tensors")
          != NULL,
      "%s", why.text);
    tensor_file_close(&m, w);
    ck_assert_uint_eq(m.all.live, 0);
    room_drop();
  }
}
END_TEST
START_TEST(a_large_file_is_refused_before_it_is_read)
{
  static const struct {
    const char *file, *words;
    off_t size;
    bool tokens;
  } big[] = { { "config.json", "at most 1048576 of JSON", 1048577, false },
    { "config.json", "at most 1048576 of JSON", (off_t) 1 << 33, false },
    { "generation_config.json", "at most 1048576 of JSON", (off_t) 1 << 33, false },
    { "model.safetensors.index.json", "at most 16777216 of JSON", (off_t) 1 << 33, false },
    { "tokenizer.json", "at most 67108864 of JSON", (off_t) 1 << 33, true },
    { "tokenizer_config.json", "at most 67108864 of JSON", (off_t) 1 << 33, true } };
  struct error why;
  char path[600];
  for (size_t i = 0; i < sizeof big / sizeof *big; i++) {
    room_make(big[i].tokens ? "small" : "llama");
    if (strcmp(big[i].file, "tokenizer_config.json") == 0)
      spill(in_room(path, big[i].file), "{}", 2);
    if (truncate(in_room(path, big[i].file), big[i].size)
      == 0) { /* a file with a hole: it costs nothing here either */
      ck_assert(!open_all(&why, big[i].tokens));
      ck_assert_msg(strstr(why.text, big[i].file) != NULL && strstr(why.text, big[i].words) != NULL,
        "%s", why.text);
    }
    room_drop();
  }
}
END_TEST

/* ---- numbers that are none, in every tensor: an error that names the file and the layer, never a
 * token */
START_TEST(numbers_that_are_none_name_their_layer)
{
  static const struct {
    const char *tensor, *words;
  } at[] = { { "embed_tokens", "the embedding of row 0 is not finite" },
    { "layers.0.self_attn.v_proj", "after layer 1 of 2" },
    { "layers.0.mlp.down_proj", "after layer 1 of 2" },
    { "layers.1.input_layernorm", "after layer 2 of 2" },
    { "layers.1.self_attn.o_proj", "after layer 2 of 2" },
    { "lm_head", "the logit of token 0 after row 0" },
    { "model.norm", "the logit of token 0 after row 0" } };
  static const uint16_t none[] = { 0x7e00, 0x7c00, 0xfc00,
    0x7c01 }; /* in half precision: a quiet one, both infinities, a signalling one */
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    for (size_t k = 0; k < 4; k++) {
      struct error why;
      char path[600];
      size_t n;
      room_make("small");
      unsigned char *b = slurp(in_room(path, "model.safetensors"), &n);
      struct memory m = { 0 };
      struct tensor_file *w = tensor_file_open(&m, path, &why);
      uint64_t header;
      memcpy(&header, b, 8);
      for (size_t t = 0; t < tensor_file_count(w); t++) {
        const struct tensor_entry *x = tensor_file_at(w, t);
        if (strstr(x->name, at[i].tensor) == NULL) continue;
        size_t from = i == 0 ? 32 : 0,
               to = i == 0 ? 64 : x->elements; /* the embedding of token 1, or all of it */
        for (size_t e = from; e < to; e++) memcpy(b + 8 + header + x->begin + 2 * e, &none[k], 2);
      }
      tensor_file_close(&m, w);
      spill(path, b, n);
      free(b);
      ck_assert(!open_all(&why, false));
      ck_assert_msg(strstr(why.text, "model.safetensors: ") != NULL
          && strstr(why.text, at[i].words) != NULL && strstr(why.text, "wanted: ") != NULL,
        "%s: %s", at[i].tensor, why.text);
      room_drop();
    }
  tally("numbers that are none", 28, 0, 0, "");
}
END_TEST

/* ---- a file that becomes shorter under a running program: a sentence and status 1, or it was too
 * late and all is well; never a signal */
static int run_under(char *const argv[], const char *path, unsigned wait_us, off_t length,
  bool until_output, char err[4096])
{
  int out[2], e[2], status;
  ck_assert(pipe2(out, O_CLOEXEC) == 0 && pipe2(e, O_CLOEXEC) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    char command[600];
    dup2(out[1], 1), dup2(e[1], 2);
    snprintf(command, sizeof command, "%s/incipit", getenv("BUILD") ? getenv("BUILD") : "build");
    execv(command, argv);
    _exit(99);
  }
  close(out[1]), close(e[1]);
  char bytes[4096];
  if (until_output)
    ck_assert_int_gt(read(out[0], bytes, 1), 0);
  else
    usleep(wait_us);
  ck_assert_int_eq(truncate(path, length), 0);
  while (read(out[0], bytes, sizeof bytes) > 0)
    ;
  ssize_t n = 0, k;
  while (n < 4095 && (k = read(e[0], err + n, (size_t) (4095 - n))) > 0) n += k;
  err[n] = '\0';
  close(out[0]), close(e[0]);
  ck_assert(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
START_TEST(a_file_that_shrinks_is_told)
{
  char path[600], err[4096],
    *argv[] = { "incipit", "generate", "The", "--ignore-eos", "-t", "2", "-m", room, NULL },
    *few[] = { "incipit", "generate", "The", "-n", "3", "--json", "-m", room, NULL };
  uint64_t seed = suite_seed();
  size_t n;
  unsigned told = 0, rounds = 60;
  room_make("small");
  set_field("config.json", "max_position_embeddings", "100000");
  unsigned char *b = slurp(in_room(path, "model.safetensors"), &n);
  int status = run_under(argv, path, 0, 0, true, err); /* in the middle of a text */
  ck_assert_msg(status == 1 && strstr(err, "became shorter") != NULL, "status %d: %s", status, err);
  static const char *const file[] = { "model.safetensors", "tokenizer.json", "config.json" };
  free(b);
  for (unsigned i = 0; i < rounds; i++) { /* at any moment from the first */
    room_drop(), room_make("small");
    b = slurp(in_room(path, file[i % 3]), &n), free(b);
    status = run_under(few, path, (unsigned) (rnd(&seed) % 4000),
      (off_t) (rnd(&seed) % 3 == 0 ? 0 : rnd(&seed) % n), false, err);
    bool sentence = strncmp(err, "incipit: ", 9) == 0 && strchr(err, '\n') == err + strlen(err) - 1;
    ck_assert_msg(
      status == 0 || (status == 1 && sentence), "%s, status %d: %s", file[i % 3], status, err);
    told += status == 1;
  }
  room_drop();
  ck_assert_uint_gt(told, 0);
  tally("files that shrink", rounds + 1, 0, 0, "");
}
END_TEST

int main(void)
{
  unsetenv("INCIPIT_ISA");
  Suite *s = suite_create("hostile");
  TCase *t = tcase_create("files");
  tcase_add_test(t, json_that_is_none_is_refused_in_every_file);
  tcase_add_test(t, names_stay_in_the_directory);
  tcase_add_test(t, claims_cost_nothing);
  tcase_add_test(t, too_many_tensors_are_refused);
  tcase_add_test(t, a_large_file_is_refused_before_it_is_read);
  tcase_add_test(t, numbers_that_are_none_name_their_layer);
  tcase_add_test(t, a_file_that_shrinks_is_told);
  suite_add_tcase(s, t);
  return suite_run(s);
}
