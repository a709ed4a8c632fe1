/* config.h -- made from workshop/03-models.w; change it there */

/* N.10  config.h */

#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "safetensors/safetensors.h"
#include "kernels/kernels.h"
#include "families/rope.h"

/* N.14  What the model's maker suggests for sampling */

struct sampling_config {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
};
/* what is not given has the value that does nothing */

/* N.11  What the settings say */

enum { EOS_MOST = 16, LAYERS_LISTED = 1024 };
struct ignored_field {
  const char *file, *field, *reason;
};
/* a setting that changes nothing, and why we think so */

struct model_config {
  const char *family;
/* "gpt2", "llama", ...: its model_type */

  uint32_t vocab_size, n_positions, d_model, d_inner, n_layers;
  uint32_t n_heads, n_kv_heads, head_dim;
  uint32_t window;
/* positions that a row sees, itself included; 0: all */

  uint32_t window_from;
/* the first layer that has it */

  uint32_t sinks;
/* first positions that a row with a window sees besides */

  bool window_used, window_listed;
  uint8_t windowed[LAYERS_LISTED / 8];
/* if listed, a bit for each layer */

  double norm_eps;
  bool layer_norm, learned_positions, gated;
/* else RMSNorm, rotations, plain MLP */

  enum activation_kind activation;
  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
  bool scaled, scaled_by_layer;
/* scores: by 1/d_h, and by 1/the layer's number */

  struct rope_config rope;
  uint32_t n_eos, eos[EOS_MOST];
  bool has_bos;
  uint32_t bos;
  const char *eos_from;
/* the file that gave the end tokens; null: none did */

  struct sampling_config sampling;
  struct ignored_field *ignored;
  size_t n_ignored, ignored_room;
};

/* N.12  What the settings say */

bool config_open(struct model_config *c, struct memory *m, const char *directory,
                 struct error *why);
/* reads config.json and, if there, generation_config.json; every field is
 * used, known to be harmless, or an error; on failure nothing is held */

bool config_ignore(struct model_config *c, struct memory *m, const char *file,
                   const char *field, const char *reason, struct error *why);
/* adds to the list of what is ignored; field is copied, the others are not */

void config_close(struct memory *m, struct model_config *c);
/* returns the list of ignored fields */

/* N.13  What the settings say */

uint32_t config_window(const struct model_config *c, uint32_t layer);
/* positions that a row sees in layer, itself included; 0: all */

bool config_set_window(struct model_config *c, uint32_t window, uint32_t sinks,
                       struct error *why);
/* makes all layers see the last window positions, 0: all, and the first
 * sinks; errors: sinks without a window, or in a model with learned
 * positions (Xiao and others 2023) */

const struct model_config *config_family(size_t i);
/* what family number i of the table does without being told; null behind the
 * last */

bool config_reads(size_t i, const char *field);
/* whether config.json of family number i may have field and is obeyed */

#endif
