/* corpus.h -- made from workshop/11-corpus.w; change it there */

/* I.4  corpus.h */

#ifndef INCIPIT_CORPUS_H
#define INCIPIT_CORPUS_H
#include "ground/ground.h"

/* I.5  What the grammar offers */

enum { PASSAGE_ROOM = 8192, PASSAGE_CHOICES = 1024 };
enum text_sort { TALE, HOME, CHRONICLE, CODE, TALK, N_SORTS };
/* the five sorts of text: the first three are stories of the kingdom */

enum { SEED_TOKENIZER = 1, SEED_TRAINING = 2, SEED_HELD_OUT = 3 };
/* texts of different seeds have different streams of random numbers */

/* I.6  What the grammar offers */

struct choice {
  uint16_t drawn, taken;
  uint32_t weight, total;
};
/* alternative number taken of table drawn was taken with chance weight/total */

struct passage {
  char words[PASSAGE_ROOM];
  size_t length;
  double bits;
  unsigned sort;
  struct choice choices[PASSAGE_CHOICES];
  size_t n_choices;
};
/* one text, ended by a zero byte that does not count; the sum of -_2 of the
 * chances of its choices; and the choices themselves */

/* I.7  What the grammar offers */

struct grammar;
struct grammar *grammar_open(struct memory *m, struct error *why);
/* the grammar of this appendix, read from its tables; owned by the caller */

void grammar_close(struct memory *m, struct grammar *g);
/* returns its memory; null is nothing */

bool grammar_write(const struct grammar *g, uint64_t seed,
                   uint64_t number, struct passage *out, struct error *why);
/* text number of seed: the same on every machine */

/* I.8  What the grammar offers */

bool grammar_replay(const struct grammar *g, const uint16_t * taken,
                    size_t n, struct passage *out, struct error *why);
/* a text whose first n choices are given (one that is not allowed is
 * replaced by a fresh one); the rest are those of seed 0 */

size_t grammar_tables(const struct grammar *g);
/* how many tables there are */

const char *grammar_table(const struct grammar *g, size_t number,
                          size_t i, size_t *length, uint32_t * weight);
/* alternative i of a table, with its length and weight; null if there is
 * none; the name of the table for i == SIZE_MAX */

#endif
