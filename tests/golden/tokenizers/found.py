#!/usr/bin/env python3
"""found.py -- tokenizers as they are found, by the packages that made them: names in GGUF files, stages of a tokenizer.json.
usage: python3 found.py                        writes cuts.jsonl, stages.jsonl, and the cases of unigram/ and unigram-model/
       python3 found.py check                  computes it again and compares; status 77 where the package is missing
       python3 found.py compare INCIPIT [N]    N (2000) texts for each kind through both, and counts; what differs is printed
cuts.jsonl: {"pre": a name of tokenizer.ggml.pre, "text", "cuts": where the pieces end, in bytes}.  The patterns here are those of the
published tokenizers, in their own notation and for their own library; the engine has them in another one.
stages.jsonl: {"base": a folder here, "change": what is put into its tokenizer.json, "cases": [[a text, its ids], ...]}.
unigram-model/tokenizer.model was learnt from text.txt by SentencePiece with a small map of characters of its own, unigram/tokenizer.json
has the same pieces and map in the other form (python3 found.py learn makes both again)."""
import base64, json, os, random, struct, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
try:
    import tokenizers
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError:
    print("the Python package tokenizers is not installed"); sys.exit(77)

# ---- how the names cut
END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = END + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = END + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN35 = END + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CASES = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
TEKKEN = CASES % ("", "") + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = CASES % (END + "?", END + "?") + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
YOUTU = O200K.replace(r"\p{N}{1,3}", r"\p{N}")
KIMI = r"[\p{Han}]+|" + O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace(r"[\r\n/]*", r"[\r\n]*")
JAIS2 = LLAMA3.replace(r"\s+(?!\S)|\s+", "|".join(r"\s{%d}(?!\S)" % n for n in (512, 256, 128, 64, 32, 16, 8, 4)) + r"|\s{1,2}(?!\S)|\s{1}")
SEED = END + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}" + "\r\n" + r"]+|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+"
BAILING = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
EXAONE = END + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
SIGN = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^""" + "\r\n" + r"""\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"""
KANA, ASIAN = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
V3 = ["\\p{N}{1,3}", KANA, SIGN + r"[" + "\r\n" + r"]*|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+"]
BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
CASED = ("A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c"
    "\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15"
    "\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec"
    "\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b"
    "\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943")
PUNCT, FALCON = r"[\p{P}\$\+<=>\^~\|`]+", GPT2[:-len(r"|\s+")]
NAMES = {"gpt-2 phi-2 olmo mpt exaone4 mellum jais trillion gigachat granite-docling a.x-4.0": [GPT2],
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2": [LLAMA3], "dbrx smaug-bpe glm4 chatglm-bpe": [LLAMA3],
    "qwen2 deepseek-r1-qwen kormo megrez": [QWEN2], "stablelm2 hunyuan grok-2 solar-open": [QWEN2], "qwen35": [QWEN35],
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": [r"\p{N}", GPT2], "tekken": [TEKKEN], "gpt-4o llama4 kanana2 talkie minimax-m2": [O200K],
    "deepseek-llm": ["[\r\n]", r"\s?[" + CASED + "]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$", ASIAN, r"\p{N}+"],
    "deepseek-coder": ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", ASIAN, r"\p{N}"], "deepseek-v3 hunyuan-dense joyai-llm hy_v4": V3,
    "spark2_5": V3[:2] + [SIGN + r"|[" + "\r\n" + r"]|\s+(?!\S)|\s+", r"\p{N}"], "falcon": [PUNCT, FALCON, "[0-9][0-9][0-9]"], "bloom poro-chat gpt3-finnish": [BLOOM],
    "viking": [BLOOM, r"\p{N}"], "chameleon": ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]", GPT2],
    "gemma4": [r"[^\n]+|[\n]+"], "sarvam-moe": [r"[^\n]+|[\n]+"], "seed-coder": [SEED], "bailingmoe bailingmoe2 llada-moe": [BAILING], "exaone-moe": [EXAONE],
    "minicpm5": [r"\p{N}{1,3}", LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}+")], "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"], "tiny_aya cohere2moe": [r"\d{1,3}(?=(?:\d{3})*\b)", O200K],
    "youtu": ["[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|" + KANA, YOUTU],
    "jais-2": [JAIS2], "ufakzeka": [QWEN2[len(END) + 1:]], "laguna": [r"[^\n]+|[\n]+", QWEN2], "kimi-k2": [KIMI],
    "default": [PUNCT.replace("`", ""), FALCON, r"\p{N}+", "[0-9][0-9][0-9]"]}
def cutter(patterns): return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in patterns])
def ends(cutter, text):
    at, cuts = 0, []
    for piece, _ in cutter.pre_tokenize_str(text): at += len(piece.encode()); cuts.append(at)
    return cuts
TEXTS = ["", " ", "  ", "\n", "\n\n \n", "The cat's hat, THEY'LL sit; don't", "camelCase HTTPServer iPhoneX McDonald's USA's", "1 12 123 1234 12345 1234567 0x1F 3.14", "12345\u0663\u0664\u00bd\u2167 a1b2",
    "  two  spaces   three\t\ttabs \n x", "a\r\nb\r\n\r\n  c\n\n\n", "x=y+z; //comment\n/* a */ #include<a.h>", "$5 <b>~^|`_ \u20ac\u00a3 \u00a7", "\u4e2d\u6587\u5b57\u7b26 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3002\uff0c", "\ud55c\uad6d\uc5b4 \uac00\ub098 \u3131\u3160",
    "caf\u00e9 e\u0301 \u00c5ngstr\u00f6m \u0130stanbul \u017f's \u212a", "\u0645\u0631\u062d\u0628\u0627 \u060c \u0928\u092e\u0938\u094d\u0924\u0947\u0964 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\U0001f600\U0001f1e9\U0001f1ea \u200d\u2764\ufe0f", "<sentinel:12> IMGIMGABZ IMGIMGABCDEZ <sentinel:x>", "a" * 5 + " " * 20 + "b", " " * 70 + "x", "\u00a0\u3000\u2028x\u0085y\u200bz",
    "\u01c5\u02b0\u00aa\u00ba\u0294 \u03a9\u1fbe\u1f7d \U0001d400\U00010400", "hello, world!ok -abc .def", "\u201cquoted\u201d \u2018x\u2019 \u2026\u2014 \uff01\uff1f", "\u3005\u3006\u3007\u30fc\u3105\u311a", "I'm we'd it's X'S 'tis ''s", "a.b,c!d?e(f)g|h", "x\u0327y\u20dd \u0903", "\u0660\u06f0\u096612 1\u20e3", "0\u306e\u30c6\u30ad\u30b9\u30c8\u3002\uff0c9 \u00a7", "x\u3006ab \u303cb"]
PARTS = TEXTS[5:] + [" ", "\n", "\r\n", "  ", "'", "'s", "\t", "0", "9", "\u0301", "\u4e00"]
def some(rnd):
    out = ""
    for _ in range(rnd.randrange(1, 6)):
        s = rnd.choice(PARTS); k = rnd.randrange(len(s)); out += s[k:k + rnd.randrange(1, 12)]
    return out
def cuts():
    rnd, lines = random.Random(47), []
    texts = TEXTS + [some(rnd) for _ in range(30)]
    for names, patterns in NAMES.items():
        c = cutter(patterns)
        for t in texts: lines.append(json.dumps({"pre": names.split()[0], "text": t, "cuts": ends(c, t)}, separators=(",", ":")))
    return lines

# ---- many texts through both
def strange(rnd): # characters of all kinds, those of a script in runs
    out = ""
    while len(out) < rnd.randrange(1, 60):
        base = rnd.choice((0x20, 0xa0, 0x300, 0x370, 0x400, 0x590, 0x600, 0x900, 0xe00, 0x1100, 0x1e00, 0x1f00, 0x2000, 0x2150, 0x2460, 0x3000, 0x3130, 0x4e00, 0xac00, 0xfb00, 0xff00, 0x10400, 0x1d400, 0x1f300, 0x20000, 0xf900))
        for _ in range(rnd.randrange(1, 6)):
            c = base + rnd.randrange(0x100)
            if not 0xd800 <= c < 0xe000: out += chr(c)
    return out
def texts(n, seed=1):
    rnd = random.Random(seed)
    page = lambda name: open(os.path.join(ROOT, name), encoding="utf-8").read()
    english, readme, code = page("tests/golden/tokenizers/text.txt"), page("README.md"), page("tests/suites/check_tokenizer.c") + page("tests/golden/tokenizers/found.py")
    def cut(s): k = rnd.randrange(len(s)); return s[k:k + rnd.randrange(1, 120)]
    kinds = [lambda: strange(rnd), lambda: some(rnd), lambda: cut(english), lambda: cut(readme), lambda: cut(code)]
    return [kinds[i % len(kinds)]() for i in range(n)]
def ask(incipit, vocabulary, texts, add=False):
    """the ids of each text by the engine; a refusal ends the program"""
    lines = "".join(json.dumps({"text": t, "add_special": add, "parse_special": False}) + "\n" for t in texts)
    p = subprocess.run([incipit, "probe", "tokenize", "--vocab", vocabulary], input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0: print(vocabulary, p.stderr.decode()[-300:]); return None
    return [json.loads(l).get("ids") for l in p.stdout.decode().splitlines()]
def count(what, theirs, ours, texts):
    good = sum(a == b for a, b in zip(theirs, ours or [])) if ours else 0
    print("%-60s %d of %d" % (what, good, len(texts)))
    for t, a, b in list(zip(texts, theirs, ours or [])):
        if a != b: print("   ", ascii(t[:200]), a[:20], b and b[:20]); break
    return good == len(texts)
def string(s): b = s.encode(); return struct.pack("<Q", len(b)) + b
def gguf(path, keys):
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    for k, v in keys:
        out += string(k)
        if isinstance(v, str): out += struct.pack("<I", 8) + string(v)
        elif isinstance(v, bool): out += struct.pack("<IB", 7, v)
        elif isinstance(v, int): out += struct.pack("<II", 4, v)
        elif v and isinstance(v[0], str): out += struct.pack("<IIQ", 9, 8, len(v)) + b"".join(map(string, v))
        elif v and isinstance(v[0], float): out += struct.pack("<IIQ", 9, 6, len(v)) + struct.pack("<%df" % len(v), *v)
        else: out += struct.pack("<IIQ", 9, 5, len(v)) + struct.pack("<%di" % len(v), *v)
    open(path, "wb").write(out)
# ---- stages of a tokenizer.json
LOW = "\u2581"
def split(regex, how, invert=False, kind="Regex"): return {"type": "Split", "pattern": {kind: regex}, "behavior": how, "invert": invert}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
def before(*stages): return {"type": "Sequence", "pretokenizers": list(stages) + [BYTES]}
def form(*names): return {"type": "Sequence", "normalizers": [n if isinstance(n, dict) else {"type": n} for n in names]}
HOW = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
CHANGES = [("plain", {"normalizer": {"type": n}}) for n in ("NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Lowercase", "Nmt")] + [
    ("plain", {"normalizer": form("NFD", "StripAccents", "Lowercase")}), ("plain", {"normalizer": form("NFKD", "Lowercase", {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Strip", "strip_left": True, "strip_right": True})})] + [
    ("plain", {"normalizer": {"type": "Strip", "strip_left": l, "strip_right": r}}) for l, r in ((True, False), (False, True), (True, True))] + [
    ("plain", {"pre_tokenizer": before(split(p, how))}) for p in ("\\s", "[aeiou]") for how in HOW] + [
    ("plain", {"pre_tokenizer": before(split("[aeiou]+|\\d", how, True))}) for how in HOW] + [("plain", {"pre_tokenizer": before(split(" ", "MergedWithPrevious", False, "String"))})] + [
    ("plain", {"pre_tokenizer": before({"type": "Punctuation", "behavior": how})}) for how in HOW] + [("plain", {"pre_tokenizer": before({"type": "Digits", "individual_digits": i})}) for i in (True, False)] + [
    ("plain", {"pre_tokenizer": before({"type": t})}) for t in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")] + [
    ("plain", {"post_processor": {"type": t, "sep": ["a", 65], "cls": ["b", 66]} | ({"trim_offsets": True, "add_prefix_space": True} if t[0] == "R" else {})}) for t in ("RobertaProcessing", "BertProcessing")] + [
    ("plain", {"pre_tokenizer": before(split(p, "Isolated"))}) for p in ("\\w+|[^\\w\\s]+", "\\b", "\\B\\w", "^\\w+|\\w+$", "(?i)THE|[A-Z]", "\\d{1,2}+", "a{2}?b|\\h", "[a-z&&[^aeiou]]+", "[A-Z&&[AEIOU]]", "(?:ab|c){2}+x?", "\\p{Greek}+|\\p{Han}", "\\A.|.\\z", "[[:alpha:]]+")] + [
    ("plain", {"added_tokens": [{"id": 300, "content": "a", "single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}]})]
FALCON_STAGES = {"type": "Sequence", "pretokenizers": [{"type": "Punctuation", "behavior": "Contiguous"}, BYTES | {"use_regex": True}, {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]", "Isolated")]}
CHANGES += [("plain", {"pre_tokenizer": FALCON_STAGES})] + [("plain", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] + list(more)}}) for more in
    ([split("[aeiou]", "MergedWithNext"), {"type": "Punctuation", "behavior": "Isolated"}], [{"type": "Digits", "individual_digits": True}], [split("\u0120", "Removed", False, "String"), {"type": "Whitespace"}])] + [
    ("plain", {"pre_tokenizer": before(split(p, "Isolated"))}) for p in (" ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+", "[a-c[x-z.]\\d]+", "[[aeiou]]|[[:digit:][a-f]]{2}")] + [
    ("plain", {"pre_tokenizer": before(split("\\b", "Contiguous"))})]
def changed(base, change):
    file = json.load(open(os.path.join(HERE, base, "tokenizer.json"), encoding="utf-8"))
    for k, v in change.items():
        if k == "model": file[k].update(v)
        else: file[k] = v
    return file
def stages():
    rnd, lines = random.Random(48), []
    few = [t for t in TEXTS if len(t) < 60] + [some(rnd) for _ in range(6)] + ["The cat\nsat, the CATS\n", "aab aaab THE the\n\nA1b22c333 \u00e9t\u00e9 E\u0301\u0327 \u0130I", "\ufb01 \u00bd \u33a5 \uff21\uff11 \u2460 \ufdfa", "\x07a\u200bb\ufeffc\ufffd \x0b"]
    for base, change in CHANGES:
        try: t = Tokenizer.from_str(json.dumps(changed(base, change)))
        except Exception as e: print(json.dumps(change)[:90], e); continue
        t.encode_special_tokens = True
        add = "post_processor" in change
        lines.append(json.dumps({"base": base, "change": change, "add_special": add, "cases": [[x, t.encode(x, add_special_tokens=add).ids] for x in few]}, separators=(",", ":")))
    return lines
def compare_stages(incipit, folder, n):
    ok, asked = True, texts(n, seed=3)
    for base, change in CHANGES:
        file = changed(base, change); t = Tokenizer.from_str(json.dumps(file)); t.encode_special_tokens = True
        path = os.path.join(folder, "tokenizer.json"); json.dump(file, open(path, "w"))
        add = "post_processor" in change
        ok = count(json.dumps(change)[:120], [e.ids for e in t.encode_batch(asked, add_special_tokens=add)], ask(incipit, path, asked, add), asked) and ok
    return ok

# ---- Unigram, in both forms
def varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift; shift += 7; at += 1
        if b[at - 1] < 128: return n, at
def message(b):
    at = 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 0: v, at = varint(b, at)
        elif key & 7 == 2: n, at = varint(b, at); v = b[at:at + n]; at += n
        else: n = 4 if key & 7 == 5 else 8; v = b[at:at + n]; at += n
        yield key >> 3, v
def other_form(model, first=()):
    """the tokenizer.json that transformers makes of a model of SentencePiece"""
    pieces, charsmap, unk, fallback = [], b"", 0, False
    for k, v in message(model):
        if k == 1:
            f = dict(message(v)); pieces.append((f[1].decode(), struct.unpack("<f", f[2])[0] if 2 in f else 0.0, f.get(3, 1)))
        if k == 2: f = dict(message(v)); unk, fallback = f.get(40, 0), bool(f.get(35, 0))
        if k == 3: charsmap = dict(message(v)).get(2, b"")
    forms = ([{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}] if charsmap else []) + [{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
    meta = {"type": "Metaspace", "replacement": LOW, "prepend_scheme": "always", "split": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, (w, _, t) in enumerate(pieces) if t in (2, 3)],
        "normalizer": {"type": "Sequence", "normalizers": forms}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, meta]},
        "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}], "pair": [], "special_tokens": {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
        "decoder": meta, "model": {"type": "Unigram", "unk_id": unk, "vocab": [[w, s] for w, s, _ in pieces], "byte_fallback": fallback}}
def learn(lesson, folder, **wishes):
    import sentencepiece
    path = os.path.join(folder, "lesson.txt"); open(path, "w", encoding="utf-8").write("\n".join(l.replace("\n", " ").replace("\r", " ") for l in lesson) + "\n")
    sentencepiece.SentencePieceTrainer.train(input=path, model_prefix=os.path.join(folder, "m"), minloglevel=2, num_threads=1, **({"model_type": "unigram"} | wishes))
    return open(os.path.join(folder, "m.model"), "rb").read()
def learn_small():
    with tempfile.TemporaryDirectory() as folder:
        tsv = os.path.join(folder, "rules.tsv") # what becomes what, in hexadecimal
        open(tsv, "w").write("41\t61\n42\t62\n54\t74\n65 301\tE9\nFB01\t66 69\nBD\t31 2044 32\n9\t20\nA\t20\n3000\t20\n200B\t\n41 301\tE1\nAD\t\n")
        page = open(os.path.join(HERE, "text.txt"), encoding="utf-8").read().split("\n")
        model = learn(page, folder, vocab_size=160, normalization_rule_tsv=tsv, user_defined_symbols=["<tool>", "ing"], hard_vocab_limit=False)
    os.makedirs(os.path.join(HERE, "unigram-model"), exist_ok=True); os.makedirs(os.path.join(HERE, "unigram"), exist_ok=True)
    open(os.path.join(HERE, "unigram-model", "tokenizer.model"), "wb").write(model)
    json.dump(other_form(model), open(os.path.join(HERE, "unigram", "tokenizer.json"), "w", encoding="utf-8"), ensure_ascii=False, separators=(",", ":"))
SPELT = ["the cat sat on the mat", "The Table  Above\tan A\u0301 e\u0301 \ufb01sh \u00bd\n", "  x  ", "\u4e2d\u6587 \u4e2d", "singing <tool>ing<tool> ing", "aaaaaaaaaaaaaaaa", "<unk> x<unk>\u4e2d </s>", "\u2581the \u2581 \u2581\u2581a", "\u00ad", "\u200b \u3000", "e\u0301\u0323 \ufb01\u0301 A\u0301\u0301", "\r\nT\u200bhe"]
def unigram():
    rnd, page = random.Random(49), open(os.path.join(HERE, "text.txt"), encoding="utf-8").read()
    asked = SPELT + TEXTS + [some(rnd) for _ in range(20)] + [page[k:k + 40] for k in range(0, 2000, 97)]
    t = Tokenizer.from_file(os.path.join(HERE, "unigram", "tokenizer.json")); t.encode_special_tokens = True
    made = {"unigram/cases.jsonl": [json.dumps({"text": x, "add_special": a, "parse_special": False, "ids": t.encode(x, add_special_tokens=a).ids}, separators=(",", ":")) for x in asked for a in (False, True)]}
    made["unigram/cases.jsonl"] += [json.dumps({"ids": i, "skip_special": False, "hex": t.decode(i, skip_special_tokens=False).encode().hex()}, separators=(",", ":")) for i in (t.encode(x, add_special_tokens=False).ids for x in SPELT[:7])]
    try: import sentencepiece
    except ImportError: return made
    s = sentencepiece.SentencePieceProcessor(model_file=os.path.join(HERE, "unigram-model", "tokenizer.model"))
    made["unigram-model/cases.jsonl"] = [json.dumps({"text": x, "add_special": False, "parse_special": False, "ids": s.encode(x)}, separators=(",", ":")) for x in asked]
    return made
def compare_unigram(incipit, folder, n):
    import sentencepiece
    ok, lesson, asked = True, texts(4000, seed=9), texts(n, seed=5)
    for what, wishes in [("unigram nmt_nfkc", dict()), ("unigram nmt_nfkc, bytes", dict(byte_fallback=True)), ("unigram nfkc_cf, words of the user", dict(normalization_rule_name="nfkc_cf", user_defined_symbols=["<tool>", "the", "ing", "\u4e2d\u6587", "=="])),
            ("unigram identity, blanks kept", dict(normalization_rule_name="identity", remove_extra_whitespaces=False)), ("unigram nmt_nfkc, blanks kept, none before", dict(remove_extra_whitespaces=False, add_dummy_prefix=False, byte_fallback=True)),
            ("unigram, pieces across blanks", dict(split_by_whitespace=False)), ("bpe nmt_nfkc", dict(model_type="bpe")), ("bpe nmt_nfkc, words of the user", dict(model_type="bpe", byte_fallback=True, user_defined_symbols=["<tool>", "ing", "\ufb01"]))]:
        model = learn(lesson, folder, **({"vocab_size": 6000, "hard_vocab_limit": False, "character_coverage": 0.995} | wishes))
        path = os.path.join(folder, "m.model")
        s = sentencepiece.SentencePieceProcessor(model_file=path)
        ok = count("sentencepiece: " + what, s.encode(asked), ask(incipit, path, asked), asked) and ok
        if "model_type" in wishes: continue
        file = other_form(model); t = Tokenizer.from_str(json.dumps(file)); t.encode_special_tokens = True
        path = os.path.join(folder, "tokenizer.json"); json.dump(file, open(path, "w"))
        ok = count("tokenizers: " + what, [e.ids for e in t.encode_batch(asked, add_special_tokens=False)], ask(incipit, path, asked), asked) and ok
        file["model"]["vocab"] = [[w, -float(int(-x * 3)) / 10] for w, x in file["model"]["vocab"]] # many ties
        t = Tokenizer.from_str(json.dumps(file)); t.encode_special_tokens = True; json.dump(file, open(path, "w"))
        ok = count("tokenizers: " + what + ", ties", [e.ids for e in t.encode_batch(asked, add_special_tokens=False)], ask(incipit, path, asked), asked) and ok
    return ok

def compare_names(incipit, folder, n):
    """a vocabulary learnt with each way of cutting, so that a cut at another place gives other ids"""
    ok, lesson = True, texts(3000, seed=7)
    for names, patterns in NAMES.items():
        name = names.split()[0]; characters = name in ("gemma4", "sarvam-moe")
        t = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True) if characters else models.BPE())
        if characters: t.normalizer = normalizers.Replace(" ", "\u2581"); t.pre_tokenizer = cutter(patterns)
        else:
            t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(p), "isolated") for p in patterns] + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
            if names.split()[0] in ("qwen2", "qwen35"): t.normalizer = normalizers.NFC()
        special = ["<unk>"] + ["<0x%02X>" % b for b in range(256)] if characters else []
        t.train_from_iterator(lesson, trainers.BpeTrainer(vocab_size=9000 if characters else 3000, special_tokens=special, show_progress=False, initial_alphabet=[] if characters else pre_tokenizers.ByteLevel.alphabet()))
        file = json.loads(t.to_str())
        file["added_tokens"] = []
        whole = name in ("llama3", "tekken", "minicpm5", "youtu")
        file["model"]["ignore_merges"] = whole
        words = sorted(file["model"]["vocab"], key=file["model"]["vocab"].get)
        t = Tokenizer.from_str(json.dumps(file))
        path = os.path.join(folder, name + ".gguf")
        for each in names.split():
            gguf(path, [("tokenizer.ggml.model", "gpt2"), ("tokenizer.ggml.pre", each), ("tokenizer.ggml.tokens", words), ("tokenizer.ggml.token_type", [6 if w.startswith("<0x") else 1 for w in words]),
                ("tokenizer.ggml.merges", [" ".join(m) for m in file["model"]["merges"]]), ("tokenizer.ggml.bos_token_id", 0), ("tokenizer.ggml.add_bos_token", False)])
            asked = texts(n) if each == name else texts(100)
            ok = count("tokenizer.ggml.pre " + each, [e.ids for e in t.encode_batch(asked, add_special_tokens=False)], ask(incipit, path, asked), asked) and ok
    return ok

# ---- files of ranks: Mistral's from its package, the others from the maintainers' vocabularies, where they are
def compare_ranks(incipit, folder, n):
    ok, asked = True, texts(n, seed=4)
    try:
        import mistral_common
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
        data = os.path.join(os.path.dirname(mistral_common.__file__), "data")
        for f in sorted(f for f in os.listdir(data) if f.startswith("tekken")):
            t = Tekkenizer.from_file(os.path.join(data, f))
            ok = count(f, [t.encode(x, bos=True, eos=False) for x in asked], ask(incipit, os.path.join(data, f), asked, True), asked) and ok
    except ImportError: print("the Python package mistral-common is not installed: tekken.json was not compared")
    alphabet = {}
    for b in range(256): alphabet[chr(b if 33 <= b <= 126 or 161 <= b <= 255 and b != 173 else 256 + b if b <= 32 else 256 + 33 + b - 127 if b <= 160 else 256 + 67)] = b
    for name, lines, add in (("llama3", 128000, True), ("qwen3", 151643, False)):
        path = os.path.join(os.environ.get("SHARED", os.path.join(ROOT, "..", "shared")), "golden/tokenizers", name, "tokenizer.json")
        if not os.path.exists(path): print("no", path, "here: its ranks were not compared"); continue
        t = Tokenizer.from_file(path); t.encode_special_tokens = True
        words = {i: w for w, i in json.load(open(path, encoding="utf-8"))["model"]["vocab"].items()}
        ranks = os.path.join(folder, "ranks")
        open(ranks, "w").write("".join("%s %d\n" % (base64.b64encode(bytes(alphabet[c] for c in words[i])).decode(), i) for i in range(lines)))
        ok = count("ranks of " + name, [e.ids for e in t.encode_batch(asked, add_special_tokens=add)], ask(incipit, ranks, asked, add), asked) and ok
    return ok

def main():
    if sys.argv[1:] == ["learn"]: learn_small()
    made = {"cuts.jsonl": cuts(), "stages.jsonl": stages()} | unigram()
    if sys.argv[1:2] == ["compare"]:
        n = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
        with tempfile.TemporaryDirectory() as folder: good = [f(sys.argv[2], folder, n) for f in (compare_names, compare_stages, compare_unigram, compare_ranks)]
        return 0 if all(good) else 1
    for name, lines in made.items():
        path, text = os.path.join(HERE, name), "".join(l + "\n" for l in lines)
        if sys.argv[1:] == ["check"]:
            if open(path, encoding="utf-8").read() != text: print(name, "differs"); return 1
        else: open(path, "w", encoding="utf-8").write(text)
    return 0
if __name__ == "__main__": sys.exit(main())
