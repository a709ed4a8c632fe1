/* model.h -- made from chapters/02-model.w; change it there */

#ifndef INCIPIT_MODEL_H
#define INCIPIT_MODEL_H
#include "model/rope.h"
#include "model/kernel.h"

/* <What the model's maker suggests for sampling> */

/* what is not given has the value that does nothing */
struct sampling_defaults {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
};

/* <The settings of a model> */

/* the most end tokens that settings may name, and the most layers whose windows may
   be listed */
enum { CONFIG_MAX_EOS = 16, CONFIG_MAX_LISTED = 1024 };

/* a setting that changes nothing, and why we think so */
struct ignored_field { const char *file, *field, *reason; };

/* the settings of a model; positions, widths and counts are numbers of elements */
struct model_config {
  const char *family; /* "gpt2", "llama", ...: its model_type */
  uint32_t vocab_size, n_positions; /* tokens; the longest text */
  uint32_t d_model, d_inner, n_layers; /* numbers in a row; in the MLP's longer list */
  uint32_t n_heads, n_kv_heads, head_dim; /* of queries; of keys and values; numbers in each */
  uint32_t window; /* positions that a row sees, itself included; 0: all */
  uint32_t window_from; /* the first layer that has it */
  uint32_t sinks; /* first positions that a row with a window sees besides */
  bool window_used, window_listed;
  uint8_t windowed[CONFIG_MAX_LISTED / 8]; /* if listed, a bit for each layer */
  double norm_eps;
  bool layer_norm, learned_positions, gated; /* else RMSNorm, rotations, plain MLP */
  enum activation_kind activation;
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  bool scaled, scaled_by_layer; /* scores: by 1/sqrt(d_h), and by 1/the layer's number */
  struct rope_config rope;
  uint32_t n_eos, eos[CONFIG_MAX_EOS]; /* the ids that end a text */
  bool has_bos;
  uint32_t bos; /* the id that begins one */
  const char *eos_from; /* the file that gave the end tokens; null: none did */
  struct sampling_defaults sampling;
  struct ignored_field *ignored;
  size_t n_ignored, ignored_cap;
};

/* positions that a row sees in layer, itself included; 0: all */
uint32_t config_window(const struct model_config *c, uint32_t layer);

/* makes all layers see the last window positions, 0: all, and the first sinks;
   errors: sinks without a window, or in a model with learned positions (Xiao and
   others 2023) */
bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
  struct error *why);

/* <One layer> */

/* the weights of one layer, in the order of their use */
struct model_layer {
  struct norm attn_norm, mlp_norm; /* [d_model] each */
  struct norm q_norm, k_norm; /* [head_dim] each, if qk_norm */
  struct matrix qkv[3]; /* [n_heads*head_dim][d_model], then twice
                           [n_kv_heads*head_dim][d_model]; if fused, one of [3*d_model][d_model] */
  struct matrix out; /* [d_model][n_heads*head_dim] */
  struct matrix up[2], down; /* [d_inner][d_model] each; [d_model][d_inner] */
  size_t n_qkv, n_up; /* 1 if fused, else 3; 2 with a gate, which is up[0] */
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
  float *frequency; /* [head_dim/2], or null with learned positions */
  struct arena copies; /* of tensors whose rows the file has in another order */
  uint64_t layer_madds, layer_bytes, head_bytes;
  uint32_t matrix_types; /* bit 1 << type for each type of its matrices */
};
#endif
