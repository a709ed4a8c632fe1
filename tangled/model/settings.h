/* settings.h -- made from workshop/20-inside.w; change it there */

#ifndef INCIPIT_SETTINGS_H
#define INCIPIT_SETTINGS_H
#include "model/kernel.h"
#include "model/rope.h"

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
  uint32_t d_model, d_inner, n_layers; /* numbers in a hidden state; within the MLP */
  uint32_t n_heads, n_kv_heads, head_dim; /* of queries; of keys and values; numbers in each */
  bool layer_norm, learned_positions, gated; /* else RMSNorm, rotations, plain MLP */
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  bool scaled, scaled_by_layer; /* scores: by 1/sqrt(d_h), and by 1/the layer's number */
  double norm_eps;
  enum activation_kind activation;
  struct rope_config rope;
  uint32_t window; /* positions that a row sees, itself included; 0: all */
  uint32_t window_from; /* the first layer that has it */
  uint32_t sinks; /* first positions that a row with a window sees besides */
  bool window_used, window_listed;
  uint8_t windowed[CONFIG_MAX_LISTED / 8]; /* if listed, a bit for each layer */
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
#endif
