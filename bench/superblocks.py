#!/usr/bin/env python3
"""superblocks.py INCIPIT LLAMA-QUANTIZE > figures/data/quantization.search.csv -- how much the built-in model's matrices are off in each
type, in percent of their size: as llama-quantize writes them, and as we do (needs numpy and gguf).

Superblocks need rows of 256 numbers and the model's have 128 and 384, so the numbers of a matrix are taken as they follow each other."""
import json, os, struct, subprocess, sys, tempfile
import gguf, numpy as np
ours, theirs = sys.argv[1:3]
raw = open("models/pocket/model.safetensors", "rb").read()
n, = struct.unpack("<Q", raw[:8])
head = json.loads(raw[8:8 + n])
kinds = {"F16": np.float16, "F32": np.float32}
list_of = []
for name, t in sorted(head.items()):
    if name == "__metadata__" or len(t["shape"]) != 2: continue
    a, b = t["data_offsets"]
    x = np.frombuffer(raw[8 + n + a:8 + n + b], dtype=kinds[t["dtype"]]).astype(np.float32).reshape(-1)
    list_of.append(x[:len(x) // 256 * 256].reshape(-1, 256))
room = tempfile.mkdtemp()
path = os.path.join(room, "f32.gguf")
w = gguf.GGUFWriter(path, "llama")
w.add_context_length(64), w.add_embedding_length(256), w.add_block_count(len(list_of)), w.add_feed_forward_length(256)
w.add_head_count(4), w.add_layer_norm_rms_eps(1e-5), w.add_file_type(0), w.add_vocab_size(256)
for i, x in enumerate(list_of): w.add_tensor(f"blk.{i}.ffn_up.weight", x)
w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()
size = sum(float((x.astype(np.float64) ** 2).sum()) for x in list_of)
def report(kind, by, back):
    off = sum(float(((x.astype(np.float64) - y) ** 2).sum()) for x, y in zip(list_of, back))
    print("%s,%s,%.4f" % (kind, by, 100 * (off / size) ** .5), flush=True)
print("type,by,error")
for kind, asked in [("q4_0", "Q4_0"), ("q4_1", "Q4_1"), ("q4_k", "Q4_K_S"), ("q6_k", "Q6_K"), ("q5_k", "Q5_K_S"), ("q3_k", "Q3_K_S"),
        ("q2_k", "Q2_K"), ("iq4_nl", "IQ4_NL"), ("iq4_xs", "IQ4_XS")]:
    out = os.path.join(room, kind)
    subprocess.run([theirs, "--pure", path, out, asked, "2"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    t = {str(t.name): t for t in gguf.GGUFReader(out).tensors}
    of = [t[f"blk.{i}.ffn_up.weight"] for i in range(len(list_of))]
    assert all(a.tensor_type.name.lower() == kind for a in of), kind
    report(kind, "llama", [gguf.dequantize(a.data, a.tensor_type).reshape(-1, 256) for a in of])
    os.remove(out)
for kind in ("q4_0", "q4_1", "q4_k", "q6_k"):
    asked = "".join(json.dumps({"type": kind, "x": [float(v) for v in x[i:i + 32].reshape(-1)]}) + "\n"
        for x in list_of for i in range(0, len(x), 32))
    said = subprocess.run([ours, "probe", "quantize"], input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    back, at = [], 0
    for x in list_of:
        rows = []
        for i in range(0, len(x), 32):
            packed = np.frombuffer(bytes.fromhex(json.loads(said[at])["hex"]), dtype=np.uint8)
            rows.append(gguf.dequantize(packed, gguf.GGMLQuantizationType[kind.upper()]).reshape(-1, 256))
            at += 1
        back.append(np.concatenate(rows))
    report(kind, "incipit", back)
subprocess.run(["rm", "-r", room])
