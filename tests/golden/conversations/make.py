#!/usr/bin/env python3
"""make.py -- what Hugging Face's apply_chat_template says about the conversations of this folder.
usage: python3 make.py [SHARED]     writes texts.json and ids.tsv; needs the package transformers (no torch); SHARED: ../shared
conversations.json: thirteen, and one in which a user types the marks of the templates.  templates.json: the strings, each with the model it was
published with and where it was found.  texts.json: the text that a template gives; where it
raises because of a system turn, the text without that turn.  ids.tsv: template, vocabulary,
conversation, ids.  The vocabulary `built-in' is models/pocket/tokenizer.json with the marks below added behind it, in this order; the others lie in
SHARED/golden/tokenizers.  The ids are those of apply_chat_template; those of the conversation called forged are not, as it would let the user's
marks count: there each stretch between two marks of the template is encoded with special tokens off, behind a token of ours so that it is no
beginning.  With the others the two ways are asserted to agree."""
import json, os, re, sys, tempfile
from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerFast
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../../..")
SHARED = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "../shared")
MARKS = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "[INST]", "[/INST]"]
BOS = {"llama2": "<s>", "llama3": "<|begin_of_text|>", "mistral": "<s>", "pocket": "<|endoftext|>"}
DATE = "26 Jul 2024"
WITH = {"chatml": ["qwen3"], "qwen2": ["qwen3"], "qwen2.5": ["qwen3"], "qwen3": ["qwen3"], "smollm2": ["qwen3"],
        "llama2": ["llama2-legacy", "llama2-metaspace"], "llama3": ["llama3"], "llama3.1": ["llama3"],
        "mistral": ["mistral-v3", "llama2-legacy"], "mistral-v1": ["mistral-v3", "llama2-metaspace"], "mistral-v3": ["mistral-v3"], "pocket": []}

def load(name): return json.load(open(os.path.join(HERE, name), encoding="utf-8"))
def bos(t): return next((v for k, v in BOS.items() if t.startswith(k)), "")
def built_in():
    t = load("../../../models/pocket/tokenizer.json")
    for i, m in enumerate(MARKS):
        t["added_tokens"].append(dict(id=2048 + i, content=m, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True))
    f = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
    json.dump(t, f); f.close()
    return f.name
def path(v): return built_in() if v == "built-in" else os.path.join(SHARED, "golden/tokenizers", v, "tokenizer.json")

def render(tok, jinja, c, text):
    return tok.apply_chat_template(c["turns"], chat_template=jinja, add_generation_prompt=c["reply"], tokenize=not text,
        date_string=DATE, **({} if text else {"return_dict": False}))

HIDE = {m: "".join(chr(0xF0000 + 64 * i + k) for k in range(len(m))) for i, m in enumerate(MARKS + ["<|endoftext|>"])}
def hidden(s, back=False):
    for m, h in HIDE.items(): s = s.replace(h, m) if back else s.replace(m, h)
    return s
def protected(tok, file, jinja, c):
    """the ids if only the template's own marks count"""
    c = dict(c, turns=[dict(t, content=hidden(t["content"])) for t in c["turns"]])
    text = render(tok, jinja, c, True)
    t = Tokenizer.from_file(file)
    special = [m for m in HIDE if t.token_to_id(m) is not None]
    t.add_tokens([AddedToken("\uE123", special=False, normalized=False)])
    t.encode_special_tokens = True
    ids, first = [], True
    for part in re.split("(" + "|".join(re.escape(m) for m in special) + ")", text):
        if part in special: ids.append(t.token_to_id(part)); first = False
        elif part and first: ids += t.encode(hidden(part, True), add_special_tokens=False).ids
        elif part: ids += t.encode("\uE123" + hidden(part, True), add_special_tokens=False).ids[1:]
    return ids

texts, rows = {}, []
conversations = load("conversations.json")
for o in load("templates.json"):
    name = o["template"]
    if not name: continue
    eos = "<|endoftext|>" if name == "pocket" else "</s>"
    for v in ["built-in"] + WITH[name]:
        file = path(v)
        tok = PreTrainedTokenizerFast(tokenizer_file=file, bos_token=bos(name) or None, eos_token=eos if bos(name) else None)
        for c in conversations:
            try: text = render(tok, o["text"], c, True)
            except Exception: # it takes no system turn
                c = dict(c, turns=c["turns"][1:])
                text = render(tok, o["text"], c, True)
            key = texts.setdefault(name, {})
            # what is published under one name agrees, but Llama 3's first string asks for an answer whether it should or not
            assert key.get(c["name"], text) == text or not c["reply"], (name, o["of"], c["name"])
            key[c["name"]] = text
            ids = protected(tok, file, o["text"], c)
            if not c.get("forged"): assert ids == render(tok, o["text"], c, False), (name, v, c["name"])
            row = (name, v, c["name"], " ".join(map(str, ids)))
            rows = [r for r in rows if r[:3] != row[:3]] + [row]
json.dump(texts, open(os.path.join(HERE, "texts.json"), "w"), indent=1)
open(os.path.join(HERE, "texts.json"), "a").write("\n")
with open(os.path.join(HERE, "ids.tsv"), "w") as f:
    for r in rows: f.write("\t".join(r) + "\n")
print(len(rows), "rows")
