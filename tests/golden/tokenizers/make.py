#!/usr/bin/env python3
"""make.py -- what Hugging Face's `tokenizers` says about the small vocabularies of this folder.
usage: python3 make.py         writes llama/, two-files/, other-names/, pieces/, pieces-model/, spaces/ and every cases.jsonl and stream.jsonl
       python3 make.py check   computes all of it again and compares; status 77 where the package is missing
text.txt is a page of our own, plain/tokenizer.json what our trainer learnt from it (a test learns it again and compares
the bytes).  llama/ and the pairs of files are made from it; pieces/ and spaces/ begin with characters and are learnt from the page
here; pieces-model/ is pieces/ in SentencePiece's own form, and where that package is installed it is asked, too.  Lines: {"text", "add_special", "parse_special", "ids"},
{"ids", "skip_special", "hex"} for decoding, {"ids", "chunks", "flush"} for streams, as in the larger golden files."""
import codecs, collections, json, os, random, struct, sys
HERE = os.path.dirname(os.path.abspath(__file__))
try:
    from tokenizers import Tokenizer
except ImportError:
    print("the Python package tokenizers is not installed"); sys.exit(77)

LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

def forms():
    plain = json.load(open(os.path.join(HERE, "plain/tokenizer.json"), encoding="utf-8"))
    llama = json.loads(json.dumps(plain))
    n = len(plain["model"]["vocab"])
    def added(i, text, **marks):
        return dict(id=i, content=text, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True) | marks
    llama["added_tokens"] += [added(n, "<|begin|>"), added(n + 1, "<|turn|>", lstrip=True, rstrip=True), added(n + 2, "cat", special=False, single_word=True),
        added(n + 3, "\u1e69", special=False, normalized=True), added(n + 4, "<|begin|>twice")]
    llama["normalizer"] = {"type": "NFC"}
    llama["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": LLAMA}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}
    llama["post_processor"] = {"type": "Sequence", "processors": [
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|begin|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
         "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
         "special_tokens": {"<|begin|>": {"id": "<|begin|>", "ids": [n], "tokens": ["<|begin|>"]}}}]}
    llama["model"]["ignore_merges"] = True
    llama["model"]["merges"] = [m.split(" ") for m in plain["model"]["merges"]]
    del llama["model"]["merges"][40]          # a word that the merges do not reach, as Llama 3 has them
    return plain, llama

# ---- vocabularies that begin with characters, as SentencePiece's do
LOW = "\u2581"
SHELF = ["<unk>", "<s>", "</s>", "<tool>"] + ["<0x%02X>" % b for b in range(256)]
TOOLS = [("<tool>", [614, 3]), ("x <tool> y", [614, 608, 614, 3, 476]), ("<tool><tool>cat", [614, 3, 3, 588, 270]), ("a<tool", [261, 64, 604, 599, 372])]
def learn(count):
    """the merges of the page: the most frequent pair of neighbours within a word, of equals the one that sorts first"""
    page = open(os.path.join(HERE, "text.txt"), encoding="utf-8").read()
    words = collections.Counter(LOW + w for w in page.split())
    rows, merges = {w: list(w) for w in words}, []
    while len(merges) < count:
        pairs = collections.Counter()
        for w, row in rows.items():
            for a, b in zip(row, row[1:]): pairs[a, b] += words[w]
        a, b = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append([a, b])
        for w, row in rows.items():
            new = []
            for c in row:
                if new and new[-1] == a and c == b: new[-1] = a + b
                else: new.append(c)
            rows[w] = new
    return merges

def pieces():
    """Llama 2's form (a blank in front of everything, no words) and Mistral's (Metaspace), over one vocabulary"""
    merges = learn(300)
    # a piece may be reached twice; its score is that of the first merge
    made = list(dict.fromkeys(a + b for a, b in merges))
    letters = sorted(set("".join(a + b for a, b in merges)) | set("\u00e9\u20ac9"))
    vocab = {w: i for i, w in enumerate(SHELF + made + [c for c in letters if c not in made])}
    rank = {w: i for i, w in enumerate(made)}
    # every way to make a piece of two others, in the order of the pieces' scores, as converters write them
    ways = sorted(([w[:k], w[k:]] for w in made for k in range(1, len(w)) if w[:k] in vocab and w[k:] in vocab), key=lambda p: (rank[p[0] + p[1]], vocab[p[0]], vocab[p[1]]))
    added = [dict(id=i, content=SHELF[i], single_word=False, lstrip=False, rstrip=False, normalized=False, special=i < 3) for i in range(4)]
    d = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
         "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": LOW}, {"type": "Replace", "pattern": {"String": " "}, "content": LOW}]},
         "pre_tokenizer": None,
         "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
         "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": LOW}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
         "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
            "byte_fallback": True, "ignore_merges": False, "vocab": vocab, "merges": ways}}
    spaces = json.loads(json.dumps(d))
    spaces["normalizer"] = None
    spaces["pre_tokenizer"] = {"type": "Metaspace", "replacement": LOW, "prepend_scheme": "first", "split": False}
    return d, spaces

def protobuf(vocab):
    """the same vocabulary as SentencePiece keeps it: pieces with scores, how it was learnt, what becomes of blanks"""
    def field(number, kind, value):
        def var(n):
            out = b""
            while n > 127: out += bytes([n & 127 | 128]); n >>= 7
            return out + bytes([n])
        tag = var(number << 3 | kind)
        return tag + (var(value) if kind == 0 else struct.pack("<f", value) if kind == 5 else var(len(value)) + value)
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3, "<tool>": 4}
    out = b""
    for w, i in vocab.items():
        kind = kinds.get(w, 6 if 4 <= i < 260 else 1)
        out += field(1, 2, field(1, 2, w.encode()) + field(2, 5, 0.0 if i < 260 else float(260 - i)) + (field(3, 0, kind) if kind != 1 else b""))
    trained = field(3, 0, 2) + field(4, 0, len(vocab)) + field(35, 0, 1) + field(40, 0, 0) + field(41, 0, 1) + field(42, 0, 2)
    blanks = field(1, 2, b"identity") + field(3, 0, 1) + field(4, 0, 0) + field(5, 0, 1)
    return out + field(2, 2, trained) + field(3, 2, blanks)

def model_rows(model, rows):
    """of the rows of pieces/ those without control and user-defined pieces, which the two libraries treat differently; and what
    SentencePiece says to its own user-defined piece.  Where it is installed, it is asked for all of them."""
    rows = [r for r in rows if "text" in r and not any(w in r["text"] for w in SHELF[:4])]
    for text, ids in TOOLS: rows.append({"text": text, "add_special": False, "parse_special": True, "ids": ids})
    try: import sentencepiece
    except ImportError: return rows
    p = sentencepiece.SentencePieceProcessor(model_proto=model)
    for r in rows: assert p.encode(r["text"]) == r["ids"][r["add_special"]:], (r, p.encode(r["text"]))
    return rows

def texts():
    r = random.Random(20)
    page = open(os.path.join(HERE, "text.txt"), encoding="utf-8").read()
    fixed = ["", " ", "  ", "\n", "\r\n", "\t\tx", "a", " a", "a ", "a  b", "The cat sat", "The cat sat on the mat.", "It's we'LL they'Re I'd", "10 cats, 1234 rats",
        "na\u00efve caf\u00e9", "cafe\u0301 cafe\u0301s", "\u20ac5", "\U0001f600\U0001f468\u200d\U0001f469", "\u4eba\u5de5", "\u0645\u0631\u062d\u0628\u0627", "a\u00a0b\u3000c", "\u180e x",
        "<|endoftext|>", "a<|begin|> b", "<|begin|>twice", "x  <|turn|>  y", "cat cats cat! concat", "<|begin|", "\u0000", "tab\tend \n\n\n  x", "'s 's's", "!!!...\n\n", " \n x",
        "\u1e69 s\u0323\u0307", "\ufb01", "\u2460cat \u24d0cat", "supercalifragilistic"]
    more = []
    for _ in range(60):
        a = r.randrange(len(page)); more.append(page[a:a + r.randrange(1, 120)])
    alphabet = ["the", "cat", " ", " ", "\n", "e\u0301", "\u00e9", "9", "'s", "\u20ac", "<|begin|>", "<|turn|>", "caf\u00e9", "X", ".", "\u00a0"]
    for _ in range(60): more.append("".join(r.choice(alphabet) for _ in range(r.randrange(1, 14))))
    return fixed + more

def alphabet():
    b = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256)); c = b[:]; k = 0
    for x in range(256):
        if x not in b: b.append(x); c.append(256 + k); k += 1
    return {chr(y): x for x, y in zip(b, c)}

def answers(description, bytewise=True):
    tok, out, streams = Tokenizer.from_str(json.dumps(description)), [], []
    special = {t["id"] for t in description["added_tokens"] if t["special"]}
    extra = {t["id"]: t["content"].encode() for t in description["added_tokens"]}
    back = alphabet(); words = {i: w for w, i in description["model"]["vocab"].items()}
    def spell(i): return extra[i] if i in extra else bytes(back[c] for c in words[i])
    r = random.Random(21)
    for k, text in enumerate(texts() + ([] if bytewise else ["<tool>", "x <tool> y<s>", "  <s>a", "\u2581\u2581cat", "<0x41>A", "\u4e2d\u6587 cat", "\U0001f408<tool>\U0001f408"])):
        for add, parse in {(False, bool(k % 2)), (bool(k % 3 == 0), True)}:
            tok.encode_special_tokens = not parse
            ids = tok.encode(text, add_special_tokens=add).ids
            out.append({"text": text, "add_special": add, "parse_special": parse, "ids": ids})
        skip = bool(k % 2)
        if not bytewise:
            out.append({"ids": ids, "skip_special": skip, "hex": tok.decode(ids, skip_special_tokens=skip).encode().hex()}); continue
        raw = b"".join(spell(i) for i in ids if not (skip and i in special))
        assert raw.decode("utf-8", "replace") == tok.decode(ids, skip_special_tokens=skip), text
        out.append({"ids": ids, "skip_special": skip, "hex": raw.hex()})
    for _ in range(40 if bytewise else 0):
        ids = [r.randrange(1, len(words)) for _ in range(r.randrange(1, 20))]
        d, chunks, held = codecs.getincrementaldecoder("utf-8")("surrogateescape"), [], b""
        for i in ids:
            d.decode(spell(i)); now = d.getstate()[0]; all_ = held + spell(i)
            chunks.append(all_[:len(all_) - len(now)].hex()); held = now
        streams.append({"ids": ids, "chunks": chunks, "flush": held.hex()})
    return out, streams

def lines(rows): return "".join(json.dumps(r, ensure_ascii=True) + "\n" for r in rows)
def files():
    plain, llama = forms(); made = {}
    made["llama/tokenizer.json"] = json.dumps(llama, ensure_ascii=False, indent=1) + "\n"
    vocab = json.dumps(plain["model"]["vocab"], ensure_ascii=True) + "\n"; merges = "#version: 0.2\n" + "".join(m + "\n" for m in plain["model"]["merges"])
    made["two-files/vocab.json"] = made["other-names/encoder.json"] = vocab
    made["two-files/merges.txt"] = made["other-names/vocab.bpe"] = merges
    for name, d in (("plain", plain), ("llama", llama)):
        a, b = answers(d); made[name + "/cases.jsonl"] = lines(a); made[name + "/stream.jsonl"] = lines(b)
    for name, d in zip(("pieces", "spaces"), pieces()):
        made[name + "/tokenizer.json"] = json.dumps(d, ensure_ascii=False, indent=1) + "\n"
        made[name + "/cases.jsonl"] = lines(answers(d, False)[0])
    vocab = pieces()[0]["model"]["vocab"]
    made["pieces-model/tokenizer.model"] = protobuf(vocab)
    made["pieces-model/cases.jsonl"] = lines(model_rows(made["pieces-model/tokenizer.model"], [json.loads(r) for r in made["pieces/cases.jsonl"].splitlines()]))
    return {name: text if isinstance(text, bytes) else text.encode() for name, text in made.items()}

wrong = 0
for name, text in files().items():
    path = os.path.join(HERE, name)
    if sys.argv[1:] == ["check"]:
        if open(path, "rb").read() != text: print(name, "differs"); wrong = 1
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True); open(path, "wb").write(text)
sys.exit(wrong)
