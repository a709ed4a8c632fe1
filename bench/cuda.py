#!/usr/bin/env python3
"""cuda.py [--rounds N] [--program FILE] [--models DIR] [--suite FILE] [--steps FILE] -- what a device of NVIDIA does: the lines of the table in chapter 14.

Needs build/cuda/incipit (make CUDA=1), and for the large models those that bench/peers_models.py writes (make peers makes them as
well).  Each line is the median of N rounds (10) as a share of the device's own copying in the same run, which `incipit bench`
measures before each test.  With PyTorch and a device it can see, the prompt is compared with cuBLAS on the same shapes, in the
same run; without, that line is not run, and says so.  Keys for the book go to tools/measured.tsv's form on standard output.
"""
import argparse, json, os, re, statistics, subprocess, sys, time

def run(words, **more):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **more})
    if p.returncode:
        raise SystemExit(f"cuda.py: {' '.join(words)}: {p.stderr.strip()}")
    return p.stdout

def bench(a, model, *more):
    """records of incipit bench on the device"""
    return json.loads(run([a.program, "bench", "-m", f"{a.models}/{model}", "--device", a.device, "-r", "1", "-o", "json", "-q", *more]))

def share(a, model, *more):
    """(median tokens a second, median share of copying, quartiles of the share)"""
    rate, of = [], []
    for _ in range(a.rounds):
        x = bench(a, model, *more)[-1]
        rate.append(x["tokens_per_second"]), of.append(x["bandwidth_share"])
    low, mid, high = statistics.quantiles(of, n=4) if len(of) > 1 else (of[0],) * 3
    return statistics.median(rate), mid, (low, high)

LAYERS, WIDE, KV, INNER = 22, 2048, 256, 5632  # of the model with 1.1e9 weights

def cublas(rows, rounds):
    """tokens a second if the matrices of the layers, multiplied by the maker's library, were all; None without PyTorch"""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    shapes = [(WIDE, WIDE), (KV, WIDE), (KV, WIDE), (WIDE, WIDE), (INNER, WIDE), (INNER, WIDE), (WIDE, INNER)]
    w = [torch.randn(o, i, device="cuda", dtype=torch.bfloat16) for o, i in shapes]
    x = {i: torch.randn(rows, i, device="cuda", dtype=torch.bfloat16) for i in (WIDE, INNER)}
    best = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(LAYERS):
            for m in w:
                x[m.shape[1]] @ m.T
        torch.cuda.synchronize()
        best.append(rows / (time.perf_counter() - began))
    return statistics.median(best)

def same_text(a):
    """the built-in model's greedy text on both"""
    words = [a.program, "generate", "-q", "-n", "200", "--ignore-eos", "Once upon a time"]
    return run(words) == run([*words, "--device", a.device])

def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--rounds", type=int, default=10), p.add_argument("--device", default="cuda")
    p.add_argument("--program", default="build/cuda/incipit"), p.add_argument("--models", default="build/peers/models")
    p.add_argument("--suite", default="build/cuda/tests/check_device"), p.add_argument("--steps", default="build/cuda/bench/device")
    a = p.parse_args()
    if not os.path.exists(a.program):
        raise SystemExit(f"cuda.py: {a.program} is not built; wanted: make CUDA=1")
    lines = [("cuda.decode.large", "1.1B-bf16.gguf", ("-p", "0", "-n", "64")), ("cuda.decode.small", "110M-bf16", ("-p", "0", "-n", "64")),
        ("cuda.decode.deep", "1.1B-bf16.gguf", ("-p", "0", "-n", "16", "-d", "32752", "--kv-type", "f16"))]
    for key, model, more in lines:
        if not os.path.exists(f"{a.models}/{model}"):
            print(f"not run: {key}: {a.models}/{model} is not there")
            continue
        rate, mid, (low, high) = share(a, model, *more)
        print(f"{key}\t{100 * mid:.1f}\t%\t{rate:.5g} tokens/s, quartiles {100 * low:.1f} to {100 * high:.1f}", flush=True)
    if os.path.exists(f"{a.models}/1.1B-bf16.gguf"):
        best = cublas(2048, a.rounds)
        ours = statistics.median(bench(a, "1.1B-bf16.gguf", "-p", "2048", "-n", "0", "--activations", "bf16")[-1]["tokens_per_second"] for _ in range(a.rounds))
        print(f"cuda.prefill\t{100 * ours / best:.1f}\t%\t{ours:.5g} tokens/s beside {best:.5g}" if best else
            f"not run: cuda.prefill: PyTorch with a device is not there ({ours:.5g} tokens/s)")
    if os.path.exists(a.steps):
        print(run([a.steps, a.device]), end="", flush=True)
    else:
        print(f"not run: cuda.step.1 to 4: {a.steps} is not built; wanted: make CUDA=1 {a.steps}")
    print(f"cuda.text\t{'yes' if same_text(a) else 'NO'}\t\tgreedy text of the built-in model")
    if os.path.exists(a.suite):
        went = subprocess.run([a.suite], env={**os.environ, "INCIPIT_TEST_DEVICE": a.device, "CK_DEFAULT_TIMEOUT": "3600"}).returncode == 0
        for key in ("cuda.batch", "cuda.runs"):  # a_row_keeps_its_bits_in_any_company: batches up to 64, 1,000 of them
            print(f"{key}\t{'yes' if went else 'NO'}\t\tcheck_device")
    else:
        print(f"not run: cuda.batch, cuda.runs: {a.suite} is not built; wanted: make CUDA=1 {a.suite}")

if __name__ == "__main__":
    sys.exit(main())
