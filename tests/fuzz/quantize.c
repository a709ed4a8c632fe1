/* quantize.c -- a GGUF file as the source of another: each type by the file's last byte. */
#include "words.h"
#include <unistd.h>
#include "gguf/gguf.h"
#include "quantize/quantize.h"
#include "safetensors/tensor_file.h"

FUZZ(quantize)
{
  static const char *const types[] = { "f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1" };
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  char from[128], to[128];
  scratch_file("model.gguf", data, size);
  scratch_path(from, "model.gguf"), scratch_path(to, "made.gguf");
  struct quantize_options o = { .from = from, .to = to, .fields = { .tolerant = true } };
  struct quantize_result r;
  must(quantize_type(types[size > 0 ? data[size - 1] % 8 : 0], &o.type));
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
