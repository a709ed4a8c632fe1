/* quantize.c -- a GGUF file as the source of another: each type by the file's last byte. */
#include "words.h"
#include <unistd.h>
#include "gguf/gguf.h"
#include "command/quantize.h"
#include "safetensors/tensor_file.h"

FUZZ(quantize)
{
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  char from[128], to[128];
  scratch_file("model.gguf", data, size);
  scratch_path(from, "model.gguf"), scratch_path(to, "made.gguf");
  struct quantize_options o = { .from = from, .to = to, .fields = { .tolerant = true } };
  struct quantize_result r;
  o.type = (enum weight_type) (size > 0 ? data[size - 1] % N_WEIGHT_TYPES : 0);
  if (!number_types[o.type].is_written) return 0;
  bool ok = quantize_file(&m, &o, &r, &why);
  must(m.all.live == 0 && (ok || (why.text[0] != '\0' && strchr(why.text, '\n') == NULL)));
  must(ok == (access(to, F_OK) == 0));
  if (ok) {
    struct tensor_file *w = tensor_file_open(&m, to, &why);
    must(w != NULL && tensor_file_count(w) == r.tensors);
    tensor_file_close(&m, w);
    unlink(to);
  }
  must(m.all.live == 0);
  return 0;
}
