/* training.h -- made from chapters/A1-training.w; change it there */

/* A.64  training.h */

#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "A9-corpus/corpus.h"
#include "A1-training/network.h"
#include "01-tokens/tokenizer.h"

/* A.65  A plan for a training run */

struct stretch {
  uint64_t tokens;
  uint32_t sequences, length, passes;
  float from, to;
  uint32_t warm_up;
  bool averaged;
};
/* so many tokens, in steps of passes times sequences rows of length tokens;
 * the rate falls in a straight line from from to to, after rising over
 * warm_up steps; a running mean of the weights is kept if averaged */

enum { STRETCHES = 3 };
struct plan {
  const char *name, *directory;
  struct shape form;
  struct stretch leg[STRETCHES];
  uint64_t seed;
};
/* a model, how it is trained, and the seed of its first weights */

extern const struct plan plan_model, plan_draft;
/* the built-in model, and its small sibling */

uint64_t plan_steps(const struct plan *p);
/* steps of all stretches */

uint64_t plan_tokens(const struct plan *p);
/* tokens of all stretches, as planned */

/* A.66  What feeds a training run */

enum { TOKENIZER_TEXTS = 20000, MERGES = 1791 };
bool training_merges(struct memory *m, const struct grammar *g,
                     struct bpe_merge **out, size_t *n, struct error *why);
/* learns MERGES merges from the texts of SEED_TOKENIZER; given back by
 * bpe_forget */

/* A.67  What feeds a training run */

struct source;
struct source *source_open(struct memory *m, const struct grammar *g,
                           struct tokenizer *t, uint64_t seed, struct error *why);
/* the texts of seed as rows of tokens; owned by the caller, who keeps g and
 * t */

void source_close(struct memory *m, struct source *s);
/* returns its memory; null is nothing */

bool source_row(struct source *s, uint32_t * row, size_t n, struct error *why);
/* the next row of n tokens, from the beginning of a text on */

uint64_t source_at(const struct source *s);
/* the number of the next text */

void source_seek(struct source *s, uint64_t at);
/* goes on with text at */

/* A.68  A training run from outside */

struct trainer;
struct progress {
  uint64_t step, tokens;
  float loss, rate;
};
/* what has been done, the mean loss of the last step in nats, its rate */

struct trainer *trainer_open(struct memory *m, const struct plan *p,
                             const struct kernels *k, struct pool *crew,
                             struct source *s, struct error *why);
/* a run before its first step; owned by the caller, who keeps the rest */

void trainer_close(struct memory *m, struct trainer *t);
/* returns its memory; null is nothing */

bool trainer_step(struct trainer *t, struct progress *done, struct error *why);
/* one step */

/* A.69  A training run from outside */

bool trainer_save(const struct trainer *t, const char *path, struct error *why);
/* writes the whole state to a file */

bool trainer_load(struct trainer *t, const char *path,
                  struct progress *done, struct error *why);
/* takes the state from a file; a run that goes on from it ends in the same
 * bits */

const float *trainer_weights(const struct trainer *t);
/* the running mean if there is one, else the weights */

struct network *trainer_network(const struct trainer *t);
/* the network of the run */

#endif
