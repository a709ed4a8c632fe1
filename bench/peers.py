#!/usr/bin/env python3
"""peers.py [--quick | --rounds N] [--rows REGEX] [--threads 1,2] [--list | --table] -- this engine beside others, interleaved.

`make peers` calls it when bench/peers.sh has built what there is to build.  A row is a piece of work; its contenders are run one
after the other, N rounds (10; --quick 3), and just before and after each the probe tells what the machine can do at that moment.
Shown for each contender: median and quartiles of its rate, the median share of the probe, and the median and quartiles of the
quotient of our rate and its rate in the same round.  What cannot run is said with its reason.  README.md tells more.

Each measurement is a line of build/peers/rounds.csv as soon as it is made: a run that was broken off goes on where it was.  The
lines carry the build of this engine, and those of another build are passed over.  A run of all rows with 10 rounds writes
figures/data/peers.csv, another build/peers/peers.csv.
"""
import argparse, collections, csv, ctypes, json, os, re, statistics, struct, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = "build/peers"
MODELS, ROUNDS = PEERS + "/models", PEERS + "/rounds.csv"
INCIPIT, SAMPLER = os.environ.get("INCIPIT", "build/incipit"), "build/bench/sampling"
LLAMA, IK, LLAMA2 = PEERS + "/llama/bin/llama-", PEERS + "/ik/bin/llama-", PEERS + "/llama2/run"
MACHINE = ("OMP_NUM_THREADS", "INCIPIT_ISA")  # what would change the contenders behind our back

class NotRun(Exception):
    """the reason why a contender has no number"""

def environment(more):
    return {k: v for k, v in {**os.environ, **more}.items() if k not in MACHINE or k in more}

def built(program):
    if not os.path.exists(program):
        raise NotRun(f"{program} is not built (see {PEERS}/*.log)")

def run(words, **more):
    """standard output and standard error of a program; a program that is not there or that fails is a reason"""
    built(words[0])
    try:
        p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(more), timeout=1800,
            errors="replace", stdin=subprocess.DEVNULL, text=True)
    except subprocess.TimeoutExpired:
        raise NotRun("half an hour was not enough")
    if p.returncode:
        said = [s for s in p.stderr.splitlines() if s.strip() and "hint:" not in s]
        said = [s for s in said if re.search("error|fail|incipit:", s, re.I)][:1] or said[-1:]
        raise NotRun(said[0].replace("incipit: ", "").replace(MODELS + "/", "") if said else f"exit status {p.returncode}")
    return p.stdout, p.stderr

# ---- models: made when a contender first wants them

LAYERS = {"260K": (5, 64, 32, 172), "110M": (12, 768, 768, 2048), "1.1B": (22, 2048, 256, 5632)}  # layers, d, kv, hidden
QUANTIZED = {"q8_0": "Q8_0", "q4_0": "Q4_0", "q4_k": "Q4_K_M"}  # what people download: the head of the last two in six bits

def model(name):
    """the path of a model: 110M-f32 is a directory, 110M-f32.gguf a file, 110M-ct2 a directory of CTranslate2"""
    path, shape = f"{MODELS}/{name}", name.split("-")[0]
    kind = name.partition("-")[2].replace(".gguf", "")
    if os.path.exists(path):
        return path
    if kind in QUANTIZED:
        wide = model(f"{shape}-bf16.gguf")  # every weight is a bfloat16 number
        print("writing", path, flush=True)
        run([LLAMA + "quantize", wide, path + ".part", QUANTIZED[kind]])
        os.rename(path + ".part", path)
        return path
    form = "ct2" if kind == "ct2" else "llama2c" if name.endswith(".bin") else ("gguf-" if name.endswith("gguf") else "dir-") + kind
    words = [sys.executable, HERE + "/peers_models.py", MODELS, shape.replace(".bin", ""), form]
    with open(PEERS + "/models.log", "w") as log:
        if subprocess.run(words, env={**os.environ, "PYTHONPATH": PEERS + "/python"}, stderr=log).returncode:
            raise NotRun(f"bench/peers_models.py cannot write {name} (see {log.name})")
    return path

SIZE = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 12: (256, 144), 13: (256, 176),
    14: (256, 210), 30: (1, 2)}  # ggml's types: numbers in a block, bytes of a block

def tensor_bytes(path):
    """stored bytes of each tensor, by name"""
    if os.path.isdir(path):
        with open(path + "/model.safetensors", "rb") as f:
            header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        return {k: v["data_offsets"][1] - v["data_offsets"][0] for k, v in header.items() if k != "__metadata__"}
    with open(path, "rb") as f:
        get = lambda form: struct.unpack("<" + form, f.read(struct.calcsize("<" + form)))
        text = lambda: f.read(get("Q")[0])
        plain = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
        def value(type):
            if type == 8:
                return text()
            if type == 9:
                of, n = get("IQ")
                return [value(of) for _ in range(n)]
            return get(plain[type])
        _, _, tensors, fields = get("4sIQQ")
        for _ in range(fields):
            text(), value(get("I")[0])
        out = {}
        for _ in range(tensors):
            name, n = text().decode(), 1
            for size in get(f"{get('I')[0]}Q"):
                n *= size
            type, _ = get("IQ")
            out[name] = n // SIZE[type][0] * SIZE[type][1]
        return out

def weight_bytes(path):
    """bytes that a token reads: all tensors but an embedding that is not the head as well"""
    of = tensor_bytes(path)
    untied = "output.weight" in of or "lm_head.weight" in of
    return sum(n for k, n in of.items() if not (untied and k in ("token_embd.weight", "model.embed_tokens.weight")))

def cache_bytes(shape, size, depth, n):
    """bytes of keys and values that a token reads, on average over n tokens after depth"""
    layers, _, kv, _ = LAYERS[shape]
    return 2 * layers * kv * size * (depth + (n + 1) / 2)

def madds(shape, n):
    """multiply-adds a token when n are read at once: matrices, attention, and the head for the last"""
    layers, d, kv, hidden = LAYERS[shape]
    vocab = 512 if shape == "260K" else 32000
    return layers * (2 * d * d + 2 * d * kv + 3 * d * hidden) + layers * 2 * d * (n + 1) / 2 + vocab * d / n

# ---- the contenders: each gives one number

def records(words, **more):
    out, _ = run(words, **more)
    try:
        return json.loads(out[out.index("["):out.rindex("]") + 1])
    except ValueError:
        raise NotRun(f"{os.path.basename(words[0])} printed no table that can be read")

def incipit(name, threads, p=0, n=0, d=0, r=1, more=()):
    return [x["tokens_per_second"] for x in records([INCIPIT, "bench", "-m", model(name), "-t", str(threads), "-p", str(p), "-n", str(n),
        "-d", str(d), "-r", str(r), "-o", "json", "-q", *more])]

def llama(name, threads, p=0, n=0, d=0, r=1, more=(), bench=LLAMA + "bench"):
    if "f32" in more:
        raise NotRun("llama-bench keeps no cache in f32")
    deep = [] if d == 0 else ["-gp", f"{d},{n}"] if bench.startswith(IK) else ["-d", str(d)]
    if deep and deep[0] == "-gp":
        n = 0
    return [x["avg_ts"] for x in records([bench, "-m", model(name), "-t", str(threads), "-p", str(p), "-n", str(n), "-r", str(r), "-o", "json",
        *deep, *more])]

def ik(name, threads, **more):
    return llama(name, threads, bench=IK + "bench", **more)

def llama2(shape, threads, n):
    if not os.path.exists(LLAMA2):
        raise NotRun("llama2.c is not here (LLAMA2C=DIR names a copy)")
    path = model(shape + ".bin")
    _, said = run([LLAMA2, path, "-z", path[:-3] + "tok", "-t", "0", "-n", str(n)], OMP_NUM_THREADS=str(threads))
    return [float(re.search(r"achieved tok/s: ([\d.]+)", said)[1])]

def other(what, *words, **more):
    """a library of Python, in a process of its own: the end of this file"""
    out, _ = run([sys.executable, HERE + "/peers.py", "other", what, *map(str, words)], PYTHONPATH=PEERS + "/python", **more)
    return [float(out.split()[-1])]

def openblas(shape, threads, n):
    wide = "avx512f" in cpu_flags()
    return other("sgemm", shape, threads, n, **({"OPENBLAS_CORETYPE": "SkylakeX"} if wide else {}))

def ct2(shape, threads, p, n):
    return other("ct2", model(shape + "-ct2"), threads, p, n)

def first_token(words):
    """milliseconds from exec to the first byte of the answer, or to the end of the process"""
    built(words[0])
    with open(PEERS + "/first.err", "w+") as err:
        began = time.perf_counter()
        p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=err, stdin=subprocess.DEVNULL, env=environment({}))
        p.stdout.read(1)
        took = time.perf_counter() - began
        p.stdout.read()
        if p.wait():
            err.seek(0)
            raise NotRun((err.read().strip().splitlines() or ["failed"])[-1].replace("incipit: ", "").replace(MODELS + "/", ""))
    return [1e3 * took]

def resident(name, shape, threads):
    """the most bytes that a process holds in memory, over the bytes of weights and cache"""
    path, n = model(name), 64
    words = [INCIPIT, "generate", "-m", path, "-t", str(threads), "-n", str(n), "-q", "--ignore-eos", "--prompt-ids", ",".join(["300"] * n)]
    pid = os.posix_spawn(words[0], words, environment({}), file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0)
        for fd in (0, 1, 2)])
    _, status, used = os.wait4(pid, 0)
    if status:
        run(words)
        raise NotRun("generate failed")
    layers, _, kv, _ = LAYERS[shape]
    return [1024 * used.ru_maxrss / (sum(tensor_bytes(path).values()) + 2 * layers * kv * 4 * 2 * n)]

def sampler(setting):
    """milliseconds of the dearest of four kinds of logits"""
    out, _ = run([SAMPLER, "128256", "11"])
    return [max(float(x["whole ms"]) for x in csv.DictReader(out.splitlines()) if x["settings"].startswith(setting))]

def rows_a_pass(engine, name, threads, **more):
    """the time of a pass of four rows over that of one"""
    one, four = engine(name, threads, p="1,4", r=5, **more)
    return [4 * one / four]

# ---- the rows

# probe of a row: (kind, bytes or multiply-adds a token), or None; a contender may name another kind; threads: with how many
Contender = collections.namedtuple("Contender", "engine run kind", defaults=(None,))
Row = collections.namedtuple("Row", "name unit probe contenders goals threads", defaults=((1, 2),))
OURS = "incipit"

def prefill(shape, form, contenders, goals, unit="fma"):
    return Row(f"prefill 512, {shape} {form}", "tokens/s", lambda: (unit, madds(shape, 512)), contenders, goals)

def decode(shape, name, form, contenders, goal, depth=0, size=4, n=64):
    return Row(f"decode {shape} {form}", "tokens/s",
        lambda: ("read", weight_bytes(model(name)) + cache_bytes(shape, size, depth, n)), contenders, [(OURS, "share", goal)])

def peers_of(file, p=0, n=0, repacked=False, **more):
    """llama.cpp and ik_llama.cpp on the same file, the second also with weights repacked at load"""
    out = [Contender("llama.cpp", lambda t: llama(file, t, p=p, n=n, **more)), Contender("ik_llama.cpp", lambda t: ik(file, t, p=p, n=n, **more))]
    return out + [Contender("ik_llama.cpp -rtr", lambda t: ik(file, t, p=p, n=n, more=("-rtr", "1"), **more))] * repacked

def ours(name, label=OURS, kind=None, **more):
    def one(t):
        if label == BF16 and "avx512_bf16" not in cpu_flags():
            raise NotRun("this processor has no instruction for pairs of bfloat16; plain C takes minutes")
        return incipit(name, t, **more)
    return Contender(label, one, kind)

def depth_row(kind, size):
    n, d = 16, 8192
    return decode("110M", "110M-f32", f"F32 at depth {d}, {kind} cache", [
        ours("110M-f32", n=n, d=d, more=("--kv-type", kind)),
        Contender("llama.cpp", lambda t: llama("110M-f32.gguf", t, n=n, d=d, more=("-ctk", kind, "-ctv", kind))),
        Contender("ik_llama.cpp", lambda t: ik("110M-f32.gguf", t, n=n, d=d, more=("-ctk", kind, "-ctv", kind)))],
        .80, depth=d, size=size, n=n)

IK_BEST = ("ik_llama.cpp", "ik_llama.cpp -rtr")
BF16, PACKED = OURS + ", bf16 activations", OURS + ", packed"
ROWS = [
    prefill("110M", "F32", [ours("110M-f32", p=512), *peers_of("110M-f32.gguf", p=512),
        Contender("OpenBLAS, matrices alone", lambda t: openblas("110M", t, 512)),
        Contender("CTranslate2", lambda t: ct2("110M", t, 512, 1))],
        [(OURS, "share", .85), (OURS, "ratio", 1.55, "llama.cpp")]),
    prefill("110M", "BF16", [ours("110M-bf16", p=512), ours("110M-bf16", BF16, "bf16", p=512, more=("--activations", "bf16")),
        *peers_of("110M-bf16.gguf", p=512)], [(OURS, "ratio", 1.05, "llama.cpp"), (BF16, "ratio", 1.5, "llama.cpp")]),
    prefill("1.1B", "Q8_0", [ours("1.1B-q8_0.gguf", p=512), *peers_of("1.1B-q8_0.gguf", p=512, repacked=True)],
        [(OURS, "ratio", 3, "llama.cpp"), (OURS, "ratio", 1.3, *IK_BEST)], "int8"),
    decode("110M", "110M-f32", "F32", [ours("110M-f32", n=64), *peers_of("110M-f32.gguf", n=64),
        Contender("llama2.c", lambda t: llama2("110M", t, 64)), Contender("CTranslate2", lambda t: ct2("110M", t, 0, 64))], .92),
    decode("110M", "110M-bf16", "BF16", [ours("110M-bf16", n=64), *peers_of("110M-bf16.gguf", n=64)], .92),
    decode("110M", "110M-q8_0.gguf", "Q8_0", [ours("110M-q8_0.gguf", n=64), *peers_of("110M-q8_0.gguf", n=64, repacked=True)], .90),
    decode("1.1B", "1.1B-q4_0.gguf", "Q4_0", [ours("1.1B-q4_0.gguf", n=32), *peers_of("1.1B-q4_0.gguf", n=32, repacked=True)], .90, n=32),
    decode("1.1B", "1.1B-q4_k.gguf", "Q4_K", [ours("1.1B-q4_k.gguf", n=32), *peers_of("1.1B-q4_k.gguf", n=32, repacked=True)], .90, n=32),
    depth_row("f32", 4),
    depth_row("f16", 2),
    Row("a pass of 4 rows, 1.1B Q8_0", "times 1 row", None, [
        Contender(OURS, lambda t: rows_a_pass(incipit, "1.1B-q8_0.gguf", t)),
        Contender(PACKED, lambda t: rows_a_pass(incipit, "1.1B-q8_0.gguf", t, more=("--packed",))),
        Contender("llama.cpp", lambda t: rows_a_pass(llama, "1.1B-q8_0.gguf", t)),
        Contender("ik_llama.cpp", lambda t: rows_a_pass(ik, "1.1B-q8_0.gguf", t))], [(PACKED, "most", {1: 1.3, 2: 1.4})]),
    Row("decode 260K F32", "tokens/s", None, [ours("260K-f32", n=500, r=3), Contender("llama2.c", lambda t: llama2("260K", t, 500)),
        Contender("llama.cpp", lambda t: llama("260K-f32.gguf", t, n=500))],
        [(OURS, "least", 25000), (OURS, "ratio", 1, "llama2.c")]),
    Row("exec to first token, 1.1B Q8_0", "ms", None, [
        Contender(OURS, lambda t: first_token([INCIPIT, "generate", "-m", model("1.1B-q8_0.gguf"), "-t", str(t), "-q", "-n", "1", "the cat"])),
        Contender("llama.cpp", lambda t: first_token([LLAMA + "completion", "-m", model("1.1B-q8_0.gguf"), "-t", str(t), "-n", "1",
            "-no-cnv", "--no-display-prompt", "--no-warmup", "-p", "the cat"]))], [(OURS, "most", 150)]),
    Row("sampler, 128256 logits", "ms", None, [Contender(OURS, lambda t: sampler("top_k 40, top_p .95"))], [(OURS, "most", 1)], (1,)),
    Row("sampler, 128256 logits, untruncated", "ms", None, [Contender(OURS, lambda t: sampler("normal"))], [(OURS, "most", 2)], (1,)),
    Row("resident memory, 110M F32", "times weights + cache", None, [Contender(OURS, lambda t: resident("110M-f32", "110M", t))],
        [(OURS, "most", 1.05)]),
    Row("resident memory, 1.1B Q8_0", "times weights + cache", None, [Contender(OURS, lambda t: resident("1.1B-q8_0.gguf", "1.1B", t))],
        [(OURS, "most", 1.05)]),
]

# ---- measuring

def cpu_flags():
    return re.search(r"^flags\s*:(.*)", open("/proc/cpuinfo").read() + "\nflags:", re.M)[1].split()

class Probe:
    """bench/probe.c, which stays open and keeps its buffer"""
    def __init__(self):
        built(PEERS + "/probe")
        self.process = subprocess.Popen([PEERS + "/probe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def ask(self, kind, amount, threads):
        words = f"read {int(amount)} {threads}\n" if kind == "read" else f"{kind} {threads}\n"
        self.process.stdin.write(words)
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

def load(build):
    """(row, threads, engine) -> {round: (value, share)} of this build, or of the one that a dictionary names for a row"""
    done = collections.defaultdict(dict)
    if os.path.exists(ROUNDS):
        for x in csv.DictReader(open(ROUNDS)):
            if x["build"] == (build.get(x["row"]) if isinstance(build, dict) else build):
                done[x["row"], int(x["threads"]), x["engine"]][int(x["round"])] = (float(x["value"]), float(x["share"] or 0))
    return done

def builds(build, rounds):
    """for each row this build if it has all rounds of it, else the last one that has"""
    count = collections.Counter((x["row"], x["build"]) for x in csv.DictReader(open(ROUNDS)) if x["engine"] == OURS and int(x["round"]) >= rounds)
    of = {row: b for row, b in count}  # in the order of the file
    return of | {row: build for row, b in count if b == build}

def measure(rows, threads, rounds, build, reasons):
    probe, new = Probe(), not os.path.exists(ROUNDS)
    with open(ROUNDS, "a", newline="") as out:
        put = csv.writer(out)
        if new:
            put.writerow("build row threads engine round value share before after".split())
        for row in rows:
            for t in (t for t in threads if t in row.threads):
                done, failed = load(build), set()
                for r in range(1, rounds + 1):
                    for c in row.contenders:
                        key = (row.name, t, c.engine)
                        if r in done[key] or key in failed:
                            continue
                        try:
                            kind, amount = row.probe() if row.probe else (None, 0)
                            kind = c.kind or kind
                            before = probe.ask(kind, amount, t) if kind else 0
                            value = c.run(t)[-1]
                            after = probe.ask(kind, amount, t) if kind else 0
                        except NotRun as why:
                            reasons[key] = str(why)
                            failed.add(key)
                            continue
                        share = value * amount * 2 / (before + after) if before + after else ""
                        put.writerow([build, row.name, t, c.engine, r, f"{value:.6g}", share and f"{share:.4f}", f"{before:.6g}", f"{after:.6g}"])
                        out.flush()
                        print(f"\r\033[K{row.name}, {t} threads, round {r}: {c.engine} {value:.5g} {row.unit}", end="", file=sys.stderr)
        print("\r\033[K", end="", file=sys.stderr)

def quartiles(v):
    return (min(v), statistics.median(v), max(v)) if len(v) < 4 else tuple(statistics.quantiles(v, method="inclusive"))

def ratios(row, ours, theirs):
    """our rate over theirs, round by round; where less is better, theirs over ours"""
    less = row.unit != "tokens/s"
    both = sorted(set(ours) & set(theirs))
    return quartiles([theirs[r][0] / ours[r][0] if less else ours[r][0] / theirs[r][0] for r in both]) if both else None

def judge(row, t, goal, done):
    """(words, what was reached as a number or None, reached or not)"""
    engine, kind, wanted, *beside = goal
    wanted = wanted[t] if isinstance(wanted, dict) else wanted
    mine = done.get((row.name, t, engine), {})
    if kind == "share":
        have = statistics.median(s for _, s in mine.values()) or None if mine else None
        return f">= {100 * wanted:.0f} % of the probe", have and 100 * have, have and have >= wanted
    if kind == "ratio":
        each = [r[1] for r in (ratios(row, mine, done.get((row.name, t, b), {})) for b in beside) if r]
        return f">= {wanted:g} x {beside[0]}", min(each, default=None), each and min(each) >= wanted
    have = statistics.median(v for v, _ in mine.values()) if mine else None
    return f"{'<=' if kind == 'most' else '>='} {wanted:g} {row.unit}", have, have and (have <= wanted) == (kind == "most")

def show(rows, threads, done, reasons, path, head):
    lines, not_run = [], []
    print(*head, sep="\n")
    for row in rows:
        for t in (t for t in threads if t in row.threads):
            print(f"\n{row.name}, {t} thread{'s' * (t > 1)} ({row.unit})")
            for c in row.contenders:
                key = (row.name, t, c.engine)
                mine = done.get(key, {})
                if not mine:
                    print(f"  {c.engine:26} not run: {reasons.get(key, 'not measured yet')}")
                    not_run.append(f"not run: {row.name}, {t}, {c.engine}: {reasons.get(key, 'not measured yet')}")
                    continue
                low, mid, high = quartiles([v for v, _ in mine.values()])
                share = quartiles([s for _, s in mine.values()])
                ratio = None if c.engine == OURS else ratios(row, done.get((row.name, t, OURS), {}), mine)
                text = f"  {c.engine:26} {mid:10.5g}  [{low:.5g}, {high:.5g}]"
                text += f"  {100 * share[1]:5.1f} % of {c.kind or row.probe()[0]}" if share[1] else ""
                text += f"  we: {ratio[1]:.2f} x [{ratio[0]:.2f}, {ratio[2]:.2f}]" if ratio else ""
                print(text)
                lines.append([row.name, t, c.engine, row.unit, len(mine), *(f"{x:.6g}" for x in (low, mid, high)),
                    *(f"{x:.4f}" if x else "" for x in share), *(f"{x:.4f}" for x in ratio or ()), *[""] * (0 if ratio else 3)])
            for goal in row.goals:
                words, have, good = judge(row, t, goal, done)
                reached = "not run" if have is None else f"{have:.4g}: {'reached' if good else 'MISSED'}"
                print(f"  goal of {goal[0]}: {words}: {reached}")
    with open(path + ".new", "w", newline="") as f:
        f.writelines("# " + h + "\n" for h in [*head, *not_run])
        put = csv.writer(f, lineterminator="\n")
        put.writerow("row threads engine unit rounds low median high share_low share share_high ratio_low ratio ratio_high".split())
        put.writerows(lines)
    os.rename(path + ".new", path)
    print(f"\n{path}")

def heading(build):
    if isinstance(build, dict):
        each = {b: [r for r in build if build[r] == b] for b in dict.fromkeys(build.values())}
        build = "; ".join(f"{b} ({' | '.join(rows)})" for b, rows in each.items())
    processor = re.search(r"^model name\s*: (.*)", open("/proc/cpuinfo").read() + "\nmodel name : unknown", re.M)[1]
    wide = [f for f in cpu_flags() if f in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni")]
    versions = open(PEERS + "/versions").read().split("\n") if os.path.exists(PEERS + "/versions") else []
    return ["command: bench/peers.py (make peers)", f"build: {build}",
        f"machine: {processor}, {os.cpu_count()} cores, {' '.join(wide)}", "peers: " + "; ".join(v for v in versions if v),
        "values: median and quartiles (of fewer than 4 rounds: least and greatest); ratio: our rate over that of the engine in"
        " the same round; where less is better, its number over ours"]

def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--quick", action="store_true"), a.add_argument("--rounds", type=int)
    a.add_argument("--rows", default=""), a.add_argument("--threads", default="1,2")
    a.add_argument("--list", action="store_true"), a.add_argument("--table", action="store_true")
    a.add_argument("--add", action="store_true")
    a = a.parse_args()
    rows = [r for r in ROWS if re.search(a.rows, r.name)]
    if a.list:
        return print(*(r.name for r in rows), sep="\n")
    rounds = a.rounds or (3 if a.quick else 10)
    threads = [int(t) for t in a.threads.split(",")]
    said, _ = run([INCIPIT, "--version"])
    build, reasons = re.search(r"build (\w+)", said)[1], {}
    broken_off = a.table
    if not a.table:
        try:
            measure(rows, threads, rounds, build, reasons)
        except KeyboardInterrupt:
            broken_off = True
    whole = rounds >= 10 and (a.add or not a.rows) and a.threads == "1,2" and not broken_off
    if a.add:  # what another build measured stays, with its name
        rows, build = ROWS, builds(build, rounds)
    show(rows, threads, load(build), reasons, "figures/data/peers.csv" if whole else PEERS + "/peers.csv", heading(build))

# ---- libraries of Python

def sgemm(shape, threads, n):
    """tokens a second if the matrices of the layers were all: OpenBLAS multiplies them with n rows"""
    import scipy_openblas32
    lib = ctypes.CDLL(scipy_openblas32.get_lib_dir() + "/libscipy_openblas.so")
    layers, d, kv, hidden = LAYERS[shape]
    lib.scipy_openblas_set_num_threads(threads)
    pointer, one = ctypes.POINTER(ctypes.c_float), ctypes.c_float(1)
    a, b, c = ((ctypes.c_float * size)() for size in (n * hidden, d * hidden, n * hidden))
    for x in (a, b):
        ctypes.memset(x, 0x3c, ctypes.sizeof(x))  # 0.0115...
    def layer():
        for rows, inputs in ((d, d), (kv, d), (kv, d), (d, d), (hidden, d), (hidden, d), (d, hidden)):
            lib.scipy_cblas_sgemm(101, 111, 112, n, rows, inputs, one, a, inputs, b, inputs, ctypes.c_float(0), c, rows)
    layer()
    began = time.perf_counter()
    for _ in range(layers):
        layer()
    return n / (time.perf_counter() - began)

def ctranslate(path, threads, p, n):
    import ctranslate2
    g = ctranslate2.Generator(path, device="cpu", compute_type="float32", intra_threads=threads)
    prompt = [["<s>"] + ["the"] * (p - 1)] if p else [["<s>"]]
    go = lambda: g.generate_batch(prompt, max_length=n, min_length=n, sampling_topk=1, include_prompt_in_result=False)
    go()
    began = time.perf_counter()
    go()
    return (p or n) / (time.perf_counter() - began)

if __name__ == "__main__":
    if sys.argv[1:2] == ["other"]:
        f = {"sgemm": lambda s, t, n: sgemm(s, int(t), int(n)), "ct2": lambda s, t, p, n: ctranslate(s, int(t), int(p), int(n))}
        print(f[sys.argv[2]](*sys.argv[3:]))
    else:
        main()
