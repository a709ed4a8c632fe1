/* cutter.h -- a GGUF file is cut into several, rightly or wrongly, in the folder room_dir of runs.h */
#ifndef INCIPIT_CUTTER_H
#define INCIPIT_CUTTER_H
#include "command/quantize.h"
#include "gguf/parts.h"
#include "gguf/writing.h"
#include "runs.h"
#include "safetensors/tensor_file.h"

static char *part_path(char path[400], unsigned no, unsigned of)
{
  char name[40];
  snprintf(name, sizeof name, "m-%05u-of-%05u.gguf", no, of);
  snprintf(path, 400, "%.300s/%s", room_dir, name);
  return path;
}

/* ---- cutting */
#define TEMPLATE "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"

/* into how many files; whether the first has no tensors, and whether their order is turned round; then what is wrong: of part |at|,
   counted from 1, a key is left out, or another is added in its place; what is added to the number of tensors; the first tensor of the
   last part is in part |twice| as well; the last tensor is |lost| */
struct cut {
  unsigned n;
  bool bare, turned;
  unsigned at;
  const char *drop, *add, *text;
  int64_t number;
  enum gguf_type type;
  int more;
  unsigned twice;
  bool lost;
};
static void add_number_key(struct gguf_draft *d, const char *key, enum gguf_type type, uint64_t x)
{
  static const unsigned char bytes[N_GGUF_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
  struct gguf_entry e = { .key = { key, strlen(key) }, .type = type, .count = 1 };
  unsigned char byte[8];
  for (int i = 0; i < 8; i++) byte[i] = (unsigned char) (x >> 8 * i);
  e.at = byte, e.end = byte + bytes[type];
  gguf_add_entry(d, &e);
}
static bool is(const struct gguf_entry *e, const char *name)
{
  return name != NULL && e->key.n == strlen(name) && memcmp(e->key.text, name, e->key.n) == 0;
}
static void add_keys(struct gguf_draft *d, const struct gguf_file *g, const struct cut *how, unsigned no, size_t tensors)
{
  bool here = no == how->at;
  const char *drop = here ? how->drop : NULL;
  for (size_t i = 0; no == 1 && i < g->n_entries; i++)
    if (!is(&g->entry[i], drop)) gguf_add_entry(d, &g->entry[i]);
  if (no == 1) gguf_add_text(d, "tokenizer.chat_template", TEMPLATE, strlen(TEMPLATE));
  if (drop == NULL || strcmp(drop, "split.no") != 0) add_number_key(d, "split.no", GGUF_U16, no - 1);
  if (drop == NULL || strcmp(drop, "split.count") != 0) add_number_key(d, "split.count", GGUF_U16, how->n);
  if (drop == NULL || strcmp(drop, "split.tensors.count") != 0)
    add_number_key(d, "split.tensors.count", GGUF_I32, tensors + (size_t) (int64_t) how->more);
  if (here && how->add != NULL && how->text != NULL) gguf_add_text(d, how->add, how->text, strlen(how->text));
  else if (here && how->add != NULL) add_number_key(d, how->add, how->type, (uint64_t) how->number);
}
static void write_part(const struct tensor_file *w, const struct gguf_file *g, const struct cut *how, unsigned no)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct gguf_draft d = { .m = &m, .ok = true, .why = &why };
  char path[400];
  size_t n = tensor_file_count(w), files = how->bare ? how->n - 1 : how->n, k = how->bare ? no - 1 : no;
  size_t from = k == 0 ? 0 : n * (k - 1) / files, to = k == 0 ? 0 : n * k / files, last = n * (files - 1) / files;
  const struct tensor_entry *list[300];
  size_t held = 0;
  add_keys(&d, g, how, no, n);
  ck_assert(n < 290);
  for (size_t i = from; i < to; i++) list[held++] = tensor_file_at(w, how->turned ? n - 1 - i : i);
  if (how->lost && no == how->n) held--;
  if (no == how->twice) list[held++] = tensor_file_at(w, how->turned ? n - 1 - last : last);
  for (size_t i = 0; i < held; i++) gguf_add_tensor(&d, list[i]->name, list[i]->type, list[i]->rank, list[i]->shape);
  FILE *f = fopen(part_path(path, no, how->n), "wb");
  ck_assert_msg(f != NULL && gguf_write_draft(&d, f), "%s", why.text);
  for (size_t i = 0; i < held; i++) {
    fwrite(list[i]->data, 1, list[i]->bytes, f);
    gguf_write_padding(f, list[i]->bytes);
  }
  ck_assert(fclose(f) == 0);
  gguf_draft_free(&d);
  ck_assert_uint_eq(m.all.live, 0);
}
static void cut(const char *whole, struct cut how)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct gguf_parts p;
  struct tensor_file *w = tensor_file_open(&m, whole, &why);
  ck_assert_msg(w != NULL && gguf_parts_open(&p, &m, whole, &why) && p.n == 1, "%s", why.text);
  for (unsigned i = 1; i <= how.n; i++) write_part(w, &p.part[0].g, &how, i);
  gguf_parts_close(&p);
  tensor_file_close(&m, w);
  ck_assert_uint_eq(m.all.live, 0);
}
static void make_whole(const char *model, const char *path)
{
  struct memory m = { 0 };
  struct error why = { "" };
  struct quantize_result r;
  char from[100];
  snprintf(from, sizeof from, "tests/golden/%s", model);
  struct quantize_options o = { .from = from, .to = path, .type = WEIGHT_F32 };
  ck_assert_msg(quantize_file(&m, &o, &r, &why), "%s", why.text);
}
#endif
