#!/usr/bin/env python3
"""make.py -- writes the small random models of this folder and, beside each, what it must answer.
usage: python3 tests/golden/make.py            writes every model
       python3 tests/golden/make.py NAME...    writes those
       python3 tests/golden/make.py check DIR  recomputes DIR's lines from its files and compares
       python3 tests/golden/make.py transformers  asks the library for every model's logits (needs torch), within the lines' tolerance
Weights come from seeded Gaussians and are rounded to the stored type.  The answers come from a plain
reference in double precision, written from the papers with nested loops; it reads config.json and the
tensor files itself and shares no line with the engine.  The forms of the .jsonl files are those of the
larger golden models: forward {"ids","logits","tol"}, logprob {"ids","logprobs","sum","tol","sum_tol"},
greedy {"prompt_ids","max_new_tokens","eos_token_id","ids","min_margin"}."""
import json, math, os, random, struct, sys
HERE = os.path.dirname(os.path.abspath(__file__))

# ---- safetensors, written and read
def pack(kind, x):
    if kind == "F32": return struct.pack("<f", x)
    if kind == "F16": return struct.pack("<e", x)
    u = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.pack("<H", (u + 0x7fff + (u >> 16 & 1)) >> 16)
def unpack(kind, b):
    if kind == "F32": return [x[0] for x in struct.iter_unpack("<f", b)]
    if kind == "F16": return [x[0] for x in struct.iter_unpack("<e", b)]
    if kind == "BF16": return [struct.unpack("<f", struct.pack("<I", x[0] << 16))[0] for x in struct.iter_unpack("<H", b)]
    return [float(x) for x in b]
def write_tensors(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, shape, values) in tensors.items():
        blob = bytes(values) if kind in ("BOOL", "U8") else b"".join(pack(kind, v) for v in values)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(blob)]}
        data += blob
    h = json.dumps(header, separators=(",", ":")).encode()
    h += b" " * (-len(h) % 8)
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(h)) + h + data)
def read_tensors(directory):
    index = os.path.join(directory, "model.safetensors.index.json")
    files = ["model.safetensors"]
    if os.path.exists(index): files = sorted(set(json.load(open(index))["weight_map"].values()))
    out = {}
    for name in files:
        raw = open(os.path.join(directory, name), "rb").read()
        n = struct.unpack("<Q", raw[:8])[0]
        for key, t in json.loads(raw[8:8 + n]).items():
            if key == "__metadata__": continue
            a, b = t["data_offsets"]
            out[key] = unpack(t["dtype"], raw[8 + n + a:8 + n + b])
    return out

# ---- the reference: one text at a time, every sum in double, in the order of the loops
def vec(w, x, out, transposed, bias):
    n = len(x)
    if transposed: y = [math.fsum(x[i] * w[i * out + o] for i in range(n)) for o in range(out)]
    else: y = [math.fsum(x[i] * w[o * n + i] for i in range(n)) for o in range(out)]
    return y if bias is None else [a + b for a, b in zip(y, bias)]
def rms(x, g, eps):
    r = 1 / math.sqrt(math.fsum(a * a for a in x) / len(x) + eps)
    return [a * r * b for a, b in zip(x, g)]
def layernorm(x, g, b, eps):
    m = math.fsum(x) / len(x)
    r = 1 / math.sqrt(math.fsum((a - m) ** 2 for a in x) / len(x) + eps)
    return [(a - m) * r * p + q for a, p, q in zip(x, g, b)]
def frequencies(c, head_dim):
    rope = c.get("rope_parameters") or c.get("rope_scaling") or {}
    theta = rope.get("rope_theta", c.get("rope_theta", 10000.0))
    f = [theta ** (-2 * i / head_dim) for i in range(head_dim // 2)]
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "linear": return [x / rope["factor"] for x in f]
    if kind == "yarn": return yarn(c, rope, f, head_dim, theta)
    if kind == "default": return f
    low, high, old, k = (rope[x] for x in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings", "factor"))
    out = []
    for x in f:
        wave = 2 * math.pi / x
        if wave < old / high: out.append(x)
        elif wave > old / low: out.append(x / k)
        else:
            s = (old / wave - low) / (high - low)
            out.append((1 - s) * x / k + s * x)
    return out
def yarn_factor(c, rope):
    return rope.get("factor") or c["max_position_embeddings"] / rope.get("original_max_position_embeddings", c["max_position_embeddings"])
def yarn(c, rope, f, dim, theta):
    old = rope.get("original_max_position_embeddings", c["max_position_embeddings"])
    place = lambda turns: dim * math.log(old / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = place(rope.get("beta_fast") or 32), place(rope.get("beta_slow") or 1)
    if rope.get("truncate", True): low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high: high += 0.001
    out = []
    for i, x in enumerate(f):
        ramp = min(max((i - low) / (high - low), 0), 1)
        out.append(x / yarn_factor(c, rope) * ramp + x * (1 - ramp))
    return out
def sharper(c):
    rope = c.get("rope_parameters") or c.get("rope_scaling") or {}
    if rope.get("rope_type", rope.get("type", "default")) != "yarn": return 1
    if rope.get("attention_factor") is not None: return rope["attention_factor"]
    grow = lambda m: 1 if yarn_factor(c, rope) <= 1 else 0.1 * m * math.log(yarn_factor(c, rope)) + 1
    if rope.get("mscale") and rope.get("mscale_all_dim"): return grow(rope["mscale"]) / grow(rope["mscale_all_dim"])
    return grow(1)
def curve(name):
    if name == "silu": return lambda u: u / (1 + math.exp(-u))
    if name == "gelu": return lambda u: 0.5 * u * (1 + math.erf(u / math.sqrt(2)))
    return lambda u: 0.5 * u * (1 + math.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3)))
def window_of(c, layer):
    if c["model_type"] == "mistral": return c.get("sliding_window")
    if not c.get("use_sliding_window") or not c.get("sliding_window"): return 0
    types = c.get("layer_types")
    near = types[layer] == "sliding_attention" if types else layer >= c.get("max_window_layers", 28)
    return c["sliding_window"] if near else 0
def softmax(s):
    m = max(s)
    e = [math.exp(a - m) for a in s]
    z = math.fsum(e)
    return [a / z for a in e]
def attention(q, keys, values, h, kv, d, window, scale):
    out, t1 = [], len(keys)
    t0 = max(0, t1 - window) if window else 0
    for i in range(h):
        g = i // (h // kv)
        s = [math.fsum(q[i * d + c] * keys[t][g * d + c] for c in range(d)) * scale for t in range(t0, t1)]
        p = softmax(s)
        out += [math.fsum(p[t - t0] * values[t][g * d + c] for t in range(t0, t1)) for c in range(d)]
    return out
def turn(x, heads, d, f, position, factor):
    y = list(x)
    for h in range(heads):
        for i in range(d // 2):
            a, b = x[h * d + i], x[h * d + i + d // 2]
            c, s = factor * math.cos(position * f[i]), factor * math.sin(position * f[i])
            y[h * d + i], y[h * d + i + d // 2] = a * c - b * s, b * c + a * s
    return y
class Reference:
    def __init__(self, directory):
        self.c = json.load(open(os.path.join(directory, "config.json")))
        self.w = read_tensors(directory)
        self.gpt2 = self.c["model_type"] == "gpt2"
        pre = "transformer." if self.gpt2 else "model."
        self.pre = pre if any(k.startswith(pre) for k in self.w) else ""
    def get(self, name): return self.w.get(self.pre + name)
    def logits(self, ids):
        return self.gpt2_logits(ids) if self.gpt2 else self.llama_logits(ids)
    def head(self, x, embedding, tied):
        table = embedding if tied else self.w["lm_head.weight"]
        return vec(table, x, self.c["vocab_size"], False, None)
    def gpt2_logits(self, ids):
        c, d, h = self.c, self.c["n_embd"], self.c["n_head"]
        inner, eps = c.get("n_inner") or 4 * d, c["layer_norm_epsilon"]
        wte, wpe = self.get("wte.weight"), self.get("wpe.weight")
        x = [[wte[t * d + i] + wpe[p * d + i] for i in range(d)] for p, t in enumerate(ids)]
        for l in range(c["n_layer"]):
            g = lambda n: self.get("h.%d.%s" % (l, n))
            scale = 1 / math.sqrt(d // h) if c.get("scale_attn_weights", True) else 1
            if c.get("scale_attn_by_inverse_layer_idx"): scale /= l + 1
            keys, values = [], []
            for p in range(len(ids)):
                y = layernorm(x[p], g("ln_1.weight"), g("ln_1.bias"), eps)
                qkv = vec(g("attn.c_attn.weight"), y, 3 * d, True, g("attn.c_attn.bias"))
                keys.append(qkv[d:2 * d]); values.append(qkv[2 * d:])
                a = attention(qkv[:d], keys, values, h, h, d // h, 0, scale)
                o = vec(g("attn.c_proj.weight"), a, d, True, g("attn.c_proj.bias"))
                z = [u + v for u, v in zip(x[p], o)]
                y = layernorm(z, g("ln_2.weight"), g("ln_2.bias"), eps)
                m = vec(g("mlp.c_fc.weight"), y, inner, True, g("mlp.c_fc.bias"))
                m = [curve(c["activation_function"])(u) for u in m]
                m = vec(g("mlp.c_proj.weight"), m, d, True, g("mlp.c_proj.bias"))
                x[p] = [u + v for u, v in zip(z, m)]
        tied = c.get("tie_word_embeddings", True)
        return [self.head(layernorm(r, self.get("ln_f.weight"), self.get("ln_f.bias"), eps), wte, tied) for r in x]
    def llama_logits(self, ids):
        c, d, h = self.c, self.c["hidden_size"], self.c["num_attention_heads"]
        kv, inner, eps = c["num_key_value_heads"], c["intermediate_size"], c["rms_norm_eps"]
        hd = c.get("head_dim") or d // h
        f, a1 = frequencies(c, hd), sharper(c)
        table = self.get("embed_tokens.weight")
        x = [table[t * d:(t + 1) * d] for t in ids]
        for l in range(c["num_hidden_layers"]):
            g = lambda n: self.get("layers.%d.%s" % (l, n))
            keys, values = [], []
            for p in range(len(ids)):
                y = rms(x[p], g("input_layernorm.weight"), eps)
                q = vec(g("self_attn.q_proj.weight"), y, h * hd, False, g("self_attn.q_proj.bias"))
                k = vec(g("self_attn.k_proj.weight"), y, kv * hd, False, g("self_attn.k_proj.bias"))
                if g("self_attn.q_norm.weight") is not None:
                    q = sum((rms(q[i * hd:(i + 1) * hd], g("self_attn.q_norm.weight"), eps) for i in range(h)), [])
                    k = sum((rms(k[i * hd:(i + 1) * hd], g("self_attn.k_norm.weight"), eps) for i in range(kv)), [])
                keys.append(turn(k, kv, hd, f, p, a1))
                values.append(vec(g("self_attn.v_proj.weight"), y, kv * hd, False, g("self_attn.v_proj.bias")))
                a = attention(turn(q, h, hd, f, p, a1), keys, values, h, kv, hd, window_of(c, l), 1 / math.sqrt(hd))
                o = vec(g("self_attn.o_proj.weight"), a, d, False, g("self_attn.o_proj.bias"))
                z = [u + v for u, v in zip(x[p], o)]
                y = rms(z, g("post_attention_layernorm.weight"), eps)
                up = vec(g("mlp.up_proj.weight"), y, inner, False, g("mlp.up_proj.bias"))
                gate = vec(g("mlp.gate_proj.weight"), y, inner, False, g("mlp.gate_proj.bias"))
                m = [curve(c["hidden_act"])(u) * v for u, v in zip(gate, up)]
                m = vec(g("mlp.down_proj.weight"), m, d, False, g("mlp.down_proj.bias"))
                x[p] = [u + v for u, v in zip(z, m)]
        tied = c.get("tie_word_embeddings", False)
        return [self.head(rms(r, self.get("norm.weight"), eps), table, tied) for r in x]

# ---- the models: what each has that the others have not
GPT2 = {"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-5, "model_type": "gpt2", "resid_pdrop": 0.1, "use_cache": True}
LATER = {"attention_dropout": 0.0, "hidden_act": "silu", "initializer_range": 0.02, "pad_token_id": None, "use_cache": True}
MODELS = {
  "gpt2": dict(GPT2, n_embd=12, n_head=3, n_layer=2, n_positions=12, n_ctx=12, n_inner=None, vocab_size=20, eos_token_id=19, bos_token_id=19),
  "gpt2-bare": dict(GPT2, n_embd=8, n_head=2, n_layer=2, n_positions=10, n_inner=20, vocab_size=17, tie_word_embeddings=False,
    eos_token_id=16, dtype="float16", scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False),
  "llama": dict(LATER, architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=16, intermediate_size=24, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=16, rms_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None,
    tie_word_embeddings=False, torch_dtype="bfloat16", vocab_size=24, bos_token_id=1, eos_token_id=[2, 3], attention_bias=False, mlp_bias=False),
  "llama-stretched": dict(LATER, architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=12, intermediate_size=19, num_hidden_layers=2,
    num_attention_heads=3, num_key_value_heads=1, head_dim=8, max_position_embeddings=24, rms_norm_eps=1e-6, dtype="float32", tie_word_embeddings=True,
    rope_parameters={"rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 3.0,
    "original_max_position_embeddings": 12}, vocab_size=21, bos_token_id=1, eos_token_id=2, attention_bias=True, mlp_bias=True),
  "mistral": dict(LATER, architectures=["MistralForCausalLM"], model_type="mistral", hidden_size=12, intermediate_size=20, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=1, head_dim=6, max_position_embeddings=16, rms_norm_eps=1e-5, sliding_window=3, dtype="float32",
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, tie_word_embeddings=False, vocab_size=19, bos_token_id=1, eos_token_id=2),
  "qwen2": dict(LATER, architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_size=12, intermediate_size=20, num_hidden_layers=2,
    num_attention_heads=3, num_key_value_heads=1, max_position_embeddings=16, max_window_layers=28, rms_norm_eps=1e-6, sliding_window=None,
    use_sliding_window=False, rope_theta=1000000.0, dtype="float32", tie_word_embeddings=True, vocab_size=18, bos_token_id=None, eos_token_id=17),
  "qwen3": dict(LATER, architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_size=12, intermediate_size=18, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=16, max_window_layers=28, rms_norm_eps=1e-6, sliding_window=None,
    use_sliding_window=False, rope_theta=1000000.0, dtype="float32", tie_word_embeddings=False, vocab_size=18, eos_token_id=17, attention_bias=False),
  "gpt2-unscaled": dict(GPT2, activation_function="gelu", n_embd=12, n_head=3, n_layer=3, n_positions=10, vocab_size=17, scale_attn_weights=False,
    scale_attn_by_inverse_layer_idx=True, eos_token_id=16, bos_token_id=16),
  "llama-linear": dict(LATER, architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=16, intermediate_size=22, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=20, rms_norm_eps=1e-5, rope_theta=1000.0, torch_dtype="bfloat16", vocab_size=19,
    rope_scaling={"type": "linear", "factor": 2.5}, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2, attention_bias=False, mlp_bias=True),
  "llama-yarn": dict(LATER, architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=12, intermediate_size=18, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=1, head_dim=12, max_position_embeddings=32, rms_norm_eps=1e-6, dtype="float32", tie_word_embeddings=True,
    rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 2.0, "original_max_position_embeddings": 16, "beta_fast": 1.0, "beta_slow": 0.25},
    vocab_size=18, bos_token_id=1, eos_token_id=2),
  "qwen2-yarn": dict(LATER, architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_size=16, intermediate_size=20, num_hidden_layers=3,
    num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=24, rms_norm_eps=1e-6, use_sliding_window=True, sliding_window=3, max_window_layers=1,
    rope_theta=1000000.0, rope_scaling={"type": "yarn", "factor": 8.0, "original_max_position_embeddings": 3, "beta_fast": 0.25, "beta_slow": 0.001, "mscale": 1.5,
    "mscale_all_dim": 0.5, "truncate": False}, torch_dtype="bfloat16", tie_word_embeddings=True, vocab_size=18, bos_token_id=None, eos_token_id=17),
  "qwen3-layers": dict(LATER, architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_size=12, intermediate_size=16, num_hidden_layers=3,
    num_attention_heads=2, num_key_value_heads=2, head_dim=6, max_position_embeddings=14, max_window_layers=28, rms_norm_eps=1e-6, sliding_window=4,
    use_sliding_window=True, layer_types=["sliding_attention", "full_attention", "sliding_attention"], rope_parameters={"rope_theta": 1000.0, "rope_type": "linear",
    "factor": 4.0}, dtype="float16", tie_word_embeddings=True, vocab_size=16, eos_token_id=15, attention_bias=True),
}
STORED = {"gpt2-bare": "F16", "llama": "BF16", "gpt2-unscaled": "BF16", "qwen2-yarn": "BF16", "qwen3-layers": "F16"}
BARE = {"gpt2-bare": "", "llama-linear": ""}    # saved from the body alone: names without a prefix
def kind_of(name, key): # a model that was converted in part: three types side by side, in one layer too
    if name != "llama-linear": return STORED.get(name, "F32")
    if "norm" in key or key.endswith("bias"): return "F32"
    return "F16" if "embed" in key or "k_proj" in key or "down" in key else "F32" if "v_proj" in key else "BF16"
def tensors(name, c, rng):
    out = {}
    def put(key, shape, gain=None):
        n, kind = math.prod(shape), kind_of(name, key)
        if key.endswith("norm.weight") or ".ln_" in key or key.startswith("ln_"):
            v = [rng.gauss(0 if key.endswith("bias") else 1, 0.2) for _ in range(n)]
        elif key.endswith("bias"): v = [rng.gauss(0, 0.2) for _ in range(n)]
        else: v = [rng.gauss(0, gain or 1.3 / math.sqrt(shape[-1])) for _ in range(n)]
        out[key] = (kind, shape, [unpack(kind, pack(kind, a))[0] for a in v])
    V = c["vocab_size"]
    if c["model_type"] == "gpt2":
        d, inner, pre = c["n_embd"], c.get("n_inner") or 4 * c["n_embd"], BARE.get(name, "transformer.")
        put(pre + "wte.weight", [V, d], 0.9); put(pre + "wpe.weight", [c["n_positions"], d], 0.5)
        for l in range(c["n_layer"]):
            h = "%sh.%d." % (pre, l)
            put(h + "ln_1.weight", [d]); put(h + "ln_1.bias", [d])
            if name == "gpt2-bare":
                n = c["n_positions"]
                out[h + "attn.bias"] = ("BOOL", [1, 1, n, n], [int(j <= i) for i in range(n) for j in range(n)])
            put(h + "attn.c_attn.weight", [d, 3 * d], 1.5 / math.sqrt(d)); put(h + "attn.c_attn.bias", [3 * d])
            put(h + "attn.c_proj.weight", [d, d]); put(h + "attn.c_proj.bias", [d])
            put(h + "ln_2.weight", [d]); put(h + "ln_2.bias", [d])
            put(h + "mlp.c_fc.weight", [d, inner], 1.3 / math.sqrt(d)); put(h + "mlp.c_fc.bias", [inner])
            put(h + "mlp.c_proj.weight", [inner, d], 1.3 / math.sqrt(inner)); put(h + "mlp.c_proj.bias", [d])
        put(pre + "ln_f.weight", [d]); put(pre + "ln_f.bias", [d])
        if not c.get("tie_word_embeddings", True): put("lm_head.weight", [V, d])
        return out
    d, H, K, inner = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"], c["intermediate_size"]
    hd = c.get("head_dim") or d // H
    qkv = c["model_type"] == "qwen2" or c.get("attention_bias", False)
    pre = BARE.get(name, "model.")
    put(pre + "embed_tokens.weight", [V, d], 0.9)
    for l in range(c["num_hidden_layers"]):
        p = "%slayers.%d." % (pre, l)
        put(p + "input_layernorm.weight", [d]); put(p + "post_attention_layernorm.weight", [d])
        for n, rows in (("q", H * hd), ("k", K * hd), ("v", K * hd)):
            put(p + "self_attn.%s_proj.weight" % n, [rows, d], 1.6 / math.sqrt(d))
            if qkv: put(p + "self_attn.%s_proj.bias" % n, [rows])
        put(p + "self_attn.o_proj.weight", [d, H * hd])
        if c.get("attention_bias"): put(p + "self_attn.o_proj.bias", [d])
        if c["model_type"] == "qwen3":
            put(p + "self_attn.q_norm.weight", [hd]); put(p + "self_attn.k_norm.weight", [hd])
        for n, rows, cols in (("gate", inner, d), ("up", inner, d), ("down", d, inner)):
            put(p + "mlp.%s_proj.weight" % n, [rows, cols])
            if c.get("mlp_bias"): put(p + "mlp.%s_proj.bias" % n, [rows])
    put(pre + "norm.weight", [d])
    if not c.get("tie_word_embeddings", False): put("lm_head.weight", [V, d])
    return out

# ---- the lines
def r7(x): return round(x, 7)
def lines(directory, c):
    ref, rng = Reference(directory), random.Random(7 + c["vocab_size"])
    V, C = c["vocab_size"], c.get("n_positions") or c["max_position_embeddings"]
    text = lambda n: [rng.randrange(V) for _ in range(n)]
    forward, logprob, greedy = [], [], []
    for n in (1, 5, C):
        ids = text(n)
        forward.append({"ids": ids, "logits": [[r7(x) for x in row] for row in ref.logits(ids)], "tol": 2e-5})
    for n in (2, C):
        ids = text(n)
        lp = [None]
        for row, nxt in zip(ref.logits(ids), ids[1:]):
            m = max(row)
            lp.append(row[nxt] - m - math.log(math.fsum(math.exp(a - m) for a in row)))
        logprob.append({"ids": ids, "logprobs": [x if x is None else r7(x) for x in lp], "sum": r7(math.fsum(lp[1:])), "tol": 2e-5, "sum_tol": 2e-4})
    while len(greedy) < 4:
        prompt, out, margin = text(1 + len(greedy)), [], 9.0
        most = min(7, C - len(prompt) + 1)
        eos = [None, c["eos_token_id"]][len(greedy) % 2]
        stops = [] if eos is None else eos if isinstance(eos, list) else [eos]
        while len(out) < most and not (out and out[-1] in stops):
            row = ref.logits(prompt + out)[-1]
            s = sorted(row)
            margin = min(margin, s[-1] - s[-2])
            out.append(row.index(s[-1]))
        if margin > 1e-3: greedy.append({"prompt_ids": prompt, "max_new_tokens": most, "eos_token_id": eos, "ids": out, "min_margin": r7(margin)})
    return {"forward": forward, "logprob": logprob, "greedy": greedy}
def dump(rows): return "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in rows)
def make(name, seed):
    directory = os.path.join(HERE, name)
    os.makedirs(directory, exist_ok=True)
    c, rng = MODELS[name], random.Random(seed)
    t = tensors(name, c, rng)
    if name == "llama":
        keys = list(t)
        parts = {"model-00001-of-00002.safetensors": keys[0::2], "model-00002-of-00002.safetensors": keys[1::2]}
        for f, ks in parts.items(): write_tensors(os.path.join(directory, f), {k: t[k] for k in ks})
        index = {"metadata": {"total_size": 0}, "weight_map": {k: f for f, ks in parts.items() for k in ks}}
        json.dump(index, open(os.path.join(directory, "model.safetensors.index.json"), "w"), indent=1)
    else: write_tensors(os.path.join(directory, "model.safetensors"), t)
    json.dump(c, open(os.path.join(directory, "config.json"), "w"), indent=1, sort_keys=True)
    json.dump({"eos_token_id": c["eos_token_id"], "transformers_version": "none"}, open(os.path.join(directory, "generation_config.json"), "w"))
    for kind, rows in lines(directory, c).items(): open(os.path.join(directory, kind + ".jsonl"), "w").write(dump(rows))
def check(directory):
    c = json.load(open(os.path.join(directory, "config.json")))
    bad = 0
    for kind, rows in lines(directory, c).items():
        bad += open(os.path.join(directory, kind + ".jsonl")).read() != dump(rows)
    print(directory, "differs" if bad else "is what the reference says")
    return bad
def library():
    import torch, transformers
    bad = 0
    for name in MODELS:
        directory = os.path.join(HERE, name)
        # a tied head and names without a prefix are the library's business, too; the weights go to double, exactly
        lm = transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
        worst = 0
        for line in open(os.path.join(directory, "forward.jsonl")):
            o = json.loads(line)
            with torch.no_grad(): z = lm(torch.tensor([o["ids"]])).logits[0].double()
            worst = max(worst, (z - torch.tensor(o["logits"], dtype=torch.float64)).abs().max().item() / o["tol"])
        bad += worst > 1
        print("%-16s the library's float32 uses %.2f of the tolerance" % (name, worst))
    return bad
if __name__ == "__main__":
    if sys.argv[1:] == ["transformers"]: sys.exit(library())
    if len(sys.argv) == 3 and sys.argv[1] == "check": sys.exit(check(sys.argv[2]))
    for i, name in enumerate(MODELS):
        if len(sys.argv) == 1 or name in sys.argv[1:]: make(name, 1000 + i)
