/* tests.c -- lab 6: what the calculator says, and what the allocator counted */
#include "kit.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "accounts/accounts.h"

static struct memory memory;
static struct counters counters;
static struct engine engine;
static struct error why;

static void begin(void)
{
  memset(&counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  engine = (struct engine) { .k = &kernels_plain, .c = &counters };
}

static const char *const families[] = { "gpt2", "llama", "qwen3" };
static const struct kv_format *a_format(uint32_t head_dim)
{ return format_at(draw(head_dim % WEIGHT_BLOCK == 0 ? 5 : 3)); }

/* settings of a small model; all numbers differ where they can, so that none can stand for another */
static void settings(struct model_config *c, unsigned size)
{
  uint32_t kv = size == 1 ? 1 : 1 + draw(3), group = size == 1 ? 1 : 1 + draw(4), of = size < 3 ? 1 : draw(3);
  bool old = of == 0;
  if (old) group = 1;
  memset(c, 0, sizeof *c);
  *c = (struct model_config) { .family = families[of], .vocab_size = 2 + draw(60), .n_positions = 2 + draw(200), .n_layers = size == 1 ? 1 : 1 + draw(5),
    .n_heads = kv * group, .n_kv_heads = kv, .head_dim = 2 + 2 * draw(12), .d_model = 2 + draw(50), .d_inner = 1 + draw(90),
    .layer_norm = old, .learned_positions = old, .gated = !old, .qkv_bias = old || draw(4) == 0, .out_bias = old || draw(4) == 0,
    .mlp_bias = old || draw(4) == 0, .qk_norm = of == 2, .tied = draw(2), .scaled = true, .norm_eps = 1e-5,
    .activation = old ? ACTIVATION_GELU_TANH : ACTIVATION_SILU };
  if (size > 2 && draw(3) == 0) c->head_dim = 32 * (1 + draw(2));
  if (old) c->d_model = c->n_heads * c->head_dim; /* as in every fused matrix */
}

static void window(struct model_config *c, uint32_t most)
{
  c->window = 1 + draw(most);
  if (draw(2)) c->window_listed = true, c->windowed[0] = (uint8_t) draw(32);
  else c->window_from = draw(3) == 0 ? 1 : 0;
  if (!c->learned_positions && draw(2)) c->sinks = 1 + draw(8);
}

static void tell_settings(const struct model_config *c)
{
  tell("%s: vocabulary %u, context %u, %u layers, width %u, inside %u, %u heads, %u of keys, of %u%s%s%s%s%s%s", c->family, c->vocab_size,
    c->n_positions, c->n_layers, c->d_model, c->d_inner, c->n_heads, c->n_kv_heads, c->head_dim, c->qkv_bias ? ", qkv bias" : "",
    c->out_bias ? ", output bias" : "", c->mlp_bias ? ", MLP bias" : "", c->layer_norm ? ", LayerNorm" : "", c->qk_norm ? ", QK-norms" : "",
    c->tied ? ", tied" : "");
}

static void tell_plan(const struct model_config *c, const struct cache_plan *p)
{
  tell("%s, context %" PRIu64 ", batch %" PRIu64 ", pages of %" PRIu64 ", passes of %" PRIu64 "; window %u, sinks %u", p->format->name, p->context,
    p->batch, p->page_rows, p->pass, c->window, c->sinks);
}

/* ---- parameters */

static void parameters(unsigned size)
{
  static const char *const name[] = { "embedding", "positions", "norms", "queries", "keys and values", "QK-norms", "output projection",
    "up and gate", "down", "last norm", "head" };
  struct model_config c;
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  begin();
  settings(&c, size);
  tell_settings(&c);
  size_t n = footprint_tensors(&c, line);
  for (size_t i = 0; i < 11; i++) {
    uint64_t each = 0, times = 0;
    for (size_t k = 0; k < n && k < FOOTPRINT_MAX_TENSORS; k++)
      if (strcmp(line[k].name, name[i]) == 0) each = line[k].each, times = line[k].times;
    say("%s: %" PRIu64 " numbers, %" PRIu64 " times", name[i], each, times);
  }
  say("parameters %" PRIu64, footprint_parameters(&c));
}

/* ---- a model in memory, with weights from the seed; bytes is what all its tensors take */
struct model_of { struct model lm; struct model_layer layer[6]; float frequency[64]; uint64_t bytes; };

static struct tensor tensor(struct model_of *m, enum weight_type type, size_t n)
{
  static unsigned char room[1 << 22];
  size_t bytes = weight_row_bytes(type, n);
  if (m->bytes + bytes + 64 > sizeof room) abort();
  unsigned char *at = room + m->bytes;
  for (size_t i = 0; i < n && type != WEIGHT_Q8_0; i++) {
    float x = draw_float();
    uint32_t u;
    memcpy(&u, &x, 4);
    if (type != WEIGHT_F32) u = 0x3000 + draw(0x800); /* some small number in either of the short types */
    memcpy(at + i * (type == WEIGHT_F32 ? 4 : 2), &u, type == WEIGHT_F32 ? 4 : 2);
  }
  if (type == WEIGHT_Q8_0) memset(at, 0, bytes);
  m->bytes += bytes;
  return (struct tensor) { at, type };
}
static struct matrix matrix(struct model_of *m, size_t in, size_t out, bool bias, bool transposed, enum weight_type type)
{
  struct matrix w = { .in = in, .out = out, .transposed = transposed };
  w.weight = tensor(m, type, in * out);
  if (bias) w.bias = tensor(m, WEIGHT_F32, out);
  return w;
}
static struct norm norm(struct model_of *m, size_t d)
{
  bool layer = m->lm.config.layer_norm;
  struct norm g = { .kind = layer ? NORM_LAYER : NORM_RMS, .epsilon = 1e-5f };
  g.gain = tensor(m, draw(2) ? WEIGHT_F32 : WEIGHT_BF16, d);
  if (layer) g.bias = tensor(m, draw(2) ? WEIGHT_F32 : WEIGHT_F16, d);
  return g;
}
static void make(struct model_of *m, const struct model_config *c, bool blocks)
{
  static const enum weight_type some[] = { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0 };
  memset(m, 0, sizeof *m);
  m->lm.config = *c;
  size_t d = c->d_model, f = c->d_inner, q = (size_t) c->n_heads * c->head_dim, k = (size_t) c->n_kv_heads * c->head_dim;
  bool old = c->learned_positions;
  enum weight_type type = some[draw(3)];
  for (uint32_t i = 0; i < c->n_layers; i++) {
    struct model_layer *l = &m->layer[i];
    l->attn_norm = norm(m, d);
    l->n_qkv = old ? 1 : 3, l->n_up = c->gated ? 2 : 1;
    if (old) l->qkv[0] = matrix(m, d, 3 * q, c->qkv_bias, true, type);
    else for (int n = 0; n < 3; n++) l->qkv[n] = matrix(m, d, n == 0 ? q : k, c->qkv_bias, false, type);
    if (c->qk_norm) l->q_norm = norm(m, c->head_dim), l->k_norm = norm(m, c->head_dim);
    l->out = matrix(m, q, d, c->out_bias, old, type);
    l->mlp_norm = norm(m, d);
    for (size_t u = 0; u < l->n_up; u++) l->up[u] = matrix(m, d, f, c->mlp_bias, old, type);
    l->down = matrix(m, f, d, c->mlp_bias, old, type);
  }
  m->lm.layers = m->layer, m->lm.layer_bytes = m->bytes;
  m->lm.embedding = tensor(m, some[draw(blocks && d % WEIGHT_BLOCK == 0 ? 4 : 3)], c->vocab_size * d);
  if (old) m->lm.positions = tensor(m, some[draw(3)], c->n_positions * d);
  m->lm.final_norm = norm(m, d);
  m->lm.head = (struct matrix) { .weight = m->lm.embedding, .in = d, .out = c->vocab_size };
  if (!c->tied) m->lm.head = matrix(m, d, c->vocab_size, false, false, some[draw(blocks && d % WEIGHT_BLOCK == 0 ? 4 : 3)]);
  m->lm.attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim, 1 / sqrtf((float) c->head_dim), .cap = 0 };
  for (uint32_t i = 0; i < c->head_dim / 2; i++) m->frequency[i] = 1 / (float) (i + 1);
  m->lm.frequency = old ? NULL : m->frequency;
  m->lm.matrix_types = 1u << type;
}

static void weights(unsigned size)
{
  static struct model_of m;
  struct model_config c;
  begin();
  settings(&c, size);
  if (size % 4 == 0 && !c.learned_positions) c.d_model = 32 * (1 + draw(2));
  make(&m, &c, true);
  tell_settings(&c);
  tell("layers of %" PRIu64 " bytes; embedding in %s, last norm in %s, head in %s", m.lm.layer_bytes, number_types[m.lm.embedding.type].name,
    number_types[m.lm.final_norm.gain.type].name, number_types[m.lm.head.weight.type].name);
  say("by the calculator %" PRIu64, footprint_weights(&m.lm));
  say("in memory %" PRIu64, m.bytes);
}

/* ---- the cache */

static void token(unsigned size)
{
  struct model_config c;
  begin();
  settings(&c, size);
  const struct kv_format *f = a_format(c.head_dim);
  tell_settings(&c);
  tell("a cache in %s", f->name);
  say("a token %" PRIu64, footprint_token(&c, f));
  c.n_kv_heads = c.n_heads;
  say("with as many heads of keys as of queries %" PRIu64, footprint_token(&c, f));
  c.n_kv_heads = 1;
  say("with a single one %" PRIu64, footprint_token(&c, f));
  if (size % 5 == 0) {
    c.n_layers = 200, c.n_kv_heads = 30000, c.head_dim = 1024;
    say("more than 32 bits count %" PRIu64, footprint_token(&c, format_at(0)));
  }
}

static void a_plan(struct cache_plan *p, const struct model_config *c, unsigned size)
{
  p->format = a_format(c->head_dim);
  p->context = size == 1 ? 1 : 1 + draw(c->n_positions);
  p->batch = size < 4 ? 1 : 1 + draw(4);
  p->page_rows = size < 3 ? 1 : (uint64_t) 1 << draw(7);
  p->pass = size < 4 ? 1 : 1 + draw(draw(2) ? (uint32_t) p->context : 8);
}

static void rows(unsigned size)
{
  struct model_config c;
  struct cache_plan p;
  begin();
  settings(&c, size);
  c.n_positions = 300;
  a_plan(&p, &c, size);
  if (size > 2) window(&c, 60);
  if (size % 6 == 5) p.page_rows = p.pass = 0;
  if (size % 6 == 3) p.pass = p.context + 1 + draw(50);
  if (size % 9 == 8) p.page_rows = 3 + 4 * draw(5);
  tell_plan(&c, &p);
  for (uint32_t i = 0; i < c.n_layers; i++) {
    tell("layer %u has the window %u", i, config_window(&c, i));
    say("layer %u: %" PRIu64 " rows", i, footprint_rows(&c, i, &p));
  }
  if (size > 3) { /* a text that is very long */
    p.context = (uint64_t) 1 << (20 + draw(20));
    tell("context %" PRIu64, p.context);
    say("layer 0 of a long text: %" PRIu64 " rows", footprint_rows(&c, 0, &p));
  }
}

static void cache(unsigned size)
{
  struct model_config c;
  struct cache_plan p;
  uint64_t bytes = 0;
  begin();
  settings(&c, size);
  a_plan(&p, &c, size);
  if (size > 4 && size % 2) window(&c, 30);
  tell_settings(&c), tell_plan(&c, &p);
  bool ok = footprint_cache(&c, &p, &bytes, &why);
  say_done("counted", ok, why.text);
  say("by the calculator %" PRIu64, bytes);
  struct cache_options o = { .context = (uint32_t) p.context, .page_rows = p.page_rows, .pass = p.pass, .format = p.format, .preallocate = true };
  struct store *s = cache_open(&memory, &c, (uint32_t) p.batch, &o, &why);
  if (s == NULL) tell("%s", why.text);
  say("by the allocator %" PRIu64, memory.of[MEMORY_CACHE].live);
  store_close(s);
  say("bytes left %" PRIu64, memory.all.live);
}

/* a text through a cache whose layers have windows: its pages at their most, and what the calculator says of them */
static void ring(unsigned size)
{
  static struct model_of m;
  struct model_config c;
  struct cache_plan p = { .batch = 1 };
  uint64_t bytes = 0, done = 0;
  begin();
  settings(&c, 1);
  c.family = "llama", c.layer_norm = c.learned_positions = c.qkv_bias = c.out_bias = c.mlp_bias = false, c.gated = true;
  c.activation = ACTIVATION_SILU, c.n_layers = 1 + draw(3), c.n_positions = 60 + draw(60), c.head_dim = size % 4 ? 4 : 32;
  c.n_heads = 2, c.n_kv_heads = 1 + draw(2), c.qk_norm = false;
  c.window = 1 + draw(20), c.sinks = size % 3 == 2 ? draw(5) : 0;
  make(&m, &c, false);
  p.format = a_format(c.head_dim), p.page_rows = (uint64_t) 1 << draw(4), p.pass = 1 + draw(9), p.context = size < 4 ? size * 3 : 1 + draw(c.n_positions);
  tell_settings(&c), tell_plan(&c, &p);
  say_done("counted", footprint_cache(&c, &p, &bytes, &why), why.text);
  say("by the calculator %" PRIu64, bytes);
  struct cache_options o = { .context = (uint32_t) p.context, .page_rows = p.page_rows, .pass = p.pass, .format = p.format };
  struct store *s = cache_open(&memory, &c, 1, &o, &why);
  while (s != NULL && done < p.context) {
    struct row row[16];
    struct pass *made = NULL;
    size_t n = p.context - done < p.pass ? p.context - done : p.pass;
    for (size_t i = 0; i < n; i++) row[i] = (struct row) { 0, (uint32_t) (done + i), draw(c.vocab_size) };
    if (!model_forward(&engine, &m.lm, s, row, n, &made, &why)) {
      say_why("refused", why.text);
      break;
    }
    pass_close(made);
    done += n;
  }
  say("by the allocator at most %" PRIu64, memory.of[MEMORY_CACHE].peak);
  say("which is %s", memory.of[MEMORY_CACHE].peak <= bytes ? "no more" : "more");
  store_close(s);
  say("bytes left %" PRIu64, memory.all.live);
}

static void refused(unsigned size)
{
  struct model_config c;
  struct cache_plan p = { .page_rows = 1, .pass = 1 };
  uint64_t bytes = 0;
  begin();
  settings(&c, size);
  uint32_t k = draw(4);
  c.n_kv_heads = 1u << k, c.n_heads = c.n_kv_heads;
  if (size % 2) { /* blocks */
    p.context = 1 + draw(9), p.batch = 1 + draw(3), p.format = format_at(3 + size / 2 % 2);
    c.head_dim = 32 * (1 + draw(3));
    for (int i = 0; i < 2; i++) {
      tell("%s, a head of %u", p.format->name, c.head_dim);
      bool ok = footprint_cache(&c, &p, &bytes, &why);
      say_done("counted", ok, why.text);
      if (ok) say("bytes %" PRIu64, bytes);
      c.head_dim += 1 + draw(31);
    }
    return;
  }
  /* sizes on both sides of 2^63 */
  p.format = format_at(draw(2)), c.head_dim = 16, c.n_layers = 1u << draw(3);
  uint64_t row = 2 * 16 * (uint64_t) c.n_kv_heads * (p.format->type == WEIGHT_F32 ? 4 : 2);
  p.batch = size % 4 ? 1 : (uint64_t) 1 << draw(40);
  uint64_t edge = ((uint64_t) 1 << 63) / row / c.n_layers / p.batch;
  uint64_t context[] = { edge - 1, edge, 2 * edge, 4 * edge - 1, (uint64_t) 1 << 62, edge / 2, 8 * edge + 1 };
  for (int i = 0; i < 7; i++) {
    if (context[i] == 0) continue;
    p.context = context[i];
    tell("%" PRIu64 " tokens of %u layers, %" PRIu64 " bytes a row, batch %" PRIu64, p.context, c.n_layers, row, p.batch);
    bool ok = footprint_cache(&c, &p, &bytes, &why);
    say_done("counted", ok, why.text);
    if (ok) say("bytes %" PRIu64, bytes);
  }
}

/* ---- a pass */

static void pass(unsigned size)
{
  static struct model_of m;
  static struct row row[400];
  struct model_config c;
  struct pass *made = NULL;
  begin();
  settings(&c, size);
  if (size == 1) c.head_dim = 2;
  if (c.head_dim > 32) c.head_dim = 32;
  c.n_layers = 1 + size % 3, c.n_positions = 400;
  if (c.learned_positions) c.d_model = c.n_heads * c.head_dim;
  make(&m, &c, false);
  size_t before = size < 6 ? 0 : draw(size % 4 == 0 ? 300 : 40), n = size == 1 ? 1 : 1 + draw(size % 5 == 0 ? 90 : 12);
  tell_settings(&c);
  tell("%zu rows after %zu", n, before);
  struct cache_options o = { .page_rows = 16 };
  struct store *s = cache_open(&memory, &c, 1, &o, &why);
  for (uint32_t i = 0; i < 400; i++) row[i] = (struct row) { 0, i, i % c.vocab_size };
  bool ok = s != NULL;
  if (before > 0) {
    ok = ok && model_forward(&engine, &m.lm, s, row, before, &made, &why);
    pass_close(made), made = NULL;
  }
  memory.of[MEMORY_ACTIVATIONS].peak = 0;
  say("by the calculator %" PRIu64, footprint_pass(&c, n, before + n, 1));
  ok = ok && model_forward(&engine, &m.lm, s, row + before, n, &made, &why);
  if (!ok) say("refused: %s", why.text);
  say("by the allocator %" PRIu64, memory.of[MEMORY_ACTIVATIONS].peak);
  pass_close(made), store_close(s);
  say("bytes left %" PRIu64, memory.all.live);
  unsigned workers = 1 + draw(8);
  uint64_t long_text = 1 + draw(100000);
  tell("then a row at position %" PRIu64 " with %u workers", long_text - 1, workers);
  say("by the calculator %" PRIu64, footprint_pass(&c, 1, long_text, workers));
}

/* ---- what fits */

static void context(unsigned size)
{
  static const struct kv_format two = { "f16", WEIGHT_F16, NULL };
  struct model_config c;
  struct cache_plan p;
  uint64_t bytes, budget;
  begin();
  if (size <= 3) { /* the thousand bytes of the box */
    memset(&c, 0, sizeof c);
    c.family = "llama", c.n_layers = 2, c.n_heads = 4, c.n_kv_heads = size == 2 ? 4 : 2, c.head_dim = 3, c.window_from = 1;
    c.window = size == 3 ? 5 : 0;
    p = (struct cache_plan) { &two, 0, 1, 0, 0 };
    tell("the case by hand, %u heads of keys, window %u", c.n_kv_heads, c.window);
    say("context %" PRIu64, footprint_max_context(&c, &p, 400, 1000));
    return;
  }
  settings(&c, size);
  c.n_positions = 100000;
  a_plan(&p, &c, size);
  if (size % 2) window(&c, 50);
  if (size % 4 == 1) c.window_listed = false, c.window_from = 0;
  p.context = 1 + draw(50000);
  uint64_t w = 1000 + draw(100000);
  if (!footprint_cache(&c, &p, &bytes, &why)) say_why("refused", why.text);
  tell_settings(&c), tell_plan(&c, &p);
  for (int i = 0; i < 4; i++) {
    budget = i == 0 ? w + bytes : i == 1 ? w + bytes - 1 : i == 2 ? w - 1 : w + (uint64_t) draw(1 << 30) * draw(1000);
    tell("weights %" PRIu64 ", budget %" PRIu64, w, budget);
    uint64_t most = footprint_max_context(&c, &p, w, budget);
    if (most == UINT64_MAX) say("context without end");
    else say("context %" PRIu64, most);
  }
}

static void batch(unsigned size)
{
  struct model_config c;
  struct cache_plan p;
  uint64_t bytes = 0, w;
  begin();
  settings(&c, size);
  a_plan(&p, &c, size);
  if (size > 4 && size % 3 == 0) window(&c, 20);
  w = draw(5000);
  footprint_cache(&c, &p, &bytes, &why);
  tell_settings(&c), tell_plan(&c, &p);
  uint64_t one = bytes / p.batch, n = 1 + draw(100);
  for (int i = 0; i < 4; i++) {
    uint64_t budget = i == 0 ? w + n * one : i == 1 ? w + n * one + one - 1 : i == 2 ? (w > 0 ? w - 1 : 0) : UINT64_MAX - draw(1000);
    tell("weights %" PRIu64 ", budget %" PRIu64, w, budget);
    say("batch %" PRIu64, footprint_max_batch(&c, &p, w, budget));
  }
  if (size % 2) return;
  p.context = 0;
  say("texts of no token %s", footprint_max_batch(&c, &p, 0, 100) == UINT64_MAX ? "without end" : "few");
}

/* ---- published shapes: the numbers of papers */

static void published(unsigned size)
{
  static const struct { const char *name, *family; uint32_t v, n, d, f, l, h, kv, hd, w; bool tied; } of[] = {
    { "GPT-2 small", "gpt2", 50257, 1024, 768, 3072, 12, 12, 12, 64, 0, true }, { "Llama 7B", "llama", 32000, 2048, 4096, 11008, 32, 32, 32, 128, 0, false },
    { "Llama 2 70B", "llama", 32000, 4096, 8192, 28672, 80, 64, 8, 128, 0, false }, { "Llama 3 8B", "llama", 128256, 8192, 4096, 14336, 32, 32, 8, 128, 0, false },
    { "Mistral 7B", "llama", 32000, 32768, 4096, 14336, 32, 32, 8, 128, 4096, false }, { "GPT-3", "gpt2", 50257, 2048, 12288, 49152, 96, 96, 96, 128, 0, true } };
  unsigned i = (size - 1) % 6;
  bool old = strcmp(of[i].family, "gpt2") == 0;
  struct model_config c = { .family = of[i].family, .vocab_size = of[i].v, .n_positions = of[i].n, .d_model = of[i].d, .d_inner = of[i].f,
    .n_layers = of[i].l, .n_heads = of[i].h, .n_kv_heads = of[i].kv, .head_dim = of[i].hd, .window = of[i].w, .tied = of[i].tied,
    .layer_norm = old, .learned_positions = old, .gated = !old, .qkv_bias = old, .out_bias = old, .mlp_bias = old };
  struct cache_plan p = { .format = format_at(draw(5)), .context = size <= 6 ? of[i].n : 1 + draw(of[i].n), .batch = size <= 6 ? 1 : 1 + draw(64),
    .page_rows = 16, .pass = 1 + draw(512) };
  uint64_t bytes = 0;
  begin();
  tell("%s", of[i].name), tell_plan(&c, &p);
  say("parameters %" PRIu64, footprint_parameters(&c));
  say_done("counted", footprint_cache(&c, &p, &bytes, &why), why.text);
  say("cache %" PRIu64, bytes);
  say("a pass %" PRIu64, footprint_pass(&c, p.pass, p.context, 1 + size % 4));
  uint64_t most = footprint_max_context(&c, &p, 2 * footprint_parameters(&c), 80000000000);
  if (most == UINT64_MAX) say("context without end");
  else say("context %" PRIu64, most);
  say("batch %" PRIu64, footprint_max_batch(&c, &p, 2 * footprint_parameters(&c), 640000000000));
}

/* ---- blocks */

static void blocks(unsigned size)
{
  float x[96];
  unsigned char to[3 * 34 + 1];
  begin();
  const struct kv_format *f = format_at(size % 2 ? 3 : 4);
  size_t n = size < 3 ? 32 : 32 * (1 + draw(3)), bytes = weight_row_bytes(f->type, n);
  float by = size % 5 == 0 ? 3000 : size % 7 == 0 ? 1e-3f : 1;
  for (size_t i = 0; i < n; i++) {
    x[i] = by * draw_float();
    if (size % 6 >= 4) x[i] = (float) ((int) draw(13) - 6) / 2; /* many of them halves of a step */
  }
  for (size_t i = 0; i < n && size % 6 >= 4; i += 32) { /* a scale of exactly 1, or of -1 */
    bool plus = draw(2);
    x[i + draw(32)] = (float) (f->type == WEIGHT_Q8_0 ? 127 : 8) * (plus ? 1 : -1);
  }
  if (size > 2 && (size % 6 == 2 || size % 6 == 3)) /* near halves of a step whose size binary16 has to round */
    for (size_t i = 0; i < n; i += 32) {
      float step = 1 + draw_float() / 2;
      for (size_t k = 0; k < 32; k++) x[i + k] = step * ((float) draw(13) - 6.5f + (draw(2) ? 1e-4f : -1e-4f));
      x[i + draw(32)] = step * (f->type == WEIGHT_Q8_0 ? 127 : -8);
    }
  if (size % 8 == 6 || size % 8 == 7) memset(x, 0, 32 * sizeof *x);
  memset(to, 0xaa, sizeof to);
  tell("%s, %zu numbers, %.6g %.6g %.6g %.6g ...", f->name, n, (double) x[0], (double) x[1], (double) x[2], (double) x[3]);
  f->encode(x, n, to);
  for (size_t i = 0; i <= bytes; i++) say("byte %zu is %02x", i, to[i]);
}

const struct lab_test lab_tests[] = { { "parameters", 40, parameters }, { "weights", 40, weights }, { "token", 30, token }, { "rows", 60, rows },
  { "cache", 60, cache }, { "refused", 30, refused }, { "ring", 30, ring }, { "pass", 40, pass }, { "context", 40, context }, { "batch", 40, batch },
  { "published", 24, published }, { "blocks", 40, blocks }, { NULL, 0, NULL } };
