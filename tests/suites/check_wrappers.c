/* Models that see: the small models that travel with the project, put into a larger one as published models are, with the names of both
   times and with tensors of images beside them. Asked about a text they compute the bits of the model within, and say what was not read. */
#define _GNU_SOURCE
#include <jansson.h>
#include "variants.h"
#include "runs.h"
#include "families/config.h"

/* ---- putting a model into a larger one */
static char dir[200];
static void begin(const char *model)
{
  variant_make(dir, model);
  snprintf(room_dir, sizeof room_dir, "%s", dir);
}
static void end(void)
{
  variant_drop(dir);
}
static json_t *load(const char *file)
{
  char path[400];
  variant_path(path, dir, file);
  json_t *o = json_load_file(path, 0, NULL);
  ck_assert_msg(o != NULL, "%s", path);
  return o;
}
static void save(const char *file, json_t *o)
{
  char path[400];
  variant_path(path, dir, file);
  ck_assert_int_eq(json_dump_file(o, path, JSON_INDENT(1)), 0);
  json_decref(o);
}
static void wrap_settings(const char *type, const char *architecture)
{
  json_t *text = load("config.json");
  json_t *o = json_pack("{s:s,s:[s],s:{s:i,s:s},s:i,s:i,s:s,s:s}", "model_type", type, "architectures", architecture, "vision_config", "hidden_size", 1152,
    "model_type", "siglip_vision_model", "image_token_index", 262144, "mm_tokens_per_image", 256, "projector_hidden_act", "gelu", "transformers_version", "4.50.0.dev0");
  json_object_del(text, "architectures");
  json_object_set(o, "eos_token_id", json_object_get(text, "eos_token_id"));
  if (json_object_get(text, "tie_word_embeddings") != NULL) json_object_set(o, "tie_word_embeddings", json_object_get(text, "tie_word_embeddings"));
  json_object_del(text, "eos_token_id");
  json_object_set_new(o, "text_config", text);
  save("config.json", o);
}
/* "model.x" and "lm_head" get other beginnings, and a tensor of images follows all others */
static void rename_tensors(const char *body, const char *head, const char *images)
{
  char path[400];
  size_t n, from = 0;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n);
  for (int i = 0; i < 8; i++) from |= (size_t) b[i] << 8 * i;
  json_t *o = json_loadb((char *) b + 8, from, 0, NULL), *all = json_object(), *one;
  const char *name;
  size_t end_of = n - 8 - from;
  json_object_foreach(o, name, one)
  {
    char to[300];
    bool of_body = strncmp(name, "model.", 6) == 0;
    snprintf(to, sizeof to, "%s%s", of_body ? body : strcmp(name, "__metadata__") == 0 ? "" : head, of_body ? name + 6 : name);
    json_object_set(all, to, one);
  }
  if (images != NULL)
    json_object_set_new(all, images, json_pack("{s:s,s:[i],s:[i,i]}", "dtype", "F32", "shape", 2, "data_offsets", (int) end_of, (int) end_of + 8));
  char *text = json_dumps(all, JSON_COMPACT);
  size_t k = strlen(text);
  FILE *f = fopen(path, "wb");
  for (int i = 0; i < 8; i++) putc((int) (k >> 8 * i & 255), f);
  fwrite(text, 1, k, f), fwrite(b + 8 + from, 1, end_of, f);
  if (images != NULL) fwrite("\0\0\0\0\0\0\0\0", 1, 8, f);
  ck_assert(fclose(f) == 0);
  free(text), free(b), json_decref(o), json_decref(all);
}

/* ---- the same bits */
static const struct {
  const char *model, *type, *architecture, *body, *head, *images;
} whole[] = {
  { "families/gemma3", "gemma3", "Gemma3ForConditionalGeneration", "language_model.model.", "language_model.", "vision_tower.vision_model.post_layernorm.weight" },
  { "families/gemma3", "gemma3", "Gemma3ForConditionalGeneration", "model.language_model.", "", "model.multi_modal_projector.mm_soft_emb_norm.weight" },
  { "families/ministral3", "mistral3", "Mistral3ForConditionalGeneration", "language_model.model.", "language_model.", "multi_modal_projector.norm.weight" },
  { "families/ministral3", "mistral3", "Mistral3ForConditionalGeneration", "model.language_model.", "", "model.vision_tower.ln_pre.weight" },
  { "mistral", "mistral3", "Mistral3ForConditionalGeneration", "language_model.model.", "language_model.", "vision_tower.ln_pre.weight" },
  { "small", "llava", "LlavaForConditionalGeneration", "language_model.model.", "language_model.", "multi_modal_projector.linear_1.bias" },
  { "qwen2", "llava", "LlavaForConditionalGeneration", "model.language_model.", "", NULL },
  { "small", "smolvlm", "SmolVLMForConditionalGeneration", "model.text_model.", "", "model.connector.modality_projection.proj.weight" },
  { "small", "idefics3", "Idefics3ForConditionalGeneration", "model.text_model.", "", "model.vision_model.post_layernorm.bias" },
};
enum { N_WHOLE = sizeof whole / sizeof *whole };
START_TEST(a_text_is_read_as_by_the_model_within)
{
  static float x[6 * 2100], y[6 * 2100];
  uint32_t ids[6] = { 3, 1, 4, 1, 5, 9 };
  size_t which[6] = { 0, 1, 2, 3, 4, 5 };
  char from[300];
  struct rig a, b;
  snprintf(from, sizeof from, "tests/golden/%s", whole[_i].model);
  begin(whole[_i].model);
  wrap_settings(whole[_i].type, whole[_i].architecture);
  rename_tensors(whole[_i].body, whole[_i].head, whole[_i].images);
  ck_assert_msg(rig_open(&a, from, NULL, 1, 1), "%s", a.why.text);
  ck_assert_msg(rig_open(&b, dir, NULL, 1, 1), "%s", b.why.text);
  const struct model_config *c = &a.lm->config, *d = &b.lm->config;
  for (int i = 0; i < N_MODEL_SETTINGS; i++)
    ck_assert_msg(setting_value(&config_setting[i], c) == setting_value(&config_setting[i], d), "%s", config_setting[i].name);
  ck_assert(strcmp(c->family, d->family) == 0 && c->n_eos == d->n_eos && memcmp(c->eos, d->eos, c->n_eos * sizeof *c->eos) == 0);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, 6, which, 6, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 6, which, 6, y, &b.why));
  ck_assert(memcmp(x, y, 6 * c->vocab_size * sizeof *x) == 0);
  ck_assert_uint_eq(model_parameters(a.lm), model_parameters(b.lm)); /* what is not read is not counted */
  bool named = whole[_i].images == NULL, outer = false;
  for (size_t i = 0; i < d->n_ignored; i++) {
    named = named || (strcmp(d->ignored[i].field, whole[_i].images) == 0 && strstr(d->ignored[i].reason, "the model of images") != NULL);
    outer = outer || (strcmp(d->ignored[i].field, "vision_config") == 0 && strstr(d->ignored[i].reason, "the model of images") != NULL);
  }
  ck_assert(named && outer);
  store_close(a.s), store_close(b.s), model_close(&a.m, a.lm), model_close(&b.m, b.lm);
  ck_assert(a.m.all.live == 0 && b.m.all.live == 0);
  end();
}
END_TEST

/* made, saved and asked about texts by Hugging Face's library (tests/golden/wrappers.py) */
static const char *const golden[] = { "gemma3", "mistral3", "llava", "smolvlm" };
START_TEST(logits_are_those_of_the_library)
{
  char path[200], file[300], *line = NULL;
  size_t cap = 0;
  unsigned passed = 0;
  struct rig r;
  static float x[32 * 24];
  snprintf(path, sizeof path, "tests/golden/wrappers/%s", golden[_i]), snprintf(file, sizeof file, "%s/forward.jsonl", path);
  ck_assert_msg(rig_open(&r, path, NULL, 1, 1), "%s", r.why.text);
  FILE *f = fopen(file, "r");
  ck_assert(f != NULL);
  for (; getline(&line, &cap, f) > 0; passed++) {
    json_t *o = json_loads(line, 0, NULL), *list = json_object_get(o, "ids"), *rows = json_object_get(o, "logits");
    uint32_t ids[32];
    size_t which[32], n = json_array_size(list), v = r.lm->config.vocab_size;
    ck_assert(n > 0 && n <= 32 && v == 24 && json_array_size(rows) == n);
    for (size_t i = 0; i < n; i++) ids[i] = (uint32_t) json_integer_value(json_array_get(list, i)), which[i] = i;
    ck_assert_msg(model_evaluate(&r.e, r.lm, r.s, ids, n, which, n, x, &r.why), "%s", r.why.text);
    for (size_t i = 0; i < n * v; i++) {
      double want = json_number_value(json_array_get(json_array_get(rows, i / v), i % v)), tol = json_number_value(json_object_get(o, "tol"));
      ck_assert_msg((double) x[i] - want <= tol && want - (double) x[i] <= tol, "%s: %zu: %g and %g", golden[_i], i, (double) x[i], want);
    }
    json_decref(o);
  }
  ck_assert_uint_eq(passed, 3);
  fclose(f), free(line);
  store_close(r.s), model_close(&r.m, r.lm);
  ck_assert_uint_eq(r.m.all.live, 0);
  tally(file, passed, 0, 0, "");
}
END_TEST

/* a model that sees becomes a GGUF file of the model within */
START_TEST(it_is_quantized_as_the_model_within)
{
  char one[400], two[400];
  size_t n, k;
  begin("small");
  struct run a = run("quantize -q -m tests/golden/small --type q8_0 --out @/one.gguf");
  wrap_settings("llava", "LlavaForConditionalGeneration");
  rename_tensors("language_model.model.", "language_model.", "vision_tower.x.weight");
  struct run b = run("quantize -q -m @ --type q8_0 --out @/two.gguf"), i = run("inspect @");
  ck_assert_msg(a.status == 0 && b.status == 0 && i.status == 0, "%s%s%s", a.err, b.err, i.err);
  ck_assert_msg(strstr(i.out, "vision_tower.x.weight: of the model of images, which is not read") != NULL, "%s", i.out);
  variant_path(one, dir, "one.gguf"), variant_path(two, dir, "two.gguf");
  struct rig r, s;
  static float x[2 * 2100], y[2 * 2100];
  uint32_t ids[2] = { 3, 1 };
  size_t which[2] = { 0, 1 };
  ck_assert(rig_open(&r, one, NULL, 1, 1) && rig_open(&s, two, NULL, 1, 1));
  ck_assert(model_evaluate(&r.e, r.lm, r.s, ids, 2, which, 2, x, &r.why) && model_evaluate(&s.e, s.lm, s.s, ids, 2, which, 2, y, &s.why));
  ck_assert(memcmp(x, y, 2 * r.lm->config.vocab_size * sizeof *x) == 0);
  store_close(r.s), store_close(s.s), model_close(&r.m, r.lm), model_close(&s.m, s.lm);
  unsigned char *p = slurp(one, &n), *q = slurp(two, &k);
  ck_assert(n > 1000 && k > 1000);
  free(p), free(q), done(&a), done(&b), done(&i);
  end();
}
END_TEST

/* a Gemma 3 of four thousand million weights and more is stretched, in the layers that see everything; its GGUF file has the texts alone */
START_TEST(a_stretched_gemma_is_the_same_in_both_forms)
{
  static float x[6 * 24], y[6 * 24];
  uint32_t ids[6] = { 3, 1, 4, 1, 5, 9 };
  size_t which[6] = { 0, 1, 2, 3, 4, 5 };
  char one[400];
  struct rig a, b;
  begin("wrappers/gemma3");
  variant_json(dir, "config.json", "text_config.rope_parameters", "{\"full_attention\":{\"rope_theta\":1000000.0,\"rope_type\":\"linear\",\"factor\":8.0},"
    "\"sliding_attention\":{\"rope_theta\":10000.0,\"rope_type\":\"default\"}}");
  struct run r = run("quantize -q -m @ --type bf16 --out @/one.gguf");
  ck_assert_msg(r.status == 0, "%s", r.err);
  variant_path(one, dir, "one.gguf");
  ck_assert_msg(rig_open(&a, dir, NULL, 1, 1), "%s", a.why.text);
  ck_assert_msg(rig_open(&b, one, NULL, 1, 1), "%s", b.why.text);
  ck_assert(a.lm->config.rope.kind == ROPE_LINEAR && a.lm->config.rope.factor == 8 && b.lm->config.rope.factor == 8);
  ck_assert(model_evaluate(&a.e, a.lm, a.s, ids, 6, which, 6, x, &a.why) && model_evaluate(&b.e, b.lm, b.s, ids, 6, which, 6, y, &b.why));
  ck_assert(memcmp(x, y, sizeof x) == 0);
  store_close(a.s), store_close(b.s), model_close(&a.m, a.lm), model_close(&b.m, b.lm), done(&r);
  end();
}
END_TEST

/* the object lacks what its class has by itself: published files are so */
START_TEST(sizes_that_the_class_has_by_itself)
{
  static const struct { const char *type, *architecture, *text; uint32_t vocab, d, inner, layers, heads, kv; } at[] = {
    { "gemma3", "Gemma3ForConditionalGeneration", "{}", 262208, 2304, 9216, 26, 8, 4 },
    { "gemma3", "Gemma3ForConditionalGeneration", "{\"model_type\":\"gemma3_text\",\"hidden_size\":2560,\"intermediate_size\":10240,\"num_hidden_layers\":34,"
      "\"rope_scaling\":{\"factor\":8.0,\"rope_type\":\"linear\"},\"sliding_window\":1024}", 262208, 2560, 10240, 34, 8, 4 },
    { "mistral3", "Mistral3ForConditionalGeneration", "{\"sliding_window\":null}", 32000, 4096, 14336, 32, 32, 8 },
    { "mistral3", "Mistral3ForConditionalGeneration", "{\"model_type\":\"ministral3\",\"rope_parameters\":{\"rope_type\":\"default\"}}", 131072, 4096, 14336, 34, 32, 8 },
    { "llava", "LlavaForConditionalGeneration", "{\"max_position_embeddings\":4096,\"vocab_size\":32064}", 32064, 4096, 11008, 32, 32, 32 } };
  begin("small");
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    save("config.json", json_pack("{s:s,s:[s],s:o,s:i}", "model_type", at[i].type, "architectures", at[i].architecture, "text_config",
      json_loads(at[i].text, 0, NULL), "hidden_size", 7));
    ck_assert_msg(config_open(&c, &m, dir, &why), "%s", why.text);
    ck_assert_msg(c.vocab_size == at[i].vocab && c.d_model == at[i].d && c.d_inner == at[i].inner && c.n_layers == at[i].layers && c.n_heads == at[i].heads
      && c.n_kv_heads == at[i].kv, "%zu", i);
    ck_assert(i != 1 || (c.head_dim == 256 && c.window == 1024 && c.rope.kind == ROPE_LINEAR && c.rope.factor == 8 && c.score_scale == 0.0625
      && c.tied && config_window(&c, 5) == 0 && config_window(&c, 4) == 1024));
    bool said = false;
    for (size_t k = 0; k < c.n_ignored; k++)
      said = said || (strcmp(c.ignored[k].field, "hidden_size") == 0 && strstr(c.ignored[k].reason, "text_config") != NULL);
    ck_assert(said); /* what the whole says of a size is not believed, and listed */
    config_close(&m, &c);
    ck_assert_uint_eq(m.all.live, 0);
  }
  end();
}
END_TEST

/* ---- what is wrong */
static const struct { const char *what, *field, *value, *words; } bad[] = {
  { "no settings of a text", "text_config", NULL, "text_config is missing; wanted: the settings of a model of texts, an object" },
  { "settings that are a list", "text_config", "[]", "text_config is []; wanted: the settings" },
  { "settings that are a name", "text_config", "\"gemma3_text\"", "text_config is \"gemma3_text\"; wanted: the settings" },
  { "empty settings", "text_config", "{}", "[262208, 2304]" },
  { "another class", "architectures", "[\"Gemma3ForSequenceClassification\"]", "architectures is [\"Gemma3ForSequenceClassification\"]; wanted: Gemma3ForConditionalGeneration" },
  { "another class within", "text_config.architectures", "[\"VLlama3ForCausalLM\"]", NULL },
  { "the class among others", "architectures", "[\"Gemma3Model\",\"Gemma3ForConditionalGeneration\"]", NULL },
  { "no class", "architectures", "[]", "architectures is []; wanted" },
  { "a class that is no list", "architectures", "3", "architectures is 3; wanted" },
  { "a null for a class", "architectures", "null", NULL },
  { "another model within", "text_config.model_type", "\"gemma3n_text\"", "model_type is \"gemma3n_text\"; wanted: gpt2, llama" },
  { "a number within", "text_config.model_type", "5", "model_type is 5; wanted: gpt2" },
  { "a wrapper within a wrapper", "text_config.model_type", "\"gemma3\"", "model_type is \"gemma3\"; wanted: gpt2" },
  { "an unknown field of the whole", "audio_config", "{\"x\":1}", "audio_config is {\"x\":1}; wanted: a field that this program knows" },
  { "an unknown field within", "text_config.strange", "1", "strange is 1; wanted: a field that this program knows" },
  { "an empty field of the whole", "audio_config", "{}", NULL },
  { "weights that are quantized", "quantization_config", "{\"quant_method\":\"fp8\"}", "quantization_config: the weights are quantized by fp8" },
  { "quantized within", "text_config.quantization_config", "{\"quant_method\":\"fp8\"}", "quantization_config: the weights are quantized by fp8" },
  { "a size below 0", "text_config.hidden_size", "-1", "hidden_size is -1; wanted: an integer" },
  { "a size that is null", "text_config.num_hidden_layers", "null", "num_hidden_layers is null; wanted: a value: it has no default" },
  { "a window of words", "text_config.sliding_window", "\"x\"", "sliding_window is \"x\"" },
  { "more layers than there are", "text_config.num_hidden_layers", "1000", "1000 layers; wanted: no more layers than the file has tensors" },
  { "fewer layers", "text_config.num_hidden_layers", "2", "language_model.model.layers.2.input_layernorm.weight is a tensor without use" },
  { "ends of the whole", "eos_token_id", "[1,2]", NULL },
  { "an end of the whole that is none", "eos_token_id", "\"x\"", "eos_token_id is \"x\"" },
  { "an end within goes before", "text_config.eos_token_id", "5", NULL },
};
enum { N_BAD = sizeof bad / sizeof *bad };
START_TEST(wrappers_that_are_wrong)
{
  for (int i = 0; i < N_BAD; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    begin("families/gemma3");
    wrap_settings("gemma3", "Gemma3ForConditionalGeneration");
    rename_tensors("language_model.model.", "language_model.", "vision_tower.x.weight");
    char path[400];
    variant_path(path, dir, "generation_config.json"), unlink(path); /* whose ends would count */
    variant_json(dir, "config.json", bad[i].field, bad[i].value);
    struct model *lm = model_open(&m, dir, &why);
    ck_assert_msg((lm != NULL) == (bad[i].words == NULL), "%s: %s", bad[i].what, why.text);
    if (lm == NULL) ck_assert_msg(strstr(why.text, bad[i].words) != NULL && strncmp(why.text, dir, strlen(dir)) == 0, "%s: %s", bad[i].what, why.text);
    else if (strcmp(bad[i].field, "eos_token_id") == 0) ck_assert(lm->config.n_eos == 2 && lm->config.eos[0] == 1);
    else if (strcmp(bad[i].field, "text_config.eos_token_id") == 0) ck_assert(lm->config.n_eos == 1 && lm->config.eos[0] == 5);
    model_close(&m, lm);
    ck_assert_msg(m.all.live == 0, "%s", bad[i].what);
    end();
  }
  tally("tests/suites/check_wrappers.c: wrappers that are wrong", N_BAD, 0, 0, "");
}
END_TEST

/* whether the head is the embedding once more, the whole says, or its class */
START_TEST(the_head_is_of_the_whole)
{
  static const struct { const char *type, *architecture, *outer, *inner; bool tied; } at[] = {
    { "gemma3", "Gemma3ForConditionalGeneration", NULL, NULL, true }, { "gemma3", "Gemma3ForConditionalGeneration", NULL, "false", true },
    { "gemma3", "Gemma3ForConditionalGeneration", "false", "true", false }, { "gemma3", "Gemma3ForConditionalGeneration", "null", NULL, true },
    { "mistral3", "Mistral3ForConditionalGeneration", NULL, "false", true }, { "mistral3", "Mistral3ForConditionalGeneration", "false", "false", false },
    { "mistral3", "Mistral3ForConditionalGeneration", "null", NULL, true },
    { "llava", "LlavaForConditionalGeneration", NULL, NULL, false }, { "llava", "LlavaForConditionalGeneration", "false", "true", true },
    { "llava", "LlavaForConditionalGeneration", "true", "false", true }, { "smolvlm", "SmolVLMForConditionalGeneration", NULL, "true", false },
    { "smolvlm", "SmolVLMForConditionalGeneration", "true", NULL, true }, { "idefics3", "Idefics3ForConditionalGeneration", NULL, NULL, false } };
  begin("small");
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    save("config.json", json_pack("{s:s,s:[s],s:{}}", "model_type", at[i].type, "architectures", at[i].architecture, "text_config"));
    if (at[i].outer != NULL) variant_json(dir, "config.json", "tie_word_embeddings", at[i].outer);
    if (at[i].inner != NULL) variant_json(dir, "config.json", "text_config.tie_word_embeddings", at[i].inner);
    ck_assert_msg(config_open(&c, &m, dir, &why), "%s", why.text);
    ck_assert_msg(c.tied == at[i].tied, "%zu", i);
    config_close(&m, &c);
    ck_assert_uint_eq(m.all.live, 0);
  }
  save("config.json", json_pack("{s:s,s:{},s:i}", "model_type", "gemma3", "text_config", "tie_word_embeddings", 1));
  struct memory m = { 0 };
  struct error why = { "" };
  struct model_config c;
  ck_assert(!config_open(&c, &m, dir, &why) && strstr(why.text, "tie_word_embeddings is 1; wanted: true or false") != NULL);
  end();
}
END_TEST

/* tensors of images belong to a wrapper's names only, and only these are passed over */
START_TEST(other_tensors_are_not_passed_over)
{
  static const struct { const char *body, *head, *images, *words; } at[] = { { "model.", "", "vision_tower.x.weight", "vision_tower.x.weight is a tensor without use" },
    { "language_model.model.", "language_model.", "audio_tower.x.weight", "audio_tower.x.weight is a tensor without use" },
    { "language_model.model.", "language_model.", "language_model.model.x.weight", "language_model.model.x.weight is a tensor without use" },
    { "model.language_model.", "", "model.vision_towers.weight", "model.vision_towers.weight is a tensor without use" },
    { "other_model.", "", NULL, "embed_tokens.weight is missing" } };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    struct memory m = { 0 };
    struct error why = { "" };
    begin("families/gemma3");
    wrap_settings("gemma3", "Gemma3ForConditionalGeneration");
    rename_tensors(at[i].body, at[i].head, at[i].images);
    struct model *lm = model_open(&m, dir, &why);
    ck_assert_msg(lm == NULL && strstr(why.text, at[i].words) != NULL, "%s: %s", at[i].words, why.text);
    ck_assert_uint_eq(m.all.live, 0);
    end();
  }
}
END_TEST

START_TEST(memory_runs_out)
{
  begin("families/gemma3");
  wrap_settings("gemma3", "Gemma3ForConditionalGeneration");
  rename_tensors("language_model.model.", "language_model.", "vision_tower.x.weight");
  for (uint64_t at = 1;; at++) {
    struct memory m = { .fail_at = at };
    struct error why = { "" };
    struct model *lm = model_open(&m, dir, &why);
    bool is_done = m.all.refused == 0;
    ck_assert_msg((lm != NULL) == is_done && (is_done || strstr(why.text, "out of memory") != NULL), "%d: %s", (int) at, why.text);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
    if (is_done) break;
  }
  end();
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wrappers");
  TCase *c = tcase_create("wrappers");
  tcase_add_loop_test(c, a_text_is_read_as_by_the_model_within, 0, N_WHOLE);
  tcase_add_loop_test(c, logits_are_those_of_the_library, 0, 4);
  tcase_add_test(c, a_stretched_gemma_is_the_same_in_both_forms);
  tcase_add_test(c, it_is_quantized_as_the_model_within);
  tcase_add_test(c, sizes_that_the_class_has_by_itself);
  tcase_add_test(c, wrappers_that_are_wrong);
  tcase_add_test(c, the_head_is_of_the_whole);
  tcase_add_test(c, other_tensors_are_not_passed_over);
  tcase_add_test(c, memory_runs_out);
  suite_add_tcase(s, c);
  return suite_run(s);
}
