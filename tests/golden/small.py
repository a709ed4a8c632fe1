#!/usr/bin/env python3
"""small.py -- writes tests/golden/small: a model with a tokenizer, for the tests of the command.
usage: build/incipit tokenize --train tests/golden/small.txt --vocab-size 286 --out tests/golden/small
       python3 tests/golden/small.py
The model is a parrot: its head turns the embedding of each token into the token that follows it in one fixed
text, which has characters of one to four bytes and ends with the end token; attention and MLP add a little noise,
so that every weight matters and every logit depends on the whole prefix."""
import json, math, os, random, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small")
V, D, FF, LAYERS, HEADS, KV, HD, CONTEXT = 286, 32, 48, 2, 4, 2, 8, 64
TEXT = ["The", " cat", " sat", " on", " the", " mat", ".", " ", "é", "€", "😀", "!"]

def byte_chars():
    own = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    out, n = {}, 0
    for b in range(256):
        if b in own: out[b] = chr(b)
        else: out[b] = chr(256 + n); n += 1
    return out
vocab = json.load(open(os.path.join(here, "tokenizer.json")))["model"]["vocab"]
chars = byte_chars()
chain = [0]
for piece in TEXT:
    spelled = "".join(chars[b] for b in piece.encode())
    chain += [vocab[spelled]] if spelled in vocab else [vocab[c] for c in spelled]
assert len(set(chain)) == len(chain), chain
r = random.Random(3)
after = [r.randrange(1, V) for _ in range(V)]
for a, b in zip(chain, chain[1:] + [0]): after[a] = b
def gauss(n, s): return [r.gauss(0, s) for _ in range(n)]
embedding = [gauss(D, 1) for _ in range(V)]
head = [gauss(D, .02) for _ in range(V)]
for t in range(V):
    size = math.sqrt(sum(x * x for x in embedding[t]))
    head[after[t]] = [h + 2 * x / size for h, x in zip(head[after[t]], embedding[t])]
flat = lambda m: [x for row in m for x in row]
tensors = {"model.embed_tokens.weight": ("F16", [V, D], flat(embedding)), "lm_head.weight": ("F16", [V, D], flat(head)),
           "model.norm.weight": ("F16", [D], [1 + x for x in gauss(D, .05)])}
for i in range(LAYERS):
    for name, rows, cols in (("self_attn.q_proj", HEADS * HD, D), ("self_attn.k_proj", KV * HD, D), ("self_attn.v_proj", KV * HD, D),
                             ("self_attn.o_proj", D, HEADS * HD), ("mlp.gate_proj", FF, D), ("mlp.up_proj", FF, D), ("mlp.down_proj", D, FF)):
        tensors["model.layers.%d.%s.weight" % (i, name)] = ("F16", [rows, cols], gauss(rows * cols, .08))
    for name in ("input_layernorm", "post_attention_layernorm"):
        tensors["model.layers.%d.%s.weight" % (i, name)] = ("F16", [D], [1 + x for x in gauss(D, .05)])
make.write_tensors(os.path.join(here, "model.safetensors"), tensors)
json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": V, "hidden_size": D, "intermediate_size": FF,
           "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV, "head_dim": HD,
           "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
           "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False, "torch_dtype": "float16"},
          open(os.path.join(here, "config.json"), "w"), indent=1)
json.dump({"eos_token_id": 0}, open(os.path.join(here, "generation_config.json"), "w"))
