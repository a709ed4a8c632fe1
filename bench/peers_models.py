#!/usr/bin/env python3
"""peers_models.py OUT SHAPE FORMAT... -- the same random weights in the file formats of several engines (needs numpy).

SHAPE  260K (that of stories260K), 110M, 1.1B (that of TinyLlama)
FORMAT dir-f32 dir-f16 dir-bf16    a directory in Hugging Face's layout, OUT/SHAPE-f32
       gguf-f32 gguf-f16 gguf-bf16 a GGUF of version 3, OUT/SHAPE-f32.gguf; its quantized forms are made from it by a quantizer
       llama2c                     a checkpoint of llama2.c, OUT/SHAPE.bin, and its vocabulary, OUT/SHAPE.tok
       ct2                         a directory of CTranslate2, OUT/SHAPE-ct2 (needs ctranslate2)

Every weight is a bfloat16 number: f32 and bf16 hold the same model, and so does f16 but for weights below 2^-17 or so.  The
generator of a tensor is seeded by its name, so that each format can be made alone.  The rows of tokens 0 to 2 (unknown, begin,
end) are short in the embedding and in the head, so that no logit of theirs is the greatest and no greedy text ends early.
A file that exists is kept; it is written under another name and renamed when whole.
"""
import itertools, json, os, string, struct, sys, zlib
import numpy as np

SHAPES = {  # context: what decoding after 8,192 tokens needs
    "260K": dict(d=64, layers=5, heads=8, kv=4, hidden=172, vocab=512, context=512, tied=True),
    "110M": dict(d=768, layers=12, heads=12, kv=12, hidden=2048, vocab=32000, context=8704, tied=True),
    "1.1B": dict(d=2048, layers=22, heads=32, kv=4, hidden=5632, vocab=32000, context=33280, tied=False)}
EPS, THETA = 1e-5, 10000.0

def tensors(c):
    """(name, shape) of all tensors, in Hugging Face's names; a matrix is (outputs, inputs)"""
    d, kv, h = c["d"], c["d"] // c["heads"] * c["kv"], c["hidden"]
    yield "model.embed_tokens.weight", (c["vocab"], d)
    for i in range(c["layers"]):
        p = f"model.layers.{i}."
        yield p + "input_layernorm.weight", (d,)
        yield p + "self_attn.q_proj.weight", (d, d)
        yield p + "self_attn.k_proj.weight", (kv, d)
        yield p + "self_attn.v_proj.weight", (kv, d)
        yield p + "self_attn.o_proj.weight", (d, d)
        yield p + "post_attention_layernorm.weight", (d,)
        yield p + "mlp.gate_proj.weight", (h, d)
        yield p + "mlp.up_proj.weight", (h, d)
        yield p + "mlp.down_proj.weight", (d, h)
    yield "model.norm.weight", (d,)
    if not c["tied"]:
        yield "lm_head.weight", (c["vocab"], d)

def bf16(x):
    """to nearest even, as 16-bit integers; random weights are finite"""
    u = x.view(np.uint32)
    return ((u + 0x7fff + (u >> 16 & 1)) >> 16).astype(np.uint16)

def draw(name, shape):
    r = np.random.Generator(np.random.SFC64(zlib.crc32(name.encode())))
    x = r.standard_normal(shape, np.float32)
    if len(shape) == 1:
        x = 1 + np.float32(0.02) * x
    else:
        x *= np.float32(0.02 if "embed" in name else 0.7 / shape[1] ** 0.5)
    if "embed" in name or "lm_head" in name:
        x[:3] /= 64
    return (bf16(x).astype(np.uint32) << 16).view(np.float32)

def cast(x, kind):
    return x.tobytes() if kind == "f32" else x.astype(np.float16).tobytes() if kind == "f16" else bf16(x).tobytes()

def pieces(n):
    """a vocabulary for SentencePiece: three control tokens, 256 bytes, and as many spellings as are left"""
    letters = "▁" + string.ascii_letters + string.digits + string.punctuation
    longer = ("".join(p) for k in (2, 3) for start in ("▁", "") for p in itertools.product(string.ascii_lowercase, repeat=k)
              for p in [(start,) + p])
    words = list(itertools.islice(itertools.chain(letters, longer), n - 259))
    return ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + words

def write_dir(c, kind, out):
    os.makedirs(out)
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=c["d"], intermediate_size=c["hidden"],
        num_hidden_layers=c["layers"], num_attention_heads=c["heads"], num_key_value_heads=c["kv"], vocab_size=c["vocab"],
        max_position_embeddings=c["context"], rms_norm_eps=EPS, rope_theta=THETA, hidden_act="silu", bos_token_id=1,
        eos_token_id=2, tie_word_embeddings=c["tied"], torch_dtype={"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[kind])
    json.dump(config, open(out + "/config.json", "w"), indent=1)
    size, at, header = 4 if kind == "f32" else 2, 0, {}
    for name, shape in tensors(c):
        n = size * int(np.prod(shape))
        header[name] = dict(dtype=kind.upper(), shape=list(shape), data_offsets=[at, at + n])
        at += n
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # 8 bytes of length stand before it: the data begin at a multiple of 64
    with open(out + "/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors(c):
            f.write(cast(draw(name, shape), kind))

GGUF = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm", "lm_head.weight": "output",
        "input_layernorm": "attn_norm", "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output",
        "post_attention_layernorm": "ffn_norm", "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}

def gguf_name(name):
    part = name.split(".")
    return (GGUF[name] if name in GGUF else f"blk.{part[2]}.{GGUF[part[-2]]}") + ".weight"

def rotated(c, name, x):
    """rows of q and k: GGUF and llama2.c turn neighbours, Hugging Face's layout number i and number i + half of a head"""
    heads = c["heads"] if "q_proj" in name else c["kv"] if "k_proj" in name else 0
    return x if heads == 0 else x.reshape(heads, 2, -1, x.shape[1]).swapaxes(1, 2).reshape(x.shape)

def write_gguf(c, kind, out):
    text = lambda s: struct.pack("<Q", len(s.encode())) + s.encode()
    u32 = lambda k, v: text(k) + struct.pack("<II", 4, v)
    f32 = lambda k, v: text(k) + struct.pack("<If", 6, v)
    word = lambda k, v: text(k) + struct.pack("<I", 8) + text(v)
    array = lambda k, type, items: text(k) + struct.pack("<IIQ", 9, type, len(items)) + b"".join(items)
    vocab = pieces(c["vocab"])
    fields = [word("general.architecture", "llama"), word("general.name", "random weights"), u32("general.alignment", 32),
        u32("general.file_type", {"f32": 0, "f16": 1, "bf16": 32}[kind]), u32("llama.context_length", c["context"]),
        u32("llama.embedding_length", c["d"]), u32("llama.block_count", c["layers"]), u32("llama.feed_forward_length", c["hidden"]),
        u32("llama.attention.head_count", c["heads"]), u32("llama.attention.head_count_kv", c["kv"]),
        f32("llama.attention.layer_norm_rms_epsilon", EPS), f32("llama.rope.freq_base", THETA),
        u32("llama.rope.dimension_count", c["d"] // c["heads"]), u32("llama.vocab_size", c["vocab"]),
        word("tokenizer.ggml.model", "llama"), array("tokenizer.ggml.tokens", 8, [text(s) for s in vocab]),
        array("tokenizer.ggml.scores", 6, [struct.pack("<f", -max(0, i - 258)) for i in range(len(vocab))]),
        array("tokenizer.ggml.token_type", 5, [struct.pack("<i", 2 if i == 0 else 3 if i < 3 else 6 if i < 259 else 1)
            for i in range(len(vocab))]),
        u32("tokenizer.ggml.bos_token_id", 1), u32("tokenizer.ggml.eos_token_id", 2), u32("tokenizer.ggml.unknown_token_id", 0)]
    at, infos = 0, b""
    for name, shape in tensors(c):
        type = "f32" if len(shape) == 1 else kind  # what is no matrix stays float32, as in published files
        infos += text(gguf_name(name)) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape[::-1])
        infos += struct.pack("<IQ", {"f32": 0, "f16": 1, "bf16": 30}[type], at)
        at += -(-(4 if type == "f32" else 2) * int(np.prod(shape)) // 32) * 32
    with open(out, "wb") as f:
        f.write(struct.pack("<4sIQQ", b"GGUF", 3, sum(1 for _ in tensors(c)), len(fields)) + b"".join(fields) + infos)
        for name, shape in tensors(c):
            f.write(bytes(-f.tell() % 32))
            f.write(cast(np.ascontiguousarray(rotated(c, name, draw(name, shape))), "f32" if len(shape) == 1 else kind))
        f.write(bytes(-f.tell() % 32))

def write_llama2c(c, out):
    with open(out, "wb") as f:
        f.write(struct.pack("<7i", c["d"], c["hidden"], c["layers"], c["heads"], c["kv"],
            c["vocab"] if c["tied"] else -c["vocab"], c["context"]))
        def put(part):
            for name, shape in tensors(c):
                if part in name:
                    f.write(np.ascontiguousarray(rotated(c, name, draw(name, shape))).tobytes())
        for part in ("embed", "input_layernorm", "q_proj", "k_proj", "v_proj", "o_proj", "post_attention", "gate_proj", "down_proj",
                     "up_proj", "model.norm"):
            put(part)
        f.write(bytes(4 * c["context"] * (c["d"] // c["heads"])))  # tables of sines, no longer read
        put("lm_head")

def write_tokens(c, out):
    vocab = [s.replace("▁", " ").encode() for s in pieces(c["vocab"])]
    with open(out, "wb") as f:
        f.write(struct.pack("<i", max(map(len, vocab))))
        for i, s in enumerate(vocab):
            f.write(struct.pack("<fi", -max(0, i - 258), len(s)) + s)

def write_ct2(c, out):
    import ctranslate2.specs as specs
    from ctranslate2.specs import common_spec, transformer_spec
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(c["layers"], c["heads"], activation=common_spec.Activation.SWISH,
        pre_norm=True, ffn_glu=True, rms_norm=True, rotary_dim=0, rotary_interleave=False, num_heads_kv=c["kv"])
    w = {name: draw(name, shape) for name, shape in tensors(c)}
    d = spec.decoder
    d.scale_embeddings = False
    d.embeddings.weight = w["model.embed_tokens.weight"]
    d.layer_norm.gamma = w["model.norm.weight"]
    d.projection.weight = w["model.embed_tokens.weight" if c["tied"] else "lm_head.weight"]
    for i, layer in enumerate(d.layer):
        p = f"model.layers.{i}."
        layer.self_attention.layer_norm.gamma = w[p + "input_layernorm.weight"]
        layer.ffn.layer_norm.gamma = w[p + "post_attention_layernorm.weight"]
        layer.self_attention.linear[0].weight = np.concatenate([w[p + f"self_attn.{x}_proj.weight"] for x in "qkv"])
        layer.self_attention.linear[1].weight = w[p + "self_attn.o_proj.weight"]
        layer.ffn.linear_0.weight = w[p + "mlp.gate_proj.weight"]
        layer.ffn.linear_0_noact.weight = w[p + "mlp.up_proj.weight"]
        layer.ffn.linear_1.weight = w[p + "mlp.down_proj.weight"]
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.layer_norm_epsilon = EPS
    spec.register_vocabulary(pieces(c["vocab"]))
    spec.validate()
    os.makedirs(out)
    spec.save(out)

def make(path, write, *args):
    if os.path.exists(path):
        return
    print("writing", path, flush=True)
    os.system(f"rm -rf '{path}.part'")
    write(*args, path + ".part")
    os.rename(path + ".part", path)

def main(out, shape, *formats):
    c = SHAPES[shape]
    os.makedirs(out, exist_ok=True)
    for format in formats:
        form, _, kind = format.partition("-")
        if form == "dir":
            make(f"{out}/{shape}-{kind}", write_dir, c, kind)
        elif form == "gguf":
            make(f"{out}/{shape}-{kind}.gguf", write_gguf, c, kind)
        elif form == "llama2c":
            make(f"{out}/{shape}.tok", write_tokens, c)
            make(f"{out}/{shape}.bin", write_llama2c, c)
        elif form == "ct2":
            make(f"{out}/{shape}-ct2", write_ct2, c)
        else:
            sys.exit(f"peers_models.py: format {format} is not known")

if __name__ == "__main__":
    main(*sys.argv[1:])
