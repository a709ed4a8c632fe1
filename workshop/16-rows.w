@i types.w

\chapterquestion{A model is trained on rows of tokens, all of one length. How does an endless supply of texts, short and long, become such rows?}
@** Packing texts into training rows. \label{sec:trainrows}
\incipit{T}{he grammar} of \cref{corpus} writes texts, as many as are wanted. The trainer of \cref{training} wants rows of 512 or of
2\,048 tokens. What lies between is small: a tokenizer that has been learnt from the same grammar, and a rule for packing
texts into rows. But a model believes whatever its rows say, also what they say by accident, so the rule is worth a page.
@^packing@>

\begin{byhand}{four texts, a row of eight}
Texts 0, 1, 2 and 3 have 3, 2, 4 and 5 tokens. Between two texts stands an end-of-text, E. Text 0 gives 3 tokens; E and text 1 make
it $3+1+2=6$, another E $6+1=7$, and of text 2 there is room for $8-7=1$ token. The other $4-1=3$ are dropped.

\medskip
The next row begins with text 3. Its number is odd, so an E stands before it: $1+5=6$ tokens, and it goes on with E and text 4. In the first row $3+2+4=9$ tokens
of text were used up, and $9-3=6$ of them were seen.
\end{byhand}

@ The program packs rows as a training run does and counts what comes out: texts, tokens that are dropped, rows that begin with an end-of-text. With
|"pack"| it prints the data of the figure.

@c
#include <stdio.h>
#include <string.h>
#include "packing/rows.h"
@;@#
@<A bench with a source@>@;
@<Follow one row@>@;
@<Count what many rows are made of@>@;
@<Show how a few rows are packed@>@;
@<Open the bench, and do what is asked for@>@;

@* A tokenizer and a source. \label{sec:rowsource}
The module knows nothing of models. It takes a grammar and gives merges, once; then it takes a tokenizer and gives rows, without end.

@(rows.h@>=
#ifndef INCIPIT_ROWS_H
#define INCIPIT_ROWS_H
#include "corpus/corpus.h"
#include "tokenizer/tokenizer.h"
@<What gives rows of tokens@>@;
#endif

@ Before the model comes its tokenizer, learnt by chapter 1's trainer from texts of the same grammar. \val{rows.merges} merges, with the 256 bytes and end-of-text, make
the vocabulary of the plan.
@<What gives rows of tokens@>=
enum { TOKENIZER_TEXTS = 20000, MERGES = 1791 };
  /* texts from which the vocabulary is learnt, and merges that are learnt */
bool training_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why);
  /* learns |MERGES| merges from the texts of |SEED_TOKENIZER|; given back by
     |bpe_forget| */

@ What a run eats are rows of tokens. They come from texts that are written when they are needed:
no text is seen twice, so every loss of the training is the loss on something new, and a model that merely remembered its texts would gain nothing by it.
@^overfitting@>
@<What gives rows of tokens@>=
struct source;
struct source *source_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why);
  /* the texts of |seed| as rows of tokens; owned by the caller, who keeps |g| and
     |t| */
void source_close(struct memory *m, struct source *s);
  /* returns its memory; null is nothing */
bool source_row(struct source *s, uint32_t *row, size_t n,
  struct error *why);
  /* the next row of |n| tokens, from the beginning of a text on */
uint64_t source_at(const struct source *s);
  /* the number of the next text */
void source_seek(struct source *s, uint64_t at);
  /* goes on with text |at| */

@ The tokenizer learns from texts of a seed of its own. So no text of the training, and none of those with which the model is examined, had a part in choosing
the merges; a tokenizer that has seen the examination would cut it into suspiciously few tokens.
@<The merges of the built-in model@>=
static char *tokenizer_texts(struct memory *m, const struct grammar *g,
  size_t room,
  size_t *length, struct error *why)
{
  struct passage *p = memory_take(m, FOR_TRAINING, 1, sizeof *p, why);
  char *all = p == NULL ? NULL : memory_take(m, FOR_TRAINING, room, 1,
    why);
  bool ok = all != NULL;
  *length = 0;
  for (size_t i = 0; ok && i < TOKENIZER_TEXTS; i++) {
    @<Write text |i| behind the others@>@;
  }
  memory_give(m, FOR_TRAINING, p, p == NULL ? 0 : 1, sizeof *p);
  if (!ok) memory_give(m, FOR_TRAINING, all, room, 1);
  return ok ? all : NULL;
}

@ The texts of one seed are numbered, and any of them can be written without those before it. A grammar that grew beyond the room is told so.
@<Write text |i| behind the others@>=
ok = grammar_write(g, SEED_TOKENIZER, i, p, why);
if (ok && p->length > room - *length)
  ok = error_say(why, "the trainer: %zu bytes of text do not fit",
    room);
if (ok)
  memcpy(all + *length, p->words, p->length), *length += p->length;

@ There is room for half a kilobyte a text, on the average; together that is ten megabytes. Chapter 1's trainer goes through them in a second, and the room is given back at once. The
merges stay.
@<The merges of the built-in model@>=
bool training_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why)
{
  size_t length, room = TOKENIZER_TEXTS * (size_t) 512;
  char *all = tokenizer_texts(m, g, room, &length, why);
  if (all == NULL) return false;
  bool ok = bpe_train(m, all, length, split_gpt2, MERGES, out, n, why);
  memory_give(m, FOR_TRAINING, all, room, 1);
  return ok;
}

@ A row begins where a text begins, and goes on with the next texts, end-of-text between
them, until it is full. The first text of a row has an end-of-text before it if its number is odd, so the model learns to begin with one and without, and a
prompt may be given either way.
@^end-of-text@>
@<Rows of tokens@>=
struct source { struct memory *m; const struct grammar *g;
struct tokenizer *t;
  uint64_t seed, at; struct passage *piece; struct ids list; };

@ What is left of the last text is dropped. To go on with it in the next row would waste nothing, and teach the model that names may be recalled which were never
given. As it is, nothing in a row refers to what is not there.
@<Rows of tokens@>=
bool source_row(struct source *s, uint32_t *row, size_t n,
  struct error *why)
{
  size_t at = 0;
  for (bool first = true; at < n; first = false) {
    if (!grammar_write(s->g, s->seed, s->at, s->piece, why)) return false;
    s->list.n = 0;
    if (!tokenizer_encode(s->t, s->m, s->piece->words,
      s->piece->length, false, false,
      &s->list, why)) return false;
    if (!first || (s->at & 1) != 0) row[at++] = 0;
    for (size_t i = 0; i < s->list.n && at < n;
    i++) row[at++] = s->list.id[i];
    s->at++;
  }
  return true;
}

@ A source holds the text it is writing and the tokens of it. Where it stands is one number, the
number of the next text, and that is all a saved state needs to know of it.
@<Rows of tokens@>=
struct source *source_open(struct memory *m, const struct grammar *g,
  struct tokenizer *t,
  uint64_t seed, struct error *why)
{
  struct source *s = memory_take(m, FOR_TRAINING, 1, sizeof *s, why);
  if (s == NULL) return NULL;
  *s = (struct source) @[{ .m = m, .g = g, .t = t, .seed = seed }@];
  s->piece = memory_take(m, FOR_TRAINING, 1, sizeof *s->piece, why);
  if (s->piece != NULL) return s;
  source_close(m, s);
  return NULL;
}

@ The grammar and the tokenizer are the caller's, so they stay.
@<Rows of tokens@>=
void source_close(struct memory *m, struct source *s)
{
  if (s == NULL) return;
  ids_free(m, &s->list);
  memory_give(m, FOR_TRAINING, s->piece, 1, sizeof *s->piece);
  memory_give(m, FOR_TRAINING, s, 1, sizeof *s);
}
@#
uint64_t source_at(const struct source *s)
{
  return s->at;
}
@#
void source_seek(struct source *s, uint64_t at)
{
  s->at = at;
}

@ The module, in the order of C.
@(rows.c@>=
#include <string.h>
#include "packing/rows.h"
@;@#
@<The merges of the built-in model@>@;
@<Rows of tokens@>@;

@* What the rows are made of. \label{sec:rowscheck}
\Cref{fig:pack} shows eight rows of a run. Each holds a few texts whole, and the beginning of one more, whose rest is dropped. Over \val{rows.counted} rows of
\val{rows.length} tokens that is \val[1]{rows.dropped} per cent of what was written, and \val[1]{rows.texts} texts a row; with the longer rows of the
second stretch, about a quarter of it. The price is paid in texts, of which there is no end.

\fig{pack}{fig:pack}{Eight rows as the trainer gets them. A line is a text, a gap an end-of-text; what stands behind the edge of the row was
written and is never read.}{Eight lines one above the other, each cut into a few pieces of different length. At a vertical line near the right all rows end; behind it
each goes on for a little in another colour.}

@ A bench has everything that a source needs. The merges are learnt anew, which takes a second.

@<A bench with a source@>=
enum { LENGTH = 512, ROWS = 200 };
struct shop { struct memory m; struct error why; struct grammar *g;
  struct bpe_merge *merges; size_t n; struct tokenizer *words;
  struct source *feed; struct passage piece; };
@#
static bool shop_open(struct shop *s)
{
  s->g = grammar_open(&s->m, "models/corpus.grammar", &s->why);
  if (s->g == NULL || !training_merges(&s->m, s->g, &s->merges, &s->n,
    &s->why)) return false;
  s->words = tokenizer_from_merges(&s->m, s->merges, s->n, &s->why);
  if (s->words == NULL) return false;
  s->feed = source_open(&s->m, s->g, s->words, SEED_TRAINING, &s->why);
  return s->feed != NULL;
}

@ Closing, as always, takes what there is.

@<A bench with a source@>=
static void shop_close(struct shop *s)
{
  source_close(&s->m, s->feed);
  tokenizer_close(&s->m, s->words);
  bpe_forget(&s->m, s->merges, s->n);
  grammar_close(&s->m, s->g);
}

@ How long a text is in tokens is found out by writing and encoding it once more, apart from the source, so that what the source did can be held against it.

@<Follow one row@>=
static size_t tokens_of(struct shop *s, uint64_t text)
{
  struct ids list = @[{ .n = 0 }@];
  if (!grammar_write(s->g, SEED_TRAINING, text, &s->piece, &s->why)
    || !tokenizer_encode(s->words, &s->m, s->piece.words,
      s->piece.length, false, false, &list, &s->why)) return 0;
  size_t n = list.n;
  ids_free(&s->m, &list);
  return n;
}

@ The source says which texts a row has used: those between the numbers at which it stood before and after. The rule of the box then
says where each begins and ends; |see| is told of every text, with the place where it would end if rows had no end.

@<Follow one row@>=
static bool follow(struct shop *s, size_t row, void *what,
  void (*see)(void *what, size_t row, size_t from, size_t to))
{
  static uint32_t ids[LENGTH];
  uint64_t text = source_at(s->feed);
  if (!source_row(s->feed, ids, LENGTH, &s->why)) return false;
  size_t at = text & 1;
  for (bool first = true; text < source_at(s->feed); first = false) {
    at += first ? 0 : 1;
    size_t n = tokens_of(s, text++);
    see(what, row, at, at + n);
    at += n;
  }
  return at >= LENGTH;
}

@ Three counts are kept. That a row is full, and that its last text is the one that crosses its end, was just now returned.

@<Count what many rows are made of@>=
struct tallies { size_t texts, written, dropped, marked; };
@#
static void tally_text(void *what, size_t row, size_t from, size_t to)
{
  struct tallies *t = what;
  (void) row;
  t->texts++, t->written += to - from;
  t->dropped += to > LENGTH ? to - LENGTH : 0;
  t->marked += from == 1;
}

@ A text is marked by an end-of-text at the very beginning of a row if it starts at place 1; later ones start further behind.

\checkpoint{build/out/packing.txt}{what rows of the training are made of}

@<Count what many rows are made of@>=
static bool count_rows(struct shop *s, bool aloud)
{
  struct tallies t = @[{ .texts = 0 }@];
  for (size_t row = 0; row < ROWS; row++)
    if (!follow(s, row, &t, tally_text)) return false;
  double texts = (double) t.texts / ROWS;
  double lost = 100 * (double) t.dropped / (double) t.written;
  if (aloud)
    printf("%d rows of %d tokens: %.1f texts a row, %.1f %% dropped\n"@|
      "%zu rows begin with end-of-text\n", ROWS, LENGTH, texts, lost,
      t.marked);
  else
    printf("rows.counted %d\nrows.length %d\nrows.texts %.4f\n"@|
      "rows.dropped %.4f\nrows.marked %zu\nrows.merges %d\n", ROWS,
      LENGTH, texts, lost, t.marked, MERGES);
  return true;
}

@ In the data of the figure a line of |nan| lifts the pen.

@<Show how a few rows are packed@>=
static void draw_text(void *what, size_t row, size_t from, size_t to)
{
  size_t end = to < LENGTH ? to : LENGTH;
  (void) what;
  printf("%zu,%zu,nan\n%zu,%zu,nan\nnan,nan,nan\n", from, 8 - row, end,
    8 - row);
  if (to > LENGTH)
    printf("%zu,nan,%zu\n%zu,nan,%zu\nnan,nan,nan\n", end, 8 - row, to,
      8 - row);
}

@ The bench is opened for every word alike.

@<Open the bench, and do what is asked for@>=
int main(int argc, char **argv)
{
  static struct shop s;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = shop_open(&s);
  if (ok && strcmp(what, "pack") == 0) {
    printf("token,kept,dropped\n");
    for (size_t row = 0; ok && row < 8; row++)
      ok = follow(&s, row, NULL, draw_text);
  }
  else if (ok) ok = count_rows(&s, strcmp(what, "values") != 0);
  if (!ok) fprintf(stderr, "%s\n", s.why.words);
  shop_close(&s);
  return !ok;
}

@* Exercises. \label{sec:rowsexercises}
Rows are arithmetic, and the commands do it.

\begin{exercises}
\exercise{check}{ex:rows.pack}{Texts 4, 5 and 6 have 2, 6 and 3 tokens, and a row has ten. How many tokens of text 5 are dropped, with which text does the next row begin, and does an
end-of-text stand before it?}{\texttt{make exercise-W16-1}}{Text 4 is even and has none before it: $2+1+6=9$; another end-of-text makes ten. So nothing of text 5 is dropped, and
nothing of text 6 is seen; it was written, it counts as used, and the next row begins with text 7, which is odd.}
\exercise{think}{ex:rows.share}{Texts of a fixed length $t$ are packed into rows of $n$ tokens, much longer. Where the row ends in its last text is as good as random. Which share of what is written is
dropped, roughly, for $t=100$ and $n=500$? (End-of-texts may be forgotten.)}{\texttt{make exercise-W16-2}}{Half a text a row on the average: $\frac t2$ of $n+\frac t2$, which is $\frac{50}{550}$, one part in eleven.}
\end{exercises}
