@i types.w

\chapterquestion{How surprising is a text to a reader who knows exactly how it was made?}
@** A probabilistic grammar as training corpus.
\incipit{N}{o one knows} how much of a newspaper could have been predicted. So a loss, the average number of bits that a model needs for
a token, says little by itself: if a model needs three bits, is the model bad or is the text hard? To be able to tell, we make the texts
ourselves, choice by choice, and add up the bits of the choices. The sum is the \emph{surprisal} of the text, and its average over all texts is the \emph{entropy} of the source,
a number that no model can beat. What a model needs above the entropy is its own
fault.
@^entropy@>

\begin{byhand}{three choices}
A sentence is made from three tables. \emph{The}, then \tok{\ cat} with weight 3 or \tok{\ dog} with weight 1; then \tok{\ sat} or
\tok{\ lay}, with equal weights; the rest follows: the cat goes on the mat, the dog on the log. A choice that had the probability $p$ has
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
tokens that is a fifth of a bit for each on average, but all the bits are in two tokens: a model that knows
the tables is surprised at those two only.

A reader who knows the table of animals pays $\frac34\cdot0.415+\frac14\cdot2=0.811$ bits for an animal, on the average. A reader who takes
both for equally likely pays 1 bit for either.
\end{byhand}

@ A reader with wrong expectations always pays more. Let a table take its alternative $i$ with the probability $p_i$, and let a reader
expect it with the probability $q_i$. This reader pays $\sum p_i\log_2(1/q_i)$ bits on average, the \emph{cross-entropy}. A reader who expects the true probabilities
pays $H=\sum p_i\log_2(1/p_i)$, the \emph{entropy} of the table. Because $-\ln x\ge1-x$, with $x=q_i/p_i$,
$$\sum_ip_i\log_2\frac1{q_i}-H=\frac1{\ln2}\sum_ip_i\Bigl(-\ln\frac{q_i}{p_i}\Bigr)\ge\frac1{\ln2}\sum_i(p_i-q_i)\ge0,$$
and the difference is 0 only if every $q_i$ equals $p_i$. A text is many such choices, one after the other, with probabilities that
depend on the earlier choices. The probability of the text is their product, so its bits are their sum, and the inequality holds for every choice. On a single text
a model may be lucky and need fewer bits than the source. Over many texts luck evens out, and no model gets below the entropy.

@ The program of this chapter writes two short texts with their bits. With |"values"| it prints the numbers that the
prose below quotes, and with |"surprise"| the data of a figure that shows where in a text its bits are.

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
  struct memory m = @[{ .fail_at = 0 }@];
  struct error why;
  struct grammar *g = grammar_open(&m, "models/corpus.grammar", &why);
  struct viewer d = @[{ .g = g }@];
  bool ok = g != NULL;
  if (ok && strcmp(what, "values") == 0) ok = print_values(&d, &why);
  else if (ok && strcmp(what, "surprise") == 0)
    ok = print_surprise(&d, &why);
  else if (ok) ok = print_samples(&d, &why);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  grammar_close(&m, g);
  return !ok;
}

@* A grammar with memory. \label{sec:corpus}
Our source is a set of tables. A table has a name and some alternatives, each with a weight; an alternative is a
piece of text with slots in it; and a slot is filled by an alternative of the table that it names, which may have slots of its own.
With dice and these tables you could write texts by hand, and add up their bits choice by choice. Such a source is called a \emph{probabilistic
context-free grammar}. It has no memory: what fills one slot does not depend on any other.

We give it one. Our grammar can
remember who the hero is, what was lost, or which variable holds the number. Without that, attention would
have almost nothing to do, because the next word would follow from the last few.

The header shows texts and their choices, and hides how they are made. The trainer needs the texts, and the
examination of \cref{sec:examination} needs the choices that made each of them.

@(corpus.h@>=
#ifndef INCIPIT_CORPUS_H
#define INCIPIT_CORPUS_H
#include "ground/ground.h"
@<What the grammar offers@>@;
#endif

@ A text is identified by a seed and a number. The tokenizer, the training and the examination each have a seed of their own, since a model must not be
examined on texts that it was trained on. The limits are ample: among many texts the longest has
\val{corpus.longest} bytes, and the largest number of choices is \val{corpus.richest}.
@<What the grammar offers@>=
enum { MAX_PASSAGE_LEN = 8192, PASSAGE_CHOICES = 1024 };
  /* the longest text with its zero byte, and the most choices in one */
enum text_sort { TEXT_TALE, TEXT_HOME, TEXT_CHRONICLE, TEXT_CODE, TEXT_TALK,
  N_TEXT_SORTS };
  /* the five sorts of text: the first three are
     stories of the kingdom */
enum { SEED_TOKENIZER = 1, SEED_TRAINING = 2, SEED_HELD_OUT = 3 };
  /* texts of different seeds have different streams
     of random numbers */

@ A text comes with its choices, each with its probability: the weight of the alternative and the total weight. We keep two whole numbers and not their quotient, which would be rounded.
@<What the grammar offers@>=
struct choice { uint16_t drawn, taken; uint32_t weight, total; };
  /* alternative number |taken| of table |drawn| was taken
     with chance |weight/total| */
struct passage {
  char words[MAX_PASSAGE_LEN]; size_t length; double bits; unsigned sort;
  struct choice choices[PASSAGE_CHOICES]; size_t n_choices;
};
  /* one text, ended by a zero byte that does not count; the sum of
     $-\log_2$ of the chances of its choices;
     and the choices themselves */

@ The grammar itself is an opaque type. It is opened once, and passed to every function that needs texts. A text depends only on the grammar, a seed and a number, so texts need not be
stored on a disk: text number 7 is written whenever it is wanted.
@<What the grammar offers@>=
struct grammar;
struct grammar *grammar_open(struct memory *m, const char *path,
  struct error *why);
  /* the grammar in the file |path|, checked; owned by the caller;
     on failure null, and the sentence names the line */
void grammar_close(struct memory *m, struct grammar *g);
  /* returns its memory; null is allowed */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why);
  /* text |number| of |seed|: the same on every machine */

@ Three more functions are for tests and for the examination. One writes a text again with some choices changed, and two
read the tables. The trainer does not use them.
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

@* The tables of the grammar. \label{sec:grammartables}
The tables are in a file of their own, \.{models/corpus.grammar}: \val{corpus.tables} tables with
\val{corpus.alternatives} alternatives. It is plain text. You can read it without this chapter, and change it in any editor; but a
changed grammar writes other texts, and a model trained on them is another model. So the checksum of the file is kept beside those of the two models.

A line |"table how"| begins a table. Each alternative has a line with its weight, a bar, and its text; what follows the bar is
the text to the end of the line, blanks included. A line with a bar and no weight continues
the alternative on a new line of text; pages of code are written in this way. A line with a plus continues it without a line break. Empty
lines and lines that begin with \.{\#} are ignored.

\excerpt{models/corpus.grammar}{how,text,lack,fn.down}{four tables, as they stand in the file}

@ In the text of an alternative, brackets and braces have a meaning:

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

An alternative may have several fields, separated by semicolons; the first is shown. A doubled bracket or brace stands for itself, and a text that ends in a
blank has a bar after it, so that the blank can be seen. The word |"once"| after the name of a table means that none of its alternatives is used
twice in one text.

\begin{byhand}{a hero in four choices}
The first alternative of the table |"hero"| is

\smallskip
\.{a [good] [h:role] named [name:name.\char`\{h.1\char`\}]}

\smallskip\noindent
with weight 3 of 5. Suppose that it was taken.
Now |"[good]"| is filled: \emph{brave}, with weight 5 of 19. Then |"[h:role]"|: it is \.{princess;she;her;her}, with
weight 4 of 18; all four fields are
remembered as |h|, and the first is shown. The third slot has braces, which are replaced first: |"{h.1}"| is \emph{she}, and the slot
becomes |"[name:name.she]"|. \emph{Mira} has weight 3 of 20. The text says
\emph{a brave princess named Mira}, and its chance is
$$\frac35\cdot\frac5{19}\cdot\frac4{18}\cdot\frac3{20}=\frac1{190}.$$
\end{byhand}

@ What is in the tables? The first, |"text"|, chooses the sort. Its weights are set so that each of the
three kinds, stories, code and dialogues, has about a third of the \emph{tokens}. That is not a third of the texts: a tale has \val{corpus.bytes.tale}~bytes on
average, a chronicle \val{corpus.bytes.chronicle}.

Much of the surprise in a text comes not from its plot but from single words: which colour, which
food, how a thing was said. The small tables of such words, which every kind of text uses, have \val{corpus.common.percent}~per cent of all bits.
Their weights are uneven on purpose: if all colours were equally likely, a sampling temperature
would have no effect on them. No word that may follow ``a'' begins with a vowel,
which spares us a rule of English.

\emph{Tales} need memory. A hero has lost something, makes one to three journeys, meets a helper on each, and comes home. The
hero's pronouns are fields of the role, and select the table from which the name is drawn. The lost thing is
remembered with two more fields: what is wrong without it, and what is right again in the end, which is not used until several paragraphs later. A helper's gift
selects the table of obstacles: with a rope the hero comes to a cliff, never to a torn sail.

@ The stories \emph{at home} are about an animal and its place, and the places rhyme. The running example of this book comes from them: after \tok{The cat sat} the
source goes on with \tok{\ on the mat.} eight times in ten. Four tables of the grammar call
themselves: after ``on and on'' another ``and on'' follows with a probability of \given{0.8}, however many
there were before. Greedy decoding, which always takes the likeliest token, never leaves this loop.

A \emph{chronicle} was designed for one figure (\cref{fig:trainfork}). Its first sentence has nine tokens, and then there is a
fork of twelve ways, the table |"fork"|, whose weights are percentages: two ways are equally likely, and likelier than the others.
Everything after the fork depends on the way taken.

\emph{Dialogues} test directly whether a model can look back: in three of five a speaker mentions a name and something that the speaker owns,
and asks for both at the end, with one to three unrelated exchanges in between. Other exchanges are about facts, which a model has to store in its weights; about sums, whose
results are second fields, because the grammar cannot add; and about what was said a line above. Dialogues are the least surprising sort, with
\val[2]{train.bits.talk}~bits a token.

@ A page of \emph{code} has one to four functions, many of them with a call and its correct output. In five pages of six a value is set in the
first line and printed in the last, with everything else in between. The names of the first, the second and the third variable of a function come from tables that have
no noun in common, so no two of them can be equal.

This page taught us something. A model learns to reach far back only if reaching a little way back has paid first. In an earlier
version the name of the first line was needed only at the end of the page. A fully trained
model found the value when it was given the name, but guessed the name. In a second
version the name was needed after every function, and the model still guessed. What helped was to use the name at once: in some pages it
is printed two lines after it is set, where copying is easy, and then again at the end. A model that has learnt to
copy from the line above needs little more to copy from the top of the page. We also made the name a single word. In names of two words, such as
\emph{max\_castle}, a model trained further on such pages found the second word and still guessed the first.

@* Reading the grammar. \label{sec:grammarfile}
The reader of the file is strict. People edit this file, and a mistake should be reported at once, with the number of the line, rather than produce
a strange sentence in one text of many. Most mistakes can be noticed when the file is opened: a missing weight, a bracket that is not closed, a
slot that names a table which does not exist. A few can only be noticed while a text is written, such as a key that was
never remembered.

All alternatives of all tables are in one array, and a table is a range of it. Their texts, and the names of the tables, are copied into one
block, because an alternative may be spread over several lines of the file; then the file is closed. The tables are few enough for
an array in the struct.
@<What a grammar holds@>=
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

@ While the file is being read, we keep its path, the part that is still to be read, and the current line with its number.
@<A file that is being read@>=
struct reading {
  const char *path, *at, *end;
  const char *line; size_t length, number;
  struct grammar *g;
  struct error *why;
};
@#
static bool next_line(struct reading *r)
{
  if (r->at == r->end) return false;
  const char *stop = memchr(r->at, '\n', (size_t) (r->end - r->at));
  r->line = r->at;
  r->length = (size_t) ((stop != NULL ? stop : r->end) - r->at);
  r->at += r->length + (stop != NULL), r->number++;
  return true;
}

@ Every error message names the file, the line, what was found there, and what was wanted. A long text is quoted by its beginning.
@<Refuse a line@>=
static bool refuse(const struct reading *r, const char *words,
  size_t n, const char *wanted)
{
  enum { SHOWN = 40 };
  char field[32], found[SHOWN + 8];
  snprintf(field, sizeof field, "line %zu", r->number);
  snprintf(found, sizeof found, "\"%.*s\"%s",
    n < SHOWN ? (int) n : SHOWN, words, n > SHOWN ? "..." : "");
  return error_found(r->why, r->path, field, found, wanted);
}

@ We check the bytes first. The grammar is ASCII, and nothing in it may be invisible: no tabs, no carriage returns, and no blank at the end of a line, which
many editors remove silently. After this check every message can quote the line.
@<Look at the bytes of a line@>=
static bool check_bytes(const struct reading *r)
{
  char field[60], found[16];
  for (size_t i = 0; i < r->length; i++) {
    if (r->line[i] >= ' ' && r->line[i] <= '~') continue;
    snprintf(field, sizeof field, "line %zu, column %zu", r->number,
      i + 1);
    snprintf(found, sizeof found, "byte 0x%02x",
      (unsigned) (unsigned char) r->line[i]);
    return error_found(r->why, r->path, field, found,
      "a printable character of ASCII");
  }
  return r->length == 0 || r->line[r->length - 1] != ' '
    || refuse(r, r->line, r->length, "no blank at the end");
}

@ The classes of characters are written out, because those of the C library depend on the locale.
@<Classes of characters@>=
static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}
@#
static bool is_small(char c)
{
  return (c >= 'a' && c <= 'z') || is_digit(c);
}
@#
static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char) (c + 32) : c;
}
@#
static char upper(char c)
{
  return c >= 'a' && c <= 'z' ? (char) (c - 32) : c;
}

@ A table begins with its name. Two tables of the same name could not be told apart, and from a table without alternatives nothing could be drawn, so both are refused. Whether the last table is empty is
known only at the end of the file.
@<Begin a table@>=
static bool table_is_full(const struct reading *r)
{
  const struct grammar *g = r->g;
  return g->n_tables == 0 || g->tables[g->n_tables - 1].count > 0
    || refuse(r, r->line, r->length,
      "an alternative for the table above");
}
@#
static bool begin_table(struct reading *r)
{
  struct grammar *g = r->g;
  const char *name = r->line + strlen("table ");
  size_t left = (size_t) (r->line + r->length - name), n = 0;
  while (n < left && (is_small(name[n]) || name[n] == '.')) n++;
  bool once = left - n == 5 && memcmp(name + n, " once", 5) == 0;
  if (n == 0 || (n < left && !once)) return refuse(r, r->line,
    r->length, "table NAME, or table NAME once");
  if (!table_is_full(r)) return false;
  for (size_t i = 0; i < g->n_tables; i++)
    if (compare_names(&g->tables[i], name, n) == 0) return refuse(r,
      name, n, "a name that no table above has");
  if (g->n_tables == TABLES) return refuse(r, name, n,
    "at most 256 tables");
  g->tables[g->n_tables++] = (struct table) @[{
    .name = keep(g, name, n), .name_length = (uint32_t) n,
    .first = (uint32_t) g->n_alternatives, .once = once }@];
  return true;
}
  /* a linear search for the name, since the tables are not sorted yet */

@ The block for the words is as large as the file, and a line never adds more to it than it has characters. So |keep| need not look for the end of
the block, and what it returns stays where it is.
@<Keep words@>=
/* never full: what is kept of a file is shorter than the file */
static const char *keep(struct grammar *g, const char *words, size_t n)
{
  char *copy = g->words + g->n_words;
  memcpy(copy, words, n);
  g->n_words += n;
  return copy;
}

@ Every other line belongs to an alternative. If it has a weight, it begins a new one. Otherwise the sign says how it continues the last one.

A weight has at most four digits. So the weights of a whole table add up to less than $2^{32}$, which is the most that our random numbers can handle. A weight cannot be 0, so 0 can mean that there is none.
@<Read a line of an alternative@>=
static bool read_weight(struct reading *r, size_t *at, uint32_t *weight)
{
  size_t i = *at;
  while (i < r->length && r->line[i] == ' ') i++;
  size_t from = i;
  for (*weight = 0; i < r->length && is_digit(r->line[i])
      && *weight <= HEAVIEST; i++)
    *weight = 10 * *weight + (uint32_t) (r->line[i] - '0');
  if (i > from && (*weight == 0 || *weight > HEAVIEST))
    return refuse(r, r->line, r->length, "a weight from 1 to 9999");
  while (i < r->length && r->line[i] == ' ') i++;
  *at = i;
  return true;
}

@ A line without a weight needs an alternative that it can continue.
@<Read a line of an alternative@>=
/* The words of an alternative are kept right after those of the one before it, so that lines
   that go on with it are in one piece. */
static bool begin_alternative(struct reading *r, uint32_t weight)
{
  struct grammar *g = r->g;
  if (g->n_tables == 0) return refuse(r, r->line, r->length,
    "a table before the first alternative");
  struct table *t = &g->tables[g->n_tables - 1];
  if (weight == 0) return t->count > 0 || refuse(r, r->line, r->length,
    "an alternative to go on with");
  if (t->count == ALTERNATIVES) return refuse(r, r->line,
    r->length, "at most 64 alternatives in a table");
  t->count++;
  g->alternatives[g->n_alternatives++] = (struct alternative)
    @[{ g->words + g->n_words, 0, weight }@];
  return true;
}

@ After the sign comes the text. If it ends with a blank, a bar marks its end. A line that continues an alternative after a bar begins with a newline.
@<Read a line of an alternative@>=
/* A weight begins an alternative; a bar alone goes on in a new line of the text, a plus in the
   same. A bar at the end protects a blank there, which the file may not have. */
static bool read_words(struct reading *r)
{
  struct grammar *g = r->g;
  size_t i = 0;
  uint32_t weight;
  if (!read_weight(r, &i, &weight)) return false;
  char sign = i < r->length ? r->line[i++] : '\0';
  if (sign != '|' && (weight > 0 || sign != '+'))
    return refuse(r, r->line, r->length,@|
      "a table; a weight and a bar; a bar; or a plus");
  if (!begin_alternative(r, weight)) return false;
  struct alternative *a = &g->alternatives[g->n_alternatives - 1];
  const char *words = r->line + i;
  size_t n = r->length - i;
  if (n > 0 && words[n - 1] == '|') n--;
  if (memchr(words, '|', n) != NULL) return refuse(r, words, n,
    "a text without a bar");
  if (weight == 0 && sign == '|') keep(g, "\n", 1), a->length++;
  keep(g, words, n), a->length += (uint32_t) n;
  return true;
}

@ A text makes dozens of choices, and each looks up its table by name. This cannot be done when the file is read, because
a slot may have braces in it, as in |"[name.{h.1}]"|, and then the table is known only when the slot is filled. So the
tables are sorted by name, and a binary search finds any of the \val{corpus.tables} in eight comparisons.
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

@ Names in the grammar do not end with a zero byte, so they are
compared with their lengths; if one name is the beginning of another, the shorter comes first. Sorting and searching use the same comparison,
so they cannot disagree about the order.
@<Compare a table's name with another name@>=
static int compare_names(const struct table *t, const char *name,
  size_t length)
{
  size_t n = t->name_length < length ? t->name_length : length;
  int c = memcmp(t->name, name, n);
  if (c != 0) return c;
  return (t->name_length > length) - (t->name_length < length);
}
@#
static int order_of_tables(const void *a, const void *b)
{
  const struct table *t = b;
  return compare_names(a, t->name, t->name_length);
}

@ The brackets are checked in a second pass over the lines, when all tables are known. A slot must not be broken over lines, so the
message can name its line. Outside of comments, every bracket and brace is doubled, or it opens or closes a slot or a field.
@<Look at the brackets of a line@>=
static bool check_brackets(const struct reading *r)
{
  const char *s = r->line, *end = r->line + r->length;
  if (r->length == 0 || *s == '#') return true;
  while (s < end) {
    size_t n = (size_t) (end - s), k = 1;
    const char *wanted = "an opening bracket before it, or two";
    if (is_doubled(s, n)) k = 2;
    else if (*s == '[')
      k = slot_at(r->g, s, n), wanted =
        "a slot on one line, with a table that is in the file";
    else if (*s == '{') k = field_at(s, n), wanted = "{key} or {key.1}";
    else if (*s == ']' || *s == '}') k = 0;
    if (k == 0) return refuse(r, s, n, wanted);
    s += k;
  }
  return true;
}

@ |field_at| and |slot_at| return how many characters belong to the field or slot at |s|, and 0 if there is none. A field is a key, perhaps followed by a dot and one digit.
@<Measure slots and fields@>=
static bool is_doubled(const char *s, size_t n)
{
  return n > 1 && s[0] == s[1] && strchr("[]{}", s[0]) != NULL;
}
@#
static size_t field_at(const char *s, size_t n)
{
  size_t k = 1;
  while (k < n && is_small(lower(s[k]))) k++;
  if (k == 1 || k > MAX_KEY_LEN) return 0;
  if (k + 1 < n && s[k] == '.' && is_digit(s[k + 1])) k += 2;
  return k < n && s[k] == '}' ? k + 1 : 0;
}
  /* the length of |{key}| or |{key.1}| with its braces, or 0 */

@ A slot without braces is split as it will be when it is filled (\cref{sec:scribe}), and its table must exist. In a slot with braces we can only check that
the braces are fields.
@<Measure slots and fields@>=
/* The length of a slot with its brackets, or 0. If it has fields in it, the table's name is
   known only when a text is written. */
static size_t slot_at(const struct grammar *g, const char *s, size_t n)
{
  const char *stop = memchr(s, ']', n);
  size_t length = stop == NULL ? 0 : (size_t) (stop - s - 1);
  struct slot parts;
  if (length == 0 || length >= SLOT_ROOM
    || memchr(s + 1, '[', length) != NULL) return 0;
  bool braces = false;
  for (const char *c = s + 1; c < stop; c++) {
    if (*c == '}') return 0;
    if (*c != '{') continue;
    size_t k = field_at(c, (size_t) (stop - c));
    if (k == 0) return 0;
    braces = true, c += k - 1;
  }
  if (braces) return length + 2;
  split_slot(s + 1, length, &parts);
  for (size_t i = 0; i < parts.key_length; i++)
    if (!is_small(lower(parts.key[i]))) return 0;
  bool known = parts.key_length < MAX_KEY_LEN
    && find_table(g, parts.name, parts.name_length) != NULL;
  return known ? length + 2 : 0;
}

@ The first pass reads the lines and sorts the tables. Their alternatives are not moved, since each table
knows where its own begin.
@<Read all tables@>=
static bool read_tables(struct reading *r)
{
  while (next_line(r)) {
    if (!check_bytes(r)) return false;
    if (r->length == 0 || r->line[0] == '#') continue;
    bool begins = r->length > 6 && memcmp(r->line, "table ", 6) == 0;
    bool ok = begins ? begin_table(r) : read_words(r);
    if (!ok) return false;
  }
  if (!table_is_full(r)) return false;
  qsort(r->g->tables, r->g->n_tables, sizeof *r->g->tables,
    order_of_tables);
  return true;
}

@ A text begins with the table |"text"|, and the number of its alternative is the sort of the text. There must be no more than |N_TEXT_SORTS| of them, because arrays are indexed by the sort.
@<Read all tables@>=
/* the second reading of the file: brackets name tables, and all tables must be known by then */
static bool check_tables(struct reading *r)
{
  const struct table *t = find_table(r->g, "text", 4);
  if (t == NULL || t->count > N_TEXT_SORTS)
    return error_found(r->why, r->path, "the table text",
      t == NULL ? "missing" : "too long",
      "one alternative for each sort of text, five at most");
  while (next_line(r))
    if (!check_brackets(r)) return false;
  return true;
}

@ Opening maps the file, allocates the memory, and reads the lines twice. There can be no more alternatives than lines, so their array is allocated at once.
If anything fails, everything is freed, and the caller gets a null pointer.
@<Open the grammar@>=
/* The file is read twice while it is mapped; nothing in the grammar points into it afterwards. */
struct grammar *grammar_open(struct memory *m, const char *path,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return NULL;
  struct grammar *g = NULL;
  if (map.size > LARGEST)
    error_found(why, path, "the size of the file",
      "more than a mebibyte", "a grammar of at most a mebibyte");
  else g = take_blocks(m, &map, why);
  if (g != NULL) {
    const char *bytes = (const char *) map.bytes;
    struct reading r = @[{ .path = path, .g = g, .why = why }@];
    r.at = bytes, r.end = bytes + map.size;
    bool ok = read_tables(&r);
    r.at = bytes, r.number = 0;
    if (!ok || !check_tables(&r)) grammar_close(m, g), g = NULL;
  }
  file_unmap(&map);
  return g;
}

@ New blocks are zeroed, so after a failure |words| is null, whichever allocation has failed.
@<Take the blocks of a grammar@>=
static struct grammar *take_blocks(struct memory *m,
  const struct mapping *map, struct error *why)
{
  struct grammar *g = memory_alloc(m, MEMORY_TRAINING, 1, sizeof *g, why);
  if (g == NULL) return NULL;
  g->size = map->size, g->lines = 1;
  for (size_t i = 0; i < map->size; i++)
    g->lines += map->bytes[i] == '\n';
  g->alternatives = memory_alloc(m, MEMORY_TRAINING, g->lines,
    sizeof *g->alternatives, why);
  if (g->alternatives != NULL)
    g->words = memory_alloc(m, MEMORY_TRAINING, g->size, 1, why);
  if (g->words != NULL) return g;
  grammar_close(m, g);
  return NULL;
}

@ Closing frees the three blocks. It also works on a grammar
that was opened only in part, since freeing a null pointer does nothing.
@<Close the grammar@>=
void grammar_close(struct memory *m, struct grammar *g)
{
  if (g == NULL) return;
  memory_free(m, g->words);
  memory_free(m, g->alternatives);
  memory_free(m, g);
}

@ The examination of \cref{sec:examination} and the tests ask whether every alternative is ever written. For them two functions read the tables. For an alternative
after the last one the result is null, and |SIZE_MAX| asks for the name of the table.
@<Show the tables to those who ask@>=
size_t grammar_tables(const struct grammar *g)
{
  return g->n_tables;
}
@#
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

@* The writer. \label{sec:scribe}
A |struct scribe| holds one text while it is written: the text so far, what it remembers, which alternatives of
tables with |"once"| are used up, and the first fault. The alternatives that are used up are the bits of a 64-bit word, one word for each table; this is why no
table may have more than 64 alternatives. A script, if there is one, is a list of the alternatives to take; it replaces the
random numbers as far as it goes.
@<A text that is being written@>=
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

@ The die is the random number generator SplitMix64, which scrambles a counter with two
multiplications. We use its upper half, a number below $2^{32}$. But $2^{32}$ is seldom a multiple of $n$. With three sides there is one number too
many, and the first side would come up a little too often. The difference is much too small to notice, but we want to call the entropy exact.
So numbers from the last whole multiple of $n$ on are thrown again.
@<Throw a die with |n| sides@>=
/* SplitMix64, 32 bits of it. Numbers beyond the last whole multiple of |n| are thrown again, or
   the first sides would be a little likelier; so the chance of a choice is
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

@ Some mistakes are found only here: a key that was never
remembered, a table that braces select and that does not exist, a text that is too long. The words that caused the first fault are kept, and from then on every function returns false. Later faults are only
consequences, and would hide the cause. The words are copied, because they may come from a slot that is gone when the fault is reported.
@<Complain of the grammar@>=
/* The first fault is kept: those that follow are its consequences. Always false. */
static bool fault(struct scribe *s, const char *what, size_t length)
{
  if (s->failed) return false;
  s->failed = true;
  if (length >= sizeof s->fault) length = sizeof s->fault - 1;
  memcpy(s->fault, what, length), s->fault[length] = '\0';
  for (char *c = s->fault; *c != '\0'; c++)
    if (*c == '\n') *c = ' ';
  return false;
}

@ A key is in the memory only once. Where it is used it may begin with a capital,
which asks for a capital letter in the text; it is the same key. Keys are short and a text has few of them, so
a linear search is fast enough.
@<Recall what is remembered under a key@>=
/* from the latest back; a capital letter at the beginning of a key is the same key */
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

@ All writing goes through this function, so it is the only one that has to check the length. One byte is left for the zero that ends the text. A text that is too long is refused and not cut, because a cut text would have the bits of choices
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
``her''. The number after the dot says which field is meant. After
|"[h:role]"| has become \.{king;he;him;his}, |"{h}"| writes \emph{king}, |"{h.1}"| \emph{he}, and |"{H.1}"| \emph{He}. A field that does not exist is
a fault.
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

@ The capital letter is made in the text, after the words have been copied there. In the memory they stay in lower case for the next use.
@<Write from |v| to the end of the field@>=
size_t n = field_length(v, (size_t) (end - v));
size_t at = s->out->length;
if (!put(s, v, n)) return false;
if (key[0] != lower(key[0]))
  s->out->words[at] = upper(s->out->words[at]);

@ An alternative may be forbidden for two reasons: it was used before, in a table with |"once"|, or
it is excepted. Exceptions are passed as they are written in the slot, each after a hyphen: |"-i1-i2"| excepts what is remembered as |i1| and as |i2|.
Only the first fields are compared, because they are what a reader sees.
@<May alternative |i| be taken?@>=
/* An alternative is out if its table is ``once'' and it was used, or if its first field is that
   of a remembered exception. A fault inside leaves |failed| set; |choose| then finds no total
   or a later step stops. */
static bool may_take(struct scribe *s, const struct table *t,
  uint32_t i, const char *except)
{
  if (t->once && (s->used[t - s->g->tables] >> i & 1) != 0)
    return false;
  const struct alternative *a = &s->g->alternatives[t->first + i];
  for (const char *e = except; *e != '\0';) {
    size_t n = strcspn(e + 1, "-");
    struct remembered *r = recall(s, e + 1, n);
    if (r == NULL) return fault(s, except, strlen(except));
    size_t w = field_length(a->words, a->length);
    if (w == field_length(r->value, r->length)
      && memcmp(a->words, r->value, w) == 0) return false;
    e += n + 1;
  }
  return true;
}

@ The first field ends at the first semicolon, or at the end.
@<The length of the first field@>=
static size_t field_length(const char *words, size_t n)
{
  const char *stop = memchr(words, ';', n);
  return stop != NULL ? (size_t) (stop - words) : n;
}

@ The bits of a text are counted here. The weights of the allowed alternatives are added up, and one alternative is
taken. A forbidden one is not in the sum: if a king is remembered as |r|, then |"[ruler-r]"| leaves only the queen, with probability 1 and no bits. So each
probability is the one that a reader would give who knows the grammar and all choices so far, and the product of these probabilities is the
probability of the text.
@<Choose an alternative, and account for the choice@>=
/* The chance is taken among what may still be taken, so |total| is part of the record. A script
   replaces the die as long as it lasts, and only by what is allowed. */
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
  @<Let |i| be the alternative of the script, or else of the die@>@;
  @<Write the choice down, and add its bits@>@;
  return &a[i];
}

@ A scripted choice is taken if it is allowed. The die is thrown only where there is no script,
so replaying a whole script uses no random number at all. Otherwise each alternative gets as many sides of the die as its weight: with weights 3 and 2, a throw of 0, 1 or 2 takes the first
alternative, and 3 or 4 the second.
@<Let |i| be the alternative of the script, or else of the die@>=
if (p->n_choices < s->n_script && s->script[p->n_choices] < t->count
  && may[s->script[p->n_choices]])
  i = s->script[p->n_choices];
else {
  uint32_t r = throw_die(s, total);
  for (i = 0; !may[i] || r >= a[i].weight; i++)
    if (may[i]) r -= a[i].weight;
}

@ The bits of the choice are $-\log_2$ of its probability. If there was only one alternative they are
exactly zero, because both logarithms are the same number.
@<Write the choice down, and add its bits@>=
p->choices[p->n_choices++] = (struct choice)
  @[{ (uint16_t) (t - s->g->tables), (uint16_t) i,
  a[i].weight, total }@];
p->bits += log2_of(total) - log2_of(a[i].weight);
if (t->once) s->used[t - s->g->tables] |= UINT64_C(1) << i;

@ A slot has up to three parts. The first is the key, followed by a colon if what is remembered is also shown, and by an equals sign if not. Then comes the name of a table,
and after it the exceptions, each with its hyphen. A key that begins with a capital, or a caret,
asks for a capital letter. The parts point into a copy of the slot, and a slot without a key has a key of length 0.
@<A slot and its parts@>=
struct slot {
  char words[SLOT_ROOM];
  const char *key, *name, *except;
  size_t key_length, name_length;
  bool silent, capital;
};
@#
static void split_slot(const char *words, size_t n, struct slot *parts)
{
  char *w = parts->words;
  memcpy(w, words, n), w[n] = '\0';
  size_t k = strcspn(w, ":=");
  parts->silent = w[k] == '=';
  parts->capital = w[0] == '^' || w[0] != lower(w[0]);
  parts->key = w, parts->key_length = w[k] == '\0' ? 0 : k;
  if (parts->key_length > 0) parts->name = w + k + 1;
  else parts->name = w + parts->capital;
  parts->name_length = strcspn(parts->name, "-");
  parts->except = parts->name + parts->name_length;
}
  /* The parts are pointers into the copy |parts->words|, so a |struct slot| must not be copied. */

@ Filling a slot takes four steps: the slot is read, a choice is made, the alternative is written, and what was written is remembered if there is a key. At
the end only the first field of it stays in the text.
@<Fill a slot@>=
/* The order is fixed: choose, write, remember, cut to the first field. A table that names
   itself ends because texts have a greatest length and a most of choices. */
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

@ A slot may contain braces, as in |"[name.{h.1}]"|, so it has to be expanded before it can be split. The end of the text serves as scratch memory: we write the slot
there, copy it, and cut the text back. So one function, |expand|, does all the writing, always to the end of the text.
@<Read a slot@>=
/* A slot may have fields in it, so it is written like text, split, and taken back. */
static bool read_slot(struct scribe *s, const char *words,
  size_t length, struct slot *parts)
{
  size_t start = s->out->length;
  if (!expand(s, words, length)) return false;
  size_t n = s->out->length - start;
  s->out->length = start;
  if (n >= SLOT_ROOM) return fault(s, words, length);
  split_slot(s->out->words + start, n, parts);
  return true;
}

@ All text written since |start| is remembered, with all its fields. A key that was used before gets the new value: in
the second journey of a tale |"{a}"| is the second helper.
@<Remember what was written@>=
/* all fields are kept, though only the first is shown */
static bool remember(struct scribe *s, const struct slot *parts,
  size_t start)
{
  size_t n = s->out->length - start;
  if (parts->key_length >= MAX_KEY_LEN || n > MAX_VALUE_LEN) return false;
  struct remembered *r = recall(s, parts->key, parts->key_length);
  if (r == NULL) {
    if (s->n_memories == MEMORIES) return false;
    r = &s->memories[s->n_memories++];
  }
  memcpy(r->key, parts->key, parts->key_length);
  r->key[parts->key_length] = '\0', r->key[0] = lower(parts->key[0]);
  memcpy(r->value, s->out->words + start, n), r->length = n;
  return true;
}

@ A silent slot leaves nothing in the text; any other slot leaves its first field, perhaps with a capital letter.
@<Show the first field@>=
static void show_first_field(struct scribe *s, const struct slot *parts,
  size_t start)
{
  char *v = s->out->words + start;
  size_t n = field_length(v, s->out->length - start);
  if (parts->silent) n = 0;
  if (parts->capital && n > 0) v[0] = upper(v[0]);
  s->out->length = start + n;
}

@ Words are copied up to the next bracket or brace; we have checked that it is closed. This function and |fill_slot| call
each other, since an alternative can contain slots whose alternatives contain slots. How deep can this recursion go? A table that refers to itself
goes one level deeper each time, and the grammar sets no limit. But each level makes a choice, and a text with more than |PASSAGE_CHOICES| choices
is refused. The probability of that is a very high power of \given{0.8}.
@<Write what an alternative says@>=
/* |check_brackets| has seen to it that every bracket is closed, so |stop| is never null */
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

@ To write a text we fill the slot |"text"|. So the first choice is the sort of the text: the alternatives of the table |"text"| and the constants of |enum text_sort| are in the same order. The scribe is on the stack with all its memory,
so writing a text allocates nothing.
@<Write a whole text@>=
/* the sort of a text is the alternative of its first choice, in the table |text| */
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
  return ok || error_say(why,@|
    "the grammar: \"%s\" has no place or no meaning", s.fault);
}

@ Seed and number are mixed by a multiplication, so that the random numbers of one text have nothing to do with those
of another, and any text can be written without those before it. If they were only added, text 6 of one seed would be text 5 of the
next, and the texts held out for the examination would be those of the training. A replay begins with seed 0.
@<Write a whole text@>=
/* seed and number are mixed by a multiplication, or the streams of neighbouring texts would begin close together */
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

@ We write our own logarithm, because those of C libraries differ in their last bits. Halving brings the number
between $\frac34$ and $\frac32$, and every halving counts one bit. For what is left we use
$$\ln x=2\Bigl(y+\frac{y^3}3+\frac{y^5}5+\cdots\Bigr),\qquad y=\frac{x-1}{x+1}.$$
Now $|y|<\frac15$, so each term is less than $\frac1{25}$ of the one before, and long before the loop ends they are too small to
change a double.
@<The binary logarithm of a small whole number@>=
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

@ The module reads a grammar once and then writes as many texts with it as are asked for.
@(corpus.c@>=
/* A grammar in a file, and the texts that it writes. Reading checks everything that can be
   checked by line, so that the writer may trust brackets, names of tables and weights; what
   depends on the text (a key that was never remembered, a table that is used up) is found by
   the writer, which stops with a sentence. Text |n| of a seed depends on nothing but the
   grammar, the seed and |n|: no libm, no global state, whole numbers for the dice. |tables| is
   sorted by name after reading; before that a table's alternatives are only known to be the
   last. All strings are in |words|, which never moves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "corpus/corpus.h"
@<What a grammar holds@>@;
@<A text that is being written@>@;
@<Classes of characters@>@;
@<A slot and its parts@>@;
@<Compare a table's name with another name@>@;
@<Find a table by its name@>@;
@<Close the grammar@>@;
@<Show the tables to those who ask@>@;
@<Read the file@>@;
@<Throw a die with |n| sides@>@;
@<The binary logarithm of a small whole number@>@;
@<Write texts@>@;

@ The first half reads the file.
@<Read the file@>=
@<A file that is being read@>@;
@<Refuse a line@>@;
@<Look at the bytes of a line@>@;
@<Keep words@>@;
@<Begin a table@>@;
@<Read a line of an alternative@>@;
@<Measure slots and fields@>@;
@<Look at the brackets of a line@>@;
@<Read all tables@>@;
@<Take the blocks of a grammar@>@;
@<Open the grammar@>@;

@ The second half writes. Since |expand| and |fill_slot| call each other, one of them has to be declared before it is defined.
@<Write texts@>=
@<Complain of the grammar@>@;
@<Put words into the text@>@;
@<Recall what is remembered under a key@>@;
@<The length of the first field@>@;
@<Write a field of what is remembered@>@;
@<May alternative |i| be taken?@>@;
@<Choose an alternative, and account for the choice@>@;
static bool expand(struct scribe *s, const char *words, size_t n);
@<Read a slot@>@;
@<Remember what was written@>@;
@<Show the first field@>@;
@<Fill a slot@>@;
@<Write what an alternative says@>@;
@<Write a whole text@>@;

@* What the source is. \label{sec:source}
\Cref{tab:source} shows how surprising the texts are. The bits of a text are the sum over its choices;
its tokens are those of the tokenizer, which has learnt \val{train.merges} merges from texts of a seed of its own. A model that knew the grammar by heart would need
\val{train.bits.all}~bits a token on average. No model can need fewer in the long run.

\begin{table}
\tabcaption{tab:source}{Five sorts of text: how much of the tokens they are, and how surprising a token is.}
\begin{tabular}{@@{}llrr@@{}}
\tabhead{sort} & \tabhead{kind} & \tabhead{share} & \tabhead{bits a token}\\\midrule
tale & story & \val{train.share.tale} & \val{train.bits.tale}\\
home & story & \val{train.share.home} & \val{train.bits.home}\\
chronicle & story & \val{train.share.chronicle} & \val{train.bits.chronicle}\\
code & code & \val{train.share.code} & \val{train.bits.code}\\
talk & dialogue & \val{train.share.talk} & \val{train.bits.talk}
\end{tabular}
\end{table}

A model does not see choices; it sees tokens, and one choice may be many tokens or half of one. That changes nothing. The probability of a text is a
product over its tokens as well as over its choices, and both products are the same number. But our sum of bits must be that of the \emph{text}, and
two things could make it too large. A choice may leave no trace
in the text; then its bits are counted, but no reader has to predict them. Or two different sequences of choices
may give the same text. The examination of \cref{sec:examination} changes one choice in each of \val{train.choices.replayed} texts and
finds \val{train.choices.silent} that did not change the text. That is evidence, not a proof. The tables follow rules that are meant to
prevent both cases: everything remembered is shown, no two alternatives of a
table are equal, and a repetition ends visibly.

\widefig{surprise}{fig:surprise}{A chronicle, and the bits of its choices. Each bar is above the first letter that would be different if the choice
were; all other letters are certain.}{A short text in two lines of letters. Ten bars with numbers stand above single letters: the first letter of the text, the
beginning of its second sentence, and eight words. The highest have about four bits. All other letters are bare.}

\Cref{fig:surprise} shows where the bits are. Most letters have no bar: a reader who knows the grammar can predict them with certainty. A model that has learnt the grammar should be surprised at the same places, and
by the same amount.

@* The check. \label{sec:corpuscheck}
The program prints two chronicles from the held-out texts, with their bits. We chose chronicles because they are short.

\checkpoint{build/out/corpus.txt}{two texts and their bits}

To find them, the program writes one text after the other until it has a chronicle whose story fits on a line.

@<What the program prints@>=
enum { LINE = 67 };
struct viewer { const struct grammar *g; uint64_t next;
  struct passage text, variant; };
  /* the held-out text that is looked at, the number of the next one, and the text as it
     would be with another choice */
static bool next_short(struct viewer *d, struct error *why)
{
  while (grammar_write(d->g, SEED_HELD_OUT, d->next++, &d->text, why))
    if (d->text.sort == TEXT_CHRONICLE
      && strlen(strstr(d->text.words, ". ") + 2) <= LINE) return true;
  return false;
}

@ The first sentence of a chronicle gets a line for itself; the rest gets the second.
@<What the program prints@>=
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

@ At which letter does a choice show? We replay the text with each other alternative in its place, keep all choices before it, and find
where the two texts first differ. The earliest of these places is the letter that cannot be known without the choice. That is what we call the \emph{place} of a choice.
@<What the program prints@>=
static size_t first_difference(const struct passage *a, const struct passage *b)
{
  size_t at = 0;
  while (at < a->length && a->words[at] == b->words[at]) at++;
  return at;
}
@#
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
  /* The place of choice |k|: the first byte of the text that would be another if the choice
     were. What comes after a variant's choice is drawn anew, but a later difference does not
     count. The length of the text says that the choice shows nowhere. */

@ The bits of one choice are computed again, with the logarithm of \cref{functions}, since the one above is private to the module. The data of the figure are
the bytes of the text and the bits at each of them.
@<What the program prints@>=
static double worth(const struct choice *c)
{
  return num_log((double) c->total / c->weight) / num_log(2);
}
@#
static bool print_surprise(struct viewer *d, struct error *why)
{
  double bits[MAX_PASSAGE_LEN] = @[{ 0 }@];
  if (!next_short(d, why)) return false;
  for (size_t k = 0; k < d->text.n_choices; k++)
    bits[place_of(d, k)] += worth(&d->text.choices[k]);
  printf("position,byte,bits\n");
  for (size_t i = 0; i < d->text.length; i++)
    printf("%zu,%d,%.3f\n", i, d->text.words[i], bits[i]);
  return true;
}

@ This chapter gives lengths and shares in its prose, and the program counts them over many texts. A number that is not counted again is
soon wrong: an earlier version of these pages said that the common words had half of all bits, which had been true once.
@<What the program prints@>=
@<Is a table one of those that every kind of text uses?@>@;
@#
struct census {
  double bytes[N_TEXT_SORTS], texts[N_TEXT_SORTS], bits, common;
  size_t longest, richest;
};
@#
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

@ The tables of common words are listed by their names; they are the first section of the file, after |"text"|.
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

@ To count the alternatives we go through all tables once.
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
    a->bytes[TEXT_TALE] / a->texts[TEXT_TALE],
    a->bytes[TEXT_CHRONICLE] / a->texts[TEXT_CHRONICLE]);
  printf("corpus.common.percent %.0f\n", 100 * a->common / a->bits);
  printf("corpus.longest %zu\ncorpus.richest %zu\n",
    a->longest, a->richest);
}

@ The texts are those of the seed that no model is trained on, and there are so many that the digits we quote would not change with more.
@<What the program prints@>=
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
