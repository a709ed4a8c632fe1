/* hub_list.c -- what the hub answers when it is asked about a model, and which of the files are fetched.

   The answer comes from a machine that is not ours, about files of people whom nobody knows, and it says under which names we shall write
   how much to the disk. So it is read as the files of models are: with limits, each field checked, and each error with the field, what was
   found and what was wanted. Most of what an answer says is of no use here and passed over; a name that leads out of a folder or steers a
   terminal is refused wherever it is, because no honest answer has one. */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "gguf/parts.h"
#include "hub.h"
#include "safetensors/jsonfile.h"

/* what is read of a directory besides weights; the engine takes the first vocabulary that it finds, in this order */
static const char *const beside[] = { "config.json", "generation_config.json", "tokenizer_config.json", "chat_template.jinja",
  "chat_template.json" };
static const struct { const char *one, *two; } vocabulary[] = { { "tokenizer.json", NULL }, { "vocab.json", "merges.txt" },
  { "encoder.json", "vocab.bpe" }, { "tokenizer.model", NULL } };
enum { N_BESIDE = sizeof beside / sizeof *beside, N_VOCABULARIES = sizeof vocabulary / sizeof *vocabulary };
static const char whole[] = "model.safetensors", parts[] = "model.safetensors.index.json";

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcmp(text + n - k, end) == 0;
}

/* model-00001-of-00002.safetensors */
static bool is_part(const char *name)
{
  static const char form[] = "model-#####-of-#####.safetensors";
  for (size_t i = 0; i < sizeof form; i++)
    if (form[i] == '#' ? name[i] < '0' || name[i] > '9' : name[i] != form[i]) return false;
  return true;
}

/* might the engine read it? */
static bool is_of_use(const char *name)
{
  for (size_t i = 0; i < N_BESIDE; i++)
    if (strcmp(name, beside[i]) == 0) return true;
  for (size_t i = 0; i < N_VOCABULARIES; i++)
    if (strcmp(name, vocabulary[i].one) == 0 || (vocabulary[i].two != NULL && strcmp(name, vocabulary[i].two) == 0)) return true;
  return strcmp(name, whole) == 0 || strcmp(name, parts) == 0 || is_part(name) || (ends_with(name, ".gguf") && hub_file_fits(name));
}

/* ---- one file of the answer */

/* where we are in the answer, for sentences */
struct reading { const char *from; size_t i; struct error *why; };

static bool wrong(const struct reading *r, const char *field, json_t *value, const char *wanted)
{
  char name[80], is[64];
  snprintf(name, sizeof name, "siblings[%zu].%s", r->i, field);
  return error_found(r->why, r->from, name, value == NULL ? "missing" : jsonfile_excerpt(value, is), wanted);
}

/* A path that begins at the root, or goes up, or has an empty part, or bytes that are no letters of any writing */
static bool is_trick(const char *name, size_t n)
{
  if (n != strlen(name) || n == 0 || name[0] == '/' || name[n - 1] == '/') return true;
  for (size_t i = 0; i < n; i++)
    if ((unsigned char) name[i] < ' ' || name[i] == 0x7f || name[i] == '\\') return true;
  for (const char *at = name; at != NULL; at = strchr(at, '/')) {
    at += *at == '/';
    size_t k = strcspn(at, "/");
    if (k == 0 || (k == 1 && *at == '.') || (k == 2 && memcmp(at, "..", 2) == 0)) return true;
  }
  return false;
}

static bool is_hex(const char *text, size_t n)
{
  return text != NULL && strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

/* A large file is kept outside of git, and known by its SHA-256; a small one by git's own sum. */
static bool read_sum(const struct reading *r, json_t *item, struct hub_file *f)
{
  json_t *lfs = json_object_get(item, "lfs"), *sum = json_object_get(lfs, "sha256"), *blob = json_object_get(item, "blobId");
  bool large = lfs != NULL && !json_is_null(lfs);
  if (large && sum == NULL) sum = json_object_get(lfs, "oid");
  const char *text = json_string_value(large ? sum : blob);
  f->kind = large ? SUM_SHA256 : SUM_SHA1;
  if (!is_hex(text, large ? 64 : 40)) return large ? wrong(r, "lfs.sha256", sum, "64 hexadecimal digits")
      : wrong(r, "blobId", blob, "40 hexadecimal digits");
  memcpy(f->sum, text, large ? 65 : 41);
  return true;
}

static bool read_file(const struct reading *r, json_t *item, struct hub_file *f)
{
  json_t *lfs = json_object_get(item, "lfs"), *size = json_object_get(item, "size");
  if (json_object_get(lfs, "size") != NULL) size = json_object_get(lfs, "size");
  json_int_t bytes = json_integer_value(size);
  if (!json_is_integer(size) || bytes < 0 || (uint64_t) bytes > HUB_MAX_BYTES)
    return wrong(r, "size", size, "a number of bytes, 16 TiB at most");
  f->bytes = (uint64_t) bytes;
  return read_sum(r, item, f);
}

static bool read_sibling(struct memory *m, const struct reading *r, json_t *item, struct hub_listing *l)
{
  json_t *name = json_object_get(item, "rfilename");
  const char *text = json_string_value(name);
  if (text == NULL) return wrong(r, "rfilename", name, "the name of a file");
  if (is_trick(text, json_string_length(name))) return wrong(r, "rfilename", name, "a path within the repository");
  l->has_adapter = l->has_adapter || strcmp(text, "adapter_config.json") == 0;
  l->has_pickle = l->has_pickle || ends_with(text, ".bin") || ends_with(text, ".pth") || ends_with(text, ".pt");
  if (!is_of_use(text)) return true;
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->file[i].name, text) == 0) return wrong(r, "rfilename", name, "each name once");
  void *p = memory_reserve(m, MEMORY_OTHER, l->file, &l->cap, l->n + 1, 16, sizeof *l->file, r->why);
  if (p == NULL) return false;
  l->file = p;
  struct hub_file *f = &l->file[l->n];
  memset(f, 0, sizeof *f);
  memcpy(f->name, text, strlen(text) + 1);
  if (!read_file(r, item, f)) return false;
  l->n++;
  return true;
}

/* ---- the answer */

static bool read_answer(struct memory *m, json_t *answer, struct reading *r, struct hub_listing *l)
{
  char is[64];
  json_t *list = json_object_get(answer, "siblings"), *commit = json_object_get(answer, "sha");
  const char *text = json_string_value(commit);
  if (!is_hex(text, 40)) return error_found(r->why, r->from, "sha", commit == NULL ? "missing" : jsonfile_excerpt(commit, is),
      "the commit, 40 hexadecimal digits");
  memcpy(l->commit, text, 41);
  if (!json_is_array(list) || json_array_size(list) > HUB_MAX_FILES) {
    snprintf(is, sizeof is, "%zu files", json_array_size(list));
    return error_found(r->why, r->from, "siblings", json_is_array(list) ? is : "no list", "a list of at most 50000 files");
  }
  for (r->i = 0; r->i < json_array_size(list); r->i++)
    if (!read_sibling(m, r, json_array_get(list, r->i), l)) return false;
  return true;
}

bool hub_listing_read(struct memory *m, const char *from, const char *text, size_t n, struct hub_listing *l, struct error *why)
{
  json_error_t where;
  struct reading r = { from, 0, why };
  memset(l, 0, sizeof *l);
  if (n > HUB_MAX_ANSWER) return error_say(why, "%s: the answer has more than 16 MiB; wanted: what is known about one model", from);
  json_t *answer = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &where);
  if (answer == NULL) return error_say(why, "%s: the answer is not JSON: %s", from, jsonfile_trouble(&where, text, n));
  bool ok = json_is_object(answer) ? read_answer(m, answer, &r, l) : error_say(why, "%s: the answer is no object of JSON", from);
  json_decref(answer);
  if (!ok) hub_listing_free(m, l);
  return ok;
}

void hub_listing_free(struct memory *m, struct hub_listing *l)
{
  memory_free(m, l->file);
  memset(l, 0, sizeof *l);
}

/* ---- what is fetched */

static struct hub_file *file_of(const struct hub_listing *l, const char *name)
{
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->file[i].name, name) == 0) return &l->file[i];
  return NULL;
}

static bool choose(const struct hub_listing *l, const char *name)
{
  struct hub_file *f = file_of(l, name);
  if (f != NULL) f->chosen = true;
  return f != NULL;
}

/* as the engine looks: one file goes before several */
static bool choose_weights(struct hub_listing *l)
{
  if (choose(l, whole)) return true;
  if (!choose(l, parts)) return false;
  for (size_t i = 0; i < l->n; i++) l->file[i].chosen = l->file[i].chosen || is_part(l->file[i].name);
  return true;
}

static void choose_directory(struct hub_listing *l)
{
  for (size_t i = 0; i < N_BESIDE; i++) choose(l, beside[i]);
  for (size_t i = 0; i < N_VOCABULARIES; i++) {
    const char *two = vocabulary[i].two;
    if (file_of(l, vocabulary[i].one) == NULL || (two != NULL && file_of(l, two) == NULL)) continue;
    choose(l, vocabulary[i].one);
    if (two != NULL) choose(l, two);
    return;
  }
}

/* All files of a model in several, or the one. What could not be opened is not fetched: each file is large. */
static bool choose_parts(struct hub_listing *l, const struct hub_name *n, const char *name, struct error *why)
{
  unsigned no = 0, of = 0;
  char part[HUB_FILE + 20];
  size_t stem = gguf_part_named(name, &no, &of);
  if (stem == 0) return choose(l, name);
  if (of > GGUF_MAX_PARTS) return error_say(why, "%s has %s; wanted: at most %d parts", n->repo, name, GGUF_MAX_PARTS);
  for (unsigned i = 1; i <= of; i++) {
    snprintf(part, sizeof part, "%.*s-%05u-of-%05u.gguf", (int) stem, name, i, of);
    if (!choose(l, part)) return error_say(why, "%s has %s and not %s; wanted: all %u parts of a model", n->repo, name, part, of);
  }
  return true;
}

static bool choose_gguf(struct hub_listing *l, const struct hub_name *n, struct error *why)
{
  struct hub_pick pick = { .wanted = n->file };
  for (size_t i = 0; i < l->n; i++) hub_pick_offer(&pick, l->file[i].name);
  if (pick.all == 0 && l->has_adapter)
    return error_say(why, "%s has a LoRA adapter, which is no model by itself; wanted: a model with the adapter merged into it", n->repo);
  if (pick.all == 0 && n->file[0] == '\0')
    return error_say(why, "%s has no model.safetensors%s and no GGUF file; wanted: one of the two", n->repo,
      l->has_pickle ? ", only weights of another kind," : "");
  const char *name = hub_pick_end(&pick, n->repo, why);
  return name != NULL && choose_parts(l, n, name, why);
}

/* By its first file -m finds a model in several, and by its settings a folder: 1 and 2. */
static int lateness(const char *name)
{
  unsigned no = 0, of = 0;
  if (strcmp(name, beside[0]) == 0) return 2;
  return gguf_part_named(name, &no, &of) > 0 && no == 1;
}

/* The small ones first, so that what is wrong is seen before hours have gone; what -m finds a model by last, so that it finds whole ones. */
static int by_order(const void *a, const void *b)
{
  const struct hub_file *x = a, *y = b;
  int late = lateness(x->name) - lateness(y->name);
  if (late != 0) return late;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
  return strcmp(x->name, y->name);
}

bool hub_choose(struct hub_listing *l, const struct hub_name *n, struct error *why)
{
  bool directory = n->file[0] == '\0' && file_of(l, beside[0]) != NULL && choose_weights(l);
  if (directory) choose_directory(l);
  else if (!choose_gguf(l, n, why)) return false;
  if (l->n > 0) qsort(l->file, l->n, sizeof *l->file, by_order);
  l->single = NULL;
  for (size_t i = 0; !directory && i < l->n; i++)
    if (l->file[i].chosen) l->single = &l->file[i];
  return true;
}
