/* the program -- made from workshop/09-constraints.w; change it there */

#include <stdio.h>
#include <string.h>
#include "model/forward.h"
#include "families/loader.h"
#include "tokenizer/tokenizer.h"
#include "constraints/constraint.h"

/* <A model that tells stories> */
struct storyteller { struct memory m; struct counters c; struct engine e;
  struct model *model; };

/* <Make the table of the hand calculation> */
enum { LAUGHS = 7, LAUGH_STATES = 4 };
static const char *const laugh_piece[LAUGHS] = { "h", "a", "!", "ha", "ah",
  "a!", "haha" };
static const char laugh[] = "(ha)+!";
struct laughing { uint32_t state[LAUGH_STATES]; size_t n; };
static size_t met_as(struct laughing *x, uint32_t state)
{
  size_t k = 0;
  while (k < x->n && x->state[k] != state) k++;
  if (k == x->n && k < LAUGH_STATES) x->state[x->n++] = state;
  return k;
}

static bool print_laugh(struct constraint *c, struct error *why)
{
  struct laughing x = { .state[0] = constraint_start(c), .n = 1 };
  uint32_t next;
  size_t tokens;
  printf("%s\nstate", laugh);
  for (uint32_t i = 0; i < LAUGHS; i++) printf("%5s", laugh_piece[i]);
  printf("   to the end\n");
  for (size_t k = 0; k < x.n; k++) {
    printf("%5zu", k);
    for (uint32_t i = 0; i < LAUGHS; i++)
      if (constraint_step(c, x.state[k], i, &next, NULL))
        printf("%5zu", met_as(&x, next));
      else printf("    -");
    if (!constraint_minimum(c, x.state[k], &tokens, why)) return false;
    printf("%13zu\n", tokens);
  }
  return true;
}

static bool laugh_aloud(struct storyteller *by, struct error *why)
{
  struct piece spelt[LAUGHS];
  uint8_t allowed[LAUGHS];
  struct error none;
  bool accepts;
  for (int i = 0; i < LAUGHS; i++)
    spelt[i] = (struct piece) { (const unsigned char *) laugh_piece[i],
      strlen(laugh_piece[i]) };
  struct lexicon *l = lexicon_open(&by->m, spelt, NULL, LAUGHS, why);
  struct constraint *c = l == NULL ? NULL
    : constraint_regex(&by->m, laugh, strlen(laugh), why);
  bool ok = c != NULL && constraint_bind(c, l, false, why)
    && print_laugh(c, why);
  if (ok && !constraint_mask(c, constraint_start(c), 1, allowed, &accepts,
    &none)) printf("%s\n", none.words);
  constraint_free(c);
  lexicon_close(l);
  return ok;
}

/* <Put the built-in vocabulary in order> */
static struct lexicon *pocket_lexicon(struct storyteller *by,
  struct tokenizer *t, struct error *why)
{
  size_t n = tokenizer_vocab_size(t);
  struct piece *spelt = memory_take(&by->m, FOR_OTHER, n, sizeof *spelt, why);
  bool *usable = memory_take(&by->m, FOR_OTHER, n, sizeof *usable, why);
  for (uint32_t i = 0; spelt != NULL && usable != NULL && i < n; i++) {
    spelt[i].byte = tokenizer_text(t, i, &spelt[i].n);
    usable[i] = !tokenizer_is_special(t, i);
  }
  struct lexicon *l = spelt == NULL || usable == NULL ? NULL
    : lexicon_open(&by->m, spelt, usable, n, why);
  memory_give(&by->m, FOR_OTHER, spelt, spelt == NULL ? 0 : n, sizeof *spelt);
  memory_give(&by->m, FOR_OTHER, usable, usable == NULL ? 0 : n,
    sizeof *usable);
  return l;
}

/* <A desk to write at> */
enum { BUDGET_MOST = 40 };
struct desk { struct tokenizer *t; struct lexicon *l; struct store *s;
  uint8_t *allowed; float *logits; size_t vocab; struct ids begun; };
static void desk_close(struct storyteller *by, struct desk *d)
{
  memory_give(&by->m, FOR_OTHER, d->allowed, d->vocab, 1);
  memory_give(&by->m, FOR_OTHER, d->logits, d->vocab, sizeof *d->logits);
  ids_free(&by->m, &d->begun);
  lexicon_close(d->l);
  tokenizer_close(&by->m, d->t);
  if (d->s != NULL) store_close(d->s);
}

static bool desk_open(struct storyteller *by, struct desk *d,
  struct error *why)
{
  *d = (struct desk) { .vocab = by->model->config.vocab_size };
  return (d->t = tokenizer_open(&by->m, "models/pocket", why)) != NULL
    && tokenizer_encode(d->t, &by->m, "The cat sat", 11, false, false, &d->begun,
      why)
    && (d->l = pocket_lexicon(by, d->t, why)) != NULL
    && (d->s = store_open(&by->m, &by->model->config, 1, why)) != NULL
    && (d->allowed = memory_take(&by->m, FOR_OTHER, d->vocab, 1, why))
      != NULL
    && (d->logits = memory_take(&by->m, FOR_OTHER, d->vocab,
      sizeof *d->logits, why)) != NULL;
}

/* <Look at constraints with the eyes of a vocabulary> */
struct example { const char *name, *text; bool grammar; size_t budget; };
static const char card[] =
  "root ::= \"{\\\"name\\\": \" name \", \\\"age\\\": \" [1-9] [0-9]?"
  " \", \\\"friends\\\": [\" name (\", \" name)* \"]}\"\n"
  "name ::= \"\\\"\" [A-Z] [a-z]{1,11} \"\\\"\"\n";
static const struct example shown[] = { { "answer", "yes|no|perhaps", false, 0 },
  { "date", "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    false, 0 },
  { "story", "Once upon a time.{20,200}\\.", false, 0 },
  { "json", constraint_json, true, 40 }, { "card", card, true, 28 } };
enum { EXAMPLES = 5, STORY = 2, JSON = 3, CARD = 4 };
static struct constraint *make_example(struct storyteller *by,
  const struct example *e, struct error *why)
{
  size_t n = strlen(e->text);
  return e->grammar ? constraint_grammar(&by->m, e->name, e->text, n, why)
    : constraint_regex(&by->m, e->text, n, why);
}

struct sight { size_t nodes, kinds, first, least; };
static bool look_at(struct storyteller *by, const struct lexicon *l,
  const struct example *e, uint8_t *allowed, size_t vocab, struct sight *s,
  struct error *why)
{
  bool accepts;
  struct constraint *c = make_example(by, e, why);
  bool ok = c != NULL && constraint_bind(c, l, false, why)
    && constraint_mask(c, constraint_start(c), SIZE_MAX, allowed, &accepts,
      why)
    && constraint_minimum(c, constraint_start(c), &s->least, why);
  s->first = 0;
  for (size_t i = 0; ok && i < vocab; i++) s->first += allowed[i];
  if (ok) s->nodes = constraint_look(c).nodes,
    s->kinds = constraint_look(c).kinds;
  constraint_free(c);
  return ok;
}

static bool look_at_all(struct storyteller *by, struct desk *d, bool keys,
  struct error *why)
{
  struct sight s;
  if (!keys) printf("\n%-8s%8s%8s%8s%8s\n", "", "nodes", "kinds", "first",
    "least");
  for (int i = 0; i < EXAMPLES; i++) {
    const char *name = shown[i].name;
    if (!look_at(by, d->l, &shown[i], d->allowed, d->vocab, &s, why))
      return false;
    if (!keys) printf("%-8s%8zu%8zu%8zu%8zu\n", name, s.nodes, s.kinds,
      s.first, s.least);
    else if (i == JSON) printf("constraint.json.nodes %zu\n"
      "constraint.json.kinds %zu\n", s.nodes, s.kinds);
    else if (i == STORY) printf("constraint.story.nodes %zu\n"
      "constraint.story.least %zu\n", s.nodes, s.least);
  }
  return true;
}

/* <Let the model write> */
static bool read_tokens(struct storyteller *by, struct desk *d,
  const uint32_t *id, size_t n, struct error *why)
{
  struct row row[8];
  struct pass *p = NULL;
  size_t at = store_length(d->s, 0), last = n - 1;
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) { 0, (uint32_t) (at + i), id[i] };
  bool ok = forward(&by->e, by->model, d->s, row, n, &p, why)
    && head(&by->e, by->model, p, &last, 1, d->logits, why);
  pass_close(p);
  return ok;
}

struct written { uint32_t id[BUDGET_MOST]; size_t allowed[BUDGET_MOST],
  least[BUDGET_MOST], n, budget, overruled; };
static uint32_t choose(const struct desk *d, size_t *among, bool *overruled)
{
  uint32_t best = 0, free = 0;
  *among = 0;
  for (uint32_t i = 0; i < d->vocab; i++) {
    if (d->logits[i] > d->logits[free]) free = i;
    if (!d->allowed[i]) continue;
    if ((*among)++ == 0 || d->logits[i] > d->logits[best]) best = i;
  }
  *overruled = best != free;
  return best;
}

static bool write_text(struct storyteller *by, struct desk *d,
  struct constraint *c, size_t budget, struct written *w, struct error *why)
{
  uint32_t state = constraint_start(c);
  bool accepts, overruled;
  *w = (struct written) { .budget = budget };
  store_empty(d->s);
  if (!read_tokens(by, d, d->begun.id, d->begun.n, why)) return false;
  for (size_t left = budget; left > 0; left--) {
    if (!constraint_mask(c, state, left, d->allowed, &accepts, why))
      return false;
    w->id[w->n] = choose(d, &w->allowed[w->n], &overruled);
    if (w->allowed[w->n] == 0) break;
    if (!constraint_step(c, state, w->id[w->n], &state, why)
        || !constraint_minimum(c, state, &w->least[w->n], why)
        || !read_tokens(by, d, &w->id[w->n], 1, why)) return false;
    w->n++, w->overruled += overruled;
  }
  return true;
}

static bool object_of(struct storyteller *by, struct desk *d, int which,
  struct written *w, struct bytes *text, struct error *why)
{
  bool yes = false;
  text->n = 0;
  struct constraint *c = make_example(by, &shown[which], why);
  bool ok = c != NULL && constraint_bind(c, d->l, false, why)
    && write_text(by, d, c, shown[which].budget, w, why)
    && tokenizer_decode(d->t, &by->m, w->id, w->n, true, text, why)
    && constraint_matches(c, (const char *) text->byte, text->n, &yes, why);
  constraint_free(c);
  return ok && (yes || error_say(why, "the text is no object"));
}

/* <Read how long the masks took> */
struct mask_times { double rows, worst, best, first, json, near; };
static void enter_mask(struct mask_times *x, const char *line)
{
  char name[40];
  unsigned budget;
  double first, median;
  if (sscanf(line, "%39[^,],%*[^,],%u,%*u,%lf,%*f,%lf", name, &budget,
    &first, &median) != 4) return;
  x->rows++;
  if (median > x->worst) x->worst = median;
  if (median < x->best) x->best = median;
  if (first > x->first) x->first = first;
  if (strcmp(name, "json") != 0 || budget == 0) return;
  if (first > x->json) x->json = first;
  if (first < x->near) x->near = first;
}

static bool read_masks(struct mask_times *x, struct error *why)
{
  static const char *const path = "figures/data/constraints.masks.csv";
  FILE *f = fopen(path, "r");
  char line[256];
  *x = (struct mask_times) { .best = 1e9, .near = 1e9 };
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) enter_mask(x, line);
  fclose(f);
  return x->json > 0 || error_say(why, "%s: its times of JSON near the"
    " end of a budget are not there", path);
}

/* <Print what the prose quotes> */
static void print_steps(const struct written *w)
{
  printf("step,allowed,least,left\n");
  for (size_t i = 0; i < w->n; i++)
    printf("%zu,%zu,%zu,%zu\n", i + 1, w->allowed[i], w->least[i],
      w->budget - i - 1);
}

static size_t closing_step(const struct written *w)
{
  size_t k = 0;
  while (k < w->n && w->least[k] < w->budget - k - 1) k++;
  return k;
}

static bool print_keys(struct storyteller *by, struct desk *d,
  struct bytes *text, struct error *why)
{
  struct written w;
  struct mask_times x;
  if (!read_masks(&x, why)) return false;
  printf("constraint.masks %.0f\nconstraint.worst %.3f\nconstraint.best"
    " %.3f\nconstraint.first %.3f\nconstraint.firstjson %.3f\n"
    "constraint.nearjson %.3f\n", x.rows, x.worst / 1e3, x.best / 1e3,
    x.first / 1e3, x.json / 1e3, x.near / 1e3);
  printf("constraint.vocab %zu\n", d->vocab);
  if (!object_of(by, d, JSON, &w, text, why)) return false;
  printf("constraint.json.budget %zu\nconstraint.json.overruled %zu\n",
    w.budget, w.overruled);
  if (!object_of(by, d, CARD, &w, text, why)) return false;
  printf("constraint.card.budget %zu\nconstraint.card.closing %zu\n",
    w.budget, closing_step(&w) + 1);
  return look_at_all(by, d, true, why);
}

static void print_folded(const struct bytes *text)
{
  size_t from = 0, at = 0, blank = 0;
  for (; at < text->n; at++) {
    if (text->byte[at] == ' ') blank = at;
    if (at - from < 60 || blank <= from) continue;
    printf("  %.*s\n", (int) (blank - from), (const char *) text->byte + from);
    from = blank + 1;
  }
  printf("  %.*s\n", (int) (at - from), (const char *) text->byte + from);
}

static bool print_box(struct storyteller *by, struct desk *d,
  struct bytes *text, struct error *why)
{
  struct written w;
  if (!laugh_aloud(by, why) || !look_at_all(by, d, false, why)) return false;
  for (int i = JSON; i <= CARD; i++) {
    if (!object_of(by, d, i, &w, text, why)) return false;
    printf("\n%s, %zu tokens, %zu of them against the model's will:\n",
      shown[i].name, w.n, w.overruled);
    print_folded(text);
  }
  return true;
}

static bool print_what(struct storyteller *by, const char *what,
  struct error *why)
{
  struct desk d;
  struct written w;
  struct bytes text = { NULL, 0, 0 };
  bool ok = desk_open(by, &d, why);
  if (ok && strcmp(what, "steps") == 0) {
    ok = object_of(by, &d, CARD, &w, &text, why);
    if (ok) print_steps(&w);
  } else if (ok && strcmp(what, "values") == 0)
    ok = print_keys(by, &d, &text, why);
  else ok = ok && print_box(by, &d, &text, why);
  bytes_free(&by->m, &text);
  desk_close(by, &d);
  return ok;
}

int main(int argc, char **argv)
{
  struct storyteller s = { .model = NULL };
  struct error why;
  const char *what = argc > 1 ? argv[1] : "";
  s.e = (struct engine) { .k = kernels_find(NULL, &why), .c = &s.c };
  bool ok = s.e.k != NULL
    && (s.model = model_open(&s.m, "models/pocket", &why)) != NULL
    && print_what(&s, what, &why);
  model_close(&s.m, s.model);
  if (!ok) fprintf(stderr, "%s\n", why.words);
  return !ok;
}
