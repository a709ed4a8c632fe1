/* gguf.c -- a GGUF file: as a file of tensors, as settings, as a vocabulary, and as a whole model. */
#include "words.h"
#include "families/loader.h"
#include "gguf/gguf.h"
#include "safetensors/tensor_file.h"

static void may_fail(bool ok, const struct error *why)
{
  must(ok || (why->text[0] != '\0' && strchr(why->text, '\n') == NULL));
}
FUZZ(gguf)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct model_config c;
  struct config_options tolerant = { .tolerant = true };
  struct tokenizer *t = NULL;
  char path[128];
  scratch_file("model.gguf", data, size);
  scratch_path(path, "model.gguf");
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
