@i types.w

\chapterquestion{How surprising is a text to a reader who knows exactly how it was made?}
@** A probabilistic grammar as training corpus.
\incipit{N}{o one knows} how much of a newspaper could have been predicted. So a loss, the average number of bits that a model needs for
a token, says little by itself: if a model needs three bits, is the model bad or is the text hard? To be able to tell, we make the texts
ourselves, choice by choice, and add up the bits of the choices. The sum is the \emph{surprisal} of the text, and its average over all texts is the \emph{entropy} of the source,
a number that no model can beat. Every bit that a model needs above the entropy is its own
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
@^cross-entropy@>

@ The program of this chapter writes two short texts with their bits, and the data of \cref{fig:surprise}, which shows where in a text its bits are.

@c
#include <stdio.h>
#include <string.h>
#include "functions/numbers.h"
#include "corpus/corpus.h"
@;@#
@<Find the place of a choice@>@;
@;@#
#include "corpus/shown.inc"

@* A grammar with memory. \label{sec:corpus}
Our source is a set of tables. A table has a name and some alternatives, each with a weight; an alternative is a
piece of text with slots in it; and a slot is filled by an alternative of the table that it names, which may have slots of its own.
With dice and these tables you could write texts by hand, and add up their bits as you go. Such a source is called a \emph{probabilistic
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
examined on texts that it was trained on. The limits are ample: of \given{20000} texts the longest has
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
changed grammar writes other texts, and a model trained on them is another model. We keep the checksum of the file beside those of the two models.

A line |"table how"| begins a table. Each alternative has a line with its weight, a bar, and its text; what follows the bar is
the text to the end of the line, blanks included. A line with a bar and no weight continues
the alternative on a new line of text; pages of code are written in this way. A line with a plus continues it without a line break. Empty
lines and lines that begin with \.{\#} are ignored.

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

An alternative may have several fields, separated by semicolons; the first is shown. A doubled bracket or brace means itself, and a text that ends in a
blank has a bar after it, so that the blank can be seen. The word |"once"| after the name of a table means that none of its alternatives is used
twice in one text. Here are four of the tables.

\excerpt{models/corpus.grammar}{how,text,lack,fn.down}{four tables, as they stand in the file}

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
version the name was needed after every function, and the model still guessed. Then we used the name at once, and that helped: in some pages it
is printed two lines after it is set, where copying is easy, and then again at the end. A model that has learnt to
copy from the line above needs little more to copy from the top of the page. We also made the name a single word. In names of two words, such as
\emph{max\_castle}, a model trained further on such pages found the second word and still guessed the first.

@* Reading the grammar. \label{sec:grammarfile}
Suppose that you edit the grammar, and type \.{[god]} where you mean \.{[good]}. The table |"god"| does not exist. If we notice only when a text needs it, the training stops after an hour, at night, or one text in some thousands has a hole in it. The reader of the file is therefore strict, and reports at once whatever it can: a missing weight, a bracket that is not closed, a
slot that names a table which does not exist, even a blank at the end of a line, which
many editors remove silently. Every message names the line, what was found there, and what was wanted. A few mistakes can only be noticed while a text is written, such as a key that was
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

@ Two passes are necessary. The first reads the lines, one by one, and sorts the tables by name. Only the second can check the brackets, because a slot may name a table that comes later in the file. The reader is plain C in \.{unwoven/corpus/reading.inc}; two of its limits come from elsewhere. A weight has at most four digits, so the weights of a table add up to less than $2^{32}$, which is the most that our random numbers can handle. And a table has at most 64 alternatives, because those that are used up are the bits of one 64-bit word.

Why sort? A text makes dozens of choices, and each looks up its table by name. The place of the table cannot be noted when the file is read, because
a slot may have braces in it, as in |"[name.{h.1}]"|, and then the table is known only when the slot is filled. With sorted names a binary search finds any of the \val{corpus.tables} tables in eight comparisons.

@* The writer. \label{sec:scribe}
A |struct scribe| is one text while it is written: the text so far, what it remembers, which alternatives of
tables with |"once"| are used up, and the first fault. A script, if there is one, is a list of the alternatives to take; it replaces the
random numbers as far as it goes. The scribe is on the stack, so writing a text allocates nothing.
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

@ We need a die with any number of sides. The random number generator SplitMix64 scrambles a counter with two
multiplications; we use its upper half, a number below $2^{32}$, and could take the rest of its division by $n$. But $2^{32}$ is seldom a multiple of $n$. With three sides there is one number too
many, and the first side would come up a little too often. The difference is much too small to notice, but we want to call the entropy exact.
So numbers from the last whole multiple of $n$ on are thrown again.
@<Throw a die with |n| sides@>=
/*- SplitMix64, 32 bits of it. Numbers beyond the last whole multiple of n are thrown again, or
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

@ Now the heart of the matter: the bits of a text are counted here. The weights of the allowed alternatives are added up, and one alternative is
taken. Which are allowed? An alternative may be forbidden for two reasons: it was used before, in a table with |"once"|, or
it is excepted. A forbidden one is not in the sum: if a king is remembered as |r|, then |"[ruler-r]"| leaves only the queen, with probability 1 and no bits. So each
probability is the one that a reader would give who knows the grammar and all choices so far, and the product of these probabilities is the
probability of the text.
@<Choose an alternative, and account for the choice@>=
/*- The chance is taken among what may still be taken, so total is part of the record. A script
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

@ Filling a slot takes four steps: the slot is read, a choice is made, the alternative is written, and what was written is remembered if there is a key. At
the end only the first field of it stays in the text.

How is a slot with braces read? It is a small text itself, and has to be written before it can be split: |"[name.{h.1}]"| must become |"[name.she]"|. The end of the text serves as scratch memory. |read_slot| writes the slot there, copies it, and cuts the text back. So one function, |expand|, does all the writing, always to the end of the text. From there we also take what is to be remembered, all that was written since |start|. A key that was used before gets the new value: in
the second journey of a tale |"{a}"| is the second helper. These shorter steps are in \.{unwoven/corpus/scribe.inc}.
@<Fill a slot@>=
/*- The order is fixed: choose, write, remember, cut to the first field. A table that names
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

@ Words are copied up to the next bracket or brace. This function and |fill_slot| call
each other, since an alternative can contain slots whose alternatives contain slots. How deep can this recursion go? A table that refers to itself
goes one level deeper each time, and the grammar sets no limit. But each level makes a choice, and a text with more than |PASSAGE_CHOICES| choices
is refused. The probability of that is a very high power of \given{0.8}.
@<Write what an alternative says@>=
/*- check_brackets has seen to it that every bracket is closed, so stop is never null */
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

@ To write a text we fill the slot |"text"|. So the first choice is the sort of the text: the alternatives of the table |"text"| and the constants of |enum text_sort| are in the same order.

Some mistakes are found only now: a key that was never
remembered, a table that braces select and that does not exist, a text that is too long. A text that is too long is refused and not cut, because a cut text would have the bits of choices
that it does not show. The words that caused the first fault are kept, and from then on every function returns false. Later faults are only
consequences, and would hide the cause.
@<Write a whole text@>=
/*- the sort of a text is the alternative of its first choice, in the table text */
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
/*- seed and number are mixed by a multiplication, or the streams of neighbouring texts would begin close together */
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
/*- A series and not the C library's, whose last bit differs from system to system. */
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
/** A grammar in a file, and the texts that it writes. Reading checks everything that can be
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
@#
#include "corpus/reading.inc"
@#
@<Throw a die with |n| sides@>@;
@<The binary logarithm of a small whole number@>@;
@#
#include "corpus/scribe.inc"
@#
@<Choose an alternative, and account for the choice@>@;
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
were; all other letters are certain.}{A short text in two lines of letters. Eight bars with numbers stand above single letters: the first letters of the
three sentences, and of five words within them. The highest have about four bits. All other letters are bare.}

\Cref{fig:surprise} shows where the bits are. Most letters have no bar: a reader who knows the grammar can predict them with certainty. A model that has learnt the grammar should be surprised at the same places, and
by the same amount.

@* The check. \label{sec:corpuscheck}
The program prints two chronicles from the held-out texts, with their bits (\.{unwoven/corpus/shown.inc}). We chose chronicles because they are short.

\checkpoint{build/out/corpus.txt}{two texts and their bits}

@ At which letter does a choice show? We replay the text with each other alternative in its place, keep all choices before it, and find
where the two texts first differ. The earliest of these places is the letter that cannot be known without the choice. We call it the \emph{place} of the choice.

@<Find the place of a choice@>=
struct viewer { const struct grammar *g; uint64_t next;
  struct passage text, variant; };
  /* a text, the number of the next one, and a variant of the text */
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
  /*- The place of choice k: the first byte of the text that would be another if the choice
    were. What comes after a variant's choice is drawn anew, but a later difference does not
    count. The length of the text says that the choice shows nowhere. */
