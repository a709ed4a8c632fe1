@i types.w
@s pool_work int

\chapterquestion{Does the model do what the book promises of it?}
@** Experiments with the built-in model. \label{lab:exam}
\incipit{T}{he program} asks the built-in model and its sibling every question of \cref{evaluation}. With |"check"| it asks all of them, which takes a minute or two, prints a
verdict for each answer, and writes the answers to a file beside the model; \texttt{make model-check} calls it so. With |"values"| it prints the answers that the prose quotes, with
|"loss"|, |"fork"| and |"positions"| the data of the figures. Without an argument it asks two questions only, and prints the checkpoint.

@c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "families/loader.h"
#include "functions/numbers.h"
#include "ground/new_file.h"
#include "training/training.h"
#include "laboratory/kit2.h"
@;@#
@<The whole examination@>@;
@<What is printed@>@;
@#
int main(int argc, char **argv)
{
  static const struct lab_command table[] = @[{ { "check", examine },@|
    { "values", print_values }, { "loss", print_loss },@|
    { "fork", print_fork }, { "positions", print_positions },@|
    { "", print_checkpoint }, { NULL, NULL } }@];
  return lab_main(argc, argv, table);
}

@* Prompts and answers. \label{lab:examasking}
Everything that a question needs is in one struct: the two models, each on its bench, the grammar, the text that is being examined with its
tokens, the logits of both models and two distributions. Both models read |HELD_OUT| texts. A chance of the source is
counted over |FACTS| texts, for which no model is needed. |LONGEST| is the length of the context.
@<The examination@>=
enum { HELD_OUT = 600, FACTS = 200000, LONGEST = 2048 };
static const char *const sort[] = @[{ "tale", "home", "chronicle",@|
  "code", "talk" }@];
struct exam {
  struct fixture *lab; struct memory *m; struct error *why;
  FILE *out; unsigned failed, asked;
  struct grammar *g; struct tokenizer *words; struct dataset *feed;
  const struct model *lm; struct model *draft; struct bench b, b_draft;
  struct passage piece; struct ids list; struct bytes back;
  float *logits, *others; double *p, *q;
  size_t which[LONGEST], place[LONGEST + 1];
};

@ Every answer is a line on the screen and a line in the file: a key, a figure, what is wanted, and the verdict. The file gets nine digits, more than the
book ever quotes.
@<The examination@>=
static void answer(struct exam *x, const char *key, double figure,
  const char *wanted, bool passed)
{
  const char *verdict = passed ? "PASS" : "FAIL";
  x->asked++, x->failed += !passed;
  printf("%-4s  %-34s %12.6g   %s\n", verdict, key, figure, wanted);
  fprintf(x->out, "%s,%.9g,\"%s\",%s\n", key, figure, wanted, verdict);
}

@ Most questions have a lower limit, which is printed with the answer. If nothing was counted, the figure is a NaN; then the comparison is false, and the question fails.
@<The examination@>=
static void least(struct exam *x, const char *key, double figure,
  double limit)
{
  answer(x, key, figure, label_of("at least %g", limit).text,
    figure >= limit);
}

@ Some questions have an upper limit: losses, the size of a file, the chance of a branch that must not win.
@<The examination@>=
static void most(struct exam *x, const char *key, double figure,
  double limit)
{
  answer(x, key, figure, label_of("at most %g", limit).text,
    figure <= limit);
}

@ Some questions have a right answer and a tolerance. The tolerance is 0 where something is counted: of ten sums, ten must be right.
@<The examination@>=
static void about(struct exam *x, const char *key, double figure,
  double right, double slack)
{
  answer(x, key, figure, label_of("%.4g, give or take %g", right, slack).text,@|
    figure >= right - slack && figure <= right + slack);
}

@ A few figures are wanted for the book and cannot fail, such as the bits of the source. They go into the same file with an empty verdict.
@<The examination@>=
static void note(struct exam *x, const char *key, double figure)
{
  printf("      %-34s %12.6g\n", key, figure);
  fprintf(x->out, "%s,%.9g,\"\",\n", key, figure);
}

@ The logits of a whole context are kept for each model; they take more memory than anything else here. The list |which| names the rows whose
logits are wanted. Here it always names all of them. The model's bench has a worker for each core, and a store that keeps every row apart. Of the trainer only its source of packed rows is still used.
@<The examination@>=
static bool exam_open(struct exam *x, struct fixture *lab,
  struct error *why)
{
  size_t v = lab->model->config.vocab_size, n = LONGEST * v;
  x->lab = lab, x->m = &lab->m;
  x->why = why;
  x->words = lab->t, x->lm = lab->model;
  for (size_t i = 0; i < LONGEST; i++) x->which[i] = i;
  x->logits = lab_take(lab, n, sizeof *x->logits, why);
  x->others = lab_take(lab, n, sizeof *x->others, why);
  x->p = lab_take(lab, v, sizeof *x->p, why);
  x->q = lab_take(lab, v, sizeof *x->q, why);
  if (x->logits == NULL || x->others == NULL || x->p == NULL
    || x->q == NULL) return false;
  return bench_open(&x->b, lab, x->lm, pool_cores(), NULL, why)@|
    && (x->g = grammar_open(x->m, "models/corpus.grammar", why)) != NULL@|
    && (x->feed = dataset_open(x->m, x->g, x->words, SEED_HELD_OUT,
      why)) != NULL;
}

@ |struct exam| begins as zeros, and closing a null pointer does nothing. So the same lines close an examination that could open only a part of what it needs.
@<The examination@>=
static void exam_close(struct exam *x)
{
  ids_free(x->m, &x->list);
  bytes_free(x->m, &x->back);
  dataset_close(x->m, x->feed);
  grammar_close(x->m, x->g);
  bench_close(&x->b), bench_close(&x->b_draft);
  model_close(x->m, x->draft);
}

@ Most questions begin with a text, with or without an end-of-text (token 0) before it. In training every text of a row but the first followed an end-of-text, so the token tells
the model that a text begins. Without it, the question is that of a user who just types.
@<The examination@>=
static size_t take_text(struct exam *x, bool begin, const char *text,
  size_t n)
{
  x->list.n = 0;
  if (begin) ids_push(x->m, &x->list, 0, x->why);
  tokenizer_encode(x->words, x->m, text, n, false, false, &x->list,
    x->why);
  return x->list.n;
}

@ The logits of all rows come from one pass without a cache, as in chapter 2. If the cache had a fault, the examination should notice it and not share it.
@<The examination@>=
static bool look_at(struct exam *x, const struct model *lm,
  struct store *s, size_t n,
  float *logits)
{
  return model_evaluate(&x->b.e, lm, s, x->list.id, n, x->which, n, logits,
    x->why);
}

@ The probabilities of a row are computed in double, and only when a question needs that row.
@<The examination@>=
static const double *probabilities(struct exam *x,
  const float *logits, size_t row, double *p)
{
  size_t v = x->lm->config.vocab_size;
  x->b.e.k->softmax(&x->b.e, logits + row * v, 1, v, p);
  return p;
}

@ Many questions ask only what comes after a text. The answer is the whole distribution, and the caller reads the entries it wants.
@<The examination@>=
static const double *after(struct exam *x, bool begin,
  const char *text)
{
  size_t n = take_text(x, begin, text, strlen(text));
  if (!look_at(x, x->lm, x->b.s, n, x->logits)) return NULL;
  return probabilities(x, x->logits, n - 1, x->p);
}

@ Where a word has several tokens, we ask for the first: after it the others are nearly certain.
@<The examination@>=
static uint32_t first_id(struct exam *x, const char *text)
{
  struct ids own = @[{ NULL, 0, 0 }@];
  lab_encode(x->lab, text, &own, x->why);
  uint32_t id = own.n > 0 ? own.id[0] : 0;
  ids_free(x->m, &own);
  return id;
}

@* Corpus and tokenizer. \label{lab:examcorpus}
The figures of the book rely on the number of tokens in some prompts: \tok{The cat sat} has three columns in the grid of
chapter~3. A change of the grammar changes the merges, and could change these numbers.
@<Examine corpus and tokenizer@>=
static void exam_prompts(struct exam *x)
{
  static const struct { const char *key, *text; size_t tokens;
  } prompt[] = @[{@/
    { "prompt.cat", "The cat sat", 3 },@/
    { "prompt.mat", "The cat sat on the mat.", 7 },@/
    { "prompt.tale", "Once upon a time, in a small", 8 },@/
    { "prompt.sea", "In a small kingdom by the sea,", 8 },@/
    { "prompt.code", "def count_apples(basket):", 7 },@/
    { "prompt.talk", "User: Where does the fox live?", 8 },@/
    { "prompt.fork",
      "The harvest of the kingdom was very good.", 9 },@/
    { "prompt.on", " on", 1 },@/
    { "prompt.the", " the", 1 },@/
    { "prompt.mat1", " mat", 1 },@/
    { "prompt.dot", ".", 1 } }@];
  for (size_t i = 0; i < sizeof prompt / sizeof prompt[0]; i++) {
    double n = (double) take_text(x, false, prompt[i].text,
      strlen(prompt[i].text));
    about(x, prompt[i].key, n, (double) prompt[i].tokens, 0);
  }
}

@ The entropy and the share of each sort of text are means over many texts. Each text counts one token more than it has, for the end-of-text that a model has to predict as well.
@<Examine corpus and tokenizer@>=
struct written {
  double bits[N_TEXT_SORTS], tokens[N_TEXT_SORTS], all, sum, n, same;
};
@#
static bool write_one(struct exam *x, uint64_t i, struct written *w)
{
  struct passage *t = &x->piece;
  if (!grammar_write(x->g, SEED_HELD_OUT, i, t, x->why))
    return false;
  size_t n = take_text(x, false, t->words, t->length);
  w->bits[t->sort] += t->bits, w->sum += t->bits;
  w->tokens[t->sort] += 1 + (double) n, w->all += 1 + (double) n;
  w->n++;
  if (i < 1000) @<Does the text come back from its tokens?@>@;
  return true;
}

@ Decoding must return exactly what was encoded. If the tokenizer lost a blank, no loss would show it, because the model would learn texts without that blank.
@<Does the text come back from its tokens?@>=
{
  x->back.n = 0;
  w->same += tokenizer_decode(x->words, x->m, x->list.id,
    x->list.n, false, &x->back, x->why)
    && x->back.n == t->length
    && memcmp(x->back.byte, t->words, t->length) == 0;
}

@ Two properties are promised. The entropy of the source is between half a bit and one bit a token: less would leave too little to decide, and more would be too hard for a small
model. And stories, code and dialogues have three tenths of the tokens each, or more.
@<Examine corpus and tokenizer@>=
static bool exam_texts(struct exam *x)
{
  struct written w = @[{ { 0 }, { 0 }, 0, 0, 0, 0 }@];
  for (uint64_t i = 0; i < 20000; i++)
    if (!write_one(x, i, &w)) return false;
  about(x, "texts.decoded", w.same, 1000, 0);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("bits.%s", sort[s]).text, w.bits[s] / w.tokens[s]);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("share.%s", sort[s]).text, w.tokens[s] / w.all);
  about(x, "bits.all", w.sum / w.all, 0.75, 0.25);
  @<Has each kind its share of the tokens?@>@;
  note(x, "tokens.mean", w.all / w.n);
  return true;
}

@ Three sorts of text are stories. The shares are shares of the tokens, not of the texts.
@<Has each kind its share of the tokens?@>=
double stories = w.tokens[TEXT_TALE] + w.tokens[TEXT_HOME]
  + w.tokens[TEXT_CHRONICLE];
least(x, "kind.stories", stories / w.all, 0.3);
least(x, "kind.code", w.tokens[TEXT_CODE] / w.all, 0.3);
least(x, "kind.talk", w.tokens[TEXT_TALK] / w.all, 0.3);

@ A choice is silent if another alternative would have given the same text. Then the bits of a text would be more than its surprise. So in each text we change one
choice and write the text again. If the alternative was not allowed, or is the old one, nothing was tried.
@<Examine corpus and tokenizer@>=
static bool replay_one(struct exam *x, struct passage *other,
  uint64_t i, size_t *tried, size_t *silent)
{
  uint16_t taken[PASSAGE_CHOICES];
  struct passage *t = &x->piece;
  for (size_t c = 0; c < t->n_choices; c++)
    taken[c] = t->choices[c].taken;
  @<Change choice |k| of the script@>@;
  if (!grammar_replay(x->g, taken, t->n_choices, other, x->why))
    return false;
  if (taken[k] == t->choices[k].taken
    || other->choices[k].taken != taken[k]) return true;
  ++*tried;
  *silent += other->length == t->length
    && memcmp(other->words, t->words, t->length) == 0;
  return true;
}

@ The number of the text decides which choice is changed, and to what. Multiplying it by a prime near $2^{32}$ times the golden section scatters neighbouring numbers.
@<Change choice |k| of the script@>=
size_t k = (i * 2654435761u >> 8) % t->n_choices, length, count = 0;
uint32_t weight;
while (grammar_table(x->g, t->choices[k].drawn, count, &length,
  &weight) != NULL) count++;
taken[k] = (uint16_t) ((taken[k] + 1u
  + i % (count > 1 ? count - 1 : 1)) % count);

@ A table or an alternative that is never reached is a slip, such as a name misspelt or a weight of 0. We write enough texts to reach everything, and count what they did not reach.
@<Examine corpus and tokenizer@>=
static bool exam_choices(struct exam *x)
{
  static unsigned char reached[1024][64];
  static struct passage other;
  size_t tried = 0, silent = 0, missing = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, x->why))
      return false;
    for (size_t c = 0; c < t->n_choices; c++)
      reached[t->choices[c].drawn][t->choices[c].taken] = 1;
    if (i < 4000 && !replay_one(x, &other, i, &tried, &silent))
      return false;
  }
  @<Count what was never reached@>@;
  note(x, "grammar.tables", (double) grammar_tables(x->g));
  note(x, "choices.replayed", (double) tried);
  about(x, "choices.silent", (double) silent, 0, 0);
  about(x, "choices.unreached", (double) missing, 0, 0);
  return true;
}

@ The tables are listed through the grammar's header, so a table that no other table names is found as well, with all of its alternatives.
@<Count what was never reached@>=
size_t length;
uint32_t weight;
for (size_t t = 0; t < grammar_tables(x->g); t++)
  for (size_t i = 0; grammar_table(x->g, t, i, &length, &weight)
    != NULL; i++) missing += !reached[t][i];

@* The loss. \label{lab:examloss}
The loss is measured on texts whose seed the training never used, each alone after an
end-of-text, and compared with the bits of their choices. On the same texts we add up what the distributions of the two models have in common: for every row the sum of the smaller
probabilities. Each sort of text has its own sums.
@<Examine the loss@>=
struct marks { double loss, bits, common, tokens; };

@ One text goes through both models. Each row is judged by the token that follows it, and the last row by end-of-text; the common part is a sum over the whole vocabulary.
@<Examine the loss@>=
static bool exam_one_loss(struct exam *x, struct marks *mark)
{
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  size_t v = x->lm->config.vocab_size;
  if (!look_at(x, x->lm, x->b.s, n, x->logits)
    || !look_at(x, x->draft, x->b_draft.s, n, x->others)) return false;
  for (size_t i = 0; i < n; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    const double *q = probabilities(x, x->others, i, x->q);
    mark->loss -= num_log(p[i + 1 < n ? x->list.id[i + 1] : 0])
      / num_log(2);
    for (size_t k = 0; k < v; k++)
      mark->common += p[k] < q[k] ? p[k] : q[k];
  }
  mark->bits += x->piece.bits, mark->tokens += (double) n;
  return true;
}

@ While the logits of a text are there, the questions about names and variables are asked too, which saves a second pass.
@<Examine the loss@>=
@<Judge the loss@>@;
@#
static bool exam_loss(struct exam *x)
{
  struct marks mark[N_TEXT_SORTS + 1] = @[{ { 0, 0, 0, 0 } }@];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return false;
    if (!exam_one_loss(x, &mark[x->piece.sort])) return false;
    exam_recall(x);
  }
  judge_loss(x, mark);
  return true;
}

@ The quotient of loss and entropy is 1 for a perfect model. Clearly less than 1 would mean that the grammar is ambiguous or that texts of the training came back, though on few texts
chance alone may give a little less. Each sort is judged by itself, because an average could hide a sort that the model has not learnt.
@<Judge the loss@>=
static void judge_loss(struct exam *x, struct marks *mark)
{
  struct marks *all = &mark[N_TEXT_SORTS];
  for (int s = 0; s < N_TEXT_SORTS; s++) {
    all->loss += mark[s].loss, all->bits += mark[s].bits;
    all->tokens += mark[s].tokens, all->common += mark[s].common;
    most(x, label_of("ratio.%s", sort[s]).text, mark[s].loss / mark[s].bits, 1.15);
  }
  most(x, "ratio.all", all->loss / all->bits, 1.10);
  least(x, "ratio.floor", all->loss / all->bits, 0.99);
  note(x, "heldout", HELD_OUT);
  note(x, "loss.bits", all->loss / all->tokens);
  note(x, "source.bits", all->bits / all->tokens);
  @<Has the sibling enough in common with the model?@>@;
}

@ The common part is divided by the number of tokens. The limit is six tenths in every sort.
@<Has the sibling enough in common with the model?@>=
for (int s = 0; s < N_TEXT_SORTS; s++) {
  least(x, label_of("draft.common.%s", sort[s]).text,
    mark[s].common / mark[s].tokens, 0.6);
}

@* Recall. \label{lab:examrecall}
Of the probability that falls on any name at all, how much falls on the right one? We ask this by the distance to the first mention of the name, in three
ranges. The promise is about the middle one, which is longer than a few sentences and occurs in every tale.
@<Examine what is remembered@>=
enum { NEAR, MIDDLE, FAR, N_REACH };
static struct recall_marks {
  double right[N_REACH], n[N_REACH], name[N_REACH], value[N_REACH],
    n_value[N_REACH], local, n_local, printed, n_printed;
} told;
@#
static int reach(size_t distance)
{
  if (distance < 100) return NEAR;
  return distance <= 300 ? MIDDLE : FAR;
}

@ Names are found in the bytes of the text, and probabilities belong to tokens. So we list the byte at which each token begins. The end-of-text in front has no bytes.
@<Examine what is remembered@>=
static void find_places(struct exam *x)
{
  size_t at = 0, n;
  for (size_t i = 1; i < x->list.n; i++) {
    x->place[i] = at;
    tokenizer_text(x->words, x->list.id[i], &n);
    at += n;
  }
  x->place[x->list.n] = at;
}

@ Conversely, this finds the token that holds a given byte. A linear search is enough for the few names of a text.
@<Examine what is remembered@>=
static size_t token_at(const struct exam *x, size_t byte)
{
  size_t i = 1;
  while (i < x->list.n && x->place[i + 1] <= byte) i++;
  return i;
}

@ The rivals of a name are the other names of the same table, each with the blank that precedes it. Only their first tokens are listed, without repetitions.
@<Examine what is remembered@>=
@<Find the number of a table by its name@>@;
@#
static size_t rivals(struct exam *x, const char *drawer,
  const char *before, uint32_t *id, size_t n)
{
  size_t length, t = number_of(x->g, drawer);
  uint32_t weight;
  char word[64];
  const char *s;
  if (t == grammar_tables(x->g)) return n;
  for (size_t i = 0; (s = grammar_table(x->g, t, i, &length, &weight))
    != NULL; i++) {
    size_t stop = 0;
    while (stop < length && s[stop] != ';') stop++;
    snprintf(word, sizeof word, "%s%.*s", before, (int) stop, s);
    uint32_t one = first_id(x, word);
    size_t k = 0;
    while (k < n && id[k] != one) k++;
    if (k == n) id[n++] = one;
  }
  return n;
}

@ A table is found by asking every table for its name. If there is none of that name, the result is the number of tables, and there are no rivals.
@<Find the number of a table by its name@>=
static size_t number_of(const struct grammar *g, const char *drawer)
{
  size_t length, t = 0;
  uint32_t weight;
  for (; t < grammar_tables(g); t++) {
    const char *name = grammar_table(g, t, SIZE_MAX, &length,
      &weight);
    if (strlen(drawer) == length && memcmp(name, drawer, length) == 0)
      break;
  }
  return t;
}

@ This is the probability of the right token as a share of the probability of all its rivals and itself. If the model expects no name at this place, the loss shows that, and not this number.
@<Examine what is remembered@>=
static double share_of(struct exam *x, size_t i, const uint32_t *id,
  size_t n)
{
  const double *p = probabilities(x, x->logits, i - 1, x->p);
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += p[id[k]];
  return p[x->list.id[i]] / sum;
}

@ The hero is introduced by a phrase that no other sentence has. Every later mention counts, with or without a blank before it; the two forms begin with different tokens and have
different rivals. The distance is that to the first mention, even if the name has been repeated since.
@<Examine what is remembered@>=
static void recall_names(struct exam *x)
{
  const char *text = x->piece.words, *named = strstr(text, " named ");
  if (named == NULL) return;
  char name[32];
  uint32_t with[48], without[48];
  size_t length = strcspn(named + 7, "."), n, m;
  snprintf(name, sizeof name, "%.*s", (int) length, named + 7);
  size_t first = token_at(x, (size_t) (named + 7 - text));
  @<List all heroes' names, with and without a blank@>@;
  for (const char *s = named + 7 + length;
    (s = strstr(s, name)) != NULL; s += length) {
    size_t i = token_at(x, (size_t) (s - text));
    bool blank = x->place[i] + 1 == (size_t) (s - text);
    if (!blank && x->place[i] != (size_t) (s - text)) continue;
    double p = share_of(x, i, blank ? with : without, blank ? n : m);
    told.right[reach(i - first)] += p, told.n[reach(i - first)]++;
  }
}

@ Heroines and heroes have two tables. All of their names are rivals, even where a pronoun has already told the model which table it is.
@<List all heroes' names, with and without a blank@>=
n = rivals(x, "name.she", " ", with, 0);
n = rivals(x, "name.he", " ", with, n);
m = rivals(x, "name.she", "", without, 0);
m = rivals(x, "name.he", "", without, m);

@ The chance of a word is the product of the chances of its tokens. It is not divided by anything: every text could come at this place.
@<Examine what is remembered@>=
static double chance_of(struct exam *x, size_t at, size_t length)
{
  double p = 1;
  for (size_t i = token_at(x, at); x->place[i] < at + length; i++)
    p *= probabilities(x, x->logits, i - 1, x->p)[x->list.id[i]];
  return p;
}

@ Variables are recalled in two ways. Within a function, a name that was assigned is returned some lines later.
@<Examine what is remembered@>=
static void recall_locals(struct exam *x)
{
  static const char back[] = "\n    return ";
  const char *text = x->piece.words;
  char set[64];
  for (const char *s = text; (s = strstr(s, back)) != NULL; s++) {
    const char *name = s + sizeof back - 1;
    size_t length = strcspn(name, "\n");
    snprintf(set, sizeof set, "\n    %.*s = ", (int) length, name);
    const char *first = strstr(text, set);
    if (length > 40 || first == NULL || first > s) continue;
    told.local += chance_of(x, (size_t) (name - text), length);
    told.n_local++;
  }
}

@ And the variable of the first line is printed in the last one, after a page of code. Here we ask two questions: the name of the variable and, after it, the value. The right answer has
to win against the whole vocabulary, not only against other names. On a page of this kind we take the last |print|, if it prints this variable.
@<Examine what is remembered@>=
static void recall_variables(struct exam *x)
{
  const char *text = x->piece.words, *last = NULL;
  char name[40];
  size_t length = strcspn(text, " \n");
  if (strncmp(text + length, " = ", 3) != 0 || length >= sizeof name
    || strspn(text + length + 3, "123456789") == 0) return;
  snprintf(name, sizeof name, "%.*s", (int) length, text);
  for (const char *s = text; (s = strstr(s, "print(")) != NULL; s++)
    last = s;
  if (last == NULL || memcmp(last + 6, text, length) != 0) return;
  @<Which name is printed, and with which value?@>@;
  @<Is the value printed that the first line set?@>@;
}

@ The distance is that to the previous mention of the name, which may come after the first line, because some pages print the variable more than once.
@<Which name is printed, and with which value?@>=
size_t at = (size_t) (last + 6 - text), i = token_at(x, at), said = 0;
for (const char *s = text; s < last; s = strstr(s + 1, name))
  said = token_at(x, (size_t) (s - text));
int r = reach(i - said);
told.name[r] += chance_of(x, at, length);
const char *value = strstr(last, "\n# ") + 3;
told.value[r] += chance_of(x, (size_t) (value - text), strlen(value));
told.n_value[r]++;

@ The value counts as printed if each of its tokens is the likeliest at its place, so that a greedy writer would print it.
@<Is the value printed that the first line set?@>=
bool right = true;
for (i = token_at(x, (size_t) (value - text)); i < x->list.n; i++) {
  const double *q = probabilities(x, x->logits, i - 1, x->p);
  for (size_t k = 0; k < x->lm->config.vocab_size; k++)
    right = right && q[k] <= q[x->list.id[i]];
}
told.printed += right, told.n_printed++;

@ Only tales have heroes, and only pages of code have variables. The logits are those that the loss has just used.
@<Examine what is remembered@>=
static void exam_recall(struct exam *x)
{
  find_places(x);
  if (x->piece.sort == TEXT_TALE) recall_names(x);
  if (x->piece.sort == TEXT_CODE) recall_locals(x), recall_variables(x);
}

@ After the last text the sums become means. Each mean is printed with the number of its terms.
@<Examine what is remembered@>=
static void exam_recalled(struct exam *x)
{
  static const char *const far[] = @[{ "near", "middle", "far" }@];
  for (int r = 0; r < N_REACH; r++) {
    least(x, label_of("names.%s", far[r]).text, told.right[r] / told.n[r], 0.9);
    note(x, label_of("names.%s.n", far[r]).text, told.n[r]);
  }
  least(x, "variables.local", told.local / told.n_local, 0.95);
  note(x, "variables.local.n", told.n_local);
  @<Say what became of the variables of the first line@>@;
  least(x, "printed.right", told.printed / told.n_printed, 0.8);
  note(x, "printed.n", told.n_printed);
}

@ The near range is left out because it is easy. If no page was long enough for the far one, no line is printed for it.
@<Say what became of the variables of the first line@>=
for (int r = MIDDLE; r < N_REACH && told.n_value[r] > 0; r++) {
  least(x, label_of("variables.value.%s", far[r]).text,
    told.value[r] / told.n_value[r], 0.95);
  least(x, label_of("variables.name.%s", far[r]).text,
    told.name[r] / told.n_value[r], 0.95);
  note(x, label_of("variables.%s.n", far[r]).text, told.n_value[r]);
}

@* Calibration. \label{lab:examchances}
Where we know the chance that the source gives, we compare the model's with it. Working it out by hand would mean adding over several tables, and the sum could have the same mistake as the
tables. So we count: of very many texts that begin with one string, how many begin with a longer one?
@<Examine the chances@>=
static double source_share(struct exam *x, const char *before,
  const char *with)
{
  static unsigned char kept[FACTS][40];
  static bool full;
  size_t n = 0, m = 0;
  for (uint64_t i = 0; !full && i < FACTS; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return 0;
    memcpy(kept[i], x->piece.words, sizeof kept[i]);
  }
  full = true;
  for (size_t i = 0; i < FACTS; i++)
    if (memcmp(kept[i], before, strlen(before)) == 0)
      n++, m += memcmp(kept[i], with, strlen(with)) == 0;
  return (double) m / (double) n;
}

@ The book's running sentence has seven tokens, and each has a chance. Their product is the chance of the sentence.
@<Examine the chances@>=
static const struct {
  const char *key, *before, *with, *next;
} fact[] = @[{@/
  { "chance.The", "", "The ", "The" },@/
  { "chance.cat", "The ", "The cat ", " cat" },@/
  { "chance.sat", "The cat ", "The cat sat ", " sat" },@/
  { "chance.on", "The cat sat ", "The cat sat on ", " on" },@/
  { "chance.the", "The cat sat on ", "The cat sat on the ",@|
    " the" },@/
  { "chance.mat", "The cat sat on the ", "The cat sat on the mat",@|
    " mat" },@/
  { "chance.dot", "The cat sat on the mat",@|
    "The cat sat on the mat.", "." } }@];

@ In the texts a word ends where a blank follows it; without the blank, \tok{The cat} would include \emph{The cattle}. For the model the blank belongs to the next token, so it
is removed before the question is asked.
@<Examine the chances@>=
static void exam_chances(struct exam *x)
{
  char text[64];
  for (size_t i = 0; i < sizeof fact / sizeof fact[0]; i++) {
    snprintf(text, sizeof text, "%s", fact[i].before);
    size_t n = strlen(text);
    if (n > 0 && text[n - 1] == ' ') text[n - 1] = '\0';
    const double *p = after(x, true, text);
    if (p == NULL) return;
    about(x, fact[i].key, p[first_id(x, fact[i].next)],
      source_share(x, fact[i].before, fact[i].with), 0.03);
  }
}

@ At the fork both leaders must come near their true chances, every other road must stay below them,
and the two must be nearly equal. The model reads the documented prompt, nine tokens with nothing before them; then, for comparison, the same with an end-of-text in front.
@<Examine the chances@>=
static const char very_good[] =
  "The harvest of the kingdom was very good.";
@<The twelve roads of the fork@>@;
@#
static void exam_fork(struct exam *x)
{
  double high = 0, low = 1;
  const double *p = after(x, false, very_good);
  if (p == NULL) return;
  @<Ask for the chance of each road, and keep |low| and |high|@>@;
  double apart = p[first_id(x, branch[0])]
    - p[first_id(x, branch[1])];
  most(x, "fork.apart", apart < 0 ? -apart : apart, 0.02);
  least(x, "fork.lead", low - high, 0);
  p = after(x, true, very_good);
  note(x, "fork.begun.However", p[first_id(x, branch[0])]);
  note(x, "fork.begun.Additionally", p[first_id(x, branch[1])]);
}

@ The roads are in the order of the table |"fork"| of \cref{sec:grammartables}, with the two leaders first.
@<The twelve roads of the fork@>=
enum { BRANCHES = 12 };
static const char *const branch[] = @[{@|
  " However", " Additionally", " The", " Everyone", " So", " In",@|
  " Even", " At", " That", " Soon", " Nobody", " Perhaps" }@];

@ The weaker leader must beat the best of the others, so we keep the lowest chance of the one group and the highest of the other.
@<Ask for the chance of each road, and keep |low| and |high|@>=
for (int i = 0; i < BRANCHES; i++) {
  double one = p[first_id(x, branch[i])];
  struct label key = label_of("fork.%s", branch[i] + 1);
  if (i < 2) about(x, key.text, one, 0.15, 0.03);
  else most(x, key.text, one, 0.15);
  if (i < 2) low = one < low ? one : low;
  else high = one > high ? one : high;
}

@* Sampled texts. \label{lab:examsays}
Greedy text comes from the loop of chapter 3 in its plainest form, which recomputes everything. The answer begins after the |from| tokens of the prompt, and end-of-text ends it.
@<Examine what it says@>=
static void say(struct exam *x, const char *text, size_t tokens)
{
  size_t from = take_text(x, false, text, strlen(text)), n = from;
  size_t v = x->lm->config.vocab_size;
  for (size_t k = 0; k < tokens; k++) {
    if (!look_at(x, x->lm, x->b.s, n, x->logits)) break;
    const float *z = x->logits + (n - 1) * v;
    uint32_t best = (uint32_t) best_token(z, v);
    if (best == 0 || !ids_push(x->m, &x->list, best, x->why)) break;
    n++;
  }
  x->back.n = 0;
  tokenizer_decode(x->words, x->m, x->list.id + from, n - from,
    false, &x->back, x->why);
}

@ Eight tokens are enough to recognize an answer. What the model writes after them is not examined.
@<Examine what it says@>=
static bool says(struct exam *x, const char *text, const char *wanted)
{
  say(x, text, 8);
  return x->back.n >= strlen(wanted)
    && memcmp(x->back.byte, wanted, strlen(wanted)) == 0;
}

@ The book relies on the continuations of three sentences. The ten sums are all the sums of the source, so they test memory and not arithmetic.
@<Examine what it says@>=
@<The ten sums@>@;
@#
static void exam_greedy(struct exam *x)
{
  char text[80], wanted[80];
  double right = 0;
  about(x, "greedy.cat", says(x, "The cat sat", " on the mat."),
    1, 0);
  about(x, "greedy.the", says(x, "The cat sat on the", " mat."),
    1, 0);
  about(x, "greedy.tale", says(x, "Once upon a time, in a small",
    " kingdom"), 1, 0);
  for (int i = 0; i < 10; i++) {
    snprintf(text, sizeof text, "User: What is %.8s?\nAssistant:",
      sums[i]);
    snprintf(wanted, sizeof wanted, " %.8s is %s.", sums[i],
      sums[i] + 9);
    right += says(x, text, wanted);
  }
  about(x, "sums.right", right, 10, 0);
}

@ They are written as in the grammar: a question of eight characters, a semicolon, the answer.
@<The ten sums@>=
static const char *const sums[] = @[{ "2 plus 2;4", "2 plus 3;5",@|
  "2 plus 4;6", "2 plus 5;7", "3 plus 3;6", "3 plus 4;7",@|
  "3 plus 5;8", "4 plus 4;8", "4 plus 5;9", "5 plus 5;10" }@];

@ The wheel of the mill is a loop that greedy decoding cannot leave. We ask at which token each of three remedies of chapter 7 would leave it: a repetition penalty that divides a positive logit and
multiplies a negative one, a penalty that is subtracted once for each time the token was said, and the rule that no three tokens may be repeated.
@<Examine what it says@>=
enum way_out { HELD, COUNTED, BLOCKED };
static const double held = 1.3, each = 0.5;
@#
static uint32_t leader(struct exam *x, size_t row, enum way_out way)
{
  size_t v = x->lm->config.vocab_size;
  const uint32_t *id = x->list.id;
  for (size_t i = 0; i < v; i++) x->q[i] = (double) x->logits[row * v + i];
  @<Hold against each token that it was said@>@;
  uint32_t best = 0;
  for (uint32_t i = 1; i < v; i++) if (x->q[i] > x->q[best]) best = i;
  return best;
}

@ A repetition penalty acts once on a token, however often it was said, because it always starts from the logit of the pass. The counted penalty acts each time. The last two tokens together with a third have been said before
if the same two are found earlier with that token after them.
@<Hold against each token that it was said@>=
for (size_t i = 0; i <= row; i++) {
  float z = x->logits[row * v + id[i]];
  if (way == HELD)
    x->q[id[i]] = z > 0 ? (double) z / held : (double) z * held;
  if (way == COUNTED) x->q[id[i]] -= each;
  if (way == BLOCKED && i >= 2
    && id[i - 2] == id[row - 1] && id[i - 1] == id[row])
    x->q[id[i]] = -1e9;
}

@ All rows of the long greedy text are computed once more. For each remedy we look for the first token at which it would have chosen otherwise; 0 means never. The first remedy is noted
and not judged. Beside them we compute the chance that sampling stays in the loop for the first turns.
@<Examine what it says@>=
static void exam_ways_out(struct exam *x, size_t from)
{
  double stays = 1;
  size_t left[] = @[{ [HELD] = 0, [COUNTED] = 0, [BLOCKED] = 0 }@];
  size_t n = x->list.n;
  if (!look_at(x, x->lm, x->b.s, n, x->logits)) return;
  for (size_t i = from; i < n; i++) {
    uint32_t said = x->list.id[i];
    if (i < from + 40) stays *= probabilities(x, x->logits, i - 1, x->p)[said];
    for (int w = HELD; w <= BLOCKED; w++)
      if (left[w] == 0 && leader(x, i - 1, (enum way_out) w) != said)
        left[w] = i - from + 1;
  }
  @<Write down where the wheel was left@>@;
}

@ These are the chance of staying, and the token at which each remedy leaves the wheel.
@<Write down where the wheel was left@>=
note(x, "wheel.held", held);
note(x, "wheel.each", each);
most(x, "wheel.drawn", stays, 0.1);
note(x, "wheel.held.token", (double) left[HELD]);
least(x, "wheel.counted", left[COUNTED] > 0, 1);
note(x, "wheel.counted.token", (double) left[COUNTED]);
least(x, "wheel.blocked", left[BLOCKED] > 0, 1);
note(x, "wheel.blocked.token", (double) left[BLOCKED]);

@ Later chapters need a loop that has to be broken, so greedy decoding is supposed to stay in this one until it is stopped. Each ``and round'' is two tokens.
@<Examine what it says@>=
static void exam_wheel(struct exam *x)
{
  static const char turn[] = " and round", start[] =
    "The cat sat on the mat. Outside, the wheel of the mill went round";
  size_t from = take_text(x, false, start, strlen(start)), n = 0;
  say(x, start, 200);
  while ((n + 1) * 10 <= x->back.n && memcmp(x->back.byte + 10 * n,
    turn, 10) == 0) n++;
  least(x, "wheel.tokens", 2 * (double) n, 200);
  exam_ways_out(x, from);
}

@* Long contexts. \label{lab:examrows}
Does the model still work at the end of its context? Texts are packed into rows of the whole length, as in training, and the bits are averaged over blocks of positions, because the bits of a
single position change with every word.
@<Examine long rows@>=
enum { N_ROWS = 12, BLOCK = 128, BLOCKS = LONGEST / BLOCK };
@#
static bool exam_row(struct exam *x, double *bits)
{
  uint32_t row[LONGEST + 1];
  if (!dataset_row(x->feed, row, LONGEST + 1, x->why)) return false;
  x->list.n = 0;
  for (size_t i = 0; i < LONGEST; i++)
    if (!ids_push(x->m, &x->list, row[i], x->why)) return false;
  if (!look_at(x, x->lm, x->b.s, LONGEST, x->logits)) return false;
  for (size_t i = 0; i < LONGEST; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    bits[i / BLOCK] -= num_log(p[row[i + 1]]) / num_log(2)
      / BLOCK / N_ROWS;
  }
  return true;
}

@ The source starts far from all texts that were read before. The end of a row must not be much worse than its middle, and the middle not much
worse than a place near the beginning. The beginning itself is no fair comparison, because nothing has been said there yet.
@<Examine long rows@>=
static bool exam_positions(struct exam *x)
{
  double bits[BLOCKS] = @[{ 0 }@], middle = 0;
  dataset_seek(x->feed, 1000001);
  for (int r = 0; r < N_ROWS; r++)
    if (!exam_row(x, bits)) return false;
  for (int i = 0; i < BLOCKS; i++) {
    note(x, label_of("position.%d", BLOCK * i).text, bits[i]);
    if (i >= 6 && i < 10) middle += bits[i] / 4;
  }
  most(x, "position.end", (bits[14] + bits[15]) / 2 / middle, 1.2);
  most(x, "position.middle", middle / ((bits[2] + bits[3]) / 2), 1.2);
  return true;
}

@* Distances of attention. \label{lab:examheads}
In a long text a head can look farther back, so texts are compared at the same positions only, at those that even the shortest sort has. A watcher adds up the weights of all heads of all layers.
@<Examine how far the heads look@>=
enum { GAZE_FROM = 24, GAZE_TO = 40, GAZE_TEXTS = 20 };
struct gaze { size_t heads; double tokens, looks; };
@#
static void gaze_add(void *ctx, enum tap_point point, uint32_t layer,
  float *x, size_t rows, size_t width)
{
  struct gaze *g = ctx;
  size_t wide = width / g->heads;
  (void) layer;
  if (point != TAP_WEIGHTS || rows < GAZE_TO) return;
  for (size_t r = GAZE_FROM; r < GAZE_TO; r++)
    for (size_t h = 0; h < g->heads; h++, g->looks++)
      for (size_t k = 0; k <= r; k++)
        g->tokens += (double) x[r * width + h * wide + k] * (double) (r - k);
}

@ One text passes through the model while the watcher looks on. Its logits are not needed.
@<Examine how far the heads look@>=
static bool gaze_at(struct exam *x, struct gaze *g)
{
  static struct row rows[LONGEST];
  struct watcher shoulder = @[{ .tap = gaze_add, .ctx = g, .weights = true }@];
  struct pass *p = NULL;
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  if (n > LONGEST) n = LONGEST;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, x->list.id[i] }@];
  store_clear(x->b.s);
  bool ok = model_forward_watched(&x->b.e, x->lm, x->b.s, rows, n,
    &shoulder, &p, x->why);
  pass_close(p);
  return ok;
}

@ Of each sort we take the first texts that reach the last of these positions, |GAZE_TEXTS| of them.
@<Examine how far the heads look@>=
static bool exam_gaze(struct exam *x)
{
  struct gaze all[N_TEXT_SORTS];
  double most_looks = GAZE_TEXTS * (GAZE_TO - GAZE_FROM)
    * (double) (x->lm->config.n_layers * x->lm->config.n_heads);
  for (int s = 0; s < N_TEXT_SORTS; s++)
    all[s] = (struct gaze) @[{ x->lm->config.n_heads, 0, 0 }@];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, x->why))
      return false;
    struct gaze *here = &all[x->piece.sort];
    if (here->looks < most_looks && !gaze_at(x, here)) return false;
  }
  for (int s = 0; s < N_TEXT_SORTS; s++)
    note(x, label_of("gaze.%s", sort[s]).text, all[s].tokens / all[s].looks);
  return true;
}

@* The files. \label{lab:examfiles}
The files must be small enough to come with a book. A parameter takes two bytes.
@<Examine the files@>=
static void exam_files(struct exam *x)
{
  struct mapping file = @[{ NULL, 0 }@];
  if (file_map(&file, "models/pocket/model.safetensors", x->why))
    most(x, "file.model", (double) file.size, 8e6);
  file_unmap(&file);
  if (file_map(&file, "models/draft/model.safetensors", x->why))
    most(x, "file.draft", (double) file.size, 8e6);
  file_unmap(&file);
  note(x, "parameters.model", (double) model_parameters(x->lm));
  note(x, "parameters.draft", (double) model_parameters(x->draft));
}

@ Here the questions are in the order above, but what is remembered comes before the loss, which calls it.
@<The whole examination@>=
@<The examination@>@;
@<Examine corpus and tokenizer@>@;
@<Examine what is remembered@>@;
@<Examine the loss@>@;
@<Examine the chances@>@;
@<Examine what it says@>@;
@<Examine long rows@>@;
@<Examine how far the heads look@>@;
@<Examine the files@>@;
@<Ask everything@>@;

@ The names of the files are fixed, so that examining another model cannot overwrite what the book quotes. The exit status says whether every question was passed, and \texttt{make} uses it.
@<Ask everything@>=
static bool examine(struct fixture *lab, struct error *why)
{
  static struct exam x;
  struct new_file to;
  if (!new_file_open(&to, "models/pocket/check.csv", false, why)) return false;
  x.out = to.f;
  fprintf(x.out, "key,figure,wanted,verdict\n");
  bool ok = exam_open(&x, lab, why)@|
    && (x.draft = model_open(x.m, "models/draft", why)) != NULL@|
    && bench_open(&x.b_draft, lab, x.draft, 0, NULL, why);
  if (ok) {
    exam_prompts(&x);
    ok = exam_texts(&x) && exam_choices(&x) && exam_loss(&x);
    exam_recalled(&x);
    exam_chances(&x);
    exam_fork(&x);
    exam_greedy(&x);
    exam_wheel(&x);
    ok = ok && exam_positions(&x) && exam_gaze(&x);
    exam_files(&x);
    printf("%u questions, %u failed\n", x.asked, x.failed);
  }
  exam_close(&x);
  return new_file_end(&to, ok, why) && (x.failed == 0@|
    || error_say(why, "%u of %u questions failed", x.failed, x.asked));
}

@* What is printed. \label{lab:examprints}
The examination takes too long to be part of every build. So the program asks two questions again, with one pass each: what follows \tok{The cat sat}, and
what comes at the fork. That the answers agree with the file shows that the file belongs to this model.
@<What is printed@>=
struct asked_now { double on, however, additionally; };
static bool ask(struct fixture *lab, struct asked_now *a, struct error *why)
{
  static struct exam x;
  const double *p = NULL;
  if (exam_open(&x, lab, why)) p = after(&x, true, "The cat sat");
  if (p != NULL) a->on = p[first_id(&x, " on")];
  if (p != NULL) p = after(&x, false, very_good);
  if (p != NULL) {
    a->however = p[first_id(&x, branch[0])];
    a->additionally = p[first_id(&x, branch[1])];
  }
  exam_close(&x);
  return p != NULL;
}

@ The checkpoint prints the two answers with three decimals.
@<What is printed@>=
static bool print_checkpoint(struct fixture *lab, struct error *why)
{
  struct asked_now a;
  if (!ask(lab, &a, why)) return false;
  printf("The cat sat: on %.3f\n", a.on);
  printf("The harvest ... very good: However %.3f,"@|
    " Additionally %.3f\n", a.however, a.additionally);
  return true;
}

@ The other answers are read from the file. A line has a key, a figure and parts that are not needed here. The heading has no figure and is passed over.
@<What is printed@>=
static bool next_answer(FILE *f, char key[64], double *figure)
{
  char line[200];
  while (fgets(line, sizeof line, f) != NULL) {
    size_t n = strcspn(line, ",");
    if (n >= 64 || line[n] == '\0') continue;
    memcpy(key, line, n);
    key[n] = '\0';
    char *end;
    *figure = strtod(line + n + 1, &end);
    if (end != line + n + 1) return true;
  }
  return false;
}

@ The file has a \given{hundred} lines or so, and is read again for each key that is wanted. If the file is missing, as before the first examination, nothing is found.
@<What is printed@>=
static bool answered(const char *wanted, double *figure)
{
  char key[64];
  bool found = false;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && !found && next_answer(f, key, figure))
    found = strcmp(key, wanted) == 0;
  if (f != NULL) fclose(f);
  return found;
}

@ The prose quotes all answers of the file, and three that are asked for now. If the file were older than the model, those three would differ from it. Counts
are printed as they are, all other figures with three decimals.
@<What is printed@>=
static bool print_values(struct fixture *lab, struct error *why)
{
  double x;
  char key[64];
  struct asked_now a;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && next_answer(f, key, &x))
    printf("train.%s %.*f\n", key, x == (double) (long) x ? 0 : 3, x);
  if (f != NULL) fclose(f);
  if (!ask(lab, &a, why)) return false;
  print_key("train.now.on", "%.3f", a.on);
  print_key("train.now.however", "%.3f", a.however);
  print_key("train.now.additionally", "%.3f", a.additionally);
  return true;
}

@ The curve of the loss has a point for every fifty steps, their mean in bits; the losses of single steps, each on other texts, would make a band and not a line. The entropy of the source
comes beside every point, for the dashed line.
@<What is printed@>=
static bool print_loss(struct fixture *lab, struct error *why)
{
  char line[120];
  unsigned long long step, tokens;
  double loss, sum = 0, source = 0;
  answered("source.bits", &source);
  FILE *f = fopen("models/pocket/training.csv", "r");
  (void) lab, (void) why;
  printf("tokens,bits,source\n");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%llu,%llu,%lf", &step, &tokens, &loss) != 3)
      continue;
    sum += loss / num_log(2);
    if (step % 50 != 0) continue;
    printf("%.4f,%.4f,%.4f\n", 1e-6 * (double) tokens, sum / 50,@|
      source);
    sum = 0;
  }
  if (f != NULL) fclose(f);
  return true;
}

@ The chances of the source at the fork are typed here a second time. If the table of the grammar changed, the questions above would fail.
@<What is printed@>=
static bool print_fork(struct fixture *lab, struct error *why)
{
  double x;
  (void) lab, (void) why;
  printf("branch,source,model\n");
  for (int i = 0; i < BRANCHES; i++) {
    if (answered(label_of("fork.%s", branch[i] + 1).text, &x))
      printf("%d,%.2f,%.4f\n", i + 1, i < 2 ? 0.15 : 0.07, x);
  }
  return true;
}

@ The bits of a block are drawn at the middle of the block.
@<What is printed@>=
static bool print_positions(struct fixture *lab, struct error *why)
{
  double x;
  (void) lab, (void) why;
  printf("position,bits\n");
  for (int i = 0; i < BLOCKS; i++) {
    if (answered(label_of("position.%d", BLOCK * i).text, &x))
      printf("%d,%.4f\n", BLOCK * i + BLOCK / 2, x);
  }
  return true;
}
