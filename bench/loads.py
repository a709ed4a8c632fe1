#!/usr/bin/env python3
"""loads.py [--check] -- what nvcc makes of the kernels of chapter 14 for sm_90: registers, and how many loads of weights a thread has
issued before it uses the first of them.  Needs nvcc, and nvdisasm of the CUDA toolkit (NVDISASM names another).  Writes
figures/data/cuda.loads.csv; --check only says whether a thread of few_bf16_1 has its loads on their way, 32 of them.
"""
import os, re, subprocess, sys, tempfile

# kernel, the load of a weight, and whether it is the first such run in the code that counts (weights and inputs have loads of the
# same width there, and the weights come first) or the longest
KERNELS = [("step_outputs", "LDG.E.U16", False), ("step_lanes", "LDG.E.U16", False), ("step_pairs", "LDG.E", True), ("few_bf16_1", "LDG.E", True)]

def find(name, more):
    for d in [*os.environ["PATH"].split(":"), *more]:
        if os.access(f"{d}/{name}", os.X_OK):
            return f"{d}/{name}"
    return None

def plain(text):
    """the name of a kernel in a mangled one"""
    m = re.search(r"_Z(\d+)(\w+)", text)
    return m.group(2)[:int(m.group(1))] if m else None

def runs(code, load):
    """lengths of the runs of a load; what uses what was loaded, waits or branches ends a run"""
    n, all = 0, []
    for op in code + ["BRA"]:
        if op == load or op.startswith(load + ".CONSTANT") or op.startswith(load + ".STRONG"):
            n += 1
        elif op.split(".")[0] in ("FFMA", "FADD", "BRA", "BAR", "SHFL", "HMMA", "IDP", "WARPSYNC", "EXIT"):
            if n:
                all.append(n)
            n = 0
    return all

def main():
    cuda = ["/usr/local/cuda/bin"]
    nvcc, dis = find("nvcc", cuda), os.environ.get("NVDISASM") or find("nvdisasm", cuda)
    if not nvcc or not dis:
        print(f"NOT RUN: the machine code of chapter 14's kernels: no {'nvcc' if not nvcc else 'nvdisasm'} here")
        return 77
    with tempfile.TemporaryDirectory() as d:
        said = subprocess.run([nvcc, "-std=c++17", "-O3", "-fmad=false", "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-Itangled", "tangled/cuda/kernels.cu", "-o", f"{d}/k.cubin"],
            check=True, stderr=subprocess.PIPE, text=True).stderr
        text = subprocess.run([dis, "-c", f"{d}/k.cubin"], check=True, stdout=subprocess.PIPE, text=True).stdout
    name, used = None, {}
    for l in said.splitlines():
        if "entry function" in l:
            name = plain(l)
        m = re.search(r"Used (\d+) registers", l)
        if m and name:
            used[name] = int(m.group(1))
    code, now = {}, None
    for l in text.splitlines():
        if re.match(r"\s*\.section", l):
            now = code.setdefault(plain(l), []) if ".text._Z" in l else None
        m = re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", l)
        if m and now is not None:
            now.append(m.group(1))
    rows = [(k, used[k], runs(code[k], load)[0] if first else max(runs(code[k], load))) for k, load, first in KERNELS]
    if "--check" in sys.argv:
        print(" ".join(f"{k}: {n}" for k, _, n in rows))
        return 0 if rows[-1][2] >= 32 else 1
    with open("figures/data/cuda.loads.csv", "w") as f:
        f.write("kernel,registers,loads\n" + "".join(f"{k},{r},{n}\n" for k, r, n in rows))
    return 0

if __name__ == "__main__":
    sys.exit(main())
