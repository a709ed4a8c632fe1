#!/usr/bin/env python3
"""families.py -- the small random models of the families that differ from Llama by switches, as make.py has the others.
usage: as make.py's.  The reference below is again plain loops in double, one branch a switch, and reads config.json and the tensors alone."""
import math, os, struct, sys
import make
from make import vec, rms, softmax, curve, yarn, yarn_factor, r7
HERE = os.path.dirname(os.path.abspath(__file__))
GEMMAS = ("gemma", "gemma2", "gemma3_text")
SPARSE = ("mixtral", "qwen3_moe", "olmoe", "qwen2_moe", "gpt_oss")
FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]
def sparse(c, l):
    return c["model_type"] in SPARSE and l not in c.get("mlp_only_layers", []) and (l + 1) % c.get("decoder_sparse_step", 1) == 0
def norm(x, g, b, eps, mean, plus):
    m = math.fsum(x) / len(x) if mean else 0
    r = 1 / math.sqrt(math.fsum((a - m) ** 2 for a in x) / len(x) + eps)
    return [(a - m) * r * (plus + p) + q for a, p, q in zip(x, g or [1] * len(x), b or [0] * len(x))]
class Families:
    def __init__(self, directory):
        self.c = make.json.load(open(os.path.join(directory, "config.json")))
        self.w = make.read_tensors(directory)
        c, self.t = self.c, self.c["model_type"]
        self.H = c["num_attention_heads"]
        self.K = c.get("num_key_value_heads") or c.get("num_kv_heads") or self.H
        if self.t == "falcon" and not c["new_decoder_architecture"]: self.K = 1 if c["multi_query"] else self.H
        self.hd = c.get("head_dim") or c["hidden_size"] // self.H
        self.mean = self.t in ("gpt_neox", "falcon", "phi", "stablelm", "cohere", "cohere2")
        self.eps = c.get("rms_norm_eps", c.get("layer_norm_eps", c.get("layer_norm_epsilon")))
        self.part = int(self.hd * c.get("rotary_pct", c.get("partial_rotary_factor", 1)))
        self.near = self.t in ("cohere", "cohere2", "ernie4_5")
    def has(self, *names):
        for n in names:
            if n in self.w: return self.w[n]
        return None
    def windowed(self, l):
        c = self.c
        if not c.get("sliding_window"): return False
        if c.get("layer_types"): return c["layer_types"][l] == "sliding_attention"
        p = c.get("sliding_window_pattern", {"gemma2": 2, "gpt_oss": 2, "gemma3_text": 6, "cohere2": 4}.get(self.t))
        if isinstance(p, str): return l + 1 < c["num_hidden_layers"] and p[l % len(p)] == "L"
        return p is None or (l + 1) % p != 0
    def turned(self, l):
        if self.t == "smollm3": return self.c["no_rope_layers"][l] == 1
        if self.t == "cohere2" or (self.t == "exaone4" and self.c.get("sliding_window")): return self.windowed(l)
        return True
    def angles(self, l):
        rope = self.c.get("rope_parameters") or self.c.get("rope_scaling") or {}
        theta = rope.get("rope_theta", self.c.get("rope_theta", self.c.get("rotary_emb_base", 10000.0)))
        local = self.t == "gemma3_text" and self.windowed(l)
        if local: theta = self.c["rope_local_base_freq"]
        f = [theta ** (-2 * i / self.part) for i in range(self.part // 2)]
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind == "linear" and not local: f = [x / rope["factor"] for x in f]
        if kind == "longrope": f = [x / k for x, k in zip(f, rope["long_factor" if self.long else "short_factor"])]
        if kind == "yarn": f = yarn(self.c, rope, f, self.part, theta)
        return f
    def turn(self, x, heads, f, p):
        y, m, by = list(x), self.part // 2, self.factor
        for h in range(heads):
            for i in range(m):
                a, b = (2 * i, 2 * i + 1) if self.near else (i, i + m)
                a, b = h * self.hd + a, h * self.hd + b
                c, s = by * math.cos(p * f[i]), by * math.sin(p * f[i])
                y[a], y[b] = x[a] * c - x[b] * s, x[b] * c + x[a] * s
        return y
    def normed(self, name, x):
        return norm(x, self.w[name + ".weight"], self.has(name + ".bias"), self.eps, self.mean, self.t in GEMMAS)
    def product(self, name, x, rows=None, start=0):
        w, b, n = self.w[name + ".weight"], self.has(name + ".bias"), len(x)
        rows = rows if rows is not None else len(w) // n
        return vec(w[start * n:(start + rows) * n], x, rows, False, None if b is None else b[start:start + rows])
    def qkv(self, p, y):
        H, K, hd = self.H, self.K, self.hd
        if self.t == "phi3":
            n = p + "self_attn.qkv_proj"
            return self.product(n, y, H * hd), self.product(n, y, K * hd, H * hd), self.product(n, y, K * hd, (H + K) * hd)
        if self.t in ("gpt_neox", "falcon"):
            z, G = self.product(p + ("attention" if self.t == "gpt_neox" else "self_attention") + ".query_key_value", y), H // K
            q, k, v = [], [], []
            for g in range(K):
                at = g * (G + 2) * hd
                q += z[at:at + G * hd]; k += z[at + G * hd:at + (G + 1) * hd]; v += z[at + (G + 1) * hd:at + (G + 2) * hd]
            return q, k, v
        return tuple(self.product(p + "self_attn." + n + "_proj", y) for n in "qkv")
    def qk_norm(self, p, which, x, heads):
        hd, plus = self.hd, self.t in GEMMAS
        n = p + "self_attn.%s_norm.weight" % which
        split = [x[i * hd:(i + 1) * hd] for i in range(heads)]
        if self.t in ("olmo2", "olmoe"): return norm(x, self.w[n], None, self.eps, False, 0)
        if self.t in ("gemma3_text", "exaone4", "qwen3_moe"): return sum((norm(s, self.w[n], None, self.eps, False, plus) for s in split), [])
        if self.c.get("use_qk_norm"): return sum((norm(s, self.w[n][i * hd:(i + 1) * hd], None, self.eps, True, 0) for i, s in enumerate(split)), [])
        n = p + "self_attn.%s_layernorm" % which
        if self.c.get("qk_layernorm") and self.t == "phi": return sum((self.normed(n, s) for s in split), [])
        if self.c.get("qk_layernorm"): return sum((norm(s, self.w[n + ".norms.%d.weight" % i], None, self.eps, True, 0) for i, s in enumerate(split)), [])
        return x
    def scale(self):
        if self.t == "granite": return self.c["attention_multiplier"]
        return self.c.get("query_pre_attn_scalar", self.hd) ** -0.5
    def attend(self, q, keys, values, window, sinks=None):
        H, K, hd, out = self.H, self.K, self.hd, []
        t0, cap = max(0, len(keys) - window) if window else 0, self.c.get("attn_logit_softcapping")
        for i in range(H):
            g = i // (H // K)
            s = [self.scale() * math.fsum(q[i * hd + j] * keys[t][g * hd + j] for j in range(hd)) for t in range(t0, len(keys))]
            if cap: s = [cap * math.tanh(x / cap) for x in s]
            # a score that belongs to no position comes last, and its weight is not used
            a = softmax(s if sinks is None else s + [sinks[i]])
            out += [math.fsum(a[t - t0] * values[t][g * hd + j] for t in range(t0, len(keys))) for j in range(hd)]
        return out
    def mlp(self, p, y):
        if self.t in ("gpt_neox", "falcon"): up, down, act = "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", self.c.get("hidden_act", self.c.get("activation"))
        elif self.t == "phi": up, down, act = "mlp.fc1", "mlp.fc2", self.c["hidden_act"]
        else:
            f = self.c["intermediate_size"]
            act = "gelu_tanh" if self.t in GEMMAS else self.c["hidden_act"]
            if self.t == "phi3": gate, u = self.product(p + "mlp.gate_up_proj", y, f), self.product(p + "mlp.gate_up_proj", y, f, f)
            else: gate, u = self.product(p + "mlp.gate_proj", y), self.product(p + "mlp.up_proj", y)
            return self.product(p + "mlp.down_proj", [curve(act)(a) * b for a, b in zip(gate, u)])
        return self.product(p + down, [curve(act)(a) for a in self.product(p + up, y)])
    def expert(self, p, names, y):
        gate, u = self.product(p + names[0], y), self.product(p + names[1], y)
        return self.product(p + names[2], [curve(self.c["hidden_act"])(a) * b for a, b in zip(gate, u)])
    def packed(self, name, e, rows, cols):
        # two numbers in a byte, the lower half first; 32 have one power of two
        b, s = self.w[name + "_blocks"], self.w[name + "_scales"]
        out = []
        for i in range(e * rows * cols, (e + 1) * rows * cols):
            byte = int(b[i // 2])
            out.append(FP4[byte >> 4 if i % 2 else byte & 15] * 2.0 ** (int(s[i // 32]) - 127))
        return out
    def clamped(self, p, e, y):
        # gates and ups alternate, in a matrix with the inputs first
        c, d, f, most, n = self.c, len(y), self.c["intermediate_size"], self.c.get("swiglu_limit", 7.0), p + "experts."
        part = lambda k, size: self.w[n + k][e * size:(e + 1) * size]
        mx = n + "gate_up_proj_blocks" in self.w
        up = self.packed(n + "gate_up_proj", e, 2 * f, d) if mx else part("gate_up_proj", 2 * f * d)
        down = self.packed(n + "down_proj", e, d, f) if mx else part("down_proj", f * d)
        z = vec(up, y, 2 * f, not mx, part("gate_up_proj_bias", 2 * f))
        a = []
        for g, u in zip(z[0::2], z[1::2]):
            g, u = min(g, most), max(-most, min(u, most))
            a.append((u + 1) * g / (1 + math.exp(-c.get("swiglu_alpha", 1.702) * g)))
        return vec(down, a, d, not mx, part("down_proj_bias", d))
    def experts(self, p, y):
        if self.t == "gpt_oss":
            # the best logits first, and a softmax over these alone
            z, k = self.product(p + "mlp.router", y), self.c["num_experts_per_tok"]
            best = sorted(range(len(z)), key=lambda e: (-z[e], e))[:k]
            each = [(s, self.clamped(p + "mlp.", e, y)) for s, e in zip(softmax([z[e] for e in best]), best)]
            return [math.fsum(s * a[j] for s, a in each) for j in range(len(y))]
        # softmax over all, the best (of equal ones the first), divided by their sum or not; then the shared one by a logistic weight
        c, mixtral = self.c, self.t == "mixtral"
        p += "block_sparse_moe." if mixtral else "mlp."
        share = softmax(self.product(p + "gate", y))
        best = sorted(range(len(share)), key=lambda e: (-share[e], e))[:c["num_experts_per_tok"]]
        by = math.fsum(share[e] for e in best) if c.get("norm_topk_prob", mixtral) else 1
        each = [(share[e] / by, self.expert(p + "experts.%d." % e, ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj"), y)) for e in best]
        if self.t == "qwen2_moe":
            z = self.product(p + "shared_expert_gate", y)[0]
            each.append((1 / (1 + math.exp(-z)), self.expert(p + "shared_expert.", ("gate_proj", "up_proj", "down_proj"), y)))
        return [math.fsum(s * a[j] for s, a in each) for j in range(len(y))]
    def logits(self, ids):
        c, d, t = self.c, self.c["hidden_size"], self.t
        pre = {"gpt_neox": "gpt_neox.", "falcon": "transformer."}.get(t, "model.")
        emb = self.has(pre + "embed_tokens.weight", pre + "embed_in.weight", pre + "word_embeddings.weight")
        by = math.sqrt(d) if t in GEMMAS else c.get("embedding_multiplier", 1)
        x = [[by * a for a in emb[i * d:(i + 1) * d]] for i in ids]
        r, parallel = c.get("residual_multiplier", 1), t in ("phi", "cohere", "cohere2") or c.get("use_parallel_residual", c.get("parallel_attn", False))
        # longrope: by the length of the whole text, for all its positions; the factor of cosines and sines is the same for both kinds
        old, rope = c.get("original_max_position_embeddings"), c.get("rope_scaling") or {}
        self.long, self.factor = old is not None and len(ids) > old, 1
        if t == "gpt_oss": self.factor = make.sharper(c)
        if rope.get("type") == "longrope": self.factor = math.sqrt(1 + math.log(c["max_position_embeddings"] / old) / math.log(old))
        growth = (c.get("rope_parameters") or {}).get("llama_4_scaling_beta")
        for l in range(c["num_hidden_layers"]):
            p = pre + ("h.%d." if t == "falcon" else "layers.%d.") % l
            f, keys, values = self.angles(l), [], []
            first = "ln_attn" if p + "ln_attn.weight" in self.w else "input_layernorm"
            for at in range(len(ids)):
                bare = t in ("olmo2", "exaone4")
                y = x[at] if bare else self.normed(p + first, x[at])
                q, k, v = self.qkv(p, y)
                q, k = self.qk_norm(p, "q", q, self.H), self.qk_norm(p, "k", k, self.K)
                if c.get("clip_qkv"): q, k, v = ([max(-c["clip_qkv"], min(c["clip_qkv"], a)) for a in x] for x in (q, k, v))
                if self.turned(l): q, k = self.turn(q, self.H, f, at), self.turn(k, self.K, f, at)
                if growth: q = [a * (1 + growth * math.log(1 + at // c["rope_parameters"]["original_max_position_embeddings"])) for a in q]
                keys.append(k); values.append(v)
                a = self.attend(q, keys, values, c["sliding_window"] if self.windowed(l) else 0, self.has(p + "self_attn.sinks"))
                out = {"gpt_neox": "attention.dense", "falcon": "self_attention.dense", "phi": "self_attn.dense"}.get(t, "self_attn.o_proj")
                a = self.product(p + out, a)
                post = bare or t in ("gemma2", "gemma3_text")
                if post: a = self.normed(p + "post_attention_layernorm", a)
                z = [u + r * w for u, w in zip(x[at], a)]
                if parallel:
                    two = p + "ln_mlp" if first == "ln_attn" else p + "post_attention_layernorm"
                    y = self.normed(two, x[at]) if two + ".weight" in self.w else y
                elif bare: y = z
                else: y = self.normed(p + ("pre_feedforward_layernorm" if post else "post_attention_layernorm"), z)
                m = self.experts(p, y) if sparse(c, l) else self.mlp(p, y)
                if post: m = self.normed(p + "post_feedforward_layernorm", m)
                x[at] = [u + r * w for u, w in zip(z, m)]
        last = pre + {"gpt_neox": "final_layer_norm", "falcon": "ln_f", "phi": "final_layernorm"}.get(t, "norm")
        head = self.has("lm_head.weight", "embed_out.weight") or emb
        out = []
        for row in x:
            z = vec(head, self.normed(last, row), c["vocab_size"], False, self.has("lm_head.bias"))
            z = [a * c.get("logit_scale", 1) / c.get("logits_scaling", 1) for a in z]
            cap = c.get("final_logit_softcapping")
            out.append([cap * math.tanh(a / cap) for a in z] if cap else z)
        return out

# ---- the models
def some(kind, cls, **more):
    return dict(dict(architectures=[cls], model_type=kind, hidden_size=12, intermediate_size=18, num_hidden_layers=2, num_attention_heads=4,
      num_key_value_heads=2, max_position_embeddings=16, vocab_size=18, eos_token_id=17, attention_dropout=0.0, use_cache=True), **more)
RMS = dict(rms_norm_eps=1e-6, hidden_act="silu", rope_theta=10000.0, rope_scaling=None)
MEAN = dict(layer_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None)
G = dict(hidden_activation="gelu_pytorch_tanh", rms_norm_eps=1e-6, rope_theta=1000.0, head_dim=6)
OSS = dict(rms_norm_eps=1e-5, hidden_act="silu", num_hidden_layers=3, sliding_window=3, attention_bias=True, router_aux_loss_coef=0.9, output_router_logits=False,
  tie_word_embeddings=False)
MODELS = {
  "smollm3": some("smollm3", "SmolLM3ForCausalLM", **dict(RMS, head_dim=4, num_hidden_layers=3, no_rope_layers=[0, 1, 0], no_rope_layer_interval=4, tie_word_embeddings=True,
    attention_bias=False, mlp_bias=False, use_sliding_window=False, sliding_window=None)),
  "granite": some("granite", "GraniteForCausalLM", **dict(RMS, head_dim=4, embedding_multiplier=3.0, attention_multiplier=0.3, residual_multiplier=0.5, logits_scaling=0.7,
    attention_bias=True, mlp_bias=True, tie_word_embeddings=False)),
  "ministral3": some("ministral3", "Ministral3ForCausalLM", **dict(dict(RMS, rope_theta=None), head_dim=8, sliding_window=None, tie_word_embeddings=False, rope_parameters={"rope_type": "yarn",
    "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 4, "beta_fast": 1.0, "beta_slow": 0.25, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.6})),
  "ernie4_5": some("ernie4_5", "Ernie4_5ForCausalLM", **dict(RMS, head_dim=6, use_bias=True, tie_word_embeddings=True)),
  "olmo2": some("olmo2", "Olmo2ForCausalLM", **dict(RMS, num_key_value_heads=4, hidden_size=16, attention_bias=False, tie_word_embeddings=False)),
  "gemma": some("gemma", "GemmaForCausalLM", **dict(RMS, hidden_act="gelu", head_dim=6, num_key_value_heads=1)),
  "gemma2": some("gemma2", "Gemma2ForCausalLM", **dict(G, num_hidden_layers=3, sliding_window=3, query_pre_attn_scalar=3, attn_logit_softcapping=1.5, final_logit_softcapping=4.0)),
  "gemma3": some("gemma3_text", "Gemma3ForCausalLM", **dict(G, num_hidden_layers=3, sliding_window=3, sliding_window_pattern=2, query_pre_attn_scalar=9, rope_local_base_freq=20.0,
    rope_scaling={"rope_type": "linear", "factor": 4.0}, attn_logit_softcapping=None, final_logit_softcapping=None)),
  "exaone4": some("exaone4", "Exaone4ForCausalLM", **dict(RMS, hidden_size=16, num_hidden_layers=3, sliding_window=3, sliding_window_pattern="LG", tie_word_embeddings=False)),
  "pythia": some("gpt_neox", "GPTNeoXForCausalLM", hidden_size=16, num_attention_heads=2, num_key_value_heads=None, hidden_act="gelu", layer_norm_eps=1e-5, rotary_pct=0.5,
    rotary_emb_base=100, use_parallel_residual=True, tie_word_embeddings=False, hidden_dropout=0.0, classifier_dropout=0.1),
  "falcon": some("falcon", "FalconForCausalLM", hidden_size=16, num_key_value_heads=None, intermediate_size=None, num_kv_heads=2, ffn_hidden_size=20, activation="gelu",
    layer_norm_epsilon=1e-5, new_decoder_architecture=True, multi_query=True, parallel_attn=True, bias=True, alibi=False, rope_theta=10000.0),
  "falcon-old": some("falcon", "FalconForCausalLM", hidden_size=16, num_key_value_heads=None, intermediate_size=None, ffn_hidden_size=20, activation="gelu",
    layer_norm_epsilon=1e-5, new_decoder_architecture=False, multi_query=True, parallel_attn=True, bias=False, alibi=False, rope_theta=10000.0),
  "phi": some("phi", "PhiForCausalLM", **dict(MEAN, hidden_size=16, num_attention_heads=2, num_key_value_heads=2, hidden_act="gelu_new", partial_rotary_factor=0.5, qk_layernorm=True,
    tie_word_embeddings=False)),
  "stablelm": some("stablelm", "StableLmForCausalLM", **dict(MEAN, hidden_size=16, num_attention_heads=2, num_key_value_heads=1, hidden_act="silu", partial_rotary_factor=0.25,
    qk_layernorm=True, use_qkv_bias=True, use_parallel_residual=True, tie_word_embeddings=False)),
  "cohere": some("cohere", "CohereForCausalLM", **dict(MEAN, hidden_size=16, hidden_act="silu", use_qk_norm=True, logit_scale=0.3, attention_bias=False)),
  "cohere2": some("cohere2", "Cohere2ForCausalLM", **dict(MEAN, hidden_size=16, num_hidden_layers=3, hidden_act="silu", logit_scale=0.5, sliding_window=3, sliding_window_pattern=2,
    attention_bias=False, tie_word_embeddings=True)),
  "phi3": some("phi3", "Phi3ForCausalLM", **dict(RMS, hidden_size=16, partial_rotary_factor=0.5, sliding_window=5, original_max_position_embeddings=16, tie_word_embeddings=False)),
  "phi3-long": some("phi3", "Phi3ForCausalLM", **dict(dict(RMS, rope_scaling={"type": "longrope", "short_factor": [1.0, 1.2, 1.5], "long_factor": [1.5, 2.5, 4.0]}), hidden_size=16,
    num_attention_heads=2, num_key_value_heads=1, partial_rotary_factor=0.75, sliding_window=None, max_position_embeddings=24, original_max_position_embeddings=8, tie_word_embeddings=True)),
  "mixtral": some("mixtral", "MixtralForCausalLM", **dict(RMS, hidden_size=16, intermediate_size=6, num_local_experts=4, num_experts_per_tok=2, sliding_window=None,
    router_aux_loss_coef=0.001, router_jitter_noise=0.0, output_router_logits=False, tie_word_embeddings=False)),
  "qwen3_moe": some("qwen3_moe", "Qwen3MoeForCausalLM", **dict(RMS, head_dim=4, num_hidden_layers=3, num_experts=5, num_experts_per_tok=3, moe_intermediate_size=4, norm_topk_prob=True,
    decoder_sparse_step=1, mlp_only_layers=[1], attention_bias=False, use_sliding_window=False, sliding_window=None, max_window_layers=3, tie_word_embeddings=False)),
  "olmoe": some("olmoe", "OlmoeForCausalLM", **dict(RMS, hidden_size=16, num_key_value_heads=4, intermediate_size=5, num_experts=6, num_experts_per_tok=2,
    clip_qkv=0.7, attention_bias=False, tie_word_embeddings=False)),
  "qwen2_moe": some("qwen2_moe", "Qwen2MoeForCausalLM", **dict(RMS, hidden_size=16, num_hidden_layers=3, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=4, shared_expert_intermediate_size=25,
    decoder_sparse_step=2, mlp_only_layers=[], qkv_bias=True, use_sliding_window=False, sliding_window=0, max_window_layers=28, tie_word_embeddings=False)),
  "gpt_oss": some("gpt_oss", "GptOssForCausalLM", **dict(OSS, head_dim=6, intermediate_size=8, num_local_experts=4, num_experts_per_tok=2, swiglu_limit=0.8, swiglu_alpha=1.9,
    rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 4, "beta_fast": 1.0, "beta_slow": 0.25, "truncate": False})),
  "gpt_oss-mxfp4": some("gpt_oss", "GptOssForCausalLM", **dict(OSS, hidden_size=32, head_dim=8, num_attention_heads=2, num_key_value_heads=1, intermediate_size=32, num_local_experts=3,
    num_experts_per_tok=2, experts_per_token=2, initial_context_length=12, swiglu_limit=7.0, rope_theta=6, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    rope_scaling={"beta_fast": 32.0, "beta_slow": 1.0, "factor": 2.0, "original_max_position_embeddings": 12, "rope_type": "yarn", "truncate": False},
    quantization_config={"modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"], "quant_method": "mxfp4"})),
  "ministral": some("ministral", "MinistralForCausalLM", **dict(RMS, head_dim=8, num_hidden_layers=3, sliding_window=3, tie_word_embeddings=False,
    layer_types=["full_attention", "sliding_attention", "sliding_attention"])),
  "seed_oss": some("seed_oss", "SeedOssForCausalLM", **dict(RMS, rope_theta=1e7, head_dim=6, num_key_value_heads=1, attention_bias=True, attention_out_bias=False, mlp_bias=False, residual_dropout=0.1,
    tie_word_embeddings=False)),
}
for c in MODELS.values():
    for k in ("num_key_value_heads", "intermediate_size", "rope_theta"):
        if k in c and c[k] is None: del c[k]
def tensors(c, rng):
    t, out, d, V = c["model_type"], {}, c["hidden_size"], c["vocab_size"]
    def put(name, shape, mean=0.0, sigma=None):
        v = [rng.gauss(mean, sigma or 1.4 / math.sqrt(shape[-1])) for _ in range(math.prod(shape))]
        out[name] = ("F32", shape, [make.unpack("F32", make.pack("F32", a))[0] for a in v])
    def put_norm(name, n, bias=None):
        put(name + ".weight", [n], 0.0 if t in GEMMAS else 1.0, 0.25)
        if bias if bias is not None else t in ("gpt_neox", "falcon", "phi", "stablelm"): put(name + ".bias", [n], 0.0, 0.2)
    def matrix(name, rows, cols, bias=False):
        put(name + ".weight", [rows, cols])
        if bias: put(name + ".bias", [rows], 0.0, 0.2)
    H = c["num_attention_heads"]; K = c.get("num_key_value_heads") or c.get("num_kv_heads") or H
    if t == "falcon" and not c["new_decoder_architecture"]: K = 1
    hd, f = c.get("head_dim") or d // H, c.get("intermediate_size") or c.get("ffn_hidden_size")
    pre = {"gpt_neox": "gpt_neox.", "falcon": "transformer."}.get(t, "model.")
    every = t in ("gpt_neox", "phi") or c.get("use_bias", c.get("bias", False))
    put(pre + {"gpt_neox": "embed_in", "falcon": "word_embeddings"}.get(t, "embed_tokens") + ".weight", [V, d], 0.0, 0.8)
    for l in range(c["num_hidden_layers"]):
        p = pre + ("h.%d." if t == "falcon" else "layers.%d.") % l
        if t == "falcon" and c["new_decoder_architecture"]: norms = ["ln_attn", "ln_mlp"]
        elif t in ("olmo2", "exaone4"): norms = ["post_attention_layernorm", "post_feedforward_layernorm"]
        elif t in ("gemma2", "gemma3_text"): norms = ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"]
        elif t in ("phi", "cohere", "cohere2", "falcon") or (t == "stablelm" and c["use_parallel_residual"]): norms = ["input_layernorm"]
        else: norms = ["input_layernorm", "post_attention_layernorm"]
        for n in norms: put_norm(p + n, d)
        attn = p + {"gpt_neox": "attention.", "falcon": "self_attention."}.get(t, "self_attn.")
        if t in ("gpt_neox", "falcon"): matrix(attn + "query_key_value", (H + 2 * K) * hd, d, every)
        elif t == "phi3": matrix(attn + "qkv_proj", (H + 2 * K) * hd, d)
        else:
            for n, rows in (("q", H * hd), ("k", K * hd), ("v", K * hd)): matrix(attn + n + "_proj", rows, d, every or c.get("attention_bias") or c.get("use_qkv_bias") or c.get("qkv_bias"))
        for n, heads in (("q", H), ("k", K)):
            if t in ("olmo2", "olmoe"): put_norm(attn + n + "_norm", heads * hd)
            if t in ("gemma3_text", "exaone4", "qwen3_moe"): put_norm(attn + n + "_norm", hd)
            if c.get("use_qk_norm"): put(attn + n + "_norm.weight", [heads, hd], 1.0, 0.25)
            if c.get("qk_layernorm") and t == "phi": put_norm(attn + n + "_layernorm", hd)
            if c.get("qk_layernorm") and t == "stablelm":
                for i in range(heads): put_norm(attn + n + "_layernorm.norms.%d" % i, hd, False)
        matrix(attn + ("dense" if t in ("gpt_neox", "falcon", "phi") else "o_proj"), d, H * hd, every or c.get("attention_out_bias", c.get("attention_bias")))
        if t == "gpt_oss":
            E, m = c["num_local_experts"], p + "mlp.experts."
            put(attn + "sinks", [H], 0.5, 1.0); matrix(p + "mlp.router", E, d, True)
            for n, rows, cols in (("gate_up_proj", 2 * f, d), ("down_proj", d, f)):
                put(m + n + "_bias", [E, rows], 0.0, 0.2)
                if "quantization_config" not in c: put(m + n, [E, cols, rows], 0.0, 1.4 / math.sqrt(cols)); continue
                out[m + n + "_blocks"] = ("U8", [E, rows, cols // 32, 16], [rng.randrange(256) for _ in range(E * rows * cols // 2)])
                out[m + n + "_scales"] = ("U8", [E, rows, cols // 32], [rng.choice((122, 123, 123, 124)) for _ in range(E * rows * cols // 32)])
        if t == "gpt_neox":
            n = c["max_position_embeddings"]
            out[attn + "bias"] = ("BOOL", [1, 1, n, n], [int(j <= i) for i in range(n) for j in range(n)])
            put(attn + "masked_bias", [1], -1e9, 1.0); put(attn + "rotary_emb.inv_freq", [2])
        if t == "gpt_oss": up = []
        elif sparse(c, l):
            m, g = ("block_sparse_moe.", c["intermediate_size"]) if t == "mixtral" else ("mlp.", c.get("moe_intermediate_size", f))
            names = ("w1", "w3", "w2") if t == "mixtral" else ("gate_proj", "up_proj", "down_proj")
            E = c.get("num_local_experts") or c["num_experts"]
            up = [(m + "gate", E, d)] + [(m + "experts.%d.%s" % (e, n), d if i == 2 else g, g if i == 2 else d) for e in range(E) for i, n in enumerate(names)]
            if "shared_expert_intermediate_size" in c:
                s = c["shared_expert_intermediate_size"]
                up += [(m + "shared_expert." + n, d if i == 2 else s, s if i == 2 else d) for i, n in enumerate(names)] + [(m + "shared_expert_gate", 1, d)]
        elif t in ("gpt_neox", "falcon"): up = [("mlp.dense_h_to_4h", f, d), ("mlp.dense_4h_to_h", d, f)]
        elif t == "phi": up = [("mlp.fc1", f, d), ("mlp.fc2", d, f)]
        elif t == "phi3": up = [("mlp.gate_up_proj", 2 * f, d), ("mlp.down_proj", d, f)]
        else: up = [("mlp.gate_proj", f, d), ("mlp.up_proj", f, d), ("mlp.down_proj", d, f)]
        for n, rows, cols in up: matrix(p + n, rows, cols, every or c.get("mlp_bias"))
    put_norm(pre + {"gpt_neox": "final_layer_norm", "falcon": "ln_f", "phi": "final_layernorm"}.get(t, "norm"), d)
    tied = c.get("tie_word_embeddings", t in GEMMAS or t in ("falcon", "cohere", "cohere2"))
    if not tied: matrix("embed_out" if t == "gpt_neox" else "lm_head", V, d, t == "phi")
    return out
# ---- gpt-oss in the form of llama.cpp: gates and ups are taken apart, a block has its scale and then numbers i and i+16 in a byte
def gguf(name, path):
    c, w = MODELS[name], make.read_tensors(os.path.join(HERE, "families", name))
    text = lambda s: struct.pack("<Q", len(s)) + s.encode()
    d, f, E, rope = c["hidden_size"], c["intermediate_size"], c["num_local_experts"], c["rope_scaling"]
    keys, out = [("general.architecture", 8, text("gpt-oss")), ("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", c["eos_token_id"]))], []
    for key, x in (("context_length", c["max_position_embeddings"]), ("embedding_length", d), ("block_count", c["num_hidden_layers"]), ("feed_forward_length", f),
                   ("attention.head_count", c["num_attention_heads"]), ("attention.head_count_kv", c["num_key_value_heads"]), ("attention.key_length", c["head_dim"]),
                   ("attention.value_length", c["head_dim"]), ("attention.sliding_window", c["sliding_window"]), ("expert_count", E),
                   ("expert_used_count", c["num_experts_per_tok"]), ("expert_feed_forward_length", f),
                   ("rope.scaling.original_context_length", rope["original_max_position_embeddings"])): keys.append(("gpt-oss." + key, 4, struct.pack("<I", x)))
    for key, x in (("attention.layer_norm_rms_epsilon", c["rms_norm_eps"]), ("rope.freq_base", c["rope_theta"]), ("rope.scaling.factor", rope["factor"])):
        keys.append(("gpt-oss." + key, 6, struct.pack("<f", x)))
    keys.append(("gpt-oss.rope.scaling.type", 8, text("yarn")))
    def put(key, shape, values): out.append((key, shape, 0, b"".join(struct.pack("<f", x) for x in values)))
    def packed(key, b, s, rows, cols):
        blob = b""
        for r in rows:
            for k in range(r * cols // 32, (r + 1) * cols // 32):
                n = [int(b[16 * k + i // 2]) >> i % 2 * 4 & 15 for i in range(32)]
                blob += bytes([int(s[k])] + [n[i] | n[i + 16] << 4 for i in range(16)])
        out.append((key, [E, len(rows) // E, cols], 39, blob))
    put("token_embd.weight", [c["vocab_size"], d], w["model.embed_tokens.weight"]); put("output_norm.weight", [d], w["model.norm.weight"])
    put("output.weight", [c["vocab_size"], d], w["lm_head.weight"])
    H, K = c["num_attention_heads"] * c["head_dim"], c["num_key_value_heads"] * c["head_dim"]
    for l in range(c["num_hidden_layers"]):
        p, to = "model.layers.%d." % l, "blk.%d." % l
        for a, b, shape in (("attn_norm.weight", "input_layernorm.weight", [d]), ("post_attention_norm.weight", "post_attention_layernorm.weight", [d]),
                            ("attn_q.weight", "self_attn.q_proj.weight", [H, d]), ("attn_k.weight", "self_attn.k_proj.weight", [K, d]),
                            ("attn_v.weight", "self_attn.v_proj.weight", [K, d]), ("attn_output.weight", "self_attn.o_proj.weight", [d, H]),
                            ("attn_q.bias", "self_attn.q_proj.bias", [H]), ("attn_k.bias", "self_attn.k_proj.bias", [K]), ("attn_v.bias", "self_attn.v_proj.bias", [K]),
                            ("attn_output.bias", "self_attn.o_proj.bias", [d]), ("attn_sinks.weight", "self_attn.sinks", [c["num_attention_heads"]]),
                            ("ffn_gate_inp.weight", "mlp.router.weight", [E, d]), ("ffn_gate_inp.bias", "mlp.router.bias", [E]),
                            ("ffn_down_exps.bias", "mlp.experts.down_proj_bias", [E, d])): put(to + a, shape, w[p + b])
        m = p + "mlp.experts."
        for first, kind in enumerate(("gate", "up")):
            packed(to + "ffn_%s_exps.weight" % kind, w[m + "gate_up_proj_blocks"], w[m + "gate_up_proj_scales"], range(first, 2 * f * E, 2), d)
            put(to + "ffn_%s_exps.bias" % kind, [E, f], w[m + "gate_up_proj_bias"][first::2])
        packed(to + "ffn_down_exps.weight", w[m + "down_proj_blocks"], w[m + "down_proj_scales"], range(d * E), f)
    h, data = b"GGUF" + struct.pack("<IQQ", 3, len(out), len(keys)), b""
    for key, kind, value in keys: h += text(key) + struct.pack("<I", kind) + value
    for key, shape, kind, blob in out:
        h += text(key) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", x) for x in reversed(shape)) + struct.pack("<IQ", kind, len(data))
        data += blob + b"\0" * (-len(blob) % 32)
    with open(path, "wb") as file: file.write(h + b"\0" * (-len(h) % 32) + data)
if __name__ == "__main__":
    make.Reference, make.MODELS, make.tensors = Families, MODELS, lambda name, c, rng: tensors(c, rng)
    make.HERE = os.path.join(HERE, "families")
    if sys.argv[1:] == ["transformers"]: sys.exit(make.library())
    if len(sys.argv) == 3 and sys.argv[1] == "check": sys.exit(make.check(sys.argv[2]))
    for i, name in enumerate(MODELS):
        if len(sys.argv) == 1 or name in sys.argv[1:]: make.make(name, 2000 + i)
        if name == "gpt_oss-mxfp4" and (len(sys.argv) == 1 or name in sys.argv[1:]): gguf(name, os.path.join(HERE, "families", "gpt_oss.gguf"))
