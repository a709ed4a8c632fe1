/* material.c -- the model and the tokenizer of a page, from what is built in.

   A page has no files, so this stands where the loader of files stands elsewhere (unwoven/living/files.c). Nothing is
   copied but what a closed model would free: the weights stay where the program has them. */

#include "built_in.h"
#include "living/living.h"
#include "safetensors/tensor_file.h"

/* the loader's file is named in messages; there is none */
const char *tensor_file_path(const struct tensor_file *w)
{
  (void) w;
  return "the built-in model";
}

/* weights that were packed could be given back to a file */
void tensor_file_release(const struct tensor_file *w, const void *from, size_t n)
{
  (void) w, (void) from, (void) n;
}

static struct tensor take(size_t i)
{
  const struct built_in_tensor *t = &built_in.tensor[i];
  return (struct tensor) { built_in.weights + t->at, t->type };
}

static struct norm norm_at(const struct model_config *c, size_t i)
{
  return (struct norm) { .kind = NORM_RMS, .gain = take(i), .epsilon = (float) c->norm_eps };
}

static struct matrix matrix_at(size_t i, size_t in, size_t out)
{
  return (struct matrix) { .weight = take(i), .in = in, .out = out };
}

static void fill_layer(const struct model_config *c, struct model_layer *l, size_t i)
{
  size_t d = c->d_model, q = (size_t) c->n_heads * c->head_dim, kv = (size_t) c->n_kv_heads * c->head_dim;
  l->attn_norm = norm_at(c, i), l->mlp_norm = norm_at(c, i + 1);
  l->n_qkv = 3, l->n_up = 2;
  l->qkv[0] = matrix_at(i + 2, d, q);
  l->qkv[1] = matrix_at(i + 3, d, kv), l->qkv[2] = matrix_at(i + 4, d, kv);
  l->out = matrix_at(i + 5, q, d);
  l->up[0] = matrix_at(i + 6, d, c->d_inner), l->up[1] = matrix_at(i + 7, d, c->d_inner);
  l->down = matrix_at(i + 8, c->d_inner, d);
}

static void fill_config(struct model_config *c)
{
  for (int i = 0; i < N_MODEL_SETTINGS; i++) setting_put(&config_setting[i], c, built_in.setting[i]);
  c->family = built_in.family, c->rope = built_in.rope;
  c->n_eos = built_in.n_eos, c->has_bos = built_in.has_bos, c->bos = built_in.bos;
  for (uint32_t i = 0; i < c->n_eos; i++) c->eos[i] = built_in.eos[i];
}

static bool fill_model(struct memory *m, struct model *lm, struct error *why)
{
  struct model_config *c = &lm->config;
  fill_config(c);
  lm->layers = memory_alloc(m, MEMORY_OTHER, c->n_layers, sizeof *lm->layers, why);
  lm->frequency = memory_alloc(m, MEMORY_OTHER, c->head_dim / 2, sizeof *lm->frequency, why);
  if (lm->layers == NULL || lm->frequency == NULL) return false;
  lm->embedding = take(0), lm->final_norm = norm_at(c, 1);
  lm->head = matrix_at(0, c->d_model, c->vocab_size);
  for (uint32_t i = 0; i < c->n_layers; i++) fill_layer(c, &lm->layers[i], 2 + 9 * (size_t) i);
  for (uint32_t i = 0; i < c->head_dim / 2; i++) lm->frequency[i] = built_in.frequency[i];
  lm->attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim, .scale = built_in.scale };
  lm->layer_madds = built_in.layer_madds, lm->layer_bytes = built_in.layer_bytes;
  lm->head_bytes = built_in.head_bytes, lm->matrix_types = built_in.matrix_types;
  lm->neighbours = built_in.neighbours;
  return true;
}

bool living_material(struct living *g)
{
  g->lm = memory_alloc(&g->m, MEMORY_OTHER, 1, sizeof *g->lm, &g->why);
  if (g->lm == NULL || !fill_model(&g->m, g->lm, &g->why)) return false;
  g->t = tokenizer_from_merges(&g->m, built_in.merge, built_in.n_merges, &g->why);
  return g->t != NULL;
}
