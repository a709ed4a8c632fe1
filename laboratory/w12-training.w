@i types.w

\chapterquestion{What goes into a training run?}
@** The run of the built-in model. \label{lab:run}
\incipit{T}{his program} packs rows as a training run does and counts what they are made of: texts, tokens that are dropped, and rows that begin with an
end-of-text. Without an argument it prints the checkpoint of \cref{sec:trainrows}, with |"values"| the keys that the prose quotes, and with |"pack"| the data
of \cref{fig:pack}.

@c
#include <stdio.h>
#include <string.h>
#include "training/rows.h"
@;@#
@<A grammar, a tokenizer and a source@>@;
@<Follow one row@>@;
@<Count what many rows are made of@>@;
@<Print how a few rows are packed@>@;
@<Main@>@;

@ Each word needs the same things, so they are opened before the word is looked at.
@<Main@>=
int main(int argc, char **argv)
{
  static struct feed f;
  const char *what = argc > 1 ? argv[1] : "";
  bool ok = feed_open(&f);
  if (ok && strcmp(what, "pack") == 0) ok = print_pack(&f);
  else if (ok) ok = count_rows(&f, strcmp(what, "values") != 0);
  if (!ok) fprintf(stderr, "%s\n", f.why.words);
  feed_close(&f);
  return !ok;
}

@* What the rows are made of. \label{lab:runrows}
A source needs a grammar and a tokenizer. The merges are learnt again, which takes a second.

@<A grammar, a tokenizer and a source@>=
enum { LENGTH = 512, ROWS = 200 };
struct feed { struct memory m; struct error why; struct grammar *g;
  struct bpe_merge *merges; size_t n; struct tokenizer *words;
  struct source *source; struct passage piece; };
@#
static bool feed_open(struct feed *f)
{
  f->g = grammar_open(&f->m, "models/corpus.grammar", &f->why);
  if (f->g == NULL || !training_merges(&f->m, f->g, &f->merges, &f->n,
    &f->why)) return false;
  f->words = tokenizer_from_merges(&f->m, f->merges, f->n, &f->why);
  if (f->words == NULL) return false;
  f->source = source_open(&f->m, f->g, f->words, SEED_TRAINING, &f->why);
  return f->source != NULL;
}
@#
static void feed_close(struct feed *f)
{
  source_close(&f->m, f->source);
  tokenizer_close(&f->m, f->words);
  bpe_forget(&f->m, f->merges);
  grammar_close(&f->m, f->g);
}

@ To learn how many tokens a text has, we write and encode it once more, apart from the source. So what the source did can be checked.

@<Follow one row@>=
static size_t tokens_of(struct feed *f, uint64_t text)
{
  struct ids list = @[{ .n = 0 }@];
  if (!grammar_write(f->g, SEED_TRAINING, text, &f->piece, &f->why)
    || !tokenizer_encode(f->words, &f->m, f->piece.words,
      f->piece.length, false, false, &list, &f->why)) return 0;
  size_t n = list.n;
  ids_free(&f->m, &list);
  return n;
}

@ The position of the source before and after a row tells us which texts the row has used. The rule of \cref{sec:trainrows} then
says where each text begins and ends. For every text |see| is told where it begins, and where it would end if rows had no end. A row is right only if its last text reaches its end.

@<Follow one row@>=
static bool follow(struct feed *f, size_t row, void *what,
  void (*see)(void *what, size_t row, size_t from, size_t to))
{
  static uint32_t ids[LENGTH];
  uint64_t text = source_at(f->source);
  if (!source_row(f->source, ids, LENGTH, &f->why)) return false;
  size_t at = text & 1;
  for (bool first = true; text < source_at(f->source); first = false) {
    at += first ? 0 : 1;
    size_t n = tokens_of(f, text++);
    see(what, row, at, at + n);
    at += n;
  }
  return at >= LENGTH;
}

@ Four sums are kept. A text that begins at place 1 has an end-of-text before it at the beginning of its row; a later text begins farther on.

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

@ The sums are printed as sentences for the checkpoint, or as keys.

@<Count what many rows are made of@>=
static bool count_rows(struct feed *f, bool aloud)
{
  struct tallies t = @[{ .texts = 0 }@];
  for (size_t row = 0; row < ROWS; row++)
    if (!follow(f, row, &t, tally_text)) return false;
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

@<Print how a few rows are packed@>=
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
@#
static bool print_pack(struct feed *f)
{
  bool ok = true;
  printf("token,kept,dropped\n");
  for (size_t row = 0; ok && row < 8; row++)
    ok = follow(f, row, NULL, draw_text);
  return ok;
}
