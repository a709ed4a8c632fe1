#!/usr/bin/env python3
"""seeds.py DIR -- what a campaign begins with: small right files of every kind, and wrong ones at the edges."""
import json, os, struct, sys
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
out = sys.argv[1]
def put(target, name, data):
    os.makedirs(os.path.join(out, target), exist_ok=True)
    with open(os.path.join(out, target, name), "wb") as f: f.write(data if isinstance(data, bytes) else data.encode())
dump = lambda x: json.dumps(x, ensure_ascii=False)

# command lines
for i, l in enumerate(["generate The -n 4 --json", "generate --prompt-ids=1,2;3 -t2 --ctx-size 9 --logprobs 3 --jsonl", "tokenize --train x --vocab-size 300 --out d", "trace -p x --top 3 --attention 1.2", "inspect --json d",
        "probe forward -m d --vocab v", "help generate", "help --man", "-h", "--version", "generate -- -n", "generate -", "generatr", "tokenize --idz 1", "generate --temperature 1", "generate -n -1", "generate -q", "memory", "probe",
        "generate --json --jsonl x", "tokenize --ids 1,,2", "tokenize --ids 4294967296", "generate -n 18446744073709551616", "generate --" + "a" * 41, "generate --" + "b" * 70 + "=1", "generate --maxnewtokens 3", "generate --echo=1 a", "generate -n",
        "generate a b", "tokenize --vocab-size 300 a", "values", "digits", "trace x --chunk 2", "tokenize --ids=1;2", "generate " + "é" * 30, "help " + "x" * 50,
        "generate a --temperature 0.8 --top-k 40 --top-p 0.95 --min-p .05 --typical-p 1 --seed 7", "generate a --seed random --num-sequences 3 --jsonl", "generate a --seed -1", "generate a --temperature -1", "generate a --top-p 1e-400",
        "generate a --logit-bias 5=1.5,7=-inf;9=-2", "generate a --logit-bias 5=inf", "generate a --logit-bias 5", "generate a --logit-bias 5=1,", "generate a --logit-bias 99999999999=1", "generate a --logit-bias 1=" + "9" * 70, "generate a --logit-bias=",
        "generate a --samplers top_k;top_p,temperature", "generate a --samplers top_k,top_k", "generate a --samplers " + "top_k," * 50, "generate a --samplers nothing", "generate a --samplers=", "generate a --no-repeat-ngram 3 --penalty-last-n -1",
        "generate a --penalty-last-n 64 --repetition-penalty 1.1 --frequency-penalty .5 --presence-penalty -.5", "generate a --penalty-last-n -2", "generate a --num-beams 4 --length-penalty -1 --early-stopping never", "generate a --early-stopping false",
        "generate a --early-stopping maybe", "generate a --length-penalty 1001", "generate a --num-beams 4 --temperature 1", "generate a --num-beams 4 --stop x", "generate a --num-beams 2 --regex a", "generate a --num-beams 2 --num-sequences 2",
        "generate a --stop x --stop \\n --include-stop", "generate a --no-escape --stop \\n --min-tokens 3 -n 2", "generate a --include-stop", "generate a --stop \\q", "generate a --stop=", "generate a --stop-on-repetition 9", "generate a --no-escape",
        "generate a --regex a+ --json-object", "generate a --grammar g", "chat --template chatml --system s", "chat --template nothing", "chat a", "quantize", "quantize d --type q8_0 --out f", "quantize d --type q9 --out f", "quantize d --type q8_0", "quantize --type f16 --out f", "quantize d --type=BF16 --out=f", "quantize d e --type q4_0 --out f", "quantize d --type q8_0 --out f --force", "generate a --activations int8 --packed", "generate a --activations int4", "generate a --packed=1", "generate a --device cuda", "verify x", "chat --json"]):
    put("line", "%02d" % i, l.replace(" ", "\n"))

# lines of the protocol
hostile = open(os.path.join(root, "golden", "probe", "hostile.txt"), "rb").read().split(b"\n")[:-1]
kinds = ["tokenize", "detokenize", "stream", "train-bpe", "forward", "logprob", "generate", "inspect"]
cases = [json.loads(l) for l in open(os.path.join(root, "golden", "probe", "cases.jsonl"))]
for i, c in enumerate(cases[:40]): put("probe", "case%02d" % i, bytes([kinds.index(c["kind"])]) + dump(c["in"]).encode() + b"\n")
for i, l in enumerate(hostile):
    k, x = l.split(b"\t", 1)
    if k.decode() in kinds and len(x) < 500: put("probe", "hostile%03d" % i, bytes([kinds.index(k.decode())]) + x + b"\n")
late = {"quantize": b"Q", "process": b"P", "sample": b"S", "philox": b"R"}
for i, l in enumerate(hostile):
    k, x = l.split(b"\t", 1)
    if k.decode() in late and len(x) < 500: put("probe", "late%03d" % i, late[k.decode()] + x + b"\n")
for i, (op, params) in enumerate([("temperature", {"temperature": .5}), ("top_k", {"top_k": 2}), ("top_p", {"top_p": .5}), ("min_p", {"min_p": .1}), ("typical_p", {"typical_p": .5}), ("repetition_penalty", {"penalty": 2, "penalty_last_n": 1}),
        ("frequency_presence", {"frequency": 1, "presence": .5, "prompt_len": 1}), ("no_repeat_ngram", {"n": 2}), ("logit_bias", {"bias": {"1": 2, "0": "-inf"}}), ("sequence_bias", {"bias": [[[0, 1], 1]]}), ("bad_words", {"bad": [[0, 1], [2]], "eos": [2]}),
        ("suppress_tokens", {"tokens": [1]}), ("min_length", {"eos": [1], "min_length": 4}), ("min_new_tokens", {"eos": [1], "min_new_tokens": 2, "prompt_len": 1}), ("log_softmax", {})]):
    put("probe", "process%02d" % i, b"P" + dump({"op": op, "params": params, "ids": [0, 1, 0], "logits": [1, -2.5, "-inf"]}).encode() + b"\n")
for i, p in enumerate([{}, {"temperature": .7, "top_k": 2, "top_p": .9, "min_p": .1, "typical_p": .9}, {"repetition_penalty": 1.2, "frequency_penalty": .5, "presence_penalty": .5, "penalty_last_n": 2}, {"no_repeat_ngram": 2, "logit_bias": {"0": -1}, "bad_words": [[0, 1]], "suppress_tokens": [2], "samplers": ["bias", "ngram"]}]):
    put("probe", "sample%d" % i, b"S" + dump({"logits": [1, 2, 3], "ids": [0, 1, 0], "prompt_length": 1, "params": p, "seed": 3, "sequence": 1, "position": 9}).encode() + b"\n")
    put("probe", "params%d" % i, bytes([6]) + dump({"ids": [262], "max_tokens": 3, "params": p, "seed": 5, "sequence": 1}).encode() + b"\n")
put("probe", "philox", b'R{"key":[1,2],"counter":[3,4,5,6]}\n')
# settings, a history, logits
for i, which in enumerate([0, 1, 2, 4, 8, 16, 96, 127, 128, 255]):
    for j, more in enumerate([0, 3, 8, 16, 31, 39, 255]):
        head = bytes([which, more]) + bytes((5 * k + i + j) % 16 for k in range(60)) + bytes([6, 2, 0, 1, 2, 0, 1, 0])
        put("sampling", "%d-%d" % (i, j), head + struct.pack("<9f", 1, 2, 2, -1, 0, 1e30 if i == 3 else 3, -1e30 if j == 2 else 2, 1e-42, .5))
put("sampling", "bits", bytes([0, 0, 0]) + struct.pack("<6I", 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000000, 0x7f7fffff))

put("probe", "long", b"\0" + dump({"text": "a" * 4090}).encode() + b"\n" + dump({"text": "b" * 4083}).encode() + b"\n\n")
put("probe", "page", b"\0" + b" " * 4096 + b"\n" + b" " * 8192)
for i, q in enumerate([{"ids": [1, 2, 3], "rows": "all"}, {"ids": [1, 2, 3], "rows": [0, 2], "chunk": 2, "mates": [[1], [2, 3]]}, {"ids": [5], "cache": False}]): put("probe", "forward%d" % i, bytes([4]) + dump(q).encode() + b"\n")
for i, q in enumerate([{"ids": [262], "max_tokens": 3}, {"ids": [262], "max_tokens": 3, "eos": [], "params": {"temperature": 0}}]): put("probe", "generate%d" % i, bytes([6]) + dump(q).encode() + b"\n")
put("probe", "logprob", bytes([5]) + b'{"ids":[1,2]}\n{"ids":[1]}')
put("probe", "inspect", bytes([7]) + b'{"file":"tests/golden/small/model.safetensors"}\n')

# chat templates: those of tests/golden/jinja with their variables, and a few more that go through every directive
first, *more = [json.loads(l) for l in open(os.path.join(root, "golden", "jinja", "cases.jsonl"))]
for i, c in enumerate(more):
    rest = {"messages": c.get("messages", first["messages"]), "kwargs": c.get("kwargs", first["kwargs"] if "messages" not in c else {}), "tools": c.get("tools"), "documents": c.get("documents"), "ask": c.get("add_generation_prompt", False),
            "on": "content" if c.get("continue_final_message") is True else c.get("continue_final_message") or None}
    put("jinja", "%03d" % i, c["template"] + "\n%%%%\n" + dump({k: v for k, v in rest.items() if v is not None}))
put("jinja", "clock", "{{ strftime_now('%a %A %b %B %c %C %d %D %e %f %F %G %h %H %I %j %k %l %m %M %n %p %P %r %R %S %t %T %u %U %V %w %W %x %X %y %Y %z %Z %% %-d %_m') }}")
put("jinja", "clock2", "{{ strftime_now('%Q') }}")

# files of tensors
def tensors(header, data=b"", n=None):
    h = header if isinstance(header, bytes) else dump(header).encode()
    return struct.pack("<Q", len(h) if n is None else n) + h + data
one = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
good = [tensors({}), tensors(one, b"\0" * 8), tensors({"__metadata__": {"format": "pt"}, "a": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}, "b": {"dtype": "F16", "shape": [], "data_offsets": [4, 6]}, "c": {"dtype": "I64", "shape": [0, 3], "data_offsets": [6, 6]}}, b"\1" * 6),
        tensors(b"  {} "), tensors(dump({"a": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]}}).encode() + b"   ", b"abc")]
bad = [b"", b"\2", b"\0" * 7, b"\0" * 8, tensors({}, b"", 3), tensors({}, b"", 1 << 63), tensors({}, b"", (1 << 64) - 1), tensors(one, b"\0" * 7), tensors(one, b"\0" * 9), tensors(b"[]"), tensors(b"{"), tensors(b'{"a":1}'), tensors(b'{"a":{}}'), tensors(b"{}}"), tensors(b'{"a":{},}'),
       tensors({"a": {"dtype": "F32", "shape": [1 << 62, 4], "data_offsets": [0, 0]}}), tensors({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"\0" * 4), tensors({"a": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 4),
       tensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, b"\0" * 4), tensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [2, 6]}}, b"\0" * 6),
       tensors(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', b"\0" * 4), tensors({"a": {"dtype": "F32", "shape": 1, "data_offsets": [0, 4]}}, b"\0" * 4), tensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}}, b"\0" * 4),
       tensors({"a": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}}, b"\0" * 4), tensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "x": 1}}, b"\0" * 4), tensors({"__metadata__": {"a": 1}}), tensors({"__metadata__": 3}), tensors(b'{"a" {}}'), tensors(b'{"a":{} "b":{}}'), tensors(b'{1:2}'), tensors(b"\xff"), tensors({}, b"", 200000000)]
for i, d in enumerate(good): put("tensors", "good%02d" % i, d)
for i, d in enumerate(bad): put("tensors", "bad%02d" % i, d)
def index(m, a=b"", b=b""): return (dump({"metadata": {"total_size": 8}, "weight_map": m}) if not isinstance(m, str) else m).encode() + b"\n%%%%\n" + a + b"\n%%%%\n" + b
two = tensors({"b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"\0" * 4)
for i, d in enumerate([index({"a": "a.safetensors"}, good[1]), index({"a": "a.safetensors", "b": "b.safetensors"}, good[1], two), index({"a": "../a"}, good[1]), index({"a": 1}), index({}), index("{}"), index('{"weight_map":[]}'), index("{"), index({"c": "a.safetensors"}, good[1]),
        index({"a": "b.safetensors"}, good[1], two), index({"a": "a.safetensors", "b": "b.safetensors"}, good[1], good[1]), index({"a": "none.safetensors"})]): put("tensors", "index%02d" % i, d)

# settings
from_file = lambda d, f: open(os.path.join(root, "golden", d, f)).read()
names = ["small", "gpt2", "gpt2-bare", "llama", "llama-stretched", "mistral", "qwen2", "qwen3"]
for n in names:
    try: g = from_file(n, "generation_config.json")
    except OSError: g = ""
    put("config", n, from_file(n, "config.json") + ("\n%%%%\n" + g if g else ""))
for n in sorted(os.listdir(os.path.join(root, "golden", "families"))):
    if os.path.exists(os.path.join(root, "golden", "families", n, "config.json")): put("config", "family-" + n, from_file(os.path.join("families", n), "config.json"))
base = json.loads(from_file("llama", "config.json"))
def changed(**k): c = dict(base); c.update(k); return dump({a: b for a, b in c.items() if b != "DROP"})
for i, c in enumerate([changed(eos_token_id=list(range(2, 18))), changed(eos_token_id=list(range(2, 19))), changed(eos_token_id=-1), changed(hidden_size="16"), changed(hidden_size=0), changed(num_attention_heads=3), changed(num_key_value_heads=3), changed(model_type="bert"), changed(model_type=3),
        changed(rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8}), changed(rope_scaling={"rope_type": "yarn"}), changed(rope_scaling={"type": "default"}), changed(rope_scaling=3), changed(rope_theta=0), changed(rms_norm_eps=-1), changed(rms_norm_eps=1e400 if False else "x"),
        changed(unknown=3), changed(unknown=None), changed(hidden_act="relu"), changed(vocab_size=1 << 40), changed(max_position_embeddings=0), changed(num_hidden_layers=1.5), changed(tie_word_embeddings="no"), changed(head_dim=5), changed(attention_bias=True), changed(sliding_window=4), changed(layer_types=["full_attention", "full_attention"]),
        changed(layer_types=["sliding_attention", "x"]), changed(rope_parameters={"rope_type": "default", "rope_theta": 5.0}), changed(architectures=[1]), changed(architectures=[]), changed(vocab_size="DROP"), changed(model_type="DROP"), changed(quantization_config={"quant_method": "awq"}), "", "[]", "{", "{}", "null", changed(dtype="int4"), changed(use_cache=False)]): put("config", "change%02d" % i, c)
for i, g in enumerate(['{"eos_token_id":[1,2]}', '{"eos_token_id":null}', '{"eos_token_id":"x"}', '{"do_sample":true,"temperature":0.6,"top_k":50,"top_p":0.9,"min_p":0.1,"typical_p":0.9,"repetition_penalty":1.1,"no_repeat_ngram_size":3}', '{"temperature":-1,"do_sample":true}', '{"top_p":2,"do_sample":true}', '{"strange":1}', '[]', '{"bos_token_id":1}', '{"eos_token_id":%s}' % list(range(16)), '{"repetition_penalty":0}']):
    put("config", "generation%02d" % i, dump(base) + "\n%%%%\n" + g)

# tokenizers
def alphabet():
    own = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256)); n = 0
    for b in range(256):
        if b in own: yield b, chr(b)
        else: yield b, chr(256 + n); n += 1
vocab = {c: b for b, c in alphabet()}
merges = ["T h", "Th e", "Ġ c", "a t", "Ġc at"]
for m in merges: vocab[m.replace(" ", "")] = len(vocab)
def tok(**k):
    t = {"version": "1.0", "added_tokens": [{"id": len(vocab), "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}], "normalizer": None,
         "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}, "post_processor": None, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": vocab, "merges": merges}}
    t.update(k); return dump(t)
cut = lambda p, b="Isolated", i=False: {"type": "Split", "pattern": {"Regex": p}, "behavior": b, "invert": i}
level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
eot = {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [len(vocab)], "tokens": ["<|endoftext|>"]}}
template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": eot}
added = lambda **k: dict({"id": len(vocab), "content": "cat", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}, **k)
model = lambda **k: {"model": dict({"type": "BPE", "vocab": vocab, "merges": merges}, **k)}
few = {k: v for k, v in list(vocab.items())[:200]}
for i, t in enumerate([tok(), tok(normalizer={"type": "NFC"}), tok(normalizer={"type": "NFKC"}), tok(normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}]}), tok(post_processor={"type": "ByteLevel"}), tok(post_processor=template), tok(post_processor={"type": "Sequence", "processors": [{"type": "ByteLevel"}, template]}),
        tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut(r"\s+|\w+"), level]}), tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut("a")] * 15 + [level]}), tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut("a")] * 17 + [level]}), tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut("a", "Removed"), level]}),
        tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut("a", "Isolated", True), level]}), tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level]}), tok(pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True}), tok(pre_tokenizer=cut("(")), tok(pre_tokenizer=None), tok(pre_tokenizer={"type": "Metaspace"}),
        tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"String": "cat"}, "behavior": "Isolated", "invert": False}, level]}), tok(added_tokens=[added()]), tok(added_tokens=[added(lstrip=True, rstrip=True)]), tok(added_tokens=[added(single_word=True)]), tok(added_tokens=[added(content="")]), tok(added_tokens=[added(id=4194303)]), tok(added_tokens=[added(id=4194304)]),
        tok(added_tokens=[added(id=-1)]), tok(added_tokens=[added(special="x")]), tok(added_tokens=[{"id": 1}]), tok(added_tokens=3), tok(decoder={"type": "WordPiece"}), tok(decoder=None), tok(decoder={"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}), tok(**model(merges=[["T", "h"], ["Th", "e"]])), tok(**model(merges=["T"])), tok(**model(merges=["x y z"])),
        tok(**model(merges=["Q ueue"])), tok(**model(merges=[1])), tok(**model(vocab=few)), tok(**model(vocab=few, byte_fallback=True)), tok(**model(vocab={"a": -1})), tok(**model(vocab={"a": "b"})), tok(**model(vocab=[])), tok(**model(type="Unigram")), tok(**model(type="WordPiece")), tok(**model(dropout=0.1)), tok(**model(ignore_merges=True)), tok(**model(unk_token="a")), tok(**model(end_of_word_suffix="</w>")),
        tok(**model(vocab=dict(vocab, **{"日": 300}))), tok(truncation={"a": 1}), tok(strange=1), "", "{}", "[]", "{", tok(model=None), tok(post_processor={"type": "BertProcessing"}), tok(post_processor=dict(template, single=[{"Sequence": {"id": "B", "type_id": 0}}])), tok(post_processor=dict(template, single=[])), tok(post_processor=dict(template, special_tokens={})), tok() + "\n%%%%\n"]):
    put("tokenizer", "file%02d" % i, t)
def pair(v=dump(dict(vocab, **{"<|endoftext|>": len(vocab)})), m="#version: 0.2\n" + "\n".join(merges) + "\n", c=""): return v + "\n%%%%\n" + m + ("\n%%%%\n" + c if c else "")
for i, t in enumerate([pair(), pair(m="\r\n".join(merges)), pair(m="T h"), pair(m="Th"), pair(m="\xff\xfe z"), pair(m="a b\n\n\na c"), pair(v="{}"), pair(v="["), pair(c='{"add_bos_token":true,"bos_token":"<|endoftext|>"}'), pair(c='{"add_eos_token":true,"eos_token":{"content":"<|endoftext|>"}}'), pair(c='{"add_bos_token":true}'), pair(c='{"add_bos_token":1}'), pair(c="{"), pair(v=dump({"a": 1 << 40}))]):
    put("tokenizer", "pair%02d" % i, t)
# patterns of two dialects: what both read alike, and what they do not
for i, t in enumerate([r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+", r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]*[\p{Ll}\p{M}]+(?i:'s|'ll)?|(?<=x)y|(?<!x)z|(?>ab|a)c|(?=d)",
        r"\x{1f600}|\p{^Lu}\P{Nd}|\d\D\t\f\n", r"[!\-./\[\\\]^_`{|}~][A-Za-z]+", r"\$\^\{\.a{2}b{1,}c{1,3}", r"\p{N}{1,3}+", "a{2}?", "a{,3}", "a{", "[a&&b]", "[a[bc]]", "[]a]", "[^]a]", r"\w+", "x$", "^x", "(?m:.)", "(?i)ss", "(?i:ss)", "(?i:st)|(?i:(?:fi))",
        "(?i:\u00df)", "(?i:[\u00df])", r"(?i:\x{df})", r"\p{Han}", r"\x41", r"\pL", "(?#x)", "(*ACCEPT)", "a\\", r"\u0041", "(" * 70 + "a" + ")" * 70, "a)b", "((?:a)(?i:b(?:c)))"]):
    put("tokenizer", "dialect%02d" % i, tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [cut(t), level]}))
    put("tokenizer", "replace%02d" % i, tok(normalizer={"type": "Replace", "pattern": {"Regex": t}, "content": "x"}))
for i, t in enumerate([tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [level, {"type": "Digits"}]}), tok(pre_tokenizer={"type": "Sequence", "pretokenizers": [level], "more": 1}), tok(normalizer={"type": "NFC", "more": 1}),
        tok(decoder={"type": "Sequence", "decoders": []}), tok(decoder={"type": "ByteLevel", "more": 1}), tok(post_processor={"type": "ByteLevel", "more": 1})]): put("tokenizer", "parts%02d" % i, t)
put("tokenizer", "config", tok())

# vocabularies that begin with characters
block = "\u2581"
letters = {w: i for i, w in enumerate(["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)] + [block, "a", "b", block + "a", "ab", block + "ab", "\u00e9"])}
joins = [[block, "a"], ["a", "b"], [block + "a", "b"]]
meta = lambda **k: dict({"type": "Metaspace", "replacement": block, "prepend_scheme": "first", "split": False}, **k)
back = [{"type": "Replace", "pattern": {"String": block}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
def chars(**k):
    t = {"version": "1.0", "added_tokens": [{"id": 1, "content": "<s>", "special": True}], "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": block}, {"type": "Replace", "pattern": {"String": " "}, "content": block}]},
         "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Sequence", "decoders": back}, "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": letters, "merges": joins}}
    t.update(k); return dump(t)
bare = lambda **k: {"model": dict({"type": "BPE", "unk_token": "<unk>", "vocab": letters, "merges": joins}, **k)}
for i, t in enumerate([chars(), chars(normalizer=None, pre_tokenizer=meta(), decoder=meta()), chars(normalizer=None, pre_tokenizer=meta(split=True, prepend_scheme="always"), decoder=meta()), chars(normalizer=None, pre_tokenizer=meta(prepend_scheme="never"), decoder=meta(prepend_scheme="never")), chars(normalizer=None, pre_tokenizer={"type": "Metaspace", "replacement": block, "add_prefix_space": False}, decoder=meta()),
        chars(pre_tokenizer=meta(replacement="_")), chars(pre_tokenizer=meta(prepend_scheme="often")), chars(pre_tokenizer=meta(prepend_scheme=1)), chars(**bare()), chars(**bare(unk_token=None)), chars(**bare(unk_token="x")), chars(**bare(unk_token=1)), chars(**bare(byte_fallback=1)), chars(normalizer={"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}), chars(normalizer={"type": "Replace", "pattern": {"Regex": "("}, "content": "b"}),
        chars(normalizer={"type": "Replace", "pattern": {"String": ""}, "content": "b"}), chars(normalizer={"type": "Replace", "pattern": 1, "content": "b"}), chars(normalizer={"type": "Replace", "pattern": {"String": "a"}}), chars(normalizer={"type": "Prepend"}), chars(normalizer={"type": "Lowercase"}), chars(decoder=None), chars(decoder={"type": "Fuse"}), chars(decoder={"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]}),
        chars(decoder={"type": "Strip", "content": " ", "start": 1, "stop": 0}), chars(decoder={"type": "Strip", "content": "x", "start": 1, "stop": 0}), chars(decoder={"type": "Strip", "content": " ", "start": 2, "stop": 0}), chars(decoder={"type": "Replace", "pattern": {"String": ""}, "content": ""}), chars(decoder={"type": "Replace", "pattern": {"String": "a"}}), chars(decoder={"type": "ByteLevel"}), chars(padding={"length": 3}),
        chars(added_tokens=[{"id": 300, "content": "\u00e9", "normalized": True}, {"id": 301, "content": "a b", "normalized": True}]), chars(normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "x"}] * 17})]):
    put("tokenizer", "chars%02d" % i, t)
    put("vocabulary", "chars%02d" % i, t)

# one file of a vocabulary, told by its content: JSON, a model of SentencePiece (protobuf, by hand), a list of ranks
import base64
def varint(n):
    b = b""
    while n > 127: b += bytes([n & 127 | 128]); n >>= 7
    return b + bytes([n])
def field(k, x): return varint(k << 3 | 2) + varint(len(x)) + x if isinstance(x, bytes) else varint(k << 3) + varint(x) if isinstance(x, int) else varint(k << 3 | 5) + struct.pack("<f", x)
def piece(text, score, kind=1): return field(1, field(1, text.encode() if isinstance(text, str) else text) + field(2, float(score)) + (field(3, kind) if kind != 1 else b""))
special = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3)
fallback = b"".join(piece("<0x%02X>" % b, 0, 6) for b in range(256))
words = b"".join(piece(w, -i) for i, w in enumerate(["\u2581t", "he", "\u2581the", "c", "a", "t", "at", "\u2581c", "\u2581cat", "\u2581", "e", "h", "\u00e9"]))
trainer = field(2, field(3, 2) + field(35, 1) + field(4, 300))           # model_type BPE, byte_fallback, vocab_size
unigram = field(2, field(3, 1))
normal = field(3, field(1, b"identity") + field(3, 1) + field(4, 0) + field(5, 1))
for i, d in enumerate([special + fallback + words + trainer + normal, special + words + trainer + normal, special + words + unigram, special + fallback + words + trainer, fallback[:400], special, special[:-3], b"\x0a", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a" + b"\xff" * 10 + b"\x01", b"\x0a\x05\x0a\x09ab",
        special + piece(b"\xff\xfe", 0) + trainer, special + piece("a", float("nan")) + trainer, special + piece("<0xZZ>", 0, 6) + trainer, special + piece("x", 0, 4) + piece("x", 0, 4) + trainer, special + piece("", 0) + trainer, special + piece("a" * 300, 0) + trainer + field(9, 7), field(1, b"") + trainer, b"\x0b\x0c", b"\x09" + b"\0" * 8]):
    put("vocabulary", "piece%02d" % i, d)
ranks = [bytes([b]) for b in range(256)] + [b"th", b"the", b" c", b"at", b" cat"]
row = lambda w, i: base64.b64encode(w) + b" %d\n" % i
listed = b"".join(row(w, i) for i, w in enumerate(ranks))
for i, d in enumerate([listed, listed[:-1], listed.replace(b"\n", b"\r\n"), listed[:100], b"IQ== 0\n", b"IQ== 0\nIQ== 1\n", b"IQ== 0\nIg== 0\n", b"IQ==0\n", b"IQ= 0\n", b"I 0\n", b"== 0\n", b" 0\n", b"IQ== -1\n", b"IQ== 99999999999999999999\n", b"IQ== 1 2\n", b"I?== 0\n", b"IQ== x\n", b"\n\n", b"IQ== 4194304\n"]):
    put("vocabulary", "rank%02d" % i, d)
# Unigram in both forms, Mistral's form, and stages of all kinds, each for a few words
folder = os.path.join(root, "golden", "tokenizers")
put("vocabulary", "unigram00", open(os.path.join(folder, "unigram", "tokenizer.json"), "rb").read()), put("vocabulary", "unigram01", open(os.path.join(folder, "unigram-model", "tokenizer.model"), "rb").read())
put("vocabulary", "tekken00", '{"config":{"pattern":"\\\\p{L}+|.","default_vocab_size":5,"default_num_special_tokens":3},"special_tokens":[{"rank":0,"token_str":"<u>"}],"vocab":[{"rank":0,"token_bytes":"YQ=="},{"rank":1,"token_bytes":"YWI="}]}')
for i, l in enumerate(open(os.path.join(folder, "stages.jsonl"), encoding="utf-8")):
    change = json.loads(l)["change"]
    if "added_tokens" not in change: put("vocabulary", "stage%02d" % i, dump(dict({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "decoder": {"type": "ByteLevel"}, "pre_tokenizer": level}, **change)))
for i, d in enumerate([tok(), tok(post_processor=template), "{}", "[]", "", "\xef\xbb\xbf{}", "{\"model\":{\"type\":\"BPE\"}}"]): put("vocabulary", "json%02d" % i, d)

# GGUF files: keys and values, tensors, small models with their vocabularies; and wrong ones
U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
form = dict(zip((U8, I8, U16, I16, U32, I32, F32, BOOL, U64, I64, F64), "BbHhIif?Qqd"))
def gstr(x): x = x.encode() if isinstance(x, str) else x; return struct.pack("<Q", len(x)) + x
def gval(t, x): return gstr(x) if t == STR else struct.pack("<IQ", x[0], len(x[1])) + b"".join(gval(x[0], y) for y in x[1]) if t == ARR else struct.pack("<" + form[t], x)
def gguf(kv, tensors=(), version=3, align=32, nt=None, nk=None):
    b = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if nt is None else nt, len(kv) if nk is None else nk)
    for k, t, x in kv: b += gstr(k) + struct.pack("<I", t) + gval(t, x)
    at, data = 0, b""
    for name, shape, t, bytes_ in tensors:
        b += gstr(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape) + struct.pack("<IQ", t, at)
        data += bytes_ + b"\0" * (-len(bytes_) % align); at += len(bytes_) + -len(bytes_) % align
    return b + (b"\0" * (-len(b) % align) + data if tensors else b"")
def numbers(*shape):
    n = 1
    for s in shape: n *= s
    return struct.pack("<%df" % n, *(((7 * i) % 13 - 6) / 8 for i in range(n)))
def t32(name, *shape): return (name, shape, 0, numbers(*shape))
def settings(arch, **k):
    base = {"context_length": (U32, 16), "embedding_length": (U32, 8), "block_count": (U32, 1), "feed_forward_length": (U32, 6), "attention.head_count": (U32, 2),
            "attention.layer_norm_epsilon" if arch in ("gpt2", "gptneox", "falcon", "phi2", "stablelm", "command-r", "cohere2") else "attention.layer_norm_rms_epsilon": (F32, 1e-5)}
    base.update({a.replace("__", "."): b for a, b in k.items()})
    return [("general.architecture", STR, arch)] + [(arch + "." + a, b[0], b[1]) for a, b in base.items() if b is not None]
pieces = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)] + ["\u2581", "a", "b", "\u2581a", "ab", "\u2581ab", "<tool>", "[PAD1]"]
kinds_of = [2, 3, 3] + [6] * 256 + [1] * 6 + [4, 5]
def scored(n=None): p, k = pieces[:n], kinds_of[:n]; return [("tokenizer.ggml.model", STR, "llama"), ("tokenizer.ggml.tokens", ARR, (STR, p)), ("tokenizer.ggml.scores", ARR, (F32, [-float(i) for i in range(len(p))])), ("tokenizer.ggml.token_type", ARR, (I32, k)),
    ("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2), ("tokenizer.ggml.unknown_token_id", U32, 0)]
def spell(b): return chr(b if 33 <= b <= 126 or 161 <= b <= 255 and b != 173 else 256 + b if b <= 32 else 256 + 33 + b - 127 if b <= 160 else 256 + 67)
def merged(pre, **k): return [("tokenizer.ggml.model", STR, "gpt2")] + ([("tokenizer.ggml.pre", STR, pre)] if pre else []) + [("tokenizer.ggml.tokens", ARR, (STR, [spell(b) for b in range(256)] + ["th", "the", "\u0120the", "<|end|>", "<tool>", "[PAD]", ""])), ("tokenizer.ggml.token_type", ARR, (I32, [1] * 259 + [3, 4, 5, 1])),
    ("tokenizer.ggml.merges", ARR, (STR, ["t h", "th e", "\u0120 the"])), ("tokenizer.ggml.bos_token_id", U32, 259), ("tokenizer.ggml.eos_token_id", U32, 259), ("tokenizer.ggml.eot_token_id", U32, 260)] + list(k.get("more", []))
llama = lambda v=9, *more: [t32("token_embd.weight", 8, v), t32("blk.0.attn_norm.weight", 8), t32("blk.0.attn_q.weight", 8, 8), t32("blk.0.attn_k.weight", 8, 8), t32("blk.0.attn_v.weight", 8, 8), t32("blk.0.attn_output.weight", 8, 8), t32("blk.0.ffn_norm.weight", 8),
    t32("blk.0.ffn_gate.weight", 8, 6), t32("blk.0.ffn_up.weight", 8, 6), t32("blk.0.ffn_down.weight", 6, 8), t32("output_norm.weight", 8)] + list(more)
gpt = [t32("token_embd.weight", 8, 9), t32("position_embd.weight", 8, 16)] + [t32("blk.0.%s" % n, *s) for n, s in [("attn_norm.weight", (8,)), ("attn_norm.bias", (8,)), ("attn_qkv.weight", (8, 24)), ("attn_qkv.bias", (24,)), ("attn_output.weight", (8, 8)), ("attn_output.bias", (8,)), ("ffn_norm.weight", (8,)), ("ffn_norm.bias", (8,)),
    ("ffn_up.weight", (8, 6)), ("ffn_up.bias", (6,)), ("ffn_down.weight", (6, 8)), ("ffn_down.bias", (8,))]] + [t32("output_norm.weight", 8), t32("output_norm.bias", 8)]
everything = [("u8", U8, 1), ("i8", I8, -1), ("u16", U16, 1), ("i16", I16, -1), ("u32", U32, 1), ("i32", I32, -1), ("f32", F32, 1.5), ("yes", BOOL, True), ("text", STR, "x"), ("u64", U64, 1), ("i64", I64, -1), ("f64", F64, 1.5), ("list", ARR, (U16, [1, 2])), ("words", ARR, (STR, ["", "x"])), ("flags", ARR, (BOOL, [True, False])), ("none", ARR, (F64, []))]
two = [("a", (5, 3), 1, b"\1" * 30), ("b", (4,), 0, b"\2" * 16)]
for i, d in enumerate([gguf([]), gguf(everything), gguf([], two), gguf([("general.alignment", U32, 64)], two, align=64), gguf([("general.alignment", U32, 1)], two, align=1), gguf([], two, version=2), gguf([], [("q", (64, 2), 8, b"\3" * 136)]), gguf([], [("s", (), 0, b"\0" * 4), ("e", (0, 3), 0, b"")]),
        gguf(settings("llama"), llama()), gguf(settings("llama") + scored(), llama(len(pieces))), gguf(settings("llama", attention__head_count_kv=(U32, 1)), llama()), gguf(settings("llama"), llama(9, t32("output.weight", 8, 9))), gguf(settings("llama"), llama(9, t32("rope_freqs.weight", 2))), gguf(settings("gpt2"), gpt), gguf(settings("gpt2") + merged("gpt-2"), gpt),
        gguf(settings("llama", rope__scaling__type=(STR, "yarn"), rope__scaling__factor=(F32, 4.0), rope__scaling__original_context_length=(U32, 4)), llama()), gguf(settings("llama", rope__scaling__type=(STR, "linear"), rope__scaling__factor=(F32, 4.0)), llama()), gguf(settings("llama", rope__scale_linear=(F32, 2.0)), llama()),
        gguf(settings("llama", rope__scaling__type=(STR, "longrope")), llama()), gguf(settings("llama", rope__scaling__type=(U32, 3)), llama()), gguf(settings("llama", expert_count=(U32, 8)), llama()), gguf(settings("llama", expert_count=(U32, 0), attention__causal=(BOOL, True), vocab_size=(U32, 9), tensor_data_layout=(STR, "x")), llama()),
        gguf(settings("llama", attention__sliding_window=(U32, 4)), llama()), gguf(settings("llama", attention__sliding_window=(U32, 99)), llama()), gguf(settings("llama", strange=(U32, 4), other=(BOOL, False)), llama()), gguf(settings("llama", block_count=(U32, 99)), llama()), gguf(settings("llama", attention__key_length=(U32, 4), attention__value_length=(U32, 4), rope__dimension_count=(U32, 4)), llama()),
        gguf(settings("llama", rope__dimension_count=(U32, 2)), llama()), gguf(settings("llama", context_length=None), llama()), gguf(settings("llama", context_length=(STR, "x")), llama()), gguf(settings("llama", attention__head_count=(U32, 3)), llama()), gguf(settings("llama", attention__head_count=(ARR, (U32, [2]))), llama()), gguf(settings("bert"), llama()),
        gguf([("general.type", STR, "adapter")] + settings("llama"), llama()), gguf([("split.count", U16, 3)] + settings("llama"), llama()), gguf(settings("llama"), llama(9, t32("more.weight", 8))), gguf(settings("qwen2"), llama()), gguf(settings("qwen3"), llama(9, t32("blk.0.attn_q_norm.weight", 4), t32("blk.0.attn_k_norm.weight", 4))),
        gguf(settings("llama") + [("tokenizer.ggml.eos_token_id", U32, 1 << 31)], llama()), gguf(settings("llama") + [("tokenizer.ggml.padding_token_id", U32, 1), ("tokenizer.chat_template", STR, "{{ x }}"), ("tokenizer.chat_template.tool", STR, "x"), ("general.file_type", U32, 1)], llama())]): put("gguf", "good%02d" % i, d)
experts = dict(expert_count=(U32, 2), expert_used_count=(U32, 1))
stacks = [t32("blk.0.ffn_gate_inp.weight", 8, 2), t32("blk.0.ffn_gate_exps.weight", 8, 6, 2), t32("blk.0.ffn_up_exps.weight", 8, 6, 2), t32("blk.0.ffn_down_exps.weight", 6, 8, 2)]
apart = [t32("blk.0.ffn_gate_inp.weight", 8, 2)] + [t32("blk.0.ffn_%s.%d.weight" % (n, e), *((6, 8) if n == "down" else (8, 6))) for e in (0, 1) for n in ("gate", "up", "down")]
sparse = lambda more: [t for t in llama() if ".ffn_gate." not in t[0] and ".ffn_up." not in t[0] and ".ffn_down." not in t[0]] + more
shared = [t32("blk.0.ffn_gate_inp_shexp.weight", 8), t32("blk.0.ffn_gate_shexp.weight", 8, 6), t32("blk.0.ffn_up_shexp.weight", 8, 6), t32("blk.0.ffn_down_shexp.weight", 6, 8)]
windows = dict(logit_scale=(F32, 0.5), attention__sliding_window=(U32, 4))
for i, d in enumerate([gguf(settings("llama", **experts), sparse(stacks)), gguf(settings("llama", **experts), sparse(apart)), gguf(settings("olmoe", **experts), sparse(stacks + [t32("blk.0.attn_q_norm.weight", 8), t32("blk.0.attn_k_norm.weight", 8)])),
        gguf(settings("qwen2moe", expert_feed_forward_length=(U32, 6), **experts), sparse(stacks + shared)), gguf(settings("qwen2moe", **experts), sparse(stacks + shared)), gguf(settings("qwen3moe", expert_weights_norm=(BOOL, False), expert_feed_forward_length=(U32, 6), **experts), sparse(stacks)),
        gguf(settings("cohere2", **windows), llama()), gguf(settings("cohere2", attention__sliding_window_pattern=(ARR, (BOOL, [True])), **windows), llama()), gguf(settings("cohere2", attention__sliding_window_pattern=(ARR, (BOOL, [True, False])), **windows), llama()),
        gguf(settings("exaone4", attention__sliding_window=(U32, 4), attention__sliding_window_pattern=(ARR, (I32, [0]))), llama()), gguf(settings("exaone4"), llama()), gguf(settings("command-r", logit_scale=(F32, 0.5)), llama(9, t32("blk.0.attn_q_norm.weight", 4, 2), t32("blk.0.attn_k_norm.weight", 4, 2))),
        gguf(settings("gptneox", rope__dimension_count=(U32, 2), use_parallel_residual=(BOOL, True)), gpt), gguf(settings("falcon", tensor_data_layout=(STR, "jploski")), gpt + [t32("blk.0.attn_norm_2.weight", 8), t32("blk.0.attn_norm_2.bias", 8)]), gguf(settings("falcon"), gpt), gguf(settings("phi2", rope__dimension_count=(U32, 2)), gpt),
        gguf(settings("stablelm", use_parallel_residual=(BOOL, False)), llama()), gguf(settings("seed_oss"), llama()), gguf(settings("ernie4_5"), llama()),
        gguf(settings("mistral3", attention__temperature_scale=(F32, 0.1), rope__scaling__type=(STR, "yarn"), rope__scaling__factor=(F32, 4.0), rope__scaling__yarn_log_multiplier=(F32, 1.0)), llama())]): put("gguf", "family%02d" % i, d)
for i, d in enumerate([gguf(merged(p)) for p in ("gpt-2", "llama-bpe", "qwen2", "smollm", "default", "", "strange")] + [gguf(scored()), gguf(scored(3)), gguf(scored(261)), gguf([("tokenizer.ggml.add_bos_token", BOOL, False), ("tokenizer.ggml.add_eos_token", BOOL, True), ("tokenizer.ggml.add_space_prefix", BOOL, False)] + scored()),
        gguf([("tokenizer.ggml.add_bos_token", U32, 1)] + scored()), gguf([("tokenizer.ggml.remove_extra_whitespaces", BOOL, True)] + scored()), gguf([("tokenizer.ggml.precompiled_charsmap", ARR, (U8, [1]))] + scored()), gguf([("tokenizer.ggml.model", STR, "bert")]), gguf([("tokenizer.ggml.model", STR, "none")]), gguf([("tokenizer.ggml.model", STR, "llama")]),
        gguf([("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.tokens", ARR, (STR, ["a"]))]), gguf([("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.tokens", ARR, (STR, ["a", "b", "ab"])), ("tokenizer.ggml.merges", ARR, (STR, ["a b", "a c"]))]), gguf([("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.tokens", ARR, (STR, ["a"])), ("tokenizer.ggml.merges", ARR, (STR, ["ab"]))]),
        gguf([("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.tokens", ARR, (STR, [b"\xff"])), ("tokenizer.ggml.merges", ARR, (STR, []))]), gguf([("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.tokens", ARR, (STR, ["a"])), ("tokenizer.ggml.token_type", ARR, (I32, [1, 1]))]), gguf([("tokenizer.ggml.model", STR, "llama"), ("tokenizer.ggml.tokens", ARR, (STR, ["a"]))]),
        gguf(merged("gpt-2", more=[("tokenizer.ggml.add_bos_token", BOOL, True)])), gguf([("tokenizer.ggml.bos_token_id", U32, 9)] + [x for x in merged("llama-bpe") if "bos" not in x[0]])]): put("gguf", "vocab%02d" % i, d)
# parts of one, between lines of four percent signs: right, and each wrong in its own way; the second list of each is of changes to a part's keys
def in_parts(n, changes={}, lost=None, twice=False, k=None):
    t, out = llama(), []
    for i in range(n):
        keys = {"split.no": (U16, i), "split.count": (U16, n), "split.tensors.count": (I32, len(t) + twice)}
        keys.update(changes.get(i, {}))
        mine = t[len(t) * i // n:len(t) * (i + 1) // n] + (t[:1] if twice and i == n - 1 else [])
        out.append(b"" if i == lost else gguf((settings("llama") + scored(9) if i == 0 else []) + [(a, b[0], b[1]) for a, b in keys.items() if b is not None], mine))
    return b"\n%%%%\n".join(out)
for i, d in enumerate([in_parts(2), in_parts(3), in_parts(3, lost=1), in_parts(2, lost=0), in_parts(2, twice=True)] + [in_parts(3, {1: {a: b}}) for a, b in [("split.no", (U16, 2)), ("split.no", None), ("split.no", (STR, "1")), ("split.count", (U16, 2)),
        ("split.count", None), ("split.tensors.count", (I32, 3)), ("split.tensors.count", (U64, 11)), ("general.architecture", (STR, "llama")), ("general.architecture", (STR, "qwen2")), ("llama.block_count", (ARR, (U32, [1]))), ("llama.other", (U8, 1)), ("general.alignment", (U32, 32)), ("general.x" + "y" * 300, (U8, 1))]]
        + [in_parts(2, {0: {a: b}}) for a, b in [("split.count", (U16, 1001)), ("split.count", (I8, -1)), ("split.count", (BOOL, True)), ("split.tensors.count", None), ("split.tensors.count", (I64, -1)), ("split.no", (F32, 0.0))]]): put("gguf", "parts%02d" % i, d)
for i, d in enumerate([b"", b"GGUF", gguf([], version=1), gguf([], version=4), gguf([], version=3 << 24), gguf([], nt=1 << 63), gguf([], nk=(1 << 64) - 1), gguf(everything)[:-5], gguf([("", U32, 1)]), gguf([("a\0b", U32, 1)]), gguf([("a", U32, 1), ("a", U32, 2)]), gguf([("general.alignment", U32, 24)]), gguf([("general.alignment", U64, 32)]), gguf([("general.alignment", U32, 0)]),
        gguf([], two)[:-1], gguf([], [("a", (1 << 40, 1 << 40), 0, b"")]), gguf([], [("a", (1 << 61,), 0, b"")]), gguf([], [("a", (16,), 8, b"")]), gguf([], [("a", (4,), 99, b"")]), gguf([], [("a", (1, 1, 1, 1, 1), 0, b"\0" * 4)]), gguf([], two + two), gguf([], [("x" * 64, (4,), 0, b"\0" * 16)]), gguf([], [("", (4,), 0, b"\0" * 16)]), gguf([("general.alignment", U32, 64)], two), gguf([("x", ARR, (ARR, []))]), gguf([("x", ARR, (U8, []))]).replace(b"\x00\x00\x00\x00\x00\x00\x00\x00", b"\xff" * 8)]): put("gguf", "bad%02d" % i, d)

# characters, whole and broken; the first byte says how long the pieces are
for i, d in enumerate([b"abc", "\u00e9\u20ac\U0001f600x".encode(), b"\xc0\x80\xc1\xbf", b"\xed\xa0\x80\xed\x9f\xbf", b"\xf4\x90\x80\x80\xf4\x8f\xbf\xbf", b"\xe0\x80\x80\xe0\xa0\x80", b"\xf0\x80\x80\x80\xf0\x90\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf5\xff\xfe\x80\xbf", b"a\xe2b\xe2\x82c", b""]):
    for step in (0, 1, 2): put("stream", "%02d-%d" % (i, step), bytes([step]) + d)

# merges in two bytes each, and a text
for i, (a, b) in enumerate([(b"th" + b"\xc0e", b"the cat the"), (b"aa", b"aaaaaaa"), (b"aa\xc0\xc0\xc1\xc1", b"a" * 40), (b"abbc", b"abcabc"), (b"bcab", b"abcabc"), (b"abab", b"abab"), (b"aaaa\xc0a", b"aaaaa"), (b"", b"xyz"), (b"xy", b""), (b"ab\xc0a\xc0b\xc1\xc2", b"abaabbabaabb")]): put("merges", "%02d" % i, a + b"\n%%%%\n" + b)

# a pattern (0) or a grammar (1), and a text
json_grammar = 'root ::= object\nobject ::= "{" ( member ("," member)* )? "}"\nmember ::= string ":" value\nvalue ::= object | string | [0-9]{1,3} | "true"\nstring ::= "\\"" ( [^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\nu] )* "\\""\n'
for i, (p, t) in enumerate([("(ha)+!", "hahaha!"), ("^[0-9]{4}-\\d{2}$", "2024-05"), ("yes|no|", "no"), ("[^a-c\\W]+?\\.", "xyz."), ("(?:\\x{e9}|\\x41|.)*", "\u00e9A\U0001f600"), ("[\\s\\S]{0,3}", "\na"), ("a++", ""), ("(?=a)", "a"), ("\\1", ""), ("a{2,1}", ""), ("a{1001}", ""), ("((a{30}){30}){30}", "a"), ("[[:alpha:]]", ""), ("[]", ""), ("[a", ""), ("(", ""), (")", ""), ("a**", ""), ("*", ""), ("a^", ""), ("[z-a]", ""), ("\\xg", ""), ("\\x{110000}", ""), ("\\x{d800}", ""), ("[^\\d\\D]", ""), ("\\", ""), ("a{", ""), ("a{1", ""), ("[a-\\d]", ""), ("[..]", ""), ("[\\x{7f}-\\x{10ffff}]*", "\u0800\uffff"), ("(" * 101, ""), ("[a-c-e]", ""), ("\\n\\r\\t\\f\\-", "\n\r\t\f-"), ("(a|b)*a(a|b){3}", "abaab"), (b"\xff", "")]):
    put("constraint", "pattern%02d" % i, b"\0" + (p if isinstance(p, bytes) else p.encode()) + b"\n%%%%\n" + t.encode())
for i, (g, t) in enumerate([(json_grammar, '{"a":{"b":12}}'), ('root ::= "(" root ")" | "x" # remark\n', "((x))"), ('root ::= a b?\r\na ::= "a"{2,} |\n "b"\nb ::= [^x-z] .\n', "aac\u00e9"), ('root ::= root "a" | "b"', ""), ('root ::= e root | "b"\ne ::= ""', ""), ('root ::= "a" root', ""), ('a ::= "b"', ""), ('root ::= a', ""), ('root ::= "a"\nroot ::= "b"', ""), ('root ::= "a', ""), ('root ::= [a', ""), ('root ::= (', ""), ('root ::= ("a" = )', ""), ('root ::= "a" )', ""), ('root = "a"', ""), ('root ::= "\\q"', ""), ('root ::= "\\x41\\u00e9\\U0001F600\\n\\r\\t\\[\\]"', "A\u00e9\U0001f600\n\r\t[]"), ('root ::= "a" * *', ""), ('root ::= []', ""), ('root ::= [z-a]', ""), ('root ::= "a" root "b" | "c" root "d" | ""', "aacdbb"), ('', ""), ('_', ""), ('root ::= <', ""), ('root ::= ' + "(" * 101, ""), ('root ::= s s\ns ::= t t\nt ::= "x"\n', "xxxx")]):
    put("constraint", "grammar%02d" % i, b"\1" + g.encode() + b"\n%%%%\n" + t.encode())
# stop strings: wishes, protected tokens, pieces, how many strings; each string behind its length; a text
def stops(list, text, include=0, least=0, step=1): return bytes([include, least, step, len(list)]) + b"".join(bytes([len(x)]) + x for x in list) + text
for i, (l, t) in enumerate([([b"\n\n", b"User:"], b"Use\nUser \n\nno"), ([b"anno", b"nah"], b"Hannah"), ([b"abcd", b"bc"], b"xabcd"), ([b"aaaab"], b"aaaaaaaacaaab"), ([b"a", b"aa", b"aaa"], b"aaaa"), ([], "\u00e9\u20ac\U0001f600".encode()),
        ([b"\xa9b"], "\u00e9b\u00e9".encode()), ([b"abab", b"baa", b"bb"], b"ababaabb"), ([b""], b"\\n\\t\\\\\\x41\\xfF"), ([b""], b"\\q"), ([b""], b"\\x4"), ([b"0123456789abcdef" * 1], b"0123456789abcde0123456789abcdef")]):
    for k in range(3): put("stops", "%02d-%d" % (i, k), stops(l, t, k & 1, (0, 2, 5)[k], k))

# bodies of requests, each for completions and for a talk: the lines of the server's suite that are no longer than a screen, and every field at once
rows = [l.rstrip("\n").split("\t", 4) for l in open(os.path.join(root, "suites", "serve.tsv")) if not l.startswith("#") and l.strip()]
for i, row in enumerate(rows):
    if len(row) == 5 and len(row[4]) < 2000: put("request", "row%03d" % i, (b"C" if "chat" in row[0] else b"T") + row[4].encode())
every = {"model": "small", "max_tokens": 3, "temperature": 0.5, "top_p": 0.9, "top_k": 4, "min_p": 0.1, "typical_p": 0.9, "repetition_penalty": 1.1, "penalty_last_n": 4, "no_repeat_ngram_size": 2,
         "frequency_penalty": 1, "presence_penalty": -1, "logit_bias": {"3": -5, "9": 2.5}, "seed": 7, "n": 2, "stop": ["a", "bc"], "min_tokens": 1, "ignore_eos": True, "include_stop": True, "stream": True,
         "stream_options": {"include_usage": True, "include_obfuscation": False}, "response_format": {"type": "text"}, "user": "x", "best_of": 2, "suffix": "", "tools": [], "tool_choice": "none", "modalities": ["text"]}
said = lambda t, who="user": {"role": who, "content": t}
for i, d in enumerate([dict(every, prompt="abc", logprobs=2, echo=True), {"prompt": ["a", "b"], "n": 3}, {"prompt": [1, 2, 3], "echo": True}, {"prompt": [[1], [2, 3]], "logprobs": 0, "echo": True}, {"prompt": "a", "regex": "[ab]{2}", "max_tokens": 4},
        {"prompt": "a", "grammar": 'root ::= "a" | "b"', "max_tokens": 4}, {"prompt": "a", "response_format": {"type": "json_object"}}, {"prompt": "x" * 60}, {"prompt": ["a", 1]}, {"prompt": [1, "a"]}, {"prompt": [[1], "a"]}, {"prompt": [[]]}, {"prompt": [[1]] * 129}, {}, {"x" * 300: 1},
        {"prompt": "a", "regex": "("}, {"prompt": "a", "regex": "a{9}", "max_tokens": 2}, {"model": "\u00e9" * 150}, {"prompt": "a", "logit_bias": {"k" * 90: 1}}, {"max_tokens": 1e300}, {"stop": ["s"] * 17}, {"stop": "s" * 1025}]): put("request", "texts%02d" % i, "T" + dump(d))
for i, d in enumerate([dict(every, messages=[said("a")], logprobs=True, top_logprobs=3), {"messages": [said("a"), said("b", "assistant"), said("c")]}, {"messages": [said("a", "system"), said("b")]}, {"messages": [said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])]},
        {"messages": [said([{"type": "image_url", "text": "a"}])]}, {"messages": [said([{"text": "a"}])]}, {"messages": [said([{"type": "text"}])]}, {"messages": [said([3])]}, {"messages": [said([])]}, {"messages": [said(3)]}, {"messages": [said("a", "tool")]}, {"messages": [said("a", "x" * 200)]},
        {"messages": [{"content": "a"}]}, {"messages": [{"role": "user"}]}, {"messages": [3]}, {"messages": []}, {"messages": [said("a", "assistant")]}, {"messages": [dict(said("a"), tool_calls=[1])]}, {"messages": [dict(said("a"), name="n", **{"y" * 200: 1})]}, {"messages": [said("a")], "max_tokens": 1, "max_completion_tokens": 1},
        {"messages": [said("a")], "max_completion_tokens": 1}, {"messages": [said("a")], "top_logprobs": 1}, {"messages": [said([{"type": "text", "text": "a", "z" * 200: 1}])]}]): put("request", "talk%02d" % i, "C" + dump(d))

# lines of incipit serve: each option with something right and something wrong
right = {"host": ["127.0.0.1", "localhost", "::1", "nowhere", "0.0.0.0"], "port": ["0", "65535", "65536"], "api-key": ["keys"], "model-name": ["m", "a b", ""], "cors": ["http://a", "", "a b"], "slots": ["1", "256", "257"],
         "batch-rows": ["8", "7", "65536"], "kv-rows": ["1", "0"], "queue": ["0", "65537"], "prefix-cache": ["on", "off", "maybe"], "prompt-cache": ["x", ""], "speculate": ["0", "16", "17"], "draft": ["x"], "max-body": ["1MiB", "4KB", "5", "9GiB", "x"],
         "max-header": ["16KiB", "1GB"], "connections": ["1", "0"], "request-timeout": ["1", "0", "1.5"], "idle-timeout": ["60", ""], "send-timeout": ["30", "x"], "drain-timeout": ["30", "86401"], "log": ["requests", "all"], "template": ["chatml", "none"]}
for o, words in right.items():
    for i, w in enumerate(words): put("line", "serve-%s-%d" % (o, i), "serve\n--%s\n%s" % (o, w))
put("line", "serve-all", "serve\n" + "\n".join("--%s=%s" % (o, w[0]) for o, w in right.items()))
for i, l in enumerate(["serve", "serve --no-key --api-key x", "serve --draft x", "serve --draft x --speculate 2", "serve --prompt-cache x --prefix-cache off", "serve --slots 9 --batch-rows 8", "serve operand", "serve --help", "serve --host 0.0.0.0 --no-key"]): put("line", "serve%02d" % i, l.replace(" ", "\n"))

# headers: the version, and what decides where a body ends
for i, l in enumerate(["HTTP/1.1|Host:a", "HTTP/1.1|Host:a|Content-Length:5", "HTTP/1.1|Host:a|Content-Length:5|Content-Length:5", "HTTP/1.1|Host:a|Content-Length:5|content-length:6", "HTTP/1.1|Host:a|Content-Length:5,5", "HTTP/1.1|Host:a|Content-Length:+5", "HTTP/1.1|Host:a|Content-Length:",
        "HTTP/1.1|Host:a|Transfer-Encoding:chunked", "HTTP/1.1|Host:a|Transfer-Encoding:gzip, chunked", "HTTP/1.1|Host:a|Transfer-Encoding:chunked|transfer-encoding:chunked", "HTTP/1.1|Host:a|Transfer-Encoding:chunked|Content-Length:5", "HTTP/1.1|Host:a|Host:b", "HTTP/1.1|Accept:x", "HTTP/1.0|Accept:x", "HTTP/1.0"]):
    put("framing", "%02d" % i, l.replace("|", "\n"))

# settings of a model of texts within those of one that sees
def within(kind, cls, text, **more): return dump(dict({"model_type": kind, "architectures": [cls], "text_config": text, "vision_config": {"hidden_size": 4}, "image_token_index": 9}, **more))
g3, m3 = ("gemma3", "Gemma3ForConditionalGeneration"), ("mistral3", "Mistral3ForConditionalGeneration")
for i, t in enumerate([within(*g3, {}), within(*g3, {"hidden_size": 16, "num_hidden_layers": 2, "sliding_window": 4, "model_type": "gemma3_text", "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}, eos_token_id=[1, 106]), within(*g3, []), within(*g3, None), within(*g3, {"model_type": 5}),
        within(*g3, {"model_type": "gemma3"}), within("gemma3", "x", {}), within(*m3, {"model_type": "ministral3", "architectures": ["x"]}), within(*m3, {"sliding_window": None}, tie_word_embeddings=False), within("llava", "LlavaForConditionalGeneration", {"tie_word_embeddings": True, "vocab_size": 9}, vocab_size=7),
        within("smolvlm", "SmolVLMForConditionalGeneration", {"vocab_size": 9, "hidden_size": 8}, tie_word_embeddings="x", _pad_token_id=3), within("idefics3", "Idefics3ForConditionalGeneration", {}, audio_config={"x": 1}), within(*g3, {}, quantization_config={"quant_method": "fp8"}), within(*g3, {"quantization_config": {"quant_method": "fp8"}})]):
    put("config", "within%02d" % i, t)
# a name, and what the hub answers
sha, blob, oid = "0123456789" * 4, "0123456789abcdef0123456789abcdef01234567", "0123456789abcdef" * 4
def listing(*files, **more): return dump(dict({"id": "o/n", "sha": sha, "siblings": list(files)}, **more))
def small(name, **more): return dict({"rfilename": name, "size": 5, "blobId": blob}, **more)
def large(name, **more): return dict({"rfilename": name, "size": 5, "blobId": blob, "lfs": dict({"sha256": oid, "size": 5, "pointerSize": 1}, **more)})
for i, (n, a) in enumerate([("o/n", listing(small("config.json"), large("model.safetensors"), small("tokenizer.json"), small("README.md"))), ("o/n:Q8_0", listing(large("a-Q8_0.gguf"), large("x/b-Q4_0.gguf"))), ("o/n@refs/pr/1:a.gguf", listing(large("a.gguf"))),
        ("o/n", listing(small("config.json"), small("model.safetensors.index.json"), large("model-00001-of-00002.safetensors"), large("model-00002-of-00002.safetensors"), small("vocab.json"), small("merges.txt"))), ("o/n", listing(small("../x"))), ("../n", listing(small("/x"))),
        ("o/n", listing(small("config.json"), small("config.json"))), ("o/n:x//y", listing(small("a\\b"))), ("o/n", listing(small("config.json", size=-1))), ("o/n", listing(small("config.json", size=2 ** 44 + 1))), ("o/n", listing(small("config.json", blobId="x"))),
        ("o/n", listing(large("a.gguf", sha256="x"))), ("o/n", listing(large("a.gguf", size=1.5))), ("o/n", listing(3)), ("o/n", listing(sha="main")), ("o/n", listing(siblings={})), ("o/n", "[]"), ("o/n", ""), ("o/n", listing(large("a-00001-of-00002.gguf"))), ("o/n", listing(large("a-00001-of-00002.gguf"), large("a-00002-of-00002.gguf"), small("config.json"))),
        ("o/n:q8_0", listing(large("x/a-Q8_0-00001-of-00002.gguf"), large("x/a-Q8_0-00002-of-00002.gguf"), large("b-Q4_0.gguf"))), ("o/n", listing(large("a-00001-of-99999.gguf"))), ("o/n:a-00002-of-00002.gguf", listing(large("a-00001-of-00002.gguf"), large("a-00002-of-00002.gguf"))),
        ("o/n", listing(small("config.json"), small("pytorch_model.bin"))), ("o/n:mmproj", listing(large("mmproj-a.gguf"))), ("o" * 97 + "/n", listing(large("x" * 196 + ".gguf"))), ("o/n", listing(small("config.json", lfs=None)))]): put("listing", "%02d" % i, n + "\n%%%%\n" + a)
# what a page sends: flat objects, and what is none
for i, t in enumerate(['{"prompt":"The cat sat","cache":true}', '{"prompt":"Na\\u00efve \\ud83d\\ude00 \\u20ac \\"q\\" \\\\ \\/ \\b\\f\\n\\r\\t","seed":7}', '{"temperature":0.8,"top_k":40,"top_p":0.95e0,"min_p":1E-2}',
        ' { "cache" : false , "max_tokens" : 12 } ', '{}', '{"a":-0.0,"b":1e+3,"c":0}', '{"x":"\u00e9\u4f60"}', '{"prompt":"\\ud800"}', '{"seed":01}']): put("settings", "%02d" % i, t.encode())
