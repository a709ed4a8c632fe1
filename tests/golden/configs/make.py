#!/usr/bin/env python3
"""make.py -- writes NAME/config.json for published checkpoints: the settings alone, field for field as published.
LIST.tsv beside it says what each must come out as, or the field for which it is refused.  No weights belong to them."""
import json, os
HERE = os.path.dirname(os.path.abspath(__file__))
L2 = dict(architectures=["LlamaForCausalLM"], bos_token_id=1, eos_token_id=2, hidden_act="silu", hidden_size=4096, initializer_range=0.02, intermediate_size=11008,
  max_position_embeddings=4096, model_type="llama", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=32, pretraining_tp=1, rms_norm_eps=1e-05,
  rope_scaling=None, tie_word_embeddings=False, torch_dtype="float16", transformers_version="4.31.0.dev0", use_cache=True, vocab_size=32000)
L3 = dict(architectures=["LlamaForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=128000, eos_token_id=128001, hidden_act="silu", hidden_size=4096,
  initializer_range=0.02, intermediate_size=14336, max_position_embeddings=8192, model_type="llama", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8,
  pretraining_tp=1, rms_norm_eps=1e-05, rope_scaling=None, rope_theta=500000.0, tie_word_embeddings=False, torch_dtype="bfloat16", transformers_version="4.40.0.dev0",
  use_cache=True, vocab_size=128256)
R31 = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192, rope_type="llama3")
L31 = dict(L3, max_position_embeddings=131072, mlp_bias=False, rope_scaling=R31, transformers_version="4.43.0.dev0")
L32 = dict(L31, eos_token_id=128001, head_dim=64, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, rope_scaling=dict(R31, factor=32.0),
  tie_word_embeddings=True, transformers_version="4.45.0.dev0")
GPT2 = dict(activation_function="gelu_new", architectures=["GPT2LMHeadModel"], attn_pdrop=0.1, bos_token_id=50256, embd_pdrop=0.1, eos_token_id=50256, initializer_range=0.02,
  layer_norm_epsilon=1e-05, model_type="gpt2", n_ctx=1024, n_embd=768, n_head=12, n_layer=12, n_positions=1024, resid_pdrop=0.1, summary_activation=None,
  summary_first_dropout=0.1, summary_proj_to_labels=True, summary_type="cls_index", summary_use_proj=True,
  task_specific_params={"text-generation": {"do_sample": True, "max_length": 50}}, vocab_size=50257)
MISTRAL = dict(architectures=["MistralForCausalLM"], bos_token_id=1, eos_token_id=2, hidden_act="silu", hidden_size=4096, initializer_range=0.02, intermediate_size=14336,
  max_position_embeddings=32768, model_type="mistral", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=8, rms_norm_eps=1e-05, rope_theta=10000.0,
  sliding_window=4096, tie_word_embeddings=False, torch_dtype="bfloat16", transformers_version="4.34.0.dev0", use_cache=True, vocab_size=32000)
QWEN2 = dict(architectures=["Qwen2ForCausalLM"], attention_dropout=0.0, bos_token_id=151643, eos_token_id=151643, hidden_act="silu", hidden_size=896, initializer_range=0.02,
  intermediate_size=4864, max_position_embeddings=131072, max_window_layers=24, model_type="qwen2", num_attention_heads=14, num_hidden_layers=24, num_key_value_heads=2,
  rms_norm_eps=1e-06, rope_theta=1000000.0, sliding_window=131072, tie_word_embeddings=True, torch_dtype="bfloat16", transformers_version="4.40.1", use_cache=True,
  use_sliding_window=False, vocab_size=151936)
Q25 = dict(QWEN2, eos_token_id=151645, hidden_size=3584, intermediate_size=18944, max_position_embeddings=32768, max_window_layers=28, num_attention_heads=28,
  num_hidden_layers=28, num_key_value_heads=4, tie_word_embeddings=False, transformers_version="4.43.1", vocab_size=152064)
QWEN3 = dict(architectures=["Qwen3ForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=151643, eos_token_id=151645, head_dim=128, hidden_act="silu",
  hidden_size=1024, initializer_range=0.02, intermediate_size=3072, max_position_embeddings=40960, max_window_layers=28, model_type="qwen3", num_attention_heads=16,
  num_hidden_layers=28, num_key_value_heads=8, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=1000000, sliding_window=None, tie_word_embeddings=True,
  torch_dtype="bfloat16", transformers_version="4.51.0", use_cache=True, use_sliding_window=False, vocab_size=151936)
SMOL = dict(architectures=["LlamaForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=0, eos_token_id=0, hidden_act="silu", hidden_size=576,
  initializer_range=0.02, intermediate_size=1536, max_position_embeddings=2048, mlp_bias=False, model_type="llama", num_attention_heads=9, num_hidden_layers=30,
  num_key_value_heads=3, pretraining_tp=1, rms_norm_eps=1e-05, rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=True, torch_dtype="bfloat16",
  transformers_version="4.42.3", use_cache=True, vocab_size=49152)
LATER = dict(attention_bias=False, attention_dropout=0.0, initializer_range=0.02, torch_dtype="bfloat16", use_cache=True)
# name: settings; expected family, layers, heads, kv heads, head_dim, window, layers with it, kind of rotation, tied -- or the field of the refusal
ALL = {
  "gpt2": (GPT2, "gpt2 12 12 12 64 0 0 0 1"),
  "gpt2-medium": (dict(GPT2, n_embd=1024, n_head=16, n_layer=24, n_special=0, predict_special_tokens=True), "gpt2 24 16 16 64 0 0 0 1"),
  "gpt2-xl": (dict(GPT2, n_embd=1600, n_head=25, n_layer=48, output_past=True), None),
  "distilgpt2": (dict(GPT2, n_layer=6, _num_labels=1, id2label={"0": "LABEL_0"}, label2id={"LABEL_0": 0}), None),
  "llama-7b": (dict(architectures=["LlamaForCausalLM"], bos_token_id=1, eos_token_id=2, hidden_act="silu", hidden_size=4096, intermediate_size=11008, initializer_range=0.02,
     max_sequence_length=2048, max_position_embeddings=2048, model_type="llama", num_attention_heads=32, num_hidden_layers=32, pad_token_id=0, rms_norm_eps=1e-06,
     torch_dtype="float16", transformers_version="4.28.0.dev0", use_cache=True, vocab_size=32000), None),
  "llama-2-7b": (L2, "llama 32 32 32 128 0 0 0 0"),
  "llama-2-70b": (dict(L2, hidden_size=8192, intermediate_size=28672, num_attention_heads=64, num_hidden_layers=80, num_key_value_heads=8), "llama 80 64 8 128 0 0 0 0"),
  "llama-2-7b-32k": (dict(L2, max_position_embeddings=32768, rope_scaling={"factor": 8.0, "type": "linear"}), "llama 32 32 32 128 0 0 1 0"),
  "yarn-llama-2-7b-64k": (dict(L2, max_position_embeddings=65536, rope_scaling={"factor": 16.0, "original_max_position_embeddings": 4096, "type": "yarn", "finetuned": True}),
     "llama 32 32 32 128 0 0 3 0"),
  "llama-3-8b": (L3, "llama 32 32 8 128 0 0 0 0"),
  "llama-3.1-8b": (L31, "llama 32 32 8 128 0 0 2 0"),
  "llama-3.1-8b-instruct": (dict(L31, eos_token_id=[128001, 128008, 128009]), "llama 32 32 8 128 0 0 2 0"),
  "llama-3.2-1b": (L32, "llama 16 32 8 64 0 0 2 1"),
  "llama-3.2-3b": (dict(L32, head_dim=128, hidden_size=3072, num_attention_heads=24, num_hidden_layers=28), "llama 28 24 8 128 0 0 2 1"),
  "tinyllama-1.1b": (dict(L2, attention_bias=False, hidden_size=2048, intermediate_size=5632, max_position_embeddings=2048, num_hidden_layers=22, num_key_value_heads=4,
     rope_theta=10000.0, torch_dtype="float32", transformers_version="4.31.0.dev0"), "llama 22 32 4 64 0 0 0 0"),
  "smollm-135m": (SMOL, "llama 30 9 3 64 0 0 0 1"),
  "smollm2-135m": (dict(SMOL, initializer_range=0.041666666666666664, is_llama_config=True, max_position_embeddings=8192, rope_interleaved=False, rope_theta=100000,
     transformers_version="4.40.1"), "llama 30 9 3 64 0 0 0 1"),
  "smollm2-135m-instruct": (dict(SMOL, bos_token_id=1, eos_token_id=2, pad_token_id=2, initializer_range=0.041666666666666664, is_llama_config=True, max_position_embeddings=8192,
     rope_interleaved=False, rope_theta=100000, transformers_version="4.42.3", **{"transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}}}),
     "llama 30 9 3 64 0 0 0 1"),
  "mistral-7b-v0.1": (MISTRAL, "mistral 32 32 8 128 4096 32 0 0"),
  "mistral-7b-v0.3": (dict(MISTRAL, attention_dropout=0.0, rope_theta=1000000.0, sliding_window=None, transformers_version="4.42.0.dev0", vocab_size=32768),
     "mistral 32 32 8 128 0 0 0 0"),
  "qwen2-0.5b": (QWEN2, "qwen2 24 14 2 64 0 0 0 1"),
  "qwen2-7b": (dict(QWEN2, hidden_size=3584, intermediate_size=18944, max_window_layers=28, num_attention_heads=28, num_hidden_layers=28, num_key_value_heads=4,
     tie_word_embeddings=False, transformers_version="4.37.2", vocab_size=152064), "qwen2 28 28 4 128 0 0 0 0"),
  "qwen2.5-7b-instruct": (Q25, "qwen2 28 28 4 128 0 0 0 0"),
  "qwen2.5-7b-instruct-yarn": (dict(Q25, rope_scaling={"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}), "qwen2 28 28 4 128 0 0 3 0"),
  "qwen2.5-0.5b-mrope": (dict(QWEN2, max_position_embeddings=32768, sliding_window=32768, use_mrope=False, transformers_version="4.40.1"), "qwen2 24 14 2 64 0 0 0 1"),
  "qwen3-0.6b": (QWEN3, "qwen3 28 16 8 128 0 0 0 1"),
  "qwen3-8b": (dict(QWEN3, hidden_size=4096, intermediate_size=12288, max_window_layers=36, num_attention_heads=32, num_hidden_layers=36, tie_word_embeddings=False),
     "qwen3 36 32 8 128 0 0 0 0"),
  "qwen3-8b-new": (dict({k: v for k, v in QWEN3.items() if k not in ("rope_scaling", "rope_theta", "torch_dtype")}, dtype="bfloat16", layer_types=["full_attention"] * 28, pad_token_id=None,
     rope_parameters={"rope_theta": 1000000, "rope_type": "default"}, transformers_version="5.0.0"), "qwen3 28 16 8 128 0 0 0 1"),
  # what is truly not supported, and by which field it is refused
  "qwen2.5-7b-instruct-1m": (dict(Q25, max_position_embeddings=1010000, dual_chunk_attention_config={"chunk_size": 262144, "local_size": 8192}), "dual_chunk_attention_config"),
  "gemma-2-2b": (dict(LATER, architectures=["Gemma2ForCausalLM"], attn_logit_softcapping=50.0, bos_token_id=2, cache_implementation="hybrid", eos_token_id=1, final_logit_softcapping=30.0,
     head_dim=256, hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh", hidden_size=2304, intermediate_size=9216, max_position_embeddings=8192, model_type="gemma2",
     num_attention_heads=8, num_hidden_layers=26, num_key_value_heads=4, pad_token_id=0, query_pre_attn_scalar=256, rms_norm_eps=1e-06, rope_theta=10000.0, sliding_window=4096,
     torch_dtype="float32", vocab_size=256000), "gemma2 26 8 4 256 4096 13 0 1"),
  "gemma-3-270m": (dict(LATER, _sliding_window_pattern=6, architectures=["Gemma3ForCausalLM"], attn_logit_softcapping=None, bos_token_id=2, eos_token_id=1, final_logit_softcapping=None,
     head_dim=256, hidden_activation="gelu_pytorch_tanh", hidden_size=640, intermediate_size=2048, layer_types=(["sliding_attention"] * 5 + ["full_attention"]) * 3,
     max_position_embeddings=32768, model_type="gemma3_text", num_attention_heads=4, num_hidden_layers=18, num_key_value_heads=1, pad_token_id=0, query_pre_attn_scalar=256,
     rms_norm_eps=1e-06, rope_local_base_freq=10000.0, rope_scaling=None, rope_theta=1000000.0, sliding_window=512, use_bidirectional_attention=False, vocab_size=262144),
     "gemma3_text 18 4 1 256 512 15 0 1"),
  "phi-3-mini-4k": (dict(LATER, architectures=["Phi3ForCausalLM"], bos_token_id=1, embd_pdrop=0.0, eos_token_id=32000, hidden_act="silu", hidden_size=3072, intermediate_size=8192,
     max_position_embeddings=4096, model_type="phi3", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=32, original_max_position_embeddings=4096, pad_token_id=32000,
     resid_pdrop=0.0, rms_norm_eps=1e-05, rope_scaling=None, rope_theta=10000.0, sliding_window=2047, tie_word_embeddings=False, vocab_size=32064), "phi3 32 32 32 96 2047 32 0 0"),
  "granite-3.0-2b": (dict(LATER, architectures=["GraniteForCausalLM"], attention_multiplier=0.015625, bos_token_id=0, embedding_multiplier=12.0, eos_token_id=0, hidden_act="silu",
     hidden_size=2048, intermediate_size=8192, logits_scaling=8.0, max_position_embeddings=4096, mlp_bias=False, model_type="granite", num_attention_heads=32, num_hidden_layers=40,
     num_key_value_heads=8, pad_token_id=0, residual_multiplier=0.22, rms_norm_eps=1e-05, rope_scaling=None, rope_theta=10000, tie_word_embeddings=True, vocab_size=49152),
     "granite 40 32 8 64 0 0 0 1"),
  "smollm3-3b": (dict(LATER, architectures=["SmolLM3ForCausalLM"], eos_token_id=128012, hidden_act="silu", hidden_size=2048, intermediate_size=11008, layer_types=["full_attention"] * 36,
     max_position_embeddings=65536, max_window_layers=28, mlp_bias=False, model_type="smollm3", no_rope_layer_interval=4, no_rope_layers=[1, 1, 1, 0] * 9, num_attention_heads=16,
     num_hidden_layers=36, num_key_value_heads=4, pretraining_tp=2, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=5000000.0, sliding_window=None, use_sliding_window=False,
     vocab_size=128256), "smollm3 36 16 4 128 0 0 0 1"),
  "olmo-2-7b": (dict(LATER, architectures=["Olmo2ForCausalLM"], eos_token_id=100257, hidden_act="silu", hidden_size=4096, intermediate_size=11008, max_position_embeddings=4096,
     model_type="olmo2", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=32, pad_token_id=100277, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=500000,
     tie_word_embeddings=False, vocab_size=100352), "olmo2 32 32 32 128 0 0 0 0"),
  "pythia-70m": (dict(architectures=["GPTNeoXForCausalLM"], bos_token_id=0, eos_token_id=0, hidden_act="gelu", hidden_size=512, initializer_range=0.02, intermediate_size=2048,
     layer_norm_eps=1e-05, max_position_embeddings=2048, model_type="gpt_neox", num_attention_heads=8, num_hidden_layers=6, rotary_emb_base=10000, rotary_pct=0.25,
     tie_word_embeddings=False, torch_dtype="float16", use_cache=True, use_parallel_residual=True, vocab_size=50304), "gpt_neox 6 8 8 64 0 0 0 0"),
  "falcon-7b": (dict(alibi=False, apply_residual_connection_post_layernorm=False, architectures=["FalconForCausalLM"], attention_dropout=0.0, bias=False, bos_token_id=11, eos_token_id=11,
     hidden_dropout=0.0, hidden_size=4544, initializer_range=0.02, layer_norm_epsilon=1e-05, model_type="falcon", multi_query=True, new_decoder_architecture=False, num_attention_heads=71,
     num_hidden_layers=32, parallel_attn=True, torch_dtype="bfloat16", use_cache=True, vocab_size=65024), "falcon 32 71 1 64 0 0 0 1"),
  "phi-2": (dict(LATER, architectures=["PhiForCausalLM"], bos_token_id=50256, embd_pdrop=0.0, eos_token_id=50256, hidden_act="gelu_new", hidden_size=2560, intermediate_size=10240,
     layer_norm_eps=1e-05, max_position_embeddings=2048, model_type="phi", num_attention_heads=32, num_hidden_layers=32, num_key_value_heads=32, partial_rotary_factor=0.4,
     qk_layernorm=False, resid_pdrop=0.1, rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=False, vocab_size=51200), "phi 32 32 32 80 0 0 0 0"),
  "stablelm-2-1.6b": (dict(LATER, architectures=["StableLmForCausalLM"], bos_token_id=100257, eos_token_id=100257, hidden_act="silu", hidden_size=2048, intermediate_size=5632,
     layer_norm_eps=1e-05, max_position_embeddings=4096, model_type="stablelm", num_attention_heads=32, num_hidden_layers=24, num_key_value_heads=32, partial_rotary_factor=0.25,
     rope_theta=10000, tie_word_embeddings=False, use_qkv_bias=True, vocab_size=100352), "stablelm 24 32 32 64 0 0 0 0"),
  "llama-dynamic": (dict(L2, rope_scaling={"factor": 2.0, "type": "dynamic"}), "llama 32 32 32 128 0 0 0 0"),
  "llama-awq": (dict(L2, quantization_config={"bits": 4, "quant_method": "awq"}), "quantization_config"),
}
FILL = {"gpt2-xl": "gpt2 48 25 25 64 0 0 0 1", "distilgpt2": "gpt2 6 12 12 64 0 0 0 1", "llama-7b": "llama 32 32 32 128 0 0 0 0"}
if __name__ == "__main__":
    with open(os.path.join(HERE, "LIST.tsv"), "w") as f:
        f.write("# directory<TAB>family layers heads kv_heads head_dim window layers_with_it rope_kind tied, or the field of the refusal\n")
        for name, (c, want) in ALL.items():
            os.makedirs(os.path.join(HERE, name), exist_ok=True)
            json.dump(c, open(os.path.join(HERE, name, "config.json"), "w"), indent=1, sort_keys=True)
            f.write("%s\t%s\n" % (name, want or FILL[name]))
