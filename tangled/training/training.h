/* training.h -- made from workshop/12-training.w; change it there */

#ifndef INCIPIT_TRAINING_H
#define INCIPIT_TRAINING_H
#include "training/rows.h"
#include "training/network.h"

/* <A plan for a training run> */

/* tokens tokens, in steps of passes times sequences rows of length tokens; the rate
   falls in a straight line from from to to, after rising over warm_up steps; a
   running mean of the weights is kept if averaged */
struct training_phase { uint64_t tokens; uint32_t sequences, length, passes;
  float from, to; uint32_t warm_up; bool averaged; };

/* the most phases of a plan */
enum { TRAINING_PHASES = 4 };

/* a model, how it is trained, and the seed of its first weights */
struct training_plan { const char *name, *directory; struct model_shape form;
  struct training_phase phase[TRAINING_PHASES]; uint64_t seed; };

/* the built-in model, and its small sibling */
extern const struct training_plan training_plan_model, training_plan_draft;

/* steps of all phases */
uint64_t training_plan_steps(const struct training_plan *p);

/* tokens of all phases, as planned */
uint64_t training_plan_tokens(const struct training_plan *p);

/* <A training run from outside> */
struct trainer;

/* what has been done, the mean loss of the last step in nats, its rate */
struct training_progress { uint64_t step, tokens; float loss, rate; };

/* a run before its first step; owned by the caller, who keeps the rest */
struct trainer *trainer_open(struct memory *m, const struct training_plan *p,
  const struct kernels *k, struct pool *pool, struct dataset *s,
    struct error *why);

/* frees its memory; null is allowed */
void trainer_close(struct memory *m, struct trainer *t);

/* one step */
bool trainer_step(struct trainer *t, struct training_progress *done,
  struct error *why);

/* writes the whole state to a file */
bool trainer_save(const struct trainer *t, const char *path,
  struct error *why);

/* takes the state from a file; a run that continues from it ends in the same bits */
bool trainer_load(struct trainer *t, const char *path,
  struct training_progress *done,
  struct error *why);

/* the running mean if there is one, else the weights */
const float *trainer_weights(const struct trainer *t);

/* the network of the run */
struct network *trainer_network(const struct trainer *t);
#endif
