#!/usr/bin/env python3
"""contract.py -- the protocol's answers against an oracle that shares no line with the engine.
usage: python3 tests/checks/contract.py write INCIPIT  writes tests/golden/probe/cases.jsonl
       python3 tests/checks/contract.py INCIPIT [SEED] asks INCIPIT random questions; the last line is "N passed, N failed"
The rules of BPE training, of holding back unfinished UTF-8, of packing numbers into blocks, of the stages of the
sampler, of its random bits and of the choice are those of ../shared/reference/contract.py; encoding and decoding are
done here by the slowest method that can be read at a glance, with the vocabulary of tests/golden/small.  Of a whole
generation only the logits are INCIPIT's own, asked for with `forward', a question for every token."""
import json, os, random, re, struct, subprocess, sys
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ.get("SHARED", "../shared"), "reference"))
import contract as rule

own = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
rest = [b for b in range(256) if b not in own]
byte_of = {chr(b): b for b in own}
byte_of.update({chr(256 + i): b for i, b in enumerate(rest)})
small = os.path.join(here, "golden", "small")
book = json.load(open(os.path.join(small, "tokenizer.json")))
vocab = {bytes(byte_of[c] for c in k): v for k, v in book["model"]["vocab"].items() if not k.startswith("<|")}
pairs = [m if isinstance(m, list) else m.split(" ") for m in book["model"]["merges"]]
ranks = {tuple(bytes(byte_of[c] for c in s) for s in m): i for i, m in enumerate(pairs)}
bytes_of = {v: k for k, v in vocab.items()}
END = "<|endoftext|>"
PATTERN = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")

def encode(text, parse):
    if parse and END in text:
        a, b = text.split(END, 1)
        return encode(a, True) + [0] + encode(b, True)
    out = []
    for piece in PATTERN.findall(text):
        parts = [bytes([b]) for b in piece.encode()]
        while True:
            best = min((ranks.get((a, b), 1 << 30), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))) if len(parts) > 1 else (1 << 30, 0)
            if best[0] == 1 << 30: break
            i = best[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        out += [vocab[p] for p in parts]
    return out
def piece(i, skip=False): return (b"" if skip else END.encode()) if i == 0 else bytes_of.get(i, b"")

LETTERS = ["a", "b", "ab", " ", "the", " the", "cat", "é", "€", "😀", "\0", "\n", "x", "'s"]
PATTERNS = [(None, None), ("[a-z]+", re.compile("[a-z]+")), (" ?[^ ]+", re.compile(" ?[^ ]+")), ("a|b", re.compile("a|b")), ("x*", re.compile("x*"))]
WORDS = ["The", " cat", " sat", "the", "mat", "'s", " ", "  ", "\n", "12", "!?", "rat", END, "<|end"]
def text_of(r, words, n): return "".join(r.choice(words) for _ in range(r.randrange(n)))
def case(r):
    kind = r.choice(["train-bpe", "train-bpe", "tokenize", "detokenize", "stream"])
    if kind == "train-bpe":
        q = {"text": text_of(r, LETTERS, 60), "merges": r.randrange(30)}
        pattern, compiled = r.choice(PATTERNS)
        if pattern is not None or r.random() < .5: q["pattern"] = pattern
        pieces = [q["text"]] if compiled is None else rule.split_with_gaps(compiled, q["text"])
        return kind, q, {"merges": rule.train_bpe([p.encode() for p in pieces], q["merges"])}
    if kind == "tokenize":
        q = {"text": text_of(r, WORDS, 12)}
        if r.random() < .5: q["parse_special"] = r.random() < .7
        if r.random() < .3: q["add_special"] = r.random() < .5
        return kind, q, {"ids": encode(q["text"], q.get("parse_special", False))}
    ids = [r.choice([r.randrange(286), r.randrange(100, 257), 0, 196, 170, 227, 131, 173, 241, 160]) for _ in range(r.randrange(12))]
    if kind == "detokenize":
        q = {"ids": ids}
        if r.random() < .5: q["skip_special"] = r.random() < .5
        b = b"".join(piece(i, q.get("skip_special", False)) for i in ids)
        return kind, q, {"hex": b.hex(), "text": rule.lossy(b)}
    chunks, flush = rule.hold([piece(i) for i in ids])
    return kind, {"ids": ids}, {"chunks": [c.hex() for c in chunks], "flush": bytes(flush).hex()}

# Numbers and blocks.  The two formats of sixteen bits round to the nearest, ties to even: Python's struct does it for f16, for
# bf16 it is half of what is left out, less one bit if what is left is even.
def word(t, x):
    if t == "f16": return struct.pack("<e", rule.f32(x))
    u, = struct.unpack("<I", rule.bits32(x))
    return struct.pack("<H", (u + 0x7fff + (u >> 16 & 1)) >> 16)
def of_word(t, b): return struct.unpack("<e", b)[0] if t == "f16" else struct.unpack("<f", b"\0\0" + b)[0]
def of_block(t, b):      # in q4_0 and q5_0 the middle with a negative scale is -0.0, to which the oracle adds a minimum of 0.0 that ggml does not have
    if t in LARGE: return LARGE[t](b)
    d, v = rule.half_of(b[:2]), rule.dequantize_block(t, b)
    if t not in ("q4_0", "q5_0"): return v
    at, zero = (2, 8) if t == "q4_0" else (6, 16)
    code = lambda j: (b[at + j % 16] >> (4 if j > 15 else 0) & 15) | ((b[2 + j // 8] >> j % 8 & 1) << 4 if zero == 16 else 0)
    return [d * (code(j) - zero) if v[j] == 0 else v[j] for j in range(32)]
LARGE = {"q4_k": rule.q4_k, "q6_k": rule.q6_k}
SIZE = dict(rule.BLOCK, q4_k=144, q6_k=210)
def pack(t, x): return b"".join(rule.quantize_block(t, x[i:i + 32]) for i in range(0, len(x), 32)) if t in rule.BLOCK else b"".join(word(t, v) for v in x)
def unpack(t, b):
    n, one = (SIZE[t], of_block) if t in SIZE else (2, lambda t, w: [of_word(t, w)])
    return [v for i in range(0, len(b), n) for v in one(t, b[i:i + n])]
def printed(v): return json.loads(rule.shortest32(v))
def gauss(r, n, scale): return [printed(rule.f32(r.gauss(0, scale))) for _ in range(n)]
def spike(r, n, huge, tiny):
    x = gauss(r, n, tiny)
    x[r.randrange(n)] = r.choice([-1, 1]) * huge
    return x
FILLINGS = [                                                                     # n numbers of one kind
    lambda r, n: gauss(r, n, 1), lambda r, n: gauss(r, n, r.choice([1e-3, 30., 5e3])), lambda r, n: [0.0] * n, lambda r, n: [-0.0] * n,
    lambda r, n: [r.choice([0.0, -0.0, 0, 1, -1]) for _ in range(n)],
    lambda r, n: spike(r, n, 60000., 1e-3), lambda r, n: spike(r, n, 3e4, 1e-30), lambda r, n: spike(r, n, 1., 1e-42),
    lambda r, n: gauss(r, n, 1e-5), lambda r, n: gauss(r, n, 1e-7), lambda r, n: gauss(r, n, 1e-30),      # scales that are denormal in a half, or nothing
    lambda r, n: [127] + [r.randrange(-253, 254) / 2 for _ in range(n - 1)], lambda r, n: [r.randrange(-16, 17) / 2 for _ in range(n)],      # ties
    lambda r, n: [r.choice([-3.5, 3.5]) for _ in range(n)], lambda r, n: [r.choice([7, -7])] * n, lambda r, n: [r.randrange(-128, 128) for _ in range(n)]]
WORDS_ONLY = [                                                                   # what a scale of a block would not bear, or what a block cannot show
    lambda r, n: gauss(r, n, 1e-41), lambda r, n: gauss(r, n, 6e-8), lambda r, n: gauss(r, n, 3e-5), lambda r, n: spike(r, n, 65504., 1.), lambda r, n: spike(r, n, 65519.99, 1.),
    lambda r, n: [r.choice([-1, 1]) * (1 + r.randrange(1 << 12) / 4096) * 2.0 ** r.randrange(-26, 15) for _ in range(n)],      # ties of f16
    lambda r, n: [r.choice([-1, 1]) * (1 + r.randrange(1 << 9) / 512) * 2.0 ** r.randrange(-126, 15) for _ in range(n)],      # ties of bf16
    lambda r, n: [1 + 2.0 ** -11 + 2.0 ** -40, 1 + 2.0 ** -8 + 2.0 ** -40, 1e-50, -1e-50, 5.960464477539063e-08, 2.9802322387695312e-08][:n]]      # rounded to float first
def numbers(r, t, fifth=None):      # of few kinds at random, or of a fifth of all kinds
    kinds = FILLINGS if t in rule.BLOCK else FILLINGS + WORDS_ONLY
    chosen = [r.choice(kinds) for _ in range(r.choice([1, 1, 1, 2, 3]))] if fifth is None else kinds[fifth::5]
    return [v for k in chosen for v in k(r, 32 if t in rule.BLOCK else 6)]
def noise(r, t):      # bytes that no packing has made: codes of -128, scales of either sign, infinite and not a number
    if t not in SIZE: return bytes(r.choice([r.randrange(256), r.choice([0, 0x80, 0x7f, 0x7c, 0xff, 0x01])]) for _ in range(2 * r.randrange(1, 13)))
    if t in LARGE: return bytes(r.choice([r.randrange(256), 0x80, 0x88, 0, 0x3f]) for _ in range(SIZE[t] * r.choice([1, 2])))
    return b"".join(r.choice([bytes(r.randrange(256) for _ in range(2)), struct.pack("<e", r.gauss(0, 1)), r.choice([b"\x00\x7c", b"\x01\x7e", b"\x00\x80", b"\x01\x00"])])
        + bytes(r.choice([r.randrange(256), 0x80, 0x88, 0]) for _ in range(rule.BLOCK[t] - 2)) for _ in range(r.choice([1, 1, 2])))
FORMATS = ["q8_0", "q4_0", "f16", "bf16"]
EVERY = FORMATS + ["q4_1", "q5_0", "q5_1", "q4_k", "q6_k"]
def blocks(r, t=None, back=None, fifth=None):
    t = t or r.choice(EVERY)
    if back is None: back = t in LARGE or r.random() < .5
    if not back:
        x = numbers(r, t, fifth)
        return "quantize", {"type": t, "x": x}, {"hex": pack(t, x).hex()}
    b = noise(r, t) if t in LARGE or (r.random() < .4 if fifth is None else fifth % 2) else pack(t, numbers(r, t))
    return "quantize", {"type": t, "hex": b.hex()}, {"x": [printed(v) for v in unpack(t, b)]}

# Choices.  Where the oracle refuses, the answer is None, and any error is right.
OTHER = [0.5, 0.9, 0.0, 1.0, 0.3, 0.999, 0.05]
def scores(r, n):      # few, so that there are ties; or many; some taken out already
    x = r.choice([lambda: gauss(r, n, r.choice([.5, 3., 30.])), lambda: [r.choice([0, 1, 1.5, -2]) for _ in range(n)]])()
    return ["-inf" if r.random() < .1 else v for v in x] if r.random() < .3 else x
def some(r, n, most): return [r.randrange(n) for _ in range(r.randrange(most))]
def biases(r, n): return {str(i): r.choice([1.5, -2, 0.25, -1e9, "-inf"]) for i in some(r, n, 4)}
def bad(r, n): return [some(r, n, 2) + [r.randrange(n)] for _ in range(r.randrange(3))]
STAGES = {
    "temperature": lambda r, n, h: {"temperature": r.choice([0, 0.0, 1, 0.7, 2.5, 1e-5, 1e4, 1e-6, -1, 10001])}, "top_k": lambda r, n, h: {"top_k": r.choice([0, 1, 2, 3, n, n + 5, 1 << 40])},
    "top_p": lambda r, n, h: {"top_p": r.choice(OTHER + [1.01])}, "min_p": lambda r, n, h: {"min_p": r.choice(OTHER + [-0.1])}, "typical_p": lambda r, n, h: {"typical_p": r.choice(OTHER)},
    "repetition_penalty": lambda r, n, h: dict({"penalty": r.choice([1, 1.3, 0.5, 2, 0, -1, 1e300])}, **({"penalty_last_n": r.choice([-1, 0, 1, 3, 99, -2])} if r.random() < .5 else {})),
    "frequency_presence": lambda r, n, h: {k: v for k, v in {"frequency": r.choice([0.5, -1, 2.25]), "presence": r.choice([0.3, -1.5]), "prompt_len": r.randrange(h + 1), "penalty_last_n": r.choice([-1, 0, 2, 99])}.items() if r.random() < .7},
    "no_repeat_ngram": lambda r, n, h: {"n": r.randrange(5)}, "logit_bias": lambda r, n, h: {"bias": biases(r, n)},
    "sequence_bias": lambda r, n, h: {"bias": [[b, r.choice([2, -0.5, "-inf"])] for b in bad(r, n)]}, "bad_words": lambda r, n, h: dict({"bad": bad(r, n)}, **({"eos": some(r, n, 3)} if r.random() < .5 else {})),
    "suppress_tokens": lambda r, n, h: {"tokens": some(r, n, 4)}, "min_length": lambda r, n, h: {"eos": some(r, n, 3), "min_length": r.randrange(6)},
    "min_new_tokens": lambda r, n, h: {"eos": some(r, n, 3), "min_new_tokens": r.randrange(4), "prompt_len": r.randrange(h + 1)}, "log_softmax": lambda r, n, h: {}}
def settings(r, n):
    p = {"temperature": r.choice([0, 1, 0.7, 2, 50]), "top_k": r.choice([0, 1, 2, 5, n]), "top_p": r.choice(OTHER), "min_p": r.choice([0, 0.05, 0.5]), "typical_p": r.choice([0.3, 0.9, 1]),
        "repetition_penalty": r.choice([1, 1.3, 0.7]), "frequency_penalty": r.choice([0.5, -0.5]), "presence_penalty": r.choice([1.5, -0.5]), "penalty_last_n": r.choice([-1, 0, 2, 5]),
        "no_repeat_ngram": r.choice([1, 2, 3]), "logit_bias": biases(r, n), "bad_words": bad(r, n), "suppress_tokens": some(r, n, 3),
        "samplers": r.sample(rule.DEFAULT_SAMPLERS, r.randrange(len(rule.DEFAULT_SAMPLERS) + 1))}
    if r.random() < .3: p["samplers"] = list(rule.DEFAULT_SAMPLERS)
    often = r.choice([.2, .5, 1])
    return {k: v for k, v in p.items() if r.random() < often}
def numbers_in(params):      # the oracle's own stages want -inf as a number where a sequence has it
    return dict(params, bias=[[s, rule.number(b)] for s, b in params["bias"]]) if isinstance(params.get("bias"), list) else params
SEEDS = [0, 1, 42, 2 ** 32, 2 ** 63 - 1]
def sure(k, z, *where):      # a choice that no library's logarithm could change
    token, margin = rule.choose(k, z, *where)
    return token if margin > 1e-9 else None
def stage(r, op=None):
    op, n = op or r.choice(sorted(STAGES)), r.choice([1, 2, 5, 9, 30])
    q = {"op": op, "logits": scores(r, n), "ids": some(r, n, 9)}
    q["params"] = STAGES[op](r, n, len(q["ids"]))
    if not q["ids"] and r.random() < .5: del q["ids"]
    if not q["params"] and r.random() < .5: del q["params"]
    try: z = rule.apply(op, numbers_in(q.get("params", {})), q.get("ids", []), [rule.f32(rule.number(v)) for v in q["logits"]])
    except rule.Refuse: return "process", q, None
    return "process", q, {"logits": [printed(rule.f32(v)) for v in z]}
def draw(r):
    n = r.choice([1, 2, 5, 9, 30])
    q = {"logits": scores(r, n), "ids": some(r, n, 9), "params": settings(r, n), "seed": r.choice(SEEDS + [r.randrange(2 ** 63)])}
    for key, value in (("sequence", r.choice([0, 1, 7, 2 ** 32 - 1])), ("position", r.choice([0, 5, 2 ** 32 - 1])), ("prompt_length", r.randrange(len(q["ids"]) + 1))):
        if r.random() < .4: q[key] = value
    try: k, probs, z = rule.distribution([rule.f32(rule.number(v)) for v in q["logits"]], q["ids"], q.get("prompt_length"), q["params"])
    except rule.Refuse: return "sample", q, None
    token = sure(k, z, q["seed"], q.get("sequence", 0), q.get("position", len(q["ids"])))
    return ("sample", q, {"kept": k, "probs": probs, "token": token}) if token is not None else draw(r)
def bits(r):
    word = lambda: r.choice([0, 1, 2 ** 32 - 1, r.randrange(2 ** 32)])
    q = {"key": [word(), word()], "counter": [word() for _ in range(4)]}
    return "philox", q, {"out": rule.philox(q["key"], q["counter"])}
class Model:      # one program that answers `forward', asked one question after another
    def __init__(self, program): self.p = subprocess.Popen([program, "probe", "forward", "-m", small], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    def logits(self, ids):
        self.p.stdin.write((json.dumps({"ids": ids}) + "\n").encode())
        self.p.stdin.flush()
        return [rule.f32(v) for v in json.loads(self.p.stdout.readline())["logits"][0]]
    def close(self): self.p.stdin.close(), self.p.stdout.close(), self.p.wait()
def whole(r, model):
    q = {"ids": r.choice([[262], [262, 270], [262, 270, 263], some(r, 286, 5) + [262]]), "max_tokens": r.choice([0, 1, 2, 3, 5, 6, 7, 8, 8, 12]), "params": settings(r, 286)}
    for key, value in (("seed", r.choice(SEEDS)), ("sequence", r.choice([1, 3])), ("eos", r.choice([None, [], [0, 265, 47]])), ("cache", r.random() < .5), ("chunk", r.randrange(3))):
        if r.random() < .5: q[key] = value
    ids, eos = list(q["ids"]), [0] if q.get("eos") is None else q["eos"]
    a = {"finish": "length", "stop_reason": None}
    while len(ids) < len(q["ids"]) + q["max_tokens"] and a["finish"] == "length":
        try: k, _, z = rule.distribution(model.logits(ids), ids, len(q["ids"]), dict({"temperature": 0}, **q["params"]))
        except rule.Refuse: return "generate", q, None
        token = sure(k, z, q.get("seed", 0), q.get("sequence", 0), len(ids))
        if token is None: return whole(r, model)
        ids.append(token)
        if token in eos: a = {"finish": "stop", "stop_reason": token}
    new = ids[len(q["ids"]):]
    return "generate", q, dict(a, ids=new, text=rule.lossy(b"".join(piece(i, True) for i in (new[:-1] if a["finish"] == "stop" else new))))

def same(got, a):      # the same JSON, and -0.0 is not 0.0; of a float, the oracle's digits are not always the fewest (below a power of two)
    if a is None: return list(got) == ["error"]
    for k in ("x", "logits"):
        if k in a and isinstance(got.get(k), list): got = dict(got, **{k: [printed(rule.f32(rule.number(v))) for v in got[k]]})
    if "probs" in a and isinstance(got.get("probs"), list):      # doubles of two libraries: a few units of the last place
        p, q = got["probs"], a["probs"]
        if len(p) != len(q) or any(abs(x - y) > 1e-13 * y + 1e-300 for x, y in zip(p, q)): return False
        got = dict(got, probs=q)
    return json.dumps(got, sort_keys=True) == json.dumps(a, sort_keys=True)

if sys.argv[1] == "write":
    r, s = random.Random(11), random.Random(13)
    with open(os.path.join(here, "golden", "probe", "cases.jsonl"), "w") as f:
        for i in range(150 + 40):
            kind, q, a = case(r) if i < 150 else blocks(s, FORMATS[i % 4], i // 4 % 2 == 1, (i - 150) // 8)
            f.write(json.dumps({"kind": kind, "in": q, "out": a}, ensure_ascii=False) + "\n")
        s, ops, model = random.Random(17), sorted(STAGES), Model(sys.argv[2])
        for i in range(75 + 60 + 10 + 30):
            a = None
            while a is None: kind, q, a = stage(s, ops[i % 15]) if i < 75 else draw(s) if i < 135 else bits(s) if i < 145 else whole(s, model)
            f.write(json.dumps({"kind": kind, "in": q, "out": a}, ensure_ascii=False) + "\n")
        model.close()
    sys.exit(0)
r = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 20260101)
asked = {}
for _ in range(1500):
    kind, q, a = case(r)
    asked.setdefault(kind, []).append((q, a))
for _ in range(500):
    kind, q, a = blocks(r)
    asked.setdefault(kind, []).append((q, a))
model = Model(sys.argv[1])
for i in range(1300):
    kind, q, a = stage(r) if i < 500 else draw(r) if i < 1000 else bits(r) if i < 1100 else whole(r, model)
    asked.setdefault(kind, []).append((q, a))
model.close()
good = wrong = 0
for kind, list_ in sorted(asked.items()):
    lines = "".join(json.dumps(q, ensure_ascii=bool(i % 2)) + "\n" for i, (q, _) in enumerate(list_))
    done = subprocess.run([sys.argv[1], "probe", kind, "-m", small], input=lines.encode(), stdout=subprocess.PIPE)
    answers = done.stdout.decode().split("\n")[:-1]
    for (q, a), got in zip(list_, answers + ["{}"] * (len(list_) - len(answers))):
        if same(json.loads(got), a): good += 1
        else:
            wrong += 1
            if wrong < 5: print(kind, json.dumps(q), "answer", got, "wanted", json.dumps(a))
print("%d passed, %d failed" % (good, wrong))
sys.exit(wrong > 0)
