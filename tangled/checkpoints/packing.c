/* the program -- made from workshop/16-rows.w; change it there */

#include <stdio.h>
#include <string.h>
#include "packing/rows.h"

/* <A bench with a source> */
enum { LENGTH = 512, ROWS = 200 };
struct shop { struct memory m; struct error why; struct grammar *g;
  struct bpe_merge *merges; size_t n; struct tokenizer *words;
  struct source *feed; struct passage piece; };

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

static void shop_close(struct shop *s)
{
  source_close(&s->m, s->feed);
  tokenizer_close(&s->m, s->words);
  bpe_forget(&s->m, s->merges, s->n);
  grammar_close(&s->m, s->g);
}

/* <Follow one row> */
static size_t tokens_of(struct shop *s, uint64_t text)
{
  struct ids list = { .n = 0 };
  if (!grammar_write(s->g, SEED_TRAINING, text, &s->piece, &s->why)
    || !tokenizer_encode(s->words, &s->m, s->piece.words,
      s->piece.length, false, false, &list, &s->why)) return 0;
  size_t n = list.n;
  ids_free(&s->m, &list);
  return n;
}

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

/* <Count what many rows are made of> */
struct tallies { size_t texts, written, dropped, marked; };

static void tally_text(void *what, size_t row, size_t from, size_t to)
{
  struct tallies *t = what;
  (void) row;
  t->texts++, t->written += to - from;
  t->dropped += to > LENGTH ? to - LENGTH : 0;
  t->marked += from == 1;
}

static bool count_rows(struct shop *s, bool aloud)
{
  struct tallies t = { .texts = 0 };
  for (size_t row = 0; row < ROWS; row++)
    if (!follow(s, row, &t, tally_text)) return false;
  double texts = (double) t.texts / ROWS;
  double lost = 100 * (double) t.dropped / (double) t.written;
  if (aloud)
    printf("%d rows of %d tokens: %.1f texts a row, %.1f %% dropped\n"
      "%zu rows begin with end-of-text\n", ROWS, LENGTH, texts, lost,
      t.marked);
  else
    printf("rows.counted %d\nrows.length %d\nrows.texts %.4f\n"
      "rows.dropped %.4f\nrows.marked %zu\nrows.merges %d\n", ROWS,
      LENGTH, texts, lost, t.marked, MERGES);
  return true;
}

/* <Show how a few rows are packed> */
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

/* <Open the bench, and do what is asked for> */
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
