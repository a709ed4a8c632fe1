/* built_in.h -- the built-in model and its tokenizer, as wasm/snapshot.c writes them into a file of C. */

#ifndef INCIPIT_WASM_BUILT_IN_H
#define INCIPIT_WASM_BUILT_IN_H
#include "model/model.h"
#include "tokens/bpe.h"

/* where a tensor begins in the weights, and its type */
struct built_in_tensor { uint32_t at; enum weight_type type; };

/* what a model and a byte-level tokenizer were when they had been opened. setting: the value of each row of
   model/settings.inc; tensor: embedding, last norm, then for each layer its two norms, queries, keys, values, what
   comes after attention, gate, up, down */
struct built_in {
  double setting[N_MODEL_SETTINGS];
  const char *family;
  struct rope_config rope;
  uint32_t n_eos, eos[CONFIG_MAX_EOS];
  bool has_bos; uint32_t bos;
  float scale;
  uint64_t layer_madds, layer_bytes, head_bytes;
  uint32_t matrix_types;
  bool neighbours;
  const float *frequency; /* [head_dim/2] */
  const struct built_in_tensor *tensor;
  const unsigned char *weights;
  const struct bpe_merge *merge; size_t n_merges;
};

extern const struct built_in built_in;
#endif
