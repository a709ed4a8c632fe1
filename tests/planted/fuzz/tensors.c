/* tensors.c -- a safetensors file; or, if it begins with a brace, an index of shards and after it
 * the first shard. */
#include "fuzz.h"
#include "safetensors/tensor_file.h"

FUZZ(tensors)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  const uint8_t *part;
  char path[128];
  size_t all = size;
  bool indexed = size > 0 && data[0] == '{';
  if (indexed) {
    size_t n = next_part(&data, &size, &part);
    scratch_drop("model.safetensors");
    scratch_file("model.safetensors.index.json", part, n);
    n = next_part(&data, &size, &part);
    scratch_file("a.safetensors", part, n);
    scratch_file("b.safetensors", data, size);
  } else
    scratch_file("model.safetensors", data, size);
  struct tensor_file *w =
    tensor_file_open(&m, indexed ? scratch() : scratch_path(path, "model.safetensors"), &why);
  cheap(&m, all);
  if (w == NULL)
    must(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
  else {
    uint64_t sum = 0, bytes = 0;
    for (size_t i = 0; i < tensor_file_count(w); i++) {
      const struct tensor_entry *t = tensor_file_at(w, i);
      uint64_t elements = 1;
      for (uint32_t d = 0; d < t->rank; d++) elements *= t->shape[d];
      must(elements == t->elements && tensor_file_find(w, t->name) == t);
      for (uint64_t k = 0; k < t->bytes; k++) sum += t->data[k];
      bytes += t->bytes;
    }
    must(sum <= 255 * bytes);
    if (!indexed) must(bytes + 8 <= size);
  }
  tensor_file_close(&m, w);
  must(m.all.live == 0);
  return 0;
}
