/* config.c -- made from chapters/A3-files.w; change it there */

/* C.88  config.c */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "A3-files/config.h"

/* C.52  The state of reading settings */

struct settings {
  const char *path, *file;
  json_t *all;
  struct model_config *c;
  struct memory *m;
  struct error *why;
};
static bool setting_bad(struct settings *s, const char *name, json_t * found,
                        const char *wanted)
{
  char room[64];
  return error_found(s->why, s->path, name, json_excerpt(found, room), wanted);
}

/* C.53  A row of the table of fields */

struct setting;
typedef bool field_read(struct settings *s, const struct setting *f,
                        json_t * value);
struct setting {
  const char *name;
  unsigned of;
  bool required;
  field_read *read;
  size_t at;
  double least, most;
};
enum { GPT2 = 1, LLAMA = 2, MISTRAL = 4, QWEN2 = 8, QWEN3 = 16,
  LATER = LLAMA | MISTRAL | QWEN2 | QWEN3, ALL = GPT2 | LATER, MOST = 0x7fffffff
};

/* C.89  Readers and tables */

/* C.54  Read a number or a flag */

static bool read_count(struct settings *s, const struct setting *f, json_t * value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "an integer from %.0f to %.0f", f->least,
           f->most);
  double x = json_is_integer(value) ? (double)json_integer_value(value) : -1;
  if (x < f->least || x > f->most)
    return setting_bad(s, f->name, value, wanted);
  *(uint32_t *) ((char *)s->c + f->at) = (uint32_t) x;
  return true;
}

/* C.55  Read a number or a flag */

static bool read_real(struct settings *s, const struct setting *f, json_t * value)
{
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a number from %g to %g", f->least, f->most);
  double x = json_is_number(value) ? json_number_value(value) : f->least - 1;
  if (x < f->least || x > f->most)
    return setting_bad(s, f->name, value, wanted);
  *(double *)((char *)s->c + f->at) = x;
  return true;
}

static bool read_flag(struct settings *s, const struct setting *f, json_t * value)
{
  if (!json_is_boolean(value))
    return setting_bad(s, f->name, value, "true or false");
  *(bool *)((char *)s->c + f->at) = json_is_true(value);
  return true;
}

/* C.56  Insist on a value */

static bool read_true(struct settings *s, const struct setting *f, json_t * value)
{
  return json_is_true(value) || setting_bad(s, f->name, value, "true");
}

static bool read_false(struct settings *s, const struct setting *f, json_t * value)
{
  return json_is_false(value) || setting_bad(s, f->name, value, "false");
}

/* C.57  Insist on a value */

static bool read_activation(struct settings *s, const struct setting *f,
                            json_t * value)
{
  const char *wanted = s->c->gated ? "silu" : "gelu_new";
  const char *found = json_is_string(value) ? json_string_value(value) : "";
  bool same = strcmp(found, wanted) == 0
      || (!s->c->gated && strcmp(found, "gelu_pytorch_tanh") == 0);
  return same || setting_bad(s, f->name, value, wanted);
}

/* C.58  Read ids */

static bool read_eos(struct settings *s, const struct setting *f, json_t * value)
{
  size_t n = json_is_array(value) ? json_array_size(value) : 1;
  if (n > EOS_MOST)
    return setting_bad(s, f->name, value, "at most 16 ids");
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

static bool read_bos(struct settings *s, const struct setting *f, json_t * value)
{
  s->c->has_bos = read_count(s, f, value);
  return s->c->has_bos;
}

/* C.59  Read what must agree with something else */

static bool read_n_ctx(struct settings *s, const struct setting *f, json_t * value)
{
  return json_equal(value, json_object_get(s->all, "n_positions"))
      || setting_bad(s, f->name, value, "the same as n_positions");
}

/* C.60  Read what must agree with something else */

static bool read_layer_types(struct settings *s, const struct setting *f,
                             json_t * value)
{
  json_t *window = json_object_get(s->all, "sliding_window");
  const char *wanted = json_is_integer(window)
      && !json_is_false(json_object_get(s->all, "use_sliding_window"))
      ? "sliding_attention" : "full_attention";
  bool same = json_is_array(value);
  for (size_t i = 0; i < json_array_size(value); i++) {
    json_t *type = json_array_get(value, i);
    same = same && json_is_string(type)
        && strcmp(json_string_value(type), wanted) == 0;
  }
  return same || setting_bad(s, f->name, value, wanted);
}

/* C.66  The fields that are known to be harmless */

struct harmless_entry {
  const char *name, *reason;
};

/* C.67  Fields about the file or another program */

static const struct harmless_entry harmless_file[] =
    { {"transformers_version", "says who wrote the file"},
{"_name_or_path", "says where the file lay"},
{"_commit_hash", "says where the file lay"},
{"torch_dtype", "the weights' own header says their type"},
{"dtype", "the weights' own header says their type"},
{"is_llama_config", "says what model_type says"},
{"transformers.js_config", "settings of another program"},
{"task_specific_params", "suggestions to a user interface"},
{"reorder_and_upcast_attn", "the precision of another program"},
{"pretraining_tp", "cuts a product into parts, and adds them up again"},
{"use_cache", "what is kept changes no result"},
{"pad_token_id", "we never pad"},
{"max_window_layers", "without a window there are none"},
{"output_attentions", "what another program returns"},
{"output_hidden_states", "what another program returns"},
{"return_dict", "what another program returns"},
{NULL, NULL}
};

/* C.68  Fields of training and of other heads */

static const struct harmless_entry harmless_training[] =
    { {"initializer_range", "used before training only"},
{"attn_pdrop", "dropout: used in training only"},
{"embd_pdrop", "dropout: used in training only"},
{"resid_pdrop", "dropout: used in training only"},
{"attention_dropout", "dropout: used in training only"},
{"gradient_checkpointing", "used in training only"},
{"summary_activation", "belongs to a classifier"},
{"summary_first_dropout", "belongs to a classifier"},
{"summary_proj_to_labels", "belongs to a classifier"},
{"summary_type", "belongs to a classifier"},
{"summary_use_proj", "belongs to a classifier"},
{"id2label", "belongs to a classifier"},
{"label2id", "belongs to a classifier"},
{"num_labels", "belongs to a classifier"},
{NULL, NULL}
};

/* C.69  The advice that is known to be harmless */

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
{NULL, NULL}
};

/* C.70  What steers a reading */

struct tables {
  unsigned family;
  const struct setting *used[3];
  const struct harmless_entry *harmless[3];
};
#define at(member) offsetof(struct model_config, member)
static bool read_nothing(struct settings *s, const struct setting *f,
                         json_t * value)
{
  (void)s, (void)f, (void)value;
  return true;
}

/* C.61  The fields of config.json that are used */

/* C.62  Fields of GPT-2 */

static const struct setting gpt2_field[] =
    { {"n_positions", GPT2, true, read_count, at(n_positions), 1, MOST},
{"n_ctx", GPT2, false, read_n_ctx, 0, 0, 0},
{"n_embd", GPT2, true, read_count, at(d_model), 1, MOST},
{"n_layer", GPT2, true, read_count, at(n_layers), 1, MOST},
{"n_head", GPT2, true, read_count, at(n_heads), 1, MOST},
{"n_inner", GPT2, false, read_count, at(d_inner), 1, MOST},
{"activation_function", GPT2, false, read_activation, 0, 0, 0},
{"layer_norm_epsilon", GPT2, false, read_real, at(norm_eps), 0, 1},
{"scale_attn_weights", GPT2, false, read_true, 0, 0, 0},
{"scale_attn_by_inverse_layer_idx", GPT2, false, read_false, 0, 0, 0},
{NULL, 0, false, NULL, 0, 0, 0}
};

/* C.63  Fields of the later families */

static const struct setting later_field[] =
    { {"max_position_embeddings", LATER, true, read_count, at(n_positions), 1,
       MOST},
{"hidden_size", LATER, true, read_count, at(d_model), 1, MOST},
{"num_hidden_layers", LATER, true, read_count, at(n_layers), 1, MOST},
{"num_attention_heads", LATER, true, read_count, at(n_heads), 1, MOST},
{"num_key_value_heads", LATER, false, read_count, at(n_kv_heads), 1, MOST},
{"head_dim", LATER, false, read_count, at(head_dim), 1, MOST},
{"intermediate_size", LATER, true, read_count, at(d_inner), 1, MOST},
{"hidden_act", LATER, false, read_activation, 0, 0, 0},
{"rms_norm_eps", LATER, false, read_real, at(norm_eps), 0, 1},
{"attention_bias", LLAMA | QWEN3, false, read_flag, at(out_bias), 0, 0},
{"mlp_bias", LLAMA, false, read_flag, at(mlp_bias), 0, 0},
{"sliding_window", MISTRAL, false, read_count, at(window), 1, MOST},
{"sliding_window", QWEN2 | QWEN3, false, read_nothing, 0, 0, 0},
{"use_sliding_window", QWEN2 | QWEN3, false, read_false, 0, 0, 0},
{"layer_types", LATER, false, read_layer_types, 0, 0, 0},
{NULL, 0, false, NULL, 0, 0, 0}
};

/* C.64  Fields that every family has */

static const struct setting common_field[] =
    { {"vocab_size", ALL, true, read_count, at(vocab_size), 1, MOST},
{"tie_word_embeddings", ALL, false, read_flag, at(tied), 0, 0},
{"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},
{"eos_token_id", ALL, false, read_eos, 0, 0, 0},
{"rope_theta", LATER, false, read_nothing, 0, 0, 0},
{"rope_scaling", LATER, false, read_nothing, 0, 0, 0},
{"rope_parameters", LATER, false, read_nothing, 0, 0, 0},
{"model_type", ALL, true, read_nothing, 0, 0, 0},
{"architectures", ALL, false, read_nothing, 0, 0, 0},
{NULL, 0, false, NULL, 0, 0, 0}
};

/* C.65  The fields of generation_config.json that are used */

static const struct setting advice_field[] =
    { {"do_sample", ALL, false, read_flag, at(sampling.do_sample), 0, 0},
{"temperature", ALL, false, read_real, at(sampling.temperature), 0, 1e4},
{"top_k", ALL, false, read_count, at(sampling.top_k), 0, MOST},
{"top_p", ALL, false, read_real, at(sampling.top_p), 0, 1},
{"min_p", ALL, false, read_real, at(sampling.min_p), 0, 1},
{"typical_p", ALL, false, read_real, at(sampling.typical_p), 1e-9, 1},
{"repetition_penalty", ALL, false, read_real,
 at(sampling.repetition_penalty), 1e-9, 1e9},
{"no_repeat_ngram_size", ALL, false, read_count,
 at(sampling.no_repeat_ngram_size), 0, MOST},
{"bos_token_id", ALL, false, read_bos, at(bos), 0, MOST},
{"eos_token_id", ALL, false, read_eos, 0, 0, 0},
{NULL, 0, false, NULL, 0, 0, 0}
};

/* C.75  The families */

static const struct family_row {
  const char *type, *architecture;
  unsigned bit;
  struct model_config always;
} family[] =
    { {"gpt2", "GPT2LMHeadModel", GPT2, {.layer_norm = true,.norm_eps = 1e-5,
                                         .learned_positions = true,.qkv_bias =
                                         true,.out_bias = true,
                                         .mlp_bias = true,.tied = true}},
{"llama", "LlamaForCausalLM", LLAMA, {.gated = true,.norm_eps = 1e-6}},
{"mistral", "MistralForCausalLM", MISTRAL, {.gated = true,
                                            .norm_eps = 1e-6}},
{"qwen2", "Qwen2ForCausalLM", QWEN2, {.gated = true,.norm_eps = 1e-6,
                                      .qkv_bias = true}},
{"qwen3", "Qwen3ForCausalLM", QWEN3, {.gated = true,.norm_eps = 1e-6,
                                      .qk_norm = true}}
};

/* C.90  From one field to two files */

/* C.74  Remember what was ignored */

bool config_ignore(struct model_config *c, struct memory *m, const char *file,
                   const char *field, const char *reason, struct error *why)
{
  if (c->n_ignored == c->ignored_room) {
    size_t room = c->ignored_room == 0 ? 32 : 2 * c->ignored_room;
    struct ignored_field *grown = memory_grow(m, FOR_OTHER, c->ignored,
                                              c->ignored_room, room, sizeof *grown,
                                              why);
    if (grown == NULL)
      return false;
    c->ignored = grown, c->ignored_room = room;
  }
  char *copy = memory_take(m, FOR_OTHER, strlen(field) + 1, 1, why);
  if (copy == NULL)
    return false;
  strcpy(copy, field);
  c->ignored[c->n_ignored++] = (struct ignored_field) { file, copy, reason };
  return true;
}

/* C.71  Account for every field */

static const struct setting *used_find(const struct tables *t, const char *name)
{
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct setting * f = t->used[i]; f->name != NULL; f++)
      if (strcmp(f->name, name) == 0 && (f->of & t->family) != 0)
        return f;
  return NULL;
}

static const char *harmless_reason(const struct tables *t, const char *name)
{
  for (int i = 0; t->harmless[i] != NULL; i++)
    for (const struct harmless_entry * h = t->harmless[i]; h->name != NULL; h++)
      if (strcmp(h->name, name) == 0)
        return h->reason;
  return NULL;
}

/* C.72  Use a field, ignore it, or refuse it */

static bool account_for(struct settings *s, const char *name, json_t * value,
                        const struct tables *t)
{
  const struct setting *f = used_find(t, name);
  const char *reason = harmless_reason(t, name);
  if (f != NULL)
    return json_is_null(value) || f->read(s, f, value);
  bool says_no = json_is_null(value) || json_is_false(value)
      || (json_is_string(value) && json_string_length(value) == 0)
      || (json_is_array(value) && json_array_size(value) == 0)
      || (json_is_object(value) && json_object_size(value) == 0);
  if (reason == NULL && says_no)
    reason = "null, false or empty";
  if (reason != NULL)
    return config_ignore(s->c, s->m, s->file, name, reason, s->why);
  return setting_bad(s, name, value, "a field that this program knows");
}

/* C.73  Read all fields of a file */

static bool settings_read(struct settings *s, const struct tables *t)
{
  for (void *i = json_object_iter(s->all); i != NULL;
       i = json_object_iter_next(s->all, i))
    if (!account_for(s, json_object_iter_key(i), json_object_iter_value(i), t))
      return false;
  for (int i = 0; t->used[i] != NULL; i++)
    for (const struct setting * f = t->used[i]; f->name != NULL; f++) {
      json_t *value = json_object_get(s->all, f->name);
      if (f->required && (f->of & t->family) != 0
          && (value == NULL || json_is_null(value)))
        return setting_bad(s, f->name, value, "a value: it has no default");
    }
  return true;
}

/* C.76  Find the family */

static const struct family_row *family_find(struct settings *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; i < 5 && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), family[i].type) != 0)
      continue;

/* C.77  Return the row if 'list' has its architecture */

    bool same = list == NULL || json_is_null(list);
    for (size_t k = 0; k < json_array_size(list); k++) {
      json_t *name = json_array_get(list, k);
      same = same || (json_is_string(name)
                      && strcmp(json_string_value(name),
                                family[i].architecture) == 0);
    }
    if (same)
      return &family[i];
    setting_bad(s, "architectures", list, family[i].architecture);
    return NULL;

  }
  setting_bad(s, "model_type", type, "gpt2, llama, mistral, qwen2 or qwen3");
  return NULL;
}

/* C.78  Derive the sizes that were not given */

static bool settings_derive(struct settings *s)
{
  struct model_config *c = s->c;
  const char *heads = c->learned_positions ? "n_head" : "num_attention_heads";
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0)
    c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0)
    c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");

/* C.79  Derive the width of the MLP, and what rotation and biases ask for */

  if (!c->learned_positions && c->head_dim % 2 != 0)
    return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
                       "an even number: rotations turn pairs");
  if (c->d_inner == 0 && c->d_model > MOST / 4)
    return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
                       "at most 536870911");
  if (c->d_inner == 0)
    c->d_inner = 4 * c->d_model;
  if (c->gated && c->out_bias)
    c->qkv_bias = true;

  return true;
}

/* C.82  Read the kind of stretching */

/* C.83  The fields of a stretching */

static const struct setting stretching[] =
    { {"factor", ALL, true, read_real, at(rope.factor), 1, 1e9},
{"low_freq_factor", ALL, true, read_real, at(rope.low_freq_factor), 1e-9, 1e9},
{"high_freq_factor", ALL, true, read_real,
 at(rope.high_freq_factor), 1e-9, 1e9},
{"original_max_position_embeddings", ALL, true, read_count,
 at(rope.original), 1, MOST},
{"rope_type", ALL, false, read_nothing, 0, 0, 0},
{"type", ALL, false, read_nothing, 0, 0, 0},
{"rope_theta", ALL, false, read_nothing, 0, 0, 0},
{NULL, 0, false, NULL, 0, 0, 0}
};

static bool rope_kind(struct settings *s, const char *where, json_t * given)
{
  json_t *type = json_object_get(given, "rope_type");
  if (type == NULL)
    type = json_object_get(given, "type");
  const char *kind = json_is_string(type) ? json_string_value(type) : "";
  s->c->rope.llama3 = strcmp(kind, "llama3") == 0;
  if (!s->c->rope.llama3 && strcmp(kind, "default") != 0)
    return setting_bad(s, where, given, "a rope_type of default or llama3");
  struct settings inner = *s;
  inner.all = given;
  struct tables t = { ALL, {stretching + (s->c->rope.llama3 ? 0 : 4)}, {NULL} };
  if (!settings_read(&inner, &t))
    return false;
  if (s->c->rope.llama3
      && s->c->rope.high_freq_factor <= s->c->rope.low_freq_factor)
    return setting_bad(s, where, given, "high_freq_factor above low_freq_factor");
  return true;
}

/* C.80  Read how positions are rotated */

static bool settings_rope(struct settings *s)
{
  json_t *old = json_object_get(s->all, "rope_scaling");
  json_t *five = json_object_get(s->all, "rope_parameters");
  bool both = json_is_object(old) && json_is_object(five);
  if (both && !json_equal(old, five))
    return setting_bad(s, "rope_scaling", old, "the same as rope_parameters");
  const char *name = json_is_object(five) ? "rope_parameters" : "rope_scaling";
  json_t *given = json_is_object(five) ? five : old;
  if (given != NULL && !json_is_null(given) && !json_is_object(given))
    return setting_bad(s, name, given, "an object or null");

/* C.81  Read 'theta' from either place */

  json_t *theta = json_object_get(s->all, "rope_theta");
  if (json_is_null(theta))
    theta = NULL;
  json_t *inner = json_object_get(given, "rope_theta");
  if (theta != NULL && inner != NULL
      && json_number_value(theta) != json_number_value(inner))
    return setting_bad(s, "rope_theta", theta, "the one in rope_parameters");
  s->c->rope.theta = 10000;
  struct setting f =
      { "rope_theta", ALL, false, read_real, at(rope.theta), 1, 1e18 };
  if (inner == NULL)
    inner = theta;
  if (inner != NULL && !read_real(s, &f, inner))
    return false;

  return given == NULL || json_is_null(given) || rope_kind(s, name, given);
}

/* C.84  Read one of the two files */

static bool settings_file(struct settings *s, const char *directory,
                          const char *file, char *path, size_t room)
{
  s->path = path, s->file = file;
  int n = snprintf(path, room, "%s/%s", directory, file);
  if (n < 0 || (size_t)n >= room)
    return error_say(s->why, "%s: the path is too long", directory);
  s->all = json_read(path, SETTINGS_MOST, s->why);
  if (s->all == NULL)
    return false;
  if (json_is_object(s->all))
    return true;
  return setting_bad(s, "this", s->all, "an object");
}

static bool settings_advice(struct settings *s)
{
  struct tables t = { ALL, {advice_field}, {harmless_advice} };
  return settings_read(s, &t);
}

/* C.85  Read the model's own settings */

static bool settings_model(struct settings *s)
{
  const struct family_row *f = family_find(s);
  if (f == NULL)
    return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_config) {.temperature = 1,.top_p = 1,
    .typical_p = 1,.repetition_penalty = 1
  };
  struct tables t = { f->bit,
    {f->bit == GPT2 ? gpt2_field : later_field, common_field},
    {harmless_file, harmless_training}
  };
  return settings_read(s, &t) && settings_derive(s)
      && (s->c->learned_positions || settings_rope(s));
}

/* C.86  Open and close the settings */

bool config_open(struct model_config *c, struct memory *m, const char *directory,
                 struct error *why)
{
  char path[4096];
  struct settings s = {.c = c,.m = m,.why = why };
  *c = (struct model_config) {.family = NULL };
  bool ok = settings_file(&s, directory, "config.json", path, sizeof path)
      && settings_model(&s);
  json_decref(s.all);
  s.all = NULL;
  const char *advice = "generation_config.json";
  snprintf(path, sizeof path, "%s/%s", directory, advice);
  if (ok && access(path, F_OK) == 0)
    ok = settings_file(&s, directory, advice, path, sizeof path)
        && settings_advice(&s);
  json_decref(s.all);
  if (!ok)
    config_close(m, c);
  return ok;
}

/* C.87  Open and close the settings */

void config_close(struct memory *m, struct model_config *c)
{
  for (size_t i = 0; i < c->n_ignored; i++)
    memory_give(m, FOR_OTHER, (char *)(uintptr_t) c->ignored[i].field,
                strlen(c->ignored[i].field) + 1, 1);
  memory_give(m, FOR_OTHER, c->ignored, c->ignored_room, sizeof *c->ignored);
  *c = (struct model_config) {.family = NULL };
}
