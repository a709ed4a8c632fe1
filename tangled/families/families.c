/* families.c -- The table of families.
   made from workshop/03-models.w; change it there

   Everything that depends on a family is a row here, a bit in a row of fields.inc, or
   a layout; nothing else in the program asks which family a model has. */

#include <stdio.h>
#include <string.h>
#include "families/families.h"

/* <The table of families> */
const struct family_row model_families[] =
  { [FAMILY_GPT2] = {"gpt2", "GPT2LMHeadModel", NULL, "gpt2",
    {"hf-gpt2", "gguf-gpt2"}, { .family = "gpt2", .n_positions = 1024, .layer_norm = true, .norm_eps = 1e-5,
    .learned_positions = true, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .tied = true, .scaled = true,
    .activation = ACTIVATION_GELU_TANH }},
  [FAMILY_LLAMA] = {"llama", "LlamaForCausalLM", "LLaMAForCausalLM", "llama",
    {"hf-llama", "gguf-llama"}, { .family = "llama", .n_positions = 2048, .gated = true, .norm_eps = 1e-6,
    .scaled = true }},
  [FAMILY_MISTRAL] = {"mistral", "MistralForCausalLM", NULL, "llama",
    {"hf-llama", "gguf-llama"}, { .family = "mistral", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .window = 4096, .window_used = true }},
  [FAMILY_QWEN2] = {"qwen2", "Qwen2ForCausalLM", NULL, "qwen2",
    {"hf-llama", "gguf-qwen"}, { .family = "qwen2", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qkv_bias = true, .window = 4096, .window_from = 28 }},
  [FAMILY_QWEN3] = {"qwen3", "Qwen3ForCausalLM", NULL, "qwen3",
    {"hf-llama", "gguf-qwen"}, { .family = "qwen3", .n_positions = 32768, .gated = true, .norm_eps = 1e-6,
    .scaled = true, .qk_norm = true, .head_dim = 128, .window = 4096,
    .window_from = 28 }},
  /* <Families that are settings only> */
  [FAMILY_SMOLLM3] = {"smollm3", "SmolLM3ForCausalLM", NULL, "smollm3",
    {"hf-llama", "gguf-llama"}, { .family = "smollm3", .n_positions = 32768, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .tied = true, .unturned_every = 4,
    .rope = { .theta = 2e6 } }},
  [FAMILY_GRANITE] = {"granite", "GraniteForCausalLM", NULL, "granite",
    {"hf-llama", "gguf-llama"}, { .family = "granite", .n_positions = 2048, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .score_scale = 1 }},
  [FAMILY_MINISTRAL] = {"ministral", "MinistralForCausalLM", NULL, NULL,
    {"hf-llama", NULL}, { .family = "ministral", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .window = 4096, .window_used = true }},
  [FAMILY_MINISTRAL3] = {"ministral3", "Ministral3ForCausalLM", NULL, "mistral3",
    {"hf-llama", "gguf-llama"}, { .family = "ministral3", .n_positions = 262144, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .head_dim = 128, .window_used = true }},
  [FAMILY_SEED_OSS] = {"seed_oss", "SeedOssForCausalLM", NULL, "seed_oss",
    {"hf-llama", "gguf-seed"}, { .family = "seed_oss", .n_positions = 524288, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .qkv_bias = true, .head_dim = 128 }},
  [FAMILY_ERNIE] = {"ernie4_5", "Ernie4_5ForCausalLM", NULL, "ernie4_5",
    {"hf-llama", "gguf-qwen"}, { .family = "ernie4_5", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .tied = true, .interleaved = true, .head_dim = 128,
    .rope = { .theta = 5e5 } }},
  /* <Families with other norms and scales> */
  [FAMILY_OLMO2] = {"olmo2", "Olmo2ForCausalLM", NULL, "olmo2",
    {"hf-olmo2", "gguf-olmo2"}, { .family = "olmo2", .n_positions = 2048, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .bare_branches = true, .post_norms = true,
    .qk_norm = true, .qk_norm_wide = true }},
  [FAMILY_EXAONE4] = {"exaone4", "Exaone4ForCausalLM", NULL, "exaone4",
    {"hf-olmo2", "gguf-olmo2"}, { .family = "exaone4", .n_positions = 2048, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .bare_branches = true, .post_norms = true,
    .qk_norm = true, .window = 4096, .window_used = true, .window_pattern = 4 }},
  [FAMILY_GEMMA] = {"gemma", "GemmaForCausalLM", NULL, "gemma",
    {"hf-llama", "gguf-qwen"}, { .family = "gemma", .n_positions = 8192, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .tied = true, .head_dim = 256,
    .activation = ACTIVATION_GELU_TANH, .one_plus = true, .root_embedding = true }},
  [FAMILY_GEMMA2] = {"gemma2", "Gemma2ForCausalLM", NULL, "gemma2",
    {"hf-gemma2", "gguf-gemma2"}, { .family = "gemma2", .n_positions = 8192, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .tied = true, .head_dim = 256,
    .activation = ACTIVATION_GELU_TANH, .one_plus = true, .root_embedding = true,
    .post_norms = true, .score_scale = 0.0625, .score_cap = 50, .logit_cap = 30,
    .window = 4096, .window_used = true, .window_pattern = 2 }},
  [FAMILY_GEMMA3] = {"gemma3_text", "Gemma3ForCausalLM", NULL, "gemma3",
    {"hf-gemma2", "gguf-gemma2"}, { .family = "gemma3_text", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .tied = true, .head_dim = 256,
    .activation = ACTIVATION_GELU_TANH, .one_plus = true, .root_embedding = true,
    .post_norms = true, .qk_norm = true, .score_scale = 0.0625,
    .window = 4096, .window_used = true, .window_pattern = 6,
    .rope = { .theta = 1e6, .local_theta = 1e4 } }},
  /* <Families whose halves are parallel, or whose matrices are fused> */
  [FAMILY_NEOX] = {"gpt_neox", "GPTNeoXForCausalLM", NULL, "gptneox",
    {"hf-neox", "gguf-neox"}, { .family = "gpt_neox", .n_positions = 2048, .norm_eps = 1e-5,
    .scaled = true, .layer_norm = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true,
    .activation = ACTIVATION_GELU_ERF, .parallel = true, .qkv_grouped = true,
    .rotary_part = 0.25 }},
  [FAMILY_FALCON] = {"falcon", "FalconForCausalLM", NULL, "falcon",
    {"hf-falcon", "gguf-falcon"}, { .family = "falcon", .n_positions = 2048, .norm_eps = 1e-5,
    .scaled = true, .layer_norm = true, .tied = true, .activation = ACTIVATION_GELU_ERF,
    .parallel = true, .qkv_grouped = true }},
  [FAMILY_PHI] = {"phi", "PhiForCausalLM", NULL, "phi2",
    {"hf-phi", "gguf-phi2"}, { .family = "phi", .n_positions = 2048, .norm_eps = 1e-5,
    .scaled = true, .layer_norm = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true,
    .activation = ACTIVATION_GELU_TANH, .parallel = true, .shared_norm = true, .head_bias = true,
    .rotary_part = 0.5 }},
  [FAMILY_STABLELM] = {"stablelm", "StableLmForCausalLM", NULL, "stablelm",
    {"hf-stablelm", "gguf-qwen"}, { .family = "stablelm", .n_positions = 4096, .norm_eps = 1e-5,
    .scaled = true, .gated = true, .layer_norm = true, .rotary_part = 0.25 }},
  [FAMILY_COHERE] = {"cohere", "CohereForCausalLM", NULL, "command-r",
    {"hf-llama", "gguf-qwen"}, { .family = "cohere", .n_positions = 8192, .norm_eps = 1e-5,
    .scaled = true, .gated = true, .tied = true, .layer_norm = true, .unbiased_norm = true,
    .parallel = true, .shared_norm = true, .interleaved = true, .logit_scale = 0.0625,
    .rope = { .theta = 5e5 } }},
  [FAMILY_COHERE2] = {"cohere2", "Cohere2ForCausalLM", NULL, "cohere2",
    {"hf-llama", "gguf-qwen"}, { .family = "cohere2", .n_positions = 8192, .norm_eps = 1e-5,
    .scaled = true, .gated = true, .tied = true, .layer_norm = true, .unbiased_norm = true,
    .parallel = true, .shared_norm = true, .interleaved = true, .logit_scale = 0.0625,
    .window = 4096, .window_used = true, .window_pattern = 4 }},
  [FAMILY_PHI3] = {"phi3", "Phi3ForCausalLM", NULL, "phi3",
    {"hf-phi3", "gguf-phi3"}, { .family = "phi3", .n_positions = 4096, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .window_used = true, .rope = { .original = 4096 } }},
  /* <Families with experts> */
  [FAMILY_MIXTRAL] = {"mixtral", "MixtralForCausalLM", NULL, "llama",
    {"hf-mixtral", "gguf-mixtral"}, { .family = "mixtral", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .window_used = true, .chosen_normed = true,
    .rope = { .theta = 1e6 } }},
  [FAMILY_QWEN3_MOE] = {"qwen3_moe", "Qwen3MoeForCausalLM", NULL, "qwen3moe",
    {"hf-moe", "gguf-moe"}, { .family = "qwen3_moe", .n_positions = 32768, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .qk_norm = true }},
  [FAMILY_OLMOE] = {"olmoe", "OlmoeForCausalLM", NULL, "olmoe",
    {"hf-moe", "gguf-moe"}, { .family = "olmoe", .n_positions = 4096, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .qk_norm = true, .qk_norm_wide = true }},
  [FAMILY_QWEN2_MOE] = {"qwen2_moe", "Qwen2MoeForCausalLM", NULL, "qwen2moe",
    {"hf-moe", "gguf-moe"}, { .family = "qwen2_moe", .n_positions = 32768, .gated = true,
    .norm_eps = 1e-6, .scaled = true, .qkv_bias = true }},
  [FAMILY_GPT_OSS] = {"gpt_oss", "GptOssForCausalLM", NULL, "gpt-oss",
    {"hf-gpt-oss", "gguf-gpt-oss"}, { .family = "gpt_oss", .n_positions = 131072, .gated = true,
    .norm_eps = 1e-5, .scaled = true, .head_dim = 64, .qkv_bias = true, .out_bias = true,
    .mlp_bias = true, .chosen_normed = true, .head_sinks = true, .swiglu_alpha = 1.702,
    .swiglu_limit = 7, .window = 128, .window_used = true, .window_pattern = 2,
    .rope = { .theta = 150000 } }}, };
_Static_assert(sizeof model_families / sizeof model_families[0] == N_FAMILIES,
  "a family without a row");

/* <Ask the table of families> */
const struct family_row *family_named(const char *type)
{
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(model_families[i].type, type) == 0) return &model_families[i];
  return NULL;
}

/* Two families may share a name in GGUF files; it is listed once. */
const char *family_list(bool gguf, char list[FAMILY_LIST])
{
  const char *name[N_FAMILIES];
  size_t n = 0, at = 0;
  for (int i = 0; i < N_FAMILIES; i++) {
    const char *one = gguf ? model_families[i].gguf : model_families[i].type;
    bool met = one == NULL;
    for (size_t k = 0; k < n && !met; k++) met = strcmp(name[k], one) == 0;
    if (!met) name[n++] = one;
  }
  for (size_t i = 0; i < n && at < FAMILY_LIST; i++) {
    const char *before = i + 1 < n ? ", " : " or ";
    at += (size_t) snprintf(list + at, FAMILY_LIST - at, "%s%s", i == 0 ? "" : before,
      name[i]);
  }
  return list;
}
