@i types.w
@s tokenizer int
@s store int
@s pass int
@s row int

\chapterquestion{What does a model write that must write an object?}
@** Constraints and the built-in model. \label{lab:constraints}
\incipit{T}{he constraints} of \cref{constraints} are bound to the vocabulary of the built-in model, and the model writes under two of them: any object of JSON, and a card that a
grammar of ours describes.

@c
#include <stdio.h>
#include <string.h>
#include "model/forward.h"
#include "families/loader.h"
#include "tokenizer/tokenizer.h"
#include "constraints/constraint.h"
@;@#
@<A desk to write at@>@;
@<Look at constraints with the eyes of a vocabulary@>@;
@<Let the model write@>@;
@<Read how long the masks took@>@;
@<Print what the prose quotes@>@;
@#
int main(int argc, char **argv)
{
  static struct desk d;
  struct error why;
  struct bytes text = @[{ NULL, 0, 0 }@];
  bool ok = desk_open(&d, &why)
    && print_what(&d, argc > 1 ? argv[1] : "", &text, &why);
  bytes_free(&d.m, &text);
  desk_close(&d);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* A session of constrained decoding. \label{lab:constraintdesk}
The desk has the built-in model with its tokenizer and store, the lexicon, a mask, the logits, and the three words with which every text begins.

@<A desk to write at@>=
enum { MAX_BUDGET = 40 };
struct desk { struct memory m; struct counters c; struct engine e;
  struct model *lm; struct tokenizer *t; struct lexicon *l; struct store *s;
  uint8_t *allowed; float *logits; size_t vocab; struct ids begin; };
@#
static void desk_close(struct desk *d)
{
  memory_free(&d->m, d->allowed);
  memory_free(&d->m, d->logits);
  ids_free(&d->m, &d->begin);
  lexicon_close(d->l);
  tokenizer_close(&d->m, d->t);
  if (d->s != NULL) store_close(d->s);
  model_close(&d->m, d->lm);
}

@ The pieces of the lexicon come from the tokenizer. Special ids are not usable.

@<A desk to write at@>=
static struct lexicon *pocket_lexicon(struct desk *d, struct error *why)
{
  size_t n = d->vocab;
  struct token_bytes *spelt = memory_alloc(&d->m, MEMORY_OTHER, n, sizeof *spelt, why);
  bool *usable = memory_alloc(&d->m, MEMORY_OTHER, n, sizeof *usable, why);
  for (uint32_t i = 0; spelt != NULL && usable != NULL && i < n; i++) {
    spelt[i].byte = tokenizer_text(d->t, i, &spelt[i].n);
    usable[i] = !tokenizer_is_special(d->t, i);
  }
  struct lexicon *l = spelt == NULL || usable == NULL ? NULL
    : lexicon_open(&d->m, spelt, usable, n, why);
  memory_free(&d->m, spelt);
  memory_free(&d->m, usable);
  return l;
}

@ If something cannot be opened, |desk_close| closes what was opened before; it is called in any case.

@<A desk to write at@>=
static const char three_words[] = "The cat sat";
@#
static bool desk_open(struct desk *d, struct error *why)
{
  const struct kernels *best = kernels_find(NULL, why);
  d->e = (struct engine) @[{ .k = best, .c = &d->c }@];
  if (best == NULL
    || (d->lm = model_open(&d->m, "models/pocket", why)) == NULL
    || (d->t = tokenizer_open(&d->m, "models/pocket", why)) == NULL)
    return false;
  d->vocab = d->lm->config.vocab_size;
  return (d->l = pocket_lexicon(d, why)) != NULL
    && (d->s = store_open(&d->m, &d->lm->config, 1, why)) != NULL
    && (d->allowed = memory_alloc(&d->m, MEMORY_OTHER, d->vocab, 1, why))
      != NULL
    && (d->logits = memory_alloc(&d->m, MEMORY_OTHER, d->vocab,
      sizeof *d->logits, why)) != NULL
    && tokenizer_encode(d->t, &d->m, three_words, sizeof three_words - 1,
      false, false, &d->begin, why);
}

@* The constraint over a vocabulary. \label{lab:constrainteyes}
There are five examples: three patterns, the grammar of JSON, and a grammar of our own for a card. The budget is the number of tokens that a text may have.

@<Look at constraints with the eyes of a vocabulary@>=
struct example { const char *name, *text; bool grammar; size_t budget; };
static const char card[] =
  "root ::= \"{\\\"name\\\": \" name \", \\\"age\\\": \" [1-9] [0-9]?"@|
  " \", \\\"friends\\\": [\" name (\", \" name)* \"]}\"\n"@|
  "name ::= \"\\\"\" [A-Z] [a-z]{1,11} \"\\\"\"\n";
static const struct example shown[] = @[{ { "answer", "yes|no|perhaps", false, 0 },@|
  { "date", "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",@|
    false, 0 },@|
  { "story", "Once upon a time.{20,200}\\.", false, 0 },@|
  { "json", constraint_json, true, 40 }, { "card", card, true, 28 } }@];
enum { EXAMPLES = 5, STORY = 2, JSON = 3, CARD = 4 };
static struct constraint *make_example(struct desk *d,
  const struct example *e, struct error *why)
{
  size_t n = strlen(e->text);
  return e->grammar ? constraint_grammar(&d->m, e->name, e->text, n, why)@|
    : constraint_regex(&d->m, e->text, n, why);
}

@ Each example is compiled and bound, and asked about its first state.

@<Look at constraints with the eyes of a vocabulary@>=
struct sight { size_t nodes, kinds, first, least; };
static bool look_at(struct desk *d, const struct example *e, struct sight *s,
  struct error *why)
{
  bool accepts;
  struct constraint *c = make_example(d, e, why);
  bool ok = c != NULL && constraint_bind(c, d->l, false, why)@|
    && constraint_mask(c, constraint_start(c), SIZE_MAX, d->allowed, &accepts,
      why)
    && constraint_minimum(c, constraint_start(c), &s->least, why);
  s->first = 0;
  for (size_t i = 0; ok && i < d->vocab; i++) s->first += d->allowed[i];
  if (ok) s->nodes = constraint_look(c).nodes,
    s->kinds = constraint_look(c).classes;
  constraint_free(c);
  return ok;
}

@ The sights are printed as a table, or as keys.

@<Look at constraints with the eyes of a vocabulary@>=
static bool look_at_all(struct desk *d, bool keys,
  struct error *why)
{
  struct sight s;
  if (!keys) printf("\n%-8s%8s%8s%8s%8s\n", "", "nodes", "kinds", "first",
    "least");
  for (int i = 0; i < EXAMPLES; i++) {
    const char *name = shown[i].name;
    if (!look_at(d, &shown[i], &s, why))
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

@* The built-in model fills in a form. \label{lab:constraintwrites}
The model reads some tokens and scores what may follow the last of them.

@<Let the model write@>=
enum { MAX_BEGIN = 8 };
static bool read_tokens(struct desk *d,
  const uint32_t *id, size_t n, struct error *why)
{
  struct row row[MAX_BEGIN];
  struct pass *p = NULL;
  size_t at = store_length(d->s, 0), last = n - 1;
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) @[{ 0, (uint32_t) (at + i), id[i] }@];
  bool ok = model_forward(&d->e, d->lm, d->s, row, n, &p, why)
    && model_logits(&d->e, d->lm, p, &last, 1, d->logits, why);
  pass_close(p);
  return ok;
}

@ Of the allowed tokens the one with the highest logit is chosen. We note how many were allowed, and whether a token that is not allowed had a higher logit. A |struct written| keeps
what figures and boxes want to know of each step.

@<Let the model write@>=
struct written { uint32_t id[MAX_BUDGET]; size_t allowed[MAX_BUDGET],
  least[MAX_BUDGET], n, budget, overruled; };
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

@ The loop ends when no token is allowed any more; after the last brace of an object that is so at once. The model's own end token is not used. A loop that uses it would allow it wherever |accepts| is true.

@<Let the model write@>=
static bool write_text(struct desk *d,
  struct constraint *c, size_t budget, struct written *w, struct error *why)
{
  uint32_t state = constraint_start(c);
  bool accepts, overruled;
  *w = (struct written) @[{ .budget = budget }@];
  store_clear(d->s);
  if (!read_tokens(d, d->begin.id, d->begin.n, why)) return false;
  for (size_t left = budget; left > 0; left--) {
    if (!constraint_mask(c, state, left, d->allowed, &accepts, why))
      return false;
    w->id[w->n] = choose(d, &w->allowed[w->n], &overruled);
    if (w->allowed[w->n] == 0) break;
    if (!constraint_step(c, state, w->id[w->n], &state, why)
        || !constraint_minimum(c, state, &w->least[w->n], why)
        || !read_tokens(d, &w->id[w->n], 1, why)) return false;
    w->n++, w->overruled += overruled;
  }
  return true;
}

@ At the end the whole text is compared with the constraint once more, byte by byte from the front.

@<Let the model write@>=
static bool object_of(struct desk *d, int which,
  struct written *w, struct bytes *text, struct error *why)
{
  bool yes = false;
  text->n = 0;
  struct constraint *c = make_example(d, &shown[which], why);
  bool ok = c != NULL && constraint_bind(c, d->l, false, why)
    && write_text(d, c, shown[which].budget, w, why)
    && tokenizer_decode(d->t, &d->m, w->id, w->n, true, text, why)@|
    && constraint_matches(c, (const char *) text->byte, text->n, &yes, why);
  constraint_free(c);
  return ok && (yes || error_say(why, "the text is no object"));
}

@* What is printed. \label{lab:constraintprints}
The data of \cref{fig:allowed} has a line for each step.

@<Print what the prose quotes@>=
static void print_steps(const struct written *w)
{
  printf("step,allowed,least,left\n");
  for (size_t i = 0; i < w->n; i++)
    printf("%zu,%zu,%zu,%zu\n", i + 1, w->allowed[i], w->least[i],
      w->budget - i - 1);
}

@ After the closing step, every token that is left is needed: the least number of tokens to the end equals the rest of the budget.

@<Print what the prose quotes@>=
static size_t closing_step(const struct written *w)
{
  size_t k = 0;
  while (k < w->n && w->least[k] < w->budget - k - 1) k++;
  return k;
}

@* Times of the masks. \label{lab:constraintmasks}
They come from a file, which \texttt{make bench-constraints} writes. All of them are in microseconds.

@<Read how long the masks took@>=
struct mask_times { double rows, worst, best, first, json, near; };
static void enter_mask(struct mask_times *x, const char *line)
{
  char name[40];
  unsigned budget;
  double first, median;
  if (sscanf(line, "%39[^,],%*[^,],%u,%*u,%lf,%*f,%lf", name, &budget,@|
    &first, &median) != 4) return;
  x->rows++;
  if (median > x->worst) x->worst = median;
  if (median < x->best) x->best = median;
  if (first > x->first) x->first = first;
  if (strcmp(name, "json") != 0 || budget == 0) return;
  if (first > x->json) x->json = first;
  if (first < x->near) x->near = first;
}

@ Remarks and the names of the columns do not have these numbers, and are passed over.

@<Read how long the masks took@>=
static bool read_masks(struct mask_times *x, struct error *why)
{
  static const char *const path = "figures/data/constraints.masks.csv";
  FILE *f = fopen(path, "r");
  char line[256];
  *x = (struct mask_times) @[{ .best = 1e9, .near = 1e9 }@];
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) enter_mask(x, line);
  fclose(f);
  return x->json > 0 || error_say(why, "%s: its times of JSON near the"@|
    " end of a budget are not there", path);
}

@* The keys and the texts. \label{lab:constraintkeys}
The keys are the times in milliseconds, the sights, and the numbers of both texts.

@<Print what the prose quotes@>=
static bool print_keys(struct desk *d,
  struct bytes *text, struct error *why)
{
  struct written w;
  struct mask_times x;
  if (!read_masks(&x, why)) return false;
  printf("constraint.masks %.0f\nconstraint.worst %.3f\nconstraint.best"
    " %.3f\nconstraint.first %.3f\nconstraint.firstjson %.3f\n"
    "constraint.nearjson %.3f\n", x.rows, x.worst / 1e3, x.best / 1e3,@|
    x.first / 1e3, x.json / 1e3, x.near / 1e3);
  printf("constraint.vocab %zu\n", d->vocab);
  if (!object_of(d, JSON, &w, text, why)) return false;
  printf("constraint.json.budget %zu\nconstraint.json.overruled %zu\n",
    w.budget, w.overruled);
  if (!object_of(d, CARD, &w, text, why)) return false;
  printf("constraint.card.budget %zu\nconstraint.card.closing %zu\n",
    w.budget, closing_step(&w) + 1);
  return look_at_all(d, true, why);
}

@ The texts are longer than a line of the book, so they are broken at blanks.

@<Print what the prose quotes@>=
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

@ Otherwise the texts are shown as they are.

@<Print what the prose quotes@>=
static bool print_box(struct desk *d,
  struct bytes *text, struct error *why)
{
  struct written w;
  if (!look_at_all(d, false, why)) return false;
  for (int i = JSON; i <= CARD; i++) {
    if (!object_of(d, i, &w, text, why)) return false;
    printf("\n%s, %zu tokens, %zu of them against the model's will:\n",
      shown[i].name, w.n, w.overruled);
    print_folded(text);
  }
  return true;
}

@ With |"steps"| the program prints the data, with |"values"| the keys, and without an argument the checkpoint.

@<Print what the prose quotes@>=
static bool print_what(struct desk *d, const char *what,
  struct bytes *text, struct error *why)
{
  struct written w;
  if (strcmp(what, "values") == 0) return print_keys(d, text, why);
  if (strcmp(what, "steps") != 0) return print_box(d, text, why);
  if (!object_of(d, CARD, &w, text, why)) return false;
  print_steps(&w);
  return true;
}
