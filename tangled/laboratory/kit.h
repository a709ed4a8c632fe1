/* kit.h -- made from laboratory/00-kit.w; change it there */

#ifndef INCIPIT_KIT_H
#define INCIPIT_KIT_H
#include "ground/timing.h"
#include "loop/generate.h"
#include "laboratory/kit-parrot.h"
#include "cache/cache.h"
#include "sampling/sampling.h"
#include "tokenizer/tokenizer.h"

/* <A bench> */
struct fixture;

/* a model, and what is needed to run it; s is a cache, or the store of chapter 2 */
struct bench {
  struct memory *m; struct engine e; struct pool *pool;
  struct store *s; struct generate_context g;
};

/* with so many workers, or 0 for none; with a cache as wished for, or, if options is
   null, a store that keeps every row apart. May be closed even if it fails */
bool bench_open(struct bench *b, struct fixture *lab, const struct model *lm,
  unsigned workers, const struct cache_options *options, struct error *why);

/* closes the store, and then the workers */
void bench_close(struct bench *b);

/* generate, for one who does not keep the text */
bool bench_write(struct bench *b, const uint32_t *prompt, size_t n,
  const struct generate_options *want, struct error *why);

/* after the first p tokens of the sentence, repeated as often as it takes, g more are
   written; error: they do not go on with the sentence */
bool bench_recite(struct bench *b, const struct fixture *lab, size_t p, size_t g,
  struct generate_options *want, struct error *why);

/* puts the next n<=64 tokens of the sentence through the model in one pass */
bool bench_feed(struct bench *b, const struct fixture *lab, uint32_t sequence,
  size_t n, struct error *why);

/* <The laboratory> */

/* model is the built-in one, b its bench, and vocab the size of its vocabulary;
   logits and logprob have that many numbers, for any experiment that needs a row;
   text is the newest text of an experiment that keeps one; tales are those of
   lab_tales, and taken the blocks of lab_take */
struct fixture {
  struct memory m; struct counters c; struct engine e;
  struct model *model; struct tokenizer *t; uint32_t sentence[PARROT_WORDS];
  struct parrot parrot; struct kernels idle_kernels; struct model *stand_in;
  struct bench b; struct sampler dice; struct continuation text; struct ids tales;
  size_t vocab; float *logits; double *logprob;
  struct arena taken;
};

/* opens all of it. May be closed even if it fails */
bool lab_open(struct fixture *lab, struct error *why);

/* returns everything, also what lab_take gave */
void lab_close(struct fixture *lab);

/* random numbers in the shape of GPT-2 small, made when they are first asked for;
   null and a sentence if memory is refused */
struct model *lab_stand_in(struct fixture *lab, struct error *why);

/* memory, zeroed, until the laboratory is closed; null and a sentence if it is
   refused, and null ever after */
void *lab_take(struct fixture *lab, size_t count, size_t size, struct error *why);

/* sets all counters to zero */
void lab_reset(struct fixture *lab);

/* appends the tokens of a text; the list is freed by ids_free(&lab->m, list) */
bool lab_encode(struct fixture *lab, const char *text, struct ids *list,
  struct error *why);

/* the same with all the text of a file, in which special tokens count as such */
bool lab_encode_file(struct fixture *lab, const char *path, struct ids *list,
  struct error *why);

/* <What a program can be asked for> */

/* prints something; false and a sentence on failure */
typedef bool lab_print(struct fixture *lab, struct error *why);

/* a word, and what it prints; the last of a table has no name */
struct lab_command { const char *name; lab_print *print; };

/* what main returns: opens a laboratory, prints what argv[1] asks for, and closes it */
int lab_main(int argc, char **argv, const struct lab_command *table);

/* <Print keys and quartiles> */

/* a line for each name, with the value as printf would print it */
void print_key(const char *names, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* ,LOW,MEDIAN,HIGH, each times unit, of n>=1 numbers, which are sorted */
void print_quartiles(double *x, size_t n, double unit, int decimals);

/* a short text, cut off after 63 bytes */
struct label { char text[64]; };

/* a short text, as printf would print it */
struct label label_of(const char *format, ...)
  __attribute__((format(printf, 1, 2)));

/* <Read what a clock said> */

/* was it a line of numbers? */
typedef bool data_line(void *ctx, const char *line);

/* hands over every line of figures/data/NAME.csv; errors: it cannot be opened, or has
   not wanted lines of numbers */
bool data_read(const char *name, data_line *take, void *ctx, size_t wanted,
  struct error *why);

/* the first columns of a table that has nothing but numbers, into x[columns][wanted];
   the same errors */
bool data_numbers(const char *name, size_t columns, size_t wanted, double *x,
  struct error *why);

/* <Fit a line> */

/* y == start + slope * x, about */
struct fit { double start, slope, mean_error, worst_error; };

/* through n>=2 points */
struct fit fit_line(const double *x, const double *y, size_t n);

/* <Random numbers that are the same everywhere> */

/* 64 of them; the seed goes on */
uint64_t random_bits(uint64_t *seed);

/* between 0 and 1, and neither of them */
double random_uniform(uint64_t *seed);

/* of mean 0 and deviation 1 */
double random_normal(uint64_t *seed);
#endif
