/* 09-search.c -- made from chapters/09-search.w; change it there */

/* 9.2 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "03-loop/laboratory.h"
#include "03-loop/loop.h"
#include "04-cache/cache.h"
#include "07-sampling/sampling.h"
#include "09-search/sharing.h"
#include "09-search/tree.h"
#include "A6-kernels/numbers.h"

/* 9.98  The whole program */

enum { LONGEST = 160 };

/* 9.60  What the program works with */

struct study {
  struct laboratory lab;
  struct tokenizer *words;
  struct store *plain;
  struct ids tales;
};
static bool study_open(struct study *all, struct error *why)
{
  struct mapping map;
  *all = (struct study) {.words = NULL };
  if (!laboratory_open(&all->lab, why))
    return false;
  struct memory *m = &all->lab.m;
  all->words = tokenizer_open(m, "models/pocket", why);
  all->plain = store_open(m, &all->lab.pocket->config, 1, why);
  if (all->words == NULL || all->plain == NULL
      || !file_map(&map, "models/pocket/tales.txt", why))
    return false;
  bool ok = tokenizer_encode(all->words, m, (const char *)map.bytes,
                             map.size, false, true, &all->tales, why);
  file_unmap(&map);
  return ok;
}

static void study_close(struct study *all)
{
  ids_free(&all->lab.m, &all->tales);
  store_close(all->plain);
  tokenizer_close(&all->lab.m, all->words);
  laboratory_close(&all->lab);
}

/* 9.57  Search as in the box */

static bool paper_score(void *self, const struct search_beam *grown, size_t n,
                        float *logits, struct error *why)
{
  static const struct {
    const char *after;
    double p[3];
  } box[] = {
    {"", {0.5, 0.4, 0.1}}, {"a", {0.4, 0.3, 0.3}},
    {"b", {0.1, 0.1, 0.8}}, {"aa", {0.6, 0.2, 0.2}},
    {"bc", {0.5, 0.25, 0.25}}
  };
  (void)self, (void)why;
  for (size_t i = 0; i < n; i++) {
    char text[8] = "";
    for (size_t k = 1; k < grown[i].n && k < 8; k++)
      text[k - 1] = (char)('a' + grown[i].id[k]);
    float *z = logits + 4 * i;
    for (size_t v = 0; v < 4; v++)
      z[v] = v == 3 ? -INFINITY : 0;
    for (size_t line = 0; line < 5; line++)
      for (size_t v = 0; strcmp(box[line].after, text) == 0 && v < 3; v++)
        z[v] = (float)num_log(box[line].p[v]);
  }
  return true;
}

/* 9.58  Search as in the box */

static bool paper_see(void *self, const struct search_step *now)
{
  (void)self;
  printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    if (c->fate == FATE_DROPPED)
      continue;
    printf("   ");
    for (size_t k = 1; k < now->grown[c->parent].n; k++)
      putchar('a' + (int)now->grown[c->parent].id[k]);
    printf("%c %.2f", 'a' + (int)c->token, num_exp(c->score));
  }
  printf("\n");
  return true;
}

/* 9.59  Search as in the box */

static bool paper_search(struct study *all, size_t beams, bool aloud,
                         double *p, struct error *why)
{
  struct search_source from = {.vocab = 4,.score = paper_score };
  struct search_settings want = {.num_beams = beams,.num_return = 1,
    .max_length = 4,.see = aloud ? paper_see : NULL
  };
  struct search_result r;
  const uint32_t begin = 3;
  if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r, why))
    return false;
  *p = num_exp(r.text[0].sum);
  search_free(&r);
  return true;
}

/* 9.61  Search with a model */

static bool model_search(struct study *all, const uint32_t * prompt, size_t n,
                         size_t page, const struct search_settings *want,
                         struct search_result *r, struct cache_state *state,
                         struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct search_model beams;
  struct search_source from;
  struct store *s = cache_open(&lab->m, &lab->pocket->config,
                               (uint32_t) want->num_beams, &(struct cache_wishes) {
                               .page_rows = page
                               }, why);
  if (s == NULL)
    return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  lab->c = (struct counters) {.passes = 0 };
  bool ok = search_model_open(&beams, &g, want->num_beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, &lab->m, lab->e.k, prompt, n, want, r, why);
    search_model_close(&beams);
  }
  *state = cache_look(s);
  store_close(s);
  return ok;
}

/* 9.62  Print the candidates of each step */

enum { CAT = 3, CAT_STEPS = 6, CAT_BEAMS = 4 };
static void spell(const struct study *all, const uint32_t * id, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t length;
    const unsigned char *byte = tokenizer_text(all->words, id[i], &length);
    for (size_t k = 0; k < length; k++)
      putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
}

/* 9.63  Print the candidates of each step */

static bool cat_see(void *self, const struct search_step *now)
{
  const struct study *all = self;
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->grown[c->parent];
    if (c->fate == FATE_DROPPED)
      continue;
    printf("%zu.%zu %7.3f %7.3f  ", now->number, c->rank, c->score, c->logprob);
    spell(all, b->id + CAT, b->n - CAT);
    spell(all, &c->token, 1);
    printf("\n");
  }
  return true;
}

static const struct search_settings cat_wishes = {
  .num_beams = CAT_BEAMS,.num_return = 1,.max_length = CAT + CAT_STEPS,
  .length_penalty = 1
};

/* 9.64  Print the candidates of each step */

static bool text_logprob(struct study *all, const uint32_t * id, size_t given,
                         size_t n, double *sum, struct error *why)
{
  double one[LONGEST], whole;
  if (n > LONGEST)
    return error_say(why, "a text of %zu tokens; wanted: at"
                     " most %d", n, LONGEST);
  if (!logprobs(&all->lab.e, all->lab.pocket, all->plain, id, n, one, &whole, why))
    return false;
  *sum = 0;
  for (size_t i = given; i < n; i++)
    *sum += one[i];
  return true;
}

/* 9.65  Print the candidates of each step */

static bool write_text(struct study *all, const uint32_t * prompt, size_t given,
                       size_t n, step_choose * choose, void *chooser,
                       struct continuation *text, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
                               &(struct cache_wishes) {.rows = 0 }, why);
  if (s == NULL)
    return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = {.max_new_tokens = n,.keep = true,
    .choose = choose,.chooser = chooser
  };
  bool ok = generate(&g, prompt, given, &want, text, why);
  store_close(s);
  return ok;
}

/* 9.66  Print the candidates of each step */

static bool print_cat(struct study *all, struct error *why)
{
  struct search_settings want = cat_wishes;
  struct search_result r;
  struct cache_state state;
  struct continuation text;
  double sum = 0;
  want.see = cat_see, want.self = all;
  if (!model_search(all, all->lab.sentence, CAT, 0, &want, &r, &state, why))
    return false;
  bool ok = write_text(all, all->lab.sentence, CAT, CAT_STEPS, NULL, NULL,
                       &text, why);
  if (ok && text_logprob(all, text.text.id, CAT, text.text.n, &sum, why)) {
    printf("greedy: %.3f ", sum);
    spell(all, text.text.id, text.text.n);
    printf("\nbeams:  %.3f ", r.text[0].sum);
    spell(all, r.text[0].id, r.text[0].n);
    printf("\n");
  } else
    ok = false;
  if (text.text.n > 0)
    continuation_free(&all->lab.m, &text);
  search_free(&r);
  return ok;
}

/* 9.68  Count what a search costs */

enum { SHARE_PROMPT = 48, SHARE_STEPS = 96 };
static bool print_shared(struct study *all, size_t beams, struct error *why)
{
  struct search_settings want = {.num_beams = beams,.num_return = 1,
    .max_length = SHARE_PROMPT + SHARE_STEPS,.length_penalty = 1
  };
  const struct model_config *c = &all->lab.pocket->config;
  size_t row = 2 * sizeof(float) * c->n_layers * c->n_kv_heads * c->head_dim;
  double whole = 0, copied[2];
  for (size_t i = 0; i < 2; i++) {
    struct search_result r;
    struct cache_state state;
    if (!model_search(all, all->tales.id, SHARE_PROMPT, i == 0 ? 16 : 64,
                      &want, &r, &state, why))
      return false;
    copied[i] = (double)state.bytes_copied / 1000;
    search_free(&r);
  }
  for (size_t t = 0; t + 1 < SHARE_STEPS; t++)
    whole += (double)(beams * row * (SHARE_PROMPT + t)) / 1000;
  printf("share.passes.%zu %" PRIu64 "\n", beams, all->lab.c.passes);
  printf("share.rows.%zu %" PRIu64 "\n", beams, all->lab.c.rows);
  printf("share.copied16.%zu %.3f\nshare.copied64.%zu %.3f\n", beams,
         copied[0], beams, copied[1]);
  printf("share.all.%zu %.3f\n", beams, whole);
  if (beams == 4)
    printf("share.less %.4f\nshare.row %zu bytes\n", 100 * copied[0] / whole, row);
  return true;
}

/* 9.69  Models small enough to be searched to the end */

enum { MODELS = 2000, WIDE = 3, DEEP = 6, NODES = 364, MOST_BEAMS = 8 };
struct forest {
  uint32_t model;
  double spread;
  float z[NODES][WIDE];
};
static double normal_for(uint32_t model, uint32_t node, uint32_t token)
{
  uint32_t key[2] = { 9, 0 };
  uint32_t counter[4] = { token, node, model, 9 }, out[4];
  double u[2];
  philox4x32(key, counter, out);
  for (int i = 0; i < 2; i++)
    u[i] = ((double)((uint64_t) out[2 * i] << 20
                     | out[2 * i + 1] >> 12) + 0.5) * 0x1p-52;
  return sqrt(-2 * num_log(u[0])) * num_cos(6.283185307179586 * u[1]);
}

static void plant(struct forest *f)
{
  for (uint32_t node = 0; node < NODES; node++)
    for (uint32_t v = 0; v < WIDE; v++)
      f->z[node][v]
          = (float)(f->spread * normal_for(f->model, node, v));
}

/* 9.70  Models small enough to be searched to the end */

static bool forest_score(void *self, const struct search_beam *grown,
                         size_t n, float *logits, struct error *why)
{
  const struct forest *f = self;
  (void)why;
  for (size_t i = 0; i < n; i++) {
    size_t node = 0;
    for (size_t k = 1; k < grown[i].n; k++)
      node = WIDE * node + 1 + grown[i].id[k];
    memcpy(logits + WIDE * i, f->z[node], sizeof f->z[node]);
  }
  return true;
}

static double log_of(const struct forest *f, size_t node, size_t v)
{
  double sum = 0;
  for (size_t i = 0; i < WIDE; i++)
    sum += num_exp((double)f->z[node][i] - (double)f->z[node][v]);
  return -num_log(sum);
}

/* 9.71  Models small enough to be searched to the end */

static double best_text(const struct forest *f, size_t node, size_t depth)
{
  double best = -INFINITY;
  if (depth == DEEP)
    return 0;
  for (size_t v = 0; v < WIDE; v++) {
    double below = log_of(f, node, v)
        + best_text(f, WIDE * node + 1 + v, depth + 1);
    if (below > best)
      best = below;
  }
  return best;
}

static void greedy_text(const struct forest *f, uint32_t id[1 + DEEP])
{
  size_t node = 0;
  id[0] = 0;
  for (size_t depth = 1; depth <= DEEP; depth++) {
    size_t best = 0;
    for (size_t v = 1; v < WIDE; v++)
      if (f->z[node][v] > f->z[node][best])
        best = v;
    id[depth] = (uint32_t) best;
    node = WIDE * node + 1 + best;
  }
}

/* 9.72  Ask each search four questions */

struct answers {
  size_t found, worse, other, turned, turns, steps;
};
static bool count_turns(void *self, const struct search_step *now)
{
  struct answers *a = self;
  if (now->number == 1)
    return true;
  a->steps++;
  a->turns += now->candidate[0].parent != 0;
  return true;
}

/* 9.73  Ask each search four questions */

static bool ask(struct study *all, struct forest *f, size_t beams, double best,
                const uint32_t greedy[1 + DEEP], double *sum, struct answers *a,
                struct error *why)
{
  struct search_source from = { WIDE, 0, f, forest_score };
  struct search_settings want = {.num_beams = beams,.num_return = 1,
    .max_length = 1 + DEEP,.see = count_turns,.self = a
  };
  struct search_result r;
  const uint32_t begin = 0;
  size_t turns = a->turns;
  if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r, why))
    return false;
  if (beams == 1)
    *sum = r.text[0].sum;
  a->found += r.text[0].sum > best - 1e-9;
  a->worse += r.text[0].sum < *sum - 1e-9;
  a->other += beams == 1
      ? memcmp(r.text[0].id, greedy, (1 + DEEP) * sizeof *greedy) != 0
      : r.text[0].id[1] != greedy[1];
  a->turned += a->turns > turns;
  search_free(&r);
  return true;
}

/* 9.74  Ask each search four questions */

static const double spreads[] = { 0.75, 1.5, 3 };
enum { SPREADS = 3, EXACT = 50, ENOUGH = 243 };
struct census {
  struct answers of[SPREADS][MOST_BEAMS + 1], exact;
};
static bool ask_all(struct study *all, struct census *c, struct error *why)
{
  struct forest f;
  uint32_t greedy[1 + DEEP];
  double sum = 0;
  *c = (struct census) {.exact = {0} };
  for (size_t s = 0; s < SPREADS; s++)
    for (f.model = 0; f.model < MODELS; f.model++) {
      f.spread = spreads[s];
      plant(&f);
      greedy_text(&f, greedy);
      double best = best_text(&f, 0, 0);
      for (size_t b = 1; b <= MOST_BEAMS; b++)
        if (!ask(all, &f, b, best, greedy, &sum, &c->of[s][b], why))
          return false;
      if (s == 1 && f.model < EXACT && !ask(all, &f, ENOUGH, best, greedy,
                                            &sum, &c->exact, why))
        return false;
    }
  return true;
}

/* 9.76  Ask each search four questions */

static double percent(size_t part, size_t whole)
{
  return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

static bool print_forest(struct study *all, struct error *why)
{
  struct census c;
  if (!ask_all(all, &c, why))
    return false;
  printf("forest.models %d\nforest.nodes %d\nforest.exact %d\n"
         "forest.enough %d\n", MODELS, NODES, EXACT, ENOUGH);
  printf("forest.exact.found %zu\n", c.exact.found);
  for (size_t b = 1; b <= 5; b++) {
    const struct answers *a = &c.of[1][b];
    printf("forest.found.%zu %.4f\nforest.missed.%zu %.4f\n", b,
           percent(a->found, MODELS), b, percent(MODELS - a->found, MODELS));
    printf("forest.worse.%zu %zu\nforest.share.worse.%zu %.4f\n", b, a->worse,
           b, percent(a->worse, MODELS));
    printf("forest.turned.%zu %.4f\nforest.other.%zu %.4f\n", b,
           percent(a->turned, MODELS), b, percent(a->other, MODELS));
    printf("forest.turns.%zu %.4f\n", b, percent(a->turns, a->steps));
  }

/* 9.78  Print what the forest says about claims */

  printf("claim.S1-33 %zu\n", MODELS - c.of[1][1].other);
  printf("claim.S3-27 %.4f\n", percent(c.of[1][4].found, MODELS));
  printf("claim.S2-93 %.4f\n", percent(c.of[1][5].found - c.of[1][1].found,
                                       MODELS));
  printf("claim.S3-28 %zu\n", c.of[1][2].worse);
  printf("claim.S1-53 %.4f\n", percent(c.of[1][2].turned, MODELS));
  printf("claim.S3-06 %.4f\n", percent(c.of[1][5].turned, MODELS));

  return true;
}

/* 9.77  Ask each search four questions */

static bool print_optimum(struct study *all, struct error *why)
{
  struct census c;
  if (!ask_all(all, &c, why))
    return false;
  printf("beams,flat,middle,steep\n");
  for (size_t b = 1; b <= MOST_BEAMS; b++)
    printf("%zu,%.3f,%.3f,%.3f\n", b, percent(c.of[0][b].found, MODELS),
           percent(c.of[1][b].found, MODELS), percent(c.of[2][b].found, MODELS));
  return true;
}

/* 9.79  Count how often a text takes something back */

struct recaller {
  struct sampler *dice;
  uint32_t seen[LONGEST];
  size_t n, back;
};
static bool recall(void *self, const float *logits,
                   const struct continuation *text, uint32_t * chosen,
                   struct error *why)
{
  struct recaller *r = self;
  for (size_t i = 0; i < r->n; i++)
    r->back += r->seen[i] != text->text.id[i];
  r->n = text->text.n;
  if (r->n > LONGEST)
    return error_say(why, "a text of %zu tokens; wanted: at"
                     " most %d", r->n, LONGEST);
  memcpy(r->seen, text->text.id, r->n * sizeof *r->seen);
  return r->dice == NULL || sampler_choose(r->dice, logits, text, chosen, why);
}

/* 9.82  Write on in seven ways */

enum { GIVEN = 48, WRITTEN = 48, WINDOWS = 32 };
enum { TALE, DICE, BEST, COOL, GREEDY, TWO, FOUR, WAYS };
static const struct {
  const char *name;
  size_t beams;
  double temperature;
} ways[WAYS] = { {"tale", 0, 0}, {"dice", 0, 1}, {"best", 0, 1},
{"cool", 0, 0.5}, {"greedy", 0, 0}, {"two", 2, 0},
{"four", 4, 0}
};

struct shelf_of_texts {
  size_t n, at[WINDOWS];
  uint32_t text[WAYS][WINDOWS][WRITTEN], beams[WINDOWS][4][WRITTEN],
      samples[WINDOWS][4][WRITTEN];
  struct answers turns;
  size_t back;
};

/* 9.83  Write on in seven ways */

static void find_windows(const struct study *all, struct shelf_of_texts *x)
{
  x->n = 0;
  for (size_t at = 0, i = 0; i < all->tales.n && x->n < WINDOWS; i++) {
    if (all->tales.id[i] == 0)
      at = i + 1;
    if (i + 1 - at < GIVEN + WRITTEN)
      continue;
    memcpy(x->text[TALE][x->n], &all->tales.id[at + GIVEN],
           sizeof x->text[TALE][0]);
    x->at[x->n++] = at;
    at += WRITTEN;
  }
}

/* 9.84  Write on in seven ways */

static bool write_alone(struct study *all, struct shelf_of_texts *x,
                        size_t window, size_t way, uint32_t number, uint32_t * to,
                        struct error *why)
{
  struct sampler dice = {.s = sampling_normal,.seed = 1 + window,
    .sequence = number
  };
  struct recaller r = {.dice = way == GREEDY ? NULL : &dice };
  struct continuation c;
  dice.s.temperature = ways[way].temperature;
  if (!funnel_open(&dice.f, &all->lab.m, all->lab.e.k,
                   all->lab.pocket->config.vocab_size, why))
    return false;
  bool ok = write_text(all, &all->tales.id[x->at[window]], GIVEN, WRITTEN,
                       recall, &r, &c, why);
  if (ok)
    memcpy(to, &c.text.id[GIVEN], WRITTEN * sizeof *to);
  if (ok)
    continuation_free(&all->lab.m, &c);
  funnel_close(&dice.f);
  x->back += r.back;
  return ok;
}

/* 9.85  Write on in seven ways */

static bool write_beams(struct study *all, struct shelf_of_texts *x,
                        size_t window, size_t way, struct error *why)
{
  size_t beams = ways[way].beams;
  struct answers two = { 0 };
  struct search_settings want = {.num_beams = beams,.num_return = beams,
    .max_length = GIVEN + WRITTEN,.length_penalty = 1,.see = count_turns,
    .self = beams == 4 ? &x->turns : &two
  };
  struct search_result r;
  struct cache_state state;
  if (!model_search(all, &all->tales.id[x->at[window]], GIVEN, 0, &want, &r,
                    &state, why))
    return false;
  memcpy(x->text[way][window], r.text[0].id + GIVEN, sizeof x->text[way][window]);
  for (size_t i = 0; beams == 4 && i < 4; i++)
    memcpy(x->beams[window][i], r.text[i].id + GIVEN, sizeof x->beams[window][i]);
  search_free(&r);
  return true;
}

/* 9.86  Write on in seven ways */

static bool write_best(struct study *all, struct shelf_of_texts *x,
                       size_t window, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct sampler dice = {.s = sampling_normal,.seed = 1 + window };
  struct best_of best = {.winner = 0 };
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
                               &(struct cache_wishes) {.rows = 0 }, why);
  if (s == NULL)
    return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  bool ok = funnel_open(&dice.f, &lab->m, lab->e.k,
                        lab->pocket->config.vocab_size, why)
      && best_of_write(&g, &dice, &all->tales.id[x->at[window]], GIVEN,
                       &(struct settings) {.max_new_tokens = WRITTEN,.keep =
                       true }, 4,
                       &best, why);
  uint32_t *to = x->text[BEST][window];
  if (ok)
    memcpy(to, &best.best.text.id[GIVEN], WRITTEN * sizeof *to);
  if (ok && memcmp(to, x->samples[window][best.winner], WRITTEN * sizeof *to) != 0)
    ok = error_say(why, "the best of four in"
                   " window %zu is none of them", window);
  if (ok)
    best_of_free(&lab->m, &best);
  if (dice.f.m != NULL)
    funnel_close(&dice.f);
  store_close(s);
  return ok;
}

/* 9.87  Write on in seven ways */

static bool fill_shelf(struct study *all, struct shelf_of_texts *x,
                       struct error *why)
{
  find_windows(all, x);
  for (size_t i = 0; i < x->n; i++) {
    for (uint32_t k = 0; k < 4; k++)
      if (!write_alone(all, x, i, DICE, k, x->samples[i][k], why))
        return false;
    memcpy(x->text[DICE][i], x->samples[i][0], sizeof x->text[DICE][i]);
    if (!write_best(all, x, i, why)
        || !write_alone(all, x, i, COOL, 0, x->text[COOL][i], why)
        || !write_alone(all, x, i, GREEDY, 0, x->text[GREEDY][i], why)
        || !write_beams(all, x, i, TWO, why)
        || !write_beams(all, x, i, FOUR, why))
      return false;
  }
  return true;
}

/* 9.88  Measure what was written */

static double distinct_pairs(uint32_t(*text)[WRITTEN], size_t n)
{
  size_t fresh = 0, of = n * (WRITTEN - 1);
  for (size_t i = 0; i < of; i++) {
    const uint32_t *a = &text[i / (WRITTEN - 1)][i % (WRITTEN - 1)];
    bool seen = false;
    for (size_t k = 0; !seen && k < i; k++) {
      const uint32_t *b = &text[k / (WRITTEN - 1)][k % (WRITTEN - 1)];
      seen = a[0] == b[0] && a[1] == b[1];
    }
    fresh += !seen;
  }
  return percent(fresh, of);
}

/* 9.89  Measure what was written */

static double entropy_of(uint32_t(*text)[WRITTEN], size_t n)
{
  double sum = 0, all = (double)(n * WRITTEN);
  for (size_t i = 0; i < n * WRITTEN; i++) {
    size_t count = 0;
    for (size_t k = 0; k < n * WRITTEN; k++)
      count += text[k / WRITTEN][k % WRITTEN]
          == text[i / WRITTEN][i % WRITTEN];
    sum -= num_log((double)count / all);
  }
  return sum / all / num_log(2);
}

/* 9.90  Measure what was written */

static bool window_logprob(struct study *all, const struct shelf_of_texts *x,
                           size_t way, size_t window, double *each,
                           struct error *why)
{
  uint32_t id[GIVEN + WRITTEN];
  memcpy(id, &all->tales.id[x->at[window]], GIVEN * sizeof *id);
  memcpy(id + GIVEN, x->text[way][window], WRITTEN * sizeof *id);
  if (!text_logprob(all, id, GIVEN, GIVEN + WRITTEN, each, why))
    return false;
  *each /= WRITTEN;
  return true;
}

/* 9.91  Measure what was written */

static bool print_dull(struct study *all, struct shelf_of_texts *x,
                       struct error *why)
{
  double each[WAYS][WINDOWS];
  for (size_t w = 0; w < WAYS; w++) {
    double logs = 0, pairs = 0;
    for (size_t i = 0; i < x->n; i++) {
      if (!window_logprob(all, x, w, i, &each[w][i], why))
        return false;
      logs += each[w][i], pairs += distinct_pairs(&x->text[w][i], 1);
    }
    printf("dull.logprob.%s %.5f\n", ways[w].name, logs / (double)x->n);
    printf("dull.distinct.%s %.4f\n", ways[w].name, pairs / (double)x->n);
    printf("dull.entropy.%s %.4f\n", ways[w].name, entropy_of(x->text[w], x->n));
  }
  size_t below = 0, worse = 0, same = 0, round = 0;
  for (size_t i = 0; i < x->n; i++) {
    below += each[TALE][i] < each[FOUR][i];
    worse += each[FOUR][i] < each[GREEDY][i] - 1e-9;
    same += memcmp(x->text[FOUR][i], x->text[GREEDY][i],
                   sizeof x->text[FOUR][i]) == 0;
    round += distinct_pairs(&x->text[FOUR][i], 1) < 50;
  }
  printf("dull.below %zu\ndull.worse %zu\ndull.same %zu\ndull.round %zu\n",
         below, worse, same, round);
  return true;
}

/* 9.92  Measure what was written */

static bool print_shelf(struct study *all, struct error *why)
{
  struct shelf_of_texts *x = memory_take(&all->lab.m, FOR_OTHER, 1, sizeof *x,
                                         why);
  bool ok = x != NULL && fill_shelf(all, x, why) && print_dull(all, x, why);
  double beams = 0, samples = 0;
  for (size_t i = 0; ok && i < x->n; i++)
    beams += distinct_pairs(x->beams[i], 4) / (double)x->n,
        samples += distinct_pairs(x->samples[i], 4) / (double)x->n;
  if (ok) {
    printf("dull.windows %zu\ndull.given %d\ndull.written %d\n", x->n, GIVEN,
           WRITTEN);
    printf("dull.set.beams %.4f\ndull.set.dice %.4f\n", beams, samples);
    printf("claim.S3-29 %.4f\n", beams);
    printf("final.prompts %zu\nfinal.steps %zu\nfinal.beam %zu\n", x->n,
           x->turns.steps, x->turns.turns);
    printf("final.greedy %zu\n", x->back);
    printf("coin.odds %.1f\ncoin.typical %.5f\ncoin.likeliest %.5f\n",
           num_exp(-100 * num_log(0.9)), 0.9 * num_log(0.9) + 0.1 * num_log(0.1),
           num_log(0.9));
  }
  memory_give(&all->lab.m, FOR_OTHER, x, 1, sizeof *x);
  return ok;
}

/* 9.93  Print the nodes of a tree */

static void print_token(const struct study *all, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(all->words, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] == ',')
      printf("\\char44 ");
    else if (byte[i] == '\n')
      printf("/");
    else
      putchar(byte[i]);
}

static void print_nodes(const struct study *all, const struct token_tree *t)
{
  printf("id,parent,step,token,p,logp,rank,chosen,reason\n");
  for (size_t i = 0; i < t->n; i++) {
    const struct tree_node *x = &t->node[i];
    printf("%zu,%u,%zu,", i + 1, x->parent, x->number);
    print_token(all, x->token);
    printf(",%.4f,%.4f,%zu,%d,%s\n", num_exp(x->logprob), x->logprob, x->rank,
           x->chosen, tree_reason_name(x->reason));
  }
}

/* 9.94  Print the nodes of a tree */

static bool print_lattice(struct study *all, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct token_tree t;
  struct search_settings want = cat_wishes;
  struct search_result r;
  struct cache_state state;
  if (!token_tree_open(&t, &lab->m, &lab->e, lab->pocket->config.vocab_size,
                       0, CAT_BEAMS, why))
    return false;
  want.see = token_tree_search, want.self = &t;
  bool ok = model_search(all, lab->sentence, CAT, 0, &want, &r, &state, why);
  if (ok) {
    token_tree_mark(&t, r.text[0].id + CAT, CAT_STEPS);
    print_nodes(all, &t);
    search_free(&r);
  }
  token_tree_close(&t);
  return ok;
}

/* 9.95  Print the nodes of a tree */

static bool grow_tree(struct study *all, struct sampler *dice,
                      struct token_tree *t, const struct ids *king,
                      struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct continuation text;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
                               &(struct cache_wishes) {.rows = 0 }, why);
  if (s == NULL)
    return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = {.max_new_tokens = 5,.see = token_tree_step,
    .self = t,.keep = true,.choose = sampler_choose,.chooser = dice
  };
  bool ok = generate(&g, king->id, king->n, &want, &text, why);
  if (ok)
    print_nodes(all, t), continuation_free(&lab->m, &text);
  store_close(s);
  return ok;
}

/* 9.96  Print the nodes of a tree */

static bool print_tree(struct study *all, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct sampler dice = {.s = sampling_normal,.seed = 13 };
  struct token_tree t = {.m = &lab->m };
  struct ids king = { NULL, 0, 0 };
  size_t vocab = lab->pocket->config.vocab_size;
  bool ok = tokenizer_encode(all->words, &lab->m, "The old king", 12, false,
                             false, &king, why)
      && funnel_open(&dice.f, &lab->m, lab->e.k, vocab, why)
      && token_tree_open(&t, &lab->m, &lab->e, vocab, 3, 1, why);
  if (ok)
    t.dice = true;
  ok = ok && grow_tree(all, &dice, &t, &king, why);
  token_tree_close(&t);
  if (dice.f.m != NULL)
    funnel_close(&dice.f);
  ids_free(&lab->m, &king);
  return ok;
}

/* 9.99  Print what was asked for */

static bool print_keys(struct study *all, struct error *why)
{
  double one, two;
  if (!paper_search(all, 1, false, &one, why)
      || !paper_search(all, 2, false, &two, why))
    return false;
  printf("paper.greedy %.4f\npaper.beams %.4f\n", one, two);
  printf("share.prompt %d\nshare.steps %d\n", SHARE_PROMPT, SHARE_STEPS);
  for (size_t beams = 1; beams <= 8; beams *= 2)
    if (!print_shared(all, beams, why))
      return false;
  return print_forest(all, why) && print_shelf(all, why);
}

static bool print_plain(struct study *all, struct error *why)
{
  double p;
  printf("two beams on paper\n");
  if (!paper_search(all, 2, true, &p, why))
    return false;
  printf("four beams behind `The cat sat'\n");
  return print_cat(all, why);
}

/* 9.100  Print what was asked for */

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    bool (*print)(struct study *, struct error *);
  } words[] = { {"values", print_keys},
  {"optimum", print_optimum}, {"lattice", print_lattice},
  {"tree", print_tree}, {"", print_plain}
  };
  struct study all;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = study_open(&all, &why);
  for (size_t i = 0; ok && i < sizeof words / sizeof *words; i++)
    if (strcmp(what, words[i].name) == 0)
      ok = words[i].print(&all, &why);
  study_close(&all);
  if (!ok)
    fprintf(stderr, "%s\n", why.words);
  return !ok;
}
