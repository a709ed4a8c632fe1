/* config.c -- The settings of a model from its config.json and
   generation_config.json.
   made from workshop/03-models.w; change it there

   Every field of both files is used, or in a list of harmless ones with the reason,
   or says nothing (null, false, empty), or is refused by name; so no setting that
   matters can be overlooked. What is read is in tables, and families are bits in
   their rows. Readers of single fields come first, because the tables name them; then
   the tables; then what walks through them. Missing fields are looked for last: a
   field that is spelt differently is unknown and missing at once, and its name helps
   more. Nothing that is kept points into the parsed files. This file knows nothing of
   GGUF; open.c stands above both. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "families/families.h"
#include "families/rope_scaling.h"

/* <The state of reading settings> */
struct tables;
struct config_reader {
  const char *path, *file; /* the path for messages; the file's bare name */
  json_t *all;
  const struct tables *t; /* those that are being read */
  struct config_options *o;
  json_t *strange; /* unknown fields: an object of the file's values */
  struct model_config *c;
  struct memory *m;
  struct error *why;
};

/* Every complaint has the path of the file, the field, its value and what was wanted. */
static bool setting_bad(struct config_reader *s, const char *name, json_t *found,
  const char *wanted)
{
  char buffer[64];
  return error_found(s->why, s->path, name, jsonfile_excerpt(found, buffer), wanted);
}

/* <A row of the table of fields> */
struct config_field;
typedef bool field_read(struct config_reader *s, const struct config_field *f,
  json_t *value);
struct config_field {
  const char *name;
  unsigned of; /* families */
  bool required;
  field_read *read;
  struct field_place { size_t at; double min, max; } to; /* in struct model_config */
};
enum { NULL_COUNTS = 1 << 30, /* null is a value of this field, not its absence */
  MOST = 0x7fffffff };

/* <Readers and tables> */

/* <Read a number or a flag> */

/* JSON tells integers, reals and truth values apart: none of 12.0, "12" and true is
   the integer 12. A value of another type becomes -1, which no row allows. */
static bool read_count(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "an integer from %.0f to %.0f", f->to.min,
    f->to.max);
  double x = json_is_integer(value) ? (double) json_integer_value(value) : -1;
  if (x < f->to.min || x > f->to.max) return setting_bad(s, f->name, value, wanted);
  *(uint32_t *) ((char *) s->c + f->to.at) = (uint32_t) x;
  return true;
}

/* A real may be written as an integer: some files have 1 for 1.0. */
static bool read_real(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a number from %g to %g", f->to.min, f->to.max);
  double x = json_is_number(value) ? json_number_value(value) : f->to.min - 1;
  if (x < f->to.min || x > f->to.max) return setting_bad(s, f->name, value, wanted);
  *(double *) ((char *) s->c + f->to.at) = x;
  return true;
}

static bool read_flag(struct config_reader *s, const struct config_field *f,
json_t *value)
{
  if (!json_is_boolean(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->to.at) = json_is_true(value);
  return true;
}

/* <Insist on a value> */

/* Related families multiply here by a number; ours have no such factor, but some
   tools write the field all the same. */
static bool read_one(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return (json_is_number(value) && json_number_value(value) == 1)
    || setting_bad(s, f->name, value, "1: there is no such factor here");
}

/* False in models that were changed to read texts instead of writing them. The
   library takes null for false, so null counts as a value. */
static bool read_true(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return json_is_true(value)
    || setting_bad(s, f->name, value, "true: no row sees what comes after it");
}

static bool read_truth(struct config_reader *s, const struct config_field *f,
json_t *value)
{
  if (!json_is_boolean(value) && !json_is_null(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *) ((char *) s->c + f->to.at) = json_is_true(value);
  return true;
}

/* <Read the name of a curve> */

/* The exact GELU is not the one with a hyperbolic tangent: a text would look right,
   and not be the model's. */
static bool read_activation(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  static const struct { const char *name; enum activation_kind kind; } curve[] =
    { {"silu", ACTIVATION_SILU}, {"swish", ACTIVATION_SILU},
    {"gelu_new", ACTIVATION_GELU_TANH}, {"gelu_fast", ACTIVATION_GELU_TANH},
    {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
    {"gelu", ACTIVATION_GELU_ERF}, {"gelu_python", ACTIVATION_GELU_ERF} };
  const char *found = json_is_string(value) ? json_string_value(value) : "";
  for (size_t i = 0; i < sizeof curve / sizeof curve[0]; i++)
    if (strcmp(found, curve[i].name) == 0) {
      s->c->activation = curve[i].kind;
      return true;
    }
  return setting_bad(s, f->name, value, "silu, gelu_new or gelu");
}

/* <Read a setting of the table> */
#define setting(name) read_setting, { SETTING_##name, 0, 0 }
#define NOWHERE { 0, 0, 0 }

/* The row has the number of a setting instead of a place; place and bounds are in the
   table of settings. */
static bool read_setting(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  const struct setting *to = &config_setting[f->to.at];
  struct config_field at = *f;
  at.to = (struct field_place) { to->at, to->min, to->max };
  switch (to->kind) {
  case SETTING_COUNT: return read_count(s, &at, value);
  case SETTING_REAL: return read_real(s, &at, value);
  case SETTING_FLAG: return read_flag(s, &at, value);
  case SETTING_CURVE: return read_activation(s, &at, value);
  }
  return false;
}

/* <Read ids> */

/* One id or a list. The file of advice is read second, and its value replaces the
   first, since it corrects the older kind of file; which file it was is kept for the
   user who asks why a text ended. */
static bool read_eos(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  size_t n = json_is_array(value) ? json_array_size(value) : 1;
  if (n > CONFIG_MAX_EOS) return setting_bad(s, f->name, value, "at most 16 ids");
  for (size_t i = 0; i < n; i++) {
    json_t *id = json_is_array(value) ? json_array_get(value, i) : value;
    if (!json_is_integer(id) || json_integer_value(id) < 0
        || json_integer_value(id) > MOST)
      return setting_bad(s, f->name, value, "an id or a list of ids");
    s->c->eos[i] = (uint32_t) json_integer_value(id);
  }
  s->c->n_eos = (uint32_t) n, s->c->eos_from = s->file;
  return true;
}

/* Any id is possible, even 0; so a flag says whether there is one. */
static bool read_bos(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  s->c->has_bos = read_count(s, f, value);
  return s->c->has_bos;
}

/* <Read what must agree with something else> */

/* If the two names of the context differ, nobody can know which was meant. */
static bool read_n_ctx(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  return json_equal(value, json_object_get(s->all, "n_positions"))
    || setting_bad(s, f->name, value, "the same as n_positions");
}

/* <The fields that are known to be harmless> */
struct harmless_entry { const char *name, *reason; };

/* <Fields about the file or another program> */
static const struct harmless_entry harmless_file[] =
  { {"transformers_version", "says who wrote the file"},
  {"_name_or_path", "says where the file lay"},
  {"name_or_path", "says where the file lay"},
  {"auto_map", "says where the program of the makers lies"},
  {"tokenizer_class", "says which class of another program reads the tokenizer"},
  {"model_max_length", "how long texts may be, for another program's tokenizer"},
  {"prefix", "suggestions to a user interface"},
  {"_commit_hash", "says where the file lay"},
  {"torch_dtype", "the weights' own header says their type"},
  {"dtype", "the weights' own header says their type"},
  {"is_llama_config", "says what model_type says"},
  {"transformers.js_config", "settings of another program"},
  {"task_specific_params", "suggestions to a user interface"},
  {"reorder_and_upcast_attn", "the precision of another program"},
  {"max_sequence_length", "says what max_position_embeddings says"},
  {"max_length", "lengths are the caller's"},
  {"_attn_implementation_autoset", "how another program computes"},
  {"_attn_implementation", "how another program computes"},
  {"attn_implementation", "how another program computes"},
  {"use_flash_attention", "how another program computes"},
  {"use_flash_attention_2", "how another program computes"},
  {"use_flash_attn", "how another program computes"},
  {"use_bfloat16", "the precision of another program"},
  {"torchscript", "how another program computes"},
  {"chunk_size_feed_forward", "how another program computes"},
  {"unsloth_fixed", "says who wrote the file"},
  {"unsloth_version", "says who wrote the file"},
  {"output_past", "what is kept changes no result"},
  {"pretraining_tp", "cuts a product into parts, and adds them up again"},
  {"use_cache", "what is kept changes no result"},
  {"pad_token_id", "we never pad"},
  {"output_attentions", "what another program returns"},
  {"output_hidden_states", "what another program returns"},
  {"return_dict", "what another program returns"},
  {NULL, NULL} };

/* <Fields of training and of other heads> */
static const struct harmless_entry harmless_training[] =
  { {"initializer_range", "used before training only"},
  {"n_special", "belongs to GPT-2's predecessor"},
  {"predict_special_tokens", "belongs to GPT-2's predecessor"},
  {"attn_pdrop", "dropout: used in training only"},
  {"embd_pdrop", "dropout: used in training only"},
  {"resid_pdrop", "dropout: used in training only"},
  {"attention_dropout", "dropout: used in training only"},
  {"gradient_checkpointing", "used in training only"},
  {"neftune_noise_alpha", "used in training only"},
  {"router_aux_loss_coef", "used in training only"},
  {"finetuning_task", "belongs to a classifier"},
  {"problem_type", "belongs to a classifier"},
  {"summary_activation", "belongs to a classifier"},
  {"summary_first_dropout", "belongs to a classifier"},
  {"summary_proj_to_labels", "belongs to a classifier"},
  {"summary_type", "belongs to a classifier"},
  {"summary_use_proj", "belongs to a classifier"},
  {"id2label", "belongs to a classifier"},
  {"label2id", "belongs to a classifier"},
  {"num_labels", "belongs to a classifier"},
  {"_num_labels", "belongs to a classifier"},
  {NULL, NULL} };

/* <Fields of advice among the settings> */
static const char advice[] = "advice for sampling, read from generation_config.json";
static const struct harmless_entry harmless_sampling[] =
  { {"do_sample", advice}, {"temperature", advice}, {"top_k", advice},
  {"top_p", advice}, {"min_p", advice}, {"typical_p", advice},
  {"epsilon_cutoff", advice}, {"eta_cutoff", advice},
  {"repetition_penalty", advice}, {"no_repeat_ngram_size", advice},
  {"encoder_no_repeat_ngram_size", advice}, {"diversity_penalty", advice},
  {"bad_words_ids", advice}, {"suppress_tokens", advice},
  {"begin_suppress_tokens", advice}, {"forced_bos_token_id", advice},
  {"forced_eos_token_id", advice}, {"remove_invalid_values", advice},
  {"exponential_decay_length_penalty", advice}, {"min_length", advice},
  {"max_new_tokens", advice}, {"num_beams", advice}, {"num_beam_groups", advice},
  {"num_return_sequences", advice}, {"early_stopping", advice},
  {"length_penalty", advice}, {"output_scores", advice},
  {"return_dict_in_generate", advice}, {NULL, NULL} };

/* <The advice that is known to be harmless> */
static const struct harmless_entry harmless_advice[] =
  { {"transformers_version", "says who wrote the file"},
  {"_from_model_config", "says who wrote the file"},
  {"pad_token_id", "we never pad"},
  {"max_length", "lengths are the caller's"},
  {"max_new_tokens", "lengths are the caller's"},
  {"min_length", "lengths are the caller's"},
  {"min_new_tokens", "lengths are the caller's"},
  {"num_beams", "a search is asked for by option"},
  {"num_return_sequences", "a search is asked for by option"},
  {"early_stopping", "a search is asked for by option"},
  {"length_penalty", "a search is asked for by option"},
  {"use_cache", "what is kept changes no result"},
  {"cache_implementation", "where rows are kept changes no result"},
  {"output_attentions", "what another program returns"},
  {"output_hidden_states", "what another program returns"},
  {"output_scores", "what another program returns"},
  {"return_dict_in_generate", "what another program returns"},
  {"output_logits", "what another program returns"},
  {"return_legacy_cache", "what another program returns"},
  {"cache_config", "where rows are kept changes no result"},
  {"prefill_chunk_size", "how much is read at once changes no result"},
  {"disable_compile", "how another program computes"},
  {"low_memory", "how another program computes"},
  {NULL, NULL} };

static const struct harmless_entry harmless_other[] =
  { {"is_assistant", "guessing changes no result"},
  {"num_assistant_tokens", "guessing changes no result"},
  {"num_assistant_tokens_schedule", "guessing changes no result"},
  {"assistant_confidence_threshold", "guessing changes no result"},
  {"assistant_lookbehind", "guessing changes no result"},
  {"target_lookbehind", "guessing changes no result"},
  {"prompt_lookup_num_tokens", "guessing changes no result"},
  {"max_matching_ngram_size", "guessing changes no result"},
  {"num_beam_groups", "a search is asked for by option"},
  {"diversity_penalty", "a search is asked for by option"},
  {"encoder_no_repeat_ngram_size", "belongs to models with an encoder"},
  {"encoder_repetition_penalty", "belongs to models with an encoder"},
  {"_commit_hash", "says where the file lay"},
  {"trust_remote_code", "whether a program of the makers may run"},
  {"user_token_id", "turns are set by the template"},
  {"assistant_token_id", "turns are set by the template"},
  {"chat_format", "turns are set by the template"},
  {"max_window_size", "lengths are the caller's"}, {NULL, NULL} };

/* <What steers a reading> */
struct tables {
  unsigned family;
  const struct config_field *used[4];
  const struct harmless_entry *harmless[4];
};
#define field_at(member, min, max) { offsetof(struct model_config, member), min, max }

/* For fields that are read as a group elsewhere, because the meaning of one depends
   on another. Here they are only known. */
static bool read_nothing(struct config_reader *s, const struct config_field *f,
  json_t *value)
{
  (void) s;
  (void) f;
  (void) value;
  return true;
}

/* <The fields of config.json that are used> */

/* <Fields of GPT-2> */
static const struct config_field gpt2_field[] =
  { {"n_positions", GPT2, false, setting(n_positions)},
  {"n_ctx", GPT2, false, read_n_ctx, NOWHERE},
  {"n_embd", GPT2, true, setting(d_model)},
  {"n_layer", GPT2, true, setting(n_layers)},
  {"n_head", GPT2, true, setting(n_heads)},
  {"n_inner", GPT2, false, setting(d_inner)},
  {"activation_function", GPT2, false, setting(activation)},
  {"layer_norm_epsilon", GPT2, false, setting(norm_eps)},
  {"scale_attn_weights", GPT2, false, setting(scaled)},
  {"scale_attn_by_inverse_layer_idx", GPT2, false, setting(scaled_by_layer)},
  {NULL, 0, false, NULL, NOWHERE} };

/* <Fields of the later families> */
static const struct config_field later_field[] =
  { {"max_position_embeddings", LATER, false, setting(n_positions)},
  {"hidden_size", LATER, true, setting(d_model)},
  {"num_hidden_layers", LATER, true, setting(n_layers)},
  {"num_attention_heads", LATER, true, setting(n_heads)},
  {"num_key_value_heads", LLAMA, false, setting(n_kv_heads)},
  {"num_key_value_heads", LATER, true, setting(n_kv_heads)},
  {"head_dim", LATER, false, setting(head_dim)},
  {"intermediate_size", LATER, true, setting(d_inner)},
  {"hidden_act", LATER, false, setting(activation)},
  {"rms_norm_eps", LATER, false, setting(norm_eps)},
  {"attention_bias", LLAMA | QWEN3, false, setting(out_bias)},
  {"mlp_bias", LLAMA, false, setting(mlp_bias)},
  {NULL, 0, false, NULL, NOWHERE} };

/* <Fields of windows> */
static const struct config_field window_field[] =
  { {"sliding_window", MISTRAL | QWEN2 | QWEN3, false, setting(window)},
  {"use_sliding_window", QWEN2 | QWEN3, false, setting(window_used)},
  {"max_window_layers", QWEN2 | QWEN3, false, setting(window_from)},
  {"layer_types", LATER, false, read_nothing, NOWHERE},
  {NULL, 0, false, NULL, NOWHERE} };

/* <Fields that every family has> */
static const struct config_field common_field[] =
  { {"vocab_size", ALL, true, setting(vocab_size)},
  {"tie_word_embeddings", ALL, false, setting(tied)},
  {"bos_token_id", ALL, false, read_bos, field_at(bos, 0, MOST)},
  {"eos_token_id", ALL, false, read_eos, NOWHERE},
  {"rope_theta", LATER, false, read_nothing, NOWHERE},
  {"rope_scaling", LATER, false, read_nothing, NOWHERE},
  {"rope_parameters", LATER, false, read_nothing, NOWHERE},
  {"model_type", ALL, true, read_nothing, NOWHERE},
  {"architectures", ALL, false, read_nothing, NOWHERE},
  {"is_causal", ALL | NULL_COUNTS, false, read_true, NOWHERE},
  {"partial_rotary_factor", LATER, false, read_one, NOWHERE},
  {"embedding_multiplier", ALL, false, read_one, NOWHERE},
  {"residual_multiplier", ALL, false, read_one, NOWHERE},
  {"logits_scaling", ALL, false, read_one, NOWHERE},
  {"logit_scale", ALL, false, read_one, NOWHERE},
  {NULL, 0, false, NULL, NOWHERE} };

/* <The fields of generation_config.json that are used> */
static const struct config_field advice_field[] =
  { {"do_sample", ALL, false, read_flag, field_at(sampling.do_sample, 0, 0)},
  {"temperature", ALL, false, read_real, field_at(sampling.temperature, 0, 1e4)},
  {"top_k", ALL, false, read_count, field_at(sampling.top_k, 0, MOST)},
  {"top_p", ALL, false, read_real, field_at(sampling.top_p, 0, 1)},
  {"min_p", ALL, false, read_real, field_at(sampling.min_p, 0, 1)},
  {"typical_p", ALL, false, read_real, field_at(sampling.typical_p, 1e-9, 1)},
  {"repetition_penalty", ALL, false, read_real,
    field_at(sampling.repetition_penalty, 1e-9, 1e9)},
  {"no_repeat_ngram_size", ALL, false, read_count,
    field_at(sampling.no_repeat_ngram_size, 0, MOST)},
  {"bos_token_id", ALL, false, read_bos, field_at(bos, 0, MOST)},
  {"eos_token_id", ALL, false, read_eos, NOWHERE},
  {NULL, 0, false, NULL, NOWHERE} };

/* <The table of families> */
const struct family_row model_families[] =
  { [FAMILY_GPT2] = {"gpt2", "GPT2LMHeadModel", NULL, "gpt2",
    {"hf-gpt2", "gguf-gpt2"}, { .family = "gpt2", .n_positions = 1024, .layer_norm = true, .norm_eps = 1e-5,
    .learned_positions = true, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .tied = true, .scaled = true,
    .activation = ACTIVATION_GELU_TANH }},
  [FAMILY_LLAMA] = {"llama", "LlamaForCausalLM", "LLaMAForCausalLM", "llama",
    {"hf-llama", "gguf-llama"}, { .family = "llama", .n_positions = 2048, .gated = true, .norm_eps = 1e-6,
    .scaled = true }},
  [FAMILY_MISTRAL] = {"mistral", "MistralForCausalLM", NULL, "llama",
    {"hf-llama", "gguf-llama"}, { .family = "mistral", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .window = 4096, .window_used = true }},
  [FAMILY_QWEN2] = {"qwen2", "Qwen2ForCausalLM", NULL, "qwen2",
    {"hf-llama", "gguf-qwen"}, { .family = "qwen2", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qkv_bias = true, .window = 4096, .window_from = 28 }},
  [FAMILY_QWEN3] = {"qwen3", "Qwen3ForCausalLM", NULL, "qwen3",
    {"hf-llama", "gguf-qwen"}, { .family = "qwen3", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qk_norm = true, .head_dim = 128, .window = 4096,
    .window_from = 28 }} };
_Static_assert(sizeof model_families / sizeof model_families[0] == N_FAMILIES,
  "a family without a row");

/* <The tables of a family> */
static struct tables tables_of(const struct family_row *f)
{
  unsigned bit = 1u << (f - model_families);
  return (struct tables) { bit,
    { bit == GPT2 ? gpt2_field : later_field, window_field, common_field },
    { harmless_file, harmless_training, harmless_sampling } };
}

/* <From one field to two files> */

/* <Remember what was ignored> */

/* The name may belong to the parsed file, which is freed after the reading: so a
   copy. */
bool config_ignore(struct model_config *c, struct memory *m, const char *file,
  const char *field, const char *reason, struct error *why)
{
  struct ignored_field *p = memory_reserve(m, MEMORY_OTHER, c->ignored, &c->ignored_cap,
    c->n_ignored + 1, 32, sizeof *p, why);
  if (p == NULL) return false;
  c->ignored = p;
  char *copy = memory_alloc(m, MEMORY_OTHER, strlen(field) + 1, 1, why);
  if (copy == NULL) return false;
  strcpy(copy, field);
  c->ignored[c->n_ignored++] = (struct ignored_field) { file, copy, reason };
  return true;
}

/* <Account for every field> */

/* A field may have several rows, for different families; the first that has our bit
   counts. */
static const struct config_field *used_find(const struct tables *t, const char *name)
{
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct config_field *f = t->used[i]; f->name != NULL; f++)
      if (strcmp(f->name, name) == 0 && (f->of & t->family) != 0) return f;
  return NULL;
}

static const char *harmless_reason(const struct tables *t, const char *name)
{
  for (int i = 0; t->harmless[i] != NULL; i++)
    for (const struct harmless_entry *h = t->harmless[i]; h->name != NULL; h++)
      if (strcmp(h->name, name) == 0) return h->reason;
  return NULL;
}

/* <Meet an unknown field> */
const char config_ignored_by_caller[] = "ignored, as you asked";

/* Kept with its value until all fields have been read, so that one sentence can name
   every unknown one. */
static bool read_unknown(struct config_reader *s, const char *name, json_t *value)
{
  for (size_t i = 0; i < s->o->n_ignore; i++)
    if (strcmp(s->o->ignore[i], name) == 0) {
      if (s->o->used != NULL) s->o->used[i] = true;
      return config_ignore(s->c, s->m, s->file, name, config_ignored_by_caller,
        s->why);
    }
  if (s->o->tolerant) {
    s->o->n_unknown++;
    return config_ignore(s->c, s->m, s->file, name, NULL, s->why);
  }
  if (s->strange == NULL) s->strange = json_object();
  return json_object_set(s->strange, name, value) == 0
    || error_say(s->why, "%s: no memory for the unknown fields", s->path);
}

/* <Use a field, ignore it, or refuse it> */

/* A later library saves the field of a new feature with every model, switched off in
   most. A zero is no such no: a threshold of zero may mean something. */
static bool says_nothing(const json_t *value)
{
  return json_is_null(value) || json_is_false(value)
    || (json_is_string(value) && json_string_length(value) == 0)
    || (json_is_array(value) && json_array_size(value) == 0)
    || (json_is_object(value) && json_object_size(value) == 0);
}

/* A used field that is null keeps its default, but for those in which null is a
   value. */
static bool read_field(struct config_reader *s, const char *name, json_t *value,
  const struct tables *t)
{
  const struct config_field *f = used_find(t, name);
  if (f != NULL)
    return (json_is_null(value) && (f->of & NULL_COUNTS) == 0) || f->read(s, f, value);
  const char *reason = harmless_reason(t, name);
  if (reason == NULL && says_nothing(value)) reason = "null, false or empty";
  if (reason != NULL)
    return config_ignore(s->c, s->m, s->file, name, reason, s->why);
  return read_unknown(s, name, value);
}

/* <Name the unknown fields> */

/* One field is shown with its value; of several there is room for the names, and
   those that do not fit are counted. */
static bool refuse_unknown(struct config_reader *s)
{
  char names[240] = "", wanted[] = "fields that this program knows";
  size_t n = 0, shown = 0, all = json_object_size(s->strange);
  void *i = json_object_iter(s->strange);
  s->o->n_unknown = all;
  if (all == 1) return setting_bad(s, json_object_iter_key(i),
    json_object_iter_value(i), "a field that this program knows");
  for (; i != NULL; i = json_object_iter_next(s->strange, i)) {
    const char *name = json_object_iter_key(i);
    if (n + strlen(name) + 3 > sizeof names) break;
    n += (size_t) snprintf(names + n, sizeof names - n, "%s%s",
      shown > 0 ? ", " : "", name);
    shown++;
  }
  return shown == all
    ? error_say(s->why, "%s: unknown: %s; wanted: %s", s->path, names,
      wanted)
    : error_say(s->why, "%s: unknown: %s and %zu more; wanted: %s", s->path,
      names, all - shown, wanted);
}

/* <Read all fields of a file> */
static bool settings_read(struct config_reader *s, const struct tables *t)
{
  s->t = t;
  for (void *i = json_object_iter(s->all); i != NULL;
       i = json_object_iter_next(s->all, i))
    if (!read_field(s, json_object_iter_key(i), json_object_iter_value(i), t))
      return false;
  if (s->strange != NULL) return refuse_unknown(s);
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct config_field *f = t->used[i]; f->name != NULL; f++) {
      json_t *value = json_object_get(s->all, f->name);
      if (f->required && used_find(t, f->name) == f
          && (value == NULL || json_is_null(value)))
        return setting_bad(s, f->name, value, "a value: it has no default");
    }
  return true;
}

/* <Ask the table of families> */
const struct model_config *config_family(size_t i)
{
  return i < N_FAMILIES ? &model_families[i].always : NULL;
}

/* For the figure of the families, and for tests. */
bool config_reads(size_t i, const char *field)
{
  struct tables t = tables_of(&model_families[i]);
  return used_find(&t, field) != NULL;
}

const struct family_row *family_named(const char *type)
{
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(model_families[i].type, type) == 0) return &model_families[i];
  return NULL;
}

/* Two families may share a name in GGUF files; it is listed once. */
const char *family_list(bool gguf, char list[200])
{
  const char *name[N_FAMILIES];
  size_t n = 0, at = 0;
  for (int i = 0; i < N_FAMILIES; i++) {
    const char *one = gguf ? model_families[i].gguf : model_families[i].type;
    bool met = false;
    for (size_t k = 0; k < n; k++) met = met || strcmp(name[k], one) == 0;
    if (!met) name[n++] = one;
  }
  for (size_t i = 0; i < n && at < 200; i++) {
    const char *before = i + 1 < n ? ", " : " or ";
    at += (size_t) snprintf(list + at, 200 - at, "%s%s", i == 0 ? "" : before, name[i]);
  }
  return list;
}

/* <Find the family> */

/* Some families have tensors with exactly Llama's names and put their norms
   elsewhere: they would load, run, and write nonsense. So the name must be in the
   table, and the class must not contradict it. */
static const struct family_row *family_find(struct config_reader *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; config_family(i) != NULL && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), model_families[i].type) != 0) continue;
    /* <Return the row if list has its architecture> */
    bool same = list == NULL || json_is_null(list);
    for (size_t k = 0; k < json_array_size(list); k++) {
      const char *name = json_string_value(json_array_get(list, k));
      if (name == NULL) continue;
      same = same || strcmp(name, model_families[i].architecture) == 0
        || (model_families[i].once != NULL && strcmp(name, model_families[i].once) == 0);
    }
    if (same) return &model_families[i];
    setting_bad(s, "architectures", list, model_families[i].architecture);
    return NULL;
  }
  char found[160], of_type[64], of_list[64], all[200];
  snprintf(found, sizeof found, "%s%s%s", jsonfile_excerpt(type, of_type),
    json_array_size(list) > 0 ? ", for " : "",
    json_array_size(list) > 0 ? jsonfile_excerpt(list, of_list) : "");
  error_found(s->why, s->path, "model_type", found, family_list(false, all));
  return NULL;
}

/* <Derive the sizes that were not given> */

/* Sizes that are not given follow from others. A head_dim that is given need not
   divide anything: the heads together may be wider than the row, or narrower. */
static bool settings_derive(struct config_reader *s)
{
  struct model_config *c = s->c;
  const char *heads = s->t->family == GPT2 ? "n_head" : "num_attention_heads";
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");
  /* <Derive the width of the MLP, and what rotation and biases ask for> */
  if (!c->learned_positions && c->head_dim % 2 != 0)
    return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
      "an even number: rotations turn pairs");
  if (c->d_inner == 0 && c->d_model > MOST / 4)
    return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
      "at most 536870911");
  if (c->d_inner == 0) c->d_inner = 4 * c->d_model;
  if (c->gated && c->out_bias) c->qkv_bias = true;
  return true;
}

/* <Read the list of layers> */

/* A Mistral with two kinds of layers is another model: without use_sliding_window all
   words must agree with the window. */
static const char *layer_words(const struct model_config *c, bool choice)
{
  if (c->window == 0) return "full_attention: there is no window";
  return choice ? "full_attention or sliding_attention"
    : "sliding_attention";
}

static bool settings_layers(struct config_reader *s, json_t *list)
{
  struct model_config *c = s->c;
  bool choice = used_find(s->t, "use_sliding_window") != NULL;
  size_t n = json_array_size(list);
  if (n != c->n_layers || n > CONFIG_MAX_LISTED)
    return setting_bad(s, "layer_types", list, "a word for each layer");
  c->window_listed = c->window > 0 && choice;
  for (size_t i = 0; i < n; i++) {
    const char *word = json_string_value(json_array_get(list, i));
    bool near = word != NULL && strcmp(word, "sliding_attention") == 0;
    bool full = word != NULL && strcmp(word, "full_attention") == 0;
    if (!(near && c->window > 0) && !(full && (c->window == 0 || choice)))
      return setting_bad(s, "layer_types", list, layer_words(c, choice));
    if (c->window_listed && near)
      c->windowed[i / 8] = (uint8_t) (c->windowed[i / 8] | 1u << i % 8);
  }
  return true;
}

/* <Find out which layers have a window> */

/* null means no window here, though in most fields it means the default. In Qwen's
   files a window counts only where use_sliding_window is true. If the layers are
   listed, the list decides. */
static bool settings_window(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *list = json_object_get(s->all, "layer_types");
  json_t *window = json_object_get(s->all, "sliding_window");
  if (json_is_null(window) || !c->window_used) c->window = 0;
  if (list != NULL && !json_is_null(list) && !settings_layers(s, list))
    return false;
  if (c->window == 0 || c->window_listed) c->window_from = 0;
  return true;
}

/* <Read the kind of stretching> */

/* <The fields of a stretching> */
enum { PLAIN = 1 << ROPE_PLAIN, LINEAR = 1 << ROPE_LINEAR,
  LLAMA3 = 1 << ROPE_LLAMA3, YARN = 1 << ROPE_YARN };
static const struct config_field stretching[] =
  { {"factor", LINEAR | LLAMA3, true, read_real, field_at(rope.factor, 1, 1e9)},
  {"factor", YARN, false, read_real, field_at(rope.factor, 1, 1e9)},
  {"low_freq_factor", LLAMA3, true, read_real,
    field_at(rope.low_freq_factor, 1e-9, 1e9)},
  {"high_freq_factor", LLAMA3, true, read_real,
    field_at(rope.high_freq_factor, 1e-9, 1e9)},
  {"original_max_position_embeddings", LLAMA3 | YARN, false, read_count,
    field_at(rope.original, 1, MOST)},
  {"partial_rotary_factor", ALL, false, read_one, NOWHERE},
  {"rope_type", ALL, false, read_nothing, NOWHERE},
  {"type", ALL, false, read_nothing, NOWHERE},
  {"rope_theta", ALL, false, read_nothing, NOWHERE},
  {NULL, 0, false, NULL, NOWHERE} };
static const struct harmless_entry harmless_stretching[] =
  { {"finetuned", "says what was done to the weights"}, {NULL, NULL} };

static const struct config_field yarn_field[] =
  { {"beta_fast", YARN, false, read_real, field_at(rope.beta_fast, 1e-9, 1e9)},
  {"beta_slow", YARN, false, read_real, field_at(rope.beta_slow, 1e-9, 1e9)},
  {"attention_factor", YARN, false, read_real,
    field_at(rope.attention_factor, 1e-9, 1e9)},
  {"mscale", YARN, false, read_real, field_at(rope.mscale, 0, 1e9)},
  {"mscale_all_dim", YARN, false, read_real, field_at(rope.mscale_all_dim, 0, 1e9)},
  {"truncate", YARN | NULL_COUNTS, false, read_truth,
    field_at(rope.truncate, 0, 0)},
  {NULL, 0, false, NULL, NOWHERE} };

/* <Work out what a stretching leaves open> */

/* <List the scales that do not count> */

/* The two scales count only together, and only without an attention_factor. The
   library ignores them silently otherwise; they are listed here. */
static bool rope_scales(struct config_reader *s, json_t *given)
{
  static const char *const name[] = { "mscale", "mscale_all_dim" };
  const struct rope_config *r = &s->c->rope;
  bool both = r->mscale > 0 && r->mscale_all_dim > 0;
  for (int i = 0; i < 2 && (!both || r->attention_factor > 0); i++)
    if (json_is_number(json_object_get(given, name[i]))
        && !config_ignore(s->c, s->m, s->file, name[i], both
          ? "there is an attention_factor" : "half of a pair that counts together",
          s->why)) return false;
  return true;
}

/* yarn would divide by the logarithm of a base of 1. Its attention factor is worked
   out last, so that the pass finds it in the settings whether or not it was given. */
static bool rope_derive(struct config_reader *s, const char *where, json_t *given)
{
  struct rope_config *r = &s->c->rope;
  if (r->original == 0) r->original = s->c->n_positions;
  if (r->kind == ROPE_YARN && r->factor == 0)
    r->factor = (double) s->c->n_positions / r->original;
  if (r->kind == ROPE_LLAMA3 && r->high_freq_factor <= r->low_freq_factor)
    return setting_bad(s, where, given, "high_freq_factor above low_freq_factor");
  if (r->kind == ROPE_YARN && r->beta_fast <= r->beta_slow)
    return setting_bad(s, where, given, "beta_fast above beta_slow");
  if (r->kind == ROPE_YARN && r->theta <= 1)
    return setting_bad(s, where, given, "a rope_theta above 1");
  if (!rope_scales(s, given)) return false;
  if (r->kind == ROPE_YARN) r->attention_factor = rope_scaled_attention(r);
  return true;
}

/* The description is read as if it were a file of its own: the kinds of stretching
   take the place of the families, and an unknown member is refused. */
static bool rope_kind(struct config_reader *s, const char *where, json_t *given)
{
  static const char *const kinds[] = { "default", "linear", "llama3", "yarn" };
  json_t *type = json_object_get(given, "rope_type");
  if (type == NULL) type = json_object_get(given, "type");
  const char *kind = json_is_string(type) ? json_string_value(type) : "";
  unsigned k = 0;
  while (type != NULL && k < 4 && strcmp(kinds[k], kind) != 0) k++;
  if (k == 4)
    return setting_bad(s, where, given,
      "a rope_type of default, linear, llama3 or yarn");
  struct tables t = { 1u << k, { stretching, yarn_field }, { harmless_stretching } };
  struct config_reader inner = *s;
  inner.all = given, s->c->rope.kind = (enum rope_kind) k;
  bool ok = settings_read(&inner, &t);
  s->strange = inner.strange;
  return ok && rope_derive(s, where, given);
}

/* <Read theta from either place> */

/* 10000 is the base of the first paper on rotary positions. */
static bool settings_theta(struct config_reader *s, json_t *given)
{
  json_t *theta = json_object_get(s->all, "rope_theta");
  if (json_is_null(theta)) theta = NULL;
  json_t *inner = json_object_get(given, "rope_theta");
  if (theta != NULL && inner != NULL
      && json_number_value(theta) != json_number_value(inner))
    return setting_bad(s, "rope_theta", theta, "the one in rope_parameters");
  s->c->rope.theta = 10000;
  struct config_field f = { "rope_theta", ALL, false, read_real,
    field_at(rope.theta, 1, 1e18) };
  if (inner == NULL) inner = theta;
  return inner == NULL || read_real(s, &f, inner);
}

/* <Read how positions are rotated> */

/* Version 4 of the library has rope_theta and rope_scaling, version 5 has
   rope_parameters. If only one of the two places was edited, nobody can know which is
   right. */
static bool settings_rope(struct config_reader *s)
{
  json_t *old = json_object_get(s->all, "rope_scaling");
  json_t *five = json_object_get(s->all, "rope_parameters");
  if (json_is_null(old)) old = NULL;
  if (json_is_null(five)) five = NULL;
  if (old != NULL && five != NULL && !json_equal(old, five))
    return setting_bad(s, "rope_scaling", old, "the same as rope_parameters");
  const char *name = five != NULL ? "rope_parameters" : "rope_scaling";
  json_t *given = five != NULL ? five : old;
  if (given != NULL && !json_is_object(given))
    return setting_bad(s, name, given, "an object or null");
  return settings_theta(s, given)
    && (given == NULL || rope_kind(s, name, given));
}

/* <Read one of the two files> */

/* The path is kept, because every message begins with it. */
static bool settings_file(struct config_reader *s, const char *directory,
  const char *file, char path[PATH_CAP])
{
  s->path = path, s->file = file;
  if (!path_join(path, directory, file, s->why)) return false;
  s->all = jsonfile_read(path, JSONFILE_MAX_SETTINGS, s->why);
  if (s->all == NULL) return false;
  if (json_is_object(s->all)) return true;
  return setting_bad(s, "this", s->all, "an object");
}

/* The advice has no families: all bits are set. */
static bool settings_advice(struct config_reader *s)
{
  struct tables t = { ALL, { advice_field }, { harmless_advice, harmless_other } };
  return settings_read(s, &t);
}

/* <Refuse weights that were quantized> */

/* Checked before all others: such weights have tensors with other names and types,
   and a message about missing tensors would hide the reason. */
static bool is_quantized(struct config_reader *s)
{
  static const char field[] = "quantization_config";
  json_t *given = json_object_get(s->all, field);
  json_t *method = json_object_get(given, "quant_method");
  if (given == NULL || says_nothing(given)) return false;
  for (size_t i = 0; i < s->o->n_ignore; i++)
    if (strcmp(s->o->ignore[i], field) == 0) return false;
  char by[EXCERPT_MAX + 4] = "bitsandbytes";
  if (json_is_string(method))
    text_excerpt(json_string_value(method), json_string_length(method), 40, by);
  error_say(s->why, "%s: %s: the weights are quantized by %s;"
    " wanted: the model before that, in F32, F16 or BF16", s->path, field, by);
  return true;
}

/* <Read the model's own settings> */

/* The family first, since it decides which fields count. Advice begins with neutral
   values, so that a sampler can apply all of it without asking what was given. */
static bool settings_model(struct config_reader *s)
{
  if (is_quantized(s)) return false;
  const struct family_row *f = family_find(s);
  if (f == NULL) return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_defaults) { .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 };
  s->c->rope = (struct rope_config) { .beta_fast = 32, .beta_slow = 1,
    .truncate = true };
  struct tables t = tables_of(f);
  return settings_read(s, &t) && settings_derive(s) && settings_window(s)
    && (s->c->learned_positions || settings_rope(s));
}

/* <Open and close the settings> */

/* <Look for unknown fields in the second file> */

/* A user who has been told of all unknown fields of the first file, and has named
   them, should not then be told of others in the second. Any other fault of the
   second file is reported when it is really read. */
static void add_unknown(struct config_reader *s, const char *directory,
  const char *file, char path[PATH_CAP])
{
  struct error first = *s->why, *why = s->why, other;
  size_t n = s->o->n_unknown;
  json_decref(s->strange);
  s->strange = NULL;
  s->why = &other;
  s->o->n_unknown = 0;
  if (settings_file(s, directory, file, path)) settings_advice(s);
  if (s->strange != NULL) error_say(why, "%s; %s", first.text, other.text);
  s->o->n_unknown += n;
}

/* The second file may be absent, so we ask whether it is there: one that is there and
   cannot be read is an error like any other. */
bool config_read_directory(struct model_config *c, struct memory *m,
  const char *directory, struct config_options *o, struct error *why)
{
  char path[PATH_CAP];
  struct config_reader s = { .c = c, .m = m, .o = o, .why = why };
  *c = (struct model_config) { .family = NULL };
  bool ok = settings_file(&s, directory, "config.json", path)
    && settings_model(&s);
  if (!ok && !path_find(path, directory, "config.json", F_OK))
    misfit_path(directory, "config.json", why);
  json_decref(s.all);
  s.all = NULL;
  const char *second = "generation_config.json";
  bool there = path_find(path, directory, second, F_OK);
  if (ok && there)
    ok = settings_file(&s, directory, second, path) && settings_advice(&s);
  else if (there && s.strange != NULL) add_unknown(&s, directory, second, path);
  json_decref(s.all);
  json_decref(s.strange);
  if (!ok) config_close(m, c);
  return ok;
}

/* Emptied, so that closing it a second time does nothing. */
void config_close(struct memory *m, struct model_config *c)
{
  for (size_t i = 0; i < c->n_ignored; i++)
    memory_free(m, (char *) (uintptr_t) c->ignored[i].field);
  memory_free(m, c->ignored);
  *c = (struct model_config) { .family = NULL };
}
