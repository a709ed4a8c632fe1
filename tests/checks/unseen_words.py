#!/usr/bin/env python3
"""unseen_words.py [-n N] [--seed S] [--keep DIR] -- tokenizers that nobody has seen. N files tokenizer.json, put together by chance from the parts that the format has
(models, normalizers, pre-tokenizers, added tokens, templates, decoders) and learnt from texts of this book, are read by the makers' library and by incipit: the ids
of random texts and the texts of random ids must be the same. A file that incipit refuses is counted by the words of the refusal. Needs the package tokenizers."""
import argparse, collections, glob, json, os, random, re, select, shutil, signal, subprocess, sys, tempfile, unicodedata
from tokenizers import Tokenizer, models, trainers, pre_tokenizers, normalizers
INCIPIT = os.path.join(os.environ.get("BUILD", "build"), "incipit")
BLOCK = "\u2581"

# ---- texts
PAGES = "".join(open(p, encoding="utf-8").read() for p in sorted(glob.glob("docs/*.md")) + ["tests/golden/tokenizers/text.txt"])
OTHER = ("Die Straße führt über den Fluß; Ärger mit Öl. Où est l'été à Nîmes ? ¿Qué año? Привет, мир! Ещё раз. Γειά σου Κόσμε. שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดีชาวโลก こんにちは世界 カタカナ ー 漢字 你好，世界！"
  "한국어 텍스트 tiếng Việt İstanbul ıI ǅ ﬁ ﬂ Ⅷ ½ ² ① ａｂｃ １２３ e\u0301 a\u0308\u0323 \u1112\u1161\u11ab 👩‍👩‍👧‍👦 🇩🇪 ❤️ 👍🏽 ∑∞≠ €$£¥ “quotes” ‘x’ — – … ·•† ")
RARE = "\u0000\u0001\t\n\r\x0b\x0c\x1c\x1f\x7f\x85\u00a0\u00ad\u1680\u180e\u2000\u2003\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\ufffc\ufffd\U000e0001\U0001f600\ud7ff\ue000\U0010ffff\u0345\u0300\u0327\u0903\u09cb\u0b57\u1e9e\u0130\u0131\u03a3\u03c2\u212b\u2126\ufb01\u0675\u0e33\u3164"
def piece(r, words, tokens):
    k = r.random()
    if k < 0.35: return r.choice(words)
    if k < 0.45: return " " * r.randint(1, 4)
    if k < 0.5: return r.choice(["\n", "\n\n", " \n", "\t", "\r\n", "  \n ", "\n  "])
    if k < 0.58: i = r.randrange(len(OTHER)); return OTHER[i:i + r.randint(1, 8)]
    if k < 0.63: return r.choice(RARE)
    if k < 0.68: return str(r.randrange(10 ** r.randint(1, 8)))
    if k < 0.76: return "".join(r.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(r.randint(1, 3)))
    if k < 0.8: # no place that only a later Unicode has filled
        c = chr(r.choice([r.randrange(32, 0x250), r.randrange(0x250, 0xd800), r.randrange(0xe000, 0x11000), r.randrange(0x11000, 0x20000)]))
        return c if unicodedata.category(c) != "Cn" else "?"
    if k < 0.84: return r.choice(["'s", "'re", "'LL", "don't", BLOCK, BLOCK * 2, "<0x0A>", "<unk>", "İ", "ß", "A"])
    if tokens and k < 0.97:
        t = r.choice(tokens)
        return r.choice([t, t, " " + t, t + " ", t + t, "  " + t + "  ", t[:-1], "a" + t, t + "1", t.upper(), t + "\n"])
    return r.choice(words).upper()
def text(r, words, tokens):
    n = r.choice([0, 1, 1, 2, 3, 5, 8, 12, 20])
    return "".join(piece(r, words, tokens) + (" " if r.random() < 0.4 else "") for _ in range(n))

# ---- parts
SPLITS = [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
  r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
  r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
  r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
  r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
  r"\s+", r"\d", r"\w+|[^\w\s]+", r"[\r\n]", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\b", r"[0-9][0-9][0-9]", r"(\p{L}|\p{M})+", r".", r"\S+\s?", r"[^\S\n]+", r"[a-c[x-z.]\d]+"]
BEHAVE = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
def split(r):
    pattern = {"Regex": r.choice(SPLITS)} if r.random() < 0.8 else {"String": r.choice([" ", ".", "e", "\n", "th", "  ", "|"])}
    return {"type": "Split", "pattern": pattern, "behavior": r.choice(["Isolated", "Isolated"] + BEHAVE), "invert": r.random() < 0.2}
def stage(r):
    k = r.choice(["Split", "Split", "Split", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"])
    if k == "Split": return split(r)
    if k == "Digits": return {"type": k, "individual_digits": r.random() < 0.5}
    if k == "Punctuation": return {"type": k, "behavior": r.choice(BEHAVE)}
    return {"type": k}
def metaspace(r):
    return {"type": "Metaspace", "replacement": BLOCK, "prepend_scheme": r.choice(["always", "first", "never"]), "split": r.random() < 0.7}
def normal(r):
    k = r.choice(["NFC", "NFC", "NFKC", "NFD", "NFKD", "StripAccents", "Lowercase", "Strip", "Nmt", "Replace", "Replace", "Prepend"])
    if k == "Strip": return {"type": k, "strip_left": r.random() < 0.5, "strip_right": r.random() < 0.5}
    if k == "Replace": return {"type": k, "pattern": r.choice([{"String": " "}, {"String": "a"}, {"Regex": " {2,}"}, {"Regex": r"\s+"}, {"Regex": r"[0-9]+"}, {"String": "``"}]), "content": r.choice([BLOCK, " ", "", "0", "xy"])}
    if k == "Prepend": return {"type": k, "prepend": r.choice([BLOCK, " ", "ab"])}
    return {"type": k}
def sequence(r, name, key, parts):
    if not parts: return None
    return parts[0] if len(parts) == 1 and r.random() < 0.7 else {"type": "Sequence", key: parts}

_learnt = {}
def learnt(kind, size):
    """a model of this kind, learnt once"""
    if (kind, size) in _learnt: return json.loads(_learnt[kind, size])
    t = Tokenizer(models.Unigram() if kind == "unigram" else models.BPE())
    if kind == "bytes":
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    else:
        t.normalizer, t.pre_tokenizer = normalizers.Replace(" ", BLOCK), pre_tokenizers.Metaspace()
        if kind == "unigram": trainer = trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
        else: trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False, limit_alphabet=120)
    t.train_from_iterator([p for p in re.split(r"(?<=\n)\n", PAGES + OTHER)], trainer)
    m = json.loads(t.to_str())["model"]
    _learnt[kind, size] = json.dumps(m)
    return json.loads(_learnt[kind, size])

def widen(m, kind):
    """room for 256 bytes"""
    names = ["<0x%02X>" % b for b in range(256)]
    if kind == "unigram": m["vocab"] = m["vocab"][:1] + [[n, -20.0] for n in names] + m["vocab"][1:]
    else:
        words = sorted(m["vocab"], key=m["vocab"].get)
        m["vocab"] = {w: i for i, w in enumerate(words[:1] + names + words[1:])}

def make(r):
    kind = r.choice(["bytes", "bytes", "chars", "unigram"])
    m = learnt(kind, r.choice([300, 500, 900]) if kind == "bytes" else r.choice([250, 600]))
    tags = [kind]
    f = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": m}
    parts = []
    if r.random() < (0.4 if kind == "bytes" else 0.7): parts = [normal(r) for _ in range(r.choice([1, 1, 2, 3]))]
    if kind == "bytes":
        if r.random() < 0.5: m["ignore_merges"] = True
        pre = [stage(r) for _ in range(r.choice([0, 1, 1, 1, 2, 3]))]
        pre.append({"type": "ByteLevel", "add_prefix_space": r.random() < 0.3, "trim_offsets": r.random() < 0.5, "use_regex": r.random() < (0.8 if len(pre) == 0 else 0.3)})
        if r.random() < 0.25: # as Falcon: stages that see the letters of the bytes
            pre += [x for x in (stage(r) for _ in range(r.choice([1, 2]))) if x["type"] != "UnicodeScripts"]
        if r.random() < 0.05: pre = [{"type": "Punctuation", "behavior": "Contiguous"}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}, {"type": "Digits", "individual_digits": False},
          {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False}]
        f["decoder"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        if r.random() < 0.2: f["decoder"] = {"type": "Sequence", "decoders": [f["decoder"]]}
    else:
        if kind == "chars":
            m.update(unk_token="<unk>" if r.random() < 0.9 else None, fuse_unk=r.random() < 0.5, byte_fallback=r.random() < 0.5)
            if m["byte_fallback"]: widen(m, kind)
            if r.random() < 0.3: m["ignore_merges"] = True
        else:
            m["byte_fallback"] = r.random() < 0.5
            if m["byte_fallback"]: widen(m, kind)
        way = r.choice(["metaspace", "llama", "plain"])
        pre = [stage(r) for _ in range(r.choice([0, 0, 0, 1, 2]))]
        decoders = [{"type": "ByteFallback"}, {"type": "Fuse"}]
        if way == "metaspace":
            one = metaspace(r)
            pre.insert(r.randint(0, len(pre)), one)
            f["decoder"] = r.choice([one, {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, one]}, {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": BLOCK}, "content": " "}] + decoders}])
        else:
            if way == "llama":
                if r.random() < 0.7: parts.append({"type": "Prepend", "prepend": BLOCK})
                parts.append({"type": "Replace", "pattern": {"String": " "}, "content": BLOCK})
            f["decoder"] = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": BLOCK}, "content": " "}] + decoders + r.choice([[], [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]])}
        tags.append(way)
    f["normalizer"] = sequence(r, "Sequence", "normalizers", parts)
    f["pre_tokenizer"] = sequence(r, "Sequence", "pretokenizers", pre)
    words = list(m["vocab"]) if isinstance(m["vocab"], dict) else [w for w, _ in m["vocab"]]
    next_id = len(words)
    if "<unk>" in words and r.random() < 0.7:
        f["added_tokens"].append(dict(id=words.index("<unk>"), content="<unk>", single_word=False, lstrip=False, rstrip=False, normalized=False, special=True))
    for c in r.sample(["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|im", "[INST]", "<tool>", "Incipit", "the", "  ", "\n\n", "É", "<|a b|>", "straße", "e\u0301", "_x_", "1", "<mask>"], r.choice([0, 2, 4, 8])):
        inside = c in words
        f["added_tokens"].append(dict(id=words.index(c) if inside else next_id, content=c, single_word=r.random() < 0.2, lstrip=r.random() < 0.2, rstrip=r.random() < 0.2, normalized=r.random() < 0.4 and not c.isspace(), special=r.random() < 0.5))
        next_id += not inside
    f["added_tokens"].sort(key=lambda a: a["id"])
    tokens = [a["content"] for a in f["added_tokens"]]
    special = [a for a in f["added_tokens"] if a["special"]]
    post = []
    if special and r.random() < 0.6:
        a, b = r.choice(special), r.choice(special)
        name = lambda a: {"SpecialToken": {"id": a["content"], "type_id": 0}}
        single = r.choice([[name(a), {"Sequence": {"id": "A", "type_id": 0}}], [{"Sequence": {"id": "A", "type_id": 0}}, name(b)], [name(a), name(a), {"Sequence": {"id": "A", "type_id": 0}}, name(b)]])
        post.append({"type": "TemplateProcessing", "single": single, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
          "special_tokens": {x["content"]: {"id": x["content"], "ids": [x["id"]], "tokens": [x["content"]]} for x in (a, b)}})
        if r.random() < 0.2: post = [{"type": r.choice(["RobertaProcessing"]), "sep": [b["content"], b["id"]], "cls": [a["content"], a["id"]], "trim_offsets": True, "add_prefix_space": False}]
    if kind == "bytes" and r.random() < 0.4: post.insert(0, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True})
    f["post_processor"] = sequence(r, "Sequence", "processors", post)
    if r.random() < 0.1: m["dropout"] = 0.0 if kind != "unigram" else None
    if kind == "unigram": m.pop("dropout", None)
    else:
        for k in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
            if r.random() < 0.3 and m.get(k) is None: m.pop(k, None)
    return f, tokens, tags

def names(f):
    """what a file has, for the count"""
    out = set()
    def walk(v):
        if isinstance(v, dict):
            if isinstance(v.get("type"), str):
                n = v["type"]
                if n == "Split" or n == "Punctuation": n += " " + v["behavior"] + (" inverted" if v.get("invert") else "")
                if n == "Metaspace": n += " " + v["prepend_scheme"] + ("" if v["split"] else " whole")
                if n == "ByteLevel" and "use_regex" in v and not v["use_regex"]: n += " without regex"
                out.add(n)
            for x in v.values(): walk(x)
        elif isinstance(v, list):
            for x in v[:50]: walk(x)
    for k in ("normalizer", "pre_tokenizer", "post_processor", "decoder"): walk(f[k])
    for a in f["added_tokens"]:
        for k in ("lstrip", "rstrip", "single_word", "normalized", "special"):
            if a[k]: out.add("added: " + k)
    for k in ("byte_fallback", "fuse_unk", "ignore_merges", "unk_token"):
        if f["model"].get(k): out.add("model: " + k)
    return out

def ours(kind, path, lines):
    p = subprocess.run([INCIPIT, "probe", kind, "--vocab", path], input="".join(json.dumps(x) + "\n" for x in lines), capture_output=True, text=True, timeout=300)
    if p.returncode != 0: return p.stderr.strip()
    return [json.loads(x) for x in p.stdout.split("\n") if x]

def encoded(t, x, add):
    """null where the makers' library gives up: it panics at neighbouring tokens that both strip white space"""
    try: return t.encode(x, add_special_tokens=add).ids
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt): raise
        return None
def compare(path, f, tokens, r, count):
    try: t = Tokenizer.from_file(path)
    except Exception as e: return "theirs", str(e)[:200]
    words = PAGES.split()[:3000]
    kind, unk = "Unigram" if f["model"].get("unk_id") is not None else "bytes" if "ByteLevel" in json.dumps(f["decoder"]) else "chars", f["model"].get("unk_token")
    if kind == "Unigram": unk = "<unk>"
    texts = [text(r, words, tokens) for _ in range(count)]
    for parse in (True, False):
        t.encode_special_tokens = not parse
        for add in (True, False):
            want = [encoded(t, x, add) for x in texts]
            got = ours("tokenize", path, [{"text": x, "add_special": add, "parse_special": parse} for x in texts])
            if isinstance(got, str): return "refused", got
            for x, a, b in zip(texts, want, got):
                if "error" in b and kind != "bytes" and unk is None: continue # the makers' library drops what it cannot spell
                if a is not None and b.get("ids") != a:
                    o = b.get("ids", [])
                    k = next((k for k in range(min(len(a), len(o))) if a[k] != o[k]), min(len(a), len(o)))
                    return "wrong", "%r (parse %s, add %s): from %d on theirs %s, ours %s" % (x, parse, add, k, a[k:k + 12], b.get("error", o[k:k + 12]))
    V = t.get_vocab_size()
    # the makers' library decodes a normalized token as its normal form, and then does not know that it is special; ours is the text in the file
    changed = {a["id"] for a in f["added_tokens"] if t.id_to_token(a["id"]) != a["content"]}
    rows = [encoded(t, x, True) or [] for x in texts[:count // 2]] + [[r.randrange(V) for _ in range(r.randint(0, 12))] for _ in range(count // 2)]
    for skip in (True, False):
        got = ours("detokenize", path, [{"ids": x, "skip_special": skip} for x in rows])
        if isinstance(got, str): return "refused", got
        for x, b in zip(rows, got):
            a = t.decode(x, skip_special_tokens=skip)
            if "text" not in b: return "wrong", "decode %s: %s" % (x, b)
            if changed & set(x): continue
            if "\ufffd" in a or "\ufffd" in b["text"]: continue # bytes that are no text: the page on the protocol decides
            if b["text"] != a: return "wrong", "decode %s (skip %s): theirs %r, ours %r" % ([(i, t.id_to_token(i)) for i in x], skip, a, b["text"])
    return "same", None

def patiently(*what):
    """the comparison in a process of its own: the makers' library can fall into a loop, in which it hears no signal"""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try: answer = compare(*what)
        except Exception as e: answer = ("theirs", "%s: %s" % (type(e).__name__, e))
        os.write(there, json.dumps(answer).encode()[:60000])
        os._exit(0)
    os.close(there)
    ready = select.select([here], [], [], 120)[0]
    answer = json.loads(os.read(here, 60000) or b'["theirs", "it died"]') if ready else ("theirs", "it takes longer than two minutes")
    if not ready: os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0); os.close(here)
    return answer

def main():
    a = argparse.ArgumentParser()
    a.add_argument("-n", type=int, default=40); a.add_argument("--first", type=int, default=0); a.add_argument("--seed", type=int, default=1); a.add_argument("--texts", type=int, default=60); a.add_argument("--keep")
    a = a.parse_args()
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2) # the panics of the makers' library
    total, by, reasons = collections.Counter(), collections.defaultdict(collections.Counter), collections.Counter()
    for i in range(a.first, a.first + a.n):
        r = random.Random("words %d %d" % (a.seed, i))
        f, tokens, tags = make(r)
        where = os.path.join(a.keep, "words-%d" % i) if a.keep else tempfile.mkdtemp()
        os.makedirs(where, exist_ok=True)
        path = os.path.join(where, "tokenizer.json")
        json.dump(f, open(path, "w"))
        what, why = patiently(path, f, tokens, r, a.texts)
        total[what] += 1
        for n in names(f) | set(tags): by[n][what] += 1
        if what == "refused": reasons[re.sub(r"^.*?tokenizer.json: ", "", why)[:150]] += 1
        elif what != "same": print("%d: %s: %s" % (i, what, why[:700]), flush=True)
        if not a.keep or what in ("same", "theirs"): shutil.rmtree(where)
    for n in sorted(by): print("%-34s %s" % (n, ", ".join("%s %d" % x for x in sorted(by[n].items()))))
    for n, k in reasons.most_common(): print("refused %d: %s" % (k, n))
    print("all: %s; %d texts each" % (", ".join("%s %d" % x for x in sorted(total.items())), a.texts))
    return 1 if total["wrong"] else 0
if __name__ == "__main__": sys.exit(main())
