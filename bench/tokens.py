#!/usr/bin/env python3
"""tokens.py BENCH SHARED [CSV] -- how fast text becomes ids, one thread, beside other programs in the same run.

Texts: tinyshakespeare (1.1 MB), and ten megabytes that a chain of letters of order 5 learnt from it, so that no paragraph comes
twice and new words keep coming.  Every system encodes the whole text in one call, ROUNDS times in turn with the others; the table
has medians and quartiles.  What is not installed (tokenizers, tiktoken, sentencepiece, llama_cpp with gguf) is said and left out.
All systems must give the same number of ids.
"""
import importlib, os, random, statistics, subprocess, sys, time
os.environ["TOKENIZERS_PARALLELISM"] = "false"
bench, shared, csv = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
ROUNDS = int(os.environ.get("ROUNDS", "5"))
work = os.path.dirname(os.path.dirname(bench)) or "."

def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"NOT RUN: {name} is not installed")

def ten_megabytes():
    path = os.path.join(work, "bench-text.txt")
    if not os.path.exists(path) or os.path.getsize(path) != 10_000_000:
        source = open(f"{shared}/data/text/tinyshakespeare.txt").read()
        after = {}
        for i in range(len(source) - 5):
            after.setdefault(source[i:i + 5], []).append(source[i + 5])
        draw, text = random.Random(1), list(source[:5])
        while len(text) < 10_000_000:
            text.append(draw.choice(after.get("".join(text[-5:]), [" "])))
        open(path, "w").write("".join(text))
    return path

tokenizers, tiktoken, sentencepiece, llama_cpp, gguf = map(library, ("tokenizers", "tiktoken", "sentencepiece", "llama_cpp", "gguf"))

def hf(name, cache):
    t = tokenizers.Tokenizer.from_file(f"{shared}/golden/tokenizers/{name}/tokenizer.json")
    if not cache:
        t.model._resize_cache(0)
    return lambda s: len(t.encode(s, add_special_tokens=False).ids)

def tik(name):
    import base64
    ranks = {base64.b64decode(a): int(b) for a, b in (line.split() for line in open(f"{shared}/data/tiktoken/{name}.tiktoken", "rb"))}
    patterns = {"r50k_base": r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s""",
                "cl100k_base": r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""}
    e = tiktoken.Encoding(name, pat_str=patterns[name], mergeable_ranks=ranks, special_tokens={})
    return lambda s: len(e.encode_ordinary(s))

def piece():
    p = sentencepiece.SentencePieceProcessor(model_file=f"{shared}/data/llama2/tokenizer.model")
    return lambda s: len(p.encode(s))

def llama(path):
    m = llama_cpp.Llama(model_path=path, vocab_only=True, verbose=False)
    return lambda s: len(m.tokenize(s.encode(), add_bos=False, special=False))

def llama2_gguf():
    """Llama 2's vocabulary as llama.cpp wants it"""
    path = os.path.join(work, "bench-llama2.gguf")
    p = sentencepiece.SentencePieceProcessor(model_file=f"{shared}/data/llama2/tokenizer.model")
    w = gguf.GGUFWriter(path, "llama")
    n = p.vocab_size()
    kind = lambda i: 2 if p.is_unknown(i) else 3 if p.is_control(i) else 6 if p.is_byte(i) else 1
    w.add_tokenizer_model("llama")
    w.add_token_list([p.id_to_piece(i).encode() for i in range(n)])
    w.add_token_scores([p.get_score(i) for i in range(n)])
    w.add_token_types([kind(i) for i in range(n)])
    w.add_bos_token_id(1), w.add_eos_token_id(2)
    w.add_context_length(2048), w.add_embedding_length(64), w.add_block_count(1), w.add_head_count(1)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()
    return path

def ours(path):
    def run(text_path):
        f = subprocess.run([bench, path, text_path, "1"], capture_output=True, text=True, check=True).stdout.split(",")
        return int(f[4]), float(f[5])
    return run

plan = [("gpt2", "incipit", ours(f"{shared}/golden/tokenizers/gpt2")), ("cl100k", "incipit", ours(f"{shared}/data/tiktoken/cl100k_base.tiktoken")),
        ("llama2", "incipit", ours(f"{shared}/data/llama2/tokenizer.model"))]
if tokenizers:
    v = tokenizers.__version__
    plan += [("gpt2", f"tokenizers {v}", hf("gpt2", True)), ("gpt2", f"tokenizers {v} without its cache", hf("gpt2", False)),
             ("llama2", f"tokenizers {v}", hf("llama2-legacy", True))]
if tiktoken:
    v = tiktoken.__version__
    plan += [("gpt2", f"tiktoken {v}", tik("r50k_base")), ("cl100k", f"tiktoken {v}", tik("cl100k_base"))]
if sentencepiece:
    plan += [("llama2", f"sentencepiece {sentencepiece.__version__}", piece())]
if llama_cpp:
    v = llama_cpp.__version__
    plan += [("gpt2", f"llama.cpp (llama-cpp-python {v})", llama(f"{shared}/vectors/tokenizer_gguf/ggml-vocab-gpt-2.gguf"))]
    if gguf and sentencepiece:
        plan += [("llama2", f"llama.cpp (llama-cpp-python {v})", llama(llama2_gguf()))]

rows, bad = [], 0
for label, path in ("1.1 MB", f"{shared}/data/text/tinyshakespeare.txt"), ("10 MB", ten_megabytes()):
    text = open(path).read()
    took, ids = {}, {}
    for _ in range(ROUNDS):
        for vocabulary, system, run in plan:
            if system == "incipit":
                n, seconds = run(path)
            else:
                begin = time.perf_counter()
                n = run(text)
                seconds = time.perf_counter() - begin
            took.setdefault((vocabulary, system), []).append(seconds)
            ids.setdefault(vocabulary, {})[system] = n
    for (vocabulary, system), t in sorted(took.items()):
        q = statistics.quantiles(t, n=4, method="inclusive") if len(t) > 1 else [t[0]] * 3
        size = os.path.getsize(path) / 1e6
        rows.append((vocabulary, label, system, ids[vocabulary][system], size / q[1], size / q[2], size / q[0]))
        print("%-7s %-7s %-44s %9d ids %8.2f MB/s  (%.2f to %.2f)" % rows[-1])
    for vocabulary, n in ids.items():
        if len(set(n.values())) > 1:
            print(f"DIFFERENT: {vocabulary}, {label}: {n}")
            bad = 1
speed = {(v, l, s): r for v, l, s, _, r, _, _ in rows}
for (v, l, s), r in speed.items():
    if s != "incipit":
        print("%-7s %-7s incipit is %.1f times as fast as %s" % (v, l, speed[v, l, "incipit"] / r, s))
if csv:
    machine = next((x.split(":")[1].strip() for x in open("/proc/cpuinfo") if x.startswith("model name")), "unknown")
    with open(csv, "w") as f:
        f.write(f"# command: make bench-tokens\n# machine: {machine}, one thread\n# rounds: {ROUNDS}, in turn; median and quartiles of megabytes a second\n")
        f.write("vocabulary,text,system,ids,median,lower,upper\n")
        for r in rows:
            f.write("%s,%s,%s,%d,%.2f,%.2f,%.2f\n" % r)
sys.exit(bad)
