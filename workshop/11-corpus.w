@i types.w

\chapterquestion{How surprising is a text, to somebody who knows exactly how it is made?}
@** A probabilistic grammar as training corpus.
\incipit{N}{obody knows} how much of a newspaper could have been predicted. So a loss, the number of bits that a model pays for
a token on the average, says little by itself: is a model that needs three of them bad, or is the text hard? We make the texts
ourselves, choice by choice, and add up
what each choice was worth. Then there is a number that no model can beat, and everything above it is the model's own
fault.
@^entropy@>

\begin{byhand}{three choices}
A sentence is made of three tables. \emph{The}, then \tok{\ cat} with weight 3 or \tok{\ dog} with weight 1; then \tok{\ sat} or
\tok{\ lay}, one to one; then the rest is settled: the cat on its mat, the dog on its log. What had the chance $p$ is worth
$\log_2(1/p)$ bits.

\medskip
\begin{tabular}{@@{}llrr@@{}}
\tabhead{choice} & \tabhead{taken} & \tabhead{chance} & \tabhead{bits}\\
animal & \tok{\ cat} & $\frac34$ & 0.415\\
posture & \tok{\ lay} & $\frac12$ & 1\\
place & \tok{\ on the mat.} & 1 & 0
\end{tabular}
\medskip

\emph{The cat lay on the mat.} has $0.415+1+0=1.415$ bits, and its chance is $\frac34\cdot\frac12=\frac38=2^{-1.415}$. With seven
tokens that is a fifth of a bit for each, but not evenly: all of it sits in two tokens, and a model that has understood
the sentence is surprised at those two only.

Who knows the table of animals pays $\frac34\cdot0.415+\frac14\cdot2=0.811$ bits for an animal, on the average. Who takes
both for equally likely pays 1 bit for either.
\end{byhand}

@ That the second pays more is no accident. Let a table take its alternative $i$ with the chance $p_i$, and let somebody
who reads along expect it with the chance $q_i$. This reader pays $\sum p_i\log_2(1/q_i)$ on the average, and the source itself would
pay $H=\sum p_i\log_2(1/p_i)$, which is called the \emph{entropy} of the table. Because $-\ln x\ge1-x$, with $x=q_i/p_i$,
$$\sum_ip_i\log_2\frac1{q_i}-H=\frac1{\ln2}\sum_ip_i\Bigl(-\ln\frac{q_i}{p_i}\Bigr)\ge\frac1{\ln2}\sum_i(p_i-q_i)\ge0,$$
and nothing is lost only where every $q_i$ is $p_i$. A text is many such choices, one after the other, with chances that
depend on those before. Its own chance is their product, so its bits are their sum, and the inequality holds for every choice. A single text may
be cheap for a model that happened to guess well. Over many texts luck evens out; nobody gets below the entropy.

@ The program of this chapter writes two short texts with their bits. With |"values"| it prints the numbers that the
prose below quotes, and with |"surprise"| the data of a figure: where in a text its bits sit.

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "corpus/corpus.h"
@;@#
@<What the program prints@>@;
@#
int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "values") == 0) return print_values();
  if (strcmp(what, "surprise") == 0) return print_surprise();
  return print_samples();
}

@* A grammar that remembers. \label{sec:corpus}
Our source is a set of tables. A table has a name and some alternatives, each with a weight; an alternative is a
piece of text with slots in it; and a slot is filled by an alternative of the table that it names, which may have slots of its own.
Whoever can throw dice can write texts from it, and the entropy can be added up choice by choice. Such a source is called a probabilistic
context-free grammar, and by itself it forgets at once: what fills one slot does not know of any other.

So ours has one thing more. It
remembers: who the hero is, what was lost, which variable holds the number. Without that there would
be nothing for attention to do, for the next word would follow from the last few.

The header shows texts and choices; how they are made is nobody else's business. The trainer wants texts, and the
examination of \cref{sec:examination} wants to know how each came about.

@(corpus.h@>=
#ifndef INCIPIT_CORPUS_H
#define INCIPIT_CORPUS_H
#include "ground/ground.h"
@<What the grammar offers@>@;
#endif

@ A text is known by a seed and a number, and no two parts of this work may use the same ones: a model that is examined on texts it was trained on
is examined in nothing. So the three seeds have names. The room is ample: among many texts the longest has
\val{corpus.longest} bytes, and the richest \val{corpus.richest} choices.
@<What the grammar offers@>=
enum { PASSAGE_ROOM = 8192, PASSAGE_CHOICES = 1024 };
  /* the longest text with its zero byte, and the most choices in one */
enum text_sort { TALE, HOME, CHRONICLE, CODE, TALK, N_SORTS };
  /* the five sorts of text: the first three are
     stories of the kingdom */
enum { SEED_TOKENIZER = 1, SEED_TRAINING = 2, SEED_HELD_OUT = 3 };
  /* texts of different seeds have different streams
     of random numbers */

@ A text comes with its choices, each with its chance. Two whole numbers are kept and not their quotient: a quotient is rounded,
and the examination wants to ask, too, whether another alternative would have made another text.
@<What the grammar offers@>=
struct choice { uint16_t drawn, taken; uint32_t weight, total; };
  /* alternative number |taken| of table |drawn| was taken
     with chance |weight/total| */
struct passage {
  char words[PASSAGE_ROOM]; size_t length; double bits; unsigned sort;
  struct choice choices[PASSAGE_CHOICES]; size_t n_choices;
};
  /* one text, ended by a zero byte that does not count; the sum of
     $-\log_2$ of the chances of its choices;
     and the choices themselves */

@ The grammar itself is opaque, and a text needs nothing but the grammar, a seed and a number. So texts need not be
kept on a disk: text number 7 is written when it is wanted, and again if it is wanted again.
@<What the grammar offers@>=
struct grammar;
struct grammar *grammar_open(struct memory *m, struct error *why);
  /* the grammar of this chapter, read from its tables;
     owned by the caller */
void grammar_close(struct memory *m, struct grammar *g);
  /* returns its memory; null is nothing */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why);
  /* text |number| of |seed|: the same on every machine */

@ Three functions more are there for those who mistrust the tables. One writes a text again with some choices changed, and two let the
tables be read from outside. Neither the trainer nor a model has any use for them.
@<What the grammar offers@>=
bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n, struct passage *out, struct error *why);
  /* a text whose first |n| choices are given (one that is not
     allowed is replaced by a fresh one); the rest are those of seed 0 */
size_t grammar_tables(const struct grammar *g);
  /* how many tables there are */
const char *grammar_table(const struct grammar *g, size_t number,
  size_t i, size_t *length, uint32_t *weight);
  /* alternative |i| of a table, with its length and weight; null if
     there is none; the name of the table for |i == SIZE_MAX| */

@ All alternatives of all tables stand in one array, and a table is a piece of it. The words
themselves stay where the compiler put them, in the arrays listed in |kinds|; nothing is copied, so nothing can be too long for a copy.
@<What a grammar holds@>=
struct alternative { const char *words; uint32_t length, weight; };
struct table {
  const char *name; uint32_t name_length, first, count; bool once;
};
struct grammar {
  struct table *tables; size_t n_tables;
  struct alternative *alternatives; size_t n_alternatives;
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

@ In C a table is one string: |"ruler: %3 king|%2 queen"| has two alternatives, with weights 3 and 2. The bar and the per cent
sign are its whole syntax. It is read twice, first with |a| null, to count, and then to fill; that spares us a list that grows.
Nobody but us writes these strings, so they are not suspected of malice here, only of slips; and the slips that can be made,
a name misspelt or an alternative that nothing leads to, are looked for in \cref{sec:examination}.
@<Read one table's text into its alternatives@>=
static size_t read_table(const char *s, struct table *t,
  struct alternative *a)
{
  size_t n = strcspn(s, ":"), count = 0;
  t->once = s[n - 1] == '~';
  t->name = s, t->name_length = (uint32_t) (n - t->once);
  for (s += n + 2;; s++) {
    uint32_t weight = 1;
    @<Read the weight, if one is written@>@;
    n = strcspn(s, "|");
    if (a != NULL) a[count] = (struct alternative)
      @[{ s, (uint32_t) n, weight }@];
    count++, s += n;
    if (*s == '\0') break;
  }
  t->count = (uint32_t) count;
  return count;
}

@ One blank behind the number belongs to it, and any others to the words. So |"%8  and on"|, with two, writes a blank before
\emph{and}; and |"%2"| with nothing behind it is an alternative that writes nothing at all, which is how a chain of words ends.
@<Read the weight, if one is written@>=
if (*s == '%') {
  weight = 0;
  for (s++; *s >= '0' && *s <= '9'; s++)
    weight = 10 * weight + (uint32_t) (*s - '0');
  s += *s == ' ';
}

@ A text makes dozens of choices, and each looks its table up by name. Why not once and for all, when the grammar is opened?
Because a slot may have braces in it, as in |"[name.{h.1}]"|, and which table it names is known only when it is written. So the
tables are kept in the order of their names, and eight comparisons find any of the \val{corpus.tables}.
@<Find a table by its name@>=
static const struct table *find_table(const struct grammar *g,
  const char *name, size_t length)
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
compared with their lengths; of two names of which one begins the other, the shorter comes first. The same comparison puts the tables in order.
With two comparisons, one for sorting and one for searching, a small difference between them would hide a few tables
from the search.
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

@ Opening counts first, takes its blocks, and fills them. A fresh block is zeroed, so after a refusal |alternatives| is null,
whichever of the two was refused; what was taken goes
back, and a caller never gets half a grammar.
@<Open the grammar@>=
struct grammar *grammar_open(struct memory *m, struct error *why)
{
  size_t n = 0, count = 0;
  @<Count the tables and all their alternatives@>@;
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

@ The strings of the grammar stand in dozens of small arrays, as a reader wants them, and the arrays in one list, |kinds|. An array ends with a
null, so nobody has to count its strings.
@<Count the tables and all their alternatives@>=
struct table t;
for (size_t i = 0; i < N_KINDS; i++)
  for (const char *const *s = kinds[i]; *s != NULL; s++)
    n++, count += read_table(*s, &t, NULL);

@ What a reader wants beside each other the search wants by name, so the tables are sorted once, here. Only they are moved.
Their alternatives stay, and each table still says where its own begin.
@<Read all tables, and put them in the order of their names@>=
n = count = 0;
for (size_t i = 0; i < N_KINDS; i++)
  for (const char *const *s = kinds[i]; *s != NULL; s++) {
    g->tables[n].first = (uint32_t) count;
    count += read_table(*s, &g->tables[n], g->alternatives + count);
    n++;
  }
qsort(g->tables, n, sizeof *g->tables, order_of_tables);

@ Closing returns three blocks with the sizes that they were taken with. It works on a grammar
that was only half opened, too: giving back a null pointer is nothing.
@<Close the grammar@>=
void grammar_close(struct memory *m, struct grammar *g)
{
  if (g == NULL) return;
  memory_give(m, FOR_TRAINING, g->tables, g->n_tables,
    sizeof *g->tables);
  memory_give(m, FOR_TRAINING, g->alternatives, g->n_alternatives,
    sizeof *g->alternatives);
  memory_give(m, FOR_TRAINING, g, 1, sizeof *g);
}

@ The number of tables, and below the tables themselves, are there for tests and for the
examination of \cref{sec:examination}: they ask whether every alternative is ever written.
@<Show the tables to those who ask@>=
size_t grammar_tables(const struct grammar *g)
{
  return g->n_tables;
}

@ A table can be read from outside without knowing how it is stored. Asking for an alternative
that there is none of ends the list, and a number larger than any asks for the name.
@<Show the tables to those who ask@>=
const char *grammar_table(const struct grammar *g, size_t number,
  size_t i, size_t *length, uint32_t *weight)
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

@* The scribe. \label{sec:scribe}
A scribe is one text on its way: where it has got to, what it remembers, which alternatives of
tables with a tilde are used up, and the first fault. What is used up are the bits of a 64-bit word, one a table; so no
table may have more alternatives than that. A script, if there is one, says which alternatives to take, and replaces the
dice as far as it reaches.
@<A text that is being written@>=
enum {
  MEMORIES = 64, KEY_ROOM = 8, VALUE_ROOM = 160, ONCE_TABLES = 256
};
struct remembered {
  char key[KEY_ROOM]; char value[VALUE_ROOM]; size_t length;
};
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
multiplications. Its upper half is used, a number below $2^{32}$; but $2^{32}$ is seldom a multiple of $n$. For a die with three sides it is one too
many, and the first side would come up a little too often. The difference is much too small to see, but ``exact'' is a word that we want to use of the entropy.
So numbers beyond the last whole multiple of $n$ are thrown again.
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
remembered. The first such fault is kept with its words, and everything above gives up quietly. Later faults are only
consequences, and would hide the cause.
@<Complain of the grammar@>=
static bool fault(struct scribe *s, const char *what, size_t length)
{
  if (s->fault == NULL) s->fault = what, s->fault_length = length;
  return false;
}

@ A key is in the memory once, and the search begins with the newest. A key may begin with a capital where it is used,
which is how a sentence asks for a capital letter; it is the same key. Keys are short words of our own making, a few in a text, so
looking at one after the other is fast enough.
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
the room. One byte is left for the zero that ends the text. A text that is too long is refused and not cut: half a text has bits
that it does not show.
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
``her'', a lost bell with what is wrong without it. The number behind the dot says which is meant. After
|"[h:role]"| has become \.{king;he;him;his}, |"{h}"| writes \emph{king}, |"{h.1}"| \emph{he}, and |"{H.1}"| \emph{He}. A field that is not there is
a fault, because a blank in its place would make a sentence that is nearly right.
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
  @<Write from |v| to the end of the field@>@;
  return true;
}

@ The capital letter is made in the text, after the words have been copied there. In the memory they stay as they are, since the next
sentence may want them small.
@<Write from |v| to the end of the field@>=
const char *stop = memchr(v, ';', (size_t) (end - v));
size_t at = s->out->length;
if (!put(s, v, (size_t) ((stop != NULL ? stop : end) - v)))
  return false;
if (key[0] != lower(key[0]))
  s->out->words[at] = upper(s->out->words[at]);

@ Two things forbid an alternative: that it was used before, in a table with a tilde; and that
it is named as an exception. Exceptions come as they are written in the slot, each behind a hyphen: |"-i1-i2"| are two of them, whatever is remembered as |i1| and as |i2|.
The first fields are compared, because they are what a reader sees. An alternative that looks the same and
means something else is just what an exception has to keep out.
@<May alternative |i| be taken?@>=
static bool may_take(struct scribe *s, const struct table *t,
  uint32_t i, const char *but, size_t length)
{
  if (t->once && (s->used[t - s->g->tables] >> i & 1) != 0)
    return false;
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

@ This is where entropy comes from. The weights of the alternatives that are allowed are added up, and one is
taken. A forbidden one is not in the sum: where a king is remembered as |r|, |"[ruler-r]"| leaves the queen, with the chance 1 and no bits. So each
chance is the one that a reader with a perfect memory would give, knowing all that was written before, and the product of them is the
chance of the text.
@<Choose an alternative, and account for the choice@>=
static const struct alternative *choose(struct scribe *s,
  const struct table *t, const char *but, size_t length)
{
  const struct alternative *a = s->g->alternatives + t->first;
  struct passage *p = s->out;
  bool may[64];
  uint32_t total = 0, i = 0;
  for (i = 0; i < t->count; i++)
    if ((may[i] = may_take(s, t, i, but, length)))
      total += a[i].weight;
  if (total == 0 || p->n_choices == PASSAGE_CHOICES) {
    fault(s, t->name, t->name_length);
    return NULL;
  }
  @<Let |i| be the alternative of the script, or else of the die@>@;
  @<Write the choice down, and add its bits@>@;
  return &a[i];
}

@ A scripted choice is taken if it is allowed. The die is thrown only where there is no script,
so replaying a whole script uses no random number at all. Otherwise the sides of the die are dealt out: with weights 3 and 2 allowed, a throw of 0, 1 or 2 is the first
alternative, 3 or 4 the second.
@<Let |i| be the alternative of the script, or else of the die@>=
if (p->n_choices < s->n_script && s->script[p->n_choices] < t->count
  && may[s->script[p->n_choices]])
  i = s->script[p->n_choices];
else {
  uint32_t r = throw_die(s, total);
  for (i = 0; !may[i] || r >= a[i].weight; i++)
    if (may[i]) r -= a[i].weight;
}

@ The bits of the choice are $-\log_2$ of its share. They are added even where there was only one alternative: then they are
zero, exactly, because both logarithms are the same number.
@<Write the choice down, and add its bits@>=
p->choices[p->n_choices++] = (struct choice)
  @[{ (uint16_t) (t - s->g->tables), (uint16_t) i,
  a[i].weight, total }@];
p->bits += log2_of(total) - log2_of(a[i].weight);
if (t->once) s->used[t - s->g->tables] |= UINT64_C(1) << i;

@ Filling a slot is the heart of the scribe. The slot is first written itself, since it may
contain braces, as in |"[name.{h.1}]"|; then it is read as a key, a table and exceptions; then
one alternative is written in its place. The end of the text serves as scratch paper: what is written there is copied to |name|, and the
text is cut back to where it was. So there is one function that knows how to write, and it need not be told
where.
@<Fill a slot@>=
static bool fill_slot(struct scribe *s, const char *slot,
  size_t length)
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
asks for a capital letter. What stands behind a hyphen is an exception. The name of a table therefore has none of these
signs, and begins with no capital.
@<Split the slot into key, table and exceptions@>=
while (name[key] != '\0' && name[key] != ':' && name[key] != '=')
  key++;
bool silent = name[key] == '=';
bool shout = name[0] != lower(name[0]) || name[0] == '^';
if (name[key] == '\0') key = 0;
const char *from = key > 0 ? name + key + 1 : name + shout;
size_t end = strcspn(from, "-");

@ What has been written is also what is remembered, fields and all. A key that was used before is overwritten: in
the second journey of a tale |a| is the second helper, and |"{a}"| speaks of nobody else. Then the text is cut back to
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
  if (key >= KEY_ROOM || n > VALUE_ROOM)
    return fault(s, slot, length);
  memcpy(r->key, name, key), r->key[key] = '\0';
  r->key[0] = lower(name[0]);
  memcpy(r->value, v, n), r->length = n;
}
s->out->length = at + (silent ? 0 : field_length(v, n));
if (shout && s->out->length > at) v[0] = upper(v[0]);

@ Words are copied byte by byte until a bracket comes. This function and the one that fills a slot call
each other, so an alternative can contain slots whose alternatives contain slots. How deep? A table that calls itself, as some below
do, goes one level deeper each time, and no grammar bounds that; but each level makes a choice, and when the room for choices is used up
the text is refused. That is not to be feared: the chance of it is a very high power of four fifths.
@<Write what an alternative says@>=
static bool expand(struct scribe *s, const char *words, size_t n)
{
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    char c = words[i];
    bool twice = i + 1 < n && words[i + 1] == c;
    if (strchr("[]{}", c) != NULL && twice)
      ok = put(s, &words[i++], 1);
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

@ A text is the slot |"text"| filled once, so the first choice of all is the sort of the text, and its number is the
sort's: the alternatives of the table |"text"| and the words of |enum text_sort| stand in the same order. The scribe lies on the stack, memories and all,
so writing a text asks for no memory and cannot fail for want of it.
@<Write a whole text@>=
static bool write_text(const struct grammar *g, uint64_t dice,
  const uint16_t *script, size_t n_script, struct passage *out,
  struct error *why)
{
  struct scribe s;
  memset(&s, 0, sizeof s);
  s.g = g, s.out = out, s.dice = dice;
  s.script = script, s.n_script = n_script;
  out->length = out->n_choices = 0, out->bits = 0;
  bool ok = fill_slot(&s, "text", 4);
  out->words[out->length] = '\0';
  out->sort = ok ? out->choices[0].taken : 0;
  return ok || error_say(why,@|
    "the grammar: %.*s has no place or no meaning",
    (int) s.fault_length, s.fault);
}

@ Seed and number are stirred together, so that text 5 of one seed has nothing to do with text
5 of another, and any text can be written without those before it. Were they only added, text 6 of one seed would be text 5 of the
next, and the texts held out for the examination would be those of the training. A replay begins with seed 0.
@<Write a whole text@>=
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why)
{
  uint64_t z = (seed << 40 ^ number) * UINT64_C(0x2545f4914f6cdd1d);
  return write_text(g, z ^ z >> 29, NULL, 0, out, why);
}
@#
bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n, struct passage *out, struct error *why)
{
  return write_text(g, 0, taken, n, out, why);
}

@ The logarithm is this book's own, because those of C libraries differ in their last bits. Halving brings the number
between $\frac34$ and $\frac32$; every halving is one whole bit. For what is left we use
$$\ln x=2\Bigl(y+\frac{y^3}3+\frac{y^5}5+\cdots\Bigr),\qquad y=\frac{x-1}{x+1}.$$
Now $|y|<\frac15$, so each term is less than $\frac1{25}$ of the one before, and long before the loop ends they are too small to
change a double.
@<The binary logarithm of a small whole number@>=
static double log2_of(uint32_t n)
{
  double whole = 0, x = n, power = 1, sum = 0;
  while (x >= 1.5) x /= 2, whole++;
  double y = (x - 1) / (x + 1);
  for (int k = 1; k < 48; k += 2, power *= y * y)
    sum += power * y / k;
  return whole + 2 * sum / 0.69314718055994530942;
}

@ The pieces of the module follow in the order in which the compiler needs them, which is not quite that of the explanation: the tables come first,
because opening counts them.
@(corpus.c@>=
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"
@<The tables of the grammar@>@;
@<What a grammar holds@>@;
@<Compare a table's name with another name@>@;
@<Read one table's text into its alternatives@>@;
@<Find a table by its name@>@;
@<Close the grammar@>@;
@<Show the tables to those who ask@>@;
@<Open the grammar@>@;
@<A text that is being written@>@;
@<Throw a die with |n| sides@>@;
@<The binary logarithm of a small whole number@>@;
@<Write texts@>@;

@ The functions of the scribe stand in the order in which they need each other, the simple ones first. Slots contain words and words contain slots, so one of the two
functions of the last pair has to be announced before it is defined.
@<Write texts@>=
@<Lower and upper case of ASCII@>@;
@<Complain of the grammar@>@;
@<Put words into the text@>@;
@<Recall what is remembered under a key@>@;
@<Write a field of what is remembered@>@;
@<The length of the first field@>@;
@<May alternative |i| be taken?@>@;
@<Choose an alternative, and account for the choice@>@;
static bool expand(struct scribe *s, const char *words, size_t n);
@<Fill a slot@>@;
@<Write what an alternative says@>@;
@<Write a whole text@>@;

@* The tables of the grammar. \label{sec:grammartables}
There are \val{corpus.tables} tables with \val{corpus.alternatives} alternatives in all; their notation fits on a page. A table is one string: its name, a colon, and its
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
twice in one text. The rest is text. Long strings are cut for the page, at a bar where that is possible; the compiler puts the parts together
again.

\begin{byhand}{a hero in four choices}
Further below, the first alternative of the table |"hero"| is

\smallskip
\.{a [good] [h:role] named [name:name.\char`\{h.1\char`\}]}

\smallskip\noindent
with weight 3 of 5. Say that it was taken.
Now |"[good]"| is filled: \emph{brave}, with weight 5 of 19. Then |"[h:role]"|: it is \.{princess;she;her;her}, with
weight 4 of 18; all four fields are
remembered as |h|, and the first is shown. The third slot has braces; they are written first, |"{h.1}"| is \emph{she}, and the slot has
become |"[name:name.she]"|. \emph{Mira} has weight 3 of 20. The text says
\emph{a brave princess named Mira}, and its chance is
$$\frac35\cdot\frac5{19}\cdot\frac4{18}\cdot\frac3{20}=\frac1{190}.$$
\end{byhand}

@ The root of the grammar is the table |"text"|. Its weights are set so that each of the
three kinds, stories, code and dialogues, has about a third of the \emph{tokens}. That is not a third of the texts: a tale has \val{corpus.bytes.tale}~bytes on the
average, a chronicle \val{corpus.bytes.chronicle}, and drawn equally often the tales would push aside all other stories.
@<Five sorts of text, and how often@>=
static const char *const root[] = @[{@/
  "text: %12 [tale]|%25 [home]|%52 [chronicle]|"@|
    "%49 [code]|%61 [talk]",
  NULL }@];

@ Most of the surprise in a text is not in its plot but in its words: which colour, which
food, how a thing was said. In the small tables of this section and the next \val{corpus.common.percent}~per cent of all bits are spent.
Their weights are uneven on purpose. Where every colour is as likely as the others, there
is nothing for a temperature to sharpen. No word that may follow ``a'' begins with a vowel,
which spares us a rule of English.
@<Words that every kind of text uses@>=
static const char *const words_common[] = @[{@/
  "says: %6 said|%4 whispered|%2 cried|%2 laughed|"@|
    "sighed|sang",@/
  "how: %5 |%2  softly|%2  quietly| at last|"@|
    " with a smile| in a [tone] voice",@/
  "tone: %3 low|%2 small|%2 kind|deep",@/
  "replies: %5 answered|%4 replied|%2 said|whispered",@/
  "colour: %4 red|%3 blue|%3 green|%2 white|%2 black|"@|
    "%2 yellow|silver|brown|grey|golden|pink|purple",@/
  "count: %5 three|%4 two|%3 seven|%2 four|%2 nine|"@|
    "five",@/
  "food: %4 milk|%3 cheese|%3 soup|%2 fresh bread|"@|
    "%2 honey cake|%2 [colour] plums|pancakes|"@|
    "warm porridge",@/
  "small: %4 ball|%3 hat|%3 button|%2 kite|%2 spoon|"@|
    "bucket|ribbon|teapot|drum|sock",@/
  "mild: %4 quiet|%3 dark|%3 cold|%2 warm|%2 strange|"@|
    "%2 pale|lonely|gentle|wild|dusty|silent|bright",@/
  "land: %4 hills|%3 trees|%3 fields|%2 meadow|"@|
    "%2 valley|%2 rocks|reeds|roofs|dunes|marsh",
  NULL }@];

@ Smells, wild animals and moods are shared by stories and dialogues. A word that stands in many
kinds of text is seen often, and so becomes one token; and a model that met it in a story has learnt something for
the dialogues.
@<Words that every kind of text uses@>=
static const char *const words_common_2[] = @[{@/
  "smell: %4 rain|%3 snow|%3 apples|%2 smoke|%2 honey|"@|
    "salt|mint|hay|roses|bread",@/
  "wild: %4 stork|%3 deer|%3 wolf|%2 lark|%2 goat|"@|
    "cuckoo|sheep|peacock|donkey|raven",@/
  "manner: %6 tiny|%4 shy|%3 grey|%3 white|%2 fat|"@|
    "%2 proud|%2 sleepy|clever|wet|brown|friendly|"@|
    "very old",@/
  "feel: %4 happy|%3 sleepy|%3 hungry|%2 proud|"@|
    "%2 lonely|bored|content|a little cross",@/
  "daypart: %4 morning|%3 evening|%2 afternoon",@/
  "ruler: %3 king|%2 queen",
  NULL }@];

@ A tale has a hero, something lost, one to three journeys with a helper each, and an end.
The hero's three pronouns are remembered with the role, the name is drawn from a table that
the pronoun selects, and from then on nearly every sentence calls the hero by name. That is
meant for the model: a name that comes back often is learnt early.
@<The plot of a tale@>=
static const char *const tale_plot[] = @[{@/
  "tale: %5 [open] [trait] [lack]\n[decide] [cycle] "@|
    "[found]\n[back] [end]|%3 [open] [trait] [lack]\n"@|
    "[decide] [cycle] [notyet]\n[cycle] [found]\n"@|
    "[back] [end]|%2 [open] [trait] [trait] [lack]\n"@|
    "[decide] [cycle] [notyet]\n[cycle] [notyet]\n"@|
    "[cycle] [found]\n[back] [end]",@/
  "open: %6 Once upon a time, in a [realmkind] "@|
    "kingdom, there lived [hero].|"@|
    "%2 In a [realmkind] kingdom by the [water], "@|
    "there lived [hero].|Long ago, in a [realmkind] "@|
    "kingdom beyond the [land], there lived [hero].",@/
  "hero: %3 a [good] [h:role] named [name:name.{h.1}]|"@|
    "%2 a [h:role] named [name:name.{h.1}]",@/
  "cycle: %3 [journey] [scene] [scene] [meet] "@|
    "[favour]\n[onward] [scene] [obstacle.{gift.1}]|"@|
    "%2 [journey] [scene] [scene] [meet] [favour]\n"@|
    "[onward] [obstacle.{gift.1}]|"@|
    "%2 [journey] [scene] [meet] [favour]\n"@|
    "[onward] [scene] [obstacle.{gift.1}]",
  NULL }@];

@ Roles decide pronouns, and pronouns decide names. A model that writes ``she'' of a princess has
learnt a field of a table that it has never seen. The weights are uneven here, too: a miller is met a quarter as often as a
princess, and has to be learnt from fewer sentences.
@<The plot of a tale@>=
static const char *const tale_plot_2[] = @[{@/
  "realmkind: %6 small|%3 quiet|%2 green|snowy|sleepy|"@|
    "merry",@/
  "water: %5 sea|%2 lake|river",@/
  "good: %5 brave|%4 kind|%3 clever|%2 curious|"@|
    "%2 young|cheerful|patient|dreamy",@/
  "role: %4 princess;she;her;her|%4 prince;he;him;his|"@|
    "%2 girl;she;her;her|%2 boy;he;him;his|"@|
    "queen;she;her;her|king;he;him;his|"@|
    "baker;she;her;her|miller;he;him;his|"@|
    "weaver;she;her;her|sailor;he;him;his",@/
  "name.she: %3 Mira|%3 Elena|%2 Anna|%2 Rosa|"@|
    "%2 Clara|%2 Nora|Ida|Lily|Ella|Julia|Maria|"@|
    "Sophie",@/
  "name.he: %3 Tom|%3 Leo|%2 Hugo|%2 Felix|%2 Oscar|"@|
    "%2 Emil|Paul|Ben|Adam|Jonas|Simon|Robin",
  NULL }@];

@ One or two sentences say what the hero is like before anything goes wrong. The tilde keeps a tale from saying the same thing
twice. They matter for nothing that follows, and that is their use: whoever looks back has to find the name of the hero and
what is lost among sentences that say neither.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble[] = @[{@/
  "trait~: {name} loved the [lovely] and was never "@|
    "afraid of the [scary].|"@|
    "Everyone knew {name}, because {h.1} always had "@|
    "[pocket] in {h.3} pocket.|Every [daypart] "@|
    "{name} greeted the [lovely].|People said that "@|
    "{name} had the warmest heart in the kingdom.|"@|
    "{name} lived in a [colour] house with [count] "@|
    "windows.|{name} was not rich, but {h.1} had "@|
    "[pocket] and a good friend, the [scary].|"@|
    "When {name} laughed, the [lovely] seemed to "@|
    "laugh too.|{name} owned nothing but [pocket], "@|
    "and that was enough for {h.2}.",@/
  "lovely: %4 birds|%3 wind|%3 moon|%2 river|%2 rain|"@|
    "garden|bees|stars|sea|old clock",@/
  "scary: %4 dark|%3 thunder|%2 old dragon|%2 night|"@|
    "grey wolf|north wind|giant next door",@/
  "pocket: %3 an apple|%3 a button|%2 [count] nuts|"@|
    "%2 a [colour] feather|a smooth stone|a piece of "@|
    "string|a little flute|a crust of bread",
  NULL }@];

@ How the loss is found out, and who is to blame. The thing is remembered as |g| here, at its
first mention, and each of the four sentences tells at once what is wrong without it.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble_2[] = @[{@/
  "lack: %4 [when] [g:goal] was gone. Without it, "@|
    "{g.2}.|%3 [when] [thief] stole [g:goal], and "@|
    "now {g.2}.|%2 But one thing was wrong. "@|
    "Someone had lost [g:goal], and {g.2}.|"@|
    "%2 [when] the [ruler] called all the people "@|
    "together. `[G:goal] is lost,` [says] the old "@|
    "ruler[how]. `Without it, {g.2}.`",@/
  "when: %4 One [daypart]|%3 One day|"@|
    "%2 One [mild] night|In the spring|"@|
    "On the day of the great feast",@/
  "thief: %3 a [colour] dragon|%2 a thief in a "@|
    "[colour] cloak|%2 the north wind|"@|
    "a greedy magpie|a [colour] witch|a lonely giant",
  NULL }@];

@ Twelve things can be lost. Each is remembered with three more fields: its short name, what
is wrong without it, and what is right again in the end. So each entry is a small story by itself, whose last field is not used before the
end of the tale, several paragraphs later; only a model that looks back can know which it is.
@<Who the hero is, and what is lost@>=
static const char *const tale_trouble_3[] = @[{@/
  "goal: %3 the silver bell;bell;nobody knew when to "@|
    "wake up;the bell rang in the tower every "@|
    "morning|%3 the golden key;key;the gate of the "@|
    "castle would not open;the gate of the castle "@|
    "stood open|%2 the moon lamp;lamp;the nights "@|
    "were as black as ink;the nights were bright and "@|
    "soft|%2 the queen's crown;crown;the queen could "@|
    "not smile;the queen smiled from ear to ear|"@|
    "%2 the oldest book;book;nobody could remember "@|
    "the good stories;there was a story for everyone "@|
    "at bedtime|the rain flute;flute;no rain fell on "@|
    "the fields;rain fell softly on the fields|"@|
    "the king's left boot;boot;the king had to hop "@|
    "on one foot;the king danced on both his feet|"@|
    "the star map;map;the sailors could not find "@|
    "their way home;the sailors came home singing|"@|
    "the winter quilt;quilt;the children could not "@|
    "sleep for cold;the children slept as warm as "@|
    "kittens|the rose seed;seed;nothing would bloom "@|
    "in the gardens;the gardens were full of roses|"@|
    "the magic kettle;kettle;there was no tea in the "@|
    "whole land;there was hot tea for everyone|"@|
    "the sun stone;stone;the snow would not melt;the "@|
    "snow melted and the brooks began to sing",
  NULL }@];

@ The road is made of places, weather and walking. Before the first step somebody has to decide to go, and the hero does it with or without
many words; the six ways of saying it have nothing to do with what is lost.
@<On the road@>=
static const char *const tale_road[] = @[{@/
  "decide: %4 `I will find the {g.1},` [says] "@|
    "{name}[how], and {h.1} [setout].|"@|
    "%3 {name} thought about it all night. "@|
    "At sunrise {h.1} [setout].|"@|
    "%2 The wise men shook their heads, but {name} "@|
    "put on {h.3} [colour] coat and [setout].|"@|
    "%2 `Somebody must go,` [says] {name}[how]. `Why "@|
    "not me?` So {h.1} [setout].|Nobody else dared "@|
    "to go. So {name} took [pocket] and [setout].|"@|
    "{name} kissed {h.3} mother goodbye and [setout].",@/
  "setout: %4 set out|%3 set out for the [far]|"@|
    "%2 went through the gate|%2 walked away towards "@|
    "the [far]|rode away on a [colour] pony",@/
  "far: %4 mountains|%3 great forest|%2 north|south|"@|
    "edge of the world|sea",
  NULL }@];

@ A journey ends at a place, which is remembered, because the helper will be found near it. One table of this group calls itself:
after ``on and on'' another ``and on'' follows with a chance of four in five, however many
there were. A greedy writer, who takes the likeliest way each time, never gets out again.
@<On the road@>=
static const char *const tale_road_2[] = @[{@/
  "journey: %4 {name} [walked] [along] until {h.1} "@|
    "[came] [p:place].|%3 The road went [along] and "@|
    "led {name} to [p:place].|%2 For [count] days "@|
    "{name} saw nobody. Then {h.1} [came] [p:place].|"@|
    "%2 The sun rose and the sun set, and at last "@|
    "{name} stood before [p:place].|"@|
    "It rained, and {name} sang. It snowed, and "@|
    "{h.1} sang louder. So {h.1} [came] [p:place].|"@|
    "{name} asked a [colour] butterfly for the way, "@|
    "and the butterfly led {h.2} to [p:place].",@/
  "walked: %5 walked|%3 wandered|%2 marched|hurried|"@|
    "strolled",@/
  "along: %3 up and down|%2 over the [land]|"@|
    "%2 through the [land]|%2 on and on[onandon]",@/
  "onandon: %8  and on[onandon]|%2",@/
  "came: %4 came to|%3 reached|%2 found|arrived at",
  NULL }@];

@ Scenery comes from sentence frames with three slots each. A dozen frames and some ten words in
a slot make more scenes than a model of this size could learn by heart.
@<On the road@>=
static const char *const tale_road_3[] = @[{@/
  "place: %4 a [mild] forest;forest|"@|
    "%3 a [mild] lake;lake|%2 a [mild] bridge;bridge|"@|
    "%2 a [mild] tower;tower|%2 a [mild] mill;mill|"@|
    "a [mild] garden;garden|a [mild] market;market|"@|
    "a [mild] well;well|a [mild] village;village|"@|
    "a [mild] beach;beach",@/
  "scene~: The [mild] wind sang in the [land].|"@|
    "A [mild] moon hung over the [land].|"@|
    "The [land] smelt of [smell] and [smell].|"@|
    "Somewhere a [mild] [wild] was calling.|"@|
    "[^count] [mild] birds flew over the [land].|"@|
    "The air tasted of [smell].|The [land] lay "@|
    "[mild] in the [light].|A [mild] cloud, shaped "@|
    "like a [wild], hung over the [land].|{name} saw "@|
    "a [mild] [wild] and a [manner] [wild].|{name} "@|
    "thought of [smell] and of the [mild] [land] at "@|
    "home.|{name} ate [food] and looked at the "@|
    "[mild] [land].|A [manner] [wild] flew from the "@|
    "[land] and sang of [smell].|Behind the [land] "@|
    "lay a [colour] [small], and {name} picked it up.",@/
  "light: %4 moonlight|%3 sunshine|%2 rain|snow|"@|
    "evening light",
  NULL }@];

@ Between two journeys the thing is not found. Each of these sentences names the thing or its
place again, which gives the model something to look back for.
@<On the road@>=
static const char *const tale_road_4[] = @[{@/
  "notyet~: But the {g.1} was not there.|But {name} "@|
    "did not find the {g.1}.|There {name} found a "@|
    "[colour] [small], but no {g.1}.|`Have you seen "@|
    "{g}?` asked {name}. `No,` [replies] the "@|
    "{a}[how].|There stood a sign with [count] arms, "@|
    "and all of them pointed to the [far].|There "@|
    "{name} slept under the stars and dreamt of {g}.",
  NULL }@];

@ Each journey meets an animal that needs help and gives something for it. What it asks and
what is done about it hang together, being fields of one alternative. What it gives is drawn anew, and nobody can foresee it;
but from the next sentence on it is known, and half a page later it decides how the hero gets on.
@<A helper in need@>=
static const char *const tale_help[] = @[{@/
  "meet: %4 There {name} met a [manner] [a:helper].|"@|
    "%3 Under a [mild] tree by the {p.1} sat a "@|
    "[manner] [a:helper].|"@|
    "%2 Near the {p.1} {name} heard a small voice. "@|
    "It was a [manner] [a:helper].|%2 By the {p.1} "@|
    "{h.1} found a [manner] [a:helper].|Suddenly a "@|
    "[manner] [a:helper] stood before {h.2}.",@/
  "helper~: %3 fox|%3 hedgehog|%2 badger|%2 swan|"@|
    "%2 mole|%2 heron|snail|otter|mouse|bear|goose|"@|
    "crow|frog|hare|squirrel",@/
  "favour: %4 `[plea]` [says] the {a}[how]. "@|
    "`[n:need].` {name} [adv]{n.1}. [thanks]|%3 The "@|
    "{a} looked unhappy. `[n:need],` it [says][how]. "@|
    "So {name} [adv]{n.1}. [thanks]|%3 `Why are you "@|
    "so sad?` asked {name}. `[n:need],` [replies] "@|
    "the {a}[how]. {name} [adv]{n.1}. [thanks]",@/
  "adv: %4 |%2 quickly |calmly |bravely |gently |"@|
    "quietly ",@/
  "plea: %3 Please help me!|%2 Oh, a friend at last!|"@|
    "%2 Stop, kind stranger!|Have you a moment?",
  NULL }@];

@ Need and deed are two fields of one alternative: whoever has no breakfast is given bread,
wherever in the paragraph the deed is told.
@<A helper in need@>=
static const char *const tale_help_2[] = @[{@/
  "need~: %3 My foot is caught in a thorn bush;pulled "@|
    "out the thorns one by one|"@|
    "%3 I have had no breakfast;shared {h.3} bread|"@|
    "%2 I cannot find my children;looked behind "@|
    "every stone until they were found|"@|
    "%2 I am so cold;gave up {h.3} warm scarf|"@|
    "%2 My house has no roof;built a roof of leaves "@|
    "and twigs|I have forgotten my song;hummed until "@|
    "the song came back|Nobody ever talks to "@|
    "me;stayed and talked until the moon rose|"@|
    "My nest has fallen from the tree;climbed up and "@|
    "put the nest back|There is a splinter in my "@|
    "foot;drew out the splinter|I cannot reach the "@|
    "plums;shook the tree until the plums fell down",
  NULL }@];

@ The gift is remembered under its own name. Its second field is the short word by which the
obstacle will be chosen, and the words of thanks vary so that the gift does not follow from them.
@<A helper in need@>=
static const char *const tale_help_3[] = @[{@/
  "thanks: %4 `Thank you,` [says] the {a}[how]. `Take "@|
    "this [magic] [colour] [gift:gift]. You will "@|
    "need it.`|%3 The {a} bowed. `Here is a [magic] "@|
    "[gift:gift],` it [says][how]. `Keep it well.`|"@|
    "%2 Then the {a} danced for joy and gave {name} "@|
    "a [magic] [colour] [gift:gift].|"@|
    "%2 `You are kind, {name},` [says] the {a}[how], "@|
    "and it brought a [magic] [gift:gift] out of a "@|
    "hollow tree.",@/
  "magic: %5 magic|%3 strange|%2 small|%2 shining|"@|
    "plain|very fine|wonderful",@/
  "gift~: %3 rope;rope|%3 lantern;lantern|"@|
    "%2 feather;feather|%2 loaf of bread;loaf|"@|
    "%2 mirror;mirror|pot of honey;honey|"@|
    "whistle;whistle|needle;needle|ball of wool;wool",@/
  "onward: %3 {name} thanked the {a} and went on.|"@|
    "%2 {name} waved to the {a} for a long time. "@|
    "Then {h.1} [walked] [along].|%2 The {a} showed "@|
    "{name} the way, and {h.1} [walked] [along].|"@|
    "%2 With the {gift.1} in {h.3} hand {name} went "@|
    "on.|{name} put the {gift.1} in {h.3} bag and "@|
    "followed the stars.",
  NULL }@];

@ Here the table itself is selected by what is remembered: a hero who was given a rope meets
a valley or a cliff, never a torn sail. So the gift of one sentence decides what can happen
in the next paragraph.
@<Obstacles, each overcome by its gift@>=
static const char *const tale_obstacles[] = @[{@/
  "obstacle.rope: %3 [soon] {name} stood before a "@|
    "[mild] valley without a bridge. {H.1} [adv]tied "@|
    "the rope to a tree and swung across.|"@|
    "%2 The path ended at a [mild] cliff. {name} "@|
    "[adv]threw the rope over a rock and climbed up.|"@|
    "The road ended at a [mild] well. {name} "@|
    "[adv]climbed down the rope, deeper and deeper.",@/
  "obstacle.lantern: %3 [soon] {name} came to a cave "@|
    "as dark as a boot. {H.1} [adv]lit the lantern, "@|
    "and the shadows ran away.|"@|
    "%2 Fog rose and hid the [land]. {name} "@|
    "[adv]held the lantern high and found the way.|"@|
    "A thousand bats barred a [mild] door. "@|
    "They hated the lantern and flew away.",@/
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
static const char *const tale_obstacles_2[] = @[{@/
  "obstacle.loaf: %3 [soon] a [mild] giant stood in "@|
    "the way. {name} [adv]gave him the loaf, and he "@|
    "ate it and fell asleep.|%2 There was a forest "@|
    "where everyone got lost. {name} [adv]dropped "@|
    "crumbs of the loaf and always knew the way.|"@|
    "Grey wolves came out of the [land]. "@|
    "{name} [adv]broke the loaf into pieces, and the "@|
    "wolves ate like lambs.",@/
  "obstacle.mirror: %3 [soon] a [mild] troll jumped "@|
    "onto the road. {name} [adv]showed him the "@|
    "mirror, and the troll ran away from himself.|"@|
    "%2 A [colour] dragon breathed fire. "@|
    "{name} [adv]held up the mirror, and the fire "@|
    "flew back and burnt its beard.",@/
  "obstacle.honey: %3 [soon] {name} met a [mild] bear "@|
    "on a narrow bridge. {H.1} [adv]opened the "@|
    "honey, and the bear let {h.2} pass.|"@|
    "%2 A cloud of bees filled the [land]. "@|
    "{name} [adv]gave them the honey, and they "@|
    "hummed and were content.",
  NULL }@];

@ The last three gifts have obstacles of their own. Every gift has at least two, so the text is
not settled by the gift alone: a perfect reader is sure of the whistle and still unsure of the lake. One table for the beginnings of sentences
serves them all.
@<Obstacles, each overcome by its gift@>=
static const char *const tale_obstacles_3[] = @[{@/
  "obstacle.whistle: %3 [soon] {name} came to a wide "@|
    "lake. {H.1} [adv]blew the whistle, and [count] "@|
    "geese came and carried {h.2} over.|"@|
    "%2 Robbers jumped out of the [land]. "@|
    "{name} [adv]blew the whistle so loudly that "@|
    "they dropped their hats and fled.",@/
  "obstacle.needle: %3 [soon] {name} came to the sea, "@|
    "and the only boat had a torn sail. "@|
    "{H.1} [adv]took the needle and sewed it up.|"@|
    "%2 A [mild] giant wept, for his trousers were "@|
    "torn. {name} [adv]mended them with the needle, "@|
    "and he carried {h.2} over the [land].",@/
  "soon: %4 Soon|%2 Before long|%2 At noon|"@|
    "After an hour|In the evening|All at once",@/
  "obstacle.wool: %3 [soon] {name} came to a maze of "@|
    "hedges. {H.1} [adv]let the wool run out and was "@|
    "never lost.|%2 A [colour] cat as big as a house "@|
    "lay across the road. {name} [adv]rolled the "@|
    "wool down the hill, and the cat ran after it.",
  NULL }@];

@ The thing is found, brought home, and puts right what was wrong without it. However the end begins, it says |"{g.3}"|: what was laid down
in the first paragraph with the loss comes out in the last.
@<How a tale ends@>=
static const char *const tale_end[] = @[{@/
  "found: %3 And there, [where], lay {g}.|"@|
    "%3 [^where] {name} found {g} at last.|"@|
    "%2 Then {name} saw something shining [where]. "@|
    "It was {g}!|{name} looked [count] times before "@|
    "{h.1} saw {g} [where].",@/
  "where: %3 under a heap of leaves|"@|
    "%3 on a [colour] cushion|%2 in an empty nest|"@|
    "%2 behind a small door|between two old stones|"@|
    "under a sleeping [wild]|in a box of glass",@/
  "back: %3 {name} ran all the way home with the "@|
    "{g.1}.|%3 When {name} came home, the bells rang "@|
    "and the dogs barked.|%2 The wind carried {name} "@|
    "and the {g.1} back to the kingdom.|"@|
    "%2 All the people stood at the gate when {name} "@|
    "brought the {g.1} home.|`You have been away so "@|
    "long,` [says] the [ruler][how]. "@|
    "`I had to help the {a},` [says] {name}[how].",@/
  "end: %3 From that day on, {g.3}. [last]|"@|
    "%3 Now {g.3}, and the [ruler] thanked {name}. "@|
    "[last]|%2 Soon {g.3}. The people held a feast "@|
    "for [count] days. [last]|And so {g.3}, thanks "@|
    "to {name} and the {a}. [last]",
  NULL }@];

@ The last sentence may look back at the gift, the helper or the hero, or at nothing: two of its seven forms would fit any tale. The likeliest of
all is one of these, since that is how tales end.
@<How a tale ends@>=
static const char *const tale_end_2[] = @[{@/
  "last: %4 And they lived happily ever after.|"@|
    "%2 And if you visit the kingdom, you can see "@|
    "the {gift.1} in a glass case.|"@|
    "%2 The {a} got a seat at the king's table.|"@|
    "%2 {name} and the {a} stayed friends for ever.|"@|
    "And {name} learned that a small kindness can "@|
    "open a big door.|And every year, on that day, "@|
    "the whole kingdom eats [food].|"@|
    "`It was nothing,` [says] {name}[how], and went "@|
    "to see what was for supper.",
  NULL }@];

@ The stories of the second sort are about an animal and its place, and the places rhyme. These are
the sentences from which the book's running example comes: after \tok{The cat sat} the
source goes on with \tok{\ on the mat.} eight times in ten. Three more tables here call
themselves; the wheel of the mill is the one that later chapters will try to stop.
@<At home with the cat@>=
static const char *const home_frame[] = @[{@/
  "home: %4 The [q:pet] [posture] [spot]. [mood] "@|
    "[comes] [plan]\n[problem] [solve] [homeend]|"@|
    "%3 The [q:pet] [posture] [spot]. [mood] [wish] "@|
    "[comes] [plan] [homeend]|%2 The [q:pet] "@|
    "[posture] [spot]. [mood] [mood] [comes]\n"@|
    "[plan] [plan] [problem] [solve]\n[homeend]",@/
  "posture: %7 sat|slept|waited|lay",@/
  "spot: %8 {q.1}|by the fire|[elsewhere]",@/
  "elsewhere: %3 in the sun|%2 at the window|"@|
    "under the table|near the gate",@/
  "pet: %9 cat;on the mat;mat|%3 dog;on the log;log|"@|
    "%2 hen;in the pen;pen|%2 fox;on the box;box|"@|
    "%2 goat;in the boat;boat|mouse;in the "@|
    "house;house|bear;on the chair;chair|"@|
    "bee;in the tree;tree|bug;on the rug;rug|"@|
    "duck;on the truck;truck|pig;by the fig;fig|"@|
    "crow;in the snow;snow|moth;on the cloth;cloth|"@|
    "lamb;by the jam;jam|toad;on the road;road",
  NULL }@];

@ The three tables that end in |on| call themselves with a chance of eight in ten. There is no
memory in that: however often the wheel went round, the next ``and round'' is as likely as the first.
@<At home with the cat@>=
static const char *const home_frame_2[] = @[{@/
  "mood~: %3 The {q.2} was [quality], and the {q} was "@|
    "[feel].|%3 It was a [weather] [daypart].|"@|
    "%3 It was [daypart] and the {q} was [feel].|"@|
    "%2 The {q} looked at the {q.2}. The {q.2} did "@|
    "not look back.|%2 The {q} thought about [food].|"@|
    "%3 Outside, the wheel of the mill went "@|
    "round[roundon].|%2 The {q} waited[waiton].|"@|
    "The clock said tick[tickon].|%2 Nobody else was "@|
    "there, only the {q} and a [colour] [small].|"@|
    "The {q} hummed a little song about [food].",@/
  "roundon: %8  and round[roundon]|%2",@/
  "waiton: %8  and waited[waiton]|%2",@/
  "tickon: %8 , tick[tickon]|%2",@/
  "quality: %4 soft|%3 warm|%3 old|%2 wet|%2 [colour]|"@|
    "big|small|full of crumbs",@/
  "weather: %4 rainy|%3 sunny|%2 cold|windy|warm|foggy",
  NULL }@];

@ The visitor is any animal but the first: |"[r:pet-q]"| is the table of pets without the
one remembered as |q|. A question is answered or replied to; what is no question is only
said, whispered or cried.
@<A visitor, and what is said@>=
static const char *const home_talk[] = @[{@/
  "wish: %3 The {q} wanted a [colour] [it:small]. "@|
    "It had always wanted a {it}.|"@|
    "%2 `I wish I had a [colour] [it:small],` [says] "@|
    "the {q}[how]. `A {it} would make me happy.`|"@|
    "Once there had been a [colour] [it:small], too. "@|
    "Now the {it} was gone.",@/
  "comes: %4 Then a [manner] [r:pet-q] came along.|"@|
    "%3 `Good [daypart], {q},` [says] a [manner] "@|
    "[r:pet-q][how].|%2 Somebody knocked. "@|
    "It was a [manner] [r:pet-q].|%2 A [manner] "@|
    "[r:pet-q] came by with a [colour] [small].|Just "@|
    "then a [manner] [r:pet-q] fell through the door.",
  NULL }@];

@ What two animals say to each other. Most of these frames bring back both animals, by name,
and a question is followed by an answer that fits it. Who speaks first is settled by the frame; the model has to keep apart who is |q| and
who is |r|.
@<A visitor, and what is said@>=
static const char *const home_talk_2[] = @[{@/
  "plan~: %3 `Let us play,` [says] the {r}[how]. "@|
    "`What shall we play?` asked the {q}. "@|
    "`[^game],` [replies] the {r}[how].|"@|
    "%3 `May I sit {q.1} too?` asked the {r}. "@|
    "`[mayi],` [replies] the {q}[how].|"@|
    "%2 `What are you doing?` asked the {r}. `I am "@|
    "[doing],` [replies] the {q}[how].|%2 The {q} "@|
    "and the {r} played [game] until it was dark.|"@|
    "%2 `I have [food],` [says] the {r}[how]. "@|
    "`Good,` [says] the {q}[how]. `I have [food].`|"@|
    "%2 The {r} told the {q} about its {r.2}. "@|
    "The {q} told the {r} about its {q.2}.|"@|
    "`Why is the {q.2} so [quality]?` asked the {r}. "@|
    "`[why],` [replies] the {q}[how].|The {r} sang, "@|
    "and the {q} danced around the {q.2}.|"@|
    "%2 So the {q} and the {r} shared the [food].|"@|
    "`You look [feel],` [says] the {r}[how]. `I am "@|
    "not [feel],` [says] the {q}[how]. `I am a {q}.`",@/
  "game: %4 hide and seek|%3 pirates|%2 school|"@|
    "tea party|snow castle|guess the noise",
  NULL }@];

@ Short answers to the questions above. They have weights, too: a likely answer, a few rarer
ones, so that the answers are not all equally surprising.
@<A visitor, and what is said@>=
static const char *const home_talk_3[] = @[{@/
  "mayi: %3 Of course|%3 Yes, if you are quiet|"@|
    "%2 There is always room for one more|"@|
    "Only until supper",@/
  "doing: %3 thinking about [food]|"@|
    "%2 counting my toes|%2 looking for my [small]|"@|
    "waiting for the moon|guarding the {q.2}",@/
  "why: %3 Nobody knows|%2 Because it is Sunday|"@|
    "%2 It was always like that|"@|
    "Because I have never washed it",
  NULL }@];

@ A story needs something to go wrong, if only a little. In |"dothis~"| the tilde says that
nothing is proposed twice in one story, so a plan has two different steps.
@<A small trouble, and how it is solved@>=
static const char *const home_trouble[] = @[{@/
  "problem: %3 But then the {q.2} began to move.|"@|
    "%3 But then it began to rain, and there was "@|
    "only one [colour] [small].|%2 But then there "@|
    "was a [loud] noise behind the {q.2}.|%2 But the "@|
    "{q} could not find its [colour] [small].|"@|
    "%2 But in the night the wind took the [colour] "@|
    "[small] away.|But there was only one piece of "@|
    "[food] left.|But the {r} was afraid of the dark.",@/
  "loud: %3 loud|%2 very loud|small",@/
  "solve: %3 `Do not worry,` [says] the {r}[how]. "@|
    "`We can [dothis].` And so they did.|"@|
    "%2 `Oh dear,` [says] the {q}[how]. `Now we must "@|
    "[dothis].` So they did that, and it helped.|"@|
    "%2 The {q} thought. The {r} thought. "@|
    "Then both said, `Let us [dothis]!`|"@|
    "%2 `I know what to do,` [says] the {q}[how]. "@|
    "`First we [dothis], then we [dothis].`|They "@|
    "tried to [dothis], but that was silly. Then "@|
    "they tried to [dothis], and that was just right.",
  NULL }@];

@ Steps of a plan, and the last sentence of a story. The end goes back to the animal, the
visitor or the place of the first sentence.
@<A small trouble, and how it is solved@>=
static const char *const home_trouble_2[] = @[{@/
  "dothis~: %3 ask the old owl|%3 look under the "@|
    "{q.2}|%2 make some tea|%2 sing very loudly|"@|
    "%2 light a candle|call the {r}'s mother|share "@|
    "everything|sit close together|count to [count]|"@|
    "build a tent|write a letter to the moon",@/
  "homeend: %3 And the {q} went back to the {q.2}. "@|
    "Good night, {q}.|%3 That night, two friends "@|
    "slept {q.1}.|%2 `Tomorrow,` [says] the "@|
    "{q}[how], `I will visit your {r.2}.`|%2 And "@|
    "what did the {q} do then? The {q} sat {q.1}.|"@|
    "%2 Now the {q} and the {r} meet every "@|
    "[daypart].|The {q} yawned. The {r} yawned. The "@|
    "end.|`It was a good day,` [says] the {r}[how]. "@|
    "`It was a good {q.2},` [says] the {q}[how].|"@|
    "And since that day the {q.2} is never empty.",
  NULL }@];

@ A chronicle is made for one figure. Its first sentence has nine tokens, and the tenth is a
crossing of twelve roads with known weights: two are likelier than the others, by the same amount. The weights can be read as per cent.
Everything after the crossing depends on the road taken, and \tok{However} and
\tok{Additionally} never meet again.
@<The chronicle, and its fork@>=
static const char *const chronicle_fork[] = @[{@/
  "chronicle: The [topic] of the [realm] was very "@|
    "[good2]. [fork]",@/
  "topic: %5 harvest|%2 market|%2 school|cheese|honey|"@|
    "fair|garden|bread",@/
  "realm: %5 kingdom|%2 village|%2 valley|island|town",@/
  "good2: %6 good|%2 big|%2 fine",@/
  "fork: %15 However, [bad]. [worry] [repair]|"@|
    "%15 Additionally, [nice]. [joy] [treat]|"@|
    "%7 The [ruler] was [pleased] and gave everyone "@|
    "[prize].|%7 Everyone [shared]. [joy]|"@|
    "%7 So the [ruler] [ordered]. [joy]|"@|
    "%7 In the [daypart] there was [event]. [treat]|"@|
    "%7 Even the [manner] [pet2] [joined]. [joy]|"@|
    "%7 At [hour] the [official] came to see it. "@|
    "[verdict]|%7 That was because [cause]. [treat]|"@|
    "%7 Soon the [official] wrote about it. "@|
    "[verdict]|%7 Nobody [absent]. [joy]|"@|
    "%7 Perhaps [cause]. [treat]",
  NULL }@];

@ Two of the twelve roads, in their first sentences. On the one hand trouble, worry and repair,
on the other a blessing, joy and a treat. A figure that follows both roads shall show two different stories and not two wordings of
one.
@<The chronicle, and its fork@>=
static const char *const chronicle_fork_2[] = @[{@/
  "bad: %4 a [colour] dragon had smelt it from far "@|
    "away|%3 a storm was coming from the [water]|"@|
    "%3 the mice had heard of it too|"@|
    "%2 the bridge had fallen down|%2 the [official] "@|
    "had lost the key|the roof of the barn had a hole",@/
  "worry: %3 The people were worried and did not "@|
    "sing.|%2 The [ruler] could not sleep.|%2 `What "@|
    "shall we do now?` asked the [official].|"@|
    "%2 For [count] days nobody laughed.",@/
  "repair: %3 Then a little girl had an idea, and by "@|
    "[daypart] everything was mended.|%2 In the end "@|
    "the [manner] [pet2] helped them.|%2 They worked "@|
    "together all night.|A stranger came by with a "@|
    "[colour] [small] and put everything right.",@/
  "nice: %4 the new bridge was ready|%3 a ship had "@|
    "come with [food] and silk|%3 the old clock was "@|
    "working again|%2 twins were born at the castle|"@|
    "%2 the well was full of sweet water|"@|
    "the [official] had found a treasure",
  NULL }@];

@ The rest of a chronicle is one or two short sentences, trouble on one road and joy on the
others.
@<What happened after the fork@>=
static const char *const chronicle_after[] = @[{@/
  "pet2: %6 cat|%3 dog|%2 hen|%2 fox|goat|mouse|bear|"@|
    "pig",@/
  "joy: %3 The children danced in the street.|"@|
    "%3 There was music on every corner.|"@|
    "%2 The bells rang for [count] hours.|"@|
    "Even the [official] smiled.|"@|
    "Nobody went to bed before midnight.",@/
  "treat: %3 There was [food] for everybody.|"@|
    "%2 The baker made a cake as tall as a [wild].|"@|
    "%2 Every child got a [colour] [small].|"@|
    "%2 The [ruler] danced with the baker.",@/
  "pleased: %3 pleased|%2 delighted|%2 proud|"@|
    "as happy as a lark",@/
  "prize: %3 a [colour] [small]|%2 a day off|"@|
    "%2 a slice of cake|%2 [food]",@/
  "shared: %3 came to help|%2 sang at work|"@|
    "%2 put on a [colour] hat|had plenty to eat",@/
  "ordered: %3 held a great feast|"@|
    "%2 closed the school for [count] days|%2 wrote "@|
    "a poem about it|%2 sent [food] to the neighbours",@/
  "event: %3 a dance by the [water]|%2 a play about a "@|
    "[wild]|%2 a race of snails|a concert of frogs",
  NULL }@];

@ Small tables for the ten other roads. Every road is short, because a chronicle has to be, if
the crossing shall be a large part of it.
@<What happened after the fork@>=
static const char *const chronicle_after_2[] = @[{@/
  "joined: %3 got a share|%2 wore a [colour] ribbon|"@|
    "%2 wanted to see it|clapped",@/
  "hour: %3 noon|%2 sunrise|%2 midnight|five o'clock",@/
  "official: %4 minister|%3 judge|%2 mayor|"@|
    "royal doctor|queen's aunt",@/
  "verdict: %3 `Very good,` [says] the visitor[how] "@|
    "and ate some of it.|%2 The visitor stayed for "@|
    "[count] days.|%2 `I have never seen a better "@|
    "one,` [says] the visitor[how].|"@|
    "The visitor took [count] notes and fell asleep.",@/
  "cause: %3 the sun had been kind|"@|
    "%3 the rain had come at the right time|"@|
    "%2 the bees had worked so hard|%2 the children "@|
    "had helped|the old miller had sung to the fields",@/
  "absent: %3 was hungry that [daypart]|%2 stayed at "@|
    "home|%2 forgot to say thank you|asked for more",
  NULL }@];

@ Three dialogues of five begin with somebody who says a name and owns something, and
ask for it again at the end, after one to three unrelated exchanges. Nothing else in the
corpus asks so plainly whether a model can look back.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame[] = @[{@/
  "talk: %3 [intro][turn]\n\n[bye]|"@|
    "%3 [intro][turn]\n\n[turn]\n\n[bye]|"@|
    "%2 [intro][turn]\n\n[turn]\n\n[turn]\n\n[bye]|"@|
    "%4 [meeting]\n\n[turn]\n\n[recall]\n\n[bye]|"@|
    "%5 [meeting]\n\n[turn]\n\n[turn]\n\n[recall]\n\n"@|
    "[bye]|%4 [meeting]\n\n[turn]\n\n[turn]\n\n"@|
    "[turn]\n\n[recall]\n\n[bye]",@/
  "intro: %5 |"@|
    "%3 User: [hello]\nAssistant: [welcome]\n\n",@/
  "meeting: %5 User: My name is [me:person] and I "@|
    "have a [mc:colour] [ms:small].\nAssistant: "@|
    "Hello, {me}! [nicething]|%3 User: [hello] I am "@|
    "[me:person] from the [ml:spotname], and I have "@|
    "a [mc:colour] [ms:small].\n"@|
    "Assistant: Good [daypart], {me}! [niceplace]",@/
  "person: %3 Mira|%3 Tom|%2 Anna|%2 Ben|%2 Clara|"@|
    "%2 Hugo|Ida|Leo|Nora|Paul|Rosa|Felix",@/
  "hello: %4 Hello!|%3 Good [daypart].|"@|
    "%2 Can you help me?|May I ask you something?",@/
  "welcome: %3 Hello! What would you like to know?|"@|
    "%2 Of course. Ask me anything.|%2 Good "@|
    "[daypart]! How can I help you?|I am listening.",
  NULL }@];

@ What is asked at the end was told at the beginning: a name, a thing, its colour. \tok{\
Additionally} stands here as well, so that it is frequent enough to become one token.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame_2[] = @[{@/
  "nicething: %3 A {mc} {ms} is a fine thing.|"@|
    "%2 I like your {ms}, {me}.|%2 Take good care of "@|
    "your {mc} {ms}.|How nice. Is the {ms} big?",@/
  "niceplace: %3 The {ml} is a [mild] place.|"@|
    "%2 I know the {ml} well, {me}.|"@|
    "%2 Take your {ms} to the {ml}.",@/
  "recall: %3 User: What is my name?\nAssistant: Your "@|
    "name is {me}.[more]|%3 User: Do you remember my "@|
    "{ms}?\nAssistant: Yes, {me}. Your {ms} is {mc}.|"@|
    "%2 User: What colour is my {ms}?\nAssistant: "@|
    "Your {ms} is {mc}, {me}.|%2 User: What do I "@|
    "have?\nAssistant: You have a {mc} {ms}, {me}.",@/
  "more: %5 |%5  Additionally, you have a {mc} {ms}.",@/
  "spotname: %4 mill|%3 bridge|%2 market|%2 harbour|"@|
    "%2 old church|well|castle|bakery|school",@/
  "bye: User: [thankyou]\nAssistant: [farewell]",@/
  "thankyou: %3 Thank you!|"@|
    "%2 Thank you, and a [mild] [daypart].|%2 That "@|
    "is all. I must find my [small].|%2 Goodbye! "@|
    "I am [feel] now.|I must go and eat [food].",
  NULL }@];

@ And how one says goodbye. Even the last line has a few bits in it; a text that ends in
certainty would lower the entropy for nothing.
@<A dialogue, and what is remembered in it@>=
static const char *const talk_frame_3[] = @[{@/
  "farewell: %3 You are welcome.|%3 Goodbye! "@|
    "Come again on a [mild] [daypart].|%2 It was a "@|
    "pleasure.|Sleep well, and dream of [food].",
  NULL }@];

@ Between greeting and farewell stand the exchanges, of many kinds, none twice in a dialogue. The first are facts. What does the fox eat? Such an answer never changes, so the model has to carry it in its
weights; the surprise is in the question.
@<Facts, sums and riddles@>=
static const char *const talk_facts[] = @[{@/
  "turn~: %3 [beast]|%3 [beast2]|%3 [sum]|%3 [way]|"@|
    "%3 [recipe]|%2 [riddle]|%3 [opinion]|"@|
    "%3 [dweller]|%2 [rhyme]|%4 [chat]|%4 [chat2]|"@|
    "%4 [chat3]|%6 [errand]|%5 [today]|%5 [fable]|"@|
    "%4 [sky]",@/
  "beast: %3 User: Where does the [b:animal] live?\n"@|
    "Assistant: The {b} lives "@|
    "{b.1}.[seen][beastmore]|%2 User: What does the "@|
    "[b:animal] eat?\nAssistant: The {b} eats "@|
    "{b.2}.[seen][beastmore]|%2 User: Tell me about "@|
    "the [b:animal].\nAssistant: The {b} lives {b.1} "@|
    "and eats {b.2}. It says {b.3}.",@/
  "beast2: %3 User: What does the [b:animal] say?\n"@|
    "Assistant: The {b} says {b.3}.[beastmore]|"@|
    "%3 User: I saw a [manner] [b:animal] near the "@|
    "[bs:spotname].\nAssistant: Near the {bs}? "@|
    "Did the {b} say {b.3}?\n"@|
    "User: [yesno], and it ate {b.2}.",
  NULL }@];

@ Where an animal lives, what it eats and says is one alternative with four fields, so all
answers about one animal agree with each other.
@<Facts, sums and riddles@>=
static const char *const talk_facts_2[] = @[{@/
  "beastmore: %5 |%2 \nUser: And what does it eat?\n"@|
    "Assistant: It eats {b.2}.|%2 \nUser: And where "@|
    "does it sleep?\nAssistant: It sleeps {b.1}.|"@|
    "%2 \nUser: And what does it say?\n"@|
    "Assistant: It says {b.3}.",@/
  "seen: %2 |%2  I saw one near the [spotname].|"@|
    "%2  There is a [manner] one at the [spotname].|"@|
    " The [manner] ones are the best.",@/
  "yesno: %3 Yes|%2 Yes, twice|Very loudly",@/
  "animal: %4 fox;in a den under the old oak;berries "@|
    "and mice;yip|%3 owl;in the church "@|
    "tower;moths;hoo|%3 cat;on the mat;fish;meow|"@|
    "%2 dog;in a little house;bones;woof|"@|
    "%2 hen;in the pen;corn;cluck|%2 duck;on the "@|
    "pond;snails;quack|frog;in the pond;flies;croak|"@|
    "goat;on the hill;everything;baa|"@|
    "bear;in a cave;honey;grr|"@|
    "mouse;behind the stove;cheese;squeak|"@|
    "bee;in the hollow tree;nectar;buzz|horse;in the "@|
    "stable;hay;neigh|crow;on the chimney;crumbs;caw|"@|
    "dragon;on a heap of gold;toast;please",
  NULL }@];

@ Ten sums, each with its result as a second field, because the grammar cannot add. Neither need the model: ten sums can be known by heart. The examination asks all ten of
them.
@<Facts, sums and riddles@>=
static const char *const talk_facts_3[] = @[{@/
  "sum: %3 User: What is [s:plus]?\nAssistant: {S} is "@|
    "{s.1}.|%2 User: How much is [s:plus]?\n"@|
    "Assistant: It is {s.1}.|"@|
    "%2 User: I have [s:plus] [fruit:fruits].\n"@|
    "Assistant: That is {s.1} {fruit}.",@/
  "fruits: %3 apples|%2 pears|%2 plums|nuts|coins",@/
  "plus: 2 plus 2;4|2 plus 3;5|2 plus 4;6|2 plus 5;7|"@|
    "3 plus 3;6|3 plus 4;7|3 plus 5;8|4 plus 4;8|"@|
    "4 plus 5;9|5 plus 5;10",@/
  "riddle: %3 User: Tell me a riddle.\nAssistant: "@|
    "[rd:riddles]\nUser: [giveup]\nAssistant: It is "@|
    "{rd.1}.|%2 User: Do you know a riddle?\n"@|
    "Assistant: [rd:riddles]\nUser: Is it {rd.1}?\n"@|
    "Assistant: Yes, it is {rd.1}. Well done!",@/
  "giveup: %3 I do not know.|%2 I give up.|"@|
    "Please tell me.|That is too hard.",
  NULL }@];

@ Riddles with their answers. There is nothing to work out: the model has to know them by heart,
as we do.
@<Facts, sums and riddles@>=
static const char *const talk_facts_4[] = @[{@/
  "riddles: %3 What has teeth but cannot bite?;a comb|"@|
    "%2 What has hands but cannot clap?;a clock|"@|
    "%2 What gets wet while it dries?;a towel|"@|
    "What has a neck but no head?;a bottle|"@|
    "What has one eye but cannot see?;a needle|"@|
    "What runs but has no legs?;a river|"@|
    "What has keys but opens no door?;a piano",
  NULL }@];

@ The way back is the way there in the other order, with left and right exchanged. So a side is remembered with its opposite,
|"left;right"|, and a model that answers has turned round, in its fashion.
@<Ways, recipes and opinions@>=
static const char *const talk_chat[] = @[{@/
  "way: %3 User: How do I get to the [mild] "@|
    "[w:spotname]?\nAssistant: Go past the "@|
    "[w1:landmark], turn [w2:side] at the "@|
    "[w3:landmark-w1] and walk [walkhow].[way2]|"@|
    "%2 User: Is it far to the [w:spotname]?\n"@|
    "Assistant: It is [count] miles. "@|
    "Turn [w2:side] at the [w3:landmark].[way3]",@/
  "way2: %4 |%3 \nUser: Past the {w1}, and then?\n"@|
    "Assistant: Then {w2} at the {w3}.|%3 \n"@|
    "User: And how do I get back?\nAssistant: Turn "@|
    "{w2.1} at the {w3} and go past the {w1} again.",@/
  "way3: %4 |%5 \nUser: Left or right at the {w3}?\n"@|
    "Assistant: {W2}, please.",@/
  "side: %3 left;right|%2 right;left",@/
  "landmark: %4 pond|%3 big oak|%2 blue house|"@|
    "%2 statue|post office|pear tree|inn|windmill",@/
  "walkhow: %3 up the hill|%3 down to the [water]|"@|
    "%2 along the wall|until you smell [smell]",
  NULL }@];

@ A recipe has three different things in it, and is repeated when asked. The third exception,
|"[i3:stuff-i1-i2]"|, sees to it that nothing is taken twice.
@<Ways, recipes and opinions@>=
static const char *const talk_chat_2[] = @[{@/
  "recipe: %3 User: How do I make [dish]?\n"@|
    "Assistant: Take [i1:stuff], [i2:stuff-i1] and "@|
    "[i3:stuff-i1-i2]. [stir][recipe2]|"@|
    "%2 User: What do I need for [dish]?\n"@|
    "Assistant: You need [i1:stuff], [i2:stuff-i1] "@|
    "and [i3:stuff-i1-i2].[recipe2]",@/
  "recipe2: %4 |%3 \nUser: Can you repeat that?\n"@|
    "Assistant: {I1}, {i2} and {i3}.|%3 \nUser: I "@|
    "have no {i2}.\nAssistant: Then use more {i3}.",@/
  "dish: %3 pancakes|%3 soup|%2 honey cake|%2 bread|"@|
    "plum jam|porridge|apple pie",@/
  "stuff: %4 flour|%4 milk|%3 butter|%2 salt|%2 sugar|"@|
    "%2 honey|cinnamon|cheese|water",@/
  "stir: %3 Stir it well.|%2 Cook it for [count] "@|
    "hours.|%2 Bake it until it is [colour].|"@|
    "Mix it and say a kind word.",
  NULL }@];

@ Opinions are given with a reason, and the reason is the same kind of sentence whatever is
liked. Of two things the first is preferred, always. Nobody tells the model so; it finds out that the answer stands in the question, and
at which place.
@<Ways, recipes and opinions@>=
static const char *const talk_chat_3[] = @[{@/
  "opinion: %3 User: Which do you like better, "@|
    "[o1:joyous] or [o2:joyous-o1]?\nAssistant: I "@|
    "like {o1} better.[owhy]|%2 User: Do you like "@|
    "[o1:joyous]?\nAssistant: Yes, I like {o1} very "@|
    "much.[owhy]|%2 User: What is better than "@|
    "[o1:joyous]?\nAssistant: Only [joyous-o1].",@/
  "owhy: %4 |"@|
    "%5 \nUser: Why?\nAssistant: Because {o1} [obec].",@/
  "obec: %3 makes everyone happy|%2 is good for the "@|
    "heart|never talks too much|is hard to find",@/
  "joyous: %4 music|%3 rain|%3 cheese|%2 snow|%2 soup|"@|
    "silence|moonlight|laughter|sunshine|thunder",
  NULL }@];

@ More exchanges: who lives where, and what rhymes with what. What is asked next, ``With whom?'', can only be
answered from the answer before it.
@<Rhymes and small talk@>=
static const char *const talk_more[] = @[{@/
  "dweller: %3 User: Who lives in the [l:spotname]?\n"@|
    "Assistant: The [l1:person2] lives there with "@|
    "[l2:company].[who3]|%2 User: Who works in the "@|
    "[l:spotname]?\nAssistant: The [l1:person2] and "@|
    "[l2:company].[who3]",@/
  "who3: %4 |%3 \nUser: Who?\nAssistant: The {l1}.|"@|
    "%3 \nUser: With [company-l2]?\n"@|
    "Assistant: No, with {l2}.",@/
  "person2: %3 old miller|%3 tall baker|%2 young "@|
    "widow|retired pirate|royal tailor|bell ringer",@/
  "company: %3 [count] geese|%2 a tame crow|"@|
    "%2 [count] daughters|a wooden leg|"@|
    "a talking clock",@/
  "rhyme: %3 User: What rhymes with [rh:rhymes]?\n"@|
    "Assistant: {Rh.1} rhymes with {rh}.|"@|
    "%2 User: Give me a rhyme for [rh:rhymes].\n"@|
    "Assistant: {Rh.1}.[rhyme2]",@/
  "rhyme2: %5 |%5 \nUser: {Rh}, {rh.1}. Thank you.\n"@|
    "Assistant: {Rh}, {rh.1}, and off we go.",@/
  "rhymes: %4 cat;mat|%2 hen;pen|%2 dog;log|"@|
    "%2 fox;box|moon;spoon|house;mouse|bear;chair|"@|
    "king;ring|bell;well|goat;boat",
  NULL }@];

@ These exchanges repeat words of the question in the answer. Copying is the easiest use of
looking back, and the first that a small model learns. One answer here is no copy but a choice between two words of the question, with equal weights:
there a model should be in two minds.
@<Rhymes and small talk@>=
static const char *const talk_more_2[] = @[{@/
  "chat: %3 User: I saw a [x1:mild] [x2:wild] near "@|
    "the [x3:spotname].\nAssistant: A {x1} {x2}? "@|
    "Near the {x3}? [amaze]|%2 User: I dreamt of a "@|
    "[x1:colour] [x2:wild] with [count] legs.\n"@|
    "Assistant: A {x1} {x2}! [amaze]",@/
  "chat2: %3 User: I had [x1:food] and [x2:food-x1] "@|
    "for [meal].\nAssistant: {X1} and {x2}? [yum]|"@|
    "%2 User: My [x1:kin] gave me a [x2:colour] "@|
    "[x3:small].\nAssistant: Then thank your {x1} "@|
    "for the {x2} {x3}.",@/
  "chat3: %3 User: Is the [x1:spotname] [x2:mild] or "@|
    "[x3:mild-x2]?\nAssistant: The {x1} is {x3}, and "@|
    "sometimes it is {x2}.|%2 User: Shall I bring a "@|
    "[x1:small] or a [x2:small-x1]?\n"@|
    "Assistant: Bring the [oneof]. [because]",@/
  "oneof: %5 {x1}|%5 {x2}",@/
  "because: %3 You never know.|%2 It may rain.|"@|
    "The other one is too heavy.",@/
  "amaze: %3 How wonderful!|%2 I have never seen one.|"@|
    "%2 Was it [feel]?|That brings good luck.",
  NULL }@];

@ Meals and relations, used by the exchanges above: short lists with uneven weights, as
everywhere. An aunt is the likeliest relation for no other reason than that one has to be.
@<Rhymes and small talk@>=
static const char *const talk_more_3[] = @[{@/
  "yum: %3 That sounds good.|%2 I hope there was tea.|"@|
    "What a strange meal!",@/
  "meal: %3 breakfast|%2 supper|lunch",@/
  "kin: %3 aunt|%2 uncle|%2 grandmother|brother|"@|
    "teacher",
  NULL }@];

@ These exchanges say back what was just said, in other words or in another order, and they
are rich in small choices. Dialogues are the least surprising of all five sorts, with \val[2]{train.bits.talk}~bits a token. Without these exchanges they would
have still less, and nothing would be left to guess between a question and its answer.
@<Errands, plans and very short fables@>=
static const char *const talk_stories[] = @[{@/
  "fable: %3 User: [tellme]\nAssistant: A [manner] "@|
    "[x1:wild] [met] a [colour] [x2:wild-x1] in the "@|
    "[mild] [land], and they [shareda] "@|
    "[food].[moral]|%2 User: [tellme]\n"@|
    "Assistant: Once a [mild] [x1:wild] lost a "@|
    "[colour] [x2:small] near the [spotname]. "@|
    "A [manner] [wild-x1] found the {x2}.[moral]",@/
  "tellme: %4 Tell me a story.|%2 A story, please.|"@|
    "I cannot sleep.",@/
  "met: %4 met|%3 saw|%2 found|followed",@/
  "shareda: %4 shared|%2 cooked|%2 dreamt of|"@|
    "sang about",@/
  "moral: %4 |%3 \nUser: And then?\nAssistant: Then "@|
    "the {x1} [went].|%2 \nUser: [yum]",@/
  "went: %3 went home|%2 slept until [daypart]|"@|
    "%2 sang to the [land]|ate [food]",
  NULL }@];

@ An errand names two things and asks for them again. The sky is asked about because the answer
can be anything, which keeps the dialogues from being too certain.
@<Errands, plans and very short fables@>=
static const char *const talk_stories_2[] = @[{@/
  "sky: %3 User: How is the [x1:spotname] today?\n"@|
    "Assistant: It is [mild] there, and it smells of "@|
    "[smell].|%3 User: What will the [daypart] "@|
    "bring?\nAssistant: [^mild] [weatherword] over "@|
    "the [land], and [smell].|%2 User: What do you "@|
    "see?\nAssistant: A [mild] [wild], [count] "@|
    "[colour] [smalls] and the [mild] [land].",@/
  "weatherword: %3 clouds|%3 wind|%2 rain|snow",@/
  "smalls: %3 hats|%3 buttons|%2 kites|ribbons",@/
  "errand: %3 User: Please remember a [c1:colour] "@|
    "[s1:small], a [c2:colour-c1] [s2:small-s1] and "@|
    "[food].\nAssistant: [sure]\nUser: What was it?\n"@|
    "Assistant: A {c1} {s1} and a {c2} {s2}.[forgot]|"@|
    "%2 User: Buy a [c1:colour] [s1:small] at the "@|
    "[x3:spotname].\nAssistant: A {c1} {s1}? [sure]\n"@|
    "User: And a [c2:colour-c1] one for my [kin].",@/
  "sure: %4 Of course.|%3 I will.|%2 With pleasure.|"@|
    "If I must.",@/
  "forgot: %3 |%3  And something to eat.|"@|
    " I forgot the rest.",
  NULL }@];

@ What somebody did today: two deeds from one table, so the second is a surprise of the same
size as the first.
@<Errands, plans and very short fables@>=
static const char *const talk_stories_3[] = @[{@/
  "today: %3 User: Today I [did] and [did].\n"@|
    "Assistant: [amaze]|"@|
    "%2 User: Tomorrow I will go to the "@|
    "[x1:spotname] with my [x2:kin].\nAssistant: Is "@|
    "it [mild] at the {x1}?\nUser: Ask my {x2}.",@/
  "did: %3 ate [food]|%3 found a [colour] [small]|"@|
    "%2 saw a [mild] [wild]|%2 sang to a [manner] "@|
    "[wild]|walked through the [land]|lost my [small]",
  NULL }@];

@ A page of code has one to four functions. In five pages of six a value is set in the
first line and printed in the last, with everything else in between. Names of variables come
from drawers: the first variable of a function, the second and the third each from a drawer
of its own, so no two can be equal, and we need no rule to say so.

A model learns to reach far back only if reaching a little way back has paid first. An earlier
version of this table asked for the first line's name nowhere but at the end. A model trained to the
end on it found the value when it was given the name, and for the name it guessed. A second
version asked after every function, and the model still guessed. What helped was to ask at once: in some pages the
name is printed two lines after it is set, where copying is easy, and then again at the end. Whoever has learnt to
copy from the line above needs little to do it from the top of the page. And the name became one word. Of a name of two, such as
\emph{max\_castle}, a model trained further on such pages found the second word and still guessed the first.
@^curriculum@>
@<A page of code@>=
static const char *const code_frame[] = @[{@/
  "code: [fn]\n\n[fn]|%2 [fn]\n\n[fn]\n\n[fn]|"@|
    "[fn]\n\n[fn]\n\n[fn]\n\n[fn]|"@|
    "%3 [z:keepsake] = [zn:number]\n\nprint({z})\n"@|
    "# {zn}\n\n[fn]\n\n[fn]\n\nprint({z})\n# {zn}|"@|
    "%3 [z:keepsake] = [zn:number]\n\nprint({z})\n"@|
    "# {zn}\n\n[fn]\n\n[fn]\n\n[fn]\n\n"@|
    "print({z})\n# {zn}|"@|
    "%2 [z:keepsake] = [zn:number]\n\n[fn]\n\n"@|
    "print({z})\n# {zn}|"@|
    "%3 [z:keepsake] = [zn:number]\n\n[fn]\n\n"@|
    "[fn]\n\nprint({z})\n# {zn}|"@|
    "%5 [z:keepsake] = [zn:number]\n\n[fn]\n\n"@|
    "[fn]\n\n[fn]\n\nprint({z})\n# {zn}|"@|
    "%3 [z:keepsake] = [zn:number]\n[y:keepsake-z] = "@|
    "`[yk:person]`\n\n[fn]\n\n[fn]\n\n[fn]\n\n"@|
    "[fn]\n\nprint({z}, {y})\n# {zn} {yk}",
  NULL }@];

@ A function has a note above it or none. The families stand in a table with a tilde, so a page has no two functions of one family: it has four at most, and there are more families than that.
@<A page of code@>=
static const char *const code_fun[] = @[{@/
  "fn: [note][fun]",@/
  "note: %3 |%3 # [person] wrote this [daypart]\n|"@|
    "%2 # for the [mild] [land]\n|"@|
    "%2 # a [mild] little thing, says [person]\n",@/
  "fun~: %4 [fn.count]|%3 [fn.has]|%3 [fn.total]|"@|
    "%3 [fn.add]|%3 [fn.find]|%3 [fn.larger]|"@|
    "%3 [fn.hop]|%3 [fn.greet]|%3 [fn.price]|"@|
    "%2 [fn.down]|%3 [fn.join]|%3 [fn.vars]|"@|
    "%2 [fn.class]|%2 [fn.swap]|%2 [fn.rhyme]|"@|
    "%2 [fn.wait]",
  NULL }@];

@ What is kept from the first line to the last is named by a noun that nothing else on the page is named by. All other names are made
of a noun too, with a colour before it or a tail behind it, and the three drawers have no noun in common.
@<A page of code@>=
static const char *const code_frame_2[] = @[{@/
  "keepsake: %4 castle|%3 dragon|%3 garden|"@|
    "%2 kingdom|%2 harbour|%2 market|treasure|bridge|"@|
    "village|tower",@/
  "one: %4 [onenoun]|%3 [hue]_[onenoun]|"@|
    "%2 [onenoun]_[tail]",@/
  "two: %4 [twonoun]|%3 [hue]_[twonoun]|"@|
    "%2 [twonoun]_[tail]",@/
  "three: %4 [threenoun]|%3 [hue]_[threenoun]|"@|
    "%2 [threenoun]_[tail]",@/
  "onenoun: %4 fox|%3 hen|%3 owl|%2 key|%2 map|hat|"@|
    "bell|star",@/
  "twonoun: %4 boat|%3 coin|%3 lamp|%2 tree|%2 door|"@|
    "ship|moon|bird",@/
  "threenoun: %4 ring|%3 rose|%3 cup|%2 road|%2 drum|"@|
    "leaf|nest|lake",@/
  "hue: %5 red|%4 blue|%3 old|%3 new|%2 big|%2 small|"@|
    "gold|lost|warm|green",@/
  "tail: %4 count|%3 name|%2 size|list|id",@/
  "number: [digit][digit]",@/
  "digit: %4 1|%3 2|%3 3|%2 4|%2 5|6|7|8|9",
  NULL }@];

@ Things to count come with their plural, which the name of a function needs. Two of them have
an irregular one; the grammar does not know that, and to the model, which never heard the rule, all plurals are alike.
@<A page of code@>=
static const char *const code_frame_3[] = @[{@/
  "noun: %4 apple;apples|%3 pear;pears|%3 plum;plums|"@|
    "%2 nut;nuts|%2 egg;eggs|%2 stone;stones|"@|
    "duck;ducks|mouse;mice|goose;geese|kite;kites",@/
  "box: %4 basket|%3 bag|%2 bucket|%2 chest|barn|pond|"@|
    "shelf",
  NULL }@];

@ Many functions come with a call and with the output of that call as a comment, and the
output is right. So there is something to compute: how many, whether, which. The line that makes the list has what is needed, and the comment asks for it
two lines later.
@<Functions over lists@>=
static const char *const code_lists[] = @[{@/
  "fn.count: %4 def count_[k=noun]{k.1}([kb:box]):\n"@|
    "    [t:one] = 0\n    for {k} in {kb}:\n"@|
    "        {t} = {t} + 1\n    return {t}[use.count]",@/
  "use.count: %4 |%3 \n\n[u:two] = [[`{k}`, `{k}`]]\n"@|
    "print(count_{k.1}({u}))\n# 2|"@|
    "%3 \n\n[u:two] = [[`{k}`, `{k}`, `{k}`]]\n"@|
    "print(count_{k.1}({u}))\n# 3",@/
  "fn.has: %4 def has_[k=noun]{k.1}([kb:box]):\n    "@|
    "for [t:one] in {kb}:\n        if {t} == `{k}`:\n"@|
    "            return True\n"@|
    "    return False[use.has]",@/
  "use.has: %4 |%3 \n\n[u:two] = [[`[k2:noun-k]`, "@|
    "`{k}`]]\nprint(has_{k.1}({u}))\n# True|"@|
    "%3 \n\n[u:two] = [[`[k2:noun-k]`, `[noun-k]`]]\n"@|
    "print(has_{k.1}({u}))\n# False",@/
  "fn.total: %4 def total_[f:field]([kb:box]):\n"@|
    "    [t:one] = 0\n    for [k:noun] in {kb}:\n"@|
    "        {t} = {t} + {k}.{f}\n    return {t}|"@|
    "%3 def mean_[f:field]([kb:box]):\n    [t:one] = "@|
    "0\n    for [k:noun] in {kb}:\n        {t} = {t} "@|
    "+ {k}.{f}\n    return {t} / len({kb})",
  NULL }@];

@ Searching, joining and waiting. The variable of the loop is the thing in the list, and it must
be repeated in the body exactly as it was introduced.
@<Functions over lists@>=
static const char *const code_lists_2[] = @[{@/
  "field: %4 weight|%3 price|%2 height|%2 age|length",@/
  "fn.find: %4 def find_[k=noun]{k.1}([kb:box], "@|
    "[t:one]):\n    [t2:two] = [[]]\n    for {k} in "@|
    "{kb}:\n        if {k}.[fa:field] == {t}:\n"@|
    "            {t2}.append({k})\n    return {t2}|"@|
    "%3 def first_[k:noun]([kb:box]):\n"@|
    "    if not {kb}:\n        return None\n"@|
    "    [t:one] = {kb}[[0]]\n    return {t}",@/
  "fn.join: %3 [t:one] = [[`[ja:hue]`, "@|
    "`[jb:hue-ja]`]]\nprint(` `.join({t}))\n# {ja} "@|
    "{jb}|%3 def join_[k=noun]{k.1}([kb:box]):\n"@|
    "    [t:one] = ``\n    for {k} in {kb}:\n        "@|
    "{t} = {t} + {k} + `,`\n    return {t}\n\n"@|
    "print(join_{k.1}([[`[ja:hue]`, "@|
    "`[jb:hue-ja]`]]))\n# {ja},{jb},",@/
  "fn.wait: %3 def wait_for([t:one], [kb:box]):\n"@|
    "    while {t} not in {kb}:\n"@|
    "        sleep([digit])\n    return {t}|"@|
    "%3 def empty([kb:box]):\n    while {kb}:\n"@|
    "        [t:one] = {kb}.pop()\n        print({t})",
  NULL }@];

@ Sums, comparisons and countdowns. A pair of numbers is remembered with the larger, the
smaller and the sum, because the grammar cannot add.
@<Functions of numbers@>=
static const char *const code_numbers[] = @[{@/
  "fn.add: %3 def add_[k=noun]{k.1}([t:one], "@|
    "[t2:two]):\n    return {t} + {t2}\n\n[r:three] "@|
    "= add_{k.1}([p:pair])\nprint({r})\n# {p.3}",@/
  "fn.larger: %3 def larger([t:one], [t2:two]):\n"@|
    "    if {t} > {t2}:\n        return {t}\n    "@|
    "return {t2}\n\nprint(larger([p:pair]))\n# {p.1}|"@|
    "%3 def smaller([t:one], [t2:two]):\n    if {t} "@|
    "< {t2}:\n        return {t}\n    return {t2}\n\n"@|
    "print(smaller([p:pair]))\n# {p.2}",@/
  "pair: %3 1, 2;2;1;3|%2 2, 5;5;2;7|%2 7, 3;7;3;10|"@|
    "4, 9;9;4;13|8, 1;8;1;9|6, 2;6;2;8|3, 8;8;3;11|"@|
    "9, 5;9;5;14|5, 4;5;4;9|1, 7;7;1;8",@/
  "fn.hop: %3 def [hv:verb]([t:one]):\n    for i in "@|
    "range({t}):\n        print(`{hv}`)\n\n[hops]|"@|
    "%3 def [hv:verb]_twice([t:one]):\n    "@|
    "print(`{hv}`, {t})\n    print(`{hv}`, {t})\n\n"@|
    "{hv}_twice(`[kn:person]`)\n# {hv} {kn}\n"@|
    "# {hv} {kn}",@/
  "hops: %4 {hv}(2)\n# {hv}\n# {hv}|"@|
    "%3 {hv}(3)\n# {hv}\n# {hv}\n# {hv}|"@|
    "%2 {hv}(4)\n# {hv}\n# {hv}\n# {hv}\n# {hv}",
  NULL }@];

@ A countdown prints as many lines as its argument says, and three variables are set of which
one or two are printed. Both can be got right only by counting or by looking back.
@<Functions of numbers@>=
static const char *const code_numbers_2[] = @[{@/
  "verb: %4 hop|%3 sing|%2 jump|%2 dance|quack|buzz|"@|
    "knock",@/
  "fn.down: %3 def count_down([t:one]):\n    while "@|
    "{t} > 0:\n        print({t})\n        {t} = {t} "@|
    "- 1\n    print(`[dw:verb]!`)\n\n[downs]",@/
  "downs: %4 count_down(2)\n# 2\n# 1\n# {dw}!|"@|
    "%3 count_down(3)\n# 3\n# 2\n# 1\n# {dw}!|"@|
    "%2 count_down(4)\n# 4\n# 3\n# 2\n# 1\n# {dw}!",@/
  "fn.vars: %3 [t:one] = [na:number]\n[t2:two] = "@|
    "[nb:number]\n[t3:three] = [nc:number]\n[showvar]",@/
  "showvar: %3 print({t})\n# {na}|%2 print({t2})\n"@|
    "# {nb}|%2 print({t3})\n# {nc}|%2 print({t2}, "@|
    "{t})\n# {nb} {na}|print({t3}, {t})\n# {nc} {na}",@/
  "fn.swap: %3 def swap([t:one], [t2:two]):\n"@|
    "    [t3:three] = {t}\n    {t} = {t2}\n"@|
    "    {t2} = {t3}\n    return {t}, {t2}\n\n"@|
    "print(swap([na:number], [nb:number]))\n"@|
    "# {nb} {na}",
  NULL }@];

@ Greetings, prices, animals with a name: the words inside quotation marks have to be copied
to the comment that says what is printed.
@<Functions of words@>=
static const char *const code_words[] = @[{@/
  "fn.greet: %3 def greet([t:one]):\n"@|
    "    return `[hi:hiword], ` + {t} + `!`\n\n"@|
    "print(greet(`[kn:person]`))\n# {hi}, {kn}!|"@|
    "%2 def ask([t:one], [t2:two]):\n    print({t} + "@|
    "`, may I have the ` + {t2} + `?`)\n\n"@|
    "ask(`[kn:person]`, `[k2:noun]`)\n"@|
    "# {kn}, may I have the {k2}?",@/
  "fn.price: %3 [pd:one] = {{`[pa:noun]`: "@|
    "[na:number], `[pb:noun-pa]`: [nb:number], "@|
    "`[pc:noun-pa-pb]`: [nc:number]}}\n\n"@|
    "def price_of([t:two]):\n"@|
    "    return {pd}[[{t}]]\n\n[lookup]",@/
  "lookup: %3 print(price_of(`{pa}`))\n# {na}|"@|
    "%2 print(price_of(`{pb}`))\n# {nb}|"@|
    "%2 print(price_of(`{pc}`))\n# {nc}",@/
  "fn.class: %3 class [cl:classname]:\n"@|
    "    def __init__(self, [f:two]):\n        "@|
    "self.{f} = {f}\n\n    def [cm:verb](self):\n"@|
    "        return self.{f} + ` says {cm}`\n\n"@|
    "[t:one] = {cl}(`[kn:person]`)\n"@|
    "print({t}.{cm}())\n# {kn} says {cm}",@/
  "hiword: %4 Hello|%2 Goodbye|Welcome",
  NULL }@];

@ Class names, and a dictionary of two rhymes in which one is looked up. The right answer stands
a few lines above, at one of two places.
@<Functions of words@>=
static const char *const code_words_2[] = @[{@/
  "classname: %3 Dragon|%2 Owl|%2 Knight|Baker|Robot",@/
  "fn.rhyme: %3 [pd:one] = {{`[ra:rhymes]`: `{ra.1}`, "@|
    "`[rb:rhymes-ra]`: `{rb.1}`}}\n\n"@|
    "def rhyme([t:two]):\n    return {pd}[[{t}]]\n\n"@|
    "[rhymeuse]",@/
  "rhymeuse: %3 print(rhyme(`{ra}`))\n# {ra.1}|"@|
    "%2 print(rhyme(`{rb}`))\n# {rb.1}",
  NULL }@];

@ That is the whole source. Its tables are put together kind by kind; the order means nothing to the scribe, who finds them by name.
@<The tables of the grammar@>=
@<Five sorts of text, and how often@>@;
@<Words that every kind of text uses@>@;
@<Stories: tales, the cat at home, chronicles@>@;
@<Dialogues, and what they are about@>@;
@<A page of code@>@;
@<Functions over lists@>@;
@<Functions of numbers@>@;
@<Functions of words@>@;
@<All arrays in one list@>@;

@ The three sorts of stories, in the order in which they were told. They share their words with each other and with the dialogues,
which is what makes them one kingdom.
@<Stories: tales, the cat at home, chronicles@>=
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

@ The dialogues have more tables than any other sort, since an exchange has to be worded twice, as a question and as an answer.
@<Dialogues, and what they are about@>=
@<A dialogue, and what is remembered in it@>@;
@<Facts, sums and riddles@>@;
@<Ways, recipes and opinions@>@;
@<Rhymes and small talk@>@;
@<Errands, plans and very short fables@>@;

@ The arrays are listed once more, so that they can be read in one loop. A table that is written but not listed here would be missing, and the
compiler, which warns of variables that are not used, would say so.
@<All arrays in one list@>=
static const char *const *const kinds[] = @[{@/
  root, words_common, words_common_2,@|
  tale_plot, tale_plot_2, tale_trouble,@|
  tale_trouble_2, tale_trouble_3, tale_road,@|
  tale_road_2, tale_road_3, tale_road_4,@|
  tale_help, tale_help_2, tale_help_3,@|
  tale_obstacles, tale_obstacles_2, tale_obstacles_3,@|
  tale_end, tale_end_2,@|
  home_frame, home_frame_2, home_talk,@|
  home_talk_2, home_talk_3, home_trouble,@|
  home_trouble_2, chronicle_fork, chronicle_fork_2,@|
  chronicle_after, chronicle_after_2, talk_frame,@|
  talk_frame_2, talk_frame_3, talk_facts,@|
  talk_facts_2, talk_facts_3, talk_facts_4,@|
  talk_chat, talk_chat_2, talk_chat_3,@|
  talk_more, talk_more_2, talk_more_3,@|
  talk_stories, talk_stories_2, talk_stories_3,@|
  code_frame, code_fun, code_frame_2, code_frame_3,@|
  code_lists, code_lists_2, code_numbers,@|
  code_numbers_2, code_words, code_words_2 }@];

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

A model does not see choices; it sees tokens, and one choice may be many tokens or half of one. That changes nothing. The chance of a text is a
product over its tokens as well as over its choices, and it is the same number, whichever way it is cut. But it must be the chance of the \emph{text}, and
two things could make the sum of the bits larger. A choice may leave no trace
in the text; then it cost bits that nobody can be asked to predict. Or two different rows of choices
may give the same text. The examination of \cref{sec:examination} changes one choice in each of \val{train.choices.replayed} texts and
finds \val{train.choices.silent} that did not change the text. That is a necessary sign, not a proof; the rules by which
the tables are written are meant to keep it so: everything remembered is shown, no two alternatives of a
table are equal, and what repeats ends visibly.

\widefig{surprise}{fig:surprise}{A chronicle, and the bits of its choices. Each bar stands above the first letter that would be another one if the choice
were; the other letters are sure.}{A short text in two lines of letters. Ten bars with numbers stand above single letters: the first letter of the text, the
beginning of its second sentence, and eight words. The highest have about four bits. All other letters are bare.}

\Cref{fig:surprise} shows where the bits are. Most letters are bare: whoever knows the grammar is sure of them. A model that has learnt it should be surprised at the same places, and
by the same amount.

@* The check. \label{sec:corpuscheck}
Two chronicles, as the seed of the held-out texts gives them, with their bits. They are shown because they are short.

\checkpoint{build/out/corpus.txt}{two texts and what they are worth}

Chronicles are found by writing texts one after the other until one comes whose story fits on a line. That is the price of numbering them: to know what text number 7
is, it has to be written.

@<What the program prints@>=
enum { LINE = 67 };
static struct passage piece, other;
@#
static bool next_short(const struct grammar *g, uint64_t *n,
  struct error *why)
{
  while (grammar_write(g, SEED_HELD_OUT, (*n)++, &piece, why))
    if (piece.sort == CHRONICLE
      && strlen(strstr(piece.words, ". ") + 2) <= LINE) return true;
  return false;
}

@ The first sentence of a chronicle, which all of them have in a form of their own, gets a line for itself; what happened gets the second.
@<What the program prints@>=
static int print_samples(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why;
  uint64_t n = 0;
  struct grammar *g = grammar_open(&m, &why);
  bool ok = g != NULL;
  for (int left = 2; ok && left > 0; left--) {
    if (!(ok = next_short(g, &n, &why))) break;
    const char *stop = strstr(piece.words, ". ") + 1;
    printf("%.*s\n%s\n%.1f bits in %zu choices\n",
      (int) (stop - piece.words), piece.words, stop + 1,
      piece.bits, piece.n_choices);
  }
  grammar_close(&m, g);
  return !ok;
}

@ Where does a choice show? We make it in all other ways, one after the other, leave everything before it as it is, and see
where the texts part. The earliest of these places is the answer: the letter that could not be known without the choice.
@<What the program prints@>=
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

@ The bits of one choice are computed again, with the logarithm of \cref{functions} and not with the one above, which is nobody else's business. The data of the figure are
the bytes of the text and the bits that stand at each.
@<What the program prints@>=
static double worth(const struct choice *c)
{
  return num_log((double) c->total / c->weight) / num_log(2);
}
@#
static int print_surprise(void)
{
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why;
  static double bits[PASSAGE_ROOM];
  uint64_t n = 0;
  struct grammar *g = grammar_open(&m, &why);
  bool ok = g != NULL && next_short(g, &n, &why);
  for (size_t k = 0; ok && k < piece.n_choices; k++)
    bits[place_of(g, k)] += worth(&piece.choices[k]);
  printf("position,byte,bits\n");
  for (size_t i = 0; ok && i < piece.length; i++)
    printf("%zu,%d,%.3f\n", i, piece.words[i], bits[i]);
  grammar_close(&m, g);
  return !ok;
}

@ The prose of this chapter makes claims about lengths and shares, and they are counted over many texts. A claim that nobody counts is
soon wrong: an earlier version of these pages said of the common words that they had half of all bits, and that had been true once.
@<What the program prints@>=
@<Is a table one of those that every kind of text uses?@>@;
@#
struct census {
  double bytes[N_SORTS], texts[N_SORTS], bits, common;
  size_t longest, richest;
};
@#
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

@ Which tables are common is said by their names, once more. The program sees the grammar only from outside, and there an
array of strings is not a thing that one can ask for.
@<Is a table one of those that every kind of text uses?@>=
static bool is_common(const struct grammar *g, size_t table)
{
  static const char *const common[] = @[{ "says", "how", "tone",@|
    "replies", "colour", "count", "food", "small", "mild", "land",@|
    "smell", "wild", "manner", "feel", "daypart", "ruler" }@];
  size_t length;
  uint32_t weight;
  const char *name = grammar_table(g, table, SIZE_MAX, &length,
    &weight);
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strlen(common[i]) == length
      && memcmp(name, common[i], length) == 0) return true;
  return false;
}

@ Counting alternatives is going through all tables once; the account is printed beside the counts.
@<What the program prints@>=
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
    a->bytes[TALE] / a->texts[TALE],
    a->bytes[CHRONICLE] / a->texts[CHRONICLE]);
  printf("corpus.common.percent %.0f\n", 100 * a->common / a->bits);
  printf("corpus.longest %zu\ncorpus.richest %zu\n",
    a->longest, a->richest);
}

@ The texts are those of the seed that nobody is trained on. They are many enough for their means to hold still in the digits that are quoted.
@<What the program prints@>=
static int print_values(void)
{
  enum { TEXTS = 20000 };
  struct memory m = @[{ .refuse_at = 0 }@];
  struct error why;
  struct census a;
  memset(&a, 0, sizeof a);
  struct grammar *g = grammar_open(&m, &why);
  bool ok = g != NULL;
  for (uint64_t n = 0; ok && n < TEXTS; n++) {
    ok = grammar_write(g, SEED_HELD_OUT, n, &piece, &why);
    if (ok) enter(g, &a);
  }
  if (ok) print_account(g, &a);
  grammar_close(&m, g);
  return !ok;
}
