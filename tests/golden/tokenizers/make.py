#!/usr/bin/env python3
"""make.py -- what Hugging Face's `tokenizers` says about the small vocabularies of this folder.
usage: python3 make.py         writes llama/, two-files/, other-names/ and every cases.jsonl and stream.jsonl
       python3 make.py check   computes all of it again and compares; status 77 where the package is missing
text.txt is a page of our own, plain/tokenizer.json what our trainer learnt from it (a test learns it again and compares
the bytes).  The other forms are made from it.  Lines: {"text", "add_special", "parse_special", "ids"},
{"ids", "skip_special", "hex"} for decoding, {"ids", "chunks", "flush"} for streams, as in the larger golden files."""
import codecs, json, os, random, sys
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

def answers(description):
    tok, out, streams = Tokenizer.from_str(json.dumps(description)), [], []
    special = {t["id"] for t in description["added_tokens"] if t["special"]}
    extra = {t["id"]: t["content"].encode() for t in description["added_tokens"]}
    back = alphabet(); words = {i: w for w, i in description["model"]["vocab"].items()}
    def spell(i): return extra[i] if i in extra else bytes(back[c] for c in words[i])
    r = random.Random(21)
    for k, text in enumerate(texts()):
        for add, parse in {(False, bool(k % 2)), (bool(k % 3 == 0), True)}:
            tok.encode_special_tokens = not parse
            ids = tok.encode(text, add_special_tokens=add).ids
            out.append({"text": text, "add_special": add, "parse_special": parse, "ids": ids})
        skip = bool(k % 2)
        raw = b"".join(spell(i) for i in ids if not (skip and i in special))
        assert raw.decode("utf-8", "replace") == tok.decode(ids, skip_special_tokens=skip), text
        out.append({"ids": ids, "skip_special": skip, "hex": raw.hex()})
    for _ in range(40):
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
    return made

wrong = 0
for name, text in files().items():
    path = os.path.join(HERE, name)
    if sys.argv[1:] == ["check"]:
        if open(path, encoding="utf-8", newline="").read() != text: print(name, "differs"); wrong = 1
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True); open(path, "w", encoding="utf-8", newline="").write(text)
sys.exit(wrong)
