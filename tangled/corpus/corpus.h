/* corpus.h -- made from workshop/11-corpus.w; change it there */

#ifndef INCIPIT_CORPUS_H
#define INCIPIT_CORPUS_H
#include "ground/ground.h"

/* <What the grammar offers> */

/* the longest text with its zero byte, and the most choices in one */
enum { MAX_PASSAGE_LEN = 8192, PASSAGE_CHOICES = 1024 };

/* the five sorts of text: the first three are stories of the kingdom */
enum text_sort { TEXT_TALE, TEXT_HOME, TEXT_CHRONICLE, TEXT_CODE, TEXT_TALK,
  N_TEXT_SORTS };

/* texts of different seeds have different streams of random numbers */
enum { SEED_TOKENIZER = 1, SEED_TRAINING = 2, SEED_HELD_OUT = 3 };

/* alternative number taken of table drawn was taken with chance weight/total */
struct choice { uint16_t drawn, taken; uint32_t weight, total; };

/* one text, ended by a zero byte that does not count; the sum of -log_2 of the
   chances of its choices; and the choices themselves */
struct passage {
  char words[MAX_PASSAGE_LEN]; size_t length; double bits; unsigned sort;
  struct choice choices[PASSAGE_CHOICES]; size_t n_choices;
};

struct grammar;

/* the grammar in the file path, checked; owned by the caller; on failure null, and
   the sentence names the line */
struct grammar *grammar_open(struct memory *m, const char *path,
  struct error *why);

/* returns its memory; null is allowed */
void grammar_close(struct memory *m, struct grammar *g);

/* text number of seed: the same on every machine */
bool grammar_write(const struct grammar *g, uint64_t seed,
  uint64_t number, struct passage *out, struct error *why);

/* a text whose first n choices are given (one that is not allowed is replaced by a
   fresh one); the rest are those of seed 0 */
bool grammar_replay(const struct grammar *g, const uint16_t *taken,
  size_t n, struct passage *out, struct error *why);

/* how many tables there are */
size_t grammar_tables(const struct grammar *g);

/* alternative i of a table, with its length and weight; null if there is none; the
   name of the table for i == SIZE_MAX */
const char *grammar_table(const struct grammar *g, size_t number,
  size_t i, size_t *length, uint32_t *weight);
#endif
