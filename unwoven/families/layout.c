/* layout.c -- how files name the tensors of a model, and in which order they store the
   numbers.

   A layout is data: a new kind of file is a table, and nobody compares names elsewhere. In a
   pattern a tilde is the prefix that the body of the model may have, a number sign the number
   of the layer, a per cent sign that of an expert. A bar at its end: nothing follows for a weight, and
   anything else after an underscore. Whether rows are permuted or matrices transposed is never guessed from a
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
  [TENSOR_EMBEDDING] = {"~wte", false, false, NULL},
  [TENSOR_POSITIONS] = {"~wpe", false, false, NULL},
  [TENSOR_FINAL_NORM] = {"~ln_f", false, false, NULL},
  [TENSOR_HEAD] = {"lm_head", false, false, NULL},
  [TENSOR_ATTN_NORM] = {"~h.#.ln_1", false, false, NULL},
  [TENSOR_QKV] = {"~h.#.attn.c_attn", true, false, NULL},
  [TENSOR_OUT] = {"~h.#.attn.c_proj", true, false, NULL},
  [TENSOR_MLP_NORM] = {"~h.#.ln_2", false, false, NULL},
  [TENSOR_UP] = {"~h.#.mlp.c_fc", true, false, NULL},
  [TENSOR_DOWN] = {"~h.#.mlp.c_proj", true, false, NULL} } };

/* All later families of Hugging Face have Llama's names. Qwen 3 has a norm for the queries and
   one for the keys, as wide as one head. One name misleads: post_attention_layernorm, the
   second norm of a layer, comes after attention, and for us it is the norm before the MLP. */
static const struct tensor_layout hf_llama = {
  .name = "hf-llama", .format = "safetensors", .prefix = "model.", .of = {
  [TENSOR_EMBEDDING] = {"~embed_tokens", false, false, NULL},
  [TENSOR_FINAL_NORM] = {"~norm", false, false, NULL},
  [TENSOR_HEAD] = {"lm_head", false, false, NULL},
  [TENSOR_ATTN_NORM] = {"~layers.#.input_layernorm", false, false, NULL},
  [TENSOR_Q] = {"~layers.#.self_attn.q_proj", false, false, NULL},
  [TENSOR_K] = {"~layers.#.self_attn.k_proj", false, false, NULL},
  [TENSOR_V] = {"~layers.#.self_attn.v_proj", false, false, NULL},
  [TENSOR_Q_NORM] = {"~layers.#.self_attn.q_norm", false, false, NULL},
  [TENSOR_K_NORM] = {"~layers.#.self_attn.k_norm", false, false, NULL},
  [TENSOR_OUT] = {"~layers.#.self_attn.o_proj", false, false, NULL},
  [TENSOR_MLP_NORM] = {"~layers.#.post_attention_layernorm", false, false, NULL},
  [TENSOR_GATE] = {"~layers.#.mlp.gate_proj", false, false, NULL},
  [TENSOR_UP] = {"~layers.#.mlp.up_proj", false, false, NULL},
  [TENSOR_DOWN] = {"~layers.#.mlp.down_proj", false, false, NULL} } };

/* llama.cpp has one set of names for all families, and transposes nothing. */
static const struct tensor_layout gguf_gpt2 = {
  .name = "gguf-gpt2", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false, NULL},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false, NULL},
  [TENSOR_HEAD] = {"output", false, false, NULL},
  [TENSOR_POSITIONS] = {"position_embd", false, false, NULL},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false, NULL},
  [TENSOR_QKV] = {"blk.#.attn_qkv", false, false, NULL},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false, NULL},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false, NULL},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false, NULL},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false, NULL} } };

/* Only here are rows permuted: Meta's program, for which the format's first files were made,
   turned neighbours. rope_freqs, the divisors of the frequencies, are in the files of some
   Llamas only. */
static const struct tensor_layout gguf_llama = {
  .name = "gguf-llama", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false, NULL},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false, NULL},
  [TENSOR_HEAD] = {"output", false, false, NULL},
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false, NULL},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false, NULL},
  [TENSOR_Q] = {"blk.#.attn_q", false, true, NULL},
  [TENSOR_K] = {"blk.#.attn_k", false, true, NULL},
  [TENSOR_V] = {"blk.#.attn_v", false, false, NULL},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false, NULL},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false, NULL},
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false, NULL},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false, NULL},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false, NULL} } };

/* Qwen2 and Qwen3 share this one. */
static const struct tensor_layout gguf_qwen = {
  .name = "gguf-qwen", .format = "gguf", .of = {
  [TENSOR_EMBEDDING] = {"token_embd", false, false, NULL},
  [TENSOR_FINAL_NORM] = {"output_norm", false, false, NULL},
  [TENSOR_HEAD] = {"output", false, false, NULL},
  [TENSOR_ROPE_FACTORS] = {"rope_freqs", false, false, NULL},
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm", false, false, NULL},
  [TENSOR_Q] = {"blk.#.attn_q", false, false, NULL},
  [TENSOR_K] = {"blk.#.attn_k", false, false, NULL},
  [TENSOR_V] = {"blk.#.attn_v", false, false, NULL},
  [TENSOR_Q_NORM] = {"blk.#.attn_q_norm", false, false, NULL},
  [TENSOR_K_NORM] = {"blk.#.attn_k_norm", false, false, NULL},
  [TENSOR_OUT] = {"blk.#.attn_output", false, false, NULL},
  [TENSOR_MLP_NORM] = {"blk.#.ffn_norm", false, false, NULL},
  [TENSOR_GATE] = {"blk.#.ffn_gate", false, false, NULL},
  [TENSOR_UP] = {"blk.#.ffn_up", false, false, NULL},
  [TENSOR_DOWN] = {"blk.#.ffn_down", false, false, NULL} } };

/* What most later families have in common. */
#define SAME(at, name) [at] = {name, false, false, NULL}

/* OLMo 2 and Exaone 4: no norm comes before a half, so here post_attention_layernorm is what it says. */
static const struct tensor_layout hf_olmo2 = {
  .name = "hf-olmo2", .format = "safetensors", .prefix = "model.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"),
  SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"), SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"),
  SAME(TENSOR_K, "~layers.#.self_attn.k_proj"), SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_GATE, "~layers.#.mlp.gate_proj"),
  SAME(TENSOR_UP, "~layers.#.mlp.up_proj"), SAME(TENSOR_DOWN, "~layers.#.mlp.down_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_Q_NORM, "~layers.#.self_attn.q_norm"),
  SAME(TENSOR_K_NORM, "~layers.#.self_attn.k_norm"),
  SAME(TENSOR_ATTN_POST, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_MLP_POST, "~layers.#.post_feedforward_layernorm") } };

/* Gemma 2 and 3 have both, and so the norm before the MLP has a third name. */
static const struct tensor_layout hf_gemma2 = {
  .name = "hf-gemma2", .format = "safetensors", .prefix = "model.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"),
  SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"), SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"),
  SAME(TENSOR_K, "~layers.#.self_attn.k_proj"), SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_GATE, "~layers.#.mlp.gate_proj"),
  SAME(TENSOR_UP, "~layers.#.mlp.up_proj"), SAME(TENSOR_DOWN, "~layers.#.mlp.down_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_Q_NORM, "~layers.#.self_attn.q_norm"),
  SAME(TENSOR_K_NORM, "~layers.#.self_attn.k_norm"),
  SAME(TENSOR_ATTN_POST, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_MLP_NORM, "~layers.#.pre_feedforward_layernorm"),
  SAME(TENSOR_MLP_POST, "~layers.#.post_feedforward_layernorm") } };

/* The rows of one matrix are queries, keys and values, each all heads together, and those of another
   gate and up. A slice of a matrix is a matrix, so nothing is cut while the model runs. */
static const struct tensor_layout hf_phi3 = {
  .name = "hf-phi3", .format = "safetensors", .prefix = "model.", .sliced = true,
  .gate_above = true, .of = { SAME(TENSOR_EMBEDDING, "~embed_tokens"),
  SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_QKV, "~layers.#.self_attn.qkv_proj"),
  SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_UP, "~layers.#.mlp.gate_up_proj"),
  SAME(TENSOR_DOWN, "~layers.#.mlp.down_proj") } };

/* GPT-NeoX and Pythia. The head was called embed_out until version 5 of the library. */
static const struct tensor_layout hf_neox = {
  .name = "hf-neox", .format = "safetensors", .prefix = "gpt_neox.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_in"), SAME(TENSOR_FINAL_NORM, "~final_layer_norm"),
  [TENSOR_HEAD] = {"embed_out", false, false, "lm_head"},
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_QKV, "~layers.#.attention.query_key_value"),
  SAME(TENSOR_OUT, "~layers.#.attention.dense"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_UP, "~layers.#.mlp.dense_h_to_4h"),
  SAME(TENSOR_DOWN, "~layers.#.mlp.dense_4h_to_h") } };

/* The norms of Falcon have other names where there are two of them for parallel halves. */
static const struct tensor_layout hf_falcon = {
  .name = "hf-falcon", .format = "safetensors", .prefix = "transformer.", .of = {
  SAME(TENSOR_EMBEDDING, "~word_embeddings"), SAME(TENSOR_FINAL_NORM, "~ln_f"),
  SAME(TENSOR_HEAD, "lm_head"),
  [TENSOR_ATTN_NORM] = {"~h.#.input_layernorm", false, false, "~h.#.ln_attn"},
  SAME(TENSOR_QKV, "~h.#.self_attention.query_key_value"),
  SAME(TENSOR_OUT, "~h.#.self_attention.dense"),
  [TENSOR_MLP_NORM] = {"~h.#.post_attention_layernorm", false, false, "~h.#.ln_mlp"},
  SAME(TENSOR_UP, "~h.#.mlp.dense_h_to_4h"),
  SAME(TENSOR_DOWN, "~h.#.mlp.dense_4h_to_h") } };

/* Phi-1, 1.5 and 2. */
static const struct tensor_layout hf_phi = {
  .name = "hf-phi", .format = "safetensors", .prefix = "model.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"), SAME(TENSOR_FINAL_NORM, "~final_layernorm"),
  SAME(TENSOR_HEAD, "lm_head"), SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"),
  SAME(TENSOR_K, "~layers.#.self_attn.k_proj"), SAME(TENSOR_V, "~layers.#.self_attn.v_proj"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_Q_NORM, "~layers.#.self_attn.q_layernorm"),
  SAME(TENSOR_K_NORM, "~layers.#.self_attn.k_layernorm"),
  SAME(TENSOR_OUT, "~layers.#.self_attn.dense"),
  SAME(TENSOR_UP, "~layers.#.mlp.fc1"), SAME(TENSOR_DOWN, "~layers.#.mlp.fc2") } };

static const struct tensor_layout hf_stablelm = {
  .name = "hf-stablelm", .format = "safetensors", .prefix = "model.", .norms_apart = true,
  .of = { SAME(TENSOR_EMBEDDING, "~embed_tokens"),
  SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"), SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"),
  SAME(TENSOR_K, "~layers.#.self_attn.k_proj"), SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_GATE, "~layers.#.mlp.gate_proj"),
  SAME(TENSOR_UP, "~layers.#.mlp.up_proj"), SAME(TENSOR_DOWN, "~layers.#.mlp.down_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_Q_NORM, "~layers.#.self_attn.q_layernorm"),
  SAME(TENSOR_K_NORM, "~layers.#.self_attn.k_layernorm"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm") } };

/* The same families in llama.cpp's words. A Gemma has its norms with the 1 already added. */
static const struct tensor_layout gguf_olmo2 = {
  .name = "gguf-olmo2", .format = "gguf", .of = { SAME(TENSOR_EMBEDDING, "token_embd"),
  SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"), SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"),
  SAME(TENSOR_V, "blk.#.attn_v"), SAME(TENSOR_Q_NORM, "blk.#.attn_q_norm"),
  SAME(TENSOR_K_NORM, "blk.#.attn_k_norm"), SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_GATE, "blk.#.ffn_gate"), SAME(TENSOR_UP, "blk.#.ffn_up"),
  SAME(TENSOR_DOWN, "blk.#.ffn_down"), SAME(TENSOR_ATTN_POST, "blk.#.post_attention_norm"),
  SAME(TENSOR_MLP_POST, "blk.#.post_ffw_norm"), SAME(TENSOR_ROPE_FACTORS, "rope_freqs") } };
static const struct tensor_layout gguf_gemma2 = {
  .name = "gguf-gemma2", .format = "gguf", .of = { SAME(TENSOR_EMBEDDING, "token_embd"),
  SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"), SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"),
  SAME(TENSOR_V, "blk.#.attn_v"), SAME(TENSOR_Q_NORM, "blk.#.attn_q_norm"),
  SAME(TENSOR_K_NORM, "blk.#.attn_k_norm"), SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_GATE, "blk.#.ffn_gate"), SAME(TENSOR_UP, "blk.#.ffn_up"),
  SAME(TENSOR_DOWN, "blk.#.ffn_down"), SAME(TENSOR_ATTN_POST, "blk.#.post_attention_norm"),
  SAME(TENSOR_MLP_POST, "blk.#.post_ffw_norm"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm") } };
static const struct tensor_layout gguf_phi3 = {
  .name = "gguf-phi3", .format = "gguf", .sliced = true, .gate_above = true, .of = { SAME(TENSOR_EMBEDDING, "token_embd"),
  SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_ROPE_SHORT, "rope_factors_short"), SAME(TENSOR_ROPE_LONG, "rope_factors_long"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_QKV, "blk.#.attn_qkv"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm"),
  SAME(TENSOR_UP, "blk.#.ffn_up"), SAME(TENSOR_DOWN, "blk.#.ffn_down") } };

/* In these files queries, keys and values are three blocks of rows, also where a directory has them head by
   head. Falcon's norms have other names where there are two: the one that comes first here, in the order of
   the calculation, was the second that they named. */
static const struct tensor_layout gguf_neox = {
  .name = "gguf-neox", .format = "gguf", .sliced = true, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_QKV, "blk.#.attn_qkv"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm"),
  SAME(TENSOR_UP, "blk.#.ffn_up"), SAME(TENSOR_DOWN, "blk.#.ffn_down") } };
static const struct tensor_layout gguf_falcon = {
  .name = "gguf-falcon", .format = "gguf", .sliced = true, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  [TENSOR_ATTN_NORM] = {"blk.#.attn_norm_2", false, false, "blk.#.attn_norm"},
  SAME(TENSOR_MLP_NORM, "blk.#.attn_norm"), SAME(TENSOR_QKV, "blk.#.attn_qkv"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_UP, "blk.#.ffn_up"),
  SAME(TENSOR_DOWN, "blk.#.ffn_down") } };

/* The first files of a Phi-2 were made of a directory in which its three matrices were still one. */
static const struct tensor_layout gguf_phi2_fused = {
  .name = "gguf-phi2-fused", .format = "gguf", .sliced = true, .told_by = TENSOR_QKV, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_QKV, "blk.#.attn_qkv"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_UP, "blk.#.ffn_up"),
  SAME(TENSOR_DOWN, "blk.#.ffn_down") } };
static const struct tensor_layout gguf_phi2 = {
  .name = "gguf-phi2", .format = "gguf", .older = &gguf_phi2_fused, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"),
  SAME(TENSOR_V, "blk.#.attn_v"), SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_UP, "blk.#.ffn_up"),
  SAME(TENSOR_DOWN, "blk.#.ffn_down") } };

/* A Seed-OSS is a Llama, but the norm before its MLP was named by where it stands in the directory: after
   attention. */
static const struct tensor_layout gguf_seed = {
  .name = "gguf-seed", .format = "gguf", .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"), SAME(TENSOR_V, "blk.#.attn_v"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"),
  SAME(TENSOR_MLP_NORM, "blk.#.post_attention_norm"), SAME(TENSOR_GATE, "blk.#.ffn_gate"),
  SAME(TENSOR_UP, "blk.#.ffn_up"), SAME(TENSOR_DOWN, "blk.#.ffn_down") } };

/* Models with experts. Mixtral's authors gave their matrices numbers: the first is the gate, the third
   goes up, the second down. In llama.cpp's files the matrices of all experts are one tensor. */
static const struct tensor_layout hf_mixtral = {
  .name = "hf-mixtral", .format = "safetensors", .prefix = "model.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"), SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"),
  SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"), SAME(TENSOR_K, "~layers.#.self_attn.k_proj"),
  SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_ROUTER, "~layers.#.block_sparse_moe.gate"),
  SAME(TENSOR_EXPERT_GATE, "~layers.#.block_sparse_moe.experts.%.w1"),
  SAME(TENSOR_EXPERT_UP, "~layers.#.block_sparse_moe.experts.%.w3"),
  SAME(TENSOR_EXPERT_DOWN, "~layers.#.block_sparse_moe.experts.%.w2") } };
static const struct tensor_layout hf_moe = {
  .name = "hf-moe", .format = "safetensors", .prefix = "model.", .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"), SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"),
  SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"), SAME(TENSOR_K, "~layers.#.self_attn.k_proj"),
  SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_GATE, "~layers.#.mlp.gate_proj"), SAME(TENSOR_UP, "~layers.#.mlp.up_proj"),
  SAME(TENSOR_DOWN, "~layers.#.mlp.down_proj"),
  SAME(TENSOR_Q_NORM, "~layers.#.self_attn.q_norm"),
  SAME(TENSOR_K_NORM, "~layers.#.self_attn.k_norm"),
  SAME(TENSOR_ROUTER, "~layers.#.mlp.gate"),
  SAME(TENSOR_EXPERT_GATE, "~layers.#.mlp.experts.%.gate_proj"),
  SAME(TENSOR_EXPERT_UP, "~layers.#.mlp.experts.%.up_proj"),
  SAME(TENSOR_EXPERT_DOWN, "~layers.#.mlp.experts.%.down_proj"),
  SAME(TENSOR_SHARED, "~layers.#.mlp.shared_expert_gate"),
  SAME(TENSOR_SHARED_GATE, "~layers.#.mlp.shared_expert.gate_proj"),
  SAME(TENSOR_SHARED_UP, "~layers.#.mlp.shared_expert.up_proj"),
  SAME(TENSOR_SHARED_DOWN, "~layers.#.mlp.shared_expert.down_proj") } };
static const struct tensor_layout gguf_moe = {
  .name = "gguf-moe", .format = "gguf", .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"), SAME(TENSOR_V, "blk.#.attn_v"),
  SAME(TENSOR_Q_NORM, "blk.#.attn_q_norm"), SAME(TENSOR_K_NORM, "blk.#.attn_k_norm"),
  SAME(TENSOR_OUT, "blk.#.attn_output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm"),
  SAME(TENSOR_ROUTER, "blk.#.ffn_gate_inp"), SAME(TENSOR_EXPERT_GATE, "blk.#.ffn_gate_exps"),
  SAME(TENSOR_EXPERT_UP, "blk.#.ffn_up_exps"), SAME(TENSOR_EXPERT_DOWN, "blk.#.ffn_down_exps"),
  SAME(TENSOR_SHARED, "blk.#.ffn_gate_inp_shexp"), SAME(TENSOR_SHARED_GATE, "blk.#.ffn_gate_shexp"),
  SAME(TENSOR_SHARED_UP, "blk.#.ffn_up_shexp"), SAME(TENSOR_SHARED_DOWN, "blk.#.ffn_down_shexp") } };

/* A Mixtral is a Llama there, permuted rows and all. In its first files each expert had matrices of its own. */
static const struct tensor_layout gguf_mixtral_apart = {
  .name = "gguf-mixtral-apart", .format = "gguf", .told_by = TENSOR_EXPERT_GATE, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"),
  SAME(TENSOR_HEAD, "output"), SAME(TENSOR_ROPE_FACTORS, "rope_freqs"),
  [TENSOR_Q] = {"blk.#.attn_q", false, true, NULL}, [TENSOR_K] = {"blk.#.attn_k", false, true, NULL},
  SAME(TENSOR_V, "blk.#.attn_v"), SAME(TENSOR_OUT, "blk.#.attn_output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm"),
  SAME(TENSOR_ROUTER, "blk.#.ffn_gate_inp"),
  SAME(TENSOR_EXPERT_GATE, "blk.#.ffn_gate.%"), SAME(TENSOR_EXPERT_UP, "blk.#.ffn_up.%"),
  SAME(TENSOR_EXPERT_DOWN, "blk.#.ffn_down.%") } };
static const struct tensor_layout gguf_mixtral = {
  .name = "gguf-mixtral", .format = "gguf", .older = &gguf_mixtral_apart, .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"),
  SAME(TENSOR_HEAD, "output"), SAME(TENSOR_ROPE_FACTORS, "rope_freqs"),
  [TENSOR_Q] = {"blk.#.attn_q", false, true, NULL}, [TENSOR_K] = {"blk.#.attn_k", false, true, NULL},
  SAME(TENSOR_V, "blk.#.attn_v"), SAME(TENSOR_OUT, "blk.#.attn_output"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_MLP_NORM, "blk.#.ffn_norm"),
  SAME(TENSOR_ROUTER, "blk.#.ffn_gate_inp"),
  SAME(TENSOR_EXPERT_GATE, "blk.#.ffn_gate_exps"), SAME(TENSOR_EXPERT_UP, "blk.#.ffn_up_exps"),
  SAME(TENSOR_EXPERT_DOWN, "blk.#.ffn_down_exps") } };

/* gpt-oss. Its experts are a tensor a kind, stored with the inputs first; gates and ups alternate. */
static const struct tensor_layout hf_gpt_oss = {
  .name = "hf-gpt-oss", .format = "safetensors", .prefix = "model.", .gate_between = true, .of = {
  SAME(TENSOR_EMBEDDING, "~embed_tokens"), SAME(TENSOR_FINAL_NORM, "~norm"), SAME(TENSOR_HEAD, "lm_head"),
  SAME(TENSOR_Q, "~layers.#.self_attn.q_proj"), SAME(TENSOR_K, "~layers.#.self_attn.k_proj"),
  SAME(TENSOR_V, "~layers.#.self_attn.v_proj"), SAME(TENSOR_OUT, "~layers.#.self_attn.o_proj"),
  SAME(TENSOR_SINKS, "~layers.#.self_attn.sinks|"),
  SAME(TENSOR_ATTN_NORM, "~layers.#.input_layernorm"),
  SAME(TENSOR_MLP_NORM, "~layers.#.post_attention_layernorm"),
  SAME(TENSOR_ROUTER, "~layers.#.mlp.router"),
  [TENSOR_EXPERT_UP] = {"~layers.#.mlp.experts.gate_up_proj|", true, false, NULL},
  [TENSOR_EXPERT_DOWN] = {"~layers.#.mlp.experts.down_proj|", true, false, NULL} } };

/* In a GGUF file they are a matrix each, and the inputs come last. */
static const struct tensor_layout gguf_gpt_oss = {
  .name = "gguf-gpt-oss", .format = "gguf", .of = {
  SAME(TENSOR_EMBEDDING, "token_embd"), SAME(TENSOR_FINAL_NORM, "output_norm"), SAME(TENSOR_HEAD, "output"),
  SAME(TENSOR_Q, "blk.#.attn_q"), SAME(TENSOR_K, "blk.#.attn_k"), SAME(TENSOR_V, "blk.#.attn_v"),
  SAME(TENSOR_OUT, "blk.#.attn_output"), SAME(TENSOR_SINKS, "blk.#.attn_sinks"),
  SAME(TENSOR_ATTN_NORM, "blk.#.attn_norm"), SAME(TENSOR_MLP_NORM, "blk.#.post_attention_norm"),
  SAME(TENSOR_ROUTER, "blk.#.ffn_gate_inp"), SAME(TENSOR_EXPERT_GATE, "blk.#.ffn_gate_exps"),
  SAME(TENSOR_EXPERT_UP, "blk.#.ffn_up_exps"), SAME(TENSOR_EXPERT_DOWN, "blk.#.ffn_down_exps") } };

const struct tensor_layout *layout_at(size_t i)
{
  static const struct tensor_layout *const known[] = { &hf_gpt2, &hf_llama,
    &gguf_gpt2, &gguf_llama, &gguf_qwen, &hf_olmo2, &hf_gemma2, &hf_phi3, &hf_neox,
    &hf_falcon, &hf_phi, &hf_stablelm, &gguf_olmo2, &gguf_gemma2, &gguf_phi3,
    &hf_mixtral, &hf_moe, &gguf_moe, &gguf_neox, &gguf_falcon, &gguf_phi2, &gguf_seed,
    &gguf_mixtral, &hf_gpt_oss, &gguf_gpt_oss };
  return i < sizeof known / sizeof known[0] ? known[i] : NULL;
}

/* A row of the table of families has the names of its two layouts. */
const struct tensor_layout *layout_find(const char *format, const char *family)
{
  const struct family_row *f = family == NULL ? NULL : family_named(family);
  const struct tensor_layout *l = NULL;
  for (size_t i = 0; f != NULL && (l = layout_at(i)) != NULL; i++)
    if (strcmp(l->format, format) == 0 && (strcmp(l->name, f->layout[0]) == 0
        || (f->layout[1] != NULL && strcmp(l->name, f->layout[1]) == 0))) break;
  return l;
}

bool layout_fused(const struct tensor_layout *l)
{
  return l->of[TENSOR_QKV].pattern != NULL && !l->sliced;
}

/* Piece by piece: a tilde is the prefix, a number sign the layer, a per cent sign the expert, a bar the end
   of a name without a point. A name that does not fit is cut, and then no tensor is found under it. */
static void name_by(const char *pattern, const char *prefix, uint32_t layer, uint32_t expert,
  const char *what, char full[160])
{
  size_t n = 0;
  bool bar = strchr(pattern, '|') != NULL;
  for (const char *p = pattern; *p != '\0' && *p != '|' && n < 160; p++) {
    char *to = full + n;
    size_t left = 160 - n;
    if (*p == '~') n += (size_t) snprintf(to, left, "%s", prefix);
    else if (*p == '#') n += (size_t) snprintf(to, left, "%" PRIu32, layer);
    else if (*p == '%') n += (size_t) snprintf(to, left, "%" PRIu32, expert);
    else n += (size_t) snprintf(to, left, "%c", *p);
  }
  if (n >= 160 || (bar && strcmp(what, "weight") == 0)) return;
  snprintf(full + n, 160 - n, "%c%s", bar ? '_' : '.', what);
}

void layout_name(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160])
{ name_by(l->of[role].pattern, prefix, layer, 0, what, full); }
void layout_name_of(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, uint32_t expert, const char *what, char full[160])
{ name_by(l->of[role].pattern, prefix, layer, expert, what, full); }
bool layout_apart(const struct tensor_layout *l, enum tensor_role role)
{ return l->of[role].pattern != NULL && strchr(l->of[role].pattern, '%') != NULL; }
bool layout_also(const struct tensor_layout *l, enum tensor_role role,
  const char *prefix, uint32_t layer, const char *what, char full[160])
{
  if (l->of[role].also == NULL) return false;
  name_by(l->of[role].also, prefix, layer, 0, what, full);
  return true;
}
