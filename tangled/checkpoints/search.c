/* the program -- made from chapters/09-search.w; change it there */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tokenizer/tokenizer.h"
#include "loop/laboratory.h"
#include "loop/loop.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "search/sharing.h"
#include "search/tree.h"
#include "functions/numbers.h"

/* <The whole program> */
enum { LONGEST = 160 };

/* <What the program works with> */
struct study { struct laboratory lab; struct tokenizer *words;
  struct store *plain; struct ids tales; };
static bool study_open(struct study *all, struct error *why)
{
  struct mapping map;
  *all = (struct study) { .words = NULL };
  if (!laboratory_open(&all->lab, why)) return false;
  struct memory *m = &all->lab.m;
  all->words = tokenizer_open(m, "models/pocket", why);
  all->plain = store_open(m, &all->lab.pocket->config, 1, why);
  if (all->words == NULL || all->plain == NULL
      || !file_map(&map, "models/pocket/tales.txt", why)) return false;
  bool ok = tokenizer_encode(all->words, m, (const char *) map.bytes,
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

/* <Search as in the boxes> */
struct paper { const char *letters; bool last; size_t lines;
  struct { const char *after; double p[3]; } line[5]; };
static const struct paper boxes[2] = {
  { "abc", false, 5, { { "", { 0.5, 0.4, 0.1 } }, { "a", { 0.4, 0.3, 0.3 } },
    { "b", { 0.1, 0.1, 0.8 } }, { "aa", { 0.6, 0.2, 0.2 } },
    { "bc", { 0.5, 0.25, 0.25 } } } },
  { "ab.", true, 3, { { "", { 0.6, 0.1, 0.3 } }, { "a", { 0.2, 0.5, 0.3 } },
    { "b", { 0.15, 0.05, 0.8 } } } } };

static bool paper_score(void *self, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct paper *box = self;
  (void) why;
  for (size_t i = 0; i < n; i++) {
    char text[8] = "";
    for (size_t k = 1; k < grown[i].n && k < 8; k++)
      text[k - 1] = box->letters[grown[i].id[k]];
    const char *key = box->last && grown[i].n > 1
      ? text + grown[i].n - 2 : text;
    float *z = logits + 4 * i;
    for (size_t v = 0; v < 4; v++) z[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < box->lines; l++)
      for (size_t v = 0; strcmp(box->line[l].after, key) == 0 && v < 3; v++)
        z[v] = (float) num_log(box->line[l].p[v]);
  }
  return true;
}

static bool paper_see(void *self, const struct search_step *now)
{
  (void) self;
  printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    if (c->fate == FATE_DROPPED) continue;
    printf("   ");
    for (size_t k = 1; k < now->grown[c->parent].n; k++)
      putchar('a' + (int) now->grown[c->parent].id[k]);
    printf("%c %.2f", 'a' + (int) c->token, num_exp(c->score));
  }
  printf("\n");
  return true;
}

static bool paper_search(struct study *all, size_t beams, bool aloud,
  double *p, struct error *why)
{
  struct search_source from = { 4, 0, (void *) &boxes[0], paper_score };
  struct search_settings want = { .num_beams = beams, .num_return = 1,
    .max_length = 4, .see = aloud ? paper_see : NULL };
  struct search_result r;
  const uint32_t begin = 3;
  if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r,
    why)) return false;
  *p = num_exp(r.text[0].sum);
  search_free(&r);
  return true;
}

static bool paper_ends(struct study *all, struct error *why)
{
  static const struct { const char *name; enum early_stopping early;
    double lambda; } rule[] = { { "true", EARLY_TRUE, 1 },
    { "false", EARLY_FALSE, 1 }, { "never", EARLY_NEVER, 1 },
    { "false", EARLY_FALSE, 0 } };
  struct search_source from = { 4, 0, (void *) &boxes[1], paper_score };
  const uint32_t begin = 3, stop = 2;
  for (size_t i = 0; i < 4; i++) {
    struct search_settings want = { .num_beams = 2, .num_return = 2,
      .max_length = 5, .length_penalty = rule[i].lambda,
      .early = rule[i].early, .eos = &stop, .n_eos = 1 };
    struct search_result r;
    if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r,
      why)) return false;
    printf("%-5s  %.0f  %zu" " steps", rule[i].name, rule[i].lambda, r.steps);
    for (size_t k = 0; k < r.n; k++) {
      printf("   ");
      for (size_t t = 1; t < r.text[k].n; t++)
        putchar(boxes[1].letters[r.text[k].id[t]]);
      printf(" %.3f", r.text[k].score);
    }
    printf("\n");
    search_free(&r);
  }
  return true;
}

/* <Penalise logits, and their logarithms> */
static bool print_penalty(struct study *all, struct error *why)
{
  static const float logit[3] = { 2, 1.5f, -1 };
  static const uint32_t said[2] = { 0, 2 };
  struct funnel f = { .m = NULL };
  bool ok = funnel_open(&f, &all->lab.m, all->lab.e.k, 3, why);
  printf("penalty.r 1.5\n");
  for (int logs = 0; ok && logs < 2; logs++) {
    const char *name = logs ? "log" : "logit";
    if (!(ok = funnel_fill(&f, logit, why))) break;
    if (logs) stage_log_softmax(&f);
    for (int v = 0; v < 3; v++)
      printf("penalty.%s.%c %.4f\n", name, 'a' + v, f.z[v]);
    stage_repetition_penalty(&f, 1.5, said, 2);
    for (int v = 0; v < 3; v++)
      printf("penalty.%s.after.%c" " %.4f\n", name, 'a' + v, f.z[v]);
  }
  if (f.m != NULL) funnel_close(&f);
  return ok;
}

/* <Search with a model> */
static bool model_search(struct study *all, const uint32_t *prompt, size_t n,
  size_t page, const struct search_settings *want, struct search_result *r,
  struct cache_state *state, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct search_model beams;
  struct search_source from;
  struct store *s = cache_open(&lab->m, &lab->pocket->config,
    (uint32_t) want->num_beams, &(struct cache_wishes) {
      .page_rows = page }, why);
  if (s == NULL) return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  lab->c = (struct counters) { .passes = 0 };
  bool ok = search_model_open(&beams, &g, want->num_beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, &lab->m, lab->e.k, prompt, n, want, r, why);
    search_model_close(&beams);
  }
  *state = cache_look(s);
  store_close(s);
  return ok;
}

/* <Print the candidates of each step> */
enum { CAT = 3, CAT_STEPS = 6, CAT_BEAMS = 4 };
static void spell(const struct study *all, const uint32_t *id, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t length;
    const unsigned char *byte = tokenizer_text(all->words, id[i], &length);
    for (size_t k = 0; k < length; k++)
      putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
}

static bool cat_see(void *self, const struct search_step *now)
{
  const struct study *all = self;
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->grown[c->parent];
    if (c->fate == FATE_DROPPED) continue;
    printf("%zu.%zu %7.3f %7.3f " " ", now->number, c->rank, c->score,
      c->logprob);
    spell(all, b->id + CAT, b->n - CAT);
    spell(all, &c->token, 1);
    printf("\n");
  }
  return true;
}

static const struct search_settings cat_wishes = {
  .num_beams = CAT_BEAMS, .num_return = 1, .max_length = CAT + CAT_STEPS,
  .length_penalty = 1 };

static bool text_logprob(struct study *all, const uint32_t *id, size_t given,
  size_t n, double *sum, struct error *why)
{
  double one[LONGEST], whole;
  if (n > LONGEST) return error_say(why, "a text of %zu" " tokens; wanted: at"
      " most %d", n, LONGEST);
  if (!logprobs(&all->lab.e, all->lab.pocket, all->plain, id, n, one, &whole,
    why)) return false;
  *sum = 0;
  for (size_t i = given; i < n; i++) *sum += one[i];
  return true;
}

static bool write_text(struct study *all, const uint32_t *prompt, size_t given,
  size_t n, step_choose *choose, void *chooser, struct continuation *text,
  struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  if (s == NULL) return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = n, .recall = store_keep,
    .choose = choose, .chooser = chooser };
  bool ok = generate(&g, prompt, given, &want, text, why);
  store_close(s);
  return ok;
}

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
  }
  else ok = false;
  if (text.text.n > 0) continuation_free(&all->lab.m, &text);
  search_free(&r);
  return ok;
}

/* <Name a token in a line of data> */
static void print_token(const struct study *all, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(all->words, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] == ',') printf("\\char44 "); /* a comma ends a field */
    else if (byte[i] == '\n') printf("/");
    else putchar(byte[i]);
}

/* <Follow seats and pages> */
enum { SEAT_ROWS = 4, SEAT_PAGES = 3 };
struct seats { struct search_model model; struct search_source real;
  const struct study *all; size_t page[CAT_BEAMS][SEAT_PAGES], pages, copied; };
static size_t readers(const struct seats *x, size_t slot, size_t page)
{
  size_t n = 0;
  for (size_t q = 0; q < CAT_BEAMS; q++) n += x->page[q][slot] == page;
  return n;
}

static size_t pages_read(const struct seats *x)
{
  size_t n = 0;
  for (size_t slot = 0; slot < SEAT_PAGES; slot++)
    for (size_t q = 0, k = 0; q < CAT_BEAMS; q++, k = 0) {
      while (x->page[k][slot] != x->page[q][slot]) k++;
      n += k == q && x->page[q][slot] > 0;
    }
  return n;
}

static bool write_row(struct seats *x, uint32_t seat, size_t position)
{
  size_t slot = position / SEAT_ROWS, *page = &x->page[seat][slot];
  bool copy = *page > 0 && readers(x, slot, *page) > 1;
  if (*page == 0 || copy) *page = ++x->pages;
  if (copy) x->copied += position % SEAT_ROWS;
  return copy;
}

static void print_seated(const struct seats *x,
  const struct search_beam *grown, size_t n, const bool *copied)
{
  for (size_t i = 0; i < n; i++)
    for (size_t t = 0; t < grown[i].n; t++) {
      uint32_t q = x->model.seat[i];
      size_t slot = t / SEAT_ROWS, last = grown[i].n - 1;
      bool shared = false;
      for (size_t k = 0; k < q; k++)
        shared = shared || x->page[k][slot] == x->page[q][slot];
      printf("%d,%u,%zu,%s,", grown[0].n == CAT + 5, q, t,
        t == last ? "new" : shared ? "shared"
        : copied[q] && slot == last / SEAT_ROWS ? "copied" : "own");
      print_token(x->all, grown[i].id[t]);
      printf("\n");
    }
}

static bool seats_score(void *self, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  struct seats *x = self;
  size_t from[CAT_BEAMS][SEAT_PAGES], first = grown[0].n - 1;
  bool copied[CAT_BEAMS] = { false };
  if (!x->real.score(x->real.self, grown, n, logits, why)) return false;
  memcpy(from, x->page, sizeof from);
  memset(x->page, 0, sizeof x->page);
  for (size_t i = 0; i < n && x->pages > 0; i++)
    memcpy(x->page[x->model.seat[i]], from[x->model.old[grown[i].parent]],
      sizeof from[0]);
  if (x->pages == 0) first = 0;
  for (uint32_t q = 0; q < CAT_BEAMS; q++)
    for (size_t i = 0; i < n; i++)
      for (size_t t = first; x->model.seat[i] == q && t < grown[i].n; t++)
        copied[q] = write_row(x, q, t);
  if (grown[0].n == CAT + 4 || grown[0].n == CAT + 5)
    print_seated(x, grown, n, copied);
  return true;
}

static bool print_seats(struct study *all, struct error *why)
{
  struct laboratory *lab = &all->lab;
  const struct model_config *c = &lab->pocket->config;
  size_t row = 2 * sizeof (float) * c->n_layers * c->n_kv_heads * c->head_dim;
  struct seats x = { .all = all };
  struct search_result r;
  struct store *s = cache_open(&lab->m, c, CAT_BEAMS,
    &(struct cache_wishes) { .page_rows = SEAT_ROWS }, why);
  if (s == NULL) return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  printf("after,seat,position," "kind,token\n");
  bool ok = search_model_open(&x.model, &g, CAT_BEAMS, 0, &x.real, why);
  struct search_source from = { x.real.vocab, x.real.longest, &x,
    seats_score };
  if (ok) {
    ok = search_run(&from, &lab->m, lab->e.k, lab->sentence, CAT, &cat_wishes,
      &r, why);
    if (ok) search_free(&r);
    search_model_close(&x.model);
  }
  struct cache_state state = cache_look(s);
  if (ok && (state.bytes_copied != x.copied * row
      || state.pages_used != pages_read(&x)))
    ok = error_say(why, "%zu bytes copied," " and %zu rows",
      state.bytes_copied, x.copied);
  store_close(s);
  return ok;
}

/* <Count what a search costs> */
enum { SHARE_PROMPT = 50, SHARE_STEPS = 96 };
static bool count_forks(void *self, const struct search_step *now)
{
  size_t *forks = self;
  for (size_t i = 0; i < now->n_candidates; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again = again || (now->candidate[k].fate == FATE_KEPT
        && now->candidate[k].parent == now->candidate[i].parent);
    *forks += again && now->candidate[i].fate == FATE_KEPT;
  }
  return true;
}

static bool print_shared(struct study *all, size_t beams, struct error *why)
{
  struct search_settings want = { .num_beams = beams, .num_return = 1,
    .max_length = SHARE_PROMPT + SHARE_STEPS, .length_penalty = 1 };
  const struct model_config *c = &all->lab.pocket->config;
  size_t row = 2 * sizeof (float) * c->n_layers * c->n_kv_heads * c->head_dim;
  double whole = 0, copied[2];
  size_t forks = 0;
  for (size_t i = 0; i < 2; i++) {
    struct search_result r;
    struct cache_state state;
    want.see = i == 0 ? count_forks : NULL, want.self = &forks;
    if (!model_search(all, all->tales.id, SHARE_PROMPT, i == 0 ? 16 : 64,
      &want, &r, &state, why)) return false;
    copied[i] = (double) state.bytes_copied / 1000;
    search_free(&r);
  }
  for (size_t t = 0; t + 1 < SHARE_STEPS; t++)
    whole += (double) (beams * row * (SHARE_PROMPT + t)) / 1000;
  /* <Print the costs for beams beams> */
  printf("share.passes.%zu %" PRIu64 "\n", beams, all->lab.c.passes);
  printf("share.rows.%zu %" PRIu64 "\n", beams, all->lab.c.rows);
  printf("share.copied16.%zu" " %.3f\n" "share.copied64.%zu" " %.3f\n", beams,
    copied[0], beams, copied[1]);
  printf("share.all.%zu %.3f\n", beams, whole);
  printf("share.forks.%zu" " %zu\n", beams, forks);
  double rows = (double) (row * forks) / 1000;
  if (beams == 4) printf("share.less %.4f\n" "share.row %zu" " bytes\n"
    "share.mean16 %.3f\n" "share.mean64 %.3f\n", 100 * copied[0] / whole,
    row, copied[0] / rows, copied[1] / rows);
  return true;
}

/* <Models small enough to be searched to the end> */
enum { MODELS = 2000, WIDE = 3, DEEP = 6, NODES = 364, MOST_BEAMS = 8 };
struct forest { uint32_t model; double spread; float z[NODES][WIDE]; };
static double normal_for(uint32_t model, uint32_t node, uint32_t token)
{
  uint32_t key[2] = { 9, 0 };
  uint32_t counter[4] = { token, node, model, 9 }, out[4];
  double u[2];
  philox4x32(key, counter, out);
  for (int i = 0; i < 2; i++) u[i] = ((double) ((uint64_t) out[2 * i] << 20
    | out[2 * i + 1] >> 12) + 0.5) * 0x1p-52;
  return sqrt(-2 * num_log(u[0])) * num_cos(6.283185307179586 * u[1]);
}

static void plant(struct forest *f)
{
  for (uint32_t node = 0; node < NODES; node++)
    for (uint32_t v = 0; v < WIDE; v++) f->z[node][v]
      = (float) (f->spread * normal_for(f->model, node, v));
}

static bool forest_score(void *self, const struct search_beam *grown,
  size_t n, float *logits, struct error *why)
{
  const struct forest *f = self;
  (void) why;
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
    sum += num_exp((double) f->z[node][i] - (double) f->z[node][v]);
  return -num_log(sum);
}

static double best_text(const struct forest *f, size_t node, size_t depth)
{
  double best = -INFINITY;
  if (depth == DEEP) return 0;
  for (size_t v = 0; v < WIDE; v++) {
    double below = log_of(f, node, v)
      + best_text(f, WIDE * node + 1 + v, depth + 1);
    if (below > best) best = below;
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
      if (f->z[node][v] > f->z[node][best]) best = v;
    id[depth] = (uint32_t) best;
    node = WIDE * node + 1 + best;
  }
}

static bool is_certain(const struct forest *f, const uint32_t greedy[1 + DEEP])
{
  size_t node[DEEP + 1] = { 0 };
  double product = 0;
  for (size_t d = 0; d < DEEP; d++)
    node[d + 1] = WIDE * node[d] + 1 + greedy[d + 1];
  for (size_t d = DEEP; d-- > 0; ) {
    product += log_of(f, node[d], greedy[d + 1]);
    for (size_t v = 0; v < WIDE; v++)
      if (v != greedy[d + 1] && log_of(f, node[d], v) > product) return false;
  }
  return true;
}

/* <Ask each search four questions> */
struct answers { size_t found, worse, other, turned, turns, steps; };
static bool count_turns(void *self, const struct search_step *now)
{
  struct answers *a = self;
  if (now->number == 1) return true;
  a->steps++;
  a->turns += now->candidate[0].parent != 0;
  return true;
}

static bool ask(struct study *all, struct forest *f, size_t beams, double best,
  const uint32_t greedy[1 + DEEP], double *sum, struct answers *a,
  struct error *why)
{
  struct search_source from = { WIDE, 0, f, forest_score };
  struct search_settings want = { .num_beams = beams, .num_return = 1,
    .max_length = 1 + DEEP, .see = count_turns, .self = a };
  struct search_result r;
  const uint32_t begin = 0;
  size_t turns = a->turns;
  if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r,
    why)) return false;
  if (beams == 1) *sum = r.text[0].sum;
  a->found += r.text[0].sum > best - 1e-9;
  a->worse += r.text[0].sum < *sum - 1e-9;
  a->other += beams == 1
    ? memcmp(r.text[0].id, greedy, (1 + DEEP) * sizeof *greedy) != 0
    : r.text[0].id[1] != greedy[1];
  a->turned += a->turns > turns;
  search_free(&r);
  return true;
}

static const double spreads[] = { 0.75, 1.5, 3 };
enum { SPREADS = 3, EXACT = 50, ENOUGH = 243 };
struct census { struct answers of[SPREADS][MOST_BEAMS + 1], exact;
  size_t certain; };
static bool ask_all(struct study *all, struct census *c, struct error *why)
{
  struct forest f;
  uint32_t greedy[1 + DEEP];
  double sum = 0;
  *c = (struct census) { .exact = { 0 } };
  for (size_t s = 0; s < SPREADS; s++)
    for (f.model = 0; f.model < MODELS; f.model++) {
      f.spread = spreads[s];
      plant(&f);
      greedy_text(&f, greedy);
      double best = best_text(&f, 0, 0);
      c->certain += s == 1 && is_certain(&f, greedy);
      for (size_t b = 1; b <= MOST_BEAMS; b++)
        if (!ask(all, &f, b, best, greedy, &sum, &c->of[s][b], why))
          return false;
      if (s == 1 && f.model < EXACT && !ask(all, &f, ENOUGH, best, greedy,
        &sum, &c->exact, why)) return false;
    }
  return true;
}

static double percent(size_t part, size_t whole)
{
  return whole == 0 ? 0 : 100 * (double) part / (double) whole;
}

static bool print_forest(struct study *all, struct error *why)
{
  struct census c;
  if (!ask_all(all, &c, why)) return false;
  printf("forest.models %d\n" "forest.nodes %d\n" "forest.exact %d\n"
    "forest.enough %d\n", MODELS, NODES, EXACT, ENOUGH);
  printf("forest.exact.found" " %zu\n", c.exact.found);
  printf("forest.certain" " %.4f\n", percent(c.certain, MODELS));
  for (size_t b = 1; b <= 5; b++) {
    const struct answers *a = &c.of[1][b];
    /* <Print the answers for b beams> */
    printf("forest.worse.%zu" " %zu\n", b, a->worse);
    const struct { const char *name; size_t part; } share[] = {
      { "found", a->found }, { "missed", MODELS - a->found },
      { "share.worse", a->worse }, { "turned", a->turned },
      { "other", a->other } };
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
      printf("forest.%s.%zu %.4f\n", share[i].name, b,
        percent(share[i].part, MODELS));
    printf("forest.turns.%zu" " %.4f\n", b, percent(a->turns, a->steps));
  }
  /* <Print what the forest says about claims> */
  printf("claim.S1-33 %zu\n", MODELS - c.of[1][1].other);
  printf("claim.S3-27 %.4f\n", percent(c.of[1][4].found, MODELS));
  printf("claim.S2-93 %.4f\n", percent(c.of[1][5].found, MODELS));
  printf("claim.S3-28 %zu\n", c.of[1][2].worse);
  printf("claim.S1-53 %.4f\n", percent(c.of[1][2].turned, MODELS));
  printf("claim.S3-06 %.4f\n", percent(c.of[1][5].turned, MODELS));
  return true;
}

static bool print_optimum(struct study *all, struct error *why)
{
  struct census c;
  if (!ask_all(all, &c, why)) return false;
  printf("beams,flat,middle," "steep\n");
  for (size_t b = 1; b <= MOST_BEAMS; b++)
    printf("%zu,%.3f,%.3f,%.3f\n", b, percent(c.of[0][b].found, MODELS),
      percent(c.of[1][b].found, MODELS), percent(c.of[2][b].found, MODELS));
  return true;
}

/* <Models that end> */
enum { GROVES = 1000, LONG = 8, ROOTS = 3280, STOP = 3, LAMBDAS = 3 };
struct grove { uint32_t model; double z[ROOTS][WIDE + 1]; };
static void plant_grove(struct grove *g)
{
  for (uint32_t node = 0; node < ROOTS; node++)
    for (uint32_t v = 0; v <= WIDE; v++)
      g->z[node][v] = (float) (1.5 * normal_for(g->model, node, v + 8));
}

static bool grove_score(void *self, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct grove *g = self;
  (void) why;
  for (size_t i = 0; i < n; i++) {
    size_t node = 0;
    for (size_t k = 1; k < grown[i].n; k++)
      node = WIDE * node + 1 + grown[i].id[k];
    for (size_t v = 0; v <= WIDE; v++)
      logits[(WIDE + 1) * i + v] = (float) g->z[node][v];
  }
  return true;
}

static size_t best_scores(const struct grove *g, size_t node, size_t written,
  double sum, double best[LAMBDAS])
{
  double whole = 0;
  size_t texts = 0;
  for (size_t v = 0; v <= WIDE; v++) whole += num_exp(g->z[node][v]);
  whole = num_log(whole);
  for (size_t v = 0; v <= WIDE; v++) {
    double here = sum + g->z[node][v] - whole, score = here;
    if (v != STOP && written + 1 < LONG) {
      texts += best_scores(g, WIDE * node + 1 + v, written + 1, here, best);
      continue;
    }
    texts++;
    for (size_t l = 0; l < LAMBDAS; l++, score /= (double) (written + 1))
      if (score > best[l]) best[l] = score;
  }
  return texts;
}

struct harvest { size_t steps, offers, tokens, found, ends, low; };
static bool count_ends(void *self, const struct search_step *now)
{
  struct harvest *h = self;
  h->steps++;
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    h->offers += c->fate == FATE_FINISHED;
    h->ends += c->token == STOP;
    h->low += c->token == STOP && c->fate == FATE_DROPPED;
  }
  return true;
}

static bool reap(struct study *all, struct grove *g, size_t lambda,
  enum early_stopping early, double best, struct harvest *h,
  struct error *why)
{
  struct search_source from = { WIDE + 1, 0, g, grove_score };
  const uint32_t begin = 0, stop = STOP;
  struct search_settings want = { .num_beams = 4, .num_return = 1,
    .max_length = 1 + LONG, .length_penalty = (double) lambda,
    .early = early, .eos = &stop, .n_eos = 1, .see = count_ends, .self = h };
  struct search_result r;
  if (!search_run(&from, &all->lab.m, all->lab.e.k, &begin, 1, &want, &r,
    why)) return false;
  h->tokens += r.text[0].n - 1;
  h->found += r.text[0].score > best - 1e-9;
  search_free(&r);
  return true;
}

static bool harvest_all(struct study *all, struct grove *g,
  struct harvest h[LAMBDAS][3], size_t *texts, struct error *why)
{
  for (g->model = 0; g->model < GROVES; g->model++) {
    double best[LAMBDAS] = { -INFINITY, -INFINITY, -INFINITY };
    plant_grove(g);
    *texts = best_scores(g, 0, 0, 0, best);
    for (size_t l = 0; l < LAMBDAS; l++)
      for (int e = 0; e < 3; e++)
        if (!reap(all, g, l, (enum early_stopping) e, best[l], &h[l][e],
          why)) return false;
  }
  return true;
}

static bool print_grove(struct study *all, struct error *why)
{
  static const char *const name[] = { "false", "true", "never" };
  struct harvest h[LAMBDAS][3] = { { { 0 } } };
  struct grove *g = memory_take(&all->lab.m, FOR_OTHER, 1, sizeof *g, why);
  size_t texts = 0;
  bool ok = g != NULL && harvest_all(all, g, h, &texts, why);
  memory_give(&all->lab.m, FOR_OTHER, g, 1, sizeof *g);
  if (!ok) return false;
  printf("grove.models %d\n" "grove.longest %d\n" "grove.nodes %d\n"
    "grove.texts %zu\n", GROVES, LONG, ROOTS, texts);
  for (size_t l = 0; l < LAMBDAS; l++)
    for (size_t e = 0; e < 3; e++) {
      /* <Print the harvest of h[l][e]> */
      const struct harvest *x = &h[l][e];
      const struct { const char *name; size_t sum; } mean[] = {
        { "steps", x->steps }, { "offers", x->offers }, { "tokens", x->tokens } };
      for (size_t i = 0; i < 3; i++)
        printf("grove.%s.%zu.%s" " %.3f\n", mean[i].name, l, name[e],
          (double) mean[i].sum / GROVES);
      printf("grove.found.%zu.%s" " %.2f\n", l, name[e], percent(x->found, GROVES));
      printf("grove.low.%zu.%s" " %.3f\n", l, name[e], percent(x->low, x->ends));
    }
  return true;
}

/* <Count how often a text takes something back> */
struct recaller { struct sampler *dice; uint32_t seen[LONGEST]; size_t n, back; };
static bool recall(void *self, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct recaller *r = self;
  for (size_t i = 0; i < r->n; i++) r->back += r->seen[i] != text->text.id[i];
  r->n = text->text.n;
  if (r->n > LONGEST) return error_say(why, "a text of %zu" " tokens; wanted: at"
      " most %d", r->n, LONGEST);
  memcpy(r->seen, text->text.id, r->n * sizeof *r->seen);
  return r->dice == NULL || sampler_choose(r->dice, logits, text, chosen, why);
}

/* <Write on in seven ways> */
enum { GIVEN = 48, WRITTEN = 48, WINDOWS = 32 };
enum { TALE, DICE, BEST, COOL, GREEDY, TWO, FOUR, WAYS };
static const struct { const char *name; size_t beams; double temperature; }
  ways[WAYS] = { { "tale", 0, 0 }, { "dice", 0, 1 }, { "best", 0, 1 },
  { "cool", 0, 0.5 }, { "greedy", 0, 0 }, { "two", 2, 0 },
  { "four", 4, 0 } };

/* n places in the tales; what was written there by each way, the four texts of four
   beams, and four of the dice; and who turned round, or took something back */
struct shelf_of_texts { size_t n, at[WINDOWS];
  uint32_t text[WAYS][WINDOWS][WRITTEN], beams[WINDOWS][4][WRITTEN],
  samples[WINDOWS][4][WRITTEN]; struct answers turns; size_t back; };

static void find_windows(const struct study *all, struct shelf_of_texts *x)
{
  x->n = 0;
  for (size_t at = 0, i = 0; i < all->tales.n && x->n < WINDOWS; i++) {
    if (all->tales.id[i] == 0) at = i + 1;
    if (i + 1 - at < GIVEN + WRITTEN) continue;
    memcpy(x->text[TALE][x->n], &all->tales.id[at + GIVEN],
      sizeof x->text[TALE][0]);
    x->at[x->n++] = at;
    at += WRITTEN;
  }
}

static bool write_alone(struct study *all, struct shelf_of_texts *x,
  size_t window, size_t way, uint32_t number, uint32_t *to, struct error *why)
{
  struct sampler dice = { .s = sampling_normal, .seed = 1 + window,
    .sequence = number };
  struct recaller r = { .dice = way == GREEDY ? NULL : &dice };
  struct continuation c;
  dice.s.temperature = ways[way].temperature;
  if (!funnel_open(&dice.f, &all->lab.m, all->lab.e.k,
    all->lab.pocket->config.vocab_size, why)) return false;
  bool ok = write_text(all, &all->tales.id[x->at[window]], GIVEN, WRITTEN,
    recall, &r, &c, why);
  if (ok) memcpy(to, &c.text.id[GIVEN], WRITTEN * sizeof *to);
  if (ok) continuation_free(&all->lab.m, &c);
  funnel_close(&dice.f);
  x->back += r.back;
  return ok;
}

static bool write_beams(struct study *all, struct shelf_of_texts *x,
  size_t window, size_t way, struct error *why)
{
  size_t beams = ways[way].beams;
  struct answers two = { 0 };
  struct search_settings want = { .num_beams = beams, .num_return = beams,
    .max_length = GIVEN + WRITTEN, .length_penalty = 1, .see = count_turns,
    .self = beams == 4 ? &x->turns : &two };
  struct search_result r;
  struct cache_state state;
  if (!model_search(all, &all->tales.id[x->at[window]], GIVEN, 0, &want, &r,
    &state, why)) return false;
  memcpy(x->text[way][window], r.text[0].id + GIVEN,
    sizeof x->text[way][window]);
  for (size_t i = 0; beams == 4 && i < 4; i++)
    memcpy(x->beams[window][i], r.text[i].id + GIVEN,
      sizeof x->beams[window][i]);
  search_free(&r);
  return true;
}

static bool write_best(struct study *all, struct shelf_of_texts *x,
  size_t window, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct sampler dice = { .s = sampling_normal, .seed = 1 + window };
  struct best_of best = { .winner = 0 };
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  if (s == NULL) return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  bool ok = funnel_open(&dice.f, &lab->m, lab->e.k,
      lab->pocket->config.vocab_size, why)
    && best_of_write(&g, &dice, &all->tales.id[x->at[window]], GIVEN,
      &(struct settings) { .max_new_tokens = WRITTEN, .recall = store_keep }, 4,
      &best, why);
  uint32_t *to = x->text[BEST][window];
  if (ok) memcpy(to, &best.best.text.id[GIVEN], WRITTEN * sizeof *to);
  if (ok && memcmp(to, x->samples[window][best.winner],
    WRITTEN * sizeof *to) != 0) ok = error_say(why, "the best of four in"
      " window %zu is none" " of them", window);
  if (ok) best_of_free(&lab->m, &best);
  if (dice.f.m != NULL) funnel_close(&dice.f);
  store_close(s);
  return ok;
}

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
        || !write_beams(all, x, i, FOUR, why)) return false;
  }
  return true;
}

/* <Measure what was written> */
static double distinct_pairs(uint32_t (*text)[WRITTEN], size_t n)
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

static double entropy_of(uint32_t (*text)[WRITTEN], size_t n)
{
  double sum = 0, all = (double) (n * WRITTEN);
  for (size_t i = 0; i < n * WRITTEN; i++) {
    size_t count = 0;
    for (size_t k = 0; k < n * WRITTEN; k++)
      count += text[k / WRITTEN][k % WRITTEN]
        == text[i / WRITTEN][i % WRITTEN];
    sum -= num_log((double) count / all);
  }
  return sum / all / num_log(2);
}

static bool window_logprob(struct study *all, const struct shelf_of_texts *x,
  size_t way, size_t window, double *each, struct error *why)
{
  uint32_t id[GIVEN + WRITTEN];
  memcpy(id, &all->tales.id[x->at[window]], GIVEN * sizeof *id);
  memcpy(id + GIVEN, x->text[way][window], WRITTEN * sizeof *id);
  if (!text_logprob(all, id, GIVEN, GIVEN + WRITTEN, each, why)) return false;
  *each /= WRITTEN;
  return true;
}

static bool print_dull(struct study *all, struct shelf_of_texts *x,
  struct error *why)
{
  double each[WAYS][WINDOWS];
  for (size_t w = 0; w < WAYS; w++) {
    double logs = 0, pairs = 0, gap = 0, squares = 0, n = (double) x->n;
    for (size_t i = 0; i < x->n; i++) {
      if (!window_logprob(all, x, w, i, &each[w][i], why)) return false;
      logs += each[w][i], pairs += distinct_pairs(&x->text[w][i], 1);
      double d = each[w][i] - each[TALE][i];
      gap += d, squares += d * d;
    }
    gap /= n;
    printf("dull.gap.%s %.5f\n" "dull.error.%s %.5f\n", ways[w].name,
      gap < 0 ? -gap : gap, ways[w].name,
      sqrt((squares / n - gap * gap) / (n - 1)));
    printf("dull.logprob.%s" " %.5f\n", ways[w].name, logs / (double) x->n);
    printf("dull.distinct.%s" " %.4f\n", ways[w].name, pairs / (double) x->n);
    printf("dull.entropy.%s" " %.4f\n", ways[w].name,
      entropy_of(x->text[w], x->n));
  }
  /* <Count the places where one way is less likely than another> */
  size_t below = 0, worse = 0, same = 0, round = 0;
  for (size_t i = 0; i < x->n; i++) {
    below += each[TALE][i] < each[FOUR][i];
    worse += each[FOUR][i] < each[GREEDY][i] - 1e-9;
    same += memcmp(x->text[FOUR][i], x->text[GREEDY][i],
      sizeof x->text[FOUR][i]) == 0;
    round += distinct_pairs(&x->text[FOUR][i], 1) < 50;
  }
  printf("dull.below %zu\n" "dull.worse %zu\n" "dull.same %zu\n" "dull.round %zu\n",
    below, worse, same, round);
  return true;
}

static bool print_shelf(struct study *all, struct error *why)
{
  struct shelf_of_texts *x = memory_take(&all->lab.m, FOR_OTHER, 1, sizeof *x,
    why);
  bool ok = x != NULL && fill_shelf(all, x, why) && print_dull(all, x, why);
  double beams = 0, samples = 0;
  for (size_t i = 0; ok && i < x->n; i++)
    beams += distinct_pairs(x->beams[i], 4) / (double) x->n,
      samples += distinct_pairs(x->samples[i], 4) / (double) x->n;
  if (ok) {
    printf("dull.windows %zu\n" "dull.given %d\n" "dull.written %d\n", x->n, GIVEN,
      WRITTEN);
    printf("dull.set.beams" " %.4f\n" "dull.set.dice %.4f\n", beams, samples);
    printf("claim.S3-29 %.4f\n", beams);
    printf("final.prompts %zu\n" "final.steps %zu\n" "final.beam %zu\n", x->n,
      x->turns.steps, x->turns.turns);
    printf("final.greedy %zu\n", x->back);
    printf("coin.odds %.1f\n" "coin.typical %.5f\n" "coin.likeliest" " %.5f\n",
      num_exp(-100 * num_log(0.9)), 0.9 * num_log(0.9) + 0.1 * num_log(0.1),
      num_log(0.9));
  }
  memory_give(&all->lab.m, FOR_OTHER, x, 1, sizeof *x);
  return ok;
}

static void print_wrapped(const struct study *all, const char *title,
  const uint32_t *id, size_t n)
{
  size_t column = 0;
  printf("%s:\n", title);
  for (size_t i = 0; i < n; i++) {
    size_t length;
    tokenizer_text(all->words, id[i], &length);
    if (column == 0 || column + length > 56)
      printf("%s   ", column == 0 ? "" : "\n"), column = 3;
    spell(all, &id[i], 1);
    column += length;
  }
  printf("\n");
}

static bool print_sample(struct study *all, struct error *why)
{
  struct shelf_of_texts *x = memory_take(&all->lab.m, FOR_OTHER, 1, sizeof *x,
    why);
  bool ok = x != NULL;
  size_t least = 0;
  double lowest = INFINITY;
  if (ok) find_windows(all, x);
  for (size_t i = 0; ok && i < x->n; i++) {
    ok = write_beams(all, x, i, FOUR, why);
    double now = distinct_pairs(&x->text[FOUR][i], 1)
      - distinct_pairs(&x->text[TALE][i], 1);
    if (ok && now < lowest) lowest = now, least = i;
  }
  if (ok) {
    print_wrapped(all, "behind", &all->tales.id[x->at[least] + GIVEN - 12], 12);
    print_wrapped(all, "the tale", x->text[TALE][least], WRITTEN);
    print_wrapped(all, "four beams", x->text[FOUR][least], WRITTEN);
  }
  memory_give(&all->lab.m, FOR_OTHER, x, 1, sizeof *x);
  return ok;
}

/* <Print the nodes of a tree> */
static void print_nodes(const struct study *all, const struct token_tree *t)
{
  printf("id,parent,step," "token,p,logp,rank," "chosen,reason\n");
  for (size_t i = 0; i < t->n; i++) {
    const struct tree_node *x = &t->node[i];
    printf("%zu,%u,%zu,", i + 1, x->parent, x->number);
    print_token(all, x->token);
    printf(",%.4f,%.4f,%zu,%d," "%s\n", num_exp(x->logprob), x->logprob, x->rank,
      x->chosen, tree_reason_name(x->reason));
  }
}

static bool print_lattice(struct study *all, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct token_tree t;
  struct search_settings want = cat_wishes;
  struct search_result r;
  struct cache_state state;
  if (!token_tree_open(&t, &lab->m, &lab->e, lab->pocket->config.vocab_size,
    0, CAT_BEAMS, why)) return false;
  want.see = token_tree_search, want.self = &t;
  bool ok = model_search(all, lab->sentence, CAT, 0, &want, &r, &state, why);
  if (ok && !t.ok) search_free(&r), *why = t.why, ok = false;
  if (ok) {
    token_tree_mark(&t, r.text[0].id + CAT, CAT_STEPS);
    print_nodes(all, &t);
    search_free(&r);
  }
  token_tree_close(&t);
  return ok;
}

static bool grow_tree(struct study *all, struct sampler *dice,
  struct token_tree *t, const struct ids *king, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct continuation text;
  struct store *s = cache_open(&lab->m, &lab->pocket->config, 1,
    &(struct cache_wishes) { .rows = 0 }, why);
  if (s == NULL) return false;
  struct generator g = { &lab->e, lab->pocket, s, &lab->m };
  struct settings want = { .max_new_tokens = 5, .see = token_tree_step,
    .self = t, .recall = store_keep, .choose = sampler_choose, .chooser = dice };
  bool ok = generate(&g, king->id, king->n, &want, &text, why);
  if (ok) continuation_free(&lab->m, &text);
  if (ok && !t->ok) *why = t->why, ok = false;
  if (ok) print_nodes(all, t);
  store_close(s);
  return ok;
}

static bool print_tree(struct study *all, struct error *why)
{
  struct laboratory *lab = &all->lab;
  struct sampler dice = { .s = sampling_normal, .seed = 13 };
  struct token_tree t = { .m = &lab->m };
  struct ids king = { NULL, 0, 0 };
  size_t vocab = lab->pocket->config.vocab_size;
  bool ok = tokenizer_encode(all->words, &lab->m, "The old king", 12, false,
      false, &king, why)
    && funnel_open(&dice.f, &lab->m, lab->e.k, vocab, why)
    && token_tree_open(&t, &lab->m, &lab->e, vocab, 3, 1, why);
  if (ok) t.dice = true;
  ok = ok && grow_tree(all, &dice, &t, &king, why);
  token_tree_close(&t);
  if (dice.f.m != NULL) funnel_close(&dice.f);
  ids_free(&lab->m, &king);
  return ok;
}

/* <Print what was asked for> */
static bool print_keys(struct study *all, struct error *why)
{
  double one, two;
  if (!paper_search(all, 1, false, &one, why)
      || !paper_search(all, 2, false, &two, why)) return false;
  printf("paper.greedy %.4f\n" "paper.beams %.4f\n", one, two);
  printf("share.prompt %d\n" "share.steps %d\n", SHARE_PROMPT, SHARE_STEPS);
  for (size_t beams = 1; beams <= 8; beams *= 2)
    if (!print_shared(all, beams, why)) return false;
  return print_penalty(all, why) && print_forest(all, why)
    && print_grove(all, why) && print_shelf(all, why);
}

static bool print_plain(struct study *all, struct error *why)
{
  double p;
  printf("two beams on paper\n");
  if (!paper_search(all, 2, true, &p, why)) return false;
  printf("with an end token:" " stopping, lambda\n");
  if (!paper_ends(all, why)) return false;
  printf("four beams behind" " `The cat sat'\n");
  return print_cat(all, why) && print_sample(all, why);
}

int main(int argc, char **argv)
{
  static const struct { const char *name; bool (*print)(struct study *,
    struct error *); } words[] = { { "values", print_keys },
    { "optimum", print_optimum }, { "lattice", print_lattice },
    { "tree", print_tree }, { "seats", print_seats }, { "", print_plain } };
  const size_t all_words = sizeof words / sizeof *words;
  struct study all;
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = study_open(&all, &why);
  size_t i = 0;
  while (i < all_words && strcmp(what, words[i].name) != 0) i++;
  if (ok && i == all_words) ok = error_say(&why, "%s: wanted: values,"
    " optimum, lattice," " tree, seats, or" " nothing", what);
  ok = ok && words[i].print(&all, &why);
  study_close(&all);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
