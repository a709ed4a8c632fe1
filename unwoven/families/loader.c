/* loader.c -- from settings and tensors to a model.

   Weights stay where they are in the mapped file; only headers have been read. The
   settings say which tensors there must be, so each is asked for by its role, with
   the shape that follows from the settings, and afterwards a tensor that nobody asked
   for is an error. After a failure all further calls do nothing, so one test at the
   end suffices; the first message stays. Tensors are asked for in the order of their
   use. What was built is freed by the function that closes a complete model. */

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/experts.h"
#include "safetensors/tensor_file.h"
#include "families/families.h"
#include "families/loader.h"
#include "families/rope_scaling.h"

/* While the model is being built. After an error all further calls do nothing; a test after
   each of a layer's dozen tensors would bury the list of names that one wants to see in the
   code. */
struct model_loader {
  struct memory *m;
  const struct kernels *k; /* those that will multiply */
  struct model *lm;
  const struct tensor_layout *layout;
  struct tensor_layout fused; /* that of a file of this format in which three matrices are one */
  const char *prefix; /* the layout's, or nothing, or that of a wrapper, */
  const char *outer; /* which may have another for the head */
  bool sees; /* the prefix is of a wrapper, which has tensors of its own */
  uint32_t layer, expert; /* those that are assembled */
  uint32_t stacked; /* a tensor has the matrices of so many experts; 0: it is one matrix */
  bool *used; /* one for each tensor of the file */
  struct tensor factors; /* divisors of the frequencies, if the file has them */
  struct progress *progress;
  size_t n_found; /* tensors so far */
  bool ok;
  uint64_t bytes; /* of the tensors found so far */
  struct error *why;
};

/* A shape as in the file, a list in brackets. A long one is cut, but then it cannot be the
   wanted one. */
static void shape_words(const struct tensor_entry *t, char found[64])
{
  size_t n = (size_t) snprintf(found, 64, "[");
  for (uint32_t i = 0; i < t->rank && n < 40; i++)
    n += (size_t) snprintf(found + n, 64 - n, "%s%" PRIu64, i > 0 ? ", " : "",
      t->shape[i]);
  snprintf(found + n, 64 - n, t->rank > 0 && n >= 40 ? "..." : "]");
}

/* The head belongs to no body: it has a prefix only in some of the files of models that see. */
static void tensor_name(const struct model_loader *a, enum tensor_role role, const char *what, char name[160])
{
  char full[160];
  layout_name_of(a->layout, role, a->prefix, a->layer, a->expert, what, full);
  snprintf(name, 160, "%.60s%.99s", role == TENSOR_HEAD ? a->outer : "", full);
}

/* A tensor that the model is going to use, or null. Doubles become floats here, and only those that are used. */
static const struct tensor_entry *find_tensor(struct model_loader *a, const char *name)
{
  const struct tensor_entry *t = tensor_file_find(a->lm->weights, name);
  if (t != NULL) a->ok = tensor_file_narrow(a->lm->weights, t, a->why);
  return a->ok ? t : NULL;
}

/* A matrix of one row is a vector to some programs that write GGUF files, which have it without its first
   dimension. */
static bool is_bare_row(const struct model_loader *a, const struct tensor_entry *t, uint64_t rows,
  uint64_t columns)
{
  return rows == 1 && columns > 0 && a->stacked == 0 && t->rank == 1 && t->shape[0] == columns
    && strcmp(tensor_file_format(a->lm->weights), "gguf") == 0;
}

/* One tensor more was found; who watches may end it here. */
static bool go_on(struct model_loader *a, const char *file)
{
  return progress_tell(a->progress, ++a->n_found, tensor_file_count(a->lm->weights))
    || error_say(a->why, "%s: the loading was given up", file);
}

/* Nobody knows a router by its name; so the sentence says what it is for. */
static bool shape_bad(const struct model_loader *a, enum tensor_role role, const struct tensor_entry *t,
  const char *name, const char *found, const char *wanted)
{
  char said[TYPES_TEXT];
  snprintf(said, sizeof said, "%.60s%s", wanted, role == TENSOR_ROUTER ? ", numbers for each expert" : "");
  return error_found(a->why, t == NULL ? tensor_file_path(a->lm->weights) : t->file, name, found, said);
}

/* One tensor, by its role; columns is 0 for a vector. It may be missing, have another shape,
   or a type with which the kernels cannot multiply. Shapes are compared as text, which the
   message needs anyway: so it can never show two that look alike. Gains and biases are read
   number by number, which types that pack numbers into blocks do not allow. The sentence lists
   only types that a file of this format can have. */
static struct tensor require_tensor(struct model_loader *a,
  enum tensor_role role, const char *what, uint64_t rows, uint64_t columns)
{
  struct tensor none = { NULL, WEIGHT_F32 };
  char name[160];
  if (!a->ok) return none;
  if (a->layout->of[role].pattern == NULL) {
    a->ok = error_found(a->why, tensor_file_path(a->lm->weights), "the layout",
      a->layout->name, "one that names every tensor that the settings call for");
    return none;
  }
  tensor_name(a, role, what, name);
  const struct tensor_entry *t = find_tensor(a, name);
  char other[160];
  if (t == NULL && layout_also(a->layout, role, a->prefix, a->layer, what, other)
      && (t = find_tensor(a, other)) != NULL) strcpy(name, other);
  if (!a->ok) return none;
  char wanted[TYPES_TEXT], found[64] = "missing";
  if (columns == 0) snprintf(wanted, sizeof wanted, "[%" PRIu64 "]", rows);
  else if (a->stacked > 0) snprintf(wanted, sizeof wanted, "[%" PRIu32 ", %" PRIu64 ", %" PRIu64 "]",
    a->stacked, rows, columns);
  else snprintf(wanted, sizeof wanted, "[%" PRIu64 ", %" PRIu64 "]", rows, columns);
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0 || (t != NULL && is_bare_row(a, t, rows, columns))
    || shape_bad(a, role, t, name, found, wanted);
  if (a->ok) a->ok = go_on(a, t->file);
  if (!a->ok) return none;
  bool one_by_one = columns == 0 || strcmp(what, "bias") == 0;
  uint32_t can = a->k->matrix_types & (one_by_one ? WEIGHTS_ONE_BY_ONE : WEIGHTS_ALL);
  if (t->type < N_WEIGHT_TYPES && (can >> t->type & 1) != 0) {
    a->used[t->number] = true, a->bytes += t->bytes;
    a->lm->matrix_types |= 1u << t->type;
    return (struct tensor) { t->data, (enum weight_type) t->type };
  }
  if (strcmp(tensor_file_format(a->lm->weights), "gguf") != 0)
    can &= WEIGHTS_ONE_BY_ONE;
  kernels_list_types(can, wanted);
  a->ok = error_found(a->why, t->file, name, number_types[t->type].name, wanted);
  return none;
}

/* The settings say whether a matrix has a bias. GPT-2 stores its matrices with the inputs
   first, since its layers were written as convolutions. That is taken from the layout and
   never from the shape: a square matrix has the shape of its transpose. */
static struct matrix require_matrix(struct model_loader *a, enum tensor_role role,
  size_t in, size_t out, bool bias)
{
  const struct tensor_naming *as = &a->layout->of[role];
  struct matrix w = { .in = in, .out = out, .transposed = as->transposed };
  w.weight = as->transposed ? require_tensor(a, role, "weight", in, out)
    : require_tensor(a, role, "weight", out, in);
  if (bias) w.bias = require_tensor(a, role, "bias", out, 0);
  a->lm->layer_madds += (uint64_t) in * out;
  return w;
}

/* Gains are used as the file has them, but for two kinds of model: if the gain is one more than what is
   stored, the sum is made here, once, in float as the published programs do; and gains that are tensors
   by heads are put side by side. Then every gain of the model is a copy that the model owns. */
static float *own_gain(struct model_loader *a, size_t d)
{
  if (!a->ok) return NULL;
  float *gain = memory_alloc(a->m, MEMORY_OTHER, d, sizeof *gain, a->why);
  a->ok = gain != NULL;
  return gain;
}

static struct tensor copy_gain(struct model_loader *a, struct tensor t, size_t d)
{
  float plus = a->lm->config.one_plus ? 1 : 0, *gain = own_gain(a, d);
  for (size_t i = 0; i < d && gain != NULL; i++) gain[i] = plus + tensor_number(t, i);
  return (struct tensor) { gain, WEIGHT_F32 };
}

/* A norm has a gain, a LayerNorm usually a bias as well. Epsilon is rounded to float here, once, as
   the published programs do. */
static struct norm bare_norm(const struct model_config *c)
{
  return (struct norm) { .kind = c->layer_norm ? NORM_LAYER : NORM_RMS,
    .epsilon = (float) c->norm_eps };
}

static struct norm require_norm(struct model_loader *a, enum tensor_role role,
  size_t d)
{
  const struct model_config *c = &a->lm->config;
  struct norm g = bare_norm(c);
  g.gain = require_tensor(a, role, "weight", d, 0);
  if (c->layer_norm && !c->unbiased_norm) g.bias = require_tensor(a, role, "bias", d, 0);
  if (role == TENSOR_FINAL_NORM) a->lm->gain_type = g.gain.type;
  if (a->lm->own_gains) g.gain = copy_gain(a, g.gain, d);
  return g;
}

/* Where each head has gains of its own, they are one tensor with a row for each head, or a tensor for
   each. Neither kind has a bias. */
static struct norm require_head_norms(struct model_loader *a, enum tensor_role role,
  size_t heads, size_t d)
{
  struct norm g = bare_norm(&a->lm->config);
  if (!a->layout->norms_apart) {
    g.gain = copy_gain(a, require_tensor(a, role, "weight", heads, d), heads * d);
    return g;
  }
  float *gain = own_gain(a, heads * d);
  g.gain = (struct tensor) { gain, WEIGHT_F32 };
  for (size_t h = 0; h < heads && a->ok; h++) {
    char what[40];
    snprintf(what, sizeof what, "norms.%zu.weight", h);
    struct tensor one = require_tensor(a, role, what, d, 0);
    for (size_t i = 0; i < d && a->ok; i++) gain[h * d + i] = tensor_number(one, i);
  }
  return g;
}

static struct norm require_qk_norm(struct model_loader *a, enum tensor_role role,
  size_t heads)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->head_dim;
  if (c->qk_norm_each) return require_head_norms(a, role, heads, d);
  return require_norm(a, role, c->qk_norm_wide ? heads * d : d);
}

/* Some rows of a matrix that is stored by outputs: again a matrix. */
static struct matrix slice_of(const struct matrix *all, size_t from, size_t rows)
{
  struct matrix w = *all;
  const char *weight = all->weight.data, *bias = all->bias.data;
  w.out = rows;
  if (weight != NULL)
    w.weight.data = weight + from * weight_row_bytes(all->weight.type, all->in);
  if (bias != NULL) w.bias.data = bias + weight_row_bytes(all->bias.type, from);
  return w;
}

/* With fewer heads of keys than of queries two of the three matrices are narrower; with a
   given head_dim the first need not be square. If one matrix serves all three, a pass cuts its
   results: by heads of keys, or into three equal parts, and then there must be as many heads of
   keys as of queries. */
static void require_fused(struct model_loader *a, struct model_layer *l, size_t q,
  size_t kv)
{
  const struct model_config *c = &a->lm->config;
  struct matrix all = { .in = 0 };
  l->n_qkv = layout_fused(a->layout) ? 1 : 3;
  if (a->ok && l->n_qkv == 1 && q != kv && !c->qkv_grouped)
    a->ok = error_found(a->why, tensor_file_path(a->lm->weights), "the layout",
      a->layout->name, "one with a matrix each for queries, keys and values");
  all = require_matrix(a, TENSOR_QKV, c->d_model, q + 2 * kv, c->qkv_bias);
  l->qkv[0] = all;
  if (l->n_qkv == 1) return;
  l->qkv[0] = slice_of(&all, 0, q);
  l->qkv[1] = slice_of(&all, q, kv), l->qkv[2] = slice_of(&all, q + kv, kv);
}

static void assemble_qkv(struct model_loader *a, struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, q = (size_t) c->n_heads * c->head_dim;
  size_t kv = (size_t) c->n_kv_heads * c->head_dim;
  a->lm->neighbours = a->layout->of[TENSOR_Q].permuted || c->interleaved;
  if (a->layout->of[TENSOR_QKV].pattern != NULL) require_fused(a, l, q, kv);
  else {
    l->n_qkv = 3;
    l->qkv[0] = require_matrix(a, TENSOR_Q, d, q, c->qkv_bias);
    l->qkv[1] = require_matrix(a, TENSOR_K, d, kv, c->qkv_bias);
    l->qkv[2] = require_matrix(a, TENSOR_V, d, kv, c->qkv_bias);
  }
  if (!c->qk_norm) return;
  l->q_norm = require_qk_norm(a, TENSOR_Q_NORM, c->n_heads);
  l->k_norm = require_qk_norm(a, TENSOR_K_NORM, c->n_kv_heads);
}

/* Gate and up, in one matrix or two. */
static void assemble_up(struct model_loader *a, struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  if (a->layout->gate_above && c->gated) {
    struct matrix all = require_matrix(a, TENSOR_UP, d, 2 * inner, c->mlp_bias);
    l->up[0] = slice_of(&all, 0, inner), l->up[1] = slice_of(&all, inner, inner);
    l->n_up = 2;
    return;
  }
  if (c->gated)
    l->up[l->n_up++] = require_matrix(a, TENSOR_GATE, d, inner, c->mlp_bias);
  l->up[l->n_up++] = require_matrix(a, TENSOR_UP, d, inner, c->mlp_bias);
}

/* The matrices of all experts as one; of their biases there is a row for each. */
static struct matrix require_stack(struct model_loader *a, enum tensor_role role, size_t in, size_t out)
{
  const struct model_config *c = &a->lm->config;
  a->stacked = c->n_experts;
  struct matrix all = require_matrix(a, role, in, out, false);
  a->stacked = 0;
  if (c->mlp_bias) all.bias = require_tensor(a, role, "bias", c->n_experts, out);
  return all;
}

/* One matrix of each expert. A stack of matrices is again cut into slices. */
static void require_experts(struct model_loader *a, struct mixture *x, int k)
{
  static const enum tensor_role role[] = { TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP, TENSOR_EXPERT_DOWN };
  const struct model_config *c = &a->lm->config;
  size_t in = k == 2 ? c->d_expert : c->d_model, out = k == 2 ? c->d_model : c->d_expert;
  bool apart = layout_apart(a->layout, role[k]);
  struct matrix all = { .in = 0 };
  if (!apart) all = require_stack(a, role[k], in, out);
  for (uint32_t e = 0; e < c->n_experts && a->ok; e++) {
    struct matrix *to = k == 2 ? &x->expert[e].down : &x->expert[e].up[k];
    a->expert = e;
    *to = apart ? require_matrix(a, role[k], in, out, false) : slice_of(&all, e * out, out);
  }
  a->expert = 0;
}

/* A tensor of bytes, with one or two axes more than the matrices of all experts that it is a part of. */
static const unsigned char *require_bytes(struct model_loader *a, enum tensor_role role, const char *what,
  const char *wanted)
{
  char name[160], found[64] = "missing";
  if (!a->ok) return NULL;
  layout_name(a->layout, role, a->prefix, a->layer, what, name);
  const struct tensor_entry *t = tensor_file_find(a->lm->weights, name);
  const char *file = t == NULL ? tensor_file_path(a->lm->weights) : t->file;
  if (t != NULL) shape_words(t, found);
  a->ok = strcmp(found, wanted) == 0 || error_found(a->why, file, name, found, wanted);
  if (a->ok && strcmp(number_types[t->type].name, "U8") != 0)
    a->ok = error_found(a->why, file, name, number_types[t->type].name, "U8");
  if (a->ok) a->ok = go_on(a, t->file);
  if (!a->ok) return NULL;
  a->used[t->number] = true, a->bytes += t->bytes;
  return t->data;
}

/* gpt-oss has the numbers of a block as pairs of neighbours, two in a byte, and all scales in a tensor of
   their own. In our blocks a byte has numbers i and i+16, and the scale comes before them. */
static void pack_mxfp4(const unsigned char *number, const unsigned char *scale, size_t n,
  unsigned char *to)
{
  for (size_t b = 0; b < n; b++, number += 16, to += 17) {
    to[0] = scale[b];
    for (int i = 0; i < 16; i++) {
      int low = number[i / 2] >> i % 2 * 4 & 15, high = number[8 + i / 2] >> i % 2 * 4 & 15;
      to[1 + i] = (unsigned char) (low | high << 4);
    }
  }
}

/* All matrices of a kind in two tensors, whose shapes are those of the settings. */
struct packed_stack { size_t in, rows; const unsigned char *number, *scale; };

static struct packed_stack find_packed(struct model_loader *a, enum tensor_role role, size_t in, size_t out)
{
  uint32_t n = a->lm->config.n_experts;
  struct packed_stack s = { .in = in, .rows = n * out };
  char wanted[100];
  snprintf(wanted, sizeof wanted, "[%" PRIu32 ", %zu, %zu, 16]", n, out, in / WEIGHT_BLOCK);
  s.number = require_bytes(a, role, "blocks", wanted);
  snprintf(wanted, sizeof wanted, "[%" PRIu32 ", %zu, %zu]", n, out, in / WEIGHT_BLOCK);
  s.scale = require_bytes(a, role, "scales", wanted);
  return s;
}

static size_t packed_bytes(const struct packed_stack *s)
{ return s->rows * weight_row_bytes(WEIGHT_MXFP4, s->in); }

/* The pages of the file are not needed again. */
static struct matrix pack_stack(struct model_loader *a, const struct packed_stack *s, unsigned char *to)
{
  size_t n = s->rows * (s->in / WEIGHT_BLOCK);
  pack_mxfp4(s->number, s->scale, n, to);
  tensor_file_release(a->lm->weights, s->number, 16 * n);
  tensor_file_release(a->lm->weights, s->scale, n);
  return (struct matrix) { .weight = { to, WEIGHT_MXFP4 }, .in = s->in,
    .out = s->rows / a->lm->config.n_experts };
}

/* The experts' matrices in blocks of four bits: the only matrices that a model makes itself. Shapes are
   compared before memory is asked for, so a file cannot ask for more than it has. */
static void require_packed(struct model_loader *a, struct mixture *x, struct matrix all[2])
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, f = c->d_expert;
  const char *path = tensor_file_path(a->lm->weights);
  if (a->ok && (d % WEIGHT_BLOCK != 0 || f % WEIGHT_BLOCK != 0))
    a->ok = error_say(a->why, "%s: blocks of 32 numbers in rows of %zu and %zu;"
      " wanted: multiples of 32", path, d, f);
  if (a->ok && (a->k->matrix_types >> WEIGHT_MXFP4 & 1) == 0)
    a->ok = error_say(a->why, "%s: experts in MXFP4; wanted: a type of the kernels %s", path, a->k->name);
  struct packed_stack up = find_packed(a, TENSOR_EXPERT_UP, d, 2 * f);
  struct packed_stack down = find_packed(a, TENSOR_EXPERT_DOWN, f, d);
  if (a->ok) x->owned = memory_alloc(a->m, MEMORY_WEIGHTS, packed_bytes(&up) + packed_bytes(&down), 1, a->why);
  a->ok = a->ok && x->owned != NULL;
  if (!a->ok) return;
  all[0] = pack_stack(a, &up, x->owned);
  all[1] = pack_stack(a, &down, (unsigned char *) x->owned + packed_bytes(&up));
  all[0].bias = require_tensor(a, TENSOR_EXPERT_UP, "bias", c->n_experts, 2 * f);
  all[1].bias = require_tensor(a, TENSOR_EXPERT_DOWN, "bias", c->n_experts, d);
  a->lm->matrix_types |= 1u << WEIGHT_MXFP4;
}

/* Gates and ups that alternate stay one matrix, in the order of the file: a pass takes its results in pairs. */
static void require_pairs(struct model_loader *a, struct mixture *x)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, f = c->d_expert;
  struct matrix all[2] = { { .in = 0 } };
  char name[160];
  layout_name(a->layout, TENSOR_EXPERT_UP, a->prefix, a->layer, "blocks", name);
  if (tensor_file_find(a->lm->weights, name) != NULL) require_packed(a, x, all);
  else {
    all[0] = require_stack(a, TENSOR_EXPERT_UP, d, 2 * f);
    all[1] = require_stack(a, TENSOR_EXPERT_DOWN, f, d);
  }
  for (uint32_t e = 0; e < c->n_experts && a->ok; e++) {
    x->expert[e].up[0] = slice_of(&all[0], e * 2 * f, 2 * f);
    x->expert[e].down = slice_of(&all[1], e * d, d);
  }
}

/* The expert that computes every row, and the number by which each row takes it. */
static void require_shared(struct model_loader *a, struct mixture *x)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, f = c->d_shared;
  x->shared.up[0] = require_matrix(a, TENSOR_SHARED_GATE, d, f, false);
  x->shared.up[1] = require_matrix(a, TENSOR_SHARED_UP, d, f, false);
  x->shared.down = require_matrix(a, TENSOR_SHARED_DOWN, f, d, false);
  x->shared_gate = require_matrix(a, TENSOR_SHARED, d, 1, false);
}

/* A row multiplies with the chosen experts only, and a pass reads only those that some row has chosen:
   so they are counted apart from what is always read. */
static void assemble_experts(struct model_loader *a, struct model_layer *l)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  struct mixture *x = a->ok ? memory_alloc(a->m, MEMORY_OTHER, 1, sizeof *x, a->why) : NULL;
  l->experts = x;
  if (x != NULL)
    x->expert = memory_alloc(a->m, MEMORY_OTHER, c->n_experts, sizeof *x->expert, a->why);
  a->ok = a->ok && x != NULL && x->expert != NULL;
  if (!a->ok) return;
  x->router = require_matrix(a, TENSOR_ROUTER, c->d_model, c->n_experts, c->mlp_bias);
  uint64_t madds = lm->layer_madds, bytes = a->bytes;
  if (a->layout->gate_between) require_pairs(a, x);
  else for (int k = 0; k < 3; k++) require_experts(a, x, k);
  lm->layer_madds = madds + (uint64_t) 3 * c->n_chosen * c->d_model * c->d_expert;
  lm->expert_bytes += a->bytes - bytes;
  if (c->d_shared > 0) require_shared(a, x);
}

/* In the order of their use: of several faults the message is about the one that a
   pass would meet first. */
static void assemble_layer(struct model_loader *a, uint32_t i,
  struct model_layer *l)
{
  const struct model_config *c = &a->lm->config;
  size_t d = c->d_model, inner = c->d_inner;
  a->layer = i;
  if (!c->bare_branches) l->attn_norm = require_norm(a, TENSOR_ATTN_NORM, d);
  assemble_qkv(a, l);
  if (c->head_sinks) l->sink = require_tensor(a, TENSOR_SINKS, "weight", c->n_heads, 0);
  l->out = require_matrix(a, TENSOR_OUT, (size_t) c->n_heads * c->head_dim, d,
    c->out_bias);
  if (c->post_norms) l->attn_post = require_norm(a, TENSOR_ATTN_POST, d);
  if (!c->bare_branches && !c->shared_norm)
    l->mlp_norm = require_norm(a, TENSOR_MLP_NORM, d);
  if (config_sparse(c, i)) assemble_experts(a, l);
  else {
    assemble_up(a, l);
    l->down = require_matrix(a, TENSOR_DOWN, inner, d, c->mlp_bias);
  }
  if (c->post_norms) l->mlp_post = require_norm(a, TENSOR_MLP_POST, d);
}

/* Some tools write the head of a tied model all the same, and then it is the embedding, byte for byte. If it is not, settings and weights
   contradict each other. A model that was trained further with a head of its own has kept its old settings more often than it has got a
   head by mistake; so the head counts, as for the transformers library, and the list of what was ignored says so. */
static bool has_own_head(struct model_loader *a)
{
  const struct model_config *c = &a->lm->config;
  uint64_t bytes = (uint64_t) c->vocab_size
    * weight_row_bytes(a->lm->embedding.type, c->d_model);
  char name[160];
  tensor_name(a, TENSOR_HEAD, "weight", name);
  const struct tensor_entry *t = find_tensor(a, name);
  return t != NULL && (t->bytes != bytes
    || memcmp(t->data, a->lm->embedding.data, bytes) != 0);
}

static void untie(struct model_loader *a)
{
  a->lm->config.tied = false;
  a->ok = config_ignore(&a->lm->config, a->m, "config.json", "tie_word_embeddings",
    "the file has a head that is not the embedding", a->why);
}

/* In a GGUF file the two lists of divisors are tensors. */
static void require_divisors(struct model_loader *a)
{
  static const enum tensor_role role[] = { TENSOR_ROPE_SHORT, TENSOR_ROPE_LONG };
  struct rope_config *r = &a->lm->config.rope;
  uint32_t half = config_rotary(&a->lm->config) / 2;
  if (a->ok && half > ROPE_MAX_DIVISORS)
    a->ok = error_say(a->why, "%s: %" PRIu32 " pairs in a head; wanted: at most %d",
      tensor_file_path(a->lm->weights), half, ROPE_MAX_DIVISORS);
  for (int k = 0; k < 2; k++) {
    struct tensor t = require_tensor(a, role[k], "weight", half, 0);
    for (uint32_t i = 0; i < half && a->ok; i++) {
      float by = tensor_number(t, i);
      if (!(by > 0 && by <= FLT_MAX))
        a->ok = error_found(a->why, tensor_file_path(a->lm->weights),
          "rope_factors", "a divisor that is no positive number", "one");
      r->divisor[k][i] = (double) by;
    }
    r->n_divisors[k] = half;
  }
}

/* What is outside the layers. rope_freqs.weight is the only tensor that a file may have or
   not: only GGUF files of a stretched Llama 3 do. Most small models have no head of their own.
   A pass that computes logits reads all of the head, however few rows need them; its bytes are
   recorded for the counters. */
static void assemble_ends(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  lm->embedding = require_tensor(a, TENSOR_EMBEDDING, "weight", c->vocab_size,
    c->d_model);
  if (c->learned_positions)
    lm->positions = require_tensor(a, TENSOR_POSITIONS, "weight",
      c->n_positions, c->d_model);
  lm->final_norm = require_norm(a, TENSOR_FINAL_NORM, c->d_model);
  if (tensor_file_find(lm->weights, "rope_freqs.weight") != NULL
      && a->layout->of[TENSOR_ROPE_FACTORS].pattern != NULL)
    a->factors = require_tensor(a, TENSOR_ROPE_FACTORS, "weight",
      config_rotary(c) / 2, 0);
  if (c->rope.kind == ROPE_LONG && a->layout->of[TENSOR_ROPE_SHORT].pattern != NULL)
    require_divisors(a);
  lm->head = (struct matrix) { .in = c->d_model, .out = c->vocab_size };
  if (c->tied && a->ok && has_own_head(a)) untie(a);
  lm->head.weight = c->tied ? lm->embedding
    : require_tensor(a, TENSOR_HEAD, "weight", c->vocab_size, c->d_model);
  if (c->head_bias) lm->head.bias = require_tensor(a, TENSOR_HEAD, "bias", c->vocab_size, 0);
  lm->head_bytes = (uint64_t) c->vocab_size
    * weight_row_bytes(lm->head.weight.type, c->d_model);
  if (c->head_bias) lm->head_bytes += weight_row_bytes(lm->head.bias.type, c->vocab_size);
}

/* The number comes from a file. Each layer has several tensors, so more layers than tensors is
   wrong, and no memory is asked for it. */
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
    assemble_layer(a, i, &lm->layers[i]);
  lm->layer_bytes = a->bytes - before - lm->expert_bytes;
}

/* In the files of a model that sees, those that have nothing to do with texts. */
static bool is_of_images(const char *name)
{
  static const char *const begin[] = { "vision_tower.", "multi_modal_projector.", "vision_model.", "connector." };
  if (strncmp(name, "model.", 6) == 0) name += 6;
  for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
    if (strncmp(name, begin[i], strlen(begin[i])) == 0) return true;
  return false;
}

/* A tensor without a use is as suspicious as an unknown setting: a bias that the settings deny
   would be left out silently. But old libraries have left masks and frequencies in files;
   these are known by the end of their names, and listed. */
static bool check_unused(struct model_loader *a, const struct tensor_entry *t)
{
  static const struct { const char *end, *reason; } known[] =
    { {".attn.bias", "a stored causal mask: ours is the order of rows"},
    {".attn.masked_bias", "the value that a stored mask puts in"},
    {".attention.bias", "a stored causal mask: ours is the order of rows"},
    {".attention.masked_bias", "the value that a stored mask puts in"},
    {".rotary_emb.inv_freq", "stored frequencies: computed from rope_theta"} };
  size_t n = strlen(t->name);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    size_t k = strlen(known[i].end);
    if ((n > k && strcmp(t->name + n - k, known[i].end) == 0)
      || strcmp(t->name, known[i].end + 1) == 0)
      return config_ignore(&a->lm->config, a->m, t->file, t->name,
        known[i].reason, a->why);
  }
  char head[160];
  if (a->sees && is_of_images(t->name)) return config_ignore(&a->lm->config, a->m, t->file,
    t->name, "of the model of images, which is not read", a->why);
  tensor_name(a, TENSOR_HEAD, "weight", head);
  if (strcmp(t->name, head) == 0) return config_ignore(&a->lm->config, a->m, t->file, t->name,
    "the embedding once more: the head is tied", a->why);
  return error_found(a->why, t->file, t->name, "a tensor without use",
    "only the tensors that the settings call for");
}

/* Those of long texts, from the second list of divisors. */
static bool long_frequencies(struct model_loader *a, uint32_t half)
{
  struct model *lm = a->lm;
  const struct rope_config *r = &lm->config.rope;
  float *f = memory_alloc(a->m, MEMORY_OTHER, half, sizeof *f, a->why);
  lm->long_frequency = f;
  for (uint32_t i = 0; i < half && f != NULL; i++)
    f[i] = (float) (rope_frequency(r->theta, i, half) / r->divisor[ROPE_LONG_TEXTS][i]);
  return f != NULL;
}

/* The base of layers with a window is never stretched. */
static bool local_frequencies(struct model_loader *a, uint32_t half)
{
  struct model *lm = a->lm;
  float *f = memory_alloc(a->m, MEMORY_OTHER, half, sizeof *f, a->why);
  lm->local_frequency = f;
  for (uint32_t i = 0; i < half && f != NULL; i++)
    f[i] = (float) rope_frequency(lm->config.rope.local_theta, i, half);
  return f != NULL;
}

/* From the settings, in double, and rounded here, once. The GGUF file of a stretched Llama 3
   does not say how its wheels are slowed; it has the result, a divisor for each, in float. It
   was rounded when the file was made, so the last bit of a frequency may differ from that of
   the directory. */
static bool model_frequencies(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  uint32_t half = config_rotary(c) / 2;
  if (c->learned_positions) return true;
  if (c->rope.local_theta > 0 && !local_frequencies(a, half)) return false;
  if (c->rope.kind == ROPE_LONG && !long_frequencies(a, half)) return false;
  lm->frequency = memory_alloc(a->m, MEMORY_OTHER, half, sizeof(float), a->why);
  for (uint32_t i = 0; i < half && lm->frequency != NULL; i++) {
    float by = a->factors.data == NULL ? 1 : tensor_number(a->factors, i);
    if (!(by > 0 && by <= FLT_MAX))
      return error_found(a->why, tensor_file_path(lm->weights),
        "rope_freqs.weight", "a divisor that is no positive number", "one");
    lm->frequency[i] = (float) (rope_scaled_frequency(&c->rope, i, half) / (double) by);
  }
  return lm->frequency != NULL;
}

/* A converter can put queries, keys and values of any family into one tensor, one above the other; the rest
   of the file stays as it is, order of rows and all. */
static void find_fused(struct model_loader *a)
{
  static const char name[] = "blk.0.attn_qkv.weight";
  const struct tensor_layout *l = a->layout;
  if (strcmp(l->format, "gguf") != 0 || l->of[TENSOR_QKV].pattern != NULL
    || tensor_file_find(a->lm->weights, name) == NULL) return;
  a->fused = *l;
  a->fused.sliced = true;
  a->fused.of[TENSOR_QKV] = (struct tensor_naming) { "blk.#.attn_qkv", false, false, NULL };
  a->layout = &a->fused;
}

/* The layout of the file's format, for the family that the settings have named. If the first layer has a
   tensor that only older files have, the file is one of them. A file that
   was saved from the body of a model, without the head, has no prefix, and one of a model that sees has
   one of three, as the library has changed it; the embedding tells which it is. */
static bool model_layout(struct model_loader *a)
{
  static const char *const of_wrapper[][2] = { {"language_model.model.", "language_model."},
    {"model.language_model.", ""}, {"model.text_model.", ""} };
  char name[160];
  const struct tensor_file *w = a->lm->weights;
  const char *family = a->lm->config.family;
  if (a->layout == NULL) a->layout = layout_find(tensor_file_format(w), family);
  if (a->layout == NULL)
    return error_found(a->why, tensor_file_path(w), "model_type", family,
      "a family whose tensors we know in files of this format");
  const struct tensor_layout *older = a->layout->older;
  if (older != NULL) {
    layout_name_of(older, older->told_by, "", 0, 0, "weight", name);
    if (tensor_file_find(w, name) != NULL) a->layout = older;
  }
  find_fused(a);
  a->prefix = a->layout->prefix;
  a->outer = "";
  layout_name(a->layout, TENSOR_EMBEDDING, a->prefix, 0, "weight", name);
  if (tensor_file_find(w, name) != NULL) return true;
  a->prefix = "";
  bool may = a->layout->prefix != NULL && strcmp(a->layout->prefix, "model.") == 0;
  for (int i = 0; may && i < 3; i++) {
    layout_name(a->layout, TENSOR_EMBEDDING, of_wrapper[i][0], 0, "weight", name);
    if (tensor_file_find(w, name) == NULL) continue;
    a->prefix = of_wrapper[i][0], a->outer = of_wrapper[i][1];
    a->sees = true;
  }
  return true;
}

/* The number by which scores are multiplied is computed in double, here, and rounded once.
   What no tensor was asked for is looked at last, when every use is marked. */
static bool model_assemble(struct model_loader *a)
{
  struct model *lm = a->lm;
  const struct model_config *c = &lm->config;
  if (tensor_file_count(lm->weights) == 0)
    return error_found(a->why, tensor_file_path(lm->weights), "this",
      "a file without tensors", "those of a model");
  if (!kernels_check_settings(a->k, c, tensor_file_path(lm->weights), a->why)
    || !model_layout(a)) return false;
  double scale = c->scaled ? 1 / sqrt((double) c->head_dim) : 1;
  if (c->score_scale > 0) scale = c->score_scale;
  lm->attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim,
    (float) scale, .cap = (float) c->score_cap };
  lm->own_gains = c->one_plus || c->qk_norm_each;
  assemble_ends(a);
  if (a->ok) assemble_layers(a);
  for (size_t i = 0; i < tensor_file_count(lm->weights) && a->ok; i++)
    if (!a->used[i]) a->ok = check_unused(a, tensor_file_at(lm->weights, i));
  return a->ok && model_frequencies(a);
}

/* The marks of used tensors are needed only here. After a failure the function that closes a
   complete model frees what was built of this one. */
struct model *model_open_with(struct memory *m, const char *directory,
  struct model_open_options *o, struct error *why)
{
  const struct kernels *k = o->k != NULL ? o->k : &kernels_plain;
  struct model *lm = k == NULL ? NULL
    : memory_alloc(m, MEMORY_OTHER, 1, sizeof *lm, why);
  if (lm == NULL) return NULL;
  struct model_loader a = { .m = m, .k = k, .lm = lm, .layout = o->layout,
    .progress = o->progress, .ok = true, .why = why };
  bool ok = config_open_with(&lm->config, m, directory, &o->fields, why)
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
  struct model_open_options none = { .progress = NULL };
  return model_open_with(m, directory, &none, why);
}

/* All gains, or none. */
static void free_gains(struct memory *m, struct model *lm)
{
  for (uint32_t i = 0; i < lm->config.n_layers && lm->layers != NULL; i++) {
    struct model_layer *l = &lm->layers[i];
    struct norm *of[] = { &l->attn_norm, &l->mlp_norm, &l->attn_post, &l->mlp_post,
      &l->q_norm, &l->k_norm };
    for (int k = 0; k < 6; k++) memory_free(m, (void *) (uintptr_t) of[k]->gain.data);
  }
  memory_free(m, (void *) (uintptr_t) lm->final_norm.gain.data);
}

static void free_experts(struct memory *m, struct model *lm)
{
  for (uint32_t i = 0; i < lm->config.n_layers && lm->layers != NULL; i++) {
    struct mixture *x = lm->layers[i].experts;
    if (x != NULL) memory_free(m, x->expert), memory_free(m, x->owned);
    memory_free(m, x);
  }
}

/* The settings last: the sizes of the blocks come from them. */
void model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  if (lm->own_gains) free_gains(m, lm);
  free_experts(m, lm);
  memory_free(m, lm->layers);
  memory_free(m, lm->frequency);
  memory_free(m, lm->local_frequency);
  memory_free(m, lm->long_frequency);
  tensor_file_close(m, lm->weights);
  config_close(m, &lm->config);
  memory_free(m, lm);
}

/* In a byte of packed blocks there are two numbers, and a scale is none. */
static uint64_t numbers_in(const struct tensor_entry *t)
{
  const char *end = strrchr(t->name, '_');
  if (end == NULL || strcmp(number_types[t->type].name, "U8") != 0) return t->elements;
  if (strcmp(end, "_blocks") == 0) return 2 * t->elements;
  return strcmp(end, "_scales") == 0 ? 0 : t->elements;
}

/* A tied head is counted once, as the embedding; what was ignored is not counted. That list
   has settings in it as well, and no tensor is found for those. */
uint64_t model_parameters(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t n = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++)
    n += numbers_in(tensor_file_at(lm->weights, i));
  for (size_t i = 0; i < c->n_ignored; i++) {
    const struct tensor_entry *t = tensor_file_find(lm->weights, c->ignored[i].field);
    if (t != NULL) n -= numbers_in(t);
  }
  return n;
}
