@i types.w
@s size_t int
@s step_select int
@s search_score int
@s search_see int
@s lab_print int

\chapterquestion{Does a search find the best text, what does it cost, and is the best text any good?}
@** Experiments on beam search. \label{lab:search}
\incipit{O}{n a real model} we cannot tell whether a search has found the likeliest text, since we cannot look at all texts. So we make two kinds of models that are small enough: forests, whose texts all have the same
length, and groves, whose texts end. We search thousands of them, and look at all of their texts. On the built-in model we can only count: what a search copies, when its leader changes, and how its texts differ from those of a tale.

@ The program prints all keys, the data of four figures, and, without an argument, two checkpoints of the chapter.

@c
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "search/sharing.h"
#include "search/tree.h"
#include "laboratory/kit2.h"
@;@#
@<Search with a cache@>@;
@<Search a table@>@;
@<The boxes as a source@>@;
@<Search as on paper@>@;
@<Show how the rules end a search@>@;
@<Show where the beams get lost@>@;
@<Penalise logits, and their logarithms@>@;
@<Follow slots and pages@>@;
@<Count what a search costs@>@;
@<Models small enough to be searched to the end@>@;
@<Ask each search four questions@>@;
@<Models that end@>@;
@<Write on in seven ways@>@;
@<Measure what was written@>@;
@<Draw a lattice and a tree@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "", show_paper }, { "", show_tale },@|
    { "values", print_paper },@|
    { "values", print_costs }, { "values", print_penalty },@|
    { "values", print_forest }, { "details", print_grove },@|
    { "values", print_shelf }, { "optimum", draw_optimum },@|
    { "lattice", draw_lattice }, { "tree", draw_tree },@|
    { "seats", draw_seats }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Running a search. \label{lab:searches}
Two kinds of sources are searched here. The built-in model is searched with a cache that has a sequence for each beam; how large the pages are matters for what is copied, so it is a parameter. The other sources are tables: a struct, and a function that gives the scores. Their texts begin with a token of their own, which never comes again. Most searches return one text.

@<Search with a cache@>=
/* |search_run| with a model and a cache of its own, in pages of |page_rows| rows, 0 for the usual;
  |g->s| is not used. If |state| is not null, it gets what the cache had become */
static bool search_with_cache(const struct generate_context *g, size_t page_rows,
  const uint32_t *prompt, size_t n, const struct search_settings *want,@|
  struct search_result *r, struct cache_state *state, struct error *why)
{
  struct search_model beams;
  struct search_source from;
  struct store *s = cache_open(g->m, &g->lm->config,
    (uint32_t) want->num_beams,@|
    &(struct cache_options) @[{ .page_rows = page_rows }@], why);
  if (s == NULL) return false;
  struct generate_context own = @[{ g->e, g->lm, s, g->m }@];
  bool ok = search_model_open(&beams, &own, want->num_beams, 0, &from, why);
  if (ok) {
    ok = search_run(&from, g->m, g->e->k, prompt, n, want, r, why);
    search_model_close(&beams);
  }
  if (state != NULL) *state = cache_look(s);
  store_close(s);
  return ok;
}

@ A search of a table needs no cache.

@<Search a table@>=
static bool search_table(struct fixture *lab,
  const struct search_source *from, uint32_t begin,@|
  const struct search_settings *want, struct search_result *r,
  struct error *why)
{
  return search_run(from, &lab->m, lab->e.k, &begin, 1, want, r, why);
}

@ The figures show the search after \tok{The}\tok{\ cat}\tok{\ sat} that the chapter's checkpoint prints.

@<Search a table@>=
enum { CAT = 3, CAT_STEPS = 6, CAT_BEAMS = 4 };
static const struct search_settings cat_settings = @[{@|
  .num_beams = CAT_BEAMS, .num_return = 1, .max_length = CAT + CAT_STEPS,@|
  .length_penalty = 1 }@];
static size_t row_bytes_of(const struct model_config *c)
{
  return 2 * sizeof (float) * c->n_layers * c->n_kv_heads * c->head_dim;
}

@* The search of the hand calculation. \label{lab:paper}
A box of the chapter is a table of the probabilities of three letters, after a text or, in the second box, after its last letter. Token 3 begins the text and never comes again.

@<The boxes as a source@>=
struct paper_box { const char *letters; bool last; size_t lines;
  struct { const char *after; double p[3]; } line[5]; };
static const struct paper_box paper_boxes[2] = @[{@|
  { "abc", false, 5, { { "", { 0.5, 0.4, 0.1 } }, { "a", { 0.4, 0.3, 0.3 } },@|
    { "b", { 0.1, 0.1, 0.8 } }, { "aa", { 0.6, 0.2, 0.2 } },@|
    { "bc", { 0.5, 0.25, 0.25 } } } },@|
  { "ab.", true, 3, { { "", { 0.6, 0.1, 0.3 } }, { "a", { 0.2, 0.5, 0.3 } },@|
    { "b", { 0.15, 0.05, 0.8 } } } } }@];
static bool paper_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct paper_box *box = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++, logits += 4) {
    char text[8] = "", *key = text;
    for (size_t k = 1; k < grown[i].n && k < 8; k++)
      text[k - 1] = box->letters[grown[i].id[k]];
    if (box->last && text[0] != '\0') key += strlen(text) - 1;
    for (size_t v = 0; v < 4; v++) logits[v] = v == 3 ? -INFINITY : 0;
    for (size_t l = 0; l < box->lines; l++)
      for (size_t v = 0; strcmp(box->line[l].after, key) == 0 && v < 3; v++)
        logits[v] = (float) num_log(box->line[l].p[v]);
  }
  return true;
}
static struct search_source paper_source(size_t box)
{
  return (struct search_source) @[{ .vocab = 4, .score = paper_score,@|
    .ctx = (void *) &paper_boxes[box] }@];
}

@ One beam and two, on the box at the beginning of the chapter, give the two probabilities of the calculation.

@<Search as on paper@>=
static bool print_paper(struct fixture *lab, struct error *why)
{
  static const char *const key[2] = @[{ "paper.greedy", "paper.beams" }@];
  struct search_source from = paper_source(0);
  for (size_t i = 0; i < 2; i++) {
    struct search_settings want = @[{ .num_beams = i + 1, .num_return = 1,@|
      .max_length = 4 }@];
    struct search_result r;
    if (!search_table(lab, &from, 3, &want, &r, why)) return false;
    print_key(key[i], "%.4f", num_exp(r.text[0].sum));
    search_free(&r);
  }
  return true;
}

@ The first box has no end token and no length penalty; each step prints the beams that were kept. Of the second we want to know how each of the four rules ends it: after how many steps, and with which texts in the pool.

@<Show how the rules end a search@>=
static void print_letters(const char *letters, const uint32_t *id, size_t n)
{
  for (size_t i = 0; i < n; i++) putchar(letters[id[i]]);
}
static bool print_paper_step(void *ctx, const struct search_step *now)
{
  const char *letters = paper_boxes[0].letters;
  (void) ctx;
  printf("%zu", now->number);
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    const struct search_beam *b = &now->active[c->parent];
    if (c->outcome == OUTCOME_DROPPED) continue;
    printf("   ");
    print_letters(letters, b->id + 1, b->n - 1);
    print_letters(letters, &c->token, 1);
    printf(" %.2f", num_exp(c->score));
  }
  printf("\n");
  return true;
}
static const struct { const char *name; enum early_stopping early;
  double lambda; } rule[5] = @[{ { "", EARLY_FALSE, 0 },@|
  { "true", EARLY_TRUE, 1 }, { "false", EARLY_FALSE, 1 },@|
  { "never", EARLY_NEVER, 1 }, { "false", EARLY_FALSE, 0 } }@];
static void print_pool(const struct search_result *r, size_t i)
{
  printf("%-5s  %.0f  %zu" " steps", rule[i].name, rule[i].lambda, r->steps);
  for (size_t k = 0; k < r->n; k++) {
    printf("   ");
    print_letters(paper_boxes[1].letters, r->text[k].id + 1, r->text[k].n - 1);
    printf(" %.3f", r->text[k].score);
  }
  printf("\n");
}
static bool show_paper(struct fixture *lab, struct error *why)
{
  const uint32_t stop = 2;
  for (size_t i = 0; i < 5; i++) {
    struct search_source from = paper_source(i > 0);
    struct search_settings want = @[{ .num_beams = 2, .num_return = 2,@|
      .max_length = i == 0 ? 4 : 5, .length_penalty = rule[i].lambda,@|
      .early = rule[i].early, .eos = &stop, .n_eos = i > 0,@|
      .see = i == 0 ? print_paper_step : NULL }@];
    struct search_result r;
    if (!search_table(lab, &from, 3, &want, &r, why)) return false;
    if (i > 0) print_pool(&r, i);
    search_free(&r);
  }
  return true;
}

@ The place in the tales where four beams repeat themselves most in comparison with the tale's own words is found in \cref{lab:dull}; here it is a number. We search there once more, and print the last words that were given, the tale's, and those of the beams, in short lines.

@<Show where the beams get lost@>=
enum { DULLEST = 240, SPAN = 48, WIDTH = 56 };
static void print_wrapped(const struct fixture *lab, const char *title,
  const uint32_t *id, size_t n)
{
  printf("%s:", title);
  for (size_t i = 0, column = WIDTH, length; i < n; i++, column += length) {
    const unsigned char *byte = tokenizer_text(lab->t, id[i], &length);
    if (column + length > WIDTH) printf("\n   "), column = 3;
    for (size_t k = 0; k < length; k++) putchar(byte[k] == '\n' ? '/' : byte[k]);
  }
  printf("\n");
}
static bool show_tale(struct fixture *lab, struct error *why)
{
  struct ids tales;
  struct search_result r;
  const struct search_settings want = @[{ .num_beams = 4, .num_return = 1,@|
    .max_length = 2 * SPAN, .length_penalty = 1 }@];
  if (!lab_tales(lab, &tales, why)) return false;
  if (!search_with_cache(&lab->b.g, 0, tales.id + DULLEST - SPAN, SPAN, &want, &r,
    NULL, why)) return false;
  print_wrapped(lab, "after", tales.id + DULLEST - 12, 12);
  print_wrapped(lab, "the tale", tales.id + DULLEST, SPAN);
  print_wrapped(lab, "four beams", r.text[0].id + SPAN, SPAN);
  search_free(&r);
  return true;
}

@ For \cref{tab:penalty} the chain of processors is filled twice with the same three logits. The first time the penalty works on the logits, as in greedy decoding, the second time on their log-probabilities.

@<Penalise logits, and their logarithms@>=
static bool print_penalty(struct fixture *lab, struct error *why)
{
  static const float logit[3] = @[{ 2, 1.5f, -1 }@];
  static const uint32_t said[2] = @[{ 0, 2 }@];
  struct funnel f;
  if (!funnel_open(&f, &lab->m, lab->e.k, 3, why)) return false;
  bool ok = true;
  printf("penalty.r 1.5\n");
  for (int logs = 0; ok && logs < 2; logs++) {
    const char *name = logs ? "log" : "logit";
    if (!(ok = funnel_fill(&f, logit, why))) break;
    if (logs) funnel_log_softmax(&f);
    for (int v = 0; v < 3; v++)
      printf("penalty.%s.%c %.4f\n", name, 'a' + v, f.score[v]);
    funnel_repetition_penalty(&f, 1.5, said, 2);
    for (int v = 0; v < 3; v++)
      printf("penalty.%s.after.%c" " %.4f\n", name, 'a' + v, f.score[v]);
  }
  funnel_close(&f);
  return ok;
}

@* Slots and pages. \label{lab:seats}
The cache does not tell its page numbers. So for \cref{fig:seats} we follow them by the rule of \cref{cache}, from which beam descends from which; and at the end we compare: the cache must have copied as many rows, and have as many pages in use, as we have counted. A source between the search and the model lets the model score, and then writes down where the rows have gone. For every sequence's slot, here called |seat|, and every four rows in it, here |slot|, it knows the page's number, 0 for none.

@<Follow slots and pages@>=
enum { SEAT_ROWS = 4, SEAT_PAGES = 3 };
struct seats { struct search_model model; struct search_source real;
  const struct fixture *lab; size_t page[CAT_BEAMS][SEAT_PAGES], pages,
  copied; };
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

@ A row is written to the slot's own page; if other slots read that page as well, the rows before it are copied first.

@<Follow slots and pages@>=
static bool write_row(struct seats *x, uint32_t seat, size_t position)
{
  size_t slot = position / SEAT_ROWS, *page = &x->page[seat][slot];
  bool copy = *page > 0 && readers(x, slot, *page) > 1;
  if (*page == 0 || copy) *page = ++x->pages;
  if (copy) x->copied += position % SEAT_ROWS;
  return copy;
}

@ Each row of each slot prints one line that says what the row is: new; copied in this pass; in a page that an earlier slot has as well; or the slot's own as before.

@<Follow slots and pages@>=
static void print_seated(const struct seats *x,
  const struct search_beam *grown, size_t n, const bool *copied)
{
  for (size_t i = 0; i < n; i++)
    for (size_t t = 0; t < grown[i].n; t++) {
      uint32_t q = x->model.slot[i];
      size_t slot = t / SEAT_ROWS, last = grown[i].n - 1;
      bool shared = false;
      for (size_t k = 0; k < q; k++)
        shared = shared || x->page[k][slot] == x->page[q][slot];
      const char *kind = copied[q] && slot == last / SEAT_ROWS ? "copied" : "own";
      if (shared) kind = "shared";
      if (t == last) kind = "new";
      printf("%d,%u,%zu,%s,", grown[0].n == CAT + 5, q, t, kind);
      print_token(x->lab, grown[i].id[t]);
      printf("\n");
    }
}
static bool seats_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  struct seats *x = ctx;
  size_t from[CAT_BEAMS][SEAT_PAGES];
  size_t first = x->pages == 0 ? 0 : grown[0].n - 1;
  bool copied[CAT_BEAMS] = @[{ false }@];
  if (!x->real.score(x->real.ctx, grown, n, logits, why)) return false;
  memcpy(from, x->page, sizeof from);
  memset(x->page, 0, sizeof x->page);
  for (size_t i = 0; i < n && x->pages > 0; i++)
    memcpy(x->page[x->model.slot[i]], from[x->model.prev_slot[grown[i].parent]],
      sizeof from[0]);
  for (uint32_t q = 0; q < CAT_BEAMS; q++)
    for (size_t i = 0; i < n; i++)
      for (size_t t = first; x->model.slot[i] == q && t < grown[i].n; t++)
        copied[q] = write_row(x, q, t);
  if (grown[0].n == CAT + 4 || grown[0].n == CAT + 5)
    print_seated(x, grown, n, copied);
  return true;
}

@ The cache has the last word: it must have copied the bytes of the rows that we counted, and use the pages that some slot reads.

@<Follow slots and pages@>=
static bool draw_seats(struct fixture *lab, struct error *why)
{
  struct seats x = @[{ .lab = lab }@];
  struct search_result r;
  struct store *s = cache_open(&lab->m, &lab->model->config, CAT_BEAMS,
    &(struct cache_options) @[{ .page_rows = SEAT_ROWS }@], why);
  if (s == NULL) return false;
  struct generate_context g = @[{ &lab->e, lab->model, s, &lab->m }@];
  printf("after,seat,position," "kind,token\n");
  bool ok = search_model_open(&x.model, &g, CAT_BEAMS, 0, &x.real, why);
  struct search_source from = @[{ .vocab = x.real.vocab,@|
    .max_len = x.real.max_len, .ctx = &x, .score = seats_score }@];
  if (ok) {
    ok = search_run(&from, &lab->m, lab->e.k, lab->sentence, CAT, &cat_settings,
      &r, why);
    if (ok) search_free(&r);
    search_model_close(&x.model);
  }
  struct cache_state state = cache_look(s);
  size_t row = row_bytes_of(&lab->model->config);
  if (ok && (state.bytes_copied != x.copied * row
      || state.pages_used != pages_read(&x)))
    ok = error_say(why, "%zu bytes copied," " and %zu rows",@|
      state.bytes_copied, x.copied);
  store_close(s);
  return ok;
}

@* Cost of a search. \label{lab:searchcost}
A watcher counts the forks: candidates that are kept although their parent has a child already. If every beam were copied in every step, the rows copied would be the sum over the steps of $B$ times the length so far. The forks do not depend on the size of the pages, so we count them in one of the two searches. Passes and rows come from the engine's own counters in the second.

@<Count what a search costs@>=
enum { SHARE_PROMPT = 50, SHARE_STEPS = 96 };
static bool count_forks(void *ctx, const struct search_step *now)
{
  size_t *forks = ctx;
  for (size_t i = 0; i < now->n_candidates; i++) {
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again = again || (now->candidate[k].outcome == OUTCOME_KEPT
        && now->candidate[k].parent == now->candidate[i].parent);
    *forks += again && now->candidate[i].outcome == OUTCOME_KEPT;
  }
  return true;
}
static bool print_shared(struct fixture *lab, const struct ids *tales,
  size_t beams, struct error *why)
{
  size_t row = row_bytes_of(&lab->model->config), forks = 0;
  struct search_settings want = @[{ .num_beams = beams, .num_return = 1,@|
    .max_length = SHARE_PROMPT + SHARE_STEPS, .length_penalty = 1 }@];
  double whole = 0, copied[2];
  for (size_t i = 0; i < 2; i++) {
    struct search_result r;
    struct cache_state state;
    want.see = i == 0 ? count_forks : NULL, want.ctx = &forks;
    lab_reset(lab);
    if (!search_with_cache(&lab->b.g, i == 0 ? 16 : 64, tales->id,
      SHARE_PROMPT, &want, &r, &state, why)) return false;
    copied[i] = (double) state.bytes_copied / 1000;
    search_free(&r);
  }
  for (size_t t = 0; t + 1 < SHARE_STEPS; t++)
    whole += (double) (beams * row * (SHARE_PROMPT + t)) / 1000;
  @<Print the costs for |beams| beams@>@;
  return true;
}

@ The mean number of rows that a fork copied is printed for four beams only.

@<Print the costs for |beams| beams@>=
printf("share.passes.%zu %" PRIu64 "\n", beams, lab->c.passes);
printf("share.rows.%zu %" PRIu64 "\n", beams, lab->c.rows);
printf("share.copied16.%zu" " %.3f\n"@| "share.copied64.%zu" " %.3f\n", beams,@|
  copied[0], beams, copied[1]);
printf("share.all.%zu %.3f\n", beams, whole);
printf("share.forks.%zu" " %zu\n", beams, forks);
double rows = (double) (row * forks) / 1000;
if (beams == 4) {
  print_key("share.less", "%.4f", 100 * copied[0] / whole);
  print_key("share.row", "%zu bytes", row);
  print_key("share.mean16", "%.3f", copied[0] / rows);
  print_key("share.mean64", "%.3f", copied[1] / rows);
}

@ The prompt is the beginning of a tale.

@<Count what a search costs@>=
static bool print_costs(struct fixture *lab, struct error *why)
{
  struct ids tales;
  bool ok = lab_tales(lab, &tales, why);
  print_key("share.prompt", "%d", SHARE_PROMPT);
  print_key("share.steps", "%d", SHARE_STEPS);
  for (size_t beams = 1; ok && beams <= 8; beams *= 2)
    ok = print_shared(lab, &tales, beams, why);
  return ok;
}

@* Random models of fixed length. \label{lab:forest}
A model of the forest is a table of logits for each beginning of fewer than six tokens, from the generator of \cref{sec:philox} with 9 as its fourth word. (Two uniform numbers make a normal one: \cited[Box and Muller 1958]{Box 1958}.) The beginnings are the nodes of a tree and numbered level by level, so that the children of node |i| are |3*i+1|, |3*i+2| and |3*i+3|. A text begins with a token of its own, and walks down the tree.

@<Models small enough to be searched to the end@>=
enum { MODELS = 2000, WIDE = 3, DEEP = 6, NODES = 364, MAX_BEAMS = 8 };
struct forest { uint32_t model; double spread; float z[NODES][WIDE]; };
static double normal_for(uint32_t model, uint32_t node, uint32_t token)
{
  uint32_t key[2] = @[{ 9, 0 }@];
  uint32_t counter[4] = @[{ token, node, model, 9 }@], out[4];
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
static size_t node_of(const struct search_beam *b)
{
  size_t node = 0;
  for (size_t k = 1; k < b->n; k++) node = WIDE * node + 1 + b->id[k];
  return node;
}
static bool forest_score(void *ctx, const struct search_beam *grown,
  size_t n, float *logits, struct error *why)
{
  const struct forest *f = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++)
    memcpy(logits + WIDE * i, f->z[node_of(&grown[i])], sizeof f->z[0]);
  return true;
}

@ Two recursions find the best of all texts and the greedy one: the first looks at all children of a node, the second follows the likeliest.

@<Models small enough to be searched to the end@>=
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
    id[depth] = (uint32_t) best_token(f->z[node], WIDE);
    node = WIDE * node + 1 + id[depth];
  }
}

@ \Cref{eq:certain} is checked from the end, where the product on the left begins with its last factor.

@<Models small enough to be searched to the end@>=
static bool is_certain(const struct forest *f, const uint32_t greedy[1 + DEEP])
{
  size_t node[DEEP + 1] = @[{ 0 }@];
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

@ We ask four questions of a search. Has it found the best text? Is its text less likely than the greedy one? Does it begin with another token? And how often did the leader change: how often was the best candidate of a step not a child of the best of the step before?

The answers are added to those of all models before. The sum of the greedy text is that of the search with one beam, which comes first. With one beam the third question is a stricter one: no token at all may be different.

@<Ask each search four questions@>=
struct answers { size_t found, worse, other, turned, turns, steps; };
static bool count_turns(void *ctx, const struct search_step *now)
{
  struct answers *a = ctx;
  if (now->number == 1) return true;
  a->steps++;
  a->turns += now->candidate[0].parent != 0;
  return true;
}
static bool ask(struct fixture *lab, struct forest *f, size_t beams,
  double best, const uint32_t greedy[1 + DEEP], double *sum,@|
  struct answers *a, struct error *why)
{
  struct search_source from = @[{ .vocab = WIDE,@|
    .ctx = f, .score = forest_score }@];
  struct search_settings want = @[{ .num_beams = beams, .num_return = 1,@|
    .max_length = 1 + DEEP, .see = count_turns, .ctx = a }@];
  struct search_result r;
  size_t turns = a->turns;
  if (!search_table(lab, &from, 0, &want, &r, why)) return false;
  const struct search_text *text = &r.text[0];
  if (beams == 1) *sum = text->sum;
  a->found += text->sum > best - 1e-9;
  a->worse += text->sum < *sum - 1e-9;
  a->other += beams == 1
    ? memcmp(text->id, greedy, (1 + DEEP) * sizeof *greedy) != 0
    : text->id[1] != greedy[1];
  a->turned += a->turns > turns;
  search_free(&r);
  return true;
}

@ The census goes through all models of the three spreads with one to eight beams. The first models of the middle spread are also searched with enough beams to hold every beginning.

@<Ask each search four questions@>=
enum { SPREADS = 3, EXACT = 50, ENOUGH = 243 };
struct census { struct answers of[SPREADS][MAX_BEAMS + 1], exact;
  size_t certain; };
static bool ask_all(struct fixture *lab, struct census *c,
  struct error *why)
{
  static const double spreads[SPREADS] = @[{ 0.75, 1.5, 3 }@];
  struct forest f;
  uint32_t greedy[1 + DEEP];
  double sum = 0;
  *c = (struct census) @[{ .certain = 0 }@];
  for (size_t s = 0; s < SPREADS; s++)
    for (f.model = 0; f.model < MODELS; f.model++) {
      f.spread = spreads[s];
      plant(&f);
      greedy_text(&f, greedy);
      double best = best_text(&f, 0, 0);
      c->certain += s == 1 && is_certain(&f, greedy);
      for (size_t b = 1; b <= MAX_BEAMS; b++)
        if (!ask(lab, &f, b, best, greedy, &sum, &c->of[s][b], why))
          return false;
      if (s == 1 && f.model < EXACT && !ask(lab, &f, ENOUGH, best, greedy,
        &sum, &c->exact, why)) return false;
    }
  return true;
}

@ One number is printed as it is, in how many models the search was worse than greedy decoding; the rest are shares in percent of the models, and of the steps after the first. The figure has the first answer for all three spreads, and more beams than the table.

@<Ask each search four questions@>=
static void print_answers(size_t b, const struct answers *a)
{
  const struct { const char *name; size_t part; } share[] = @[{@|
    { "found", a->found }, { "missed", MODELS - a->found },@|
    { "share.worse", a->worse }, { "turned", a->turned },@|
    { "other", a->other } }@];
  for (size_t i = 0; i < sizeof share / sizeof *share; i++)
    printf("forest.%s.%zu %.4f\n", share[i].name, b,
      percent(share[i].part, MODELS));
  printf("forest.worse.%zu" " %zu\n", b, a->worse);
  printf("forest.turns.%zu" " %.4f\n", b, percent(a->turns, a->steps));
}
static bool print_forest(struct fixture *lab, struct error *why)
{
  struct census c;
  if (!ask_all(lab, &c, why)) return false;
  const struct answers *a = c.of[1];
  for (size_t b = 1; b <= 5; b++) print_answers(b, &a[b]);
  print_key("forest.models", "%d", MODELS);
  print_key("forest.nodes", "%d", NODES);
  print_key("forest.exact", "%d", EXACT);
  print_key("forest.enough", "%d", ENOUGH);
  print_key("forest.exact.found", "%zu", c.exact.found);
  print_key("forest.certain", "%.4f", percent(c.certain, MODELS));
  print_key("claim.S1-33", "%zu", MODELS - a[1].other);
  print_key("claim.S3-27", "%.4f", percent(a[4].found, MODELS));
  print_key("claim.S2-93", "%.4f", percent(a[5].found, MODELS));
  print_key("claim.S3-28", "%zu", a[2].worse);
  print_key("claim.S1-53", "%.4f", percent(a[2].turned, MODELS));
  print_key("claim.S3-06", "%.4f", percent(a[5].turned, MODELS));
  return true;
}
static bool draw_optimum(struct fixture *lab, struct error *why)
{
  struct census c;
  if (!ask_all(lab, &c, why)) return false;
  printf("beams,flat,middle," "steep\n");
  for (size_t b = 1; b <= MAX_BEAMS; b++) {
    printf("%zu", b);
    for (int s = 0; s < SPREADS; s++)
      printf(",%.3f", percent(c.of[s][b].found, MODELS));
    printf("\n");
  }
  return true;
}

@* Random models that end. \label{lab:grove}
A model of this kind has four logits for each beginning that has not ended, of the middle spread. The generator is asked for tokens from 8 on, so that no number of the forest comes again.

@<Models that end@>=
enum { GROVES = 1000, MOST = 8, ROOTS = 3280, STOP = 3, LAMBDAS = 3 };
struct grove { uint32_t model; float z[ROOTS][WIDE + 1]; };
static void plant_grove(struct grove *g)
{
  for (uint32_t node = 0; node < ROOTS; node++)
    for (uint32_t v = 0; v <= WIDE; v++)
      g->z[node][v] = (float) (1.5 * normal_for(g->model, node, v + 8));
}
static bool grove_score(void *ctx, const struct search_beam *grown, size_t n,
  float *logits, struct error *why)
{
  const struct grove *g = ctx;
  (void) why;
  for (size_t i = 0; i < n; i++)
    memcpy(logits + (WIDE + 1) * i, g->z[node_of(&grown[i])], sizeof g->z[0]);
  return true;
}

@ All texts are looked at once for the three length penalties together: a recursion carries the sum and the length, and where a text ends, its three scores are compared with the best so far. It also counts the texts.

@<Models that end@>=
static size_t best_scores(const struct grove *g, size_t node, size_t written,
  double sum, double best[LAMBDAS])
{
  double whole = 0;
  size_t texts = 0;
  for (size_t v = 0; v <= WIDE; v++) whole += num_exp((double) g->z[node][v]);
  whole = num_log(whole);
  for (size_t v = 0; v <= WIDE; v++) {
    double here = sum + (double) g->z[node][v] - whole, score = here;
    if (v != STOP && written + 1 < MOST) {
      texts += best_scores(g, WIDE * node + 1 + v, written + 1, here, best);
      continue;
    }
    texts++;
    for (size_t l = 0; l < LAMBDAS; l++, score /= (double) (written + 1))
      if (score > best[l]) best[l] = score;
  }
  return texts;
}

@ The watcher counts what is offered to the pool, and the end tokens that were ranked but stood too low to finish. A text counts as the best if its score is that of the best, but for what two orders of summation may differ.

@<Models that end@>=
struct harvest { size_t steps, offers, tokens, found, ends, low; };
static bool count_ends(void *ctx, const struct search_step *now)
{
  struct harvest *h = ctx;
  h->steps++;
  for (size_t i = 0; i < now->n_candidates; i++) {
    const struct search_candidate *c = &now->candidate[i];
    h->offers += c->outcome == OUTCOME_FINISHED;
    h->ends += c->token == STOP;
    h->low += c->token == STOP && c->outcome == OUTCOME_DROPPED;
  }
  return true;
}
static bool reap(struct fixture *lab, struct grove *g, size_t lambda,
  enum early_stopping early, double best, struct harvest *h,@|
  struct error *why)
{
  struct search_source from = @[{ .vocab = WIDE + 1,@|
    .ctx = g, .score = grove_score }@];
  const uint32_t stop = STOP;
  struct search_settings want = @[{ .num_beams = 4, .num_return = 1,@|
    .max_length = 1 + MOST, .length_penalty = (double) lambda,@|
    .early = early, .eos = &stop, .n_eos = 1, .see = count_ends, .ctx = h }@];
  struct search_result r;
  if (!search_table(lab, &from, 0, &want, &r, why)) return false;
  h->tokens += r.text[0].n - 1;
  h->found += r.text[0].score > best - 1e-9;
  search_free(&r);
  return true;
}

@ Each model is searched under nine rules. How many texts there are depends on the lengths alone, so the last model's number is that of each. Means are over the models; the share of the low ends is one of all end tokens that were ranked.

@<Models that end@>=
static bool print_grove(struct fixture *lab, struct error *why)
{
  static const char *const name[] = @[{ "false", "true", "never" }@];
  struct harvest h[LAMBDAS][3] = @[{ { { 0 } } }@];
  struct grove *g = lab_take(lab, 1, sizeof *g, why);
  size_t texts = 0;
  for (uint32_t i = 0; g != NULL && i < GROVES; i++) {
    double best[LAMBDAS] = @[{ -INFINITY, -INFINITY, -INFINITY }@];
    g->model = i;
    plant_grove(g);
    texts = best_scores(g, 0, 0, 0, best);
    for (size_t l = 0; l < LAMBDAS; l++)
      for (int e = 0; e < 3; e++)
        if (!reap(lab, g, l, (enum early_stopping) e, best[l], &h[l][e], why))
          return false;
  }
  print_key("grove.models", "%d", GROVES);
  print_key("grove.longest", "%d", MOST);
  print_key("grove.nodes", "%d", ROOTS);
  print_key("grove.texts", "%zu", texts);
  for (size_t l = 0; l < LAMBDAS; l++)
    for (size_t e = 0; e < 3; e++) {
      const struct harvest *x = &h[l][e];
      printf("grove.steps.%zu.%s %.3f\n", l, name[e], (double) x->steps / GROVES);
      printf("grove.offers.%zu.%s %.3f\n", l, name[e], (double) x->offers / GROVES);
      printf("grove.tokens.%zu.%s %.3f\n", l, name[e], (double) x->tokens / GROVES);
      printf("grove.found.%zu.%s %.2f\n", l, name[e], percent(x->found, GROVES));
      printf("grove.low.%zu.%s %.3f\n", l, name[e], percent(x->low, x->ends));
    }
  return g != NULL;
}

@* Seven decoding methods compared. \label{lab:dull}
The ways are a table. Each writes one text at each of the chosen places in the tales. All that was written is kept on a \emph{shelf} until it is measured: the text of each way at each place, the four texts of four beams, and four samples.

@<Write on in seven ways@>=
enum { GIVEN = 48, WRITTEN = 48, WINDOWS = 32, WHOLE = GIVEN + WRITTEN };
enum { TALE, DICE, BEST, COOL, GREEDY, TWO, FOUR, WAYS };
static const struct { const char *name; size_t beams; double temperature; }
  ways[WAYS] = @[{ { "tale", 0, 0 }, { "dice", 0, 1 }, { "best", 0, 1 },@|
  { "cool", 0, 0.5 }, { "greedy", 0, 0 }, { "two", 2, 0 },@|
  { "four", 4, 0 } }@];
struct shelf { struct ids tales; size_t n; const uint32_t *at[WINDOWS];
  uint32_t text[WAYS][WINDOWS][WRITTEN], beams[WINDOWS][4][WRITTEN],
  samples[WINDOWS][4][WRITTEN]; struct answers turns; size_t back; };

@ A place is where a window of both lengths fits between two ends of tales. What is given in one window was to be written in the one before.

@<Write on in seven ways@>=
static void find_windows(struct shelf *x)
{
  for (size_t at = 0, i = 0; i < x->tales.n && x->n < WINDOWS; i++) {
    if (x->tales.id[i] == 0) at = i + 1;
    if (i + 1 - at < WHOLE) continue;
    x->at[x->n] = x->tales.id + at;
    memcpy(x->text[TALE][x->n], x->at[x->n] + GIVEN, sizeof x->text[0][0]);
    x->n++, at += WRITTEN;
  }
}

@ A way without beams is the loop, with sampling or without. A chooser looks in every step whether any token that has been written is another now.

@<Write on in seven ways@>=
struct recaller { struct sampler *sampler; uint32_t seen[WHOLE]; size_t n, back; };
static bool recall(void *ctx, const float *logits,
  const struct continuation *text, uint32_t *chosen, struct error *why)
{
  struct recaller *r = ctx;
  for (size_t i = 0; i < r->n; i++) r->back += r->seen[i] != text->text.id[i];
  r->n = text->text.n < WHOLE ? text->text.n : WHOLE;
  memcpy(r->seen, text->text.id, r->n * sizeof *r->seen);
  return r->sampler == NULL || sampler_choose(r->sampler, logits, text, chosen, why);
}
static bool write_alone(struct fixture *lab, struct shelf *x,
  size_t window, size_t way, uint32_t number, uint32_t *to, struct error *why)
{
  struct recaller r = @[{ .sampler = way == GREEDY ? NULL : &lab->dice }@];
  struct generate_options want = @[{ .max_new_tokens = WRITTEN,
    .recall = store_match_prefix,@|
    .select = recall, .select_ctx = &r }@];
  struct continuation c;
  lab->dice.s.temperature = ways[way].temperature;
  lab->dice.seed = 1 + window, lab->dice.sequence = number;
  if (!generate(&lab->b.g, x->at[window], GIVEN, &want, &c, why)) return false;
  memcpy(to, &c.text.id[GIVEN], WRITTEN * sizeof *to);
  continuation_free(&lab->m, &c);
  x->back += r.back;
  return true;
}

@ A way with beams is a search, of which the four texts of four beams are kept for later.

@<Write on in seven ways@>=
static bool write_beams(struct fixture *lab, struct shelf *x,
  size_t window, size_t way, struct error *why)
{
  size_t beams = ways[way].beams;
  struct answers two = @[{ 0 }@];
  struct search_settings want = @[{ .num_beams = beams, .num_return = beams,@|
    .max_length = WHOLE, .length_penalty = 1, .see = count_turns,@|
    .ctx = beams == 4 ? &x->turns : &two }@];
  struct search_result r;
  if (!search_with_cache(&lab->b.g, 0, x->at[window], GIVEN, &want, &r, NULL,
      why)) return false;
  for (size_t i = 0; i < beams; i++) {
    if (i == 0) memcpy(x->text[way][window], r.text[0].id + GIVEN,
      sizeof x->text[0][0]);
    if (beams == 4) memcpy(x->beams[window][i], r.text[i].id + GIVEN,
      sizeof x->beams[0][0]);
  }
  search_free(&r);
  return true;
}

@ The best of four is left to |best_of_write|, which draws the same random numbers as the four samples beside it; so its choice must be among them.

@<Write on in seven ways@>=
static bool write_best(struct fixture *lab, struct shelf *x,
  size_t window, struct error *why)
{
  struct best_of best;
  lab->dice.s.temperature = 1, lab->dice.seed = 1 + window;
  lab->dice.sequence = 0;
  if (!best_of_write(&lab->b.g, &lab->dice, x->at[window], GIVEN,
      &(struct generate_options) @[{ .max_new_tokens = WRITTEN,
      .recall = store_match_prefix }@], 4,@|
      &best, why)) return false;
  uint32_t *to = x->text[BEST][window];
  memcpy(to, &best.best.text.id[GIVEN], sizeof x->text[0][0]);
  bool among = memcmp(to, x->samples[window][best.winner],
    sizeof x->text[0][0]) == 0;
  best_of_free(&lab->m, &best);
  return among || error_say(why, "the best of four in"
      " window %zu is none" " of them", window);
}

@ In each window the four samples come first, since the best of four must be found among them. The rest of the ways follow in the order of the table.

@<Write on in seven ways@>=
static bool fill_shelf(struct fixture *lab, struct shelf *x,
  struct error *why)
{
  find_windows(x);
  for (size_t i = 0; i < x->n; i++) {
    for (uint32_t k = 0; k < 4; k++)
      if (!write_alone(lab, x, i, DICE, k, x->samples[i][k], why))
        return false;
    memcpy(x->text[DICE][i], x->samples[i][0], sizeof x->text[0][0]);
    if (!write_best(lab, x, i, why)
        || !write_alone(lab, x, i, COOL, 0, x->text[COOL][i], why)
        || !write_alone(lab, x, i, GREEDY, 0, x->text[GREEDY][i], why)
        || !write_beams(lab, x, i, TWO, why)
        || !write_beams(lab, x, i, FOUR, why)) return false;
  }
  return true;
}

@ There are three measures. The share of pairs that are new is the kit's. The entropy is that of the shares of all tokens that a way has written, wherever they stand. Each token contributes the logarithm of its own share; that the sum runs over the tokens and not over the vocabulary weighs every word with its count, as the formula wants it.

@<Measure what was written@>=
static double new_pairs(uint32_t (*text)[WRITTEN], size_t n)
{
  return percent(distinct_pairs(text[0], n, WRITTEN), n * (WRITTEN - 1));
}
static double entropy_of(const uint32_t *text, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    size_t count = 0;
    for (size_t k = 0; k < n; k++) count += text[k] == text[i];
    sum -= num_log((double) count / (double) n);
  }
  return sum / (double) n / num_log(2);
}

@ The log-probability is taken by reading the window as a whole, with the words that were written in place of the tale's own.

@<Measure what was written@>=
static bool window_logprob(struct fixture *lab, const struct shelf *x,
  size_t way, size_t window, double *each, struct error *why)
{
  uint32_t id[WHOLE];
  double one[WHOLE], whole;
  memcpy(id, x->at[window], GIVEN * sizeof *id);
  memcpy(id + GIVEN, x->text[way][window], WRITTEN * sizeof *id);
  if (!model_logprobs(&lab->e, lab->model, lab->b.s, id, WHOLE, one, &whole, why))
    return false;
  *each = 0;
  for (size_t i = GIVEN; i < WHOLE; i++) *each += one[i];
  *each /= WRITTEN;
  return true;
}

@ The difference of each way to the tale is taken window by window, and its standard error is that of a mean of independent numbers, which windows of the same tale are not quite.

@<Measure what was written@>=
static bool print_dull(struct fixture *lab, struct shelf *x,
  struct error *why)
{
  double each[WAYS][WINDOWS], n = (double) x->n;
  for (size_t w = 0; w < WAYS; w++) {
    double logs = 0, pairs = 0, gap = 0, squares = 0;
    for (size_t i = 0; i < x->n; i++) {
      if (!window_logprob(lab, x, w, i, &each[w][i], why)) return false;
      logs += each[w][i], pairs += new_pairs(&x->text[w][i], 1);
      double d = each[w][i] - each[TALE][i];
      gap += d, squares += d * d;
    }
    gap /= n;
    printf("dull.gap.%s %.5f\n"@| "dull.error.%s %.5f\n", ways[w].name,@|
      gap < 0 ? -gap : gap, ways[w].name,@|
      sqrt((squares / n - gap * gap) / (n - 1)));
    printf("dull.logprob.%s" " %.5f\n", ways[w].name, logs / n);
    printf("dull.distinct.%s" " %.4f\n", ways[w].name, pairs / n);
    printf("dull.entropy.%s" " %.4f\n", ways[w].name,
      entropy_of(x->text[w][0], x->n * WRITTEN));
  }
  @<Count the places where one way is less likely than another@>@;
  return true;
}

@ For this count, a text is in a loop if fewer than half of its pairs are new.

@<Count the places where one way is less likely than another@>=
size_t below = 0, worse = 0, same = 0, round = 0;
for (size_t i = 0; i < x->n; i++) {
  below += each[TALE][i] < each[FOUR][i];
  worse += each[FOUR][i] < each[GREEDY][i] - 1e-9;
  same += memcmp(x->text[FOUR][i], x->text[GREEDY][i],
    sizeof x->text[FOUR][i]) == 0;
  round += new_pairs(&x->text[FOUR][i], 1) < 50;
}
print_key("dull.below", "%zu", below);
print_key("dull.worse", "%zu", worse);
print_key("dull.same", "%zu", same);
print_key("dull.round", "%zu", round);

@ The box in \cref{sec:dull} shows the place where the text of four beams has the fewest new pairs in comparison with the tale's own. The program that prints it knows the place by the number of its token; here the place is found, and must be the same.

@<Measure what was written@>=
static bool check_dullest(const struct shelf *x, struct error *why)
{
  size_t where = 0;
  double min = INFINITY;
  for (size_t i = 0; i < x->n; i++) {
    double more = (double) distinct_pairs(x->text[FOUR][i], 1, WRITTEN)
      - (double) distinct_pairs(x->text[TALE][i], 1, WRITTEN);
    if (more < min) min = more, where = i;
  }
  size_t at = (size_t) (x->at[where] - x->tales.id) + GIVEN;
  return at == DULLEST
    || error_say(why, "the beams repeat themselves most at token %zu", at);
}

@ Then the sets of four. And the coin, whose logarithms are taken by the same function as everything here.

@<Measure what was written@>=
static bool print_shelf(struct fixture *lab, struct error *why)
{
  struct shelf *x = lab_take(lab, 1, sizeof *x, why);
  bool ok = x != NULL && lab_tales(lab, &x->tales, why)
    && fill_shelf(lab, x, why) && check_dullest(x, why)@|
    && print_dull(lab, x, why);
  if (!ok) return false;
  double beams = 0, samples = 0, n = (double) x->n;
  for (size_t i = 0; i < x->n; i++) {
    beams += new_pairs(x->beams[i], 4) / n;
    samples += new_pairs(x->samples[i], 4) / n;
  }
  print_key("dull.windows final.prompts", "%zu", x->n);
  print_key("dull.given", "%d", GIVEN);
  print_key("dull.written", "%d", WRITTEN);
  print_key("dull.set.beams claim.S3-29", "%.4f", beams);
  print_key("dull.set.dice", "%.4f", samples);
  print_key("final.steps", "%zu", x->turns.steps);
  print_key("final.beam", "%zu", x->turns.turns);
  print_key("final.greedy", "%zu", x->back);
  print_key("coin.odds", "%.1f", num_exp(-100 * num_log(0.9)));
  print_key("coin.typical", "%.5f", 0.9 * num_log(0.9) + 0.1 * num_log(0.1));
  print_key("coin.likeliest", "%.5f", num_log(0.9));
  return true;
}

@* Data of the lattice and of the tree. \label{lab:lattice}
A line of the data is a node, with its token by name. The tree of \cref{sec:tokentree} watches the search, and we mark the best text when the search is over. A tree that could not grow has ended the search; then its error is the reason.

@<Draw a lattice and a tree@>=
static void print_nodes(const struct fixture *lab,
  const struct token_tree *t)
{
  printf("id,parent,step,"@| "token,p,logp,rank,"@| "chosen,reason\n");
  for (size_t i = 0; i < t->n; i++) {
    const struct tree_node *x = &t->node[i];
    printf("%zu,%u,%zu,", i + 1, x->parent, x->number);
    print_token(lab, x->token);
    printf(",%.4f,%.4f,%zu,%d," "%s\n", num_exp(x->logprob), x->logprob, x->rank,
      x->chosen, tree_reason_name(x->reason));
  }
}
static bool draw_lattice(struct fixture *lab, struct error *why)
{
  struct token_tree t;
  struct search_settings want = cat_settings;
  struct search_result r;
  if (!token_tree_open(&t, &lab->m, &lab->e, lab->model->config.vocab_size,
    0, CAT_BEAMS, why)) return false;
  want.see = token_tree_search, want.ctx = &t;
  bool ok = search_with_cache(&lab->b.g, 0, lab->sentence, CAT, &want, &r,
    NULL, why);
  if (ok && t.ok) token_tree_mark(&t, r.text[0].id + CAT, CAT_STEPS);
  if (ok) search_free(&r);
  if (ok && !t.ok) *why = t.why, ok = false;
  if (ok) print_nodes(lab, &t);
  token_tree_close(&t);
  return ok;
}

@ The text of the other figure goes on after \tok{The}\tok{\ old}\tok{\ king}, with a seed for which the tree looks well on a page. A tree whose every token is the likeliest is a straight line, and one that has a token from far down does not fit.

@<Draw a lattice and a tree@>=
static bool draw_tree(struct fixture *lab, struct error *why)
{
  struct token_tree t;
  struct ids king = @[{ .n = 0 }@];
  struct generate_options want = @[{ .max_new_tokens = 5, .on_step = token_tree_step,@|
    .ctx = &t, .recall = store_match_prefix, .select = sampler_choose,@|
    .select_ctx = &lab->dice }@];
  if (!token_tree_open(&t, &lab->m, &lab->e, lab->model->config.vocab_size,
    3, 1, why)) return false;
  t.sampled = true, lab->dice.seed = 13;
  bool ok = lab_encode(lab, "The old king", &king, why)
    && bench_write(&lab->b, king.id, king.n, &want, why);
  if (ok && !t.ok) *why = t.why, ok = false;
  if (ok) print_nodes(lab, &t);
  token_tree_close(&t);
  ids_free(&lab->m, &king);
  return ok;
}

@* Claims of the tutorials. \label{lab:searchclaims}
Two more sentences about beam search, compared with what the engine does.

\begin{claimed}{S1-33, S3-27}
one beam is greedy decoding in \val{claim.S1-33} of \val{forest.models} models; four find the likeliest text in \val[1]{claim.S3-27} percent of them. How a text ends, and how lengths are compared, is not described, and that is half of the rule.
\end{claimed}

\begin{claimed}{S3-29}
we cannot ask users. In the four texts of four beams \val[1]{claim.S3-29} percent of the pairs are new, in four sampled ones \val[1]{dull.set.dice}.
\end{claimed}
