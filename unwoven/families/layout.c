/* layout.c -- how files name the tensors of a model, and in which order they store the
   numbers.

   A layout is data: a new kind of file is a table, and nobody compares names elsewhere. In a
   pattern a tilde is the prefix that the body of the model may have, a number sign the number
   of the layer. Whether rows are permuted or matrices transposed is never guessed from a
   shape, since a square matrix has the shape of its transpose. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "families/families.h"
#include "families/layout.h"

/* The names that GPT-2's makers gave to the parts of their program: wte and wpe are the
   embeddings of tokens and of positions, c_fc is the up projection, c_proj the output of
   attention or the down projection. Queries, keys and values are one matrix, three times as
   wide as the row. The head has no prefix: it does not belong to the body that the prefix
   names. */
static const struct tensor_layout hf_gpt2 = {
  .name = "hf-gpt2", .format = "safetensors",
  .prefix = "transformer.", .of = {
  [TENSOR_EMBEDDING] = {"~wte", false, false},
  [TENSOR_POSITIONS] = {"~wpe", false, false},
  [TENSOR_FINAL_NORM] = {"~ln_f", false, false},
  [TENSOR_HEAD] = {"lm_head", false, false},
  [TENSOR_ATTN_NORM] = {"~h.#.ln_1", false, false},
  [TENSOR_QKV] = {"~h.#.attn.c_attn", true, false},
  [TENSOR_OUT] = {"~h.#.attn.c_proj", true, false},
  [TENSOR_MLP_NORM] = {"~h.#.ln_2", false, false},
  [TENSOR_UP] = {"~h.#.mlp.c_fc", true, false},
  [TENSOR_DOWN] = {"~h.#.mlp.c_proj", true, false} } };

/* All later families of Hugging Face have Llama's names. Qwen 3 has a norm for the queries and
   one for the keys, as wide as one head. One name misleads: post_attention_layernorm, the
   second norm of a layer, comes after attention, and for us it is the norm before the MLP. */
static const struct tensor_layout hf_llama = {
  .name = "hf-llama", .format = "safetensors", .prefix = "model.", .of = {
  [TENSOR_EMBEDDING] = {"~embed_tokens", false, false},
  [TENSOR_FINAL_NORM] = {"~norm", false, false},
  [TENSOR_HEAD] = {"lm_head", false, false},
  [TENSOR_ATTN_NORM] = {"~layers.#.input_layernorm", false, false},
  [TENSOR_Q] = {"~layers.#.self_attn.q_proj", false, false},
  [TENSOR_K] = {"~layers.#.self_attn.k_proj", false, false},
  [TENSOR_V] = {"~layers.#.self_attn.v_proj", false, false},
  [TENSOR_Q_NORM] = {"~layers.#.self_attn.q_norm", false, false},
  [TENSOR_K_NORM] = {"~layers.#.self_attn.k_norm", false, false},
  [TENSOR_OUT] = {"~layers.#.self_attn.o_proj", false, false},
  [TENSOR_MLP_NORM] = {"~layers.#.post_attention_layernorm", false, false},
  [TENSOR_GATE] = {"~layers.#.mlp.gate_proj", false, false},
  [TENSOR_UP] = {"~layers.#.mlp.up_proj", false, false},
  [TENSOR_DOWN] = {"~layers.#.mlp.down_proj", false, false} } };

/* llama.cpp has one set of names for all families, and transposes nothing. */
static const struct tensor_layout gguf_gpt2 = {
  .name = "gguf-gpt2", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},
  [TENSOR_HEAD] = {"output", false, false},
  [TENSOR_POSITIONS] = {"position_embd", false, false},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},
  [TENSOR_QKV] = {"blk.#.attn_qkv", false, false},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } };

/* Only here are rows permuted: Meta's program, for which the format's first files were made,
   turned neighbours. rope_freqs, the divisors of the frequencies, are in the files of some
   Llamas only. */
static const struct tensor_layout gguf_llama = {
  .name = "gguf-llama", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},
  [TENSOR_HEAD] = {"output", false, false},
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},
  [TENSOR_Q] = {"blk.#.attn_q", false, true},
  [TENSOR_K] = {"blk.#.attn_k", false, true},
  [TENSOR_V] = {"blk.#.attn_v", false, false},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } };

/* Qwen2 and Qwen3 share this one. */
static const struct tensor_layout gguf_qwen = {
  .name = "gguf-qwen", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false},
  [TENSOR_HEAD] = {"output", false, false},
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false},
  [TENSOR_Q] = {"blk.#.attn_q", false, false},
  [TENSOR_K] = {"blk.#.attn_k", false, false},
  [TENSOR_V] = {"blk.#.attn_v", false, false},
  [TENSOR_Q_NORM] = {"blk.#.attn_q_norm", false, false},
  [TENSOR_K_NORM] = {"blk.#.attn_k_norm", false, false},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false},
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false} } };

const struct tensor_layout *layout_at(size_t i)
{
  static const struct tensor_layout *const known[] = { &hf_gpt2, &hf_llama,
    &gguf_gpt2, &gguf_llama, &gguf_qwen };
  return i < sizeof known / sizeof known[0] ? known[i] : NULL;
}

/* A row of the table of families has the names of its two layouts. */
const struct tensor_layout *layout_find(const char *format, const char *family)
{
  const struct family_row *f = family == NULL ? NULL : family_named(family);
  const struct tensor_layout *l = NULL;
  for (size_t i = 0; f != NULL && (l = layout_at(i)) != NULL; i++)
    if (strcmp(l->format, format) == 0 && (strcmp(l->name, f->layout[0]) == 0
        || strcmp(l->name, f->layout[1]) == 0)) break;
  return l;
}

bool layout_fused(const struct tensor_layout *l)
{
  return l->of[TENSOR_QKV].pattern != NULL;
}

/* Piece by piece: a tilde is the prefix, a number sign the layer. A name that does not fit is
   cut, and then no tensor is found under it. */
void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160])
{
  size_t n = 0;
  for (const char *p = l->of[role].pattern; *p != '\0' && n < 160; p++) {
    char *to = full + n;
    size_t left = 160 - n;
    if (*p == '~') n += (size_t) snprintf(to, left, "%s", prefix);
    else if (*p == '#') n += (size_t) snprintf(to, left, "%" PRIu32, layer);
    else n += (size_t) snprintf(to, left, "%c", *p);
  }
  if (n < 160) snprintf(full + n, 160 - n, ".%s", what);
}
