/* the program -- made from chapters/05-phases.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/timing.h"
#include "loop/laboratory.h"
#include "loop/loop.h"
#include "cache/cache.h"
#include "phases/phases.h"

/* <What the measurements work with> */
enum { ROUNDS = 5, LONGEST = 1000 };
struct bench { struct laboratory *lab; struct pool *crew; struct engine e;
  struct store *s; struct generator g; struct machine speed; };
static bool bench_open(struct bench *b, struct laboratory *lab,
  const struct model *lm, unsigned workers, struct error *why)
{
  struct memory *m = &lab->m;
  *b = (struct bench) { .lab = lab, .e = lab->e };
  b->crew = pool_open(m, workers, why);
  if (b->crew != NULL) b->s = cache_open(m, &lm->config, 1,
    &(struct cache_wishes) { .at_once = true }, why);
  b->e.self = b->crew;
  b->g = (struct generator) { &b->e, lm, b->s, m };
  return b->s != NULL && machine_probe(m, &b->e, &b->speed, why);
}

static void bench_close(struct bench *b)
{
  store_close(b->s);
  pool_close(&b->lab->m, b->crew);
}

/* <Show the rows of the two phases> */
static bool print_pass(void *self, const struct step *now)
{
  const struct counters *a = &now->before, *b = &now->after;
  double madds = (double) (work_madds(b) - work_madds(a));
  double bytes = (double) (work_bytes(b) - work_bytes(a));
  (void) self;
  printf("%4zu %5" PRIu64 " %12.0f %10.0f %9.2f\n", now->number,
    b->rows - a->rows, madds, bytes, madds / bytes);
  return true;
}

static bool show_phases(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  struct generator maker = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = 4, .recall = store_keep,
    .see = print_pass };
  struct continuation text;
  printf("pass  rows  mult.-adds      bytes  a byte\n");
  bool ok = s != NULL
    && generate(&maker, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  store_close(s);
  return ok;
}

/* <Show that chunks change nothing> */
enum { PROMPT = 60 };
static bool read_chunked(struct laboratory *lab, size_t chunk, float *logits,
  uint64_t *passes, struct error *why)
{
  struct row rows[PROMPT];
  struct pass *p = NULL;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  uint64_t before = lab->c.passes;
  for (uint32_t i = 0; i < PROMPT; i++)
    rows[i] = (struct row) { 0, i, lab->sentence[i % WORDS] };
  bool ok = s != NULL && read_rows(&g, rows, PROMPT, chunk, &p, why);
  ok = ok && head(&lab->e, lab->pocket, p, &(size_t) { p->n - 1 }, 1,
    logits, why);
  *passes = lab->c.passes - before;
  pass_close(p);
  store_close(s);
  return ok;
}

static bool show_chunks(struct laboratory *lab, struct error *why)
{
  static const size_t chunk[] = { 0, 1, 7, 16, 59 };
  size_t n = lab->pocket->config.vocab_size;
  float *z = memory_take(&lab->m, FOR_ACTIVATIONS, 2 * n, sizeof *z, why);
  bool ok = z != NULL;
  for (int i = 0; ok && i < 5; i++) {
    uint64_t passes = 0;
    float *here = i == 0 ? z : z + n;
    size_t differ = 0;
    ok = read_chunked(lab, chunk[i], here, &passes, why);
    for (size_t k = 0; k < n; k++)
      differ += memcmp(z + k, here + k, sizeof *z) != 0;
    if (ok && i > 0) printf("%d rows in chunks of %2zu: %2" PRIu64
      " passes, %zu of %zu logits differ\n", PROMPT, chunk[i], passes,
      differ, n);
  }
  memory_give(&lab->m, FOR_ACTIVATIONS, z, z == NULL ? 0 : 2 * n, sizeof *z);
  return ok;
}

static bool show_windows(struct laboratory *lab, struct error *why)
{
  enum { TEXT = 20 * WORDS };
  uint32_t id[TEXT];
  for (int i = 0; i < TEXT; i++) id[i] = lab->sentence[i % WORDS];
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  bool ok = s != NULL;
  for (size_t stride = 32; ok && stride >= 8; stride /= 2) {
    struct perplexity p;
    ok = perplexity_of(&g, id, TEXT, 32, stride, &p, why);
    double mean = p.loss / (double) p.tokens;
    if (ok) printf("windows every %2zu: %2zu, %zu of %d scored,"
      " perplexity %.4f\n", stride, p.windows, p.tokens, TEXT, exp(mean));
  }
  store_close(s);
  return ok;
}

/* <Take the time of passes> */
static const struct point { size_t depth, rows; } points[] = { {1000, 1},
  {768, 1}, {512, 1}, {256, 1}, {128, 1}, {0, 1}, {0, 2}, {0, 4}, {0, 8},
  {0, 16}, {0, 32}, {0, 64}, {0, 100}, {0, 128}, {0, 256}, {0, 512},
  {0, LONGEST} };
enum { POINTS = sizeof points / sizeof *points };
static bool time_points(struct bench *b, struct phase seen[POINTS][ROUNDS],
  struct error *why)
{
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < POINTS; i++)
      for (int twice = 0; twice < 2; twice++)
        if ((twice || points[i].rows == 1) && !phase_read(&b->g,
          points[i].depth, points[i].rows, 0, &seen[i][r], why)) return false;
  return true;
}

static void print_points(const struct bench *b, const char *name,
  unsigned workers, struct phase seen[POINTS][ROUNDS])
{
  for (int i = 0; i < POINTS; i++) {
    double taken[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) taken[r] = 1e3 * seen[i][r].seconds;
    struct quartiles q = timing_quartiles(taken, ROUNDS);
    const struct counters *work = &seen[i][0].work;
    printf("%s,%u,%zu,%zu,%.4f,%.4f,%.4f,", name, workers, points[i].depth,
      points[i].rows, q.low, q.median, q.high);
    printf("%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(work),
      work_bytes(work), b->speed.madds / 1e6, b->speed.bytes / 1e6);
  }
}

static bool time_model(struct laboratory *lab, const struct model *lm,
  const char *name, struct error *why)
{
  bool ok = true;
  for (unsigned workers = 1; ok && workers <= 2; workers++) {
    struct bench b;
    struct phase seen[POINTS][ROUNDS];
    ok = bench_open(&b, lab, lm, workers, why) && time_points(&b, seen, why);
    if (ok) print_points(&b, name, workers, seen);
    bench_close(&b);
  }
  return ok;
}

static bool print_passes(struct laboratory *lab, struct error *why)
{
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  printf("model,workers,depth,rows,low,median,high,madds,bytes,"
    "speed,bandwidth\n");
  bool ok = lm != NULL && time_model(lab, lm, "gpt2", why)
    && time_model(lab, lab->pocket, "pocket", why);
  stand_in_close(&lab->m, lm);
  return ok;
}

/* <Take the time of parts> */
enum piece { PART_LINEAR, PART_HEAD, PART_ATTENTION, PART_NORM,
  PART_ACTIVATION, PART_REST, PARTS };
struct timed { struct kernels k; const struct kernels *true_ones;
  size_t vocab; double spent[PARTS]; };
static void timed_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->linear(e, list, n, x, rows, y);
  enum piece which = list->out == t->vocab ? PART_HEAD : PART_LINEAR;
  t->spent[which] += timing_seconds() - start;
}

static void timed_attend(const struct engine *e, const struct heads *h,
  const float *q, const struct view *seen, size_t rows, float *room, float *y,
  const struct capture *keep)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->attend(e, h, q, seen, rows, room, y, keep);
  t->spent[PART_ATTENTION] += timing_seconds() - start;
}

static void timed_normalize(const struct engine *e, const struct normalizer *g,
  const float *x, size_t rows, size_t d, float *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->normalize(e, g, x, rows, d, y);
  t->spent[PART_NORM] += timing_seconds() - start;
}

static void timed_activate(const struct engine *e, enum activation_kind kind,
  const float *x, const float *up, size_t n, float *y)
{
  struct timed *t = (struct timed *) (uintptr_t) e->k;
  double start = timing_seconds();
  t->true_ones->activate(e, kind, x, up, n, y);
  t->spent[PART_ACTIVATION] += timing_seconds() - start;
}

static bool time_parts(struct bench *b, size_t depth, size_t rows,
  double median[PARTS], struct error *why)
{
  struct timed t = { *b->e.k, b->e.k, b->g.lm->config.vocab_size, { 0 } };
  double taken[PARTS][ROUNDS];
  t.k.linear = timed_linear, t.k.attend = timed_attend;
  t.k.normalize = timed_normalize, t.k.activate = timed_activate;
  struct phase seen;
  bool ok = phase_read(&b->g, depth, rows, 0, &seen, why);
  b->e.k = &t.k;
  for (int r = 0; ok && r < ROUNDS; r++) {
    memset(t.spent, 0, sizeof t.spent);
    ok = phase_read(&b->g, depth, rows, 0, &seen, why);
    t.spent[PART_REST] = seen.seconds;
    for (int i = 0; i < PART_REST; i++) t.spent[PART_REST] -= t.spent[i];
    for (int i = 0; i < PARTS; i++) taken[i][r] = 1e3 * t.spent[i];
  }
  for (int i = 0; ok && i < PARTS; i++)
    median[i] = timing_quartiles(taken[i], ROUNDS).median;
  b->e.k = t.true_ones;
  return ok;
}

static double time_alone(struct bench *b, const struct matrix *alone)
{
  enum { ROWS = 96, TIMES = 200 };
  static const float x[ROWS * 512];
  static float y[ROWS * 512];
  float *to = y;
  double taken[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    double start = timing_seconds();
    for (int i = 0; i < TIMES; i++)
      b->e.k->linear(&b->e, alone, 1, x, ROWS, &to);
    taken[r] = timing_seconds() - start;
  }
  return 1e-6 * TIMES * ROWS * (double) (alone->in * alone->out)
    / timing_quartiles(taken, ROUNDS).median;
}

static bool print_model_parts(struct bench *b, const char *name,
  const struct matrix *alone, struct error *why)
{
  static const char *const part[] = { "linear", "head", "attention",
    "norm", "activation", "rest" };
  double median[PARTS];
  for (int k = 0; k < 2; k++) {
    size_t depth = k == 0 ? 512 : 0, rows = k == 0 ? 1 : 512;
    if (!time_parts(b, depth, rows, median, why)) return false;
    for (int i = 0; i < PARTS; i++) printf("%s,%zu,%zu,%s,%.4f,%.1f\n", name,
      depth, rows, part[i], median[i], b->speed.madds / 1e6);
  }
  printf("%s,0,96,alone,0,%.1f\n", name, time_alone(b, alone));
  return true;
}

static bool time_turned(struct laboratory *lab, struct model *lm,
  struct error *why)
{
  bool ok = true;
  for (uint32_t i = 0; i < lm->config.n_layers; i++) {
    struct model_layer *l = &lm->layers[i];
    l->qkv[0].transposed = l->out.transposed = false;
    l->up[0].transposed = l->down.transposed = false;
  }
  for (unsigned workers = 1; ok && workers <= 2; workers++) {
    struct bench b;
    double taken[ROUNDS];
    ok = bench_open(&b, lab, lm, workers, why);
    for (int r = -1; ok && r < ROUNDS; r++) {
      struct phase seen;
      ok = phase_read(&b.g, 0, 1, 0, &seen, why);
      if (r >= 0) taken[r] = 1e3 * seen.seconds;
    }
    if (ok) printf("gpt2,0,%u,turned,%.4f,%.1f\n", workers,
      timing_quartiles(taken, ROUNDS).median, b.speed.bytes / 1e6);
    bench_close(&b);
  }
  return ok;
}

static bool print_parts(struct laboratory *lab, struct error *why)
{
  static const float numbers[512 * 64];
  struct tensor any = { numbers, WEIGHT_F32 };
  struct matrix alone = { .weight = any, .in = 512, .out = 64,
    .transposed = true };
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench big = { .lab = lab }, small = { .lab = lab };
  printf("model,depth,rows,part,time,speed\n");
  bool ok = lm != NULL && bench_open(&big, lab, lm, 1, why)
    && print_model_parts(&big, "gpt2", &alone, why)
    && bench_open(&small, lab, lab->pocket, 1, why)
    && print_model_parts(&small, "pocket", &lab->pocket->layers[0].up[0],
      why) && time_turned(lab, lm, why);
  bench_close(&big), bench_close(&small);
  stand_in_close(&lab->m, lm);
  return ok;
}

/* <Take the time of chunks and whole texts> */
static bool print_chunks(struct laboratory *lab, struct error *why)
{
  static const size_t chunk[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
  enum { CHUNKS = sizeof chunk / sizeof *chunk, TIMES = 3 };
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench b = { .lab = lab };
  double taken[CHUNKS][TIMES];
  bool ok = lm != NULL && bench_open(&b, lab, lm, 1, why);
  for (int r = 0; r < TIMES; r++)
    for (int i = 0; ok && i < CHUNKS; i++) {
      struct phase seen;
      ok = phase_read(&b.g, 0, 512, chunk[i], &seen, why);
      taken[i][r] = seen.seconds;
    }
  printf("chunk,seconds\n");
  for (int i = 0; ok && i < CHUNKS; i++) printf("%zu,%.4f\n", chunk[i],
    timing_quartiles(taken[i], TIMES).median);
  bench_close(&b);
  stand_in_close(&lab->m, lm);
  return ok;
}

struct essay { const char *name; size_t p, g; bool keep; };
static bool time_essay(struct bench *b, const struct essay *t,
  double *seconds, struct error *why)
{
  uint32_t prompt[LONGEST];
  for (size_t i = 0; i < t->p; i++)
    prompt[i] = (uint32_t) (i * 31 % b->g.lm->config.vocab_size);
  struct settings want = { .max_new_tokens = t->g, .recall = t->keep ? store_keep : NULL };
  struct continuation text;
  double start = timing_seconds();
  store_crop(b->s, 0, 0);
  if (!generate(&b->g, prompt, t->p, &want, &text, why)) return false;
  *seconds = timing_seconds() - start;
  continuation_free(b->g.m, &text);
  return true;
}

static bool print_texts(struct laboratory *lab, struct error *why)
{
  static const struct essay essays[] = { { "gpt2", 1, 30, false },
    { "gpt2", 1, 30, true }, { "gpt2", 50, 30, false },
    { "gpt2", 50, 30, true }, { "gpt2", 1, 100, false },
    { "gpt2", 1, 100, true }, { "pocket", 1000, 1000, true } };
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench big = { .lab = lab }, small = { .lab = lab };
  bool ok = lm != NULL && bench_open(&big, lab, lm, 1, why)
    && bench_open(&small, lab, lab->pocket, 1, why);
  printf("model,prompt,written,cached,seconds\n");
  for (size_t i = 0; ok && i < sizeof essays / sizeof *essays; i++) {
    const struct essay *t = &essays[i];
    double seconds;
    ok = time_essay(t->name[0] == 'g' ? &big : &small, t, &seconds, why);
    if (ok) printf("%s,%zu,%zu,%d,%.4f\n", t->name, t->p, t->g, t->keep,
      seconds);
  }
  bench_close(&big), bench_close(&small);
  stand_in_close(&lab->m, lm);
  return ok;
}

struct diary { double start, last; const struct bench *b; };
static bool write_diary(void *self, const struct step *now)
{
  struct diary *d = self;
  const struct counters *a = &now->before, *z = &now->after;
  double end = 1e3 * (timing_seconds() - d->start);
  printf("%zu,%" PRIu64 ",%.4f,%.4f,", now->number, z->rows - a->rows,
    d->last, end);
  printf("%" PRIu64 ",%" PRIu64 ",%.1f,%.1f\n", work_madds(z) - work_madds(a),
    work_bytes(z) - work_bytes(a), d->b->speed.madds / 1e6,
    d->b->speed.bytes / 1e6);
  d->last = end;
  return true;
}

static bool print_run(struct laboratory *lab, struct error *why)
{
  uint32_t prompt[128];
  struct model *lm = stand_in_open(&lab->m, &gpt2_small, why);
  struct bench b = { .lab = lab };
  struct continuation text;
  struct settings want = { .max_new_tokens = 1, .recall = store_keep };
  for (uint32_t i = 0; i < 128; i++) prompt[i] = i * 31;
  bool ok = lm != NULL && bench_open(&b, lab, lm, 1, why)
    && generate(&b.g, prompt, 128, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("step,rows,begin,end,madds,bytes,speed,bandwidth\n");
  struct diary d = { timing_seconds(), 0, &b };
  want.max_new_tokens = 24, want.see = write_diary, want.self = &d;
  if (ok) store_crop(b.s, 0, 0);
  ok = ok && generate(&b.g, prompt, 128, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  bench_close(&b);
  stand_in_close(&lab->m, lm);
  return ok;
}

/* <Read what was measured> */
struct seen_pass { char model[16]; unsigned workers; size_t depth, rows;
  double low, median, high, madds, bytes, speed, bandwidth; };
enum { PASSES = 128 };
struct findings { struct seen_pass pass[PASSES]; int n; };
static bool read_pass(const char *line, struct seen_pass *p)
{
  return sscanf(line, "%15[a-z0-9],%u,%zu,%zu,%lf,%lf,%lf,%lf,%lf,%lf,%lf",
    p->model, &p->workers, &p->depth, &p->rows, &p->low, &p->median,
    &p->high, &p->madds, &p->bytes, &p->speed, &p->bandwidth) == 11;
}

static bool read_passes(struct findings *f, struct error *why)
{
  static const char *const path = "figures/data/phases.passes.csv";
  FILE *file = fopen(path, "r");
  char line[256];
  f->n = 0;
  if (file == NULL) return error_say(why, "%s: cannot be opened", path);
  while (f->n < PASSES && fgets(line, sizeof line, file) != NULL)
    f->n += read_pass(line, &f->pass[f->n]);
  fclose(file);
  return f->n == 4 * POINTS || error_say(why, "%s: %d passes, %d wanted",
    path, f->n, 4 * POINTS);
}

static const struct seen_pass *find_pass(const struct findings *f,
  const char *model, unsigned workers, size_t depth, size_t rows)
{
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    if (strcmp(p->model, model) == 0 && p->workers == workers
        && p->depth == depth && p->rows == rows) return p;
  }
  return &f->pass[0];
}

static double place_of(const struct seen_pass *p, bool reads)
{ return (double) (reads ? p->rows : p->depth); }
static double between(const struct findings *f, const char *model,
  bool reads, double at)
{
  const struct seen_pass *a = NULL, *b = NULL;
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    if (strcmp(p->model, model) != 0 || p->workers != 1
        || (reads ? p->depth > 0 : p->rows > 1)) continue;
    double x = place_of(p, reads);
    if (x <= at && (a == NULL || x > place_of(a, reads))) a = p;
    if (x >= at && (b == NULL || x < place_of(b, reads))) b = p;
  }
  if (a == NULL) a = b;
  if (b == NULL || a == b) return a->median;
  double from = place_of(a, reads), to = place_of(b, reads);
  return a->median + (b->median - a->median) * (at - from) / (to - from);
}

static double text_cached(const struct findings *f, const char *model,
  size_t p, size_t g)
{
  double sum = between(f, model, true, (double) p);
  for (size_t i = 1; i < g; i++)
    sum += between(f, model, false, (double) (p + i - 1));
  return sum / 1e3;
}

static double text_naive(const struct findings *f, const char *model,
  size_t p, size_t g)
{
  double sum = 0;
  for (size_t i = 0; i < g; i++)
    sum += between(f, model, true, (double) (p + i));
  return sum / 1e3;
}

struct source { const struct findings *f; const struct laboratory *lab; };
static bool each_line(const struct source *from, const char *name,
  bool take(const struct source *from, const char *line), int wanted,
  struct error *why)
{
  char path[80], line[256];
  snprintf(path, sizeof path, "figures/data/phases.%s.csv", name);
  FILE *f = fopen(path, "r");
  int n = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) n += take(from, line);
  fclose(f);
  return n == wanted || error_say(why, "%s: %d lines of numbers, %d wanted",
    path, n, wanted);
}

static double row_madds(const struct source *from, const char *model)
{
  const struct model_config *c = &gpt2_small;
  if (strcmp(model, "pocket") == 0)
    return (double) from->lab->pocket->layer_madds;
  return (double) c->n_layers * c->d_model
    * (4.0 * c->d_model + 2.0 * c->d_inner);
}

static bool take_part(const struct source *from, const char *line)
{
  size_t depth, rows;
  char model[16], part[16];
  double ms, speed;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%15[a-z],%lf,%lf", model, &depth,
      &rows, part, &ms, &speed) != 6) return false;
  if (strcmp(part, "alone") == 0)
    printf("phases.alone.%s %.4f\n", model, speed / 1e3);
  else if (strcmp(part, "turned") == 0)
    printf("phases.turned.%zu %.4f\nphases.turned.share.%zu %.4f\n", rows, ms,
      rows, 100 * find_pass(from->f, model, 1, 0, 1)->bytes
      / (ms * 1e3 * speed));
  else printf("phases.part.%s.%zu.%s %.4f\n", model, rows, part, ms);
  if (rows == 512 && strcmp(part, "linear") == 0) printf("phases.linear.%s"
    " %.4f\n", model, 512 * row_madds(from, model) / ms / 1e6);
  return true;
}

static bool take_chunk(const struct source *from, const char *line)
{
  (void) from;
  size_t chunk;
  double seconds;
  if (sscanf(line, "%zu,%lf", &chunk, &seconds) != 2) return false;
  printf("phases.chunk.%zu %.4f\n", chunk, seconds);
  return true;
}

static bool take_text(const struct source *from, const char *line)
{
  (void) from;
  char model[16];
  size_t p, g;
  int keep;
  double seconds;
  if (sscanf(line, "%15[a-z0-9],%zu,%zu,%d,%lf", model, &p, &g, &keep,
      &seconds) != 5) return false;
  printf("phases.text.%s.%zu.%zu.%s %.4f\n", model, p, g,
    keep ? "cached" : "naive", seconds);
  return true;
}

static bool take_hardware(const struct source *from, const char *line)
{
  (void) from;
  char name[16];
  double tera, giga, bytes = 140e9;
  if (sscanf(line, "%15[A-Za-z0-9 ],%lf,%lf", name, &tera, &giga) != 3)
    return false;
  for (char *c = name; *c != '\0'; c++) if (*c == ' ') *c = '-';
  printf("phases.balance.%s %.4f\n", name, 1e3 * tera / giga);
  static const int many[] = { 1, 4, 8 };
  for (int i = 0; i < 3; i++) printf("phases.bound.%s.%d %.4f\n", name,
    many[i], many[i] * giga * 1e9 / bytes);
  if (strcmp(name, "H100") == 0)
    printf("claim.S1-46 %.4f\n", 4 * giga * 1e9 / bytes);
  return true;
}

/* <Print every number that the prose quotes> */
static double intensity(double n, double a, double b)
{ return 0.25 / (1 / n + 1 / a + 1 / b); }
static void print_shapes(void)
{
  printf("phases.intensity.512 %.4f\n", intensity(512, 768, 3072));
  printf("phases.intensity.limit %.4f\n", 0.25 / (1 / 768. + 1 / 3072.));
  size_t n = stand_in_numbers(&gpt2_small);
  printf("phases.standin.parameters %zu\n", n);
  printf("phases.standin.bytes %zu\n", n * sizeof (float));
}

/* <Print where attention overtakes> */
static void print_overtaking(const struct laboratory *lab)
{
  static const struct { const char *name; double d, layers, v; } m[] = {
    { "gpt2", 768, 12, 50257 }, { "gpt2-xl", 1600, 48, 50257 },
    { "7b", 4096, 32, 32000 } };
  for (int i = 0; i < 3; i++) {
    double layers = 12 * m[i].d * m[i].d * m[i].layers;
    printf("phases.overtake.%s %.0f\n", m[i].name, 6 * m[i].d);
    printf("phases.head.%s %.4f\n", m[i].name,
      100 * m[i].v * m[i].d / (layers + m[i].v * m[i].d));
  }
  const struct model_config *c = &lab->pocket->config;
  double head = (double) c->vocab_size * (double) c->d_model;
  printf("phases.head.pocket %.4f\n",
    100 * head / (head + (double) lab->pocket->layer_madds));
}

/* <Print what the machine did in the passes> */
static double madds_share(const struct seen_pass *p)
{ return p->madds / p->median / 1e3 / p->speed; }
static double bytes_share(const struct seen_pass *p)
{ return p->bytes / p->median / 1e3 / p->bandwidth; }
static void print_machine(const struct findings *f)
{
  const struct seen_pass *read[3], *write[3];
  for (unsigned w = 1; w <= 2; w++) {
    read[w] = find_pass(f, "gpt2", w, 0, 512);
    write[w] = find_pass(f, "gpt2", w, 0, 1);
    printf("phases.speed.%u %.4f\n", w, read[w]->speed / 1e3);
    printf("phases.bandwidth.%u %.4f\n", w, read[w]->bandwidth / 1e3);
    printf("phases.share.read.%u %.4f\n", w, 100 * madds_share(read[w]));
    printf("phases.share.write.%u %.4f\n", w, 100 * bytes_share(write[w]));
  }
  printf("phases.balance %.4f\n", read[1]->speed / read[1]->bandwidth);
  printf("phases.balance.rows %.4f\n",
    4 * read[1]->speed / read[1]->bandwidth);
  printf("phases.packing %.4f\n", find_pass(f, "gpt2", 1, 0, 2)->median
    - write[1]->median);
  printf("phases.scale.read %.4f\n", read[1]->median / read[2]->median);
  printf("phases.scale.write %.4f\n", write[1]->median / write[2]->median);
  printf("phases.scale.speed %.4f\n", read[2]->speed / read[1]->speed);
  printf("phases.scale.bandwidth %.4f\n",
    read[2]->bandwidth / read[1]->bandwidth);
}

static void print_times(const struct findings *f)
{
  for (int i = 0; i < f->n; i++) {
    const struct seen_pass *p = &f->pass[i];
    double bound = fmax(p->madds / p->speed, p->bytes / p->bandwidth) / 1e3;
    char name[64];
    snprintf(name, sizeof name, "%s.%u.%zu.%zu", p->model, p->workers,
      p->depth, p->rows);
    printf("phases.ms.%s %.4f\n", name, p->median);
    printf("phases.over.%s %.4f\n", name, p->median / bound);
    if (p->depth == 0) printf("phases.row.%s %.4f\n", name,
      p->median / (double) p->rows);
  }
}

/* <Print what whole texts take> */
static void print_whole_texts(const struct findings *f)
{
  static const size_t g[] = { 30, 100, 300, 1000 },
    p[] = { 50, 100, 500 };
  for (int i = 0; i < 4; i++) {
    double naive = text_naive(f, "gpt2", 1, g[i]);
    double kept = text_cached(f, "gpt2", 1, g[i]);
    printf("phases.sum.naive.%zu %.4f\nphases.sum.kept.%zu %.4f\n", g[i],
      naive, g[i], kept);
    printf("phases.sum.ratio.%zu %.4f\n", g[i], naive / kept);
  }
  printf("phases.sum.naive.50.30 %.4f\n", text_naive(f, "gpt2", 50, 30));
  printf("phases.sum.kept.50.30 %.4f\n", text_cached(f, "gpt2", 50, 30));
  for (int i = 0; i < 3; i++) printf("phases.answer.%zu %.4f\n", p[i],
    text_cached(f, "gpt2", p[i], 500) / text_cached(f, "gpt2", p[i], 1));
  for (int i = 1; i < 3; i++) {
    size_t n = i == 1 ? 100 : 1000;
    double one = between(f, "gpt2", false, (double) n);
    printf("phases.ratio.%zu %.4f\n", n,
      one * (double) n / between(f, "gpt2", true, (double) n));
  }
}

/* <Print what became of the claims> */
static bool claims_of_counters(struct laboratory *lab, struct error *why)
{
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = 1, .recall = store_keep };
  struct continuation text;
  lab->c = (struct counters) { .passes = 0 };
  if (s == NULL) return false;
  bool ok = generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("claim.S1-06 %" PRIu64 "\nclaim.S2-90 %" PRIu64 "\n",
    lab->c.passes, lab->c.passes);
  printf("claim.S3-15 %zu\n", store_length(s, 0));
  double first = (double) work_madds(&lab->c) / (double) work_bytes(&lab->c);
  lab->c = (struct counters) { .passes = 0 };
  ok = ok && generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("phases.shown.ratio %.4f\n", first
    * (double) work_bytes(&lab->c) / (double) work_madds(&lab->c));
  store_crop(s, 0, 0);
  want.max_new_tokens = 20, lab->c.passes = 0;
  ok = ok && generate(&g, lab->sentence, WORDS, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  printf("claim.S3-17 %" PRIu64 "\nphases.shown.passes %" PRIu64 "\n",
    lab->c.passes, lab->c.passes);
  store_close(s);
  return ok;
}

static bool print_claims(struct laboratory *lab, const struct findings *f,
  struct error *why)
{
  const struct seen_pass *prefill = find_pass(f, "gpt2", 1, 0, 512);
  const struct seen_pass *decode = find_pass(f, "gpt2", 1, 512, 1);
  double row = prefill->median / 512, ratio = decode->median / row;
  printf("claim.S1-10 %.4f\n", prefill->madds / prefill->bytes);
  printf("claim.S1-48 %.4f\n", decode->madds / decode->bytes);
  printf("claim.S1-11 %.4f\n", between(f, "gpt2", true, 1000)
    / between(f, "gpt2", true, 100));
  printf("claim.S1-15 %.4f\n", 100 * bytes_share(decode));
  static const char *const faster[] = { "S1-17", "S1-47", "S3-19" };
  for (int i = 0; i < 3; i++) printf("claim.%s %.4f\n", faster[i], ratio);
  printf("claim.S1-42 %.4f\n", text_cached(f, "gpt2", 100, 500)
    / text_cached(f, "gpt2", 100, 1));
  printf("claim.S2-65 %.4f\n", text_naive(f, "gpt2", 1, 1000)
    / text_cached(f, "gpt2", 1, 1000));
  printf("claim.S2-73 %.4f\n", find_pass(f, "gpt2", 1, 0, 1)->median
    / (find_pass(f, "gpt2", 1, 0, 64)->median / 64));
  printf("claim.S3-16 %.4f\n", row);
  double answer = 0;
  for (size_t i = 0; i < 1000; i++)
    answer += between(f, "gpt2", false, fmin((double) i, LONGEST));
  printf("claim.S3-20 %.4f\n", answer / between(f, "gpt2", true, 1000));
  return claims_of_counters(lab, why);
}

static bool print_values(struct laboratory *lab, struct error *why)
{
  static struct findings f;
  print_shapes();
  print_overtaking(lab);
  if (!read_passes(&f, why)) return false;
  print_machine(&f);
  print_times(&f);
  print_whole_texts(&f);
  struct source from = { &f, lab };
  return print_claims(lab, &f, why)
    && each_line(&from, "parts", take_part, 4 * PARTS + 4, why)
    && each_line(&from, "chunks", take_chunk, 10, why)
    && each_line(&from, "texts", take_text, 7, why)
    && each_line(&from, "hardware", take_hardware, 6, why);
}

static bool print_what(struct laboratory *lab, const char *what,
  struct error *why)
{
  if (strcmp(what, "values") == 0) return print_values(lab, why);
  if (strcmp(what, "passes") == 0) return print_passes(lab, why);
  if (strcmp(what, "parts") == 0) return print_parts(lab, why);
  if (strcmp(what, "chunks") == 0) return print_chunks(lab, why);
  if (strcmp(what, "texts") == 0) return print_texts(lab, why);
  if (strcmp(what, "run") == 0) return print_run(lab, why);
  return show_phases(lab, why) && show_chunks(lab, why)
    && show_windows(lab, why);
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
