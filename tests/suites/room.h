/* room.h -- a folder of our own with models that are not as they should be */
#ifndef INCIPIT_ROOM_H
#define INCIPIT_ROOM_H
#include "functions/numbers.h"
#include <jansson.h>
#include <sys/stat.h>
#include "marked.h"
#include "runs.h"

/* ---- models that are not as they should be */
static inline void must(bool ok, const char *what)
{
  if (!ok) {
    perror(what);
    exit(1);
  }
}
static inline void copy_file(const char *from, const char *to)
{
  FILE *a = fopen(from, "rb"), *b = fopen(to, "wb");
  must(a != NULL && b != NULL, to);
  char part[65536];
  for (size_t n; (n = fread(part, 1, sizeof part, a)) > 0;) fwrite(part, 1, n, b);
  fclose(a), fclose(b);
}
static inline char *place(char *at, const char *name, const char *file)
{
  snprintf(at, 8192, "%s/%s%s%s", room_dir, name, file ? "/" : "", file ? file : "");
  return at;
}
static inline void variant(const char *name, const char *without)
{
  static const char *const file[] = { "config.json", "generation_config.json", "tokenizer.json",
    "model.safetensors" };
  char to[8192], from[256];
  mkdir(place(to, name, NULL), 0777);
  for (int i = 0; i < 4; i++) {
    snprintf(from, sizeof from, "tests/golden/small/%s", file[i]);
    if (without == NULL || strcmp(without, file[i]) != 0) copy_file(from, place(to, name, file[i]));
  }
}
static inline void set_field(
  const char *name, const char *file, const char *field, const char *value) /* value: JSON */
{
  char path[8192];
  json_t *j = json_load_file(place(path, name, file), 0, NULL);
  json_object_set_new(j, field, json_loads(value, JSON_DECODE_ANY, NULL));
  must(json_dump_file(j, path, JSON_PRESERVE_ORDER) == 0, path);
  json_decref(j);
}
static inline void spill_file(
  const char *name, const char *file, const char *text, size_t n) /* n 0: as long as it is */
{
  char path[8192];
  if (n == 0) n = strlen(text);
  FILE *f = fopen(place(path, name, file), "wb");
  must(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0, path);
}
/* files as a stranger might write them on purpose; tests/suites/check_hostile.c has more of each kind,
 * here is what the command says */
static inline void make_hostile_models(void)
{
  char path[8192], deep[4096];
  variant("nan", NULL);
  json_t *header = NULL;
  FILE *f = fopen(place(path, "nan", "model.safetensors"), "r+b");
  uint64_t length = 0;
  must(f != NULL && fread(&length, 8, 1, f) == 1, path);
  char *text = malloc(length);
  must(fread(text, 1, length, f) == length && (header = json_loadb(text, length, 0, NULL)) != NULL,
    path);
  static const unsigned char none[2] = { 0x00, 0x7e };
  json_t *at =
    json_object_get(json_object_get(header, "model.layers.1.mlp.down_proj.weight"), "data_offsets");
  must(
    fseek(f, (long) (8 + length) + (long) json_integer_value(json_array_get(at, 0)), SEEK_SET) == 0
      && fwrite(none, 1, 2, f) == 2 && fclose(f) == 0,
    path);
  json_decref(header), free(text);
  memset(deep, '[', sizeof deep);
  variant("deep", NULL), spill_file("deep", "config.json", deep, sizeof deep);
  variant("twice", NULL),
    spill_file("twice", "config.json", "{\"model_type\":\"llama\",\n\"model_type\":\"gpt2\"}", 0);
  variant("latin", NULL), spill_file("latin", "tokenizer.json", "{\"version\":\n\"\xe9\"}", 0);
  variant("huge", NULL), spill_file("huge", "generation_config.json", "{\"temperature\":1e999}", 0);
  variant("steer", NULL), set_field("steer", "config.json", "\x1b[2Jclear\xc2\x9b", "7");
  const char *steering =
    "{\"\\u001b[2Jclear\\u009b\\r\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
  memset(deep, 0, sizeof deep), deep[0] = (char) strlen(steering), strcpy(deep + 8, steering);
  spill_file("steer", "steer.safetensors", deep, 8 + strlen(steering));
  variant("context", NULL),
    set_field("context", "config.json", "max_position_embeddings", "2147483648");
  variant("layers", NULL), set_field("layers", "config.json", "num_hidden_layers", "1000000000");
  variant("far", NULL),
    set_field("far", "tokenizer.json", "added_tokens", "[{\"id\":4194303,\"content\":\"x\"}]");
  variant("out", "model.safetensors"),
    spill_file("out", "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"x/../../y\"}}", 0);
  variant("root", "model.safetensors"),
    spill_file(
      "root", "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", 0);
  variant("claim", "model.safetensors"),
    spill_file("claim", "model.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
  variant("shapes", "model.safetensors"),
    spill_file("shapes", "model.safetensors",
      "\x49\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_"
      "offsets\":[0,0]}}",
      8 + 0x49);
  variant("pipe", "model.safetensors");
  unlink(place(path, "pipe", "model.safetensors"));
  must(mkfifo(path, 0600) == 0, path);
  variant("big", "config.json"), spill_file("big", "config.json", "{}", 0);
  must(truncate(place(path, "big", "config.json"), 2000000) == 0, path);
}
/* files and folders that are of another kind than was wanted */
static inline void make_other_kinds(void)
{
  static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize "
                                "1234\n";
  char path[8192];
  mkdir(place(path, "kinds", NULL), 0777);
  spill_file("kinds", "x.gguf", "GGUF\3\0\0\0\0\0\0\0\0\0\0\0", 16);
  spill_file("kinds", "pickle.pt", "\200\2\212\12l\374\234F\371 j\250P\31.", 16);
  spill_file("kinds", "zip.bin", "PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0", 16);
  spill_file("kinds", "page.safetensors", "<!DOCTYPE html><html></html>", 0);
  spill_file("kinds", "hdf.h5", "\211HDF\r\n\32\n\0\0\0\0", 12);
  spill_file("kinds", "x.gguf.gz", "\37\213\b\0\0\0\0\0\0\3", 10);
  spill_file("kinds", "old.bin", "tjgg\1\0\0\0", 8);
  must(fclose(fopen(place(path, "kinds", "empty.gguf"), "w")) == 0, path);
  variant("lfs", "model.safetensors"), spill_file("lfs", "model.safetensors", pointer, 0);
  variant("lfs-tokenizer", "tokenizer.json");
  spill_file("lfs-tokenizer", "tokenizer.json", pointer, 0);
  variant("lfs-merges", "tokenizer.json");
  json_t *small = json_load_file("tests/golden/small/tokenizer.json", 0, NULL);
  must(json_dump_file(json_object_get(json_object_get(small, "model"), "vocab"),
    place(path, "lfs-merges", "vocab.json"), 0) == 0, path);
  json_decref(small);
  spill_file("lfs-merges", "merges.txt", pointer, 0);
  variant("lfs-template", NULL), spill_file("lfs-template", "chat_template.jinja", pointer, 0);
  variant("strangers", NULL), set_field("strangers", "config.json", "a_note", "1");
  set_field("strangers", "generation_config.json", "b_note", "0.5");
  set_field("strangers", "generation_config.json", "c_note", "2");
  variant("pickled", "model.safetensors");
  copy_file("tests/golden/small/config.json", place(path, "pickled", "config.json"));
  spill_file("pickled", "pytorch_model.bin", "PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0", 16);
  mkdir(place(path, "adapter", NULL), 0777);
  spill_file("adapter", "adapter_config.json", "{\"peft_type\":\"LORA\"}", 0);
  variant("adapted", "model.safetensors");
  spill_file("adapted", "adapter_config.json", "{\"peft_type\":\"LORA\"}", 0);
  variant("other-name", "model.safetensors");
  copy_file("tests/golden/small/model.safetensors", place(path, "other-name", "weights.safetensors"));
  variant("bare", "model.safetensors");
  spill_file("bare", "model.safetensors", "\2\0\0\0\0\0\0\0{}", 10);
  variant("shard", "model.safetensors");
  copy_file("tests/golden/small/model.safetensors", place(path, "shard", "model-00001-of-00002.safetensors"));
  mkdir(place(path, "only-gguf", NULL), 0777);
  spill_file("only-gguf", "x.gguf", "GGUF\3\0\0\0\0\0\0\0\0\0\0\0", 16);
  static const char gguf[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0";
  static const char *const choice[][2] = { { "two-gguf", "b.gguf" }, { "two-gguf", "a.gguf" }, { "two-gguf", "mmproj-a.gguf" },
    { "eyes", "mmproj-a.gguf" }, { "eyes", "x.gguf" } };
  for (size_t i = 0; i < sizeof choice / sizeof *choice; i++)
    mkdir(place(path, choice[i][0], NULL), 0777), spill_file(choice[i][0], choice[i][1], gguf, 16);
  variant("onnx", "model.safetensors"), spill_file("onnx", "model.onnx", "\10\7\22\7pytorch", 11);
  mkdir(place(path, "hub-cache", NULL), 0777), mkdir(place(path, "hub-cache/snapshots", NULL), 0777);
  mkdir(place(path, "hub-cache/snapshots/4d7a", NULL), 0777);
  variant("mlx", NULL), set_field("mlx", "config.json", "quantization_config", "{\"group_size\":64,\"bits\":4}");
  variant("mlx-old", NULL), set_field("mlx-old", "config.json", "quantization", "{\"group_size\":64,\"bits\":4}");
  static const char *const types[] = { "xlm-roberta", "t5", "siglip", "mamba2", "rwkw" };
  for (size_t i = 0; i < 5; i++) {
    char type[40];
    snprintf(type, sizeof type, "\"%s\"", types[i]);
    variant(types[i], NULL), set_field(types[i], "config.json", "model_type", type);
  }
  variant("gptq", NULL);
  set_field("gptq", "config.json", "quantization_config", "{\"quant_method\":\"gptq\",\"bits\":4}");
  variant("bnb", NULL), set_field("bnb", "config.json", "quantization_config", "{\"load_in_8bit\":true}");
  variant("strange", NULL), set_field("strange", "config.json", "a_note", "1");
  set_field("strange", "config.json", "b_note", "{\"x\":1}");
  set_field("strange", "config.json", "c_note", "true");
  variant("hot", NULL), set_field("hot", "config.json", "some_temperature", "0.9");
}
/* the small model with its weights in bfloat16, for a format of activations that it alone has */
static inline void make_bf16(void)
{
  static char from[400000], to[400000];
  char path[8192], *out = to + 8;
  uint64_t head = 0;
  FILE *f = fopen("tests/golden/small/model.safetensors", "rb");
  size_t n = f == NULL ? 0 : fread(from, 1, sizeof from, f);
  must(n > 8 && n < sizeof from, "small");
  fclose(f), memcpy(&head, from, 8);
  for (const char *p = from + 8; p < from + 8 + head; p++) {
    if (memcmp(p, "\"F16\"", 5) == 0) *out++ = *p++, *out++ = 'B';
    *out++ = *p;
  }
  uint64_t longer = (uint64_t) (out - to) - 8;
  memcpy(to, &longer, 8);
  for (const char *p = from + 8 + head; p < from + n; p += 2, out += 2) {
    uint16_t h;
    memcpy(&h, p, 2), h = num_to_bf16(num_from_f16(h)), memcpy(out, &h, 2);
  }
  variant("bf16", "model.safetensors");
  f = fopen(place(path, "bf16", "model.safetensors"), "wb");
  must(f != NULL && fwrite(to, 1, (size_t) (out - to), f) == (size_t) (out - to), path);
  fclose(f);
}
static inline void make_models(void)
{
  char path[8192];
  mkdir(place(path, "empty", NULL), 0777);
  variant("no-weights", "model.safetensors");
  variant("no-config", "config.json");
  variant("cut", NULL);
  must(truncate(place(path, "cut", "model.safetensors"), 60000) == 0, path);
  variant("type", NULL), set_field("type", "config.json", "hidden_size", "\"32\"");
  variant("field", NULL), set_field("field", "config.json", "sliding_windows", "7");
  variant("family", NULL), set_field("family", "config.json", "model_type", "\"bert\"");
  variant("shape", NULL), set_field("shape", "config.json", "intermediate_size", "40");
  variant("vocab", NULL), set_field("vocab", "config.json", "vocab_size", "285");
  variant("json", NULL);
  must(truncate(place(path, "json", "tokenizer.json"), 3000) == 0, path);
  variant("no-eos", "generation_config.json");
  variant("no-tokenizer", "tokenizer.json");
  variant("bos", NULL);
  set_field("bos", "tokenizer.json", "post_processor",
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|endoftext|>\","
    "\"type_id\":0}},{\"Sequence\":"
    "{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{"
    "\"Sequence\":{\"id\":\"B\",\"type_id\":1}}],\"special_tokens\":"
    "{\"<|endoftext|>\":{\"id\":\"<|endoftext|>\",\"ids\":[0],\"tokens\":[\"<|endoftext|>\"]}}}");
  variant("chat", NULL);
  FILE *f = fopen(place(path, "chat", "chat_template.jinja"), "w");
  fprintf(f, "{{ messages"), fclose(f);
  variant("sampled", NULL), set_field("sampled", "generation_config.json", "do_sample", "true");
  variant("long", NULL), set_field("long", "config.json", "max_position_embeddings", "4096");
  make_marked(place(path, "marked", NULL), 0);
  make_marked(place(path, "noted", NULL), 0), set_field("noted", "config.json", "house_note", "7");
  make_bf16();
  make_hostile_models();
  make_other_kinds();
}

/* with a token that begins a text, that token is there and is not scored; one that ends a text is
   not there; a file of one token can be scored only behind a beginning */
static inline void make_begun(void)
{
  static const char *const name[] = { "begun", "closed" };
  for (int i = 0; i < 2; i++) {
    char path[8192], post[700];
    make_marked(place(path, name[i], NULL), 0);
    snprintf(post, sizeof post,
      "{\"type\":\"TemplateProcessing\","
      "\"single\":[{\"SpecialToken\":{\"id\":"
      "\"b\"}},{\"Sequence\":{\"id\":\"A\"}}%s],\"special_tokens\":{\"b\":{\"id\":\"b\","
      "\"ids\":[284]},"
      "\"e\":{\"id\":\"e\",\"ids\":[285]}}}",
      i ? ",{\"SpecialToken\":{\"id\":\"e\"}}" : "");
    set_field(name[i], "tokenizer.json", "post_processor", post);
  }
}

/* the environment of a suite about the command, and its folder, BUILD/tests/NAME-room */
static inline void room_open(const char *name)
{
  setenv("INCIPIT_MODEL", "tests/golden/small", 1);
  unsetenv("INCIPIT_ISA"), unsetenv("OMP_NUM_THREADS"), unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  snprintf(room_dir, sizeof room_dir, "%s/tests/%s-room", build_dir(), name);
  mkdir(room_dir, 0777);
  make_models();
}
#endif
