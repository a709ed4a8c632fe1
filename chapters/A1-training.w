@i types.w
@s pool_work int
@s vec int
@s each while
@s TARGET inline
@s INLINE inline
@s NUM_INLINE inline
@s restrict const

\chapterquestion{Where do the numbers in a model's weights come from, and how would we know if one of them were wrong?}
@** Training the built-in model.
\incipit{E}{very other chapter} takes the weights as given. This one makes them. We write
a source of text whose every choice has a known probability, so that we know how well
\emph{any} model could possibly do; we cut the text into tokens; we let a small model
guess each next token, and move each of its weights a little in the direction that would
have made the guess better, many times over. What comes out is the model
that the command uses when it is given no other.
@^training@>

Nothing is taken from outside: no corpus, no library for gradients, no random numbers
but our own. So the whole run can be repeated, and it ends in the same bytes.

\begin{byhand}{one guess, and how to make it better}
A model with three tokens in its vocabulary sees one token and guesses the next. Its hidden state is
$h=(1,2)$, and the head makes of it the logits $z=(\ln3,\ln2,0)$. The exponentials are 3, 2 and 1, so
the probabilities are $p=(\frac12,\frac13,\frac16)$. Now the second token comes. The loss is
$-\ln\frac13=\ln3$.

\medskip
How does the loss change with each logit? Write $L=\ln(e^{z_1}+e^{z_2}+e^{z_3})-z_2$ and differentiate:
$\partial L/\partial z_i=p_i$, less 1 for the token that came,
$$dz=\left(\tfrac12,\ \tfrac13-1,\ \tfrac16\right)=\left(\tfrac12,\,-\tfrac23,\,\tfrac16\right).$$
The three add up to 0: what one token gains the others lose. Each row of the head was multiplied by
$h$, so its gradient is $dz_i\,h$: the first row gets $(\frac12,1)$, the second
$(-\frac23,-\frac43)$, the third $(\frac16,\frac13)$. A small step \emph{against} the gradient raises
the row of the token that came and lowers the others, the likelier ones more.
\end{byhand}

@ That is one layer of it. The rest of this appendix carries the same rule through
attention, norms and gates, for every token of every row. The program prints what the hand has just found,
checks the gradients of a small network against differences, and asks the finished model two
questions; with |"values"| it prints the numbers that the prose quotes, with other words the data of
the figures. |"train"| trains a model, |"check"| examines it.

@c
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "02-model/forward.h"
#include "A6-kernels/numbers.h"
#include "A1-training/publish.h"
@<Train@>@;
@<The whole examination@>@;
@<What the checkpoint shows@>@;
@<Main@>@;

@ @<Main@>=
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "train") == 0) return train(argc - 2, argv + 2);
  if (strcmp(what, "check") == 0) return examine();
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "loss") == 0) return print_loss();
  if (strcmp(what, "fork") == 0) return print_fork();
  if (strcmp(what, "positions") == 0) return print_positions();
  return print_checkpoint();
}

@* A grammar that remembers. \label{sec:corpus}
A table of words with weights, and a rule that says which word may come next: that is all a
source needs to be, and its entropy can be added up choice by choice. Ours has one thing more. It
remembers: who the hero is, what was lost, which variable holds the number. Without that there would
be nothing for attention to do.

The header shows texts and choices; how they are made is nobody else's business.

@(corpus.h@>=
#ifndef INCIPIT_CORPUS_H
#define INCIPIT_CORPUS_H
#include "00-ground/ground.h"
@<What the grammar offers@>@;
#endif

@ A text comes with its choices, each with its chance, because later sections ask of them whether
one was silent, which alternatives were ever reached, and how surprising the text is altogether.
@<What the grammar offers@>=
enum { PASSAGE_ROOM = 8192, PASSAGE_CHOICES = 1024 };
enum text_sort { TALE, HOME, CHRONICLE, CODE, TALK, N_SORTS };
  /* the five sorts of text: the first three are stories of the kingdom */
enum { SEED_TOKENIZER = 1, SEED_TRAINING = 2, SEED_HELD_OUT = 3 };
  /* texts of different seeds have different streams of random numbers */
struct choice { uint16_t drawn, taken; uint32_t weight, total; };
  /* alternative number |taken| of table |drawn| was taken with chance |weight/total| */
struct passage {
  char words[PASSAGE_ROOM]; size_t length; double bits; unsigned sort;
  struct choice choices[PASSAGE_CHOICES]; size_t n_choices;
};
  /* one text, ended by a zero byte that does not count; the sum of
     $-\log_2$ of the chances of its choices;
     and the choices themselves */
struct grammar;
struct grammar *grammar_open(struct memory *m, struct error *why);
  /* the grammar of this appendix, read from its tables; owned by the caller */
void grammar_close(struct memory *m, struct grammar *g);
  /* returns its memory; null is nothing */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number,
  struct passage *out, struct error *why);
  /* text |number| of |seed|: the same on every machine */
bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n,
  struct passage *out, struct error *why);
  /* a text whose first |n| choices are given (one that is not allowed is
     replaced by a fresh one); the rest are those of seed 0 */
size_t grammar_tables(const struct grammar *g);
  /* how many tables there are */
const char *grammar_table(const struct grammar *g, size_t number,
  size_t i,
  size_t *length, uint32_t *weight);
  /* alternative |i| of a table, with its length and weight; null if there is
     none; the name of the table for |i == SIZE_MAX| */

@ All alternatives of all tables stand in one array, and a table is a piece of it. The words
themselves stay where the compiler put them; nothing is copied.
@<What a grammar holds@>=
struct alternative { const char *words; uint32_t length, weight; };
struct table { const char *name; uint32_t name_length, first, count;
bool once; };
struct grammar {
  struct table *tables; size_t n_tables;
  struct alternative *alternatives; size_t n_alternatives;
};

@ A table is one string. Reading it twice, first to count and then to fill, spares us a list that
grows; the bar between alternatives and the per cent sign of a weight are its whole syntax.
@<Read one table's text into its alternatives@>=
static size_t read_table(const char *s, struct table *t,
  struct alternative *a)
{
  size_t n = strcspn(s, ":"), count = 0;
  t->once = s[n - 1] == '~';
  t->name = s, t->name_length = (uint32_t) (n - t->once);
  for (s += n + 2;; s++) {
    uint32_t weight = 1;
    if (*s == '%') {
      weight = 0;
      for (s++; *s >= '0' && *s <= '9';
      s++) weight = 10 * weight + (uint32_t) (*s - '0');
      s += *s == ' ';
    }
    n = strcspn(s, "|");
    if (a != NULL) a[count] = (struct alternative)
      @[{ s, (uint32_t) n, weight }@];
    count++, s += n;
    if (*s == '\0') break;
  }
  t->count = (uint32_t) count;
  return count;
}

@ A text makes dozens of choices, and each looks its table up by name. The
tables are kept in the order of their names, so eight comparisons find any of them.
@<Find a table by its name@>=
static const struct table *find_table(const struct grammar *g,
  const char *name,
  size_t length)
{
  size_t low = 0, high = g->n_tables;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int c = compare_names(&g->tables[middle], name, length);
    if (c == 0) return &g->tables[middle];
    if (c < 0) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

@ Names in the grammar are not ended by a zero byte but by a colon or a bracket, so they are
compared with their lengths. The same comparison puts them in order.
@<Compare a table's name with another name@>=
static int compare_names(const struct table *t, const char *name,
  size_t length)
{
  size_t n = t->name_length < length ? t->name_length : length;
  int c = memcmp(t->name, name, n);
  return c != 0 ? c : t->name_length < length ? -1
    : t->name_length > length;
}
@#
static int order_of_tables(const void *a, const void *b)
{
  const struct table *t = b;
  return compare_names(a, t->name, t->name_length);
}

@ Opening counts first, takes two blocks, and fills them. If the second is refused the first goes
back; a caller never gets half a grammar.
@<Open the grammar@>=
struct grammar *grammar_open(struct memory *m, struct error *why)
{
  size_t n = 0, count = 0;
  struct table t;
  for (size_t i = 0; i < N_KINDS; i++)
    for (const char *const *s = kinds[i]; *s != NULL; s++)
      n++, count += read_table(*s, &t, NULL);
  struct grammar *g = memory_take(m, FOR_TRAINING, 1, sizeof *g, why);
  if (g == NULL) return NULL;
  g->n_tables = n, g->n_alternatives = count;
  g->tables = memory_take(m, FOR_TRAINING, n, sizeof *g->tables, why);
  if (g->tables != NULL) g->alternatives =
    memory_take(m, FOR_TRAINING, count, sizeof *g->alternatives, why);
  if (g->alternatives == NULL) {
    grammar_close(m, g);
    return NULL;
  }
  @<Read all tables, and put them in the order of their names@>@;
  return g;
}

@ The arrays of tables are written in the order in which a reader wants them, kind by kind. The
search wants them by name, so they are sorted once, here.
@<Read all tables, and put them in the order of their names@>=
n = count = 0;
for (size_t i = 0; i < N_KINDS; i++)
  for (const char *const *s = kinds[i]; *s != NULL; s++) {
    g->tables[n].first = (uint32_t) count;
    count += read_table(*s, &g->tables[n], g->alternatives + count);
    n++;
  }
qsort(g->tables, n, sizeof *g->tables, order_of_tables);

@ Closing returns three blocks with the sizes that they were taken with, and works on a grammar
that was only half opened, too.
@<Close the grammar@>=
void grammar_close(struct memory *m, struct grammar *g)
{
  if (g == NULL) return;
  memory_give(m, FOR_TRAINING, g->tables, g->n_tables, sizeof *g->tables);
  memory_give(m, FOR_TRAINING, g->alternatives, g->n_alternatives,
    sizeof *g->alternatives);
  memory_give(m, FOR_TRAINING, g, 1, sizeof *g);
}

@ The number of tables, and below the tables themselves, are there for tests and for the
examination at the end of this appendix: they ask whether every alternative is ever written.
@<Close the grammar@>=
size_t grammar_tables(const struct grammar *g)
{
  return g->n_tables;
}

@ A table can be read from outside without knowing how it is stored. Asking for an alternative
that there is none of ends the list, and a number larger than any asks for the name.
@<Close the grammar@>=
const char *grammar_table(const struct grammar *g, size_t number,
  size_t i,
  size_t *length, uint32_t *weight)
{
  const struct table *t = &g->tables[number];
  if (i == SIZE_MAX) {
    *length = t->name_length;
    return t->name;
  }
  if (i >= t->count) return NULL;
  const struct alternative *a = &g->alternatives[t->first + i];
  *length = a->length, *weight = a->weight;
  return a->words;
}

@ A scribe is one text on its way: where it has got to, what it remembers, which alternatives of
tables with a tilde are used up, and the first fault. A script replaces the dice where it has an entry.
@<A text that is being written@>=
enum { MEMORIES = 64, KEY_ROOM = 8, VALUE_ROOM = 160, ONCE_TABLES = 256 };
struct remembered { char key[KEY_ROOM]; char value[VALUE_ROOM];
size_t length; };
struct scribe {
  const struct grammar *g;
  struct passage *out;
  uint64_t dice;
  const uint16_t *script; size_t n_script;
  struct remembered memories[MEMORIES]; size_t n_memories;
  uint64_t used[ONCE_TABLES];
  const char *fault; size_t fault_length;
};

@ The die is the generator called splitmix, which turns a counter into noise with two
multiplications. Numbers beyond the last whole multiple of $n$ are thrown again, so that no side is
favoured; the upper half of the bits is used.
@^random numbers@>
@<Throw a die with |n| sides@>=
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

@ A grammar is written by hand, and hands slip: a table that is not there, a key that was never
remembered. The first such fault is kept with its words, and everything above gives up quietly.
@<Complain of the grammar@>=
static bool fault(struct scribe *s, const char *what, size_t length)
{
  if (s->fault == NULL) s->fault = what, s->fault_length = length;
  return false;
}

@ The last thing remembered under a key counts. A key may begin with a capital where it is used,
which is how a sentence asks for a capital letter; it is the same key.
@<Recall what is remembered under a key@>=
static struct remembered *recall(struct scribe *s, const char *key,
  size_t length)
{
  for (size_t i = s->n_memories; i-- > 0;) {
    struct remembered *r = &s->memories[i];
    if (strlen(r->key) == length && lower(key[0]) == r->key[0]
      && memcmp(r->key + 1, key + 1, length - 1) == 0) return r;
  }
  return NULL;
}

@ Two functions of one line each, because those of the C library ask the locale, and a corpus
that depends on the locale is not the same everywhere.
@<Lower and upper case of ASCII@>=
static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
}
@#
static char upper(char c)
{
  return c >= 'a' && c <= 'z' ? (char) (c - 32) : c;
}

@ All writing goes through this function, so it is the only place that has to look at the end of
the room. One byte is left for the zero that ends the text.
@<Put words into the text@>=
static bool put(struct scribe *s, const char *words, size_t n)
{
  struct passage *p = s->out;
  if (n >= sizeof p->words - p->length) return fault(s, words, n);
  memcpy(p->words + p->length, words, n);
  p->length += n;
  return true;
}

@ What is remembered may have several fields: a princess comes with ``she'', ``her'' and
``her'', a lost bell with what is wrong without it. The number behind the dot says which is meant.
@<Write a field of what is remembered@>=
static bool put_field(struct scribe *s, const char *key, size_t length)
{
  size_t k = 0, field = 0;
  while (k < length && key[k] != '.') k++;
  if (k < length) field = (size_t) (key[length - 1] - '0');
  struct remembered *r = recall(s, key, k);
  if (r == NULL) return fault(s, key, length);
  const char *v = r->value, *end = r->value + r->length;
  for (; field > 0; field--) {
    v = memchr(v, ';', (size_t) (end - v));
    if (v++ == NULL) return fault(s, key, length);
  }
  const char *stop = memchr(v, ';', (size_t) (end - v));
  size_t at = s->out->length;
  if (!put(s, v, (size_t) ((stop != NULL ? stop : end) - v)))
    return false;
  if (key[0] != lower(key[0])) s->out->words[at] =
    upper(s->out->words[at]);
  return true;
}

@ Two things forbid an alternative: that it was used before, in a table with a tilde; and that
it is named as an exception, by its first field, which is what a reader sees of it.
@<May alternative |i| be taken?@>=
static bool may_take(struct scribe *s, const struct table *t, uint32_t i,
  const char *but, size_t length)
{
  if (t->once && (s->used[t - s->g->tables] >> i & 1) != 0) return false;
  const struct alternative *a = &s->g->alternatives[t->first + i];
  for (size_t k = 0; k < length;) {
    size_t n = 1;
    while (k + n < length && but[k + n] != '-') n++;
    struct remembered *r = recall(s, but + k + 1, n - 1);
    if (r == NULL) return fault(s, but, length);
    size_t w = field_length(a->words, a->length);
    if (w == field_length(r->value, r->length)
      && memcmp(a->words, r->value, w) == 0) return false;
    k += n;
  }
  return true;
}

@ The first field ends at the first semicolon, or at the end. It is what is shown when something
is both remembered and written.
@<The length of the first field@>=
static size_t field_length(const char *words, size_t n)
{
  const char *stop = memchr(words, ';', n);
  return stop != NULL ? (size_t) (stop - words) : n;
}

@ This is where entropy comes from. The alternatives that are allowed are added up, one is
taken, and $-\log_2$ of its share is added to the bits of the text. The choice is noted down.
@<Choose an alternative, and account for the choice@>=
static const struct alternative *choose(struct scribe *s,
  const struct table *t,
  const char *but, size_t length)
{
  const struct alternative *a = s->g->alternatives + t->first;
  struct passage *p = s->out;
  bool may[64];
  uint32_t total = 0, i = 0;
  for (i = 0; i < t->count; i++)
    if ((may[i] = may_take(s, t, i, but, length))) total += a[i].weight;
  if (total == 0 || p->n_choices == PASSAGE_CHOICES) {
    fault(s, t->name, t->name_length);
    return NULL;
  }
  @<Let |i| be the alternative of the script, or else of the die@>@;
  p->choices[p->n_choices++] = (struct choice)
    @[{ (uint16_t) (t - s->g->tables),
    (uint16_t) i, a[i].weight, total }@];
  p->bits += log2_of(total) - log2_of(a[i].weight);
  if (t->once) s->used[t - s->g->tables] |= UINT64_C(1) << i;
  return &a[i];
}

@ A scripted choice is taken if it is allowed. The die is thrown only where there is no script,
so replaying a whole script uses no random number at all.
@<Let |i| be the alternative of the script, or else of the die@>=
if (p->n_choices < s->n_script && s->script[p->n_choices] < t->count
  && may[s->script[p->n_choices]])
  i = s->script[p->n_choices];
else {
  uint32_t r = throw_die(s, total);
  for (i = 0; !may[i] || r >= a[i].weight; i++)
    if (may[i]) r -= a[i].weight;
}

@ Filling a slot is the heart of the scribe. The slot is first written itself, since it may
contain braces, as in |"[name.{h.1}]"|; then it is read as a key, a table and exceptions; then
one alternative is written in its place.
@<Fill a slot@>=
static bool fill_slot(struct scribe *s, const char *slot, size_t length)
{
  char name[64];
  size_t at = s->out->length, n = 0, key = 0;
  if (!expand(s, slot, length)) return false;
  n = s->out->length - at;
  if (n >= sizeof name) return fault(s, slot, length);
  memcpy(name, s->out->words + at, n);
  name[n] = '\0', s->out->length = at;
  @<Split the slot into key, table and exceptions@>@;
  const struct table *t = find_table(s->g, from, end);
  if (t == NULL || t - s->g->tables >= ONCE_TABLES || t->count > 64)
    return fault(s, slot, length);
  const struct alternative *a = choose(s, t, from + end,
    strlen(from + end));
  if (a == NULL || !expand(s, a->words, a->length)) return false;
  @<Remember what was written, and show its first field@>@;
  return true;
}

@ A colon remembers and shows, an equals sign remembers silently, and a capital key or a caret
asks for a capital letter. What stands behind a hyphen is an exception.
@<Split the slot into key, table and exceptions@>=
while (name[key] != '\0' && name[key] != ':' && name[key] != '=') key++;
bool silent = name[key] == '=', shout = name[0] != lower(name[0])
  || name[0] == '^';
if (name[key] == '\0') key = 0;
const char *from = key > 0 ? name + key + 1 : name + shout;
size_t end = strcspn(from, "-");

@ What has been written is also what is remembered, fields and all. Then the text is cut back to
the first field, or to nothing if the key was a silent one.
@<Remember what was written, and show its first field@>=
char *v = s->out->words + at;
n = s->out->length - at;
if (key > 0) {
  struct remembered *r = recall(s, name, key);
  if (r == NULL) {
    if (s->n_memories == MEMORIES) return fault(s, slot, length);
    r = &s->memories[s->n_memories++];
  }
  if (key >= KEY_ROOM || n > VALUE_ROOM) return fault(s, slot, length);
  memcpy(r->key, name, key), r->key[key] = '\0', r->key[0] =
    lower(name[0]);
  memcpy(r->value, v, n), r->length = n;
}
s->out->length = at + (silent ? 0 : field_length(v, n));
if (shout && s->out->length > at) v[0] = upper(v[0]);

@ Words are copied byte by byte until a bracket comes. The two functions above and this one call
each other, so an alternative can contain slots whose alternatives contain slots; the depth is that
of the grammar.
@<Write what an alternative says@>=
static bool expand(struct scribe *s, const char *words, size_t n)
{
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    char c = words[i];
    bool twice = i + 1 < n && words[i + 1] == c;
    if (strchr("[]{}", c) != NULL && twice) ok = put(s, &words[i++], 1);
    else if (c == '{') {
      size_t k = strcspn(words + i, "}");
      ok = put_field(s, words + i + 1, k - 1), i += k;
    }
    else if (c == '[') {
      size_t k = strcspn(words + i, "]");
      ok = fill_slot(s, words + i + 1, k - 1), i += k;
    }
    else ok = put(s, c == '`' ? "\"" : &words[i], 1);
  }
  return ok;
}

@ A text is the slot |"text"| filled once. The scribe lies on the stack, memories and all,
so writing a text asks for no memory and cannot fail for want of it.
@<Write a whole text@>=
static bool write_text(const struct grammar *g, uint64_t dice,
  const uint16_t *script, size_t n_script, struct passage *out,
    struct error *why)
{
  struct scribe s;
  memset(&s, 0, sizeof s);
  s.g = g, s.out = out, s.dice = dice, s.script = script, s.n_script =
    n_script;
  out->length = out->n_choices = 0, out->bits = 0;
  bool ok = fill_slot(&s, "text", 4);
  out->words[out->length] = '\0';
  out->sort = ok ? out->choices[0].taken : 0;
  return ok || error_say(why, "the grammar: %.*s has no place or no meaning",
    (int) s.fault_length, s.fault);
}

@ Seed and number are stirred together, so that text 5 of one seed has nothing to do with text
5 of another, and any text can be written without those before it. A replay begins with seed 0.
@<Write a whole text@>=
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number,
  struct passage *out, struct error *why)
{
  uint64_t z = (seed << 40 ^ number) * UINT64_C(0x2545f4914f6cdd1d);
  return write_text(g, z ^ z >> 29, NULL, 0, out, why);
}
@#
bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n,
  struct passage *out, struct error *why)
{
  return write_text(g, 0, taken, n, out, why);
}

@ The chances are fractions of small integers, so a series that converges for every one of them is
enough. It is this book's own, because the logarithms of C libraries differ in their last bits.
@<The binary logarithm of a small whole number@>=
static double log2_of(uint32_t n)
{
  double whole = 0, x = n, power = 1, sum = 0;
  while (x >= 1.5) x /= 2, whole++;
  double y = (x - 1) / (x + 1);
  for (int k = 1; k < 48; k += 2, power *= y * y) sum += power * y / k;
  return whole + 2 * sum / 0.69314718055994530942;
}

@ The pieces follow in the order in which they are needed.
@(corpus.c@>=
#include <stdlib.h>
#include <string.h>
#include "A1-training/corpus.h"
@<The tables of the grammar@>@;
@<What a grammar holds@>@;
@<Compare a table's name with another name@>@;
@<Read one table's text into its alternatives@>@;
@<Find a table by its name@>@;
@<Close the grammar@>@;
@<Open the grammar@>@;
@<A text that is being written@>@;
@<Throw a die with |n| sides@>@;
@<The binary logarithm of a small whole number@>@;
@<Write texts@>@;

@ The functions of the scribe in the order in which they need each other.
@<Write texts@>=
@<Lower and upper case of ASCII@>@;
@<Complain of the grammar@>@;
@<Put words into the text@>@;
@<Recall what is remembered under a key@>@;
@<Write a field of what is remembered@>@;
@<The length of the first field@>@;
@<May alternative |i| be taken?@>@;
@<Choose an alternative, and account for the choice@>@;

@ Slots contain words and words contain slots; one of the two functions has to be announced before
it is defined.
@<Write texts@>=
static bool expand(struct scribe *s, const char *words, size_t n);
@<Fill a slot@>@;
@<Write what an alternative says@>@;
@<Write a whole text@>@;

@* The tables of the grammar. \label{sec:grammartables}
The notation fits on a page. A table is one string: its name, a colon, and its
alternatives with bars between them; |"%4 "| before an alternative is its weight, and 1 goes
without saying. In an alternative,

\smallskip
\begin{tabular}{@@{}p{25mm}p{74mm}@@{}}
|"[t]"| & writes one alternative of table $t$\\
|"[k:t]"| & writes one, and remembers it as $k$; with |"="| it remembers only\\
|"[t-k]"| & never the alternative remembered as $k$\\
|"{k}"|, |"{k.2}"| & recalls what is remembered; field 0, field 2\\
|"[^t]"|, |"{K}"| & begin with a capital letter, and so does |"[K:t]"|\\
|"[t.{k}]"| & the braces come first: what is remembered selects a table
\end{tabular}
\smallskip

Fields are separated by semicolons, a grave accent stands for a quotation mark, doubled
brackets for themselves, and a tilde behind the name means that no alternative is used
twice in one text. The rest is text.

@ The root of the grammar is the table |"text"|. Its weights are set so that each of the
three kinds has about a third of the \emph{tokens}: a story of the kingdom is longer than a
chronicle, and a dialogue longer than both are on the average.
@<Five sorts of text, and how often@>=
static const char *const root[] = @[{@|
  "text: %12 [tale]|%25 [home]|%38 [chronicle]|"@|
    "%44 [code]|%58 [talk]",
  NULL }@];

@ Most of the surprise in a text is not in its plot but in its words: which colour, which
food, how a thing was said. These small tables are where nearly half of all bits are spent.
Their weights are uneven on purpose. Where every colour is as likely as the others, there
is nothing for a temperature to sharpen. No word that may follow ``a'' begins with a vowel,
which spares us a rule of English.
@<Words that every kind of text uses@>=
static const char *const words_common[] = @[{@|
  "says: %6 said|%4 whispered|%2 cried|%2 laughed|"@|
    "sighed|sang",@|
  "how: %5 |%2  softly|%2  quietly| at last| with "@|
    "a smile| in a [tone] voice",@|
  "tone: %3 low|%2 small|%2 kind|deep",@|
  "replies: %5 answered|%4 replied|%2 said|"@|
    "whispered",@|
  "colour: %4 red|%3 blue|%3 green|%2 white|%2 "@|
    "black|%2 yellow|silver|brown|grey|golden|pink|"@|
    "purple",@|
  "count: %5 three|%4 two|%3 seven|%2 four|%2 "@|
    "nine|five",@|
  "food: %4 milk|%3 cheese|%3 soup|%2 fresh bread|"@|
    "%2 honey cake|%2 [colour] plums|pancakes|warm "@|
    "porridge",@|
  "small: %4 ball|%3 hat|%3 button|%2 kite|%2 "@|
    "spoon|bucket|ribbon|teapot|drum|sock",@|
  "mild: %4 quiet|%3 dark|%3 cold|%2 warm|%2 "@|
    "strange|%2 pale|lonely|gentle|wild|dusty|"@|
    "silent|bright",@|
  "land: %4 hills|%3 trees|%3 fields|%2 meadow|%2 "@|
    "valley|%2 rocks|reeds|roofs|dunes|marsh",
  NULL }@];

@ Smells, wild animals and moods are shared by stories and dialogues. A word that stands in many
kinds of text is seen often, and so becomes one token.
@<Words that every kind of text uses@>=
static const char *const words_common_2[] = @[{@|
  "smell: %4 rain|%3 snow|%3 apples|%2 smoke|%2 "@|
    "honey|salt|mint|hay|roses|bread",@|
  "wild: %4 stork|%3 deer|%3 wolf|%2 lark|%2 goat|"@|
    "cuckoo|sheep|peacock|donkey|raven",@|
  "manner: %6 tiny|%4 shy|%3 grey|%3 white|%2 fat|"@|
    "%2 proud|%2 sleepy|clever|wet|brown|friendly|"@|
    "very old",@|
  "feel: %4 happy|%3 sleepy|%3 hungry|%2 proud|%2 "@|
    "lonely|bored|content|a little cross",@|
  "daypart: %4 morning|%3 evening|%2 afternoon",@|
  "ruler: %3 king|%2 queen",
  NULL }@];

@ A tale has a hero, something lost, one to three journeys with a helper each, and an end.
The hero's three pronouns are remembered with the role, the name is drawn from a table that
the pronoun selects, and from then on nearly every sentence calls the hero by name. That is
meant for the model: a name that comes back often is learnt early.
@<The plot of a tale@>=
static const char *const tale_plot[] = @[{@|
  "tale: %5 [open] [trait] [lack]\n[decide] "@|
    "[cycle] [found]\n[back] [end]|%3 [open] "@|
    "[trait] [lack]\n[decide] [cycle] "@|
    "[notyet]\n[cycle] [found]\n[back] [end]|%2 "@|
    "[open] [trait] [trait] [lack]\n[decide] "@|
    "[cycle] [notyet]\n[cycle] [notyet]\n[cycle] "@|
    "[found]\n[back] [end]",@|
  "open: %6 Once upon a time, in a [realmkind] "@|
    "kingdom, there lived [hero].|%2 In a "@|
    "[realmkind] kingdom by the [water], there "@|
    "lived [hero].|Long ago, in a [realmkind] "@|
    "kingdom beyond the [land], there lived [hero].",@|
  "hero: %3 a [good] [h:role] named "@|
    "[name:name.{h.1}]|%2 a [h:role] named "@|
    "[name:name.{h.1}]",@|
  "cycle: %3 [journey] [scene] [scene] [meet] "@|
    "[favour]\n[onward] [scene] [obstacle.{gift.1}]|"@|
    "%2 [journey] [scene] [scene] [meet] "@|
    "[favour]\n[onward] [obstacle.{gift.1}]|%2 "@|
    "[journey] [scene] [meet] [favour]\n[onward] "@|
    "[scene] [obstacle.{gift.1}]",
  NULL }@];

@ Roles decide pronouns, and pronouns decide names. A model that writes ``she'' of a princess has
learnt the third field of a table that it has never seen.
@<The plot of a tale@>=
static const char *const tale_plot_2[] = @[{@|
  "realmkind: %6 small|%3 quiet|%2 green|snowy|"@|
    "sleepy|merry",@|
  "water: %5 sea|%2 lake|river",@|
  "good: %5 brave|%4 kind|%3 clever|%2 curious|%2 "@|
    "young|cheerful|patient|dreamy",@|
  "role: %4 princess;she;her;her|%4 "@|
    "prince;he;him;his|%2 girl;she;her;her|%2 "@|
    "boy;he;him;his|queen;she;her;her|"@|
    "king;he;him;his|baker;she;her;her|"@|
    "miller;he;him;his|weaver;she;her;her|"@|
    "sailor;he;him;his",@|
  "name.she: %3 Mira|%3 Elena|%2 Anna|%2 Rosa|%2 "@|
    "Clara|%2 Nora|Ida|Lily|Ella|Julia|Maria|Sophie",@|
  "name.he: %3 Tom|%3 Leo|%2 Hugo|%2 Felix|%2 "@|
    "Oscar|%2 Emil|Paul|Ben|Adam|Jonas|Simon|Robin",
  NULL }@];

@ Twelve things can be lost. Each is remembered with three more fields: its short name, what
is wrong without it, and what is right again in the end. The second is told at once, the
fourth much later; only a model that looks back can know which it is.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble[] = @[{@|
  "trait~: {name} loved the [lovely] and was "@|
    "never afraid of the [scary].|Everyone knew "@|
    "{name}, because {h.1} always had [pocket] in "@|
    "{h.3} pocket.|Every [daypart] {name} greeted "@|
    "the [lovely].|People said that {name} had the "@|
    "warmest heart in the kingdom.|{name} lived in "@|
    "a [colour] house with [count] windows.|{name} "@|
    "was not rich, but {h.1} had [pocket] and a "@|
    "good friend, the [scary].|When {name} laughed, "@|
    "the [lovely] seemed to laugh too.|{name} owned "@|
    "nothing but [pocket], and that was enough for "@|
    "{h.2}.",@|
  "lovely: %4 birds|%3 wind|%3 moon|%2 river|%2 "@|
    "rain|garden|bees|stars|sea|old clock",@|
  "scary: %4 dark|%3 thunder|%2 old dragon|%2 "@|
    "night|grey wolf|north wind|giant next door",@|
  "pocket: %3 an apple|%3 a button|%2 [count] "@|
    "nuts|%2 a [colour] feather|a smooth stone|a "@|
    "piece of string|a little flute|a crust of bread",
  NULL }@];

@ How the loss is found out, and who is to blame. The thing is remembered as |g| here, at its
first mention; four of the five sentences tell at once what is wrong without it.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble_2[] = @[{@|
  "lack: %4 [when] [g:goal] was gone. Without it, "@|
    "{g.2}.|%3 [when] [thief] stole [g:goal], and "@|
    "now {g.2}.|%2 But one thing was wrong. Someone "@|
    "had lost [g:goal], and {g.2}.|%2 [when] the "@|
    "[ruler] called all the people together. "@|
    "`[G:goal] is lost,` [says] the old ruler[how]. "@|
    "`Without it, {g.2}.`",@|
  "when: %4 One [daypart]|%3 One day|%2 One "@|
    "[mild] night|In the spring|On the day of the "@|
    "great feast",@|
  "thief: %3 a [colour] dragon|%2 a thief in a "@|
    "[colour] cloak|%2 the north wind|a greedy "@|
    "magpie|a [colour] witch|a lonely giant",
  NULL }@];

@ Each of these entries is a small story in four fields. The last field is not used before the
end of the tale, several paragraphs later.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble_3[] = @[{@|
  "goal: %3 the silver bell;bell;nobody knew when "@|
    "to wake up;the bell rang in the tower every "@|
    "morning|%3 the golden key;key;the gate of the "@|
    "castle would not open;the gate of the castle "@|
    "stood open|%2 the moon lamp;lamp;the nights "@|
    "were as black as ink;the nights were bright "@|
    "and soft|%2 the queen's crown;crown;the queen "@|
    "could not smile;the queen smiled from ear to "@|
    "ear|%2 the oldest book;book;nobody could "@|
    "remember the good stories;there was a story "@|
    "for everyone at bedtime|the rain "@|
    "flute;flute;no rain fell on the fields;rain "@|
    "fell softly on the fields|the king's left "@|
    "boot;boot;the king had to hop on one foot;the "@|
    "king danced on both his feet|the star "@|
    "map;map;the sailors could not find their way "@|
    "home;the sailors came home singing|the winter "@|
    "quilt;quilt;the children could not sleep for "@|
    "cold;the children slept as warm as kittens|the "@|
    "rose seed;seed;nothing would bloom in the "@|
    "gardens;the gardens were full of roses|the "@|
    "magic kettle;kettle;there was no tea in the "@|
    "whole land;there was hot tea for everyone|the "@|
    "sun stone;stone;the snow would not melt;the "@|
    "snow melted and the brooks began to sing",
  NULL }@];

@ The road is made of places, weather and walking. Two of its tables call themselves:
after ``on and on'' another ``and on'' follows with a chance of four in five, however many
there were. A greedy writer, who takes the likeliest way each time, never gets out again.
@<On the road@>=
static const char *const tale_road[] = @[{@|
  "decide: %4 `I will find the {g.1},` [says] "@|
    "{name}[how], and {h.1} [setout].|%3 {name} "@|
    "thought about it all night. At sunrise {h.1} "@|
    "[setout].|%2 The wise men shook their heads, "@|
    "but {name} put on {h.3} [colour] coat and "@|
    "[setout].|%2 `Somebody must go,` [says] "@|
    "{name}[how]. `Why not me?` So {h.1} [setout].|"@|
    "Nobody else dared to go. So {name} took "@|
    "[pocket] and [setout].|{name} kissed {h.3} "@|
    "mother goodbye and [setout].",@|
  "setout: %4 set out|%3 set out for the [far]|%2 "@|
    "went through the gate|%2 walked away towards "@|
    "the [far]|rode away on a [colour] pony",@|
  "far: %4 mountains|%3 great forest|%2 north|"@|
    "south|edge of the world|sea",
  NULL }@];

@ A journey ends at a place, which is remembered, because the helper will be found near it. The
table that calls itself stands in this group.
@<On the road@>=
static const char *const tale_road_2[] = @[{@|
  "journey: %4 {name} [walked] [along] until "@|
    "{h.1} [came] [p:place].|%3 The road went "@|
    "[along] and led {name} to [p:place].|%2 For "@|
    "[count] days {name} saw nobody. Then {h.1} "@|
    "[came] [p:place].|%2 The sun rose and the sun "@|
    "set, and at last {name} stood before "@|
    "[p:place].|It rained, and {name} sang. It "@|
    "snowed, and {h.1} sang louder. So {h.1} [came] "@|
    "[p:place].|{name} asked a [colour] butterfly "@|
    "for the way, and the butterfly led {h.2} to "@|
    "[p:place].",@|
  "walked: %5 walked|%3 wandered|%2 marched|"@|
    "hurried|strolled",@|
  "along: %3 up and down|%2 over the [land]|%2 "@|
    "through the [land]|%2 on and on[onandon]",@|
  "onandon: %8  and on[onandon]|%2",@|
  "came: %4 came to|%3 reached|%2 found|arrived at",
  NULL }@];

@ Scenery comes from sentence frames with three slots each. A dozen frames and some ten words in
a slot make more scenes than a model of this size could learn by heart.
@<On the road@>=
static const char *const tale_road_3[] = @[{@|
  "place: %4 a [mild] forest;forest|%3 a [mild] "@|
    "lake;lake|%2 a [mild] bridge;bridge|%2 a "@|
    "[mild] tower;tower|%2 a [mild] mill;mill|a "@|
    "[mild] garden;garden|a [mild] market;market|a "@|
    "[mild] well;well|a [mild] village;village|a "@|
    "[mild] beach;beach",@|
  "scene~: The [mild] wind sang in the [land].|A "@|
    "[mild] moon hung over the [land].|The [land] "@|
    "smelt of [smell] and [smell].|Somewhere a "@|
    "[mild] [wild] was calling.|[^count] [mild] "@|
    "birds flew over the [land].|The air tasted of "@|
    "[smell].|The [land] lay [mild] in the [light].|"@|
    "A [mild] cloud, shaped like a [wild], hung "@|
    "over the [land].|{name} saw a [mild] [wild] "@|
    "and a [manner] [wild].|{name} thought of "@|
    "[smell] and of the [mild] [land] at home.|"@|
    "{name} ate [food] and looked at the [mild] "@|
    "[land].|A [manner] [wild] flew from the [land] "@|
    "and sang of [smell].|Behind the [land] lay a "@|
    "[colour] [small], and {name} picked it up.",@|
  "light: %4 moonlight|%3 sunshine|%2 rain|snow|"@|
    "evening light",
  NULL }@];

@ Between two journeys the thing is not found. Each of these sentences names the thing or its
place again, which gives the model something to look back for.
@<On the road@>=
static const char *const tale_road_4[] = @[{@|
  "notyet~: But the {g.1} was not there.|But "@|
    "{name} did not find the {g.1}.|There {name} "@|
    "found a [colour] [small], but no {g.1}.|`Have "@|
    "you seen {g}?` asked {name}. `No,` [replies] "@|
    "the {a}[how].|There stood a sign with [count] "@|
    "arms, and all of them pointed to the [far].|"@|
    "There {name} slept under the stars and dreamt "@|
    "of {g}.",
  NULL }@];

@ Each journey meets an animal that needs help and gives something for it. What it asks,
what is done about it, and what it gives are three choices that hang together; the deed is
the second field of the need.
@<A helper in need@>=
static const char *const tale_help[] = @[{@|
  "meet: %4 There {name} met a [manner] "@|
    "[a:helper].|%3 Under a [mild] tree by the "@|
    "{p.1} sat a [manner] [a:helper].|%2 Near the "@|
    "{p.1} {name} heard a small voice. It was a "@|
    "[manner] [a:helper].|%2 By the {p.1} {h.1} "@|
    "found a [manner] [a:helper].|Suddenly a "@|
    "[manner] [a:helper] stood before {h.2}.",@|
  "helper~: %3 fox|%3 hedgehog|%2 badger|%2 swan|"@|
    "%2 mole|%2 heron|snail|otter|mouse|bear|goose|"@|
    "crow|frog|hare|squirrel",@|
  "favour: %4 `[plea]` [says] the {a}[how]. "@|
    "`[n:need].` {name} [adv]{n.1}. [thanks]|%3 The "@|
    "{a} looked unhappy. `[n:need],` it "@|
    "[says][how]. So {name} [adv]{n.1}. [thanks]|%3 "@|
    "`Why are you so sad?` asked {name}. "@|
    "`[n:need],` [replies] the {a}[how]. {name} "@|
    "[adv]{n.1}. [thanks]",@|
  "adv: %4 |%2 quickly |calmly |bravely |gently |"@|
    "quietly ",@|
  "plea: %3 Please help me!|%2 Oh, a friend at "@|
    "last!|%2 Stop, kind stranger!|Have you a "@|
    "moment?",
  NULL }@];

@ Need and deed are two fields of one alternative: whoever has no breakfast is given bread,
wherever in the paragraph the deed is told.
@<A helper in need@>=
static const char *const tale_help_2[] = @[{@|
  "need~: %3 My foot is caught in a thorn "@|
    "bush;pulled out the thorns one by one|%3 I "@|
    "have had no breakfast;shared {h.3} bread|%2 I "@|
    "cannot find my children;looked behind every "@|
    "stone until they were found|%2 I am so "@|
    "cold;gave up {h.3} warm scarf|%2 My house has "@|
    "no roof;built a roof of leaves and twigs|I "@|
    "have forgotten my song;hummed until the song "@|
    "came back|Nobody ever talks to me;stayed and "@|
    "talked until the moon rose|My nest has fallen "@|
    "from the tree;climbed up and put the nest back|"@|
    "There is a splinter in my foot;drew out the "@|
    "splinter|I cannot reach the plums;shook the "@|
    "tree until the plums fell down",
  NULL }@];

@ The gift is remembered under its own name. Its second field is the short word by which the
obstacle will be chosen, and the words of thanks vary so that the gift does not follow from them.
@<A helper in need@>=
static const char *const tale_help_3[] = @[{@|
  "thanks: %4 `Thank you,` [says] the {a}[how]. "@|
    "`Take this [magic] [colour] [gift:gift]. You "@|
    "will need it.`|%3 The {a} bowed. `Here is a "@|
    "[magic] [gift:gift],` it [says][how]. `Keep it "@|
    "well.`|%2 Then the {a} danced for joy and gave "@|
    "{name} a [magic] [colour] [gift:gift].|%2 `You "@|
    "are kind, {name},` [says] the {a}[how], and it "@|
    "brought a [magic] [gift:gift] out of a hollow "@|
    "tree.",@|
  "magic: %5 magic|%3 strange|%2 small|%2 shining|"@|
    "plain|very fine|wonderful",@|
  "gift~: %3 rope;rope|%3 lantern;lantern|%2 "@|
    "feather;feather|%2 loaf of bread;loaf|%2 "@|
    "mirror;mirror|pot of honey;honey|"@|
    "whistle;whistle|needle;needle|ball of wool;wool",@|
  "onward: %3 {name} thanked the {a} and went on.|"@|
    "%2 {name} waved to the {a} for a long time. "@|
    "Then {h.1} [walked] [along].|%2 The {a} showed "@|
    "{name} the way, and {h.1} [walked] [along].|%2 "@|
    "With the {gift.1} in {h.3} hand {name} went "@|
    "on.|{name} put the {gift.1} in {h.3} bag and "@|
    "followed the stars.",
  NULL }@];

@ A few words for the beginning of a sentence, shared by all obstacles below, and drawn each
time anew.
@<A helper in need@>=
static const char *const tale_help_4[] = @[{@|
  "soon: %4 Soon|%2 Before long|%2 At noon|After "@|
    "an hour|In the evening|All at once",
  NULL }@];

@ Here the table itself is selected by what is remembered: a hero who was given a rope meets
a valley or a cliff, never a torn sail. So the gift of one sentence decides what can happen
in the next paragraph.
@<Obstacles, each overcome by its gift@>=
static const char *const tale_obstacles[] = @[{@|
  "obstacle.rope: %3 [soon] {name} stood before a "@|
    "[mild] valley without a bridge. {H.1} "@|
    "[adv]tied the rope to a tree and swung across.|"@|
    "%2 The path ended at a [mild] cliff. {name} "@|
    "[adv]threw the rope over a rock and climbed "@|
    "up.|The road ended at a [mild] well. {name} "@|
    "[adv]climbed down the rope, deeper and deeper.",@|
  "obstacle.lantern: %3 [soon] {name} came to a "@|
    "cave as dark as a boot. {H.1} [adv]lit the "@|
    "lantern, and the shadows ran away.|%2 Fog rose "@|
    "and hid the [land]. {name} [adv]held the "@|
    "lantern high and found the way.|A thousand "@|
    "bats barred a [mild] door. They hated the "@|
    "lantern and flew away.",@|
  "obstacle.feather: %3 [soon] {name} came to a "@|
    "[mild] river without a ferry. {H.1} [adv]held "@|
    "up the feather, and the wind carried {h.2} "@|
    "across.|%2 A [mild] giant stood in the way. "@|
    "{name} [adv]tickled his nose with the feather "@|
    "until he fell over.",
  NULL }@];

@ A loaf of bread calms a hungry guard, a mirror turns a dragon's fire, honey occupies a bear.
The verb of each sentence names the gift once more.
@<Obstacles, each overcome by its gift@>=
static const char *const tale_obstacles_2[] = @[{@|
  "obstacle.loaf: %3 [soon] a [mild] giant stood "@|
    "in the way. {name} [adv]gave him the loaf, and "@|
    "he ate it and fell asleep.|%2 There was a "@|
    "forest where everyone got lost. {name} "@|
    "[adv]dropped crumbs of the loaf and always "@|
    "knew the way.|Grey wolves came out of the "@|
    "[land]. {name} [adv]broke the loaf into "@|
    "pieces, and the wolves ate like lambs.",@|
  "obstacle.mirror: %3 [soon] a [mild] troll "@|
    "jumped onto the road. {name} [adv]showed him "@|
    "the mirror, and the troll ran away from "@|
    "himself.|%2 A [colour] dragon breathed fire. "@|
    "{name} [adv]held up the mirror, and the fire "@|
    "flew back and burnt its beard.",@|
  "obstacle.honey: %3 [soon] {name} met a [mild] "@|
    "bear on a narrow bridge. {H.1} [adv]opened the "@|
    "honey, and the bear let {h.2} pass.|%2 A cloud "@|
    "of bees filled the [land]. {name} [adv]gave "@|
    "them the honey, and they hummed and were "@|
    "content.",
  NULL }@];

@ The last three gifts have obstacles of their own. Every gift has at least two, so the text is
not settled by the gift alone.
@<Obstacles, each overcome by its gift@>=
static const char *const tale_obstacles_3[] = @[{@|
  "obstacle.whistle: %3 [soon] {name} came to a "@|
    "wide lake. {H.1} [adv]blew the whistle, and "@|
    "[count] geese came and carried {h.2} over.|%2 "@|
    "Robbers jumped out of the [land]. {name} "@|
    "[adv]blew the whistle so loudly that they "@|
    "dropped their hats and fled.",@|
  "obstacle.needle: %3 [soon] {name} came to the "@|
    "sea, and the only boat had a torn sail. {H.1} "@|
    "[adv]took the needle and sewed it up.|%2 A "@|
    "[mild] giant wept, for his trousers were torn. "@|
    "{name} [adv]mended them with the needle, and "@|
    "he carried {h.2} over the [land].",@|
  "obstacle.wool: %3 [soon] {name} came to a maze "@|
    "of hedges. {H.1} [adv]let the wool run out and "@|
    "was never lost.|%2 A [colour] cat as big as a "@|
    "house lay across the road. {name} [adv]rolled "@|
    "the wool down the hill, and the cat ran after "@|
    "it.",
  NULL }@];

@ The thing is found, brought home, and puts right what was wrong without it. Half of the
last sentences look back as far as the first.
@<How a tale ends@>=
static const char *const tale_end[] = @[{@|
  "found: %3 And there, [where], lay {g}.|%3 "@|
    "[^where] {name} found {g} at last.|%2 Then "@|
    "{name} saw something shining [where]. It was "@|
    "{g}!|{name} looked [count] times before {h.1} "@|
    "saw {g} [where].",@|
  "where: %3 under a heap of leaves|%3 on a "@|
    "[colour] cushion|%2 in an empty nest|%2 behind "@|
    "a small door|between two old stones|under a "@|
    "sleeping [wild]|in a box of glass",@|
  "back: %3 {name} ran all the way home with the "@|
    "{g.1}.|%3 When {name} came home, the bells "@|
    "rang and the dogs barked.|%2 The wind carried "@|
    "{name} and the {g.1} back to the kingdom.|%2 "@|
    "All the people stood at the gate when {name} "@|
    "brought the {g.1} home.|`You have been away so "@|
    "long,` [says] the [ruler][how]. `I had to help "@|
    "the {a},` [says] {name}[how].",@|
  "end: %3 From that day on, {g.3}. [last]|%3 Now "@|
    "{g.3}, and the [ruler] thanked {name}. [last]|"@|
    "%2 Soon {g.3}. The people held a feast for "@|
    "[count] days. [last]|And so {g.3}, thanks to "@|
    "{name} and the {a}. [last]",
  NULL }@];

@ The last sentence may look back at the gift, the helper, the hero or at nothing. Only the first
choice is independent of the tale.
@<How a tale ends@>=
static const char *const tale_end_2[] = @[{@|
  "last: %4 And they lived happily ever after.|%2 "@|
    "And if you visit the kingdom, you can see the "@|
    "{gift.1} in a glass case.|%2 The {a} got a "@|
    "seat at the king's table.|%2 {name} and the "@|
    "{a} stayed friends for ever.|And {name} "@|
    "learned that a small kindness can open a big "@|
    "door.|And every year, on that day, the whole "@|
    "kingdom eats [food].|`It was nothing,` [says] "@|
    "{name}[how], and went to see what was for "@|
    "supper.",
  NULL }@];

@ The shortest stories are about an animal and its place, and the places rhyme. These are
the sentences from which the book's running example comes: after \tok{The cat sat} the
source goes on with \tok{\ on the mat.} eight times in ten. Three more tables here call
themselves; the wheel of the mill is the one that chapters 7 and 8 will try to stop.
@<At home with the cat@>=
static const char *const home_frame[] = @[{@|
  "home: %4 The [q:pet] [posture] [spot]. [mood] "@|
    "[comes] [plan]\n[problem] [solve] [homeend]|%3 "@|
    "The [q:pet] [posture] [spot]. [mood] [wish] "@|
    "[comes] [plan] [homeend]|%2 The [q:pet] "@|
    "[posture] [spot]. [mood] [mood] "@|
    "[comes]\n[plan] [plan] [problem] "@|
    "[solve]\n[homeend]",@|
  "posture: %7 sat|slept|waited|lay",@|
  "spot: %8 {q.1}|by the fire|[elsewhere]",@|
  "elsewhere: %3 in the sun|%2 at the window|"@|
    "under the table|near the gate",@|
  "pet: %9 cat;on the mat;mat|%3 dog;on the "@|
    "log;log|%2 hen;in the pen;pen|%2 fox;on the "@|
    "box;box|%2 goat;in the boat;boat|mouse;in the "@|
    "house;house|bear;on the chair;chair|bee;in the "@|
    "tree;tree|bug;on the rug;rug|duck;on the "@|
    "truck;truck|pig;by the fig;fig|crow;in the "@|
    "snow;snow|moth;on the cloth;cloth|lamb;by the "@|
    "jam;jam|toad;on the road;road",
  NULL }@];

@ The three tables that end in |on| call themselves with a chance of eight in ten. There is no
memory in that: however often the wheel went round, the next ``and round'' is as likely as the first.
@<At home with the cat@>=
static const char *const home_frame_2[] = @[{@|
  "mood~: %3 The {q.2} was [quality], and the {q} "@|
    "was [feel].|%3 It was a [weather] [daypart].|"@|
    "%3 It was [daypart] and the {q} was [feel].|%2 "@|
    "The {q} looked at the {q.2}. The {q.2} did not "@|
    "look back.|%2 The {q} thought about [food].|%3 "@|
    "Outside, the wheel of the mill went "@|
    "round[roundon].|%2 The {q} waited[waiton].|The "@|
    "clock said tick[tickon].|%2 Nobody else was "@|
    "there, only the {q} and a [colour] [small].|"@|
    "The {q} hummed a little song about [food].",@|
  "roundon: %8  and round[roundon]|%2",@|
  "waiton: %8  and waited[waiton]|%2",@|
  "tickon: %8 , tick[tickon]|%2",@|
  "quality: %4 soft|%3 warm|%3 old|%2 wet|%2 "@|
    "[colour]|big|small|full of crumbs",@|
  "weather: %4 rainy|%3 sunny|%2 cold|windy|warm|"@|
    "foggy",
  NULL }@];

@ The visitor is any animal but the first: |"[r:pet-q]"| is the table of pets without the
one remembered as |q|. A question is answered or replied to; what is no question is only
said, whispered or cried.
@<A visitor, and what is said@>=
static const char *const home_talk[] = @[{@|
  "wish: %3 The {q} wanted a [colour] [it:small]. "@|
    "It had always wanted a {it}.|%2 `I wish I had "@|
    "a [colour] [it:small],` [says] the {q}[how]. "@|
    "`A {it} would make me happy.`|Once there had "@|
    "been a [colour] [it:small], too. Now the {it} "@|
    "was gone.",@|
  "comes: %4 Then a [manner] [r:pet-q] came "@|
    "along.|%3 `Good [daypart], {q},` [says] a "@|
    "[manner] [r:pet-q][how].|%2 Somebody knocked. "@|
    "It was a [manner] [r:pet-q].|%2 A [manner] "@|
    "[r:pet-q] came by with a [colour] [small].|"@|
    "Just then a [manner] [r:pet-q] fell through "@|
    "the door.",
  NULL }@];

@ What two animals say to each other. Most of these frames bring back both animals and both
places, and a question is followed by an answer that fits it.
@<A visitor, and what is said@>=
static const char *const home_talk_2[] = @[{@|
  "plan~: %3 `Let us play,` [says] the {r}[how]. "@|
    "`What shall we play?` asked the {q}. "@|
    "`[^game],` [replies] the {r}[how].|%3 `May I "@|
    "sit {q.1} too?` asked the {r}. `[mayi],` "@|
    "[replies] the {q}[how].|%2 `What are you "@|
    "doing?` asked the {r}. `I am [doing],` "@|
    "[replies] the {q}[how].|%2 The {q} and the {r} "@|
    "played [game] until it was dark.|%2 `I have "@|
    "[food],` [says] the {r}[how]. `Good,` [says] "@|
    "the {q}[how]. `I have [food].`|%2 The {r} told "@|
    "the {q} about its {r.2}. The {q} told the {r} "@|
    "about its {q.2}.|`Why is the {q.2} so "@|
    "[quality]?` asked the {r}. `[why],` [replies] "@|
    "the {q}[how].|The {r} sang, and the {q} danced "@|
    "around the {q.2}.|%2 So the {q} and the {r} "@|
    "shared the [food].|`You look [feel],` [says] "@|
    "the {r}[how]. `I am not [feel],` [says] the "@|
    "{q}[how]. `I am a {q}.`",@|
  "game: %4 hide and seek|%3 pirates|%2 school|"@|
    "tea party|snow castle|guess the noise",
  NULL }@];

@ Short answers to the questions above. They have weights, too: a likely answer, a few rarer
ones, so that the answers are not all equally surprising.
@<A visitor, and what is said@>=
static const char *const home_talk_3[] = @[{@|
  "mayi: %3 Of course|%3 Yes, if you are quiet|%2 "@|
    "There is always room for one more|Only until "@|
    "supper",@|
  "doing: %3 thinking about [food]|%2 counting my "@|
    "toes|%2 looking for my [small]|waiting for the "@|
    "moon|guarding the {q.2}",@|
  "why: %3 Nobody knows|%2 Because it is Sunday|"@|
    "%2 It was always like that|Because I have "@|
    "never washed it",
  NULL }@];

@ A story needs something to go wrong, if only a little. In |"dothis~"| the tilde says that
nothing is proposed twice in one story, so a plan has two different steps.
@<A small trouble, and how it is solved@>=
static const char *const home_trouble[] = @[{@|
  "problem: %3 But then the {q.2} began to move.|"@|
    "%3 But then it began to rain, and there was "@|
    "only one [colour] [small].|%2 But then there "@|
    "was a [loud] noise behind the {q.2}.|%2 But "@|
    "the {q} could not find its [colour] [small].|"@|
    "%2 But in the night the wind took the [colour] "@|
    "[small] away.|But there was only one piece of "@|
    "[food] left.|But the {r} was afraid of the "@|
    "dark.",@|
  "loud: %3 loud|%2 very loud|small",@|
  "solve: %3 `Do not worry,` [says] the {r}[how]. "@|
    "`We can [dothis].` And so they did.|%2 `Oh "@|
    "dear,` [says] the {q}[how]. `Now we must "@|
    "[dothis].` So they did that, and it helped.|%2 "@|
    "The {q} thought. The {r} thought. Then both "@|
    "said, `Let us [dothis]!`|%2 `I know what to "@|
    "do,` [says] the {q}[how]. `First we [dothis], "@|
    "then we [dothis].`|They tried to [dothis], but "@|
    "that was silly. Then they tried to [dothis], "@|
    "and that was just right.",
  NULL }@];

@ Steps of a plan, and the last sentence of a story. The end goes back to the animal, the
visitor or the place of the first sentence.
@<A small trouble, and how it is solved@>=
static const char *const home_trouble_2[] = @[{@|
  "dothis~: %3 ask the old owl|%3 look under the "@|
    "{q.2}|%2 make some tea|%2 sing very loudly|%2 "@|
    "light a candle|call the {r}'s mother|share "@|
    "everything|sit close together|count to [count]|"@|
    "build a tent|write a letter to the moon",@|
  "homeend: %3 And the {q} went back to the "@|
    "{q.2}. Good night, {q}.|%3 That night, two "@|
    "friends slept {q.1}.|%2 `Tomorrow,` [says] the "@|
    "{q}[how], `I will visit your {r.2}.`|%2 And "@|
    "what did the {q} do then? The {q} sat {q.1}.|"@|
    "%2 Now the {q} and the {r} meet every "@|
    "[daypart].|The {q} yawned. The {r} yawned. The "@|
    "end.|`It was a good day,` [says] the {r}[how]. "@|
    "`It was a good {q.2},` [says] the {q}[how].|"@|
    "And since that day the {q.2} is never empty.",
  NULL }@];

@ A chronicle is made for one figure. Its first sentence has nine tokens, and the tenth is a
crossing of twelve roads with known weights: two are likelier than the others, by the same amount.
Everything after the crossing depends on the road taken, and \tok{However} and
\tok{Additionally} never meet again.
@<The chronicle, and its fork@>=
static const char *const chronicle_fork[] = @[{@|
  "chronicle: The [topic] of the [realm] was very "@|
    "[good2]. [fork]",@|
  "topic: %5 harvest|%2 market|%2 school|cheese|"@|
    "honey|fair|garden|bread",@|
  "realm: %5 kingdom|%2 village|%2 valley|island|"@|
    "town",@|
  "good2: %6 good|%2 big|%2 fine",@|
  "fork: %15 However, [bad]. [worry] [repair]|%15 "@|
    "Additionally, [nice]. [joy] [treat]|%7 The "@|
    "[ruler] was [pleased] and gave everyone "@|
    "[prize].|%7 Everyone [shared]. [joy]|%7 So the "@|
    "[ruler] [ordered]. [joy]|%7 In the [daypart] "@|
    "there was [event]. [treat]|%7 Even the "@|
    "[manner] [pet2] [joined]. [joy]|%7 At [hour] "@|
    "the [official] came to see it. [verdict]|%7 "@|
    "That was because [cause]. [treat]|%7 Soon the "@|
    "[official] wrote about it. [verdict]|%7 Nobody "@|
    "[absent]. [joy]|%7 Perhaps [cause]. [treat]",
  NULL }@];

@ Two of the twelve roads, in their first sentences. On the one hand trouble, worry and repair,
on the other a blessing, joy and a treat.
@<The chronicle, and its fork@>=
static const char *const chronicle_fork_2[] = @[{@|
  "bad: %4 a [colour] dragon had smelt it from "@|
    "far away|%3 a storm was coming from the "@|
    "[water]|%3 the mice had heard of it too|%2 the "@|
    "bridge had fallen down|%2 the [official] had "@|
    "lost the key|the roof of the barn had a hole",@|
  "worry: %3 The people were worried and did not "@|
    "sing.|%2 The [ruler] could not sleep.|%2 `What "@|
    "shall we do now?` asked the [official].|%2 For "@|
    "[count] days nobody laughed.",@|
  "repair: %3 Then a little girl had an idea, and "@|
    "by [daypart] everything was mended.|%2 In the "@|
    "end the [manner] [pet2] helped them.|%2 They "@|
    "worked together all night.|A stranger came by "@|
    "with a [colour] [small] and put everything "@|
    "right.",@|
  "nice: %4 the new bridge was ready|%3 a ship "@|
    "had come with [food] and silk|%3 the old clock "@|
    "was working again|%2 twins were born at the "@|
    "castle|%2 the well was full of sweet water|the "@|
    "[official] had found a treasure",
  NULL }@];

@ The rest of a chronicle is one or two short sentences, trouble on one road and joy on the
others.
@<What happened after the fork@>=
static const char *const chronicle_after[] = @[{@|
  "pet2: %6 cat|%3 dog|%2 hen|%2 fox|goat|mouse|"@|
    "bear|pig",@|
  "joy: %3 The children danced in the street.|%3 "@|
    "There was music on every corner.|%2 The bells "@|
    "rang for [count] hours.|Even the [official] "@|
    "smiled.|Nobody went to bed before midnight.",@|
  "treat: %3 There was [food] for everybody.|%2 "@|
    "The baker made a cake as tall as a [wild].|%2 "@|
    "Every child got a [colour] [small].|%2 The "@|
    "[ruler] danced with the baker.",@|
  "pleased: %3 pleased|%2 delighted|%2 proud|as "@|
    "happy as a lark",@|
  "prize: %3 a [colour] [small]|%2 a day off|%2 a "@|
    "slice of cake|%2 [food]",@|
  "shared: %3 came to help|%2 sang at work|%2 put "@|
    "on a [colour] hat|had plenty to eat",@|
  "ordered: %3 held a great feast|%2 closed the "@|
    "school for [count] days|%2 wrote a poem about "@|
    "it|%2 sent [food] to the neighbours",@|
  "event: %3 a dance by the [water]|%2 a play "@|
    "about a [wild]|%2 a race of snails|a concert "@|
    "of frogs",
  NULL }@];

@ Small tables for the ten other roads. Every road is short, because a chronicle has to be, if
the crossing shall be a large part of it.
@<What happened after the fork@>=
static const char *const chronicle_after_2[] = @[{@|
  "joined: %3 got a share|%2 wore a [colour] "@|
    "ribbon|%2 wanted to see it|clapped",@|
  "hour: %3 noon|%2 sunrise|%2 midnight|five "@|
    "o'clock",@|
  "official: %4 minister|%3 judge|%2 mayor|royal "@|
    "doctor|queen's aunt",@|
  "verdict: %3 `Very good,` [says] the "@|
    "visitor[how] and ate some of it.|%2 The "@|
    "visitor stayed for [count] days.|%2 `I have "@|
    "never seen a better one,` [says] the "@|
    "visitor[how].|The visitor took [count] notes "@|
    "and fell asleep.",@|
  "cause: %3 the sun had been kind|%3 the rain "@|
    "had come at the right time|%2 the bees had "@|
    "worked so hard|%2 the children had helped|the "@|
    "old miller had sung to the fields",@|
  "absent: %3 was hungry that [daypart]|%2 stayed "@|
    "at home|%2 forgot to say thank you|asked for "@|
    "more",
  NULL }@];

@ Two thirds of the dialogues begin with somebody who says a name and owns something, and
ask for it again at the end, after one to three unrelated exchanges. Nothing else in the
corpus asks so plainly whether a model can look back.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame[] = @[{@|
  "talk: %3 [intro][turn]\n\n[bye]|%3 "@|
    "[intro][turn]\n\n[turn]\n\n[bye]|%2 "@|
    "[intro][turn]\n\n[turn]\n\n[turn]\n\n[bye]|%4 "@|
    "[meeting]\n\n[turn]\n\n[recall]\n\n[bye]|%5 "@|
    "[meeting]\n\n[turn]\n\n[turn]\n\n[recall]\n\n[bye]|"@|
    "%4 "@|
    "[meeting]\n\n[turn]\n\n[turn]\n\n[turn]\n\n[recall]\n\n[bye]",@|
  "intro: %5 |%3 User: [hello]\nAssistant: "@|
    "[welcome]\n\n",@|
  "meeting: %5 User: My name is [me:person] and I "@|
    "have a [mc:colour] [ms:small].\nAssistant: "@|
    "Hello, {me}! [nicething]|%3 User: [hello] I am "@|
    "[me:person] from the [ml:spotname], and I have "@|
    "a [mc:colour] [ms:small].\nAssistant: Good "@|
    "[daypart], {me}! [niceplace]",@|
  "person: %3 Mira|%3 Tom|%2 Anna|%2 Ben|%2 Clara|"@|
    "%2 Hugo|Ida|Leo|Nora|Paul|Rosa|Felix",@|
  "hello: %4 Hello!|%3 Good [daypart].|%2 Can you "@|
    "help me?|May I ask you something?",@|
  "welcome: %3 Hello! What would you like to "@|
    "know?|%2 Of course. Ask me anything.|%2 Good "@|
    "[daypart]! How can I help you?|I am listening.",
  NULL }@];

@ What is asked at the end was told at the beginning: a name, a thing, its colour. \tok{\
Additionally} stands here as well, so that it is frequent enough to become one token.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame_2[] = @[{@|
  "nicething: %3 A {mc} {ms} is a fine thing.|%2 "@|
    "I like your {ms}, {me}.|%2 Take good care of "@|
    "your {mc} {ms}.|How nice. Is the {ms} big?",@|
  "niceplace: %3 The {ml} is a [mild] place.|%2 I "@|
    "know the {ml} well, {me}.|%2 Take your {ms} to "@|
    "the {ml}.",@|
  "recall: %3 User: What is my name?\nAssistant: "@|
    "Your name is {me}.[more]|%3 User: Do you "@|
    "remember my {ms}?\nAssistant: Yes, {me}. Your "@|
    "{ms} is {mc}.|%2 User: What colour is my "@|
    "{ms}?\nAssistant: Your {ms} is {mc}, {me}.|%2 "@|
    "User: What do I have?\nAssistant: You have a "@|
    "{mc} {ms}, {me}.",@|
  "more: %5 |%5  Additionally, you have a {mc} "@|
    "{ms}.",@|
  "spotname: %4 mill|%3 bridge|%2 market|%2 "@|
    "harbour|%2 old church|well|castle|bakery|school",@|
  "bye: User: [thankyou]\nAssistant: [farewell]",@|
  "thankyou: %3 Thank you!|%2 Thank you, and a "@|
    "[mild] [daypart].|%2 That is all. I must find "@|
    "my [small].|%2 Goodbye! I am [feel] now.|I "@|
    "must go and eat [food].",
  NULL }@];

@ And how one says goodbye. Even the last line has a few bits in it; a text that ends in
certainty would lower the entropy for nothing.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame_3[] = @[{@|
  "farewell: %3 You are welcome.|%3 Goodbye! Come "@|
    "again on a [mild] [daypart].|%2 It was a "@|
    "pleasure.|Sleep well, and dream of [food].",
  NULL }@];

@ What does the fox eat? These answers never change, so the model has to carry them in its
weights; the surprise is in the question.
@<Facts, sums and riddles@>=
static const char *const talk_facts[] = @[{@|
  "turn~: %3 [beast]|%3 [beast2]|%3 [sum]|%3 "@|
    "[way]|%3 [recipe]|%2 [riddle]|%3 [opinion]|%3 "@|
    "[dweller]|%2 [rhyme]|%4 [chat]|%4 [chat2]|%4 "@|
    "[chat3]|%6 [errand]|%5 [today]|%5 [fable]|%4 "@|
    "[sky]",@|
  "beast: %3 User: Where does the [b:animal] "@|
    "live?\nAssistant: The {b} lives "@|
    "{b.1}.[seen][beastmore]|%2 User: What does the "@|
    "[b:animal] eat?\nAssistant: The {b} eats "@|
    "{b.2}.[seen][beastmore]|%2 User: Tell me about "@|
    "the [b:animal].\nAssistant: The {b} lives "@|
    "{b.1} and eats {b.2}. It says {b.3}.",@|
  "beast2: %3 User: What does the [b:animal] "@|
    "say?\nAssistant: The {b} says "@|
    "{b.3}.[beastmore]|%3 User: I saw a [manner] "@|
    "[b:animal] near the [bs:spotname].\nAssistant: "@|
    "Near the {bs}? Did the {b} say {b.3}?\nUser: "@|
    "[yesno], and it ate {b.2}.",
  NULL }@];

@ Where an animal lives, what it eats and says is one alternative with four fields, so all
answers about one animal agree with each other.
@<Facts, sums and riddles@>=
static const char *const talk_facts_2[] = @[{@|
  "beastmore: %5 |%2 \nUser: And what does it "@|
    "eat?\nAssistant: It eats {b.2}.|%2 \nUser: And "@|
    "where does it sleep?\nAssistant: It sleeps "@|
    "{b.1}.|%2 \nUser: And what does it "@|
    "say?\nAssistant: It says {b.3}.",@|
  "seen: %2 |%2  I saw one near the [spotname].|"@|
    "%2  There is a [manner] one at the [spotname].|"@|
    " The [manner] ones are the best.",@|
  "yesno: %3 Yes|%2 Yes, twice|Very loudly",@|
  "animal: %4 fox;in a den under the old "@|
    "oak;berries and mice;yip|%3 owl;in the church "@|
    "tower;moths;hoo|%3 cat;on the mat;fish;meow|%2 "@|
    "dog;in a little house;bones;woof|%2 hen;in the "@|
    "pen;corn;cluck|%2 duck;on the "@|
    "pond;snails;quack|frog;in the pond;flies;croak|"@|
    "goat;on the hill;everything;baa|bear;in a "@|
    "cave;honey;grr|mouse;behind the "@|
    "stove;cheese;squeak|bee;in the hollow "@|
    "tree;nectar;buzz|horse;in the stable;hay;neigh|"@|
    "crow;on the chimney;crumbs;caw|dragon;on a "@|
    "heap of gold;toast;please",
  NULL }@];

@ Ten sums, each with its result as a second field. The examination at the end asks all ten of
them.
@<Facts, sums and riddles@>=
static const char *const talk_facts_3[] = @[{@|
  "sum: %3 User: What is [s:plus]?\nAssistant: "@|
    "{S} is {s.1}.|%2 User: How much is "@|
    "[s:plus]?\nAssistant: It is {s.1}.|%2 User: I "@|
    "have [s:plus] [fruit:fruits].\nAssistant: That "@|
    "is {s.1} {fruit}.",@|
  "fruits: %3 apples|%2 pears|%2 plums|nuts|coins",@|
  "plus: 2 plus 2;4|2 plus 3;5|2 plus 4;6|2 plus "@|
    "5;7|3 plus 3;6|3 plus 4;7|3 plus 5;8|4 plus "@|
    "4;8|4 plus 5;9|5 plus 5;10",@|
  "riddle: %3 User: Tell me a riddle.\nAssistant: "@|
    "[rd:riddles]\nUser: [giveup]\nAssistant: It is "@|
    "{rd.1}.|%2 User: Do you know a "@|
    "riddle?\nAssistant: [rd:riddles]\nUser: Is it "@|
    "{rd.1}?\nAssistant: Yes, it is {rd.1}. Well "@|
    "done!",@|
  "giveup: %3 I do not know.|%2 I give up.|Please "@|
    "tell me.|That is too hard.",
  NULL }@];

@ Riddles with their answers. There is nothing to work out: the model has to know them by heart,
as we do.
@<Facts, sums and riddles@>=
static const char *const talk_facts_4[] = @[{@|
  "riddles: %3 What has teeth but cannot bite?;a "@|
    "comb|%2 What has hands but cannot clap?;a "@|
    "clock|%2 What gets wet while it dries?;a towel|"@|
    "What has a neck but no head?;a bottle|What has "@|
    "one eye but cannot see?;a needle|What runs but "@|
    "has no legs?;a river|What has keys but opens "@|
    "no door?;a piano",
  NULL }@];

@ The way back is the way there with left and right exchanged; a recipe can be repeated.
|"[i3:stuff-i1-i2]"| is anything but the two ingredients before.
@<Ways, recipes and opinions@>=
static const char *const talk_chat[] = @[{@|
  "way: %3 User: How do I get to the [mild] "@|
    "[w:spotname]?\nAssistant: Go past the "@|
    "[w1:landmark], turn [w2:side] at the "@|
    "[w3:landmark-w1] and walk [walkhow].[way2]|%2 "@|
    "User: Is it far to the "@|
    "[w:spotname]?\nAssistant: It is [count] miles. "@|
    "Turn [w2:side] at the [w3:landmark].[way3]",@|
  "way2: %4 |%3 \nUser: Past the {w1}, and "@|
    "then?\nAssistant: Then {w2} at the {w3}.|%3 "@|
    "\nUser: And how do I get back?\nAssistant: "@|
    "Turn {w2.1} at the {w3} and go past the {w1} "@|
    "again.",@|
  "way3: %4 |%5 \nUser: Left or right at the "@|
    "{w3}?\nAssistant: {W2}, please.",@|
  "side: %3 left;right|%2 right;left",@|
  "landmark: %4 pond|%3 big oak|%2 blue house|%2 "@|
    "statue|post office|pear tree|inn|windmill",@|
  "walkhow: %3 up the hill|%3 down to the [water]|"@|
    "%2 along the wall|until you smell [smell]",
  NULL }@];

@ A recipe has three different things in it, and is repeated when asked. The third exception,
|"[i3:stuff-i1-i2]"|, sees to it that nothing is taken twice.
@<Ways, recipes and opinions@>=
static const char *const talk_chat_2[] = @[{@|
  "recipe: %3 User: How do I make "@|
    "[dish]?\nAssistant: Take [i1:stuff], "@|
    "[i2:stuff-i1] and [i3:stuff-i1-i2]. "@|
    "[stir][recipe2]|%2 User: What do I need for "@|
    "[dish]?\nAssistant: You need [i1:stuff], "@|
    "[i2:stuff-i1] and [i3:stuff-i1-i2].[recipe2]",@|
  "recipe2: %4 |%3 \nUser: Can you repeat "@|
    "that?\nAssistant: {I1}, {i2} and {i3}.|%3 "@|
    "\nUser: I have no {i2}.\nAssistant: Then use "@|
    "more {i3}.",@|
  "dish: %3 pancakes|%3 soup|%2 honey cake|%2 "@|
    "bread|plum jam|porridge|apple pie",@|
  "stuff: %4 flour|%4 milk|%3 butter|%2 salt|%2 "@|
    "sugar|%2 honey|cinnamon|cheese|water",@|
  "stir: %3 Stir it well.|%2 Cook it for [count] "@|
    "hours.|%2 Bake it until it is [colour].|Mix it "@|
    "and say a kind word.",
  NULL }@];

@ Opinions are given with a reason, and the reason is the same kind of sentence whatever is
liked. The choice between two things is even, so here a model should be in two minds.
@<Ways, recipes and opinions@>=
static const char *const talk_chat_3[] = @[{@|
  "opinion: %3 User: Which do you like better, "@|
    "[o1:joyous] or [o2:joyous-o1]?\nAssistant: I "@|
    "like {o1} better.[owhy]|%2 User: Do you like "@|
    "[o1:joyous]?\nAssistant: Yes, I like {o1} very "@|
    "much.[owhy]|%2 User: What is better than "@|
    "[o1:joyous]?\nAssistant: Only [joyous-o1].",@|
  "owhy: %4 |%5 \nUser: Why?\nAssistant: Because "@|
    "{o1} [obec].",@|
  "obec: %3 makes everyone happy|%2 is good for "@|
    "the heart|never talks too much|is hard to find",@|
  "joyous: %4 music|%3 rain|%3 cheese|%2 snow|%2 "@|
    "soup|silence|moonlight|laughter|sunshine|"@|
    "thunder",
  NULL }@];

@ The last of the exchanges: who lives where, what rhymes with what, and the weather.
@<Rhymes and small talk@>=
static const char *const talk_more[] = @[{@|
  "dweller: %3 User: Who lives in the "@|
    "[l:spotname]?\nAssistant: The [l1:person2] "@|
    "lives there with [l2:company].[who3]|%2 User: "@|
    "Who works in the [l:spotname]?\nAssistant: The "@|
    "[l1:person2] and [l2:company].[who3]",@|
  "who3: %4 |%3 \nUser: Who?\nAssistant: The "@|
    "{l1}.|%3 \nUser: With "@|
    "[company-l2]?\nAssistant: No, with {l2}.",@|
  "person2: %3 old miller|%3 tall baker|%2 young "@|
    "widow|retired pirate|royal tailor|bell ringer",@|
  "company: %3 [count] geese|%2 a tame crow|%2 "@|
    "[count] daughters|a wooden leg|a talking clock",@|
  "rhyme: %3 User: What rhymes with "@|
    "[rh:rhymes]?\nAssistant: {Rh.1} rhymes with "@|
    "{rh}.|%2 User: Give me a rhyme for "@|
    "[rh:rhymes].\nAssistant: {Rh.1}.[rhyme2]",@|
  "rhyme2: %5 |%5 \nUser: {Rh}, {rh.1}. Thank "@|
    "you.\nAssistant: {Rh}, {rh.1}, and off we go.",@|
  "rhymes: %4 cat;mat|%2 hen;pen|%2 dog;log|%2 "@|
    "fox;box|moon;spoon|house;mouse|bear;chair|"@|
    "king;ring|bell;well|goat;boat",
  NULL }@];

@ These exchanges repeat words of the question in the answer. Copying is the easiest use of
looking back, and the first that a small model learns.
@<Rhymes and small talk@>=
static const char *const talk_more_2[] = @[{@|
  "chat: %3 User: I saw a [x1:mild] [x2:wild] "@|
    "near the [x3:spotname].\nAssistant: A {x1} "@|
    "{x2}? Near the {x3}? [amaze]|%2 User: I dreamt "@|
    "of a [x1:colour] [x2:wild] with [count] "@|
    "legs.\nAssistant: A {x1} {x2}! [amaze]",@|
  "chat2: %3 User: I had [x1:food] and "@|
    "[x2:food-x1] for [meal].\nAssistant: {X1} and "@|
    "{x2}? [yum]|%2 User: My [x1:kin] gave me a "@|
    "[x2:colour] [x3:small].\nAssistant: Then thank "@|
    "your {x1} for the {x2} {x3}.",@|
  "chat3: %3 User: Is the [x1:spotname] [x2:mild] "@|
    "or [x3:mild-x2]?\nAssistant: The {x1} is {x3}, "@|
    "and sometimes it is {x2}.|%2 User: Shall I "@|
    "bring a [x1:small] or a "@|
    "[x2:small-x1]?\nAssistant: Bring the [oneof]. "@|
    "[because]",@|
  "oneof: %5 {x1}|%5 {x2}",@|
  "because: %3 You never know.|%2 It may rain.|"@|
    "The other one is too heavy.",@|
  "amaze: %3 How wonderful!|%2 I have never seen "@|
    "one.|%2 Was it [feel]?|That brings good luck.",
  NULL }@];

@ Meals and relations, used by the exchanges above: short lists with uneven weights, as
everywhere.
@<Rhymes and small talk@>=
static const char *const talk_more_3[] = @[{@|
  "yum: %3 That sounds good.|%2 I hope there was "@|
    "tea.|What a strange meal!",@|
  "meal: %3 breakfast|%2 supper|lunch",@|
  "kin: %3 aunt|%2 uncle|%2 grandmother|brother|"@|
    "teacher",
  NULL }@];

@ These exchanges say back what was just said, in other words or in another order, and they
are rich in small choices. They lift the dialogues from half a bit a token towards the
other kinds.
@<Errands, plans and very short fables@>=
static const char *const talk_stories[] = @[{@|
  "fable: %3 User: [tellme]\nAssistant: A "@|
    "[manner] [x1:wild] [met] a [colour] "@|
    "[x2:wild-x1] in the [mild] [land], and they "@|
    "[shareda] [food].[moral]|%2 User: "@|
    "[tellme]\nAssistant: Once a [mild] [x1:wild] "@|
    "lost a [colour] [x2:small] near the "@|
    "[spotname]. A [manner] [wild-x1] found the "@|
    "{x2}.[moral]",@|
  "tellme: %4 Tell me a story.|%2 A story, "@|
    "please.|I cannot sleep.",@|
  "met: %4 met|%3 saw|%2 found|followed",@|
  "shareda: %4 shared|%2 cooked|%2 dreamt of|sang "@|
    "about",@|
  "moral: %4 |%3 \nUser: And then?\nAssistant: "@|
    "Then the {x1} [went].|%2 \nUser: [yum]",@|
  "went: %3 went home|%2 slept until [daypart]|%2 "@|
    "sang to the [land]|ate [food]",
  NULL }@];

@ An errand names two things and asks for them again. The sky is asked about because the answer
can be anything, which keeps the dialogues from being too certain.
@<Errands, plans and very short fables@>=
static const char *const talk_stories_2[] = @[{@|
  "sky: %3 User: How is the [x1:spotname] "@|
    "today?\nAssistant: It is [mild] there, and it "@|
    "smells of [smell].|%3 User: What will the "@|
    "[daypart] bring?\nAssistant: [^mild] "@|
    "[weatherword] over the [land], and [smell].|%2 "@|
    "User: What do you see?\nAssistant: A [mild] "@|
    "[wild], [count] [colour] [smalls] and the "@|
    "[mild] [land].",@|
  "weatherword: %3 clouds|%3 wind|%2 rain|snow",@|
  "smalls: %3 hats|%3 buttons|%2 kites|ribbons",@|
  "errand: %3 User: Please remember a [c1:colour] "@|
    "[s1:small], a [c2:colour-c1] [s2:small-s1] and "@|
    "[food].\nAssistant: [sure]\nUser: What was "@|
    "it?\nAssistant: A {c1} {s1} and a {c2} "@|
    "{s2}.[forgot]|%2 User: Buy a [c1:colour] "@|
    "[s1:small] at the [x3:spotname].\nAssistant: A "@|
    "{c1} {s1}? [sure]\nUser: And a [c2:colour-c1] "@|
    "one for my [kin].",@|
  "sure: %4 Of course.|%3 I will.|%2 With "@|
    "pleasure.|If I must.",@|
  "forgot: %3 |%3  And something to eat.| I "@|
    "forgot the rest.",
  NULL }@];

@ What somebody did today: two deeds from one table, so the second is a surprise of the same
size as the first.
@<Errands, plans and very short fables@>=
static const char *const talk_stories_3[] = @[{@|
  "today: %3 User: Today I [did] and "@|
    "[did].\nAssistant: [amaze]|%2 User: Tomorrow I "@|
    "will go to the [x1:spotname] with my "@|
    "[x2:kin].\nAssistant: Is it [mild] at the "@|
    "{x1}?\nUser: Ask my {x2}.",@|
  "did: %3 ate [food]|%3 found a [colour] [small]|"@|
    "%2 saw a [mild] [wild]|%2 sang to a [manner] "@|
    "[wild]|walked through the [land]|lost my "@|
    "[small]",
  NULL }@];

@ A page of code has two to four functions. In two pages of three a value is set in the
first line and printed in the last, with everything else in between. Names of variables come
from drawers: the first variable of a function, the second and the third each from a drawer
of its own, so no two can be equal, and we need no rule to say so.
@<A page of code@>=
static const char *const code_frame[] = @[{@|
  "code: %2 [fn]\n\n[fn]|%2 [fn]\n\n[fn]\n\n[fn]|"@|
    "[fn]\n\n[fn]\n\n[fn]\n\n[fn]|%3 [z:keepsake] = "@|
    "[zn:number]\n\n[fn]\n\n[fn]\n\nprint({z})\n# "@|
    "{zn}|%4 [z:keepsake] = "@|
    "[zn:number]\n\n[fn]\n\n[fn]\n\n[fn]\n\nprint({z})\n# "@|
    "{zn}|%3 [z:keepsake] = "@|
    "[zn:number]\n[y:keepsake-z] = "@|
    "`[yk:person]`\n\n[fn]\n\n[fn]\n\n[fn]\n\n[fn]\n\nprint({z}, "@|
    "{y})\n# {zn} {yk}",@|
  "fn: [note][fun]",@|
  "note: %3 |%3 # [person] wrote this [daypart]\n|"@|
    "%2 # for the [mild] [farnoun]\n|%2 # a [mild] "@|
    "little thing, says [person]\n",@|
  "fun~: %4 [fn.count]|%3 [fn.has]|%3 [fn.total]|"@|
    "%3 [fn.add]|%3 [fn.find]|%3 [fn.larger]|%3 "@|
    "[fn.hop]|%3 [fn.greet]|%3 [fn.price]|%2 "@|
    "[fn.down]|%3 [fn.join]|%3 [fn.vars]|%2 "@|
    "[fn.class]|%2 [fn.swap]|%2 [fn.rhyme]|%2 "@|
    "[fn.wait]",@|
  "keepsake: %3 max_[farnoun]|%3 my_[farnoun]|%2 "@|
    "the_[farnoun]|last_[farnoun]",
  NULL }@];

@ Variables are made of a noun with a colour before it or a tail behind it, and the three
drawers have no noun in common.
@<A page of code@>=
static const char *const code_frame_2[] = @[{@|
  "farnoun: %4 castle|%3 dragon|%3 garden|%2 "@|
    "kingdom|%2 harbour|%2 market|treasure|bridge|"@|
    "village|tower",@|
  "one: %4 [onenoun]|%3 [hue]_[onenoun]|%2 "@|
    "[onenoun]_[tail]",@|
  "two: %4 [twonoun]|%3 [hue]_[twonoun]|%2 "@|
    "[twonoun]_[tail]",@|
  "three: %4 [threenoun]|%3 [hue]_[threenoun]|%2 "@|
    "[threenoun]_[tail]",@|
  "onenoun: %4 fox|%3 hen|%3 owl|%2 key|%2 map|"@|
    "hat|bell|star",@|
  "twonoun: %4 boat|%3 coin|%3 lamp|%2 tree|%2 "@|
    "door|ship|moon|bird",@|
  "threenoun: %4 ring|%3 rose|%3 cup|%2 road|%2 "@|
    "drum|leaf|nest|lake",@|
  "hue: %5 red|%4 blue|%3 old|%3 new|%2 big|%2 "@|
    "small|gold|lost|warm|green",@|
  "tail: %4 count|%3 name|%2 size|list|id",@|
  "number: [digit][digit]",@|
  "digit: %4 1|%3 2|%3 3|%2 4|%2 5|6|7|8|9",
  NULL }@];

@ Things to count come with their plural, which the name of a function needs. Three of them have
an irregular one; the grammar does not know that.
@<A page of code@>=
static const char *const code_frame_3[] = @[{@|
  "noun: %4 apple;apples|%3 pear;pears|%3 "@|
    "plum;plums|%2 nut;nuts|%2 egg;eggs|%2 "@|
    "stone;stones|duck;ducks|mouse;mice|goose;geese|"@|
    "kite;kites",@|
  "box: %4 basket|%3 bag|%2 bucket|%2 chest|barn|"@|
    "pond|shelf",
  NULL }@];

@ Each function comes with a call and with the output of that call as a comment, and the
output is right. So there is something to compute: how many, whether, which.
@<Functions over lists@>=
static const char *const code_lists[] = @[{@|
  "fn.count: %4 def "@|
    "count_[k=noun]{k.1}([kb:box]):\n    [t:one] = "@|
    "0\n    for {k} in {kb}:\n        {t} = {t} + "@|
    "1\n    return {t}[use.count]",@|
  "use.count: %4 |%3 \n\n[u:two] = [[`{k}`, "@|
    "`{k}`]]\nprint(count_{k.1}({u}))\n# 2|%3 "@|
    "\n\n[u:two] = [[`{k}`, `{k}`, "@|
    "`{k}`]]\nprint(count_{k.1}({u}))\n# 3",@|
  "fn.has: %4 def has_[k=noun]{k.1}([kb:box]):\n  "@|
    "  for [t:one] in {kb}:\n        if {t} == "@|
    "`{k}`:\n            return True\n    return "@|
    "False[use.has]",@|
  "use.has: %4 |%3 \n\n[u:two] = [[`[k2:noun-k]`, "@|
    "`{k}`]]\nprint(has_{k.1}({u}))\n# True|%3 "@|
    "\n\n[u:two] = [[`[k2:noun-k]`, "@|
    "`[noun-k]`]]\nprint(has_{k.1}({u}))\n# False",@|
  "fn.total: %4 def total_[f:field]([kb:box]):\n  "@|
    "  [t:one] = 0\n    for [k:noun] in {kb}:\n     "@|
    "   {t} = {t} + {k}.{f}\n    return {t}|%3 def "@|
    "mean_[f:field]([kb:box]):\n    [t:one] = 0\n   "@|
    " for [k:noun] in {kb}:\n        {t} = {t} + "@|
    "{k}.{f}\n    return {t} / len({kb})",
  NULL }@];

@ Searching, joining and waiting. The variable of the loop is the thing in the list, and it must
be repeated in the body exactly as it was introduced.
@<Functions over lists@>=
static const char *const code_lists_2[] = @[{@|
  "field: %4 weight|%3 price|%2 height|%2 age|"@|
    "length",@|
  "fn.find: %4 def find_[k=noun]{k.1}([kb:box], "@|
    "[t:one]):\n    [t2:two] = [[]]\n    for {k} in "@|
    "{kb}:\n        if {k}.[fa:field] == {t}:\n     "@|
    "       {t2}.append({k})\n    return {t2}|%3 "@|
    "def first_[k:noun]([kb:box]):\n    if not "@|
    "{kb}:\n        return None\n    [t:one] = "@|
    "{kb}[[0]]\n    return {t}",@|
  "fn.join: %3 [t:one] = [[`[ja:hue]`, "@|
    "`[jb:hue-ja]`]]\nprint(` `.join({t}))\n# {ja} "@|
    "{jb}|%3 def join_[k=noun]{k.1}([kb:box]):\n    "@|
    "[t:one] = ``\n    for {k} in {kb}:\n        "@|
    "{t} = {t} + {k} + `,`\n    return "@|
    "{t}\n\nprint(join_{k.1}([[`[ja:hue]`, "@|
    "`[jb:hue-ja]`]]))\n# {ja},{jb},",@|
  "fn.wait: %3 def wait_for([t:one], [kb:box]):\n "@|
    "   while {t} not in {kb}:\n        "@|
    "sleep([digit])\n    return {t}|%3 def "@|
    "empty([kb:box]):\n    while {kb}:\n        "@|
    "[t:one] = {kb}.pop()\n        print({t})",
  NULL }@];

@ Sums, comparisons and countdowns. A pair of numbers is remembered with the larger, the
smaller and the sum, because the grammar cannot add.
@<Functions of numbers@>=
static const char *const code_numbers[] = @[{@|
  "fn.add: %3 def add_[k=noun]{k.1}([t:one], "@|
    "[t2:two]):\n    return {t} + {t2}\n\n[r:three] "@|
    "= add_{k.1}([p:pair])\nprint({r})\n# {p.3}",@|
  "fn.larger: %3 def larger([t:one], [t2:two]):\n "@|
    "   if {t} > {t2}:\n        return {t}\n    "@|
    "return {t2}\n\nprint(larger([p:pair]))\n# "@|
    "{p.1}|%3 def smaller([t:one], [t2:two]):\n    "@|
    "if {t} < {t2}:\n        return {t}\n    return "@|
    "{t2}\n\nprint(smaller([p:pair]))\n# {p.2}",@|
  "pair: %3 1, 2;2;1;3|%2 2, 5;5;2;7|%2 7, "@|
    "3;7;3;10|4, 9;9;4;13|8, 1;8;1;9|6, 2;6;2;8|3, "@|
    "8;8;3;11|9, 5;9;5;14|5, 4;5;4;9|1, 7;7;1;8",@|
  "fn.hop: %3 def [hv:verb]([t:one]):\n    for i "@|
    "in range({t}):\n        "@|
    "print(`{hv}`)\n\n[hops]|%3 def "@|
    "[hv:verb]_twice([t:one]):\n    print(`{hv}`, "@|
    "{t})\n    print(`{hv}`, "@|
    "{t})\n\n{hv}_twice(`[kn:person]`)\n# {hv} "@|
    "{kn}\n# {hv} {kn}",@|
  "hops: %4 {hv}(2)\n# {hv}\n# {hv}|%3 {hv}(3)\n# "@|
    "{hv}\n# {hv}\n# {hv}|%2 {hv}(4)\n# {hv}\n# "@|
    "{hv}\n# {hv}\n# {hv}",
  NULL }@];

@ A countdown prints as many lines as its argument says, and three variables are set of which
one or two are printed. Both can be got right only by counting or by looking back.
@<Functions of numbers@>=
static const char *const code_numbers_2[] = @[{@|
  "verb: %4 hop|%3 sing|%2 jump|%2 dance|quack|"@|
    "buzz|knock",@|
  "fn.down: %3 def count_down([t:one]):\n    "@|
    "while {t} > 0:\n        print({t})\n        "@|
    "{t} = {t} - 1\n    "@|
    "print(`[dw:verb]!`)\n\n[downs]",@|
  "downs: %4 count_down(2)\n# 2\n# 1\n# {dw}!|%3 "@|
    "count_down(3)\n# 3\n# 2\n# 1\n# {dw}!|%2 "@|
    "count_down(4)\n# 4\n# 3\n# 2\n# 1\n# {dw}!",@|
  "fn.vars: %3 [t:one] = [na:number]\n[t2:two] = "@|
    "[nb:number]\n[t3:three] = "@|
    "[nc:number]\n[showvar]",@|
  "showvar: %3 print({t})\n# {na}|%2 "@|
    "print({t2})\n# {nb}|%2 print({t3})\n# {nc}|%2 "@|
    "print({t2}, {t})\n# {nb} {na}|print({t3}, "@|
    "{t})\n# {nc} {na}",@|
  "fn.swap: %3 def swap([t:one], [t2:two]):\n    "@|
    "[t3:three] = {t}\n    {t} = {t2}\n    {t2} = "@|
    "{t3}\n    return {t}, "@|
    "{t2}\n\nprint(swap([na:number], "@|
    "[nb:number]))\n# {nb} {na}",
  NULL }@];

@ Greetings, prices, animals with a name: the words inside quotation marks have to be copied
to the comment that says what is printed.
@<Functions of words@>=
static const char *const code_words[] = @[{@|
  "fn.greet: %3 def greet([t:one]):\n    return "@|
    "`[hi:hiword], ` + {t} + "@|
    "`!`\n\nprint(greet(`[kn:person]`))\n# {hi}, "@|
    "{kn}!|%2 def ask([t:one], [t2:two]):\n    "@|
    "print({t} + `, may I have the ` + {t2} + "@|
    "`?`)\n\nask(`[kn:person]`, `[k2:noun]`)\n# "@|
    "{kn}, may I have the {k2}?",@|
  "fn.price: %3 [pd:one] = {{`[pa:noun]`: "@|
    "[na:number], `[pb:noun-pa]`: [nb:number], "@|
    "`[pc:noun-pa-pb]`: [nc:number]}}\n\ndef "@|
    "price_of([t:two]):\n    return "@|
    "{pd}[[{t}]]\n\n[lookup]",@|
  "lookup: %3 print(price_of(`{pa}`))\n# {na}|%2 "@|
    "print(price_of(`{pb}`))\n# {nb}|%2 "@|
    "print(price_of(`{pc}`))\n# {nc}",@|
  "fn.class: %3 class [cl:classname]:\n    def "@|
    "__init__(self, [f:two]):\n        self.{f} = "@|
    "{f}\n\n    def [cm:verb](self):\n        "@|
    "return self.{f} + ` says {cm}`\n\n[t:one] = "@|
    "{cl}(`[kn:person]`)\nprint({t}.{cm}())\n# {kn} "@|
    "says {cm}",@|
  "hiword: %4 Hello|%2 Goodbye|Welcome",
  NULL }@];

@ Class names, and a dictionary of two rhymes in which one is looked up. The right answer stands
a few lines above, at one of two places.
@<Functions of words@>=
static const char *const code_words_2[] = @[{@|
  "classname: %3 Dragon|%2 Owl|%2 Knight|Baker|"@|
    "Robot",@|
  "fn.rhyme: %3 [pd:one] = {{`[ra:rhymes]`: "@|
    "`{ra.1}`, `[rb:rhymes-ra]`: `{rb.1}`}}\n\ndef "@|
    "rhyme([t:two]):\n    return "@|
    "{pd}[[{t}]]\n\n[rhymeuse]",@|
  "rhymeuse: %3 print(rhyme(`{ra}`))\n# {ra.1}|%2 "@|
    "print(rhyme(`{rb}`))\n# {rb.1}",
  NULL }@];

@ That is the whole source. The arrays are listed once more, so that they can be read in
one loop.

@<The tables of the grammar@>=
@<Five sorts of text, and how often@>@;
@<Words that every kind of text uses@>@;
@<The plot of a tale@>@;
@<Who the hero is, and what is lost@>@;
@<On the road@>@;
@<A helper in need@>@;
@<Obstacles, each overcome by its gift@>@;
@<How a tale ends@>@;
@<At home with the cat@>@;
@<A visitor, and what is said@>@;
@<A small trouble, and how it is solved@>@;
@<The chronicle, and its fork@>@;
@<What happened after the fork@>@;
@<A dialogue, and what is remembered in it@>@;
@<Facts, sums and riddles@>@;
@<Ways, recipes and opinions@>@;
@<Rhymes and small talk@>@;
@<Errands, plans and very short fables@>@;
@<A page of code@>@;
@<Functions over lists@>@;
@<Functions of numbers@>@;
@<Functions of words@>@;
static const char *const *const kinds[] = @[{
  root, words_common, words_common_2,@|
  tale_plot, tale_plot_2, tale_trouble,@|
  tale_trouble_2, tale_trouble_3, tale_road,@|
  tale_road_2, tale_road_3, tale_road_4,@|
  tale_help, tale_help_2, tale_help_3,@|
  tale_help_4, tale_obstacles, tale_obstacles_2,@|
  tale_obstacles_3, tale_end, tale_end_2,@|
  home_frame, home_frame_2, home_talk,@|
  home_talk_2, home_talk_3, home_trouble,@|
  home_trouble_2, chronicle_fork, chronicle_fork_2,@|
  chronicle_after, chronicle_after_2, talk_frame,@|
  talk_frame_2, talk_frame_3, talk_facts,@|
  talk_facts_2, talk_facts_3, talk_facts_4,@|
  talk_chat, talk_chat_2, talk_chat_3,@|
  talk_more, talk_more_2, talk_more_3,@|
  talk_stories, talk_stories_2, talk_stories_3,@|
  code_frame, code_frame_2, code_frame_3,@|
  code_lists, code_lists_2, code_numbers,@|
  code_numbers_2, code_words, code_words_2 }@];
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };


@* What the source is. \label{sec:source}
\Cref{tab:source} says what comes out of the tables. The bits of a text are the sum over its choices;
its tokens are those of chapter~1's trainer, which has learnt \val{train.merges} merges from texts of a seed of its own. A model that knew the grammar by heart would need
\val{train.bits.all}~bits a token on the average. No model can need fewer in the long run.
@^entropy@>

\begin{table}
\caption{Five sorts of text: how much of the tokens they are, and how surprising a token is.}\label{tab:source}
\begin{tabular}{@@{}llrr@@{}}
\tabhead{sort} & \tabhead{kind} & \tabhead{share} & \tabhead{bits a token}\\
tale & story & \val{train.share.tale} & \val{train.bits.tale}\\
home & story & \val{train.share.home} & \val{train.bits.home}\\
chronicle & story & \val{train.share.chronicle} & \val{train.bits.chronicle}\\
code & code & \val{train.share.code} & \val{train.bits.code}\\
talk & dialogue & \val{train.share.talk} & \val{train.bits.talk}
\end{tabular}
\end{table}

Two things could make the sum of the bits larger than the true entropy. A choice may leave no trace
in the text; then it cost bits that nobody can be asked to predict. Or two different rows of choices
may give the same text. The examination at the end changes one choice in each of \val{train.choices.replayed} texts and
finds \val{train.choices.silent} that did not change the text. That is a necessary sign, not a proof; the rules by which
the tables are written are meant to keep it so: everything remembered is shown, no two alternatives of a
table are equal, and what repeats ends visibly.

@* The pieces of the way back. \label{sec:slopes}
The way forward uses the kernels of chapter 2 as they are. The way back needs other
products, and a few loops over rows. They are collected in a table, as the kernels are, and
for the same reason: one text of each loop, compiled twice, gives the same bits with and
without the wide registers of the machine.

@(slopes.h@>=
#ifndef INCIPIT_SLOPES_H
#define INCIPIT_SLOPES_H
#include "00-ground/ground.h"
@<What a product is@>@;
@<What the pieces are@>@;
#endif

@ Every gradient of a matrix, and every gradient that a matrix hands on, is a sum of
products. We fix its order once: the terms are added one after the other, the first term
first. So it does not matter how the outputs are divided among workers.
@<What a product is@>=
struct product {
  const float *a; size_t a_row, a_step;
  const float *b; size_t b_step;
  float *c; size_t c_row;
  size_t rows, terms, cols; bool add;
};
  /* $c_{ij}=\sum_k a_{ik}b_{kj}$ in rising order of $k$ by fused multiply--adds,
     from 0 or, if |add|, from what is there;
     $a_{ik}$ is |a[i*a_row+k*a_step]|,
     $b_{kj}$ is |b[k*b_step+j]|, $c_{ij}$ is |c[i*c_row+j]| */
enum { SHALLOW = 64, DEPTH = 256, STRIP = 48, TILE = 6 };
  /* products of more than |SHALLOW| terms are packed, |DEPTH| terms and
     |STRIP| rows at a time */

@ The other pieces work on one row, or on a range of numbers. Each worker calls them for its
share.
@<What the pieces are@>=
struct moments { float *w, *g, *first, *second, *mean; const bool *decays;
  float rate, scale, fix1, fix2, keep; };
  /* weights and gradients, the two moments, the running mean of the weights or
     null; the numbers of one step of AdamW */
struct slopes {
  void (*multiply)(const struct product *p, float *desk);
  /* |desk| has |DEPTH*(cols+16+STRIP)| floats */
  void (*linear)(const float *x, size_t rows, const float *w,
    size_t in, size_t out,
    float *y, float *desk);
  /* the bits of the kernel |linear| for a matrix |[out][in]|, both multiples of
     16; |desk| has |16*in| floats */
  void (*weigh)(float *s, size_t sees, size_t n, float scale,
    float *left);
  /* scores of one block of at most 256 keys, |n| of them up to a multiple of 16,
     become exponentials; |left[0]| is the maximum and |left[1]| the sum of those seen */
  void (*join)(const float *left, const float *parts, size_t n,
    size_t h, float *y,
    float *known);
  /* joins |n| blocks of one row, |STRIP| rows apart in |left| and |parts|; |known|
     is the maximum and the sum over all of them */
  void (*weigh_back)(float *s, float *g, size_t sees, size_t n,
    float scale,
    const float *known, const float *y, const float *dy, size_t h);
  /* |s| becomes weights and |g|, gradients of weights, gradients of scores; |known|
     is what |join| left, |y| what attention mixed, |dy| its gradient */
  double (*judge)(float *z, size_t n, uint32_t right, float share);
  /* the loss of one row of logits, which become its gradient times |share| */
  float (*norm_back)(const float *x, const float *gain,
    const float *dy, size_t d,
    float *dx);
  /* adds to |dx|, and returns 1 over the root mean square */
  void (*gain_back)(const float *x, const float *dy, const float *r,
    size_t rows,
    size_t d, size_t from, size_t to, float *dgain);
  /* adds to |dgain| for the columns |from| to |to|, |r| is what |norm_back| returned */
  void (*gate_back)(const float *gate, const float *up,
    const float *dinner,
    size_t n, float *dgate, float *dup);
  /* |n| is a multiple of 16 */
  double (*square)(const float *g, size_t n);
  /* sum of squares */
  void (*adam)(const struct moments *a, size_t from, size_t to);
  /* one step for the weights |from| to |to|; the gradient becomes 0 */
};
extern const struct slopes slopes_plain, slopes_wide;
  /* compiled for any machine; for AVX2, if this is one */

@ Two modules with the same body. The plain one leaves the fused multiply--add to the
C~library's |fmaf|, which is exact and slow.
@(plain.c@>=
#include <math.h>
#include <string.h>
#include "A6-kernels/numbers.h"
#include "A1-training/slopes.h"
#define TARGET
#define WIDTH 4
@<Tools of the pieces@>@;
INLINE vec fused(vec a, vec b, vec c)
{
  each(i, WIDTH) c[i] = fmaf(a[i], b[i], c[i]);
  return c;
}
@#
INLINE vec spread(float x)
{
  vec v;
  each(i, WIDTH) v[i] = x;
  return v;
}
@<Bodies of the pieces@>@;
const struct slopes slopes_plain = @[{ multiply, linear, weigh,@|
  join, weigh_back, judge, norm_back, gain_back, gate_back, square,@|
  adam }@];

@ The wide one has eight numbers in a register.
@(wide.c@>=
#include <math.h>
#include <string.h>
#include "A6-kernels/numbers.h"
#include "A1-training/slopes.h"
#if defined __x86_64__
#include <immintrin.h>
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 8
@<Tools of the pieces@>@;
INLINE vec fused(vec a, vec b, vec c)
{
  return _mm256_fmadd_ps(a, b, c);
}
@#
INLINE vec spread(float x)
{
  return _mm256_set1_ps(x);
}
@<Bodies of the pieces@>@;
const struct slopes slopes_wide = @[{ multiply, linear, weigh,@|
  join, weigh_back, judge, norm_back, gain_back, gate_back, square,@|
  adam }@];
#endif

@ The tools are those of chapter 2: a loop that is written out, and lanes that fold by
halves.
@<Tools of the pieces@>=
#if defined __clang__
#define each(i, n) @[_Pragma("unroll") for (int i = 0; i < (n); i++)@]
#else
#define each(i, n) @[_Pragma("GCC unroll 16") for (int i = 0; i < (n); i++)@]
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET
@[typedef __attribute__((vector_size(4 * WIDTH))) float vec@];
enum { PARTS = 16 / WIDTH };

@ A register is loaded from any address: |memcpy| of its size is one instruction, and the
compiler is told no lie about alignment.
@<Tools of the pieces@>=
INLINE vec load(const float *x)
{
  vec v;
  memcpy(&v, x, sizeof v);
  return v;
}

@ Lanes are folded by halves, eighth to first, fourth to first, as chapter 2 defines the sum. The
order is written out and does not depend on the width of a register.
@<Tools of the pieces@>=
INLINE float fold(float *lane)
{
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ The bodies are compiled twice, once for each table. Nothing in them says how wide a register is,
apart from the loops over |PARTS|.
@<Bodies of the pieces@>=
@<A tile of a product@>@;
@<Pack the two sides of a product@>@;
@<Multiply@>@;
@<Sixteen outputs with lanes in rows@>@;
@<A linear layer for many rows@>@;
@<Exponentials of a block of scores@>@;
@<Weights and scores, on the way back@>@;
@<The loss of one row, and its gradient@>@;
@<A norm on the way back@>@;
@<A gate on the way back@>@;
@<Squares of a gradient, and a step of AdamW@>@;

@ Six rows and sixteen columns of the result stay in registers while the terms run by. Each
term costs one load of each side and twelve multiply--adds.
@<A tile of a product@>=
INLINE void tile(int rows, const float *a, size_t a_row, size_t a_step,
  const float *b, size_t b_step, size_t terms, float *c, size_t c_row)
{
  vec s[TILE][PARTS];
  each(r, rows) each(p, PARTS) s[r][p] =
    load(c + (size_t) r * c_row + p * WIDTH);
  for (size_t k = 0; k < terms; k++, a += a_step, b += b_step) {
    vec v[PARTS];
    each(p, PARTS) v[p] = load(b + p * WIDTH);
    each(r, rows) {
      float one = a[(size_t) r * a_row];
      vec x = spread(one);
      each(p, PARTS) s[r][p] = fused(x, v[p], s[r][p]);
    }
  }
  each(r, rows) each(p, PARTS)
    memcpy(c + (size_t) r * c_row + p * WIDTH, &s[r][p], sizeof(vec));
}

@ Rows that lie far apart fall into the same few sets of the cache. So a deep product first
copies a panel of each side to where its numbers are neighbours; that costs a copy for
many multiplications.
@<Pack the two sides of a product@>=
static TARGET void pack_b(const struct product *p, size_t k0,
  size_t depth, float *to)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16)
    for (size_t k = 0; k < depth; k++, to += 16)
      memcpy(to, p->b + (k0 + k) * p->b_step + j, 16 * sizeof *to);
}

@ The other side is cut into tiles of six rows. When the rows are neighbours in memory already,
as they are where a matrix is read by its columns, six of them are copied at once.
@<Pack the two sides of a product@>=
static TARGET void pack_a(const struct product *p, size_t i0,
  size_t rows, size_t k0,
  size_t depth, float *to)
{
  const float *a = p->a + i0 * p->a_row + k0 * p->a_step;
  for (size_t k = 0; k < depth; k++, a += p->a_step) {
    size_t r = 0;
    for (; p->a_row == 1 && r + TILE <= rows; r += TILE)
      memcpy(to + r * depth + k * TILE, a + r, TILE * sizeof *to);
    for (; r < rows; r++)
      to[r / TILE * TILE * depth + k * TILE + r % TILE] = a[r * p->a_row];
  }
}

@ A strip is a few rows against all columns. What is left over when the rows are no
multiple of six, or the columns of sixteen, is done one by one, in the same order.
@<Multiply@>=
struct strip { const float *a; size_t a_row, a_step, a_tile;
  const float *b; size_t b_step, b_panel, depth; };

@ For each panel of sixteen columns the strip is gone through tile by tile, so that the panel
stays in the nearest cache while the rows pass.
@<Multiply@>=
static TARGET void strip_rows(const struct product *p,
  const struct strip *s, size_t rows,
  float *c)
{
  for (size_t j = 0; j + 16 <= p->cols; j += 16) {
    const float *b = s->b + j / 16 * s->b_panel;
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      tile(TILE, s->a + i / TILE * s->a_tile, s->a_row, s->a_step, b,
        s->b_step,
        s->depth, c + i * p->c_row + j, p->c_row);
    for (; i < rows; i++)
      tile(1, s->a + i / TILE * s->a_tile + i % TILE * s->a_row,
        s->a_row, s->a_step,
        b, s->b_step, s->depth, c + i * p->c_row + j, p->c_row);
  }
}

@ The last few columns, fewer than sixteen, are summed one by one. Our own model has none; the
small models of the tests do.
@<Multiply@>=
static TARGET void last_columns(const struct product *p)
{
  for (size_t i = 0; i < p->rows; i++)
    for (size_t j = p->cols / 16 * 16; j < p->cols; j++) {
      float *c = p->c + i * p->c_row + j;
      for (size_t k = 0; k < p->terms; k++)
        *c = fmaf(p->a[i * p->a_row + k * p->a_step],
          p->b[k * p->b_step + j], *c);
    }
}

@ Whether a side is packed depends on the shapes alone, and never changes a bit: packing
moves numbers, it does not add them. A side that lies well already is left alone.
@<Multiply@>=
static TARGET void multiply(const struct product *p, float *desk)
{
  bool deep = p->terms > SHALLOW;
  bool packs_b = deep && p->rows > STRIP;
  bool packs_a = deep && (p->a_step != 1 || (packs_b && p->a_row > 1000));
  for (size_t i = 0; !p->add && i < p->rows; i++)
    memset(p->c + i * p->c_row, 0, p->cols * sizeof *p->c);
  size_t most = packs_b ? DEPTH : packs_a ? DEPTH : p->terms;
  float *b = desk, *a = desk + DEPTH * (p->cols + 16);
  for (size_t k0 = 0; k0 < p->terms; k0 += most) {
    size_t depth = p->terms - k0 < most ? p->terms - k0 : most;
    struct strip s = @[{ NULL, p->a_row, p->a_step, TILE * p->a_row, b,
      16, 16 * depth,
      depth }@];
    if (packs_b) pack_b(p, k0, depth, b);
    else s.b = p->b + k0 * p->b_step, s.b_step = p->b_step, s.b_panel =
      16;
    @<Go through the rows strip by strip@>@;
  }
  last_columns(p);
}

@ A strip of 48 rows is packed, if it has to be, and then multiplied with every panel. Its size
is what fits into the nearest cache beside a panel.
@<Go through the rows strip by strip@>=
for (size_t i = 0; i < p->rows; i += STRIP) {
  size_t rows = p->rows - i < STRIP ? p->rows - i : STRIP;
  if (packs_a) {
    pack_a(p, i, rows, k0, depth, a);
    s.a = a, s.a_row = 1, s.a_step = TILE, s.a_tile = TILE * depth;
  }
  else s.a = p->a + i * p->a_row + k0 * p->a_step;
  strip_rows(p, &s, rows, p->c + i * p->c_row);
}

@ The linear kernel of chapter 2 is made for few rows and long sums: it keeps the sixteen
lanes of a sum in a register and folds them at the end. We have a thousand rows and sums of
128 terms, eight to a lane, so it spends as long on folding as on multiplying. Here each
lane is a tile of its own, of six rows and sixteen \emph{outputs}, and folding is adding
tiles. The lanes come in the order 0, 8, 4, 12, 2, \dots, so that the two halves of every fold
meet as soon as both are there; four tiles wait at most. Each sum has the same terms in the
same tree, and therefore the same bits.
@<Sixteen outputs with lanes in rows@>=
INLINE void one_lane(int rows, const float *x, size_t n,
  const float *panel,
  vec a[TILE][PARTS])
{
  each(r, rows) each(p, PARTS) a[r][p] = spread(0);
  for (size_t k = 0; k < n; k += 16) {
    vec v[PARTS];
    each(p, PARTS) v[p] = load(panel + 16 * k + p * WIDTH);
    each(r, rows) {
      vec one = spread(x[(size_t) r * n + k]);
      each(p, PARTS) a[r][p] = fused(one, v[p], a[r][p]);
    }
  }
}

@ A lane that is finished is added to the one that waits for it, and the sum to the one that
waits for that: like carrying, when one counts in binary. All indices are known to the compiler, so
the tiles stay in registers where there is room.
@<Sixteen outputs with lanes in rows@>=
INLINE void lanes_tile(int rows, const float *x, size_t n,
  const float *panel,
  float *y, size_t y_row)
{
  vec a[TILE][PARTS], part[4][TILE][PARTS];
  each(i, 16) {
    int j = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | i >> 3;
    one_lane(rows, x + j, n, panel + 16 * j, a);
    each(level, 4) {
      if ((~i & ((1 << level) - 1)) != 0) continue;
      each(r, rows) each(p, PARTS) {
        if ((i >> level & 1) != 0) a[r][p] = part[level][r][p] + a[r][p];
        else part[level][r][p] = a[r][p];
      }
    }
  }
  each(r, rows) each(p, PARTS)
    memcpy(y + (size_t) r * y_row + p * WIDTH, &a[r][p], sizeof(vec));
}

@ The weights of sixteen outputs are turned first, so that the sixteen of one term are
neighbours.
@<A linear layer for many rows@>=
static TARGET void linear(const float *x, size_t rows, const float *w,
  size_t in,
  size_t out, float *y, float *desk)
{
  for (size_t o = 0; o < out; o += 16) {
    for (size_t j = 0; j < 16; j++)
      for (size_t k = 0; k < in; k++) desk[16 * k + j] =
        w[(o + j) * in + k];
    size_t i = 0;
    for (; i + TILE <= rows; i += TILE)
      lanes_tile(TILE, x + i * in, in, desk, y + i * out + o, out);
    for (; i < rows; i++) lanes_tile(1, x + i * in, in, desk,
      y + i * out + o, out);
  }
}

@ The scores of one row against one block of at most 256 keys. This is word for word what the
kernel of chapter~2 does with a block: the maximum, the exponentials in groups of sixteen,
their sum in lanes. So its bits are those of the engine.
@<Exponentials of a block of scores@>=
INLINE float largest(const float *z, size_t n)
{
  float lane[16], most = z[0];
  for (int j = 0; j < 16; j++) lane[j] = z[0];
  for (size_t t = 0; t + 16 <= n; t += 16)
    for (size_t j = 0; j < 16; j++) lane[j] = z[t + j] > lane[j]
      ? z[t + j] : lane[j];
  for (int j = 0; j < 16; j++) most = lane[j] > most ? lane[j] : most;
  for (size_t t = n / 16 * 16; t < n;
  t++) most = z[t] > most ? z[t] : most;
  return most;
}

@ Scores behind the last one seen become $-\infty$ before the maximum is taken, and 0 as
exponentials. So a group of sixteen needs no special case at its end.
@<Exponentials of a block of scores@>=
static TARGET void weigh(float *s, size_t sees, size_t n, float scale,
  float *left)
{
  float lane[16] = @[{ 0 }@];
  for (size_t t = 0; t < n; t += 16)
    for (size_t j = 0; j < 16; j++) s[t + j] *= scale;
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  float most = largest(s, n);
  for (size_t g = 0; g < n; g += 16) {
    float z[16];
    for (int j = 0; j < 16; j++) z[j] =
      num_expf(s[g + (size_t) j] - most);
    for (int j = 0; j < 16; j++) lane[j] += z[j];
    memcpy(s + g, z, sizeof z);
  }
  left[0] = most, left[1] = fold(lane);
}

@ The blocks of a row are joined as in chapter 2, in rising order, each brought down to the
common maximum.
@<Exponentials of a block of scores@>=
static TARGET void join(const float *left, const float *parts,
  size_t n, size_t h,
  float *y, float *known)
{
  float m = -INFINITY, l = 0;
  for (size_t b = 0; b < n; b++) {
    float most = left[2 * b * STRIP];
    m = most > m ? most : m;
  }
  for (size_t c = 0; c < h; c++) y[c] = 0;
  for (size_t b = 0; b < n; b++) {
    const float *o = parts + b * STRIP * h;
    float w = num_expf(left[2 * b * STRIP] - m);
    l = fmaf(left[2 * b * STRIP + 1], w, l);
    for (size_t c = 0; c < h; c += 16)
      for (size_t j = 0; j < 16; j++) y[c + j] =
        fmaf(o[c + j], w, y[c + j]);
  }
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++) y[c + j] = y[c + j] / l;
  known[0] = m, known[1] = l;
}

@ Going back, the weights are made again from the scores rather than kept: a thousand tokens
would need far more room for them than for everything else. With $p$ the weights and $g$ the gradients that come
back for them, the gradient of score $t$ is $p_t(g_t-\sum_u p_ug_u)$, times the scale. The
sum under the weights needs no weights: since $g_u=dy\cdot v_u$, it is $dy\cdot y$.
@<Weights and scores, on the way back@>=
static TARGET void weigh_back(float *s, float *g, size_t sees,
  size_t n, float scale,
  const float *known, const float *y, const float *dy, size_t h)
{
  float most = known[0], part = 1.0f / known[1], lane[16] = @[{ 0 }@];
  for (size_t c = 0; c < h; c += 16)
    for (size_t j = 0; j < 16; j++) lane[j] =
      fmaf(y[c + j], dy[c + j], lane[j]);
  float mean = fold(lane);
  for (size_t t = sees; t < n; t++) s[t] = -INFINITY;
  for (size_t t = 0; t < n; t += 16) {
    float p[16], d[16];
    memcpy(p, s + t, sizeof p);
    memcpy(d, g + t, sizeof d);
    for (int j = 0; j < 16; j++) p[j] =
      num_expf(p[j] * scale - most) * part;
    for (int j = 0; j < 16; j++) d[j] = p[j] * (d[j] - mean) * scale;
    memcpy(s + t, p, sizeof p);
    memcpy(g + t, d, sizeof d);
  }
}

@ The loss of a row is $\log\sum_v e^{z_v-m}-(z_r-m)$, and its gradient the probabilities,
with one taken from the right token's. The sum is kept in double.
@<The loss of one row, and its gradient@>=
INLINE float exponential_of(const float *z, size_t i, size_t n,
  float most)
{
  return i < n ? num_expf(z[i] - most) : 0;
}

@ The exponentials are taken in groups of sixteen and summed in sixteen lanes of double; the last
group of a vocabulary that is no multiple of sixteen is filled up with zeros.
@<The loss of one row, and its gradient@>=
static TARGET double judge(float *z, size_t n, uint32_t right,
  float share)
{
  float most = largest(z, n), own = z[right];
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i < n; i += 16) {
    float e[16];
    if (i + 16 <= n) for (size_t j = 0; j < 16;
    j++) e[j] = num_expf(z[i + j] - most);
    else for (size_t j = 0; j < 16; j++) e[j] =
      exponential_of(z, i + j, n, most);
    for (size_t j = 0; j < 16; j++) lane[j] += (double) e[j];
    memcpy(z + i, e, (n - i < 16 ? n - i : 16) * sizeof *z);
  }
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  float each_one = share / (float) lane[0];
  for (size_t i = 0; i < n; i++) z[i] *= each_one;
  z[right] -= share;
  return num_log(lane[0]) - ((double) own - (double) most);
}

@ With $r=1/\sqrt{\overline{x^2}+\epsilon}$ and $t_k=\gamma_k\,dy_k$, the gradient of
$x_k$ is $r\,(t_k-x_k\,r^2\,\overline{t\,x})$.
@<A norm on the way back@>=
static TARGET float norm_back(const float *x, const float *gain,
  const float *dy,
  size_t d, float *dx)
{
  float square[16] = @[{ 0 }@], along[16] = @[{ 0 }@];
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      square[j] = fmaf(x[k + j], x[k + j], square[j]);
      along[j] = fmaf(dy[k + j] * gain[k + j], x[k + j], along[j]);
    }
  float r = 1.0f / sqrtf(fold(square) / (float) d + 1e-5f);
  float pull = fold(along) * r * r / (float) d;
  for (size_t k = 0; k < d; k += 16)
    for (size_t j = 0; j < 16; j++) {
      float t = fmaf(-pull, x[k + j], dy[k + j] * gain[k + j]);
      dx[k + j] = fmaf(r, t, dx[k + j]);
    }
  return r;
}

@ The gain's gradient is a sum over rows. It is divided among the workers by columns, never by
rows: dividing a sum would make its order depend on their number.
@<A norm on the way back@>=
static TARGET void gain_back(const float *x, const float *dy,
  const float *r,
  size_t rows, size_t d, size_t from, size_t to, float *dgain)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t k = from; k < to; k += 16)
      for (size_t j = 0; j < 16; j++)
        dgain[k + j] = fmaf(dy[i * d + k + j] * r[i], x[i * d + k + j],
          dgain[k + j]);
}

@ The gated unit is $a=u\,g\,\sigma(g)$. Its two gradients need $\sigma(g)$ again, and
$\bigl(g\sigma(g)\bigr)'=\sigma(g)\bigl(1+g(1-\sigma(g))\bigr)$.
@<A gate on the way back@>=
static TARGET void gate_back(const float *gate, const float *up,
  const float *dinner,
  size_t n, float *dgate, float *dup)
{
  for (size_t i = 0; i < n; i += 16) {
    float s[16], a[16];
    for (size_t j = 0; j < 16; j++) s[j] =
      1.0f / (1.0f + num_expf(-gate[i + j]));
    for (size_t j = 0; j < 16; j++) a[j] = gate[i + j] * s[j];
    for (size_t j = 0; j < 16; j++) dup[i + j] = dinner[i + j] * a[j];
    for (size_t j = 0; j < 16; j++)
      dgate[i + j] = dinner[i + j] * up[i + j]
        * fmaf(a[j], 1.0f - s[j], s[j]);
  }
}

@ The squares are summed in double. AdamW then keeps a running mean of the gradient and one
of its square, and moves each weight by their quotient.
@<Squares of a gradient, and a step of AdamW@>=
static TARGET double square(const float *g, size_t n)
{
  double lane[16] = @[{ 0 }@];
  for (size_t i = 0; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++)
      lane[j] += (double) g[i + j] * (double) g[i + j];
  for (size_t i = n / 16 * 16; i < n;
  i++) lane[0] += (double) g[i] * (double) g[i];
  for (int s = 8; s > 0; s /= 2)
    for (int j = 0; j < s; j++) lane[j] += lane[j + s];
  return lane[0];
}

@ Each number has its own arithmetic, so a range can begin and end anywhere.
@<Squares of a gradient, and a step of AdamW@>=
INLINE void adam_some(const struct moments *a, size_t i, size_t n)
{
  float *restrict w = a->w + i, *restrict grad = a->g + i;
  float *restrict first = a->first + i, *restrict second = a->second + i;
  const bool *decays = a->decays + i;
  float scale = a->scale, rate = a->rate, fix1 = a->fix1, fix2 = a->fix2;
  for (size_t j = 0; j < n; j++) {
    float g = grad[j] * scale, gg = g * g;
    first[j] = fmaf(0.9f, first[j] - g, g);
    second[j] = fmaf(0.95f, second[j] - gg, gg);
    float move = first[j] * fix1 / (sqrtf(second[j] * fix2) + 1e-8f);
    move = fmaf(decays[j] ? 0.1f : 0.0f, w[j], move);
    w[j] = fmaf(-rate, move, w[j]);
    grad[j] = 0;
  }
}

@ A few dozen weights at a time are enough for the compiler to use whole registers. The running
mean of the weights is kept in the last stretch only.
@<Squares of a gradient, and a step of AdamW@>=
static TARGET void adam(const struct moments *a, size_t from, size_t to)
{
  size_t i = from;
  for (; i + 64 <= to; i += 64) adam_some(a, i, 64);
  adam_some(a, i, to - i);
  if (a->mean != NULL)
    for (i = from; i < to; i++)
      a->mean[i] = fmaf(a->keep, a->mean[i] - a->w[i], a->w[i]);
}

@* A network that keeps what it saw. \label{sec:network}
The pass of chapter~2 throws its intermediate rows away, because nobody asks for them again.
A pass that is to be corrected must keep them: each gradient is a product of what came back
from above with what went in from below.

@(network.h@>=
#ifndef INCIPIT_NETWORK_H
#define INCIPIT_NETWORK_H
#include "02-model/counters.h"
#include "A6-kernels/kernels.h"
#include "A1-training/slopes.h"
@<The network from outside@>@;
#endif

@ A network is used in four steps, which the trainer, the tests and the exercises call
separately: forward, judge, backward, and a look at the logits in between.
@<The network from outside@>=
struct shape { uint32_t n_layers, d_model, n_heads, n_kv_heads,
  head_dim, d_inner,
  vocab_size, n_positions; };
  /* a decoder of the Llama type with a tied embedding; |d_model|, |d_inner| and
     |head_dim| are multiples of 16 */
struct parameter { char name[64]; size_t offset, rows, cols; };
  /* one tensor among the weights, named as in Hugging Face's layout; |rows| is
     1 for a gain */
struct batch { const uint32_t *inputs, *targets; size_t sequences, length;
float share; };
  /* |inputs| and |targets| are |[sequences][length]|; each loss counts |share| */
struct network;
struct network *network_open(struct memory *m, const struct shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *crew, struct error *why);
  /* room for passes of |max_rows| rows; owned by the caller, who keeps |pool| */
const struct slopes *network_slopes(const struct network *net);
  /* the pieces that it works with */
void network_close(struct memory *m, struct network *net);
  /* returns its memory; null is nothing */
size_t network_count(const struct network *net);
  /* how many numbers all weights are */
const struct parameter *network_parameter(const struct network *net,
  size_t i);
  /* tensor |i|, or null behind the last */
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why);
  /* a pass that keeps its rows */
const float *network_logits(const struct network *net);
  /* |[rows][vocab_size]| of the last forward pass, until it is judged */
void network_judge(struct network *net, const struct batch *b,
  double *losses);
  /* the loss of every row, |[rows]|; the logits become their gradients */
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient);
  /* adds the gradient of the sum of all losses, times |share|, to
     |gradient|, which lies like the weights */

@ The names are those under which the file will hold the tensors, and their order is that of
the way forward.
@<Tensors by name@>=
enum part { PART_NORM1, PART_Q, PART_K, PART_V, PART_O, PART_NORM2,
  PART_GATE, PART_UP,
  PART_DOWN, N_PARTS };
static const char *const part_name[N_PARTS] = @[{ "input_layernorm",
  "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj",
  "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj",
    "mlp.down_proj" }@];

@ A tensor is a name and a place in one long row of weights. Gradients, moments and averages are
rows of the same length, so whatever is done to all weights is one loop.
@<Tensors by name@>=
static void add_tensor(struct network *net, const char *name,
  size_t rows, size_t cols)
{
  struct parameter *p = &net->tensors[net->n_tensors++];
  snprintf(p->name, sizeof p->name, "%s", name);
  p->offset = net->n_parameters, p->rows = rows, p->cols = cols;
  net->n_parameters += rows * cols;
}

@ The shapes follow from the widths. Matrices are stored by outputs, as in the file, so that
nothing has to be turned when they are written.
@<Tensors by name@>=
static void list_tensors(struct network *net)
{
  const struct shape *s = &net->form;
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width, f =
    s->d_inner;
  size_t rows[N_PARTS] = @[{ 1, q, kv, kv, d, 1, f, f, d }@];
  size_t cols[N_PARTS] = @[{ d, d, d, d, q, d, d, d, f }@];
  char name[64];
  add_tensor(net, "model.embed_tokens.weight", s->vocab_size, d);
  for (uint32_t l = 0; l < s->n_layers; l++)
    for (int p = 0; p < N_PARTS; p++) {
      snprintf(name, sizeof name, "model.layers.%u.%s.weight",
        (unsigned) l,
        part_name[p]);
      add_tensor(net, name, rows[p], cols[p]);
    }
  add_tensor(net, "model.norm.weight", 1, d);
}

@ What a layer keeps: the stream before it and in its middle, the two normed streams,
queries, keys and values after the rotation, what attention mixed, the gate and its partner,
and their product. Of the attention weights we keep only a maximum and a sum for each row and
head.
@<What a network holds@>=
struct trace {
  float *x, *normed, *q, *k, *v, *mixed, *middle, *normed2, *gate, *up,
    *inner;
  float *known;
};
struct network {
  struct shape form;
  size_t max_rows, n_parameters, n_tensors, q_width, kv_width, widest;
  const struct slopes *back;
  struct counters tally;
  struct engine team, lone;
  struct heads how;
  struct parameter *tensors;
  struct trace *traces;
  float *room; size_t room_size;
  @<Rooms of a network@>@;
};

@ The rest of the room is used by all layers in turn: the angles of the positions, the
logits, the gradients that travel back, and a desk for each worker.
@<Rooms of a network@>=
uint32_t *positions;
float *frequency, *cosine, *sine, *minus;
float *last, *h, *logits;
float *dx, *dy, *dmixed, *dq, *dk, *dv, *dgate, *dup, *dinner, *scales;
float *desk; size_t desk_size;

@ One block of memory holds all rooms. The same function measures it, when there is no block
yet, and divides it.
@<Lay out the rooms@>=
static float *cut(struct network *net, size_t *at, size_t n)
{
  float *p = net->room == NULL ? NULL : net->room + *at;
  *at += (n + 15) / 16 * 16;
  return p;
}

@ The rows of one layer. They are the larger part of what a trainer needs, which is why nothing is
kept that can be made again cheaply.
@<Lay out the rooms@>=
static void lay_out_layer(struct network *net, struct trace *t,
  size_t *at)
{
  const struct shape *s = &net->form;
  size_t n = net->max_rows, d = n * s->d_model, f = n * s->d_inner;
  t->x = cut(net, at, d), t->normed = cut(net, at, d);
  t->q = cut(net, at, n * net->q_width), t->k =
    cut(net, at, n * net->kv_width);
  t->v = cut(net, at, n * net->kv_width), t->mixed =
    cut(net, at, n * net->q_width);
  t->middle = cut(net, at, d), t->normed2 = cut(net, at, d);
  t->gate = cut(net, at, f), t->up = cut(net, at, f), t->inner =
    cut(net, at, f);
  t->known = cut(net, at, 2 * n * s->n_heads);
}

@ What comes after the layers is needed once. The desk of a worker is large enough for attention
and for any product.
@<Lay out the rooms@>=
static size_t lay_out(struct network *net)
{
  const struct shape *s = &net->form;
  size_t n = net->max_rows, d = n * s->d_model, f =
    n * s->d_inner, at = 0;
  size_t q = n * net->q_width, kv = n * net->kv_width, half =
    s->head_dim / 2;
  for (uint32_t l = 0; l < s->n_layers;
  l++) lay_out_layer(net, &net->traces[l], &at);
  net->last = cut(net, &at, d), net->h = cut(net, &at, d);
  net->logits = cut(net, &at, n * s->vocab_size), net->scales =
    cut(net, &at, n);
  net->dx = cut(net, &at, d), net->dy = cut(net, &at, d);
  net->dmixed = cut(net, &at, q), net->dq = cut(net, &at, q);
  net->dk = cut(net, &at, kv), net->dv = cut(net, &at, kv);
  net->dgate = cut(net, &at, f), net->dup = cut(net, &at, f);
  net->dinner = cut(net, &at, f);
  net->frequency = cut(net, &at, half), net->cosine =
    cut(net, &at, n * half);
  net->sine = cut(net, &at, n * half), net->minus =
    cut(net, &at, n * half);
  net->desk_size = desk_floats(net);
  net->desk = cut(net, &at, net->desk_size
    * pool_workers(net->team.self));
  return at;
}

@ Tensors, traces and positions have blocks of their own; everything made of floats is cut from
one. The frequencies of the rotations are chapter 2's.
@<Open and close a network@>=
static bool prepare(struct memory *m, struct network *net,
  struct error *why)
{
  const struct shape *s = &net->form;
  net->tensors = memory_take(m, FOR_TRAINING,
    2 + N_PARTS * (size_t) s->n_layers,
    sizeof *net->tensors, why);
  if (net->tensors == NULL) return false;
  list_tensors(net);
  net->traces = memory_take(m, FOR_TRAINING, s->n_layers,
    sizeof *net->traces, why);
  if (net->traces == NULL) return false;
  net->positions = memory_take(m, FOR_TRAINING, net->max_rows,
    sizeof(uint32_t), why);
  if (net->positions == NULL) return false;
  net->room_size = lay_out(net);
  net->room = memory_take(m, FOR_TRAINING, net->room_size,
    sizeof(float), why);
  if (net->room == NULL) return false;
  lay_out(net);
  size_t half = s->head_dim / 2;
  for (size_t i = 0; i < half; i++)
    net->frequency[i] = (float) num_pow(10000.0,
      -(double) i / (double) half);
  return true;
}

@ The widths must be multiples of sixteen, because every loop over a row goes in steps of
sixteen. The pieces of the way back are chosen to go with the kernels: wide ones if they are.
@<Open and close a network@>=
struct network *network_open(struct memory *m, const struct shape *s,
  size_t max_rows,
  const struct kernels *k, struct pool *crew, struct error *why)
{
  if (s->d_model % 16 != 0 || s->d_inner % 16 != 0
    || s->head_dim % 16 != 0) {
    error_say(why, "the trainer: widths %u, %u and %u; wanted: multiples of 16",
      (unsigned) s->d_model, (unsigned) s->d_inner,
        (unsigned) s->head_dim);
    return NULL;
  }
  struct network *net = memory_take(m, FOR_TRAINING, 1, sizeof *net, why);
  if (net == NULL) return NULL;
  net->form = *s, net->max_rows = max_rows;
  net->q_width = (size_t) s->n_heads * s->head_dim;
  net->kv_width = (size_t) s->n_kv_heads * s->head_dim;
  net->team = (struct engine) @[{ k, crew, &net->tally }@];
  net->lone = (struct engine) @[{ k, NULL, &net->tally }@];
  net->how = (struct heads) @[{ s->n_heads, s->n_kv_heads, s->head_dim,
    (float) (1 / sqrt((double) s->head_dim)) }@];
  net->back = &slopes_plain;
#if defined __x86_64__
  if (strcmp(k->name, "scalar") != 0) net->back = &slopes_wide;
#endif
  if (prepare(m, net, why)) return net;
  network_close(m, net);
  return NULL;
}

@ Closing returns what was taken, in the same sizes. The three small functions behind it let
others look without letting them touch.
@<Open and close a network@>=
void network_close(struct memory *m, struct network *net)
{
  if (net == NULL) return;
  memory_give(m, FOR_TRAINING, net->tensors,
    2 + N_PARTS * (size_t) net->form.n_layers,
    sizeof *net->tensors);
  memory_give(m, FOR_TRAINING, net->traces, net->form.n_layers,
    sizeof *net->traces);
  memory_give(m, FOR_TRAINING, net->positions, net->max_rows,
    sizeof(uint32_t));
  memory_give(m, FOR_TRAINING, net->room, net->room_size, sizeof(float));
  memory_give(m, FOR_TRAINING, net, 1, sizeof *net);
}
@#
size_t network_count(const struct network *net)
{
  return net->n_parameters;
}
@#
const struct parameter *network_parameter(const struct network *net,
  size_t i)
{
  return i < net->n_tensors ? &net->tensors[i] : NULL;
}
@#
const float *network_logits(const struct network *net)
{
  return net->logits;
}
@#
const struct slopes *network_slopes(const struct network *net)
{
  return net->back;
}

@* Forward, with the engine's own kernels. \label{sec:keeping}
One call of the network is a small struct that travels with the jobs of the pool.

@<One pass of a network@>=
struct course {
  struct network *net; const float *w; float *gradient;
  const struct batch *b; size_t rows;
};
@#
static const float *weight(const struct course *r, uint32_t layer,
  enum part p)
{
  return r->w + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

@ The gradient lies like the weights, so the place of a tensor's gradient is found in the same
way.
@<One pass of a network@>=
static float *slope(const struct course *r, uint32_t layer, enum part p)
{
  return r->gradient + r->net->tensors[1 + layer * N_PARTS + p].offset;
}

@ Every norm and every linear layer of the way forward is a kernel of the engine, or has its
bits. The rows are divided among the workers.
@<One pass of a network@>=
struct linear_job { struct network *net; const float *w, *x;
size_t in, out, rows;
  float *y; };

@ Each worker takes some rows, a multiple of six of them as long as there are enough. How many is
no matter of bits: a row's sums do not know of other rows.
@<One pass of a network@>=
static void linear_part(void *what, unsigned worker, unsigned workers)
{
  const struct linear_job *j = what;
  struct bench t;
  size_t from = j->rows / TILE * worker / workers * TILE;
  size_t to = worker + 1 == workers ? j->rows
    : j->rows / TILE * (worker + 1) / workers * TILE;
  lay_bench(j->net, &t, j->net->desk + worker * j->net->desk_size);
  if (from < to) j->net->back->linear(j->x + from * j->in, to - from,
    j->w, j->in,
    j->out, j->y + from * j->out, t.pack);
}

@ A vocabulary of a test may be no multiple of sixteen; then the kernel itself is called. The two
ways have the same bits, which \cref{sec:trainingcheck} does not take for granted.
@<One pass of a network@>=
static void apply(const struct course *r, const float *w, size_t in,
  size_t out,
  const float *x, float *y)
{
  struct network *net = r->net;
  if (out % 16 == 0) {
    pool_run(net->team.self, linear_part,
      &(struct linear_job) @[{ net, w, x, in, out, r->rows, y }@]);
    return;
  }
  struct matrix one = @[{ .weight = { w, WEIGHT_F32 }, .in =
    in, .out = out }@];
  net->team.k->linear(&net->team, &one, 1, x, r->rows, &y);
}

@ The norm is the engine's, with the same $\epsilon$ as in the settings that will be written.
@<One pass of a network@>=
static void norm_rows(const struct course *r, const float *gain,
  const float *x, float *y)
{
  struct normalizer n = @[{ .kind = NORM_RMS, .gain =
    { gain, WEIGHT_F32 },
    .epsilon = 1e-5f }@];
  r->net->team.k->normalize(&r->net->team, &n, x, r->rows,
    r->net->form.d_model, y);
}

@ The first half of a layer, line by line as in chapter 2: norm, three projections, rotation,
attention, projection, addition. Only the destinations differ; each row has a place where it stays.
@<Through attention, keeping the rows@>=
static void forward_attention(const struct course *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, half = s->head_dim / 2;
  norm_rows(r, weight(r, l, PART_NORM1), t->x, t->normed);
  apply(r, weight(r, l, PART_Q), d, net->q_width, t->normed, t->q);
  apply(r, weight(r, l, PART_K), d, net->kv_width, t->normed, t->k);
  apply(r, weight(r, l, PART_V), d, net->kv_width, t->normed, t->v);
  k->rotate(&net->team, t->q, r->rows, s->n_heads, half, net->cosine,
    net->sine);
  k->rotate(&net->team, t->k, r->rows, s->n_kv_heads, half,
    net->cosine, net->sine);
  pool_run(net->team.self, attend_part,
    &(struct attention) @[{ r, t }@]);
  apply(r, weight(r, l, PART_O), net->q_width, d, t->mixed, t->middle);
  k->add(&net->team, t->middle, t->x, r->rows * d);
}

@ The second half. The way back needs the gate before its curve and the partner beside it, so
both are kept, and their product, which is the input of the last matrix.
@<Through the gated unit, keeping the rows@>=
static void forward_mlp(const struct course *r, uint32_t l, float *y)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  norm_rows(r, weight(r, l, PART_NORM2), t->middle, t->normed2);
  apply(r, weight(r, l, PART_GATE), d, f, t->normed2, t->gate);
  apply(r, weight(r, l, PART_UP), d, f, t->normed2, t->up);
  k->activate(&net->team, ACTIVATION_SILU, t->gate, t->up,
    r->rows * f, t->inner);
  apply(r, weight(r, l, PART_DOWN), f, d, t->inner, y);
  k->add(&net->team, y, t->middle, r->rows * d);
}

@ The kernel |add| adds its second row to its first. The sum of two numbers does not
depend on their order, so it is the engine's sum although ours begins with the other one.
@<A whole pass, kept@>=
bool network_forward(struct network *net, const float *w,
  const struct batch *b,
  struct error *why)
{
  const struct shape *s = &net->form;
  const struct kernels *k = net->team.k;
  struct course r = @[{ .net = net, .w = w, .b = b, .rows =
    b->sequences * b->length }@];
  size_t half = s->head_dim / 2;
  if (r.rows > net->max_rows || b->length > s->n_positions)
    return error_say(why, "the trainer: a pass of %zu rows of %zu; wanted: at most %zu",
      b->sequences, b->length, net->max_rows);
  for (size_t i = 0; i < r.rows; i++) net->positions[i] =
    (uint32_t) (i % b->length);
  k->angles(&net->team, net->positions, r.rows, net->frequency, half,
    1, net->cosine,
    net->sine);
  k->embed(&net->team, (struct tensor) @[{ w, WEIGHT_F32 }@],
    s->d_model, b->inputs,
    r.rows, net->traces[0].x);
  for (uint32_t l = 0; l < s->n_layers; l++) {
    forward_attention(&r, l);
    forward_mlp(&r, l, l + 1 < s->n_layers ? net->traces[l + 1].x
      : net->last);
  }
  norm_rows(&r, w + net->tensors[net->n_tensors - 1].offset, net->last,
    net->h);
  apply(&r, w, s->d_model, s->vocab_size, net->h, net->logits);
  return true;
}

@ Attention is the one place where the kernel of chapter 2 is too slow for us: it takes its
rows one at a time, because the engine mostly has one. Here a row has many
neighbours. So a worker takes a strip of queries of one head against all keys up to the
last of them, as two products; and since each score, each exponential and each sum keeps
its order, the bits stay those of the kernel.

The desk of a worker holds the keys and values of one head as neighbours, the same turned,
their gradients, a strip of scores and of their gradients, and a strip of queries.
@<The desk of a worker@>=
struct bench {
  float *k, *v, *kt, *vt, *dk, *dv, *s, *g, *q, *dy, *dq, *parts,
    *left, *pack;
  size_t ld;
};

@ One function measures the desk and divides it, as for the network's room. The turned keys have
sixteen floats more in a row than there are keys: a power of two would put all rows into the same
sets of the cache.
@<The desk of a worker@>=
static size_t lay_bench(const struct network *net, struct bench *t,
  float *desk)
{
  size_t n = (net->max_rows + 15) / 16 * 16, h =
    net->form.head_dim, at = 0;
  size_t blocks = n / 256 + 2;
  t->ld = n + 16;
  float **room[] = { &t->k, &t->v, &t->kt, &t->vt, &t->dk, &t->dv,
    &t->s, &t->g, &t->q,
    &t->dy, &t->dq, &t->parts, &t->left };
  size_t size[] = { n * h, n * h, t->ld * h, t->ld * h, n * h, n * h,
    STRIP * t->ld,
    STRIP * t->ld, STRIP * h, STRIP * h, STRIP * h, blocks * STRIP * h,
    blocks * STRIP * 2 };
  for (size_t i = 0; i < sizeof room / sizeof room[0]; i++) {
    *room[i] = desk == NULL ? NULL : desk + at;
    at += size[i];
  }
  t->pack = desk == NULL ? NULL : desk + at;
  return at;
}

@ Behind the desk for attention lies the room where products are packed. The widest product
decides its size.
@<The desk of a worker@>=
static size_t desk_floats(const struct network *net)
{
  const struct shape *s = &net->form;
  struct bench t;
  size_t widest = s->d_model > s->d_inner ? s->d_model : s->d_inner;
  if (net->q_width > widest) widest = net->q_width;
  if (s->head_dim > widest) widest = s->head_dim;
  return lay_bench(net, &t, NULL) + DEPTH * (widest + 16 + STRIP);
}

@ The heads that share keys and values go to one worker, sequence by sequence.
@<Attention, a strip of queries at a time@>=
struct attention { const struct course *r; struct trace *t; };
  /* the way forward; and back */
@#
struct group { const struct course *r; struct trace *t; struct bench on;
  size_t first, length, padded, kv; };
@#
static void gather(const float *from, size_t stride, size_t rows,
  size_t h, float *to)
{
  for (size_t i = 0; i < rows; i++)
    memcpy(to + i * h, from + i * stride, h * sizeof *to);
}

@ Keys and values of one head are copied out of their rows, which also hold the other heads'. The
padding is zero, so that what lies there from an earlier use cannot be a NaN.
@<Attention, a strip of queries at a time@>=
static void take_group(struct group *a, size_t unit)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, n_kv = net->form.n_kv_heads, w =
    net->kv_width;
  a->length = a->r->b->length, a->padded = (a->length + 15) / 16 * 16;
  a->first = unit / n_kv * a->length, a->kv = unit % n_kv;
  gather(a->t->k + a->first * w + a->kv * h, w, a->length, h, a->on.k);
  gather(a->t->v + a->first * w + a->kv * h, w, a->length, h, a->on.v);
  size_t rest = (a->padded - a->length) * h * sizeof(float);
  memset(a->on.k + a->length * h, 0, rest);
  memset(a->on.v + a->length * h, 0, rest);
}

@ The scores of a strip are one call of |linear|, with the keys as its weights. Behind the
last key, up to a multiple of sixteen, stand zeros, and behind what a query sees nothing is
read: its exponential is 0.
@<Attention, a strip of queries at a time@>=
static void attend_strip(struct group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, rows = a->length - t0;
  if (rows > STRIP) rows = STRIP;
  size_t n = (t0 + rows + 15) / 16 * 16, at =
    (a->first + t0) * net->q_width + head * h;
  gather(a->t->q + at, net->q_width, rows, h, a->on.q);
  struct matrix keys = @[{ .weight = { a->on.k, WEIGHT_F32 }, .in =
    h, .out = n }@];
  net->lone.k->linear(&net->lone, &keys, 1, a->on.q, rows, &a->on.s);
  for (size_t b = 0; b * 256 < n; b++) @<Weigh a block of the strip,
    and mix its values@>@;
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->join(a->on.left + 2 * i, a->on.parts + i * h,
      (t0 + i) / 256 + 1, h,
      a->t->mixed + row * net->q_width + head * h,
      a->t->known + 2 * (row * net->form.n_heads + head));
  }
}

@ A block holds 256 keys, as in the engine. A query that sees nothing of the block gets no
weights in it; the values are then mixed by a product, whose zeros add nothing to a sum.
@<Weigh a block of the strip, and mix its values@>=
{
  size_t wide = n - 256 * b < 256 ? n - 256 * b : 256;
  for (size_t i = 0; i < rows; i++) {
    float *s = a->on.s + i * n + 256 * b;
    size_t sees = t0 + i + 1 < 256 * b ? 0 : t0 + i + 1 - 256 * b;
    if (sees > 0) net->back->weigh(s, sees < wide ? sees : wide, wide,
      net->how.scale, a->on.left + 2 * (b * STRIP + i));
    else memset(s, 0, wide * sizeof *s);
  }
  net->back->multiply(&(struct product)
    @[{ .a = a->on.s + 256 * b, .a_row = n,
    .a_step = 1, .b = a->on.v + 256 * b * h, .b_step = h, .c = a->on.parts
    + b * STRIP * h, .c_row = h, .rows = rows, .terms = wide, .cols =
      h }@], a->on.pack);
}

@ Sequences and groups of heads are independent of each other, so they are dealt out to the
workers in turn.
@<Attention, a strip of queries at a time@>=
static void attend_part(void *what, unsigned worker, unsigned workers)
{
  const struct attention *job = what;
  struct network *net = job->r->net;
  struct group a = @[{ .r = job->r, .t = job->t }@];
  size_t n_kv = net->form.n_kv_heads, sharing = net->form.n_heads / n_kv;
  lay_bench(net, &a.on, net->desk + worker * net->desk_size);
  for (size_t u = worker; u < job->r->b->sequences * n_kv; u += workers) {
    take_group(&a, u);
    for (size_t h = a.kv * sharing; h < (a.kv + 1) * sharing; h++)
      for (size_t t0 = 0; t0 < a.length;
      t0 += STRIP) attend_strip(&a, h, t0);
  }
}

@* Backward, by hand. \label{sec:backward}
Teacher forcing is the reason why training is affordable. All tokens of a row are known, so one
pass gives the model's guess at every position at once, and each is judged against the token that
really came. Causal attention makes sure that no position sees the answer: the losses of one pass
are exactly those of as many passes over longer and longer beginnings. The tests compare them with
|==|.
@^teacher forcing@>

What follows is the chain rule, read from the last line of the pass to the first. We write $dx$ for
the derivative of the loss by $x$. Three cases cover the whole model.

\smallskip\noindent\emph{A matrix.} From $y=Wx$ follow $dx=W^{\mathsf T}dy$ and
$dW=dy\,x^{\mathsf T}$, summed over the rows. In matrices with one row for each token,
$dX=dY\,W$ and $dW=dY^{\mathsf T}X$.

\smallskip\noindent\emph{A sum.} From $y=x+f(x)$ follows $dx=dy+f'(x)\,dy$: the residual stream hands
$dy$ on untouched and adds what the branch has to say. So one array, |dx|, travels through the whole
model, and each branch adds to it.

\smallskip\noindent\emph{A softmax.} With $p_i=e^{z_i}/\sum_je^{z_j}$ we have $\partial
p_i/\partial z_j=p_i([i=j]-p_j)$, so $dz_j=p_j(dp_j-\sum_ip_i\,dp_i)$. If the loss is $-\log p_r$,
everything collapses into $dz_j=p_j-[j=r]$, which is what was worked out by hand at the beginning.
@^backpropagation@>

The losses come first, row by row; the logits turn into their own gradients in place.

@<Judge the rows@>=
struct verdict { const struct course *r; double *losses; };
@#
static void judge_part(void *what, unsigned worker, unsigned workers)
{
  const struct verdict *j = what;
  const struct network *net = j->r->net;
  size_t v = net->form.vocab_size, to =
    j->r->rows * (worker + 1) / workers;
  for (size_t i = j->r->rows * worker / workers; i < to; i++)
    j->losses[i] = net->back->judge(net->logits + i * v, v,
      j->r->b->targets[i],
      j->r->b->share);
}

@ Judging is a step of its own, so that a caller can look at the logits before they are gone, and
so that an examination can stop here.
@<Judge the rows@>=
void network_judge(struct network *net, const struct batch *b,
  double *losses)
{
  struct course r = @[{ .net = net, .b = b, .rows =
    b->sequences * b->length }@];
  pool_run(net->team.self, judge_part,
    &(struct verdict) @[{ &r, losses }@]);
}

@ A product over all workers: each takes some rows of the result.
@<Products on all workers@>=
struct spread_product { struct network *net; struct product p; };

@ Rows of the result are divided, terms of a sum never. The rest that is no multiple of six goes
to the last worker.
@<Products on all workers@>=
static void product_part(void *what, unsigned worker, unsigned workers)
{
  const struct spread_product *job = what;
  struct product p = job->p;
  struct bench t;
  size_t from = p.rows / TILE * worker / workers * TILE;
  size_t to = p.rows / TILE * (worker + 1) / workers * TILE;
  if (worker + 1 == workers) to = p.rows;
  if (from == to) return;
  float *desk = job->net->desk + worker * job->net->desk_size;
  lay_bench(job->net, &t, desk);
  p.a += from * p.a_row, p.c += from * p.c_row, p.rows = to - from;
  job->net->back->multiply(&p, t.pack);
}

@ Two uses. What a matrix $W$ hands down is $dX=dY\,W$, and its own gradient is
$dW=dY^{\mathsf T}X$. Neither needs anything turned: the strides of the product say from
which side a matrix is read.
@<Products on all workers@>=
static void hand_down(const struct course *r, const float *w,
  size_t in, size_t out,
  const float *dy, float *dx, bool add)
{
  struct spread_product job = { r->net,
    @[{ .a = dy, .a_row = out, .a_step = 1, .b = w,
    .b_step = in, .c = dx, .c_row = in, .rows = r->rows, .terms =
      out, .cols = in,
    .add = add }@] };
  pool_run(r->net->team.self, product_part, &job);
}

@ The gradient of a matrix is added to what is there, because several passes may make up one step.
Its rows are the outputs, its terms the tokens.
@<Products on all workers@>=
static void matrix_slope(const struct course *r, const float *x,
  size_t in,
  const float *dy, size_t out, float *grad)
{
  struct spread_product job = { r->net,
    @[{ .a = dy, .a_row = 1, .a_step = out, .b = x,
    .b_step = in, .c = grad, .c_row = in, .rows = out, .terms =
      r->rows, .cols = in,
    .add = true }@] };
  pool_run(r->net->team.self, product_part, &job);
}

@ Norms on the way back are two jobs, one by rows and one by columns. The first leaves one over the
root mean square of each row behind, for the second.
@<Norms and gates on all workers@>=
struct norm_job { const struct course *r; const float *gain, *x, *dy;
float *dx, *dgain; };
@#
static void norm_rows_part(void *what, unsigned worker, unsigned workers)
{
  const struct norm_job *j = what;
  const struct network *net = j->r->net;
  size_t d = net->form.d_model, to = j->r->rows * (worker + 1) / workers;
  for (size_t i = j->r->rows * worker / workers; i < to; i++)
    net->scales[i] = net->back->norm_back(j->x + i * d, j->gain,
      j->dy + i * d, d,
      j->dx + i * d);
}
@#
static void norm_gain_part(void *what, unsigned worker, unsigned workers)
{
  const struct norm_job *j = what;
  const struct network *net = j->r->net;
  size_t d = net->form.d_model;
  net->back->gain_back(j->x, j->dy, net->scales, j->r->rows, d,
    d / 16 * worker / workers * 16, d / 16 * (worker + 1) / workers
      * 16, j->dgain);
}

@ The gated unit is divided by numbers, sixteen at a time. Attention and the gate share a little
struct, since both need the pass and the layer's rows.
@<Norms and gates on all workers@>=
static void norm_down(const struct course *r, const float *gain,
  const float *x,
  const float *dy, float *dx, float *dgain)
{
  struct norm_job j = { r, gain, x, dy, dx, dgain };
  pool_run(r->net->team.self, norm_rows_part, &j);
  pool_run(r->net->team.self, norm_gain_part, &j);
}
@#
static void gate_part(void *what, unsigned worker, unsigned workers)
{
  const struct attention *j = what;
  const struct network *net = j->r->net;
  size_t n = j->r->rows * net->form.d_inner / 16;
  size_t from = n * worker / workers * 16, to =
    n * (worker + 1) / workers * 16;
  net->back->gate_back(j->t->gate + from, j->t->up + from,
    net->dinner + from,
    to - from, net->dgate + from, net->dup + from);
}

@ Attention on the way back makes the scores again, from the turned keys, and at the same time the
gradients of the weights: $dp_t=dy\cdot v_t$, one product for a strip of queries.
@<Attention on the way back@>=
static void turn(const float *from, size_t rows, size_t cols,
  float *to, size_t ld)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t c = 0; c < cols; c++) to[c * ld + i] = from[i * cols + c];
}
@#
static void scores_back(struct group *a, size_t head, size_t t0,
  size_t rows, size_t n)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, ld = a->on.ld;
  struct product p = @[{ .a = a->on.q, .a_row = h, .a_step = 1, .b =
    a->on.kt,
    .b_step = ld, .c = a->on.s, .c_row = ld, .rows = rows, .terms =
      h, .cols = n }@];
  net->back->multiply(&p, a->on.pack);
  p.a = a->on.dy, p.b = a->on.vt, p.c = a->on.g;
  net->back->multiply(&p, a->on.pack);
  for (size_t i = 0; i < rows; i++) {
    size_t row = a->first + t0 + i;
    net->back->weigh_back(a->on.s + i * ld, a->on.g + i * ld,
      t0 + i + 1, n,
      net->how.scale, a->t->known + 2
        * (row * net->form.n_heads + head),
      a->t->mixed + row * net->q_width + head * h, a->on.dy + i * h, h);
  }
}

@ Then three products more. With $g$ the gradients of the scores, $dq=g\,K$, $dK=g^{\mathsf T}q$
and $dV=p^{\mathsf T}dy$. The last two are sums over all queries that see a key, so they are added up
strip by strip, in rising order.
@<Attention on the way back@>=
static void strip_back(struct group *a, size_t head, size_t t0)
{
  struct network *net = a->r->net;
  size_t h = net->form.head_dim, w = net->q_width, ld = a->on.ld;
  size_t rows = a->length - t0 < STRIP ? a->length - t0 : STRIP;
  size_t keys = t0 + rows, n = (keys + 15) / 16 * 16;
  size_t at = (a->first + t0) * w + head * h;
  gather(a->t->q + at, w, rows, h, a->on.q);
  gather(net->dmixed + at, w, rows, h, a->on.dy);
  scores_back(a, head, t0, rows, n);
  struct product q = @[{ .a = a->on.g, .a_row = ld, .a_step = 1, .b =
    a->on.k, .b_step = h,
    .c = net->dq + at, .c_row = w, .rows = rows, .terms = keys, .cols =
      h }@];
  net->back->multiply(&q, a->on.pack);
  struct product k = @[{ .a = a->on.g, .a_row = 1, .a_step = ld, .b =
    a->on.q, .b_step = h,
    .c = a->on.dk, .c_row = h, .rows = keys, .terms = rows, .cols =
      h, .add = true }@];
  net->back->multiply(&k, a->on.pack);
  k.a = a->on.s, k.b = a->on.dy, k.c = a->on.dv;
  net->back->multiply(&k, a->on.pack);
}

@ The group's heads share keys and values, and therefore add to the same gradients, head after
head. One worker does the whole group; two would have to agree on an order.
@<Attention on the way back@>=
static void attend_back_part(void *what, unsigned worker,
  unsigned workers)
{
  const struct attention *job = what;
  struct network *net = job->r->net;
  struct group a = @[{ .r = job->r, .t = job->t }@];
  size_t h = net->form.head_dim, n_kv = net->form.n_kv_heads, w =
    net->kv_width;
  size_t sharing = net->form.n_heads / n_kv;
  lay_bench(net, &a.on, net->desk + worker * net->desk_size);
  for (size_t u = worker; u < job->r->b->sequences * n_kv; u += workers) {
    take_group(&a, u);
    turn(a.on.k, a.padded, h, a.on.kt, a.on.ld);
    turn(a.on.v, a.padded, h, a.on.vt, a.on.ld);
    memset(a.on.dk, 0, a.padded * h * sizeof(float));
    memset(a.on.dv, 0, a.padded * h * sizeof(float));
    for (size_t head = a.kv * sharing; head < (a.kv + 1) * sharing; head++)
      for (size_t t0 = 0; t0 < a.length;
      t0 += STRIP) strip_back(&a, head, t0);
    @<Hand out the gradients of the group's keys and values@>@;
  }
}

@ Back to rows in which all heads stand side by side, where the rotation can be undone and the
projection follows.
@<Hand out the gradients of the group's keys and values@>=
for (size_t i = 0; i < a.length; i++) {
  size_t at = (a.first + i) * w + a.kv * h;
  memcpy(net->dk + at, a.on.dk + i * h, h * sizeof(float));
  memcpy(net->dv + at, a.on.dv + i * h, h * sizeof(float));
}

@ The second half of a layer, backwards. The first line of the way forward is the last one here,
and each matrix appears twice: once for its own gradient, once to hand down.
@<Back through the gated unit@>=
static void backward_mlp(const struct course *r, uint32_t l)
{
  struct network *net = r->net;
  struct trace *t = &net->traces[l];
  size_t d = net->form.d_model, f = net->form.d_inner;
  matrix_slope(r, t->inner, f, net->dx, d, slope(r, l, PART_DOWN));
  hand_down(r, weight(r, l, PART_DOWN), f, d, net->dx, net->dinner,
    false);
  pool_run(net->team.self, gate_part, &(struct attention) @[{ r, t }@]);
  matrix_slope(r, t->normed2, d, net->dgate, f, slope(r, l, PART_GATE));
  matrix_slope(r, t->normed2, d, net->dup, f, slope(r, l, PART_UP));
  hand_down(r, weight(r, l, PART_GATE), d, f, net->dgate, net->dy, false);
  hand_down(r, weight(r, l, PART_UP), d, f, net->dup, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM2), t->middle, net->dy, net->dx,
    slope(r, l, PART_NORM2));
}

@ The first half, backwards. A rotation by an angle is undone by one by its negative; so the
gradient of a rotated row is rotated back by the engine's own kernel.
@<Back through attention@>=
static void backward_attention(const struct course *r, uint32_t l)
{
  struct network *net = r->net;
  const struct kernels *k = net->team.k;
  const struct shape *s = &net->form;
  struct trace *t = &net->traces[l];
  size_t d = s->d_model, q = net->q_width, kv = net->kv_width, half =
    s->head_dim / 2;
  matrix_slope(r, t->mixed, q, net->dx, d, slope(r, l, PART_O));
  hand_down(r, weight(r, l, PART_O), q, d, net->dx, net->dmixed, false);
  pool_run(net->team.self, attend_back_part,
    &(struct attention) @[{ r, t }@]);
  k->rotate(&net->team, net->dq, r->rows, s->n_heads, half,
    net->cosine, net->minus);
  k->rotate(&net->team, net->dk, r->rows, s->n_kv_heads, half,
    net->cosine, net->minus);
  matrix_slope(r, t->normed, d, net->dq, q, slope(r, l, PART_Q));
  matrix_slope(r, t->normed, d, net->dk, kv, slope(r, l, PART_K));
  matrix_slope(r, t->normed, d, net->dv, kv, slope(r, l, PART_V));
  hand_down(r, weight(r, l, PART_Q), d, q, net->dq, net->dy, false);
  hand_down(r, weight(r, l, PART_K), d, kv, net->dk, net->dy, true);
  hand_down(r, weight(r, l, PART_V), d, kv, net->dv, net->dy, true);
  norm_down(r, weight(r, l, PART_NORM1), t->x, net->dy, net->dx,
    slope(r, l, PART_NORM1));
}

@ At the bottom each token's row of the embedding gets the gradient of its place, and a token that
stands there twice gets both. At the top the same matrix was the head, so its gradient has two parts
of very different kinds; tied, they simply add up.
@<The whole way back@>=
static void embed_back(void *what, unsigned worker, unsigned workers)
{
  const struct course *r = what;
  size_t d = r->net->form.d_model, from = d * worker / workers;
  size_t to = d * (worker + 1) / workers;
  for (size_t i = 0; i < r->rows; i++)
    for (size_t k = from; k < to; k++)
      r->gradient[r->b->inputs[i] * d + k] += r->net->dx[i * d + k];
}
@#
void network_backward(struct network *net, const float *w,
  const struct batch *b,
  float *gradient)
{
  const struct shape *s = &net->form;
  struct course r = { net, w, gradient, b, b->sequences * b->length };
  size_t d = s->d_model, norm = net->tensors[net->n_tensors - 1].offset;
  for (size_t i = 0; i < r.rows * s->head_dim / 2;
  i++) net->minus[i] = -net->sine[i];
  matrix_slope(&r, net->h, d, net->logits, s->vocab_size, gradient);
  hand_down(&r, w, d, s->vocab_size, net->logits, net->dy, false);
  memset(net->dx, 0, r.rows * d * sizeof *net->dx);
  norm_down(&r, w + norm, net->last, net->dy, net->dx, gradient + norm);
  for (uint32_t l = s->n_layers; l-- > 0;) {
    backward_mlp(&r, l);
    backward_attention(&r, l);
  }
  pool_run(net->team.self, embed_back, &r);
}

@ The pieces follow in the order in which they are needed.
@(network.c@>=
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "A1-training/network.h"
#include "A6-kernels/numbers.h"
@;@#
@<What a network holds@>@;
@<Tensors by name@>@;
@<The desk of a worker@>@;
@<Lay out the rooms@>@;
@<Open and close a network@>@;
@<One pass of a network@>@;
@<Attention, a strip of queries at a time@>@;
@<Through attention, keeping the rows@>@;
@<Through the gated unit, keeping the rows@>@;
@<A whole pass, kept@>@;
@<Judge the rows@>@;
@<Products on all workers@>@;
@<Norms and gates on all workers@>@;
@<Attention on the way back@>@;
@<Back through the gated unit@>@;
@<Back through attention@>@;
@<The whole way back@>@;

@* Rows, plan and steps. \label{sec:plan}
A run is a plan, carried out step by step. The header shows the plan, what feeds a run, and the
run itself.

@(training.h@>=
#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "A1-training/corpus.h"
#include "A1-training/network.h"
#include "01-tokens/tokenizer.h"
@<A plan for a training run@>@;
@<What feeds a training run@>@;
@<A training run from outside@>@;
#endif

@ A plan is data, not code. Whoever wants another model writes another plan; the two of this
project are constants, because their runs have to be repeatable.
@<A plan for a training run@>=
struct stretch { uint64_t tokens; uint32_t sequences, length, passes;
  float from, to; uint32_t warm_up; bool averaged; };
  /* so many tokens, in steps of |passes| times |sequences| rows of |length|
     tokens; the rate falls in a straight line from |from| to |to|,
       after rising over
     |warm_up| steps; a running mean of the weights is kept if |averaged| */
enum { STRETCHES = 3 };
struct plan { const char *name, *directory; struct shape form;
  struct stretch leg[STRETCHES]; uint64_t seed; };
  /* a model, how it is trained, and the seed of its first weights */
extern const struct plan plan_model, plan_draft;
  /* the built-in model, and its small sibling */
uint64_t plan_steps(const struct plan *p);
  /* steps of all stretches */
uint64_t plan_tokens(const struct plan *p);
  /* tokens of all stretches, as planned */

@ What a run eats are rows of tokens. They come from texts that are written when they are needed:
no text is seen twice, so every loss of the training is the loss on something new.
@<What feeds a training run@>=
enum { TOKENIZER_TEXTS = 20000, MERGES = 1791 };
bool training_merges(struct memory *m, const struct grammar *g,
  struct bpe_merge **out,
  size_t *n, struct error *why);
  /* learns |MERGES| merges from the texts of |SEED_TOKENIZER|; given back by
     |bpe_forget| */
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

@ A run can be stopped after any step and taken up again, on this machine or on another. The
state is everything that the next step depends on.
@<A training run from outside@>=
struct trainer;
struct progress { uint64_t step, tokens; float loss, rate; };
  /* what has been done, the mean loss of the last step in nats, its rate */
struct trainer *trainer_open(struct memory *m, const struct plan *p,
  const struct kernels *k, struct pool *crew, struct source *s,
    struct error *why);
  /* a run before its first step; owned by the caller, who keeps the rest */
void trainer_close(struct memory *m, struct trainer *t);
  /* returns its memory; null is nothing */
bool trainer_step(struct trainer *t, struct progress *done,
  struct error *why);
  /* one step */
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why);
  /* writes the whole state to a file */
bool trainer_load(struct trainer *t, const char *path,
  struct progress *done,
  struct error *why);
  /* takes the state from a file; a run that goes on from it ends in the same bits */
const float *trainer_weights(const struct trainer *t);
  /* the running mean if there is one, else the weights */
struct network *trainer_network(const struct trainer *t);
  /* the network of the run */

@ The plan of the built-in model has three stretches. Rows of 512 tokens first, two to a step, which
is cheap and makes many small steps; then rows as long as the context, since positions that were
never trained fail badly; then a calm stretch of large steps at a falling rate, with an average of
the weights. The last one hardly lowers the loss. It is there for the fork: a model can be
excellent on the average and still prefer one of two equal roads, by the accident of its last few
steps.

The sibling has two layers instead of six and a quarter of the tokens.
@<Plans@>=
const struct plan plan_model = { "pocket", "models/pocket",
  @[{ 6, 128, 4, 2, 32, 384, 2048, 2048 }@],
  @[{ { 7000000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 2000000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 1600000, 1, 2048, 4, 1e-3f, 0, 20, true } }@], 1 };
const struct plan plan_draft = { "draft", "models/draft",
  @[{ 2, 128, 4, 2, 32, 384, 2048, 2048 }@],
  @[{ { 1600000, 2, 512, 1, 7e-3f, 1.4e-3f, 150, false },@|
    { 400000, 1, 2048, 1, 1.4e-3f, 0, 1, false },@|
    { 300000, 1, 2048, 4, 1e-3f, 0, 10, true } }@], 2 };

@ A stretch that its tokens do not divide evenly takes one step more. The step counts are needed
for the rate, which falls with them, and for the progress line.
@<Plans@>=
static uint64_t stretch_steps(const struct stretch *s)
{
  uint64_t each_step = (uint64_t) s->sequences * s->length * s->passes;
  return (s->tokens + each_step - 1) / each_step;
}
@#
uint64_t plan_steps(const struct plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < STRETCHES; i++) n += stretch_steps(&p->leg[i]);
  return n;
}

@ Tokens are counted as planned, not as rounded up to whole steps; this number is only for people
who wait.
@<Plans@>=
uint64_t plan_tokens(const struct plan *p)
{
  uint64_t n = 0;
  for (int i = 0; i < STRETCHES; i++) n += p->leg[i].tokens;
  return n;
}

@ The tokenizer learns from texts of a seed of its own.
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
    ok = grammar_write(g, SEED_TOKENIZER, i, p, why);
    if (ok && p->length > room - *length)
      ok = error_say(why, "the trainer: %zu bytes of text do not fit",
        room);
    if (ok) memcpy(all + *length, p->words, p->length), *length +=
      p->length;
  }
  memory_give(m, FOR_TRAINING, p, p == NULL ? 0 : 1, sizeof *p);
  if (!ok) memory_give(m, FOR_TRAINING, all, room, 1);
  return ok ? all : NULL;
}

@ Ten megabytes are read by chapter 1's trainer, which takes a second, and given back at once. The
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
them, until it is full; what is left of the last text is dropped. Every other row begins with
end-of-text, so the model learns to begin with and without it.
@<Rows of tokens@>=
struct source { struct memory *m; const struct grammar *g;
struct tokenizer *t;
  uint64_t seed, at; struct passage *piece; struct ids list; };

@ Cutting the last text off, instead of going on with it in the next row, keeps one promise: a row
begins where a text begins, so nothing in it refers to what is not there.
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
@#
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

@ The part of a run that must survive an interruption stands together in one struct without
pointers. Four rows of floats belong to it: weights, the two moments and the mean. The gradient is 0
between steps.
@<What a run holds@>=
enum { BLOCKS = 64 };
struct trainer {
  const struct plan *p; struct pool *crew; struct source *feed;
  struct network *net;
  size_t n, max_rows;
  float *w, *gradient, *first, *second, *mean; bool *decays;
  uint32_t *row, *inputs, *targets; double *losses;
  struct state { uint64_t mark, n, step, step_of_stretch, tokens,
    averaged, at;
    uint64_t leg; double power1, power2; } now;
  struct moments move; double part_square[BLOCKS];
};

@ The first weights are drawn from a normal distribution, or near enough: the sum of twelve
uniform numbers has variance 1 and needs no logarithm.
@<Draw the first weights@>=
static float noise(uint64_t *dice)
{
  int32_t sum = 0;
  for (int i = 0; i < 12; i++) {
    uint64_t z = *dice += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    sum += (int32_t) (z >> 48) - 32768;
  }
  return (float) sum / 65536;
}

@ How large the first weights are decides how well the first steps go. Matrices get $0.5$ over the
root of their inputs; those that add to the residual stream are smaller still, because twelve of
them add up.
@<Draw the first weights@>=
static void draw_weights(struct trainer *t)
{
  uint64_t dice = t->p->seed << 32;
  const struct parameter *p;
  for (size_t i = 0; (p = network_parameter(t->net, i)) != NULL; i++) {
    bool last = strstr(p->name, "o_proj") != NULL
      || strstr(p->name, "down_proj") != NULL;
    float layers = last ? 2 * (float) t->p->form.n_layers : 1;
    float size = i == 0 ? 0.02f : 0.5f / sqrtf((float) p->cols * layers);
    for (size_t k = p->offset; k < p->offset + p->rows * p->cols; k++) {
      t->w[k] = p->rows == 1 ? 1 : size * noise(&dice);
      t->decays[k] = p->rows > 1;
    }
  }
}

@ Five rows of floats as long as the weights, three rows of tokens, and a loss for every row. With
the network's own room that is all a run takes.
@<Open and close a training run@>=
static bool take_rooms(struct memory *m, struct trainer *t,
  struct error *why)
{
  float **room[] = { &t->w, &t->gradient, &t->first, &t->second,
    &t->mean };
  for (int i = 0; i < 5; i++)
    if ((*room[i] = memory_take(m, FOR_TRAINING, t->n, sizeof(float),
      why)) == NULL)
      return false;
  uint32_t **row[] = { &t->row, &t->inputs, &t->targets };
  for (int i = 0; i < 3; i++)
    if ((*row[i] = memory_take(m, FOR_TRAINING, t->max_rows + 1,
      sizeof(uint32_t), why))
      == NULL) return false;
  t->losses = memory_take(m, FOR_TRAINING, t->max_rows,
    sizeof *t->losses, why);
  if (t->losses == NULL) return false;
  t->decays = memory_take(m, FOR_TRAINING, t->n, sizeof *t->decays, why);
  return t->decays != NULL;
}

@ The largest step of the plan decides how many rows there must be room for. A trainer that could
not get all of its memory returns what it got.
@<Open and close a training run@>=
struct trainer *trainer_open(struct memory *m, const struct plan *p,
  const struct kernels *k, struct pool *crew, struct source *s,
    struct error *why)
{
  struct trainer *t = memory_take(m, FOR_TRAINING, 1, sizeof *t, why);
  if (t == NULL) return NULL;
  t->p = p, t->crew = crew, t->feed = s;
  t->now = (struct state) @[{ .mark = STATE_MARK, .power1 = 1, .power2 =
    1 }@];
  for (int i = 0; i < STRETCHES; i++) {
    size_t rows = (size_t) p->leg[i].sequences * p->leg[i].length;
    if (rows > t->max_rows) t->max_rows = rows;
  }
  t->net = network_open(m, &p->form, t->max_rows, k, crew, why);
  if (t->net != NULL) t->now.n = t->n = network_count(t->net);
  if (t->net != NULL && take_rooms(m, t, why)) {
    draw_weights(t);
    return t;
  }
  trainer_close(m, t);
  return NULL;
}
@#
void trainer_close(struct memory *m, struct trainer *t)
{
  if (t == NULL) return;
  float *room[] = { t->w, t->gradient, t->first, t->second, t->mean };
  for (int i = 0; i < 5; i++) memory_give(m, FOR_TRAINING, room[i],
    t->n, sizeof(float));
  uint32_t *row[] = { t->row, t->inputs, t->targets };
  for (int i = 0; i < 3; i++)
    memory_give(m, FOR_TRAINING, row[i], t->max_rows + 1,
      sizeof(uint32_t));
  memory_give(m, FOR_TRAINING, t->losses, t->max_rows, sizeof *t->losses);
  memory_give(m, FOR_TRAINING, t->decays, t->n, sizeof *t->decays);
  network_close(m, t->net);
  memory_give(m, FOR_TRAINING, t, 1, sizeof *t);
}

@ The length of the gradient is summed in 64 blocks, whoever sums them, and the blocks in their
order. The step itself has no sums at all.
@<A step of training@>=
static void square_part(void *what, unsigned worker, unsigned workers)
{
  struct trainer *t = what;
  for (size_t b = worker; b < BLOCKS; b += workers) {
    size_t from = t->n * b / BLOCKS, to = t->n * (b + 1) / BLOCKS;
    t->part_square[b] = network_slopes(t->net)->square(t->gradient
      + from, to - from);
  }
}
@#
static void adam_part(void *what, unsigned worker, unsigned workers)
{
  struct trainer *t = what;
  network_slopes(t->net)->adam(&t->move,
    t->n / 64 * worker / workers * 64,
    worker + 1 == workers ? t->n : t->n / 64 * (worker + 1) / workers
      * 64);
}

@ One pass: rows from the source, each token's target the token behind it, forward, judge,
backward. Every loss counts the same share, also when a step is made of several passes.
@<A step of training@>=
static bool learn_from_rows(struct trainer *t, const struct stretch *s,
  double *sum,
  struct error *why)
{
  size_t n = s->length;
  for (uint32_t i = 0; i < s->sequences; i++) {
    if (!source_row(t->feed, t->row, n + 1, why)) return false;
    memcpy(t->inputs + i * n, t->row, n * sizeof *t->inputs);
    memcpy(t->targets + i * n, t->row + 1, n * sizeof *t->inputs);
  }
  struct batch b = { t->inputs, t->targets, s->sequences, n,
    1.0f / (float) (s->sequences * n * s->passes) };
  if (!network_forward(t->net, t->w, &b, why)) return false;
  network_judge(t->net, &b, t->losses);
  network_backward(t->net, t->w, &b, t->gradient);
  for (size_t i = 0; i < s->sequences * n; i++) *sum += t->losses[i];
  t->now.tokens += s->sequences * n;
  return true;
}

@ The rate rises in a straight line over the first steps and then falls in a straight line. A
gradient longer than 1 is shortened to 1, which keeps one strange text from undoing what many
others have taught. The mean's memory grows with it, up to a limit.
@^AdamW@>@^clipping@>
@<A step of training@>=
static void move_weights(struct trainer *t, const struct stretch *s)
{
  struct state *now = &t->now;
  double square = 0;
  pool_run(t->crew, square_part, t);
  for (int b = 0; b < BLOCKS; b++) square += t->part_square[b];
  float gone = (float) now->step_of_stretch / (float) stretch_steps(s);
  float rise = (float) (now->step_of_stretch + 1) / (float) s->warm_up;
  float rate = fmaf(gone, s->to - s->from, s->from)
    * (rise < 1 ? rise : 1);
  now->power1 *= (double) 0.9f, now->power2 *= (double) 0.95f;
  if (s->averaged) now->averaged++;
  float keep = (float) (now->averaged - 1) / (float) (now->averaged + 9);
  t->move = (struct moments) { t->w, t->gradient, t->first, t->second,
    s->averaged ? t->mean : NULL, t->decays, rate,
    square > 1 ? (float) (1 / sqrt(square))
      : 1, (float) (1 / (1 - now->power1)),
    (float) (1 / (1 - now->power2)), keep < 0.98f ? keep : 0.98f };
  pool_run(t->crew, adam_part, t);
}

@ A step is as many passes as the plan says and one move of the weights. When a stretch is over, the
next begins with its own rate, but with the moments of the last.
@<A step of training@>=
bool trainer_step(struct trainer *t, struct progress *done,
  struct error *why)
{
  const struct stretch *s = &t->p->leg[t->now.leg];
  double sum = 0;
  for (uint32_t pass = 0; pass < s->passes; pass++)
    if (!learn_from_rows(t, s, &sum, why)) return false;
  move_weights(t, s);
  t->now.at = source_at(t->feed);
  t->now.step++, t->now.step_of_stretch++;
  if (t->now.step_of_stretch == stretch_steps(s)
    && t->now.leg + 1 < STRETCHES)
    t->now.leg++, t->now.step_of_stretch = 0;
  double rows = (double) s->sequences * s->length * s->passes;
  *done = (struct progress) { t->now.step, t->now.tokens,
    (float) (sum / rows),
    t->move.rate };
  return true;
}

@ The state is written to a file beside the old one and then renamed, so that there is a whole
state at any moment, even if the power fails. Loading believes nothing: a mark, the number of weights
and the length of the file have to be right.
@<Save and load a run@>=
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why)
{
  char half[512];
  snprintf(half, sizeof half, "%s.new", path);
  FILE *f = fopen(half, "wb");
  if (f == NULL) return error_say(why, "%s: cannot be written", half);
  bool ok = fwrite(&t->now, sizeof t->now, 1, f) == 1;
  const float *room[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; i < 4; i++) ok = fwrite(room[i], sizeof(float), t->n,
    f) == t->n && ok;
  ok = fclose(f) == 0 && ok;
  return (ok && rename(half, path) == 0)
    || error_say(why, "%s: cannot be written", path);
}
@#
bool trainer_load(struct trainer *t, const char *path,
  struct progress *done,
  struct error *why)
{
  FILE *f = fopen(path, "rb");
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  struct state now;
  bool ok = fread(&now, sizeof now, 1, f) == 1
    && now.mark == STATE_MARK && now.n == t->n;
  float *room[] = { t->w, t->first, t->second, t->mean };
  for (int i = 0; ok && i < 4; i++) ok =
    fread(room[i], sizeof(float), t->n, f) == t->n;
  fclose(f);
  if (!ok) return error_say(why, "%s: no state of this run; wanted: one of %zu weights",
    path, t->n);
  t->now = now;
  source_seek(t->feed, now.at);
  *done = (struct progress) @[{ .step = now.step, .tokens = now.tokens }@];
  return true;
}
@#
const float *trainer_weights(const struct trainer *t)
{
  return t->now.averaged > 0 ? t->mean : t->w;
}
@#
struct network *trainer_network(const struct trainer *t)
{
  return t->net;
}

@ The pieces of the run follow in the order in which they are needed.
@(training.c@>=
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "A1-training/training.h"
@;@#
#define STATE_MARK UINT64_C(0x31746970696e63)
@<Plans@>@;
@<The merges of the built-in model@>@;
@<Rows of tokens@>@;
@<What a run holds@>@;
@<Draw the first weights@>@;
@<Open and close a training run@>@;
@<A step of training@>@;
@<Save and load a run@>@;

@* What is written down. \label{sec:publish}
At the end the weights are rounded once, to sixteen bits, and written where any program that
knows Hugging Face's layout will find them: the settings, the weights, the tokenizer. From
then on the rounded numbers \emph{are} the model. Widening them again changes nothing, so no
later chapter has to speak of two models that differ a little.

@(publish.h@>=
#ifndef INCIPIT_PUBLISH_H
#define INCIPIT_PUBLISH_H
#include "A1-training/training.h"
void weights_round(float *w, size_t n);
  /* each to the nearest number that sixteen bits can hold, IEEE binary16 */
bool model_write(struct memory *m, const char *directory,
  const struct shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why);
  /* writes a directory that |model_open| and |tokenizer_open| read: weights in
     binary16, a tokenizer of |n| merges unless |merge| is null;
     the directory is
     there already */
#endif

@ Rounding is tried at once, so that a trainer's own numbers can be compared with those of a
file.
@<Round to sixteen bits@>=
void weights_round(float *w, size_t n)
{
  for (size_t i = 0; i < n; i++) w[i] = num_from_f16(num_to_f16(w[i]));
}

@ A file is opened in a directory, and its name goes into the sentence if that fails.
@<Open a file of a directory@>=
static FILE *open_in(const char *directory, const char *name,
  char path[512],
  struct error *why)
{
  snprintf(path, 512, "%s/%s", directory, name);
  FILE *f = fopen(path, "wb");
  if (f == NULL) error_say(why, "%s: cannot be written", path);
  return f;
}

@ Whether everything could be written is known only when the file is closed: a full disk may be
noticed as late as that.
@<Open a file of a directory@>=
static bool close_file(FILE *f, const char *path, struct error *why)
{
  bool ok = ferror(f) == 0;
  return (fclose(f) == 0 && ok) || error_say(why,
    "%s: cannot be written", path);
}

@ The header of a safetensors file is a line of JSON that says for each tensor its type, its
shape and where its bytes begin and end. It is padded with blanks so that the numbers behind
it lie at a multiple of eight.
@<Write the weights@>=
static size_t header_write(const struct network *net, char *to,
  size_t room)
{
  const struct parameter *p;
  int n = snprintf(to, room, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; (p = network_parameter(net, i)) != NULL; i++) {
    char dims[48];
    if (p->rows == 1) snprintf(dims, sizeof dims, "%zu", p->cols);
    else snprintf(dims, sizeof dims, "%zu,%zu", p->rows, p->cols);
    n += snprintf(to + n, room - (size_t) n,
      ",\"%s\":{\"dtype\":\"F16\",\"shape\":"@|
      "[%s],\"data_offsets\":[%zu,%zu]}", p->name, dims, 2 * p->offset,
      2 * (p->offset + p->rows * p->cols));
  }
  n += snprintf(to + n, room - (size_t) n, "}");
  while (n % 8 != 0) to[n++] = ' ';
  return (size_t) n;
}

@ Bytes are written one by one, least significant first, whatever the machine's order.
@<Write the weights@>=
static bool weights_write(struct memory *m, const char *directory,
  const struct network *net, const float *w, struct error *why)
{
  char path[512];
  size_t room = 65536, n = network_count(net);
  char *header = memory_take(m, FOR_TRAINING, room, 1, why);
  FILE *f = header == NULL ? NULL : open_in(directory,
    "model.safetensors", path, why);
  bool ok = f != NULL;
  if (ok) {
    size_t size = header_write(net, header, room - 8);
    for (int i = 0; i < 8; i++) fputc((int) (size >> 8 * i & 0xff), f);
    fwrite(header, 1, size, f);
    for (size_t i = 0; i < n; i++) {
      uint16_t h = num_to_f16(w[i]);
      fputc(h & 0xff, f), fputc(h >> 8, f);
    }
    ok = close_file(f, path, why);
  }
  memory_give(m, FOR_TRAINING, header, header == NULL ? 0 : room, 1);
  return ok;
}

@ The settings are those that version 4 and 5 of transformers write, no more than are needed.
@<Write the settings@>=
static bool settings_write(const char *directory, const struct shape *s,
  struct error *why)
{
  char path[512];
  FILE *f = open_in(directory, "config.json", path, why);
  if (f == NULL) return false;
  fprintf(f, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n"@|
    "  \"model_type\": \"llama\",\n  \"vocab_size\": %u,\n  \"hidden_size\": %u,\n"@|
    "  \"intermediate_size\": %u,\n  \"num_hidden_layers\": %u,\n"@|
    "  \"num_attention_heads\": %u,\n  \"num_key_value_heads\": %u,\n"@|
    "  \"head_dim\": %u,\n  \"max_position_embeddings\": %u,\n",
      s->vocab_size,
    s->d_model, s->d_inner, s->n_layers, s->n_heads, s->n_kv_heads,
      s->head_dim,
    s->n_positions);
  fprintf(f, "  \"hidden_act\": \"silu\",\n  \"rms_norm_eps\": 1e-05,\n"@|
    "  \"rope_theta\": 10000.0,\n  \"rope_scaling\": null,\n"@|
    "  \"attention_bias\": false,\n  \"mlp_bias\": false,\n"@|
    "  \"tie_word_embeddings\": true,\n  \"bos_token_id\": 0,\n"@|
    "  \"eos_token_id\": 0,\n  \"torch_dtype\": \"float16\"\n}\n");
  if (!close_file(f, path, why)) return false;
  f = open_in(directory, "generation_config.json", path, why);
  if (f == NULL) return false;
  fprintf(f, "{\n  \"bos_token_id\": 0,\n  \"eos_token_id\": 0\n}\n");
  return close_file(f, path, why);
}

@ Three files and the tokenizer are a model. The test for the network writes a directory without a
tokenizer, hence the null.
@<Write a model's directory@>=
bool model_write(struct memory *m, const char *directory,
  const struct shape *s,
  const struct network *net, const float *w,
    const struct bpe_merge *merge, size_t n,
  struct error *why)
{
  char path[512];
  if (!weights_write(m, directory, net, w, why)
    || !settings_write(directory, s, why)) return false;
  snprintf(path, sizeof path, "%s/tokenizer.json", directory);
  return merge == NULL || tokenizer_write(m, path, merge, n, why);
}

@ The writer is a module of its own, because later chapters write small models for their tests.
@(publish.c@>=
#include <stdio.h>
#include "A1-training/publish.h"
#include "A6-kernels/numbers.h"
@;@#
@<Round to sixteen bits@>@;
@<Open a file of a directory@>@;
@<Write the weights@>@;
@<Write the settings@>@;
@<Write a model's directory@>@;

@* The run. \label{sec:run}
The training itself is a loop around |trainer_step| that writes the log, saves its state
every few minutes and says how long it will still take. Everything a run needs hangs
together in one struct.

@<Train@>=
struct run {
  struct memory m; struct error why;
  struct grammar *g; struct bpe_merge *merges; size_t n_merges;
  struct tokenizer *words; struct source *feed; struct pool *crew;
  struct trainer *t; struct progress done;
};

@ The tokenizer is learnt again in every run. It takes a second, and a run that begins with nothing
but its seed cannot use a tokenizer that somebody forgot to renew.
@<Train@>=
static bool run_open(struct run *r, const struct plan *p,
  unsigned workers)
{
  const struct kernels *k = kernels_find(NULL, &r->why);
  r->g = grammar_open(&r->m, &r->why);
  if (r->g == NULL || k == NULL
    || !training_merges(&r->m, r->g, &r->merges, &r->n_merges,
      &r->why)) return false;
  r->words = tokenizer_from_merges(&r->m, r->merges, r->n_merges,
    &r->why);
  if (r->words == NULL) return false;
  r->feed = source_open(&r->m, r->g, r->words, SEED_TRAINING, &r->why);
  r->crew = pool_open(&r->m, workers, &r->why);
  if (r->feed == NULL || r->crew == NULL) return false;
  r->t = trainer_open(&r->m, p, k, r->crew, r->feed, &r->why);
  return r->t != NULL;
}

@ Everything goes back, in reverse. A run that failed half-way is closed by the same lines.
@<Train@>=
static void run_close(struct run *r)
{
  trainer_close(&r->m, r->t);
  pool_close(&r->m, r->crew);
  source_close(&r->m, r->feed);
  tokenizer_close(&r->m, r->words);
  bpe_forget(&r->m, r->merges, MERGES);
  grammar_close(&r->m, r->g);
}

@ A run that was interrupted goes on from its last saved state, and its log is cut back to
the steps of that state.
@<Train@>=
static FILE *log_open(const char *path, uint64_t steps)
{
  char half[320], line[120];
  snprintf(half, sizeof half, "%s.new", path);
  FILE *old = fopen(path, "r"), *new = fopen(half, "w");
  if (new == NULL) return NULL;
  fprintf(new, "step,tokens,loss,rate\n");
  if (old != NULL) {
    if (fgets(line, sizeof line, old) != NULL)
      for (uint64_t i = 0; i < steps && fgets(line, sizeof line, old)
        != NULL; i++)
        fputs(line, new);
    fclose(old);
  }
  return rename(half, path) == 0 ? new : NULL;
}

@ Seconds are for the progress line and for the moments of saving. No weight ever depends on
them.
@<Train@>=
static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

@ The loop. One line of the log for each step, with nine digits of the loss, which are enough to
tell any two floats apart; a progress line every ten seconds; the state every two minutes.
@<Train@>=
static bool run_steps(struct run *r, const struct plan *p,
  const char *kept, FILE *log)
{
  uint64_t last = plan_steps(p), n = 0;
  double start = seconds(), saved = start, said = start, mean =
    0, left = 0;
  while (r->done.step < last) {
    uint64_t before = r->done.tokens;
    if (!trainer_step(r->t, &r->done, &r->why)) return false;
    fprintf(log, "%llu,%llu,%.9g,%.9g\n",
      (unsigned long long) r->done.step,
      (unsigned long long) r->done.tokens, (double) r->done.loss,
        (double) r->done.rate);
    n += r->done.tokens - before;
    mean = 0.98 * mean + 0.02 * (double) r->done.loss, left =
      0.98 * left + 0.02;
    double now = seconds();
    if (now - said > 10) @<Say how far the run is@>@;
    if (now - saved > 120 || r->done.step == last) {
      if (fflush(log) != 0 || !trainer_save(r->t, kept,
        &r->why)) return false;
      saved = now;
    }
  }
  return true;
}

@ The time that is left is reckoned from the rate so far. In the stretches with long rows it is too
hopeful, since a long row costs more for each token.
@<Say how far the run is@>=
{
  double rate = (double) n / (now - start);
  double all = (double) plan_tokens(p) - (double) r->done.tokens;
  fprintf(stderr, "step %llu of %llu, %.2f M tokens, loss %.3f, %.0f tokens/s, %.0f min"
    " left\n", (unsigned long long) r->done.step,
      (unsigned long long) last,
    1e-6 * (double) r->done.tokens, mean / left, rate, all / rate / 60);
  said = now;
}

@ What a run ends with: rounded weights, and beside them its log.
@<Train@>=
static bool copy_file(const char *from, const char *to, struct error *why)
{
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  bool ok = in != NULL && out != NULL;
  for (int c; ok && (c = fgetc(in)) != EOF;) ok = fputc(c, out) != EOF;
  if (in != NULL) fclose(in);
  if (out != NULL) ok = fclose(out) == 0 && ok;
  return ok || error_say(why, "%s: cannot be copied to %s", from, to);
}

@ Publishing rounds and writes. The log is copied as it is; its first hundred lines are what the
tests will ask for.
@<Train@>=
static bool run_publish(struct run *r, const struct plan *p,
  const char *log)
{
  char copy[300];
  struct network *net = trainer_network(r->t);
  snprintf(copy, sizeof copy, "%s/training.csv", p->directory);
  return model_write(&r->m, p->directory, &p->form, net,
    trainer_weights(r->t),
    r->merges, r->n_merges, &r->why) && copy_file(log, copy, &r->why);
}

@ The words behind |"train"| are the model, the folder of its state, and the number of workers, all
of which have defaults. The result does not depend on the last two.
@<Train@>=
static int train(int n, char **word)
{
  const struct plan *p = n > 0 && strcmp(word[0], "draft") == 0
    ? &plan_draft : &plan_model;
  const char *folder = n > 1 ? word[1] : "work/run";
  struct run r = @[{ .done = { .step = 0 } }@];
  char kept[300], log[300];
  snprintf(kept, sizeof kept, "%s/%s.state", folder, p->name);
  snprintf(log, sizeof log, "%s/%s.csv", folder, p->name);
  FILE *f = NULL;
  unsigned workers = n > 2 ? (unsigned) atoi(word[2]) : pool_cores();
  bool ok = run_open(&r, p, workers);
  if (ok && !trainer_load(r.t, kept, &r.done, &r.why))
    fprintf(stderr, "a new run (%s)\n", r.why.words);
  if (ok && (f = log_open(log, r.done.step)) == NULL)
    ok = error_say(&r.why, "%s: cannot be written", log);
  ok = ok && run_steps(&r, p, kept, f) && fflush(f) == 0
    && run_publish(&r, p, log);
  if (f != NULL) fclose(f);
  if (!ok) fprintf(stderr, "%s\n", r.why.words);
  run_close(&r);
  return ok ? 0 : 1;
}

@ \Cref{fig:trainloss} is the log of the run that made the built-in model. It read
\val{train.tokens}~million tokens in \val{train.steps} steps. The curve has a shape that everybody who
trains models knows: first the model learns which tokens are frequent, within a few steps; then which
follow which; then, for a long time, what was said before. Since every text is new, there is no difference
here between the loss in training and the loss on held-out texts, and what lies between the curve
and the dashed line is exactly what the model has not learnt.
@^loss@>

\fig{trainloss}{fig:trainloss}{The loss of the run, in means of fifty steps, and the entropy of the
source. The thin lines stand where the rows become longer and where the calm stretch begins.}{A curve
that falls from above four bits steeply to about one bit within the first fifth, then slowly
towards a dashed horizontal line at about six tenths of a bit, and lies close above it at the end.}

@* What the model can do. \label{sec:examination}
A loss is one number. It says nothing about whether a name comes back after a page of
tokens, or whether two branches that ought to be equally likely are. So the trained
model is examined question by question, each with a figure and a verdict. The examination
takes a minute or two; its result is committed beside the model, and the numbers of this
chapter are read from there.

@<The examination@>=
enum { HELD_OUT = 600, FACTS = 200000, LONGEST = 2048 };
struct exam {
  struct memory m; struct error why; FILE *out; unsigned failed, asked;
  struct grammar *g; struct tokenizer *words; struct source *feed;
  struct pool *crew; struct counters c; struct engine e;
  struct model *lm, *draft; struct store *s, *s_draft;
  struct passage piece; struct ids list; struct bytes back;
  float *logits, *others; double *p, *q;
  size_t which[LONGEST], place[LONGEST + 1];
};

@ Every answer is one line on the screen and one in the file: a key, a figure, what is
wanted, and the verdict.
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
remember what was promised.
@<The examination@>=
static void least(struct exam *x, const char *key, double figure,
  double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at least %g", limit);
  answer(x, key, figure, wanted, figure >= limit);
}

@ Some have an upper limit: losses, the size of a file, the chance of a branch that must not
win.
@<The examination@>=
static void most(struct exam *x, const char *key, double figure,
  double limit)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "at most %g", limit);
  answer(x, key, figure, wanted, figure <= limit);
}

@ And some have a right answer with a tolerance, which is 0 where something is counted.
@<The examination@>=
static void about(struct exam *x, const char *key, double figure,
  double right,
  double slack)
{
  char wanted[40];
  snprintf(wanted, sizeof wanted, "%.4g, give or take %g", right, slack);
  answer(x, key, figure, wanted, figure >= right - slack
    && figure <= right + slack);
}

@ A few figures are wanted for the book and have nothing to pass or fail.
@<The examination@>=
static void note(struct exam *x, const char *key, double figure)
{
  printf("      %-34s %12.6g\n", key, figure);
  fprintf(x->out, "%s,%.9g,\"\",\n", key, figure);
}

@ The engine of chapter 2 opens the two models from their files, as any reader of this book would.
Nothing of the trainer is used any more, apart from the source of rows.
@<The examination@>=
static bool exam_rooms(struct exam *x)
{
  size_t v = x->lm->config.vocab_size, n = LONGEST * v;
  x->logits = memory_take(&x->m, FOR_OTHER, n, sizeof(float), &x->why);
  x->others = memory_take(&x->m, FOR_OTHER, n, sizeof(float), &x->why);
  x->p = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  x->q = memory_take(&x->m, FOR_OTHER, v, sizeof(double), &x->why);
  for (size_t i = 0; i < LONGEST; i++) x->which[i] = i;
  return x->logits != NULL && x->others != NULL && x->p != NULL
    && x->q != NULL;
}

@ The sibling is opened only where it is asked for.
@<The examination@>=
static bool exam_open(struct exam *x, const char *directory,
  const char *draft)
{
  x->g = grammar_open(&x->m, &x->why);
  x->words = tokenizer_open(&x->m, directory, &x->why);
  x->lm = model_open(&x->m, directory, &x->why);
  if (x->g == NULL || x->words == NULL || x->lm == NULL) return false;
  x->crew = pool_open(&x->m, pool_cores(), &x->why);
  x->e = (struct engine) @[{ kernels_find(NULL, &x->why), x->crew,
    &x->c }@];
  x->s = store_open(&x->m, &x->lm->config, 1, &x->why);
  x->feed = source_open(&x->m, x->g, x->words, SEED_HELD_OUT, &x->why);
  if (x->crew == NULL || x->s == NULL || x->feed == NULL
    || !exam_rooms(x)) return false;
  if (draft == NULL) return true;
  x->draft = model_open(&x->m, draft, &x->why);
  if (x->draft != NULL)
    x->s_draft = store_open(&x->m, &x->draft->config, 1, &x->why);
  return x->s_draft != NULL;
}

@ What was opened is closed, whether or not everything was.
@<The examination@>=
static void exam_close(struct exam *x)
{
  size_t v = x->lm == NULL ? 0 : x->lm->config.vocab_size;
  memory_give(&x->m, FOR_OTHER, x->logits, LONGEST * v, sizeof(float));
  memory_give(&x->m, FOR_OTHER, x->others, LONGEST * v, sizeof(float));
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
the logits of its rows or for the probabilities behind its last token.
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
cleverness with caches.
@<The examination@>=
static bool look_at(struct exam *x, const struct model *lm,
  struct store *s, size_t n,
  float *logits)
{
  return evaluate(&x->e, lm, s, x->list.id, n, x->which, n, logits,
    &x->why);
}

@ Probabilities are made from one row of logits, in double, as everywhere in this book.
@<The examination@>=
static const double *probabilities(struct exam *x, const float *logits,
  size_t row,
  double *p)
{
  size_t v = x->lm->config.vocab_size;
  x->e.k->softmax(&x->e, logits + row * v, 1, v, p);
  return p;
}

@ What comes next, after a text and nothing else: the form of most questions.
@<The examination@>=
static const double *after(struct exam *x, bool begin, const char *text)
{
  size_t n = take_text(x, begin, text, strlen(text));
  if (!look_at(x, x->lm, x->s, n, x->logits)) return NULL;
  return probabilities(x, x->logits, n - 1, x->p);
}

@ The first token of a word is often the whole word. Where it is not, the first token is still what
has to be decided.
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

@ First the corpus and the tokenizer: how long the documented prompts are, whether every
text comes back from its tokens, and whether every choice of the grammar leaves a trace.
@<Examine corpus and tokenizer@>=
static void exam_prompts(struct exam *x)
{
  static const struct { const char *key, *text; size_t tokens;
  } prompt[] = @[{
    { "prompt.cat", "The cat sat", 3 }, { "prompt.mat",
      "The cat sat on the mat.", 7 },@|
    { "prompt.tale", "Once upon a time, in a small", 8 },@|
    { "prompt.sea", "In a small kingdom by the sea,", 8 },@|
    { "prompt.code", "def count_apples(basket):", 7 },@|
    { "prompt.talk", "User: Where does the fox live?", 8 },@|
    { "prompt.fork", "The harvest of the kingdom was very good.", 9 },@|
    { "prompt.on", " on", 1 }, { "prompt.the", " the", 1 },@|
    { "prompt.mat1", " mat", 1 }, { "prompt.dot", ".", 1 } }@];
  for (size_t i = 0; i < sizeof prompt / sizeof prompt[0]; i++) {
    double n = (double) take_text(x, false, prompt[i].text,
      strlen(prompt[i].text));
    about(x, prompt[i].key, n, (double) prompt[i].tokens, 0);
  }
}

@ So many texts are written that the bits and the shares of every sort are known to three digits.
The first of them are also decoded again and compared.
@<Examine corpus and tokenizer@>=
static bool exam_texts(struct exam *x)
{
  static const char *const share[] = @[{ "share.tale", "share.home",
    "share.chronicle",
    "share.code", "share.talk" }@], *const rate[] =
      @[{ "bits.tale", "bits.home",
    "bits.chronicle", "bits.code", "bits.talk" }@];
  double bits[N_SORTS] = @[{ 0 }@], tokens[N_SORTS] = @[{ 0 }@], all =
    0, sum = 0;
  size_t same = 0, n = 20000;
  for (size_t i = 0; i < n; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why)) return false;
    double here = 1 + (double) take_text(x, false, t->words, t->length);
    bits[t->sort] += t->bits, tokens[t->sort] += here, all +=
      here, sum += t->bits;
    x->back.n = 0;
    if (i < 1000 && tokenizer_decode(x->words, &x->m, x->list.id,
      x->list.n, false,
      &x->back, &x->why)) same += x->back.n == t->length
        && memcmp(x->back.byte, t->words, t->length) == 0;
  }
  about(x, "texts.decoded", (double) same, 1000, 0);
  for (int s = 0; s < N_SORTS; s++) note(x, rate[s], bits[s] / tokens[s]);
  for (int s = 0; s < N_SORTS; s++) note(x, share[s], tokens[s] / all);
  about(x, "bits.all", sum / all, 0.75, 0.25);
  least(x, "kind.stories", (tokens[TALE] + tokens[HOME]
    + tokens[CHRONICLE]) / all, 0.3);
  least(x, "kind.code", tokens[CODE] / all, 0.3);
  least(x, "kind.talk", tokens[TALK] / all, 0.3);
  note(x, "tokens.mean", all / (double) n);
  return true;
}

@ A silent choice is one that could have been made otherwise without changing the text. It
would make the text less surprising than the sum of its choices, and the entropy wrong.
@<Examine corpus and tokenizer@>=
static bool replay_one(struct exam *x, struct passage *other,
  uint64_t i, size_t *tried,
  size_t *silent)
{
  uint16_t taken[PASSAGE_CHOICES];
  struct passage *t = &x->piece;
  size_t k = (i * 2654435761u >> 8) % t->n_choices;
  for (size_t c = 0; c < t->n_choices;
  c++) taken[c] = t->choices[c].taken;
  size_t length, count = 0;
  uint32_t weight;
  while (grammar_table(x->g, t->choices[k].drawn, count, &length,
    &weight) != NULL) count++;
  taken[k] = (uint16_t) ((taken[k] + 1u
    + i % (count > 1 ? count - 1 : 1)) % count);
  if (!grammar_replay(x->g, taken, t->n_choices, other, &x->why))
    return false;
  if (taken[k] == t->choices[k].taken
    || other->choices[k].taken != taken[k]) return true;
  ++*tried;
  *silent += other->length == t->length
    && memcmp(other->words, t->words, t->length) == 0;
  return true;
}

@ A table that is never reached, or an alternative, would be a slip of the hand: a name misspelt, a
weight of nothing. Enough texts reach everything.
@<Examine corpus and tokenizer@>=
static bool exam_choices(struct exam *x)
{
  static unsigned char reached[1024][64];
  static struct passage other;
  size_t tried = 0, silent = 0, missing = 0, length;
  uint32_t weight;
  for (uint64_t i = 0; i < 60000; i++) {
    struct passage *t = &x->piece;
    if (!grammar_write(x->g, SEED_HELD_OUT, i, t, &x->why)) return false;
    for (size_t c = 0; c < t->n_choices; c++)
      reached[t->choices[c].drawn][t->choices[c].taken] = 1;
    if (i < 4000 && !replay_one(x, &other, i, &tried, &silent))
      return false;
  }
  for (size_t t = 0; t < grammar_tables(x->g); t++)
    for (size_t i = 0; grammar_table(x->g, t, i, &length, &weight)
      != NULL; i++)
      missing += !reached[t][i];
  note(x, "grammar.tables", (double) grammar_tables(x->g));
  note(x, "choices.replayed", (double) tried);
  about(x, "choices.silent", (double) silent, 0, 0);
  about(x, "choices.unreached", (double) missing, 0, 0);
  return true;
}

@ The loss is taken over texts of a seed that the training never saw, each alone after
end-of-text, and set against the bits of its choices. The same texts show how often the
sibling's guess would be taken, token by token: the sum of the smaller of the two
probabilities of every token.
@<Examine the loss@>=
struct marks { double loss, bits, common, tokens; };

@ One text through both models. Each row is judged by the token that follows it, the last by
end-of-text; the common part of the two distributions is added up beside it.
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
    for (size_t k = 0; k < v; k++) mark->common += p[k] < q[k] ? p[k]
      : q[k];
  }
  mark->bits += x->piece.bits, mark->tokens += (double) n;
  return true;
}

@ The ratio of loss and entropy is the honest measure: 1 is perfect, and less than 1 would mean
that the grammar is ambiguous or that something leaked. Per sort, because an average hides.
@<Examine the loss@>=
static bool exam_loss(struct exam *x)
{
  static const char *const sort[] = @[{ "tale", "home", "chronicle",
    "code", "talk" }@];
  struct marks mark[N_SORTS + 1] = @[{ { 0, 0, 0, 0 } }@], *all =
    &mark[N_SORTS];
  char key[40];
  for (uint64_t i = 0; i < HELD_OUT; i++) {
    if (!grammar_write(x->g, SEED_HELD_OUT, i, &x->piece, &x->why))
      return false;
    struct marks *here = &mark[x->piece.sort];
    if (!exam_one_loss(x, here)) return false;
    exam_recall(x);
  }
  for (int s = 0; s < N_SORTS; s++) {
    all->loss += mark[s].loss, all->bits +=
      mark[s].bits, all->tokens += mark[s].tokens;
    all->common += mark[s].common;
    snprintf(key, sizeof key, "ratio.%s", sort[s]);
    most(x, key, mark[s].loss / mark[s].bits, 1.15);
  }
  most(x, "ratio.all", all->loss / all->bits, 1.10);
  least(x, "ratio.floor", all->loss / all->bits, 0.99);
  note(x, "heldout", HELD_OUT);
  note(x, "loss.bits", all->loss / all->tokens);
  note(x, "source.bits", all->bits / all->tokens);
  for (int s = 0; s < N_SORTS; s++) {
    snprintf(key, sizeof key, "draft.common.%s", sort[s]);
    least(x, key, mark[s].common / mark[s].tokens, 0.6);
  }
  return true;
}

@ Names and variables: how much of the probability that falls on any name at all falls on the
right one, by the distance to where the name was first told. The logits are those that
the loss has just used.
@<Examine what is remembered@>=
enum { NEAR, MIDDLE, FAR, N_REACH };
static struct recall_marks { double right[N_REACH], n[N_REACH],
  name[N_REACH],
  value[N_REACH], n_value[N_REACH], local, n_local, printed, n_printed; } told;
@#
static int reach(size_t distance)
{
  return distance < 100 ? NEAR : distance <= 300 ? MIDDLE : FAR;
}

@ Where each token begins in the text, counted in bytes; the row of end-of-text comes first and has
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

@ And the token in which a byte lies. Names and variables are found in the text, their
probabilities in rows of tokens; these two functions are the bridge.
@<Examine what is remembered@>=
static size_t token_at(const struct exam *x, size_t byte)
{
  size_t i = 1;
  while (i < x->list.n && x->place[i + 1] <= byte) i++;
  return i;
}

@ All names of a table, or all beginnings of a variable, with the blank that stands before.
@<Examine what is remembered@>=
static size_t rivals(struct exam *x, const char *drawer,
  const char *before, uint32_t *id, size_t n)
{
  size_t length, t = 0;
  uint32_t weight;
  char word[64];
  for (; t < grammar_tables(x->g); t++) {
    const char *name = grammar_table(x->g, t, SIZE_MAX, &length, &weight);
    if (strlen(drawer) == length && memcmp(name, drawer, length) == 0)
      break;
  }
  if (t == grammar_tables(x->g)) return n;
  const char *s;
  for (size_t i = 0; (s = grammar_table(x->g, t, i, &length, &weight))
    != NULL; i++) {
    size_t stop = 0;
    while (stop < length && s[stop] != '_' && s[stop] != ';') stop++;
    snprintf(word, sizeof word, "%s%.*s", before, (int) stop, s);
    uint32_t one = first_id(x, word);
    size_t k = 0;
    while (k < n && id[k] != one) k++;
    if (k == n) id[n++] = one;
  }
  return n;
}

@ The share of the right token among all that could stand there as well. A model that does not
expect a name at this place at all is not blamed here; it is by the loss.
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
or without a blank before it, and its distance is that to the first.
@<Examine what is remembered@>=
static void recall_names(struct exam *x)
{
  const char *text = x->piece.words, *named = strstr(text, " named ");
  if (named == NULL) return;
  char name[32];
  uint32_t with[48], without[48];
  size_t length = strcspn(named + 7, "."), n;
  snprintf(name, sizeof name, "%.*s", (int) length, named + 7);
  size_t first = token_at(x, (size_t) (named + 7 - text));
  n = rivals(x, "name.she", " ", with, 0);
  n = rivals(x, "name.he", " ", with, n);
  size_t m = rivals(x, "name.she", "", without, 0);
  m = rivals(x, "name.he", "", without, m);
  for (const char *s = named + 7 + length;
  (s = strstr(s, name)) != NULL; s += length) {
    size_t i = token_at(x, (size_t) (s - text));
    bool blank = x->place[i] + 1 == (size_t) (s - text);
    if (!blank && x->place[i] != (size_t) (s - text)) continue;
    double p = share_of(x, i, blank ? with : without, blank ? n : m);
    told.right[reach(i - first)] += p, told.n[reach(i - first)]++;
  }
}

@ The chance of a whole word is the product over its tokens.
@<Examine what is remembered@>=
static double chance_of(struct exam *x, size_t at, size_t length)
{
  double p = 1;
  for (size_t i = token_at(x, at); x->place[i] < at + length; i++)
    p *= probabilities(x, x->logits, i - 1, x->p)[x->list.id[i]];
  return p;
}

@ Variables come back in two ways. Inside a function, what was set to something is returned some lines later;
there the name itself is asked for.
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
asked there. Which of all such names comes? And when the name has been said, which value? The first piece of the
name is compared with the pieces that could begin such a name, everything else with the whole vocabulary.
@<Examine what is remembered@>=
static void recall_variables(struct exam *x)
{
  const char *text = x->piece.words, *last = NULL;
  size_t length = strcspn(text, " \n");
  if (strncmp(text + length, " = ", 3) != 0
    || memchr(text, '_', length) == NULL) return;
  for (const char *s = text; (s = strstr(s, "print(")) != NULL; s++) last = s;
  if (last == NULL || memcmp(last + 6, text, length) != 0) return;
  uint32_t first[8];
  size_t n = rivals(x, "keepsake", "", first, 0), stop = strcspn(text, "_");
  size_t at = (size_t) (last + 6 - text), i = token_at(x, at);
  int r = reach(i - 1);
  told.name[r] += share_of(x, i, first, n)
    * chance_of(x, at + stop, length - stop);
  const char *value = strstr(last, "\n# ") + 3;
  told.value[r] += chance_of(x, (size_t) (value - text), strlen(value));
  told.n_value[r]++;
  @<Is the value printed that the first line set?@>@;
}

@ The value is right if every token of it is the likeliest at its place. That is what a greedy
writer would print.
@<Is the value printed that the first line set?@>=
bool right = true;
for (i = token_at(x, (size_t) (value - text)); i < x->list.n; i++) {
  const double *q = probabilities(x, x->logits, i - 1, x->p);
  for (size_t k = 0; k < x->lm->config.vocab_size; k++)
    right = right && q[k] <= q[x->list.id[i]];
}
told.printed += right, told.n_printed++;

@ Distances are counted in three ranges. The middle one is where the claim is made; the near one is
easier, the far one rare.
@<Examine what is remembered@>=
static void exam_recall(struct exam *x)
{
  find_places(x);
  if (x->piece.sort == TALE) recall_names(x);
  if (x->piece.sort == CODE) recall_locals(x), recall_variables(x);
}
@#
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
  for (int r = MIDDLE; r < N_REACH && told.n_value[r] > 0; r++) {
    snprintf(key, sizeof key, "variables.value.%s", far[r]);
    least(x, key, told.value[r] / told.n_value[r], 0.95);
    snprintf(key, sizeof key, "variables.name.%s", far[r]);
    least(x, key, told.name[r] / told.n_value[r], 0.95);
    snprintf(key, sizeof key, "variables.%s.n", far[r]);
    note(x, key, told.n_value[r]);
  }
  least(x, "printed.right", told.printed / told.n_printed, 0.8);
  note(x, "printed.n", told.n_printed);
}

@ Where the true chance is known, the model's is set beside it. The truth is counted over
very many texts of the source.
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
    if (memcmp(kept[i], before, strlen(before)) == 0) {
      n++, m += memcmp(kept[i], with, strlen(with)) == 0;
    }
  return (double) m / (double) n;
}

@ Seven chances along the book's running sentence. After \tok{The cat sat} nothing but the spot is
open; the model should be as undecided as the source, and no more.
@<Examine the chances@>=
static void exam_chances(struct exam *x)
{
  static const struct { const char *key, *before, *with, *next;
  } fact[] = @[{
    { "chance.The", "", "The ", "The" }, { "chance.cat", "The ",
      "The cat ", " cat" },@|
    { "chance.sat", "The cat ", "The cat sat ", " sat" },@|
    { "chance.on", "The cat sat ", "The cat sat on ", " on" },@|
    { "chance.the", "The cat sat on ", "The cat sat on the ", " the" },@|
    { "chance.mat", "The cat sat on the ", "The cat sat on the mat",
      " mat" },@|
    { "chance.dot", "The cat sat on the mat",
      "The cat sat on the mat.", "." } }@];
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
static const char *const branch[] = @[{ " However", " Additionally",
  " The",
  " Everyone", " So", " In", " Even", " At", " That", " Soon",
    " Nobody", " Perhaps" }@];
enum { BRANCHES = 12 };
@#
static void exam_fork(struct exam *x)
{
  char key[40];
  double high = 0, low = 1;
  const double *p = after(x, false, "The harvest of the kingdom was very good.");
  if (p == NULL) return;
  for (int i = 0; i < BRANCHES; i++) {
    double one = p[first_id(x, branch[i])];
    snprintf(key, sizeof key, "fork.%s", branch[i] + 1);
    if (i < 2) about(x, key, one, 0.15, 0.03);
    else most(x, key, one, 0.15);
    if (i < 2) low = one < low ? one : low;
    else high = one > high ? one : high;
  }
  double apart = p[first_id(x, branch[0])] - p[first_id(x, branch[1])];
  most(x, "fork.apart", apart < 0 ? -apart : apart, 0.02);
  least(x, "fork.lead", low - high, 0);
  p = after(x, true, "The harvest of the kingdom was very good.");
  note(x, "fork.begun.However", p[first_id(x, branch[0])]);
  note(x, "fork.begun.Additionally", p[first_id(x, branch[1])]);
}

@ Greedy text, one token after the other, everything recomputed: the loop of chapter 3 in its
plainest form.
@<Examine what it says@>=
static void say(struct exam *x, const char *text, size_t tokens)
{
  size_t n = take_text(x, false, text, strlen(text));
  for (size_t k = 0; k < tokens && look_at(x, x->lm, x->s, n,
    x->logits); k++) {
    size_t v = x->lm->config.vocab_size;
    const float *z = x->logits + (n - 1) * v;
    uint32_t best = 0;
    for (uint32_t i = 1; i < v; i++) if (z[i] > z[best]) best = i;
    if (best == 0 || !ids_push(&x->m, &x->list, best, &x->why)) break;
    n++;
  }
  x->back.n = 0;
  size_t from = take_length(x, text);
  tokenizer_decode(x->words, &x->m, x->list.id + from, n - from, false,
    &x->back,
    &x->why);
}

@ Eight tokens are enough to hear whether it says what it should.
@<Examine what it says@>=
static bool says(struct exam *x, const char *text, const char *wanted)
{
  say(x, text, 8);
  return x->back.n >= strlen(wanted)
    && memcmp(x->back.byte, wanted, strlen(wanted)) == 0;
}

@ How many tokens of the list were the prompt's: they are not part of the answer.
@<The length of a text in tokens@>=
static size_t take_length(struct exam *x, const char *text)
{
  struct ids own = @[{ NULL, 0, 0 }@];
  tokenizer_encode(x->words, &x->m, text, strlen(text), false, false,
    &own, &x->why);
  size_t n = own.n;
  ids_free(&x->m, &own);
  return n;
}

@ Ten sums, and the wheel of the mill. The wheel is a test of a failing: a greedy writer is
supposed to get caught in it, because chapters 7 and 8 need a loop to break.
@<Examine what it says@>=
static void exam_greedy(struct exam *x)
{
  static const char *const sum[] = @[{ "2 plus 2;4", "2 plus 3;5",
    "2 plus 4;6",
    "2 plus 5;7", "3 plus 3;6", "3 plus 4;7", "3 plus 5;8", "4 plus 4;8",
    "4 plus 5;9", "5 plus 5;10" }@];
  char text[80], wanted[80];
  double right = 0;
  about(x, "greedy.cat", says(x, "The cat sat", " on the mat."), 1, 0);
  about(x, "greedy.the", says(x, "The cat sat on the", " mat."), 1, 0);
  about(x, "greedy.tale", says(x, "Once upon a time, in a small",
    " kingdom"), 1, 0);
  for (int i = 0; i < 10; i++) {
    snprintf(text, sizeof text, "User: What is %.8s?\nAssistant:",
      sum[i]);
    snprintf(wanted, sizeof wanted, " %.8s is %s.", sum[i], sum[i] + 9);
    right += says(x, text, wanted);
  }
  about(x, "sums.right", right, 10, 0);
}
@#
static void exam_wheel(struct exam *x)
{
  static const char turn[] = " and round";
  say(x, "The cat sat on the mat. Outside, the wheel of the mill went round", 200);
  size_t n = 0;
  while ((n + 1) * 10 <= x->back.n && memcmp(x->back.byte + 10 * n,
    turn, 10) == 0) n++;
  least(x, "wheel.tokens", 2 * (double) n, 200);
}

@ Bits by position, over texts packed into rows as long as the context.
@<Examine long rows@>=
static bool exam_positions(struct exam *x)
{
  double bits[16] = @[{ 0 }@], middle = 0;
  uint32_t row[LONGEST + 1];
  char key[40];
  enum { N_ROWS = 12 };
  source_seek(x->feed, 1000001);
  for (int r = 0; r < N_ROWS; r++) {
    if (!source_row(x->feed, row, LONGEST + 1, &x->why)) return false;
    x->list.n = 0;
    for (size_t i = 0; i < LONGEST; i++)
      if (!ids_push(&x->m, &x->list, row[i], &x->why)) return false;
    if (!look_at(x, x->lm, x->s, LONGEST, x->logits)) return false;
    for (size_t i = 0; i < LONGEST; i++)
      bits[i / 128] -= num_log(probabilities(x, x->logits, i,
        x->p)[row[i + 1]])
        / num_log(2) / 128 / N_ROWS;
  }
  for (int i = 0; i < 16; i++) {
    snprintf(key, sizeof key, "position.%d", 128 * i);
    note(x, key, bits[i]);
    if (i >= 6 && i < 10) middle += bits[i] / 4;
  }
  most(x, "position.end", (bits[14] + bits[15]) / 2 / middle, 1.2);
  most(x, "position.middle", middle / ((bits[2] + bits[3]) / 2), 1.2);
  return true;
}

@ The last question is about the files: small enough to be carried along with a book.
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

@ The questions in the order in which they were explained, and behind them the function that asks
them all.
@<The whole examination@>=
@<The examination@>@;
@<The length of a text in tokens@>@;
@<Examine corpus and tokenizer@>@;
@<Examine what is remembered@>@;
@<Examine the loss@>@;
@<Examine the chances@>@;
@<Examine what it says@>@;
@<Examine long rows@>@;
@<Examine the files@>@;
@<Ask everything@>@;

@ The exit status says whether all was passed, so that |make| can use it.
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
    ok = ok && exam_positions(&x);
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
of what all names together get. A variable that a function returns gets \val{train.variables.local}, and the value of one that
was set in the first line and is printed in the last, \val{train.variables.value.middle}. Of ten sums \val{train.sums.right} are right.
The sibling's guesses and the model's have \val{train.draft.common.tale} (tales) to
\val{train.draft.common.talk} (talk) in common, which is what it is for.

\widefig{trainfork}{fig:trainfork}{The fork: twelve roads after \emph{The harvest of the kingdom was very
good}, with the chances that the source gives them, and those of the model.}{Twelve pairs of bars. The
source's are fifteen per cent for However and Additionally and seven for each of the ten others; the
model's stand near them.}

\Cref{fig:trainfork} shows the crossing for which the chronicles were written. A figure like this is not a matter of
course. Before the calm stretch the same model may give one of the two leaders half as much again as the
other, while its loss is nearly as good: the last few small steps push single probabilities about,
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

@* The check. \label{sec:trainingcheck}
A gradient that is wrong in one tensor still makes the loss fall, only more slowly. Nobody notices. So
every tensor's gradient is held against what it claims to be: the change of the loss when the weights
of that tensor move a little in some direction, divided by how far they moved. \Cref{tab:gradients}
does it for a network of two layers with a direction drawn by lot. The tests of this project do it
more sharply, against a loss computed in double, for each tensor by name, and a planted mistake of
one sign or one factor is always found.

@<What the checkpoint shows@>=
@<Draw by lot@>@;
static const struct shape tiny = @[{ 2, 32, 2, 1, 16, 48, 40, 64 }@];
enum { TINY_ROWS = 16 };
struct lab { struct memory m; struct error why; struct network *net; size_t n;
  float *w, *grad; double losses[TINY_ROWS];
  uint32_t inputs[TINY_ROWS], targets[TINY_ROWS]; };
@#
static bool lab_open(struct lab *l)
{
  uint64_t dice = 5;
  l->net = network_open(&l->m, &tiny, TINY_ROWS, kernels_find(NULL, &l->why), NULL,
    &l->why);
  if (l->net == NULL) return false;
  l->n = network_count(l->net);
  l->w = memory_take(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  l->grad = memory_take(&l->m, FOR_TRAINING, l->n, sizeof(float), &l->why);
  if (l->w == NULL || l->grad == NULL) return false;
  for (size_t i = 0; i < l->n; i++) l->w[i] = 0.5f * lot(&dice);
  for (size_t i = 0; i < TINY_ROWS; i++) {
    l->inputs[i] = (uint32_t) (7 * i % 40);
    l->targets[i] = (uint32_t) (11 * i % 40);
  }
  return true;
}

@ Directions and weights are drawn from a small set of numbers. A normal distribution is not needed to
catch a mistake.
@<Draw by lot@>=
static float lot(uint64_t *dice)
{
  *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (float) (int32_t) (*dice >> 60) / 8 - 0.9375f;
}

@ The loss of the small network, summed over its rows in double.
@<What the checkpoint shows@>=
static double lab_loss(struct lab *l, size_t rows)
{
  struct batch b = @[{ l->inputs, l->targets, 1, rows, 1.0f }@];
  double sum = 0;
  if (!network_forward(l->net, l->w, &b, &l->why)) return 0;
  network_judge(l->net, &b, l->losses);
  for (size_t i = 0; i < rows; i++) sum += l->losses[i];
  return sum;
}
@#
static void lab_close(struct lab *l)
{
  memory_give(&l->m, FOR_TRAINING, l->w, l->n, sizeof(float));
  memory_give(&l->m, FOR_TRAINING, l->grad, l->n, sizeof(float));
  network_close(&l->m, l->net);
}

@ One tensor: a direction, the loss a little before and a little behind, and the gradient along the
direction.
@<What the checkpoint shows@>=
static void differ(struct lab *l, const struct parameter *p, double *far, double *back)
{
  uint64_t dice = 3 + p->offset;
  size_t n = p->rows * p->cols;
  float old[40 * 48], way[40 * 48], step = 0x1p-9f;
  double loss[2];
  memcpy(old, l->w + p->offset, n * sizeof *old);
  *back = 0;
  for (size_t i = 0; i < n; i++) {
    way[i] = lot(&dice);
    *back += (double) way[i] * (double) l->grad[p->offset + i];
  }
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < n; i++)
      l->w[p->offset + i] = old[i] + (side == 0 ? -step : step) * way[i];
    loss[side] = lab_loss(l, TINY_ROWS);
  }
  memcpy(l->w + p->offset, old, n * sizeof *old);
  *far = (loss[1] - loss[0]) / (2 * (double) step);
}

@ The table shows eleven tensors: the embedding, the nine of the first layer, and the last gain.

\begin{table}
\caption{The slope of the loss along a direction drawn by lot, by difference and by
backpropagation.}\label{tab:gradients}
\begin{tabular}{@@{}lrr@@{}}
\tabhead{tensor} & \tabhead{by difference} & \tabhead{backwards}\\
embedding, also head & \val{grad.0.far} & \val{grad.0.back}\\
gain before attention & \val{grad.1.far} & \val{grad.1.back}\\
queries & \val{grad.2.far} & \val{grad.2.back}\\
keys & \val{grad.3.far} & \val{grad.3.back}\\
values & \val{grad.4.far} & \val{grad.4.back}\\
output of attention & \val{grad.5.far} & \val{grad.5.back}\\
gain before the gated unit & \val{grad.6.far} & \val{grad.6.back}\\
gate & \val{grad.7.far} & \val{grad.7.back}\\
its partner & \val{grad.8.far} & \val{grad.8.back}\\
output of the gated unit & \val{grad.9.far} & \val{grad.9.back}\\
last gain & \val{grad.10.far} & \val{grad.10.back}
\end{tabular}
\end{table}

@<What the checkpoint shows@>=
static double gradients(struct lab *l, bool aloud)
{
  double worst = 0, far, back;
  struct batch b = @[{ l->inputs, l->targets, 1, TINY_ROWS, 1.0f }@];
  const struct parameter *p;
  memset(l->grad, 0, l->n * sizeof *l->grad);
  lab_loss(l, TINY_ROWS);
  network_backward(l->net, l->w, &b, l->grad);
  for (size_t i = 0; (p = network_parameter(l->net, i)) != NULL; i++) {
    differ(l, p, &far, &back);
    double off = (far - back) / (back == 0 ? 1 : back);
    if (off < 0) off = -off;
    worst = off > worst ? off : worst;
    if (!aloud || strstr(p->name, "layers.1") != NULL) continue;
    printf("grad.%zu.far %.4f\n", i < 10 ? i : (size_t) 10, far);
    printf("grad.%zu.back %.4f\n", i < 10 ? i : (size_t) 10, back);
  }
  return worst;
}

@ One pass judges all guesses that have something before them. As many passes over
longer and longer beginnings judge them one by one. We count the losses that are the same to the last
bit.
@<What the checkpoint shows@>=
static int forced(struct lab *l)
{
  double all[TINY_ROWS];
  int same = 0;
  lab_loss(l, TINY_ROWS);
  memcpy(all, l->losses, sizeof all);
  for (size_t n = 2; n <= TINY_ROWS; n++) {
    lab_loss(l, n);
    same += l->losses[n - 1] == all[n - 1];
  }
  return same;
}

@ And what the hand has found, from the function that judges the logits of the built-in model.
@<What the checkpoint shows@>=
static double by_hand(float z[3])
{
  z[0] = num_logf(3), z[1] = num_logf(2), z[2] = 0;
  return slopes_plain.judge(z, 3, 1, 1.0f);
}

@ The finished model is asked two questions that cost a pass each: what follows \tok{The cat sat}, and
what stands at the fork.
@<What the checkpoint shows@>=
static bool ask(double *on, double *however, double *additionally)
{
  static struct exam x;
  bool ok = exam_open(&x, "models/pocket", NULL);
  const double *p = ok ? after(&x, true, "The cat sat") : NULL;
  if (p != NULL) *on = p[first_id(&x, " on")];
  if (p != NULL)
    p = after(&x, false, "The harvest of the kingdom was very good.");
  if (p != NULL) {
    *however = p[first_id(&x, branch[0])];
    *additionally = p[first_id(&x, branch[1])];
  }
  exam_close(&x);
  return p != NULL;
}

@ \checkpoint{build/out/A1-training.txt}{one guess, every gradient, one pass for many, and the
finished model at two crossings}

@<What the checkpoint shows@>=
static int print_checkpoint(void)
{
  static struct lab l;
  float z[3];
  double loss = by_hand(z), on = 0, however = 0, additionally = 0;
  printf("by hand: loss %.6f, gradient %.6f %.6f %.6f\n", loss, (double) z[0],
    (double) z[1], (double) z[2]);
  if (!lab_open(&l)) return 1;
  printf("gradients of 20 tensors, worst: %.4f of itself\n", gradients(&l, false));
  printf("one pass against 15: %d losses the same\n", forced(&l));
  lab_close(&l);
  bool ok = ask(&on, &however, &additionally);
  if (ok) printf("The cat sat: on %.3f\nThe harvest ... very good: However %.3f,"@|
    " Additionally %.3f\n", on, however, additionally);
  return ok ? 0 : 1;
}

@ The examination has left its figures in a file, and the prose quotes them from there. Counts are
printed as they are, everything else with three decimals.
@<What the checkpoint shows@>=
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
@#
static void print_answers(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  if (f == NULL) return;
  while (next_answer(f, key, &x)) {
    if (x == (double) (long) x) printf("train.%s %.0f\n", key, x);
    else printf("train.%s %.3f\n", key, x);
  }
  fclose(f);
}

@ @<What the checkpoint shows@>=
static int print_values(void)
{
  static struct lab l;
  double on = 0, however = 0, additionally = 0;
  if (!lab_open(&l)) return 1;
  double worst = gradients(&l, true);
  printf("grad.worst %.4f\n", worst);
  printf("claim.S1-38 %d\nclaim.S1-51 %d\n", forced(&l), forced(&l));
  lab_close(&l);
  print_answers();
  printf("train.merges %d\n", MERGES);
  printf("train.steps %llu\ntrain.tokens %.1f\n",
    (unsigned long long) plan_steps(&plan_model), 1e-6 * (double)
    plan_tokens(&plan_model));
  printf("train.draft.steps %llu\ntrain.draft.tokens %.1f\n",
    (unsigned long long) plan_steps(&plan_draft), 1e-6 * (double)
    plan_tokens(&plan_draft));
  if (ask(&on, &however, &additionally)) printf("train.now.on %.3f\n"@|
    "train.now.however %.3f\ntrain.now.additionally %.3f\n", on, however,
    additionally);
  return 0;
}

@ The source's entropy is one of the answers, and the figure wants it beside the loss.
@<What the checkpoint shows@>=
static double source_bits(void)
{
  char key[64];
  double x = 0, found = 0;
  FILE *f = fopen("models/pocket/check.csv", "r");
  while (f != NULL && next_answer(f, key, &x))
    if (strcmp(key, "source.bits") == 0) found = x;
  if (f != NULL) fclose(f);
  return found;
}

@ The curve of the loss has a point for every fiftieth step, the mean of those fifty, in bits.
@<What the checkpoint shows@>=
static int print_loss(void)
{
  char line[120];
  unsigned long long step, tokens;
  double loss, sum = 0;
  double source = source_bits();
  FILE *f = fopen("models/pocket/training.csv", "r");
  printf("tokens,bits,source\n");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    if (sscanf(line, "%llu,%llu,%lf", &step, &tokens, &loss) != 3) continue;
    sum += loss / num_log(2);
    if (step % 50 != 0) continue;
    printf("%.4f,%.4f,%.4f\n", 1e-6 * (double) tokens, sum / 50, source);
    sum = 0;
  }
  if (f != NULL) fclose(f);
  return 0;
}

@ The fork as the source has it, beside the fork as the model has it; and the bits by position.
@<What the checkpoint shows@>=
static int print_fork(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  printf("branch,source,model\n");
  while (f != NULL && next_answer(f, key, &x))
    for (int i = 0; i < BRANCHES; i++)
      if (strncmp(key, "fork.", 5) == 0 && strcmp(key + 5, branch[i] + 1) == 0)
        printf("%d,%.2f,%.4f\n", i + 1, i < 2 ? 0.15 : 0.07, x);
  if (f != NULL) fclose(f);
  return 0;
}
@#
static int print_positions(void)
{
  char key[64];
  double x;
  FILE *f = fopen("models/pocket/check.csv", "r");
  printf("position,bits\n");
  while (f != NULL && next_answer(f, key, &x))
    if (strncmp(key, "position.", 9) == 0 && key[9] >= '0' && key[9] <= '9')
      printf("%d,%.4f\n", atoi(key + 9) + 64, x);
  if (f != NULL) fclose(f);
  return 0;
}

@* Exercises. \label{sec:trainingexercises}
The command beside an exercise judges the answer by running the trainer's own code.

\begin{exercises}
\exercise{check}{ex:train.hand}{The logits are $(\ln2,\ln2,\ln4)$ and the third token comes. What is the loss, and
what is the gradient of each logit?}{\texttt{make exercise-A1-1}}{The probabilities are $\frac14,\frac14,\frac12$; the loss is
$\ln2$, the gradient $(\frac14,\frac14,-\frac12)$.}
\exercise{check}{ex:train.bits}{A table has alternatives of the weights 4, 2, 1 and 1. How many bits does its choice cost on
the average?}{\texttt{make exercise-A1-2}}{$\frac12\cdot1+\frac14\cdot2+2\cdot\frac18\cdot3=1.75$.}
\exercise{think}{ex:train.order}{A worker may divide the rows of a product, but not its terms. Why does |gain_back| divide the
columns and not the rows? Name the one piece of a step of training in which a sum \emph{is} divided, and say why that does not
matter.}{\texttt{make exercise-A1-3}}{Its sum runs over the rows. The square of the gradient's length is divided into 64 blocks, whoever
sums them; the blocks are added in their order.}
\exercise{think}{ex:train.tied}{The embedding is tied to the head. A token that occurs nowhere in the rows of a step: is its
gradient 0?}{\texttt{make exercise-A1-4}}{No. As an input it gets nothing, but as an output it was a rival at every position, and is
pushed down wherever it had some probability.}
\exercise{build}{ex:train.grammar}{Write a table that adds ``The cat sat on the mat.'' with any number of further cats in between: ``The
cat and the cat sat on the mat.'', each one more with a chance of one half. What is the entropy of the choice, in
bits?}{\texttt{make exercise-A1-5}}{A table that calls itself, with two alternatives of the same weight: one bit for each cat but the
first and one for stopping, $\sum_{k\ge1}k2^{-k}=2$ bits on the average.}
\exercise{build}{ex:train.gelu}{Replace the gated unit by one without a gate, $a=u\,\sigma(u)$. Write its way
back, $du$ from $da$.}{\texttt{make exercise-A1-6}}{$du=da\,\sigma(u)\bigl(1+u(1-\sigma(u))\bigr)$: |gate_back| with a gate that is its own
partner, without the other half.}
\end{exercises}
