/* config.c -- the settings of a model, from its config.json and generation_config.json.

   Every field of both files is used, or in a list of harmless ones with the reason,
   or says nothing (null, false, empty), or is refused by name; so no setting that
   matters can be overlooked. What is read is in tables, and families are bits in
   their rows. fields.inc has the tables of fields that are used, with the functions
   that read a single one; harmless.inc those that are not; wrapper.inc opens the settings
   of models that see; here is what walks through them. Nothing that is kept points into the parsed files. This file knows nothing of
   GGUF; open.c stands above both. */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "safetensors/excerpt.h"
#include "safetensors/jsonfile.h"
#include "safetensors/misfit.h"
#include "families/families.h"
#include "families/fields.h"
#include "families/other_kinds.h"
#include "families/rope_scaling.h"

/* Every complaint has the path of the file, the field, its value and what was wanted. */
static bool setting_bad(struct config_reader *s, const char *name, json_t *found,
  const char *wanted)
{
  char buffer[64];
  return error_found(s->why, s->path, name, jsonfile_excerpt(found, buffer), wanted);
}

#include "families/fields.inc"
#include "families/harmless.inc"

static void mark(uint8_t *bits, uint32_t i)
{ bits[i / 8] = (uint8_t) (bits[i / 8] | 1u << i % 8); }

/* the only place that decides which tables count for a family */
static struct tables tables_of(const struct family_row *f)
{
  unsigned bit = 1u << (f - model_families);
  return (struct tables) { bit,
    { bit == GPT2 ? gpt2_field : later_field, window_field, switch_field, common_field },
    { harmless_file, harmless_training, harmless_sampling } };
}

/* inspect shows what was ignored. The name may belong to the parsed file, which is freed after
   the reading: so a copy. */
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

const char config_ignored_by_caller[] = "ignored, as you asked";

/* The caller may have asked for this field to be ignored, or may want to see all. Otherwise it
   is kept with its value until all fields have been read, so that one sentence can name every
   unknown one. */
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

/* Does the value say no? A later library saves the field of a new feature with every model,
   switched off in most. A zero is no such no: a threshold of zero may mean something. */
static bool says_nothing(const json_t *value)
{
  return json_is_null(value) || json_is_false(value)
    || (json_is_string(value) && json_string_length(value) == 0)
    || (json_is_array(value) && json_array_size(value) == 0)
    || (json_is_object(value) && json_object_size(value) == 0);
}

/* Used, or harmless, or saying nothing, or unknown. A used field that is null keeps its
   default, but for those in which null is a value. */
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

/* Missing fields are looked for last: the first fault of a file is more likely an unknown
   name, and often both faults are a single field, spelt differently. */
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
          && (value == NULL || (json_is_null(value) && (f->of & NULL_COUNTS) == 0)))
        return setting_bad(s, f->name, value, "a value: it has no default");
    }
  return true;
}

const struct model_config *config_family(size_t i)
{
  return i < N_FAMILIES ? &model_families[i].always : NULL;
}

/* For the figure of the families, and for tests. */
bool config_reads(size_t i, const char *field)
{
  struct tables t = tables_of(&model_families[i]);
  const struct config_field *f = used_find(&t, field);
  return f != NULL && f->read != read_one;
}

/* Some families have tensors with exactly Llama's names and put their norms elsewhere: they
   would load, run, and write nonsense. So the name must be in the table, and the class must
   not contradict it: a checkpoint for classification has the same type and no head that we
   could use. A missing list contradicts nothing, since old files have none; of several names
   one that matches is enough, since a file may serve more than one class of a program. The
   first conversions of Llama were made before the library had settled how to spell its class.
   What is refused is refused by both names. */
static const struct family_row *family_find(struct config_reader *s)
{
  json_t *type = json_object_get(s->all, "model_type");
  json_t *list = json_object_get(s->all, "architectures");
  for (size_t i = 0; config_family(i) != NULL && json_is_string(type); i++) {
    if (strcmp(json_string_value(type), model_families[i].type) != 0) continue;
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
  char found[240], of_type[64], of_list[64], all[FAMILY_LIST];
  const char *kind = other_kind(json_string_value(type));
  snprintf(found, sizeof found, "%s%s%s%s", jsonfile_excerpt(type, of_type),
    json_array_size(list) > 0 ? ", for " : "",
    json_array_size(list) > 0 ? jsonfile_excerpt(list, of_list) : "", kind);
  error_found(s->why, s->path, "model_type", found, *kind != '\0' ? OTHER_KIND_WANTED : family_list(false, all));
  return NULL;
}

/* Falcon has three ways to share heads of keys, and two or one norms. What the fields mean was never
   written down but in the library: the old architecture has one head of keys or as many as of queries,
   and one norm for both halves; the new one says how many heads, and has two norms unless it says 1. */
static bool settings_falcon(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *given = json_object_get(s->all, "num_ln_in_parallel_attn");
  bool is_new = json_is_true(json_object_get(s->all, "new_decoder_architecture"));
  bool one = !json_is_false(json_object_get(s->all, "multi_query"));
  bool none = given == NULL || json_is_null(given);
  if (!none && !(json_is_integer(given) && (json_integer_value(given) == 1
      || (is_new && json_integer_value(given) == 2))))
    return setting_bad(s, "num_ln_in_parallel_attn", given,
      "1, or 2 in the new decoder architecture");
  if (is_new && !c->parallel)
    return setting_bad(s, "parallel_attn", json_object_get(s->all, "parallel_attn"),
      "true in the new decoder architecture");
  if (!is_new) c->n_kv_heads = one ? 1 : c->n_heads;
  c->shared_norm = c->parallel && !(is_new && (none || json_integer_value(given) == 2));
  return true;
}

/* Which layers of a model with experts have an MLP after all: those that a list names, and, if only every
   so-manieth has experts, the others. A number beyond the layers names none. */
static bool settings_dense(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *list = json_object_get(s->all, "mlp_only_layers");
  bool some = json_array_size(list) > 0 || c->sparse_every > 1;
  if (list != NULL && !json_is_null(list) && !json_is_array(list))
    return setting_bad(s, "mlp_only_layers", list, "a list of layers");
  if (some && c->n_layers > CONFIG_MAX_LISTED)
    return setting_bad(s, "num_hidden_layers", json_object_get(s->all, "num_hidden_layers"),
      "at most 1024 layers, if some have an MLP");
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *one = json_array_get(list, i);
    if (!json_is_integer(one) || json_integer_value(one) < 0)
      return setting_bad(s, "mlp_only_layers", list, "numbers of layers");
    if (json_integer_value(one) >= c->n_layers) continue;
    mark(c->dense, (uint32_t) json_integer_value(one)), c->some_dense = true;
  }
  for (uint32_t i = 0; c->sparse_every > 1 && i < c->n_layers; i++)
    if ((i + 1) % c->sparse_every != 0) mark(c->dense, i), c->some_dense = true;
  return true;
}

/* Some families have no other width than that of their experts. */
static bool settings_experts(struct config_reader *s)
{
  struct model_config *c = s->c;
  if ((s->t->family & EXPERTS) == 0) return true;
  if (c->n_experts == 0)
    return setting_bad(s, "num_experts", NULL, "a value: it has no default");
  if (c->n_chosen > c->n_experts)
    return setting_bad(s, "num_experts_per_tok", json_object_get(s->all, "num_experts_per_tok"),
      "at most the number of experts");
  if (c->d_expert == 0) c->d_expert = c->d_inner;
  return settings_dense(s);
}

/* Sizes that are not given follow from others: as many heads of keys as of queries, and heads
   that divide the width. A remainder means that the file is wrong. A head_dim that is given
   need not divide anything: the heads together may be wider than the row, or narrower. A
   rotation turns pairs, so a head must have an even number of numbers. In GPT-2 an MLP is four
   times as wide as the row; a width whose quadruple would not fit into 32 bits is refused
   before we multiply. A family with one switch for all biases of attention means queries, keys
   and values as well as the output. */
static bool settings_derive(struct config_reader *s)
{
  struct model_config *c = s->c;
  const char *heads = s->t->family == GPT2 ? "n_head" : "num_attention_heads";
  if (s->t->family == FALCON && !settings_falcon(s)) return false;
  json_t *found = json_object_get(s->all, heads);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return setting_bad(s, heads, found, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return setting_bad(s, heads, found, "a multiple of num_key_value_heads");
  if (c->d_inner == 0 && c->d_model > MOST / 4)
    return setting_bad(s, "n_embd", json_object_get(s->all, "n_embd"),
      "at most 536870911");
  if (c->d_inner == 0) c->d_inner = 4 * c->d_model;
  if (c->root_embedding) c->embedding_scale = sqrt((double) c->d_model);
  return settings_experts(s);
}

/* How many numbers of a head are turned: an even number, since rotations turn pairs, and one that is
   cut off as the library cuts it. */
static bool settings_rotary(struct config_reader *s)
{
  struct model_config *c = s->c;
  const char *name = s->t->family == NEOX ? "rotary_pct" : "partial_rotary_factor";
  double part = c->rotary_part > 0 ? c->rotary_part : 1;
  c->rotary = (uint32_t) (c->head_dim * part);
  if (part == 1 && c->rotary % 2 != 0)
    return setting_bad(s, "head_dim", json_object_get(s->all, "head_dim"),
      "an even number: rotations turn pairs");
  if (c->rotary % 2 != 0 || c->rotary == 0)
    return setting_bad(s, name, json_object_get(s->all, name),
      "a part of a head that is an even number: rotations turn pairs");
  if (c->rope.kind == ROPE_LONG && (c->rope.n_divisors[0] != c->rotary / 2
      || c->rope.n_divisors[1] != c->rotary / 2))
    return setting_bad(s, "rope_scaling", json_object_get(s->all, "rope_scaling"),
      "a short and a long factor for each pair that is turned");
  if (c->rotary == c->head_dim) c->rotary = 0;
  return true;
}

/* A list has a word for each layer. A family without use_sliding_window has no choice, and all
   words must agree with the window: a Mistral with two kinds of layers is another model, with
   another name. */
static const char *layer_words(const struct model_config *c, bool choice)
{
  if (c->window == 0) return "full_attention: there is no window";
  return choice ? "full_attention or sliding_attention"
    : "sliding_attention";
}

/* A word is wrong if it is neither of the two, if it asks for a window when there is none, or
   if it denies one that the family always has. */
static bool settings_layers(struct config_reader *s, json_t *list)
{
  struct model_config *c = s->c;
  bool choice = (s->t->family & BY_LAYER) != 0;
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

void config_mark_windows(struct model_config *c)
{
  c->window_listed = true;
  for (uint32_t i = 0; i < c->n_layers; i++)
    if ((i + 1) % c->window_pattern != 0) mark(c->windowed, i);
}

void config_mark_unturned(struct model_config *c)
{
  for (uint32_t i = 0; i < c->n_layers && c->unturned_every > 0; i++)
    if ((i + 1) % c->unturned_every == 0) mark(c->unturned, i), c->some_unturned = true;
}

/* Without a list a pattern says which layers have no window: every so-manieth, counted from 1. Exaone
   may also write its pattern as letters, L for a window, which are repeated; then the last layer never
   has one. */
static bool settings_pattern(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *p = json_object_get(s->all, "sliding_window_pattern");
  bool letters = s->t->family == EXAONE4 && json_string_length(p) > 0;
  const char *word = letters ? json_string_value(p) : "";
  if (s->t->family == EXAONE4 && p != NULL && !json_is_null(p) && !letters) {
    struct config_field f = { "sliding_window_pattern", ALL, false, read_count,
      field_at(window_pattern, 1, MOST) };
    if (!read_count(s, &f, p)) return false;
  }
  if (letters && strspn(word, "LG") != strlen(word))
    return setting_bad(s, "sliding_window_pattern", p, "letters L and G, or a number");
  if (c->n_layers > CONFIG_MAX_LISTED)
    return setting_bad(s, "num_hidden_layers", json_object_get(s->all, "num_hidden_layers"),
      "at most 1024 layers, if some have a window");
  if (!letters) config_mark_windows(c);
  c->window_listed = true;
  for (uint32_t i = 0; letters && i + 1 < c->n_layers; i++)
    if (word[i % strlen(word)] == 'L') mark(c->windowed, i);
  return true;
}

/* Four fields say which layers have a window. Here null means no window, though in most fields
   it means the default. In Qwen's files a window counts only if use_sliding_window is true,
   and then from layer max_window_layers on; the published files have a window and switch it
   off. Newer files list the kind of each layer, and then the list decides. In a SmolLM3 without
   a list the layers that turn nothing have the window. */
static bool settings_window(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *list = json_object_get(s->all, "layer_types");
  json_t *window = json_object_get(s->all, "sliding_window");
  bool listed = list != NULL && !json_is_null(list);
  if (json_is_null(window) || !c->window_used) c->window = 0;
  if (listed && !settings_layers(s, list)) return false;
  if (!listed && c->window > 0 && c->window_pattern > 0 && !settings_pattern(s)) return false;
  if (!listed && c->window > 0 && s->t->family == SMOLLM3) {
    c->window_listed = true;
    memcpy(c->windowed, c->unturned, sizeof c->windowed);
  }
  if (c->window == 0 || c->window_listed) c->window_from = 0;
  return true;
}

/* The layers of a SmolLM3 that turn nothing: those with a 0 in the list, or every so-
   manieth. */
static bool settings_unturned(struct config_reader *s)
{
  struct model_config *c = s->c;
  json_t *list = json_object_get(s->all, "no_rope_layers");
  bool listed = list != NULL && !json_is_null(list);
  if (c->unturned_every == 0) return true;
  if (c->n_layers > CONFIG_MAX_LISTED || (listed && json_array_size(list) != c->n_layers))
    return setting_bad(s, "no_rope_layers", list, "a 0 or 1 for each of at most 1024 layers");
  if (!listed) config_mark_unturned(c);
  for (uint32_t i = 0; listed && i < c->n_layers; i++) {
    json_t *one = json_array_get(list, i);
    if (!json_is_integer(one) || (json_integer_value(one) | 1) != 1)
      return setting_bad(s, "no_rope_layers", list, "a 0 or 1 for each layer: 1 turns");
    if (json_integer_value(one) == 0) mark(c->unturned, i), c->some_unturned = true;
  }
  return true;
}

/* In Exaone 4 and Cohere 2 windows and rotations go together: a layer that sees everything turns
   nothing. An Exaone without windows turns everywhere. */
static bool settings_full_layers(struct config_reader *s)
{
  struct model_config *c = s->c;
  bool together = s->t->family == COHERE2 || (s->t->family == EXAONE4 && c->window > 0);
  for (uint32_t i = 0; together && i < c->n_layers; i++) {
    if (config_window(c, i) > 0) continue;
    if (i >= CONFIG_MAX_LISTED)
      return setting_bad(s, "num_hidden_layers",
        json_object_get(s->all, "num_hidden_layers"), "at most 1024 layers");
    mark(c->unturned, i), c->some_unturned = true;
  }
  return true;
}

#include "families/rope_settings.inc"
#include "families/wrapper.inc"

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

/* The blocks of gpt-oss are those of a type that we have, in two tensors; the loader puts them together. */
static bool has_our_blocks(const struct config_reader *s, json_t *method)
{
  json_t *type = json_object_get(s->all, "model_type");
  return json_is_string(type) && strcmp(json_string_value(type), "gpt_oss") == 0
    && json_is_string(method) && strcmp(json_string_value(method), "mxfp4") == 0;
}

/* Checked before all others: weights that were quantized for another engine have tensors with
   other names and types, and a message about missing tensors would hide the reason. Two programs do not
   say who they are: only MLX has groups, and its older files have the field under a shorter name. If you
   have converted them back and the field is still in the file, you may ask for it to be
   ignored. */
static bool is_quantized(struct config_reader *s)
{
  const char *field = "quantization_config";
  json_t *given = json_object_get(s->all, field);
  if (given == NULL || says_nothing(given)) given = json_object_get(s->all, field = "quantization");
  json_t *method = json_object_get(given, "quant_method");
  if (given == NULL || says_nothing(given) || has_our_blocks(s, method)) return false;
  for (size_t i = 0; i < s->o->n_ignore; i++)
    if (strcmp(s->o->ignore[i], field) == 0) return false;
  char by[EXCERPT_MAX + 4] = "bitsandbytes";
  if (json_object_get(given, "group_size") != NULL) strcpy(by, "MLX");
  if (json_is_string(method))
    text_excerpt(json_string_value(method), json_string_length(method), 40, by);
  error_say(s->why, "%s: %s: the weights are quantized by %s;"
    " wanted: the model before that, in F32, F16 or BF16, or a GGUF file of it", s->path, field, by);
  return true;
}

/* The family first, since it decides which fields count. Advice begins with neutral
   values, so that a sampler can apply all of it without asking what was given. */
static bool settings_model(struct config_reader *s)
{
  if (!config_unwrap(s) || is_quantized(s)) return false;
  const struct family_row *f = family_find(s);
  if (f == NULL) return false;
  *s->c = f->always;
  s->c->family = f->type;
  s->c->sampling = (struct sampling_defaults) { .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 };
  s->c->rope = (struct rope_config) { .beta_fast = 32, .beta_slow = 1,
    .truncate = true, .theta = f->always.rope.theta, .local_theta = f->always.rope.local_theta,
    .original = f->always.rope.original };
  struct tables t = tables_of(f);
  return list_outer(s) && settings_read(s, &t) && settings_derive(s) && settings_unturned(s)
    && settings_window(s) && settings_full_layers(s)
    && (s->c->learned_positions || (settings_rope(s) && settings_rotary(s)));
}

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

/* The second file may be absent, so we ask whether it is there: one that is there and cannot
   be read is an error like any other. If the first is missing and another kind of file is in
   its place, the sentence says what that is. jansson's tree is freed as soon as it has been
   read: none of our pointers lead into it. */
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
  json_decref(s.outer);
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
