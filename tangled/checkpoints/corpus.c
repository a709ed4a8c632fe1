/* the program -- made from workshop/11-corpus.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "corpus/corpus.h"

/* <What the program prints> */
enum { LINE = 67 };
static struct passage piece, other;

static bool next_short(const struct grammar *g, uint64_t *n,
  struct error *why)
{
  while (grammar_write(g, SEED_HELD_OUT, (*n)++, &piece, why))
    if (piece.sort == TEXT_CHRONICLE
      && strlen(strstr(piece.words, ". ") + 2) <= LINE) return true;
  return false;
}

static bool print_samples(const struct grammar *g, struct error *why)
{
  uint64_t n = 0;
  for (int left = 2; left > 0; left--) {
    if (!next_short(g, &n, why)) return false;
    const char *stop = strstr(piece.words, ". ") + 1;
    printf("%.*s\n%s\n%.1f bits in %zu choices\n",
      (int) (stop - piece.words), piece.words, stop + 1,
      piece.bits, piece.n_choices);
  }
  return true;
}

static size_t place_of(const struct grammar *g, size_t k)
{
  uint16_t taken[PASSAGE_CHOICES];
  size_t place = piece.length, at, length;
  uint32_t weight;
  struct error why;
  for (size_t c = 0; c <= k; c++) taken[c] = piece.choices[c].taken;
  for (uint16_t i = 0; grammar_table(g, piece.choices[k].drawn, i,
    &length, &weight) != NULL; i++) {
    taken[k] = i;
    if (i == piece.choices[k].taken
      || !grammar_replay(g, taken, k + 1, &other, &why)) continue;
    for (at = 0; at < place && piece.words[at] == other.words[at];)
      at++;
    place = at;
  }
  return place;
}

static double worth(const struct choice *c)
{
  return num_log((double) c->total / c->weight) / num_log(2);
}

static bool print_surprise(const struct grammar *g, struct error *why)
{
  static double bits[MAX_PASSAGE_LEN];
  uint64_t n = 0;
  if (!next_short(g, &n, why)) return false;
  for (size_t k = 0; k < piece.n_choices; k++)
    bits[place_of(g, k)] += worth(&piece.choices[k]);
  printf("position,byte,bits\n");
  for (size_t i = 0; i < piece.length; i++)
    printf("%zu,%d,%.3f\n", i, piece.words[i], bits[i]);
  return true;
}

/* <Is a table one of those that every kind of text uses?> */
static bool is_common(const struct grammar *g, size_t table)
{
  static const char *const common[] = { "says", "how", "tone",
    "replies", "colour", "count", "food", "small", "mild", "land",
    "smell", "wild", "manner", "feel", "daypart", "ruler" };
  size_t length;
  uint32_t weight;
  const char *name = grammar_table(g, table, SIZE_MAX, &length,
    &weight);
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strlen(common[i]) == length
      && memcmp(name, common[i], length) == 0) return true;
  return false;
}

struct census {
  double bytes[N_TEXT_SORTS], texts[N_TEXT_SORTS], bits, common;
  size_t longest, richest;
};

static void enter(const struct grammar *g, struct census *a)
{
  a->bytes[piece.sort] += (double) piece.length;
  a->texts[piece.sort]++;
  if (piece.length > a->longest) a->longest = piece.length;
  if (piece.n_choices > a->richest) a->richest = piece.n_choices;
  for (size_t k = 0; k < piece.n_choices; k++) {
    double b = worth(&piece.choices[k]);
    a->bits += b;
    if (is_common(g, piece.choices[k].drawn)) a->common += b;
  }
}

static void print_account(const struct grammar *g,
  const struct census *a)
{
  size_t n = 0, length;
  uint32_t weight;
  for (size_t t = 0; t < grammar_tables(g); t++)
    for (size_t i = 0;
      grammar_table(g, t, i, &length, &weight) != NULL; i++) n++;
  printf("corpus.tables %zu\ncorpus.alternatives %zu\n",
    grammar_tables(g), n);
  printf("corpus.bytes.tale %.0f\ncorpus.bytes.chronicle %.0f\n",
    a->bytes[TEXT_TALE] / a->texts[TEXT_TALE],
    a->bytes[TEXT_CHRONICLE] / a->texts[TEXT_CHRONICLE]);
  printf("corpus.common.percent %.0f\n", 100 * a->common / a->bits);
  printf("corpus.longest %zu\ncorpus.richest %zu\n",
    a->longest, a->richest);
}

static bool print_values(const struct grammar *g, struct error *why)
{
  enum { TEXTS = 20000 };
  struct census a;
  memset(&a, 0, sizeof a);
  for (uint64_t n = 0; n < TEXTS; n++) {
    if (!grammar_write(g, SEED_HELD_OUT, n, &piece, why)) return false;
    enter(g, &a);
  }
  print_account(g, &a);
  return true;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, "models/corpus.grammar", &why);
  bool ok = g != NULL;
  if (ok && strcmp(what, "values") == 0) ok = print_values(g, &why);
  else if (ok && strcmp(what, "surprise") == 0)
    ok = print_surprise(g, &why);
  else if (ok) ok = print_samples(g, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  grammar_close(&m, g);
  return !ok;
}
