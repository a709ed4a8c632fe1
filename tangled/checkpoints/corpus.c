/* the program -- made from workshop/11-corpus.w; change it there */

#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "corpus/corpus.h"

/* <Find the place of a choice> */

/* a text, the number of the next one, and a variant of the text */
struct viewer { const struct grammar *g; uint64_t next;
  struct passage text, variant; };
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

#include "corpus/shown.inc"
