/* training.h -- made from workshop/12-training.w; change it there */

/* A.64  training.h */

#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "packing/rows.h"
#include "training/network.h"

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

enum { STRETCHES = 4 };
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

/* A.66  A training run from outside */

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

/* A.67  A training run from outside */

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
