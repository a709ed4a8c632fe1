/* loader.c -- made from workshop/03-models.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "safetensors/safetensors.h"
#include "families/loader.h"
#include "families/rope_scaling.h"

/* <The state of assembly> */
struct model_loader {
  struct memory *m;
  const struct kernels *k; /* those that will multiply */
  struct model *lm;
  const char *prefix; /* "transformer.", "model.", or nothing */
  bool *used; /* one for each tensor of the file */
  bool ok;
  uint64_t bytes; /* of the tensors found so far */
  struct error *why;
};

/* <Write a shape in words> */
static void shape_words(const struct tensor_entry *t, char found[64])
{
  size_t n = (size_t) snprintf(found, 64, "[");
  for (uint32_t i = 0; i < t->rank && n < 40; i++)
    n += (size_t) snprintf(found + n, 64 - n, "%s%" PRIu64, i > 0 ? ", " : "",
      t->shape[i]);
  snprintf(found + n, 64 - n, t->rank > 0 && n >= 40 ? "..." : "]");
}

/* <Find one tensor, and insist on its shape> */
static struct tensor require_tensor(struct model_loader *a, const char *name,
  uint64_t rows,
  uint64_t columns)
{
  struct tensor none = { NULL, WEIGHT_F32 };
  if (!a->ok) return none;
  const struct tensor_entry *t = tensor_file_find(a->lm->weights, name);
  char wanted[64], found[64] = "missing";
  if (columns == 0) snprintf(wanted, sizeof wanted, "[%" PRIu64 "]", rows);
  else snprintf(wanted, sizeof wanted, "[%" PRIu64 ", %" PRIu64 "]", rows, columns);
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0
    || error_found(a->why, t == NULL ? tensor_file_path(a->lm->weights) : t->file, name,
      found, wanted);
  if (!a->ok) return none;
  /* <Turn t into a tensor of a type that we have, or fail> */
  if (t->type < N_WEIGHT_TYPES && (a->k->matrix_types >> t->type & 1) != 0) {
    a->used[t->number] = true, a->bytes += t->bytes;
    a->lm->matrix_types |= 1u << t->type;
    return (struct tensor) { t->data, (enum weight_type) t->type };
  }
  kernels_list_types(a->k, wanted);
  a->ok = error_found(a->why, t->file, name, number_types[t->type].name, wanted);
  return none;
}

/* <Tensors by the layer> */
static void layer_name(const struct model_loader *a, uint32_t layer, const char *name,
  const char *what, char full[160]);

/* <Find a matrix with its bias> */
static struct matrix require_matrix(struct model_loader *a, uint32_t layer,
  const char *name, size_t in, size_t out, bool bias)
{
  struct matrix w = { .in = in, .out = out };
  char full[160];
  w.transposed = a->lm->config.learned_positions;
  layer_name(a, layer, name, "weight", full);
  w.weight = w.transposed ? require_tensor(a, full, in, out) : require_tensor(a,
    full, out, in);
  layer_name(a, layer, name, "bias", full);
  if (bias) w.bias = require_tensor(a, full, out, 0);
  a->lm->layer_madds += (uint64_t) in * out;
  return w;
}

static void layer_name(const struct model_loader *a, uint32_t layer, const char *name,
  const char *what, char full[160])
{
  const char *list = a->lm->config.learned_positions ? "h" : "layers";
  snprintf(full, 160, "%s%s.%" PRIu32 ".%s.%s", a->prefix, list, layer, name, what);
}

/* <Find a norm> */
static struct norm require_norm(struct model_loader *a, const char *gain,
  const char *bias, size_t d)
{
  const struct model_config *c = &a->lm->config;
  struct norm g = { .kind = c->layer_norm ? NORM_LAYER : NORM_RMS,
    .epsilon = (float) c->norm_eps };
  g.gain = require_tensor(a, gain, d, 0);
  if (c->layer_norm) g.bias = require_tensor(a, bias, d, 0);
  return g;
}

static struct norm layer_norm(struct model_loader *a, uint32_t layer,
  const char *name, size_t d)
{
  char gain[160], bias[160];
  layer_name(a, layer, name, "weight", gain);
  layer_name(a, layer, name, "bias", bias);
  return require_norm(a, gain, bias, d);
}

/* <Assemble a layer of GPT-2> */
static void layer_gpt2(struct model_loader *a, uint32_t i, struct model_layer *l)
{
  size_t d = a->lm->config.d_model, inner = a->lm->config.d_inner;
  l->attn_norm = layer_norm(a, i, "ln_1", d);
  l->qkv[0] = require_matrix(a, i, "attn.c_attn", d, 3 * d, true);
  l->n_qkv = 1;
  l->out = require_matrix(a, i, "attn.c_proj", d, d, true);
  l->mlp_norm = layer_norm(a, i, "ln_2", d);
  l->up[0] = require_matrix(a, i, "mlp.c_fc", d, inner, true);
  l->n_up = 1;
  l->down = require_matrix(a, i, "mlp.c_proj", inner, d, true);
}

/* <Assemble a layer of Llama and its kin> */
static void layer_llama(struct model_loader *a, uint32_t i, struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  size_t q = (size_t) c->n_heads * c->head_dim;
  size_t kv = (size_t) c->n_kv_heads * c->head_dim;
  l->attn_norm = layer_norm(a, i, "input_layernorm", d);
  l->qkv[0] = require_matrix(a, i, "self_attn.q_proj", d, q, c->qkv_bias);
  l->qkv[1] = require_matrix(a, i, "self_attn.k_proj", d, kv, c->qkv_bias);
  l->qkv[2] = require_matrix(a, i, "self_attn.v_proj", d, kv, c->qkv_bias);
  l->n_qkv = 3;
  if (c->qk_norm) {
    l->q_norm = layer_norm(a, i, "self_attn.q_norm", c->head_dim);
    l->k_norm = layer_norm(a, i, "self_attn.k_norm", c->head_dim);
  }
  l->out = require_matrix(a, i, "self_attn.o_proj", q, d, c->out_bias);
  /* <Assemble the second half of a layer of Llama> */
  l->mlp_norm = layer_norm(a, i, "post_attention_layernorm", d);
  l->up[0] = require_matrix(a, i, "mlp.gate_proj", d, inner, c->mlp_bias);
  l->up[1] = require_matrix(a, i, "mlp.up_proj", d, inner, c->mlp_bias);
  l->n_up = 2;
  l->down = require_matrix(a, i, "mlp.down_proj", inner, d, c->mlp_bias);
}

/* <The model as a whole> */

/* <Assemble what is outside the layers> */
static void assemble_ends(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  bool gpt2 = c->learned_positions;
  char name[2][160];
  snprintf(name[0], 160, "%s%s", a->prefix, gpt2 ? "wte.weight" : "embed_tokens.weight");
  lm->embedding = require_tensor(a, name[0], c->vocab_size, c->d_model);
  snprintf(name[0], 160, "%swpe.weight", a->prefix);
  if (gpt2) lm->positions = require_tensor(a, name[0], c->n_positions, c->d_model);
  snprintf(name[0], 160, "%s%s.weight", a->prefix, gpt2 ? "ln_f" : "norm");
  snprintf(name[1], 160, "%sln_f.bias", a->prefix);
  lm->final_norm = require_norm(a, name[0], name[1], c->d_model);
  /* <Find the head, or take the embedding for it> */
  lm->head = (struct matrix) { .in = c->d_model, .out = c->vocab_size };
  lm->head.weight = c->tied ? lm->embedding
    : require_tensor(a, "lm_head.weight", c->vocab_size, c->d_model);
  lm->head_bytes = (uint64_t) c->vocab_size
    * weight_row_bytes(lm->head.weight.type, c->d_model);
}

/* <Assemble the layers> */
static void assemble_layers(struct model_loader *a)
{
  struct model *lm = a->lm;
  uint32_t n = lm->config.n_layers;
  uint64_t before = a->bytes;
  if (n > tensor_file_count(lm->weights)) {
    char found[64];
    snprintf(found, sizeof found, "%" PRIu32 " layers", n);
    a->ok = error_found(a->why, tensor_file_path(lm->weights), "this", found,
      "no more layers than the file has tensors");
    return;
  }
  lm->layers = memory_alloc(a->m, MEMORY_OTHER, n, sizeof *lm->layers, a->why);
  a->ok = lm->layers != NULL;
  for (uint32_t i = 0; i < n && a->ok; i++)
    if (lm->config.learned_positions) layer_gpt2(a, i, &lm->layers[i]);
    else layer_llama(a, i, &lm->layers[i]);
  lm->layer_bytes = a->bytes - before;
}

/* <Compare a stored head with the embedding it is tied to> */
static bool tied_head(struct model_loader *a, const struct tensor_entry *t)
{
  const struct model_config *c = &a->lm->config;
  uint64_t bytes = (uint64_t) c->vocab_size
    * weight_row_bytes(a->lm->embedding.type, c->d_model);
  if (t->bytes != bytes || memcmp(t->data, a->lm->embedding.data, bytes) != 0)
    return error_found(a->why, t->file, t->name, "not the embedding",
      "equal, since tie_word_embeddings is true");
  return config_ignore(&a->lm->config, a->m, t->file, t->name,
    "the embedding once more: the head is tied", a->why);
}

/* <Account for every tensor> */
static bool check_unused(struct model_loader *a, const struct tensor_entry *t)
{
  static const struct { const char *end, *reason; } known[] =
    { {".attn.bias", "a stored causal mask: ours is the order of rows"},
    {".attn.masked_bias", "the value that a stored mask puts in"},
    {".rotary_emb.inv_freq", "stored frequencies: computed from rope_theta"} };
  size_t n = strlen(t->name);
  for (int i = 0; i < 3; i++) {
    size_t k = strlen(known[i].end);
    if ((n > k && strcmp(t->name + n - k, known[i].end) == 0)
      || strcmp(t->name, known[i].end + 1) == 0)
      return config_ignore(&a->lm->config, a->m, t->file, t->name,
        known[i].reason, a->why);
  }
  if (strcmp(t->name, "lm_head.weight") == 0) return tied_head(a, t);
  return error_found(a->why, t->file, t->name, "a tensor without use",
    "only the tensors that config.json calls for");
}

/* <Compute the frequencies of the rotations> */
static bool model_frequencies(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  uint32_t half = c->head_dim / 2;
  if (c->learned_positions) return true;
  lm->frequency = memory_alloc(a->m, MEMORY_OTHER, half, sizeof(float), a->why);
  for (uint32_t i = 0; i < half && lm->frequency != NULL; i++)
    lm->frequency[i] = (float) rope_scaled_frequency(&c->rope, i, half);
  return lm->frequency != NULL;
}

/* <Assemble the model> */
static bool model_assemble(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  a->prefix = c->learned_positions ? "transformer." : "model.";
  if (tensor_file_find(lm->weights, c->learned_positions ? "transformer.wte.weight"
      : "model.embed_tokens.weight") == NULL)
    a->prefix = "";
  lm->attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim,
    (float) (c->scaled ? 1 / sqrt((double) c->head_dim) : 1) };
  assemble_ends(a);
  if (a->ok) assemble_layers(a);
  for (size_t i = 0; i < tensor_file_count(lm->weights) && a->ok; i++)
    if (!a->used[i]) a->ok = check_unused(a, tensor_file_at(lm->weights, i));
  return a->ok && model_frequencies(a);
}

/* <Open and close a model> */
struct model *model_open_for(struct memory *m, const struct kernels *k,
  const char *directory, struct error *why)
{
  struct model *lm = memory_alloc(m, MEMORY_OTHER, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  struct model_loader a = { .m = m, .k = k, .lm = lm, .ok = true, .why = why };
  bool ok = config_open(&lm->config, m, directory, why)
    && (lm->weights = tensor_file_open(m, directory, why)) != NULL;
  size_t n = ok ? tensor_file_count(lm->weights) : 0;
  if (ok) a.used = memory_alloc(m, MEMORY_OTHER, n, sizeof *a.used, why);
  ok = ok && a.used != NULL && model_assemble(&a);
  memory_free(m, a.used);
  if (ok) return lm;
  model_close(m, lm);
  return NULL;
}

struct model *model_open(struct memory *m, const char *directory,
  struct error *why)
{
  const struct kernels *k = kernels_find(NULL, why);
  return k == NULL ? NULL : model_open_for(m, k, directory, why);
}

void model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  memory_free(m, lm->layers);
  memory_free(m, lm->frequency);
  tensor_file_close(m, lm->weights);
  config_close(m, &lm->config);
  memory_free(m, lm);
}

/* <Count the parameters> */
uint64_t model_parameters(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t n = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    n += tensor_file_at(lm->weights, i)->elements;
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct tensor_entry *t = tensor_file_find(lm->weights, c->ignored[i].field);
    if (t != NULL) n -= t->elements;
  }
  return n;
}
