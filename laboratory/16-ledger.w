@i types.w
@s kernels int
@s store int
@s bench int
@s sampler int

\chapterquestion{Many sentences of the tutorials have no number in them. What can a program count to decide them?}
@** Witnesses for the ledger. \label{lab:witnesses}
\incipit{``T}{he keys and values} for earlier positions do not change'' is a sentence without a number, and the most important one of all. A test can decide it: change what comes later, and count the rows that are still the same, bit for bit. So it has two numbers after all, how many cases were tried and in how many of them the sentence held.
This program tries such cases, all of them with the built-in model, and prints both numbers; the ledger of \cref{ledger} compares them. The suites of the tests try the same properties on many random shapes. They stop at the first failure and print nothing; here we want to see the count.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "laboratory/kit2.h"
#include "functions/numbers.h"
@;@#
@<Write down what a pass computes@>@;
@<Change what comes later@>@;
@<Take the mask away@>@;
@<Leave a query out@>@;
@<Look at attention weights@>@;
@<Write twice, and in several ways@>@;
@<End in several ways@>@;
@<Read in several ways@>@;
@<Look at logits and hidden states@>@;
@<Count rows in every layer@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_later },@|
    { "values", print_unmasked }, { "values", print_queries },@|
    { "values", print_weights }, { "values", print_writing },@|
    { "values", print_endings }, { "values", print_reading },@|
    { "values", print_rows }, { "values", print_layers }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* What a pass computes. \label{lab:witnesscausal}
A watcher copies the keys, the values and the residual stream of every row in every layer. All texts of this program are the beginning of a tale, |WORDS| tokens long.

@<Write down what a pass computes@>=
enum { WORDS = 40 };
struct notes { struct fixture *lab;@+ uint32_t id[WORDS];@+ float *kept;
  size_t kv, d, layers;@+ int silent;@+ bool mute_last; };
  /* |kept| is [layers][|WORDS|][2 kv + d]; the attention of row |silent| is struck
     out in the first layer, or in the last, none if it is negative */
static float *note_at(const struct notes *t, size_t layer, size_t row)
{
  return t->kept + (layer * WORDS + row) * (2 * t->kv + t->d);
}
static void write_down(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct notes *t = ctx;
  size_t at = point == TAP_KEY ? 0 : 2 * t->kv;
  size_t muted = t->mute_last ? t->layers - 1 : 0;
  if (point == TAP_MIXED && t->silent >= 0 && layer == muted)
    memset(x + (size_t) t->silent * width, 0, width * sizeof *x);
  if (point != TAP_KEY && point != TAP_VALUE && point != TAP_LAYER) return;
  if (point == TAP_VALUE) at = t->kv;
  for (size_t r = 0; r < rows; r++)
    memcpy(note_at(t, layer, r) + at, x + r * width, width * sizeof *x);
}

@ Notes are taken of one pass over the first |n| tokens, in a store of its own.

@<Write down what a pass computes@>=
static bool notes_open(struct notes *t, struct fixture *lab, struct error *why)
{
  struct ids tale = @[{ .n = 0 }@];
  const struct model_config *c = &lab->model->config;
  *t = (struct notes) @[{ .lab = lab, .kv = c->n_kv_heads * c->head_dim,
    .d = c->d_model, .layers = c->n_layers, .silent = -1 }@];
  if (!lab_tale(lab, &tale, why)) return false;
  if (tale.n < WORDS) return error_say(why, "the tale is too short");
  memcpy(t->id, tale.id, sizeof t->id);
  t->kept = lab_take(lab, t->layers * WORDS * (2 * t->kv + t->d), sizeof (float),@|
    why);
  return t->kept != NULL;
}
static bool notes_take(struct notes *t, struct engine *e, size_t n,
  struct error *why)
{
  struct row rows[WORDS];
  struct watcher w = @[{ .tap = write_down, .ctx = t }@];
  struct pass *p = NULL;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, t->id[i] }@];
  store_clear(t->lab->b.s);
  bool ok = model_forward_watched(e, t->lab->model, t->lab->b.s, rows, n, &w, &p,
    why);
  pass_close(p);
  return ok;
}
static bool same_row(const struct notes *a, const struct notes *b, size_t layer,
  size_t row, bool keys)
{
  size_t n = keys ? 2 * a->kv : 2 * a->kv + a->d;
  return memcmp(note_at(a, layer, row), note_at(b, layer, row), n * sizeof (float))
    == 0;
}

@ The tale is cut at every place in turn. What comes after the cut is replaced by other tokens, and for each row before the cut, in each layer, its key, its value and its residual stream are compared with what they were, to the last bit. Rows from the cut on must differ in the last layer, all of them: they have another token, or have seen one.

@<Change what comes later@>=
static bool print_later(struct fixture *lab, struct error *why)
{
  struct notes a, b;
  uint64_t seed = 16;
  size_t same = 0, of = 0, changed = 0, after = 0;
  if (!notes_open(&a, lab, why) || !notes_open(&b, lab, why)
      || !notes_take(&a, &lab->e, WORDS, why)) return false;
  for (size_t cut = 1; cut < WORDS; cut++) {
    memcpy(b.id, a.id, sizeof b.id);
    for (size_t i = cut; i < WORDS; i++)
      b.id[i] = (uint32_t) ((a.id[i] + 1 + random_bits(&seed) % 1000) % lab->vocab);
    if (!notes_take(&b, &lab->e, WORDS, why)) return false;
    for (size_t l = 0; l < a.layers; l++)
      for (size_t r = 0; r < cut; r++)
        of++, same += same_row(&a, &b, l, r, false);
    for (size_t r = cut; r < WORDS; r++)
      after++, changed += !same_row(&a, &b, a.layers - 1, r, false);
  }
  print_key("prop.later.rows", "%zu", of);
  print_key("prop.later.same", "%zu", same);
  print_key("prop.earlier.rows", "%zu", after);
  print_key("prop.earlier.changed", "%zu", changed);
  return true;
}

@ Without the mask every row sees the whole pass. The table of kernels is a copy of the best one, with another |attend|, which gives every row the last position as its own.

@<Take the mask away@>=
struct unmasked { struct kernels k;@+ const struct kernels *masked; };
static void attend_all(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  const struct unmasked *u = (const struct unmasked *) (const void *) e->k;
  struct segment all[WORDS];
  uint32_t rows = list->n_rows;
  (void) n;
  for (uint32_t i = 0; i < rows; i++) {
    all[i] = *list;
    all[i].first_row = i, all[i].n_rows = 1;
    all[i].first_position = rows - 1;
  }
  u->masked->attend(e, h, q, all, rows, scratch, y, probe);
}

@ The last token is exchanged, and the rows before it are compared: their keys and values in the first layer, which come from the embeddings alone, and in all deeper layers. Then the first token is exchanged: does the last row need to know it, mask or not?

@<Take the mask away@>=
static bool print_unmasked(struct fixture *lab, struct error *why)
{
  struct notes a, b;
  struct unmasked u = @[{ *lab->e.k, lab->e.k }@];
  struct engine e = lab->e;
  size_t first = 0, deeper = 0, needs = 0;
  u.k.attend = attend_all;
  e.k = &u.k;
  if (!notes_open(&a, lab, why) || !notes_open(&b, lab, why)
      || !notes_take(&a, &e, WORDS, why)) return false;
  b.id[WORDS - 1] = (b.id[WORDS - 1] + 1) % (uint32_t) lab->vocab;
  if (!notes_take(&b, &e, WORDS, why)) return false;
  for (size_t r = 0; r + 1 < WORDS; r++) {
    first += same_row(&a, &b, 0, r, true);
    for (size_t l = 1; l < a.layers; l++) deeper += !same_row(&a, &b, l, r, true);
  }
  b.id[WORDS - 1] = a.id[WORDS - 1];
  b.id[0] = (b.id[0] + 1) % (uint32_t) lab->vocab;
  if (!notes_take(&b, &e, WORDS, why)) return false;
  for (size_t r = 1; r < WORDS; r++)
    needs += !same_row(&a, &b, a.layers - 1, r, false);
  print_key("prop.unmasked.first.same", "%zu", first);
  print_key("prop.unmasked.first.of", "%d", WORDS - 1);
  print_key("prop.unmasked.deeper.changed", "%zu", deeper);
  print_key("prop.unmasked.deeper.of", "%zu", (WORDS - 1) * (a.layers - 1));
  print_key("prop.unmasked.needs", "%zu", needs);
  return true;
}

@ Which queries does the last row need? The attention of one earlier row is struck out, in the first layer, and the key of that row in the second is compared; then in the last layer, where only the row itself can change, and the residual stream of the last row is compared.

@<Leave a query out@>=
static bool print_queries(struct fixture *lab, struct error *why)
{
  struct notes a, b;
  size_t missed = 0, harmless = 0;
  if (!notes_open(&a, lab, why) || !notes_open(&b, lab, why)
      || !notes_take(&a, &lab->e, WORDS, why)) return false;
  for (int left_out = 0; left_out + 1 < WORDS; left_out++) {
    b.silent = left_out, b.mute_last = false;
    if (!notes_take(&b, &lab->e, WORDS, why)) return false;
    missed += !same_row(&a, &b, 1, (size_t) left_out, true);
    b.mute_last = true;
    if (!notes_take(&b, &lab->e, WORDS, why)) return false;
    harmless += same_row(&a, &b, a.layers - 1, WORDS - 1, false);
  }
  print_key("prop.query.of", "%d", WORDS - 1);
  print_key("prop.query.missed", "%zu", missed);
  print_key("prop.query.harmless", "%zu", harmless);
  return true;
}

@* Attention weights. \label{lab:witnessweights}
For every row, layer and head: are the weights of the positions that it sees between 0 and 1, and is their sum 1 but for rounding? Are those of later positions exactly 0? And is the pattern another one than in the row before, over the positions that both of them see?

@<Look at attention weights@>=
struct gaze { size_t heads, proper, summed, none_later, different;
  float before[4096];@+ size_t rows; };
static void look_at(void *ctx, enum tap_point point, uint32_t layer, float *x,
  size_t rows, size_t width)
{
  struct gaze *g = ctx;
  size_t n = width / g->heads;
  (void) layer;
  if (point != TAP_WEIGHTS) return;
  for (size_t r = 0; r < rows; r++)
    for (size_t h = 0; h < g->heads; h++) {
      const float *p = x + r * width + h * n, *before = p - width;
      double sum = 0;
      bool inside = true, later = false;
      for (size_t k = 0; k <= r; k++)
        sum += (double) p[k], inside = inside && p[k] >= 0 && p[k] <= 1;
      for (size_t k = r + 1; k < rows && k < n; k++) later = later || p[k] != 0;
      g->rows++;
      g->proper += inside;
      g->summed += fabs(sum - 1) < 1e-6;
      g->none_later += !later;
      g->different += r > 0 && memcmp(p, before, r * sizeof *p) != 0;
    }
}
static bool print_weights(struct fixture *lab, struct error *why)
{
  static struct gaze g;
  struct notes a;
  struct row rows[WORDS];
  struct pass *p = NULL;
  struct watcher w = @[{ .tap = look_at, .ctx = &g, .weights = true }@];
  g.heads = lab->model->config.n_heads;
  if (!notes_open(&a, lab, why)) return false;
  for (size_t i = 0; i < WORDS; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, a.id[i] }@];
  store_clear(lab->b.s);
  bool ok = model_forward_watched(&lab->e, lab->model, lab->b.s, rows, WORDS, &w,
    &p, why);
  pass_close(p);
  if (!ok) return false;
  print_key("prop.weights.rows", "%zu", g.rows);
  print_key("prop.weights.proper", "%zu", g.proper);
  print_key("prop.weights.summed", "%zu", g.summed);
  print_key("prop.weights.none.later", "%zu", g.none_later);
  print_key("prop.weights.different", "%zu", g.different);
  print_key("prop.weights.different.of", "%zu",@|
    g.rows - g.heads * a.layers);
  return true;
}

@* Writing. \label{lab:witnesswriting}
The same |WRITTEN| tokens are written again and again after ten tokens of the tale: twice in the same way, with the cache and without, and by three settings that all mean ``take the likeliest''. Each time we count the tokens that are the same.

@<Write twice, and in several ways@>=
enum { GIVEN = 10, WRITTEN = 40 };
struct way { struct fixture *lab;@+ step_recall *recall;@+ step_select *select;
  void *ctx;@+ uint32_t id[WRITTEN];@+ bool divert; };
static bool note_token(void *ctx, const struct step *now)
{
  struct way *y = ctx;
  if (now->number <= WRITTEN) y->id[now->number - 1] = now->chosen;
  return true;
}
static bool write_way(struct way *y, const uint32_t *prompt, struct error *why)
{
  struct generate_options want = @[{ .max_new_tokens = WRITTEN,
    .on_step = note_token, .ctx = y, .recall = y->recall, .select = y->select,@|
    .select_ctx = y->ctx }@];
  store_clear(y->lab->b.s);
  return bench_write(&y->lab->b, prompt, GIVEN, &want, why);
}
static size_t same_tokens(const struct way *a, const struct way *b)
{
  size_t n = 0;
  for (size_t i = 0; i < WRITTEN; i++) n += a->id[i] == b->id[i];
  return n;
}

@ One more way takes the likeliest token everywhere but in its first step, where it takes the second: how many of the tokens after that are still the same?

@<Write twice, and in several ways@>=
static bool second_first(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct fixture *lab = ctx;
  size_t best = best_token(logits, lab->vocab), second = best == 0;
  (void) why;
  *chosen = (uint32_t) best;
  if (text->text.n > text->n_prompt) return true;
  for (size_t i = 0; i < lab->vocab; i++)
    if (i != best && logits[i] > logits[second]) second = i;
  *chosen = (uint32_t) second;
  return true;
}

@ Each token must also be the likeliest after its prefix, when the whole prefix is read once more from nothing; that is a step that has the model's own output as its input.

@<Write twice, and in several ways@>=
static bool count_likeliest(struct way *y, const uint32_t *prompt, size_t *n,
  struct error *why)
{
  uint32_t id[GIVEN + WRITTEN];
  memcpy(id, prompt, GIVEN * sizeof *id);
  memcpy(id + GIVEN, y->id, sizeof y->id);
  *n = 0;
  for (size_t i = 0; i < WRITTEN; i++) {
    if (!lab_logits(y->lab, y->lab->b.s, id, GIVEN + i, 1, y->lab->logits, why))
      return false;
    *n += best_token(y->lab->logits, y->lab->vocab) == y->id[i];
  }
  return true;
}
static bool print_writing(struct fixture *lab, struct error *why)
{
  struct notes a;
  struct way plain = @[{ .lab = lab, .recall = store_match_prefix }@], other = plain;
  size_t n;
  if (!notes_open(&a, lab, why) || !write_way(&plain, a.id, why)
      || !write_way(&other, a.id, why)) return false;
  print_key("prop.written", "%d", WRITTEN);
  print_key("prop.greedy.same", "%zu", same_tokens(&plain, &other));
  other.recall = NULL;
  if (!write_way(&other, a.id, why)) return false;
  print_key("prop.naive.same", "%zu", same_tokens(&plain, &other));
  if (!count_likeliest(&plain, a.id, &n, why)) return false;
  print_key("prop.argmax.same", "%zu", n);
  other = plain;
  other.select = second_first, other.ctx = lab;
  if (!write_way(&other, a.id, why)) return false;
  print_key("prop.cascade.same", "%zu", same_tokens(&plain, &other));
  other.select = sampler_choose, other.ctx = &lab->dice;
  lab->dice.s = sampling_default(), lab->dice.s.temperature = 0;
  if (!write_way(&other, a.id, why)) return false;
  print_key("prop.cold.same", "%zu", same_tokens(&plain, &other));
  lab->dice.s = sampling_default(), lab->dice.s.top_k = 1;
  if (!write_way(&other, a.id, why)) return false;
  print_key("prop.one.same", "%zu", same_tokens(&plain, &other));
  return true;
}

@ Endings. A text is written three times: once with an end token that is known to come, once with a length, and once with a reader who loses patience in step 5.

@<End in several ways@>=
static bool impatient(void *ctx, const struct step *now)
{
  (void) ctx;
  return now->number < 5;
}
static bool ended(struct fixture *lab, const uint32_t *prompt,
  const struct generate_options *want, struct continuation *c, struct error *why)
{
  store_clear(lab->b.s);
  return generate(&lab->b.g, prompt, GIVEN, want, c, why);
}
static bool print_endings(struct fixture *lab, struct error *why)
{
  struct notes a;
  struct way plain = @[{ .lab = lab, .recall = store_match_prefix }@];
  struct continuation c;
  size_t reasons = 0, written;
  if (!notes_open(&a, lab, why) || !write_way(&plain, a.id, why)) return false;
  uint32_t end = plain.id[7];
  struct generate_options want = @[{ .max_new_tokens = WRITTEN,
    .recall = store_match_prefix, .eos = &end, .n_eos = 1 }@];
  if (!ended(lab, a.id, &want, &c, why)) return false;
  reasons += c.ended == FINISH_STOP;
  print_key("prop.end.is.last", "%d",@|
    c.text.n > GIVEN && c.text.id[c.text.n - 1] == end);
  continuation_free(&lab->m, &c);
  want.n_eos = 0, want.max_new_tokens = 7;
  if (!ended(lab, a.id, &want, &c, why)) return false;
  reasons += c.ended == FINISH_LENGTH;
  written = c.text.n - GIVEN;
  continuation_free(&lab->m, &c);
  want.max_new_tokens = WRITTEN, want.on_step = impatient;
  if (!ended(lab, a.id, &want, &c, why)) return false;
  reasons += c.ended == FINISH_CANCELLED;
  continuation_free(&lab->m, &c);
  print_key("prop.end.asked", "%d", 7);
  print_key("prop.end.written", "%zu", written);
  print_key("prop.end.reasons", "%zu", reasons);
  return true;
}

@* Reading. \label{lab:witnessreading}
One text is read in several ways, and in each the logits of all its tokens are compared with those of one pass over the whole text: token by token; from a cache whose pages have 16 rows, and which also holds another text, so that the pages of both are mixed; and with a window of 16 positions, from a ring and from a store that keeps every row.

@<Read in several ways@>=
static bool read_steps(struct bench *b, const struct notes *a, uint32_t sequence,
  float *z, struct error *why)
{
  size_t vocab = b->g.lm->config.vocab_size;
  for (size_t i = 0; i < WORDS; i++) {
    struct row r = { sequence, (uint32_t) i, a->id[i] };
    struct pass *p;
    size_t which = 0;
    if (!model_forward(&b->e, b->g.lm, b->s, &r, 1, &p, why)) return false;
    bool ok = model_logits(&b->e, b->g.lm, p, &which, 1, z + i * vocab, why);
    pass_close(p);
    if (!ok) return false;
  }
  return true;
}
static size_t equal_rows(const float *a, const float *b, size_t vocab)
{
  size_t n = 0;
  for (size_t i = 0; i < WORDS; i++)
    n += memcmp(a + i * vocab, b + i * vocab, vocab * sizeof *a) == 0;
  return n;
}

@ Two texts in one cache: their tokens are read in turn, so their pages alternate. What a cache wastes is at most one page less a row for each text.

@<Read in several ways@>=
static bool print_pages(struct fixture *lab, const struct notes *a,
  const float *whole, float *z, struct error *why)
{
  struct bench b;
  struct cache_options want = @[{ .rows = 4 * WORDS, .page_rows = 16 }@];
  bool ok = bench_open(&b, lab, lab->model, 0, NULL, why);
  if (ok) {
    store_close(b.s);
    b.s = cache_open(&lab->m, &lab->model->config, 2, &want, why);
    b.g.s = b.s;
    ok = b.s != NULL;
  }
  size_t same = 0, left = 0;
  for (size_t i = 0; ok && i < WORDS; i++)
    for (uint32_t q = 0; ok && q < 2; q++) {
      struct row r = { q, (uint32_t) i, a->id[q == 0 ? i : WORDS - 1 - i] };
      struct pass *p;
      size_t which = 0;
      ok = model_forward(&b.e, lab->model, b.s, &r, 1, &p, why);
      if (!ok) break;
      if (q == 0) ok = model_logits(&b.e, lab->model, p, &which, 1,@|
        z + i * lab->vocab, why);
      pass_close(p);
    }
  if (ok) {
    struct cache_state now = cache_look(b.s);
    same = equal_rows(whole, z, lab->vocab);
    left = now.pages_used * now.page_rows - 2 * WORDS;
    print_key("prop.pages.same", "%zu", same);
    print_key("prop.pages.unused", "%zu", left);
    print_key("prop.pages.bound", "%zu", 2 * (now.page_rows - 1));
  }
  bench_close(&b);
  return ok;
}

@ A window. The ring forgets what the window has passed; the other store keeps everything and looks at the last rows only.

@<Read in several ways@>=
static bool print_window(struct fixture *lab, const struct notes *a, float *y,
  float *z, struct error *why)
{
  struct model narrow = *lab->model;
  struct bench ring, all = @[{ .m = NULL }@];
  struct cache_options want = @[{ .page_rows = 16, .pass = 1, .set_window = true,@|
    .window = 16 }@];
  bool ok = config_set_window(&narrow.config, 16, 0, why)
    && bench_open(&ring, lab, &narrow, 0, &want, why);
  if (!ok) return false;
  ok = read_steps(&ring, a, 0, y, why) && bench_open(&all, lab, &narrow, 0, NULL,@|
    why) && read_steps(&all, a, 0, z, why);
  if (ok) {
    struct cache_state now = cache_look(ring.s);
    print_key("prop.window.same", "%zu", equal_rows(y, z, lab->vocab));
    print_key("prop.window.rows", "%zu", now.pages_used * now.page_rows);
  }
  bench_close(&ring);
  bench_close(&all);
  return ok;
}
static bool print_reading(struct fixture *lab, struct error *why)
{
  struct notes a;
  struct bench b;
  size_t n = WORDS * lab->vocab;
  float *whole = lab_take(lab, n, sizeof *whole, why);
  float *y = lab_take(lab, n, sizeof *y, why), *z = lab_take(lab, n, sizeof *z, why);
  if (whole == NULL || y == NULL || z == NULL || !notes_open(&a, lab, why)
      || !lab_logits(lab, lab->b.s, a.id, WORDS, WORDS, whole, why)) return false;
  print_key("prop.read.rows", "%d", WORDS);
  bool ok = bench_open(&b, lab, lab->model, 0, NULL, why)
    && read_steps(&b, &a, 0, z, why);
  if (ok) print_key("prop.steps.same", "%zu", equal_rows(whole, z, lab->vocab));
  bench_close(&b);
  return ok && print_pages(lab, &a, whole, z, why)
    && print_window(lab, &a, y, z, why);
}

@* Logits. \label{lab:witnesslogits}
In the |WORDS| rows of the text: has every token a logit? Are all the exponentials of the softmax positive, and do the probabilities sum to 1? Is the token with the highest score also the one whose row of the head points most nearly in the direction of the hidden state? And how many rows does the head read in a step?

@<Look at logits and hidden states@>=
static bool head_norms(struct fixture *lab, double *norm, struct error *why)
{
  const struct model *lm = lab->model;
  size_t d = lm->config.d_model;
  float *w = lab_take(lab, d, sizeof *w, why);
  if (w == NULL) return false;
  for (uint32_t i = 0; i < lab->vocab; i++) {
    double sum = 0;
    lab->e.k->embed(&lab->e, lm->head.weight, d, &i, 1, w);
    for (size_t k = 0; k < d; k++) sum += (double) w[k] * (double) w[k];
    norm[i] = sqrt(sum);
  }
  return true;
}

@ The score of a token is the product of two lengths and a cosine. The length of the hidden state is the same for all tokens of a row, so the score divided by the length of the token's row of the head orders them by their cosines.

@<Look at logits and hidden states@>=
struct scores { size_t finite, positive, exponentials, summed, similar; };
static void look_at_row(struct fixture *lab, const float *z, const double *norm,
  struct scores *s)
{
  size_t most = 0, best = best_token(z, lab->vocab);
  double sum = 0, top = (double) z[best];
  lab->e.k->softmax(&lab->e, z, 1, lab->vocab, lab->logprob);
  for (size_t i = 0; i < lab->vocab; i++) {
    s->finite += isfinite(z[i]) != 0;
    s->exponentials++, s->positive += num_exp((double) z[i] - top) > 0;
    sum += lab->logprob[i];
    if ((double) z[i] / norm[i] > (double) z[most] / norm[most]) most = i;
  }
  s->summed += fabs(sum - 1) < 1e-12;
  s->similar += most == best;
}
static bool print_rows(struct fixture *lab, struct error *why)
{
  struct notes a;
  struct scores s = @[{ .finite = 0 }@];
  size_t v = lab->vocab;
  float *z = lab_take(lab, WORDS * v, sizeof *z, why);
  double *norm = lab_take(lab, v, sizeof *norm, why);
  if (z == NULL || norm == NULL || !notes_open(&a, lab, why)
      || !head_norms(lab, norm, why)
      || !lab_logits(lab, lab->b.s, a.id, WORDS, WORDS, z, why)) return false;
  for (size_t i = 0; i < WORDS; i++) look_at_row(lab, z + i * v, norm, &s);
  print_key("prop.logits.vocab", "%zu", v);
  print_key("prop.logits.each", "%zu", s.finite / WORDS);
  print_key("prop.logits.rows", "%d", WORDS);
  print_key("prop.exp.of", "%zu", s.exponentials);
  print_key("prop.exp.positive", "%zu", s.positive);
  print_key("prop.logits.summed", "%zu", s.summed);
  print_key("prop.cosine.same", "%zu", s.similar);
  return true;
}

@* Every layer, every head. \label{lab:witnesslayers}
Three tokens given and four written, with the cache and without. Bytes of keys and values are counted over all layers and heads; so their quotient shows what becomes of a factor when all layers and heads are counted in. The head of the model, which makes the logits, is counted as well: it runs for one row a step, however many rows the step has read. Last, the settings: how large is a nucleus of \given{0.9}, if four tokens have \given{0.5}, \given{0.4}, \given{0.06} and \given{0.04}, and if ten tokens are equally likely?

@<Count rows in every layer@>=
static bool count_bytes(struct fixture *lab, bool keep, struct counters *c,
  struct error *why)
{
  struct generate_options want = @[{ .recall = keep ? store_match_prefix : NULL }@];
  lab_reset(lab);
  store_clear(lab->b.s);
  bool ok = bench_recite(&lab->b, lab, 3, 4, &want, why);
  *c = lab->c;
  return ok;
}
static size_t nucleus_of(struct fixture *lab, const double *share, size_t n)
{
  struct sampling_params s = sampling_default();
  struct history none = @[{ NULL, 0, 0 }@];
  s.top_p = 0.9;
  for (size_t i = 0; i < lab->vocab; i++)
    lab->logits[i] = i < n ? (float) num_log(share[i]) : -INFINITY;
  return sampling_run(&lab->dice.f, &s, lab->logits, none, NULL)
    ? lab->dice.f.n : 0;
}
static bool print_step(struct fixture *lab, uint64_t row, struct error *why)
{
  struct notes a;
  size_t last = 0;
  struct pass *p;
  if (!notes_open(&a, lab, why) || !notes_take(&a, &lab->e, WORDS - 1, why))
    return false;
  struct row r = { 0, WORDS - 1, a.id[WORDS - 1] };
  lab_reset(lab);
  if (!model_forward(&lab->e, lab->model, lab->b.s, &r, 1, &p, why)) return false;
  bool ok = model_logits(&lab->e, lab->model, p, &last, 1, lab->logits, why);
  pass_close(p);
  print_key("prop.step.weights", "%" PRIu64, lab->c.weight_bytes_read);
  print_key("prop.step.cache.rows", "%" PRIu64, lab->c.cache_bytes_read / row);
  return ok;
}

@ A single step after the rest of the text: which bytes of weights does it read, and how many rows of the cache? All keys of this section follow.

@<Count rows in every layer@>=
static bool print_layers(struct fixture *lab, struct error *why)
{
  static const double peaked[] = @[{ 0.5, 0.4, 0.06, 0.04 }@];
  double flat[10];
  struct counters naive, kept;
  const struct model_config *c = &lab->model->config;
  if (!count_bytes(lab, false, &naive, why) || !count_bytes(lab, true, &kept, why))
    return false;
  uint64_t row = (uint64_t) c->n_layers * c->n_kv_heads * c->head_dim * 2 * 4;
  for (int i = 0; i < 10; i++) flat[i] = 0.1;
  print_key("prop.layers", "%u", c->n_layers);
  print_key("prop.bytes.naive", "%" PRIu64, naive.cache_bytes_written);
  print_key("prop.bytes.kept", "%" PRIu64, kept.cache_bytes_written);
  print_key("prop.bytes.row", "%" PRIu64, row);
  print_key("prop.rows.naive", "%" PRIu64, naive.kv_rows_computed);
  print_key("prop.rows.kept", "%" PRIu64, kept.kv_rows_computed);
  print_key("prop.head.rows", "%" PRIu64, naive.madds_head@|
    / (naive.passes * lab->vocab * c->d_model));
  if (!print_step(lab, row, why)) return false;
  print_key("prop.nucleus.peaked", "%zu", nucleus_of(lab, peaked, 4));
  print_key("prop.nucleus.flat", "%zu", nucleus_of(lab, flat, 10));
  return true;
}
