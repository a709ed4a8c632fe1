#!/usr/bin/env python3
"""families_gguf.py -- small random models of the families as GGUF files, in the form that llama.cpp's converter gives them.
usage: families_gguf.py [NAME ...]   (needs the PyPI package gguf, and no part of this project's engine)
       families_gguf.py check        makes everything anew, elsewhere, and compares
The numbers and the reference are those of families.py; what is here are the names of keys and tensors, the order of rows, and what files
leave out.  Where a family's files cannot say something (a dense layer among sparse ones, a cap of queries), the model does not have it.
Beside each file lie the logits of the reference, which has never seen the file."""
import json, os, random, sys, tempfile
import numpy as np
import gguf
import families, make
HERE = os.path.dirname(os.path.abspath(__file__))
def but(name, **more):
    c = dict(families.MODELS[name], **more)
    return {k: v for k, v in c.items() if v is not None or k in ("sliding_window", "rope_scaling")}
SEED = families.some("seed_oss", "SeedOssForCausalLM", **dict(families.RMS, head_dim=6, attention_bias=True, attention_out_bias=False, mlp_bias=False, tie_word_embeddings=False))
# name: architecture, settings, and a form of older files
FILES = {
  "mixtral": ("llama", but("mixtral"), None),
  "mixtral-split": ("llama", but("mixtral"), "split"),
  "mixtral-wide": ("llama", but("mixtral", hidden_size=32, intermediate_size=256, num_hidden_layers=1, num_local_experts=2, num_experts_per_tok=1), None),
  "olmoe": ("olmoe", but("olmoe", clip_qkv=None), None),
  "qwen2_moe": ("qwen2moe", but("qwen2_moe", num_hidden_layers=2, decoder_sparse_step=1), None),
  "qwen2_moe-silent": ("qwen2moe", but("qwen2_moe", num_hidden_layers=2, decoder_sparse_step=1, intermediate_size=8, shared_expert_intermediate_size=8), "silent"),
  "qwen3_moe": ("qwen3moe", but("qwen3_moe", mlp_only_layers=[]), None),
  "pythia": ("gptneox", but("pythia"), None),
  "pythia-serial": ("gptneox", but("pythia", use_parallel_residual=False), None),
  "falcon": ("falcon", but("falcon", bias=False), None),
  "falcon-old": ("falcon", but("falcon-old"), None),
  "phi": ("phi2", but("phi", qk_layernorm=False), None),
  "phi-fused": ("phi2", but("phi", qk_layernorm=False), "fused"),
  "stablelm": ("stablelm", but("stablelm"), None),
  "stablelm-serial": ("stablelm", but("stablelm", use_parallel_residual=False, qk_layernorm=False), None),
  "cohere": ("command-r", but("cohere"), None),
  "cohere2": ("cohere2", but("cohere2", num_hidden_layers=5, sliding_window_pattern=4), None),
  "cohere2-list": ("cohere2", but("cohere2"), "list"),
  "exaone4": ("exaone4", but("exaone4"), None),
  "exaone4-full": ("exaone4", but("exaone4", sliding_window=None, sliding_window_pattern=None), None),
  "ernie4_5": ("ernie4_5", but("ernie4_5", use_bias=False), None),
  "seed_oss": ("seed_oss", SEED, None),
  "ministral3": ("mistral3", but("ministral3"), None),
  "mixtral-fused": ("llama", but("mixtral"), "fused"),
  "qwen2_moe-fused": ("qwen2moe", but("qwen2_moe", num_hidden_layers=2, decoder_sparse_step=1), "fused"),
}
def sparse(c): return c["model_type"] in families.SPARSE
def heads(c):
    H = c["num_attention_heads"]
    K = c.get("num_key_value_heads") or c.get("num_kv_heads") or H
    if c["model_type"] == "falcon" and not c["new_decoder_architecture"]: K = 1 if c["multi_query"] else H
    return H, K, c.get("head_dim") or c["hidden_size"] // H
def neighbours(x, n):
    # the two rows of a pair are half a head apart in a directory, and beside each other in the files of a Llama
    d = x.shape[0] // n
    order = [h * d + (i // 2 + (i % 2) * (d // 2)) for h in range(n) for i in range(d)]
    return x[order]
def blocks(x, H, K, d):
    # by head of keys: its queries, its key, its value; in the file all queries, all keys, all values
    each = (H // K + 2) * d
    q = [g * each + i for g in range(K) for i in range(each - 2 * d)]
    k = [g * each + each - 2 * d + i for g in range(K) for i in range(d)]
    return x[q + k + [i + d for i in k]]
PLAIN = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down", "block_sparse_moe.gate": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
  "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
  "attention.query_key_value": "attn_qkv", "self_attention.query_key_value": "attn_qkv", "attention.dense": "attn_output", "self_attention.dense": "attn_output",
  "self_attn.dense": "attn_output", "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down",
  "ln_mlp": "attn_norm", "ln_attn": "attn_norm_2"}
ENDS = {"embed_tokens": "token_embd", "embed_in": "token_embd", "word_embeddings": "token_embd", "norm": "output_norm", "final_layer_norm": "output_norm",
  "ln_f": "output_norm", "final_layernorm": "output_norm", "lm_head": "output", "embed_out": "output"}
OTHER = {"exaone4": {"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"},
  "seed_oss": {"post_attention_layernorm": "post_attention_norm"}}
EXPERT = {"w1": "ffn_gate", "w2": "ffn_down", "w3": "ffn_up", "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}
def tensors(arch, c, w, form):
    """name in the file: numbers; w: name in a directory: (type, shape, numbers)"""
    H, K, d = heads(c)
    out, stacks, apart = {}, {}, {}
    for name, (kind, shape, numbers) in w.items():
        if kind != "F32" or name.endswith(("masked_bias", "inv_freq")): continue
        x = np.array(numbers, dtype=np.float32).reshape(shape)
        stem, what = name.rsplit(".", 1)
        parts = stem.split(".")
        at = next((i for i, p in enumerate(parts) if p.isdigit()), None)
        if at is None:
            out[ENDS[parts[-1]] + "." + what] = x
            continue
        layer, rest = "blk.%s." % parts[at], ".".join(parts[at + 1:])
        if ".experts." in rest:
            e, role = rest.split(".experts.")[1].split(".")
            stacks.setdefault(layer + EXPERT[role], {})[int(e)] = x
            continue
        if ".norms." in rest:
            role, h = rest.split("_layernorm.norms.")
            apart.setdefault(layer + "attn_%s_norm" % role[-1], {})[int(h)] = x
            continue
        if "query_key_value" in rest: x = blocks(x, H, K, d)
        if arch in ("llama", "mistral3") and "q_proj" in rest: x = neighbours(x, H)
        if arch in ("llama", "mistral3") and "k_proj" in rest: x = neighbours(x, K)
        out[layer + OTHER.get(arch, PLAIN).get(rest, PLAIN.get(rest)) + "." + what] = x
    for name, of in stacks.items():
        if form == "split": out.update({"%s.%d.weight" % (name, e): x for e, x in of.items()})
        else: out[name + "_exps.weight"] = np.stack([of[e] for e in sorted(of)])
    for name, of in apart.items(): out[name + ".weight"] = np.stack([of[h] for h in sorted(of)])
    if form == "fused":
        for l in range(c["num_hidden_layers"]):
            for what in ("weight", "bias"):
                if "blk.%d.attn_q.%s" % (l, what) in out: out["blk.%d.attn_qkv.%s" % (l, what)] = np.concatenate([out.pop("blk.%d.attn_%s.%s" % (l, n, what)) for n in "qkv"])
    if form == "silent": out = {n: x[0] if "inp_shexp" in n else x for n, x in out.items()} # as llama-quantize writes a matrix of one row
    return out
def keys(g, arch, c, form):
    H, K, d = heads(c)
    t = c["model_type"]
    key = lambda name: arch + "." + name
    g.add_uint32(key("context_length"), c["max_position_embeddings"]); g.add_uint32(key("embedding_length"), c["hidden_size"])
    g.add_uint32(key("block_count"), c["num_hidden_layers"]); g.add_uint32(key("feed_forward_length"), c.get("ffn_hidden_size") or c["intermediate_size"])
    g.add_uint32(key("attention.head_count"), H)
    if t != "gpt_neox": g.add_uint32(key("attention.head_count_kv"), K)
    if "rms_norm_eps" in c: g.add_float32(key("attention.layer_norm_rms_epsilon"), c["rms_norm_eps"])
    else: g.add_float32(key("attention.layer_norm_epsilon"), c.get("layer_norm_eps", c.get("layer_norm_epsilon")))
    rope = c.get("rope_parameters") or c
    theta = rope.get("rope_theta", rope.get("rotary_emb_base"))
    if theta not in (None, 10000.0): g.add_float32(key("rope.freq_base"), theta)
    if "head_dim" in c: g.add_uint32(key("attention.key_length"), d); g.add_uint32(key("attention.value_length"), d)
    part = c.get("rotary_pct", c.get("partial_rotary_factor"))
    if part is not None: g.add_uint32(key("rope.dimension_count"), int(part * d))
    if t in ("gpt_neox", "stablelm"): g.add_bool(key("use_parallel_residual"), c["use_parallel_residual"])
    if t == "falcon": g.add_string(key("tensor_data_layout"), "jploski")
    if t in ("cohere", "cohere2"): g.add_float32(key("logit_scale"), c["logit_scale"]); g.add_string(key("rope.scaling.type"), "none")
    if t in ("cohere2", "exaone4") and c.get("sliding_window"):
        g.add_uint32(key("attention.sliding_window"), c["sliding_window"])
        p, n = c["sliding_window_pattern"], c["num_hidden_layers"]
        which = [i + 1 < n and p[i % len(p)] == "L" if isinstance(p, str) else (i + 1) % p != 0 for i in range(n)]
        if t == "exaone4" or form == "list": g.add_array(key("attention.sliding_window_pattern"), which)
    if t == "ministral3":
        r = c["rope_parameters"]
        g.add_string(key("rope.scaling.type"), "yarn"); g.add_float32(key("rope.scaling.factor"), r["factor"])
        g.add_uint32(key("rope.scaling.original_context_length"), r["original_max_position_embeddings"])
        g.add_float32(key("rope.scaling.yarn_beta_fast"), r["beta_fast"]); g.add_float32(key("rope.scaling.yarn_beta_slow"), r["beta_slow"])
        g.add_float32(key("rope.scaling.yarn_log_multiplier"), r["mscale_all_dim"]); g.add_float32(key("attention.temperature_scale"), r["llama_4_scaling_beta"])
    if sparse(c):
        g.add_uint32(key("expert_count"), c.get("num_local_experts") or c["num_experts"]); g.add_uint32(key("expert_used_count"), c["num_experts_per_tok"])
        if form != "silent" and "moe_intermediate_size" in c: g.add_uint32(key("expert_feed_forward_length"), c["moe_intermediate_size"])
        if form != "silent" and "shared_expert_intermediate_size" in c: g.add_uint32(key("expert_shared_feed_forward_length"), c["shared_expert_intermediate_size"])
    g.add_string("tokenizer.ggml.model", "none"); g.add_uint32("tokenizer.ggml.eos_token_id", c["eos_token_id"])
def make_file(folder, name, seed):
    arch, c, form = FILES[name]
    w = families.tensors(c, random.Random(seed))
    if c["model_type"] == "seed_oss": w = {n: x for n, x in w.items() if not n.endswith("o_proj.bias")}
    if name.endswith("wide"): # its experts are float16 in the file
        w = {n: (k, s, [float(np.float16(a)) for a in x]) if ".experts." in n else (k, s, x) for n, (k, s, x) in w.items()}
    with tempfile.TemporaryDirectory() as directory:
        make.write_tensors(os.path.join(directory, "model.safetensors"), w)
        json.dump(c, open(os.path.join(directory, "config.json"), "w"))
        json.dump({}, open(os.path.join(directory, "generation_config.json"), "w"))
        make.Reference = families.Families
        rows = make.lines(directory, c)["forward"]
    open(os.path.join(folder, name + ".jsonl"), "w").write(make.dump(rows))
    g = gguf.GGUFWriter(os.path.join(folder, name + ".gguf"), arch)
    keys(g, arch, c, form)
    for n, x in tensors(arch, c, w, form).items(): g.add_tensor(n, np.ascontiguousarray(x.astype(np.float16) if name.endswith("wide") and x.ndim == 3 else x))
    g.write_header_to_file(); g.write_kv_data_to_file(); g.write_tensors_to_file(); g.close()
def seed_of(name): return 3000 + list(FILES).index(name.replace("-split", "").replace("-fused", ""))
if __name__ == "__main__":
    folder = os.path.join(HERE, "gguf")
    if sys.argv[1:] == ["check"]:
        with tempfile.TemporaryDirectory() as other:
            for n in FILES: make_file(other, n, seed_of(n))
            bad = [f for f in sorted(os.listdir(other)) if open(os.path.join(other, f), "rb").read() != open(os.path.join(folder, f), "rb").read()]
        print("differ: " + ", ".join(bad) if bad else "all are what the script makes")
        sys.exit(bool(bad))
    os.makedirs(folder, exist_ok=True)
    for n in FILES:
        if len(sys.argv) == 1 or n in sys.argv[1:]: make_file(folder, n, seed_of(n))
