/* accounts.c -- made from chapters/06-memory.w; change it there */

#include "accounts/accounts.h"
#include "families/layout.h"

/* <List the tensors> */
struct tensor_list { struct tensor_line *line; size_t n; };
static void enter(struct tensor_list *l, const char *name, uint64_t each,
  uint64_t times)
{
  if (each > 0 && times > 0)
    l->line[l->n++] = (struct tensor_line) { name, each, times };
}

static uint64_t matrix_of(uint64_t in, uint64_t out, bool bias)
{ return (in + bias) * out; }

static void enter_layers(struct tensor_list *l, const struct model_config *c)
{
  uint64_t d = c->d_model, f = c->d_inner, n = c->n_layers;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  enter(l, "norms", c->layer_norm ? 2 * d : d, 2 * n);
  enter(l, "queries", matrix_of(d, q, c->qkv_bias), n);
  enter(l, "keys and values", matrix_of(d, k, c->qkv_bias), 2 * n);
  enter(l, "QK-norms", c->qk_norm ? c->head_dim : 0, 2 * n);
  enter(l, "output projection", matrix_of(q, d, c->out_bias), n);
  enter(l, "up and gate", matrix_of(d, f, c->mlp_bias), c->gated ? 2 * n : n);
  enter(l, "down", matrix_of(f, d, c->mlp_bias), n);
}

size_t footprint_tensors(const struct model_config *c,
  struct tensor_line line[FOOTPRINT_MAX_TENSORS])
{
  struct tensor_list l = { line, 0 };
  uint64_t d = c->d_model;
  enter(&l, "embedding", c->vocab_size * d, 1);
  enter(&l, "positions", c->learned_positions ? c->n_positions * d : 0, 1);
  enter_layers(&l, c);
  enter(&l, "last norm", c->layer_norm ? 2 * d : d, 1);
  enter(&l, "head", c->tied ? 0 : c->vocab_size * d, 1);
  return footprint_switched_tensors(c, line, l.n);
}

uint64_t footprint_parameters(const struct model_config *c)
{
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  uint64_t sum = 0;
  size_t n = footprint_tensors(c, line);
  for (size_t i = 0; i < n; i++) sum += line[i].each * line[i].times;
  return sum;
}

uint64_t footprint_weights(const struct model *lm)
{
  const struct model_config *c = &lm->config;
  uint64_t d = c->d_model, v = c->vocab_size;
  uint64_t sum = lm->layer_bytes + v * weight_row_bytes(lm->embedding.type, d);
  if (c->learned_positions)
    sum += c->n_positions * weight_row_bytes(lm->positions.type, d);
  sum += weight_row_bytes(lm->final_norm.gain.type, d);
  if (c->layer_norm) sum += weight_row_bytes(lm->final_norm.bias.type, d);
  if (!c->tied) sum += v * weight_row_bytes(lm->head.weight.type, d);
  return sum + footprint_switched_weights(lm);
}

/* <Compute the bytes of the cache> */
uint64_t footprint_token(const struct model_config *c, const struct kv_format *f)
{
  return 2 * (uint64_t) c->n_layers * c->n_kv_heads
    * weight_row_bytes(f->type, c->head_dim);
}

static uint64_t round_up(uint64_t x, uint64_t page)
{ return x / page + (x % page > 0); }
uint64_t footprint_rows(const struct model_config *c, uint32_t layer,
  const struct cache_plan *p)
{
  uint64_t page = p->page_rows > 0 ? p->page_rows : 1;
  uint64_t pass = p->pass < p->context ? p->pass : p->context;
  uint64_t w = config_window(c, layer);
  if (pass == 0) pass = 1;
  uint64_t pages = round_up(p->context, page);
  uint64_t ring = w == 0 ? 0 : round_up(c->sinks, page) + 1 + round_up(w - 1 + pass - 1,
    page);
  return (w > 0 && ring < pages ? ring : pages) * page;
}

static bool multiply(uint64_t *x, uint64_t by)
{
  if (by != 0 && *x > UINT64_MAX / by) return false;
  *x *= by;
  return true;
}

bool footprint_cache(const struct model_config *c, const struct cache_plan *p,
  uint64_t *bytes, struct error *why)
{
  uint64_t row = weight_row_bytes(p->format->type, c->head_dim);
  bool fits = p->context <= INT64_MAX
    && multiply(&row, 2 * (uint64_t) c->n_kv_heads);
  *bytes = 0;
  int block = number_types[p->format->type].block;
  if (c->head_dim % (uint32_t) block != 0)
    return error_say(why, "a cache in %s for a head_dim of %u; wanted: a multiple of %d",
      p->format->name, c->head_dim, block);
  for (uint32_t i = 0; fits && i < c->n_layers; i++) {
    uint64_t layer = footprint_rows(c, i, p);
    fits = multiply(&layer, p->batch) && multiply(&layer, row)
      && layer <= INT64_MAX && *bytes <= INT64_MAX - layer;
    *bytes += layer;
  }
  return fits || error_say(why, "the cache has more bytes than 63 bits can"
    " count; wanted: a smaller context or batch");
}

/* <Compute the bytes of a pass> */
uint64_t footprint_pass(const struct model_config *c, uint64_t rows,
  uint64_t max_len, unsigned workers)
{
  uint64_t d = c->d_model, f = c->d_inner;
  uint64_t q = (uint64_t) c->n_heads * c->head_dim;
  uint64_t k = (uint64_t) c->n_kv_heads * c->head_dim;
  const struct tensor_layout *l = layout_find("safetensors", c->family);
  uint64_t fused = layout_fused(l) ? 3 * q : 0;
  uint64_t numbers = 3 * d + 2 * q + 2 * k + fused + (c->gated ? 2 * f : f)
    + 2 * (c->head_dim / 2);
  uint64_t other = 3 * sizeof (uint32_t) + sizeof (size_t)
    + sizeof (struct segment);
  other += footprint_switched_row(c);
  uint64_t scratch = (max_len / 256 + 2) * (c->head_dim + 2);
  return sizeof (struct pass) + rows * (4 * numbers + other)
    + workers * 4 * scratch;
}

/* <Find what fits> */
static bool fits(const struct model_config *c, struct cache_plan p, uint64_t context,
  uint64_t cap)
{
  uint64_t bytes;
  p.context = context;
  return footprint_cache(c, &p, &bytes, NULL) && bytes <= cap;
}

uint64_t footprint_max_context(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget)
{
  uint64_t yes = 0, no = (uint64_t) 1 << 62;
  if (weights > budget) return 0;
  if (fits(c, *p, no, budget - weights)) return UINT64_MAX;
  while (no - yes > 1) {
    uint64_t middle = yes + (no - yes) / 2;
    if (fits(c, *p, middle, budget - weights)) yes = middle;
    else no = middle;
  }
  return yes;
}

uint64_t footprint_max_batch(const struct model_config *c, const struct cache_plan *p,
  uint64_t weights, uint64_t budget)
{
  struct cache_plan one = *p;
  uint64_t bytes;
  one.batch = 1;
  if (budget > INT64_MAX) budget = INT64_MAX;
  if (weights > budget || !footprint_cache(c, &one, &bytes, NULL)) return 0;
  return bytes == 0 ? UINT64_MAX : (budget - weights) / bytes;
}
