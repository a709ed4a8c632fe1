@i types.w
@s model_layer int
@s matrix int
@s norm int
@s tensor int
@s lab_print int
@s data_line int

\chapterquestion{What does every experiment need before it can begin?}
@** The kit of the laboratory. \label{lab:kit}
\incipit{A}{n experiment} is a page of C that asks one question of the engine. Before it can ask, it needs a model, a tokenizer, a
place for keys and values, somebody who chooses the tokens, and an account of the memory that all of them take. After it has its
answer, it has to print the answer in a form that the book can read, and to give everything back, even if something failed halfway.
Written out once for each chapter this was longer than some of the experiments. Here it is written once for all of them.

A program of the laboratory prints three kinds of things. A \emph{key} is a line with a name and a number; the prose quotes the number by
its name. A \emph{table} is a file of comma-separated values with a line of names on top; a figure draws it. What a clock says is also a table,
but it differs from run to run; so it is measured once, kept in \.{figures/data}, and read again when keys are printed from it.

@ The kit is a header and a file that are linked to every program of the laboratory. They are no part of the library.

@(kit.h@>=
#ifndef INCIPIT_KIT_H
#define INCIPIT_KIT_H
#include "ground/timing.h"
#include "loop/generate.h"
#include "laboratory/kit-parrot.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "tokenizer/tokenizer.h"
@<A bench@>@;
@<The laboratory@>@;
@<What a program can be asked for@>@;
@<Print keys and quartiles@>@;
@<Read what a clock said@>@;
@<Fit a line@>@;
@<Random numbers that are the same everywhere@>@;
#endif

@ Its file has the same order, and begins with what works for all the rest.

@(kit.c@>=
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "laboratory/kit.h"
#include "families/loader.h"
#include "kernels/kernels.h"
#include "functions/numbers.h"
#include "laboratory/kit-random.h"
@;@#
@<Open and close a bench@>@;
@<Let a bench read and write@>@;
@<Find the sentence in the tokens of the built-in model@>@;
@<Open and close the laboratory@>@;
@<Answer what is asked for@>@;
@<Put a key and its value on a line@>@;
@<Go through the lines of a table@>@;
@<Put a line through points@>@;
@<Stir a counter@>@;

@* A model and its stores for an experiment. \label{lab:bench}
A \emph{bench} is one model, ready to be run: an engine with its workers, a store for the model's keys and values, and the |struct generate_context|
that |generate| wants. The model can be the built-in one, the parrot of \cref{lab:parrot}, a stand-in of random numbers in the shape of some
published model, or any other; the bench only borrows it. The generator points into the bench, which must therefore stay where it was opened.

@<A bench@>=
struct fixture;
struct bench {
  struct memory *m;@+ struct engine e;@+ struct pool *pool;
  struct store *s;@+ struct generate_context g;
};
  /* a model, and what is needed to run it; |s| is a cache, or the store of chapter 2 */
bool bench_open(struct bench *b, struct fixture *lab, const struct model *lm,
  unsigned workers, const struct cache_options *options, struct error *why);
  /* with so many workers, or 0 for none; with a cache as wished for, or, if |options| is null, a store that keeps
     every row apart. May be closed even if it fails */
void bench_close(struct bench *b);
  /* closes the store, and then the workers */

@ The parrot is run with idle kernels, since most of its work would be multiplying by zeros. Every other model has the best that the machine can do.

@<Open and close a bench@>=
bool bench_open(struct bench *b, struct fixture *lab, const struct model *lm,
  unsigned workers, const struct cache_options *options, struct error *why)
{
  *b = (struct bench) @[{ .m = &lab->m, .e = lab->e }@];
  if (lm == &lab->parrot.lm) b->e.k = &lab->idle_kernels;
  if (workers > 0 && (b->pool = pool_open(&lab->m, workers, why)) == NULL)
    return false;
  b->e.pool = b->pool;
  b->s = options == NULL ? array_store_open(&lab->m, &lm->config, why)
    : cache_open(&lab->m, &lm->config, 1, options, why);
  b->g = (struct generate_context) @[{ &b->e, lm, b->s, &lab->m }@];
  return b->s != NULL;
}

@ Closing a null store and a null pool does nothing, so a bench that could only be opened halfway is closed in the same way as any other.

@<Open and close a bench@>=
void bench_close(struct bench *b)
{
  if (b->m == NULL) return;
  store_close(b->s);
  pool_close(b->m, b->pool);
}

@ Most experiments look at a text while it is being written and do not need it afterwards. Others let a model write the sentence of \cref{lab:parrot},
and want to be told if it wrote anything else: then what was counted was not the work they meant to count.

@<A bench@>=
bool bench_write(struct bench *b, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct error *why);
  /* |generate|, for one who does not keep the text */
bool bench_recite(struct bench *b, const struct fixture *lab, size_t p, size_t g,
  struct generate_options *want, struct error *why);
  /* after the first |p| tokens of the sentence, repeated as often as it takes, |g| more are written;
     error: they do not go on with the sentence */
bool bench_feed(struct bench *b, const struct fixture *lab, uint32_t sequence,
  size_t n, struct error *why);
  /* puts the next |n|${}\le{}$64 tokens of the sentence through the model in one pass */

@ A continuation is empty after a failure, and freeing an empty one does nothing.

@<Let a bench read and write@>=
bool bench_write(struct bench *b, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct error *why)
{
  struct continuation text;
  bool ok = generate(&b->g, prompt, n, want, &text, why);
  continuation_free(b->m, &text);
  return ok;
}

@ The parrot's tokens are the numbers from 0 to 6, and it says its sentence for ever. The built-in model has other ids for the same words, and is held to the
first seven of them; what it writes after the full stop is its own affair.

@<Let a bench read and write@>=
static uint32_t sentence_at(const struct bench *b, const struct fixture *lab, size_t i)
{
  i %= PARROT_WORDS;
  return b->g.lm == &lab->parrot.lm ? (uint32_t) i : lab->sentence[i];
}
bool bench_recite(struct bench *b, const struct fixture *lab, size_t p, size_t g,
  struct generate_options *want, struct error *why)
{
  uint32_t prompt[PARROT_CONTEXT];
  for (size_t i = 0; i < p; i++) prompt[i] = sentence_at(b, lab, i);
  struct continuation c;
  want->max_new_tokens = g;
  bool ok = generate(&b->g, prompt, p, want, &c, why);
  bool parrot = b->g.lm == &lab->parrot.lm;
  for (size_t i = p; ok && i < c.text.n && (parrot || i < PARROT_WORDS); i++)
    ok = c.text.id[i] == sentence_at(b, lab, i)
      || error_say(why, "token %zu is not the next of the sentence", i);
  continuation_free(b->m, &c);
  return ok;
}

@ Feeding is a pass without a head. The store knows where the sequence has got to, and the sentence goes on from there.

@<Let a bench read and write@>=
bool bench_feed(struct bench *b, const struct fixture *lab, uint32_t sequence,
  size_t n, struct error *why)
{
  struct row row[64];
  struct pass *p;
  size_t at = store_length(b->s, sequence);
  for (size_t i = 0; i < n; i++)
    row[i] = (struct row) @[{ sequence, (uint32_t) (at + i),
      sentence_at(b, lab, at + i) }@];
  if (!model_forward(&b->e, b->g.lm, b->s, row, n, &p, why)) return false;
  pass_close(p);
  return true;
}

@* What all experiments are given. \label{lab:laboratory}
The laboratory is opened once in a program. It has the built-in model of \.{models/pocket} with its tokenizer and the ids of the sentence, the parrot with its
idle kernels, and one bench for the built-in model, with a cache that grows as it is used. It also has a sampler that changes nothing until its settings are changed.
Whoever needs another model or another store opens another bench. The laboratory is large, and parts of it point to others; it is not to be moved.

@<The laboratory@>=
struct fixture {
  struct memory m;@+ struct counters c;@+ struct engine e;
  struct model *model;@+ struct tokenizer *t;@+ uint32_t sentence[PARROT_WORDS];
  struct parrot parrot;@+ struct kernels idle_kernels;@+ struct model *stand_in;
  struct bench b;@+ struct sampler dice;@+ struct continuation text;@+ struct ids tales;
  size_t vocab;@+ float *logits;@+ double *logprob;
  struct arena taken;
};
  /* |model| is the built-in one, |b| its bench, and |vocab| the size of its vocabulary; |logits| and |logprob| have
     that many numbers, for any experiment that needs a row; |text| is the newest text of an experiment that keeps one;
     |tales| are those of |lab_tales|, and |taken| the blocks of |lab_take| */
bool lab_open(struct fixture *lab, struct error *why);
  /* opens all of it. May be closed even if it fails */
void lab_close(struct fixture *lab);
  /* returns everything, also what |lab_take| gave */
struct model *lab_stand_in(struct fixture *lab, struct error *why);
  /* random numbers in the shape of GPT-2 small, made when they are first asked for; null and a sentence if memory is
     refused */
void *lab_take(struct fixture *lab, size_t count, size_t size, struct error *why);
  /* memory, zeroed, until the laboratory is closed; null and a sentence if it is refused, and null ever
     after */
void lab_reset(struct fixture *lab);
  /* sets all counters to zero */
bool lab_encode(struct fixture *lab, const char *text, struct ids *list,
  struct error *why);
  /* appends the tokens of a text; the list is freed by |ids_free(&lab->m, list)| */
bool lab_encode_file(struct fixture *lab, const char *path, struct ids *list,
  struct error *why);
  /* the same with all the text of a file, in which special tokens count as such */

@ What the parrot knows by heart the built-in model has to know by learning; here are the ids that its
tokenizer has for the sentence. If there were not seven of them, the grid of \cref{fig:grid} would not be the one that was drawn by hand. So each word is encoded apart,
with its blank, and has to add exactly one id; the message names the word that does not.

@<Find the sentence in the tokens of the built-in model@>=
static bool find_sentence(struct fixture *lab, struct error *why)
{
  struct ids ids = @[{ .n = 0 }@];
  bool ok = true;
  for (int i = 0; ok && i < PARROT_WORDS; i++)
    ok = lab_encode(lab, parrot_word[i], &ids, why) && (ids.n == (size_t) i + 1
      || error_say(why, "models/pocket: \"%s\" is not one token", parrot_word[i]));
  for (int i = 0; ok && i < PARROT_WORDS; i++) lab->sentence[i] = ids.id[i];
  ids_free(&lab->m, &ids);
  return ok;
}

@ Everything that is opened is opened here, one thing after another, and the first that fails ends it. The struct was all zeros at the beginning, and what is
still zero when it is closed was never opened.

@<Open and close the laboratory@>=
bool lab_open(struct fixture *lab, struct error *why)
{
  static const char *const pocket = "models/pocket";
  *lab = (struct fixture) @[{ .dice.s = sampling_default(), .taken.m = &lab->m }@];
  lab->e = (struct engine) @[{ .k = kernels_find(NULL, why), .c = &lab->c }@];
  if (lab->e.k == NULL) return false;
  parrot_make(&lab->parrot);
  parrot_kernels(&lab->idle_kernels, lab->e.k);
  if ((lab->model = model_open(&lab->m, pocket, why)) == NULL) return false;
  lab->vocab = lab->model->config.vocab_size;
  return (lab->t = tokenizer_open(&lab->m, pocket, why)) != NULL
    && (lab->logits = lab_take(lab, lab->vocab, sizeof (float), why)) != NULL
    && (lab->logprob = lab_take(lab, lab->vocab, sizeof (double), why)) != NULL
    && find_sentence(lab, why)
    && bench_open(&lab->b, lab, lab->model, 0,
      &(struct cache_options) @[{ .rows = 0 }@], why)
    && funnel_open(&lab->dice.f, &lab->m, lab->e.k, lab->vocab, why);
}

@ Closing goes the other way. The stand-in of \cref{phases} takes half a gigabyte, so it is made only for a program that times it.

@<Open and close the laboratory@>=
void lab_close(struct fixture *lab)
{
  arena_free(&lab->taken);
  continuation_free(&lab->m, &lab->text);
  ids_free(&lab->m, &lab->tales);
  funnel_close(&lab->dice.f);
  bench_close(&lab->b);
  tokenizer_close(&lab->m, lab->t);
  random_model_close(&lab->m, lab->stand_in);
  model_close(&lab->m, lab->model);
}
struct model *lab_stand_in(struct fixture *lab, struct error *why)
{
  if (lab->stand_in == NULL)
    lab->stand_in = random_model_open(&lab->m, &random_model_gpt2, why);
  return lab->stand_in;
}

@ An experiment may fail in ten places, and would have to give its memory back in all of them. It is simpler to let everything live until the laboratory is closed: nothing here runs for
long, and nothing takes much.

@<Open and close the laboratory@>=
void *lab_take(struct fixture *lab, size_t count, size_t size, struct error *why)
{
  return arena_alloc(&lab->taken, MEMORY_OTHER, count, size, why);
}
void lab_reset(struct fixture *lab)
{
  lab->c = (struct counters) @[{ .passes = 0 }@];
}

@ Texts are encoded without the token that begins a text; an experiment that wants one puts it there by itself. Special tokens are words like any others in a
prompt, and are what they are in a file of the corpus.

@<Open and close the laboratory@>=
bool lab_encode(struct fixture *lab, const char *text, struct ids *list,
  struct error *why)
{
  return tokenizer_encode(lab->t, &lab->m, text, strlen(text), false, false,
    list, why);
}
bool lab_encode_file(struct fixture *lab, const char *path, struct ids *list,
  struct error *why)
{
  struct mapping map;
  if (!file_map(&map, path, why)) return false;
  bool ok = tokenizer_encode(lab->t, &lab->m, (const char *) map.bytes, map.size,
    false, true, list, why);
  file_unmap(&map);
  return ok;
}

@* Arguments of a program. \label{lab:commands}
A program is called with one word. Each word stands in a table beside the function that answers it; several functions may answer the same word, and are
called in the order of the table until one of them fails.

@<What a program can be asked for@>=
typedef bool lab_print(struct fixture *lab, struct error *why);
  /* prints something; false and a sentence on failure */
struct lab_command { const char *name;@+ lab_print *print; };
  /* a word, and what it prints; the last of a table has no name */
int lab_main(int argc, char **argv, const struct lab_command *table);
  /* what |main| returns: opens a laboratory, prints what |argv[1]| asks for, and closes it */

@ Some numbers take long, and no row of the ledger needs them. Their functions have the word \.{details}. They are part of \.{values}, but \texttt{values claims}, which \texttt{incipit verify} asks for, leaves them out.

The only thing that is ever written to the error stream is the sentence of the function that failed. If no word is known, the sentence lists those that are.

@<Answer what is asked for@>=
static bool asked_for(const char *name, const char *word, bool claims)
{
  return strcmp(name, word) == 0
    || (strcmp(name, "details") == 0 && strcmp(word, "values") == 0 && !claims);
}
static bool answer(struct fixture *lab, const char *word, bool claims,
  const struct lab_command *table, struct error *why)
{
  char known[200] = "";
  size_t n = 0, answered = 0;
  for (const struct lab_command *c = table; c->name != NULL; c++) {
    bool again = c > table && strcmp(c[-1].name, c->name) == 0;
    if (!again && n < sizeof known)
      n += (size_t) snprintf(known + n, sizeof known - n, " %s", c->name);
    if (!asked_for(c->name, word, claims)) continue;
    if (!c->print(lab, why)) return false;
    answered++;
  }
  return answered > 0
    || error_say(why, "`%s' is not one of the words:%s", word, known);
}
int lab_main(int argc, char **argv, const struct lab_command *table)
{
  static struct fixture lab;
  struct error why;
  bool ok = lab_open(&lab, &why)
    && answer(&lab, argc > 1 ? argv[1] : "",@|
      argc > 2 && strcmp(argv[2], "claims") == 0, table, &why);
  lab_close(&lab);
  if (!ok) fprintf(stderr, "%s\n", why.text);
  return !ok;
}

@* Printing keys and rows. \label{lab:printing}
The same number is often an answer to several claims of the tutorials. So a key may have several names, separated by blanks, and each of them is printed on
a line of its own with the same value.

@<Print keys and quartiles@>=
void print_key(const char *names, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
  /* a line for each name, with the value as |printf| would print it */
void print_quartiles(double *x, size_t n, double unit, int decimals);
  /* \.{,LOW,MEDIAN,HIGH}, each times |unit|, of |n|${}\ge1$ numbers, which are sorted */

@ A value is formatted once and printed as often as there are names.

@<Put a key and its value on a line@>=
void print_key(const char *names, const char *format, ...)
{
  char value[64];
  va_list list;
  va_start(list, format);
  vsnprintf(value, sizeof value, format, list);
  va_end(list);
  while (*names != '\0') {
    int n = (int) strcspn(names, " ");
    printf("%.*s %s\n", n, names, value);
    names += n + (names[n] == ' ');
  }
}

@ A name may have to be put together, of a place and what was asked there, say. It is a struct, so that no caller needs an array for it.

@<Print keys and quartiles@>=
struct label { char text[64]; };
  /* a short text, cut off after 63 bytes */
struct label label_of(const char *format, ...)
  __attribute__((format(printf, 1, 2)));
  /* a short text, as |printf| would print it */

@ What is too long is cut off.

@<Put a key and its value on a line@>=
struct label label_of(const char *format, ...)
{
  struct label l;
  va_list list;
  va_start(list, format);
  vsnprintf(l.text, sizeof l.text, format, list);
  va_end(list);
  return l;
}

@ A median says what a measurement usually gives, and the quartiles how far half of the measurements are apart.

@<Put a key and its value on a line@>=
void print_quartiles(double *x, size_t n, double unit, int decimals)
{
  struct quartiles q = timing_quartiles(x, n);
  printf(",%.*f,%.*f,%.*f", decimals, unit * q.low, decimals, unit * q.median,
    decimals, unit * q.high);
}

@* Data of measurements. \label{lab:data}
A table of measured times is read line by line. The experiment says which lines are lines of numbers by whether it could take them; a line of names or a
remark it refuses. If there are fewer or more of them than the experiment once printed, the file is not the one it was, and the program says so.

@<Read what a clock said@>=
typedef bool data_line(void *ctx, const char *line);
  /* was it a line of numbers? */
bool data_read(const char *name, data_line *take, void *ctx, size_t wanted,
  struct error *why);
  /* hands over every line of \.{figures/data/NAME.csv}; errors: it cannot be opened, or has not |wanted| lines of
     numbers */
bool data_numbers(const char *name, size_t columns, size_t wanted, double *x,
  struct error *why);
  /* the first |columns| of a table that has nothing but numbers, into |x[columns][wanted]|; the same errors */

@ The file is closed before the lines are counted, so that both ways out have closed it.

@<Go through the lines of a table@>=
bool data_read(const char *name, data_line *take, void *ctx, size_t wanted,
  struct error *why)
{
  char path[80], line[512];
  snprintf(path, sizeof path, "figures/data/%s.csv", name);
  FILE *f = fopen(path, "r");
  size_t n = 0;
  if (f == NULL) return error_say(why, "%s: cannot be opened", path);
  while (fgets(line, sizeof line, f) != NULL) n += take(ctx, line);
  fclose(f);
  return n == wanted || error_say(why, "%s: %zu lines of numbers, %zu wanted",
    path, n, wanted);
}

@ Most tables have nothing but numbers. Each column of such a table becomes an array; what comes after the columns that are wanted is passed over, and a line that is one too many is counted, but not kept.

@<Go through the lines of a table@>=
struct numbers { double *x; size_t columns, wanted, n; };
static bool take_numbers(void *ctx, const char *line)
{
  struct numbers *t = ctx;
  for (size_t i = 0; i < t->columns; i++) {
    char *end;
    double value = strtod(line, &end);
    if (end == line) return false;
    if (t->n < t->wanted) t->x[i * t->wanted + t->n] = value;
    line = end + (*end == ',');
  }
  t->n++;
  return true;
}
bool data_numbers(const char *name, size_t columns, size_t wanted, double *x,
  struct error *why)
{
  struct numbers t = @[{ x, columns, wanted, 0 }@];
  return data_read(name, take_numbers, &t, wanted, why);
}

@ Times often grow with some length along a line. The line is the one for which the squares of what is missed add up to the least; beside its two numbers stand the mean and the
largest relative error, for those who want to know whether it was a line at all.

@<Fit a line@>=
struct fit { double start, slope, mean_error, worst_error; };
  /* |y == start + slope * x|, about */
struct fit fit_line(const double *x, const double *y, size_t n);
  /* through |n|${}\ge2$ points */

@ Its slope is the covariance of $x$ and $y$ divided by the variance of $x$, both multiplied by $n^2$.

@<Put a line through points@>=
struct fit fit_line(const double *x, const double *y, size_t n)
{
  struct fit l = @[{ 0, 0, 0, 0 }@];
  double sx = 0, sy = 0, sxy = 0, sxx = 0, m = (double) n;
  for (size_t i = 0; i < n; i++) {
    sx += x[i], sy += y[i];
    sxy += x[i] * y[i], sxx += x[i] * x[i];
  }
  l.slope = (m * sxy - sx * sy) / (m * sxx - sx * sx);
  l.start = (sy - l.slope * sx) / m;
  for (size_t i = 0; i < n; i++) {
    double off = fabs(y[i] / (l.start + l.slope * x[i]) - 1);
    l.mean_error += off / m;
    l.worst_error = fmax(l.worst_error, off);
  }
  return l;
}

@* Random numbers. \label{lab:random}
Some experiments need random numbers, and the same ones on every machine, or the numbers
in this book would change with the library of whoever prints it. A counter goes on in large odd
steps,\side{$2^{64}$ times the golden section. \cited[Steele and others 2014]{Steele 2014}.} and what it shows is stirred until no bit remembers its place.
@^random numbers@>

@<Random numbers that are the same everywhere@>=
uint64_t random_bits(uint64_t *seed);
  /* 64 of them; the seed goes on */
double random_uniform(uint64_t *seed);
  /* between 0 and 1, and neither of them */
double random_normal(uint64_t *seed);
  /* of mean 0 and deviation 1 */

@ The upper 53 bits, and a half so that 0 never comes, are a uniform number between 0 and 1. Two of those make a normal
one: a point of the plane whose coordinates are normal has a uniform angle, and the
square of its distance from the middle is $-2\ln u$.\side{Found by Box and Muller \cited{Box 1958}. The point's other coordinate is as good a number, and is
dropped here.}

@<Stir a counter@>=
uint64_t random_bits(uint64_t *seed)
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
double random_uniform(uint64_t *seed)
{
  return ((double) (random_bits(seed) >> 11) + 0.5) * 0x1p-53;
}
double random_normal(uint64_t *seed)
{
  double u = random_uniform(seed), v = random_uniform(seed);
  return sqrt(-2 * num_log(u)) * num_cos(6.283185307179586 * v);
}

@* Texts and their tokens. \label{lab:rows}
The experiments on choosing, stopping and searching ask a few questions again and again: what does the model say after this text, which token
does it like best, how far are two rows of logits apart, how much of a text is new? The answers are in a second header, so that the experiments on time and memory need not see them.

@(kit2.h@>=
#ifndef INCIPIT_KIT2_H
#define INCIPIT_KIT2_H
#include "laboratory/kit.h"
@<Rows of logits@>@;
@<Tales@>@;
@<Tokens, and pairs of them@>@;
#endif

@ Its file has the same order.

@(kit2.c@>=
#include <math.h>
#include <stdio.h>
#include "laboratory/kit2.h"
@;@#
@<Read a text, and compare rows@>@;
@<Take one of the tales@>@;
@<Count pairs, and print tokens@>@;

@ A row of logits is asked for after the text has been read from its beginning in one pass, whatever the store knew before.

@<Rows of logits@>=
bool lab_logits(struct fixture *lab, struct store *s, const uint32_t *id,
  size_t n, size_t last, float *logits, struct error *why);
  /* empties |s|, reads |id[n]|, and puts the rows of its |last| tokens, at most |n|, into
     |logits[last][vocab_size]| */
bool lab_logits_after(struct fixture *lab, const char *text, size_t *n,
  float *logits, struct error *why);
  /* the row after a text of |*n| tokens, in the laboratory's own store */
size_t best_token(const float *logits, size_t vocab);
  /* the likeliest; of equal ones the first */
double farthest(const float *a, const float *b, size_t n);
  /* the largest difference between two numbers in the same place */

@ The positions that are wanted are those at the end.

@<Read a text, and compare rows@>=
bool lab_logits(struct fixture *lab, struct store *s, const uint32_t *id,
  size_t n, size_t last, float *logits, struct error *why)
{
  size_t *which = memory_alloc(&lab->m, MEMORY_OTHER, last, sizeof *which, why);
  if (which == NULL) return false;
  for (size_t i = 0; i < last; i++) which[i] = n - last + i;
  bool ok = model_evaluate(&lab->e, lab->model, s, id, n, which, last, logits, why);
  memory_free(&lab->m, which);
  return ok;
}
bool lab_logits_after(struct fixture *lab, const char *text, size_t *n,
  float *logits, struct error *why)
{
  struct ids list = @[{ .n = 0 }@];
  bool ok = lab_encode(lab, text, &list, why)
    && lab_logits(lab, lab->b.s, list.id, list.n, 1, logits, why);
  *n = list.n;
  ids_free(&lab->m, &list);
  return ok;
}

@ Two rows are compared as numbers, and by what a greedy choice would make of them.

@<Read a text, and compare rows@>=
size_t best_token(const float *logits, size_t vocab)
{
  size_t best = 0;
  for (size_t i = 1; i < vocab; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}
double farthest(const float *a, const float *b, size_t n)
{
  double max = 0;
  for (size_t i = 0; i < n; i++)
    max = fmax(max, fabs((double) a[i] - (double) b[i]));
  return max;
}

@ Three tales lie beside the built-in model that it has not been trained on, with an end token after each. Some experiments read all of them, others only the first.

@<Tales@>=
bool lab_tales(struct fixture *lab, struct ids *list, struct error *why);
  /* all three, with their end tokens; the list stays the laboratory's */
bool lab_tale(struct fixture *lab, struct ids *list, struct error *why);
  /* the first, without its end token; the list stays the laboratory's */

@ The first tale is what stands before the first end token.

@<Take one of the tales@>=
bool lab_tales(struct fixture *lab, struct ids *list, struct error *why)
{
  bool ok = lab->tales.n > 0
    || lab_encode_file(lab, "models/pocket/tales.txt", &lab->tales, why);
  *list = lab->tales;
  return ok;
}
bool lab_tale(struct fixture *lab, struct ids *list, struct error *why)
{
  size_t n = 0;
  if (!lab_tales(lab, list, why)) return false;
  while (n < list->n && list->id[n] != lab->model->config.eos[0]) n++;
  list->n = n;
  return true;
}

@ \emph{Distinct-2} is a measure of variety: of all pairs of neighbouring tokens in some texts, how many have not come before? (\cited[Li and others 2016]{Li 2016}.) We count them; the share is the caller's.
@^distinct-2@>

@<Tokens, and pairs of them@>=
size_t distinct_pairs(const uint32_t *text, size_t n, size_t length);
  /* of the |n * (length - 1)| pairs in |text[n][length]|, how many are different */
double percent(size_t part, size_t whole);
  /* 0 of nothing is 0 */
void print_token(const struct fixture *lab, uint32_t id);
  /* as a field of a table: a comma by its number, the end of a line as a stroke */

@ No pair lies across the ends of two texts.

@<Count pairs, and print tokens@>=
size_t distinct_pairs(const uint32_t *text, size_t n, size_t length)
{
  size_t fresh = 0, pairs = n * (length - 1);
  for (size_t i = 0, k; i < pairs; i++) {
    const uint32_t *a = text + i / (length - 1) * length + i % (length - 1);
    for (k = 0; k < i; k++) {
      const uint32_t *b = text + k / (length - 1) * length + k % (length - 1);
      if (a[0] == b[0] && a[1] == b[1]) break;
    }
    fresh += k == i;
  }
  return fresh;
}
double percent(size_t part, size_t whole)
{
  return whole == 0 ? 0 : 100 * (double) part / (double) whole;
}

@ Figures are set by \TeX, to which a comma is a comma again if it is called by its number.

@<Count pairs, and print tokens@>=
void print_token(const struct fixture *lab, uint32_t id)
{
  size_t n;
  const unsigned char *byte = tokenizer_text(lab->t, id, &n);
  for (size_t i = 0; i < n; i++)
    if (byte[i] == ',') printf("\\char44 "); /* a comma ends a field */
    else putchar(byte[i] == '\n' ? '/' : byte[i]);
}

@* A model of random numbers. \label{lab:randommodel}
A model of a published shape can be timed without its weights, since the time of a pass does not depend on their values. |random_model_open| makes one in the shape of GPT-2 small: \val{phases.standin.parameters} parameters, \val{phases.standin.bytes} bytes of random numbers between $-\given{0.02}$ and $\given{0.02}$. The built-in model cannot take its place: its few megabytes stay in a processor's caches, so its passes do not have to wait for memory.

@<A model of which only the shape counts@>=
extern const struct model_config random_model_gpt2;
  /* its shape (Radford and others 2019) */
struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why);
  /* a model of GPT-2's kind with random weights in float32; owned by the caller; null
     and a sentence if memory is refused */
void random_model_close(struct memory *m, struct model *lm);
  /* returns its memory; null does nothing */
size_t random_model_numbers(const struct model_config *shape);
  /* how many weights it has */

@ The header has a file of its own, which includes only what the model needs.

@(kit-random.h@>=
#ifndef INCIPIT_KIT_RANDOM_H
#define INCIPIT_KIT_RANDOM_H
#include "model/model.h"
@<A model of which only the shape counts@>@;
#endif

@ The source has the functions in the order in which they are explained.

@(kit-random.c@>=
#include <math.h>
#include <string.h>
#include "laboratory/kit-random.h"
@;@#
@<Make a model of random numbers@>@;

@ All numbers are in one block; each tensor takes the next part of it.

@<Make a model of random numbers@>=
const struct model_config random_model_gpt2 = @[{ .family = "gpt2",@|
  .vocab_size = 50257, .n_positions = 1024, .d_model = 768,@|
  .d_inner = 3072, .n_layers = 12, .n_heads = 12, .n_kv_heads = 12,@|
  .head_dim = 64, .norm_eps = 1e-5, .layer_norm = true,@|
  .learned_positions = true, .activation = ACTIVATION_GELU_TANH,@|
  .tied = true }@];
struct weight_filler { float *next; uint64_t seed; };
static struct tensor fill_next(struct weight_filler *d, size_t n)
{
  struct tensor t = @[{ d->next, WEIGHT_F32 }@];
  for (size_t i = 0; i < n; i++) {
    d->seed = d->seed * 48271 % 2147483647;
    *d->next++ = 0.04f * ((float) d->seed / 2147483647.0f - 0.5f);
  }
  return t;
}
static struct matrix fill_matrix(struct weight_filler *d, size_t in, size_t out)
{
  struct tensor w = fill_next(d, in * out);
  return (struct matrix) @[{ w, fill_next(d, out), in, out, true }@];
}

@ A layer of GPT-2 has two norms, and four matrices with their biases: $12d^2+13d$ numbers for a width of $d$ and an inner width of $4d$.

@<Make a model of random numbers@>=
static size_t layer_numbers(const struct model_config *c)
{
  size_t d = c->d_model, f = c->d_inner;
  return 4 * d + 3 * d * d + 3 * d + d * d + d + 2 * d * f + f + d;
}
static void fill_layer(struct weight_filler *d, const struct model_config *c,
  struct model_layer *l)
{
  size_t n = c->d_model, f = c->d_inner;
  float epsilon = (float) c->norm_eps;
  l->attn_norm = (struct norm) @[{ .kind = NORM_LAYER,@|
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon }@];
  l->mlp_norm = (struct norm) @[{ .kind = NORM_LAYER,@|
    .gain = fill_next(d, n), .bias = fill_next(d, n), .epsilon = epsilon }@];
  l->qkv[0] = fill_matrix(d, n, 3 * n), l->n_qkv = 1;
  l->out = fill_matrix(d, n, n);
  l->up[0] = fill_matrix(d, n, f), l->n_up = 1;
  l->down = fill_matrix(d, f, n);
}

@ What the counters need to know is filled in as the loader of \cref{families} does it.

@<Make a model of random numbers@>=
static void fill_model(struct model *lm, float *block)
{
  struct model_config *c = &lm->config;
  struct weight_filler d = @[{ block, 1 }@];
  size_t n = c->d_model;
  lm->embedding = fill_next(&d, n * c->vocab_size);
  lm->positions = fill_next(&d, n * c->n_positions);
  for (uint32_t i = 0; i < c->n_layers; i++)
    fill_layer(&d, c, &lm->layers[i]);
  lm->final_norm = (struct norm) @[{ .kind = NORM_LAYER, .gain = fill_next(&d, n),@|
    .bias = fill_next(&d, n), .epsilon = (float) c->norm_eps }@];
  lm->head = (struct matrix) @[{ .weight = lm->embedding, .in = n,@|
    .out = c->vocab_size }@];
  lm->attention = (struct attention_dims) @[{ c->n_heads, c->n_kv_heads, c->head_dim,@|
    1 / sqrtf((float) c->head_dim), .cap = 0 }@];
  lm->layer_bytes = c->n_layers * layer_numbers(c) * sizeof (float);
  lm->layer_madds = c->n_layers * (4 * n * n + 2 * n * c->d_inner);
  lm->head_bytes = (uint64_t) n * c->vocab_size * sizeof (float);
}

@ The allocator counts the block as weights.

@<Make a model of random numbers@>=
size_t random_model_numbers(const struct model_config *c)
{
  return (size_t) c->d_model * (c->vocab_size + c->n_positions + 2)
    + c->n_layers * layer_numbers(c);
}
struct model *random_model_open(struct memory *m, const struct model_config *shape,
  struct error *why)
{
  struct model *lm = memory_alloc(m, MEMORY_WEIGHTS, 1, sizeof *lm, why);
  if (lm == NULL)@+ return NULL;
  lm->config = *shape;
  lm->layers = memory_alloc(m, MEMORY_WEIGHTS, shape->n_layers,
    sizeof *lm->layers, why);
  float *block = lm->layers == NULL ? NULL
    : memory_alloc(m, MEMORY_WEIGHTS, random_model_numbers(shape), sizeof *block, why);
  if (block != NULL) fill_model(lm, block);
  if (block != NULL)@+ return lm;
  random_model_close(m, lm);
  return NULL;
}

@ The embedding comes first in the block, so its address is that of the block.

@<Make a model of random numbers@>=
void random_model_close(struct memory *m, struct model *lm)
{
  if (lm == NULL) return;
  float *block = NULL;
  memcpy(&block, &lm->embedding.data, sizeof block);
  memory_free(m, block);
  memory_free(m, lm->layers);
  memory_free(m, lm);
}

@* A model of one sentence, for counting. \label{lab:parrot}
For counting rows it does not matter what the model knows, only that every pass goes through the same
|model_forward| and the same counters as the largest checkpoint. So we make the smallest
model that can write the sentence of \cref{fig:grid}, and call it the parrot. Its vocabulary is the seven tokens; the embedding of token $i$ is
the $i$-th unit vector; the one layer adds nothing, for all its matrices are zero; and the head
gives the highest score to the token that follows in the sentence, which goes round in a circle. (It is eight wide and
not seven because a head turns its numbers in pairs, \cref{sec:layer}. The angles it turns by do not matter, as nothing is turned: the queries and keys
of zero matrices are zero.)

@<A model that knows one sentence by heart@>=
enum { PARROT_WORDS = 7, PARROT_WIDTH = 8, PARROT_CONTEXT = 4096 };
  /* tokens it knows, numbers in a row, positions */
extern const char *const parrot_word[PARROT_WORDS];
  /* the sentence, a token each */
struct parrot {
  float unit[PARROT_WORDS][PARROT_WIDTH],
    follows[PARROT_WORDS][PARROT_WIDTH], ones[PARROT_WIDTH];
  float frequency[PARROT_WIDTH / 2];
  struct model_layer only;
  struct model lm;
};
  /* embedding, head, and what the one layer needs; |lm| points into the rest, so
     a parrot is not to be moved */
void parrot_make(struct parrot *p);
  /* fills it in; nothing is allocated */
void parrot_kernels(struct kernels *idle, const struct kernels *best);
  /* a copy of |best| that leaves out what the parrot does not need */

@ Such a model has no file; its |struct model| is filled in by hand, with tensors that point to
the arrays above. It is a Llama in miniature: one layer, one head, RMSNorm, a gate. The last norm makes a unit vector longer, in proportion, and so changes all
scores alike and no choice. One matrix of zeros stands for all seven: nothing in the engine writes to a weight, so they may share it.

@<Make the parrot@>=
const char *const parrot_word[PARROT_WORDS] =
  @[{ "The", " cat", " sat", " on", " the", " mat", "." }@];
static const float nothing[PARROT_WIDTH * PARROT_WIDTH];
static struct tensor at(const float *x)
{
  return (struct tensor) @[{ x, WEIGHT_F32 }@];
}
@#
static void parrot_layer(struct parrot *p)
{
  struct matrix zero = @[{ .weight = at(nothing), .in = PARROT_WIDTH,
    .out = PARROT_WIDTH }@];
  struct norm rms = @[{ .kind = NORM_RMS, .gain = at(p->ones),
    .epsilon = 1e-5f }@];
  p->only = (struct model_layer) @[{ .attn_norm = rms, .mlp_norm = rms,@|
    .qkv = { zero, zero, zero }, .n_qkv = 3, .out = zero,@|
    .up = { zero, zero }, .n_up = 2, .down = zero }@];
  p->lm.final_norm = rms;
}

@ Embedding and head complete it. Token $i$ has its one at place $i$ of the embedding; the token after it has a one at the same place of the
head; the product of the two is then largest for the token after. A layer's multiply--adds are those of its seven
matrices, for query, key, value, output, gate, up and down.

@<Make the parrot@>=
void parrot_make(struct parrot *p)
{
  *p = (struct parrot) @[{ .ones = { 1, 1, 1, 1, 1, 1, 1, 1 } }@];
  for (int i = 0; i < PARROT_WORDS; i++)
    p->unit[i][i] = 1, p->follows[(i + 1) % PARROT_WORDS][i] = 1;
  parrot_layer(p);
  @<Say what shape the parrot has@>@;
  p->lm.layers = &p->only, p->lm.frequency = p->frequency;
  p->lm.embedding = at(p->unit[0]);
  p->lm.head = (struct matrix) @[{ .weight = at(p->follows[0]), .in = PARROT_WIDTH,
    .out = PARROT_WORDS }@];
  p->lm.layer_madds = 7 * PARROT_WIDTH * PARROT_WIDTH;
}

@ A published model says these things in its \.{config.json}. The parrot's only extravagance is its context, of \val{loop.context} positions: the longest text that it writes has \given{2000} tokens given and \given{2000} written.

@<Say what shape the parrot has@>=
p->lm.config = (struct model_config) @[{ .family = "llama",
  .vocab_size = PARROT_WORDS, .n_positions = PARROT_CONTEXT, .d_model = PARROT_WIDTH,@|
  .d_inner = PARROT_WIDTH, .n_layers = 1, .n_heads = 1, .n_kv_heads = 1,@|
  .head_dim = PARROT_WIDTH, .norm_eps = 1e-5, .gated = true }@];
p->lm.attention = (struct attention_dims) @[{ 1, 1, PARROT_WIDTH, 1, .cap = 0 }@];

@ A prompt of \given{2000} tokens and \given{1000} written have \val{loop.pairs.2000.1000} pairs of a query and a key, and attending to them would take time that
teaches nothing. Since the layer adds nothing, attention may as well be left out; |idle_attend| leaves it out. The pairs are counted all the same, because they are counted by
|model_forward|, which asks the store what each row sees. Something must be in |y| afterwards, so the function copies the queries there; the matrix that follows is zero,
and makes zeros of anything.\side{The four passes of the first grid
use the true kernels.}

@<Leave out what teaches nothing@>=
static void idle_attend(const struct engine *e, const struct attention_dims *h,
  const float *q, const struct segment *list, size_t n, float *scratch, float *y,
  const struct attention_probe *probe)
{
  size_t rows = 0;
  (void) e, (void) scratch;
  (void) probe;
  for (size_t i = 0; i < n; i++) rows += list[i].n_rows;
  memcpy(y, q, rows * h->n_heads * h->head_dim * sizeof *y);
}

@ Products with a matrix of zeros need no arithmetic: |idle_linear| writes zeros. One matrix is left, the head, and each of its rows has a single one in it; in whatever order
a product of that kind is added up, the sum has the same bits.

@<Leave out what teaches nothing@>=
static void idle_linear(const struct engine *e, const struct matrix *list,
  size_t n, const float *x, size_t rows, float *const *y)
{
  (void) e;
  for (size_t m = 0; m < n; m++) {
    const struct matrix *w = &list[m];
    memset(y[m], 0, rows * w->out * sizeof(float));
    const float *row = w->weight.data;
    if (row == nothing) continue;
    for (size_t i = 0; i < rows * w->out; i++)
      for (size_t k = 0; k < w->in; k++)
        y[m][i] += x[i / w->out * w->in + k] * row[i % w->out * w->in + k];
  }
}

@ The table of kernels is copied first and the two idle functions are put in the copy, since the library's own table is constant
and shared.

@<Leave out what teaches nothing@>=
void parrot_kernels(struct kernels *idle, const struct kernels *best)
{
  *idle = *best;
  idle->attend = idle_attend, idle->linear = idle_linear;
}

@ The parrot has a header and a file of its own.

@(kit-parrot.h@>=
#ifndef INCIPIT_KIT_PARROT_H
#define INCIPIT_KIT_PARROT_H
#include "model/forward.h"
@<A model that knows one sentence by heart@>@;
#endif

@ Its file makes the model first, and then the idle kernels.

@(kit-parrot.c@>=
#include <string.h>
#include "laboratory/kit-parrot.h"
@;@#
@<Make the parrot@>@;
@<Leave out what teaches nothing@>@;
