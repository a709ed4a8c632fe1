/* model.h -- made from workshop/03-models.w; change it there */

/* N.81  model.h */

#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "families/config.h"
#include "kernels/kernels.h"

/* N.82  One layer */

struct model_layer {
  struct normalizer before_attention, before_mlp, of_queries, of_keys;
  struct matrix qkv[3], out, up[2], down;
  size_t n_qkv, n_up;
/* 1 if fused, else 3; 2 with a gate */

};

/* N.83  The whole model */

struct model {
  struct model_config config;
  struct archive *weights;
  struct tensor embedding, positions;
/* [vocab_size][d_model], [n_positions][d_model] */

  struct model_layer *layers;
  struct normalizer last;
/* before the head */

  struct matrix head;
/* [vocab_size][d_model], the embedding itself if tied */

  struct heads attention;
  float *frequency;
/* [head_dim/2], or null with learned positions */

  uint64_t layer_madds, layer_bytes, head_bytes;
};

/* N.84  The whole model */

struct model *model_open(struct memory *m, const char *directory,
                         struct error *why);
/* maps the weights of a directory in Hugging Face's layout and checks them
 * against its settings; null and a sentence that names file and field. Owned
 * by the caller; any number of threads may read it */

void model_close(struct memory *m, struct model *lm);
/* closes the files and returns the rest; null is nothing */

uint64_t model_parameters(const struct model *lm);
/* numbers in the tensors that are used, a tied head not counted twice */

#endif
