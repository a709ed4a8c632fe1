/* config.h -- made from chapters/A3-files.w; change it there */

/* C.47  config.h */

#ifndef INCIPIT_CONFIG_H
#define INCIPIT_CONFIG_H
#include "A3-files/safetensors.h"

/* C.50  Where the rotations get their frequencies */

struct rope_config {
  bool llama3;
/* stretched, else plain */

  double theta, factor, low_freq_factor, high_freq_factor;
  uint32_t original;
/* positions that the model was first trained on */

};

/* C.51  What the model's maker suggests for sampling */

struct sampling_config {
  bool do_sample;
  double temperature, top_p, min_p, typical_p, repetition_penalty;
  uint32_t top_k, no_repeat_ngram_size;
};
/* what is not given has the value that does nothing */

/* C.48  What the settings say */

enum { EOS_MOST = 16 };
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

  double norm_eps;
  bool layer_norm, learned_positions, gated;
/* else RMSNorm, rotations, plain MLP */

  bool qkv_bias, out_bias, mlp_bias, qk_norm, tied;
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

/* C.49  What the settings say */

bool config_open(struct model_config *c, struct memory *m, const char *directory,
                 struct error *why);
/* reads config.json and, if there, generation_config.json; every field is
 * used, known to be harmless, or an error; on failure nothing is held */

bool config_ignore(struct model_config *c, struct memory *m, const char *file,
                   const char *field, const char *reason, struct error *why);
/* adds to the list of what is ignored; field is copied, the others are not */

void config_close(struct memory *m, struct model_config *c);
/* returns the list of ignored fields */

#endif
