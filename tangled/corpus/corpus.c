/* corpus.c -- A grammar in a file, and the texts that it writes.
   made from workshop/11-corpus.w; change it there

   Reading checks everything that can be checked by line, so that the writer may trust
   brackets, names of tables and weights; what depends on the text (a key that was
   never remembered, a table that is used up) is found by the writer, which stops with
   a sentence. Text n of a seed depends on nothing but the grammar, the seed and n: no
   libm, no global state, whole numbers for the dice. tables is sorted by name after
   reading; before that a table's alternatives are only known to be the last. All
   strings are in words, which never moves. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"

/* <What a grammar holds> */
enum {
  TABLES = 256, ALTERNATIVES = 64, HEAVIEST = 9999, LARGEST = 1 << 20
};
struct alternative { const char *words; uint32_t length, weight; };
struct table {
  const char *name; uint32_t name_length, first, count; bool once;
};
struct grammar {
  struct table tables[TABLES]; size_t n_tables;
  struct alternative *alternatives; size_t n_alternatives, lines;
  char *words; size_t n_words, size;
};

/* <A text that is being written> */
enum { MEMORIES = 64, MAX_KEY_LEN = 8, MAX_VALUE_LEN = 160, SLOT_ROOM = 64 };
struct remembered {
  char key[MAX_KEY_LEN]; char value[MAX_VALUE_LEN]; size_t length;
};
struct scribe {
  const struct grammar *g;
  struct passage *out;
  uint64_t dice;
  const uint16_t *script; size_t n_script;
  struct remembered memories[MEMORIES]; size_t n_memories;
  uint64_t used[TABLES];
  bool failed; char fault[SLOT_ROOM];
};

#include "corpus/reading.inc"

/* <Throw a die with n sides> */

/* SplitMix64, 32 bits of it. Numbers beyond the last whole multiple of n are thrown
   again, or the first sides would be a little likelier; so the chance of a choice is
   exactly what its record says. */
static uint32_t throw_die(struct scribe *s, uint32_t n)
{
  uint64_t fair = (UINT64_C(1) << 32) / n * n, z;
  do {
    z = s->dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z = (z ^ z >> 31) >> 32;
  } while (z >= fair);
  return (uint32_t) (z % n);
}

/* <The binary logarithm of a small whole number> */

/* A series and not the C library's, whose last bit differs from system to system. */
static double log2_of(uint32_t n)
{
  double whole = 0, x = n, power = 1, sum = 0;
  while (x >= 1.5) x /= 2, whole++;
  double y = (x - 1) / (x + 1);
  for (int k = 1; k < 48; k += 2, power *= y * y)
    sum += power * y / k;
  return whole + 2 * sum / 0.69314718055994530942;
}

#include "corpus/scribe.inc"

/* <Choose an alternative, and account for the choice> */

/* The chance is taken among what may still be taken, so total is part of the record.
   A script replaces the die as long as it lasts, and only by what is allowed. */
static const struct alternative *choose(struct scribe *s,
  const struct table *t, const char *except)
{
  const struct alternative *a = s->g->alternatives + t->first;
  struct passage *p = s->out;
  bool may[ALTERNATIVES];
  uint32_t total = 0, i = 0;
  for (i = 0; i < t->count; i++)
    if ((may[i] = may_take(s, t, i, except))) total += a[i].weight;
  if (total == 0 || p->n_choices == PASSAGE_CHOICES) {
    fault(s, t->name, t->name_length);
    return NULL;
  }
  /* <Let i be the alternative of the script, or else of the die> */
  if (p->n_choices < s->n_script && s->script[p->n_choices] < t->count
    && may[s->script[p->n_choices]])
    i = s->script[p->n_choices];
  else {
    uint32_t r = throw_die(s, total);
    for (i = 0; !may[i] || r >= a[i].weight; i++)
      if (may[i]) r -= a[i].weight;
  }
  /* <Write the choice down, and add its bits> */
  p->choices[p->n_choices++] = (struct choice)
    { (uint16_t) (t - s->g->tables), (uint16_t) i,
    a[i].weight, total };
  p->bits += log2_of(total) - log2_of(a[i].weight);
  if (t->once) s->used[t - s->g->tables] |= UINT64_C(1) << i;
  return &a[i];
}

/* <Fill a slot> */

/* The order is fixed: choose, write, remember, cut to the first field. A table that
   names itself ends because texts have a greatest length and a most of choices. */
static bool fill_slot(struct scribe *s, const char *words,
  size_t length)
{
  struct slot parts;
  if (!read_slot(s, words, length, &parts)) return false;
  const struct table *t = find_table(s->g, parts.name,
    parts.name_length);
  if (t == NULL) return fault(s, words, length);
  const struct alternative *a = choose(s, t, parts.except);
  size_t start = s->out->length;
  if (a == NULL || !expand(s, a->words, a->length)) return false;
  if (parts.key_length > 0 && !remember(s, &parts, start))
    return fault(s, words, length);
  show_first_field(s, &parts, start);
  return true;
}

/* <Write what an alternative says> */

/* check_brackets has seen to it that every bracket is closed, so stop is never null */
static bool expand(struct scribe *s, const char *words, size_t n)
{
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    const char *w = words + i;
    if (is_doubled(w, n - i)) ok = put(s, w, 1), i++;
    else if (*w == '{' || *w == '[') {
      const char *stop = memchr(w, *w == '{' ? '}' : ']', n - i);
      size_t k = (size_t) (stop - w);
      ok = *w == '{' ? put_field(s, w + 1, k - 1)
        : fill_slot(s, w + 1, k - 1);
      i += k;
    }
    else ok = put(s, w, 1);
  }
  return ok;
}

/* <Write a whole text> */

/* the sort of a text is the alternative of its first choice, in the table text */
static bool write_text(const struct grammar *g, uint64_t dice,
  const uint16_t *script, size_t n_script, struct passage *out,
  struct error *why)
{
  struct scribe s;
  memset(&s, 0, sizeof s);
  s.g = g;
  s.out = out;
  s.dice = dice;
  s.script = script, s.n_script = n_script;
  out->length = out->n_choices = 0;
  out->bits = 0;
  bool ok = fill_slot(&s, "text", 4);
  out->words[out->length] = '\0';
  out->sort = ok ? out->choices[0].taken : 0;
  return ok || error_say(why,
    "the grammar: \"%s\" has no place or no meaning", s.fault);
}

/* seed and number are mixed by a multiplication, or the streams of neighbouring texts
   would begin close together */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why)
{
  uint64_t z = (seed << 40 ^ number) * UINT64_C(0x2545f4914f6cdd1d);
  return write_text(g, z ^ z >> 29, NULL, 0, out, why);
}

bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n, struct passage *out, struct error *why)
{
  return write_text(g, 0, taken, n, out, why);
}
