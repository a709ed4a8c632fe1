/* tests.c -- lab 5: counts and bounds, predictions that are compared with what the engine counts, and prompts that are read in chunks */
#include "kit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cache/cache.h"
#include "phases/plan.h"

enum { MOST_LAYERS = 3, MOST_SEQUENCES = 6, MOST_VOCAB = 12, MOST_TEXT = 160 };

/* ---- small models of many shapes, with random weights in four bytes or in two */

static float pool[30000];
static uint16_t half_pool[30000];
static float frequency[8];
static size_t used;
static struct model_layer layers[MOST_LAYERS];
static struct model lm;
static size_t weight_bytes;
static struct memory memory;
static struct counters counters;
static struct engine engine;
static struct error why;

static struct tensor numbers(size_t n, float by)
{
  size_t from = used;
  used += n;
  for (size_t i = from; i < used; i++) {
    pool[i] = by * draw_float();
    uint32_t bits;
    memcpy(&bits, &pool[i], sizeof bits);
    half_pool[i] = (uint16_t) (bits >> 16);
  }
  return weight_bytes == 4 ? (struct tensor) { pool + from, WEIGHT_F32 } : (struct tensor) { half_pool + from, WEIGHT_BF16 };
}

/* a matrix of the layers, which is entered in the model's sums */
static struct matrix layer_matrix(size_t in, size_t out)
{
  lm.layer_madds += in * out, lm.layer_bytes += in * out * weight_bytes;
  return (struct matrix) { .weight = numbers(in * out, .6f), .in = in, .out = out };
}

static void draw_shape(struct model_config *c, unsigned size, uint32_t scale)
{
  uint32_t groups = 1 + draw(size < 3 ? 1 : 3);
  *c = (struct model_config) { .family = "llama", .n_layers = size < 3 ? 1 : 1 + draw(MOST_LAYERS), .n_kv_heads = 1 + draw(size < 3 ? 1 : 2),
    .head_dim = scale * 2 * (1 + draw(2)), .d_model = scale * (2 + draw(size < 3 ? 2 : 5)), .d_inner = scale * (1 + draw(size < 3 ? 3 : 8)),
    .vocab_size = scale * (3 + draw(MOST_VOCAB - 3)), .n_positions = 64, .gated = draw(2), .learned_positions = draw(2), .norm_eps = 1e-5,
    .activation = ACTIVATION_GELU_TANH };
  c->n_heads = groups * c->n_kv_heads;
}

static const char *shape_in_words(const struct model_config *c)
{
  static char line[300];
  snprintf(line, sizeof line, "%u layers, width %u, inner width %u%s, %u heads of %u, %u of keys and values, %u tokens%s", c->n_layers, c->d_model,
    c->d_inner, c->gated ? " with a gate" : "", c->n_heads, c->head_dim, c->n_kv_heads, c->vocab_size,
    c->learned_positions ? ", learned positions" : "");
  return line;
}

static struct store *begin(unsigned size, uint32_t n_sequences, uint32_t n_positions)
{
  struct norm bare = { .kind = NORM_RMS, .epsilon = 1e-5f };
  struct cache_options o = { .page_rows = 4 };
  memset(&lm, 0, sizeof lm), memset(&counters, 0, sizeof counters), memset(&memory, 0, sizeof memory);
  used = 0, weight_bytes = size % 3 == 2 ? 2 : 4;
  struct model_config *c = &lm.config;
  draw_shape(c, size, 1);
  c->n_positions = n_positions;
  size_t d = c->d_model, q = (size_t) c->n_heads * c->head_dim, kv = (size_t) c->n_kv_heads * c->head_dim, f = c->d_inner;
  lm.embedding = numbers(d * c->vocab_size, 1);
  if (c->learned_positions) lm.positions = numbers(d * n_positions, 1);
  for (uint32_t i = 0; i < c->head_dim / 2; i++) frequency[i] = 1.0f / (float) (1 + i * i);
  lm.frequency = frequency, lm.layers = layers, lm.final_norm = bare;
  for (uint32_t i = 0; i < c->n_layers; i++) {
    layers[i] = (struct model_layer) { .attn_norm = bare, .mlp_norm = bare, .qkv = { layer_matrix(d, q), layer_matrix(d, kv), layer_matrix(d, kv) },
      .n_qkv = 3, .out = layer_matrix(q, d), .n_up = c->gated ? 2 : 1 };
    layers[i].up[0] = layer_matrix(d, f);
    if (c->gated) layers[i].up[1] = layer_matrix(d, f);
    layers[i].down = layer_matrix(f, d);
  }
  lm.head = (struct matrix) { .weight = numbers(d * c->vocab_size, 1), .in = d, .out = c->vocab_size };
  lm.head_bytes = d * c->vocab_size * weight_bytes;
  lm.attention = (struct attention_dims) { c->n_heads, c->n_kv_heads, c->head_dim, 1 / sqrtf((float) c->head_dim), .cap = 0 };
  engine = (struct engine) { .k = &kernels_plain, .c = &counters };
  tell("%s, weights of %zu bytes", shape_in_words(c), weight_bytes);
  struct store *s = cache_open(&memory, c, n_sequences, &o, &why);
  if (s == NULL) say("no store: %s", why.text);
  return s;
}

static struct plan plan_of(const struct model_config *c)
{ return (struct plan) { c, weight_bytes, 4 }; }

static uint32_t draw_token(void) { return draw(lm.config.vocab_size); }

/* reads further rows of a sequence */
static bool read_rows(struct store *s, uint32_t sequence, size_t n)
{
  struct row rows[MOST_TEXT];
  struct pass *p = NULL;
  size_t at = store_length(s, sequence);
  if (n == 0) return true;
  for (size_t i = 0; i < n; i++) rows[i] = (struct row) { sequence, (uint32_t) (at + i), draw_token() };
  bool ok = model_forward(&engine, &lm, s, rows, n, &p, &why);
  if (!ok) say("the test itself fails: %s", why.text);
  pass_close(p);
  return ok;
}

static const char *const counter_name[N_COUNTERS] = { "passes", "rows", "kv_rows_computed", "kv_rows_recomputed", "qk_pairs", "madds_linear",
  "madds_attention", "madds_head", "weight_bytes_read", "cache_bytes_read", "cache_bytes_written" };

static void say_counters(const struct counters *planned, const struct counters *counted)
{
  for (int i = 0; i < N_COUNTERS; i++) {
    if (counted == NULL) say("%s %llu", counter_name[i], (unsigned long long) planned->of[i]);
    else say("%s: planned %llu, counted %llu", counter_name[i], (unsigned long long) planned->of[i], (unsigned long long) counted->of[i]);
  }
}

/* ---- sums, bounds */

static void sums(unsigned size)
{
  struct counters a, b, c;
  for (int i = 0; i < N_COUNTERS; i++) a.of[i] = 1 + draw(10 * size * size), b.of[i] = a.of[i] + draw(1000), c.of[i] = 1 + draw(5);
  if (size > 10) a.of[draw(N_COUNTERS)] = (uint64_t) 1 << 40, b.of[6] = (uint64_t) 1 << 50;
  tell("layers %llu, attention %llu, head %llu", (unsigned long long) a.madds_linear, (unsigned long long) a.madds_attention,
    (unsigned long long) a.madds_head);
  say("madds %llu", (unsigned long long) work_madds(&a));
  tell("weights %llu, read %llu and written %llu of the cache", (unsigned long long) a.weight_bytes_read,
    (unsigned long long) a.cache_bytes_read, (unsigned long long) a.cache_bytes_written);
  say("bytes %llu", (unsigned long long) work_bytes(&a));
  struct counters between = counters_since(&a, &b);
  say("since");
  say_counters(&between, NULL);
  counters_add(&c, &a);
  say("sum");
  say_counters(&c, NULL);
}

/* speeds of a very slow machine, so that times are long; the quotient is exact */
static struct roofline draw_machine(void)
{
  struct roofline m = { .bytes = (double) (1u << (4 + draw(4))) };
  m.madds = m.bytes / 4 * (1 + draw(80));
  tell("%g multiply-adds and %g bytes a second", m.madds, m.bytes);
  return m;
}

static void bound(unsigned size)
{
  struct counters w;
  struct roofline m = draw_machine();
  for (int i = 0; i < N_COUNTERS; i++) w.of[i] = draw(100 * size * size);
  w.of[5 + draw(6)] += 1000;
  tell("%llu + %llu + %llu multiply-adds, %llu + %llu + %llu bytes", (unsigned long long) w.of[5], (unsigned long long) w.of[6],
    (unsigned long long) w.of[7], (unsigned long long) w.of[8], (unsigned long long) w.of[9], (unsigned long long) w.of[10]);
  say_near("seconds", work_bound(&m, &w));
  size_t rows = size == 1 ? 1 : 1 + draw(600), in = size == 1 ? 1 : 1 + draw(4000), out = size == 1 ? 1 : 1 + draw(4000), bytes = 1u << draw(3);
  tell("%zu rows, a matrix of %zu by %zu, numbers of %zu bytes", rows, in, out, bytes);
  say_near("intensity", intensity(rows, in, out, bytes));
  for (size_t w = 1; w <= 4; w *= 2) say("weights of %zu bytes: ridge at %zu rows", w, plan_ridge(&m, w));
}

/* ---- predictions */

static void layer(unsigned size)
{
  struct model_config c;
  draw_shape(&c, size, size == 1 ? 1 : 1 + draw(64));
  if (size == 1) c.n_heads = c.n_kv_heads = c.head_dim = c.d_model = c.d_inner = 1;
  if (size > 10) c.d_model *= 50, c.d_inner *= 400, c.head_dim *= 100;
  weight_bytes = 2;
  struct plan p = plan_of(&c);
  tell("%s", shape_in_words(&c));
  say("weights of a layer %llu", (unsigned long long) plan_layer(&p));
}

static void say_pass(struct store *s, const struct part *list, size_t n, const struct row *rows, size_t n_rows, size_t scored)
{
  size_t which[MOST_TEXT];
  float logits[MOST_TEXT * MOST_VOCAB];
  struct pass *made = NULL;
  struct plan p = plan_of(&lm.config);
  struct counters before = counters;
  for (size_t i = 0; i < scored; i++) which[i] = draw((uint32_t) n_rows);
  tell("%zu rows, %zu scored", n_rows, scored);
  if (!model_forward(&engine, &lm, s, rows, n_rows, &made, &why)
      || (scored > 0 && !model_logits(&engine, &lm, made, which, scored, logits, &why))) say("the test itself fails: %s", why.text);
  pass_close(made);
  struct counters planned = plan_pass(&p, list, n, scored), counted = counters;
  for (int i = 0; i < N_COUNTERS; i++) counted.of[i] -= before.of[i];
  say_counters(&planned, &counted);
}

static void pass(unsigned size)
{
  struct row rows[MOST_TEXT];
  struct store *s = begin(size, 1, 64);
  size_t depth = size < 4 ? 0 : draw(40), n = size < 4 ? size : 1 + draw(20), scored = size == 1 ? 1 : draw((uint32_t) (n < 4 ? n : 4) + 1);
  struct part one = { 1, depth, n };
  if (s == NULL || !read_rows(s, 0, depth)) return;
  tell("a sequence with %zu rows in the store", depth);
  for (size_t i = 0; i < n; i++) rows[i] = (struct row) { 0, (uint32_t) (depth + i), draw_token() };
  say_pass(s, &one, 1, rows, n, scored);
  store_close(s);
}

static void batch(unsigned size)
{
  struct row rows[MOST_TEXT];
  struct part list[3];
  size_t n = 1 + size % 3, n_rows = 0;
  uint32_t sequence = 0;
  struct store *s = begin(size, MOST_SEQUENCES, 64);
  for (size_t i = 0; s != NULL && i < n; i++) {
    list[i] = (struct part) { 1 + draw(2), draw(12), i == 0 || size % 4 > 0 ? 1 + draw(size % 2 ? 1 : 4) : draw(3) };
    tell("%zu sequences with %zu rows in the store and %zu in the pass", list[i].sequences, list[i].depth, list[i].rows);
    for (size_t k = 0; k < list[i].sequences; k++, sequence++) {
      if (!read_rows(s, sequence, list[i].depth)) return;
      for (size_t r = 0; r < list[i].rows; r++) rows[n_rows++] = (struct row) { sequence, (uint32_t) (list[i].depth + r), draw_token() };
    }
  }
  if (s == NULL) return;
  say_pass(s, list, n, rows, n_rows, size % 5 == 0 ? 0 : 1 + draw((uint32_t) n_rows));
  store_close(s);
}

static size_t draw_chunk(unsigned size, size_t n)
{
  switch (size % 5) {
    case 0: return 0;
    case 1: return 1;
    case 2: return n;
    case 3: return n % 2 == 0 ? n / 2 : n + 3;
    default: return 1 + draw((uint32_t) n);
  }
}

static void chunked(unsigned size)
{
  float logits[MOST_VOCAB];
  struct row rows[MOST_TEXT];
  struct pass *last = NULL;
  struct store *s = begin(size, 1, 64);
  size_t depth = size < 6 ? 0 : draw(30), n = size < 6 ? size : 1 + draw(30), chunk = draw_chunk(size + 1, n);
  if (s == NULL || !read_rows(s, 0, depth)) return;
  tell("%zu rows after %zu, in chunks of %zu", n, depth, chunk);
  for (size_t i = 0; i < n; i++) rows[i] = (struct row) { 0, (uint32_t) (depth + i), draw_token() };
  struct counters before = counters, counted;
  struct generate_context g = { &engine, &lm, s, &memory };
  bool ok = model_read(&g, rows, n, chunk, &last, &why) && model_logits(&engine, &lm, last, &(size_t) { last->n - 1 }, 1, logits, &why);
  if (!ok) say("the test itself fails: %s", why.text);
  pass_close(last);
  counted = counters;
  for (int i = 0; i < N_COUNTERS; i++) counted.of[i] -= before.of[i];
  struct plan p = plan_of(&lm.config);
  struct counters planned = plan_prefill(&p, depth, n, chunk);
  say_counters(&planned, &counted);
  store_close(s);
}

static void times(unsigned size)
{
  struct model_config c;
  struct counters work;
  draw_shape(&c, size, 1 + draw(4));
  weight_bytes = 1u << draw(3);
  struct plan p = { &c, weight_bytes, draw(2) ? 2 : 4 };
  struct roofline m = draw_machine();
  size_t prompt = size < 3 ? size : 1 + draw(60), fresh = size < 3 ? size : 1 + draw(40), chunk = draw_chunk(size + 4, prompt);
  tell("%s, weights of %zu bytes, cache of %zu", shape_in_words(&c), weight_bytes, p.cache_bytes);
  tell("a prompt of %zu in chunks of %zu, %zu new tokens", prompt, chunk, fresh);
  struct plan_times t = plan_text(&p, &m, prompt, chunk, fresh, &work);
  say_near("first", t.first), say_near("last", t.last), say_near("all", t.all);
  say_counters(&work, NULL);
}

static void limits(unsigned size)
{
  struct model_config c;
  draw_shape(&c, size, 4 + draw(4));
  weight_bytes = 1u << (1 + draw(2));
  struct plan p = { &c, weight_bytes, draw(2) ? 2 : 4 };
  struct roofline m = draw_machine();
  double numbers = 12.0 * c.d_model * c.d_model * c.n_layers;
  double seconds = numbers * (double) weight_bytes / m.bytes * (.30031 + .01 * draw(1000)) * (size % 4 == 3 ? 50 : 1) * (size % 8 == 7 ? 500 : 1);
  size_t depth = draw(size < 4 ? 2 : 200), others = size < 4 ? 0 : draw(6), done = draw(300), left = size % 3 == 0 ? 1 + draw(6) : 1 + draw(4000);
  tell("%s, weights of %zu bytes, cache of %zu", shape_in_words(&c), weight_bytes, p.cache_bytes);
  tell("%g seconds, sequences of %zu rows", seconds, depth);
  say("batch %zu", plan_batch(&p, &m, depth, seconds));
  tell("%zu others, %zu of a prompt done, %zu left", others, done, left);
  say("chunk %zu", plan_chunk(&p, &m, others, depth, done, left, seconds));
  left = 1 + draw(8), c.vocab_size *= 20, others = size % 4 == 1 ? 1 : 0, done %= 20; /* the head costs as much as a layer, and may be what the last rows wait for */
  for (unsigned i = 0; i < 12; i++) {
    seconds = numbers * (double) weight_bytes / m.bytes * (.30031 + .4 * i);
    tell("a vocabulary of %u, %g seconds, %zu others, %zu done, %zu left", c.vocab_size, seconds, others, done, left);
    say("chunk %zu", plan_chunk(&p, &m, others, depth, done, left, seconds));
  }
}

/* ---- passes */

static void say_logits(const char *what, const float *logits, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    char name[60];
    snprintf(name, sizeof name, "%s %zu", what, i);
    say_bits(name, logits[i]);
  }
}

static void prompt(unsigned size)
{
  float logits[MOST_VOCAB] = { 0 };
  uint32_t id[MOST_TEXT];
  struct store *s = begin(size, 3, 64);
  struct generate_context g = { &engine, &lm, s, &memory };
  uint32_t sequence = size % 3;
  size_t n = size < 6 ? size : 1 + draw(60), chunk = draw_chunk(size + 1, n), beside = draw(5);
  if (s == NULL || !read_rows(s, (sequence + 1) % 3, beside)) return;
  for (size_t i = 0; i < n; i++) id[i] = draw_token();
  tell("%zu ids into sequence %u in chunks of %zu; another sequence has %zu rows", n, sequence, chunk, beside);
  memset(&counters, 0, sizeof counters);
  bool ok = true, empty = true;
  if (size % 4 == 1) { /* requests for memory fail, one after the other, until none does */
    for (uint64_t k = 1; k < 300; k++) {
      memory.fail_at = memory.all.requests + k;
      ok = prefill(&g, sequence, id, n, chunk, logits, &why);
      if (ok) break;
      empty = empty && store_length(s, sequence) == 0;
    }
    memory.fail_at = 0;
    say("after every failure the sequence is empty %s", empty ? "yes" : "no");
    store_crop(s, sequence, 0);
    memset(&counters, 0, sizeof counters);
  }
  uint64_t live = memory.of[MEMORY_ACTIVATIONS].live;
  memory.of[MEMORY_ACTIVATIONS].peak = live;
  ok = prefill(&g, sequence, id, n, chunk, logits, &why);
  say_done("read", ok, why.text);
  if (!ok) tell("%s", why.text);
  say_logits("logit", logits, lm.config.vocab_size);
  say("passes %llu, rows %llu", (unsigned long long) counters.passes, (unsigned long long) counters.rows);
  say_most("multiply_adds_of_the_head", (double) counters.madds_head, 1);
  say_most("memory_of_passes", (double) memory.of[MEMORY_ACTIVATIONS].peak, 1.2);
  say("lengths %zu %zu", store_length(s, sequence), store_length(s, (sequence + 1) % 3));
  say("bytes left %llu", (unsigned long long) (memory.of[MEMORY_ACTIVATIONS].live - live));
  if (size % 5 == 4 && ok) { /* an id that is none */
    store_crop(s, sequence, 0);
    id[n - 1] = lm.config.vocab_size;
    ok = prefill(&g, sequence, id, n, chunk, logits, &why);
    say("an id out of range %s, length %zu, bytes left %llu", ok ? "taken" : "refused", store_length(s, sequence),
      (unsigned long long) (memory.of[MEMORY_ACTIVATIONS].live - live));
  }
  store_close(s);
  say("bytes left in all %llu", (unsigned long long) memory.all.live);
}

static void mixed(unsigned size)
{
  float logits[MOST_SEQUENCES * MOST_VOCAB] = { 0 };
  uint32_t id[MOST_TEXT];
  struct store *s = begin(size, MOST_SEQUENCES, 64);
  size_t n = size < 3 ? size - 1 : draw(MOST_SEQUENCES), length = size < 3 ? 1 : 1 + draw(30), chunk = 1 + draw(8), v = lm.config.vocab_size;
  uint32_t at = (uint32_t) draw((uint32_t) n + 1);
  struct generate_context g = { &engine, &lm, s, &memory };
  struct prompt q = { at, id, length, 0 };
  if (s == NULL) return;
  for (size_t i = 0; i < length; i++) id[i] = draw_token();
  for (uint32_t i = 0; i <= n; i++) if (i != at && !read_rows(s, i, draw(6))) return;
  tell("a prompt of %zu in sequence %u, chunks of %zu, %zu others", length, at, chunk, n);
  uint64_t live = memory.of[MEMORY_ACTIVATIONS].live;
  for (int step = 0; step < 4 + 30 / (int) chunk && q.done < length; step++) {
    struct row others[MOST_SEQUENCES];
    bool ok = false, as_before = true;
    size_t k = 0, done = q.done;
    for (uint32_t i = 0; i <= n; i++)
      if (i != at) others[k++] = (struct row) { i, (uint32_t) store_length(s, i), draw_token() };
    memset(&counters, 0, sizeof counters);
    if (size % 3 == 1 && step < 2) { /* requests for memory fail, one after the other, until none does */
      for (uint64_t f = 1; f < 300 && !ok; f++) {
        memory.fail_at = memory.all.requests + f;
        memset(&counters, 0, sizeof counters);
        ok = mixed_step(&g, &q, chunk, others, n, logits, &why);
        for (size_t i = 0; i < n && !ok; i++) as_before = as_before && store_length(s, others[i].sequence) == others[i].position;
        if (!ok) as_before = as_before && q.done == done && store_length(s, at) == done;
      }
      memory.fail_at = 0;
      say("after every failure all is as before %s", as_before ? "yes" : "no");
    }
    else ok = mixed_step(&g, &q, chunk, others, n, logits, &why);
    say("step %s, prompt %zu of %zu, passes %llu, rows %llu", ok ? "yes" : "no", q.done, length, (unsigned long long) counters.passes,
      (unsigned long long) counters.rows);
    if (!ok) break;
    say_most("multiply_adds_of_the_head", (double) counters.madds_head, 1);
    for (size_t i = 0; i < n; i++) say_logits("another's logit", logits + i * v, v < 3 ? v : 3);
    if (q.done == length) say_logits("the prompt's logit", logits + n * v, v);
    say("bytes left %llu", (unsigned long long) (memory.of[MEMORY_ACTIVATIONS].live - live));
  }
  for (uint32_t i = 0; i <= n; i++) say("length %zu", store_length(s, i));
  store_close(s);
  say("bytes left in all %llu", (unsigned long long) memory.all.live);
}

static void windows(unsigned size)
{
  uint32_t id[MOST_TEXT];
  struct perplexity p;
  struct store *s = begin(size, 1, 128);
  struct generate_context g = { &engine, &lm, s, &memory };
  size_t n = size < 8 ? size + 1 : 2 + draw(150), context = size < 8 ? 1 + draw(5) : 1 + draw(size % 2 ? 128 : 20), stride = 1 + draw((uint32_t) context);
  if (size % 6 == 5) stride = context;
  if (size % 9 == 8) n = 128 + draw(20), context = 127 + draw(2);
  if (s == NULL) return;
  for (size_t i = 0; i < n; i++) id[i] = draw_token();
  tell("%zu tokens, windows of %zu every %zu", n, context, stride);
  bool ok = perplexity_of(&g, id, n, context, stride, &p, &why);
  say_done("read", ok, why.text);
  say("windows %zu, scored %zu, rows %llu", p.windows, p.tokens, (unsigned long long) counters.rows);
  say_near("loss", p.loss);
  say_most("multiply_adds_of_the_head", (double) counters.madds_head, 1);
  say("bytes left %llu", (unsigned long long) memory.of[MEMORY_ACTIVATIONS].live);
  store_close(s);
}

const struct lab_test lab_tests[] = { { "sums", 20, sums }, { "bound", 40, bound }, { "layer", 20, layer }, { "pass", 40, pass }, { "batch", 40, batch },
  { "chunked", 40, chunked }, { "times", 40, times }, { "limits", 40, limits }, { "prompt", 40, prompt }, { "mixed", 40, mixed },
  { "windows", 40, windows }, { NULL, 0, NULL } };
