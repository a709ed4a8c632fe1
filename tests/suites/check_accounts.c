/* Chapter 6: accounts -- what is reckoned is what is asked of the allocator and what the file has,
   to the byte; and a row that is kept in fewer bits is the same row for everybody who reads it. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include "suite.h"
#include "tiny.h"
#include "oracle.h"
#include "cache/cache.h"
#include "tokenizer/tokenizer_internal.h"
#include "accounts/accounts.h"
#include "safetensors/tensor_file.h"
#include "families/loader.h"
#include "kernels/kernels.h"

__extension__ typedef unsigned __int128 wide; /* sums that fit in no register */
static uint64_t between(uint64_t *seed, uint64_t min, uint64_t max)
{
  return min + rnd(seed) % (max - min + 1);
}
static bool one_in(uint64_t *seed, unsigned n)
{
  return rnd(seed) % n == 0;
}

/* ---- the equations, from the book: in words of the test, with nothing of accounts.c */
static wide number_bytes(const struct kv_format *f, uint64_t n) /* of a head's numbers */
{
  if (strcmp(f->name, "f32") == 0) return (wide) 4 * n;
  if (strcmp(f->name, "q8_0") == 0) return (wide) 34 * (n / 32);
  if (strcmp(f->name, "q4_0") == 0) return (wide) 18 * (n / 32);
  return (wide) 2 * n;
}
static wide pages_of(wide rows, uint64_t page)
{
  return (rows + page - 1) / page;
}
static bool near_sighted(
  const struct model_config *c, uint32_t layer) /* from the fields, as the settings say */
{
  if (c->window == 0) return false;
  return c->window_listed ? (c->windowed[layer / 8] & (1 << layer % 8)) != 0
                          : layer >= c->window_from;
}
static wide layer_rows(
  const struct model_config *c, uint32_t layer, const struct cache_plan *p, uint64_t context)
{
  uint64_t page = p->page_rows == 0 ? 1 : p->page_rows, pass = p->pass == 0 ? 1 : p->pass;
  wide pages = pages_of(context, page);
  if (near_sighted(c, layer)) {
    wide ring = pages_of(c->sinks, page) + 1 + pages_of((wide) c->window + pass - 2, page);
    if (ring < pages) pages = ring;
  }
  return pages * page;
}
static wide cache_cost(
  const struct model_config *c, const struct cache_plan *p, uint64_t context, uint64_t batch)
{
  wide sum = 0;
  for (uint32_t i = 0; i < c->n_layers; i++)
    sum += layer_rows(c, i, p, context) * 2 * c->n_kv_heads * number_bytes(p->format, c->head_dim);
  return sum * batch;
}
static uint64_t desk_cost(
  const struct model_config *c, bool fused, uint64_t rows, uint64_t max_len, unsigned workers)
{
  uint64_t d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim,
           k = (uint64_t) c->n_kv_heads * c->head_dim;
  uint64_t g = c->gated ? 2 : 1, u = fused ? 3 * q : 0, w = 3 * 4 + 8 + sizeof(struct segment),
           sum = sizeof(struct pass);
  for (uint64_t r = 0; r < rows; r++)
    sum += 4 * (3 * d + 2 * q + 2 * k + u + g * c->d_inner + c->head_dim / 2 * 2) + w;
  for (unsigned i = 0; i < workers; i++) sum += 4 * (c->head_dim + 2) * (max_len / 256 + 2);
  return sum;
}

/* ---- a folder of models: made before the tests, by whoever runs them, and taken away behind them
 * even if they die */
static char room[300];
static char *in_room(char path[400], const char *file)
{
  snprintf(path, 400, "%s/%s", room, file);
  return path;
}
static void room_open(void)
{
  const char *build = getenv("BUILD");
  snprintf(room, sizeof room, "%s/accounts-XXXXXX", build ? build : "build");
  if (mkdtemp(room) == NULL) abort();
}
static void room_close(void)
{
  char path[400];
  unlink(in_room(path, "config.json")), unlink(in_room(path, "model.safetensors"));
  if (rmdir(room) != 0) abort();
}

/* ---- a model that nobody has seen: its settings, and a file of weights, written here */
enum family { GPT2, LLAMA, MISTRAL, QWEN2, QWEN3, FAMILIES };
static const char *const family_name[FAMILIES] = { "gpt2", "llama", "mistral", "qwen2", "qwen3" };
enum reach { EVERYTHING, ALL_LAYERS, FROM_A_LAYER, LISTED, REACHES };
struct shape {
  enum family family;
  enum reach reach;
  uint32_t v, positions, d, f, layers, heads, kv, hd, window, from;
  unsigned listed;
  bool attention_bias, mlp_bias, tied, again, bare, hd_said, kv_said;
};
enum kind {
  EMBEDDING,
  POSITIONS,
  NORMS,
  QUERIES,
  KEYS,
  HEAD_NORMS,
  BACK,
  UP,
  DOWN,
  LAST,
  HEAD,
  KINDS,
  NOBODY = KINDS
};
static const char *const kind_name[KINDS] = { "embedding", "positions", "norms", "queries",
  "keys and values", "QK-norms", "output projection", "up and gate", "down", "last norm", "head" };
struct writing {
  uint64_t *seed;
  char *header;
  unsigned char *data;
  size_t h, n;
  uint64_t elements, unused;
  unsigned types[3];
  struct {
    uint64_t numbers, times;
  } of[KINDS + 1];
};
enum { HEADER_ROOM = 60000, DATA_ROOM = 8 << 20 };

static void random_shape(struct shape *s, uint64_t *seed)
{
  *s = (struct shape){ .family = (enum family)(rnd(seed) % FAMILIES) };
  bool gpt2 = s->family == GPT2, qwen = s->family == QWEN2 || s->family == QWEN3;
  s->kv = (uint32_t) between(seed, 1, 3),
  s->heads = s->kv * (uint32_t) between(seed, 1, gpt2 ? 1 : 4);
  if (gpt2) s->kv = s->heads;
  s->hd =
    one_in(seed, 2) ? 2 * (uint32_t) between(seed, 1, 8) : 32 * (uint32_t) between(seed, 1, 2);
  if (gpt2 && one_in(seed, 3))
    s->hd = 2 * (uint32_t) between(seed, 0, 7) + 1; /* who turns nothing may have odd heads */
  s->hd_said = !gpt2 && (s->family == QWEN3 || s->heads * s->hd > 100 || one_in(seed, 2));
  s->kv_said = s->family != LLAMA || s->kv != s->heads || one_in(seed, 2);
  s->d = s->hd_said ? (uint32_t) between(seed, 3, 40) : s->heads * s->hd;
  s->f = gpt2 && one_in(seed, 3) ? 4 * s->d : (uint32_t) between(seed, 1, 60);
  s->v = (uint32_t) between(seed, 2, 50), s->layers = (uint32_t) between(seed, 1, 4);
  s->positions = (uint32_t) (one_in(seed, 6) ? between(seed, 257, 700) : between(seed, 1, 60));
  s->attention_bias = (s->family == LLAMA || s->family == QWEN3) && one_in(seed, 2),
  s->mlp_bias = s->family == LLAMA && one_in(seed, 2);
  s->tied = one_in(seed, 2), s->again = s->tied && one_in(seed, 4), s->bare = one_in(seed, 4);
  if (s->family == MISTRAL && !one_in(seed, 4)) s->reach = ALL_LAYERS;
  if (qwen && !one_in(seed, 3)) s->reach = one_in(seed, 3) ? LISTED : FROM_A_LAYER;
  if (s->reach != EVERYTHING) s->window = (uint32_t) between(seed, 1, s->positions / 2 + 2);
  if (s->reach == FROM_A_LAYER) s->from = (uint32_t) between(seed, 0, s->layers);
  s->listed = (unsigned) rnd(seed) & 15;
}

/* ---- a tensor of a type drawn by lot, its numbers some hundredths */
static void put_numbers(struct writing *w, unsigned type, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++) {
    uint64_t r = rnd(w->seed);
    uint32_t sign = (uint32_t) (r >> 60 & 1), power = (uint32_t) (r >> 40 & 3), rest = (uint32_t) r;
    uint16_t h = (uint16_t) (type == 1 ? sign << 15 | (8 + power) << 10 | (rest & 1023)
                                       : sign << 15 | (120 + power) << 7 | (rest & 127));
    float x = (float) (r % 2001) / 10000 - .1f;
    memcpy(w->data + w->n, type == 0 ? (void *) &x : (void *) &h, type == 0 ? 4 : 2),
      w->n += type == 0 ? 4 : 2;
  }
}
static void put_header(struct writing *w, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  w->h += (size_t) vsnprintf(w->header + w->h, HEADER_ROOM - w->h, format, list);
  va_end(list);
  ck_assert_uint_lt(w->h, HEADER_ROOM);
}
static void put_entry(struct writing *w, const char *name, const char *type, uint64_t rows,
  uint64_t columns, size_t from)
{
  char shape[60];
  snprintf(shape, sizeof shape, columns > 0 ? "%" PRIu64 ", %" PRIu64 : "%" PRIu64, rows, columns);
  put_header(w, "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [%s], \"data_offsets\": [%zu, %zu]}",
    w->h > 1 ? ", " : "", name, type, shape, from, w->n);
}
/* one of `kind' if it is no bias: a third of GPT-2's fused matrix is queries, and two are keys and
 * values */
static unsigned put_tensor(
  struct writing *w, enum kind kind, bool counts, const char *name, uint64_t rows, uint64_t columns)
{
  static const char *const type_name[3] = { "F32", "F16", "BF16" };
  unsigned type = (unsigned) (rnd(w->seed) % 3);
  uint64_t n = rows * (columns > 0 ? columns : 1);
  size_t from = w->n;
  ck_assert_uint_le(from + 4 * n, DATA_ROOM);
  put_numbers(w, type, n), put_entry(w, name, type_name[type], rows, columns, from);
  w->types[type]++, w->elements += n;
  bool fused = strstr(name, "c_attn") != NULL;
  w->of[kind].numbers += fused ? n / 3 : n, w->of[kind].times += counts;
  if (fused) w->of[KEYS].numbers += 2 * n / 3, w->of[KEYS].times += 2 * counts;
  return type;
}
static void put_matrix(struct writing *w, enum kind kind, const struct shape *s, uint32_t layer,
  const char *name, uint64_t in, uint64_t out, bool bias)
{
  char full[200];
  const char *head = s->family == GPT2 ? s->bare ? "h" : "transformer.h"
    : s->bare                          ? "layers"
                                       : "model.layers";
  snprintf(full, sizeof full, "%s.%u.%s.weight", head, layer, name);
  if (s->family == GPT2)
    put_tensor(w, kind, true, full, in, out);
  else
    put_tensor(w, kind, true, full, out, in);
  snprintf(full, sizeof full, "%s.%u.%s.bias", head, layer, name);
  if (bias) put_tensor(w, kind, false, full, out, 0);
}
static void put_norm(
  struct writing *w, enum kind kind, const struct shape *s, const char *name, uint64_t d)
{
  char full[200];
  const char *head = s->bare ? "" : s->family == GPT2 ? "transformer." : "model.";
  snprintf(full, sizeof full, "%s%s.weight", head, name);
  put_tensor(w, kind, true, full, d, 0);
  snprintf(full, sizeof full, "%s%s.bias", head, name);
  if (s->family == GPT2) put_tensor(w, kind, false, full, d, 0);
}
static void put_layer(struct writing *w, const struct shape *s, uint32_t i)
{
  char name[100];
  uint64_t q = s->heads * s->hd, k = s->kv * s->hd;
  bool qkv_bias = s->attention_bias || s->family == QWEN2;
  static const char *const norm[2][2] = { { "h.%u.ln_1", "h.%u.ln_2" },
    { "layers.%u.input_layernorm", "layers.%u.post_attention_layernorm" } };
  for (int j = 0; j < 2; j++) {
    const char *format = norm[s->family != GPT2][j];
    snprintf(name, sizeof name, "%.*s%u%s", (int) (strchr(format, '%') - format), format, i,
      strchr(format, '%') + 2);
    put_norm(w, NORMS, s, name, s->d);
  }
  if (s->family == GPT2) {
    put_matrix(w, QUERIES, s, i, "attn.c_attn", s->d, 3 * s->d, true),
      put_matrix(w, BACK, s, i, "attn.c_proj", s->d, s->d, true);
    put_matrix(w, UP, s, i, "mlp.c_fc", s->d, s->f, true),
      put_matrix(w, DOWN, s, i, "mlp.c_proj", s->f, s->d, true);
    return;
  }
  put_matrix(w, QUERIES, s, i, "self_attn.q_proj", s->d, q, qkv_bias);
  put_matrix(w, KEYS, s, i, "self_attn.k_proj", s->d, k, qkv_bias),
    put_matrix(w, KEYS, s, i, "self_attn.v_proj", s->d, k, qkv_bias);
  put_matrix(w, BACK, s, i, "self_attn.o_proj", q, s->d, s->attention_bias);
  for (int j = 0; s->family == QWEN3 && j < 2; j++) {
    snprintf(name, sizeof name, "layers.%u.self_attn.%c_norm", i, "qk"[j]);
    put_norm(w, HEAD_NORMS, s, name, s->hd);
  }
  put_matrix(w, UP, s, i, "mlp.gate_proj", s->d, s->f, s->mlp_bias),
    put_matrix(w, UP, s, i, "mlp.up_proj", s->d, s->f, s->mlp_bias);
  put_matrix(w, DOWN, s, i, "mlp.down_proj", s->f, s->d, s->mlp_bias);
}
static void spill(
  const char *file, const void *a, size_t n, const void *b, size_t m, const void *c, size_t l)
{
  char path[400];
  FILE *f = fopen(in_room(path, file), "wb");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert(fwrite(a, 1, n, f) == n && fwrite(b, 1, m, f) == m && fwrite(c, 1, l, f) == l);
  fclose(f);
}
static void write_weights(struct writing *w, const struct shape *s)
{
  bool gpt2 = s->family == GPT2;
  char name[100];
  w->h = w->n = 0, w->header[w->h++] = '{';
  if (one_in(w->seed, 2)) put_header(w, "\"__metadata__\": {\"format\": \"pt\"}");
  snprintf(name, sizeof name, "%s%s.weight",
    s->bare  ? ""
      : gpt2 ? "transformer."
             : "model.",
    gpt2 ? "wte" : "embed_tokens");
  unsigned type = put_tensor(w, EMBEDDING, true, name, s->v, s->d);
  size_t table = w->n - (size_t) s->v * s->d * (type == 0 ? 4 : 2), bytes = w->n - table;
  if (s->again) { /* a tied head that is stored once more is no weight of the model */
    memcpy(w->data + w->n, w->data + table, bytes), w->n += bytes, w->unused = bytes;
    put_entry(w, "lm_head.weight",
      type == 0     ? "F32"
        : type == 1 ? "F16"
                    : "BF16",
      s->v, s->d, w->n - bytes);
  }
  if (gpt2)
    put_tensor(
      w, POSITIONS, true, s->bare ? "wpe.weight" : "transformer.wpe.weight", s->positions, s->d);
  for (uint32_t i = 0; i < s->layers; i++) put_layer(w, s, i);
  put_norm(w, LAST, s, gpt2 ? "ln_f" : "norm", s->d);
  if (!s->tied) put_tensor(w, HEAD, true, "lm_head.weight", s->v, s->d);
  put_header(w, "}%*s", (int) (rnd(w->seed) % 9), "");
  uint64_t length = w->h;
  unsigned char eight[8];
  for (int i = 0; i < 8; i++) eight[i] = (unsigned char) (length >> 8 * i);
  spill("model.safetensors", eight, 8, w->header, w->h, w->data, w->n);
}
static void write_settings(const struct shape *s)
{
  char text[2000];
  size_t n = (size_t) snprintf(text, sizeof text,
    "{\"model_type\": \"%s\", \"vocab_size\": %u, \"tie_word_embeddings\": %s",
    family_name[s->family], s->v, s->tied ? "true" : "false");
#define SAY(...) n += (size_t) snprintf(text + n, sizeof text - n, ", " __VA_ARGS__)
  if (s->family == GPT2) {
    SAY("\"n_positions\": %u, \"n_embd\": %u, \"n_layer\": %u, \"n_head\": %u", s->positions, s->d,
      s->layers, s->heads);
    if (s->f != 4 * s->d) SAY("\"n_inner\": %u", s->f);
  } else {
    SAY("\"max_position_embeddings\": %u, \"hidden_size\": %u, \"intermediate_size\": %u",
      s->positions, s->d, s->f);
    SAY("\"num_hidden_layers\": %u, \"num_attention_heads\": %u", s->layers, s->heads);
    if (s->kv_said) SAY("\"num_key_value_heads\": %u", s->kv);
    if (s->hd_said) SAY("\"head_dim\": %u", s->hd);
  }
  if (s->attention_bias) SAY("\"attention_bias\": true");
  if (s->mlp_bias) SAY("\"mlp_bias\": true");
  if (s->family == MISTRAL && s->reach == EVERYTHING) SAY("\"sliding_window\": null");
  if (s->reach != EVERYTHING) SAY("\"sliding_window\": %u", s->window);
  if (s->reach == FROM_A_LAYER || s->reach == LISTED) SAY("\"use_sliding_window\": true");
  if (s->reach == FROM_A_LAYER) SAY("\"max_window_layers\": %u", s->from);
  if (s->reach == LISTED) {
    SAY("\"layer_types\": [");
    for (uint32_t i = 0; i < s->layers; i++)
      n += (size_t) snprintf(text + n, sizeof text - n, "%s\"%s_attention\"", i > 0 ? ", " : "",
        s->listed >> i & 1 ? "sliding" : "full");
    n += (size_t) snprintf(text + n, sizeof text - n, "]");
  }
#undef SAY
  ck_assert_uint_lt(n, sizeof text - 2);
  spill("config.json", text, n, "}", 1, "\n", 1);
}

/* ---- (a) the weights: kind by kind, and the bytes that are in the file behind its header */
static void account_weights(const struct model *lm, const struct writing *w, const char *where)
{
  struct tensor_line line[FOOTPRINT_MAX_TENSORS];
  size_t n = footprint_tensors(&lm->config, line), kinds = 0;
  ck_assert_uint_le(n, FOOTPRINT_MAX_TENSORS);
  for (int k = 0; k < KINDS; k++) kinds += w->of[k].numbers > 0;
  ck_assert_msg(kinds == n, "%s: %zu kinds of tensors, wanted %zu", where, n, kinds);
  for (size_t i = 0; i < n; i++) {
    int k = 0;
    while (k < KINDS && strcmp(kind_name[k], line[i].name) != 0) k++;
    ck_assert_msg(k < KINDS, "%s: %s", where, line[i].name);
    ck_assert_msg(
      line[i].times == w->of[k].times && line[i].each * line[i].times == w->of[k].numbers,
      "%s: %s: %" PRIu64 " times %" PRIu64 ", written were %" PRIu64 " in %" PRIu64, where,
      line[i].name, line[i].each, line[i].times, w->of[k].numbers, w->of[k].times);
  }
  ck_assert_msg(footprint_parameters(&lm->config) == w->elements,
    "%s: %" PRIu64 " parameters, written were %" PRIu64, where, footprint_parameters(&lm->config),
    w->elements);
  ck_assert_uint_eq(model_parameters(lm), w->elements);
  char path[400];
  unsigned char eight[8];
  struct stat file;
  uint64_t header = 0;
  FILE *f = fopen(in_room(path, "model.safetensors"), "rb");
  ck_assert(f != NULL && fread(eight, 1, 8, f) == 8 && stat(path, &file) == 0);
  fclose(f);
  for (int i = 0; i < 8; i++) header |= (uint64_t) eight[i] << 8 * i;
  uint64_t data = (uint64_t) file.st_size - 8 - header - w->unused;
  ck_assert_msg(footprint_weights(lm) == data,
    "%s: %" PRIu64 " bytes of weights, the file has %" PRIu64, where, footprint_weights(lm), data);
}

/* ---- (b) a whole cache, taken at once; then filled to the last row, in passes that are as long as
 * was said, without a byte more */
struct census {
  unsigned cases, of[FAMILIES], format[N_FORMATS], reach[REACHES], mixed, page[9], types[3], tied,
    untied, again, bare, biased[2], grouped, single, sinks, set, ring, ring_sinks, full, batch,
    whole_pass, ragged, far, mates, worker[4], by_rows;
};
static struct kv_format const *random_format(uint64_t *seed, uint32_t hd)
{
  return format_at(rnd(seed) % (hd % 32 == 0 ? N_FORMATS : 3));
}
/* returns the most pages that were in use behind a pass */
static size_t fill(struct engine *e, const struct model *lm, struct store *s, uint64_t *seed,
  const struct cache_plan *p, const char *where)
{
  struct error why;
  size_t left = p->context * p->batch, max = 0;
  struct row *rows = calloc(p->batch * p->pass, sizeof *rows);
  while (left > 0) {
    struct pass *pass;
    size_t n = 0;
    for (uint32_t q = 0; q < p->batch; q++) {
      size_t old = store_length(s, q), take = one_in(seed, 3) ? p->pass : between(seed, 0, p->pass);
      for (size_t i = old; i < old + take && i < p->context; i++)
        rows[n++] = (struct row){ q, (uint32_t) i, (uint32_t) (rnd(seed) % lm->config.vocab_size) };
    }
    if (n == 0) continue;
    ck_assert_msg(model_forward(e, lm, s, rows, n, &pass, &why), "%s: %s", where, why.text);
    for (size_t i = 0; i < n; i++)
      if (!pass_is_finite(lm, pass, i, &why)) ck_abort_msg("%s: %s", where, why.text);
    pass_close(pass), left -= n;
    if (cache_look(s).pages_used > max) max = cache_look(s).pages_used;
  }
  for (uint32_t q = 0; q < p->batch; q++) ck_assert_uint_eq(store_length(s, q), p->context);
  free(rows);
  return max;
}
static void account_cache(struct engine *e, const struct model *lm, uint64_t *seed,
  struct census *seen, const struct cache_plan *p, const char *where)
{
  struct memory book = { .fail_at = 0 };
  struct error why;
  struct model_config c = lm->config;
  bool by_rows = one_in(seed, 2), whole = p->pass == p->context && one_in(seed, 2);
  struct cache_options options = {
    .page_rows = p->page_rows, .pass = whole ? 0 : p->pass, .format = p->format, .preallocate = true
  };
  /* a context is what the model's settings say, or what is wished for in rows; those come in whole
   * pages for each text */
  if (by_rows)
    options.rows = (size_t) (pages_of(p->context, p->page_rows) * p->page_rows * p->batch);
  else
    c.n_positions = (uint32_t) p->context;
  struct store *s = cache_open(&book, &c, (uint32_t) p->batch, &options, &why);
  ck_assert_msg(s != NULL, "%s: %s", where, why.text);
  uint64_t held = book.of[MEMORY_CACHE].live,
           want = (uint64_t) cache_cost(&c, p, p->context, p->batch), billed;
  ck_assert_msg(held == want, "%s: the cache has taken %" PRIu64 " bytes; by the equation %" PRIu64,
    where, held, want);
  ck_assert_msg(footprint_cache(&c, p, &billed, &why), "%s: %s", where, why.text);
  ck_assert_msg(billed == want, "%s: the bill is %" PRIu64 " bytes; by the equation %" PRIu64,
    where, billed, want);
  ck_assert_uint_eq(cache_look(s).bytes, want);
  uint64_t token = 0;
  for (uint32_t i = 0; i < c.n_layers; i++)
    token += (uint64_t) (2 * c.n_kv_heads * number_bytes(p->format, c.head_dim));
  ck_assert_uint_eq(footprint_token(&c, p->format), token);
  ck_assert_uint_eq(s->row_bytes * c.n_layers, token);
  size_t max = fill(e, lm, s, seed, p, where);
  ck_assert_uint_eq(book.of[MEMORY_CACHE].live, want);
  ck_assert_uint_eq(book.of[MEMORY_CACHE].peak, want);
  bool ring = false;
  for (uint32_t i = 0; i < c.n_layers; i++)
    ring = ring
      || layer_rows(&c, i, p, p->context)
        < (wide) pages_of(p->context, p->page_rows) * p->page_rows;
  seen->ring += ring, seen->ring_sinks += ring && c.sinks > 0,
    seen->full += ring && max == cache_look(s).pages, seen->by_rows += by_rows,
    seen->whole_pass += whole;
  store_close(s);
  ck_assert_uint_eq(book.all.live, 0);
}

/* ---- (c) a pass in a book of its own: what has been read before is not in its arena, but the
 * scratch memory of each worker reaches over it */
static void account_pass(struct engine *e, const struct model *lm, uint64_t *seed,
  struct census *seen, const struct cache_plan *p, unsigned workers, const char *where)
{
  struct memory book = { .fail_at = 0 };
  struct error why;
  size_t n = between(seed, 1, p->pass),
         max_len = one_in(seed, 2) ? p->context : between(seed, n, p->context),
         before = max_len - n;
  uint32_t mates = (uint32_t) p->batch;
  struct store *s = cache_open(&book, &lm->config, mates,
    &(struct cache_options){ .page_rows = p->page_rows, .format = p->format }, &why);
  ck_assert_msg(s != NULL, "%s: %s", where, why.text);
  struct row *rows = calloc(p->context * mates, sizeof *rows);
  struct pass *pass;
  for (uint32_t i = 0; i < before; i++) rows[i] = (struct row){ 0, i, i % lm->config.vocab_size };
  if (before > 0) ck_assert(model_forward(e, lm, s, rows, before, &pass, &why)), pass_close(pass);
  ck_assert_uint_eq(book.of[MEMORY_ACTIVATIONS].live, 0);
  book.of[MEMORY_ACTIVATIONS].peak = 0;
  n = 0;
  for (uint32_t i = (uint32_t) before; i < max_len; i++)
    rows[n++] = (struct row){ 0, i, i % lm->config.vocab_size };
  for (uint32_t q = 1; q < mates; q++)
    for (uint32_t i = 0, end = (uint32_t) between(seed, 0, max_len); i < end; i++)
      rows[n++] = (struct row){ q, i, i % lm->config.vocab_size };
  seen->mates += rows[n - 1].sequence > 0, seen->far += max_len >= 256;
  ck_assert_msg(model_forward(e, lm, s, rows, n, &pass, &why), "%s: %s", where, why.text);
  uint64_t found = book.of[MEMORY_ACTIVATIONS].peak,
           want = desk_cost(&lm->config, lm->layers[0].n_qkv == 1, n, max_len, workers);
  ck_assert_msg(found == want,
    "%s: a pass of %zu rows to %zu with %u workers has taken %" PRIu64
    " bytes; by the equation %" PRIu64,
    where, n, max_len, workers, found, want);
  uint64_t billed = footprint_pass(&lm->config, n, max_len, workers);
  ck_assert_msg(billed == want,
    "%s: the bill for a pass of %zu rows to %zu with %u workers is %" PRIu64
    "; by the equation %" PRIu64,
    where, n, max_len, workers, billed, want);
  pass_close(pass);
  ck_assert_uint_eq(book.of[MEMORY_ACTIVATIONS].live, 0);
  store_close(s), free(rows);
  ck_assert_uint_eq(book.all.live, 0);
}

/* ---- 1. all of it, for models of random shapes */
enum { SHAPES = 240 };
static void one_shape(
  uint64_t *seed, struct census *seen, struct writing *w, struct pool *pool[4], const char *where)
{
  struct shape s;
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct counters counters = { 0 };
  random_shape(&s, seed);
  *w = (struct writing){ .seed = seed, .header = w->header, .data = w->data };
  write_weights(w, &s), write_settings(&s);
  struct model *lm = model_open(&m, room, &why);
  ck_assert_msg(lm != NULL, "%s: %s", where, why.text);
  struct model_config *c = &lm->config;
  ck_assert(c->n_kv_heads == s.kv && c->head_dim == s.hd && c->d_inner == s.f && c->d_model == s.d
    && c->n_layers == s.layers);
  for (uint32_t i = 0; i < s.layers;
       i++) { /* the settings as the loader understood them are what was written */
    bool near = s.reach == ALL_LAYERS || (s.reach == FROM_A_LAYER && i >= s.from)
      || (s.reach == LISTED && (s.listed >> i & 1));
    ck_assert_uint_eq(config_window(c, i), near ? s.window : 0);
    ck_assert_int_eq(near_sighted(c, i), near);
    seen->mixed += i > 0 && near_sighted(c, i) != near_sighted(c, 0);
  }
  account_weights(lm, w, where);
  struct cache_plan p = { .format = random_format(seed, s.hd),
    .context = between(seed, one_in(seed, 2) ? s.positions / 2 + 1 : 1, s.positions),
    .batch = between(seed, 1, 4),
    .page_rows = (uint64_t) 1 << between(seed, 0, one_in(seed, 2) ? 8 : 2) };
  p.pass =
    one_in(seed, 4) ? p.context : between(seed, 1, one_in(seed, 2) ? p.context : p.context / 8 + 1);
  bool set = one_in(seed, 2);
  if (set)
    ck_assert_msg(
      config_set_window(c, (uint32_t) between(seed, 1, p.context / (one_in(seed, 2) ? 8 : 1) + 1),
        s.family == GPT2 ? 0 : (uint32_t) between(seed, 0, p.context / 4 + 1), &why),
      "%s: %s", where, why.text);
  unsigned workers = (unsigned) between(seed, 1, 3);
  struct engine e = { .k = kernels_find(NULL, NULL), .pool = pool[workers], .c = &counters };
  account_cache(&e, lm, seed, seen, &p, where);
  account_pass(&e, lm, seed, seen, &p, workers, where);
  seen->cases++, seen->of[s.family]++, seen->reach[s.reach]++, seen->tied += s.tied,
    seen->untied += !s.tied, seen->again += s.again, seen->bare += s.bare;
  seen->biased[0] += s.attention_bias, seen->biased[1] += s.mlp_bias,
    seen->grouped += s.kv < s.heads, seen->single += s.kv == 1 && s.heads > 1;
  seen->set += set, seen->sinks += c->sinks > 0, seen->batch += p.batch > 1,
    seen->ragged += p.context % p.page_rows > 0, seen->worker[workers]++;
  for (int k = 0; k < N_FORMATS; k++) seen->format[k] += p.format == format_at((size_t) k);
  for (int k = 0; k < 9; k++) seen->page[k] += p.page_rows == (uint64_t) 1 << k;
  for (int k = 0; k < 3; k++) seen->types[k] += w->types[k];
  model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
}
START_TEST(the_formula_is_the_allocator)
{
  uint64_t seed = suite_seed();
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct census seen = { 0 };
  struct writing w = { .header = malloc(HEADER_ROOM), .data = malloc(DATA_ROOM) };
  struct pool *pool[4] = { NULL, NULL, pool_open(&m, 2, &why), pool_open(&m, 3, &why) };
  ck_assert(w.header != NULL && w.data != NULL && pool[2] != NULL && pool[3] != NULL);
  for (int i = 0; i < SHAPES; i++) {
    char where[60];
    snprintf(where, sizeof where, "seed %" PRIu64 ", shape %d", suite_seed(), i);
    one_shape(&seed, &seen, &w, pool, where);
  }
  for (unsigned k = 2; k < 4; k++) pool_close(&m, pool[k]);
  free(w.header), free(w.data);
  ck_assert_uint_eq(m.all.live, 0);
  ck_assert_uint_eq(seen.cases, SHAPES);
  for (int k = 0; k < FAMILIES; k++) ck_assert_uint_ge(seen.of[k], 20);
  for (int k = 0; k < N_FORMATS; k++) ck_assert_uint_ge(seen.format[k], 10);
  for (int k = 0; k < REACHES; k++) ck_assert_uint_ge(seen.reach[k], 5);
  for (int k = 0; k < 9; k++) ck_assert_uint_ge(seen.page[k], 5);
  for (int k = 0; k < 3; k++) ck_assert_uint_ge(seen.types[k], 500);
  for (int k = 1; k < 4; k++) ck_assert_uint_ge(seen.worker[k], 20);
  const struct {
    const char *what;
    unsigned n;
  } kind[] = { { "layers that differ", seen.mixed }, { "tied", seen.tied },
    { "not tied", seen.untied }, { "tied and stored twice", seen.again },
    { "without prefix", seen.bare }, { "biases of attention", seen.biased[0] },
    { "biases of the MLP", seen.biased[1] }, { "grouped", seen.grouped },
    { "one head of keys", seen.single }, { "sinks", seen.sinks }, { "a window set", seen.set },
    { "rings", seen.ring }, { "rings behind sinks", seen.ring_sinks },
    { "rings that were full", seen.full }, { "batches", seen.batch },
    { "passes of a context", seen.whole_pass }, { "contexts that end inside a page", seen.ragged },
    { "texts of more than a block", seen.far }, { "passes with mates", seen.mates },
    { "contexts wished for in rows", seen.by_rows } };
  for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
    ck_assert_msg(kind[k].n >= 5, "only %u shapes: %s", kind[k].n, kind[k].what);
}
END_TEST

/* each setting is changed alone, in a model that has everything that can be counted: the number of
   weights changes if and only if the row of the setting says so */
START_TEST(a_setting_says_whether_weights_depend_on_it)
{
  const struct model_config base = { .family = "llama", .vocab_size = 24, .n_positions = 16,
    .d_model = 16, .d_inner = 24, .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 4,
    .learned_positions = true, .layer_norm = true, .qk_norm = true,
    .n_experts = 4, .n_chosen = 2, .d_expert = 5, .d_shared = 3, .dense = { 1 }, .some_dense = true };
  for (int i = 0; i < N_MODEL_SETTINGS; i++) {
    const struct setting *s = &config_setting[i];
    struct model_config c = base;
    double x = setting_value(s, &c);
    setting_put(s, &c, s->kind == SETTING_FLAG ? 1 - x : x + 1);
    ck_assert(setting_value(s, &c) != x);
    ck_assert_msg((footprint_parameters(&c) != footprint_parameters(&base)) == s->sized,
      "%s: its row says that the number of weights %s on it", s->name,
      s->sized ? "depends" : "does not depend");
  }
}
END_TEST

/* the families of the workshop: their weights and the memory of a pass, to the byte, in models that were opened from files */
START_TEST(families_are_counted_to_the_byte)
{
  static const char *const name[] = { "smollm3", "granite", "ministral", "ministral3", "seed_oss", "ernie4_5", "olmo2", "gemma", "gemma2", "gemma3",
    "exaone4", "pythia", "falcon", "falcon-old", "phi", "stablelm", "cohere", "cohere2", "phi3",
    "mixtral", "qwen3_moe", "olmoe", "qwen2_moe", "gpt_oss", "gpt_oss-mxfp4" };
  char path[100];
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  struct counters counters = { 0 };
  struct engine e = { .k = &kernels_plain, .c = &counters };
  snprintf(path, sizeof path, "tests/golden/families/%s", name[_i]);
  struct model *lm = model_open(&m, path, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  const struct model_config *c = &lm->config;
  ck_assert_uint_eq(footprint_parameters(c), model_parameters(lm));
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensor_file_count(lm->weights); i++) {
    const struct tensor_entry *t = tensor_file_at(lm->weights, i);
    bool used = true;
    for (size_t k = 0; k < c->n_ignored; k++) used = used && strcmp(c->ignored[k].field, t->name) != 0;
    if (used) bytes += t->bytes;
  }
  ck_assert_uint_eq(footprint_weights(lm), bytes);
  struct store *s = cache_open(&m, c, 1, &(struct cache_options){ .rows = 0 }, &why);
  ck_assert(s != NULL);
  struct row rows[9];
  for (uint32_t i = 0; i < 9; i++) rows[i] = (struct row){ 0, i, i };
  for (size_t n = 1; n <= 9; n += 4) {
    struct pass *p;
    store_clear(s);
    m.of[MEMORY_ACTIVATIONS].peak = 0;
    ck_assert_msg(model_forward(&e, lm, s, rows, n, &p, &why), "%s", why.text);
    ck_assert_uint_eq(m.of[MEMORY_ACTIVATIONS].peak, footprint_pass(c, n, n, 1));
    pass_close(p);
  }
  store_close(s), model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* experts: a row multiplies with those that it has chosen, and a pass reads those that some row has */
struct touched { uint32_t layers; uint64_t experts, rows; };
static void see_touched(void *ctx, enum tap_point point, uint32_t layer, float *x, size_t rows, size_t width)
{
  struct touched *t = ctx;
  (void) layer;
  if (point != TAP_EXPERTS) return;
  t->layers++;
  for (size_t e = 0; e < width; e++) {
    unsigned n = 0;
    for (size_t r = 0; r < rows; r++) n += x[r * width + e] != 0;
    t->experts += n > 0, t->rows += n;
  }
}
START_TEST(experts_are_counted_as_they_are_used)
{
  static const struct { const char *name; uint64_t experts, chosen, f, shared; bool bias; } model[] = {
    { "mixtral", 4, 2, 6, 0, false }, { "qwen3_moe", 5, 3, 4, 0, false }, { "olmoe", 6, 2, 5, 0, false },
    { "qwen2_moe", 4, 2, 4, 25, false }, { "gpt_oss", 4, 2, 8, 0, true } };
  char path[100];
  struct memory m = { .fail_at = 0 };
  struct error why = { "" };
  snprintf(path, sizeof path, "tests/golden/families/%s", model[_i].name);
  struct model *lm = model_open(&m, path, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  const struct model_config *c = &lm->config;
  uint64_t d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim, kv = (uint64_t) c->n_kv_heads * c->head_dim;
  uint64_t sparse = config_sparse_layers(c), mlp = 3 * d * model[_i].f, shared = model[_i].shared;
  uint64_t one = mlp + (model[_i].bias ? 2 * model[_i].f + d : 0);
  uint64_t madds = c->n_layers * (d * (q + 2 * kv) + q * d) + (c->n_layers - sparse) * 3 * d * c->d_inner
    + sparse * (d * model[_i].experts + model[_i].chosen * mlp + 3 * d * shared + (shared > 0 ? d : 0));
  ck_assert(sparse > 0 && c->n_experts == model[_i].experts && c->n_chosen == model[_i].chosen);
  ck_assert_uint_eq(lm->layer_madds, madds);
  ck_assert_uint_eq(lm->expert_bytes, 4 * sparse * model[_i].experts * one);
  ck_assert_uint_eq(footprint_active(c), footprint_parameters(c) - sparse * (model[_i].experts - model[_i].chosen) * one);
  struct store *s = cache_open(&m, c, 1, &(struct cache_options){ .rows = 0 }, &why);
  for (uint32_t n = 1; n <= 13; n += 4) {
    struct counters counters = { 0 };
    struct engine e = { .k = &kernels_plain, .c = &counters };
    struct touched t = { 0 };
    struct row rows[13];
    struct pass *p;
    for (uint32_t i = 0; i < n; i++) rows[i] = (struct row){ 0, i, (7 * i + 3) % 18 };
    store_clear(s);
    ck_assert(model_forward_watched(&e, lm, s, rows, n, &(struct watcher){ see_touched, &t, false }, &p, &why));
    pass_close(p);
    ck_assert_uint_eq(t.layers, sparse);
    ck_assert_uint_eq(t.rows, n * sparse * model[_i].chosen);
    ck_assert(n > 1 ? t.experts > sparse * model[_i].chosen : t.experts == sparse * model[_i].chosen);
    ck_assert_uint_eq(counters.madds_linear, n * madds);
    ck_assert_uint_eq(counters.weight_bytes_read, 4 * n * d + lm->layer_bytes + 4 * t.experts * one);
  }
  store_close(s), model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- 2. what fits */
static struct model_config idea(uint64_t *seed, const struct kv_format *f)
{
  struct model_config c = { .n_layers = (uint32_t) between(seed, 1, one_in(seed, 2) ? 6 : 100),
    .n_kv_heads = (uint32_t) between(seed, 1, 64) };
  c.head_dim =
    (uint32_t) (number_bytes(f, 1) == 0 ? 32 * between(seed, 1, 8) : between(seed, 1, 256));
  if (one_in(seed, 3)) return c;
  c.window = (uint32_t) between(seed, 1, one_in(seed, 2) ? 20 : 5000),
  c.sinks = one_in(seed, 2) ? 0 : (uint32_t) between(seed, 1, 40);
  if (one_in(seed, 3)) c.window_from = (uint32_t) between(seed, 0, c.n_layers);
  c.window_listed = one_in(seed, 3);
  for (uint32_t i = 0; i < CONFIG_MAX_LISTED / 8; i++) c.windowed[i] = (uint8_t) rnd(seed);
  return c;
}
static uint64_t spread(uint64_t *seed, unsigned bits)
{
  return rnd(seed) >> (64 - between(seed, 1, bits));
} /* of every size */
START_TEST(what_fits_fits_and_one_more_does_not)
{
  uint64_t seed = suite_seed();
  unsigned endless = 0, none = 0, short_of = 0, exact = 0, contexts = 0, batches = 0, refused = 0,
           granted = 0;
  for (int i = 0; i < 6000; i++) {
    struct error why = { "" };
    const struct kv_format *f = format_at(rnd(&seed) % N_FORMATS);
    struct model_config c = idea(&seed, f);
    struct cache_plan p = { f, 0, between(&seed, 1, 64), between(&seed, 0, 300),
      one_in(&seed, 2) ? between(&seed, 0, 5) : between(&seed, 0, 3000) };
    uint64_t weights = 1 + spread(&seed, 40), wanted = spread(&seed, 24),
             budget = weights + spread(&seed, 45), got, bytes;
    bool to_the_byte = one_in(&seed, 2), all_near = true;
    for (uint32_t k = 0; k < c.n_layers; k++) all_near = all_near && near_sighted(&c, k);
    if (to_the_byte)
      budget =
        weights + (uint64_t) cache_cost(&c, &p, wanted, p.batch) - (one_in(&seed, 3) ? 1 : 0);
    if (one_in(&seed, 40)) budget = INT64_MAX;
    if (one_in(&seed, 40)) budget = weights - 1;
    wide left = budget - weights;
    got = footprint_max_context(&c, &p, weights, budget);
    if (budget < weights)
      none += got == 0;
    else if (got == UINT64_MAX)
      ck_assert_msg(all_near && cache_cost(&c, &p, (uint64_t) 1 << 60, p.batch) <= left,
        "seed %" PRIu64 ", %d", suite_seed(), i),
        endless++;
    else {
      ck_assert_msg(cache_cost(&c, &p, got, p.batch) <= left,
        "seed %" PRIu64 ", %d: %" PRIu64 " tokens do not fit", suite_seed(), i, got);
      ck_assert_msg(cache_cost(&c, &p, got + 1, p.batch) > left,
        "seed %" PRIu64 ", %d: %" PRIu64 " tokens fit", suite_seed(), i, got + 1);
      contexts += got > 0, exact += cache_cost(&c, &p, got, p.batch) == left;
    }
    p.context = wanted;
    got = footprint_max_batch(&c, &p, weights, budget);
    if (budget < weights)
      none += got == 0, short_of += 2;
    else if (wanted == 0)
      ck_assert_uint_eq(got, UINT64_MAX);
    else {
      ck_assert_msg(cache_cost(&c, &p, wanted, 1) * got <= left
          && cache_cost(&c, &p, wanted, 1) * ((wide) got + 1) > left,
        "seed %" PRIu64 ", %d: a batch of %" PRIu64, suite_seed(), i, got);
      batches += got > 0;
    }
    uint32_t layer = (uint32_t) (rnd(&seed) % c.n_layers);
    ck_assert_uint_eq(footprint_rows(&c, layer, &p), (uint64_t) layer_rows(&c, layer, &p, wanted));
    p.context = spread(&seed, 63), p.batch = spread(&seed, 64); /* as large as anybody likes */
    wide cost = cache_cost(&c, &p, p.context, p.batch >> 32) >> 32 > 0
      ? (wide) 1 << 100
      : cache_cost(&c, &p, p.context, 1) * p.batch;
    if (cache_cost(&c, &p, p.context, 1) >> 64 > 0 && p.batch > 0) cost = (wide) 1 << 100;
    bool fits = footprint_cache(&c, &p, &bytes, &why);
    ck_assert_msg(fits == (cost <= INT64_MAX),
      "seed %" PRIu64 ", %d: %" PRIu64 " tokens of %" PRIu64 " texts are %s", suite_seed(), i,
      p.context, p.batch, fits ? "granted" : "refused");
    granted += fits, refused += !fits;
    if (fits)
      ck_assert_uint_eq(bytes, (uint64_t) cost);
    else
      ck_assert_msg(strstr(why.text, "more bytes than 63 bits can count") != NULL
          && strstr(why.text, "wanted: a smaller context or batch") != NULL,
        "%s", why.text);
  }
  ck_assert_uint_eq(none, short_of);
  ck_assert(endless > 50 && none > 100 && exact > 500 && contexts > 1000 && batches > 1000
    && refused > 500 && granted > 500);
}
END_TEST
START_TEST(what_fits_by_hand)
{
  struct error why;
  uint64_t bytes;
  struct cache_plan p = { format_at(1), 0, 1, 0, 0 };
  struct model_config c = {
    .n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 3, .window_from = 1
  };
  ck_assert_uint_eq(footprint_token(&c, p.format), 48);
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 1000), 12);
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 976), 12);
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 975), 11);
  ck_assert(footprint_max_context(&c, &p, 1000, 1000) == 0
    && footprint_max_context(&c, &p, 1001, 1000) == 0);
  c.window = 5;
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 1000), 20);
  c.window_from = 0;
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 640), UINT64_MAX);
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 639), 4);
  c.window = 0, c.n_kv_heads = 4;
  ck_assert_uint_eq(footprint_max_context(&c, &p, 400, 1000), 6);
  p.context = 2;
  ck_assert(footprint_max_batch(&c, &p, 400, 1000) == 3
    && footprint_max_batch(&c, &p, 400, 399) == 0 && footprint_max_batch(&c, &p, 400, 400) == 0);
  ck_assert(
    footprint_max_batch(&c, &p, 400, 592) == 1 && footprint_max_batch(&c, &p, 400, 591) == 0);
  p.context = 0;
  ck_assert_uint_eq(footprint_max_batch(&c, &p, 400, 1000), UINT64_MAX);
  /* the last that 63 bits count, and the first that they do not: in tokens, in texts, in layers */
  c = (struct model_config){ .n_layers = 1, .n_kv_heads = 1, .head_dim = 1 },
  p = (struct cache_plan){ format_at(1), ((uint64_t) 1 << 61) - 1, 1, 1, 1 };
  ck_assert(footprint_cache(&c, &p, &bytes, &why) && bytes == INT64_MAX - 3);
  p.context++;
  ck_assert(!footprint_cache(&c, &p, &bytes, &why)
    && strstr(why.text, "more bytes than 63 bits can count") != NULL);
  ck_assert_uint_eq(footprint_max_context(&c, &p, 0, INT64_MAX), p.context - 1);
  p.context = (uint64_t) 1 << 59, p.batch = 3;
  ck_assert(footprint_cache(&c, &p, &bytes, &why) && bytes == (uint64_t) 3 << 61);
  p.batch = 4;
  ck_assert(!footprint_cache(&c, &p, &bytes, &why));
  p.batch = 1, c.n_layers = 3;
  ck_assert(footprint_cache(&c, &p, &bytes, &why) && bytes == (uint64_t) 3 << 61);
  c.n_layers = 4;
  ck_assert(!footprint_cache(&c, &p, &bytes, &why));
  p = (struct cache_plan){ format_at(1), UINT64_MAX, 1, 1, 1 };
  ck_assert(!footprint_cache(&c, &p, &bytes, &why));
  ck_assert_uint_eq(footprint_max_batch(&c, &p, 0, UINT64_MAX), 0);
  /* a row alone may be more than can be counted; a longest pass is no longer than the text; blocks
   * must fit; budgets end where sums end */
  c = (struct model_config){ .n_layers = 1, .n_kv_heads = 1518500250, .head_dim = 1518500250 },
  p = (struct cache_plan){ format_at(0), 1, 1, 1, 1 };
  ck_assert(!footprint_cache(&c, &p, &bytes, &why) && strstr(why.text, "63 bits") != NULL);
  c = (struct model_config){ .n_layers = 1, .n_kv_heads = 1, .head_dim = 2, .window = 10 },
  p = (struct cache_plan){ format_at(0), 1000, 1, 1, UINT64_MAX };
  ck_assert_uint_eq(footprint_rows(&c, 0, &p), 1000);
  c.head_dim = 33, p.format = format_find("q4_0", &why);
  ck_assert(!footprint_cache(&c, &p, &bytes, &why) && strstr(why.text, "q4_0") != NULL
    && strstr(why.text, "33") != NULL && strstr(why.text, "32") != NULL);
  c = (struct model_config){ .n_layers = 1, .n_kv_heads = 1, .head_dim = 1 },
  p = (struct cache_plan){ format_at(1), 1, 1, 1, 1 };
  ck_assert_uint_eq(footprint_max_batch(&c, &p, 0, UINT64_MAX), INT64_MAX / 4);
}
END_TEST

/* the tables of vocabularies: every one of byte level that travels with the project, and some that
 * are learnt here */
static void vocabulary_is(const char *path)
{
  struct memory book = { .fail_at = 0 };
  struct error why;
  struct tokenizer *t = tokenizer_open(&book, path, &why);
  ck_assert_msg(t != NULL, "%s", why.text);
  uint64_t pairs = 64, names = 64, ids = 0, rules = 0;
  while (ids < t->n_vocab) ids = 2 * ids + 256;
  while (rules < t->rules.n) rules = 2 * rules + 256;
  while (names < 2 * t->n_vocab) names *= 2;
  while (pairs < 2 * t->rules.n) pairs *= 2;
  uint64_t sum = 20 * ids + 24 * names + 16 * rules + 12 * pairs; /* the book's equation */
  ck_assert_uint_eq(tokenizer_bytes(t->n_vocab, t->rules.n), sum);
  ck_assert_uint_eq(t->vocab_cap * sizeof *t->vocab + t->by_piece.cap * sizeof *t->by_piece.slot
      + t->rules.cap * sizeof *t->rules.rule + t->rules.place.cap * sizeof *t->rules.place.slot,
    sum);
  ck_assert_uint_gt(book.of[MEMORY_TOKENS].live, sum + t->string_pool.cap);
  tokenizer_close(&book, t);
  ck_assert_uint_eq(book.all.live, 0);
}
START_TEST(a_vocabulary_is_its_tables)
{
  vocabulary_is("models/pocket");
  vocabulary_is("models/draft");
  ck_assert_uint_eq(tokenizer_bytes(0, 0), 0);
  ck_assert_uint_eq(tokenizer_bytes(257, 1), 20 * 768 + 24 * 1024 + 16 * 256 + 12 * 64);
  ck_assert_uint_eq(tokenizer_bytes(50257, 50000), 7068672); /* GPT-2's */
  char path[300];
  const char *shared = getenv("SHARED");
  snprintf(path, sizeof path, "%s/data/gpt2", shared != NULL ? shared : "../shared");
  if (access(path, R_OK) == 0) vocabulary_is(path);
}
END_TEST

/* ---- 3. shapes with a name */
static const struct {
  const char *name;
  uint64_t parameters;
} published[] = { { "gpt2", 124439808 }, { "gpt2-medium", 354823168 }, { "gpt2-large", 774030080 },
  { "gpt2-xl", 1557611200 }, { "gpt3", UINT64_C(174604259328) },
  { "llama-7b", UINT64_C(6738415616) }, { "llama-13b", UINT64_C(13015864320) },
  { "llama2-70b", UINT64_C(68976648192) }, { "llama3-8b", UINT64_C(8030261248) },
  { "llama3-70b", UINT64_C(70553706496) }, { "mistral-7b", UINT64_C(7241732096) },
  { "qwen2-7b", UINT64_C(7615616512) }, { "mixtral-8x7b", UINT64_C(46702792704) },
  { "olmoe-1b-7b", UINT64_C(6919161856) }, { "qwen3-30b-a3b", UINT64_C(30532122624) },
  { "gpt-oss-20b", UINT64_C(20914757184) }, { "gpt-oss-120b", UINT64_C(116829156672) },
  { "qwen3-0.6b", 596049920 }, { "qwen3-8b", UINT64_C(8190735360) }, { "gemma-2b", 2506172416 },
  { "gemma2-2b", 2614341888 }, { "gemma2-9b", UINT64_C(9241705984) }, { "gemma3-270m", 268098176 },
  { "gemma3-1b", 999885952 }, { "phi-2", 2779683840 }, { "phi3-mini", 3821079552 },
  { "phi4-mini", 3836021760 }, { "smollm3-3b", 3075098624 }, { "granite-3.1-2b", 2533531648 },
  { "ministral-8b", UINT64_C(8019808256) }, { "ministral3-3b", 3429006336 },
  { "seed-oss-36b", UINT64_C(36151104512) }, { "ernie4.5-0.3b", 360748032 },
  { "olmo2-7b", UINT64_C(7298617344) }, { "exaone4-32b", UINT64_C(32003216384) },
  { "pythia-1.4b", 1414647808 }, { "neox-20b", UINT64_C(20554567680) },
  { "falcon-7b", UINT64_C(6921720704) }, { "falcon-40b", UINT64_C(41303293952) },
  { "stablelm-3b", 2795443200 }, { "command-r-35b", UINT64_C(34980831232) },
  { "command-r7b", UINT64_C(8028033024) }, { "qwen1.5-moe-a2.7b", UINT64_C(14315784192) } };
/* what a token uses, as the makers say it, in billions */
static const struct { const char *name; double of; } said_active[] = { { "mixtral-8x7b", 12.9 },
  { "olmoe-1b-7b", 1.3 }, { "qwen3-30b-a3b", 3.3 }, { "qwen1.5-moe-a2.7b", 2.7 }, { "qwen3-8b", 8.2 } };
enum { PUBLISHED = sizeof published / sizeof *published };
static uint64_t named_cache(const char *name, uint64_t context, uint32_t kv)
{
  struct model_config c;
  struct error why;
  uint64_t bytes;
  ck_assert_msg(named_shape_find(name, &c, &why), "%s", why.text);
  if (kv > 0) c.n_kv_heads = kv;
  ck_assert_msg(footprint_cache(&c,
                  &(struct cache_plan){ format_find("f16", &why), context, 1, 0, 0 }, &bytes, &why),
    "%s", why.text);
  return bytes;
}
START_TEST(named_shapes_are_the_published_ones)
{
  struct model_config c;
  struct error why = { "" };
  for (size_t i = 0; i < PUBLISHED; i++) {
    ck_assert_str_eq(named_shape_at(i)->name, published[i].name);
    ck_assert_msg(named_shape_find(published[i].name, &c, &why), "%s", why.text);
    ck_assert_msg(footprint_parameters(&c) == published[i].parameters, "%s: %" PRIu64,
      published[i].name, footprint_parameters(&c));
    ck_assert(c.n_heads % c.n_kv_heads == 0 && strcmp(c.family, named_shape_at(i)->family) == 0
      && strlen(named_shape_at(i)->source) > 10);
    ck_assert(c.n_positions == named_shape_at(i)->n_positions && c.n_positions >= 1024);
  }
  ck_assert(named_shape_at(PUBLISHED) == NULL && named_shape_at(SIZE_MAX) == NULL);
  for (size_t i = 0; i < sizeof said_active / sizeof *said_active; i++) {
    ck_assert(named_shape_find(said_active[i].name, &c, &why));
    ck_assert_msg(fabs((double) footprint_active(&c) / 1e9 - said_active[i].of) < 0.06, "%s: %" PRIu64,
      said_active[i].name, footprint_active(&c));
  }
  /* layers with a window and without one; what a part of a head costs */
  ck_assert_uint_eq(named_cache("gemma3-1b", 1000, 0), (22 * 512 + 4 * 1000) * 1024);
  ck_assert_uint_eq(named_cache("gemma2-2b", 8192, 0), UINT64_C(13) * (4096 + 8192) * 4096);
  ck_assert_uint_eq(named_cache("exaone4-32b", 8192, 0), UINT64_C(16) * (3 * 4096 + 8192) * 4096);
  ck_assert(named_shape_find("pythia-1.4b", &c, &why) && c.rotary == 32 && c.head_dim == 128);
  ck_assert(named_shape_find("phi4-mini", &c, &why) && c.rotary == 96);
  /* every family has one */
  for (size_t f = 0; config_family(f) != NULL; f++) {
    bool has = false;
    for (size_t i = 0; i < PUBLISHED; i++) has = has || strcmp(named_shape_at(i)->family, config_family(f)->family) == 0;
    ck_assert_msg(has, "no shape of a %s", config_family(f)->family);
  }
  ck_assert(named_shape_find("gpt2", &c, &why) && footprint_token(&c, format_at(1)) == 36864);
  ck_assert(named_shape_find("gpt3", &c, &why) && footprint_token(&c, format_at(1)) == 4718592);
  ck_assert_uint_eq(named_cache("gpt2", 1, 0), 36864);
  ck_assert_uint_eq(named_cache("gpt2", 1024, 0), 37748736);
  ck_assert_uint_eq(named_cache("gpt2", 8192, 0), 301989888);
  ck_assert_uint_eq(named_cache("gpt3", 1, 0), 4718592);
  ck_assert_uint_eq(named_cache("llama-7b", 128000, 0), UINT64_C(67108864000));
  ck_assert_uint_eq(named_cache("llama-7b", 131072, 0), UINT64_C(68719476736));
  ck_assert_uint_eq(named_cache("llama-7b", 131072, 8), UINT64_C(17179869184));
  ck_assert_uint_eq(named_cache("llama2-70b", 4096, 0), 1342177280);
  ck_assert_uint_eq(named_cache("llama2-70b", 4096, 64), UINT64_C(10737418240));
  static const uint64_t context[] = { 1, 4095, 4096, 4097, 8192, 32768 };
  for (int k = 0; k < 6; k++)
    ck_assert_uint_eq(
      named_cache("mistral-7b", context[k], 0), (context[k] < 4096 ? context[k] : 4096) * 131072);
  ck_assert(named_shape_find("llama-7b", &c, &why)); /* an accelerator of 80 GB */
  struct cache_plan p = { format_at(1), 4096, 1, 0, 0 };
  ck_assert_uint_eq(
    footprint_max_batch(&c, &p, 2 * footprint_parameters(&c), UINT64_C(80000000000)), 30);
  ck_assert_uint_eq(
    footprint_max_context(&c, &p, 2 * footprint_parameters(&c), UINT64_C(80000000000)), 126882);
  const char *unknown[] = { "gpt4", "", "gpt", "gpt2 ", "GPT2" };
  for (int k = 0; k < 5; k++) {
    ck_assert(!named_shape_find(unknown[k], &c, &why));
    char quoted[40];
    snprintf(quoted, sizeof quoted, "`%s'", unknown[k]);
    const char *list = strstr(why.text, "wanted: one of ");
    ck_assert_msg(list != NULL && strstr(why.text, quoted) != NULL, "%s", why.text);
    list += strlen("wanted: one of ");
    size_t i = 0, left = 0;
    for (; strncmp(list, "or of ", 6) != 0; i++) { /* as many as there is room for, in order, each whole */
      size_t n = strlen(published[i].name);
      ck_assert_msg(i < PUBLISHED && strncmp(list, published[i].name, n) == 0 && strncmp(list + n, ", ", 2) == 0, "%s", why.text);
      list += n + 2;
    }
    ck_assert_msg(i >= 15 && sscanf(list, "or of %zu more, which --shape list shows", &left) == 1 && i + left == PUBLISHED
      && strstr(list, "list shows") != NULL, "%s", why.text);
  }
}
END_TEST

/* ---- a small model of any number of heads, in memory */
struct form {
  uint32_t layers, heads, kv, hd, d, ff, v, context;
  bool bias, head_norms;
};
static struct norm form_norm(struct tiny *t, size_t d, uint64_t *seed)
{
  return (
    struct norm){ .kind = NORM_RMS, .gain = tiny_tensor(t, d, .2f, 1, seed), .epsilon = 1e-5f };
}
static struct matrix form_matrix(struct tiny *t, size_t in, size_t out, bool bias, uint64_t *seed)
{
  struct matrix w = tiny_matrix(t, in, out, seed);
  if (bias) w.bias = tiny_tensor(t, out, .3f, 0, seed);
  return w;
}
static void form_make(struct tiny *t, struct form f, uint64_t seed)
{
  memset(t, 0, sizeof *t);
  t->cap = 400000, t->numbers = malloc(t->cap * sizeof *t->numbers);
  ck_assert(t->numbers != NULL && f.layers <= TINY_LAYERS);
  size_t q = f.heads * f.hd, k = f.kv * f.hd;
  for (uint32_t i = 0; i < f.layers; i++) {
    struct model_layer *l = &t->layer[i];
    l->attn_norm = form_norm(t, f.d, &seed), l->mlp_norm = form_norm(t, f.d, &seed);
    l->qkv[0] = form_matrix(t, f.d, q, f.bias, &seed),
    l->qkv[1] = form_matrix(t, f.d, k, f.bias, &seed),
    l->qkv[2] = form_matrix(t, f.d, k, f.bias, &seed);
    if (f.head_norms) l->q_norm = form_norm(t, f.hd, &seed), l->k_norm = form_norm(t, f.hd, &seed);
    l->out = form_matrix(t, q, f.d, f.bias, &seed);
    l->up[0] = form_matrix(t, f.d, f.ff, false, &seed),
    l->up[1] = form_matrix(t, f.d, f.ff, false, &seed),
    l->down = form_matrix(t, f.ff, f.d, false, &seed);
    l->n_qkv = 3, l->n_up = 2;
  }
  t->lm.config = (struct model_config){ .family = "llama",
    .vocab_size = f.v,
    .n_positions = f.context,
    .d_model = f.d,
    .d_inner = f.ff,
    .n_layers = f.layers,
    .n_heads = f.heads,
    .n_kv_heads = f.kv,
    .head_dim = f.hd,
    .norm_eps = 1e-5,
    .gated = true,
    .qkv_bias = f.bias,
    .out_bias = f.bias,
    .qk_norm = f.head_norms,
    .scaled = true };
  t->lm.embedding = tiny_tensor(t, f.v * f.d, 1, 0, &seed);
  t->lm.layers = t->layer, t->lm.final_norm = form_norm(t, f.d, &seed),
  t->lm.head = form_matrix(t, f.d, f.v, false, &seed);
  t->lm.attention = (struct attention_dims){ f.heads, f.kv, f.hd, 1 / sqrtf((float) f.hd) };
  float *frequency = (float *) (uintptr_t) tiny_tensor(t, f.hd / 2, 0, 0, &seed).data;
  for (uint32_t i = 0; i < f.hd / 2; i++)
    frequency[i] = powf(10000, -2.0f * (float) i / (float) f.hd);
  t->lm.frequency = frequency;
}
/* heads of keys or values of `from', each as often as it has queries, one after the other; or in
 * turns, which is wrong */
static struct tensor repeat_heads(
  struct tiny *t, struct tensor from, const struct form *f, size_t in, bool in_turns)
{
  uint64_t seed = 0;
  if (from.data == NULL) return from;
  struct tensor to = tiny_tensor(t, f->heads * f->hd * in, 0, 0, &seed);
  for (uint32_t h = 0; h < f->heads; h++)
    memcpy((float *) (uintptr_t) to.data + h * f->hd * in,
      (const float *) from.data + (in_turns ? h % f->kv : h / (f->heads / f->kv)) * f->hd * in,
      f->hd * in * sizeof(float));
  return to;
}
static void form_expand(struct tiny *t, const struct form *f, bool in_turns)
{
  for (uint32_t i = 0; i < f->layers; i++)
    for (int k = 1; k < 3; k++) {
      struct matrix *w = &t->layer[i].qkv[k];
      w->weight = repeat_heads(t, w->weight, f, f->d, in_turns),
      w->bias = repeat_heads(t, w->bias, f, 1, in_turns), w->out = f->heads * f->hd;
    }
  t->lm.config.n_kv_heads = t->lm.attention.n_kv_heads = f->heads;
}

/* ---- 4. a shared head is two equal ones */
enum { GROUPS = 60, TEXT = 50 };
START_TEST(groups_are_shared_heads)
{
  uint64_t seed = suite_seed();
  unsigned single = 0, wrong = 0, blocks = 0, rows_compared = 0;
  for (int round = 0; round < GROUPS; round++) {
    struct form f = { .layers = (uint32_t) between(&seed, 1, 3),
      .kv = (uint32_t) between(&seed, 1, 4),
      .d = (uint32_t) between(&seed, 4, 24),
      .ff = (uint32_t) between(&seed, 4, 30),
      .v = (uint32_t) between(&seed, 5, 40),
      .context = TEXT,
      .bias = one_in(&seed, 3),
      .head_norms = one_in(&seed, 3) };
    uint32_t g = (uint32_t) between(&seed, 2, 5);
    f.heads = g * f.kv, f.hd = one_in(&seed, 3) ? 32 : 2 * (uint32_t) between(&seed, 1, 10);
    struct cache_plan p = { random_format(&seed, f.hd), TEXT, 2, 16, TEXT };
    const struct kernels *table = kernels_at(0);
    for (size_t k = rnd(&seed) % 3; k > 0; k--)
      table = kernels_at(k) != NULL ? kernels_at(k) : table;
    struct row rows[2 * TEXT];
    size_t n = 0;
    for (uint32_t q = 0; q < 2; q++)
      for (uint32_t i = 0, end = (uint32_t) between(&seed, 5, TEXT); i < end; i++)
        rows[n++] = (struct row){ q, i, (uint32_t) (rnd(&seed) % f.v) };
    float *hidden[3], *logits[3];
    size_t row_bytes[3];
    uint64_t bytes[3], token[3], model_seed = rnd(&seed), window = between(&seed, 0, 20);
    for (int way = 0; way < 3; way++) { /* shared, repeated, and repeated in the wrong order */
      struct memory m = { .fail_at = 0 };
      struct counters counters = { 0 };
      struct error why;
      struct tiny t;
      struct pass *pass;
      form_make(&t, f, model_seed);
      if (way > 0) form_expand(&t, &f, way == 2);
      ck_assert(config_set_window(&t.lm.config, (uint32_t) window, window > 0 ? 2 : 0, &why));
      struct engine e = { .k = table, .c = &counters };
      struct store *s = cache_open(&m, &t.lm.config, 2,
        &(struct cache_options){ .page_rows = p.page_rows, .format = p.format }, &why);
      ck_assert_msg(s != NULL && model_forward(&e, &t.lm, s, rows, n, &pass, &why), "%s", why.text);
      hidden[way] = malloc(n * f.d * sizeof(float)), logits[way] = malloc(n * f.v * sizeof(float));
      memcpy(hidden[way], pass->hidden, n * f.d * sizeof(float));
      for (size_t i = 0; i < n; i++)
        ck_assert(pass_is_finite(&t.lm, pass, i, &why)
          && model_logits(&e, &t.lm, pass, &i, 1, logits[way] + i * f.v, &why));
      row_bytes[way] = s->row_bytes, token[way] = footprint_token(&t.lm.config, p.format);
      ck_assert(footprint_cache(&t.lm.config, &p, &bytes[way], &why));
      ck_assert_uint_eq(counters.cache_bytes_written, n * f.layers * row_bytes[way]);
      pass_close(pass), store_close(s), tiny_free(&t);
      ck_assert_uint_eq(m.all.live, 0);
    }
    ck_assert_msg(memcmp(hidden[0], hidden[1], n * f.d * sizeof(float)) == 0
        && memcmp(logits[0], logits[1], n * f.v * sizeof(float)) == 0,
      "seed %" PRIu64 ", round %d: %u heads share %u", suite_seed(), round, f.heads, f.kv);
    ck_assert(row_bytes[1] == g * row_bytes[0] && bytes[1] == g * bytes[0]
      && token[1] == g * token[0] && token[0] == f.layers * row_bytes[0]);
    if (f.kv > 1) wrong += memcmp(hidden[0], hidden[2], n * f.d * sizeof(float)) != 0;
    single += f.kv == 1, blocks += p.format->type >= WEIGHT_Q8_0, rows_compared += (unsigned) n;
    for (int way = 0; way < 3; way++) free(hidden[way]), free(logits[way]);
  }
  ck_assert_msg(
    single >= 5 && wrong >= GROUPS - single - 2 && blocks >= 3 && rows_compared > 20 * GROUPS,
    "%u, %u, %u, %u", single, wrong, blocks, rows_compared);
}
END_TEST

/* ---- 5. packing: a table of all numbers of 16 bits, and a block as ggml makes it, every operation
 * rounded to float */
static double *short_numbers(
  int type) /* those from 0 on; what would come behind the largest stands for infinity */
{
  uint16_t top = type == ORACLE_F16 ? 0x7c00 : 0x7f80;
  double *x = malloc((top + 1u) * sizeof *x);
  for (uint16_t h = 0; h < top; h++) {
    unsigned char b[2] = { (unsigned char) h, (unsigned char) (h >> 8) };
    x[h] = (double) oracle_number(b, type, 0);
  }
  x[top] = type == ORACLE_F16 ? 0x1p16 : 0x1p128;
  return x;
}
static uint16_t nearest_short(const double *table, int type, double x, unsigned *ties)
{
  uint16_t low = 0, top = type == ORACLE_F16 ? 0x7c00 : 0x7f80, high = top;
  double a = fabs(x);
  if (a >= table[top]) low = high = top;
  while (high - low > 1)
    *(a < table[(low + high) / 2] ? &high : &low) = (uint16_t) ((low + high) / 2);
  double below = a - table[low], above = table[high] - a;
  if (below == above && low != high) *ties += 1;
  uint16_t h = below < above || (below == above && low % 2 == 0) ? low : high;
  return (uint16_t) (signbit(x) ? 0x8000 | h : h);
}
static float f32(double x)
{
  volatile float y = (float) x;
  return y;
}
static float random_bits(uint64_t *seed) /* any float that is finite */
{
  uint32_t u;
  float x;
  do u = (uint32_t) rnd(seed), memcpy(&x, &u, 4);
  while (!isfinite(x));
  return x;
}
struct packs {
  unsigned blocks, ties, capped, endless, infinite, zero, rounded;
};
static void plain_block(
  const double *halves, int type, const float *x, unsigned char *to, struct packs *seen)
{
  double max = 0;
  unsigned none = 0;
  for (int i = 0; i < 32; i++)
    if (fabs((double) x[i]) > fabs(max)) max = (double) x[i];
  float d = f32(type == ORACLE_Q8_0 ? fabs(max) / 127 : max / -8),
        inverse = d == 0 ? 0 : f32(1 / (double) d);
  uint16_t h = nearest_short(halves, ORACLE_F16, (double) d, &none);
  to[0] = (unsigned char) (h & 255), to[1] = (unsigned char) (h >> 8);
  seen->blocks++, seen->endless += isinf(inverse) != 0, seen->infinite += (h & 0x7fff) == 0x7c00,
    seen->zero += d == 0;
  for (int i = 0; i < 32; i++) {
    double y = (double) f32((double) x[i] * (double) inverse), q;
    if (fabs(y) < 1000 && y - floor(y) == .5) seen->ties++;
    if (type == ORACLE_Q8_0) { /* from the middle away from 0 */
      q = copysign(floor(fabs(y) + .5), y);
      if (isnan(q)) q = 0;
      int n = q > 127 ? 127 : q < -128 ? -128 : (int) q;
      to[2 + i] = (unsigned char) (n & 255);
    } else { /* from the middle upwards, at most 15 */
      q = floor((double) f32(y + 8.5));
      if (isnan(q)) q = 0;
      seen->capped += q > 15;
      int n = q > 15 ? 15 : q < 0 ? 0 : (int) q;
      if (i < 16)
        to[2 + i] = (unsigned char) n;
      else
        to[2 + i - 16] = (unsigned char) (to[2 + i - 16] + 16 * n);
    }
  }
}
static void random_block(uint64_t *seed, int kind, float *x)
{
  double scale = ldexp(1, (int) between(seed, 0, 52) - 40);
  for (int i = 0; i < 32; i++) {
    double y = (double) tiny_normal(seed), sign = one_in(seed, 2) ? 1 : -1;
    switch (kind) {
    case 0: y = one_in(seed, 3) ? 0 : sign * 0; break; /* nothing */
    case 1:
      y = (double) random_bits(seed) * 0x1p-100 * ldexp(1, -(int) between(seed, 0, 30));
      break; /* down to the smallest */
    case 2: y = sign * (double) between(seed, 0, 253) / 2 * scale; break; /* halves of 127 */
    case 3: y = sign * (double) between(seed, 0, 15) / 2 * scale; break; /* halves of 8 */
    case 4: y = y * 0x1p20; break; /* scales around the largest of binary16 */
    case 5:
      y = one_in(seed, 8) ? sign * scale : y * scale * .1;
      break; /* several that are the largest */
    case 6: y = (double) random_bits(seed); break;
    case 7: y = y * scale * 0x1p-110; break; /* scales that have no reciprocal */
    default: y = y * scale;
    }
    x[i] = (float) y;
  }
  if (kind == 2) x[rnd(seed) % 32] = (float) (scale * (one_in(seed, 2) ? 127 : -127));
  if (kind == 3) x[rnd(seed) % 32] = (float) (scale * (one_in(seed, 2) ? 8 : -8));
}
static void pack_blocks(int type, const struct kv_format *f)
{
  uint64_t seed = suite_seed() + (uint64_t) type;
  struct packs seen = { 0 };
  double *halves = short_numbers(ORACLE_F16);
  size_t each = type == ORACLE_Q8_0 ? 34 : 18;
  for (int round = 0; round < 20000; round++) {
    float x[96];
    unsigned char got[3 * 34 + 2], want[3 * 34 + 2];
    memset(got, 0xa5, sizeof got), memset(want, 0xa5, sizeof want);
    size_t n = between(&seed, 1, 3);
    int kind = (int) (rnd(&seed) % 9);
    for (size_t b = 0; b < n; b++)
      random_block(&seed, kind, x + 32 * b),
        plain_block(halves, type, x + 32 * b, want + 1 + b * each, &seen);
    f->encode(x, 32 * n, got + 1); /* and not a byte beside them */
    if (memcmp(got, want, sizeof got) == 0) continue;
    size_t at = 0;
    while (got[at] == want[at]) at++;
    ck_abort_msg("seed %" PRIu64 ", round %d, %s, kind %d: byte %zu is %02x, wanted %02x",
      suite_seed(), round, f->name, kind, at - 1, got[at], want[at]);
  }
  free(halves);
  ck_assert_msg(seen.blocks > 30000 && seen.ties > 20000 && seen.endless > 500
      && seen.infinite > 1000 && seen.zero > 2000 && (seen.capped > 1000 || type == ORACLE_Q8_0),
    "%u, %u, %u, %u, %u, %u", seen.blocks, seen.ties, seen.endless, seen.infinite, seen.zero,
    seen.capped);
}
static void pack_shorts(int type, const struct kv_format *f)
{
  uint64_t seed = suite_seed() + (uint64_t) type;
  double *table = short_numbers(type);
  unsigned top = type == ORACLE_F16 ? 0x7c00 : 0x7f80;
  unsigned ties = 0, infinite = 0, small = 0, n = 0;
  for (int round = 0; round < 200000; round++, n++) {
    uint16_t k = (uint16_t) (one_in(&seed, 500) ? top - 1 : rnd(&seed) % top), got, want;
    float x = random_bits(&seed);
    if (round % 4 == 1) x = f32((table[k] + table[k + 1]) / 2); /* in the middle */
    if (round % 4 == 2)
      x = nextafterf(
        f32((table[k] + table[k + 1]) / 2), one_in(&seed, 2) ? 0 : INFINITY); /* just beside it */
    if (round % 4 == 3) x = f32(table[k]) * (type == ORACLE_F16 ? 1 : .75f);
    if (one_in(&seed, 2)) x = -x;
    if (!isfinite(x)) continue;
    want = nearest_short(table, type, (double) x, &ties);
    f->encode(&x, 1, &got);
    if (got != want)
      ck_abort_msg("seed %" PRIu64 ", round %d: %a is %04x in %s, wanted %04x", suite_seed(), round,
        (double) x, got, f->name, want);
    infinite += (want & 0x7fff) == top,
      small += (want & 0x7fff) < (type == ORACLE_F16 ? 1024 : 128);
  }
  free(table);
  ck_assert_msg(ties > 20000 && infinite > 50 && small > 100 && n > 190000, "%u, %u, %u, %u", ties,
    infinite, small, n);
  float odd[3] = { NAN, INFINITY, -INFINITY };
  uint16_t h[3];
  f->encode(odd, 3, h);
  ck_assert(isnan(oracle_number(h, type, 0)) && oracle_number(h, type, 1) == INFINITY
    && oracle_number(h, type, 2) == -INFINITY);
}
static void unpack_bytes(int type, const struct kv_format *f)
{
  uint64_t seed = suite_seed() + 100 + (uint64_t) type;
  unsigned numbers = 0;
  for (int round = 0; round < 5000; round++) {
    unsigned char b[4 * 96 + 1];
    float x[97];
    size_t n = f->type >= WEIGHT_Q8_0 ? 32 * between(&seed, 1, 3) : between(&seed, 1, 96),
           at = rnd(&seed) % 2;
    for (size_t i = 0; i < sizeof b; i++) b[i] = (unsigned char) rnd(&seed);
    x[n] = 4711;
    format_decode(f->type, b + at, n, x);
    for (size_t i = 0; i < n; i++, numbers++) {
      float want = oracle_number(b + at, type, i);
      if (memcmp(&x[i], &want, 4) != 0 && !(isnan(x[i]) && isnan(want)))
        ck_abort_msg("seed %" PRIu64 ", round %d: number %zu in %s is %a, wanted %a", suite_seed(),
          round, i, f->name, (double) x[i], (double) want);
    }
    ck_assert(x[n] == 4711);
  }
  ck_assert_uint_gt(numbers, 100000);
}
START_TEST(packing_is_ggmls)
{
  static const char *const name[N_FORMATS] = { "f32", "f16", "bf16", "q8_0", "q4_0" };
  struct error why = { "" };
  for (int k = 0; k < N_FORMATS; k++) {
    const struct kv_format *f = format_at((size_t) k);
    ck_assert(f != NULL && format_find(name[k], &why) == f && strcmp(f->name, name[k]) == 0);
    ck_assert_uint_eq(weight_row_bytes(f->type, 96), (uint64_t) number_bytes(f, 96));
    if (k == ORACLE_F16 || k == ORACLE_BF16) pack_shorts(k, f);
    if (k >= ORACLE_Q8_0) pack_blocks(k, f);
    unpack_bytes(k, f);
  }
  uint32_t in[64], out[64];
  uint64_t seed = suite_seed();
  for (int i = 0; i < 64; i++) in[i] = (uint32_t) rnd(&seed);
  format_at(0)->encode((const float *) (const void *) in, 64, out);
  ck_assert(memcmp(in, out, sizeof in) == 0);
  ck_assert(format_at(N_FORMATS) == NULL && format_at(SIZE_MAX) == NULL);
  static const char *const none[] = { "q8_1", "f64", "", "F32", "q8_0 " };
  for (int k = 0; k < 5; k++) {
    ck_assert(format_find(none[k], &why) == NULL);
    ck_assert_msg(strstr(why.text, none[k]) != NULL, "%s", why.text);
    for (int i = 0; i < N_FORMATS; i++)
      ck_assert_msg(strstr(strstr(why.text, "wanted:"), name[i]) != NULL, "%s", why.text);
  }
}
END_TEST
/* the box of the chapter: four numbers on sixteen steps, in a block whose other numbers are 0 */
START_TEST(four_numbers_on_sixteen_steps)
{
  float x[32] = { -1.6f, .5f, .25f, 1.55f }, back[32];
  unsigned char b[34];
  format_at(4)->encode(x, 32, b);
  ck_assert(
    b[2] == 0x80 && b[3] == 0x8b && b[4] == 0x89 && b[5] == 0x8f && b[6] == 0x88 && b[17] == 0x88);
  format_decode(WEIGHT_Q4_0, b, 32, back);
  float d = oracle_number(b, ORACLE_F16, 0);
  ck_assert(fabsf(d - .2f) < 1e-4f && back[0] == -8 * d && back[1] == 3 * d && back[2] == d
    && back[3] == 7 * d && back[31] == 0);
  format_at(3)->encode(x, 32, b); /* a step is 1.6/127: 39.69, 19.84 and 123.03 of it */
  ck_assert(b[2] == 256 - 127 && b[3] == 40 && b[4] == 20 && b[5] == 123 && b[6] == 0);
}
END_TEST
START_TEST(what_cannot_be_packed_is_refused)
{
  uint64_t seed = suite_seed();
  struct error why;
  char words[60];
  for (int k = 0; k < N_FORMATS; k++) {
    const struct kv_format *f = format_at((size_t) k);
    float x[64], odd[3] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 64; i++) x[i] = tiny_normal(&seed);
    ck_assert(format_can_hold(f, x, 64, &why) && format_can_hold(f, x, 32, &why)
      && format_can_hold(f, x, 0, &why));
    for (int j = 0; j < 3; j++) {
      size_t at = rnd(&seed) % 64;
      float kept = x[at];
      x[at] = odd[j], snprintf(words, sizeof words, "number %zu is not finite", at);
      ck_assert(!format_can_hold(f, x, 64, &why) && strstr(why.text, words) != NULL);
      x[at] = kept;
    }
    static const size_t bad[] = { 31, 33, 1, 48 };
    for (int j = 0; j < 4; j++) {
      bool blocks = f->type >= WEIGHT_Q8_0;
      ck_assert_int_eq(format_can_hold(f, x, bad[j], &why), !blocks);
      snprintf(words, sizeof words, "%zu numbers in %s; wanted: a multiple of 32", bad[j], f->name);
      if (blocks) ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
    }
    if (k < 3) continue;
    /* the first number whose scale is infinite, on either side, and the last whose scale is not */
    float steps = k == 3 ? 127 : 8, edge = 65520 * steps, sign = 1;
    for (int j = 0; j < 2; j++, sign = -sign) {
      unsigned char b[2 * 34];
      size_t at = rnd(&seed) % 64;
      float kept = x[at];
      x[at] = sign * edge;
      ck_assert(
        !format_can_hold(f, x, 64, &why) && strstr(why.text, "a scale beyond binary16") != NULL);
      snprintf(words, sizeof words, "number %zu, %g,", at, (double) x[at]);
      ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
      f->encode(x, 64, b);
      ck_assert(isinf(oracle_number(b + at / 32 * (k == 3 ? 34 : 18), ORACLE_F16, 0)));
      x[at] = sign * 65519 * steps;
      ck_assert_msg(format_can_hold(f, x, 64, &why), "%s", why.text);
      f->encode(x, 64, b);
      ck_assert(fabsf(oracle_number(b + at / 32 * (k == 3 ? 34 : 18), ORACLE_F16, 0)) == 65504);
      x[at] = kept;
    }
  }
}
END_TEST

/* ---- 6. whatever way a row comes into a cache of a format, it is the same row */
enum { SEQ = 4, LONG = 70, WAYS = 6 };
struct bench {
  struct memory m;
  struct counters c;
  struct engine e;
  const struct model *lm;
  struct model_config how;
  const struct kv_format *f;
  size_t d;
  struct error why;
};
struct texts {
  uint32_t id[SEQ][LONG];
  size_t n[SEQ];
  float *hidden[SEQ];
};
static struct store *bench_store(struct bench *b, uint32_t sequences, size_t page_rows)
{
  struct store *s = cache_open(&b->m, &b->how, sequences,
    &(struct cache_options){ .page_rows = page_rows, .format = b->f }, &b->why);
  ck_assert_msg(s != NULL, "%s", b->why.text);
  return s;
}
/* a pass over a whole text in a fresh cache of the format; without one, in the plain store */
static float *one_pass(struct bench *b, const uint32_t *id, size_t n, const struct kv_format *f)
{
  struct row rows[LONG];
  struct pass *p;
  b->f = f;
  struct store *s = f == NULL ? array_store_open(&b->m, &b->how, &b->why) : bench_store(b, 1, 16);
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row){ 0, i, id[i] };
  ck_assert_msg(model_forward(&b->e, b->lm, s, rows, n, &p, &b->why), "%s", b->why.text);
  float *hidden = malloc(LONG * b->d * sizeof *hidden);
  memcpy(hidden, p->hidden, n * b->d * sizeof *hidden);
  pass_close(p), store_close(s);
  return hidden;
}
static void check_text(
  struct bench *b, struct texts *x, uint32_t q, unsigned *compared, const char *where)
{
  if (x->n[q] == 0) return;
  float *want = one_pass(b, x->id[q], x->n[q], b->f);
  for (size_t i = 0; i < x->n[q]; i++)
    ck_assert_msg(memcmp(want + i * b->d, x->hidden[q] + i * b->d, b->d * sizeof *want) == 0,
      "%s: sequence %u, row %zu differs", where, q, i);
  *compared += (unsigned) x->n[q];
  free(want);
}
static void add_rows(
  struct bench *b, struct store *s, struct texts *x, uint64_t *seed, size_t max, uint32_t only)
{
  struct row rows[SEQ * LONG];
  size_t n = 0;
  struct pass *p;
  for (uint32_t q = 0; q < SEQ; q++)
    for (size_t take = only == q || only == SEQ ? between(seed, only < SEQ, max) : 0;
         take > 0 && x->n[q] < LONG; take--) {
      x->id[q][x->n[q]] = (uint32_t) (rnd(seed) % b->lm->config.vocab_size);
      rows[n++] = (struct row){ q, (uint32_t) x->n[q], x->id[q][x->n[q]] }, x->n[q]++;
    }
  if (n == 0) return;
  for (size_t i = n; i > 1; i--) {
    size_t k = rnd(seed) % i;
    struct row t = rows[i - 1];
    rows[i - 1] = rows[k], rows[k] = t;
  }
  ck_assert_msg(model_forward(&b->e, b->lm, s, rows, n, &p, &b->why), "%s", b->why.text);
  for (size_t i = 0; i < n; i++)
    memcpy(x->hidden[rows[i].sequence] + rows[i].position * b->d, p->hidden + i * b->d,
      b->d * sizeof(float));
  pass_close(p);
}
/* passes of several sequences, forks, crops; what a text has gathered is held against one pass
 * before it is cropped, and at the end */
static void random_schedule(struct bench *b, uint64_t *seed, unsigned rounds, unsigned *compared,
  unsigned *forks, unsigned *crops, const char *where)
{
  struct texts x = { .n = { 0 } };
  for (int q = 0; q < SEQ; q++) x.hidden[q] = malloc(LONG * b->d * sizeof(float));
  struct store *s = bench_store(b, SEQ, (size_t) 1 << rnd(seed) % 6);
  for (unsigned round = 0; round < rounds; round++) {
    uint32_t a = (uint32_t) (rnd(seed) % SEQ),
             c = (a + 1 + (uint32_t) (rnd(seed) % (SEQ - 1))) % SEQ;
    switch (round % 8) {
    case 5:
      check_text(b, &x, c, compared, where);
      store_crop(s, c, 0);
      ck_assert_msg(store_fork(s, a, c, &b->why), "%s", b->why.text);
      memcpy(x.id[c], x.id[a], sizeof x.id[a]),
        memcpy(x.hidden[c], x.hidden[a], x.n[a] * b->d * sizeof(float));
      x.n[c] = x.n[a], *forks += x.n[a] > 0;
      break;
    case 2:
      check_text(b, &x, a, compared, where);
      *crops += x.n[a] > 0, store_crop(s, a, rnd(seed) % (x.n[a] + 1)), x.n[a] = store_length(s, a);
      break;
    default: add_rows(b, s, &x, seed, one_in(seed, 3) ? 25 : 3, SEQ);
    }
  }
  for (uint32_t q = 0; q < SEQ; q++) check_text(b, &x, q, compared, where), free(x.hidden[q]);
  store_close(s);
}
/* one text in passes of so many rows, 0: of a random number each */
static void in_pieces(struct bench *b, const uint32_t *id, const float *want, size_t n,
  size_t piece, uint64_t *seed, size_t page_rows, const char *where)
{
  struct store *s = bench_store(b, 1, page_rows);
  struct row rows[LONG];
  struct pass *p;
  for (uint32_t i = 0; i < n; i++) rows[i] = (struct row){ 0, i, id[i] };
  for (size_t i = 0, some; i < n; i += some) {
    some = piece > 0 ? piece : between(seed, 1, 20);
    if (some > n - i) some = n - i;
    ck_assert_msg(model_forward(&b->e, b->lm, s, rows + i, some, &p, &b->why), "%s", b->why.text);
    ck_assert_msg(memcmp(p->hidden, want + i * b->d, some * b->d * sizeof *want) == 0,
      "%s: row %zu in pieces of %zu differs", where, i, piece);
    pass_close(p);
  }
  store_close(s);
}
static void every_way(
  struct bench *b, uint64_t *seed, const struct kv_format *f, unsigned rounds, const char *where)
{
  uint32_t id[LONG];
  unsigned compared = 0, forks = 0, crops = 0;
  for (int i = 0; i < LONG; i++) id[i] = (uint32_t) (rnd(seed) % b->lm->config.vocab_size);
  float *plain = one_pass(b, id, LONG, NULL), *mine = one_pass(b, id, LONG, f);
  bool same = memcmp(plain, mine, LONG * b->d * sizeof *mine) == 0;
  ck_assert_msg(same == (f == format_at(0)), "%s: the plain store's bits are %s", where,
    same ? "the same" : "others");
  in_pieces(b, id, mine, LONG, 1, seed, 8, where), in_pieces(b, id, mine, LONG, 0, seed, 64, where),
    in_pieces(b, id, mine, LONG, 7, seed, 1, where);
  const struct kernels *fastest = b->e.k;
  for (size_t k = 0; kernels_at(k) != NULL; k++)
    b->e.k = kernels_at(k), in_pieces(b, id, mine, LONG, k % 2 ? 0 : 5, seed, 16, where);
  b->e.k = fastest;
  random_schedule(b, seed, rounds, &compared, &forks, &crops, where);
  ck_assert_msg(compared > 100 && forks > 2 && crops > 2, "%s: %u rows, %u forks, %u crops", where,
    compared, forks, crops);
  free(plain), free(mine);
}
START_TEST(a_lossy_cache_keeps_its_own_bits)
{
  uint64_t seed = suite_seed() + 1000 * (uint64_t) _i;
  const struct kv_format *f = format_at((size_t) _i % N_FORMATS);
  static const struct {
    uint32_t window, sinks;
    uint8_t listed;
  } sight[WAYS] = { { 0, 0, 0 }, { 9, 0, 0 }, { 12, 3, 0 }, { 0, 0, 0 }, { 5, 2, 5 },
    { 20, 30, 2 } };
  int way = _i / N_FORMATS;
  struct bench b = { .f = f };
  struct tiny t;
  char where[100];
  form_make(&t,
    (struct form){ .layers = way == 3 ? 2 : 3,
      .heads = 4,
      .kv = way % 2 ? 2 : 1,
      .hd = way == 3 ? 64 : 32,
      .d = 24,
      .ff = 30,
      .v = 31,
      .context = 200,
      .head_norms = way == 3 },
    seed);
  snprintf(where, sizeof where, "seed %" PRIu64 ", %s, way %d", suite_seed(), f->name, way);
  b.lm = &t.lm, b.how = t.lm.config, b.d = 24,
  b.e = (struct engine){ .k = kernels_find(NULL, NULL), .c = &b.c };
  if (sight[way].window > 0)
    ck_assert(config_set_window(&b.how, sight[way].window, sight[way].sinks, &b.why));
  if (sight[way].listed > 0) b.how.window_listed = true, b.how.windowed[0] = sight[way].listed;
  every_way(&b, &seed, f, 80, where);
  tiny_free(&t);
  ck_assert_uint_eq(b.m.all.live, 0);
}
END_TEST
START_TEST(the_built_in_model_in_every_format)
{
  uint64_t seed = suite_seed() + (uint64_t) _i;
  const struct kv_format *f = format_at((size_t) _i);
  struct bench b = { .f = f };
  struct model *lm = model_open(&b.m, "models/pocket", &b.why);
  ck_assert_msg(lm != NULL, "%s", b.why.text);
  b.lm = lm, b.how = lm->config, b.d = lm->config.d_model;
  struct pool *pool = pool_open(&b.m, 2, &b.why);
  b.e = (struct engine){ .k = kernels_find(NULL, NULL), .pool = pool, .c = &b.c };
  if (_i % 2) ck_assert(config_set_window(&b.how, 16, 4, &b.why));
  every_way(&b, &seed, f, 40, f->name);
  pool_close(&b.m, pool), model_close(&b.m, lm);
  ck_assert_uint_eq(b.m.all.live, 0);
}
END_TEST

/* ---- 7. a block does not reach over the end of a head */
START_TEST(a_cache_refuses_blocks_that_do_not_fit)
{
  static const uint32_t bad[] = { 6, 2, 31, 33, 48, 80 }, good[] = { 32, 64, 96 };
  struct tiny t;
  tiny_make(&t, suite_seed());
  ck_assert_uint_eq(t.lm.config.head_dim, 6);
  for (int k = 0; k < N_FORMATS; k++) {
    const struct kv_format *f = format_at((size_t) k);
    for (int i = 0; i < 9; i++) {
      struct memory m = { .fail_at = 0 };
      struct error why = { "" };
      struct model_config c = t.lm.config;
      c.head_dim = i < 6 ? bad[i] : good[i - 6];
      struct store *s =
        cache_open(&m, &c, 2, &(struct cache_options){ .format = f, .preallocate = true }, &why);
      ck_assert_int_eq(s != NULL, k < 3 || i >= 6);
      char words[60];
      snprintf(words, sizeof words, "in %s for a head_dim of %u; wanted: a multiple of 32", f->name,
        c.head_dim);
      if (s == NULL)
        ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
      else
        ck_assert_uint_eq(s->row_bytes, (uint64_t) (2 * TINY_KV * number_bytes(f, c.head_dim)));
      store_close(s);
      ck_assert_uint_eq(m.all.live, 0);
    }
  }
  tiny_free(&t);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("accounts");
  TCase *files = tcase_create("files"), *c = tcase_create("accounts");
  tcase_add_unchecked_fixture(files, room_open, room_close);
  tcase_add_test(files, a_vocabulary_is_its_tables);
  tcase_add_test(files, the_formula_is_the_allocator);
  tcase_add_test(c, a_setting_says_whether_weights_depend_on_it);
  tcase_add_loop_test(c, families_are_counted_to_the_byte, 0, 25);
  tcase_add_loop_test(c, experts_are_counted_as_they_are_used, 0, 5);
  tcase_add_test(c, what_fits_fits_and_one_more_does_not);
  tcase_add_test(c, what_fits_by_hand);
  tcase_add_test(c, named_shapes_are_the_published_ones);
  tcase_add_test(c, groups_are_shared_heads);
  tcase_add_test(c, packing_is_ggmls);
  tcase_add_test(c, four_numbers_on_sixteen_steps);
  tcase_add_test(c, what_cannot_be_packed_is_refused);
  tcase_add_loop_test(c, a_lossy_cache_keeps_its_own_bits, 0, N_FORMATS * WAYS);
  tcase_add_loop_test(c, the_built_in_model_in_every_format, 0, N_FORMATS);
  tcase_add_test(c, a_cache_refuses_blocks_that_do_not_fit);
  suite_add_tcase(s, files), suite_add_tcase(s, c);
  return suite_run(s);
}
