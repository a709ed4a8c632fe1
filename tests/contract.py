#!/usr/bin/env python3
"""contract.py -- the protocol's answers against an oracle that shares no line with the engine.
usage: python3 tests/contract.py write          writes tests/golden/probe/cases.jsonl
       python3 tests/contract.py INCIPIT [SEED] asks INCIPIT random questions; the last line is "N passed, N failed"
The rules of BPE training and of holding back unfinished UTF-8 are those of ../shared/reference/contract.py;
encoding and decoding are done here by the slowest method that can be read at a glance, with the vocabulary of
tests/golden/small."""
import json, os, random, re, subprocess, sys
here = os.path.dirname(os.path.abspath(__file__))
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

if sys.argv[1] == "write":
    r = random.Random(11)
    with open(os.path.join(here, "golden", "probe", "cases.jsonl"), "w") as f:
        for _ in range(150):
            kind, q, a = case(r)
            f.write(json.dumps({"kind": kind, "in": q, "out": a}, ensure_ascii=False) + "\n")
    sys.exit(0)
r = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 20260101)
asked = {}
for _ in range(1500):
    kind, q, a = case(r)
    asked.setdefault(kind, []).append((q, a))
good = bad = 0
for kind, list_ in sorted(asked.items()):
    lines = "".join(json.dumps(q, ensure_ascii=bool(i % 2)) + "\n" for i, (q, _) in enumerate(list_))
    done = subprocess.run([sys.argv[1], "probe", kind, "--vocab", small], input=lines.encode(), stdout=subprocess.PIPE)
    answers = done.stdout.decode().split("\n")[:-1]
    for (q, a), got in zip(list_, answers + ["null"] * (len(list_) - len(answers))):
        if json.loads(got) == a: good += 1
        else:
            bad += 1
            if bad < 5: print(kind, json.dumps(q), "answer", got, "wanted", json.dumps(a))
print("%d passed, %d failed" % (good, bad))
sys.exit(bad > 0)
