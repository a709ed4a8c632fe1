/* experts.h -- the experts of a layer: a router and many MLPs, few of which compute a
   row.
   made from chapters/02-model.w; change it there

   The matrices belong to the files, the list of experts to the model. */

#ifndef INCIPIT_EXPERTS_H
#define INCIPIT_EXPERTS_H
#include "model/settings.h"

/* the gate is up[0]; [d_expert][d_model] each, and [d_model][d_expert]. Some files
   have gate and up as one matrix of 2*d_expert outputs, which alternate; then up[1]
   is empty */
struct expert_mlp { struct matrix up[2], down; };

/* in how many matrices gate and up are */
static inline size_t expert_ups(const struct expert_mlp *x)
{ return x->up[1].weight.data == NULL ? 1 : 2; }

/* what a layer has in the place of its MLP */
struct mixture {
  struct matrix router; /* [n_experts][d_model] */
  struct expert_mlp *expert; /* [n_experts] */
  void *owned; /* the experts' matrices, if the model has made them from something else; or null */
  struct expert_mlp shared; /* of d_shared numbers; and */
  struct matrix shared_gate; /* [1][d_model]: how much of it a row takes */
};

/* an expert that row at of the pass has chosen */
struct expert_choice { uint32_t at, expert; float weight; };

/* the n_chosen experts of a row by their logits and shares, in rising order of their
   numbers */
void experts_choose(const struct model_config *c, const float *logit, const double *share,
  struct expert_choice *own);
#endif
