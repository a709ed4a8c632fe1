@i types.w
@s pool_work int

\chapterquestion{A model with a good loss: what can it do, and what can it not?}
@** Evaluating the built-in model.
\incipit{T}{he loss} of a model is an average, and averages are kind. This chapter asks one question at a time, prints a figure
with every answer, and says whether it is what was promised. Two models are examined, both trained in \cref{training}: the built-in model, and
a smaller one beside it, its \emph{sibling}, which is quick and often of the same opinion.

\begin{byhand}{what two guesses have in common}
A large model gives the next token the chances $p=(0.7,0.2,0.1)$, a small one $q=(0.5,0.1,0.4)$. If the small one proposes
and the large one decides, how often can the proposal stand? Never more often than both agree: token by token the smaller of
the two chances,
$$\min(0.7,0.5)+\min(0.2,0.1)+\min(0.1,0.4)=0.5+0.1+0.1=0.7.$$
A later chapter, where the sibling proposes tokens and the model accepts or refuses them, shows that this bound is reached. Here it measures what the two have in common.
\end{byhand}

@ The program asks the finished model two questions; with |"check"| it asks all of them, with |"values"| it prints the answers
that the prose quotes, with other words the data of the figures.

@c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/forward.h"
#include "families/loader.h"
#include "functions/numbers.h"
#include "training/training.h"
@<The whole examination@>@;
@<What is printed@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "check") == 0) return examine();
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "loss") == 0) return print_loss();
  if (strcmp(what, "fork") == 0) return print_fork();
  if (strcmp(what, "positions") == 0) return print_positions();
  return print_checkpoint();
}

@* Asking. \label{sec:examination}
A loss is one number. It says nothing about whether a name comes back after a page of
tokens, or whether two branches that ought to be equally likely are. So the trained
model is examined question by question, each with a figure and a verdict. The examination
takes a minute or two; its result is committed beside the model, and the numbers of this
chapter are read from there.

Everything that a question needs lies in one place: the two models and their stores, the grammar, a text that is being looked at with its
tokens, and rooms for the logits of both models and for two distributions. |HELD_OUT| texts are read by both models; a chance of the source is
counted over |FACTS| texts, for which no model is needed; and |LONGEST| rows are as many as the context has.

@<The examination@>=
enum { HELD_OUT = 600, FACTS = 200000, LONGEST = 2048 };
struct exam {
  struct memory m; struct error why;
  FILE *out; unsigned failed, asked;
  struct grammar *g; struct tokenizer *words; struct source *feed;
  struct pool *crew; struct counters c; struct engine e;
  struct model *lm, *draft; struct store *s, *s_draft;
  struct passage piece; struct ids list; struct bytes back;
  float *logits, *others; double *p, *q;
  size_t which[LONGEST], place[LONGEST + 1];
};

@ Every answer is one line on the screen and one in the file: a key, a figure, what is
wanted, and the verdict. Nine digits go into the file, more than the book will ever quote.
@<The examination@>=
static void answer(struct exam *x, const char *key, double figure,
  const char *wanted,
  bool passed)
{
  x->asked++, x->failed += !passed;
  printf("%-4s  %-34s %12.6g   %s\n", passed ? "PASS"
    : "FAIL", key, figure, wanted);
  fprintf(x->out, "%s,%.9g,\"%s\",%s\n", key, figure, wanted, passed
    ? "PASS" : "FAIL");
}

@ Most questions have a lower limit. The limit is printed with the answer, so that nobody has to
remember what was promised. A figure that is not a number, as when nothing was counted, is not at least anything, and fails.
@<The examination@>=
static void least(struct exam *x, const char *key, double figure,
  double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at least %g", limit);
  answer(x, key, figure, wanted, figure >= limit);
}

@ Some have an upper limit: losses, the size of a file, the chance of a branch that must not
win. Writing this as |least| with both signs changed would save some lines here, and every reader of the answers would have to turn the signs back.
@<The examination@>=
static void most(struct exam *x, const char *key, double figure,
  double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at most %g", limit);
  answer(x, key, figure, wanted, figure <= limit);
}

@ And some have a right answer with a tolerance, which is 0 where something is counted: ten sums are ten, or somebody has
to find out which one is wrong.
@<The examination@>=
static void about(struct exam *x, const char *key, double figure,
  double right,
  double slack)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "%.4g, give or take %g",@|
    right, slack);
  answer(x, key, figure, wanted, figure >= right - slack
    && figure <= right + slack);
}

@ A few figures are wanted for the book and have nothing to pass or fail: how many texts there were, how many bits the source has. They
stand in the same file with an empty verdict.
@<The examination@>=
static void note(struct exam *x, const char *key, double figure)
{
  printf("      %-34s %12.6g\n", key, figure);
  fprintf(x->out, "%s,%.9g,\"\",\n", key, figure);
}

@ The logits of a whole context are kept, for each of the two models: with |LONGEST| rows of a vocabulary that is the largest thing in the examination.
The list |which| says of which rows the logits are wanted, and here they always are of all.
@<The examination@>=
static bool exam_rooms(struct exam *x)
{
  size_t v = x->lm->config.vocab_size, n = LONGEST * v;
  x->logits = memory_take(&x->m, FOR_OTHER, n, sizeof(float),
    &x->why);
  x->others = memory_take(&x->m, FOR_OTHER, n, sizeof(float),
    &x->why);
  x->p = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  x->q = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  for (size_t i = 0; i < LONGEST; i++) x->which[i] = i;
  return x->logits != NULL && x->others != NULL && x->p != NULL
    && x->q != NULL;
}

@ The engine of chapter 2 opens the two models from their files, as any reader of this book would.
Nothing of the trainer is used any more, apart from its source of packed rows. The sibling is opened only where it is asked for: the two questions at the end
of this chapter do without.
@<The examination@>=
static bool exam_open(struct exam *x, const char *directory,
  const char *draft)
{
  x->g = grammar_open(&x->m, "models/corpus.grammar", &x->why);
  x->words = tokenizer_open(&x->m, directory, &x->why);
  x->lm = model_open(&x->m, directory, &x->why);
  if (x->g == NULL || x->words == NULL || x->lm == NULL) return false;
  x->crew = pool_open(&x->m, pool_cores(), &x->why);
  x->e = (struct engine) @[{ kernels_find(NULL, &x->why), x->crew,
    &x->c }@];
  x->s = store_open(&x->m, &x->lm->config, 1, &x->why);
  x->feed = source_open(&x->m, x->g, x->words, SEED_HELD_OUT,
    &x->why);
  if (x->crew == NULL || x->s == NULL || x->feed == NULL
    || !exam_rooms(x)) return false;
  if (draft == NULL) return true;
  x->draft = model_open(&x->m, draft, &x->why);
  if (x->draft != NULL)
    x->s_draft = store_open(&x->m, &x->draft->config, 1, &x->why);
  return x->s_draft != NULL;
}

@ What was opened is closed, whether or not everything was. A pointer that was never filled is null, since |struct exam| begins as zeros,
and closing null is nothing; so there is no need to remember how far the opening came.
@<The examination@>=
static void exam_close(struct exam *x)
{
  size_t v = x->lm == NULL ? 0 : x->lm->config.vocab_size;
  memory_give(&x->m, FOR_OTHER, x->logits, LONGEST * v,
    sizeof(float));
  memory_give(&x->m, FOR_OTHER, x->others, LONGEST * v,
    sizeof(float));
  memory_give(&x->m, FOR_OTHER, x->p, v, sizeof(double));
  memory_give(&x->m, FOR_OTHER, x->q, v, sizeof(double));
  ids_free(&x->m, &x->list);
  bytes_free(&x->m, &x->back);
  source_close(&x->m, x->feed);
  store_close(x->s), store_close(x->s_draft);
  model_close(&x->m, x->lm), model_close(&x->m, x->draft);
  pool_close(&x->m, x->crew);
  tokenizer_close(&x->m, x->words);
  grammar_close(&x->m, x->g);
}

@ Most questions begin with some text, with or without end-of-text before it, and ask for
the logits of its rows or for the probabilities behind its last token. In training every text stood behind an end-of-text, the token 0, so with it the
model knows that a text begins; without, the question is the one that a user asks who just types.
@<The examination@>=
static size_t take_text(struct exam *x, bool begin, const char *text,
  size_t n)
{
  x->list.n = 0;
  if (begin) ids_push(&x->m, &x->list, 0, &x->why);
  tokenizer_encode(x->words, &x->m, text, n, false, false, &x->list,
    &x->why);
  return x->list.n;
}

@ The logits of all rows at once, by the naive way of chapter 2. An examination is no place for
cleverness with caches: if one were wrong, the examination should notice it and not share the fault.
@<The examination@>=
static bool look_at(struct exam *x, const struct model *lm,
  struct store *s, size_t n,
  float *logits)
{
  return evaluate(&x->e, lm, s, x->list.id, n, x->which, n, logits,
    &x->why);
}

@ Probabilities are made from one row of logits, in double, as everywhere in this book. They are made when a row is asked about and not for all rows at once: of
a row, most questions want one or a few numbers.
@<The examination@>=
static const double *probabilities(struct exam *x,
  const float *logits, size_t row, double *p)
{
  size_t v = x->lm->config.vocab_size;
  x->e.k->softmax(&x->e, logits + row * v, 1, v, p);
  return p;
}

@ What comes next, after a text and nothing else? That is the form of most questions, and the answer is a whole distribution, of which the caller takes
what it asked for.
@<The examination@>=
static const double *after(struct exam *x, bool begin,
  const char *text)
{
  size_t n = take_text(x, begin, text, strlen(text));
  if (!look_at(x, x->lm, x->s, n, x->logits)) return NULL;
  return probabilities(x, x->logits, n - 1, x->p);
}

@ The first token of a word is often the whole word. Where it is not, the first token is still what
has to be decided: once it is written, the others hardly leave a choice.
@<The examination@>=
static uint32_t first_id(struct exam *x, const char *text)
{
  struct ids own = @[{ NULL, 0, 0 }@];
  tokenizer_encode(x->words, &x->m, text, strlen(text), false, false,
    &own, &x->why);
  uint32_t id = own.n > 0 ? own.id[0] : 0;
  ids_free(&x->m, &own);
  return id;
}

@ First the corpus and the tokenizer. The book promises prompts of so many tokens, and its figures count on it: \tok{The cat sat} has three columns in the grid of
chapter~3, and not four. The merges were learnt from texts, so a change in the grammar can change these numbers, and here it would be noticed.
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

@ What the source is, it tells by itself: texts are written until the bits and the shares of every sort are known to three digits. A token more is counted for
each, for the end-of-text that a model has to foresee as well. The sums are kept by sort, since \cref{tab:source} wants them so.
@<Examine corpus and tokenizer@>=
struct written {
  double bits[N_SORTS], tokens[N_SORTS], all, sum, n, same;
};
@#
static bool write_one(struct exam *x, uint64_t i, struct written *w)
{
  struct passage *t = &x->piece;
  if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why))
    return false;
  size_t n = take_text(x, false, t->words, t->length);
  w->bits[t->sort] += t->bits, w->sum += t->bits;
  w->tokens[t->sort] += 1 + (double) n, w->all += 1 + (double) n;
  w->n++;
  if (i < 1000) @<Does the text come back from its tokens?@>@;
  return true;
}

@ What is decoded has to be what was encoded, to the last byte. A tokenizer that loses a blank would be hard to notice otherwise: the model would simply learn
texts without it.
@<Does the text come back from its tokens?@>=
{
  x->back.n = 0;
  w->same += tokenizer_decode(x->words, &x->m, x->list.id,
    x->list.n, false, &x->back, &x->why)
    && x->back.n == t->length
    && memcmp(x->back.byte, t->words, t->length) == 0;
}

@ The promises are two. The source has between half a bit and one bit a token: with less there would be nothing to decide, with more a small model could not
come near it. And none of the three kinds, stories, code and dialogues, has less than three tenths of the tokens.
@<Examine corpus and tokenizer@>=
static bool exam_texts(struct exam *x)
{
  static const char *const share[] = @[{ "share.tale", "share.home",@|
    "share.chronicle", "share.code", "share.talk" }@];
  static const char *const rate[] = @[{ "bits.tale", "bits.home",@|
    "bits.chronicle", "bits.code", "bits.talk" }@];
  struct written w = @[{ { 0 }, { 0 }, 0, 0, 0, 0 }@];
  for (uint64_t i = 0; i < 20000; i++)
    if (!write_one(x, i, &w)) return false;
  about(x, "texts.decoded", w.same, 1000, 0);
  for (int s = 0; s < N_SORTS; s++)
    note(x, rate[s], w.bits[s] / w.tokens[s]);
  for (int s = 0; s < N_SORTS; s++)
    note(x, share[s], w.tokens[s] / w.all);
  about(x, "bits.all", w.sum / w.all, 0.75, 0.25);
  @<Has each kind its share of the tokens?@>@;
  note(x, "tokens.mean", w.all / w.n);
  return true;
}

@ The three sorts of stories are one kind. Counted in texts their shares would look quite different, because a tale is a dozen times as long as a
chronicle; it is tokens that a model is paid for.
@<Has each kind its share of the tokens?@>=
double stories = w.tokens[TALE] + w.tokens[HOME]
  + w.tokens[CHRONICLE];
least(x, "kind.stories", stories / w.all, 0.3);
least(x, "kind.code", w.tokens[CODE] / w.all, 0.3);
least(x, "kind.talk", w.tokens[TALK] / w.all, 0.3);

@ A silent choice is one that could have been made otherwise without changing the text. It
would make the text less surprising than the sum of its choices, and the entropy wrong. So a text is written once more with one of its choices
changed. If that alternative was not allowed, or is the old one, nothing has been tried.
@<Examine corpus and tokenizer@>=
static bool replay_one(struct exam *x, struct passage *other,
  uint64_t i, size_t *tried, size_t *silent)
{
  uint16_t taken[PASSAGE_CHOICES];
  struct passage *t = &x->piece;
  for (size_t c = 0; c < t->n_choices; c++)
    taken[c] = t->choices[c].taken;
  @<Change choice |k| of the script@>@;
  if (!grammar_replay(x->g, taken, t->n_choices, other, &x->why))
    return false;
  if (taken[k] == t->choices[k].taken
    || other->choices[k].taken != taken[k]) return true;
  ++*tried;
  *silent += other->length == t->length
    && memcmp(other->words, t->words, t->length) == 0;
  return true;
}

@ Which choice is changed, and to what, follows from the number of the text; multiplying by the number below scatters neighbours far apart, so all places of a text and
all alternatives get their turn. (It is a prime near $2^{32}$ times the golden section, a habit of programmers.)
@<Change choice |k| of the script@>=
size_t k = (i * 2654435761u >> 8) % t->n_choices, length, count = 0;
uint32_t weight;
while (grammar_table(x->g, t->choices[k].drawn, count, &length,
  &weight) != NULL) count++;
taken[k] = (uint16_t) ((taken[k] + 1u
  + i % (count > 1 ? count - 1 : 1)) % count);

@ A table that is never reached, or an alternative, would be a slip of the hand: a name misspelt, a
weight of nothing. Enough texts reach everything, so what they did not reach is counted as missing. The rarest alternatives decide how many texts are enough.
@<Examine corpus and tokenizer@>=
static bool exam_choices(struct exam *x)
{
  static unsigned char reached[1024][64];
  static struct passage other;
  size_t tried = 0, silent = 0, missing = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why))
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

@ The tables are walked through from outside. A table of the grammar that no other names would stay untouched as a whole, and each of its alternatives
would be counted.
@<Count what was never reached@>=
size_t length;
uint32_t weight;
for (size_t t = 0; t < grammar_tables(x->g); t++)
  for (size_t i = 0; grammar_table(x->g, t, i, &length, &weight)
    != NULL; i++) missing += !reached[t][i];

@ The loss is taken over texts of a seed that the training never saw, each alone after
end-of-text, and set against the bits of its choices. The same texts show how often the
sibling's guess would be taken, token by token: the sum of the smaller of the two
probabilities of every token. So four sums are kept for every sort of text.
@<Examine the loss@>=
struct marks { double loss, bits, common, tokens; };

@ One text through both models. Each row is judged by the token that follows it, the last by
end-of-text; the common part of the two distributions is added up beside it, over the whole vocabulary and not only over the token that came.
@<Examine the loss@>=
static bool exam_one_loss(struct exam *x, struct marks *mark)
{
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  size_t v = x->lm->config.vocab_size;
  if (!look_at(x, x->lm, x->s, n, x->logits)
    || !look_at(x, x->draft, x->s_draft, n, x->others)) return false;
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

@ The texts are read one by one. While a text's logits are there, the questions about names and variables are asked of them, too; a second pass for those would
cost as much again.
@<Examine the loss@>=
@<Judge the loss@>@;
@#
static bool exam_loss(struct exam *x)
{
  struct marks mark[N_SORTS + 1] = @[{ { 0, 0, 0, 0 } }@];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return false;
    if (!exam_one_loss(x, &mark[x->piece.sort])) return false;
    exam_recall(x);
  }
  judge_loss(x, mark);
  return true;
}

@ The ratio of loss and entropy is the honest measure: 1 is perfect, and clearly less than 1 would mean
that the grammar is ambiguous or that something leaked; with so few texts luck alone may take it a little below. Each sort is judged by itself, because an average hides: a model could be
perfect in chronicles and lost in code.
@<Judge the loss@>=
static const char *const sort[] = @[{ "tale", "home", "chronicle",@|
  "code", "talk" }@];
@#
static void judge_loss(struct exam *x, struct marks *mark)
{
  struct marks *all = &mark[N_SORTS];
  char key[40];
  for (int s = 0; s < N_SORTS; s++) {
    all->loss += mark[s].loss, all->bits += mark[s].bits;
    all->tokens += mark[s].tokens, all->common += mark[s].common;
    snprintf(key, sizeof key, "ratio.%s", sort[s]);
    most(x, key, mark[s].loss / mark[s].bits, 1.15);
  }
  most(x, "ratio.all", all->loss / all->bits, 1.10);
  least(x, "ratio.floor", all->loss / all->bits, 0.99);
  note(x, "heldout", HELD_OUT);
  note(x, "loss.bits", all->loss / all->tokens);
  note(x, "source.bits", all->bits / all->tokens);
  @<Has the sibling enough in common with the model?@>@;
}

@ What two distributions have in common is a mean over tokens, so it is divided by their number. Six tenths are asked for in every sort: a sibling who
is refused every other time saves nobody much work.
@<Has the sibling enough in common with the model?@>=
for (int s = 0; s < N_SORTS; s++) {
  snprintf(key, sizeof key, "draft.common.%s", sort[s]);
  least(x, key, mark[s].common / mark[s].tokens, 0.6);
}

@ Names and variables: how much of the probability that falls on any name at all falls on the
right one, by the distance to where the name was first told? The distances fall into three ranges. The middle one is where the claim is made: it is farther than a few sentences,
and every text has some of it. The near one is
easier, the far one rare.
@<Examine what is remembered@>=
enum { NEAR, MIDDLE, FAR, N_REACH };
static struct recall_marks {
  double right[N_REACH], n[N_REACH], name[N_REACH], value[N_REACH],
    n_value[N_REACH], local, n_local, printed, n_printed;
} told;
@#
static int reach(size_t distance)
{
  return distance < 100 ? NEAR : distance <= 300 ? MIDDLE : FAR;
}

@ Names are found in the text, by their bytes; the probabilities belong to rows, that is to tokens. So a bridge is needed: where each token begins in the text, counted in bytes. The row of end-of-text comes first and has
none.
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

@ The other way over the bridge: the token in which a byte lies. A text has few names to look for, so the tokens are simply
tried one after the other.
@<Examine what is remembered@>=
static size_t token_at(const struct exam *x, size_t byte)
{
  size_t i = 1;
  while (i < x->list.n && x->place[i + 1] <= byte) i++;
  return i;
}

@ Who could have been named instead? All names of the table that the right one came from, with the blank that stands before. Only
first tokens are listed, and none twice, since two names may begin with the same token.
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

@ From outside, a table has a number and tells its name; so all are asked. A drawer that no longer exists gives the number behind the last, and no rivals.
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

@ The share of the right token among all that could stand there as well. A model that does not
expect a name at this place at all is not blamed here; it is by the loss. If it gives all names together a tenth, and nine tenths of that to the right one, it has remembered
the name well.
@<Examine what is remembered@>=
static double share_of(struct exam *x, size_t i, const uint32_t *id,
  size_t n)
{
  const double *p = probabilities(x, x->logits, i - 1, x->p);
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += p[id[k]];
  return p[x->list.id[i]] / sum;
}

@ The hero is named once, by a phrase that no other sentence has. Every later mention counts, with
or without a blank before it; the two begin with different tokens, and rivals are only those of the same form. The distance is that to the first mention, though the name may have been said
since; so this asks for a name that is kept alive by the tale.
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

@ The names of heroines and of heroes are in two tables. A model that knows ``she'' has an easier task than the one counted here, because
all of them are rivals.
@<List all heroes' names, with and without a blank@>=
n = rivals(x, "name.she", " ", with, 0);
n = rivals(x, "name.he", " ", with, n);
m = rivals(x, "name.she", "", without, 0);
m = rivals(x, "name.he", "", without, m);

@ The chance of a whole word is the product over its tokens, each given those before it. Here the rivals are all texts that could stand at this place, so nothing is divided by.
@<Examine what is remembered@>=
static double chance_of(struct exam *x, size_t at, size_t length)
{
  double p = 1;
  for (size_t i = token_at(x, at); x->place[i] < at + length; i++)
    p *= probabilities(x, x->logits, i - 1, x->p)[x->list.id[i]];
  return p;
}

@ Variables come back in two ways. Inside a function, what was set to something is returned some lines later;
there the name itself is asked for. It stands a few lines above, so more is asked for than of names.
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

@ And a variable set in the first line is printed in the last, with a page of code in between. Two questions can be
asked there. Which name comes? And when the name has been said, which value? Both are compared with the whole vocabulary: the right answer has to
win against every other token, not only against other names.

Of a page with such a variable the last |print| is taken, if it prints that variable.
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

@ The distance is that to where the name was said last, which need not be the first line: some pages ask more than once. A name that stood in the question before is near, whatever the first line
says, and calling it far would be flattery.
@<Which name is printed, and with which value?@>=
size_t at = (size_t) (last + 6 - text), i = token_at(x, at), said = 0;
for (const char *s = text; s < last; s = strstr(s + 1, name))
  said = token_at(x, (size_t) (s - text));
int r = reach(i - said);
told.name[r] += chance_of(x, at, length);
const char *value = strstr(last, "\n# ") + 3;
told.value[r] += chance_of(x, (size_t) (value - text), strlen(value));
told.n_value[r]++;

@ The value is right if every token of it is the likeliest at its place. That is what a greedy
writer would print. A share of the chance can be high and the value wrong all the same, in one digit of two; this question has no such middle.
@<Is the value printed that the first line set?@>=
bool right = true;
for (i = token_at(x, (size_t) (value - text)); i < x->list.n; i++) {
  const double *q = probabilities(x, x->logits, i - 1, x->p);
  for (size_t k = 0; k < x->lm->config.vocab_size; k++)
    right = right && q[k] <= q[x->list.id[i]];
}
told.printed += right, told.n_printed++;

@ Not every sort of text asks for everything: only tales have heroes, and only pages of code have variables. The logits are those that
the loss has just used.
@<Examine what is remembered@>=
static void exam_recall(struct exam *x)
{
  find_places(x);
  if (x->piece.sort == TALE) recall_names(x);
  if (x->piece.sort == CODE) recall_locals(x), recall_variables(x);
}

@ When all texts are read, the sums become means. How many mentions there were is printed beside each: a mean over ten mentions is worth less than one over many.
@<Examine what is remembered@>=
static void exam_recalled(struct exam *x)
{
  static const char *const far[] = @[{ "near", "middle", "far" }@];
  char key[40];
  for (int r = 0; r < N_REACH; r++) {
    snprintf(key, sizeof key, "names.%s", far[r]);
    least(x, key, told.right[r] / told.n[r], 0.9);
    snprintf(key, sizeof key, "names.%s.n", far[r]);
    note(x, key, told.n[r]);
  }
  least(x, "variables.local", told.local / told.n_local, 0.95);
  note(x, "variables.local.n", told.n_local);
  @<Say what became of the variables of the first line@>@;
  least(x, "printed.right", told.printed / told.n_printed, 0.8);
  note(x, "printed.n", told.n_printed);
}

@ What was said just before is found again easily, so the near range is left out; and if no page was long enough for the far one, there is nothing to say of it.
@<Say what became of the variables of the first line@>=
for (int r = MIDDLE; r < N_REACH && told.n_value[r] > 0; r++) {
  snprintf(key, sizeof key, "variables.value.%s", far[r]);
  least(x, key, told.value[r] / told.n_value[r], 0.95);
  snprintf(key, sizeof key, "variables.name.%s", far[r]);
  least(x, key, told.name[r] / told.n_value[r], 0.95);
  snprintf(key, sizeof key, "variables.%s.n", far[r]);
  note(x, key, told.n_value[r]);
}

@ Where the true chance is known, the model's is set beside it. The truth could be worked out from the weights; but which sorts of text begin with \emph{The}, and how often, is a sum over
several tables, and who does it by hand may be wrong in the same way as the tables. So it is counted over very many texts, of which the first few bytes are kept: among those that begin with one
string, how many begin with a longer one?
@<Examine the chances@>=
static double source_share(struct exam *x, const char *before,
  const char *with)
{
  static unsigned char kept[FACTS][40];
  static bool full;
  size_t n = 0, m = 0;
  for (uint64_t i = 0; !full && i < FACTS; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return 0;
    memcpy(kept[i], x->piece.words, sizeof kept[i]);
  }
  full = true;
  for (size_t i = 0; i < FACTS; i++)
    if (memcmp(kept[i], before, strlen(before)) == 0)
      n++, m += memcmp(kept[i], with, strlen(with)) == 0;
  return (double) m / (double) n;
}

@ Seven chances along the book's running sentence. After \tok{The cat sat} nothing but the spot is
open; the model should be as undecided as the source, and no more. Chances multiply, so a model that is right seven times is right about the sentence.
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

@ In the texts a word is known to be ended by the blank behind it; \tok{The cat} without one begins \emph{The cattle}, too. For the model the blank belongs to the next token, so it is taken
away from the end before the question is asked.
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

@ The fork. Both leaders must come near their true chance, every other road must stay below them,
and they must be near each other. The model is asked as the documented prompt asks it, nine tokens and
nothing before them, and for comparison with end-of-text in front.
@<Examine the chances@>=
static const char very_good[] =
  "The harvest of the kingdom was very good.";
@<The twelve roads of the fork@>@;
@#
static void exam_fork(struct exam *x)
{
  char key[40];
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

@ They are in the order of the table |"fork"| of \cref{sec:grammartables}, the two leaders first.
@<The twelve roads of the fork@>=
enum { BRANCHES = 12 };
static const char *const branch[] = @[{@|
  " However", " Additionally", " The", " Everyone", " So", " In",@|
  " Even", " At", " That", " Soon", " Nobody", " Perhaps" }@];

@ The worse of the two leaders has to be better than the best of the others. So the lowest of the one and the highest of the other group are kept; how
far the first is above the second is the lead.
@<Ask for the chance of each road, and keep |low| and |high|@>=
for (int i = 0; i < BRANCHES; i++) {
  double one = p[first_id(x, branch[i])];
  snprintf(key, sizeof key, "fork.%s", branch[i] + 1);
  if (i < 2) about(x, key, one, 0.15, 0.03);
  else most(x, key, one, 0.15);
  if (i < 2) low = one < low ? one : low;
  else high = one > high ? one : high;
}

@ Greedy text, one token after the other, everything recomputed: the loop of chapter 3 in its
plainest form. The first |from| tokens are the prompt's and no part of the answer; end-of-text ends it.
@<Examine what it says@>=
static void say(struct exam *x, const char *text, size_t tokens)
{
  size_t from = take_text(x, false, text, strlen(text)), n = from;
  size_t v = x->lm->config.vocab_size;
  for (size_t k = 0; k < tokens; k++) {
    if (!look_at(x, x->lm, x->s, n, x->logits)) break;
    const float *z = x->logits + (n - 1) * v;
    uint32_t best = 0;
    for (uint32_t i = 1; i < v; i++) if (z[i] > z[best]) best = i;
    if (best == 0 || !ids_push(&x->m, &x->list, best, &x->why)) break;
    n++;
  }
  x->back.n = 0;
  tokenizer_decode(x->words, &x->m, x->list.id + from, n - from,
    false, &x->back, &x->why);
}

@ Eight tokens are enough to hear whether it says what it should. What it says afterwards is its own business.
@<Examine what it says@>=
static bool says(struct exam *x, const char *text, const char *wanted)
{
  say(x, text, 8);
  return x->back.n >= strlen(wanted)
    && memcmp(x->back.byte, wanted, strlen(wanted)) == 0;
}

@ Three sentences whose continuation the book relies on, and ten sums. They are all the sums of the source, so this asks for a memory and not for
arithmetic: nobody has shown the model how to add.
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

@ Written as in the grammar, question and answer in one string with a semicolon between; the question has eight characters, always.
@<The ten sums@>=
static const char *const sums[] = @[{ "2 plus 2;4", "2 plus 3;5",@|
  "2 plus 4;6", "2 plus 5;7", "3 plus 3;6", "3 plus 4;7",@|
  "3 plus 5;8", "4 plus 4;8", "4 plus 5;9", "5 plus 5;10" }@];

@ Four ways out of the wheel. A writer who draws from the chances leaves it by itself: every turn is taken with
the chance that the source gives to one more, and such chances multiply. A greedy writer has to be helped. One may hold
a word against itself for having been said at all, its logit divided by \val[1]{train.wheel.held} if it is positive and
multiplied if it is not. That need not be enough: the wheel's only rival is the full stop that would end its sentence, and if a
full stop has been said before, it is held back as much. One may count instead, and take \val[1]{train.wheel.each} from
a word's logit for every time it was said; then each turn makes the next one dearer. Or one may forbid to say
any three tokens twice, which ends it after the first turn. Chapter 7 is about all of them; here they are only asked
whether the wheel that the later chapters need can be broken.
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

@ A token that occurs twice is held back only once, since the logit to start from is always the pass's; counted, it pays each time. Three tokens have been
said before if the last two of them stood side by side anywhere earlier, and then what followed them there must not follow now.
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

@ All rows of the long greedy text are looked at once more, and each of the helpers is asked at which token it would have gone another way.
It goes round with no help; so what is found is the first token at which help would have changed it. Whether the first helper does is noted
and not judged, with 0 for never.
@<Examine what it says@>=
static void exam_ways_out(struct exam *x, size_t from)
{
  double stays = 1;
  size_t left[] = @[{ [HELD] = 0, [COUNTED] = 0, [BLOCKED] = 0 }@];
  size_t n = x->list.n;
  if (!look_at(x, x->lm, x->s, n, x->logits)) return;
  for (size_t i = from; i < n; i++) {
    uint32_t said = x->list.id[i];
    if (i < from + 40) stays *= probabilities(x, x->logits, i - 1, x->p)[said];
    for (int w = HELD; w <= BLOCKED; w++)
      if (left[w] == 0 && leader(x, i - 1, (enum way_out) w) != said)
        left[w] = i - from + 1;
  }
  @<Write down where the wheel was left@>@;
}

@ For the one who draws it is the chance to go all the first turns along; for the others, the token at which they left.
@<Write down where the wheel was left@>=
note(x, "wheel.held", held);
note(x, "wheel.each", each);
most(x, "wheel.drawn", stays, 0.1);
note(x, "wheel.held.token", (double) left[HELD]);
least(x, "wheel.counted", left[COUNTED] > 0, 1);
note(x, "wheel.counted.token", (double) left[COUNTED]);
least(x, "wheel.blocked", left[BLOCKED] > 0, 1);
note(x, "wheel.blocked.token", (double) left[BLOCKED]);

@ The wheel of the mill is a test of a failing: a greedy writer is
supposed to get caught in it, because later chapters need a loop to break. The wheel goes round until it is stopped, and each ``and round'' is two tokens.
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

@ Does the model still know what it says at the end of its context? Texts are packed into rows of the whole length, as in the training, and the bits are averaged over blocks of
128 positions, since those of a single position would jump with every word.
@<Examine long rows@>=
enum { N_ROWS = 12, BLOCK = 128, BLOCKS = LONGEST / BLOCK };
@#
static bool exam_row(struct exam *x, double *bits)
{
  uint32_t row[LONGEST + 1];
  if (!source_row(x->feed, row, LONGEST + 1, &x->why)) return false;
  x->list.n = 0;
  for (size_t i = 0; i < LONGEST; i++)
    if (!ids_push(&x->m, &x->list, row[i], &x->why)) return false;
  if (!look_at(x, x->lm, x->s, LONGEST, x->logits)) return false;
  for (size_t i = 0; i < LONGEST; i++) {
    const double *p = probabilities(x, x->logits, i, x->p);
    bits[i / BLOCK] -= num_log(p[row[i + 1]]) / num_log(2)
      / BLOCK / N_ROWS;
  }
  return true;
}

@ The source is set to a place far from all texts read before. Two ratios are promised: the end of the row is not much worse than its middle, and the middle not much
worse than a place near the beginning. A single ratio of end to beginning would punish the model for its first rows, where nobody can know much.
@<Examine long rows@>=
static bool exam_positions(struct exam *x)
{
  double bits[BLOCKS] = @[{ 0 }@], middle = 0;
  char key[40];
  source_seek(x->feed, 1000001);
  for (int r = 0; r < N_ROWS; r++)
    if (!exam_row(x, bits)) return false;
  for (int i = 0; i < BLOCKS; i++) {
    snprintf(key, sizeof key, "position.%d", BLOCK * i);
    note(x, key, bits[i]);
    if (i >= 6 && i < 10) middle += bits[i] / 4;
  }
  most(x, "position.end", (bits[14] + bits[15]) / 2 / middle, 1.2);
  most(x, "position.middle", middle / ((bits[2] + bits[3]) / 2), 1.2);
  return true;
}

@ How far do the heads look? A long text lets them look further, so texts can be compared only at the same positions: here rows 24 to 39,
which even the shortest sort has. A watcher of chapter 2 adds up the weights of all heads of all layers.
@<Examine how far the heads look@>=
enum { GAZE_FROM = 24, GAZE_TO = 40, GAZE_TEXTS = 20 };
struct gaze { size_t heads; double tokens, looks; };
@#
static void gaze_add(void *what, enum watch_stage stage, uint32_t layer,
  float *x, size_t rows, size_t width)
{
  struct gaze *g = what;
  size_t wide = width / g->heads;
  (void) layer;
  if (stage != STAGE_WEIGHTS || rows < GAZE_TO) return;
  for (size_t r = GAZE_FROM; r < GAZE_TO; r++)
    for (size_t h = 0; h < g->heads; h++, g->looks++)
      for (size_t k = 0; k <= r; k++)
        g->tokens += (double) x[r * width + h * wide + k] * (double) (r - k);
}

@ The pass of one text, watched. Its logits are of no interest here.
@<Examine how far the heads look@>=
static bool gaze_at(struct exam *x, struct gaze *g)
{
  static struct row rows[LONGEST];
  struct watcher shoulder = @[{ .see = gaze_add, .what = g, .weights = true }@];
  struct pass *p = NULL;
  size_t n = take_text(x, true, x->piece.words, x->piece.length);
  if (n > LONGEST) n = LONGEST;
  for (size_t i = 0; i < n; i++)
    rows[i] = (struct row) @[{ 0, (uint32_t) i, x->list.id[i] }@];
  store_empty(x->s);
  bool ok = forward_watched(&x->e, x->lm, x->s, rows, n, &shoulder, &p, &x->why);
  pass_close(p);
  return ok;
}

@ |GAZE_TEXTS| texts of each sort, of those that reach the last of these rows.
@<Examine how far the heads look@>=
static bool exam_gaze(struct exam *x)
{
  static const char *const key[] = @[{ "gaze.tale", "gaze.home",
    "gaze.chronicle", "gaze.code", "gaze.talk" }@];
  struct gaze all[N_SORTS];
  double most_looks = GAZE_TEXTS * (GAZE_TO - GAZE_FROM)
    * (double) (x->lm->config.n_layers * x->lm->config.n_heads);
  for (int s = 0; s < N_SORTS; s++)
    all[s] = (struct gaze) @[{ x->lm->config.n_heads, 0, 0 }@];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return false;
    struct gaze *here = &all[x->piece.sort];
    if (here->looks < most_looks && !gaze_at(x, here)) return false;
  }
  for (int s = 0; s < N_SORTS; s++)
    note(x, key[s], all[s].tokens / all[s].looks);
  return true;
}

@ The last question is about the files: small enough to be carried along with a book. A parameter takes two bytes
there, so the limit is one of the number of parameters, which is noted beside it.
@<Examine the files@>=
static void exam_files(struct exam *x)
{
  struct mapping file = @[{ NULL, 0 }@];
  if (file_map(&file, "models/pocket/model.safetensors", &x->why))
    most(x, "file.model", (double) file.size, 8e6);
  file_unmap(&file);
  if (file_map(&file, "models/draft/model.safetensors", &x->why))
    most(x, "file.draft", (double) file.size, 8e6);
  file_unmap(&file);
  note(x, "parameters.model", (double) model_parameters(x->lm));
  note(x, "parameters.draft", (double) model_parameters(x->draft));
}

@ The questions in the order in which they were explained, but for one: what is remembered comes before the loss, which asks for it. Behind them stands the function that asks
them all.
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

@ The names of the files are fixed: an examination of some other model would overwrite what the book quotes. The exit status says whether all was passed, so that |make| can use it; and a model that cannot be opened is
not passed, but says why.
@<Ask everything@>=
static int examine(void)
{
  static struct exam x;
  x.out = fopen("models/pocket/check.csv", "w");
  if (x.out == NULL) return 1;
  fprintf(x.out, "key,figure,wanted,verdict\n");
  bool ok = exam_open(&x, "models/pocket", "models/draft");
  if (ok) {
    exam_prompts(&x);
    ok = exam_texts(&x) && exam_choices(&x) && exam_loss(&x);
    exam_recalled(&x);
    exam_chances(&x), exam_fork(&x), exam_greedy(&x), exam_wheel(&x);
    ok = ok && exam_positions(&x) && exam_gaze(&x);
    exam_files(&x);
    printf("%u questions, %u failed\n", x.asked, x.failed);
  }
  if (!ok) fprintf(stderr, "%s\n", x.why.words);
  exam_close(&x);
  fclose(x.out);
  return ok && x.failed == 0 ? 0 : 1;
}

@ What came out? On \val{train.heldout} texts that it never saw, the model needs
\val{train.loss.bits}~bits a token where the source has \val{train.source.bits}: the loss is \val{train.ratio.all}~times
the entropy (tales \val{train.ratio.tale}, home \val{train.ratio.home}, chronicles
\val{train.ratio.chronicle}, code \val{train.ratio.code}, talk \val{train.ratio.talk}). When a name has to
come and the hero was introduced one hundred to three hundred tokens before, the right name gets \val{train.names.middle}
of what all names together get. A variable that a function returns gets \val{train.variables.local}, one that
was set in the first line and is printed in the last, as far back as the hero, gets \val{train.variables.name.middle} for its name and \val{train.variables.value.middle} for its value. Of ten sums \val{train.sums.right} are right.
The sibling's guesses and the model's have \val{train.draft.common.tale} (tales) to
\val{train.draft.common.talk} (talk) in common, which is what it is for.

\widefig{trainfork}{fig:trainfork}{The fork: twelve roads after \emph{The harvest of the kingdom was very
good}, with the chances that the source gives them, and those of the model.}{Twelve pairs of bars. The
source's are fifteen per cent for However and Additionally and seven for each of the ten others; the
model's stand near them.}

\Cref{fig:trainfork} shows the crossing for which the chronicles were written. A figure like this is not a matter of
course. Before the calm stretches at the end of its training, with its smaller steps, the same model may give one of the two leaders half as much again as the
other, while its loss is nearly as good: each large step pushes single probabilities about,
and the average over all tokens does not notice. \Cref{fig:trainpositions} shows the other thing that an
average hides. Positions that were never trained do not fail gently. A model that has seen rows of 512 only is
useless soon after them; this one has seen rows as long as its context.

\fig{trainpositions}{fig:trainpositions}{Bits a token by position, over packed rows as long as the context.}{A
line of sixteen points from position 64 to 1984. The first is a little higher, all others lie near six tenths of a bit.}

\begin{tutorial}{holds}{S1-38, S1-51}
\quoted{all positions in a sequence are predicted simultaneously (thanks to the causal mask and teacher forcing)}
\ourrun one pass gives the same \val{claim.S1-38} losses as \val{claim.S1-51} separate passes, to
the last bit. The mask makes it right; knowing the text makes it possible.
\end{tutorial}

@* What the answers are. \label{sec:trainanswers}
The whole examination takes too long to be repeated whenever the book is made. So the finished model is asked two questions that cost a pass each: what follows \tok{The cat sat}, and
what stands at the fork. The answers are those of the examination, and asking once more shows that they belong to the files that lie here.
@<What is printed@>=
static bool ask(double *on, double *however, double *additionally)
{
  static struct exam x;
  bool ok = exam_open(&x, "models/pocket", NULL);
  const double *p = ok ? after(&x, true, "The cat sat") : NULL;
  if (p != NULL) *on = p[first_id(&x, " on")];
  if (p != NULL)
    p = after(&x, false, very_good);
  if (p != NULL) {
    *however = p[first_id(&x, branch[0])];
    *additionally = p[first_id(&x, branch[1])];
  }
  exam_close(&x);
  return p != NULL;
}

@ The chances are printed with three decimals, enough to see that the two leaders are not quite equal. In the source they are; a trained model comes near.

\checkpoint{build/out/evaluation.txt}{the finished model at two crossings}

@<What is printed@>=
static int print_checkpoint(void)
{
  double on = 0, however = 0, additionally = 0;
  if (!ask(&on, &however, &additionally)) return 1;
  printf("The cat sat: on %.3f\n", on);
  printf("The harvest ... very good: However %.3f,"@|
    " Additionally %.3f\n", however, additionally);
  return 0;
}

@ The examination has left its figures in a file, and the prose and the figures quote them from there. A line is a key, a figure and things that do not matter here; what has
no figure, such as the heading, is passed over.
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

@ Most readers want one figure whose key they know. The file is read again for each: it has a hundred lines or so, and nobody waits for it. Where the file is missing,
as before the first examination, nothing is found and nothing is printed.
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

@ The prose wants all of them, and three that are asked for now: if the file were older than the model, these would differ from it. Counts are
printed as they are, everything else with three decimals.
@<What is printed@>=
static int print_values(void)
{
  double x, on = 0, however = 0, additionally = 0;
  char key[64];
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && next_answer(f, key, &x))
    printf("train.%s %.*f\n", key, x == (double) (long) x ? 0 : 3, x);
  if (f != NULL) fclose(f);
  if (!ask(&on, &however, &additionally)) return 0;
  printf("train.now.on %.3f\ntrain.now.however %.3f\n"@|
    "train.now.additionally %.3f\n", on, however, additionally);
  return 0;
}

@ The curve of the loss has a point for every fiftieth step, the mean of those fifty, in bits: single steps see different texts, and a line through all of them
would be a band. The source's entropy stands beside every point, so that the figure can draw it as a line without knowing it.
@<What is printed@>=
static int print_loss(void)
{
  char line[120];
  unsigned long long step, tokens;
  double loss, sum = 0, source = 0;
  answered("source.bits", &source);
  FILE *f = fopen("models/pocket/training.csv", "r");
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
  return 0;
}

@ The fork as the source has it, beside the fork as the model has it. The source's chances are written here once more, and would be wrong if the table changed; but
then the questions above would have other right answers, too.
@<What is printed@>=
static int print_fork(void)
{
  char key[64];
  double x;
  printf("branch,source,model\n");
  for (int i = 0; i < BRANCHES; i++) {
    snprintf(key, sizeof key, "fork.%s", branch[i] + 1);
    if (answered(key, &x))
      printf("%d,%.2f,%.4f\n", i + 1, i < 2 ? 0.15 : 0.07, x);
  }
  return 0;
}

@ The bits by position stand at the middle of their block. Drawn at its beginning, the line would seem to know something of position 0.
@<What is printed@>=
static int print_positions(void)
{
  char key[64];
  double x;
  printf("position,bits\n");
  for (int i = 0; i < BLOCKS; i++) {
    snprintf(key, sizeof key, "position.%d", BLOCK * i);
    if (answered(key, &x))
      printf("%d,%.4f\n", BLOCK * i + BLOCK / 2, x);
  }
  return 0;
}

@* Exercises. \label{sec:examexercises}
What an examination proves depends on how it asks. The command beside each exercise judges the answer.

\begin{exercises}
\exercise{check}{ex:exam.common}{A model gives four tokens the chances $\frac12$, $\frac14$, $\frac18$ and $\frac18$; its sibling gives each of them $\frac14$. How
much have they in common?}{\texttt{make exercise-W13-1}}{$\frac14+\frac14+\frac18+\frac18=0.75$.}
\exercise{check}{ex:exam.times}{A source has 0.6 bits a token, and a model needs one twentieth more. How many times likelier is a text of 200 tokens to the source than
to the model, on the average over the bits?}{\texttt{make exercise-W13-2}}{0.03 bits a token are 6 bits, and $2^6=64$. A loss that is nearly the best there is still leaves long
texts less likely than they should be.}
\exercise{think}{ex:exam.wheel}{In the source the wheel goes on with 8 chances in 10 and ends in a full stop with the other 2. One full stop has been said before. Taking a half
from a logit for every time its token was said: how often does the greedy writer say \emph{and}, and at which token of the answer does it leave?}{\texttt{make exercise-W13-3}}{The
wheel leads by $\ln\frac{8}{2}=1.386$. After $k$ times \emph{and} the lead is $1.386-(k-1)/2$, which is above 0 for $k=3$ and not for $k=4$. Four times \emph{and}, each with its \emph{round}; the next
token is the ninth. The built-in model leaves at token \val{train.wheel.counted.token}.}
\exercise{think}{ex:exam.error}{Something has the chance 0.8. We count how often it comes in 1,600 texts. How far is the share from the chance, as a standard error?
And how many texts make the error half as large?}{\texttt{make exercise-W13-4}}{$\sqrt{0.8\times0.2/1600}=0.01$. For half the error one needs four times the texts, 6,400.}
\exercise{build}{ex:exam.failed}{Write a script that is given the name of a file of answers, such as the built-in model's |check.csv|. It prints the keys of those that failed, each on a line, and its exit status
is 1 if there are any.}{\texttt{make exercise-W13-5}}{The verdict is the last field, not the fourth: what was wanted stands in quotes, and there is a comma in some of it.}
\exercise{build}{ex:exam.logits}{Write the first exercise as a function of two rows of logits. They may be anything that a float can be and that is not infinite.}{\texttt{make
exercise-W13-6}}{The largest logit of each row is taken away before the exponential, as in \cref{model}; with logits of 1,000 the sums would else be infinite.}
\end{exercises}
