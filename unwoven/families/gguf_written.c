/* gguf_written.c -- the settings of a model, written as the keys of a GGUF file, and compared.

   The keys come from the table that the reader has, so a setting cannot be read under one name and
   written under another. A setting without a key is found in a way that cannot forget one: the
   finished file is read again, and what was read is compared with what should have been written.
   GELU in a Llama, scores scaled by the layer: the file would say nothing of them, the reader would
   assume the usual, and the comparison fails. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/families.h"
#include "families/gguf_settings.h"
#include "families/rope_scaling.h"

/* In these families a window has a key, and readers look for it. In some of them readers take the layers
   that have it for every one but the second, or the sixth, unless a list says otherwise. */
static bool takes_window(unsigned bit)
{ return (bit & (GEMMA2 | GEMMA3 | PHI3 | NEAR_TURNED | GPT_OSS)) != 0; }

/* The advice of the makers, so far as there are keys for it: the penalty always, and the rest if it
   is to be followed, since no key can say do_sample. What is neutral is left out. */
static void add_advice(struct gguf_draft *d, const struct sampling_defaults *s)
{
  const struct { const char *name; double x, otherwise; bool always; } row[] =
    { {"penalty_repeat", s->repetition_penalty, 1, true},
    {"temp", s->temperature, -1, false}, {"top_p", s->top_p, 1, false},
    {"min_p", s->min_p, 0, false} };
  char key[80];
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    if (row[i].x == row[i].otherwise || !(row[i].always || s->do_sample)) continue;
    snprintf(key, sizeof key, "general.sampling.%s", row[i].name);
    gguf_add_real(d, key, row[i].x);
  }
  if (s->do_sample && s->top_k != 0)
    gguf_add_count(d, "general.sampling.top_k", s->top_k);
}

static const char *key_in(const char *arch, const char *rest, char key[80])
{
  snprintf(key, 80, "%s.%s", arch, rest);
  return key;
}

static void add_numbers(struct gguf_draft *d, const char *arch,
  const struct model_config *c)
{
  const struct setting *s;
  const char *name;
  char key[80];
  for (size_t i = 0; (name = gguf_settings_key(&i, c->family, &s)) != NULL; ) {
    double x = setting_value(s, c);
    if (s->listed == SETTING_SHOWN_IF_SET && x == 0) continue;
    key_in(arch, name, key);
    switch (s->kind) {
    case SETTING_REAL: gguf_add_real(d, key, x); break;
    case SETTING_FLAG: gguf_add_flag(d, key, x != 0); break;
    case SETTING_COUNT: case SETTING_CURVE:
      gguf_add_count(d, key, (uint32_t) x);
    }
  }
}

/* What readers multiply by, to get whole. The quotient is rounded in the file, so the product may miss
   whole by the last bit; one of its neighbours may hit. */
static double factor_of(double whole, double by)
{
  float near = (float) (whole / by);
  for (int k = 0; k < 3; k++) {
    float x = (float) ((double) near * (1 + (k == 2 ? -1 : k) * 0x1.4p-24));
    if ((float) ((double) x * by) == (float) whole) return (double) x;
  }
  return (double) near;
}

/* Of the ways to stretch positions two have keys; Llama 3's is a tensor instead. In yarn the
   attention factor is written relative to the one that follows from the stretching, as readers
   expect: they multiply the two. A Ministral 3 has a key for one of the two numbers that shape it;
   the other is taken for 1. */
static void add_rope(struct gguf_draft *d, const char *arch,
  const struct rope_config *r)
{
  bool yarn = r->kind == ROPE_YARN, shaped = yarn && strcmp(arch, "mistral3") == 0 && r->mscale_all_dim > 0;
  struct rope_config plain = *r;
  char key[80];
  plain.attention_factor = plain.mscale = plain.mscale_all_dim = 0;
  if (shaped) plain.mscale = 1, plain.mscale_all_dim = r->mscale_all_dim;
  if (shaped) gguf_add_real(d, key_in(arch, "rope.scaling.yarn_log_multiplier", key), r->mscale_all_dim);
  gguf_add_real(d, key_in(arch, "rope.freq_base", key), r->theta);
  if (r->kind != ROPE_LINEAR && !yarn) return;
  gguf_add_text(d, key_in(arch, "rope.scaling.type", key),
    yarn ? "yarn" : "linear", yarn ? 4 : 6);
  gguf_add_real(d, key_in(arch, "rope.scaling.factor", key), r->factor);
  if (!yarn) return;
  gguf_add_count(d, key_in(arch, "rope.scaling.original_context_length", key),
    r->original);
  gguf_add_real(d, key_in(arch, "rope.scaling.attn_factor", key),
    factor_of(rope_scaled_attention(r), rope_scaled_attention(&plain)));
  gguf_add_real(d, key_in(arch, "rope.scaling.yarn_beta_fast", key), r->beta_fast);
  gguf_add_real(d, key_in(arch, "rope.scaling.yarn_beta_slow", key), r->beta_slow);
}

static bool lists_windows(const struct model_config *c, unsigned bit)
{
  uint32_t every = family_named(c->family)->always.window_pattern;
  bool usual = true;
  for (uint32_t i = 0; i < c->n_layers; i++)
    usual = usual && (config_window(c, i) > 0) == ((i + 1) % every != 0);
  return !usual || (bit & NEAR_TURNED) != 0;
}

/* A Gemma 3 without a window in any layer has none. */
static void add_windows(struct gguf_draft *d, const char *arch, const struct model_config *c,
  unsigned bit)
{
  char key[80];
  bool some = bit != GEMMA3;
  for (uint32_t i = 0; i < c->n_layers; i++) some = some || config_window(c, i) > 0;
  uint32_t window = some ? c->window : 0;
  if (takes_window(bit) && (bit != EXAONE4 || window > 0))
    gguf_add_count(d, key_in(arch, "attention.sliding_window", key), window);
  if (window == 0 || (bit & (GEMMA2 | GEMMA3 | NEAR_TURNED | GPT_OSS)) == 0 || !lists_windows(c, bit)) return;
  gguf_add_array(d, key_in(arch, "attention.sliding_window_pattern", key), GGUF_BOOL, c->n_layers);
  for (uint32_t i = 0; i < c->n_layers; i++) gguf_add_number(d, 1, config_window(c, i) > 0);
}

/* The keys that are no settings of the table, or say them in another way. Other readers of a Granite
   insist on its divisor. */
static void add_switches(struct gguf_draft *d, const char *arch, const struct model_config *c,
  unsigned bit)
{
  char key[80];
  if (bit == GRANITE) gguf_add_real(d, key_in(arch, "logit_scale", key),
    c->logit_scale != 0 ? 1 / c->logit_scale : 1);
  if ((bit & (NEOX | STABLELM)) != 0)
    gguf_add_flag(d, key_in(arch, "use_parallel_residual", key), c->parallel);
  if ((bit & PARTLY) != 0)
    gguf_add_count(d, key_in(arch, "rope.dimension_count", key), config_rotary(c));
  add_windows(d, arch, c, bit);
  if (c->rope.local_theta > 0)
    gguf_add_real(d, key_in(arch, "rope.freq_base_swa", key), c->rope.local_theta);
}

void gguf_settings_write(struct gguf_draft *d, const struct model_config *c)
{
  const struct family_row *f = family_named(c->family);
  const char *arch = f->gguf;
  add_switches(d, arch, c, 1u << (f - model_families));
  add_advice(d, &c->sampling);
  add_numbers(d, arch, c);
  if (!c->learned_positions) add_rope(d, arch, &c->rope);
}

/* A window is a case of its own. There is a key for it, but llama.cpp asks for that key only in other
   architectures, and would let every row see everything; so it is not written. */
static bool loses_window(const struct model_config *c, const char *path,
  struct error *why)
{
  for (uint32_t i = 0; i < c->n_layers; i++) {
    uint32_t window = config_window(c, i);
    if (window != 0 && window < c->n_positions)
      return !error_say(why, "%s: its sliding_window of %" PRIu32 " would be lost: readers"
        " of GGUF files ignore it in a model of this kind", path, window);
  }
  return false;
}

/* Nor is there a key for yarn's truncate: readers round the bounds, or in a gpt-oss do not. Where no wheel
   stands between a bound and the rounded one, nothing is lost. */
static bool loses_truncate(const struct model_config *a, const struct model_config *b)
{
  struct rope_config other = a->rope;
  uint32_t half = config_rotary(a) / 2;
  bool same = true;
  other.truncate = b->rope.truncate;
  for (uint32_t i = 0; a->rope.kind == ROPE_YARN && i < half; i++)
    same = same && (float) rope_scaled_frequency(&a->rope, i, half)
      == (float) rope_scaled_frequency(&other, i, half);
  return !same;
}

/* Which settings must be the same, the model's table says. A real number is rounded to float in the
   file, and so for the comparison. */
bool gguf_settings_same(const struct model_config *a, const struct model_config *b,
  const char *path, struct error *why)
{
  const char *lost = NULL;
  for (int i = 0; i < N_MODEL_SETTINGS && lost == NULL; i++) {
    const struct setting *s = &config_setting[i];
    double x = setting_value(s, a), y = setting_value(s, b);
    bool same = s->kind == SETTING_REAL ? (float) x == (float) y : x == y;
    if (s->same && !same) lost = s->name;
  }
  if (lost == NULL && a->n_eos != b->n_eos) lost = "n_eos";
  unsigned bit = 1u << (family_named(a->family) - model_families);
  if (lost == NULL && !takes_window(bit) && loses_window(a, path, why)) return false;
  for (uint32_t i = 0; i < a->n_layers && lost == NULL; i++) {
    if (config_turns(a, i) != config_turns(b, i)) lost = "list of layers that are turned";
    if (takes_window(bit) && config_window(a, i) != config_window(b, i))
      lost = "list of layers with a window";
  }
  if (lost == NULL && a->query_growth > 0 && a->rope.original != b->rope.original)
    lost = "length of the first training";
  if (lost == NULL && loses_truncate(a, b)) lost = "truncate, a setting of yarn,";
  if (lost == NULL && (float) a->rope.local_theta != (float) b->rope.local_theta)
    lost = "base of layers with a window";
  if (lost == NULL && memcmp(a->eos, b->eos, a->n_eos * sizeof *a->eos) != 0)
    lost = "eos_token_id";
  return lost == NULL || error_say(why, "%s: its %s cannot be said in a GGUF file",
    path, lost);
}
