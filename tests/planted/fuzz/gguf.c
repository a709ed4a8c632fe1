/* gguf.c -- a GGUF file, or the two or three parts of one, of which an empty part is missing: as a file of tensors, as settings, as a
 * vocabulary, and as a whole model. */
#include "words.h"
#include "families/loader.h"
#include "gguf/gguf.h"
#include "safetensors/tensor_file.h"

static void may_fail(bool ok, const struct error *why)
{
  must(ok || (why->text[0] != '\0' && strchr(why->text, '\n') == NULL));
}
enum { MOST_PARTS = 3 };
/* the path that is opened: of one file, or of one of the parts, whichever the size says */
static void write_parts(char path[128], const uint8_t *data, size_t size)
{
  const uint8_t *part[MOST_PARTS] = { data, data, data };
  size_t n[MOST_PARTS] = { 0 }, all = size, k = 0;
  char name[64];
  do n[k] = k + 1 < MOST_PARTS ? next_part(&data, &size, &part[k]) : (part[k] = data, size), k++;
  while (k < MOST_PARTS && size > 0);
  for (size_t i = 0; i < k; i++) {
    snprintf(name, sizeof name, k == 1 ? "model.gguf" : "m-%05zu-of-%05zu.gguf", i + 1, k);
    scratch_file(name, part[i], n[i]);
    if (k > 1 && n[i] == 0) scratch_drop(name);
  }
  snprintf(name, sizeof name, k == 1 ? "model.gguf" : "m-%05zu-of-%05zu.gguf", all % k + 1, k);
  scratch_path(path, name);
}
FUZZ(gguf)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct model_config c;
  struct config_options tolerant = { .tolerant = true };
  struct tokenizer *t = NULL;
  char path[128];
  write_parts(path, data, size);
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  cheap(&m, size);
  may_fail(w != NULL, &why);
  for (size_t i = 0; w != NULL && i < tensor_file_count(w); i++) {
    const struct tensor_entry *e = tensor_file_at(w, i);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < e->bytes; k++) sum += e->data[k];
    must(sum <= 255 * e->bytes && tensor_file_find(w, e->name) == e);
  }
  tensor_file_close(&m, w);
  why.text[0] = '\0';
  bool opened = config_open_with(&c, &m, path, &tolerant, &why);
  may_fail(opened, &why);
  if (opened) {
    must(c.n_eos <= 3 && c.vocab_size > 0 && c.n_layers > 0 && c.n_heads > 0 && c.n_kv_heads > 0
      && c.n_heads % c.n_kv_heads == 0 && c.head_dim > 0 && c.d_model > 0);
    config_close(&m, &c);
  }
  why.text[0] = '\0';
  enum tokenizer_found found = tokenizer_try(&m, path, &t, &why);
  must((found == TOKENIZER_OPEN) == (t != NULL));
  may_fail(t != NULL, &why);
  if (t != NULL) try_words(t, &m);
  tokenizer_close(&m, t);
  why.text[0] = '\0';
  struct model *lm = model_open(&m, path, &why);
  may_fail(lm != NULL, &why);
  cheap(&m, size);
  model_close(&m, lm);
  must(m.all.live == 0);
  return 0;
}
