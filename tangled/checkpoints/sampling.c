/* the program -- made from chapters/07-sampling.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/timing.h"
#include "tokenizer/tokenizer.h"
#include "loop/laboratory.h"
#include "loop/loop.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "functions/numbers.h"

/* <The whole program> */

/* <Open a study> */

/* a model, a tokenizer, a cache and a sampler; the newest text, and sums over its
   steps: what the model thought of them without any setting; trail has the first of
   the sums of surprise */
struct study { struct laboratory *lab; struct tokenizer *t; struct store *s;
  struct sampler d; struct settings want; struct continuation text;
  double *logprob, nats, entropy, trail[256]; size_t steps; };
static bool study_open(struct study *u, struct laboratory *lab,
  struct error *why)
{
  static const struct cache_wishes wishes = { .rows = 1024 };
  size_t vocab = lab->pocket->config.vocab_size;
  *u = (struct study) { .lab = lab, .d.s = sampling_normal };
  u->t = tokenizer_open(&lab->m, "models/pocket", why);
  u->s = u->t == NULL ? NULL
    : cache_open(&lab->m, &lab->pocket->config, 1, &wishes, why);
  return u->s != NULL && funnel_open(&u->d.f, &lab->m, lab->e.k, vocab, why)
    && (u->logprob = memory_take(&lab->m, FOR_OTHER, vocab, 8, why)) != NULL;
}

static void study_close(struct study *u)
{
  struct memory *m = &u->lab->m;
  continuation_free(m, &u->text);
  memory_give(m, FOR_OTHER, u->logprob, u->lab->pocket->config.vocab_size, 8);
  if (u->d.f.m != NULL) funnel_close(&u->d.f);
  store_close(u->s);
  tokenizer_close(m, u->t);
}

/* <Write a text, and note what the model thought> */
static bool note_opinion(void *self, const struct step *now)
{
  struct study *u = self;
  size_t vocab = u->lab->pocket->config.vocab_size;
  u->lab->e.k->log_softmax(&u->lab->e, now->logits, 1, vocab, u->logprob);
  u->nats += u->logprob[now->chosen];
  for (size_t i = 0; i < vocab; i++)
    u->entropy -= num_exp(u->logprob[i]) * u->logprob[i];
  if (u->steps < 256) u->trail[u->steps] = -u->nats;
  u->steps++;
  return true;
}

static bool write_ids(struct study *u, const uint32_t *prompt, size_t n,
  size_t most, uint64_t seed, struct error *why)
{
  struct generator maker = { &u->lab->e, u->lab->pocket, u->s,
    &u->lab->m };
  struct settings want = { .max_new_tokens = most, .see = note_opinion,
    .self = u, .recall = store_keep, .choose = sampler_choose,
    .chooser = &u->d };
  u->d.seed = seed, u->nats = 0, u->entropy = 0, u->steps = 0;
  continuation_free(&u->lab->m, &u->text);
  return generate(&maker, prompt, n, &want, &u->text, why);
}

static bool write_on(struct study *u, const char *prompt, size_t most,
  uint64_t seed, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct memory *m = &u->lab->m;
  bool ok = tokenizer_encode(u->t, m, prompt, strlen(prompt), false, false,
    &list, why) && write_ids(u, list.id, list.n, most, seed, why);
  ids_free(m, &list);
  return ok;
}

/* <Follow one distribution> */
static const char *const three = "The dog thought about soup. The mouse had"
  " milk. The cat thought about";
static bool begin_funnel(struct study *u, struct ids *list, float *logits,
  struct error *why)
{
  struct laboratory *lab = u->lab;
  if (!tokenizer_encode(u->t, &lab->m, three, strlen(three), false, false,
      list, why)) return false;
  size_t last = list->n - 1;
  store_empty(u->s);
  return evaluate(&lab->e, lab->pocket, u->s, list->id, list->n, &last, 1,
      logits, why) && funnel_fill(&u->d.f, logits, why);
}

static bool choose_settings(struct study *u, uint32_t *liked,
  struct biased *bias, struct error *why)
{
  if (!tokenizer_find(u->t, " pancakes", 9, liked))
    return error_say(why, "the built-in model has no pancakes");
  *bias = (struct biased) { liked, 1, 1.0 };
  struct sampling *s = &u->d.s;
  *s = sampling_normal;
  s->logit_bias = bias, s->n_logit_bias = 1;
  s->repetition_penalty = 1.3, s->no_repeat_ngram = 2;
  s->temperature = 0.8, s->top_k = 8, s->top_p = 0.95;
  s->min_p = 0.2, s->typical_p = 0.9;
  return sampling_check(s, u->d.f.vocab, why);
}

static double entropy_of(struct funnel *f)
{
  double h = 0;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++)
    if (f->w[i] > 0) h -= f->w[i] * num_log(f->w[i]);
  return h;
}

static void print_stage(struct study *u, const char *name)
{
  struct funnel *f = &u->d.f;
  double bits = entropy_of(f) / num_log(2);
  size_t n;
  const unsigned char *byte = tokenizer_text(u->t, f->left[0], &n);
  printf("%-11s %4zu left, %.2f bits, first \"%.*s\", %.3f\n", name,
    f->n, bits, (int) n, (const char *) byte, f->w[0]);
}

enum { SHOWN = 14, COLUMNS = N_STAGES + 2 };
struct columns { uint32_t id[SHOWN]; double p[SHOWN][COLUMNS]; };
static void note_column(struct study *u, struct columns *x, size_t column)
{
  struct funnel *f = &u->d.f;
  funnel_distribution(f);
  for (size_t i = 0; column == 0 && i < SHOWN; i++) x->id[i] = f->left[i];
  for (size_t i = 0; i < SHOWN; i++)
    for (size_t j = 0; j < f->n; j++)
      if (f->left[j] == x->id[i]) x->p[i][column] = f->w[j];
}

static bool run_funnel(struct study *u, struct columns *x, bool print,
  struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct biased bias;
  uint32_t liked;
  struct funnel *f = &u->d.f;
  float *logits = memory_take(&u->lab->m, FOR_OTHER, f->vocab, 4, why);
  bool ok = logits != NULL && choose_settings(u, &liked, &bias, why)
    && begin_funnel(u, &list, logits, why);
  if (ok) {
    struct history h = { list.id, list.n, list.n };
    *x = (struct columns) { .p = {{0}} };
    /* <Look before, between and behind the stages> */
    if (print) printf("... %s\n", strstr(three, "had")),
      print_stage(u, "the model");
    note_column(u, x, 0);
    for (size_t i = 0; i < N_STAGES; i++) {
      enum sampling_stage stage = u->d.s.stage[i];
      sampling_stage_run(f, &u->d.s, stage, h);
      note_column(u, x, 1 + i);
      if (print) print_stage(u, sampling_stage_name(stage));
    }
    uint32_t id = funnel_choose(f, 1, 0, (uint32_t) list.n);
    for (size_t i = 0; i < SHOWN; i++) x->p[i][COLUMNS - 1] = x->id[i] == id;
    size_t length;
    const unsigned char *byte = tokenizer_text(u->t, id, &length);
    if (print) printf("chosen: \"%.*s\"\n", (int) length, (const char *) byte);
  }
  u->d.s = sampling_normal;
  ids_free(&u->lab->m, &list);
  memory_give(&u->lab->m, FOR_OTHER, logits, f->vocab, 4);
  return ok;
}

/* <Heat one distribution> */
static const char *const harvest =
  "The harvest of the kingdom was very good.";
static bool logits_behind(struct study *u, const char *text, float *logits,
  size_t *length, struct error *why)
{
  struct ids list = { NULL, 0, 0 };
  struct memory *m = &u->lab->m;
  store_empty(u->s);
  bool ok = tokenizer_encode(u->t, m, text, strlen(text), false, false,
    &list, why);
  size_t last = list.n - 1;
  ok = ok && evaluate(&u->lab->e, u->lab->pocket, u->s, list.id, list.n,
    &last, 1, logits, why);
  *length = list.n;
  ids_free(m, &list);
  return ok;
}

static bool heat(struct study *u, const float *logits, double t,
  double *entropy, struct error *why)
{
  struct funnel *f = &u->d.f;
  size_t best = 0;
  for (size_t i = 1; i < f->vocab; i++)
    if (logits[i] > logits[best]) best = i;
  if (!funnel_fill(f, logits, why)) return false;
  stage_temperature(f, t);
  *entropy = entropy_of(f);
  return f->left[0] == best
    || error_say(why, "at temperature %g another token is the best", t);
}

static bool print_heat(struct study *u, const float *logits,
  struct error *why)
{
  static const struct { const char *name; double t; } at[] = {
    {"0.1", 0.1}, {"0.5", 0.5}, {"1", 1}, {"2", 2}, {"100", 100} };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    double h;
    if (!heat(u, logits, at[i].t, &h, why)) return false;
    printf("sampling.heat.%s %.4f\n", at[i].name, h / num_log(2));
  }
  printf("sampling.heat.most %.4f\n",
    num_log((double) u->d.f.vocab) / num_log(2));
  return true;
}

/* <Write several texts, and compare them> */
enum { TEXTS = 8, LONG = 48 };

/* distinct-2; the mean entropy and log-probability of a token, in the model's own
   opinion; how many texts differ from all before them */
struct habit { double distinct, entropy, logprob; size_t different; };
static void compare_texts(uint32_t text[TEXTS][LONG], struct habit *h)
{
  size_t pairs = TEXTS * (LONG - 1), fresh = 0;
  for (size_t i = 0; i < pairs; i++) {
    uint32_t *a = &text[i / (LONG - 1)][i % (LONG - 1)];
    size_t j = 0;
    while (j < i && memcmp(a, &text[j / (LONG - 1)][j % (LONG - 1)], 8) != 0)
      j++;
    fresh += j == i;
  }
  h->distinct = (double) fresh / (double) pairs, h->different = 0;
  for (size_t i = 0; i < TEXTS; i++) {
    size_t j = 0;
    while (j < i && memcmp(text[i], text[j], sizeof text[i]) != 0) j++;
    h->different += j == i;
  }
}

static bool write_several(struct study *u, const struct sampling *s,
  struct habit *h, struct error *why)
{
  uint32_t text[TEXTS][LONG];
  *h = (struct habit) { .distinct = 0 };
  u->d.s = *s;
  for (size_t i = 0; i < TEXTS; i++) {
    if (!write_on(u, harvest, LONG, i, why)) return false;
    memcpy(text[i], u->text.text.id + u->text.n_prompt, sizeof text[i]);
    h->entropy += u->entropy / (TEXTS * LONG);
    h->logprob += u->nats / (TEXTS * LONG);
  }
  compare_texts(text, h);
  u->d.s = sampling_normal;
  return true;
}

static bool print_heats(struct study *u, struct error *why)
{
  printf("t,entropy,distinct,logprob\n");
  for (int i = 1; i <= 10; i++) {
    struct sampling s = sampling_normal;
    struct habit h;
    s.temperature = i / 5.0;
    if (!write_several(u, &s, &h, why)) return false;
    printf("%.1f,%.4f,%.4f,%.4f\n", s.temperature, h.entropy / num_log(2),
      h.distinct, h.logprob / num_log(2));
  }
  return true;
}

/* <Count what happens at the fork> */

/* of so many draws, how many took each of the two likeliest ways way; of pairs of
   draws, how many agreed; what was to be expected */
struct crossing { size_t draws, took[2], same, pairs; double p[2], square;
  uint32_t way[2]; };
static void draw_many(struct study *u, size_t length, struct crossing *x)
{
  struct funnel *f = &u->d.f;
  uint32_t before = 0;
  funnel_distribution(f);
  for (size_t i = 0; i < f->n; i++) x->square += f->w[i] * f->w[i];
  for (int k = 0; k < 2; k++) x->p[k] = f->w[k], x->way[k] = f->left[k];
  for (uint64_t seed = 0; seed < x->draws; seed++) {
    uint32_t id = funnel_choose(f, seed, 0, (uint32_t) length);
    for (int k = 0; k < 2; k++) x->took[k] += id == x->way[k];
    if (seed % 2 == 1) x->pairs++, x->same += id == before;
    before = id;
  }
}

/* <Make a tie> */
static bool print_tie(struct study *u, const float *logits,
  const struct crossing *x, struct error *why)
{
  struct funnel *f = &u->d.f;
  double gap = (double) logits[x->way[0]] - (double) logits[x->way[1]];
  struct biased lift = { &x->way[1], 1, gap };
  size_t first = 0, draws = 2000;
  if (!funnel_fill(f, logits, why)) return false;
  stage_sequence_bias(f, &lift, 1, NULL, 0);
  stage_temperature(f, 0.001);
  for (uint64_t seed = 0; seed < draws; seed++)
    first += funnel_choose(f, seed, 0, 9) == x->way[0];
  if (!funnel_fill(f, logits, why)) return false;
  stage_sequence_bias(f, &lift, 1, NULL, 0);
  stage_temperature(f, 0);
  bool lower = f->left[0] == (x->way[0] < x->way[1] ? x->way[0]
    : x->way[1]);
  printf("sampling.tie.cold %.3f\nsampling.tie.draws %zu\nclaim.S3-21 %d\n",
    (double) first / (double) draws, draws, lower);
  return true;
}

/* <Print what happens at the fork> */
static bool print_fork(struct study *u, float *logits, struct error *why)
{
  struct crossing x = { .draws = 20000 };
  size_t length;
  if (!logits_behind(u, harvest, logits, &length, why)
      || !funnel_fill(&u->d.f, logits, why)) return false;
  draw_many(u, length, &x);
  double n = (double) x.draws;
  printf("sampling.fork.at %zu\nsampling.fork.draws %zu\n", length + 1,
    x.draws);
  for (int k = 0; k < 2; k++)
    printf("sampling.fork.p.%d %.3f\nsampling.fork.took.%d %.3f\n", k + 1,
      x.p[k], k + 1, (double) x.took[k] / n);
  printf("sampling.fork.either %.4f\nsampling.fork.both %.4f\n",
    x.p[0] + x.p[1], 2 * x.p[0] * x.p[1]);
  printf("sampling.agree.expected %.4f\nsampling.agree.found %.4f\n",
    x.square, (double) x.same / (double) x.pairs);
  printf("sampling.fork.wanted %.2f\nclaim.S3-47 %.3f\n", 0.15 + 0.15,
    2 * 0.15 * 0.15);
  return print_tie(u, logits, &x, why);
}

/* <Go both ways> */
static void print_pieces(struct study *u, int way, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(u->t, u->text.text.id[i], &n);
    printf("%d,%zu,%.*s\n", way, i, (int) n, (const char *) byte);
  }
}

static bool print_ways(struct study *u, struct error *why)
{
  static const char *const way[] = { " Additionally", " However" };
  printf("way,place,piece\n");
  for (int k = 0; k < 2; k++) {
    char prompt[80];
    snprintf(prompt, sizeof prompt, "%s%s", harvest, way[k]);
    u->d.s.temperature = 0;
    bool ok = write_on(u, prompt, 4, 0, why);
    u->d.s = sampling_normal;
    if (!ok) return false;
    size_t n = u->text.n_prompt - 1;
    if (k == 0) print_pieces(u, 0, 0, n);
    print_pieces(u, 1 + k, n, u->text.text.n);
  }
  return true;
}

/* <Compare the strategies> */
static const struct { const char *name; double t; size_t k; double p; }
  strategy[] = { {"greedy", 0, 0, 1}, {"near", 0.2, 0, 1},
    {"plain", 1, 0, 1}, {"hotter", 1.5, 0, 1}, {"topk", 1, 3, 1},
    {"nucleus", 1, 0, 0.7} };
enum { N_STRATEGIES = sizeof strategy / sizeof strategy[0] };
static struct sampling as_strategy(int i)
{
  struct sampling s = sampling_normal;
  s.temperature = strategy[i].t, s.top_k = strategy[i].k;
  s.top_p = strategy[i].p;
  return s;
}

static bool print_strategies(struct study *u, struct error *why)
{
  for (int i = 0; i < N_STRATEGIES; i++) {
    struct sampling s = as_strategy(i);
    struct habit h;
    if (!write_several(u, &s, &h, why)) return false;
    printf("sampling.%s.different %zu\nsampling.%s.distinct %.3f\n",
      strategy[i].name, h.different, strategy[i].name, h.distinct);
    printf("sampling.%s.entropy %.3f\nsampling.%s.logprob %.3f\n",
      strategy[i].name, h.entropy / num_log(2), strategy[i].name,
      h.logprob / num_log(2));
  }
  printf("sampling.texts %d\nsampling.long %d\n", TEXTS, LONG);
  return true;
}

static bool show_strategies(struct study *u, struct error *why)
{
  for (int i = 0; i < N_STRATEGIES; i++) {
    struct bytes text = { NULL, 0, 0 };
    u->d.s = as_strategy(i);
    bool ok = write_on(u, harvest, 14, 2, why)
      && tokenizer_decode(u->t, &u->lab->m, u->text.text.id
        + u->text.n_prompt, 14, true, &text, why);
    for (size_t j = 0; j < text.n; j++)
      if (text.byte[j] == '\n') text.byte[j] = '/';
    printf("%-8s%.*s\n", strategy[i].name, (int) (text.n < 50 ? text.n
      : 50), (const char *) text.byte);
    bytes_free(&u->lab->m, &text);
    u->d.s = sampling_normal;
    if (!ok) return false;
  }
  return true;
}

/* <Measure the error of a measurement> */
static void print_error(struct study *u, const struct crossing *x, size_t n,
  size_t length)
{
  double p = x->p[0], sum = 0;
  for (uint64_t round = 0; round < 400; round++) {
    size_t found = 0;
    for (uint64_t i = 0; i < n; i++)
      found += funnel_choose(&u->d.f, 1000000 + round * n + i, 0,
        (uint32_t) length) == x->way[0];
    double off = (double) found / (double) n - p;
    sum += off * off;
  }
  printf("sampling.error.expected.%zu %.4f\nsampling.error.found.%zu %.4f\n",
    n, sqrt(p * (1 - p) / (double) n), n, sqrt(sum / 400));
}

/* <Look for a circle> */
static size_t circle(const uint32_t *id, size_t n)
{
  for (size_t period = 1; period <= n / 3; period++) {
    size_t i = n - 1;
    while (i >= n - 2 * period && id[i] == id[i - period]) i--;
    if (i < n - 2 * period) return period;
  }
  return 0;
}

/* <Tell whether a token is still the best> */
static bool is_best(const struct funnel *f, uint32_t id)
{
  for (size_t i = 0; i < f->n; i++) {
    uint32_t other = f->left[i];
    if (f->z[other] > f->z[id] || (f->z[other] == f->z[id] && other < id))
      return false;
  }
  return true;
}

/* <Choose, and note which stage acted> */
struct witness { struct study *u; size_t acted[N_STAGES], steps, first; };
static bool choose_watched(void *self, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct witness *x = self;
  struct funnel *f = &x->u->d.f;
  struct history h = { text->text.id, text->text.n, text->n_prompt };
  if (!funnel_fill(f, logits, why)) return false;
  x->steps++;
  for (size_t i = 0; i < x->u->d.s.n_stages; i++) {
    enum sampling_stage stage = x->u->d.s.stage[i];
    sampling_stage_run(f, &x->u->d.s, stage, h);
    if (f->n == 0) return error_say(why, "no token is left");
    if (f->z[*chosen] > -INFINITY && is_best(f, *chosen)) continue;
    if (x->first == 0) x->first = x->steps;
    x->acted[stage]++;
    break;
  }
  return sampler_choose(&x->u->d, logits, text, chosen, why);
}

/* <Break the circle> */
static const struct { const char *name; double r, frequency, presence;
  size_t ngram; double t; } measure[] = {
  {"none", 1, 0, 0, 0, 0}, {"presence", 1, 0, 1, 0, 0},
  {"frequency", 1, 0.5, 0, 0, 0}, {"repetition", 1.1, 0, 0, 0, 0},
  {"strong", 1.5, 0, 0, 0, 0}, {"ngram", 1, 0, 0, 4, 0},
  {"warmth", 1, 0, 0, 0, 1} };
enum { N_MEASURES = sizeof measure / sizeof measure[0], ROUND = 240 };
static bool try_measure(struct study *u, int i, struct witness *x,
  struct error *why)
{
  struct generator maker = { &u->lab->e, u->lab->pocket, u->s,
    &u->lab->m };
  struct settings want = { .max_new_tokens = ROUND, .recall = store_keep,
    .see = note_opinion, .self = u, .choose = choose_watched,
    .chooser = x };
  struct sampling *s = &u->d.s;
  *s = sampling_normal, *x = (struct witness) { .u = u };
  s->temperature = measure[i].t, s->repetition_penalty = measure[i].r;
  s->frequency_penalty = measure[i].frequency;
  s->presence_penalty = measure[i].presence;
  s->no_repeat_ngram = measure[i].ngram;
  /* <Write from the harvest on, with these settings> */
  struct ids list = { NULL, 0, 0 };
  struct memory *m = &u->lab->m;
  u->nats = 0, u->entropy = 0, u->steps = 0, u->d.seed = 0;
  continuation_free(m, &u->text);
  bool ok = tokenizer_encode(u->t, m, harvest, strlen(harvest), false, false,
    &list, why) && generate(&maker, list.id, list.n, &want, &u->text, why);
  ids_free(m, &list);
  u->d.s = sampling_normal;
  return ok;
}

static bool print_measures(struct study *u, struct error *why)
{
  for (int i = 0; i < N_MEASURES; i++) {
    struct witness x;
    size_t acted = 0;
    if (!try_measure(u, i, &x, why)) return false;
    for (int k = 0; k < N_STAGES; k++) acted += x.acted[k];
    printf("sampling.loop.%s.circle %zu\nsampling.loop.%s.first %zu\n",
      measure[i].name, circle(u->text.text.id, u->text.text.n),
      measure[i].name, x.first);
    printf("sampling.loop.%s.acted %zu\nsampling.loop.%s.logprob %.3f\n",
      measure[i].name, acted, measure[i].name,
      u->nats / (double) u->steps / num_log(2));
  }
  printf("sampling.loop.long %d\n", ROUND);
  return true;
}

static bool print_circles(struct study *u, struct error *why)
{
  static double bits[N_MEASURES][ROUND];
  struct witness x;
  for (int i = 0; i < N_MEASURES; i++) {
    if (!try_measure(u, i, &x, why)) return false;
    memcpy(bits[i], u->trail, sizeof bits[i]);
  }
  printf("step");
  for (int i = 0; i < N_MEASURES; i++) printf(",%s", measure[i].name);
  for (size_t k = 0; k < ROUND; k++) {
    printf("\n%zu", k + 1);
    for (int i = 0; i < N_MEASURES; i++)
      printf(",%.3f", bits[i][k] / num_log(2));
  }
  printf("\n");
  return true;
}

/* <Let a toy go round> */
enum { TOY = 60 };
static size_t run_toy(struct funnel *f, const struct sampling *s,
  uint32_t *id)
{
  static const float logits[3] = { 5, 3, 2.5f };
  size_t n = 0;
  struct error why;
  while (n < TOY && sampling_run(f, s, logits,
      (struct history) { id, n, 0 }, &why)) {
    stage_temperature(f, 0);
    id[n++] = f->left[0];
  }
  return n;
}

static bool print_toy(struct study *u, struct error *why)
{
  static const struct { const char *name; double r, frequency, presence;
    size_t ngram; } toy[] = { {"presence1", 1, 0, 1, 0},
    {"presence2", 1, 0, 2.5, 0}, {"repetition1", 1.2, 0, 0, 0},
    {"repetition2", 2, 0, 0, 0}, {"frequency", 1, 0.5, 0, 0},
    {"ngram", 1, 0, 0, 2} };
  struct funnel f;
  if (!funnel_open(&f, &u->lab->m, u->lab->e.k, 3, why)) return false;
  for (size_t i = 0; i < sizeof toy / sizeof *toy; i++) {
    uint32_t id[TOY];
    struct sampling s = sampling_normal;
    s.repetition_penalty = toy[i].r, s.presence_penalty = toy[i].presence;
    s.frequency_penalty = toy[i].frequency;
    s.no_repeat_ngram = toy[i].ngram;
    size_t n = run_toy(&f, &s, id), others = 0;
    for (size_t k = 0; k < n; k++) others += id[k] != 0;
    printf("sampling.toy.%s.length %zu\nsampling.toy.%s.others %zu\n"
      "sampling.toy.%s.circle %zu\n", toy[i].name, n, toy[i].name, others,
      toy[i].name, circle(id, n));
  }
  funnel_close(&f);
  return true;
}

/* <Read itself> */
enum { AHEAD = 16 };
struct forced { size_t tries, right[AHEAD], given[AHEAD]; };
static bool run_ahead(struct study *u, const struct ids *tale, size_t at,
  struct forced *x, struct error *why)
{
  u->d.s.temperature = 0;
  bool ok = write_ids(u, tale->id, at, AHEAD, 0, why);
  u->d.s = sampling_normal;
  if (!ok) return false;
  const uint32_t *own = u->text.text.id;
  for (size_t i = 0; i < AHEAD; i++)
    x->right[i] += own[at + i] == tale->id[at + i];
  x->tries++;
  return true;
}

static bool expect_each(struct study *u, const struct ids *tale,
  uint32_t *expected, struct error *why)
{
  struct memory *m = &u->lab->m;
  size_t n = tale->n, v = u->d.f.vocab;
  size_t *which = memory_take(m, FOR_OTHER, n, sizeof *which, why);
  float *logits = which == NULL ? NULL
    : memory_take(m, FOR_OTHER, n * v, sizeof *logits, why);
  for (size_t i = 0; which != NULL && i < n; i++) which[i] = i;
  store_empty(u->s);
  bool ok = logits != NULL && evaluate(&u->lab->e, u->lab->pocket, u->s,
    tale->id, n, which, n, logits, why);
  for (size_t i = 0; ok && i < n; i++) {
    expected[i] = 0;
    for (size_t k = 1; k < v; k++)
      if (logits[i * v + k] > logits[i * v + expected[i]])
        expected[i] = (uint32_t) k;
  }
  memory_give(m, FOR_OTHER, logits, n * v, sizeof *logits);
  memory_give(m, FOR_OTHER, which, n, sizeof *which);
  return ok;
}

static bool read_tale(struct study *u, struct ids *tale, struct error *why)
{
  struct mapping map;
  if (!file_map(&map, "models/pocket/tales.txt", why)) return false;
  size_t n = 0;
  while (n < map.size && memcmp(map.bytes + n, "<|endoftext|>",
      map.size - n < 13 ? map.size - n : 13) != 0) n++;
  bool ok = tokenizer_encode(u->t, &u->lab->m, (const char *) map.bytes, n,
    false, false, tale, why);
  file_unmap(&map);
  return ok;
}

static bool measure_exposure(struct study *u, struct forced *x,
  struct error *why)
{
  struct ids tale = { NULL, 0, 0 };
  uint32_t expected[1024];
  bool ok = read_tale(u, &tale, why)
    && (tale.n < 1024 || error_say(why, "the tale is too long"))
    && expect_each(u, &tale, expected, why);
  *x = (struct forced) { .tries = 0 };
  for (size_t at = 10; ok && at + AHEAD <= tale.n; at += 5) {
    ok = run_ahead(u, &tale, at, x, why);
    for (size_t i = 0; i < AHEAD; i++)
      x->given[i] += expected[at + i - 1] == tale.id[at + i];
  }
  ids_free(&u->lab->m, &tale);
  return ok;
}

static bool print_exposure(struct study *u, bool points, struct error *why)
{
  struct forced x;
  if (!measure_exposure(u, &x, why)) return false;
  double n = (double) x.tries;
  if (points) printf("place,forced,free\n");
  for (size_t i = 0; points && i < AHEAD; i++)
    printf("%zu,%.4f,%.4f\n", i + 1, (double) x.given[i] / n,
      (double) x.right[i] / n);
  if (points) return true;
  printf("sampling.exposure.tries %zu\nsampling.exposure.places %d\n",
    x.tries, AHEAD);
  printf("sampling.forced.1 %.3f\nsampling.forced.last %.3f\n",
    (double) x.given[0] / n, (double) x.given[AHEAD - 1] / n);
  printf("sampling.free.1 %.3f\nsampling.free.last %.3f\n",
    (double) x.right[0] / n, (double) x.right[AHEAD - 1] / n);
  return true;
}

/* <Add up in another order> */
static float weight_at(struct tensor w, size_t i)
{
  const uint16_t *half = w.data;
  if (w.type == WEIGHT_F16) return num_from_f16(half[i]);
  if (w.type == WEIGHT_BF16) return num_from_bf16(half[i]);
  return ((const float *) w.data)[i];
}

static void plain_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++) {
    const struct matrix *w = &list[m];
    for (size_t i = 0; i < rows * w->out; i++) {
      size_t row = i / w->out, o = i % w->out;
      float sum = 0;
      for (size_t k = 0; k < w->in; k++)
        sum += x[row * w->in + k] * weight_at(w->weight, w->transposed
          ? k * w->out + o : o * w->in + k);
      y[m][i] = sum;
    }
  }
}

struct otherwise { size_t entries, differ, places, flips, draws, drawn;
  double most; };
static bool compare_draws(struct study *u, const float *a, const float *b,
  uint32_t position, struct otherwise *x, struct error *why)
{
  enum { SEEDS = 200 };
  uint32_t first[SEEDS];
  for (int k = 0; k < 2; k++) {
    if (!funnel_fill(&u->d.f, k == 0 ? a : b, why)) return false;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      uint32_t id = funnel_choose(&u->d.f, seed, 0, position);
      if (k == 0) first[seed] = id;
      else x->drawn += id != first[seed];
    }
  }
  x->draws += SEEDS;
  return true;
}

static bool compare_logits(struct study *u, const float *a, const float *b,
  size_t rows, struct otherwise *x, struct error *why)
{
  size_t v = u->d.f.vocab;
  *x = (struct otherwise) { .entries = rows * v, .places = rows };
  for (size_t r = 0; r < rows; r++, a += v, b += v) {
    size_t best = 0, other = 0;
    for (size_t i = 0; i < v; i++) {
      double off = fabs((double) a[i] - (double) b[i]);
      x->differ += off > 0, x->most = off > x->most ? off : x->most;
      best = a[i] > a[best] ? i : best, other = b[i] > b[other] ? i : other;
    }
    x->flips += best != other;
    if (!compare_draws(u, a, b, (uint32_t) r, x, why)) return false;
  }
  return true;
}

enum { OTHER_ROWS = 96 };
static bool both_orders(struct study *u, const struct ids *tale,
  float *logits, struct otherwise *x, struct error *why)
{
  size_t which[OTHER_ROWS], v = u->d.f.vocab;
  struct kernels other = *u->lab->e.k;
  struct engine e[2] = { u->lab->e, u->lab->e };
  other.linear = plain_linear, e[1].k = &other;
  for (size_t i = 0; i < OTHER_ROWS; i++) which[i] = i;
  for (int k = 0; k < 2; k++) {
    store_empty(u->s);
    if (!evaluate(&e[k], u->lab->pocket, u->s, tale->id, OTHER_ROWS, which,
        OTHER_ROWS, logits + (k == 0 ? 0 : OTHER_ROWS * v), why)) return false;
  }
  return compare_logits(u, logits, logits + OTHER_ROWS * v, OTHER_ROWS, x,
    why);
}

static bool print_other_order(struct study *u, struct error *why)
{
  struct ids tale = { NULL, 0, 0 };
  struct otherwise x;
  size_t n = 2 * OTHER_ROWS * u->d.f.vocab;
  float *logits = memory_take(&u->lab->m, FOR_OTHER, n, 4, why);
  bool ok = logits != NULL && read_tale(u, &tale, why)
    && both_orders(u, &tale, logits, &x, why);
  ids_free(&u->lab->m, &tale);
  memory_give(&u->lab->m, FOR_OTHER, logits, n, 4);
  if (ok) printf("sampling.order.entries %zu\nsampling.order.differ %.3f\n"
      "sampling.order.most %.1f\nsampling.order.places %zu\n"
      "sampling.order.flips %zu\nsampling.order.draws %zu\n"
      "sampling.order.drawn %zu\nclaim.S3-49 %.3f\n", x.entries,
      (double) x.differ / (double) x.entries, 1e6 * x.most, x.places, x.flips,
      x.draws, x.drawn, (double) x.differ / (double) x.entries);
  return ok;
}

/* <Change the order of the stages> */
static const char *const llama_order[] = { "bias", "penalties", "ngram",
  "top_k", "typical_p", "top_p", "min_p", "temperature" };

static struct sampling drawn_settings(uint32_t number)
{
  uint32_t key[2] = { 7, 0 }, counter[4] = { number, 0, 0, 7 };
  uint32_t out[4];
  struct sampling s = sampling_normal;
  philox4x32(key, counter, out);
  s.temperature = 0.5 + (out[0] % 16) / 10.0;
  if (out[1] % 2 == 1) s.top_k = 1 + out[1] / 2 % 40;
  if (out[2] % 2 == 1) s.top_p = 0.5 + (out[2] / 2 % 10) / 20.0;
  if (out[3] % 2 == 1) s.min_p = (out[3] / 2 % 10) / 40.0;
  return s;
}

static bool print_sure(struct study *u, struct error *why)
{
  size_t length;
  float *logits = memory_take(&u->lab->m, FOR_OTHER, u->d.f.vocab, 4, why);
  bool ok = logits != NULL
    && logits_behind(u, "The cat sat on", logits, &length, why)
    && funnel_fill(&u->d.f, logits, why);
  if (ok) {
    stage_top_p(&u->d.f, 0.9);
    printf("sampling.sure %zu\n", u->d.f.n);
  }
  memory_give(&u->lab->m, FOR_OTHER, logits, u->d.f.vocab, 4);
  return ok;
}

static bool print_one_order(struct study *u, const float *logits,
  struct error *why)
{
  struct history none = { NULL, 0, 0 };
  struct sampling s = sampling_normal;
  s.temperature = 2, s.top_p = 0.9;
  if (!sampling_run(&u->d.f, &s, logits, none, why)) return false;
  printf("sampling.order.before %zu\n", u->d.f.n);
  if (!sampling_stages_parse(&s, llama_order, N_STAGES, why)
      || !sampling_run(&u->d.f, &s, logits, none, why)) return false;
  printf("sampling.order.after %zu\n", u->d.f.n);
  return print_sure(u, why);
}

/* <Try many settings in both orders> */
static bool print_orders(struct study *u, const float *logits,
  struct error *why)
{
  struct history none = { NULL, 0, 0 };
  struct funnel *f = &u->d.f;
  size_t differ = 0, sets = 1000;
  for (uint32_t number = 0; number < sets; number++) {
    struct sampling s = drawn_settings(number), t = s;
    if (!sampling_stages_parse(&t, llama_order, N_STAGES, why)
        || !sampling_run(f, &s, logits, none, why)) return false;
    size_t left = f->n;
    if (!sampling_run(f, &t, logits, none, why)) return false;
    differ += f->n != left;
  }
  printf("sampling.orders.sets %zu\nsampling.orders.differ %zu\n", sets,
    differ);
  return print_one_order(u, logits, why);
}

/* <Fill a large vocabulary> */
enum { LARGE = 128256 };
static void normal_logits(float *logits)
{
  for (uint32_t i = 0; i < LARGE; i++) {
    uint32_t key[2] = { 8, 0 }, counter[4] = { i, 0, 0, 8 }, w[4];
    philox4x32(key, counter, w);
    double radius = sqrt(-2 * num_log((w[0] + 0.5) * 0x1p-32));
    double angle = (w[1] + 0.5) * 0x1p-32 * 6.283185307179586;
    logits[i] = (float) (3 * radius * num_cos(angle));
  }
}

static const struct { const char *name; double t; size_t k;
  double p, m, typical; } load[] = { {"greedy", 0, 0, 1, 0, 1},
  {"plain", 1, 0, 1, 0, 1}, {"usual", 0.8, 40, 0.95, 0.05, 1},
  {"nucleus", 1, 0, 0.9, 0, 1}, {"typical", 1, 0, 1, 0, 0.9} };
enum { N_LOADS = sizeof load / sizeof load[0] };
static struct sampling as_load(int i)
{
  struct sampling s = sampling_normal;
  s.temperature = load[i].t, s.top_k = load[i].k, s.top_p = load[i].p;
  s.min_p = load[i].m, s.typical_p = load[i].typical;
  return s;
}

/* <Count the work of a choice> */
static bool print_work(struct laboratory *lab, struct error *why)
{
  static float logits[LARGE];
  struct funnel f;
  struct history none = { NULL, 0, 0 };
  size_t before = lab->m.all.held;
  if (!funnel_open(&f, &lab->m, lab->e.k, LARGE, why)) return false;
  normal_logits(logits);
  printf("sampling.large %d\nsampling.room %zu bytes\n", LARGE,
    lab->m.all.held - before);
  bool ok = true;
  for (int i = 1; ok && i < N_LOADS; i++) {
    struct sampling s = as_load(i);
    f.bits = f.noises = 0;
    ok = sampling_run(&f, &s, logits, none, why);
    if (ok) funnel_choose(&f, 0, 0, 0);
    if (ok) printf("sampling.%s.left %zu\nsampling.%s.bits %" PRIu64
      "\nsampling.%s.noises %" PRIu64 "\n", load[i].name, f.n, load[i].name,
      f.bits, load[i].name, f.noises);
  }
  funnel_close(&f);
  return ok;
}

/* <Take the time of the sampler> */
static bool print_clock(struct laboratory *lab, struct error *why)
{
  static float logits[LARGE];
  struct funnel f;
  struct history none = { NULL, 0, 0 };
  if (!funnel_open(&f, &lab->m, lab->e.k, LARGE, why)) return false;
  normal_logits(logits);
  printf("setting,tokens,low,median,high\n");
  bool ok = true;
  for (int i = 0; ok && i < N_LOADS; i++) {
    double ms[41];
    for (int k = 0; ok && k < 41; k++) {
      struct sampling s = as_load(i);
      double began = timing_seconds();
      ok = sampling_run(&f, &s, logits, none, why);
      if (ok) funnel_choose(&f, (uint64_t) k, 0, 0);
      ms[k] = 1e3 * (timing_seconds() - began);
    }
    struct quartiles q = timing_quartiles(ms, 41);
    printf("%s,%d,%.3f,%.3f,%.3f\n", load[i].name, LARGE, q.low, q.median,
      q.high);
  }
  funnel_close(&f);
  return ok;
}

/* <Print what is left> */
static void print_quarters(struct study *u)
{
  static const float even[4] = { 0, 0, 0, 0 };
  struct funnel f;
  size_t reach = 0, exceed = 1;
  if (funnel_open(&f, &u->lab->m, u->lab->e.k, 4, NULL)
      && funnel_fill(&f, even, NULL)) {
    stage_top_p(&f, 0.5);
    reach = f.n;
    funnel_close(&f);
  }
  while (!(0.25 * (double) exceed > 0.5)) exceed++;
  printf("sampling.reach %zu\nclaim.S1-30 %zu\n", reach, exceed);
}

enum { TABLES = 500, STATES = 64 };
static size_t find_circle(uint32_t table)
{
  size_t seen[STATES] = { 0 }, state = 0, step = 1;
  for (; step <= STATES && seen[state] == 0; step++) {
    uint32_t key[2] = { 9, 0 }, out[4];
    uint32_t counter[4] = { (uint32_t) state, table, 0, 9 };
    philox4x32(key, counter, out);
    seen[state] = step;
    state = (state * 4 + out[0] % 4) % STATES;
  }
  return seen[state] == 0 ? 0 : step - seen[state];
}

static void print_cycles(void)
{
  size_t total = 0, longest = 0, circles = 0;
  for (uint32_t table = 0; table < TABLES; table++) {
    size_t length = find_circle(table);
    total += length, circles += length > 0;
    longest = length > longest ? length : longest;
  }
  printf("claim.S1-28 %zu\nclaim.S3-23 %zu\nsampling.cycle.tables %d\n"
    "sampling.cycle.mean %.2f\nsampling.cycle.longest %zu\n", circles,
    circles, TABLES, (double) total / TABLES, longest);
}

static void print_arithmetic(void)
{
  printf("claim.S1-40 %.4f\n", 0.01 / (0.01 + 0.1));
  printf("sampling.agree.90 %.6f\nclaim.S3-46 %.3f\n", num_pow(0.9, 100),
    num_pow(0.99, 100));
  printf("sampling.error.one %.2f\nclaim.S3-48 %.2f\n", sqrt(0.25),
    sqrt(0.25 / 100));
  printf("sampling.drift.100 %.3f\nclaim.S3-51 %.4f\n", num_pow(0.99, 100),
    num_pow(0.99, 500));
}

/* <Print the rest> */
static bool print_rest(struct study *u, struct error *why)
{
  uint32_t greedy[LONG];
  size_t same = 0;
  u->d.s.temperature = 0;
  if (!write_on(u, harvest, LONG, 0, why)) return false;
  memcpy(greedy, u->text.text.id + u->text.n_prompt, sizeof greedy);
  u->d.s = sampling_normal, u->d.s.top_k = 1;
  if (!write_on(u, harvest, LONG, 5, why)) return false;
  for (size_t i = 0; i < LONG; i++)
    same += u->text.text.id[u->text.n_prompt + i] == greedy[i];
  u->d.s = sampling_normal;
  printf("sampling.k1.same %zu\nclaim.S1-29 %zu\nclaim.S3-44 %zu\n", same,
    same, same);
  printf("claim.S1-27 %zu\nclaim.S3-22 %zu\n", same, same);
  print_quarters(u);
  print_cycles();
  print_arithmetic();
  return true;
}

/* <Print every number that the prose quotes> */
static bool print_keys(struct study *u, struct error *why)
{
  size_t length;
  struct crossing x = { .draws = 2 };
  float *logits = memory_take(&u->lab->m, FOR_OTHER, u->d.f.vocab, 4, why);
  bool ok = logits != NULL && print_fork(u, logits, why)
    && print_heat(u, logits, why) && print_orders(u, logits, why)
    && logits_behind(u, harvest, logits, &length, why)
    && funnel_fill(&u->d.f, logits, why);
  if (ok) {
    draw_many(u, length, &x);
    print_error(u, &x, 1, length), print_error(u, &x, 100, length);
  }
  memory_give(&u->lab->m, FOR_OTHER, logits, u->d.f.vocab, 4);
  return ok && print_strategies(u, why) && print_measures(u, why)
    && print_toy(u, why) && print_exposure(u, false, why)
    && print_other_order(u, why) && print_work(u->lab, why)
    && print_rest(u, why);
}

/* <Print the funnel> */
static bool print_funnel(struct study *u, struct error *why)
{
  struct columns x;
  if (!run_funnel(u, &x, false, why)) return false;
  printf("token,model");
  for (int i = 0; i < N_STAGES; i++)
    printf(",%s", sampling_stage_name((enum sampling_stage) i));
  printf(",drawn\n");
  for (size_t i = 0; i < SHOWN; i++) {
    size_t n;
    const unsigned char *byte = tokenizer_text(u->t, x.id[i], &n);
    printf("%.*s", (int) n, (const char *) byte);
    for (size_t k = 0; k < COLUMNS; k++) printf(",%.6f", x.p[i][k]);
    printf("\n");
  }
  return true;
}

/* <Do what the command line says> */
static bool print_what(struct study *u, const char *what, struct error *why)
{
  if (strcmp(what, "funnel") == 0) return print_funnel(u, why);
  if (strcmp(what, "heat") == 0) return print_heats(u, why);
  if (strcmp(what, "fork") == 0) return print_ways(u, why);
  if (strcmp(what, "loop") == 0) return print_circles(u, why);
  if (strcmp(what, "exposure") == 0) return print_exposure(u, true, why);
  if (strcmp(what, "clock") == 0) return print_clock(u->lab, why);
  if (strcmp(what, "values") == 0) return print_keys(u, why);
  struct columns x;
  return run_funnel(u, &x, true, why) && show_strategies(u, why);
}

/* <Run the whole program> */
int main(int argc, char **argv)
{
  struct laboratory lab;
  struct study u;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = laboratory_open(&lab, &why);
  if (ok) {
    ok = study_open(&u, &lab, &why) && print_what(&u, what, &why);
    study_close(&u);
  }
  laboratory_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
