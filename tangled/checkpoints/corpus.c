/* the program -- made from workshop/11-corpus.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "corpus/corpus.h"

/* <What the program prints> */
enum { LINE = 67 };

/* the held-out text that is looked at, the number of the next one, and the text as it
   would be with another choice */
struct viewer { const struct grammar *g; uint64_t next;
  struct passage text, variant; };
static bool next_short(struct viewer *d, struct error *why)
{
  while (grammar_write(d->g, SEED_HELD_OUT, d->next++, &d->text, why))
    if (d->text.sort == TEXT_CHRONICLE
      && strlen(strstr(d->text.words, ". ") + 2) <= LINE) return true;
  return false;
}

static bool print_samples(struct viewer *d, struct error *why)
{
  const struct passage *p = &d->text;
  for (int left = 2; left > 0; left--) {
    if (!next_short(d, why)) return false;
    const char *stop = strstr(p->words, ". ") + 1;
    printf("%.*s\n%s\n%.1f bits in %zu choices\n",
      (int) (stop - p->words), p->words, stop + 1,
      p->bits, p->n_choices);
  }
  return true;
}

static size_t first_difference(const struct passage *a, const struct passage *b)
{
  size_t at = 0;
  while (at < a->length && a->words[at] == b->words[at]) at++;
  return at;
}

/* The place of choice k: the first byte of the text that would be another if the
   choice were. What comes after a variant's choice is drawn anew, but a later
   difference does not count. The length of the text says that the choice shows
   nowhere. */
static size_t place_of(struct viewer *d, size_t k)
{
  const struct choice *made = d->text.choices;
  uint16_t taken[PASSAGE_CHOICES];
  size_t place = d->text.length, length;
  uint32_t weight;
  struct error why;
  for (size_t c = 0; c < k; c++) taken[c] = made[c].taken;
  for (uint16_t i = 0;
    grammar_table(d->g, made[k].drawn, i, &length, &weight) != NULL; i++) {
    taken[k] = i;
    if (i == made[k].taken
      || !grammar_replay(d->g, taken, k + 1, &d->variant, &why)) continue;
    size_t at = first_difference(&d->text, &d->variant);
    if (at < place) place = at;
  }
  return place;
}

static double worth(const struct choice *c)
{
  return num_log((double) c->total / c->weight) / num_log(2);
}

static bool print_surprise(struct viewer *d, struct error *why)
{
  double bits[MAX_PASSAGE_LEN] = { 0 };
  if (!next_short(d, why)) return false;
  for (size_t k = 0; k < d->text.n_choices; k++)
    bits[place_of(d, k)] += worth(&d->text.choices[k]);
  printf("position,byte,bits\n");
  for (size_t i = 0; i < d->text.length; i++)
    printf("%zu,%d,%.3f\n", i, d->text.words[i], bits[i]);
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

static void enter(const struct grammar *g, const struct passage *p,
  struct census *a)
{
  a->bytes[p->sort] += (double) p->length;
  a->texts[p->sort]++;
  if (p->length > a->longest) a->longest = p->length;
  if (p->n_choices > a->richest) a->richest = p->n_choices;
  for (size_t k = 0; k < p->n_choices; k++) {
    double b = worth(&p->choices[k]);
    a->bits += b;
    if (is_common(g, p->choices[k].drawn)) a->common += b;
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

static bool print_values(struct viewer *d, struct error *why)
{
  enum { TEXTS = 20000 };
  struct census a;
  memset(&a, 0, sizeof a);
  for (uint64_t n = 0; n < TEXTS; n++) {
    if (!grammar_write(d->g, SEED_HELD_OUT, n, &d->text, why)) return false;
    enter(d->g, &d->text, &a);
  }
  print_account(d->g, &a);
  return true;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  struct memory m = { .fail_at = 0 };
  struct error why;
  struct grammar *g = grammar_open(&m, "models/corpus.grammar", &why);
  struct viewer d = { .g = g };
  bool ok = g != NULL;
  if (ok && strcmp(what, "values") == 0) ok = print_values(&d, &why);
  else if (ok && strcmp(what, "surprise") == 0)
    ok = print_surprise(&d, &why);
  else if (ok) ok = print_samples(&d, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  grammar_close(&m, g);
  return !ok;
}
