#!/usr/bin/env python3
"""blocks.py INCIPIT LLAMA-BENCH FOLDER [ROUNDS] > figures/data/quantization.speeds.csv -- what a token costs in each type of blocks,
here and in llama.cpp: seconds of one processor, decoding by itself and reading 64 at once.

FOLDER has the same random weights in each type, as 110M-Q4_K.gguf: bench/peers_models.py FOLDER 110M gguf-f32, and then
llama-quantize --pure 110M-f32.gguf 110M-Q4_K.gguf Q4_K_S, and so on (MXFP4 is asked for as MXFP4_MOE).  One thread. The programs take turns, and of each kind of run the
fastest counts, as other programs only slow down; then the time of a short run is taken from that of a long one, so starting does not count. (The least of the differences would be that
of a round whose short run was slow.)"""
import os, resource, subprocess, sys
TYPES = ["Q4_0", "Q4_K", "Q6_K", "Q2_K", "Q3_K", "Q5_K", "IQ4_NL", "IQ4_XS", "MXFP4"]
N, P = 24, 64
ours, theirs, folder = sys.argv[1:4]
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3

def seconds(*args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def we(path, p, n):
    ids = ",".join(str(300 + i) for i in range(p))
    return seconds(ours, "generate", "-q", "-m", path, "-t", "1", "--temperature", "0", "--ignore-eos", "--prompt-ids", ids, "-n", str(n))

def they(path, p, n):
    return seconds(theirs, "-m", path, "-t", "1", "-r", "1", "--no-warmup", "-p", str(p), "-n", str(n))

print("# " + os.popen("grep -m1 'model name' /proc/cpuinfo").read().split(":")[-1].strip() + ", one thread, 110M weights: milliseconds a token")
print("type,decode,decode_llama,prefill,prefill_llama", flush=True)
for t in TYPES:
    path = os.path.join(folder, f"110M-{t}.gguf")
    runs = [(we, 1, N + 1, N), (they, 0, N + 1, N), (we, P + 1, 1, P), (they, P + 1, 0, P)]
    start = {we: (1, 1), they: (0, 1)}
    best = {}
    for _ in range(rounds):
        for who, p, n in [(who, p, n) for who, p, n, _ in runs] + [(who, p, n) for who, (p, n) in start.items()] + [(they, 1, 0)]:
            best[who, p, n] = min(best.get((who, p, n), 1e9), who(path, p, n))
    def a_token(who, p, n, of):
        less = (they, 1, 0) if who is they and n == 0 else (who,) + start[who]
        return (best[who, p, n] - best[less]) / of
    print(t.lower() + "," + ",".join("%.3f" % (1000 * a_token(*r)) for r in runs), flush=True)
