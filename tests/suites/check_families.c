/* Settings of model directories: which change the answer, which are refused, and how; stretched
   rotations. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <math.h>
#include "variants.h"
#include "safetensors/tensor_file.h"
#include "families/families.h"
#include "families/rope_scaling.h"
#include "functions/numbers.h"
#include "kernels/kernels.h"
#include "cache/cache.h"

/* rewrites model.safetensors with one tensor changed: `what' is drop, rename X, type X, shape [..]
 * (its bytes cut or padded), shift, twice X, doubles (if no name is given, of every tensor; no double is a float, but
 * each is nearest to the float that it was) */
static void as_doubles(const unsigned char *from, unsigned char *to, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    float x;
    memcpy(&x, from + 4 * i, sizeof x);
    double wide = x * (1 + (i % 2 ? -0x1p-26 : 0x1p-26));
    memcpy(to + 8 * i, &wide, sizeof wide);
  }
}

static void variant_tensor(const char *dir, const char *name, const char *what)
{
  char path[400];
  size_t n, header, at = 0;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n), *out = calloc(1, 2 * n + 4096),
                *data = calloc(1, 2 * n + 4096);
  uint64_t length;
  memcpy(&length, b, 8);
  header = (size_t) length;
  json_t *o = json_loadb((char *) b + 8, header, 0, NULL), *made = json_object();
  for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
    const char *key = json_object_iter_key(i);
    json_t *e = json_deep_copy(json_object_iter_value(i));
    if (strcmp(key, "__metadata__") == 0) {
      json_decref(e);
      continue;
    }
    json_t *two = json_object_get(e, "data_offsets");
    size_t a = (size_t) json_integer_value(json_array_get(two, 0)),
           z = (size_t) json_integer_value(json_array_get(two, 1));
    size_t bytes = z - a;
    const char *to = key;
    if (name && strcmp(key, name) == 0) {
      if (strcmp(what, "drop") == 0) {
        json_decref(e);
        continue;
      }
      if (strncmp(what, "rename ", 7) == 0) to = what + 7;
      if (strncmp(what, "type ", 5) == 0) json_object_set_new(e, "dtype", json_string(what + 5));
      if (strncmp(what, "shape ", 6) == 0) {
        json_t *shape = json_loads(what + 6, 0, NULL);
        bytes = 4;
        for (size_t k = 0; k < json_array_size(shape); k++)
          bytes *= (size_t) json_integer_value(json_array_get(shape, k));
        json_object_set_new(e, "shape", shape);
      }
    }
    if (strcmp(what, "doubles") == 0 && (name == NULL || strcmp(key, name) == 0)) {
      ck_assert_str_eq(json_string_value(json_object_get(e, "dtype")), "F32");
      json_object_set_new(e, "dtype", json_string("F64"));
      as_doubles(b + 8 + header + a, data + at, bytes / 4);
      bytes *= 2;
    } else memcpy(data + at, b + 8 + header + a, bytes < z - a ? bytes : z - a);
    json_object_set_new(e, "data_offsets", json_pack("[i,i]", (int) at, (int) (at + bytes)));
    at += bytes;
    json_object_set_new(made, to, e);
    if (strncmp(what, "twice ", 6) != 0 || strcmp(key, name) != 0) continue;
    memcpy(data + at, data + at - bytes, bytes);
    json_object_set_new(made, what + 6, e = json_deep_copy(e));
    json_object_set_new(e, "data_offsets", json_pack("[i,i]", (int) at, (int) (at + bytes)));
    at += bytes;
  }
  char *text = json_dumps(made, JSON_COMPACT);
  size_t used = strlen(text);
  size_t pad = 8 - used % 8; /* with shift, the data begin at an odd address */
  if (strcmp(what, "shift") == 0 && (used + pad) % 2 == 0) pad++;
  length = used + pad;
  memcpy(out, &length, 8);
  memcpy(out + 8, text, used);
  memset(out + 8 + used, ' ', pad);
  memcpy(out + 8 + length, data, at);
  spill(path, out, 8 + length + at);
  free(text), free(out), free(data), free(b);
  json_decref(o), json_decref(made);
}

/* ---- files that must be refused, by the words of the refusal: file, field, found, wanted */
static const struct defect {
  const char *base, *file, *field, *edit;
  const char *words[4];
} defect[] = {
  { "gpt2", "config.json", "n_embd", "\"12\"",
    { "config.json", "n_embd", "\"12\"", "an integer from 1" } },
  { "gpt2", "config.json", "n_embd", "12.0",
    { "config.json", "n_embd", "12.0", "an integer from 1" } },
  { "gpt2", "config.json", "n_embd", NULL, { "config.json", "n_embd", "missing", "a value" } },
  { "gpt2", "config.json", "n_embd", "null", { "config.json", "n_embd", "null", "a value" } },
  { "gpt2", "config.json", "n_embd", "0", { "config.json", "n_embd", "0", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "true",
    { "config.json", "n_layer", "true", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "-1",
    { "config.json", "n_layer", "-1", "an integer from 1" } },
  { "gpt2", "config.json", "n_layer", "2147483647",
    { "model.safetensors", "this", "2147483647 layers", "no more layers than" } },
  { "gpt2", "config.json", "n_layer", "3",
    { "model.safetensors", "h.2.ln_1.weight", "missing", "[12]" } },
  { "gpt2", "config.json", "n_layer", "1",
    { "model.safetensors", "h.1.attn.c_attn.bias", "without use", "the settings call for" } },
  { "gpt2", "config.json", "n_head", "5",
    { "config.json", "n_head", "5", "a divisor of the width" } },
  { "gpt2", "config.json", "n_positions", "13",
    { "config.json", "n_ctx", "12", "the same as n_positions" } },
  { "gpt2", "config.json", "vocab_size", "4611686018427387904",
    { "config.json", "vocab_size", "4611686018427387904", "to 2147483647" } },
  { "gpt2", "config.json", "vocab_size", "21",
    { "model.safetensors", "wte.weight", "[20, 12]", "[21, 12]" } },
  { "gpt2", "config.json", "activation_function", "\"relu\"",
    { "config.json", "activation_function", "\"relu\"", "gelu_new" } },
  { "gpt2", "config.json", "layer_norm_epsilon", "-1e-5",
    { "config.json", "layer_norm_epsilon", "-1", "a number from 0 to 1" } },
  { "gpt2", "config.json", "scale_attn_weights", "0",
    { "config.json", "scale_attn_weights", "0", "true or false" } },
  { "gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "2",
    { "config.json", "scale_attn_by_inverse_layer_idx", "2", "true or false" } },
  { "gpt2", "config.json", "logits_scaling", "8.0",
    { "config.json", "logits_scaling", "8.0", "no such factor" } },
  { "gpt2", "config.json", "sliding_window", "4",
    { "config.json", "sliding_window", "4", "knows" } },
  { "llama", "config.json", "logit_scale", "0.0625",
    { "config.json", "logit_scale", "0.0625", "no such factor" } },
  { "llama", "config.json", "residual_multiplier", "0.22",
    { "config.json", "residual_multiplier", "0.22", "no such factor" } },
  { "llama", "config.json", "embedding_multiplier", "12",
    { "config.json", "embedding_multiplier", "12", "no such factor" } },
  { "llama", "config.json", "partial_rotary_factor", "0.5",
    { "config.json", "partial_rotary_factor", "0.5", "no such factor" } },
  { "llama", "config.json", "attention_multiplier", "0.015625",
    { "config.json", "attention_multiplier", "0.015625", "knows" } },
  { "llama", "config.json", "attn_logit_softcapping", "50.0",
    { "config.json", "attn_logit_softcapping", "50.0", "knows" } },
  { "llama", "config.json", "final_logit_softcapping", "30.0",
    { "config.json", "final_logit_softcapping", "30.0", "knows" } },
  { "llama", "config.json", "clip_qkv", "8.0", { "config.json", "clip_qkv", "8.0", "knows" } },
  { "llama", "config.json", "max_window_layers", "1",
    { "config.json", "max_window_layers", "1", "knows" } },
  { "llama", "config.json", "layer_types", "[\"full_attention\"]",
    { "config.json", "layer_types", "[\"full_attention\"]", "a word for each layer" } },
  { "llama", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]",
    { "config.json", "layer_types", "sliding", "there is no window" } },
  { "gpt2", "config.json", "tie_word_embeddings", "1",
    { "config.json", "tie_word_embeddings", "1", "true or false" } },
  { "gpt2", "config.json", "tie_word_embeddings", "false",
    { "model.safetensors", "lm_head.weight", "missing", "[20, 12]" } },
  { "gpt2", "config.json", "add_cross_attention", "true",
    { "config.json", "add_cross_attention", "true", "knows" } },
  { "gpt2", "config.json", "some_future_switch", "0.5",
    { "config.json", "some_future_switch", "0.5", "knows" } },
  { "gpt2", "config.json", "eos_token_id", "-1",
    { "config.json", "eos_token_id", "-1", "an id or a list of ids" } },
  { "gpt2", "config.json", "eos_token_id", "[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]",
    { "config.json", "eos_token_id", "[1,2,3", "at most 16 ids" } },
  { "gpt2", "config.json", "bos_token_id", "\"a\"",
    { "config.json", "bos_token_id", "\"a\"", "an integer from 0" } },
  { "gpt2", "config.json", "architectures", "[\"GPT2ForSequenceClassification\"]",
    { "config.json", "architectures", "GPT2ForSequenceC", "GPT2LMHeadModel" } },
  { "gpt2", "config.json", "model_type", "\"opt\"",
    { "config.json", "model_type", "\"opt\"", "gpt2, llama" } },
  { "gpt2", "config.json", "model_type", NULL,
    { "config.json", "model_type", "missing", "gpt2, llama" } },
  { "gpt2", "generation_config.json", "top_p", "1.5",
    { "generation_config.json", "top_p", "1.5", "a number from 0 to 1" } },
  { "gpt2", "generation_config.json", "do_sample", "1",
    { "generation_config.json", "do_sample", "1", "true or false" } },
  { "gpt2", "generation_config.json", "suppress_tokens", "[3]",
    { "generation_config.json", "suppress_tokens", "[3]", "knows" } },
  { "llama", "config.json", "num_key_value_heads", "3",
    { "config.json", "num_attention_heads", "4", "a multiple of num_key_value_heads" } },
  { "llama", "config.json", "num_key_value_heads", "4",
    { "model-0000", "self_attn.k_proj.weight", "[8, 16]", "[16, 16]" } },
  { "llama", "config.json", "head_dim", "3", { "config.json", "head_dim", "3", "an even number" } },
  { "llama", "config.json", "hidden_act", "\"relu\"",
    { "config.json", "hidden_act", "\"relu\"", "silu" } },
  { "llama", "config.json", "attention_bias", "true",
    { "model.safetensors.index.json", "self_attn.q_proj.bias", "missing", "[16]" } },
  { "llama", "config.json", "rope_scaling", "{\"type\":\"ntk\",\"factor\":2}",
    { "config.json", "rope_scaling", "\"ntk\"", "linear, dynamic, llama3 or yarn" } },
  { "llama", "config.json", "rope_scaling", "{\"type\":\"dynamic\",\"alpha\":2}",
    { "config.json", "alpha", "2", "knows" } },
  { "families/ministral3", "config.json", "rope_parameters", NULL,
    { "config.json", "rope_parameters", "missing", "no default here" } },
  { "families/stablelm", "config.json", "num_key_value_heads", "null",
    { "config.json", "num_key_value_heads", "null", "a value" } },
  { "llama", "config.json", "rope_scaling", "{\"rope_type\":\"longrope\",\"short_factor\":[1]}",
    { "config.json", "rope_scaling", "\"longrope\"", "linear, dynamic, llama3 or yarn" } },
  { "llama", "config.json", "rope_scaling", "{\"type\":\"default\",\"factor\":3}",
    { "config.json", "factor", "3", "knows" } },
  { "llama-linear", "config.json", "rope_scaling.factor", "0.5",
    { "config.json", "factor", "0.5", "a number from 1" } },
  { "llama-linear", "config.json", "rope_scaling.original_max_position_embeddings", "8",
    { "config.json", "original_max_position_embeddings", "8", "knows" } },
  { "llama-linear", "config.json", "rope_scaling.partial_rotary_factor", "0.25",
    { "config.json", "partial_rotary_factor", "0.25", "no such factor" } },
  { "llama-yarn", "config.json", "rope_parameters.beta_slow", "2.0",
    { "config.json", "rope_parameters", "\"beta_slow\":2.0", "beta_fast above beta_slow" } },
  { "llama-yarn", "config.json", "rope_parameters.rope_theta", "1",
    { "config.json", "rope_parameters", "\"beta_fast\":1.0", "a rope_theta above 1" } },
  { "llama-yarn", "config.json", "rope_parameters.attention_factor", "\"1\"",
    { "config.json", "attention_factor", "\"1\"", "a number from" } },
  { "llama-yarn", "config.json", "rope_parameters.mscale", "-1",
    { "config.json", "mscale", "-1", "a number from 0" } },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "1",
    { "config.json", "truncate", "1", "true or false" } },
  { "llama-yarn", "config.json", "rope_parameters.high_freq_factor", "4",
    { "config.json", "high_freq_factor", "4", "knows" } },
  { "llama", "config.json", "rope_scaling", "7",
    { "config.json", "rope_scaling", "7", "an object or null" } },
  { "llama", "config.json", "rope_theta", "0",
    { "config.json", "rope_theta", "0", "a number from 1" } },
  { "llama", "config.json", "rope_parameters", "{\"rope_type\":\"default\",\"rope_theta\":500}",
    { "config.json", "rope_theta", "10000", "rope_parameters" } },
  { "llama", "config.json", "quantization_config", "{\"bits\":4}",
    { "config.json", "quantization_config", "quantized by bitsandbytes", "F32, F16 or BF16" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"../x\"",
    { "index.json", "lm_head.weight", "../x", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "\"/etc/passwd\"",
    { "index.json", "lm_head.weight", "/etc/passwd", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", "3",
    { "index.json", "lm_head.weight", "3", "same directory" } },
  { "llama", "model.safetensors.index.json", "weight_map.lm_head.weight", NULL,
    { "index.json", "weight_map", "20 tensors", "21" } },
  { "llama", "model.safetensors.index.json", "weight_map.nobody",
    "\"model-00001-of-00002.safetensors\"",
    { "index.json", "nobody", "model-00001", "the file that has" } },
  { "llama", "model.safetensors.index.json", "weight_map", "[]",
    { "index.json", "weight_map", "[]", "an object" } },
  { "llama-stretched", "config.json", "rope_parameters.factor", NULL,
    { "config.json", "factor", "missing", "a value" } },
  { "llama-stretched", "config.json", "rope_parameters.factor", "\"4\"",
    { "config.json", "factor", "\"4\"", "a number from 1" } },
  { "llama-stretched", "config.json", "rope_parameters.high_freq_factor", "1.0",
    { "config.json", "rope_parameters", "high_freq", "above low_freq_factor" } },
  { "llama-stretched", "config.json", "rope_parameters.beta_fast", "32",
    { "config.json", "beta_fast", "32", "knows" } },
  { "mistral", "config.json", "sliding_window", "0",
    { "config.json", "sliding_window", "0", "an integer from 1" } },
  { "mistral", "config.json", "layer_types", "[\"full_attention\",\"sliding_attention\"]",
    { "config.json", "layer_types", "full", "sliding_attention" } },
  { "mistral", "config.json", "num_key_value_heads", NULL,
    { "config.json", "num_key_value_heads", "missing", "a value" } },
  { "mistral", "config.json", "use_sliding_window", "true",
    { "config.json", "use_sliding_window", "true", "knows" } },
  { "qwen2", "config.json", "use_sliding_window", "1",
    { "config.json", "use_sliding_window", "1", "true or false" } },
  { "qwen2", "config.json", "max_window_layers", "-1",
    { "config.json", "max_window_layers", "-1", "an integer from 0" } },
  { "qwen3-layers", "config.json", "layer_types",
    "[\"full_attention\",\"full_attention\",\"chunked_attention\"]",
    { "config.json", "layer_types", "[", "full_attention or sliding_attention" } },
  { "qwen3-layers", "config.json", "layer_types", "7",
    { "config.json", "layer_types", "7", "a word for each layer" } },
  { "qwen3-layers", "config.json", "use_sliding_window", "false",
    { "config.json", "layer_types", "[\"sliding_attention\"", "there is no window" } },
  { "families/mixtral", "config.json", "num_local_experts", NULL,
    { "config.json", "num_experts", "missing", "a value" } },
  { "families/mixtral", "config.json", "num_experts", "5",
    { "config.json", "num_experts", "5", "both of its names" } },
  { "families/mixtral", "config.json", "num_experts_per_tok", "5",
    { "config.json", "num_experts_per_tok", "5", "at most the number of experts" } },
  { "families/qwen3_moe", "config.json", "num_experts", "1025",
    { "config.json", "num_experts", "1025", "an integer from 1 to 1024" } },
  { "families/qwen3_moe", "config.json", "mlp_only_layers", "[-1]",
    { "config.json", "mlp_only_layers", "-1", "numbers of layers" } },
  { "families/qwen3_moe", "config.json", "mlp_only_layers", "1",
    { "config.json", "mlp_only_layers", "1", "a list of layers" } },
  { "families/qwen3_moe", "config.json", "use_sliding_window", "true",
    { "config.json", "use_sliding_window", "true", "no model of this family" } },
  { "families/olmoe", "config.json", "num_experts", "7",
    { "model.safetensors", "mlp.gate.weight", "[6, 16]", "[7, 16]" } },
  { "families/qwen2_moe", "config.json", "shared_expert_intermediate_size", "6",
    { "model.safetensors", "shared_expert.gate_proj.weight", "[25, 16]", "[6, 16]" } },
  { "families/gpt_oss", "config.json", "swiglu_limit", "0",
    { "config.json", "swiglu_limit", "0", "a number from 1e-09" } },
  { "families/gpt_oss", "config.json", "rope_parameters", NULL,
    { "config.json", "rope_", "missing", "a value: it has no default" } },
  { "families/gpt_oss", "config.json", "attention_bias", "false",
    { "model.safetensors", "self_attn.k_proj.bias", "without use", "the settings call for" } },
  { "families/gpt_oss-mxfp4", "config.json", "experts_per_token", "1",
    { "config.json", "experts_per_token", "1", "the same as num_experts_per_tok" } },
  { "families/gpt_oss-mxfp4", "config.json", "quantization_config.quant_method", "\"awq\"",
    { "config.json", "quantization_config", "awq", "the model before that" } },
  { "families/gpt_oss-mxfp4", "config.json", "intermediate_size", "48",
    { "model.safetensors", "32 numbers", "rows of 32 and 48", "multiples of 32" } },
  { "families/gpt_oss-mxfp4", "config.json", "intermediate_size", "64",
    { "model.safetensors", "gate_up_proj_blocks", "[3, 64, 1, 16]", "[3, 128, 1, 16]" } },
  { "qwen2", "config.json", "max_position_embeddings", "-16",
    { "config.json", "max_position_embeddings", "-16", "an integer" } },
};
static const struct {
  const char *name, *edit;
  const char *words[4];
} tensor_defect[] = {
  { "transformer.h.1.ln_2.bias", "drop",
    { "model.safetensors", "h.1.ln_2.bias", "missing", "[12]" } },
  { "transformer.h.1.ln_2.bias", "shape [11]",
    { "model.safetensors", "h.1.ln_2.bias", "[11]", "[12]" } },
  { "transformer.h.1.ln_2.bias", "shape [1,12]",
    { "model.safetensors", "h.1.ln_2.bias", "[1, 12]", "[12]" } },
  { "transformer.h.1.ln_2.bias", "type I32",
    { "model.safetensors", "h.1.ln_2.bias", "I32", "F32, F16 or BF16" } },
  { "transformer.h.1.attn.c_attn.weight", "type I32",
    { "model.safetensors", "h.1.attn.c_attn.weight", "is I32", "wanted: F32, F16 or BF16" } },
  { "transformer.h.1.ln_2.bias", "type F23",
    { "model.safetensors", "h.1.ln_2.bias", "F23", "a type of the format" } },
  { "transformer.h.1.ln_2.bias", "type F64",
    { "model.safetensors", "h.1.ln_2.bias", "[", "as many bytes" } },
  { "transformer.wpe.weight", "shape [10,12]",
    { "model.safetensors", "wpe.weight", "[10, 12]", "[12, 12]" } },
  { "transformer.h.0.attn.c_attn.weight", "shape [36,12]",
    { "model.safetensors", "attn.c_attn.weight", "[36, 12]", "[12, 36]" } },
  { "transformer.ln_f.bias", "rename transformer.ln_f.offset",
    { "model.safetensors", "ln_f.bias", "missing", "[12]" } },
};
/* the same of another model */
static const struct {
  const char *base, *name, *edit;
  const char *words[4];
} expert_defect[] = {
  { "families/gpt_oss", "model.layers.1.self_attn.sinks", "drop",
    { "model.safetensors", "layers.1.self_attn.sinks", "missing", "[4]" } },
  { "families/gpt_oss", "model.layers.1.self_attn.sinks", "shape [3]",
    { "model.safetensors", "layers.1.self_attn.sinks", "[3]", "[4]" } },
  { "families/gpt_oss", "model.layers.0.mlp.experts.gate_up_proj", "shape [4,16,12]",
    { "model.safetensors", "experts.gate_up_proj", "[4, 16, 12]", "[4, 12, 16]" } },
  { "families/gpt_oss", "model.layers.2.mlp.experts.gate_up_proj_bias", "shape [16,4]",
    { "model.safetensors", "experts.gate_up_proj_bias", "[16, 4]", "[4, 16]" } },
  { "families/gpt_oss", "model.layers.0.mlp.router.bias", "drop",
    { "model.safetensors", "mlp.router.bias", "missing", "[4]" } },
  { "families/gpt_oss-mxfp4", "model.layers.0.mlp.experts.gate_up_proj_scales", "drop",
    { "model.safetensors", "experts.gate_up_proj_scales", "missing", "[3, 64, 1]" } },
  { "families/gpt_oss-mxfp4", "model.layers.1.mlp.experts.down_proj_blocks", "drop",
    { "model.safetensors", "layers.1.mlp.experts.down_proj_blocks", "missing", "[3, 32, 1, 16]" } },
  { "families/gpt_oss-mxfp4", "model.layers.2.mlp.experts.down_proj_blocks", "type I8",
    { "model.safetensors", "experts.down_proj_blocks", "I8", "U8" } },
  { "families/gpt_oss-mxfp4", "model.layers.1.mlp.experts.down_proj_scales", "type BOOL",
    { "model.safetensors", "experts.down_proj_scales", "BOOL", "U8" } },
  { "families/gpt_oss-mxfp4", "model.layers.2.mlp.experts.gate_up_proj_blocks", "drop",
    { "model.safetensors", "layers.2.mlp.experts.gate_up_proj", "missing", "[3, 32, 64]" } },
  /* a tensor is called by the one of its two names that the file has, and a shape that is cut does not look whole */
  { "families/falcon", "transformer.h.1.ln_attn.weight", "shape [1,16]",
    { "model.safetensors", "h.1.ln_attn.weight", "is [1, 16]", "wanted: [16]" } },
  { "families/falcon", "transformer.ln_f.weight", "shape [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,16]",
    { "model.safetensors", "ln_f.weight", "is [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1...;", "wanted: [16]" } },
};
static char messages[160][400];
static int n_messages;
static void remember_message(const char *dir, const char *words)
{
  const char *at = strstr(words, dir);
  snprintf(messages[n_messages], 400, "%s", at ? at + strlen(dir) : words);
  for (int i = 0; i < n_messages; i++)
    ck_assert_msg(
      strcmp(messages[i], messages[n_messages]) != 0, "two defects, one message: %s", words);
  n_messages++;
}
static void expect_refusal(const char *dir, const char *const *words)
{
  struct memory m = { 0 };
  struct error why = { "" };
  ck_assert_ptr_null(model_open(&m, dir, &why));
  ck_assert_uint_eq(m.all.live, 0);
  for (int i = 0; i < 4; i++)
    ck_assert_msg(strstr(why.text, words[i]) != NULL, "\"%s\" is not in: %s", words[i], why.text);
  remember_message(dir, why.text);
}
START_TEST(refusals_name_file_field_found_wanted)
{
  char dir[200];
  unsigned n = 0;
  for (size_t i = 0; i < sizeof defect / sizeof defect[0]; i++, n++) {
    variant_make(dir, defect[i].base);
    variant_json(dir, defect[i].file, defect[i].field, defect[i].edit);
    expect_refusal(dir, defect[i].words);
    variant_drop(dir);
  }
  for (size_t i = 0; i < sizeof tensor_defect / sizeof tensor_defect[0]; i++, n++) {
    variant_make(dir, "gpt2");
    variant_tensor(dir, tensor_defect[i].name, tensor_defect[i].edit);
    expect_refusal(dir, tensor_defect[i].words);
    variant_drop(dir);
  }
  for (size_t i = 0; i < sizeof expert_defect / sizeof expert_defect[0]; i++, n++) {
    variant_make(dir, expert_defect[i].base);
    variant_tensor(dir, expert_defect[i].name, expert_defect[i].edit);
    expect_refusal(dir, expert_defect[i].words);
    variant_drop(dir);
  }
  tally("refusals of directories", n, 0, 0, "");
}
END_TEST

/* a model is opened for a table of kernels; what that cannot multiply is refused then, and once more
   by a pass with another table than the model was opened for */
START_TEST(types_that_the_kernels_cannot_multiply_are_refused)
{
  char dir[200];
  struct kernels few = *kernels_find(NULL, NULL);
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct error why = { "" };
  const uint32_t ids[3] = { 3, 1, 4 };
  const size_t last = 2;
  float logits[64];
  variant_make(dir, "gpt2");
  struct model *lm = model_open_with(&m, dir, &(struct model_open_options) { .k = &few }, &why);
  ck_assert_msg(lm != NULL && lm->matrix_types == 1u << WEIGHT_F32, "%s", why.text);
  ck_assert_uint_le(lm->config.vocab_size, 64);
  struct store *s = cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, &why);
  struct engine e = { .k = &few, .c = &c };
  ck_assert(model_evaluate(&e, lm, s, ids, 3, &last, 1, logits, &why));
  few.matrix_types = 1u << WEIGHT_F16 | 1u << WEIGHT_BF16;
  ck_assert(!model_evaluate(&e, lm, s, ids, 3, &last, 1, logits, &why));
  ck_assert_msg(strstr(why.text, "model.safetensors: matrices of F32; wanted: F16 or BF16, which")
      != NULL, "%s", why.text);
  ck_assert_uint_eq(c.passes, 1);
  store_close(s), model_close(&m, lm);
  ck_assert_ptr_null(model_open_with(&m, dir, &(struct model_open_options) { .k = &few }, &why));
  ck_assert_msg(strstr(why.text, "model.safetensors: transformer.wte.weight") != NULL
    && strstr(why.text, "F32; wanted: F16 or BF16") != NULL, "%s", why.text);
  few.matrix_types = 1u << WEIGHT_F32; /* blocks that the loader would make */
  ck_assert_ptr_null(model_open_with(&m, "tests/golden/families/gpt_oss-mxfp4",
    &(struct model_open_options) { .k = &few }, &why));
  ck_assert_msg(strstr(why.text, "model.safetensors: experts in MXFP4; wanted: a type of the kernels") != NULL, "%s", why.text);
  ck_assert_uint_eq(m.all.live, 0);
  variant_drop(dir);
}
END_TEST

/* ---- layouts: the same model under other names, with its matrices turned or the rows of its heads
   in another order, has the same logits, if the layout says so */
static bool layout_answer(
  const char *dir, const struct tensor_layout *l, float *logits, size_t *n, struct error *why)
{
  struct memory m = { 0 };
  struct counters c = { 0 };
  struct engine e = { .k = kernels_find(NULL, NULL), .c = &c };
  uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
  size_t last = 7;
  struct model *lm = model_open_with(&m, dir,
    &(struct model_open_options) { .k = e.k, .layout = l }, why);
  struct store *s = lm == NULL ? NULL : cache_open(&m, &lm->config, 1, &(struct cache_options){ .rows = 0 }, why);
  bool ok = s != NULL && model_evaluate(&e, lm, s, ids, 8, &last, 1, logits, why);
  if (lm != NULL) *n = lm->config.vocab_size;
  ck_assert(lm == NULL || (m.of[MEMORY_WEIGHTS].live == 0 && lm->neighbours == (l != NULL && l->of[TENSOR_Q].permuted)));
  store_close(s), model_close(&m, lm);
  ck_assert_uint_eq(m.all.live, 0);
  return ok;
}
/* moves the numbers of every tensor with |part| in its name: number |i| goes to |place(t, i, d)| */
static void move_numbers(const char *dir, const char *part, size_t d,
  size_t (*place)(const struct tensor_entry *t, size_t i, size_t d))
{
  char path[400];
  size_t n;
  uint64_t header;
  struct memory m = { 0 };
  struct error why;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n), *out = malloc(n);
  memcpy(&header, b, 8), memcpy(out, b, n);
  struct tensor_file *w = tensor_file_open(&m, dir, &why);
  for (size_t k = 0; k < tensor_file_count(w); k++) {
    const struct tensor_entry *t = tensor_file_at(w, k);
    size_t one = weight_row_bytes(t->type, 1), at = 8 + header + t->begin;
    if (strstr(t->name, part) == NULL) continue;
    for (size_t i = 0; i < t->elements; i++)
      memcpy(out + at + place(t, i, d) * one, b + at + i * one, one);
  }
  tensor_file_close(&m, w);
  spill(path, out, n);
  free(b), free(out);
}
static size_t as_neighbours(const struct tensor_entry *t, size_t i, size_t d)
{
  size_t columns = t->rank == 2 ? t->shape[1] : 1, r = i / columns, half = d / 2;
  size_t to = r / d * d + (r % d < half ? 2 * (r % d) : 2 * (r % d - half) + 1);
  return to * columns + i % columns;
}
static size_t as_transpose(const struct tensor_entry *t, size_t i, size_t d)
{
  (void) d;
  return i % t->shape[1] * t->shape[0] + i / t->shape[1];
}
/* a row of a table that was not filled in is found here, by name */
START_TEST(the_tables_of_families_and_settings_are_whole)
{
  for (int i = 0; i < N_FAMILIES; i++) {
    const struct family_row *f = &model_families[i];
    ck_assert_msg(f->type != NULL && f->architecture != NULL && (f->gguf != NULL) == (f->layout[1] != NULL), "family %d has no row", i);
    ck_assert_msg(f->always.family != NULL && strcmp(f->always.family, f->type) == 0
      && family_named(f->type) == f, "%s", f->type);
    const struct tensor_layout *a = layout_find("safetensors", f->type), *b = layout_find("gguf", f->type);
    ck_assert_msg(a != NULL && strcmp(a->name, f->layout[0]) == 0
      && (b != NULL ? f->layout[1] != NULL && strcmp(b->name, f->layout[1]) == 0 : f->layout[1] == NULL), "%s: its layouts", f->type);
    ck_assert_msg(config_reads((size_t) i, "vocab_size"), "%s", f->type);
  }
  ck_assert(config_family(N_FAMILIES) == NULL && family_named("another") == NULL);
  for (int i = 0; i < N_MODEL_SETTINGS; i++) {
    const struct setting *s = &config_setting[i];
    struct model_config c = { .family = NULL };
    ck_assert_msg(s->name != NULL && s->at < sizeof c && s->min < s->max, "setting %d", i);
    for (int k = 0; k < i; k++) ck_assert_msg(config_setting[k].at < s->at, "%s", s->name);
    ck_assert(setting_value(s, &c) == 0);
    setting_put(s, &c, 1);
    for (int k = 0; k < N_MODEL_SETTINGS; k++)
      ck_assert_msg(setting_value(&config_setting[k], &c) == (k == i), "%s", s->name);
  }
}
END_TEST
START_TEST(a_layout_says_how_a_file_has_its_tensors)
{
  static float want[1000], got[1000];
  static const struct { const char *part, *shape; } turned[] = { { "attn.c_attn.weight", "[36,12]" },
    { "attn.c_proj.weight", "[12,12]" }, { "mlp.c_fc.weight", "[48,12]" },
    { "mlp.c_proj.weight", "[12,48]" } };
  char dir[200], name[200], edit[200];
  struct error why = { "" };
  size_t n = 0, d = 0;
  struct tensor_layout l = *layout_find("safetensors", "qwen2");
  ck_assert(strcmp(l.name, "hf-llama") == 0 && !layout_fused(&l));
  variant_make(dir, "qwen2");
  struct rig r;
  ck_assert(rig_open(&r, dir, NULL, 1, 1));
  d = r.lm->config.head_dim;
  ck_assert(d >= 4 && r.lm->config.qkv_bias);
  store_close(r.s), model_close(&r.m, r.lm);
  ck_assert_msg(layout_answer(dir, NULL, want, &n, &why), "%s", why.text);
  move_numbers(dir, "q_proj", d, as_neighbours), move_numbers(dir, "k_proj", d, as_neighbours);
  ck_assert(layout_answer(dir, &l, got, &n, &why) && memcmp(got, want, n * sizeof *got) != 0);
  l.of[TENSOR_Q].permuted = l.of[TENSOR_K].permuted = true;
  ck_assert_msg(layout_answer(dir, &l, got, &n, &why), "%s", why.text);
  ck_assert(memcmp(got, want, n * sizeof *got) == 0);
  l.of[TENSOR_QKV] = l.of[TENSOR_Q]; /* one matrix for three of different widths */
  ck_assert(!layout_answer(dir, &l, got, &n, &why)
    && strstr(why.text, "model.safetensors: the layout is hf-llama; wanted: one with a matrix each"));
  l.of[TENSOR_QKV].pattern = NULL, l.of[TENSOR_GATE].pattern = NULL;
  ck_assert(!layout_answer(dir, &l, got, &n, &why)
    && strstr(why.text, "the layout is hf-llama; wanted: one that names every tensor"));
  variant_drop(dir);
  l = *layout_find("safetensors", "gpt2");
  ck_assert(strcmp(l.name, "hf-gpt2") == 0 && layout_fused(&l));
  variant_make(dir, "gpt2");
  ck_assert_msg(layout_answer(dir, NULL, want, &n, &why), "%s", why.text);
  for (size_t k = 0; k < 4; k++) move_numbers(dir, turned[k].part, 0, as_transpose);
  for (size_t k = 0; k < 4; k++)
    for (unsigned i = 0; i < 9; i++) {
      snprintf(name, sizeof name, "transformer.h.%u.%s", i, turned[k].part);
      snprintf(edit, sizeof edit, "shape %s", turned[k].shape);
      variant_tensor(dir, name, edit);
    }
  variant_tensor(dir, "transformer.wte.weight", "rename token_embd.weight");
  l.of[TENSOR_QKV].transposed = l.of[TENSOR_OUT].transposed = l.of[TENSOR_UP].transposed =
    l.of[TENSOR_DOWN].transposed = false;
  l.of[TENSOR_EMBEDDING].pattern = "token_embd";
  ck_assert_msg(layout_answer(dir, &l, got, &n, &why), "%s", why.text);
  ck_assert(memcmp(got, want, n * sizeof *got) == 0);
  variant_drop(dir);
  ck_assert(layout_find("another", "gpt2") == NULL && layout_at(25) == NULL);
  ck_assert(layout_find("safetensors", NULL) == NULL && layout_find("gguf", "another") == NULL);
  ck_assert(layout_find("gguf", "mistral") == layout_at(3) && layout_find("gguf", "qwen3") == layout_at(4));
}
END_TEST

/* ---- a model whose matrices were prepared gives the same logits, and does not change */
START_TEST(a_prepared_model_gives_the_same_logits)
{
  static const char *const model[] = { "gpt2", "llama", "gpt2-bare" };
  static float want[1000], got[1000];
  char dir[200];
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; kernels_at(k) != NULL; k++) {
      struct rig r;
      uint32_t ids[9] = { 3, 1, 4, 1, 5, 9, 2, 6, 5 };
      variant_make(dir, model[i]);
      ck_assert(rig_open(&r, dir, kernels_at(k), 1, 1));
      struct prepared_weights *p = model_prepare(&r.m, r.e.k, ACTIVATIONS_DEFAULT, r.lm, &r.why);
      const struct model_layer *l = &r.lm->layers[r.lm->config.n_layers - 1];
      bool wanted = strcmp(r.e.k->name, "plain") != 0;
      ck_assert(p != NULL && p->n == (wanted ? r.lm->config.n_layers * (l->n_qkv + l->n_up + 2u) + 1 : 0));
      r.e.prepared = p;
      const struct matrix *of[] = { &l->qkv[0], &l->out, &l->up[0], &l->down };
      for (size_t j = 0; j < 4; j++) ck_assert((prepared_find(&r.e, of[j]) != NULL) == wanted);
      for (size_t n = 1; n <= 9; n++) {
        size_t last = n - 1;
        r.e.prepared = NULL;
        ck_assert(model_evaluate(&r.e, r.lm, r.s, ids, n, &last, 1, want, &r.why));
        r.e.prepared = p;
        ck_assert(model_evaluate(&r.e, r.lm, r.s, ids, n, &last, 1, got, &r.why));
        ck_assert(memcmp(want, got, r.lm->config.vocab_size * sizeof *got) == 0);
      }
      prepared_close(&r.m, p);
      store_close(r.s), model_close(&r.m, r.lm);
      ck_assert_uint_eq(r.m.all.live, 0);
      variant_drop(dir);
    }
}
END_TEST

/* ---- what a directory answers: logits, context, ends; to see whether a change of a field is
 * noticed */
static bool answer(const char *dir, float *logits, size_t *n, struct model_config *c)
{
  struct rig r;
  bool ok = rig_open(&r, dir, NULL, 1, 1);
  if (ok) {
    uint32_t ids[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
    size_t last = 7;
    *n = r.lm->config.vocab_size;
    ok = model_evaluate(&r.e, r.lm, r.s, ids, 8, &last, 1, logits, &r.why);
    *c = r.lm->config;
    c->ignored = NULL, c->n_ignored = c->ignored_cap = 0;
  }
  store_close(r.s), model_close(&r.m, r.lm);
  return ok;
}
static const struct {
  const char *base, *file, *field, *value;
} used[] = {
  { "gpt2", "config.json", "layer_norm_epsilon", "0.01" },
  { "gpt2", "config.json", "n_head", "4" },
  { "gpt2", "config.json", "eos_token_id", "3" },
  { "gpt2", "config.json", "bos_token_id", "3" },
  { "llama", "config.json", "rms_norm_eps", "0.01" },
  { "llama", "config.json", "rope_theta", "500" },
  { "llama", "config.json", "num_attention_heads", "2" },
  { "llama", "config.json", "max_position_embeddings", "17" },
  { "llama", "config.json", "rope_scaling",
    "{\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,\"original_max_"
    "position_embeddings\":12}" },
  { "llama", "config.json", "head_dim", "8" },
  { "llama", "config.json", "hidden_size", "8" },
  { "llama", "config.json", "intermediate_size", "23" },
  { "llama-stretched", "config.json", "rope_parameters.factor", "5" },
  { "llama-stretched", "config.json", "rope_parameters.low_freq_factor", "1.5" },
  { "llama-stretched", "config.json", "rope_parameters.high_freq_factor", "3.5" },
  { "llama-stretched", "config.json", "rope_parameters.rope_theta", "600" },
  { "llama-stretched", "config.json", "rope_parameters.original_max_position_embeddings", "14" },
  { "llama-stretched", "config.json", "mlp_bias", "false" },
  { "llama-stretched", "config.json", "rope_parameters",
    "{\"rope_type\":\"default\",\"rope_theta\":500}" },
  { "llama-stretched", "config.json", "attention_bias", "false" },
  { "llama-stretched", "config.json", "tie_word_embeddings", "false" },
  { "mistral", "config.json", "sliding_window", "4" },
  { "mistral", "config.json", "sliding_window", "null" },
  { "mistral", "config.json", "num_key_value_heads", "2" },
  { "qwen2", "config.json", "rope_theta", "10000" },
  { "qwen3", "config.json", "rms_norm_eps", "0.1" },
  { "gpt2", "generation_config.json", "eos_token_id", "[4,5]" },
  { "gpt2", "generation_config.json", "do_sample", "true" },
  { "gpt2", "generation_config.json", "temperature", "0.7" },
  { "gpt2", "generation_config.json", "top_k", "5" },
  { "gpt2", "generation_config.json", "top_p", "0.9" },
  { "gpt2", "generation_config.json", "min_p", "0.1" },
  { "gpt2", "generation_config.json", "typical_p", "0.9" },
  { "gpt2", "generation_config.json", "repetition_penalty", "1.1" },
  { "gpt2", "generation_config.json", "no_repeat_ngram_size", "3" },
  { "gpt2", "generation_config.json", "bos_token_id", "4" },
  { "gpt2", "config.json", "activation_function", "\"gelu\"" },
  { "gpt2", "config.json", "scale_attn_weights", "false" },
  { "gpt2", "config.json", "scale_attn_by_inverse_layer_idx", "true" },
  { "gpt2-unscaled", "config.json", "scale_attn_weights", "true" },
  { "gpt2-unscaled", "config.json", "scale_attn_by_inverse_layer_idx", "false" },
  { "gpt2-unscaled", "config.json", "activation_function", "\"gelu_new\"" },
  { "llama", "config.json", "hidden_act", "\"gelu_pytorch_tanh\"" },
  { "llama", "config.json", "hidden_act", "\"gelu\"" },
  { "llama-linear", "config.json", "rope_scaling.factor", "2" },
  { "llama-linear", "config.json", "rope_scaling", "null" },
  { "llama-yarn", "config.json", "rope_parameters.factor", "5" },
  { "llama-yarn", "config.json", "rope_parameters.beta_fast", "6" },
  { "llama-yarn", "config.json", "rope_parameters.beta_slow", "0.01" },
  { "llama-yarn", "config.json", "rope_parameters.original_max_position_embeddings", "8" },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "false" },
  { "llama-yarn", "config.json", "rope_parameters.attention_factor", "1.0" },
  { "llama-yarn", "config.json", "rope_parameters.rope_type", "\"linear\"" },
  { "llama-yarn", "config.json", "rope_parameters.rope_theta", "90" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale", "1.6" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "0.6" },
  { "qwen2-yarn", "config.json", "rope_scaling.mscale_all_dim", "null" },
  { "qwen2-yarn", "config.json", "rope_scaling.truncate", "true" },
  { "qwen2-yarn", "config.json", "sliding_window", "4" },
  { "qwen2-yarn", "config.json", "sliding_window", "null" },
  { "qwen2-yarn", "config.json", "use_sliding_window", "false" },
  { "qwen2-yarn", "config.json", "max_window_layers", "2" },
  { "qwen2-yarn", "config.json", "max_window_layers", "null" },
  { "qwen2-yarn", "config.json", "layer_types",
    "[\"sliding_attention\",\"full_attention\",\"full_attention\"]" },
  { "qwen3-layers", "config.json", "layer_types",
    "[\"sliding_attention\",\"sliding_attention\",\"full_attention\"]" },
  { "qwen3-layers", "config.json", "layer_types", "null" },
  { "qwen3-layers", "config.json", "sliding_window", "3" },
  { "qwen3-layers", "config.json", "attention_bias", "false" },
  { "llama-yarn", "config.json", "rope_parameters.truncate", "null" },
  { "llama", "config.json", "is_causal", "false" },
  { "gpt2", "config.json", "is_causal", "null" },
  { "qwen3", "config.json", "is_causal", "\"\"" },
  { "families/gpt_oss", "config.json", "swiglu_limit", "7" },
  { "families/gpt_oss", "config.json", "swiglu_alpha", "1.8" },
  { "families/gpt_oss", "config.json", "swiglu_alpha", "null" },
  { "families/gpt_oss", "config.json", "num_experts_per_tok", "3" },
  { "families/gpt_oss", "config.json", "sliding_window", "2" },
  { "families/gpt_oss", "config.json", "layer_types",
    "[\"full_attention\",\"sliding_attention\",\"full_attention\"]" },
  { "families/gpt_oss-mxfp4", "config.json", "rope_scaling.truncate", "true" },
  { "families/gpt_oss-mxfp4", "config.json", "swiglu_limit", "0.2" },
};
START_TEST(used_fields_change_the_answer_or_are_refused)
{
  char dir[200];
  unsigned n = 0;
  for (size_t i = 0; i < sizeof used / sizeof used[0]; i++, n++) {
    float a[64] = { 0 }, b[64] = { 0 };
    size_t na, nb = 0;
    struct model_config ca, cb;
    memset(&ca, 0, sizeof ca), memset(&cb, 0, sizeof cb);
    variant_make(dir, used[i].base);
    if (strcmp(used[i].field, "eos_token_id") == 0 && strcmp(used[i].file, "config.json") == 0)
      variant_json(dir, "generation_config.json", "eos_token_id", NULL);
    ck_assert(answer(dir, a, &na, &ca));
    variant_json(dir, used[i].file, used[i].field, used[i].value);
    bool ok = answer(dir, b, &nb, &cb);
    bool logits = ok && (na != nb || memcmp(a, b, na * sizeof *a) != 0);
    bool ends = ok
      && (ca.n_eos != cb.n_eos || memcmp(ca.eos, cb.eos, sizeof ca.eos) != 0 || ca.bos != cb.bos
        || ca.n_positions != cb.n_positions);
    bool advice = ok && memcmp(&ca.sampling, &cb.sampling, sizeof ca.sampling) != 0;
    ck_assert_msg(
      !ok || logits || ends || advice, "%s %s changes nothing", used[i].base, used[i].field);
    variant_drop(dir);
  }
  tally("used fields altered", n, 0, 0, "");
}
END_TEST
START_TEST(yarn_takes_null_for_no)
{
  char dir[200];
  float a[64] = { 0 }, b[64] = { 0 };
  size_t n[2];
  struct model_config c;
  for (int k = 0; k < 2; k++) {
    variant_make(dir, "llama-yarn");
    variant_json(dir, "config.json", "rope_parameters.truncate", k ? "null" : "false");
    ck_assert(answer(dir, k ? b : a, &n[k], &c));
    variant_drop(dir);
  }
  ck_assert(n[0] == n[1] && memcmp(a, b, n[0] * sizeof *a) == 0);
  variant_make(dir, "llama-yarn");
  variant_json(dir, "config.json", "rope_parameters.truncate", "0");
  ck_assert(!answer(dir, b, &n[1], &c));
  variant_drop(dir);
}
END_TEST
START_TEST(harmless_fields_change_nothing)
{
  static const struct {
    const char *field, *value;
  } harmless[] = { { "transformers_version", "\"9\"" }, { "_name_or_path", "\"x\"" },
    { "_commit_hash", "\"x\"" }, { "torch_dtype", "\"float16\"" }, { "dtype", "\"bfloat16\"" },
    { "is_llama_config", "true" }, { "transformers.js_config", "{\"a\":1}" },
    { "task_specific_params", "{\"a\":1}" }, { "reorder_and_upcast_attn", "true" },
    { "pretraining_tp", "2" }, { "use_cache", "false" }, { "pad_token_id", "-1" },
    { "output_attentions", "true" }, { "output_hidden_states", "true" }, { "return_dict", "true" },
    { "initializer_range", "3" }, { "attn_pdrop", "0.9" }, { "embd_pdrop", "0.9" },
    { "hidden_dropout_prob", "0.9" }, { "attention_probs_dropout_prob", "0" }, { "_flash_attn_2_enabled", "true" },
    { "resid_pdrop", "0.9" }, { "attention_dropout", "0.9" }, { "gradient_checkpointing", "true" },
    { "summary_activation", "\"tanh\"" }, { "summary_first_dropout", "0.5" },
    { "summary_proj_to_labels", "true" }, { "summary_type", "\"first\"" },
    { "summary_use_proj", "true" }, { "id2label", "{\"0\":\"a\"}" }, { "label2id", "{\"a\":0}" },
    { "num_labels", "7" }, { "some_future_flag", "null" }, { "torchscript", "false" },
    { "auto_map", "{}" }, { "pruned_heads", "[]" }, { "note", "\"\"" },
    { "max_sequence_length", "7" }, { "max_length", "20" },
    { "_attn_implementation_autoset", "true" }, { "chunk_size_feed_forward", "0" },
    { "unsloth_fixed", "true" }, { "unsloth_version", "\"2025\"" }, { "n_special", "0" },
    { "predict_special_tokens", "true" }, { "output_past", "true" }, { "_num_labels", "3" },
    { "attn_logit_softcapping", "null" }, { "final_logit_softcapping", "null" },
    { "clip_qkv", "null" }, { "name_or_path", "\"x\"" }, { "auto_map", "{\"AutoConfig\":\"x.y\"}" },
    { "tokenizer_class", "\"LlamaTokenizer\"" }, { "model_max_length", "8192" },
    { "prefix", "\"x\"" }, { "_attn_implementation", "\"sdpa\"" },
    { "attn_implementation", "\"eager\"" }, { "use_flash_attention", "true" },
    { "use_flash_attention_2", "true" }, { "use_flash_attn", "true" }, { "use_bfloat16", "true" },
    { "torchscript", "true" }, { "neftune_noise_alpha", "5.0" }, { "router_aux_loss_coef", "0.1" },
    { "finetuning_task", "\"x\"" }, { "problem_type", "\"regression\"" }, { "do_sample", "true" },
    { "temperature", "0.9" }, { "top_k", "7" }, { "top_p", "0.9" }, { "min_p", "0.1" },
    { "typical_p", "0.9" }, { "epsilon_cutoff", "0.1" }, { "eta_cutoff", "0.1" },
    { "repetition_penalty", "1.3" }, { "no_repeat_ngram_size", "3" },
    { "encoder_no_repeat_ngram_size", "3" }, { "diversity_penalty", "0.5" },
    { "bad_words_ids", "[[1]]" }, { "suppress_tokens", "[1]" }, { "begin_suppress_tokens", "[1]" },
    { "forced_bos_token_id", "1" }, { "forced_eos_token_id", "2" },
    { "remove_invalid_values", "true" }, { "exponential_decay_length_penalty", "[1,1.1]" },
    { "min_length", "3" }, { "max_new_tokens", "3" }, { "num_beams", "4" },
    { "num_beam_groups", "1" }, { "num_return_sequences", "1" }, { "early_stopping", "true" },
    { "length_penalty", "2.0" }, { "output_scores", "true" },
    { "return_dict_in_generate", "true" } };
  static const struct {
    const char *base, *field, *value;
    bool listed;
  } elsewhere[] = { { "qwen2", "sliding_window", "4", false },
    { "qwen2", "max_window_layers", "1", false },
    { "qwen2", "layer_types", "[\"full_attention\",\"full_attention\"]", false },
    { "mistral", "layer_types", "[\"sliding_attention\",\"sliding_attention\"]", false },
    { "qwen3-layers", "max_window_layers", "0", false }, { "llama", "is_causal", "true", false },
    { "gpt2", "logits_scaling", "1.0", false }, { "llama", "logit_scale", "1", false },
    { "llama", "residual_multiplier", "1.0", false },
    { "llama", "embedding_multiplier", "1", false },
    { "llama", "partial_rotary_factor", "1.0", false },
    { "llama-yarn", "rope_parameters.partial_rotary_factor", "1.0", false },
    { "llama-yarn", "rope_parameters.finetuned", "true", true },
    { "llama-yarn", "rope_parameters.mscale", "2.0", true },
    { "llama-yarn", "rope_parameters.mscale_all_dim", "2.0", true },
    { "llama-yarn", "rope_parameters.factor", "null", false },
    { "llama-yarn", "rope_parameters.type", "\"yarn\"", false },
    { "llama", "rope_parameters", "{\"rope_theta\":10000}", false },
    { "families/gpt_oss-mxfp4", "initial_context_length", "7", false },
    { "families/gpt_oss-mxfp4", "experts_per_token", "2", false } };
  char dir[200];
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
    for (int llama = 0; llama < 2; llama++) {
      float a[64] = { 0 }, b[64] = { 0 };
      size_t na, nb;
      struct model_config ca, cb;
      variant_make(dir, llama ? "llama" : "gpt2");
      ck_assert(answer(dir, a, &na, &ca));
      variant_json(dir, "config.json", harmless[i].field, harmless[i].value);
      ck_assert_msg(answer(dir, b, &nb, &cb), "%s is refused", harmless[i].field);
      ck_assert(na == nb && memcmp(a, b, na * sizeof *a) == 0);
      struct memory m = { 0 };
      ck_assert(config_open(&ca, &m, dir, NULL));
      bool listed = false;
      for (size_t k = 0; k < ca.n_ignored; k++)
        listed = listed
          || (strcmp(ca.ignored[k].field, harmless[i].field) == 0
            && ca.ignored[k].reason[0] != '\0');
      ck_assert_msg(listed, "%s is not listed", harmless[i].field);
      config_close(&m, &ca);
      variant_drop(dir);
    }
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0];
       i++) { /* fields that some model has, with a value that asks for nothing more */
    float a[64] = { 0 }, b[64] = { 0 };
    size_t na, nb;
    struct model_config c;
    struct memory m = { 0 };
    variant_make(dir, elsewhere[i].base);
    ck_assert(answer(dir, a, &na, &c));
    variant_json(dir, "config.json", elsewhere[i].field, elsewhere[i].value);
    ck_assert_msg(answer(dir, b, &nb, &c) && na == nb && memcmp(a, b, na * sizeof *a) == 0, "%s %s",
      elsewhere[i].base, elsewhere[i].field);
    ck_assert(config_open(&c, &m, dir, NULL));
    bool listed = false;
    const char *dot = strchr(elsewhere[i].field, '.'), *name = dot ? dot + 1 : elsewhere[i].field;
    for (size_t k = 0; k < c.n_ignored; k++)
      listed = listed || strcmp(c.ignored[k].field, name) == 0;
    ck_assert_msg(listed == elsewhere[i].listed, "%s", elsewhere[i].field);
    config_close(&m, &c);
    variant_drop(dir);
  }
  tally("harmless fields altered",
    (unsigned) (sizeof harmless / sizeof harmless[0] + sizeof elsewhere / sizeof elsewhere[0]), 0,
    0, "");
}
END_TEST

/* advice that concerns other programs, or only the time that a text takes: each is listed with its
   reason, and the settings are those without it */
START_TEST(harmless_advice_is_listed)
{
  static const char *const field[] = { "max_length", "max_new_tokens", "min_length",
    "min_new_tokens", "num_beams", "num_return_sequences", "early_stopping", "length_penalty",
    "use_cache", "cache_implementation", "output_attentions", "output_hidden_states",
    "output_scores", "return_dict_in_generate", "output_logits", "return_legacy_cache",
    "cache_config", "prefill_chunk_size", "disable_compile", "low_memory", "is_assistant",
    "num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold",
    "assistant_lookbehind", "target_lookbehind", "prompt_lookup_num_tokens",
    "max_matching_ngram_size", "num_beam_groups", "diversity_penalty",
    "encoder_no_repeat_ngram_size", "encoder_repetition_penalty", "_commit_hash",
    "trust_remote_code", "user_token_id", "assistant_token_id", "chat_format", "max_window_size",
    "pad_token_id", "transformers_version", "_from_model_config" };
  char dir[200];
  struct memory m = { 0 };
  struct error why;
  struct model_config c, plain;
  variant_make(dir, "gpt2");
  ck_assert(config_open(&plain, &m, dir, &why));
  size_t n = sizeof field / sizeof *field, listed = 0;
  for (size_t i = 0; i < n; i++) variant_json(dir, "generation_config.json", field[i], "7");
  ck_assert_msg(config_open(&c, &m, dir, &why), "%s", why.text);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < c.n_ignored; k++)
      if (strcmp(c.ignored[k].file, "generation_config.json") == 0
        && strcmp(c.ignored[k].field, field[i]) == 0 && c.ignored[k].reason[0] != '\0')
        listed++;
  ck_assert_uint_eq(listed, n);
  ck_assert(memcmp(&c.sampling, &plain.sampling, sizeof c.sampling) == 0
    && c.n_positions == plain.n_positions && c.n_eos == plain.n_eos);
  config_close(&m, &c), config_close(&m, &plain);
  variant_drop(dir);
}
END_TEST
/* ---- fields that nobody knows: all of them named, or read over as the caller says; what is known
   cannot be read over */
START_TEST(unknown_fields_are_named_together)
{
  static const char *const ignored[] = { "note_b", "hidden_size", "cache_kind", "note_a", "gone" };
  char dir[200];
  struct memory m = { 0 };
  struct error why;
  struct model_config c;
  bool met[5];
  variant_make(dir, "llama");
  variant_json(dir, "config.json", "note_a", "1");
  variant_json(dir, "config.json", "note_b", "[2]");
  variant_json(dir, "generation_config.json", "cache_kind", "\"x\"");
  struct config_options o = { .n_ignore = 0 };
  ck_assert(!config_open_with(&c, &m, dir, &o, &why));
  ck_assert_uint_eq(o.n_unknown, 3); /* those of the second file as well */
  ck_assert_msg(strstr(why.text, "config.json: unknown: note_a, note_b; wanted: fields that this "
                                 "program knows; ") != NULL
      && strstr(why.text, "generation_config.json: cache_kind is \"x\"; wanted: a field") != NULL,
    "%s", why.text);
  o = (struct config_options){ .ignore = ignored, .n_ignore = 5, .used = met };
  memset(met, 0, sizeof met);
  ck_assert_msg(config_open_with(&c, &m, dir, &o, &why), "%s", why.text);
  size_t n = 0;
  for (size_t i = 0; i < c.n_ignored; i++) n += c.ignored[i].reason == config_ignored_by_caller;
  ck_assert(n == 3 && o.n_unknown == 0 && met[0] && !met[1] && met[2] && met[3] && !met[4]);
  ck_assert_uint_eq(c.d_model, 16); /* a field that is known is obeyed */
  config_close(&m, &c);
  o = (struct config_options){ .ignore = ignored, .n_ignore = 1, .tolerant = true };
  ck_assert(config_open_with(&c, &m, dir, &o, &why));
  n = 0;
  for (size_t i = 0; i < c.n_ignored; i++) n += c.ignored[i].reason == NULL;
  ck_assert(n == 2 && o.n_unknown == 2);
  config_close(&m, &c);
  char name[60]; /* those that do not fit into the sentence are counted */
  for (int i = 0; i < 12; i++) {
    snprintf(name, sizeof name, "a_field_with_a_long_name_number_%d", i);
    variant_json(dir, "config.json", name, "1");
  }
  ck_assert(!config_open(&c, &m, dir, &why));
  size_t named = 2, more = 0; /* how many fit depends on the path */
  const char *and = strstr(why.text, " and ");
  for (const char *p = why.text; (p = strstr(p, "a_field_with")) != NULL; p++) named++;
  ck_assert_msg(strstr(why.text, "note_a, note_b, a_field_with_a_long_name_number_0, ") != NULL
      && and != NULL && sscanf(and, " and %zu more; wanted", &more) == 1 && named + more == 14,
    "%s", why.text);
  variant_drop(dir);
  variant_make(dir, "llama-yarn"); /* a description of its own */
  variant_json(dir, "config.json", "rope_parameters.a", "1");
  variant_json(dir, "config.json", "rope_parameters.b", "1");
  ck_assert(!config_open(&c, &m, dir, &why) && strstr(why.text, "unknown: a, b; wanted") != NULL);
  variant_drop(dir);
  variant_make(dir, "llama"); /* weights that were quantized, and turned back */
  variant_json(dir, "config.json", "quantization_config", "{\"quant_method\":\"awq\"}");
  o = (struct config_options){ .tolerant = true };
  ck_assert(!config_open_with(&c, &m, dir, &o, &why)
    && strstr(why.text, "the weights are quantized by awq") != NULL);
  static const char *const field[] = { "quantization_config" };
  o = (struct config_options){ .ignore = field, .n_ignore = 1 };
  ck_assert(config_open_with(&c, &m, dir, &o, &why));
  config_close(&m, &c);
  variant_json(dir, "config.json", "quantization_config", "{}");
  ck_assert(config_open(&c, &m, dir, &why));
  config_close(&m, &c);
  variant_drop(dir);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* a model that is loaded tells of every tensor, and can be given up at each */
static bool count_tensors(void *ctx, size_t done, size_t all)
{
  size_t *n = ctx;
  ck_assert(done == ++n[0] && done <= all);
  n[2] = all;
  return done != n[1];
}
START_TEST(a_loading_is_told_and_given_up)
{
  struct error why;
  size_t n[3] = { 0 };
  struct memory m = { 0 };
  struct model_open_options o = { .progress = &(struct progress){ count_tensors, n } };
  struct model *lm = model_open_with(&m, "tests/golden/llama", &o, &why);
  ck_assert_msg(lm != NULL, "%s", why.text);
  size_t all = tensor_file_count(lm->weights);
  ck_assert(n[0] == all && n[2] == all && all > 10);
  model_close(&m, lm);
  for (size_t at = 1; at <= all; at++) {
    n[0] = 0, n[1] = at;
    o.progress->cancelled = false;
    ck_assert_ptr_null(model_open_with(&m, "tests/golden/llama", &o, &why));
    ck_assert(n[0] == at && strstr(why.text, "given up") != NULL && m.all.live == 0);
  }
}
END_TEST
/* ---- the settings of published checkpoints, without their weights */
START_TEST(published_settings_are_understood)
{
  char line[300], path[400], got[200];
  FILE *f = fopen("tests/golden/configs/LIST.tsv", "r");
  ck_assert_ptr_nonnull(f);
  unsigned n = 0, refused = 0;
  while (fgets(line, sizeof line, f)) {
    if (line[0] == '#') continue;
    char *want = strchr(line, '\t');
    *want++ = 0, want[strcspn(want, "\n")] = 0;
    snprintf(path, sizeof path, "tests/golden/configs/%s", line);
    struct memory m = { 0 };
    struct error why = { "" };
    struct model_config c;
    if (strchr(want, ' ') == NULL) {
      ck_assert_msg(!config_open(&c, &m, path, &why), "%s is accepted", line);
      ck_assert_msg(strstr(why.text, want) != NULL, "%s is not in: %s", want, why.text);
      refused++;
    } else {
      ck_assert_msg(config_open(&c, &m, path, &why), "%s", why.text);
      uint32_t windows = 0;
      for (uint32_t i = 0; i < c.n_layers; i++) windows += config_window(&c, i) > 0;
      snprintf(got, sizeof got, "%s %u %u %u %u %u %u %d %d", c.family, c.n_layers, c.n_heads,
        c.n_kv_heads, c.head_dim, c.window, windows, (int) c.rope.kind, c.tied);
      ck_assert_msg(strcmp(got, want) == 0, "%s: %s, wanted %s", line, got, want);
      ck_assert_uint_gt(c.n_ignored, 2);
      config_close(&m, &c);
    }
    ck_assert_uint_eq(m.all.live, 0);
    n++;
  }
  fclose(f);
  ck_assert_uint_ge(refused, 2);
  tally("published settings", n, 0, 0, "");
}
END_TEST
/* ---- mistral without a word about its window has the one of its first model, as in the library;
 * qwen's list of layers decides */
START_TEST(silence_means_what_the_library_means)
{
  char dir[200];
  struct memory m = { 0 };
  struct model_config c;
  static const struct {
    const char *base, *field;
    uint32_t positions;
  } context[] = { { "gpt2", "n_positions", 1024 }, { "llama", "max_position_embeddings", 2048 },
    { "mistral", "max_position_embeddings", 131072 }, { "qwen2", "max_position_embeddings", 32768 },
    { "qwen3", "max_position_embeddings", 32768 } };
  for (int i = 0; i < 10; i++) { /* absent, or null */
    variant_make(dir, context[i / 2].base);
    variant_json(dir, "config.json", context[i / 2].field, i % 2 ? "null" : NULL);
    if (i < 2) variant_json(dir, "config.json", "n_ctx", NULL);
    ck_assert(config_open(&c, &m, dir, NULL));
    ck_assert_uint_eq(c.n_positions, context[i / 2].positions);
    config_close(&m, &c);
    variant_drop(dir);
  }
  for (int i = 0; i < 3; i++) { /* as the first conversions spelt it; of Llama alone */
    static const char *const spelt[] = { "[\"LLaMAForCausalLM\"]", "[\"LlamaForCausalLM\"]",
      "[\"LLAMAForCausalLM\"]" };
    variant_make(dir, "llama");
    variant_json(dir, "config.json", "architectures", spelt[i]);
    ck_assert_int_eq(config_open(&c, &m, dir, NULL), i < 2);
    if (i < 2) config_close(&m, &c);
    variant_drop(dir);
  }
  variant_make(dir, "mistral");
  variant_json(dir, "config.json", "sliding_window", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.window == 4096 && config_window(&c, 1) == 4096);
  config_close(&m, &c);
  variant_drop(dir);
  variant_make(dir, "qwen3");
  variant_json(dir, "config.json", "head_dim", NULL);
  variant_json(dir, "config.json", "use_sliding_window", "true");
  variant_json(dir, "config.json", "sliding_window", "5");
  variant_json(dir, "config.json", "num_hidden_layers", "40");
  variant_json(dir, "config.json", "max_window_layers", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.head_dim == 128 && c.activation == ACTIVATION_SILU);
  for (uint32_t i = 0; i < 40; i++) ck_assert_uint_eq(config_window(&c, i), i >= 28 ? 5 : 0);
  config_close(&m, &c);
  variant_drop(dir);
  variant_make(dir, "llama-yarn");
  variant_json(dir, "config.json", "rope_parameters.beta_fast", NULL);
  variant_json(dir, "config.json", "rope_parameters.beta_slow", NULL);
  variant_json(dir, "config.json", "rope_parameters.factor", NULL);
  variant_json(dir, "config.json", "rope_parameters.original_max_position_embeddings", NULL);
  ck_assert(config_open(&c, &m, dir, NULL) && c.rope.factor == 1 && c.rope.original == 32
    && c.rope.beta_fast == 32 && c.rope.beta_slow == 1 && c.rope.truncate);
  ck_assert(rope_attention(&c.rope) == 1);
  config_close(&m, &c);
  variant_drop(dir);
}
END_TEST
/* what a config.json leaves out, or says is null, beside lengths; and each name of a curve */
START_TEST(a_config_may_be_silent)
{
  static const char *const base[] = { "gpt2", "llama", "mistral", "qwen2", "qwen3" };
  static const char *const field[] = { "activation_function", "hidden_act", "layer_norm_epsilon",
    "rms_norm_eps", "rope_theta", "rope_parameters", "rope_scaling", "sliding_window", "max_window_layers", "layer_types" };
  char dir[200], path[400];
  struct memory m = { 0 };
  struct model_config c;
  struct error why = { "" };
  for (int i = 0; i < 10; i++) {
    variant_make(dir, base[i / 2]);
    for (size_t k = 0; k < sizeof field / sizeof *field; k++) /* a null turns a window off */
      variant_json(dir, "config.json", field[k], i % 2 && k != 7 ? "null" : NULL);
    if (i >= 6) variant_json(dir, "config.json", "use_sliding_window", "true");
    if (i >= 2) variant_json(dir, "config.json", "num_hidden_layers", "40");
    variant_path(path, dir, "generation_config.json");
    unlink(path);
    ck_assert_msg(config_open(&c, &m, dir, &why), "%s", why.text);
    ck_assert_int_eq(c.activation, i < 2 ? ACTIVATION_GELU_TANH : ACTIVATION_SILU);
    ck_assert(c.norm_eps == (i < 2 ? 1e-5 : 1e-6) && c.layer_norm == (i < 2));
    if (i >= 2) ck_assert(c.rope.theta == 10000 && c.rope.kind == ROPE_PLAIN);
    for (uint32_t l = 0; i >= 2 && l < 40; l++)
      ck_assert_uint_eq(config_window(&c, l), i < 4 ? 0 : i < 6 || l >= 28 ? 4096 : 0);
    ck_assert(!c.sampling.do_sample && c.sampling.temperature == 1 && c.sampling.top_k == 0
      && c.sampling.top_p == 1 && c.sampling.min_p == 0 && c.sampling.typical_p == 1
      && c.sampling.repetition_penalty == 1 && c.sampling.no_repeat_ngram_size == 0);
    config_close(&m, &c);
    variant_drop(dir);
  }
  static const struct { const char *name; enum activation_kind kind; } curve[] = { { "silu", ACTIVATION_SILU },
    { "swish", ACTIVATION_SILU }, { "gelu_new", ACTIVATION_GELU_TANH }, { "gelu_fast", ACTIVATION_GELU_TANH },
    { "gelu_pytorch_tanh", ACTIVATION_GELU_TANH }, { "gelu", ACTIVATION_GELU_ERF },
    { "gelu_python", ACTIVATION_GELU_ERF } };
  variant_make(dir, "llama");
  for (size_t i = 0; i < sizeof curve / sizeof *curve; i++) {
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\"", curve[i].name);
    variant_json(dir, "config.json", "hidden_act", quoted);
    ck_assert(config_open(&c, &m, dir, NULL) && c.activation == curve[i].kind);
    config_close(&m, &c);
  }
  variant_drop(dir);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
/* what the loader counts: bytes of the layers and of the head, multiply-adds of a row, parameters without
   what is stored and not used; and what it says of a model with more layers than tensors */
START_TEST(a_model_is_counted)
{
  static const char *const base[] = { "gpt2", "llama", "qwen2", "qwen3", "gpt2-bare" };
  char dir[200];
  struct memory m = { 0 };
  struct error why = { "" };
  for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
    snprintf(dir, sizeof dir, "tests/golden/%s", base[i]);
    struct model *lm = model_open(&m, dir, &why);
    ck_assert_msg(lm != NULL, "%s", why.text);
    const struct model_config *c = &lm->config;
    uint64_t bytes = 0, numbers = 0, head = 0, d = c->d_model, q = (uint64_t) c->n_heads * c->head_dim,
      kv = (uint64_t) c->n_kv_heads * c->head_dim;
    for (size_t k = 0; k < tensor_file_count(lm->weights); k++) {
      const struct tensor_entry *t = tensor_file_at(lm->weights, k);
      bool counts = strstr(t->name, ".attn.bias") == NULL && strstr(t->name, "masked_bias") == NULL
        && strstr(t->name, "inv_freq") == NULL;
      bool layer = strstr(t->name, "layers.") != NULL || strncmp(t->name, "h.", 2) == 0
        || strstr(t->name, ".h.") != NULL;
      bytes += counts && layer ? t->bytes : 0, numbers += counts ? t->elements : 0;
      if (t->data == lm->head.weight.data) head = t->bytes;
    }
    ck_assert_uint_eq(lm->layer_bytes, bytes);
    ck_assert_uint_eq(lm->head_bytes, head);
    ck_assert_uint_eq(lm->layer_madds, c->n_layers * (d * (q + 2 * kv) + q * d + (c->gated ? 3 : 2) * d * c->d_inner));
    ck_assert_uint_eq(model_parameters(lm), numbers);
    model_close(&m, lm);
  }
  /* a stored table under its bare name is read over, and is no parameter */
  snprintf(dir, sizeof dir, "tests/golden/qwen3");
  struct model *whole = model_open(&m, dir, &why);
  uint64_t all = model_parameters(whole), head = (uint64_t) whole->config.vocab_size * whole->config.d_model;
  uint32_t n = (uint32_t) tensor_file_count(whole->weights);
  model_close(&m, whole);
  static const char *const bare[] = { "rename rotary_emb.inv_freq", "rename attn.bias", "rename attn.masked_bias",
    "rename x.rotary_emb.inv_freq", "rename xrotary_emb.inv_freq" };
  for (size_t i = 0; i < 5; i++) {
    variant_make(dir, "qwen3");
    variant_json(dir, "config.json", "tie_word_embeddings", "true");
    variant_tensor(dir, "lm_head.weight", bare[i]);
    struct model *lm = model_open(&m, dir, &why);
    ck_assert_msg((lm != NULL) == (i < 4), "%s: %s", bare[i], why.text);
    if (lm != NULL) ck_assert_uint_eq(model_parameters(lm), all - head);
    else ck_assert_ptr_nonnull(strstr(why.text, "xrotary_emb.inv_freq is a tensor without use"));
    model_close(&m, lm);
    variant_drop(dir);
  }
  for (uint32_t more = 0; more < 2; more++) {
    char words[20];
    variant_make(dir, "qwen3");
    snprintf(words, sizeof words, "%u", (unsigned) (n + more));
    variant_json(dir, "config.json", "num_hidden_layers", words);
    ck_assert_ptr_null(model_open(&m, dir, &why));
    ck_assert_msg((strstr(why.text, "no more layers than the file has tensors") != NULL) == (more == 1), "%s", why.text);
    variant_drop(dir);
  }
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST
START_TEST(tensors_may_lie_anywhere_and_be_stored_twice)
{
  char dir[200];
  float a[64], b[64];
  size_t n;
  struct model_config c;
  ck_assert(answer("tests/golden/gpt2", a, &n, &c));
  variant_make(dir, "gpt2"); /* data not aligned to their type */
  variant_tensor(dir, NULL, "shift");
  ck_assert(answer(dir, b, &n, &c) && memcmp(a, b, n * sizeof *a) == 0);
  variant_drop(dir);
  ck_assert(answer("tests/golden/qwen3", a, &n, &c));
  variant_make(
    dir, "qwen3"); /* a head beside a tied embedding: equal is harmless, different is the head */
  variant_json(dir, "config.json", "tie_word_embeddings", "true");
  ck_assert(answer(dir, b, &n, &c) && memcmp(a, b, n * sizeof *a) == 0);
  variant_tensor(dir, "lm_head.weight", "drop");
  ck_assert(answer(dir, b, &n, &c) && memcmp(a, b, n * sizeof *a) != 0);
  variant_drop(dir);
}
END_TEST

/* ---- doubles are rounded to the nearest float, and only those that the model uses; nothing else shows it */
START_TEST(doubles_are_rounded_once)
{
  static const char *const base[] = { "gpt2", "qwen3", "families/gemma2", "families/gpt_oss" };
  static float want[1000], got[1000];
  char dir[200], path[400];
  struct model_config c;
  size_t n;
  for (size_t k = 0; k < sizeof base / sizeof *base; k++) {
    uint64_t all = 0;
    struct rig r;
    snprintf(path, sizeof path, "tests/golden/%s", base[k]);
    ck_assert(answer(path, want, &n, &c));
    variant_make(dir, base[k]);
    variant_tensor(dir, NULL, "doubles");
    ck_assert(rig_open(&r, dir, NULL, 1, 1));
    for (size_t i = 0; i < tensor_file_count(r.lm->weights); i++) {
      const struct tensor_entry *t = tensor_file_at(r.lm->weights, i);
      ck_assert_msg(t->type == WEIGHT_F32 && t->bytes == 4 * t->elements && t->copied, "%s", t->name);
      struct stored_form in_file = tensor_file_stored(t);
      ck_assert(strcmp(in_file.type, "F64") == 0 && in_file.bytes == 2 * t->bytes);
      all += t->bytes;
    }
    ck_assert(r.m.of[MEMORY_WEIGHTS].live == all && r.lm->matrix_types == 1u << WEIGHT_F32);
    store_close(r.s), model_close(&r.m, r.lm);
    ck_assert_uint_eq(r.m.all.live, 0);
    ck_assert(answer(dir, got, &n, &c) && memcmp(want, got, n * sizeof *got) == 0);
    variant_drop(dir);
  }
}
END_TEST

START_TEST(a_tied_head_of_doubles_is_compared_as_floats)
{
  static const char *const part[][2] = { { "lm_head.weight", NULL },
    { "transformer.wte.weight", NULL }, { "transformer.wte.weight", "lm_head.weight" } };
  static float want[1000], got[1000];
  char dir[200];
  struct model_config c;
  size_t n;
  ck_assert(answer("tests/golden/gpt2", want, &n, &c) && c.tied);
  for (size_t k = 0; k < 3; k++) {
    variant_make(dir, "gpt2");
    variant_tensor(dir, "transformer.wte.weight", "twice lm_head.weight");
    for (size_t i = 0; i < 2 && part[k][i] != NULL; i++) variant_tensor(dir, part[k][i], "doubles");
    ck_assert(answer(dir, got, &n, &c) && c.tied && memcmp(want, got, n * sizeof *got) == 0);
    variant_drop(dir);
  }
}
END_TEST

START_TEST(doubles_without_memory_are_refused)
{
  char dir[200];
  bool opened = false;
  unsigned refused = 0;
  variant_make(dir, "gpt2");
  variant_tensor(dir, NULL, "doubles");
  for (uint64_t k = 1; !opened; k++) {
    struct memory m = { .fail_at = k };
    struct error why = { "" };
    struct model *lm = model_open(&m, dir, &why);
    opened = lm != NULL, refused += m.of[MEMORY_WEIGHTS].refused > 0;
    ck_assert_msg(opened || (m.all.refused == 1 && why.text[0] != '\0'), "%s", why.text);
    model_close(&m, lm);
    ck_assert_uint_eq(m.all.live, 0);
  }
  ck_assert_uint_eq(refused, 28);
  variant_drop(dir);
}
END_TEST

/* halves of a unit go to even; what is too large for a float is infinite; the smallest become zero */
START_TEST(each_double_becomes_the_nearest_float)
{
  static const struct { double x; float y; } row[] = { { 1 + 0x1p-24, 1 }, { 1 + 0x3p-24, 1 + 0x1p-22f },
    { 1 + 0x1p-24 + 0x1p-52, 1 + 0x1p-23f }, { -0.0, -0.0f }, { 0x1p-149, 0x1p-149f }, { 0x1p-150, 0 },
    { 0x1.8p-150, 0x1p-149f }, { -0x1p-1074, -0.0f }, { 0x1.fffffep127, 0x1.fffffep127f },
    { 0x1.fffffefffffffp127, 0x1.fffffep127f }, { 0x1.ffffffp127, INFINITY }, { -1e300, -INFINITY },
    { 0.1, 0.1f }, { INFINITY, INFINITY } };
  enum { N = sizeof row / sizeof *row };
  unsigned char file[2000];
  char dir[200], path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  variant_make(dir, "gpt2");
  variant_path(path, dir, "model.safetensors");
  int length = snprintf((char *) file + 8, sizeof file - 8, "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],"
    "\"data_offsets\":[0,3]},\"b\":{\"dtype\":\"F64\",\"shape\":[2,%d],\"data_offsets\":[3,%d]}}", N / 2, 3 + 8 * N);
  memcpy(file, &(uint64_t) { (uint64_t) length }, 8), memcpy(file + 8 + length, "abc", 3);
  for (size_t i = 0; i < N; i++) memcpy(file + 11 + length + 8 * i, &row[i].x, 8);
  spill(path, file, 11 + (size_t) length + 8 * N);
  struct tensor_file *w = tensor_file_open(&m, dir, &why);
  ck_assert_msg(w != NULL, "%s", why.text);
  ck_assert_str_eq(tensor_file_stored(tensor_file_at(w, 1)).type, "F64");
  const struct tensor_entry *a = tensor_file_at(w, 0), *b = tensor_file_at(w, 1);
  for (int twice = 0; twice < 2; twice++) {
    ck_assert(tensor_file_narrow(w, a, &why) && tensor_file_narrow(w, b, &why));
    ck_assert(memcmp(a->data, "abc", 3) == 0 && a->bytes == 3 && !a->copied);
    ck_assert(b->type == WEIGHT_F32 && b->bytes == 4 * N && b->rank == 2 && b->shape[1] == N / 2);
    for (size_t i = 0; i < N; i++)
      ck_assert_msg(memcmp(b->data + 4 * i, &row[i].y, 4) == 0, "%a", row[i].x);
    ck_assert(m.of[MEMORY_WEIGHTS].requests == 1 && m.of[MEMORY_WEIGHTS].live == 4 * N);
  }
  tensor_file_close(&m, w);
  ck_assert_uint_eq(m.all.live, 0);
  variant_drop(dir);
}
END_TEST

/* ---- settings at their limits: read from a text, without weights */
#define QWEN                                                                                       \
  "\"model_type\": \"qwen2\", \"vocab_size\": 9, \"hidden_size\": 8, "                             \
  "\"intermediate_size\": 8, "                                                                     \
  "\"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"max_position_embeddings\": 64"
static bool settings_of(
  struct model_config *c, struct memory *m, struct error *why, const char *text, const char *advice)
{
  char dir[100], path[400];
  const char *t = getenv("TMPDIR");
  snprintf(dir, sizeof dir, "%.60s/incipit-model-XXXXXX", t ? t : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  variant_path(path, dir, "config.json"), spill(path, text, strlen(text));
  variant_path(path, dir, "generation_config.json");
  if (advice != NULL) spill(path, advice, strlen(advice));
  bool ok = config_open(c, m, dir, why);
  variant_drop(dir);
  return ok;
}
static void settings_say(const char *text, const char *advice, const char *words)
{
  struct memory m = { 0 };
  struct model_config c;
  struct error why = { "" };
  bool ok = settings_of(&c, &m, &why, text, advice);
  ck_assert_msg(ok == (words == NULL), "%s: %s", text, ok ? "accepted" : why.text);
  ck_assert_msg(ok || strstr(why.text, words) != NULL, "%s; wanted: %s", why.text, words);
  if (ok) config_close(&m, &c);
  ck_assert(c.family == NULL && c.ignored == NULL && m.all.live == 0);
}
START_TEST(a_list_of_layers_has_a_word_for_each)
{
  static char text[40000];
  static const struct {
    unsigned layers, words;
    bool ok;
  } list[] = { { 2, 2, true }, { 2, 1, false }, { 2, 3, false }, { 1, 1, true },
    { 1024, 1024, true }, { 1025, 1025, false }, { 9, 9, true }, { 1024, 1023, false } };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    for (int near = 0; near < 2; near++) {
      size_t n = (size_t) sprintf(text,
        "{" QWEN ", \"num_hidden_layers\": %u, \"sliding_window\": 4, "
        "\"use_sliding_window\": %s, \"layer_types\": [",
        list[i].layers, near ? "true" : "false");
      for (unsigned k = 0; k < list[i].words; k++)
        n += (size_t) sprintf(
          text + n, "%s\"%s_attention\"", k ? "," : "", near && k % 3 != 1 ? "sliding" : "full");
      sprintf(text + n, "]}");
      settings_say(text, NULL, list[i].ok ? NULL : "a word for each layer");
      if (!list[i].ok) continue;
      struct memory m = { 0 };
      struct model_config c;
      ck_assert(settings_of(&c, &m, NULL, text, NULL));
      for (uint32_t k = 0; k < list[i].layers; k++)
        if (config_window(&c, k) != (near && k % 3 != 1 ? 4 : 0)) ck_abort_msg("layer %u", k);
      config_close(&m, &c);
    }
}
END_TEST
START_TEST(two_places_for_one_setting_agree_or_are_refused)
{
#define TWO "{" QWEN ", \"num_hidden_layers\": 2, "
#define LINEAR(x) "{\"rope_type\": \"linear\", \"factor\": " x "}"
  settings_say(
    TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": " LINEAR("2.0") "}", NULL, NULL);
  settings_say(TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": " LINEAR("4.0") "}",
    NULL, "{\"rope_type\":\"linear\",\"factor\":2.0}; wanted: the same as rope_parameters");
  settings_say(TWO "\"rope_scaling\": null, \"rope_parameters\": " LINEAR("4.0") "}", NULL, NULL);
  settings_say(TWO "\"rope_scaling\": " LINEAR("4.0") ", \"rope_parameters\": null}", NULL, NULL);
  settings_say(
    TWO "\"rope_scaling\": {\"rope_type\": \"x\"}}", NULL, "rope_scaling is {\"rope_type\":\"x\"}");
  settings_say(
    TWO "\"rope_parameters\": {\"rope_type\": \"x\"}}", NULL, "rope_parameters is {\"rope_type\"");
  settings_say(
    TWO "\"rope_parameters\": 7}", NULL, "rope_parameters is 7; wanted: an object or null");
  settings_say(
    TWO "\"rope_scaling\": 7, \"rope_parameters\": " LINEAR("2.0") "}", NULL, "rope_scaling is 7");
  settings_say(
    TWO "\"rope_scaling\": " LINEAR("2.0") ", \"rope_parameters\": \"x\"}", NULL, "rope_");
  settings_say( /* slowed beyond the context only */
    TWO "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}", NULL, NULL);
  settings_say(
    TWO "\"rope_theta\": 500, \"rope_parameters\": {\"rope_theta\": 500.0}}", NULL, NULL);
  settings_say(TWO "\"rope_theta\": null, \"rope_parameters\": {\"rope_theta\": 7}}", NULL, NULL);
  settings_say(TWO "\"rope_theta\": 500, \"rope_parameters\": {\"rope_theta\": 501}}", NULL,
    "rope_theta is 500; wanted: the one in rope_parameters");
  struct memory m = { 0 };
  struct model_config c;
  ck_assert(settings_of(&c, &m, NULL, TWO "\"rope_parameters\": {\"rope_theta\": 7}}", NULL));
  ck_assert_double_eq(c.rope.theta, 7);
  config_close(&m, &c);
  ck_assert(settings_of(&c, &m, NULL, TWO "\"rope_theta\": 8}", NULL) && c.rope.theta == 8);
  config_close(&m, &c);
  /* ends: sixteen, and not one more; those of generation_config.json count, and are said so */
#define SIXTEEN "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,2147483647"
  settings_say(
    TWO "\"eos_token_id\": [" SIXTEEN ",3]}", NULL, "config.json: eos_token_id is [1,2,3");
  settings_say(
    TWO "\"eos_token_id\": 2147483648}", NULL, "eos_token_id is 2147483648; wanted: an id");
  settings_say(TWO "\"eos_token_id\": 3}", "{\"eos_token_id\": [3, true]}",
    "generation_config.json: eos_token_id is [3,true]; wanted: an id or a list of ids");
  ck_assert(
    settings_of(&c, &m, NULL, TWO "\"eos_token_id\": [" SIXTEEN "], \"bos_token_id\": 0}", NULL));
  ck_assert(c.n_eos == 16 && c.eos[15] == 2147483647 && c.has_bos && c.bos == 0);
  ck_assert_str_eq(c.eos_from, "config.json");
  config_close(&m, &c);
  ck_assert(
    settings_of(&c, &m, NULL, TWO "\"eos_token_id\": [" SIXTEEN "]}", "{\"eos_token_id\": 5}"));
  ck_assert(c.n_eos == 1 && c.eos[0] == 5 && !c.has_bos);
  ck_assert_str_eq(c.eos_from, "generation_config.json");
  config_close(&m, &c);
}
END_TEST
/* numbers exactly at their limits, and one beyond */
START_TEST(settings_at_their_limits)
{
  static const struct {
    const char *field;
    bool advice;
    const char *in[4], *out[3];
  } at[] = { { "num_hidden_layers", false, { "1", "2147483647" }, { "0", "2147483648", "1e3" } },
    { "vocab_size", false, { "1", "2147483647" }, { "0", "2147483648" } },
    { "bos_token_id", false, { "0", "2147483647" }, { "-1", "2147483648" } },
    { "max_window_layers", false, { "0", "2147483647" }, { "-1", "2147483648" } },
    { "rms_norm_eps", false, { "0", "1", "1e-300" }, { "1.0000000000000002", "-1e-300" } },
    { "rope_theta", false, { "1", "1e18" }, { "0.9999999999999999", "1.0000000000000002e18" } },
    { "temperature", true, { "0", "10000" }, { "-1e-300", "10000.000000000002" } },
    { "top_p", true, { "0", "1" }, { "1.0000000000000002", "-1" } },
    { "min_p", true, { "0", "1" }, { "2", "-1" } },
    { "typical_p", true, { "1e-9", "1" }, { "0", "0.9e-9", "1.0000000000000002" } },
    { "repetition_penalty", true, { "1e-9", "1e9" }, { "0", "1.0000000000000002e9" } },
    { "top_k", true, { "0", "2147483647" }, { "-1", "2147483648", "3.0" } } };
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
    for (int k = 0; k < 7; k++) {
      const char *value = k < 4 ? at[i].in[k] : at[i].out[k - 4];
      char text[600], advice[200], words[200], layers[40] = ", \"num_hidden_layers\": 2";
      if (value == NULL) continue;
      if (i == 0) layers[0] = '\0';
      snprintf(advice, sizeof advice, "{\"%s\": %s}", at[i].field, value);
      snprintf(text, sizeof text, at[i].advice ? "{" QWEN "%s}" : "{" QWEN "%s, \"%s\": %s}",
        layers, at[i].field, value);
      if (i == 1)
        snprintf(text, sizeof text, "{%s, \"num_hidden_layers\": 2, \"vocab_size\": %s}",
          strstr(QWEN, "\"hidden_size\""), value);
      if (i == 1)
        memmove(text + 26, text + 1, strlen(text)),
          memcpy(text, "{\"model_type\": \"qwen2\",   ", 26);
      snprintf(words, sizeof words, "%s: %s is ",
        at[i].advice ? "generation_config.json" : "/config.json", at[i].field);
      settings_say(text, at[i].advice ? advice : NULL, k < 4 ? NULL : words);
    }
}
END_TEST

/* ---- what a file leaves out is what the library's class has: every setting of files that have only
   the fields that must be there */
START_TEST(absent_fields_have_their_defaults)
{
  static const struct {
    const char *family, *config;
    uint32_t positions, d_inner, n_kv, head_dim, window, windowed_from;
    double eps;
    bool is_gpt2, qkv_bias, qk_norm;
  } row[] = {
    { "gpt2", "{\"model_type\":\"gpt2\",\"vocab_size\":9,\"n_embd\":64,\"n_layer\":30,\"n_head\":4}", 1024, 256, 4, 16, 0, 30,
      1e-5, true, true, false },
    { "llama", "{\"model_type\":\"llama\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"intermediate_size\":24}", 2048, 24, 4, 16, 0, 30, 1e-6, false, false, false },
    { "mistral", "{\"model_type\":\"mistral\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"num_key_value_heads\":2,\"intermediate_size\":24}", 131072, 24, 2, 16, 4096, 0, 1e-6, false, false, false },
    { "qwen2", "{\"model_type\":\"qwen2\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"num_key_value_heads\":2,\"intermediate_size\":24}", 32768, 24, 2, 16, 0, 30, 1e-6, false, true, false },
    { "qwen3", "{\"model_type\":\"qwen3\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"num_key_value_heads\":2,\"intermediate_size\":24}", 32768, 24, 2, 128, 0, 30, 1e-6, false, false, true },
    /* and Qwen's window, once it is used */
    { "qwen2", "{\"model_type\":\"qwen2\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"num_key_value_heads\":2,\"intermediate_size\":24,\"use_sliding_window\":true}", 32768, 24, 2, 16, 4096, 28, 1e-6, false, true, false },
    { "qwen3", "{\"model_type\":\"qwen3\",\"vocab_size\":9,\"hidden_size\":64,\"num_hidden_layers\":30,\"num_attention_heads\":4,"
      "\"num_key_value_heads\":2,\"intermediate_size\":24,\"use_sliding_window\":true}", 32768, 24, 2, 128, 4096, 28, 1e-6, false, false, true } };
  char dir[200], path[400];
  struct memory m = { 0 };
  struct error why = { "" };
  struct model_config c;
  variant_make(dir, "llama");
  for (size_t i = 0; i < 2 * sizeof row / sizeof *row; i++) { /* without the second file, and with an empty one */
    size_t k = i / 2;
    variant_path(path, dir, "config.json"), spill(path, row[k].config, strlen(row[k].config));
    variant_path(path, dir, "generation_config.json");
    if (i % 2 == 0) unlink(path);
    else spill(path, "{}", 2);
    ck_assert_msg(config_open(&c, &m, dir, &why), "%s", why.text);
    ck_assert_str_eq(c.family, row[k].family);
    ck_assert_msg(c.n_positions == row[k].positions && c.d_inner == row[k].d_inner && c.n_kv_heads == row[k].n_kv
      && c.head_dim == row[k].head_dim && c.norm_eps == row[k].eps, "%s", c.family);
    ck_assert(c.layer_norm == row[k].is_gpt2 && c.learned_positions == row[k].is_gpt2 && c.gated != row[k].is_gpt2
      && c.tied == row[k].is_gpt2 && c.out_bias == row[k].is_gpt2 && c.mlp_bias == row[k].is_gpt2);
    ck_assert(c.qkv_bias == row[k].qkv_bias && c.qk_norm == row[k].qk_norm && c.scaled && !c.scaled_by_layer);
    ck_assert(c.activation == (row[k].is_gpt2 ? ACTIVATION_GELU_TANH : ACTIVATION_SILU));
    for (uint32_t layer = 0; layer < 30; layer++)
      ck_assert_msg(config_window(&c, layer) == (layer >= row[k].windowed_from ? row[k].window : 0), "%s, %u", c.family, layer);
    ck_assert(c.rope.kind == ROPE_PLAIN && (row[k].is_gpt2 || c.rope.theta == 10000) && rope_attention(&c.rope) == 1);
    ck_assert(c.n_eos == 0 && !c.has_bos && c.n_ignored == 0);
    ck_assert(!c.sampling.do_sample && c.sampling.temperature == 1 && c.sampling.top_p == 1 && c.sampling.min_p == 0
      && c.sampling.top_k == 0 && c.sampling.typical_p == 1 && c.sampling.repetition_penalty == 1 && c.sampling.no_repeat_ngram_size == 0);
    config_close(&m, &c);
  }
  variant_drop(dir);
  ck_assert_uint_eq(m.all.live, 0);
}
END_TEST

/* ---- each family's own: base of rotations, epsilon, context, tied head, and the heads of keys where the
   field is missing or null (0: then the file is refused). From the library's classes. */
START_TEST(every_family_has_defaults_of_its_own)
{
  static const struct { const char *family; double theta, eps; uint32_t positions, missing, null; bool tied; } row[] = {
    { "llama", 1e4, 1e-6, 2048, 4, 4, false }, { "mistral", 1e4, 1e-6, 131072, 0, 0, false },
    { "qwen2", 1e4, 1e-6, 32768, 0, 4, false }, { "qwen3", 1e4, 1e-6, 32768, 0, 4, false },
    { "smollm3", 2e6, 1e-6, 32768, 0, 4, true }, { "granite", 1e4, 1e-6, 2048, 4, 4, false },
    { "ministral", 1e4, 1e-6, 131072, 0, 0, false }, { "ministral3", 1e4, 1e-5, 262144, 0, 0, false },
    { "seed_oss", 1e4, 1e-6, 524288, 0, 4, false }, { "ernie4_5", 5e5, 1e-5, 131072, 0, 4, true },
    { "olmo2", 1e4, 1e-5, 2048, 4, 4, false }, { "gemma", 1e4, 1e-6, 8192, 0, 0, true },
    { "gemma2", 1e4, 1e-6, 8192, 0, 0, true }, { "gemma3_text", 1e6, 1e-6, 131072, 0, 0, true },
    { "exaone4", 1e4, 1e-5, 2048, 0, 0, false }, { "phi", 1e4, 1e-5, 2048, 4, 4, false },
    { "phi3", 1e4, 1e-5, 4096, 4, 4, false }, { "stablelm", 1e4, 1e-5, 4096, 0, 0, false },
    { "cohere", 5e5, 1e-5, 8192, 4, 4, true }, { "cohere2", 1e4, 1e-5, 8192, 4, 4, true },
    { "mixtral", 1e6, 1e-5, 131072, 0, 0, false }, { "olmoe", 1e4, 1e-5, 4096, 4, 4, false },
    { "qwen2_moe", 1e4, 1e-6, 32768, 0, 0, false }, { "qwen3_moe", 1e4, 1e-6, 32768, 0, 0, false } };
  struct memory m = { 0 };
  struct model_config c;
  for (size_t i = 0; i < 3 * sizeof row / sizeof *row; i++) {
    char text[600];
    const char *t = row[i / 3].family, *experts = strstr(t, "mo") != NULL && strcmp(t, "smollm3") != 0 && strcmp(t, "olmo2") != 0
      ? strcmp(t, "olmoe") == 0 ? ", \"num_experts\": 4, \"num_experts_per_tok\": 2"
      : strcmp(t, "qwen3_moe") == 0 ? ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8"
      : ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8, \"shared_expert_intermediate_size\": 8"
      : strcmp(t, "mixtral") == 0 ? ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2" : "";
    snprintf(text, sizeof text, "{\"model_type\": \"%s\", \"vocab_size\": 9, \"hidden_size\": 64, \"num_hidden_layers\": 4, "
      "\"num_attention_heads\": 4, \"intermediate_size\": 24%s%s, \"rope_parameters\": %s}", t, experts,
      i % 3 == 0 ? ", \"num_key_value_heads\": 2" : i % 3 == 1 ? "" : ", \"num_key_value_heads\": null",
      strcmp(t, "ministral3") == 0 ? "{\"rope_type\": \"default\"}" : "null");
    uint32_t heads = i % 3 == 0 ? 2 : i % 3 == 1 ? row[i / 3].missing : row[i / 3].null;
    if (heads == 0) { settings_say(text, NULL, "num_key_value_heads is "); continue; }
    ck_assert_msg(settings_of(&c, &m, NULL, text, NULL), "%s", text);
    ck_assert_msg(c.rope.theta == row[i / 3].theta && c.norm_eps == row[i / 3].eps && c.n_positions == row[i / 3].positions
      && c.tied == row[i / 3].tied && c.n_kv_heads == heads, "%s %g %g %u %d %u", t, c.rope.theta, c.norm_eps, c.n_positions, c.tied, c.n_kv_heads);
    config_close(&m, &c);
  }
}
END_TEST

/* ---- the stretchings again, as their papers write them, in the libm's functions */
static double one_frequency(const struct rope_config *r, double i, double half)
{
  double f = pow(r->theta, -i / half), dim = 2 * half, ramp;
  switch (r->kind) {
  case ROPE_PLAIN: return f;
  case ROPE_LINEAR: return f / r->factor;
  case ROPE_LLAMA3: {
    double wave = 2 * M_PI / f, low = r->original / r->low_freq_factor,
           high = r->original / r->high_freq_factor;
    if (wave < high) return f;
    if (wave > low) return f / r->factor;
    double span = r->high_freq_factor - r->low_freq_factor;
    double smooth = (r->original / wave - r->low_freq_factor) / span;
    return (1 - smooth) * f / r->factor + smooth * f;
  }
  case ROPE_LONG: case ROPE_YARN: break;
  }
  double low = dim * log(r->original / (r->beta_fast * 2 * M_PI)) / (2 * log(r->theta));
  double high = dim * log(r->original / (r->beta_slow * 2 * M_PI)) / (2 * log(r->theta));
  if (r->truncate) low = floor(low), high = ceil(high);
  low = fmax(low, 0), high = fmin(high, dim - 1);
  if (low == high) high += 0.001;
  ramp = fmin(1, fmax(0, (i - low) / (high - low)));
  return f / r->factor * ramp + f * (1 - ramp);
}
START_TEST(wheels_turn_as_the_papers_say)
{
  uint64_t seed = suite_seed() + 3;
  unsigned beyond = 0, below = 0, flat = 0;
  for (int round = 0; round < 4000; round++) {
    static const double theta[] = { 1.5, 100, 10000, 500000, 1e6, 1e9 };
    struct rope_config r = { .kind = (enum rope_kind)(round % 4),
      .theta = theta[rnd(&seed) % 6],
      .factor = 1 + (double) (rnd(&seed) % 300) / 10,
      .low_freq_factor = .25 * (double) (1 + rnd(&seed) % 8),
      .original = (uint32_t) (1 + rnd(&seed) % (round % 3 ? 9000 : 40)),
      .truncate = rnd(&seed) % 2 };
    r.high_freq_factor = r.low_freq_factor + .5 * (double) (1 + rnd(&seed) % 8);
    r.beta_slow = .01 * (double) (1 + rnd(&seed) % 300);
    r.beta_fast = r.beta_slow + (double) (1 + rnd(&seed) % 40);
    uint32_t half = 1 + (uint32_t) (rnd(&seed) % 70);
    double end = half * log(r.original / (r.beta_slow * 2 * M_PI)) / log(r.theta);
    beyond += end > half && end < 2 * half - 1, below += end<0, flat += end> 2 * half;
    for (uint32_t i = 0; i < half; i++) {
      double got = rope_scaled_frequency(&r, i, half), want = one_frequency(&r, i, half);
      if (!(fabs(got - want) <= 1e-12 * want))
        ck_abort_msg("round %d, wheel %u of %u: %.17g, %.17g", round, i, half, got, want);
    }
  }
  ck_assert(beyond > 50 && below > 20 && flat > 50);
  struct rope_config r = { .kind = ROPE_YARN, .factor = 4, .attention_factor = 0 };
  ck_assert_double_eq_tol(rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15);
  r.mscale = 2;
  ck_assert_double_eq_tol(
    rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15); /* one of the two is none */
  r.mscale_all_dim = .5;
  ck_assert_double_eq_tol(rope_scaled_attention(&r), (.2 * log(4) + 1) / (.05 * log(4) + 1), 1e-15);
  r.mscale = 0;
  ck_assert_double_eq_tol(rope_scaled_attention(&r), .1 * log(4) + 1, 1e-15);
  r.attention_factor = 3, r.mscale = 2;
  ck_assert_double_eq(rope_scaled_attention(&r), 3);
  r.attention_factor = 0, r.factor = 1;
  ck_assert_double_eq(rope_scaled_attention(&r), 1);
  r.kind = ROPE_LLAMA3, r.attention_factor = 3;
  ck_assert_double_eq(rope_scaled_attention(&r), 1);
}
END_TEST

/* published models of this kind have their experts' biases in 16 bits: each expert gets its own */
static void round_biases(const char *dir, bool narrow)
{
  char path[400];
  size_t n, from = 0, end = 0;
  variant_path(path, dir, "model.safetensors");
  unsigned char *b = slurp(path, &n);
  for (int i = 0; i < 8; i++) from |= (size_t) b[i] << 8 * i;
  json_t *all = json_loadb((char *) b + 8, from, 0, NULL), *one;
  unsigned char *data = malloc(n);
  const char *name;
  json_object_foreach(all, name, one)
  {
    json_t *at = json_object_get(one, "data_offsets");
    size_t begin = (size_t) json_integer_value(json_array_get(at, 0)), stop = (size_t) json_integer_value(json_array_get(at, 1)), first = end;
    bool bias = strstr(name, "experts.") != NULL && strstr(name, "_bias") != NULL;
    for (size_t i = begin; at != NULL && i < stop; i += 4) { /* the two low bytes of a float are dropped, or zeros */
      if (!bias) memcpy(data + end, b + 8 + from + i, 4);
      else if (narrow) memcpy(data + end, b + 8 + from + i + 2, 2);
      else memcpy(data + end, "\0", 2), memcpy(data + end + 2, b + 8 + from + i + 2, 2);
      end += bias && narrow ? 2 : 4;
    }
    if (at == NULL) continue;
    json_object_set_new(one, "data_offsets", json_pack("[i,i]", (int) first, (int) end));
    if (bias && narrow) json_object_set_new(one, "dtype", json_string("BF16"));
  }
  char *text = json_dumps(all, JSON_COMPACT);
  size_t k = strlen(text);
  FILE *f = fopen(path, "wb");
  for (int i = 0; i < 8; i++) putc((int) (k >> 8 * i & 255), f);
  fwrite(text, 1, k, f), fwrite(data, 1, end, f);
  ck_assert(fclose(f) == 0);
  free(text), free(data), free(b), json_decref(all);
}
START_TEST(biases_of_experts_may_be_short)
{
  static float x[2][6 * 64];
  uint32_t ids[6] = { 3, 1, 4, 1, 5, 9 };
  size_t which[6] = { 0, 1, 2, 3, 4, 5 }, v = 0;
  for (int narrow = 0; narrow < 2; narrow++) {
    char dir[200];
    struct rig r;
    variant_make(dir, "families/gpt_oss");
    round_biases(dir, narrow);
    ck_assert_msg(rig_open(&r, dir, NULL, 1, 1), "%s", r.why.text);
    v = r.lm->config.vocab_size;
    ck_assert(v <= 64 && model_evaluate(&r.e, r.lm, r.s, ids, 6, which, 6, x[narrow], &r.why));
    store_close(r.s), model_close(&r.m, r.lm);
    ck_assert_uint_eq(r.m.all.live, 0);
    variant_drop(dir);
  }
  ck_assert(memcmp(x[0], x[1], 6 * v * sizeof(float)) == 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("families");
  TCase *t = tcase_create("edges");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_list_of_layers_has_a_word_for_each);
  tcase_add_test(t, two_places_for_one_setting_agree_or_are_refused);
  tcase_add_test(t, settings_at_their_limits);
  tcase_add_test(t, wheels_turn_as_the_papers_say);
  suite_add_tcase(s, t);
  t = tcase_create("files");
  tcase_add_test(t, refusals_name_file_field_found_wanted);
  tcase_add_test(t, types_that_the_kernels_cannot_multiply_are_refused);
  tcase_add_test(t, the_tables_of_families_and_settings_are_whole);
  tcase_add_test(t, a_layout_says_how_a_file_has_its_tensors);
  tcase_add_test(t, a_prepared_model_gives_the_same_logits);
  tcase_add_test(t, used_fields_change_the_answer_or_are_refused);
  tcase_add_test(t, yarn_takes_null_for_no);
  tcase_add_test(t, harmless_fields_change_nothing);
  tcase_add_test(t, published_settings_are_understood);
  tcase_add_test(t, harmless_advice_is_listed);
  tcase_add_test(t, unknown_fields_are_named_together);
  tcase_add_test(t, a_loading_is_told_and_given_up);
  tcase_add_test(t, silence_means_what_the_library_means);
  tcase_add_test(t, a_config_may_be_silent);
  tcase_add_test(t, a_model_is_counted);
  tcase_add_test(t, absent_fields_have_their_defaults);
  tcase_add_test(t, every_family_has_defaults_of_its_own);
  tcase_add_test(t, tensors_may_lie_anywhere_and_be_stored_twice);
  tcase_add_test(t, doubles_are_rounded_once);
  tcase_add_test(t, a_tied_head_of_doubles_is_compared_as_floats);
  tcase_add_test(t, doubles_without_memory_are_refused);
  tcase_add_test(t, each_double_becomes_the_nearest_float);
  tcase_add_test(t, biases_of_experts_may_be_short);
  suite_add_tcase(s, t);
  return suite_run(s);
}
