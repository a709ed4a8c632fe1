/* gguf_settings.c -- made from workshop/30-gguf-models.w; change it there */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "gguf/gguf.h"
#include "families/families.h"
#include "families/gguf_settings.h"
#include "families/rope_scaling.h"

/* <The state of reading keys> */
struct key_reader {
  struct gguf_file g;
  char arch[32]; /* the architecture, with a point after it */
  unsigned bit;
  struct model_config *c;
  struct config_options *o;
  struct error *why;
  char unknown[240]; /* the names of unknown keys, as far as there is room */
  size_t n_unknown, n_shown, length;
};

/* in the place of a file's name */
static const char metadata[] = "the metadata";
static bool key_bad(struct key_reader *s, const char *key, const char *wanted)
{
  char buffer[64];
  return error_found(s->why, s->g.path, key, gguf_excerpt(gguf_find(&s->g, key),
    buffer), wanted);
}

static const char *key_of(const struct key_reader *s, const char *rest, char key[128])
{
  snprintf(key, 128, "%s%s", s->arch, rest);
  return key;
}

/* <The keys of an architecture> */
enum { NONE = 0, MOST = 0x7fffffff };
#define setting(name) SETTING_##name, { NULL, SETTING_COUNT, 0, 0, 0, 0, 0, 0, 0 }
#define part(kind, min, max, member) N_MODEL_SETTINGS, \
  { NULL, SETTING_##kind, offsetof(struct model_config, member), min, max, 0, 0, 0, 0 }
static const struct key_row { const char *name; unsigned of; bool required;
  unsigned written; int number; struct setting to; } used_keys[] =
  { {"context_length", ALL, true, ALL, setting(n_positions)},
  {"embedding_length", ALL, true, ALL, setting(d_model)},
  {"block_count", ALL, true, ALL, setting(n_layers)},
  {"feed_forward_length", ALL, true, ALL, setting(d_inner)},
  {"attention.head_count", ALL, true, ALL, setting(n_heads)},
  {"attention.head_count_kv", ALL, false, ALL, setting(n_kv_heads)},
  {"attention.key_length", ALL, false, LATER, setting(head_dim)},
  {"attention.value_length", NONE, false, LATER, setting(head_dim)},
  {"rope.dimension_count", NONE, false, LATER, setting(head_dim)},
  {"vocab_size", NONE, false, ALL, setting(vocab_size)},
  {"attention.layer_norm_epsilon", GPT2, true, GPT2, setting(norm_eps)},
  {"attention.layer_norm_rms_epsilon", LATER, true, LATER, setting(norm_eps)},
  /* <The keys of a stretching> */
  {"rope.freq_base", LATER, false, NONE, part(REAL, 1, 1e18, rope.theta)},
  {"rope.scale_linear", LATER, false, NONE, part(REAL, 1, 1e9, rope.factor)},
  {"rope.scaling.factor", LATER, false, NONE, part(REAL, 1, 1e9, rope.factor)},
  {"rope.scaling.original_context_length", LATER, false, NONE,
    part(COUNT, 1, MOST, rope.original)},
  {"rope.scaling.attn_factor", LATER, false, NONE,
    part(REAL, 1e-9, 1e9, rope.attention_factor)},
  {"rope.scaling.yarn_beta_fast", LATER, false, NONE,
    part(REAL, 1e-9, 1e9, rope.beta_fast)},
  {"rope.scaling.yarn_beta_slow", LATER, false, NONE,
    part(REAL, 1e-9, 1e9, rope.beta_slow)} };

static const struct { const char *name; double only; } fixed_keys[] =
  { {"expert_count", 0}, {"expert_used_count", 0}, {"expert_shared_count", 0},
  {"attention.causal", 1}, {"use_parallel_residual", 0},
  {"attention.max_alibi_bias", 0}, {"attention.clamp_kqv", 0},
  {"attn_logit_softcapping", 0}, {"final_logit_softcapping", 0},
  {"logit_scale", 1}, {"residual_scale", 1}, {"embedding_scale", 1},
  {"rope.scaling.yarn_ext_factor", 1}, {"rope.scaling.yarn_attn_factor", 1},
  {"rope.scaling.yarn_log_multiplier", 0}, {"nextn_predict_layers", 0} };

/* <Ask for the keys that are written> */
const char *gguf_settings_key(size_t *i, const char *family,
  const struct setting **s)
{
  unsigned bit = 1u << (family_named(family) - model_families);
  while (*i < sizeof used_keys / sizeof used_keys[0]) {
    const struct key_row *row = &used_keys[(*i)++];
    if ((row->written & bit) == 0) continue;
    *s = &config_setting[row->number];
    return row->name;
  }
  return NULL;
}

/* <The keys that are known to be harmless> */
static const char of_file[] = "describes the file";
static const char other_use[] = "for a use of the vocabulary that we do not have";
static const struct { const char *name, *reason; } harmless_keys[] =
  { {"general.sampling.", "advice for sampling, which counts only where do_sample"
    " is true, and the format cannot say that"},
  {"general.", of_file}, {"quantize.", "says how the file was quantized"},
  {"tokenizer.ggml.padding_token_id", "we never pad"},
  {"tokenizer.ggml.add_padding_token", "we never pad"},
  {"tokenizer.ggml.add_unknown_token", "nothing is put around a text but its ends"},
  {"tokenizer.ggml.add_sep_token", "belongs to models with an encoder"},
  {"tokenizer.ggml.add_separator_token", "belongs to models with an encoder"},
  {"tokenizer.ggml.add_cls_token", "belongs to models with an encoder"},
  {"tokenizer.ggml.add_mask_token", "belongs to models with an encoder"},
  {"tokenizer.ggml.token_type_count", "belongs to models with an encoder"},
  {"tokenizer.ggml.seperator_token_id", "belongs to models with an encoder"},
  {"tokenizer.ggml.separator_token_id", "belongs to models with an encoder"},
  {"tokenizer.ggml.cls_token_id", "belongs to models with an encoder"},
  {"tokenizer.ggml.mask_token_id", "belongs to models with an encoder"},
  {"tokenizer.ggml.fim_pre_token_id", other_use},
  {"tokenizer.ggml.fim_suf_token_id", other_use},
  {"tokenizer.ggml.fim_mid_token_id", other_use},
  {"tokenizer.ggml.fim_pad_token_id", other_use},
  {"tokenizer.ggml.fim_rep_token_id", other_use},
  {"tokenizer.ggml.fim_sep_token_id", other_use},
  {"tokenizer.ggml.prefix_token_id", other_use},
  {"tokenizer.ggml.suffix_token_id", other_use},
  {"tokenizer.ggml.middle_token_id", other_use},
  {"tokenizer.huggingface.json", "the tokenizer once more, in another form"},
  {"tokenizer.chat_templates", "the names of further templates"},
  {"tokenizer.chat_template.", "a further template"},
  {"split.no", "there is one part"}, {"split.tensors.count", "there is one part"} };

static const char *const namespaces[] = { "general.", "split.", "quantize.",
  "tokenizer.", "adapter." };
static bool is_foreign(const char *key, const char *arch)
{
  bool ours = strncmp(key, arch, strlen(arch)) == 0 || strchr(key, '.') == NULL;
  for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
    ours = ours || strncmp(key, namespaces[i], strlen(namespaces[i])) == 0;
  return !ours;
}

/* <The keys that others read> */
static const char *const read_elsewhere[] = { "general.architecture",
  "general.alignment", "general.type", "split.count",
  "general.sampling.penalty_repeat",
  "tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.tokens",
  "tokenizer.ggml.scores", "tokenizer.ggml.token_type",
  "tokenizer.ggml.merges", "tokenizer.ggml.bos_token_id",
  "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eos_token_ids",
  "tokenizer.ggml.eot_token_id",
  "tokenizer.ggml.eom_token_id", "tokenizer.ggml.unknown_token_id",
  "tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token",
  "tokenizer.ggml.add_space_prefix", "tokenizer.ggml.remove_extra_whitespaces",
  "tokenizer.ggml.precompiled_charsmap", "tokenizer.chat_template" };

/* <Take the value of a key> */
static bool is_of_kind(const struct gguf_entry *e, enum setting_kind kind, double *x)
{
  bool flag = false;
  if (e == NULL || e->is_array) return false;
  switch (kind) {
  case SETTING_FLAG:
    if (!gguf_flag(e, &flag)) return false;
    *x = flag;
    return true;
  case SETTING_COUNT: case SETTING_CURVE:
    if (!gguf_integer(e)) return false;
    break;
  case SETTING_REAL:
    if (!gguf_numeric(e)) return false;
  }
  *x = gguf_number(e, 0);
  return true;
}

static void words_for(const struct setting *to, char wanted[64])
{
  if (to->kind == SETTING_FLAG) snprintf(wanted, 64, "true or false");
  else snprintf(wanted, 64, to->kind == SETTING_REAL ? "a number from %g to %g"
    : "an integer from %.0f to %.0f", to->min, to->max);
}

static bool take_key(struct key_reader *s, const struct key_row *row, const char *key)
{
  const struct gguf_entry *e = gguf_find(&s->g, key);
  const struct setting *to = row->number < N_MODEL_SETTINGS
    ? &config_setting[row->number] : &row->to;
  char wanted[64];
  double x;
  if (e == NULL && !row->required) return true;
  words_for(to, wanted);
  if (!is_of_kind(e, to->kind, &x)) return key_bad(s, key, wanted);
  if (!(x >= to->min && x <= to->max)) return key_bad(s, key, wanted);
  setting_put(to, s->c, x);
  return true;
}

static bool insist(struct key_reader *s, const char *key, double only)
{
  const struct gguf_entry *e = gguf_find(&s->g, key);
  char wanted[64];
  bool flag = false;
  snprintf(wanted, sizeof wanted, "%g: this program has nothing of that kind", only);
  if (e == NULL) return true;
  double x = only + 1;
  if (gguf_flag(e, &flag)) x = flag ? 1 : 0;
  else if (gguf_numeric(e) && !e->is_array) x = gguf_number(e, 0);
  return x == only || key_bad(s, key, wanted);
}

static bool take_keys(struct key_reader *s)
{
  char key[128];
  for (size_t i = 0; i < sizeof used_keys / sizeof used_keys[0]; i++)
    if ((used_keys[i].of & s->bit) != 0
      && !take_key(s, &used_keys[i], key_of(s, used_keys[i].name, key)))
      return false;
  for (size_t i = 0; i < sizeof fixed_keys / sizeof fixed_keys[0]; i++)
    if (!insist(s, key_of(s, fixed_keys[i].name, key), fixed_keys[i].only))
      return false;
  return true;
}

/* <Compare keys that repeat others> */
static bool must_be(struct key_reader *s, const char *rest, uint32_t n,
  const char *what)
{
  char key[128], wanted[64];
  const struct gguf_entry *e = gguf_find(&s->g, key_of(s, rest, key));
  snprintf(wanted, sizeof wanted, "%" PRIu32 ", %s", n, what);
  return e == NULL || (gguf_integer(e) && !e->is_array && gguf_number(e, 0) == n)
    || key_bad(s, key, wanted);
}

static bool check_window(struct key_reader *s)
{
  char key[128], wanted[64];
  const struct model_config *c = s->c;
  const struct gguf_entry *e =
    gguf_find(&s->g, key_of(s, "attention.sliding_window", key));
  snprintf(wanted, sizeof wanted, "none, or at least the context of %" PRIu32,
    c->n_positions);
  double x = e != NULL && gguf_integer(e) && !e->is_array ? gguf_number(e, 0) : -1;
  return e == NULL || x == 0 || x >= c->n_positions || key_bad(s, key, wanted);
}

/* <Derive what the keys leave open> */
static bool derive_sizes(struct key_reader *s)
{
  struct model_config *c = s->c;
  char key[128];
  key_of(s, "attention.head_count", key);
  if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
  if (c->head_dim == 0 && c->d_model % c->n_heads != 0)
    return key_bad(s, key, "a divisor of the width");
  if (c->head_dim == 0) c->head_dim = c->d_model / c->n_heads;
  if (c->n_heads % c->n_kv_heads != 0)
    return key_bad(s, key, "a multiple of head_count_kv");
  if (!c->learned_positions && c->head_dim % 2 != 0)
    return key_bad(s, key_of(s, "attention.key_length", key),
      "an even number: rotations turn pairs");
  return must_be(s, "attention.value_length", c->head_dim, "as many as of keys")
    && (c->learned_positions
      || must_be(s, "rope.dimension_count", c->head_dim, "all of a head"))
    && check_window(s);
}

/* <From stretching to the whole> */

/* <Read how positions are stretched> */
static bool take_stretching(struct key_reader *s)
{
  struct rope_config *r = &s->c->rope;
  struct gguf_words kind = { "none", 4 };
  char key[128];
  double times = r->attention_factor > 0 ? r->attention_factor : 1;
  const struct gguf_entry *e = gguf_find(&s->g, key_of(s, "rope.scaling.type", key));
  if (e != NULL && !gguf_string(e, &kind)) kind.n = 0;
  bool yarn = kind.n == 4 && memcmp(kind.text, "yarn", 4) == 0;
  bool linear = kind.n == 6 && memcmp(kind.text, "linear", 6) == 0;
  bool none = kind.n == 4 && memcmp(kind.text, "none", 4) == 0;
  if (!yarn && !linear && !none) return key_bad(s, key, "none, linear or yarn");
  r->kind = yarn ? ROPE_YARN : ROPE_PLAIN;
  if (linear || (e == NULL && r->factor != 0)) r->kind = ROPE_LINEAR;
  if (r->kind != ROPE_PLAIN && r->factor == 0)
    return key_bad(s, key_of(s, "rope.scaling.factor", key), "a number from 1 on");
  if (r->original == 0) r->original = s->c->n_positions;
  r->attention_factor = 0;
  if (r->kind != ROPE_YARN)
    return times == 1 || key_bad(s, key_of(s, "rope.scaling.attn_factor", key),
      "1, since this is not yarn");
  /* <Work out what yarn needs> */
  if (r->beta_fast <= r->beta_slow)
    return key_bad(s, key_of(s, "rope.scaling.yarn_beta_fast", key),
      "more than yarn_beta_slow");
  if (r->theta <= 1)
    return key_bad(s, key_of(s, "rope.freq_base", key), "more than 1");
  r->attention_factor = times * rope_scaled_attention(r);
  return true;
}

/* <Read the ids that begin and end a text> */
static bool take_id(struct key_reader *s, const char *key, uint32_t *id, bool *there)
{
  const struct gguf_entry *e = gguf_find(&s->g, key);
  *there = e != NULL;
  if (e == NULL) return true;
  double x = gguf_integer(e) && !e->is_array ? gguf_number(e, 0) : -1;
  if (x < 0 || x > MOST) return key_bad(s, key, "the id of a token");
  *id = (uint32_t) x;
  return true;
}

static bool add_end(struct model_config *c, uint32_t id)
{
  for (uint32_t k = 0; k < c->n_eos; k++)
    if (c->eos[k] == id) return true;
  if (c->n_eos == CONFIG_MAX_EOS) return false;
  c->eos[c->n_eos++] = id, c->eos_from = metadata;
  return true;
}

static bool take_end_list(struct key_reader *s)
{
  static const char key[] = "tokenizer.ggml.eos_token_ids";
  const struct gguf_entry *e = gguf_find(&s->g, key);
  if (e == NULL) return true;
  if (!gguf_integer(e)) return key_bad(s, key, "ids of tokens");
  for (uint64_t i = 0; i < e->count; i++) {
    double x = gguf_number(e, i);
    if (x < 0 || x > MOST) return key_bad(s, key, "ids of tokens");
    if (!add_end(s->c, (uint32_t) x)) return key_bad(s, key, "at most 16 ends");
  }
  return true;
}

static bool take_ids(struct key_reader *s)
{
  static const char *const ends[] = { "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id" };
  struct model_config *c = s->c;
  for (int i = 0; i < 3; i++) {
    uint32_t id = 0;
    bool there;
    if (!take_id(s, ends[i], &id, &there)) return false;
    if (there) add_end(c, id);
  }
  return take_end_list(s)
    && take_id(s, "tokenizer.ggml.bos_token_id", &c->bos, &c->has_bos);
}

static bool take_advice(struct key_reader *s)
{
  static const struct key_row row = { "", ALL, false, NONE,
    part(REAL, 1e-9, 1e9, sampling.repetition_penalty) };
  return take_key(s, &row, "general.sampling.penalty_repeat");
}

/* <See which tensors there are> */
static bool named(const struct gguf_tensor *t, const char *name)
{
  return t->name.n == strlen(name) && memcmp(t->name.text, name, t->name.n) == 0;
}

static bool look_at_tensors(struct key_reader *s)
{
  struct model_config *c = s->c;
  struct gguf_tensor t;
  struct gguf_walk w = gguf_begin(&s->g);
  uint64_t rows = 0;
  c->tied = true;
  while (w.left > 0) {
    if (!gguf_next(&s->g, &w, &t, s->why)) return false;
    if (named(&t, "output.weight")) c->tied = false;
    if (named(&t, "blk.0.attn_q.bias")) c->qkv_bias = true;
    if (named(&t, "blk.0.attn_output.bias")) c->out_bias = true;
    if (named(&t, "blk.0.ffn_down.bias")) c->mlp_bias = true;
    if (named(&t, "token_embd.weight") && t.rank == 2) rows = t.shape[0];
  }
  const struct gguf_entry *e = gguf_find(&s->g, "tokenizer.ggml.tokens");
  if (rows == 0 && e != NULL) rows = e->count;
  if (rows > 0 && rows <= MOST) c->vocab_size = (uint32_t) rows;
  return (rows > 0 && rows <= MOST) || error_found(s->why, s->g.path,
    "token_embd.weight", rows == 0 ? "missing" : "one of too many rows",
    "a row for each token");
}

/* <Account for every key> */
static bool reads(const struct key_reader *s, const char *key)
{
  static const char *const more[] = { "attention.value_length",
    "rope.dimension_count", "rope.scaling.type", "attention.sliding_window" };
  size_t n = strlen(s->arch);
  for (size_t i = 0; i < sizeof read_elsewhere / sizeof read_elsewhere[0]; i++)
    if (strcmp(key, read_elsewhere[i]) == 0) return true;
  if (strncmp(key, s->arch, n) != 0) return false;
  for (size_t i = 0; i < sizeof used_keys / sizeof used_keys[0]; i++)
    if (strcmp(key + n, used_keys[i].name) == 0
      && (used_keys[i].of & s->bit) != 0) return true;
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    if (strcmp(key + n, more[i]) == 0 && s->bit != GPT2) return true;
  return strcmp(key + n, "attention.value_length") == 0;
}

static const char *harmless(const struct key_reader *s, const char *key)
{
  size_t n = strlen(s->arch);
  for (size_t i = 0; i < sizeof harmless_keys / sizeof harmless_keys[0]; i++) {
    const char *name = harmless_keys[i].name;
    size_t k = strlen(name);
    if (name[k - 1] == '.' ? strncmp(key, name, k) == 0 : strcmp(key, name) == 0)
      return harmless_keys[i].reason;
  }
  if (is_foreign(key, s->arch)) return "in a namespace in which no model is described";
  if (strncmp(key, s->arch, n) != 0) return NULL;
  for (size_t i = 0; i < sizeof fixed_keys / sizeof fixed_keys[0]; i++)
    if (strcmp(key + n, fixed_keys[i].name) == 0) return "has no effect as it is";
  if (strcmp(key + n, "vocab_size") == 0) return "the embedding's rows say it";
  if (strcmp(key + n, "tensor_data_layout") == 0)
    return "says what the architecture says";
  return strcmp(key + n, "rope.scaling.finetuned") == 0
    ? "says what was done to the weights" : NULL;
}

static bool says_no(const struct gguf_entry *e)
{
  bool flag = true;
  struct gguf_words words = { NULL, 1 };
  if (gguf_flag(e, &flag) && !flag) return true;
  if (gguf_string(e, &words) && words.n == 0) return true;
  return e->is_array && e->count == 0;
}

static bool meet_unknown(struct key_reader *s, const char *key)
{
  struct config_options *o = s->o;
  for (size_t i = 0; i < o->n_ignore; i++)
    if (strcmp(o->ignore[i], key) == 0) {
      if (o->used != NULL) o->used[i] = true;
      return config_ignore(s->c, s->g.m, metadata, key, config_ignored_by_caller,
        s->why);
    }
  o->n_unknown++;
  if (o->tolerant) return config_ignore(s->c, s->g.m, metadata, key, NULL, s->why);
  s->n_unknown++;
  if (s->n_shown + 1 < s->n_unknown
      || s->length + strlen(key) + 3 > sizeof s->unknown) return true;
  s->length += (size_t) snprintf(s->unknown + s->length,
    sizeof s->unknown - s->length, "%s%s", s->n_shown++ > 0 ? ", " : "", key);
  return true;
}

static bool account(struct key_reader *s)
{
  for (size_t i = 0; i < s->g.n_entries; i++) {
    const struct gguf_entry *e = &s->g.entry[i];
    char key[200];
    snprintf(key, sizeof key, "%.*s", (int) (e->key.n < 199 ? e->key.n : 199),
      e->key.text);
    if (reads(s, key)) continue;
    const char *reason = harmless(s, key);
    if (reason == NULL && says_no(e)) reason = "false or empty";
    if (!(reason == NULL ? meet_unknown(s, key)
        : config_ignore(s->c, s->g.m, metadata, key, reason, s->why))) return false;
  }
  if (s->n_unknown == 0) return true;
  static const char wanted[] = "keys that this program knows";
  return s->n_shown == s->n_unknown
    ? error_say(s->why, "%s: unknown: %s; wanted: %s", s->g.path, s->unknown, wanted)
    : error_say(s->why, "%s: unknown: %s and %zu more; wanted: %s", s->g.path,
      s->unknown, s->n_unknown - s->n_shown, wanted);
}

/* <Find the architecture> */
static bool find_architecture(struct key_reader *s)
{
  struct gguf_words word = { NULL, 0 };
  const struct gguf_entry *e = gguf_find(&s->g, "general.type");
  if (e != NULL && !(gguf_string(e, &word)
      && ((word.n == 5 && (memcmp(word.text, "model", 5) == 0
      || memcmp(word.text, "vocab", 5) == 0)))))
    return key_bad(s, "general.type", "model");
  e = gguf_find(&s->g, "split.count");
  if (e != NULL && !(gguf_integer(e) && !e->is_array && gguf_number(e, 0) <= 1))
    return key_bad(s, "split.count",
      "1: a whole file, which llama-gguf-split --merge makes of the parts");
  const struct family_row *found = NULL;
  char all[200];
  if (gguf_string(gguf_find(&s->g, "general.architecture"), &word))
    for (unsigned i = 0; i < N_FAMILIES && found == NULL; i++)
      if (word.n == strlen(model_families[i].gguf)
        && memcmp(word.text, model_families[i].gguf, word.n) == 0)
        found = &model_families[i], s->bit = 1u << i;
  if (found == NULL)
    return key_bad(s, "general.architecture", family_list(true, all));
  snprintf(s->arch, sizeof s->arch, "%s.", found->gguf);
  /* <Begin with what the family always does> */
  *s->c = found->always;
  s->c->head_dim = 0;
  s->c->window = s->c->window_from = 0;
  s->c->sampling = (struct sampling_defaults) { .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 };
  s->c->rope = (struct rope_config) { .theta = 10000, .beta_fast = 32,
    .beta_slow = 1, .truncate = true };
  return true;
}

/* <Read the settings of a file> */
static bool read_settings(struct key_reader *s)
{
  return find_architecture(s) && take_keys(s) && derive_sizes(s)
    && (s->c->learned_positions || take_stretching(s)) && look_at_tensors(s)
    && take_ids(s) && take_advice(s) && account(s);
}

bool gguf_settings_open(struct model_config *c, struct memory *m,
  const char *path, struct config_options *o, struct error *why)
{
  struct mapping map;
  struct key_reader s = { .c = c, .o = o, .why = why };
  *c = (struct model_config) { .family = NULL };
  if (!file_map(&map, path, why)) return false;
  bool ok = gguf_read(&s.g, m, path, map.bytes, map.size, why)
    && read_settings(&s);
  gguf_free(&s.g);
  file_unmap(&map);
  if (!ok) config_close(m, c);
  return ok;
}
