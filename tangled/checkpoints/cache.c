/* the program -- made from chapters/04-cache.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ground/timing.h"
#include "loop/laboratory.h"
#include "loop/loop.h"
#include "cache/cache.h"

/* <Run the loop, and note what each step has done> */
enum { STEPS = 1024 };

/* of each step; logits: [steps][vocab], or null; behind step turn the wish to keep is
   turned round */
struct course { uint64_t rows[STEPS], pairs[STEPS]; size_t stored[STEPS], steps;
  struct counters all; float *logits; size_t vocab; struct store *s;
  struct settings want; size_t turn; };
static bool note_step(void *self, const struct step *now)
{
  struct course *c = self;
  size_t i = c->steps++;
  c->rows[i] = now->after.rows - now->before.rows;
  c->pairs[i] = now->after.qk_pairs - now->before.qk_pairs;
  c->stored[i] = store_length(c->s, 0);
  if (c->logits != NULL) memcpy(c->logits + i * c->vocab, now->logits,
    c->vocab * sizeof *now->logits);
  if (now->number == c->turn) c->want.recall =
    c->want.recall == NULL ? store_keep : NULL;
  return true;
}

struct trial { bool real, keep; size_t p, g, turn; };
static bool write_out(struct laboratory *lab, const struct trial *t,
  struct course *c, struct error *why)
{
  uint32_t prompt[CONTEXT];
  for (size_t i = 0; i < t->p; i++)
    prompt[i] = t->real ? lab->sentence[i % WORDS] : (uint32_t) (i % WORDS);
  struct engine e = lab->e;
  if (!t->real) e.k = &lab->idle;
  struct generator maker = { &e, t->real ? lab->pocket : &lab->bird.lm,
    c->s, &lab->m };
  c->want = (struct settings) { .max_new_tokens = t->g, .see = note_step,
    .self = c, .recall = t->keep ? store_keep : NULL };
  struct continuation text;
  bool ok = generate(&maker, prompt, t->p, &c->want, &text, why);
  for (size_t i = t->p; ok && i < text.text.n && (!t->real || i < WORDS); i++)
    ok = text.text.id[i] == (t->real ? lab->sentence[i] : i % WORDS)
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(&lab->m, &text);
  return ok;
}

static bool run(struct laboratory *lab, const struct trial *t,
  struct course *c, struct error *why)
{
  static const struct cache_wishes wishes = { .rows = CONTEXT };
  const struct model *lm = t->real ? lab->pocket : &lab->bird.lm;
  c->s = cache_open(&lab->m, &lm->config, 1, &wishes, why);
  if (c->s == NULL) return false;
  lab->c = (struct counters) { .passes = 0 };
  c->steps = 0, c->turn = t->turn, c->vocab = lm->config.vocab_size;
  bool ok = write_out(lab, t, c, why);
  c->all = lab->c;
  size_t rows = store_length(c->s, 0);
  store_close(c->s);
  return ok && (rows == t->p + t->g - 1 || error_say(why,
    "%zu rows are stored, not %zu", rows, t->p + t->g - 1));
}

/* <Write the text twice, and compare> */
static bool write_twice(struct laboratory *lab, size_t p, size_t g,
  struct course two[2], size_t *differ, struct error *why)
{
  size_t n = g * lab->pocket->config.vocab_size;
  bool ok = true;
  for (int keep = 0; keep < 2; keep++)
    two[keep].logits = memory_take(&lab->m, FOR_ACTIVATIONS, n, sizeof (float),
      why);
  for (int keep = 0; ok && keep < 2; keep++)
    ok = two[keep].logits != NULL && run(lab, &(struct trial) { true, keep, p,
      g, 0 }, &two[keep], why);
  *differ = 0;
  for (size_t i = 0; ok && i < n; i++)
    *differ += memcmp(&two[0].logits[i], &two[1].logits[i],
      sizeof (float)) != 0;
  for (int keep = 0; keep < 2; keep++)
    memory_give(&lab->m, FOR_ACTIVATIONS, two[keep].logits,
      two[keep].logits == NULL ? 0 : n, sizeof (float));
  return ok;
}

static bool print_twice(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  size_t differ;
  if (!write_twice(lab, 3, 4, two, &differ, why)) return false;
  printf("       forgetting        remembering\n"
    "step   rows  pairs       rows  pairs  stored\n");
  for (size_t i = 0; i < 4; i++)
    printf("%3zu %7u %6u  %9u %6u %7zu\n", i + 1,
      (unsigned) two[0].rows[i], (unsigned) two[0].pairs[i],
      (unsigned) two[1].rows[i], (unsigned) two[1].pairs[i],
      two[1].stored[i]);
  printf("all %7u %6u  %9u %6u\n", (unsigned) two[0].all.rows,
    (unsigned) two[0].all.qk_pairs, (unsigned) two[1].all.rows,
    (unsigned) two[1].all.qk_pairs);
  printf("%zu of %zu logits differ\n", differ,
    4 * (size_t) lab->pocket->config.vocab_size);
  return true;
}

/* <Show what a step adds to the cache> */
static bool feed(struct laboratory *lab, struct store *s, uint32_t sequence,
  size_t n, struct error *why)
{
  struct row row[64];
  struct pass *p;
  size_t at = store_length(s, sequence);
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) { sequence, (uint32_t) (at + i),
      lab->sentence[(at + i) % WORDS] };
  if (!forward(&lab->e, lab->pocket, s, row, n, &p, why)) return false;
  pass_close(p);
  return true;
}

static void print_shape(const struct laboratory *lab, const struct store *s)
{
  const struct model_config *c = &lab->pocket->config;
  printf("keys and values: [%u][1][%u][%zu][%u], %" PRIu64 " rows in\n",
    c->n_layers, c->n_kv_heads, store_length(s, 0), c->head_dim,
    lab->c.rows);
}

static bool print_step(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  bool ok = s != NULL;
  for (size_t n = 10; ok && n > 0; n = n == 10) {
    lab->c = (struct counters) { .passes = 0 };
    ok = feed(lab, s, 0, n, why);
    if (ok) print_shape(lab, s);
  }
  store_close(s);
  return ok;
}

/* <Let rows overlook themselves> */
static void late_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  const struct kernels *true_ones = kernels_find(NULL, NULL);
  struct view shorter = *seen;
  if (shorter.hi - shorter.lo > 1) shorter.hi--;
  true_ones->attend(e, h, q, rows == 1 ? &shorter : seen, rows, room, y, keep);
}

static bool read_fourth(struct laboratory *lab, bool late, float *logits,
  struct error *why)
{
  struct kernels k = *lab->e.k;
  struct engine e = lab->e;
  struct row row = { 0, 3, lab->sentence[3] };
  struct pass *p = NULL;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  if (late) k.attend = late_attend, e.k = &k;
  bool ok = s != NULL && feed(lab, s, 0, 3, why)
    && forward(&e, lab->pocket, s, &row, 1, &p, why)
    && head(&e, lab->pocket, p, &(size_t) { 0 }, 1, logits, why);
  pass_close(p);
  store_close(s);
  return ok;
}

static bool print_late(struct laboratory *lab, struct error *why)
{
  size_t n = lab->pocket->config.vocab_size, differ = 0;
  double most = 0;
  float *z = memory_take(&lab->m, FOR_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL && read_fourth(lab, false, z, why)
    && read_fourth(lab, true, z + n, why);
  double low = INFINITY, high = -INFINITY, sum[2] = { 0, 0 };
  for (size_t i = 0; ok && i < n; i++) {
    double off = fabs((double) z[i] - (double) z[n + i]), right = (double) z[i];
    differ += off != 0, most = off > most ? off : most;
    low = fmin(low, right), high = fmax(high, right);
    for (int k = 0; k < 2; k++) sum[k] += exp((double) z[(size_t) k * n + i]);
  }
  if (ok) {
    printf("cache.late.differ %zu\ncache.late.of %zu\n", differ, n);
    printf("cache.late.most %.6f\n", most);
    printf("claim.S1-13 %.6f\nclaim.S3-10 %.6f\n", most, most);
    printf("cache.late.low %.4f\ncache.late.high %.4f\n", low, high);
    for (int k = 0; k < 2; k++) printf("cache.late.%s %.6f\n",
      k == 0 ? "right" : "wrong",
      exp((double) z[(size_t) k * n + lab->sentence[4]]) / sum[k]);
  }
  memory_give(&lab->m, FOR_ACTIVATIONS, z, z == NULL ? 0 : 2 * n, sizeof *z);
  return ok;
}

static bool write_fifty(struct laboratory *lab, bool late,
  struct continuation *text, struct error *why)
{
  struct kernels k = *lab->e.k;
  struct engine e = lab->e;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  if (late) k.attend = late_attend, e.k = &k;
  struct generator maker = { &e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = 50, .recall = store_keep };
  bool ok = s != NULL && generate(&maker, lab->sentence, 2, &want, text, why);
  store_close(s);
  return ok;
}

static bool print_parting(struct laboratory *lab, struct error *why)
{
  struct continuation right, wrong;
  if (!write_fifty(lab, false, &right, why)) return false;
  bool ok = write_fifty(lab, true, &wrong, why);
  size_t n = 0;
  while (ok && n < right.text.n && n < wrong.text.n
    && right.text.id[n] == wrong.text.id[n]) n++;
  if (ok) printf("cache.late.parts %zu\n", n + 1);
  continuation_free(&lab->m, &right);
  if (ok) continuation_free(&lab->m, &wrong);
  return ok;
}

/* <Show what a fork costs> */
static bool print_fork(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 2,
    &(struct cache_wishes) { .rows = 48, .page_rows = 16 }, why);
  bool ok = s != NULL && feed(lab, s, 0, 10, why)
    && cache_fork(s, 0, 1, why);
  if (ok) printf("forked:   %zu page, %zu bytes copied\n",
    cache_look(s).pages_used, cache_look(s).bytes_copied);
  for (uint32_t q = 0; ok && q < 2; q++) {
    ok = feed(lab, s, q, 1, why);
    if (ok) printf("%u goes on: %zu pages, %zu bytes copied\n", q,
      cache_look(s).pages_used, cache_look(s).bytes_copied);
  }
  if (ok && !feed(lab, s, 0, 25, why)) {
    int half = (int) strcspn(why->words, ";") + 1;
    printf("%.*s\n %s\n", half, why->words, why->words + half);
  }
  store_close(s);
  return ok;
}

/* <Print every number that the prose quotes> */

/* <Print the sums of a case, both ways> */
static bool both_ways(struct laboratory *lab, size_t p, size_t g,
  struct course two[2], struct error *why)
{
  for (int keep = 0; keep < 2; keep++) {
    two[keep].logits = NULL;
    if (!run(lab, &(struct trial) { p == 3, keep, p, g, 0 }, &two[keep],
      why)) return false;
  }
  return true;
}

static bool print_case(struct laboratory *lab, size_t p, size_t g,
  struct course two[2], struct error *why)
{
  if (!both_ways(lab, p, g, two, why)) return false;
  for (int keep = 0; keep < 2; keep++) {
    const char *naive = keep ? "" : "naive.";
    printf("cache.%srows.%zu.%zu %" PRIu64 "\n", naive, p, g,
      two[keep].all.rows);
    printf("cache.%spairs.%zu.%zu %" PRIu64 "\n", naive, p, g,
      two[keep].all.qk_pairs);
  }
  return true;
}

static void print_price(size_t p, size_t g, const struct course two[2])
{
  enum { BYTES = 2 * 12 * 12 * 64 * 2 };
  uint64_t saved = two[0].all.rows - two[1].all.rows;
  uint64_t bytes = BYTES * two[1].stored[two[1].steps - 1];
  printf("cache.saved.%zu.%zu %" PRIu64 "\ncache.price.%zu.%zu %.4f\n", p, g,
    saved, p, g, (double) bytes / (double) saved);
  if (p != 50) return;
  printf("cache.gpt2.row %d\ncache.gpt2.bytes %" PRIu64 "\n", BYTES, bytes);
  printf("claim.S2-54 %" PRIu64 "\n", bytes);
  printf("claim.S4-50 %" PRIu64 "\n", bytes);
}

/* <Print the points of the figures> */
static void print_plate(const struct store *s, size_t step, uint32_t layer,
  size_t old)
{
  struct view v;
  store_view(s, layer, 0, &v);
  for (uint32_t t = 0; t + 1 < v.hi; t++)
    for (uint32_t h = 0; h < s->config.n_kv_heads; h++) {
      const float *key = (const void *) ((const char *) v.base_k
        + h * v.head_bytes + v.page[t / v.page_rows] * v.page_bytes
        + t % v.page_rows * v.row_bytes);
      for (uint32_t c = 0; c < s->config.head_dim; c++)
        printf("%zu,%u,%u,%d,%u,%.3f\n", step, layer, t, t >= old,
          h * s->config.head_dim + c, (double) key[c]);
    }
}

static bool print_plates(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  bool ok = s != NULL;
  printf("step,layer,position,fresh,cell,key\n");
  for (size_t step = 1; ok && step <= 4; step++) {
    size_t old = store_length(s, 0);
    ok = feed(lab, s, 0, step == 1 ? 3 : 1, why);
    struct row next = { 0, (uint32_t) store_length(s, 0), 0 };
    ok = ok && store_begin(s, &next, 1, why);
    for (uint32_t i = 0; ok && i < s->config.n_layers; i++)
      print_plate(s, step, i, old);
    if (ok) store_abort(s);
  }
  store_close(s);
  return ok;
}

static bool print_growth(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  printf("g,rows,pairs,keptrows,keptpairs\n");
  for (size_t g = 1; g <= STEPS; g *= 2) {
    if (!both_ways(lab, 1, g, two, why)) return false;
    printf("%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", g,
      two[0].all.rows, two[0].all.qk_pairs, two[1].all.rows,
      two[1].all.qk_pairs);
  }
  return true;
}

/* <Print what became of the claims> */
static bool claims_of_the_steps(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  size_t differ;
  if (!write_twice(lab, 3, 4, two, &differ, why)) return false;
  static const char *const same[] = { "S0-03", "S0-51", "S1-56", "S2-98" };
  for (int i = 0; i < 4; i++) printf("claim.%s %zu\n", same[i], differ);
  const struct course *c = &two[1];
  printf("claim.S0-11 %zu\nclaim.S1-08 %zu\nclaim.S1-21 %zu\n", c->stored[0],
    c->stored[0], c->stored[2]);
  printf("claim.S1-09 %zu\nclaim.S0-50 %zu\n", c->steps, c->stored[3]);
  static const char *const one[] = { "S0-34", "S1-12", "S1-14", "S1-20",
    "S2-48", "S2-49", "S2-53", "S3-09" };
  for (int i = 0; i < 8; i++) printf("claim.%s %" PRIu64 "\n", one[i],
    i == 2 || i == 5 ? c->stored[1] - c->stored[0] : c->rows[1]);
  return true;
}

static bool claims_of_growth(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  if (!both_ways(lab, 1, 1000, two, why)) return false;
  static const char *const pairs[] = { "S0-04", "S0-54", "S0-61", "S1-22",
    "S2-03", "S2-94", "S3-12" };
  for (int i = 0; i < 7; i++) printf("claim.%s %" PRIu64 "\n", pairs[i],
    two[1].all.qk_pairs);
  printf("claim.S0-52 %" PRIu64 "\nclaim.S1-23 %" PRIu64 "\n",
    two[1].pairs[999], two[1].pairs[999]);
  printf("claim.S2-51 %.4f\n", (double) two[0].all.qk_pairs
    / (double) two[1].all.qk_pairs);
  printf("claim.S3-08 %zu\nclaim.S0-31 %zu\n", two[1].stored[498],
    two[1].stored[8]);
  printf("claim.S2-50 %" PRIu64 "\nclaim.S2-52 %zu\n", two[1].pairs[10],
    two[1].stored[10]);
  printf("claim.S0-09 %zu\n", two[1].stored[9] - 1);
  uint64_t bytes = two[1].all.cache_bytes_written;
  printf("claim.S0-33 %" PRIu64 "\n", bytes / two[1].stored[999]);
  printf("claim.S0-18 %zu\nclaim.S0-40 %zu\nclaim.S2-58 %zu\n",
    two[1].stored[999] / two[1].stored[99], two[1].stored[999]
    / two[1].stored[99], two[1].stored[999] / two[1].stored[99]);
  return true;
}

static bool print_claims(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  if (!claims_of_the_steps(lab, why) || !claims_of_growth(lab, why)
      || !both_ways(lab, 1, 100, two, why)) return false;
  printf("claim.S0-38 %.4f\n", (double) two[0].all.rows
    / (double) two[1].all.rows);
  if (!both_ways(lab, 50, 100, two, why)) return false;
  printf("claim.S4-49 %" PRIu64 "\n", two[1].all.rows);
  if (!both_ways(lab, 8, 20, two, why)) return false;
  printf("claim.S0-08 %" PRIu64 "\nclaim.S0-06 %" PRIu64 "\n",
    6 * two[1].all.rows, 6 * two[0].all.rows);
  printf("claim.S0-13 %" PRIu64 "\n", 6 * two[1].all.rows);
  return true;
}

/* <Run the demonstration> */
static bool rows_in(struct laboratory *lab, bool keep, size_t p, size_t g,
  size_t turn, struct course *c, uint64_t *rows, struct error *why)
{
  c->logits = NULL;
  if (!run(lab, &(struct trial) { false, keep, p, g, turn }, c, why))
    return false;
  *rows = c->all.rows;
  return true;
}

static bool demonstrate(struct laboratory *lab, size_t p, struct error *why)
{
  struct course c;
  uint64_t kept[2], naive[2], fed[2];
  for (size_t more = 0; more < 2; more++)
    if (!rows_in(lab, true, p, 20 + more, 0, &c, &kept[more], why)
        || !rows_in(lab, false, p, 20 + more, 0, &c, &naive[more], why)
        || !rows_in(lab, false, 1, p + 19 + more, 0, &c, &fed[more], why))
      return false;
  static const char *const name[] = { "rows", "drawn", "naive",
    "naivedrawn", "fed", "feddrawn" };
  uint64_t blocks[] = { kept[0], kept[1], naive[0], naive[1], fed[0],
    fed[1] };
  for (int i = 0; i < 6; i++) printf("demo.%zu.%s %" PRIu64 "\n", p, name[i],
    6 * blocks[i]);
  return true;
}

static bool throw_switch(struct laboratory *lab, size_t p, struct error *why)
{
  struct course c;
  uint64_t rows, sum = 0;
  size_t step = 0;
  if (!rows_in(lab, true, p, 40, 20, &c, &rows, why)) return false;
  while (step < 40 && 6 * sum <= 2400) sum += c.rows[step++];
  printf("demo.%zu.passes %zu\ndemo.%zu.passed %" PRIu64 "\n", p, step - 20, p,
    6 * sum);
  return true;
}

static bool print_demonstration(struct laboratory *lab, struct error *why)
{
  struct course c;
  uint64_t all, prompt;
  if (!rows_in(lab, true, 8, 21, 0, &c, &all, why)
      || !rows_in(lab, true, 8, 1, 0, &c, &prompt, why)) return false;
  printf("demo.written %" PRIu64 "\n", 6 * (all - prompt));
  return demonstrate(lab, 7, why) && demonstrate(lab, 8, why)
    && throw_switch(lab, 7, why) && throw_switch(lab, 8, why);
}

/* <Take the time of attention> */
enum { ROUNDS = 21, HEADS = 12, HEAD = 64, ROW = HEADS * HEAD, LONGEST = 4096 };
static const struct layout { const char *name; size_t page_rows;
  bool by_head; } layouts[] = { { "rows", 0, false },
  { "rows16", 16, false }, { "rows64", 64, false },
  { "rows256", 256, false },
  { "heads", 0, true }, { "heads16", 16, true },
  { "heads64", 64, true }, { "heads256", 256, true } };
enum { LAYOUTS = sizeof layouts / sizeof *layouts };
struct bench { float *pool, *room, q[ROW], y[ROW];
  uint32_t page[LONGEST / 16]; };

static double time_layout(const struct engine *e, struct bench *b,
  const struct layout *l, size_t n)
{
  struct heads h = { HEADS, HEADS, HEAD, 0.125f };
  size_t rows = l->page_rows > 0 ? l->page_rows : n, one = HEAD * sizeof(float);
  struct view v = { .base_k = b->pool, .base_v = b->pool + LONGEST * ROW,
    .page = l->page_rows > 0 ? b->page : NULL, .page_rows = rows,
    .page_bytes = rows * HEADS * one,
    .row_bytes = l->by_head ? one : HEADS * one,
    .head_bytes = l->by_head ? rows * one : one, .type = WEIGHT_F32,
    .hi = (uint32_t) n };
  double start = timing_seconds();
  e->k->attend(e, &h, b->q, &v, 1, b->room, b->y, NULL);
  return timing_seconds() - start;
}

static void shuffle_pages(struct bench *b, const struct layout *l, size_t n)
{
  uint64_t seed = 1;
  size_t pages = l->page_rows == 0 ? 0 : n / l->page_rows;
  for (size_t i = 0; i < pages; i++) b->page[i] = (uint32_t) i;
  for (size_t i = pages; i > 1; i--) {
    seed = seed * 48271 % 2147483647;
    uint32_t *a = &b->page[i - 1], *z = &b->page[seed % i], old = *a;
    *a = *z, *z = old;
  }
}

static void time_all(const struct engine *e, struct bench *b, size_t n)
{
  double taken[LAYOUTS][ROUNDS];
  for (int r = -1; r < ROUNDS; r++)
    for (size_t i = 0; i < LAYOUTS; i++) {
      shuffle_pages(b, &layouts[i], n);
      double seconds = time_layout(e, b, &layouts[i], n);
      if (r >= 0) taken[i][r] = seconds;
    }
  for (size_t i = 0; i < LAYOUTS; i++) {
    struct quartiles q = timing_quartiles(taken[i], ROUNDS);
    printf("%s,%zu,%.2f,%.2f,%.2f\n", layouts[i].name, n, 1e6 * q.low,
      1e6 * q.median, 1e6 * q.high);
  }
}

static bool print_layouts(struct laboratory *lab, struct error *why)
{
  struct memory *m = &lab->m;
  struct heads h = { HEADS, HEADS, HEAD, 0.125f };
  size_t room = kernels_room(&h, LONGEST);
  struct bench *b = memory_take(m, FOR_OTHER, 1, sizeof *b, why);
  if (b != NULL) b->pool = memory_take(m, FOR_CACHE, 2 * LONGEST * ROW,
    sizeof *b->pool, why);
  if (b != NULL && b->pool != NULL) b->room = memory_take(m, FOR_ACTIVATIONS,
    room, sizeof *b->room, why);
  bool ok = b != NULL && b->room != NULL;
  uint64_t seed = 1;
  for (size_t i = 0; ok && i < 2 * LONGEST * ROW; i++) {
    seed = seed * 48271 % 2147483647;
    b->pool[i] = (float) seed / 2147483647.0f - 0.5f;
    if (i < ROW) b->q[i] = b->pool[i];
  }
  if (ok) printf("layout,positions,low,median,high\n");
  for (size_t n = 256; ok && n <= LONGEST; n *= 4) time_all(&lab->e, b, n);
  /* <Give back what was measured with> */
  if (b != NULL) {
    memory_give(m, FOR_ACTIVATIONS, b->room, b->room == NULL ? 0 : room,
      sizeof *b->room);
    memory_give(m, FOR_CACHE, b->pool, b->pool == NULL ? 0
      : 2 * LONGEST * ROW, sizeof *b->pool);
  }
  memory_give(m, FOR_OTHER, b, b == NULL ? 0 : 1, sizeof *b);
  return ok;
}

/* <Read what attention took> */
static bool print_layout_keys(struct error *why)
{
  static const char *const path = "figures/data/cache.layouts.csv";
  FILE *f = fopen(path, "r");
  char line[256], name[32];
  int n = 0, positions;
  double low, median, high, last[LAYOUTS] = { 0 };
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%31[a-z0-9],%d,%lf,%lf,%lf", name, &positions, &low,
        &median, &high) == 5) {
      printf("layout.%s.%d %.4f\n", name, positions, median);
      last[n++ % LAYOUTS] = median;
    }
  fclose(f);
  printf("layout.stride %zu\n", ROW * sizeof (float));
  printf("layout.order %.4f\n", last[0] / last[4]);
  for (int i = 5; i < LAYOUTS; i++) printf("layout.cost%zu %.4f\n",
    layouts[i].page_rows, 100 * (last[i] / last[4] - 1));
  return n == 3 * LAYOUTS || error_say(why, "%s: %d times, %d wanted", path,
    n, 3 * LAYOUTS);
}

/* <Take the time of every step> */
enum { CLOCK_ROUNDS = 3, CLOCK_STEPS = 1000 };
struct stopwatch { double last, *taken; };
static bool stop_watch(void *self, const struct step *now)
{
  struct stopwatch *w = self;
  double t = timing_seconds();
  w->taken[now->number - 1] = t - w->last;
  w->last = t;
  return true;
}

static bool time_steps(struct laboratory *lab, bool keep, double *taken,
  struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .at_once = true }, why);
  if (s == NULL) return false;
  struct stopwatch w = { timing_seconds(), taken };
  struct generator maker = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = CLOCK_STEPS,
    .see = stop_watch, .self = &w, .recall = keep ? store_keep : NULL };
  struct continuation text;
  bool ok = generate(&maker, lab->sentence, 1, &want, &text, why);
  continuation_free(&lab->m, &text);
  store_close(s);
  return ok;
}

static void print_medians(const double *taken)
{
  double sum[2] = { 0, 0 }, step[2];
  printf("tokens,naive,cached,naivesum,cachedsum\n");
  for (int i = 0; i < CLOCK_STEPS; i++) {
    for (int keep = 0; keep < 2; keep++) {
      double one[CLOCK_ROUNDS];
      for (int r = 0; r < CLOCK_ROUNDS; r++)
        one[r] = taken[(2 * r + keep) * CLOCK_STEPS + i];
      step[keep] = 1e6 * timing_quartiles(one, CLOCK_ROUNDS).median;
      sum[keep] += step[keep];
    }
    if (i == 0 || i % 20 == 19 || i == 29) printf(
      "%d,%.2f,%.2f,%.0f,%.0f\n", i + 1, step[0], step[1], sum[0], sum[1]);
  }
}

static bool print_clock(struct laboratory *lab, struct error *why)
{
  enum { ALL = 2 * CLOCK_STEPS * CLOCK_ROUNDS };
  double *taken = memory_take(&lab->m, FOR_OTHER, ALL, sizeof *taken, why);
  bool ok = taken != NULL;
  for (int r = 0; ok && r < 2 * CLOCK_ROUNDS; r++)
    ok = time_steps(lab, r % 2 == 1, taken + r * CLOCK_STEPS, why);
  if (ok) print_medians(taken);
  memory_give(&lab->m, FOR_OTHER, taken, taken == NULL ? 0 : ALL,
    sizeof *taken);
  return ok;
}

/* <Read what the clock said> */
struct tick { double n, naive, cached, naive_sum, cached_sum; };
enum { TICKS = 64 };
static int read_ticks(struct tick *t, struct error *why)
{
  static const char *const path = "figures/data/cache.clock.csv";
  FILE *f = fopen(path, "r");
  char line[256];
  int n = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (n < TICKS && fgets(line, sizeof line, f) != NULL)
    n += sscanf(line, "%lf,%lf,%lf,%lf,%lf", &t[n].n, &t[n].naive,
      &t[n].cached, &t[n].naive_sum, &t[n].cached_sum) == 5;
  fclose(f);
  if (n < 10) error_say(why, "%s: %d lines of times, 10 wanted", path, n);
  return n < 10 ? 0 : n;
}

static void print_line(const struct tick *t, int n)
{
  double sx = 0, sy = 0, sxy = 0, sxx = 0, off = 0, m = n - 1;
  for (int i = 1; i < n; i++)
    sx += t[i].n, sy += t[i].cached, sxy += t[i].n * t[i].cached,
      sxx += t[i].n * t[i].n;
  double b = (m * sxy - sx * sy) / (m * sxx - sx * sx), a = (sy - b * sx) / m;
  for (int i = 1; i < n; i++) off += fabs(t[i].cached / (a + b * t[i].n) - 1);
  printf("cache.clock.row %.4f\ncache.clock.key %.4f\n"
    "cache.clock.error %.4f\n", a, 1000 * b, 100 * off / m);
}

static bool print_ticks(struct error *why)
{
  struct tick t[TICKS];
  int n = read_ticks(t, why);
  if (n == 0) return false;
  print_line(t, n);
  printf("cache.clock.rounds %d\ncache.clock.rows %.4f\n", CLOCK_ROUNDS,
    (1 + CLOCK_STEPS) / 2.0);
  for (int i = 0; i < n; i++) {
    int at = (int) t[i].n;
    if (at != 30 && at != 100 && at != 300 && at != 500 && at != 1000)
      continue;
    printf("cache.clock.naive.%d %.6f\ncache.clock.kept.%d %.6f\n"
      "cache.clock.ratio.%d %.4f\n", at, t[i].naive_sum / 1e6, at,
      t[i].cached_sum / 1e6, at, t[i].naive_sum / t[i].cached_sum);
    /* <Print what the clock says about claims> */
    double ratio = t[i].naive_sum / t[i].cached_sum;
    if (at == 30) printf("claim.S0-59 %.4f\nclaim.S2-63 %.4f\n"
      "claim.S2-64 %.4f\n", ratio, ratio, ratio);
    if (at == 1000) printf("claim.S2-66 %.4f\nclaim.S2-39 %.4f\n"
      "claim.S0-53 %.4f\n", ratio, t[i].naive_sum / 1e6,
      t[i].cached / t[3].cached); /* line 3 is that of 40 tokens */
  }
  return true;
}

static bool print_keys(struct laboratory *lab, struct error *why)
{
  struct course two[2];
  static const size_t some[][2] = { {3, 4}, {50, 100}, {1, 100},
    {1, 1000} };
  for (int i = 0; i < 4; i++) {
    if (!print_case(lab, some[i][0], some[i][1], two, why)) return false;
    print_price(some[i][0], some[i][1], two);
  }
  return print_claims(lab, why) && print_demonstration(lab, why)
    && print_ticks(why) && print_layout_keys(why);
}

static bool print_what(struct laboratory *lab, const char *what,
  struct error *why)
{
  if (strcmp(what, "values") == 0)
    return print_late(lab, why) && print_parting(lab, why)
      && print_keys(lab, why);
  if (strcmp(what, "plates") == 0) return print_plates(lab, why);
  if (strcmp(what, "clock") == 0) return print_clock(lab, why);
  if (strcmp(what, "layouts") == 0) return print_layouts(lab, why);
  if (strcmp(what, "growth") == 0) return print_growth(lab, why);
  return print_twice(lab, why) && print_step(lab, why)
    && print_fork(lab, why);
}

int main(int argc, char **argv)
{
  struct laboratory lab;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why) && print_what(&lab, what, &why);
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
