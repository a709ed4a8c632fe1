/* gguf_settings.c -- the settings of a model, read from the keys of a GGUF file.

   Every key of the file must be in one of the tables below: used, fixed (right with one value only),
   harmless (with the reason why it changes no logit), or read by others; or its first word must be
   a namespace in which no model is described. What is left is unknown, and refused by name, all
   unknown keys in one sentence, unless the caller wishes otherwise. A complaint quotes the value under
   the whole name of its key. The file is mapped for the reading alone: nothing of what is kept points
   into it. What a config.json says in words the tensors say here by being there, so the list of
   tensors is looked at as well; a layer that then lacks one is the loader's to notice. */

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "gguf/parts.h"
#include "families/families.h"
#include "families/gguf_settings.h"
#include "families/other_kinds.h"
#include "families/rope_scaling.h"

struct key_reader {
  struct gguf_file g; /* that of the first part, which has the keys */
  const struct gguf_parts *parts;
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

/* The key of the file's architecture that ends in rest. */
static const char *key_of(const struct key_reader *s, const char *rest, char key[128])
{
  snprintf(key, 128, "%s%s", s->arch, rest);
  return key;
}

/* Each key is a row of gguf_keys.inc. A row that is about a setting of the model's own table has its
   number, and place, kind and bounds are in that row; the numbers of a stretching are no settings of
   their own, and have them here. Rows that nobody reads (NONE) are written, and compared when a file
   is read: they repeat what another key says. Rows that nobody writes are a stretching's, of which
   only those that its kind has are written. */
enum { NONE = 0, MOST = 0x7fffffff };
#define setting(name) SETTING_##name, { NULL, SETTING_COUNT, 0, 0, 0, 0, 0, 0, 0 }
#define part(kind, min, max, member) N_MODEL_SETTINGS, \
  { NULL, SETTING_##kind, offsetof(struct model_config, member), min, max, 0, 0, 0, 0 }
static const struct key_row { const char *name; unsigned of; bool required;
  unsigned written; int number; struct setting to; } used_keys[] = {
#include "families/gguf_keys.inc"
};

/* Right with one value only: experts, capped scores, scaled sums, another choice of experts. In files of our architectures they
   are absent, or have the value that changes nothing. */
static const struct { const char *name; double only; } fixed_keys[] =
  { {"expert_count", 0}, {"expert_used_count", 0}, {"expert_shared_count", 0},
  {"expert_gating_func", 1},
  {"attention.causal", 1}, {"use_parallel_residual", 0},
  {"attention.max_alibi_bias", 0}, {"attention.clamp_kqv", 0},
  {"attn_logit_softcapping", 0}, {"final_logit_softcapping", 0},
  {"logit_scale", 1}, {"residual_scale", 1}, {"embedding_scale", 1},
  {"rope.scaling.yarn_ext_factor", 1}, {"rope.scaling.yarn_log_multiplier", 0}, {"nextn_predict_layers", 0} };

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

/* These change no logit, each with its reason. A name that ends in a point stands for all keys that
   begin so. */
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
  {"split.no", "says which part this is"}, {"split.tensors.count", "counts the tensors of all parts"} };

/* Keys that nobody can list: the programs that make files add a few of their own, with the name of the
   program before them. The first word of a key is its namespace, and a reader of models asks in these
   and in that of the architecture. A key in any other changes no model; it is read over, and listed. A
   key without a point has no namespace, and might be about the model. */
static const char *const namespaces[] = { "general.", "split.", "quantize.",
  "tokenizer.", "adapter." };

static bool is_foreign(const char *key, const char *arch)
{
  bool ours = strncmp(key, arch, strlen(arch)) == 0 || strchr(key, '.') == NULL;
  for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
    ours = ours || strncmp(key, namespaces[i], strlen(namespaces[i])) == 0;
  return !ours;
}

/* Read by the tokenizer's reader, by the templates, or below. Here they are known, that is all. */
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

/* A count must be an integer, a switch true or false. */
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

/* Some architectures have lists here, a number for each layer, and llama.cpp reads a list of these five
   wherever it reads the number. In our families all layers are alike. */
static bool is_alike(const struct key_reader *s, const struct gguf_entry *e, int number, double *x)
{
  static const int listed[] = { SETTING_d_inner, SETTING_n_heads, SETTING_n_kv_heads, SETTING_d_expert,
    SETTING_n_chosen };
  bool may = false;
  for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) may = may || number == listed[i];
  if (!may || !gguf_integer(e) || e->count != s->c->n_layers) return false;
  *x = gguf_number(e, 0);
  for (uint64_t i = 1; i < e->count; i++)
    if (gguf_number(e, i) != *x) return false;
  return true;
}

static bool take_windows(struct key_reader *s, const struct gguf_entry *e, const char *key);

/* The comparison is written so that a NaN is outside of all bounds. Which layers have a window is a number
   in most files, and a list in some. */
static bool take_key(struct key_reader *s, const struct key_row *row, const char *key)
{
  const struct gguf_entry *e = gguf_find(&s->g, key);
  const struct setting *to = row->number < N_MODEL_SETTINGS
    ? &config_setting[row->number] : &row->to;
  char wanted[64];
  double x;
  if (e == NULL && !row->required) return true;
  if (e != NULL && e->is_array && to->at == offsetof(struct model_config, window_pattern))
    return take_windows(s, e, key);
  words_for(to, wanted);
  bool alike = e != NULL && e->is_array && is_alike(s, e, row->number, &x);
  if (!alike && !is_of_kind(e, to->kind, &x)) return key_bad(s, key, wanted);
  if (!(x >= to->min && x <= to->max)) return key_bad(s, key, wanted);
  setting_put(to, s->c, x);
  return true;
}

/* A list has a word or a number for each layer: whether it has a window. */
static bool take_windows(struct key_reader *s, const struct gguf_entry *e, const char *key)
{
  struct model_config *c = s->c;
  if (e->count != c->n_layers || e->count > CONFIG_MAX_LISTED || !(e->type == GGUF_BOOL || gguf_integer(e)))
    return key_bad(s, key, "a truth value for each of at most 1024 layers, or an integer");
  c->window_listed = true;
  for (uint32_t i = 0; i < c->n_layers; i++)
    if (gguf_number(e, i) != 0) c->windowed[i / 8] = (uint8_t) (c->windowed[i / 8] | 1u << i % 8);
  return true;
}

/* A key with only one good value may be a number or a truth value, as its writer liked. */
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

/* Whether some row reads a key that ends so in the files of this family. */
static bool is_used(const struct key_reader *s, const char *name)
{
  for (size_t i = 0; i < sizeof used_keys / sizeof used_keys[0]; i++)
    if ((used_keys[i].of & s->bit) != 0 && strcmp(name, used_keys[i].name) == 0) return true;
  return false;
}

static bool take_keys(struct key_reader *s)
{
  char key[128];
  for (size_t i = 0; i < sizeof used_keys / sizeof used_keys[0]; i++)
    if ((used_keys[i].of & s->bit) != 0
      && !take_key(s, &used_keys[i], key_of(s, used_keys[i].name, key)))
      return false;
  for (size_t i = 0; i < sizeof fixed_keys / sizeof fixed_keys[0]; i++)
    if (!is_used(s, fixed_keys[i].name) && !insist(s, key_of(s, fixed_keys[i].name, key), fixed_keys[i].only))
      return false;
  return true;
}

/* Some keys repeat what others say, or what a shape says. If they disagree, we do not know which is
   right. */
static bool must_be(struct key_reader *s, const char *rest, uint32_t n,
  const char *what)
{
  char key[128], wanted[64];
  const struct gguf_entry *e = gguf_find(&s->g, key_of(s, rest, key));
  snprintf(wanted, sizeof wanted, "%" PRIu32 ", %s", n, what);
  return e == NULL || (gguf_integer(e) && !e->is_array && gguf_number(e, 0) == n)
    || key_bad(s, key, wanted);
}

/* Our families have no window in these files: llama.cpp would not look for one. A window that is as
   long as the context hides nothing. */
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

/* Experts are as wide as an MLP if no key says otherwise; the first files of a sparse Qwen2 counted the width
   of all that a row meets. */
static void derive_experts(struct model_config *c, unsigned bit)
{
  if (c->d_expert == 0 && c->n_experts > 0)
    c->d_expert = bit == QWEN2_MOE && c->n_chosen > 0 ? c->d_inner / c->n_chosen : c->d_inner;
  if (bit == QWEN2_MOE && c->d_shared == 0) c->d_shared = c->d_inner;
}

/* In two families a layer that sees everything turns nothing. An Exaone without windows turns everywhere. */
static void derive_windows(struct model_config *c, unsigned bit)
{
  if (c->window == 0) c->window_listed = false;
  else if (c->window_pattern > 0 && !c->window_listed) config_mark_windows(c);
  for (uint32_t i = 0; (bit & NEAR_TURNED) != 0 && c->window > 0 && i < c->n_layers; i++)
    if (config_window(c, i) == 0) {
      c->unturned[i / 8] = (uint8_t) (c->unturned[i / 8] | 1u << i % 8);
      c->some_unturned = true;
    }
}

/* What files of these families do not say. A Gemma's scores are divided by the root of a head's width,
   but for the largest of each generation, which is known by its layers, as llama.cpp knows it. Every
   fourth layer of a SmolLM3 turns nothing. Granite's key is a divisor. */
static bool derive_switches(struct key_reader *s)
{
  struct model_config *c = s->c;
  char key[128];
  uint32_t largest = s->bit == GEMMA2 ? 46 : 0;
  if (s->bit == GEMMA3) largest = 62;
  if (largest > 0) c->score_scale = 1 / sqrt(c->n_layers == largest
    ? (double) c->d_model / c->n_heads : (double) c->head_dim);
  if (c->root_embedding) c->embedding_scale = sqrt((double) c->d_model);
  if (s->bit == GRANITE && c->logit_scale != 0)
    c->logit_scale = c->logit_scale == 1 ? 0 : 1 / c->logit_scale;
  derive_experts(c, s->bit);
  if (c->n_chosen > c->n_experts)
    return key_bad(s, key_of(s, "expert_used_count", key), "at most expert_count");
  if (c->n_layers > CONFIG_MAX_LISTED && (c->unturned_every > 0 || c->window_pattern > 0))
    return key_bad(s, key_of(s, "block_count", key), "at most 1024, as they are not alike");
  config_mark_unturned(c);
  derive_windows(c, s->bit);
  return true;
}

/* Sizes that may be absent follow from the others, as in a config.json. A rotation that turns only a
   part of each head is not ours. */
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
  if (c->rotary == c->head_dim) c->rotary = 0;
  if (!c->learned_positions && config_rotary(c) % 2 != 0)
    return key_bad(s, key_of(s, c->rotary > 0 ? "rope.dimension_count" : "attention.key_length", key),
      "an even number: rotations turn pairs");
  if (c->rotary > c->head_dim)
    return key_bad(s, key_of(s, "rope.dimension_count", key), "no more than a head has");
  return must_be(s, "attention.value_length", c->head_dim, "as many as of keys")
    && (c->learned_positions || (s->bit & PARTLY) != 0
      || must_be(s, "rope.dimension_count", c->head_dim, "all of a head"))
    && (is_used(s, "attention.sliding_window") || check_window(s)) && derive_switches(s);
}

/* Two keys are about the attention of yarn. attn_factor multiplies the factor that follows from the
   stretching, and readers know it. yarn_attn_factor is what llama.cpp's converter makes of a config.json's
   attention_factor: for the makers of a model that is the factor itself, 1 as well as any other, and
   llama.cpp reads over it in our families. Beside a yarn_ext_factor it comes from the words of yarn's first program, in which it
   multiplies too, and beside an attn_factor from a program that writes all keys there are: then it must
   change nothing. */
static bool take_attention(struct key_reader *s, double times, double whole)
{
  struct rope_config *r = &s->c->rope;
  char key[128];
  bool alone = gguf_find(&s->g, key_of(s, "rope.scaling.attn_factor", key)) == NULL
    && gguf_find(&s->g, key_of(s, "rope.scaling.yarn_ext_factor", key)) == NULL;
  if (!alone && whole != 0 && whole != 1)
    return key_bad(s, key_of(s, "rope.scaling.yarn_attn_factor", key), "1, beside another such factor");
  r->attention_factor = alone ? whole : 0;
  r->attention_factor = times * rope_scaled_attention(r);
  return true;
}

/* The kind of stretching is a word. Before it existed there was a key with the factor alone,
   rope.scale_linear, and a factor without a word still means linear stretching, as llama.cpp reads
   it; of two factors the newer key's counts, because its row comes later. Llama 3's kind has no word
   at all: its files have a tensor with a divisor for each wheel, which the loader finds. No key says
   whether yarn rounds its bounds; the makers of gpt-oss do not. Bounds in the
   wrong order and a base of 1 are refused, as in a config.json: yarn divides by the base's logarithm. */
static bool take_stretching(struct key_reader *s)
{
  struct rope_config *r = &s->c->rope;
  struct gguf_words kind = { "none", 4 };
  char key[128];
  double times = r->attention_factor > 0 ? r->attention_factor : 1, whole = r->mscale;
  r->attention_factor = r->mscale = 0;
  r->truncate = s->bit != GPT_OSS;
  const struct gguf_entry *e = gguf_find(&s->g, key_of(s, "rope.scaling.type", key));
  if (e != NULL && !gguf_string(e, &kind)) kind.n = 0;
  bool yarn = kind.n == 4 && memcmp(kind.text, "yarn", 4) == 0;
  bool linear = kind.n == 6 && memcmp(kind.text, "linear", 6) == 0;
  bool none = kind.n == 4 && memcmp(kind.text, "none", 4) == 0;
  if (!yarn && !linear && !none && s->bit != PHI3) return key_bad(s, key, "none, linear or yarn");
  r->kind = yarn ? ROPE_YARN : ROPE_PLAIN;
  if (linear || (e == NULL && r->factor != 0)) r->kind = ROPE_LINEAR;
  if (r->kind != ROPE_PLAIN && r->factor == 0)
    return key_bad(s, key_of(s, "rope.scaling.factor", key), "a number from 1 on");
  if (r->original == 0) r->original = s->c->n_positions;
  if (r->mscale_all_dim > 0) r->mscale = 1;
  if ((r->kind != ROPE_YARN || s->bit == PHI3) && whole != 0 && whole != 1)
    return key_bad(s, key_of(s, "rope.scaling.yarn_attn_factor", key), "1, since this is not yarn");
  if (s->bit == PHI3) { /* its lists of divisors are tensors, and say the rest */
    r->kind = ROPE_PLAIN, r->attention_factor = times;
    return true;
  }
  if (r->kind != ROPE_YARN)
    return times == 1 || key_bad(s, key_of(s, "rope.scaling.attn_factor", key),
      "1, since this is not yarn");
  if (r->beta_fast <= r->beta_slow)
    return key_bad(s, key_of(s, "rope.scaling.yarn_beta_fast", key),
      "more than yarn_beta_slow");
  if (r->theta <= 1)
    return key_bad(s, key_of(s, "rope.freq_base", key), "more than 1");
  return take_attention(s, times, whole);
}

/* An id that is absent stays as it was. */
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

/* Two keys may name one token; it ends a text once. */
static bool add_end(struct model_config *c, uint32_t id)
{
  for (uint32_t k = 0; k < c->n_eos; k++)
    if (c->eos[k] == id) return true;
  if (c->n_eos == CONFIG_MAX_EOS) return false;
  c->eos[c->n_eos++] = id, c->eos_from = metadata;
  return true;
}

/* Some files have a list of all ends as well, as generation_config.json may have one. */
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

/* eos ends a text, eot a turn of a conversation, eom a message that asks for a tool. To us each is an
   end; files have one or more of them. */
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

/* Advice for sampling is copied from generation_config.json, where the penalty counts always, and
   temperature, top_k and the rest where do_sample is true. Here there is no key for do_sample, and the
   programs that make files copy a temperature even if the makers said that it should not be used. So
   none of them counts: the directory of a model and its file write the same text. inspect lists them. */
static bool take_advice(struct key_reader *s)
{
  static const struct key_row row = { "", ALL, false, NONE,
    part(REAL, 1e-9, 1e9, sampling.repetition_penalty) };
  return take_key(s, &row, "general.sampling.penalty_repeat");
}

static bool named(const struct gguf_tensor *t, const char *name)
{
  return t->name.n == strlen(name) && memcmp(t->name.text, name, t->name.n) == 0;
}

/* A model is tied if there is no output.weight, and a Llama has biases if its first layer has one. The
   size of the vocabulary is the number of rows of the embedding; a file without tensors is a vocabulary
   alone, and then we count its tokens. A StableLM whose halves are parallel has one norm in a layer, and what
   a key says of it does not count, for llama.cpp either; a Falcon with a second norm of attention has two. */
static bool look_at_tensors(struct key_reader *s)
{
  struct model_config *c = s->c;
  struct gguf_tensor t;
  struct gguf_walk w = gguf_begin(&s->g);
  uint64_t rows = 0;
  size_t part = 0;
  bool second = false;
  c->tied = true;
  while (w.left > 0 || part + 1 < s->parts->n) {
    if (w.left == 0) {
      w = gguf_begin(&s->parts->part[++part].g);
      continue;
    }
    if (!gguf_next(&s->parts->part[part].g, &w, &t, s->why)) return false;
    if (named(&t, "output.weight")) c->tied = false;
    if (named(&t, "blk.0.attn_q.bias") || ((s->bit & (FALCON | PHI3)) == 0 && named(&t, "blk.0.attn_qkv.bias")))
      c->qkv_bias = true;
    if (named(&t, "blk.0.attn_output.bias")) c->out_bias = true;
    if (named(&t, "blk.0.ffn_down.bias")) c->mlp_bias = true;
    if (s->bit == PHI3 && named(&t, "rope_factors_long.weight")) c->rope.kind = ROPE_LONG;
    if ((s->bit & (STABLELM | COHERE)) != 0 && named(&t, "blk.0.attn_q_norm.weight"))
      c->qk_norm = c->qk_norm_each = true;
    if (s->bit == STABLELM && named(&t, "blk.0.ffn_norm.weight")) second = true;
    if (s->bit == FALCON && named(&t, "blk.0.attn_norm_2.weight")) second = true;
    if (named(&t, "token_embd.weight") && t.rank == 2) rows = t.shape[0];
  }
  if (s->bit == STABLELM) c->parallel = !second;
  if ((s->bit & (STABLELM | FALCON)) != 0) c->shared_norm = !second;
  const struct gguf_entry *e = gguf_find(&s->g, "tokenizer.ggml.tokens");
  if (rows == 0 && e != NULL) rows = e->count;
  if (rows > 0 && rows <= MOST) c->vocab_size = (uint32_t) rows;
  return (rows > 0 && rows <= MOST) || error_found(s->why, s->g.path,
    "token_embd.weight", rows == 0 ? "missing" : "one of too many rows",
    "a row for each token");
}

/* Whether some reader has asked for this key. The keys that are compared, and not read, count too;
   GPT-2 has no rotation and no window to compare. */
static bool reads(const struct key_reader *s, const char *key)
{
  static const char *const more[] = { "attention.value_length",
    "rope.dimension_count", "rope.scaling.type", "attention.sliding_window" };
  size_t n = strlen(s->arch);
  for (size_t i = 0; i < sizeof read_elsewhere / sizeof read_elsewhere[0]; i++)
    if (strcmp(key, read_elsewhere[i]) == 0) return true;
  if (strncmp(key, s->arch, n) != 0) return false;
  if (is_used(s, key + n)) return true;
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    if (strcmp(key + n, more[i]) == 0 && s->bit != GPT2) return true;
  return strcmp(key + n, "attention.value_length") == 0;
}

/* Why this key changes no logit; null if it is in no table. A fixed key that comes here was found to
   have its one good value. */
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

/* A value that says no is no reason to refuse a file, whatever its key means. A number never says no:
   a threshold of zero may mean something. */
static bool says_no(const struct gguf_entry *e)
{
  bool flag = true;
  struct gguf_words words = { NULL, 1 };
  if (gguf_flag(e, &flag) && !flag) return true;
  if (gguf_string(e, &words) && words.n == 0) return true;
  return e->is_array && e->count == 0;
}

/* The caller may have named the key, or tolerate all; else its name is kept for the one sentence, as
   far as there is room, and those that do not fit are counted. */
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

/* A key may be longer than any that we know; it is cut for the message. */
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

/* A file beside a model, which is none itself: what is wanted says where the model is. */
static bool is_no_model(struct key_reader *s, const struct gguf_words *type)
{
  char kind[32];
  snprintf(kind, sizeof kind, "%.*s", type->n < sizeof kind ? (int) type->n : 0, type->text);
  const char *wanted = "model";
  if (strcmp(kind, "adapter") == 0) wanted = "model, as one is with the adapter merged into it";
  if (strcmp(kind, "mmproj") == 0) wanted = "model, the file beside this one, which reads images for it";
  return !key_bad(s, "general.type", wanted);
}

static bool is_unknown_family(struct key_reader *s, const struct gguf_words *type)
{
  char name[64], buffer[64], found[200], all[FAMILY_LIST];
  static const char key[] = "general.architecture";
  snprintf(name, sizeof name, "%.*s", type->n < sizeof name ? (int) type->n : 0, type->text);
  const char *kind = other_kind(name);
  snprintf(found, sizeof found, "%s%s", gguf_excerpt(gguf_find(&s->g, key), buffer), kind);
  return !error_found(s->why, s->g.path, key, found, *kind != '\0' ? OTHER_KIND_WANTED : family_list(true, all));
}

/* First we ask what the file is. An adapter has the same architecture as its model and is none. Then everything
   begins with what the family always does. What files may leave out begins at zero, as the keys or the
   tensors decide it: a length of keys, a window. Of the families that are a llama here the one with experts
   is told by their number. */
static bool find_architecture(struct key_reader *s)
{
  struct gguf_words word = { "", 0 };
  const struct gguf_entry *e = gguf_find(&s->g, "general.type");
  if (e != NULL && !(gguf_string(e, &word)
      && ((word.n == 5 && (memcmp(word.text, "model", 5) == 0
      || memcmp(word.text, "vocab", 5) == 0)))))
    return !is_no_model(s, &word);
  const struct family_row *found = NULL;
  word = (struct gguf_words) { "", 0 };
  if (gguf_string(gguf_find(&s->g, "general.architecture"), &word))
    for (unsigned i = 0; i < N_FAMILIES && found == NULL; i++)
      if (model_families[i].gguf != NULL && word.n == strlen(model_families[i].gguf)
        && memcmp(word.text, model_families[i].gguf, word.n) == 0)
        found = &model_families[i], s->bit = 1u << i;
  if (found == NULL) return !is_unknown_family(s, &word);
  snprintf(s->arch, sizeof s->arch, "%s.", found->gguf);
  e = s->bit == LLAMA ? gguf_find(&s->g, "llama.expert_count") : NULL;
  if (e != NULL && gguf_integer(e) && !e->is_array && gguf_number(e, 0) > 0)
    s->bit = MIXTRAL, found = &model_families[FAMILY_MIXTRAL];
  *s->c = found->always;
  s->c->head_dim = 0;
  s->c->window_from = 0;
  if (s->bit != GEMMA2) s->c->window = 0;
  s->c->one_plus = s->c->qkv_grouped = false;
  if ((s->bit & (SEED_OSS | QWEN2_MOE)) != 0) s->c->qkv_bias = false;
  if (s->bit == QWEN3_MOE) s->c->chosen_normed = true; /* as llama.cpp computes all of this kind */
  s->c->score_scale = 0;
  s->c->sampling = (struct sampling_defaults) { .temperature = 1, .top_p = 1,
    .typical_p = 1, .repetition_penalty = 1 };
  s->c->rope = (struct rope_config) { .theta = 10000, .beta_fast = 32,
    .beta_slow = 1, .truncate = true, .local_theta = found->always.rope.local_theta };
  return true;
}

/* In this order: the family decides which keys count; sizes follow from keys; which tensors there are
   decides the size of the vocabulary; and only when all readers have asked is it known what is left. */
static bool read_settings(struct key_reader *s)
{
  return find_architecture(s) && take_keys(s) && derive_sizes(s)
    && (s->c->learned_positions || take_stretching(s)) && look_at_tensors(s)
    && take_ids(s) && take_advice(s) && account(s);
}

bool gguf_settings_open(struct model_config *c, struct memory *m,
  const char *path, struct config_options *o, struct error *why)
{
  struct gguf_parts p;
  struct key_reader s = { .c = c, .o = o, .parts = &p, .why = why };
  *c = (struct model_config) { .family = NULL };
  if (!gguf_parts_open(&p, m, path, why)) return false;
  s.g = p.part[0].g;
  bool ok = read_settings(&s);
  gguf_parts_close(&p);
  if (!ok) config_close(m, c);
  return ok;
}
