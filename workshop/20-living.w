@i types.w

\chapterquestion{Can a page in a browser run the same program, to the last bit?}
@** The engine in the browser.
PROSE

@(exact.h@>=
/** |fmaf| where there is no instruction for it and the rounding mode cannot be changed. */
#ifndef INCIPIT_EXACT_H
#define INCIPIT_EXACT_H
#include <math.h>
#include <stdint.h>
#include <string.h>
@<Round to odd@>@;
@<Multiply and add, rounding once@>@;
#if defined __wasm_simd128__
@<Multiply and add four times@>@;
#endif
#endif

@ PROSE

@<Round to odd@>=
static inline double rounded_to_odd(double product, double c)
{
  double sum = product + c, of_c = sum - product;
  double lost = (product - (sum - of_c)) + (c - of_c);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (fabs(lost) > 0 && (bits & 1) == 0) {
    if ((lost > 0) == (sum > 0)) bits++;
    else bits--;
  }
  memcpy(&sum, &bits, sizeof bits);
  return sum;
}

@ PROSE

@<Multiply and add, rounding once@>=
static inline float exact_fmaf(float a, float b, float c)
{
  double product = (double) a * b, sum = product + c;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if ((bits & 0x1fffffff) == 0x10000000 || fabs(sum) < 0x1p-126)
    return (float) rounded_to_odd(product, c);
  return (float) sum;
}

@ PROSE

@<Multiply and add four times@>=
#include <wasm_simd128.h>
@#
static __attribute__((noinline, cold)) v128_t exact_fma_lanes(v128_t a, v128_t b, v128_t c)
{
  float x[4], y[4], z[4];
  wasm_v128_store(x, a), wasm_v128_store(y, b), wasm_v128_store(z, c);
  for (int j = 0; j < 4; j++) z[j] = exact_fmaf(x[j], y[j], z[j]);
  return wasm_v128_load(z);
}
@#
static inline v128_t exact_fma(v128_t a, v128_t b, v128_t c)
{
  @<Compute both halves in double@>@;
  @<Give doubtful lanes to the slow way@>@;
  return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(low),@|
    wasm_f32x4_demote_f64x2_zero(high), 0, 2);
}

@ PROSE

@<Compute both halves in double@>=
#define UPPER(x) wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 1))
#define LOWER(x) wasm_f64x2_promote_low_f32x4(x)
v128_t low = wasm_f64x2_add(wasm_f64x2_mul(LOWER(a), LOWER(b)), LOWER(c));
v128_t high = wasm_f64x2_add(wasm_f64x2_mul(UPPER(a), UPPER(b)), UPPER(c));

@ PROSE

@<Give doubtful lanes to the slow way@>=
v128_t words = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
v128_t tops = wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
v128_t half = wasm_i32x4_eq(wasm_v128_and(words, wasm_i32x4_const_splat(0x1fffffff)),@|
  wasm_i32x4_const_splat(0x10000000));
v128_t tiny = wasm_u32x4_lt(wasm_i32x4_shl(tops, 1),@|
  wasm_i32x4_const_splat(0x38100000 << 1));
if (wasm_v128_any_true(wasm_v128_or(half, tiny))) return exact_fma_lanes(a, b, c);

@ PROSE

@(simd128.inc@>=
/** The head for WebAssembly, whose registers have four lanes. */
#include <wasm_simd128.h>
#include "living/exact.h"
#define TARGET
#define WIDTH 4
#define TILE_ROWS 6
#define FUSED_IS_CALLED
#define HELPER static ALONE
#include "kernels/lanes.inc"
@<Multiply--add and the rest, for WebAssembly@>@;

@ PROSE

@<Multiply--add and the rest, for WebAssembly@>=
static ALONE vec fused(vec a, vec b, vec c)
{@+ return (vec) exact_fma((v128_t) a, (v128_t) b, (v128_t) c);@+ }
INLINE vec spread(float x)
{@+ return (vec) wasm_f32x4_splat(x);@+ }
INLINE vec widen(const uint16_t *h, enum weight_type type)
{
  v128_t u = wasm_u32x4_load16x4(h);
  if (type != WEIGHT_F16) return (vec) wasm_i32x4_shl(u, 16);
  @<Widen four numbers of binary16@>@;
}
INLINE vec i8_to_f32(const int8_t *small)
{
  v128_t bytes = wasm_v128_load32_zero(small);
  return (vec) wasm_f32x4_convert_i32x4(
    wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(bytes)));
}
@<Choose lanes and fold them, four at a time@>@;

@ PROSE

@<Widen four numbers of binary16@>=
v128_t rest = wasm_i32x4_shl(wasm_v128_and(u, wasm_i32x4_const_splat(0x7fff)), 13);
v128_t sign = wasm_i32x4_shl(wasm_v128_and(u, wasm_i32x4_const_splat(0x8000)), 16);
v128_t top = wasm_i32x4_ge(rest, wasm_i32x4_const_splat(0x7c00 << 13));
v128_t number = wasm_f32x4_mul(rest, wasm_f32x4_const_splat(0x1p112f));
v128_t other = wasm_v128_or(rest, wasm_i32x4_const_splat(0x7f800000));
return (vec) wasm_v128_or(wasm_v128_bitselect(other, number, top), sign);

@ PROSE

@<Choose lanes and fold them, four at a time@>=
HELPER vec blend(int n, vec a, vec b)
{
  for (int j = 0; j < WIDTH; j++) a[j] = j < n ? a[j] : b[j];
  return a;
}
HELPER vec load_first(const void *p, int n)
{
  vec v = @[{ 0 }@];
  memcpy(&v, p, (size_t) n * sizeof(float));
  return v;
}
HELPER vec fold_all(const vec *a)
{
  vec b[2];
  each (i, 2) b[i] = MIX(a[2 * i], a[2 * i + 1], 0, 1, 4, 5)
    + MIX(a[2 * i], a[2 * i + 1], 2, 3, 6, 7);
  return MIX(b[0], b[1], 0, 2, 4, 6) + MIX(b[0], b[1], 1, 3, 5, 7);
}

@* A text that branches. PROSE

@(living.h@>=
@;
/** The engine for a page: one prompt, and all texts that were begun after it. */
#ifndef INCIPIT_LIVING_H
#define INCIPIT_LIVING_H
#include "cache/cache.h"
#include "model/forward.h"
#include "sampling/sampling.h"
#include "search/tree.h"
#include "tokenizer/tokenizer.h"
@<Limits of a page@>@;
@<What a text was read for@>@;
@<A place in a text@>@;
@<All that a page has@>@;
@<What a page can ask@>@;
#endif

@ PROSE

@<Limits of a page@>=
enum { LIVING_CONTEXT = 512, LIVING_PAGE = 4, LIVING_TEXTS = 32,
  LIVING_NODES = 1024, LIVING_MOST_BEAMS = 16 };
  /* tokens that are read; rows of a page of the cache; texts whose rows are kept; places; beams */

@ PROSE

@<What a text was read for@>=
struct living_read { float *logits, *look; size_t rows;
  bool cached; uint64_t hash, chain; struct counters before, after; };
  /* |logits[vocab_size]|, null: it was not read; |look[n_layers][n_heads][n]|, the weights of the last row;
    rows of the pass; whether the cache was on; hashes of these logits, and of all on the way */

@ PROSE

@<A place in a text@>=
struct living_node { uint32_t parent, id; size_t n; bool stop;
  double logprob; size_t rank; const char *why; struct living_read read; };
  /* the token |id| after |parent|, as the last of |n|; whether it ends a text; its log-probability
    and rank among all tokens, and why it was chosen; node 0 is the prompt */

@ PROSE

@<All that a page has@>=
struct living_text { uint32_t tip; bool taken; uint64_t used; };
  /* a sequence of the cache has the rows of the text that ends at |tip|; when it was used last */
struct living_wish { bool cache; size_t max_tokens; uint64_t seed;
  struct sampling_params s; };
  /* what the page has set */
struct living { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct store *s;
  struct ids prompt; struct living_node *node; size_t n; uint32_t now;
  struct living_text text[LIVING_TEXTS]; uint32_t at; uint64_t clock;
  uint32_t path[LIVING_CONTEXT + 1]; double *logprob;
  struct living_wish wish; struct sampler d;
  struct search_result found; struct token_tree grown; uint64_t search_madds;
  struct bytes room, out; float *cell; int32_t shape[7]; struct error why; };
  /* |node[n]|, of which |now| is the present one; its rows are in sequence |at|; |path| has the ids of
    the text that was walked last */

@ PROSE

@<What a page can ask@>=
bool living_material(struct living *g);
  /* opens |g->lm| and |g->t|: from files, or from what is built in */
bool living_begin(struct living *g);
  /* opens the rest, with an empty prompt; |*g| is zero but for the material */
void living_end(struct living *g);
  /* returns all memory */
bool living_restart(struct living *g, const char *text, size_t n);
  /* another prompt, an empty one being the token that begins a text; on failure the old one stays */
bool living_next(struct living *g, const uint32_t *wanted);
  /* one token more: |*wanted|, or for null what the sampler chooses */
bool living_drop(struct living *g);
  /* goes back by a token, which is forgotten unless others were written after it */
bool living_go(struct living *g, uint32_t node);
  /* makes |node| the present one */
bool living_over(const struct living *g);
  /* whether the present text has ended */
struct counters living_base(const struct living *g, uint32_t node);
  /* what the text up to |node| has cost */
size_t living_walk(struct living *g, uint32_t node);
  /* puts its ids into |g->path|; how many */
bool living_search(struct living *g, size_t width, size_t steps);
  /* a beam search from the present text, in a cache of its own */
bool living_set(struct living *g, const char *text, size_t n);
  /* does what a JSON object of |n| bytes says */
bool living_put_state(struct living *g);
bool living_put_tree(struct living *g);
bool living_put_stages(struct living *g, uint32_t node);
  /* |g->out| becomes JSON with a zero byte at its end */
const float *living_cell(struct living *g, uint32_t layer, uint32_t position);
  /* the key and then the value of all heads; null: there is no such row in the cache */

@ PROSE

@(steps.c@>=
@;
/** The texts of a page, step by step. The present place has a sequence of the cache, |at|, whose tip it is.
  What a sequence has is compared with the text before it is used, so a row that does not belong to it
  cannot be read. */
#include <math.h>
#include <string.h>
#include "living/living.h"
@<Walk to a place@>@;
@<Hash logits@>@;
@<Read the present text@>@;
@<Choose what follows@>@;
@<Find or add a place@>@;
@<Copy rows without computing them@>@;
@<Give a place a sequence@>@;
@<Go forward, and back@>@;

@ PROSE

@<Walk to a place@>=
size_t living_walk(struct living *g, uint32_t k)
{
  size_t n = g->node[k].n;
  for (; k != 0; k = g->node[k].parent)
    g->path[g->node[k].n - 1] = g->node[k].id;
  memcpy(g->path, g->prompt.id, g->prompt.n * sizeof *g->path);
  return n;
}
@#
struct counters living_base(const struct living *g, uint32_t k)
{
  return k == 0 ? (struct counters) @[{ .passes = 0 }@]
    : g->node[g->node[k].parent].read.after;
}
@#
bool living_over(const struct living *g)
{
  const struct living_node *k = &g->node[g->now];
  size_t most = g->wish.max_tokens;
  return k->stop || k->n > LIVING_CONTEXT || (most > 0 && k->n - g->prompt.n >= most);
}

@ PROSE

@<Hash logits@>=
static uint64_t mixed(uint64_t h, const float *x, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    for (int b = 0; b < 32; b += 8)
      h = (h ^ (bits >> b & 0xff)) * 1099511628211u;
  }
  return h;
}

@ PROSE

@<Read the present text@>=
struct look_at { float *look; size_t n, heads; };
@#
static void see_weights(void *ctx, enum tap_point point, uint32_t layer, float *x,@|
  size_t rows, size_t width)
{
  const struct look_at *a = ctx;
  if (point != TAP_WEIGHTS) return;
  for (size_t h = 0; h < a->heads; h++)
    memcpy(a->look + (layer * a->heads + h) * a->n,@|
      x + (rows - 1) * width + h * (width / a->heads), a->n * sizeof *x);
}

@ PROSE

@<Read the present text@>=
static size_t make_rows(struct living *g, size_t n, struct row *rows)
{
  size_t first = 0;
  if (g->wish.cache) first = store_match_prefix(g->s, g->at, g->path, n - 1);
  else store_crop(g->s, g->at, 0);
  for (size_t i = first; i < n; i++)
    rows[i - first] = (struct row) @[{ g->at, (uint32_t) i, g->path[i] }@];
  return n - first;
}
@#
static bool pass_through(struct living *g, struct living_read *r, size_t n)
{
  struct look_at a = @[{ r->look, n, g->lm->config.n_heads }@];
  struct watcher w = @[{ see_weights, &a, true }@];
  struct row rows[LIVING_CONTEXT];
  struct pass *p = NULL;
  r->rows = make_rows(g, n, rows);
  size_t last = r->rows - 1;
  bool ok = model_forward_watched(&g->e, g->lm, g->s, rows, r->rows, &w, &p, &g->why)@|
    && pass_is_finite(g->lm, p, last, &g->why)@|
    && model_logits(&g->e, g->lm, p, &last, 1, r->logits, &g->why);
  pass_close(p);
  return ok;
}

@ PROSE

@<Read the present text@>=
static void forget(struct living *g, struct living_read *r)
{
  memory_free(&g->m, r->logits);
  memory_free(&g->m, r->look);
  *r = (struct living_read) @[{ .logits = NULL }@];
}
@#
static uint64_t chain_to(const struct living *g, uint32_t k)
{
  return k == 0 ? 14695981039346656037u : g->node[g->node[k].parent].read.chain;
}
@#
static bool read_text(struct living *g)
{
  const struct model_config *c = &g->lm->config;
  size_t n = living_walk(g, g->now);
  struct living_read r = @[{ .before = living_base(g, g->now), .cached = g->wish.cache }@];
  r.logits = memory_alloc(&g->m, MEMORY_OTHER, c->vocab_size, sizeof *r.logits, &g->why);
  r.look = memory_alloc(&g->m, MEMORY_OTHER, c->n_layers * c->n_heads, n * sizeof *r.look, &g->why);
  g->c = r.before;
  bool ok = r.logits != NULL && r.look != NULL && pass_through(g, &r, n);
  if (!ok) forget(g, &r);
  r.after = g->c;
  if (!ok) return false;
  r.hash = mixed(14695981039346656037u, r.logits, c->vocab_size);
  r.chain = mixed(chain_to(g, g->now), r.logits, c->vocab_size);
  g->node[g->now].read = r;
  return true;
}

@ PROSE

@<Choose what follows@>=
static bool choose(struct living *g, uint32_t *id, const char **why)
{
  const struct living_node *k = &g->node[g->now];
  struct continuation text = @[{ .text = { g->path, living_walk(g, g->now), 0 },@|
    .n_prompt = g->prompt.n }@];
  g->d.s = g->wish.s, g->d.seed = g->wish.seed;
  if (!sampler_choose(&g->d, k->read.logits, &text, id, &g->why)) return false;
  if (g->d.s.temperature <= 0) *why = "greedy";
  else *why = g->d.f.n == 1 ? "forced" : "sampled";
  return true;
}

@ PROSE

@<Find or add a place@>=
static bool has_children(const struct living *g, uint32_t k)
{
  for (size_t i = k + 1; i < g->n; i++)
    if (g->node[i].parent == k) return true;
  return false;
}
@#
static size_t rank_of(const struct living *g, uint32_t id)
{
  size_t rank = 1, v = g->lm->config.vocab_size;
  const double *p = g->logprob;
  for (size_t i = 0; i < v; i++)
    rank += p[i] > p[id] || (p[i] == p[id] && i < id);
  return rank;
}

@ PROSE

@<Find or add a place@>=
static bool is_end(const struct living *g, uint32_t id)
{
  for (uint32_t i = 0; i < g->lm->config.n_eos; i++)
    if (g->lm->config.eos[i] == id) return true;
  return false;
}
@#
static bool child_of(struct living *g, uint32_t parent, uint32_t id, const char *why,@|
  uint32_t *child, bool *made)
{
  for (size_t i = parent + 1; i < g->n; i++)
    if (g->node[i].parent == parent && g->node[i].id == id) {
      *child = (uint32_t) i, *made = false;
      return true;
    }
  if (g->n == LIVING_NODES)
    return error_say(&g->why, "the tree has %d places; wanted: no more", LIVING_NODES);
  const struct living_node *p = &g->node[parent];
  g->e.k->log_softmax(&g->e, p->read.logits, 1, g->lm->config.vocab_size, g->logprob);
  g->node[g->n] = (struct living_node) @[{ .parent = parent, .id = id, .n = p->n + 1,@|
    .stop = is_end(g, id), .why = is_end(g, id) && strcmp(why, "forced") != 0 ? "stopped" : why,@|
    .logprob = g->logprob[id], .rank = rank_of(g, id) }@];
  *child = (uint32_t) g->n++, *made = true;
  return true;
}

@ PROSE

@<Copy rows without computing them@>=
static bool take_rows(struct living *g, uint32_t from, uint32_t to, size_t rows)
{
  uint32_t spare = LIVING_TEXTS;
  if (!store_fork(g->s, from, spare, &g->why)) return false;
  store_crop(g->s, spare, rows);
  store_crop(g->s, to, 0);
  bool ok = store_fork(g->s, spare, to, &g->why);
  store_crop(g->s, spare, 0);
  return ok;
}

@ PROSE

@<Give a place a sequence@>=
static size_t rows_in_common(const struct living *g, uint32_t sequence, size_t most)
{
  const uint32_t *token = store_tokens(g->s, sequence);
  size_t k = 0, n = store_length(g->s, sequence);
  while (k < n && k < most && token[k] == g->path[k]) k++;
  return k;
}
@#
static uint32_t oldest_text(const struct living *g, uint32_t but)
{
  uint32_t found = but == 0 ? 1 : 0;
  for (uint32_t i = 0; i < LIVING_TEXTS; i++)
    if (i != but && (!g->text[i].taken || (g->text[found].taken@|
        && g->text[i].used < g->text[found].used))) found = i;
  return found;
}

@ PROSE

@<Give a place a sequence@>=
static bool seat(struct living *g, uint32_t k)
{
  size_t n = living_walk(g, k), most = g->node[k].read.logits != NULL ? n : n - 1, rows = 0;
  uint32_t from = LIVING_TEXTS;
  for (uint32_t i = 0; i < LIVING_TEXTS; i++) {
    if (!g->text[i].taken) continue;
    size_t here = rows_in_common(g, i, most);
    if (g->text[i].tip == k || here > rows) from = i, rows = here;
    if (g->text[i].tip == k) break;
  }
  bool own = from < LIVING_TEXTS && g->text[from].tip == k;
  uint32_t to = own ? from : oldest_text(g, from);
  if (!own && !take_rows(g, from, to, rows)) return false;
  g->text[to] = (struct living_text) @[{ k, true, ++g->clock }@];
  g->at = to, g->now = k;
  return true;
}

@ PROSE

@<Go forward, and back@>=
bool living_next(struct living *g, const uint32_t *wanted)
{
  const char *why = "given";
  uint32_t id = 0, child = 0;
  bool made = false;
  if (g->node[g->now].read.logits == NULL && !read_text(g)) return false;
  if (wanted != NULL) id = *wanted;
  else if (!choose(g, &id, &why)) return false;
  if (!child_of(g, g->now, id, why, &child, &made)) return false;
  if (!made) return seat(g, child);
  g->text[g->at] = (struct living_text) @[{ child, true, ++g->clock }@];
  g->now = child;
  return true;
}
@#
bool living_go(struct living *g, uint32_t node)
{
  if (node >= g->n) return error_say(&g->why, "there is no node %u; wanted: 0 to %zu",
    (unsigned) node, g->n - 1);
  return seat(g, node);
}

@ PROSE

@<Go forward, and back@>=
static void forget_place(struct living *g, uint32_t k)
{
  for (uint32_t i = 0; i < LIVING_TEXTS; i++)
    if (i != g->at && g->text[i].taken && g->text[i].tip == k) {
      store_crop(g->s, i, 0);
      g->text[i].taken = false;
    }
  forget(g, &g->node[k].read);
  g->n--;
}
@#
bool living_drop(struct living *g)
{
  uint32_t k = g->now, p = g->node[k].parent;
  if (k == 0) return error_say(&g->why, "nothing has been written that could be dropped");
  if (k + 1 == g->n && !has_children(g, k)) forget_place(g, k);
  bool unread = !has_children(g, p);
  size_t rows = g->node[p].n - unread, there = store_length(g->s, g->at);
  if (unread) forget(g, &g->node[p].read);
  if (unread && p == 0) rows = 0;
  if (!take_rows(g, g->at, g->at, rows < there ? rows : there)) return false;
  g->text[g->at] = (struct living_text) @[{ p, true, ++g->clock }@];
  g->now = p;
  return true;
}
