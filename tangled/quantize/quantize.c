/* quantize.c -- made from workshop/36-quantize.w; change it there */

#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "families/families.h"
#include "families/gguf_settings.h"
#include "families/loader.h"
#include "families/rope_scaling.h"
#include "functions/numbers.h"
#include "gguf/writing.h"
#include "ground/new_file.h"
#include "model/quantization.h"
#include "quantize/quantize.h"
#include "safetensors/jsonfile.h"
#include "safetensors/tensor_file.h"
#include "tokenizer-json/gguf_tokenizer.h"
#include "tokenizer-json/tokenizer_json.h"

/* <The types that are written> */
bool quantize_type(const char *name, enum weight_type *type)
{
  for (unsigned t = 0; t < N_WEIGHT_TYPES; t++)
    if (number_types[t].is_written && strcmp(name, number_types[t].word) == 0) {
      *type = (enum weight_type) t;
      return true;
    }
  return false;
}

/* <The work> */
enum { MAX_PER_LAYER = 24 };
struct planned { char name[64]; struct tensor from; enum weight_type type;
  size_t in, out, half; bool transposed, is_vector; };
struct work {
  struct memory *m;
  struct quantize_options *o;
  struct quantize_result *r;
  const struct model *lm;
  const char *arch; /* the name of the architecture in the file */
  const struct tensor_layout *layout;
  struct planned *plan;
  size_t n, cap;
  float *x; /* a row, */
  unsigned char *coded; /* and its bytes */
  struct tokenizer *t; /* null: none */
  struct gguf_draft draft;
  uint64_t done, all; /* numbers */
  struct error *why;
};

/* <Which type a tensor gets> */
static enum weight_type type_for(enum weight_type asked, enum tensor_role role,
  size_t row)
{
  bool ends = role == TENSOR_EMBEDDING || role == TENSOR_HEAD;
  if (role == TENSOR_POSITIONS) return WEIGHT_F32;
  if (ends && number_types[asked].bits < 8) asked = WEIGHT_Q8_0;
  return row % number_types[asked].block == 0 ? asked : WEIGHT_F16;
}

/* <Plan the tensors> */
static bool plan(struct work *w, enum tensor_role role, uint32_t layer,
  const char *what, struct planned p)
{
  if (p.from.data == NULL) return true;
  struct planned *list = memory_reserve(w->m, MEMORY_OTHER, w->plan, &w->cap,
    w->n + 1, MAX_PER_LAYER, sizeof *list, w->why);
  char name[160];
  if (list == NULL) return false;
  w->plan = list;
  layout_name(w->layout, role, "", layer, what, name);
  snprintf(p.name, sizeof p.name, "%.63s", name);
  p.type = p.is_vector ? WEIGHT_F32 : type_for(w->o->type, role, p.in);
  if (w->layout->of[role].permuted && !w->lm->neighbours)
    p.half = w->lm->config.head_dim / 2;
  w->plan[w->n++] = p;
  return true;
}

static bool plan_vector(struct work *w, enum tensor_role role, uint32_t layer,
  const char *what, struct tensor from, size_t n)
{
  return plan(w, role, layer, what, (struct planned) { .from = from, .in = 1,
    .out = n, .is_vector = true });
}

static bool plan_matrix(struct work *w, enum tensor_role role, uint32_t layer,
  const struct matrix *a)
{
  return plan(w, role, layer, "weight", (struct planned) { .from = a->weight,
    .in = a->in, .out = a->out, .transposed = a->transposed })
    && plan_vector(w, role, layer, "bias", a->bias, a->out);
}

static bool plan_norm(struct work *w, enum tensor_role role, uint32_t layer,
  const struct norm *g, size_t n)
{
  return plan_vector(w, role, layer, "weight", g->gain, n)
    && plan_vector(w, role, layer, "bias", g->bias, n);
}

static bool plan_layer(struct work *w, uint32_t i, const struct model_layer *l)
{
  static const enum tensor_role three[] = { TENSOR_Q, TENSOR_K, TENSOR_V };
  const struct model_config *c = &w->lm->config;
  bool ok = plan_norm(w, TENSOR_ATTN_NORM, i, &l->attn_norm, c->d_model);
  for (size_t j = 0; ok && j < l->n_qkv; j++)
    ok = plan_matrix(w, l->n_qkv == 1 ? TENSOR_QKV : three[j], i, &l->qkv[j]);
  ok = ok && plan_norm(w, TENSOR_Q_NORM, i, &l->q_norm, c->head_dim)
    && plan_norm(w, TENSOR_K_NORM, i, &l->k_norm, c->head_dim)
    && plan_matrix(w, TENSOR_OUT, i, &l->out)
    && plan_norm(w, TENSOR_MLP_NORM, i, &l->mlp_norm, c->d_model);
  for (size_t j = 0; ok && j < l->n_up; j++)
    ok = plan_matrix(w, j + 1 == l->n_up ? TENSOR_UP : TENSOR_GATE, i, &l->up[j]);
  return ok && plan_matrix(w, TENSOR_DOWN, i, &l->down);
}

static bool plan_model(struct work *w, struct tensor factors)
{
  const struct model *lm = w->lm;
  const struct model_config *c = &lm->config;
  struct matrix ends[2] = { { .weight = lm->embedding, .in = c->d_model,
    .out = c->vocab_size }, { .weight = lm->positions, .in = c->d_model,
    .out = c->n_positions } };
  bool ok = plan_matrix(w, TENSOR_EMBEDDING, 0, &ends[0])
    && plan_matrix(w, TENSOR_POSITIONS, 0, &ends[1])
    && plan_vector(w, TENSOR_ROPE_FACTORS, 0, "weight", factors, c->head_dim / 2);
  for (uint32_t i = 0; ok && i < c->n_layers; i++)
    ok = plan_layer(w, i, &lm->layers[i]);
  return ok && plan_norm(w, TENSOR_FINAL_NORM, 0, &lm->final_norm, c->d_model)
    && (c->tied || plan_matrix(w, TENSOR_HEAD, 0, &lm->head));
}

/* <Make the divisors of the frequencies> */
static bool make_factors(struct work *w, float **made, struct tensor *factors)
{
  const struct model_config *c = &w->lm->config;
  const struct tensor_entry *t = tensor_file_find(w->lm->weights,
    "rope_freqs.weight");
  uint32_t half = c->head_dim / 2;
  *made = NULL;
  *factors = (struct tensor) { t == NULL ? NULL : t->data, WEIGHT_F32 };
  if (t != NULL) factors->type = (enum weight_type) t->type;
  if (c->rope.kind != ROPE_LLAMA3 || c->learned_positions) return true;
  *made = memory_alloc(w->m, MEMORY_OTHER, half, sizeof **made, w->why);
  for (uint32_t i = 0; i < half && *made != NULL; i++)
    (*made)[i] = (float) (rope_frequency(c->rope.theta, i, half)
      / rope_scaled_frequency(&c->rope, i, half));
  *factors = (struct tensor) { *made, WEIGHT_F32 };
  return *made != NULL;
}

/* <Write the settings> */
static const char *key_in(struct work *w, const char *rest, char key[80])
{
  snprintf(key, 80, "%s.%s", w->arch, rest);
  return key;
}

static void add_numbers(struct work *w, const struct model_config *c)
{
  const struct setting *s;
  const char *name;
  char key[80];
  for (size_t i = 0; (name = gguf_settings_key(&i, c->family, &s)) != NULL; ) {
    double x = setting_value(s, c);
    key_in(w, name, key);
    switch (s->kind) {
    case SETTING_REAL: gguf_add_real(&w->draft, key, x); break;
    case SETTING_FLAG: gguf_add_flag(&w->draft, key, x != 0); break;
    case SETTING_COUNT: case SETTING_CURVE:
      gguf_add_count(&w->draft, key, (uint32_t) x);
    }
  }
}

static void add_rope(struct work *w, const struct rope_config *r)
{
  bool yarn = r->kind == ROPE_YARN;
  struct rope_config plain = *r;
  char key[80];
  plain.attention_factor = plain.mscale = plain.mscale_all_dim = 0;
  gguf_add_real(&w->draft, key_in(w, "rope.freq_base", key), r->theta);
  if (r->kind != ROPE_LINEAR && !yarn) return;
  gguf_add_text(&w->draft, key_in(w, "rope.scaling.type", key),
    yarn ? "yarn" : "linear", yarn ? 4 : 6);
  gguf_add_real(&w->draft, key_in(w, "rope.scaling.factor", key), r->factor);
  if (!yarn) return;
  gguf_add_count(&w->draft, key_in(w, "rope.scaling.original_context_length", key),
    r->original);
  gguf_add_real(&w->draft, key_in(w, "rope.scaling.attn_factor", key),
    rope_scaled_attention(r) / rope_scaled_attention(&plain));
  gguf_add_real(&w->draft, key_in(w, "rope.scaling.yarn_beta_fast", key),
    r->beta_fast);
  gguf_add_real(&w->draft, key_in(w, "rope.scaling.yarn_beta_slow", key),
    r->beta_slow);
}

static void add_kind(struct work *w)
{
  size_t n[N_WEIGHT_TYPES] = { 0 }, most = 0;
  for (size_t i = 0; i < N_WEIGHT_TYPES; i++) {
    for (size_t k = 0; k < w->n; k++)
      n[i] += !w->plan[k].is_vector && w->plan[k].type == i;
    if (n[i] > n[most] || (n[i] == n[most] && w->o->type == i)) most = i;
  }
  gguf_add_count(&w->draft, "general.file_type", number_types[most].file);
  gguf_add_count(&w->draft, "general.quantization_version", 2);
}

static void add_name(struct work *w)
{
  const char *from = w->o->from;
  size_t n = strlen(from), at;
  while (n > 0 && from[n - 1] == '/') n--;
  for (at = n; at > 0 && from[at - 1] != '/'; at--) {}
  gguf_add_text(&w->draft, "general.type", "model", 5);
  if (at < n && from[n - 1] != '.')
    gguf_add_text(&w->draft, "general.name", from + at, n - at);
}

static void add_advice(struct work *w, const struct sampling_defaults *s)
{
  const struct { const char *name; double x, otherwise; bool always; } row[] =
    { {"penalty_repeat", s->repetition_penalty, 1, true},
    {"temp", s->temperature, -1, false}, {"top_p", s->top_p, 1, false},
    {"min_p", s->min_p, 0, false} };
  char key[80];
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    if (row[i].x == row[i].otherwise || !(row[i].always || s->do_sample)) continue;
    snprintf(key, sizeof key, "general.sampling.%s", row[i].name);
    gguf_add_real(&w->draft, key, row[i].x);
  }
  if (s->do_sample && s->top_k != 0)
    gguf_add_count(&w->draft, "general.sampling.top_k", s->top_k);
}

static void add_settings(struct work *w)
{
  const struct model_config *c = &w->lm->config;
  gguf_add_text(&w->draft, "general.architecture", w->arch, strlen(w->arch));
  add_name(w);
  add_kind(w);
  add_advice(w, &c->sampling);
  add_numbers(w, c);
  if (!c->learned_positions) add_rope(w, &c->rope);
}

/* <Compare what was written> */
static bool same_settings(const struct model_config *a, const struct model_config *b,
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
  for (uint32_t i = 0; i < a->n_layers && lost == NULL; i++) {
    uint32_t window = config_window(a, i);
    if (window != 0 && window < a->n_positions) return error_say(why,
      "%s: its sliding_window of %" PRIu32 " would be lost: readers of GGUF files"
      " ignore it in a model of this kind", path, window);
  }
  if (lost == NULL && memcmp(a->eos, b->eos, a->n_eos * sizeof *a->eos) != 0)
    lost = "eos_token_id";
  return lost == NULL || error_say(why, "%s: its %s cannot be said in a GGUF file",
    path, lost);
}

/* <Write the vocabulary> */
enum { TYPE_NORMAL = 1, TYPE_UNKNOWN, TYPE_CONTROL, TYPE_USER, TYPE_UNUSED,
  TYPE_BYTE };
struct words { const struct tokenizer *t; uint32_t n; bool scored;
  unsigned char *type; struct span *text; float *score; };
static const unsigned char *pool_at(const struct words *v, struct span s)
{
  return v->t->string_pool.byte + s.at;
}

static bool is_byte_piece(const struct words *v, struct span s)
{
  const unsigned char *c = pool_at(v, s);
  return s.n == 6 && memcmp(c, "<0x", 3) == 0 && hex_byte(c + 3) >= 0
    && c[5] == '>';
}

static void find_types(struct words *v)
{
  const struct tokenizer *t = v->t;
  for (uint32_t i = 0; i < v->n; i++) {
    struct span none = { 0, 0 };
    v->text[i] = i < t->n_vocab ? t->vocab[i].piece : none;
    v->type[i] = v->text[i].n == 0 ? TYPE_UNUSED : TYPE_NORMAL;
    if (v->scored && v->text[i].n > 0 && is_byte_piece(v, v->text[i]))
      v->type[i] = TYPE_BYTE;
  }
  for (size_t i = 0; i < t->n_added; i++)
    if (t->added[i].id < v->n) {
      v->text[t->added[i].id] = t->added[i].text;
      v->type[t->added[i].id] = t->added[i].special ? TYPE_CONTROL : TYPE_USER;
    }
  if (v->scored && t->unknown > 0) v->type[t->unknown - 1] = TYPE_UNKNOWN;
}

static void find_scores(struct words *v)
{
  const struct bpe *b = &v->t->rules;
  for (uint32_t i = 0; i < v->n; i++) v->score[i] = -(float) b->n - 1;
  for (size_t i = b->n; i-- > 0;)
    if (b->rule[i].made < v->n) v->score[b->rule[i].made] = -(float) b->rule[i].rank;
}

static bool spell(struct work *w, const unsigned char *byte, size_t n,
  struct bytes *row)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t c = tokenizer_byte_to_unicode(byte[i]);
    unsigned char two[2] = { (unsigned char) (0xc0 | c >> 6),
      (unsigned char) (0x80 | (c & 0x3f)) };
    if (c < 0x80) two[0] = (unsigned char) c;
    if (!bytes_push(w->m, row, two, c < 0x80 ? 1 : 2, w->why)) return false;
  }
  return true;
}

static void add_words(struct work *w, const struct words *v, struct bytes *row)
{
  gguf_add_array(&w->draft, "tokenizer.ggml.tokens", GGUF_STRING, v->n);
  for (uint32_t i = 0; i < v->n && w->draft.ok; i++) {
    const unsigned char *c = pool_at(v, v->text[i]);
    char pad[24];
    row->n = 0;
    if (v->type[i] == TYPE_UNUSED)
      gguf_add_element(&w->draft, pad, (size_t) snprintf(pad, sizeof pad,
        "[PAD%" PRIu32 "]", i));
    else if (v->scored || v->type[i] != TYPE_NORMAL)
      gguf_add_element(&w->draft, c, v->text[i].n);
    else if (spell(w, c, v->text[i].n, row))
      gguf_add_element(&w->draft, row->byte, row->n);
    else w->draft.ok = false;
  }
  gguf_add_array(&w->draft, "tokenizer.ggml.token_type", GGUF_I32, v->n);
  for (uint32_t i = 0; i < v->n; i++) gguf_add_number(&w->draft, 4, v->type[i]);
}

static void add_merges(struct work *w, const struct words *v, struct bytes *row)
{
  const struct bpe *b = &v->t->rules;
  gguf_add_array(&w->draft, "tokenizer.ggml.merges", GGUF_STRING, b->n);
  for (size_t i = 0; i < b->n && w->draft.ok; i++) {
    struct span l = v->t->vocab[b->rule[i].left].piece;
    struct span r = v->t->vocab[b->rule[i].right].piece;
    row->n = 0;
    if (spell(w, pool_at(v, l), l.n, row)
      && bytes_push(w->m, row, " ", 1, w->why)
      && spell(w, pool_at(v, r), r.n, row))
      gguf_add_element(&w->draft, row->byte, row->n);
    else w->draft.ok = false;
  }
}

static void add_scores(struct work *w, const struct words *v)
{
  gguf_add_array(&w->draft, "tokenizer.ggml.scores", GGUF_F32, v->n);
  for (uint32_t i = 0; i < v->n; i++)
    gguf_add_number(&w->draft, 4, num_bits32(v->score[i]));
}

static void add_ids(struct work *w, const struct tokenizer *t)
{
  static const char *const ends[] = { "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id" };
  const struct model_config *c = &w->lm->config;
  bool adds = t != NULL && t->prefix_ids.n > 0;
  if (adds || c->has_bos) gguf_add_count(&w->draft, "tokenizer.ggml.bos_token_id",
    adds ? t->prefix_ids.id[0] : c->bos);
  for (uint32_t i = 0; i < c->n_eos && i < 3; i++)
    gguf_add_count(&w->draft, ends[i], c->eos[i]);
  if (c->n_eos > 3) {
    gguf_add_array(&w->draft, "tokenizer.ggml.eos_token_ids", GGUF_I32, c->n_eos);
    for (uint32_t i = 0; i < c->n_eos; i++) gguf_add_number(&w->draft, 4, c->eos[i]);
  }
  if (t == NULL) return;
  gguf_add_flag(&w->draft, "tokenizer.ggml.add_bos_token", adds);
  gguf_add_flag(&w->draft, "tokenizer.ggml.add_eos_token", t->suffix_ids.n > 0);
  if (t->char_level && t->unknown > 0)
    gguf_add_count(&w->draft, "tokenizer.ggml.unknown_token_id", t->unknown - 1);
}

static bool puts_blank(const struct tokenizer *t)
{
  for (size_t i = 0; i < t->n_steps; i++)
    if (t->step[i].what == STEP_PREPEND) return true;
  return false;
}

static bool can_be_said(const struct words *v, struct gguf_words pre,
  const char *path, struct error *why)
{
  const struct tokenizer *t = v->t;
  const char *lost = NULL;
  if (t->n_vocab > v->n) lost = "has more tokens than the model";
  if (!v->scored && pre.n == 0) lost = "cuts texts in a way that has no name there";
  if (t->prefix_ids.n > 1 || t->suffix_ids.n > 1)
    lost = "puts several tokens around a text";
  for (size_t i = 0; i < t->n_added; i++) {
    const struct added_token *a = &t->added[i];
    if (a->lstrip || a->rstrip || a->single_word)
      lost = "has an added token that takes blanks with it, or stands alone";
  }
  return lost == NULL || error_say(why, "%s: cannot become a GGUF file: its tokenizer %s",
    path, lost);
}

static bool add_kind_of_words(struct work *w, const struct words *v)
{
  struct gguf_words pre = { "default", 7 };
  if (!v->scored && !gguf_tokenizer_pre(w->m, v->t, &pre, w->why)) return false;
  if (!can_be_said(v, pre, w->o->from, w->why)) return false;
  gguf_add_text(&w->draft, "tokenizer.ggml.model", v->scored ? "llama" : "gpt2",
    v->scored ? 5 : 4);
  gguf_add_text(&w->draft, "tokenizer.ggml.pre", pre.text, pre.n);
  if (v->scored) gguf_add_flag(&w->draft, "tokenizer.ggml.add_space_prefix",
    puts_blank(v->t));
  return true;
}

static bool add_vocabulary(struct work *w, const struct tokenizer *t)
{
  struct words v = { .t = t, .n = w->lm->config.vocab_size };
  struct bytes row = { .n = 0 };
  if (t == NULL) gguf_add_text(&w->draft, "tokenizer.ggml.model", "none", 4);
  add_ids(w, t);
  if (t == NULL) return w->draft.ok;
  v.scored = t->char_level;
  v.type = memory_alloc(w->m, MEMORY_OTHER, v.n, sizeof *v.type, w->why);
  v.text = v.type == NULL ? NULL
    : memory_alloc(w->m, MEMORY_OTHER, v.n, sizeof *v.text, w->why);
  v.score = v.text == NULL ? NULL
    : memory_alloc(w->m, MEMORY_OTHER, v.n, sizeof *v.score, w->why);
  bool ok = v.score != NULL && add_kind_of_words(w, &v);
  if (ok) {
    find_types(&v);
    find_scores(&v);
    add_words(w, &v, &row);
    if (v.scored) add_scores(w, &v);
    else add_merges(w, &v, &row);
  }
  memory_free(w->m, v.type);
  memory_free(w->m, v.text);
  memory_free(w->m, v.score);
  bytes_free(w->m, &row);
  return ok && w->draft.ok;
}

/* <Write the template> */
static bool add_template(struct work *w)
{
  static const char key[] = "tokenizer.chat_template";
  char path[PATH_CAP];
  struct mapping map;
  if (path_find(path, w->o->from, "chat_template.jinja", F_OK)) {
    if (!file_map(&map, path, w->why)) return false;
    gguf_add_text(&w->draft, key, map.bytes, map.size);
    file_unmap(&map);
    return w->draft.ok;
  }
  if (!path_find(path, w->o->from, "tokenizer_config.json", F_OK)) return true;
  json_t *all = jsonfile_read(path, JSONFILE_MAX_SETTINGS, w->why);
  const json_t *text = json_object_get(all, "chat_template");
  if (json_is_string(text)) gguf_add_text(&w->draft, key, json_string_value(text),
    json_string_length(text));
  json_decref(all);
  return all != NULL && w->draft.ok;
}

/* <Copy the keys of a file> */
static bool copy_keys(struct work *w)
{
  static const char *const changed[] = { "general.file_type",
    "general.quantization_version", "general.alignment" };
  struct mapping map;
  struct gguf_file g;
  if (!file_map(&map, w->o->from, w->why)) return false;
  bool ok = gguf_read(&g, w->m, w->o->from, map.bytes, map.size, w->why);
  for (size_t i = 0; ok && i < g.n_entries; i++) {
    bool other = false;
    for (int k = 0; k < 3; k++)
      other = other || (g.entry[i].key.n == strlen(changed[k])
        && memcmp(g.entry[i].key.text, changed[k], g.entry[i].key.n) == 0);
    if (!other) gguf_add_entry(&w->draft, &g.entry[i]);
  }
  gguf_free(&g);
  file_unmap(&map);
  add_kind(w);
  return ok && w->draft.ok;
}

/* <Write the numbers> */
static size_t row_of(const struct planned *p, size_t i)
{
  size_t d = 2 * p->half, k = d == 0 ? 0 : i % d;
  return d == 0 ? i : i - k + k % 2 * p->half + k / 2;
}

static bool write_row(struct work *w, const struct planned *p, size_t i, FILE *f)
{
  struct error inner;
  size_t row = row_of(p, i), bytes = weight_row_bytes(p->type, p->in);
  for (size_t k = 0; k < p->in; k++)
    w->x[k] = tensor_number(p->from,
      p->transposed ? k * p->out + row : row * p->in + k);
  if (!weights_encode(p->type, w->x, p->in, w->coded, &inner))
    return error_say(w->why, "%s: %s, row %zu: %.200s", w->o->from, p->name, row,
      inner.text);
  /* <Refuse a number that has become infinite> */
  for (size_t k = 0; k < p->in && number_types[p->type].block == 1; k++) {
    float y = tensor_number((struct tensor) { w->coded, p->type }, k);
    if (y - y != 0) return error_say(w->why, "%s: %s, row %zu: number %zu, %g,"
      " is infinite in %s; wanted: smaller numbers, or another type", w->o->from,
      p->name, row, k, (double) w->x[k], number_types[p->type].name);
  }
  fwrite(w->coded, 1, bytes, f);
  w->done += p->in;
  return true;
}

static bool write_tensor(struct work *w, const struct planned *p, FILE *f)
{
  uint64_t told = w->done;
  for (size_t i = 0; i < p->out; i++) {
    if (!write_row(w, p, i, f)) return false;
    if (w->done - told < 1 << 16 && i + 1 < p->out) continue;
    told = w->done;
    if (!progress_tell(w->o->progress, (size_t) w->done, (size_t) w->all))
      return error_say(w->why, "%s: the writing was given up", w->o->to);
    if (ferror(f)) return error_say(w->why, "%s: cannot be written: %s", w->o->to,
      strerror(errno));
  }
  gguf_write_padding(f, (uint64_t) p->out * weight_row_bytes(p->type, p->in));
  return true;
}

/* <List the tensors and count> */
static bool list_tensors(struct work *w)
{
  size_t longest = 1;
  struct quantize_result *r = w->r;
  for (size_t i = 0; i < w->n; i++) {
    const struct planned *p = &w->plan[i];
    const uint64_t shape[] = { p->out, p->in };
    gguf_add_tensor(&w->draft, p->name, p->type, p->is_vector ? 1 : 2, shape);
    if (p->in > longest) longest = p->in;
    w->all += (uint64_t) p->in * p->out;
    r->tensors++;
    r->blocks += p->type == w->o->type;
    r->before += p->out * weight_row_bytes(p->from.type, p->in);
    r->after += p->out * weight_row_bytes(p->type, p->in);
  }
  r->numbers = w->all;
  w->x = memory_alloc(w->m, MEMORY_OTHER, longest, sizeof *w->x, w->why);
  w->coded = w->x == NULL ? NULL
    : memory_alloc(w->m, MEMORY_OTHER, longest, sizeof(float), w->why);
  return w->coded != NULL && w->draft.ok;
}

/* <Read the file again> */
static bool same_tokens(struct work *w, const struct tokenizer *t, const char *part)
{
  static const char text[] = "Once upon a time, there's  naive\t\n\n 12345 "
    "Zo\xc3\xab's \xe2\x82\xac""9.99\n  x=(y+1); \xe6\x97\xa5\xe6\x9c\xac "
    "\xf0\x9f\x99\x82 e\xcc\x81t\xc3\xa9 THE end";
  struct tokenizer *again = tokenizer_open(w->m, part, w->why);
  struct ids a = { .n = 0 }, b = { .n = 0 };
  bool ok = again != NULL && tokenizer_encode(t, w->m, text, sizeof text - 1,
      true, true, &a, w->why)
    && tokenizer_encode(again, w->m, text, sizeof text - 1, true, true, &b, w->why);
  if (ok && (a.n != b.n || memcmp(a.id, b.id, a.n * sizeof *a.id) != 0))
    ok = error_say(w->why, "%s: its tokenizer cannot be said in a GGUF file",
      w->o->from);
  ids_free(w->m, &a);
  ids_free(w->m, &b);
  tokenizer_close(w->m, again);
  return ok;
}

static bool read_again(struct work *w, const char *part)
{
  struct model_config c;
  struct config_options fields = w->o->fields;
  fields.used = NULL;
  if (!config_open_with(&c, w->m, part, &fields, w->why)) return false;
  bool ok = same_settings(&w->lm->config, &c, w->o->from, w->why);
  config_close(w->m, &c);
  return ok && (w->t == NULL || same_tokens(w, w->t, part));
}

/* <Write the file> */
static bool write_numbers(struct work *w, FILE *f)
{
  bool ok = gguf_write_draft(&w->draft, f);
  for (size_t i = 0; ok && i < w->n; i++) ok = write_tensor(w, &w->plan[i], f);
  long size = ok ? ftell(f) : -1;
  w->r->file = size > 0 ? (uint64_t) size : 0;
  return ok;
}

static bool is_of_model(const char *from, const char *to)
{
  char at[PATH_CAP];
  DIR *list = opendir(from);
  bool is = path_same(from, to);
  for (struct dirent *e; list != NULL && !is && (e = readdir(list)) != NULL; ) {
    const char *end = strrchr(e->d_name, '.');
    is = (end == NULL || (end != e->d_name && strcmp(end, ".gguf") != 0))
      && path_join(at, from, e->d_name, NULL) && path_same(at, to);
  }
  if (list != NULL) closedir(list);
  return is;
}

static bool write_whole(struct work *w)
{
  struct new_file to;
  if (is_of_model(w->o->from, w->o->to))
    return error_say(w->why, "%s: is the model itself, or a file of it; wanted: another file",
      w->o->to);
  if (!new_file_open(&to, w->o->to, false, w->why)) return false;
  bool ok = write_numbers(w, to.f) && new_file_stored(&to, w->why)
    && read_again(w, to.part);
  return new_file_end(&to, ok, w->why);
}

/* <Find out what the model is> */
static bool find_kind(struct work *w)
{
  const struct model *lm = w->lm;
  w->arch = family_named(lm->config.family)->gguf;
  w->layout = layout_find("gguf", lm->config.family);
  return (lm->matrix_types & WEIGHTS_IN_BLOCKS) == 0 || error_found(w->why,
    w->o->from, "a tensor", "in blocks already", "f32, f16 or bf16");
}

static bool find_tokenizer(struct work *w)
{
  enum tokenizer_found found = tokenizer_try(w->m, w->o->from, &w->t, w->why);
  return found == TOKENIZER_OPEN || found == TOKENIZER_ABSENT;
}

static bool make_file(struct work *w, float **made)
{
  struct tensor factors;
  bool one_file = gguf_recognizes(w->o->from);
  if (!find_kind(w) || !make_factors(w, made, &factors)
    || !plan_model(w, factors)) return false;
  if (one_file ? !copy_keys(w) : !find_tokenizer(w)) return false;
  if (!one_file) {
    add_settings(w);
    if (!add_vocabulary(w, w->t) || !add_template(w)) return false;
  }
  return list_tensors(w) && write_whole(w);
}

bool quantize_file(struct memory *m, struct quantize_options *o,
  struct quantize_result *r, struct error *why)
{
  struct model_open_options open = { .fields = o->fields };
  struct model *lm = model_open_with(m, o->from, &open, why);
  struct work w = { .m = m, .o = o, .r = r, .lm = lm, .why = why,
    .draft = { .m = m, .ok = true, .why = why } };
  float *made = NULL;
  *r = (struct quantize_result) { .tensors = 0 };
  o->fields.n_unknown = open.fields.n_unknown;
  bool ok = lm != NULL && make_file(&w, &made);
  memory_free(m, w.plan);
  memory_free(m, w.x);
  memory_free(m, w.coded);
  memory_free(m, made);
  gguf_draft_free(&w.draft);
  tokenizer_close(m, w.t);
  model_close(m, lm);
  return ok;
}
