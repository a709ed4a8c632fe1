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
#include "families/rows.inc"
  };
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
