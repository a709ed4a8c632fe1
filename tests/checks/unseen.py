#!/usr/bin/env python3
"""unseen.py [-n N] [--seed S] [--keep DIR] [--gguf] [FAMILY...] -- models that nobody has seen. Small random ones of every family, with settings drawn by chance, in old and
new spellings, are saved by Hugging Face's library and read by incipit: all logits, log-probabilities and a greedy text must be the library's, which computes
in double where it lets itself be told. A model that incipit refuses counts as wrong, unless the settings drawn are in the list of what is refused for a
reason. With --gguf each is made into GGUF files by incipit quantize, and it is these that are compared with the directory; what the format cannot say is refused by name. Every model follows from the seed and its number; N models a family. Needs torch and transformers 5."""
import argparse, collections, json, math, os, random, shutil, subprocess, sys, tempfile, warnings
warnings.filterwarnings("ignore")
os.environ["TRANSFORMERS_VERBOSITY"], os.environ["CUDA_VISIBLE_DEVICES"], os.environ["HF_HUB_OFFLINE"] = "error", "", "1"
import torch, transformers
from transformers import AutoConfig, AutoModelForCausalLM
torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()
INCIPIT = os.path.join(os.environ.get("BUILD", "build"), "incipit")
NEW = 24 # greedy tokens

# ---- settings by chance
SAYABLE = False # with --gguf
GEMMAS = ("gemma", "gemma2", "gemma3_text")
def some(r, *choices): return r.choice(choices)
def theta(r): return some(r, 100.0, 10000.0, 10000, 500000.0, 1000000, 8000000.0, 2.5e5)
def stretch(r, context):
    """a description of stretched positions, and its kind"""
    kind = some(r, "none", "none", "none", "linear", "dynamic", "llama3", "yarn", "yarn", "default")
    if kind == "none": return None
    s = {some(r, "rope_type", "type", "rope_type"): kind}
    if kind != "default": s["factor"] = some(r, 1.5, 2.0, 4, 8.0, 32.0)
    if kind == "llama3":
        s.update(low_freq_factor=some(r, 1.0, 1, 0.5), high_freq_factor=some(r, 4.0, 2.0, 4), original_max_position_embeddings=some(r, 8, 16, 24))
    if kind == "yarn":
        if r.random() < 0.8: s["original_max_position_embeddings"] = some(r, 8, 16, context)
        if r.random() < 0.4: s["beta_fast"] = some(r, 32, 8.0, 4.0, 2)
        if r.random() < 0.4: s["beta_slow"] = some(r, 1, 1.0, 0.5, 0.25)
        if r.random() < 0.3: s["attention_factor"] = some(r, 1.0, 1.3, 0.8)
        if r.random() < 0.4: s["mscale"] = some(r, 1.0, 0.707, 0, 1)
        if r.random() < 0.4: s["mscale_all_dim"] = some(r, 1.0, 0.5, 0.0, 0.707)
        if r.random() < 0.3: s["truncate"] = some(r, True, False)
        if r.random() < 0.1: s["finetuned"] = True
        for one in ("attention_factor", "beta_fast", "mscale"):
            if one not in s and r.random() < 0.1: s[one] = None
    return s
def layers(r, n, window, both=True):
    if window is None: return ["full_attention"] * n
    return [some(r, "sliding_attention", "full_attention") if both else "sliding_attention" for _ in range(n)]

def shape(r, t):
    H = some(r, 1, 2, 3, 4, 4, 6, 8)
    K = some(r, *[k for k in range(1, H + 1) if H % k == 0])
    hd = some(r, 4, 6, 8, 8, 10, 12, 16, 16, 18, 32)
    free = t not in ("gpt_neox", "falcon", "phi", "stablelm", "phi3", "olmo2", "olmoe", "exaone4", "cohere", "cohere2", "qwen2_moe", "granite", "smollm3", "gpt2")
    if t == "gpt_neox": K = H
    d = H * hd if not free or r.random() < 0.5 else H * some(r, 4, 6, 9, 12, 20)
    while d < 16: d, hd = (d * 2, hd if free and d != H * hd else hd * 2)
    c = dict(hidden_size=d, num_attention_heads=H, num_key_value_heads=K, num_hidden_layers=some(r, 1, 2, 2, 3, 4, 5, 7), vocab_size=some(r, 33, 64, 97, 130, 256),
      intermediate_size=some(r, 8, 17, 24, 33, 48, 80, 96), max_position_embeddings=some(r, 40, 48, 64, 96))
    if free and t != "qwen2" and (d != H * hd or r.random() < 0.5): c["head_dim"] = hd
    elif t == "qwen2" and d != H * hd: c["head_dim"] = hd
    return c, hd

def settings(t, r):
    """config.json as a file of this family might have it"""
    c, hd = shape(r, t)
    L, H, C = c["num_hidden_layers"], c["num_attention_heads"], c["max_position_embeddings"]
    c["model_type"] = t
    curve = lambda *more: some(r, "silu", "silu", "silu", "gelu", "gelu_pytorch_tanh", "gelu_new", *more)
    window = some(r, None, 3, 5, 8, 16, 31, 200)
    rms = t not in ("gpt2", "gpt_neox", "falcon", "phi", "stablelm", "cohere", "cohere2")
    if rms: c["rms_norm_eps"] = some(r, 1e-6, 1e-5, 1e-8, 1e-3)
    elif t != "falcon": c["layer_norm_eps"] = some(r, 1e-5, 1e-6, 1e-3)
    if t == "falcon": c["layer_norm_epsilon"] = some(r, 1e-5, 1e-3)
    if t not in GEMMAS and t != "falcon": c["hidden_act"] = curve("swish", "gelu_fast", "gelu_python") if t not in ("gpt_neox", "phi") else some(r, "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh")
    if t == "gemma": c["hidden_act"] = some(r, "gelu", "gelu_pytorch_tanh", "gelu_new")
    if t in ("gemma2", "gemma3_text"): c["hidden_activation"] = some(r, "gelu_pytorch_tanh", "gelu_new")
    c["tie_word_embeddings"] = r.random() < 0.4 or t in GEMMAS + ("cohere", "cohere2", "falcon") and r.random() < 0.6
    if t == "phi": c["tie_word_embeddings"] = False
    if t in ("llama", "qwen3", "qwen3_moe", "olmoe", "smollm3", "granite", "olmo2", "cohere", "cohere2") + GEMMAS: c["attention_bias"] = r.random() < 0.3
    if t == "gpt_neox": c["attention_bias"] = r.random() < 0.8
    if t in ("llama", "smollm3", "granite", "seed_oss"): c["mlp_bias"] = r.random() < 0.3
    scaling = None if t in ("gpt2", "phi3") else stretch(r, C)
    if t == "gemma3_text" and scaling and "type" in scaling: scaling["rope_type"] = scaling.pop("type") # of the older word the library makes a kind of its own
    if t == "llama" and r.random() < 0.3: c["pretraining_tp"] = 1
    if t in ("mistral", "mixtral", "ministral3"): c["sliding_window"] = window
    if t in ("qwen2", "qwen3"):
        c.update(use_sliding_window=r.random() < 0.6, sliding_window=window or some(r, 4, None), max_window_layers=some(r, 0, 1, 2, L, 28))
        if r.random() < 0.4: c["layer_types"] = layers(r, L, c["sliding_window"] if c["use_sliding_window"] else None)
    if t == "smollm3":
        if r.random() < 0.5: c["no_rope_layers"] = [some(r, 0, 1) for _ in range(L)]
        if r.random() < 0.5: c["no_rope_layer_interval"] = some(r, 1, 2, 3, 4)
        c.update(use_sliding_window=r.random() < 0.4, sliding_window=window)
        if r.random() < 0.4: c["layer_types"] = layers(r, L, window if c["use_sliding_window"] else None)
    if t == "granite":
        c.update(embedding_multiplier=some(r, 1.0, 12.0, 2), attention_multiplier=some(r, 1.0, 0.0625, 0.3), residual_multiplier=some(r, 1.0, 0.22), logits_scaling=some(r, 1.0, 8.0, 0.5))
    if t == "ministral":
        c.update(sliding_window=window, head_dim=hd)
        if r.random() < 0.7: c["layer_types"] = layers(r, L, window)
    if t == "ministral3" and r.random() < 0.8:
        scaling = dict(rope_type="yarn", factor=some(r, 4.0, 16.0), original_max_position_embeddings=some(r, 8, 16, 32), beta_fast=some(r, 32.0, 4.0), beta_slow=1.0,
          mscale=1.0, mscale_all_dim=1.0, max_position_embeddings=C)
    if t == "ministral3":
        if scaling is None or (scaling.get("rope_type") or scaling.get("type")) != "yarn": scaling = dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=some(r, 8, 16))
        scaling["llama_4_scaling_beta"] = some(r, 0.1, 0.5, 0)
    if t == "seed_oss": c.update(attention_bias=r.random() < 0.6, attention_out_bias=r.random() < 0.4, residual_dropout=0.1)
    if t == "ernie4_5": c["use_bias"] = r.random() < 0.5
    if t == "exaone4":
        c["sliding_window"] = window
        n = some(r, 1, 2, 3, 4)
        if window is not None: c["sliding_window_pattern"] = some(r, n, n, "LLLG", "LG")
        if window is None or isinstance(c["sliding_window_pattern"], str) or r.random() < 0.4: c["layer_types"] = layers(r, L, window)
    if t == "gemma2": c.update(query_pre_attn_scalar=some(r, hd, 24, 224), attn_logit_softcapping=some(r, 50.0, 3.0, None), final_logit_softcapping=some(r, 30.0, 4.0, None))
    if t == "gemma3_text":
        c.update(query_pre_attn_scalar=some(r, hd, 24, 168), final_logit_softcapping=some(r, None, None, 30.0, 5.0), attn_logit_softcapping=None, rope_local_base_freq=theta(r))
        if r.random() < 0.6: c["sliding_window_pattern"] = some(r, 1, 2, 3, 6)
        elif r.random() < 0.5: c["layer_types"] = layers(r, L, 1)
    if t in ("gemma2", "gemma3_text", "cohere2"): c["sliding_window"] = window or 6
    if t == "gemma2" and r.random() < 0.4: c["layer_types"] = layers(r, L, 1)
    if t == "gpt_neox":
        del c["num_key_value_heads"]
        c.update(rotary_pct=some(r, 0.25, 0.5, 1.0), use_parallel_residual=r.random() < 0.5)
    if t == "falcon":
        del c["num_key_value_heads"], c["intermediate_size"]
        kind = some(r, "multi", "each", "new", "new", "new1")
        c.update(new_decoder_architecture=kind.startswith("new"), multi_query=kind != "each", parallel_attn=kind.startswith("new") or r.random() < 0.6, bias=r.random() < 0.4, alibi=False,
          activation=some(r, "gelu", "gelu", "gelu_new", "gelu_pytorch_tanh"))
        if kind.startswith("new"): c["num_kv_heads"] = some(r, *[k for k in range(1, H + 1) if H % k == 0])
        if kind == "new1": c["num_ln_in_parallel_attn"] = 1
        if r.random() < 0.5: c["ffn_hidden_size"] = some(r, 17, 40, 96)
    if t == "phi": c.update(partial_rotary_factor=some(r, 0.5, 0.4, 1.0, 0.25), qk_layernorm=r.random() < 0.4)
    if t == "stablelm": c.update(partial_rotary_factor=some(r, 0.25, 0.5, 1.0), use_qkv_bias=r.random() < 0.5, qk_layernorm=r.random() < 0.4, use_parallel_residual=r.random() < 0.5)
    if t == "cohere": c.update(logit_scale=some(r, 0.0625, 0.8333, 1.0, 2.0), use_qk_norm=r.random() < 0.4)
    if t == "cohere2":
        c["logit_scale"] = some(r, 0.0625, 0.25, 1.0)
        if r.random() < 0.5: c["sliding_window_pattern"] = some(r, 1, 2, 3, 4)
        elif r.random() < 0.5: c["layer_types"] = layers(r, L, 1)
    part = c.get("partial_rotary_factor", c.get("rotary_pct", 1.0))
    if part < 1 and (int(hd * part) % 2 or int(hd * part) < 2): # an odd part is refused, and checked elsewhere
        for k in ("partial_rotary_factor", "rotary_pct"):
            if k in c: c[k] = 1.0
    if t == "phi3":
        if r.random() < 0.5: c["partial_rotary_factor"] = some(r, *[p for p in (0.75, 0.5, 1.0) if int(hd * p) % 2 == 0])
        c["sliding_window"] = window
        turned = int(hd * c.get("partial_rotary_factor", 1.0))
        if r.random() < 0.7:
            c["original_max_position_embeddings"] = some(r, 8, 12, 16, 20, C)
            scaling = {"type": some(r, "longrope", "longrope", "yarn"), "short_factor": [some(r, 1, 1.0, round(1 + r.random(), 3)) for _ in range(turned // 2)],
              "long_factor": [round(1 + 8 * r.random(), 3) for _ in range(turned // 2)]}
            if r.random() < 0.2: scaling["attention_factor"] = some(r, 1.0, 1.4)
            if r.random() < 0.15: scaling["factor"] = some(r, 2.0, 4.0)
    if t in ("mixtral", "qwen3_moe", "olmoe", "qwen2_moe"):
        E = some(r, 2, 3, 4, 5, 8, 16)
        c.update(num_experts_per_tok=r.randint(1, min(E, 4)), output_router_logits=False, router_aux_loss_coef=0.001)
        c["num_local_experts" if t == "mixtral" else "num_experts"] = E
        if t != "mixtral": c["norm_topk_prob"] = r.random() < 0.5
        if t == "olmoe": c["clip_qkv"] = some(r, None, None, 0.8, 8.0)
        if t in ("qwen3_moe", "qwen2_moe"):
            c.update(moe_intermediate_size=some(r, 8, 12, 20, 36), decoder_sparse_step=some(r, 1, 1, 2, 3), use_sliding_window=False, max_window_layers=L)
            c["mlp_only_layers"] = some(r, [], [], [0], [L - 1], [0, 2])
        if t == "qwen2_moe": c.update(shared_expert_intermediate_size=some(r, 8, 20, 40), qkv_bias=r.random() < 0.7)
        if t in ("mixtral", "olmoe"): c["intermediate_size"] = some(r, 8, 12, 20, 36)
    if t == "gpt_oss":
        c.update(head_dim=hd, hidden_act="silu", attention_bias=r.random() < 0.7, num_local_experts=some(r, 2, 4, 5), num_experts_per_tok=some(r, 1, 2), tie_word_embeddings=False,
          swiglu_limit=some(r, 7.0, 7.0, 1.5), sliding_window=window or 128, output_router_logits=False)
        if r.random() < 0.5: c["layer_types"] = layers(r, L, 1)
        scaling = dict(rope_type="yarn", factor=some(r, 2.0, 32.0), original_max_position_embeddings=some(r, 8, 16), beta_fast=some(r, 32.0, 4.0), beta_slow=some(r, 1.0, 0.25), truncate=r.random() < 0.3)
    if t == "gpt2":
        c = dict(model_type=t, n_embd=c["hidden_size"], n_head=H, n_layer=L, n_positions=C, vocab_size=c["vocab_size"], n_inner=some(r, None, 50, 96), tie_word_embeddings=c["tie_word_embeddings"],
          activation_function=some(r, "gelu_new", "gelu", "gelu_pytorch_tanh"), layer_norm_epsilon=some(r, 1e-5, 1e-3), scale_attn_weights=r.random() < 0.8, scale_attn_by_inverse_layer_idx=r.random() < 0.3)
        if r.random() < 0.4: c["n_ctx"] = C
    if SAYABLE and r.random() < 0.8: # what a GGUF file can say, and is drawn too often otherwise
        for k in ("hidden_act", "hidden_activation", "activation", "activation_function", "mlp_only_layers", "decoder_sparse_step", "clip_qkv"):
            if k in c: c[k] = DEFAULTS[k](t)
        if "query_pre_attn_scalar" in c: c["query_pre_attn_scalar"] = c.get("head_dim", 256)
        if t in ("mistral", "mixtral", "ministral3"): c["sliding_window"] = None
        if t in ("qwen2", "qwen3", "smollm3"): c["use_sliding_window"] = False; c.pop("layer_types", None)
        if t == "gpt2": c.update(scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
        if t == "phi": c["qk_layernorm"] = False
        if t == "falcon": c["bias"] = False
    return c, scaling, hd

def spell(r, t, c, scaling):
    """positions in the words of version 4 or of version 5; what is the family's default may be left out"""
    base = theta(r)
    leave = r.random() < 0.25
    if t == "gpt2": return c
    local = c.pop("rope_local_base_freq", None)
    if r.random() < 0.5: # version 4
        if not leave: c["rotary_emb_base" if t == "gpt_neox" else "rope_theta"] = int(base) if t == "gpt_neox" else base
        if scaling is not None or r.random() < 0.5: c["rope_scaling"] = scaling
        if local is not None: c["rope_local_base_freq"] = local
    else:
        one = dict(scaling or {"rope_type": "default"})
        if "type" in one and r.random() < 0.5: one["rope_type"] = one.pop("type")
        if not leave: one["rope_theta"] = base
        for k, words in (("partial_rotary_factor", ("phi", "stablelm", "phi3")), ("rotary_pct", ("gpt_neox",))):
            if k in c and r.random() < 0.6: one["partial_rotary_factor"] = c.pop(k)
        if local is not None:
            if "layer_types" not in c: c["layer_types"] = ["full_attention" if (i + 1) % c.get("sliding_window_pattern", 6) == 0 else "sliding_attention" for i in range(c["num_hidden_layers"])]
            one = {"full_attention": one, "sliding_attention": {"rope_type": "default", "rope_theta": local}}
        c["rope_parameters"] = one
    return c

DEFAULTS = { # what the library takes where the file says nothing, and files do say nothing
  "hidden_act": lambda t: {"gpt_neox": "gelu", "phi": "gelu_new", "gemma": "gelu_pytorch_tanh"}.get(t, "silu"),
  "hidden_activation": lambda t: "gelu_pytorch_tanh", "activation": lambda t: "gelu", "activation_function": lambda t: "gelu_new",
  "rms_norm_eps": lambda t: 1e-5 if t in ("olmo2", "exaone4", "phi3", "mixtral", "olmoe", "ministral3", "ernie4_5") else 1e-6,
  "layer_norm_eps": lambda t: 1e-5, "layer_norm_epsilon": lambda t: 1e-5,
  "tie_word_embeddings": lambda t: t in GEMMAS + ("cohere", "cohere2", "falcon", "smollm3", "ernie4_5", "gpt2"),
  "attention_bias": lambda t: t in ("gpt_neox", "seed_oss"), "attention_out_bias": lambda t: False, "mlp_bias": lambda t: False, "use_bias": lambda t: False,
  "use_parallel_residual": lambda t: t == "gpt_neox", "qk_layernorm": lambda t: False, "use_qkv_bias": lambda t: False, "use_qk_norm": lambda t: False, "logit_scale": lambda t: 0.0625,
  "embedding_multiplier": lambda t: 1.0, "attention_multiplier": lambda t: 1.0, "residual_multiplier": lambda t: 1.0, "logits_scaling": lambda t: 1.0,
  "final_logit_softcapping": lambda t: 30.0 if t == "gemma2" else None, "attn_logit_softcapping": lambda t: 50.0 if t == "gemma2" else None, "query_pre_attn_scalar": lambda t: 256,
  "norm_topk_prob": lambda t: False, "decoder_sparse_step": lambda t: 1, "mlp_only_layers": lambda t: [], "qkv_bias": lambda t: True, "clip_qkv": lambda t: None,
  "partial_rotary_factor": lambda t: {"phi": 0.5, "stablelm": 0.25}.get(t, 1.0), "rotary_pct": lambda t: 0.25, "use_sliding_window": lambda t: False,
  "multi_query": lambda t: True, "parallel_attn": lambda t: True, "new_decoder_architecture": lambda t: False, "bias": lambda t: False, "alibi": lambda t: False,
  "sliding_window": lambda t: 4096 if t in ("mistral", "ministral", "qwen2", "qwen3", "exaone4", "gemma2", "gemma3_text", "cohere2") else None}
def omit(r, t, c, hd):
    for k in list(c):
        if k not in DEFAULTS or r.random() > 0.15: continue
        d = DEFAULTS[k](t)
        if k in ("partial_rotary_factor", "rotary_pct") and (int(hd * d) % 2 or int(hd * d) < 2): continue
        if t == "phi3" and k == "partial_rotary_factor" and ("rope_scaling" in c or "rope_parameters" in c): continue
        if t == "falcon" and k in ("new_decoder_architecture", "parallel_attn", "multi_query"): continue
        if k in ("sliding_window", "use_sliding_window") and "layer_types" in c: continue
        del c[k]
    for k in ("num_key_value_heads",):
        if k in c and c[k] == c.get("num_attention_heads") and r.random() < 0.5 and t in ("llama", "granite", "olmo2", "olmoe", "phi", "phi3", "cohere", "cohere2"):
            if r.random() < 0.5: del c[k]
            else: c[k] = None
        elif k in c and c[k] == c.get("num_attention_heads") and r.random() < 0.3 and t in ("qwen2", "qwen3", "smollm3", "seed_oss", "ernie4_5"): c[k] = None
    for k in ("rope_scaling", "bos_token_id", "pad_token_id", "quantization_config"):
        if k not in c and r.random() < 0.15: c[k] = None
    return c
EXTRA = dict(transformers_version="4.51.3", torch_dtype="bfloat16", use_cache=True, initializer_range=0.02, attention_dropout=0.0, _name_or_path="x/y", architectures=None)

# ---- weights
def fill(model, t, g):
    for name, p in model.named_parameters():
        with torch.no_grad():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float32)
            if "norm" in name or "ln_" in name:
                p.copy_(0.25 * noise + (0 if t in GEMMAS or name.endswith("bias") else 1))
            elif name.endswith("bias"): p.copy_(0.2 * noise)
            elif "embed" in name and p.dim() == 2 or "wte" in name or "wpe" in name: p.copy_(0.8 * noise)
            else: p.copy_(noise * 1.3 / math.sqrt(p.shape[-1]))

def make(t, r, where):
    c, scaling, hd = settings(t, r)
    c = omit(r, t, spell(r, t, c, scaling), hd)
    extra = {k: v for k, v in EXTRA.items() if r.random() < 0.6 and v is not None}
    if "torch_dtype" in extra and r.random() < 0.5: extra["dtype"] = extra.pop("torch_dtype")
    c.update(eos_token_id=some(r, 1, [1, 2], 0), pad_token_id=some(r, 0, None), bos_token_id=some(r, 1, None), **extra)
    json.dump(c, open(os.path.join(where, "config.json"), "w"), indent=1)
    config = AutoConfig.from_pretrained(where)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    fill(model, t, torch.Generator().manual_seed(r.getrandbits(32)))
    c["architectures"] = [type(model).__name__]
    kind = some(r, "float32", "float32", "float32", "bfloat16", "float16")
    model = model.to(getattr(torch, kind))
    model.save_pretrained(where, **({"max_shard_size": some(r, "20KB", "60KB")} if r.random() < 0.25 else {}))
    if r.random() < 0.6: json.dump(c, open(os.path.join(where, "config.json"), "w"), indent=1) # else as the library writes it
    return kind

# ---- both sides
def theirs(where, cases, prompts):
    model = AutoModelForCausalLM.from_pretrained(where, dtype=torch.float64, attn_implementation="eager")
    if hasattr(model, "set_experts_implementation"): model.set_experts_implementation("eager")
    model.eval()
    out, texts = [], []
    with torch.no_grad():
        for ids in cases: out.append(model(torch.tensor([ids])).logits[0].double())
        for ids in prompts:
            g = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), max_new_tokens=NEW, do_sample=False, use_cache=True,
              eos_token_id=None, pad_token_id=0, return_dict_in_generate=True, output_scores=True)
            margins = [float((lambda v: v[0] - v[1])(s[0].double().topk(2).values)) for s in g.scores]
            texts.append((g.sequences[0, len(ids):].tolist(), margins))
    return out, texts
def ours(kind, where, lines):
    p = subprocess.run([INCIPIT, "probe", kind, "-m", where], input="".join(json.dumps(x) + "\n" for x in lines), capture_output=True, text=True, timeout=120)
    if p.returncode != 0: return None, p.stderr.strip()
    return [json.loads(x) for x in p.stdout.split("\n") if x], None

def compare(where, r):
    config = json.load(open(os.path.join(where, "config.json")))
    V, C = config["vocab_size"], config.get("max_position_embeddings", config.get("n_positions", 1024))
    text = lambda n: [r.randrange(V) for _ in range(n)]
    cases = [text(1), text(some(r, 7, 9, 12, 17)), text(some(r, 21, 30)), text(min(C, 40))]
    prompts = [text(1), text(some(r, 3, 6)), text(min(C, 40) - NEW + 1)]
    want, texts = theirs(where, cases, prompts)
    got, why = ours("forward", where, [{"ids": x, "rows": "all"} for x in cases])
    if got is None: return "refused", why
    worst = 0.0
    for x, y in zip(want, got):
        if "error" in y: return "refused", y["error"]
        y = torch.tensor(y["logits"], dtype=torch.float64)
        worst = max(worst, float((x - y).abs().max()) / max(1.0, float(x.abs().max()) / 10))
    if not worst < 4e-4: return "wrong", "logits off by %.3g" % worst
    got, why = ours("logprob", where, [{"ids": x} for x in cases[1:]])
    for ids, x, y in zip(cases[1:], want[1:], got):
        x = x.log_softmax(-1)
        off = max(abs(float(x[i, ids[i + 1]]) - y["logprobs"][i + 1]) for i in range(len(ids) - 1))
        if not off < 1e-3: return "wrong", "log-probabilities off by %.3g" % off
    got, why = ours("generate", where, [{"ids": x, "max_tokens": NEW, "eos": []} for x in prompts])
    for (ids, margins), y in zip(texts, got):
        if "error" in y: return "refused", y["error"]
        n = next((i for i in range(NEW) if ids[i] != y["ids"][i]), NEW)
        if n < NEW and margins[n] > 2e-3: return "wrong", "greedy text differs at %d, margin %.3g" % (n, margins[n])
    return "same", worst

# ---- the same model as a GGUF file
NAMED = ("cannot be said in a GGUF file", "would be lost: readers of GGUF files ignore it", "a family of which we know how GGUF files have it", "one that GGUF files of this kind can have",
  "a way to stretch positions that we can write") # what the format has no place for
def through_gguf(where, r):
    """quantize in floats, and in eight and four bits: the first file's logits are the directory's, bit for bit, but where a divisor of a frequency, or yarn's attention factor, is rounded"""
    config = json.load(open(os.path.join(where, "config.json")))
    V, C = config["vocab_size"], config.get("max_position_embeddings", config.get("n_positions", 1024))
    cases = [{"ids": [r.randrange(V) for _ in range(n)], "rows": "all"} for n in (1, 9, min(C, 40))]
    want, why = ours("forward", where, cases)
    if want is None: return "no directory", why # which is seen without --gguf
    for kind in ("f32", "q8_0", "q4_k"):
        path = os.path.join(where, "model-%s.gguf" % kind)
        p = subprocess.run([INCIPIT, "quantize", "-m", where, "--type", kind, "--out", path], capture_output=True, text=True, timeout=120)
        if p.returncode != 0: return "named" if any(x in p.stderr for x in NAMED) else "refused", p.stderr.strip()
        got, why = ours("forward", path, cases)
        if got is None or any("error" in y for y in got): return "unread", "%s: %s" % (kind, why or got)
        if kind == "f32" and got != want:
            x, y = (torch.tensor([v for one in side for row in one["logits"] for v in row], dtype=torch.float64) for side in (want, got))
            off, rounded = float((x - y).abs().max() / x.abs().max()), any(k in json.dumps(config) for k in ('"llama3"', '"yarn"'))
            if not (rounded and off < 5e-5): return "wrong", "f32: logits off by %.3g of the largest" % off
    return "same", 0.0

FAMILIES = ("gpt2 llama mistral qwen2 qwen3 smollm3 granite ministral ministral3 seed_oss ernie4_5 olmo2 gemma gemma2 gemma3_text exaone4 gpt_neox falcon phi phi3 stablelm cohere cohere2 "
  "mixtral olmoe qwen2_moe qwen3_moe gpt_oss").split()
def main():
    a = argparse.ArgumentParser()
    a.add_argument("-n", type=int, default=2); a.add_argument("--first", type=int, default=0); a.add_argument("--seed", type=int, default=1); a.add_argument("--keep"); a.add_argument("--gguf", action="store_true"); a.add_argument("family", nargs="*")
    a = a.parse_args()
    global SAYABLE
    SAYABLE, total = a.gguf, collections.Counter()
    for t in a.family or FAMILIES:
        counts, worst = collections.Counter(), 0.0
        for i in range(a.first, a.first + a.n):
            r = random.Random("%s %d %d" % (t, a.seed, i))
            where = os.path.join(a.keep, "%s-%d" % (t, i)) if a.keep else tempfile.mkdtemp()
            os.makedirs(where, exist_ok=True)
            try:
                make(t, r, where)
            except Exception as e:
                what, why = "theirs", "%s: %s" % (type(e).__name__, str(e).replace("\n", " ")[:300])
            else:
                try: what, why = (through_gguf if a.gguf else compare)(where, r)
                except Exception as e: what, why = "theirs", "run: %s: %s" % (type(e).__name__, str(e).replace("\n", " ")[:300])
            counts[what] += 1
            if what == "same": worst = max(worst, why)
            elif what != "named": print("%s %d: %s: %s" % (t, i, what, why), flush=True)
            if not a.keep or what == "same": shutil.rmtree(where)
        print("%-12s %s, largest difference %.1e" % (t, ", ".join("%s %d" % x for x in sorted(counts.items())), worst), flush=True)
        total += counts
    print("all: " + ", ".join("%s %d" % x for x in sorted(total.items())))
    return 1 if total["wrong"] + total["refused"] + total["unread"] else 0
if __name__ == "__main__": sys.exit(main())
