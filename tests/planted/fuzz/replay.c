/* replay.c -- runs the corpus: replay NAME FILE... for any of the targets.  No clang needed. */
#include "fuzz.h"
#define ALL(_)                                                                                     \
  _(line)                                                                                          \
  _(probe)                                                                                         \
  _(tokenizer) _(vocabulary) _(tensors) _(gguf) _(quantize) _(config) _(stream) _(merges) _(constraint) _(sampling)    \
    _(stops) _(request) _(framing) _(settings) _(jinja) _(listing)
#define DECLARE(n) int fuzz_##n(const uint8_t *data, size_t size);
#define ENTER(n) { #n, fuzz_##n },
ALL(DECLARE)
int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    int (*run)(const uint8_t *, size_t);
  } target[] = { ALL(ENTER) };
  size_t k = 0, n = 0;
  while (argc > 1 && k < sizeof target / sizeof *target && strcmp(target[k].name, argv[1]) != 0)
    k++;
  if (argc < 2 || k == sizeof target / sizeof *target) return 2;
  for (int i = 2; i < argc; i++) {
    FILE *f = fopen(argv[i], "rb");
    if (f == NULL) {
      perror(argv[i]);
      return 1;
    }
    uint8_t *data = malloc(1 << 20), *exact;
    size_t size = fread(data, 1, 1 << 20, f);
    fclose(f);
    exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    target[k].run(exact, size), n++;
    free(data), free(exact);
  }
  char path[128];
  static const char *const left[] = { "model.safetensors", "model.gguf", "model.safetensors.index.json",
    "a.safetensors", "b.safetensors", "config.json", "generation_config.json", "tokenizer.json",
    "vocab.json", "merges.txt", "tokenizer_config.json", "vocabulary" };
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) unlink(scratch_path(path, left[i]));
  rmdir(scratch());
  printf("%s: %zu inputs\n", argv[1], n);
  return 0;
}
