/* Quantized files: every type reads back, the tensors are llama.cpp's byte for byte, the f32 file has
   the logits of its directory, and nothing half written is ever left. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <math.h>
#include "variants.h"
#include "options.h"
#include "gguf/gguf.h"
#include "gguf/writing.h"
#include "model/quantization.h"
#include "command/quantize.h"
#include "families/gguf_settings.h"
#include "safetensors/tensor_file.h"
#include "tokenizer/tokenizer.h"

static char room[200];
static const char *in_room(char path[400], const char *name)
{
  const char *t = getenv("TMPDIR");
  if (room[0] == '\0') {
    snprintf(room, sizeof room, "%.150s/incipit-quantize-XXXXXX", t ? t : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(room));
  }
  snprintf(path, 400, "%s/%s", room, name);
  return path;
}
static unsigned files_in_room(void)
{
  unsigned n = 0;
  DIR *d = opendir(room);
  for (struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}
static void leave(void)
{
  char path[600];
  DIR *d = opendir(room);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (e->d_name[0] != '.') snprintf(path, sizeof path, "%s/%s", room, e->d_name), remove(path);
  closedir(d), rmdir(room);
  room[0] = '\0';
}
static bool quantized(const char *from, const char *to, const char *type, struct quantize_result *r,
  struct error *why)
{
  struct memory m = { 0 };
  struct quantize_options o = { .from = from, .to = to };
  struct quantize_result unused;
  ck_assert(quantize_type(type, &o.type));
  bool ok = quantize_file(&m, &o, r != NULL ? r : &unused, why);
  ck_assert_uint_eq(m.all.live, 0);
  return ok;
}
static const char *const types[] = { "f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q6_k" };
enum { N_TYPES = sizeof types / sizeof *types };

/* the models that become a file; off: how much a logit may be off where divisors are rounded */
static const struct {
  const char *path;
  bool is_shared;
  float off;
} models[] = { { "models/pocket", false, 0 }, { "tests/golden/small", false, 0 }, { "tests/golden/gpt2", false, 0 },
  { "tests/golden/llama", false, 0 }, { "tests/golden/llama-linear", false, 0 }, { "tests/golden/llama-yarn", false, 1e-4f },
  { "tests/golden/qwen2", false, 0 }, { "tests/golden/qwen3", false, 0 },
  { "tests/golden/families/mixtral", false, 0 }, { "tests/golden/gguf/mixtral-split.gguf", false, 0 },
  { "tests/golden/gguf/mixtral-fused.gguf", false, 0 }, { "tests/golden/gguf/qwen2_moe-fused.gguf", false, 0 },
  { "tests/golden/gguf/olmoe.gguf", false, 0 }, { "tests/golden/gguf/qwen2_moe.gguf", false, 0 },
  { "tests/golden/gguf/qwen2_moe-silent.gguf", false, 0 }, { "tests/golden/gguf/qwen3_moe.gguf", false, 0 },
  { "tests/golden/families/pythia", false, 0 }, { "tests/golden/gguf/pythia-serial.gguf", false, 0 },
  { "tests/golden/families/falcon-old", false, 0 }, { "tests/golden/gguf/falcon.gguf", false, 0 },
  { "tests/golden/gguf/phi-fused.gguf", false, 0 }, { "tests/golden/families/stablelm", false, 0 },
  { "tests/golden/gguf/stablelm-serial.gguf", false, 0 }, { "tests/golden/families/cohere", false, 0 },
  { "tests/golden/families/cohere2", false, 0 }, { "tests/golden/families/exaone4", false, 0 },
  { "tests/golden/gguf/exaone4-full.gguf", false, 0 }, { "tests/golden/families/ernie4_5", false, 0 },
  { "tests/golden/gguf/seed_oss.gguf", false, 0 }, { "tests/golden/families/ministral3", false, 0 },
  { "golden/families/models/olmoe", true, 0 }, { "golden/families/models/qwen2-moe", true, 0 },
  { "golden/families/models/qwen3-moe", true, 0 }, { "golden/families/models/falcon-new", true, 0 },
  { "golden/families/models/phi2", true, 0 }, { "golden/families/models/seed-oss", true, 0 },
  { "golden/families/models/stablelm", true, 0 }, { "golden/families/models/exaone4-nowindow", true, 0 },
  { "golden/models/gpt2", true, 0 }, { "golden/models/gpt2-f16", true, 0 },
  { "golden/models/gpt2-hub", true, 0 }, { "golden/models/llama-bf16", true, 0 },
  { "golden/models/llama-gqa-tied", true, 0 }, { "golden/models/llama-mha", true, 0 },
  { "golden/models/llama-odd", true, 0 }, { "golden/models/llama-odd20", true, 0 },
  { "golden/models/llama-sharded", true, 0 }, { "golden/models/llama-rope3", true, 1e-4f },
  { "golden/models/qwen2", true, 0 }, { "golden/models/qwen3", true, 0 },
  { "golden/models/stories260K", true, 0 }, { "golden/models/gpt-nano-sort", true, 0 } };

static void rig_close(struct rig *r)
{
  store_close(r->s);
  model_close(&r->m, r->lm);
  pool_close(&r->m, r->pool);
  ck_assert_uint_eq(r->m.all.live, 0);
}
static void compare_tokens(const char *a, const char *b)
{
  static const char *const text[] = { "", "The cat sat on the mat.", " two  blanks\n\nand lines", "12345 x=1;",
    "na\xc3\xafve \xf0\x9f\x99\x82 \xe6\x97\xa5", "it's WE'LL" };
  struct memory m = { 0 };
  struct error why;
  struct tokenizer *s = NULL, *t = NULL;
  if (tokenizer_try(&m, a, &s, &why) == TOKENIZER_ABSENT) {
    ck_assert(tokenizer_try(&m, b, &t, &why) == TOKENIZER_ABSENT);
    return;
  }
  t = tokenizer_open(&m, b, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  ck_assert_uint_eq(tokenizer_tables(s).merges, tokenizer_tables(t).merges);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++)
    for (int special = 0; special < 2; special++) {
      struct ids x = { 0 }, y = { 0 };
      ck_assert(tokenizer_encode(s, &m, text[i], strlen(text[i]), special, special, &x, &why)
        && tokenizer_encode(t, &m, text[i], strlen(text[i]), special, special, &y, &why));
      ck_assert_msg(x.n == y.n && (x.n == 0 || memcmp(x.id, y.id, x.n * sizeof *x.id) == 0), "%s: %s", a, text[i]);
      struct bytes u = { 0 }, v = { 0 };
      ck_assert(tokenizer_decode(s, &m, x.id, x.n, false, &u, &why) && tokenizer_decode(t, &m, y.id, y.n, false, &v, &why));
      ck_assert_msg(u.n == v.n && (u.n == 0 || memcmp(u.byte, v.byte, u.n) == 0), "%s: %s", a, text[i]);
      ids_free(&m, &x), ids_free(&m, &y), bytes_free(&m, &u), bytes_free(&m, &v);
    }
  tokenizer_close(&m, s), tokenizer_close(&m, t);
  ck_assert_uint_eq(m.all.live, 0);
}
static void compare_logits(const char *from, const char *path, float off)
{
  struct rig a, b;
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 2, 2, 0 };
  size_t which[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  static float x[8 * 4096], y[8 * 4096];
  ck_assert_msg(rig_open(&a, from, NULL, 1, 1), "%s", a.why.text);
  ck_assert_msg(rig_open(&b, path, NULL, 1, 1), "%s", b.why.text);
  size_t v = a.lm->config.vocab_size, n = a.lm->config.n_positions < 8 ? a.lm->config.n_positions : 8;
  if (v < 6) for (int i = 0; i < 8; i++) ids[i] %= (uint32_t) v;
  ck_assert(v <= 4096 && v == b.lm->config.vocab_size);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, n, which, n, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, n, which, n, y, &b.why));
  for (size_t i = 0; i < n * v; i++)
    ck_assert_msg(off == 0 ? x[i] == y[i] : x[i] - y[i] <= off && y[i] - x[i] <= off,
      "%s: %zu: %g and %g", from, i, (double) x[i], (double) y[i]);
  rig_close(&a), rig_close(&b);
}
START_TEST(f32_has_the_same_logits)
{
  char buffer[300], path[400];
  const char *from = models[_i].path;
  struct error why = { "" };
  if (models[_i].is_shared) {
    if ((from = shared_file(buffer, sizeof buffer, from)) == NULL) return;
  }
  ck_assert_msg(quantized(from, in_room(path, "f32.gguf"), "f32", NULL, &why), "%s", why.text);
  compare_logits(from, path, models[_i].off);
  compare_tokens(from, path);
  leave();
}
END_TEST

/* settings that published models of a family do not have, and others may: they are in the file to the last bit, or the refusal
   names what cannot be. key: is in the file; a point before it: is not */
static const struct {
  const char *base, *set[8], *key, *words;
} unusual[] = {
  { "llama-yarn", { "rope_parameters.truncate", "false" }, NULL, "its truncate, a setting of yarn, cannot be said in a GGUF file" },
  { "llama-yarn", { "rope_parameters.truncate", "false", "rope_parameters.beta_slow", "1e-7", "rope_parameters.beta_fast", "100" }, NULL, NULL },
  { "llama-yarn", { "rope_parameters.attention_factor", "1.15" }, "llama.rope.scaling.attn_factor", NULL },
  { "llama-yarn", { "rope_parameters.attention_factor", "1.19" }, ".llama.rope.scaling.yarn_attn_factor", NULL },
  { "families/granite", { "logits_scaling", "1.0" }, "granite.logit_scale", NULL },
  { "families/granite", { "logits_scaling", NULL }, "granite.logit_scale", NULL },
  { "families/gemma3", { "query_pre_attn_scalar", "6" }, "gemma3.attention.sliding_window_pattern", NULL },
  { "families/gemma3", { "query_pre_attn_scalar", "6", "sliding_window_pattern", "1" }, ".gemma3.attention.sliding_window_pattern", NULL },
  { "families/gemma3", { "query_pre_attn_scalar", "6", "sliding_window_pattern", "6" }, ".gemma3.attention.sliding_window_pattern", NULL },
  { "families/gemma2", { "query_pre_attn_scalar", "6" }, ".gemma2.attention.sliding_window_pattern", NULL },
  { "families/gemma2", { "query_pre_attn_scalar", "6", "layer_types", "[\"full_attention\", \"sliding_attention\", \"full_attention\"]" },
    "gemma2.attention.sliding_window_pattern", NULL },
  { "families/gpt_oss", { "swiglu_limit", "7", "swiglu_alpha", "1.702" }, ".gpt-oss.attention.sliding_window_pattern", NULL },
  { "families/gpt_oss", { "swiglu_limit", "7", "swiglu_alpha", "1.702", "layer_types", "[\"full_attention\", \"sliding_attention\", \"sliding_attention\"]" },
    "gpt-oss.attention.sliding_window_pattern", NULL },
  { "families/gpt_oss", { "swiglu_limit", "7", "swiglu_alpha", "1.702", "rope_parameters.beta_slow", "0.05", "rope_parameters.truncate", "true" }, NULL, "its truncate, a setting of yarn," } };
START_TEST(odd_settings_are_said_or_named)
{
  char dir[200], path[400];
  struct error why = { "" };
  const char *const *set = unusual[_i].set, *key = unusual[_i].key;
  variant_make(dir, unusual[_i].base);
  for (int k = 0; k < 8 && set[k] != NULL; k += 2) variant_json(dir, "config.json", set[k], set[k + 1]);
  bool ok = quantized(dir, in_room(path, "odd.gguf"), "f32", NULL, &why);
  ck_assert_msg(ok == (unusual[_i].words == NULL), "%s: %s", unusual[_i].base, why.text);
  if (!ok) ck_assert_msg(strstr(why.text, unusual[_i].words) != NULL && files_in_room() == 0, "%s", why.text);
  else {
    size_t n;
    unsigned char *b = slurp(path, &n);
    bool wanted = key == NULL || key[0] != '.', there = key == NULL || memmem(b, n, key + !wanted, strlen(key + !wanted)) != NULL;
    ck_assert_msg(there == wanted, "%s: %s", unusual[_i].base, key);
    free(b);
    compare_logits(dir, path, 0);
  }
  variant_drop(dir);
  leave();
}
END_TEST

/* the types of this suite, those of the help, and those of the table are the same */
START_TEST(the_types_are_those_of_the_table)
{
  char words[TYPES_TEXT];
  uint32_t known = 0;
  enum weight_type type;
  for (size_t i = 0; i < N_TYPES; i++) {
    ck_assert_msg(quantize_type(types[i], &type), "%s", types[i]);
    known |= 1u << type;
  }
  ck_assert_uint_eq(known, weights_written());
  kernels_list_words(known, words);
  ck_assert_msg(strstr(options_option(OPTION_TYPE).words, words) != NULL, "--type: %s; wanted: %s", options_option(OPTION_TYPE).words, words);
}
END_TEST
/* each tensor of the file is the source's, encoded once; the sizes that are reported are true */
START_TEST(every_type_reads_back)
{
  char path[400], first[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct quantize_result r;
  enum weight_type type;
  ck_assert(quantized("models/pocket", in_room(first, "first.gguf"), "f32", NULL, &why));
  ck_assert_msg(quantized("models/pocket", in_room(path, "some.gguf"), types[_i], &r, &why) && quantize_type(types[_i], &type), "%s", why.text);
  struct tensor_file *a = tensor_file_open(&m, first, &why), *b = tensor_file_open(&m, path, &why);
  ck_assert(a != NULL && b != NULL && tensor_file_count(a) == tensor_file_count(b) && tensor_file_count(b) == r.tensors);
  uint64_t bytes = 0, numbers = 0;
  size_t of_type = 0;
  for (size_t i = 0; i < r.tensors; i++) {
    const struct tensor_entry *s = tensor_file_at(a, i), *t = tensor_file_at(b, i);
    ck_assert(strcmp(s->name, t->name) == 0 && s->rank == t->rank && memcmp(s->shape, t->shape, s->rank * sizeof *s->shape) == 0);
    enum weight_type wanted = s->rank == 1 ? WEIGHT_F32 : type;
    if (wanted == WEIGHT_Q4_K && s->shape[s->rank - 1] % 256 != 0) wanted = WEIGHT_Q5_0;
    if (wanted == WEIGHT_Q6_K && s->shape[s->rank - 1] % 256 != 0) wanted = WEIGHT_Q8_0;
    if (number_types[type].bits < 8 && strcmp(s->name, "token_embd.weight") == 0) wanted = WEIGHT_Q8_0;
    ck_assert_msg(t->type == wanted, "%s: %u", s->name, t->type);
    unsigned char *again = malloc(t->bytes);
    ck_assert(weights_encode(wanted, (const float *) (const void *) s->data, s->elements, again, &why));
    ck_assert_msg(memcmp(again, t->data, t->bytes) == 0, "%s", t->name);
    free(again);
    bytes += t->bytes, numbers += t->elements, of_type += t->type == type;
  }
  struct stat st;
  ck_assert(stat(path, &st) == 0 && r.file == (uint64_t) st.st_size && r.after == bytes && r.numbers == numbers && r.blocks == of_type);
  tensor_file_close(&m, a), tensor_file_close(&m, b);
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* in a model with experts: the router stays as it is, and the matrices of all experts are one tensor, whose rows are rounded as those of
   any matrix; rows of 32 numbers are no superblocks */
START_TEST(experts_are_one_tensor)
{
  static const struct { const char *name; enum weight_type q4_k, q6_k, q8_0; uint64_t shape[3]; } want[] = {
    { "blk.0.ffn_gate_inp.weight", WEIGHT_F32, WEIGHT_F32, WEIGHT_F32, { 2, 32, 0 } },
    { "blk.0.ffn_gate_exps.weight", WEIGHT_Q5_0, WEIGHT_Q8_0, WEIGHT_Q8_0, { 2, 256, 32 } },
    { "blk.0.ffn_up_exps.weight", WEIGHT_Q5_0, WEIGHT_Q8_0, WEIGHT_Q8_0, { 2, 256, 32 } },
    { "blk.0.ffn_down_exps.weight", WEIGHT_Q4_K, WEIGHT_Q6_K, WEIGHT_Q8_0, { 2, 32, 256 } } };
  static const char *const type[] = { "q4_k", "q6_k", "q8_0" };
  static const double near[] = { 1, 0.4, 0.4 };
  const char *from = "tests/golden/gguf/mixtral-wide.gguf";
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  size_t which[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  static float x[8 * 64], y[8 * 64];
  struct rig a, b;
  ck_assert_msg(rig_open(&a, from, NULL, 1, 1), "%s", a.why.text);
  size_t v = a.lm->config.vocab_size;
  ck_assert(v <= 64 && model_evaluate(&a.e, a.lm, a.s, ids, 8, which, 8, x, &a.why));
  for (int k = 0; k < 3; k++) {
    char path[400];
    struct memory m = { 0 };
    struct error why = { "" };
    ck_assert_msg(quantized(from, in_room(path, "wide.gguf"), type[k], NULL, &why), "%s", why.text);
    struct tensor_file *s = tensor_file_open(&m, from, &why), *f = tensor_file_open(&m, path, &why);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
      const struct tensor_entry *t = tensor_file_find(f, want[i].name), *before = tensor_file_find(s, want[i].name);
      ck_assert_msg(t != NULL && before != NULL && t->rank == (want[i].shape[2] > 0 ? 3 : 2), "%s", want[i].name);
      ck_assert(memcmp(t->shape, want[i].shape, t->rank * sizeof *t->shape) == 0);
      enum weight_type type_of = k == 0 ? want[i].q4_k : k == 1 ? want[i].q6_k : want[i].q8_0;
      ck_assert_msg(t->type == type_of, "%s in %s: %u", want[i].name, type[k], t->type);
      float *row = malloc(before->elements * sizeof *row);
      unsigned char *again = malloc(t->bytes);
      for (size_t j = 0; j < before->elements; j++) row[j] = tensor_number((struct tensor) { before->data, before->type }, j);
      ck_assert(weights_encode(type_of, row, before->elements, again, &why) && memcmp(again, t->data, t->bytes) == 0);
      free(row), free(again);
    }
    tensor_file_close(&m, s), tensor_file_close(&m, f);
    ck_assert_uint_eq(m.all.live, 0);
    ck_assert_msg(rig_open(&b, path, NULL, 1, 1), "%s", b.why.text);
    ck_assert(model_evaluate(&b.e, b.lm, b.s, ids, 8, which, 8, y, &b.why) && b.lm->config.d_expert == 256);
    double far = 0;
    for (size_t i = 0; i < 8 * v; i++) far = fmax(far, fabs((double) x[i] - (double) y[i]));
    ck_assert_msg(far > 0 && far < near[k], "%s: %g", type[k], far);
    rig_close(&b);
  }
  rig_close(&a);
  leave();
}
END_TEST

/* gates and ups that alternate, in matrices with the inputs first, become two tensors, with biases; what the format cannot say is refused */
START_TEST(pairs_are_taken_apart)
{
  static const struct { const char *name; uint32_t rank; uint64_t shape[3]; } want[] = {
    { "blk.1.attn_sinks.weight", 1, { 4 } }, { "blk.1.ffn_gate_inp.bias", 1, { 4 } }, { "blk.1.ffn_gate_exps.weight", 3, { 4, 8, 12 } },
    { "blk.1.ffn_up_exps.bias", 2, { 4, 8 } }, { "blk.1.ffn_down_exps.weight", 3, { 4, 12, 8 } }, { "blk.2.ffn_down_exps.bias", 2, { 4, 12 } } };
  char dir[200], path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  uint32_t ids[12];
  size_t which[12];
  float x[12 * 18], y[12 * 18];
  for (uint32_t i = 0; i < 12; i++) ids[i] = (7 * i + 2) % 18, which[i] = i;
  ck_assert(!quantized("tests/golden/families/gpt_oss", in_room(path, "pairs.gguf"), "f32", NULL, &why)
    && strstr(why.text, "its swiglu_alpha cannot be said in a GGUF file") != NULL);
  ck_assert(!quantized("tests/golden/families/gpt_oss-mxfp4", path, "f32", NULL, &why) && strstr(why.text, "in blocks already") != NULL);
  variant_make(dir, "families/gpt_oss");
  variant_json(dir, "config.json", "swiglu_limit", "7");
  variant_json(dir, "config.json", "swiglu_alpha", "1.702");
  ck_assert_msg(quantized(dir, path, "f32", NULL, &why), "%s", why.text);
  struct tensor_file *f = tensor_file_open(&m, path, &why);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    const struct tensor_entry *t = tensor_file_find(f, want[i].name);
    ck_assert_msg(t != NULL && t->rank == want[i].rank && memcmp(t->shape, want[i].shape, t->rank * sizeof *t->shape) == 0, "%s", want[i].name);
  }
  tensor_file_close(&m, f);
  struct rig a, b;
  ck_assert_msg(rig_open(&a, dir, NULL, 1, 1) && rig_open(&b, path, NULL, 1, 1), "%s", b.why.text);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, 12, which, 12, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 12, which, 12, y, &b.why));
  ck_assert(memcmp(x, y, sizeof x) == 0);
  rig_close(&a), rig_close(&b);
  char again[400]; /* and a file of floats is the source of another */
  ck_assert_msg(quantized(path, in_room(again, "again.gguf"), "f32", NULL, &why), "%s", why.text);
  ck_assert_msg(rig_open(&b, again, NULL, 1, 1), "%s", b.why.text);
  ck_assert(model_evaluate(&b.e, b.lm, b.s, ids, 12, which, 12, y, &b.why) && memcmp(x, y, sizeof x) == 0);
  rig_close(&b);
  variant_drop(dir);
  leave();
}
END_TEST

/* files that are made of a directory have the tensors that the script gives them, byte for byte, and no others */
START_TEST(names_are_those_of_other_programs)
{
  static const struct { const char *from, *like; } both[] = { { "mixtral-split", "mixtral" }, { "mixtral-fused", "mixtral" }, { "qwen2_moe-fused", "qwen2_moe" }, { "qwen2_moe-silent", NULL },
    { "phi-fused", "phi" }, { "pythia", NULL }, { "falcon", NULL }, { "stablelm", NULL }, { "olmoe", NULL }, { "exaone4", NULL }, { "seed_oss", NULL } };
  char from[200], path[400], like[200];
  struct memory m = { 0 };
  struct error why = { "" };
  snprintf(from, sizeof from, "tests/golden/gguf/%s.gguf", both[_i].from);
  snprintf(like, sizeof like, "tests/golden/gguf/%s.gguf", both[_i].like != NULL ? both[_i].like : both[_i].from);
  ck_assert_msg(quantized(from, in_room(path, "same.gguf"), "f32", NULL, &why), "%s", why.text);
  struct tensor_file *a = tensor_file_open(&m, like, &why), *b = tensor_file_open(&m, path, &why);
  ck_assert(a != NULL && b != NULL);
  ck_assert_uint_eq(tensor_file_count(a), tensor_file_count(b));
  for (size_t i = 0; i < tensor_file_count(a); i++) {
    const struct tensor_entry *s = tensor_file_at(a, i), *t = tensor_file_find(b, s->name);
    ck_assert_msg(t != NULL, "%s", s->name);
    if (_i < 2 || both[_i].like == NULL)
      ck_assert_msg(t->rank == s->rank && memcmp(t->shape, s->shape, s->rank * sizeof *s->shape) == 0 && memcmp(t->data, s->data, s->bytes) == 0, "%s", s->name);
  }
  tensor_file_close(&m, a), tensor_file_close(&m, b);
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* what a directory says in another way than most, or is silent about, is said in its file */
START_TEST(switches_are_said)
{
  static const struct { const char *base, *field, *value; } row[] = { { "families/pythia", "use_parallel_residual", "false" },
    { "families/olmoe", "clip_qkv", "null" }, { "families/stablelm", "use_qkv_bias", "true" },
    { "families/exaone4", "sliding_window_pattern", "\"LLG\"" }, { "families/cohere2", "sliding_window_pattern", "3" } };
  char dir[200], path[400];
  struct error why = { "" };
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  size_t which[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  static float x[8 * 64], y[8 * 64];
  struct rig a, b;
  variant_make(dir, row[_i].base);
  variant_json(dir, "config.json", row[_i].field, row[_i].value);
  ck_assert_msg(quantized(dir, in_room(path, "said.gguf"), "f32", NULL, &why), "%s", why.text);
  ck_assert_msg(rig_open(&a, dir, NULL, 1, 1) && rig_open(&b, path, NULL, 1, 1), "%s%s", a.why.text, b.why.text);
  size_t v = a.lm->config.vocab_size;
  ck_assert(v <= 64 && model_evaluate(&a.e, a.lm, a.s, ids, 8, which, 8, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 8, which, 8, y, &b.why));
  ck_assert(memcmp(x, y, 8 * v * sizeof *x) == 0);
  rig_close(&a), rig_close(&b);
  variant_drop(dir);
  leave();
}
END_TEST

static uint64_t fnv(uint64_t h, const void *byte, size_t n)
{
  for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *) byte)[i]) * UINT64_C(1099511628211);
  return h;
}
static uint64_t digest_of(const char *path)
{
  struct memory m = { 0 };
  struct error why = { "" };
  uint64_t h = UINT64_C(14695981039346656037);
  struct tensor_file *w = tensor_file_open(&m, path, &why);
  ck_assert_msg(w != NULL, "%s", why.text);
  for (size_t i = 0; i < tensor_file_count(w); i++) {
    const struct tensor_entry *t = tensor_file_at(w, i);
    uint32_t number;
    ck_assert(gguf_type_number(t->type, &number));
    unsigned char type = (unsigned char) number;
    h = fnv(fnv(fnv(h, t->name, strlen(t->name)), &type, 1), t->data, t->bytes);
  }
  tensor_file_close(&m, w);
  return h;
}
/* a shell's command; what it wrote, of which 4095 bytes are kept */
static int shell(char out[4096], const char *format, ...) __attribute__((format(printf, 2, 3)));
static int shell(char out[4096], const char *format, ...)
{
  char line[2000];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  FILE *f = popen(line, "r");
  size_t n = fread(out, 1, 4095, f);
  out[n] = '\0';
  int status = pclose(f);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
/* the tensors that llama-quantize made, and the text that llama.cpp wrote with our file */
START_TEST(files_are_those_of_llama_cpp)
{
  FILE *f = fopen("tests/golden/quantized.txt", "r");
  char line[1000], path[400], buffer[300], out[4096];
  unsigned seen = 0;
  struct error why = { "" };
  const char *b = getenv("BUILD");
  ck_assert(f != NULL);
  while (fgets(line, sizeof line, f)) {
    char model[40], type[20], digest[40], dir[100];
    const char *from = "models/pocket";
    if (line[0] == '#') continue;
    line[strcspn(line, "\n")] = '\0';
    ck_assert(sscanf(line, "%39s %19s %39s", model, type, digest) == 3);
    const char *text = strrchr(line, '\t') + 1;
    snprintf(dir, sizeof dir, "golden/models/%s", model);
    if (strcmp(model, "pocket") != 0 && (from = shared_file(buffer, sizeof buffer, dir)) == NULL) continue;
    ck_assert_msg(quantized(from, in_room(path, "x.gguf"), type, NULL, &why), "%s", why.text);
    char ours[40];
    snprintf(ours, sizeof ours, "%016llx", (unsigned long long) digest_of(path));
    ck_assert_msg(strcmp(ours, digest) == 0, "%s %s: %s", model, type, ours);
    ck_assert_int_eq(shell(out, "%s/incipit generate 'The cat sat' -n 24 --temperature 0 -m %s 2>/dev/null", b ? b : "build", path), 0);
    for (char *c = out; *c; c++) if (*c == '\n') *c = ' ';
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--) out[n - 1] = '\0';
    ck_assert_msg(strcmp(text, "-") == 0 || strcmp(text, out) == 0, "%s %s: %s", model, type, out);
    seen++;
  }
  fclose(f);
  ck_assert_uint_ge(seen, N_TYPES - 2); /* superblocks have scales of our own */
  leave();
}
END_TEST

/* a file of floats gives what its directory gives, and keeps its keys */
START_TEST(a_file_can_be_the_source)
{
  char first[400], a[400], b[400];
  struct error why = { "" };
  ck_assert(quantized("models/pocket", in_room(first, "f16.gguf"), "f16", NULL, &why));
  ck_assert(quantized("models/pocket", in_room(a, "a.gguf"), "q5_1", NULL, &why));
  ck_assert_msg(quantized(first, in_room(b, "b.gguf"), "q5_1", NULL, &why), "%s", why.text);
  ck_assert(digest_of(a) == digest_of(b));
  compare_tokens(a, b);
  /* rounded once is enough, and a model is not replaced by what was made of it */
  ck_assert(!quantized(a, in_room(first, "again.gguf"), "q4_0", NULL, &why) && strstr(why.text, "in blocks already; wanted: f32, f16 or bf16") != NULL);
  in_room(first, "f16.gguf");
  ck_assert(!quantized(first, first, "q4_0", NULL, &why) && strstr(why.text, "is the model itself") != NULL);
  ck_assert_uint_eq(files_in_room(), 3);
  leave();
}
END_TEST

static void bytes_of_file(const char *path, unsigned char **byte, long *n)
{
  FILE *f = fopen(path, "rb");
  ck_assert(f != NULL && fseek(f, 0, SEEK_END) == 0 && (*n = ftell(f)) > 0);
  rewind(f);
  *byte = malloc((size_t) *n);
  ck_assert(fread(*byte, 1, (size_t) *n, f) == (size_t) *n && fclose(f) == 0);
}
/* under whatever name the model is found, it is not replaced, and neither is a file of its directory */
START_TEST(the_model_is_never_replaced)
{
  char from[400], to[800], folder[400], line[3000];
  struct error why = { "" };
  unsigned char *before, *after;
  long n, now;
  struct stat st;
  ck_assert(quantized("tests/golden/small", in_room(from, "model.gguf"), "f32", NULL, &why));
  bytes_of_file(from, &before, &n);
  in_room(folder, "copy");
  snprintf(line, sizeof line, "cp -r tests/golden/small %s; ln -s model.gguf %s/soft.gguf; ln %s %s/hard.gguf;"
    " ln %s/model.safetensors %s/weights.gguf; ln -s %s/tokenizer.json %s/settings.gguf", folder, room, from, room,
    folder, room, folder, room);
  ck_assert_int_eq(system(line), 0);
  static const char *const name[] = { "model.gguf", "./model.gguf", "soft.gguf", "hard.gguf", "copy/../hard.gguf" };
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int twice = 0; twice < 2; twice++) {
      snprintf(to, sizeof to, "%s/%s", room, name[i]);
      ck_assert(!quantized(twice ? to : from, twice ? from : to, "q8_0", NULL, &why));
      ck_assert_msg(strstr(why.text, "is the model itself, or a file of it; wanted: another file") != NULL, "%s", why.text);
      ck_assert(lstat(to, &st) == 0 && S_ISLNK(st.st_mode) == (i == 2));
    }
  static const char *const part[] = { "copy/model.safetensors", "copy/config.json", "copy/../copy/tokenizer.json", "copy/.",
    "weights.gguf", "settings.gguf" };
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    snprintf(to, sizeof to, "%s/%s", room, part[i]);
    ck_assert(!quantized(folder, to, "q8_0", NULL, &why));
    ck_assert_msg(strstr(why.text, "is the model itself, or a file of it") != NULL, "%s: %s", to, why.text);
  }
  snprintf(line, sizeof line, "diff -r tests/golden/small %s", folder);
  ck_assert_int_eq(system(line), 0);
  bytes_of_file(from, &after, &now);
  ck_assert(now == n && memcmp(before, after, (size_t) n) == 0);
  /* a file that was made of the model may lie beside it, and is replaced */
  snprintf(to, sizeof to, "%s/made.gguf", folder);
  for (int twice = 0; twice < 2; twice++) ck_assert_msg(quantized(folder, to, "q8_0", NULL, &why), "%s", why.text);
  free(before), free(after);
  snprintf(line, sizeof line, "rm -r %s", folder);
  ck_assert_int_eq(system(line), 0);
  leave();
}
END_TEST

/* a source whose tensors begin at multiples of 64 gives the same file: the alignment of ours is ours */
START_TEST(the_alignment_is_not_copied)
{
  char source[400], wide[400], a[400], b[400];
  struct error why = { "" };
  struct memory m = { 0 };
  struct gguf_file g;
  struct gguf_tensor t;
  unsigned char *byte, *from_first, *from_second;
  long n, n_first, n_second;
  ck_assert(quantized("tests/golden/small", in_room(source, "source.gguf"), "f32", NULL, &why));
  bytes_of_file(source, &byte, &n);
  ck_assert(gguf_read(&g, &m, source, byte, (size_t) n, &why) && g.alignment == 32);
  struct gguf_walk w = gguf_begin(&g);
  while (w.left > 0) ck_assert(gguf_next(&g, &w, &t, &why) && t.begin % 64 == 0);
  static const char key[] = "\21\0\0\0\0\0\0\0general.alignment\4\0\0\0\100\0\0\0";
  static const char zeros[64];
  size_t n_key = sizeof key - 1, at = w.at + n_key;
  FILE *f = fopen(in_room(wide, "wide.gguf"), "wb");
  byte[16]++;
  fwrite(byte, 1, 24, f), fwrite(key, 1, n_key, f), fwrite(byte + 24, 1, w.at - 24, f);
  fwrite(zeros, 1, (64 - at % 64) % 64, f), fwrite(byte + g.data_at, 1, (size_t) n - g.data_at, f);
  ck_assert_int_eq(fclose(f), 0);
  gguf_free(&g), free(byte);
  ck_assert(quantized(source, in_room(a, "a.gguf"), "f16", NULL, &why));
  ck_assert_msg(quantized(wide, in_room(b, "b.gguf"), "f16", NULL, &why), "%s", why.text);
  bytes_of_file(a, &from_first, &n_first), bytes_of_file(b, &from_second, &n_second);
  ck_assert(n_first == n_second && memcmp(from_first, from_second, (size_t) n_first) == 0);
  free(from_first), free(from_second);
  leave();
}
END_TEST

/* what other programs show: the name of the directory, and the type that most matrices have */
static void shown(const char *from, const char *type, const char *name, double file_type)
{
  char path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct gguf_file g;
  struct gguf_words words;
  struct mapping map;
  ck_assert_msg(quantized(from, in_room(path, "x.gguf"), type, NULL, &why), "%s", why.text);
  ck_assert(file_map(&map, path, &why) && gguf_read(&g, &m, path, map.bytes, map.size, &why));
  ck_assert(gguf_string(gguf_find(&g, "general.type"), &words) && words.n == 5 && memcmp(words.text, "model", 5) == 0);
  bool named = gguf_string(gguf_find(&g, "general.name"), &words);
  ck_assert_msg(named == (name != NULL) && (!named || (words.n == strlen(name) && memcmp(words.text, name, words.n) == 0)), "%s", from);
  ck_assert_msg(gguf_number(gguf_find(&g, "general.file_type"), 0) == file_type, "%s in %s: %g", from, type,
    gguf_number(gguf_find(&g, "general.file_type"), 0));
  gguf_free(&g), file_unmap(&map);
}
START_TEST(other_programs_are_told_what_it_is)
{
  shown("tests/golden/small", "q8_0", "small", 7);
  shown("tests/golden/small/", "q4_0", "small", 2);
  shown("models/pocket//", "q4_0", "pocket", 2);
  shown("tests/golden/gpt2", "q8_0", "gpt2", 1); /* its width is 12 */
  shown("tests/golden/gpt2", "f32", "gpt2", 0);
  shown("tests/golden/gpt2", "bf16", "gpt2", 32);
  shown("tests/golden/small/.", "f16", NULL, 1);
  leave();
}
END_TEST

/* the makers' advice, and more ends than there are keys for */
START_TEST(advice_and_all_ends_are_written)
{
  char dir[200], path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct gguf_file g;
  struct mapping map;
  static const char advice[] = "{\"eos_token_id\":[0,5,4,3],\"do_sample\":%s,\"temperature\":%s,\"top_k\":7,"
    "\"top_p\":0.75,\"min_p\":0.125,\"repetition_penalty\":1.25}";
  static const struct { const char *key; double x; bool always; } want[] = { { "temp", 0.5, false }, { "top_k", 7, false },
    { "top_p", 0.75, false }, { "min_p", 0.125, false }, { "penalty_repeat", 1.25, true } };
  for (int samples = 0; samples < 3; samples++) { /* a temperature of 1 is said, too: readers have another by themselves */
    variant_make(dir, "small"), variant_path(path, dir, "generation_config.json");
    FILE *f = fopen(path, "w");
    fprintf(f, advice, samples ? "true" : "false", samples == 2 ? "1.0" : "0.5"), fclose(f);
    ck_assert_msg(quantized(dir, in_room(path, "x.gguf"), "f16", NULL, &why), "%s", why.text);
    ck_assert(file_map(&map, path, &why) && gguf_read(&g, &m, path, map.bytes, map.size, &why));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
      char key[80];
      snprintf(key, sizeof key, "general.sampling.%s", want[i].key);
      const struct gguf_entry *e = gguf_find(&g, key);
      ck_assert_msg((e != NULL) == (samples || want[i].always), "%s", key);
      ck_assert(e == NULL || gguf_number(e, 0) == (i == 0 && samples == 2 ? 1 : want[i].x));
    }
    gguf_free(&g), file_unmap(&map);
    struct model_config c;
    ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
    ck_assert(c.n_eos == 4 && c.eos[0] == 0 && c.eos[2] == 4 && c.eos[3] == 3);
    ck_assert(c.sampling.repetition_penalty == 1.25 && !c.sampling.do_sample && c.sampling.temperature == 1);
    config_close(&m, &c);
    variant_drop(dir);
  }
  ck_assert(quantized("tests/golden/small", in_room(path, "x.gguf"), "f16", NULL, &why));
  ck_assert(file_map(&map, path, &why) && gguf_read(&g, &m, path, map.bytes, map.size, &why));
  for (size_t i = 0; i < g.n_entries; i++)
    ck_assert(g.entry[i].key.n < 17 || memcmp(g.entry[i].key.text, "general.sampling.", 17) != 0);
  gguf_free(&g), file_unmap(&map);
  ck_assert_uint_eq(m.all.live, 0);
  leave();
}
END_TEST

/* a file that was written is read again, and what it says is compared with the model, setting by setting and list by list */
START_TEST(what_a_file_says_is_the_model)
{
  static const char *const model[] = { "small", "small", "small", "small", "families/gemma3", "families/gemma3", "families/cohere2", "families/ministral3" };
  static const char *const lost[] = { NULL, "norm_eps", "n_eos", "eos_token_id", "base of layers with a window", "list of layers with a window",
    "list of layers that are turned", "length of the first training" };
  for (int k = 0; k < 8; k++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config a, b;
    char from[100], words[300];
    snprintf(from, sizeof from, "tests/golden/%s", model[k]);
    ck_assert_msg(config_open(&a, &m, from, &why) && config_open(&b, &m, from, &why), "%s", why.text);
    a.n_eos = b.n_eos = 2, a.eos[1] = b.eos[1] = 7;
    ck_assert(gguf_settings_same(&a, &b, from, &why));
    if (k == 0) b.norm_eps *= 1 + 1e-12; /* as a float it is the same */
    if (k == 1) b.norm_eps *= 1.5;
    if (k == 2) b.n_eos = 1;
    if (k == 3) b.eos[1] = 8;
    if (k == 4) b.rope.local_theta *= 2;
    if (k == 5) b.windowed[0] ^= 1;
    if (k == 6) b.unturned[0] ^= 1;
    if (k == 7) b.rope.original++;
    snprintf(words, sizeof words, "%s: its %s cannot be said in a GGUF file", from, lost[k] == NULL ? "" : lost[k]);
    ck_assert_int_eq(gguf_settings_same(&a, &b, from, &why), k == 0);
    if (k > 0) ck_assert_str_eq(why.text, words);
    config_close(&m, &a), config_close(&m, &b);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

/* what is no file is not replaced, and a link leads to what is (check_ground has all kinds) */
START_TEST(only_a_file_is_replaced)
{
  char path[400], to[400];
  struct error why = { "" };
  struct stat st;
  ck_assert_int_eq(mkfifo(in_room(path, "pipe"), 0600), 0);
  ck_assert(!quantized("tests/golden/small", path, "q8_0", NULL, &why));
  ck_assert_msg(strstr(why.text, "pipe: this is a pipe; wanted: a regular file, which is replaced, or a name that is free") != NULL, "%s", why.text);
  ck_assert(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
  ck_assert(symlink("target", in_room(path, "link")) == 0 && quantized("tests/golden/small", path, "q8_0", NULL, &why));
  ck_assert(lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && lstat(in_room(to, "target"), &st) == 0 && S_ISREG(st.st_mode));
  ck_assert_uint_eq(files_in_room(), 3);
  leave();
}
END_TEST

/* the file with n bytes in its middle, where a matrix is, replaced */
static void patch(const char *path, const void *bytes, long n)
{
  FILE *f = fopen(path, "r+b");
  ck_assert(f != NULL && fseek(f, 0, SEEK_END) == 0);
  ck_assert(fseek(f, ftell(f) / 2 / 32 * 32, SEEK_SET) == 0 && fwrite(bytes, 1, (size_t) n, f) == (size_t) n && fclose(f) == 0);
}
/* a weight that sixteen bits cannot hold is no infinity in the file */
START_TEST(no_weight_becomes_infinite)
{
  char from[400], path[400];
  struct error why = { "" };
  in_room(path, "no.gguf");
  ck_assert(quantized("models/pocket", in_room(from, "bf16.gguf"), "bf16", NULL, &why));
  patch(from, "\x7f\x47", 2); /* 65280, which float16 has */
  ck_assert_msg(quantized(from, path, "f16", NULL, &why), "%s", why.text);
  ck_assert(remove(path) == 0);
  patch(from, "\x80\x47", 2); /* 65536 */
  ck_assert(!quantized(from, path, "f16", NULL, &why));
  ck_assert_msg(strstr(why.text, "65536, is infinite in F16; wanted: smaller numbers, or another type") != NULL, "%s", why.text);
  ck_assert(quantized(from, path, "f32", NULL, &why));
  patch(path, "\xff\xff\x7f\x7f", 4); /* the largest float */
  ck_assert(!quantized(path, from, "bf16", NULL, &why) && strstr(why.text, "is infinite in BF16") != NULL);
  ck_assert_uint_eq(files_in_room(), 2);
  leave();
}
END_TEST

/* a way of cutting texts that has no name in the format is refused by what it is, before anything is tried */
START_TEST(a_pattern_without_a_name_is_refused)
{
  char odd[400], path[400], out[4096];
  struct error why = { "" };
  in_room(odd, "odd"), in_room(path, "no.gguf");
  ck_assert_int_eq(shell(out, "mkdir %s && cp tests/golden/small/* %s && tr -d '\\n' < tests/golden/small/tokenizer.json | "
    "sed 's/\"pre_tokenizer\": *{[^}]*}/\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", "
    "\"pattern\": {\"Regex\": \"x+\"}, \"behavior\": \"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", "
    "\"add_prefix_space\": false, \"trim_offsets\": true, \"use_regex\": false}]}/' > %s/tokenizer.json", odd, odd, odd), 0);
  ck_assert(!quantized(odd, path, "q8_0", NULL, &why));
  ck_assert_msg(strstr(why.text, "its tokenizer cuts texts in a way that has no name there") != NULL, "%s", why.text);
  ck_assert_int_eq(shell(out, "rm -r %s", odd), 0);
  ck_assert_uint_eq(files_in_room(), 0);
  leave();
}
END_TEST

/* what a file cannot say is refused, and a refusal leaves no file */
START_TEST(refusals_leave_no_file)
{
  char path[400], buffer[300];
  struct error why = { "" };
  enum weight_type type;
  in_room(path, "no.gguf");
  ck_assert(!quantized("/nowhere", path, "q8_0", NULL, &why) && strstr(why.text, "/nowhere") != NULL);
  ck_assert(!quantized("models/pocket", "/nowhere/x.gguf", "q8_0", NULL, &why) && strstr(why.text, "/nowhere/x.gguf") != NULL);
  ck_assert(!quantize_type("q5_k", &type) && !quantize_type("", &type));
  const char *windowed = shared_file(buffer, sizeof buffer, "golden/models/mistral-swa8");
  ck_assert(windowed == NULL || (!quantized(windowed, path, "q8_0", NULL, &why)
    && strstr(why.text, "its sliding_window of 8 would be lost: readers of GGUF files ignore it in a model of this kind") != NULL));
  ck_assert_uint_eq(files_in_room(), 0);
  static const struct { const char *model, *words; } lost[] = { { "olmoe", "its qkv_cap cannot be said in a GGUF file" },
    { "qwen2_moe", "an MLP beside experts; wanted: one that GGUF files of this kind can have" },
    { "qwen3_moe", "an MLP beside experts; wanted" },
    { "phi", "a norm of queries; wanted: one that GGUF files of this kind can have" },
    { "falcon", "its qkv_bias cannot be said in a GGUF file" }, { "phi3-long", "rope_scaling is longrope" } };
  for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
    char from[100];
    snprintf(from, sizeof from, "tests/golden/families/%s", lost[i].model);
    ck_assert_msg(!quantized(from, path, "f32", NULL, &why) && strstr(why.text, lost[i].words) != NULL && strstr(why.text, lost[i].model) != NULL,
      "%s: %s", from, why.text);
    ck_assert_uint_eq(files_in_room(), 0);
  }
  const char *unnamed = shared_file(buffer, sizeof buffer, "golden/families/models/ministral");
  ck_assert(unnamed == NULL || (!quantized(unnamed, path, "f32", NULL, &why)
    && strstr(why.text, "model_type is ministral; wanted: a family of which we know how GGUF files have it") != NULL));
  /* a disk that is full */
  struct rlimit limit = { 100000, 100000 };
  signal(SIGXFSZ, SIG_IGN);
  ck_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  ck_assert(!quantized("models/pocket", path, "q8_0", NULL, &why) && strstr(why.text, "cannot be written: ") != NULL);
  ck_assert_uint_eq(files_in_room(), 0);
  leave();
}
END_TEST

static bool stop_at(void *ctx, size_t done, size_t all)
{
  (void) done, (void) all;
  return --*(unsigned *) ctx != 0;
}
START_TEST(giving_up_keeps_the_older_file)
{
  char path[400];
  struct error why = { "" };
  ck_assert(quantized("models/pocket", in_room(path, "x.gguf"), "q4_0", NULL, &why));
  uint64_t before = digest_of(path);
  for (unsigned k = 1; k < 20; k += 6) {
    struct memory m = { 0 };
    unsigned left = k;
    struct progress p = { .report = stop_at, .ctx = &left };
    struct quantize_options o = { .from = "models/pocket", .to = path, .type = WEIGHT_F32, .progress = &p };
    struct quantize_result r;
    ck_assert(!quantize_file(&m, &o, &r, &why) && p.cancelled && strstr(why.text, "the writing was given up") != NULL);
    ck_assert(m.all.live == 0 && files_in_room() == 1 && digest_of(path) == before);
  }
  ck_assert(quantized("models/pocket", path, "f32", NULL, &why) && digest_of(path) != before && files_in_room() == 1);
  leave();
}
END_TEST

START_TEST(refused_requests_are_sentences)
{
  static const char *const from[] = { "tests/golden/small", "tests/golden/llama-stretched", "a file" };
  char path[400], source[400];
  struct error why = { "" };
  ck_assert(quantized("tests/golden/small", in_room(source, "source.gguf"), "f32", NULL, &why));
  in_room(path, "x.gguf");
  uint64_t at = 1;
  for (bool done = false; !done; at++) {
    struct memory m = { .fail_at = at };
    struct quantize_options o = { .from = _i < 2 ? from[_i] : source, .to = path, .type = WEIGHT_Q8_0 };
    struct quantize_result r;
    why.text[0] = '\0';
    done = quantize_file(&m, &o, &r, &why);
    /* without memory for machine code a pattern is still matched */
    ck_assert_msg(done || (m.all.refused > 0 && why.text[0] != '\0'), "%d: %d %s", (int) at, (int) m.all.refused, why.text);
    ck_assert_uint_eq(m.all.live, 0);
    ck_assert_uint_eq(files_in_room(), done ? 2 : 1);
    if (done) remove(path);
    done = m.all.refused == 0;
  }
  ck_assert_uint_ge(at, 50);
  leave();
}
END_TEST

/* the writer alone: a size beyond 64 bits, a type that the format lacks, a row of half a block */
START_TEST(drafts_are_checked)
{
  static const struct {
    unsigned type;
    uint32_t rank;
    uint64_t shape[3];
    bool ok;
  } row[] = { { WEIGHT_F32, 1, { 4 }, true }, { WEIGHT_F32, 1, { UINT64_MAX / 4 + 1 }, false },
    { WEIGHT_F32, 2, { (uint64_t) 1 << 40, (uint64_t) 1 << 40 }, false }, { WEIGHT_Q8_0, 2, { 3, 33 }, false },
    { WEIGHT_Q8_0, 2, { 0, 32 }, true }, { WEIGHT_F32, 1, { UINT64_MAX / 4 }, false },
    { WEIGHT_F32, 1, { UINT64_MAX / 4 - 16 }, true }, { N_WEIGHT_TYPES + 1, 1, { 4 }, false },
    { WEIGHT_F32, 3, { 2, 3, 4 }, true } };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct gguf_draft d = { .m = &m, .ok = true, .why = &why };
    gguf_add_tensor(&d, "t", row[i].type, row[i].rank, row[i].shape);
    ck_assert_msg(d.ok == row[i].ok && (d.ok || strstr(why.text, "t: cannot be a tensor of type") != NULL), "%zu: %s", i, why.text);
    ck_assert(!d.ok || d.next % GGUF_ALIGNMENT == 0);
    gguf_draft_free(&d);
    ck_assert_uint_eq(m.all.live, 0);
  }
}
END_TEST

START_TEST(the_command_says_what_it_did)
{
  char path[400], out[4096];
  const char *b = getenv("BUILD") ? getenv("BUILD") : "build";
  in_room(path, "x.gguf");
  ck_assert_int_eq(shell(out, "%s/incipit quantize --type q8_0 --out %s", b, path), 0);
  ck_assert_msg(strstr(out, "56 tensors, 43 of them in q8_0\nweights: 1443456 numbers, 2886912 bytes (16.00 bits each) -> 1538560 bytes (8.53 bits each)\nfile: 1602688 bytes\n") != NULL, "%s", out);
  ck_assert_int_eq(shell(out, "%s/incipit quantize --type q8_0 --out %s --json", b, path), 0);
  ck_assert_msg(strstr(out, "\"bytes_after\":1538560,\"file_bytes\":1602688,\"bits_before\":16.0,") != NULL, "%s", out);
  char *bits = strstr(out, "\"bits_after\":");
  ck_assert(bits != NULL && fabs(strtod(bits + 13, NULL) - 8.0 * 1538560 / 1443456) < 1e-9
    && strstr(out, "\"type\":\"q8_0\",\"tensors\":56,\"tensors_of_type\":43,\"numbers\":1443456,\"bytes_before\":2886912,") != NULL);
  ck_assert_int_eq(shell(out, "%s/incipit quantize --out %s 2>&1", b, path), 2);
  ck_assert_ptr_nonnull(strstr(out, "quantize needs --type"));
  ck_assert_int_eq(shell(out, "%s/incipit quantize --type f16 2>&1", b), 2);
  ck_assert_ptr_nonnull(strstr(out, "quantize needs --out"));
  static const char *const reads[] = { "memory -m", "inspect", "bench -p 4 -n 2 -r 1 -m", "perplexity tests/golden/prompt.txt -m" };
  for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
    ck_assert_msg(shell(out, "%s/incipit %s %s 2>&1", b, reads[i], path) == 0, "%s: %s", reads[i], out);
  leave();
}
END_TEST

/* a signal while the file grows: the status of a cancelled run, and no file */
START_TEST(a_signal_leaves_no_file)
{
  static const int number[] = { SIGINT, SIGTERM, SIGHUP };
  char path[400], program[300];
  snprintf(program, sizeof program, "%s/incipit", getenv("BUILD") ? getenv("BUILD") : "build");
  in_room(path, "x.gguf");
  bool cancelled = false;
  signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL), signal(SIGHUP, SIG_DFL); /* not Check's */
  for (int i = 0; i < 40; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
      execl(program, "incipit", "quantize", "--type", "q4_1", "--out", path, (char *) NULL);
      _exit(99);
    }
    int status;
    struct timespec wait = { 0, 1000000L * (2 + i) };
    nanosleep(&wait, NULL);
    kill(pid, number[_i]);
    ck_assert(waitpid(pid, &status, 0) == pid);
    bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ck_assert_uint_eq(files_in_room(), whole);
    ck_assert(whole || WIFSIGNALED(status) || WEXITSTATUS(status) == 130);
    cancelled = cancelled || !whole;
    if (whole) remove(path);
  }
  ck_assert(cancelled);
  leave();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("quantize");
  TCase *t = tcase_create("files");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, f32_has_the_same_logits, 0, sizeof models / sizeof *models);
  tcase_add_loop_test(t, odd_settings_are_said_or_named, 0, sizeof unusual / sizeof *unusual);
  tcase_add_test(t, the_types_are_those_of_the_table);
  tcase_add_loop_test(t, every_type_reads_back, 0, N_TYPES);
  tcase_add_test(t, experts_are_one_tensor);
  tcase_add_test(t, pairs_are_taken_apart);
  tcase_add_loop_test(t, switches_are_said, 0, 5);
  tcase_add_loop_test(t, names_are_those_of_other_programs, 0, 11);
  tcase_add_test(t, files_are_those_of_llama_cpp);
  tcase_add_test(t, a_file_can_be_the_source);
  tcase_add_test(t, the_model_is_never_replaced);
  tcase_add_test(t, only_a_file_is_replaced);
  tcase_add_test(t, the_alignment_is_not_copied);
  tcase_add_test(t, advice_and_all_ends_are_written);
  tcase_add_test(t, other_programs_are_told_what_it_is);
  tcase_add_test(t, no_weight_becomes_infinite);
  tcase_add_test(t, a_pattern_without_a_name_is_refused);
  tcase_add_test(t, refusals_leave_no_file);
  tcase_add_test(t, what_a_file_says_is_the_model);
  tcase_add_test(t, giving_up_keeps_the_older_file);
  tcase_add_loop_test(t, refused_requests_are_sentences, 0, 3);
  tcase_add_test(t, drafts_are_checked);
  tcase_add_test(t, the_command_says_what_it_did);
  tcase_add_loop_test(t, a_signal_leaves_no_file, 0, 3);
  suite_add_tcase(s, t);
  return suite_run(s);
}
