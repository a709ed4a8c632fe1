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
#include "constraints/constraint.h"
#include "laboratory/kit2.h"
@;@#
@<What it takes to write under a constraint@>@;
@<Look at constraints with the eyes of a vocabulary@>@;
@<Let the model write@>@;
@<Read how long the masks took@>@;
@<Print what the prose quotes@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "values", print_keys },@|
    { "steps", print_steps }, { "", print_box }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* A session of constrained decoding. \label{lab:constraintdesk}
The laboratory has the built-in model with its tokenizer and store, and the three words with which every text begins: they are the first of its sentence. Beside them a \emph{writer} has the lexicon, a mask, and the text.

@<What it takes to write under a constraint@>=
enum { MAX_BUDGET = 40, BEGIN = 3 };
struct writer { struct fixture *lab; struct lexicon *l; uint8_t *allowed;
  struct bytes text; };

@ The pieces of the lexicon come from the tokenizer. Special ids are not usable.

@<What it takes to write under a constraint@>=
static struct lexicon *pocket_lexicon(struct writer *d, struct error *why)
{
  size_t n = d->lab->vocab;
  struct token_bytes *spelt = lab_take(d->lab, n, sizeof *spelt, why);
  bool *usable = lab_take(d->lab, n, sizeof *usable, why);
  if (spelt == NULL || usable == NULL) return NULL;
  for (uint32_t i = 0; i < n; i++) {
    spelt[i].byte = tokenizer_text(d->lab->t, i, &spelt[i].n);
    usable[i] = !tokenizer_is_special(d->lab->t, i);
  }
  return lexicon_open(&d->lab->m, spelt, usable, n, why);
}

@ The laboratory takes back what it lends. The caller closes the rest, even if opening it failed.

@<What it takes to write under a constraint@>=
static bool writer_open(struct writer *d, struct fixture *lab,
  struct error *why)
{
  *d = (struct writer) @[{ .lab = lab }@];
  return (d->l = pocket_lexicon(d, why)) != NULL@|
    && (d->allowed = lab_take(lab, lab->vocab, 1, why)) != NULL;
}
static void writer_close(struct writer *d)
{
  bytes_free(&d->lab->m, &d->text);
  lexicon_close(d->l);
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
static struct constraint *make_example(struct writer *d,
  const struct example *e, struct error *why)
{
  size_t n = strlen(e->text);
  return e->grammar ? constraint_grammar(&d->lab->m, e->name, e->text, n, why)@|
    : constraint_regex(&d->lab->m, e->text, n, why);
}

@ Each example is compiled and bound, and asked about its first state.

@<Look at constraints with the eyes of a vocabulary@>=
struct sight { size_t nodes, kinds, first, least; };
static bool look_at(struct writer *d, const struct example *e, struct sight *s,
  struct error *why)
{
  bool accepts;
  struct constraint *c = make_example(d, e, why);
  bool ok = c != NULL && constraint_bind(c, d->l, false, why)@|
    && constraint_mask(c, constraint_start(c), SIZE_MAX, d->allowed, &accepts,
      why)
    && constraint_minimum(c, constraint_start(c), &s->least, why);
  s->first = 0;
  for (size_t i = 0; ok && i < d->lab->vocab; i++) s->first += d->allowed[i];
  if (ok) s->nodes = constraint_look(c).nodes,
    s->kinds = constraint_look(c).classes;
  constraint_free(c);
  return ok;
}

@ The sights are printed as a table, or as keys.

@<Look at constraints with the eyes of a vocabulary@>=
static bool look_at_all(struct writer *d, bool keys,
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
Of the allowed tokens the one with the highest logit is chosen. We note how many were allowed, and whether a token that is not allowed had a higher logit. A |struct written| keeps
what figures and boxes want to know of each step.

@<Let the model write@>=
struct written { uint32_t id[BEGIN + MAX_BUDGET]; size_t allowed[MAX_BUDGET],
  least[MAX_BUDGET], n, budget, overruled; };
static uint32_t choose(const struct writer *d, size_t *among, bool *overruled)
{
  uint32_t best = 0, free = 0;
  const float *logits = d->lab->logits;
  *among = 0;
  for (uint32_t i = 0; i < d->lab->vocab; i++) {
    if (logits[i] > logits[free]) free = i;
    if (!d->allowed[i]) continue;
    if ((*among)++ == 0 || logits[i] > logits[best]) best = i;
  }
  *overruled = best != free;
  return best;
}

@ Before each step the whole text is read again: it is short. The loop ends when no token is allowed any more; after the last brace of an object that is so at once. The model's own end token is not used. A loop that uses it would allow it wherever |accepts| is true.

@<Let the model write@>=
static bool write_text(struct writer *d,
  struct constraint *c, size_t budget, struct written *w, struct error *why)
{
  uint32_t state = constraint_start(c), *id = w->id + BEGIN;
  bool accepts, overruled;
  *w = (struct written) @[{ .budget = budget }@];
  memcpy(w->id, d->lab->sentence, BEGIN * sizeof *id);
  for (size_t left = budget; left > 0; left--) {
    if (!constraint_mask(c, state, left, d->allowed, &accepts, why)
        || !lab_logits(d->lab, d->lab->b.s, w->id, BEGIN + w->n, 1,
          d->lab->logits, why)) return false;
    id[w->n] = choose(d, &w->allowed[w->n], &overruled);
    if (w->allowed[w->n] == 0) break;
    if (!constraint_step(c, state, id[w->n], &state, why)
        || !constraint_minimum(c, state, &w->least[w->n], why)) return false;
    w->n++, w->overruled += overruled;
  }
  return true;
}

@ At the end the whole text is compared with the constraint once more, byte by byte from the front.

@<Let the model write@>=
static bool object_of(struct writer *d, int which,
  struct written *w, struct error *why)
{
  struct bytes *text = &d->text;
  bool yes = false;
  text->n = 0;
  struct constraint *c = make_example(d, &shown[which], why);
  bool ok = c != NULL && constraint_bind(c, d->l, false, why)
    && write_text(d, c, shown[which].budget, w, why)
    && tokenizer_decode(d->lab->t, &d->lab->m, w->id + BEGIN, w->n, true,@|
      text, why)@|
    && constraint_matches(c, (const char *) text->byte, text->n, &yes, why);
  constraint_free(c);
  return ok && (yes || error_say(why, "the text is no object"));
}

@* What is printed. \label{lab:constraintprints}
The data of \cref{fig:allowed} has a line for each step.

@<Print what the prose quotes@>=
static bool print_steps(struct fixture *lab, struct error *why)
{
  struct writer d;
  struct written w;
  bool ok = writer_open(&d, lab, why) && object_of(&d, CARD, &w, why);
  printf("step,allowed,least,left\n");
  for (size_t i = 0; ok && i < w.n; i++)
    printf("%zu,%zu,%zu,%zu\n", i + 1, w.allowed[i], w.least[i],@|
      w.budget - i - 1);
  writer_close(&d);
  return ok;
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
enum { MASKS = 16 };
struct mask_times { double rows, worst, best, first, json, near; };
static bool enter_mask(void *ctx, const char *line)
{
  struct mask_times *x = ctx;
  char name[40];
  unsigned budget;
  double first, median;
  if (sscanf(line, "%39[^,],%*[^,],%u,%*u,%lf,%*f,%lf", name, &budget,@|
    &first, &median) != 4) return false;
  x->rows++;
  if (median > x->worst) x->worst = median;
  if (median < x->best) x->best = median;
  if (first > x->first) x->first = first;
  if (strcmp(name, "json") != 0 || budget == 0) return true;
  if (first > x->json) x->json = first;
  if (first < x->near) x->near = first;
  return true;
}

@* The keys and the texts. \label{lab:constraintkeys}
The keys are the times in milliseconds, the sights, and the numbers of both texts.

@<Print what the prose quotes@>=
static bool print_keys(struct fixture *lab, struct error *why)
{
  struct writer d;
  struct written json, form;
  struct mask_times x = @[{ .best = 1e9, .near = 1e9 }@];
  bool ok = writer_open(&d, lab, why)@|
    && data_read("constraints.masks", enter_mask, &x, MASKS, why)@|
    && object_of(&d, JSON, &json, why) && object_of(&d, CARD, &form, why);
  if (ok) {
    print_key("constraint.masks", "%.0f", x.rows);
    print_key("constraint.worst", "%.3f", x.worst / 1e3);
    print_key("constraint.best", "%.3f", x.best / 1e3);
    print_key("constraint.first", "%.3f", x.first / 1e3);
    print_key("constraint.firstjson", "%.3f", x.json / 1e3);
    print_key("constraint.nearjson", "%.3f", x.near / 1e3);
    print_key("constraint.vocab", "%zu", lab->vocab);
    print_key("constraint.json.budget", "%zu", json.budget);
    print_key("constraint.json.overruled", "%zu", json.overruled);
    print_key("constraint.card.budget", "%zu", form.budget);
    print_key("constraint.card.closing", "%zu", closing_step(&form) + 1);
  }
  ok = ok && look_at_all(&d, true, why);
  writer_close(&d);
  return ok;
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

@ Without a word the program prints the sights and the texts.

@<Print what the prose quotes@>=
static bool print_box(struct fixture *lab, struct error *why)
{
  struct writer d;
  struct written w;
  bool ok = writer_open(&d, lab, why) && look_at_all(&d, false, why);
  for (int i = JSON; ok && i <= CARD; i++) {
    ok = object_of(&d, i, &w, why);
    if (!ok) break;
    printf("\n%s, %zu tokens, %zu of them against the model's will:\n",
      shown[i].name, w.n, w.overruled);
    print_folded(&d.text);
  }
  writer_close(&d);
  return ok;
}
