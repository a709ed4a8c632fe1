/* model.h -- a model in memory: its settings, and where its weights are.
   made from chapters/02-model.w; change it there

   A model does not change between its opening and its closing, so any number of
   threads may read it. The weights belong to the mapped files; only layers,
   frequencies and some gains are allocated. */

#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "model/settings.h"

/* <One layer> */
struct mixture;

/* the weights of one layer, in the order of their use */
struct model_layer {
  struct norm attn_norm, mlp_norm; /* [d_model] each */
  struct norm attn_post, mlp_post; /* the same after each half, if post_norms */
  struct norm q_norm, k_norm; /* [head_dim] each, if qk_norm; or of all heads together */
  struct matrix qkv[3]; /* [n_heads*head_dim][d_model], then twice
                           [n_kv_heads*head_dim][d_model]; if fused, one of [3*d_model][d_model] */
  struct tensor sink; /* [n_heads], if head_sinks */
  struct matrix out; /* [d_model][n_heads*head_dim] */
  struct matrix up[2], down; /* [d_inner][d_model] each; [d_model][d_inner] */
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate, which is up[0] */
  struct mixture *experts; /* in place of up and down; or null */
};

/* <The whole model> */
struct tensor_file;

/* a model: its settings and its weights, which belong to the files */
struct model {
  struct model_config config;
  struct tensor_file *weights; /* the files, mapped */
  struct tensor embedding, positions; /* [vocab_size][d_model], [n_positions][d_model] */
  struct model_layer *layers; /* [n_layers] */
  struct norm final_norm; /* [d_model], before the head */
  struct matrix head; /* [vocab_size][d_model], the embedding itself if tied */
  struct attention_dims attention; /* how many, how wide, and what scores are
                                      multiplied by */
  float *frequency; /* [rotary/2], or null with learned positions */
  float *local_frequency; /* the same for layers with a window, if they have a base of their own */
  float *long_frequency; /* the same for long texts, if they have frequencies of their own */
  bool own_gains; /* the gains of norms are not as the files have them, and belong to the model */
  enum weight_type gain_type; /* in which the file has that of final_norm */
  bool neighbours; /* whether the files have the two numbers of a rotated pair side by side */
  uint64_t layer_madds, layer_bytes, head_bytes;
  uint64_t expert_bytes; /* of all experts, which layer_bytes leaves out */
  uint32_t matrix_types; /* bit 1 << type for each type of its matrices */
};
#endif
